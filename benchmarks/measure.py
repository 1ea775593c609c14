"""Runs a program and says what it took: wall time, processor time and memory, its children's included."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Limits:
    """For one program: seconds of wall time, and bytes of address space of each of its processes."""

    seconds: float
    memory: int


@dataclass(frozen=True)
class Usage:
    """seconds    wall time from start to end
    processor  user and system time, of the program and the children that it waited for
    memory     bytes of the largest single process
    output     standard output and standard error
    code       the exit code; negative for a signal
    late       it was stopped at the time limit
    """

    seconds: float
    processor: float
    memory: int
    output: str
    code: int
    late: bool

    def then(self, later: Usage) -> Usage:
        """Both, one after the other, as one program."""
        return Usage(
            self.seconds + later.seconds,
            self.processor + later.processor,
            max(self.memory, later.memory),
            later.output,
            later.code,
            later.late,
        )


def run(command: Sequence[str], folder: Path, limits: Limits, environment: dict[str, str] | None = None) -> Usage:
    """Runs one command to its end, or until the time is up.  Raises OSError when it cannot be started."""

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))

    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            preexec_fn=limit_memory,
        )
        late = threading.Event()

        def stop() -> None:
            late.set()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

        clock = threading.Timer(limits.seconds, stop)
        clock.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
        finally:
            clock.cancel()
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Usage(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, text, process.returncode, late.is_set())


def run_all(
    commands: Sequence[Sequence[str]], folder: Path, limits: Limits, environment: dict[str, str] | None = None
) -> Usage:
    """Runs the commands one after the other, with one time limit for all, until one fails."""
    total: Usage | None = None
    for command in commands:
        left = limits.seconds - (total.seconds if total else 0.0)
        usage = run(command, folder, Limits(max(0.01, left), limits.memory), environment)
        total = total.then(usage) if total else usage
        if usage.code and command is not commands[-1]:
            break
    assert total is not None, "no command"
    return total
