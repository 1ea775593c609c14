"""A bound on the memory of items, which holds whatever an engine does: from outside, by looking at the processes.

A limit of the operating system on the address space would not do: libraries in C++ end the whole process when they are
refused memory, and what is reserved is much more than what is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import psutil

from checker.planning.shortage import SOON

_UNITS = (("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10))
_FAMILY = 0.25
"""Seconds between two looks at which processes there are."""
_CLOSELY = 0.15
"""Seconds between two measurements that tell shared memory apart."""


def in_words(size: int) -> str:
    """`2 GB`, `1.5 GB`."""
    for unit, factor in _UNITS:
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


@dataclass
class Usage:
    """What the processes of an item use.  own: that of the item itself; engines: of those below it, by number."""

    own: int
    engines: Mapping[int, int]

    @property
    def total(self) -> int:
        return self.own + sum(self.engines.values())


@dataclass
class Gauge:
    """Measures the resident memory of a process and all below it, quickly where that is far from the bound: then what
    several of them share is counted for each."""

    pid: int
    bound: int
    _family: list[psutil.Process] = field(default_factory=list)
    _looked: float = 0.0
    _measured: float = 0.0
    _exact: Usage | None = None

    def read(self) -> Usage | None:
        """None where the process has ended."""
        now = time.monotonic()
        try:
            if now - self._looked > _FAMILY:
                self._looked = now
                parent = psutil.Process(self.pid)
                self._family = [parent, *parent.children(recursive=True)]
            rough = self._sum(_resident)
            if rough is None or rough.total <= self.bound * SOON:
                return rough
            if self._exact is None or now - self._measured > _CLOSELY:
                self._measured = now
                self._exact = self._sum(_proportional)
            return self._exact
        except psutil.NoSuchProcess:
            return None

    @property
    def told(self) -> str:
        return in_words(self.bound)

    def forget(self) -> None:
        """A process was killed: all is looked at anew."""
        self._looked = self._measured = 0.0
        self._exact = None

    def _sum(self, measure: Callable[[psutil.Process], int]) -> Usage | None:
        found: dict[int, int] = {}
        for process in self._family:
            try:
                found[process.pid] = measure(process)
            except psutil.Error:
                # It has ended meanwhile, or is about to.
                continue
        if self.pid not in found:
            return None
        own = found.pop(self.pid)
        return Usage(own, found)


def _resident(process: psutil.Process) -> int:
    return int(process.memory_info().rss)


def _proportional(process: psutil.Process) -> int:
    """Of memory that n processes share, the n-th part, where the system tells; else what is not shared at all."""
    found = process.memory_full_info()
    return int(getattr(found, "pss", 0) or found.uss)


__all__ = ["Gauge", "Usage", "in_words"]
