"""What users see of the cache: `check` twice, the options, and a folder that is of no use."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import platformdirs
import pytest

from checker.exitcode import ExitCode
from tests.command import ROOT, counterpoint, environment, write_models

MODEL = "expected.cpt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_models(tmp_path)


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.result"))


def timeless(text: str) -> str:
    return re.sub(r"\d+\.\d s", "T s", text)


def unmarked(text: str) -> str:
    """Without times and what says that it is from the cache."""
    return timeless(re.sub(r" \\?\((all |\d+ )?from the cache\\?\)", "", text))


def test_the_second_run_says_the_same_and_where_it_has_it_from(folder: Path) -> None:
    first = counterpoint("check", ".", "--cache", "kept", folder=folder)
    second = counterpoint("check", ".", "--cache", "kept", folder=folder)
    assert (first.returncode, second.returncode) == (ExitCode.REFUTED, ExitCode.REFUTED)
    assert "note" not in first.stderr + second.stderr
    assert "from the cache" not in first.stdout
    assert "2 models (all from the cache), 10 properties: " in second.stdout
    assert unmarked(first.stdout) == unmarked(second.stdout)
    assert len(kept(folder / "kept")) == 2


def test_the_last_line_counts_variants(folder: Path) -> None:
    model = ROOT / "docs" / "tutorial" / "5_rescan.cpt"
    one = counterpoint("check", str(model), "--variant", "before", "--cache", "kept", folder=folder)
    assert "1 model, 1 variant, 3 properties" in one.stdout
    two = counterpoint("check", str(model), "--cache", "kept", folder=folder)
    assert "1 model, 2 variants (1 from the cache), 6 properties" in two.stdout
    again = counterpoint("check", str(model), "--variant", "after", "--cache", "kept", folder=folder)
    assert "1 model, 1 variant (from the cache), 3 properties" in again.stdout


def _stripped(content: Any) -> Any:
    match content:
        case dict():
            return {
                key: _stripped(value) for key, value in content.items() if key not in ("seconds", "cached", "summary")
            }
        case list():
            return [_stripped(value) for value in content]
        case _:
            return content


def test_workers_keep_and_are_not_asked_for_what_is_kept(folder: Path) -> None:
    """What processes have found is kept as what is found without them, and a run of either kind uses it."""
    model = str(ROOT / "docs" / "tutorial" / "5_rescan.cpt")
    for name, workers in (("alone", "1"), ("together", "2")):
        first = counterpoint("check", model, "--workers", workers, "--cache", name, folder=folder)
        assert first.returncode == ExitCode.MET
        assert "1 model, 2 variants, 6 properties" in first.stdout
        for again in ("1", "2"):
            done = counterpoint("check", model, "--workers", again, "--cache", name, folder=folder)
            assert "1 model, 2 variants (all from the cache), 6 properties" in done.stdout
            assert unmarked(done.stdout) == unmarked(first.stdout)
    told = [
        {path.name: re.sub(rb'^.*\n{"decided":"[^"]*"', b"", path.read_bytes()) for path in kept(folder / name)}
        for name in ("alone", "together")
    ]
    assert told[0] == told[1]


def test_json_says_when_it_was_decided(folder: Path) -> None:
    arguments = ("check", MODEL, "--json", "--cache", "kept")
    before = time.time()
    first, second = (json.loads(counterpoint(*arguments, folder=folder).stdout) for _ in range(2))
    schema = json.loads((ROOT / "checker" / "report.schema.json").read_text())
    for content in (first, second):
        jsonschema.validate(content, schema)
    assert [variant["cached"] for variant in first["models"][0]["variants"]] == [None]
    [decided] = [variant["cached"] for variant in second["models"][0]["variants"]]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", decided)
    from datetime import datetime

    assert int(before) <= datetime.fromisoformat(decided).timestamp() <= time.time()
    assert _stripped(first) == _stripped(second)


def test_files_are_the_same_byte_for_byte(folder: Path) -> None:
    names = ("page.html", "results.sarif", "summary.md", "junit.xml")
    texts = []
    for turn in ("first", "second"):
        (folder / turn).mkdir()
        flags = [word for name in names for word in (f"--{_flag(name)}", f"{turn}/{name}")]
        done = counterpoint("check", MODEL, "--cache", "kept", *flags, folder=folder)
        assert ("from the cache" in done.stdout) == (turn == "second")
        texts.append([(folder / turn / name).read_text() for name in names])
    for before, after in zip(*texts, strict=True):
        assert re.sub(r'time="[\d.]+"', "", unmarked(before)) == re.sub(r'time="[\d.]+"', "", unmarked(after))


def _flag(name: str) -> str:
    return {"page.html": "html", "results.sarif": "sarif", "summary.md": "summary", "junit.xml": "junit"}[name]


def test_why_says_what_was_looked_at_again(folder: Path) -> None:
    arguments = ("check", MODEL, "--why", "--cache", "kept")
    first, second = (counterpoint(*arguments, folder=folder).stdout for _ in range(2))
    assert "kept in the cache" not in first
    assert re.search(r"decided earlier, on \d{4}-\d\d-\d\d at \d\d:\d\d UTC, and kept in the cache", second)


def test_comments_and_layout_do_not_run_it_again_and_lines_are_those_of_now(folder: Path) -> None:
    first = counterpoint("check", MODEL, "--trace", "full", "--cache", "kept", folder=folder).stdout
    path = folder / MODEL
    path.write_text("// one line more\n\n" + path.read_text().replace("db.x + 1", "db.x  +  1  // so"))
    second = counterpoint("check", MODEL, "--trace", "full", "--cache", "kept", folder=folder).stdout
    assert "(from the cache)" in second
    assert "expected.cpt:8" in first
    assert "expected.cpt:10" in second
    assert "expected.cpt:8" not in second
    now = counterpoint("check", MODEL, "--trace", "full", "--no-cache", folder=folder).stdout
    assert unmarked(second) == unmarked(now)
    path.write_text(path.read_text().replace("db.x <= 2", "db.x <= 1"))
    third = counterpoint("check", MODEL, "--trace", "full", "--cache", "kept", folder=folder)
    assert "from the cache" not in third.stdout
    assert third.returncode == ExitCode.REFUTED


def test_no_cache_neither_reads_nor_writes(folder: Path) -> None:
    done = counterpoint("check", MODEL, "--no-cache", "--cache", "kept", folder=folder)
    assert not (folder / "kept").exists()
    counterpoint("check", MODEL, "--cache", "kept", folder=folder)
    again = counterpoint("check", MODEL, "--no-cache", "--cache", "kept", folder=folder)
    assert timeless(again.stdout) == timeless(done.stdout)


def test_it_is_in_the_users_cache_folder(folder: Path) -> None:
    own = folder / "home"
    counterpoint("check", MODEL, folder=folder, XDG_CACHE_HOME=str(own))
    assert len(kept(own / "counterpoint")) == 1


def test_no_test_uses_the_folder_of_a_person() -> None:
    assert platformdirs.user_cache_path("counterpoint", appauthor=False).is_relative_to(os.environ["XDG_CACHE_HOME"])
    assert not Path(os.environ["XDG_CACHE_HOME"]).exists()


def test_a_certificate_is_written_from_a_new_check(folder: Path) -> None:
    counterpoint("check", MODEL, "--cache", "kept", folder=folder)
    done = counterpoint("check", MODEL, "--cache", "kept", "--certificate", "c.json", folder=folder)
    assert "from the cache" not in done.stdout
    assert {proof["property"] for proof in json.loads((folder / "c.json").read_text())["proofs"]} >= {"small", "full"}
    assert counterpoint("verify", "c.json", MODEL, folder=folder).returncode == ExitCode.MET


@pytest.mark.parametrize(
    "command",
    [
        ("trace", MODEL, "--property", "never_two", "--to", "mermaid"),
        ("draw", MODEL, "--property", "never_two"),
        ("diff", "counter.cpt", MODEL),
    ],
)
def test_trace_draw_and_diff_use_it(command: tuple[str, ...], folder: Path) -> None:
    first = counterpoint(*command, "--cache", "kept", folder=folder)
    found = {path: path.stat().st_ino for path in kept(folder / "kept")}
    assert found
    second = counterpoint(*command, "--cache", "kept", folder=folder)
    assert {path: path.stat().st_ino for path in kept(folder / "kept")} == found, "it was checked again"
    fresh = counterpoint(*command, "--no-cache", folder=folder)
    assert first.returncode == second.returncode == fresh.returncode
    assert timeless(first.stdout) == timeless(second.stdout) == timeless(fresh.stdout)


def test_what_is_undecided_is_asked_again(folder: Path) -> None:
    limited = ("check", MODEL, "--states", "2", "--engine", "search", "--cache", "kept")
    assert counterpoint(*limited, folder=folder).returncode == ExitCode.INCONCLUSIVE
    again = counterpoint(*limited, folder=folder)
    assert again.returncode == ExitCode.INCONCLUSIVE
    assert counterpoint("check", MODEL, "--cache", "kept", folder=folder).returncode == ExitCode.MET


def test_a_stranger_in_the_folder_is_checked_as_if_it_was_not_there(folder: Path) -> None:
    counterpoint("check", MODEL, "--cache", "kept", folder=folder)
    (entry,) = kept(folder / "kept")
    whole = entry.read_bytes()
    for damaged in (b"", whole[:-10], b"\x80\x04K\x01.", whole.replace(b'"proved"', b'"proven"')):
        entry.write_bytes(damaged)
        done = counterpoint("check", MODEL, "--cache", "kept", folder=folder)
        assert done.returncode == ExitCode.MET
        assert "note" not in done.stderr
        assert "from the cache" not in done.stdout
    assert "from the cache" in counterpoint("check", MODEL, "--cache", "kept", folder=folder).stdout


def test_a_folder_that_cannot_be_written_gives_a_note_and_the_verdicts(folder: Path) -> None:
    (folder / "kept").write_text("a file")
    done = counterpoint("check", MODEL, "--cache", "kept", "--quiet", folder=folder)
    assert done.returncode == ExitCode.MET
    assert "all 4 expectations met" in done.stdout
    assert done.stderr == "counterpoint: note: results cannot be kept in kept: File exists\n"
    quiet = counterpoint("check", MODEL, "--cache", "kept", "--json", folder=folder)
    assert json.loads(quiet.stdout)["exit_code"] == 0


def test_a_folder_without_a_name_is_a_mistake(folder: Path) -> None:
    done = counterpoint("check", MODEL, "--cache", "", folder=folder)
    assert done.returncode == ExitCode.MODEL
    assert done.stderr.startswith("counterpoint: --cache names no folder\n")
    assert not kept(folder)


def test_a_configuration_file_cannot_name_the_folder_but_can_switch_it_off(folder: Path) -> None:
    (folder / "counterpoint.toml").write_text('cache = "kept"\n')
    done = counterpoint("check", MODEL, folder=folder)
    assert done.returncode == ExitCode.MODEL
    assert "E432" in done.stderr
    (folder / "counterpoint.toml").write_text("no-cache = true\n")
    counterpoint("check", MODEL, "--cache", "kept", folder=folder)
    assert not (folder / "kept").exists()


def test_an_interrupt_loses_nothing_that_was_decided(folder: Path) -> None:
    """The first model is decided at once, the second never: what was found of the first is kept."""
    (folder / "counter.cpt").unlink()
    (folder / "slow.cpt").write_text(
        "ids W[8]\nstore db { durable x: W -> 0..9 }\n"
        "process P[4] { loop l { atomic { let w = any W where db.x[w] < 9; db.x[w] := db.x[w] + 1 } } }\n"
        "at rest r: forall w: W. db.x[w] == 9\n"
    )
    running = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "checker.cli",
            "check",
            "expected.cpt",
            "slow.cpt",
            "--cache",
            "kept",
            "--engine",
            "search",
        ],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    end = time.monotonic() + 60
    while not kept(folder / "kept") and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == ExitCode.INCONCLUSIVE, out
    assert len(kept(folder / "kept")) == 1
    again = counterpoint("check", MODEL, "--cache", "kept", "--engine", "search", folder=folder)
    assert "from the cache" in again.stdout


def test_a_changed_tool_takes_nothing_from_the_cache(folder: Path, tmp_path: Path) -> None:
    """A copy of the tool, and the same with one comment more in one of its files."""
    import shutil

    tool = tmp_path / "tool"
    for package in ("checker", "counterexamples", "spec", "models"):
        shutil.copytree(ROOT / package, tool / package, ignore=shutil.ignore_patterns("__pycache__"))
    arguments = ("check", MODEL, "--cache", "kept")
    for _ in range(2):
        done = counterpoint(*arguments, folder=folder, PYTHONPATH=str(tool))
    assert "from the cache" in done.stdout
    changed = tool / "checker" / "engines" / "search.py"
    changed.write_text(changed.read_text() + "# a remark\n")
    again = counterpoint(*arguments, folder=folder, PYTHONPATH=str(tool))
    assert again.returncode == ExitCode.MET
    assert "from the cache" not in again.stdout
    assert len(kept(folder / "kept")) == 2
