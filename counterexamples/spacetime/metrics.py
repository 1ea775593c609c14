"""How wide text is, before any font is known: an estimate that common fonts stay below, and wrapping by it.

A picture is laid out once and shown with whatever fonts its reader has.  The widths are the greater of those of
Liberation Sans (which has Arial's) and of DejaVu Sans, one of the widest fonts that a browser may choose.
"""

from __future__ import annotations

import unicodedata
from enum import Enum


class Font(Enum):
    SANS = "sans"
    BOLD = "bold"
    MONO = "mono"
    STRONG = "strong"
    """Bold and monospaced."""


_SANS = (
    "324146846496782840405084323732346464646464646464646434348484845699696973786762787630506756877579677973676274"
    "6999696769403440845650626455646236646428285828986462646442534064608260605364346484"
)
_BOLD = (
    "354653847099883146465384384238377070707070707070707040408484846299787774846969838438567864998486748678736982"
    "7899787373463746845650687260726844727235356735997269727250604872669365665972377284"
)
"""Hundredths of the font's size, two digits for each character from the blank to the tilde; 99: the widest."""

MONO_WIDTH = 0.605
"""Of the font's size, for each character of ASCII in monospaced fonts."""

ELLIPSIS = "…"


def _table(digits: str) -> tuple[float, ...]:
    return tuple(1.12 if d == "99" else int(d) / 100 for d in (digits[i : i + 2] for i in range(0, 190, 2)))


_TABLES = {Font.SANS: _table(_SANS), Font.BOLD: _table(_BOLD)}


def text_width(text: str, size: float, font: Font = Font.SANS) -> float:
    """The most that the text takes in a font of this size, in the same unit."""
    return size * sum(_width(c, font) for c in text)


def _width(c: str, font: Font) -> float:
    place = ord(c) - 32
    if 0 <= place < 95:
        return MONO_WIDTH if font in (Font.MONO, Font.STRONG) else _TABLES[font][place]
    if unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.3 if unicodedata.east_asian_width(c) in ("W", "F") else 1.05


def shorten(text: str, room: float, size: float, font: Font = Font.SANS) -> str:
    """The text, its end replaced by an ellipsis where it is too wide."""
    if text_width(text, size, font) <= room:
        return text
    head = _head(text, room - text_width(ELLIPSIS, size, font), size, font)
    return head.rstrip() + ELLIPSIS


def wrap(text: str, room: float, size: float, font: Font = Font.SANS, most: int | None = None) -> list[str]:
    """The text on lines that are at most `room` wide, broken at blanks where possible; at most `most` lines, the last
    of which then ends in an ellipsis."""
    lines: list[str] = []
    rest = text.strip()
    while text_width(rest, size, font) > room:
        if most is not None and len(lines) == most - 1:
            return [*lines, shorten(rest, room, size, font)]
        head = _head(rest, room, size, font)
        split = len(head)
        if not rest[split:].startswith(" "):
            blank = head.rfind(" ")
            seam = max(head.rfind(c) for c in ".,([{_") + 1
            split = blank if blank > split // 3 else seam if seam > split // 3 else split
        lines.append(rest[:split].rstrip())
        rest = rest[split:].lstrip()
    return [*lines, rest] if rest or not lines else lines


def _head(text: str, room: float, size: float, font: Font) -> str:
    """As much of the beginning as fits; at least one character, so that wrapping ends."""
    total = 0.0
    for i, c in enumerate(text):
        total += size * _width(c, font)
        if total > room and i and unicodedata.category(c) not in ("Mn", "Me"):
            return text[:i]
    return text
