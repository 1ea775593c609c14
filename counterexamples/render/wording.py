"""The words for what happened in a step and for what changed by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from counterexamples.change import (
    Answered,
    Change,
    Ended,
    ErrorRaised,
    IdUsed,
    LinkChange,
    LockChange,
    Move,
    PartyChange,
    QueueChange,
    Scope,
    Started,
    Unset,
    ValueChange,
)
from counterexamples.explain import Explanation, Obstacle, Step
from counterexamples.notation import places, write_party, write_slot, write_value
from counterexamples.render.columns import Entry
from counterexamples.render.page import Style
from counterexamples.site import Site, catches, thread_of
from spec.event import Ending, EventKind, Party, Slot, Strike
from spec.state import Holder, Loose
from spec.typed import Atomic, Call, Failure, Model, Statement, ThreadKind
from spec.value import Id


def actor(model: Model, step: Step) -> str:
    """Who acted, or what a fault or recovery struck."""
    event = step.event
    if event.store is not None:
        return f"{event.store}.{event.variable}"
    if event.slot is not None:
        return write_slot(event.slot, places(model, event.slot))
    if event.party is not None:
        return write_party(event.party) if event.other is None else link(event.party, event.other)
    return event.kind.value


def link(party: Party, other: Party) -> str:
    return f"{write_party(party)} -- {write_party(other)}"


def action(step: Step) -> str:
    """What was done: the model's own statement text, or a word for what has none."""
    event = step.event
    match event.kind:
        case EventKind.REQUEST:
            given = next((c.arguments for c in step.changes if isinstance(c, Started) and c.slot == event.slot), ())
            stated = ", ".join(f"{name} = {write_value(value)}" for name, value in given)
            return f"request({stated})" if stated else "request"
        case EventKind.STEP:
            return "step" if step.site is None else statement(step.site.statement)
        case EventKind.REPLY:
            return "reply" if step.site is None else statement(step.site.statement)
        case EventKind.REDELIVER | EventKind.EXPIRE:
            item = event.item
            return event.kind.value if item is None else f"{event.kind.value} {write_value(item)}"  # type: ignore[arg-type]
        case other:
            return str(other.value)


def statement(of: Statement) -> str:
    """The first source line of a statement without its opening brace; a block that is one step, and says no name, with
    the first lines of what it holds."""
    text = _headline(of.text)
    if isinstance(of, Atomic) and of.name is None and "}" not in text:
        return f"{text} {{ {'; '.join(_headline(inner.text) for inner in of.body)} }}"
    return text


def stuck(explanation: Explanation) -> Iterator[str]:
    """Who can never go on, at the end of a run that shows it: a line for each."""
    for thread in () if explanation.conclusion is None else explanation.conclusion.stuck:
        where = "" if thread.site is None else f" from {brief(thread.site.statement)}"
        yield f"{holder(explanation.model, thread.slot)} can never go on{where}"


def name_only(step: Step) -> str | None:
    """A named step by its name alone; None for other statements."""
    of = None if step.site is None or step.event.kind is not EventKind.STEP else step.site.statement
    return f'step "{of.name}"' if isinstance(of, Atomic) and of.name is not None else None


def brief(of: Statement) -> str:
    """As `statement`, but a named step by its name alone."""
    return f'step "{of.name}"' if isinstance(of, Atomic) and of.name is not None else statement(of)


def _headline(text: str) -> str:
    return text.strip().removesuffix("{").rstrip()


def ending(step: Step) -> str:
    """How the step ended, where it did not simply succeed."""
    match step.event.ending:
        case Ending.OK:
            return ""
        case Ending.ERROR:
            return "model error"
        case _:
            return str(step.event.ending.value)


def reason(step: Step) -> str:
    """Why the step was refused, as far as the state tells."""
    return ", ".join(dict.fromkeys(map(_obstacle, step.obstacles)))


def _obstacle(obstacle: Obstacle) -> str:
    if obstacle.other is None:
        return f"{write_party(obstacle.party)} is down"
    return f"{link(obstacle.party, obstacle.other)} is cut"


def strike(step: Step) -> str:
    """The fault that struck during the statement, and what became of its effect; empty without one."""
    event = step.event
    if event.strike is None:
        return ""
    calling = step.site is not None and isinstance(step.site.statement, Call)
    match event.strike:
        case Strike.CRASH:
            words = f"{'?' if event.party is None else write_party(event.party)} crashes during it"
        case Strike.CUT:
            words = "the link is cut during it"
            if event.party is not None and event.other is not None:
                words = f"the link {link(event.party, event.other)} is cut during it"
        case Strike.LOSE:
            lost = "the reply is lost" if event.kept or event.kind is EventKind.REPLY else "the request is lost"
            return lost if calling or event.kind is EventKind.REPLY else f"{lost}: {_effect(event.kept)}"
        case Strike.DUPLICATE:
            return "delivered twice" if calling else "takes effect twice"
    return words if calling else f"{words}: {_effect(event.kept)}"


def sentence(model: Model, step: Step) -> str:
    """A step on one line: who acts, what, how it ends and why, and what struck."""
    ends = "" if step.event.ending is Ending.OK else f" ⇒ {ending(step)}"
    parts = (f"{actor(model, step)}: {action(step)}{ends}", reason(step), strike(step))
    return "; ".join(filter(None, parts))


def _effect(kept: bool | None) -> str:
    return "its effect is kept" if kept else "it has no effect"


def tells(model: Model, step: Step, change: Change) -> bool:
    """Whether a change is worth a line of its own.

    The step's own line already says that its party crashed, which arguments its request has, which id it drew, that
    its activation ends, and that threads begin after a restart; a loop that is struck before its first statement
    loses nothing.
    """
    event = step.event
    match change:
        case PartyChange(party, up):
            crashed = event.kind is EventKind.CRASH or event.strike is Strike.CRASH
            said = event.party == party and ((crashed and not up) or (event.kind is EventKind.RESTART and up))
            return not said
        case LinkChange():
            return event.kind not in (EventKind.CUT, EventKind.HEAL) and event.strike is not Strike.CUT
        case Started(slot):
            own = event.kind is EventKind.REQUEST and slot == event.slot
            return not own and event.kind is not EventKind.RESTART
        case Ended(slot, at):
            thread = thread_of(model, slot)
            idle = thread is not None and thread.kind is ThreadKind.LOOP and at == thread.body[0].id
            return (slot == event.slot and not ends_well(step)) or (slot != event.slot and not idle)
        case IdUsed(kind, index):
            drawn = {c.after for c in step.changes if isinstance(c, ValueChange) and isinstance(c.after, Id)}
            given = {v for c in step.changes if isinstance(c, Started) for _, v in c.arguments if isinstance(v, Id)}
            return Id(kind, index) not in drawn | given
        case Answered(slot):
            return slot != event.slot and event.kind is not EventKind.REPLY
        case _:
            return True


def change(of: Change, step: Step, explanation: Explanation) -> Entry:
    """A change as a name with what was there and what is there."""
    model = explanation.model
    match of:
        case ValueChange(scope, path, before, after, slot):
            foreign = scope is Scope.LOCAL and slot is not None and slot != step.event.slot
            name = f"{holder(model, slot)}: {path}" if foreign and slot is not None else path
            return Entry(name, "" if isinstance(before, Unset) else write_value(before), write_value(after))
        case QueueChange(path, item, before, after, move):
            return Entry(path, remark=f"{write_value(item)} {_move(model, step.event.slot, move, before, after)}")
        case LockChange(path, before, after, token):
            remark = "" if token is None else f"token {token}"
            return Entry(path, holder(model, before), holder(model, after), remark)
        case Started(slot, given, caller):
            stated = ", ".join(f"{name} = {write_value(value)}" for name, value in given)
            called = "" if caller in (None, step.event.slot) else f", for {holder(model, caller)}"
            return Entry(holder(model, slot), remark=f"begins{f' with {stated}' if stated else ''}{called}")
        case Ended(slot):
            words = _ended(of, step, explanation.sites)
            return Entry(holder(model, slot), remark=words, style=Style.PLAIN if words == "ends" else Style.BAD)
        case Answered(slot):
            return Entry(holder(model, slot), remark="gets unknown: no reply can come", style=Style.DOUBT)
        case PartyChange(party, up):
            return Entry(write_party(party), remark="is up again" if up else "is down")
        case LinkChange(party, other, connected):
            return Entry(link(party, other), remark="is connected again" if connected else "is cut")
        case IdUsed(kind, index):
            return Entry(str(Id(kind, index)), remark="is used")
        case ErrorRaised(error):
            return Entry("model error", remark=error.kind.value, style=Style.BAD)


def entries(step: Step, explanation: Explanation) -> list[Entry]:
    """The changes of a step that are worth telling."""
    model = explanation.model
    return [change(each, step, explanation) for each in step.changes if tells(model, step, each)]


def entry(of: Entry) -> str:
    """An entry on one line: `postgres.workflow[Workflow#0] none → RUNNING`."""
    values = [text for text in (of.before, of.after) if text]
    return " ".join(part for part in (of.name, " → ".join(values), of.remark) if part)


def holder(model: Model, of: Holder) -> str:
    match of:
        case Slot():
            return write_slot(of, places(model, of))
        case Loose.ORPHAN:
            return "orphaned"
        case _:
            return str(of.value)


def _move(model: Model, acting: Slot | None, move: Move, before: Holder | None, after: Holder | None) -> str:
    match move:
        case Move.ENTERED:
            return "enters"
        case Move.LEFT:
            if isinstance(before, Slot) and before != acting:
                return f"leaves, was taken by {holder(model, before)}"
            return "leaves, was orphaned" if before is Loose.ORPHAN else "leaves"
        case Move.TAKEN:
            return "is taken" if after == acting or after is None else f"is taken by {holder(model, after)}"
        case Move.GIVEN_BACK:
            return "is given back"
        case Move.ORPHANED:
            return "is orphaned" if before is None else f"is orphaned, was taken by {holder(model, before)}"
        case Move.REDELIVERED:
            return "is visible again"


def ends_well(step: Step) -> bool:
    """Whether the acting activation ends with this step, by coming to its end or by a failure that is caught."""
    ended = any(isinstance(c, Ended) and c.slot == step.event.slot for c in step.changes)
    return ended and not _uncaught(step)


def _uncaught(step: Step) -> bool:
    event = step.event
    failed = event.kind is EventKind.STEP and event.ending not in (Ending.OK, Ending.ERROR)
    return failed and step.site is not None and not catches(step.site, Failure(event.ending.value))


def _ended(of: Ended, step: Step, known: Mapping[int, Site]) -> str:
    """How an activation ended: at its own end, by a failure that nothing catches, or struck at some statement."""
    event = step.event
    site = None if of.at is None else known.get(of.at)
    if of.slot == event.slot:
        return f"ends: {event.ending.value} is not caught" if _uncaught(step) else "ends"
    if event.kind is EventKind.CRASH and event.party == Party(of.slot.process, of.slot.instance):
        if site is None:
            return "stopped before its reply"
        return f"stopped before {brief(site.statement)}  (line {site.statement.span.line})"
    answer = event.ending if event.kind is EventKind.REPLY and event.strike is None else Ending.UNKNOWN
    if answer in (Ending.OK, Ending.ERROR) or (site is not None and catches(site, Failure(answer.value))):
        return "ends"
    return f"ends: {answer.value} is not caught"


def location(of: Statement) -> str:
    return f"{of.span.source.name}:{of.span.line}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
