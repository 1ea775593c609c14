"""`counterpoint run`: one random run of a model."""

from __future__ import annotations

import argparse
import random
import shlex

from checker import catalogue
from checker.arguments import assignments
from checker.choosing import choose
from checker.console import Console
from checker.exitcode import ExitCode
from checker.options import Options, UsageError
from checker.reports.evidence import plural
from checker.reports.explanation import explained
from counterexamples.render import text
from counterexamples.render.page import Style
from counterexamples.trace import Trace
from spec.interpreter import Interpreter
from spec.simulate import RandomRun, Stop, simulate
from spec.snippet import draw
from spec.typed import PropertyForm


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Shows a random run, and how to see it again.  The exit code says whether it violates something.  Raises
    UsageError."""
    page = console.page
    folder = catalogue.library()
    paths = catalogue.find(arguments.model, folder)
    if len(paths) != 1:
        raise UsageError(f"{arguments.model!r} is several models", f"name one, such as {str(paths[0])!r}")
    options = Options(
        variants=() if arguments.variant is None else (arguments.variant,),
        constants=assignments(arguments.constants, "-D", None),
        switches=assignments(arguments.switches, "--with", "true"),
    )
    module = catalogue.read(paths[0], folder, arguments.model)
    if isinstance(module, tuple):
        console.show("\n".join(draw(diagnostic, page.colour) for diagnostic in module))
        return ExitCode.MODEL
    chosen = choose(module, options)
    if len(chosen) > 1:
        names = ", ".join(choice.variant or "" for choice in chosen)
        raise UsageError(f"{arguments.model} has several variants", f"--variant one of: {names}")
    if chosen[0].checked is None:
        console.show("\n".join(draw(diagnostic, page.colour) for diagnostic in chosen[0].errors))
        return ExitCode.MODEL
    model = chosen[0].checked.model
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    found = simulate(Interpreter(model), seed, arguments.steps, model.properties)
    explanation = explained(Trace(model, found.states, found.events), None)
    console.show(text.render_steps(explanation, page))
    style = Style.FAULT if found.stop in (Stop.VIOLATION, Stop.ERROR) else Style.DIM
    console.show("\n" + page.line([(page.clean(_ending(found)), style)]) + "\n")
    console.show(page.line([("this run again: ", Style.DIM), (_again(arguments, seed), Style.PLAIN)]) + "\n")
    return ExitCode.REFUTED if found.stop in (Stop.VIOLATION, Stop.ERROR) else ExitCode.MET


def _ending(found: RandomRun) -> str:
    told = plural(len(found.events), "step")
    match found.stop:
        case Stop.VIOLATION if found.violated is not None:
            where = "by the last step" if found.violated.form is PropertyForm.STEP_INVARIANT else "here"
            return f"{told}: {found.violated.name} is violated {where}"
        case Stop.ERROR:
            error = found.states[-1].error
            return f"{told}: a model error ends the run" + (f" ({error.kind.value})" if error else "")
        case Stop.DEADLOCK:
            return f"{told}: no step is possible any more"
        case _:
            return f"{told}, no violation (--steps asks for more)"


def _again(arguments: argparse.Namespace, seed: int) -> str:
    parts = ["counterpoint", "run", arguments.model]
    if arguments.variant is not None:
        parts += ["--variant", arguments.variant]
    for switch in arguments.switches:
        parts += ["--with", switch]
    for constant in arguments.constants:
        parts += ["-D", constant]
    return shlex.join([*parts, "--seed", str(seed), "--steps", str(arguments.steps)])
