"""Properties of infinite runs on the plainest graph there is: a dictionary, and sets of states of networkx.

Nothing here is clever: small components are searched for fair parts by trying every set of states.
"""

from __future__ import annotations

from collections import deque
from itertools import combinations

import networkx as nx

from checker.engines.engine import Lasso
from checker.transition_system import Action, FairnessConstraint, Kind, LiveCase, Property, State, TransitionSystem
from tests.engines.reference import holds, steps

BRUTE = 9
"""Of components with up to so many states every set of states is looked at."""

Step = tuple[State, Action, State]


class Graph:
    """All states of a system without frontier states, with all their steps."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.steps: dict[State, list[tuple[Action, State]]] = {}
        queue = deque([system.initial])
        while queue:
            state = queue.popleft()
            if state not in self.steps:
                assert not holds(system, system.frontier, state)
                self.steps[state] = steps(system, state)
                queue.extend(target for _, target in self.steps[state])

    def is_violated(self, case: LiveCase) -> bool:
        pending = self.pending(case)
        if any(self.may_stay(case, state) for state in pending):
            return True
        calm = nx.MultiDiGraph()
        for state in pending:
            for action, target in self.steps[state]:
                if action.kind is not Kind.FAULT and target in pending:
                    calm.add_edge(state, target, action=action)
        return any(self._has_fair_part(case, calm.subgraph(part)) for part in nx.strongly_connected_components(calm))

    def pending(self, case: LiveCase) -> dict[State, int]:
        """The states that runs reach which have been triggered, and had no goal since; how many steps that takes."""
        system = self.system
        found: dict[tuple[State, bool], int] = {}
        level = [(system.initial, self._triggered(case, system.initial))]
        depth = 0
        while level:
            following = []
            for node in level:
                if node in found:
                    continue
                found[node] = depth
                state, is_pending = node
                for _, target in self.steps[state]:
                    then = is_pending and not holds(system, case.goal, target)
                    following.append((target, then))
                    if not case.from_start and self._triggered(case, target):
                        following.append((target, True))
            level = following
            depth += 1
        return {state: depth for (state, is_pending), depth in found.items() if is_pending}

    def _triggered(self, case: LiveCase, state: State) -> bool:
        return holds(self.system, case.trigger, state) and not holds(self.system, case.goal, state)

    def may_stay(self, case: LiveCase, state: State) -> bool:
        system = self.system
        owed = any(holds(system, constraint.enabled, state) for constraint in system.fairness)
        return not owed and not holds(system, system.halted, state) and holds(system, case.recurrent, state)

    def _has_fair_part(self, case: LiveCase, graph: nx.MultiDiGraph) -> bool:
        if graph.number_of_nodes() > BRUTE:
            return self._has_fair_component(case, graph)
        nodes = list(graph)
        for size in range(1, len(nodes) + 1):
            for chosen in combinations(nodes, size):
                part = graph.subgraph(chosen)
                if part.number_of_edges() and nx.is_strongly_connected(part) and self._is_fair(case, part):
                    return True
        return False

    def _is_fair(self, case: LiveCase, part: nx.MultiDiGraph) -> bool:
        actions = [action for _, _, action in part.edges(data="action")]
        return any(holds(self.system, case.recurrent, state) for state in part) and all(
            keeps(self.system, constraint, list(part), actions) for constraint in self.system.fairness
        )

    def _has_fair_component(self, case: LiveCase, graph: nx.MultiDiGraph) -> bool:
        """For larger components: take away where strong constraints are enabled that no step keeps."""
        for states in nx.strongly_connected_components(graph):
            part = graph.subgraph(states)
            if not part.number_of_edges():
                continue
            actions = [action for _, _, action in part.edges(data="action")]
            failed = [c for c in self.system.fairness if not keeps(self.system, c, list(part), actions)]
            if not failed:
                if any(holds(self.system, case.recurrent, state) for state in part):
                    return True
                continue
            if any(not constraint.strong for constraint in failed):
                continue
            rest = [s for s in states if not any(holds(self.system, c.enabled, s) for c in failed)]
            if self._has_fair_component(case, graph.subgraph(rest)):
                return True
        return False

    def shortest(self, case: LiveCase) -> int | None:
        """The number of steps of a shortest lasso; every loop from every pending state is looked at."""
        pending = self.pending(case)
        best: int | None = None
        for state, distance in sorted(pending.items(), key=lambda item: item[1]):
            if best is not None and distance >= best:
                break
            length = 0 if self.may_stay(case, state) else self._shortest_loop(case, pending, state)
            if length is not None and (best is None or distance + length < best):
                best = distance + length
        return best

    def _shortest_loop(self, case: LiveCase, pending: dict[State, int], start: State) -> int | None:
        """Of a fair loop from `start`: what has been seen on the way is part of the node."""
        fairness = self.system.fairness

        def seen_at(state: State) -> frozenset[object]:
            seen: set[object] = {("enabled", c) for c in fairness if holds(self.system, c.enabled, state)}
            seen |= {("idle", c) for c in fairness if not holds(self.system, c.enabled, state)}
            return frozenset(seen | ({"recurrent"} if holds(self.system, case.recurrent, state) else set()))

        def is_fair(seen: frozenset[object]) -> bool:
            return "recurrent" in seen and all(
                ("taken", c) in seen or (("enabled", c) not in seen if c.strong else ("idle", c) in seen)
                for c in fairness
            )

        level = {(start, seen_at(start))}
        known = set(level)
        length = 0
        while level:
            length += 1
            following = set()
            for state, seen in level:
                for action, target in self.steps[state]:
                    if action.kind is Kind.FAULT or target not in pending:
                        continue
                    after = seen | {("taken", c) for c in fairness if action.index in c.actions} | seen_at(target)
                    if target == start and is_fair(after):
                        return length
                    if (target, after) not in known:
                        known.add((target, after))
                        following.add((target, after))
            level = following
        return None


def keeps(system: TransitionSystem, constraint: FairnessConstraint, states: list[State], actions: list[Action]) -> bool:
    if any(action.index in constraint.actions for action in actions):
        return True
    enabled = [holds(system, constraint.enabled, state) for state in states]
    return not any(enabled) if constraint.strong else not all(enabled)


def complaint(system: TransitionSystem, target: Property, lasso: Lasso) -> str | None:
    """What is wrong with a lasso as a violation of the property, or None."""
    path, case = lasso.path, target.cases[lasso.case]
    if path.states[0] != system.initial or len(path.states) != len(path.actions) + 1:
        return "the path is none"
    for state, action, after in zip(path.states, path.actions, path.states[1:], strict=False):
        if (action, after) not in steps(system, state):
            return "a step is none"
    starts = [
        place
        for place, state in enumerate(path.states)
        if holds(system, case.trigger, state) and (place == 0 or not case.from_start)
    ]
    if not any(not any(holds(system, case.goal, state) for state in path.states[place:]) for place in starts):
        return "it is not triggered, or comes to the goal"
    if lasso.loop == len(path.actions):
        last = path.states[-1]
        if holds(system, system.halted, last) or holds(system, system.frontier, last):
            return "it stays where a model error has struck, or the window ends"
        if not holds(system, case.recurrent, last):
            return "nothing recurs where it stays"
        owed = any(holds(system, constraint.enabled, last) for constraint in system.fairness)
        return "it stays where something fair can go on" if owed else None
    if path.states[lasso.loop] != path.states[-1]:
        return "the loop is not closed"
    loop, actions = list(path.states[lasso.loop : -1]), list(path.actions[lasso.loop :])
    if any(action.kind is Kind.FAULT for action in actions):
        return "there is a fault in the loop"
    if not any(holds(system, case.recurrent, state) for state in loop):
        return "nothing recurs in the loop"
    unkept = [c.name for c in system.fairness if not keeps(system, c, loop, actions)]
    return f"the loop is unfair to {unkept[0]}" if unkept else None
