"""Limits of time: the sooner of two, their names, and their way to another process."""

from __future__ import annotations

import pickle
import time

import pytest

from checker.options import Options
from checker.time_limit import TimeLimit


def test_the_sooner_of_two() -> None:
    early, late = TimeLimit(1.0, "a"), TimeLimit(2.0, "b")
    assert early.or_sooner(late) is late.or_sooner(early) is early.or_sooner(None) is early


def test_a_reason_names_the_option() -> None:
    assert TimeLimit.after(1.5, "timeout").reason == "out of time (timeout 1.5 s)"
    assert TimeLimit.after(120.0, "timeout-total").reason == "out of time (timeout-total 120 s)"
    assert TimeLimit(0.0).reason == "out of time"


def test_what_is_left() -> None:
    now = time.monotonic()
    assert TimeLimit(now - 5).left() == 0.0
    assert TimeLimit(now - 5).has_passed()
    assert 90 < TimeLimit(now + 100).left() <= 100
    assert not TimeLimit(now + 100).has_passed()


def test_a_variant_has_no_more_time_than_there_is_for_everything() -> None:
    now = time.monotonic()
    assert Options(timeout=7).time_limit().name == "timeout 7 s"
    assert Options(timeout=7, total=TimeLimit(now + 3, "x")).time_limit() == TimeLimit(now + 3, "x")
    assert Options(timeout=7, total=TimeLimit(now + 30, "x")).time_limit().name == "timeout 7 s"


def test_another_process_whose_clock_begins_elsewhere_has_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """40 s are left when it is packed; 10 s later, where `monotonic` is 500 s ahead, 30 are."""
    monkeypatch.setattr("checker.time_limit.time.monotonic", lambda: 1000.0)
    monkeypatch.setattr("checker.time_limit.time.time", lambda: 5_000_000.0)
    packed = pickle.dumps(TimeLimit(1040.0, "timeout-total 60 s"))
    monkeypatch.setattr("checker.time_limit.time.monotonic", lambda: 1510.0)
    monkeypatch.setattr("checker.time_limit.time.time", lambda: 5_000_010.0)
    again = pickle.loads(packed)
    assert again == TimeLimit(1540.0, "timeout-total 60 s")
    assert again.left() == 30.0
