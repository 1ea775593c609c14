"""What fairness constraints ask of runs, as formulas and of loops."""

from __future__ import annotations

from collections.abc import Sequence

from checker.logic.formula import Formula, conjunction, disjunction, evaluate, negate
from checker.transition_system import Action, FairnessConstraint, Kind, LiveCase, State, TransitionSystem


def may_stay(system: TransitionSystem) -> Formula:
    """Where a run that counts may stay for ever: no fair action can be taken, no model error has struck, and the state
    is within the explored window."""
    owed = (constraint.enabled for constraint in system.fairness)
    return negate(disjunction((*owed, system.halted, system.frontier)))


def pending_at_start(system: TransitionSystem, case: LiveCase) -> bool:
    """Whether the initial state is triggered."""
    return evaluate(conjunction((case.trigger, negate(case.goal))), lambda variable: variable.initial)


def is_violating_loop(
    system: TransitionSystem, case: LiveCase, states: Sequence[State], actions: Sequence[Action]
) -> bool:
    """Whether a run that takes these actions, from these states, again and again, violates the case when it is pending:
    no goal, no fault, something recurrent, and every constraint is kept.  The loop is not empty."""

    def somewhere(formula: Formula) -> bool:
        return any(holds(system, formula, state) for state in states)

    def keeps(constraint: FairnessConstraint) -> bool:
        if any(action.index in constraint.actions for action in actions):
            return True
        return not somewhere(constraint.enabled) if constraint.strong else somewhere(negate(constraint.enabled))

    return (
        all(action.kind is not Kind.FAULT for action in actions)
        and not somewhere(case.goal)
        and somewhere(case.recurrent)
        and all(map(keeps, system.fairness))
    )


def holds(system: TransitionSystem, formula: Formula, state: State) -> bool:
    """The truth of an unprimed formula in a state."""
    place = system.position
    return evaluate(formula, lambda variable: state[place[variable]])


__all__ = ["holds", "is_violating_loop", "may_stay", "pending_at_start"]
