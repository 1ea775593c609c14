"""Makes a path to a violation shorter, until no shorter one exists.

Given a path of n steps, one question asks for a violation within n - 1 steps: steps may be idle, all of them before the
first that is not, so that a deadlock state is asked about as well.  Each answer is a shorter path, and the last
question, which has none, is the proof that nothing shorter exists.  That is one hard question where bounded model
checking asks about each depth from 0 on.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence

from checker.engines.engine import Budget, Outcome, Path, Progress, Reached, Reporter, Undecided
from checker.engines.path_trimming import trimmed
from checker.engines.saving import STATE_LIMIT, Inconclusive, Saved, Saviour
from checker.engines.symmetry_breaking import SymmetryBreaking
from checker.logic.encode import formula_template, idling_template
from checker.logic.formula import FALSE, negate
from checker.logic.solver import Model, Sat, SatSolver, Solver, Unsat
from checker.logic.unroll import Unrolling
from checker.transition_system import Form, Property, TransitionSystem

AT_ONCE = "it is the initial state"


class Shortening:
    """An engine for properties of which a path to a violation is known.

    known        for each property that it is run for, such a path
    make_solver  the solver to use, a new one for each property
    """

    name = "shortening"

    def __init__(self, known: Mapping[Property, Path], make_solver: Callable[[], SatSolver] = Solver) -> None:
        self._known = known
        self._make_solver = make_solver

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        """Reports for each property Reached, the shortest known path first; Undecided for one without a known path."""
        ordered = sorted(properties, key=lambda p: len(self._known[p].actions) if p in self._known else 0)
        for target in ordered:
            outcome: Outcome = Undecided("no path to make shorter")
            if target in self._known:
                reporter.progress(Progress(self.name, len(self._known[target].actions), None, None))
                outcome = shortened(system, target, self._known[target], budget.deadline, self._make_solver)
            reporter.decided(target, outcome)


def shortened(
    system: TransitionSystem,
    target: Property,
    path: Path,
    deadline: float | None = None,
    make_solver: Callable[[], SatSolver] = Solver,
) -> Reached:
    """A shortest path to a violation, where the time suffices to find one and to prove that it is; else the shortest
    that was found, at least the given one, and nothing is said of shorter ones.

    deadline  on the clock of `time.monotonic`
    Raises KeyboardInterrupt only.
    """
    best = path
    try:
        best = trimmed(system, target, path, deadline)
        fewest = 1 if target.form is Form.STEP_INVARIANT else 0
        if len(best.actions) == fewest:
            return Reached(best, "it is the first step" if fewest else AT_ONCE)
        descent = _Descent(system, target, best, deadline, make_solver())
    except (MemoryError, RecursionError):
        return Reached(best, None)
    why = None
    with contextlib.suppress(MemoryError, RecursionError):
        why = descent.run()
    return Reached(descent.best, why)


class _Descent:
    """best: the shortest path so far."""

    def __init__(
        self, system: TransitionSystem, target: Property, path: Path, deadline: float | None, solver: SatSolver
    ) -> None:
        self.system = system
        self.target = target
        self.best = path
        self.deadline = deadline
        self.solver = solver
        self.unrolling = Unrolling(system, solver, idling_template)
        self.depth = len(path.actions) - 1
        breaking = SymmetryBreaking(self.unrolling)
        for moment in range(self.depth):
            self.unrolling.extend()
            breaking.extended()
            if moment:
                solver.add_clause(-self.unrolling.extra(moment), self.unrolling.extra(moment - 1))
        template = formula_template(target.bad, self.unrolling.layout)
        if target.form is Form.STEP_INVARIANT:
            self.asked = self.unrolling.place(template, self.depth - 1)
            solver.add_clause(-self.asked, -self.unrolling.extra(self.depth - 1))
        else:
            self.asked = self.unrolling.place(template, self.depth)

    def run(self) -> str | None:
        """Why the best path is a shortest one; None if that was not found out."""
        saviour = Saviour(self.system, STATE_LIMIT)
        while self.best.actions:
            answer = self.solver.solve((self.asked, *self.shorter()), self.seconds())
            if isinstance(answer, Unsat):
                return self.proof()
            if not isinstance(answer, Sat):
                return None
            if self.target.unless is not None:
                state = self.unrolling.state(answer.model, self.depth)
                found = saviour.look(state, self.target.unless, self.deadline)
                if isinstance(found, Inconclusive):
                    return None
                if isinstance(found, Saved):
                    template = formula_template(negate(found.formula), self.unrolling.layout)
                    self.solver.add_clause(-self.asked, self.unrolling.place(template, self.depth))
                    continue
            shorter = trimmed(self.system, self.target, self.path(answer.model), self.deadline)
            assert len(shorter.actions) < len(self.best.actions), "a path within fewer steps has no fewer"
            self.best = shorter
        return AT_ONCE

    def shorter(self) -> tuple[int, ...]:
        """Assumptions that leave fewer steps than the best path has."""
        idle = self.depth - (len(self.best.actions) - 1)
        return (self.unrolling.extra(idle - 1),) if idle else ()

    def proof(self) -> str | None:
        steps = len(self.best.actions) - 1
        if self.system.frontier is not FALSE:
            template = formula_template(self.system.frontier, self.unrolling.layout)
            left = self.unrolling.place(template, self.depth)
            if not isinstance(self.solver.solve((left, *self.shorter()), self.seconds()), Unsat):
                return None
        return f"no violation within {steps} {'step' if steps == 1 else 'steps'} (unsatisfiable)"

    def path(self, model: Model) -> Path:
        """The path of a model, without the idle steps at its beginning."""
        idle = sum(model(self.unrolling.extra(moment)) for moment in range(self.depth))
        states = [self.unrolling.state(model, moment) for moment in range(idle, self.depth + 1)]
        return Path(tuple(states), tuple(self.unrolling.action(model, moment) for moment in range(idle, self.depth)))

    def seconds(self) -> float | None:
        return None if self.deadline is None else self.deadline - time.monotonic()


__all__ = ["Shortening", "shortened"]
