"""The tables of a sweep on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.sweeps.arrangement import Table
from checker.sweeps.cell import NEUTRAL, Answer, Cell
from counterexamples.render.page import Page, Piece, Style, cells, pad

_GAP = 2
_INDENT = 4
_NARROWEST_NAME = 12

_STYLES = {
    Answer.PROVED: Style.GOOD,
    Answer.REACHED: Style.GOOD,
    Answer.RUNS: Style.GOOD,
    Answer.REFUTED: Style.FAULT,
    Answer.HOLDS_TO: Style.DOUBT,
    Answer.UNDECIDED: Style.DOUBT,
}

_MEANINGS = {
    Answer.PROVED: "proved; the size of the proof in states, or in clauses of an invariant",
    Answer.REACHED: "reached, or a run; the steps of the shortest run",
    Answer.REFUTED: "refuted; the steps of the shortest run",
    Answer.UNDECIDED: "undecided",
    Answer.HOLDS_TO: "undecided beyond so many steps",
    Answer.UNREACHABLE: "unreachable, not a run, or nothing to check",
    Answer.REJECTED: "the model rejects these values",
    Answer.NOT_CHECKED: "not checked",
}
_SAME = {
    Answer.RUNS: Answer.REACHED,
    Answer.NOT_A_RUN: Answer.UNREACHABLE,
    Answer.ABSENT: Answer.UNREACHABLE,
}
"""What has the sign and the meaning of another answer."""


def sign(answer: Answer, unicode: bool) -> str:
    """One column wide, the same as in the other reports."""
    match answer:
        case Answer.PROVED | Answer.REACHED | Answer.RUNS:
            return "✓" if unicode else "+"
        case Answer.REFUTED:
            return "✗" if unicode else "x"
        case Answer.HOLDS_TO | Answer.UNDECIDED:
            return "?"
        case Answer.UNREACHABLE | Answer.NOT_A_RUN | Answer.ABSENT:
            return "·" if unicode else "."
        case Answer.REJECTED:
            return "–" if unicode else "-"
        case Answer.NOT_CHECKED:
            return "…" if unicode else "~"


def size(amount: int) -> str:
    """`9,999`, `12.3k`, `1.2M`."""
    if amount < 10_000:
        return f"{amount:,}"
    for unit, name in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        # What would be rounded up to 1000 is told in the next unit.
        if amount >= unit * 0.9995:
            value = amount / unit
            return f"{value:.0f}{name}" if value >= 99.95 else f"{value:.1f}".removesuffix(".0") + name
    raise AssertionError(amount)


def number(cell: Cell, unicode: bool) -> str:
    """`12.3k`, `≤7`; empty where there is none."""
    if cell.amount is None:
        return ""
    return f"{('≤' if unicode else '<=') * cell.at_most}{size(cell.amount)}"


def told(cell: Cell, unicode: bool) -> str:
    """What stands behind the sign where there is room: `12.3k states`, `to 7 steps`, `rejected`."""
    if cell.answer is Answer.REJECTED:
        return "rejected"
    if cell.answer in NEUTRAL or cell.amount is None:
        return str(cell.answer.value)
    unit = f"{cell.unit}{'s' * (cell.amount != 1)}"
    told = f"{number(cell, unicode)} {unit}"
    return f"to {told}" if cell.answer is Answer.HOLDS_TO else told


def render(table: Table, page: Page) -> Iterator[str]:
    """The lines of a table, as wide as the page: where whole cells do not fit, numbers alone, and where those do not
    fit, several parts below each other."""
    if table.heading:
        yield page.line([(" " * _INDENT, Style.PLAIN), (page.clean(table.heading), Style.BOLD)])
    rows = [page.clean(name) for name in (table.down, *table.rows)]
    name_width = min(max(map(cells, rows)), max(_NARROWEST_NAME, page.columns // 3))
    room = page.columns - _INDENT - name_width
    for long in (True, False):
        texts = [[_text(cell, long, page) for cell in row] for row in table.cells]
        heads = [page.cut(page.clean(name), room - _GAP) for name in table.columns]
        columns = range(len(heads))
        widths = [max(cells(heads[column]), *(cells(row[column]) for row in texts)) for column in columns]
        if sum(widths) + _GAP * len(widths) <= room:
            break
    for part in _parts(widths, room):
        yield from _part(table, page, texts, heads, widths, name_width, part)


def _parts(widths: Sequence[int], room: int) -> Iterator[range]:
    """The columns that fit beside each other, at least one in each part."""
    begin, used = 0, 0
    for column, width in enumerate(widths):
        if column > begin and used + _GAP + width > room:
            yield range(begin, column)
            begin, used = column, 0
        used += _GAP + width
    yield range(begin, len(widths))


def _part(
    table: Table,
    page: Page,
    texts: Sequence[Sequence[str]],
    heads: Sequence[str],
    widths: Sequence[int],
    name_width: int,
    part: range,
) -> Iterator[str]:
    margin = " " * (_INDENT + name_width + _GAP)
    if table.across:
        yield page.line([(margin + page.cut(page.clean(table.across), page.columns - len(margin)), Style.DIM)])
    corner = pad(page.cut(page.clean(table.down), name_width), name_width)
    head = "".join(" " * _GAP + pad(heads[column], widths[column]) for column in part)
    if head.strip() or corner.strip():
        yield page.line([(" " * _INDENT + corner + head, Style.DIM)])
    for name, row, shown in zip(table.rows, table.cells, texts, strict=True):
        pieces: list[Piece] = [
            (" " * _INDENT, Style.PLAIN),
            (pad(page.cut(page.clean(name), name_width), name_width), Style.PLAIN),
        ]
        for column in part:
            pieces.append((" " * _GAP, Style.PLAIN))
            pieces.append((pad(shown[column], widths[column]), _STYLES.get(row[column].answer, Style.DIM)))
        yield page.line(pieces)


def _text(cell: Cell, long: bool, page: Page) -> str:
    mark = sign(cell.answer, page.unicode)
    shown = told(cell, page.unicode) if long else "" if cell.answer in NEUTRAL else number(cell, page.unicode)
    return f"{mark} {shown}".rstrip()


def legend(found: Sequence[Table], page: Page) -> Iterator[str]:
    """What the signs in the tables mean."""
    used = {_SAME.get(cell.answer, cell.answer) for table in found for row in table.cells for cell in row}
    for answer, meaning in _MEANINGS.items():
        if answer in used:
            for line, part in enumerate(page.wrap(meaning, page.columns - _INDENT - 2)):
                mark = sign(answer, page.unicode) if line == 0 else " "
                yield page.line([(f"{' ' * _INDENT}{mark} {part}", Style.DIM)])
