"""Items in processes of this machine, several at a time.

Each item has a process of its own, which is forked off for it where that is possible, and ends with it.  So an item may
have engines in processes of their own as ever, takes all its memory with it, and may die without harm to any other.
"""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from checker.bundle import Failure
from checker.planning.engine_table import preload
from checker.planning.plan import Observer
from checker.planning.shortage import ENGINE_SIGNAL, RAN_OUT, SOON
from checker.planning.worker import can_fork, ending_of
from checker.result import VariantReport
from checker.work.attention import Attention
from checker.work.executor import Memory, Taken, Watch, take
from checker.work.item import Item, unperformed
from checker.work.parcel import Unpackable, pack, unpack_report
from checker.work.performance import SHORT, work

if TYPE_CHECKING:
    from checker.work.memory import Gauge

DIED = "the worker process died"
ATTEMPTS = 2
"""So often an item is begun whose process dies."""
_GRACE = 5.0
"""Seconds for an item that was told to stop."""
_TICK = 0.05
"""Seconds between two looks at whether somebody wants to end this."""
_PATIENCE = 5.0
"""Seconds for a process that has given its report to end."""
_MOMENT = 2.0
"""Seconds for an item that is over its bound to make room, ..."""
_MOST = 1.25
"""... if it takes no more than this, in parts of the bound."""


@dataclass
class _Running:
    number: int
    item: Item
    observer: Observer
    attempt: int
    process: Any
    connection: Connection
    gauge: Gauge | None = None
    short_since: float | None = None
    """When it was told that memory is short, if it still takes as much."""
    over: bool = False
    """Whether it was killed because it took more memory than it may."""


class Processes:
    """Performs items in so many processes at a time.  (See `checker.work.executor.Executor`.)

    bound: the memory in bytes that an item may take, with all its engines.  One that takes more loses its largest
    engine; and where there is none, or that does not help, its life, and is undecided."""

    def __init__(
        self,
        workers: int,
        memory: Memory | None = None,
        bound: int | None = None,
        start: Callable[[Item], tuple[Any, Connection]] | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """start: of a process (`start_beside`, which is the default, or `checker.work.fresh`).  is_wanted: asked now
        and then; an answer no is an interrupt."""
        self._start = start_beside if start is None else start
        self._is_wanted = is_wanted
        self._bound = bound
        self.interrupted = False
        self._workers = workers
        self._memory = memory
        self._running: list[_Running] = []
        self._until: float | None = None
        """When what was told to stop is killed."""
        self._attention = Attention()
        self._preloaded: set[bool] = set()

    def run(self, items: Iterable[Item], watch: Watch) -> Iterator[tuple[int, VariantReport]]:
        waiting = enumerate(items)
        exhausted = False
        with self._attention.paid():
            try:
                while True:
                    while not exhausted and not self.interrupted and len(self._running) < self._workers:
                        taken = self._take(waiting)
                        if taken is None:
                            exhausted = True
                        else:
                            number, item, known = taken
                            if known is not None:
                                yield number, known
                            else:
                                yield from self._begin(number, item, watch(number), 1)
                    if not self._running:
                        return
                    wait([each.connection for each in self._running], _TICK)
                    yield from self._hear()
                    self._heed()
                    for each in self._running:
                        self._measure(each)
            finally:
                for each in self._running:
                    _end(each)
                self._running.clear()

    def interrupt(self) -> None:
        if self.interrupted:
            return
        self.interrupted = True
        self._until = time.monotonic() + _GRACE
        for each in self._running:
            each.process.terminate()

    # -- items --------------------------------------------------------------------------------------------------------

    def _take(self, waiting: Iterator[tuple[int, Item]]) -> Taken | None:
        try:
            with self._attention.interruptible():
                return take(waiting, self._memory)
        except KeyboardInterrupt:
            self.interrupt()
            return None

    def _begin(self, number: int, item: Item, observer: Observer, attempt: int) -> Iterator[tuple[int, VariantReport]]:
        """Starts a process; gives a report at once only if there can be none."""
        self._preload(number, item)
        try:
            process, ours = self._start(item)
        except OSError as error:
            yield number, unperformed(item, f"no process could be started for it: {error}")
            return
        gauge = self._gauge(process.pid)
        self._running.append(_Running(number, item, observer, attempt, process, ours, gauge))

    def _gauge(self, pid: int) -> Gauge | None:
        if self._bound is None:
            return None
        from checker.work.memory import Gauge

        return Gauge(pid, self._bound)

    def _preload(self, number: int, item: Item) -> None:
        """Where more than one process is forked off, what they import is imported once."""
        model = None if item.choice.checked is None else item.choice.checked.model
        live = model is not None and any(each.live is not None for each in model.properties)
        if can_fork() and self._start is start_beside and number > 0 and live not in self._preloaded:
            preload(live)
            self._preloaded.add(live)

    def _hear(self) -> Iterator[tuple[int, VariantReport]]:
        """Takes in what the processes have to say."""
        for each in list(self._running):
            report: VariantReport | None = None
            try:
                while report is None and each.connection.poll():
                    report = self._heard(each, each.connection.recv())
            except (EOFError, OSError):
                self._running.remove(each)
                _end(each)
                yield from self._died(each)
                continue
            if report is not None:
                self._running.remove(each)
                each.process.join(_PATIENCE)
                _end(each)
                if self._memory is not None:
                    self._memory.keep(each.item, report)
                yield each.number, report

    def _heard(self, each: _Running, message: tuple[Any, ...]) -> VariantReport | None:
        match message:
            case ("progress", progress, undecided):
                each.observer.progress(progress, undecided)
                return None
            case ("report", data):
                try:
                    return unpack_report(data)
                except Unpackable as error:
                    failure = Failure(f"a report cannot be read: {error}", detail=traceback.format_exc())
                    return unperformed(each.item, failure.message, failures=(failure,))
            case ("failed", failure):
                return unperformed(each.item, f"our own error: {failure.message}", failures=(failure,))
        raise AssertionError(message)

    def _died(self, each: _Running) -> Iterator[tuple[int, VariantReport]]:
        if each.over:
            assert each.gauge is not None
            yield each.number, unperformed(each.item, f"{RAN_OUT}: more than {each.gauge.told}")
        elif self.interrupted:
            yield each.number, unperformed(each.item, interrupted=True)
        elif each.attempt < ATTEMPTS:
            yield from self._begin(each.number, each.item, each.observer, each.attempt + 1)
        else:
            ending = ending_of(each.process.exitcode)
            yield each.number, unperformed(each.item, f"{DIED}, twice: it {ending}")

    # -- memory -------------------------------------------------------------------------------------------------------

    def _measure(self, each: _Running) -> None:
        """Sees to it that an item takes no more memory than it may."""
        usage = None if each.gauge is None or each.over else each.gauge.read()
        if each.gauge is None or usage is None:
            return
        over, largest = usage.total > each.gauge.bound, max(usage.engines.values(), default=0)
        if usage.total <= each.gauge.bound * SOON:
            each.short_since = None
        elif usage.own >= largest and each.short_since is None:
            each.short_since = time.monotonic()
            if can_fork():
                os.kill(each.process.pid, SHORT)
        elif over and usage.own >= largest and self._has_a_moment(each, usage.total):
            pass
        elif over and usage.engines:
            with suppress(ProcessLookupError):
                os.kill(max(usage.engines, key=lambda pid: usage.engines[pid]), ENGINE_SIGNAL)
            each.gauge.forget()
        elif over:
            each.over = True
            each.process.kill()

    def _has_a_moment(self, each: _Running, total: int) -> bool:
        """Whether an item that was told of the shortage may still make room."""
        assert each.gauge is not None
        assert each.short_since is not None
        return can_fork() and time.monotonic() - each.short_since < _MOMENT and total <= each.gauge.bound * _MOST

    # -- an early end -------------------------------------------------------------------------------------------------

    def _heed(self) -> None:
        if self._attention.count or not self._is_wanted():
            self.interrupt()
        if self._attention.count > 1 or (self._until is not None and time.monotonic() > self._until):
            for each in self._running:
                each.process.kill()


def start_beside(item: Item) -> tuple[Any, Connection]:
    """A process that is forked off, where that is possible, and what it sends.  Raises OSError."""
    context: Any = multiprocessing.get_context("fork" if can_fork() else "spawn")
    ours, theirs = context.Pipe(duplex=False)
    # A process that is forked off has the item already.
    content = item if can_fork() else pack(item)
    process = context.Process(target=work, args=(content, theirs, os.getpid()), daemon=False)
    process.start()
    theirs.close()
    return process, ours


def _end(each: _Running) -> None:
    if each.process.is_alive():
        each.process.kill()
    each.process.join(_PATIENCE)
    each.connection.close()


__all__ = ["ATTEMPTS", "DIED", "Processes", "start_beside"]
