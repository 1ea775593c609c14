"""Every code of the type checker: its wrong example yields exactly it, at the line that the mistake is in; its right
example yields no error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spec.diagnostic import Code
from spec.source import Span
from spec.type_codes import TYPE_CODES
from spec.typecheck import Checked, Choice, typecheck
from tests.spec.typecheck_models import handler, module, problems

EXAMPLES = [code for code in TYPE_CODES if code.is_model]

# What the line of the diagnostic must contain, read off the wrong examples by hand.
PLACES = {
    "E201": "workflow[w] := RUNNING",
    "E202": "durable attempts: Atempt",
    "E203": "enum Status { A, B }",
    "E204": "let N = 2",
    "E205": "db.workflows[w]",
    "E206": "db.task[w].supersede := true",
    "E207": "call Server.strat()",
    "E208": "let s = RUNNING",
    "E209": "gone(db.workflow[w])",
    "E210": "def gone(s: Status?): bool = not gone(s)",
    "E211": "def d",
    "E220": "db.workflow[w] := true",
    "E221": "db.tries := 4",
    "E222": "let before = none",
    "E223": "await w > w",
    "E224": "db.workflow[w] > RUNNING",
    "E225": "db.decider.push()",
    "E226": "durable tries: int -> bool",
    "E227": "durable seen: Maybe?",
    "E228": "durable last: Workflow",
    "E229": "ids Workflow[0]",
    "E230": "durable tries: 3..0",
    "E232": "durable more: 0..3 = db.tries",
    "E233": "const N: int = 0 where N >= 1",
    "E234": "durable seen: 0..99999 -> bool",
    "E235": "if w is some",
    "E236": "cover started: db.decider",
    "E237": "db.row := Row{}",
    "E238": "db.mutex.push(w)",
    "E239": "on set(n: int)",
    "E240": "if redis.decider.contains(w) and",
    "E241": "redis.decider.push(w)",
    "E242": "atomic { retry 2",
    "E243": "db.workflow[w] := RUNNING",
    "E244": "if executed",
    "E245": "loop watch",
    "E246": "invariant kept",
    "E247": "call Server.sweep()",
    "E248": "loop go",
    "E249": "on start(w: fresh Workflow)",
    "E250": "let r = call Server.aid()",
    "E251": "on aid(): bool",
    "E252": "return true",
    "E253": "return db.workflow[w]",
    "E254": "call Server.aid(db.tries)",
    "E255": "for w in all x",
    "E256": "loop sweep { }",
    "E257": "while true",
    "E258": "N := 2",
    "E259": "db.mutex.acquire() and true",
    "E260": "where n > 3",
    "E261": "let x = db.decider.push(w)",
    "E262": "atomic { return }",
    "E264": "let (a, b) = (1, 2, 3)",
    "E265": "mine := db.decider.take()",
    "E266": "db.decider.contains(w)",
    "E267": "db.workflow[w] := RUNNING blocks ok",
    "E270": "crash Servr",
    "E271": "partition db -- redis",
    "E272": "expire db.mutex",
    "E273": "lose db -- Server",
    "E274": "invariant few",
    "E275": None,
    "E276": "expect v2",
    "E277": "expect reaches startd",
    "E278": "expect proves started",
    "E279": "expect refutes kept",
    "E280": "rescann = true",
    "E281": "rescan = true, rescan = false",
    "E282": "expect reaches started",
    "E285": "insert the row",
    "E286": "Server[1].start",
    "E287": "invariant model_errors",
    "E288": "needs {crash db}",
    "E289": "lose Server -- db",
    "E290": "{crash db, crash Server}",
    "E291": "invariant ends: eventually",
    "E292": "live ends: exists w: Workflow. eventually",
    "E293": "lose Server -- db unfair",
    "W201": "step invariant kept",
    "W202": "catch duplicate",
    "W203": "durable tries",
    "W204": "durable limit",
    "W205": "ids Task[1]",
    "W206": "let before",
    "W207": "on aid()",
    "W208": "while n < 3",
    "W209": "loop idle",
}


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.code)
def test_wrong_example_yields_the_code_where_the_mistake_is(code: Code) -> None:
    result = typecheck(module(code.wrong))
    assert isinstance(result, Checked) == code.code.startswith("W")
    found = result.warnings if isinstance(result, Checked) else result
    # The two that cannot be made with one mistake only.
    assert {d.code for d in found} == {code.code}
    if code.code != "E211":
        assert len(found) == 1
    place = PLACES[code.code]
    span = found[0].span
    if place is None:
        assert span is None
    else:
        assert isinstance(span, Span)
        assert place in span.source.line(span.line)
    assert found[0].message
    assert not found[0].message.endswith(".")


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.code)
def test_right_example_has_no_error(code: Code) -> None:
    result = typecheck(module(code.right))
    assert isinstance(result, Checked)
    assert code.code not in {d.code for d in result.warnings}


def test_every_code_that_is_used_is_explained_and_the_other_way_round() -> None:
    spec = Path(__file__).parents[2] / "spec"
    files = [*(spec / "checking").glob("*.py"), spec / "load.py"]
    used = {code for file in files for code in re.findall(r'"([EW]2\d\d)"', file.read_text())}
    assert used == {code.code for code in TYPE_CODES}


def statement(text: str, more: str = "") -> list[tuple[str, int | None]]:
    """Problems of the statements in the common model, whose first statement is in line 27."""
    return problems(handler(text, more))


FIRST = 27


@pytest.mark.parametrize(
    ("text", "code"),
    [
        # Types.
        ("db.count := true", "E220"),
        ("db.count := 10", "E221"),
        ("db.count := if busy then 3 else 12", "E221"),
        ("db.task[w][2] := none", "E221"),
        ("db.pair[w, 7] := true", "E221"),
        ("db.count := w", "E223"),
        ("db.count := w + 1", "E223"),
        ("db.workflow[0] := RUNNING", "E223"),
        ("await w == 0", "E223"),
        ("await db.workflow[w] == DOING", "E220"),
        ("await a == none", "E220"),
        ("await w in {1, 2}", "E223"),
        ("await a in {w}", "E223"),
        ("await db.workflow[w] in 3", "E235"),
        ("await db.workflow[w] in {DOING}", "E220"),
        ("await db.count", "E220"),
        ("await not 3", "E220"),
        ("let x = {}", "E222"),
        ("let x = COMPLETED", "E208"),
        ("let x = if busy then 1 else w", "E220"),
        ("let x = {w, a}", "E220"),
        ("let x = {a + 1}", "E226"),
        ("let x = {db.owner}", "E226"),
        ("let x: Status = none", "E220"),
        ("let x = db.task[w][a].nothing", "E206"),
        ("let x = a.status", "E235"),
        ("let x = a[w]", "E235"),
        ("let x = db.pair[w][a]", "E220"),
        ("let x = db.task[w, a]", "E225"),
        ("db.task[w][a] := Task{state: DOING}", "E206"),
        ("db.task[w][a] := Task{tries: 5}", "E221"),
        ("db.task[w][a] := Tusk{}", "E202"),
        ("let x = forall n: int. n == 1", "E226"),
        ("let x = forall n: 0..99999. n == 1", "E234"),
        ("let x = any Nothing where true", "E202"),
        ("let x = fresh Attempt", "E220"),
        ("let x = fresh P", "E220"),
        # Names.
        ("let x = workflow[w]", "E201"),
        ("let db = 1", "E204"),
        ("let w = 1", "E204"),
        ("let busy = 1", "E204"),
        ("let RUNNING = 1", "E204"),
        ("await exists w: Workflow. busy", "E204"),
        ("let x = db", "E236"),
        ("let x = redis.decider", "E236"),
        ("let x = redis.mutex", "E236"),
        ("let x = Workflow", "E236"),
        ("let x = P", "E236"),
        ("let x = c", "E236"),
        ("let x = P.busy", "E245"),
        ("let x = P[self].idle", "E205"),
        ("let x = exists p: P. P[p].busy", "E245"),
        ("let x = TaskStatus.RUNNING", "E201"),
        ("x := 1", "E201"),
        ("db.nothing := 1", "E205"),
        ("da.workflow[w] := RUNNING", "E201"),
        ("a.x := 1", "E235"),
        ("RUNNING := 1", "E258"),
        ("redis.decider := 1", "E236"),
        ("await steps > 1", "E244"),
        ("if executed[w] { fail }", "E244"),
        ("db.count := steps", "E244"),
        ("let x = db.workflow[w]'", "E246"),
        # Queues, locks, maps.
        ("redis.decider.push(a)", "E223"),
        ("redis.decider.push()", "E225"),
        ("redis.decider.take(w)", "E225"),
        ("redis.decider.acquire(w)", "E238"),
        ("redis.decider.pusch(w)", "E238"),
        ("redis.wf.push(w)", "E238"),
        ("redis.wf.acquire()", "E225"),
        ("redis.mutex.acquire(w)", "E225"),
        ("redis.nothing.push(w)", "E205"),
        ("db.count.push(w)", "E238"),
        ("a.push(w)", "E238"),
        ("db.pair.insert((w, a), true)", "E238"),
        ("db.task.insert(w, none)", "E238"),
        ("db.workflow.insert(w)", "E225"),
        ("db.workflow.insert(w, none)", "E220"),
        ("db.workflow.delete(w, RUNNING)", "E225"),
        ("let x = redis.decider.push(w)", "E261"),
        ("let x = redis.wf.release(w)", "E261"),
        ("let x = await redis.wf.acquire(w)", "E261"),
        ("let x = await db.cached.acquire(w)", "E205"),
        ("redis.decider.contains(w)", "E266"),
        ("busy := redis.mutex.acquire()", "E265"),
        ("let x: bool = redis.decider.take()", "E220"),
        ("if redis.wf.acquire(w) or busy { fail }", "E259"),
        ("await redis.decider.take() == w", "E259"),
        # One step, one store.
        ("db.workflow[w] := if redis.cached then RUNNING else COMPLETED", "E240"),
        ("let x = db.count > 0 and redis.cached", "E240"),
        ("assert db.count > 0 and redis.cached", "E240"),
        ("redis.decider.push(if db.count > 0 then w else w)", "E240"),
        ("update db.count where redis.cached := 1", "E240"),
        ("transaction db { await redis.cached }", "E241"),
        ("transaction db { transaction redis { cached := true } }", "E241"),
        ("transaction dc { fail }", "E205"),
        # Blocks of one step.
        ("atomic { try { fail } catch { fail } }", "E242"),
        ("atomic { while busy { busy := false } }", "E242"),
        ("atomic { for x in {w} { busy := false } }", "E242"),
        ('step "x" { call G.ghosts(w) }', "E242"),
        ('step "x" { send G.ghosts(w) }', "E242"),
        ("atomic { }", "E256"),
        # Control.
        ("if true { fail } else { busy := true }", "E243"),
        ("if false { busy := true }", "E243"),
        ("while false { busy := true }", "E243"),
        ("for x in all y: Workflow where db.workflow[y] is some { busy := true }", "E255"),
        ("for x in w { busy := true }", "E235"),
        ("retry 0 { fail }", "E229"),
        ("retry db.count { fail }", "E232"),
        ("let (x, y) = w", "E264"),
        ("let (x, x) = (w, a)", "E203"),
        ("let x = any Attempt where x > 1", "E260"),
        ("let x = any Attempt where false", "E260"),
        # Requests.
        ("call Q.poll()", "E207"),
        ("call db.poll()", "E207"),
        ("call P.poll()", "E207"),
        ("call G.ghosts()", "E225"),
        ("call G.ghosts(a)", "E223"),
        ("call G[w].ghosts(w)", "E220"),
        ("let x = call G.ghosts(w)", "E250"),
        ("let x = send G.ghosts(w)", "E261"),
        ("if db.count > 0 { call G.ghosts(if db.count > 1 then w else w) }", "E254"),
    ],
)
def test_statement_with_one_mistake(text: str, code: str) -> None:
    assert statement(text) == [(code, FIRST)]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("return\nbusy := true", "E243", FIRST + 1),
        ("fail\nbusy := true", "E243", FIRST + 1),
        ("while true { busy := true }\nbusy := false", "E243", FIRST + 1),
        ("if busy { return } else { fail }\nbusy := false", "E243", FIRST + 1),
        ("either { return } or { fail }\nbusy := false", "E243", FIRST + 1),
        ("try { redis.mutex.release(); return } catch { return }\nbusy := false", "E243", FIRST + 1),
        ("let x = 1\nlet x = 2", "E203", FIRST + 1),
        ("let x = 1\nif busy { let x = 2 }", "E204", FIRST + 1),
        ("if busy { let x = 1 }\nbusy := x > 0", "E201", FIRST + 1),
        ("let x = redis.mutex.acquire()\nlet y: 0..3 = x", "E220", FIRST + 1),
    ],
)
def test_statements_with_one_mistake(text: str, code: str, line: int) -> None:
    assert statement(text) == [(code, line)]


@pytest.mark.parametrize(
    "text",
    [
        "busy := db.workflow[w] == RUNNING",
        "busy := db.workflow[w] == COMPLETED",
        "busy := db.task[w][a].status in {COMPLETED, DOING}",
        "busy := db.task[w][a] == none",
        "busy := db.owner == w and w == db.owner and db.owner is some",
        "busy := db.count == db.total and db.total < a and a != 7",
        "db.count := db.total",
        "db.count := a + 1",
        "db.total := db.total / 2 % 3 - -a",
        "db.owner := w",
        "db.owner := none",
        "db.task[w][a].tries := a",
        "db.task[w][a] := Task{superseded: true}",
        "db.task[w][a] := if busy then none else Task{}",
        "db.pair[w, a] := db.pair[(w, a)]",
        "transaction db { workflow[w] := RUNNING; db.count := 1; busy := true }",
        "atomic { db.count := 1; redis.cached := true; executed[w] := true }",
        "executed[w] := not executed[w]",
        "steps := steps + 1",
        "assert steps > 1 or executed[w]",
        "busy := P[self].busy",
        "if busy { let x = 1; db.count := x } else { let x = 2; db.count := x }",
        "let (x, y) = (w, a)\ndb.pair[x, y] := true",
        "let s = TaskStatus.COMPLETED\nbusy := db.task[w][a].status == s",
        "let x = redis.mutex.acquire()\nbusy := x",
        "let x = redis.token.acquire(w)\nbusy := x is some",
        "let x = await redis.token.acquire(w)\ndb.count := x",
        "let n = 1\nn := n + 1\ndb.count := n",
        "let x = a\nx := any Attempt where x > 0\ndb.count := x",
        "let rows = db.task[w]\nrows[0].status := DOING\nrows.insert(1, Task{})\ndb.task[w] := rows",
        "while redis.mutex.acquire() { redis.mutex.release() }",
        "let _ = db.count\nlet _ = db.total",
        "call G.ghosts(w)",
        "let g = any G\ncall G[g].ghosts(w)",
    ],
)
def test_statement_without_mistake(text: str) -> None:
    codes = [code for code, _ in statement(text)]
    assert all(code.startswith("W") for code in codes)


def test_all_errors_are_reported_at_once_and_none_twice() -> None:
    wrong = "let x = db.wrokflow[w]\nbusy := x == RUNNING and x is some\nlet y: Attempt = x"
    text = wrong + "\ndb.count := true\ndb.total := yes"
    assert statement(text) == [("E205", FIRST), ("E220", FIRST + 3), ("E201", FIRST + 4)]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("db.wrokflow[w] := RUNNING", "did you mean `db.workflow`?"),
        ("let x = workflow[w]", "did you mean `db.workflow`?"),
        ("redis.workflow[w] := RUNNING", "did you mean `db.workflow`?"),
        ("db.workflow[w] := RUNING", "did you mean `RUNNING`?"),
        ("redis.decider.psuh(w)", "did you mean `push`?"),
        ("call G.ghost(w)", "did you mean `ghosts`?"),
        ("let x = db.task[w][a].statsu", "did you mean `status`?"),
        ("let x: Atempt = 1", "did you mean `Attempt`?"),
    ],
)
def test_close_names_are_suggested(wrong: str, right: str) -> None:
    result = typecheck(module(handler(wrong)))
    assert not isinstance(result, Checked)
    assert [d.fix for d in result] == [right]


def test_one_step_one_store_names_both() -> None:
    result = typecheck(module(handler("db.count := if redis.cached then 1 else 2")))
    assert not isinstance(result, Checked)
    assert "`db` and `redis`" in result[0].message
    assert result[0].fix is not None
    assert "atomic" in result[0].fix


CHOICE_MODEL = """\
const N: 1..3 = 1 where N < 3 or rescan
switch rescan: bool = false
enum Mode { FAST, SLOW }
switch mode: Mode = FAST
ids Workflow[N]
store db { durable seen: Workflow -> bool; durable fast: bool }
process P { on h(w: Workflow) { db.seen[w] := rescan; db.fast := mode == FAST } }
cover c: db.fast and exists w: Workflow. db.seen[w]
variant big { N = 3 }
variant large { N = 3, rescan = true }
"""


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        (Choice("bug"), "E276"),
        (Choice(None, {"M": "1"}), "E283"),
        (Choice(None, {"rescan": "true"}), "E283"),
        (Choice(None, {}, {"N": "1"}), "E283"),
        (Choice(None, {"N": "x"}), "E284"),
        (Choice(None, {"N": "4"}), "E284"),
        (Choice(None, {"N": "9" * 5000}), "E284"),
        (Choice(None, {}, {"rescan": "yes"}), "E284"),
        (Choice(None, {}, {"mode": "RUNNING"}), "E284"),
    ],
)
def test_wrong_choice(choice: Choice, code: str) -> None:
    assert problems(CHOICE_MODEL, choice) == [(code, None)]


def test_where_names_the_values_that_contradict_it() -> None:
    result = typecheck(module(CHOICE_MODEL), Choice("big"))
    assert not isinstance(result, Checked)
    assert [d.code for d in result] == ["E233"]
    assert "N = 3, rescan = false" in result[0].message


@pytest.mark.parametrize("choice", [Choice("large"), Choice("big", {}, {"rescan": ""}), Choice("big", {"N": "2"})])
def test_right_choice(choice: Choice) -> None:
    assert problems(CHOICE_MODEL, choice) == []
