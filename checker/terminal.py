"""What a stream can show: colour, how wide, which characters."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import TextIO

from counterexamples.render.page import Page


def page_for(stream: TextIO, colour: str, environment: Mapping[str, str] = os.environ) -> Page:
    """The page that fits a stream.  `colour` is `always`, `never` or `auto`: then a terminal gets colours unless
    `NO_COLOR` is set or `TERM` is `dumb`, and `FORCE_COLOR` gives them to any stream.  `COLUMNS` overrides the width of
    the terminal."""
    width = shutil.get_terminal_size((100, 24)).columns
    return Page(_wants_colour(stream, colour, environment), can_encode(stream, "✓✗·→┃"), width)


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


def _wants_colour(stream: TextIO, colour: str, environment: Mapping[str, str]) -> bool:
    if colour != "auto":
        return colour == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and environment.get("TERM") != "dumb"
