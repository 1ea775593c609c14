"""What a `live` property assumes of runs, in the terms in which a model's author can say it: how fair a thread, the
recovery from a fault, or the environment's requests are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from spec.event import Event, EventKind, Slot
from spec.interpreter import Interpreter
from spec.topology import Topology, link
from spec.typed import Fairness, FaultClass, FaultKind, Model, Process, Thread, ThreadKind


class AssumptionKind(Enum):
    THREAD = "thread"
    RECOVERY = "recovery"
    REQUEST = "request"
    """That the environment starts a thread again and again; a model cannot say so."""


@dataclass(frozen=True)
class Assumption:
    """name: `Server.sweep`, `restart postgres`, `heal Server -- postgres`, `requests of Server.start`"""

    kind: AssumptionKind
    name: str

    def __str__(self) -> str:
        return self.name


def assumed(model: Model) -> dict[Assumption, Fairness]:
    """How fair the threads and the recoveries of a model are, in its order.  Redeliveries and the expiry of leases that
    nobody holds are always weakly fair, and not among them."""
    found = {}
    for process in model.processes:
        for thread in process.threads:
            found[_of_thread(process.name, thread.name)] = thread.fairness
    for fault in model.faults:
        assumption = _of_fault(fault)
        if assumption is not None:
            found[assumption] = fault.fairness
    return found


def requests(model: Model) -> tuple[Assumption, ...]:
    """Of each thread that the environment starts."""
    return tuple(
        _of_requests(process.name, thread.name)
        for process in model.processes
        for thread in process.threads
        if thread.kind is ThreadKind.ON and not thread.called
    )


def with_fairness(model: Model, wanted: Mapping[Assumption, Fairness]) -> Model:
    """The model with the threads and recoveries that are mentioned as fair as wanted."""

    def thread(process: Process, each: Thread) -> Thread:
        return replace(each, fairness=wanted.get(_of_thread(process.name, each.name), each.fairness))

    def fault(each: FaultClass) -> FaultClass:
        assumption = _of_fault(each)
        return each if assumption is None else replace(each, fairness=wanted.get(assumption, each.fairness))

    processes = tuple(replace(p, threads=tuple(thread(p, each) for each in p.threads)) for p in model.processes)
    return replace(model, processes=processes, faults=tuple(map(fault, model.faults)))


@dataclass(frozen=True)
class Mover:
    """What is fair or not by itself: one slot, party or link, one queue's item, one lock's key, one slot's requests.

    assumption: None where a model cannot say how fair it is."""

    assumption: Assumption | None
    kind: EventKind
    subject: object


def mover(event: Event, topology: Topology) -> Mover | None:
    """Who moves by an event; None for a fault, which nobody owes."""
    match event.kind:
        case EventKind.STEP | EventKind.REPLY:
            if event.strike is not None:
                return None
            slot = _slot(event)
            return Mover(_of_thread(slot.process, slot.thread), EventKind.STEP, slot)
        case EventKind.REQUEST:
            slot = _slot(event)
            # Whichever place is free.
            return Mover(_of_requests(slot.process, slot.thread), event.kind, replace(slot, place=0))
        case EventKind.RESTART:
            assert event.party is not None
            fault = topology.crash_class(event.party)
            return Mover(None if fault is None else _of_fault(fault), event.kind, event.party)
        case EventKind.HEAL:
            assert event.party is not None
            assert event.other is not None
            ends = link(event.party, event.other)
            fault = topology.link_class(FaultKind.PARTITION, ends)
            return Mover(None if fault is None else _of_fault(fault), event.kind, ends)
        case EventKind.REDELIVER:
            return Mover(None, event.kind, (event.store, event.variable, event.item))
        case EventKind.EXPIRE if event.slot is None:
            return Mover(None, event.kind, (event.store, event.variable, event.item))
        case _:
            return None


Strength = Callable[[Mover], Fairness]
"""How fair somebody is."""


def strength(model: Model, more: Mapping[Assumption, Fairness] | None = None) -> Strength:
    """How fair everybody in a model is.  `more`: of requests, which are unfair else."""
    known = {**(more or {}), **assumed(model)}

    def of(each: Mover) -> Fairness:
        return Fairness.WEAK if each.assumption is None else known.get(each.assumption, Fairness.UNFAIR)

    return of


def owing(loop: Iterable[tuple[frozenset[Mover], Mover | None]]) -> dict[Mover, Fairness]:
    """What a run that repeats a loop for ever owes: for each mover that could move but never does, the least fairness
    that excludes the run.

    loop  for each state of it, who can move there and who does (None: nobody owes that step, or the run stays)
    """
    states = list(loop)
    taken = {moved for _, moved in states}
    able = frozenset[Mover]().union(*(can for can, _ in states))
    always = able.intersection(*(can for can, _ in states))
    return {each: Fairness.WEAK if each in always else Fairness.STRONG for each in able if each not in taken}


def able(interpreter: Interpreter, undisturbed: Iterable[Event]) -> frozenset[Mover]:
    """Who can move in a state with these steps without faults."""
    found = (mover(event, interpreter.topology) for event in undisturbed)
    return frozenset(each for each in found if each is not None)


def _of_thread(process: str, thread: str) -> Assumption:
    return Assumption(AssumptionKind.THREAD, f"{process}.{thread}")


def _of_requests(process: str, thread: str) -> Assumption:
    return Assumption(AssumptionKind.REQUEST, f"requests of {process}.{thread}")


def _of_fault(fault: FaultClass) -> Assumption | None:
    """The recovery from a fault class; None where there is none of its own."""
    if fault.kind is FaultKind.CRASH and fault.restart:
        return Assumption(AssumptionKind.RECOVERY, str(fault).replace("crash ", "restart ", 1))
    if fault.kind is FaultKind.PARTITION:
        return Assumption(AssumptionKind.RECOVERY, str(fault).replace("partition ", "heal ", 1))
    return None


def _slot(event: Event) -> Slot:
    assert event.slot is not None
    return event.slot


__all__ = [
    "Assumption",
    "AssumptionKind",
    "Mover",
    "Strength",
    "able",
    "assumed",
    "mover",
    "owing",
    "requests",
    "strength",
    "with_fairness",
]
