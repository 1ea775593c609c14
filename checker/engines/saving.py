"""Which states are saved from violating an `at rest` or `recoverable` property, and why.

`Saviour.look` searches forwards from one state.  A path that reaches the goal is turned into the weakest precondition
of that path (Dijkstra, "Guarded commands, nondeterminacy and formal derivation of programs", 1975): the exact set of
states from which the same actions reach the goal.  A symbolic engine excludes all of them at once and asks again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from checker.formula import TRUE, Formula, Op, conjunction, evaluate, iff, negate
from checker.transition_system import Action, Kind, Reachability, State, TransitionSystem, after, successor

STATE_LIMIT = 200_000


@dataclass(frozen=True)
class Saved:
    """Every state in which `formula` holds is saved, among them the one that was asked about."""

    formula: Formula


@dataclass(frozen=True)
class Doomed:
    """No path reaches the goal: all states that can be reached were seen."""

    states: int


@dataclass(frozen=True)
class Inconclusive:
    reason: str


class Saviour:
    """Searches for paths to the goals of `Reachability`; successors are remembered between questions."""

    def __init__(self, system: TransitionSystem, state_limit: int = STATE_LIMIT) -> None:
        self._system = system
        self._limit = state_limit
        self._going_on = conjunction((negate(system.halted), negate(system.frontier)))
        self._guards = [Guard(system, conjunction((self._going_on, action.guard))) for action in system.actions]
        self._frontier = Guard(system, system.frontier)
        self._steps: dict[tuple[State, frozenset[Kind]], list[tuple[Action, State]]] = {}

    def look(self, start: State, unless: Reachability, deadline: float | None = None) -> Saved | Doomed | Inconclusive:
        """Searches breadth first, so that the formula of a saved state has as few guards as can be."""
        goal = Guard(self._system, unless.state)
        watched = [Guard(self._system, formula) for formula in unless.watched]
        came_from: dict[State, tuple[State, Action] | None] = {start: None}
        queue = [start]
        at_frontier = False
        for state in queue:
            if goal.holds(state):
                return self._saved(start, _actions(came_from, state), unless.state)
            before = [formula.holds(state) for formula in watched]
            at_frontier = at_frontier or self._frontier.holds(state)
            for action, target in self._successors(state, unless.kinds):
                for number, formula in enumerate(watched):
                    if formula.holds(target) != before[number]:
                        changes = _change(action, unless.watched[number])
                        last = conjunction((self._going_on, action.guard, changes))
                        return self._saved(start, _actions(came_from, state), last)
                if target not in came_from:
                    came_from[target] = (state, action)
                    queue.append(target)
            if len(queue) > self._limit:
                return Inconclusive(f"more than {self._limit} states can be reached from a candidate")
            if deadline is not None and time.monotonic() >= deadline:
                return Inconclusive("out of time")
        if at_frontier:
            return Inconclusive("an unbounded integer left the explored window on the way to the goal")
        return Doomed(len(queue))

    def precondition(self, actions: Sequence[Action], goal: Formula) -> Formula:
        """The states from which the actions can be taken in turn and lead to a state in which `goal` holds."""
        formula = goal
        for action in reversed(actions):
            formula = conjunction((self._going_on, action.guard, after(action, formula, primed=False)))
        return formula

    def _saved(self, start: State, actions: Sequence[Action], goal: Formula) -> Saved:
        formula = self.precondition(actions, goal)
        assert Guard(self._system, formula).holds(start), "a path does not satisfy its own precondition"
        return Saved(formula)

    def _successors(self, state: State, kinds: frozenset[Kind]) -> list[tuple[Action, State]]:
        key = (state, kinds)
        found = self._steps.get(key)
        if found is None:
            found = [
                (action, successor(self._system, state, action))
                for action, guard in zip(self._system.actions, self._guards, strict=True)
                if action.kind in kinds and guard.holds(state)
            ]
            if len(self._steps) >= self._limit:
                self._steps.clear()
            self._steps[key] = found
        return found


class Guard:
    """A formula with the literals of its top conjunction laid out for fast refusal."""

    def __init__(self, system: TransitionSystem, formula: Formula) -> None:
        place = system.position
        parts = formula.args if formula.op is Op.AND else (formula,)
        self._place = place
        self._literals = [(place[p.variable], p.mask) for p in parts if p.op is Op.IN and p.variable is not None]
        self._rest = [part for part in parts if part.op is not Op.IN and part is not TRUE]

    def holds(self, state: State) -> bool:
        for place, mask in self._literals:
            if not mask >> state[place] & 1:
                return False
        position = self._place
        return all(evaluate(part, lambda variable: state[position[variable]]) for part in self._rest)


def _actions(came_from: dict[State, tuple[State, Action] | None], state: State) -> list[Action]:
    actions: list[Action] = []
    step = came_from[state]
    while step is not None:
        actions.append(step[1])
        step = came_from[step[0]]
    return actions[::-1]


def _change(action: Action, formula: Formula) -> Formula:
    """The action changes the truth of the formula."""
    return negate(iff(formula, after(action, formula, primed=False)))


__all__ = ["STATE_LIMIT", "Doomed", "Guard", "Inconclusive", "Saved", "Saviour"]
