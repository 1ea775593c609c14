from __future__ import annotations

import shutil
import subprocess

import pytest

from checker.commands.completion import script

PROBE = """
{script}
counterpoint() {{ echo conductor/05_abandoned; }}
COMP_WORDS=({words})
COMP_CWORD={place}
_counterpoint
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def complete(*words: str) -> list[str]:
    quoted = " ".join(f"'{word}'" for word in words)
    text = PROBE.format(script=script("bash"), words=quoted, place=len(words) - 1)
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_accepts_the_script() -> None:
    done = subprocess.run(["bash", "-n"], input=script("bash"), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_theirs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n"], input=script(shell), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_bash_completes_commands_options_values_and_models() -> None:
    assert complete("counterpoint", "ch") == ["check"]
    assert complete("counterpoint", "check", "--max") == ["--max-faults"]
    assert complete("counterpoint", "check", "--engine", "s") == ["search"]
    assert complete("counterpoint", "sweep", "--poi") == ["--points"]
    assert complete("counterpoint", "sweep", "cond") == ["conductor/05_abandoned"]
    assert complete("counterpoint", "check", "cond") == ["conductor/05_abandoned"]
    assert complete("counterpoint", "completion", "z") == ["zsh"]
    assert complete("counterpoint", "list", "--max") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_is_in_the_script(shell: str) -> None:
    text = script(shell)
    for option in ("max-faults", "property", "no-symmetry", "seed", "names"):
        assert option in text
