"""Messages, crashes and recoveries as lines and marks."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.spacetime.columns import GAP, Column, Columns
from counterexamples.spacetime.lanes import Spot, owner
from counterexamples.spacetime.messages import Blow, Fate, Form, Message, Stroke
from counterexamples.spacetime.moments import Moment
from counterexamples.spacetime.rows import Row
from counterexamples.spacetime.shapes import Head, Line, Mark, Shape, Sign, Tip
from spec.event import EventKind, Slot, Strike

_HEADS = {
    Form.REQUEST: Head.FILLED,
    Form.SEND: Head.HALF,
    Form.ANSWER: Head.OPEN,
    Form.FAILURE: Head.CIRCLED,
}
_SIGNS = {
    Blow.CRASH: Sign.CROSS,
    Blow.FAULT: Sign.CROSS,
    Blow.RESTART: Sign.CIRCLE,
    Blow.RECOVERY: Sign.CIRCLE,
    Blow.ERROR: Sign.ALARM,
}
_BESIDE_TRACK, _BESIDE_LINE, _BESIDE_MARK = 5.0, 2.0, 10.0


def step_shapes(moment: Moment, row: Row, columns: Columns) -> Iterator[Shape]:
    """Everything of a step between the lanes, and the dot of the acting activation."""
    crashed = {(owner(stroke.spot), stroke.place) for stroke in moment.strokes if stroke.blow is Blow.CRASH}
    for place, message in enumerate(moment.messages):
        ends = tuple(_edge(columns, spot, (owner(spot), place) in crashed) for spot in (message.start, message.end))
        yield from _message(message, row.y(place), columns, (ends[0], ends[1]), _is_fault(moment, message))
    slot = moment.step.event.slot
    if slot is not None and not any(stroke.spot == slot for stroke in moment.strokes):
        acts = moment.step.event.kind in (EventKind.STEP, EventKind.REPLY)
        if acts and columns.of(owner(slot)) is not None:
            yield Mark(Sign.DOT, columns.x(slot), row.first)
    for stroke in moment.strokes:
        yield _stroke(stroke, row, columns)


def _is_fault(moment: Moment, message: Message) -> bool:
    """Whether a message got lost by the step's own fault, and not because somebody is gone."""
    strike = moment.step.event.strike
    first = next((each for each in moment.messages if each.fate is Fate.LOST), None)
    return strike in (Strike.CUT, Strike.LOSE) and message == first


def _edge(columns: Columns, spot: Spot, crashed: bool) -> float:
    """How far from the middle of a spot a message ends."""
    if crashed:
        return _BESIDE_MARK
    column = columns.of(owner(spot))
    bare = column is not None and not isinstance(spot, Slot)
    return _BESIDE_LINE if bare else _BESIDE_TRACK


def _message(
    message: Message, y: float, columns: Columns, ends: tuple[float, float], by_fault: bool
) -> Iterator[Shape]:
    start, end = columns.x(message.start), columns.x(message.end)
    source, target = columns.of(owner(message.start)), columns.of(owner(message.end))
    assert source is not None
    assert target is not None
    way = 1 if end >= start else -1
    begin, stop = start + way * ends[0], end - way * ends[1]
    form = message.form
    if form in (Form.CUT, Form.HEAL):
        right = target if way > 0 else source
        yield Line(((start, y), (end, y)), f"link {form.value}")
        yield Mark(Sign.CROSS if form is Form.CUT else Sign.CIRCLE, right.left - GAP / 2, y)
        return
    style = "answer" if form in (Form.ANSWER, Form.FAILURE) else "request"
    sign = Sign.CROSS if by_fault else Sign.SMALL_CROSS
    if message.fate is Fate.LOST and style == "request":
        x = _outside(target, -way, (begin + stop) / 2, source)
        yield Line(((begin, y), (x - way * 4, y)), f"{style} lost")
        yield Mark(sign, x, y)
    elif message.fate is Fate.LOST:
        x = _outside(source, way, (begin + stop) / 2, target)
        yield Line(((begin, y), (x - way * 4, y)), f"{style} lost")
        yield Line(((x + way * 9, y), (stop, y)), "missed")
        yield Mark(sign, x, y)
    elif message.fate is Fate.REFUSED:
        x = _outside(target, -way, (begin + stop) / 2, source)
        yield Line(((begin, y), (x, y)), f"{style} refused")
        yield Tip(Head.BAR, x, y, way, "refused")
    else:
        for each in (y, y + 5) if message.fate is Fate.TWICE else (y,):
            yield Line(((begin, each), (stop - way * (1 if style == "answer" else 5), each)), style)
            yield Tip(_HEADS[form], stop, each, way, style)


def _outside(column: Column, side: int, middle: float, other: Column) -> float:
    """The middle of the gap beside a lane, on the side where `other` is; between tracks of one lane, `middle`."""
    if column.lane == other.lane:
        return middle
    return column.right + GAP / 2 if side > 0 else column.left - GAP / 2


def _stroke(stroke: Stroke, row: Row, columns: Columns) -> Shape:
    return Mark(_SIGNS[stroke.blow], columns.x(stroke.spot), row.y(stroke.place))
