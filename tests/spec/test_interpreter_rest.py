"""At rest and recoverable; whether a state is at rest is derived by hand beside each case."""

from __future__ import annotations

from spec.interpreter import Interpreter
from spec.rest import Answer, at_rest, recoverable
from spec.typed import FaultClass, Statement, Thread
from spec.types import OptionalType
from tests.spec.by_hand import (
    FALSE,
    SMALL,
    a_lock,
    a_queue,
    assign,
    check,
    db,
    eq,
    fault,
    follow,
    less,
    lit,
    lock,
    loop,
    model,
    on,
    plus,
    process,
    queue,
    store,
    task,
    unwrap,
    value,
    var,
    wait_for,
)

OK = "P0.t step ok"


def machine(*threads: Thread, faults: tuple[FaultClass, ...] = ()) -> Interpreter:
    return Interpreter(
        model(store(value("x"), value("y"), a_queue("q"), a_lock("k", lease=True)), process("P", 1, *threads), *faults)
    )


def test_a_state_with_a_step_to_come_is_not_at_rest() -> None:
    m = machine(task("t", assign(db("x"), lit(1))))
    assert at_rest(m, m.initial()) is Answer.NO
    assert at_rest(m, follow(m, OK)) is Answer.YES


def test_steps_that_change_nothing_do_not_count() -> None:
    m = machine(loop("t", assign(db("x"), lit(0)), wait_for(eq(db("x"), lit(0)))))
    assert at_rest(m, m.initial()) is Answer.YES


def test_a_change_after_several_steps_counts() -> None:
    m = machine(task("t", assign(db("x"), lit(0)), assign(db("x"), lit(0)), assign(db("x"), lit(1))))
    assert at_rest(m, m.initial()) is Answer.NO


def test_taking_and_giving_back_is_rest_but_removing_is_not() -> None:
    def polling(verb: str) -> Interpreter:
        return machine(
            task("p", queue("push", "q", lit(1))),
            loop("t", queue("take", "q", into=var("i")), queue(verb, "q", var("i"))),
        )

    m = polling("nack")
    assert at_rest(m, follow(m, "P0.p step ok")) is Answer.YES
    m = polling("ack")
    assert at_rest(m, follow(m, "P0.p step ok")) is Answer.NO


def test_locks_do_not_count() -> None:
    m = machine(loop("t", lock("await acquire", "k"), lock("release", "k")))
    assert at_rest(m, m.initial()) is Answer.YES


def test_what_is_broken_is_not_at_rest_except_for_what_never_restarts() -> None:
    m = machine(task("t", wait_for(FALSE)), faults=(fault("crash", "P"), fault("partition", "P", "db")))
    assert at_rest(m, m.initial()) is Answer.YES
    assert at_rest(m, follow(m, "crash P0")) is Answer.NO
    assert at_rest(m, follow(m, "cut P0 db")) is Answer.NO
    m = machine(task("t", wait_for(FALSE)), faults=(fault("crash", "P", restart=False),))
    assert at_rest(m, follow(m, "crash P0")) is Answer.YES


def test_requests_and_faults_do_not_disturb_rest_but_recoveries_do() -> None:
    m = machine(on("r", assign(db("x"), lit(1))), faults=(fault("crash", "P"),))
    assert at_rest(m, m.initial()) is Answer.YES
    # An orphaned lock whose lease ends lets the other go on.
    m = machine(task("t", lock("await acquire", "k")), task("u", lock("await acquire", "k"), assign(db("x"), lit(1))))
    assert at_rest(m, follow(m, OK)) is Answer.NO


def test_a_model_error_to_come_is_not_rest() -> None:
    wrong = assign(var("a"), unwrap(lit(None, OptionalType(SMALL))))
    m = machine(task("t", assign(db("x"), lit(0)), assign(db("x"), lit(0)), wrong))
    assert at_rest(m, m.initial()) is Answer.NO
    bad = machine(task("t", check(FALSE)))
    assert at_rest(bad, follow(bad, "P0.t step error")) is Answer.NO


def test_the_limit_leaves_the_question_open() -> None:
    m = machine(task("t", *(assign(db("x"), lit(0)) for _ in range(9)), assign(db("x"), lit(1))))
    assert at_rest(m, m.initial(), limit=5) is Answer.OPEN


def test_recoverable_by_threads_requests_and_recoveries_without_faults() -> None:
    goal = eq(db("x"), lit(2))

    def counted(*threads: Thread, faults: tuple[FaultClass, ...] = ()) -> Interpreter:
        return machine(*threads, faults=faults)

    up: Statement = assign(db("x"), plus(db("x"), lit(1)))
    m = counted(on("r", wait_for(less(db("x"), lit(2))), up))
    assert recoverable(m, m.initial(), goal) is Answer.YES
    m = counted(task("t", up), faults=(fault("crash", "P"),))
    assert recoverable(m, m.initial(), goal) is Answer.NO
    # Once crashed, the restart begins the task again.
    assert recoverable(m, follow(m, OK, "crash P0"), goal) is Answer.YES


def test_a_state_that_satisfies_the_condition_has_recovered() -> None:
    m = machine(task("t", wait_for(FALSE)))
    assert recoverable(m, m.initial(), eq(db("x"), lit(0))) is Answer.YES
