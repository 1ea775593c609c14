"""Which faults it takes: models whose minimal and maximal fault sets are worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.check import check_file
from checker.exitcode import ExitCode
from checker.needs.needs import Breaking, Needs, Unsettled, judge_needs, name_of, names_of
from checker.options import Options
from checker.result import FileReport, PropertyResult
from checker.verdict import Judgement, Proved, Refuted
from spec.typed import FaultClass, FaultKind
from tests.checker.samples import CERTIFICATE, fault, trace
from tests.command import ROOT, counterpoint

# `m` is set where the write to db failed, which takes a crash of db or a lost message; `n` where that to kv did, which
# takes a crash of kv.  A write that is answered never fails, so without faults neither is set.  `early` is false at
# once.  What was written stays, since both variables are durable.
TWO_STORES = """\
store db { durable x: bool }
store kv { durable y: bool }
ghost m: bool
ghost n: bool

process P {
  task go {
    try { db.x := true } catch { m := true }
    try { kv.y := true } catch { n := true }
  }
}

faults {
  crash db, kv
  lose P -- db
}

invariant not_both: not (m and n)
invariant kv_answers: not n
invariant early: db.x
step invariant kept: db.x => db.x'
"""

# The task writes twice.  It ends for good when its process crashes, or when one of its writes is answered by `unknown`,
# which a crash of db and a lost message do.  A write that takes effect twice leaves the same.
ONE_TASK = """\
store db { durable x: 0..2 }

process P {
  task go {
    db.x := 1
    db.x := 2
  }
}

faults {
  crash db
  crash P without restart
  lose P -- db
  duplicate P -- db
}

at rest done: db.x == 2
"""


def check(folder: Path, text: str, options: Options | None = None) -> FileReport:
    path = folder / "model.cpt"
    path.write_text(text)
    report = check_file(path, options or Options(needs=True))
    assert not report.errors
    assert not list(report.all_failures())
    return report


def results(report: FileReport) -> dict[str, PropertyResult]:
    return {result.name: result for result in report.variants[0].properties}


def needs_of(report: FileReport, name: str) -> Needs:
    needs = results(report)[name].needs
    assert needs is not None
    return needs


def told(needs: Needs) -> tuple[str, str]:
    """Minimal breaking and maximal safe sets, as they are written."""
    assert all(isinstance(each.verdict, Refuted) for each in needs.breaking)
    assert all(isinstance(each.verdict, Proved) for each in needs.tolerated)
    breaking = names_of((each.faults for each in needs.breaking if each.minimal), needs.classes)
    return breaking, names_of((each.faults for each in needs.tolerated), needs.classes)


def test_two_classes_together_one_alone_none_and_never(tmp_path: Path) -> None:
    report = check(tmp_path, TWO_STORES)
    assert told(needs_of(report, "not_both")) == (
        "{crash db, crash kv} | {crash kv, lose P -- db}",
        "{crash db, lose P -- db} | {crash kv}",
    )
    assert told(needs_of(report, "kv_answers")) == ("{crash kv}", "{crash db, lose P -- db}")
    assert told(needs_of(report, "early")) == ("{}", "never")
    assert told(needs_of(report, "kept")) == ("never", "{crash db, crash kv, lose P -- db}")
    assert all(result.needs is None or result.needs.complete for result in results(report).values())


def test_alternatives_of_a_property_at_rest(tmp_path: Path) -> None:
    report = check(tmp_path, ONE_TASK)
    assert told(needs_of(report, "done")) == (
        "{crash db} | {crash P without restart} | {lose P -- db}",
        "{duplicate P -- db}",
    )


def test_each_trace_has_just_the_faults_of_its_set(tmp_path: Path) -> None:
    for each in needs_of(check(tmp_path, TWO_STORES), "not_both").breaking:
        assert set(each.verdict.trace.model.faults) == each.faults
        # begins to write to db, db fails, m, kv fails, n: each failing write is one step.
        assert len(each.verdict.trace) == 4


def test_the_number_of_faults_counts(tmp_path: Path) -> None:
    one = check(tmp_path, TWO_STORES, Options(needs=True, max_faults=1))
    assert told(needs_of(one, "not_both")) == ("never", "{crash db, crash kv, lose P -- db}")
    assert told(needs_of(one, "kv_answers")) == ("{crash kv}", "{crash db, lose P -- db}")
    none = check(tmp_path, TWO_STORES, Options(needs=True, max_faults=0))
    assert told(needs_of(none, "kv_answers")) == ("never", "{crash db, crash kv, lose P -- db}")


def test_a_model_without_faults(tmp_path: Path) -> None:
    report = check(tmp_path, TWO_STORES, Options(needs=True, faults="none"))
    assert told(needs_of(report, "early")) == ("{}", "never")
    assert told(needs_of(report, "not_both")) == ("never", "{}")


def test_covers_have_no_fault_sets_and_nothing_is_sought_unasked(tmp_path: Path) -> None:
    report = check(tmp_path, TWO_STORES + "cover written: db.x\n")
    assert results(report)["written"].needs is None
    report = check(tmp_path, TWO_STORES, Options())
    assert all(result.needs is None for result in results(report).values())


def test_what_is_not_decided_is_said_to_be_undecided(tmp_path: Path) -> None:
    # A run of at most two steps shows that `early` needs no fault; of `not_both` it shows nothing.
    report = check(tmp_path, TWO_STORES, Options(needs=True, depth=2, engine="bmc"))
    needs = needs_of(report, "not_both")
    assert (needs.breaking, needs.tolerated) == ((), ())
    assert needs.undecided == (Unsettled(frozenset()),)
    assert "holds to 2 steps" in needs.reason
    assert told(needs_of(report, "early"))[0] == "{}"
    # Four steps are enough for the two breaking sets, but no proof says that they are minimal.
    report = check(tmp_path, TWO_STORES, Options(needs=True, depth=4, engine="bmc"))
    needs = needs_of(report, "not_both")
    sets = names_of((each.faults for each in needs.breaking), needs.classes)
    assert sets == "{crash db, crash kv} | {crash kv, lose P -- db}"
    assert not any(each.minimal for each in needs.breaking)
    assert not needs.complete


def test_no_time_gives_no_proof(tmp_path: Path) -> None:
    report = check(tmp_path, TWO_STORES, Options(needs=True, timeout=1e-6))
    found = results(report)["kept"]
    assert found.needs is None
    assert found.code(Options(needs=True)) is ExitCode.INCONCLUSIVE


RIGHT = "expect refutes not_both needs {crash kv, lose P -- db} | {crash db, crash kv}\n"


@pytest.mark.parametrize(
    ("expectation", "options", "judgement", "code"),
    [
        (RIGHT, Options(), Judgement.MET, ExitCode.MET),
        ("expect refutes early needs {}\n", Options(), Judgement.MET, ExitCode.MET),
        # a set is missing
        ("expect refutes not_both needs {crash db, crash kv}\n", Options(), Judgement.MISSED, ExitCode.REFUTED),
        # a set is too small, another too large
        (
            "expect refutes not_both needs {crash kv} | {crash db, lose P -- db}\n",
            Options(),
            Judgement.MISSED,
            ExitCode.REFUTED,
        ),
        ("expect refutes kv_answers needs {}\n", Options(), Judgement.MISSED, ExitCode.REFUTED),
        # refuted within four steps, but without proofs
        (RIGHT, Options(depth=4, engine="bmc"), Judgement.INCONCLUSIVE, ExitCode.INCONCLUSIVE),
        # the breaking set that is found contains no expected one
        (
            "expect refutes not_both needs {crash db, lose P -- db}\n",
            Options(depth=4, engine="bmc"),
            Judgement.MISSED,
            ExitCode.REFUTED,
        ),
        # other faults than the expectation speaks of
        (RIGHT, Options(max_faults=2), Judgement.NOT_JUDGED, None),
    ],
)
def test_expectations(
    tmp_path: Path, expectation: str, options: Options, judgement: Judgement, code: ExitCode | None
) -> None:
    report = check(tmp_path, TWO_STORES + expectation, options)
    name = expectation.split()[2]
    result = results(report)[name]
    assert [judged.judgement for judged in result.judged] == [judgement]
    if code is not None:
        assert result.code(options) is code


def test_an_expected_refutation_that_is_none_is_missed_whatever_it_needs(tmp_path: Path) -> None:
    report = check(tmp_path, TWO_STORES + "expect refutes kept needs {crash db}\n", Options())
    assert [judged.judgement for judged in results(report)["kept"].judged] == [Judgement.MISSED]


A, B = fault(FaultKind.CRASH, "a"), fault(FaultKind.CRASH, "b")


def broken(*faults: FaultClass, minimal: bool = True) -> Breaking:
    return Breaking(frozenset(faults), Refuted(trace(), "search", "x"), minimal)


def test_partial_answers_miss_only_what_they_contradict() -> None:
    some = Needs((A, B), (broken(A, B, minimal=False),), (), (Unsettled(frozenset()),), "why")
    assert judge_needs([frozenset({A, B})], some) is Judgement.INCONCLUSIVE
    assert judge_needs([frozenset({A})], some) is Judgement.INCONCLUSIVE
    smaller = Needs((A, B), (broken(A),), (), (Unsettled(frozenset({B})),), "why")
    assert judge_needs([frozenset({A, B})], smaller) is Judgement.MISSED
    assert judge_needs([frozenset({B})], smaller) is Judgement.MISSED
    assert judge_needs([frozenset({A})], smaller) is Judgement.INCONCLUSIVE
    assert judge_needs([frozenset({A})], None) is Judgement.INCONCLUSIVE
    whole = Needs((A, B), (broken(A),), ())
    assert judge_needs([frozenset({A})], whole) is Judgement.MET
    assert CERTIFICATE.states


def test_sets_are_written_in_the_order_of_the_model() -> None:
    assert name_of({B, A}, (A, B)) == "{crash a, crash b}"
    assert name_of((), (A, B)) == "{}"
    assert names_of([{B}, {A}], (A, B)) == "{crash b} | {crash a}"
    assert names_of([], (A, B)) == "never"


def test_the_command_shows_the_sets_the_tolerance_and_with_full_traces_a_run_for_each(tmp_path: Path) -> None:
    (tmp_path / "model.cpt").write_text(TWO_STORES + RIGHT)
    run = counterpoint("check", "model.cpt", "--needs", "--property", "not_both", folder=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "not_both      breaks with {crash db, crash kv}, 4 steps" in run.stdout
    assert "or {crash kv, lose P -- db}, 4 steps" in run.stdout
    assert "safe under any of {crash db, lose P -- db} | {crash kv}" in run.stdout
    assert "model_errors  safe under all of them" in run.stdout
    full = counterpoint("check", "model.cpt", "--needs", "--trace", "full", folder=tmp_path)
    assert "not_both  with {crash kv, lose P -- db}" in full.stdout
    assert full.stdout.count("kv crashes during it") >= 3
    table = full.stdout[full.stdout.index("finding") :]
    assert "  not_both    {crash db, crash kv} | {crash kv, lose P -- db}" in table
    assert "  early       {}" in table
    assert "kept" not in table


def test_the_command_says_which_sets_were_expected_and_which_found(tmp_path: Path) -> None:
    (tmp_path / "model.cpt").write_text(TWO_STORES + "expect refutes kv_answers needs {}\n")
    run = counterpoint("check", "model.cpt", "--quiet", "--property", "kv_answers", folder=tmp_path)
    assert run.returncode == 1
    assert "expected: REFUTED needs {} (missed)" in run.stdout
    assert "kv_answers  breaks with {crash kv}" in run.stdout


def test_the_json_document_holds_the_sets_with_their_evidence(tmp_path: Path) -> None:
    import jsonschema

    (tmp_path / "model.cpt").write_text(TWO_STORES + RIGHT)
    run = counterpoint("check", "model.cpt", "--needs", "--json", folder=tmp_path)
    content = json.loads(run.stdout)
    schema = json.loads((ROOT / "checker" / "report.schema.json").read_text())
    jsonschema.validate(content, schema, jsonschema.Draft202012Validator)
    found = {p["name"]: p for p in content["models"][0]["variants"][0]["properties"]}["not_both"]
    needs = found["needs"]
    assert needs["classes"] == ["crash db", "crash kv", "lose P -- db"]
    assert [each["faults"] for each in needs["breaking"]] == [["crash db", "crash kv"], ["crash kv", "lose P -- db"]]
    assert [each["evidence"]["steps"] for each in needs["breaking"]] == [4, 4]
    assert [each["faults"] for each in needs["tolerated"]] == [["crash db", "lose P -- db"], ["crash kv"]]
    assert (needs["complete"], needs["undecided"]) == (True, [])
    (expectation,) = found["expectations"]
    assert expectation["needs"] == [["crash kv", "lose P -- db"], ["crash db", "crash kv"]]
    assert expectation["judgement"] == "met"


def test_the_exit_code_of_the_command(tmp_path: Path) -> None:
    model = tmp_path / "model.cpt"
    one = [line for line in TWO_STORES.splitlines() if not line.startswith(("invariant", "step")) or "not_both" in line]
    model.write_text("\n".join(one) + "\n" + RIGHT)
    assert counterpoint("check", "model.cpt", folder=tmp_path).returncode == 0
    assert counterpoint("check", "model.cpt", "--depth", "4", folder=tmp_path).returncode == 4
    model.write_text("\n".join(one) + "\nexpect refutes not_both needs {crash kv}\n")
    assert counterpoint("check", "model.cpt", folder=tmp_path).returncode == 1
