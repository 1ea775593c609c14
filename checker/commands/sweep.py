"""`counterpoint sweep`: every point of a grid of constants, switches, faults and variants."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from checker import catalogue
from checker.cache.place import opened
from checker.commands.check import executor
from checker.commands.trace import write_bytes, write_text
from checker.console import Console
from checker.exitcode import ExitCode
from checker.options import Options, UsageError
from checker.planning.plan import Observer, Silence
from checker.progress import ProgressLine
from checker.suggestion import suggest
from checker.sweeps.grid import Grid, Point, grid_of, require_room
from checker.sweeps.report import render
from checker.sweeps.report_json import document
from checker.sweeps.sweep import Outcome, Plan, Subject, Sweep, in_order, subjects_of, with_variants
from checker.time_limit import TimeLimit
from checker.work.executor import Executor
from spec import syntax
from spec.snippet import draw

if TYPE_CHECKING:
    from checker.cache.cache import Cache

FILES = ("svg", "png", "pdf", "html", "csv", "json")
"""What can be written, by the ends of the files' names."""


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Checks every point and reports: see `checker.sweeps.sweep.Sweep.code` for the exit code.  Raises UsageError."""
    with opened(arguments, console) as cache:
        return _run(arguments, console, cache)


def _run(arguments: argparse.Namespace, console: Console, cache: Cache | None) -> ExitCode:
    page = console.page
    forms = [(file, _form(file)) for file in arguments.output]
    folder = catalogue.library()
    paths = catalogue.find(arguments.model, folder)
    if len(paths) != 1:
        raise UsageError(f"{arguments.model!r} is several models", f"name one, such as {str(paths[0])!r}")
    asked = Options(
        properties=tuple(arguments.property),
        depth=arguments.depth,
        engine=arguments.engine,
        timeout=arguments.timeout,
        total=None if arguments.timeout_total is None else TimeLimit.after(arguments.timeout_total, "timeout-total"),
        states=arguments.states,
        symmetry=not arguments.no_symmetry,
    )
    grid = grid_of(
        arguments.constants,
        arguments.switches,
        arguments.faults,
        arguments.max_faults,
        arguments.variant,
        arguments.points,
    )
    module = catalogue.read(paths[0], folder, arguments.model, asked.time_limit().left())
    if isinstance(module, tuple):
        console.show("\n".join(draw(diagnostic, page.colour) for diagnostic in module))
        return ExitCode.MODEL
    grid = with_variants(grid, module)
    require_room(grid, arguments.points)
    name = catalogue.short_name(paths[0], folder)
    if not arguments.json:
        console.show_configuration()
    line = None if arguments.json else ProgressLine(console.err, console.error_page.columns)
    started = time.monotonic()
    try:
        swept = _sweep(module, grid, asked, name, line, executor(arguments, 1, cache))
    finally:
        if line is not None:
            line.clear()
    seconds = time.monotonic() - started
    for failure in swept.failures():
        console.confess(failure)
    code = swept.code()
    if arguments.json:
        console.show(document(swept, arguments.model, asked, code, seconds))
    else:
        from checker.sweeps.finding import summary

        console.show(render(swept, arguments.model, asked, page))
        console.show(f"{summary(swept, seconds)}\n")
    for file, form in forms:
        _write(swept, file, form, arguments.model, asked, code, seconds, console)
    return code


def _sweep(
    module: syntax.Module, grid: Grid, asked: Options, name: str, line: ProgressLine | None, workers: Executor
) -> Sweep:
    """Raises UsageError.  An interrupt ends the sweep, and what was decided by then is kept."""
    outcomes: dict[Point, Outcome] = {}
    reported: dict[int, dict[str, Subject]] = {}
    interrupted = False
    try:
        plan = Plan(module, grid, asked)
        outcomes |= plan.outcomes
        for number, report in workers.run([item for _, item in plan.items], _watch(plan, grid, line)):
            point = plan.items[number][0]
            reported[number] = subjects_of(report)
            for outcome in plan.outcomes_of(point, report, grid.options(point, asked)):
                outcomes[outcome.point] = outcome
    except KeyboardInterrupt:
        interrupted = True
    subjects: dict[str, Subject] = {}
    for number in sorted(reported):
        subjects |= reported[number]
    interrupted = interrupted or workers.interrupted
    return Sweep(name, module.doc, grid, in_order(subjects.values()), outcomes, interrupted)


def _watch(plan: Plan, grid: Grid, line: ProgressLine | None) -> Callable[[int], Observer]:
    """Who watches the item of a number, and tells that it begins."""
    if line is None:
        return lambda number: Silence()
    line.begin("")

    def watch(number: int) -> Observer:
        name = f"{number + 1} of {len(plan.items)} points: {grid.name(plan.items[number][0])}"
        line.advance(name)
        return line.of(name)

    return watch


def _form(file: str) -> str:
    """The format that a file's name asks for.  Raises UsageError: E473; E422 where a package is missing,
    E409 where the folder is."""
    suffix = Path(file).suffix.lower().removeprefix(".")
    if suffix not in FILES:
        hint = suggest(suffix, FILES, "formats") if suffix else f"end its name in .{', .'.join(FILES)}"
        raise UsageError(f"{file} is no name of a file that a sweep can be written to", hint, "E473")
    if suffix in ("png", "pdf"):
        from checker.traces.picture_file import picture_form

        picture_form(file)
    # Better now than after hours of checking.
    if not Path(file).parent.is_dir():
        raise UsageError(f"{file} cannot be written: there is no folder {Path(file).parent}", code="E409")
    return suffix


def _write(
    swept: Sweep,
    file: str,
    form: str,
    model: str,
    asked: Options,
    code: ExitCode,
    seconds: float,
    console: Console,
) -> None:
    """Raises UsageError (E409) when the file cannot be written."""
    match form:
        case "csv":
            from checker.sweeps.spreadsheet import spreadsheet

            write_text(spreadsheet(swept), file, console)
        case "json":
            write_text(document(swept, model, asked, code, seconds), file, console)
        case "html":
            from checker.sweeps.page import page

            write_text(page(swept, model, asked, seconds), file, console)
        case _:
            from checker.sweeps.heat_map import heat_map
            from checker.traces.picture_file import encode, picture_form

            write_bytes(encode(heat_map(swept, model, asked), picture_form(file)), file)
