"""A process that has no business without the one that started it, and ends when that has gone, however it went."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

_PAUSE = 0.2
_PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """From now on this process is killed when its parent (of this number) ends.

    On Linux the kernel sees to that, so that no thread is left in the way of a later fork, and whatever the process is
    doing.  Elsewhere a thread looks every now and then."""
    if not _asked_the_kernel():
        threading.Thread(target=_look_after, args=(parent,), daemon=True).start()
    elif os.getppid() != parent:
        # It had ended before.
        os.kill(os.getpid(), signal.SIGKILL)


def _asked_the_kernel() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _look_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PAUSE)
    os.kill(os.getpid(), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


__all__ = ["die_with"]
