"""Whichever engine finds a path, people see the same one."""

from __future__ import annotations

import time
from random import Random

import pytest

from checker.engines.engine import Budget, Coverage, Outcome, Progress, Reached
from checker.engines.ic3 import Ic3
from checker.engines.search import Search
from checker.options import Options
from checker.planning import refinement
from checker.planning.plan import Silence, decide
from checker.planning.refinement import refined
from checker.time_limit import TimeLimit
from checker.transition_system import Property, TransitionSystem
from tests.engines.random_systems import random_system


class Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[Property, Outcome] = {}

    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        self.outcomes[target] = outcome

    def covered(self, coverage: Coverage) -> None:
        pass


def outcomes(engine: Search | Ic3, system: TransitionSystem) -> dict[Property, Outcome]:
    recorder = Recorder()
    engine.run(system, system.properties, Budget(), recorder)
    return recorder.outcomes


def test_a_refined_path_is_the_one_that_the_search_finds() -> None:
    changed = 0
    for seed in range(150):
        system = random_system(Random(seed), frontiers=False)
        searched = outcomes(Search(), system)
        for target, known in outcomes(Ic3(), system).items():
            if isinstance(known, Reached) and known.shortest is not None:
                found = refined(system, target, known, time.monotonic() + 100)
                wanted = searched[target]
                assert isinstance(wanted, Reached)
                assert found.path == wanted.path, seed
                assert found.shortest is not None
                assert found.shortest.startswith(known.shortest)
                changed += found.path != known.path
    assert changed > 5


def test_what_would_take_too_long_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refinement, "_EXPLORED", 0)
    kept = 0
    for seed in range(40):
        system = random_system(Random(seed), frontiers=False)
        for target, known in outcomes(Ic3(), system).items():
            if isinstance(known, Reached) and known.shortest is not None and len(known.path.actions) > 1:
                found = refined(system, target, known, time.monotonic() + 100)
                assert found.path == known.path
                assert "not for fewest faults" in (found.shortest or "")
                kept += 1
    assert kept > 3


@pytest.mark.parametrize("engine", ["ic3", "parallel"])
def test_the_planner_refines_what_an_engine_has_found(engine: str) -> None:
    compared = 0
    for seed in range(30):
        system = random_system(Random(seed), frontiers=False)
        wanted = outcomes(Search(), system)
        options = Options(engine=engine, depth=10)
        decisions = decide(system, system.properties, (), options, Silence(), TimeLimit(time.monotonic() + 100))
        for target in system.properties:
            outcome = decisions.of(target).outcome
            if isinstance(outcome, Reached) and outcome.shortest is not None:
                expected = wanted[target]
                assert isinstance(expected, Reached)
                assert outcome.path == expected.path
                compared += 1
    assert compared > 10
