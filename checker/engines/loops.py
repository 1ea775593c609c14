"""Short loops through a strongly connected component that meet a list of demands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.engines.packing import Flags, distinct
from checker.engines.state_graph import Edges, ranges

Chosen = list[int]
"""Edges by number, one leading on from where the one before leads to."""


@dataclass(frozen=True, eq=False)
class Demand:
    """It is met by coming to a state in `states`, or by an edge in `edges` (flags by number)."""

    states: Flags
    edges: Flags


class Component:
    """A strongly connected graph of states numbered from 0.  `edges` are in the order of their sources."""

    def __init__(self, edges: Edges, count: int) -> None:
        self.edges = edges
        self.count = count
        self._first = np.searchsorted(edges.sources, np.arange(count + 1)).astype(np.int64)

    def loop(self, start: int, demands: Sequence[Demand]) -> Chosen:
        """A closed walk of one or more edges from `start` that meets every demand: on to the nearest state or edge
        that meets one that is left, and in the end the shortest way back."""
        left = [demand for demand in demands if not demand.states[start]]
        current = start
        walk: Chosen = []
        while left:
            goals = np.zeros(self.count, dtype=np.bool_)
            wanted = np.zeros(len(self.edges), dtype=np.bool_)
            for demand in left:
                goals |= demand.states
                wanted |= demand.edges
            goals[self.edges.sources[wanted]] = True
            way = self._way(current, goals)
            current = self._end(way, current)
            for edge in way:
                left = [d for d in left if not (d.edges[edge] or d.states[self.edges.targets[edge]])]
            here = np.arange(self._first[current], self._first[current + 1])
            for edge in here[wanted[here]]:
                if any(demand.edges[edge] for demand in left):
                    way.append(int(edge))
                    current = self._end(way, current)
                    left = [d for d in left if not (d.edges[edge] or d.states[current])]
                    break
            walk += way
        if current != start or not walk:
            goals = np.zeros(self.count, dtype=np.bool_)
            goals[start] = True
            walk += self._way(current, goals, some=not walk)
        return walk

    def _end(self, way: Chosen, start: int) -> int:
        return int(self.edges.targets[way[-1]]) if way else start

    def _way(self, start: int, goals: Flags, some: bool = False) -> Chosen:
        """A shortest way to a goal; with `some` it has at least one edge."""
        if goals[start] and not some:
            return []
        by: NDArray[np.int64] = np.full(self.count, -1, dtype=np.int64)
        seen = np.zeros(self.count, dtype=np.bool_)
        seen[start] = not some
        current = np.array([start])
        while True:
            places = ranges(self._first.take(current), self._first.take(current + 1))
            places = places[~seen.take(self.edges.targets.take(places))]
            targets = self.edges.targets.take(places)
            assert len(targets), "the component is not strongly connected"
            by[targets[::-1]] = places[::-1]
            current = distinct(targets).astype(np.intp)
            seen[current] = True
            reached = current[goals.take(current)]
            if len(reached):
                break
        way: Chosen = []
        state = int(reached[0])
        while not way or state != start:
            way.append(int(by[state]))
            state = int(self.edges.sources[way[-1]])
        return way[::-1]


__all__ = ["Component", "Demand"]
