"""No test sees what another, or a person, has kept: each has a cache of its own, which is empty."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

_FOLDERS = tempfile.TemporaryDirectory(prefix="counterpoint-tests-")
_numbers = count()


def _renew() -> None:
    """From now on the cache is in a folder that there is not yet.  It is the environment that says so, for the tests
    that start processes."""
    folder = Path(_FOLDERS.name) / str(next(_numbers))
    os.environ["XDG_CACHE_HOME"] = os.environ["LOCALAPPDATA"] = str(folder)


_renew()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    _renew()
    return (yield)
