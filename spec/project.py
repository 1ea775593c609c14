"""The project of a model: the folder that it may be in and import from, besides the library."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from spec.regular_file import UnreadableError, read_bytes

OWN_FILE = "counterpoint.toml"
SHARED_FILE = "pyproject.toml"
TABLE = ("tool", "counterpoint")
"""The table of SHARED_FILE that says what OWN_FILE would."""

_MOST_BYTES = 1_000_000
"""The largest SHARED_FILE that is looked into."""


@dataclass(frozen=True)
class Project:
    """root    a folder, with all links in its path followed
    walked  whether the model was found in a folder; one that the user has named may be anywhere"""

    root: Path
    walked: bool = False

    def leads_to(self, path: Path) -> Path | None:
        """The file or folder that a path means, all links followed; None where that is outside."""
        found = real(path)
        return found if found is not None and found.is_relative_to(self.root) else None


def project_of(model: Path, walked: Path | None = None) -> Project:
    """The project of a model: the nearest folder above it with `.git`, `counterpoint.toml`, or a `pyproject.toml` that
    has the table `[tool.counterpoint]`.  Where there is none: `walked`, the folder in which it was found, or its own
    folder if it was named itself (None)."""
    start = real(model.parent if walked is None else walked) or Path(os.path.abspath(model.parent))
    for folder in (start, *start.parents):
        if _is_marked(folder):
            return Project(folder, walked is not None)
    return Project(start, walked is not None)


def real(path: Path) -> Path | None:
    """The path without links; None where they go in a circle, or the name cannot be one."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _is_marked(folder: Path) -> bool:
    if os.path.lexists(folder / ".git") or os.path.lexists(folder / OWN_FILE):
        return True
    try:
        data = read_bytes(folder / SHARED_FILE, _MOST_BYTES)
    except UnreadableError:
        return False
    if TABLE[-1].encode() not in data:
        return False
    # Most models need not wait for this import.
    import tomllib

    try:
        found: object = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    for key in TABLE:
        found = found.get(key) if isinstance(found, dict) else None
    return isinstance(found, dict)
