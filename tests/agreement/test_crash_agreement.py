"""The crash-point map says what the interpreter finds by following all runs with one fault."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.agreement.crash_comparison import compare
from tests.agreement.fault_programs import FaultProgram
from tests.agreement.programs import Program

EXAMPLES = int(os.environ.get("COUNTERPOINT_PROGRAMS", "150")) // 10


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(st.data())
def test_every_cell_is_as_the_interpreter_finds(data: st.DataObject) -> None:
    """The same verdicts, and the same shortest length of each refutation."""
    kind = FaultProgram if data.draw(st.integers(0, 3)) else Program
    text = kind(lambda width: data.draw(st.integers(0, width - 1))).text()
    event("compared" if compare(text, states=300) else "not compared")
