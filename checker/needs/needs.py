"""Which faults it takes to break a property: all minimal sets of fault classes, and all maximal safe ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from checker.needs.instances import whole
from checker.verdict import Judgement, Proved, Refuted
from spec.typed import FaultClass

FaultSet = frozenset[FaultClass]


@dataclass(frozen=True)
class Breaking:
    """A set of fault classes that breaks the property, with a trace in which each of them strikes.  minimal: the
    property is proved under every proper subset; where not, some of these are undecided.  orbit: for how many sets it
    stands, itself among them, since a permutation of like instances maps it to each of the others."""

    faults: FaultSet
    verdict: Refuted
    minimal: bool
    orbit: int = 1


@dataclass(frozen=True)
class Tolerated:
    """A set of fault classes under which the property is proved, and to which none can be added.  orbit: as in
    `Breaking`."""

    faults: FaultSet
    verdict: Proved
    orbit: int = 1


@dataclass(frozen=True)
class Unsettled:
    """Fault classes of which it is not known whether a run breaks the property with them.  orbit: as in `Breaking`."""

    faults: FaultSet
    orbit: int = 1


@dataclass(frozen=True)
class Needs:
    """What is known of the sets of fault classes.

    breaking   the smallest sets known to break the property; {} among them: no fault is needed
    tolerated  the largest sets that it is proved under; none when no fault is needed
    undecided  the smallest of the sets that are neither; none when the answer is complete: then
               every set contains a breaking one or is contained in a tolerated one, or in one like these
    reason     why these are undecided
    """

    classes: tuple[FaultClass, ...]
    breaking: tuple[Breaking, ...]
    tolerated: tuple[Tolerated, ...]
    undecided: tuple[Unsettled, ...] = ()
    reason: str = ""

    @property
    def complete(self) -> bool:
        return not self.undecided


def judge_needs(expected: Collection[FaultSet], found: Needs | None) -> Judgement:
    """Whether exactly the expected sets are the minimal ones that break the property.  With classes of single instances
    found: whether the classes of all instances that these belong to are; they are the same throughout an orbit."""
    if found is None:
        return Judgement.INCONCLUSIVE
    broken = {whole(each.faults) for each in found.breaking}
    if found.complete:
        minimal = {faults for faults in broken if not any(smaller < faults for smaller in broken)}
        return Judgement.MET if minimal == set(expected) else Judgement.MISSED
    for wanted in expected:
        parts = {fault for fault in found.classes if whole([fault]) <= wanted}
        is_safe = any(parts <= each.faults for each in found.tolerated)
        if is_safe or any(faults < wanted for faults in broken):
            return Judgement.MISSED
    if any(not any(wanted <= faults for wanted in expected) for faults in broken):
        return Judgement.MISSED
    return Judgement.INCONCLUSIVE


def in_order(faults: Iterable[FaultClass], classes: tuple[FaultClass, ...]) -> tuple[FaultClass, ...]:
    """The fault classes in the order of the model."""
    kept = set(faults)
    return tuple(fault for fault in classes if fault in kept)


def name_of(faults: Iterable[FaultClass], classes: tuple[FaultClass, ...]) -> str:
    """A fault set as it is written in `needs`: `{crash Server, lose Server -- db}`."""
    return "{" + ", ".join(map(str, in_order(faults, classes))) + "}"


def counted_name_of(each: Breaking | Tolerated | Unsettled, classes: tuple[FaultClass, ...]) -> str:
    """A fault set, and for how many others it stands: `{crash Server[0]}, and 1 more like it`."""
    others = f", and {each.orbit - 1:,} more like it" if each.orbit > 1 else ""
    return name_of(each.faults, classes) + others


def counted_names_of(sets: Iterable[Breaking | Tolerated], classes: tuple[FaultClass, ...]) -> str:
    return " | ".join(counted_name_of(each, classes) for each in sets)


def names_of(sets: Iterable[Iterable[FaultClass]], classes: tuple[FaultClass, ...]) -> str:
    """Fault sets as they are written in `needs`; `never` when there is none."""
    return " | ".join(name_of(each, classes) for each in sets) or "never"
