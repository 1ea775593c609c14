"""What stands in a file of the cache: a line that says what follows, and the report as JSON.

It may have been damaged, or come from elsewhere, as caches of CI systems do: it is never executed, and what is not
exactly what was written is no entry.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

SCHEMA = "counterpoint-result/1"


@dataclass(frozen=True)
class Entry:
    """decided: when the verdicts were found, as ISO 8601 has it.  seconds: what time the check had, if more may lead to
    a better run; else None.  report: the data of `checker.cache.encoding`."""

    decided: str
    seconds: float | None
    report: Any


def write(entry: Entry, key: str) -> bytes:
    """The content of the file."""
    told = {"decided": entry.decided, "seconds": entry.seconds, "report": entry.report}
    body = json.dumps(told, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    return _head(key, body) + b"\n" + body


def _head(key: str, body: bytes) -> bytes:
    told = {"schema": SCHEMA, "key": key, "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(told).encode("ascii")


def read(text: bytes, key: str) -> Entry:
    """The entry in a file.  Raises ValueError or RecursionError for anything but what `write` has made for the key."""
    head, _, body = text.partition(b"\n")
    if head != _head(key, body):
        raise ValueError("the file is of another key or version, or damaged")
    told = json.loads(body)
    if not isinstance(told, dict) or told.keys() != {"decided", "seconds", "report"}:
        raise ValueError("the file has other parts than an entry")
    decided, seconds = told["decided"], told["seconds"]
    if not isinstance(decided, str) or not (seconds is None or type(seconds) in (int, float)):
        raise ValueError("the entry does not say when it was decided, or in what time")
    return Entry(decided, seconds, told["report"])


__all__ = ["SCHEMA", "Entry", "read", "write"]
