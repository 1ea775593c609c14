"""Proofs that are true because nothing happens.

For each declared property there are covers that some run must reach, or else the proof says nothing: that the left side
of an implication in it is ever true (from the lowering), that some step ever writes to what the property reads, and for
`at rest` that some state is at rest at all.
The engines look for them along with the properties.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from checker.certificates.invariant import check
from checker.engines.engine import Inductive, Outcome, Unreachable
from checker.logic.formula import FALSE, Role, Variable, conjunction, disjunction, negate, variables_of
from checker.lower import Lowered
from checker.transition_system import Form, Property, TransitionSystem

_SECONDS = 10.0
"""For the check of an invariant that says that a cover is never reached."""


@dataclass(frozen=True)
class Change:
    """cover: some step writes to what the property reads; None when nothing that it reads ever changes."""

    cover: Property | None


def changes_of(lowered: Lowered, targets: Sequence[Property]) -> Mapping[str, Change]:
    """For each declared property among the targets that a proof may be given for, whether what it reads changes."""
    declared = {each.name for each in lowered.model.properties}
    full = {each.name: each for each in lowered.compaction.original.properties}
    found = {}
    for target in targets:
        if target.name not in declared or target.form is Form.COVER:
            continue
        read = {variable for variable, _ in _read(full[target.name]) if variable.role is not Role.ERROR}
        kept = {lowered.compaction.kept[variable] for variable in read if variable in lowered.compaction.kept}
        found[target.name] = Change(_cover(lowered.system, target.name, kept) if kept else None)
    return found


def _read(target: Property) -> Iterator[tuple[Variable, bool]]:
    """What decides whether it is violated."""
    yield from variables_of(target.bad)
    for case in target.cases:
        for formula in (case.trigger, case.goal, case.recurrent):
            yield from variables_of(formula)


def _cover(system: TransitionSystem, name: str, kept: set[Variable]) -> Property:
    going_on = conjunction((negate(system.halted), negate(system.frontier)))
    writing = disjunction(action.guard for action in system.actions if not kept.isdisjoint(action.writes))
    return Property(f"changes {name}", Form.COVER, conjunction((going_on, writing)), shown=False)


def is_never_reached(system: TransitionSystem, cover: Property, outcome: Outcome | None) -> bool:
    """Whether the cover is known never to be reached: by a finished search, or by an invariant that stands."""
    if cover.bad is FALSE:
        return True
    match outcome:
        case Unreachable():
            return True
        case Inductive(invariant=invariant, rescues=rescues):
            return check(system, cover, invariant, time.monotonic() + _SECONDS, rescues=rescues) is None
        case _:
            return False


__all__ = ["Change", "changes_of", "is_never_reached"]
