"""The library's door: a model file goes in, verdicts with checked evidence come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from checker import catalogue
from checker.choosing import choose, require_faults, require_properties
from checker.coverage import never_happened
from checker.options import Options, UnknownNameError
from checker.planning.plan import Observer, Silence
from checker.remark import Remark, RemarkKind
from checker.result import FileReport, VariantReport
from checker.verdict import Refuted, Scope
from checker.work.executor import Executor, Here
from checker.work.item import Item, items_of, unperformed
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
    work = work_on(module, options)
    if isinstance(work, FileReport):
        return work
    for number, report in Here(cache).run(work.items, lambda number: observer or Silence()):
        work.finish(number, report)
    return replace(work.report(), seconds=time.monotonic() - started)


def check_files(
    paths: Sequence[Path],
    options: Options,
    executor: Executor,
    watch: Callable[[Path], Callable[[Item], Observer]] | None = None,
    library: Path | None = None,
    wanted: Mapping[Path, str] | None = None,
) -> Iterator[tuple[Path, FileReport | UnknownNameError]]:
    """Checks model files with an executor, whose items may be of several files at a time.  library, wanted (for each
    path): as for `check_file`.

    Gives the reports in the order of the paths, each as soon as it and all before it are there; or the error where the
    options name what a model does not have.  watch: told of each file when it begins; answers who watches its items.
    After an interrupt what is not finished of the files that had begun is undecided, and the others are left out; there
    is a report that says so, unless nothing was left to do."""
    read = partial(_read, options=options, library=library or catalogue.library(), wanted=wanted or {})
    files = _Files(paths, options, watch or (lambda path: lambda item: Silence()), read)
    for number, report in executor.run(files.items(), files.observer):
        files.finish(number, report)
        yield from files.ready()
    yield from files.ready()
    if executor.interrupted:
        yield from files.cut_short()


def _read(
    path: Path, options: Options, library: Path, wanted: Mapping[Path, str]
) -> syntax.Module | tuple[Diagnostic, ...]:
    return catalogue.read(path, library, wanted.get(path), options.time_limit().left())


@dataclass
class _File:
    """A file whose check has begun.  content: None until it is loaded."""

    path: Path
    started: float
    content: FileWork | FileReport | UnknownNameError | None = None

    @property
    def is_done(self) -> bool:
        if isinstance(self.content, FileWork):
            return self.content.finished == len(self.content.items)
        return self.content is not None

    def result(self) -> FileReport | UnknownNameError:
        if isinstance(self.content, UnknownNameError):
            return self.content
        report = self.content.report() if isinstance(self.content, FileWork) else self.content
        if report is None:
            stopped = VariantReport(None, "", None, Scope((), None), interrupted=True)
            report = FileReport(str(self.path), "", (stopped,))
        return replace(report, seconds=time.monotonic() - self.started)


class _Files:
    """The files of a check: those before `_shown` have been reported."""

    def __init__(
        self,
        paths: Sequence[Path],
        options: Options,
        watch: Callable[[Path], Callable[[Item], Observer]],
        read: Callable[[Path], syntax.Module | tuple[Diagnostic, ...]],
    ) -> None:
        self._paths = paths
        self._options = options
        self._watch = watch
        self._read = read
        self._begun: list[_File] = []
        self._shown = 0
        self._owners: list[tuple[_File, int, Callable[[Item], Observer]]] = []

    def items(self) -> Iterator[Item]:
        """The items of all files, which are loaded on the way."""
        for path in self._paths:
            watch = self._watch(path)
            file = _File(path, time.monotonic())
            self._begun.append(file)
            module = self._read(path)
            try:
                file.content = (
                    FileReport(str(path), "", errors=module)
                    if isinstance(module, tuple)
                    else work_on(module, self._options)
                )
            except UnknownNameError as error:
                file.content = error
            if isinstance(file.content, FileWork):
                for number, item in enumerate(file.content.items):
                    self._owners.append((file, number, watch))
                    yield item

    def observer(self, number: int) -> Observer:
        file, place, watch = self._owners[number]
        assert isinstance(file.content, FileWork)
        return watch(file.content.items[place])

    def finish(self, number: int, report: VariantReport) -> None:
        file, place, _ = self._owners[number]
        assert isinstance(file.content, FileWork)
        file.content.finish(place, report)

    def ready(self) -> Iterator[tuple[Path, FileReport | UnknownNameError]]:
        """The results that are there, and all before them, and that were not asked for yet."""
        while self._shown < len(self._begun) and self._begun[self._shown].is_done:
            file = self._begun[self._shown]
            self._shown += 1
            yield file.path, file.result()

    def cut_short(self) -> Iterator[tuple[Path, FileReport | UnknownNameError]]:
        """What is left after an interrupt."""
        left = self._begun[self._shown :]
        if not left and self._shown < len(self._paths):
            left = [_File(self._paths[self._shown], time.monotonic())]
        for place, file in enumerate(left):
            has_results = file.is_done or (isinstance(file.content, FileWork) and file.content.finished > 0)
            if place == 0 or has_results:
                yield file.path, file.result()


class FileWork:
    """The check of a file, cut into items, and the reports on them as they come in."""

    def __init__(self, module: syntax.Module, options: Options, items: Sequence[Item]) -> None:
        self.items = tuple(items)
        self._module = module
        self._options = options
        self._reports: dict[int, VariantReport] = {}

    def finish(self, number: int, report: VariantReport) -> None:
        """The item of this number has been performed."""
        self._reports[number] = report

    @property
    def finished(self) -> int:
        return len(self._reports)

    def report(self) -> FileReport:
        """The report on the file.  What was not performed is undecided, as interrupted."""
        reports = [
            self._reports[number] if number in self._reports else unperformed(item, interrupted=True)
            for number, item in enumerate(self.items)
        ]
        reports = _not_vacuous_as_written(reports)
        declared = sum(isinstance(item, syntax.Variant) for item in self._module.items)
        whole = len(self._reports) >= max(1, declared) and not self._options.changes_model
        return FileReport(
            self._module.source.name,
            self._module.doc,
            tuple(reports),
            remarks=_remarks(reports) if whole else (),
            warnings=_warnings(reports),
        )


def work_on(module: syntax.Module, options: Options) -> FileWork | FileReport:
    """The items of a file, or the report on it where there is nothing to perform.  Raises UnknownNameError."""
    chosen = choose(module, options)
    errors = [choice.errors for choice in chosen]
    if all(errors) and len(set(errors)) == 1:
        return FileReport(module.source.name, module.doc, errors=errors[0])
    require_properties(chosen, options)
    require_faults(chosen, options)
    return FileWork(module, options, items_of(module, chosen, options))


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
