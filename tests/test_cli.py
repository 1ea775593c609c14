"""Exit codes and mistakes: what the command answers to whom, in real processes where that matters."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from checker import cli
from checker.engines.engine import Budget, Reporter, Unreachable
from checker.planning import plan
from checker.transition_system import Property, TransitionSystem
from checker.version import VERSION
from tests.checker.samples import Closed, FakeEngine, Run
from tests.command import AS_EXPECTED, COUNTER, counterpoint, write_models
from tests.stand_in import InPlaceOf


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_models(tmp_path)


# ------------------------------------------------------------------------------------------------------- exit codes


def test_0_all_expectations_met(folder: Path) -> None:
    done = counterpoint("check", "expected.cpt", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 model, 5 properties: all 4 expectations met" in done.stdout


def test_0_nothing_is_violated_and_nothing_stated(folder: Path) -> None:
    done = counterpoint("check", "counter.cpt", "--property", "small", "--property", "two", folder=folder)
    assert done.returncode == 0
    assert "REACHED" in done.stdout


def test_1_refuted_without_expectation(folder: Path) -> None:
    done = counterpoint("check", "counter.cpt", folder=folder)
    assert done.returncode == 1
    assert "4 steps, no fault" in done.stdout
    assert "1 refuted" in done.stdout.splitlines()[-1]


def test_1_expectation_missed(folder: Path) -> None:
    (folder / "missed.cpt").write_text(COUNTER + "expect proves never_two\nexpect refutes small\n")
    done = counterpoint("check", "missed.cpt", folder=folder)
    assert done.returncode == 1
    assert "expected: PROVED (missed)" in done.stdout
    assert "expected: REFUTED (missed)" in done.stdout


def test_2_model_error(folder: Path) -> None:
    (folder / "wrong.cpt").write_text(COUNTER + "invariant other: db.y == 0\n")
    done = counterpoint("check", "wrong.cpt", folder=folder)
    assert done.returncode == 2
    assert "wrong.cpt:16:21" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_2_usage_error(folder: Path) -> None:
    done = counterpoint("chek", "counter.cpt", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'check'?" in done.stderr


def test_4_a_bound_where_a_proof_is_promised(folder: Path) -> None:
    done = counterpoint("check", "expected.cpt", "--depth", "1", folder=folder)
    assert done.returncode == 4
    assert "HOLDS TO 1" in done.stdout
    assert "expected: PROVED (inconclusive)" in done.stdout


def test_0_a_bound_that_was_asked_for(folder: Path) -> None:
    done = counterpoint("check", "counter.cpt", "--depth", "3", folder=folder)
    assert done.returncode == 0
    assert "HOLDS TO 3" in done.stdout
    assert "PROVED" not in done.stdout


def test_1_a_bound_does_not_hide_what_lies_within_it(folder: Path) -> None:
    assert counterpoint("check", "counter.cpt", "--depth", "4", folder=folder).returncode == 1


@pytest.mark.parametrize("engine", ["search", "bmc"])
def test_both_engines_find_the_same_shortest_trace(engine: str, folder: Path) -> None:
    done = counterpoint("check", "counter.cpt", "--engine", engine, "--depth", "6", folder=folder)
    assert done.returncode == 1
    assert "4 steps, no fault\n" in done.stdout
    assert "there may be a shorter run" not in done.stdout


def test_4_out_of_time(folder: Path) -> None:
    done = counterpoint("check", "expected.cpt", "--timeout", "0.000001", folder=folder)
    assert done.returncode == 4
    assert "PROVED" not in done.stdout.replace("expected: PROVED", "")


def test_expectations_do_not_speak_of_a_changed_model(folder: Path) -> None:
    done = counterpoint("check", "expected.cpt", "--max-faults", "1", folder=folder)
    assert done.returncode == 1
    assert "4 expectations not judged (options changed the model)" in done.stdout
    assert "1 refuted" in done.stdout


# ------------------------------------------------------------------------------- our own errors, put in on purpose


def lying(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
    """Calls a set closed that is not: the interpreter walks out of its only state."""
    closed = Closed((system.initial,))
    for target in targets:
        reporter.decided(target, Unreachable(closed, 0))


def breaking(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
    raise RuntimeError("the engine broke")


def failing_recheck(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
    closed = Closed((system.initial,), flaw="not closed")
    for target in targets:
        reporter.decided(target, Unreachable(closed, 0))


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (lying, "the interpreter takes a step out of the closed set"),
        (failing_recheck, "not closed"),
        (breaking, "the engine broke"),
    ],
)
def test_3_our_own_error(
    behaviour: Run,
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setitem(plan.ENGINES, "search", lambda: FakeEngine("search", behaviour))
    assert cli.execute(["check", "expected.cpt"]) == 3
    shown = capsys.readouterr()
    assert message in shown.err
    assert "PROVED" not in shown.out.replace("expected: PROVED", "")
    assert "Traceback" not in shown.out + shown.err
    (file,) = folder.glob("counterpoint-failure-*.json")
    assert file.name in shown.err
    content = json.loads(file.read_text())
    assert content["version"] == VERSION
    assert content["files"] == [{"name": "expected.cpt", "text": COUNTER + AS_EXPECTED}]


def test_3_a_trace_that_the_interpreter_does_not_follow(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The engine is right, and its trace is then cut short by two steps: it ends before the violation."""
    from checker.engines import engine
    from checker.lower import Lowered
    from counterexamples.trace import Trace

    whole = Lowered.trace

    def cut(self: Lowered, path: engine.Path) -> Trace:
        trace = whole(self, path)
        return Trace(trace.model, trace.states[:-2], trace.events[:-2])

    monkeypatch.chdir(folder)
    monkeypatch.setattr(Lowered, "trace", InPlaceOf(whole)(cut))
    assert cli.execute(["check", "counter.cpt", "--property", "never_two"]) == 3
    shown = capsys.readouterr()
    assert "the interpreter disagrees with the trace of never_two" in shown.err
    assert "REFUTED" not in shown.out
    (file,) = folder.glob("counterpoint-failure-*.json")
    evidence = json.loads(file.read_text())["evidence"]
    assert len(evidence["events"]) == 2


def test_3_any_other_exception(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from checker import catalogue

    def broken() -> Path:
        raise ZeroDivisionError("never mind")

    monkeypatch.chdir(folder)
    monkeypatch.setattr(catalogue, "library", broken)
    assert cli.execute(["list"]) == 3
    assert "Traceback" not in capsys.readouterr().err
    assert cli.execute(["list", "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_memory_that_runs_out_is_no_proof(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        raise MemoryError

    monkeypatch.chdir(folder)
    monkeypatch.setitem(plan.ENGINES, "search", lambda: FakeEngine("search", full))
    assert cli.execute(["check", "expected.cpt", "--engine", "search"]) == 4
    assert "search ran out of memory" in capsys.readouterr().out


def test_an_interrupt_prints_what_is_decided(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from checker.engines.search import Search

    def interrupted(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        Search().run(system, [target for target in targets if target.name == "never_two"], budget, reporter)
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setitem(plan.ENGINES, "search", lambda: FakeEngine("search", interrupted))
    assert cli.execute(["check", "expected.cpt"]) == 4
    shown = capsys.readouterr().out
    assert "REFUTED" in shown
    assert shown.count("UNDECIDED") == 4
    assert cli.execute(["check", "counter.cpt"]) == 1


# -------------------------------------------------------------------------------------------------------- bad input


CYCLE = ("a.cpt", 'import "b.cpt"\n'), ("b.cpt", 'import "a.cpt"\n')


@pytest.mark.parametrize(
    ("files", "arguments"),
    [
        ([("m.cpt", "")], ["m.cpt"]),
        ([("m.cpt", "\0\1\2\xff")], ["m.cpt"]),
        ([], ["missing.cpt"]),
        ([("sub/readme.txt", "")], ["sub"]),
        (CYCLE, ["a.cpt"]),
        ([("m.cpt", COUNTER)], ["m.cpt", "--variant", "v9"]),
        ([("m.cpt", COUNTER)], ["m.cpt", "--property", "smal"]),
        ([("m.cpt", COUNTER)], ["m.cpt", "--with", "nothing"]),
        ([("m.cpt", COUNTER)], ["m.cpt", "-D", "N=3"]),
        ([("m.cpt", COUNTER)], ["m.cpt", "-D", "N"]),
        ([("m.cpt", COUNTER)], ["m.cpt", "--faults", "crash Q"]),
        ([("m.cpt", "const N: int = 1 where N > 1\n" + COUNTER)], ["m.cpt"]),
        ([("m.cpt", "const N: int = 1\n" + COUNTER)], ["m.cpt", "-D", "N=many"]),
        ([("m.cpt", "invariant deep: " + "(" * 20_000 + "true" + ")" * 20_000)], ["m.cpt"]),
        ([("m.cpt", "invariant deep: " + "not " * 20_000 + "true")], ["m.cpt"]),
        ([], ["nosuchmodel"]),
    ],
)
def test_bad_input_is_told_in_words(files: list[tuple[str, str]], arguments: list[str], tmp_path: Path) -> None:
    for name, text in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    done = counterpoint("check", *arguments, folder=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout + done.stderr != ""
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr


def test_suggestions(folder: Path) -> None:
    done = counterpoint("check", "counter.cpt", "--property", "smal", folder=folder)
    assert "did you mean 'small'?" in done.stderr
    done = counterpoint("check", "countr.cpt", folder=folder)
    assert "did you mean 'counter.cpt'" in done.stderr


def test_model_errors_are_always_looked_for(tmp_path: Path) -> None:
    """The counter leaves its range with the second step; nothing else is wrong."""
    text = "store db { durable x: 0..1 }\nprocess P { loop up { db.x := db.x + 1 } }\ninvariant fine: db.x <= 1\n"
    (tmp_path / "m.cpt").write_text(text)
    done = counterpoint("check", "m.cpt", "--property", "fine", folder=tmp_path)
    assert done.returncode == 1
    assert "model_errors" in done.stdout
    assert "2 steps" in done.stdout


def test_an_unbounded_integer_is_never_called_proved(tmp_path: Path) -> None:
    """n grows for ever, so no search ends; `n >= 0` holds, but only a bound may be claimed."""
    text = "store db { durable n: int }\nprocess P { loop up { db.n := db.n + 1 } }\ninvariant grows: db.n >= 0\n"
    (tmp_path / "m.cpt").write_text(text)
    done = counterpoint("check", "m.cpt", "--timeout", "5", "--property", "grows", folder=tmp_path)
    assert done.returncode == 4
    assert "HOLDS TO" in done.stdout
    assert "PROVED" not in done.stdout


def test_a_model_of_10000_lines(tmp_path: Path) -> None:
    lines = [f"def d{n}(b: bool): bool = b and {n} > 1" for n in range(10_000)]
    (tmp_path / "m.cpt").write_text(COUNTER + AS_EXPECTED + "\n".join(lines) + "\n")
    started = time.monotonic()
    done = counterpoint("check", "m.cpt", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert time.monotonic() - started < 60
    assert "and 9,990 more warnings" in done.stdout
