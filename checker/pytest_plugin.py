"""The pytest plugin: model files (`*.cpt`) are test files, and each verdict of each variant is a test.

pytest loads this module at its start wherever the package is installed, so it imports nothing of the checker before
there is a model to collect.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from checker.choosing import Chosen
    from checker.options import Options
    from checker.result import FileReport, Result, VariantReport
    from spec import syntax
    from spec.diagnostic import Diagnostic

_SUFFIX = ".cpt"
_OPTION = "--counterpoint-timeout"
_KEY = "counterpoint_timeout"
_NO_CONFIG = "--counterpoint-no-config"
_WIDTH = 100
_MODEL = "model"
"""The name of the one test of a model, or of a variant, that has errors."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("counterpoint", "models of protocols (*.cpt)")
    group.addoption(_NO_CONFIG, action="store_true", help="take no options from counterpoint.toml")
    group.addoption(_OPTION, type=_seconds, metavar="SECONDS", help="the time for each variant of a model")
    parser.addini(_KEY, f"the time for each variant of a model, in seconds; {_OPTION} comes first")


def pytest_configure(config: pytest.Config) -> None:
    """Raises UsageError for a time in the configuration that is none."""
    given = config.getini(_KEY)
    if given:
        try:
            _seconds(given)
        except (ValueError, argparse.ArgumentTypeError):
            raise pytest.UsageError(f"{_KEY}: {given!r} is not a number of seconds") from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != _SUFFIX:
        return None
    return ModelFile.from_parent(parent, path=file_path)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds")
    return value


class ModelFile(pytest.File):
    """A model: its tests, in a node for each variant; in a model without variants, the tests themselves."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        from checker import catalogue
        from checker.choosing import choose, named_in
        from checker.options import UnknownNameError

        if catalogue.is_for_import(self.path, self.config.rootpath):
            return
        here = Path.cwd()
        # The shorter name stands in what is told of the model.
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        name = catalogue.short_name(self.path, catalogue.library())
        module = catalogue.read(path, catalogue.library(), str(self.config.rootpath), _options(self.config).timeout)
        if isinstance(module, tuple):
            yield ModelErrors.of(self, name, None, module)
            return
        try:
            chosen = choose(module, _options(self.config))
        except UnknownNameError as error:
            # What the project's file names, this model does not have: that must not pass for a model in order.
            node: ModelErrors = ModelErrors.from_parent(self, name=_MODEL)
            node.text = error.message if error.hint is None else f"{error.message}\n  {error.hint}"
            yield node
            return
        errors = [choice.errors for choice in chosen]
        if all(errors) and len(set(errors)) == 1:
            yield ModelErrors.of(self, name, None, errors[0])
            return
        named = frozenset(named_in(chosen))
        for choice in chosen:
            check = VariantCheck(name, module, choice, named, _options(self.config))
            if choice.variant is None:
                yield from _items(self, check)
            else:
                yield Variant.of(self, check)


class Variant(pytest.Collector):
    """A variant of a model."""

    check: VariantCheck

    @classmethod
    def of(cls, parent: pytest.Collector, check: VariantCheck) -> Variant:
        node: Variant = cls.from_parent(parent, name=check.choice.variant)
        node.check = check
        return node

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return _items(self, self.check)


class VariantCheck:
    """One variant and its check, which is made when the first of its tests runs, and serves all of them."""

    def __init__(
        self, file: str, module: syntax.Module, choice: Chosen, named: frozenset[str], options: Options
    ) -> None:
        self.file = file
        self.module = module
        self.choice = choice
        self.options = options
        self._named = named
        self._report: VariantReport | None = None

    def results(self) -> list[tuple[str, int | None]]:
        """What there will be a verdict on, and on which line it is declared, counted from 0; None for what is in no
        line of this file."""
        from checker.choosing import results_of

        checked = self.choice.checked
        assert checked is not None, "a variant with errors has no results"
        spans = {each.name: each.span for each in checked.model.properties}
        spans |= {each.name: each.span for each in checked.model.scenarios}
        found = []
        for name in results_of(checked, self.options, self._named):
            span = spans.get(name)
            here = span is not None and span.source.name == self.module.source.name
            found.append((name, span.line - 1 if span is not None and here else None))
        return found

    def report(self) -> VariantReport:
        """Raises KeyboardInterrupt."""
        if self._report is None:
            from checker.planning.plan import Silence
            from checker.work.item import Item, perform

            with warnings.catch_warnings():
                # Engines are forked off; xdist has a thread that has no part in that.
                warnings.simplefilter("ignore", DeprecationWarning)
                report = perform(Item(self.module, self.choice, self.options, self._named), Silence())
            if report.interrupted:
                raise KeyboardInterrupt
            self._report = report
        return self._report


def _items(parent: pytest.Collector, check: VariantCheck) -> Iterator[pytest.Item]:
    if check.choice.checked is None:
        yield ModelErrors.of(parent, check.file, check.choice.variant, check.choice.errors)
        return
    for name, line in check.results():
        yield VerdictTest.of(parent, name, line, check)


class ModelErrors(pytest.Item):
    """Of a model, or a variant of it, that cannot be checked: fails with the reasons."""

    text: str

    @classmethod
    def of(
        cls, parent: pytest.Collector, file: str, variant: str | None, errors: tuple[Diagnostic, ...]
    ) -> ModelErrors:
        from checker.result import FileReport, VariantReport
        from checker.verdict import Scope

        if variant is None:
            report = FileReport(file, "", errors=errors)
        else:
            report = FileReport(file, "", (VariantReport(variant, "", None, Scope((), None), errors=errors),))
        node: ModelErrors = cls.from_parent(parent, name=_MODEL)
        node.text = _text(report, _options(parent.config))
        return node

    def runtest(self) -> None:
        raise NotAsExpected("the model has errors", self.text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> object:  # type: ignore[override]
        return _shown(self, excinfo) or super().repr_failure(excinfo)


class VerdictTest(pytest.Item):
    """One verdict of a variant: passes where `counterpoint check` would exit with 0 for it."""

    check: VariantCheck
    line: int | None

    @classmethod
    def of(cls, parent: pytest.Collector, name: str, line: int | None, check: VariantCheck) -> VerdictTest:
        node: VerdictTest = cls.from_parent(parent, name=name)
        node.check = check
        node.line = line
        if node.config.pluginmanager.hasplugin("xdist"):
            # With --dist loadgroup, one worker runs all tests of a variant, and so checks it once.
            group = f"{check.file} {check.choice.variant or ''}".strip()
            node.add_marker(pytest.mark.xdist_group(group))
        return node

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, self.line, ".".join(filter(None, (self.check.choice.variant, self.name)))

    def runtest(self) -> None:
        from checker.exitcode import ExitCode
        from checker.reports.evidence import describe
        from checker.verdict import title

        report, options = self.check.report(), self.check.options
        if report.failures:
            told = "\n".join(failure.message for failure in report.failures)
            raise NotAsExpected("internal error of counterpoint; no verdict of this variant counts", told)
        result = next((each for each in report.results if each.name == self.name), None)
        if result is None:
            raise NotAsExpected("no verdict", _why_none(report))
        for remark in report.remarks:
            if remark.subject == self.name:
                self.warn(pytest.PytestWarning(remark.message))
        if result.code(options) is not ExitCode.MET:
            told = f"{title(result.verdict)}, {describe(result.verdict)}"
            raise NotAsExpected(told, _text(_alone(self.check.file, report, result), options))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> object:  # type: ignore[override]
        return _shown(self, excinfo) or super().repr_failure(excinfo)


class NotAsExpected(Exception):
    """A test of a model fails.  told: why, on one line; text: what to show."""

    def __init__(self, told: str, text: str) -> None:
        super().__init__(f"{told}\n{text}")
        self.told = told
        self.text = text


class _Writer(Protocol):
    def line(self, s: str = "") -> None: ...


class _Place:
    """Where a failure is, as pytest's summary reads it."""

    def __init__(self, path: str, lineno: int, message: str) -> None:
        self.path = path
        self.lineno = lineno
        from checker.terminal import harmless

        self.message = harmless(message)


class _Failure:
    """A failure as pytest shows it: the text in the section of failures, the message in the summary."""

    def __init__(self, place: _Place, text: str) -> None:
        from checker.terminal import harmless

        self.reprcrash = place
        self._text = harmless(text)

    def __str__(self) -> str:
        return self._text

    def toterminal(self, writer: _Writer) -> None:
        for line in self._text.splitlines():
            writer.line(line)


def _shown(item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> _Failure | None:
    """What to show of a failure of ours; None for another exception."""
    error = excinfo.value
    if not isinstance(error, NotAsExpected):
        return None
    line = item.location[1]
    text = f"{error.told}\n\n{error.text}" if error.told not in error.text else error.text
    return _Failure(_Place(str(item.path), 1 if line is None else line + 1, error.told), text)


def _why_none(report: VariantReport) -> str:
    """Why a check ended before there was a verdict, as the properties say that were left without one."""
    from checker.verdict import Undecided

    reasons = [result.verdict.reason for result in report.results if isinstance(result.verdict, Undecided)]
    return reasons[0] if reasons else "the check ended before there was one"


def _alone(file: str, report: VariantReport, result: Result) -> FileReport:
    """The report on one result of a variant."""
    from checker.result import FileReport, PropertyResult, VariantReport

    properties = (result,) if isinstance(result, PropertyResult) else ()
    scenarios = () if isinstance(result, PropertyResult) else (result,)
    only = VariantReport(report.variant, report.doc, report.model, report.scope, properties, scenarios)
    return FileReport(file, "", (only,))


def _text(report: FileReport, options: Options) -> str:
    """What `counterpoint check` shows of it, without colours."""
    from checker.reports.report import View, render
    from counterexamples.render.page import Page

    return render(report, options, View(focused=True), Page(width=_WIDTH)).rstrip("\n")


def _options(config: pytest.Config) -> Options:
    """Those of the project's file, with the time that pytest was given.  Raises pytest.UsageError."""
    known = config.stash.get(_KNOWN, None)
    if known is None:
        known = config.stash[_KNOWN] = _found_options(config)
    return known


_KNOWN: pytest.StashKey[Options] = pytest.StashKey()


def _found_options(config: pytest.Config) -> Options:
    from checker import configuration
    from checker.commands.check import options_of
    from checker.options import Options, UsageError

    try:
        found = None if config.getoption(_NO_CONFIG) else configuration.for_pytest(config.rootpath)
        options = Options() if found is None else options_of(found)
    except UsageError as error:
        told = "" if error.hint is None else f"\n  {error.hint}"
        raise pytest.UsageError(f"{'' if error.code is None else f'{error.code}: '}{error.message}{told}") from None
    given = config.getoption(_OPTION)
    if given is None and config.getini(_KEY):
        given = _seconds(config.getini(_KEY))
    return options if given is None else replace(options, timeout=given)
