"""The model: a switch that goes from OFF to ON or to BROKEN, and from BROKEN nowhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker.certificates.claim import Asserted, Declared, NoModelError
from spec.interpreter import Interpreter
from spec.load import load
from spec.state import ErrorKind, GlobalState, ModelError
from spec.syntax import Module
from spec.typecheck import Checked, typecheck
from spec.typed import PropertyForm
from spec.value import Member

MODEL = """\
enum Position { OFF, ON, BROKEN }
store db { durable at: Position }
process P {
  task flip { either { db.at := ON } or { db.at := BROKEN } }
}
invariant off: db.at == OFF
step invariant stays: db.at == ON => db.at' == ON
cover on: db.at == ON
at rest done: db.at == ON
recoverable can_be_on: db.at == ON
"""


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    path = tmp_path_factory.mktemp("claim") / "switch.cpt"
    path.write_text(MODEL)
    module = load(path, Path())
    assert isinstance(module, Module), module
    found = typecheck(module)
    assert isinstance(found, Checked), found
    return Interpreter(found.model)


def claim(name: str, interpreter: Interpreter) -> Declared:
    return Declared(next(p for p in interpreter.model.properties if p.name == name), interpreter)


def state(position: str, interpreter: Interpreter) -> GlobalState:
    """OFF: the initial state; the others: where the two branches lead."""
    if position == "OFF":
        return interpreter.initial()
    wanted = Member("Position", position)
    return next(s for _, s in interpreter.successors(interpreter.initial()) if s.values["db", "at"] == wanted)


@pytest.mark.parametrize(
    ("name", "violated"),
    [("off", {"ON", "BROKEN"}), ("on", {"ON"}), ("done", {"OFF", "BROKEN"}), ("can_be_on", {"OFF", "BROKEN"})],
)
def test_states(name: str, violated: set[str], interpreter: Interpreter) -> None:
    found = {p for p in ("OFF", "ON", "BROKEN") if claim(name, interpreter).state_violates(state(p, interpreter))}
    assert found == violated


def test_steps(interpreter: Interpreter) -> None:
    stays = claim("stays", interpreter)
    assert stays.form is PropertyForm.STEP_INVARIANT
    assert stays.step_violates(state("ON", interpreter), state("BROKEN", interpreter))
    assert not stays.step_violates(state("ON", interpreter), state("ON", interpreter))
    assert not stays.step_violates(state("OFF", interpreter), state("ON", interpreter))


@pytest.mark.parametrize("name", ["done", "can_be_on"])
def test_only_the_broken_switch_is_lost(name: str, interpreter: Interpreter) -> None:
    """From OFF a step leads on; BROKEN is the end of the run."""
    assert claim(name, interpreter).is_rescued(state("OFF", interpreter), 100) is True
    assert claim(name, interpreter).is_rescued(state("BROKEN", interpreter), 100) is False


def test_a_limit_leaves_the_question_open(interpreter: Interpreter) -> None:
    assert claim("can_be_on", interpreter).is_rescued(state("OFF", interpreter), 1) is None


def test_a_run_that_ended_in_an_error_violates_nothing_else(interpreter: Interpreter) -> None:
    failed = replace(state("BROKEN", interpreter), error=ModelError(ErrorKind.RANGE, 1))
    for declared in interpreter.model.properties:
        assert not claim(declared.name, interpreter).state_violates(failed)
        assert not claim(declared.name, interpreter).step_violates(state("ON", interpreter), failed)
    assert NoModelError().state_violates(failed)
    assert not Asserted("assert_3", frozenset({1})).state_violates(failed)


def test_a_failed_assertion_is_a_matter_apart(interpreter: Interpreter) -> None:
    failed = replace(state("ON", interpreter), error=ModelError(ErrorKind.ASSERTION, 7))
    assert not NoModelError().state_violates(failed)
    assert Asserted("assert_3", frozenset({7})).state_violates(failed)
    assert not Asserted("assert_4", frozenset({8})).state_violates(failed)
    assert not NoModelError().state_violates(state("ON", interpreter))
