"""`check --workers`, as its users meet it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
import pytest

from checker import cli
from checker.check import check_files
from checker.options import Options, UnknownNameError
from checker.planning.plan import Observer
from checker.result import FileReport, VariantReport
from checker.work import executor as work_executor
from checker.work import performance as performance_module
from checker.work import processes
from checker.work.executor import Here, OneOrMany, Watch
from checker.work.item import Item, perform, unperformed
from checker.work.processors import default_workers, processors
from tests.command import AS_EXPECTED, COUNTER, counterpoint, environment
from tests.stand_in import InPlaceOf
from tests.work import jobs

SECONDS = re.compile(r"\d+\.\d+ s\b|\"seconds\": [\d.]+")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four models: as expected, with an error, refuted without expectation, with variants."""
    (tmp_path / "a.cpt").write_text(COUNTER + AS_EXPECTED)
    (tmp_path / "b.cpt").write_text("store {")
    (tmp_path / "c.cpt").write_text(COUNTER)
    (tmp_path / "d.cpt").write_text(COUNTER + jobs.VARIANTS)
    return tmp_path


def without_times(text: str) -> str:
    return SECONDS.sub("", text)


@pytest.mark.parametrize("more", [[], ["--json"], ["--quiet"], ["--needs"]])
def test_the_output_is_that_of_one_worker(folder: Path, more: list[str]) -> None:
    one = counterpoint("check", ".", "--workers", "1", "--no-cache", *more, folder=folder)
    three = counterpoint("check", ".", "--workers", "3", "--no-cache", *more, folder=folder)
    assert one.returncode == three.returncode == 2
    assert without_times(three.stdout) == without_times(one.stdout)
    assert "error" not in three.stderr


@pytest.mark.parametrize(
    ("files", "code"), [(["a.cpt"], 0), (["c.cpt"], 1), (["b.cpt"], 2), (["a.cpt", "c.cpt", "d.cpt"], 1)]
)
def test_exit_codes(folder: Path, files: list[str], code: int) -> None:
    assert counterpoint("check", *files, "--workers", "2", folder=folder).returncode == code


def test_too_little_time_is_inconclusive(folder: Path) -> None:
    assert counterpoint("check", "a.cpt", "--workers", "2", "--timeout", "0.0001", folder=folder).returncode == 4


@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5"])
def test_a_number_of_workers_that_is_none(folder: Path, number: str) -> None:
    done = counterpoint("check", "a.cpt", f"--workers={number}", folder=folder)
    assert done.returncode == 2
    assert "--workers" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_number_of_workers_from_a_file(folder: Path) -> None:
    (folder / "counterpoint.toml").write_text("workers = 2\n")
    done = counterpoint("check", "a.cpt", folder=folder)
    assert done.returncode == 0
    assert "--workers 2" in done.stdout or "workers" in done.stdout


def test_events_of_several_variants_have_their_names(folder: Path) -> None:
    done = counterpoint("check", "a.cpt", "d.cpt", "--workers", "2", "--json-lines", folder=folder)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    told = [(event["event"], event.get("name")) for event in events if event["event"] in ("file", "report")]
    assert [each for each in told if each[0] == "report"] == [("report", "a.cpt"), ("report", "d.cpt")]
    assert told.index(("file", "d.cpt")) < told.index(("report", "d.cpt"))
    assert events[-1]["event"] == "end"
    assert events[-1]["exit_code"] == done.returncode == 1
    for event in events:
        if event["event"] == "progress":
            assert event["name"] == "a.cpt" or event["variant"] in ("a", "b", "c")


def test_what_several_workers_found_is_kept_and_used(folder: Path) -> None:
    first = counterpoint("check", "a.cpt", "d.cpt", "--workers", "2", "--cache", "kept", folder=folder)
    second = counterpoint("check", "a.cpt", "d.cpt", "--workers", "2", "--cache", "kept", folder=folder)
    alone = counterpoint("check", "a.cpt", "d.cpt", "--workers", "1", "--cache", "kept", folder=folder)
    assert first.returncode == second.returncode == alone.returncode == 1
    assert "from the cache" not in first.stdout
    for later in (second, alone):
        assert "from the cache" in later.stdout.splitlines()[-1]
        assert later.stdout.splitlines()[:-1] == first.stdout.splitlines()[:-1]


def test_names_that_one_of_the_models_lacks(folder: Path) -> None:
    done = counterpoint("check", "a.cpt", "d.cpt", "--variant", "b", "--workers", "2", folder=folder)
    assert done.returncode == 1
    assert "1 model, 1 variant" in done.stdout
    done = counterpoint("check", "a.cpt", "c.cpt", "--variant", "b", "--workers", "2", folder=folder)
    assert done.returncode == 2
    assert "no variant 'b'" in done.stderr
    done = counterpoint("check", "a.cpt", "--faults", "crash Nobody", "--workers", "2", folder=folder)
    assert done.returncode == 2
    assert "Nobody" in done.stderr


def test_an_assertion_alone_that_was_not_decided_is_no_success(folder: Path) -> None:
    """Time runs out before there is a transition system, whose properties would be asked for."""
    (folder / "e.cpt").write_text(
        "store db { durable x: 0..2 }\nprocess P { task t { db.x := 1\n assert db.x == 1 } }\n"
    )
    for more in ([], ["--property", "assert_3"], ["--property", "assert_99"], ["--workers", "2"]):
        done = counterpoint("check", "e.cpt", "--timeout", "0.00001", *more, folder=folder)
        assert done.returncode == 4, more
        assert "time ran out" in done.stdout or "HOLDS TO" in done.stdout


# --------------------------------------------------------------------------------------------------------- mishaps


def test_an_error_of_our_own_in_a_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(item: Item, observer: Observer) -> VariantReport:
        raise ValueError("odd")

    monkeypatch.setattr(performance_module, "perform", InPlaceOf(perform)(fail))
    monkeypatch.chdir(folder)
    assert cli.execute(["check", "a.cpt", "c.cpt", "--workers", "2"]) == 3
    found = {file: json.loads(file.read_text()) for file in folder.glob("counterpoint-failure-*.json")}
    assert len(found) == 2
    ((file, content),) = [each for each in found.items() if each[1]["files"][0]["name"] == "a.cpt"]
    assert content["message"] == "ValueError: odd"
    assert content["files"] == [{"name": "a.cpt", "text": COUNTER + AS_EXPECTED}]
    assert "raise ValueError" in content["traceback"]
    assert file.name in capsys.readouterr().err


def test_a_process_that_dies_again_is_inconclusive(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def die(item: Item, observer: Observer) -> VariantReport:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    monkeypatch.setattr(performance_module, "perform", InPlaceOf(perform)(die))
    monkeypatch.chdir(folder)
    assert cli.execute(["check", "a.cpt", "c.cpt", "--workers", "2"]) == 4
    told = " ".join(capsys.readouterr().out.split())
    assert "the worker process died, twice: it was ended by signal 9" in told
    assert "UNDECIDED" in told


LONG = """\
store db { durable x: 0..90; durable y: 0..90; durable z: 0..90; durable u: 0..90; durable v: 0..90 }
process P { loop up { await db.x < 90; db.x := db.x + 1 } }
process Q { loop up { await db.y < 90; db.y := db.y + 1 } }
process R { loop up { await db.z < 90; db.z := db.z + 1 } }
process S { loop up { await db.u < 90; db.u := db.u + 1 } }
process T { loop up { await db.v < 90; db.v := db.v + 1 } }
at rest full: db.x + db.y + db.z + db.u + db.v == 450
"""


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "checker.cli", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def descendants_at_work(process: subprocess.Popen[str], count: int) -> list[psutil.Process]:
    """Waits until the command has so many processes below it."""
    for _ in range(600):
        found: list[psutil.Process] = psutil.Process(process.pid).children(recursive=True)
        if len(found) >= count:
            return found
        time.sleep(0.1)
    raise AssertionError("the processes do not begin")


def all_gone(found: Iterable[psutil.Process]) -> bool:
    _, left = psutil.wait_procs(list(found), timeout=10)
    return not left


@pytest.mark.parametrize("whole_group", [True, False])
def test_an_interrupt_shows_what_is_finished(folder: Path, whole_group: bool) -> None:
    """Ctrl-C reaches all processes of a terminal, `kill -INT` one."""
    (folder / "d.cpt").write_text(LONG)
    process = start(folder, "check", "a.cpt", "d.cpt", "c.cpt", "--workers", "2", "--no-cache")
    assert process.stdout is not None
    seen = ""
    while "never_two" not in seen:
        seen += process.stdout.readline()
    # d and an engine beside its search
    found = descendants_at_work(process, 2)
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (1, 4)
    assert "Traceback" not in err
    assert re.search(r"\? full +at rest +(UNDECIDED|HOLDS TO)", out)
    assert "interrupted in" in out.splitlines()[-1]
    assert all_gone(found)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere it takes a little longer")
def test_nothing_outlives_a_command_that_is_killed(folder: Path) -> None:
    (folder / "d.cpt").write_text(LONG + "variant a { }\nvariant b { }\n")
    process = start(folder, "check", "d.cpt", "--workers", "2", "--no-cache")
    found = descendants_at_work(process, 4)
    process.kill()
    process.communicate()
    assert all_gone(found)


# ------------------------------------------------------------------------------------------------ order of reports


class Shuffled:
    """An executor whose items finish in a given order."""

    def __init__(self, *order: int, interrupted: bool = False) -> None:
        self.interrupted = False
        self._order = order
        self._interrupts = interrupted

    def run(self, items: Iterable[Item], watch: Watch) -> Iterator[tuple[int, VariantReport]]:
        found = list(items)
        for number in self._order:
            watch(number)
            yield number, unperformed(found[number], f"number {number}")
        self.interrupted = self._interrupts

    def interrupt(self) -> None:
        raise NotImplementedError


def names(found: Iterable[tuple[Path, FileReport | UnknownNameError]]) -> list[str]:
    return [path.stem for path, _ in found]


def test_reports_come_in_the_order_of_the_files_as_soon_as_they_can(folder: Path) -> None:
    """Items: a 0, c 1, d 2 3 4.  b has an error, so it is there from the beginning."""
    paths = [folder / f"{name}.cpt" for name in "abcd"]
    when: dict[str, int] = {}
    executor = Shuffled(4, 1, 2, 0, 3)
    finished = 0

    def counted(items: Iterable[Item], watch: Watch) -> Iterator[tuple[int, VariantReport]]:
        nonlocal finished
        for each in Shuffled(4, 1, 2, 0, 3).run(items, watch):
            finished += 1
            yield each

    executor.run = counted  # type: ignore[method-assign]
    order = []
    for path, report in check_files(paths, Options(), executor, library=folder):
        order.append(path.stem)
        when[path.stem] = finished
        assert isinstance(report, FileReport)
        if path.stem == "d":
            # The variants in their order, each with its own report.
            assert [jobs.reasons(variant) for variant in report.variants] == [{f"number {n}"} for n in (2, 3, 4)]
    assert order == ["a", "b", "c", "d"]
    assert when == {"a": 4, "b": 4, "c": 4, "d": 5}


def test_after_an_interrupt_what_has_results_is_reported(folder: Path) -> None:
    """c is finished and d in part; a is not, but before them."""
    paths = [folder / f"{name}.cpt" for name in "abcd"]
    found = list(check_files(paths, Options(), Shuffled(1, 3, interrupted=True), library=folder))
    assert names(found) == ["a", "b", "c", "d"]
    reports = [report for _, report in found if isinstance(report, FileReport)]
    assert [report.interrupted for report in reports] == [True, False, False, True]
    assert [variant.interrupted for variant in reports[3].variants] == [True, False, True]
    found = list(check_files(paths, Options(), Shuffled(0, interrupted=True), library=folder))
    assert names(found) == ["a", "b", "c"]
    # Where everything is finished nothing is cut short.
    found = list(check_files(paths[:2], Options(), Shuffled(0, interrupted=True), library=folder))
    assert [report.interrupted for _, report in found if isinstance(report, FileReport)] == [False, False]


def test_an_interrupt_between_two_files_is_told(folder: Path) -> None:
    """Nothing is at work at that moment, and nothing of the second file has been looked at."""
    executor = Here()
    run = check_files([folder / "a.cpt", folder / "c.cpt"], Options(), executor, library=folder)
    first = next(run)
    executor.interrupt()
    (second,) = run
    assert isinstance(first[1], FileReport)
    assert isinstance(second[1], FileReport)
    assert not first[1].interrupted
    assert second[1].interrupted
    assert second[1].code(Options()) == 4


def test_an_interrupt_while_a_file_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from checker import catalogue

    def interrupted(*arguments: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "read", interrupted)
    for executor in (Here(), processes.Processes(2)):
        ((_, report),) = check_files([folder / "a.cpt", folder / "c.cpt"], Options(), executor, library=folder)
        assert isinstance(report, FileReport)
        assert report.interrupted


# ------------------------------------------------------------------------------------------------------ how many


@pytest.mark.parametrize(
    ("bound_to", "quota", "expected"),
    [
        (2, "max 100000", (2, 1)),
        (8, "max 100000", (8, 4)),
        (64, "max 100000", (64, 4)),
        (64, "200000 100000", (2, 1)),
        (64, "50000 100000", (1, 1)),
        (6, "", (6, 3)),
        (6, "what", (6, 3)),
        (6, "1 0", (6, 3)),
        (1, None, (1, 1)),
    ],
)
def test_half_of_the_processors(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    bound_to: int,
    quota: str | None,
    expected: tuple[int, int],
) -> None:
    file = tmp_path / "cpu.max"
    if quota is not None:
        file.write_text(quota + "\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda number: set(range(bound_to)), raising=False)
    assert (processors(file), default_workers(file)) == expected


def test_a_single_item_is_performed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process would take a moment to start."""
    pids: list[int] = []

    def noted(item: Item, observer: Observer) -> VariantReport:
        pids.append(os.getpid())
        return jobs.perform(item, observer)

    monkeypatch.setattr(work_executor, "perform", InPlaceOf(perform)(noted))
    items = jobs.items(tmp_path)
    for count in (0, 1):
        reports = dict(OneOrMany(Here(), processes.Processes(2)).run(items[:count], jobs.quiet))
        assert len(reports) == len(pids) == count
    executor = OneOrMany(Here(), processes.Processes(2))
    assert len(list(executor.run(items, jobs.quiet))) == 3
    assert len(pids) == 1


def test_an_interrupt_before_there_is_an_item() -> None:
    def supply() -> Iterator[Item]:
        raise KeyboardInterrupt
        yield

    executor = OneOrMany(Here(), processes.Processes(2))
    assert list(executor.run(supply(), jobs.quiet)) == []
    assert executor.interrupted
