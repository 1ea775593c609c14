"""`counterpoint diff`: what differs between two versions of models, and whether anything was lost."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from checker import catalogue
from checker.cache.place import opened
from checker.check import check_module
from checker.choosing import choose
from checker.console import Console
from checker.differences.change import Change, ChangeKind, Effect
from checker.differences.compare import compare
from checker.differences.pairing import Document, Pair, pairs
from checker.differences.report import ModelDifference, document, render, summary
from checker.differences.side import sides
from checker.exitcode import ExitCode, gravest
from checker.options import Options, UnknownNameError, UsageError
from checker.planning.plan import Observer, Silence
from checker.progress import ProgressLine
from checker.reports.evidence import plural
from checker.result import FileReport
from checker.suggestion import suggest
from checker.verdict import Undecided
from spec import syntax
from spec.diagnostic import Diagnostic

if TYPE_CHECKING:
    from checker.cache.cache import Cache


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Compares all models of both sides: 1 when something is a regression, 2 when HEAD has errors, 4 when something is
    no longer decided, else 0.  Raises UsageError, and KeyboardInterrupt when the user stops it."""
    with opened(arguments, console) as cache:
        return _run(arguments, console, cache)


def _run(arguments: argparse.Namespace, console: Console, cache: Cache | None) -> ExitCode:
    options = Options(variants=tuple(arguments.variant), timeout=arguments.timeout, needs=arguments.needs)
    library = catalogue.library()
    started = time.monotonic()
    line = None if arguments.json else ProgressLine(console.err, console.error_page.columns)
    found: list[ModelDifference] = []
    codes: list[ExitCode] = []
    with _scratch() as scratch:
        base, head = sides(arguments.base, arguments.head, library, Path(scratch))
        matched = pairs(base, head, library)
        _require(options.variants, matched)
        for pair in matched:
            if options.variants and not {*_variants(pair.base), *_variants(pair.head)} & {*options.variants}:
                continue
            if line is not None:
                line.begin((pair.head or pair.base or Document("", ())).name)
            try:
                difference, reports = _difference(pair, options, line or Silence(), cache)
            finally:
                if line is not None:
                    line.clear()
            found.append(difference)
            codes += [change.code for change in difference.changes]
            for failure in (failure for report in reports for failure in report.all_failures()):
                codes.append(ExitCode.OWN_ERROR)
                console.confess(failure)
            undecided = 0 if difference.unchanged else _undecided(reports)
            if undecided:
                codes.append(ExitCode.INCONCLUSIVE)
            if not arguments.json:
                console.show(render(difference, head, console.page))
            if undecided and not any(change.code is ExitCode.INCONCLUSIVE for change in difference.changes):
                console.tell(
                    f"counterpoint: {plural(undecided, 'verdict')} of HEAD undecided: nothing is known of them"
                )
        code = gravest(codes)
        seconds = time.monotonic() - started
        if arguments.json:
            console.show(document(base, head, found, code, seconds))
        else:
            console.show(f"{summary(found, seconds)}\n")
    return code


def _scratch() -> TemporaryDirectory[str]:
    """A folder for the models of revisions.  Raises UsageError (E409)."""
    try:
        return TemporaryDirectory(prefix="counterpoint-")
    except OSError as error:
        message = f"a temporary folder cannot be made: {error.strerror or error}"
        raise UsageError(message, "the variable TMPDIR may name a folder that can be written", "E409") from None


def _undecided(reports: Sequence[FileReport]) -> int:
    """How many verdicts HEAD has none of: what BASE has none of either is no change, and no reason to be content."""
    head = reports[-1:]
    return sum(
        isinstance(result.verdict, Undecided)
        for report in head
        for variant in report.variants
        for result in variant.results
    )


def _difference(
    pair: Pair, options: Options, observer: Observer, cache: Cache | None
) -> tuple[ModelDifference, list[FileReport]]:
    old, new = pair.base, pair.head
    names = old.name if old else None, new.name if new else None
    changes: list[Change] = []
    if new is None:
        changes.append(Change(ChangeKind.MODEL_REMOVED, Effect.REGRESSION, None, names[0] or ""))
        return ModelDifference(*names, False, tuple(changes)), []
    if old is None:
        changes.append(Change(ChangeKind.MODEL_ADDED, Effect.NEUTRAL, None, new.name))
    elif old.name != new.name:
        changes.append(Change(ChangeKind.MODEL_RENAMED, Effect.NEUTRAL, None, new.name, old.name, new.name))
    if pair.unchanged:
        errors = _errors(new, options)
        if errors:
            changes.append(Change(ChangeKind.MODEL_ERRORS, Effect.REGRESSION, None, new.name))
        return ModelDifference(*names, True, tuple(changes), errors), []
    after = _check(new, options, observer, cache)
    errors = after.errors or tuple(dict.fromkeys(error for variant in after.variants for error in variant.errors))
    before = _check(old, options, observer, cache) if old is not None and not after.errors else None
    if before is not None and before.errors:
        changes.append(Change(ChangeKind.MODEL_REPAIRED, Effect.BETTER, None, new.name))
        changes += compare(None, after, options)
    else:
        changes += compare(before, after, options)
    reports = [after] if before is None else [before, after]
    return ModelDifference(*names, False, tuple(changes), errors), reports


def _check(wanted: Document, options: Options, observer: Observer, cache: Cache | None) -> FileReport:
    """Raises KeyboardInterrupt when the user stops it: half a check would look like a loss."""
    if isinstance(wanted.loaded, tuple):
        return FileReport(wanted.name, "", errors=wanted.loaded)
    here = _here(wanted, options)
    if here is None:
        return FileReport(wanted.name, "")
    report = check_module(wanted.loaded, here, observer, cache)
    if report.interrupted:
        raise KeyboardInterrupt
    return replace(report, name=wanted.name)


def _errors(wanted: Document, options: Options) -> tuple[Diagnostic, ...]:
    here = _here(wanted, options)
    if isinstance(wanted.loaded, tuple) or here is None:
        return ()
    return tuple(dict.fromkeys(error for choice in choose(wanted.loaded, here) for error in choice.errors))


def _here(wanted: Document, options: Options) -> Options | None:
    """The options with those variants that the file has; None when it has none of the wanted ones."""
    if not options.variants:
        return options
    known = tuple(name for name in options.variants if name in _variants(wanted))
    return replace(options, variants=known) if known else None


def _variants(wanted: Document | None) -> list[str]:
    if wanted is None or isinstance(wanted.loaded, tuple):
        return []
    return [item.name.name for item in wanted.loaded.items if isinstance(item, syntax.Variant)]


def _require(wanted: Sequence[str], matched: Sequence[Pair]) -> None:
    """Raises UnknownNameError for a variant that no model has on either side."""
    known = {name for pair in matched for side in (pair.base, pair.head) for name in _variants(side)}
    for name in wanted:
        if name not in known:
            raise UnknownNameError(f"no model has a variant {name!r}", suggest(name, known, "variants"))
