"""Reading a file that may be anything: only an ordinary file is read, and no more of it than is wanted.

A pipe or a device is never opened, and a file that grows, or that has no size (as those in `/proc`), is cut off.
"""

from __future__ import annotations

import os
import stat
from enum import Enum
from pathlib import Path


class Unreadable(Enum):
    """Why a file cannot be read."""

    MISSING = "does not exist"
    NOT_IN_A_FOLDER = "does not exist: a part of its path is not a folder"
    FOLDER = "is a folder"
    NOT_ORDINARY = "is not an ordinary file"
    TOO_LARGE = "is too large"
    FORBIDDEN = "may not be read: permission denied"
    OTHER = "cannot be read"


class UnreadableError(Exception):
    """why: the kind of reason; told: it in words, to stand behind the file's name; size: how many bytes a file has that
    is too large."""

    def __init__(self, why: Unreadable, told: str, size: int = 0) -> None:
        super().__init__(told)
        self.why = why
        self.told = told
        self.size = size


def read_bytes(path: Path, most: int) -> bytes:
    """The content of an ordinary file of at most `most` bytes.  Raises UnreadableError."""
    try:
        _require_ordinary(os.stat(path), most)
        # What has become a pipe since then does not block.
        with open(os.open(path, _FLAGS), "rb") as file:
            _require_ordinary(os.fstat(file.fileno()), most)
            data = file.read(most + 1)
    except UnreadableError:
        raise
    except FileNotFoundError:
        raise _unreadable(Unreadable.MISSING) from None
    except NotADirectoryError:
        raise _unreadable(Unreadable.NOT_IN_A_FOLDER) from None
    except PermissionError:
        raise _unreadable(Unreadable.FORBIDDEN) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableError(Unreadable.OTHER, f"{Unreadable.OTHER.value}: {reason}") from None
    if len(data) > most:
        raise _too_large(len(data), most, "at least ")
    return data


def read_text(path: Path, most: int) -> str:
    """The same as text in UTF-8.  Raises UnreadableError for what is none, too."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        told = f"is not text in UTF-8: byte {error.start} is wrong"
        raise UnreadableError(Unreadable.OTHER, told) from None


_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _require_ordinary(status: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise _unreadable(Unreadable.FOLDER)
    if not stat.S_ISREG(status.st_mode):
        raise _unreadable(Unreadable.NOT_ORDINARY)
    if status.st_size > most:
        raise _too_large(status.st_size, most)


def _too_large(size: int, most: int, lead: str = "") -> UnreadableError:
    return UnreadableError(Unreadable.TOO_LARGE, f"has {lead}{size:,} bytes, and {most:,} is the most", size)


def _unreadable(why: Unreadable) -> UnreadableError:
    return UnreadableError(why, why.value)
