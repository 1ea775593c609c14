"""From a file to its verdicts, in process: which variants, properties and scenarios are checked, and against what."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.certificates.certificate import Certificate
from checker.check import check_file
from checker.exitcode import ExitCode
from checker.options import Options, UnknownNameError
from checker.remark import RemarkKind
from checker.result import FileReport
from checker.verdict import Covered, HoldsTo, Judgement, Proved, Refuted, Runs, Uncovered, Undecided, title

MODEL = """\
/// Two steps that should be one.
const LIMIT: int = 1 where LIMIT >= 1
switch together: bool = false

store db { durable row: bool; durable index: bool }

process Server {
  task write {
    if together {
      transaction db { row := true; index := true }
    } else {
      db.row := true
      db.index := true
    }
  }
}

faults { crash Server without restart }

at rest both: db.row == db.index
invariant row_first: db.index => db.row
cover written: db.index
scenario killed { Server.write "db.row := true"; crash Server }
scenario anything { .. }
"""

VARIANTS = """\
/// Two writes.
variant apart { together = false }
/// One transaction.
variant as_one { together = true }
expect apart refutes both
expect as_one proves both
expect apart runs killed
expect as_one forbids killed
"""


def check(tmp_path: Path, text: str, options: Options | None = None) -> FileReport:
    path = tmp_path / "model.cpt"
    path.write_text(text)
    return check_file(path, options or Options(), library=tmp_path)


def titles(report: FileReport, place: int = 0) -> dict[str, str]:
    return {result.name: title(result.verdict) for result in report.variants[place].results}


def test_without_variants_the_defaults_are_checked(tmp_path: Path) -> None:
    report = check(tmp_path, MODEL)
    assert [variant.variant for variant in report.variants] == [None]
    assert titles(report) == {
        "both": "REFUTED",
        "row_first": "PROVED",
        "written": "REACHED",
        "model_errors": "PROVED",
        "killed": "RUNS",
        "anything": "RUNS",
    }
    assert report.code(Options()) is ExitCode.REFUTED


def test_every_variant_is_checked_and_judged(tmp_path: Path) -> None:
    """A scenario that some expectation names runs only where one of the variant's own does."""
    report = check(tmp_path, MODEL + VARIANTS)
    assert [(variant.variant, variant.doc.strip()) for variant in report.variants] == [
        ("apart", "Two writes."),
        ("as_one", "One transaction."),
    ]
    assert titles(report, 0)["both"] == "REFUTED"
    assert titles(report, 1)["both"] == "PROVED"
    assert titles(report, 1)["killed"] == "NOT A RUN"
    judged = [j.judgement for variant in report.variants for result in variant.results for j in result.judged]
    assert judged == [Judgement.MET] * 4
    assert report.code(Options()) is ExitCode.MET


def test_chosen_variants(tmp_path: Path) -> None:
    report = check(tmp_path, MODEL + VARIANTS, Options(variants=("as_one",)))
    assert [variant.variant for variant in report.variants] == ["as_one"]


def test_chosen_properties_come_with_model_errors(tmp_path: Path) -> None:
    report = check(tmp_path, MODEL, Options(properties=("row_first",)))
    assert titles(report) == {"row_first": "PROVED", "model_errors": "PROVED"}
    report = check(tmp_path, MODEL, Options(properties=("killed",)))
    assert titles(report) == {"model_errors": "PROVED", "killed": "RUNS"}


def test_a_trace_is_a_run_that_breaks_the_property(tmp_path: Path) -> None:
    """The row is written, then the server dies: two steps, one fault; nothing shorter leaves the two apart for good."""
    verdict = check(tmp_path, MODEL).variants[0].properties[0].verdict
    assert isinstance(verdict, Refuted)
    assert len(verdict.trace) == 2
    assert verdict.shortest is not None
    last = verdict.trace.states[-1]
    assert (last.values["db", "row"], last.values["db", "index"]) == (True, False)


@pytest.mark.parametrize(
    ("options", "both"),
    [
        (Options(switches={"together": "true"}), Proved),
        (Options(faults="none"), Proved),
        (Options(max_faults=0), Proved),
        (Options(faults="crash db"), Refuted),
        (Options(max_faults=1), Refuted),
        (Options(faults="crash Server without restart"), Refuted),
        (Options(constants={"LIMIT": "2"}), Refuted),
        (Options(symmetry=False), Refuted),
        (Options(engine="search"), Refuted),
    ],
)
def test_options(tmp_path: Path, options: Options, both: type[object]) -> None:
    """Without a fault the second write always follows the first.  When the store crashes during the second, the write
    may be lost, and the task ends with the failure."""
    report = check(tmp_path, MODEL, options)
    assert isinstance(report.variants[0].properties[0].verdict, both)


def test_expectations_are_not_judged_when_options_change_the_model(tmp_path: Path) -> None:
    options = Options(max_faults=0)
    report = check(tmp_path, MODEL + VARIANTS, options)
    judged = {j.judgement for variant in report.variants for result in variant.results for j in result.judged}
    assert judged == {Judgement.NOT_JUDGED}
    assert report.code(options) is ExitCode.MET
    assert str(report.variants[0].scope) == "no faults"


def test_a_proof_has_a_checked_certificate(tmp_path: Path) -> None:
    """Counted by hand: nothing written, the row written, both written; and each of the three after the crash."""
    verdict = check(tmp_path, MODEL).variants[0].properties[1].verdict
    assert isinstance(verdict, Proved)
    assert isinstance(verdict.certificate, Certificate)
    assert verdict.certificate.states == 6
    assert verdict.certificate.complete


def test_a_bound_is_no_proof(tmp_path: Path) -> None:
    report = check(tmp_path, MODEL, Options(depth=1))
    verdict = report.variants[0].properties[1].verdict
    assert isinstance(verdict, HoldsTo)
    assert verdict.depth == 1


def test_unknown_names_are_told(tmp_path: Path) -> None:
    for options in (
        Options(variants=("as_on",)),
        Options(properties=("bot",)),
        Options(switches={"togeter": "true"}),
        Options(constants={"LIMITS": "2"}),
        Options(faults="crash Serve"),
    ):
        with pytest.raises(UnknownNameError) as caught:
            check(tmp_path, MODEL + VARIANTS, options)
        assert "did you mean" in (caught.value.hint or "")


def test_errors_of_a_choice_are_told(tmp_path: Path) -> None:
    report = check(tmp_path, MODEL, Options(constants={"LIMIT": "0"}))
    assert report.code(Options()) is ExitCode.MODEL
    report = check(tmp_path, MODEL, Options(switches={"together": "perhaps"}))
    assert report.code(Options()) is ExitCode.MODEL


def test_only_one_variant_is_wrong(tmp_path: Path) -> None:
    report = check(tmp_path, MODEL + "variant good { LIMIT = 2 }\nvariant bad { LIMIT = 0 }\n")
    assert report.code(Options()) is ExitCode.MODEL


# --------------------------------------------------------------------------------------------------------- remarks


def kinds(report: FileReport) -> list[tuple[RemarkKind, str]]:
    found = [remark for variant in report.variants for remark in variant.remarks]
    return [(remark.kind, remark.subject) for remark in (*found, *report.remarks)]


def test_a_branch_of_another_variant_is_no_remark(tmp_path: Path) -> None:
    assert kinds(check(tmp_path, MODEL + VARIANTS)) == []


def test_a_statement_that_no_variant_runs(tmp_path: Path) -> None:
    only_apart = VARIANTS.replace("together = true", "together = false").replace("proves both", "refutes both")
    report = check(tmp_path, MODEL + only_apart.replace("forbids", "runs"))
    assert kinds(report) == [(RemarkKind.STATEMENT_NEVER_RUNS, "Server.write")]
    assert report.code(Options()) is ExitCode.MET
    assert report.code(Options(strict=True)) is ExitCode.REFUTED


NEVER = """\
store db { durable x: bool; durable y: bool }
process P {
  loop wait { await db.y; db.x := false }
  task set { db.x := true }
}
faults { crash Q }
process Q { task idle { await db.y; db.y := true } }
invariant empty: db.y => db.x
cover never: db.y
"""


def test_what_never_happens_and_what_holds_vacuously(tmp_path: Path) -> None:
    """y is set only by who waits for it: the implication says nothing, and what waits for y never goes on."""
    report = check(tmp_path, NEVER)
    found = kinds(report)
    assert (RemarkKind.VACUOUS, "empty") in found
    assert (RemarkKind.UNREACHABLE, "never") in found
    assert (RemarkKind.THREAD_NEVER_RUNS, "P.wait") in found
    assert (RemarkKind.THREAD_NEVER_RUNS, "Q.idle") in found
    assert (RemarkKind.STATEMENT_NEVER_RUNS, "P.wait") not in found
    assert isinstance(report.variants[0].properties[1].verdict, Uncovered)


def test_an_implication_with_a_true_left_side_is_not_vacuous(tmp_path: Path) -> None:
    report = check(tmp_path, NEVER.replace("db.y => db.x", "db.x => db.x"))
    assert RemarkKind.VACUOUS not in [kind for kind, _ in kinds(report)]


RESTLESS = """\
store db { durable x: bool; durable done: bool }
process Clock { loop tick { db.x := not db.x } }
process P { task finish { db.done := true } }
faults { crash P }
at rest finished: db.done
"""


@pytest.mark.parametrize("engine", ["search", "ic3"])
def test_where_no_state_is_at_rest_that_is_said(tmp_path: Path, engine: str) -> None:
    """The clock ticks for ever, so nothing is ever at rest.  Its twin stops, and P ends."""
    report = check(tmp_path, RESTLESS, Options(engine=engine))
    assert titles(report)["finished"] == "PROVED"
    assert kinds(report) == [(RemarkKind.VACUOUS, "finished")]
    assert "no reachable state is at rest" in report.variants[0].remarks[0].message
    assert report.code(Options()) is ExitCode.MET
    assert report.code(Options(strict=True)) is ExitCode.REFUTED
    twin = check(tmp_path, RESTLESS.replace("db.x := not db.x", "await not db.x; db.x := true"), Options(engine=engine))
    assert titles(twin)["finished"] == "PROVED"
    assert kinds(twin) == []


def test_nothing_is_remarked_of_a_space_that_was_cut_off(tmp_path: Path) -> None:
    assert kinds(check(tmp_path, NEVER, Options(depth=1))) == []


# ------------------------------------------------------------------------------------------------------ interrupts


def test_an_interrupt_while_proofs_are_checked_leaves_them_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from checker import confirm

    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(confirm, "certify", interrupted)
    report = check(tmp_path, MODEL + VARIANTS)
    assert report.interrupted
    first, second = report.variants
    assert all(isinstance(result.verdict, Undecided) for result in second.results)
    by_name = {result.name: result.verdict for result in first.results}
    assert isinstance(by_name["both"], Refuted)
    assert isinstance(by_name["written"], Covered)
    assert isinstance(by_name["row_first"], Undecided)
    assert not isinstance(by_name["killed"], Runs)
    assert report.code(Options()) is ExitCode.INCONCLUSIVE
