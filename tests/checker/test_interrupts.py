from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.command import ROOT, environment

PROGRAM = """
import os, signal, sys, time, weakref
from checker.interrupts import deliver_again

class Thing:
    pass

def freed(reference):
    os.kill(os.getpid(), {number})
    for _ in range(1000):
        pass

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal({number}, interrupt)
{deliver}
thing = Thing()
reference = weakref.ref(thing, freed)
try:
    del thing
    time.sleep(2)
    print("lost")
except KeyboardInterrupt:
    print("heard")
"""


def run(number: signal.Signals, deliver: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(number=int(number), deliver=deliver)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), cwd=ROOT, timeout=60
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_that_python_loses_comes_again(number: signal.Signals) -> None:
    done = run(number, f"deliver_again({int(number)})")
    assert (done.stdout, done.stderr) == ("heard\n", "")


def test_otherwise_it_is_lost() -> None:
    """If this fails Python has mended it, and `checker.interrupts` can go."""
    done = run(signal.SIGINT, "")
    assert done.stdout == "lost\n"
    assert "KeyboardInterrupt" in done.stderr


def test_other_exceptions_are_told_as_ever() -> None:
    program = """
import sys, weakref
from checker.interrupts import deliver_again
class Thing:
    pass
def freed(reference):
    raise ValueError("odd")
deliver_again(2)
thing = Thing()
reference = weakref.ref(thing, freed)
del thing
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), cwd=ROOT, timeout=60
    )
    assert "ValueError: odd" in done.stderr
