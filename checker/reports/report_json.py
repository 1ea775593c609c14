"""What a check has found, as one JSON document (schema `counterpoint-report/1`, in `report.schema.json`)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from checker.certificates.certificate import Certificate
from checker.certificates.invariance import InvariantCertificate
from checker.exitcode import ExitCode
from checker.liveness.assumptions import Assumption
from checker.liveness.fairness_needs import FairnessNeeds, Relied
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from checker.needs.needs import FaultSet, Needs, in_order
from checker.options import Options
from checker.reliance.reliance import Why
from checker.remark import Remark
from checker.reports.evidence import plural
from checker.reports.explanation import explained
from checker.reports.tally import tally
from checker.result import FileReport, PropertyResult, Result, VariantReport
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
from checker.version import VERSION
from counterexamples.render import json as trace_json
from counterexamples.trace import Trace
from spec.diagnostic import Diagnostic
from spec.source import Span
from spec.typed import Fairness
from spec.value import Member, Value

SCHEMA = "counterpoint-report/1"

_WORDS: dict[type[Verdict], str] = {
    Proved: "proved",
    Refuted: "refuted",
    HoldsTo: "holds_to",
    Undecided: "undecided",
    Covered: "reached",
    Uncovered: "unreachable",
    UncoveredTo: "not_reached_to",
    Runs: "runs",
    NotARun: "not_a_run",
}


def document(reports: Sequence[FileReport], options: Options, code: ExitCode, seconds: float) -> str:
    """The document's text, with a newline at its end."""
    content = {
        "schema": SCHEMA,
        "version": VERSION,
        "exit_code": int(code),
        "summary": tally(reports, options, seconds),
        "seconds": round(seconds, 3),
        "models": [file_content(report, options) for report in reports],
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def file_content(report: FileReport, options: Options) -> dict[str, object]:
    """A file's part of the document."""
    return {
        "name": report.name,
        "doc": report.doc,
        "exit_code": int(report.code(options)),
        "seconds": round(report.seconds, 3),
        "errors": [_diagnostic(diagnostic) for diagnostic in report.errors],
        "warnings": [*map(_diagnostic, report.warnings), *map(_remark, report.remarks)],
        "internal_errors": [failure.message for failure in report.failures],
        "variants": [_variant(variant, options) for variant in report.variants],
    }


def _variant(variant: VariantReport, options: Options) -> dict[str, object]:
    model = variant.model
    return {
        "name": variant.variant,
        "doc": variant.doc,
        "exit_code": int(variant.code(options)),
        "seconds": round(variant.seconds, 3),
        "interrupted": variant.interrupted,
        "begun": variant.begun,
        "cut_short": variant.cut_short,
        "cached": variant.decided,
        "constants": {} if model is None else {name: _constant(value) for name, value in model.constants.items()},
        "faults": list(variant.scope.faults),
        "max_faults": variant.scope.max_faults,
        "errors": [_diagnostic(diagnostic) for diagnostic in variant.errors],
        "warnings": [*map(_diagnostic, variant.warnings), *map(_remark, variant.remarks)],
        "internal_errors": [failure.message for failure in variant.failures],
        "properties": [_result(result, options) for result in variant.properties],
        "scenarios": [_result(result, options) for result in variant.scenarios],
        "crash_points": _crash_points(variant),
    }


def _crash_points(variant: VariantReport) -> dict[str, object] | None:
    """The map of `checker/crashpoints.schema.json`, where it was asked for."""
    if variant.crash_map is None:
        return None
    from checker.crashpoints.report_json import map_content

    return map_content(variant.variant, variant.crash_map)


def _constant(value: Value) -> object:
    match value:
        case None | bool() | int():
            return value
        case Member(name=name):
            return name
        case _:
            return str(value)


def _result(result: Result, options: Options) -> dict[str, object]:
    found: dict[str, object] = {"name": result.name}
    if isinstance(result, PropertyResult):
        found["form"] = result.form.value
        found["why"] = None if result.why is None else _why(result.why)
        found["fairness"] = None if result.fairness is None else _fairness(result.fairness, result.name)
        found["needs"] = None if result.needs is None else _needs(result.needs, result.name)
    name = result.name if isinstance(result, PropertyResult) else None
    return {
        **found,
        "doc": result.doc,
        "span": _span(result.span),
        "exit_code": int(result.code(options)),
        "expectations": [
            {
                "expected": judged.expectation.verb.value,
                "needs": _sets(judged.expectation.needs),
                "judgement": judged.judgement.name.lower(),
            }
            for judged in result.judged
        ],
        "verdict": _WORDS[type(result.verdict)],
        "evidence": _evidence(result.verdict, name),
    }


def _evidence(verdict: Verdict, name: str | None) -> dict[str, object]:
    match verdict:
        case Proved(certificate=certificate) | Uncovered(certificate=certificate):
            return _certificate(certificate)
        case Refuted(trace=trace, engine=engine, shortest=why) | Covered(trace=trace, engine=engine, shortest=why):
            length = plural(len(trace), "step") if why is not None else f"at most {plural(len(trace), 'step')}"
            return {"engine": engine, "length": length, "shortest": why, "loop": trace.loop, **_trace(trace, name)}
        case (
            HoldsTo(depth=depth, reason=reason, engine=engine) | UncoveredTo(depth=depth, reason=reason, engine=engine)
        ):
            return {"engine": engine, "depth": depth, "reason": reason}
        case Undecided(reason=reason):
            return {"reason": reason}
        case Runs(trace=trace):
            return _trace(trace, None)
        case NotARun(furthest=furthest, beat=beat):
            return {"furthest_beat": furthest, "beat": beat}


def _certificate(
    certificate: Certificate | InvariantCertificate | CycleCertificate | RoundsCertificate,
) -> dict[str, object]:
    if isinstance(certificate, CycleCertificate):
        return {**_certificate(certificate.closed), "fair_cycles": 0}
    if isinstance(certificate, RoundsCertificate):
        return {
            "engine": certificate.engine,
            "fair_rounds": list(certificate.rounds),
            "clauses": certificate.clauses,
            "frames": certificate.frames,
            "invariant": list(certificate.told()),
            "interpreter_states": certificate.walked,
            "interpreter_steps": certificate.steps,
            "interpreter_fair_rounds": certificate.longest,
        }
    if isinstance(certificate, InvariantCertificate):
        return {
            "engine": certificate.engine,
            "clauses": certificate.clauses,
            "frames": certificate.frames,
            "ways_out": certificate.ways,
            "invariant": [str(sentence) for sentence in certificate.told()],
            "interpreter_states": certificate.walked,
            "interpreter_steps": certificate.steps,
        }
    return {
        "engine": certificate.engine,
        "states": certificate.states,
        "symmetric": certificate.symmetric,
        "depth": certificate.depth,
        "interpreter_states": certificate.walked,
        "interpreter_steps": certificate.steps,
    }


def _why(why: Why) -> dict[str, object]:
    return {
        "parts": why.tried,
        "needed": [
            {
                "kind": part.kind,
                "part": part.text,
                "span": _span(part.span),
                "steps": part.steps,
                "shortest": part.shortest,
            }
            for part in why.needed
        ],
        "open": [
            {"kind": part.kind, "part": part.text, "span": _span(part.span), "reason": part.reason} for part in why.open
        ],
    }


def _needs(needs: Needs, name: str) -> dict[str, object]:
    return {
        "classes": [str(fault) for fault in needs.classes],
        "complete": needs.complete,
        "breaking": [
            {
                "faults": [str(fault) for fault in in_order(each.faults, needs.classes)],
                "orbit": each.orbit,
                "minimal": each.minimal,
                "evidence": _evidence(each.verdict, name),
            }
            for each in needs.breaking
        ],
        "tolerated": [
            {
                "faults": [str(fault) for fault in in_order(each.faults, needs.classes)],
                "orbit": each.orbit,
                "evidence": _evidence(each.verdict, name),
            }
            for each in needs.tolerated
        ],
        "undecided": [[str(fault) for fault in in_order(each.faults, needs.classes)] for each in needs.undecided],
        "undecided_orbits": [each.orbit for each in needs.undecided],
        "reason": needs.reason,
    }


def _fairness(found: FairnessNeeds, name: str) -> dict[str, object]:
    if isinstance(found, Relied):
        return {
            "complete": found.complete,
            "reason": found.reason,
            "sets": [
                {
                    "assumptions": [
                        {**_assumption(each.assumption, each.fairness), "without": _evidence(each.without, name)}
                        for each in enough.needed
                    ],
                    "evidence": _evidence(enough.verdict, name),
                }
                for enough in found.sets
            ],
        }
    return {
        "tried": found.tried,
        "repairs": [
            {**_assumption(each.assumption, each.fairness), "evidence": _evidence(each.verdict, name)}
            for each in found.found
        ],
        "open": [{**_assumption(each, fair), "reason": reason} for each, fair, reason in found.open],
    }


def _assumption(assumption: Assumption, fair: Fairness) -> dict[str, object]:
    return {"kind": assumption.kind.value, "of": assumption.name, "fairness": fair.value}


def _sets(sets: Sequence[FaultSet] | None) -> list[list[str]] | None:
    return None if sets is None else [sorted(map(str, each)) for each in sets]


def _trace(trace: Trace, name: str | None) -> dict[str, object]:
    return {
        "steps": len(trace),
        "faults": list(faults_in(trace)),
        "trace": trace_json.document(explained(trace, name), trace),
    }


def _diagnostic(diagnostic: Diagnostic) -> dict[str, object]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "span": _span(diagnostic.span),
        "notes": [{"message": note.message, "span": _span(note.span)} for note in diagnostic.notes],
        "fix": diagnostic.fix,
    }


def _remark(remark: Remark) -> dict[str, object]:
    return {
        "code": remark.kind.name.lower(),
        "severity": "warning",
        "message": remark.message,
        "span": _span(remark.span),
        "notes": [],
        "fix": None,
    }


def _span(span: Span | None) -> dict[str, object] | None:
    if span is None:
        return None
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end_line,
        "end_column": end_column,
    }
