"""Lassos: runs that repeat a part of themselves for ever, and whether they are fair.

The interpreter has locals that a trace leaves out because nothing will read them.  They may differ from one time around
the loop to the next, so the loop is followed until the whole state is one that was there before.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterexamples.comparison import differences
from counterexamples.notation import places, write_key, write_party, write_slot
from counterexamples.trace import Trace
from spec.event import Event, EventKind, FairAction
from spec.fairness import fairness, owed
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import Fairness, Model

ROUNDS = 100
"""How many times around the loop before the same state is no longer expected."""


class NotComing(Exception):
    """The loop was followed, and did not come back to the same state.  Carries a message."""


def circle(trace: Trace, interpreter: Interpreter, starts: Sequence[GlobalState]) -> list[GlobalState]:
    """States of the interpreter, one for each step of one or more times around the trace's loop; the last of them leads
    back to the first.  For a run that stays in its last state: that state.

    starts: the states of the interpreter that the loop may begin in.  Raises NotComing."""
    assert trace.loop is not None
    if trace.loop == len(trace):
        return [starts[0]]
    for start in starts:
        walked = [start]
        begun = {start: 0}
        while len(begun) <= ROUNDS and _around(trace, trace.loop, interpreter, walked):
            state = walked[-1]
            if state in begun:
                return walked[begun[state] : -1]
            begun[state] = len(walked) - 1
    raise NotComing(f"the loop does not come back to the same locals within {ROUNDS} rounds")


def _around(trace: Trace, loop: int, interpreter: Interpreter, walked: list[GlobalState]) -> bool:
    """Goes once around the loop from the last state, and appends the states; whether that was possible."""
    for event, claimed in zip(trace.events[loop:], trace.states[loop + 1 :], strict=True):
        for happened, after in interpreter.successors(walked[-1]):
            if happened == event and not differences(claimed, after):
                walked.append(after)
                break
        else:
            return False
    return True


def unfairness(states: Sequence[GlobalState], events: Sequence[Event], interpreter: Interpreter) -> str | None:
    """Why a circle of states is not fair, in words; None when it is.

    events: of one time around; none for a run that stays where it is."""
    times = len(states) // max(1, len(events))
    wronged = owed(interpreter, states, [*events] * times if events else ())
    if wronged is None:
        return None
    name = write_fair_action(interpreter.model, wronged)
    if not events:
        return f"the run stays in its last state, where {name} can go on"
    if fairness(interpreter.model, wronged) is Fairness.STRONG:
        return f"the loop is not fair: {name}, which is strongly fair, is enabled in it and never taken"
    return f"the loop is not fair: {name} is enabled in all of it and never taken"


def write_fair_action(model: Model, action: FairAction) -> str:
    """`Server[0].sweep`, `restart postgres`, `heal Server[0] -- redis`, `redeliver redis.decider Workflow#0`."""
    match action.kind:
        case EventKind.STEP if action.slot is not None:
            return write_slot(action.slot, places(model, action.slot))
        case EventKind.RESTART if action.party is not None:
            return f"restart {write_party(action.party)}"
        case EventKind.HEAL if action.party is not None and action.other is not None:
            return f"heal {write_party(action.party)} -- {write_party(action.other)}"
    item = action.item
    what = f"{action.kind.value} {action.store}.{action.variable}"
    return what if item is None else f"{what}[{write_key(item)}]"  # type: ignore[arg-type]
