"""Orbit representatives: of the states that a symmetry maps to each other, the search keeps one.

Instances are sorted, by swaps that are applied while they make the state smaller.  That finds the smallest state of the
orbit as long as the swaps only move fields.  Swaps that also change values, of pointers to the instances, first sort
by the fields that only move (the key); among instances with equal keys all orders are tried.  When there are too many
orders, such swaps are applied while they make the state smaller, as the others are.  This is sound too, because a
state is only ever replaced by one of its own orbit, but an orbit can then have several representatives (Bosnacki,
Dams, Holenderski, Symmetric Spin, 2000, compare such strategies).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from checker.engines.packing import Columns, Flags, Indices, Layout, Transfer, shift_transfer, table_transfer
from checker.logic.formula import Formula, Variable, member, substitute
from checker.transition_system import Permutation, State, TransitionSystem

ORDERS = 120
"""More than so many are not tried."""

_Pull = dict[Variable, tuple[Variable, tuple[int, ...]]]
"""For each variable that a permutation changes: the variable its code comes from, and how it is translated."""


class Symmetry:
    """Works with those of the swaps (`swaps`) that are their own inverses and keep the initial state, if any."""

    def __init__(self, layout: Layout, swaps: Iterable[Permutation]) -> None:
        self.layout = layout
        system = layout.system
        self.swaps = [
            swap for swap in swaps if is_involution(swap) and permuted(system, system.initial, swap) == system.initial
        ]
        self._maps = [_Map(layout, swap.moves) for swap in self.swaps]
        self._whole = [np.uint64((1 << 64) - 1)] * layout.words
        every = list(range(len(self.swaps)))
        self._changing = [number for number in every if _translates(self.swaps[number])]
        self._moving = [number for number in every if number not in self._changing]
        self._key = _key(layout, [self.swaps[n] for n in self._changing], [self.swaps[n] for n in self._moving])
        orders = _orders(self.swaps, self._changing)
        if orders is None:
            self._changing, self._moving, orders = [], every, []
        self._orders = [
            (word, _Map(layout, [(source, target, table) for target, (source, table) in pull.items()]))
            for word, pull in orders
        ]

    def __bool__(self) -> bool:
        return bool(self.swaps)

    def representatives(self, columns: Columns) -> Columns:
        """One state of the orbit of each state, in the same order.  The answer may share arrays with `columns`."""
        return self._representatives(columns, [])

    def reduce(self, state: Columns) -> tuple[Columns, list[int]]:
        """The representative of a single state, and which swaps lead to it, the first one first."""
        trail: list[int] = []
        return self._representatives(state, trail), trail

    def _representatives(self, columns: Columns, trail: list[int]) -> Columns:
        """`trail` becomes the swaps that were applied, if there is a single state."""
        keyed = self._sort(columns, self._changing, self._key, trail)
        prefix = list(trail)
        best = self._sort(keyed, self._moving, self._whole, trail)
        tied = self._tied(keyed)
        if not len(tied):
            return best
        best = [column.copy() for column in best]
        part = [column.take(tied) for column in keyed]
        for word, mapping in self._orders:
            image = mapping.apply(part)
            alike = np.flatnonzero(_equal(image, part, self._key))
            if len(alike):
                places = tied.take(alike)
                branch = [*prefix, *word]
                image = [column.take(alike) for column in image]
                image = self._sort(image, self._moving, self._whole, branch)
                less = np.flatnonzero(_less(image, [column.take(places) for column in best], self._whole))
                if len(less):
                    trail[:] = branch
                    for column, values in zip(best, image, strict=True):
                        column[places.take(less)] = values.take(less)
        return best

    def _tied(self, columns: Columns) -> Indices:
        """The states in which some instances have equal keys, and exchanging them makes a difference."""
        found = np.zeros(len(columns[0]), dtype=np.bool_)
        for number in self._changing:
            image = self._maps[number].apply(columns)
            found |= _equal(image, columns, self._key) & ~_equal(image, columns, self._whole)
        return np.flatnonzero(found)

    def _sort(self, columns: Columns, numbers: list[int], key: list[np.uint64], trail: list[int]) -> Columns:
        """Applies the swaps with these numbers as long as they make the bits in `key` smaller."""
        if not numbers:
            return columns
        current, changed = self._sort_once(columns, numbers, key, trail)
        left = np.flatnonzero(changed) if len(numbers) > 1 else changed[:0]
        if len(left):
            current = [column.copy() for column in current]
        while len(left):
            part, changed = self._sort_once([column.take(left) for column in current], numbers, key, trail)
            for column, values in zip(current, part, strict=True):
                column[left] = values
            left = left.take(np.flatnonzero(changed))
        return current

    def _sort_once(
        self, columns: Columns, numbers: list[int], key: list[np.uint64], trail: list[int]
    ) -> tuple[Columns, Flags]:
        """Tries each swap once; also answers which states have changed."""
        changed = np.zeros(len(columns[0]), dtype=np.bool_)
        current = columns
        for number in numbers:
            image = self._maps[number].apply(current)
            less = _less(image, current, key)
            if less.any():
                current = [
                    old if new is old else np.where(less, new, old) for new, old in zip(image, current, strict=True)
                ]
                changed |= less
                trail.append(number)
        return current, changed

    def apply(self, numbers: Iterable[int], columns: Columns) -> Columns:
        """The images under these swaps, applied one after the other."""
        for number in numbers:
            columns = self._maps[number].apply(columns)
        return columns


def permuted(system: TransitionSystem, state: State, permutation: Permutation) -> State:
    codes = list(state)
    for source, target, table in permutation.moves:
        codes[system.position[target]] = table[state[system.position[source]]]
    return tuple(codes)


def is_involution(swap: Permutation) -> bool:
    to = {source: (target, table) for source, target, table in swap.moves}
    for source, target, table in swap.moves:
        if target not in to or len(table) != source.size:
            return False
        back, inverse = to[target]
        if back is not source or any(inverse[new] != code for code, new in enumerate(table)):
            return False
    return len(to) == len(swap.moves)


def _translates(swap: Permutation) -> bool:
    return any(table != tuple(range(source.size)) for source, _, table in swap.moves)


def _orders(swaps: Sequence[Permutation], chosen: Sequence[int]) -> list[tuple[tuple[int, ...], _Pull]] | None:
    """The group that the chosen swaps generate, each element as a sequence of swaps and as one map.

    Without the neutral element.  None if there are too many.
    """
    found: list[tuple[tuple[int, ...], _Pull]] = [((), {})]
    seen = {frozenset(found[0][1].items())}
    for word, pull in found:
        for number in chosen:
            composed = _followed_by(pull, swaps[number])
            key = frozenset(composed.items())
            if key not in seen:
                if len(found) > ORDERS:
                    return None
                seen.add(key)
                found.append(((*word, number), composed))
    return found[1:]


def _key(layout: Layout, changing: Sequence[Permutation], moving: Sequence[Permutation]) -> list[np.uint64]:
    """In each word, the bits of the fields that the changing swaps move and do nothing else to."""
    touched = {target for swap in moving for _, target, _ in swap.moves}
    touched |= {t for swap in changing for source, t, table in swap.moves if table != tuple(range(source.size))}
    moved = {t for swap in changing for source, t, _ in swap.moves if source is not t}
    words = [0] * layout.words
    for variable in moved - touched:
        words[layout.fields[variable].word] |= layout.fields[variable].mask
    return [np.uint64(mask) for mask in words]


def _followed_by(pull: _Pull, swap: Permutation) -> _Pull:
    found = dict(pull)
    for source, target, table in swap.moves:
        origin, first = pull.get(source, (source, tuple(range(source.size))))
        translated = tuple(table[code] for code in first)
        if origin is target and translated == tuple(range(target.size)):
            found.pop(target, None)
        else:
            found[target] = (origin, translated)
    return found


def _less(left: Columns, right: Columns, key: list[np.uint64]) -> Flags:
    """Whether the left state is smaller: the last word in which the bits in `key` differ decides."""
    found: Flags | None = None
    for a, b, mask in zip(left, right, key, strict=True):
        if mask and a is not b:
            first, second = (a, b) if mask == (1 << 64) - 1 else (a & mask, b & mask)
            less = first < second
            found = less if found is None else less | ((first == second) & found)
    return np.zeros(len(left[0]), dtype=np.bool_) if found is None else found


def _equal(left: Columns, right: Columns, key: list[np.uint64]) -> Flags:
    found = np.ones(len(left[0]), dtype=np.bool_)
    for a, b, mask in zip(left, right, key, strict=True):
        if mask and a is not b:
            found &= ((a ^ b) & mask) == 0
    return found


class _Map:
    """One permutation on packed states; fields that keep their values and move by the same distance move together."""

    def __init__(self, layout: Layout, moves: Iterable[tuple[Variable, Variable, tuple[int, ...]]]) -> None:
        cleared = [0] * layout.words
        moved: dict[tuple[int, int, int], int] = {}
        self._parts: list[tuple[int, Transfer]] = []
        for source, target, table in moves:
            here, there = layout.fields[source], layout.fields[target]
            cleared[there.word] |= there.mask
            if tuple(table) == tuple(range(source.size)):
                key = (here.word, there.word, there.shift - here.shift)
                moved[key] = moved.get(key, 0) | here.mask
            else:
                self._parts.append((there.word, table_transfer(here, table, there)))
        for (word, into, delta), mask in moved.items():
            self._parts.append((into, shift_transfer(word, mask, delta)))
        self._kept = [np.uint64((1 << 64) - 1 & ~mask) if mask else None for mask in cleared]

    def apply(self, columns: Columns) -> Columns:
        """The images; a word that stays as it is is not copied."""
        image = [column if kept is None else column & kept for column, kept in zip(columns, self._kept, strict=True)]
        for word, part in self._parts:
            image[word] |= part(columns)
        return image


def image_formulas(formula: Formula, swaps: Iterable[Permutation], limit: int) -> list[Formula]:
    """`formula` (unprimed) and the formulas which hold in a state when it holds in some image of the state.

    Formulas are compared as objects, so that different ones can mean the same.  At most `limit` are made.
    """
    pulls = [_followed_by({}, swap) for swap in swaps]
    found = [formula]
    seen = {formula}
    for current in found:
        for pull in pulls:
            image = substitute(current, partial(_pulled, pull))
            if image not in seen and len(found) < limit:
                seen.add(image)
                found.append(image)
    return found


def _pulled(pull: _Pull, literal: Formula) -> Formula:
    variable = literal.variable
    assert variable is not None
    if variable not in pull:
        return literal
    source, table = pull[variable]
    return member(source, sum(1 << code for code, new in enumerate(table) if literal.mask >> new & 1))
