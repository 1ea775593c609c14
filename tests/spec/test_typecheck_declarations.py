"""Mistakes in declarations: types, constants, threads, faults, properties, expectations, scenarios."""

from __future__ import annotations

import pytest

from spec.typecheck import Checked, Choice, typecheck
from tests.spec.typecheck_models import check, handler, module, problems, thread

MODEL = handler("db.count := 1")
END = MODEL.count("\n")


def after(text: str) -> list[tuple[str, int | None]]:
    """Problems of the common model with declarations behind it, lines counted from the first of them."""
    return [(code, None if line is None else line - END) for code, line in problems(MODEL + text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Types and constants.
        ("type A = B\ntype B = A", [("E210", 1)]),
        ("record R { next: R? }", [("E210", 1)]),
        ("record R { of: S }\nrecord S { of: set of bool, back: R }", [("E210", 1)]),
        ("const A: int = B\nconst B: int = A", [("E210", 1)]),
        ("const A: 0..A = 1", [("E210", 1)]),
        ("ids I[I]", [("E210", 1)]),
        ("def f(x: bool): bool = g(x)\ndef g(x: bool): bool = f(x)", [("E210", 1)]),
        ("def f(x: bool): bool = y", [("E201", 1)]),
        ("def f(x: bool, x: bool): bool = x", [("E203", 1)]),
        ("def f(x: Workflow): int = x", [("E223", 1)]),
        ("def f(): bool = self == none", [("E245", 1)]),
        ("const A: Workflow? = none", [("E226", 1)]),
        ("const A: 0..3 = 4", [("E221", 1)]),
        ("const A: int = 1 / 0", [("E232", 1)]),
        ("const A: int = db.count", [("E232", 1)]),
        ("const A: bool = redis.decider.size == 0", [("E232", 1)]),
        ("const A: int = steps", [("E232", 1)]),
        ("record R { a: bool, a: bool }", [("E203", 1)]),
        ("record R { a: Attempt = 2 }", [("E221", 1)]),
        ("enum E { X, X }", [("E203", 1)]),
        ("enum E { db }", [("E203", 1)]),
        ("ids bool[1]", [("E203", 1)]),
        ("ids I[5000]", [("E229", 1)]),
        ("store s { durable x: (Workflow, int) -> bool }", [("E226", 1)]),
        ("store s { durable x: set of int }", [("E226", 1)]),
        ("store s { durable x: Status? -> bool }", [("E226", 1)]),
        ("store s { durable x: Workflow -> Workflow }", [("E228", 1)]),
        ("store s { durable x: (bool, Workflow) }", [("E228", 1)]),
        ("store s { durable x: bool = none }", [("E220", 1)]),
        ("store s { durable x: bool; durable lock x }", [("E203", 1)]),
        ("store s { durable queue q: int }", [("E226", 1)]),
        ("store s { durable queue q: bool bag(0) }", [("E229", 1)]),
        ("store s { durable queue q: bool fifo(1 - 2) }", [("E229", 1)]),
        ("store s { durable lock l fencing(0) }", [("E229", 1)]),
        ("ghost g: Nothing", [("E202", 1)]),
        # Processes and threads.
        ("process Q[0] { loop l { await db.count > 0 } }", [("E229", 1)]),
        ("process Q { loop l [0] { await db.count > 0 } }", [("E229", 1)]),
        ("process Q { volatile db: bool\nloop l { await db.count > 0 } }", [("E204", 1)]),
        ("process Q { on l() { await db.count > 0 }; loop l { await db.count > 0 } }", [("E203", 1)]),
        ("process Q { on l(x: int) { await db.count > x } }", [("E239", 1)]),
        ("process Q { on l(x: set of bool) { await true in x } }", [("E239", 1)]),
        ("process Q { on l(x: 0..99999) { await db.count > x } }", [("E234", 1)]),
        ("process Q { on l(x: fresh Attempt) { await db.count > x } }", [("E220", 1)]),
        ("process Q { loop l when db.count > 0 { await db.count > 0 } }", [("E232", 1)]),
        ("process Q { loop l { return 1 } }", [("E252", 1)]),
        ("process Q { on l(): bool { return } }", [("E251", 1)]),
        ("process Q { on l(): bool { if db.count > 0 { return true } } }", [("E251", 1)]),
        ("process Q { on l(): bool { return 1 } }", [("E220", 1)]),
        # Faults.
        ("faults { crash Q }", [("E270", 1)]),
        ("faults { partition P -- dbb }", [("E270", 1)]),
        ("faults { duplicate db -- redis }", [("E271", 1)]),
        ("faults { expire redis.wf }", [("E272", 1)]),
        ("faults { expire redis.decider }", [("E272", 1)]),
        ("faults { expire redis.nothing }", [("E270", 1)]),
        ("faults { expire P.token }", [("E270", 1)]),
        ("faults { crash P; crash P without restart }", [("E273", 1)]),
        ("faults { partition P -- G }\nfaults { partition G -- P }", [("E273", 2)]),
        # Properties.
        ("invariant i: true", [("E274", 1)]),
        ("invariant i: db.total == 0", [("E274", 1)]),
        ("invariant i: redis.mutex.held()", [("E274", 1)]),
        ("invariant i: db.count", [("E220", 1)]),
        ("invariant i: redis.decider.take() == none", [("E259", 1)]),
        ("invariant i: P[0].busy", [("E223", 1)]),
        ("at rest i: db.count' > 0", [("E246", 1)]),
        ("step invariant i: (db.count' > 0)' or db.count > 0", [("E246", 1)]),
        ("invariant assert_3: db.count > 0", [("E287", 1)]),
        ("invariant steps: db.count > 0", [("E203", 1)]),
        # Expectations.
        ("expect proves i", [("E277", 1)]),
        ("expect runs c", [("E278", 1)]),
        ("expect reaches c\nexpect refutes c", [("E279", 2)]),
        ("expect reaches c, c", [("E279", 1)]),
        ("expect proves assert_1", [("E277", 1)]),
        ("expect v proves model_errors", [("E276", 1)]),
        ("scenario s { P.h request }\nexpect runs s\nexpect forbids s", [("E279", 3)]),
        ("scenario s { P.h request }\nexpect proves s", [("E278", 2)]),
        # Scenarios.
        ("scenario s { Q.h }", [("E286", 1)]),
        ("scenario s { P.g }", [("E286", 1)]),
        ("scenario s { P[2].h }", [("E286", 1)]),
        ("scenario s { P.h reply }", [("E286", 1)]),
        ('scenario s { P.h "db.count := 2" }', [("E285", 1)]),
        ("scenario s { crash Q }", [("E270", 1)]),
        ("scenario s { restart db[0] }", [("E286", 1)]),
        ("scenario s { cut db -- redis }", [("E271", 1)]),
        ("scenario s { redeliver redis.wf }", [("E286", 1)]),
        ("scenario s { expire redis.decider }", [("E286", 1)]),
        ("scenario s { then db.count }", [("E220", 1)]),
        ("scenario s { then P[2].busy }", [("E286", 1)]),
        ('scenario s { P.h "db.count := 1" unknown during crash Q kept }', [("E270", 1)]),
    ],
)
def test_declaration_with_mistakes(text: str, found: list[tuple[str, int | None]]) -> None:
    assert after(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "invariant i: redis.decider.size == 0 or db.count > 0",
        "invariant i: exists p: P. P[p].busy or db.count > 0",
        "step invariant i: db.count' >= db.count",
        "step invariant i: up(db.count)\ndef up(n: int): bool = n' >= n",
        "expect refutes c",
        "expect proves model_errors",
        'scenario s { P[1].h request; P.h "db.count := 1" ok; ..; then P[1].busy or db.count == 1 }\nexpect runs s',
        'scenario s { P.h "  db.count   := 1 " }',
        "faults { partition P -- P, P -- G; lose P -- P }",
        "const A: bool = forall x: Attempt. x < 2",
        "const A: int = if SIX > 5 then -SIX else 2 * 3\nconst SIX: int = 6",
        "store s { durable x: Workflow -> (Workflow, Attempt)?; durable y: int = 3 - 4 }",
    ],
)
def test_declaration_without_mistakes(text: str) -> None:
    assert all(code.startswith("W") for code, _ in after(text))


LEFT_OUT = """\
const N: int = 1
switch on: bool = false
store db { durable n: 0..N; durable m: 0..9 }
process P {
  on help() when on { db.n := 2 }
  loop go when on { call P.help() }
  on other() { db.m := 1 }
}
cover c: db.n == 1 or db.m == 1
scenario s { P.help "db.n := 2" }
variant with { on = true, N = 2 }
variant broken { on = true }
"""


def test_a_thread_that_is_left_out_need_not_fit_the_sizes() -> None:
    model = check(LEFT_OUT).model
    assert [t.name for t in model.processes[0].threads] == ["other"]
    assert problems(LEFT_OUT, Choice("broken")) == [("E221", 5)]


def test_a_beat_of_a_thread_that_is_left_out_matches_nothing() -> None:
    (beat,) = check(LEFT_OUT).model.scenarios[0].beats
    assert getattr(beat, "sites", None) == frozenset()
    checked = check(LEFT_OUT, Choice("with"))
    (beat,) = checked.model.scenarios[0].beats
    assert getattr(beat, "sites", None) == frozenset({thread(checked.model, "P", "help").body[0].id})


def test_a_handler_is_called_whichever_the_switches() -> None:
    text = LEFT_OUT.replace("on help() when on", "on help()").replace("db.n := 2", "db.n := 1")
    assert thread(check(text).model, "P", "help").called


def test_a_mistake_in_a_thread_that_is_left_out_is_found() -> None:
    assert problems(LEFT_OUT.replace("db.n := 2 }\n", "db.x := 2 }\n", 1)) == [("E205", 5)]


def test_one_bad_size_gives_one_error() -> None:
    assert problems(MODEL.replace("ids Workflow[2]", "ids Workflow[0]")) == [("E229", 3)]


def test_one_bad_type_gives_one_error() -> None:
    assert problems(MODEL.replace("durable count: 0..9", "durable count: 9..0")) == [("E230", 10)]


def test_errors_are_in_the_order_of_the_source() -> None:
    result = typecheck(module(MODEL + "invariant i: nothing\nghost g: None\nfaults { crash Q }\n"))
    assert not isinstance(result, Checked)
    assert [(d.code, d.span.line - END if d.span else None) for d in result] == [("E201", 1), ("E202", 2), ("E270", 3)]


def test_a_scenario_lists_the_statements_that_there_are() -> None:
    result = typecheck(module(MODEL + 'scenario s { P.h "insert" }\n'))
    assert not isinstance(result, Checked)
    assert "`db.count := 1`" in result[0].message
