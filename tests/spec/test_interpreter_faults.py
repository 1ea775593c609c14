"""Crashes, partitions, lost and doubled requests at a store; expected successors by hand from docs/language.md."""

from __future__ import annotations

import pytest

from spec.event import Event, EventKind, Party
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import FaultClass, FaultKind, Model, Statement, Thread
from tests.spec.by_hand import (
    FALSE,
    OPTIONAL,
    ROWS,
    SMALL,
    a_queue,
    assign,
    atomic,
    attempt,
    brief,
    check,
    db,
    eq,
    fault,
    follow,
    ghost,
    insert,
    lit,
    locals_of,
    loop,
    model,
    names,
    on,
    own,
    place,
    plus,
    process,
    process_value,
    queue,
    slot,
    stands,
    steps,
    store,
    task,
    value,
    var,
    wait_for,
    when,
)

T = slot("t")
OK = "P0.t step ok"
CRASH_DB = fault("crash", "db")
CUT = fault("partition", "P", "db")
LOSE = fault("lose", "db", "P")
DUPLICATE = fault("duplicate", "P", "db")
DB, P0 = Party("db"), Party("P", 0)


def machine(*body: Statement, faults: tuple[FaultClass, ...], threads: tuple[Thread, ...] = ()) -> Interpreter:
    return Interpreter(
        model(
            store(value("x"), value("rows", ROWS), value("v", durable=False), a_queue("q", "bag", 3)),
            process("P", 1, task("t", *body), *threads),
            *faults,
        )
    )


def xs(m: Interpreter, state: GlobalState) -> list[tuple[str, object]]:
    """Every successor with the x it leads to."""
    return [(name, after.values["db", "x"]) for name, after in steps(m, state)]


def test_a_write_may_be_kept_or_lost_when_the_store_crashes_or_is_cut_off_or_a_message_is_lost() -> None:
    m = machine(assign(db("x"), lit(1)), faults=(CRASH_DB, CUT, LOSE))
    assert sorted(xs(m, m.initial()), key=str) == [
        ("P0.t step ok", 1),
        ("P0.t step unknown crash kept db", 1),
        ("P0.t step unknown crash lost db", 0),
        ("P0.t step unknown cut kept P0 db", 1),
        ("P0.t step unknown cut lost P0 db", 0),
        ("P0.t step unknown lose kept P0 db", 1),
        ("P0.t step unknown lose lost P0 db", 0),
        ("crash db", 0),
        ("cut P0 db", 0),
    ]


def test_after_the_strike_the_store_is_down_or_the_link_cut() -> None:
    m = machine(
        attempt([assign(db("x"), lit(1))], ("unknown", [assign(db("x"), lit(2))])), faults=(CRASH_DB, CUT, LOSE)
    )
    found = dict(steps(m, m.initial()))
    assert found["P0.t step unknown crash kept db"].down == {DB}
    assert found["P0.t step unknown cut lost P0 db"].cut == {(P0, DB)}
    lost = found["P0.t step unknown lose lost P0 db"]
    assert (lost.down, lost.cut) == (frozenset(), frozenset())
    assert all(stands(s, T) is not None for name, s in found.items() if "unknown" in name)


def test_a_read_cannot_be_kept() -> None:
    m = machine(assign(var("a"), db("x")), assign(db("x"), lit(1)), faults=(CRASH_DB, LOSE))
    assert names(m, m.initial()) == [
        "P0.t step ok",
        "P0.t step unknown crash lost db",
        "P0.t step unknown lose lost P0 db",
        "crash db",
    ]


def test_a_condition_that_reads_a_store_may_be_struck_but_its_blocks_do_not_count_as_its_writes() -> None:
    m = machine(when(eq(db("x"), lit(0)), [assign(db("x"), lit(1))]), faults=(LOSE, DUPLICATE))
    assert names(m, m.initial()) == ["P0.t step ok", "P0.t step unknown lose lost P0 db"]


def test_a_statement_that_waits_cannot_be_struck() -> None:
    m = machine(wait_for(eq(db("x"), lit(1))), faults=(LOSE, CRASH_DB))
    assert names(m, m.initial()) == ["crash db"]


def test_an_erring_statement_cannot_be_struck() -> None:
    m = machine(check(eq(db("x"), lit(1))), faults=(LOSE,))
    assert names(m, m.initial()) == ["P0.t step error"]


def test_no_fault_class_no_fault() -> None:
    m = Interpreter(machine(assign(db("x"), lit(1)), faults=(CRASH_DB, CUT, LOSE)).model, ())
    assert names(m, m.initial()) == [OK]


def test_locals_keep_their_values_when_the_answer_is_unknown() -> None:
    take = queue("take", "q", into=var("i"))
    m = machine(
        queue("push", "q", lit(1)),
        assign(var("i"), lit(0)),
        attempt([take], ("unknown", [assign(db("x"), var("i"))])),
        faults=(LOSE,),
    )
    state = follow(m, OK, "P0.t step unknown lose kept P0 db")
    assert state.queues["db", "q"].entries == ((1, T),)
    assert locals_of(state, T) == {"i": 0}


def test_refused_when_the_store_is_down_or_cut_off_and_nothing_is_evaluated() -> None:
    body = attempt([assign(db("x"), plus(lit(3), lit(1)))], ("refused", [assign(ghost("g"), lit(1))]))
    for faults, first in (((CRASH_DB,), "crash db"), ((CUT,), "cut P0 db")):
        m = Interpreter(model(store(value("x")), process("P", 1, task("t", body)), *faults, ghosts={"g": SMALL}))
        state = follow(m, first)
        refused = [s for name, s in steps(m, state) if name.startswith("P0.t")]
        assert [name for name in names(m, state) if name.startswith("P0.t")] == ["P0.t step refused"]
        assert refused[0].values == m.initial().values
        assert follow(m, OK, start=refused[0]).ghosts == {"g": 1}


def test_a_waiting_statement_is_refused_too() -> None:
    m = machine(queue("take", "q", into=var("i")), faults=(CRASH_DB,))
    assert names(m, follow(m, "crash db")) == ["P0.t step refused", "restart db"]


def test_a_partition_heals_and_a_store_restarts() -> None:
    m = machine(assign(db("x"), lit(1)), faults=(CRASH_DB, CUT))
    state = follow(m, "cut P0 db", "crash db")
    assert names(m, state) == ["P0.t step refused", "restart db", "heal P0 db"]
    assert follow(m, "restart db", "heal P0 db", start=state) == m.initial()


def test_a_crash_resets_volatile_variables_only() -> None:
    m = machine(assign(db("v"), lit(1)), assign(db("x"), lit(1)), assign(db("x"), lit(2)), faults=(CRASH_DB,))
    state = follow(m, OK, OK, "crash db")
    assert (state.values["db", "v"], state.values["db", "x"]) == (0, 1)


def test_a_volatile_write_that_was_kept_is_lost_with_the_crash() -> None:
    m = machine(assign(db("v"), lit(1)), faults=(CRASH_DB,))
    assert follow(m, "P0.t step unknown crash kept db").values["db", "v"] == 0


def test_without_restart() -> None:
    m = machine(
        assign(db("x"), lit(1)), faults=(fault("crash", "db", restart=False), fault("crash", "P", restart=False))
    )
    state = follow(m, "crash db", "crash P0")
    assert m.successors(state) == []


def test_a_crash_of_an_instance_resets_its_volatile_variables_and_restarts_its_threads() -> None:
    m = Interpreter(
        model(
            store(value("x")),
            process(
                "P",
                2,
                task("t", assign(own("soft"), lit(1)), assign(own("hard"), lit(1)), assign(db("x"), lit(1))),
                loop("l", assign(own("soft"), lit(2))),
                process_value("soft"),
                process_value("hard", durable=True),
            ),
            fault("crash", "P"),
        )
    )
    state = follow(m, OK, OK, "crash P0")
    assert state.process_values[("P", 0, "soft")] == 0
    assert state.process_values[("P", 0, "hard")] == 1
    assert set(state.activations) == {slot("t", 1), slot("l", 1)}
    assert state.down == {P0}
    state = follow(m, "restart P0", start=state)
    assert set(state.activations) == {slot("t", 1), slot("l", 1), slot("t"), slot("l")}
    # The task runs again from its beginning.
    assert follow(m, OK, start=state).process_values[("P", 0, "soft")] == 1


def test_requests_need_an_instance_that_is_up() -> None:
    m = Interpreter(
        model(store(value("x")), process("P", 1, on("start", assign(db("x"), lit(1)))), fault("crash", "P"))
    )
    assert names(m, follow(m, "crash P0")) == ["restart P0"]


def test_a_doubled_request_takes_effect_twice_and_is_answered_once() -> None:
    m = machine(assign(db("x"), plus(db("x"), lit(1))), faults=(DUPLICATE,))
    assert xs(m, m.initial()) == [(OK, 1), ("P0.t step ok duplicate P0 db", 2)]


def test_a_doubled_take_gets_two_items_but_tells_of_one() -> None:
    m = machine(
        queue("push", "q", lit(1)),
        queue("push", "q", lit(2)),
        queue("take", "q", into=var("i")),
        assign(db("x"), var("i")),
        faults=(DUPLICATE,),
    )
    state = follow(m, OK, OK)
    twice = [s for name, s in steps(m, state) if "duplicate" in name]
    assert [(s.queues["db", "q"].entries, locals_of(s, T)["i"]) for s in twice] == [
        (((1, T), (2, T)), 1),
        (((1, T), (2, T)), 2),
    ]


def test_the_second_time_may_do_nothing() -> None:
    entry = place(db("rows", ROWS), lit(0), kind=OPTIONAL)
    m = machine(insert(entry, lit(1)), assign(db("x"), lit(1)), faults=(DUPLICATE,))
    found = dict(steps(m, m.initial()))
    assert found["P0.t step ok duplicate P0 db"] == found[OK]
    alone = machine(queue("push", "q", lit(1)), queue("pop", "q", into=var("i")), faults=(DUPLICATE,))
    popped = dict(steps(alone, follow(alone, OK)))
    assert popped["P0.t step ok duplicate P0 db"] == popped[OK]


def test_the_second_time_may_err() -> None:
    m = machine(assign(db("x"), plus(db("x"), lit(2))), faults=(DUPLICATE,))
    assert names(m, m.initial()) == [OK, "P0.t step error duplicate P0 db"]


def test_a_statement_that_reports_a_duplicate_may_be_struck() -> None:
    entry = place(db("rows", ROWS), lit(0), kind=OPTIONAL)
    m = machine(insert(entry, lit(1)), insert(entry, lit(2)), faults=(LOSE,))
    state = follow(m, OK)
    assert names(m, state) == [
        "P0.t step duplicate",
        "P0.t step unknown lose lost P0 db",
        "P0.t step unknown lose kept P0 db",
    ]
    assert {s.values["db", "rows"] for _, s in steps(m, state)} == {state.values["db", "rows"]}


def test_a_block_on_two_stores() -> None:
    block = atomic(assign(db("x"), lit(1)), assign(db("y", store="other"), lit(1)))
    m = Interpreter(
        model(
            store(value("x")),
            store(value("y"), name="other"),
            process("P", 1, task("t", block)),
            fault("crash", "db"),
            fault("crash", "other"),
        )
    )
    found = dict(steps(m, m.initial()))
    assert set(found) == {
        OK,
        *(f"P0.t step unknown crash {how} {where}" for how in ("kept", "lost") for where in ("db", "other")),
        "crash db",
        "crash other",
    }
    kept = found["P0.t step unknown crash kept other"]
    assert (kept.values["db", "x"], kept.values["other", "y"], kept.down) == (1, 1, frozenset({Party("other")}))
    lost = found["P0.t step unknown crash lost db"]
    assert (lost.values["db", "x"], lost.values["other", "y"], lost.down) == (0, 0, frozenset({DB}))
    # With either of them down the block is refused as a whole.
    assert [n for n in names(m, found["crash other"]) if n.startswith("P0")] == ["P0.t step refused"]


def test_a_kept_block_keeps_its_ghosts() -> None:
    block = atomic(assign(db("x"), lit(1)), assign(ghost("g"), lit(1)))
    m = Interpreter(
        model(store(value("x")), process("P", 1, task("t", block)), fault("lose", "P", "db"), ghosts={"g": SMALL})
    )
    assert follow(m, "P0.t step unknown lose kept P0 db").ghosts == {"g": 1}
    assert follow(m, "P0.t step unknown lose lost P0 db").ghosts == {"g": 0}


def test_an_error_in_the_handler_of_a_strike_keeps_the_strike_in_the_event() -> None:
    wrong = check(FALSE)
    m = machine(attempt([assign(db("x"), lit(1))], ("unknown", [wrong])), faults=(LOSE,))
    found = {(e.ending.value, e.strike and e.strike.value, e.kept): s for e, s in m.successors(m.initial())}
    assert set(found) == {("ok", None, None), ("error", "lose", True), ("error", "lose", False)}
    struck = found["error", "lose", True]
    assert struck.error is not None
    assert struck.error.site == wrong.id
    assert struck.values == m.initial().values


def test_a_partition_between_instances_is_cut_in_sorted_order() -> None:
    m = Interpreter(
        model(process("P", 3, task("t", assign(own("p"), lit(1))), process_value("p")), fault("partition", "P", "P"))
    )
    cuts = [name for name in names(m, m.initial()) if name.startswith("cut")]
    assert cuts == ["cut P0 P1", "cut P0 P2", "cut P1 P2"]


@pytest.fixture
def every_class() -> Model:
    return model(
        store(value("x")),
        process("P", 2, task("t", assign(db("x"), lit(1)))),
        CRASH_DB,
        fault("crash", "P"),
        CUT,
        LOSE,
        DUPLICATE,
        fault("partition", "P", "P"),
    )


def test_each_event_knows_its_kind_and_class(every_class: Model) -> None:
    m = Interpreter(every_class)
    classes = {
        "P0.t step ok": None,
        "P0.t step unknown crash lost db": every_class.faults[0],
        "crash P1": every_class.faults[1],
        "P1.t step unknown cut kept P1 db": every_class.faults[2],
        "cut P0 db": every_class.faults[2],
        "P0.t step unknown lose lost P0 db": every_class.faults[3],
        "P0.t step ok duplicate P0 db": every_class.faults[4],
        "cut P0 P1": every_class.faults[5],
    }
    events = {brief(e): e for e, _ in m.successors(m.initial())}
    for name, expected in classes.items():
        assert m.fault_class(events[name]) == expected, name
        assert m.kind(events[name]) == ("thread" if expected is None else "fault"), name
    assert m.kind(Event(EventKind.HEAL, party=P0, other=DB)) == "recovery"
    assert m.kind(Event(EventKind.REQUEST, T)) == "environment"


def test_only_chosen_classes_are_enabled(every_class: Model) -> None:
    chosen = [f for f in every_class.faults if f.kind is FaultKind.PARTITION and f.second == "P"]
    m = Interpreter(every_class, chosen)
    assert names(m, m.initial()) == [OK, "P1.t step ok", "cut P0 P1"]


def test_undisturbed_successors_are_those_without_faults(every_class: Model) -> None:
    m = Interpreter(every_class)
    for state in (m.initial(), follow(m, "crash P1", "cut P0 db"), follow(m, "crash db", "P0.t step refused")):
        expected = [(e, s) for e, s in m.successors(state) if m.kind(e) != "fault"]
        assert m.undisturbed(state) == expected
        assert expected
