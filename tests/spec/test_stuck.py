"""Who is blocked, and who is stuck, by the interpreter; worked out by hand beside each case."""

from __future__ import annotations

import pytest

from spec.control import Control
from spec.event import Slot
from spec.interpreter import Interpreter
from spec.prospects import next_shared, without_sharing
from spec.rest import Answer
from spec.stuck import Finding, Stuck, may_be_stuck
from spec.typed import FaultClass, Statement, Thread
from spec.types import SetType
from tests.spec.by_hand import (
    FALSE,
    SMALL,
    a_lock,
    a_queue,
    assign,
    call,
    db,
    each,
    either,
    eq,
    fail,
    fault,
    follow,
    handler,
    lit,
    lock,
    loop,
    loop_while,
    model,
    on,
    process,
    queue,
    retry,
    slot,
    store,
    task,
    value,
    var,
    wait_for,
    when,
)

OK = "P0.t step ok"
CALLED = "P0.t step ok -> P0.h#0"
T = slot("t")


def machine(*threads: Thread, faults: tuple[FaultClass, ...] = ()) -> Interpreter:
    things = (value("x"), value("y"), a_queue("q"), a_lock("k"), a_lock("l", lease=True))
    return Interpreter(model(store(*things), process("P", 1, *threads), *faults))


def mark() -> Statement:
    """A step that changes nothing."""
    return assign(db("x"), lit(0))


def test_before_its_first_step_a_loop_or_task_is_idle_and_then_it_is_not() -> None:
    m = machine(task("t", mark(), wait_for(FALSE)))
    assert not Stuck(m).all_blocked(m.initial())
    assert Stuck(m).all_blocked(follow(m, OK)) == (T,)
    for thread in (task("t", wait_for(FALSE), mark()), loop("t", queue("take", "q", into=var("i")), mark())):
        m = machine(thread)
        assert not Stuck(m).all_blocked(m.initial())
        assert not may_be_stuck(m.model)


def test_local_statements_before_it_make_no_difference_but_shared_ones_do() -> None:
    for before in (assign(var("a"), lit(0)), loop_while(FALSE, assign(var("a"), lit(1)))):
        assert not may_be_stuck(machine(task("t", before, wait_for(FALSE))).model)
        assert may_be_stuck(machine(task("t", before, mark(), wait_for(FALSE))).model)
        assert may_be_stuck(machine(task("t", mark(), before, wait_for(FALSE))).model)


def test_who_waits_for_a_lock_is_not_idle() -> None:
    m = machine(loop("t", lock("await acquire", "k"), mark()), task("u", lock("await acquire", "k"), mark()))
    held = follow(m, "P0.u step ok")
    assert Stuck(m).all_blocked(held) == (T,)
    # The holder ends and holds it still, without a lease, or with one, which ends.
    gone = follow(m, "P0.u step ok", start=held)
    assert Stuck(m).find(gone) == Finding((T,), False)


def test_a_lease_ends_and_who_waits_goes_on() -> None:
    m = machine(task("t", mark(), lock("await acquire", "l")), task("u", lock("await acquire", "l"), mark()))
    gone = follow(m, OK, "P0.u step ok", "P0.u step ok")
    stuck = Stuck(m)
    assert stuck.is_suspected(gone, T)
    assert stuck.goes_on(gone, T) is Answer.YES
    assert stuck.clears(gone) is Answer.YES
    assert stuck.find(gone) == Finding((), True)


def test_one_branch_that_is_open_is_enough() -> None:
    m = machine(task("t", mark(), either([wait_for(FALSE)], [wait_for(eq(db("x"), lit(0)))])))
    assert not Stuck(m).all_blocked(follow(m, OK))
    m = machine(task("t", mark(), either([wait_for(FALSE)], [queue("pop", "q", into=var("i"))])))
    assert Stuck(m).all_blocked(follow(m, OK)) == (T,)


def test_a_local_condition_that_is_false_blocks_for_ever() -> None:
    m = machine(task("t", mark(), assign(var("a"), lit(0)), wait_for(eq(var("a"), lit(1))), mark()))
    assert Stuck(m).find(follow(m, OK)) == Finding((T,), False)


def test_a_request_that_waits_at_once_is_not_idle() -> None:
    m = machine(on("t", wait_for(FALSE), mark()))
    assert Stuck(m).all_blocked(follow(m, "P0.t request")) == (T,)


def test_nobody_is_stuck_while_something_is_broken() -> None:
    m = machine(task("t", mark(), wait_for(eq(db("x"), lit(1)))), faults=(fault("partition", "P", "db"),))
    broken = follow(m, OK, "cut P0 db")
    stuck = Stuck(m)
    # Cut off it is refused, so it can take a step; healed it waits.
    assert not stuck.is_suspicious(broken)
    assert not stuck.is_suspected(broken, T)
    assert stuck.find(follow(m, "heal P0 db", start=broken)) == Finding((T,), False)


def test_a_handler_is_idle_with_its_caller() -> None:
    polled = handler("h", queue("pop", "q", into=var("i")))
    m = machine(loop("t", call("P", "h"), mark()), polled)
    assert not may_be_stuck(m.model)
    assert not Stuck(m).all_blocked(follow(m, CALLED))
    m = machine(loop("t", mark(), call("P", "h")), polled)
    assert may_be_stuck(m.model)
    assert Stuck(m).all_blocked(follow(m, OK, CALLED)) == (slot("h"),)


def test_of_a_polled_handler_that_nobody_waits_for_any_more() -> None:
    polled = handler("h", queue("pop", "q", into=var("i")))
    for first, expected in ((call("P", "h"), ()), (mark(), (Slot("P", 0, "h", 0),))):
        caller = process("Q", 1, task("t", first, call("P", "h")))
        served = process("P", 1, polled)
        m = Interpreter(model(store(value("x"), a_queue("q")), caller, served, fault("crash", "Q")))
        calling = (*(["Q0.t step ok"] if expected else []), "Q0.t step ok -> P0.h#0")
        assert Stuck(m).all_blocked(follow(m, *calling, "crash Q0")) == expected


def test_a_limit_that_is_reached_leaves_it_open() -> None:
    m = machine(task("t", mark(), wait_for(FALSE)), task("u", mark(), mark(), mark()))
    state = follow(m, OK)
    stuck = Stuck(m)
    assert stuck.find(state, limit=2) == Finding(None, None)
    assert stuck.goes_on(state, T, limit=2) is Answer.OPEN
    assert stuck.find(state, limit=4) == Finding((T,), False)


def test_blocked_in_turns_is_neither_stuck_nor_clear() -> None:
    def turn(mine: int) -> Thread:
        ours = wait_for(eq(db("y"), lit(mine))), assign(db("y"), lit(1 - mine))
        return task("tu"[mine], mark(), loop_while(eq(lit(0), lit(0)), *ours))

    m = machine(turn(0), turn(1))
    both = follow(m, OK, "P0.u step ok")
    assert Stuck(m).all_blocked(both) == (slot("u"),)
    assert Stuck(m).find(both) == Finding((), False)
    assert [Stuck(m).goes_on(both, slot(name)) for name in "tu"] == [Answer.YES, Answer.YES]


@pytest.mark.parametrize("at_fail", [False, True])
def test_where_control_may_go_before_anything_is_shared(at_fail: bool) -> None:
    """`retry 1 { either { fail } or { for i in {} { mark } } }; await`."""
    failing, marking, waiting = fail(), mark(), wait_for(eq(db("x"), lit(1)))
    inner = each("i", lit(frozenset(), SetType(SMALL)), marking)
    choice = either([failing], [inner])
    again = retry(1, choice)
    thread = task("t", again, waiting)
    m = machine(thread)
    control = Control(m.model)
    (thread,) = (t for p in m.model.processes for t in p.threads)
    start = failing.id if at_fail else thread.body[0].id
    met = without_sharing(control, thread, start)
    everything = {choice.id, failing.id, inner.id, marking.id}
    # From the `fail` back into the body; from an empty set on to what follows; the last attempt that fails is the end.
    assert met == everything | {waiting.id} | (set() if at_fail else {again.id})
    assert next_shared(control, thread, start) == {None, marking.id, waiting.id}


def test_counting_of_steps_into_a_model_error() -> None:
    """Where the only way on is an error, the thread can take a step; a run that ends in an error helps nobody else."""
    wrong = when(eq(db("y"), lit(0)), [assign(db("x"), lit(0))])
    m = machine(task("t", mark(), wait_for(FALSE)), task("u", wrong))
    assert Stuck(m).find(follow(m, OK)) == Finding((T,), False)
