"""A diagram as SVG text, and the door of this package.

The text needs no fonts, scripts or files besides itself.  Its ids are the same for the same trace: `step-3` for the
third step, `lane-Server-0` and `lane-postgres` for lanes, `outside` for the environment's, `heading`, `end`, `loop`,
`conclusion` and `legend`.  A step says in `data-line` and `data-file` where its statement stands, in `data-lanes` which
lanes it concerns, in `data-kind` what it is (see `counterexamples.explain.Kind`).
"""

from __future__ import annotations

import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from counterexamples.explain import Explanation
from counterexamples.spacetime.layout import Links, lay_out
from counterexamples.spacetime.metrics import Font
from counterexamples.spacetime.shapes import (
    Anchor,
    Cylinder,
    Group,
    Head,
    Label,
    Line,
    Mark,
    Panel,
    Picture,
    Shape,
    Sign,
    Tip,
)
from counterexamples.spacetime.style import DIM, KIND, TEXT_RULES, VERMILLION, style_sheet
from counterexamples.trace import Trace

_FONTS = {Font.SANS: "", Font.BOLD: "b", Font.MONO: "m", Font.STRONG: "m b"}


def draw(
    explanation: Explanation,
    trace: Trace,
    subtitle: str = "",
    links: Links | None = None,
    name: str = "A run",
    prefix: str = "",
) -> str:
    """A trace as a space-time diagram: the text of an SVG document, which an HTML page can hold as it is.

    explanation: of this trace; subtitle: what the run is of, such as a model and variant; links: where the line number
    of a statement leads; name: what stands at the top when the explanation has no conclusion; prefix: put before every
    id, for several diagrams in one page."""
    return to_svg(lay_out(explanation, trace, subtitle, links, name), prefix)


def to_svg(picture: Picture, prefix: str = "") -> str:
    """The text of the document, with a newline at its end."""
    return _Writer(prefix, KIND, None).text(picture)


def to_plain_svg(picture: Picture, kind: str, rules: Sequence[tuple[str, str]], prefix: str = "") -> str:
    """The same for a picture of another kind than a diagram: of the class `kind`, with rules of its own (selectors,
    declarations) and none of the patterns of diagrams."""
    return _Writer(prefix, kind, rules).text(picture)


class _Writer:
    def __init__(self, prefix: str, kind: str, rules: Sequence[tuple[str, str]] | None) -> None:
        self.prefix = prefix
        self.kind = kind
        self.rules = rules

    def text(self, picture: Picture) -> str:
        width, height = _number(picture.width), _number(picture.height)
        root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {width} {height}",
                "width": width,
                "height": height,
                "style": "max-width: 100%; height: auto",
                "class": self.kind,
                "role": "graphics-document document" if _has_links(picture) else "img",
                "aria-labelledby": f"{self.prefix}title {self.prefix}summary",
            },
        )
        ET.SubElement(root, "title", {"id": f"{self.prefix}title"}).text = picture.title
        ET.SubElement(root, "desc", {"id": f"{self.prefix}summary"}).text = picture.summary
        style = ET.SubElement(root, "style")
        if self.rules is None:
            style.text = style_sheet() + self._patterns_used()
            self._definitions(root)
        else:
            style.text = style_sheet((*TEXT_RULES, *self.rules), self.kind)
        ET.SubElement(root, "rect", {"class": "paper", "width": width, "height": height})
        for group in picture.groups:
            self._group(root, group)
        ET.indent(root, "")
        return ET.tostring(root, encoding="unicode") + "\n"

    def _patterns_used(self) -> str:
        rules = {name: f"url(#{self.prefix}{name})" for name in ("hatch", "dots", "fade")}
        return (
            f".spacetime .down {{ fill: {rules['hatch']} }}\n"
            f".spacetime .cut-off {{ fill: {rules['dots']} }}\n"
            f".spacetime .fading {{ fill: {rules['fade']} }}\n"
        )

    def _definitions(self, root: ET.Element) -> None:
        definitions = ET.SubElement(root, "defs")
        size = {"width": "7", "height": "7", "patternUnits": "userSpaceOnUse"}
        hatch = ET.SubElement(
            definitions, "pattern", {"id": f"{self.prefix}hatch", **size, "patternTransform": "rotate(45)"}
        )
        ET.SubElement(hatch, "rect", {"width": "7", "height": "7", "fill": "#fff", "fill-opacity": ".55"})
        ET.SubElement(hatch, "rect", {"width": "1.6", "height": "7", "fill": DIM, "fill-opacity": ".6"})
        dots = ET.SubElement(definitions, "pattern", {"id": f"{self.prefix}dots", **size})
        ET.SubElement(dots, "rect", {"width": "7", "height": "7", "fill": VERMILLION, "fill-opacity": ".07"})
        ET.SubElement(dots, "circle", {"cx": "3.5", "cy": "3.5", "r": "1", "fill": VERMILLION, "fill-opacity": ".45"})
        fade = ET.SubElement(
            definitions, "linearGradient", {"id": f"{self.prefix}fade", "x1": "0", "y1": "0", "x2": "0", "y2": "1"}
        )
        ET.SubElement(fade, "stop", {"offset": "0", "stop-color": "#8f9ba7"})
        ET.SubElement(fade, "stop", {"offset": "1", "stop-color": "#8f9ba7", "stop-opacity": "0"})

    def _group(self, parent: ET.Element, group: Group) -> None:
        attributes = {"id": f"{self.prefix}{group.name}"} if group.name else {}
        attributes |= {"class": group.kind, **{f"data-{name}": value for name, value in group.facts}}
        element = ET.SubElement(parent, "g", attributes)
        if group.tip:
            ET.SubElement(element, "title").text = group.tip
        for shape in group.shapes:
            if isinstance(shape, Group):
                self._group(element, shape)
            else:
                _shape(element, shape)


def _has_links(picture: Picture) -> bool:
    """Readers of an image are told its title alone, and could not follow links in it."""
    return any(isinstance(shape, Label) and shape.link is not None for shape in picture.all_shapes())


def _shape(parent: ET.Element, shape: Shape) -> None:
    match shape:
        case Label():
            _label(parent, shape)
        case Panel(area, style, radius):
            place = {"x": area.left, "y": area.top, "width": area.width, "height": area.height}
            place |= {"rx": radius} if radius else {}
            ET.SubElement(parent, "rect", {"class": style, **{key: _number(value) for key, value in place.items()}})
        case Cylinder(area, style, lid):
            left, right = _number(area.left), _number(area.right)
            top, bottom, rx = _number(area.top + lid), _number(area.bottom - lid), _number(area.width / 2)
            arc = f"A{rx} {_number(lid)} 0 0"
            path = f"M{left} {top}{arc} 1 {right} {top}V{bottom}{arc} 1 {left} {bottom}Z"
            _path(parent, style, f"{path}M{left} {top}{arc} 0 {right} {top}")
        case Line(points, style):
            _path(parent, style, _through(points))
        case Tip():
            _tip(parent, shape)
        case Mark():
            _mark(parent, shape)


def _label(parent: ET.Element, label: Label) -> None:
    if label.link is not None:
        parent = ET.SubElement(parent, "a", {"href": label.link})
    names = " ".join(filter(None, (_FONTS[label.font], label.style, "x" if label.struck else "")))
    attributes = {"class": names} if names else {}
    attributes |= {"x": _number(label.x), "y": _number(label.y), "font-size": _number(label.size)}
    if label.anchor is not Anchor.START:
        attributes["text-anchor"] = label.anchor.value
    element = ET.SubElement(parent, "text", attributes)
    element.text = left_to_right(label.text)
    if label.tip is not None:
        element.text, rest = None, element.text
        title = ET.SubElement(element, "title")
        title.text, title.tail = label.tip, rest


def left_to_right(text: str) -> str:
    """The text with a mark behind each word that is written from right to left: what follows keeps its place."""
    pieces = re.split(r"(\s+)", text)
    return "".join(piece + "\u200e" if any(map(_is_right_to_left, piece)) else piece for piece in pieces)


def _is_right_to_left(c: str) -> bool:
    return unicodedata.bidirectional(c) in ("R", "AL")


def _tip(parent: ET.Element, tip: Tip) -> None:
    x, y, back = tip.x, tip.y, -tip.way
    name = f"tip {tip.style}"
    match tip.head:
        case Head.FILLED:
            points = ((x + 9 * back, y - 4.2), (x, y), (x + 9 * back, y + 4.2))
            _path(parent, name, _through(points) + "Z")
        case Head.HALF:
            _path(parent, f"{name} half", _through(((x + 9 * back, y - 4.5), (x, y))))
            _path(parent, "request", _through(((x + 6 * back, y), (x, y))))
        case Head.OPEN:
            points = ((x + 7 * back, y - 4), (x, y), (x + 7 * back, y + 4))
            _path(parent, name, _through(points))
        case Head.CIRCLED:
            points = ((x + 7 * back, y - 4), (x, y), (x + 7 * back, y + 4))
            _path(parent, name, _through(points))
            _circle(parent, f"{name} circled", x + 11 * back, y, 3.2)
        case Head.BAR:
            _path(parent, name, _through(((x, y - 6), (x, y + 6))))


def _mark(parent: ET.Element, mark: Mark) -> None:
    x, y = mark.x, mark.y
    match mark.sign:
        case Sign.CROSS | Sign.SMALL_CROSS:
            small = mark.sign is Sign.SMALL_CROSS
            r = 3.2 if small else 6
            lines = f"{_through(((x - r, y - r), (x + r, y + r)))}{_through(((x - r, y + r), (x + r, y - r)))}"
            for name in ("halo", "cross"):
                _path(parent, f"{name} small" if small else name, lines)
        case Sign.CIRCLE:
            _circle(parent, "paper", x, y, 8)
            start, end = (x + 3.6, y - 4.2), (x + 5.4, y + 1.4)
            _path(parent, "again", f"M{_point(start)}A5.5 5.5 0 1 0 {_point(end)}")
            _path(parent, "again-tip", _through(((x + 7.6, y - 6.6), (x + 1.2, y - 6.2), (x + 6, y - 0.6))) + "Z")
        case Sign.DOT:
            _circle(parent, "dot", x, y, 3.5)
        case Sign.ALARM:
            _path(parent, "alarm", _through(((x, y - 7), (x + 7, y + 6), (x - 7, y + 6))) + "Z")
            _path(parent, "alarm", _through(((x, y - 2.5), (x, y + 1.5))))
            _circle(parent, "bad", x, y + 3.8, 1)


def _circle(parent: ET.Element, style: str, x: float, y: float, radius: float) -> None:
    ET.SubElement(parent, "circle", {"class": style, "cx": _number(x), "cy": _number(y), "r": _number(radius)})


def _path(parent: ET.Element, style: str, path: str) -> None:
    ET.SubElement(parent, "path", {"class": style, "d": path})


def _through(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(map(_point, points))


def _point(point: tuple[float, float]) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    """With at most one digit behind the point."""
    return f"{value:.1f}".removesuffix(".0").replace("-0.0", "0")
