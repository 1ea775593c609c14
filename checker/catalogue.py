"""Finding model files: by path, or shipped models by name (`conductor`, `conductor/05_abandoned`)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from checker.options import UsageError
from checker.suggestion import suggest
from spec import syntax
from spec.diagnostic import Diagnostic
from spec.load import MAX_BYTES, SECONDS, load
from spec.project import Project, project_of, real
from spec.regular_file import UnreadableError, read_bytes

SUFFIX = ".cpt"


def library() -> Path:
    """The folder of the shipped models, where imports are looked up too."""
    # Not by `import models`: other packages put a script of that name beside the command, which would come first.
    return Path(__file__).resolve().parent.parent / "models"


def shipped(folder: Path) -> dict[str, Path]:
    """All shipped models by name (`conductor/05_abandoned`), sorted; what only others import (`lib/`) is left out."""
    found = {}
    for path in _models_in(folder):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if not name.startswith("lib/"):
            found[name] = path
    return found


def project(path: Path, wanted: str | None = None) -> Project:
    """Where a model may be and import from.  wanted: what it was found for; None or the file itself where it was named.
    Of a shipped model that is the library."""
    folder = real(library())
    found = real(path)
    if folder is not None and found is not None and found.is_relative_to(folder):
        return Project(folder)
    walked = None if wanted is None else Path(wanted)
    return project_of(path, walked if walked is not None and walked.is_dir() else None)


def read(
    path: Path, folder: Path, wanted: str | None = None, seconds: float = SECONDS
) -> syntax.Module | tuple[Diagnostic, ...]:
    """The model in a file with all that it imports, from its project and from `folder`, the library; or what is wrong
    with it.  wanted: see `project`; seconds: the time that it may take."""
    return load(path, folder, project(path, wanted), seconds)


def short_name(path: Path, folder: Path) -> str:
    """What to call a file: its name for a shipped model, else its path, from the current folder on where it is in
    there."""
    for base in (folder, Path.cwd()):
        if path.is_relative_to(base):
            inside = path.relative_to(base)
            return inside.with_suffix("").as_posix() if base == folder else str(inside)
    return str(path)


def find(wanted: str, folder: Path) -> list[Path]:
    """The files that `wanted` means: a file, all models in a folder and its subfolders in sorted order, or shipped
    models by name, folder or unambiguous beginning of a name.  Raises UsageError, with what may be meant."""
    path = Path(wanted)
    if _is_folder(path):
        return _folder(path, folder)
    if os.path.lexists(path):
        return [path]
    if path.suffix == SUFFIX or path.is_absolute() or wanted.startswith("."):
        raise UsageError(f"no file {wanted!r}", suggest(path.name, _names_beside(path), "models there"))
    return find_shipped(wanted, folder)


def find_shipped(wanted: str, folder: Path) -> list[Path]:
    """The shipped models of a name, of a folder, or of an unambiguous beginning of a name.  Raises UsageError."""
    known = shipped(folder)
    name = wanted.strip("/")
    if name in known:
        return [known[name]]
    inside = [file for model, file in known.items() if model.startswith(f"{name}/")]
    if inside and name:
        return inside
    begun = _begun(name, known)
    if len(begun) == 1:
        return [known[begun[0]]]
    if begun:
        raise UsageError(f"{wanted!r} may mean {' or '.join(map(repr, begun[:6]))}", "write more of the name")
    hint = suggest(name, [*known, *_folders(known)], "shipped models") or "no models are shipped"
    raise UsageError(f"no file, folder or shipped model {wanted!r}", hint)


def _begun(name: str, known: Iterable[str]) -> list[str]:
    if not name:
        return []
    whole = [model for model in known if model.startswith(name)]
    return whole or [model for model in known if model.rpartition("/")[2].startswith(name)]


def _folders(known: Iterable[str]) -> set[str]:
    return {model.rpartition("/")[0] for model in known if "/" in model}


def _folder(path: Path, library_folder: Path) -> list[Path]:
    """The models in a folder, without those that have no process and are there for others to import."""
    found_in = _models_in(path)
    projects = {found: project_of(found, path) for found in found_in}
    texts = {found: _text(found, projects[found]) for found in found_in}
    imported = {file for found, text in texts.items() for file in _imports(found, text, library_folder)}
    models = [found for found, text in texts.items() if _PROCESS.search(text) or real(found) not in imported]
    if not models:
        raise UsageError(f"no models ({SUFFIX} files) in the folder {str(path)!r}")
    return models


def is_for_import(path: Path, top: Path) -> bool:
    """Whether a file has no process and another imports it, which stands beside it, or in a folder above it up to `top`
    or directly in such a folder's folders."""
    inside = Project(real(top) or top)
    if not path.is_file() or _PROCESS.search(_text(path, inside)):
        return False
    folders = [folder for folder in path.parents if folder == path.parent or folder.is_relative_to(top)]
    near = {found for folder in folders for pattern in (f"*{SUFFIX}", f"*/*{SUFFIX}") for found in folder.glob(pattern)}
    wanted = real(path)
    return any(wanted in _imports(found, _text(found, inside), library()) for found in near if found != path)


def _text(path: Path, inside: Project) -> str:
    """What is in a file, as far as it can be read; nothing of a file that a link outside leads to."""
    found = inside.leads_to(path)
    if found is None:
        return ""
    try:
        return read_bytes(found, MAX_BYTES).decode("utf-8", "replace")
    except UnreadableError:
        return ""


def _imports(path: Path, text: str, library_folder: Path) -> set[Path | None]:
    """Where the imports of a file may lead."""
    return {real(base / name) for name in _IMPORT.findall(text) for base in (path.parent, library_folder)} - {None}


_IMPORT = re.compile(r'^[ \t]*import[ \t]+"([^"\0\n]+)"', re.MULTILINE)
_PROCESS = re.compile(r"^[ \t]*process\b", re.MULTILINE)

MOST_MODELS = 10_000
"""How many model files a folder may have, with all its subfolders."""


def _models_in(folder: Path) -> list[Path]:
    """All that is called like a model in a folder and its subfolders, without what is hidden; links to folders are not
    followed.  Raises UsageError for a folder that cannot be looked into: what is in there would be left unchecked."""
    found: list[Path] = []
    open_folders = [folder]
    while open_folders:
        here = open_folders.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        open_folders.append(here / entry.name)
                    elif entry.name.endswith(SUFFIX):
                        found.append(here / entry.name)
        except OSError as error:
            raise UsageError(f"the folder {str(here)!r} cannot be read: {error.strerror}") from None
        if len(found) > MOST_MODELS:
            raise UsageError(f"the folder {str(folder)!r} has more than {MOST_MODELS:,} models", "name folders in it")
    return sorted(found)


def _names_beside(path: Path) -> list[str]:
    """The names of the models in the folder in which a file was looked for."""
    try:
        with os.scandir(path.parent) as entries:
            return [entry.name for entry in entries if entry.name.endswith(SUFFIX)]
    except (OSError, ValueError):
        return []


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
