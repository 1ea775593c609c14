"""Certificates: written, accepted, given to other solvers; and rejected when anything in them is changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from checker.certificates.proof_file import BadCertificate, document, verify
from checker.logic.solver import Sat, Unknown, Unsat, answer_text
from checker.lower import lower
from checker.options import Options, UsageError
from checker.transition_system import Kind
from checker.verdict import Refuted
from spec.typecheck import Choice, typecheck
from tests.checker.lease import MODEL, checked, module_of, write
from tests.command import counterpoint, environment

IC3 = Options(engine="ic3", variants=("with_care",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("model")).parent


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    path = folder / "lease.cpt"
    return document(module_of(path), checked(path, IC3), IC3)


def changed(text: str, change: Callable[[Any], None]) -> str:
    content = json.loads(text)
    change(content)
    return json.dumps(content)


def without(members: Callable[[Any], list[Any]], number: int) -> Callable[[Any], None]:
    """A change: one member of a list is left out."""

    def leave_out(content: Any) -> None:
        del members(content)[number]

    return leave_out


def proof(content: Any) -> Any:
    return next(each for each in content["proofs"] if each["property"] == "finished_was_run")


def test_a_certificate_is_accepted(text: str, folder: Path) -> None:
    judged = {each.name: each for each in verify(text, module_of(folder / "lease.cpt"))}
    assert judged.keys() == {"finished_was_run", "model_errors"}
    assert all(each.accepted for each in judged.values())


def test_the_invariant_is_the_one_worked_out_by_hand(text: str) -> None:
    """Two jobs and two workers: two cubes of the first kind, and four of the second."""
    cubes = proof(json.loads(text))["never"]
    assert len(cubes) == 6
    first = [cube for cube in cubes if cube.keys() == {"db.finished[Job#0]", "ran[Job#0]"}]
    assert first == [{"db.finished[Job#0]": ["True"], "ran[Job#0]": ["False"]}]
    words = proof(json.loads(text))["words"]
    assert words[0] == "for all j: Job: never (db.finished[j] and not ran[j])"
    assert words[1].startswith("for all j: Job, w: Worker: never (")
    assert 'Worker[w].work is before line 24: step "finish"' in words[1]
    assert words[1].endswith("and Worker[w].work's j == j and not ran[j])")
    assert len(words) == 2


def test_every_clause_is_needed(text: str, folder: Path) -> None:
    module = module_of(folder / "lease.cpt")
    for number in range(6):
        dropped = changed(text, without(lambda content: proof(content)["never"], number))
        wrong = {each.name: each.wrong for each in verify(dropped, module)}
        assert wrong == {"finished_was_run": wrong["finished_was_run"], "model_errors": None}
        assert wrong["finished_was_run"] in ("consecution", "safety")


def test_a_weaker_clause_is_rejected(text: str, folder: Path) -> None:
    """`never (finished and not ran)` says nothing when a further condition is put to it that is true at times."""

    def weaken(content: Any) -> None:
        cube = next(cube for cube in proof(content)["never"] if cube.keys() == {"db.finished[Job#0]", "ran[Job#0]"})
        cube["ran[Job#1]"] = ["False"]

    (judged, *_) = verify(changed(text, weaken), module_of(folder / "lease.cpt"))
    assert judged.wrong == "safety"


def test_a_clause_that_is_false_at_first_is_rejected(text: str, folder: Path) -> None:
    stronger = changed(text, lambda content: proof(content)["never"].append({"ran[Job#0]": ["False"]}))
    (judged, *_) = verify(stronger, module_of(folder / "lease.cpt"))
    assert judged.wrong == "initiation"


def test_obligations_of_another_proof_are_rejected(text: str, folder: Path) -> None:
    def forge(content: Any) -> None:
        proof(content)["obligations"]["consecution"] = "(set-logic QF_UF)\n(assert false)\n(check-sat)\n"

    with pytest.raises(BadCertificate, match="obligations"):
        verify(changed(text, forge), module_of(folder / "lease.cpt"))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["model"].update(sha256="0" * 64),
        lambda c: c["choice"].update(variant="in_haste"),
        lambda c: c["choice"].update(variant=None),
        lambda c: c["choice"].update(faults="none"),
        lambda c: c["choice"].update(max_faults=-1),
        lambda c: c["choice"].update(max_faults="2"),
        lambda c: c["choice"].update(variant="no_such"),
        lambda c: c.update(schema="counterpoint-certificate/9"),
        lambda c: c.pop("proofs"),
        lambda c: c.pop("choice"),
        lambda c: c.update(proofs=[1]),
        lambda c: proof(c).update(property="no_such"),
        lambda c: proof(c).update(form="at rest"),
        lambda c: proof(c).update(kind="belief"),
        lambda c: proof(c)["never"].append({"db.nothing": ["True"]}),
        lambda c: proof(c)["never"].append({"ran[Job#0]": ["Maybe"]}),
        lambda c: proof(c)["never"].append({"ran[Job#0]": []}),
        lambda c: proof(c)["never"].append({"ran[Job#0]": "True"}),
        lambda c: proof(c)["never"].append({"ran[Job#0]": ["True", "False"]}),
    ],
)
def test_damage_and_other_choices_are_told(change: Callable[[Any], None], text: str, folder: Path) -> None:
    """None of these may ever be accepted; for another choice some obligation, or its text, is another."""
    module = module_of(folder / "lease.cpt")
    damaged = changed(text, change)
    if json.loads(damaged).get("choice", {}).get("variant") in ("in_haste", None) and "proofs" in json.loads(damaged):
        try:
            assert not all(each.accepted for each in verify(damaged, module))
        except UsageError:
            return
    else:
        with pytest.raises(UsageError):
            verify(damaged, module)


def test_truncated_files_are_told(text: str, folder: Path) -> None:
    module = module_of(folder / "lease.cpt")
    for length in (0, 1, len(text) // 2, len(text) - 3):
        with pytest.raises(BadCertificate):
            verify(text[:length], module)


def test_another_text_of_the_model_is_another_model(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, MODEL.replace("crash Worker", "crash Worker, db"))
    with pytest.raises(BadCertificate, match="another model"):
        verify(text, module_of(path))


def test_cvc5_agrees_on_every_obligation(text: str) -> None:
    pytest.importorskip("cvc5")
    content = json.loads(text)
    for each in content["proofs"]:
        for told in each["obligations"].values():
            assert cvc5_answer(told) == "unsat"


def test_cvc5_and_z3_find_a_dropped_clause(text: str, folder: Path) -> None:
    pytest.importorskip("cvc5")
    dropped = changed(text, lambda content: proof(content)["never"].pop(0))
    judged = next(e for e in verify(dropped, module_of(folder / "lease.cpt")) if e.name == "finished_was_run")
    answers = {name: cvc5_answer(told) for name, told in judged.obligations.items()}
    assert judged.wrong is not None
    assert answers[judged.wrong] == "sat"
    assert answers["initiation"] == "unsat"


def cvc5_answer(text: str) -> str:
    import cvc5

    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols = parser.getSymbolManager()
    answer = ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, symbols).strip() or answer
    return answer


def test_a_small_closed_set_is_written_down_and_a_large_one_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "lease.cpt"
    options = Options(variants=("with_care",), faults="none")
    module, report = module_of(path), checked(path, options)
    content = json.loads(document(module, report, options))
    (first, *_) = content["proofs"]
    assert first["kind"] == "closed set"
    assert all(each.accepted for each in verify(json.dumps(content), module))
    less = copy.deepcopy(content)
    proof(less)["states"].pop()
    wrong = next(each.wrong for each in verify(json.dumps(less), module) if each.name == "finished_was_run")
    assert wrong in ("initiation", "consecution")
    monkeypatch.setattr("checker.certificates.proof_file.SMALL", 3)
    content = json.loads(document(module, report, options))
    assert content["proofs"] == []
    assert {each["property"] for each in content["without"]} == {"finished_was_run", "model_errors"}
    assert all("--engine ic3" in each["why"] for each in content["without"])


RESTING = """\
ids Job[2]

store db {
  durable job: Job -> bool
  durable queue jobs: Job redelivers
}

process Client {
  on submit(j: fresh Job) {
    db.jobs.push(j)
    db.job[j] := true
  }
}

process Worker {
  loop work {
    let j = db.jobs.take()
    db.job[j] := false
    db.jobs.ack(j)
  }
}

faults { crash Worker }

at rest none_left: forall j: Job. not db.job[j]
recoverable can_end: forall j: Job. not db.job[j]
"""
"""The worker may overtake the client, so a job may be left: then `none_left` is refuted.  In one step it is not."""
ORDERED = RESTING.replace(
    "    db.jobs.push(j)\n    db.job[j] := true\n",
    '    step "submit" { db.jobs.push(j); db.job[j] := true }\n',
)


@pytest.fixture(scope="module")
def resting(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    path = write(tmp_path_factory.mktemp("resting"), ORDERED)
    options = Options(engine="ic3")
    return document(module_of(path), checked(path, options), options), path


def named(content: Any, name: str) -> Any:
    return next(each for each in content["proofs"] if each["property"] == name)


def test_at_rest_and_recoverable_have_ways_out(resting: tuple[str, Path]) -> None:
    text, path = resting
    judged = {each.name: each for each in verify(text, module_of(path))}
    assert judged.keys() == {"none_left", "can_end", "model_errors"}
    assert all(each.accepted for each in judged.values())
    assert "something" in judged["none_left"].words[-1]
    for name in ("none_left", "can_end"):
        ways = named(json.loads(text), name)["ways"]
        # A restart alone changes nothing that counts: the worker has to take the job, too.
        assert all(len(way) >= 2 for way in ways if way[0]["event"].startswith("restart"))


@pytest.mark.parametrize("name", ["none_left", "can_end"])
def test_every_way_out_is_needed(name: str, resting: tuple[str, Path]) -> None:
    text, path = resting
    for number in range(len(named(json.loads(text), name)["ways"])):
        dropped = changed(text, without(lambda content: named(content, name)["ways"], number))
        wrong = {each.name: each.wrong for each in verify(dropped, module_of(path))}
        assert wrong.pop(name) == "safety"
        assert set(wrong.values()) == {None}


@pytest.mark.parametrize("name", ["none_left", "can_end"])
def test_an_altered_way_out_is_rejected(name: str, resting: tuple[str, Path]) -> None:
    """The last step left out, another step put in its place, and one that names another event."""
    text, path = resting
    module = module_of(path)

    def judged(change: Callable[[Any], None]) -> str | None:
        return next(each.wrong for each in verify(changed(text, change), module) if each.name == name)

    def longest(content: Any) -> Any:
        return max(named(content, name)["ways"], key=len)

    assert judged(lambda content: longest(content).pop()) == "safety"
    assert judged(lambda content: longest(content).reverse()) == "safety"
    renumbered = changed(text, lambda content: longest(content)[0].update(event="crash Worker[0]"))
    with pytest.raises(BadCertificate, match="is not 'crash"):
        verify(renumbered, module)

    def renumber(content: Any, number: object) -> None:
        longest(content)[0].update(action=number)

    for number in (-1, 10_000, True, "0"):
        unknown = changed(text, partial(renumber, number=number))
        with pytest.raises(BadCertificate, match="no action"):
            verify(unknown, module)


def test_a_fault_is_no_way_out(resting: tuple[str, Path]) -> None:
    text, path = resting
    module = module_of(path)
    system = lower(typechecked(module)).system
    crash = next(action for action in system.actions if action.kind is Kind.FAULT)
    step = {"action": crash.index, "event": "crash Worker[0]"}
    with pytest.raises(BadCertificate, match="does not count"):
        verify(changed(text, lambda content: named(content, "none_left")["ways"].append([step])), module)


def test_cvc5_agrees_on_ways_out(resting: tuple[str, Path]) -> None:
    pytest.importorskip("cvc5")
    text, path = resting
    for each in json.loads(text)["proofs"]:
        assert cvc5_answer(each["obligations"]["safety"]) == "unsat"
    dropped = changed(text, lambda content: named(content, "none_left")["ways"].pop())
    judged = next(each for each in verify(dropped, module_of(path)) if each.name == "none_left")
    assert cvc5_answer(judged.obligations["safety"]) == "sat"


def test_a_closed_set_has_ways_out_too(resting: tuple[str, Path]) -> None:
    _, path = resting
    options = Options(engine="search", faults="none", constants={})
    module, report = module_of(path), checked(path, options)
    text = document(module, report, options)
    assert named(json.loads(text), "none_left")["kind"] == "closed set"
    assert all(each.accepted for each in verify(text, module))
    dropped = changed(text, lambda content: named(content, "can_end")["ways"].pop())
    assert next(each.wrong for each in verify(dropped, module) if each.name == "can_end") == "safety"


def test_where_a_job_can_be_left_there_is_no_proof(tmp_path: Path) -> None:
    path = write(tmp_path, RESTING)
    report = checked(path, Options(engine="ic3", faults="none"))
    verdicts = {result.name: result.verdict for result in report.properties}
    assert isinstance(verdicts["none_left"], Refuted)
    assert isinstance(verdicts["can_end"], Refuted)


def typechecked(module: Any) -> Any:
    answer = typecheck(module, Choice())
    assert not isinstance(answer, tuple)
    return answer.model


def test_the_texts_do_not_depend_on_the_process(folder: Path) -> None:
    command = ("check", "lease.cpt", "--variant", "with_care", "--engine", "ic3", "--certificate")
    texts = []
    for seed in ("1", "2"):
        done = counterpoint(*command, f"{seed}.json", folder=folder, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stdout + done.stderr
        content = json.loads((folder / f"{seed}.json").read_text())
        texts.append([each["obligations"] for each in content["proofs"]])
    assert texts[0] == texts[1]
    assert environment()["PYTHONPATH"]


def test_the_command_answers_0_1_2_and_4(text: str, folder: Path) -> None:
    def answer(name: str, content: str, model: str = "lease.cpt", *more: str) -> int:
        (folder / name).write_text(content)
        return counterpoint("verify", name, model, *more, folder=folder).returncode

    assert answer("good.json", text, "lease.cpt", "--smt2", "texts") == 0
    assert {path.name for path in (folder / "texts").iterdir()} >= {
        "finished_was_run.initiation.smt2",
        "finished_was_run.consecution.smt2",
        "finished_was_run.safety.smt2",
    }
    assert answer("bad.json", changed(text, lambda content: proof(content)["never"].pop(0))) == 1
    assert answer("cut.json", text[:-20]) == 2
    assert answer("empty.json", changed(text, lambda content: content.update(proofs=[]))) == 4
    (folder / "other.cpt").write_text(MODEL + "\n// the same, but another text\n")
    assert answer("good.json", text, "other.cpt") == 2
    assert counterpoint("verify", "none.json", "lease.cpt", folder=folder).returncode == 2


def test_a_certificate_is_for_one_variant(folder: Path) -> None:
    done = counterpoint("check", "lease.cpt", "--certificate", "x.json", folder=folder)
    assert done.returncode == 2
    assert "--variant: with_care, in_haste" in done.stderr
    assert not (folder / "x.json").exists()


def test_answers_of_the_text_solver() -> None:
    start = "(set-logic QF_UF)\n(declare-const |a b| Bool)\n"
    assert isinstance(answer_text(f"{start}(assert |a b|)\n(check-sat)\n"), Sat)
    assert isinstance(answer_text(f"{start}(assert (and |a b| (not |a b|)))\n(check-sat)\n"), Unsat)
    assert isinstance(answer_text(f"{start}(assert |b|)\n(check-sat)\n"), Unknown)
    assert isinstance(answer_text(start, seconds=0), Unknown)
