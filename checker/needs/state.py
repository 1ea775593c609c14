"""What is known of the fault sets of one property while they are searched for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from checker.needs.lattice import FaultLattice
from checker.needs.needs import Breaking, Needs, Tolerated, Unsettled
from checker.verdict import PropertyVerdict, Proved, Refuted
from spec.typed import FaultClass


@dataclass(frozen=True)
class Believed:
    """An engine's proof.  `certify` makes the verdict, or raises OwnError; None where the evidence was dropped."""

    certify: Callable[[], PropertyVerdict] | None


class Question(NamedTuple):
    """Is the property safe under the fault classes of the mask?  sure: the answer counts, so a proof is certified; else
    it only guides the shrinking of a breaking set."""

    mask: int
    sure: bool


class NeedsState:
    """The fault sets of one property, as masks of `classes`.  Of sets that exchanges map to each other one is asked
    about, the representative of their orbit."""

    def __init__(self, name: str, classes: tuple[FaultClass, ...], exchanges: Sequence[Sequence[int]] = ()) -> None:
        """exchanges: see `FaultLattice`.

        Raises ValueError for more classes than a `FaultLattice` holds."""
        self.name = name
        self.lattice = FaultLattice(len(classes), exchanges)
        self._classes = classes
        self._refuted: dict[int, tuple[int, Refuted]] = {}
        """By representative: the set of the orbit that a trace is known of, and its refutation."""
        self._proved: dict[int, Proved] = {}
        self._believed: dict[int, Believed] = {}
        self._reasons: dict[str, None] = {}
        self._abandoned = False

    def next(self) -> Question | None:
        """What to ask next; None when nothing is left to ask."""
        if self._abandoned:
            return None
        for mask in self.lattice.minimal_breaking():
            for bit in range(len(self._classes)):
                smaller = self.lattice.representative(mask & ~(1 << bit))
                if mask >> bit & 1 and self.knows_nothing_of(smaller):
                    return Question(smaller, False)
        mask_left = self.lattice.lowest() if self._reasons else self.lattice.highest()
        return None if mask_left is None else Question(mask_left, True)

    def knows_nothing_of(self, mask: int) -> bool:
        return self.lattice.is_open(mask) and not self.lattice.is_expected(mask)

    def belief(self, mask: int) -> Believed | None:
        return self._believed.get(mask)

    def believe(self, mask: int, belief: Believed) -> None:
        self._believed[mask] = belief
        self.lattice.expect(mask)

    def refuted(self, mask: int, verdict: Refuted) -> None:
        """Raises ValueError when that contradicts what is known."""
        orbit = self.lattice.representative(mask)
        known = self._refuted.get(orbit)
        if known is None or len(verdict.trace) < len(known[1].trace):
            self._refuted[orbit] = mask, verdict
        self.lattice.breaks(mask)

    def proved(self, mask: int, verdict: Proved) -> None:
        """Raises ValueError when that contradicts what is known."""
        self._proved[mask] = verdict
        self.lattice.holds(mask)

    def give_up(self, mask: int, reason: str) -> None:
        self._reasons[reason] = None
        self.lattice.give_up(mask)

    def abandon(self, reason: str) -> None:
        """Nothing that is known can be trusted."""
        self._abandoned = True
        self._reasons = {reason: None}

    def result(self, reason: str) -> Needs:
        """What is known.  reason: why no more was asked, should sets be left of which nothing is known."""
        if self._abandoned:
            return Needs(self._classes, (), (), (Unsettled(frozenset()),), next(iter(self._reasons)))
        breaking = []
        for mask in self.lattice.minimal_breaking():
            struck, verdict = self._refuted[mask]
            parts = (mask & ~(1 << bit) for bit in range(len(self._classes)) if mask >> bit & 1)
            minimal = all(self.lattice.is_safe(part) for part in parts)
            breaking.append(Breaking(self._set(struck), verdict, minimal, self.lattice.orbit(mask)))
        tolerated = [
            Tolerated(self._set(mask), self._proved[mask], self.lattice.orbit(mask))
            for mask in self.lattice.maximal_safe()
        ]
        undecided = tuple(Unsettled(self._set(mask), self.lattice.orbit(mask)) for mask in self.lattice.undecided())
        if self.lattice.highest() is not None:
            self._reasons[reason] = None
        return Needs(
            self._classes, tuple(breaking), tuple(tolerated), undecided, "; ".join(self._reasons) if undecided else ""
        )

    def _set(self, mask: int) -> frozenset[FaultClass]:
        return frozenset(fault for bit, fault in enumerate(self._classes) if mask >> bit & 1)
