"""A broken interpreter, lowering or engine does not stay unnoticed.

Each mutant is a copy of the sources with one fault in it; comparing random programs must find a disagreement.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agreement.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = 400
STATES = 400
DEPTH = 4
PATIENCE = 300.0
"""Seconds after which a mutant that is not caught yet counts as one that goes round for ever, which is noticed, too."""


def broken_copy(mutant: Mutant, folder: Path) -> Path:
    for package in ("spec", "checker", "counterexamples", "models", "tests"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / mutant.file
    text = path.read_text(encoding="utf-8")
    assert text.count(mutant.before) == 1, f"{mutant.file} does not have `{mutant.before}` exactly once"
    path.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")
    return folder


def compare_programs(folder: Path, by: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", by, "0", str(PROGRAMS), str(STATES), str(DEPTH)]
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "it goes round for ever")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant: Mutant, tmp_path: Path) -> None:
    result = compare_programs(broken_copy(mutant, tmp_path), mutant.by)
    assert result.returncode == 1, f"not caught: {result.stdout}{result.stderr}"
    assert "SyntaxError" not in result.stdout + result.stderr
    assert "ImportError" not in result.stdout + result.stderr
