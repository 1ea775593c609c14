"""Items on a Dask cluster, through the interface of `concurrent.futures` that `dask.distributed` has.

An item goes there as bytes and needs no file; its report comes back as bytes.  On the machine of the worker it is
performed in a process of its own, as here; that is started anew, since a worker of Dask has threads and may have no
children that are forked off.
"""

from __future__ import annotations

import logging
import queue
import socket
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from checker.bundle import Failure
from checker.engines.engine import Progress
from checker.options import UsageError
from checker.planning.plan import Observer
from checker.result import VariantReport
from checker.version import VERSION
from checker.work.attention import Attention
from checker.work.executor import Memory, Taken, Watch, take
from checker.work.item import Item, unperformed
from checker.work.parcel import Unpackable, pack, unpack_item, unpack_report

_CONNECTING = 5.0
"""Seconds until the scheduler answers."""
_WORKING = 10.0
"""Seconds until it has a worker."""
_GRACE = 8.0
"""Seconds for items that were told to stop."""
_TICK = 0.1
_LOOK = 1.0
"""Seconds between two looks: of a worker whether its item is wanted, of the command how many workers there are."""
_PAUSE = 0.5
"""Seconds between two signs of life of an item."""
LOST = "the connection to the scheduler was lost"


@dataclass(frozen=True)
class Installation:
    """version: of counterpoint; digest: of its sources, of Python and of the libraries that decide."""

    version: str
    digest: str

    @classmethod
    def here(cls) -> Installation:
        from checker.cache.identity import Identity, identity

        found = identity()
        return cls(VERSION, found.digest if isinstance(found, Identity) else f"unknown: {found}")

    def complaint(self, other: Installation, where: str) -> str | None:
        """Why an item may not go to the installation there; None if they are the same."""
        if self == other:
            return None
        if self.version != other.version:
            return f"the worker {where} has counterpoint {other.version}, and here it is {self.version}"
        return (
            f"the worker {where} has counterpoint {other.version} as well, but another state of its source, another "
            "version of Python or of a library that decides"
        )


class Cluster:
    """Performs items on the workers of a scheduler.  (See `checker.work.executor.Executor`.)  What is wrong with the
    cluster raises UsageError: E480 to E483."""

    def __init__(
        self, address: str, memory: Memory | None = None, bound: int | None = None, most: int | None = None
    ) -> None:
        """bound: see `checker.work.processes`.  most: items at a time (None: as many as the cluster has room for).
        Raises UsageError."""
        self.interrupted = False
        self._most = most
        self._memory = memory
        self._bound = bound
        self._attention = Attention()
        self._until: float | None = None
        self._address = address
        self._client = _connected(address)
        self._installation = Installation.here()
        self._run = f"counterpoint-{uuid4().hex}"
        """The name of what concerns this run on the scheduler."""
        self._heard: queue.SimpleQueue[tuple[int, Progress, tuple[str, ...]]] = queue.SimpleQueue()
        try:
            self._require_workers()
        except BaseException:
            self._close()
            raise

    def run(self, items: Iterable[Item], watch: Watch) -> Iterator[tuple[int, VariantReport]]:
        waiting = enumerate(items)
        exhausted = False
        running: dict[Future[Any], tuple[int, Item]] = {}
        observers: dict[int, Observer] = {}
        room, looked = 0, 0.0
        with self._attention.paid():
            try:
                self._client.subscribe_topic(self._run, self._hear)
                executor = self._client.get_executor(pure=False)
                while True:
                    if time.monotonic() - looked > _LOOK:
                        room, looked = self._room(), time.monotonic()
                    while not exhausted and not self.interrupted and len(running) < room:
                        taken = self._take(waiting)
                        if taken is None:
                            exhausted = True
                            break
                        number, item, known = taken
                        if known is not None:
                            yield number, known
                            continue
                        observers[number] = watch(number)
                        content = (self._installation, pack(item), self._bound, self._run, number)
                        running[executor.submit(_performed, *content)] = (number, item)
                    if not running:
                        return
                    done, _ = wait(running, _TICK, FIRST_COMPLETED)
                    self._tell(observers)
                    for future in done:
                        number, item = running.pop(future)
                        report = self._report(future, item)
                        if self._memory is not None:
                            self._memory.keep(item, report)
                        yield number, report
                    self._heed()
                    if self._until is not None and time.monotonic() > self._until:
                        for number, item in running.values():
                            yield number, unperformed(item, interrupted=True)
                        return
            finally:
                self._close(running)

    def interrupt(self) -> None:
        if self.interrupted:
            return
        self.interrupted = True
        self._until = time.monotonic() + _GRACE
        self._stop()

    # -- items --------------------------------------------------------------------------------------------------------

    def _take(self, waiting: Iterator[tuple[int, Item]]) -> Taken | None:
        try:
            with self._attention.interruptible():
                return take(waiting, self._memory)
        except KeyboardInterrupt:
            self.interrupt()
            return None

    def _report(self, future: Future[Any], item: Item) -> VariantReport:
        """What has become of an item.  Raises UsageError where the worker is another counterpoint."""
        try:
            kind, *content = future.result()
        except BaseException as error:
            if self.interrupted:
                return unperformed(item, interrupted=True)
            return unperformed(item, _what_happened(error))
        if kind == "other":
            raise _other_installation(content[0])
        if kind == "report":
            try:
                return unpack_report(content[0])
            except Unpackable as error:
                failure = Failure(f"a report cannot be read: {error}", detail=traceback.format_exc())
        else:
            failure = content[0]
        return unperformed(item, f"our own error: {failure.message}", failures=(failure,))

    # -- the cluster --------------------------------------------------------------------------------------------------

    def _require_workers(self) -> None:
        """Raises UsageError where there are none, or one that is another counterpoint."""
        try:
            self._client.wait_for_workers(1, timeout=_WORKING)
        except TimeoutError:
            message = f"the scheduler at {self._address} has no workers"
            raise UsageError(message, f"start one: dask worker {self._address}", "E482") from None
        except Exception as error:
            raise _no_scheduler(self._address, error) from None
        try:
            found = self._client.run(Installation.here)
        except Exception as error:
            hint = "install counterpoint on each worker, in the same version"
            message = f"a worker cannot perform anything ({type(error).__name__}: {error})"
            raise UsageError(message, hint, "E483") from None
        for where, installation in sorted(found.items()):
            complaint = self._installation.complaint(installation, where)
            if complaint is not None:
                raise _other_installation(complaint)

    def _room(self) -> int:
        """How many items may be at the cluster: as many as it works on, and as many that wait there."""
        if self._most is not None:
            return self._most
        try:
            return max(2, 2 * sum(map(int, self._client.nthreads().values())))
        except Exception:
            return 2

    def _stop(self) -> None:
        """Tells what is at work to stop."""
        from distributed import Event

        try:
            Event(self._run, client=self._client).set()
        except Exception:
            # Then there is nobody who could be told.
            return

    def _close(self, running: Iterable[Future[Any]] = ()) -> None:
        left = [each for each in running if not each.done()]
        if left:
            self._stop()
        for each in left:
            each.cancel()
        self._client.close(timeout=_GRACE)

    def _hear(self, event: tuple[float, Any]) -> None:
        """In a thread of the client."""
        number, told, undecided = event[1]
        self._heard.put((number, Progress(*told), tuple(undecided)))

    def _tell(self, observers: dict[int, Observer]) -> None:
        while not self._heard.empty():
            number, progress, undecided = self._heard.get()
            if number in observers:
                observers[number].progress(progress, undecided)

    def _heed(self) -> None:
        if self._attention.count:
            self.interrupt()
        if self._attention.count > 1:
            self._until = 0.0


def _connected(address: str) -> Any:
    """A client of the scheduler.  Raises UsageError."""
    try:
        from distributed import Client
    except ImportError:
        message = "--scheduler needs the package dask.distributed"
        raise UsageError(message, "install it: pip install 'counterpoint[cluster]'", "E480") from None
    # What is wrong with the connection is told in our words, once, and not by the loggers of several libraries.
    logging.disable(logging.CRITICAL)
    try:
        found = urlsplit(address)
        host, port = found.hostname, found.port
    except ValueError:
        host = port = None
    if not host or not port or found.scheme not in ("tcp", "tls"):
        raise UsageError(f"{address} is no address of a scheduler", "write tcp://HOST:8786", "E481")
    try:
        # A client that cannot be made takes much longer to say so.
        socket.create_connection((host, port), _CONNECTING).close()
        return Client(address, timeout=_CONNECTING, set_as_default=False)
    except Exception as error:
        raise _no_scheduler(address, error) from None


def _no_scheduler(address: str, error: Exception) -> UsageError:
    told = error.strerror if isinstance(error, OSError) and error.strerror else None
    return UsageError(
        f"no scheduler answers at {address}{f' ({told})' if told else ''}", "start one: dask scheduler", "E481"
    )


def _other_installation(complaint: str) -> UsageError:
    return UsageError(complaint, "install the same version on all machines", "E483")


def _what_happened(error: BaseException) -> str:
    """Why an item has no report."""
    name = type(error).__name__
    if name == "KilledWorker":
        return "the worker process died, each time that the cluster began it anew"
    if name in ("CancelledError", "FutureCancelledError", "CommClosedError", "TimeoutError"):
        return LOST
    return f"the cluster gave no report: {name}: {error}"


# ------------------------------------------------------------------------------------------------------- on the worker


def _performed(caller: Installation, data: bytes, bound: int | None, run: str, number: int) -> tuple[Any, ...]:
    """What has become of an item, on a worker."""
    from distributed import Event, get_worker

    from checker.work.fresh import start_afresh
    from checker.work.processes import Processes

    worker = get_worker()
    complaint = caller.complaint(Installation.here(), worker.address)
    if complaint is not None:
        return "other", complaint
    stop = Event(run)
    observer = _Remote(partial(worker.log_event, run), number)
    executor = Processes(1, bound=bound, start=start_afresh, is_wanted=_Wanted(stop.is_set))
    try:
        for _, report in executor.run([unpack_item(data)], lambda number: observer):
            return "report", pack(report)
    except Exception as error:
        message = f"a worker of the cluster stopped with {type(error).__name__}: {error}"
        return "failed", Failure(message, detail=traceback.format_exc())
    return "failed", Failure("an item has no report")


class _Wanted:
    """Whether an item is still wanted, asked of the scheduler now and then."""

    def __init__(self, is_stopped: Callable[[], bool]) -> None:
        self._is_stopped = is_stopped
        self._looked = time.monotonic()
        self._wanted = True

    def __call__(self) -> bool:
        if self._wanted and time.monotonic() - self._looked > _LOOK:
            self._wanted = not self._is_stopped()
            self._looked = time.monotonic()
        return self._wanted


class _Remote:
    """An observer whose signs of life go to the command."""

    def __init__(self, send: Callable[[Any], None], number: int) -> None:
        self._send = send
        self._number = number
        self._sent = 0.0

    def progress(self, progress: Progress, undecided: Iterable[str]) -> None:
        now = time.monotonic()
        if now - self._sent >= _PAUSE:
            self._sent = now
            told = [progress.engine, progress.depth, progress.states, progress.rate]
            with suppress(Exception):
                # Nothing depends on it.
                self._send([self._number, told, list(undecided)])


__all__ = ["LOST", "Cluster", "Installation"]
