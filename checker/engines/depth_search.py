"""Violations at depth 0, 1, 2, ... of an unrolling: what the bounded engines have in common.

One incremental solver is asked about each depth in turn (Eén and Sörensson, "Temporal induction by incremental SAT
solving", 2003).  A state at depth k is asked about when exactly k steps are asserted; there is no idle step, so that a
deadlock state is asked about at its own depth.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from checker.engines.engine import Bounded, Budget, Outcome, Progress, Reporter, Undecided, without_live
from checker.engines.saving import STATE_LIMIT, Inconclusive, Saved, Saviour
from checker.logic.encode import Template, formula_template
from checker.logic.formula import FALSE, negate
from checker.logic.solver import Model, Sat, SatSolver, Solver, Unknown
from checker.logic.unroll import Unrolling
from checker.transition_system import Form, Property, TransitionSystem

_PROGRESS_INTERVAL = 0.5


@dataclass(eq=False)
class Query:
    """A property that is not decided yet.

    saving  templates of the negated formulas of saved states
    asked   the literal that stands for a violation at the current depth
    """

    target: Property
    template: Template
    saving: list[Template] = field(default_factory=list)
    asked: int = 0


class DepthSearch(ABC):
    """One run of a bounded engine.

    complete  the last depth at which every question was answered, -1 at first
    frontier  the least depth of a frontier state, if one was found
    """

    name: str

    def __init__(
        self,
        system: TransitionSystem,
        properties: Sequence[Property],
        budget: Budget,
        reporter: Reporter,
        default_depth: int,
        state_limit: int = STATE_LIMIT,
    ) -> None:
        self.system = system
        self.budget = budget
        self.reporter = reporter
        self.limit = default_depth if budget.depth is None else budget.depth
        self.state_limit = state_limit
        self.open: list[Property] = list(properties)
        self.complete = -1
        self.frontier: int | None = None
        self.reported = time.monotonic()

    # -- what the engines differ in ---------------------------------------------------------------------------------

    def unroll(self, solver: SatSolver) -> Unrolling:
        return Unrolling(self.system, solver)

    def last_step_violates(self, query: Query, depth: int) -> int:
        """A literal that implies that the last step violates a step invariant."""
        return self.unrolling.place(query.template, depth - 1)

    @abstractmethod
    def violated(self, query: Query, model: Model, depth: int) -> None:
        """Decides a property of which the model shows a violation."""

    # -- what they have in common -----------------------------------------------------------------------------------

    def run(self, make_solver: Callable[[], SatSolver]) -> None:
        """Decides all properties."""
        try:
            self._run(make_solver())
        except MemoryError:
            self.stop("out of memory")
        except RecursionError:
            self.stop("a formula is nested too deeply")

    def _run(self, solver: SatSolver) -> None:
        self.solver = solver
        self.unrolling = self.unroll(solver)
        self.saviour = Saviour(self.system, self.state_limit)
        layout = self.unrolling.layout
        queries = [Query(target, formula_template(target.bad, layout)) for target in self.open]
        at_frontier = None if self.system.frontier is FALSE else formula_template(self.system.frontier, layout)
        while True:
            depth = self.unrolling.depth
            self.show_progress(depth)
            failure = self.ask(queries, depth)
            queries = [query for query in queries if query.target in self.open]
            if not queries:
                return
            if failure is None and at_frontier is not None and self.frontier is None:
                failure = self.look_for_frontier(at_frontier, depth)
            if failure is None:
                failure = self.look_for_end(depth)
            if failure is not None:
                self.stop(failure)
                return
            self.complete = depth
            if depth >= self.limit:
                self.stop(f"the depth limit of {self.limit} steps")
                return
            self.unrolling.extend()

    def ask(self, queries: list[Query], depth: int) -> str | None:
        """Decides which open properties are violated at this depth; None, or why that failed."""
        unrolling = self.unrolling
        active: list[Query] = []
        for query in queries:
            if query.target.form is Form.STEP_INVARIANT:
                if depth == 0:
                    continue
                query.asked = self.last_step_violates(query, depth)
            else:
                query.asked = unrolling.place(query.template, depth)
            active.append(query)
            for template in query.saving:
                self.exclude(query, template, depth)
        if not active:
            return None
        some = unrolling.new()
        self.solver.add_clause(-some, *(query.asked for query in active))
        while active:
            answer = self.solver.solve((some,), self.seconds())
            if isinstance(answer, Unknown):
                return answer.reason
            if not isinstance(answer, Sat):
                break
            query = next(query for query in active if answer.model(query.asked))
            outcome = self.candidate(query, answer.model, depth)
            if isinstance(outcome, Saved):
                continue
            if outcome is None:
                self.violated(query, answer.model, depth)
            else:
                self.decide(query.target, outcome)
            active.remove(query)
            self.solver.add_clause(-query.asked)
        self.solver.add_clause(-some)
        return None

    def candidate(self, query: Query, model: Model, depth: int) -> Saved | Outcome | None:
        """None: the model holds a violation.  Saved: it does not, and this and more is excluded now.  Else the outcome
        for a property of which that cannot be known."""
        unless = query.target.unless
        if unless is not None:
            found = self.saviour.look(self.unrolling.state(model, depth), unless, self.budget.deadline)
            if isinstance(found, Inconclusive):
                return self.bound(found.reason)
            if isinstance(found, Saved):
                template = formula_template(negate(found.formula), self.unrolling.layout)
                query.saving.append(template)
                self.exclude(query, template, depth)
                return found
        return None

    def exclude(self, query: Query, template: Template, depth: int) -> None:
        self.solver.add_clause(-query.asked, self.unrolling.place(template, depth))

    def look_for_frontier(self, template: Template, depth: int) -> str | None:
        literal = self.unrolling.place(template, depth)
        answer = self.solver.solve((literal,), self.seconds())
        if isinstance(answer, Unknown):
            return answer.reason
        if isinstance(answer, Sat):
            self.frontier = depth
        return None

    def look_for_end(self, depth: int) -> str | None:
        answer = self.solver.solve((), self.seconds())
        if isinstance(answer, Unknown):
            return answer.reason
        if isinstance(answer, Sat):
            return None
        return f"no run is longer than {depth - 1} steps: this is the whole state space's depth"

    def stop(self, reason: str) -> None:
        for target in list(self.open):
            self.decide(target, self.bound(reason))

    def bound(self, reason: str) -> Outcome:
        depth = self.complete
        if self.frontier is not None and self.frontier <= depth:
            depth = self.frontier - 1
            reason = "an unbounded integer left the explored window"
        return Bounded(depth, reason) if depth >= 0 else Undecided(reason)

    def decide(self, target: Property, outcome: Outcome) -> None:
        self.open.remove(target)
        self.reporter.decided(target, outcome)

    def seconds(self) -> float | None:
        return None if self.budget.deadline is None else self.budget.deadline - time.monotonic()

    def show_progress(self, depth: int) -> None:
        now = time.monotonic()
        if now - self.reported >= _PROGRESS_INTERVAL:
            self.reported = now
            self.reporter.progress(Progress(self.name, depth, None, None))


class BoundedEngine:
    """An engine that unrolls.

    search   what one run of it is
    deepest  how many steps it unrolls by default
    """

    name: str
    search: ClassVar[type[DepthSearch]]
    deepest: ClassVar[int]

    def __init__(
        self,
        default_depth: int | None = None,
        make_solver: Callable[[], SatSolver] = Solver,
        state_limit: int = STATE_LIMIT,
    ) -> None:
        """default_depth: how many steps, when the budget names no depth.  state_limit: how many states may be reached
        from a candidate while looking for a path that saves it."""
        self.default_depth = self.deepest if default_depth is None else default_depth
        self._make_solver = make_solver
        self._state_limit = state_limit

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        """Reports for each property Reached, Bounded, or (when depth 0 failed) Undecided.

        Raises KeyboardInterrupt only.
        """
        targets = without_live(properties, self.name, reporter)
        if targets:
            search = self.search(system, targets, budget, reporter, self.default_depth, self._state_limit)
            search.run(self._make_solver)


__all__ = ["BoundedEngine", "DepthSearch", "Query"]
