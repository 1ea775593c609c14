"""Which fairness a `live` property takes, as data: what a proof assumes, and what would repair a refutation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checker.liveness.assumptions import Assumption
from checker.verdict import Proved, Refuted
from spec.typed import Fairness

Assumptions = Mapping[Assumption, Fairness]
"""How fair each is; what is not mentioned is unfair."""


@dataclass(frozen=True)
class Needed:
    """An assumption of a minimal set.  without: a lasso that all the others of the set allow; it is excluded as soon as
    this one is as fair as `fairness` says, and by nothing less."""

    assumption: Assumption
    fairness: Fairness
    without: Refuted


@dataclass(frozen=True)
class Enough:
    """A minimal set of assumptions: with just these the property is proved, with any of them left out it is not."""

    needed: tuple[Needed, ...]
    verdict: Proved


@dataclass(frozen=True)
class Relied:
    """Of a proof: all minimal sets of assumptions that it could do with, the smallest first.

    complete  whether there are no others; if not, `reason` says why none was looked for
    """

    sets: tuple[Enough, ...]
    complete: bool
    reason: str = ""


@dataclass(frozen=True)
class Repair:
    """The property is proved when this is as fair as `fairness` says, and all else as the model has it."""

    assumption: Assumption
    fairness: Fairness
    verdict: Proved


@dataclass(frozen=True)
class Repairs:
    """Of a refutation: what would repair it, each by itself.

    tried    how many changes could have excluded the lasso, and were checked
    open     of which of these nothing is known, and why
    """

    found: tuple[Repair, ...]
    tried: int
    open: tuple[tuple[Assumption, Fairness, str], ...] = ()


FairnessNeeds = Relied | Repairs
