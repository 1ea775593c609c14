"""`counterpoint check`: checks models and reports."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from checker import catalogue
from checker.arguments import assignments
from checker.check import check_file
from checker.console import Console
from checker.exitcode import ExitCode, gravest
from checker.options import Options, UnknownNameError
from checker.plan import Observer, Silence
from checker.progress import ProgressLine
from checker.report import View, hint, render
from checker.report_json import document
from checker.result import FileReport, VariantReport
from checker.tally import tally
from checker.verdict import Scope


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Checks everything named on the command line; one report a file as soon as it is there, then one line for all.
    Raises UsageError."""
    options = _options(arguments)
    folder = catalogue.library()
    paths = list(dict.fromkeys(path for wanted in arguments.models for path in catalogue.find(wanted, folder)))
    view = View(arguments.trace or "auto", len(paths) == 1 or bool(options.properties), arguments.quiet)
    page = console.page
    observer: Observer = Silence()
    line = None
    if not arguments.json and not arguments.quiet:
        observer = line = ProgressLine(console.err, console.error_page.columns)
    started = time.monotonic()
    reports: list[FileReport] = []
    unknown: UnknownNameError | None = None
    for path in paths:
        if line is not None:
            line.begin(catalogue.short_name(path, folder))
        try:
            report = check_file(path, options, observer, folder)
        except KeyboardInterrupt:
            stopped = VariantReport(None, "", None, Scope((), options.max_faults), interrupted=True)
            report = FileReport(str(path), "", (stopped,))
        except UnknownNameError as error:
            if len(paths) == 1:
                raise
            unknown = error
            continue
        finally:
            if line is not None:
                line.clear()
        report = replace(report, name=catalogue.short_name(path, folder))
        reports.append(report)
        if not arguments.json:
            text = render(report, options, view, page)
            console.show(f"{text}\n" if text else "")
        for failure in report.all_failures():
            console.confess(failure)
        if report.interrupted:
            break
    if not reports and unknown is not None:
        raise unknown
    code = gravest(report.code(options) for report in reports)
    seconds = time.monotonic() - started
    if arguments.json:
        console.show(document(reports, options, code, seconds))
    else:
        advice = None if arguments.quiet else hint(reports, options, view)
        if advice:
            console.show(f"{advice}\n")
        console.show(f"{tally(reports, options, seconds)}\n")
    return code


def _options(arguments: argparse.Namespace) -> Options:
    return Options(
        variants=tuple(arguments.variant),
        constants=assignments(arguments.constants, "-D", None),
        switches=assignments(arguments.switches, "--with", "true"),
        properties=tuple(arguments.property),
        faults=arguments.faults,
        max_faults=arguments.max_faults,
        depth=arguments.depth,
        engine=arguments.engine,
        timeout=arguments.timeout,
        states=arguments.states,
        symmetry=not arguments.no_symmetry,
        strict=arguments.strict,
    )
