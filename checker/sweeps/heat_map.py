"""A sweep as a picture: tables whose cells say by a sign, a number and a colour what came of each point.

Laid out without fonts, as all pictures are (docs/decisions/0011-pictures-are-laid-out-without-fonts.md).  The colours
are those of `counterexamples.spacetime.style`; the darker of a colour, the larger the proof or the shorter the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from checker.options import Options
from checker.sweeps.arrangement import Table, shown, tables
from checker.sweeps.cell import Answer, Cell
from checker.sweeps.finding import asked_for, finding
from checker.sweeps.sweep import Sweep
from checker.sweeps.table import told
from counterexamples.spacetime.metrics import Font, shorten, text_width, wrap
from counterexamples.spacetime.shapes import Anchor, Area, Group, Label, Line, Panel, Picture, Shape
from counterexamples.spacetime.style import DARK_GREEN, DARK_RED, DIM, INK
from counterexamples.spacetime.svg import to_plain_svg
from spec.diagnostic import visible

KIND = "sweep"

_MARGIN = 24.0
_WIDTH = 1000.0
"""Of a picture, unless a single column needs more."""
_ROW, _GAP = 30.0, 3.0
_PAD = 9.0
_SIGN = 17.0
"""From the left edge of a sign to the text behind it."""
_TITLE, _SUBTITLE, _NAME, _TEXT, _SMALL = 16.0, 12.5, 13.5, 12.0, 11.0
_LEADING = 17.0
_LONGEST_NAME = 260.0
_SHADES = 4
_MIDDLE = 1
"""The shade where all numbers are equal."""

_RULES = (
    (".dim", f"fill: {DIM}"),
    (".cell", "stroke: none"),
    (".proved.s0", "fill: #e3f2eb"),
    (".proved.s1", "fill: #cbe7db"),
    (".proved.s2", "fill: #aed9c8"),
    (".proved.s3", "fill: #8fcab4"),
    (".refuted.s0", "fill: #fdebe0"),
    (".refuted.s1", "fill: #fbd6bf"),
    (".refuted.s2", "fill: #f6bd9b"),
    (".refuted.s3", "fill: #f0a178"),
    (".undecided", f"fill: #fff; stroke: {DIM}; stroke-width: 1.2; stroke-dasharray: 4 3"),
    (".neutral", "fill: #eef1f4"),
    (".rejected", "fill: #f7f8f9"),
    (".unchecked", "fill: #fff; stroke: #c9d1d8; stroke-width: 1"),
    (".check", f"stroke: {DARK_GREEN}; stroke-width: 2; fill: none; stroke-linejoin: round; stroke-linecap: round"),
    (".cross", f"stroke: {DARK_RED}; stroke-width: 2.4; fill: none; stroke-linecap: round"),
    (".dash", f"stroke: {DIM}; stroke-width: 1.6; fill: none"),
    (".dot", f"stroke: {INK}; stroke-width: 3.4; stroke-linecap: round; fill: none"),
)

_LOOKS = {
    Answer.PROVED: "proved",
    Answer.REACHED: "proved",
    Answer.RUNS: "proved",
    Answer.REFUTED: "refuted",
    Answer.HOLDS_TO: "undecided",
    Answer.UNDECIDED: "undecided",
    Answer.UNREACHABLE: "neutral",
    Answer.NOT_A_RUN: "neutral",
    Answer.ABSENT: "neutral",
    Answer.REJECTED: "rejected",
    Answer.NOT_CHECKED: "unchecked",
}

_LEGEND = (
    ("proved", Answer.PROVED, "proved, or reached; darker: a larger proof, a longer run"),
    ("refuted", Answer.REFUTED, "refuted; darker: a shorter run"),
    ("undecided", Answer.UNDECIDED, "undecided, or only up to a depth"),
    ("neutral", Answer.UNREACHABLE, "unreachable, not a run, or nothing to check"),
    ("rejected", Answer.REJECTED, "the model rejects these values"),
    ("unchecked", Answer.NOT_CHECKED, "not checked"),
)


def heat_map(sweep: Sweep, model: str, asked: Options, prefix: str = "") -> str:
    """The picture as SVG text.  model: as the user named it; asked: what is the same at every point; prefix: put before
    every id.  The same sweep gives the same bytes."""
    return to_plain_svg(layout(sweep, model, asked), KIND, _RULES, prefix)


def layout(sweep: Sweep, model: str, asked: Options) -> Picture:
    """Where everything stands."""
    return _Layout(sweep, model, asked).picture()


@dataclass(frozen=True)
class _Block:
    """A table as it is drawn.  name_width: of the column of names; widths: of the others."""

    table: Table
    name_width: float
    widths: tuple[float, ...]

    @property
    def width(self) -> float:
        return self.name_width + sum(width + _GAP for width in self.widths)

    @property
    def height(self) -> float:
        lines = bool(self.table.heading) + bool(self.table.across) + 1
        return lines * _LEADING + 4 + len(self.table.rows) * (_ROW + _GAP)


class _Layout:
    def __init__(self, sweep: Sweep, model: str, asked: Options) -> None:
        self.sweep = sweep
        self.model = model
        self.asked = asked
        self.blocks = _alike([_block(table) for table in tables(sweep)])
        self.right = max([_WIDTH - _MARGIN, *(_MARGIN + block.width for block in self.blocks)])
        self.shades = _Shades(sweep)
        self.y = _MARGIN

    def picture(self) -> Picture:
        groups = [self.heading()]
        subject: object = None
        place = 0
        while place < len(self.blocks):
            first = self.blocks[place].table.subject
            same = [block for block in self.blocks[place:] if block.table.subject == first]
            place += len(same)
            groups.append(self.section(same))
            subject = first
        if subject is None:
            groups.append(self.sentences([each.name for each in self.sweep.subjects]))
        else:
            plain = [each.name for each in shown(self.sweep)[1]]
            groups.append(self.sentences(plain))
        groups.append(self.legend())
        title = visible(f"{self.sweep.model}: {', '.join(asked_for(self.sweep))}")
        right = max(area.right for group in groups for shape in group.all_shapes() if (area := _area(shape)))
        return Picture(right + _MARGIN, self.y + _MARGIN - 8, title, self.summary(), tuple(groups))

    def summary(self) -> str:
        """All that the picture says in words."""
        lines = []
        for subject in self.sweep.subjects:
            found = finding(self.sweep, subject, self.model, self.asked)
            lines.append(f"{subject.name}: {'; '.join(found.sentences)}.")
        return visible(" ".join(lines))

    # ----------------------------------------------------------------------------------------------------- sections

    def heading(self) -> Group:
        shapes: list[Shape] = []
        self.y += _TITLE
        room = self.right - _MARGIN
        name = shorten(visible(self.sweep.model), room, _TITLE, Font.BOLD)
        shapes.append(Label(_MARGIN, self.y, name, _TITLE, Font.BOLD))
        for line in asked_for(self.sweep):
            shapes += self.lines(visible(line), _MARGIN, _SUBTITLE, "dim")
        self.y += 6
        return Group("heading", tuple(shapes), "heading")

    def section(self, blocks: Sequence[_Block]) -> Group:
        """All that there is about a subject, its tables beside each other as far as there is room."""
        shapes: list[Shape] = []
        subject = blocks[0].table.subject
        self.y += 16
        if subject is not None:
            self.y += _NAME
            name = shorten(visible(subject.name), self.right - _MARGIN - 90, _NAME, Font.BOLD)
            shapes.append(Label(_MARGIN, self.y, name, _NAME, Font.BOLD))
            after = _MARGIN + text_width(name, _NAME, Font.BOLD) + 9
            shapes.append(Label(after, self.y, subject.form, _TEXT, style="dim"))
            shapes += self.found(subject.name)
            self.y += 6
        x, bottom = _MARGIN, self.y
        for block in blocks:
            if x > _MARGIN and x + block.width > self.right:
                x, self.y = _MARGIN, bottom + 12
            shapes += self.block(block, x, self.y)
            bottom = max(bottom, self.y + block.height)
            x += block.width + 28
        self.y = bottom
        return Group("table", tuple(shapes))

    def sentences(self, names: Sequence[str]) -> Group:
        shapes: list[Shape] = []
        if names:
            self.y += 14
        for name in names:
            shapes += self.found(name, named=True)
        return Group("sentences", tuple(shapes))

    def found(self, name: str, named: bool = False) -> Iterator[Shape]:
        """What the sweep says of a subject, in words."""
        subject = next(each for each in self.sweep.subjects if each.name == name)
        for place, sentence in enumerate(finding(self.sweep, subject, self.model, self.asked).sentences):
            before = f"{name}: " if named and place == 0 else ""
            yield from self.lines(visible(before + sentence), _MARGIN, _TEXT, "")

    def lines(self, text: str, x: float, size: float, style: str) -> Iterator[Shape]:
        for part in wrap(text, self.right - x, size):
            self.y += _LEADING
            yield Label(x, self.y, part, size, style=style)

    def block(self, block: _Block, x: float, y: float) -> Iterator[Shape]:
        table = block.table
        if table.heading:
            y += _LEADING
            yield Label(x, y, shorten(visible(table.heading), block.width, _TEXT, Font.BOLD), _TEXT, Font.BOLD)
        left = x + block.name_width
        if table.across:
            y += _LEADING
            room = max(self.right - left - _GAP, 30.0)
            yield Label(left + _GAP, y, shorten(visible(table.across), room, _SMALL), _SMALL, style="dim")
        y += _LEADING
        if table.down:
            corner = shorten(visible(table.down), block.name_width - _PAD, _SMALL)
            yield Label(x, y, corner, _SMALL, style="dim")
        at = left
        for name, width in zip(table.columns, block.widths, strict=True):
            yield Label(at + _GAP + _PAD, y, shorten(visible(name), width - _PAD, _TEXT), _TEXT)
            at += width + _GAP
        y += 4
        for place, (name, row) in enumerate(zip(table.rows, table.cells, strict=True)):
            at = left
            label = shorten(visible(name), block.name_width - _PAD, _TEXT)
            yield Label(x, y + _ROW / 2 + 4.2, label, _TEXT, tip=visible(name) if label != visible(name) else None)
            for column, (cell, width) in enumerate(zip(row, block.widths, strict=True)):
                shade = self.shades.of(table.name_at(place, column), cell)
                yield from self.cell(cell, shade, Area(at + _GAP, y, at + _GAP + width, y + _ROW))
                at += width + _GAP
            y += _ROW + _GAP

    def cell(self, cell: Cell, shade: int, area: Area) -> Iterator[Shape]:
        yield Panel(area, f"cell {_LOOKS[cell.answer]} s{shade}", 3.0)
        y = (area.top + area.bottom) / 2
        yield from _sign(cell.answer, area.left + _PAD, y)
        yield Label(area.left + _PAD + _SIGN, y + 4.2, told(cell, True), _TEXT)

    def legend(self) -> Group:
        used = {_LOOKS[cell.answer] for block in self.blocks for row in block.table.cells for cell in row}
        shapes: list[Shape] = []
        self.y += 22
        x = _MARGIN
        for look, answer, words in _LEGEND:
            if look not in used:
                continue
            width = 36 + text_width(words, _SMALL)
            if x > _MARGIN and x + width > self.right:
                x = _MARGIN
                self.y += 24
            shade = f" s{_MIDDLE}" if look in ("proved", "refuted") else ""
            shapes.append(Panel(Area(x, self.y, x + 28, self.y + 18), f"cell {look}{shade}", 3.0))
            shapes += _sign(answer, x + 8, self.y + 9)
            shapes.append(Label(x + 36, self.y + 13, words, _SMALL, style="dim"))
            x += width + 26
        self.y += 22
        return Group("legend", tuple(shapes), "legend")


class _Shades:
    """How dark a cell is: of 4 shades, by the logarithm of its number between the least and the most of its kind that
    its subject has."""

    def __init__(self, sweep: Sweep) -> None:
        found: dict[tuple[str, str, str], list[int]] = {}
        for subject in sweep.subjects:
            for point in sweep.grid.points():
                cell = sweep.cell(subject, point)
                if cell.amount is not None:
                    found.setdefault((subject.name, _LOOKS[cell.answer], cell.unit), []).append(cell.amount)
        self.ends = {key: (min(amounts), max(amounts)) for key, amounts in found.items()}

    def of(self, subject: str, cell: Cell) -> int:
        look = _LOOKS[cell.answer]
        if look not in ("proved", "refuted"):
            return 0
        least, most = self.ends.get((subject, look, cell.unit), (0, 0))
        if cell.amount is None or least == most:
            return _MIDDLE
        share = math.log((cell.amount + 1) / (least + 1)) / math.log((most + 1) / (least + 1))
        shade = min(_SHADES - 1, int(share * _SHADES))
        return _SHADES - 1 - shade if look == "refuted" else shade


def _block(table: Table) -> _Block:
    names = [text_width(visible(name), _TEXT) for name in table.rows]
    names.append(text_width(visible(table.down), _SMALL))
    widths = []
    for place, name in enumerate(table.columns):
        texts = [_PAD + _SIGN + text_width(told(row[place], True), _TEXT) + _PAD for row in table.cells]
        head = min(text_width(visible(name), _TEXT), _LONGEST_NAME) + 2 * _PAD
        widths.append(max(head, *texts))
    # Columns of numbers are of one width, so that the map looks like one.
    if table.across:
        widths = [max(widths)] * len(widths)
    return _Block(table, min(max(names), _LONGEST_NAME) + _PAD, tuple(widths))


def _alike(blocks: Sequence[_Block]) -> list[_Block]:
    """The blocks, those of one subject with equal columns."""
    widest: dict[str, float] = {}
    for block in blocks:
        if block.table.subject is not None:
            name = block.table.subject.name
            widest[name] = max(widest.get(name, 0.0), *block.widths)
    return [
        block
        if block.table.subject is None
        else replace(block, widths=tuple(widest[block.table.subject.name] for _ in block.widths))
        for block in blocks
    ]


def _area(shape: Shape) -> Area | None:
    return shape.area if isinstance(shape, Label | Panel) else None


def _sign(answer: Answer, x: float, y: float) -> Iterator[Shape]:
    """The sign of an answer, drawn: not every font has it."""
    match _LOOKS[answer]:
        case "proved":
            yield Line(((x, y), (x + 3.5, y + 4), (x + 10, y - 5)), "check")
        case "refuted":
            yield Line(((x + 0.5, y - 4.5), (x + 9.5, y + 4.5)), "cross")
            yield Line(((x + 0.5, y + 4.5), (x + 9.5, y - 4.5)), "cross")
        case "undecided":
            yield Label(x + 2, y + 4.6, "?", 13, Font.BOLD)
        case "neutral":
            yield Line(((x + 5, y), (x + 5.1, y)), "dot")
        case "rejected":
            yield Line(((x, y), (x + 10, y)), "dash")
        case _:
            yield Label(x + 5, y + 2, "..", 12, style="dim", anchor=Anchor.MIDDLE)
