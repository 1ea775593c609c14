"""Who is stuck: the interpreter, the lowering and two engines against an oracle of the whole graph."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.agreement.stuck_comparison import compare, program
from tests.checker.stuck_models import MODELS, StuckModel

PROGRAMS = int(os.environ.get("COUNTERPOINT_STUCK_PROGRAMS", "240"))
BLOCKS = 6


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_programs(block: int) -> None:
    size = PROGRAMS // BLOCKS
    found = Counter(compare(program(seed), 250) for seed in range(block * size, (block + 1) * size))
    assert found["goes on"] + found["stuck"] > size // 10, found


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_models(model: StuckModel) -> None:
    found = compare(model.text, 2000)
    assert (found == "stuck") is bool(model.stuck) or found == "blocked in turns"
