"""From which states can a goal be reached?  For `at rest` and `recoverable`.

The states that the candidates lead to are explored forwards, with the edges between them, and the goal is then
propagated backwards (the attractor of a reachability game with one player).  It is exact for every candidate once all
that it leads to has been explored, however far the search that delivers the candidates has come.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from checker.engines.packing import Batch, Columns, Layout, distinct
from checker.engines.state_table import MAXIMUM, Numbers, StateTable
from checker.engines.step_relation import StepRelation, goal_watch
from checker.engines.symmetry import Symmetry
from checker.logic.formula import FALSE
from checker.transition_system import Reachability, TransitionSystem

CHUNK = 1 << 14


class Fate(IntEnum):
    UNSETTLED = 0
    SAVED = 1
    """The goal can be reached."""
    OPEN = 2
    """The goal was not reached, but a frontier state was: nothing is known."""
    DOOMED = 3
    """The goal cannot be reached."""


class Closure:
    """Grows with the candidates that are added; a state's fate never changes once it is settled."""

    def __init__(self, system: TransitionSystem, layout: Layout, symmetry: Symmetry, unless: Reachability) -> None:
        self.system = system
        self.layout = layout
        self.symmetry = symmetry
        self.unless = unless
        actions = [action for action in system.actions if action.kind in unless.kinds]
        self._relation = StepRelation(layout, actions, [goal_watch(actions, unless)])
        self._table = StateTable(layout.words)
        self._expanded = 0
        self._finished = True
        self.failed = False
        """Memory ran out in the middle of something: the fates that are settled stand, but there will be no more."""
        self._fates: NDArray[np.uint8] = np.zeros(1 << 10, dtype=np.uint8)
        self._edges: list[tuple[Numbers, Numbers]] = []

    def __len__(self) -> int:
        return self._table.count

    def add(self, columns: Columns) -> Numbers:
        """Adds candidates (representatives); answers their numbers for `fates`."""
        self._finished = False
        try:
            return self._insert(columns)
        except MemoryError:
            self.failed = True
            raise

    @property
    def finished(self) -> bool:
        """Whether all fates are settled."""
        return self._finished

    def fates(self, numbers: Numbers) -> NDArray[np.uint8]:
        return self._fates.take(numbers)

    def work(self, limit: int, stop: Callable[[], bool]) -> bool:
        """Explores until all is explored (then all fates are settled) or there are `limit` states or `stop()`.

        When it stops early, some of the states that can be saved are settled, the others are UNSETTLED.
        """
        if self.failed:
            return False
        try:
            return self._work(limit, stop)
        except MemoryError:
            self.failed = True
            raise

    def _work(self, limit: int, stop: Callable[[], bool]) -> bool:
        while self._expanded < self._table.count:
            if self._table.count >= min(limit, MAXIMUM) or stop():
                self._propagate(Fate.SAVED)
                return False
            last = min(self._expanded + CHUNK, self._table.count)
            self._expand(self._expanded, last)
            self._expanded = last
        self._propagate(Fate.SAVED)
        self._propagate(Fate.OPEN)
        fates = self._fates[: self._table.count]
        fates[fates == Fate.UNSETTLED] = Fate.DOOMED
        self._edges.clear()
        self._finished = True
        return True

    def _insert(self, columns: Columns) -> Numbers:
        numbers = self._table.insert(columns, numbered=True).numbers
        assert numbers is not None
        if self._table.count > len(self._fates):
            self._fates = np.concatenate((self._fates, np.zeros(self._table.count, dtype=np.uint8)))
        return numbers

    def _expand(self, first: int, last: int) -> None:
        columns = self._table.columns(first, last)
        batch = Batch(self.layout, columns)
        saved = batch.holds(self.unless.state).copy()
        alive = ~saved
        fates = self._fates
        if self.system.frontier is not FALSE:
            frontier = batch.holds(self.system.frontier)
            fates[first:last][frontier] = Fate.OPEN
            alive &= ~frontier
        if self.system.halted is not FALSE:
            alive &= ~batch.holds(self.system.halted)
        places = np.flatnonzero(alive)
        firings = list(self._relation.fire([column.take(places) for column in columns])) if len(places) else []
        for firing in firings:
            for _, marked in firing.marks:
                saved[places.take(firing.origins.take(marked))] = True
        fates[first:last][saved] = Fate.SAVED
        sources: list[Numbers] = []
        targets: list[Columns] = []
        for firing in firings:
            origins = places.take(firing.origins)
            needed = np.flatnonzero(~saved.take(origins))
            if len(needed):
                sources.append((origins.take(needed) + first).astype(np.int32))
                targets.append([column.take(needed) for column in firing.successors])
        if targets:
            joined = [np.concatenate(parts) for parts in zip(*targets, strict=True)]
            numbers = self._insert(self.symmetry.representatives(joined))
            self._edges.append((np.concatenate(sources), numbers))

    def _propagate(self, fate: Fate) -> None:
        """Gives `fate` to the unsettled states that have an edge to a state of this fate, and so on."""
        if not self._edges:
            return
        sources = np.concatenate([edge[0] for edge in self._edges])
        targets = np.concatenate([edge[1] for edge in self._edges])
        unsettled = np.flatnonzero(self._fates.take(sources) == Fate.UNSETTLED)
        sources, targets = sources.take(unsettled), targets.take(unsettled)
        self._edges = [(sources, targets)]
        order = np.argsort(targets, kind="stable")
        sources, targets = sources.take(order), targets.take(order)
        heads = np.flatnonzero(np.concatenate(([True], targets[1:] != targets[:-1]))) if len(targets) else order
        starts = np.zeros(self._table.count + 1, dtype=np.int64)
        starts[1:] = np.cumsum(np.bincount(targets, minlength=self._table.count))
        reached = targets.take(heads)
        reached = reached.take(np.flatnonzero(self._fates.take(reached) == fate))
        while len(reached):
            begin = starts.take(reached)
            lengths = starts.take(reached + 1) - begin
            offsets = np.repeat(begin - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
            before = distinct(sources.take(offsets + np.arange(len(offsets))))
            reached = before.take(np.flatnonzero(self._fates.take(before) == Fate.UNSETTLED))
            self._fates[reached] = fate
