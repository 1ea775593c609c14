"""Which fairness `live` properties take, as text: a block for each variant, and a phrase for the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.liveness.assumptions import Assumption
from checker.liveness.fairness_needs import Needed, Relied, Repairs
from checker.reports.evidence import lasso_length, plural
from checker.reports.needs_report import named_rows
from checker.result import FileReport, PropertyResult, VariantReport
from checker.verdict import Proved
from counterexamples.render.page import Page, Style
from spec.typed import Fairness, PropertyForm


def block(variant: VariantReport, page: Page) -> Iterator[str]:
    """For each `live` property what its proof assumes, or what would repair it."""
    rows = [(result.name, list(_told(result))) for result in variant.properties if result.fairness is not None]
    yield from named_rows("which fairness it takes", rows, page)


def repaired(result: PropertyResult) -> str:
    """`; proved if Server.sweep were strongly fair`, behind the evidence of a refutation; empty when no repair is
    known."""
    if not isinstance(result.fairness, Repairs) or not result.fairness.found:
        return ""
    repair = result.fairness.found[0]
    return f"; proved if {_would_be(repair.assumption, repair.fairness)}"


def hint(reports: Sequence[FileReport]) -> str | None:
    """How to see what the proofs of `live` properties assume; None where there is none, or it was shown."""
    for report in reports:
        for variant in report.variants:
            for result in variant.properties:
                if result.form is PropertyForm.LIVE and isinstance(result.verdict, Proved) and result.fairness is None:
                    chosen = f" --variant {variant.variant}" if variant.variant else ""
                    command = f"counterpoint check {report.name}{chosen} --property {result.name} --fairness"
                    return f"which fairness a proof assumes: {command}"
    return None


def _told(result: PropertyResult) -> Iterator[tuple[str, Style]]:
    match result.fairness:
        case Relied() as relied:
            yield from _relied(relied)
        case Repairs() as repairs:
            yield from _repairs(repairs)


def _relied(relied: Relied) -> Iterator[tuple[str, Style]]:
    for place, each in enumerate(relied.sets):
        word = "proved with" if place == 0 else "or with"
        if each.needed:
            named = ", ".join(f"{needed.assumption} {needed.fairness.value}" for needed in each.needed)
            yield f"{word} {named}", Style.GOOD
            for needed in each.needed:
                yield f"  {_without(needed)}", Style.DIM
        else:
            yield "proved without any fairness", Style.GOOD
    if not relied.complete:
        what = "other sets are not known" if relied.sets else "not decided"
        yield f"{what}: {relied.reason}", Style.DOUBT


def _without(needed: Needed) -> str:
    least = "weakly fair" if needed.fairness is Fairness.STRONG else "unfair"
    return f"{needed.assumption} {least}: {lasso_length(needed.without.trace)}"


def _repairs(repairs: Repairs) -> Iterator[tuple[str, Style]]:
    for place, repair in enumerate(repairs.found):
        word = "proved if" if place == 0 else "or if"
        yield f"{word} {_would_be(repair.assumption, repair.fairness)}", Style.PLAIN
    for assumption, fair, reason in repairs.open:
        yield f"not known if {_would_be(assumption, fair)}: {reason}", Style.DOUBT
    if not repairs.found and not repairs.open:
        tried = f" ({plural(repairs.tried, 'change')} tried)" if repairs.tried else ""
        yield f"no more fairness of one thread, recovery or request repairs it{tried}", Style.PLAIN


def _would_be(assumption: Assumption, fair: Fairness) -> str:
    return f"{assumption} were {fair.value}"


__all__ = ["block", "hint", "repaired"]
