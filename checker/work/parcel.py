"""Items and reports as bytes, to go from one process to another of the same version, and nowhere else.

The bytes are a pickle, so whoever can choose them can run code: they never come from a file.  A report loses nothing
that is shown of it or written down: the invariant of a proof is put into words before it leaves, and of a closed set
that is small enough to be written down the states are listed.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, TypeVar

from checker.certificates.certificate import Certificate
from checker.certificates.invariance import InvariantCertificate
from checker.engines.engine import ClosedSet
from checker.liveness.live_certificate import RoundsCertificate
from checker.result import VariantReport
from checker.transition_system import State
from checker.work.item import Item

_DEPTH = 5_000
"""Of the nesting of what is packed; the type checker allows as much."""


class Unpackable(Exception):
    """The bytes are no item or report, or not of this version."""


def pack(content: Item | VariantReport) -> bytes:
    """The bytes that `unpack_item` or `unpack_report` makes the same of."""
    file = io.BytesIO()
    with _deeply():
        _Packer(file, protocol=5).dump(content)
    return file.getvalue()


def unpack_item(data: bytes) -> Item:
    """Raises Unpackable."""
    content = _unpacked(data)
    if not isinstance(content, Item):
        raise Unpackable(f"not an item but {type(content).__name__}")
    return content


def unpack_report(data: bytes) -> VariantReport:
    """Raises Unpackable."""
    content = _unpacked(data)
    if not isinstance(content, VariantReport):
        raise Unpackable(f"not a report but {type(content).__name__}")
    return content


def _unpacked(data: bytes) -> object:
    try:
        with _deeply():
            return pickle.loads(data)
    except Exception as error:
        raise Unpackable(f"{type(error).__name__}: {error}") from error


@contextmanager
def _deeply() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class _Packer(pickle.Pickler):
    def reducer_override(self, content: object) -> Any:
        match content:
            case Certificate(closed_set=found) if found is not None and not isinstance(found, Listed):
                return replace(content, closed_set=Listed.of(found)).__reduce_ex__(5)
            case InvariantCertificate():
                return replace(content, told=partial(_same, content.told())).__reduce_ex__(5)
            case RoundsCertificate():
                return replace(content, told=partial(_same, content.told())).__reduce_ex__(5)
        return NotImplemented


_Words = TypeVar("_Words")


def _same(words: _Words) -> _Words:
    """A proof in words, once they are known."""
    return words


@dataclass(frozen=True)
class Listed:
    """The states of a closed set (see `checker.engines.engine.ClosedSet`) that has been checked, without what a check
    takes."""

    states: tuple[State, ...]
    symmetric: bool

    @classmethod
    def of(cls, closed_set: ClosedSet) -> Listed:
        return cls(tuple(closed_set.sample(len(closed_set), 0)), closed_set.symmetric)

    def __len__(self) -> int:
        return len(self.states)

    def __contains__(self, state: State) -> bool:
        """Whether the state itself is listed."""
        return state in self.states

    def sample(self, count: int, seed: int) -> Iterator[State]:
        yield from self.states if count >= len(self.states) else Random(seed).sample(self.states, count)

    def recheck(self) -> str | None:
        """These states were checked where they were found, and cannot be checked again."""
        return "only a list of the states is left of the set"


__all__ = ["Listed", "Unpackable", "pack", "unpack_item", "unpack_report"]
