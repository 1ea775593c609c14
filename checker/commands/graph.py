"""`counterpoint graph`: the states of a model, or the control of a process, as a picture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from checker import catalogue
from checker.arguments import assignments
from checker.choosing import Chosen, choose
from checker.commands.trace import write_bytes, write_text
from checker.console import Console
from checker.exitcode import ExitCode
from checker.faultsets import parse_faults
from checker.lowering.properties import BUILT_IN
from checker.options import Options, UsageError
from checker.planning.plan import Silence
from checker.suggestion import suggest
from checker.traces.trace_source import ModelErrors, NotDecided, check_model, only
from counterexamples.graphs.control_graph import control_graph
from counterexamples.graphs.exploration import TooManyStatesError, around, explore
from counterexamples.graphs.state_graph import Shown, StateGraph
from counterexamples.render.dot import FORMATS, DrawingError, Graph, NoProgramError, picture, to_dot
from counterexamples.replay import own_states
from spec import syntax
from spec.diagnostic import Diagnostic
from spec.interpreter import Interpreter
from spec.parse import parse
from spec.snippet import draw
from spec.source import Source, Span
from spec.state import GlobalState
from spec.typecheck import Choice, typecheck_expressions
from spec.typed import Model

DOT = ("dot", "gv")
_PREFIX = "cover shown: "
"""What stands before an expression so that it can be parsed."""


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Draws, or writes DOT text.  Raises UsageError."""
    form = _format(arguments.output)
    folder = catalogue.library()
    paths = catalogue.find(arguments.model, folder)
    if len(paths) != 1:
        raise UsageError(f"{arguments.model!r} is several models", f"name one, such as {str(paths[0])!r}")
    options = Options(
        variants=() if arguments.variant is None else (arguments.variant,),
        constants=assignments(arguments.constants, "-D", None),
        switches=assignments(arguments.switches, "--with", "true"),
        faults=arguments.faults,
        timeout=arguments.timeout,
    )
    module = catalogue.read(paths[0], folder, arguments.model, arguments.timeout)
    try:
        if isinstance(module, tuple):
            raise ModelErrors(module)
        choice = _chosen(module, options, arguments.model)
        assert choice.checked is not None
        model = choice.checked.model
        if options.faults is not None:
            model = replace(model, faults=parse_faults(options.faults, model))
        if arguments.process is not None:
            graph = _of_process(model, arguments)
        else:
            graph = _of_states(model, module, choice, options, arguments, paths[0], folder)
    except ModelErrors as errors:
        console.show("\n".join(draw(diagnostic, console.page.colour) for diagnostic in errors.diagnostics))
        return ExitCode.MODEL
    except NotDecided as undecided:
        console.tell(f"counterpoint: E404: {undecided}")
        return ExitCode.INCONCLUSIVE
    _write(to_dot(graph), form, arguments.output, console)
    return ExitCode.MET


def _format(output: str | None) -> str:
    """The format that a file's name asks for.  Raises UsageError."""
    if output in (None, "-"):
        return "dot"
    assert output is not None
    form = output.rpartition(".")[2].lower()
    if form in DOT:
        return "dot"
    if form not in FORMATS:
        known = ", ".join(f".{each}" for each in ("dot", *FORMATS))
        raise UsageError(f"{output}: a graph cannot be written as {form!r}", f"names of files end in {known}", "E412")
    return form


def _write(text: str, form: str, output: str | None, console: Console) -> None:
    if form == "dot":
        write_text(text, output, console)
        return
    assert output is not None
    try:
        write_bytes(picture(text, form), output)
    except NoProgramError:
        stem = output.rpartition(".")[0]
        raise UsageError(
            f"to draw {output} takes the program `dot` of Graphviz, which is not installed",
            f"install it (package `graphviz` of most systems, https://graphviz.org/download), "
            f"or write the text, which needs nothing: -o {stem}.dot",
            "E413",
        ) from None
    except DrawingError as error:
        raise UsageError(f"the program `dot` of Graphviz could not draw {output}: {error}", code="E413") from None


def _chosen(module: syntax.Module, options: Options, named: str) -> Chosen:
    """The one choice that is meant.  Raises UsageError, ModelErrors."""
    chosen = choose(module, options)
    if len(chosen) > 1:
        names = ", ".join(choice.variant or "" for choice in chosen)
        raise UsageError(f"{named} has several variants", f"--variant one of: {names}")
    if chosen[0].checked is None:
        raise ModelErrors(chosen[0].errors)
    return chosen[0]


def _of_process(model: Model, arguments: argparse.Namespace) -> Graph:
    if arguments.show or arguments.around or arguments.depth is not None:
        raise UsageError("--process draws the control of a process, which has no states", "leave out the other options")
    names = {process.name: process for process in model.processes}
    if arguments.process not in names:
        raise UsageError(f"no process {arguments.process!r}", suggest(arguments.process, names, "processes"))
    return control_graph(model, names[arguments.process])


def _of_states(
    model: Model,
    module: syntax.Module,
    choice: Chosen,
    options: Options,
    arguments: argparse.Namespace,
    path: Path,
    folder: Path,
) -> Graph:
    if arguments.around is not None and arguments.depth is not None:
        raise UsageError("--around shows what is one step from a run; --depth what is near the initial state")
    shown = _shown(arguments.show, module, Choice(choice.variant, options.constants, options.switches))
    interpreter = Interpreter(model)
    caption = [model.name if choice.variant is None else f"{model.name}, {choice.variant}"]
    names: list[str] | None = None
    run: tuple[GlobalState, ...] = ()
    try:
        if arguments.around is not None:
            _require_property(arguments.around, model)
            asked = replace(options, properties=(arguments.around,))
            traces = check_model(path, asked, Silence(), folder, arguments.model)
            named = [each for each in traces if each.title == arguments.around]
            found = only(named, arguments.model)
            run, names = own_states(found.trace, interpreter), [arguments.around]
            explored = around(interpreter, run, arguments.states)
            caption.append(f"around {arguments.around}: a run of {len(run) - 1} steps and what is a step from it")
        else:
            explored = explore(interpreter, arguments.states, arguments.depth)
            if arguments.depth is not None:
                caption.append(f"within {arguments.depth} steps")
    except TooManyStatesError:
        raise UsageError(
            f"{model.name} has more than {arguments.states:,} states",
            "--states N looks at more, --depth N at those within N steps, --around PROPERTY at those near a "
            "counterexample; a smaller model (-D, --faults) has fewer",
            "E410",
        ) from None
    return _small_enough(StateGraph(interpreter, explored, shown, names, run), arguments).graph(caption)


def _small_enough(graph: StateGraph, arguments: argparse.Namespace) -> StateGraph:
    if len(graph) <= arguments.nodes:
        return graph
    how = (
        "fewer or coarser --show" if arguments.show else "--show EXPR, which makes one node of states with equal values"
    )
    raise UsageError(
        f"the graph has {len(graph):,} nodes, and more than {arguments.nodes:,} are not drawn",
        f"use {how}; or --nodes N",
        "E411",
    )


def _require_property(name: str, model: Model) -> None:
    known = [declared.name for declared in model.properties]
    if name not in known and name not in BUILT_IN and not name.startswith("assert_"):
        raise UsageError(f"no property {name!r}", suggest(name, known, "properties"))


def _shown(texts: Sequence[str], module: syntax.Module, choice: Choice) -> tuple[Shown, ...]:
    """The expressions of `--show`, typed.  Raises ModelErrors with located errors, UsageError."""
    nodes = []
    for text in texts:
        parsed = parse(Source("--show", _PREFIX + text))
        if not isinstance(parsed, syntax.File):
            raise ModelErrors([_in(text, each) for each in parsed])
        item = parsed.items[0] if len(parsed.items) == 1 else None
        if not isinstance(item, syntax.Property) or parsed.imports:
            raise UsageError(f"--show {text!r} is more than one expression", "give --show several times")
        nodes.append(item.condition)
    typed = typecheck_expressions(module, choice, nodes) if nodes else ()
    errors = [each for each in typed if isinstance(each, Diagnostic)]
    if errors:
        spans = {id(node.span.source): text for node, text in zip(nodes, texts, strict=True)}
        raise ModelErrors([_in(spans.get(id(each.span.source) if each.span else 0, ""), each) for each in errors])
    return tuple(Shown(text, each) for text, each in zip(texts, typed, strict=True) if not isinstance(each, Diagnostic))


def _in(text: str, error: Diagnostic) -> Diagnostic:
    """The error with its places in the expression that the user wrote."""
    own = Source("--show", text)

    def moved(span: Span | None) -> Span | None:
        if span is None or span.source.name != own.name:
            return span
        start, end = (min(max(0, place - len(_PREFIX)), len(text)) for place in (span.start, span.end))
        return Span(own, start, end)

    notes = tuple(replace(note, span=moved(note.span)) for note in error.notes)
    return replace(error, span=moved(error.span), notes=notes)
