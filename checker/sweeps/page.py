"""A sweep as one HTML page that needs no other file, no script and no network: the picture, what it says in words, and
all numbers as a table."""

from __future__ import annotations

import html
from collections.abc import Iterator

from checker.options import Options
from checker.sweeps.finding import Finding, asked_for, finding, summary
from checker.sweeps.heat_map import heat_map
from checker.sweeps.sweep import Sweep
from spec.diagnostic import visible
from spec.snippet import draw

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
body { margin: 0 auto; padding: 1rem 1.5rem 3rem; max-width: 72rem; color: #1c2530; background: #fff;
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.2rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.soft { color: #545c66; } .wide { overflow-x: auto; } svg { margin-left: -24px; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .92em; }
pre { overflow-x: auto; padding: .6rem .8rem; background: #f5f7f9; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; padding: .25rem 1.1rem .25rem 0; border-bottom: 1px solid #d5dae0; vertical-align: top; }
thead th { color: #545c66; font-weight: 400; }
"""


def page(sweep: Sweep, model: str, asked: Options, seconds: float) -> str:
    """The page.  model: as the user named it; asked: what is the same at every point.  All text of the model is
    escaped."""
    title = f"{sweep.model}: {next(iter(asked_for(sweep)))}"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(title)}</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>Sweep of {_text(sweep.model)}</h1>",
        f'<p class="soft">{_text(summary(sweep, seconds))}</p>',
        f'<div class="wide">{heat_map(sweep, model, asked).rstrip()}</div>',
        *_findings(sweep, model, asked),
        *_rejections(sweep),
        *_numbers(sweep),
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _findings(sweep: Sweep, model: str, asked: Options) -> Iterator[str]:
    yield "<h2>In this grid</h2>"
    for subject in sweep.subjects:
        found = finding(sweep, subject, model, asked)
        yield f"<p><b>{_text(subject.name)}</b>: {_text('; '.join(found.sentences))}</p>"
        yield from _smallest(sweep, found)


def _smallest(sweep: Sweep, found: Finding) -> Iterator[str]:
    if found.smallest is not None:
        where = sweep.grid.name(found.smallest.point)
        yield f"<p>smallest refutation: {_text(where)}{': ' * bool(where)}{_text(found.smallest.cell.evidence)}</p>"
        yield f"<pre>{_text(found.smallest.command)}</pre>"


def _rejections(sweep: Sweep) -> Iterator[str]:
    told = {error.code: error for outcome in sweep.rejected for error in outcome.errors}
    if told:
        yield "<h2>Rejected by the model</h2>"
    for error in told.values():
        yield f"<pre>{_escaped(draw(error))}</pre>"


def _numbers(sweep: Sweep) -> Iterator[str]:
    heads = [*(axis.name for axis in sweep.grid.axes), "property", "verdict", "evidence", "seconds"]
    yield '<h2>All points</h2>\n<div class="wide"><table>'
    yield f"<thead><tr>{''.join(f'<th>{_text(head)}</th>' for head in heads)}</tr></thead>\n<tbody>"
    for point in sweep.grid.points():
        outcome = sweep.outcomes.get(point)
        values = [axis.label(place) for axis, place in zip(sweep.grid.axes, point, strict=True)]
        for subject in sweep.subjects:
            cell = sweep.cell(subject, point)
            seconds = "" if outcome is None else f"{outcome.seconds:.1f}"
            row = [*values, subject.name, cell.answer.value, cell.evidence or cell.detail, seconds]
            yield f"<tr>{''.join(f'<td>{_text(each)}</td>' for each in row)}</tr>"
    yield "</tbody></table></div>"


def _text(text: str) -> str:
    """On one line, with what would reorder it or show nothing written as escapes."""
    return _escaped(visible(" ".join(text.split())))


def _escaped(text: str) -> str:
    return html.escape(text, quote=True)
