"""Finding model files: by path, or shipped models by name (`conductor`, `conductor/05_abandoned`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from checker.options import UsageError
from checker.suggestion import suggest

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
    try:
        if path.is_file():
            return [path]
        if path.is_dir():
            return _folder(path, folder)
    except (OSError, ValueError):
        pass
    if path.suffix == SUFFIX or path.is_absolute() or wanted.startswith("."):
        near = _models_in(path.parent) if path.parent.is_dir() else []
        raise UsageError(f"no file {wanted!r}", suggest(path.name, [p.name for p in near], "models there"))
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
    texts = {found: _text(found) for found in _models_in(path)}
    imported = {file for found, text in texts.items() for file in _imports(found, text, library_folder)}
    models = [found for found, text in texts.items() if _PROCESS.search(text) or found.resolve() not in imported]
    if not models:
        raise UsageError(f"no models ({SUFFIX} files) in the folder {str(path)!r}")
    return models


def is_for_import(path: Path, top: Path) -> bool:
    """Whether a file has no process and another imports it, which stands beside it, or in a folder above it up to `top`
    or directly in such a folder's folders."""
    if not path.is_file() or _PROCESS.search(_text(path)):
        return False
    folders = [folder for folder in path.parents if folder == path.parent or folder.is_relative_to(top)]
    near = {found for folder in folders for pattern in (f"*{SUFFIX}", f"*/*{SUFFIX}") for found in folder.glob(pattern)}
    wanted = path.resolve()
    return any(
        wanted in _imports(found, _text(found), library()) for found in near if found != path and found.is_file()
    )


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _imports(path: Path, text: str, library_folder: Path) -> set[Path]:
    """Where the imports of a file may lead."""
    return {(base / name).resolve() for name in _IMPORT.findall(text) for base in (path.parent, library_folder)}


_IMPORT = re.compile(r'^\s*import\s+"([^"\0]+)"', re.MULTILINE)
_PROCESS = re.compile(r"^\s*process\b", re.MULTILINE)


def _models_in(folder: Path) -> list[Path]:
    hidden = {
        path for path in folder.rglob(f"*{SUFFIX}") if any(p.startswith(".") for p in path.relative_to(folder).parts)
    }
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file() and path not in hidden)
