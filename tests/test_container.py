"""The container file, as far as it can be tried without a container engine: what it copies is enough to install from,
its command does that in a plain shell, and the command that is installed writes nothing."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser

from tests.command import ROOT, environment

FILE = ROOT / "Containerfile"
PLACE = "/opt/counterpoint"


def instructions(kind: str) -> list[str]:
    with FILE.open("rb") as file:
        return [each["value"] for each in DockerfileParser(fileobj=file).structure if each["instruction"] == kind]


def copied() -> list[str]:
    """What is copied from the repository."""
    found = []
    for value in instructions("COPY"):
        if not value.startswith("--from="):
            *sources, target = value.split()
            for source in sources:
                assert target in ("./", f"./{source}"), value
            found += sources
    return found


def is_ignored(name: str, rules: Sequence[str]) -> bool:
    """Whether `.dockerignore` keeps a file out: the last rule that fits it, or a folder of it, counts."""
    ignored = False
    parts = name.split("/")
    prefixes = ["/".join(parts[: length + 1]) for length in range(len(parts))]
    for rule in rules:
        pattern = rule.removeprefix("!")
        if any(fnmatch.fnmatch(prefix, pattern) or fnmatch.fnmatch(f"/{prefix}", pattern) for prefix in prefixes):
            ignored = not rule.startswith("!")
    return ignored


def rules() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_linter_has_nothing_to_say() -> None:
    hadolint = shutil.which("hadolint", path=sysconfig.get_path("scripts")) or "hadolint"
    done = subprocess.run([hadolint, str(FILE)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    wrong = subprocess.run(
        [hadolint, "-"], input="FROM python\nRUN cd x\n", capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 1


def test_bases_are_pinned_and_nobody_is_root() -> None:
    [given] = instructions("ARG")
    assert re.fullmatch(r"PYTHON=3\.\d+-slim-[a-z]+", given)
    assert all(value.split()[0] == "docker.io/library/python:${PYTHON}" for value in instructions("FROM"))
    assert instructions("USER") == ["10001:10001"]
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["counterpoint"]


def test_only_what_the_installation_needs_is_sent() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not tracked:
        pytest.skip("this is no git checkout")
    sent = {name.split("/")[0] for name in tracked if not is_ignored(name, rules())}
    assert sent == set(copied())
    for kept_out in (
        "spec/grammar.tables.json",
        "checker/__pycache__/x.pyc",
        ".git/config",
        "tests/x.py",
        "docs/ci.md",
    ):
        assert is_ignored(kept_out, rules())


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the file's own command has installed the copied files; what they depend on is left out."""
    folder = tmp_path_factory.mktemp("container")
    source, place = folder / "source", folder / "place"
    source.mkdir()
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.tables.json"))
        else:
            shutil.copy(ROOT / name, source / name)
    [command] = instructions("RUN")
    assert PLACE in command
    for name, line in {"python": f"exec '{sys.executable}'", "pip": f"exec '{sys.executable}' -m pip"}.items():
        (folder / name).write_text(f'#!/bin/sh\n{line} "$@"\n')
        (folder / name).chmod(0o755)
    done = subprocess.run(
        ["sh", "-ec", command.replace(PLACE, str(place))],
        cwd=source,
        env=environment(PATH=f"{folder}:{os.environ['PATH']}", PYTHONPATH="", PIP_NO_DEPS="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def listed(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_everything_that_is_run_is_installed(installed: Path) -> None:
    [packages] = (installed / "lib").glob("python*/site-packages")
    for package in ("spec", "checker", "counterexamples", "models"):
        wanted = {
            path.relative_to(ROOT)
            for path in (ROOT / package).rglob("*")
            if path.is_file() and path.suffix != ".pyc" and path.name != "README.md"
        }
        missing = {str(path) for path in wanted if not (packages / path).is_file()}
        assert not missing
    assert list(packages.glob("checker/__pycache__/cli.*.pyc"))


def test_the_command_writes_nothing(installed: Path, tmp_path: Path) -> None:
    """As on a read-only file system: without a home and without a folder for temporary files."""
    shutil.copytree(ROOT / "examples" / "ci" / "protocols", tmp_path / "protocols")
    before = listed(installed), listed(tmp_path)
    [shebang, *_] = (installed / "bin" / "counterpoint").read_text(encoding="utf-8").splitlines()
    assert shebang == f"#!{installed}/bin/python"
    variables = dict(value.split("=", 1) for line in instructions("ENV") for value in line.split())
    assert variables["PATH"].split(":")[0] == f"{PLACE}/bin"
    done = subprocess.run(
        [installed / "bin" / "counterpoint", "check", "protocols", "--trace", "none"],
        cwd=tmp_path,
        env={
            "PATH": f"{installed}/bin:{os.defpath}",
            "PYTHONPATH": sysconfig.get_path("purelib"),
            "PYTHONDONTWRITEBYTECODE": variables["PYTHONDONTWRITEBYTECODE"],
            "HOME": "/proc/nowhere",
            "TMPDIR": "/proc/nowhere",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all 4 expectations met" in done.stdout
    assert (listed(installed), listed(tmp_path)) == before
