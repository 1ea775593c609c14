"""A crash-point map on the terminal: a line for each step, a column for each moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.crashpoints.crash_map import Absence, CellResult, CrashMap, Effect, Verdict
from checker.crashpoints.points import MOMENTS, Cell, Moment, Point
from checker.reports.explanation import explained
from checker.verdict import Proved, Refuted, title
from counterexamples.render import text, wording
from counterexamples.render.page import Page, Piece, Style, cells, pad
from counterexamples.site import sites

_HEADS = {
    Moment.BEFORE: ("crash", "before"),
    Moment.AFTER: ("crash", "after"),
    Moment.REPLY_LOST: ("reply", "lost"),
    Moment.REQUEST_LOST: ("request", "lost"),
    Moment.TWICE: ("done", "twice"),
}
_GAP = 2
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def render(found: CrashMap, variant: str | None, page: Page) -> str:
    """The map of one variant: what is asked, the table, what the signs mean.  Ends in a newline."""
    return "".join(line + "\n" for line in _Table(found, page).lines(variant))


def render_traces(found: CrashMap, page: Page) -> str:
    """For each cell and each property that is broken there, a run that breaks it."""
    parts: list[str] = []
    for cell in found.cells:
        for name in found.properties:
            refuted = cell.trace(name) if isinstance(found.base[name], Proved) else None
            if refuted is None:
                continue
            head = f"{cell.cell.moment.value}: {place(found, cell.cell.point)}"
            parts.append("\n" + page.line([("  ", Style.PLAIN), (page.clean(head), Style.BOLD)]) + "\n\n")
            parts.append(text.render(explained(refuted.trace, name), page))
    return "".join(parts)


def place(found: CrashMap, point: Point) -> str:
    """`Server.start, line 33: step "push"`."""
    if point.site is None:
        return f"{point.process}.{point.thread}: {told(found, point)}"
    line = sites(found.model)[point.site].statement.span.line
    return f"{point.process}.{point.thread}, line {line}: {told(found, point)}"


def told(found: CrashMap, point: Point) -> str:
    """What a step is: the model's own text, a named step by its name."""
    return "answer at its end" if point.site is None else wording.brief(sites(found.model)[point.site].statement)


def letters(found: CrashMap) -> dict[str, str]:
    """A sign for each property that holds, or is undecided, without a fault."""
    named = [name for name in found.properties if not isinstance(found.base[name], Refuted)]
    return {name: _LETTERS[place] if place < len(_LETTERS) else f"({place + 1})" for place, name in enumerate(named)}


class _Table:
    def __init__(self, found: CrashMap, page: Page) -> None:
        self.found = found
        self.page = page
        self.letters = letters(found)
        self.good, self.bad = ("✓", "✗") if page.unicode else ("+", "x")
        self.together, self.idle, self.absent, self.never = (
            ("⊕", "·", "–", "○") if page.unicode else ("&", ".", "-", "o")
        )
        self.used: set[str] = set()

    def lines(self, variant: str | None) -> Iterator[str]:
        page = self.page
        if variant is not None:
            yield page.line([("  ", Style.PLAIN), (page.clean(variant), Style.BOLD)])
        yield from self.asked()
        if not self.letters or not self.found.points:
            return
        yield ""
        columns = [self.column(moment) for moment in MOMENTS]
        widths = [max(map(cells, [*head, *body])) for head, body in columns]
        yield from self.table(columns, widths)
        yield ""
        yield from self.legend()

    def asked(self) -> Iterator[str]:
        page, base = self.page, self.found.base
        for name, letter in self.letters.items():
            doubt = "" if isinstance(base[name], Proved) else f"  {title(base[name])} without a fault"
            yield page.line(
                [(f"    {letter} ", Style.BOLD), (page.clean(name), Style.PLAIN), (page.clean(doubt), Style.DOUBT)]
            )
        refuted = [name for name in self.found.properties if isinstance(base[name], Refuted)]
        if refuted:
            said = f"refuted without any fault, and left out: {', '.join(refuted)}"
            for part in page.wrap(page.clean(said), page.columns - 4):
                yield page.line([("    ", Style.PLAIN), (part, Style.FAULT)])
        if self.found.skipped:
            said = f"not in this map: {', '.join(self.found.skipped)}"
            for part in page.wrap(page.clean(said), page.columns - 4):
                yield page.line([("    ", Style.PLAIN), (part, Style.DIM)])

    # ------------------------------------------------------------------------------------------------------- table

    def column(self, moment: Moment) -> tuple[tuple[str, str], list[str]]:
        body = ["".join(t for t, _ in self.cell(self.found.result(p, moment))) for p in self.found.points]
        return _HEADS[moment], body

    def table(self, columns: Sequence[tuple[tuple[str, str], list[str]]], widths: Sequence[int]) -> Iterator[str]:
        page = self.page
        digits = max((len(self.line_of(point)) for point in self.found.points), default=1)
        room = page.columns - 4 - digits - 2 - sum(width + _GAP for width in widths)
        named = [page.clean(told(self.found, point)) for point in self.found.points]
        width = max(12, min(room, max(map(cells, named))))
        margin = 4 + digits + 2 + width
        for row in range(2):
            heads = "".join(" " * _GAP + pad(head[row], w) for (head, _), w in zip(columns, widths, strict=True))
            yield page.line([(" " * margin + heads.rstrip(), Style.DIM)])
        thread = ""
        for point, name in zip(self.found.points, named, strict=True):
            if thread != f"{point.process}.{point.thread}":
                thread = f"{point.process}.{point.thread}"
                yield page.line([("  ", Style.PLAIN), (page.clean(thread), Style.BOLD)])
            pieces: list[Piece] = [
                (f"    {self.line_of(point):>{digits}}  ", Style.DIM),
                (pad(page.cut(name, width), width), Style.PLAIN),
            ]
            for moment, size in zip(MOMENTS, widths, strict=True):
                cell = self.cell(self.found.result(point, moment))
                used = sum(cells(part) for part, _ in cell)
                pieces += [(" " * _GAP, Style.PLAIN), *cell, (" " * (size - used), Style.PLAIN)]
            while pieces and not pieces[-1][0].strip():
                pieces.pop()
            yield page.line(pieces)

    def line_of(self, point: Point) -> str:
        return "" if point.site is None else str(sites(self.found.model)[point.site].statement.span.line)

    def cell(self, result: CellResult) -> list[Piece]:
        if result.absence is not None:
            sign = self.absent if result.absence is Absence.IMPOSSIBLE else self.idle
            self.used.add(sign)
            return [(sign, Style.DIM)]
        signs = {
            Effect.BREAKS: (self.bad, Style.FAULT),
            Effect.BREAKS_SOMEHOW: (self.bad, Style.FAULT),
            Effect.TOGETHER: (self.together, Style.DOUBT),
            Effect.UNDECIDED: ("?", Style.DOUBT),
        }
        pieces: list[Piece] = []
        for sign, style in dict.fromkeys(signs.values()):
            meant = [e for e, s in signs.items() if s == (sign, style)]
            struck = [letter for name, letter in self.letters.items() if result.effect(name) in meant]
            if struck:
                self.used.add(sign)
                pieces.append(((" " if pieces else "") + sign + "".join(struck), style))
        if pieces:
            return pieces
        sign = self.never if result.struck is False else self.good
        self.used.add(sign)
        return [(sign, Style.DIM if result.struck is False else Style.GOOD)]

    def legend(self) -> Iterator[str]:
        meanings = {
            self.bad: "refuted: such a fault breaks it",
            self.together: "refuted, but only when another activation is in the middle of its work too",
            "?": "undecided",
            self.good: "all proved",
            self.never: "all proved, and no run has such a fault",
            self.idle: "no such fault class is declared",
            self.absent: "cannot happen at this step",
        }
        for sign, meaning in meanings.items():
            if sign in self.used:
                yield self.page.line([(f"    {sign} {meaning}", Style.DIM)])


def undecided(found: CrashMap) -> dict[str, list[Cell | None]]:
    """The reasons why something is undecided, each with the cells that it goes for (None: without a fault)."""
    reasons: dict[str, list[Cell | None]] = {}
    questions: list[tuple[Cell | None, Verdict]] = [(None, each) for each in found.base.values()]
    questions += [(result.cell, each) for result in found.cells for each in result.verdicts.values()]
    for cell, each in questions:
        if not isinstance(each, Proved | Refuted):
            reasons.setdefault(each.reason, []).append(cell)
    return reasons
