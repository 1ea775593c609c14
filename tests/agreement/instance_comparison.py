"""One program with fault classes of single instances, judged by the interpreter alone and by the lowering with the
search: do they agree?

Run as a module it compares programs drawn from seeds: `first count states`.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from checker.engines.engine import Reached, Unreachable
from checker.engines.search import Search
from checker.lower import lower
from checker.needs.instances import split, whole
from counterexamples.explain import fault_class
from counterexamples.replay import Confirmed, confirm
from spec.interpreter import Interpreter
from spec.typed import Model
from tests.agreement.comparison import Disagreement, decide_states
from tests.agreement.deciding import Pointless, checked, decide, length
from tests.agreement.fault_programs import FaultProgram
from tests.agreement.oracle import TooLarge, explore, shortest_error, shortest_violation

_FIRST_STATES = 150
"""In so many states the classes of single instances are compared with those that they come from."""

_CALLS = """
store db { durable x: 0..2 }
ghost told: 0..2
process Server[2] {
  volatile asked: bool
  on ask(): bool {
    asked := true
    db.x := 1
    return true
  }
}
process Client[2] {
  task work { try { let yes = call Server.ask() } catch unknown { told := 1 } catch { told := 2 } }
}
invariant heard: told != 1
invariant let_in: told != 2
at rest written: db.x == 1
"""
_CALL_FAULTS = (
    "crash Server",
    "crash Server without restart",
    "crash Client",
    "crash db",
    *(f"{kind} {ends}" for kind in ("partition", "lose", "duplicate") for ends in ("Client -- Server", "Server -- db")),
)
_PEERS = """
ghost told: 0..2
process Peer[3] {
  volatile busy: bool
  on ask() { busy := true }
  task start {
    try { call Peer.ask() } catch unknown { told := 1 } catch { told := 2 }
  }
}
invariant heard: told != 1
invariant let_in: told != 2
at rest asked: exists p: Peer. Peer[p].busy
"""
_PEER_FAULTS = ("crash Peer", *(f"{kind} Peer -- Peer" for kind in ("partition", "lose", "duplicate")))


def program(draw: random.Random) -> str:
    """A program with processes of several instances."""
    kind = draw.randrange(4)
    if kind == 0:
        return f"{_CALLS}faults {{ {_some(_CALL_FAULTS, draw)} }}\n"
    if kind == 1:
        return f"{_PEERS}faults {{ {_some(_PEER_FAULTS, draw)} }}\n"
    return FaultProgram(draw.randrange).text().replace("process P {", "process P[2] {")


def _some(faults: Sequence[str], draw: random.Random) -> str:
    chosen = dict.fromkeys(draw.choice(faults) for _ in range(1 + draw.randrange(2)))
    if "crash Server" in chosen:
        chosen.pop("crash Server without restart", None)
    return "\n".join(chosen)


def compare(text: str, states: int, draw: random.Random) -> int:
    """With how many sets of classes the program was compared: two that are drawn at random, when they are small enough.
    The classes together are compared with those of the program in its first states.  Raises Disagreement."""
    try:
        model = checked(text).model
    except Pointless:
        return 0
    apart = split(model)
    if len(apart.faults) == len(model.faults):
        return 0
    _compare_whole(model, apart, text)
    compared = 0
    for _ in range(2):
        kept = tuple(fault for fault in apart.faults if draw.randrange(2))
        try:
            _compare_chosen(replace(apart, faults=kept), states, text)
        except TooLarge:
            continue
        compared += 1
    return compared


def _compare_whole(model: Model, apart: Model, text: str) -> None:
    """All classes of single instances allow just what the classes of all instances allow, step by step."""
    together, singly = Interpreter(model), Interpreter(apart)
    waiting = deque([together.initial()])
    seen = set(waiting)
    for _ in range(_FIRST_STATES):
        if not waiting:
            break
        state = waiting.popleft()
        steps = together.successors(state)
        if sorted(map(repr, steps)) != sorted(map(repr, singly.successors(state))):
            raise Disagreement(f"other steps with the classes taken apart\n{text}")
        for event, after in steps:
            one, other = together.fault_class(event), singly.fault_class(event)
            if whole([] if other is None else [other]) != frozenset([] if one is None else [one]):
                raise Disagreement(f"{event} is of {one}, and of {other} taken apart\n{text}")
            if (other is not None) != (together.kind(event) == "fault"):
                raise Disagreement(f"{event} is of {other}\n{text}")
            if fault_class(apart, event, state) != other:
                raise Disagreement(f"{event} is of {other}, not {fault_class(apart, event, state)}\n{text}")
            if after not in seen:
                seen.add(after)
                waiting.append(after)


def _compare_chosen(model: Model, states: int, text: str) -> None:
    interpreter = Interpreter(model)
    graph = explore(interpreter, states)
    names = ", ".join(map(str, model.faults))
    expected = {p.name: shortest_violation(graph, interpreter, p) for p in model.properties}
    expected["model_errors"] = shortest_error(graph, assertion=False)
    lowered = lower(model)
    closed = decide_states(lowered)
    if closed is not None and closed != {lowered.encode(state) for state in graph.depth}:
        raise Disagreement(f"interpreter and lowering differ in their states with {names}\n{text}")
    for symmetry in (False, True):
        outcomes = decide(Search(symmetry=symmetry), lowered)
        for name, wanted in expected.items():
            outcome = outcomes[name]
            agrees = length(outcome) == wanted if wanted is not None else isinstance(outcome, Unreachable)
            if not agrees:
                raise Disagreement(f"{name}: {outcome}, but the interpreter says {wanted} with {names}\n{text}")
            if isinstance(outcome, Reached):
                verdict = confirm(lowered.trace(outcome.path), name, interpreter)
                if not isinstance(verdict, Confirmed):
                    raise Disagreement(f"{name}: {verdict} with {names}\n{text}")


def main(arguments: list[str]) -> int:
    first, count, states = map(int, arguments)
    compared = 0
    for seed in range(first, first + count):
        try:
            draw = random.Random(seed)
            compared += compare(program(draw), states, draw)
        except Disagreement as disagreement:
            print(f"seed {seed}: {disagreement}")
            return 1
    print(f"{compared} sets of classes compared, no disagreement")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
