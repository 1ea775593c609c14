"""Inductive invariants, and the check that one is a proof.

A set of states that contains the initial state, that no step leaves, and in which nothing is bad proves that nothing
bad is ever reached (Floyd, "Assigning meanings to programs", 1967).  For properties that look beyond a state, it is bad
when no way out of it is stated (`checker.certificates.rescue`).  The check shares nothing with the engine that found
the invariant: its clauses come from `checker.logic.encode`, its answers from z3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from checker.certificates.rescue import Rescue, rescued
from checker.logic.encode import Layout, Template, formula_template, is_one_hot, step_template
from checker.logic.formula import FALSE, Formula, Variable, conjunction, evaluate, member, negate, substitute
from checker.logic.solver import Answer, SatSolver, Solver, Unknown, Unsat
from checker.transition_system import Form, Property, TransitionSystem


@dataclass(frozen=True)
class Invariant:
    """`cubes` are what never holds: each is a conjunction of literals `variable in mask`."""

    cubes: tuple[tuple[Formula, ...], ...]

    @cached_property
    def clauses(self) -> tuple[Formula, ...]:
        """What always holds, one formula for each cube."""
        return tuple(negate(conjunction(cube)) for cube in self.cubes)

    @property
    def formula(self) -> Formula:
        return conjunction(self.clauses)


def check(
    system: TransitionSystem,
    target: Property,
    invariant: Invariant,
    deadline: float | None = None,
    make_solver: Callable[[], SatSolver] = Solver,
    rescues: Sequence[Rescue] = (),
) -> str | None:
    """None if the invariant proves that the property is never violated (a cover: never reached), else what is wrong.

    rescues  for `at rest` and `recoverable`: from every bad state in the invariant one of these leads to the goal
    It is wrong, too, if a frontier state is not excluded, or if the solver gives no answer before the deadline.
    """
    if target.form is Form.LIVE:
        return f"an invariant alone does not prove that `{target.form.value}` holds"
    bad = target.bad
    unless = target.unless
    if unless is None and rescues:
        return f"nothing saves a state from violating {target.form.value}"
    if unless is not None:
        if not all(rescue.is_of(unless) for rescue in rescues):
            return "a way out has a step that is not one of those that count"
        bad = conjunction((bad, *(negate(rescued(system, unless, rescue)) for rescue in rescues)))
    for number, clause in enumerate(invariant.clauses):
        if not evaluate(clause, lambda variable: variable.initial):
            return f"clause {number} does not hold in the initial state"
    if target.form is not Form.STEP_INVARIANT and evaluate(bad, lambda variable: variable.initial):
        return "the initial state is bad"
    try:
        wrong = _states_complaint(_Questions(system, invariant, make_solver(), deadline), system, target, bad)
        return wrong or _steps_complaint(_Questions(system, invariant, make_solver(), deadline), system, target)
    except _NoAnswer as failure:
        return f"the solver gave no answer: {failure}"


def _states_complaint(questions: _Questions, system: TransitionSystem, target: Property, bad: Formula) -> str | None:
    if system.frontier is not FALSE and questions.possible(questions.place(system.frontier)):
        return "it does not exclude the end of the explored window"
    if target.form is not Form.STEP_INVARIANT and questions.possible(questions.place(bad)):
        return "it does not exclude every bad state"
    return None


def _steps_complaint(questions: _Questions, system: TransitionSystem, target: Property) -> str | None:
    questions.take_a_step()
    left = [questions.place(_primed(negate(clause))) for clause in questions.invariant.clauses]
    if target.form is Form.STEP_INVARIANT and questions.possible(questions.place(target.bad)):
        return "it does not exclude every bad step"
    for number, literal in enumerate(left):
        if questions.possible(literal):
            return f"a step leads to where clause {number} does not hold"
    return None


class _NoAnswer(Exception):
    """The solver's answer is Unknown."""


class _Questions:
    """Questions about a state in which the invariant holds, and about a step from there.

    The layout's blocks are taken as they are: the state, the state after the step, then auxiliary variables.
    """

    def __init__(
        self, system: TransitionSystem, invariant: Invariant, solver: SatSolver, deadline: float | None
    ) -> None:
        self.invariant = invariant
        self._system = system
        self._solver = solver
        self._deadline = deadline
        self._layout = Layout(system.variables)
        self._last = 2 * self._layout.width
        for variable in system.variables:
            self._one_code(variable)
        for clause in invariant.clauses:
            self._solver.add_clause(self.place(clause))

    def take_a_step(self) -> None:
        """From now on the state has a step."""
        self._placed(step_template(self._system, self._layout))

    def place(self, formula: Formula) -> int:
        """A literal that implies the formula; primed literals speak of the state after the step."""
        return self._placed(formula_template(formula, self._layout))[0]

    def possible(self, literal: int) -> bool:
        """Whether it can be true.  Raises _NoAnswer."""
        seconds = None if self._deadline is None else self._deadline - time.monotonic()
        answer: Answer = self._solver.solve((literal,), seconds)
        if isinstance(answer, Unknown):
            raise _NoAnswer(answer.reason)
        return not isinstance(answer, Unsat)

    def _placed(self, template: Template) -> tuple[int, ...]:
        width = self._layout.width
        start = self._last
        self._last += template.auxiliaries
        self._solver.add(template.placed(0, width, start))
        return tuple(output - 2 * width + start for output in template.outputs)

    def _one_code(self, variable: Variable) -> None:
        """The variable has exactly one code: one literal is true, or the bits make a number below the size."""
        literals = self._layout.literals(variable)
        if is_one_hot(variable):
            self._solver.add_clause(*literals)
            for literal in literals:
                for other in range(literals[0], literal):
                    self._solver.add_clause(-literal, -other)
            return
        for code in range(variable.size, 1 << len(literals)):
            self._solver.add_clause(*(-literal if code >> bit & 1 else literal for bit, literal in enumerate(literals)))


def _primed(formula: Formula) -> Formula:
    def literal(node: Formula) -> Formula:
        assert node.variable is not None
        return member(node.variable, node.mask, primed=True)

    return substitute(formula, literal)


__all__ = ["Invariant", "check"]
