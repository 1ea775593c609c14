"""`counterpoint list`: the shipped models."""

from __future__ import annotations

import argparse

from checker import catalogue
from checker.console import Console
from checker.exitcode import ExitCode
from checker.reports.evidence import plural
from checker.reports.report import first_sentence
from counterexamples.render.page import Style
from spec import syntax


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Each shipped model with the first sentence of its documentation, its variants and its properties."""
    folder = catalogue.library()
    found = catalogue.shipped(folder)
    if arguments.names:
        console.show("".join(f"{name}\n" for name in found))
        return ExitCode.MET
    page = console.page
    for name, path in found.items():
        module = catalogue.read(path, folder)
        console.show(page.line([(page.clean(name), Style.BOLD)]) + "\n")
        if isinstance(module, tuple):
            console.show(page.line([(f"  does not load: {page.clean(module[0].message)}", Style.FAULT)]) + "\n")
            continue
        lines = [first_sentence(module.doc)]
        variants = [item.name.name for item in module.items if isinstance(item, syntax.Variant)]
        properties = [item.name.name for item in module.items if isinstance(item, syntax.Property)]
        if variants:
            lines.append(f"variants: {', '.join(variants)}")
        if properties:
            lines.append(f"properties: {', '.join(properties)}")
        for line in filter(None, lines):
            for part in page.wrap(page.clean(line), page.columns - 2):
                console.show(page.line([("  ", Style.PLAIN), (part, Style.PLAIN)]) + "\n")
    console.show(f"{plural(len(found), 'model')}; counterpoint check NAME checks one, or a folder of them\n")
    return ExitCode.MET
