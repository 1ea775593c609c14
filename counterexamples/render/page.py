"""Lines of styled text on a terminal: width, colours, and characters that the terminal can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from spec.diagnostic import visible


class Style(Enum):
    """What a piece of text is; the value is its ANSI SGR code."""

    PLAIN = ""
    DIM = "2"
    BOLD = "1"
    FAULT = "1;31"
    RECOVERY = "32"
    BAD = "31"
    GOOD = "1;32"
    DOUBT = "1;33"
    ACTOR_0 = "36"
    ACTOR_1 = "35"
    ACTOR_2 = "34"
    ACTOR_3 = "33"
    ACTOR_4 = "96"
    ACTOR_5 = "95"


ACTORS = (Style.ACTOR_0, Style.ACTOR_1, Style.ACTOR_2, Style.ACTOR_3, Style.ACTOR_4, Style.ACTOR_5)

Piece = tuple[str, Style]


@dataclass(frozen=True)
class Symbols:
    """The marks of a page; each of the first four is one column wide."""

    fault: str
    recovery: str
    bar: str
    ellipsis: str
    arrow: str
    to: str
    times: str


_UNICODE = Symbols(fault="✗", recovery="↻", bar="┃", ellipsis="…", arrow="→", to="⇒", times="×")
_ASCII = Symbols(fault="X", recovery="+", bar="|", ellipsis="~", arrow="->", to="=>", times="x")


@dataclass(frozen=True)
class Page:
    """colour: with ANSI escapes; unicode: with characters beyond ASCII; width: columns, at least 40."""

    colour: bool = False
    unicode: bool = True
    width: int = 100

    @property
    def columns(self) -> int:
        return max(40, self.width)

    @property
    def symbols(self) -> Symbols:
        return _UNICODE if self.unicode else _ASCII

    def clean(self, text: str) -> str:
        """The text on one line, with everything that would move the cursor, reorder the line, show nothing, or (in
        ASCII) not be representable written as an escape; tabs and line breaks between words become one blank."""
        shown = visible("".join(" " if c in "\t\n\r" else c for c in text))
        return shown if self.unicode else shown.encode("ascii", "backslashreplace").decode("ascii")

    def line(self, pieces: Sequence[Piece]) -> str:
        """One line, without blanks at its end; the pieces must be clean."""
        shown = list(pieces)
        while shown and not shown[-1][0].strip():
            shown.pop()
        if not shown:
            return ""
        shown[-1] = (shown[-1][0].rstrip(), shown[-1][1])
        if not self.colour:
            return "".join(text for text, _ in shown)
        return "".join(
            f"\x1b[{style.value}m{text}\x1b[0m" if style.value and text.strip() else text for text, style in shown
        )

    def cut(self, text: str, width: int) -> str:
        """The text, its end replaced by an ellipsis where it is too wide."""
        if cells(text) <= width:
            return text
        return _head(text, width - 1) + self.symbols.ellipsis

    def cut_left(self, text: str, width: int) -> str:
        """As `cut`, keeping the end."""
        if cells(text) <= width:
            return text
        return self.symbols.ellipsis + _head(text[::-1], width - 1)[::-1]

    def wrap(self, text: str, width: int, most: int | None = None) -> list[str]:
        """The text on lines of at most `width` columns, broken at blanks where possible; at most `most` lines, the
        last of which then ends in an ellipsis.  A clean text stays clean."""
        lines: list[str] = []
        rest = text.strip()
        while cells(rest) > width:
            if most is not None and len(lines) == most - 1:
                return [*lines, self.cut(rest, width)]
            head = _head(rest, width)
            blank = head.rfind(" ") if not rest[len(head) :].startswith(" ") else len(head)
            split = blank if blank > width // 3 else len(head)
            lines.append(rest[:split].rstrip())
            rest = rest[split:].lstrip()
        return [*lines, rest] if rest or not lines else lines


def cells(text: str) -> int:
    """How many columns a terminal uses for a clean text."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _head(text: str, width: int) -> str:
    """As much of the beginning as fits; at least one character, so that wrapping ends."""
    total = 0
    for i, c in enumerate(text):
        total += cells(c)
        if total > width and i:
            return text[:i]
    return text


def pad(text: str, width: int) -> str:
    """The text with blanks up to the width."""
    return text + " " * max(0, width - cells(text))
