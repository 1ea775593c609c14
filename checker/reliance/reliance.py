"""What a proof relies on, as data: parts of the model without which the property is violated."""

from __future__ import annotations

from dataclasses import dataclass

from spec.source import Span


@dataclass(frozen=True)
class Needed:
    """Without this part a run of `steps` steps violates the property; `shortest`: and no shorter one does."""

    kind: str
    text: str
    span: Span | None
    steps: int
    shortest: bool


@dataclass(frozen=True)
class Open:
    """A part of which is not known whether the proof needs it, and why not."""

    kind: str
    text: str
    span: Span | None
    reason: str


@dataclass(frozen=True)
class Why:
    """needed and open; `tried`: how many parts were dropped, one at a time."""

    needed: tuple[Needed, ...]
    open: tuple[Open, ...]
    tried: int
