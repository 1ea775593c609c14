"""Verdicts on random programs with `live` properties, with their evidence, against an oracle that shares no code."""

from __future__ import annotations

import random
import time

import pytest

from checker.confirm import Confirmation, Context
from checker.lower import LoweringLimit, lower
from checker.options import Options
from checker.planning.plan import Silence, decide
from checker.time_limit import TimeLimit
from checker.transition_system import Form
from checker.verdict import HoldsTo, Proved, Refuted, Undecided
from spec.interpreter import Interpreter
from spec.typed import Model
from tests.agreement.live_oracle import holds_live
from tests.agreement.oracle import TooLarge, explore
from tests.agreement.random_live import LiveProgram
from tests.spec.typecheck_models import check

STATES = 800
SECONDS = 3.0
"""For counting, which need not come to an end."""


def program(seed: int) -> Model:
    text = LiveProgram(random.Random(seed).randrange).text()
    return check(text).model


def verdicts(model: Model, engine: str, seconds: float) -> dict[str, object]:
    """Of the `live` properties, with the evidence confirmed; an OwnError where it does not stand is raised."""
    lowered = lower(model)
    targets = [target for target in lowered.system.properties if target.form is Form.LIVE]
    decisions = decide(
        lowered.system, targets, (), Options(engine=engine), Silence(), TimeLimit(time.monotonic() + seconds)
    )
    assert not decisions.failures, decisions.failures
    confirmation = Confirmation(lowered, Interpreter(model), Context((), {}))
    return {target.name: confirmation.verdict(target, decisions.of(target), (target,)) for target in targets}


@pytest.mark.parametrize("block", range(4))
def test_verdicts_agree_with_the_interpreters_graph(block: int) -> None:
    compared = 0
    for seed in range(block * 5, block * 5 + 5):
        model = program(seed)
        interpreter = Interpreter(model)
        try:
            graph = explore(interpreter, STATES)
            by_search = verdicts(model, "search", 60.0)
        except (TooLarge, LoweringLimit):
            continue
        by_counting = verdicts(model, "ic3", SECONDS) if len(graph.depth) < 120 else {}
        for declared in model.properties:
            truth = holds_live(graph, interpreter, declared)
            found = by_search[declared.name]
            assert isinstance(found, Proved if truth else Refuted), (seed, declared.name, found)
            counted = by_counting.get(declared.name, Undecided(""))
            allowed = (Proved if truth else Refuted, Undecided, HoldsTo)
            assert isinstance(counted, allowed), (seed, declared.name, counted)
            compared += 1
    assert compared > 1
