"""Where the cache of a command is: the folder that the user's system has for such things, unless another is named."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from checker.console import Console
from checker.options import UsageError

if TYPE_CHECKING:
    from checker.cache.cache import Cache


@contextmanager
def opened(arguments: Namespace, console: Console) -> Iterator[Cache | None]:
    """The cache that a command line wants, None for `--no-cache`.  Afterwards it is told what was wrong with it.
    Raises UsageError."""
    if arguments.no_cache:
        yield None
        return
    if arguments.cache == "":
        raise UsageError("--cache names no folder", "such as --cache .counterpoint-cache; or --no-cache")
    from checker.cache.cache import Cache

    folder = usual() if arguments.cache is None else Path(arguments.cache)
    if folder is None:
        console.tell("counterpoint: note: nothing is kept: there is no home, and --cache names no folder")
        yield None
        return
    cache = Cache(folder)
    try:
        yield cache
    finally:
        for note in cache.notes:
            console.tell(f"counterpoint: note: {note}")


def usual() -> Path | None:
    """The user's own folder for what may be deleted at any time, by the convention of the platform; None where the user
    has no home, as in a container."""
    import platformdirs

    try:
        return platformdirs.user_cache_path("counterpoint", appauthor=False)
    except RuntimeError:
        return None


__all__ = ["opened", "usual"]
