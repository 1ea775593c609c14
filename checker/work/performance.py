"""The performance of an item in a process of its own, which sends what becomes of it.

Messages: ("progress", progress, names of what is undecided), now and then; and at last ("report", bytes, see
`checker.work.parcel`), or ("failed", failure) where an error of our own has ended it.
"""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType

from checker.bundle import Failure, OwnError
from checker.engines.engine import Progress
from checker.interrupts import deliver_again
from checker.planning.lifeline import die_with
from checker.planning.shortage import SHORTAGE
from checker.planning.worker import can_fork
from checker.work.item import Item, perform, unperformed
from checker.work.parcel import pack, unpack_item

SHORT = getattr(signal, "SIGUSR1", signal.SIGTERM)
"""What tells an item's process that memory is short."""
_PAUSE = 0.1
"""Seconds between two signs of life of an item."""


class _Sender:
    """An observer that sends, now and then, and lets no interrupt come between the parts of a message."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sent = 0.0
        self._sending = False
        self._stopped = False

    def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
        now = time.monotonic()
        if now - self._sent < _PAUSE:
            return
        self._sent = now
        self.send("progress", progress, tuple(undecided))

    def send(self, *message: object) -> None:
        self._sending = True
        try:
            self._connection.send(message)
        finally:
            self._sending = False
        if self._stopped:
            self._stopped = False
            raise KeyboardInterrupt

    def stop(self, number: int, frame: FrameType | None) -> None:
        if not self._sending:
            raise KeyboardInterrupt
        self._stopped = True


def _note_shortage(number: int, frame: FrameType | None) -> None:
    SHORTAGE.noticed = True


def work(content: Item | bytes, connection: Connection, parent: int) -> None:
    # An interrupt from the terminal reaches all processes; what becomes of this one is for the parent to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sender = _Sender(connection)
    signal.signal(signal.SIGTERM, sender.stop)
    if can_fork():
        signal.signal(SHORT, _note_shortage)
    deliver_again(signal.SIGTERM)
    die_with(parent)
    item = unpack_item(content) if isinstance(content, bytes) else content
    message: tuple[object, ...]
    try:
        try:
            report = perform(item, sender)
        except KeyboardInterrupt:
            report = unperformed(item, interrupted=True)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        message = ("report", pack(report))
    except OwnError as error:
        message = ("failed", error.failure)
    except Exception as error:
        failure = Failure(f"{type(error).__name__}: {error}", detail=traceback.format_exc())
        message = ("failed", failure)
    with suppress(OSError):
        sender.send(*message)


__all__ = ["SHORT", "work"]
