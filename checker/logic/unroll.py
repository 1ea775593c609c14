"""A transition system unrolled over time: the only place where a variable meets a time.

Each state, each step and each formula that is asked gets its block of solver variables when it is needed, so that the
numbers stay dense.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checker.engines.engine import Path
from checker.logic.encode import Layout, Template, step_template
from checker.logic.formula import Variable
from checker.logic.solver import Model, SatSolver
from checker.transition_system import Action, State, TransitionSystem


class Unrolling:
    """The runs of exactly `depth` steps from the initial state, as clauses in `solver`.

    If no run has that many steps the clauses are unsatisfiable.
    """

    def __init__(
        self,
        system: TransitionSystem,
        solver: SatSolver,
        step: Callable[[TransitionSystem, Layout], Template] = step_template,
    ) -> None:
        """step: the template of a step; its first outputs are the selections of the actions."""
        self.system = system
        self.solver = solver
        self.layout = Layout(system.variables)
        self._step = step(system, self.layout)
        self._last = 0
        self._states = [self._block(self.layout.width)]
        self._steps: list[int] = []
        for variable in system.variables:
            for literal in self.layout.full_cube(variable, variable.initial):
                solver.add_clause(_shifted(literal, self._states[0]))

    @property
    def depth(self) -> int:
        return len(self._steps)

    def extend(self) -> None:
        """One more step."""
        self._states.append(self._block(self.layout.width))
        self._steps.append(self._block(self._step.auxiliaries))
        self.solver.add(self._step.placed(self._states[-2], self._states[-1], self._steps[-1]))

    def new(self) -> int:
        """A fresh variable."""
        return self._block(1) + 1

    def place(self, template: Template, time: int) -> int:
        """A literal that implies the formula of a template at a time; its primed literals speak of the time after."""
        return self.place_all(template, time)[0]

    def place_all(self, template: Template, time: int) -> tuple[int, ...]:
        """All outputs of a template at a time."""
        following = self._states[time + 1] if time < self.depth else self._states[time]
        auxiliary = self._block(template.auxiliaries)
        self.solver.add(template.placed(self._states[time], following, auxiliary))
        return tuple(output - 2 * self.layout.width + auxiliary for output in template.outputs)

    def literals(self, variable: Variable, time: int) -> tuple[int, ...]:
        """The state literals of a variable (see `Layout.literals`)."""
        return tuple(literal + self._states[time] for literal in self.layout.literals(variable))

    def selections(self, time: int) -> tuple[int, ...]:
        """For each action, the literal that says that it takes part in the step from `time` to the next."""
        return self._outputs(time)[: len(self.system.actions)]

    def extra(self, time: int) -> int:
        """The one literal that this kind of step has besides the selections."""
        (found,) = self._outputs(time)[len(self.system.actions) :]
        return found

    def _outputs(self, time: int) -> tuple[int, ...]:
        shift = self._steps[time] - 2 * self.layout.width
        return tuple(output + shift for output in self._step.outputs)

    def state(self, model: Model, time: int) -> State:
        shift = self._states[time]
        return tuple(
            self.layout.code(variable, lambda literal: model(literal + shift)) for variable in self.system.variables
        )

    def actions(self, model: Model, time: int) -> list[Action]:
        """The actions that take part in the step from the state at `time` to the next."""
        selections = self.selections(time)
        return [action for action, literal in zip(self.system.actions, selections, strict=True) if model(literal)]

    def action(self, model: Model, time: int) -> Action:
        chosen = self.actions(model, time)
        assert len(chosen) == 1, f"{len(chosen)} actions at step {time}"
        return chosen[0]

    def path(self, model: Model) -> Path:
        states: Sequence[State] = [self.state(model, time) for time in range(self.depth + 1)]
        return Path(tuple(states), tuple(self.action(model, time) for time in range(self.depth)))

    def _block(self, size: int) -> int:
        """Reserves variables; variable i of the block is the answer plus i, counted from 1."""
        start = self._last
        self._last += size
        return start


def _shifted(literal: int, shift: int) -> int:
    return literal + shift if literal > 0 else literal - shift


__all__ = ["Unrolling"]
