"""The SAT solver: clauses over integers go in, satisfiable, unsatisfiable or unknown comes out.

This is the only module that speaks to z3, and it loads z3 only when a solver is made.  Literals are those of DIMACS:
variables are 1, 2, ..., a negative number negates.  z3's finite-domain solver gets the clauses as DIMACS text, which
it adds to those it has; building the same clauses as z3 expressions takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from checker.time_limit import OUT_OF_TIME

Literals = npt.NDArray[np.int64]
"""Clauses one after the other, each ended by a 0."""

_LONGEST_REASON = 160


class Model(Protocol):
    def __call__(self, literal: int) -> bool:
        """The truth of a literal; a variable that occurs in no clause is false."""
        ...


@dataclass(frozen=True)
class Sat:
    model: Model


@dataclass(frozen=True)
class Unsat:
    pass


@dataclass(frozen=True)
class Unknown:
    """The solver gave up, or ran out of time or memory.  It says nothing about satisfiability."""

    reason: str


Answer = Sat | Unsat | Unknown


class SatSolver(Protocol):
    """What an unrolling needs of a solver."""

    def add(self, clauses: Literals) -> None: ...
    def add_clause(self, *literals: int) -> None: ...
    def solve(self, assumptions: Sequence[int] = (), seconds: float | None = None) -> Answer: ...


def flatten(clauses: Iterable[Iterable[int]]) -> Literals:
    """The clauses in the form that `Solver.add` takes."""
    return np.array([literal for clause in clauses for literal in (*clause, 0)], dtype=np.int64)


class Solver:
    """An incremental solver.  The same calls in the same order get the same answers (the seed is fixed)."""

    def __init__(self) -> None:
        import z3

        self._z3: Any = z3
        self._context: Any = z3.Context()
        self._solver: Any = z3.SolverFor("QF_FD", ctx=self._context)
        self._solver.set("random_seed", 0)
        self._waiting: list[Literals] = []
        self._variables = 0
        self._constants: dict[int, Any] = {}

    def add(self, clauses: Literals) -> None:
        """Adds clauses, each ended by a 0.  They are handed on when the next question is asked."""
        if clauses.size:
            assert clauses[-1] == 0
            self._waiting.append(clauses)
            self._variables = max(self._variables, int(np.abs(clauses).max()))

    def add_clause(self, *literals: int) -> None:
        self.add(flatten([literals]))

    def solve(self, assumptions: Sequence[int] = (), seconds: float | None = None) -> Answer:
        """Whether all clauses and the assumptions can be true together.

        seconds  the time limit for this question; when it has passed the answer is Unknown
        Raises KeyboardInterrupt when interrupted; z3's own failures become Unknown.
        """
        if seconds is not None and seconds <= 0:
            return Unknown(OUT_OF_TIME)
        z3 = self._z3
        try:
            self._hand_on()
            # z3 reads 2^32 - 1 as no limit.
            milliseconds = 0xFFFFFFFF if seconds is None else min(max(1, round(seconds * 1000)), 0xFFFFFFFE)
            self._solver.set("timeout", milliseconds)
            verdict = self._solver.check(*(self._literal(literal) for literal in assumptions))
            if verdict == z3.unsat:
                return Unsat()
            if verdict == z3.sat:
                return Sat(_Z3Model(self, self._solver.model()))
            reason = str(self._solver.reason_unknown())
        except z3.Z3Exception as error:
            reason = str(error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error)
        if "keyboard" in reason:
            # During a check z3 catches SIGINT itself, and Python never hears of it.
            raise KeyboardInterrupt
        return _unknown(reason, seconds)

    def core(self) -> tuple[int, ...]:
        """After Unsat: assumptions of that question that cannot be true together."""
        literals = []
        for found in self._solver.unsat_core():
            negative = self._z3.is_not(found)
            symbol = (found.arg(0) if negative else found).decl().name()
            # z3 names a constant whose symbol is the number i "k!i".
            number = int(symbol.removeprefix("k!"))
            literals.append(-number if negative else number)
        return tuple(literals)

    def _hand_on(self) -> None:
        if not self._waiting:
            return
        literals = np.concatenate(self._waiting)
        # z3 declares all variables up to the largest for each text, so a few clauses are cheaper as expressions.
        if literals.size * 20 < self._variables:
            self._add_expressions(literals)
        else:
            count = int((literals == 0).sum())
            text = f"p cnf {self._variables} {count}\n" + " ".join(map(str, literals.tolist())) + "\n"
            self._solver.from_string(text)
        # Only now: a clause that an exception kept from z3 must be handed on again, twice does no harm.
        self._waiting.clear()

    def _add_expressions(self, literals: Literals) -> None:
        clause: list[Any] = []
        for literal in literals.tolist():
            if literal:
                clause.append(self._literal(literal))
            else:
                self._solver.add(self._z3.Or(clause) if clause else self._z3.BoolVal(False, self._context))
                clause = []

    def _literal(self, literal: int) -> Any:
        """DIMACS variable i is, to z3, the Boolean constant whose name is the number i."""
        variable = abs(literal)
        constant = self._constants.get(variable)
        if constant is None:
            constant = self._z3.Bool(variable, self._context)
            self._constants[variable] = constant
        return constant if literal > 0 else self._z3.Not(constant)


def answer_text(text: str, seconds: float | None = None) -> Answer:
    """The answer to an SMT-LIB 2 text of Booleans, by a solver of its own.  A text that z3 cannot read is Unknown, and
    so is the answer when the time is up.  The model of a Sat knows no literals."""
    import z3

    if seconds is not None and seconds <= 0:
        return Unknown(OUT_OF_TIME)
    solver: Any = z3.SolverFor("QF_FD", ctx=z3.Context())
    try:
        if seconds is not None:
            solver.set("timeout", min(max(1, round(seconds * 1000)), 0xFFFFFFFE))
        solver.from_string(text)
        verdict = solver.check()
        if verdict == z3.unsat:
            return Unsat()
        if verdict == z3.sat:
            return Sat(lambda literal: literal < 0)
        reason = str(solver.reason_unknown())
    except z3.Z3Exception as error:
        reason = str(error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error)
    if "keyboard" in reason:
        raise KeyboardInterrupt
    return _unknown(reason, seconds)


def _unknown(reason: str, seconds: float | None) -> Unknown:
    """What z3's reason means, when it had so many seconds."""
    late = seconds is not None and reason in ("timeout", "canceled")
    return Unknown(OUT_OF_TIME if late else _shortened(reason))


@dataclass
class _Z3Model:
    solver: Solver
    model: Any
    known: dict[int, bool] = field(default_factory=dict)

    def __call__(self, literal: int) -> bool:
        variable = abs(literal)
        value = self.known.get(variable)
        if value is None:
            found = self.model.eval(self.solver._literal(variable), model_completion=True)
            value = bool(self.solver._z3.is_true(found))
            self.known[variable] = value
        return value == (literal > 0)


def _shortened(reason: str) -> str:
    line = " ".join(reason.split()) or "the solver gave no reason"
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 3] + "..."


__all__ = ["Answer", "Literals", "Model", "Sat", "SatSolver", "Solver", "Unknown", "Unsat", "answer_text", "flatten"]
