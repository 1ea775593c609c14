"""The drawings of diagnostics, compared with drawings made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.diagnostic import Diagnostic, Note, Severity, visible
from spec.snippet import WIDTH, draw
from spec.source import Source, Span


def at(source: Source, text: str, after: int = 0) -> Span:
    """The place of a text."""
    start = source.text.index(text, after)
    return Span(source, start, start + len(text))


def lines(text: str) -> str:
    return text.strip("\n")


MODEL = Source("models/a.cpt", "store s {\n  durable x: bool\n}\n\n\ncover c: s.y\n")


def test_message_place_and_fix() -> None:
    diagnostic = Diagnostic("E201", "`s` has no `y`", at(MODEL, "y", 30), fix="did you mean `x`?")
    assert draw(diagnostic) == lines(
        """
error[E201]: `s` has no `y`
 --> models/a.cpt:6:12
  |
6 | cover c: s.y
  |            ^
  |
  = help: did you mean `x`?
"""
    )


def test_no_place() -> None:
    diagnostic = Diagnostic("E001", "`x.cpt` does not exist", None, (Note("it was there"),), "did you mean `y.cpt`?")
    assert draw(diagnostic) == lines(
        """
error[E001]: `x.cpt` does not exist
  note: it was there
  help: did you mean `y.cpt`?
"""
    )


def test_notes_on_other_lines_and_without_place() -> None:
    notes = (Note("`s` is declared here", at(MODEL, "s {")), Note("names are case sensitive"))
    diagnostic = Diagnostic("W201", "odd", at(MODEL, "s.y"), notes, severity=Severity.WARNING)
    assert draw(diagnostic) == lines(
        """
warning[W201]: odd
 --> models/a.cpt:6:10
  |
1 | store s {
  |       --- `s` is declared here
...
6 | cover c: s.y
  |          ^^^
  |
  = note: names are case sensitive
"""
    )


def test_notes_on_the_same_line() -> None:
    source = Source("m", "x := f(a b)\n")
    notes = (Note("this `(` is still open", at(source, "(")), Note("and this", at(source, "x")))
    assert draw(Diagnostic("E105", "found `b`", at(source, "b"), notes)) == lines(
        """
error[E105]: found `b`
 --> m:1:10
  |
1 | x := f(a b)
  | -     -  ^
  |       this `(` is still open
  | and this
"""
    )


def test_note_in_another_file() -> None:
    other = Source("lib/b.cpt", "\n" * 99 + "ghost g: bool")
    diagnostic = Diagnostic("E202", "`g` is declared twice", at(MODEL, "c"), (Note("also here", at(other, "g:")),))
    assert draw(diagnostic) == lines(
        """
error[E202]: `g` is declared twice
   --> models/a.cpt:6:1
    |
  6 | cover c: s.y
    | ^
   ::: lib/b.cpt:100:7
    |
100 | ghost g: bool
    |       -- also here
"""
    )


def test_a_span_of_several_lines_shows_its_first_and_last() -> None:
    source = Source("m", "process P {\n  loop t {\n    a := b\n    c := d\n  }\n}\n")
    span = Span(source, source.text.index("loop"), source.text.index("  }\n") + 3)
    assert draw(Diagnostic("E300", "why", span)) == lines(
        """
error[E300]: why
 --> m:2:3
  |
2 |   loop t {
  |   ^^^^^^^^
...
5 |   }
  |   ^
"""
    )


def test_two_lines_with_one_between_are_shown_together() -> None:
    source = Source("m", "a\nb\nc\n")
    diagnostic = Diagnostic("E300", "why", at(source, "c"), (Note("n", at(source, "a")),))
    assert draw(diagnostic).split("\n")[3:] == ["1 | a", "  | - n", "2 | b", "3 | c", "  | ^"]


def test_the_end_of_a_line_and_of_a_file() -> None:
    source = Source("m", "ab\ncd")
    for offset, line, column in ((2, 1, 3), (5, 2, 3)):
        drawn = draw(Diagnostic("E105", "why", Span(source, offset, offset))).split("\n")
        assert drawn[1] == f" --> m:{line}:{column}"
        assert drawn[4] == "  |   ^"


def test_an_empty_file() -> None:
    drawn = draw(Diagnostic("E007", "nothing", Span(Source("m", ""), 0, 0)))
    assert drawn.split("\n") == ["error[E007]: nothing", " --> m:1:1", "  |", "1 |", "  | ^"]


def test_tabs_and_wide_characters() -> None:
    source = Source("m", '\tx\t:= "漢字" y')
    drawn = draw(Diagnostic("E105", "why", at(source, "y"))).split("\n")
    assert drawn[3] == '1 |     x   := "漢字" y'
    # 4 + 1 + 3 columns to `:=`, 3 more to the quote, then 1 + 2 * 2 + 1 and a space
    assert drawn[4] == "  | " + " " * (8 + 3 + 6 + 1) + "^"


@pytest.mark.parametrize("position", [0, 50, 104, 105, 250, 499])
def test_wide_lines_are_cut_around_the_place(position: int) -> None:
    text = "." * position + "X" + "." * (499 - position)
    drawn = draw(Diagnostic("E105", "why", at(Source("m", text), "X"))).split("\n")
    shown, carets = drawn[3][4:], drawn[4][4:]
    assert len(shown) <= WIDTH + 6
    assert shown[carets.index("^")] == "X"
    assert carets.strip() == "^"


def test_control_characters_do_not_get_through() -> None:
    source = Source("a\x1b[2Jb", "x \x1b]0;title\x07 \u202e y\x9b")
    notes = (Note("see \x1b[1m", at(source, "x")), Note("\x07"))
    drawn = draw(Diagnostic("E101", "\x1b[31mred\r\n", at(source, "y"), notes, "\x1b[0m"))
    assert all(c == "\n" or c.isprintable() for c in drawn)
    assert "\\x1b[31mred\\r\\n" in drawn
    assert "x \\x1b]0;title\\x07 \\u202e y\\x9b" in drawn


def test_colours() -> None:
    diagnostic = Diagnostic("E201", "why", at(MODEL, "y", 30), (Note("here", at(MODEL, "s {")),), "fix")
    coloured, plain = draw(diagnostic, colour=True), draw(diagnostic)
    assert "\x1b[1;31merror[E201]\x1b[0m" in coloured
    assert "\x1b" not in plain
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;32m", "\x1b[1;34m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain


def test_visible() -> None:
    assert visible("a b ü 漢") == "a b ü 漢"
    assert visible("a\tb\n\x00\u2028\u200b") == "a\\tb\\n\\x00\\u2028\\u200b"


@given(st.text(st.sampled_from("ab \t\n\x1b漢\u0301\u202e"), max_size=300), st.data())
def test_any_span_can_be_drawn(text: str, data: st.DataObject) -> None:
    source = Source("m", text)

    def span() -> Span:
        start = data.draw(st.integers(0, len(text)))
        return Span(source, start, data.draw(st.integers(start, len(text))))

    drawn = draw(Diagnostic("E105", "why", span(), (Note("n", span()), Note("o", span()))))
    assert all(c == "\n" or c.isprintable() for c in drawn)
    assert "^" in drawn
    assert not any(line != line.rstrip() for line in drawn.split("\n"))
