"""Do the transition system and the interpreter mean the same by a `live` property?  Asked of states, one by one: who
that is fair can move there, and what the property says of them."""

from __future__ import annotations

from collections.abc import Mapping

from checker.liveness.assumptions import Mover, Strength, mover
from checker.liveness.live_claim import LiveClaim
from checker.logic.formula import Formula, evaluate
from checker.transition_system import FairnessConstraint, Property, State, TransitionSystem
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import Fairness
from spec.value import Value


class FairnessAgreement:
    """One property of one system.

    strength  how fair everybody is who is; by the interpreter's model
    """

    def __init__(
        self,
        system: TransitionSystem,
        target: Property,
        claim: LiveClaim,
        interpreter: Interpreter,
        strength: Strength,
    ) -> None:
        self._system = system
        self._target = target
        self._claim = claim
        self._strength = strength
        self._constraints: dict[Mover, FairnessConstraint] = {}
        for constraint in system.fairness:
            for index in constraint.actions:
                moving = mover(system.actions[index].event, interpreter.topology)
                if moving is not None:
                    self._constraints[moving] = constraint
        # Symmetric bindings share a case: of each case some binding must say the same in all states.
        self._like: list[list[Mapping[str, Value]]] = [list(claim.bindings()) for _ in target.cases]

    def complaint(self, state: GlobalState, code: State, able: frozenset[Mover]) -> str | None:
        """None as long as both agree.  `able`: who can move in the state, by the interpreter."""
        if state.error is not None:
            # No run goes on from here, whatever the constraints say.
            return None
        ours = {each for each in able if self._strength(each) is not Fairness.UNFAIR}
        theirs = {each for each, constraint in self._constraints.items() if self._holds(constraint.enabled, code)}
        for each in ours ^ theirs:
            who = f"{each.kind.value} of {each.subject}"
            return f"only the {'interpreter' if each in ours else 'transition system'} takes {who} for fair and able"
        for each in theirs:
            if self._constraints[each].strong is not (self._strength(each) is Fairness.STRONG):
                return f"interpreter and transition system differ about how fair {each.subject} is"
        for place, case in enumerate(self._target.cases):
            goal, recurrent = self._holds(case.goal, code), self._holds(case.recurrent, code)
            trigger = self._holds(case.trigger, code) and not goal
            left = []
            for binding in self._like[place]:
                truth = self._claim.truth(state, binding)
                same = (truth.goal, truth.recurrent) == (goal, recurrent)
                if same and (self._claim.from_start or (truth.trigger and not truth.goal) == trigger):
                    left.append(binding)
            if not left:
                return f"the interpreter finds {self._target.name} to say something else of a state"
            self._like[place] = left
        return None

    def _holds(self, formula: Formula, code: State) -> bool:
        place = self._system.position
        return evaluate(formula, lambda variable: code[place[variable]])


__all__ = ["FairnessAgreement"]
