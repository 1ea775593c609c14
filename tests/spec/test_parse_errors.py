"""Syntax errors: where they are, what they say, how many there are; and limits of size."""

from __future__ import annotations

import time
from dataclasses import fields, is_dataclass

import pytest

from spec.diagnostic import Diagnostic
from spec.layout import lay_out
from spec.parse import MAX_ERRORS, parse
from spec.source import Source, Span
from spec.tokens import LATER_WORDS, tokenize
from tests.spec.trees import file_of, outline


def errors_of(text: str) -> tuple[Diagnostic, ...]:
    result = parse(Source("model.cpt", text))
    assert isinstance(result, tuple), "no error found"
    assert result
    return result


# ------------------------------------------------------------------------------------------------- errors

THREAD = "process P {\n  loop t {\n    %s\n  }\n}\n"


@pytest.mark.parametrize(
    ("statement", "code", "column", "words"),
    [
        ("x = 3", "E110", 7, "write `:=` to assign"),
        ("let x := 3", "E110", 11, "write `=`"),
        ("if x = 3 { }", "E110", 10, "write `==`"),
        ("x += 1", "E110", 7, "x := x + .."),
        ("if x == 3 y := 1", "E105", 15, "expected `{` or an operator"),
        ("x := 3 y := 4", "E105", 12, "write `;`"),
        ("q.push(x y)", "E105", 14, "expected `)`, `,` or an operator"),
        ("q.push(x", "E107", 13, "this `(` is still open"),
        ("x := {a, b", "E107", 15, "this `{` is still open"),
        ("x := a)", "E108", 11, "has no `(`"),
        ("await", "E105", 10, "found the end of the line, expected an expression"),
        ("x := m[]", "E105", 12, "expected an expression"),
        ("let x: = 3", "E105", 12, "expected a type"),
        ("let if = 3", "E109", 9, "`if` is a keyword"),
        ("elif c { }", "E105", 10, "write `else if`"),
        ("if a == b == c { }", "E105", 15, "do not chain"),
        ("x := forall w in W. e", "E105", 19, "write `x: T`"),
        ("x := Task {}", "E105", 15, "right behind its name"),
        ("x := a is not none", "E105", 15, "write `is some`"),
        ("x := a not in b", "E105", 12, "not x in s"),
        ("retun x", "E105", 11, "did you mean `return`?"),
        ("call foo(x)", "E105", 13, "call P.thread(..)"),
        ("try { }", "E105", 12, "expected `catch`"),
        ("try { } except { }", "E105", 13, "write `catch`"),
        ("either { }", "E105", 15, "expected `or`"),
        ("transaction { }", "E105", 17, "expected a name"),
        ("step foo { }", "E105", 10, "a text in quotes"),
        ("update x := 3", "E105", 14, "expected `where`"),
        ("a.b.c", "E111", 5, "does nothing as a statement"),
        ("f(x)", "E111", 5, "call P.f(..)"),
        ("f(x) := 3", "E112", 5, "nothing can be assigned to `f(x)`"),
        ("(a, 3) := b", "E112", 9, "nothing can be assigned to `3`"),
        ("invariant a: b", "E114", 5, "is a `}` missing"),
        ("durable a: b", "E114", 5, "among statements"),
        ("x := !a", "E101", 10, "write `not`"),
        ("x := a && b", "E101", 12, "write `and`"),
        ("x := a ~ b", "E101", 12, "`~` means nothing"),
        ('x := "abc', "E103", 10, "not closed"),
        ('fail "a\\n"', "E103", 12, "backslash"),
        ("x := 3abc", "E102", 10, "neither a number nor a name"),
        ("x := naïve", "E102", 10, "not ASCII"),
        ("x := 1234567890123456789", "E104", 10, "19 digits"),
        ("x := 1.5", "E105", 12, "numbers are whole"),
        ("x := 'a'", "E105", 10, "a text stands between"),
        ("wait 5", "E115", 5, "`wait` is not part of this version"),
        ("wait(5)", "E115", 5, "`wait` is not part of this version"),
        ("x := a\u00a0+ b", "E101", 11, "ordinary space"),
        ("x := a \u202e b", "E101", 12, "U+202E"),
    ],
)
def test_errors_in_statements(statement: str, code: str, column: int, words: str) -> None:
    (error,) = errors_of(THREAD % statement)
    assert error.code == code
    assert error.span is not None
    assert (error.span.line, error.span.column) == (3, column)
    assert words in " ".join([error.message, *(note.message for note in error.notes), error.fix or ""])


@pytest.mark.parametrize(
    ("text", "code", "column", "words"),
    [
        ("invarient x: true", "E105", 1, "did you mean `invariant`?"),
        ("invariant true", "E105", 11, "invariant name: .."),
        ("invariant x: (a\ninvariant y: b)", "E107", 16, "this `(` is still open"),
        ("store s { x: bool }", "E105", 11, "durable x .."),
        ("store s { queue q: bool }", "E105", 11, "durable queue .."),
        ("enum E { A B }", "E105", 12, "write `,`"),
        ("def f: bool = true", "E105", 6, "write `()`"),
        ("def f(x: fresh W): bool = true", "E113", 7, "fresh"),
        ("let x = 3", "E114", 1, "statements stand inside"),
        ("on a { }", "E114", 1, "threads stand inside"),
        ("durable a: bool", "E114", 1, "variables stand inside"),
        ("process P { invariant a: b }", "E114", 13, "declarations stand outside"),
        ("process P { x := 3 }", "E105", 13, "a variable or a thread"),
        ("faults { partition A - B }", "E105", 22, "write `--`"),
        ("faults { crash A B }", "E105", 18, "expected `,`"),
        ("expect v solves p", "E105", 10, "`refutes`"),
        ("expect v", "E105", 9, "found the end of the file"),
        ("type T = 1..", "E105", 13, "a number"),
        ("const N: int = 3 # why", "E101", 18, "write `//`"),
        ("}", "E108", 1, "has no `{`"),
        ("scenario s { P; crash }", "E105", 15, "expected `.`"),
    ],
)
def test_errors_in_declarations(text: str, code: str, column: int, words: str) -> None:
    error = errors_of(text)[0]
    assert error.code == code
    assert error.span is not None
    assert (error.span.line, error.span.column) == (1, column)
    assert words in " ".join([error.message, *(note.message for note in error.notes), error.fix or ""])


@pytest.mark.parametrize(
    "text",
    [
        "param x: real",
        "repair x",
        "priority x",
        "replica r of s",
        "isolation snapshot",
        "store s { timer t: K }",
        "store s { lossy x: K }",
        "store s { durable queue q: K priority }",
        "store s { durable queue q: K delay }",
        "faults { delay A -- B }",
        "faults { pause A }",
        THREAD % "wait d",
        "store s { durable lock l: K lease 5 }",
    ],
)
def test_words_of_later_versions(text: str) -> None:
    (error,) = errors_of(text)
    assert error.code == "E115"
    assert "not part of this version of the language" in error.message


def test_all_words_of_later_versions_are_known() -> None:
    for word in LATER_WORDS:
        assert errors_of(f"{word} x")[0].code == "E115"


def test_every_error_of_a_file_is_found() -> None:
    text = """store s { x: bool; durable y bool }
process P {
  on a { let := 3; b := c; d = 3
    e := f
    if g { h = 3 }
    i := (
  }
  loop { }
  task t { ok := 1 }
}
const N = 3
invariant ok: true
invariant k: a b
"""
    places = [(e.span.line, e.span.column) for e in errors_of(text) if e.span]
    assert places == [(1, 11), (1, 30), (3, 14), (3, 30), (5, 14), (6, 11), (8, 8), (11, 9), (13, 16)]


WHOLE = outline(
    """{
    let (w, a) = redis.tasks.take()
    if a { b := c } else if d {
      e := f
    } else { g := h }
    try { i := j }
    catch refused { k := l } catch { return }
    either { m := n } or {
      while o { p := q }
    }
    transaction postgres { task[w][0] := Task{} }
  }"""
)


def test_a_brace_too_few_or_too_many_is_one_error() -> None:
    """Leaves each brace of a block out, and doubles it."""
    tokens = lay_out(tokenize(Source("model.cpt", WHOLE))[0])
    assert file_of(WHOLE)
    braces = [token for token in tokens if token.text in ("{", "}") and token.brace == "BLOCK_BRACE"]
    assert len(braces) > 100
    left_out = [errors_of(WHOLE[: brace.span.start] + " " + WHOLE[brace.span.end :]) for brace in braces]
    assert {errors[0].code for errors in left_out} == {"E105", "E106"}
    assert sum(len(errors) == 1 for errors in left_out) > 0.95 * len(braces)
    assert max(map(len, left_out)) <= 3
    doubled = [errors_of(WHOLE[: brace.span.end] + WHOLE[brace.span.start :]) for brace in braces]
    assert max(map(len, doubled)) <= 3


def test_many_errors_are_cut_short() -> None:
    errors = errors_of("const x\n" * 1000)
    assert len(errors) == MAX_ERRORS == 20
    assert "there may be more" in errors[-1].notes[-1].message


@pytest.mark.parametrize(
    ("text", "opening", "notice"),
    [
        ("process P {\n  loop t {\n    a := b\n  }\n", (1, 11), (4, 4)),
        ("process P {\n  loop t {\n    a := b\n}\n", (2, 10), (4, 2)),
        ("process P {\n  loop t {\n    while a {\n  }\n}\ninvariant x: a\n", (3, 13), (6, 1)),
        ("store s {\n  durable x: bool\ninvariant x: a\n", (1, 9), (3, 1)),
        ("store s {", (1, 9), (1, 10)),
    ],
)
def test_blocks_without_end(text: str, opening: tuple[int, int], notice: tuple[int, int]) -> None:
    (error,) = errors_of(text)
    assert error.code == "E106"
    assert error.span is not None
    assert (error.span.line, error.span.column) == opening
    at = error.notes[0].span
    assert at is not None
    assert (at.line, at.column) == notice


def test_after_a_block_without_end_the_next_declarations_are_read() -> None:
    codes = [
        e.code for e in errors_of("process P {\n  loop t {\n    a := b\n  }\nconst N = 3\ncover x: a\nenum E { A B }\n")
    ]
    assert codes == ["E106", "E105", "E105"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        (" \t\n\n", "empty"),
        ("// nothing\n", "comments only"),
        ("/// nothing\n", "comments only"),
        (";;", "comments only"),
    ],
)
def test_nothing_declared(text: str, what: str) -> None:
    (error,) = errors_of(text)
    assert error.code == "E007"
    assert what in error.message


# ------------------------------------------------------------------------------------------------- size


@pytest.mark.parametrize(
    "text",
    [
        "invariant p: " + "(" * 10_000 + "a" + ")" * 10_000,
        "invariant p: " + "(" * 10_000,
        "invariant p: " + "m[" * 10_000 + "a" + "]" * 10_000,
        "invariant p: " + "f(" * 10_000,
        "invariant p: " + "{" * 10_000,
        "invariant p: " + "not " * 10_000 + "a",
        "invariant p: " + "- " * 10_000 + "a",
        "invariant p: a" + " + a" * 10_000,
        "invariant p: a" + " => a" * 10_000,
        "invariant p: a" + "[a]" * 10_000,
        "invariant p: a" + ".a" * 10_000,
        "invariant p: a" + "'" * 10_000,
        "invariant p: " + "if a then b else " * 10_000 + "c",
        "invariant p: " + "forall x: T. " * 10_000 + "c",
        "invariant p: " + "(a + b) * " * 10_000 + "c",
        "ghost g: A" + " -> A" * 10_000,
        "ghost g: A" + "?" * 10_000,
        "ghost g: " + "set of " * 10_000 + "A",
        THREAD % ("while a { " * 10_000 + "}" * 10_000),
        THREAD % ("if a { } else " * 10_000 + "{ }"),
        THREAD % ("while a {\n" * 10_000),
    ],
)
def test_deep_nesting_is_an_error_of_its_own(text: str) -> None:
    (error,) = errors_of(text)
    assert error.code == "E120"


def depth(node: object) -> int:
    """How deep a tree is, without recursion."""
    deepest, stack = 0, [(node, 1)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        if is_dataclass(node) and not isinstance(node, Span | Source):
            stack += [(getattr(node, part.name), level + 1) for part in fields(node)]
        elif isinstance(node, tuple):
            stack += [(part, level) for part in node]
    return deepest


@pytest.mark.parametrize(
    "unit",
    [
        "(a + %s)",
        "not %s",
        "m[%s]",
        "if %s then b else c",
        "if a then %s else c",
        "if a then b else %s",
        "{a, %s}",
        "-%s",
        "forall x: T. %s",
        "all x: T where %s",
        "count x: T. %s",
        "%s'",
        "%s.f",
        "%s + b",
        "b => %s",
        "R{f: %s}",
        "f(a, %s)",
        "a and\n%s",
        "if a\n then b\n else %s",
        "x.f(%s).g",
        "(a, %s)",
        "%s is some",
        "a == (%s)",
        "if (%s)\nthen a\nelse b",
    ],
)
def test_no_tree_is_deeper_than_the_limit(unit: str) -> None:
    """Grows an expression until it is refused; the last one accepted must be shallow enough for recursive phases."""
    text, deepest = "a", 0
    for _ in range(400):
        result = parse(Source("m", f"invariant p: {text}"))
        if isinstance(result, tuple):
            assert result[0].code in ("E120", "E105")
            break
        deepest = max(deepest, depth(result))
        text = unit % text
    else:
        pytest.fail("never refused")
    assert deepest < 320  # a level of nesting is at most two nodes


def test_a_large_model_is_read_in_seconds() -> None:
    parse(Source("warm", "cover c: true"))
    thread = THREAD % "\n    ".join(["postgres.task[w][a].status := if x == y then DONE else RUNNING"] * 96)
    text = thread * 100
    begin = time.perf_counter()
    assert len(file_of(text).items) == 100
    assert time.perf_counter() - begin < 30  # a few seconds on an idle machine


def test_odd_layout_takes_no_quadratic_time() -> None:
    begin = time.perf_counter()
    file_of("cover c: a\n" + "\n" * 100_000 + ";" * 100_000 + "\n;" * 50_000 + "\ncover d: a")
    errors_of(")" * 20_000)
    errors_of("}" * 20_000)
    errors_of("cover c: a " + "} or {" * 20_000)
    errors_of("(}" * 20_000)
    assert time.perf_counter() - begin < 30
