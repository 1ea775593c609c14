"""`counterpoint sweep` as its users meet it, most of it as a real process.

The model counts to N, each time with a wait and a write, and says that it stays at or below S.  Derived by hand,
without faults: `low` is refuted where N > S and the counter is on, by the 2 (S + 1) steps to S + 1; else it is proved,
with 2 N + 1 states (for each number below N one before the wait and one before the write, and one at N), or 1 when the
counter is off.  `three` is reached, in 6 steps, where N >= 3 and the counter is on.  The model itself rejects N = 4
with S = 3.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from checker import cli
from checker.bundle import Failure
from checker.planning.plan import Observer
from checker.result import VariantReport
from checker.work import executor
from checker.work.item import Item, perform
from tests.command import ROOT, counterpoint, environment
from tests.stand_in import InPlaceOf

SCHEMA = Draft202012Validator(json.loads((ROOT / "checker" / "sweep.schema.json").read_text()))

COUNTER = """\
/// A counter with a limit.

const N: 1..4 = 2
const S: 1..3 = 1 where N + S <= 6
const UNUSED: 1..9 = 1
switch on: bool = true

store db { durable x: 0..4 }

process P {
  loop up when on { await db.x < N; db.x := db.x + 1 }
}

faults { crash P }

invariant low: db.x <= S
cover three: db.x == 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "counter.cpt").write_text(COUNTER)
    return tmp_path


def swept(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document, of a real process."""
    done = counterpoint("sweep", *arguments, "--json", folder=folder)
    assert done.stdout, done.stderr
    document = json.loads(done.stdout)
    SCHEMA.validate(document)
    assert document["exit_code"] == done.returncode
    return done.returncode, document


def by_hand(n: int, s: int, on: bool) -> dict[str, tuple[str, int | None]]:
    if n + s > 6:
        return {"low": ("rejected", None), "three": ("rejected", None)}
    states = 2 * n + 1 if on else 1
    return {
        "low": ("refuted", 2 * (s + 1)) if on and n > s else ("proved", states),
        "three": ("reached", 6) if on and n >= 3 else ("unreachable", states),
    }


def test_every_point_of_a_grid_against_the_derivation(folder: Path) -> None:
    code, document = swept(
        folder, "counter.cpt", "-D", "N=1..4", "-D", "S=1..3", "--with", "on=true,false", "--faults", "none"
    )
    assert code == 1
    assert [axis["name"] for axis in document["axes"]] == ["N", "S", "on", "faults"]
    assert len(document["points"]) == 24
    for point in document["points"]:
        n, s, on, _ = point["values"]
        expected = by_hand(int(n), int(s), on == "true")
        found = {each["name"]: (each["verdict"], each["amount"]) for each in point["properties"]}
        assert {name: found[name] for name in expected} == expected, point["values"]
        assert point["status"] == ("rejected" if int(n) + int(s) > 6 else "checked")
        assert [error["code"] for error in point["errors"]] == ["E233"] * (int(n) + int(s) > 6)
    low = next(each for each in document["properties"] if each["name"] == "low")
    assert low["where"] == ["with on = true, refuted where N > S; proved elsewhere", "with on = false, proved"]
    smallest = low["smallest_refutation"]
    assert (smallest["values"], smallest["amount"], smallest["at_most"]) == (["2", "1", "true", "none"], 4, False)
    # The command that is given shows just that run.
    words = smallest["command"].split()
    assert words[:2] == ["counterpoint", "check"]
    shown = counterpoint(*words[1:], folder=folder)
    assert shown.returncode == 1
    assert "REFUTED  4 steps, no fault" in shown.stdout


def test_the_report_in_words(folder: Path) -> None:
    done = counterpoint(
        "sweep", "counter.cpt", "-D", "N=1..4", "-D", "S=1,2", "--property", "low", "--faults", "none", folder=folder
    )
    assert done.returncode == 1
    lines = done.stdout.split("\n")
    assert lines[:2] == ["counter.cpt  A counter with a limit.", "  8 points: N = 1..4; S = 1, 2"]
    assert "    1  ✓ 3 states  ✓ 3 states" in lines
    assert "    N  1           2" in lines
    assert "    3  ✗ 4 steps   ✗ 6 steps" in lines
    assert "three" not in done.stdout
    assert lines[-2].startswith("8 points, 2 properties: 5 refuted, 11 proved in ")
    plain = counterpoint(
        "sweep",
        "counter.cpt",
        "-D",
        "N=1..2",
        "-D",
        "S=1,2",
        "--faults",
        "none",
        folder=folder,
        PYTHONIOENCODING="ascii",
    )
    assert plain.stdout.isascii()
    assert "    2  x 4 steps   + 5 states" in plain.stdout.split("\n")
    coloured = counterpoint("sweep", "counter.cpt", "-D", "N=1..2", "--color", "always", folder=folder)
    assert "\x1b[1;31m✗ 4 steps" in coloured.stdout
    assert "\x1b" not in plain.stdout


def test_a_bare_switch_is_true_as_in_check(folder: Path) -> None:
    _, document = swept(folder, "counter.cpt", "--with", "on", "-D", "N=1")
    assert [axis["values"] for axis in document["axes"]] == [["1"], ["true"]]


def test_variants_and_bounds_on_faults_are_axes(folder: Path) -> None:
    (folder / "v.cpt").write_text(
        COUNTER + "\nvariant high { N = 4 }\nvariant still { on = false }\nexpect high refutes low\n"
    )
    code, document = swept(folder, "v.cpt", "--max-faults", "0..1")
    assert [(axis["kind"], axis["values"]) for axis in document["axes"]] == [
        ("max_faults", ["0", "1"]),
        ("variant", ["high", "still"]),
    ]
    found = [point["properties"][0]["verdict"] for point in document["points"]]
    assert found == ["refuted", "proved", "refuted", "proved"]
    assert code == 1
    # What a model expects is for `check`: a sweep says what it finds, and with which exit code does not depend on it.
    assert counterpoint("check", "v.cpt", "--property", "low", folder=folder).returncode == 0
    assert swept(folder, "v.cpt", "--property", "low")[0] == 1
    # Variants that nobody named count as well.
    done = counterpoint("sweep", "v.cpt", "--max-faults", "0..1", "--points", "3", folder=folder)
    assert (done.returncode, "E472: a grid of 2 x 2: 4 points" in done.stderr) == (2, True)
    code, document = swept(folder, "v.cpt", "--variant", "still")
    assert (code, len(document["points"])) == (0, 1)


# ------------------------------------------------------------------------------------------------------- exit codes


def test_exit_codes(folder: Path) -> None:
    def code(*arguments: str) -> int:
        return counterpoint("sweep", "counter.cpt", *arguments, folder=folder).returncode

    low = ("--property", "low")
    assert code("-D", "N=1,2", "-D", "S=2", *low) == 0
    assert code("-D", "N=1,2", "-D", "S=2", "--workers", "2", "--memory", "500M", "--no-cache", *low) == 0
    # A cover that is not reached anywhere is refuted by nobody.
    assert code("-D", "N=1,2", "-D", "S=2") == 0
    assert code("-D", "N=1,2", *low) == 1
    # Points that the model's own `where` excludes are none of the grid ..
    assert code("-D", "N=4", "-D", "S=2,3", "--with", "on=false", *low) == 0
    # .. unless all are; and a value that is none of its constant is a mistake.
    assert code("-D", "N=4", "-D", "S=3", *low) == 2
    assert code("-D", "N=3..5", "--with", "on=false", *low) == 2
    assert code("-D", "N=5", *low) == 2
    # A bound is no proof, unless it is all that was asked for.
    assert code("-D", "N=1,2", "-D", "S=2", "--states", "2", "--engine", "search", *low) == 4
    assert code("-D", "N=1,2", "-D", "S=2", "--depth", "3", *low) == 0
    assert code("-D", "N=1,2", "-D", "S=2", "--timeout", "0.000001", "--no-cache", *low) == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-D", "M=1,2"), "E283: -D: counter.cpt has no constant 'M'"),
        (("--with", "onn"), "E283: --with: counter.cpt has no switch 'onn'\n  did you mean 'on'?"),
        (("-D", "on=true"), "E283: -D: counter.cpt has no constant 'on'\n  it is a switch: --with on=true"),
        (("--variant", "v1"), "E276: --variant: counter.cpt has no variant 'v1'"),
        (("--property", "lo"), "no property or scenario 'lo'\n  did you mean 'low'?"),
        (("--faults", "none", "--faults", "crash Q"), "--faults 'crash Q': no process 'Q'"),
        (("-D", "N=4..1"), "E471: -D 'N=4..1': the range 4..1 runs backwards, so it is empty\n  write 1..4"),
        (("-D", "N=1-4", "-D", "S"), "E470: -D 'S'"),
        (("-D", "N=1..4", "-D", "S=1..3", "--points", "11"), "E472: a grid of 4 x 3: 12 points"),
        (("--max-faults=-1..0",), "E470: --max-faults '-1..0': '-1' is no number of faults"),
        (("-o", "a.svgz"), "E473: a.svgz is no name of a file that a sweep can be written to"),
        (("-o", "a"), "end its name in .svg, .png, .pdf, .html, .csv, .json"),
        (("-o", "nowhere/a.csv"), "E409: nowhere/a.csv cannot be written"),
    ],
)
def test_mistakes_are_told_with_a_code_and_a_likely_fix(arguments: tuple[str, ...], told: str, folder: Path) -> None:
    done = counterpoint("sweep", "counter.cpt", *arguments, folder=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_errors_of_the_model_are_drawn(folder: Path) -> None:
    (folder / "wrong.cpt").write_text(COUNTER.replace("db.x <= S", "db.y <= S"))
    done = counterpoint("sweep", "wrong.cpt", "-D", "N=1,2", folder=folder)
    assert done.returncode == 2
    assert done.stdout.count("error[") == 1
    assert "wrong.cpt:16" in done.stdout
    (folder / "wrong.cpt").write_text("store {")
    done = counterpoint("sweep", "wrong.cpt", "-D", "N=1,2", folder=folder)
    assert (done.returncode, done.stdout.count("error[")) == (2, 1)
    done = counterpoint("sweep", "nowhere.cpt", folder=folder)
    assert done.returncode == 2


def test_a_rejected_point_is_drawn_once(folder: Path) -> None:
    done = counterpoint("sweep", "counter.cpt", "-D", "N=3..6", "-D", "S=3", folder=folder)
    assert done.returncode == 2
    assert "– 1 point rejected by the model where N = 4\n" in done.stdout
    assert "– 2 points rejected by the model where N >= 5\n" in done.stdout
    assert done.stdout.count("error[E284]") == 1
    assert done.stdout.count("error[E233]") == 1


def test_an_error_of_our_own_is_told_whatever_else_was_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(item: Item, observer: Observer) -> VariantReport:
        report = perform(item, observer)
        wrong = item.options.constants["N"] == "2"
        return VariantReport(None, "", None, report.scope, failures=(Failure("a contradiction"),)) if wrong else report

    monkeypatch.chdir(folder)
    monkeypatch.setattr(executor, "perform", InPlaceOf(perform)(failing))
    assert cli.execute(["sweep", "counter.cpt", "-D", "N=1..3", "--no-cache", "--workers", "1"]) == 3
    out, err = capsys.readouterr()
    assert "internal error: a contradiction" in err
    assert "1 error of our own" in out
    assert "✗ 4 steps" in out


# ------------------------------------------------------------------------------------------ interrupts and time-outs


def test_time_that_ran_out_at_a_point_is_undecided_there(folder: Path) -> None:
    done = counterpoint(
        "sweep", "counter.cpt", "-D", "N=1,2", "--timeout", "0.000001", "--property", "low", folder=folder
    )
    assert done.returncode == 4
    assert "? undecided" in done.stdout
    assert "low: undecided at both points" in done.stdout
    assert " proved" not in done.stdout.replace("proved;", "")


def test_time_that_ran_out_for_the_whole_sweep_leaves_the_rest_undecided(folder: Path) -> None:
    words = ("-D", "N=1..3", "-D", "S=3", "--property", "low")
    done = counterpoint("sweep", "counter.cpt", *words, "--timeout-total", "0.000001", folder=folder)
    assert done.returncode == 4
    assert "low: undecided at all 3 points" in done.stdout
    assert "? " in done.stdout
    assert "timeout-total" in done.stdout
    assert counterpoint("sweep", "counter.cpt", *words, "--timeout-total", "100", folder=folder).returncode == 0


@pytest.mark.parametrize(("number", "workers"), [(signal.SIGINT, "1"), (signal.SIGTERM, "1"), (signal.SIGINT, "2")])
def test_an_interrupt_keeps_what_was_decided(number: signal.Signals, workers: str, folder: Path) -> None:
    # Eight threads count side by side: N = 0 is decided at once, N = 9 takes long.
    loops = "".join(f"  loop l{i} {{ db.x{i} := if db.x{i} < N then db.x{i} + 1 else 0 }}\n" for i in range(8))
    stores = "; ".join(f"durable x{i}: 0..9" for i in range(8))
    (folder / "slow.cpt").write_text(
        f"const N: 0..9 = 1\nstore db {{ {stores} }}\nprocess P {{\n{loops}}}\n"
        "invariant apart: (db.x0 + db.x1 + db.x2 + db.x3 + db.x4 + db.x5 + db.x6 + db.x7) < 80\n"
    )
    words = ["sweep", "slow.cpt", "-D", "N=0,9", "--engine", "search", "--workers", workers, "-o", "s.csv"]
    running = subprocess.Popen(
        [sys.executable, "-m", "checker.cli", *words],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stderr is not None
    told = running.stderr.readline()  # a line of progress, after a second
    assert told.startswith("2 of 2 points: N = 9")
    time.sleep(0.3)
    os.kill(running.pid, number)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 4, err
    assert "✓ 1 state" in out
    assert "… not checked" in out
    assert "apart: 1 proved, 1 not checked" in out
    assert out.rstrip().split("\n")[-1].startswith("2 points, 2 properties: 2 proved, 2 not checked, interrupted in ")
    assert "Traceback" not in err
    with (folder / "s.csv").open() as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["proved", "proved", "not_checked", "not_checked"]


# ------------------------------------------------------------------------------------------------ points in common


def test_points_with_the_same_model_are_checked_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    performed: list[dict[str, str]] = []

    def counting(item: Item, observer: Observer) -> VariantReport:
        performed.append(dict(item.options.constants))
        return perform(item, observer)

    monkeypatch.chdir(folder)
    monkeypatch.setattr(executor, "perform", InPlaceOf(perform)(counting))
    # `none` and no fault class at all are the same; another bound for faults is not, nor is another S.
    words = [
        "sweep",
        "counter.cpt",
        "-D",
        "UNUSED=1..3",
        "-D",
        "S=1,2",
        "--max-faults",
        "0..1",
        "--json",
        "--no-cache",
        "--workers",
        "1",
    ]
    assert cli.execute(words) == 1
    document = json.loads(capsys.readouterr().out)
    SCHEMA.validate(document)
    assert performed == [{"UNUSED": "1", "S": "1"}] * 2 + [{"UNUSED": "1", "S": "2"}] * 2
    for point in document["points"]:
        unused, s, faults = point["values"]
        assert point["same_as"] == (None if unused == "1" else ["1", s, faults])
        assert point["properties"][0]["verdict"] == ("refuted" if s == "1" else "proved")


@pytest.mark.parametrize(
    "declared",
    [
        "ids Job[K]",
        "ids Job[1]\nghost last: 0..K",
        "ids Job[1]\ninvariant more: db.x <= K + 8",
        "ids Job[1]\nprocess Q[K] { task t { db.x := 1 } }",
        "ids Job[1]\nprocess R { task t when K == 1 { db.x := 1 } }",
        "ids Job[1]\nstore more { durable y: 0..K }",
    ],
)
def test_models_that_differ_anywhere_are_all_checked(declared: str, folder: Path) -> None:
    (folder / "m.cpt").write_text(f"const K: 1..3 = 1\n{declared}\nstore db {{ durable x: 0..9 }}\n")
    _, document = swept(folder, "m.cpt", "-D", "K=1,2")
    assert [point["same_as"] for point in document["points"]] == [None, None]


def test_points_side_by_side_give_the_same_as_one_after_the_other(folder: Path) -> None:
    words = ("counter.cpt", "-D", "N=1..4", "-D", "S=1..3", "--with", "on=true,false", "--no-cache")
    documents = [swept(folder, *words, "--workers", workers)[1] for workers in ("1", "3")]
    for document in documents:
        for timed in (document, *document["points"]):
            timed["seconds"] = 0
        document["summary"] = document["summary"].rpartition(" in ")[0]
    assert documents[0] == documents[1]


def test_what_was_found_before_is_not_checked_again(folder: Path) -> None:
    one = swept(folder, "counter.cpt", "-D", "N=1,2", "--faults", "none", "--cache", "kept")
    more = swept(folder, "counter.cpt", "-D", "N=1..3", "--faults", "none", "--cache", "kept")
    assert [point["from_cache"] for point in one[1]["points"]] == [False, False]
    assert [point["from_cache"] for point in more[1]["points"]] == [True, True, False]
    assert "3 points (2 from the cache), 3 properties" in more[1]["summary"]
    assert [point["properties"] for point in more[1]["points"][:2]] == [
        point["properties"] for point in one[1]["points"]
    ]
    afresh = swept(folder, "counter.cpt", "-D", "N=1..3", "--faults", "none", "--cache", "kept", "--no-cache")
    assert [point["from_cache"] for point in afresh[1]["points"]] == [False] * 3
    assert [point["properties"] for point in afresh[1]["points"]] == [
        point["properties"] for point in more[1]["points"]
    ]


def test_what_a_sweep_keeps_lacks_nothing_that_a_check_wants(folder: Path) -> None:
    """A sweep has no expectations, and so finds no fault sets; a check of the same variant has to find them."""
    (folder / "v.cpt").write_text(
        "ids Job[1]\nstore db { durable x: 0..2 }\n"
        "process P { on go(j: fresh Job) { db.x := 1; db.x := 2 } }\nfaults { crash P }\n"
        "at rest done: db.x != 1\nvariant v { }\nexpect v refutes done needs {crash P}\n"
    )
    kept = ("--cache", "kept")
    assert counterpoint("check", "v.cpt", "--quiet", "--no-cache", folder=folder).returncode == 0
    assert counterpoint("sweep", "v.cpt", *kept, folder=folder).returncode == 1
    assert counterpoint("check", "v.cpt", "--quiet", *kept, folder=folder).returncode == 0
    # And neither takes the other's results away.
    again = counterpoint("sweep", "v.cpt", *kept, folder=folder)
    assert "1 point (1 from the cache)" in again.stdout
    again = counterpoint("check", "v.cpt", *kept, folder=folder)
    assert "(from the cache)" in again.stdout


def test_assertions_of_threads_that_are_left_out_are_nothing_to_check(folder: Path) -> None:
    (folder / "a.cpt").write_text(
        "switch on: bool = true\nstore db { durable x: 0..4 }\n"
        "process P { loop up when on { await db.x < 2; db.x := db.x + 1; assert db.x < 2 } }\n"
    )
    code, document = swept(folder, "a.cpt", "--with", "on=true,false")
    assert code == 1
    found = {each["name"]: each["where"] for each in document["properties"]}
    assert found["assert_3"] == ["refuted where on = true; nothing to check elsewhere"]
    assert document["summary"].startswith("2 points, ")
    assert "nothing to check" not in document["summary"]


def test_proofs_that_say_nothing_are_told_with_where(folder: Path) -> None:
    """The counter never comes to 3 where N <= 2, so there a promise about 3 is an empty one."""
    (folder / "promise.cpt").write_text(
        "const N: 1..4 = 1\nstore db { durable x: 0..4; durable y: 0..4 }\n"
        "process P { loop up { await db.x < N; transaction db { db.x := db.x + 1; db.y := db.y + 1 } } }\n"
        "invariant promise: db.x == 3 => db.y == 3\n"
    )
    words = ("-D", "N=1..4", "--property", "promise")
    done = counterpoint("sweep", "promise.cpt", *words, folder=folder)
    assert done.returncode == 0
    told = "promise is vacuous: the left side of an implication in it is never true"
    assert f"  ! warning: {told} where N <= 2\n" in done.stdout
    _, document = swept(folder, "promise.cpt", *words)
    assert document["warnings"] == [{"message": told, "points": [["1"], ["2"]]}]


# ------------------------------------------------------------------------------------------------------------ files


def test_files_of_all_kinds_besides_the_report(folder: Path) -> None:
    files = [f"out.{form}" for form in ("svg", "png", "pdf", "html", "csv", "json")]
    chosen = [word for file in files for word in ("-o", file)]
    done = counterpoint(
        "sweep", "counter.cpt", "-D", "N=1..4", "-D", "S=1..3", "--faults", "none", *chosen, folder=folder
    )
    assert done.returncode == 1
    assert "N = 1..4" in done.stdout  # none of them mutes the terminal
    starts = {file: (folder / file).read_bytes()[:8] for file in files}
    assert starts["out.svg"].startswith(b"<svg ")
    assert starts["out.png"] == b"\x89PNG\r\n\x1a\n"
    assert starts["out.pdf"].startswith(b"%PDF-")
    assert (folder / "out.html").read_text().count("<svg ") == 1
    SCHEMA.validate(json.loads((folder / "out.json").read_text()))
    with (folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 * 3
    for row in rows:
        expected = by_hand(int(row["N"]), int(row["S"]), True).get(row["property"])
        if expected is not None:
            assert (row["verdict"], row["amount"]) == (expected[0], str(expected[1] or ""))


def test_a_name_of_a_file_is_harmless_wherever_it_is_shown(folder: Path) -> None:
    name = "a\x1b[31m\u202e&<i>.cpt"
    (folder / name).write_text(COUNTER)
    chosen = [word for form in ("svg", "html", "csv", "json") for word in ("-o", f"out.{form}")]
    done = counterpoint("sweep", name, "-D", "N=1,2", *chosen, folder=folder)
    assert done.returncode == 1
    for text in (done.stdout, done.stderr, *((folder / f"out.{form}").read_text() for form in ("svg", "html", "csv"))):
        assert not {"\x1b", "\u202e"} & set(text)
        assert "<i>" not in text or text == done.stdout
    ET.fromstring((folder / "out.svg").read_text())
    SCHEMA.validate(json.loads((folder / "out.json").read_text()))


def test_the_same_sweep_gives_the_same_picture_byte_for_byte(folder: Path) -> None:
    drawn = []
    for seed in ("1", "2"):
        file = folder / f"{seed}.svg"
        words = ("sweep", "counter.cpt", "-D", "N=1..4", "--with", "on=true,false", "-o", file.name)
        counterpoint(*words, folder=folder, PYTHONHASHSEED=seed)
        drawn.append(file.read_bytes())
    assert drawn[0] == drawn[1]
    assert b"seconds" not in drawn[0]


def test_options_in_a_file(folder: Path) -> None:
    (folder / "counterpoint.toml").write_text(
        'faults = "none"\nmax-faults = 1\nproperty = "low"\nno-symmetry = true\nneeds = true\nmemory = "500M"\n'
        '[D]\nN = "1..3"\n'
    )
    done = counterpoint("sweep", "counter.cpt", folder=folder)
    assert (
        done.stdout.split("\n")[0]
        == "options of counterpoint.toml: faults, max-faults, property, no-symmetry, memory, D"
    )
    assert "  3 points: N = 1..3" in done.stdout
    assert "  with max-faults = 1, faults = none" in done.stdout
    done = counterpoint("sweep", "counter.cpt", "-D", "S=2", "--max-faults", "0,1", folder=folder)
    assert "  2 points: max-faults = 0, 1" in done.stdout
