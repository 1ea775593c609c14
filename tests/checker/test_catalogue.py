from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from checker.catalogue import find, library, shipped, short_name
from checker.options import UsageError


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    for name in ("conductor/02_b", "conductor/01_a", "conductor/05_abandoned", "queue/lost", "lib/words", "single"):
        path = folder / f"{name}.cpt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)


def test_shipped_models_are_sorted_and_without_the_library(models: Path) -> None:
    names = ["conductor/01_a", "conductor/02_b", "conductor/05_abandoned", "queue/lost", "single"]
    assert list(shipped(models)) == names


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("single", ["single"]),
        ("conductor", ["conductor/01_a", "conductor/02_b", "conductor/05_abandoned"]),
        ("conductor/", ["conductor/01_a", "conductor/02_b", "conductor/05_abandoned"]),
        ("conductor/05_abandoned", ["conductor/05_abandoned"]),
        ("conductor/05", ["conductor/05_abandoned"]),
        ("05", ["conductor/05_abandoned"]),
        ("queue/l", ["queue/lost"]),
    ],
)
def test_names(models: Path, wanted: str, found: list[str]) -> None:
    assert find(wanted, models) == [models / f"{name}.cpt" for name in found]


def test_an_ambiguous_beginning_lists_what_it_may_mean(models: Path) -> None:
    with pytest.raises(UsageError, match="'conductor/01_a' or 'conductor/02_b'"):
        find("conductor/0", models)


@pytest.mark.parametrize(
    ("wanted", "hint"), [("conducter", "'conductor'"), ("conductor/05_abandonned", "'conductor/05_abandoned'")]
)
def test_unknown_names_suggest(models: Path, wanted: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(wanted, models)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("wanted", ["", ".", "\0", "no\nmodel", "x" * 5000])
def test_odd_names_are_usage_errors(models: Path, wanted: str) -> None:
    with pytest.raises(UsageError):
        find(wanted, models)


def test_a_path_comes_before_a_shipped_name(models: Path) -> None:
    Path("single").mkdir()
    Path("single/mine.cpt").write_text("")
    assert find("single", models) == [Path("single/mine.cpt")]


def test_a_folder_is_searched_recursively_in_order(models: Path) -> None:
    for name in ("b/z.cpt", "a/y.cpt", "x.cpt", "a/notes.txt", ".hidden/h.cpt"):
        path = Path("mine") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert find("mine", models) == [Path("mine/a/y.cpt"), Path("mine/b/z.cpt"), Path("mine/x.cpt")]


def test_a_folder_without_models_is_an_error(models: Path) -> None:
    Path("nothing").mkdir()
    with pytest.raises(UsageError, match="no models"):
        find("nothing", models)


def test_a_missing_file_suggests_its_neighbours(models: Path) -> None:
    Path("server.cpt").write_text("")
    with pytest.raises(UsageError) as caught:
        find("servers.cpt", models)
    assert "'server.cpt'" in (caught.value.hint or "")


def test_the_library_is_where_the_models_are() -> None:
    assert (library() / "lib" / "anomalies.cpt").is_file()


def test_what_others_only_import_is_no_model_of_a_folder(models: Path) -> None:
    for name, text in {
        "mine/a.cpt": 'import "lib/words.cpt"\nimport "parts.cpt"\nprocess P { }\n',
        "mine/parts.cpt": "enum E { A }\n",
        "mine/lib/words.cpt": "enum W { A }\n",
        "mine/alone.cpt": "enum W { A }\n",
        "mine/b.cpt": 'import "a.cpt"\n',
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    assert find("mine", models) == [Path("mine/a.cpt"), Path("mine/alone.cpt"), Path("mine/b.cpt")]
    assert find("mine/parts.cpt", models) == [Path("mine/parts.cpt")]


def test_short_names(models: Path) -> None:
    assert short_name(models / "queue" / "lost.cpt", models) == "queue/lost"
    assert short_name(Path.cwd() / "a" / "b.cpt", models) == "a/b.cpt"
    assert short_name(Path("a/b.cpt"), models) == "a/b.cpt"


def test_a_module_called_models_elsewhere_is_not_the_library(tmp_path: Path) -> None:
    """As the scripts of python-sat, which lie beside the command and come first on the path."""
    (tmp_path / "models.py").write_text("raise SystemExit('the wrong models')\n", encoding="utf-8")
    (tmp_path / "command.py").write_text(
        "from checker.catalogue import library, shipped\nprint(len(shipped(library())))\n", encoding="utf-8"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, str(tmp_path / "command.py")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    models = [path for path in (root / "models").glob("*/*.cpt") if path.parent.name != "lib"]
    assert done.stdout == f"{len(models)}\n"
