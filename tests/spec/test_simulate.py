"""Random runs."""

from __future__ import annotations

from spec.interpreter import Interpreter
from spec.simulate import Stop, simulate
from spec.typed import Expression, Next, PropertyDeclaration, PropertyForm
from tests.spec.by_hand import (
    FALSE,
    SMALL,
    SPAN,
    assign,
    check,
    db,
    eq,
    fault,
    less,
    lit,
    loop,
    model,
    process,
    store,
    task,
    value,
)


def declared(form: PropertyForm, condition: Expression) -> PropertyDeclaration:
    return PropertyDeclaration("p", form, condition, SPAN, "")


def endless() -> Interpreter:
    body = [assign(db("x"), lit(n)) for n in (1, 2)]
    return Interpreter(
        model(store(value("x")), process("P", 3, loop("l", *body)), fault("crash", "P"), fault("lose", "P", "db"))
    )


def test_each_step_of_a_random_run_is_a_step_of_the_model() -> None:
    m = endless()
    run = simulate(m, 7, 50)
    assert run.stop is Stop.STEPS
    assert len(run.events) == 50
    assert run.states[0] == m.initial()
    for before, event, after in zip(run.states[:-1], run.events, run.states[1:], strict=True):
        assert (event, after) in m.successors(before)


def test_the_seed_decides() -> None:
    m = endless()
    assert simulate(m, 1, 30) == simulate(m, 1, 30)
    assert simulate(m, 1, 30) != simulate(m, 2, 30)


def test_faults_do_not_dominate() -> None:
    m = endless()
    # At the start there are 3 thread steps, 9 faults: drawn by kind, about half are thread steps.
    first = [m.kind(simulate(m, seed, 1).events[0]) for seed in range(400)]
    assert 150 < first.count("thread") < 250


def test_it_stops_at_a_deadlock_an_error_or_a_violation() -> None:
    m = Interpreter(
        model(store(value("x")), process("P", 1, task("t", assign(db("x"), lit(1)), assign(db("x"), lit(0)))))
    )
    run = simulate(m, 0, 10)
    assert (run.stop, len(run.events)) == (Stop.DEADLOCK, 2)
    low = declared(PropertyForm.INVARIANT, less(db("x"), lit(1)))
    run = simulate(m, 0, 10, [low])
    assert (run.stop, len(run.events), run.violated) == (Stop.VIOLATION, 1, low)
    falling = less(Next(SMALL, SPAN, db("x")), db("x"))
    grows = declared(PropertyForm.STEP_INVARIANT, eq(falling, FALSE))
    run = simulate(m, 0, 10, [grows])
    assert (run.stop, len(run.events), run.violated) == (Stop.VIOLATION, 2, grows)
    at_once = declared(PropertyForm.INVARIANT, FALSE)
    assert simulate(m, 0, 10, [at_once]).events == ()
    wrong = Interpreter(model(store(value("x")), process("P", 1, task("t", check(FALSE)))))
    assert simulate(wrong, 0, 10).stop is Stop.ERROR
