"""An invariant of a system that counts fair rounds, held against walks of the interpreter: the walk says what happens,
the system what its monitor may make of it, and the invariant must hold all along."""

from __future__ import annotations

import random

from checker.certificates.certificate import SEED
from checker.certificates.invariant import Invariant
from checker.liveness.counting import CountingSystem, translated
from checker.logic.formula import Formula, evaluate
from checker.transition_system import Action, State, successor
from spec.event import Event

_MOST = 6
"""So many of the monitor's states are followed at a time."""
_LONGEST = 12
"""So many observations are made of one state."""


class CounterWalk:
    """Follows one walk after another."""

    def __init__(self, counting: CountingSystem, invariant: Invariant) -> None:
        """Raises ValueError when the invariant speaks of other variables than the system's."""
        self._system = counting.system
        self._width = len(counting.original.variables)
        self._clauses = translated(invariant, counting.system).clauses
        self._own = [action for action in self._system.actions if action.bookkeeping]
        self._by_event: dict[Event, list[Action]] = {}
        for action in self._system.actions:
            if not action.bookkeeping:
                self._by_event.setdefault(action.event, []).append(action)
        self._drawn = random.Random(SEED)
        self._here: list[State] = []

    def begin(self) -> None:
        self._here = [self._system.initial]

    def step(self, before: State, event: Event, after: State) -> str | None:
        """What is wrong with the invariant in the states around this step of a walk; None if nothing is."""
        observed = self._observed()
        wrong = self._complaint(observed)
        if wrong is not None:
            return wrong
        going: dict[State, None] = {}
        for state in observed:
            for action in self._by_event.get(event, ()):
                if self._holds(action.guard, state):
                    reached = successor(self._system, state, action)
                    if reached[: self._width] == after:
                        going[reached] = None
        self._here = self._some(list(going))
        return self._complaint(self._here)

    def _observed(self) -> list[State]:
        """The states as they are, and with what the monitor may note of them: all of it, in a drawn order."""
        found = dict.fromkeys(self._here)
        for state in self._here:
            noted = state
            for _ in range(_LONGEST):
                possible = [action for action in self._own if self._holds(action.guard, noted)]
                if not possible:
                    break
                noted = successor(self._system, noted, self._drawn.choice(possible))
                found[noted] = None
        return list(found)

    def _some(self, states: list[State]) -> list[State]:
        """Those that have counted most, and some others."""
        if len(states) <= _MOST:
            return states
        return [states[-1], *self._drawn.sample(states[:-1], _MOST - 1)]

    def _complaint(self, states: list[State]) -> str | None:
        for state in states:
            for number, clause in enumerate(self._clauses):
                if not self._holds(clause, state):
                    return f"the interpreter comes to a state where clause {number} does not hold"
        return None

    def _holds(self, formula: Formula, state: State) -> bool:
        place = self._system.position
        return evaluate(formula, lambda variable: state[place[variable]])


__all__ = ["CounterWalk"]
