"""How many processors there are for this process, and how many items to work on at a time."""

from __future__ import annotations

import os
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""In a container with a limit: microseconds of processor time, and in how many, or `max`."""
MOST = 4
"""By default no more items than this are worked on at a time: each may take gigabytes."""


def processors(quota: Path = _QUOTA) -> int:
    """How many processors this process may use: those that it is bound to, and no more than its container has."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        allowed, period = quota.read_text(encoding="ascii").split()
        return max(1, min(count, round(int(allowed) / int(period))))
    except (OSError, ValueError, ZeroDivisionError):
        return count


def default_workers(quota: Path = _QUOTA) -> int:
    """Half of the processors: beside the search, an item that takes its time has an engine in another process."""
    return max(1, min(MOST, processors(quota) // 2))


__all__ = ["MOST", "default_workers", "processors"]
