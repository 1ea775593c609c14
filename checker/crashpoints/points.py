"""Crash points: a step of a thread, and the moment at which a fault strikes there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from counterexamples.site import sites
from spec.control import Control, statements_in
from spec.effects import written_stores
from spec.event import Ending, Event, EventKind, Slot, Strike
from spec.prospects import next_shared
from spec.typed import Call, FaultKind, Model, Return, Thread


class Moment(Enum):
    """When the fault strikes.

    BEFORE, AFTER  the instance crashes while an activation stands before the step; after the activation has done the
                   step, and before it (or the next one in its place) does another
    REPLY_LOST     a store crashes, a link is cut or a message is lost during the step; its effect is kept
    REQUEST_LOST   the same, and it has no effect
    TWICE          it takes effect twice
    """

    BEFORE = "crash before"
    AFTER = "crash after"
    REPLY_LOST = "reply lost"
    REQUEST_LOST = "request lost"
    TWICE = "twice"


MOMENTS = tuple(Moment)
_LOSSES = frozenset({Strike.CRASH, Strike.CUT, Strike.LOSE})


@dataclass(frozen=True)
class Point:
    """A step of a thread.

    site       the statement; None for the answer of a called handler at its end
    locations  where an activation stands before it, as `spec.state.Activation.at` says it
    """

    process: str
    thread: str
    site: int | None
    locations: frozenset[int | None]

    def owns(self, slot: Slot) -> bool:
        return (slot.process, slot.thread) == (self.process, self.thread)


@dataclass(frozen=True)
class Cell:
    """A fault at one moment of one step.  name: unique in its map.

    alone: only when nothing else is going on: every other activation, of any instance, stands at its first statement,
    or waits for the one that is struck, or for one that waits for it."""

    point: Point
    moment: Moment
    alone: bool = False

    @property
    def name(self) -> str:
        site = "end" if self.point.site is None else str(self.point.site)
        alone = ".alone" if self.alone else ""
        return f"{self.point.process}.{self.point.thread}.{site}.{self.moment.name.lower()}{alone}"

    @property
    def is_crash(self) -> bool:
        """Whether it is the instance that crashes, and not something that the step speaks to."""
        return self.moment in (Moment.BEFORE, Moment.AFTER)

    def meant(self, event: Event, stands: Callable[[Slot], bool]) -> bool:
        """Whether a fault event is one of this cell, as far as what is struck says; for BEFORE and AFTER the activation
        must stand there besides.

        stands: whether an activation stood before the step.  It is asked only for a step that came to a model error
        after the fault: its event names the statement of the error, not the one that was struck."""
        if self.is_crash:
            return event.kind is EventKind.CRASH and event.party is not None and event.party.name == self.point.process
        if event.strike is None or event.slot is None or not self.point.owns(event.slot):
            return False
        match self.moment:
            case Moment.TWICE:
                struck = event.strike is Strike.DUPLICATE
            case _:
                struck = event.strike in _LOSSES and event.kept is (self.moment is Moment.REPLY_LOST)
        if not struck:
            return False
        if event.ending is Ending.ERROR:
            return stands(event.slot)
        if self.point.site is None:
            return event.kind is EventKind.REPLY and event.site is None
        return event.site == self.point.site


def steps(event: Event) -> Slot | None:
    """The place whose activation does a step by the event."""
    return event.slot if event.kind in (EventKind.STEP, EventKind.REPLY) else None


def begins(event: Event) -> Slot | None:
    """The place in which an event that is no recovery starts an activation."""
    return event.slot if event.kind is EventKind.REQUEST else event.callee


def entries(model: Model) -> dict[tuple[str, str], int]:
    """The first statement of each thread, by process and thread."""
    return {(p.name, t.name): t.body[0].id for p in model.processes for t in p.threads if t.body}


def followed(cells: Iterable[Cell], slots: Iterable[Slot]) -> dict[Slot, frozenset[int | None]]:
    """The places whose last step matters, each with the steps that do."""
    after = [cell.point for cell in cells if cell.moment is Moment.AFTER]
    found = {slot: frozenset(point.site for point in after if point.owns(slot)) for slot in slots}
    return {slot: sites for slot, sites in found.items() if sites}


def points_of(model: Model, events: Iterable[Event]) -> tuple[Point, ...]:
    """The steps of a model that are among `events`, in the order of the source.  events: all that its threads do."""
    control = Control(model)
    done: set[tuple[str, str, int | None]] = set()
    for event in events:
        if event.kind in (EventKind.STEP, EventKind.REPLY) and event.ending is not Ending.ERROR and event.slot:
            done.add((event.slot.process, event.slot.thread, event.site))
    found = []
    for process in model.processes:
        for thread in process.threads:
            standing = _standing(control, thread)
            shared = [statement.id for statement in statements_in(thread.body) if statement.shared]
            for site in (*shared, None):
                if (process.name, thread.name, site) in done:
                    where = frozenset(at for at, following in standing.items() if site in following)
                    found.append(Point(process.name, thread.name, site, where))
    return tuple(found)


def _standing(control: Control, thread: Thread) -> dict[int | None, frozenset[int | None]]:
    """For everywhere that an activation may stand, what it may execute next."""
    places = [s.id for s in statements_in(thread.body)]
    found: dict[int | None, frozenset[int | None]] = {at: next_shared(control, thread, at) for at in places}
    found[None] = frozenset({None})
    return found


def conceivable(cell: Cell, model: Model) -> bool:
    """Whether the step is one at which something can be lost or done twice like that, whatever fault classes there are:
    a crash is, at every step; an effect can be kept or doubled only of a statement that writes to a store, or of a
    call's request; of an answer only the reply can be lost."""
    if cell.is_crash:
        return True
    if _answers(cell.point, model):
        return cell.moment is Moment.REPLY_LOST and bool(touched(cell.point, model))
    statement = sites(model)[cell.point.site or 0].statement
    if isinstance(statement, Call):
        return cell.moment is not Moment.REPLY_LOST
    return bool(statement.stores if cell.moment is Moment.REQUEST_LOST else written_stores(statement))


def declared(cell: Cell, model: Model) -> bool:
    """Whether the model has a fault class that strikes there, at a step at which that is conceivable."""
    own = cell.point.process
    if cell.is_crash:
        return any(fault.kind is FaultKind.CRASH and fault.first == own for fault in model.faults)
    others = touched(cell.point, model)
    if cell.moment is Moment.TWICE:
        wanted = {FaultKind.DUPLICATE}
    elif _answers(cell.point, model):
        wanted = {FaultKind.LOSE}
    else:
        wanted = {FaultKind.PARTITION, FaultKind.LOSE}
    crashing = set() if cell.moment is Moment.TWICE else others & {store.name for store in model.stores}
    return any(
        (fault.kind is FaultKind.CRASH and fault.first in crashing)
        or (fault.kind in wanted and any({fault.first, fault.second} == {own, other} for other in others))
        for fault in model.faults
    )


def _answers(point: Point, model: Model) -> bool:
    """Whether the step answers a caller."""
    site = None if point.site is None else sites(model)[point.site]
    return site is None or (isinstance(site.statement, Return) and site.thread.called)


def touched(point: Point, model: Model) -> frozenset[str]:
    """The stores that a step touches, the process that it calls, or the processes whose calls it answers."""
    known = sites(model)
    if _answers(point, model):
        return frozenset(
            each.process.name
            for each in known.values()
            if isinstance(each.statement, Call)
            and not each.statement.send
            and (each.statement.process, each.statement.thread) == (point.process, point.thread)
        )
    statement = known[point.site or 0].statement
    return frozenset({statement.process}) if isinstance(statement, Call) else statement.stores
