"""An item in a process that is started anew: where a process has threads, or may have no children, none can be forked
off."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from checker.work.item import Item
from checker.work.parcel import pack
from checker.work.performance import work

_ROOT = Path(__file__).resolve().parent.parent.parent
_PROGRAM = "import sys; from checker.work.fresh import main; main(int(sys.argv[1]), int(sys.argv[2]))"


class FreshProcess:
    """What `multiprocessing.Process` is to a process that was forked off."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exitcode(self) -> int | None:
        return self._process.poll()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def join(self, timeout: float | None = None) -> None:
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return


def start_afresh(item: Item) -> tuple[FreshProcess, Connection]:
    """The process, and what it sends.  Raises OSError."""
    ours, theirs = Pipe()
    with theirs:
        arguments = [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno()), str(os.getpid())]
        paths = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        process = subprocess.Popen(
            arguments,
            env={**os.environ, "PYTHONPATH": paths},
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    with suppress(OSError):
        # Where it has ended already, whoever reads from it will see that.
        ours.send_bytes(pack(item))
    return FreshProcess(process), ours


def main(descriptor: int, parent: int) -> None:
    """In the new process: performs what comes in, for the process of this number."""
    connection = Connection(descriptor)
    work(connection.recv_bytes(), connection, parent)


__all__ = ["FreshProcess", "main", "start_afresh"]
