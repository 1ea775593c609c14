"""Fair runs: what every run that counts for a `live` property owes to threads and recoveries (docs/language.md, "Fair
runs")."""

from __future__ import annotations

from collections.abc import Sequence

from spec.event import Event, EventKind, FairAction, Party, fair_action
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import Fairness, FaultClass, FaultKind, Model


def enabled(interpreter: Interpreter, state: GlobalState) -> frozenset[FairAction]:
    """The fair actions that could take a step in the state; those that are owed nothing too."""
    found = (fair_action(event) for event, _ in interpreter.undisturbed(state))
    return frozenset(action for action in found if action is not None)


def fairness(model: Model, action: FairAction) -> Fairness:
    """What is owed to a fair action: what the model says of its thread, or of the fault class before the recovery."""
    match action.kind:
        case EventKind.STEP if action.slot is not None:
            slot = action.slot
            return next(
                thread.fairness
                for process in model.processes
                for thread in process.threads
                if (process.name, thread.name) == (slot.process, slot.thread)
            )
        case EventKind.RESTART:
            classes = (f for f in model.faults if f.kind is FaultKind.CRASH and _means(f, (action.party,)))
        case EventKind.HEAL:
            ends = (action.party, action.other)
            classes = (f for f in model.faults if f.kind is FaultKind.PARTITION and _means(f, ends))
        case _:
            return Fairness.WEAK
    return next((fault.fairness for fault in classes), Fairness.WEAK)


def _means(fault: FaultClass, struck: tuple[Party | None, ...]) -> bool:
    """Whether the class speaks of the party, or of the link between the two parties, in either order."""
    first, second = (fault.first, fault.first_instance), (fault.second, fault.second_instance)
    ends = (first,) if len(struck) == 1 else (first, second)
    return any(all(map(_is, ends, parties)) for parties in (struck, struck[::-1]))


def _is(end: tuple[str | None, int | None], party: Party | None) -> bool:
    return party is not None and end[0] == party.name and end[1] in (None, party.instance)


def owed(interpreter: Interpreter, states: Sequence[GlobalState], events: Sequence[Event]) -> FairAction | None:
    """A fair action that a run wrongs: one that goes through the states for ever by the events, the last of which leads
    back to the first, or with one state and no event stays there for ever.  None when the run is fair.

    Raises ValueError when states and events do not make a circle."""
    if len(states) != max(1, len(events)):
        raise ValueError(f"{len(states)} states and {len(events)} events make no circle")
    taken = {fair_action(event) for event in events}
    able = [enabled(interpreter, state) for state in states]
    always, sometimes = frozenset.intersection(*able), frozenset.union(*able)
    for action in sorted(sometimes - taken, key=str):
        match fairness(interpreter.model, action):
            case Fairness.STRONG:
                return action
            case Fairness.WEAK if action in always:
                return action
    return None
