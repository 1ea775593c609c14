"""Queues and locks: expected contents and orders are derived by hand from docs/language.md, "Stores, queues, locks"."""

from __future__ import annotations

import pytest

from spec.interpreter import Interpreter
from spec.state import ErrorKind, GlobalState, Holder, Loose, ModelError
from spec.typed import Lock, LockQuery, Queue, QueueQuery, QueueQuestion, Statement, Thread
from spec.types import BOOL, OptionalType, RangeType
from tests.spec.by_hand import (
    SMALL,
    SPAN,
    a_lock,
    a_queue,
    assign,
    db,
    fault,
    follow,
    lit,
    locals_of,
    lock,
    loop,
    model,
    names,
    process,
    queue,
    slot,
    steps,
    store,
    task,
    value,
    var,
)

T, U = slot("t"), slot("u")
T_OK, U_OK = "P0.t step ok", "P0.u step ok"
VISIBLE, ORPHAN, FREE = Loose.VISIBLE, Loose.ORPHAN, Loose.FREE


def machine(*threads: Thread, member: Queue | Lock) -> Interpreter:
    return Interpreter(model(store(value("x"), member), process("P", 1, *threads)))


def items(state: GlobalState) -> list[tuple[object, Holder]]:
    return list(state.queues["db", "q"].entries)


def push(item: int) -> Statement:
    return queue("push", "q", lit(item))


def take() -> Statement:
    return queue("take", "q", into=var("i"))


def pause() -> Statement:
    return assign(db("x"), lit(1))


def thread(name: str, *body: Statement) -> Thread:
    return task(name, *body)


# ------------------------------------------------------------------------------------------------------------- queues


def test_a_set_keeps_one_copy_wherever_it_is() -> None:
    m = machine(thread("t", push(1), push(1), take(), push(1), pause()), member=a_queue("q"))
    state = follow(m, T_OK, T_OK)
    assert items(state) == [(1, VISIBLE)]
    state = follow(m, T_OK, start=state)
    assert items(state) == [(1, T)]
    assert locals_of(state, T) == {"i": 1}
    assert items(follow(m, T_OK, start=state)) == [(1, T)]


def test_a_take_from_a_set_gets_any_visible_item() -> None:
    m = machine(thread("t", push(2), push(1), take(), pause()), member=a_queue("q"))
    state = follow(m, T_OK, T_OK)
    assert items(state) == [(1, VISIBLE), (2, VISIBLE)]
    assert sorted(str(locals_of(after, T)["i"]) for _, after in steps(m, state)) == ["1", "2"]


def test_a_bag_counts_copies_and_gives_equal_ones_once() -> None:
    last = push(1)
    m = machine(thread("t", push(1), push(1), take(), last, pause()), member=a_queue("q", "bag", 2))
    state = follow(m, T_OK, T_OK, T_OK)
    assert sorted(items(state), key=str) == sorted([(1, VISIBLE), (1, T)], key=str)
    # The copy in flight counts: a third is too many.
    state = follow(m, "P0.t step error", start=state)
    assert state.error == ModelError(ErrorKind.CAPACITY, last.id)


def test_a_fifo_gives_the_oldest_visible_and_keeps_positions() -> None:
    m = machine(
        thread("t", push(2), push(1), take(), take(), queue("nack", "q", lit(2)), pause()),
        member=a_queue("q", "fifo", 3),
    )
    state = follow(m, T_OK, T_OK)
    assert items(state) == [(2, VISIBLE), (1, VISIBLE)]
    state = follow(m, T_OK, start=state)
    assert items(state) == [(2, T), (1, VISIBLE)]
    state = follow(m, T_OK, start=state)
    assert items(state) == [(2, T), (1, T)]
    assert items(follow(m, T_OK, start=state)) == [(2, VISIBLE), (1, T)]


def test_a_full_fifo_is_an_error() -> None:
    m = machine(thread("t", push(2), push(2), push(3)), member=a_queue("q", "fifo", 2))
    state = follow(m, T_OK, T_OK, "P0.t step error")
    assert state.error is not None
    assert state.error.kind is ErrorKind.CAPACITY


def test_pop_removes_at_once_and_waits_for_an_item() -> None:
    m = machine(
        thread("t", queue("pop", "q", into=var("i")), assign(db("x"), var("i")), pause()),
        thread("u", push(3)),
        member=a_queue("q"),
    )
    assert names(m, m.initial()) == [U_OK]
    state = follow(m, U_OK, T_OK)
    assert items(state) == []
    assert locals_of(state, T) == {"i": 3}


@pytest.mark.parametrize("verb", ["ack", "nack"])
def test_ack_and_nack_of_an_item_not_held_do_nothing(verb: str) -> None:
    m = machine(thread("t", push(1), take(), pause()), thread("u", queue(verb, "q", lit(1))), member=a_queue("q"))
    state = follow(m, T_OK, T_OK, U_OK)
    assert items(state) == [(1, T)]


def test_ack_removes_one_held_copy() -> None:
    m = machine(
        thread("t", push(1), push(1), take(), queue("ack", "q", lit(1)), pause()), member=a_queue("q", "bag", 2)
    )
    assert items(follow(m, *[T_OK] * 4)) == [(1, VISIBLE)]


def test_remove_prefers_own_then_visible_then_orphaned_then_the_least_holder() -> None:
    # Three copies taken by v, u and t in turn; u then ends, so its copy is an orphan; one more is visible.
    def four(*rest: Statement) -> Interpreter:
        return machine(
            thread("a", push(1), push(1), push(1), push(1)),
            thread("t", *rest),
            thread("u", take()),
            thread("v", take(), pause()),
            member=a_queue("q", "bag", 4),
        )

    remove = [queue("remove", "q", lit(1)) for _ in range(4)]
    m = four(take(), *remove)
    state = follow(m, *["P0.a step ok"] * 4, "P0.u step ok", "P0.v step ok", T_OK)
    v = slot("v")
    assert set(items(state)) == {(1, VISIBLE), (1, ORPHAN), (1, v), (1, T)}
    for left in ({(1, VISIBLE), (1, ORPHAN), (1, v)}, {(1, ORPHAN), (1, v)}, {(1, v)}, set()):
        state = follow(m, T_OK, start=state)
        assert set(items(state)) == left


def test_remove_from_a_fifo_takes_the_oldest() -> None:
    m = machine(
        thread("a", push(1), push(2), push(1)),
        thread("u", take(), pause()),
        thread("t", queue("remove", "q", lit(1)), queue("remove", "q", lit(3)), pause()),
        member=a_queue("q", "fifo", 3),
    )
    state = follow(m, *["P0.a step ok"] * 3, U_OK, T_OK)
    assert items(state) == [(2, VISIBLE), (1, VISIBLE)]
    assert items(follow(m, T_OK, start=state)) == [(2, VISIBLE), (1, VISIBLE)]


def test_questions_count_items_in_flight_but_visible_does_not() -> None:
    def ask(question: QueueQuestion, with_item: bool = True) -> QueueQuery:
        return QueueQuery(BOOL, SPAN, "db", "q", question, lit(1) if with_item else None)

    m = machine(thread("t", push(1), take(), pause()), member=a_queue("q"))
    pushed = follow(m, T_OK)
    assert m.holds(ask(QueueQuestion.VISIBLE), pushed)
    taken = follow(m, T_OK, start=pushed)
    assert m.holds(ask(QueueQuestion.CONTAINS), taken)
    assert not m.holds(ask(QueueQuestion.VISIBLE), taken)
    assert m.holds(ask(QueueQuestion.SIZE, with_item=False), taken)


def test_items_of_an_ended_activation_are_orphans_until_redelivered() -> None:
    m = machine(thread("t", push(1), take()), member=a_queue("q"))
    state = follow(m, T_OK, T_OK)
    assert items(state) == [(1, ORPHAN)]
    assert names(m, state) == ["redeliver db.q 1"]
    assert items(follow(m, "redeliver db.q 1", start=state)) == [(1, VISIBLE)]


def test_a_loop_loses_its_items_when_it_begins_anew() -> None:
    m = machine(task("a", push(1)), loop("t", take()), member=a_queue("q"))
    state = follow(m, "P0.a step ok", T_OK)
    assert items(state) == [(1, ORPHAN)]
    assert T in state.activations


def test_redelivers_reaches_items_in_flight() -> None:
    held = thread("t", push(1), take(), queue("ack", "q", lit(1)), pause())
    m = machine(held, member=a_queue("q", redelivers=True))
    state = follow(m, T_OK, T_OK)
    assert names(m, state) == [T_OK, "P0.t redeliver db.q 1"]
    state = follow(m, "P0.t redeliver db.q 1", start=state)
    assert items(state) == [(1, VISIBLE)]
    # No longer held, so the ack does nothing.
    assert items(follow(m, T_OK, start=state)) == [(1, VISIBLE)]


def test_either_of_two_equal_orphans_of_a_fifo_may_come_back_first() -> None:
    m = machine(thread("t", push(1), push(1), take(), take()), member=a_queue("q", "fifo", 2))
    state = follow(m, *[T_OK] * 4)
    found = steps(m, state)
    assert [name for name, _ in found] == ["redeliver db.q 1"] * 2
    assert [items(after) for _, after in found] == [[(1, VISIBLE), (1, ORPHAN)], [(1, ORPHAN), (1, VISIBLE)]]


def test_equal_orphans_of_a_bag_come_back_one_by_one_in_one_way() -> None:
    m = machine(thread("t", push(1), push(1), take(), take()), member=a_queue("q", "bag", 2))
    state = follow(m, *[T_OK] * 4, "redeliver db.q 1")
    assert set(items(state)) == {(1, VISIBLE), (1, ORPHAN)}


# -------------------------------------------------------------------------------------------------------------- locks


def entries(state: GlobalState) -> tuple[object, ...]:
    return state.locks["db", "k"].entries


def acquire(into: str = "got", key: int | None = None, optional: bool = False) -> Statement:
    kind = OptionalType(SMALL) if optional else BOOL
    return lock("acquire", "k", None if key is None else lit(key), into=var(into, kind))


def test_acquire_answers_and_does_not_wait() -> None:
    m = machine(thread("t", acquire(key=1), acquire(key=1), pause()), member=a_lock("k", RangeType(0, 1)))
    assert entries(m.initial()) == ((0, FREE, 0), (1, FREE, 0))
    state = follow(m, T_OK)
    assert entries(state) == ((0, FREE, 0), (1, T, 0))
    assert locals_of(state, T) == {"got": True}
    # Not reentrant: its own holder gets false.
    assert locals_of(follow(m, T_OK, start=state), T) == {"got": False}


def test_await_acquire_waits_and_release_frees_only_for_the_holder() -> None:
    m = machine(
        thread("t", lock("await acquire", "k"), pause(), lock("release", "k"), pause()),
        thread("u", lock("release", "k"), lock("await acquire", "k"), pause()),
        member=a_lock("k"),
    )
    state = follow(m, T_OK)
    assert entries(state) == ((None, T, 0),)
    state = follow(m, U_OK, start=state)
    assert entries(state) == ((None, T, 0),)
    assert names(m, state) == [T_OK]
    state = follow(m, T_OK, T_OK, U_OK, start=state)
    assert entries(state) == ((None, U, 0),)


def test_fencing_tokens_grow_and_are_used_up() -> None:
    again = acquire(optional=True)
    m = machine(
        thread("t", acquire(optional=True), acquire(optional=True), lock("release", "k"), again, pause()),
        member=a_lock("k", fencing=1),
    )
    state = follow(m, T_OK)
    assert locals_of(state, T) == {"got": 1}
    assert entries(state) == ((None, T, 1),)
    state = follow(m, T_OK, start=state)
    assert locals_of(state, T) == {"got": None}
    state = follow(m, T_OK, start=state)
    assert entries(state) == ((None, FREE, 1),)
    state = follow(m, "P0.t step error", start=state)
    assert state.error == ModelError(ErrorKind.TOKEN, again.id)


def test_await_acquire_with_fencing_answers_the_next_token() -> None:
    awaiting = [lock("await acquire", "k", into=var("n")) for _ in range(2)]
    m = machine(thread("t", awaiting[0], lock("release", "k"), awaiting[1], pause()), member=a_lock("k", fencing=3))
    assert locals_of(follow(m, T_OK, T_OK, T_OK), T) == {"n": 2}


def test_without_lease_an_orphaned_lock_stays() -> None:
    m = machine(thread("t", acquire()), member=a_lock("k"))
    state = follow(m, T_OK)
    assert entries(state) == ((None, ORPHAN, 0),)
    assert m.holds(LockQuery(BOOL, SPAN, "db", "k", None), state)
    assert m.successors(state) == []


def test_with_lease_an_orphaned_lock_expires_by_itself() -> None:
    m = machine(thread("t", acquire()), member=a_lock("k", lease=True))
    state = follow(m, T_OK, "expire db.k None")
    assert entries(state) == ((None, FREE, 0),)


def test_the_lease_of_a_running_activation_ends_only_by_the_fault() -> None:
    body = [acquire(), pause(), lock("release", "k"), pause()]
    lenient = machine(thread("t", *body), member=a_lock("k", lease=True))
    assert names(lenient, follow(lenient, T_OK)) == [T_OK]
    strict = Interpreter(
        model(
            store(value("x"), a_lock("k", lease=True)),
            process("P", 1, thread("t", *body), thread("u", acquire(), pause())),
            fault("expire", "db", "k"),
        )
    )
    state = follow(strict, T_OK)
    assert "P0.t expire db.k None" in names(strict, state)
    (event,) = (e for e, _ in strict.successors(state) if e.kind.value == "expire")
    assert strict.kind(event) == "fault"
    assert strict.fault_class(event) == strict.model.faults[0]
    state = follow(strict, "P0.t expire db.k None", U_OK, start=state)
    assert entries(state) == ((None, U, 0),)
    # The old holder is not told; its release does nothing.
    assert entries(follow(strict, T_OK, T_OK, start=state)) == ((None, U, 0),)


def test_a_crash_orphans_items_and_locks() -> None:
    m = Interpreter(
        model(
            store(value("x"), a_queue("q"), a_lock("k")),
            process("P", 1, thread("t", push(1), take(), acquire(), pause())),
            fault("crash", "P"),
        )
    )
    state = follow(m, T_OK, T_OK, T_OK, "crash P0")
    assert items(state) == [(1, ORPHAN)]
    assert entries(state) == ((None, ORPHAN, 0),)
    assert state.activations == {}
    assert names(m, state) == ["restart P0", "redeliver db.q 1"]
    assert set(follow(m, "restart P0", start=state).activations) == {T}


def test_items_wait_for_their_store_to_be_up() -> None:
    m = Interpreter(
        model(
            store(value("x"), a_queue("q"), a_lock("k", lease=True)),
            process("P", 1, thread("t", push(1), take(), acquire())),
            fault("crash", "db"),
        )
    )
    state = follow(m, T_OK, T_OK, T_OK, "crash db")
    assert items(state) == [(1, ORPHAN)]
    assert names(m, state) == ["restart db"]


def test_a_volatile_queue_and_lock_are_reset_by_a_crash_of_their_store() -> None:
    m = Interpreter(
        model(
            store(value("x"), a_queue("q", durable=False), a_lock("k", fencing=3, durable=False)),
            process("P", 1, thread("t", push(1), acquire(optional=True), pause())),
            fault("crash", "db"),
        )
    )
    state = follow(m, T_OK, T_OK, "crash db")
    assert items(state) == []
    assert entries(state) == ((None, FREE, 0),)
