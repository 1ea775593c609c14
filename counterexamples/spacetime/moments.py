"""What a space-time diagram shows of each step: words at the left, messages between lanes, notes in the lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from counterexamples.blame import Blame, Reading
from counterexamples.change import (
    Answered,
    Change,
    Ended,
    ErrorRaised,
    LockChange,
    QueueChange,
    Scope,
    Started,
    ValueChange,
)
from counterexamples.explain import Explanation, Kind, Step
from counterexamples.notation import write_value
from counterexamples.render import wording
from counterexamples.spacetime.lanes import Outside, Owner, Spot, owner
from counterexamples.spacetime.messages import Message, Stroke, messages, strokes
from counterexamples.trace import Trace
from spec.event import Ending, EventKind, Party, Strike
from spec.state import GlobalState
from spec.typed import Model


class Look(Enum):
    """How a note looks, by what it is."""

    CHANGE = "change"
    GHOST = "ghost"
    """A change of what only the properties see."""
    FADED = "faded"
    """Volatile state that is gone."""
    LOCAL = "local"
    BAD = "bad"
    """How a statement ended that did not succeed; what ends an activation against its will."""
    WRONG = "wrong"
    """What the end shows of the property."""
    GOOD = "good"
    """As WRONG, for a cover."""


@dataclass(frozen=True)
class Note:
    """A few words in a lane.  name: of the place that changed, without the lane's own name; value: what became of it;
    path: the place's whole name, where there is one."""

    owner: Owner
    look: Look
    name: str
    value: str
    path: str = ""


@dataclass(frozen=True)
class Moment:
    """A step.  told: what is said of it in the text, besides who did what."""

    step: Step
    who: str
    what: str
    told: tuple[str, ...]
    messages: tuple[Message, ...]
    strokes: tuple[Stroke, ...]
    notes: tuple[Note, ...]

    @property
    def spots(self) -> Iterator[Spot]:
        """Where something happens."""
        for message in self.messages:
            yield from (message.start, message.end)
        yield from (stroke.spot for stroke in self.strokes)
        yield from (note.owner for note in self.notes)
        if self.step.event.slot is not None:
            yield self.step.event.slot

    @property
    def is_fault(self) -> bool:
        return self.step.kind is Kind.FAULT or self.step.event.ending is Ending.ERROR


def moments(explanation: Explanation, trace: Trace) -> tuple[Moment, ...]:
    """One moment for each step.  explanation: of this trace."""
    return tuple(
        _moment(explanation, step, before, after)
        for step, before, after in zip(explanation.steps, trace.states[:-1], trace.states[1:], strict=True)
    )


def _moment(explanation: Explanation, step: Step, before: GlobalState, after: GlobalState) -> Moment:
    model = explanation.model
    sent = messages(model, step, before, after)
    notes = _joined(_notes(explanation, step))
    return Moment(
        step,
        wording.actor(model, step),
        wording.action(step),
        tuple(_told(explanation, step)),
        sent,
        strokes(step, sent),
        notes,
    )


def _told(explanation: Explanation, step: Step) -> Iterator[str]:
    """What struck, why a statement was refused, which other activations ended, which ids were drawn."""
    ending, why, struck = wording.ending(step), wording.reason(step), wording.strike(step)
    if why:
        yield f"{ending}: {why}"
    if struck:
        yield struck
    for change in step.changes:
        if _in_a_lane(change, step) or not wording.tells(explanation.model, step, change):
            continue
        entry = wording.change(change, step, explanation)
        yield f"{entry.name} {entry.remark}"


def _in_a_lane(change: Change, step: Step) -> bool:
    """Whether a change is shown as a note, not in the text."""
    match change:
        case ValueChange() | QueueChange() | LockChange() | Started() | ErrorRaised() | Answered():
            return True
        case Ended(slot):
            return slot == step.event.slot or step.event.party != Party(slot.process, slot.instance)
        case _:
            return False


def _notes(explanation: Explanation, step: Step) -> Iterator[Note]:
    model, event = explanation.model, step.event
    actor = owner(event.slot) if event.slot is not None else event.party
    if event.ending not in (Ending.OK, Ending.ERROR) and actor is not None and event.kind is EventKind.STEP:
        ends = [change for change in step.changes if isinstance(change, Ended) and change.slot == event.slot]
        if not any(_against_its_will(change, step, explanation) for change in ends):
            yield Note(actor, Look.BAD, "", event.ending.value)
    for change in step.changes:
        if isinstance(change, Answered) and event.kind is EventKind.REPLY and event.ending is not Ending.OK:
            yield Note(owner(change.slot), Look.BAD, "", event.ending.value)
        if not _in_a_lane(change, step) or not wording.tells(model, step, change):
            continue
        entry = wording.change(change, step, explanation)
        told = f"{entry.before} → {entry.after}" if entry.before else entry.after
        match change:
            case ValueChange(scope=Scope.LOCAL, slot=slot) if slot is not None:
                joint = ": " if entry.before else " = "
                yield Note(owner(slot), Look.LOCAL, "", f"{change.path}{joint}{told}")
            case ValueChange(scope=Scope.GHOST):
                if actor is not None:
                    yield Note(actor, Look.GHOST, entry.name, told, change.path)
            case ValueChange() | QueueChange() | LockChange():
                yield _changed(model, step, change, told if entry.after else entry.remark)
            case Started(slot):
                if change.arguments:
                    given = ", ".join(f"{name} = {write_value(value)}" for name, value in change.arguments)
                    yield Note(owner(slot), Look.LOCAL, "", given)
            case Ended(slot):
                if _against_its_will(change, step, explanation):
                    failure = entry.remark.removeprefix("ends: ").replace(" is not", ", not")
                    yield Note(owner(slot), Look.BAD, failure, f"{slot.thread} ends")
            case Answered(slot):
                yield Note(owner(slot), Look.BAD, "", "unknown")
            case ErrorRaised():
                if actor is not None:
                    yield Note(actor, Look.BAD, "", entry.remark)


def _joined(notes: Iterable[Note]) -> tuple[Note, ...]:
    """The notes, those on locals of one lane in one."""
    found: list[Note] = []
    for note in notes:
        same = next((n for n in found if n.look is note.look is Look.LOCAL and n.owner == note.owner), None)
        if same is None:
            found.append(note)
        else:
            found[found.index(same)] = replace(same, value=f"{same.value}, {note.value}")
    return tuple(found)


def _against_its_will(change: Ended, step: Step, explanation: Explanation) -> bool:
    return wording.change(change, step, explanation).remark != "ends"


def _changed(model: Model, step: Step, change: ValueChange | QueueChange | LockChange, value: str) -> Note:
    of, name = place_of(model, change.path)
    fades = _crashed(step) == of and not _durable(model, change.path)
    return Note(of, Look.FADED if fades else Look.CHANGE, name, value, change.path)


def _crashed(step: Step) -> Party | None:
    event = step.event
    return event.party if event.kind is EventKind.CRASH or event.strike is Strike.CRASH else None


def place_of(model: Model, path: str) -> tuple[Owner, str]:
    """In whose lane a place stands, and its name there: `postgres.task[Task#0]` is `task[Task#0]` of postgres,
    `Server[0].busy` is `busy` of Server[0].  What is nobody's, a ghost, stays with the environment."""
    head, _, rest = path.partition(".")
    if any(store.name == head for store in model.stores) and rest:
        return Party(head), rest
    for process in model.processes:
        for instance in range(process.instances.size):
            start = f"{process.name}[{instance}]."
            if path.startswith(start):
                return Party(process.name, instance), path.removeprefix(start)
    return Outside.ENVIRONMENT, path


def _durable(model: Model, path: str) -> bool:
    """Whether a variable of a store or process, a queue or a lock survives a crash."""
    of, rest = place_of(model, path)
    name = rest.split("[")[0].split(".")[0]
    for store in model.stores:
        if of == Party(store.name):
            kept = {each.name: each.durable for each in store.values}
            kept |= {each.name: each.durable for each in store.queues}
            return (kept | {each.name: each.durable for each in store.locks}).get(name, True)
    for process in model.processes:
        if isinstance(of, Party) and of.name == process.name:
            return all(v.durable for v in process.values if v.name == name)
    return True


# -------------------------------------------------------------------------------------------------------- the end


def end_notes(explanation: Explanation, told: tuple[Moment, ...], look: Look) -> tuple[Note, ...]:
    """The values that break or fulfil the property, each in the lane in which it stands: that of its store or process,
    for a ghost the lane in which it last changed."""
    conclusion = explanation.conclusion
    if conclusion is None or conclusion.blame is None:
        return ()
    last = {note.path: note.owner for moment in told for note in moment.notes if note.look is Look.GHOST}
    found: dict[str, Note] = {}
    for reading in _readings(conclusion.blame):
        of, name = place_of(explanation.model, reading.path)
        if of is Outside.ENVIRONMENT:
            if reading.path not in last:
                continue
            of, name = last[reading.path], reading.path
        found.setdefault(reading.path, Note(of, look, name, _value(reading), reading.path))
    return tuple(found.values())


def _readings(blame: Blame) -> Iterator[Reading]:
    yield from blame.readings
    for cause in blame.causes:
        yield from _readings(cause)


def _value(reading: Reading) -> str:
    value = write_value(reading.value)
    if not reading.after or reading.after[0] == reading.value:
        return f"= {value}"
    return f"{value} → {write_value(reading.after[0])}"
