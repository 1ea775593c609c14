"""Where commands write, so that `checker.cli` alone touches the real streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from checker.terminal import harmless, wants_colour

if TYPE_CHECKING:
    from checker.bundle import Failure
    from checker.configuration import Configured
    from counterexamples.render.page import Page


class OutputError(Exception):
    """What was to be shown could not be written, as on a full disk."""


@dataclass(frozen=True)
class Console:
    """out, err: standard output and standard error; colour: what `--color` says; command: the command line; debug: show
    tracebacks of our own errors; configured: the options that came from a file, where there is one."""

    out: TextIO
    err: TextIO
    colour: str
    command: Sequence[str]
    debug: bool = False
    configured: Configured | None = None

    def show(self, text: str) -> None:
        """Writes to standard output; the text brings its own newlines.  What a terminal or a CI runner would act on is
        written as an escape, wherever it comes from."""
        self._write(harmless(text, self._coloured(self.out)))

    def _write(self, text: str) -> None:
        """Raises OutputError, and BrokenPipeError where the reader has gone."""
        try:
            self.out.write(text)
            self.out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"standard output cannot be written: {error.strerror or error}") from None

    def tell(self, text: str) -> None:
        """Writes a line to standard error, in the same way."""
        try:
            self.err.write(harmless(text, self._coloured(self.err)) + "\n")
            self.err.flush()
        except OSError:
            # Where to complain of that?  The exit code says what there is to say.
            pass

    def command_runner(self, text: str, error: bool) -> None:
        """Writes a line that a CI runner is to act on, to standard error or output; the text is escaped for it."""
        line = text[:1] + harmless(text[1:]) + "\n"
        if not error:
            self._write(line)
            return
        try:
            self.err.write(line)
            self.err.flush()
        except OSError as problem:
            raise OutputError(f"standard error cannot be written: {problem.strerror or problem}") from None

    def _coloured(self, stream: TextIO) -> bool:
        return wants_colour(stream, self.colour)

    def show_configuration(self) -> None:
        """A line about the options that came from a file, if any did."""
        if self.configured is not None and self.configured.keys:
            from counterexamples.render.page import Style

            page = self.page
            self.show(page.line([(page.clean(self.configured.told), Style.DIM)]) + "\n")

    @property
    def page(self) -> Page:
        """How to draw for standard output."""
        from checker.terminal import page_for

        return page_for(self.out, self.colour)

    @property
    def error_page(self) -> Page:
        from checker.terminal import page_for

        return page_for(self.err, self.colour)

    def confess(self, failure: Failure) -> None:
        """Tells of an error of our own, and writes its reproduction file into the current folder."""
        from checker.bundle import write

        self.tell(f"counterpoint: internal error: {failure.message}")
        try:
            path = write(failure, self.command, Path.cwd())
            self.tell(
                f"  This is a defect of counterpoint, not of the model. Please report it with this file: {path.name}"
            )
        except OSError as problem:
            self.tell(f"  This is a defect of counterpoint, not of the model. Its file could not be written: {problem}")
        if self.debug and failure.detail:
            self.tell(failure.detail)
