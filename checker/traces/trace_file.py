"""Files with traces in them: a single trace, or a report with one for each property."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from checker.options import UsageError
from checker.reports.report_json import SCHEMA as REPORT
from counterexamples.render.json import SCHEMA as TRACE

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """A trace in a file.

    model    the model's name, as `counterpoint check` would know it
    variant  None for the model's defaults, and in a file that says nothing of variants
    name     the property or scenario that it belongs to; None for a run that shows none
    document the trace, as `counterexamples.render.json.from_document` reads it
    """

    model: str
    variant: str | None
    name: str | None
    document: Document


def entries(text: str, file: str) -> tuple[Entry, ...]:
    """The traces in the text of a trace document or a report, in its order.  Raises UsageError (E402) for any other
    text, which is called `file` then."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no JSON: {error}", _HINT, "E402") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    try:
        if schema == TRACE:
            conclusion = data.get("conclusion")
            name = None if conclusion is None else str(conclusion["name"])
            return (Entry(str(data["model"]["name"]), None, name, data),)
        if schema == REPORT:
            return tuple(_of_report(data))
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} is damaged: {error}", _HINT, "E402") from None
    if isinstance(data, dict) and "states" in data and "vars" in data:
        raise UsageError(f"{file} is an ITF trace, which cannot be read back", _HINT, "E402")
    said = f"its schema is {schema!r}" if isinstance(schema, str) else "it names no schema"
    raise UsageError(f"{file} is no trace of this version: {said}", _HINT, "E402")


_HINT = f"a trace is what `counterpoint trace --to json` writes ({TRACE}), or `counterpoint check --json` ({REPORT})"


def _of_report(report: Document) -> Iterator[Entry]:
    for model in report["models"]:
        for variant in model["variants"]:
            for result in [*variant["properties"], *variant["scenarios"]]:
                trace = result["evidence"].get("trace")
                if trace is not None:
                    yield Entry(str(model["name"]), variant["name"], str(result["name"]), trace)
