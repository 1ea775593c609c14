"""Every engine agrees with the reference interpreter, on random programs in the language itself."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, event, given, seed, settings
from hypothesis import strategies as st

from tests.agreement.comparison import compare
from tests.agreement.programs import Program

EXAMPLES = int(os.environ.get("COUNTERPOINT_PROGRAMS", "800"))
PARTS = 4
"""So many processors can share the work."""


@pytest.mark.parametrize("part", range(PARTS))
def test_engines_and_interpreter_agree(part: int) -> None:
    """Same verdict, same shortest length, same states; every trace is confirmed by the interpreter."""

    @seed(part)
    @settings(
        max_examples=EXAMPLES // PARTS,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(st.data())
    def agree(data: st.DataObject) -> None:
        text = Program(lambda width: data.draw(st.integers(0, width - 1))).text()
        event("compared" if compare(text, states=1500, depth=6) else "too large")

    agree()
