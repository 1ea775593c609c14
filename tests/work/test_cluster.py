"""Items on a Dask cluster of several real processes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from checker.version import VERSION
from tests.command import AS_EXPECTED, COUNTER, ROOT, counterpoint, environment
from tests.work import jobs
from tests.work.test_workers import LONG, SECONDS, all_gone, start

pytest.importorskip("distributed")

MODERATE = LONG.replace("0..90", "0..40").replace("< 90", "< 40").replace("== 450", "== 200")
"""IC3 proves it, after some seconds."""


class Running:
    """A cluster: the address of its scheduler, and its process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.address = process.stdout.readline().strip()
        assert self.address.startswith("tcp://")

    def order(self, text: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def items_at_work(self) -> list[psutil.Process]:
        """The processes in which items are performed; not those of their engines, which are forks of them."""
        found = []
        for each in psutil.Process(self.process.pid).children(recursive=True):
            try:
                parent = each.parent()
                if is_fresh(each) and (parent is None or not is_fresh(parent)):
                    found.append(each)
            except psutil.Error:
                continue
        return found


def is_fresh(process: psutil.Process) -> bool:
    """Whether the process, or the one that it was forked from, was started anew for an item."""
    return any("checker.work.fresh" in word for word in process.cmdline())


@contextmanager
def cluster(workers: int, folder: Path, root: Path = ROOT) -> Iterator[Running]:
    process = subprocess.Popen(
        [sys.executable, "-P", str(ROOT / "tests" / "work" / "cluster_process.py"), str(workers)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env=environment() | {"PYTHONPATH": str(root)},
    )
    try:
        yield Running(process)
    finally:
        everything = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for each in everything:
            if each.is_running():
                each.kill()
        process.communicate()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A cluster of two workers, somewhere where there are no models."""
    with cluster(2, tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lib.cpt").write_text("switch eager: bool = true\n")
    (tmp_path / "a.cpt").write_text('import "lib.cpt"\n' + COUNTER + AS_EXPECTED)
    (tmp_path / "b.cpt").write_text(COUNTER + jobs.VARIANTS)
    (tmp_path / "c.cpt").write_text("store {")
    return tmp_path


def waits(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.1)


def test_the_output_is_that_of_this_machine(two: Running, folder: Path) -> None:
    """With imports, errors, traces and proofs; the workers have none of the files."""
    here = counterpoint("check", ".", "--no-cache", folder=folder)
    there = counterpoint("check", ".", "--no-cache", "--scheduler", two.address, folder=folder)
    assert here.returncode == there.returncode == 2
    assert SECONDS.sub("", there.stdout) == SECONDS.sub("", here.stdout)
    for files, code in ((["a.cpt"], 0), (["b.cpt"], 1)):
        done = counterpoint("check", *files, "--no-cache", "--scheduler", two.address, folder=folder)
        assert done.returncode == code


def test_a_worker_that_is_killed_loses_nothing(two: Running, folder: Path) -> None:
    (folder / "d.cpt").write_text(MODERATE + "variant a { }\nvariant b { }\n")
    process = start(folder, "check", "b.cpt", "d.cpt", "--no-cache", "--scheduler", two.address)
    waits(lambda: len(two.items_at_work()) == 2 and process.poll() is None)
    before = two.items_at_work()
    assert two.order("kill") == "killed"
    out, err = process.communicate(timeout=300)
    assert process.returncode == 1, out + err
    assert len(re.findall(r"full +at rest +PROVED", out)) == 3 + 2
    assert len(re.findall(r"never_two +invariant +REFUTED", out)) == 3
    assert "UNDECIDED" not in out
    assert [line.strip() for line in out.splitlines() if line.startswith("  ") and line.strip() in "abc"] == [
        *"abc",
        *"ab",
    ]
    # What the dead worker had at work ended with it.
    assert all_gone(before)


def test_an_interrupt_stops_what_is_at_work(two: Running, folder: Path) -> None:
    (folder / "d.cpt").write_text(LONG + "variant a { }\nvariant b { }\n")
    process = start(folder, "check", "a.cpt", "d.cpt", "--no-cache", "--scheduler", two.address)
    assert process.stdout is not None
    seen = ""
    while "never_two" not in seen:
        seen += process.stdout.readline()
    waits(lambda: len(two.items_at_work()) == 2)
    time.sleep(2)
    found = two.items_at_work()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    out = seen + out
    assert process.returncode == 4
    assert "Traceback" not in err
    assert "interrupted in" in out.splitlines()[-1]
    assert re.search(r"never_two +invariant +REFUTED", out)
    assert all_gone(found)


def test_so_many_at_a_time(two: Running, folder: Path) -> None:
    (folder / "d.cpt").write_text(LONG + "variant a { }\nvariant b { }\n")
    words = ("--no-cache", "--scheduler", two.address, "--workers", "1")
    process = start(folder, "check", "d.cpt", *words)
    waits(lambda: len(two.items_at_work()) == 1)
    for _ in range(20):
        assert len(two.items_at_work()) == 1
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 4
    waits(lambda: not two.items_at_work())


def test_a_bound_on_memory_holds_there_too(two: Running, folder: Path) -> None:
    (folder / "d.cpt").write_text(LONG)
    words = ("--no-cache", "--engine", "search", "--memory", "64M", "--scheduler", two.address)
    done = counterpoint("check", "d.cpt", *words, folder=folder)
    assert done.returncode == 4
    assert "memory ran out" in " ".join(done.stdout.split())


def test_where_the_scheduler_goes_nothing_is_decided(folder: Path) -> None:
    (folder / "d.cpt").write_text(LONG)
    with cluster(1, folder) as one:
        process = start(folder, "check", "d.cpt", "--no-cache", "--scheduler", one.address)
        waits(lambda: len(one.items_at_work()) == 1)
        one.process.kill()
        out, err = process.communicate(timeout=120)
    assert process.returncode == 4, out + err
    assert "UNDECIDED" in out
    assert "Traceback" not in err


# ---------------------------------------------------------------------------------------------------------- mistakes


def told(folder: Path, *words: str, **more: str) -> tuple[int, str]:
    done = counterpoint("check", "a.cpt", "--no-cache", *words, folder=folder, **more)
    assert "Traceback" not in done.stderr
    assert not done.stdout
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "address", ["here", "tcp://", "tcp://host", "http://127.0.0.1:80", "tcp://host:port", "tcp://h:99999"]
)
def test_what_is_no_address(folder: Path, address: str) -> None:
    code, text = told(folder, "--scheduler", address)
    assert code == 2
    assert f"E481: {address} is no address" in text
    assert "write tcp://HOST:8786" in text


def test_nobody_at_the_address(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        code, text = told(folder, "--scheduler", address)
    assert code == 2
    assert f"E481: no scheduler answers at {address}" in text


def test_no_workers(folder: Path) -> None:
    with cluster(0, folder) as none:
        code, text = told(folder, "--scheduler", none.address)
    assert code == 2
    assert "E482" in text
    assert f"dask worker {none.address}" in text


def test_another_version(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("other")
    for package in ("checker", "spec", "counterexamples", "models"):
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    file = root / "checker" / "version.py"
    file.write_text(file.read_text().replace(VERSION, "9.9.9"))
    with cluster(1, folder, root) as other:
        code, text = told(folder, "--scheduler", other.address)
    assert code == 2
    assert "E483" in text
    assert f"has counterpoint 9.9.9, and here it is {VERSION}" in text


def test_without_the_package(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    stub = tmp_path_factory.mktemp("stub")
    (stub / "distributed.py").write_text("raise ImportError('no')\n")
    code, text = told(folder, "--scheduler", "tcp://127.0.0.1:8786", PYTHONPATH=os.pathsep.join((str(stub), str(ROOT))))
    assert code == 2
    assert "E480" in text
    assert "pip install 'counterpoint[cluster]'" in text


def test_a_file_does_not_choose_the_scheduler(folder: Path) -> None:
    """Whoever may change the file could have the command run what they like."""
    (folder / "counterpoint.toml").write_text('scheduler = "tcp://127.0.0.1:8786"\n')
    code, text = told(folder)
    assert code == 2
    assert "E432" in text
