"""A space-time diagram as a picture: lanes side by side, time downwards, one row for each step.

A row is placed by `Row.y` alone, and text, messages and notes follow it, so that rows can be set apart in proportion to
time where a model has any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from counterexamples.explain import Explanation, Step
from counterexamples.render import text
from counterexamples.spacetime.arrows import step_shapes
from counterexamples.spacetime.backdrop import Backdrop, head_height, heads, reminders
from counterexamples.spacetime.columns import Columns, Want, arrange
from counterexamples.spacetime.lanes import Lane, Outside, Owner, Spot, lanes, owner, track_name
from counterexamples.spacetime.legend import legend
from counterexamples.spacetime.metrics import MONO_WIDTH, Font, shorten, text_width, wrap
from counterexamples.spacetime.moments import Look, Moment, Note, end_notes, moments
from counterexamples.spacetime.panel import is_cover, panel, title
from counterexamples.spacetime.rows import TEXT_LEFT, Row, clean, end_row, least_width, step_row, wanted_width
from counterexamples.spacetime.shapes import Area, Group, Label, Line, Panel, Picture, Shape
from counterexamples.spacetime.spans import cuts, downtimes
from counterexamples.trace import Trace
from spec.event import Party
from spec.source import Span

Links = Callable[[Span], str | None]
"""Where the line number of a statement leads."""

_MARGIN, _LEAST = 14.0, 660.0
_NARROWEST_TEXT, _WIDEST_TEXT = 210.0, 284.0
_REMIND = 12
"""After so many steps the lanes' names are repeated, in a picture that has half as many more."""


def lay_out(
    explanation: Explanation, trace: Trace, subtitle: str = "", links: Links | None = None, name: str = "A run"
) -> Picture:
    """The picture of a trace.

    explanation: of this trace; subtitle: what the run is of, such as a model and variant; name: what stands at the top
    when the explanation has no conclusion."""
    return _Layout(explanation, trace, links or (lambda span: None), name).picture(subtitle)


class _Layout:
    def __init__(self, explanation: Explanation, trace: Trace, links: Links, name: str) -> None:
        self.explanation, self.trace, self.links = explanation, trace, links
        self.moments = moments(explanation, trace)
        self.end = end_notes(explanation, self.moments, Look.GOOD if is_cover(explanation) else Look.WRONG)
        self.lanes = lanes(trace.model, set(self._spots())) or (Lane(Outside.ENVIRONMENT),)
        self.text_right = TEXT_LEFT + self._text_width()
        self.columns = self._columns()
        self.loop = explanation.loop
        self.name = name

    def _spots(self) -> Iterator[Spot]:
        """Everything that takes part."""
        for moment in self.moments:
            yield from moment.spots
        yield from (note.owner for note in self.end)
        for ends, _ in cuts(self.trace):
            yield from ends
        model = self.trace.model
        parties = [Party(store.name) for store in model.stores]
        parties += [Party(process.name, i) for process in model.processes for i in range(process.instances.size)]
        yield from (party for party in parties if any(downtimes(self.trace, party)))

    def _text_width(self) -> float:
        widest = _NARROWEST_TEXT
        for moment in self.moments:
            told = max((text_width(clean(line), 11.5) for line in moment.told), default=0.0)
            who = text_width(clean(moment.who), 12, Font.BOLD) + 60
            widest = max(widest, who, told, len(clean(moment.what)) * MONO_WIDTH * 11.5)
        return min(widest, max(_NARROWEST_TEXT, _WIDEST_TEXT - 14 * max(0, len(self.lanes) - 5)))

    def _columns(self) -> Columns:
        wants: dict[Owner, Want] = {}
        for note in chain(self.end, *(moment.notes for moment in self.moments)):
            known, in_store = wants.get(note.owner, Want(0.0, 0.0)), Lane(note.owner).is_store
            well, least = wanted_width(note, in_store), least_width(note, in_store)
            wants[note.owner] = Want(max(known.well, well), max(known.least, least))
        names = {slot: clean(track_name(self.trace.model, slot)) for lane in self.lanes for slot in lane.tracks}
        left = self.text_right + 22
        return arrange(self.lanes, names, wants, left, _LEAST - left - _MARGIN)

    def picture(self, subtitle: str) -> Picture:
        self.right = self.columns.right + (_MARGIN + 84 if self.loop is not None else _MARGIN)
        heading, y = self._heading(subtitle)
        head_top = y + 14
        lanes_top = head_top + head_height(self.columns)
        rows, reminding, y = self._rows(lanes_top + 4)
        ending, y = self._end(y)
        bottom = y + 4
        back = Backdrop(self.trace, self.moments, rows, self.columns, lanes_top, bottom)
        backdrop = Group("backdrop", (*back.struck(), *back.bands(), *back.shades(), *back.activations()), "backdrop")
        steps = [self._step(moment, row) for moment, row in zip(self.moments, rows, strict=True)]
        groups: list[Group] = [heading, backdrop, *heads(self.columns, head_top)]
        if reminding:
            groups.append(Group("reminders", tuple(reminding)))
        groups += steps
        groups += ending
        if self.loop is not None:
            groups.append(self._bracket(self.loop, rows, y))
        conclusion, y = panel(self.explanation, _MARGIN, self.right - _MARGIN + 6, bottom + 14)
        groups += [] if conclusion is None else [conclusion]
        signs, y = legend(chain.from_iterable(g.all_shapes() for g in groups), _MARGIN, self.right - _MARGIN, y + 8)
        groups.append(signs)
        name, summary = self._described(subtitle)
        return Picture(self.right, y + 4, name, summary, tuple(groups))

    def _described(self, subtitle: str) -> tuple[str, str]:
        conclusion = self.explanation.conclusion
        what = self.name if conclusion is None else conclusion.name
        verdict = "".join(f" is {word}" for word, _ in title(self.explanation))
        told = text.summary(self.explanation)
        listed = "; ".join(f"{m.step.number} {m.who}: {m.what}{_ending(m)}" for m in self.moments)
        return clean(f"{what}{verdict}{f' ({subtitle})' if subtitle else ''}"), clean(f"{told}. {listed}")

    # ------------------------------------------------------------------------------------------------------- parts

    def _heading(self, subtitle: str) -> tuple[Group, float]:
        """The property, the verdict, how long the run is and which faults it takes; what it is of."""
        conclusion = self.explanation.conclusion
        room = self.right - 2 * _MARGIN
        name = clean(self.name if conclusion is None else conclusion.name)
        shown = shorten(name, room, 18, Font.BOLD)
        labels = [Label(_MARGIN, 31, shown, 18, Font.BOLD, "title", tip=None if shown == name else name)]
        x, y = _MARGIN, 51.0
        for word, style in title(self.explanation):
            labels.append(Label(x, y, word.upper(), 12, Font.BOLD, style))
            x = labels[-1].area.right + 4
        told = clean(text.summary(self.explanation))
        if x + text_width(told, 12) <= _MARGIN + room:
            labels.append(Label(x, y, told, 12, style="dim"))
        else:
            for i, line in enumerate(wrap(told, room, 12, most=3)):
                y += 18 if i or x > _MARGIN else 0
                labels.append(Label(_MARGIN, y, line, 12, style="dim"))
        for line in wrap(clean(subtitle), room, 12, most=2) if subtitle else ():
            y += 18
            labels.append(Label(_MARGIN, y, line, 12, style="dim"))
        return Group("heading", tuple(labels), "heading"), y + 6

    def _rows(self, y: float) -> tuple[list[Row], list[Shape], float]:
        """One row for each step; where there are many, the lanes' names in between; and the y below."""
        rows: list[Row] = []
        reminding: list[Shape] = []
        for i, moment in enumerate(self.moments):
            left = len(self.moments) - i
            if i and i % _REMIND == 0 and left >= _REMIND // 2:
                reminding += reminders(self.columns, y + 15)
                y += 23
            site = moment.step.site
            link = None if site is None else self.links(site.statement.span)
            rows.append(step_row(moment, y, self.columns, self.text_right, link))
            y = rows[-1].bottom
        return rows, reminding, y

    def _step(self, moment: Moment, row: Row) -> Group:
        step = moment.step
        facts = [("step", str(step.number)), ("kind", step.kind.value)]
        if step.site is not None:
            span = step.site.statement.span
            facts += [("file", _base(span)), ("line", str(span.line))]
        touched = (column.lane for column in self.columns.all if column.lane.owner in map(owner, moment.spots))
        facts.append(("lanes", " ".join(lane.name for lane in touched)))
        field = Panel(Area(8, row.top, self.columns.right + 8, row.bottom), "field")
        shapes: tuple[Shape, ...] = (field, *row.words, *step_shapes(moment, row, self.columns), *row.notes)
        return Group("step", shapes, f"step-{step.number}", tuple(facts), _tip(moment))

    def _end(self, y: float) -> tuple[list[Group], float]:
        """What stands in the lanes when all is over."""
        if not self.end:
            return [], y + 6
        row = end_row(self.end, self._end_title(), y, self.columns, self.text_right)
        hair = Line(((14, row.top), (self.columns.right + 8, row.top)), "hair")
        return [Group("end", (hair, *row.words, *row.notes), "end")], row.bottom

    def _end_title(self) -> str:
        """What to call the state below the last step."""
        if self.loop is None or self.loop == len(self.moments):
            return "at the end"
        return f"as after step {self.loop}" if self.loop else "as at the start"

    def _bracket(self, loop: int, rows: Sequence[Row], bottom: float) -> Group:
        """What repeats for ever, or the state in which the run stays."""
        x = self.columns.right + 20
        top = rows[loop].top + 8 if loop < len(rows) else bottom - 32
        last = rows[-1].bottom - 8 if loop < len(rows) else bottom - 2
        points = ((x - 7, top), (x, top), (x, last), (x - 7, last))
        lines = ("for ever",) if loop < len(rows) else ("stays so", "for ever")
        y = (top + last) / 2 + 4 - 8 * (len(lines) - 1)
        return Group(
            "loop",
            (
                Line(points, "lasso"),
                Line(((x - 2, top - 4), (x - 7, top), (x - 2, top + 4)), "lasso"),
                *(Label(x + 8, y + 16 * i, line, 12, Font.BOLD, "loop-name") for i, line in enumerate(lines)),
            ),
            "loop",
        )


def _base(span: Span) -> str:
    return clean(span.source.name.rsplit("/", 1)[-1])


def _ending(moment: Moment) -> str:
    return "".join(f" {told}" for told in moment.told)


def _tip(moment: Moment) -> str:
    """What a reader sees who points at a step: everything, in full."""
    step: Step = moment.step
    lines = [f"{step.number}  {clean(moment.who)}", clean(moment.what)]
    if step.site is not None:
        statement = step.site.statement
        lines = [f"{lines[0]}  ({_base(statement.span)}:{statement.span.line})", lines[1]]
    lines += [clean(told) for told in moment.told]
    lines += [_note(note) for note in moment.notes]
    return "\n".join(lines)


def _note(note: Note) -> str:
    whose = "" if isinstance(note.owner, Outside) or note.look in (Look.GHOST,) else f"{Lane(note.owner).title}: "
    return clean(f"{whose}{note.name} {note.value}")
