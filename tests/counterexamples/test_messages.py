"""What a step sends to whom, what became of it, and how long things last; expected values read off the events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterexamples.explain import explain
from counterexamples.spacetime.lanes import Outside, Spot, lanes, owner, track_name
from counterexamples.spacetime.messages import Blow, Fate, Form, Message, Stroke, messages, strokes
from counterexamples.spacetime.moments import Look, Note, end_notes, moments
from counterexamples.spacetime.spans import Bar, Stretch, bars, cuts, downtimes
from counterexamples.trace import Trace
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.interpreter import Interpreter
from spec.state import Activation, GlobalState
from spec.typed import FaultKind, Model
from tests.counterexamples.crowd import CROWD, model, run
from tests.counterexamples.sample import ABANDONED, DECIDE_0, DECIDE_1, INITIAL, INSERTED, LOST, MODEL, START_0

SERVER_0, SERVER_1 = Party("Server", 0), Party("Server", 1)
POSTGRES, REDIS = Party("postgres"), Party("redis")
ASKS = Message(START_0, POSTGRES, Form.REQUEST)
ANSWERED = Message(POSTGRES, START_0, Form.ANSWER)


def of_step(event: Event, before: GlobalState, after: GlobalState) -> tuple[tuple[Message, ...], tuple[Stroke, ...]]:
    trace = Trace(MODEL, (before, after), (event,))
    (step,) = explain(trace).steps
    sent = messages(MODEL, step, before, after)
    return sent, strokes(step, sent)


def write(
    ending: Ending,
    strike: Strike | None = None,
    kept: bool | None = None,
    party: Party | None = None,
    other: Party | None = None,
) -> Event:
    return Event(EventKind.STEP, START_0, 1, ending, strike, kept, party, other)


REQUESTED = ABANDONED.states[1]
LINK = (SERVER_0, POSTGRES)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (write(Ending.OK), (ASKS, ANSWERED)),
        (write(Ending.DUPLICATE), (ASKS, replace(ANSWERED, form=Form.FAILURE))),
        (write(Ending.UNKNOWN, Strike.LOSE, True, *LINK), (ASKS, replace(ANSWERED, fate=Fate.LOST))),
        (write(Ending.UNKNOWN, Strike.LOSE, False, *LINK), (replace(ASKS, fate=Fate.LOST),)),
        (write(Ending.UNKNOWN, Strike.CUT, True, *LINK), (ASKS, replace(ANSWERED, fate=Fate.LOST))),
        (write(Ending.UNKNOWN, Strike.CUT, False, *LINK), (replace(ASKS, fate=Fate.LOST),)),
        (write(Ending.UNKNOWN, Strike.CRASH, True, POSTGRES), (ASKS, replace(ANSWERED, fate=Fate.LOST))),
        (write(Ending.UNKNOWN, Strike.CRASH, False, POSTGRES), (replace(ASKS, fate=Fate.LOST),)),
        (write(Ending.OK, Strike.DUPLICATE, None, *LINK), (replace(ASKS, fate=Fate.TWICE), ANSWERED)),
        (write(Ending.ERROR), ()),
        (Event(EventKind.CUT, party=SERVER_0, other=POSTGRES), (Message(SERVER_0, POSTGRES, Form.CUT),)),
        (Event(EventKind.HEAL, party=SERVER_0, other=POSTGRES), (Message(SERVER_0, POSTGRES, Form.HEAL),)),
        (Event(EventKind.CRASH, party=POSTGRES), ()),
    ],
    ids=lambda value: None,
)
def test_what_becomes_of_a_write(event: Event, expected: tuple[Message, ...]) -> None:
    assert of_step(event, REQUESTED, INSERTED)[0] == expected


def test_a_refused_statement_reaches_only_what_is_down() -> None:
    down = replace(REQUESTED, down=frozenset({POSTGRES}))
    sent, _ = of_step(write(Ending.REFUSED), down, down)
    assert sent == (replace(ASKS, fate=Fate.REFUSED),)
    cut = replace(REQUESTED, cut=frozenset({(SERVER_0, POSTGRES)}))
    assert of_step(write(Ending.REFUSED), cut, cut)[0] == sent


def test_a_store_that_crashes_during_a_write_does_so_behind_it_or_before_it() -> None:
    kept = of_step(write(Ending.UNKNOWN, Strike.CRASH, True, POSTGRES), REQUESTED, INSERTED)
    lost = of_step(write(Ending.UNKNOWN, Strike.CRASH, False, POSTGRES), REQUESTED, REQUESTED)
    assert (kept[1], lost[1]) == ((Stroke(Blow.CRASH, POSTGRES, 1),), (Stroke(Blow.CRASH, POSTGRES, 0),))


def test_what_strikes_by_itself_is_told_from_what_recovers() -> None:
    expire = Event(EventKind.EXPIRE, DECIDE_0, store="redis", variable="wf")
    redeliver = Event(EventKind.REDELIVER, store="redis", variable="decider")
    restart = Event(EventKind.RESTART, party=SERVER_0)
    assert of_step(restart, ABANDONED.states[3], ABANDONED.states[4])[1] == (Stroke(Blow.RESTART, SERVER_0),)
    assert of_step(redeliver, INITIAL, INITIAL)[1] == (Stroke(Blow.RECOVERY, REDIS),)
    assert of_step(expire, INITIAL, INITIAL)[1] == (Stroke(Blow.RECOVERY, REDIS),)
    assert of_step(write(Ending.ERROR), REQUESTED, REQUESTED)[1] == (Stroke(Blow.ERROR, START_0),)


WAITS = Activation(2, {}, waiting=True)
CALLED = replace(INITIAL, activations={DECIDE_1: WAITS, START_0: Activation(1, {}, caller=DECIDE_1)})
"""As if Server[1].decide had called Server[0].start."""


def test_answers_go_to_the_caller_and_get_lost_with_the_callee() -> None:
    done = replace(CALLED, activations={DECIDE_1: replace(WAITS, waiting=False)})
    answer = Message(START_0, DECIDE_1, Form.ANSWER)
    lost = replace(answer, fate=Fate.LOST)
    reply = Event(EventKind.REPLY, START_0)
    assert of_step(reply, CALLED, done)[0] == (answer,)
    assert of_step(replace(reply, ending=Ending.FAILED), CALLED, done)[0] == (replace(answer, form=Form.FAILURE),)
    struck = replace(reply, ending=Ending.UNKNOWN, strike=Strike.LOSE, kept=True, party=SERVER_1, other=SERVER_0)
    assert of_step(struck, CALLED, done)[0] == (lost,)
    crash = of_step(Event(EventKind.CRASH, party=SERVER_0), CALLED, replace(done, down=frozenset({SERVER_0})))
    assert crash == ((lost,), (Stroke(Blow.CRASH, START_0),))
    cut = Event(EventKind.CUT, party=SERVER_1, other=SERVER_0)
    assert of_step(cut, CALLED, done)[0] == (Message(SERVER_1, SERVER_0, Form.CUT), lost)


def test_a_waiting_caller_that_crashes_itself_misses_nothing() -> None:
    gone = replace(CALLED, activations={START_0: Activation(1, {})}, down=frozenset({SERVER_1}))
    assert of_step(Event(EventKind.CRASH, party=SERVER_1), CALLED, gone)[0] == ()


# -------------------------------------------------------------------------------------------------------------- lanes


def test_callers_stand_left_of_who_is_called_and_stores_at_the_right() -> None:
    of = model(CROWD)
    everything: list[Spot] = [Outside.ENVIRONMENT, *(Party(store.name) for store in of.stores)]
    everything += [Party(process.name, i) for process in of.processes for i in range(process.instances.size)]
    titles = [lane.title for lane in lanes(of, everything)]
    clients = ["Client[0]", "Worker[0]", "Worker[1]", "Watcher[0]"]
    assert titles == ["environment", *clients, "Server[0]", "Server[1]", "db", "mq"]


def test_only_who_takes_part_has_a_lane_and_a_track() -> None:
    spots = {spot for moment in moments(explain(ABANDONED), ABANDONED) for spot in moment.spots}
    assert [(lane.title, lane.tracks) for lane in lanes(MODEL, spots)] == [
        ("environment", ()),
        ("Server[0]", (START_0,)),
        ("postgres", ()),
    ]


def test_tracks_stand_in_the_order_of_the_threads() -> None:
    of = model(CROWD)
    slots = [Slot("Server", 0, "note"), Slot("Server", 0, "submit", 1), Slot("Server", 0, "submit")]
    (lane,) = lanes(of, slots)
    assert [track_name(of, slot) for slot in lane.tracks] == ["submit[0]", "submit[1]", "note"]


# -------------------------------------------------------------------------------------------------------------- spans


def test_bars_downtimes_and_cuts_last_as_long_as_the_states_say() -> None:
    assert list(bars(ABANDONED, START_0)) == [Bar(START_0, Stretch(1, 3), (), True)]
    assert list(bars(ABANDONED, DECIDE_0)) == [
        Bar(DECIDE_0, Stretch(0, 3), (), True),
        Bar(DECIDE_0, Stretch(4, 5), (), False),
    ]
    assert list(downtimes(ABANDONED, SERVER_0)) == [Stretch(3, 4)]
    assert list(downtimes(ABANDONED, POSTGRES)) == []
    link = (SERVER_0, POSTGRES)
    cut = Trace(MODEL, (INITIAL, replace(INITIAL, cut=frozenset({link}))), (Event(EventKind.CUT),))
    assert list(cuts(cut)) == [(link, Stretch(1, 2))]
    waiting = Trace(MODEL, (INITIAL, CALLED, CALLED, INITIAL), (Event(EventKind.STEP),) * 3)
    assert list(bars(waiting, DECIDE_1)) == [Bar(DECIDE_1, Stretch(0, 4), (Stretch(1, 3),), False)]


# -------------------------------------------------------------------------------------------------------------- notes


def test_changes_stand_in_the_lane_of_what_changed() -> None:
    requested, inserted, crashed, _ = moments(explain(ABANDONED), ABANDONED)
    assert requested.notes == ()
    assert inserted.notes == (
        Note(POSTGRES, Look.CHANGE, "workflow[Workflow#0]", "none → RUNNING", "postgres.workflow[Workflow#0]"),
    )
    assert crashed.notes == ()
    assert crashed.told == ("Server[0].start stopped before redis.decider.push(w)  (line 9)",)
    _, lost = moments(explain(LOST), LOST)
    assert lost.notes[0] == Note(SERVER_0, Look.BAD, "unknown, not caught", "start ends")
    assert lost.told == ("the reply is lost: its effect is kept",)


def test_volatile_state_fades_at_a_crash_and_durable_state_does_not() -> None:
    busy = replace(INITIAL, process_values={**INITIAL.process_values, ("Server", 0, "busy"): True})
    down = replace(INITIAL, activations={DECIDE_1: Activation(3, {})}, down=frozenset({SERVER_0}))
    trace = Trace(MODEL, (busy, down), (Event(EventKind.CRASH, party=SERVER_0),))
    (moment,) = moments(explain(trace), trace)
    assert moment.notes == (Note(SERVER_0, Look.FADED, "busy", "true → false", "Server[0].busy"),)
    set_to = Trace(MODEL, (INITIAL, busy), (Event(EventKind.STEP, DECIDE_0, 3),))
    (moment,) = moments(explain(set_to), set_to)
    assert moment.notes[0].look is Look.CHANGE


OF_CROWD = model(CROWD)
CALM = replace(OF_CROWD, faults=())
DOUBLED = replace(OF_CROWD, faults=tuple(fault for fault in OF_CROWD.faults if fault.kind is FaultKind.DUPLICATE))


SMALL = """\
store db { durable x: 0..2 }
ghost g: 0..2
process P { loop up { %s } }
process Q { on other() { atomic { db.x := 2; g := 2 } } }
invariant stays: g != 1
invariant wants: g == 2
invariant both: db.x == 1 => g == 2
step invariant fixed: db.x' == db.x
step invariant moves: db.x' != db.x
"""
P_0 = Party("P", 0)


@pytest.mark.parametrize(
    ("statement", "name", "expected"),
    [
        ("g := 1", "stays", [(P_0, "g", "= 1")]),
        ("db.x := 1", "wants", []),
        ("db.x := 1", "both", [(Party("db"), "x", "= 1")]),
        ("atomic { g := 1; db.x := 1 }", "both", [(Party("db"), "x", "= 1"), (P_0, "g", "= 1")]),
        ("db.x := 1", "fixed", [(Party("db"), "x", "0 → 1")]),
        ("g := 1", "moves", [(Party("db"), "x", "= 0")]),
    ],
)
def test_what_is_wrong_at_the_end_stands_where_it_was_last_seen(
    statement: str, name: str, expected: list[tuple[Party, str, str]]
) -> None:
    """A ghost belongs to nobody: it stands where it last changed, and nowhere when it never did."""
    interpreter = Interpreter(model(SMALL % statement))
    start = interpreter.initial()
    event, after = next((event, after) for event, after in interpreter.successors(start) if event.site is not None)
    trace = Trace(interpreter.model, (start, after), (event,))
    explanation = explain(trace, name)
    notes = end_notes(explanation, moments(explanation, trace), Look.WRONG)
    assert [(note.owner, note.name, note.value) for note in notes] == expected


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("of", [OF_CROWD, CALM, DOUBLED], ids=["all faults", "no fault", "duplicates"])
def test_calls_and_answers_of_random_runs_agree_with_the_states(of: Model, seed: int) -> None:
    """Whoever begins by a step of another is asked by it, and for an answer if it has a caller; whoever goes on waiting
    no more was answered, or misses an answer."""
    trace = run(of, seed, 40)
    told = moments(explain(trace), trace)
    for before, after, moment in zip(trace.states[:-1], trace.states[1:], told, strict=True):
        begun = {slot: new.caller for slot, new in after.activations.items() if slot not in before.activations}
        asked = {m.end: m.form for m in moment.messages if isinstance(m.start, Slot) and isinstance(m.end, Slot)}
        asked = {slot: form for slot, form in asked.items() if form in (Form.REQUEST, Form.SEND) and slot in begun}
        if moment.step.event.kind is EventKind.STEP:
            assert asked == {slot: Form.SEND if caller is None else Form.REQUEST for slot, caller in begun.items()}
        callees = {activation.caller: slot for slot, activation in before.activations.items() if activation.caller}
        resumed = {
            (callees[slot], slot)
            for slot, activation in before.activations.items()
            if activation.waiting
            and (slot not in after.activations or not after.activations[slot].waiting)
            and owner(slot) not in after.down
        }
        answers = {(m.start, m.end) for m in moment.messages if m.form in (Form.ANSWER, Form.FAILURE)}
        assert resumed == {(a, b) for a, b in answers if isinstance(a, Slot)}


def test_the_random_runs_have_sends_and_calls_that_arrive_twice() -> None:
    runs = {of is CALM: [run(of, seed, 40) for seed in range(8)] for of in (CALM, DOUBLED)}
    sent = {
        calm: {message for trace in traces for moment in moments(explain(trace), trace) for message in moment.messages}
        for calm, traces in runs.items()
    }
    assert any(message.form is Form.SEND for message in sent[True])
    assert any(message.fate is Fate.TWICE for message in sent[False])
    events = [event for trace in runs[False] for event in trace.events]
    assert any(event.strike is Strike.DUPLICATE and event.callee is not None for event in events)


def test_a_call_is_refused_or_lost_at_the_process_that_it_would_have_reached() -> None:
    interpreter = Interpreter(OF_CROWD)
    asked = next(after for event, after in interpreter.successors(interpreter.initial()) if event.slot == CLIENT)
    servers = {Party("Server", 0), Party("Server", 1)}
    down = replace(asked, down=frozenset(servers))
    for before, fate in ((down, Fate.REFUSED), (asked, Fate.LOST)):
        steps = [
            Trace(OF_CROWD, (before, after), (event,))
            for event, after in interpreter.successors(before)
            if event.slot == CLIENT and event.callee is None
        ]
        calls = [moment for trace in steps for moment in moments(explain(trace), trace)]
        assert calls
        for moment in calls:
            assert {(message.start, message.fate) for message in moment.messages} == {(CLIENT, fate)}
            assert {message.end for message in moment.messages} <= servers
    assert {message.end for moment in calls for message in moment.messages} == servers


CLIENT = Slot("Client", 0, "ask")
