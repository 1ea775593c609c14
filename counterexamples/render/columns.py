"""Names and values in columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from counterexamples.render.page import Page, Piece, Style, cells, pad


@dataclass(frozen=True)
class Entry:
    """A name with what is there.  before: what was there, empty where there is nothing to compare with; remark: words
    beside or in place of a value."""

    name: str
    before: str = ""
    after: str = ""
    remark: str = ""
    style: Style = Style.PLAIN


def aligned(entries: Iterable[Entry], room: int, page: Page) -> list[list[Piece]]:
    """Entries under each other, at most `room` columns wide: names in a column, then `before → after`, `= after` where
    there is no before, or the remark; what is too wide goes on in the next line."""
    entries = [_clean(entry, page) for entry in entries]
    indent, gap = 2, 3
    limit = max(12, room // 2)
    column = max((cells(entry.name) for entry in entries if cells(entry.name) <= limit), default=0)
    start: Piece = (" " * indent, Style.PLAIN)
    deeper: Piece = (" " * (indent + 2), Style.PLAIN)
    lines: list[list[Piece]] = []
    for entry in entries:
        value = _value(entry, page)
        size = sum(cells(text) for text, _ in value)
        if cells(entry.name) <= limit and indent + column + gap + size <= room:
            lines.append([start, (pad(entry.name, column + gap), Style.PLAIN), *value])
            continue
        lines += [[start, (part, Style.PLAIN)] for part in page.wrap(entry.name, room - indent)]
        if indent + 2 + size <= room:
            lines.append([deeper, *value])
            continue
        for text, style in _parts(entry, page):
            lines += [[deeper, (part, style)] for part in page.wrap(text, room - indent - 2)]
    return lines


def _clean(entry: Entry, page: Page) -> Entry:
    return Entry(
        page.clean(entry.name), page.clean(entry.before), page.clean(entry.after), page.clean(entry.remark), entry.style
    )


def _value(entry: Entry, page: Page) -> list[Piece]:
    pieces: list[Piece] = []
    if entry.before:
        pieces += [(entry.before, Style.DIM), (f" {page.symbols.arrow} ", Style.DIM)]
    elif entry.after:
        pieces.append(("= ", Style.DIM))
    if entry.after:
        pieces.append((entry.after, Style.BOLD))
    if entry.remark:
        pieces.append((f"  ({entry.remark})" if entry.after else entry.remark, entry.style))
    return pieces


def _parts(entry: Entry, page: Page) -> list[Piece]:
    """The value in pieces that each begin a line."""
    found: list[Piece] = []
    if entry.before:
        found.append((entry.before, Style.DIM))
    if entry.after:
        found.append((f"{page.symbols.arrow if entry.before else '='} {entry.after}", Style.BOLD))
    if entry.remark:
        found.append((entry.remark, entry.style))
    return found
