"""What the command prints: reports, traces, JSON, the other subcommands; all in real processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from checker.version import VERSION
from tests.command import AS_EXPECTED, COUNTER, ROOT, counterpoint, environment, write_models


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_models(tmp_path)


# ----------------------------------------------------------------------------------------------------------- output


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d+ s", "T s", text)


def test_the_same_input_gives_the_same_text(folder: Path) -> None:
    check = ("check", "counter.cpt", "expected.cpt", "--no-cache")
    first = counterpoint(*check, folder=folder, PYTHONHASHSEED="1").stdout
    second = counterpoint(*check, folder=folder, PYTHONHASHSEED="2").stdout
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
    done = counterpoint("check", ".", "--no-cache", folder=folder)
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
    import jsonschema

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


HEAVY = ("cvc5", "lark", "numpy", "pysat", "rich", "z3")


def test_version_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from checker.cli import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == f"counterpoint {VERSION}\n[]\n"


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
