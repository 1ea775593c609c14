"""The plainest search there is, for comparison: a dictionary of tuples, one formula evaluation after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checker.engines.engine import Path
from checker.logic.formula import Formula, evaluate
from checker.transition_system import (
    Action,
    Form,
    Property,
    Reachability,
    State,
    TransitionSystem,
    successor,
)


def holds(system: TransitionSystem, formula: Formula, state: State, next_state: State | None = None) -> bool:
    place = system.position
    if next_state is None:
        return evaluate(formula, lambda v: state[place[v]])
    after: State = next_state
    return evaluate(formula, lambda v: state[place[v]], lambda v: after[place[v]])


def steps(system: TransitionSystem, state: State) -> list[tuple[Action, State]]:
    if holds(system, system.halted, state) or holds(system, system.frontier, state):
        return []
    return [(a, successor(system, state, a)) for a in system.actions if holds(system, a.guard, state)]


def saved(
    system: TransitionSystem, start: State, unless: Reachability, known: dict[State, bool | None] | None = None
) -> bool | None:
    """Whether a path from `start` reaches the goal; None if none does but the explored window was left.

    known  answers for other states, to which this one is added
    """
    known = {} if known is None else known
    answer = _saved(system, start, unless, known)
    known[start] = answer
    return answer


def _saved(
    system: TransitionSystem, start: State, unless: Reachability, known: dict[State, bool | None]
) -> bool | None:
    seen = {start}
    stack = [start]
    left = False
    while stack:
        state = stack.pop()
        if known.get(state) or holds(system, unless.state, state):
            return True
        if state in known:
            left = left or known[state] is None
            continue
        left = left or holds(system, system.frontier, state)
        for action, target in steps(system, state):
            if action.kind in unless.kinds:
                if any(holds(system, w, state) != holds(system, w, target) for w in unless.watched):
                    return True
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
    return None if left else False


@dataclass
class Exploration:
    """depth_of    every reachable state with its distance from the initial state
    frontier    the least depth of a frontier state, or None
    violations  the length of a shortest violation for each violated property
    open        the least depth of a bad state from which only the end of the explored window keeps the goal
    fired       the actions that are enabled somewhere
    """

    depth_of: dict[State, int]
    frontier: int | None
    violations: dict[Property, int]
    open: dict[Property, int]
    fired: set[int]

    @property
    def depth(self) -> int:
        return max(self.depth_of.values())


class TooLargeError(Exception):
    """The system has more states than wanted."""


def explore(system: TransitionSystem, properties: Iterable[Property], limit: int = 1 << 30) -> Exploration:
    targets = list(properties)
    known: dict[Property, dict[State, bool | None]] = {target: {} for target in targets}
    result = Exploration({system.initial: 0}, None, {}, {}, set())
    level = [system.initial]
    depth = 0
    while level:
        following: list[State] = []
        for state in level:
            if holds(system, system.frontier, state) and result.frontier is None:
                result.frontier = depth
            for target in targets:
                if target in result.violations or target.form is Form.STEP_INVARIANT:
                    continue
                if holds(system, target.bad, state):
                    safe = False if target.unless is None else saved(system, state, target.unless, known[target])
                    if safe is None:
                        result.open.setdefault(target, depth)
                    elif not safe:
                        result.violations[target] = depth
            for action, after in steps(system, state):
                result.fired.add(action.index)
                for target in targets:
                    if (
                        target.form is Form.STEP_INVARIANT
                        and result.violations.get(target, depth + 1) > depth
                        and holds(system, target.bad, state, after)
                    ):
                        result.violations[target] = depth + 1
                if after not in result.depth_of:
                    result.depth_of[after] = depth + 1
                    following.append(after)
                    if len(result.depth_of) > limit:
                        raise TooLargeError
        level = following
        depth += 1
    return result


def complaint(system: TransitionSystem, target: Property, path: Path) -> str | None:
    """What is wrong with `path` as a violation of `target`, or None."""
    if len(path.states) != len(path.actions) + 1:
        return "the path has the wrong number of states"
    if path.states[0] != system.initial:
        return "the path does not begin in the initial state"
    for number, action in enumerate(path.actions):
        if (action, path.states[number + 1]) not in steps(system, path.states[number]):
            return f"step {number} is not a step of the system"
    if target.form is Form.STEP_INVARIANT:
        if not path.actions:
            return "there is no step"
        return None if holds(system, target.bad, *path.states[-2:]) else "the last step is harmless"
    if not holds(system, target.bad, path.states[-1]):
        return "the last state is harmless"
    if target.unless is not None and saved(system, path.states[-1], target.unless) is not False:
        return "the last state is saved"
    return None
