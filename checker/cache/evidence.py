"""The evidence of a kept report, looked at again: nothing that was kept is shown on its word alone where it can be
checked at once.

Every run is walked by the reference interpreter, through the model as it is now, and must show what it is said to show.
The obligations of every invariant are asked again, of a solver and a lowering that are new.  A closed set is not kept,
only what it was; it stands as what was proved then.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from checker.cache.subject import Basis, Subject
from checker.certificates.invariance import InvariantCertificate
from checker.certificates.invariant import check
from checker.crashpoints.crash_map import stands
from checker.engines.engine import FewRounds
from checker.liveness.assumptions import assumed
from checker.liveness.counting import complaint
from checker.liveness.fairness_needs import Enough, Relied
from checker.liveness.fairness_search import broken_by, covers
from checker.liveness.live_certificate import RoundsCertificate
from checker.lower import lower
from checker.result import PropertyResult, VariantReport
from checker.story_system import follows
from checker.verdict import Covered, Proved, Refuted, Runs, Uncovered, Verdict, faults_in
from counterexamples import replay
from counterexamples.trace import Trace
from spec.interpreter import Interpreter
from spec.typed import Fairness, Scenario

SECONDS = 1.0
"""For the solver, for each invariant.  One that takes longer stands as what was proved then."""


def complaint_about(report: VariantReport, subject: Subject) -> str | None:
    """What is wrong with the evidence of a report that was kept; None when it stands."""
    for result in report.properties:
        for verdict, basis in _verdicts(result, subject):
            wrong = _wrong(verdict, result.name, basis, subject)
            if wrong is not None:
                return f"{result.name}: {wrong}"
        if isinstance(result.fairness, Relied) and not all(map(_allows, result.fairness.sets)):
            return f"{result.name}: a lasso breaks what it is said not to break"
    for told, scenario in zip(report.scenarios, subject.scenarios, strict=True):
        if isinstance(told.verdict, Runs) and not _is_told(told.verdict.trace, scenario, subject):
            return f"{told.name}: the run does not follow it"
    if report.crash_map is not None and not stands(report.crash_map, lower(subject.model)):
        return "a run of the crash-point map does not stand"
    return None


def _allows(enough: Enough) -> bool:
    """Whether each lasso of a set of assumptions is allowed by all others of the set, and by less of its own."""
    for each in enough.needed:
        broken = broken_by(each.without.trace)
        for other in enough.needed:
            fair = other.fairness
            if other is each:
                fair = Fairness.WEAK if fair is Fairness.STRONG else Fairness.UNFAIR
            if other.assumption in broken and covers(fair, broken[other.assumption]):
                return False
    return True


def _verdicts(result: PropertyResult, subject: Subject) -> Iterator[tuple[Verdict, Basis]]:
    """All verdicts on a property, each with what its proof speaks of; a run has its own model."""
    yield result.verdict, subject.basis
    if result.needs is not None:
        yield from ((each.verdict, subject.basis) for each in result.needs.breaking)
        yield from ((each.verdict, subject.under_faults(each.faults)) for each in result.needs.tolerated)
    if isinstance(result.fairness, Relied):
        for enough in result.fairness.sets:
            assumptions = {each.assumption: each.fairness for each in enough.needed}
            yield enough.verdict, subject.under_assumptions(assumptions)
            yield from ((each.without, subject.basis) for each in enough.needed)
    elif result.fairness is not None:
        for repair in result.fairness.found:
            assumptions = {**assumed(subject.model), repair.assumption: repair.fairness}
            yield repair.verdict, subject.under_assumptions(assumptions)


def _wrong(verdict: Verdict, name: str, basis: Basis, subject: Subject) -> str | None:
    match verdict:
        case Refuted(trace=trace) | Covered(trace=trace):
            if not _is_within(trace, subject):
                return "a run has more faults than there may be"
            answer = replay.confirm(trace, name, Interpreter(trace.model))
            return None if isinstance(answer, replay.Confirmed) else f"a run does not stand: {answer.why}"
        case Proved(certificate=certificate) | Uncovered(certificate=certificate):
            deadline = time.monotonic() + SECONDS
            wrong = None
            if isinstance(certificate, InvariantCertificate):
                system, target = basis.lowered.system, basis.target(name)
                wrong = check(system, target, certificate.invariant, deadline, rescues=certificate.rescues)
            elif isinstance(certificate, RoundsCertificate):
                proof = FewRounds(certificate.rounds, certificate.invariants, certificate.frames)
                wrong = complaint(basis.lowered.system, basis.target(name), proof, deadline)
            return None if wrong is None or "the solver gave no answer" in wrong else wrong
        case _:
            return None


def _is_told(trace: Trace, scenario: Scenario, subject: Subject) -> bool:
    interpreter = Interpreter(subject.model)
    return (
        trace.model == subject.model
        and _is_within(trace, subject)
        and replay.replay(trace, interpreter) is None
        and follows(scenario, trace, interpreter)
    )


def _is_within(trace: Trace, subject: Subject) -> bool:
    most = subject.options.max_faults
    return most is None or len(faults_in(trace)) <= most


__all__ = ["complaint_about"]
