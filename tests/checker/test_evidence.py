"""The evidence of a run whose length may not be the least, in text and in JSON."""

from __future__ import annotations

import pytest

from checker.evidence import describe
from checker.report_json import _evidence
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
