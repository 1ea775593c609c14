"""What people see of a run that never ends."""

from __future__ import annotations

import jsonschema

from counterexamples.explain import Explanation, explain
from counterexamples.forever import Excuse, Forever
from counterexamples.render.json import document, from_document, schema
from counterexamples.render.text import render, summary
from counterexamples.trace import Trace
from spec.fairness import enabled
from spec.interpreter import Interpreter
from tests.agreement.live_programs import COUNT, CRASH, FLICKER, TURNS
from tests.counterexamples.test_lasso import trace
from tests.spec.typecheck_models import check

RACE = """
store db { durable n: 0..1; durable lock guard; durable done: bool }
process P[2] { loop work { await db.guard.acquire(); db.n := 1 - db.n; db.guard.release() } }
process Q { task once { await db.guard.acquire(); db.done := true }; task idle { return } }
live ends: eventually db.done
"""


def shown(text: str, steps: str, loop: int, name: str) -> tuple[Explanation, Trace]:
    interpreter = Interpreter(check(text).model)
    run = trace(interpreter, steps, loop)
    return explain(run, name, able=lambda state: enabled(interpreter, state)), run


def forever(text: str, steps: str, loop: int, name: str) -> Forever:
    explanation, _ = shown(text, steps, loop, name)
    assert explanation.conclusion is not None
    assert explanation.conclusion.forever is not None
    return explanation.conclusion.forever


def excuses(told: Forever) -> list[tuple[str, Excuse, int | None]]:
    return [
        (
            "" if part.action.slot is None else f"{part.action.slot.instance}.{part.action.slot.thread}",
            part.excuse,
            part.step,
        )
        for part in told.parts
    ]


def test_a_thread_that_takes_part_and_one_that_is_disabled_at_times() -> None:
    told = forever(FLICKER % "", "a a a", 1, "ends_up")
    assert (told.since, told.stays, told.bindings) == (1, False, ())
    assert excuses(told) == [("0.a", Excuse.TAKEN, 2), ("0.once", Excuse.AT_TIMES, 2)]
    assert told.parts[1].site is not None
    assert told.parts[1].site.statement.text == "await db.up"


def test_threads_that_never_can_and_that_have_ended() -> None:
    told = forever(RACE, "idle work work work", 1, "ends")
    assert [part.excuse for part in told.parts] == [Excuse.TAKEN, Excuse.AT_TIMES, Excuse.AT_TIMES, Excuse.NEVER]
    assert [part.idle for part in told.parts] == [False, False, False, True]
    held = forever(TURNS, "a a b b", 0, "settles")
    assert [part.excuse for part in held.parts] == [Excuse.TAKEN, Excuse.TAKEN]


def test_an_unfair_recovery() -> None:
    told = forever(CRASH % "unfair", "ask ask crash", 3, "served")
    assert told.stays
    assert [name for name, _ in told.bindings] == ["w"]
    assert told.since == 2, "asked after the second step"
    assert [part.excuse for part in told.parts if part.action.slot is None] == [Excuse.UNFAIR]


def test_text() -> None:
    told, _ = shown(FLICKER % "", "a a a", 1, "ends_up")
    assert summary(told) == "3 steps, the last 2 for ever, no fault"
    lines = [" ".join(line.split()) for line in render(told).splitlines()]
    begin = lines.index("for ever:")
    assert lines[begin - 2].startswith("1 P[0].a")
    assert lines[begin + 1].startswith("2 P[0].a")
    assert "and again from step 2, for ever" in lines
    assert "┃ after step 1 db.up" in lines
    assert "┃ from then on never db.done" in lines
    assert "┃ P[0].a taken: step 2" in lines
    assert "┃ P[0].once weakly fair, and not enabled after step 2: waits at await db.up model.cpt:5" in lines


def test_text_of_a_run_that_stays() -> None:
    told, _ = shown(COUNT % "unfair", "up up", 2, "leaves")
    text = [" ".join(line.split()) for line in render(told).splitlines()]
    assert "and so for ever" in text
    assert "┃ nothing that is fair can go on" in text
    assert "┃ P[0].up is owed nothing: unfair" in text


def test_json_is_valid_and_comes_back() -> None:
    for text, steps, loop, name in [
        (FLICKER % "", "a a a", 1, "ends_up"),
        (CRASH % "unfair", "ask ask crash", 3, "served"),
        (RACE, "idle work work work", 1, "ends"),
    ]:
        explanation, run = shown(text, steps, loop, name)
        data = document(explanation, run)
        jsonschema.validate(data, schema())
        assert from_document(data, run.model) == run
        conclusion = data["conclusion"]
        assert isinstance(conclusion, dict)
        assert conclusion["forever"] is not None
