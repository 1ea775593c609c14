"""An alarm: a limit on the time that a piece of work takes, whatever it does; its loops need not look at a clock.

The main thread of a system with interval timers is stopped by a signal, any other by an exception that another thread
puts into it (`PyThreadState_SetAsyncExc` of CPython).  Both arrive between two instructions of Python, and a
signal also during a search for a regular expression; a single long call into C is not cut short.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

_Result = TypeVar("_Result")


class TimeIsUp(Exception):
    """The work was stopped: it took longer than it may."""


class _Stop(BaseException):
    """Ends the work.  Each limit has a class of its own, so that limits can stand within one another; none of them is
    an Exception, which the work might catch."""


_AGAIN = 0.5
"""Seconds until the work is stopped once more, if it goes on."""


class _Limit:
    """over: the work is done, and must not be stopped any more."""

    def __init__(self) -> None:
        self.over = False
        self.stop: type[_Stop] = type("_ThisStop", (_Stop,), {})

    def arm(self, seconds: float) -> None:
        """From here on the work may be stopped."""
        raise NotImplementedError

    def disarm(self) -> None:
        """May be called more than once."""
        raise NotImplementedError


class _SignalLimit(_Limit):
    def __init__(self) -> None:
        super().__init__()
        self._before = signal.getsignal(signal.SIGALRM)

    def arm(self, seconds: float) -> None:
        signal.signal(signal.SIGALRM, self._ring)
        # Again and again: Python loses what is raised where it calls something on its own account, as when it frees.
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if not self.over:
            raise self.stop

    def disarm(self) -> None:
        self.over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        _settle()
        signal.signal(signal.SIGALRM, signal.SIG_DFL if self._before is None else self._before)


class _ThreadLimit(_Limit):
    def __init__(self) -> None:
        super().__init__()
        self._thread = ctypes.c_ulong(threading.get_ident())
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._pause = 0.0

    def arm(self, seconds: float) -> None:
        self._pause = seconds
        threading.Thread(target=self._ring, daemon=True).start()

    def _ring(self) -> None:
        while not self._done.wait(self._pause):
            self._pause = _AGAIN
            with self._lock:
                if not self.over:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(self.stop))

    def disarm(self) -> None:
        self.over = True
        self._done.set()
        with self._lock:
            # What was put in and has not arrived must not arrive later.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, None)


def within(seconds: float, work: Callable[[], _Result]) -> _Result:
    """What `work` gives.  Raises TimeIsUp when it takes longer than so many seconds, and whatever it raises itself."""
    if seconds <= 0:
        raise TimeIsUp
    limit = _SignalLimit() if _has_free_timer() else _ThreadLimit()
    try:
        try:
            limit.arm(seconds)
            return work()
        finally:
            limit.disarm()
    except limit.stop:
        limit.disarm()
        raise TimeIsUp from None


def is_stop(error: BaseException | None) -> bool:
    """Whether this is what ends some work, on its way out."""
    return isinstance(error, _Stop)


def _has_free_timer() -> bool:
    """Whether the timer can be had: another limit, or a program around this one, may be using it."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )


def _settle() -> None:
    """Lets a signal that has come be dealt with: Python does that at the beginning of a function."""
