"""Proofs by invariants are checked twice before they count; here each check is given something wrong to find."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from checker.certificates import invariance
from checker.certificates.certificate import Flaw
from checker.certificates.claim import Declared
from checker.certificates.invariance import InvariantCertificate, NoAnswer, certify_invariant
from checker.certificates.invariant import Invariant
from checker.certificates.walks import Walks
from checker.coding import BudgetedCoding
from checker.engines.engine import Budget, Inductive, Reporter
from checker.exitcode import ExitCode
from checker.logic.formula import Formula, member
from checker.lower import Lowered, lower
from checker.options import Options
from checker.planning import plan
from checker.transition_system import Property, TransitionSystem
from checker.verdict import Proved, Undecided
from spec.event import Event
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typecheck import Choice, typecheck
from tests.checker.lease import checked, module_of, write
from tests.checker.samples import FakeEngine


@dataclass
class Model:
    lowered: Lowered
    interpreter: Interpreter
    target: Property
    invariant: Invariant
    """The one of `tests.checker.lease`, written down by hand."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    checked_model = typecheck(module_of(write(tmp_path_factory.mktemp("model"))), Choice("with_care"))
    assert not isinstance(checked_model, tuple)
    lowered = lower(checked_model.model)
    cubes: list[tuple[Formula, ...]] = []
    for job in (0, 1):
        ran = literal(lowered, f"ran[Job#{job}]", "False")
        cubes.append((literal(lowered, f"db.finished[Job#{job}]", "True"), ran))
        for worker in (0, 1):
            finish = last_stop(lowered, f"Worker[{worker}].work control")
            j = literal(lowered, f"Worker[{worker}].work.j", f"Job#{job}", "dead")
            cubes.append((finish, j, ran))
    target = next(p for p in lowered.system.properties if p.name == "finished_was_run")
    return Model(lowered, Interpreter(checked_model.model), target, Invariant(tuple(cubes)))


def literal(lowered: Lowered, name: str, *values: str) -> Formula:
    variable = next(variable for variable in lowered.system.variables if variable.name == name)
    return member(variable, sum(1 << c for c, value in enumerate(variable.values) if str(value) in values))


def last_stop(lowered: Lowered, name: str) -> Formula:
    variable = next(variable for variable in lowered.system.variables if variable.name == name)
    last = max(getattr(value, "position", -1) for value in variable.values)
    (code,) = [c for c, value in enumerate(variable.values) if getattr(value, "position", -1) == last]
    return member(variable, 1 << code)


class Steps:
    """The interpreter's steps, changed."""

    def __init__(self, interpreter: Interpreter, change: Callable[[GlobalState], GlobalState] = lambda s: s) -> None:
        self.interpreter = interpreter
        self.change = change
        self.asked = 0

    def successors(self, state: GlobalState) -> Sequence[tuple[Event, GlobalState]]:
        self.asked += 1
        return [(event, self.change(after)) for event, after in self.interpreter.successors(state)]


def certified(model: Model, invariant: Invariant, walks: Walks | None = None) -> InvariantCertificate | Flaw:
    declared = next(d for d in model.lowered.model.properties if d.name == model.target.name)
    return certify_invariant(
        model.lowered.system,
        model.target,
        invariant,
        "ic3",
        4,
        Declared(declared, model.interpreter),
        walks or walks_of(model),
    )


def walks_of(model: Model, steps: Steps | None = None) -> Walks:
    coding = BudgetedCoding(model.lowered, model.interpreter)
    start = model.interpreter.initial()
    return Walks(coding, steps or Steps(model.interpreter), start, model.lowered.system.initial)


def test_a_sound_invariant_is_certified(model: Model) -> None:
    found = certified(model, model.invariant)
    assert isinstance(found, InvariantCertificate)
    assert found.clauses == 6
    assert found.walked > 100


def test_the_walks_are_the_same_each_time(model: Model) -> None:
    one, other = certified(model, model.invariant), certified(model, model.invariant)
    assert one == other


def test_walks_are_taken_once_and_looked_at_to_the_end_each_time(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when a flaw has cut the first look short."""
    steps = Steps(model.interpreter)
    walks = walks_of(model, steps)
    with monkeypatch.context() as patch:
        patch.setattr(invariance, "check", lambda *_, **__: None)
        wrong = certified(
            model, Invariant((*model.invariant.cubes, (literal(model.lowered, "ran[Job#0]", "True"),))), walks
        )
    assert isinstance(wrong, Flaw)
    early = steps.asked
    first = certified(model, model.invariant, walks)
    asked = steps.asked
    assert early < asked
    assert certified(model, model.invariant, walks) == first == certified(model, model.invariant)
    assert steps.asked == asked


@pytest.mark.parametrize("number", range(6))
def test_without_any_one_clause_it_is_none(number: int, model: Model) -> None:
    cubes = model.invariant.cubes[:number] + model.invariant.cubes[number + 1 :]
    found = certified(model, Invariant(cubes))
    assert isinstance(found, Flaw)
    assert "fails its re-check" in found.message


def test_the_interpreter_finds_a_state_outside(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the solver had been wrong: `Job#0 never runs` is not inductive."""
    monkeypatch.setattr(invariance, "check", lambda *_, **__: None)
    wrong = Invariant((*model.invariant.cubes, (literal(model.lowered, "ran[Job#0]", "True"),)))
    found = certified(model, wrong)
    assert isinstance(found, Flaw)
    assert "clause 6 does not hold" in found.message
    assert found.after is not None


def test_the_interpreter_finds_a_violation(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the lowering had a finished job run that is not: the interpreter forgets what was run."""
    monkeypatch.setattr(invariance, "check", lambda *_, **__: None)

    def forget(state: GlobalState) -> GlobalState:
        return replace(state, ghosts=model.interpreter.initial().ghosts)

    found = certified(model, Invariant(()), walks_of(model, Steps(model.interpreter, forget)))
    assert isinstance(found, Flaw)
    assert "finds finished_was_run violated" in found.message


def test_an_interpreter_that_stumbles_is_a_flaw(model: Model) -> None:
    def stumble(state: GlobalState) -> GlobalState:
        raise ZeroDivisionError("oops")

    found = certified(model, model.invariant, walks_of(model, Steps(model.interpreter, stumble)))
    assert isinstance(found, Flaw)
    assert "oops" in found.message


def test_a_solver_without_an_answer_is_no_flaw(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariance, "SOLVER_SECONDS", -1.0)
    with pytest.raises(NoAnswer):
        certified(model, model.invariant)


# ------------------------------------------------------------------------------------------------------ in a check


def install(monkeypatch: pytest.MonkeyPatch, cubes: tuple[tuple[Formula, ...], ...] = ()) -> None:
    """An IC3 that says that all is proved by the same invariant."""

    def run(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        for target in targets:
            reporter.decided(target, Inductive(Invariant(cubes), 1))

    monkeypatch.setitem(plan.ENGINES, "ic3", lambda: FakeEngine("ic3", run))


def test_a_wrong_proof_is_our_own_error_and_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from checker.check import check_file

    install(monkeypatch)
    options = Options(engine="ic3", variants=("in_haste",))
    report = check_file(write(tmp_path), options, library=tmp_path)
    results = {result.name: result.verdict for result in report.variants[0].properties}
    assert isinstance(results["finished_was_run"], Undecided)
    assert report.code(options) is ExitCode.OWN_ERROR


def test_a_proof_that_the_solver_cannot_check_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariance, "SOLVER_SECONDS", -1.0)
    options = Options(engine="ic3", variants=("with_care",), properties=("finished_was_run",))
    report = checked(write(tmp_path), options)
    verdict = next(result.verdict for result in report.properties if result.name == "finished_was_run")
    assert isinstance(verdict, Undecided)
    assert "could not be checked" in verdict.reason
    assert report.code(options) is ExitCode.INCONCLUSIVE


def test_the_real_thing(tmp_path: Path) -> None:
    report = checked(write(tmp_path), Options(engine="ic3", variants=("with_care",)))
    verdict = next(result.verdict for result in report.properties if result.name == "finished_was_run")
    assert isinstance(verdict, Proved)
    assert isinstance(verdict.certificate, InvariantCertificate)
    assert verdict.certificate.clauses == 6


def test_killed_engines_and_no_memory_leave_undecided_and_exit_code_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hungry(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        raise MemoryError

    def killed(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    for name, behaviour in (("search", hungry), ("ic3", killed), ("parallel", killed), ("bmc", killed)):
        monkeypatch.setitem(plan.ENGINES, name, partial(FakeEngine, name, behaviour))
    report = checked(write(tmp_path), Options(variants=("with_care",)))
    verdict = next(result.verdict for result in report.properties if result.name == "finished_was_run")
    assert verdict == Undecided(
        "search: search ran out of memory; ic3: its process was ended by signal 9 (SIGKILL); "
        "parallel: its process was ended by signal 9 (SIGKILL); bmc: its process was ended by signal 9 (SIGKILL)"
    )
    assert report.code(Options()) is ExitCode.INCONCLUSIVE
