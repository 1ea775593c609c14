"""A report as plain JSON data: what cannot be worked out anew from the model, and nothing else.

`checker.cache.decoding` reads it back.  No place in a text is written: these follow from the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from checker.cache.subject import Subject
from checker.certificates.certificate import Certificate
from checker.certificates.invariance import InvariantCertificate
from checker.certificates.proof_terms import write_cubes
from checker.certificates.ways_file import write_way
from checker.coverage import told
from checker.crashpoints.crash_map import CrashMap
from checker.liveness.assumptions import Assumption
from checker.liveness.fairness_needs import Enough, FairnessNeeds, Relied, Repair
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from checker.needs.needs import FaultSet, Needs
from checker.reliance.parts import parts_of
from checker.reliance.reliance import Needed, Open, Why
from checker.remark import Remark
from checker.result import PropertyResult, ScenarioResult, VariantReport
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
)
from counterexamples.render.encoding import encode_event, encode_state
from counterexamples.trace import Trace
from spec.state import GlobalState

Json = Any
K = TypeVar("K")


def encode_report(report: VariantReport, subject: Subject) -> dict[str, Json]:
    """The data of a finished report (`checker.cache.finished`).  Raises ValueError for one that cannot be kept."""
    return {
        "properties": [_property(result, subject) for result in report.properties],
        "scenarios": [_scenario(result, subject) for result in report.scenarios],
        "remarks": [_remark(remark, subject) for remark in report.remarks],
        "activity": None if report.activity is None else list(told(subject.model, report.activity)),
        "crash_map": None if report.crash_map is None else _crash_map(report.crash_map, subject),
    }


def _property(result: PropertyResult, subject: Subject) -> Json:
    return {
        "name": subject.names.kept(result.name),
        "form": result.form.value,
        "verdict": _verdict(result.verdict, subject),
        "needs": None if result.needs is None else _needs(result.needs, subject),
        "why": None if result.why is None else _why(result.why, subject),
        "fairness": None if result.fairness is None else _fairness(result.fairness, subject),
    }


def _scenario(result: ScenarioResult, subject: Subject) -> Json:
    return {"name": result.name, "verdict": _verdict(result.verdict, subject)}


def _remark(remark: Remark, subject: Subject) -> Json:
    before, found, after = remark.message.partition(remark.subject)
    if not found:
        raise ValueError(f"a remark does not name its subject: {remark.message}")
    return {
        "kind": remark.kind.name,
        "subject": subject.names.kept(remark.subject),
        "before": before,
        "after": after,
    }


# ------------------------------------------------------------------------------------------------------------ verdicts


def _verdict(verdict: Verdict, subject: Subject) -> Json:
    match verdict:
        case Proved(certificate=certificate):
            return {"verdict": "proved", "certificate": _certificate(certificate)}
        case Uncovered(certificate=certificate):
            return {"verdict": "uncovered", "certificate": _certificate(certificate)}
        case Refuted(trace=trace, engine=engine, shortest=shortest):
            return {"verdict": "refuted", "trace": _trace(trace, subject), "engine": engine, "shortest": shortest}
        case Covered(trace=trace, engine=engine, shortest=shortest):
            return {"verdict": "covered", "trace": _trace(trace, subject), "engine": engine, "shortest": shortest}
        case HoldsTo(depth=depth, reason=reason, engine=engine):
            return {"verdict": "holds to", "depth": depth, "reason": reason, "engine": engine}
        case UncoveredTo(depth=depth, reason=reason, engine=engine):
            return {"verdict": "uncovered to", "depth": depth, "reason": reason, "engine": engine}
        case Runs(trace=trace):
            return {"verdict": "runs", "trace": _trace(trace, subject)}
        case NotARun(furthest=furthest):
            return {"verdict": "not a run", "furthest": furthest}
        case Undecided(reason=reason):
            raise ValueError(f"nothing undecided is kept: {reason}")


def _certificate(
    certificate: Certificate | InvariantCertificate | CycleCertificate | RoundsCertificate,
) -> Json:
    match certificate:
        case Certificate():
            return {
                "kind": "closed set",
                "engine": certificate.engine,
                "states": certificate.states,
                "symmetric": certificate.symmetric,
                "depth": certificate.depth,
                "walked": certificate.walked,
                "steps": certificate.steps,
                "apart": certificate.apart,
            }
        case InvariantCertificate():
            return {
                "kind": "invariant",
                "engine": certificate.engine,
                "never": write_cubes(certificate.invariant),
                "ways": [write_way(rescue) for rescue in certificate.rescues],
                "frames": certificate.frames,
                "walked": certificate.walked,
                "steps": certificate.steps,
            }
        case CycleCertificate(closed=closed):
            return {"kind": "no fair cycle", "closed": _certificate(closed)}
        case RoundsCertificate():
            return {
                "kind": "fair rounds",
                "engine": certificate.engine,
                "cases": [
                    {"rounds": rounds, "never": write_cubes(invariant)}
                    for rounds, invariant in zip(certificate.rounds, certificate.invariants, strict=True)
                ],
                "frames": certificate.frames,
                "walked": certificate.walked,
                "steps": certificate.steps,
                "longest": certificate.longest,
            }


def _trace(trace: Trace, subject: Subject) -> Json:
    faults, fairness = subject.change(trace.model)
    return {
        "faults": faults,
        "fairness": [[*_assumption(each), fair.value] for each, fair in fairness.items()],
        "states": [_state(state) for state in trace.states],
        "events": [encode_event(event) for event in trace.events],
        "loop": trace.loop,
    }


def _state(state: GlobalState) -> Json:
    """The state in the encoding of trace files, but in the order in which the state has its parts: some views show them
    in that."""
    found = encode_state(state)
    for name in ("values", "queues", "locks", "process_values", "ghosts", "used", "activations"):
        found[name] = _as_in(getattr(state, name), found[name])
    for entry, activation in zip(found["activations"], state.activations.values(), strict=True):
        entry["locals"] = _as_in(activation.locals, entry["locals"])
    return found


def _as_in(mapping: Mapping[Any, object], by_key: list[Json]) -> list[Json]:
    """What is sorted by the keys of a mapping, in the mapping's own order."""
    found = dict(zip(sorted(mapping), by_key, strict=True))
    return [found[key] for key in mapping]


def _assumption(assumption: Assumption) -> list[Json]:
    return [assumption.kind.value, assumption.name]


# ------------------------------------------------------------------------------------------- what goes beyond verdicts


def _needs(needs: Needs, subject: Subject) -> Json:
    if needs.classes != subject.needs_classes or needs.undecided:
        raise ValueError("the fault sets are those of other classes, or not all known")
    return {
        "breaking": [
            {
                "faults": _names(each.faults),
                "verdict": _verdict(each.verdict, subject),
                "minimal": each.minimal,
                "orbit": each.orbit,
            }
            for each in needs.breaking
        ],
        "tolerated": [
            {"faults": _names(each.faults), "verdict": _verdict(each.verdict, subject), "orbit": each.orbit}
            for each in needs.tolerated
        ],
        "reason": needs.reason,
    }


def _names(faults: FaultSet) -> list[str]:
    return sorted(map(str, faults))


def _why(why: Why, subject: Subject) -> Json:
    places = {
        (part.kind, part.text, part.span): place
        for place, part in enumerate(parts_of(subject.module, subject.checked.model))
    }

    def place(part: Needed | Open) -> int:
        return places[part.kind, part.text, part.span]

    return {
        "needed": [{"part": place(part), "steps": part.steps, "shortest": part.shortest} for part in why.needed],
        "open": [{"part": place(part), "reason": part.reason} for part in why.open],
        "tried": why.tried,
    }


def _fairness(found: FairnessNeeds, subject: Subject) -> Json:
    if isinstance(found, Relied):
        return {
            "kind": "relied",
            "sets": [_enough(each, subject) for each in found.sets],
            "complete": found.complete,
            "reason": found.reason,
        }
    return {
        "kind": "repairs",
        "found": [_repair(each, subject) for each in found.found],
        "tried": found.tried,
        "open": [[*_assumption(each), fair.value, reason] for each, fair, reason in found.open],
    }


def _enough(enough: Enough, subject: Subject) -> Json:
    return {
        "needed": [
            {
                "assumption": _assumption(each.assumption),
                "fairness": each.fairness.value,
                "without": _verdict(each.without, subject),
            }
            for each in enough.needed
        ],
        "verdict": _verdict(enough.verdict, subject),
    }


def _repair(repair: Repair, subject: Subject) -> Json:
    return {
        "assumption": _assumption(repair.assumption),
        "fairness": repair.fairness.value,
        "verdict": _verdict(repair.verdict, subject),
    }


def _crash_map(found: CrashMap, subject: Subject) -> Json:
    def told(verdicts: Iterable[Verdict]) -> list[Json]:
        return [_verdict(each, subject) for each in verdicts]

    return {
        "base": told(found.base.values()),
        "cells": [
            {
                "verdicts": told(each.verdicts.values()),
                "alone": told(each.alone.values()),
                "struck": each.struck,
            }
            for each in found.cells
            if each.absence is None
        ],
    }


__all__ = ["encode_report"]
