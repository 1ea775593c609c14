"""The evidence of a run whose length may not be the least, in text and in JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.reports.evidence import describe, plural
from checker.reports.report_json import _evidence
from checker.verdict import Covered, Refuted
from spec.event import Event, EventKind
from tests.checker.samples import trace


@pytest.mark.parametrize("kind", [Refuted, Covered])
def test_a_run_that_may_be_too_long_has_at_most_so_many_steps(kind: type[Refuted | Covered]) -> None:
    run = trace(*[Event(EventKind.STEP)] * 3)
    loose = kind(run, "parallel", None)
    assert describe(loose) == "at most 3 steps, no fault; found by parallel, there may be a shorter run"
    told = _evidence(kind(trace(), "ic3", None), None)
    assert (told["length"], told["steps"], told["shortest"], told["engine"]) == ("at most 0 steps", 0, None, "ic3")
    assert describe(kind(run, "parallel", "it is")) == "3 steps, no fault"
    told = _evidence(kind(trace(), "ic3", "it is"), None)
    assert (told["length"], told["shortest"]) == ("0 steps", "it is")


@pytest.mark.parametrize(
    ("steps", "loop", "told"),
    [
        (6, 4, "6 steps, loop of 2"),
        (1, 0, "1 step, loop of 1"),
        (4, 4, "4 steps and then none"),
        (0, 0, "no step at all"),
    ],
)
def test_a_lasso(steps: int, loop: int, told: str) -> None:
    run = replace(trace(*[Event(EventKind.STEP)] * steps), loop=loop)
    assert describe(Refuted(run, "bmc", "it is")) == f"{told}, no fault"
    loose = f"at most {told}, no fault; found by search, there may be a shorter lasso"
    assert describe(Refuted(run, "search", None)) == loose


def test_a_lasso_without_steps() -> None:
    """There is no shorter one."""
    run = replace(trace(), loop=0)
    assert describe(Refuted(run, "search", "it has no step")) == "no step at all, no fault"


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
