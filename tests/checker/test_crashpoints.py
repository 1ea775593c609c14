"""The crash-point map, against what one can say of small protocols by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from checker import cli
from checker.confirm import Context
from checker.crashpoints import system
from checker.crashpoints.crash_map import Absence, CrashMap, Effect, crash_map
from checker.crashpoints.points import Cell, Moment, Point
from checker.crashpoints.report import render, told
from checker.crashpoints.semantics import PointInterpreter
from checker.exitcode import ExitCode
from checker.logic.formula import FALSE, Variable
from checker.options import Options
from checker.planning.plan import Silence
from checker.transition_system import Property
from checker.verdict import Proved, Refuted, Undecided, faults_in
from counterexamples.render.page import Page
from counterexamples.site import sites
from spec.control import Control
from spec.load import load
from spec.parse import parse
from spec.prospects import next_shared
from spec.source import Source
from spec.syntax import File, Module
from spec.typecheck import Checked, Choice, typecheck
from spec.typed import Model
from tests.agreement.crash_comparison import compare_model
from tests.stand_in import InPlaceOf

ROOT = Path(__file__).parents[2]
SIGNS = {Effect.NONE: "ok", Effect.BREAKS: "BREAKS", Effect.TOGETHER: "together", Effect.UNDECIDED: "?"}
ABSENT = {Absence.NOT_DECLARED: ".", Absence.IMPOSSIBLE: "-"}


def model_of(text: str, variant: str | None = None) -> Model:
    file = parse(Source("m.cpt", text))
    assert isinstance(file, File), file
    found = typecheck(Module(file.source, file.doc, file.items), Choice(variant))
    assert isinstance(found, Checked), found
    return found.model


def shipped(name: str, variant: str | None) -> Model:
    loaded = load(ROOT / name, ROOT / "models")
    assert isinstance(loaded, Module)
    found = typecheck(loaded, Choice(variant))
    assert isinstance(found, Checked)
    return found.model


@cache
def conductor_05(variant: str) -> CrashMap:
    return mapped(shipped("models/conductor/05_abandoned.cpt", variant))


def mapped(model: Model, options: Options = Options()) -> CrashMap:  # noqa: B008 (it is frozen)
    found = crash_map(model, options, Silence(), Context((), {}))
    assert found.failures == ()
    return found


def table(found: CrashMap, name: str) -> dict[str, list[str]]:
    """For each step, what the five moments do to a property."""
    rows = {}
    for point in found.points:
        results = [found.result(point, moment) for moment in Moment]
        rows[f"{point.thread}: {told(found, point)}"] = [
            ABSENT[each.absence] if each.absence else SIGNS[each.effect(name)] for each in results
        ]
    return rows


def point(found: CrashMap, text: str) -> Point:
    return next(each for each in found.points if text in told(found, each))


def test_jobs() -> None:
    """A submit writes a row and pushes; between the two the row is PENDING and nobody knows of it.  What is pushed is
    in a durable queue, and a taken item is redelivered.  So: a crash between the two, or a push that is lost, leaves
    it PENDING for ever; a crash before the write or after the push, or of the loop wherever it is, does not.  Only when
    the loop stands idle while a submit is between its two writes is a crash `before the take` one, too.  No class
    strikes at `db`, and nothing is delivered twice."""
    found = mapped(shipped("docs/examples/jobs.cpt", None))
    assert table(found, "none_forgotten") == {
        "submit: db.job[j] := PENDING": ["ok", "BREAKS", ".", ".", "."],
        "submit: mq.jobs.push(j)": ["BREAKS", "ok", "ok", "BREAKS", "."],
        "work: let j = mq.jobs.take()": ["together", "ok", "ok", "ok", "."],
        "work: db.job[j] := DONE": ["ok", "ok", ".", ".", "."],
        "work: mq.jobs.ack(j)": ["ok", "ok", "ok", "ok", "."],
    }
    assert all(set(row) <= {"ok", ".", "-"} for row in table(found, "model_errors").values())
    assert found.complete


def test_jobs_pushed_first_is_its_safe_twin() -> None:
    """The message is sent before the row is written.  A crash between the two: the loop marks it DONE, whether there is
    a row or not.  Whatever strikes, no row stays PENDING but one that is written after the loop was done with it: that
    needs no fault at all."""
    text = (ROOT / "docs/examples/jobs.cpt").read_text()
    swapped = text.replace("db.job[j] := PENDING; mq.jobs.push(j)", "mq.jobs.push(j); db.job[j] := PENDING")
    assert swapped != text
    found = mapped(model_of(swapped))
    assert isinstance(found.base["none_forgotten"], Refuted)
    guarded = swapped.replace("db.job[j] := PENDING", "update db.job[j] where db.job[j] is none := PENDING")
    found = mapped(model_of(guarded))
    assert isinstance(found.base["none_forgotten"], Proved)
    assert all(set(row) <= {"ok", ".", "-"} for row in table(found, "none_forgotten").values())


def test_conductor_05_and_its_fix() -> None:
    """The finding: the row is written and the entry is not.  A crash between the two does it; so does a failure of the
    first write that hides that it was done, and of the second that means that it was not.  After the push all is in
    durable stores.  With the background process of 5.5.0 nothing is lost."""
    before = conductor_05("v5_3_2")
    expected = {
        'start: step "insert the workflow row"': ["ok", "BREAKS", "BREAKS", "ok", "."],
        'start: step "push on the decider queue"': ["BREAKS", "ok", "ok", "BREAKS", "."],
        "sweep: let w = redis.decider.take()": ["together", "ok", "ok", "ok", "."],
        'sweep: step "run the workflow"': ["ok", "ok", "ok", "ok", "."],
        'sweep: step "acknowledge the entry"': ["ok", "ok", "ok", "ok", "."],
    }
    assert table(before, "none_abandoned") == table(before, "can_complete") == expected
    assert all(set(row) <= {"ok", "."} for row in table(before, "completed_was_executed").values())
    after = conductor_05("v5_5_0")
    assert all(set(row) <= {"ok", ".", "-"} for row in table(after, "none_abandoned").values())


CALLS = """\
store db { durable done: 0..2 }
process Server {
  on add(): bool { db.done := db.done + 1; return true }
}
process Client {
  volatile told: 0..2
  task ask { retry 1 { let ok = call Server.add(); told := told + 1 } }
}
faults { crash Client; lose Client -- Server; duplicate Client -- Server }
invariant once: db.done < 2
"""


def test_calls_and_answers() -> None:
    """The client asks once more when it gets no answer.  A lost request leads to one addition, a lost reply to two.  A
    client that crashes asks again when it is back, also when it was through: that makes two, once it has asked.  A
    request that is delivered twice needs a second place, which the handler has not."""
    found = mapped(model_of(CALLS))
    assert table(found, "once") == {
        "add: db.done := db.done + 1": [".", ".", ".", ".", "."],
        "add: return true": [".", ".", "BREAKS", "-", "-"],
        "ask: let ok = call Server.add()": ["ok", "BREAKS", "-", "ok", "-"],
        "ask: told := told + 1": ["BREAKS", "BREAKS", "-", "-", "-"],
    }


def test_a_reply_that_matters_only_with_a_retry() -> None:
    """Without the retry nobody asks a second time."""
    found = mapped(model_of(CALLS.replace("retry 1 {", "try {").replace("told + 1 } }", "told + 1 } catch { } }")))
    assert table(found, "once")["add: return true"] == [".", ".", "ok", "-", "-"]


CHOICE = """\
store db { durable x: 0..9; durable y: 0..9 }
process P {
  task run {
    either { db.x := 1; db.x := 2 } or { db.y := 1 }
    db.y := 5
  }
}
faults { crash P without restart; duplicate P -- db }
invariant never_half: db.x != 1 or db.y == 0
at rest ends: db.y == 5
"""


def test_a_choice_stands_before_all_its_first_steps() -> None:
    """The instance that has crashed stays down: whatever is not written by then never is."""
    found = mapped(model_of(CHOICE))
    assert table(found, "ends") == {
        "run: db.x := 1": ["BREAKS", "BREAKS", ".", ".", "ok"],
        "run: db.x := 2": ["BREAKS", "BREAKS", ".", ".", "ok"],
        "run: db.y := 1": ["BREAKS", "BREAKS", ".", ".", "ok"],
        "run: db.y := 5": ["BREAKS", "ok", ".", ".", "ok"],
    }


def test_what_an_activation_may_do_next() -> None:
    model = model_of(
        """\
store db { durable x: 0..9 }
process P {
  on go(n: 0..1) {
    if n == 0 { db.x := 1 } else { retry 2 { if n == 1 { fail }; db.x := 2 } }
    for k in {1, 2} { either { db.x := 3 } or { } }
    try { if n == 1 { fail }; db.x := 4 } catch { db.x := 5 }
    while n == 0 { n := 1 }
  }
}
invariant small: db.x < 9
"""
    )
    control = Control(model)
    thread = model.processes[0].threads[0]
    known = {site.statement.text: number for number, site in sites(model).items()}

    def after(text: str) -> set[str | None]:
        number = next(number for found, number in known.items() if found.startswith(text))
        names = {number: name for name, number in known.items()}
        return {None if each is None else names[each] for each in next_shared(control, thread, number)}

    assert after("db.x := 4") == {"db.x := 4"}
    assert after("while n == 0") == {None}
    assert after("try") == {"db.x := 4", "db.x := 5"}
    assert after("for k in") == {"db.x := 3", "db.x := 4", "db.x := 5"}
    assert after("either") == {"db.x := 3", "db.x := 4", "db.x := 5"}
    # The retry may be used up: then the activation ends.
    assert after("if n == 0") == {"db.x := 1", "db.x := 2", None}


def test_what_is_refuted_without_a_fault_is_left_out() -> None:
    found = mapped(model_of(CALLS.replace("invariant once: db.done < 2", "invariant once: db.done < 1")))
    assert isinstance(found.base["once"], Refuted)
    text = render(found, None, Page())
    assert "refuted without any fault, and left out: once" in text
    assert "a model_errors" in text


def test_each_refutation_has_a_run_with_just_that_fault() -> None:
    found = conductor_05("v5_3_2")
    seen = 0
    for result in found.cells:
        for name in found.properties:
            refuted = result.trace(name)
            if refuted is not None:
                seen += 1
                assert len(faults_in(refuted.trace)) == 1
    assert seen == 5 * 2


def test_a_bound_is_undecided() -> None:
    found = mapped(shipped("docs/examples/jobs.cpt", None), Options(states=20))
    assert not found.complete
    effects = {r.effect(name) for r in found.cells if r.absence is None for name in found.properties}
    assert Effect.NONE not in effects
    assert Effect.UNDECIDED in effects


WAITING = """\
store db { durable x: 0..2 }
process Writer { task write { db.x := 1; db.x := 2 } }
process Server { on hold() { await db.x == 2 } }
process Client { task ask { call Server.hold() } }
faults { crash Writer without restart }
at rest done: db.x == 2
"""
"""The client stands at its first statement, in a call that ends when all is written."""


def test_who_waits_at_the_first_statement_is_not_in_the_middle_of_work() -> None:
    found = mapped(model_of(WAITING))
    assert table(found, "done")["write: db.x := 2"] == ["BREAKS", "ok", ".", ".", "."]


@pytest.mark.parametrize("text", [CALLS, CHOICE, WAITING], ids=["calls", "choice", "waiting"])
def test_the_interpreter_alone_finds_the_same(text: str) -> None:
    compare_model(model_of(text), 3000)


# ------------------------------------------------------------------------------------------ when something is amiss


def test_a_closed_set_that_the_interpreter_leaves_is_our_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter lets a crash strike anywhere; the lowered system does not."""
    monkeypatch.setattr(PointInterpreter, "_strikes", lambda self, cell, event, state: cell.is_crash)
    found = crash_map(shipped("docs/examples/jobs.cpt", None), Options(), Silence(), Context((), {}))
    assert "out of the closed set" in found.failures[0].message
    assert not found.complete
    assert Effect.NONE not in {r.effect(n) for r in found.cells if r.absence is None for n in found.properties}


def test_a_property_that_the_interpreter_finds_violated_is_our_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is asked for nothing, and so proves everything."""
    asked = system._questions

    def nothing(properties: Sequence[Property], struck: Variable, cells: Sequence[Cell]) -> Iterator[system.Question]:
        for each in asked(properties, struck, cells):
            yield replace(each, target=replace(each.target, bad=FALSE))

    monkeypatch.setattr(system, "_questions", InPlaceOf(asked)(nothing))
    found = crash_map(shipped("docs/examples/jobs.cpt", None), Options(), Silence(), Context((), {}))
    assert "the interpreter finds none_forgotten violated" in found.failures[0].message
    assert not found.complete


def test_a_trace_that_the_interpreter_does_not_walk_is_our_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PointInterpreter, "_strikes", lambda self, cell, event, state: False)
    found = crash_map(shipped("docs/examples/jobs.cpt", None), Options(), Silence(), Context((), {}))
    assert any("the interpreter disagrees with a trace" in failure.message for failure in found.failures)
    assert Effect.BREAKS not in {r.effect(n) for r in found.cells if r.absence is None for n in found.properties}
    assert Undecided("our own error") in {answer for each in found.cells for answer in each.verdicts.values()}
    assert not found.complete


# ---------------------------------------------------------------------------------------------------- the command


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.execute(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    jobs = str(ROOT / "docs/examples/jobs.cpt")
    code, out, _ = ask(capsys, "crashpoints", jobs, "--property", "none_forgotten", "--trace", "full")
    assert code == ExitCode.MET
    assert "    6  mq.jobs.push(j)         ✗a      ✓      ✓      ✗a       ·\n" in out
    assert "crash after: Server.submit, line 6: db.job[j] := PENDING" in out
    assert out.count("REFUTED") == 4
    code, out, _ = ask(capsys, "crashpoints", jobs, "--states", "20")
    assert (code, "undecided: the limit on the number of states" in out) == (ExitCode.INCONCLUSIVE, True)
    code, _, err = ask(capsys, "crashpoints", jobs, "--property", "none")
    assert (code, "no property" in err) == (ExitCode.MODEL, True)
    code, _, err = ask(capsys, "crashpoints", "conductor")
    assert (code, "several models" in err) == (ExitCode.MODEL, True)
    _, ascii_only, _ = ask(capsys, "crashpoints", jobs, "--faults", "none")
    assert "✗" not in ascii_only.replace("✗ refuted", "")


def test_the_json_document_follows_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads((ROOT / "checker" / "crashpoints.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    _, out, _ = ask(capsys, "crashpoints", "conductor/05", "--json", "--variant", "v5_3_2")
    data = json.loads(out)
    Draft202012Validator(schema).validate(data)
    push = data["variants"][0]["points"][1]
    assert (push["line"], push["text"]) == (33, 'step "push on the decider queue"')
    effects = {cell["moment"]: [p["effect"] for p in cell["properties"]][:1] for cell in push["cells"]}
    assert effects == {
        "crash before": ["refuted"],
        "crash after": ["proved"],
        "reply lost": ["proved"],
        "request lost": ["refuted"],
        "twice": [],
    }
    assert push["cells"][4]["absence"] == "not declared"
    assert push["cells"][0]["properties"][0]["trace"]["schema"] == "counterpoint-trace/1"
    assert str(ROOT) not in out
    assert ask(capsys, "crashpoints", "conductor/05", "--json", "--variant", "v5_3_2")[1] == out
