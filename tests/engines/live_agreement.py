"""Every way to decide properties of infinite runs, against the plainest reference; on one system, or on random ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path as File
from random import Random
from types import ModuleType

from checker.engines import fair_cycles, fair_hull
from checker.engines.bmc import Bmc
from checker.engines.closed_set import SearchedStates
from checker.engines.engine import (
    Bounded,
    Budget,
    Coverage,
    Engine,
    FewRounds,
    Inductive,
    Lasso,
    NoFairCycle,
    Outcome,
    Progress,
    Reached,
    Unreachable,
)
from checker.engines.ic3 import Ic3
from checker.engines.search import Search
from checker.engines.state_graph import state_graph
from checker.engines.symmetry import Symmetry
from checker.liveness import counting, lasso_system
from checker.transition_system import Property, TransitionSystem
from tests.engines.live_reference import Graph, complaint
from tests.engines.random_systems import random_live_system

KINDS = ("none", "weak", "strong", "mixed")


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


def outcomes(engine: Engine, system: TransitionSystem, budget: Budget | None = None) -> dict[Property, Outcome]:
    recorder = Recorder()
    engine.run(system, system.properties, budget or Budget(), recorder)
    assert set(recorder.outcomes) == set(system.properties)
    return recorder.outcomes


class Subject:
    """A system and what the reference says of its properties.  shortest: steps of a shortest lasso, None for none."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.graph = Graph(system)
        self.shortest: dict[Property, int | None] = {}
        for target in system.properties:
            violated = [self.graph.is_violated(case) for case in target.cases]
            lengths = [self.graph.shortest(case) for case in target.cases]
            assert violated == [length is not None for length in lengths], "the reference contradicts itself"
            self.shortest[target] = min((length for length in lengths if length is not None), default=None)

    def take(self, target: Property, lasso: Lasso) -> None:
        assert self.shortest[target] is not None, f"{target.name} is not violated"
        assert (wrong := complaint(self.system, target, lasso)) is None, wrong
        if lasso.shortest is not None:
            assert len(lasso.path.actions) == self.shortest[target]


Check = Callable[[Subject], None]


def by_fair_cycles(subject: Subject, module: ModuleType = fair_cycles) -> None:
    for target, outcome in outcomes(module.FairCycles(), subject.system).items():
        if isinstance(outcome, Lasso):
            subject.take(target, outcome)
        else:
            assert isinstance(outcome, NoFairCycle)
            assert subject.shortest[target] is None, f"{target.name} is violated"
            assert outcome.recheck() is None


def by_hull(subject: Subject, module: ModuleType = fair_hull) -> None:
    graph = state_graph(subject.system, Budget())
    states = SearchedStates(graph.layout, graph.table.seal(), Symmetry(graph.layout, ()), [])
    hulls = module.Hulls(states)
    for target, shortest in subject.shortest.items():
        assert (hulls.complaint(target) is None) == (shortest is None)


def by_lassos(subject: Subject, engine: Engine, module: ModuleType = lasso_system) -> None:
    """By an engine for states, on the system for lassos.  Bounded model checking goes as deep as the reference says."""
    for target, shortest in subject.shortest.items():
        lassos = module.lasso_system(subject.system, target)
        depth = None
        if engine.name == Bmc.name:
            depth = 5 if shortest is None else shortest + 1
        [outcome] = outcomes(engine, lassos.system, Budget(depth=depth)).values()
        match outcome:
            case Reached(path=path, shortest=why):
                subject.take(target, lassos.lasso(path, why))
            case Unreachable() | Inductive():
                assert shortest is None, f"{target.name} is violated"
            case _:
                assert isinstance(outcome, Bounded)
                assert engine.name == Bmc.name
                assert shortest is None


def by_counting(subject: Subject, module: ModuleType = counting) -> None:
    for target in subject.shortest:
        proofs: list[tuple[int, Inductive]] = []
        for number, case in enumerate(target.cases):
            for rounds in (1, 2, 4, 8, 16, 32, 64):
                system = module.counting_system(subject.system, case, rounds)
                [outcome] = outcomes(Ic3(), system.system).values()
                if isinstance(outcome, Inductive):
                    proofs.append((rounds, outcome))
                    break
                assert isinstance(outcome, Reached)
                lasso = system.lasso(outcome.path, number)
                if lasso is not None:
                    subject.take(target, lasso)
                    break
            else:
                raise AssertionError("more than 64 rounds, and no lasso, in a system with few states")
        if len(proofs) == len(target.cases):
            assert subject.shortest[target] is None, f"{target.name} is violated"
            proof = FewRounds(
                tuple(rounds for rounds, _ in proofs),
                tuple(proof.invariant for _, proof in proofs),
                proofs[0][1].frames,
            )
            assert module.complaint(subject.system, target, proof) is None


def by_search(subject: Subject, module: ModuleType = lasso_system) -> None:
    by_lassos(subject, Search(), module)


def subject(seed: int, kind: str, states: int = 25) -> Subject:
    return Subject(random_live_system(Random(f"{kind} {seed}"), kind, states))


def mutated(module: ModuleType, right: str, wrong: str) -> ModuleType:
    """A copy of the module in which a piece of the text, which occurs once, is another."""
    assert module.__file__ is not None
    text = File(module.__file__).read_text(encoding="utf-8")
    assert text.count(right) == 1, f"`{right}` stands {text.count(right)} times in {module.__name__}"
    copy = ModuleType(f"{module.__name__}_mutant")
    sys.modules[copy.__name__] = copy
    exec(compile(text.replace(right, wrong), f"mutant of {module.__file__}", "exec"), copy.__dict__)
    return copy
