"""Exit codes, each case derived from the rules: an expectation decides where one is stated; else only a refutation is a
failure, and a bound is inconclusive unless a bound was asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.bundle import Failure
from checker.exitcode import ExitCode, gravest
from checker.liveness.fairness_needs import Relied
from checker.options import Options
from checker.remark import Remark, RemarkKind
from checker.result import (
    FileReport,
    Judged,
    PropertyResult,
    ScenarioResult,
    VariantReport,
)
from checker.verdict import (
    Covered,
    HoldsTo,
    Judgement,
    NotARun,
    PropertyVerdict,
    Proved,
    Refuted,
    Runs,
    ScenarioVerdict,
    Scope,
    Uncovered,
    UncoveredTo,
    Undecided,
    judge,
)
from spec.diagnostic import Diagnostic
from spec.typed import ExpectationVerb, PropertyForm
from tests.checker.samples import CERTIFICATE, SPAN, expectation, model, trace

MET, REFUTED, INCONCLUSIVE = ExitCode.MET, ExitCode.REFUTED, ExitCode.INCONCLUSIVE
PROVES = ExpectationVerb.PROVES
PLAIN, DEPTH, BMC = Options(), Options(depth=5), Options(engine="bmc")
BOUND = HoldsTo(5, "time", "bmc")
LIMIT = "the depth limit of 5 steps"


def result(verdict: PropertyVerdict, *verbs: ExpectationVerb, judged: bool = True) -> PropertyResult:
    found = tuple(
        Judged(expectation(verb), judge(expectation(verb), verdict) if judged else Judgement.NOT_JUDGED)
        for verb in verbs
    )
    return PropertyResult("p", PropertyForm.INVARIANT, SPAN, "", verdict, found)


@pytest.mark.parametrize(
    ("verdict", "options", "expected"),
    [
        (Proved(CERTIFICATE), PLAIN, MET),
        (Refuted(trace(), "search", None), PLAIN, REFUTED),
        (Covered(trace(), "search", None), PLAIN, MET),
        (Uncovered(CERTIFICATE), PLAIN, MET),
        (BOUND, PLAIN, INCONCLUSIVE),
        (BOUND, DEPTH, MET),
        (BOUND, BMC, INCONCLUSIVE),
        (HoldsTo(5, LIMIT, "bmc"), BMC, MET),
        (HoldsTo(5, LIMIT, "bmc"), PLAIN, INCONCLUSIVE),
        (HoldsTo(4, "time", "bmc"), DEPTH, INCONCLUSIVE),
        (HoldsTo(6, "time", "bmc"), DEPTH, MET),
        (UncoveredTo(4, "time", "bmc"), DEPTH, INCONCLUSIVE),
        (BOUND, Options(engine="search"), INCONCLUSIVE),
        (UncoveredTo(5, "time", "bmc"), PLAIN, INCONCLUSIVE),
        (UncoveredTo(5, "time", "bmc"), DEPTH, MET),
        (Undecided("time"), PLAIN, INCONCLUSIVE),
        (Undecided("time"), DEPTH, INCONCLUSIVE),
    ],
)
def test_without_expectation(verdict: PropertyVerdict, options: Options, expected: ExitCode) -> None:
    assert result(verdict).code(options) is expected
    assert result(verdict, PROVES, judged=False).code(options) is expected


def test_fairness_that_is_not_found_out_is_wanting_where_it_was_asked_for() -> None:
    open_ = replace(result(Proved(CERTIFICATE)), fairness=Relied((), False, "the time is used up"))
    assert open_.code(Options(fairness=True)) is INCONCLUSIVE
    assert open_.code(PLAIN) is MET
    assert replace(open_, fairness=Relied((), True)).code(Options(fairness=True)) is MET


@pytest.mark.parametrize("options", [PLAIN, DEPTH, BMC])
@pytest.mark.parametrize(
    ("verdict", "verb", "expected"),
    [
        (Proved(CERTIFICATE), PROVES, MET),
        (Refuted(trace(), "search", None), PROVES, REFUTED),
        (BOUND, PROVES, INCONCLUSIVE),
        (Undecided("time"), PROVES, INCONCLUSIVE),
        (Refuted(trace(), "search", None), ExpectationVerb.REFUTES, MET),
        (Proved(CERTIFICATE), ExpectationVerb.REFUTES, REFUTED),
        (BOUND, ExpectationVerb.REFUTES, INCONCLUSIVE),
        (Uncovered(CERTIFICATE), ExpectationVerb.REACHES, REFUTED),
    ],
)
def test_with_expectation(
    verdict: PropertyVerdict, verb: ExpectationVerb, expected: ExitCode, options: Options
) -> None:
    """Asking for a bound does not turn a bound into the proof that the model promises."""
    assert result(verdict, verb).code(options) is expected


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [(Runs(trace()), MET), (NotARun(0, "x"), MET), (Undecided("limit"), INCONCLUSIVE)],
)
def test_scenarios_without_expectation(verdict: ScenarioVerdict, expected: ExitCode) -> None:
    assert ScenarioResult("s", SPAN, "", verdict, ()).code(PLAIN) is expected


VARIANT = VariantReport(None, "", model(), Scope((), None), (result(Proved(CERTIFICATE)),))
ERROR = Diagnostic("E101", "wrong", SPAN)
REMARK = Remark(RemarkKind.VACUOUS, "p", "never true", SPAN)


def test_what_makes_a_variant_fail() -> None:
    assert VARIANT.code(PLAIN) is MET
    assert replace(VARIANT, errors=(ERROR,)).code(PLAIN) is ExitCode.MODEL
    assert replace(VARIANT, failures=(Failure("oops"),)).code(PLAIN) is ExitCode.OWN_ERROR
    assert replace(VARIANT, interrupted=True).code(PLAIN) is INCONCLUSIVE
    assert replace(VARIANT, remarks=(REMARK,)).code(PLAIN) is MET
    assert replace(VARIANT, remarks=(REMARK,)).code(Options(strict=True)) is REFUTED
    report = FileReport("f", "", (VARIANT,))
    for warned in (replace(report, warnings=(ERROR,)), replace(report, remarks=(REMARK,))):
        assert warned.code(PLAIN) is MET
        assert warned.code(Options(strict=True)) is REFUTED


def test_an_interrupted_variant_with_a_refutation_is_refuted() -> None:
    refuted = result(Refuted(trace(), "search", None))
    assert replace(VARIANT, properties=(refuted,), interrupted=True).code(PLAIN) is REFUTED


def test_a_file_has_the_gravest_code_of_its_variants() -> None:
    failing = replace(VARIANT, properties=(result(Undecided("time")),))
    assert FileReport("f", "", (VARIANT, failing)).code(PLAIN) is INCONCLUSIVE
    assert FileReport("f", "", (VARIANT,), errors=(ERROR,)).code(PLAIN) is ExitCode.MODEL
    assert FileReport("f", "", (VARIANT,), failures=(Failure("x"),)).code(PLAIN) is ExitCode.OWN_ERROR


def test_precedence() -> None:
    """3, 2, 1, 4, 0."""
    order = [ExitCode.OWN_ERROR, ExitCode.MODEL, ExitCode.REFUTED, ExitCode.INCONCLUSIVE, ExitCode.MET]
    assert [int(code) for code in order] == [3, 2, 1, 4, 0]
    for place, code in enumerate(order):
        assert gravest(reversed(order[place:])) is code
    assert gravest([]) is ExitCode.MET
