"""The cache: reports that were found before, each looked at again before it is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from checker.cache import entry as file
from checker.cache.decoding import decode_report
from checker.cache.encoding import encode_report
from checker.cache.entry import Entry
from checker.cache.evidence import complaint_about
from checker.cache.finished import is_finished, may_improve
from checker.cache.folder import Folder
from checker.cache.identity import Identity, identity
from checker.cache.key import key_of
from checker.cache.subject import Subject
from checker.options import Options, UnknownNameError
from checker.result import VariantReport
from checker.work.item import Item
from counterexamples.render.decoding import Node


class Cache:
    """The reports in a folder.  Whatever is wrong with the folder or with what is in it, a check goes on as if there
    was nothing; `notes` says what the user should know of that."""

    def __init__(
        self, path: Path, known: Identity | str | None = None, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """known: the identity of the tool, if not the running one's."""
        self._folder = Folder(path)
        self._identity = identity() if known is None else known
        self._now = now
        self.notes: list[str] = []
        if isinstance(self._identity, str):
            self._note(f"the cache is not used: the version of counterpoint is not known, because {self._identity}")

    def look_up(self, item: Item) -> VariantReport | None:
        """The report on an item, as a check of it would give it, `decided` apart; None where there is none that
        stands."""
        started = time.monotonic()
        key = self._key(item)
        if key is None:
            return None
        try:
            text = self._folder.read(key)
        except OSError as error:
            self._note(f"{self._folder.path} cannot be read as a cache: {error.strerror or error}")
            return None
        if text is None:
            return None
        try:
            report = self._read(text, key, item)
        except Exception:
            # Whatever it was, it is no report on the item.
            report = None
            self._folder.drop(key)
        return None if report is None else replace(report, seconds=time.monotonic() - started)

    def keep(self, item: Item, report: VariantReport) -> None:
        """Keeps the report on an item, if it is finished."""
        if report.decided is not None or not is_finished(report, item.options):
            return
        if may_improve(report) and item.options.total is not None:
            # What time it had depends on what came before it.
            return
        key = self._key(item)
        if key is None:
            return
        assert isinstance(self._identity, Identity)
        if not self._identity.is_still_true():
            self._note("the result is not kept: the files of counterpoint itself have changed meanwhile")
            return
        decided = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        seconds = _seconds(item.options) if may_improve(report) else None
        try:
            text = file.write(Entry(decided, seconds, encode_report(report, Subject(item))), key)
        except Exception:
            # A report of a shape that is not kept.  Nothing that goes wrong here is worth the verdicts.
            return
        try:
            self._folder.write(key, text)
        except OSError as error:
            self._note(f"results cannot be kept in {self._folder.path}: {error.strerror or error}")

    def _key(self, item: Item) -> str | None:
        if item.choice.checked is None or isinstance(self._identity, str):
            return None
        try:
            return key_of(item, self._identity)
        except UnknownNameError:
            # The check itself says it.
            return None

    def _read(self, text: bytes, key: str, item: Item) -> VariantReport | None:
        """None where more time may lead to a better report.  Raises an exception where the text is none on the item."""
        entry = file.read(text, key)
        if entry.seconds is not None and entry.seconds < _seconds(item.options):
            return None
        datetime.strptime(entry.decided, "%Y-%m-%dT%H:%M:%SZ")
        subject = Subject(item)
        report = decode_report(Node(entry.report), subject, entry.decided)
        if not is_finished(report, item.options):
            raise ValueError("the entry has verdicts that are never kept")
        wrong = complaint_about(report, subject)
        if wrong is not None:
            raise ValueError(wrong)
        return report

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _seconds(options: Options) -> float:
    """What time a check has for a variant, as far as it can be told before."""
    return options.timeout if options.timeout_property is None else min(options.timeout, options.timeout_property)


__all__ = ["Cache"]
