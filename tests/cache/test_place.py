"""Where results are kept, and what becomes of a command where they cannot be."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import cast

import platformdirs
import pytest

from checker.cache.place import opened, usual
from checker.console import Console


class Told:
    """What was told of a console."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def tell(self, text: str) -> None:
        self.texts.append(text)


def test_without_a_home_nothing_is_kept_and_the_command_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for the user of a container, who is a number."""

    def homeless(*_: object, **__: object) -> Path:
        raise RuntimeError("could not determine the home directory for '~/.cache'")

    monkeypatch.setattr(platformdirs, "user_cache_path", homeless)
    assert usual() is None
    told = Told()
    with opened(Namespace(no_cache=False, cache=None), cast(Console, told)) as cache:
        assert cache is None
    assert told.texts == ["counterpoint: note: nothing is kept: there is no home, and --cache names no folder"]


def test_a_folder_that_is_named_needs_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(platformdirs, "user_cache_path")
    with opened(Namespace(no_cache=False, cache=str(tmp_path / "kept")), cast(Console, Told())) as cache:
        assert cache is not None
