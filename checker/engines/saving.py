"""Which states are saved from violating an `at rest` or `recoverable` property, and why.

`Saviour.look` searches forwards from one state.  A path that reaches the goal is turned into the weakest precondition
of that path (Dijkstra, "Guarded commands, nondeterminacy and formal derivation of programs", 1975): the exact set of
states from which the same actions reach the goal.  A symbolic engine excludes all of them at once and asks again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from checker.logic.formula import FALSE, TRUE, Formula, Op, conjunction, disjunction, evaluate, negate, variables_of
from checker.time_limit import OUT_OF_TIME
from checker.transition_system import Action, Cases, Copy, Kind, Reachability, State, TransitionSystem, after, successor

STATE_LIMIT = 200_000


@dataclass(frozen=True)
class Saved:
    """Every state in which `formula` holds is saved, among them the one that was asked about.

    states, actions  the path that was found, from that one
    """

    formula: Formula
    states: tuple[State, ...]
    actions: tuple[Action, ...]


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
        self._watches: dict[Reachability, _Watch] = {}

    def look(
        self, start: State, unless: Reachability, deadline: float | None = None, limit: int | None = None
    ) -> Saved | Doomed | Inconclusive:
        """Searches breadth first, so that the formula of a saved state has as few guards as can be.

        limit  of states that may be found, where it is to be lower than usual
        """
        limit = self._limit if limit is None else min(limit, self._limit)
        goal = Guard(self._system, unless.state)
        watch = self._watches.get(unless)
        if watch is None:
            watch = self._watches[unless] = _Watch(self._system, unless)
        came_from: dict[State, tuple[State, Action] | None] = {start: None}
        queue = [start]
        at_frontier = False
        for state in queue:
            if goal.holds(state):
                return self._saved(start, _actions(came_from, state), unless)
            at_frontier = at_frontier or self._frontier.holds(state)
            for action, target in self._successors(state, unless.kinds):
                if watch.differs(action, state, target):
                    return self._saved(start, [*_actions(came_from, state), action], unless)
                if target not in came_from:
                    came_from[target] = (state, action)
                    queue.append(target)
            if len(queue) > limit:
                return Inconclusive(f"more than {limit} states can be reached from a candidate")
            if deadline is not None and time.monotonic() >= deadline:
                return Inconclusive(OUT_OF_TIME)
        if at_frontier:
            return Inconclusive("an unbounded integer left the explored window on the way to the goal")
        return Doomed(len(queue))

    def steps_from(self, state: State, unless: Reachability) -> list[tuple[Action, State]]:
        """The steps that a path to the goal may have from a state."""
        return self._successors(state, unless.kinds)

    def precondition(self, actions: Sequence[Action], unless: Reachability) -> Formula:
        """The states from which the actions can be taken in turn so that they reach the goal: its state holds after
        them, or the last of them changes the truth of a watched formula."""
        formula = unless.state
        for place, action in reversed(list(enumerate(actions))):
            changes = FALSE if place + 1 < len(actions) else _change(action, unless.watched)
            reached = disjunction((after(action, formula, primed=False), changes))
            formula = conjunction((self._going_on, action.guard, reached))
        return formula

    def _saved(self, start: State, actions: Sequence[Action], unless: Reachability) -> Saved:
        formula = self.precondition(actions, unless)
        assert Guard(self._system, formula).holds(start), "a path does not satisfy its own precondition"
        states = [start]
        for action in actions:
            states.append(successor(self._system, states[-1], action))
        return Saved(formula, tuple(states), tuple(actions))

    def _successors(self, state: State, kinds: frozenset[Kind]) -> list[tuple[Action, State]]:
        key = (state, kinds)
        found = self._steps.get(key)
        if found is None:
            found = [
                (action, successor(self._system, state, action))
                for action, guard in zip(self._system.actions, self._guards, strict=True)
                if action.kind in kinds and guard.holds(state) and self._is_defined(action, state)
            ]
            if len(self._steps) >= self._limit:
                self._steps.clear()
            self._steps[key] = found
        return found

    def _is_defined(self, action: Action, state: State) -> bool:
        """Whether the updates say what the step does; in states that no run reaches they need not."""
        place = self._system.position
        for update in action.updates.values():
            if isinstance(update, Copy) and update.table[state[place[update.source]]] < 0:
                return False
            if isinstance(update, Cases) and not any(
                evaluate(condition, lambda variable: state[place[variable]]) for condition, _ in update.cases
            ):
                return False
        return True


class _Watch:
    """For each action, the watched formulas whose truth it may change."""

    def __init__(self, system: TransitionSystem, unless: Reachability) -> None:
        self._concerned: dict[Action, list[Guard]] = {}
        watched = [(Guard(system, each), {variable for variable, _ in variables_of(each)}) for each in unless.watched]
        for action in system.actions:
            if action.kind in unless.kinds:
                self._concerned[action] = [each for each, read in watched if not read.isdisjoint(action.writes)]

    def differs(self, action: Action, state: State, target: State) -> bool:
        """Whether the step of the action, from the state to the target, changes the truth of one."""
        return any(each.holds(state) != each.holds(target) for each in self._concerned[action])


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


def _change(action: Action, watched: Sequence[Formula]) -> Formula:
    """The action changes the truth of one of the formulas."""
    changes = []
    for formula in watched:
        if any(variable in action.writes for variable, _ in variables_of(formula)):
            other = negate(formula)
            changes.append(conjunction((formula, after(action, other, primed=False))))
            changes.append(conjunction((other, after(action, formula, primed=False))))
    return disjunction(changes)


__all__ = ["STATE_LIMIT", "Doomed", "Guard", "Inconclusive", "Saved", "Saviour"]
