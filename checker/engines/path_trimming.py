"""Leaves out of a path what it does not need.

An action is left out, and with it those after it that cannot be carried out then; what is left counts if it still
comes to a violation.  That is repeated until nothing can be left out (in the manner of Zeller and Hildebrandt,
"Simplifying and isolating failure-inducing input", 2002, with guards that say what depends on what).  No solver is
asked, and what is left need not be a shortest path.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from checker.engines.engine import Path
from checker.engines.saving import Guard
from checker.logic.formula import conjunction, evaluate, negate
from checker.transition_system import Action, Form, Property, State, TransitionSystem, successor


def trimmed(system: TransitionSystem, target: Property, path: Path, deadline: float | None = None) -> Path:
    """A path to a violation of `target` with no more steps than `path`, which is such a path too.

    If the violation lies in what can follow the last state, that state stays the same.  deadline: on the clock of
    `time.monotonic`, when to stop with the best that was found.
    """
    trimming = _Trimming(system, target, path.states[-1])
    best = trimming.walk(path, 0, path.actions) or path
    removed = True
    while removed:
        removed = False
        place = len(best.actions)
        while place > 0:
            if deadline is not None and time.monotonic() >= deadline:
                return best
            place -= 1
            found = trimming.walk(best, place, best.actions[place + 1 :])
            if found is not None and len(found.actions) < len(best.actions):
                best, removed = found, True
                place = min(place, len(best.actions))
    return best


class _Trimming:
    def __init__(self, system: TransitionSystem, target: Property, end: State) -> None:
        self.system = system
        self.target = target
        self.end = end
        self.going_on = Guard(system, conjunction((negate(system.halted), negate(system.frontier))))
        self.guards: dict[Action, Guard] = {}

    def walk(self, path: Path, kept: int, actions: Sequence[Action]) -> Path | None:
        """The first `kept` steps of the path, then those of the actions that can be carried out in turn, up to the
        first violation, and without going in circles; None if there is no violation."""
        states, taken = list(path.states[: kept + 1]), list(path.actions[:kept])
        seen = {state: place for place, state in enumerate(states)}
        if not taken and self._violates(None, states[0]):
            return Path(tuple(states), ())
        for action in actions:
            before = states[-1]
            if not self._possible(action, before):
                continue
            after = successor(self.system, before, action)
            if self._violates(before, after):
                return Path((*states, after), (*taken, action))
            place = seen.get(after)
            if place is None:
                seen[after] = len(states)
                states.append(after)
                taken.append(action)
            else:
                for state in states[place + 1 :]:
                    del seen[state]
                del states[place + 1 :], taken[place:]
        return None

    def _possible(self, action: Action, state: State) -> bool:
        guard = self.guards.get(action)
        if guard is None:
            guard = self.guards[action] = Guard(self.system, action.guard)
        return self.going_on.holds(state) and guard.holds(state)

    def _violates(self, before: State | None, state: State) -> bool:
        if self.target.unless is not None:
            return state == self.end
        place = self.system.position
        if self.target.form is Form.STEP_INVARIANT:
            if before is None:
                return False
            old: State = before
            return evaluate(self.target.bad, lambda v: old[place[v]], lambda v: state[place[v]])
        return evaluate(self.target.bad, lambda v: state[place[v]])


__all__ = ["trimmed"]
