"""What a check has found, as a web page: chooses what `counterexamples.web` shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from checker.certificates.invariance import InvariantCertificate
from checker.exitcode import ExitCode
from checker.liveness.live_certificate import RoundsCertificate
from checker.needs.needs import counted_name_of
from checker.options import Options
from checker.reports.evidence import describe
from checker.reports.explanation import explained
from checker.reports.tally import tally
from checker.result import FileReport, PropertyResult, Result, VariantReport
from checker.verdict import Covered, Judgement, Proved, Refuted, Runs, Verdict, title
from counterexamples.trace import Trace
from counterexamples.web.document import Cell, Chapter, Exhibit, Finding, Grid, Section, document
from spec.source import Source

if TYPE_CHECKING:
    from checker.crashpoints.crash_map import CrashMap
    from checker.crashpoints.points import Moment, Point


_POINTS_NOTE = "All runs with at most one fault, which strikes there."


def page(reports: Sequence[FileReport], options: Options) -> str:
    """The page's text.  How long it took is not in it: the same models and options give the same page."""
    line = tally(reports, options, 0.0).rpartition(" in ")[0]
    return document([_chapter(report, options) for report in reports], line)


def _chapter(report: FileReport, options: Options) -> Chapter:
    sources = list(dict.fromkeys(_sources(report)))
    files = _names(sources)
    told = tuple((files[source.name], source.text) for source in sources)
    sections = tuple(_Section(variant, report, options, sources, files).content() for variant in report.variants)
    return Chapter(report.name, report.doc, told, sections)


def _names(sources: Sequence[Source]) -> dict[str, str]:
    """What people see of each file's name: as little of its path as tells it from the others."""
    shown: dict[str, str] = {}
    for source in sources:
        parts = source.name.replace("\\", "/").split("/")
        for length in range(1, len(parts) + 1):
            name = "/".join(parts[-length:])
            if sum(f"/{other.name}".endswith(f"/{name}") for other in sources) == 1:
                break
        shown[source.name] = name
    return shown


def _sources(report: FileReport) -> Iterator[Source]:
    """The texts that the page may point into, the model's own first."""
    for variant in report.variants:
        if variant.model is None:
            continue
        for process in variant.model.processes:
            yield from (thread.span.source for thread in process.threads)
        yield from (declared.span.source for declared in variant.model.properties)
        yield from (scenario.span.source for scenario in variant.model.scenarios)
    for diagnostic in report.errors:
        if diagnostic.span is not None:
            yield diagnostic.span.source


class _Section:
    """The section of one variant, with the runs that it has collected so far."""

    def __init__(
        self,
        variant: VariantReport,
        report: FileReport,
        options: Options,
        sources: Sequence[Source],
        files: Mapping[str, str],
    ) -> None:
        self.variant = variant
        self.report = report
        self.options = options
        self.main = sources[0] if sources else None
        self.files = files
        self.exhibits: list[Exhibit] = []

    def content(self) -> Section:
        variant, report = self.variant, self.report
        findings = []
        for result in variant.results:
            first = len(self.exhibits)
            self.collect(result)
            places = tuple(range(first, len(self.exhibits)))
            findings.append(_finding(result, self.options, self.main, places))
        wrong = [*report.errors, *variant.errors, *report.warnings, *variant.warnings]
        told = [f"{diagnostic.code}: {diagnostic.message}" for diagnostic in wrong]
        told += [remark.message for remark in (*report.remarks, *variant.remarks)]
        told += [variant.cut_short] if variant.cut_short is not None else []
        told += [f"internal error: {failure.message}" for failure in (*report.failures, *variant.failures)]
        needed = [row for result in variant.properties for row in self.needed(result)]
        points = list(self.points(variant.crash_map)) if variant.crash_map is not None else []
        note = "Minimal sets of fault classes that break a property, and maximal ones under which it is proved."
        columns = ("property", "faults", "verdict", "evidence")
        return Section(
            variant.variant,
            variant.doc,
            str(variant.scope),
            tuple(findings),
            tuple(self.exhibits),
            (*((Grid("Which faults it takes", note, columns, tuple(needed)),) if needed else ()), *points),
            tuple(dict.fromkeys(told)),
        )

    def collect(self, result: Result) -> None:
        """The trace of a verdict, and those of the other fault sets that break the property."""
        verdict = result.verdict
        name = result.name if isinstance(result, PropertyResult) else None
        if isinstance(verdict, Runs):
            self.show(result.name, None, verdict, verdict.trace, "")
        if not isinstance(verdict, Refuted | Covered):
            return
        needs = result.needs if isinstance(result, PropertyResult) else None
        if needs is None:
            self.show(result.name, name, verdict, verdict.trace, "")
            return
        sets = {
            each.verdict.trace.events: (each.verdict, counted_name_of(each, needs.classes)) for each in needs.breaking
        }
        for found, faults in {verdict.trace.events: (verdict, ""), **sets}.values():
            self.show(result.name, name, found, found.trace, faults)

    def show(self, name: str, subject: str | None, verdict: Verdict, trace: Trace, faults: str) -> None:
        explanation = explained(trace, subject)
        self.exhibits.append(Exhibit(name, subject, title(verdict), faults, trace, explanation, self.files))

    def needed(self, result: PropertyResult) -> Iterator[tuple[Cell, ...]]:
        """The sets of fault classes that break a property, each with its run, and those under which it holds."""
        needs = result.needs
        if needs is None:
            return
        shown = {(exhibit.property, exhibit.trace.events): place for place, exhibit in enumerate(self.exhibits)}
        for broken in needs.breaking:
            exhibit = shown.get((result.name, broken.verdict.trace.events))
            verdict = Cell("REFUTED", "bad", exhibit)
            yield self.row(result, counted_name_of(broken, needs.classes), verdict, describe(broken.verdict))
        for kept in needs.tolerated:
            yield self.row(result, counted_name_of(kept, needs.classes), Cell("PROVED", "good"), describe(kept.verdict))
        for unknown in needs.undecided:
            yield self.row(result, counted_name_of(unknown, needs.classes), Cell("UNDECIDED", "doubt"), needs.reason)

    def points(self, found: CrashMap) -> Iterator[Grid]:
        """For each property that holds without a fault, and that some single fault breaks or leaves undecided: what a
        fault at each moment of each step does to it."""
        from checker.crashpoints.points import MOMENTS
        from checker.crashpoints.report import place

        safe = []
        for name in found.properties:
            if isinstance(found.base[name], Refuted):
                continue
            rows: list[tuple[Cell, ...]] = []
            for point in found.points:
                cells = [self.moment(found, point, moment, name) for moment in MOMENTS]
                rows.append((Cell(place(found, point)), *cells))
            if all(cell.tone in ("", "good") for row in rows for cell in row):
                safe.append(name)
                continue
            columns = ("step", *(moment.value for moment in MOMENTS))
            yield Grid(f"{name}: which step is dangerous", _POINTS_NOTE, columns, tuple(rows))

        if safe:
            yield Grid(f"No step is dangerous for {', '.join(safe)}", _POINTS_NOTE, (), ())

    def moment(self, found: CrashMap, point: Point, moment: Moment, name: str) -> Cell:
        from checker.crashpoints.crash_map import Effect

        result = found.result(point, moment)
        if result.absence is not None:
            return Cell(result.absence.value)
        effect = result.effect(name)
        if effect is Effect.NONE:
            return Cell("proved" if result.struck is not False else "proved: no run has it", "good")
        refuted = result.trace(name)
        if refuted is None:
            return Cell("undecided", "doubt")
        known = [i for i, e in enumerate(self.exhibits) if (e.property, e.trace.events) == (name, refuted.trace.events)]
        if not known:
            known = [len(self.exhibits)]
            self.show(name, name, refuted, refuted.trace, f"{moment.value}: {point.process}.{point.thread}")
        told = "refuted, when something else is going on" if effect is Effect.TOGETHER else "refuted"
        return Cell(told, "doubt" if effect is Effect.TOGETHER else "bad", known[0])

    def row(self, result: PropertyResult, faults: str, verdict: Cell, evidence: str) -> tuple[Cell, ...]:
        return Cell(result.name), Cell(faults), verdict, Cell(evidence)


def _finding(result: Result, options: Options, main: Source | None, exhibits: tuple[int, ...]) -> Finding:
    verdict = result.verdict
    proof: tuple[str, ...] = ()
    if isinstance(verdict, Proved) and isinstance(verdict.certificate, InvariantCertificate | RoundsCertificate):
        proof = tuple(map(str, verdict.certificate.told()))
    form = result.form.value if isinstance(result, PropertyResult) else "scenario"
    line = None if result.span is None or result.span.source is not main else result.span.line
    return Finding(
        result.name,
        form,
        title(verdict),
        _tone(result, options),
        describe(verdict),
        _expected(result),
        result.doc,
        line,
        proof,
        exhibits,
    )


def _tone(result: Result, options: Options) -> str:
    """`good` where all is as expected, and where nothing is expected and nothing is refuted."""
    match result.code(options):
        case ExitCode.MET:
            return "bad" if isinstance(result.verdict, Refuted) else "good"
        case ExitCode.REFUTED:
            return "bad"
        case _:
            return "doubt"


def _expected(result: Result) -> str:
    told = []
    for judged in result.judged:
        mark = {Judgement.MET: "as expected", Judgement.NOT_JUDGED: "not judged"}
        told.append(mark.get(judged.judgement, f"{judged.judgement.value}: {judged.expectation.verb.value}"))
    return ", ".join(dict.fromkeys(told))


__all__ = ["page"]
