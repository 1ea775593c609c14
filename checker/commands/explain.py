"""`counterpoint explain`: what an error code means, with a wrong and a right example."""

from __future__ import annotations

import argparse
import textwrap

from checker.codes import CODES
from checker.console import Console
from checker.exitcode import ExitCode
from checker.options import UsageError
from checker.suggestion import suggest
from counterexamples.render.page import Page, Style
from spec.diagnostic import Code


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Explains one code, or lists all.  Raises UsageError for a code that does not exist."""
    page = console.page
    if arguments.code is None:
        for entry in sorted(CODES.values(), key=lambda entry: entry.code):
            console.show(page.line([(entry.code, Style.BOLD), (f"  {page.clean(entry.title)}", Style.PLAIN)]) + "\n")
        return ExitCode.MET
    code = CODES.get(arguments.code.upper())
    if code is None:
        raise UsageError(f"no code {arguments.code!r}", suggest(arguments.code, CODES, "codes"))
    console.show(_explained(code, page))
    return ExitCode.MET


def _explained(code: Code, page: Page) -> str:
    lines = [page.line([(f"{code.code}: ", Style.BOLD), (page.clean(code.title), Style.BOLD)]), ""]
    for paragraph in code.explanation.strip().split("\n\n"):
        lines += [*page.wrap(page.clean(" ".join(paragraph.split())), min(page.columns, 100)), ""]
    for title, example, style in (("Wrong:", code.wrong, Style.BAD), ("Right:", code.right, Style.GOOD)):
        lines.append(page.line([(title, style)]))
        body = textwrap.dedent(example).strip("\n")
        lines += [f"    {page.clean(line)}".rstrip() for line in body.split("\n")]
        lines.append("")
    return "\n".join(lines)
