"""Expected judgements are written down from the meaning of the expectation verbs, case by case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.verdict import (
    Covered,
    HoldsTo,
    Judgement,
    NotARun,
    Proved,
    Refuted,
    Runs,
    Scope,
    Uncovered,
    UncoveredTo,
    Undecided,
    Verdict,
    faults_in,
    judge,
    title,
)
from spec.event import Event, EventKind, Party, Slot, Strike
from spec.state import LockState, Loose
from spec.typed import ExpectationVerb, FaultKind
from tests.checker.samples import CERTIFICATE, EMPTY, expectation, fault, model, trace

PROVED = Proved(CERTIFICATE)
REFUTED = Refuted(trace(), "search", None)
BOUND = HoldsTo(12, "time", "bmc")
OPEN = Undecided("time")
COVERED = Covered(trace(), "search", None)
UNCOVERED = Uncovered(CERTIFICATE)
UNCOVERED_TO = UncoveredTo(3, "time", "bmc")
RUNS = Runs(trace())
NOT_A_RUN = NotARun(1, "crash X")

MET, MISSED, INCONCLUSIVE = Judgement.MET, Judgement.MISSED, Judgement.INCONCLUSIVE
PROVES, REFUTES, REACHES = ExpectationVerb.PROVES, ExpectationVerb.REFUTES, ExpectationVerb.REACHES
RUNS_, FORBIDS = ExpectationVerb.RUNS, ExpectationVerb.FORBIDS


@pytest.mark.parametrize(
    ("verb", "verdict", "expected"),
    [
        (PROVES, PROVED, MET),
        (PROVES, REFUTED, MISSED),
        (PROVES, BOUND, INCONCLUSIVE),
        (PROVES, OPEN, INCONCLUSIVE),
        (REFUTES, REFUTED, MET),
        (REFUTES, PROVED, MISSED),
        (REFUTES, BOUND, INCONCLUSIVE),
        (REFUTES, OPEN, INCONCLUSIVE),
        (REACHES, COVERED, MET),
        (REACHES, UNCOVERED, MISSED),
        (REACHES, UNCOVERED_TO, INCONCLUSIVE),
        (REACHES, OPEN, INCONCLUSIVE),
        (RUNS_, RUNS, MET),
        (RUNS_, NOT_A_RUN, MISSED),
        (RUNS_, OPEN, INCONCLUSIVE),
        (FORBIDS, NOT_A_RUN, MET),
        (FORBIDS, RUNS, MISSED),
        (FORBIDS, OPEN, INCONCLUSIVE),
    ],
)
def test_judgement(verb: ExpectationVerb, verdict: Verdict, expected: Judgement) -> None:
    assert judge(expectation(verb), verdict) is expected


def test_a_bound_is_never_called_a_proof() -> None:
    assert title(BOUND) == "HOLDS TO 12"
    assert title(UNCOVERED_TO) == "NOT REACHED TO 3"
    assert title(PROVED) == "PROVED"


def test_scope_names_what_a_verdict_is_relative_to() -> None:
    assert str(Scope((), None)) == "no faults"
    assert str(Scope(("crash A",), 0)) == "no faults"
    assert str(Scope(("crash A", "lose A -- b"), None)) == "crash A, lose A -- b"
    assert str(Scope(("crash A",), 1)) == "at most 1 fault of: crash A"
    assert str(Scope(("crash A",), 2)) == "at most 2 faults of: crash A"


def test_faults_in_a_trace_are_counted_by_class() -> None:
    """A crash by itself, a strike during a statement, a recovery and a plain step: two faults."""
    server = Party("Server", 0)
    slot = Slot("Server", 0, "start")
    sample = model(fault(FaultKind.CRASH, "Server"), fault(FaultKind.LOSE, "Server", "postgres"))
    events = (
        Event(EventKind.STEP, slot),
        Event(EventKind.CRASH, party=server),
        Event(EventKind.RESTART, party=server),
        Event(EventKind.STEP, slot, strike=Strike.LOSE, party=server, other=Party("postgres"), kept=True),
    )
    assert faults_in(trace(*events, of=sample)) == ("crash Server", "lose Server -- postgres")


def test_a_lease_that_outlives_its_holder_ends_without_a_fault() -> None:
    slot = Slot("Server", 0, "start")
    sample = model(fault(FaultKind.EXPIRE, "redis", "wf"))
    event = Event(EventKind.EXPIRE, store="redis", variable="wf")
    orphaned = replace(EMPTY, locks={("redis", "wf"): LockState(((None, Loose.ORPHAN, 0),))})
    held = replace(EMPTY, locks={("redis", "wf"): LockState(((None, slot, 0),))})
    assert faults_in(replace(trace(event, of=sample), states=(orphaned, EMPTY))) == ()
    assert faults_in(replace(trace(event, of=sample), states=(held, EMPTY))) == ("expire redis.wf",)
