"""The state of a run as a table over time.  What is expected is worked out by hand from the model below."""

from __future__ import annotations

from counterexamples.trace import Trace
from counterexamples.web.timeline import ABSENT, Timeline, timeline
from spec.event import EventKind
from spec.interpreter import Interpreter
from tests.agreement.deciding import checked

MODEL = """
enum State { PENDING, DONE }
record Row { state: State = PENDING, tries: 0..2 }
ids Job[1]
store db { durable row: Job -> Row? }
store mq { durable queue jobs: Job; durable lock l: Job }
ghost seen: Job -> bool
process Server {
  on submit(j: fresh Job) {
    db.row[j] := Row{}
    mq.jobs.push(j)
  }
  loop work {
    let j = mq.jobs.take()
    db.row[j].tries := db.row[j].tries + 1
    mq.jobs.ack(j)
  }
}
faults { crash db; partition Server -- mq }
invariant tried: forall j: Job. db.row[j].tries == 0
step invariant kept: forall j: Job. db.row[j] is some => db.row[j]' is some
"""


def run(*wanted: EventKind) -> tuple[Trace, Timeline]:
    """The first run in the interpreter's order whose events are of these kinds."""
    interpreter = Interpreter(checked(MODEL).model)
    states, events = [interpreter.initial()], []
    for kind in wanted:
        event, after = next(each for each in interpreter.successors(states[-1]) if each[0].kind is kind)
        events.append(event)
        states.append(after)
    trace = Trace(interpreter.model, tuple(states), tuple(events))
    return trace, timeline(trace, interpreter)


def row(table: Timeline, lane: str, name: str) -> tuple[str, ...]:
    return next(place.values for place in table.places if (place.lane, place.name) == (lane, name))


REQUEST, STEP = EventKind.REQUEST, EventKind.STEP


def test_places_appear_and_change() -> None:
    _, table = run(REQUEST, STEP, STEP, STEP)
    assert row(table, "db", "row[Job#0]") == ("none", "none", ABSENT, ABSENT, ABSENT)
    assert row(table, "db", "row[Job#0].state") == (ABSENT, ABSENT, "PENDING", "PENDING", "PENDING")
    assert row(table, "mq", "jobs") == ("[]", "[]", "[]", "[Job#0]", "[Job#0 (taken by Server[0].work)]")
    assert row(table, "mq", "l[Job#0]") == ("free",) * 5
    assert row(table, "observed", "seen[Job#0]") == ("false",) * 5


def test_threads_stand_at_statements_and_their_locals_are_shown() -> None:
    _, table = run(REQUEST, STEP, STEP)
    assert row(table, "Server[0]", "submit") == (
        ABSENT,
        "at db.row[j] := Row{}  (line 10)",
        "at mq.jobs.push(j)  (line 11)",
        ABSENT,
    )
    assert row(table, "Server[0]", "submit: j") == (ABSENT, "Job#0", "Job#0", ABSENT)
    assert row(table, "Server[0]", "work")[0] == "at let j = mq.jobs.take()  (line 14)"


def test_what_is_down_and_cut() -> None:
    _, table = run(EventKind.CRASH, EventKind.RESTART, EventKind.CUT, EventKind.HEAL)
    assert row(table, "db", "is") == ("up", "down", "up", "up", "up")
    assert row(table, "links", "Server[0] -- mq") == (ABSENT, ABSENT, ABSENT, "cut", ABSENT)
    assert not [place for place in table.places if (place.lane, place.name) == ("mq", "is")], "mq never goes down"


def test_lanes_stand_in_the_order_of_the_model() -> None:
    _, table = run(EventKind.CUT)
    assert list(dict.fromkeys(place.lane for place in table.places)) == ["db", "mq", "Server[0]", "observed", "links"]


def test_properties_are_judged_in_each_state_and_step() -> None:
    _, table = run(REQUEST, STEP, STEP, STEP, STEP)
    truths = {truth.name: truth.values for truth in table.truths}
    # The condition reads a field of a row that is not there at first: it comes to a model error.
    assert truths["tried"] == ("undefined", "undefined", "true", "true", "true", "false")
    assert truths["kept"] == (ABSENT, "true", "true", "true", "true", "true")
