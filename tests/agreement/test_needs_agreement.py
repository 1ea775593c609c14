"""The fault sets that the checker finds are those that the interpreter finds by trying every subset."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.agreement.fault_programs import FaultProgram
from tests.agreement.needs_comparison import compare
from tests.agreement.programs import Program

EXAMPLES = int(os.environ.get("COUNTERPOINT_PROGRAMS", "150")) // 3


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(st.data())
def test_minimal_and_maximal_fault_sets_are_exact(data: st.DataObject) -> None:
    """The same sets, and the same shortest length with each minimal one."""
    kind = FaultProgram if data.draw(st.integers(0, 3)) else Program
    text = kind(lambda width: data.draw(st.integers(0, width - 1))).text()
    event("compared" if compare(text, states=800) else "not compared")
