"""Bounded model checking with several actions in one step: paths to deep violations, where much happens side by side.

Each step of the unrolling holds actions that can be carried out one after the other in a fixed order
(`checker.engines.parallel_steps`).  A path that it finds is carried out like that, and is then a path as any other; it
need not be a shortest one.  Where k such steps do not suffice, neither do k steps of one action each, as these are a
special case: so what is excluded is a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checker.engines.depth_search import DepthSearch, Query
from checker.engines.engine import Budget, Path, Reached, Reporter, without_live
from checker.engines.parallel_steps import ParallelSteps
from checker.engines.path_trimming import trimmed
from checker.engines.saving import STATE_LIMIT
from checker.logic.formula import conjunction, evaluate, negate
from checker.logic.solver import Model, SatSolver, Solver
from checker.logic.unroll import Unrolling
from checker.transition_system import Property, TransitionSystem, successor


class ParallelBmc:
    """The engine.  It finds paths, not always shortest ones, and never claims more than a bound.

    default_depth  how many steps of the unrolling, when the budget names no depth
    make_solver    the solver to use
    state_limit    how many states may be reached from a candidate while looking for a path that saves it
    """

    name = "parallel"

    def __init__(
        self,
        default_depth: int = 100,
        make_solver: Callable[[], SatSolver] = Solver,
        state_limit: int = STATE_LIMIT,
    ) -> None:
        self.default_depth = default_depth
        self._make_solver = make_solver
        self._state_limit = state_limit

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        """Reports for each property Reached, Bounded, or (when depth 0 failed) Undecided.

        Raises KeyboardInterrupt only.
        """
        targets = without_live(properties, self.name, reporter)
        if targets:
            search = _Search(system, targets, budget, reporter, self.default_depth, self._state_limit)
            search.run(self._make_solver)


class _Search(DepthSearch):
    name = ParallelBmc.name

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


__all__ = ["ParallelBmc"]
