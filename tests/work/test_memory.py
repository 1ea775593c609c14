"""A bound on the memory of items, in real processes that take too much."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from checker.arguments import bytes_in, parse
from checker.engines.engine import Budget, Progress, Reporter, Undecided
from checker.exitcode import ExitCode
from checker.options import UsageError
from checker.planning import plan
from checker.planning.plan import Observer
from checker.planning.shortage import SHORTAGE
from checker.result import VariantReport
from checker.transition_system import Property, TransitionSystem
from checker.verdict import HoldsTo
from checker.work import processes
from checker.work.item import Item
from checker.work.memory import Gauge, Usage, in_words
from checker.work.processes import Processes
from tests.checker.samples import FakeEngine
from tests.command import counterpoint
from tests.work import jobs
from tests.work.test_processes import become, name
from tests.work.test_workers import LONG

MB = 1 << 20
BOUND = 200 * MB
STEP = 5 * MB
MUCH = 8 * BOUND
"""Where a process that takes memory stops by itself, so that a test that fails does no harm."""


def bound() -> int:
    """So much for a process besides what this one has, of which it is a fork."""
    return BOUND + int(psutil.Process().memory_info().rss)


def take(taken: list[bytearray]) -> None:
    """Some more memory, not too quickly: about 250 MB in a second."""
    taken.append(bytearray(os.urandom(1024) * (STEP // 1024)))
    time.sleep(0.02)


def grow_for_ever(log: jobs.Log) -> None:
    taken: list[bytearray] = []
    while len(taken) * STEP < MUCH:
        take(taken)
        log.note(str(len(taken) * STEP))
    log.note("not stopped")


def test_an_item_that_takes_too_much_is_undecided_and_no_other_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = jobs.Log(tmp_path)

    def performance(item: Item, observer: Observer) -> VariantReport:
        if name(item) == "b":
            grow_for_ever(log)
        return jobs.perform(item, observer)

    become(monkeypatch, performance)
    monkeypatch.setattr(processes, "_MOMENT", 0.3)
    reports = dict(Processes(2, bound=bound()).run(jobs.items(tmp_path), jobs.quiet))
    (reason,) = jobs.reasons(reports[1])
    assert reason.startswith("memory ran out: more than ")
    assert jobs.code(reports[1]) is ExitCode.INCONCLUSIVE
    assert [jobs.code(reports[n]) for n in (0, 2)] == [ExitCode.REFUTED] * 2
    taken = [int(text) for text, _ in log.lines()]
    # It was begun once only, and was stopped soon.
    assert taken == sorted(taken)
    assert BOUND / 2 < taken[-1] < 1.5 * bound()


def test_an_item_that_makes_room_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As a search does: it gives up, and its memory is free again."""
    log = jobs.Log(tmp_path)

    def performance(item: Item, observer: Observer) -> VariantReport:
        taken: list[bytearray] = []
        try:
            while len(taken) * STEP < MUCH:
                take(taken)
                SHORTAGE.heed()
        except MemoryError:
            log.note(str(len(taken) * STEP))
            taken.clear()
        return jobs.perform(item, observer)

    become(monkeypatch, performance)
    reports = dict(Processes(2, bound=bound()).run(jobs.items(tmp_path), jobs.quiet))
    assert [jobs.code(reports[number]) for number in range(3)] == [ExitCode.REFUTED] * 3
    assert len(log) == 3
    assert all(int(text) < 1.3 * bound() for text, _ in log.lines())


def test_the_search_gives_up_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def search(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        taken: list[bytearray] = []
        while len(taken) * STEP < MUCH:
            take(taken)
            reporter.progress(Progress("search", 1, 1, None))

    monkeypatch.setitem(plan.ENGINES, "search", lambda: FakeEngine("search", search))
    (item, *_) = jobs.items(tmp_path)
    ((_, report),) = Processes(1, bound=bound()).run([item], jobs.quiet)
    # The other engines decide all that they can.
    assert jobs.code(report) is ExitCode.REFUTED
    assert not report.cut_short


def test_of_several_processes_the_largest_engine_ends_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = jobs.Log(tmp_path)

    def search(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        for target in targets:
            reporter.decided(target, Undecided("no time"))

    def greedy(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        grow_for_ever(log)

    monkeypatch.setitem(plan.ENGINES, "search", lambda: FakeEngine("search", search))
    for engine in ("ic3", "parallel"):
        monkeypatch.setitem(plan.ENGINES, engine, lambda: FakeEngine("greedy", greedy))
    (item, *_) = jobs.items(tmp_path)
    ((_, report),) = Processes(1, bound=bound()).run([item], jobs.quiet)
    assert "not stopped" not in {text for text, _ in log.lines()}
    assert len({pid for _, pid in log.lines()}) == 2
    verdicts = {result.name: result.verdict for result in report.properties}
    small = verdicts["small"]
    assert isinstance(small, HoldsTo), small
    assert "ic3: memory ran out" in small.reason
    # What bounded model checking has found is kept.
    assert report.code(item.options) is ExitCode.REFUTED


def test_what_processes_share_counts_once() -> None:
    shared = bytearray(os.urandom(1024) * (100 * MB // 1024))
    reading, writing = os.pipe()
    children = [os.fork() for _ in range(2)] if os.getpid() else []
    if 0 in children:
        os.read(reading, 1)
        os._exit(len(shared) and 0)
    try:
        me = psutil.Process()
        alone = me.memory_info().rss
        found = Gauge(me.pid, 50 * MB).read()
        assert found is not None
        assert set(found.engines) >= {child for child in children if child}
        assert found.total < 1.6 * alone
        rough = Gauge(me.pid, 1 << 50).read()
        assert rough is not None
        assert rough.total > 2 * alone
    finally:
        os.write(writing, b"xxxx")
        for child in children:
            os.waitpid(child, 0)


def test_a_process_that_has_ended_has_no_usage() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert Gauge(child, MB).read() is None
    assert Usage(3, {7: 4, 8: 5}).total == 12


@pytest.mark.parametrize(
    ("text", "size", "told"),
    [
        ("500M", 500 * MB, "500 MB"),
        ("2G", 2 << 30, "2 GB"),
        ("1.5g", 3 << 29, "1.5 GB"),
        ("65536k", 64 * MB, "64 MB"),
        ("1T", 1 << 40, "1 TB"),
    ],
)
def test_sizes(text: str, size: int, told: str) -> None:
    assert bytes_in(parse(["check", "a.cpt", "--memory", text]).memory) == size
    assert in_words(size) == told


@pytest.mark.parametrize("text", ["2", "G", "2X", "2GB", "-2G", "63M", "nanG", "infG", "", "1_0G!"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="--memory"):
        parse(["check", "a.cpt", f"--memory={text}"])


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "long.cpt").write_text(LONG)
    (tmp_path / "short.cpt").write_text("store db { durable x: 0..2 }\nprocess P { task t { db.x := 1 } }\n"
                                        "invariant small: db.x < 2\n")  # fmt: skip
    words = ("check", "long.cpt", "short.cpt", "--no-cache", "--timeout", "100")
    done = counterpoint(*words, "--memory", "64M", "--engine", "search", folder=tmp_path)
    assert done.returncode == 4
    long, short = done.stdout.split("\n\n")[:2]
    assert "memory ran out" in " ".join(long.split())
    assert "PROVED" not in long
    assert "small" in short
    (tmp_path / "counterpoint.toml").write_text('memory = "1G"\n')
    done = counterpoint("check", "short.cpt", "--no-cache", folder=tmp_path)
    assert done.returncode == 0
    assert "PROVED" in done.stdout
    done = counterpoint("check", "short.cpt", "--no-cache", "--memory", "lots", folder=tmp_path)
    assert done.returncode == 2
    assert "write 500M or 2G" in done.stderr
