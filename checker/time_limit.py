"""Until when something may be worked on, and which option says so."""

from __future__ import annotations

import time
from dataclasses import dataclass

OUT_OF_TIME = "out of time"
"""The reason that engines and solvers give when their time is over."""
FOR_EVIDENCE = 2.0
"""Seconds beyond a limit for checking what was found until then."""


@dataclass(frozen=True)
class TimeLimit:
    """A moment on the clock of `time.monotonic`.

    until  the moment
    name   the option that sets it, with its value: `timeout 120 s`; empty where it is nobody's wish

    A pickled limit is the same moment in another process, on another machine as well as the two clocks agree.
    """

    until: float
    name: str = ""

    @staticmethod
    def after(seconds: float, option: str) -> TimeLimit:
        """So many seconds from now."""
        return TimeLimit(time.monotonic() + seconds, f"{option} {seconds:g} s")

    @property
    def reason(self) -> str:
        """Why something has no answer that the limit has stopped."""
        return f"{OUT_OF_TIME} ({self.name})" if self.name else OUT_OF_TIME

    def left(self) -> float:
        """Seconds until then, not negative."""
        return max(0.0, self.until - time.monotonic())

    def has_passed(self) -> bool:
        return time.monotonic() >= self.until

    def or_sooner(self, other: TimeLimit | None) -> TimeLimit:
        """The earlier of two."""
        return other if other is not None and other.until < self.until else self

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (time.time() + (self.until - time.monotonic()), self.name)


def _again(until: float, name: str) -> TimeLimit:
    """until: on the clock of `time.time`, which processes share."""
    return TimeLimit(time.monotonic() + (until - time.time()), name)


__all__ = ["FOR_EVIDENCE", "OUT_OF_TIME", "TimeLimit"]
