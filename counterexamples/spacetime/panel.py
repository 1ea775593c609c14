"""The box at the end: the property, the part that broke, for which values, and what stood there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from counterexamples.explain import Explanation
from counterexamples.render.conclusion import conclusion_rows
from counterexamples.render.page import Page, Style, cells
from counterexamples.spacetime.metrics import MONO_WIDTH, Font
from counterexamples.spacetime.shapes import Area, Group, Label, Line, Panel, Shape
from spec.typed import PropertyForm

_SIZE, _LEADING, _BETWEEN, _PAD = 11.5, 16.0, 8.0, 16.0
_LEAST_COLUMNS = 40
_STYLES = {Style.DIM: "dim", Style.BAD: "bad", Style.FAULT: "bad", Style.GOOD: "good", Style.DOUBT: "bad"}

LEAST_WIDTH = _LEAST_COLUMNS * MONO_WIDTH * _SIZE + 2 * _PAD


def is_cover(explanation: Explanation) -> bool:
    declared = None if explanation.conclusion is None else explanation.conclusion.declared
    return declared is not None and declared.form is PropertyForm.COVER


def panel(explanation: Explanation, left: float, right: float, top: float) -> tuple[Group | None, float]:
    """The box between two edges, and the y of its bottom; None, and `top`, without a conclusion."""
    columns = int((right - left - 2 * _PAD) / (MONO_WIDTH * _SIZE))
    rows = conclusion_rows(explanation, Page(width=columns + 4))
    if not rows:
        return None, top
    shapes: list[Shape] = []
    y = top + 10
    for row in rows:
        if not row:
            y += _BETWEEN
            continue
        y += _LEADING
        column = 0
        for text, style in row:
            bold = style in (Style.BOLD, Style.FAULT, Style.BAD, Style.GOOD)
            font = Font.STRONG if bold else Font.MONO
            for part in re.finditer(r"\S+(?: \S+)*", text):
                x = left + _PAD + (column + cells(text[: part.start()])) * MONO_WIDTH * _SIZE
                shapes.append(Label(x, y, part[0], _SIZE, font, _STYLES.get(style, "")))
            column += cells(text)
    bottom = y + 14
    area = Area(left, top, right, bottom)
    kind = "fulfilled" if is_cover(explanation) else "violated"
    frame = (Panel(area, kind, 4.0), Line(((left + 5, top + 6), (left + 5, bottom - 6)), f"{kind}-bar"))
    return Group("conclusion", (*frame, *shapes), "conclusion"), bottom


def title(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """The verdict as (text, style): nothing for a run that shows nothing of a property."""
    if explanation.conclusion is not None:
        yield ("reached", "good") if is_cover(explanation) else ("refuted", "bad")
