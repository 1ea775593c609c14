"""Reproduction files: all that is needed to repeat a run in which the tool contradicted itself."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path

from checker.version import VERSION
from spec.source import Source, Span


@dataclass(frozen=True)
class Failure:
    """The tool contradicted itself, or stumbled.

    message   what went wrong, in one sentence
    sources   the model's files: name and text
    choice    variant, constants, switches, faults and the other options, as the user gave them
    subject   the property or scenario in question, if any
    evidence  what shows the contradiction (a trace, states), as JSON values
    detail    a traceback, if there was an exception
    """

    message: str
    sources: tuple[tuple[str, str], ...] = ()
    choice: Mapping[str, object] = field(default_factory=dict)
    subject: str | None = None
    evidence: object = None
    detail: str | None = None


class OwnError(Exception):
    """Carries a failure to whoever talks to the user."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def document(failure: Failure, command: Sequence[str]) -> str:
    """The text of the reproduction file."""
    content = {
        "schema": "counterpoint-reproduction/1",
        "version": VERSION,
        "command": list(command),
        "message": failure.message,
        "choice": plain(failure.choice),
        "subject": failure.subject,
        "files": [{"name": name, "text": text} for name, text in failure.sources],
        "evidence": plain(failure.evidence),
        "traceback": failure.detail,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def write(failure: Failure, command: Sequence[str], folder: Path) -> Path:
    """Writes the reproduction file into `folder`, under a name that its content determines; answers its path.
    Raises OSError when it cannot be written."""
    text = document(failure, command)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    path = folder / f"counterpoint-failure-{digest}.json"
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".counterpoint-", delete=False) as file:
        file.write(text.encode("utf-8", "replace"))
    # Whatever has this name already, such as a link, is replaced and not written to.
    os.replace(file.name, path)
    return path


def plain(value: object) -> object:
    """`value` as JSON can hold it: dataclasses become objects, mappings with other keys become lists of pairs."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Enum():
            return value.value
        case Span(source=Source(name=name)):
            return f"{name}:{value.line}:{value.column}"
        case Mapping():
            if all(isinstance(key, str) for key in value):
                return {key: plain(item) for key, item in value.items()}
            return [[plain(key), plain(item)] for key, item in value.items()]
        case list() | tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return sorted((plain(item) for item in value), key=repr)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
        case _:
            return repr(value)
