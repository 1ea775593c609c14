"""Engines in processes of their own: what they decide comes back, and whatever ends them, nothing else does."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence

import pytest

from checker.certificates.invariant import Invariant
from checker.certificates.rescue import Rescue
from checker.engines.engine import (
    Bounded,
    Budget,
    Engine,
    FewRounds,
    Inductive,
    Lasso,
    NoFairCycle,
    Outcome,
    Progress,
    Reached,
    Reporter,
    Undecided,
)
from checker.liveness.counting import counting_system
from checker.logic.formula import FALSE, TRUE, equals, member
from checker.planning.worker import Decided, Ended, Message, Worker, pack, unpack, wait_for
from checker.transition_system import Form, LiveCase, Property, TransitionSystem
from tests.checker.samples import Closed, FakeEngine, Unreachable, X, counter, path, prop

P, Q = prop("p"), prop("q")
SYSTEM = counter(P, Q)


def engine(behaviour: Callable[[Reporter], None]) -> Callable[[], Engine]:
    def run(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        behaviour(reporter)

    return lambda: FakeEngine("fake", run)


def start(behaviour: Callable[[Reporter], None]) -> Worker:
    return Worker("fake", engine(behaviour), SYSTEM, (P, Q), Budget())


def everything(worker: Worker, seconds: float = 20.0) -> list[Message]:
    found: list[Message] = []
    deadline = time.monotonic() + seconds
    while not worker.ended and time.monotonic() < deadline:
        wait_for([worker], 1.0)
        found += worker.messages()
    worker.stop()
    return found


OUTCOMES: list[Outcome] = [
    Reached(path(SYSTEM, 2), None),
    Reached(path(SYSTEM, 2), "because"),
    Inductive(Invariant(((equals(X, 2),), (member(X, 0b110),))), 3),
    Inductive(Invariant(()), 1, (Rescue((SYSTEM.actions[0], SYSTEM.actions[0])), Rescue(()))),
    Lasso(path(SYSTEM, 2), 1, 3, None),
    Lasso(path(SYSTEM, 1), 1, 0, "because"),
    Bounded(4, "time"),
    Undecided("too hard"),
]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
def test_outcomes_come_back_as_they_were(outcome: Outcome) -> None:
    assert unpack(SYSTEM, pack(SYSTEM, outcome), P) == outcome
    found = everything(start(lambda reporter: reporter.decided(Q, outcome)))
    assert found == [Decided(Q, outcome), Ended(None)]
    assert isinstance(found[0], Decided)
    assert found[0].target is Q


def test_a_bound_for_fair_rounds_comes_back_as_it_was() -> None:
    """The invariants speak of variables of systems that count, which each process makes for itself."""
    cases = (LiveCase(TRUE, equals(X, 2)), LiveCase(equals(X, 1), equals(X, 2)))
    live = Property("l", Form.LIVE, FALSE, cases=cases)
    found = []
    for case, most in zip(cases, (1, 3), strict=True):
        count = counting_system(SYSTEM, case, most).count
        found.append(Invariant(((equals(X, 0), equals(count, most)),)))
    back = unpack(SYSTEM, pack(SYSTEM, FewRounds((1, 3), tuple(found), 4)), live)
    assert isinstance(back, FewRounds)
    assert (back.rounds, back.frames) == ((1, 3), 4)
    told = [[[(part.variable and part.variable.name, part.mask) for part in cube] for cube in i.cubes] for i in found]
    assert told == [
        [[(part.variable and part.variable.name, part.mask) for part in cube] for cube in each.cubes]
        for each in back.invariants
    ]
    assert back.invariants[0].cubes[0][0] is equals(X, 0)


def test_what_is_as_large_as_the_state_space_cannot_be_sent() -> None:
    for outcome in (Unreachable(Closed(), 1), NoFairCycle(Closed(), 1, lambda: None)):
        with pytest.raises(TypeError):
            pack(SYSTEM, outcome)


def test_progress_comes_back() -> None:
    told = Progress("fake", 3, None, None)
    assert everything(start(lambda reporter: reporter.progress(told)))[0] == told


def test_a_killed_process_keeps_what_it_had_decided() -> None:
    def forever(reporter: Reporter) -> None:
        reporter.decided(P, Bounded(1, "x"))
        time.sleep(600)

    worker = start(forever)
    wait_for([worker], 20.0)
    first = list(worker.messages())
    assert first == [Decided(P, Bounded(1, "x"))]
    os.kill(worker.pid, signal.SIGKILL)
    (last,) = everything(worker)
    assert isinstance(last, Ended)
    assert last.reason is not None
    assert "SIGKILL" in last.reason
    assert last.detail is None


def test_half_a_message_counts_for_nothing() -> None:
    """The process dies after the length of a message and half of its content."""

    def half(reporter: Reporter) -> None:
        whole = b"\x00\x00\x01\x00" + b"x" * 100
        os.write(reporter._connection.fileno(), whole)  # type: ignore[attr-defined]
        os.kill(os.getpid(), signal.SIGKILL)

    (last,) = everything(start(half))
    assert isinstance(last, Ended)
    assert last.reason is not None


def test_out_of_memory_is_a_reason_and_no_failure() -> None:
    def hungry(reporter: Reporter) -> None:
        reporter.decided(P, Undecided("hard"))
        raise MemoryError

    assert everything(start(hungry)) == [Decided(P, Undecided("hard")), Ended("out of memory")]


def test_an_exception_comes_back_with_its_traceback() -> None:
    def broken(reporter: Reporter) -> None:
        raise ZeroDivisionError("oops")

    (last,) = everything(start(broken))
    assert isinstance(last, Ended)
    assert "oops" in (last.reason or "")
    assert "broken" in (last.detail or "")


def test_stop_ends_the_process_at_once() -> None:
    def forever(reporter: Reporter) -> None:
        while True:
            time.sleep(1)

    worker = start(forever)
    pid = worker.pid
    started = time.monotonic()
    worker.stop()
    assert time.monotonic() - started < 3
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(not os.path.exists("/proc"), reason="looks at /proc")
def test_the_process_dies_with_its_parent() -> None:
    """A process in between starts a worker and is killed; the worker must not outlive it for long."""
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        os.close(reading)
        worker = start(lambda reporter: time.sleep(600))
        os.write(writing, f"{worker.pid}\n".encode())
        time.sleep(600)
    os.close(writing)
    with os.fdopen(reading) as stream:
        pid = int(stream.readline())
    os.kill(between, signal.SIGKILL)
    os.waitpid(between, 0)
    for _ in range(100):
        if not _is_running(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the worker lives on")


def _is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
