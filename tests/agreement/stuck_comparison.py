"""Stuck threads in random programs: the interpreter, the lowering and the engines against an oracle of the whole graph.

Run as a module it compares programs drawn from seeds and fails at the first disagreement; the mutation tests do that
with a broken copy of the sources.
"""

from __future__ import annotations

import random
import re
import sys
import traceback
from collections import Counter

from checker import stuck_search
from checker.confirm import Confirmation, Context
from checker.logic.formula import evaluate
from checker.lower import Lowered, LoweringLimit, lower
from checker.lowering.properties import STUCK_THREADS
from checker.lowering.stuck import blocked_slots
from checker.options import Options
from checker.planning.plan import Silence, decide
from checker.time_limit import TimeLimit
from checker.verdict import Proved, Refuted
from counterexamples.comparison import differences
from spec import syntax
from spec.interpreter import Interpreter
from spec.parse import parse
from spec.source import Source
from spec.state import GlobalState
from spec.stuck import Stuck, may_be_stuck
from spec.typecheck import Checked, Choice, typecheck
from spec.typed import Model
from tests.agreement.comparison import Disagreement
from tests.agreement.oracle import TooLarge, explore
from tests.agreement.programs import Program
from tests.agreement.stuck_oracle import StuckOracle
from tests.agreement.waiting_programs import WaitingProgram
from tests.checker.stuck_models import MODELS

PATIENCE = 60.0
"""Seconds for an engine on one program; none takes more than a few."""

_WAITS = re.compile(r"^(\s*(?:let [^=]+= )?(?:await |any |[^{}]*\.(?:take|pop)\(\)|call ).*[^{])$", re.MULTILINE)


def program(seed: int) -> str:
    """A random program: of three, two in which threads wait a lot, and one of all kinds."""
    draw = random.Random(seed)
    if seed % 3:
        return WaitingProgram(draw.randrange).text()
    text = Program(draw.randrange).text()

    def marked(found: re.Match[str]) -> str:
        return f"{found[1]} blocks ok" if draw.random() < 0.2 else found[1]

    candidate = _WAITS.sub(marked, text)
    # Inside a block of one step it is an error.
    return text if model_of(candidate) is None else candidate


def model_of(text: str) -> Model | None:
    """None where something in it can never matter, or is a mistake."""
    file = parse(Source("program.cpt", text))
    assert isinstance(file, syntax.File), file
    answer = typecheck(syntax.Module(file.source, file.doc, file.items), Choice())
    return answer.model if isinstance(answer, Checked) else None


def compare(text: str, states: int) -> str | None:
    """What the program was an example of; None when it is too large, or has a mistake.  Raises Disagreement."""
    model = model_of(text)
    if model is None:
        return None
    interpreter = Interpreter(model)
    try:
        graph = explore(interpreter, states)
        lowered = lower(model)
    except (TooLarge, LoweringLimit):
        return None
    oracle = StuckOracle(graph, interpreter)
    _compare_states(oracle, lowered, Stuck(interpreter))
    if any(oracle.blocked.values()) and not may_be_stuck(model):
        raise Disagreement("the text of the model is said to have nobody who could be stuck")
    wanted = min((graph.depth[state] for state, those in oracle.stuck.items() if those), default=None)
    turns = [_compare_verdict(engine, oracle, lowered, wanted) for engine in ("search", "ic3")]
    if any(turns):
        return "blocked in turns"
    if wanted is not None:
        return "stuck"
    return "goes on" if any(oracle.blocked.values()) else "nobody waits"


def _compare_states(oracle: StuckOracle, lowered: Lowered, stuck: Stuck) -> None:
    """Who is blocked in each state."""
    formulas = blocked_slots(lowered.layout, lowered.compaction.original.actions)
    place = lowered.compaction.original.position
    for state, expected in oracle.blocked.items():
        if state.error is not None:
            continue
        found = frozenset(stuck.all_blocked(state))
        if found != expected:
            raise Disagreement(f"blocked by the interpreter {found}, by the oracle {expected} in {state}")
        codes = dict(zip(place, lowered.layout.encode(state, None), strict=True))
        held = {slot for slot, where in formulas.items() if evaluate(where, codes.__getitem__)}
        if held != expected:
            raise Disagreement(f"blocked by the lowering {held}, by the oracle {expected} in {state}")


def _compare_verdict(engine: str, oracle: StuckOracle, lowered: Lowered, wanted: int | None) -> bool:
    """The verdict by one engine, with its evidence confirmed; whether it took a second look.  wanted: the length of a
    shortest run after which somebody is stuck."""
    limit = TimeLimit.after(PATIENCE, "timeout")
    options, context = Options(engine=engine, timeout=PATIENCE), Context((), {})
    (target,) = (each for each in lowered.system.properties if each.name == STUCK_THREADS)
    decision = decide(lowered.system, (target,), (), options, Silence(), limit).of(target)
    verdict = Confirmation(lowered, oracle.interpreter, context).verdict(target, decision, (target,))
    again = stuck_search.is_called_for(target, decision, verdict)
    if again:
        look = stuck_search.look_again(lowered, oracle.interpreter, options, Silence(), context, limit)
        if look.failures:
            raise Disagreement(f"{look.failures}")
        verdict = look.verdict
    if not isinstance(verdict, Proved if wanted is None else Refuted):
        raise Disagreement(f"{engine}: {verdict}, but the oracle says {wanted}")
    if isinstance(verdict, Refuted):
        if wanted is None or len(verdict.trace) < wanted:
            raise Disagreement(f"{engine}: a run of {len(verdict.trace)} steps, but the oracle says {wanted}")
        if not any(those and same(state, verdict.trace.states[-1]) for state, those in oracle.stuck.items()):
            raise Disagreement(f"{engine}: nobody is stuck at the end of its run")
    return again


def same(state: GlobalState, shown: GlobalState) -> bool:
    """Whether a state of the graph is that of a trace, which leaves out locals that no longer matter."""
    return not differences(shown, state)


def main(arguments: list[str]) -> int:
    """`first count states`: compares models made by hand, then the programs of seeds first..first+count-1.  Answers 1
    at the first disagreement or crash."""
    first, count, states = map(int, arguments[:3])
    found: Counter[str | None] = Counter()
    texts = [(name, model.text) for name, model in MODELS.items()]
    texts += ((f"seed {seed}", program(seed)) for seed in range(first, first + count))
    for name, text in texts:
        try:
            found[compare(text, states)] += 1
        except Disagreement as disagreement:
            print(f"{name}: {disagreement}\n{text}")
            return 1
        except Exception:
            print(f"{name}:\n{traceback.format_exc()}\n{text}")
            return 1
    print(f"no disagreement: {dict(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
