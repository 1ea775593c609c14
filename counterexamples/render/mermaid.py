"""A trace as a Mermaid sequence diagram, which code hosts draw in pull requests and issues.

A participant for each process instance and store that takes part, in the order of declaration; an arrow for each
statement that touches a store, and for each call and reply; notes for what strikes and for what changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.blame import Blame
from counterexamples.change import (
    Answered,
    Change,
    Ended,
    ErrorRaised,
    IdUsed,
    LinkChange,
    LockChange,
    PartyChange,
    QueueChange,
    Started,
    ValueChange,
)
from counterexamples.explain import Explanation, Kind, Step
from counterexamples.notation import write_party, write_value
from counterexamples.render import wording
from spec.event import Ending, EventKind, Party, Strike
from spec.typed import Call, Model, PropertyForm

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,()[]{}=+-*/'!?|&@:→✗↻×")
_MOST_CHANGES = 6
"""A note holds no more changes of one step than this, and says how many it leaves out."""
_LONGEST = 120
_ENVIRONMENT = "environment"


def to_mermaid(explanation: Explanation) -> str:
    """The text of the diagram, with a newline at its end."""
    found: list[str] = []
    depth = 0
    for line in _Diagram(explanation).lines():
        depth -= line == "end"
        found.append("  " * depth + line)
        depth += line.startswith(("sequenceDiagram", "rect ", "loop "))
    return "\n".join(found) + "\n"


def escaped(text: str) -> str:
    """Text that Mermaid shows as it is, whatever is in it: all but plain letters, digits and a few signs are written as
    character codes; so are characters that would show nothing or turn the line round, by their escapes."""
    shortened = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shortened)
    found = "".join(c if c in _SAFE else f"#{ord(c)};" for c in visible)
    # The word `end` alone would end a block, and these words before a colon are instructions.
    special = found.strip().lower() == "end" or found.lstrip().lower().startswith(("wrap:", "nowrap:"))
    return f"#{ord(found[0])};{found[1:]}" if special else found


class _Diagram:
    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation
        self.model = explanation.model
        steps = explanation.steps
        present = {party for step in steps for party in _parties(step)}
        declared = [*_instances(self.model), *(Party(store.name) for store in self.model.stores)]
        self.parties = [party for party in declared if party in present] or declared[:1]
        self.names = {party: f"p{number}" for number, party in enumerate(self.parties)}
        self.asked = any(step.event.kind is EventKind.REQUEST for step in steps)

    def lines(self) -> Iterator[str]:
        yield "sequenceDiagram"
        if self.asked:
            yield f"actor env as {_ENVIRONMENT}"
        for party in self.parties:
            yield f"participant {self.names[party]} as {escaped(write_party(party))}"
        if not self.explanation.steps:
            yield f"note over {self.over(self.parties)}: no step, the initial state"
        loop = self.explanation.loop
        for step in self.explanation.steps:
            if loop is not None and step.number == loop + 1:
                yield "loop for ever"
            yield from self.step(step)
        if loop is not None:
            if loop == len(self.explanation.steps):
                yield "loop for ever"
                yield f"note over {self.over(self.parties)}: nothing more happens"
            yield "end"
        yield from self.conclusion()

    def over(self, parties: Sequence[Party]) -> str:
        """The two outermost of some parties, for a note."""
        places = sorted({self.parties.index(party) for party in parties if party in self.names})
        if not places:
            places = [0]
        ends = [self.names[self.parties[place]] for place in dict.fromkeys((places[0], places[-1]))]
        return ",".join(ends)

    # ------------------------------------------------------------------------------------------------------- steps

    def step(self, step: Step) -> Iterator[str]:
        event = step.event
        match event.kind:
            case EventKind.REQUEST if event.slot is not None:
                own = Party(event.slot.process, event.slot.instance)
                yield f"env->>{self.names[own]}: {self.told(step)}"
                yield from self.notes(step, [own])
            case EventKind.STEP | EventKind.REPLY if event.slot is not None:
                yield from self.acts(step, Party(event.slot.process, event.slot.instance))
            case _:
                struck = [party for party in _parties(step) if party in self.names]
                yield "rect rgb(252, 228, 214)" if step.kind is Kind.FAULT else "rect rgb(226, 240, 217)"
                mark = "✗" if step.kind is Kind.FAULT else "↻"
                who = wording.actor(self.model, step)
                told = escaped(f"{step.number} {mark} {who}: {wording.action(step)}")
                yield self.note(struck, [told, *self.changes(step)])
                yield "end"

    def acts(self, step: Step, own: Party) -> Iterator[str]:
        """A statement or reply: an arrow to each party that it touches, and the answer where it is not simply `ok`."""
        struck = step.event.strike is not None
        others = self.touched(step, own)
        if struck:
            yield "rect rgb(252, 228, 214)"
        me = self.names[own]
        told = self.told(step)
        if not others:
            yield f"{me}->>{me}: {told}"
        for place, other in enumerate(others):
            arrow = "-->>" if step.event.kind is EventKind.REPLY else "->>"
            lost = struck and not step.event.kept and step.event.strike is not Strike.DUPLICATE
            if lost or (step.event.kind is EventKind.REPLY and struck):
                arrow = "--x" if step.event.kind is EventKind.REPLY else "-x"
            again = "" if place == 0 else " (same step)"
            yield f"{me}{arrow}{self.names[other]}: {told}{again}"
        notes = [escaped(f"✗ {wording.strike(step)}")] if struck else []
        failed = step.event.ending is not Ending.OK
        if failed and others and step.event.kind is EventKind.STEP:
            why = wording.reason(step)
            answer = wording.ending(step) + (f": {why}" if why else "")
            yield f"{self.names[others[0]]}--x{me}: {escaped(answer)}"
        elif failed:
            notes.append(escaped(wording.ending(step)))
        notes += self.changes(step)
        if notes:
            yield self.note([own, *others], notes)
        if struck:
            yield "end"

    def touched(self, step: Step, own: Party) -> list[Party]:
        """The other parties that a statement or reply goes to."""
        found: dict[Party, None] = {}
        if step.event.kind is EventKind.REPLY:
            for change in step.changes:
                if isinstance(change, Ended) and change.slot == step.event.slot and change.caller is not None:
                    found[Party(change.caller.process, change.caller.instance)] = None
        elif step.site is not None:
            for store in self.model.stores:
                if store.name in step.site.statement.stores:
                    found[Party(store.name)] = None
            callee = step.event.callee
            if callee is not None:
                found[Party(callee.process, callee.instance)] = None
            elif isinstance(step.site.statement, Call) and step.event.other is not None:
                found[step.event.other] = None
        return [party for party in found if party != own and party in self.names]

    def told(self, step: Step) -> str:
        slot = step.event.slot
        thread = "" if slot is None else f"{slot.thread}: "
        return escaped(f"{step.number} {thread}{wording.action(step)}")

    def notes(self, step: Step, parties: Sequence[Party]) -> Iterator[str]:
        told = self.changes(step)
        if told:
            yield self.note(parties, told)

    def note(self, parties: Sequence[Party], lines: Sequence[str]) -> str:
        return f"note over {self.over(parties)}: {'<br/>'.join(lines)}"

    def changes(self, step: Step) -> list[str]:
        told = [escaped(wording.entry(entry)) for entry in wording.entries(step, self.explanation)]
        if len(told) > _MOST_CHANGES:
            told[_MOST_CHANGES - 1 :] = [f"and {len(told) - _MOST_CHANGES + 1} more changes"]
        return told

    # -------------------------------------------------------------------------------------------------- conclusion

    def conclusion(self) -> Iterator[str]:
        found = self.explanation.conclusion
        if found is None:
            return
        reached = found.declared is not None and found.declared.form is PropertyForm.COVER
        lines = [escaped(f"{found.name} is {'reached' if reached else 'violated'}")]
        if found.error is not None:
            lines.append(escaped(found.error.kind.value))
        lines += [escaped(line) for line in wording.stuck(self.explanation)]
        if found.blame is not None:
            lines += [escaped(line) for line in _reasons(found.blame)]
        yield "rect rgb(226, 240, 217)" if reached else "rect rgb(255, 242, 204)"
        yield self.note(self.parties, lines)
        yield "end"


def _reasons(blame: Blame) -> Iterator[str]:
    bound = ", ".join(f"{name} = {write_value(value)}" for name, value in blame.bindings)
    yield f"{blame.text}{f'  for {bound}' if bound else ''}"


def _instances(model: Model) -> Iterator[Party]:
    for process in model.processes:
        for index in range(process.instances.size):
            yield Party(process.name, index)


def _parties(step: Step) -> Iterator[Party]:
    """Everybody whom a step concerns."""
    event = step.event
    for slot in (event.slot, event.callee):
        if slot is not None:
            yield Party(slot.process, slot.instance)
    for party in (event.party, event.other):
        if party is not None:
            yield party
    if event.store is not None:
        yield Party(event.store)
    if step.site is not None and event.kind is EventKind.STEP:
        for store in step.site.statement.stores:
            yield Party(store)
    for change in step.changes:
        yield from _changed(change)


def _changed(change: Change) -> Iterator[Party]:
    match change:
        case Started(slot=slot) | Ended(slot=slot) | Answered(slot=slot):
            yield Party(slot.process, slot.instance)
        case PartyChange(party=party):
            yield party
        case LinkChange(party=party, other=other):
            yield party
            yield other
        case QueueChange() | LockChange() | ValueChange() | IdUsed() | ErrorRaised():
            return
