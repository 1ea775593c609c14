"""What is said of each step and of the end of a trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterexamples.change import ErrorRaised, LockChange
from counterexamples.explain import Held, Kind, Obstacle, Standing, explain
from counterexamples.trace import Trace
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.state import Activation, ErrorKind, LockState, Loose, ModelError, QueueState
from tests.counterexamples.sample import (
    ABANDONED,
    CRASH_POSTGRES,
    CRASH_SERVER,
    DECIDE_0,
    DECIDE_1,
    EXPIRE,
    INITIAL,
    INSERTED,
    LOSE,
    LOST,
    MODEL,
    REQUESTED,
    RUNNING,
    START_0,
    TAKE,
    W0,
    W1,
)


def test_kinds_and_fault_classes_of_the_steps() -> None:
    steps = explain(ABANDONED).steps
    assert [step.kind for step in steps] == [Kind.ENVIRONMENT, Kind.THREAD, Kind.FAULT, Kind.RECOVERY]
    assert [step.fault for step in steps] == [None, None, CRASH_SERVER, None]
    assert [step.number for step in steps] == [1, 2, 3, 4]
    assert [None if step.site is None else step.site.statement.text for step in steps] == [
        None,
        "postgres.workflow[w] := RUNNING",
        None,
        None,
    ]


def test_a_fault_during_a_statement_makes_the_step_a_fault() -> None:
    (_, struck) = explain(LOST).steps
    assert (struck.kind, struck.fault) == (Kind.FAULT, LOSE)
    assert struck.site is not None


def test_a_crash_of_a_store_during_a_statement_is_its_crash_class() -> None:
    event = Event(EventKind.STEP, START_0, 1, Ending.UNKNOWN, Strike.CRASH, False, Party("postgres"))
    trace = Trace(MODEL, (REQUESTED, replace(INITIAL, down=frozenset({Party("postgres")}))), (event,))
    assert explain(trace).steps[0].fault == CRASH_POSTGRES


def test_a_held_lease_expires_by_a_fault_and_an_orphaned_one_by_itself() -> None:
    def expiry(holder: Slot | Loose) -> tuple[Kind, object]:
        before = replace(INITIAL, locks={("redis", "wf"): LockState(((W0, holder, 1), (W1, Loose.FREE, 0)))})
        after = replace(INITIAL, locks={("redis", "wf"): LockState(((W0, Loose.FREE, 1), (W1, Loose.FREE, 0)))})
        slot = holder if isinstance(holder, Slot) else None
        event = Event(EventKind.EXPIRE, slot, store="redis", variable="wf", item=W0)
        step = explain(Trace(MODEL, (before, after), (event,))).steps[0]
        assert step.changes == (LockChange("redis.wf[Workflow#0]", holder, Loose.FREE, None),)
        return step.kind, step.fault

    assert expiry(DECIDE_0) == (Kind.FAULT, EXPIRE)
    assert expiry(Loose.ORPHAN) == (Kind.RECOVERY, None)


def test_a_refused_statement_names_what_is_down_and_what_is_cut() -> None:
    refused = Event(EventKind.STEP, START_0, 1, Ending.REFUSED)
    down = replace(REQUESTED, down=frozenset({Party("postgres")}))
    assert explain(Trace(MODEL, (down, down), (refused,))).steps[0].obstacles == (Obstacle(Party("postgres")),)
    cut = replace(REQUESTED, cut=frozenset({(Party("Server", 0), Party("postgres"))}))
    assert explain(Trace(MODEL, (cut, cut), (refused,))).steps[0].obstacles == (
        Obstacle(Party("Server", 0), Party("postgres")),
    )


def test_an_error_in_local_statements_is_told_at_the_statement_that_failed() -> None:
    error = ModelError(ErrorKind.NONE, 4)
    event = Event(EventKind.STEP, DECIDE_0, ending=Ending.ERROR)
    explained = explain(Trace(MODEL, (INITIAL, replace(INITIAL, error=error)), (event,)), "model_errors")
    (step,) = explained.steps
    assert step.site is not None
    assert step.site.statement.text == "postgres.workflow[w] := COMPLETED"
    assert step.changes == (ErrorRaised(error),)
    assert explained.conclusion is not None
    assert (explained.conclusion.error, explained.conclusion.site) == (error, step.site)


def test_the_end_of_an_at_rest_trace_lists_threads_and_what_is_left() -> None:
    stuck = replace(
        INSERTED,
        activations={DECIDE_0: Activation(4, {"w": W0}), DECIDE_1: Activation(3, {})},
        queues={("redis", "decider"): QueueState(((W0, Loose.ORPHAN),))},
        locks={("redis", "wf"): LockState(((W0, Loose.FREE, 0), (W1, DECIDE_0, 1)))},
        down=frozenset({Party("Server", 1)}),
    )
    trace = Trace(MODEL, (stuck,), ())
    conclusion = explain(trace, "none_abandoned", lambda _, slot: slot == DECIDE_0).conclusion
    assert conclusion is not None
    assert conclusion.blame is not None
    assert [(t.slot, t.site and t.site.statement.id, t.locals, t.moves) for t in conclusion.threads] == [
        (DECIDE_0, 4, (("w", W0),), True),
        (DECIDE_1, TAKE.id, (), False),
    ]
    assert conclusion.queues == (Held("redis.decider", W0, Loose.ORPHAN),)
    assert conclusion.locks == (Held("redis.wf[Workflow#1]", None, DECIDE_0),)
    assert conclusion.down == (Party("Server", 1),)
    assert conclusion.blame.readings[0].value == RUNNING


def test_an_activation_that_waits_for_a_reply_names_its_callee() -> None:
    calling = replace(
        INITIAL,
        activations={
            DECIDE_0: Activation(4, {}, waiting=True),
            START_0: Activation(None, {}, caller=DECIDE_0, ending="ok"),
        },
    )
    conclusion = explain(Trace(MODEL, (calling,), ()), "none_abandoned").conclusion
    assert conclusion is not None
    (waiting, answering) = conclusion.threads
    assert waiting.callee == START_0
    assert answering == Standing(START_0, None, None, (), None)


def test_a_name_that_is_no_property_is_rejected() -> None:
    with pytest.raises(ValueError, match="no property nothing"):
        explain(ABANDONED, "nothing")
    with pytest.raises(ValueError, match="no_vanish speaks of a step"):
        explain(Trace(MODEL, (INITIAL,), ()), "no_vanish")
