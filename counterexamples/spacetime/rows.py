"""What stands in each row and how high it is: the geometry from top to bottom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from counterexamples.render import wording
from counterexamples.spacetime.columns import Column, Columns
from counterexamples.spacetime.lanes import Owner, owner
from counterexamples.spacetime.metrics import Font, shorten, text_width, wrap
from counterexamples.spacetime.moments import Look, Moment, Note
from counterexamples.spacetime.shapes import Anchor, Area, Label, Panel, Shape
from spec.diagnostic import visible

NUMBER_RIGHT, TEXT_LEFT = 34.0, 46.0
BEAT = 12.0
"""From one message of a step to the next."""

_WHO, _WHAT, _TOLD, _NOTE = 12.0, 11.5, 11.5, 11.0
_LEADING, _NOTE_LEADING = 15.0, 13.5
_PAD, _NOTE_PAD, _NOTE_GAP = 7.0, 6.0, 4.0
_BESIDE_AXIS, _BESIDE_EDGE = 11.0, 4.0
_BETWEEN = 5.0
_ONE_LINE, _LONG_WORD = 122.0, 90.0
_MOST_WHAT, _MOST_TOLD, _MOST_NAME, _MOST_VALUE = 3, 4, 2, 3


Lines = tuple[tuple[tuple[str, Font], ...], ...]
"""Each line of one or two pieces of text."""


@dataclass(frozen=True)
class Written:
    """A note as lines.  whole: whether nothing of its text is left out."""

    note: Note
    lines: Lines
    width: float
    whole: bool

    @property
    def height(self) -> float:
        return len(self.lines) * _NOTE_LEADING + 5


@dataclass(frozen=True)
class Row:
    """top, bottom: its edges; first: the y of its first message; words: the text at the left; notes: in the lanes."""

    top: float
    bottom: float
    first: float
    words: tuple[Label, ...]
    notes: tuple[Shape, ...]

    def y(self, place: int) -> float:
        """The y of the message at a place, from 0."""
        return self.first + BEAT * place


def clean(text: str) -> str:
    """The text on one line, without characters that show nothing or reorder what stands around them."""
    return visible(" ".join(text.split()))


def wanted_width(note: Note, in_store: bool) -> float:
    """How wide a lane would have to be to show a note on two lines, name and value, or a short one on one."""
    parts = [(clean(note.name), Font.SANS), (clean(note.value), Font.BOLD)]
    if note.look is Look.LOCAL:
        parts = [(part, Font.SANS) for part in clean(note.value).split(", ")]
    wide = max(text_width(text, _NOTE, font) for text, font in parts)
    on_one_line = _line_width(tuple(parts))
    if on_one_line <= _ONE_LINE:
        wide = on_one_line
    return wide + 2 * _NOTE_PAD + 1 + _beside(in_store)


def least_width(note: Note, in_store: bool) -> float:
    """How wide a lane would have to be to break a note between words alone, as long as these are not too long."""
    font = Font.SANS if note.look is Look.LOCAL else Font.BOLD
    longest = max((text_width(word, _NOTE, font) for word in clean(note.value).split()), default=0.0)
    return min(longest, _LONG_WORD) + 2 * _NOTE_PAD + 1 + _beside(in_store)


def _beside(in_store: bool) -> float:
    """What a lane has beside its notes."""
    return 12.0 + _BESIDE_AXIS + _BESIDE_EDGE if in_store else 2 * _BESIDE_EDGE


def write(note: Note, room: float) -> Written:
    """Lines for a note that may be `room` wide: name and value on one line where they fit."""
    room -= 2 * _NOTE_PAD
    name, value = clean(note.name), clean(note.value)
    if note.look is Look.LOCAL:
        lines: Lines = tuple(((line, Font.SANS),) for line in wrap(value, room, _NOTE, most=_MOST_VALUE))
    else:
        lines = _name_and_value(name, value, room)
    width = max(_line_width(line) for line in lines)
    shown = "".join(text for line in lines for text, _ in line)
    return Written(note, lines, width + 2 * _NOTE_PAD, shown.replace(" ", "") == (name + value).replace(" ", ""))


def _name_and_value(name: str, value: str, room: float) -> Lines:
    if not name:
        return tuple(((line, Font.BOLD),) for line in wrap(value, room, _NOTE, Font.BOLD, _MOST_VALUE))
    both = ((name, Font.SANS), (value, Font.BOLD))
    if _line_width(both) <= room:
        return (both,)
    names = wrap(name, room, _NOTE, Font.SANS, _MOST_NAME)
    values = wrap(value, room, _NOTE, Font.BOLD, _MOST_VALUE)
    return (*(((line, Font.SANS),) for line in names), *(((line, Font.BOLD),) for line in values))


def _line_width(line: tuple[tuple[str, Font], ...]) -> float:
    return sum(text_width(text, _NOTE, font) for text, font in line) + _BETWEEN * (len(line) - 1)


def step_row(moment: Moment, top: float, columns: Columns, text_right: float, link: str | None) -> Row:
    """The row of a step.  text_right: where the text at the left must end; link: where its line number leads."""
    first = top + _PAD + 6
    words = _words(moment, first, text_right, link)
    beats = max(1, len(moment.messages), *(stroke.place + 1 for stroke in moment.strokes))
    return _row(top, first, words, _by_lane(moment.notes), columns, beats, _crossed(moment, columns))


def end_row(notes: Sequence[Note], title: str, top: float, columns: Columns, text_right: float) -> Row:
    """The row below the last step: what stands in the lanes."""
    first = top + _PAD + 6
    words = tuple(
        Label(TEXT_LEFT, first + 4 + i * _LEADING, line, _WHO, Font.BOLD, "end")
        for i, line in enumerate(wrap(title, text_right - TEXT_LEFT, _WHO, Font.BOLD))
    )
    return _row(top, first, words, _by_lane(notes), columns, 0, -1)


def _crossed(moment: Moment, columns: Columns) -> int:
    """The number of the rightmost lane that a message of the step reaches, from 0; -1 without messages."""
    numbers = {column.lane.owner: number for number, column in enumerate(columns.all)}
    return max((numbers[owner(spot)] for m in moment.messages for spot in (m.start, m.end)), default=-1)


def _row(
    top: float,
    first: float,
    words: tuple[Label, ...],
    notes: Mapping[Owner, Sequence[Note]],
    columns: Columns,
    beats: int,
    crossed: int,
) -> Row:
    """beats: how many messages go through the row; crossed: the rightmost lane that one of them reaches."""
    beside = first - 9
    below = first + BEAT * (beats - 1) + 9 if beats else beside
    bottom = max([first + BEAT * (beats - 1), *(label.area.bottom for label in words)])
    shapes: list[Shape] = []
    for number, column in enumerate(columns.all):
        y = beside if column.lane.is_store and crossed <= number else below
        for note in notes.get(column.lane.owner, ()):
            written = write(note, column.width - _beside(column.lane.is_store))
            shapes += _note_shapes(written, column, y)
            bottom = max(bottom, y + written.height)
            y += written.height + _NOTE_GAP
    return Row(top, bottom + _PAD, first, words, tuple(shapes))


def _by_lane(notes: Iterable[Note]) -> dict[Owner, list[Note]]:
    found: dict[Owner, list[Note]] = {}
    for note in notes:
        found.setdefault(note.owner, []).append(note)
    return found


def _note_shapes(written: Written, column: Column, top: float) -> Iterator[Shape]:
    """In a lane with tracks in the middle, in a store's lane at the right of its line."""
    note = written.note
    left = column.axis + _BESIDE_AXIS if column.lane.is_store else column.middle - written.width / 2
    yield Panel(Area(left, top, left + written.width, top + written.height), f"note {note.look.value}", 3.0)
    tip = None if written.whole else clean(f"{note.name} {note.value}")
    style, struck = f"in-{note.look.value}", note.look is Look.FADED
    middle = left + written.width / 2
    for i, line in enumerate(written.lines):
        y = top + (i + 1) * _NOTE_LEADING - 1
        if len(line) == 1:
            ((text, font),) = line
            yield Label(middle, y, text, _NOTE, font, style, Anchor.MIDDLE, struck, tip)
        else:
            (name, first), (value, second) = line
            seam = left + _NOTE_PAD + text_width(name, _NOTE, first)
            yield Label(seam, y, name, _NOTE, first, style, Anchor.END, struck, tip)
            yield Label(seam + _BETWEEN, y, value, _NOTE, second, style, Anchor.START, struck, tip)


def _words(moment: Moment, first: float, right: float, link: str | None) -> tuple[Label, ...]:
    """Number, actor, line; under them the statement; under that what is to be told."""
    step = moment.step
    bad = " bad" if moment.is_fault else ""
    y = first + 4
    labels = [Label(NUMBER_RIGHT, y, str(step.number), _WHO, Font.BOLD, f"number{bad}", Anchor.END)]
    room = right - TEXT_LEFT
    if step.site is not None:
        place = f"line {step.site.statement.span.line}"
        labels.append(Label(right, y, place, 10.5, Font.SANS, "place", Anchor.END, link=link))
        room -= text_width(place, 10.5) + 10
    who = clean(moment.who)
    shown = shorten(who, room, _WHO, Font.BOLD)
    labels.append(Label(TEXT_LEFT, y, shown, _WHO, Font.BOLD, "who", tip=None if shown == who else who))
    what = clean(moment.what)
    short = wording.name_only(step)
    lines = wrap(what, right - TEXT_LEFT, _WHAT, Font.MONO)
    if len(lines) > 1 and short is not None:
        what = clean(short)
        lines = wrap(what, right - TEXT_LEFT, _WHAT, Font.MONO)
    if len(lines) > _MOST_WHAT:
        lines = wrap(what, right - TEXT_LEFT, _WHAT, Font.MONO, _MOST_WHAT)
    whole = "".join(lines).replace(" ", "") == what.replace(" ", "")
    for line in lines:
        y += _LEADING
        labels.append(Label(TEXT_LEFT, y, line, _WHAT, Font.MONO, "what", tip=None if whole else what))
    for text in moment.told:
        told = clean(text)
        lines = wrap(told, right - TEXT_LEFT, _TOLD, Font.SANS, _MOST_TOLD)
        for line in lines:
            y += _LEADING
            labels.append(
                Label(TEXT_LEFT, y, line, _TOLD, Font.SANS, f"told{bad}", tip=told if lines[-1][-1:] == "…" else None)
            )
    return tuple(labels)
