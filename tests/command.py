"""The command as a real process, and the model that its tests check.

The counter goes 0 -> 1 -> 2; each time it first waits and then writes, so 2 is reached in four steps and no fewer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COUNTER = """\
/// A counter that stops at two.  This sentence is not shown.

store db { durable x: 0..2 }

process P {
  loop up {
    await db.x < 2
    db.x := db.x + 1
  }
}

invariant small: db.x <= 2
invariant never_two: db.x != 2
at rest full: db.x == 2
cover two: db.x == 2
"""

AS_EXPECTED = "expect proves small, full\nexpect refutes never_two\nexpect reaches two\n"

ROOT = Path(__file__).parent.parent


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "CI", "COLUMNS")}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **more}


def counterpoint(*arguments: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "checker.cli", *arguments],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,
    )


def write_models(folder: Path) -> Path:
    """Puts two models into a folder: `counter.cpt` without expectations, `expected.cpt` with."""
    (folder / "counter.cpt").write_text(COUNTER)
    (folder / "expected.cpt").write_text(COUNTER + AS_EXPECTED)
    return folder
