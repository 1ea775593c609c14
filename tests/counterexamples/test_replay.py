"""Replay: good traces are accepted, each tampered field is noticed, and properties must really be broken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterexamples.replay import Confirmed, Mismatch, Unconfirmed, confirm, replay
from counterexamples.trace import Trace
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.interpreter import Interpreter
from spec.simulate import simulate
from spec.state import Activation, ErrorKind, GlobalState, LockState, Loose, ModelError, QueueState
from spec.typed import Expression, Model, Next, PropertyDeclaration, PropertyForm, Unwrap
from spec.types import IdType, OptionalType
from tests.spec.by_hand import (
    FALSE,
    SMALL,
    SPAN,
    TRUE,
    a_lock,
    a_queue,
    assign,
    brief,
    call,
    check,
    db,
    eq,
    fault,
    fresh,
    ghost,
    give_back,
    handler,
    less,
    lit,
    lock,
    loop,
    model,
    own,
    process,
    process_value,
    queue,
    slot,
    store,
    task,
    unwrap,
    value,
    var,
    wait_for,
)

T = slot("t")
W = IdType("W", 2)


def declared(name: str, form: PropertyForm, condition: Expression) -> PropertyDeclaration:
    return PropertyDeclaration(name, form, condition, SPAN, "")


def rich() -> Model:
    """Something of everything that a state can hold."""
    return model(
        store(value("x"), a_queue("q"), a_lock("k", lease=True)),
        process(
            "P",
            2,
            task(
                "t",
                queue("push", "q", lit(1)),
                queue("take", "q", into=var("i")),
                lock("await acquire", "k"),
                assign(own("p"), var("i")),
                assign(ghost("g"), lit(2)),
                fresh("w", W),
                call("P", "h", into=var("r")),
                assign(db("x"), var("i")),
            ),
            handler("h", assign(db("x"), lit(1)), give_back(lit(2))),
            process_value("p"),
        ),
        fault("crash", "db"),
        fault("partition", "P", "db"),
        fault("lose", "P", "db"),
        ghosts={"g": SMALL},
        ids=[W],
    )


def run(m: Interpreter, *wanted: str) -> Trace:
    states, events = [m.initial()], []
    for name in wanted:
        event, after = next((e, s) for e, s in m.successors(states[-1]) if brief(e) == name)
        events.append(event)
        states.append(after)
    return Trace(m.model, tuple(states), tuple(events))


OK = "P0.t step ok"
STORY = (
    *[OK] * 6,
    "P0.t step ok -> P1.h#0",
    "P1.h step ok",
    "cut P1 db",
    "crash db",
    "P1.h reply ok",
    "P0.t step refused",
)


def test_a_run_is_accepted() -> None:
    m = Interpreter(rich())
    assert replay(run(m, *STORY), m) is None


@pytest.mark.parametrize("seed", range(5))
def test_random_runs_are_accepted(seed: int) -> None:
    m = Interpreter(rich())
    random = simulate(m, seed, 40)
    assert replay(Trace(m.model, random.states, random.events), m) is None


def with_state(trace: Trace, index: int, state: GlobalState) -> Trace:
    return replace(trace, states=(*trace.states[:index], state, *trace.states[index + 1 :]))


def with_event(trace: Trace, index: int, event: Event) -> Trace:
    return replace(trace, events=(*trace.events[:index], event, *trace.events[index + 1 :]))


def changed(state: GlobalState, where: Slot, **fields: object) -> dict[str, object]:
    activation = replace(state.activations[where], **fields)  # type: ignore[arg-type]
    return {"activations": {**state.activations, where: activation}}


def tampered(state: GlobalState) -> dict[str, dict[str, object]]:
    """By what the message must name: each field of the state after the call, changed to something else."""
    (other,) = (s for s in state.activations if s.thread == "h")
    return {
        "store variable db.x": {"values": {("db", "x"): 3}},
        "has store variable db.x": {"values": {}},
        "queue db.q": {"queues": {("db", "q"): QueueState(((1, Loose.ORPHAN),))}},
        "lock db.k": {"locks": {("db", "k"): LockState(((None, T, 1),))}},
        "process variable P.1.p": {"process_values": {**state.process_values, ("P", 1, "p"): 1}},
        "ghost g": {"ghosts": {"g": 0}},
        "used ids of W": {"used": {"W": frozenset({0, 1})}},
        "down": {"down": frozenset({Party("db")})},
        "cut": {"cut": frozenset({(Party("P", 0), Party("db"))})},
        "error": {"error": ModelError(ErrorKind.NONE, 1)},
        "at": changed(state, T, at=0),
        "waiting": changed(state, T, waiting=False),
        "caller": changed(state, other, caller=None),
        "ending": changed(state, other, ending="ok"),
        "local i": changed(state, T, locals={"i": 3}),
        "only the interpreter has an activation": {"activations": {T: state.activations[T]}},
        "only the trace has an activation": {"activations": {**state.activations, slot("t", 7): Activation(1, {})}},
    }


def test_each_field_of_a_state_counts() -> None:
    m = Interpreter(rich())
    trace = run(m, *STORY)
    state = trace.states[7]
    assert {brief(trace.events[6])} == {"P0.t step ok -> P1.h#0"}
    fields = set(GlobalState.__dataclass_fields__) | set(Activation.__dataclass_fields__)
    covered: set[str] = {"locals"}
    for words, fields_changed in tampered(state).items():
        covered |= set(fields_changed) | {words}
        wrong = replay(with_state(trace, 7, replace(state, **fields_changed)), m)  # type: ignore[arg-type]
        assert isinstance(wrong, Mismatch), words
        assert wrong.step == 6
        assert words in wrong.why
    assert fields <= covered


def test_the_initial_state_counts() -> None:
    m = Interpreter(rich())
    trace = run(m, *STORY)
    wrong = replay(with_state(trace, 0, replace(trace.states[0], ghosts={"g": 1})), m)
    assert isinstance(wrong, Mismatch)
    assert wrong.step == -1
    assert "ghost g" in wrong.why


@pytest.mark.parametrize(
    ("index", "fields"),
    [
        (0, {"kind": EventKind.REPLY}),
        (0, {"slot": slot("t", 1)}),
        (0, {"site": None}),
        (0, {"ending": Ending.UNKNOWN}),
        (0, {"strike": Strike.LOSE}),
        (0, {"kept": True}),
        (9, {"party": Party("P", 0)}),
        (8, {"other": Party("P", 0)}),
        (6, {"callee": slot("h", 0)}),
        (0, {"store": "db"}),
        (0, {"variable": "q"}),
        (0, {"item": 1}),
    ],
)
def test_each_field_of_an_event_counts(index: int, fields: dict[str, object]) -> None:
    m = Interpreter(rich())
    trace = run(m, *STORY)
    wrong = replay(with_event(trace, index, replace(trace.events[index], **fields)), m)  # type: ignore[arg-type]
    assert isinstance(wrong, Mismatch)
    assert wrong.step == index


def test_the_nearest_event_is_named() -> None:
    m = Interpreter(rich())
    trace = run(m, *STORY)
    wrong = replay(with_event(trace, 1, replace(trace.events[1], ending=Ending.FAILED)), m)
    assert isinstance(wrong, Mismatch)
    assert "ending" in wrong.why


def test_locals_that_one_side_lacks_are_not_compared() -> None:
    m = Interpreter(rich())
    trace = run(m, *STORY)
    bare = trace
    for index, state in enumerate(trace.states):
        activations = {s: replace(a, locals={}) for s, a in state.activations.items()}
        bare = with_state(bare, index, replace(state, activations=activations))
    assert replay(bare, m) is None
    more = trace.states[3]
    extra = replace(more, **changed(more, T, locals={"i": 1, "dead": 2}))  # type: ignore[arg-type]
    assert replay(with_state(trace, 3, extra), m) is None


def test_states_that_differ_in_left_out_locals_are_all_followed() -> None:
    # Which item was taken shows only in a local, until it is written two steps later.
    body = [
        queue("push", "q", lit(1)),
        queue("push", "q", lit(2)),
        queue("pop", "q", into=var("i")),
        queue("pop", "q", into=var("j")),
        assign(db("x"), var("i")),
    ]
    m = Interpreter(model(store(value("x"), a_queue("q")), process("P", 1, task("t", *body))))
    for first in (1, 2):
        states = [m.initial()]
        events = []
        for _ in body:
            found = [
                (e, s)
                for e, s in m.successors(states[-1])
                if not s.activations or s.activations[T].locals.get("i", first) == first
            ]
            events.append(found[0][0])
            states.append(found[0][1])
        assert states[-1].values["db", "x"] == first
        bare = [replace(s, activations={k: replace(a, locals={}) for k, a in s.activations.items()}) for s in states]
        assert replay(Trace(m.model, tuple(bare), tuple(events)), m) is None


def test_another_model_is_noticed() -> None:
    m = Interpreter(rich())
    trace = run(m, *STORY)
    without = Interpreter(m.model, [f for f in m.model.faults if f.first != "db"])
    wrong = replay(trace, without)
    assert isinstance(wrong, Mismatch)
    assert STORY[wrong.step] == "crash db"


def test_of_an_error_the_statement_and_whether_it_is_an_assertion_count() -> None:
    wrong = check(FALSE)
    m = Interpreter(model(store(value("x")), process("P", 1, task("t", wrong))))
    trace = run(m, "P0.t step error")
    assert replay(trace, m) is None
    for error, accepted in (
        (ModelError(ErrorKind.ASSERTION, wrong.id), True),
        (ModelError(ErrorKind.RANGE, wrong.id), False),
        (ModelError(ErrorKind.ASSERTION, wrong.id + 1), False),
        (None, False),
    ):
        assert (replay(with_state(trace, 1, replace(trace.states[1], error=error)), m) is None) is accepted


def test_a_loop_must_close() -> None:
    m = Interpreter(
        model(store(value("x")), process("P", 1, loop("t", assign(db("x"), lit(1)), assign(db("x"), lit(0)))))
    )
    trace = run(m, OK, OK)
    assert replay(replace(trace, loop=0), m) is None
    assert isinstance(replay(replace(trace, loop=1), m), Mismatch)


# ------------------------------------------------------------------------------------------------------------ confirm


def properties() -> list[PropertyDeclaration]:
    x = db("x")
    return [
        declared("low", PropertyForm.INVARIANT, less(x, lit(2))),
        declared("fine", PropertyForm.INVARIANT, less(x, lit(3))),
        declared("erring", PropertyForm.INVARIANT, eq(lit(1), _none())),
        declared("no_rise", PropertyForm.STEP_INVARIANT, eq(less(x, Next(SMALL, SPAN, x)), FALSE)),
        declared("rests_low", PropertyForm.AT_REST, less(x, lit(2))),
        declared("can_be_three", PropertyForm.RECOVERABLE, eq(x, lit(3))),
        declared("can_be_two", PropertyForm.RECOVERABLE, eq(x, lit(2))),
        declared("two", PropertyForm.COVER, eq(x, lit(2))),
        declared("always", PropertyForm.COVER, TRUE),
    ]


def _none() -> Unwrap:
    return unwrap(lit(None, OptionalType(SMALL)))


def judged() -> Interpreter:
    """x goes 0, 1, 2."""
    body = [assign(db("x"), lit(1)), assign(db("x"), lit(2)), wait_for(FALSE)]
    return Interpreter(model(store(value("x")), process("P", 1, task("t", *body)), *properties()))


@pytest.mark.parametrize(
    ("name", "steps", "expected"),
    [
        ("low", 2, True),
        ("low", 1, False),
        ("fine", 2, False),
        ("erring", 0, True),
        ("no_rise", 1, True),
        ("no_rise", 0, False),
        ("rests_low", 2, True),
        ("rests_low", 1, False),
        ("can_be_three", 0, True),
        ("can_be_two", 0, False),
        ("two", 2, True),
        ("two", 1, False),
        ("always", 0, True),
        ("model_errors", 2, False),
        ("assert_4", 2, False),
    ],
)
def test_a_property_must_be_broken_at_the_end(name: str, steps: int, expected: bool) -> None:
    m = judged()
    verdict = confirm(run(m, *[OK] * steps), name, m)
    if expected:
        assert verdict == Confirmed()
    else:
        assert isinstance(verdict, Mismatch)
        assert verdict.step == steps


def test_a_state_that_breaks_the_condition_but_is_not_at_rest() -> None:
    moving = declared("zero", PropertyForm.AT_REST, eq(db("x"), lit(0)))
    body = [assign(db("x"), lit(1)), assign(db("x"), lit(2))]
    m = Interpreter(model(store(value("x")), process("P", 1, task("t", *body)), moving))
    verdict = confirm(run(m, OK), "zero", m)
    assert isinstance(verdict, Mismatch)
    assert "not at rest" in verdict.why
    assert confirm(run(m, OK, OK), "zero", m) == Confirmed()


def test_a_step_invariant_that_holds_for_the_last_step() -> None:
    m = Interpreter(model(store(value("x")), process("P", 1, task("t", assign(db("x"), lit(0)))), *properties()))
    assert isinstance(confirm(run(m, OK), "no_rise", m), Mismatch)


def test_the_limit_leaves_the_claim_unconfirmed() -> None:
    m = judged()
    assert isinstance(confirm(run(m), "can_be_three", m, limit=2), Unconfirmed)


def test_a_bad_trace_is_a_mismatch_before_any_property() -> None:
    m = judged()
    trace = run(m, OK, OK)
    verdict = confirm(with_state(trace, 1, trace.states[0]), "low", m)
    assert isinstance(verdict, Mismatch)
    assert verdict.step == 0


def test_an_unknown_property() -> None:
    m = judged()
    with pytest.raises(KeyError):
        confirm(run(m), "nothing", m)


def test_model_errors_and_assertions_are_apart() -> None:
    wrong = check(FALSE)
    m = Interpreter(model(store(value("x")), process("P", 1, task("t", wrong)), *properties()))
    trace = run(m, "P0.t step error")
    line = wrong.span.line
    assert confirm(trace, f"assert_{line}", m) == Confirmed()
    assert isinstance(confirm(trace, f"assert_{line + 1}", m), Mismatch)
    assert isinstance(confirm(trace, "model_errors", m), Mismatch)
    # A run that ended in an error has no state for other properties.
    assert isinstance(confirm(trace, "always", m), Mismatch)
    none = assign(db("x"), unwrap(lit(None, OptionalType(SMALL))))
    m = Interpreter(model(store(value("x")), process("P", 1, task("t", none))))
    trace = run(m, "P0.t step error")
    assert confirm(trace, "model_errors", m) == Confirmed()
    assert isinstance(confirm(trace, f"assert_{none.span.line}", m), Mismatch)
