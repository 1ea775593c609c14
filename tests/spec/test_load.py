"""Reading files and imports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spec import syntax
from spec.diagnostic import Diagnostic
from spec.load import MAX_BYTES, load

TEXT = "store s { durable x: bool }\ncover c: s.x\n"


def write(folder: Path, **files: str | bytes) -> Path:
    """Files by name without suffix; `__` stands for `/`.  Returns the path of `main`."""
    for name, content in files.items():
        path = folder / (name.replace("__", "/") + ".cpt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / "main.cpt"


def names(path: Path, library: Path) -> list[str]:
    module = load(path, library)
    assert isinstance(module, syntax.Module), module
    return [item.name.name for item in module.items if isinstance(item, syntax.Declaration)]


def errors(path: Path, library: Path) -> list[tuple[str, str]]:
    result = load(path, library)
    assert isinstance(result, tuple)
    assert result
    return [(error.code, error.message) for error in result]


def only(path: Path, library: Path) -> Diagnostic:
    result = load(path, library)
    assert isinstance(result, tuple)
    assert len(result) == 1, result
    return result[0]


def test_a_file_alone(tmp_path: Path) -> None:
    path = write(tmp_path, main="/// Of the file.\n\n" + TEXT)
    module = load(path, tmp_path)
    assert isinstance(module, syntax.Module)
    assert (module.doc, module.source.name, len(module.items)) == ("Of the file.", path.as_posix(), 2)


def test_imports_come_first_and_once(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        main='import "a.cpt"\nimport "sub/b.cpt"\nimport "./a.cpt"\nghost m: bool',
        a='import "sub/b.cpt"\nghost a: bool',
        sub__b='import "../c.cpt"\nghost b: bool',
        c="/// Not of the module.\n\nghost c: bool",
    )
    assert names(path, tmp_path) == ["c", "b", "a", "m"]
    module = load(path, tmp_path)
    assert isinstance(module, syntax.Module)
    assert module.doc == ""


def test_the_file_wins_over_the_library(tmp_path: Path) -> None:
    path = write(
        tmp_path / "models",
        main='import "lib/both.cpt"\nimport "lib/only.cpt"\nghost m: bool',
        lib__both="ghost near: bool",
    )
    write(tmp_path / "library", lib__both="ghost far: bool", lib__only="ghost library: bool")
    assert names(path, tmp_path / "library") == ["near", "library", "m"]


def test_an_import_of_a_library_file_is_relative_to_that_file(tmp_path: Path) -> None:
    path = write(tmp_path / "models", main='import "lib/a.cpt"\nghost m: bool')
    write(tmp_path / "library", lib__a='import "b.cpt"\nghost a: bool', lib__b="ghost b: bool")
    assert names(path, tmp_path / "library") == ["b", "a", "m"]


def test_one_file_under_two_names_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "a.cpt"\nimport "b.cpt"\nghost m: bool', a="ghost a: bool")
    (tmp_path / "b.cpt").symlink_to(tmp_path / "a.cpt")
    assert names(path, tmp_path) == ["a", "m"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_mark(tmp_path: Path, end: str, mark: bytes) -> None:
    text = "store s {\n\tdurable x: bool // ünïcödé\n}\ncover c:\n\ts.x\n"
    path = write(tmp_path, main=mark + text.replace("\n", end).encode())
    module = load(path, tmp_path)
    assert isinstance(module, syntax.Module)
    assert module.source.text == text
    assert module.items[1].span.line == 4


def test_errors_of_syntax_in_all_files_are_reported(tmp_path: Path) -> None:
    path = write(
        tmp_path, main='import "a.cpt"\nimport "b.cpt"\nghost m: bool', a="ghost a bool", b="ghost b bool\nghost"
    )
    result = load(path, tmp_path)
    assert isinstance(result, tuple)
    assert [(Path(e.span.source.name).name, e.span.line) for e in result if e.span] == [
        ("a.cpt", 1),
        ("b.cpt", 1),
        ("b.cpt", 2),
    ]


# ------------------------------------------------------------------------------------------------- files


def test_missing_file(tmp_path: Path) -> None:
    write(tmp_path, main=TEXT)
    error = only(tmp_path / "mian.cpt", tmp_path)
    assert (error.code, error.fix, error.span) == ("E001", "did you mean `main.cpt`?", None)
    assert only(tmp_path / "main", tmp_path).fix == "did you mean `main.cpt`?"
    assert only(tmp_path / "zzz.cpt", tmp_path).fix is None
    assert only(tmp_path / "main.cpt" / "x.cpt", tmp_path).code == "E001"
    assert only(tmp_path / "none" / "x.cpt", tmp_path).code == "E001"


def test_odd_file_names(tmp_path: Path) -> None:
    assert only(Path("a\0b"), tmp_path).code == "E002"
    assert only(tmp_path / ("x" * 5000), tmp_path).code == "E002"
    message = only(tmp_path / "a\x1b[31mb.cpt", tmp_path).message
    assert "\x1b" not in message
    assert "\\x1b[31m" in message


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, flags: int) -> int:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, main=TEXT)
    monkeypatch.setattr(os, "open", refuse)
    error = only(path, tmp_path)
    assert error.code == "E002"
    assert "permission denied" in error.message


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.cpt")
    assert only(tmp_path / "pipe.cpt", tmp_path).code == "E002"


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "main.cpt").symlink_to(tmp_path / "main.cpt")
    assert only(tmp_path / "main.cpt", tmp_path).code == "E002"


def test_folder(tmp_path: Path) -> None:
    write(tmp_path, main=TEXT)
    error = only(tmp_path, tmp_path)
    assert error.code == "E003"
    assert error.fix is not None
    assert "main.cpt" in error.fix


def test_large_file(tmp_path: Path) -> None:
    path = write(tmp_path, main=b"/" * (MAX_BYTES + 1))
    assert only(path, tmp_path).code == "E004"
    path.write_bytes(b"/" * MAX_BYTES)
    assert only(path, tmp_path).code == "E007"


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"ghost g: bool // caf\xe9\n", "E005", "byte 20, on line 1"),
        (b"\n\n\xff", "E005", "byte 2, on line 3"),
        (TEXT.encode("utf-16"), "E005", "UTF-16"),
        (b"\xed\xa0\x80", "E005", "byte 0"),
        (b"\x7fELF\n\0\0\0", "E006", "line 2"),
        (b"", "E007", "empty"),
        (b"\xef\xbb\xbf", "E007", "empty"),
        (b"// only\n", "E007", "comments only"),
    ],
)
def test_not_a_model(tmp_path: Path, data: bytes, code: str, words: str) -> None:
    error = only(write(tmp_path, main=data), tmp_path)
    assert error.code == code
    assert words in error.message


# ------------------------------------------------------------------------------------------------- imports


def test_import_of_a_missing_file(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "lib/anomalys.cpt"\n' + TEXT, lib__anomalies=TEXT)
    error = only(path, tmp_path)
    assert (error.code, error.fix) == ("E010", "did you mean `lib/anomalies.cpt`?")
    assert error.span is not None
    assert error.span.text == '"lib/anomalys.cpt"'


def test_every_missing_import_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "x.cpt"; import ""; import "a/../y.cpt"\n' + TEXT)
    assert [code for code, _ in errors(path, tmp_path)] == ["E010", "E010", "E010"]


def test_import_of_itself(tmp_path: Path) -> None:
    error = only(write(tmp_path, main='import "main.cpt"\n' + TEXT), tmp_path)
    assert (error.code, error.message) == ("E011", "the file imports itself")


def test_circle_of_imports_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path,
        main='import "a.cpt"\nghost m: bool',
        a='import "b.cpt"\nghost a: bool',
        b='import "c.cpt"\nghost b: bool',
        c='import "a.cpt"\nghost c: bool',
    )
    monkeypatch.chdir(tmp_path)
    error = only(Path("main.cpt"), tmp_path / "library")
    assert error.code == "E011"
    assert error.message == "the imports go in a circle: `a.cpt` -> `b.cpt` -> `c.cpt` -> `a.cpt`"
    assert error.span is not None
    assert error.span.source.name == "c.cpt"


@pytest.mark.parametrize("path", ["/etc/passwd", "~/x.cpt", "C:/x.cpt", "lib\\\\x.cpt", "http://x/y.cpt"])
def test_imports_are_relative(tmp_path: Path, path: str) -> None:
    error = only(write(tmp_path, main=f'import "{path}"\n' + TEXT), tmp_path)
    assert error.code == "E012"


def test_import_of_what_is_no_model(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        main='import "sub"; import "binary.cpt"; import "empty.cpt"\n' + TEXT,
        sub__x=TEXT,
        binary=b"\0",
        empty="",
    )
    result = load(path, tmp_path)
    assert isinstance(result, tuple)
    assert [error.code for error in result] == ["E003", "E006", "E007"]
    assert [error.span.text for error in result[:2] if error.span] == ['"sub"', '"binary.cpt"']


def test_a_long_chain_of_imports(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"f{i}": f'import "f{i + 1}.cpt"\nghost g{i}: bool' for i in range(1000)}
    path = write(tmp_path, main='import "f0.cpt"\nghost m: bool', f1000="ghost last: bool", **files)
    result = load(path, tmp_path)
    assert isinstance(result, tuple)
    assert [error.code for error in result] == ["E013"]
