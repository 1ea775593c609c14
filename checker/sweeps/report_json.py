"""A sweep as one JSON document (schema `counterpoint-sweep/1`, in `sweep.schema.json`)."""

from __future__ import annotations

import json
from typing import Any

from checker.exitcode import ExitCode
from checker.options import Options
from checker.sweeps.axis import Role
from checker.sweeps.cell import Cell
from checker.sweeps.finding import finding, summary
from checker.sweeps.grid import Point
from checker.sweeps.sweep import Subject, Sweep
from checker.version import VERSION
from spec.diagnostic import Diagnostic

SCHEMA = "counterpoint-sweep/1"

_KINDS = {
    Role.CONSTANT: "constant",
    Role.SWITCH: "switch",
    Role.MAX_FAULTS: "max_faults",
    Role.FAULTS: "faults",
    Role.VARIANT: "variant",
}


def document(sweep: Sweep, model: str, asked: Options, code: ExitCode, seconds: float) -> str:
    """The document's text, with a newline at its end.  model: as the user named it; asked: what is the same at every
    point."""
    content = {
        "schema": SCHEMA,
        "version": VERSION,
        "exit_code": int(code),
        "summary": summary(sweep, seconds),
        "seconds": round(seconds, 3),
        "interrupted": sweep.interrupted,
        "model": sweep.model,
        "doc": sweep.doc,
        "axes": [
            {"kind": _KINDS[axis.role], "name": axis.name, "values": list(axis.values), "ordered": axis.ordered}
            for axis in sweep.grid.axes
        ],
        "properties": [_subject(sweep, subject, model, asked) for subject in sweep.subjects],
        "points": [_point(sweep, point) for point in sweep.grid.points()],
        "warnings": [
            {"message": message, "points": [_values(sweep, point) for point in points]}
            for message, points in sweep.remarks().items()
        ],
        "internal_errors": [failure.message for failure in sweep.failures()],
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def _subject(sweep: Sweep, subject: Subject, model: str, asked: Options) -> dict[str, Any]:
    found = finding(sweep, subject, model, asked)
    smallest = found.smallest
    return {
        "name": subject.name,
        "form": subject.form,
        "where": list(found.sentences),
        "smallest_refutation": None
        if smallest is None
        else {"values": _values(sweep, smallest.point), "command": smallest.command, **_cell(smallest.cell)},
    }


def _point(sweep: Sweep, point: Point) -> dict[str, Any]:
    outcome = sweep.outcomes.get(point)
    return {
        "values": _values(sweep, point),
        "status": "not_checked" if outcome is None else "rejected" if outcome.rejected else "checked",
        "exit_code": None if outcome is None else int(outcome.code),
        "seconds": None if outcome is None else round(outcome.seconds, 3),
        "from_cache": outcome is not None and outcome.kept,
        "same_as": None if outcome is None or outcome.same_as is None else _values(sweep, outcome.same_as),
        "errors": [] if outcome is None else [_diagnostic(error) for error in outcome.errors],
        "properties": [{"name": subject.name, **_cell(sweep.cell(subject, point))} for subject in sweep.subjects],
    }


def _values(sweep: Sweep, point: Point) -> list[str]:
    """The value of each axis, in the order of `axes`."""
    return [axis.values[place] for axis, place in zip(sweep.grid.axes, point, strict=True)]


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "verdict": cell.answer.key,
        "amount": cell.amount,
        "unit": cell.unit or None,
        "at_most": cell.at_most,
        "faults": list(cell.faults),
        "reason": cell.detail or None,
    }


def _diagnostic(error: Diagnostic) -> dict[str, Any]:
    span = error.span
    return {
        "code": error.code,
        "message": error.message,
        "file": None if span is None else span.source.name,
        "line": None if span is None else span.line,
        "column": None if span is None else span.column,
        "fix": error.fix,
    }
