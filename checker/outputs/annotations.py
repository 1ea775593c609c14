"""What is wrong as annotations of a pull request, in the workflow commands that GitHub's runners read from a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.outputs.complaint import Complaint, Level
from spec.diagnostic import visible

_MOST = 10
"""GitHub shows so many annotations of each level for a step, and drops the rest in silence."""
_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def annotated(found: Iterable[Complaint]) -> Iterator[str]:
    """One line each, errors first; where there are too many of a level, the last says how many more there are.
    What is refuted as expected is not annotated."""
    listed = list(found)
    for level in (Level.ERROR, Level.WARNING):
        here = [complaint for complaint in listed if complaint.level is level]
        room = _MOST if len(here) <= _MOST else _MOST - 1
        yield from map(_line, here[:room])
        if len(here) > room:
            yield f"::{_COMMANDS[level]} title=counterpoint::and {len(here) - room} more; the log has them all"


def _line(complaint: Complaint) -> str:
    named = ", ".join(filter(None, (complaint.variant and f"variant {complaint.variant}", complaint.message)))
    place = ""
    if complaint.span is not None:
        end_line, _ = complaint.span.source.position(complaint.span.end)
        place = (
            f"file={_property(complaint.span.source.name)},line={complaint.span.line},endLine={end_line},"
            f"col={complaint.span.column},"
        )
    return f"::{_COMMANDS[complaint.level]} {place}title={_property(f'counterpoint: {complaint.rule}')}::{_data(named)}"


def _data(text: str) -> str:
    return visible(text, "\r\n").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


__all__ = ["annotated"]
