from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from random import Random

import pytest

from checker.logic.sat import Z3, GaveUp, Incremental, PySat, sat_solver


def python_sat() -> Incremental:
    pytest.importorskip("pysat")
    return PySat()


both = pytest.mark.parametrize("make", [python_sat, Z3])
Make = Callable[[], Incremental]


def satisfiable(clauses: list[list[int]], variables: int) -> bool:
    return any(
        all(any(values[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in clauses)
        for values in itertools.product((False, True), repeat=variables)
    )


@both
@pytest.mark.parametrize("seed", range(12))
def test_answers_models_and_cores_on_random_clauses(make: Make, seed: int) -> None:
    random = Random(seed)
    count = random.randint(3, 7)

    def literals(length: int) -> list[int]:
        return [v if random.random() < 0.5 else -v for v in random.sample(range(1, count + 1), length)]

    solver = make()
    clauses: list[list[int]] = []
    answers: set[bool] = set()
    for _ in range(25):
        clause = literals(random.randint(2, 3))
        clauses.append(clause)
        solver.add_clause(clause)
        assumptions = literals(random.randint(0, count))
        answer = solver.solve(assumptions)
        answers.add(answer)
        assert answer == satisfiable(clauses + [[each] for each in assumptions], count)
        if answer:
            value = solver.model()
            assert all(map(value, assumptions))
            assert all(any(map(value, each)) for each in clauses)
            assert all(value(v) != value(-v) for v in range(1, count + 1))
        else:
            core = list(solver.core())
            assert set(core) <= set(assumptions)
            assert not satisfiable(clauses + [[each] for each in core], count)
    assert answers == {False, True}
    solver.close()


@both
def test_a_core_leaves_out_what_has_no_part_in_it(make: Make) -> None:
    solver = make()
    solver.add_clause([-1, -2])
    assert not solver.solve([3, 1, -4, 2])
    assert set(solver.core()) == {1, 2}


@both
def test_a_contradiction_needs_no_assumption(make: Make) -> None:
    solver = make()
    solver.add_clause([1])
    solver.add_clause([-1])
    assert not solver.solve([2])
    assert set(solver.core()) <= {2}


@both
def test_a_variable_in_no_clause_is_false_in_a_model(make: Make) -> None:
    solver = make()
    solver.add_clause([1])
    assert solver.solve([])
    value = solver.model()
    assert value(1)
    assert not value(900)
    assert value(-900)


@both
def test_a_deadline_ends_a_hard_question_without_an_answer(make: Make) -> None:
    """Twelve pigeons, eleven holes: out of reach for resolution in this time."""
    holes = 11

    def sits(pigeon: int, hole: int) -> int:
        return pigeon * holes + hole + 1

    solver = make()
    for pigeon in range(holes + 1):
        solver.add_clause([sits(pigeon, hole) for hole in range(holes)])
    for hole in range(holes):
        for one, other in itertools.combinations(range(holes + 1), 2):
            solver.add_clause([-sits(one, hole), -sits(other, hole)])
    begin = time.monotonic()
    solver.deadline = begin + 0.3
    with pytest.raises(GaveUp) as failure:
        solver.solve([])
    assert failure.value.reason
    assert time.monotonic() - begin < 10


def test_without_python_sat_z3_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat", None)
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    assert isinstance(sat_solver(), Z3)


def test_with_python_sat_it_answers() -> None:
    pytest.importorskip("pysat")
    assert isinstance(sat_solver(), PySat)
