"""One program, judged by the interpreter alone and by every engine: do they agree?

Run as a module it compares programs drawn from seeds and fails at the first disagreement; the mutation tests do that
with a broken copy of the sources.
"""

from __future__ import annotations

import random
import sys
import traceback

from checker.engines.bmc import Bmc
from checker.engines.engine import Bounded, Budget, Coverage, Outcome, Progress, Reached, Unreachable
from checker.engines.parallel_bmc import ParallelBmc
from checker.engines.search import Search
from checker.logic.formula import FALSE
from checker.lower import Lowered, lower
from checker.transition_system import Form, Property, State
from counterexamples.replay import Confirmed, confirm
from spec.interpreter import Interpreter
from tests.agreement.deciding import Pointless, checked, decide, length
from tests.agreement.focused import FOCUSED
from tests.agreement.oracle import Graph, TooLarge, explore, shortest_error, shortest_violation
from tests.agreement.programs import Program
from tests.agreement.proofs import complaint


class Disagreement(AssertionError):
    pass


def compare(text: str, states: int, depth: int) -> bool:
    """Whether the program was small enough to be compared.  Raises Disagreement."""
    try:
        model = checked(text).model
    except Pointless:
        return False
    interpreter = Interpreter(model)
    try:
        graph = explore(interpreter, states)
    except TooLarge:
        return False
    expected = {p.name: shortest_violation(graph, interpreter, p) for p in model.properties}
    expected["model_errors"] = shortest_error(graph, assertion=False)
    lowered = lower(model)
    reached = _compare_states(graph, lowered)
    answers = [
        ("search", decide(Search(symmetry=False), lowered)),
        ("search with symmetry", decide(Search(symmetry=True), lowered)),
        ("bmc", decide(Bmc(), lowered, Budget(depth=depth))),
    ]
    for who, outcomes in answers:
        for name, wanted in expected.items():
            outcome = outcomes[name]
            if not _agrees(outcome, wanted, depth if who == "bmc" else None):
                raise Disagreement(f"{who}, {name}: {outcome}, but the interpreter says {wanted}\n{text}")
            if isinstance(outcome, Reached):
                verdict = confirm(lowered.trace(outcome.path), name, interpreter)
                if not isinstance(verdict, Confirmed) or outcome.shortest is None:
                    raise Disagreement(f"{who}, {name}: {verdict}\n{text}")
    for name, outcome in decide(ParallelBmc(default_depth=depth), lowered).items():
        if name in expected and (wrong := _wrong_path(lowered, interpreter, name, outcome, expected[name], depth)):
            raise Disagreement(f"parallel, {name}: {wrong}\n{text}")
    # The assertions, one by one, are judged by the search.
    known = {name: length(outcome) for name, outcome in answers[0][1].items()}
    wrong = complaint(lowered, interpreter, known | expected, reached)
    if wrong is not None:
        raise Disagreement(f"{wrong}\n{text}")
    return True


def _agrees(outcome: Outcome, wanted: int | None, depth: int | None) -> bool:
    if wanted is not None and (depth is None or wanted <= depth):
        return length(outcome) == wanted
    if depth is None:
        return isinstance(outcome, Unreachable)
    return isinstance(outcome, Bounded) and (outcome.depth >= depth or "no run" in outcome.reason)


def _wrong_path(
    lowered: Lowered, interpreter: Interpreter, name: str, outcome: Outcome, wanted: int | None, depth: int
) -> str | None:
    """What is wrong with the answer of an engine whose paths need not be shortest; None if nothing."""
    if isinstance(outcome, Reached):
        verdict = confirm(lowered.trace(outcome.path), name, interpreter)
        if not isinstance(verdict, Confirmed):
            return f"{verdict}"
        if wanted is None or len(outcome.path.actions) < wanted or outcome.shortest is not None:
            return f"a path of {len(outcome.path.actions)} steps, but the interpreter says {wanted}"
        return None
    return None if _agrees(outcome, wanted, depth) else f"{outcome}, but the interpreter says {wanted}"


def _compare_states(graph: Graph, lowered: Lowered) -> list[State]:
    """Encoding the interpreter's states gives exactly the states of the transition system.  Answers them, without those
    outside the window of an unbounded integer."""
    codes = [lowered.encode(state) for state in graph.depth]
    encoded = set(codes)
    closed = decide_states(lowered)
    if closed is not None and encoded != closed:
        missing, extra = encoded - closed, closed - encoded
        raise Disagreement(f"the interpreter has {len(missing)} states more, the lowering {len(extra)}")
    return [code for code in codes if code is not None]


def decide_states(lowered: Lowered) -> set[tuple[int, ...]] | None:
    """All states of the transition system; None when an unbounded integer left the window."""
    never = Property("never", Form.INVARIANT, FALSE)
    found: list[Outcome] = []

    class Silent:
        def progress(self, progress: Progress) -> None: ...
        def covered(self, coverage: Coverage) -> None: ...
        def decided(self, target: Property, outcome: Outcome) -> None:
            found.append(outcome)

    Search(symmetry=False).run(lowered.system, (never,), Budget(), Silent())
    outcome = found[0]
    if not isinstance(outcome, Unreachable):
        return None
    return set(outcome.closed_set.sample(len(outcome.closed_set), 0))


def program(seed: int) -> str:
    draw = random.Random(seed)
    return Program(draw.randrange).text()


def main(arguments: list[str]) -> int:
    """`first count states depth`: compares the focused programs, then seeds first..first+count-1.  Answers 1 at the
    first disagreement or crash, else 0."""
    first, count, states, depth = map(int, arguments)
    compared = 0
    texts = [(f"focused {number}", text) for number, text in enumerate(FOCUSED)]
    texts += ((f"seed {seed}", program(seed)) for seed in range(first, first + count))
    for name, text in texts:
        try:
            compared += compare(text, 20_000 if text in FOCUSED else states, depth)
        except Disagreement as disagreement:
            print(f"{name}: {disagreement}")
            return 1
        except Exception:
            print(f"{name}:\n{traceback.format_exc()}\n{text}")
            return 1
    print(f"{compared} of {count} programs compared, no disagreement")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
