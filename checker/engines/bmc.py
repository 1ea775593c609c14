"""Bounded model checking: is there a violation after exactly 0, 1, 2, ... steps?

After Biere, Cimatti, Clarke and Zhu, "Symbolic model checking without BDDs", 1999, with one incremental solver
(Eén and Sörensson, "Temporal induction by incremental SAT solving", 2003).  Exactly k steps are asserted when the
state at depth k is asked about; there is no idle step, so every path has its true length, and a deadlock state is
asked about at its own depth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from checker.encode import Template, formula_template
from checker.engines.best_path import Rank, Ranked, best_path_of_length, cost
from checker.engines.engine import Bounded, Budget, Outcome, Path, Progress, Reached, Reporter, Undecided, without_live
from checker.engines.packing import Layout
from checker.engines.saving import STATE_LIMIT, Inconclusive, Saved, Saviour
from checker.formula import FALSE, negate
from checker.solver import Model, Sat, SatSolver, Solver, Unknown, Unsat
from checker.transition_system import Form, Kind, Property, TransitionSystem
from checker.unroll import Unrolling

_PROGRESS_INTERVAL = 0.5
_EXPLORED = 200_000
"""So many states are explored at most to find the best of the shortest paths."""
_BEST_SHARE = 0.3
"""Of the time that is left, this may be spent on a better path among the shortest ones."""


class Bmc:
    """The engine.  It finds shortest paths and never claims more than a bound.

    default_depth  how far to go when the budget names no depth
    make_solver    the solver to use
    state_limit    how many states may be reached from a candidate while looking for a path that saves it
    """

    name = "bmc"

    def __init__(
        self,
        default_depth: int = 40,
        make_solver: Callable[[], SatSolver] = Solver,
        state_limit: int = STATE_LIMIT,
    ) -> None:
        self.default_depth = default_depth
        self._make_solver = make_solver
        self._state_limit = state_limit

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        """Reports for each property Reached with a shortest path, Bounded, or (when depth 0 failed) Undecided.

        Raises KeyboardInterrupt only.
        """
        targets = without_live(properties, self.name, reporter)
        if not targets:
            return
        search = _Search(system, targets, budget, reporter)
        try:
            search.run(self._make_solver(), self.default_depth, self._state_limit)
        except MemoryError:
            search.stop("out of memory")
        except RecursionError:
            search.stop("a formula is nested too deeply")


@dataclass(eq=False)
class _Query:
    """A property that is not decided yet.

    saving  templates of the negated formulas of saved states
    asked   the literal that stands for a violation at the current depth
    """

    target: Property
    template: Template
    saving: list[Template] = field(default_factory=list)
    asked: int = 0


class _Search:
    def __init__(
        self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter
    ) -> None:
        self.system = system
        self.budget = budget
        self.reporter = reporter
        self.open: list[Property] = list(properties)
        self.complete = -1
        self.frontier: int | None = None
        self.reported = time.monotonic()

    def run(self, solver: SatSolver, default_depth: int, state_limit: int) -> None:
        limit = default_depth if self.budget.depth is None else self.budget.depth
        self.solver = solver
        self.unrolling = Unrolling(self.system, solver)
        self.saviour = Saviour(self.system, state_limit)
        layout = self.unrolling.layout
        queries = [_Query(target, formula_template(target.bad, layout)) for target in self.open]
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
            if depth >= limit:
                self.stop(f"the depth limit of {limit} steps")
                return
            self.unrolling.extend()

    def ask(self, queries: list[_Query], depth: int) -> str | None:
        """Decides which open properties are violated at this depth; None, or why that failed."""
        unrolling = self.unrolling
        active: list[_Query] = []
        for query in queries:
            if query.target.form is Form.STEP_INVARIANT:
                if depth == 0:
                    continue
                query.asked = unrolling.place(query.template, depth - 1)
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
            outcome = self.judge(query, answer.model, depth)
            if outcome is None:
                continue
            if isinstance(outcome, Reached) and outcome.shortest is not None:
                self.decide_best(query, outcome.path, outcome.shortest, depth)
            else:
                self.decide(query.target, outcome)
            active.remove(query)
            self.solver.add_clause(-query.asked)
        self.solver.add_clause(-some)
        return None

    def judge(self, query: _Query, model: Model, depth: int) -> Outcome | None:
        """The outcome for a property of which the model holds a candidate; None if that is saved, and excluded now."""
        unless = query.target.unless
        if unless is not None:
            found = self.saviour.look(self.unrolling.state(model, depth), unless, self.budget.deadline)
            if isinstance(found, Inconclusive):
                return self.bound(found.reason)
            if isinstance(found, Saved):
                template = formula_template(negate(found.formula), self.unrolling.layout)
                query.saving.append(template)
                self.exclude(query, template, depth)
                return None
        return Reached(self.unrolling.path(model), self.shortest(depth))

    def decide_best(self, query: _Query, path: Path, why: str, depth: int) -> None:
        """Decides by a path that is as good as can be found, at least by the one given."""
        ranked = Ranked(path, Rank.ANY)
        deadline = self.budget.deadline
        if deadline is not None:
            now = time.monotonic()
            deadline = now + _BEST_SHARE * max(deadline - now, 0.0)
        try:
            budget = Budget(deadline, states=_EXPLORED)
            if query.target.shown:
                best = best_path_of_length(Layout(self.system), query.target, depth, budget)
                ranked = best or self.fewest_faults(query, path, deadline)
        except MemoryError:
            pass
        finally:
            if ranked.rank is Rank.ANY:
                why += ", not for fewest faults"
            self.decide(query.target, Reached(ranked.path, f"{why}: {ranked.rank.value}"))

    def fewest_faults(self, query: _Query, path: Path, deadline: float | None) -> Ranked:
        """The path, or one of its length with the fewest faults, by a sequential counter (Sinz, 2005)."""
        depth, faults = len(path.actions), cost(path.actions)[0]
        counted = [0] * faults
        for moment in range(depth if faults else 0):
            before, counted = counted, [self.unrolling.new() for _ in range(faults)]
            for selection, action in zip(self.unrolling.selections(moment), self.system.actions, strict=True):
                if action.kind is Kind.FAULT:
                    self.solver.add_clause(-selection, counted[0])
                    for less, more in zip(before, counted[1:], strict=False):
                        if less:
                            self.solver.add_clause(-selection, -less, more)
            for old, new in zip(before, counted, strict=True):
                if old:
                    self.solver.add_clause(-old, new)
        while faults:
            seconds = None if deadline is None else deadline - time.monotonic()
            answer = self.solver.solve((query.asked, -counted[faults - 1]), seconds)
            if isinstance(answer, Unsat):
                break
            outcome = self.judge(query, answer.model, depth) if isinstance(answer, Sat) else Undecided("")
            if outcome is None:
                continue
            if not isinstance(outcome, Reached):
                return Ranked(path, Rank.ANY)
            path, faults = outcome.path, cost(outcome.path.actions)[0]
        return Ranked(path, Rank.FEWEST_FAULTS)

    def exclude(self, query: _Query, template: Template, depth: int) -> None:
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

    def shortest(self, depth: int) -> str | None:
        if self.frontier is not None and self.frontier < depth:
            return None
        if depth == 0:
            return "it is the initial state"
        return f"no violation at any smaller depth (unsatisfiable at 0..{depth - 1})"

    def decide(self, target: Property, outcome: Outcome) -> None:
        self.open.remove(target)
        self.reporter.decided(target, outcome)

    def seconds(self) -> float | None:
        return None if self.budget.deadline is None else self.budget.deadline - time.monotonic()

    def show_progress(self, depth: int) -> None:
        now = time.monotonic()
        if now - self.reported >= _PROGRESS_INTERVAL:
            self.reported = now
            self.reporter.progress(Progress(Bmc.name, depth, None, None))


__all__ = ["Bmc"]
