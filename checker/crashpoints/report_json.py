"""Crash-point maps as one JSON document (schema `counterpoint-crashpoints/1`, in `crashpoints.schema.json`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from checker.crashpoints.crash_map import CellResult, CrashMap, Verdict
from checker.crashpoints.points import MOMENTS, Point
from checker.crashpoints.report import told
from checker.reports.explanation import explained
from checker.verdict import Refuted, title
from counterexamples.render import json as trace_json
from counterexamples.site import sites

SCHEMA = "counterpoint-crashpoints/1"


def document(name: str, maps: Sequence[tuple[str | None, CrashMap]]) -> str:
    """The document of a model: a map for each variant (None: the model's defaults).  The same maps give the same text.
    It ends in a newline."""
    content = {"schema": SCHEMA, "model": name, "variants": [map_content(variant, found) for variant, found in maps]}
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def map_content(variant: str | None, found: CrashMap) -> dict[str, Any]:
    """The map of one variant, as plain data."""
    return {
        "name": variant,
        "faults": [str(fault) for fault in found.model.faults],
        "properties": [{"name": name, **_verdict(found.base[name], name)} for name in found.properties],
        "skipped": list(found.skipped),
        "points": [_point(point, found) for point in found.points],
    }


def _point(point: Point, found: CrashMap) -> dict[str, Any]:
    site = None if point.site is None else sites(found.model)[point.site].statement
    return {
        "process": point.process,
        "thread": point.thread,
        "statement": point.site,
        "text": told(found, point),
        "file": None if site is None else PurePath(site.span.source.name).name,
        "line": None if site is None else site.span.line,
        "cells": [_cell(found.result(point, moment), found) for moment in MOMENTS],
    }


def _cell(result: CellResult, found: CrashMap) -> dict[str, Any]:
    return {
        "moment": result.cell.moment.value,
        "absence": None if result.absence is None else result.absence.value,
        "struck": result.struck,
        "properties": [
            {
                "name": name,
                "effect": result.effect(name).value,
                **_verdict(result.trace(name) or result.verdicts[name], name),
            }
            for name in found.properties
            if result.absence is None
        ],
    }


def _verdict(found: Verdict, name: str) -> dict[str, Any]:
    traced = trace_json.document(explained(found.trace, name), found.trace) if isinstance(found, Refuted) else None
    reason = getattr(found, "reason", None)
    return {"verdict": title(found), "reason": reason, "trace": traced}
