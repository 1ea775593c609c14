"""Which tool a kept result is of: its version, the contents of its own source files, and the libraries that decide.

A checkout that is worked on changes while its version stays, and a proof by yesterday's code is none of today's.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from checker.version import LOADED, VERSION

SEMANTICS = 1
"""The version of what models mean and of what verdicts rest on.  A higher number makes everything run again."""
LIBRARIES = ("lark", "numpy", "python-sat", "scipy", "z3-solver")
"""The distributions that parse and decide."""
PACKAGES = ("checker", "counterexamples", "spec")
_SUFFIXES = frozenset({".py", ".lark", ".json"})
_ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Identity:
    """digest: of all that makes the tool.  files: its source files as they were then: path, size, time of the last
    change."""

    digest: str
    files: tuple[tuple[Path, int, int], ...]

    def is_still_true(self) -> bool:
        """Whether no source file has changed since; a run that lasts may be overtaken by its own sources."""
        try:
            return all(_stamp(path) == (size, changed) for path, size, changed in self.files)
        except OSError:
            return False


@cache
def identity() -> Identity | str:
    """The identity of the running tool; or why it is not known, which is that its source files cannot be read, or have
    changed since it was started."""
    try:
        return _identity(_ROOT, LOADED)
    except (OSError, metadata.PackageNotFoundError) as error:
        return f"its own files cannot be read ({type(error).__name__}: {error})"


def _identity(root: Path, loaded: float) -> Identity | str:
    whole = hashlib.sha256()
    for part in (str(SEMANTICS), VERSION, f"{sys.implementation.name} {sys.version_info[:3]}"):
        whole.update(f"{part}\0".encode())
    for name in LIBRARIES:
        whole.update(f"{name} {metadata.version(name)}\0".encode())
    files = []
    for path in _sources(root):
        size, changed = _stamp(path)
        if loaded < changed / 1e9 <= time.time():
            return f"{path.name} has changed since it was started"
        name = path.relative_to(root).as_posix()
        whole.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        files.append((path, size, changed))
    if not files:
        return "it has no source files"
    return Identity(whole.hexdigest(), tuple(files))


def _sources(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted(path for path in (root / package).rglob("*") if path.suffix in _SUFFIXES and path.is_file())


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
