"""Verdicts, each with the evidence that makes it one, and how they compare with what the model expects.

A verdict without evidence cannot be built: `Proved` needs a checked certificate, `Refuted` a confirmed trace.  What an
engine merely says is an outcome (`checker.engines.engine`), not yet a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from checker.certificates.certificate import Certificate
from checker.certificates.invariance import InvariantCertificate
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from counterexamples.explain import Kind, fault_class, kind
from counterexamples.trace import Trace
from spec.typed import Expectation, ExpectationVerb


@dataclass(frozen=True)
class Scope:
    """What a verdict is relative to: the fault classes that could strike, and how many faults in one run at most
    (None: any number)."""

    faults: tuple[str, ...]
    max_faults: int | None

    def __str__(self) -> str:
        if not self.faults or self.max_faults == 0:
            return "no faults"
        classes = ", ".join(self.faults)
        if self.max_faults is None:
            return classes
        return f"at most {self.max_faults} {'fault' if self.max_faults == 1 else 'faults'} of: {classes}"


@dataclass(frozen=True)
class Proved:
    """No reachable state or step, in any number of steps, violates the property; for a `live` one no run does."""

    certificate: Certificate | InvariantCertificate | CycleCertificate | RoundsCertificate


@dataclass(frozen=True)
class Refuted:
    """`trace` ends in a violation, or for a `live` property leads back and is one for ever; the interpreter has walked
    it.  shortest: why no shorter one exists, or None where that is not known."""

    trace: Trace
    engine: str
    shortest: str | None


@dataclass(frozen=True)
class HoldsTo:
    """No violation within `depth` steps (of a `live` property: no lasso of so many).  Beyond nothing is known; `reason`
    says why the engine stopped there."""

    depth: int
    reason: str
    engine: str


@dataclass(frozen=True)
class Undecided:
    reason: str


@dataclass(frozen=True)
class Covered:
    """`trace` reaches the cover, and the interpreter has walked it."""

    trace: Trace
    engine: str
    shortest: str | None


@dataclass(frozen=True)
class Uncovered:
    """No reachable state is covered."""

    certificate: Certificate | InvariantCertificate


@dataclass(frozen=True)
class UncoveredTo:
    """The cover is not reached within `depth` steps.  Beyond nothing is known."""

    depth: int
    reason: str
    engine: str


@dataclass(frozen=True)
class Runs:
    """The scenario is a run of the model."""

    trace: Trace


@dataclass(frozen=True)
class NotARun:
    """No run follows the scenario to its end.  `furthest` is the index of the first beat that no run tells, `beat` its
    text."""

    furthest: int
    beat: str


PropertyVerdict = Proved | Refuted | HoldsTo | Undecided | Covered | Uncovered | UncoveredTo
ScenarioVerdict = Runs | NotARun | Undecided
Verdict = PropertyVerdict | ScenarioVerdict


def title(verdict: Verdict) -> str:
    """The verdict in the words of reports: `PROVED`, `HOLDS TO 12`."""
    match verdict:
        case Proved():
            return "PROVED"
        case Refuted():
            return "REFUTED"
        case HoldsTo(depth=depth):
            return f"HOLDS TO {depth}"
        case Undecided():
            return "UNDECIDED"
        case Covered():
            return "REACHED"
        case Uncovered():
            return "UNREACHABLE"
        case UncoveredTo(depth=depth):
            return f"NOT REACHED TO {depth}"
        case Runs():
            return "RUNS"
        case NotARun():
            return "NOT A RUN"


def faults_in(trace: Trace) -> tuple[str, ...]:
    """The classes of the faults that strike in a trace, in order, one for each."""
    found = []
    for event, before in zip(trace.events, trace.states, strict=False):
        if kind(event, before) is Kind.FAULT:
            declared = fault_class(trace.model, event, before)
            found.append(str(declared) if declared is not None else event.kind.value)
    return tuple(found)


class Judgement(Enum):
    """How a verdict compares with an expectation."""

    MET = "met"
    MISSED = "missed"
    INCONCLUSIVE = "inconclusive"
    NOT_JUDGED = "not judged"
    """The options of the command line changed the model, so the expectation does not speak of it."""


_MEETS: dict[ExpectationVerb, tuple[type[Verdict], ...]] = {
    ExpectationVerb.PROVES: (Proved,),
    ExpectationVerb.REFUTES: (Refuted, Uncovered),
    ExpectationVerb.REACHES: (Covered,),
    ExpectationVerb.RUNS: (Runs,),
    ExpectationVerb.FORBIDS: (NotARun,),
}


def judge(expectation: Expectation, verdict: Verdict) -> Judgement:
    """Whether the verdict meets the expectation.  A verdict that stops at a bound meets nothing and misses nothing."""
    if isinstance(verdict, _MEETS[expectation.verb]):
        return Judgement.MET
    if isinstance(verdict, HoldsTo | UncoveredTo | Undecided):
        return Judgement.INCONCLUSIVE
    return Judgement.MISSED
