"""Sets of fault classes as bit masks, and what is known of each: breaking, safe, undecided, or open.

More faults allow more runs and take none away, so whatever contains a breaking set breaks, and whatever is contained in
a safe one is safe.  Classes may be interchangeable; then what is said of a set goes for all of its orbit, the sets that
exchanges map it to, and its representative is the smallest mask among them.  What is left open is searched from its
top, as in MARCO (Liffiton, Previti, Malik, Marques-Silva: Fast, flexible MUS enumeration, 2016); a table of all sets
takes the place of its map solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

MOST_CLASSES = 16
"""The most classes whose sets fit in the table."""


class FaultLattice:
    """All subsets of `size` classes, each a mask in which bit i stands for class i."""

    def __init__(self, size: int, exchanges: Sequence[Sequence[int]] = ()) -> None:
        """exchanges: permutations of the classes, each its own inverse, that make no difference.

        Raises ValueError for more than MOST_CLASSES classes."""
        if size > MOST_CLASSES:
            raise ValueError(f"{size} classes are more than {MOST_CLASSES}")
        self.full = (1 << size) - 1
        self._masks = np.arange(self.full + 1, dtype=np.int64)
        self._counts = np.zeros(self.full + 1, dtype=np.int64)
        for bit in range(size):
            self._counts += (self._masks >> bit) & 1
        self._representatives = _representatives(self._masks, size, exchanges)
        self._breaking = np.zeros(self.full + 1, dtype=bool)
        self._safe = np.zeros(self.full + 1, dtype=bool)
        self._expected = np.zeros(self.full + 1, dtype=bool)
        self._given_up = np.zeros(self.full + 1, dtype=bool)

    def breaks(self, mask: int) -> None:
        """The set is breaking, and with it whatever contains it.  Raises ValueError when one of these is safe."""
        self._breaking |= self._orbits((self._masks & mask) == mask)
        self._check(mask)

    def holds(self, mask: int) -> None:
        """The set is safe, and with it whatever it contains.  Raises ValueError when one of these is breaking."""
        self._safe |= self._orbits((self._masks & ~mask) == 0)
        self._check(mask)

    def give_up(self, mask: int) -> None:
        """Nothing could be found out about this one set."""
        self._given_up |= self._representatives == self._representatives[mask]

    def expect(self, mask: int) -> None:
        """The set is safe as far as is known, and with it whatever it contains; nothing rests on that."""
        self._expected |= self._orbits((self._masks & ~mask) == 0)

    def representative(self, mask: int) -> int:
        """The smallest mask of the set's orbit."""
        return int(self._representatives[mask])

    def orbit(self, mask: int) -> int:
        """How many sets there are in the set's orbit, itself among them."""
        return int(np.count_nonzero(self._representatives == self._representatives[mask]))

    def is_breaking(self, mask: int) -> bool:
        return bool(self._breaking[mask])

    def is_safe(self, mask: int) -> bool:
        return bool(self._safe[mask])

    def is_open(self, mask: int) -> bool:
        return not (self._breaking[mask] or self._safe[mask] or self._given_up[mask])

    def is_expected(self, mask: int) -> bool:
        return bool(self._expected[mask])

    def highest(self) -> int | None:
        """An open set with the most classes, a representative, the smallest mask of equals; None if none is open."""
        return self._extreme(-self._counts)

    def lowest(self) -> int | None:
        """An open set with the fewest classes, a representative, the smallest mask of equals; None if none is open."""
        return self._extreme(self._counts)

    def undecided(self) -> tuple[int, ...]:
        """The representatives of the sets that are neither breaking nor safe, open ones among them, and that contain no
        other such set."""
        unknown = ~(self._breaking | self._safe)
        return self._only_representatives(minimal(int(mask) for mask in self._masks[unknown]))

    def maximal_safe(self) -> tuple[int, ...]:
        """The representatives of the safe sets that no safe set contains."""
        return self._only_representatives(maximal(int(mask) for mask in self._masks[self._safe]))

    def minimal_breaking(self) -> tuple[int, ...]:
        """The representatives of the breaking sets that contain no other."""
        return self._only_representatives(minimal(int(mask) for mask in self._masks[self._breaking]))

    def _only_representatives(self, masks: Iterable[int]) -> tuple[int, ...]:
        return tuple(mask for mask in masks if self._representatives[mask] == mask)

    def _orbits(self, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """All sets in the orbits of the chosen ones."""
        hit = np.zeros(self.full + 1, dtype=bool)
        hit[self._representatives[chosen]] = True
        return hit[self._representatives]

    def _extreme(self, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int | None:
        found = np.flatnonzero(~(self._breaking | self._safe | self._given_up))
        return int(found[np.argmin(order[found])]) if len(found) else None

    def _check(self, mask: int) -> None:
        if np.any(self._breaking & self._safe):
            raise ValueError(f"the set {mask:#b} makes some set both breaking and safe")


def _representatives(
    masks: np.ndarray[tuple[int], np.dtype[np.int64]], size: int, exchanges: Sequence[Sequence[int]]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each mask the smallest one that exchanges, one after the other, map it to."""
    images = []
    for exchange in exchanges:
        image = np.zeros_like(masks)
        for bit in range(size):
            image |= ((masks >> bit) & 1) << exchange[bit]
        images.append(image)
    found = masks.copy()
    while True:
        before = found.copy()
        for image in images:
            found = np.minimum(found, found[image])
        found = found[found]
        if np.array_equal(found, before):
            return found


def minimal(masks: Iterable[int]) -> tuple[int, ...]:
    """Those that contain no other, fewest classes first."""
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda mask: (mask.bit_count(), mask)):
        if not any(mask & smaller == smaller for smaller in kept):
            kept.append(mask)
    return tuple(kept)


def maximal(masks: Iterable[int]) -> tuple[int, ...]:
    """Those that no other contains, most classes first."""
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda mask: (-mask.bit_count(), mask)):
        if not any(mask & larger == mask for larger in kept):
            kept.append(mask)
    return tuple(kept)
