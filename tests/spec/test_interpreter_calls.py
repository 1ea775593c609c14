"""Calls, replies and sends; expected successors by hand from docs/language.md, "Calls" and "Faults"."""

from __future__ import annotations

import pytest

from spec.event import Party
from spec.interpreter import Interpreter
from spec.state import Loose
from spec.typed import FaultClass, Literal, Statement, Thread
from spec.types import IdType
from spec.value import Id
from tests.spec.by_hand import (
    FALSE,
    OPTIONAL,
    ROWS,
    SPAN,
    a_lock,
    a_queue,
    assign,
    attempt,
    call,
    check,
    db,
    either,
    eq,
    fail,
    fault,
    follow,
    give_back,
    handler,
    insert,
    lit,
    locals_of,
    lock,
    loop,
    model,
    names,
    parameter,
    place,
    plus,
    process,
    queue,
    slot,
    stands,
    steps,
    store,
    task,
    value,
    var,
    when,
)

CALLER = slot("t", 0, 0, "C")
SERVER = slot("h", 0, 0, "S")
LOSE = fault("lose", "S", "C")
CUT = fault("partition", "C", "S")
DUPLICATE = fault("duplicate", "C", "S")
CRASH = fault("crash", "S")
CALL = "C0.t step ok -> S0.h#0"
NOTED = {"refused": 1, "unknown": 2, "failed": 3}


def noting(*body: Statement) -> Statement:
    """Writes to y which failure came, 1, 2 or 3."""
    return attempt(body, *((kind, [assign(db("y"), lit(n))]) for kind, n in NOTED.items()))


def machine(
    *body: Statement,
    answer: Thread | None = None,
    faults: tuple[FaultClass, ...] = (),
    servers: int = 1,
    callers: int = 1,
) -> Interpreter:
    """Caller process C with task `t`, server process S with handler `h(n)`, which by default writes x and answers n."""
    served = answer or handler("h", assign(db("x"), var("n")), give_back(var("n")), parameters=[parameter("n")])
    return Interpreter(
        model(
            store(value("x"), value("y"), a_queue("q"), a_lock("k")),
            process("C", callers, task("t", *body)),
            process("S", servers, served),
            *faults,
        )
    )


def ask(n: int = 2, send: bool = False) -> Statement:
    return call("S", "h", lit(n), into=None if send else var("r"), send=send)


def test_a_call_waits_for_the_reply() -> None:
    request, store_it = ask(), assign(db("y"), var("r"))
    m = machine(request, store_it)
    state = follow(m, CALL)
    assert state.activations[CALLER].waiting
    assert stands(state, CALLER) == request.id
    assert state.activations[SERVER].caller == CALLER
    assert locals_of(state, SERVER) == {"n": 2}
    state = follow(m, "S0.h step ok", start=state)
    assert state.values["db", "x"] == 2
    state = follow(m, "S0.h reply ok", start=state)
    assert set(state.activations) == {CALLER}
    assert not state.activations[CALLER].waiting
    assert stands(state, CALLER) == store_it.id
    assert locals_of(state, CALLER) == {"r": 2}
    assert follow(m, "C0.t step ok", start=state).values["db", "y"] == 2


def test_the_reply_names_the_return_and_its_error() -> None:
    back = give_back(plus(var("n"), lit(2)))
    m = machine(ask(2), answer=handler("h", assign(db("x"), lit(1)), back, parameters=[parameter("n")]), faults=(LOSE,))
    state = follow(m, CALL, "S0.h step ok")
    assert stands(state, SERVER) == back.id
    [(event, after)] = m.successors(state)
    assert (event.kind.value, event.ending.value, event.site) == ("reply", "error", back.id)
    assert after.error is not None
    assert after.activations == state.activations
    fine = machine(ask(1), answer=handler("h", assign(db("x"), lit(1)), back, parameters=[parameter("n")]))
    [(event, _)] = fine.successors(follow(fine, CALL, "S0.h step ok"))
    assert event.site == back.id


def test_an_implicit_end_is_a_reply_of_its_own() -> None:
    m = machine(call("S", "h"), assign(db("y"), lit(1)), answer=handler("h", assign(db("x"), lit(1))))
    state = follow(m, CALL, "S0.h step ok")
    assert stands(state, SERVER) is None
    assert state.activations[SERVER].ending == "ok"
    [(event, after)] = m.successors(state)
    assert (event.kind.value, event.site) == ("reply", None)
    assert set(after.activations) == {CALLER}


def test_an_empty_handler_answers_at_once() -> None:
    m = machine(call("S", "h"), assign(db("y"), lit(1)), answer=handler("h"))
    assert names(m, follow(m, CALL)) == ["S0.h reply ok"]


def test_a_choice_that_leads_straight_to_the_return_is_made_by_the_reply() -> None:
    answer = handler("h", either([give_back(lit(1))], [assign(db("x"), lit(3)), give_back(lit(2))]))
    m = machine(call("S", "h", into=var("r")), assign(db("y"), var("r")), answer=answer)
    assert sorted(names(m, follow(m, CALL))) == ["S0.h reply ok", "S0.h step ok"]


def test_refused_when_no_instance_is_up_or_connected() -> None:
    m = machine(noting(ask()), faults=(CRASH, CUT), servers=2)
    state = follow(m, "crash S0")
    assert "C0.t step ok -> S1.h#0" in names(m, state)
    state = follow(m, "cut C0 S1", start=state)
    assert [n for n in names(m, state) if n.startswith("C0")] == ["C0.t step refused"]
    assert follow(m, "C0.t step refused", "C0.t step ok", start=state).values["db", "y"] == NOTED["refused"]


def test_any_connected_instance_may_get_the_call() -> None:
    m = machine(ask(), servers=2)
    assert names(m, m.initial()) == [CALL, "C0.t step ok -> S1.h#0"]


def test_a_numbered_call_goes_to_that_instance_only() -> None:
    second = Literal(IdType("S", 2, True), SPAN, Id("S", 1, True))
    m = machine(noting(call("S", "h", lit(1), instance=second)), faults=(CRASH,), servers=2)
    assert [n for n in names(m, m.initial()) if n.startswith("C0")] == ["C0.t step ok -> S1.h#0"]
    assert [n for n in names(m, follow(m, "crash S1")) if n.startswith("C0")] == ["C0.t step refused"]


def test_a_call_waits_while_connected_instances_have_no_free_place() -> None:
    m = machine(ask(), callers=2)
    state = follow(m, CALL)
    assert names(m, state) == ["S0.h step ok"]
    state = follow(m, "S0.h step ok", "S0.h reply ok", start=state)
    assert names(m, state) == ["C1.t step ok -> S0.h#0"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ([fail()], "failed"),
        ([assign(db("x"), lit(1)), fail()], "failed"),
    ],
)
def test_an_uncaught_failure_of_the_handler_reaches_the_caller(body: list[Statement], expected: str) -> None:
    m = machine(noting(call("S", "h")), answer=handler("h", *body))
    state = follow(m, CALL)
    if len(body) == 2:
        state = follow(m, "S0.h step ok", start=state)
        assert (stands(state, SERVER), state.activations[SERVER].ending) == (None, expected)
    state = follow(m, f"S0.h reply {expected}", "C0.t step ok", start=state)
    assert state.values["db", "y"] == NOTED[expected]


def test_duplicate_reaches_the_caller_as_failed() -> None:
    entry = place(db("rows", ROWS), lit(0), kind=OPTIONAL)
    m = Interpreter(
        model(
            store(value("rows", ROWS)),
            process("C", 1, task("t", call("S", "h"))),
            process("S", 1, handler("h", insert(entry, lit(1)), insert(entry, lit(2)))),
        )
    )
    state = follow(m, CALL, "S0.h step ok", "S0.h step duplicate")
    assert state.activations[SERVER].ending == "failed"


@pytest.mark.parametrize(("pristine", "expected"), [(True, "refused"), (False, "unknown")])
def test_refused_passes_only_when_nothing_can_have_happened(pristine: bool, expected: str) -> None:
    answer = handler("h", assign(db("x"), lit(1), pristine=pristine))
    m = Interpreter(
        model(
            store(value("x")),
            process("C", 1, task("t", call("S", "h"))),
            process("S", 1, answer),
            fault("partition", "S", "db"),
        )
    )
    state = follow(m, CALL, "cut S0 db", "S0.h step refused")
    assert state.activations[SERVER].ending == expected
    assert f"S0.h reply {expected}" in names(m, state)


def test_unknown_passes_as_unknown() -> None:
    m = Interpreter(
        model(
            store(value("x")),
            process("C", 1, task("t", call("S", "h"))),
            process("S", 1, handler("h", assign(db("x"), lit(1), pristine=True))),
            fault("lose", "S", "db"),
        )
    )
    state = follow(m, CALL, "S0.h step unknown lose lost S0 db")
    assert state.activations[SERVER].ending == "unknown"


def test_a_crash_of_the_callee_gives_unknown_at_once() -> None:
    m = machine(noting(ask()), faults=(CRASH,))
    state = follow(m, CALL, "crash S0")
    assert set(state.activations) == {CALLER}
    assert not state.activations[CALLER].waiting
    assert follow(m, "C0.t step ok", start=state).values["db", "y"] == NOTED["unknown"]


def test_a_crash_of_the_caller_leaves_the_callee_running_and_its_end_needs_no_reply() -> None:
    m = machine(ask(), faults=(fault("crash", "C"),))
    state = follow(m, CALL, "crash C0")
    assert state.activations[SERVER].caller is None
    state = follow(m, "S0.h step ok", start=state)
    assert state.values["db", "x"] == 2
    assert state.activations == {}


@pytest.mark.parametrize("body", [[], [give_back(lit(1))]])
def test_a_handler_at_its_end_ends_when_its_caller_goes(body: list[Statement]) -> None:
    m = machine(call("S", "h"), answer=handler("h", assign(db("x"), lit(1)), *body), faults=(fault("crash", "C"),))
    state = follow(m, CALL, "S0.h step ok", "crash C0")
    assert state.activations == {}


def test_a_cut_gives_unknown_and_the_callee_goes_on() -> None:
    m = machine(noting(ask()), faults=(CUT,))
    state = follow(m, CALL, "cut C0 S0")
    assert set(state.activations) == {CALLER, SERVER}
    assert state.activations[SERVER].caller is None
    state = follow(m, "S0.h step ok", "C0.t step ok", start=state)
    assert (state.values["db", "x"], state.values["db", "y"]) == (2, NOTED["unknown"])
    assert state.activations == {}


def test_all_callers_across_a_cut_wake_and_one_error_stops_the_run() -> None:
    wrong = check(FALSE)
    m = machine(
        attempt([ask()], ("unknown", [wrong])),
        answer=handler("h", assign(db("x"), var("n")), parameters=[parameter("n")]),
        faults=(CRASH,),
    )
    state = follow(m, CALL)
    [(event, after)] = [(e, s) for e, s in m.successors(state) if e.kind.value == "crash"]
    assert (event.ending.value, event.site, event.party) == ("error", wrong.id, Party("S", 0))
    assert after.error is not None
    assert after.activations == state.activations
    assert after.down == frozenset()


def test_two_waiting_callers_of_one_crashed_instance() -> None:
    answer = handler("h", assign(db("x"), var("n")), parameters=[parameter("n")], places=2)
    m = machine(noting(ask()), answer=answer, faults=(CRASH,), callers=2)
    state = follow(m, CALL, "C1.t step ok -> S0.h#1", "crash S0")
    assert set(state.activations) == {CALLER, slot("t", 1, 0, "C")}
    assert all(not a.waiting for a in state.activations.values())


def test_the_request_may_be_lost_or_the_link_cut() -> None:
    m = machine(noting(ask()), faults=(LOSE, CUT))
    found = dict(steps(m, m.initial()))
    assert set(found) == {
        CALL,
        "C0.t step unknown cut lost C0 S0",
        "C0.t step unknown lose lost C0 S0",
        "cut C0 S0",
    }
    for name, cut in (("C0.t step unknown cut lost C0 S0", True), ("C0.t step unknown lose lost C0 S0", False)):
        state = found[name]
        assert bool(state.cut) is cut
        assert set(state.activations) == {CALLER}
        assert follow(m, "C0.t step ok", start=state).values["db", "y"] == NOTED["unknown"]


def test_a_cut_during_a_request_wakes_others_who_wait_across_the_link() -> None:
    answer = handler("h", assign(db("x"), var("n")), parameters=[parameter("n")], places=2)
    m = Interpreter(
        model(
            store(value("x"), value("y")),
            process("C", 1, task("t", noting(ask())), task("u", noting(ask()))),
            process("S", 1, answer),
            CUT,
        )
    )
    state = follow(m, CALL, "C0.u step unknown cut lost C0 S0")
    assert not state.activations[CALLER].waiting
    assert state.activations[SERVER].caller is None


def test_a_reply_may_be_lost() -> None:
    m = machine(noting(ask()), faults=(LOSE,))
    state = follow(m, CALL, "S0.h step ok")
    assert names(m, state) == ["S0.h reply ok", "S0.h reply unknown lose kept C0 S0"]
    state = follow(m, "S0.h reply unknown lose kept C0 S0", "C0.t step ok", start=state)
    assert state.values["db", "y"] == NOTED["unknown"]
    assert state.activations == {}


def test_a_doubled_request_starts_a_second_activation_for_nobody() -> None:
    answer = handler("h", assign(db("x"), var("n")), parameters=[parameter("n")], places=2)
    m = machine(ask(), answer=answer, faults=(DUPLICATE,))
    state = follow(m, "C0.t step ok duplicate C0 S0 -> S0.h#0")
    assert state.activations[SERVER].caller == CALLER
    second = slot("h", 0, 1, "S")
    assert state.activations[second].caller is None
    assert locals_of(state, second) == {"n": 2}
    assert follow(m, "S0.h#1 step ok", start=state).activations.keys() == {CALLER, SERVER}


def test_a_request_is_not_doubled_without_a_second_place() -> None:
    m = machine(ask(), faults=(DUPLICATE,))
    assert names(m, m.initial()) == [CALL]


def test_send_goes_on_and_nobody_waits() -> None:
    m = machine(ask(send=True), assign(db("y"), lit(1)), faults=(LOSE,))
    found = dict(steps(m, m.initial()))
    assert set(found) == {CALL, "C0.t step ok lose lost C0 S0"}
    sent = found[CALL]
    assert not sent.activations[CALLER].waiting
    assert sent.activations[SERVER].caller is None
    assert set(found["C0.t step ok lose lost C0 S0"].activations) == {CALLER}
    # The handler ends at its `return`, without a reply.
    assert follow(m, "S0.h step ok", start=sent).activations.keys() == {CALLER}


def test_send_is_refused_when_nobody_is_there() -> None:
    m = machine(noting(ask(send=True)), faults=(CRASH,))
    state = follow(m, "crash S0")
    assert "C0.t step refused" in names(m, state)


def test_an_instance_is_connected_with_itself() -> None:
    m = Interpreter(
        model(
            store(value("x")),
            process("P", 2, task("t", call("P", "h")), handler("h", assign(db("x"), lit(1)))),
            fault("lose", "P", "P"),
            fault("partition", "P", "P"),
        )
    )
    state = follow(m, "cut P0 P1")
    mine = [n for n in names(m, state) if n.startswith("P0.t")]
    # To itself only, and no message to itself is lost.
    assert mine == ["P0.t step ok -> P0.h#0"]


def test_what_a_handler_holds_is_orphaned_by_its_end() -> None:
    answer = handler("h", queue("push", "q", lit(1)), queue("take", "q", into=var("i")), lock("await acquire", "k"))
    m = machine(call("S", "h"), assign(db("y"), lit(1)), answer=answer)
    state = follow(m, CALL, *["S0.h step ok"] * 3, "S0.h reply ok")
    assert [holder for _, holder in state.queues["db", "q"].entries] == [Loose.ORPHAN]
    assert state.locks["db", "k"].entries[0][1] is Loose.ORPHAN


def test_a_chain_of_calls_breaks_where_it_is_struck() -> None:
    m = Interpreter(
        model(
            store(value("x"), value("y")),
            process("C", 1, task("t", noting(call("S", "h")))),
            process("S", 1, handler("h", call("W", "work"))),
            process("W", 1, handler("work", assign(db("x"), lit(1)))),
            CRASH,
        )
    )
    state = follow(m, CALL, "S0.h step ok -> W0.work#0", "crash S0")
    worker = slot("work", 0, 0, "W")
    assert set(state.activations) == {CALLER, worker}
    assert state.activations[worker].caller is None
    assert not state.activations[CALLER].waiting


def test_an_error_of_the_woken_caller_stops_the_run_before_the_reply() -> None:
    wrong = check(eq(var("r"), lit(0)))
    m = machine(ask(), wrong, assign(db("y"), lit(1)), faults=())
    state = follow(m, CALL, "S0.h step ok")
    [(event, after)] = m.successors(state)
    assert (event.kind.value, event.ending.value, event.site, event.slot) == ("reply", "error", wrong.id, SERVER)
    assert after.activations == state.activations


def test_a_refused_return_can_be_caught() -> None:
    answer = handler("h", attempt([give_back(db("x"))], ("refused", [give_back(lit(3))])))
    m = Interpreter(
        model(
            store(value("x")),
            process("C", 1, loop("t", call("S", "h", into=var("r")), when(eq(var("r"), lit(3)), [fail()]))),
            process("S", 1, answer),
            fault("crash", "db"),
        )
    )
    state = follow(m, CALL, "crash db", "S0.h step refused")
    assert "S0.h reply ok" in names(m, state)
