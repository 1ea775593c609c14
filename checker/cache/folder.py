"""A folder of kept texts, each under its key.

Many processes may use it at once, and any may be killed at any time: a text is written beside its place and then put
there in one move (`os.replace`), so a reader sees the whole of one or nothing.  What is not an ordinary file of this
user is no text.  When the folder is full, those that were not read for the longest time go.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 256_000_000
"""The size that a folder may have."""
LARGEST = 32_000_000
"""The size that one text may have."""
_ENTRY = re.compile(r"[0-9a-f]{64}\.result")
_UNFINISHED = re.compile(r"\.unfinished-\w+")
_ABANDONED = 3600.0
"""Seconds after which nobody is still writing a file."""
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Results of counterpoint.  All of it may be deleted.\n"
"""What backup programs look for: the Cache Directory Tagging Specification."""


class Folder:
    """The texts of one folder, which is made when the first is written."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self._most_bytes = most_bytes

    def read(self, key: str) -> bytes | None:
        """The text under a key, if there is one.  Raises OSError when there is, and it cannot be read."""
        path = self._place(key)
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                return None
            number = os.open(path, flags)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with os.fdopen(number, "rb") as file:
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST or not _is_own(status):
                return None
            text = file.read(LARGEST + 1)
        with contextlib.suppress(OSError):
            # When it was last of use says which texts go first.
            os.utime(path)
        return text if len(text) <= LARGEST else None

    def write(self, key: str, text: bytes) -> None:
        """Puts a text in its place; one that is too large is left out.  Raises OSError when that is not possible."""
        if len(text) > LARGEST:
            return
        self._make()
        number, name = tempfile.mkstemp(prefix=".unfinished-", dir=self.path)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(text)
            os.replace(name, self._place(key))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        self._trim()

    def drop(self, key: str) -> None:
        """Takes a text away, if it is there and that is possible."""
        with contextlib.suppress(OSError):
            self._place(key).unlink()

    def _place(self, key: str) -> Path:
        return self.path / f"{key}.result"

    def _make(self) -> None:
        if self.path.is_dir():
            return
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            (self.path / "CACHEDIR.TAG").write_text(_TAG, encoding="ascii")
            (self.path / ".gitignore").write_text("*\n", encoding="ascii")

    def _trim(self) -> None:
        """Takes away what is too much, and what killed processes have left."""
        now = time.time()
        kept: list[tuple[float, int, str]] = []
        with contextlib.suppress(OSError):
            for name, path, status in self._files():
                if _UNFINISHED.fullmatch(name):
                    if now - status.st_mtime > _ABANDONED:
                        with contextlib.suppress(OSError):
                            os.unlink(path)
                elif _ENTRY.fullmatch(name):
                    kept.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in kept)
        for _, size, path in sorted(kept):
            if total <= self._most_bytes:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size

    def _files(self) -> Iterator[tuple[str, str, os.stat_result]]:
        with os.scandir(self.path) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    yield entry.name, entry.path, entry.stat(follow_symlinks=False)


def _is_own(status: os.stat_result) -> bool:
    """Whether nobody else can have written the file; where that cannot be told, it counts as so."""
    user = getattr(os, "geteuid", lambda: status.st_uid)()
    return status.st_uid in (user, 0)


__all__ = ["LARGEST", "MOST_BYTES", "Folder"]
