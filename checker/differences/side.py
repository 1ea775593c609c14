"""What BASE and HEAD mean: files of a folder, one file, shipped models, or what a git revision has in their place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from checker import catalogue
from checker.differences.revision import Repository, commit_of, export, repository
from checker.options import UsageError
from spec import syntax
from spec.diagnostic import Diagnostic
from spec.load import load
from spec.project import Project


@dataclass(frozen=True)
class Side:
    """title     what the user called it
    commit    of a git revision; None otherwise
    files     its models by the name that pairs them with the other side's: the path in the folder, with `/`
    single    it is one file, to be compared with the other side's whatever its name
    exported  the temporary folder of a revision, which no message should speak of; None otherwise"""

    title: str
    commit: str | None
    files: dict[str, Path]
    single: bool
    exported: Path | None = None

    def read(self, path: Path, library: Path) -> syntax.Module | tuple[Diagnostic, ...]:
        """One of its models, or what is wrong with it.  What a revision's models import is in the revision."""
        if self.exported is None:
            return catalogue.read(path, library, self.title)
        return load(path, library, Project(self.exported, walked=True))

    def shown(self, text: str) -> str:
        """The text, with the revision in place of the folder that it was exported to."""
        if self.exported is None:
            return text
        revision = self.title.partition(":")[0]
        for folder in (self.exported.as_posix(), os.path.relpath(self.exported).replace(os.sep, "/")):
            text = text.replace(f"{folder}/", f"{revision}:")
        return text


def sides(base: str, head: str, library: Path, scratch: Path) -> tuple[Side, Side]:
    """Both sides.  What exists as a path is one; a revision beside a path means that path in the revision, two
    revisions the current folder in them.  `REVISION:PATH` is as in git.  scratch: an empty folder for what is exported.
    Raises UsageError."""
    found: list[Side] = []
    for wanted, other, name in ((base, head, "base"), (head, base, "head")):
        folder = (scratch / name).resolve()
        folder.mkdir()
        found.append(_of_path(wanted, library) or _of_revision(wanted, other, library, folder))
    if not any(side.files for side in found):
        raise UsageError(f"neither {base} nor {head} has models ({catalogue.SUFFIX} files) there")
    return found[0], found[1]


def _of_path(wanted: str, library: Path) -> Side | None:
    """None for what is neither a file nor a folder nor a shipped model."""
    path = Path(wanted)
    if not _exists(path):
        if wanted.strip("/") not in _shipped_names(library):
            return None
        path = library / wanted.strip("/")
        path = path if path.is_dir() else path.with_suffix(catalogue.SUFFIX)
    files = catalogue.find(str(path), library)
    if path.is_dir():
        return Side(wanted, None, {file.relative_to(path).as_posix(): file for file in files}, False)
    return Side(wanted, None, {path.name: path}, True)


def _shipped_names(library: Path) -> set[str]:
    names = set(catalogue.shipped(library))
    return names | {name.rpartition("/")[0] for name in names if "/" in name}


def _of_revision(wanted: str, other: str, library: Path, folder: Path) -> Side:
    if wanted.endswith(catalogue.SUFFIX) and ":" not in wanted:
        catalogue.find(wanted, library)  # raises, with the files that may be meant
    there = repository(wanted)
    revision, colon, path = wanted.partition(":")
    commit = commit_of(revision)
    if colon:
        place = _normal(path if not path.startswith(("./", "../")) else f"{there.prefix}/{path}", wanted)
    else:
        place = _beside(other, there)
    export(commit, wanted, place, folder)
    inside = folder / place
    if inside.is_dir():
        try:
            files = catalogue.find(str(inside), library)
        except UsageError:  # no models yet
            files = []
        return Side(wanted, commit, {file.relative_to(inside).as_posix(): file for file in files}, False, folder)
    if inside.is_file():
        return Side(wanted, commit, {inside.name: inside}, True, folder)
    if colon:
        raise UsageError(f"{revision} has no models at {path!r}", f"git ls-tree -r {revision} lists its files", "E452")
    return Side(wanted, commit, {}, False, folder)


def _beside(other: str, there: Repository) -> str:
    """The path in the repository at which a revision is looked at: that of the other side, or the current folder."""
    if not _exists(Path(other)):
        return there.prefix
    path = Path(other).resolve()
    top = there.top.resolve()
    if not path.is_relative_to(top):
        return there.prefix
    inside = path.relative_to(top).as_posix()
    return "" if inside == "." else inside


def _normal(path: str, wanted: str) -> str:
    """Raises UsageError for a path that leads out of the repository."""
    plain = os.path.normpath(path.strip("/") or ".").replace(os.sep, "/")
    if plain.split("/", 1)[0] == "..":
        raise UsageError(f"{wanted!r} leads out of the repository", code="E452")
    return "" if plain == "." else plain


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
