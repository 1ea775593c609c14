"""The command line: which commands and options there are.  Imports nothing but argparse, so that it is quick."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from checker.console import OutputError
from checker.options import DEFAULT_POINTS, DEFAULT_TIMEOUT, LEAST_MEMORY, UsageError
from checker.suggestion import suggest
from checker.version import VERSION

COMMANDS = (
    "check",
    "diff",
    "verify",
    "crashpoints",
    "sweep",
    "graph",
    "trace",
    "replay",
    "draw",
    "list",
    "init",
    "run",
    "explain",
    "completion",
)

TRACE_FORMATS = ("json", "itf", "mermaid", "dot")

DESCRIPTION = """\
Checks the protocols inside workflow orchestrators: every interleaving, every crash, a proof or a shortest trace.
"""

EXAMPLES = """\
examples:
  counterpoint list                                   the models that are shipped
  counterpoint check conductor                        check all of a folder of them
  counterpoint check my.cpt --variant v2              one variant of a file of your own
  counterpoint check my.cpt --property kept --trace full
  counterpoint check my.cpt -D N=3 --with rescan --faults "crash Server, lose Server -- postgres"
  counterpoint check my.cpt --needs                   which faults it takes to break each property
  counterpoint diff main .                            what a change of the models has lost or gained
  counterpoint run my.cpt --seed 7                    one random run
  counterpoint crashpoints my.cpt                     which step is dangerous, and when
  counterpoint sweep my.cpt -D N=1..4 --max-faults 0..3   which values it breaks for
  counterpoint graph my.cpt --show db.row -o my.svg   a picture of the states
  counterpoint trace my.cpt --property kept --to mermaid
  counterpoint replay trace.json my.cpt               is it still a run of the model
  counterpoint draw my.cpt --property kept -o kept.svg
  counterpoint explain E101                           what an error means

exit codes: 0 as expected, 1 refuted or not as expected, 2 error in the model or the command line,
            3 error of counterpoint itself, 4 no verdict or only a bound
"""

CHECK_HELP = """\
A model is a file, a folder (all models in it), or the name of a shipped model or its beginning (conductor,
conductor/05).  Without --variant every variant is checked, and each verdict is compared with what the model expects.
Options that change the model (-D, --with, --faults, --max-faults) take its expectations out of force.
"""


_RAW = argparse.RawDescriptionHelpFormatter

_Options = argparse._ActionsContainer
"""What takes options: a parser, or a group of one."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"see {self.prog} --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """What argparse does, without hiding that it failed.  Raises OutputError, BrokenPipeError."""
        try:
            file.write(message)
            file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"standard output cannot be written: {error.strerror or error}") from None


def build() -> argparse.ArgumentParser:
    """The parser; it raises UsageError instead of exiting."""
    parser = _Parser(prog="counterpoint", description=DESCRIPTION, epilog=EXAMPLES, formatter_class=_RAW)
    parser.add_argument("--version", action="version", version=f"counterpoint {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _check(commands)
    _diff(commands)
    _verify(commands)
    _crashpoints(commands)
    _sweep(commands)
    _graph(commands)
    _trace(commands)
    _replay(commands)
    _draw(commands)
    _list(commands)
    _init(commands)
    _run(commands)
    _explain(commands)
    _completion(commands)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses a command line.  Raises UsageError; `--help` and `--version` raise SystemExit after printing."""
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    if command is not None and command not in COMMANDS and arguments[0] == command:
        if command.endswith(".cpt"):
            raise UsageError(f"no command {command!r}", f"did you mean: counterpoint check {command}")
        raise UsageError(f"no command {command!r}", suggest(command, COMMANDS, "commands"))
    namespace = build().parse_args(list(arguments))
    if namespace.command is None:
        raise UsageError("a command is missing", f"commands: {', '.join(COMMANDS)}; see counterpoint --help")
    return namespace


def assignments(pairs: Sequence[str], option: str, default: str | None) -> dict[str, str]:
    """`name=value` arguments as a mapping; `default` is the value of a bare `name`.  Raises UsageError."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name, value = name.strip(), value.strip()
        if not equals and default is not None:
            value = default
        if not name or not value:
            raise UsageError(f"{option} {pair!r}: expected NAME=VALUE")
        if found.get(name, value) != value:
            raise UsageError(f"{option}: {name} is given both {found[name]} and {value}")
        found[name] = value
    return found


# The commands, one function each.  What several of them take stands further below, once.


def _check(commands: argparse._SubParsersAction[_Parser]) -> None:
    check = commands.add_parser("check", help="check models", description=CHECK_HELP, formatter_class=_RAW)
    check.add_argument("models", nargs="+", metavar="PATH|NAME", help="file, folder or shipped model")
    model = check.add_argument_group("which model")
    _variants(model)
    _settings(model)
    _faults(model)
    model.add_argument("--max-faults", type=_count, metavar="N", help="at most N faults in one run")
    asked = check.add_argument_group("what to check, and how far")
    _properties(
        asked, "only this property, cover or scenario (repeatable; model errors and asserts are always checked)"
    )
    asked.add_argument("--needs", action="store_true", help="find which faults it takes to break each property")
    asked.add_argument("--per-instance", action="store_true", help="with --needs: the faults of single instances")
    asked.add_argument(
        "--fairness",
        action="store_true",
        help="find which fairness the proofs of live properties need, or would repair",
    )
    asked.add_argument(
        "--crash-points", action="store_true", help="find which step is dangerous, and when (see crashpoints)"
    )
    _engine(asked)
    _timeout(asked, "for each variant")
    asked.add_argument(
        "--timeout-property", type=_seconds, metavar="SECONDS", help="at most, for each property of a variant"
    )
    _timeout_total(asked)
    _states(asked)
    _symmetry(asked)
    asked.add_argument("--strict", action="store_true", help="warnings count as failures")
    _cache(asked)
    _work(check.add_argument_group("where to check"), "variant")
    shown = check.add_argument_group("what to show")
    shown.add_argument(
        "--certificate", metavar="FILE", help="write what proves the properties to FILE (one variant of one model)"
    )
    shown.add_argument("--why", action="store_true", help="for each proof, the invariant and what it relies on")
    _json(shown, "one JSON document (schema counterpoint-report/1)")
    shown.add_argument(
        "--json-lines", action="store_true", help="one JSON object a line for what happens, while it happens"
    )
    shown.add_argument("--quiet", "-q", action="store_true", help="only failures and the last line")
    shown.add_argument("--github", action="store_true", help="annotations for the log of a GitHub workflow as well")
    shown.add_argument(
        "--trace",
        choices=("full", "short", "none"),
        help="how to show traces (default: full for what is not expected, and for a single file or property)",
    )
    kept = check.add_argument_group("files to write besides")
    kept.add_argument("--html", metavar="FILE", help="a web page of everything found, to step through the runs")
    kept.add_argument("--junit", metavar="FILE", help="results in JUnit's XML, for CI servers")
    kept.add_argument("--sarif", metavar="FILE", help="what is wrong, with traces, in SARIF 2.1.0, for code hosts")
    kept.add_argument("--summary", metavar="FILE", help="a summary in Markdown, with traces as Mermaid diagrams")
    _configured(check)
    _common(check)


def _diff(commands: argparse._SubParsersAction[_Parser]) -> None:
    diff = commands.add_parser(
        "diff",
        help="what a change of models has lost or gained",
        description="Checks the models of BASE and of HEAD, and says what differs.  Each is a folder, a file, or a "
        "git revision (of the other side's path, or of the current folder).",
    )
    diff.add_argument("base", metavar="BASE", help="folder, file or git revision: before")
    diff.add_argument("head", metavar="HEAD", help="folder, file or git revision: after")
    _variants(diff)
    diff.add_argument(
        "--needs", action="store_true", help="compare as well which faults it takes to break each property"
    )
    _timeout(diff, "for each variant of each side")
    _cache(diff)
    _json(diff, "a JSON document (schema counterpoint-diff/1)")
    _configured(diff)
    _common(diff)


def _verify(commands: argparse._SubParsersAction[_Parser]) -> None:
    verify = commands.add_parser(
        "verify",
        help="check a certificate",
        description="Checks a certificate that check --certificate has written, by a fresh lowering and solver.",
    )
    verify.add_argument("certificate", metavar="FILE", help="the certificate")
    _model(verify)
    verify.add_argument("--smt2", metavar="FOLDER", help="write the obligations there, for any SMT solver")
    verify.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="for each obligation (default: none)")
    _common(verify)


def _crashpoints(commands: argparse._SubParsersAction[_Parser]) -> None:
    points = commands.add_parser(
        "crashpoints",
        help="which step is dangerous, and when",
        description="For each step of a model: what a single fault before, after or during it does to each property.",
    )
    _model(points)
    _variants(points)
    _settings(points)
    _faults(points)
    _properties(points, "only this one (repeatable)")
    _timeout(points, "for each variant")
    _states(points)
    points.add_argument(
        "--trace", choices=("full", "none"), default="none", help="a run for each danger (default none)"
    )
    _json(points, "a JSON document (schema counterpoint-crashpoints/1)")
    _configured(points)
    _common(points)


def _sweep(commands: argparse._SubParsersAction[_Parser]) -> None:
    sweep = commands.add_parser(
        "sweep",
        help="check a grid of values",
        description="Checks a model for every combination of values, and says for which each property breaks.",
    )
    _model(sweep)
    grid = sweep.add_argument_group("the grid")
    grid.add_argument(
        "-D",
        dest="constants",
        action="append",
        default=[],
        metavar="CONST=1..4",
        help="values of a constant, as 1..4 or 1,2,8",
    )
    grid.add_argument(
        "--with", dest="switches", action="append", default=[], metavar="SWITCH=true,false", help="values of a switch"
    )
    grid.add_argument(
        "--faults",
        action="append",
        default=[],
        metavar="LIST",
        help='fault classes, as in a model; or "none" (repeatable: a value each)',
    )
    grid.add_argument("--max-faults", metavar="0..3", help="at most so many faults in one run")
    grid.add_argument(
        "--variant", action="append", default=[], metavar="NAME", help="this variant (repeatable; default: all)"
    )
    grid.add_argument(
        "--points",
        type=_positive,
        default=DEFAULT_POINTS,
        metavar="N",
        help=f"at most N points (default {DEFAULT_POINTS})",
    )
    asked = sweep.add_argument_group("what to check, and how far")
    _properties(asked, "only this property, cover or scenario (repeatable)")
    _engine(asked)
    _timeout(asked, "for each point")
    _timeout_total(asked)
    _states(asked)
    _symmetry(asked)
    _cache(asked)
    _work(sweep.add_argument_group("where to check"), "point")
    shown = sweep.add_argument_group("what to show")
    shown.add_argument(
        "--output",
        "-o",
        action="append",
        default=[],
        metavar="FILE",
        help="write FILE.svg, .png, .pdf, .html, .csv or .json as well (repeatable)",
    )
    _json(shown, "one JSON document (schema counterpoint-sweep/1)")
    _configured(sweep)
    _common(sweep)


def _graph(commands: argparse._SubParsersAction[_Parser]) -> None:
    graph = commands.add_parser(
        "graph",
        help="a picture of the states, or of a process",
        description="Draws the states of a model, the part around a counterexample, or the control of a process.",
    )
    _one_variant_of_model(graph)
    _faults(graph)
    graph.add_argument(
        "--show", action="append", default=[], metavar="EXPR", help="one node for states with equal values (repeatable)"
    )
    graph.add_argument("--around", metavar="PROPERTY", help="only what is near a counterexample of this property")
    graph.add_argument("--depth", type=_count, metavar="N", help="only states within N steps")
    graph.add_argument("--process", metavar="NAME", help="the control graph of this process instead")
    graph.add_argument(
        "--states", type=_positive, default=20_000, metavar="N", help="look at no more than N states (default 20000)"
    )
    graph.add_argument(
        "--nodes", type=_positive, default=300, metavar="N", help="draw no more than N nodes (default 300)"
    )
    _output(graph, "FILE.dot, .svg, .png or .pdf (default: DOT text)")
    _timeout(graph, "for the check with --around")
    _configured(graph)
    _common(graph)


def _trace(commands: argparse._SubParsersAction[_Parser]) -> None:
    trace = commands.add_parser(
        "trace",
        help="a trace in another format",
        description="Writes a counterexample, of a model or from a trace file, as JSON, ITF, Mermaid or DOT.",
    )
    _trace_source(trace)
    trace.add_argument("--to", choices=TRACE_FORMATS, required=True, help="the format")
    _output(trace, "write to FILE, not to standard output")
    _configured(trace)
    _common(trace)


def _replay(commands: argparse._SubParsersAction[_Parser]) -> None:
    replay = commands.add_parser(
        "replay",
        help="walk a trace through its model again",
        description="Walks a trace through its model again, and says at which step it is no longer a run of it.",
    )
    replay.add_argument("trace", metavar="TRACE.json", help="a trace or a report with traces")
    replay.add_argument("model", nargs="?", metavar="PATH|NAME", help="file or shipped model (default: by its name)")
    _which_trace(replay)
    _common(replay)


def _draw(commands: argparse._SubParsersAction[_Parser]) -> None:
    draw = commands.add_parser(
        "draw",
        help="draw a trace",
        description="Draws a counterexample, of a model or from a trace file, as a space-time diagram.",
    )
    _trace_source(draw)
    _output(draw, "write to FILE.svg, .png or .pdf (default: SVG to standard output)")
    draw.add_argument("--link", metavar="URL", help="where line numbers lead, with {file} and {line} in it")
    _configured(draw)
    _common(draw)


def _list(commands: argparse._SubParsersAction[_Parser]) -> None:
    listing = commands.add_parser("list", help="list the shipped models", description="Lists the shipped models.")
    listing.add_argument("--names", action="store_true", help="only the names")
    _common(listing)


def _init(commands: argparse._SubParsersAction[_Parser]) -> None:
    init = commands.add_parser(
        "init",
        help="begin in a repository",
        description="Writes a first model, a CI workflow and a pre-commit hook into a repository; overwrites nothing.",
    )
    init.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="the repository (default: this folder)")
    _common(init)


def _run(commands: argparse._SubParsersAction[_Parser]) -> None:
    run = commands.add_parser("run", help="one random run of a model", description="Shows one random run of a model.")
    _one_variant_of_model(run)
    run.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same run")
    run.add_argument("--steps", type=_positive, default=30, metavar="N", help="at most N steps (default 30)")
    _configured(run)
    _common(run)


def _explain(commands: argparse._SubParsersAction[_Parser]) -> None:
    explain = commands.add_parser("explain", help="explain an error code", description="Explains an error code.")
    explain.add_argument("code", nargs="?", metavar="CODE", help="such as E101; all codes when left out")
    _common(explain)


def _completion(commands: argparse._SubParsersAction[_Parser]) -> None:
    completion = commands.add_parser(
        "completion", help="completion for a shell", description="Prints a completion script for a shell."
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    _common(completion)


# Options and arguments that several commands take.


def _model(options: _Options) -> None:
    options.add_argument("model", metavar="PATH|NAME", help="file or shipped model")


def _one_variant_of_model(options: _Options) -> None:
    _model(options)
    options.add_argument("--variant", metavar="NAME", help="the variant (needed where the model has several)")
    _settings(options)


def _variants(options: _Options) -> None:
    options.add_argument(
        "--variant", action="append", default=[], metavar="NAME", help="only this variant (repeatable)"
    )


def _settings(options: _Options) -> None:
    options.add_argument(
        "--with", dest="switches", action="append", default=[], metavar="SWITCH[=VALUE]", help="set a switch"
    )
    options.add_argument(
        "-D", dest="constants", action="append", default=[], metavar="CONST=VALUE", help="set a constant"
    )


def _faults(options: _Options) -> None:
    options.add_argument("--faults", metavar="LIST", help='fault classes that may strike, as in a model; or "none"')


def _properties(options: _Options, which: str) -> None:
    options.add_argument("--property", action="append", default=[], metavar="NAME", help=which)


def _timeout(options: _Options, span: str) -> None:
    """span: what the time is for."""
    options.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help=f"{span} (default {DEFAULT_TIMEOUT:.0f})",
    )


def _timeout_total(options: _Options) -> None:
    options.add_argument(
        "--timeout-total",
        type=_seconds,
        metavar="SECONDS",
        help="for everything together; what has not begun by then is listed as undecided",
    )


def _engine(options: _Options) -> None:
    options.add_argument("--depth", type=_count, metavar="N", help="look at runs of at most N steps")
    options.add_argument(
        "--engine",
        choices=("auto", "search", "bmc", "ic3", "parallel"),
        default="auto",
        help="explicit search, bounded model checking, IC3, or all of them side by side (auto, the default)",
    )


def _symmetry(options: _Options) -> None:
    options.add_argument("--no-symmetry", action="store_true", help="do not use the symmetry of ids and instances")


def _work(options: _Options, item: str) -> None:
    """Of the commands whose work is cut into items; item: what one of those is."""
    options.add_argument(
        "--workers",
        type=_positive,
        metavar="N",
        help=f"so many {item}s at a time, in processes of their own (default: half of the processors, at most 4)",
    )
    options.add_argument(
        "--scheduler", metavar="ADDRESS", help="on the workers of a Dask cluster, such as tcp://HOST:8786"
    )
    options.add_argument(
        "--memory", type=_size, metavar="SIZE", help=f"for each {item}, such as 500M or 2G; beyond, it is undecided"
    )


def _states(options: _Options) -> None:
    options.add_argument("--states", type=_positive, metavar="N", help="the search stores at most N states")


def _cache(options: _Options) -> None:
    options.add_argument("--cache", metavar="FOLDER", help="where results are kept (default: the user's cache folder)")
    options.add_argument("--no-cache", action="store_true", help="neither use results that were kept nor keep any")


def _json(options: _Options, document: str) -> None:
    options.add_argument("--json", action="store_true", help=document)


def _output(options: _Options, files: str) -> None:
    options.add_argument("--output", "-o", metavar="FILE", help=files)


def _which_trace(options: _Options) -> None:
    options.add_argument("--property", metavar="NAME", help="the trace of this property, cover or scenario")
    options.add_argument("--variant", metavar="NAME", help="the variant (needed where several give such a trace)")


def _trace_source(options: _Options) -> None:
    """What says which trace is meant, in a file or by checking a model."""
    options.add_argument("source", metavar="TRACE.json|MODEL", help="a trace or report, or a file or shipped model")
    _which_trace(options)
    options.add_argument("--model", metavar="PATH|NAME", help="the model of a trace file (default: by its name)")
    _settings(options)
    _faults(options)
    _timeout(options, "for the check of a model")
    _cache(options)


def _common(options: _Options) -> None:
    options.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours (default auto)")
    options.add_argument("--debug", action="store_true", help="show a traceback for errors of counterpoint itself")


def _configured(options: _Options) -> None:
    """Of the commands that `checker.configuration` gives options."""
    options.add_argument("--no-config", action="store_true", help="take no options from counterpoint.toml")


# Values of options.


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def bytes_in(size: str) -> int:
    """Of a size such as 500M or 2G.  Raises ArgumentTypeError for another text, or less than any check takes."""
    factors = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    try:
        value = float(size[:-1]) * factors[size[-1:].upper()]
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(f"{size!r} is no size; write 500M or 2G") from None
    if not LEAST_MEMORY <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{size} is not {LEAST_MEMORY >> 20}M or more, which any check takes")
    return int(value)


def _size(text: str) -> str:
    bytes_in(text)
    return text


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds")
    return value
