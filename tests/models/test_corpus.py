"""The shipped models get the verdicts that they expect, and need the faults that the report names.

The expected values are those of "Jepsen, Orkes Conductor 5.3.2", its summary of results: for each finding the required
event.  Where the models need more or less than the report's row, the row is commented with the reason.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from checker import catalogue
from checker.check import check_file
from checker.options import Options
from checker.result import FileReport
from checker.verdict import Judgement, Proved, Refuted, title
from spec.typed import ExpectationVerb, PropertyForm

MODELS = catalogue.shipped(catalogue.library())
FINDINGS = sorted(name for name in MODELS if name.startswith("conductor/"))

DEFECT = {
    "conductor/01_concurrent": "v5_3_2",
    "conductor/02_stalled": "v5_3_2",
    "conductor/03_null_id": "java_client_5_0_1",
    "conductor/04_syntax_error": "v5_5_0",
    "conductor/05_abandoned": "v5_3_2",
    "conductor/06_aborted_read": "java_client_5_0_1",
    "conductor/07_lost": "v5_4_0",
    "conductor/08_duplicate_key": "v5_5_0_rc1",
    "conductor/09_never_executed": "v5_5_0_rc2",
}
"""The version in which the report found it."""

REPAIRED = {
    "conductor/01_concurrent": "v5_5_6",
    "conductor/03_null_id": "java_client_6_0_2",
    "conductor/04_syntax_error": "v5_5_6",
    "conductor/05_abandoned": "v5_5_0",
    "conductor/06_aborted_read": "java_client_no_retry",
    "conductor/07_lost": "v5_5_0",
    "conductor/08_duplicate_key": "v5_5_6",
    "conductor/09_never_executed": "v5_5_6",
}
"""The version in which the report says it is fixed, or mitigated.  Finding 2 is by design."""


@cache
def as_declared(name: str) -> FileReport:
    return check_file(MODELS[name], Options())


def with_faults(name: str, variant: str, claim: str, faults: str, max_faults: int | None = None) -> str:
    """The verdict on one property of a variant."""
    options = Options(variants=(variant,), properties=(claim,), faults=faults, max_faults=max_faults)
    report = check_file(MODELS[name], options)
    assert not list(report.all_failures())
    return {result.name: title(result.verdict) for result in report.variants[0].properties}[claim]


def refuted_without_faults(name: str, variant: str) -> set[str]:
    report = check_file(MODELS[name], Options(variants=(variant,), max_faults=0))
    verdicts = [r for r in report.variants[0].properties if r.form is not PropertyForm.COVER]
    assert all(isinstance(r.verdict, Proved | Refuted) for r in verdicts)
    return {r.name for r in verdicts if isinstance(r.verdict, Refuted)}


def test_there_is_one_model_for_each_finding() -> None:
    assert [Path(name).name[:3] for name in FINDINGS] == [f"0{n}_" for n in range(1, 10)]


@pytest.mark.parametrize("name", FINDINGS)
def test_every_expectation_is_met(name: str) -> None:
    report = as_declared(name)
    assert report.errors == ()
    assert list(report.all_failures()) == []
    judged = [
        (variant.variant, item.expectation.verb.value, item.expectation.name, item.judgement)
        for variant in report.variants
        for result in variant.results
        for item in result.judged
    ]
    assert [item for item in judged if item[3] is not Judgement.MET] == []
    assert report.remarks == ()
    assert [remark for variant in report.variants for remark in variant.remarks] == []
    assert report.warnings == ()


@pytest.mark.parametrize("name", FINDINGS)
def test_both_sides_of_a_finding_are_told(name: str) -> None:
    """The version with the defect is refuted and runs a story; some variant is proved; no cover is left unreached in
    either; and some variant forbids a story, so that the story is of the defect."""
    verbs: dict[str | None, set[ExpectationVerb]] = {}
    for variant in as_declared(name).variants:
        judged = [item for result in variant.results for item in result.judged]
        verbs[variant.variant] = {item.expectation.verb for item in judged}
    defect = verbs[DEFECT[name]]
    assert {ExpectationVerb.REFUTES, ExpectationVerb.REACHES, ExpectationVerb.RUNS} <= defect
    others = set().union(*verbs.values())
    assert {ExpectationVerb.PROVES, ExpectationVerb.FORBIDS} <= others


@pytest.mark.parametrize("name", FINDINGS)
def test_no_model_can_end_in_a_model_error(name: str) -> None:
    for variant in as_declared(name).variants:
        verdicts = {result.name: result.verdict for result in variant.properties}
        assert isinstance(verdicts["model_errors"], Proved), variant.variant


def test_without_faults_exactly_the_findings_without_required_event_are_left() -> None:
    """The report's table: required event "none" for findings 1 and 4 only."""
    found = {name: refuted_without_faults(name, DEFECT[name]) for name in FINDINGS}
    assert {name: properties for name, properties in found.items() if properties} == {
        "conductor/01_concurrent": {"one_at_a_time"},
        "conductor/04_syntax_error": {"no_backend_error"},
    }


@pytest.mark.parametrize("name", sorted(REPAIRED))
def test_without_faults_no_repaired_version_is_refuted(name: str) -> None:
    assert refuted_without_faults(name, REPAIRED[name]) == set()


REQUIRED = [
    # 2: "pause, crash, or partition"; text: server killed or cut from Redis or a worker, worker killed, Redis killed.
    ("02_stalled", "never_stalled", "crash Server", "REFUTED"),
    ("02_stalled", "never_stalled", "crash Worker", "REFUTED"),
    ("02_stalled", "never_stalled", "crash redis", "REFUTED"),
    ("02_stalled", "never_stalled", "partition Server -- redis", "REFUTED"),
    ("02_stalled", "never_stalled", "partition Worker -- Server", "REFUTED"),
    # Not the report's Postgres kill: a poll writes before it acknowledges, so the message comes back.
    ("02_stalled", "never_stalled", "crash postgres", "PROVED"),
    ("02_stalled", "never_stalled", "partition Server -- postgres", "PROVED"),
    # 3: "Redis crash".
    ("03_null_id", "id_or_error", "crash redis", "REFUTED"),
    # 5: "server or Postgres crash, or partition" (from Postgres or Redis).
    ("05_abandoned", "none_abandoned", "crash Server", "REFUTED"),
    ("05_abandoned", "none_abandoned", "crash postgres", "REFUTED"),
    ("05_abandoned", "none_abandoned", "partition Server -- postgres", "REFUTED"),
    ("05_abandoned", "none_abandoned", "partition Server -- redis", "REFUTED"),
    # 6: "server crash, or Redis/Postgres crash".  A lost reply alone lets the retry connect.
    ("06_aborted_read", "no_aborted_read", "crash Server", "REFUTED"),
    ("06_aborted_read", "no_aborted_read", "crash postgres", "REFUTED"),
    ("06_aborted_read", "no_aborted_read", "crash redis", "REFUTED"),
    ("06_aborted_read", "no_aborted_read", "lose Client -- Server", "PROVED"),
    # 7: "Postgres crash or partition".  A server that is dead takes nothing back.
    ("07_lost", "never_missing", "crash postgres", "REFUTED"),
    ("07_lost", "never_missing", "partition Server -- postgres", "REFUTED"),
    ("07_lost", "never_missing", "crash Server", "PROVED"),
    # 8: "Postgres crash and pause".  A server that is dead repeats nothing.
    ("08_duplicate_key", "no_duplicate_key", "crash postgres", "REFUTED"),
    ("08_duplicate_key", "no_duplicate_key", "crash Server", "PROVED"),
    # 9: "Postgres crash and partition".  A cut alone fails no write of the retry.
    ("09_never_executed", "completed_was_executed", "crash postgres, partition Worker -- Server", "REFUTED"),
    ("09_never_executed", "completed_was_executed", "partition Worker -- Server", "PROVED"),
]


@pytest.mark.parametrize(("name", "claim", "faults", "verdict"), REQUIRED)
def test_required_event(name: str, claim: str, faults: str, verdict: str) -> None:
    model = f"conductor/{name}"
    assert with_faults(model, DEFECT[model], claim, faults) == verdict


@pytest.mark.parametrize(("max_faults", "verdict"), [(1, "PROVED"), (2, "REFUTED")])
def test_never_executed_takes_two_faults(max_faults: int, verdict: str) -> None:
    """A stall and a failed insert: two events in the report's account, and not one."""
    model = "conductor/09_never_executed"
    faults = "crash postgres, partition Worker -- Server"
    assert with_faults(model, DEFECT[model], "completed_was_executed", faults, max_faults) == verdict


def test_reading_again_leaves_only_the_lease() -> None:
    """Finding 1: 5.5.6 is safe as long as no lease lapses, and only compare-and-set is safe when one does."""
    model = "conductor/01_concurrent"
    assert with_faults(model, "v5_5_6", "one_at_a_time", "none") == "PROVED"
    assert with_faults(model, "v5_5_6", "one_at_a_time", "expire redis.workflow") == "REFUTED"
    assert with_faults(model, "compare_and_set_poll", "one_at_a_time", "expire redis.workflow") == "PROVED"
