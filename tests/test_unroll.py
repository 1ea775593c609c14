from __future__ import annotations

import pytest

from checker.logic.encode import formula_template
from checker.logic.formula import FALSE, TRUE, Role, Variable, conjunction, equals, member
from checker.logic.solver import Sat, Solver, Unsat
from checker.logic.unroll import Unrolling
from checker.transition_system import Action, Copy, Kind, TransitionSystem
from spec.event import Event, EventKind


def counter(size: int, wrap: bool) -> TransitionSystem:
    """Counts from 1 by 1, and deadlocks at the end or begins anew."""
    x = Variable("x", tuple(range(size)), 1, Role.STORE)
    table = (*range(1, size), 0 if wrap else -1)
    guard = TRUE if wrap else member(x, x.full_mask >> 1)
    step = Action(0, Event(EventKind.STEP), Kind.THREAD, guard, {x: Copy(x, table)})
    never = Action(1, Event(EventKind.STEP), Kind.THREAD, FALSE, {})
    return TransitionSystem((x,), (step, never), ())


@pytest.mark.parametrize("size", [3, 16, 17, 40])
def test_a_path_is_read_step_by_step(size: int) -> None:
    system = counter(size, wrap=True)
    solver = Solver()
    unrolling = Unrolling(system, solver)
    for _ in range(5):
        unrolling.extend()
    assert unrolling.depth == 5
    answer = solver.solve()
    assert isinstance(answer, Sat)
    path = unrolling.path(answer.model)
    assert path.states == tuple(((1 + t) % size,) for t in range(6))
    assert path.actions == (system.actions[0],) * 5
    assert unrolling.state(answer.model, 2) == (3 % size,)


def test_the_initial_state_is_the_only_one_at_time_0() -> None:
    system = counter(5, wrap=True)
    solver = Solver()
    unrolling = Unrolling(system, solver)
    (x,) = system.variables
    literals = unrolling.literals(x, 0)
    assert isinstance(solver.solve([literals[1]]), Sat)
    for other in (0, 2, 3, 4):
        assert isinstance(solver.solve([literals[other]]), Unsat)


def test_literals_and_selections_belong_to_their_time() -> None:
    system = counter(6, wrap=True)
    solver = Solver()
    unrolling = Unrolling(system, solver)
    for _ in range(3):
        unrolling.extend()
    (x,) = system.variables
    every = [literal for time in range(4) for literal in unrolling.literals(x, time)]
    every += [literal for time in range(3) for literal in unrolling.selections(time)]
    every.append(unrolling.new())
    assert len(set(every)) == len(every)
    for time in range(4):
        for code in range(6):
            expected = Sat if code == 1 + time else Unsat
            assert isinstance(solver.solve([unrolling.literals(x, time)[code]]), expected)
    assert isinstance(solver.solve([unrolling.selections(2)[0]]), Sat)
    assert isinstance(solver.solve([unrolling.selections(2)[1]]), Unsat)


def test_a_placed_formula_speaks_of_its_time() -> None:
    system = counter(6, wrap=True)
    solver = Solver()
    unrolling = Unrolling(system, solver)
    for _ in range(3):
        unrolling.extend()
    (x,) = system.variables
    now = formula_template(equals(x, 3), unrolling.layout)
    step = formula_template(conjunction((equals(x, 2), equals(x, 3, primed=True))), unrolling.layout)
    found_now = [isinstance(solver.solve([unrolling.place(now, time)]), Sat) for time in range(4)]
    found_step = [isinstance(solver.solve([unrolling.place(step, time)]), Sat) for time in range(3)]
    assert found_now == [False, False, True, False]
    assert found_step == [False, True, False]


def test_no_run_is_longer_than_a_deadlock_allows() -> None:
    solver = Solver()
    unrolling = Unrolling(counter(4, wrap=False), solver)
    answers = []
    for _ in range(5):
        answers.append(isinstance(solver.solve(), Sat))
        unrolling.extend()
    assert answers == [True, True, True, False, False]
