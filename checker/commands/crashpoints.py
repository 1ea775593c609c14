"""`counterpoint crashpoints`: which step of a model is dangerous, and when."""

from __future__ import annotations

import argparse
from dataclasses import replace

from checker import catalogue
from checker.arguments import assignments
from checker.choosing import choose, require_properties
from checker.confirm import Context
from checker.console import Console
from checker.crashpoints.crash_map import CrashMap, crash_map
from checker.crashpoints.report import render, render_traces, undecided
from checker.crashpoints.report_json import document
from checker.exitcode import ExitCode, gravest
from checker.faultsets import parse_faults
from checker.lower import LoweringLimit
from checker.options import Options, UsageError
from checker.planning.plan import Observer, Silence
from checker.progress import ProgressLine
from checker.reports.evidence import plural
from checker.reports.report import first_sentence
from checker.variant import sources
from counterexamples.render.page import Page, Style
from spec.snippet import draw


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Shows the map of each variant: 0 when every cell is decided, whatever it says; 4 when some are not.  Raises
    UsageError."""
    page = console.page
    folder = catalogue.library()
    paths = catalogue.find(arguments.model, folder)
    if len(paths) != 1:
        raise UsageError(f"{arguments.model!r} is several models", f"name one, such as {str(paths[0])!r}")
    options = Options(
        variants=tuple(arguments.variant),
        constants=assignments(arguments.constants, "-D", None),
        switches=assignments(arguments.switches, "--with", "true"),
        properties=tuple(arguments.property),
        faults=arguments.faults,
        timeout=arguments.timeout,
        states=arguments.states,
    )
    module = catalogue.read(paths[0], folder, arguments.model, arguments.timeout)
    if isinstance(module, tuple):
        console.show("\n".join(draw(diagnostic, page.colour) for diagnostic in module))
        return ExitCode.MODEL
    chosen = choose(module, options)
    require_properties(chosen, options)
    name = catalogue.short_name(paths[0], folder)
    line = None if arguments.json else ProgressLine(console.err, console.error_page.columns)
    observer: Observer = Silence() if line is None else line
    if not arguments.json:
        console.show_configuration()
        title = f"  {first_sentence(module.doc)}" if module.doc else ""
        console.show(page.line([(page.clean(name), Style.BOLD), (page.clean(title), Style.PLAIN)]) + "\n")
    maps: list[tuple[str | None, CrashMap]] = []
    codes = []
    for choice in chosen:
        if choice.checked is None:
            console.show("\n".join(draw(diagnostic, page.colour) for diagnostic in choice.errors))
            codes.append(ExitCode.MODEL)
            continue
        model = choice.checked.model
        if options.faults is not None:
            model = replace(model, faults=parse_faults(options.faults, model))
        if line is not None:
            line.begin(name)
        try:
            found = crash_map(model, options, observer, Context(sources(module), {"variant": choice.variant}))
        except LoweringLimit as limit:
            console.tell(f"counterpoint: {name} has no crash-point map: {limit}")
            codes.append(ExitCode.INCONCLUSIVE)
            continue
        finally:
            if line is not None:
                line.clear()
        maps.append((choice.variant, found))
        codes.append(_code(found))
        for failure in found.failures:
            console.confess(failure)
        if not arguments.json:
            console.show(render(found, choice.variant, page) + _reasons(found, page))
            console.show(render_traces(found, page) if arguments.trace == "full" else "")
            console.show("\n" if choice is not chosen[-1] else "")
        if found.interrupted:
            break
    if arguments.json:
        console.show(document(name, maps))
    return gravest(codes)


def _code(found: CrashMap) -> ExitCode:
    if found.failures:
        return ExitCode.OWN_ERROR
    return ExitCode.MET if found.complete and not found.interrupted else ExitCode.INCONCLUSIVE


def _reasons(found: CrashMap, page: Page) -> str:
    lines = []
    for reason, cells in undecided(found).items():
        told = f"? {plural(len(cells), 'question')} undecided: {reason}"
        for part in page.wrap(page.clean(told), page.columns - 4):
            lines.append(page.line([("    ", Style.PLAIN), (part, Style.DOUBT)]) + "\n")
    return "".join(lines)
