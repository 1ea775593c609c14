"""Every engine agrees with the reference interpreter, on random programs in the language itself."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.agreement.comparison import compare
from tests.agreement.programs import Program

EXAMPLES = int(os.environ.get("COUNTERPOINT_PROGRAMS", "800"))


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(st.data())
def test_engines_and_interpreter_agree(data: st.DataObject) -> None:
    """Same verdict, same shortest length, same states; every trace is confirmed by the interpreter."""
    text = Program(lambda width: data.draw(st.integers(0, width - 1))).text()
    event("compared" if compare(text, states=1500, depth=6) else "too large")
