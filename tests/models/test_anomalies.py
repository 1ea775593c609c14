"""The thirteen anomaly classes of `lib/anomalies.cpt`, each with a case where it is there and cases where it is not.

The cases are written from the report's definitions ("Jepsen, Orkes Conductor 5.3.2", section 2, test design).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker import catalogue
from spec.interpreter import Interpreter
from spec.load import load
from spec.typecheck import Checked, Choice, typecheck

CASES = [
    ("backend_error(true, false)", True),
    ("backend_error(true, true)", False),
    ("backend_error(false, false)", False),
    ("concurrent_execution(2)", True),
    ("concurrent_execution(1)", False),
    ("concurrent_execution(0)", False),
    ("different_task_input(false, true)", True),
    ("different_task_input(true, false)", True),
    ("different_task_input(true, true)", False),
    ("different_workflow_input(true, false)", True),
    ("different_workflow_input(true, true)", False),
    ("different_workflow_input(false, false)", False),
    ("different_workflow_output(true, true, false)", True),
    ("different_workflow_output(true, true, true)", False),
    ("different_workflow_output(true, false, false)", False),
    ("different_workflow_output(false, true, false)", False),
    ("duplicate_workflow_id(2)", True),
    ("duplicate_workflow_id(1)", False),
    ("g1a(true, true)", True),
    ("g1a(true, false)", False),
    ("g1a(false, true)", False),
    ("impossible_output(true, false)", True),
    ("impossible_output(true, true)", False),
    ("impossible_output(false, false)", False),
    ("incomplete(true, false)", True),
    ("incomplete(true, true)", False),
    ("incomplete(false, false)", False),
    ("missing(true, false)", True),
    ("missing(true, true)", False),
    ("missing(false, false)", False),
    ("never_started(true, false)", True),
    ("never_started(true, true)", False),
    ("never_started(false, false)", False),
    ("null_workflow_id(true, false)", True),
    ("null_workflow_id(true, true)", False),
    ("null_workflow_id(false, false)", False),
    ("task_never_executed(true, false)", True),
    ("task_never_executed(true, true)", False),
    ("task_never_executed(false, false)", False),
]


def test_there_are_thirteen_classes() -> None:
    text = (catalogue.library() / "lib" / "anomalies.cpt").read_text()
    defined = {line.split("(")[0].removeprefix("def ") for line in text.splitlines() if line.startswith("def ")}
    assert len(defined) == 13
    assert defined == {case.split("(")[0] for case, _ in CASES}


@pytest.mark.parametrize(("call", "there"), CASES)
def test_class(call: str, there: bool, tmp_path: Path) -> None:
    # `s.n` is false at first, so the condition is the call's value there; an invariant has to read some state.
    path = tmp_path / "case.cpt"
    path.write_text(f"""
import "lib/anomalies.cpt"
store s {{ durable n: bool }}
process P[1] {{ on go() {{ s.n := not s.n }} }}
invariant case: s.n or {call}
""")
    module = load(path, catalogue.library())
    assert not isinstance(module, tuple), module
    checked = typecheck(module, Choice())
    assert isinstance(checked, Checked), checked
    interpreter = Interpreter(checked.model)
    (declared,) = checked.model.properties
    assert interpreter.holds(declared.condition, interpreter.initial()) is there
