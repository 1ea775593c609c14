"""Properties of infinite runs, from the model's text to the verdict; the expected ones are worked out by hand in
`tests/checker/live_models.py`."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from checker.bundle import OwnError
from checker.certificates import proof_file
from checker.certificates.invariant import Invariant
from checker.certificates.proof_terms import BadCertificate
from checker.check import check_file
from checker.confirm import Confirmation, Context
from checker.engines.closed_set import SearchedStates, See
from checker.engines.engine import Budget, FewRounds, Lasso, NoFairCycle
from checker.engines.fair_hull import Hulls
from checker.engines.state_graph import state_graph
from checker.engines.symmetry import Symmetry
from checker.exitcode import ExitCode
from checker.liveness.assumptions import Assumption, AssumptionKind, requests
from checker.liveness.counting import counting_system
from checker.liveness.fairness_needs import Relied, Repairs
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from checker.logic.formula import TRUE, equals, negate
from checker.lower import Lowered, lower
from checker.needs.needs import Needs
from checker.options import Options
from checker.planning.decisions import Decision
from checker.planning.plan import Silence, decide
from checker.remark import RemarkKind
from checker.result import PropertyResult, VariantReport
from checker.time_limit import TimeLimit
from checker.transition_system import FairnessConstraint, Property
from checker.verdict import HoldsTo, Judgement, Proved, Refuted, Undecided
from spec import syntax
from spec.interpreter import Interpreter
from spec.load import load
from spec.typecheck import Choice, typecheck
from spec.typed import Fairness, Model
from tests.checker.live_models import COUNTER, CRASHED, DOOR, JOBS, LAZY, MODELS, PROVED, STRONG_DOOR, LiveModel
from tests.command import ROOT, counterpoint
from tests.stand_in import InPlaceOf


def write(folder: Path, text: str) -> Path:
    path = folder / "model.cpt"
    path.write_text(text, encoding="utf-8")
    return path


def checked(folder: Path, text: str, options: Options | None = None) -> VariantReport:
    report = check_file(write(folder, text), options or Options(), library=folder)
    assert not report.errors, report.errors
    (variant,) = report.variants
    assert not variant.failures, variant.failures
    return variant


def live(report: VariantReport) -> dict[str, PropertyResult]:
    return {result.name: result for result in report.properties if result.form.value == "live"}


def module_of(path: Path) -> syntax.Module:
    module = load(path, path.parent)
    assert not isinstance(module, tuple), module
    return module


def model_of(folder: Path, text: str) -> Model:
    found = typecheck(module_of(write(folder, text)), Choice())
    assert not isinstance(found, tuple), found
    return found.model


# ----------------------------------------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_verdicts(model: LiveModel, tmp_path: Path) -> None:
    found = live(checked(tmp_path, model.text))
    assert set(found) == set(model.verdicts)
    for name, expected in model.verdicts.items():
        verdict = found[name].verdict
        if expected == PROVED:
            assert isinstance(verdict, Proved), (name, verdict)
            continue
        assert isinstance(verdict, Refuted), (name, verdict)
        assert_lasso(verdict, expected, name)


def assert_lasso(verdict: Refuted, expected: str | tuple[int, int], name: str) -> None:
    loop = verdict.trace.loop
    assert loop is not None
    assert (len(verdict.trace), len(verdict.trace) - loop) == expected, name
    assert verdict.shortest is not None, name


@pytest.mark.parametrize("model", [COUNTER, STRONG_DOOR, JOBS, LAZY], ids=lambda model: model.name)
def test_counting_proves_and_never_errs(model: LiveModel, tmp_path: Path) -> None:
    for name, result in live(checked(tmp_path, model.text, Options(engine="ic3"))).items():
        verdict = result.verdict
        if model.verdicts[name] == PROVED:
            assert isinstance(verdict, Proved), (name, verdict)
            assert isinstance(verdict.certificate, RoundsCertificate)
            assert verdict.certificate.longest < verdict.certificate.bound
            assert verdict.certificate.walked > 0
        else:
            assert isinstance(verdict, Refuted | Undecided), (name, verdict)


@pytest.mark.parametrize("model", [COUNTER, DOOR, CRASHED], ids=lambda model: model.name)
def test_bounded_model_checking_finds_shortest_lassos_and_proves_nothing(model: LiveModel, tmp_path: Path) -> None:
    for name, result in live(checked(tmp_path, model.text, Options(engine="bmc", depth=6))).items():
        verdict = result.verdict
        if model.verdicts[name] == PROVED:
            assert isinstance(verdict, HoldsTo), (name, verdict)
        else:
            assert isinstance(verdict, Refuted), (name, verdict)
            assert_lasso(verdict, model.verdicts[name], name)
            assert verdict.engine == "bmc"


def test_the_search_alone(tmp_path: Path) -> None:
    found = live(checked(tmp_path, DOOR.text, Options(engine="search")))
    proof, lasso = found["swings"].verdict, found["enters"].verdict
    assert isinstance(proof, Proved)
    assert isinstance(proof.certificate, CycleCertificate)
    assert isinstance(lasso, Refuted)
    assert lasso.engine == "search"


def test_an_engine_for_states_alone_leaves_it_undecided(tmp_path: Path) -> None:
    for result in live(checked(tmp_path, COUNTER.text, Options(engine="parallel", depth=5))).values():
        assert result.verdict == Undecided("parallel looks at states and steps, not at infinite runs")


def test_without_time_nothing_is_proved(tmp_path: Path) -> None:
    for result in live(checked(tmp_path, JOBS.text, Options(timeout=0.001, fairness=True))).values():
        assert isinstance(result.verdict, Undecided)
        assert result.code(Options()) is ExitCode.INCONCLUSIVE


def test_too_many_states_prove_nothing(tmp_path: Path) -> None:
    """The counter has five states.  Its lassos are not reached with three."""
    for result in live(checked(tmp_path, COUNTER.text, Options(engine="search", states=3))).values():
        assert isinstance(result.verdict, HoldsTo | Undecided), result


# ------------------------------------------------------------------------------------------- evidence that is not true


@pytest.fixture
def door(tmp_path: Path) -> Lowered:
    return lower(model_of(tmp_path, STRONG_DOOR.text))


def target_of(lowered: Lowered, name: str) -> Property:
    return next(target for target in lowered.system.properties if target.name == name)


def outcome_of(lowered: Lowered, name: str, engine: str) -> Decision:
    target = target_of(lowered, name)
    decisions = decide(lowered.system, (target,), (), Options(engine=engine), Silence(), TimeLimit(deadline()))
    assert not decisions.failures
    return decisions.of(target)


def deadline() -> float:
    return time.monotonic() + 60


def confirm(lowered: Lowered, name: str, decision: Decision) -> object:
    confirmation = Confirmation(lowered, Interpreter(lowered.model), Context((), {}))
    target = target_of(lowered, name)
    return confirmation.verdict(target, decision, (target,))


def with_constraints(lowered: Lowered, *fairness: FairnessConstraint) -> Lowered:
    return replace(lowered, system=replace(lowered.system, fairness=fairness))


def test_a_proof_that_assumes_what_the_model_does_not_is_rejected(tmp_path: Path) -> None:
    """The guest is weakly fair, and the transition system says that he is strongly fair."""
    lowered = lower(model_of(tmp_path, DOOR.text))
    wrong = with_constraints(lowered, *(replace(each, strong=True) for each in lowered.system.fairness))
    for engine in ("search", "ic3"):
        decision = outcome_of(wrong, "enters", engine)
        assert isinstance(decision.outcome, NoFairCycle | FewRounds)
        with pytest.raises(OwnError, match="how fair"):
            confirm(wrong, "enters", decision)


def test_a_proof_by_wrong_enabledness_is_rejected(door: Lowered) -> None:
    """The transition system says of the guest that he can always move."""
    wrong = with_constraints(door, *(replace(each, enabled=TRUE) for each in door.system.fairness))
    for engine in ("search", "ic3"):
        decision = outcome_of(wrong, "enters", engine)
        with pytest.raises(OwnError, match="for fair and able"):
            confirm(wrong, "enters", decision)


def test_a_proof_of_another_property_is_rejected(door: Lowered) -> None:
    """The goal of the transition system is one that is always reached: that the door is closed."""
    opened, entered = target_of(door, "opened"), target_of(door, "enters")
    case = replace(entered.cases[0], goal=negate(opened.cases[0].goal))
    other = replace(entered, cases=(case,))
    properties = tuple(other if each is entered else each for each in door.system.properties)
    wrong = replace(door, system=replace(door.system, properties=properties))
    for engine in ("search", "ic3"):
        decision = outcome_of(wrong, "enters", engine)
        assert isinstance(decision.outcome, NoFairCycle | FewRounds)
        with pytest.raises(OwnError, match="something else"):
            confirm(wrong, "enters", decision)


def test_a_search_that_overlooks_a_cycle_is_caught_by_the_second_algorithm(door: Lowered) -> None:
    """The proof of one property, handed over for another that is refuted."""
    proof = outcome_of(door, "swings", "search")
    assert isinstance(proof.outcome, NoFairCycle)
    settles = target_of(door, "settles")
    hulls = proof.outcome.closed_set
    assert isinstance(hulls, Hulls)
    recheck = partial(hulls.complaint, settles)
    with pytest.raises(OwnError, match="re-check"):
        confirm(door, "settles", Decision("search", replace(proof.outcome, recheck=recheck)))


def test_a_set_that_is_not_closed_proves_nothing(door: Lowered) -> None:
    """All states but the last one that was found: a step leads to it."""
    graph = state_graph(door.system, Budget())
    most = [column[:-1] for column in graph.table.seal()]
    hulls = Hulls(SearchedStates(graph.layout, most, Symmetry(graph.layout, ()), []))
    target = target_of(door, "swings")
    assert "leads out of the set" in (hulls.recheck() or "")
    assert hulls.complaint(target) == hulls.recheck()
    outcome = NoFairCycle(hulls, graph.depth, partial(hulls.complaint, target))
    with pytest.raises(OwnError, match="leads out of the set"):
        confirm(door, "swings", Decision("search", outcome))


def test_that_a_set_is_closed_is_found_out_once(door: Lowered, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []
    whole = SearchedStates.recheck

    def recheck(self: SearchedStates, see: See | None = None) -> str | None:
        checked.append(self)
        return whole(self, see)

    monkeypatch.setattr(SearchedStates, "recheck", InPlaceOf(whole)(recheck))
    confirmed = confirm(door, "swings", outcome_of(door, "swings", "search"))
    assert isinstance(confirmed, Proved)
    assert len(checked) == 1


def test_fewer_rounds_than_go_by_are_rejected(door: Lowered) -> None:
    proof = outcome_of(door, "enters", "ic3").outcome
    assert isinstance(proof, FewRounds)
    confirmed = confirm(door, "enters", Decision("ic3", proof))
    assert isinstance(confirmed, Proved)
    with pytest.raises(OwnError, match="re-check"):
        confirm(door, "enters", Decision("ic3", replace(proof, rounds=(1,))))
    with pytest.raises(OwnError, match="re-check"):
        confirm(door, "enters", Decision("ic3", replace(proof, invariants=(Invariant(()),))))


def test_an_interpreter_that_sees_more_rounds_is_heard(door: Lowered, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the solver accepts the proof: here it is not asked."""
    from checker.liveness import live_proof

    monkeypatch.setattr(live_proof, "complaint", lambda *_: None)
    case = target_of(door, "enters").cases[0]
    everything = Invariant(())
    proof = FewRounds((1,), (everything,), 1)
    assert counting_system(door.system, case, 1).count.size == 2
    with pytest.raises(OwnError, match=r"fair rounds go by, not fewer than 1"):
        confirm(door, "enters", Decision("ic3", proof))


def test_an_invariant_that_the_interpreter_leaves_is_rejected(door: Lowered, monkeypatch: pytest.MonkeyPatch) -> None:
    from checker.liveness import live_proof

    monkeypatch.setattr(live_proof, "complaint", lambda *_: None)
    place = next(variable for variable in door.system.variables if variable.name == "db.open")
    never_open = Invariant(((equals(place, 1),),))
    with pytest.raises(OwnError, match="clause 0 does not hold"):
        confirm(door, "enters", Decision("ic3", FewRounds((50,), (never_open,), 1)))


def test_a_lasso_that_is_not_fair_is_rejected(door: Lowered) -> None:
    """The strongly fair guest never enters, though the door opens again and again."""
    weak = with_constraints(door, *(replace(each, strong=False) for each in door.system.fairness))
    decision = outcome_of(weak, "enters", "search")
    assert isinstance(decision.outcome, Lasso)
    with pytest.raises(OwnError, match="disagrees"):
        confirm(weak, "enters", decision)


# ----------------------------------------------------------------------------------------------------------- fairness


def thread(name: str) -> Assumption:
    return Assumption(AssumptionKind.THREAD, name)


def restart(name: str) -> Assumption:
    return Assumption(AssumptionKind.RECOVERY, f"restart {name}")


def sets(result: PropertyResult) -> list[dict[Assumption, Fairness]]:
    assert isinstance(result.fairness, Relied)
    assert result.fairness.complete
    return [{each.assumption: each.fairness for each in one.needed} for one in result.fairness.sets]


def test_what_proofs_need(tmp_path: Path) -> None:
    """Without the swinging door nothing happens; with a weakly fair guest the door may be closed whenever he looks:
    the lasso without him is that of `DOOR`."""
    found = live(checked(tmp_path, STRONG_DOOR.text, Options(fairness=True)))
    weak_door = {thread("Door.swing"): Fairness.WEAK}
    assert sets(found["enters"]) == [{**weak_door, thread("Guest.enter"): Fairness.STRONG}]
    assert sets(found["swings"]) == [weak_door]
    relied = found["enters"].fairness
    assert isinstance(relied, Relied)
    by_name = {each.assumption.name: each.without.trace for each in relied.sets[0].needed}
    assert (len(by_name["Guest.enter"]), by_name["Guest.enter"].loop) == (2, 0)
    assert (len(by_name["Door.swing"]), by_name["Door.swing"].loop) == (0, 0)
    assert isinstance(found["settles"].fairness, Repairs)
    assert not found["settles"].fairness.found


def test_what_a_recovery_is_good_for(tmp_path: Path) -> None:
    found = live(checked(tmp_path, JOBS.text, Options(fairness=True)))
    assert sets(found["done"]) == [{thread("Worker.work"): Fairness.WEAK, restart("Worker"): Fairness.WEAK}]
    repairs = found["submitted"].fairness
    assert isinstance(repairs, Repairs)
    (asked,) = requests(model_of(tmp_path, JOBS.text))
    assert [(each.assumption, each.fairness) for each in repairs.found] == [(asked, Fairness.WEAK)]


# Either thread does it alone, so each is a minimal set of its own.
TWO_WAYS = """\
store db { durable done: bool }
process P {
  task one { db.done := true }
  strongly fair task other { db.done := true }
}
live finishes: eventually db.done
"""


def test_all_minimal_sets(tmp_path: Path) -> None:
    found = live(checked(tmp_path, TWO_WAYS, Options(fairness=True)))
    assert sets(found["finishes"]) == [{thread("P.one"): Fairness.WEAK}, {thread("P.other"): Fairness.WEAK}]


def repaired(folder: Path, text: str, name: str) -> list[tuple[str, str]]:
    """The repair that is named without being asked for."""
    fairness = live(checked(folder, text, Options(repairs=True)))[name].fairness
    if fairness is None:
        return []
    assert isinstance(fairness, Repairs)
    return [(each.assumption.name, each.fairness.value) for each in fairness.found]


def test_one_repair_is_named_unasked(tmp_path: Path) -> None:
    assert repaired(tmp_path, DOOR.text, "enters") == [("Guest.enter", "strongly fair")]
    assert repaired(tmp_path, CRASHED.text, "done") == [("restart Worker", "weakly fair")]
    assert repaired(tmp_path, LAZY.text, "reaches") == [("P.up", "weakly fair")]
    assert repaired(tmp_path, DOOR.text, "settles") == []


# ------------------------------------------------------------------------------------------- needs, why, vacuous proofs


def needs_of(report: VariantReport, name: str) -> Needs:
    needs = live(report)[name].needs
    assert needs is not None
    return needs


def test_which_faults_it_takes(tmp_path: Path) -> None:
    text = f"{CRASHED.text}expect refutes done needs {{crash Worker}}\nexpect refutes submitted\n"
    report = checked(tmp_path, text)
    assert [judged.judgement for judged in live(report)["done"].judged] == [Judgement.MET]
    needs = needs_of(report, "done")
    assert needs.complete
    (breaking,) = needs.breaking
    assert (str(*breaking.faults), breaking.minimal) == ("crash Worker", True)
    assert breaking.verdict.trace.loop == 3
    assert [each.faults for each in needs.tolerated] == [frozenset()]


VACUOUS = """\
store db { durable x: 0..2 }
process P { loop up { db.x := if db.x == 0 then 1 else 0 } }
live nothing: db.x == 2 ~> db.x == 0
live something: db.x == 1 ~> db.x == 0
"""


def test_a_left_side_that_is_never_true_is_remarked(tmp_path: Path) -> None:
    report = checked(tmp_path, VACUOUS)
    assert [(remark.kind, remark.subject) for remark in report.remarks] == [(RemarkKind.VACUOUS, "nothing")]
    assert "its left side is never true" in report.remarks[0].message


def test_why_a_proof_holds(tmp_path: Path) -> None:
    """Without `await` the counter steps out of its range, a model error, so that no run goes on: the proof does not
    rely on it.  Without `durable`, nothing is different: no store crashes."""
    text = COUNTER.text.split("live stays")[0]
    why = live(checked(tmp_path, text, Options(why=True)))["reaches"].why
    assert why is not None
    assert (why.needed, why.open) == ((), ())
    assert why.tried == 2


# ------------------------------------------------------------------------------------------------------- certificates


def certificate(folder: Path, text: str, options: Options) -> tuple[syntax.Module, dict[str, object]]:
    report = checked(folder, text, options)
    module = module_of(folder / "model.cpt")
    return module, json.loads(proof_file.document(module, report, options))


def proof(content: dict[str, object], name: str) -> dict[str, list[dict[str, object]]]:
    proofs = content["proofs"]
    assert isinstance(proofs, list)
    return next(each for each in proofs if each["property"] == name)


def test_certificates(tmp_path: Path) -> None:
    """Written, accepted; and rejected once a clause is left out, the bound is another, or a case is missing."""
    text = "\n".join(line for line in STRONG_DOOR.text.splitlines() if not line.startswith("live s"))
    module, content = certificate(tmp_path, text, Options(engine="ic3"))
    judged = {each.name: each for each in proof_file.verify(json.dumps(content), module)}
    assert set(judged) == {"enters", "opened", "model_errors"}
    assert all(each.accepted for each in judged.values())
    assert len(judged["enters"].obligations) == 3

    cases = proof(content, "enters")["cases"]
    never = cases[0]["never"]
    assert isinstance(never, list)
    complaints = []
    for number in range(len(never)):
        cases[0]["never"] = [*never[:number], *never[number + 1 :]]
        complaints.append(complaint(content, module))
    assert None not in complaints
    assert any(each in ("case 0 consecution", "case 0 safety") for each in complaints), complaints
    cases[0]["never"] = never
    assert complaint(content, module) is None

    rounds = cases[0]["rounds"]
    cases[0]["rounds"] = 1
    assert complaint(content, module) is not None
    cases[0]["rounds"] = rounds
    cases[0]["of"] = "x = 1"
    with pytest.raises(BadCertificate, match="case"):
        proof_file.verify(json.dumps(content), module)
    cases.clear()
    with pytest.raises(BadCertificate, match="not all of them"):
        proof_file.verify(json.dumps(content), module)


def complaint(content: dict[str, object], module: syntax.Module) -> str | None:
    """The obligation that does not hold, or why the file is no certificate; None when it is accepted."""
    try:
        wrong = [each.wrong for each in proof_file.verify(json.dumps(content), module) if not each.accepted]
    except BadCertificate as bad:
        return bad.message
    return wrong[0] if wrong else None


def test_a_proof_by_states_says_how_to_get_one_that_can_be_written(tmp_path: Path) -> None:
    _, content = certificate(tmp_path, TWO_WAYS, Options(engine="search"))
    assert isinstance(content["without"], list)
    (without,) = content["without"]
    assert without["property"] == "finishes"
    assert "--engine ic3" in without["why"]


# --------------------------------------------------------------------------------------------------- the command line


def test_the_report(tmp_path: Path) -> None:
    write(tmp_path, DOOR.text)
    done = counterpoint("check", "model.cpt", "--trace", "none", folder=tmp_path)
    told = " ".join(done.stdout.split())
    assert done.returncode == ExitCode.REFUTED
    assert "enters live REFUTED 2 steps, loop of 2, no fault; proved if Guest.enter were strongly fair" in told
    assert "swings live PROVED 6 states, depth 4, no fair cycle" in told
    assert "no fair cycle by a second algorithm" in told
    assert "which fairness a proof assumes: counterpoint check model.cpt --property swings --fairness" in told


def test_the_json_report(tmp_path: Path) -> None:
    schema = json.loads((ROOT / "checker" / "report.schema.json").read_text())
    expected = "expect proves enters, swings, opened\nexpect refutes settles\n"
    write(tmp_path, STRONG_DOOR.text + expected)
    done = counterpoint("check", "model.cpt", "--json", "--fairness", folder=tmp_path)
    assert done.returncode == ExitCode.MET, done.stdout + done.stderr
    content = json.loads(done.stdout)
    jsonschema.validate(content, schema)
    properties = {each["name"]: each for each in content["models"][0]["variants"][0]["properties"]}
    assert properties["settles"]["evidence"]["loop"] == 3
    assert properties["settles"]["fairness"] == {"tried": 0, "repairs": [], "open": []}
    assert properties["enters"]["evidence"]["fair_cycles"] == 0
    (one,) = properties["enters"]["fairness"]["sets"]
    assert [(each["of"], each["fairness"]) for each in one["assumptions"]] == [
        ("Door.swing", "weakly fair"),
        ("Guest.enter", "strongly fair"),
    ]

    write(tmp_path, COUNTER.text)
    done = counterpoint("check", "model.cpt", "--json", "--engine", "ic3", folder=tmp_path)
    content = json.loads(done.stdout)
    jsonschema.validate(content, schema)
    properties = {each["name"]: each for each in content["models"][0]["variants"][0]["properties"]}
    assert len(properties["reaches"]["evidence"]["fair_rounds"]) == 1
    assert properties["reaches"]["evidence"]["invariant"]


def test_a_bound_is_no_proof(tmp_path: Path) -> None:
    text = COUNTER.text.split("live stays")[0]
    write(tmp_path, text)
    done = counterpoint("check", "model.cpt", "--engine", "bmc", "--depth", "3", folder=tmp_path)
    assert done.returncode == ExitCode.MET
    assert "HOLDS TO 3" in done.stdout
    assert "PROVED" not in done.stdout
    write(tmp_path, f"{text}expect proves reaches\n")
    done = counterpoint("check", "model.cpt", "--engine", "bmc", "--depth", "3", folder=tmp_path)
    assert done.returncode == ExitCode.INCONCLUSIVE
