"""Fair cycles against the plainest reference, and by hand."""

from __future__ import annotations

from random import Random

import pytest

from checker.engines.engine import Budget, Coverage, Lasso, NoFairCycle, Outcome, Progress
from checker.engines.fair_cycles import FairCycles
from checker.transition_system import Property, TransitionSystem
from tests.engines.live_reference import Graph, complaint
from tests.engines.random_systems import random_live_system


class Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[Property, Outcome] = {}

    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        assert target not in self.outcomes
        self.outcomes[target] = outcome

    def covered(self, coverage: Coverage) -> None:
        pass


def outcomes(system: TransitionSystem, budget: Budget | None = None) -> list[Outcome]:
    recorder = Recorder()
    FairCycles().run(system, system.properties, budget or Budget(), recorder)
    return [recorder.outcomes[target] for target in system.properties]


@pytest.mark.parametrize("fairness", ["none", "weak", "strong", "mixed"])
def test_it_agrees_with_the_reference(fairness: str) -> None:
    violated = kept = loops = 0
    for seed in range(120):
        system = random_live_system(Random(seed), fairness)
        graph = Graph(system)
        for target, outcome in zip(system.properties, outcomes(system), strict=True):
            where = (fairness, seed, target.name)
            wanted = any(graph.is_violated(case) for case in target.cases)
            if wanted:
                violated += 1
                assert isinstance(outcome, Lasso), where
                assert complaint(system, target, outcome) is None, where
                assert graph.is_violated(target.cases[outcome.case]), where
                loops += outcome.loop < len(outcome.path.actions)
            else:
                kept += 1
                assert isinstance(outcome, NoFairCycle), where
                assert outcome.recheck() is None, where
                assert outcome.depth == max(graph_depth(graph).values()), where
    assert min(violated, kept) > 20
    assert loops > 20 or fairness == "none"


def graph_depth(graph: Graph) -> dict[tuple[int, ...], int]:
    depths = {graph.system.initial: 0}
    level = [graph.system.initial]
    while level:
        level = [t for s in level for _, t in graph.steps[s] if depths.setdefault(t, depths[s] + 1) == depths[s] + 1]
        level = list(dict.fromkeys(level))
    return depths
