"""No engine for states and steps calls a LIVE property safe: its `bad` is FALSE, and no such state is ever found."""

from __future__ import annotations

import numpy as np
import pytest

from checker.certificates.invariant import Invariant, check
from checker.engines.bmc import Bmc
from checker.engines.closed_set import SearchedStates
from checker.engines.engine import Budget, Coverage, Engine, Outcome, Progress, Undecided
from checker.engines.ic3 import Ic3
from checker.engines.packing import Layout
from checker.engines.parallel_bmc import ParallelBmc
from checker.engines.search import Search
from checker.engines.symmetry import Symmetry
from checker.logic.formula import FALSE, TRUE, Role, Variable, equals
from checker.logic.smtlib import obligations
from checker.transition_system import Action, Constant, Form, Kind, LiveCase, Property, TransitionSystem
from spec.event import Event, EventKind

CELL = Variable("cell", (0, 1), 0, Role.STORE)
FLIP = Action(0, Event(EventKind.STEP, site=0), Kind.THREAD, equals(CELL, 0), {CELL: Constant(1)})
NEVER_TWO = Property("an invariant", Form.INVARIANT, FALSE)
LIVE = Property("live", Form.LIVE, FALSE, cases=(LiveCase(TRUE, FALSE, from_start=True),))
"""Violated by every run: there is no goal."""


class Recorder:
    def __init__(self) -> None:
        self.outcomes: list[tuple[Property, Outcome]] = []
        self.coverages = 0

    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        self.outcomes.append((target, outcome))

    def covered(self, coverage: Coverage) -> None:
        self.coverages += 1


@pytest.mark.parametrize("engine", [Search(), Bmc(), ParallelBmc(), Ic3()], ids=lambda engine: engine.name)
@pytest.mark.parametrize("others", [(), (NEVER_TWO,)], ids=["alone", "beside an invariant"])
def test_an_engine_leaves_it_undecided(engine: Engine, others: tuple[Property, ...]) -> None:
    recorder = Recorder()
    properties = (*others, LIVE)
    engine.run(TransitionSystem((CELL,), (FLIP,), properties), properties, Budget(), recorder)
    assert len(recorder.outcomes) == len(properties)
    outcomes = dict(recorder.outcomes)
    assert isinstance(outcomes[LIVE], Undecided)
    assert all(not isinstance(outcomes[other], Undecided) for other in others)
    assert recorder.coverages == (1 if engine.name == "search" else 0)


def test_no_certificate_for_safety_covers_it() -> None:
    system = TransitionSystem((CELL,), (FLIP,), (LIVE,))
    assert check(system, LIVE, Invariant(())) is not None
    with pytest.raises(ValueError, match="live"):
        obligations(system, LIVE, Invariant(()).formula)
    layout = Layout(system)
    both = [np.concatenate(pair) for pair in zip(layout.columns((0,)), layout.columns((1,)), strict=True)]
    symmetry = Symmetry(layout, ())
    assert SearchedStates(layout, both, symmetry, [NEVER_TWO]).recheck() is None
    assert SearchedStates(layout, both, symmetry, [LIVE]).recheck() is not None
