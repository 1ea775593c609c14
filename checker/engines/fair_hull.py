"""Is a closed set of states free of violating runs?  A second opinion on what `checker.engines.fair_cycles` found.

A greatest fixpoint takes the place of strongly connected components (Kesten, Pnueli and Raviv, "Algorithmic
verification of linear temporal logic specifications", 1998): of the states without a goal those are kept from which, by
steps without faults between states that are kept, some step leads on, something recurrent is reached, and for each weak
constraint a state where it is disabled or a step of it; and, where a strong constraint is enabled, a step of it.  In
the end every component that no step leaves is one in which a violating run can stay, and no such component is ever
lost.  So nothing violates the case when no triggered state reaches what was kept, or a state to stay in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.engines.closed_set import SearchedStates
from checker.engines.packing import Flags
from checker.engines.state_graph import ranges
from checker.engines.state_table import Numbers
from checker.fairness import may_stay
from checker.formula import TRUE
from checker.transition_system import Kind, LiveCase, Property


def complaint(states: SearchedStates, target: Property) -> str | None:
    """None if no run through the set, which is closed and was searched without symmetry, violates the LIVE property."""
    graph = _Backwards(states)
    for number, case in enumerate(target.cases):
        if _is_violated(graph, case):
            return f"a run through the set violates case {number} of {target.name}"
    return None


class _Backwards:
    """All steps between the states, by their targets."""

    def __init__(self, states: SearchedStates) -> None:
        self.states = states
        self.system = states.system
        self.size = len(states)
        parts = list(states.edges())
        sources: Numbers = np.concatenate([np.empty(0, dtype=np.int32), *(part[1] for part in parts)])
        targets: Numbers = np.concatenate([np.empty(0, dtype=np.int32), *(part[2] for part in parts)])
        indices = np.array([part[0].index for part in parts], dtype=np.int32)
        actions = np.repeat(indices, [len(part[1]) for part in parts])
        order = np.argsort(targets, kind="stable")
        self.sources = sources.take(order)
        self.actions = actions.take(order)
        self.targets = targets.take(order)
        self.first = np.searchsorted(self.targets, np.arange(self.size + 1)).astype(np.int64)
        kinds = [action.kind is not Kind.FAULT for action in self.system.actions]
        self.calm: Flags = np.array([*kinds, False], dtype=np.bool_).take(self.actions)
        self.everywhere: Flags = np.ones(len(self.sources), dtype=np.bool_)

    def leading_to(self, goals: Flags, within: Flags, by: Flags) -> Flags:
        """The states of `within` from which a way through states of `within`, by edges in `by`, leads to a goal."""
        found = goals & within
        current: NDArray[np.intp] = np.flatnonzero(found)
        while len(current):
            places = ranges(self.first.take(current), self.first.take(current + 1))
            sources = self.sources.take(places[by.take(places)])
            sources = sources[within.take(sources) & ~found.take(sources)]
            current = np.unique(sources).astype(np.intp)
            found[current] = True
        return found

    def before(self, kept: Flags, by: Flags) -> Flags:
        """The states from which an edge in `by` leads to one that is kept."""
        found = np.zeros(self.size, dtype=np.bool_)
        found[self.sources[by & kept.take(self.targets)]] = True
        return found

    def taking(self, indices: frozenset[int]) -> Flags:
        chosen = np.zeros(len(self.system.actions) + 1, dtype=np.bool_)
        chosen[list(indices)] = True
        return chosen.take(self.actions) & self.calm


def _is_violated(graph: _Backwards, case: LiveCase) -> bool:
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
    return bool((graph.leading_to(kept | stays, avoid, graph.everywhere) & triggered).any())


def _hull(graph: _Backwards, kept: Flags, recurrent: Flags | None) -> Flags:
    demands = [
        (constraint.strong, graph.states.flags(constraint.enabled), graph.taking(constraint.actions))
        for constraint in graph.system.fairness
    ]
    while True:
        before = np.count_nonzero(kept)
        if recurrent is not None:
            kept = graph.leading_to(recurrent, kept, graph.calm)
        for strong, enabled, taking in demands:
            by_step = graph.before(kept, taking)
            if strong:
                kept = (kept & ~enabled) | graph.leading_to(by_step, kept, graph.calm)
            else:
                kept = graph.leading_to(by_step | ~enabled, kept, graph.calm)
        kept = kept & graph.before(kept, graph.calm)
        if np.count_nonzero(kept) == before:
            return kept


__all__ = ["complaint"]
