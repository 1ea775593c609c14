"""Bounded model checking with several actions in one step: paths to deep violations, where much happens side by side.

Each step of the unrolling holds actions that can be carried out one after the other in a fixed order
(`checker.engines.parallel_steps`).  A path that it finds is carried out like that, and is then a path as any other; it
need not be a shortest one.  Where k such steps do not suffice, neither do k steps of one action each, as these are a
special case: so what is excluded is a bound.
"""

from __future__ import annotations

from checker.engines.depth_search import BoundedEngine, DepthSearch, Query
from checker.engines.engine import Path, Reached
from checker.engines.parallel_steps import ParallelSteps
from checker.engines.path_trimming import trimmed
from checker.logic.formula import conjunction, evaluate, negate
from checker.logic.solver import Model, SatSolver
from checker.logic.unroll import Unrolling
from checker.transition_system import successor


class _Search(DepthSearch):
    name = "parallel"

    def unroll(self, solver: SatSolver) -> Unrolling:
        self.steps = ParallelSteps(self.system)
        return Unrolling(self.system, solver, self.steps.template)

    def last_step_violates(self, query: Query, depth: int) -> int:
        """Steps of single actions are what a step invariant speaks of."""
        literal = super().last_step_violates(query, depth)
        self.solver.add_clause(-literal, self.unrolling.extra(depth - 1))
        return literal

    def violated(self, query: Query, model: Model, depth: int) -> None:
        path = trimmed(self.system, query.target, self.serial_path(model), self.budget.deadline)
        length, limit = len(path.actions), self.budget.depth
        if limit is not None and length > limit:
            self.decide(query.target, self.bound(f"a violation of {length} steps was found, beyond the depth limit"))
        else:
            self.decide(query.target, Reached(path, None))

    def serial_path(self, model: Model) -> Path:
        """The path of a model, an action at a time."""
        system, place = self.system, self.system.position
        going_on = conjunction((negate(system.halted), negate(system.frontier)))
        states, actions = [system.initial], []
        for time in range(self.unrolling.depth):
            for action in self.steps.serial(self.unrolling.actions(model, time)):
                state = states[-1]
                guard = conjunction((going_on, action.guard))
                assert evaluate(guard, lambda v: state[place[v]]), f"action {action.index} cannot be carried out"  # noqa: B023
                actions.append(action)
                states.append(successor(system, state, action))
            assert states[-1] == self.unrolling.state(model, time + 1), "one after the other comes to something else"
        return Path(tuple(states), tuple(actions))


class ParallelBmc(BoundedEngine):
    """The engine.  It finds paths, not always shortest ones, and never claims more than a bound: 100 steps of the
    unrolling by default."""

    name = _Search.name
    search = _Search
    deepest = 100


__all__ = ["ParallelBmc"]
