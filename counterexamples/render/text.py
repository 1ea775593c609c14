"""A trace on the terminal: numbered steps, who acted, what, and under each step only what changed.

Every line fits the page's width.  Without colour nothing is lost: faults carry a mark and words of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from counterexamples.change import changes
from counterexamples.explain import Explanation, Kind, Step
from counterexamples.render import wording
from counterexamples.render.columns import aligned
from counterexamples.render.conclusion import render_conclusion
from counterexamples.render.page import ACTORS, Page, Piece, Style, cells, pad
from counterexamples.site import sites
from spec.event import Ending, Event, EventKind
from spec.state import GlobalState
from spec.typed import Model, PropertyForm

NARROW = 72
"""Below this many columns, who acted and what was done stand on lines of their own."""

_ENDS = "   ends"


def render(explanation: Explanation, page: Page | None = None) -> str:
    """The whole trace: a headline when it shows something of a property, the steps, and what the end shows.

    The text ends in a newline."""
    page = page or Page()
    parts = []
    if explanation.conclusion is not None:
        parts.append(render_headline(explanation, page))
    parts.append(render_steps(explanation, page))
    if explanation.conclusion is not None:
        parts.append(render_conclusion(explanation, page))
    return "\n".join(part for part in parts if part)


def summary(explanation: Explanation) -> str:
    """One line without styles: `4 steps, 1 fault: crash Server`."""
    struck = Counter(
        str(step.fault) if step.fault is not None else step.event.kind.value
        for step in explanation.steps
        if step.kind is Kind.FAULT
    )
    steps = wording.count(len(explanation.steps), "step")
    again = 0 if explanation.loop is None else len(explanation.steps) - explanation.loop
    steps += f", the last{f' {again}' if again > 1 else ''} for ever" if again else ""
    if not struck:
        return f"{steps}, no fault"
    named = ", ".join(name if times == 1 else f"{name} ({times} times)" for name, times in struck.items())
    return f"{steps}, {wording.count(struck.total(), 'fault')}: {named}"


def render_headline(explanation: Explanation, page: Page) -> str:
    """The property, the verdict that the trace gives evidence for, and the summary."""
    conclusion = explanation.conclusion
    if conclusion is None:
        return ""
    reached = conclusion.declared is not None and conclusion.declared.form is PropertyForm.COVER
    verdict: Piece = ("REACHED", Style.GOOD) if reached else ("REFUTED", Style.FAULT)
    name = page.clean(conclusion.name)
    room = page.columns - cells(name) - 4 - len(verdict[0]) - 3
    told = page.clean(summary(explanation))
    first: list[Piece] = [("  ", Style.PLAIN), (name, Style.BOLD), ("  ", Style.PLAIN), verdict]
    if cells(told) <= room:
        return page.line([*first, ("   ", Style.PLAIN), (told, Style.PLAIN)]) + "\n"
    lines = [page.line(first)]
    lines += [page.line([("  ", Style.PLAIN), (part, Style.PLAIN)]) for part in page.wrap(told, page.columns - 2)]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------------------- steps


def render_steps(explanation: Explanation, page: Page | None = None) -> str:
    """The steps alone, as of a scenario's or a simulated run."""
    table = _Table(explanation, page or Page())
    lines: list[str] = []
    for step in explanation.steps:
        if explanation.loop is not None and step.number == explanation.loop + 1:
            lines.append(table.remark("for ever:"))
        lines += table.step(step)
    if not explanation.steps:
        lines.append(table.remark("no step: the initial state"))
    if explanation.loop is not None:
        stays = explanation.loop == len(explanation.steps)
        lines.append(
            table.remark("and so for ever" if stays else f"and again from step {explanation.loop + 1}, for ever")
        )
    return "".join(line + "\n" for line in lines)


class _Table:
    """The columns of a trace: number, mark, who, what, where in the source."""

    def __init__(self, explanation: Explanation, page: Page) -> None:
        self.explanation = explanation
        self.page = page
        self.actors = {step.number: page.clean(wording.actor(explanation.model, step)) for step in explanation.steps}
        self.narrow = page.columns < NARROW
        self.digits = max(2, len(str(len(explanation.steps))))
        widest = max(map(cells, self.actors.values()), default=0)
        self.who = min(widest, max(16, page.columns // 3))
        self.margin = 1 + self.digits + 3
        self.indent = self.margin + (1 if self.narrow else self.who + 2)
        self.styles = _actor_styles(explanation.model, page)

    def remark(self, text: str) -> str:
        return self.page.line([(" " * self.margin, Style.PLAIN), (text, Style.DIM)])

    def step(self, step: Step) -> list[str]:
        page = self.page
        place = "" if step.site is None else self.place(wording.location(step.site.statement))
        what, style = page.clean(wording.action(step)), self.style(step)
        result = page.clean(wording.ending(step))
        why = page.clean(wording.reason(step))
        room = page.columns - self.indent - (0 if self.narrow or not place else cells(place) + 2)
        tail = f" {page.symbols.to} {result}{f': {why}' if why else ''}" if result else ""
        ends = step.event.kind is EventKind.STEP and wording.ends_well(step)
        short = wording.name_only(step)
        if short is not None and cells(what) + cells(tail) + (len(_ENDS) if ends else 0) > room:
            what = page.clean(short)
        texts = [what] if cells(what) + cells(tail) <= room else page.wrap(what, room, most=2)
        rows: list[list[Piece]] = [[(text, style)] for text in texts]
        if tail:
            doubt = Style.DOUBT if step.event.ending is Ending.UNKNOWN else Style.FAULT
            if cells(texts[-1]) + cells(tail) <= room:
                rows[-1].append((tail, doubt))
            else:
                rows += [[(part, doubt)] for part in page.wrap(tail.strip(), room)]
        if ends and _size(rows[-1]) + len(_ENDS) <= room:
            rows[-1].append((_ENDS, Style.DIM))
        elif ends:
            rows.append([(_ENDS.strip(), Style.DIM)])
        lines = self.head(step, rows, place, room)
        told = page.clean(wording.strike(step))
        if told:
            lines += [self.under([(part, Style.FAULT)]) for part in page.wrap(told, page.columns - self.indent)]
        return [*lines, *self.changes(step)]

    def head(self, step: Step, rows: list[list[Piece]], place: str, room: int) -> list[str]:
        """The first line of a step, with what continues it."""
        page = self.page
        mark, mark_style = self.mark(step)
        actor = self.actors[step.number]
        start: list[Piece] = [
            (f" {step.number:>{self.digits}} ", Style.DIM),
            (mark, mark_style),
            (" ", Style.PLAIN),
        ]
        actor_style = mark_style if step.event.slot is None or step.event.store is not None else self.actor_style(step)
        if self.narrow and (len(rows) > 1 or place or self.margin + cells(actor) + 2 + _size(rows[0]) > page.columns):
            left = page.columns - self.margin - cells(place) - 2
            name = pad(page.cut_left(actor, left), left)
            lines = [page.line([*start, (name, actor_style), ("  ", Style.PLAIN), (place, Style.DIM)])]
            return [*lines, *(self.under(row) for row in rows)]
        name = actor if self.narrow else pad(page.cut_left(actor, self.who), self.who)
        gap = " " * (room - _size(rows[0]) + 2)
        first = [*start, (name, actor_style), ("  ", Style.PLAIN), *rows[0], (gap, Style.PLAIN), (place, Style.DIM)]
        return [page.line(first), *(self.under(row) for row in rows[1:])]

    def under(self, pieces: Sequence[Piece]) -> str:
        return self.page.line([(" " * self.indent, Style.PLAIN), *pieces])

    def mark(self, step: Step) -> Piece:
        symbols = self.page.symbols
        if step.kind is Kind.FAULT or step.event.ending is Ending.ERROR:
            return symbols.fault, Style.FAULT
        if step.kind is Kind.RECOVERY:
            return symbols.recovery, Style.RECOVERY
        return " ", Style.PLAIN

    def style(self, step: Step) -> Style:
        if step.kind is Kind.FAULT and step.event.strike is None:
            return Style.FAULT
        return Style.RECOVERY if step.kind is Kind.RECOVERY else Style.PLAIN

    def actor_style(self, step: Step) -> Style:
        slot = step.event.slot
        return Style.PLAIN if slot is None else self.styles.get((slot.process, slot.instance), Style.PLAIN)

    def place(self, location: str) -> str:
        columns, text = self.page.columns, self.page.clean(location)
        if cells(text) <= max(16, columns // 5):
            return text
        return self.page.cut_left(text.rsplit("/", 1)[-1], max(16, columns // 4))

    def changes(self, step: Step) -> list[str]:
        told = wording.entries(step, self.explanation)
        return [self.under(row) for row in aligned(told, self.page.columns - self.indent, self.page)]


def _size(row: Sequence[Piece]) -> int:
    return sum(cells(text) for text, _ in row)


def _actor_styles(model: Model, page: Page) -> dict[tuple[str, int], Style]:
    """A colour for each process instance, the same in every trace of a model."""
    instances = [(process.name, i) for process in model.processes for i in range(process.instances.size)]
    return {instance: ACTORS[number % len(ACTORS)] for number, instance in enumerate(instances)}


# ------------------------------------------------------------------------------------------------------------ states


def render_state(model: Model, state: GlobalState, since: GlobalState, page: Page | None = None) -> str:
    """What is different in a state from another one, usually the initial state: variables, queues, locks, activations,
    what is down and cut.  One line a difference; a line saying so when there is none."""
    page = page or Page()
    step = Step(0, Event(EventKind.STEP), Kind.THREAD, None, None, changes(model, since, state), ())
    explanation = Explanation(model, (step,), None, None, sites(model))
    told = [wording.change(change, step, explanation) for change in step.changes]
    if not told:
        return page.line([("  as in the initial state", Style.DIM)]) + "\n"
    return "".join(page.line(row) + "\n" for row in aligned(told, page.columns, page))
