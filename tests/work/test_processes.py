"""Items in processes of their own: real ones, in which `perform` does what a test says."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from checker.bundle import Failure, OwnError
from checker.engines.engine import Budget, Progress, Reporter, Undecided
from checker.exitcode import ExitCode
from checker.options import Options
from checker.planning import plan
from checker.planning.plan import Observer
from checker.result import VariantReport
from checker.transition_system import Property, TransitionSystem
from checker.verdict import Proved
from checker.work import performance as performance_module
from checker.work import processes
from checker.work.executor import Executor, Here
from checker.work.fresh import start_afresh
from checker.work.item import Item, perform, unperformed
from checker.work.processes import Processes
from tests.checker.samples import FakeEngine
from tests.stand_in import InPlaceOf
from tests.work import jobs

Performance = Callable[[Item, Observer], VariantReport]


@pytest.fixture
def log(tmp_path: Path) -> jobs.Log:
    return jobs.Log(tmp_path)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    deadline = time.monotonic() + 3
    while (left := _alive()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def _alive() -> list[psutil.Process]:
    """What multiprocessing keeps for processes that are spawned has no part in it."""
    found = []
    for each in psutil.Process().children(recursive=True):
        try:
            if each.status() != psutil.STATUS_ZOMBIE and not any("resource_tracker" in word for word in each.cmdline()):
                found.append(each)
        except psutil.NoSuchProcess:
            continue
    return found


def become(monkeypatch: pytest.MonkeyPatch, performance: Performance) -> None:
    """Processes that are forked off from now on perform items so."""
    monkeypatch.setattr(performance_module, "perform", InPlaceOf[Performance](perform)(performance))


def name(item: Item) -> str:
    assert item.choice.variant is not None
    return item.choice.variant


def test_reports_are_the_same_as_here() -> None:
    options = Options(repairs=True)
    items = [*jobs.shipped("classics/peterson", options), *jobs.shipped("classics/retry", options)]
    here = dict(Here().run(items, jobs.quiet))
    beside = dict(Processes(3).run(items, jobs.quiet))
    assert sorted(beside) == sorted(here) == list(range(len(items)))
    assert [jobs.told(beside[n]) for n in here] == [jobs.told(here[n]) for n in here]


def test_engines_run_beside_an_item(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An item's process may have children of its own; what they decide is in the report."""
    monkeypatch.setitem(plan.ENGINES, "search", lambda: FakeEngine("search", _gives_up))
    (item, *_) = jobs.items(tmp_path)
    ((_, report),) = Processes(1).run([item], jobs.quiet)
    (small,) = [result.verdict for result in report.properties if result.name == "small"]
    assert isinstance(small, Proved)
    assert small.certificate.engine == "ic3"


def _gives_up(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
    for target in targets:
        reporter.decided(target, Undecided("no time"))


def test_items_are_performed_side_by_side_and_no_more_than_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log
) -> None:
    """Each waits until another has begun, so that one at a time would never end; a third does not begin meanwhile."""

    def wait_for_another(item: Item, observer: Observer) -> VariantReport:
        log.note("begin")
        while len(log) % 2:
            time.sleep(0.01)
        time.sleep(0.2)
        assert len(log) in (2, 4)
        return jobs.perform(item, observer)

    become(monkeypatch, wait_for_another)
    items = jobs.items(tmp_path)
    reports = dict(Processes(2).run([*items, items[0]], jobs.quiet))
    assert [jobs.code(reports[number]) for number in range(4)] == [ExitCode.REFUTED] * 4
    assert len({pid for _, pid in log.lines()}) == 4


def test_items_are_taken_only_when_there_is_room(tmp_path: Path) -> None:
    taken = []

    def supply() -> Iterator[Item]:
        for item in jobs.items(tmp_path):
            taken.append(name(item))
            yield item

    for count, _ in enumerate(Processes(1).run(supply(), jobs.quiet), 1):
        assert len(taken) == count
    assert taken == ["a", "b", "c"]


def test_what_making_the_items_raises_ends_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def sleep(item: Item, observer: Observer) -> VariantReport:
        time.sleep(60)
        raise AssertionError("nobody has stopped it")

    become(monkeypatch, sleep)

    def supply() -> Iterator[Item]:
        yield jobs.items(tmp_path)[0]
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        list(Processes(2).run(supply(), jobs.quiet))


def test_an_item_whose_process_dies_is_begun_once_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log
) -> None:
    def die_at_first(item: Item, observer: Observer) -> VariantReport:
        log.note(name(item))
        if name(item) == "b" and [text for text, _ in log.lines()].count("b") == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return jobs.perform(item, observer)

    become(monkeypatch, die_at_first)
    items = jobs.items(tmp_path)
    reports = dict(Processes(2).run(items, jobs.quiet))
    assert [jobs.told(reports[n]) for n in range(3)] == [jobs.told(r) for _, r in Here().run(items, jobs.quiet)]
    assert sorted(text for text, _ in log.lines()) == ["a", "b", "b", "c"]


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "it was ended by signal 9 (SIGKILL)"),
        (lambda: os._exit(0), "it ended early (exit code 0)"),
    ],
)
def test_an_item_whose_process_dies_twice_is_undecided(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log, ending: Callable[[], None], words: str
) -> None:
    """Also where the process claims to have ended well."""

    def die(item: Item, observer: Observer) -> VariantReport:
        log.note(name(item))
        if name(item) == "b":
            ending()
        return jobs.perform(item, observer)

    become(monkeypatch, die)
    reports = dict(Processes(2).run(jobs.items(tmp_path), jobs.quiet))
    assert jobs.reasons(reports[1]) == {f"the worker process died, twice: {words}"}
    assert {result.name for result in reports[1].results} == {result.name for result in reports[0].results}
    assert jobs.code(reports[1]) is ExitCode.INCONCLUSIVE
    assert not reports[1].interrupted
    assert [jobs.code(reports[n]) for n in (0, 2)] == [ExitCode.REFUTED] * 2
    assert sorted(text for text, _ in log.lines()) == ["a", "b", "b", "c"]


def test_without_properties_a_dead_process_is_no_success(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def die(item: Item, observer: Observer) -> VariantReport:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("it has survived")

    become(monkeypatch, die)
    text = "store db { durable x: 0..2 }\nprocess P { task t { db.x := 1\n assert db.x == 1 } }\n"
    ((_, report),) = Processes(1).run(jobs.items(tmp_path, text), jobs.quiet)
    assert report.cut_short == "the worker process died, twice: it was ended by signal 9 (SIGKILL)"
    assert jobs.code(report) is ExitCode.INCONCLUSIVE


def test_where_no_process_can_be_started_nothing_is_decided(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    context = type(multiprocessing.get_context("fork").Process(target=print))

    def fail(self: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(context, "start", fail)
    reports = dict(Processes(2).run(jobs.items(tmp_path), jobs.quiet))
    assert sorted(reports) == [0, 1, 2]
    for report in reports.values():
        (reason,) = jobs.reasons(report)
        assert reason.startswith("no process could be started")
        assert jobs.code(report) is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize(
    ("error", "told"),
    [(ValueError("odd"), "ValueError: odd"), (OwnError(Failure("it contradicts itself", evidence=[1])), "it contra")],
)
def test_an_error_of_our_own_comes_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, told: str
) -> None:
    def fail(item: Item, observer: Observer) -> VariantReport:
        if name(item) == "b":
            raise error
        return jobs.perform(item, observer)

    become(monkeypatch, fail)
    items = jobs.items(tmp_path)
    reports = dict(Processes(2).run(items, jobs.quiet))
    (failure,) = reports[1].failures
    assert failure.message.startswith(told)
    assert [source for source, _ in failure.sources] == [items[1].module.source.name]
    assert failure.choice["variant"] == "b"
    assert jobs.code(reports[1]) is ExitCode.OWN_ERROR
    assert not reports[0].failures


def test_a_report_that_cannot_be_read_is_an_error_of_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(performance_module, "pack", lambda report: b"nonsense")
    ((_, report),) = Processes(1).run(jobs.items(tmp_path)[:1], jobs.quiet)
    (failure,) = report.failures
    assert "cannot be read" in failure.message
    assert jobs.code(report) is ExitCode.OWN_ERROR


def test_each_observer_hears_of_its_item(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def speak(item: Item, observer: Observer) -> VariantReport:
        observer.progress(Progress("search", ord(name(item)), 7, None), ("open",))
        return jobs.perform(item, observer)

    become(monkeypatch, speak)
    heard: dict[int, jobs.Heard] = {}

    def watch(number: int) -> Observer:
        return heard.setdefault(number, jobs.Heard())

    list(Processes(2).run(jobs.items(tmp_path), watch))
    assert {number: (each.heard[0][0].depth, each.heard[0][1]) for number, each in heard.items()} == {
        0: (ord("a"), ("open",)),
        1: (ord("b"), ("open",)),
        2: (ord("c"), ("open",)),
    }


# ------------------------------------------------------------------------------------------------------ an early end


def slowly(log: jobs.Log) -> Performance:
    """The item a is quick; the others take their time, and heed an interrupt as a check does."""

    def performance(item: Item, observer: Observer) -> VariantReport:
        report = jobs.perform(item, observer)
        if name(item) == "a":
            return report
        log.note(name(item))
        try:
            while True:
                time.sleep(0.02)
                observer.progress(Progress("search", 1, 1, None), ())
        except KeyboardInterrupt:
            return replace(report, interrupted=True)

    return performance


@pytest.mark.parametrize("everywhere", [True, False])
def test_an_interrupt_keeps_what_is_decided(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log, everywhere: bool
) -> None:
    """Ctrl-C reaches all processes of a terminal, `kill -INT` one."""
    become(monkeypatch, slowly(log))
    executor = Processes(2)
    reports = {}
    before = signal.getsignal(signal.SIGINT)
    for number, report in executor.run(jobs.items(tmp_path), jobs.quiet):
        reports[number] = report
        if number == 0:
            while len(log) < 1:
                time.sleep(0.01)
            for _, pid in log.lines() if everywhere else []:
                os.kill(pid, signal.SIGINT)
                time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert executor.interrupted
    assert not reports[0].interrupted
    assert reports[1].interrupted
    assert jobs.code(reports[0]) is ExitCode.REFUTED
    # What had been decided in the process that was told to stop has come back.
    assert jobs.told(replace(reports[1], variant="a", interrupted=False)) == jobs.told(reports[0])
    assert 2 not in reports or reports[2].interrupted


def test_what_does_not_heed_an_interrupt_is_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log
) -> None:
    def stubborn(item: Item, observer: Observer) -> VariantReport:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        log.note("deaf")
        while True:
            time.sleep(1)

    become(monkeypatch, stubborn)
    monkeypatch.setattr(processes, "_GRACE", 0.5)
    executor = Processes(1)

    def watch(number: int) -> Observer:
        return jobs.Heard()

    run = executor.run(jobs.items(tmp_path), watch)
    monkeypatch.setattr(processes, "_TICK", 0.02)
    monkeypatch.setattr(executor, "_heed", _interrupting(executor, log))
    started = time.monotonic()
    ((number, report),) = run
    assert number == 0
    assert report.interrupted
    assert jobs.reasons(report) == {"interrupted"}
    assert jobs.code(report) is ExitCode.INCONCLUSIVE
    assert time.monotonic() - started < 20


def _interrupting(executor: Processes, log: jobs.Log) -> Callable[[], None]:
    heed = executor._heed

    def first_interrupt() -> None:
        if len(log):
            executor.interrupt()
        heed()

    return first_interrupt


def test_an_interrupt_while_items_are_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log) -> None:
    become(monkeypatch, slowly(log))
    executor = Processes(3)

    def supply() -> Iterator[Item]:
        items = jobs.items(tmp_path)
        yield items[1]
        while not len(log):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)

    started = time.monotonic()
    ((number, report),) = executor.run(supply(), jobs.quiet)
    assert time.monotonic() - started < 30
    assert (number, report.interrupted, executor.interrupted) == (0, True, True)


def test_closing_the_run_stops_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log) -> None:
    become(monkeypatch, slowly(log))
    run = Processes(2).run(jobs.items(tmp_path), jobs.quiet)
    next(run)
    started = time.monotonic()
    assert isinstance(run, Generator)
    run.close()
    assert not _alive()
    assert time.monotonic() - started < 10


def test_an_item_ends_with_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log) -> None:
    """A process in between performs items and is killed; theirs, which say nothing, must not outlive it for long."""

    def say_nothing(item: Item, observer: Observer) -> VariantReport:
        log.note(name(item))
        while True:
            time.sleep(1)

    become(monkeypatch, say_nothing)
    items = jobs.items(tmp_path)
    between = os.fork()
    if between == 0:
        list(Processes(2).run(items, jobs.quiet))
        os._exit(0)
    while len(log) < 2:
        time.sleep(0.01)
    os.kill(between, signal.SIGKILL)
    os.waitpid(between, 0)
    _, left = psutil.wait_procs([psutil.Process(pid) for _, pid in log.lines() if psutil.pid_exists(pid)], timeout=5)
    for each in left:
        each.kill()
    assert not left


class Remembered:
    """A memory that knows one item."""

    def __init__(self, known: int, report: VariantReport, items: Sequence[Item]) -> None:
        self._known = (items[known], report)
        self.kept: list[str] = []

    def look_up(self, item: Item) -> VariantReport | None:
        return self._known[1] if item is self._known[0] else None

    def keep(self, item: Item, report: VariantReport) -> None:
        assert report.variant == name(item)
        self.kept.append(name(item))


@pytest.mark.parametrize("make", [Here, lambda memory: Processes(2, memory)])
def test_what_is_known_is_not_performed_and_the_rest_is_kept(
    tmp_path: Path, make: Callable[[Remembered], Executor]
) -> None:
    items = jobs.items(tmp_path)
    report = unperformed(items[1], "as known before")
    memory = Remembered(1, report, items)
    reports = dict(make(memory).run(items, jobs.quiet))
    assert reports[1] is report
    assert sorted(memory.kept) == ["a", "c"]
    assert [jobs.code(reports[number]) for number in (0, 2)] == [ExitCode.REFUTED] * 2


def test_processes_that_are_started_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where nothing can be forked off, and on the workers of a cluster."""
    items = jobs.items(tmp_path)
    here = [jobs.told(report) for _, report in Here().run(items, jobs.quiet)]
    afresh = dict(Processes(2, start=start_afresh).run(items, jobs.quiet))
    assert [jobs.told(afresh[number]) for number in range(3)] == here
    monkeypatch.setattr(processes, "can_fork", lambda: False)
    spawned = dict(Processes(2).run(items, jobs.quiet))
    assert [jobs.told(spawned[number]) for number in range(3)] == here


def test_an_answer_no_to_whether_it_is_wanted_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: jobs.Log
) -> None:
    become(monkeypatch, slowly(log))
    reports: dict[int, VariantReport] = {}
    executor = Processes(2, is_wanted=lambda: 0 not in reports or not log.lines())
    for number, report in executor.run(jobs.items(tmp_path), jobs.quiet):
        reports[number] = report
    assert executor.interrupted
    assert not reports[0].interrupted
    assert reports[1].interrupted
