"""The pictures of the documentation that `counterpoint draw` and `sweep` make, by the commands that stand beside them.

A page says `counterpoint draw MODEL .. -o docs/pictures/FILE.svg`, in a block or in the text, and shows that file.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from checker import cli
from checker.arguments import parse
from checker.commands.draw import links_to, picture
from checker.commands.trace import load_trace
from checker.traces.trace_source import NamedTrace
from tests.documentation import ROOT, pages

_SWEEP = re.compile(r"counterpoint (sweep [^`\n]*)-o (docs/pictures/\S+\.svg)")
_COMMAND = re.compile(r"counterpoint (draw [^`\n]*-o (docs/pictures/\S+\.svg))")


def commands() -> dict[Path, str]:
    """The command for each picture, without the program's name."""
    found: dict[Path, str] = {}
    for page in pages():
        for command, file in _COMMAND.findall(page.read_text(encoding="utf-8")):
            found[ROOT / file] = command
    return found


def traced(command: str) -> NamedTrace:
    """What a command draws."""
    with contextlib.chdir(ROOT):
        return load_trace(parse(shlex.split(command)))


def drawn(command: str, found: NamedTrace) -> str:
    """The picture that a command makes of what it draws."""
    arguments = parse(shlex.split(command))
    with contextlib.chdir(ROOT):
        return picture(found, links_to(arguments.link, arguments.output))


def sweeps() -> dict[Path, str]:
    """The command for each picture of a sweep, without the program's name and the file."""
    found = [each for page in pages() for each in _SWEEP.findall(page.read_text(encoding="utf-8"))]
    return {ROOT / file: command for command, file in found}


def swept(command: str) -> str:
    """The picture that a sweep makes."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(ROOT):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cli.execute([*shlex.split(command), "-o", f"{folder}/sweep.svg"])
        return Path(folder, "sweep.svg").read_text(encoding="utf-8")


def pictures() -> Iterator[tuple[Path, str]]:
    """All pictures as they are now, each drawn when it is asked for."""
    for file, command in commands().items():
        yield file, drawn(command, traced(command))
    for file, command in sweeps().items():
        yield file, swept(command)


def refresh() -> Iterator[Path]:
    """Draws anew what is not true any more."""
    for file, now in pictures():
        if not file.exists() or file.read_text(encoding="utf-8") != now:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(now, encoding="utf-8")
            yield file
