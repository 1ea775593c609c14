from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.logic.solver import Sat, Solver, Unknown, Unsat, flatten

Clause = list[int]


def pigeons(holes: int) -> list[Clause]:
    """holes + 1 pigeons, no two of them in one hole: unsatisfiable, and hard beyond about 10 holes."""

    def sits(pigeon: int, hole: int) -> int:
        return pigeon * holes + hole + 1

    somewhere = [[sits(pigeon, hole) for hole in range(holes)] for pigeon in range(holes + 1)]
    apart = [
        [-sits(one, hole), -sits(other, hole)]
        for hole in range(holes)
        for one, other in itertools.combinations(range(holes + 1), 2)
    ]
    return somewhere + apart


def test_small_pigeonhole_is_unsatisfiable_and_one_pigeon_fewer_is_not() -> None:
    clauses = pigeons(4)
    solver = Solver()
    solver.add(flatten(clauses[1:]))
    assert isinstance(solver.solve(), Sat)
    solver.add(flatten(clauses[:1]))
    assert isinstance(solver.solve(), Unsat)


def test_assumptions_hold_for_one_question_only() -> None:
    solver = Solver()
    solver.add_clause(1, 2)
    assert isinstance(solver.solve([-1, -2]), Unsat)
    answer = solver.solve([-1])
    assert isinstance(answer, Sat)
    assert answer.model(2)
    assert answer.model(-1)
    assert not answer.model(1)


def test_the_empty_clause_is_unsatisfiable() -> None:
    solver = Solver()
    assert isinstance(solver.solve(), Sat)
    solver.add_clause()
    assert isinstance(solver.solve(), Unsat)


def test_a_variable_without_clauses_is_false() -> None:
    solver = Solver()
    solver.add_clause(1)
    answer = solver.solve()
    assert isinstance(answer, Sat)
    assert not answer.model(77)
    assert answer.model(-77)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.lists(
            st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=3),
            max_size=8,
        ),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
    st.sets(st.sampled_from([1, -2, 3, -4]), max_size=2),
)
def test_agrees_with_all_assignments_after_every_batch(
    batches: list[list[Clause]], sparse: bool, assumptions: set[int]
) -> None:
    solver = Solver()
    if sparse:
        # A large variable makes the solver take small batches as expressions and not as text.
        solver.add_clause(5000, 4999)
        solver.solve()
    so_far: list[Clause] = [[literal] for literal in assumptions]
    for batch in batches:
        solver.add(flatten(batch))
        so_far += batch

        def satisfied(signs: tuple[bool, ...], clauses: list[Clause] = so_far) -> bool:
            return all(any(signs[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in clauses)

        expected = any(map(satisfied, itertools.product((False, True), repeat=6)))
        answer = solver.solve(sorted(assumptions))
        assert isinstance(answer, Sat if expected else Unsat)
        if isinstance(answer, Sat):
            assert satisfied(tuple(answer.model(variable) for variable in range(1, 7)))


def test_running_out_of_time_is_unknown_and_prompt() -> None:
    solver = Solver()
    solver.add(flatten(pigeons(13)))
    begin = time.monotonic()
    answer = solver.solve(seconds=0.3)
    assert isinstance(answer, Unknown)
    assert answer.reason
    assert time.monotonic() - begin < 5
    assert isinstance(solver.solve(seconds=0), Unknown)


def test_a_time_limit_holds_for_one_question_only() -> None:
    solver = Solver()
    solver.add(flatten(pigeons(8)))
    assert isinstance(solver.solve(seconds=0.001), Unknown)
    assert isinstance(solver.solve(), Unsat)


def test_failures_of_z3_are_unknown_with_a_short_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver()
    import z3

    def fail(*_: object) -> None:
        raise z3.Z3Exception(b"a long story " * 100)

    solver.add_clause(1)
    with monkeypatch.context() as patch:
        patch.setattr(z3.Solver, "check", fail)
        answer = solver.solve()
    assert isinstance(answer, Unknown)
    assert answer.reason.startswith("a long story")
    assert len(answer.reason) <= 160


def test_clauses_that_z3_failed_to_take_are_handed_on_again(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver()
    import z3

    def fail(*_: object) -> None:
        raise z3.Z3Exception("no memory")

    solver.add_clause(1)
    with monkeypatch.context() as patch:
        patch.setattr(z3.Solver, "from_string", fail)
        assert isinstance(solver.solve([-1]), Unknown)
    assert isinstance(solver.solve([-1]), Unsat)


def test_an_interrupt_stops_a_question_and_is_raised() -> None:
    solver = Solver()
    solver.add(flatten(pigeons(13)))
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        solver.solve(seconds=60)
    assert time.monotonic() - begin < 10


def test_the_same_questions_get_the_same_models() -> None:
    def models() -> list[list[bool]]:
        solver = Solver()
        found = []
        for shift in range(5):
            solver.add(flatten([[i, -(i + shift + 1), i + 2 * shift + 2] for i in range(1, 60)]))
            solver.add_clause(3 * shift + 1, 3 * shift + 2)
            answer = solver.solve()
            assert isinstance(answer, Sat)
            found.append([answer.model(variable) for variable in range(1, 70)])
        return found

    assert models() == models()


def test_z3_is_loaded_only_when_a_solver_is_made() -> None:
    program = (
        "import sys, checker.logic.solver, checker.logic.unroll, checker.engines.bmc\n"
        "assert 'z3' not in sys.modules\n"
        "checker.logic.solver.Solver()\n"
        "assert 'z3' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
