"""Who performs items: the protocol, and the executor that does it here, one item after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Protocol

from checker.planning.plan import Observer
from checker.result import VariantReport
from checker.work.item import Item, perform, unperformed

Watch = Callable[[int], Observer]
"""Who watches the item of a number; asked once, when the item begins."""


class Memory(Protocol):
    """Reports that were found before (`checker.cache`)."""

    def look_up(self, item: Item) -> VariantReport | None:
        """The report on an item, if it is known."""
        ...

    def keep(self, item: Item, report: VariantReport) -> None:
        """A report that may be worth keeping."""
        ...


Taken = tuple[int, Item, VariantReport | None]
"""An item with its number, and the report on it if that is known."""


def take(waiting: Iterator[tuple[int, Item]], memory: Memory | None) -> Taken | None:
    """The next item; None when there is none."""
    taken = next(waiting, None)
    if taken is None:
        return None
    number, item = taken
    return number, item, None if memory is None else memory.look_up(item)


class Executor(Protocol):
    """Performs items, one list at a time.  What its memory knows, where it has one, is not performed again.

    Whatever becomes of an item that was begun, there is one report on it: an item whose process dies, or whose memory
    runs out, is undecided; one that an error of our own ended has a failure."""

    @property
    def interrupted(self) -> bool:
        """Whether the run has come to an early end; items that had not begun have no report then."""
        ...

    def run(self, items: Iterable[Item], watch: Watch) -> Iterator[tuple[int, VariantReport]]:
        """The number of each item (from 0, in the order of `items`) and its report, as they finish.

        Takes the next of `items` when it has room for it, so they may be made on the way; what that raises, but for
        KeyboardInterrupt, ends the run and is raised here.  An interrupt (SIGINT or SIGTERM, or a KeyboardInterrupt
        that an item or `items` lets through) ends it early: what is at work is told to stop, and gives a report with
        what it has decided.  Closing the iterator stops everything at once."""
        ...

    def interrupt(self) -> None:
        """Ends the run early, as an interrupt does."""
        ...


class Here:
    """Performs each item in this process.  (See `Executor`.)"""

    def __init__(self, memory: Memory | None = None) -> None:
        self.interrupted = False
        self._memory = memory

    def run(self, items: Iterable[Item], watch: Watch) -> Iterator[tuple[int, VariantReport]]:
        waiting = iter(items)
        number = 0
        while not self.interrupted:
            try:
                item = next(waiting, None)
            except KeyboardInterrupt:
                self.interrupted = True
                return
            if item is None:
                return
            report = self._report(item, watch(number))
            self.interrupted = self.interrupted or report.interrupted
            yield number, report
            number += 1

    def _report(self, item: Item, observer: Observer) -> VariantReport:
        if self._memory is None:
            return perform(item, observer)
        try:
            known = self._memory.look_up(item)
        except KeyboardInterrupt:
            return unperformed(item, interrupted=True)
        if known is not None:
            return known
        report = perform(item, observer)
        try:
            self._memory.keep(item, report)
        except KeyboardInterrupt:
            return replace(report, interrupted=True)
        return report

    def interrupt(self) -> None:
        self.interrupted = True


class OneOrMany:
    """Performs a single item in this process, which is quickest, and several with another executor."""

    def __init__(self, here: Here, many: Executor) -> None:
        self._many = many
        self._chosen: Executor = here

    @property
    def interrupted(self) -> bool:
        return self._chosen.interrupted

    def run(self, items: Iterable[Item], watch: Watch) -> Iterator[tuple[int, VariantReport]]:
        waiting = iter(items)
        try:
            first = list(islice(waiting, 2))
        except KeyboardInterrupt:
            self.interrupt()
            return
        if len(first) > 1:
            self._chosen = self._many
        yield from self._chosen.run(chain(first, waiting), watch)

    def interrupt(self) -> None:
        self._chosen.interrupt()


__all__ = ["Executor", "Here", "OneOrMany", "Watch"]
