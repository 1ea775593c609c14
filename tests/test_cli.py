"""The command as its users meet it: real processes, what they print, and what they exit with.

The counter goes 0 -> 1 -> 2; each time it first waits and then writes, so 2 is reached in four steps and no fewer.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from checker import cli, plan
from checker.engines.engine import Budget, Reporter, Unreachable
from checker.transition_system import Property, TransitionSystem
from checker.version import VERSION
from tests.checker.samples import Closed, FakeEngine, Run

COUNTER = """\
/// A counter that stops at two.  This sentence is not shown.

store db { durable x: 0..2 }

process P {
  loop up {
    await db.x < 2
    db.x := db.x + 1
  }
}

invariant small: db.x <= 2
invariant never_two: db.x != 2
at rest full: db.x == 2
cover two: db.x == 2
"""

AS_EXPECTED = "expect proves small, full\nexpect refutes never_two\nexpect reaches two\n"

ROOT = Path(__file__).parent.parent


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "CI", "COLUMNS")}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **more}


def counterpoint(*arguments: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "checker.cli", *arguments],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "counter.cpt").write_text(COUNTER)
    (tmp_path / "expected.cpt").write_text(COUNTER + AS_EXPECTED)
    return tmp_path


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
    from checker.lower import Lowered
    from counterexamples.trace import Trace

    whole = Lowered.trace

    def cut(self: Lowered, path: object) -> Trace:
        trace = whole(self, path)  # type: ignore[arg-type]
        return Trace(trace.model, trace.states[:-2], trace.events[:-2])

    monkeypatch.chdir(folder)
    monkeypatch.setattr(Lowered, "trace", cut)
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


# ----------------------------------------------------------------------------------------------------------- output


def without_times(text: str) -> str:
    import re

    return re.sub(r"\d+\.\d+ s", "T s", text)


def test_the_same_input_gives_the_same_text(folder: Path) -> None:
    first = counterpoint("check", "counter.cpt", "expected.cpt", folder=folder, PYTHONHASHSEED="1").stdout
    second = counterpoint("check", "counter.cpt", "expected.cpt", folder=folder, PYTHONHASHSEED="2").stdout
    assert without_times(first) == without_times(second)


def test_the_report_names_the_model_and_says_how_a_proof_was_checked(folder: Path) -> None:
    shown = counterpoint("check", "expected.cpt", folder=folder).stdout
    assert shown.startswith("expected.cpt  A counter that stops at two.\n")
    assert "This sentence is not shown" not in shown
    assert "5 states, depth 4" in shown
    assert "re-checked: closed set, interpreter on all 5 states, runs; shortest: breadth-first search" in shown


def test_quiet_shows_failures_and_the_last_line(folder: Path) -> None:
    done = counterpoint("check", "expected.cpt", "--quiet", folder=folder)
    assert len(done.stdout.splitlines()) == 1
    done = counterpoint("check", "counter.cpt", "--quiet", folder=folder)
    assert "never_two" in done.stdout
    assert "small" not in done.stdout


def test_a_folder_as_expected_shows_no_trace_but_how_to_see_one(folder: Path) -> None:
    (folder / "counter.cpt").unlink()
    (folder / "second.cpt").write_text(COUNTER + AS_EXPECTED)
    done = counterpoint("check", ".", folder=folder)
    assert done.returncode == 0
    assert "await db.x < 2" not in done.stdout
    assert "counterpoint check expected.cpt --property never_two" in done.stdout
    assert "2 models, 10 properties: all 8 expectations met" in done.stdout


def test_trace_options(folder: Path) -> None:
    full = counterpoint("check", "expected.cpt", folder=folder).stdout
    assert "db.x := db.x + 1" in full
    none = counterpoint("check", "expected.cpt", "--trace", "none", folder=folder).stdout
    assert "db.x := db.x + 1" not in none
    short = counterpoint("check", "expected.cpt", "--trace", "short", folder=folder).stdout
    assert len([line for line in short.splitlines() if "db.x := db.x + 1" in line]) == 4  # of never_two and of two
    assert len(none) < len(short) < len(full)


def test_colour(folder: Path) -> None:
    assert "\x1b[" in counterpoint("check", "expected.cpt", "--color", "always", folder=folder).stdout
    assert "\x1b[" not in counterpoint("check", "expected.cpt", folder=folder).stdout
    assert "\x1b[" in counterpoint("check", "expected.cpt", folder=folder, FORCE_COLOR="1").stdout
    assert "\x1b[" not in counterpoint("check", "expected.cpt", folder=folder, FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.parametrize("columns", ["40", "60", "80", "200"])
def test_width(columns: str, folder: Path) -> None:
    shown = counterpoint("check", "counter.cpt", folder=folder, COLUMNS=columns).stdout
    assert max(map(len, shown.splitlines()[:-1])) <= int(columns)


def test_ascii(folder: Path) -> None:
    done = counterpoint("check", "expected.cpt", folder=folder, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m checker.cli check counter.cpt expected.cpt | head -1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.startswith("counter.cpt")


def test_ctrl_c_ends_a_long_check_with_a_report(folder: Path) -> None:
    """Four counters to a thousand have 10^12 states and more: no engine ends before the signal comes."""
    cells = "\n".join(f"  durable x{n}: 0..1000" for n in range(4))
    threads = "\n".join(f"  loop up{n} {{ await db.x{n} < 1000; db.x{n} := db.x{n} + 1 }}" for n in range(4))
    text = f"store db {{\n{cells}\n}}\nprocess P {{\n{threads}\n}}\ninvariant small: db.x0 <= 1000\n"
    (folder / "long.cpt").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "checker.cli", "check", "long.cpt", "--engine", "search"],
        cwd=folder,
        env=environment(CI="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # the first sign of life: the engine is at work
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "UNDECIDED" in shown
    assert "interrupted" in shown.splitlines()[-1]


# ------------------------------------------------------------------------------------------------------------- JSON


def validate(text: str) -> dict[str, object]:
    import jsonschema  # type: ignore[import-untyped]

    content: dict[str, object] = json.loads(text)
    schema = json.loads((ROOT / "checker" / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(content, schema, jsonschema.Draft202012Validator)
    return content


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["expected.cpt"], 0),
        (["counter.cpt"], 1),
        (["counter.cpt", "expected.cpt", "--depth", "2"], 4),
        (["expected.cpt", "--engine", "bmc", "--depth", "4", "--max-faults", "2"], 1),
        (["wrong.cpt"], 2),
    ],
)
def test_json(arguments: list[str], code: int, folder: Path) -> None:
    (folder / "wrong.cpt").write_text("invariant\n")
    done = counterpoint("check", "--json", *arguments, folder=folder)
    assert done.returncode == code
    content = validate(done.stdout)
    assert content["exit_code"] == code
    assert content["schema"] == "counterpoint-report/1"
    assert done.stderr == ""


def test_json_of_a_refutation_holds_the_trace(folder: Path) -> None:
    done = counterpoint("check", "--json", "counter.cpt", "--property", "never_two", folder=folder)
    content = json.loads(done.stdout)
    (found,) = [p for p in content["models"][0]["variants"][0]["properties"] if p["name"] == "never_two"]
    assert found["verdict"] == "refuted"
    assert found["evidence"]["steps"] == 4
    assert len(found["evidence"]["trace"]["steps"]) == 4
    assert found["span"]["line"] == 13


# --------------------------------------------------------------------------------------------------- other commands


def test_version_is_quick(folder: Path) -> None:
    times = []
    for _ in range(3):
        started = time.monotonic()
        done = counterpoint("--version", folder=folder)
        times.append(time.monotonic() - started)
    assert done.stdout == f"counterpoint {VERSION}\n"
    assert min(times) < 0.3


def test_the_version_is_that_of_the_project() -> None:
    import tomllib

    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION


def test_nothing_heavy_is_imported_at_the_start() -> None:
    code = "import sys, checker.cli; print([m for m in ('z3', 'numpy', 'lark', 'rich') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_help_has_examples_and_exit_codes(folder: Path) -> None:
    done = counterpoint("--help", folder=folder)
    assert done.returncode == 0
    assert "counterpoint check conductor" in done.stdout
    assert "exit codes" in done.stdout


def test_list(folder: Path) -> None:
    done = counterpoint("list", folder=folder)
    assert done.returncode == 0
    assert "conductor/05_abandoned" in done.stdout
    assert "variants: v5_3_2, v5_5_0" in done.stdout
    assert "lib/" not in done.stdout
    names = counterpoint("list", "--names", folder=folder).stdout.splitlines()
    assert "conductor/05_abandoned" in names
    assert names == sorted(names)


def test_explain(folder: Path) -> None:
    listed = counterpoint("explain", folder=folder)
    assert listed.returncode == 0
    code = listed.stdout.split()[0]
    told = counterpoint("explain", code.lower(), folder=folder)
    assert told.returncode == 0
    assert told.stdout.startswith(f"{code}: ")
    assert "Wrong:" in told.stdout
    unknown = counterpoint("explain", "E9999", folder=folder)
    assert unknown.returncode == 2
    assert unknown.stderr != ""


def test_run_is_repeatable_and_says_how(folder: Path) -> None:
    first = counterpoint("run", "counter.cpt", folder=folder)
    command = first.stdout.splitlines()[-1].partition("counterpoint ")[2].split()
    second = counterpoint(*command, folder=folder)
    assert first.stdout == second.stdout
    assert first.returncode == second.returncode == 1
    assert "4 steps: never_two is violated here" in first.stdout


def test_run_of_a_model_with_variants_asks_for_one(folder: Path) -> None:
    done = counterpoint("run", "conductor/05_abandoned", folder=folder)
    assert done.returncode == 2
    assert "v5_3_2" in done.stderr
    done = counterpoint("run", "conductor/05", "--variant", "v5_3_2", "--seed", "1", "--steps", "5", folder=folder)
    assert done.returncode == 0
    assert "--variant v5_3_2 --seed 1 --steps 5" in done.stdout
