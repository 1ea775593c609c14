"""What may differ between two versions of a model, and which differences are regressions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from checker.exitcode import ExitCode


class Effect(Enum):
    """What a change means for whoever relies on the model."""

    REGRESSION = "regression"
    """Something that was known, demanded or assumed before is no longer."""
    OPEN = "undecided"
    """Something that was decided is not decided now."""
    BETTER = "improvement"
    NEUTRAL = "note"


class ChangeKind(Enum):
    """The kinds of changes; the value is their name in reports."""

    NEWLY_REFUTED = "newly refuted"
    NEWLY_PROVED = "newly proved"
    VERDICT_CHANGED = "verdict changed"
    NO_LONGER_DECIDED = "no longer decided"
    BOUND_SHRANK = "bound shrank"
    BOUND_GREW = "bound grew"
    EXPECTATION_WEAKENED = "expectation weakened"
    EXPECTATION_STRENGTHENED = "expectation strengthened"
    EXPECTATION_MISSED = "expectation missed"
    EXPECTATION_OPEN = "expectation undecided"
    FAULTS_WEAKENED = "faults weakened"
    FAULTS_STRENGTHENED = "faults strengthened"
    SIZE_SHRANK = "size shrank"
    SIZE_GREW = "size grew"
    PROPERTY_REMOVED = "property removed"
    PROPERTY_ADDED = "property added"
    PROPERTY_RENAMED = "property renamed"
    CONDITION_CHANGED = "condition changed"
    TOLERANCE_SHRANK = "tolerance shrank"
    TOLERANCE_GREW = "tolerance grew"
    TOLERANCE_OPEN = "tolerance undecided"
    VARIANT_REMOVED = "variant removed"
    VARIANT_ADDED = "variant added"
    MODEL_REMOVED = "model removed"
    MODEL_ADDED = "model added"
    MODEL_RENAMED = "model renamed"
    MODEL_ERRORS = "model errors"
    MODEL_REPAIRED = "model repaired"


@dataclass(frozen=True)
class Change:
    """variant   None for the model's defaults, and for what concerns the whole model
    subject   the property, scenario, variant or model that it is about
    before, after  what there was and is, in words; None where there is nothing to tell"""

    kind: ChangeKind
    effect: Effect
    variant: str | None
    subject: str
    before: str | None = None
    after: str | None = None

    @property
    def code(self) -> ExitCode:
        if self.kind is ChangeKind.MODEL_ERRORS:
            return ExitCode.MODEL
        return {Effect.REGRESSION: ExitCode.REFUTED, Effect.OPEN: ExitCode.INCONCLUSIVE}.get(self.effect, ExitCode.MET)
