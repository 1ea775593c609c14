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
_SILENCE = 1.0
"""Seconds after which something that says nothing is taken to be done."""
_LIVE_PAUSE = 0.1
_LOG_PAUSE = 5.0


class ProgressLine:
    """An observer (see `checker.planning.plan`) that writes to a stream.

    On a terminal it keeps one line up to date, which `clear` removes; elsewhere, and where `CI` is set, it writes a
    line every five seconds at most.  Shows nothing in a check's first second."""

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
        self._main = self.of("")
        self._shown: float | None = None
        self._holder: _Watched | None = None
        self._drawn = False

    def begin(self, name: str) -> None:
        """The check of a file begins, of which `progress` tells; none other is at work."""
        self.clear()
        self._main = self.of(name)

    def of(self, name: str) -> _Watched:
        """An observer of what begins now, beside others.  The line tells of one of them until that is silent."""
        return _Watched(self, visible(name), self._clock())

    def advance(self, name: str) -> None:
        """The next of several parts of one long check begins."""
        self._main.name = visible(name)
        self.show(self._main, lambda seconds: f"{visible(name)}, {seconds:.0f} s")

    def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
        self._main.progress(progress, undecided)

    def show(self, watched: _Watched, told: Callable[[float], str]) -> None:
        """What one of the observers has to tell, from the seconds since it began."""
        now = self._clock()
        others = self._holder is not None and watched is not self._holder and now - self._holder.heard < _SILENCE
        watched.heard = now
        pause = _LIVE_PAUSE if self._live else _LOG_PAUSE
        if others or now - watched.started < _PATIENCE or (self._shown is not None and now - self._shown < pause):
            return
        self._shown = now
        self._holder = watched
        text = told(now - watched.started)
        try:
            if self._live:
                self._stream.write("\r\x1b[2K" + text[: self._width - 1])
                self._drawn = True
            else:
                self._stream.write(text + "\n")
            self._stream.flush()
        except OSError:
            # A sign of life is not worth a check.
            pass

    def clear(self) -> None:
        """Takes the live line away, so that something else can be written."""
        if self._drawn:
            self._drawn = False
            try:
                self._stream.write("\r\x1b[2K")
                self._stream.flush()
            except OSError:
                pass


class _Watched:
    """The observer of one of the things that a line tells of.  heard: when it last showed that it is alive."""

    def __init__(self, line: ProgressLine, name: str, started: float) -> None:
        self._line = line
        self.name = name
        self.started = self.heard = started

    def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
        self._line.show(self, lambda seconds: _text(self.name, progress, undecided, seconds))


def _text(name: str, progress: Progress, undecided: Sequence[str], seconds: float) -> str:
    parts = [f"{name}: {progress.engine}", f"depth {progress.depth}"]
    if progress.states is not None:
        parts.append(f"{progress.states:,} states")
    if progress.rate is not None:
        parts.append(f"{progress.rate:,.0f}/s")
    parts.append(f"{seconds:.0f} s")
    if undecided:
        more = f" +{len(undecided) - 1}" if len(undecided) > 1 else ""
        parts.append(f"open: {undecided[0]}{more}")
    return ", ".join(parts)
