"""The list of errors and warnings that a check collects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from spec.diagnostic import Diagnostic, Note, Severity, visible
from spec.source import Span

MAX_ERRORS = 100
"""How many errors of a model are reported."""


class Problems:
    """Collects diagnostics; the same code at the same place is kept once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Span | None, str], Diagnostic] = {}
        self._muted: frozenset[str] = frozenset()

    def error(
        self, code: str, span: Span | None, message: str, *, fix: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        """Records an error."""
        self._add(Diagnostic(code, visible(message), span, notes, fix))

    def warning(
        self, code: str, span: Span | None, message: str, *, fix: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        """Records a warning."""
        self._add(Diagnostic(code, visible(message), span, notes, fix, Severity.WARNING))

    @contextmanager
    def muted(self, *codes: str) -> Iterator[None]:
        """Within the context diagnostics with these codes are not recorded."""
        before = self._muted
        self._muted = before | frozenset(codes)
        try:
            yield
        finally:
            self._muted = before

    def _add(self, diagnostic: Diagnostic) -> None:
        if diagnostic.code not in self._muted:
            text = diagnostic.message if diagnostic.span is None else ""
            self._found.setdefault((diagnostic.code, diagnostic.span, text), diagnostic)

    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors, by place in the source; the first so many, the last of which says so."""
        found = self._sorted(Severity.ERROR)
        if len(found) <= MAX_ERRORS:
            return found
        *others, last = found[:MAX_ERRORS]
        note = Note(f"these are the first {MAX_ERRORS} of {len(found):,} errors")
        return (*others, replace(last, notes=(*last.notes, note)))

    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, by place in the source."""
        return self._sorted(Severity.WARNING)

    def _sorted(self, severity: Severity) -> tuple[Diagnostic, ...]:
        def place(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
            span = diagnostic.span
            return (
                ("", -1, -1, diagnostic.code)
                if span is None
                else (span.source.name, span.start, span.end, diagnostic.code)
            )

        return tuple(sorted((d for d in self._found.values() if d.severity is severity), key=place))
