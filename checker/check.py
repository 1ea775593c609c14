"""The library's door: a model file goes in, verdicts with checked evidence come out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from checker import catalogue
from checker.choosing import choose, require_properties
from checker.coverage import never_happened
from checker.options import Options
from checker.planning.plan import Observer, Silence
from checker.remark import Remark, RemarkKind
from checker.result import FileReport, VariantReport
from checker.verdict import Refuted
from checker.work.item import items_of, perform
from spec import syntax
from spec.diagnostic import Diagnostic

if TYPE_CHECKING:
    from checker.cache.cache import Cache


def check_file(
    path: Path,
    options: Options,
    observer: Observer | None = None,
    library: Path | None = None,
    wanted: str | None = None,
    cache: Cache | None = None,
) -> FileReport:
    """Loads and checks a model file.  `library` is where its imports are looked up besides its own folder (None: the
    shipped models).  wanted: the folder in which the file was found; None where it was named itself.  cache: of results
    that were found before (None: all is checked now).  Raises UnknownNameError where the options name what the model
    does not have."""
    started = time.monotonic()
    module = catalogue.read(path, library or catalogue.library(), wanted, options.time_limit().left())
    if isinstance(module, tuple):
        return FileReport(str(path), "", errors=module, seconds=time.monotonic() - started)
    return check_module(module, options, observer, cache)


def check_module(
    module: syntax.Module, options: Options, observer: Observer | None = None, cache: Cache | None = None
) -> FileReport:
    """Checks the variants that the options choose: all of them, or the defaults of a model without variants.  Raises
    UnknownNameError."""
    started = time.monotonic()
    chosen = choose(module, options)
    errors = [choice.errors for choice in chosen]
    if all(errors) and len(set(errors)) == 1:
        return FileReport(module.source.name, module.doc, errors=errors[0], seconds=time.monotonic() - started)
    require_properties(chosen, options)
    reports: list[VariantReport] = []
    for item in items_of(module, chosen, options):
        reports.append(perform(item, observer or Silence()) if cache is None else cache.perform(item, observer))
        if reports[-1].interrupted:
            break
    reports = _not_vacuous_as_written(reports)
    declared = sum(isinstance(item, syntax.Variant) for item in module.items)
    return FileReport(
        module.source.name,
        module.doc,
        tuple(reports),
        remarks=_remarks(reports) if len(reports) >= max(1, declared) and not options.changes_model else (),
        warnings=_warnings(reports),
        seconds=time.monotonic() - started,
    )


def _not_vacuous_as_written(reports: Sequence[VariantReport]) -> list[VariantReport]:
    """The reports, without the remark that nothing a property speaks of ever changes where another variant refutes the
    property: so it says something, and that nothing of it happens here is what the variant is about.  A left side that
    is never true is told all the same."""
    refuted = {result.name for report in reports for result in report.properties if isinstance(result.verdict, Refuted)}
    return [
        replace(
            report,
            remarks=tuple(
                remark
                for remark in report.remarks
                if remark.kind is not RemarkKind.UNCHANGING or remark.subject not in refuted
            ),
        )
        for report in reports
    ]


def _remarks(reports: Sequence[VariantReport]) -> tuple[Remark, ...]:
    """What never happens in any variant."""
    return never_happened(report.activity for report in reports)


def _warnings(reports: Sequence[VariantReport]) -> tuple[Diagnostic, ...]:
    """The type checker's warnings that go for every variant: what one leaves unused another may use."""
    known = [report.warnings for report in reports if report.model is not None]
    if not known:
        return ()
    shared = set(known[0]).intersection(*known[1:])
    return tuple(warning for warning in known[0] if warning in shared)
