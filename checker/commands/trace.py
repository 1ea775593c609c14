"""`counterpoint trace`: a trace in another format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from checker import catalogue
from checker.arguments import assignments
from checker.cache.place import opened
from checker.console import Console
from checker.exitcode import ExitCode
from checker.options import Options, UsageError
from checker.planning.plan import Silence
from checker.reports.explanation import explained
from checker.traces.trace_source import (
    Doubtful,
    ModelErrors,
    NamedTrace,
    NotDecided,
    Stale,
    check_model,
    choose_entry,
    is_trace_file,
    only,
    read_file,
    read_trace,
    walk,
)
from counterexamples.render import itf, json, mermaid
from counterexamples.render.dot import to_dot
from counterexamples.render.trace_graph import trace_graph
from spec.snippet import draw

if TYPE_CHECKING:
    from checker.cache.cache import Cache


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Writes the trace to standard output or a file.  1 when a trace file is no longer a run of its model.  Raises
    UsageError."""
    found = loaded(arguments, console)
    if isinstance(found, ExitCode):
        return found
    write_text(converted(found, arguments.to), arguments.output, console)
    return ExitCode.MET


def loaded(arguments: argparse.Namespace, console: Console) -> NamedTrace | ExitCode:
    """As `load_trace`; where the model has errors, or the trace does not stand, the exit code, after the user
    was told.  Raises UsageError, OwnError."""
    try:
        if is_trace_file(arguments.source):
            return load_trace(arguments)
        with opened(arguments, console) as cache:
            return load_trace(arguments, cache)
    except ModelErrors as errors:
        console.show("\n".join(draw(diagnostic, console.page.colour) for diagnostic in errors.diagnostics))
        return ExitCode.MODEL
    except Stale as stale:
        where = "" if stale.step is None else f" at step {stale.step}"
        console.tell(f"counterpoint: {stale.code}: {arguments.source} is no longer a trace of the model{where}")
        console.tell(f"  {stale.why}")
        return ExitCode.REFUTED
    except NotDecided as undecided:
        console.tell(f"counterpoint: E404: {undecided}")
        return ExitCode.INCONCLUSIVE
    except Doubtful as doubt:
        console.tell(f"counterpoint: whether {arguments.source} shows what it says could not be found out: {doubt}")
        return ExitCode.INCONCLUSIVE


def load_trace(arguments: argparse.Namespace, cache: Cache | None = None) -> NamedTrace:
    """The one trace that `source`, `model`, `property`, `variant` and the options of the model mean: from a trace file,
    walked again, or by checking a model.  Raises UsageError, ModelErrors, Stale, Doubtful,
    OwnError."""
    folder = catalogue.library()
    constants = assignments(arguments.constants, "-D", None)
    switches = assignments(arguments.switches, "--with", "true")
    if is_trace_file(arguments.source):
        if constants or switches or arguments.faults is not None:
            raise UsageError("-D, --with and --faults choose a model; a trace has its own", "leave them out")
        entry = choose_entry(read_file(arguments.source), arguments.source, arguments.property, arguments.variant)
        found = read_trace(entry, arguments.source, arguments.model, folder)
        doubt = walk(found, arguments.source)
        if doubt is not None:
            raise Doubtful(doubt.why)
        return found
    if arguments.model is not None:
        raise UsageError("--model is for trace files", f"leave it out: {arguments.source} is a model itself")
    paths = catalogue.find(arguments.source, folder)
    if len(paths) != 1:
        raise UsageError(f"{arguments.source!r} is several models", f"name one, such as {str(paths[0])!r}")
    options = Options(
        variants=() if arguments.variant is None else (arguments.variant,),
        constants=constants,
        switches=switches,
        properties=() if arguments.property is None else (arguments.property,),
        faults=arguments.faults,
        timeout=arguments.timeout,
    )
    traces = check_model(paths[0], options, Silence(), folder, arguments.source, cache)
    if arguments.property is not None:
        traces = tuple(each for each in traces if each.title == arguments.property) or traces
    return only(traces, arguments.source)


def converted(found: NamedTrace, form: str) -> str:
    """The trace in a format: `json`, `itf`, `mermaid` or `dot`."""
    explanation = explained(found.trace, found.name)
    match form:
        case "json":
            return json.to_json(explanation, found.trace)
        case "itf":
            return itf.to_itf(explanation, found.trace)
        case "mermaid":
            return mermaid.to_mermaid(explanation)
        case _:
            return to_dot(trace_graph(explanation))


def write_text(text: str, file: str | None, console: Console) -> None:
    """To a file, or to standard output when that is None or `-`.  Raises UsageError (E409)."""
    if file in (None, "-"):
        console.show(text)
        return
    assert file is not None
    write_bytes(text.encode("utf-8"), file)


def write_bytes(data: bytes, file: str) -> None:
    """Raises UsageError (E409)."""
    try:
        Path(file).write_bytes(data)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{file} cannot be written: {reason}", code="E409") from None
