"""Items for the tests of executors, and what their performance is replaced by."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from checker.choosing import choose
from checker.engines.engine import Progress
from checker.exitcode import ExitCode
from checker.options import Options
from checker.planning.plan import Observer, Silence
from checker.reports.report_json import file_content
from checker.result import FileReport, VariantReport
from checker.verdict import Undecided
from checker.work import item as work_item
from checker.work.item import Item, items_of
from spec import syntax
from spec.load import load
from tests.command import COUNTER, ROOT

VARIANTS = "\nvariant a { }\nvariant b { }\nvariant c { }\n"


def items(folder: Path, text: str = COUNTER + VARIANTS, options: Options | None = None) -> list[Item]:
    """The items of a model of this text."""
    path = folder / "jobs.cpt"
    path.write_text(text)
    options = options or Options()
    module = load(path, folder)
    assert isinstance(module, syntax.Module)
    return items_of(module, choose(module, options), options)


def shipped(name: str, options: Options) -> list[Item]:
    module = load(ROOT / "models" / f"{name}.cpt", ROOT / "models")
    assert isinstance(module, syntax.Module)
    return items_of(module, choose(module, options), options)


def told(report: VariantReport) -> object:
    """All that is told of a report, but for its time."""
    content = file_content(FileReport("m", "", (report,)), Options(why=True))
    return _without_times(content)


def _without_times(content: object) -> object:
    match content:
        case dict():
            return {key: _without_times(value) for key, value in content.items() if key != "seconds"}
        case list():
            return [_without_times(each) for each in content]
        case _:
            return content


def quiet(number: int) -> Observer:
    return Silence()


def reasons(report: VariantReport) -> set[str]:
    """Why there is no verdict; fails where there is one."""
    found = set()
    for result in report.results:
        assert isinstance(result.verdict, Undecided)
        found.add(result.verdict.reason)
    return found


def code(report: VariantReport) -> ExitCode:
    return report.code(Options())


class Log:
    """What performances note, in whichever process: a line each."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "log"
        self._path.touch()

    def note(self, text: str) -> None:
        with open(self._path, "a") as file:
            file.write(f"{text} {os.getpid()}\n")

    def lines(self) -> list[tuple[str, int]]:
        return [(text, int(pid)) for text, pid in (line.rsplit(" ", 1) for line in self._path.read_text().splitlines())]

    def __len__(self) -> int:
        return len(self.lines())


class Heard:
    """An observer that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[Progress, Sequence[str]]] = []

    def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
        self.heard.append((progress, undecided))


perform = work_item.perform
