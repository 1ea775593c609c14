"""What a check of a file has found, for reports to show and for the exit code to follow from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.bundle import Failure
from checker.coverage import Activity
from checker.exitcode import ExitCode, gravest
from checker.liveness.fairness_needs import FairnessNeeds, Relied
from checker.needs.needs import Needs
from checker.options import Options
from checker.reliance.reliance import Why
from checker.remark import Remark
from checker.time_limit import OUT_OF_TIME
from checker.verdict import (
    HoldsTo,
    Judgement,
    PropertyVerdict,
    Refuted,
    ScenarioVerdict,
    Scope,
    UncoveredTo,
    Undecided,
    Verdict,
)
from spec.diagnostic import Diagnostic
from spec.source import Span
from spec.typed import Expectation, Model, PropertyForm

if TYPE_CHECKING:
    from checker.crashpoints.crash_map import CrashMap


@dataclass(frozen=True)
class Judged:
    expectation: Expectation
    judgement: Judgement


@dataclass(frozen=True)
class PropertyResult:
    name: str
    form: PropertyForm
    span: Span | None
    doc: str
    verdict: PropertyVerdict
    judged: tuple[Judged, ...]
    needs: Needs | None = None
    """Which faults it takes to break it; None where that was not asked."""
    why: Why | None = None
    """What the proof relies on; None where that was not asked or there is no proof."""
    fairness: FairnessNeeds | None = None
    """Which fairness a `live` property takes; None where that was not asked, or nothing was found."""

    def code(self, options: Options) -> ExitCode:
        code = _code(self.verdict, self.judged, options)
        partial = (
            options.needs and self.form is not PropertyForm.COVER and (self.needs is None or not self.needs.complete)
        )
        if partial and options.asks_for_bound and self.needs is not None:
            partial = OUT_OF_TIME in self.needs.reason
        partial = partial or (options.fairness and isinstance(self.fairness, Relied) and not self.fairness.complete)
        return gravest((code, ExitCode.INCONCLUSIVE)) if partial else code


@dataclass(frozen=True)
class ScenarioResult:
    name: str
    span: Span
    doc: str
    verdict: ScenarioVerdict
    judged: tuple[Judged, ...]

    def code(self, options: Options) -> ExitCode:
        return _code(self.verdict, self.judged, options)


Result = PropertyResult | ScenarioResult


def _code(verdict: Verdict, judged: tuple[Judged, ...], options: Options) -> ExitCode:
    stated = [item.judgement for item in judged if item.judgement is not Judgement.NOT_JUDGED]
    if Judgement.MISSED in stated:
        return ExitCode.REFUTED
    if Judgement.INCONCLUSIVE in stated:
        return ExitCode.INCONCLUSIVE
    if stated:
        return ExitCode.MET
    match verdict:
        case Refuted():
            return ExitCode.REFUTED
        case Undecided():
            return ExitCode.INCONCLUSIVE
        case HoldsTo(depth=depth, reason=reason) | UncoveredTo(depth=depth, reason=reason):
            return ExitCode.MET if options.is_as_asked(depth, reason) else ExitCode.INCONCLUSIVE
        case _:
            return ExitCode.MET


@dataclass(frozen=True)
class VariantReport:
    """variant None: the model's defaults.  model None: this choice does not type-check (`errors` say why).
    warnings: of the type checker.  activity: None unless the whole state space was explored.
    interrupted: the user stopped it; what was not decided by then is UNDECIDED.
    crash_map: None where that was not asked.
    cut_short: why not all was done that was asked, other than an interrupt; None where all was.
    begun: False where that was to be checked only after the time for everything.
    decided: when the verdicts were found (UTC, as ISO 8601 has it), for a report that was kept; None: now."""

    variant: str | None
    doc: str
    model: Model | None
    scope: Scope
    properties: tuple[PropertyResult, ...] = ()
    scenarios: tuple[ScenarioResult, ...] = ()
    remarks: tuple[Remark, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    activity: Activity | None = None
    errors: tuple[Diagnostic, ...] = ()
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    crash_map: CrashMap | None = None
    cut_short: str | None = None
    begun: bool = True
    decided: str | None = None

    @property
    def results(self) -> tuple[Result, ...]:
        return (*self.properties, *self.scenarios)

    def code(self, options: Options) -> ExitCode:
        codes = [result.code(options) for result in self.results]
        codes += [ExitCode.OWN_ERROR for _ in self.failures]
        codes += [ExitCode.MODEL for _ in self.errors]
        codes += [ExitCode.INCONCLUSIVE] * (self.interrupted or self.cut_short is not None)
        codes += [ExitCode.INCONCLUSIVE for found in (self.crash_map,) if found is not None and not found.complete]
        if options.strict:
            codes += [ExitCode.REFUTED for _ in self.remarks]
        return gravest(codes)


@dataclass(frozen=True)
class FileReport:
    """name: as the user knows the file; remarks and warnings: what goes for every variant that was checked; errors: why
    it could not be checked at all."""

    name: str
    doc: str
    variants: tuple[VariantReport, ...] = ()
    remarks: tuple[Remark, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0

    def code(self, options: Options) -> ExitCode:
        codes = [variant.code(options) for variant in self.variants]
        codes += [ExitCode.MODEL for _ in self.errors]
        codes += [ExitCode.OWN_ERROR for _ in self.failures]
        if options.strict:
            codes += [ExitCode.REFUTED for _ in (*self.remarks, *self.warnings)]
        return gravest(codes)

    @property
    def interrupted(self) -> bool:
        return any(variant.interrupted for variant in self.variants)

    def all_failures(self) -> Iterator[Failure]:
        yield from self.failures
        for variant in self.variants:
            yield from variant.failures
