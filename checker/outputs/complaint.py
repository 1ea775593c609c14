"""What in a check's results somebody should look at, one by one and each with its place in the model's text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from checker.options import Options
from checker.reports.evidence import describe
from checker.reports.explanation import explained
from checker.result import FileReport, PropertyResult, Result, VariantReport
from checker.verdict import Judgement, NotARun, Refuted, Uncovered, title
from counterexamples.explain import Explanation
from spec.diagnostic import Diagnostic, Severity
from spec.source import Span


class Level(Enum):
    """How bad it is.  NOTE: refuted, as the model says it would be."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


REFUTED = "refuted"
EXPECTATION = "expectation"
UNDECIDED = "undecided"
INTERNAL = "internal-error"

RULES = {
    REFUTED: "A run of the model violates a property.",
    EXPECTATION: "A verdict is not the one that the model expects.",
    UNDECIDED: "No verdict was reached, or only a bound, where a proof or a trace is wanted.",
    INTERNAL: "The checker contradicted itself; no verdict of this run counts.",
}
"""What each rule that is not a code of the language (`counterpoint explain`) is about."""


@dataclass(frozen=True)
class Complaint:
    """rule: one of the above, the code of a diagnostic, or the kind of a remark in lower case with dashes.

    subject      the property, scenario, or other part of the model
    explanation  of the run that shows it, where there is one
    """

    rule: str
    level: Level
    message: str
    span: Span | None
    file: str
    variant: str | None
    subject: str
    explanation: Explanation | None = None


def complaints(reports: Sequence[FileReport], options: Options) -> Iterator[Complaint]:
    """Everything, in the order of the report; each diagnostic once, whichever variants have it."""
    for report in reports:
        seen: set[tuple[str, Span | None]] = set()
        for found in _of_file(report, options):
            key = (f"{found.rule} {found.message}", found.span)
            if found.subject or key not in seen:
                seen.add(key)
                yield found


def _of_file(report: FileReport, options: Options) -> Iterator[Complaint]:
    for diagnostic in (*report.errors, *report.warnings):
        yield _diagnosed(diagnostic, report, None, options)
    for remark in report.remarks:
        yield _remarked(remark.kind.name, remark.message, remark.span, report, None, options)
    for failure in report.failures:
        yield Complaint(INTERNAL, Level.ERROR, failure.message, None, report.name, None, failure.subject or "")
    for variant in report.variants:
        yield from _of_variant(variant, report, options)


def _of_variant(variant: VariantReport, report: FileReport, options: Options) -> Iterator[Complaint]:
    name = variant.variant
    for diagnostic in (*variant.errors, *variant.warnings):
        yield _diagnosed(diagnostic, report, name, options)
    for remark in variant.remarks:
        yield _remarked(remark.kind.name, remark.message, remark.span, report, name, options)
    for failure in variant.failures:
        yield Complaint(INTERNAL, Level.ERROR, failure.message, None, report.name, name, failure.subject or "")
    if variant.cut_short is not None:
        message = variant.cut_short if not variant.begun else f"the check was cut short: {variant.cut_short}"
        yield Complaint(UNDECIDED, Level.ERROR, message, None, report.name, name, "")
    for result in variant.results if variant.begun else ():
        yield from _of_result(result, variant, report, options)


def _of_result(result: Result, variant: VariantReport, report: FileReport, options: Options) -> Iterator[Complaint]:
    verdict = result.verdict
    told = f"{result.name} is {title(verdict)}: {describe(verdict)}"
    explanation = None
    if isinstance(verdict, Refuted):
        explanation = explained(verdict.trace, result.name if isinstance(result, PropertyResult) else None)

    span = result.span or _blocked_at(explanation)

    def complaint(rule: str, level: Level, message: str) -> Complaint:
        return Complaint(rule, level, message, span, report.name, variant.variant, result.name, explanation)

    judgements = [judged.judgement for judged in result.judged]
    for judged in result.judged:
        if judged.judgement is Judgement.MISSED:
            wanted = judged.expectation.verb.value
            yield complaint(EXPECTATION, Level.ERROR, f"{told}; the model says that the variant {wanted} it")
        elif judged.judgement is Judgement.INCONCLUSIVE:
            wanted = judged.expectation.verb.value
            yield complaint(UNDECIDED, Level.ERROR, f"{told}; the model says that the variant {wanted} it")
    if Judgement.MISSED in judgements or Judgement.INCONCLUSIVE in judgements:
        return
    if isinstance(verdict, Refuted):
        yield complaint(REFUTED, Level.NOTE if Judgement.MET in judgements else Level.ERROR, told)
    elif result.code(options) != 0:
        known = isinstance(verdict, Uncovered | NotARun)
        yield complaint(EXPECTATION if known else UNDECIDED, Level.ERROR, told)


def _blocked_at(explanation: Explanation | None) -> Span | None:
    """The statement at which a thread is stuck."""
    conclusion = None if explanation is None else explanation.conclusion
    sites = () if conclusion is None else (thread.site for thread in conclusion.stuck)
    return next((site.statement.span for site in sites if site is not None), None)


def _diagnosed(diagnostic: Diagnostic, report: FileReport, variant: str | None, options: Options) -> Complaint:
    error = diagnostic.severity is Severity.ERROR or options.strict
    message = diagnostic.message if diagnostic.fix is None else f"{diagnostic.message} ({diagnostic.fix})"
    level = Level.ERROR if error else Level.WARNING
    return Complaint(diagnostic.code, level, message, diagnostic.span, report.name, variant, "")


def _remarked(
    kind: str, message: str, span: Span | None, report: FileReport, variant: str | None, options: Options
) -> Complaint:
    rule = kind.lower().replace("_", "-")
    level = Level.ERROR if options.strict else Level.WARNING
    return Complaint(rule, level, message, span, report.name, variant, "")


__all__ = ["EXPECTATION", "INTERNAL", "REFUTED", "RULES", "UNDECIDED", "Complaint", "Level", "complaints"]
