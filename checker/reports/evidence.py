"""The evidence of a verdict in one phrase, for tables."""

from __future__ import annotations

from collections.abc import Iterable

from checker.certificates.certificate import Certificate
from checker.certificates.invariance import InvariantCertificate
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
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
from counterexamples.trace import Trace


def describe(verdict: Verdict) -> str:
    """`1,234 states, depth 18`; `4 steps, 1 fault: crash Server`.  How it was checked is for `how_checked` to say."""
    match verdict:
        case Proved(certificate=certificate) | Uncovered(certificate=certificate):
            return _certificate(certificate)
        case (
            Refuted(trace=trace, engine=engine, shortest=shortest)
            | Covered(trace=trace, engine=engine, shortest=shortest)
        ):
            if shortest is not None:
                return _trace(trace)
            run = "run" if trace.loop is None else "lasso"
            return f"at most {_trace(trace)}; found by {engine}, there may be a shorter {run}"
        case HoldsTo(reason=reason, engine=engine) | UncoveredTo(reason=reason, engine=engine):
            return f"{engine}: {reason}"
        case Undecided(reason=reason):
            return reason
        case Runs(trace=trace):
            return _trace(trace)
        case NotARun(beat=beat):
            return f"no run gets past: {beat}" if beat else "no run follows it to the end"


_Certificate = Certificate | InvariantCertificate | CycleCertificate | RoundsCertificate


def _certificate(certificate: _Certificate) -> str:
    if isinstance(certificate, CycleCertificate):
        return f"{_certificate(certificate.closed)}, no fair cycle"
    if isinstance(certificate, RoundsCertificate):
        rounds, clauses = plural(certificate.bound, "fair round"), plural(certificate.clauses, "clause")
        noun = "invariant" if len(certificate.invariants) == 1 else "invariants"
        frames = plural(certificate.frames, "frame")
        return f"{certificate.engine}: fewer than {rounds}, {noun} of {clauses}, {frames}"
    if isinstance(certificate, InvariantCertificate):
        clauses, frames = plural(certificate.clauses, "clause"), plural(certificate.frames, "frame")
        ways = f", {plural(certificate.ways, 'way')} out" if certificate.ways else ""
        return f"{certificate.engine}: invariant of {clauses}{ways}, {frames}"
    symmetry = " up to symmetry" if certificate.symmetric else ""
    apart = ", each thread by itself" if certificate.apart else ""
    return f"{plural(certificate.states, 'state')}{symmetry}, depth {certificate.depth}{apart}"


def how_checked(verdicts: Iterable[Verdict]) -> str | None:
    """How the evidence of these verdicts was checked again, on one line; None when there is none."""
    certificates: dict[_Certificate, None] = {}
    walks: list[int] = []
    counted: list[int] = []
    cycles = False
    shortest: dict[str, None] = {}
    runs = False
    for verdict in verdicts:
        match verdict:
            case Proved(certificate=CycleCertificate(closed=closed) as certificate):
                certificates |= {closed: None, certificate: None}
            case Proved(certificate=certificate) | Uncovered(certificate=certificate):
                certificates[certificate] = None
            case Refuted(shortest=why) | Covered(shortest=why):
                runs = True
                if why is not None:
                    shortest[why.partition(":")[0]] = None
            case Runs():
                runs = True
    told = []
    for certificate in certificates:
        if isinstance(certificate, InvariantCertificate):
            walks.append(certificate.walked)
            continue
        if isinstance(certificate, RoundsCertificate):
            counted.append(certificate.walked)
            continue
        if isinstance(certificate, CycleCertificate):
            cycles = True
            continue
        walked = "all" if certificate.complete else f"{certificate.walked:,} of"
        told.append(f"closed set, interpreter on {walked} {plural(certificate.states, 'state')}")
    if walks:
        noun = "invariant" if len(walks) == 1 else "invariants"
        states = plural(min(walks), "state")
        told.append(f"{noun} by a fresh solver, interpreter on {states}{' or more each' if len(walks) > 1 else ''}")
    if cycles:
        told.append("no fair cycle by a second algorithm")
    if counted:
        states = plural(min(counted), "state")
        told.append(f"fair rounds by a fresh solver, interpreter on {states}{' or more each' if counted[1:] else ''}")
    if runs:
        told.append("runs")
    if not told:
        return None
    why = f"; shortest: {', '.join(shortest)}" if shortest else ""
    return f"re-checked: {', '.join(told)}{why}"


def lasso_length(trace: Trace) -> str:
    """`6 steps, loop of 2`; `4 steps and then none` where the run stays for ever."""
    assert trace.loop is not None
    if not trace.events:
        return "no step at all"
    steps = plural(len(trace), "step")
    return f"{steps} and then none" if trace.loop == len(trace) else f"{steps}, loop of {len(trace) - trace.loop}"


def _trace(trace: Trace) -> str:
    faults = faults_in(trace)
    told = plural(len(trace), "step") if trace.loop is None else lasso_length(trace)
    if not faults:
        return f"{told}, no fault"
    counts = {name: faults.count(name) for name in dict.fromkeys(faults)}
    named = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts.items())
    return f"{told}, {plural(len(faults), 'fault')}: {named}"


def plural(count: int, noun: str) -> str:
    """`1 state`, `1,234 states`, `2 properties`, `2 ways`."""
    if count == 1:
        return f"1 {noun}"
    turns = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{count:,} {noun[:-1]}ies" if turns else f"{count:,} {noun}s"
