"""What the end of a trace shows, behind a bar: the property, the part of it that broke, and what stood there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from counterexamples.blame import Blame, Reading
from counterexamples.explain import Conclusion, Explanation, Held, Kind, Standing
from counterexamples.forever import Excuse, Forever
from counterexamples.notation import write_party, write_value
from counterexamples.render import wording
from counterexamples.render.columns import Entry, aligned
from counterexamples.render.page import Page, Piece, Style, cells, pad
from counterexamples.render.unending import claim, excuses, opening
from spec.event import Slot
from spec.source import Span
from spec.state import Loose
from spec.typed import PropertyForm

_OPENING = {
    PropertyForm.INVARIANT: "is false in this state",
    PropertyForm.STEP_INVARIANT: "is false for the last step",
    PropertyForm.AT_REST: "is false at rest, where nothing more will change",
    PropertyForm.RECOVERABLE: "is out of reach: no steps without a fault lead there from here",
    PropertyForm.COVER: "is reached",
}


def render_conclusion(explanation: Explanation, page: Page | None = None) -> str:
    """The property's declaration and documentation, the part that broke, for which values, and what stood there; for
    `at rest` and `recoverable` also where each thread stands and what is left in queues and locks.  Empty without a
    conclusion, else ends in a newline."""
    if explanation.conclusion is None:
        return ""
    return "".join(line + "\n" for line in _Block(explanation, explanation.conclusion, page or Page()).lines())


def conclusion_rows(explanation: Explanation, page: Page) -> list[list[Piece]]:
    """The same as rows of styled pieces, four columns narrower than the page, an empty row between parts, and with
    names of files alone where the terminal shows their paths.  Empty without a conclusion."""
    if explanation.conclusion is None:
        return []
    return _Block(explanation, explanation.conclusion, page, paths=False).rows()


class _Block:
    def __init__(self, explanation: Explanation, conclusion: Conclusion, page: Page, paths: bool = True) -> None:
        self.explanation = explanation
        self.conclusion = conclusion
        self.page = page
        self.form = None if conclusion.declared is None else conclusion.declared.form
        self.style = Style.GOOD if self.form is PropertyForm.COVER else Style.FAULT
        self.room = page.columns - 4
        self.paths = paths

    def lines(self) -> list[str]:
        bar: list[Piece] = [("  ", Style.PLAIN), (self.page.symbols.bar, self.style), (" ", Style.PLAIN)]
        return [self.page.line([*bar, *row]) if row else self.page.line(bar) for row in self.rows()]

    def rows(self) -> list[list[Piece]]:
        rows = self.title()
        blame = self.conclusion.blame
        # The right side of a live property has been told already; what it looks at may not have been.
        if blame is not None and (self.conclusion.forever is None or blame.causes or _told(blame)):
            rows += [[], *self.blamed(blame)]
        if self.form in (PropertyForm.AT_REST, PropertyForm.RECOVERABLE) or self.conclusion.is_about_stuck_threads:
            rows += self.rest()
        if self.conclusion.forever is not None:
            rows += self.unending(self.conclusion.forever)
        return rows

    def text(self, text: str, style: Style = Style.PLAIN, indent: int = 0) -> list[list[Piece]]:
        """Wrapped text."""
        lines = self.page.wrap(self.page.clean(text), max(20, self.room - indent))
        return [[(" " * indent, Style.PLAIN), (line, style)] for line in lines]

    def placed(self, row: list[Piece], span: Span, shorten: bool = True) -> list[list[Piece]]:
        """The row with a place in the source at the right edge, or below where there is no room."""
        place = self.page.clean(f"{span.source.name}:{span.line}")
        if not self.paths or (shorten and cells(place) > self.page.columns // 4):
            place = self.page.clean(place.rsplit("/", 1)[-1])
        place = self.page.cut_left(place, self.room)
        used = _size(row)
        if used + 2 + cells(place) <= self.room:
            return [[*row, (" " * (self.room - used - cells(place)), Style.PLAIN), (place, Style.DIM)]]
        return [row, [(place, Style.DIM)]]

    def title(self) -> list[list[Piece]]:
        conclusion = self.conclusion
        if conclusion.is_about_stuck_threads:
            return self.stuck()
        if conclusion.declared is None:
            return self.error()
        declared = conclusion.declared
        live = declared.live
        words = f"{conclusion.name} {_OPENING[declared.form] if live is None else opening(live)}"
        rows = self.text(words, Style.BOLD)
        rows = [*rows[:-1], *self.placed(rows[-1], declared.span, shorten=False)]
        about = declared.doc.strip().replace("\r", "").split("\n\n")[0]
        rows += self.text(about, Style.DIM) if about else []
        if live is not None and conclusion.forever is not None:
            told = claim(live, conclusion.forever)
            width = max(len(when) for when, _ in told)
            rows.append([])
            for when, what in told:
                parts = self.page.wrap(self.page.clean(what), max(20, self.room - width - 5))
                rows.append([(f"  {pad(when, width)}   ", Style.DIM), (parts[0], Style.PLAIN)])
                rows += [[(" " * (width + 5), Style.PLAIN), (part, Style.PLAIN)] for part in parts[1:]]
        return rows

    def error(self) -> list[list[Piece]]:
        conclusion = self.conclusion
        kind = "model error" if conclusion.error is None else conclusion.error.kind.value
        rows = self.text(f"{conclusion.name}: {kind}", Style.BOLD)
        if conclusion.site is not None:
            statement = conclusion.site.statement
            told = self.text(wording.statement(statement), Style.PLAIN, 2)
            rows += [*told[:-1], *self.placed(told[-1], statement.span)]
        return rows

    def stuck(self) -> list[list[Piece]]:
        """Who can never go on, and from which statement; what to do if that is as it should be."""
        conclusion, model = self.conclusion, self.explanation.model
        struck = any(step.kind is Kind.FAULT for step in self.explanation.steps)
        healed = "after everything has healed " if struck else ""
        if not conclusion.stuck:
            return self.text(f"{conclusion.name} is refuted: some thread can never go on", Style.BOLD)
        rows: list[list[Piece]] = []
        for thread in conclusion.stuck:
            name = wording.holder(model, thread.slot)
            first = f"{conclusion.name} is refuted: {healed}{name} can never go on from"
            words = f"nor can {name} from" if rows else first
            rows += self.text(words, Style.PLAIN if rows else Style.BOLD)
            if thread.site is not None:
                told = self.text(wording.brief(thread.site.statement), Style.BAD, 2)
                rows += [*told[:-1], *self.placed(told[-1], thread.site.statement.span)]
        hint = "if it may wait there for ever, write `blocks ok` behind the statement"
        return [*rows, *self.text(hint, Style.DIM)]

    # ------------------------------------------------------------------------------------------------------- blame

    def blamed(self, blame: Blame) -> list[list[Piece]]:
        """The part that decides, with its value and bindings, then what it looks at, or its causes."""
        cover = self.form is PropertyForm.COVER
        style = Style.PLAIN if cover else Style.BAD
        rows = self.text(blame.text, style)
        wrong = ", and must not be" if blame.holds and not cover else ""
        verdict = self.page.clean(f"is {_holds(blame)}{_for(blame)}{wrong}")
        if _size(rows[-1]) + 2 + cells(verdict) <= self.room:
            rows[-1] += [("  ", Style.PLAIN), (verdict, style)]
        else:
            rows += self.text(verdict, style, 2)
        rows += self.readings(blame, 2)
        return rows + self.causes(blame, 4)

    def causes(self, blame: Blame, indent: int) -> list[list[Piece]]:
        """A table of the causes: the value of each (for the instances of an `exists`: which instance), its text, and
        what it looks at."""
        if not blame.causes:
            return []
        alike = blame.searched and len({cause.text for cause in blame.causes}) == 1
        labels = [self.page.clean(_bound(c) if blame.searched else _value_word(c)) for c in blame.causes]
        texts = ["" if alike else self.page.clean(c.text + ("" if blame.searched else _for(c))) for c in blame.causes]
        width = max(map(cells, labels)) + 3
        room = self.room - indent - width
        column = max((cells(text) for text in texts if cells(text) <= room // 2), default=0)
        rows: list[list[Piece]] = [[]]
        for cause, label, text in zip(blame.causes, labels, texts, strict=True):
            style = self.value_style(cause)
            parts = self.page.wrap(text, max(20, room))
            lines = [[(" " * (indent + width), Style.PLAIN), (part, Style.PLAIN)] for part in parts]
            lines[0] = [(" " * indent, Style.PLAIN), (pad(label, width), style), (parts[0], Style.PLAIN)]
            inline = self.inline(cause)
            used = max(column, cells(parts[0])) + (3 if text else 0)
            if inline is not None and len(parts) == 1 and used + _size(inline) <= room:
                rows.append([*lines[0], (" " * (used - cells(parts[0])), Style.PLAIN), *inline])
            else:
                rows += [*lines, *self.readings(cause, indent + width)]
            rows += self.causes(cause, indent + width)
        return rows

    def inline(self, blame: Blame) -> list[Piece] | None:
        """The only reading, for the same line."""
        told = _told(blame)
        if len(told) != 1 or blame.omitted:
            return None
        entry = self.reading(told[0])
        before = f"{entry.before} {self.page.symbols.arrow} " if entry.before else "= "
        remark = f"  ({entry.remark})" if entry.remark else ""
        pieces = ((f"{entry.name}  {before}", Style.PLAIN), (entry.after, Style.BOLD), (remark, Style.PLAIN))
        return [(self.page.clean(text), style) for text, style in pieces]

    def readings(self, blame: Blame, indent: int) -> list[list[Piece]]:
        entries = [self.reading(reading) for reading in _told(blame)]
        start: Piece = (" " * indent, Style.PLAIN)
        rows = [[start, *row] for row in aligned(entries, max(24, self.room - indent), self.page)]
        if blame.omitted:
            rows += self.text(f"and {wording.count(blame.omitted, 'further value')}", Style.DIM, indent + 2)
        return rows

    def value_style(self, blame: Blame) -> Style:
        return Style.PLAIN if blame.holds or self.form is PropertyForm.COVER else Style.BAD

    def reading(self, reading: Reading) -> Entry:
        value = write_value(reading.value)
        if not reading.after:
            return Entry(reading.path, after=value)
        after = write_value(reading.after[0])
        if after == value:
            return Entry(reading.path, after=value, remark="before and after")
        return Entry(reading.path, value, after)

    # -------------------------------------------------------------------------------------------------------- rest

    def rest(self) -> list[list[Piece]]:
        """Where everything stands."""
        conclusion, model = self.conclusion, self.explanation.model
        rows: list[list[Piece]] = []
        if conclusion.threads:
            rows += [[], [("where the threads stand", Style.BOLD)]]
            width = max(cells(wording.holder(model, thread.slot)) for thread in conclusion.threads)
            for thread in conclusion.threads:
                rows += self.thread(thread, min(width, self.room // 3))
        else:
            rows += [[], [("no thread is running", Style.BOLD)]]
        return rows + self.remains()

    def remains(self) -> list[list[Piece]]:
        """What is in queues, who holds locks, who is down and what is cut."""
        conclusion = self.conclusion
        rows: list[list[Piece]] = []
        left = [*self.left(conclusion.queues), *self.left(conclusion.locks)]
        healed = self.form is PropertyForm.AT_REST or conclusion.is_about_stuck_threads
        gone = "is down for good" if healed else "is down"
        left += [Entry(write_party(party), remark=gone) for party in conclusion.down]
        left += [Entry(wording.link(party, other), remark="is cut") for party, other in conclusion.cut]
        if left:
            rows += [[], [("what is left", Style.BOLD)], *aligned(left, self.room, self.page)]
        return rows

    def unending(self, shown: Forever) -> list[list[Piece]]:
        """Why nothing helps, in a run that never ends."""
        if shown.stays:
            rows = [[], *self.text("nothing that is fair can go on", Style.BOLD)]
            told = excuses(self.explanation.model, [part for part in shown.parts if part.excuse is Excuse.UNFAIR])
        else:
            rows = [[], *self.text("why nothing helps, for ever", Style.BOLD)] if shown.parts else []
            told = excuses(self.explanation.model, shown.parts)
        width = min(max((cells(who) for who, _, _ in told), default=0), self.room // 3)
        for who, why, place in told:
            name = pad(self.page.cut_left(self.page.clean(who), width), width)
            start, place = f"  {name}   ", self.page.clean(place)
            room = max(20, self.room - cells(start) - cells(place) - 2)
            parts = self.page.wrap(self.page.clean(why), room)
            rows.append([(start + pad(parts[0], room + 2), Style.PLAIN), (place, Style.DIM)])
            rows += [[(" " * cells(start), Style.PLAIN), (part, Style.PLAIN)] for part in parts[1:]]
        return rows + (self.rest() if shown.stays else self.remains())

    def thread(self, thread: Standing, width: int) -> list[list[Piece]]:
        page = self.page
        name = page.clean(wording.holder(self.explanation.model, thread.slot))
        values = ", ".join(f"{key} = {write_value(value)}" for key, value in thread.locals)
        told = f"{_stands(thread, self.explanation)}{f'   ({values})' if values else ''}"
        place = "" if thread.site is None else page.clean(wording.location(thread.site.statement).rsplit("/", 1)[-1])
        start = f"  {pad(page.cut_left(name, width), width)}   "
        room = self.room - cells(start) - (cells(place) + 2 if place else 0)
        if room < 24:
            rows: list[list[Piece]] = [[(f"  {page.cut_left(name, self.room - 2)}", Style.PLAIN)]]
            return rows + self.text(f"{told}  {place}", Style.PLAIN, 4)
        parts = page.wrap(page.clean(told), room)
        first: list[Piece] = [(start + pad(parts[0], room + 2), Style.PLAIN), (place, Style.DIM)]
        return [first, *([(" " * cells(start), Style.PLAIN), (part, Style.PLAIN)] for part in parts[1:])]

    def left(self, things: Iterable[Held]) -> list[Entry]:
        found = []
        for thing in things:
            holder = wording.holder(self.explanation.model, thing.holder)
            if thing.item is None:
                words = "is held by nobody that runs" if thing.holder is Loose.ORPHAN else f"is held by {holder}"
            else:
                where = f"taken by {holder}" if isinstance(thing.holder, Slot) else holder
                words = f"{write_value(thing.item)}, {where}"
            found.append(Entry(thing.path, remark=words))
        return found


def _told(blame: Blame) -> tuple[Reading, ...]:
    """The readings worth a line: not the one that the part itself is."""
    if len(blame.readings) == 1 and not blame.readings[0].after:
        only = blame.readings[0].text
        if blame.text in (only, f"not {only}"):
            return ()
    return blame.readings


def _value_word(blame: Blame) -> str:
    return "error" if blame.error is not None else "true" if blame.holds else "false"


def _holds(blame: Blame) -> str:
    if blame.error is not None:
        return f"an error ({blame.error.value})"
    value = "true" if blame.holds else "false"
    return f"{value}: nothing fits" if blame.searched else value


def _bound(blame: Blame) -> str:
    return ", ".join(f"{name} = {write_value(value)}" for name, value in blame.bindings)


def _for(blame: Blame) -> str:
    return f" for {_bound(blame)}" if blame.bindings else ""


def _size(row: Sequence[Piece]) -> int:
    return sum(cells(text) for text, _ in row)


def _stands(thread: Standing, explanation: Explanation) -> str:
    if thread.site is None:
        return "is about to reply"
    text = wording.brief(thread.site.statement)
    if thread.callee is not None:
        return f"waits for {wording.holder(explanation.model, thread.callee)} in {text}"
    if thread.moves is None:
        return f"before  {text}"
    if not thread.moves:
        return f"waits at  {text}"
    conclusion = explanation.conclusion
    goes_on = conclusion is not None and conclusion.is_about_stuck_threads
    return f"goes on with  {text}" if goes_on else f"goes round, next  {text}"
