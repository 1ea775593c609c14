"""Cells: what one property came to at one point of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from checker.certificates.certificate import Certificate
from checker.liveness.live_certificate import CycleCertificate
from checker.reports.evidence import plural
from checker.verdict import (
    Covered,
    HoldsTo,
    NotARun,
    Proved,
    Refuted,
    Runs,
    Uncovered,
    UncoveredTo,
    Undecided,
    Verdict,
    faults_in,
)


class Answer(Enum):
    """What is known of a property at a point; the values are the words of people and of JSON."""

    PROVED = "proved"
    REFUTED = "refuted"
    HOLDS_TO = "only up to a depth"
    UNDECIDED = "undecided"
    REACHED = "reached"
    UNREACHABLE = "unreachable"
    RUNS = "runs"
    NOT_A_RUN = "not a run"
    ABSENT = "nothing to check"
    """The model has no such thing at this point: an assertion of a thread that is not there, or nothing that could be
    stuck."""
    REJECTED = "rejected by the model"
    NOT_CHECKED = "not checked"
    """The sweep was stopped before."""

    @property
    def key(self) -> str:
        return self.name.lower()


GOOD = (Answer.PROVED, Answer.REACHED, Answer.RUNS)
OPEN = (Answer.UNDECIDED, Answer.HOLDS_TO)
NEUTRAL = (Answer.UNREACHABLE, Answer.NOT_A_RUN, Answer.ABSENT)
"""What nobody said that it should be otherwise, as in `check`."""


@dataclass(frozen=True)
class Cell:
    """amount    how large the evidence is, in `unit`s: states or clauses of a proof, steps of a run, the depth
    at_most   whether there may be a shorter run
    faults    the classes of the faults in the run, one for each that strikes
    detail    why there is no verdict
    """

    answer: Answer
    amount: int | None = None
    unit: str = ""
    at_most: bool = False
    faults: tuple[str, ...] = ()
    detail: str = ""

    @property
    def evidence(self) -> str:
        """`1,234 states`, `at most 7 steps`; empty where there is no number."""
        if self.amount is None:
            return ""
        return f"{'at most ' * self.at_most}{plural(self.amount, self.unit)}"


def cell_of(verdict: Verdict, interrupted: bool) -> Cell:
    """interrupted: the check of the point was stopped, and what it had not decided by then was not checked."""
    match verdict:
        case Proved(certificate=certificate):
            return _proof(Answer.PROVED, certificate)
        case Uncovered(certificate=certificate):
            return _proof(Answer.UNREACHABLE, certificate)
        case Refuted(trace=trace, shortest=shortest):
            return Cell(Answer.REFUTED, len(trace), "step", shortest is None, faults_in(trace))
        case Covered(trace=trace, shortest=shortest):
            return Cell(Answer.REACHED, len(trace), "step", shortest is None, faults_in(trace))
        case Runs(trace=trace):
            return Cell(Answer.RUNS, len(trace), "step", False, faults_in(trace))
        case NotARun(beat=beat):
            return Cell(Answer.NOT_A_RUN, detail=f"no run gets past: {beat}" if beat else "no run follows it")
        case HoldsTo(depth=depth, reason=reason) | UncoveredTo(depth=depth, reason=reason):
            return Cell(Answer.HOLDS_TO, depth, "step", detail=reason)
        case Undecided(reason=reason):
            return Cell(Answer.NOT_CHECKED) if interrupted else Cell(Answer.UNDECIDED, detail=reason)


def _proof(answer: Answer, certificate: object) -> Cell:
    if isinstance(certificate, CycleCertificate):
        certificate = certificate.closed
    if isinstance(certificate, Certificate):
        return Cell(answer, certificate.states, "state")
    clauses = getattr(certificate, "clauses", None)
    return Cell(answer, clauses, "clause")
