"""`counterpoint verify`: checks a certificate against a model."""

from __future__ import annotations

import argparse
from pathlib import Path

from checker import catalogue
from checker.certificates.proof_file import Judged, verify
from checker.console import Console
from checker.exitcode import ExitCode, gravest
from checker.lower import LoweringLimit
from checker.options import UsageError
from checker.reports.evidence import plural
from counterexamples.render.page import Page, Style
from spec.load import SECONDS
from spec.regular_file import UnreadableError, read_text

_MOST_BYTES = 200_000_000
"""The largest certificate that is read."""
_MOST_SENTENCES = 20
_OF_ONE_CASE = 3
"""Obligations."""


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """0 when every proof in the file stands, 1 when one does not, 4 when the solver does not tell or there is none.
    Raises UsageError (2) when the file cannot be read, is damaged, or is for another model or choice."""
    folder = catalogue.library()
    paths = catalogue.find(arguments.model, folder)
    if len(paths) != 1:
        raise UsageError(f"{arguments.model!r} names {len(paths)} models; a certificate is for one")
    try:
        text = read_text(Path(arguments.certificate), _MOST_BYTES)
    except UnreadableError as error:
        raise UsageError(f"the certificate {arguments.certificate} {error.told}") from None
    module = catalogue.read(paths[0], folder, arguments.model, arguments.timeout or SECONDS)
    if isinstance(module, tuple):
        raise UsageError(f"the model {arguments.model} has errors", f"see: counterpoint check {arguments.model}")
    try:
        judged = verify(text, module, arguments.timeout)
    except LoweringLimit as limit:
        console.tell(f"counterpoint: {arguments.certificate} is not decided: {limit}")
        return ExitCode.INCONCLUSIVE
    if arguments.smt2 is not None:
        _extract(judged, Path(arguments.smt2))
    page = console.page
    for each in judged:
        console.show("\n".join(_lines(each, page)) + "\n")
    good = sum(each.accepted for each in judged)
    console.show(f"{arguments.certificate}: {good} of {plural(len(judged), 'proof')} accepted\n")
    if not judged:
        return ExitCode.INCONCLUSIVE
    return gravest(_code(each) for each in judged)


def _code(judged: Judged) -> ExitCode:
    if judged.wrong is not None:
        return ExitCode.REFUTED
    return ExitCode.INCONCLUSIVE if judged.unknown is not None else ExitCode.MET


def _lines(judged: Judged, page: Page) -> list[str]:
    name = page.clean(judged.name)
    if judged.wrong is not None:
        mark, style, told = "✗" if page.unicode else "x", Style.FAULT, f"rejected: {judged.wrong} does not hold"
    elif judged.unknown is not None:
        mark, style, told = "?", Style.DOUBT, f"not decided: {judged.unknown}"
    else:
        mark, style = "✓" if page.unicode else "+", Style.GOOD
        told = "accepted: initiation, consecution and safety hold"
        if len(judged.obligations) > _OF_ONE_CASE:
            told += f" in {len(judged.obligations) // _OF_ONE_CASE} cases"
    lines = [page.line([("  ", Style.PLAIN), (mark, style), (f" {name}  {judged.form.value}  {told}", Style.PLAIN)])]
    for sentence in judged.words[:_MOST_SENTENCES]:
        for number, part in enumerate(page.wrap(page.clean(sentence), page.columns - 8)):
            lines.append(page.line([(" " * (6 if number == 0 else 8), Style.PLAIN), (part, Style.DIM)]))
    if len(judged.words) > _MOST_SENTENCES:
        lines.append(page.line([(f"      and {len(judged.words) - _MOST_SENTENCES} more", Style.DIM)]))
    return lines


def _extract(judged: tuple[Judged, ...], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in judged:
            for name, text in each.obligations.items():
                (folder / f"{each.name}.{name.replace(' ', '_')}.smt2").write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the obligations cannot be written to {folder}: {error}") from None
