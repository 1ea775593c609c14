"""What queues and locks hold, and who holds it (docs/language.md, "Stores, queues, locks")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from spec.evaluation import EvaluationError
from spec.event import Slot
from spec.state import ErrorKind, GlobalState, Holder, LockState, Loose, QueueState
from spec.typed import Discipline, Lock, Queue
from spec.value import Value, domain

Entry = tuple[Value, Holder]


def contents(queue: Queue, entries: Iterable[Entry]) -> QueueState:
    """The queue with these entries: a fifo in the order given, a set or bag in the canonical order."""
    ordered = tuple(entries)
    if queue.discipline is not Discipline.FIFO and len(ordered) > 1:
        ordered = tuple(sorted(ordered, key=repr))
    return QueueState(ordered)


def push(queue: Queue, held: QueueState, item: Value) -> QueueState:
    """Raises EvaluationError(CAPACITY) when the queue is full."""
    copies = sum(i == item for i, _ in held.entries)
    if queue.discipline is Discipline.SET:
        if copies:
            return held
    else:
        counted = copies if queue.discipline is Discipline.BAG else len(held.entries)
        if queue.capacity is not None and counted >= queue.capacity:
            raise EvaluationError(ErrorKind.CAPACITY)
    return contents(queue, (*held.entries, (item, Loose.VISIBLE)))


def takeable(queue: Queue, held: QueueState) -> list[int]:
    """The positions of the items of which a take gets one: the oldest visible one of a fifo, one visible copy of each
    item of a set or bag."""
    visible: dict[Value, int] = {}
    for position, (item, holder) in enumerate(held.entries):
        if holder is Loose.VISIBLE:
            visible.setdefault(item, position)
    positions = list(visible.values())
    return positions[:1] if queue.discipline is Discipline.FIFO else positions


def hand(queue: Queue, held: QueueState, position: int, holder: Holder) -> QueueState:
    """The item at this position goes to `holder`."""
    entries = list(held.entries)
    entries[position] = (entries[position][0], holder)
    return contents(queue, entries)


def drop(queue: Queue, held: QueueState, position: int) -> QueueState:
    """The item at this position is removed."""
    return contents(queue, held.entries[:position] + held.entries[position + 1 :])


def own(held: QueueState, item: Value, slot: Slot) -> int | None:
    """The position of the (oldest) copy of `item` that this activation holds."""
    return next((p for p, (i, h) in enumerate(held.entries) if i == item and h == slot), None)


def removable(queue: Queue, held: QueueState, item: Value, slot: Slot) -> int | None:
    """The position of the copy of `item` that `remove` removes."""
    copies = [(p, h) for p, (i, h) in enumerate(held.entries) if i == item]
    if not copies:
        return None
    if queue.discipline is Discipline.FIFO:
        return copies[0][0]

    def preference(holder: Holder) -> tuple[int, Slot]:
        if holder == slot:
            return 0, slot
        if isinstance(holder, Slot):
            return 3, holder
        return (1 if holder is Loose.VISIBLE else 2), slot

    return min(copies, key=lambda copy: preference(copy[1]))[0]


def unlocked(lock: Lock) -> LockState:
    """The lock as at the beginning of a run."""
    keys: Iterable[Value] = (None,) if lock.key is None else domain(lock.key)
    return LockState(tuple((key, Loose.FREE, 0) for key in keys))


def holder_of(held: LockState, key: Value) -> Holder:
    return next(holder for k, holder, _ in held.entries if k == key)


def give(lock: Lock, held: LockState, key: Value, holder: Holder) -> tuple[LockState, int]:
    """The lock for `key` goes to `holder`; also the token.  With fencing a slot gets the next token.  Raises
    EvaluationError(TOKEN) when the tokens are used up."""
    (token,) = (t for k, _, t in held.entries if k == key)
    if lock.fencing is not None and isinstance(holder, Slot):
        token += 1
        if token > lock.fencing:
            raise EvaluationError(ErrorKind.TOKEN)
    entries = tuple((k, holder, token) if k == key else (k, h, t) for k, h, t in held.entries)
    return LockState(entries), token


def orphan(state: GlobalState, queues: dict[tuple[str, str], Queue], slot: Slot) -> GlobalState:
    """The items and locks of an activation that has ended lose their holder."""
    for name, items in state.queues.items():
        if any(holder == slot for _, holder in items.entries):
            left = contents(queues[name], ((i, Loose.ORPHAN if h == slot else h) for i, h in items.entries))
            state = replace(state, queues={**state.queues, name: left})
    for name, locks in state.locks.items():
        if any(holder == slot for _, holder, _ in locks.entries):
            kept = LockState(tuple((k, Loose.ORPHAN if h == slot else h, t) for k, h, t in locks.entries))
            state = replace(state, locks={**state.locks, name: kept})
    return state
