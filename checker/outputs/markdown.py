"""Results as Markdown, for the summary of a CI job or a comment: verdicts, which faults it takes, runs as Mermaid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from checker.exitcode import ExitCode
from checker.needs.needs import Breaking, Needs, Tolerated, counted_name_of
from checker.options import Options
from checker.reports.evidence import describe
from checker.reports.explanation import explained
from checker.reports.tally import tally
from checker.result import FileReport, PropertyResult, Result, VariantReport
from checker.verdict import Refuted, title
from counterexamples.render.mermaid import to_mermaid
from spec.diagnostic import Diagnostic

MOST_CHARACTERS = 900_000
"""GitHub drops a job summary of more than a mebibyte."""
_LONGEST_RUN = 60
"""A longer run is not drawn."""
_MARKS = {ExitCode.MET: "✅", ExitCode.REFUTED: "❌", ExitCode.INCONCLUSIVE: "❔"}


def markdown(reports: Sequence[FileReport], options: Options, seconds: float) -> str:
    """The text.  Runs are drawn for what is not as it should be, and folded away for what is refuted as expected; they
    are left out from where the text would be too long, and a line says so."""
    found: list[str] = [f"## Counterpoint\n\n{_escaped(tally(reports, options, seconds))}\n\n"]
    size = len(found[0])
    for report in reports:
        for part, optional in _file(report, options):
            if size + len(part) > MOST_CHARACTERS:
                if not optional:
                    found.append("\nThe rest is left out: it is too long.\n")
                    return "".join(found)
                part = "_A run is left out: this would be too long._\n\n"
            found.append(part)
            size += len(part)
    return "".join(found)


def _file(report: FileReport, options: Options) -> Iterator[tuple[str, bool]]:
    yield f"### {_escaped(report.name)}\n\n", False
    errors = [*report.errors, *(error for variant in report.variants for error in variant.errors)]
    if errors:
        yield "".join(map(_error, errors)) + "\n", False
    failures = [failure.message for failure in report.all_failures()]
    if failures:
        yield "".join(f"- 💥 internal error: {_escaped(message)}\n" for message in failures) + "\n", False
    if any(variant.results for variant in report.variants):
        rows = "".join(_row(variant, result, options) for variant in report.variants for result in variant.results)
        yield f"| | variant | property | verdict | evidence |\n| --- | --- | --- | --- | --- |\n{rows}\n", False
    short = [variant for variant in report.variants if variant.cut_short is not None and variant.begun]
    if short:
        yield (
            "".join(f"- ❔ {_escaped(f'{v.variant or report.name}: cut short: {v.cut_short}')}\n" for v in short)
            + "\n",
            False,
        )
    tolerance = "".join(_needs(v, r) for v in report.variants for r in v.properties if r.needs is not None)
    if tolerance:
        head = "| variant | property | broken by | safe under |\n| --- | --- | --- | --- |\n"
        yield f"{head}{tolerance}\n", False
    for variant in report.variants:
        for result in variant.results:
            if isinstance(result.verdict, Refuted):
                yield _run(variant, result, result.verdict, options), True


def _error(error: Diagnostic) -> str:
    place = "" if error.span is None else f"{error.span!r}: "
    return f"- ❌ `{error.code}` {_escaped(place + error.message)}\n"


def _row(variant: VariantReport, result: Result, options: Options) -> str:
    mark = _MARKS.get(result.code(options), "💥")
    missed = [j for j in result.judged if j.judgement.value in ("missed", "inconclusive")]
    wanted = "".join(f" (expected: {judged.expectation.verb.value})" for judged in missed)
    cells = (variant.variant or "", result.name, title(result.verdict) + wanted, describe(result.verdict))
    return f"| {mark} | " + " | ".join(map(_escaped, cells)) + " |\n"


def _needs(variant: VariantReport, result: PropertyResult) -> str:
    needs = result.needs
    assert needs is not None
    broken = _sets(needs, needs.breaking) or "never"
    safe = _sets(needs, needs.tolerated) or "nothing"
    open_sets = " or ".join(_escaped(counted_name_of(each, needs.classes)) for each in needs.undecided)
    unknown = "" if needs.complete else f" (undecided: {open_sets})"
    return f"| {_escaped(variant.variant or '')} | {_escaped(result.name)} | {broken}{unknown} | {safe} |\n"


def _sets(needs: Needs, sets: Iterable[Breaking | Tolerated]) -> str:
    return " or ".join(_escaped(counted_name_of(each, needs.classes)) for each in sets)


def _run(variant: VariantReport, result: Result, verdict: Refuted, options: Options) -> str:
    named = f"{result.name} ({variant.variant})" if variant.variant else result.name
    if len(verdict.trace) > _LONGEST_RUN:
        return f"_The run of {_escaped(named)} has {len(verdict.trace)} steps and is not drawn._\n\n"
    name = result.name if isinstance(result, PropertyResult) else None
    diagram = to_mermaid(explained(verdict.trace, name))
    opened = "" if result.code(options) is ExitCode.MET else " open"
    head = f"<details{opened}><summary>{_escaped(f'{named}: {describe(verdict)}')}</summary>"
    return f"{head}\n\n```mermaid\n{diagram}```\n\n</details>\n\n"


_BREAK = "\u200b"
"""Shows nothing, and ends what hosts would take for a mention or the beginning of a link."""
_LINKED = re.compile(r"(?:https?|ftp|mailto|xmpp):|www(?=\.)|\\#(?=\d)|\bgh(?=-\d)", re.IGNORECASE)
_SIGNS = {sign: f"\\{sign}" for sign in "\\`*_{}[]()#+!|~"} | {
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    "@": f"@{_BREAK}",
}


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line of a table, with nothing that notifies people or makes links."""
    escaped = "".join(_SIGNS.get(c, c) if c.isprintable() else _strange(c) for c in text)
    return _LINKED.sub(lambda match: f"{match[0]}{_BREAK}", escaped)


def _strange(c: str) -> str:
    return " " if c in "\n\t" else f"\\{c.encode('unicode_escape').decode('ascii')}"


__all__ = ["MOST_CHARACTERS", "markdown"]
