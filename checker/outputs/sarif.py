"""Results as SARIF 2.1.0 (OASIS, 2020), which code hosts show beside the lines that they are about.

One result for each refuted property, at its declaration; its run is the code flow, with a thread flow for each process
instance, in which steps are numbered through the whole run.  What is refuted as the model expects is a note that is
suppressed in the source.  GitHub keeps 1,000 locations of a thread flow and takes 10 MB: longer runs are cut in the
middle, and say so; results past the size are left out, and a last result says how many.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from checker.outputs.complaint import RULES, Complaint, Level
from checker.version import VERSION
from counterexamples.explain import Explanation, Kind, Step
from counterexamples.notation import write_party
from counterexamples.render import wording
from counterexamples.render.text import summary
from spec.codes import CODES
from spec.event import Party
from spec.source import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_LOCATIONS = 1000
MOST_BYTES = 9_500_000
_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "note"}
_BASE = "%SRCROOT%"


def sarif(found: Iterable[Complaint]) -> str:
    """The document's text, with a newline at its end; the same for the same complaints, byte for byte."""
    listed = list(found)
    results: list[dict[str, Any]] = []
    size = 0
    counted: dict[str, int] = {}
    for complaint in listed:
        result = _result(complaint, counted)
        length = len(json.dumps(result, separators=(",", ":")))
        if size + length > MOST_BYTES:
            left = len(listed) - len(results)
            told = f"{left} more results are left out: the file would be too large"
            results.append({"ruleId": "left-out", "level": "error", "message": {"text": told}})
            break
        size += length
        results.append(result)
    names = list(dict.fromkeys(str(result["ruleId"]) for result in results))
    for result in results:
        result["ruleIndex"] = names.index(str(result["ruleId"]))
    run = {
        "tool": {
            "driver": {
                "name": "Counterpoint",
                "semanticVersion": VERSION,
                "version": VERSION,
                "rules": [_rule(name) for name in names],
            }
        },
        "originalUriBaseIds": {_BASE: {"description": {"text": "The folder in which the check ran."}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True) + "\n"


def _rule(name: str) -> dict[str, Any]:
    known = CODES.get(name)
    if known is not None:
        short, long = known.title, known.explanation
    else:
        short = RULES.get(name, name.replace("-", " ").capitalize() + ".")
        long = f"{short} See the report of `counterpoint check`."
    severity = "warning" if name.startswith("W") else "error"
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.replace("_", "-").split("-")),
        "shortDescription": {"text": short},
        "fullDescription": {"text": long},
        "help": {"text": long, "markdown": long},
        "defaultConfiguration": {"level": severity},
        "properties": {"tags": ["protocol", "model-checking"], "precision": "very-high"},
    }


def _result(complaint: Complaint, counted: dict[str, int]) -> dict[str, Any]:
    prefix = f"variant {complaint.variant}: " if complaint.variant else ""
    found: dict[str, Any] = {
        "ruleId": complaint.rule,
        "level": _LEVELS[complaint.level],
        "message": {"text": prefix + complaint.message},
        "partialFingerprints": {"counterpoint/v1": _fingerprint(complaint, counted)},
    }
    place = _start(complaint.file) if complaint.span is None else _place(complaint.span)
    found["locations"] = [{"physicalLocation": place}]
    if complaint.level is Level.NOTE:
        found["suppressions"] = [
            {"kind": "inSource", "status": "accepted", "justification": "the model expects that it is refuted"}
        ]
    if complaint.explanation is not None and complaint.explanation.steps:
        found["codeFlows"] = [_flow(complaint.explanation, complaint.span)]
    return found


def _fingerprint(complaint: Complaint, counted: dict[str, int]) -> str:
    """The same as long as file, variant, property and rule are, wherever the lines have moved."""
    subject = complaint.subject or complaint.message
    key = json.dumps([complaint.file, complaint.variant, subject, complaint.rule])
    counted[key] = counted.get(key, 0) + 1
    return hashlib.sha256(f"{key} {counted[key]}".encode()).hexdigest()[:32]


def _place(span: Span, first_line: bool = False) -> dict[str, Any]:
    """Where a span lies; of one that goes on over several lines, with `first_line`, its first."""
    end_line, end_column = span.source.position(span.end)
    if first_line and end_line > span.line:
        end_line, end_column = span.line, len(span.source.line(span.line)) + 1
    region = {"startLine": span.line, "startColumn": span.column, "endLine": end_line, "endColumn": end_column}
    return {"artifactLocation": _artifact(span.source.name), "region": region}


def _start(file: str) -> dict[str, Any]:
    """The beginning of a file, for what has no place of its own: without one, hosts show nothing."""
    return {"artifactLocation": _artifact(file), "region": {"startLine": 1}}


def _artifact(name: str) -> dict[str, str]:
    return {"uri": "file://" + quote(name)} if name.startswith("/") else {"uri": quote(name), "uriBaseId": _BASE}


def _flow(explanation: Explanation, otherwise: Span | None) -> dict[str, Any]:
    lanes: dict[str, list[Step]] = {}
    for step in explanation.steps:
        lanes.setdefault(_lane(step), []).append(step)
    flows = []
    for lane, steps in lanes.items():
        kept = steps
        if len(steps) > MOST_LOCATIONS:
            half = MOST_LOCATIONS // 2
            kept = [*steps[:half], *steps[-half:]]
        flows.append(
            {
                "id": lane,
                "message": {"text": lane if len(kept) == len(steps) else f"{lane}: {len(kept)} of {len(steps)} steps"},
                "locations": [_location(explanation, step, otherwise) for step in kept],
            }
        )
    return {"message": {"text": summary(explanation)}, "threadFlows": flows}


def _lane(step: Step) -> str:
    event = step.event
    if event.slot is not None:
        return write_party(Party(event.slot.process, event.slot.instance))
    if event.party is not None:
        return write_party(event.party)
    return event.store or "environment"


def _location(explanation: Explanation, step: Step, otherwise: Span | None) -> dict[str, Any]:
    entries = wording.entries(step, explanation)
    told = [f"{step.number}. {wording.sentence(explanation.model, step)}", *map(wording.entry, entries)]
    span = otherwise if step.fault is None else step.fault.span
    span = span if step.site is None else step.site.statement.span
    location: dict[str, Any] = {"message": {"text": "; ".join(told)}}
    if span is not None:
        location["physicalLocation"] = _place(span, first_line=True)
    important = step.kind is Kind.FAULT or step.number == len(explanation.steps)
    return {
        "location": location,
        "executionOrder": step.number,
        "importance": "essential" if important else "important",
        "kinds": [step.kind.value],
        "state": {entry.name: {"text": entry.after or entry.remark or "changed"} for entry in entries},
    }


__all__ = ["MOST_BYTES", "MOST_LOCATIONS", "sarif"]
