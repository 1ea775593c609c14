"""The exit code of every command and every way to end, each with a real process.

The table is that of docs/verdicts.md.  What the codes of verdicts are in detail stands in tests/test_cli.py, that of
budgets in tests/test_budgets.py.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from checker.arguments import COMMANDS
from checker.exitcode import ExitCode
from tests.command import COUNTER, ROOT, counterpoint, environment, write_models

RUN = (sys.executable, "-m", "checker.cli")

FINE: Mapping[str, tuple[tuple[str, ...], int]] = {
    "check": (("check", "expected.cpt"), 0),
    "check --json": (("check", "expected.cpt", "--json"), 0),
    "check --json-lines": (("check", "counter.cpt", "--json-lines"), 1),
    "check --github": (("check", "counter.cpt", "--github"), 1),
    "check refuted": (("check", "counter.cpt"), 1),
    "check undecided": (("check", "expected.cpt", "--depth", "1"), 4),
    "sweep": (("sweep", "counter.cpt", "--max-faults", "0..1", "--property", "small"), 0),
    "crashpoints": (("crashpoints", "counter.cpt", "--property", "small"), 0),
    "diff": (("diff", "expected.cpt", "expected.cpt"), 0),
    "graph": (("graph", "counter.cpt"), 0),
    "trace": (("trace", "counter.cpt", "--property", "never_two", "--to", "mermaid"), 0),
    "draw": (("draw", "counter.cpt", "--property", "never_two"), 0),
    "run": (("run", "safe.cpt", "--seed", "1"), 0),
    "run violated": (("run", "counter.cpt", "--seed", "1"), 1),
    "replay": (("replay", "trace.json", "counter.cpt"), 0),
    "replay stale": (("replay", "trace.json", "changed.cpt"), 1),
    "verify": (("verify", "certificate.json", "counter.cpt"), 0),
    "list": (("list",), 0),
    "list --names": (("list", "--names"), 0),
    "init": (("init", "new"), 0),
    "explain": (("explain", "E101"), 0),
    "completion": (("completion", "bash"), 0),
}
"""A command line of each command, and its exit code where nothing gets in its way."""

SAFE = COUNTER.replace("invariant never_two: db.x != 2\n", "")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands take."""
    folder = write_models(tmp_path_factory.mktemp("made"))
    (folder / "safe.cpt").write_text(SAFE)
    (folder / "changed.cpt").write_text(COUNTER.replace("await db.x < 2", "await db.x < 1"))
    run = counterpoint("trace", "counter.cpt", "--property", "never_two", "--to", "json", folder=folder)
    (folder / "trace.json").write_text(run.stdout)
    done = counterpoint(
        "check", "counter.cpt", "--property", "small", "--certificate", "certificate.json", folder=folder
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    for path in made.glob("*.*"):
        (tmp_path / path.name).write_text(path.read_text())
    return tmp_path


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )


def quoted(words: Sequence[str]) -> str:
    return " ".join(f"'{word}'" for word in (*RUN, *words))


def no_excuse(done: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr
    assert not list(folder.glob("counterpoint-failure-*"))


def test_the_table_is_complete() -> None:
    assert {words[0] for words, _ in FINE.values()} == set(COMMANDS)
    assert {words[0] for words, _ in BAD.values()} >= set(COMMANDS) - {"list", "completion"}
    text = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    section = text.partition("## Exit codes")[2].partition("\n## ")[0]
    assert [int(code) for code in re.findall(r"^\| (\d) \|", section, re.MULTILINE)] == [
        code.value for code in ExitCode
    ]


@pytest.mark.parametrize("name", FINE)
def test_whatever_becomes_of_the_streams(name: str, folder: Path) -> None:
    """Nothing in the way; standard output closed, standard error, both; a full disk; a reader that has gone."""
    words, code = FINE[name]
    command = quoted(words)
    closed = ((">&-", code), ("2>&-", code), (">&- 2>&-", code))
    for ending, expected in (("", code), *closed, ("> /dev/full", 2), ("2> /dev/full", code)):
        done = shell(f"rm -rf new; {command} {ending}", folder)
        assert done.returncode == expected, (ending, done.stdout, done.stderr)
        no_excuse(done, folder)
        if ending == "> /dev/full":
            assert "cannot be written: No space left on device" in done.stderr
    # The reader has gone before the first word.
    gone = shell(f"rm -rf new; (sleep 0.1; {command}; echo $? > code) | true; sleep 0.1; cat code", folder)
    assert (folder / "code").read_text() == "141\n", gone.stderr
    no_excuse(gone, folder)


BAD: Mapping[str, tuple[tuple[str, ...], int]] = {
    # A file that is not there.
    "check missing": (("check", "none.cpt"), 2),
    "sweep missing": (("sweep", "none.cpt", "--max-faults", "0..1"), 2),
    "crashpoints missing": (("crashpoints", "none.cpt"), 2),
    "diff missing": (("diff", "none.cpt", "counter.cpt"), 2),
    "graph missing": (("graph", "none.cpt"), 2),
    "trace missing": (("trace", "none.cpt", "--to", "dot"), 2),
    "trace missing file": (("trace", "none.json", "--to", "dot"), 2),
    "draw missing": (("draw", "none.cpt"), 2),
    "run missing": (("run", "none.cpt"), 2),
    "replay missing": (("replay", "none.json", "counter.cpt"), 2),
    "replay missing model": (("replay", "trace.json", "none.cpt"), 2),
    "verify missing": (("verify", "none.json", "counter.cpt"), 2),
    "verify missing model": (("verify", "certificate.json", "none.cpt"), 2),
    # A folder in place of a file, and one without models.
    "check empty folder": (("check", "empty"), 2),
    "check folder": (("check", "folder.cpt"), 2),
    "graph folder": (("graph", "empty"), 2),
    "run folder": (("run", "empty"), 2),
    "replay folder": (("replay", "empty", "counter.cpt"), 2),
    "verify folder": (("verify", "empty", "counter.cpt"), 2),
    "diff folder": (("diff", "empty", "empty"), 2),
    # A file that cannot be read: a pipe, a link to itself.
    "check pipe": (("check", "pipe.cpt"), 2),
    "trace pipe": (("trace", "pipe.json", "--to", "dot"), 2),
    "replay pipe": (("replay", "pipe.json", "counter.cpt"), 2),
    "verify pipe": (("verify", "pipe.json", "counter.cpt"), 2),
    "run round": (("run", "round.cpt"), 2),
    # Files that are damaged.
    "check wrong": (("check", "wrong.cpt"), 2),
    "sweep wrong": (("sweep", "wrong.cpt", "--max-faults", "0..1"), 2),
    "crashpoints wrong": (("crashpoints", "wrong.cpt"), 2),
    "diff wrong": (("diff", "counter.cpt", "wrong.cpt"), 2),
    "graph wrong": (("graph", "wrong.cpt"), 2),
    "trace wrong": (("trace", "wrong.cpt", "--to", "dot"), 2),
    "draw wrong": (("draw", "wrong.cpt"), 2),
    "run wrong": (("run", "wrong.cpt"), 2),
    "replay wrong": (("replay", "wrong.json", "counter.cpt"), 2),
    "verify wrong": (("verify", "wrong.json", "counter.cpt"), 2),
    # Nowhere to write.
    "check --html": (("check", "expected.cpt", "--html", "counter.cpt/x.html"), 2),
    "check --junit": (("check", "expected.cpt", "--junit", "none/x.xml"), 2),
    "check --sarif": (("check", "expected.cpt", "--sarif", "/dev/full"), 2),
    "check --summary": (("check", "expected.cpt", "--summary", "empty"), 2),
    "check --certificate": (("check", "safe.cpt", "--property", "small", "--certificate", "none/x.json"), 2),
    "sweep -o": (("sweep", "counter.cpt", "--max-faults", "0..1", "-o", "none/x.svg"), 2),
    "graph -o": (("graph", "counter.cpt", "-o", "none/x.dot"), 2),
    "trace -o": (("trace", "counter.cpt", "--property", "never_two", "--to", "dot", "-o", "none/x"), 2),
    "draw -o": (("draw", "counter.cpt", "--property", "never_two", "-o", "none/x.svg"), 2),
    "verify --smt2": (("verify", "certificate.json", "counter.cpt", "--smt2", "counter.cpt/x"), 2),
    "init": (("init", "counter.cpt"), 2),
    # Words that mean nothing.
    "check option": (("check", "counter.cpt", "--nothing"), 2),
    "explain code": (("explain", "E999"), 2),
    "completion shell": (("completion", "tcsh"), 2),
    "list option": (("list", "--nothing"), 2),
    # No time.
    "check time": (("check", "expected.cpt", "--timeout", "0.000001"), 4),
    "crashpoints time": (("crashpoints", "counter.cpt", "--timeout", "0.000001"), 4),
    "diff time": (("diff", "expected.cpt", "commented.cpt", "--timeout", "0.000001"), 4),
    "trace time": (("trace", "counter.cpt", "--to", "dot", "--timeout", "0.000001"), 4),
    "draw time": (("draw", "counter.cpt", "--timeout", "0.000001"), 4),
    "graph time": (("graph", "counter.cpt", "--around", "never_two", "--timeout", "0.000001"), 4),
    "sweep time": (("sweep", "counter.cpt", "--max-faults", "0..1", "--timeout", "0.000001"), 4),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_done(name: str, folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "folder.cpt").mkdir()
    (folder / "commented.cpt").write_text((folder / "expected.cpt").read_text() + "// a comment\n")
    (folder / "wrong.cpt").write_text(COUNTER + "invariant other: db.y == 0\n")
    (folder / "wrong.json").write_text('{"schema": "counterpoint-trace/1"}')
    (folder / "round.cpt").symlink_to("round.cpt")
    shell("mkfifo pipe.cpt pipe.json", folder)
    words, code = BAD[name]
    done = counterpoint(*words, folder=folder)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout + done.stderr
    no_excuse(done, folder)


LONG: Mapping[str, tuple[str, ...]] = {
    "check": ("check", "long.cpt", "--engine", "search"),
    "check --needs": ("check", "long.cpt", "--needs", "--engine", "search"),
    "check --json": ("check", "long.cpt", "--json"),
    "sweep": ("sweep", "long.cpt", "--max-faults", "0..1"),
    "crashpoints": ("crashpoints", "long.cpt"),
    "diff": ("diff", "counter.cpt", "long.cpt"),
    "graph": ("graph", "long.cpt", "--states", "1000000000"),
    "trace": ("trace", "long.cpt", "--to", "json"),
    "draw": ("draw", "long.cpt"),
    "run": ("run", "long.cpt", "--steps", "1000000000"),
}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="says by its processor time that a process is at work")
@pytest.mark.parametrize("name", LONG)
def test_signals(name: str, folder: Path) -> None:
    """Ctrl-C and SIGTERM are answered with 4, and SIGKILL cannot be; no code of a signal is 0."""
    cells = "\n".join(f"  durable x{n}: 0..1000" for n in range(4))
    threads = "\n".join(f"  loop up{n} {{ await db.x{n} < 1000; db.x{n} := db.x{n} + 1 }}" for n in range(4))
    text = f"store db {{\n{cells}\n}}\nprocess P {{\n{threads}\n}}\nfaults {{ crash P }}\ninvariant i: db.x0 <= 1000\n"
    (folder / "long.cpt").write_text(text)
    for number, code in ((signal.SIGINT, 4), (signal.SIGTERM, 4), (signal.SIGKILL, -9)):
        process = subprocess.Popen(
            [*RUN, *LONG[name]],
            cwd=folder,
            env=environment(CI="1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until_at_work(process.pid)
        process.send_signal(number)
        out, err = process.communicate(timeout=100)
        assert process.returncode == code, (number, out, err)
        assert "Traceback" not in out + err
        assert "internal error" not in err


def until_at_work(pid: int) -> None:
    """Waits until the process has had more time of a processor than it takes to begin."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / 100 > 1.5:
            return
        time.sleep(0.05)
    raise AssertionError("the process does nothing")
