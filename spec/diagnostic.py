"""What is wrong with a model, as data.  `spec.snippet` draws it; `spec.codes` explains the codes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from spec.source import Span


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Note:
    """A remark that belongs to a diagnostic; with a span, a second place to look at."""

    message: str
    span: Span | None = None


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning.

    code      a key of `spec.codes.CODES`: E... for errors, W... for warnings
    message   one sentence without a full stop: what was found and what was expected
    span      where; None when there is no place in a source (a file that does not exist)
    notes     further places and remarks
    fix       what to write instead, when there is a likely fix
    """

    code: str
    message: str
    span: Span | None
    notes: tuple[Note, ...] = ()
    fix: str | None = None
    severity: Severity = Severity.ERROR


@dataclass(frozen=True)
class Code:
    """An entry of the table of codes, for `counterpoint explain CODE`.

    code         E0xx files and imports, E1xx syntax, E2xx and above types; W... warnings
    title        what is wrong, in a few words
    explanation  one or more paragraphs: why it is wrong and what to do
    wrong        a small complete model that yields this code
    right        the same model put right; it yields no error
    is_model     False when the error is not in the text of a model (a missing file, a wrong option): `wrong` and
                 `right` are then command lines
    """

    code: str
    title: str
    explanation: str
    wrong: str
    right: str
    is_model: bool = True


def visible(text: str, but: str = "") -> str:
    """`text` with every control character (and every other character that a terminal may act on or hide) written as
    an escape, so that a file cannot play tricks with the terminal that shows a message about it.  but: characters that
    stay as they are."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in but else c.encode("unicode_escape").decode("ascii") for c in text)
