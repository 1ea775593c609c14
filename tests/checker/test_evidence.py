"""Words of the evidence column."""

from __future__ import annotations

import pytest

from checker.evidence import plural


@pytest.mark.parametrize(
    ("count", "noun", "told"),
    [
        (1, "way out", "1 way out"),
        (2, "way", "2 ways"),
        (2, "property", "2 properties"),
        (0, "step", "0 steps"),
        (1234, "state", "1,234 states"),
    ],
)
def test_plurals(count: int, noun: str, told: str) -> None:
    assert plural(count, noun) == told
