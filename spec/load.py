"""Reads a model file and everything it imports."""

from __future__ import annotations

import os
import stat
from difflib import get_close_matches
from pathlib import Path

from spec import syntax
from spec.diagnostic import Diagnostic, visible
from spec.parse import parse
from spec.source import Source, Span

MAX_BYTES = 5_000_000
"""The largest file that is read."""

MAX_CHAIN = 50
"""How many files may import one another in a row."""


def load(path: Path, library: Path) -> syntax.Module | tuple[Diagnostic, ...]:
    """The items of a file and of what it imports, each file once, imported files before those that import them; or all
    errors of reading and of syntax.  Imports are looked up relative to the importing file, then in `library`."""
    loader = _Loader(library)
    main = loader.read(path, path.as_posix(), None)
    if loader.errors or main is None:
        return tuple(loader.errors)
    return syntax.Module(main.source, main.doc, tuple(loader.items))


class _Loader:
    def __init__(self, library: Path) -> None:
        self._library = library
        self._done: set[Path] = set()
        self._chain: list[tuple[Path, str]] = []
        self.items: list[syntax.Item] = []
        self.errors: list[Diagnostic] = []

    def read(self, path: Path, name: str, importer: Span | None) -> syntax.File | None:
        """Reads one file, its imports first.  importer: the `import` that asked for it."""
        source = _source(path, name, importer)
        if isinstance(source, Diagnostic):
            self.errors.append(source)
            return None
        file = parse(source)
        identity = _identity(path)
        self._done.add(identity)
        if not isinstance(file, syntax.File):
            self.errors.extend(file)
            return None
        self._chain.append((identity, name))
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
        identity = _identity(path)
        open_files = [file for file, _ in self._chain]
        if identity in open_files:
            cycle = [name for _, name in self._chain[open_files.index(identity) :]]
            if len(cycle) == 1:
                message = "the file imports itself"
            else:
                message = "the imports go in a circle: " + " -> ".join(f"`{name}`" for name in [*cycle, cycle[0]])
            self.errors.append(Diagnostic("E011", message, span, fix="move what both need to a file of its own"))
        elif identity in self._done:
            return
        elif len(self._chain) >= MAX_CHAIN:
            message = f"more than {MAX_CHAIN} files import one another in a row"
            self.errors.append(Diagnostic("E013", message, span, fix="import fewer files, and these directly"))
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
            try:
                exists = path.exists()
            except (OSError, ValueError):
                exists = False
            if exists:
                return path, _shown(path)
        return Diagnostic(
            "E010",
            f"the imported file `{visible(text)}` does not exist, neither next to this file nor in the library",
            span,
            fix=_suggestion(text, roots),
        )


def _source(path: Path, name: str, importer: Span | None) -> Source | Diagnostic:
    """The text of a file, or why there is none."""
    shown = visible(name)

    def problem(code: str, message: str, fix: str | None = None) -> Diagnostic:
        return Diagnostic(code, message, importer, fix=fix)

    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            inside = sorted(child.name for child in path.iterdir() if child.suffix == ".cpt")
            fix = f"name a model in it, such as `{visible(inside[0])}`" if inside else None
            return problem("E003", f"`{shown}` is a folder, not a model file", fix)
        if not stat.S_ISREG(status.st_mode):
            return problem("E002", f"`{shown}` is not an ordinary file")
        if status.st_size > MAX_BYTES:
            return problem("E004", f"`{shown}` has {status.st_size:,} bytes, and {MAX_BYTES:,} is the most")
        data = path.read_bytes()
    except FileNotFoundError:
        return problem("E001", f"`{shown}` does not exist", _suggestion(path.name, (path.parent,)))
    except NotADirectoryError:
        return problem("E001", f"`{shown}` does not exist: a part of its path is not a folder")
    except PermissionError:
        return problem("E002", f"`{shown}` may not be read: permission denied")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return problem("E002", f"`{shown}` cannot be read: {visible(reason)}")
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


def _identity(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def _shown(path: Path) -> str:
    """The path without detours, relative to the working directory when it lies below that."""
    plain = os.path.normpath(path)
    if os.path.isabs(plain):
        relative = os.path.relpath(plain)
        if not relative.startswith(".."):
            plain = relative
    return plain.replace(os.sep, "/")


def _suggestion(wanted: str, roots: tuple[Path, ...]) -> str | None:
    """A file that may be meant."""
    folder = os.path.dirname(wanted)
    names: dict[str, str] = {}
    for root in roots:
        try:
            for child in sorted((root / folder).iterdir()):
                if child.suffix == ".cpt":
                    names.setdefault(child.name, f"{folder}/{child.name}" if folder else child.name)
        except (OSError, ValueError):
            continue
    name = os.path.basename(wanted)
    close = get_close_matches(name, names, 1, 0.6) or get_close_matches(f"{name}.cpt", names, 1, 0.8)
    return f"did you mean `{visible(names[close[0]])}`?" if close else None
