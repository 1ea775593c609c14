"""The messages of a step, from whom to whom and what became of them, and the signs of what struck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from counterexamples.change import Answered, Ended, Started
from counterexamples.explain import Kind, Step
from counterexamples.spacetime.lanes import Outside, Spot, owner
from spec.event import Ending, EventKind, Party, Slot, Strike
from spec.state import GlobalState
from spec.typed import Call, Model


class Form(Enum):
    REQUEST = "request"
    SEND = "send"
    """A request that nobody answers."""
    ANSWER = "answer"
    FAILURE = "failure"
    """An answer that tells of a failure."""
    CUT = "cut"
    HEAL = "heal"


class Fate(Enum):
    ARRIVES = "arrives"
    TWICE = "twice"
    LOST = "lost"
    REFUSED = "refused"


@dataclass(frozen=True)
class Message:
    """A line between two lanes."""

    start: Spot
    end: Spot
    form: Form
    fate: Fate = Fate.ARRIVES


class Blow(Enum):
    """What strikes a lane, or ends."""

    CRASH = "crash"
    RESTART = "restart"
    FAULT = "fault"
    RECOVERY = "recovery"
    ERROR = "error"


@dataclass(frozen=True)
class Stroke:
    """place: beside which of the step's messages, from 0."""

    blow: Blow
    spot: Spot
    place: int = 0


def messages(model: Model, step: Step, before: GlobalState, after: GlobalState) -> tuple[Message, ...]:
    """The messages of a step in the order in which they are sent."""
    event = step.event
    match event.kind:
        case EventKind.REQUEST if event.slot is not None:
            return (Message(Outside.ENVIRONMENT, event.slot, Form.REQUEST),)
        case EventKind.CUT | EventKind.HEAL if event.party is not None and event.other is not None:
            form = Form.CUT if event.kind is EventKind.CUT else Form.HEAL
            return (Message(event.party, event.other, form), *_unanswered(step, before, after))
        case EventKind.STEP | EventKind.REPLY:
            found = [*_with_stores(model, step), *_call(step), *_reply(step, before, after)]
            return (*found, *(m for m in _unanswered(step, before, after) if m not in found))
        case _:
            return tuple(_unanswered(step, before, after))


def strokes(step: Step, sent: tuple[Message, ...]) -> tuple[Stroke, ...]:
    """What struck, and where; sent: the step's messages."""
    event = step.event
    if event.kind is EventKind.CRASH and event.party is not None:
        ended = [change.slot for change in step.changes if isinstance(change, Ended)]
        own = [slot for slot in ended if owner(slot) == event.party and any(m.start == slot for m in sent)]
        return (Stroke(Blow.CRASH, own[0] if len(own) == 1 else event.party),)
    if event.kind is EventKind.RESTART and event.party is not None:
        return (Stroke(Blow.RESTART, event.party),)
    if event.kind in (EventKind.EXPIRE, EventKind.REDELIVER) and event.store is not None:
        return (Stroke(Blow.FAULT if step.kind is Kind.FAULT else Blow.RECOVERY, Party(event.store)),)
    if event.ending is Ending.ERROR and event.slot is not None:
        return (Stroke(Blow.ERROR, event.slot),)
    if event.strike is Strike.CRASH and event.party is not None:
        reached = [i for i, m in enumerate(sent) if owner(m.end) == event.party and m.fate is Fate.ARRIVES]
        lost = [i for i, m in enumerate(sent) if owner(m.end) == event.party]
        return (Stroke(Blow.CRASH, event.party, reached[-1] + 1 if reached else lost[-1] if lost else 0),)
    return ()


def _struck_party(step: Step, own: Slot) -> Party | None:
    """The other end of what a strike during a statement struck: the party that crashed, or the far end of the link."""
    event = step.event
    here = Party(own.process, own.instance)
    return event.party if event.party != here else event.other


def _with_stores(model: Model, step: Step) -> Iterator[Message]:
    """What a statement asks of stores, and their answers."""
    event = step.event
    if step.site is None or event.slot is None or event.ending is Ending.ERROR:
        return
    own, touched = event.slot, step.site.statement.stores
    stores = [Party(store.name) for store in model.stores if store.name in touched]
    if event.ending is Ending.REFUSED:
        hindered = {obstacle.party if obstacle.other is None else obstacle.other for obstacle in step.obstacles}
        for store in [store for store in stores if store in hindered]:
            yield Message(own, store, Form.REQUEST, Fate.REFUSED)
        return
    struck = None if event.strike is None else _struck_party(step, own)
    if event.strike is not None and event.strike is not Strike.DUPLICATE and not event.kept and struck in stores:
        yield Message(own, struck, Form.REQUEST, Fate.LOST)
        return
    failed = event.ending in (Ending.DUPLICATE, Ending.FAILED)
    for store in stores:
        twice = event.strike is Strike.DUPLICATE and store == struck
        yield Message(own, store, Form.REQUEST, Fate.TWICE if twice else Fate.ARRIVES)
        lost = event.strike is not None and not twice and store == struck
        yield Message(store, own, Form.FAILURE if failed else Form.ANSWER, Fate.LOST if lost else Fate.ARRIVES)


def _call(step: Step) -> Iterator[Message]:
    """The request of a call or send to another process."""
    event = step.event
    if step.site is None or event.slot is None or event.kind is not EventKind.STEP:
        return
    statement = step.site.statement
    if not isinstance(statement, Call):
        return
    form = Form.SEND if statement.send else Form.REQUEST
    if event.callee is not None:
        yield Message(event.slot, event.callee, form)
        for change in step.changes if event.strike is Strike.DUPLICATE else ():
            if isinstance(change, Started) and change.slot != event.callee:
                yield Message(event.slot, change.slot, Form.SEND)
    elif event.ending is Ending.REFUSED:
        for obstacle in step.obstacles:
            hindering = obstacle.party if obstacle.other is None else obstacle.other
            if hindering.name == statement.process:
                yield Message(event.slot, hindering, form, Fate.REFUSED)
    elif event.strike is not None:
        struck = _struck_party(step, event.slot)
        if struck is not None and struck.name == statement.process:
            yield Message(event.slot, struck, form, Fate.LOST)


def _reply(step: Step, before: GlobalState, after: GlobalState) -> Iterator[Message]:
    """The answer of the acting activation to its caller."""
    event = step.event
    acting = None if event.slot is None else before.activations.get(event.slot)
    if event.slot is None or acting is None or acting.caller is None or event.slot in after.activations:
        return
    lost = event.strike is not None
    form = Form.ANSWER if lost or event.ending is Ending.OK else Form.FAILURE
    yield Message(event.slot, acting.caller, form, Fate.LOST if lost else Fate.ARRIVES)


def _unanswered(step: Step, before: GlobalState, after: GlobalState) -> Iterator[Message]:
    """The answers that can come no more, to callers that have waited for them until now."""
    callees = {callee.caller: slot for slot, callee in before.activations.items() if callee.caller is not None}
    for change in step.changes:
        if not isinstance(change, Answered | Ended):
            continue
        caller = change.slot
        waited = before.activations.get(caller)
        callee = callees.get(caller)
        if waited is None or not waited.waiting or callee is None or callee == step.event.slot:
            continue
        if owner(caller) not in after.down:
            yield Message(callee, caller, Form.ANSWER, Fate.LOST)
