"""What lies behind the steps: lanes and their heads, activations, downtimes, cut links, steps with a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from counterexamples.spacetime.columns import ICON, TITLE_SIZE, TRACK_SIZE, Column, Columns
from counterexamples.spacetime.lanes import Outside
from counterexamples.spacetime.messages import Fate, Form
from counterexamples.spacetime.metrics import Font, shorten, text_width, wrap
from counterexamples.spacetime.moments import Moment
from counterexamples.spacetime.rows import Row, clean
from counterexamples.spacetime.shapes import Anchor, Area, Cylinder, Group, Label, Line, Panel, Shape
from counterexamples.spacetime.spans import Bar, Stretch, bars, cuts, downtimes
from counterexamples.trace import Trace
from spec.event import Party, Slot

REMINDER_SIZE = 10.0
_HEAD_LEADING, _BAR, _WAITING = 15.0, 8.0, 4.0


class Backdrop:
    """rows: one for each step; bottom: where the lanes end."""

    def __init__(
        self, trace: Trace, moments: Sequence[Moment], rows: Sequence[Row], columns: Columns, top: float, bottom: float
    ) -> None:
        self.trace, self.moments, self.rows, self.columns = trace, moments, rows, columns
        self.top, self.bottom = top, bottom

    def struck(self) -> Iterator[Shape]:
        """A band behind each step in which a fault strikes, and a hairline between steps."""
        right = self.columns.right + 8
        for moment, row in zip(self.moments, self.rows, strict=True):
            if moment.is_fault:
                yield Panel(Area(8, row.top, right, row.bottom), "struck", 4.0)
        for row in self.rows[1:]:
            yield Line(((14, row.top), (right, row.top)), "hair")

    def bands(self) -> Iterator[Shape]:
        for column in self.columns.all:
            yield Panel(Area(column.left, self.top, column.right, self.bottom), "band")
            if not column.tracks:
                yield Line(((column.axis, self.top), (column.axis, self.bottom)), "life")

    def shades(self) -> Iterator[Shape]:
        """Links that are cut, in the gaps between the lanes that they join, and who is down."""
        for (one, other), stretch in cuts(self.trace):
            ends = [column for column in map(self.columns.of, (one, other)) if column is not None]
            if len(ends) == 2:
                left, right = sorted(map(self.columns.all.index, ends))
                top, bottom = self._from(stretch, _cut_at), self._until(stretch)
                lanes = self.columns.all[left : right + 1]
                for one_lane, next_lane in pairwise(lanes):
                    yield Panel(Area(one_lane.right, top, next_lane.left, bottom), "cut-off")
                for x in (lanes[0].right, lanes[-1].left):
                    yield Line(((x, top), (x, bottom)), "cut-edge")
        for column in self.columns.all:
            if isinstance(column.lane.owner, Party):
                for stretch in downtimes(self.trace, column.lane.owner):
                    top = self._from(stretch, _crash_at)
                    yield Panel(Area(column.left, top, column.right, self._until(stretch)), "down")

    def activations(self) -> Iterator[Shape]:
        for column in self.columns.all:
            for track in column.tracks:
                for bar in bars(self.trace, track.slot):
                    yield from self._bar(bar, track.x)

    def _bar(self, bar: Bar, x: float) -> Iterator[Shape]:
        top, bottom = self._bar_top(bar.stretch, bar.slot), self._bar_bottom(bar)
        yield Panel(Area(x - _BAR / 2, top, x + _BAR / 2, bottom), "running", 2.0)
        for wait in bar.waiting:
            begun = max(top, self._y(wait.first, len(self._row(wait.first)[0].messages) - 1) + 5)
            done = bottom if wait.last >= bar.stretch.last else self._y(wait.last, 0) - 5
            if done - begun > 4:
                yield Panel(Area(x - _WAITING / 2, begun, x + _WAITING / 2, done), "waiting")
        if bar.crashed:
            yield Panel(Area(x - _BAR / 2, bottom, x + _BAR / 2, bottom + 16), "fading")

    def _bar_top(self, stretch: Stretch, slot: Slot) -> float:
        if stretch.first == 0:
            return self.top + 4
        moment, row = self._row(stretch.first)
        arriving = [i for i, message in enumerate(moment.messages) if message.end == slot]
        return row.y(arriving[0]) - 4 if arriving else row.first + 10

    def _bar_bottom(self, bar: Bar) -> float:
        if bar.stretch.last > len(self.rows):
            return self.bottom - 4
        moment, row = self._row(bar.stretch.last)
        if bar.crashed:
            return row.y(_crash_at(moment))
        own = [i for i, message in enumerate(moment.messages) if bar.slot in (message.start, message.end)]
        return row.y(own[-1] if own else 0) + 6

    def _row(self, number: int) -> tuple[Moment, Row]:
        return self.moments[number - 1], self.rows[number - 1]

    def _y(self, number: int, place: int) -> float:
        return self._row(number)[1].y(place)

    def _from(self, stretch: Stretch, at: Callable[[Moment], int]) -> float:
        if stretch.first == 0:
            return self.top
        moment, row = self._row(stretch.first)
        return row.y(at(moment))

    def _until(self, stretch: Stretch) -> float:
        return self.bottom if stretch.last > len(self.rows) else self._row(stretch.last)[1].first


def _crash_at(moment: Moment) -> int:
    """Beside which message of a step the crash is."""
    return next((stroke.place for stroke in moment.strokes), 0)


def _cut_at(moment: Moment) -> int:
    """Beside which message of a step the cut is."""
    found = (i for i, m in enumerate(moment.messages) if m.form is Form.CUT or m.fate is Fate.LOST)
    return next(found, 0)


# ------------------------------------------------------------------------------------------------------------- heads


def head_height(columns: Columns) -> float:
    """How high the heads of the lanes are, with the names of the tracks below."""
    most = max(len(_title(column)) for column in columns.all)
    return most * _HEAD_LEADING + 11 + (18 if any(column.tracks for column in columns.all) else 4)


def heads(columns: Columns, top: float) -> Iterator[Group]:
    """The heads of the lanes, one group each; the names of the tracks stand below."""
    most = max(len(_title(column)) for column in columns.all)
    for column in columns.all:
        lines = _title(column)
        area = Area(column.left, top, column.right, top + most * _HEAD_LEADING + 9)
        shapes: list[Shape] = []
        outside = column.lane.owner is Outside.ENVIRONMENT
        style = "outside" if outside else "store" if column.lane.is_store else "process"
        shapes.append(Panel(area, f"head {style}", 11.0 if outside else 3.0))
        title = clean(column.lane.title)
        tip = None if "".join(lines) == title else title
        x, y = column.middle, area.top + (area.height - len(lines) * _HEAD_LEADING) / 2 + 11.5
        if column.lane.is_store:
            x += ICON / 2
            left = x - max(text_width(line, TITLE_SIZE, Font.BOLD) for line in lines) / 2 - ICON
            middle = (area.top + area.bottom) / 2
            shapes.append(Cylinder(Area(left, middle - 7, left + 11, middle + 7), "drum", 2.6))
        for i, line in enumerate(lines):
            at = y + i * _HEAD_LEADING
            shapes.append(Label(x, at, line, TITLE_SIZE, Font.BOLD, "lane-name", Anchor.MIDDLE, tip=tip))
        for track in column.tracks:
            whole = None if track.label == track.whole else track.whole
            y = area.bottom + 13
            shapes.append(Label(track.x, y, track.label, TRACK_SIZE, Font.SANS, "track-name", Anchor.MIDDLE, tip=whole))
        yield Group("lane", tuple(shapes), column.lane.name, (("lane", title),))


def reminders(columns: Columns, y: float) -> Iterator[Shape]:
    """The names of the lanes once more, small, on one line with the baseline y."""
    for column in columns.all:
        name = shorten(clean(column.lane.title), column.width - 4, REMINDER_SIZE)
        half = text_width(name, REMINDER_SIZE) / 2 + 3
        yield Panel(Area(column.middle - half, y - 11, column.middle + half, y + 4), "reminding", 2.0)
        yield Label(column.middle, y, name, REMINDER_SIZE, Font.SANS, "reminder", Anchor.MIDDLE)


def _title(column: Column) -> list[str]:
    room = column.width - 12 - (ICON if column.lane.is_store else 0)
    return wrap(clean(column.lane.title), room, TITLE_SIZE, Font.BOLD, 2)
