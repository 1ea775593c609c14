"""What happens during a check, as it happens: one JSON object on each line (`check --json-lines`)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

from checker.engines.engine import Progress
from checker.exitcode import ExitCode
from checker.options import Options
from checker.planning.plan import Observer
from checker.reports.report_json import file_content
from checker.reports.tally import tally
from checker.result import FileReport

SCHEMA = "counterpoint-events/1"
_PAUSE = 0.5
"""Seconds between two events of progress."""


class EventStream:
    """Writes events, for observers (see `checker.planning.plan`) that it hands out.

    start     the schema, once
    file      a file's check begins
    progress  an engine is at work, now and then; `open` are the properties that are not decided
    report    a file is done: what `--json` has of it
    end       the exit code and the summary
    """

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._shown = 0.0
        self._send("start", {"schema": SCHEMA})

    def begin(self, name: str) -> None:
        self._send("file", {"name": name})

    def of(self, name: str, variant: str | None) -> Observer:
        """An observer of one variant of a file."""
        return _Watched(self, name, variant)

    def progress(self, name: str, variant: str | None, progress: Progress, undecided: Sequence[str]) -> None:
        now = self._clock()
        if now - self._shown < _PAUSE:
            return
        self._shown = now
        content: dict[str, object] = {
            "name": name,
            "variant": variant,
            "engine": progress.engine,
            "depth": progress.depth,
            "states": progress.states,
            "open": list(undecided),
        }
        self._send("progress", content)

    def report(self, report: FileReport, options: Options) -> None:
        self._send("report", file_content(report, options))

    def end(self, reports: Sequence[FileReport], options: Options, code: ExitCode, seconds: float) -> None:
        self._send("end", {"exit_code": int(code), "summary": tally(reports, options, seconds)})

    def _send(self, event: str, content: dict[str, object]) -> None:
        self._write(json.dumps({"event": event, **content}, ensure_ascii=True, separators=(",", ":")) + "\n")


class _Watched:
    def __init__(self, stream: EventStream, name: str, variant: str | None) -> None:
        self._stream = stream
        self._name = name
        self._variant = variant

    def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
        self._stream.progress(self._name, self._variant, progress, undecided)


__all__ = ["SCHEMA", "EventStream"]
