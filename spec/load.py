"""Reads a model file and everything it imports."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from spec import syntax
from spec.alarm import TimeIsUp, within
from spec.diagnostic import Diagnostic, visible
from spec.parse import parse
from spec.project import Project, real
from spec.regular_file import Unreadable, UnreadableError, read_bytes
from spec.source import Source, Span

MAX_BYTES = 5_000_000
"""The largest file that is read."""

MAX_CHAIN = 50
"""How many files may import one another in a row."""

MAX_FILES = 200
"""How many files a model may have."""

MAX_TOTAL = 10_000_000
"""How many bytes they may have together."""

SECONDS = 60.0
"""The time for reading a model, where none is given."""


def load(
    path: Path, library: Path, project: Project | None = None, seconds: float = SECONDS
) -> syntax.Module | tuple[Diagnostic, ...]:
    """The items of a file and of what it imports, each file once, imported files before those that import them; or all
    errors of reading and of syntax.  Imports are looked up relative to the importing file, then in `library`.  Nothing
    is read outside of `project` (None: the file's own folder) and `library`, but the file itself where it was named.
    It may take so many seconds."""
    loader = _Loader(library, project or Project(real(path.parent) or path.parent.absolute()))
    try:
        main = within(max(seconds, LEAST_SECONDS), lambda: loader.read(path, path.as_posix(), None))
    except TimeIsUp:
        message = f"reading `{visible(path.as_posix())}` and what it imports took longer than --timeout allows"
        return (Diagnostic("E016", message, None, fix=MORE_TIME),)
    if loader.errors or main is None:
        return tuple(loader.errors)
    too_many = _too_many(loader.items)
    if too_many:
        return too_many
    return syntax.Module(main.source, main.doc, tuple(loader.items))


_MOST: Mapping[type[syntax.Item], tuple[str, int]] = {
    syntax.Property: ("properties", 2_000),
    syntax.Scenario: ("scenarios", 1_000),
    syntax.Variant: ("variants", 1_000),
    syntax.Expectation: ("expectations", 5_000),
    syntax.Process: ("processes", 1_000),
}
"""How many declarations of a kind a model may have."""


def _too_many(items: Sequence[syntax.Item]) -> tuple[Diagnostic, ...]:
    counted: Counter[type[syntax.Item]] = Counter()
    found = []
    for item in items:
        counted[type(item)] += 1
        what, most = _MOST.get(type(item), ("", len(items)))
        if counted[type(item)] == most + 1:
            found.append(Diagnostic("E294", f"the model has more than {most:,} {what}", item.span))
    return tuple(found)


LEAST_SECONDS = 1.0
"""The time that reading a model has at least, and each check of its types."""

MORE_TIME = "make the model smaller, or give it more time: --timeout SECONDS"


class _Loader:
    def __init__(self, library: Path, project: Project) -> None:
        self._library = library
        self._shipped = Project(real(library) or library)
        self._project = project
        self._done: set[Path] = set()
        self._chain: list[tuple[Path, str]] = []
        self._bytes = 0
        self.items: list[syntax.Item] = []
        self.errors: list[Diagnostic] = []

    def read(self, path: Path, name: str, importer: Span | None) -> syntax.File | None:
        """Reads one file, its imports first.  importer: the `import` that asked for it."""
        if importer is None and self._project.walked:
            found = self._inside(path)
            if found is None:
                self.errors.append(self._outside(f"`{visible(name)}`", None))
                return None
        else:
            found = real(path) or path
        source = self._source(found, path, name, importer)
        if isinstance(source, Diagnostic):
            self.errors.append(source)
            return None
        file = parse(source)
        self._done.add(found)
        if not isinstance(file, syntax.File):
            self.errors.extend(file)
            return None
        self._chain.append((found, name))
        for wanted in file.imports:
            self._import(wanted, path)
        self._chain.pop()
        self.items.extend(file.items)
        return file

    def _import(self, wanted: syntax.Import, importer: Path) -> None:
        text, span = wanted.path.text, wanted.path.span
        found = self._find(text, span, importer)
        if isinstance(found, Diagnostic):
            self.errors.append(found)
            return
        path, name = found
        identity = real(path) or path
        open_files = [file for file, _ in self._chain]
        if identity in open_files:
            cycle = [name for _, name in self._chain[open_files.index(identity) :]]
            if len(cycle) == 1:
                message = "the file imports itself"
            else:
                message = "the imports go in a circle: " + " -> ".join(
                    f"`{visible(name)}`" for name in [*cycle, cycle[0]]
                )
            self.errors.append(Diagnostic("E011", message, span, fix="move what both need to a file of its own"))
        elif identity in self._done:
            return
        elif len(self._chain) >= MAX_CHAIN:
            message = f"more than {MAX_CHAIN} files import one another in a row"
            self.errors.append(Diagnostic("E013", message, span, fix="import fewer files, and these directly"))
        elif len(self._done) >= MAX_FILES:
            if not any(error.code == "E015" for error in self.errors):
                message = f"the model has more than {MAX_FILES} files"
                self.errors.append(Diagnostic("E015", message, span, fix="import fewer files"))
        else:
            self.read(path, name, span)

    def _find(self, text: str, span: Span, importer: Path) -> tuple[Path, str] | Diagnostic:
        """The imported file and how to call it."""
        if not text.strip():
            return Diagnostic("E010", "an import has an empty path", span, fix='write `import "lib/name.cpt"`')
        if os.path.isabs(text) or text.startswith("~") or "\\" in text or ":" in text.split("/", 1)[0]:
            return Diagnostic(
                "E012",
                f"the import `{visible(text)}` is not a relative path with `/`",
                span,
                fix="write it relative to this file, or to the library",
            )
        roots = (importer.parent, self._library)
        for root in roots:
            path = root / text
            inside = self._inside(path)
            # Whether something is there must not show either.
            if inside is None:
                return self._outside(f"the import `{visible(text)}`", span)
            if os.path.lexists(inside):
                return path, _shown(path)
        return Diagnostic(
            "E010",
            f"the imported file `{visible(text)}` does not exist, neither next to this file nor in the library",
            span,
            fix=self._suggestion(text, roots),
        )

    def _inside(self, path: Path) -> Path | None:
        """What a path means, links followed, if that may be read."""
        return self._project.leads_to(path) or self._shipped.leads_to(path)

    def _outside(self, what: str, span: Span | None) -> Diagnostic:
        message = f"{what} leads out of the project, `{visible(_shown(self._project.root))}`"
        return Diagnostic("E014", message, span, fix="put the file itself there; `counterpoint explain E014` says more")

    def _source(self, found: Path, path: Path, name: str, importer: Span | None) -> Source | Diagnostic:
        """The text of a file, or why there is none.  found: `path` with its links followed."""
        shown = visible(name)

        def problem(code: str, message: str, fix: str | None = None) -> Diagnostic:
            return Diagnostic(code, message, importer, fix=fix)

        try:
            data = read_bytes(found, MAX_BYTES)
        except UnreadableError as error:
            match error.why:
                case Unreadable.FOLDER:
                    inside = sorted(child.name for child in _children(found) if child.suffix == ".cpt")
                    fix = f"name a model in it, such as `{visible(inside[0])}`" if inside else None
                    return problem("E003", f"`{shown}` is a folder, not a model file", fix)
                case Unreadable.TOO_LARGE:
                    return problem("E004", f"`{shown}` {error.told}")
                case Unreadable.MISSING:
                    return problem("E001", f"`{shown}` does not exist", self._suggestion(path.name, (path.parent,)))
                case Unreadable.NOT_IN_A_FOLDER:
                    return problem("E001", f"`{shown}` {error.told}")
                case _:
                    return problem("E002", f"`{shown}` {visible(error.told)}")
        self._bytes += len(data)
        if self._bytes > MAX_TOTAL:
            return problem("E015", f"with `{shown}` the files of the model have more than {MAX_TOTAL:,} bytes")
        return _decoded(data, name, importer)

    def _suggestion(self, wanted: str, roots: tuple[Path, ...]) -> str | None:
        """A file that may be meant."""
        folder = os.path.dirname(wanted)
        names: dict[str, str] = {}
        for root in roots:
            for child in _children(root / folder):
                if child.suffix == ".cpt":
                    names.setdefault(child.name, f"{folder}/{child.name}" if folder else child.name)
        name = os.path.basename(wanted)
        close = get_close_matches(name, names, 1, 0.6) or get_close_matches(f"{name}.cpt", names, 1, 0.8)
        return f"did you mean `{visible(names[close[0]])}`?" if close else None


def _decoded(data: bytes, name: str, importer: Span | None) -> Source | Diagnostic:
    shown = visible(name)

    def problem(code: str, message: str, fix: str | None = None) -> Diagnostic:
        return Diagnostic(code, message, importer, fix=fix)

    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return problem("E005", f"`{shown}` is in UTF-16, and model files are in UTF-8", "save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return problem(
            "E005", f"`{shown}` is not text in UTF-8: byte {error.start}, on line {line}, is wrong", "save it as UTF-8"
        )
    if "\0" in text:
        at = text.index("\0")
        line = text.count("\n", 0, at) + 1
        return problem("E006", f"`{shown}` is not a text file: it has a NUL byte on line {line}")
    return Source(name, text.replace("\r\n", "\n").replace("\r", "\n"))


def _shown(path: Path) -> str:
    """The path without detours, relative to the working directory when it lies below that."""
    plain = os.path.normpath(path)
    if os.path.isabs(plain):
        relative = os.path.relpath(plain)
        if not relative.startswith(".."):
            plain = relative
    return plain.replace(os.sep, "/")


def _children(folder: Path) -> list[Path]:
    """What is in a folder; the first so many."""
    try:
        with os.scandir(folder) as entries:
            return sorted(folder / entry.name for entry in islice(entries, _MOST_CHILDREN))
    except (OSError, ValueError):
        return []


_MOST_CHILDREN = 1_000
"""Names that a suggestion may choose from."""
