"""A SAT solver for thousands of tiny questions: clauses over integers, assumptions, models and cores.

This is the only module that speaks to python-sat, and it loads python-sat only when a solver is made.  Where that is
missing, z3 answers the same questions through `checker.logic.solver`, ten to a hundred times slower.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

from checker.logic.solver import Model, Sat, Solver, Unsat
from checker.time_limit import OUT_OF_TIME

PYSAT_SOLVER = "minisat22"
_CONFLICTS = 4_000
"""Conflicts between two looks at the clock."""


class GaveUp(Exception):
    """The solver has no answer.  `reason` says why; nothing is known about satisfiability."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Incremental(Protocol):
    """Literals are those of DIMACS.  Clauses stay for good; assumptions hold for one question.

    `deadline`, on the clock of `time.monotonic`, may be set at any time; beyond it `solve` raises GaveUp.
    """

    deadline: float | None

    def add_clause(self, literals: Iterable[int]) -> None: ...
    def solve(self, assumptions: Sequence[int]) -> bool:
        """Whether all clauses and the assumptions can be true together.  Raises GaveUp."""
        ...

    def model(self) -> Model:
        """After a yes: the truth of each literal."""
        ...

    def core(self) -> Collection[int]:
        """After a no: assumptions that cannot be true together (not always as few as can be)."""
        ...

    def close(self) -> None:
        """Frees the memory.  No question may follow."""
        ...


def sat_solver() -> Incremental:
    """python-sat's solver where it is installed, else z3's."""
    try:
        return PySat()
    except ImportError:
        return Z3()


class PySat:
    """One of python-sat's solvers.  Raises ImportError when python-sat is missing."""

    def __init__(self, name: str = PYSAT_SOLVER) -> None:
        from pysat.solvers import Solver as Named

        self.deadline: float | None = None
        self._solver: Any = Named(name=name)
        self._values: list[int] | None = None

    def add_clause(self, literals: Iterable[int]) -> None:
        self._solver.add_clause(list(literals))

    def solve(self, assumptions: Sequence[int]) -> bool:
        self._values = None
        if self.deadline is None:
            return bool(self._solver.solve(assumptions))
        while True:
            self._solver.conf_budget(_CONFLICTS)
            answer = self._solver.solve_limited(assumptions)
            if answer is not None:
                return bool(answer)
            if time.monotonic() >= self.deadline:
                raise GaveUp(OUT_OF_TIME)

    def model(self) -> Model:
        values = self._solver.get_model()
        count = len(values)

        def value(literal: int) -> bool:
            variable = abs(literal)
            return (variable <= count and values[variable - 1] > 0) == (literal > 0)

        return value

    def core(self) -> Collection[int]:
        return self._solver.get_core() or ()

    def close(self) -> None:
        self._solver.delete()


class Z3:
    """The same through z3."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        self._solver = Solver()
        self._model: Model | None = None

    def add_clause(self, literals: Iterable[int]) -> None:
        self._solver.add_clause(*literals)

    def solve(self, assumptions: Sequence[int]) -> bool:
        seconds = None if self.deadline is None else self.deadline - time.monotonic()
        answer = self._solver.solve(assumptions, seconds)
        self._model = None
        if isinstance(answer, Sat):
            self._model = answer.model
            return True
        if isinstance(answer, Unsat):
            return False
        raise GaveUp(answer.reason)

    def model(self) -> Model:
        assert self._model is not None, "the last answer was no"
        return self._model

    def core(self) -> Collection[int]:
        return self._solver.core()

    def close(self) -> None:
        pass


__all__ = ["PYSAT_SOLVER", "Z3", "GaveUp", "Incremental", "PySat", "sat_solver"]
