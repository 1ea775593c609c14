"""Where a command gets its traces: from a file that holds some, or by checking a model.

Whatever comes out has been walked by the interpreter, or says that it has not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from checker import catalogue
from checker.bundle import OwnError
from checker.check import check_module
from checker.faultsets import parse_faults
from checker.needs.instances import split
from checker.options import Options, UnknownNameError, UsageError
from checker.planning.plan import Observer
from checker.result import PropertyResult
from checker.suggestion import suggest
from checker.traces.trace_file import Entry, entries
from checker.verdict import Covered, HoldsTo, Refuted, Runs, UncoveredTo, Undecided, title
from counterexamples.notation import write_value
from counterexamples.render.decoding import Node, OtherModelError, TraceFormatError, decode_value
from counterexamples.render.json import from_document
from counterexamples.replay import Confirmed, Mismatch, Unconfirmed, confirm, replay
from counterexamples.trace import Trace
from spec import syntax
from spec.diagnostic import Diagnostic
from spec.interpreter import Interpreter
from spec.load import load
from spec.project import Project, project_of
from spec.regular_file import UnreadableError, read_text
from spec.typecheck import Choice, typecheck
from spec.typed import FaultClass, Model

if TYPE_CHECKING:
    from checker.cache.cache import Cache


@dataclass(frozen=True)
class NamedTrace:
    """A trace with the property that its end breaks or reaches (None: a run that shows none, such as a scenario's).

    title  what to call it: the property's or scenario's name, or "run"
    variant  None for the model's defaults, or where that is not known"""

    trace: Trace
    name: str | None
    title: str
    variant: str | None


class ModelErrors(Exception):
    """The model has errors of its own, to be shown as `counterpoint check` does."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{len(diagnostics)} errors")
        self.diagnostics = tuple(diagnostics)


class Stale(Exception):
    """The trace was one of this model and is none any more.

    step  the first step that is not possible, from 1 on; 0 for the initial state; None when the run is right but does
          not show what it says
    """

    def __init__(self, code: str, step: int | None, why: str) -> None:
        super().__init__(why)
        self.code = code
        self.step = step
        self.why = why


class Doubtful(Exception):
    """The trace is a run of its model, but whether its end shows what it says could not be found out."""


class NotDecided(Exception):
    """The check of a model has found no run to show, and has not decided that there is none."""


def is_trace_file(source: str) -> bool:
    """Whether a command's argument means a file with traces and not a model."""
    return source.endswith(".json")


_MOST_BYTES = 200_000_000
"""The largest file that is read."""

# ------------------------------------------------------------------------------------------------------------- files


def read_file(path: str) -> tuple[Entry, ...]:
    """The traces in a file.  Raises UsageError: E401, E402, and E404 when there is none in it."""
    try:
        text = read_text(Path(path), _MOST_BYTES)
    except UnreadableError as error:
        raise UsageError(f"the trace {path} {error.told}", code="E401") from None
    found = entries(text, path)
    if not found:
        raise UsageError(f"{path} is a report without traces", code="E404")
    return found


def choose_entry(found: Sequence[Entry], file: str, name: str | None, variant: str | None) -> Entry:
    """The one that is meant.  Raises UsageError: E403 when several are, E404 when none is."""
    meant = [
        entry for entry in found if name in (None, entry.name) and (variant is None or entry.variant in (None, variant))
    ]
    if len(meant) == 1:
        return meant[0]
    listed = "; ".join(dict.fromkeys(_option(entry.name, entry.variant) for entry in meant or found))
    if meant:
        raise UsageError(f"{file} holds {len(meant)} traces", f"one of: {listed}", "E403")
    raise UsageError(f"{file} holds no such trace", f"there is: {listed}", "E404")


def _option(name: str | None, variant: str | None) -> str:
    parts = [f"--property {name}" if name else "", f"--variant {variant}" if variant else ""]
    return " ".join(part for part in parts if part) or "a run"


def read_trace(entry: Entry, file: str, wanted: str | None, folder: Path) -> NamedTrace:
    """The trace of an entry, with the model that `wanted` means (None: looked for by the trace's own name) as the trace
    chooses it.  Nothing is walked.  Raises UsageError (E402, E405, E406), ModelErrors, and Stale for a statement that
    the model does not have."""
    path, project = _model_path(entry, file, wanted, folder)
    module = load(path, folder, project)
    if isinstance(module, tuple):
        raise ModelErrors(module)
    document = entry.document
    try:
        model = _chosen(Node(document).field("model"), module, path)
        named = {**document, "model": {**document["model"], "name": model.name}}
        trace = from_document(named, model)
    except OtherModelError as error:
        if error.step is not None:
            raise Stale("E407", error.step, f"the statement {error.problem}") from None
        raise UsageError(f"{file} is no trace of {path.name}: {error}", code="E406") from None
    except TraceFormatError as error:
        raise UsageError(f"{file} is damaged: {error}", code="E402") from None
    shows = None if document.get("conclusion") is None else entry.name
    return NamedTrace(trace, shows, entry.name or "run", entry.variant)


def _model_path(entry: Entry, file: str, wanted: str | None, folder: Path) -> tuple[Path, Project]:
    """The model, and from where it may import.  A trace leads by its own name only to models of the project that it is
    in, of the one that the command runs in, and to shipped ones."""
    if wanted is not None:
        found = catalogue.find(wanted, folder)
        if len(found) != 1:
            raise UsageError(f"{wanted!r} is several models", f"name one, such as {str(found[0])!r}")
        return found[0], catalogue.project(found[0], wanted)
    stem = entry.model if entry.model.endswith(catalogue.SUFFIX) else f"{entry.model}{catalogue.SUFFIX}"
    near = [project_of(Path(file), Path(file).parent), project_of(Path(stem), Path.cwd())]
    for path in (Path(file).parent / stem, Path(stem)):
        for project in near:
            inside = project.leads_to(path)
            if inside is not None and inside.is_file():
                return path, project
    try:
        found = catalogue.find_shipped(entry.model, folder)
    except UsageError:
        found = []
    if len(found) == 1:
        return found[0], catalogue.project(found[0])
    hint = f"counterpoint replay {file} MODEL"
    raise UsageError(f"{file} is a trace of {entry.model!r}, which is not here", f"name it: {hint}", "E405")


def _chosen(node: Node, module: syntax.Module, path: Path) -> Model:
    """The model with the constants, switches and fault classes of a trace."""
    constants: dict[str, str] = {}
    switches: dict[str, str] = {}
    declared = {item.name.name: item for item in module.items if isinstance(item, syntax.Constant | syntax.Switch)}
    for each in node.field("constants").items():
        name = each.field("name").text()
        if name not in declared:
            raise each.mismatch(f"the model has no constant or switch {name!r}")
        chosen = constants if isinstance(declared[name], syntax.Constant) else switches
        chosen[name] = write_value(decode_value(each.field("value")))
    checked = typecheck(module, Choice(None, constants, switches))
    if isinstance(checked, tuple):
        raise ModelErrors(checked)
    return replace(checked.model, faults=_faults(node.field("faults"), checked.model))


def _faults(node: Node, model: Model) -> tuple[FaultClass, ...]:
    known = {str(fault): fault for fault in (*split(model).faults, *model.faults)}
    found: list[FaultClass] = []
    for each in node.items():
        name = each.text()
        try:
            found += [known[name]] if name in known else parse_faults(name, model)
        except UnknownNameError as error:
            raise each.mismatch(error.message) from None
    return tuple(found)


def walk(found: NamedTrace, file: str) -> Unconfirmed | None:
    """Has the interpreter walk the trace and judge its end.  Raises Stale where it disagrees, UsageError (E406) for a
    property that the model does not have; Unconfirmed where the end could not be judged."""
    interpreter = Interpreter(found.trace.model)
    if found.name is None:
        wrong = replay(found.trace, interpreter)
        answer: Confirmed | Mismatch | Unconfirmed = Confirmed() if wrong is None else wrong
    else:
        try:
            answer = confirm(found.trace, found.name, interpreter)
        except KeyError:
            names = [declared.name for declared in found.trace.model.properties]
            hint = suggest(found.name, names, "properties")
            raise UsageError(f"{file}: the model has no property {found.name!r}", hint, "E406") from None
    if isinstance(answer, Mismatch):
        if answer.step >= len(found.trace):
            raise Stale("E408", None, answer.why)
        raise Stale("E407", answer.step + 1, answer.why)
    return answer if isinstance(answer, Unconfirmed) else None


# ------------------------------------------------------------------------------------------------------------ models


def check_model(
    path: Path, options: Options, observer: Observer, folder: Path, wanted: str, cache: Cache | None = None
) -> tuple[NamedTrace, ...]:
    """The traces that a check of a model gives: of the properties and scenarios that the options name, or else of
    everything that is refuted.  wanted: what the model was found for.
    Raises UsageError (E404 when there is none), NotDecided, ModelErrors, OwnError, KeyboardInterrupt."""
    module = catalogue.read(path, folder, wanted, options.timeout)
    if isinstance(module, tuple):
        raise ModelErrors(module)
    report = check_module(module, options, observer, cache)
    for failure in report.all_failures():
        raise OwnError(failure)
    errors = [*report.errors, *(error for variant in report.variants for error in variant.errors)]
    if errors:
        raise ModelErrors(errors)
    found: list[NamedTrace] = []
    told: list[str] = []
    for variant in report.variants:
        for result in variant.results:
            verdict = result.verdict
            asked = result.name in options.properties
            if isinstance(verdict, Refuted) or (asked and isinstance(verdict, Covered | Runs)):
                name = result.name if isinstance(result, PropertyResult) else None
                found.append(NamedTrace(verdict.trace, name, result.name, variant.variant))
            elif asked:
                told.append(f"{result.name} is {title(verdict)}" + (f" in {variant.variant}" * bool(variant.variant)))
    if not found and report.interrupted:
        raise KeyboardInterrupt
    if not found:
        undecided = [
            f"{result.name} is {title(result.verdict)}"
            for variant in report.variants
            for result in variant.results
            if isinstance(result.verdict, Undecided | HoldsTo | UncoveredTo)
            and (not options.properties or result.name in options.properties)
        ]
        cut_short = [variant.cut_short for variant in report.variants if variant.cut_short is not None]
        what = "; ".join(told or undecided or cut_short) or "nothing is refuted"
        if undecided or cut_short:
            raise NotDecided(f"{path.name} gives no trace: {what}")
        raise UsageError(f"{path.name} gives no trace: {what}", code="E404")
    return tuple(found)


def only(found: Sequence[NamedTrace], source: str) -> NamedTrace:
    """The trace, when there is one.  Raises UsageError (E403) that lists them when there are several."""
    if len(found) == 1:
        return found[0]
    listed = "; ".join(dict.fromkeys(_option(each.title, each.variant) for each in found))
    raise UsageError(f"{source} gives {len(found)} traces", f"one of: {listed}", "E403")
