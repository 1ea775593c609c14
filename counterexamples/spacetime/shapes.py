"""What a picture is made of: text, panels, lines, arrow heads and marks, each with the area that it covers.

All lengths are in the picture's unit, which is a CSS pixel where it is shown at its natural size; x grows to the right,
y downwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from counterexamples.spacetime.metrics import Font, text_width


@dataclass(frozen=True)
class Area:
    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """The x of the middle."""
        return (self.left + self.right) / 2

    def overlaps(self, other: Area) -> bool:
        """Whether the two have more than their edges in common."""
        slack = 0.01
        return (
            self.left < other.right - slack
            and other.left < self.right - slack
            and self.top < other.bottom - slack
            and other.top < self.bottom - slack
        )

    def contains(self, other: Area) -> bool:
        slack = 0.01
        return (
            self.left - slack <= other.left
            and other.right <= self.right + slack
            and self.top - slack <= other.top
            and other.bottom <= self.bottom + slack
        )

    def grown(self, by: float) -> Area:
        return Area(self.left - by, self.top - by, self.right + by, self.bottom + by)


class Anchor(Enum):
    START = "start"
    MIDDLE = "middle"
    END = "end"


@dataclass(frozen=True)
class Label:
    """One line of text.  x: of its start, middle or end; y: of its baseline; style: what it says, for the style sheet;
    struck: with a line through it; tip: the whole text where only a part is shown; link: where it leads."""

    x: float
    y: float
    text: str
    size: float
    font: Font = Font.SANS
    style: str = ""
    anchor: Anchor = Anchor.START
    struck: bool = False
    tip: str | None = None
    link: str | None = None

    @property
    def area(self) -> Area:
        width = text_width(self.text, self.size, self.font)
        left = self.x - {Anchor.START: 0.0, Anchor.MIDDLE: width / 2, Anchor.END: width}[self.anchor]
        return Area(left, self.y - 0.93 * self.size, left + width, self.y + 0.24 * self.size)


@dataclass(frozen=True)
class Panel:
    """A rectangle.  round: the radius of its corners."""

    area: Area
    style: str
    round: float = 0.0


@dataclass(frozen=True)
class Cylinder:
    """The outline of a store.  lid: the height of the half ellipse at its top and bottom."""

    area: Area
    style: str
    lid: float


@dataclass(frozen=True)
class Line:
    """points: at least two."""

    points: tuple[tuple[float, float], ...]
    style: str


class Head(Enum):
    FILLED = "filled"
    """A request."""
    HALF = "half"
    """A message that nobody answers."""
    OPEN = "open"
    """An answer."""
    CIRCLED = "circled"
    """An answer that tells of a failure."""
    BAR = "bar"
    """Refused: it got no further."""


@dataclass(frozen=True)
class Tip:
    """The end of an arrow at (x, y).  way: 1 where it points to the right, -1 to the left."""

    head: Head
    x: float
    y: float
    way: int
    style: str = ""

    @property
    def area(self) -> Area:
        left, right = sorted((self.x, self.x - self.way * 9))
        return Area(left, self.y - 5, right, self.y + 5)


class Sign(Enum):
    CROSS = "cross"
    """A fault."""
    SMALL_CROSS = "small cross"
    """Where a message is lost."""
    CIRCLE = "circle"
    """Up again, connected again, there again: a circle with an arrow head."""
    DOT = "dot"
    """Who acts."""
    ALARM = "alarm"
    """A model error: an exclamation mark in a triangle."""


RADIUS = {Sign.CROSS: 8.0, Sign.SMALL_CROSS: 4.0, Sign.CIRCLE: 8.0, Sign.DOT: 3.5, Sign.ALARM: 8.0}


@dataclass(frozen=True)
class Mark:
    sign: Sign
    x: float
    y: float

    @property
    def area(self) -> Area:
        return Area(self.x, self.y, self.x, self.y).grown(RADIUS[self.sign])


Shape = Label | Panel | Cylinder | Line | Tip | Mark


@dataclass(frozen=True)
class Group:
    """Shapes that belong together.  name: their id, unique in the picture; kind: what they are, for the style sheet;
    facts: what scripts want to know of them; tip: what a reader sees who points at them."""

    kind: str
    shapes: tuple[Shape | Group, ...]
    name: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    tip: str = ""

    def all_shapes(self) -> Iterator[Shape]:
        for shape in self.shapes:
            if isinstance(shape, Group):
                yield from shape.all_shapes()
            else:
                yield shape


@dataclass(frozen=True)
class Picture:
    """title, summary: what it shows, for those who do not see it."""

    width: float
    height: float
    title: str
    summary: str
    groups: tuple[Group, ...] = field(default=())

    def all_shapes(self) -> Iterator[Shape]:
        for group in self.groups:
            yield from group.all_shapes()

    @property
    def frame(self) -> Area:
        return Area(0, 0, self.width, self.height)
