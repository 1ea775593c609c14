"""Why a proof holds, as text: the invariant in the model's words, and the parts of the model that it relies on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.certificates.invariance import InvariantCertificate
from checker.certificates.rescue import in_words
from checker.liveness.live_certificate import RoundsCertificate
from checker.reliance.reliance import Needed, Open, Why
from checker.reports.evidence import plural
from checker.result import PropertyResult
from checker.transition_system import Form
from checker.verdict import Proved, Uncovered
from counterexamples.render.page import Page, Piece, Style

_MOST_SENTENCES = 40


def block(result: PropertyResult, why: bool, page: Page) -> Iterator[str]:
    """The lines under the table for one proof; none where there is nothing to say.  why: parts were asked for."""
    verdict = result.verdict
    if not isinstance(verdict, Proved | Uncovered):
        return
    lines: list[str] = []
    certificate = verdict.certificate
    if isinstance(certificate, InvariantCertificate | RoundsCertificate) and certificate.clauses:
        sentences = tuple(map(str, certificate.told()))
        head = "the invariant"
        if isinstance(certificate, RoundsCertificate):
            head = f"fewer than {certificate.bound} fair rounds go by while it is owed, by the invariant"
        lines.append(page.line([(f"    {head}", Style.BOLD)]))
        for sentence in sentences[:_MOST_SENTENCES]:
            lines += _wrapped(sentence, 6, page, Style.PLAIN)
        if len(sentences) > _MOST_SENTENCES:
            lines.append(page.line([(f"      and {len(sentences) - _MOST_SENTENCES} more", Style.DIM)]))
    elif isinstance(certificate, InvariantCertificate) and result.span is not None and not certificate.ways:
        lines.append(page.line([("    no invariant is needed: no step can violate it", Style.BOLD)]))
    elif why and result.span is not None:
        told = "an invariant in words: --engine ic3 (this proof is the set of all reachable states)"
        lines.append(page.line([(f"    {told}", Style.DIM)]))
    if isinstance(certificate, InvariantCertificate) and certificate.ways:
        lines += _wrapped(in_words(certificate.rescues, Form(result.form.value)), 4, page, Style.PLAIN)
    if why and result.why is not None:
        lines += _relies(result.why, page)
    if lines:
        yield ""
        yield page.line([("  ", Style.PLAIN), (page.clean(result.name), Style.BOLD), ("  holds because", Style.DIM)])
        yield from lines


def _relies(why: Why, page: Page) -> Iterator[str]:
    count = plural(why.tried, "part")
    if why.needed:
        yield page.line([("    relies on", Style.BOLD), (f"  ({count} dropped, one at a time)", Style.DIM)])
    else:
        yield page.line([("    relies on none of the parts alone", Style.BOLD), (f"  ({count} dropped)", Style.DIM)])
    for part in _ordered(why.needed):
        assert isinstance(part, Needed)
        steps = plural(part.steps, "step")
        told = f"{_where(part)}; without it refuted in {'' if part.shortest else 'at most '}{steps}"
        yield from _wrapped(told, 6, page, Style.PLAIN)
    if why.open:
        yield page.line([("    not known whether it relies on", Style.BOLD)])
        for unknown in _ordered(why.open):
            assert isinstance(unknown, Open)
            yield from _wrapped(f"{_where(unknown)}: {unknown.reason}", 6, page, Style.DIM)


def _ordered(parts: Sequence[Needed] | Sequence[Open]) -> list[Needed | Open]:
    return sorted(parts, key=lambda part: (part.kind, part.span.line if part.span is not None else 0, part.text))


def _where(part: Needed | Open) -> str:
    place = "" if part.span is None else f" (line {part.span.line})"
    return f"{part.kind}: {part.text}{place}"


def _wrapped(told: str, indent: int, page: Page, style: Style) -> Iterator[str]:
    for number, part in enumerate(page.wrap(page.clean(told), page.columns - indent - 2)):
        pieces: list[Piece] = [(" " * (indent if number == 0 else indent + 2), Style.PLAIN), (part, style)]
        yield page.line(pieces)


__all__ = ["block"]
