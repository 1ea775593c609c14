"""A sweep on the terminal: tables, what they say in words, and what is amiss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.options import Options
from checker.reports.evidence import plural
from checker.reports.report import first_sentence
from checker.sweeps.arrangement import shown, tables
from checker.sweeps.cell import Answer
from checker.sweeps.finding import Finding, asked_for, finding, largest, placed, slowest
from checker.sweeps.sweep import Outcome, Sweep
from checker.sweeps.table import legend, sign
from checker.sweeps.table import render as render_table
from counterexamples.render.page import Page, Style, cells
from spec.diagnostic import Diagnostic
from spec.snippet import draw


def render(sweep: Sweep, model: str, asked: Options, page: Page) -> str:
    """The whole report, ending in a newline.  model: as the user named it; asked: what is the same at every point."""
    found = list(tables(sweep))
    lines = [*_heading(sweep, page), ""]
    before: object = None
    for table in found:
        if table.subject is not None and table.subject != before:
            before = table.subject
            lines.append(
                page.line([(f"  {page.clean(table.subject.name)}", Style.BOLD), (f"  {table.subject.form}", Style.DIM)])
            )
        lines += [*render_table(table, page), ""]
    lines += [*legend(found, page), ""]
    tabled, plain = shown(sweep)
    if any(not outcome.rejected for outcome in sweep.outcomes.values()):
        lines.append(page.line([("  in this grid", Style.BOLD)]))
        for subject in tabled:
            lines += _finding(sweep, finding(sweep, subject, model, asked), page)
        for subject in plain:
            lines += _finding(sweep, finding(sweep, subject, model, asked), page)
        lines.append("")
    lines += _rejections(sweep, page)
    lines += _remarks(sweep, page)
    lines += _costs(sweep, page)
    single = [line for place, line in enumerate(lines) if line or (place and lines[place - 1])]
    return "\n".join(single).rstrip("\n") + "\n\n"


def _heading(sweep: Sweep, page: Page) -> Iterator[str]:
    name = page.clean(sweep.model)
    doc = page.clean(first_sentence(sweep.doc))
    room = page.columns - cells(name) - 2
    more = [(f"  {page.cut(doc, room)}", Style.PLAIN)] if doc and room >= 20 else []
    yield page.line([(name, Style.BOLD), *more])
    for told in asked_for(sweep):
        for part in page.wrap(page.clean(told), page.columns - 2):
            yield page.line([("  ", Style.PLAIN), (part, Style.PLAIN)])


def _finding(sweep: Sweep, found: Finding, page: Page) -> Iterator[str]:
    sentences = list(found.sentences)
    if len(found.accounts) > 1 and len(sentences) > 1:
        yield from _wrapped(f"{found.subject.name}:", page, 4, Style.PLAIN, 6)
    else:
        yield from _wrapped(f"{found.subject.name}: {sentences.pop(0)}", page, 4, Style.PLAIN, 6)
    for sentence in sentences:
        yield from _wrapped(sentence, page, 6, Style.PLAIN, 8)
    for reason, points in found.reasons.items():
        # Where there is one reason, the sentences have said where it goes for.
        where = placed(sweep, points) if len(found.reasons) > 1 else ""
        yield from _wrapped(f"? {reason}{where}", page, 6, Style.DOUBT, 8)
    if found.smallest is not None:
        cell = found.smallest.cell
        faults = f", {plural(len(cell.faults), 'fault')}: {_counted(cell.faults)}" if cell.faults else ", no fault"
        where = sweep.grid.name(found.smallest.point)
        told = f"smallest refutation: {where}{': ' if where else ''}{cell.evidence}{faults}"
        yield from _wrapped(told, page, 6, Style.PLAIN, 8)
        # Not wrapped: it is there to be copied.
        yield page.line([("      ", Style.PLAIN), (page.clean(found.smallest.command), Style.DIM)])


def _counted(faults: Sequence[str]) -> str:
    counts = {name: faults.count(name) for name in dict.fromkeys(faults)}
    return ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts.items())


def _rejections(sweep: Sweep, page: Page) -> Iterator[str]:
    """The points that the model rejects, and for each reason one message."""
    groups: dict[tuple[str, object], list[Outcome]] = {}
    for outcome in sweep.rejected:
        groups.setdefault((outcome.errors[0].code, outcome.errors[0].span), []).append(outcome)
    for group in groups.values():
        points = placed(sweep, [outcome.point for outcome in group])
        mark = sign(Answer.REJECTED, page.unicode)
        told = f"{mark} {plural(len(group), 'point')} rejected by the model{points}"
        yield from _wrapped(told, page, 2, Style.DOUBT, 4)
        yield ""
        yield from _drawn(group[0].errors, page)
        yield ""


def _drawn(errors: Sequence[Diagnostic], page: Page) -> Iterator[str]:
    for error in errors:
        yield from draw(error, page.colour).rstrip("\n").split("\n")


def _remarks(sweep: Sweep, page: Page) -> Iterator[str]:
    for message, points in sweep.remarks().items():
        yield from _wrapped(f"! warning: {message}{placed(sweep, points)}", page, 2, Style.DOUBT, 4)


def _costs(sweep: Sweep, page: Page) -> Iterator[str]:
    shared = sum(outcome.same_as is not None for outcome in sweep.outcomes.values())
    if shared:
        told = f"{plural(shared, 'point')} took no check: the model is the same as at another one"
        yield from _wrapped(told, page, 2, Style.DIM, 4)
    found = largest(sweep)
    if found is not None:
        told = f"most states: {found[1]:,} at {sweep.grid.name(found[0])}"
        yield from _wrapped(told, page, 2, Style.DIM, 4)
    slow = slowest(sweep)
    if slow:
        told = "; ".join(f"{sweep.grid.name(outcome.point)} in {outcome.seconds:.1f} s" for outcome in slow)
        yield from _wrapped(f"slowest: {told}", page, 2, Style.DIM, 4)


def _wrapped(text: str, page: Page, indent: int, style: Style, hanging: int) -> Iterator[str]:
    first, *rest = page.wrap(page.clean(text), page.columns - hanging)
    yield page.line([(" " * indent, Style.PLAIN), (first, style)])
    for part in rest:
        yield page.line([(" " * hanging, Style.PLAIN), (part, style)])
