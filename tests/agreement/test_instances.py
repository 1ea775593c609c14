"""Fault classes of single instances: interpreter, lowering, search, and the fault sets that are found, agree."""

from __future__ import annotations

import os
import random

import pytest

from tests.agreement import instance_comparison, needs_comparison

PROGRAMS = int(os.environ.get("COUNTERPOINT_PROGRAMS", "200"))


@pytest.mark.parametrize("first", range(0, PROGRAMS // 5, 10))
def test_interpreter_and_lowering_agree(first: int) -> None:
    """The same steps as with classes of all instances; the same states and verdicts with some of them only."""
    draws = [random.Random(seed) for seed in range(first, first + 10)]
    assert sum(instance_comparison.compare(instance_comparison.program(draw), 1500, draw) for draw in draws) > 0


@pytest.mark.parametrize("first", range(0, PROGRAMS // 10, 10))
def test_minimal_and_maximal_fault_sets_are_exact(first: int) -> None:
    texts = [instance_comparison.program(random.Random(seed)) for seed in range(first, first + 10)]
    assert sum(needs_comparison.compare(text, 800, per_instance=True) for text in texts) > 0
