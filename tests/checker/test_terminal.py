from __future__ import annotations

import io
from collections.abc import Sequence

import pytest

from checker.engines.engine import Progress
from checker.progress import ProgressLine
from checker.terminal import never_fail_to_encode, page_for


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class File(Terminal):
    def isatty(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("stream", "colour", "environment", "expected"),
    [
        (Terminal, "auto", {}, True),
        (Terminal, "auto", {"NO_COLOR": "1"}, False),
        (Terminal, "auto", {"NO_COLOR": ""}, True),
        (Terminal, "auto", {"TERM": "dumb"}, False),
        (Terminal, "always", {"NO_COLOR": "1"}, True),
        (Terminal, "never", {"FORCE_COLOR": "1"}, False),
        (File, "auto", {}, False),
        (File, "auto", {"FORCE_COLOR": "1"}, True),
        (File, "auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (File, "always", {}, True),
    ],
)
def test_colour(stream: type[Terminal], colour: str, environment: dict[str, str], expected: bool) -> None:
    assert page_for(stream(), colour, environment).colour is expected


def test_an_ascii_stream_gets_ascii_and_never_raises() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert not page_for(stream, "auto", {}).unicode
    never_fail_to_encode(stream)
    stream.write("→ é")
    stream.flush()


def test_columns_override_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "47")
    assert page_for(File(), "auto", {}).columns == 47


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def drive(stream: Terminal, environment: dict[str, str], times: Sequence[float]) -> str:
    clock = Clock()
    line = ProgressLine(stream, 60, environment, clock)
    line.begin("05_abandoned")
    for time in times:
        clock.now = 100.0 + time
        line.progress(Progress("search", 12, 34_567, 890.4), ("kept", "lost"))
    return stream.getvalue()


def test_nothing_in_the_first_second() -> None:
    assert drive(Terminal(), {}, [0.1, 0.5, 0.99]) == ""
    assert drive(File(), {}, [0.1, 0.5, 0.99]) == ""


def test_a_terminal_gets_one_line_that_is_rewritten() -> None:
    shown = drive(Terminal(), {}, [1.1, 1.15, 1.3])
    assert "\n" not in shown
    assert shown.count("\r") == 2
    assert all(len(part.removeprefix("\x1b[2K")) < 60 for part in shown.split("\r"))
    assert "search, depth 12, 34,567 states, 890/s" in shown


@pytest.mark.parametrize(("stream", "environment"), [(File, {}), (Terminal, {"CI": "1"})])
def test_a_log_gets_a_line_every_five_seconds(stream: type[Terminal], environment: dict[str, str]) -> None:
    shown = drive(stream(), environment, [1.1, 2, 3, 6, 6.2, 9, 11.3])
    lines = shown.splitlines()
    assert len(lines) == 3
    assert "\r" not in shown
    assert lines[0] == "05_abandoned: search, depth 12, 34,567 states, 890/s, 1 s, open: kept +1"


def test_the_line_is_cleared() -> None:
    stream = Terminal()
    clock = Clock()
    line = ProgressLine(stream, 60, {}, clock)
    line.begin("x")
    line.clear()
    assert stream.getvalue() == ""
    clock.now += 2
    line.progress(Progress("bmc", 3, None, None), ())
    line.clear()
    assert stream.getvalue().endswith("\r\x1b[2K")


def test_the_parts_of_a_long_check_are_told_in_its_own_time() -> None:
    clock = Clock()
    stream = File()
    line = ProgressLine(stream, 60, {}, clock)
    line.begin("")
    for part, time in enumerate([0.1, 0.9, 1.2, 3.0, 6.4], 1):
        clock.now = 100.0 + time
        line.advance(f"{part} of 5 points")
    assert stream.getvalue().splitlines() == ["3 of 5 points, 1 s", "5 of 5 points, 6 s"]
