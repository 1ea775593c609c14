"""What happened in one step, in terms that the interpreter and the lowering share.

An event names who acted, at which statement, and how it ended.  It holds no state: the states before and after the
step stand in the trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, order=True)
class Slot:
    """One place in which an activation of a thread can run: `Server[1].sweep`, place 0."""

    process: str
    instance: int
    thread: str
    place: int = 0


@dataclass(frozen=True, order=True)
class Party:
    """A failure unit: a store (`instance` is None) or a process instance."""

    name: str
    instance: int | None = None


class EventKind(Enum):
    REQUEST = "request"
    """The environment starts an activation (`slot`)."""
    STEP = "step"
    """The activation in `slot` executes the statement `site`."""
    REPLY = "reply"
    """The called activation in `slot` ends and answers its caller."""
    CRASH = "crash"
    """`party` stops, outside of any call."""
    RESTART = "restart"
    CUT = "cut"
    """The link between `party` and `other` is cut, outside of any call to a store."""
    HEAL = "heal"
    REDELIVER = "redeliver"
    """The queue `store`.`variable` makes `item` visible again."""
    EXPIRE = "expire"
    """The lease on lock `store`.`variable` for key `item` ends."""


class Ending(Enum):
    """How a statement or reply ended for the activation."""

    OK = "ok"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    DUPLICATE = "duplicate"
    FAILED = "failed"
    ERROR = "error"
    """A model error or a failed assertion: the run stops here."""


class Strike(Enum):
    """A fault that strikes during a call."""

    CRASH = "crash"
    CUT = "cut"
    LOSE = "lose"
    DUPLICATE = "duplicate"


@dataclass(frozen=True)
class FairAction:
    """What a fairness assumption speaks of: all steps of one slot (kind STEP), or one recovery (kind RESTART, HEAL,
    REDELIVER or EXPIRE, whoever held the item or the lease)."""

    kind: EventKind
    slot: Slot | None = None
    party: Party | None = None
    other: Party | None = None
    store: str | None = None
    variable: str | None = None
    item: object = None


@dataclass(frozen=True)
class Event:
    """One step.

    slot    who acted; the running holder whose lease expires or whose item is redelivered; else None for a fault or
            recovery that strikes by itself
    site    id of the shared statement that was executed (`Statement.id`); None for an implicit reply, a request, a
            fault or a recovery
    ending  how the statement ended
    strike  the fault that struck during the statement, with `party`/`other` (CRASH: `party` crashed; otherwise the
            link between `party` and `other`)
    kept    with a strike: whether the statement's effect was kept
    callee  for a call, the activation that was started
    """

    kind: EventKind
    slot: Slot | None = None
    site: int | None = None
    ending: Ending = Ending.OK
    strike: Strike | None = None
    kept: bool | None = None
    party: Party | None = None
    other: Party | None = None
    callee: Slot | None = None
    store: str | None = None
    variable: str | None = None
    item: object = None


def fair_action(event: Event) -> FairAction | None:
    """The fair action that takes its step by the event; None for requests and faults, of which no run needs any."""
    match event.kind:
        case EventKind.STEP | EventKind.REPLY:
            return FairAction(EventKind.STEP, slot=event.slot) if event.strike is None else None
        case EventKind.RESTART | EventKind.HEAL | EventKind.REDELIVER:
            return FairAction(event.kind, None, event.party, event.other, event.store, event.variable, event.item)
        case EventKind.EXPIRE if event.slot is None:
            return FairAction(event.kind, store=event.store, variable=event.variable, item=event.item)
        case _:
            return None
