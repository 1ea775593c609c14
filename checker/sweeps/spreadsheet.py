"""A sweep as CSV (RFC 4180), for spreadsheets and data frames: one row for each point and property."""

from __future__ import annotations

import csv
import io

from checker.sweeps.sweep import Sweep

COLUMNS = ("property", "form", "verdict", "amount", "unit", "at_most", "faults", "seconds", "reason")
"""The columns behind those of the axes."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet(sweep: Sweep) -> str:
    """The text, with a head line; lines end in a line feed alone.  The columns of axes that are called like one of
    `COLUMNS` have a `_` behind their name."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    names = [f"{axis.name}_" if axis.name in COLUMNS else axis.name for axis in sweep.grid.axes]
    writer.writerow([*names, *COLUMNS])
    for point in sweep.grid.points():
        outcome = sweep.outcomes.get(point)
        values = [axis.values[place] for axis, place in zip(sweep.grid.axes, point, strict=True)]
        for subject in sweep.subjects:
            cell = sweep.cell(subject, point)
            row = [
                subject.name,
                subject.form,
                cell.answer.key,
                "" if cell.amount is None else cell.amount,
                cell.unit,
                str(cell.at_most).lower() if cell.amount is not None else "",
                "; ".join(cell.faults),
                "" if outcome is None else f"{outcome.seconds:.3f}",
                _harmless(cell.detail),
            ]
            writer.writerow([*map(_value, values), *row])
    return written.getvalue()


def _value(text: str) -> str:
    """A number as it is, and any other text so that no spreadsheet takes it for a formula."""
    return text if text.removeprefix("-").isdigit() else _harmless(text)


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
