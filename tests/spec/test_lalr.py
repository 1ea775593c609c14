"""The parsing machine and its tables: the shipped tables are those of the grammar, and the machine makes of a file what
lark's own parser makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lark import Lark

from checker.catalogue import library
from spec import lalr, syntax
from spec.lalr import GRAMMAR, INSTALLED, Machine, decoded, encoded, tables
from spec.lalr_tables import NoLexer, made_from
from spec.layout import lay_out
from spec.parse import _Parser, _Tree, parse
from spec.source import Source, Span
from spec.tokens import Kind, Token, tokenize
from spec.tree_builder import TreeBuilder
from tests.spec.trees import outline

ROOT = Path(__file__).resolve().parents[2]


def test_the_installed_tables_are_those_of_the_grammar() -> None:
    """If this fails: `pip install -e .`, or `python -m spec.lalr_tables`."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    assert INSTALLED.read_text(encoding="utf-8") == encoded(made_from(grammar), grammar)


@pytest.mark.parametrize("content", [None, "", '{"format": 1, "gram'])
def test_without_installed_tables_they_are_made(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = tables()
    file = tmp_path / "grammar.tables.json"
    if content is not None:
        file.write_text(content)
    monkeypatch.setattr(lalr, "INSTALLED", file)
    tables.cache_clear()
    try:
        assert tables() == known
    finally:
        tables.cache_clear()


def test_a_file_is_read_back_as_it_was_written() -> None:
    grammar = GRAMMAR.read_text(encoding="utf-8")
    made = made_from(grammar)
    assert decoded(encoded(made, grammar), grammar) == made


def test_tables_of_another_grammar_or_format_do_not_count() -> None:
    grammar = GRAMMAR.read_text(encoding="utf-8")
    shipped = encoded(made_from(grammar), grammar)
    assert decoded(shipped, grammar) is not None
    assert decoded(shipped, grammar + "\n// another one") is None
    assert decoded(json.dumps(json.loads(shipped) | {"format": lalr.FORMAT + 1}), grammar) is None
    assert decoded("null", grammar) is None


def test_an_edited_grammar_goes_before_the_shipped_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited = tmp_path / "grammar.lark"
    edited.write_text(GRAMMAR.read_text(encoding="utf-8").replace('switch: "switch"', 'switch: "lever"'))
    monkeypatch.setattr(lalr, "GRAMMAR", edited)
    tables.cache_clear()
    try:
        assert isinstance(parse(Source("a.cpt", "lever s: bool = true")), syntax.File)
        assert not isinstance(parse(Source("a.cpt", "switch s: bool = true")), syntax.File)
    finally:
        tables.cache_clear()


MODELS = [*sorted(library().rglob("*.cpt")), *sorted((ROOT / "benchmarks").glob("*.cpt"))]
TEXTS = {
    "outline": outline("{ either { await true } or { fail } }"),
    "optional parts": 'faults { crash A, B without restart\n expire r.l }\nvariant v { a = 1, b = 2, }\nimport "x"',
    "long": "\n".join(f"const C{i}: int = {i} where {i} > 0 or false" for i in range(300)),
}


@pytest.mark.parametrize("text", [*(path.read_text() for path in MODELS), *TEXTS.values()])
def test_the_machine_does_what_lark_does(text: str) -> None:
    source = Source("a.cpt", text)
    parser = _Parser(lay_out(tokenize(source)[0]), may_repair=False)
    ours = parser.run()
    assert not isinstance(ours, list), ours
    grammar = GRAMMAR.read_text(encoding="utf-8")
    lark = Lark(
        grammar, parser="lalr", lexer=NoLexer, start="file", keep_all_tokens=True, transformer=TreeBuilder()
    ).parse_interactive("")
    tree = None
    for token in parser._tokens:
        tree = lark.parser_state.feed_token(token, token.type == "$END")  # type: ignore[arg-type]
    assert isinstance(ours, _Tree), ours
    assert tree == ours.parts


def test_a_token_that_cannot_come_next_is_not_taken() -> None:
    """`const`, then a name, then anything but `:`: what can come next is in the grammar's rule for constants."""
    machine = Machine(tables(), TreeBuilder())
    here = Span(Source("a.cpt", "const"), 0, 5)
    assert machine.feed(Token(Kind.WORD, "const", here, type="CONST"))
    assert not machine.feed(Token(Kind.SYMBOL, ":", here, type="COLON"))
    assert machine.feed(Token(Kind.WORD, "n", here, type="NAME"))
    assert [name for name in machine.tables.words.values() if machine.accepts(name)] == ["COLON"]
