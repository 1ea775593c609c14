"""Bounded model checking: is there a violation after exactly 0, 1, 2, ... steps?

After Biere, Cimatti, Clarke and Zhu, "Symbolic model checking without BDDs", 1999.  Every path has its true length, so
the first one is a shortest.
"""

from __future__ import annotations

import time

from checker.engines.best_path import Rank, Ranked, best_path_of_length, cost
from checker.engines.depth_search import BoundedEngine, DepthSearch, Query
from checker.engines.engine import Budget, Path, Reached
from checker.engines.packing import Layout
from checker.engines.saving import Saved
from checker.logic.solver import Model, Sat, Unsat
from checker.transition_system import Kind

_EXPLORED = 200_000
"""So many states are explored at most to find the best of the shortest paths."""
_BEST_SHARE = 0.3
"""Of the time that is left, this may be spent on a better path among the shortest ones."""


class _Search(DepthSearch):
    name = "bmc"

    def violated(self, query: Query, model: Model, depth: int) -> None:
        path, why = self.unrolling.path(model), self.shortest(depth)
        if why is None:
            self.decide(query.target, Reached(path, None))
        else:
            self.decide_best(query, path, why, depth)

    def decide_best(self, query: Query, path: Path, why: str, depth: int) -> None:
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

    def fewest_faults(self, query: Query, path: Path, deadline: float | None) -> Ranked:
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
            if not isinstance(answer, Sat):
                return Ranked(path, Rank.ANY)
            outcome = self.candidate(query, answer.model, depth)
            if isinstance(outcome, Saved):
                continue
            if outcome is not None:
                return Ranked(path, Rank.ANY)
            path = self.unrolling.path(answer.model)
            faults = cost(path.actions)[0]
        return Ranked(path, Rank.FEWEST_FAULTS)

    def shortest(self, depth: int) -> str | None:
        if self.frontier is not None and self.frontier < depth:
            return None
        if depth == 0:
            return "it is the initial state"
        return f"no violation at any smaller depth (unsatisfiable at 0..{depth - 1})"


class Bmc(BoundedEngine):
    """The engine.  It finds shortest paths and never claims more than a bound: 40 steps by default."""

    name = _Search.name
    search = _Search
    deepest = 40


__all__ = ["Bmc"]
