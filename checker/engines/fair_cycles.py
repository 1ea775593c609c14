"""Fair cycles in the graph of all states: decides properties of infinite runs where the graph fits into memory.

For each case of a property: which states do runs reach that have been triggered and have not come to a goal since?
Among these, without faults, a violating run stays in the end in one strongly connected component, and visits all that
it visits again and again.  A component that owes a step to a weak constraint is dropped; one that owes it to a strong
constraint loses the states in which that is enabled, and what is left is looked at again (Emerson and Lei, "Modalities
for model checking: branching time logic strikes back", 1987).  A run may also stay where no constraint is enabled.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from checker.engines.closed_set import SearchedStates
from checker.engines.engine import Bounded, Budget, Lasso, NoFairCycle, Outcome, Progress, Reporter, Undecided
from checker.engines.fair_hull import Hulls
from checker.engines.loops import Component, Demand
from checker.engines.packing import Flags, Indices, distinct
from checker.engines.state_graph import Edges, StateGraph, state_graph
from checker.engines.state_table import Numbers
from checker.engines.symmetry import Symmetry
from checker.liveness.fairness import may_stay
from checker.logic.formula import TRUE, Formula
from checker.time_limit import OUT_OF_TIME
from checker.transition_system import FairnessConstraint, Form, Kind, LiveCase, Property, TransitionSystem

SHARE = 0.6
"""Of the time, this may be spent on exploring; the rest is for the cycles."""
MOST_STATES = 5_000_000
MEMORY = "memory ran out"
NOT_LIVE = "fair-cycles looks at infinite runs only"


class FairCycles:
    """The engine.  It decides LIVE properties: a proof needs the whole graph, a lasso only what was explored of it."""

    name = "fair-cycles"

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        """Reports for each property Lasso, NoFairCycle, Bounded or Undecided."""
        left = []
        for target in properties:
            if target.form is Form.LIVE:
                left.append(target)
            else:
                reporter.decided(target, Undecided(NOT_LIVE))
        try:
            if left:
                _decide(system, left, budget, reporter)
        except MemoryError:
            for target in left:
                reporter.decided(target, Undecided(MEMORY))


def _decide(system: TransitionSystem, left: list[Property], budget: Budget, reporter: Reporter) -> None:
    """Takes from `left` what is decided.  Raises MemoryError."""

    def tell(depth: int, states: int) -> None:
        reporter.progress(Progress(FairCycles.name, depth, states, None))

    def decide(target: Property, outcome: Outcome) -> None:
        left.remove(target)
        reporter.decided(target, outcome)

    graph = state_graph(system, _for_exploring(budget), tell)
    search = CycleSearch(graph)
    none: list[Property] = []
    for target in list(left):
        if budget.expired():
            decide(target, Undecided(OUT_OF_TIME))
        elif (lasso := search.lasso(target)) is not None:
            decide(target, lasso)
        elif graph.cut is None:
            none.append(target)
        elif graph.bound >= 0:
            decide(target, Bounded(graph.bound, graph.cut))
        else:
            decide(target, Undecided(graph.cut))
    if none:
        del search
        states = SearchedStates(graph.layout, graph.table.seal(), Symmetry(graph.layout, ()), [])
        depth = graph.depth
        del graph
        hulls = Hulls(states)
        for target in none:
            decide(target, NoFairCycle(hulls, depth, partial(hulls.complaint, target)))


def _for_exploring(budget: Budget) -> Budget:
    deadline = budget.deadline
    if deadline is not None:
        now = time.monotonic()
        deadline = now + SHARE * max(deadline - now, 0.0)
    return Budget(deadline, budget.depth, min(budget.states, MOST_STATES))


class CycleSearch:
    """Looks for lassos in one graph, for one property after the other."""

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph
        self.system = graph.system
        kinds = [action.kind is not Kind.FAULT for action in self.system.actions]
        self._calm = np.array(kinds, dtype=np.bool_)
        self._known: dict[Formula, Flags] = {}
        self._takes: dict[FairnessConstraint, Flags] = {}

    def lasso(self, target: Property) -> Lasso | None:
        """A lasso that violates the property, the shortest of those that were found for its cases."""
        found = [
            lasso
            for number, case in enumerate(target.cases)
            if (lasso := _CaseSearch(self, case).lasso(number)) is not None
        ]
        return min(found, key=lambda lasso: len(lasso.path.actions), default=None)

    def flags(self, formula: Formula) -> Flags:
        known = self._known.get(formula)
        if known is None:
            known = self._known[formula] = self.graph.flags(formula)
        return known

    def takes(self, constraint: FairnessConstraint) -> Flags:
        """Which actions, by index, the constraint speaks of."""
        known = self._takes.get(constraint)
        if known is None:
            known = self._takes[constraint] = np.zeros(len(self.system.actions), dtype=np.bool_)
            known[list(constraint.actions)] = True
        return known

    def is_calm(self, edges: Edges) -> Flags:
        return self._calm.take(edges.actions)


@dataclass(frozen=True, eq=False)
class _Part:
    """States from which and to which the edges lead, and the component of each: renumbered states."""

    edges: Edges
    label: Numbers
    count: int

    @cached_property
    def inside(self) -> Edges:
        """The edges within components."""
        return self.edges.where(self.label.take(self.edges.sources) == self.label.take(self.edges.targets))

    def having(self, places: NDArray[np.integer]) -> Flags:
        """The components that have one of these states."""
        found = np.zeros(self.count, dtype=np.bool_)
        found[self.label.take(places)] = True
        return found


class _CaseSearch:
    """One case of one property.

    distance  for each state, how many steps lead from the initial state to a triggered one and from there, without a
              goal, to it; -1 where there is no such way
    parent    on the shortest such way, the state before it; -1 where the way begins with a triggered state
    members   the states that have such ways
    """

    def __init__(self, search: CycleSearch, case: LiveCase) -> None:
        self.search = search
        self.graph = search.graph
        self.case = case
        self.avoid = ~search.flags(case.goal)
        count = len(self.graph)
        self.distance: Numbers = np.full(count, -1, dtype=np.int32)
        self.parent: Numbers = np.full(count, -1, dtype=np.int32)
        self._pend()
        self.members: Indices = np.flatnonzero(self.distance >= 0)
        self.place: Numbers = np.full(count, -1, dtype=np.int32)
        self.place[self.members] = np.arange(len(self.members), dtype=np.int32)

    def _pend(self) -> None:
        triggered = np.flatnonzero(self.avoid & self.search.flags(self.case.trigger))
        if self.case.from_start:
            triggered = triggered[triggered == 0]
        depths = self.graph.depth_of(triggered)
        current: Indices = np.empty(0, dtype=np.intp)
        begin, steps = 0, 0
        while begin < len(triggered) or len(current):
            if not len(current):
                steps = max(steps, int(depths[begin]))
            end = int(np.searchsorted(depths, steps, side="right"))
            starting = triggered[begin:end]
            begin = end
            starting = starting[self.distance.take(starting) < 0]
            self.distance[starting] = steps
            current = distinct(np.concatenate((current, starting)))
            edges = self.graph.out_of(current)
            fresh = self.avoid.take(edges.targets) & (self.distance.take(edges.targets) < 0)
            edges = edges.where(fresh)
            steps += 1
            self.parent[edges.targets] = edges.sources
            self.distance[edges.targets] = steps
            current = distinct(edges.targets).astype(np.intp)

    # -- lassos -------------------------------------------------------------------------------------------------------

    def lasso(self, number: int) -> Lasso | None:
        """The shorter of a short way to stay and a short way to a loop; `number` is the case's."""
        found = []
        stays = self.members[self._flags(may_stay(self.search.system)) & self._flags(self.case.recurrent)]
        if len(stays):
            path = self.graph.path(self._way(int(stays[np.argmin(self.distance.take(stays))])))
            found.append(Lasso(path, len(path.actions), number, None))
        part = self._fair_part()
        if part is not None:
            start, steps = self._loop(*part)
            way = self._way(start)
            found.append(Lasso(self.graph.path(way, steps), len(way) - 1, number, None))
        return min(found, key=lambda lasso: len(lasso.path.actions), default=None)

    def _flags(self, formula: Formula) -> Flags:
        """For each member."""
        return self.search.flags(formula).take(self.members)

    def _way(self, state: int) -> list[int]:
        """A shortest way from the initial state that is triggered and comes to the state, without a goal in between."""
        way = [state]
        for parent in (self.parent, self.graph.parent):
            while parent[way[-1]] >= 0:
                way.append(int(parent[way[-1]]))
        return way[::-1]

    # -- components ---------------------------------------------------------------------------------------------------

    def _fair_part(self) -> tuple[_Part, int] | None:
        """A part with a component in which a violating run can stay, and the state of it that is reached first."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        edges = self.graph.out_of(self.members)
        edges = edges.where(self.search.is_calm(edges) & (self.place.take(edges.targets) >= 0))
        edges = Edges(self.place.take(edges.sources), self.place.take(edges.targets), edges.actions)
        size = len(self.members)
        recurrent = self._flags(self.case.recurrent)
        alive = np.ones(size, dtype=np.bool_)
        while len(edges):
            ones = np.ones(len(edges), dtype=np.bool_)
            matrix = csr_matrix((ones, (edges.sources, edges.targets)), shape=(size, size))
            count, label = connected_components(matrix, directed=True, connection="strong")
            part = _Part(edges, label, count)
            good = part.having(part.inside.sources) & part.having(np.flatnonzero(recurrent))
            for constraint in self.search.system.fairness:
                if not constraint.strong:
                    idle = np.flatnonzero(~self._flags(constraint.enabled))
                    good &= part.having(idle) | part.having(self._taking(part.inside, constraint).sources)
            fair = good.copy()
            alive &= good.take(label)
            for constraint in self.search.system.fairness:
                if constraint.strong:
                    enabled = self._flags(constraint.enabled)
                    owing = part.having(np.flatnonzero(enabled))
                    owing &= ~part.having(self._taking(part.inside, constraint).sources)
                    fair &= ~owing
                    alive &= ~(enabled & owing.take(label))
            states = np.flatnonzero(fair.take(label))
            if len(states):
                return part, int(states[np.argmin(self.distance.take(self.members.take(states)))])
            edges = part.inside
            edges = edges.where(alive.take(edges.sources) & alive.take(edges.targets))
        return None

    def _taking(self, edges: Edges, constraint: FairnessConstraint) -> Edges:
        return edges.where(self.search.takes(constraint).take(edges.actions))

    def _loop(self, part: _Part, start: int) -> tuple[int, list[tuple[int, int]]]:
        """The state of the graph in which a loop begins that violates the case, and its steps."""
        inner = np.flatnonzero(part.label == part.label[start])
        place: Numbers = np.full(len(part.label), -1, dtype=np.int32)
        place[inner] = np.arange(len(inner), dtype=np.int32)
        edges = part.inside.where(place.take(part.inside.sources) >= 0)
        local = Edges(place.take(edges.sources), place.take(edges.targets), edges.actions)
        component = Component(local, len(inner))
        steps = component.loop(int(place[start]), list(self._demands(local, inner)))
        outer = self.members.take(inner)
        return int(self.members[start]), [(int(local.actions[step]), int(outer[local.targets[step]])) for step in steps]

    def _demands(self, edges: Edges, inner: Indices) -> Iterator[Demand]:
        none = np.zeros(len(edges), dtype=np.bool_)
        if self.case.recurrent is not TRUE:
            yield Demand(self._flags(self.case.recurrent).take(inner), none)
        for constraint in self.search.system.fairness:
            enabled = self._flags(constraint.enabled).take(inner)
            taking = self.search.takes(constraint).take(edges.actions)
            if not constraint.strong:
                yield Demand(~enabled, taking)
            elif enabled.any():
                yield Demand(np.zeros(len(inner), dtype=np.bool_), taking)
