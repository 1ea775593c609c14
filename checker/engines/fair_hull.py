"""Is a closed set of states free of violating runs?  A second opinion on what `checker.engines.fair_cycles` found.

A greatest fixpoint takes the place of strongly connected components (Kesten, Pnueli and Raviv, "Algorithmic
verification of linear temporal logic specifications", 1998): of the states without a goal those are kept from which, by
steps without faults between states that are kept, some step leads on, something recurrent is reached, and for each weak
constraint a state where it is disabled or a step of it; and, where a strong constraint is enabled, a step of it.  In
the end every component that no step leaves is one in which a violating run can stay, and no such component is ever
lost.  So nothing violates the case when no triggered state reaches what was kept, or a state to stay in.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from checker.engines.closed_set import SearchedStates
from checker.engines.packing import Flags, Indices
from checker.engines.state_graph import ranges
from checker.engines.state_table import Numbers
from checker.liveness.fairness import may_stay
from checker.logic.formula import TRUE
from checker.transition_system import Action, Kind, LiveCase, Property, State


class Hulls:
    """A closed set, searched without symmetry, with the second opinion on the properties that it is said to prove.  The
    check that it is closed finds all steps, and is made once; what it finds is the graph that the opinion is about."""

    def __init__(self, states: SearchedStates) -> None:
        self._states = states
        self.symmetric = states.symmetric

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, state: State) -> bool:
        return state in self._states

    def sample(self, count: int, seed: int) -> Iterator[State]:
        return self._states.sample(count, seed)

    def recheck(self) -> str | None:
        """See `ClosedSet.recheck`."""
        return self._graph if isinstance(self._graph, str) else None

    def complaint(self, target: Property) -> str | None:
        """None if the set is closed, and no run through it violates the LIVE property, else what is wrong."""
        graph = self._graph
        if isinstance(graph, str):
            return graph
        for number, case in enumerate(target.cases):
            if _is_violated(graph, case):
                return f"a run through the set violates case {number} of {target.name}"
        return None

    @cached_property
    def _graph(self) -> _Graph | str:
        """All steps, found anew, or why the set is not closed."""
        if self._states.symmetric:
            return "the set was searched with symmetry, and fairness tells symmetric actors apart"
        sources, targets, actions = [], [], []

        def see(action: Action, before: Indices, after: Indices) -> None:
            sources.append(before.astype(np.int32))
            targets.append(after.astype(np.int32))
            actions.append(np.full(len(before), action.index, dtype=np.int32))

        wrong = self._states.recheck(see)
        if wrong is not None:
            return wrong
        none = np.empty(0, dtype=np.int32)
        found = (np.concatenate([none, *parts]) for parts in (sources, targets, actions))
        return _Graph(self._states, *found)


class _Graph:
    """All steps between the states, by the states they lead out of."""

    def __init__(self, states: SearchedStates, sources: Numbers, targets: Numbers, actions: Numbers) -> None:
        self.states = states
        self.system = states.system
        self.size = len(states)
        order = np.argsort(sources, kind="stable")
        self.sources = sources.take(order)
        self.targets = targets.take(order)
        self.actions = actions.take(order)
        self.first = np.searchsorted(self.sources, np.arange(self.size + 1)).astype(np.int64)
        kinds = [action.kind is not Kind.FAULT for action in self.system.actions]
        self.calm: Flags = np.array([*kinds, False], dtype=np.bool_).take(self.actions)

    def leading_to(self, goals: Flags, within: Flags, calm: bool = True) -> Flags:
        """The states of `within` from which a way through states of `within`, without faults if it is to be calm, leads
        to a goal."""
        found = goals & within
        missing = np.flatnonzero(within & ~found)
        steps = ranges(self.first.take(missing), self.first.take(missing + 1))
        if calm:
            steps = steps[self.calm.take(steps)]
        while len(steps):
            arriving = found.take(self.targets.take(steps))
            if not arriving.any():
                break
            found[self.sources.take(steps[arriving])] = True
            steps = steps[~found.take(self.sources.take(steps))]
        return found

    def before(self, kept: Flags, steps: NDArray[np.int64]) -> Flags:
        """The states from which one of these steps leads to one that is kept."""
        found = np.zeros(self.size, dtype=np.bool_)
        found[self.sources.take(steps[kept.take(self.targets.take(steps))])] = True
        return found

    def taking(self, indices: frozenset[int]) -> NDArray[np.int64]:
        """The steps by these actions."""
        chosen = np.zeros(len(self.system.actions) + 1, dtype=np.bool_)
        chosen[list(indices)] = True
        return np.flatnonzero(chosen.take(self.actions) & self.calm)


def _is_violated(graph: _Graph, case: LiveCase) -> bool:
    flags = graph.states.flags
    avoid = ~flags(case.goal)
    triggered = avoid & flags(case.trigger)
    if case.from_start:
        triggered &= graph.states.flags_of(graph.system.initial)
    if not triggered.any():
        return False
    recurrent = flags(case.recurrent)
    kept = _hull(graph, avoid, None if case.recurrent is TRUE else recurrent)
    stays = avoid & flags(may_stay(graph.system)) & recurrent
    return bool((graph.leading_to(kept | stays, avoid, calm=False) & triggered).any())


def _hull(graph: _Graph, kept: Flags, recurrent: Flags | None) -> Flags:
    demands = [
        (constraint.strong, graph.states.flags(constraint.enabled), graph.taking(constraint.actions))
        for constraint in graph.system.fairness
    ]
    calm = np.flatnonzero(graph.calm)
    while True:
        before = np.count_nonzero(kept)
        if recurrent is not None:
            kept = graph.leading_to(recurrent, kept)
        for strong, enabled, taking in demands:
            by_step = graph.before(kept, taking)
            if strong:
                kept = (kept & ~enabled) | graph.leading_to(by_step, kept)
            else:
                kept = graph.leading_to(by_step | ~enabled, kept)
        kept = kept & graph.before(kept, calm)
        if np.count_nonzero(kept) == before:
            return kept


__all__ = ["Hulls"]
