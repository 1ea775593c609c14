"""What the documentation quotes: sessions of the command, model text, the grammar, lists of modules.

`python -m tests.documentation --refresh` puts what is true now in place of what is quoted, in every page,
in the picture of a run and in the drawn traces (`tests.gallery`).

A page is Markdown with these fences:

  ```console              `$ counterpoint ...` or `$ echo $?`, each followed by what it prints; a line `…` stands for
                          lines left out, at most one in each answer
  ```cpt PATH             the whole of that file; `…` on a line of its own stands for lines left out
  ```cpt complete         a whole model
  ```cpt outline          a model in which `{ .. }` stands for bodies
  ```lark                 rules of the grammar, word for word

and between `<!-- modules FOLDER -->` and `<!-- end -->` one line for each module of a folder.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checker import cli

ROOT = Path(__file__).parent.parent
PACKAGES = ("spec", "counterexamples", "checker")
COLUMNS = 100
ELIDED = "…"

_OPEN = re.compile(r"^```(?P<info>\S.*)?$")
_MODULES = re.compile(r"<!-- modules (\S+) -->$")
_END = "<!-- end -->"
_SECONDS = re.compile(r"\bin \d+\.\d s\b")


@dataclass(frozen=True)
class Fence:
    """A fenced block. line: of its first line of text, from 1 on."""

    page: Path
    line: int
    info: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A command of a session and what the page says it prints."""

    line: str
    quoted: tuple[str, ...]


def pages() -> list[Path]:
    """All pages of the documentation."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def fences(page: Path) -> list[Fence]:
    found = []
    info: str | None = None
    begun = 0
    lines = page.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        if info is not None and line == "```":
            found.append(Fence(page, begun, info, "\n".join(lines[begun - 1 : number - 1])))
            info = None
        elif info is None and (match := _OPEN.match(line)):
            info, begun = match["info"] or "", number + 1
    if info is not None:
        raise ValueError(f"{page}:{begun}: the block is not closed")
    return found


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


# ------------------------------------------------------------------------------------------------------- sessions


def session(text: str) -> list[Command]:
    """The commands of a `console` block.  Raises ValueError when it does not begin with one."""
    commands: list[Command] = []
    for line in text.split("\n"):
        if line.startswith("$ "):
            commands.append(Command(line[2:], ()))
        elif commands:
            commands[-1] = Command(commands[-1].line, (*commands[-1].quoted, line))
        else:
            raise ValueError(f"no command: {line!r}")
    return commands


class Shell:
    """Runs the commands of sessions in this process, in the folder of the repository, 100 columns wide."""

    def __init__(self) -> None:
        self.code = 0

    def answer(self, line: str) -> tuple[str, ...]:
        """The lines that a command prints.  Raises ValueError for anything but `counterpoint` and `echo $?`."""
        if line == "echo $?":
            return (str(self.code),)
        words = shlex.split(line, comments=True)
        if words[0] != "counterpoint":
            raise ValueError(f"only counterpoint can be run here: {line}")
        self.code, printed = run(tuple(words[1:]))
        return tuple(text.rstrip() for text in printed.rstrip("\n").split("\n"))


@cache
def run(arguments: tuple[str, ...]) -> tuple[int, str]:
    """Exit code and output of the command, with nothing in the cache."""
    written = io.BytesIO()
    out = io.TextIOWrapper(written, encoding="utf-8", newline="\n")
    told = io.StringIO()
    try:
        with (
            tempfile.TemporaryDirectory() as kept,
            _environment(COLUMNS=str(COLUMNS), XDG_CACHE_HOME=kept, LOCALAPPDATA=kept),
            contextlib.chdir(ROOT),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(told),
        ):
            code = int(cli.execute(arguments))
    except SystemExit as stop:  # --help and --version
        code = int(stop.code or 0)
    out.flush()
    printed = written.getvalue().decode("utf-8")
    return code, printed + (told.getvalue() if code in (2, 3) else "")


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def timeless(text: str) -> str:
    """Without what differs from run to run."""
    return _SECONDS.sub("in N s", text)


def agrees(quoted: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether a quotation, of which `…` may leave out lines, is true."""
    said = [timeless(line.rstrip()) for line in quoted]
    printed = [timeless(line) for line in printed]
    if ELIDED not in said:
        return said == printed
    head, tail = _around(said)
    fits = len(head) + len(tail) < len(printed)
    return fits and printed[: len(head)] == head and (not tail or printed[-len(tail) :] == tail)


def _around(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines before and behind `…`.  Raises ValueError when there are several."""
    if lines.count(ELIDED) != 1:
        raise ValueError("only one … in an answer")
    at = lines.index(ELIDED)
    return list(lines[:at]), list(lines[at + 1 :])


def true_session(text: str) -> str:
    """A session with what the commands print now; what was left out is left out again, by counting lines."""
    shell = Shell()
    lines: list[str] = []
    for command in session(text):
        lines.append(f"$ {command.line}")
        printed = shell.answer(command.line)
        quoted = [line.rstrip() for line in command.quoted]
        if agrees(quoted, printed):
            lines += quoted
        elif ELIDED in quoted:
            head, tail = _around(quoted)
            lines += [*printed[: len(head)], ELIDED, *(printed[-len(tail) :] if tail else ())]
        else:
            lines += printed
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------- quotations


def is_excerpt(quoted: str, text: str) -> bool:
    """Whether `quoted` is `text` with parts left out where a line `…` stands."""
    place = 0
    parts = re.split(r"^\s*…\s*$\n?", quoted, flags=re.MULTILINE)
    for index, part in enumerate(parts):
        part = part.strip("\n")
        found = text.find(part, place)
        if found < 0 or (index == 0 and text[:found].strip()):
            return False
        place = found + len(part)
    return not text[place:].strip() or parts[-1].strip() == ""


def grammar_parts() -> dict[str, str]:
    """The rules of the grammar by the headings of its parts, without comments."""
    parts: dict[str, list[str]] = {}
    heading = ""
    for line in (ROOT / "spec" / "grammar.lark").read_text(encoding="utf-8").split("\n"):
        if match := re.match(r"// -{20,} (\w+)$", line):
            heading = match[1]
        elif not line.startswith(("//", "%")):
            parts.setdefault(heading or "a file", []).append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in parts.items()}


def modules(folder: str) -> list[str]:
    """One line of Markdown for each module of a folder: its path and the first sentence of its docstring."""
    lines = []
    for path in sorted((ROOT / folder).glob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        if docstring is None:
            continue
        first = " ".join(docstring.split("\n\n")[0].split())
        sentence = re.split(r"(?<=\.)\s+(?=[A-Z])", first)[0]
        lines.append(f"- `{path.relative_to(ROOT)}` {sentence}")
    return lines


def module_lists(page: Path) -> dict[str, list[str]]:
    """The lists of modules in a page, by folder."""
    lists: dict[str, list[str]] = {}
    folder = ""
    for line in page.read_text(encoding="utf-8").split("\n"):
        if match := _MODULES.match(line):
            folder = match[1]
            lists[folder] = []
        elif line == _END:
            folder = ""
        elif folder:
            lists[folder].append(line)
    return lists


# ------------------------------------------------------------------------------------------------------- refreshing


def refreshed(page: Path) -> str:
    """The page with everything it quotes as it is now."""
    lines = page.read_text(encoding="utf-8").split("\n")
    for fence in reversed(fences(page)):
        text = fence.text
        if fence.info == "console":
            text = true_session(text)
        elif fence.info.startswith("cpt ") and (ROOT / fence.info[4:]).is_file() and ELIDED not in text:
            text = (ROOT / fence.info[4:]).read_text(encoding="utf-8").rstrip("\n")
        elif fence.info.startswith("lark "):
            text = grammar_parts()[fence.info[5:]]
        begin = fence.line - 1
        lines[begin : lines.index("```", begin)] = text.split("\n")
    for begin in reversed([place for place, line in enumerate(lines, 1) if _MODULES.match(line)]):
        folder = _MODULES.sub(r"\1", lines[begin - 1])
        lines[begin : lines.index(_END, begin)] = modules(folder)
    return "\n".join(lines)


def _changed() -> Iterator[Path]:
    for page in pages():
        text = refreshed(page)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            yield page


if __name__ == "__main__":
    if sys.argv[1:] != ["--refresh"]:
        sys.exit("usage: python -m tests.documentation --refresh")
    for page in _changed():
        sys.stdout.write(f"{page.relative_to(ROOT)}\n")
    from tests import gallery, picture

    for drawn in gallery.refresh():
        sys.stdout.write(f"{drawn.relative_to(ROOT)}\n")
    if picture.refresh():
        sys.stdout.write(f"{picture.PICTURE.relative_to(ROOT)}\n")
