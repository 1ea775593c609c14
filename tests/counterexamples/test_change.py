"""What differs between two states; expectations follow from how the two states were made."""

from __future__ import annotations

from dataclasses import replace

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
    changes,
)
from spec.event import Party
from spec.state import Activation, ErrorKind, GlobalState, Holder, LockState, Loose, ModelError, QueueState
from spec.value import Row, Table, Value
from tests.counterexamples.sample import (
    COMPLETED,
    CRASHED,
    DECIDE_0,
    DECIDE_1,
    INITIAL,
    INSERTED,
    MODEL,
    REQUESTED,
    RUNNING,
    START_0,
    W0,
    W1,
)


def of(before: GlobalState, after: GlobalState) -> tuple[Change, ...]:
    return changes(MODEL, before, after, DECIDE_0)


def with_queue(*entries: tuple[Value, Holder]) -> GlobalState:
    return replace(INITIAL, queues={("redis", "decider"): QueueState(entries)})


def test_equal_states_have_no_changes() -> None:
    assert of(INITIAL, INITIAL) == ()


def test_a_request_starts_an_activation_and_uses_an_id() -> None:
    assert of(INITIAL, REQUESTED) == (Started(START_0, (("w", W0),), None), IdUsed("Workflow", 0))


def test_only_the_map_entry_that_changed_is_named() -> None:
    assert of(REQUESTED, INSERTED) == (ValueChange(Scope.STORE, "postgres.workflow[Workflow#0]", None, RUNNING),)


def test_only_the_record_field_that_changed_is_named() -> None:
    key = ("postgres", "task")
    table = INITIAL.values[key]
    assert isinstance(table, Table)
    changed = table.put(W1, Row("Task", (("status", RUNNING), ("superseded", True))))
    after = replace(INITIAL, values={**INITIAL.values, key: changed})
    assert of(INITIAL, after) == (ValueChange(Scope.STORE, "postgres.task[Workflow#1].superseded", False, True),)


def test_process_variables_and_ghosts_have_their_own_scope() -> None:
    after = replace(
        INITIAL,
        process_values={**INITIAL.process_values, ("Server", 1, "busy"): True},
        ghosts={"executed": Table(((W0, False), (W1, True)))},
    )
    assert of(INITIAL, after) == (
        ValueChange(Scope.PROCESS, "Server[1].busy", False, True),
        ValueChange(Scope.GHOST, "executed[Workflow#1]", False, True),
    )


def test_locals_are_told_of_the_activation_they_belong_to() -> None:
    after = replace(INITIAL, activations={**INITIAL.activations, DECIDE_0: Activation(4, {"w": W0, "retry:7": 2})})
    assert of(INITIAL, after) == (ValueChange(Scope.LOCAL, "w", Unset.UNSET, W0, DECIDE_0),)
    later = replace(INITIAL, activations={**INITIAL.activations, DECIDE_0: Activation(4, {"w": W1})})
    assert of(after, later) == (ValueChange(Scope.LOCAL, "w", W0, W1, DECIDE_0),)


def test_what_happens_to_a_queue_item() -> None:
    def moved(before: tuple[tuple[Value, Holder], ...], after: tuple[tuple[Value, Holder], ...]) -> list[Move]:
        found = of(with_queue(*before), with_queue(*after))
        return [change.move for change in found if isinstance(change, QueueChange)]

    visible, orphan = (W0, Loose.VISIBLE), (W0, Loose.ORPHAN)
    mine, theirs = (W0, DECIDE_0), (W0, DECIDE_1)
    assert moved((), (visible,)) == [Move.ENTERED]
    assert moved((visible,), ()) == [Move.LEFT]
    assert moved((visible,), (mine,)) == [Move.TAKEN]
    assert moved((mine,), (visible,)) == [Move.GIVEN_BACK]
    assert moved((mine,), (orphan,)) == [Move.ORPHANED]
    assert moved((orphan,), (visible,)) == [Move.REDELIVERED]
    assert moved((theirs,), (visible,)) == [Move.REDELIVERED]
    assert moved((visible,), (visible,)) == []


def test_one_of_several_copies_is_told_apart() -> None:
    before = with_queue((W0, Loose.VISIBLE), (W0, Loose.VISIBLE), (W1, Loose.VISIBLE))
    after = with_queue((W0, Loose.VISIBLE), (W0, DECIDE_0), (W1, Loose.VISIBLE))
    assert of(before, after) == (QueueChange("redis.decider", W0, Loose.VISIBLE, DECIDE_0, Move.TAKEN),)


def test_locks_with_keys_and_tokens() -> None:
    held = LockState(((W0, DECIDE_0, 1), (W1, Loose.FREE, 0)))
    taken = replace(INITIAL, locks={("redis", "wf"): held})
    assert of(INITIAL, taken) == (LockChange("redis.wf[Workflow#0]", Loose.FREE, DECIDE_0, 1),)
    freed = replace(INITIAL, locks={("redis", "wf"): LockState(((W0, Loose.ORPHAN, 1), (W1, Loose.FREE, 0)))})
    assert of(taken, freed) == (LockChange("redis.wf[Workflow#0]", DECIDE_0, Loose.ORPHAN, None),)


def test_a_crash_ends_activations_where_they_stood() -> None:
    assert of(INSERTED, CRASHED) == (
        PartyChange(Party("Server", 0), up=False),
        Ended(DECIDE_0, 3, None),
        Ended(START_0, 2, None),
    )


def test_links_and_errors() -> None:
    link = (Party("Server", 0), Party("postgres"))
    error = ModelError(ErrorKind.RANGE, 4)
    broken = replace(INITIAL, cut=frozenset({link}), error=error)
    assert of(INITIAL, broken) == (LinkChange(*link, connected=False), ErrorRaised(error))
    assert of(broken, INITIAL) == (LinkChange(*link, connected=True),)


def test_a_row_that_appears_changes_as_a_whole() -> None:
    row = Row("Task", (("status", COMPLETED), ("superseded", False)))
    after = replace(INITIAL, values={**INITIAL.values, ("postgres", "workflow"): Table(((W0, row), (W1, None)))})
    assert of(INITIAL, after) == (ValueChange(Scope.STORE, "postgres.workflow[Workflow#0]", None, row),)


def test_an_activation_that_need_not_wait_any_more_is_answered() -> None:
    waiting = replace(INITIAL, activations={DECIDE_0: Activation(4, {}, waiting=True)})
    going_on = replace(INITIAL, activations={DECIDE_0: Activation(3, {})})
    assert of(waiting, going_on) == (Answered(DECIDE_0),)
    assert of(going_on, waiting) == ()
