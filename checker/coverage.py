"""What never happens in a model: threads, statements and fault classes that no explored step shows.

One variant may well leave out what another does, so only what happens in none of them is worth a remark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from checker.engines.engine import Coverage
from checker.remark import Remark, RemarkKind
from checker.transition_system import TransitionSystem
from counterexamples.site import blocks
from spec.typed import Atomic, Block, Model, Statement


@dataclass(frozen=True)
class Activity:
    """What can be expected to happen in one variant: remarks for what did not, and for what did."""

    idle: tuple[Remark, ...]
    busy: frozenset[Remark]


def activity(model: Model, system: TransitionSystem, coverage: Coverage) -> Activity | None:
    """What happened in a model's steps; None unless the whole state space was explored."""
    if not coverage.complete:
        return None
    fired = [system.actions[index] for index in coverage.fired]
    threads = {(action.event.slot.process, action.event.slot.thread) for action in fired if action.event.slot}
    happened: dict[RemarkKind, set[object]] = {
        RemarkKind.STATEMENT_NEVER_RUNS: {action.event.site for action in fired},
        RemarkKind.THREAD_NEVER_RUNS: {*threads},
        RemarkKind.FAULT_NEVER_STRIKES: {action.fault for action in fired},
    }
    return _activity((remark, key in happened[remark.kind]) for remark, key in _expected(model))


def told(model: Model, found: Activity) -> tuple[bool, ...]:
    """For everything that may fail to happen in a model, in its order, whether it happened."""
    return tuple(remark in found.busy for remark, _ in _expected(model))


def retold(model: Model, happened: Sequence[bool]) -> Activity:
    """The activity that `told` tells of.  Raises ValueError where it is that of another model."""
    expected = [remark for remark, _ in _expected(model)]
    return _activity(zip(expected, happened, strict=True))


def _activity(found: Iterable[tuple[Remark, bool]]) -> Activity:
    known = tuple(found)
    idle = tuple(remark for remark, busy in known if not busy)
    return Activity(idle, frozenset(remark for remark, busy in known if busy))


def never_happened(activities: Iterable[Activity | None]) -> tuple[Remark, ...]:
    """Remarks on what happened in none of the variants; none unless all were explored.  Of a thread that never runs no
    statement is mentioned."""
    known = list(activities)
    if not all(known):
        return ()
    busy = {remark for each in known if each for remark in each.busy}
    idle = [remark for each in known if each for remark in each.idle if remark not in busy]
    threads = {remark.subject for remark in idle if remark.kind is RemarkKind.THREAD_NEVER_RUNS}
    return tuple(
        remark
        for remark in dict.fromkeys(idle)
        if not (remark.kind is RemarkKind.STATEMENT_NEVER_RUNS and remark.subject in threads)
    )


def _expected(model: Model) -> Iterator[tuple[Remark, object]]:
    """A remark for everything that may fail to happen, with what tells whether it did."""
    for process in model.processes:
        for thread in process.threads:
            name = f"{process.name}.{thread.name}"
            remark = Remark(RemarkKind.THREAD_NEVER_RUNS, name, f"{name} never runs", thread.span)
            yield remark, (process.name, thread.name)
            for statement in _steps(thread.body):
                message = f"{name} never executes {statement.text!r}"
                yield Remark(RemarkKind.STATEMENT_NEVER_RUNS, name, message, statement.span), statement.id
    for fault in model.faults:
        message = f"the fault '{fault}' never strikes"
        yield Remark(RemarkKind.FAULT_NEVER_STRIKES, str(fault), message, fault.span), str(fault)


def _steps(block: Block) -> Iterator[Statement]:
    """The statements that are steps of their own."""
    for statement in block:
        if statement.shared:
            yield statement
        if not isinstance(statement, Atomic):
            for inner in blocks(statement):
                yield from _steps(inner)
