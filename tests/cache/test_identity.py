"""Which tool a result is of: nothing that another one has found is ever used."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from checker.cache import identity as module
from checker.cache.identity import LIBRARIES, PACKAGES, Identity, _identity, identity
from checker.options import Options
from tests.cache.models import EVERYTHING, ROOT, cache_in, checked, items, source_of

BEFORE = time.time() - 1000.0


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A small tool, an hour old."""
    for name, text in {
        "checker/check.py": "one",
        "checker/engines/search.py": "two",
        "checker/report.schema.json": "{}",
        "counterexamples/replay.py": "three",
        "spec/grammar.lark": "four",
        "spec/py.typed": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (BEFORE - 3600,) * 2)
    return tmp_path


def _digest(root: Path) -> str:
    found = _identity(root, BEFORE)
    assert isinstance(found, Identity), found
    return found.digest


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (BEFORE - 1800,) * 2)


@pytest.mark.parametrize(
    "change",
    [
        lambda root: _write(root / "checker/engines/search.py", "too"),
        lambda root: _write(root / "checker/new.py", ""),
        lambda root: (root / "counterexamples/replay.py").unlink(),
        lambda root: (root / "counterexamples/replay.py").rename(root / "counterexamples/again.py"),
        lambda root: _write(root / "spec/grammar.lark", "5"),
        lambda root: _write(root / "checker/report.schema.json", "{ }"),
    ],
)
def test_another_source_is_another_tool(tool: Path, change: Callable[[Path], object]) -> None:
    before = _digest(tool)
    change(tool)
    assert _digest(tool) != before


def test_what_is_no_source_is_no_part_of_the_tool(tool: Path) -> None:
    before = _digest(tool)
    _write(tool / "checker/__pycache__/check.cpython-311.pyc", "x")
    _write(tool / "models/new.cpt", "x")
    _write(tool / "checker/notes.txt", "x")
    os.utime(tool / "checker/check.py", (BEFORE - 5,) * 2)
    assert _digest(tool) == before


@pytest.mark.parametrize("name", ["VERSION", "SEMANTICS"])
def test_another_version_is_another_tool(tool: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _digest(tool)
    monkeypatch.setattr(module, name, "2.0" if name == "VERSION" else module.SEMANTICS + 1)
    assert _digest(tool) != before


@pytest.mark.parametrize("library", LIBRARIES)
def test_another_library_is_another_tool(tool: Path, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _digest(tool)
    real = metadata.version
    monkeypatch.setattr(
        "checker.cache.identity.metadata.version", lambda name: "99.0" if name == library else real(name)
    )
    assert _digest(tool) != before


def test_sources_that_are_younger_than_the_process_may_not_be_those_that_run(tool: Path) -> None:
    os.utime(tool / "spec/grammar.lark", (BEFORE + 5,) * 2)
    assert _identity(tool, BEFORE) == "grammar.lark has changed since it was started"
    assert isinstance(_identity(tool, BEFORE + 6), Identity)


def test_a_tool_without_sources_has_no_identity(tmp_path: Path) -> None:
    assert _identity(tmp_path, BEFORE) == "it has no source files"


def test_a_source_that_changes_during_a_run_is_noticed(tool: Path) -> None:
    found = _identity(tool, BEFORE)
    assert isinstance(found, Identity)
    assert found.is_still_true()
    _write(tool / "checker/check.py", "another")
    assert not found.is_still_true()
    (tool / "checker/check.py").unlink()
    assert not found.is_still_true()


def test_the_running_tool_has_an_identity_of_all_its_sources() -> None:
    found = identity()
    assert isinstance(found, Identity), found
    known = {path for path, _, _ in found.files}
    written = {path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert written <= known
    assert {ROOT / "spec/grammar.lark", ROOT / "spec/grammar.tables.json"} <= known
    assert found.is_still_true()


def test_every_library_that_decides_is_known() -> None:
    """What pyproject.toml wants, but for what draws, writes and finds folders."""
    import tomllib

    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {name.split(">")[0].split("=")[0].strip() for name in wanted}
    assert names - set(LIBRARIES) <= {"rich", "graphviz", "platformdirs", "psutil"}
    assert set(LIBRARIES) <= names


def test_a_result_of_another_tool_is_none(tmp_path: Path) -> None:
    first, second = Identity("one", ()), Identity("two", ())
    (_, item) = items(source_of(EVERYTHING, tmp_path), Options())
    cache_in(tmp_path, first).keep(item, checked(item))
    assert cache_in(tmp_path, first).look_up(item) is not None
    assert cache_in(tmp_path, second).look_up(item) is None


def test_a_result_whose_tool_has_changed_meanwhile_is_not_kept(tool: Path, tmp_path: Path) -> None:
    found = _identity(tool, BEFORE)
    assert isinstance(found, Identity)
    (_, item) = items(source_of(EVERYTHING, tmp_path / "models"), Options())
    report = checked(item)
    _write(tool / "checker/check.py", "another")
    cache = cache_in(tmp_path, found)
    cache.keep(item, report)
    assert cache.notes == ["the result is not kept: the files of counterpoint itself have changed meanwhile"]
    assert cache.look_up(item) is None
    assert cache_in(tmp_path, replace(found, files=())).look_up(item) is None


def test_a_tool_that_is_not_known_uses_no_cache(tmp_path: Path) -> None:
    (_, item) = items(source_of(EVERYTHING, tmp_path), Options())
    report = checked(item)
    cache = cache_in(tmp_path, "search.py has changed since it was started")
    cache.keep(item, report)
    assert cache.look_up(item) is None
    assert not (tmp_path / "kept").exists()
    assert cache.notes == [
        "the cache is not used: the version of counterpoint is not known, because search.py has changed since it was "
        "started"
    ]
