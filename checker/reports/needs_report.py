"""Which faults it takes, as text: a block for each variant, and a table of findings and their fault sets for a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.needs.needs import FaultSet, Needs, counted_name_of, counted_names_of
from checker.reports.evidence import plural
from checker.result import FileReport, PropertyResult, VariantReport
from checker.verdict import Judgement
from counterexamples.render.page import Page, Piece, Style, cells, pad

_WIDEST_NAME = 36


def block(variant: VariantReport, everything: bool, page: Page) -> Iterator[str]:
    """For each property what breaks it and what it is safe under.  everything: those too of which nothing else is
    expected."""
    shown = [(result, result.needs) for result in variant.properties if everything or _is_amiss(result)]
    rows = [(result.name, list(_told(needs))) for result, needs in shown if needs is not None]
    yield from named_rows("which faults it takes", rows, page)


def named_rows(heading: str, rows: Sequence[tuple[str, list[Piece]]], page: Page) -> Iterator[str]:
    """A heading, and under it each name beside its texts; nothing when there are no rows."""
    if not rows:
        return
    yield page.line([(f"    {heading}", Style.DIM)])
    width = min(_WIDEST_NAME, max(cells(name) for name, _ in rows))
    room = max(20, page.columns - width - 8)
    for name, told in rows:
        first = True
        for text, style in told:
            for part in page.wrap(page.clean(text), room):
                label = pad(page.cut(page.clean(name) if first else "", width), width)
                yield page.line([(f"      {label}  ", Style.PLAIN), (part, style)])
                first = False


def overview(reports: Sequence[FileReport], page: Page) -> str:
    """All properties that can be broken, each with the fault sets that it takes; empty when there are fewer than two.
    With several models each is named above its own."""
    rows: list[tuple[str, str]] = []
    findings = 0
    for report in reports:
        before = len(rows)
        for variant in report.variants:
            for result in variant.properties:
                needs = result.needs
                if needs is None or (not needs.breaking and needs.complete):
                    continue
                finding = f"{variant.variant} {result.name}" if variant.variant else result.name
                sets = counted_names_of(needs.breaking, needs.classes) if needs.breaking else ""
                rows.append((f"  {finding}", sets if needs.complete else f"{sets} (not complete)".strip()))
                findings += 1
        if len(rows) > before and len(reports) > 1:
            rows.insert(before, (report.name, ""))
    if findings < 2:
        return ""
    left = min(page.columns // 2, max(cells(finding) for finding, _ in rows))
    lines = [page.line([(pad("finding", left), Style.BOLD), ("  needs", Style.BOLD)])]
    for finding, sets in rows:
        label = pad(page.cut(page.clean(finding), left), left)
        parts = page.wrap(page.clean(sets), max(20, page.columns - left - 2)) or [""]
        for place, part in enumerate(parts):
            head: Piece = (label if place == 0 else " " * left, Style.PLAIN)
            lines.append(page.line([head, (f"  {part}", Style.PLAIN)]))
    return "\n".join(lines) + "\n"


def expected(sets: Sequence[FaultSet] | None) -> str:
    """` needs {..}` behind the verdict that is expected."""
    return "" if sets is None else " needs " + " | ".join("{" + ", ".join(sorted(map(str, s))) + "}" for s in sets)


def _is_amiss(result: PropertyResult) -> bool:
    amiss = (Judgement.MISSED, Judgement.INCONCLUSIVE)
    return any(judged.judgement in amiss and judged.expectation.needs is not None for judged in result.judged)


def _told(needs: Needs) -> Iterator[tuple[str, Style]]:
    classes = needs.classes
    everything = frozenset(classes)
    for place, each in enumerate(needs.breaking):
        steps = plural(len(each.verdict.trace), "step") + ("" if each.verdict.shortest else " at most")
        if not each.faults:
            yield f"breaks without any fault, {steps}", Style.FAULT
            continue
        doubt = "" if each.minimal else "; smaller sets are undecided"
        word = "breaks with" if place == 0 else "or"
        yield f"{word} {counted_name_of(each, classes)}, {steps}{doubt}", Style.FAULT
    safe = [each.faults for each in needs.tolerated]
    if safe == [everything]:
        yield ("safe under all of them" if classes else "safe; there are no faults"), Style.GOOD
    elif safe == [frozenset()]:
        yield "safe without faults only", Style.PLAIN
    elif safe:
        names = counted_names_of(needs.tolerated, classes)
        several = len(safe) > 1 or needs.tolerated[0].orbit > 1
        yield f"safe under any of {names}" if several else f"safe under {names}", Style.GOOD
    if needs.undecided:
        names = ", ".join(counted_name_of(each, classes) for each in needs.undecided[:8])
        more = f" and {len(needs.undecided) - 8} more" if len(needs.undecided) > 8 else ""
        yield f"undecided for {names}{more}: {needs.reason}", Style.DOUBT
