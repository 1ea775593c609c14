"""The graph of all reachable states, without symmetry, with every step: for properties of infinite runs.

A cycle of orbit representatives need not be a cycle of states, and fairness tells symmetric actors apart; so each state
stands for itself here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from checker.engines.engine import Budget, Path
from checker.engines.packing import Batch, Columns, Flags, Indices, Layout
from checker.engines.state_table import Numbers, StateTable
from checker.engines.step_relation import StepRelation
from checker.logic.formula import FALSE, Formula, conjunction, negate
from checker.time_limit import OUT_OF_TIME
from checker.transition_system import State, TransitionSystem

CHUNK = 1 << 15
MOST_EDGES = 60_000_000
"""More steps than this are not kept: six bytes each, and a multiple of that while components are computed."""
DEPTH = "the depth limit was reached"
STATES = "the limit on the number of states was reached"
STEPS = "the limit on the number of steps was reached"
WINDOW = "an unbounded integer left the explored window"

ActionIndices = NDArray[np.int32]


@dataclass(frozen=True)
class Edges:
    """Steps from numbered states (ascending) to numbered states, with the indices of their actions."""

    sources: Numbers
    targets: Numbers
    actions: ActionIndices

    def __len__(self) -> int:
        return len(self.sources)

    def where(self, chosen: Flags) -> Edges:
        places = np.flatnonzero(chosen)
        return Edges(self.sources.take(places), self.targets.take(places), self.actions.take(places))


@dataclass(eq=False)
class StateGraph:
    """States numbered in breadth-first order from the initial state, 0.

    starts  the number of the first state of each depth, and the number of all states
    parent  for each state, one from which a step of a shortest path leads to it; -1 for the initial state
    first   state s has the edges first[s] .. first[s + 1] - 1; `targets` and `actions` are theirs
    cut     why not all states and steps are there, or None when they are
    bound   no run repeats a state within so many steps, or stays somewhere, but its states and steps are there
    """

    layout: Layout
    table: StateTable
    starts: list[int] = field(default_factory=lambda: [0])
    parent: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    first: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    targets: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    actions: ActionIndices = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    cut: str | None = None
    bound: int = 0

    @property
    def system(self) -> TransitionSystem:
        return self.layout.system

    def __len__(self) -> int:
        return self.table.count

    @property
    def depth(self) -> int:
        return len(self.starts) - 2

    def depth_of(self, numbers: NDArray[np.integer]) -> Indices:
        found: Indices = np.searchsorted(self.starts, numbers, side="right") - 1
        return found

    def flags(self, formula: Formula) -> Flags:
        """In which states an unprimed formula holds."""
        found = np.empty(len(self), dtype=np.bool_)
        for begin in range(0, len(self), CHUNK):
            end = min(begin + CHUNK, len(self))
            found[begin:end] = Batch(self.layout, self.table.columns(begin, end)).holds(formula)
        return found

    def out_of(self, states: NDArray[np.integer]) -> Edges:
        """The edges that lead out of these states, given in ascending order."""
        first, last = self.first.take(states), self.first.take(np.asarray(states) + 1)
        places = ranges(first, last)
        sources = np.repeat(np.asarray(states, dtype=np.int32), last - first)
        return Edges(sources, self.targets.take(places), self.actions.take(places))

    def state(self, number: int) -> State:
        return self.layout.unpack([int(column[0]) for column in self.table.take(np.array([number]))])

    def path(self, numbers: Sequence[int], then: Sequence[tuple[int, int]] = ()) -> Path:
        """The path through these states, by the first action that leads from each to the next; `then` come these steps:
        the index of an action, and the state it leads to."""
        chosen = []
        for source, target in pairwise(numbers):
            edges = self.out_of(np.array([source]))
            chosen.append(int(edges.actions[edges.targets == target].min()))
        states = [*numbers, *(target for _, target in then)]
        actions = [self.system.actions[index] for index in (*chosen, *(index for index, _ in then))]
        return Path(tuple(map(self.state, states)), tuple(actions))


def ranges(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """first[0] .. last[0] - 1, first[1] .. last[1] - 1, and so on, in one array."""
    sizes = last - first
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    found: NDArray[np.int64] = np.arange(total, dtype=np.int64) + np.repeat(first - (ends - sizes), sizes)
    return found


def state_graph(system: TransitionSystem, budget: Budget, tell: Callable[[int, int], None] | None = None) -> StateGraph:
    """Explores breadth first until all is explored or the budget is spent; then `cut` says so, and the states whose
    steps are not known have none.  `tell` gets the depth and the number of states from time to time.

    Raises MemoryError.
    """
    layout = Layout(system)
    graph = StateGraph(layout, StateTable(layout.words))
    relation = StepRelation(layout, system.actions, ())
    graph.table.insert(layout.columns(system.initial))
    exploration = _Exploration(graph, relation, budget)
    exploration.run(tell)
    return graph


class _Exploration:
    def __init__(self, graph: StateGraph, relation: StepRelation, budget: Budget) -> None:
        self.graph = graph
        self.relation = relation
        self.budget = budget
        self.ends = [f for f in (graph.system.halted, graph.system.frontier) if f is not FALSE]
        self.parents: list[Numbers] = [np.array([-1], dtype=np.int32)]
        self.degrees: list[NDArray[np.int64]] = []
        self.targets: list[Numbers] = []
        self.actions: list[ActionIndices] = []
        self.edges = 0

    def run(self, tell: Callable[[int, int], None] | None) -> None:
        graph = self.graph
        while graph.cut is None and graph.starts[-1] < graph.table.count:
            begin, end = graph.starts[-1], graph.table.count
            graph.starts.append(end)
            if graph.depth == self.budget.depth:
                # What lies at this depth is known, but not whether steps lead on.
                graph.cut = DEPTH
                break
            for first in range(begin, end, CHUNK):
                graph.cut = self._why_stop()
                if graph.cut is not None:
                    break
                self._expand(first, min(first + CHUNK, end))
                if tell is not None:
                    tell(graph.depth, graph.table.count)
        self._finish()

    def _why_stop(self) -> str | None:
        if self.budget.expired():
            return OUT_OF_TIME
        if self.graph.table.count >= self.budget.states:
            return STATES
        return STEPS if self.edges >= MOST_EDGES else None

    def _expand(self, first: int, last: int) -> None:
        table = self.graph.table
        columns = table.columns(first, last)
        alive = np.arange(last - first)
        if self.ends:
            flags = Batch(self.graph.layout, columns).holds(conjunction(negate(each) for each in self.ends))
            alive = np.flatnonzero(flags)
            columns = [column.take(alive) for column in columns]
        firings = list(self.relation.fire(columns)) if len(alive) else []
        if not firings:
            self.degrees.append(np.zeros(last - first, dtype=np.int64))
            return
        origins = alive.take(np.concatenate([firing.origins for firing in firings]))
        sizes = [len(firing.origins) for firing in firings]
        actions = np.repeat(np.array([firing.action.index for firing in firings], dtype=np.int32), sizes)
        order = np.argsort(origins, kind="stable")
        origins, actions = origins.take(order), actions.take(order)
        joined = [np.concatenate(parts).take(order) for parts in zip(*[f.successors for f in firings], strict=True)]
        self.degrees.append(np.bincount(origins, minlength=last - first).astype(np.int64))
        self.actions.append(actions)
        self.edges += len(actions)
        self._insert(joined, (origins + first).astype(np.int32))

    def _insert(self, successors: Columns, origins: Numbers) -> None:
        for begin in range(0, len(origins), 4 * CHUNK):
            end = begin + 4 * CHUNK
            insertion = self.graph.table.insert([column[begin:end] for column in successors], numbered=True)
            assert insertion.numbers is not None
            self.targets.append(insertion.numbers)
            self.parents.append(origins[begin:end].take(insertion.places))

    def _finish(self) -> None:
        graph = self.graph
        count = graph.table.count
        if graph.starts[-1] < count:
            graph.starts.append(count)
        degrees = np.concatenate([*self.degrees, np.zeros(0, dtype=np.int64)])
        graph.first = np.zeros(count + 1, dtype=np.int64)
        graph.first[1 : len(degrees) + 1] = np.cumsum(degrees)
        graph.first[len(degrees) + 1 :] = self.edges
        graph.parent = np.concatenate(self.parents)
        none = np.empty(0, dtype=np.int32)
        graph.targets = np.concatenate([none, *self.targets])
        graph.actions = np.concatenate([none, *self.actions])
        graph.bound = int(np.searchsorted(graph.starts[1:], len(degrees), side="right"))
        if graph.system.frontier is not FALSE:
            outside = np.flatnonzero(graph.flags(graph.system.frontier))
            if len(outside):
                graph.bound = min(graph.bound, int(graph.depth_of(outside[:1])[0]) - 1)
                graph.cut = graph.cut or WINDOW


__all__ = ["Edges", "StateGraph", "ranges", "state_graph"]
