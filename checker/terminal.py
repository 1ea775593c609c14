"""What a stream can show: colour, how wide, which characters."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from counterexamples.render.page import Page


def page_for(stream: TextIO, colour: str, environment: Mapping[str, str] = os.environ) -> Page:
    """The page that fits a stream.  `colour` is `always`, `never` or `auto`: then a terminal gets colours unless
    `NO_COLOR` is set or `TERM` is `dumb`, and `FORCE_COLOR` gives them to any stream.  `COLUMNS` overrides the width of
    the terminal."""
    from counterexamples.render.page import Page

    width = shutil.get_terminal_size((100, 24)).columns
    return Page(wants_colour(stream, colour, environment), can_encode(stream, "✓✗·→┃"), width)


def harmless(text: str, colour: bool = False) -> str:
    """The text as it may be written to a stream whose other end acts on what it reads: a terminal (escapes, and
    characters that turn lines round or show nothing), or a CI runner that takes commands from the log.  What is not
    printable is written as an escape of JSON, and so is the first character of a command, so that a JSON document stays
    the same document.  colour: the colours that reports have are let through."""
    if text.isascii() and not _SUSPECT.search(text):
        return text
    found = _COMMAND.sub(lambda match: match[1] + _escape(match[2]), text)
    if colour:
        parts = _COLOUR.split(found)
        return "".join(part if place % 2 else _printable(part) for place, part in enumerate(parts))
    return _printable(found)


_SUSPECT = re.compile(r"[^\n\t\x20-\x7e]|##|^[ ]*::", re.MULTILINE)
_COMMAND = re.compile(r"(^[^\S\n]*|##\w*)(:(?=:[^:])|\[)", re.MULTILINE)
"""What GitHub's runner (`::name::`, `##[name]`), Azure's and TeamCity's (`##word[`) take for commands."""
_COLOUR = re.compile("(\x1b\\[(?:0|2|1|1;3[0-7]|3[0-7]|9[0-7])m)")


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escape(c) for c in text)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def is_terminal(stream: TextIO) -> bool:
    """False for a closed stream too."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def never_fail_to_encode(*streams: TextIO) -> None:
    """Makes streams write a substitute for what their encoding lacks, instead of raising."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")


def can_encode(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def wants_colour(stream: TextIO, colour: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a stream gets colours; see `page_for`."""
    if colour != "auto":
        return colour == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and environment.get("TERM") != "dumb"
