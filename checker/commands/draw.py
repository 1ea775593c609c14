"""`counterpoint draw`: a trace as a space-time diagram."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from checker.commands.trace import loaded, write_bytes, write_text
from checker.console import Console
from checker.exitcode import ExitCode
from checker.options import UsageError
from checker.reports.explanation import explained
from checker.traces.picture_file import PictureForm, encode, picture_form
from checker.traces.trace_source import NamedTrace
from counterexamples.spacetime.layout import Links
from counterexamples.spacetime.svg import draw
from spec.source import Span


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Draws the trace that is meant.  1 when a trace file is no longer a run of its model.  Raises UsageError."""
    form = picture_form(arguments.output)
    links = links_to(arguments.link, arguments.output)
    found = loaded(arguments, console)
    if isinstance(found, ExitCode):
        return found
    svg = picture(found, links)
    if form is PictureForm.SVG:
        write_text(svg, arguments.output, console)
    else:
        write_bytes(encode(svg, form), arguments.output)
    return ExitCode.MET


def picture(found: NamedTrace, links: Links) -> str:
    """The diagram of a trace as SVG."""
    return draw(explained(found.trace, found.name), found.trace, subtitle(found), links, found.title)


def subtitle(found: NamedTrace) -> str:
    """What a run is of: its model, the variant, and whether it follows a scenario."""
    parts = [found.trace.model.name]
    if found.variant is not None:
        parts.append(f"variant {found.variant}")
    if found.name is None and found.title != "run":
        parts.append("a run that follows the scenario")
    return ", ".join(parts)


def links_to(template: str | None, output: str | None) -> Links:
    """Where line numbers lead: by the template, or else to the model's file as it is seen from the picture, where both
    are named by relative paths.  Raises UsageError."""
    if template is not None:
        try:
            template.format(file="", line=0)
        except (KeyError, IndexError, ValueError, AttributeError):
            raise UsageError(f"--link {template!r}: only {{file}} and {{line}} can stand in it") from None
        return lambda span: template.format(file=span.source.name, line=span.line)

    def beside(span: Span) -> str | None:
        file = Path(span.source.name)
        if output in (None, "-") or file.is_absolute() or not file.is_file():
            return None
        assert output is not None
        return f"{Path(os.path.relpath(file, Path(output).parent)).as_posix()}#L{span.line}"

    return beside
