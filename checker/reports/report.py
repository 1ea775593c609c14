"""What a check has found, as text: a table for each variant, and under it the traces and what is amiss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.exitcode import ExitCode
from checker.lowering.properties import STUCK_THREADS
from checker.needs.needs import Needs, counted_name_of
from checker.options import Options
from checker.remark import Remark
from checker.reports import fairness_report, needs_report, reasons
from checker.reports.evidence import describe, how_checked, plural
from checker.reports.explanation import explained
from checker.result import FileReport, PropertyResult, Result, VariantReport
from checker.verdict import Covered, Judgement, Proved, Refuted, Runs, Undecided, title
from counterexamples.explain import Explanation, Kind
from counterexamples.render import text, wording
from counterexamples.render.page import Page, Piece, Style, cells, pad
from spec.snippet import draw
from spec.typed import ExpectationVerb


@dataclass(frozen=True)
class View:
    """How much a report shows.

    trace    "full", "short" (one line a step), "none", or "auto": in full what was not expected, in a `focused` report
             whatever is refuted
    focused  one file, or single properties, were asked for
    quiet    only what keeps the exit code from being 0
    why      of each proof: its invariant in words, and what it relies on
    """

    trace: str = "auto"
    focused: bool = False
    quiet: bool = False
    why: bool = False


_COLOURS = {
    "PROVED": Style.GOOD,
    "REACHED": Style.GOOD,
    "RUNS": Style.BOLD,
    "REFUTED": Style.FAULT,
    "UNREACHABLE": Style.FAULT,
    "NOT A RUN": Style.BOLD,
}

_WIDEST_NAME = 36
_NARROWEST_EVIDENCE = 30
_MOST_WARNINGS = 10


def render(report: FileReport, options: Options, view: View, page: Page) -> str:
    """The report on one file; empty when `view.quiet` and there is nothing to say."""
    lines: list[str] = []
    if view.quiet and report.code(options) is ExitCode.MET:
        return ""
    lines.append(_title(report, page))
    for diagnostic in report.errors:
        lines += ["", draw(diagnostic, page.colour).rstrip("\n")]
    widths = _widths(report, options, view)
    for variant in report.variants:
        if not view.quiet or variant.code(options) is not ExitCode.MET:
            lines += _variant(variant, options, view, page, widths)
    if not view.quiet or options.strict:
        lines += _remarks(report.remarks, page)
        for diagnostic in report.warnings[:_MOST_WARNINGS]:
            lines += ["", draw(diagnostic, page.colour).rstrip("\n")]
        if len(report.warnings) > _MOST_WARNINGS:
            more = plural(len(report.warnings) - _MOST_WARNINGS, "more warning")
            lines += ["", page.line([(f"and {more} (--json lists them all)", Style.DIM)])]
    for failure in report.failures:
        lines.append(page.line([("  internal error: ", Style.FAULT), (page.clean(failure.message), Style.PLAIN)]))
    single = [line for place, line in enumerate(lines) if line or (place and lines[place - 1])]
    return "\n".join(single).rstrip("\n") + "\n"


def first_sentence(doc: str) -> str:
    """The first sentence of a documentation comment, on one line."""
    paragraph = " ".join(doc.strip().split("\n\n")[0].split())
    head, stop, _ = paragraph.partition(". ")
    return head + ("." if stop else "")


def _title(report: FileReport, page: Page) -> str:
    name = page.clean(report.name)
    doc = page.clean(first_sentence(report.doc))
    room = page.columns - cells(name) - 2
    if doc and room >= 20:
        return page.line([(name, Style.BOLD), ("  ", Style.PLAIN), (page.cut(doc, room), Style.PLAIN)])
    return page.line([(name, Style.BOLD)])


@dataclass(frozen=True)
class _Widths:
    name: int
    form: int
    verdict: int


def _widths(report: FileReport, options: Options, view: View) -> _Widths:
    results = [r for v in report.variants for r in v.results if _is_shown(r, options, view)]
    return _Widths(
        min(_WIDEST_NAME, max((cells(r.name) for r in results), default=0)),
        max((len(_form(r)) for r in results), default=0),
        max((len(title(r.verdict)) for r in results), default=0),
    )


def _is_shown(result: Result, options: Options, view: View) -> bool:
    return not view.quiet or result.code(options) is not ExitCode.MET


def _form(result: Result) -> str:
    return result.form.value if isinstance(result, PropertyResult) else "scenario"


def _variant(variant: VariantReport, options: Options, view: View, page: Page, widths: _Widths) -> Iterator[str]:
    if variant.variant is not None or variant.doc:
        head: list[Piece] = [("  ", Style.PLAIN), (page.clean(variant.variant or ""), Style.BOLD)]
        doc = page.clean(first_sentence(variant.doc))
        room = page.columns - 4 - cells(variant.variant or "")
        if doc and room >= 20:
            head += [("  ", Style.PLAIN), (page.cut(doc, room), Style.DIM)]
        yield page.line(head)
    for diagnostic in variant.errors:
        yield from ("", draw(diagnostic, page.colour).rstrip("\n"))
    if options.faults is not None or options.max_faults is not None:
        yield page.line([("    against ", Style.DIM), (page.clean(str(variant.scope)), Style.DIM)])
    yield from _cut_short(variant, page)
    if not variant.begun:
        return
    for result in variant.results:
        if _is_shown(result, options, view):
            yield from _row(result, options, page, widths)
    if not view.quiet:
        told = how_checked(result.verdict for result in variant.results)
        for part in page.wrap(page.clean(told), page.columns - 4) if told else ():
            yield page.line([("    ", Style.PLAIN), (part, Style.DIM)])
    if view.why and variant.decided is not None and not view.quiet:
        yield from _kept(variant.decided, page)
    yield from needs_report.block(variant, options.needs and not view.quiet, page)
    if options.fairness and not view.quiet:
        yield from fairness_report.block(variant, page)
    if variant.crash_map is not None and not view.quiet:
        from checker.crashpoints.report import render as render_map

        yield ""
        yield page.line([("    which step is dangerous, with a single fault", Style.BOLD)])
        yield from render_map(variant.crash_map, None, page).splitlines()
    if not view.quiet or options.strict:
        yield from _remarks(variant.remarks, page)
    for failure in variant.failures:
        yield page.line([("    internal error: ", Style.FAULT), (page.clean(failure.message), Style.PLAIN)])
    if (view.why or view.trace == "full") and not view.quiet:
        for result in variant.properties:
            if result.name != STUCK_THREADS or STUCK_THREADS in options.properties:
                yield from reasons.block(result, view.why, page)
    for result in variant.results:
        yield from _trace(result, options, view, page)
        if isinstance(result, PropertyResult) and result.needs is not None and view.trace in ("full", "short"):
            yield from _needed(result, result.needs, view.trace, page)


def _cut_short(variant: VariantReport, page: Page) -> Iterator[str]:
    """Why not all was done, unless a verdict says it."""
    reason = variant.cut_short
    if reason is None or (variant.begun and any(r.verdict == Undecided(reason) for r in variant.results)):
        return
    first, *rest = page.wrap(page.clean(f"cut short: {reason}" if variant.begun else reason), page.columns - 4)
    yield page.line([("  ? ", Style.DOUBT), (first, Style.DOUBT)])
    for part in rest:
        yield page.line([("    ", Style.PLAIN), (part, Style.DOUBT)])


def _kept(decided: str, page: Page) -> Iterator[str]:
    """What a report from the cache rests on now."""
    told = (
        f"decided earlier, on {decided[:10]} at {decided[11:16]} UTC, and kept in the cache: runs were walked and "
        "invariants checked again now, closed sets then"
    )
    for part in page.wrap(page.clean(told), page.columns - 4):
        yield page.line([("    ", Style.PLAIN), (part, Style.DIM)])


def _row(result: Result, options: Options, page: Page, widths: _Widths) -> Iterator[str]:
    mark, mark_style = _mark(result, options, page)
    name = page.clean(result.name)
    word = title(result.verdict)
    start: list[Piece] = [
        ("  ", Style.PLAIN),
        (mark, mark_style),
        (" ", Style.PLAIN),
        (pad(page.cut(name, widths.name), widths.name), Style.PLAIN),
        ("  ", Style.PLAIN),
        (pad(_form(result), widths.form), Style.DIM),
        ("  ", Style.PLAIN),
        (pad(word, widths.verdict), _COLOURS.get(word, Style.DOUBT)),
        ("  ", Style.PLAIN),
    ]
    indent = 4 + widths.name + 2 + widths.form + 2 + widths.verdict + 2
    evidence = describe(result.verdict)
    if isinstance(result, PropertyResult) and not options.fairness:
        evidence += fairness_report.repaired(result)
    evidence = page.clean(evidence)
    room = page.columns - indent
    if room >= _NARROWEST_EVIDENCE:
        first, *rest = page.wrap(evidence, room)
        yield page.line([*start, (first, Style.PLAIN)])
    else:
        yield page.line(start)
        indent, room = 8, page.columns - 8
        rest = page.wrap(evidence, room)
    for part in rest:
        yield page.line([(" " * indent, Style.PLAIN), (part, Style.PLAIN)])
    for judged in result.judged:
        if judged.judgement in (Judgement.MISSED, Judgement.INCONCLUSIVE):
            style = Style.FAULT if judged.judgement is Judgement.MISSED else Style.DOUBT
            needs = needs_report.expected(judged.expectation.needs)
            told = f"expected: {_WANTED[judged.expectation.verb]}{needs} ({judged.judgement.value})"
            for part in page.wrap(page.clean(told), room):
                yield page.line([(" " * indent, Style.PLAIN), (part, style)])


_WANTED = {
    ExpectationVerb.PROVES: "PROVED",
    ExpectationVerb.REFUTES: "REFUTED",
    ExpectationVerb.REACHES: "REACHED",
    ExpectationVerb.RUNS: "RUNS",
    ExpectationVerb.FORBIDS: "NOT A RUN",
}


def _mark(result: Result, options: Options, page: Page) -> Piece:
    stated = [j for j in result.judged if j.judgement is not Judgement.NOT_JUDGED]
    match result.code(options):
        case ExitCode.MET if stated or isinstance(result.verdict, Proved | Covered):
            return ("✓" if page.unicode else "+"), Style.GOOD
        case ExitCode.MET:
            return ("·" if page.unicode else "."), Style.DIM
        case ExitCode.INCONCLUSIVE:
            return "?", Style.DOUBT
        case _:
            return ("✗" if page.unicode else "x"), Style.FAULT


def _remarks(remarks: Sequence[Remark], page: Page) -> Iterator[str]:
    for remark in remarks:
        place = "" if remark.span is None else f" ({remark.span.source.name}:{remark.span.line})"
        first, *rest = page.wrap(page.clean(f"{remark.message}{place}"), page.columns - 13)
        yield page.line([("  ! ", Style.DOUBT), ("warning: ", Style.DOUBT), (first, Style.PLAIN)])
        for part in rest:
            yield page.line([(" " * 13, Style.PLAIN), (part, Style.PLAIN)])


def _trace(result: Result, options: Options, view: View, page: Page) -> Iterator[str]:
    detail = _detail(result, options, view)
    verdict = result.verdict
    if detail == "none":
        return
    trace = None
    if isinstance(verdict, Refuted | Covered | Runs):
        trace = verdict.trace
    if trace is None:
        return
    explanation = explained(trace, result.name if isinstance(verdict, Refuted | Covered) else None)
    yield ""
    if detail == "short":
        yield page.line([(f"  {page.clean(result.name)}", Style.BOLD)])
        yield from _short(explanation, page)
    elif isinstance(verdict, Runs):
        yield page.line([(f"  {page.clean(result.name)}", Style.BOLD), ("  a run that follows it", Style.DIM)])
        yield text.render_steps(explanation, page).rstrip("\n")
    else:
        yield text.render(explanation, page).rstrip("\n")
    yield ""


def _needed(result: PropertyResult, needs: Needs, detail: str, page: Page) -> Iterator[str]:
    """A trace for each minimal fault set."""
    for each in needs.breaking:
        explanation = explained(each.verdict.trace, result.name)
        name = f"  with {counted_name_of(each, needs.classes)}"
        yield ""
        yield page.line([(f"  {page.clean(result.name)}", Style.BOLD), (page.clean(name), Style.DIM)])
        if detail == "short":
            yield from _short(explanation, page)
        else:
            yield text.render(explanation, page).rstrip("\n")
        yield ""


def _short(explanation: Explanation, page: Page) -> Iterator[str]:
    """Each step on one line."""
    actors = {step.number: page.clean(wording.actor(explanation.model, step)) for step in explanation.steps}
    column = min(page.columns // 3, max(map(cells, actors.values()), default=0))
    for step in explanation.steps:
        told = page.clean(" ".join(filter(None, (wording.action(step), wording.ending(step), wording.strike(step)))))
        style = Style.FAULT if step.kind is Kind.FAULT else Style.PLAIN
        actor = pad(page.cut_left(actors[step.number], column), column)
        text_room = page.columns - column - 8
        yield page.line(
            [(f" {step.number:>3}  ", Style.DIM), (f"{actor}  ", style), (page.cut(told, text_room), style)]
        )


def _detail(result: Result, options: Options, view: View) -> str:
    """ "full", "short" or "none"."""
    if view.trace != "auto":
        return view.trace
    if result.code(options) is ExitCode.REFUTED:
        return "full"
    asked = result.name in options.properties
    if asked or (view.focused and not options.needs and isinstance(result.verdict, Refuted)):
        return "full"
    return "none"


def hint(reports: Sequence[FileReport], options: Options, view: View) -> str | None:
    """How to see the traces that a report leaves out; None when it leaves none out."""
    for report in reports:
        for variant in report.variants:
            for result in variant.results:
                if (
                    isinstance(result.verdict, Refuted)
                    and _detail(result, options, view) == "none"
                    and view.trace == "auto"
                ):
                    chosen = f" --variant {variant.variant}" if variant.variant else ""
                    return f"to see a trace: counterpoint check {report.name}{chosen} --property {result.name}"
    return None
