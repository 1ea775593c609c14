"""Draws a diagnostic for a terminal: the message, the place, the source lines with carets, notes and the fix.

error[E105]: found `b`, expected `,` or `)`
  --> models/a.cpt:3:9
   |
 3 | x := f(a b)
   |       -  ^
   |       |
   |       this `(` is still open
   |
   = help: ...
"""

from __future__ import annotations

from dataclasses import dataclass
from unicodedata import category, combining, east_asian_width

from spec.diagnostic import Diagnostic, Severity, visible
from spec.source import Source, Span

TAB = 4
"""How many columns a tab takes at most."""

WIDTH = 110
"""How many columns of a source line are shown."""

_NEAR = 1_000
"""How far from the focus a line is looked at; more than WIDTH, since characters may have no width."""

_BOLD, _RED, _YELLOW, _BLUE, _GREEN, _PLAIN = (
    "\x1b[1m",
    "\x1b[1;31m",
    "\x1b[1;33m",
    "\x1b[1;34m",
    "\x1b[1;32m",
    "\x1b[0m",
)


@dataclass(frozen=True)
class _Mark:
    """A stretch of one line to underline.  label: "" for none.  main: carets, otherwise dashes."""

    start: int
    end: int
    label: str
    main: bool


def draw(diagnostic: Diagnostic, colour: bool = False) -> str:
    """The diagnostic as lines of text, without a newline at the end.  Only with `colour` has it ANSI colours; control
    characters of the source never get through."""
    return _Drawing(diagnostic, colour).text()


class _Drawing:
    def __init__(self, diagnostic: Diagnostic, colour: bool) -> None:
        self._diagnostic = diagnostic
        self._colour = colour
        self._main_colour = _RED if diagnostic.severity is Severity.ERROR else _YELLOW

    def text(self) -> str:
        diagnostic = self._diagnostic
        label = self._paint(f"{diagnostic.severity.value}[{diagnostic.code}]", self._main_colour)
        lines = [f"{label}{self._paint(': ' + visible(diagnostic.message), _BOLD)}"]
        spans = [] if diagnostic.span is None else [diagnostic.span]
        spans += [note.span for note in diagnostic.notes if note.span is not None]
        margin = max((len(str(_last_line(span))) for span in spans), default=1)
        bar = self._paint(" " * margin + " |", _BLUE)
        if diagnostic.span is not None:
            lines += self._sources(diagnostic.span, margin, bar)
        remarks = [("note", note.message) for note in diagnostic.notes if note.span is None]
        if diagnostic.fix is not None:
            remarks.append(("help", diagnostic.fix))
        if remarks and diagnostic.span is not None:
            lines.append(bar)
        for kind, remark in remarks:
            lead = self._paint(" " * margin + " = ", _BLUE) if diagnostic.span is not None else "  "
            lines.append(f"{lead}{self._paint(kind + ':', _GREEN if kind == 'help' else _BOLD)} {visible(remark)}")
        return "\n".join(lines)

    def _sources(self, main: Span, margin: int, bar: str) -> list[str]:
        """The marked lines of the main source, then those of notes in other sources."""
        groups: dict[str, tuple[Source, list[tuple[Span, str, bool]]]] = {}
        groups[main.source.name] = (main.source, [(main, "", True)])
        for note in self._diagnostic.notes:
            if note.span is not None:
                source = note.span.source
                groups.setdefault(source.name, (source, []))[1].append((note.span, note.message, False))
        lines: list[str] = []
        for name, (source, marked) in groups.items():
            place = marked[0][0]
            arrow = "-->" if not lines else ":::"
            lead = self._paint(" " * margin + arrow, _BLUE)
            lines += [f"{lead} {visible(name)}:{place.line}:{place.column}", bar]
            lines += self._lines(source, marked, margin, bar)
        return lines

    def _lines(self, source: Source, marked: list[tuple[Span, str, bool]], margin: int, bar: str) -> list[str]:
        by_line: dict[int, list[_Mark]] = {}
        for span, label, main in marked:
            for number, mark in _marks(span, label, main):
                by_line.setdefault(number, []).append(mark)
        lines: list[str] = []
        shown = 0
        for number in sorted(by_line):
            if shown and number > shown + 1:
                gap = source.line(number - 1)
                lines.append(
                    self._line(number - 1, _Shown(gap, 0), margin) if number == shown + 2 else self._paint("...", _BLUE)
                )
            marks = by_line[number]
            view = _Shown(source.line(number), max((m.start for m in marks if m.main), default=marks[0].start))
            lines.append(self._line(number, view, margin))
            lines += [f"{bar} {row}".rstrip() for row in self._underline(view, marks)]
            shown = number
        return lines

    def _line(self, number: int, view: _Shown, margin: int) -> str:
        return f"{self._paint(f'{number:>{margin}} |', _BLUE)} {view.text}".rstrip()

    def _underline(self, view: _Shown, marks: list[_Mark]) -> list[str]:
        """The row of carets below a line, then a row for each label, the rightmost first (on the row of carets itself
        where there is room)."""
        cells: dict[int, tuple[str, bool]] = {}
        placed: list[tuple[int, int, _Mark]] = []
        for mark in sorted(marks, key=lambda m: m.main):
            start = view.column(mark.start)
            end = max(start + 1, view.column(mark.end))
            placed.append((start, end, mark))
            cells.update((column, ("^" if mark.main else "-", mark.main)) for column in range(start, end))
        row = "".join(
            self._paint(cells[c][0], self._main_colour if cells[c][1] else _BLUE) if c in cells else " "
            for c in range(max(cells) + 1)
        )
        labelled = sorted((p for p in placed if p[2].label), key=lambda p: p[0], reverse=True)
        rows = [row]
        if labelled and labelled[0][1] > max(cells):
            rows[0] += " " + self._paint(visible(labelled.pop(0)[2].label), _BLUE)
        for start, _, mark in labelled:
            rows.append(" " * start + self._paint(visible(mark.label), _BLUE))
        return rows

    def _paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self._colour else text


class _Shown:
    """What is shown of a source line: tabs as spaces, control characters as escapes, cut to WIDTH around `focus`."""

    def __init__(self, line: str, focus: int) -> None:
        # Of a line of a million characters only those near the focus are looked at.
        self._base = max(0, focus - _NEAR)
        beyond = len(line) > focus + _NEAR
        line, focus = line[self._base : focus + _NEAR], focus - self._base
        columns = [0]
        pieces: list[str] = []
        for character in line:
            piece = " " * (TAB - columns[-1] % TAB) if character == "\t" else visible(character)
            pieces.append(piece)
            columns.append(columns[-1] + _width(piece))
        first = 0
        if columns[-1] > WIDTH:
            while columns[min(focus, len(line))] - columns[first] > WIDTH - 20:
                first += 1
        last = len(line)
        while columns[last] - columns[first] > WIDTH:
            last -= 1
        lead = ".. " if first or self._base else ""
        trail = " .." if last < len(line) or beyond else ""
        self._columns, self._first, self._last, self._lead = columns, first, last, len(lead)
        self.text = lead + "".join(pieces[first:last]) + trail

    def column(self, offset: int) -> int:
        """The column (from 0) in which the character at an offset of the line is shown."""
        inside = min(max(offset - self._base, self._first), self._last)
        return self._columns[inside] - self._columns[self._first] + self._lead


def _width(text: str) -> int:
    """How many columns a terminal uses."""
    return sum(0 if combining(c) or category(c) == "Cf" else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _last_line(span: Span) -> int:
    return span.source.position(max(span.start, span.end - 1))[0]


def _marks(span: Span, label: str, main: bool) -> list[tuple[int, _Mark]]:
    """For each line to show of a span, what to underline: all of its only line, or of its first and last line."""
    source = span.source
    first, start = source.position(span.start)
    last, end = source.position(max(span.start, span.end - 1))
    if first == last:
        return [(first, _Mark(start - 1, start - 1 + span.end - span.start, label, main))]
    head, tail = source.line(first), source.line(last)
    indent = len(tail) - len(tail.lstrip())
    return [
        (first, _Mark(start - 1, max(start, len(head.rstrip())), "", main)),
        (last, _Mark(min(indent, end - 1), end, label, main)),
    ]
