"""The signs that a picture uses, and what they mean; those that it does not use are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from counterexamples.spacetime.metrics import text_width
from counterexamples.spacetime.shapes import Area, Group, Head, Label, Line, Mark, Panel, Shape, Sign, Tip

_SIZE, _SAMPLE, _BETWEEN, _LEADING = 10.5, 30.0, 20.0, 20.0


def legend(used: Iterable[Shape], left: float, right: float, top: float) -> tuple[Group, float]:
    """The signs among the shapes, explained between two edges; and the y of the bottom."""
    shapes: list[Shape] = []
    x, y = left, top + 14
    for words, make in _entries(list(used)):
        width = _SAMPLE + 7 + text_width(words, _SIZE)
        if x > left and x + width > right:
            x, y = left, y + _LEADING
        shapes += _moved(make, x, y - 4)
        shapes.append(Label(x + _SAMPLE + 7, y, words, _SIZE, style="sign-name"))
        x += width + _BETWEEN
    return Group("legend", tuple(shapes), "legend"), y + 10


def _entries(used: list[Shape]) -> Iterator[tuple[str, tuple[Shape, ...]]]:
    """Words and their sample, drawn from (0, 0) to the right, for each sign that occurs."""
    styles = {shape.style for shape in used if isinstance(shape, Panel | Line)}
    heads = {shape.head for shape in used if isinstance(shape, Tip)}
    signs = {shape.sign for shape in used if isinstance(shape, Mark)}
    wide = ((0.0, 0.0), (_SAMPLE - 5, 0.0))
    if Head.FILLED in heads:
        yield "asks", (Line(wide, "request"), Tip(Head.FILLED, _SAMPLE, 0, 1, "request"))
    if Head.HALF in heads:
        yield "sends, awaits no answer", (Line(wide, "request"), Tip(Head.HALF, _SAMPLE, 0, 1, "request"))
    if Head.OPEN in heads:
        yield "answers", (Line(((1, 0), (_SAMPLE, 0)), "answer"), Tip(Head.OPEN, 0, 0, -1, "answer"))
    if Head.CIRCLED in heads:
        yield "answers with a failure", (Line(((1, 0), (_SAMPLE, 0)), "answer"), Tip(Head.CIRCLED, 0, 0, -1, "answer"))
    if Head.BAR in heads:
        yield "refused, nothing happened", (Line(wide, "request refused"), Tip(Head.BAR, _SAMPLE - 5, 0, 1, "refused"))
    if "request lost" in styles:
        yield "lost on the way, no effect", (Line(((0, 0), (18, 0)), "request lost"), Mark(Sign.SMALL_CROSS, 24, 0))
    if "answer lost" in styles:
        parts = (
            Line(((30, 0), (22, 0)), "answer lost"),
            Mark(Sign.SMALL_CROSS, 17, 0),
            Line(((10, 0), (0, 0)), "missed"),
        )
        yield "no answer comes", parts
    if Sign.CROSS in signs:
        yield "a fault", (Mark(Sign.CROSS, 15, 0),)
    if Sign.CIRCLE in signs:
        yield "recovers", (Mark(Sign.CIRCLE, 15, 0),)
    if Sign.ALARM in signs:
        yield "model error", (Mark(Sign.ALARM, 15, 0),)
    if "down" in styles:
        yield "down", (Panel(Area(2, -7, 28, 7), "band"), Panel(Area(2, -7, 28, 7), "down"))
    if "cut-off" in styles:
        edges = (Line(((2, -7), (2, 7)), "cut-edge"), Line(((28, -7), (28, 7)), "cut-edge"))
        yield "cut off from each other", (Panel(Area(2, -7, 28, 7), "cut-off"), *edges)
    if "running" in styles:
        yield "runs", (Panel(Area(11, -8, 19, 8), "running", 2.0),)
    if "waiting" in styles:
        yield "waits for an answer", (Panel(Area(11, -8, 19, 8), "running", 2.0), Panel(Area(13, -8, 17, 8), "waiting"))
    for look, words in (
        ("change", "changes"),
        ("ghost", "what the property sees"),
        ("faded", "volatile, gone"),
        ("wrong", "what is wrong"),
        ("good", "what was wanted"),
    ):
        if f"note {look}" in styles:
            yield words, (Panel(Area(3, -6, 27, 6), f"note {look}", 3.0),)


def _moved(shapes: Iterable[Shape], x: float, y: float) -> Iterator[Shape]:
    for shape in shapes:
        match shape:
            case Panel(area, style, radius):
                moved = Area(area.left + x, area.top + y, area.right + x, area.bottom + y)
                yield Panel(moved, style, radius)
            case Line(points, style):
                yield Line(tuple((px + x, py + y) for px, py in points), style)
            case Tip(head, px, py, way, style):
                yield Tip(head, px + x, py + y, way, style)
            case Mark(sign, px, py):
                yield Mark(sign, px + x, py + y)
