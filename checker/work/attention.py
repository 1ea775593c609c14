"""Interrupts (SIGINT, SIGTERM) during a run of an executor."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Attention:
    """Counts interrupts while it is paid, and lets none break anything off, except where that is allowed."""

    def __init__(self) -> None:
        self.count = 0
        self._allowed = False

    @contextmanager
    def paid(self) -> Iterator[None]:
        """In a thread other than the main one there are no signals, and this does nothing."""

        def note(number: int, frame: FrameType | None) -> None:
            self.count += 1
            if self._allowed:
                raise KeyboardInterrupt

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        caught = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN]
        before = [(each, signal.signal(each, note)) for each in caught]
        try:
            yield
        finally:
            for each, handler in before:
                signal.signal(each, handler)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """An interrupt raises KeyboardInterrupt here, as it does elsewhere."""
        self._allowed = True
        try:
            yield
        finally:
            self._allowed = False


__all__ = ["Attention"]
