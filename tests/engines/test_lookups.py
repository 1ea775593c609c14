"""Looking up packed states one by one gives what looking them up together gives."""

from __future__ import annotations

import random

import numpy as np
import pytest

from checker.engines.closed_set import _SortedIndex
from checker.engines.packing import distinct


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("most", [3, 2**64 - 1])
def test_one_state_is_found_where_a_set_of_tuples_has_it(words: int, most: int) -> None:
    """Few values make states that agree in some words only; large ones reach the top bit."""
    drawn = random.Random(words)
    states = list({tuple(drawn.choice((0, 1, most - 1, most)) for _ in range(words)) for _ in range(40 * words)})
    kept = states[: len(states) // 2 + 1]
    columns = [np.array(column, dtype=np.uint64) for column in zip(*kept, strict=True)]
    index = _SortedIndex(columns)
    assert len({index.find_one(state) for state in kept}) == len(kept)
    for state in states:
        found = index.find_one(state)
        assert (found >= 0) == (state in kept)
        assert found == index.find([np.array([word], dtype=np.uint64) for word in state])[0]
        if found >= 0:
            assert tuple(int(column[index.order[found]]) for column in columns) == state


def test_distinct_numbers_are_those_of_a_set() -> None:
    drawn = random.Random(1)
    for size in (0, 1, 2, 50):
        numbers = [drawn.randrange(20) for _ in range(size)]
        assert distinct(np.array(numbers, dtype=np.int32)).tolist() == sorted(set(numbers))
