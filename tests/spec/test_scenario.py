"""Scenarios: what is a run and what is not, derived by hand from docs/language.md, "Scenarios"."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.interpreter import Interpreter
from spec.scenario import LimitReached, NotARun, Run, matches, run_scenario
from spec.typed import Expression, FaultClass, Gap, Incident, Scenario, Statement, Story, Then
from spec.types import OptionalType
from tests.spec.by_hand import (
    SMALL,
    SPAN,
    a_lock,
    a_queue,
    assign,
    brief,
    call,
    check,
    db,
    eq,
    fault,
    give_back,
    handler,
    lit,
    lock,
    model,
    on,
    process,
    queue,
    store,
    task,
    unwrap,
    value,
    var,
)

Beat = Gap | Story | Incident | Then
GAP = Gap(SPAN)


def did(
    thread: str,
    *sites: Statement,
    process: str = "P",
    instance: int | None = None,
    request: bool = False,
    reply: bool = False,
    ending: str | None = None,
    strike: str | None = None,
    kept: bool | None = None,
) -> Story:
    where = frozenset(s.id for s in sites) if sites else None
    return Story(SPAN, "", process, instance, thread, request, where, reply, ending, strike, kept)


def incident(
    kind: str, first: str, second: str | None = None, instances: tuple[int | None, int | None] = (None, None)
) -> Incident:
    return Incident(SPAN, "", kind, first, instances[0], second, instances[1])


def then(condition: Expression) -> Then:
    return Then(SPAN, "", condition)


WRITE, AGAIN = assign(db("x"), lit(1)), assign(db("x"), lit(2))
STORE = store(value("x"), value("y"), a_queue("q"), a_lock("k", lease=True))
X_IS_1 = then(eq(db("x"), lit(1)))


def tell(m: Interpreter, *beats: Beat, limit: int = 10_000) -> Run | NotARun | LimitReached:
    return run_scenario(m, Scenario("s", beats, SPAN, ""), limit)


def events(result: Run | NotARun | LimitReached) -> list[str]:
    assert isinstance(result, Run)
    assert len(result.states) == len(result.events) + 1
    return [brief(event) for event in result.events]


def small(*faults: FaultClass) -> Interpreter:
    """Two instances, each with a request handler `r` of two writes."""
    return Interpreter(model(STORE, process("P", 2, on("r", WRITE, AGAIN)), *faults))


def test_request_and_statements_in_order() -> None:
    m = small()
    result = tell(m, did("r", request=True), did("r", WRITE), X_IS_1, did("r", AGAIN))
    assert [e.split(".")[1] for e in events(result)] == ["r request", "r step ok", "r step ok"]


def test_the_wrong_order_is_no_run() -> None:
    result = tell(small(), did("r", request=True), did("r", AGAIN))
    assert isinstance(result, NotARun)
    assert result.furthest == 1


def test_without_a_gap_nothing_may_happen_in_between() -> None:
    assert isinstance(tell(small(), did("r", AGAIN)), NotARun)
    assert len(events(tell(small(), GAP, did("r", AGAIN)))) == 3


def test_a_gap_may_be_empty() -> None:
    assert len(events(tell(small(), GAP, did("r", request=True), GAP))) == 1


def test_the_shortest_run_is_found() -> None:
    assert len(events(tell(small(), GAP, then(eq(db("x"), lit(2))), GAP, then(eq(db("x"), lit(1)))))) == 5


def test_a_condition_that_does_not_hold_or_errs_is_no_run() -> None:
    result = tell(small(), X_IS_1)
    assert result == NotARun(0, 1)
    erring = then(eq(unwrap(lit(None, OptionalType(SMALL))), lit(1)))
    assert isinstance(tell(small(), erring), NotARun)


def test_an_instance_is_respected() -> None:
    m = small()
    assert events(tell(m, did("r", request=True, instance=1))) == ["P1.r request"]
    result = tell(m, did("r", request=True, instance=1), did("r", instance=0))
    assert isinstance(result, NotARun)
    assert result.furthest == 1


def test_any_statement_of_a_thread() -> None:
    assert len(events(tell(small(), did("r", request=True), did("r"), did("r")))) == 3
    # A request is not a statement.
    assert isinstance(tell(small(), did("r")), NotARun)


@pytest.mark.parametrize(
    ("story", "wanted"),
    [
        ({}, "P0.r step ok"),
        ({"ending": "unknown", "strike": "lose"}, "P0.r step unknown lose lost P0 db"),
        ({"strike": "lose", "kept": True}, "P0.r step unknown lose kept P0 db"),
        ({"strike": "crash", "kept": False}, "P0.r step unknown crash lost db"),
        ({"strike": "duplicate", "ending": "ok"}, "P0.r step ok duplicate P0 db"),
        ({"ending": "refused"}, None),
        ({"ending": "unknown"}, None),
        ({"strike": "cut"}, None),
    ],
)
def test_endings_and_strikes(story: dict[str, object], wanted: str | None) -> None:
    m = small(fault("lose", "P", "db"), fault("crash", "db"), fault("duplicate", "P", "db"))
    result = tell(m, did("r", request=True, instance=0), did("r", WRITE, **story))  # type: ignore[arg-type]
    if wanted is None:
        assert isinstance(result, NotARun)
        assert result.furthest == 1
    else:
        assert events(result)[1] == wanted


def test_refused_after_a_cut() -> None:
    m = small(fault("partition", "P", "db"))
    beats = (
        did("r", request=True, instance=1),
        incident("cut", "db", "P", (None, 1)),
        did("r", ending="refused"),
        incident("heal", "P", "db"),
    )
    assert events(tell(m, *beats)) == ["P1.r request", "cut P1 db", "P1.r step refused", "heal P1 db"]
    other = (beats[0], incident("cut", "P", "db", (0, None)), beats[2])
    assert isinstance(tell(m, *other), NotARun)


def test_crash_and_restart() -> None:
    m = small(fault("crash", "P"), fault("crash", "db"))
    told = tell(m, incident("crash", "P", None, (1, None)), incident("crash", "db"), incident("restart", "P"))
    assert events(told) == ["crash P1", "crash db", "restart P1"]
    assert isinstance(
        tell(m, incident("crash", "P", None, (1, None)), incident("restart", "P", None, (0, None))), NotARun
    )


def test_redeliver_and_expire() -> None:
    body = (queue("push", "q", lit(1)), queue("take", "q", into=var("i")), lock("await acquire", "k"))
    m = Interpreter(model(STORE, process("P", 1, task("t", *body))))
    told = tell(m, GAP, incident("redeliver", "db", "q"), incident("expire", "db", "k"))
    assert events(told)[-2:] == ["redeliver db.q 1", "expire db.k None"]
    assert isinstance(tell(m, GAP, incident("redeliver", "db", "k")), NotARun)


def test_replies_implicit_and_by_return() -> None:
    back = give_back(lit(1))
    caller = task("t", call("S", "h", into=var("r")), call("S", "quiet"))
    m = Interpreter(
        model(STORE, process("P", 1, caller), process("S", 1, handler("h", WRITE, back), handler("quiet", AGAIN)))
    )
    told = tell(
        m,
        did("t"),
        did("h", WRITE, process="S"),
        did("h", back, process="S"),
        did("t"),
        did("quiet", AGAIN, process="S"),
        did("quiet", process="S", reply=True),
    )
    assert len(events(told)) == 6
    assert len(events(tell(m, did("t"), did("h", process="S"), did("h", back, process="S", reply=True)))) == 3
    assert len(events(tell(m, did("t"), did("h", process="S"), did("h", process="S")))) == 3
    # The implicit reply of `quiet` is no statement.
    assert isinstance(tell(m, GAP, did("quiet", process="S"), did("quiet", process="S")), NotARun)


def test_no_story_goes_through_a_model_error() -> None:
    wrong = check(eq(db("x"), lit(3)))
    m = Interpreter(model(STORE, process("P", 1, task("t", wrong, WRITE))))
    assert isinstance(tell(m, did("t", wrong)), NotARun)
    assert isinstance(tell(m, GAP, did("t")), NotARun)


def test_the_limit() -> None:
    result = tell(small(), GAP, then(eq(db("y"), lit(1))), limit=5)
    assert result == LimitReached(1, 5)


def test_a_statement_that_is_left_out_never_comes() -> None:
    nowhere = Story(SPAN, "", "P", None, "r", False, frozenset(), False, None, None, None)
    assert isinstance(tell(small(), GAP, nowhere), NotARun)


def test_the_crashed_store_must_be_the_one_that_is_named() -> None:
    event = Event(
        EventKind.STEP,
        Slot("P", 0, "r"),
        1,
        Ending.UNKNOWN,
        strike=Strike.CRASH,
        kept=True,
        party=Party("db"),
    )
    beat = Story(SPAN, "", "P", None, "r", False, None, False, None, "crash", True)
    assert matches(beat, event)
    assert matches(replace(beat, crashed="db"), event)
    assert not matches(replace(beat, crashed="kv"), event)
