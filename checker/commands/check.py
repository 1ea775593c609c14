"""`counterpoint check`: checks models and reports."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from checker import catalogue
from checker.arguments import assignments, bytes_in
from checker.bundle import Failure, OwnError
from checker.cache.place import opened
from checker.check import check_files
from checker.console import Console
from checker.exitcode import ExitCode, gravest
from checker.options import Options, UnknownNameError, UsageError
from checker.outputs.event_stream import EventStream
from checker.planning.plan import Observer, Silence
from checker.progress import ProgressLine
from checker.reports import fairness_report, needs_report
from checker.reports.report import View, hint, render
from checker.reports.report_json import document
from checker.reports.tally import tally
from checker.result import FileReport
from checker.time_limit import TimeLimit
from checker.work.executor import Executor, Here, OneOrMany
from checker.work.item import Item
from checker.work.processors import default_workers
from spec import syntax

if TYPE_CHECKING:
    from checker.cache.cache import Cache


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Checks everything named on the command line; one report a file as soon as it is there, then one line for all.
    Raises UsageError."""
    with opened(arguments, console) as cache:
        # A certificate is written from all of the evidence, of which a part is not kept.
        return _run(arguments, console, None if arguments.certificate is not None else cache)


def _run(arguments: argparse.Namespace, console: Console, cache: Cache | None) -> ExitCode:
    options = options_of(arguments)
    folder = catalogue.library()
    wanted: dict[Path, str] = {}
    for each in arguments.models:
        for path in catalogue.find(each, folder):
            if path not in wanted or path == Path(each):
                wanted[path] = each
    paths = list(wanted)
    if arguments.certificate is not None:
        _require_one(paths, options, folder, wanted)
    view = View(arguments.trace or "auto", len(paths) == 1 or bool(options.properties), arguments.quiet, options.why)
    page = console.page
    events = EventStream(console.show) if arguments.json_lines else None
    silent = arguments.json or arguments.json_lines
    line = None if silent or arguments.quiet else ProgressLine(console.err, console.error_page.columns)

    def watch(path: Path) -> Callable[[Item], Observer]:
        name = catalogue.short_name(path, folder)
        if events is not None:
            events.begin(name)
            return lambda item: events.of(name, item.choice.variant)
        if line is not None:
            return lambda item: line.of(" ".join(filter(None, (name, item.choice.variant))))
        return lambda item: Silence()

    if not silent and not arguments.quiet:
        console.show_configuration()
    started = time.monotonic()
    reports: list[FileReport] = []
    unknown: UnknownNameError | None = None
    for path, report in check_files(paths, options, executor(arguments, len(paths), cache), watch, folder, wanted):
        if isinstance(report, UnknownNameError):
            if len(paths) == 1:
                raise report
            unknown = report
            continue
        report = replace(report, name=catalogue.short_name(path, folder))
        reports.append(report)
        if line is not None:
            line.clear()
        if events is not None:
            events.report(report, options)
        if not silent:
            text = render(report, options, view, page)
            console.show(f"{text}\n" if text else "")
        for failure in report.all_failures():
            console.confess(failure)
    if not reports and unknown is not None:
        raise unknown
    if arguments.certificate is not None:
        _certify(paths[0], reports, options, Path(arguments.certificate), folder, wanted[paths[0]])
    code = gravest(report.code(options) for report in reports)
    seconds = time.monotonic() - started
    _keep(arguments, reports, options, seconds)
    if arguments.json:
        console.show(document(reports, options, code, seconds))
    elif events is not None:
        events.end(reports, options, code, seconds)
    else:
        advice = None if arguments.quiet else hint(reports, options, view)
        if advice:
            console.show(f"{advice}\n")
        advice = None if arguments.quiet else fairness_report.hint(reports)
        if advice:
            console.show(f"{advice}\n")
        table = needs_report.overview(reports, page) if options.needs and not view.quiet else ""
        if table:
            console.show(f"{table}\n")
        console.show(f"{tally(reports, options, seconds)}\n")
    if arguments.github:
        from checker.outputs.annotations import annotated
        from checker.outputs.complaint import complaints

        # A runner reads both streams; the results of --json and --json-lines are to stay what they are.
        for annotation in annotated(complaints(reports, options)):
            console.command_runner(annotation, error=silent)
    return code


def executor(arguments: argparse.Namespace, files: int, cache: Cache | None) -> Executor:
    """Who performs the items of so many files, as the options say that tell where to check.  Raises UsageError."""
    bound = None if arguments.memory is None else bytes_in(arguments.memory)
    if arguments.scheduler is not None:
        from checker.work.cluster import Cluster

        return Cluster(arguments.scheduler, cache, bound, arguments.workers)
    workers = default_workers() if arguments.workers is None else arguments.workers
    if workers == 1 and bound is None:
        return Here(cache)
    from checker.work.processes import Processes

    many = Processes(workers, cache, bound)
    return many if files > 1 or bound is not None else OneOrMany(Here(cache), many)


def _keep(arguments: argparse.Namespace, reports: Sequence[FileReport], options: Options, seconds: float) -> None:
    """Writes the files that were asked for.  Raises UsageError for one that cannot be written."""
    if not (arguments.html or arguments.junit or arguments.sarif or arguments.summary):
        return
    from checker.outputs.complaint import complaints
    from checker.outputs.junit import junit
    from checker.outputs.markdown import markdown
    from checker.outputs.sarif import sarif
    from checker.reports.webpage import page

    wanted: list[tuple[str | None, Callable[[], str]]] = [
        (arguments.html, lambda: page(reports, options)),
        (arguments.junit, lambda: junit(reports, options)),
        (arguments.sarif, lambda: sarif(complaints(reports, options))),
        (arguments.summary, lambda: markdown(reports, options, seconds)),
    ]
    for name, text in wanted:
        if name is None:
            continue
        try:
            Path(name).write_text(text(), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{name} cannot be written: {error}") from None


def _require_one(paths: Sequence[Path], options: Options, folder: Path, wanted: Mapping[Path, str]) -> None:
    """Raises UsageError unless exactly one variant of one model is asked for."""
    if len(paths) != 1:
        raise UsageError(f"--certificate is for one model, not {len(paths)}")
    module = catalogue.read(paths[0], folder, wanted[paths[0]], options.timeout)
    if not isinstance(module, tuple):
        variants = [item.name.name for item in module.items if isinstance(item, syntax.Variant)]
        if len(variants) > 1 and len(set(options.variants)) != 1:
            raise UsageError("--certificate is for one variant", f"add --variant: {', '.join(variants)}")


def _certify(
    path: Path, reports: Sequence[FileReport], options: Options, file: Path, folder: Path, wanted: str
) -> None:
    """Writes the certificate of what was proved.  Raises UsageError when the file cannot be written."""
    from checker.certificates import proof_file

    module = catalogue.read(path, folder, wanted, options.timeout)
    variants = [variant for report in reports for variant in report.variants if variant.model is not None]
    if isinstance(module, tuple) or len(variants) != 1 or variants[0].failures:
        return
    text = proof_file.document(module, variants[0], options)
    for judged in proof_file.verify(text, module, options.timeout):
        if judged.wrong is not None:
            message = f"the certificate of {judged.name} does not stand: {judged.wrong} fails"
            raise OwnError(Failure(message, subject=judged.name, evidence=text))
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the certificate cannot be written: {error}") from None


def options_of(arguments: argparse.Namespace) -> Options:
    """What a command line asks of the check of a model.  Raises UsageError."""
    if arguments.per_instance and not arguments.needs:
        raise UsageError("--per-instance is about the faults that --needs finds", "add --needs")
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
        timeout_property=arguments.timeout_property,
        total=None if arguments.timeout_total is None else TimeLimit.after(arguments.timeout_total, "timeout-total"),
        states=arguments.states,
        symmetry=not arguments.no_symmetry,
        needs=arguments.needs,
        per_instance=arguments.per_instance,
        why=arguments.why,
        fairness=arguments.fairness,
        repairs=not arguments.quiet,
        crash_points=arguments.crash_points,
        strict=arguments.strict,
    )
