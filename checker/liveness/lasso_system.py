"""From properties of infinite runs to safety: a system whose bad states are those that close a violating loop.

After Biere, Artho and Schuppan, "Liveness checking as safety checking", 2002.  At a moment of its choice the system
saves its state; from then on there is no goal and no fault, and it is recorded what fairness wants to know about the
states and steps that follow.  It is bad to be back in the saved state when every constraint is kept; or to have saved
a state in which a run may stay.

A lasso of n steps is a path of n + 1 steps here, one more for the act of saving, and the other way round; all other
bookkeeping happens within the steps of the system itself.  So the shortest paths here are the shortest lassos, and of
these the one with the fewest faults and switches is the same, as saving is neither (see `Action.bookkeeping`).

What is recorded of a state is recorded by the step that leads out of it.  Each state of a loop has one such step in
the loop, so nothing is missed, and the updates read the state before the step, as all do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.engines.engine import Lasso, Path
from checker.liveness.fairness import may_stay, pending_at_start
from checker.liveness.monitor import watching, watching_fairness
from checker.logic.formula import FALSE, TRUE, Formula, Role, Variable, conjunction, disjunction, equals, member, negate
from checker.transition_system import (
    Action,
    Cases,
    Constant,
    Copy,
    FairnessConstraint,
    Form,
    Kind,
    LiveCase,
    Property,
    TransitionSystem,
    Update,
)
from spec.event import Event, EventKind

_FREE, _SAVED, _LOOPING = range(3)


@dataclass(frozen=True, eq=False)
class LassoSystem:
    """system   has one property, an invariant that the violating lassos of all cases refute
    original  the system that it was made from, whose variables come first in each state
    cases     the numbers of the cases
    chosen    the variable that tells which of them the loop is about, if there are several
    """

    original: TransitionSystem
    system: TransitionSystem
    cases: tuple[int, ...]
    chosen: Variable | None

    @property
    def target(self) -> Property:
        return self.system.properties[0]

    def lasso(self, path: Path, shortest: str | None = None) -> Lasso:
        """The lasso that a path to a bad state stands for."""
        saving = next(place for place, action in enumerate(path.actions) if action.bookkeeping)
        width = len(self.original.variables)
        states = [state[:width] for state in path.states]
        actions = [self.original.actions[action.index] for action in path.actions if not action.bookkeeping]
        case = self.cases[0 if self.chosen is None else path.states[-1][self.system.position[self.chosen]]]
        del states[saving]
        return Lasso(Path(tuple(states), tuple(actions)), saving, case, shortest)


def lasso_system(system: TransitionSystem, target: Property, cases: Sequence[int] | None = None) -> LassoSystem:
    """The system for the cases of a LIVE property with these numbers; for all of them by default."""
    return _Builder(system, target, range(len(target.cases)) if cases is None else cases).build()


class _Builder:
    """cases    with the monitor of each: true in a step after a state that was triggered, with no goal since; None
             where every state without a goal is triggered
    saved   a copy of each variable that steps without faults change
    kept    for each constraint, what is recorded: of a weak one whether it is kept, of a strong one 1 for enabled and
            not taken, 2 for taken, 0 for neither
    seen    whether something recurrent was seen, if that is asked for
    """

    def __init__(self, system: TransitionSystem, target: Property, numbers: Sequence[int]) -> None:
        self.original = system
        self.numbers = tuple(numbers)
        self.cases = [(target.cases[number], self._monitor(target.cases[number], number)) for number in numbers]
        self.name = target.name
        self.phase = watching("lasso phase", 3)
        self.chosen = watching("lasso case", len(self.cases)) if len(self.cases) > 1 else None
        changing = {v for action in system.actions if action.kind is not Kind.FAULT for v in action.writes}
        self.saved = {
            v: Variable(f"saved {v.name}", v.values, v.initial, Role.GHOST) for v in system.variables if v in changing
        }
        self.kept = watching_fairness(system)
        self.seen = watching("recurrent seen", 2) if any(c.recurrent is not TRUE for c, _ in self.cases) else None
        self.inside = negate(equals(self.phase, _FREE))

    def _monitor(self, case: LiveCase, number: int) -> Variable | None:
        if case.from_start:
            return watching(f"pending {number}", 2, int(pending_at_start(self.original, case)))
        return None if case.trigger is TRUE else watching(f"pending {number}", 2)

    def build(self) -> LassoSystem:
        own = [
            self.phase,
            self.chosen,
            *(m for _, m in self.cases),
            *self.saved.values(),
            *self.kept.values(),
            self.seen,
        ]
        actions = [self._action(action) for action in self.original.actions]
        actions += [self._saving(place, len(actions) + place) for place in range(len(self.cases))]
        system = TransitionSystem(
            variables=(*self.original.variables, *(variable for variable in own if variable is not None)),
            actions=tuple(actions),
            properties=(Property(self.name, Form.INVARIANT, self._bad()),),
            halted=self.original.halted,
            frontier=self.original.frontier,
        )
        return LassoSystem(self.original, system, self.numbers, self.chosen)

    def _is_chosen(self, place: int) -> Formula:
        return TRUE if self.chosen is None else equals(self.chosen, place)

    def _of_chosen(self, formulas: Sequence[Formula]) -> Formula:
        """The formula of the chosen case holds."""
        return disjunction(conjunction((self._is_chosen(place), each)) for place, each in enumerate(formulas))

    def _pending(self, case: LiveCase, monitor: Variable | None) -> Formula:
        if monitor is None:
            return negate(case.goal)
        before = equals(monitor, 1)
        started = before if case.from_start else disjunction((before, case.trigger))
        return conjunction((negate(case.goal), started))

    # -- actions ------------------------------------------------------------------------------------------------------

    def _saving(self, place: int, index: int) -> Action:
        guard = conjunction((equals(self.phase, _FREE), self._pending(*self.cases[place])))
        updates: dict[Variable, Update] = {self.phase: Constant(_SAVED)}
        if self.chosen is not None:
            updates[self.chosen] = Constant(place)
        for variable, copy in self.saved.items():
            updates[copy] = Copy(variable, tuple(range(variable.size)))
        return Action(index, Event(EventKind.STEP), Kind.ENVIRONMENT, guard, updates, bookkeeping=True)

    def _action(self, action: Action) -> Action:
        updates = dict(action.updates)
        for case, monitor in self.cases:
            if monitor is not None:
                _put(updates, monitor, self._pending(case, monitor))
        outside = equals(self.phase, _FREE)
        if action.kind is Kind.FAULT:
            guard = conjunction((action.guard, outside))
        else:
            avoiding = self._of_chosen([negate(case.goal) for case, _ in self.cases])
            guard = conjunction((action.guard, disjunction((outside, avoiding))))
            updates[self.phase] = Copy(self.phase, (_FREE, _LOOPING, _LOOPING))
            for constraint, kept in self.kept.items():
                self._record(updates, constraint, kept, action)
            if self.seen is not None:
                recurrent = self._of_chosen([case.recurrent for case, _ in self.cases])
                _put(updates, self.seen, disjunction((equals(self.seen, 1), conjunction((self.inside, recurrent)))))
        return Action(action.index, action.event, action.kind, guard, updates, action.fault)

    def _record(
        self, updates: dict[Variable, Update], constraint: FairnessConstraint, kept: Variable, action: Action
    ) -> None:
        if action.index in constraint.actions:
            taken = 2 if constraint.strong else 1
            updates[kept] = Copy(self.phase, (0, taken, taken))
        elif not constraint.strong:
            disabled = conjunction((self.inside, negate(constraint.enabled)))
            _put(updates, kept, disjunction((equals(kept, 1), disabled)))
        else:
            newly = conjunction((self.inside, constraint.enabled, equals(kept, 0)))
            updates[kept] = Cases(
                (
                    (equals(kept, 2), 2),
                    (disjunction((equals(kept, 1), newly)), 1),
                    (conjunction((equals(kept, 0), negate(newly))), 0),
                )
            )

    # -- bad states ---------------------------------------------------------------------------------------------------

    def _bad(self) -> Formula:
        closed = [equals(self.phase, _LOOPING)]
        for variable, copy in self.saved.items():
            same = [conjunction((equals(variable, code), equals(copy, code))) for code in range(variable.size)]
            closed.append(disjunction(same))
        for constraint, kept in self.kept.items():
            closed.append(member(kept, 0b101 if constraint.strong else 0b10))
        if self.seen is not None:
            closed.append(equals(self.seen, 1))
        recurrent = self._of_chosen([case.recurrent for case, _ in self.cases])
        staying = conjunction((equals(self.phase, _SAVED), may_stay(self.original), recurrent))
        return disjunction((conjunction(closed), staying))


def _put(updates: dict[Variable, Update], variable: Variable, condition: Formula) -> None:
    """The variable tells whether the condition held."""
    if condition in (TRUE, FALSE):
        updates[variable] = Constant(int(condition is TRUE))
    else:
        updates[variable] = Cases(((condition, 1), (negate(condition), 0)))


__all__ = ["LassoSystem", "lasso_system"]
