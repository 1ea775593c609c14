"""The sign of life while an engine works: one live line on a terminal, now and then a line in a log."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from checker.engines.engine import Progress
from checker.terminal import is_terminal
from spec.diagnostic import visible

_PATIENCE = 1.0
"""Seconds for which nothing is shown."""
_LIVE_PAUSE = 0.1
_LOG_PAUSE = 5.0


class ProgressLine:
    """An observer (see `checker.planning.plan`) that writes to a stream.

    On a terminal it keeps one line up to date, which `clear` removes; elsewhere, and where `CI` is set, it writes a
    line every five seconds at most.  Shows nothing in a file's first second."""

    def __init__(
        self,
        stream: TextIO,
        width: int,
        environment: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._width = width
        self._clock = clock
        self._live = is_terminal(stream) and not environment.get("CI") and environment.get("TERM") != "dumb"
        self._name = ""
        self._started = self._shown = clock()
        self._drawn = False

    def begin(self, name: str) -> None:
        """A file's check begins."""
        self.clear()
        self._name = visible(name)
        self._started = self._clock()

    def advance(self, name: str) -> None:
        """The next of several parts of one long check begins."""
        self._name = visible(name)
        self._write(lambda seconds: f"{self._name}, {seconds:.0f} s")

    def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
        self._write(lambda seconds: self._text(progress, undecided, seconds))

    def _write(self, told: Callable[[float], str]) -> None:
        now = self._clock()
        pause = _LIVE_PAUSE if self._live else _LOG_PAUSE
        if now - self._started < _PATIENCE or (now - self._shown < pause and self._shown > self._started):
            return
        self._shown = now
        text = told(now - self._started)
        if self._live:
            self._stream.write("\r\x1b[2K" + text[: self._width - 1])
            self._drawn = True
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def clear(self) -> None:
        """Takes the live line away, so that something else can be written."""
        if self._drawn:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._drawn = False

    def _text(self, progress: Progress, undecided: Sequence[str], seconds: float) -> str:
        parts = [f"{self._name}: {progress.engine}", f"depth {progress.depth}"]
        if progress.states is not None:
            parts.append(f"{progress.states:,} states")
        if progress.rate is not None:
            parts.append(f"{progress.rate:,.0f}/s")
        parts.append(f"{seconds:.0f} s")
        if undecided:
            more = f" +{len(undecided) - 1}" if len(undecided) > 1 else ""
            parts.append(f"open: {undecided[0]}{more}")
        return ", ".join(parts)
