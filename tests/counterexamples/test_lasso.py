"""Lassos are believed only when they go on for ever, fairly, and violate the property."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterexamples.replay import Confirmed, Mismatch, Unconfirmed, confirm, replay
from counterexamples.trace import Trace
from spec.event import EventKind
from spec.fairness import enabled, fairness
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import Fairness
from tests.agreement.live_programs import COUNT, CRASH, FLICKER, REQUESTS, TURNS, UNDEFINED
from tests.spec.typecheck_models import check


def trace(interpreter: Interpreter, steps: str, loop: int | None) -> Trace:
    """The run whose steps are named: by the thread that acts (`a`, or `a#1` for the second successor of that name), or
    `crash`, `restart`, `redeliver`."""
    states, events = [interpreter.initial()], []
    for step in steps.split():
        name, _, number = step.partition("#")
        found = [
            (event, after)
            for event, after in interpreter.successors(states[-1])
            if (event.slot.thread if event.slot is not None and event.kind is not EventKind.CRASH else event.kind.value)
            == name
        ]
        event, after = found[int(number or 0)]
        events.append(event)
        states.append(after)
    return Trace(interpreter.model, tuple(states), tuple(events), loop)


def judged(text: str, steps: str, loop: int | None, name: str) -> Confirmed | Mismatch | Unconfirmed:
    interpreter = Interpreter(check(text).model)
    return confirm(trace(interpreter, steps, loop), name, interpreter)


def mismatch(text: str, steps: str, loop: int | None, name: str) -> Mismatch:
    answer = judged(text, steps, loop, name)
    assert isinstance(answer, Mismatch), answer
    return answer


@pytest.mark.parametrize(
    ("text", "steps", "loop", "name"),
    [
        (FLICKER % "", "a a", 0, "ends"),
        (FLICKER % "", "a a a", 1, "ends_up"),
        (FLICKER % "unfair", "a a", 0, "ends"),
        (COUNT % "unfair", "", 0, "top"),
        (COUNT % "unfair", "up up", 2, "leaves"),
        (TURNS, "a a b b", 0, "settles"),
        (REQUESTS, "", 0, "arrives"),
        (REQUESTS, "ask ask work work work", 5, "arrives"),
        (UNDEFINED, "t t t", 3, "left"),
        (UNDEFINED, "t t t", 3, "never"),
        (CRASH % "unfair", "ask ask crash", 3, "served"),
        (CRASH % "without restart", "ask ask work crash redeliver", 5, "served"),
    ],
)
def test_confirmed(text: str, steps: str, loop: int, name: str) -> None:
    assert judged(text, steps, loop, name) == Confirmed()


@pytest.mark.parametrize(
    ("text", "steps", "loop", "name", "step", "why"),
    [
        (FLICKER % "strongly fair", "a a", 0, "ends", 2, "P[0].once, which is strongly fair"),
        (FLICKER % "", "a", 1, "ends", 1, "stays in its last state, where P[0].a can go on"),
        (FLICKER % "", "a a a", 0, "ends", 3, "does not lead back to state 0"),
        (FLICKER % "", "a a", None, "ends", 2, "the trace ends"),
        (FLICKER % "", "a once once a a", 3, "ends", 5, "does not violate `ends`"),
        (COUNT % "", "", 0, "top", 0, "stays in its last state"),
        (COUNT % "strongly fair", "", 0, "top", 0, "stays in its last state"),
        (COUNT % "unfair", "up up", 2, "odd", 2, "does not violate `odd`"),
        (COUNT % "unfair", "up up", 2, "first", 2, "does not violate `first`"),
        (TURNS, "a a b b", 0, "again", 4, "does not violate `again`"),
        (CRASH % "", "ask ask crash", 3, "served", 3, "where restart P[0] can go on"),
        (CRASH % "without restart", "ask ask work crash", 4, "served", 4, "redeliver db.q[W#0] can go on"),
        (CRASH % "", "ask ask crash restart", 2, "served", 2, "a fault happens again and again"),
        (CRASH % "", "ask ask crash restart", 4, "served", 4, "where P[0].work can go on"),
    ],
)
def test_mismatches(text: str, steps: str, loop: int | None, name: str, step: int, why: str) -> None:
    found = mismatch(text, steps, loop, name)
    assert why in found.why
    assert found.step == step


def test_a_weakly_fair_action_that_is_enabled_in_all_of_the_loop_is_owed_a_step() -> None:
    text = FLICKER.replace("await db.up; ", "") % ""
    assert "P[0].once is enabled in all of it" in mismatch(text, "a a", 0, "ends").why


def test_the_loop_is_followed_until_all_locals_come_back() -> None:
    """`x` is 0 the first time around and 1 from then on; nobody reads it, and the trace does not have it."""
    text = """
store db { durable n: 0..1; durable done: bool }
process P { loop t { let x = 0; while db.n < 2 { db.n := 1 - db.n; x := 1 }; if x == 0 { db.done := true } } }
live ends: eventually db.done
"""
    interpreter = Interpreter(check(text).model)
    whole = trace(interpreter, "t t t t t", 1)
    assert isinstance(confirm(whole, "ends", interpreter), Mismatch), "as it is, the states differ in x"
    assert confirm(replace(whole, states=tuple(map(_bare, whole.states))), "ends", interpreter) == Confirmed()


def _bare(state: GlobalState) -> GlobalState:
    activations = {slot: replace(activation, locals={}) for slot, activation in state.activations.items()}
    return replace(state, activations=activations)


def test_replay_alone_does_not_ask_for_fairness() -> None:
    interpreter = Interpreter(check(FLICKER % "strongly fair").model)
    assert replay(trace(interpreter, "a a", 0), interpreter) is None


def test_enabled_actions_and_their_fairness() -> None:
    interpreter = Interpreter(check(CRASH % "unfair").model)
    run = trace(interpreter, "ask ask work crash", 4)
    last = {(a.kind, fairness(interpreter.model, a)) for a in enabled(interpreter, run.states[-1])}
    assert last == {(EventKind.RESTART, Fairness.UNFAIR), (EventKind.REDELIVER, Fairness.WEAK)}
    (work,) = enabled(interpreter, run.states[2])
    assert work.slot is not None
    assert (work.kind, work.slot.thread) == (EventKind.STEP, "work")
    assert enabled(interpreter, run.states[0]) == frozenset()
