"""Model files of a git revision, in a temporary folder: read from git's objects, so that nothing is checked out, and no
hook, filter or attribute of the repository has a say."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from checker.catalogue import SUFFIX
from checker.options import UsageError
from checker.suggestion import suggest
from spec.load import MAX_BYTES

_FILE_MODES = ("100644", "100755", "100664")
_LINK_MODE = "120000"


@dataclass(frozen=True)
class Repository:
    """top: its folder; prefix: the current folder in it, as git writes paths (`docs/models`, or empty)."""

    top: Path
    prefix: str


def repository(wanted: str) -> Repository:
    """The git repository that the current folder is in.  wanted: what is looked for in it, for the message.  Raises
    UsageError where there is none, or no git."""
    shown = _git("rev-parse", "--show-toplevel", "--show-prefix")
    if shown.returncode != 0:
        message = f"{wanted!r} is no file, folder or shipped model, and the current folder is in no git repository"
        why = shown.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        raise UsageError(message, f"git says: {why}" if why else None, "E451")
    top, _, prefix = shown.stdout.decode("utf-8", "surrogateescape").removesuffix("\n").partition("\n")
    return Repository(Path(top), prefix.strip("/"))


def commit_of(revision: str) -> str:
    """The commit that a revision means, as 40 hex digits.  Raises UsageError."""
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.returncode != 0:
        listed = _git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
        names = listed.stdout.decode("utf-8", "replace").split()
        hint = suggest(revision, [*names, "HEAD"], "revisions")
        raise UsageError(f"no file, folder, shipped model or git revision {revision!r}", hint, "E452")
    return found.stdout.decode("ascii").strip()


def export(commit: str, revision: str, scope: str, folder: Path) -> None:
    """Writes the model files of a commit below `folder`, by their paths in the repository: all of them, for imports.
    scope: the path in which models will be looked for (empty: the whole); a symbolic link there is refused.  revision:
    how to call the commit.  Raises UsageError."""
    wanted: list[tuple[PurePosixPath, str]] = []
    for mode, size, name, digest in _entries(commit, revision):
        path = PurePosixPath(name)
        if path.suffix != SUFFIX:
            continue
        if mode == _LINK_MODE and _within(name, scope):
            message = f"{name!r} of {revision} is a symbolic link, and links of a revision are not followed"
            raise UsageError(message, "put the file itself there", "E453")
        if mode not in _FILE_MODES:
            continue
        if path.is_absolute() or "\\" in name or ":" in name or any(p in ("", ".", "..") for p in name.split("/")):
            raise UsageError(f"{name!r} of {revision} is no path that stays in its folder", "rename it", "E453")
        if size > MAX_BYTES and _within(name, scope):
            raise UsageError(
                f"{name!r} of {revision} has {size:,} bytes, and {MAX_BYTES:,} is the most", "make it smaller", "E453"
            )
        if size <= MAX_BYTES:
            wanted.append((path, digest))
    contents = _contents([digest for _, digest in wanted], revision)
    for (path, _), content in zip(wanted, contents, strict=True):
        try:
            target = folder.joinpath(*path.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write(content)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"{str(path)!r} of {revision} cannot be written: {reason}", code="E453") from None


def _entries(commit: str, revision: str) -> list[tuple[str, int, str, str]]:
    """Mode, size, path and digest of each file of a commit."""
    listed = _git("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    if listed.returncode != 0:
        raise _unreadable(revision, listed)
    found = []
    for entry in listed.stdout.split(b"\0"):
        if entry:
            about, _, name = entry.partition(b"\t")
            mode, _, digest, size = about.split()
            bytes_ = int(size) if size.isdigit() else 0
            found.append((mode.decode("ascii"), bytes_, os.fsdecode(name), digest.decode("ascii")))
    return found


def _contents(digests: list[str], revision: str) -> list[bytes]:
    """The contents of git's objects, in order."""
    if not digests:
        return []
    answer = _git("cat-file", "--batch", asked="\n".join(digests).encode("ascii") + b"\n")
    if answer.returncode != 0:
        raise _unreadable(revision, answer)
    found = []
    place = 0
    for _ in digests:
        end = answer.stdout.index(b"\n", place)
        words = answer.stdout[place:end].split()
        if len(words) != 3 or words[1] != b"blob":
            raise _unreadable(revision, answer)
        size = int(words[2])
        found.append(answer.stdout[end + 1 : end + 1 + size])
        place = end + 1 + size + 1
    return found


def _unreadable(revision: str, answer: subprocess.CompletedProcess[bytes]) -> UsageError:
    told = answer.stderr.decode("utf-8", "replace").strip().split("\n")[-1] or "an object is missing"
    return UsageError(f"the files of {revision} cannot be read: {told}", "git fsck says more", "E453")


def _within(name: str, scope: str) -> bool:
    return not scope or name == scope or name.startswith(f"{scope}/")


def _git(*words: str, asked: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Raises UsageError where there is no git."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "--no-pager", "--no-replace-objects", *words]
    try:
        return subprocess.run(command, input=asked, capture_output=True, env=environment, check=False)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the program git cannot be run: {error}", "name folders in place of revisions", "E451"
        ) from None
