"""A set of packed states with numbers, in the order of insertion.

Open addressing with linear probing, a whole batch at a time: all candidates write their number into their slot,
read it back, and compare the state that they find there with themselves, word for word.  A candidate that finds an
equal state is settled; the others try the next slot.  Hence the set is exact whatever the hash function does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.engines.packing import Columns, Words

Numbers = NDArray[np.int32]

MAXIMUM = (1 << 31) - (1 << 26)
"""More states than this are not numbered; the margin is for the candidates of one batch."""


def mix(columns: Columns) -> Words:
    """A hash of each state, good in its high bits (multiplicative hashing: Knuth, TAOCP 3, 6.4)."""
    found = columns[0] * np.uint64(0x9E3779B97F4A7C15)
    for column in columns[1:]:
        found ^= found >> np.uint64(32)
        found += column
        found *= np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(32)
    found *= np.uint64(0x94D049BB133111EB)
    return found


@dataclass(frozen=True)
class Insertion:
    """first   the number of the first new state; the new states are numbered from here on
    places  the place of each new state among the candidates, ascending: the first of equal ones
    numbers the number of each candidate's state, if asked for
    """

    first: int
    places: NDArray[np.intp]
    numbers: Numbers | None


class StateTable:
    """`columns(first, last)` are the states numbered first..last-1; `count` is how many there are."""

    def __init__(self, words: int, hash_states: Callable[[Columns], Words] = mix) -> None:
        self.count = 0
        self._hash = hash_states
        self._columns = np.empty((words, 1 << 10), dtype=np.uint64)
        self._slots: Numbers = np.full(1 << 12, -1, dtype=np.int32)

    def columns(self, first: int, last: int) -> Columns:
        return list(self._columns[:, first:last])

    def take(self, numbers: NDArray[np.integer]) -> Columns:
        return [column.take(numbers) for column in self._columns]

    def seal(self) -> Columns:
        """Gives up the slots, which take no more part, and answers all states."""
        self._slots = np.empty(0, dtype=np.int32)
        return self.columns(0, self.count)

    def insert(self, candidates: Columns, numbered: bool = False) -> Insertion:
        """Adds the states that are new.  After a MemoryError the table is unusable but for the states it had."""
        size, base = len(candidates[0]), self.count
        self._reserve(base + size)
        for stored, column in zip(self._columns, candidates, strict=True):
            stored[base : base + size] = column
        own: NDArray[np.int32] = np.arange(base, base + size, dtype=np.int32)
        settled = np.empty(size, dtype=np.int32) if numbered else None
        winners: list[Numbers] = []
        winning: list[NDArray[np.intp]] = []
        pending, slots = candidates, self._slot(candidates)
        last = len(self._slots) - 1
        while len(own):
            found = self._slots.take(slots)
            free = np.flatnonzero(found < 0)
            if len(free):
                targets, entrants = slots.take(free), own.take(free)
                self._slots[targets[::-1]] = entrants[::-1]
                present = self._slots.take(targets)
                found[free] = present
                won = np.flatnonzero(present == entrants)
                winners.append(entrants.take(won))
                winning.append(targets.take(won))
            differs = self._columns[0].take(found) != pending[0]
            for stored, column in zip(self._columns[1:], pending[1:], strict=True):
                differs |= stored.take(found) != column
            left = np.flatnonzero(differs)
            if settled is not None:
                settled[own - base] = found
            own = own.take(left)
            pending = [column.take(left) for column in pending]
            slots = slots.take(left)
            slots += 1
            slots &= last
        return self._renumber(base, size, settled, winners, winning)

    def _renumber(
        self,
        base: int,
        size: int,
        settled: Numbers | None,
        winners: list[Numbers],
        winning: list[NDArray[np.intp]],
    ) -> Insertion:
        """Closes the gaps that the duplicates among the candidates have left."""
        new = np.zeros(size, dtype=np.bool_)
        for entrants in winners:
            new[entrants - base] = True
        places = np.flatnonzero(new)
        if len(places) < size:
            final = np.cumsum(new, dtype=np.int32)
            final += base - 1
            for entrants, targets in zip(winners, winning, strict=True):
                self._slots[targets] = final.take(entrants - base)
            for stored in self._columns:
                stored[base : base + len(places)] = stored[base : base + size].take(places)
            if settled is not None:
                young = np.flatnonzero(settled >= base)
                settled[young] = final.take(settled[young] - base)
        self.count = base + len(places)
        return Insertion(base, places, settled)

    def find(self, columns: Columns) -> Numbers:
        """The number of each state, or -1.  Not to be asked of a sealed table."""
        found: Numbers = np.full(len(columns[0]), -1, dtype=np.int32)
        own, pending, slots = np.arange(len(found)), columns, self._slot(columns)
        last = len(self._slots) - 1
        while len(own):
            numbers = self._slots.take(slots)
            used = numbers >= 0
            differs = np.zeros(len(own), dtype=np.bool_)
            for stored, column in zip(self._columns, pending, strict=True):
                differs |= stored.take(numbers) != column
            found[own] = np.where(used & ~differs, numbers, -1)
            left = np.flatnonzero(used & differs)
            own = own.take(left)
            pending = [column.take(left) for column in pending]
            slots = slots.take(left)
            slots += 1
            slots &= last
        return found

    def _slot(self, columns: Columns) -> NDArray[np.intp]:
        shift = 65 - len(self._slots).bit_length()
        return (self._hash(columns) >> np.uint64(shift)).astype(np.intp)

    def _reserve(self, wanted: int) -> None:
        """Room for `wanted` states in the columns, and twice as many slots."""
        words, capacity = self._columns.shape
        if wanted > capacity:
            grown = np.empty((words, max(wanted, capacity + capacity // 2)), dtype=np.uint64)
            grown[:, : self.count] = self._columns[:, : self.count]
            self._columns = grown
        if 2 * wanted > len(self._slots):
            size = 1 << (2 * wanted - 1).bit_length()
            self._slots = np.full(size, -1, dtype=np.int32)
            for first in range(0, self.count, 1 << 18):
                self._rehash(first, min(first + (1 << 18), self.count))

    def _rehash(self, first: int, last: int) -> None:
        own: NDArray[np.int32] = np.arange(first, last, dtype=np.int32)
        slots = self._slot(self.columns(first, last))
        mask = len(self._slots) - 1
        while len(own):
            free = np.flatnonzero(self._slots.take(slots) < 0)
            self._slots[slots.take(free)] = own.take(free)
            left = np.flatnonzero(self._slots.take(slots) != own)
            own = own.take(left)
            slots = slots.take(left)
            slots += 1
            slots &= mask
