"""Alarms: work that does not look at a clock ends in time, by a signal and by an exception from another thread."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
import time

import pytest

from spec import alarm
from spec.alarm import TimeIsUp, within


def for_ever() -> None:
    while True:
        pass


def stubborn() -> None:
    while True:
        with contextlib.suppress(Exception):
            for_ever()


@pytest.fixture(params=["signal", "thread"])
def mechanism(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "thread":
        monkeypatch.setattr(alarm, "_has_free_timer", lambda: False)
    else:
        assert alarm._has_free_timer()
    return str(request.param)


def test_work_ends_in_time(mechanism: str) -> None:
    started = time.monotonic()
    for work in (for_ever, stubborn):
        with pytest.raises(TimeIsUp):
            within(0.1, work)
    assert 0.2 <= time.monotonic() - started < 10


def test_what_ends_before_is_left_alone(mechanism: str) -> None:
    assert within(60, lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 // 0)
    with pytest.raises(TimeIsUp):
        within(0, lambda: 5)


def test_limits_stand_within_one_another(mechanism: str) -> None:
    with pytest.raises(TimeIsUp):
        within(0.1, lambda: within(60, for_ever))

    def caught() -> str:
        try:
            within(0.1, for_ever)
        except TimeIsUp:
            return "inner"
        return "none"

    assert within(60, caught) == "inner"


def test_nothing_arrives_later(mechanism: str) -> None:
    """Limits that are about as long as the work: the alarm comes before, in and behind its end."""

    def work(depth: int = 60) -> int:
        return 0 if depth == 0 else work(depth - 1) + 1

    for number in range(1_500):
        with contextlib.suppress(TimeIsUp):
            assert within(1e-5 + number % 50 * 1e-6, work) == 60
    time.sleep(0.05)


def test_what_a_program_has_set_up_is_left_as_it_was() -> None:
    before = signal.getsignal(signal.SIGALRM)
    within(60, lambda: None)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        with pytest.raises(TimeIsUp):
            within(0.1, for_ever)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_other_threads_have_alarms_too() -> None:
    found: list[str] = []

    def thread() -> None:
        try:
            within(0.1, for_ever)
        except TimeIsUp:
            found.append("up")

    other = threading.Thread(target=thread)
    other.start()
    other.join(20)
    assert found == ["up"]


def test_a_search_for_a_regular_expression_is_stopped_by_a_signal() -> None:
    started = time.monotonic()
    with pytest.raises(TimeIsUp):
        within(0.3, lambda: re.match(r"(a+)+b", "a" * 40))
    assert time.monotonic() - started < 10
