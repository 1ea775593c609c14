"""`counterpoint replay`: walks a trace through the model again."""

from __future__ import annotations

import argparse

from checker import catalogue
from checker.console import Console
from checker.exitcode import ExitCode
from checker.reports.explanation import explained
from checker.traces.trace_source import ModelErrors, NamedTrace, Stale, choose_entry, read_file, read_trace, walk
from counterexamples.render import text
from counterexamples.render.page import Style
from spec.snippet import draw


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Shows the trace as a check does: 0 when it is a run of the model and shows what it says, 1 when it no longer is
    or does, 4 when what it shows could not be judged.  Raises UsageError (2) when the file cannot be read or is of
    another model."""
    page = console.page
    folder = catalogue.library()
    entry = choose_entry(read_file(arguments.trace), arguments.trace, arguments.property, arguments.variant)
    try:
        found = read_trace(entry, arguments.trace, arguments.model, folder)
        doubt = walk(found, arguments.trace)
    except ModelErrors as errors:
        console.show("\n".join(draw(diagnostic, page.colour) for diagnostic in errors.diagnostics))
        return ExitCode.MODEL
    except Stale as stale:
        console.show(page.line([("  ✗ " if page.unicode else "  x ", Style.FAULT), (_stale(stale), Style.BOLD)]) + "\n")
        for part in page.wrap(page.clean(stale.why), page.columns - 4):
            console.show(page.line([(f"    {part}", Style.PLAIN)]) + "\n")
        return ExitCode.REFUTED
    explanation = explained(found.trace, found.name)
    if found.name is None:
        console.show(page.line([(f"  {page.clean(found.title)}", Style.BOLD)]) + "\n\n")
    console.show(text.render(explanation, page))
    if doubt is not None:
        told = f"a run of {found.trace.model.name}, but whether its end shows that is not decided: {doubt.why}"
        console.show("\n" + page.line([("? ", Style.DOUBT), (page.clean(told), Style.PLAIN)]) + "\n")
        return ExitCode.INCONCLUSIVE
    console.show("\n" + page.line([("✓ " if page.unicode else "+ ", Style.GOOD), (_good(found), Style.PLAIN)]) + "\n")
    return ExitCode.MET


def _good(found: NamedTrace) -> str:
    shown = "" if found.name is None else ", and its end is as shown"
    return f"still a run of {found.trace.model.name}{shown}"


def _stale(stale: Stale) -> str:
    if stale.step is None:
        return f"{stale.code}: the run is possible, but does not show what it says"
    if stale.step == 0:
        return f"{stale.code}: no longer a run of the model: the initial state is another"
    return f"{stale.code}: no longer a run of the model at step {stale.step}"
