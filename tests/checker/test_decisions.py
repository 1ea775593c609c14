"""What a reason says when no engine has a verdict."""

from __future__ import annotations

import pytest

from checker.engines.engine import Bounded, Outcome, Undecided
from checker.planning.decisions import Decision, Decisions
from checker.time_limit import OUT_OF_TIME, TimeLimit
from tests.checker.samples import prop

P = prop("p")
LATE = Undecided(OUT_OF_TIME)


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        ({"search": LATE}, "out of time (timeout 9 s)"),
        ({"search": LATE, "ic3": LATE, "bmc": Bounded(0, OUT_OF_TIME)}, "out of time (timeout 9 s)"),
        ({"search": Bounded(4, OUT_OF_TIME), "ic3": LATE, "bmc": Bounded(2, OUT_OF_TIME)}, "out of time (timeout 9 s)"),
        ({"search": Undecided("too wide")}, "too wide"),
        ({"search": Undecided("too wide"), "ic3": LATE}, "search: too wide; ic3: out of time (timeout 9 s)"),
        ({"search": LATE, "bmc": LATE, "ic3": Undecided("lost")}, "search, bmc: out of time (timeout 9 s); ic3: lost"),
        (
            {"search": Bounded(4, "full"), "ic3": LATE, "parallel": LATE},
            "full; ic3, parallel: out of time (timeout 9 s)",
        ),
        (
            {"search": Bounded(4, OUT_OF_TIME), "bmc": Bounded(3, "full")},
            "out of time (timeout 9 s); bmc: full at depth 3",
        ),
    ],
)
def test_the_budget_is_named_once(outcomes: dict[str, Outcome], reason: str) -> None:
    decisions = Decisions(limits={"p": TimeLimit(0.0, "timeout 9 s")})
    for engine, outcome in outcomes.items():
        decisions.put(P, Decision(engine, outcome))
    found = decisions.of(P).outcome
    assert isinstance(found, Undecided | Bounded)
    assert found.reason == reason


def test_without_a_name_it_is_out_of_time() -> None:
    decisions = Decisions()
    decisions.put(P, Decision("search", LATE))
    assert decisions.of(P).outcome == LATE
