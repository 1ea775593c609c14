"""`stuck_threads`, from the model's text to what people see; the models and what is expected of them are in
`tests/checker/stuck_models.py`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from checker import stuck_search
from checker.certificates import proof_file
from checker.check import check_file
from checker.choosing import choose, looks_for_stuck_threads
from checker.confirm import Context
from checker.exitcode import ExitCode
from checker.lower import Lowered
from checker.options import Options
from checker.planning.plan import Observer
from checker.reports.explanation import explained
from checker.result import PropertyResult, VariantReport
from checker.time_limit import TimeLimit
from checker.verdict import Covered, Judgement, Proved, Refuted, Undecided
from counterexamples import replay
from counterexamples.render.conclusion import render_conclusion
from counterexamples.render.json import schema
from counterexamples.render.mermaid import to_mermaid
from counterexamples.render.trace_graph import trace_graph
from counterexamples.render.wording import brief
from counterexamples.trace import Trace
from spec.event import Slot
from spec.interpreter import Interpreter
from spec.load import load
from spec.syntax import Module
from tests.checker.stuck_models import CALLS, IDLE, LIKE_TURNS, MODELS, StuckModel, answered, lock, polling, two_locks
from tests.command import counterpoint
from tests.stand_in import InPlaceOf

NAME = "stuck_threads"
STUCK = {name: model for name, model in MODELS.items() if model.stuck}
FREE = {name: model for name, model in MODELS.items() if not model.stuck and model.asked}
UNASKED = {name: model for name, model in MODELS.items() if not model.asked}


def write(folder: Path, text: str) -> Path:
    path = folder / "model.cpt"
    path.write_text(text, encoding="utf-8")
    return path


def module_of(folder: Path, text: str) -> Module:
    module = load(write(folder, text), folder)
    assert isinstance(module, Module), module
    return module


def checked(folder: Path, text: str, options: Options | None = None) -> VariantReport:
    report = check_file(write(folder, text), options or Options(), library=folder)
    assert not report.errors, report.errors
    (variant,) = report.variants
    assert not variant.failures, variant.failures
    return variant


def result(report: VariantReport) -> PropertyResult:
    return next(each for each in report.properties if each.name == NAME)


def refuted(folder: Path, text: str, options: Options | None = None) -> Refuted:
    verdict = result(checked(folder, text, options)).verdict
    assert isinstance(verdict, Refuted), verdict
    return verdict


def stuck_in(trace: Trace) -> list[tuple[str, str]]:
    conclusion = explained(trace, NAME).conclusion
    assert conclusion is not None
    sites = [(thread.slot, thread.site) for thread in conclusion.stuck]
    return [(f"{slot.process}.{slot.thread}", brief(site.statement)) for slot, site in sites if site is not None]


# ----------------------------------------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("model", STUCK.values(), ids=STUCK)
def test_who_is_stuck_is_shown_with_the_statement(model: StuckModel, symmetry: bool, tmp_path: Path) -> None:
    verdict = refuted(tmp_path, model.text, Options(symmetry=symmetry))
    assert stuck_in(verdict.trace) == list(model.stuck)
    assert len(verdict.trace) == model.steps
    assert verdict.shortest is not None


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("model", FREE.values(), ids=FREE)
def test_where_nobody_is_stuck_that_is_proved(model: StuckModel, symmetry: bool, tmp_path: Path) -> None:
    assert isinstance(result(checked(tmp_path, model.text, Options(symmetry=symmetry))).verdict, Proved)


@pytest.mark.parametrize("model", UNASKED.values(), ids=UNASKED)
def test_where_nobody_could_be_stuck_nothing_is_said(model: StuckModel, tmp_path: Path) -> None:
    assert NAME not in [each.name for each in checked(tmp_path, model.text).properties]


@pytest.mark.parametrize("model", UNASKED.values(), ids=UNASKED)
def test_but_who_asks_gets_an_answer(model: StuckModel, tmp_path: Path) -> None:
    """An expectation that nobody judges would be no expectation."""
    by_name = result(checked(tmp_path, model.text, Options(properties=(NAME,))))
    assert isinstance(by_name.verdict, Proved)
    expected = result(checked(tmp_path, f"{model.text}\nexpect proves {NAME}\n"))
    assert [judged.judgement for judged in expected.judged] == [Judgement.MET]
    wrongly = result(checked(tmp_path, f"{model.text}\nexpect refutes {NAME}\n"))
    assert [judged.judgement for judged in wrongly.judged] == [Judgement.MISSED]


@pytest.mark.parametrize("name", ["a deadlock of two locks", "a lock whose holder crashed", "two locks in one order"])
def test_ic3_says_the_same(name: str, tmp_path: Path) -> None:
    verdict = result(checked(tmp_path, MODELS[name].text, Options(engine="ic3"))).verdict
    assert isinstance(verdict, Refuted if MODELS[name].stuck else Proved)


def test_a_loop_that_waits_for_a_lock_is_not_idle_but_one_that_waits_for_work_is(tmp_path: Path) -> None:
    text = IDLE.replace("let j = db.q.take()", "await db.l.acquire(); let j = db.q.take()", 1)
    text = text.replace("store db {", "store db { durable lock l;", 1)
    # Behind the lock it waits in the middle of something, and the only job may have been done; nor can it begin again.
    assert [where for where, _ in stuck_in(refuted(tmp_path, text).trace)] == ["P.work"]


def test_who_waits_for_a_reply_is_not_blamed_but_who_does_not_reply(tmp_path: Path) -> None:
    assert stuck_in(refuted(tmp_path, CALLS).trace) == [("Q.there", "call P.here()")]


def test_needs_are_those_of_any_property(tmp_path: Path) -> None:
    text = lock().replace("faults { crash W }", "faults { crash W, db }")
    # A crash of db while the lock is released, of no effect, ends the holder as well.
    met = result(checked(tmp_path, f"{text}\nexpect refutes {NAME} needs {{crash W}} | {{crash db}}\n"))
    assert [judged.judgement for judged in met.judged] == [Judgement.MET]
    missed = result(checked(tmp_path, f"{text}\nexpect refutes {NAME} needs {{crash W}}\n"))
    assert [judged.judgement for judged in missed.judged] == [Judgement.MISSED]


def test_needs_of_threads_in_turns_are_found_by_the_second_look(tmp_path: Path) -> None:
    text = LIKE_TURNS + "faults { crash P }\n"
    needs = result(checked(tmp_path, text, Options(needs=True))).needs
    assert needs is not None
    assert needs.complete
    # Both crash and begin anew, and the turn stays with one of them: who has it goes on.
    assert not needs.breaking


# -------------------------------------------------------------------------------------------------- what goes wrong


def test_a_check_that_is_cut_short_leaves_it_open(tmp_path: Path) -> None:
    open_ = result(checked(tmp_path, lock(), Options(timeout=0.0)))
    assert isinstance(open_.verdict, Undecided)
    assert open_.code(Options()) is ExitCode.INCONCLUSIVE


def test_threads_in_turns_with_no_time_left_are_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = stuck_search.look_again

    def late(
        lowered: Lowered,
        interpreter: Interpreter,
        options: Options,
        observer: Observer,
        context: Context,
        limit: TimeLimit,
    ) -> stuck_search.SecondLook:
        return original(lowered, interpreter, options, observer, context, TimeLimit.after(0.0, "timeout"))

    monkeypatch.setattr(stuck_search, "look_again", InPlaceOf(original)(late))
    verdict = result(checked(tmp_path, MODELS["threads that are blocked in turns"].text)).verdict
    assert not isinstance(verdict, Proved | Refuted), verdict


def test_a_run_that_shows_nobody_stuck_is_no_evidence(tmp_path: Path) -> None:
    trace = refuted(tmp_path, two_locks("b", "a")).trace
    interpreter = Interpreter(trace.model)
    assert isinstance(replay.confirm(trace, NAME, interpreter), replay.Confirmed)
    shorter = Trace(trace.model, trace.states[:-1], trace.events[:-1])
    # After one step nobody waits.
    assert isinstance(replay.confirm(shorter, NAME, interpreter), replay.Mismatch)
    one = Slot("P", 0, "one", 0)
    assert isinstance(replay.confirm_stuck(trace, one, interpreter), replay.Confirmed)
    assert isinstance(replay.confirm_stuck(shorter, one, interpreter), replay.Mismatch)


def run_to(report: VariantReport, cover: str) -> Trace:
    """The run that reaches a cover."""
    verdict = next(each.verdict for each in report.properties if each.name == cover)
    assert isinstance(verdict, Covered), verdict
    return verdict.trace


def test_who_can_go_on_is_not_stuck(tmp_path: Path) -> None:
    """A run to a state where a thread waits for what will come."""
    text = answered("loop answer { await db.asked; db.answered := true }")
    options = Options(properties=("asked",))
    trace = run_to(checked(tmp_path, text, options), "asked")
    interpreter = Interpreter(trace.model)
    found = replay.confirm(trace, NAME, interpreter)
    assert isinstance(found, replay.Mismatch)
    assert "can be reached" in found.why
    assert isinstance(replay.confirm_stuck(trace, Slot("P", 0, "ask", 0), interpreter), replay.Mismatch)


def test_too_few_states_settle_nothing(tmp_path: Path) -> None:
    trace = refuted(tmp_path, lock()).trace
    assert isinstance(replay.confirm(trace, NAME, Interpreter(trace.model), limit=1), replay.Unconfirmed)


def test_in_turns_is_no_refutation(tmp_path: Path) -> None:
    """The first look would take it for one."""
    model = MODELS["threads that are blocked in turns"]
    proved = result(checked(tmp_path, model.text)).verdict
    assert isinstance(proved, Proved)
    report = checked(tmp_path, model.text.replace("cover odd: db.turn == 1", "cover odd: db.turn == 1 and db.on"))
    trace = run_to(report, "odd")
    found = replay.confirm(trace, NAME, Interpreter(trace.model))
    assert isinstance(found, replay.Mismatch | replay.Unconfirmed)


# ------------------------------------------------------------------------------------------------------- what is shown


def test_the_report_names_thread_and_statement_and_says_how_to_allow_it(tmp_path: Path) -> None:
    write(tmp_path, two_locks("b", "a"))
    done = counterpoint("check", "model.cpt", folder=tmp_path)
    assert done.returncode == ExitCode.REFUTED
    assert "stuck_threads is refuted: P[0].one can never go on from" in done.stdout
    assert "nor can P[0].two from" in done.stdout
    assert "model.cpt:5" in done.stdout
    assert "write `blocks ok` behind the statement" in done.stdout
    assert "db.a   is held by P[0].one" in done.stdout


def test_only_where_something_was_broken_it_has_healed(tmp_path: Path) -> None:
    for text, said in ((lock(), True), (lock().replace("faults { crash W }", "faults { }"), False)):
        verdict = result(checked(tmp_path, text)).verdict
        if isinstance(verdict, Refuted):
            assert ("after everything has healed" in render_conclusion(explained(verdict.trace, NAME))) is said
        else:
            assert not said


def test_the_trace_as_data_and_pictures_says_who_is_stuck(tmp_path: Path) -> None:
    write(tmp_path, lock())
    done = counterpoint("trace", "model.cpt", "--property", NAME, "--to", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema()).validate(document)
    (thread,) = document["conclusion"]["stuck"]
    assert (thread["slot"]["process"], thread["slot"]["thread"]) == ("W", "work")
    assert thread["statement"]["line"] == 5
    (tmp_path / "trace.json").write_text(done.stdout, encoding="utf-8")
    assert counterpoint("replay", "trace.json", folder=tmp_path).returncode == 0
    explanation = explained(refuted(tmp_path, lock()).trace, NAME)
    line = "W[1].work can never go on from await db.l.acquire()"
    assert line in to_mermaid(explanation)
    assert line in trace_graph(explanation).caption


def test_a_saved_trace_is_stale_when_the_model_allows_it(tmp_path: Path) -> None:
    write(tmp_path, lock())
    counterpoint("trace", "model.cpt", "--property", NAME, "--to", "json", "-o", "trace.json", folder=tmp_path)
    write(tmp_path, lock("lease"))
    assert counterpoint("replay", "trace.json", "model.cpt", folder=tmp_path).returncode != 0


def test_the_state_graph_marks_where_somebody_is_stuck(tmp_path: Path) -> None:
    write(tmp_path, two_locks("b", "a"))
    done = counterpoint("graph", "model.cpt", "--around", NAME, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"✗ {NAME}" in done.stdout


def test_the_crash_map_has_a_line_for_it(tmp_path: Path) -> None:
    write(tmp_path, lock())
    done = counterpoint("crashpoints", "model.cpt", folder=tmp_path)
    assert NAME in done.stdout, done.stderr
    write(tmp_path, polling())
    assert NAME not in counterpoint("crashpoints", "model.cpt", folder=tmp_path).stdout


# -------------------------------------------------------------------------------------------------------- certificates


@pytest.mark.parametrize("engine", ["search", "ic3"])
def test_a_proof_can_be_written_down_and_verified(engine: str, tmp_path: Path) -> None:
    module = module_of(tmp_path, two_locks("a", "b"))
    options = Options(engine=engine)
    text = proof_file.document(module, checked(tmp_path, two_locks("a", "b"), options), options)
    judged = {each.name: each for each in proof_file.verify(text, module)}
    assert judged[NAME].accepted


def test_a_proof_slot_by_slot_is_said_not_to_be_in_the_file(tmp_path: Path) -> None:
    text = MODELS["threads that are blocked in turns"].text
    content = json.loads(proof_file.document(module_of(tmp_path, text), checked(tmp_path, text), Options()))
    assert [each["property"] for each in content["without"]] == [NAME]
    assert "in turns" in content["without"][0]["why"]
    assert NAME not in [each["property"] for each in content["proofs"]]


# ------------------------------------------------------------------------------------------------------------- options


def test_it_is_checked_whatever_else_is_asked(tmp_path: Path) -> None:
    report = checked(tmp_path, lock(), Options(properties=("counted",)))
    assert isinstance(result(report).verdict, Refuted)


def test_what_there_will_be_a_verdict_on_is_known_beforehand(tmp_path: Path) -> None:
    for model in MODELS.values():
        (choice,) = choose(module_of(tmp_path, model.text), Options())
        assert choice.checked is not None
        assert looks_for_stuck_threads(choice.checked, Options()) is model.asked
        named = replace(Options(), properties=(NAME,))
        assert looks_for_stuck_threads(choice.checked, named)


def test_the_name_is_taken(tmp_path: Path) -> None:
    write(tmp_path, lock().replace("cover counted", f"cover {NAME}"))
    done = counterpoint("check", "model.cpt", folder=tmp_path)
    assert done.returncode == ExitCode.MODEL
    assert "E287" in done.stdout + done.stderr
