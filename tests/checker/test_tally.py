from __future__ import annotations

from dataclasses import replace

from checker.options import Options
from checker.reports.tally import tally
from checker.result import FileReport, Judged, PropertyResult, ScenarioResult, VariantReport
from checker.verdict import Judgement, PropertyVerdict, Proved, Refuted, Runs, Scope, Undecided, judge
from spec.typed import ExpectationVerb, PropertyForm
from tests.checker.samples import CERTIFICATE, SPAN, expectation, model, trace

PROVED, REFUTED = Proved(CERTIFICATE), Refuted(trace(), "search", None)


def result(verdict: PropertyVerdict, verb: ExpectationVerb | None = None) -> PropertyResult:
    judged = () if verb is None else (Judged(expectation(verb), judge(expectation(verb), verdict)),)
    return PropertyResult("p", PropertyForm.INVARIANT, SPAN, "", verdict, judged)


def report(*results: PropertyResult, variant: str | None = "v1") -> FileReport:
    return FileReport("f", "", (VariantReport(variant, "", model(), Scope((), None), results),))


def test_all_met() -> None:
    proves, refutes = result(PROVED, ExpectationVerb.PROVES), result(REFUTED, ExpectationVerb.REFUTES)
    line = tally([report(proves, refutes), report(proves)], Options(), 12.34)
    assert line == "2 models, 2 variants, 3 properties: all 3 expectations met in 12.3 s"


def test_some_missed() -> None:
    missed = result(PROVED, ExpectationVerb.REFUTES)
    open_one = result(Undecided("time"), ExpectationVerb.PROVES)
    line = tally([report(result(PROVED, ExpectationVerb.PROVES), missed, open_one)], Options(), 1)
    assert line == "1 model, 1 variant, 3 properties: 1 of 3 expectations met, 1 missed, 1 inconclusive in 1.0 s"


def test_without_expectations() -> None:
    line = tally([report(result(PROVED), result(PROVED), result(REFUTED), variant=None)], Options(), 0.44)
    assert line == "1 model, 3 properties: 2 proved, 1 refuted in 0.4 s"


def test_a_refutation_without_expectation_is_not_hidden_by_met_ones() -> None:
    line = tally([report(result(PROVED, ExpectationVerb.PROVES), result(REFUTED))], Options(), 1)
    assert line == "1 model, 1 variant, 2 properties: the expectation is met, 1 refuted without expectation in 1.0 s"


def test_expectations_that_are_not_judged() -> None:
    unjudged = replace(result(PROVED), judged=(Judged(expectation(ExpectationVerb.PROVES), Judgement.NOT_JUDGED),))
    line = tally([report(unjudged)], Options(max_faults=1), 1)
    expected = "1 model, 1 variant, 1 property: 1 expectation not judged (options changed the model), 1 proved in 1.0 s"
    assert line == expected


def test_scenarios_and_interrupts_are_counted() -> None:
    variant = VariantReport(
        None,
        "",
        model(),
        Scope((), None),
        (result(PROVED),),
        (ScenarioResult("s", SPAN, "", Runs(trace()), ()),),
        interrupted=True,
    )
    line = tally([FileReport("f", "", (variant,))], Options(), 1)
    assert line == "1 model, 1 property, 1 scenario: 1 proved, 1 runs, interrupted in 1.0 s"
