"""The folder of kept texts: whole texts or none, whoever writes, dies or meddles."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checker.cache import folder as module
from checker.cache.folder import LARGEST, Folder
from tests.cache.models import ROOT

KEYS = [f"{number:064x}" for number in range(8)]
ONE = KEYS[0]


def _text(number: int, writer: int) -> bytes:
    """A text that tells of which key and writer it is, and whether it is whole."""
    return f"{number}:{writer}:".encode() + bytes([65 + writer]) * 20_000 + b":end"


def _is_whole(text: bytes, number: int) -> bool:
    return any(text == _text(number, writer) for writer in range(4))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "a" / "b")
    assert folder.read(ONE) is None
    folder.write(ONE, b"one")
    assert folder.read(ONE) == b"one"
    assert folder.read(KEYS[1]) is None
    folder.write(ONE, b"another")
    assert folder.read(ONE) == b"another"
    folder.drop(ONE)
    folder.drop(ONE)
    assert folder.read(ONE) is None


def test_the_folder_is_marked_as_one_that_needs_no_backup_and_no_version_control(tmp_path: Path) -> None:
    Folder(tmp_path / "new").write(ONE, b"one")
    assert (tmp_path / "new" / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_a_folder_that_was_there_gets_no_marks(tmp_path: Path) -> None:
    Folder(tmp_path).write(ONE, b"one")
    assert [path.name for path in tmp_path.iterdir()] == [f"{ONE}.result"]


def _write_and_read(path: Path, writer: int, seconds: float) -> None:
    folder, end, texts = Folder(path), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for number, key in enumerate(KEYS):
            folder.write(key, _text(number, writer))
            found = folder.read(key)
            if found is None or not _is_whole(found, number):
                sys.exit(1)
            texts += 1
    sys.exit(0 if texts else 2)


def test_processes_that_write_at_once_see_whole_texts_only(tmp_path: Path) -> None:
    start = multiprocessing.get_context("spawn")
    processes = [start.Process(target=_write_and_read, args=(tmp_path, writer, 1.5)) for writer in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * 4
    assert all(_is_whole((tmp_path / f"{key}.result").read_bytes(), number) for number, key in enumerate(KEYS))
    assert not list(tmp_path.glob(".unfinished-*"))


_ENDLESS = """
import sys
from pathlib import Path
from checker.cache.folder import Folder
folder = Folder(Path(sys.argv[1]))
print("begun", flush=True)
while True:
    folder.write("0" * 64, b"first" + b"x" * 8_000_000 + b"last")
"""


def test_who_is_killed_while_writing_leaves_a_whole_text_or_none(tmp_path: Path) -> None:
    for milliseconds in (1, 3, 7, 20, 50):
        writer = subprocess.Popen(
            [sys.executable, "-c", _ENDLESS, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(milliseconds / 1000)
        writer.send_signal(signal.SIGKILL)
        writer.wait(60)
        writer.stdout.close()
        found = Folder(tmp_path).read(ONE)
        assert found is None or (len(found) == 8_000_009 and found.startswith(b"first") and found.endswith(b"last"))


def test_what_the_killed_have_left_goes_after_a_while(tmp_path: Path) -> None:
    old, young = tmp_path / ".unfinished-old1", tmp_path / ".unfinished-young1"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    Folder(tmp_path).write(ONE, b"one")
    assert not old.exists()
    assert young.exists()


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Folder(tmp_path).write(ONE, b"before")

    def fails(source: str, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("checker.cache.folder.os.replace", fails)
    with pytest.raises(OSError, match="No space"):
        Folder(tmp_path).write(ONE, b"after")
    assert [path.name for path in tmp_path.iterdir()] == [f"{ONE}.result"]
    assert Folder(tmp_path).read(ONE) == b"before"


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    folder = Folder(tmp_path, most_bytes=350)
    for age, key in enumerate(KEYS[:3]):
        folder.write(key, b"x" * 100)
        os.utime(tmp_path / f"{key}.result", (1000 + age,) * 2)
    assert folder.read(KEYS[0]) is not None  # which makes the second the oldest
    folder.write(KEYS[3], b"x" * 100)
    assert [folder.read(key) is not None for key in KEYS[:4]] == [True, False, True, True]


def test_files_of_others_in_the_folder_stay(tmp_path: Path) -> None:
    others = [tmp_path / "model.cpt", tmp_path / "notes.result", tmp_path / f"{ONE}.result.bak"]
    for path in others:
        path.write_bytes(b"x" * 1000)
        os.utime(path, (1000, 1000))
    folder = Folder(tmp_path, most_bytes=10)
    folder.write(ONE, b"x" * 100)
    assert all(path.exists() for path in others)
    assert folder.read(ONE) is None


def test_links_are_neither_followed_nor_written_through(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_bytes(b"precious")
    entry = tmp_path / "kept" / f"{ONE}.result"
    entry.parent.mkdir()
    entry.symlink_to(target)
    folder = Folder(entry.parent)
    assert folder.read(ONE) is None
    folder.write(ONE, b"new")
    assert target.read_bytes() == b"precious"
    assert not entry.is_symlink()
    assert folder.read(ONE) == b"new"


def test_what_is_no_ordinary_file_is_no_text(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"{ONE}.result")
    (tmp_path / f"{KEYS[1]}.result").mkdir()
    folder = Folder(tmp_path)
    assert folder.read(ONE) is None
    assert folder.read(KEYS[1]) is None


def test_a_huge_text_is_neither_read_nor_written(tmp_path: Path) -> None:
    with (tmp_path / f"{ONE}.result").open("wb") as file:
        file.truncate(LARGEST + 1)
    folder = Folder(tmp_path)
    assert folder.read(ONE) is None
    folder.write(KEYS[1], b"x" * (LARGEST + 1))
    assert folder.read(KEYS[1]) is None


def test_a_text_of_another_user_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder(tmp_path)
    folder.write(ONE, b"one")
    owner = (tmp_path / f"{ONE}.result").stat().st_uid
    monkeypatch.setattr("checker.cache.folder.os.geteuid", lambda: owner + 1)
    assert (folder.read(ONE) is None) == (owner != 0)  # what the administrator has written is believed
    monkeypatch.setattr(module, "_is_own", lambda status: False)
    assert folder.read(ONE) is None


def test_who_may_have_written_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def written_by(user: int) -> os.stat_result:
        return os.stat_result((0o100600, 1, 1, 1, user, user, 10, 0, 0, 0))

    monkeypatch.setattr("checker.cache.folder.os.geteuid", lambda: 1000)
    assert [module._is_own(written_by(user)) for user in (1000, 0, 1001)] == [True, True, False]
