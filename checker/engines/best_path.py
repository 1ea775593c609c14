"""The best of the shortest paths to a violation: fewest faults, then fewest switches between actors, then canonical.

Canonical: of the paths that are equally good, the one whose sequence of action indices comes first in lexicographic
order.  So the path does not depend on the engine, nor on whether symmetry was used.

Backwards from the violations, over the states that were explored level by level, each state learns how few faults lead
from it to a violation in the steps that are left (dynamic programming: Bellman, 1957).  Then, forwards, only the steps
that lose nothing of this are walked, on real states, as symmetry says nothing about who acts.  Among these steps a
second pass backwards finds the fewest switches for each state and last actor; the path follows it, least index first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from checker.engines.closure import Closure, Fate
from checker.engines.engine import Budget, Path
from checker.engines.packing import Batch, Columns, Flags, Indices, Layout
from checker.engines.state_table import Numbers, StateTable
from checker.engines.step_relation import StepRelation, step_watch
from checker.engines.symmetry import Symmetry
from checker.logic.formula import FALSE, Formula, conjunction, negate
from checker.transition_system import Action, Event, EventKind, Form, Kind, Property, State, successor

Costs = NDArray[np.int32]

CHUNK = 1 << 15
LIMIT = 1_000_000
"""A search with more states at the levels before the violation is not gone through again."""
REMEMBERED = 200_000
"""The steps out of so many states are remembered for other properties."""
WALKED = 300_000
"""More real states than this are not walked in search of the fewest switches."""

NONE: int = 1 << 20
"""The cost where there is no path."""


class Rank(Enum):
    """What is known of a path among those of its length."""

    BEST = "of the paths of this length it has the fewest faults, and of these one with the fewest switches"
    FEWEST_FAULTS = "of the paths of this length it has the fewest faults"
    ANY = "a path of this length with fewer faults was not looked for to the end"


@dataclass(frozen=True)
class Ranked:
    path: Path
    rank: Rank


def actor(event: Event) -> object:
    """Who acts: the activation (of a request: the one that begins); else the parties; else the queue or lock."""
    if event.kind in (EventKind.REDELIVER, EventKind.EXPIRE):
        return (event.store, event.variable)
    if event.slot is not None:
        return event.slot
    return (event.party, event.other)


def cost(actions: Sequence[Action]) -> tuple[int, int, tuple[int, ...]]:
    """Faults, switches, and the indices: the less, the better."""
    faults = sum(action.kind is Kind.FAULT for action in actions)
    acting = [actor(action.event) for action in actions if not action.bookkeeping]
    switches = sum(first != second for first, second in pairwise(acting))
    return faults, switches, tuple(action.index for action in actions)


@dataclass(frozen=True)
class Arcs:
    """Steps from numbered states (`sources`) to numbered states."""

    sources: Indices
    actions: NDArray[np.int32]
    targets: Numbers


@dataclass
class Levels:
    """The states by depth: those of depth d are numbered from starts[d] on, to starts[d + 1] - 1.

    `starts` ends with the depth of the violation; of the states before that, all are there (of each orbit, one).
    `arcs` remembers the steps from one level to the next, for other properties: by the number of the first state of the
    batch that they lead out of.
    """

    table: StateTable
    starts: Sequence[int]
    arcs: dict[int, Arcs] = field(default_factory=dict)

    @property
    def length(self) -> int:
        return len(self.starts) - 1


class _GiveUpError(Exception):
    """It would take too long, or take too many states."""


class _SymmetryError(Exception):
    """Some orbit has several representatives, so that one which was not explored was met."""


@dataclass(frozen=True)
class _Edges:
    """Steps out of a batch of states.

    origins  the places of the states before them
    final    where the step ends in a violation (only asked for at the last level)
    """

    origins: Indices
    successors: Columns
    actions: NDArray[np.int32]
    final: Flags


class _Steps:
    """The steps of a system, and which of them violate the property."""

    def __init__(
        self,
        layout: Layout,
        symmetry: Symmetry,
        target: Property,
        closure: Closure | None,
        stop: Callable[[], bool],
        relation: StepRelation,
        watch: int,
    ) -> None:
        self.system = layout.system
        self.layout = layout
        self.relation = relation
        self.watch = watch
        self.symmetry = symmetry
        self.target = target
        self.closure = closure
        self.stop = stop
        self.faults = np.array([action.kind is Kind.FAULT for action in self.system.actions], dtype=np.int32)
        self.ends = [formula for formula in (self.system.halted, self.system.frontier) if formula is not FALSE]
        self.bad: Formula = target.bad
        if target.unless is not None:
            self.bad = conjunction((target.bad, negate(target.unless.state)))

    def out_of(self, columns: Columns, last: bool) -> _Edges | None:
        """All steps out of these states, if any; `last` asks which are violations."""
        if self.stop():
            raise _GiveUpError
        alive = np.arange(len(columns[0]))
        if self.ends:
            batch = Batch(self.layout, columns)
            alive = np.flatnonzero(batch.holds(conjunction(negate(formula) for formula in self.ends)))
            columns = [column.take(alive) for column in columns]
        firings = list(self.relation.fire(columns)) if len(alive) else []
        if not firings:
            return None
        sizes = [len(firing.origins) for firing in firings]
        origins = alive.take(np.concatenate([firing.origins for firing in firings]))
        successors = [np.concatenate(parts) for parts in zip(*[f.successors for f in firings], strict=True)]
        actions = np.repeat(np.array([f.action.index for f in firings], dtype=np.int32), sizes)
        final = np.zeros(len(origins), dtype=np.bool_)
        if last and self.target.form is Form.STEP_INVARIANT:
            begin = 0
            for firing, size in zip(firings, sizes, strict=True):
                for number, places in firing.marks:
                    if number == self.watch:
                        final[begin + places] = True
                begin += size
        elif last:
            final |= self._violates(successors)
        return _Edges(origins, successors, actions, final)

    def _violates(self, states: Columns) -> Flags:
        bad = Batch(self.layout, states).holds(self.bad)
        if self.closure is None:
            return bad
        places = np.flatnonzero(bad)
        if not len(places):
            return bad
        if self.closure.failed:
            raise _GiveUpError
        members = self.closure.add(self.symmetry.representatives([column.take(places) for column in states]))
        if not self.closure.work(len(self.closure) + LIMIT, self.stop):
            raise _GiveUpError
        doomed = np.zeros(len(bad), dtype=np.bool_)
        doomed[places] = self.closure.fates(members) == Fate.DOOMED
        return doomed


class _Refinement:
    def __init__(self, steps: _Steps, levels: Levels) -> None:
        self.steps = steps
        self.levels = levels
        self.system = steps.system
        self.length = levels.length
        self.faults_left: Costs = np.full(levels.starts[-1], NONE, dtype=np.int32)
        """For each state of the levels: the fewest faults on the way to a violation of the right length."""
        self.actors: dict[object, int] = {}
        numbers = [self.actors.setdefault(actor(a.event), len(self.actors)) for a in self.system.actions]
        self.actor_of = np.array(numbers, dtype=np.intp)
        self.nobody = np.array([action.bookkeeping for action in self.system.actions], dtype=np.bool_)

    def best(self) -> Ranked | None:
        """None if it was not looked for to the end.  Raises _SymmetryError when only part of the paths was seen."""
        try:
            self._look_back()
        except _GiveUpError:
            return None
        if self.faults_left[0] >= NONE:
            return None
        try:
            return Ranked(self._fewest_switches(), Rank.BEST)
        except _GiveUpError:
            return self._walk_straight()

    # -- fewest faults ------------------------------------------------------------------------------------------------

    def _look_back(self) -> None:
        for depth in reversed(range(self.length)):
            first, end = self.levels.starts[depth : depth + 2]
            for begin in range(first, end, CHUNK):
                last = min(begin + CHUNK, end)
                if depth == self.length - 1:
                    edges = self.steps.out_of(self.levels.table.columns(begin, last), last=True)
                    if edges is not None:
                        final = np.flatnonzero(edges.final)
                        left = self.steps.faults.take(edges.actions.take(final))
                        np.minimum.at(self.faults_left, edges.origins.take(final) + begin, left)
                else:
                    arcs = self._arcs(begin, last, depth)
                    left = self.steps.faults.take(arcs.actions) + self.faults_left.take(arcs.targets)
                    np.minimum.at(self.faults_left, arcs.sources, left)

    def _arcs(self, begin: int, end: int, depth: int) -> Arcs:
        """The steps from these states to the next level."""
        known = self.levels.arcs.get(begin)
        if known is None:
            edges = self.steps.out_of(self.levels.table.columns(begin, end), last=False)
            if edges is None:
                none = np.empty(0, dtype=np.int32)
                known = Arcs(np.empty(0, dtype=np.intp), none, none)
            else:
                numbers = self._numbers(edges)
                after = np.flatnonzero(
                    (numbers >= self.levels.starts[depth + 1]) & (numbers < self.levels.starts[depth + 2])
                )
                known = Arcs(edges.origins.take(after) + begin, edges.actions.take(after), numbers.take(after))
            if end <= REMEMBERED:
                self.levels.arcs[begin] = known
        return known

    def _numbers(self, edges: _Edges) -> Numbers:
        return self.levels.table.find(self.steps.symmetry.representatives(edges.successors))

    # -- fewest switches ----------------------------------------------------------------------------------------------

    def _good_steps(self, columns: Columns, wanted: Costs, depth: int) -> tuple[_Edges, Costs]:
        """The steps that lose nothing, out of states with `wanted` faults left; and the faults left after them."""
        edges = self.steps.out_of(columns, depth == self.length - 1)
        if edges is None:
            raise _SymmetryError
        if depth == self.length - 1:
            after: Costs = np.where(edges.final, 0, NONE).astype(np.int32)
        else:
            numbers = self._numbers(edges)
            if ((numbers < 0) | (numbers >= self.levels.starts[depth + 2])).any():
                raise _SymmetryError
            after = np.where(numbers >= self.levels.starts[depth + 1], self.faults_left.take(numbers), NONE)
        good = np.flatnonzero(self.steps.faults.take(edges.actions) + after == wanted.take(edges.origins))
        kept = _Edges(
            edges.origins.take(good),
            [column.take(good) for column in edges.successors],
            edges.actions.take(good),
            edges.final.take(good),
        )
        return kept, after.take(good)

    def _fewest_switches(self) -> Path:
        layout, initial = self.steps.layout, self.system.initial
        table = StateTable(layout.words)
        table.insert(layout.columns(initial))
        left: Costs = self.faults_left[:1]
        starts = [0, 1]
        arcs: list[Arcs] = []
        while len(starts) <= self.length + 1:
            depth = len(starts) - 2
            first, end = starts[-2:]
            parts: list[Arcs] = []
            found: list[Costs] = []
            for begin in range(first, end, CHUNK):
                stop = min(begin + CHUNK, end)
                edges, after = self._good_steps(table.columns(begin, stop), left[begin - first : stop - first], depth)
                if depth == self.length - 1:
                    numbers: Numbers = np.full(len(edges.actions), end, dtype=np.int32)
                else:
                    insertion = table.insert(edges.successors, numbered=True)
                    assert insertion.numbers is not None
                    numbers = insertion.numbers
                    found.append(after.take(insertion.places))
                parts.append(Arcs(edges.origins + begin, edges.actions, numbers))
                if table.count > WALKED:
                    raise _GiveUpError
            left = np.concatenate(found) if found else left
            starts.append(table.count if found else end + 1)
            arcs.append(
                Arcs(
                    np.concatenate([part.sources for part in parts]),
                    np.concatenate([part.actions for part in parts]),
                    np.concatenate([part.targets for part in parts]),
                )
            )
        return self._trace_back(table, starts, arcs)

    def _trace_back(
        self,
        table: StateTable,
        starts: list[int],
        arcs: list[Arcs],
    ) -> Path:
        """`arcs` are the good steps for each depth, whose states are numbered from starts[depth] on.

        The states after the last step, which may have been met before, all count as one.
        """
        switches: list[Costs] = [np.zeros((starts[-1] - starts[-2], len(self.actors)), dtype=np.int32)]
        for depth in reversed(range(self.length)):
            sources, actions, targets = arcs[depth].sources, arcs[depth].actions, arcs[depth].targets
            acting = self.actor_of.take(actions)
            then: Costs = np.full((starts[depth + 1] - starts[depth], len(self.actors)), NONE, dtype=np.int32)
            nobody = self.nobody.take(actions)
            some = np.flatnonzero(~nobody)
            later = switches[-1][targets[some] - starts[depth + 1], acting[some]]
            np.minimum.at(then, (sources[some] - starts[depth], acting[some]), later)
            then = np.minimum(then, then.min(axis=1, keepdims=True) + 1)
            none = np.flatnonzero(nobody)
            np.minimum.at(then, sources[none] - starts[depth], switches[-1][targets[none] - starts[depth + 1]])
            switches.append(then)
        switches.reverse()
        number, last = 0, -1
        walked = [0]
        chosen: list[Action] = []
        for depth in range(self.length):
            sources, actions, targets = arcs[depth].sources, arcs[depth].actions, arcs[depth].targets
            here = np.flatnonzero(sources == number)
            acting = self.actor_of.take(actions.take(here))
            after = switches[depth + 1][targets.take(here) - starts[depth + 1]]
            values = after[np.arange(len(here)), acting] + (acting != last)
            unchanged = after.min(axis=1) + 1 if last < 0 else after[:, last]
            values = np.where(self.nobody.take(actions.take(here)), unchanged, values)
            least = here.take(np.flatnonzero(values == values.min()))
            step = int(least[np.argmin(actions.take(least))])
            chosen.append(self.system.actions[int(actions[step])])
            number = int(targets[step])
            if not chosen[-1].bookkeeping:
                last = int(self.actor_of[actions[step]])
            walked.append(number)
        columns = table.take(np.array(walked[:-1]))
        states = [self._unpacked(columns, place) for place in range(self.length)]
        return Path((*states, successor(self.system, states[-1], chosen[-1])), tuple(chosen))

    def _unpacked(self, columns: Columns, place: int) -> State:
        return self.steps.layout.unpack([int(column[place]) for column in columns])

    def _walk_straight(self) -> Ranked | None:
        """Fewest faults, and at each step the same actor again where possible, then the least index."""
        current = self.steps.layout.columns(self.system.initial)
        left, last = self.faults_left[:1], -1
        states, chosen = [self.system.initial], []
        try:
            for depth in range(self.length):
                edges, after = self._good_steps(current, left, depth)
                keys = [(int(self.actor_of[a]) != last and not self.nobody[a], int(a)) for a in edges.actions]
                place = min(range(len(keys)), key=keys.__getitem__)
                chosen.append(self.system.actions[keys[place][1]])
                if not chosen[-1].bookkeeping:
                    last = int(self.actor_of[keys[place][1]])
                current, left = [column[place : place + 1] for column in edges.successors], after[place : place + 1]
                states.append(self._unpacked(current, 0))
        except _GiveUpError:
            return None
        return Ranked(Path(tuple(states), tuple(chosen)), Rank.FEWEST_FAULTS)


def best_path(
    layout: Layout,
    symmetry: Symmetry,
    levels: Levels,
    target: Property,
    closure: Closure | None,
    budget: Budget,
    relation: StepRelation,
    watch: int = 0,
) -> Ranked | None:
    """The best path to a violation of `target`, of which `levels` says how long the shortest ones are.

    closure   for `target.unless`, if there is one
    budget    time, and how many states there may be at the levels before the violation
    relation  the steps of the system; its watch of this number looks for violations of a step invariant

    None when the levels are too large, or time ran out.  Raises MemoryError.
    """
    if levels.length == 0:
        return Ranked(Path((layout.system.initial,), ()), Rank.BEST)
    if levels.starts[-1] > budget.states:
        return None
    try:
        return _Refinement(_Steps(layout, symmetry, target, closure, budget.expired, relation, watch), levels).best()
    except _SymmetryError:
        return best_path_of_length(layout, target, levels.length, budget, symmetric=False)


def best_path_of_length(
    layout: Layout, target: Property, length: int, budget: Budget, symmetric: bool = True
) -> Ranked | None:
    """The same for a property whose shortest violations are known to have `length` steps; explores the levels itself.

    None also when there is no violation of that length.
    """
    system = layout.system
    symmetry = Symmetry(layout, system.swaps if symmetric else ())
    closure = None if target.unless is None else Closure(system, layout, symmetry, target.unless)
    watches = [step_watch(system.actions, target)] if target.form is Form.STEP_INVARIANT else []
    relation = StepRelation(layout, system.actions, watches)
    steps = _Steps(layout, symmetry, target, closure, budget.expired, relation, 0)
    table = StateTable(layout.words)
    table.insert(symmetry.representatives(layout.columns(system.initial)))
    starts = [0]
    try:
        for _ in range(length):
            first, end = starts[-1], table.count
            starts.append(end)
            if len(starts) <= length:
                for successors in _successors(steps, table, first, end):
                    table.insert(symmetry.representatives(successors))
                    if table.count > budget.states:
                        return None
    except _GiveUpError:
        return None
    return best_path(layout, symmetry, Levels(table, starts), target, closure, budget, relation)


def _successors(steps: _Steps, table: StateTable, first: int, end: int) -> Iterator[Columns]:
    for begin in range(first, end, CHUNK):
        edges = steps.out_of(table.columns(begin, min(begin + CHUNK, end)), last=False)
        if edges is not None:
            yield edges.successors
