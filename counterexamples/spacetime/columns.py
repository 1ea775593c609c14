"""Where lanes and tracks stand: the geometry from left to right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterexamples.spacetime.lanes import Lane, Owner, Spot, owner
from counterexamples.spacetime.metrics import Font, shorten, text_width
from spec.event import Slot

GAP = 19.0
"""Between lanes; messages get lost in it, and nothing is written there."""

TITLE_SIZE, TRACK_SIZE = 12.5, 10.5
ICON = 17.0
"""What the picture of a store takes beside its name."""

_NARROWEST_LANE, _WIDEST_LANE, _LEAST_CAP, _LONG_TITLE = 76.0, 212.0, 94.0, 124.0
_NARROWEST_TRACK, _WIDEST_TRACK = 26.0, 96.0
_AIM = 1414.0
"""What lanes and text should not take more than together, so that a picture fits a laptop's screen."""
_AXIS = 12.0
"""From the left edge of a store's lane to its line; what is written stands at the right of it."""


@dataclass(frozen=True)
class Want:
    """How wide a lane should be: to show its notes well, and at least."""

    well: float
    least: float


@dataclass(frozen=True)
class Track:
    """x: of its middle; label: its thread's name, shortened where need be."""

    slot: Slot
    x: float
    label: str
    whole: str


@dataclass(frozen=True)
class Column:
    """A lane and where it stands."""

    lane: Lane
    left: float
    width: float
    tracks: tuple[Track, ...]

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def axis(self) -> float:
        """The x of the line of a lane without tracks."""
        return self.left + _AXIS if self.lane.is_store else self.middle


@dataclass(frozen=True)
class Columns:
    all: tuple[Column, ...]

    @property
    def left(self) -> float:
        return self.all[0].left

    @property
    def right(self) -> float:
        return self.all[-1].right

    def of(self, whose: Owner) -> Column | None:
        return next((column for column in self.all if column.lane.owner == whose), None)

    def x(self, spot: Spot) -> float:
        """The x at which messages to a spot end; raises KeyError for a spot without a lane."""
        column = self.of(owner(spot))
        if column is None:
            raise KeyError(spot)
        return next((track.x for track in column.tracks if track.slot == spot), column.axis)


def arrange(
    lanes: Sequence[Lane], names: Mapping[Slot, str], notes: Mapping[Owner, Want], left: float, least: float
) -> Columns:
    """Lanes side by side.

    names: what to write over each track; notes: how wide the lanes should be for what is written in them; left: where
    the first lane begins; least: what all must take together, which widens them evenly."""
    tracks = {lane.owner: [_track_width(names[slot]) for slot in lane.tracks] for lane in lanes}
    needed, lowest = [], []
    for lane in lanes:
        title = text_width(lane.title, TITLE_SIZE, Font.BOLD) + 14 + (ICON if lane.is_store else 0)
        note = notes.get(lane.owner, Want(0.0, 0.0))
        needed.append(min(_WIDEST_LANE, max(_NARROWEST_LANE, note.well, title)))
        lowest.append(max(sum(tracks[lane.owner]) + 6, note.least, min(title, _LONG_TITLE)))
    widths = _fitted(needed, lowest, _AIM - left - GAP * (len(lanes) - 1))
    missing = least - sum(widths) - GAP * (len(lanes) - 1)
    if missing > 0:
        widths = [width + missing / len(lanes) for width in widths]
    columns = []
    for lane, width in zip(lanes, widths, strict=True):
        columns.append(Column(lane, left, width, _tracks(lane, names, tracks[lane.owner], left + width / 2)))
        left += width + GAP
    return Columns(tuple(columns))


def _fitted(needed: Sequence[float], least: Sequence[float], room: float) -> list[float]:
    """Widths that are together as wide as the room, or as near to that as can be: the widest lanes give way, none below
    what its tracks take or below a least width."""
    cap = max(needed, default=0.0)
    for _ in needed:
        fixed = sum(lowest for lowest in least if lowest > cap)
        cap = _cap([width for width, lowest in zip(needed, least, strict=True) if lowest <= cap], room - fixed)
    return [max(min(width, cap), lowest) for width, lowest in zip(needed, least, strict=True)]


def _cap(needed: Sequence[float], room: float) -> float:
    """The greatest width that no lane may exceed, so that all fit the room; never below a least width."""
    left = room
    for place, width in enumerate(sorted(needed)):
        share = left / (len(needed) - place)
        if width > share:
            return max(share, _LEAST_CAP)
        left -= width
    return max(needed, default=_LEAST_CAP)


def _track_width(name: str) -> float:
    return min(_WIDEST_TRACK, max(_NARROWEST_TRACK, text_width(name, TRACK_SIZE) + 9))


def _tracks(lane: Lane, names: Mapping[Slot, str], widths: Sequence[float], middle: float) -> tuple[Track, ...]:
    x = middle - sum(widths) / 2
    found = []
    for slot, width in zip(lane.tracks, widths, strict=True):
        found.append(Track(slot, x + width / 2, shorten(names[slot], width - 6, TRACK_SIZE), names[slot]))
        x += width
    return tuple(found)
