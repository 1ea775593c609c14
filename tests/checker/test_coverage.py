"""The model has two threads: `ran` with two steps, of which the second is taken in no state, and `idle`."""

from __future__ import annotations

from dataclasses import replace

from checker.coverage import activity, never_happened
from checker.engines.engine import Coverage
from checker.logic.formula import FALSE, TRUE
from checker.remark import RemarkKind
from checker.transition_system import Action, Kind, TransitionSystem
from spec.event import Event, EventKind, Party, Slot
from spec.typed import Await, FaultKind, Literal, Process, Thread, ThreadKind
from spec.types import BOOL, IdType
from tests.checker.samples import SPAN, fault, model


def await_(number: int, shared: bool = True) -> Await:
    return Await(number, SPAN, f"await {number}", frozenset(), shared, True, Literal(BOOL, SPAN, True))


def thread(name: str, *statements: Await) -> Thread:
    return Thread(name, ThreadKind.LOOP, (), None, 1, False, (), statements, SPAN, "")


RAN, IDLE = thread("ran", await_(1), await_(2), await_(3, shared=False)), thread("idle", await_(4))
MODEL = replace(
    model(fault(FaultKind.CRASH, "Server"), fault(FaultKind.CRASH, "redis")),
    processes=(Process("Server", IdType("Server", 1, True), (), (RAN, IDLE), SPAN, ""),),
)


def action(index: int, event: Event, kind: Kind = Kind.THREAD, fault_class: str | None = None) -> Action:
    return Action(index, event, kind, TRUE, {}, fault_class)


SYSTEM = TransitionSystem(
    (),
    (
        action(0, Event(EventKind.STEP, Slot("Server", 0, "ran"), 1)),
        action(1, Event(EventKind.STEP, Slot("Server", 0, "ran"), 2)),
        action(2, Event(EventKind.CRASH, party=Party("Server", 0)), Kind.FAULT, "crash Server"),
        action(3, Event(EventKind.CRASH, party=Party("redis")), Kind.FAULT, "crash redis"),
    ),
    (),
    FALSE,
)


def test_what_never_happened() -> None:
    remarks = never_happened([activity(MODEL, SYSTEM, Coverage({0, 2}, True))])
    assert [(remark.kind, remark.subject) for remark in remarks] == [
        (RemarkKind.STATEMENT_NEVER_RUNS, "Server.ran"),
        (RemarkKind.THREAD_NEVER_RUNS, "Server.idle"),
        (RemarkKind.FAULT_NEVER_STRIKES, "crash redis"),
    ]
    assert remarks[0].message == "Server.ran never executes 'await 2'"


def test_what_another_variant_does_is_not_mentioned() -> None:
    """The second variant takes the second step and lets redis crash; no variant runs the other thread."""
    both = [activity(MODEL, SYSTEM, Coverage(fired, True)) for fired in ({0, 2}, {0, 1, 3})]
    assert [(remark.kind, remark.subject) for remark in never_happened(both)] == [
        (RemarkKind.THREAD_NEVER_RUNS, "Server.idle")
    ]


def test_nothing_is_said_of_a_space_that_was_not_explored() -> None:
    explored, cut_short = (activity(MODEL, SYSTEM, Coverage({0, 2}, complete)) for complete in (True, False))
    assert cut_short is None
    assert never_happened([explored, cut_short]) == ()
