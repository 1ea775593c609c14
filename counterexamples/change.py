"""What differs between two states, down to map entries, record fields and single queue items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from counterexamples.notation import rank, write_key, write_party
from counterexamples.site import thread_of
from spec.event import Party, Slot
from spec.state import Activation, GlobalState, Holder, LockState, Loose, ModelError, QueueState
from spec.typed import Model
from spec.value import Row, Table, Value


class Scope(Enum):
    """Whose variable changed."""

    STORE = "store"
    PROCESS = "process"
    GHOST = "ghost"
    LOCAL = "local"


class Unset(Enum):
    """What a local variable is before it is first given a value."""

    UNSET = "unset"


@dataclass(frozen=True)
class ValueChange:
    """path: the place as a model would write it (`postgres.task[Workflow#0][1].status`); for a local its name.
    slot: the activation whose local it is; None for other scopes."""

    scope: Scope
    path: str
    before: Value | Unset
    after: Value
    slot: Slot | None = None


class Move(Enum):
    """What happened to one queue item."""

    ENTERED = "entered"
    LEFT = "left"
    TAKEN = "taken"
    GIVEN_BACK = "given back"
    """Its holder made it visible again."""
    ORPHANED = "orphaned"
    """Its holder has ended without giving it back."""
    REDELIVERED = "redelivered"
    """It became visible although nobody gave it back."""


@dataclass(frozen=True)
class QueueChange:
    """One item of the queue `path`.  before, after: where it stood; None: not in the queue."""

    path: str
    item: Value
    before: Holder | None
    after: Holder | None
    move: Move


@dataclass(frozen=True)
class LockChange:
    """path: the lock with its key (`redis.wf[Workflow#0]`).  token: the fencing token given in this step, if any."""

    path: str
    before: Holder
    after: Holder
    token: int | None


@dataclass(frozen=True)
class Started:
    """An activation that was not there before.  arguments: its parameters' names and values."""

    slot: Slot
    arguments: tuple[tuple[str, Value], ...]
    caller: Slot | None


@dataclass(frozen=True)
class Ended:
    """An activation that is not there any more.  at: id of the statement it stood before; None when it had run to its
    end.  caller: who waited for it."""

    slot: Slot
    at: int | None
    caller: Slot | None


@dataclass(frozen=True)
class Answered:
    """An activation that waited for the reply to a call, and goes on: with the reply, or with `unknown` when none can
    come any more."""

    slot: Slot


@dataclass(frozen=True)
class PartyChange:
    """A store or process instance went down (`up` false) or came back."""

    party: Party
    up: bool


@dataclass(frozen=True)
class LinkChange:
    """A link was cut (`connected` false) or healed."""

    party: Party
    other: Party
    connected: bool


@dataclass(frozen=True)
class IdUsed:
    """A fresh id was drawn: it will never be drawn again."""

    type: str
    index: int


@dataclass(frozen=True)
class ErrorRaised:
    """The step met a model error or a failed assertion; the run ends here."""

    error: ModelError


Change = (
    ValueChange
    | QueueChange
    | LockChange
    | Started
    | Ended
    | Answered
    | PartyChange
    | LinkChange
    | IdUsed
    | ErrorRaised
)


def changes(model: Model, before: GlobalState, after: GlobalState, actor: Slot | None = None) -> tuple[Change, ...]:
    """Everything that differs between two states and that people can name.

    actor: the activation that acted; an item that it held and that is visible now was given back by it, any other was
    redelivered.  Hidden locals (counters of `retry`, what is left of `for`), locals that
    went out of scope and control positions are not reported.  The order is fixed: parties, links, activations, stores
    and ghosts in the model's order, locals, errors.
    """
    return (
        *_parties(before, after),
        *_links(before, after),
        *_activations(model, before, after),
        *_values(model, before, after, actor),
        *_locals(model, before, after),
        *_used(before, after),
        *_errors(before, after),
    )


def _parties(before: GlobalState, after: GlobalState) -> Iterator[Change]:
    for party in sorted(before.down ^ after.down, key=write_party):
        yield PartyChange(party, up=party in before.down)


def _links(before: GlobalState, after: GlobalState) -> Iterator[Change]:
    for party, other in sorted(before.cut ^ after.cut, key=lambda link: tuple(map(write_party, link))):
        yield LinkChange(party, other, connected=(party, other) in before.cut)


def _activations(model: Model, before: GlobalState, after: GlobalState) -> Iterator[Change]:
    for slot in sorted(before.activations.keys() - after.activations.keys()):
        gone = before.activations[slot]
        yield Ended(slot, gone.at, gone.caller)
    for slot in sorted(after.activations.keys() - before.activations.keys()):
        new = after.activations[slot]
        yield Started(slot, arguments(model, slot, new), new.caller)
    for slot in sorted(before.activations.keys() & after.activations.keys()):
        if before.activations[slot].waiting and not after.activations[slot].waiting:
            yield Answered(slot)


def arguments(model: Model, slot: Slot, activation: Activation) -> tuple[tuple[str, Value], ...]:
    """The parameters of a running activation by name, as far as the state holds their values."""
    thread = thread_of(model, slot)
    if thread is None:
        return ()
    names = {local.key: local.name for local in thread.locals}
    return tuple(
        (names.get(parameter.key, parameter.key), activation.locals[parameter.key])
        for parameter in thread.parameters
        if parameter.key in activation.locals
    )


def _values(model: Model, before: GlobalState, after: GlobalState, actor: Slot | None) -> Iterator[Change]:
    for store in model.stores:
        for value in store.values:
            name = (store.name, value.name)
            path = f"{store.name}.{value.name}"
            for place, old, new in differences(path, before.values[name], after.values[name]):
                yield ValueChange(Scope.STORE, place, old, new)
        for queue in store.queues:
            name = (store.name, queue.name)
            yield from _queue(f"{store.name}.{queue.name}", before.queues[name], after.queues[name], actor)
        for lock in store.locks:
            name = (store.name, lock.name)
            yield from _lock(f"{store.name}.{lock.name}", before.locks[name], after.locks[name])
    for process in model.processes:
        for instance in range(process.instances.size):
            for variable in process.values:
                key = (process.name, instance, variable.name)
                path = f"{process.name}[{instance}].{variable.name}"
                for place, old, new in differences(path, before.process_values[key], after.process_values[key]):
                    yield ValueChange(Scope.PROCESS, place, old, new)
    for ghost in model.ghosts:
        for place, old, new in differences(ghost.name, before.ghosts[ghost.name], after.ghosts[ghost.name]):
            yield ValueChange(Scope.GHOST, place, old, new)


def differences(path: str, before: Value, after: Value) -> Iterator[tuple[str, Value, Value]]:
    """The smallest places below `path` whose values differ, with both values.  A row that was or becomes `none`
    differs as a whole."""
    if before == after and type(before) is type(after):
        return
    if isinstance(before, Table) and isinstance(after, Table):
        for key, old in before.entries:
            yield from differences(f"{path}[{write_key(key)}]", old, after.get(key))
    elif isinstance(before, Row) and isinstance(after, Row) and before.type == after.type:
        for name, old in before.fields:
            yield from differences(f"{path}.{name}", old, after.get(name))
    else:
        yield path, before, after


def _queue(path: str, before: QueueState, after: QueueState, actor: Slot | None) -> Iterator[Change]:
    """Pairs each item that stands elsewhere than before with where it stood; copies pair in the order of the queue."""
    kept = Counter(before.entries) & Counter(after.entries)
    old = _without(before.entries, kept)
    new = _without(after.entries, kept)
    for item in sorted({item for item, _ in (*old, *new)}, key=rank):
        sources = [holder for i, holder in old if i == item]
        targets = [holder for i, holder in new if i == item]
        for source, target in zip(sources, targets, strict=False):
            yield QueueChange(path, item, source, target, _move(source, target, actor))
        for source in sources[len(targets) :]:
            yield QueueChange(path, item, source, None, Move.LEFT)
        for target in targets[len(sources) :]:
            yield QueueChange(path, item, None, target, Move.ENTERED)


def _without(
    entries: tuple[tuple[Value, Holder], ...], kept: Mapping[tuple[Value, Holder], int]
) -> list[tuple[Value, Holder]]:
    left = dict(kept)
    rest = []
    for entry in entries:
        if left.get(entry, 0):
            left[entry] -= 1
        else:
            rest.append(entry)
    return rest


def _move(source: Holder, target: Holder, actor: Slot | None) -> Move:
    if isinstance(target, Slot):
        return Move.TAKEN
    if target is Loose.ORPHAN:
        return Move.ORPHANED
    return Move.GIVEN_BACK if source == actor else Move.REDELIVERED


def _lock(path: str, before: LockState, after: LockState) -> Iterator[Change]:
    for (key, old, last), (_, new, token) in zip(before.entries, after.entries, strict=True):
        if (old, last) != (new, token):
            yield LockChange(
                path if key is None else f"{path}[{write_key(key)}]", old, new, token if token != last else None
            )


def _locals(model: Model, before: GlobalState, after: GlobalState) -> Iterator[Change]:
    for slot in sorted(before.activations.keys() & after.activations.keys()):
        thread = thread_of(model, slot)
        old, new = before.activations[slot].locals, after.activations[slot].locals
        for local in () if thread is None else thread.locals:
            if local.key not in new or not local.name.isidentifier():
                continue
            if local.key not in old:
                yield ValueChange(Scope.LOCAL, local.name, Unset.UNSET, new[local.key], slot)
            else:
                for path, was, now in differences(local.name, old[local.key], new[local.key]):
                    yield ValueChange(Scope.LOCAL, path, was, now, slot)


def _used(before: GlobalState, after: GlobalState) -> Iterator[Change]:
    for kind in sorted(after.used):
        for index in sorted(after.used[kind] - before.used.get(kind, frozenset())):
            yield IdUsed(kind, index)


def _errors(before: GlobalState, after: GlobalState) -> Iterator[Change]:
    if after.error is not None and after.error != before.error:
        yield ErrorRaised(after.error)
