"""Makes the parsing tables of a grammar, with lark.  `python -m spec.lalr_tables` writes `spec/grammar.tables.json`.

The only module that knows lark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lark import Lark, Tree
from lark.lexer import Lexer
from lark.parse_tree_builder import ExpandSingleChild, ParseTreeBuilder

from spec.lalr import GRAMMAR, INSTALLED, Rule, Tables, encoded


class NoLexer(Lexer):
    """`spec.tokens` splits the text."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, state: object, parser_state: object = None) -> Any:
        return iter(())


def read(grammar: str) -> Lark:
    """Lark's parser for the text of a grammar.  Raises lark's errors for a grammar that is wrong or ambiguous."""
    return Lark(grammar, parser="lalr", lexer=NoLexer, start="file", keep_all_tokens=True)


def made_from(grammar: str) -> Tables:
    """The tables for the text of a grammar, the same whenever and wherever they are made."""
    lark = read(grammar)
    machine: Any = lark.parser
    table = machine.parser._parse_table
    builder: Any = ParseTreeBuilder
    builders = builder(lark.rules, Tree, maybe_placeholders=True).rule_builders
    rules = {rule: _rule(rule, wrappers) for rule, wrappers in builders}
    order = sorted(rules.values(), key=lambda rule: (rule.origin, rule.size, repr(rule)))
    # Two rules that do the same are one: which it is makes no difference to anybody.
    order = list(dict.fromkeys(order))
    places = {rule: order.index(made) for rule, made in rules.items()}
    start, end = table.start_states["file"], table.end_states["file"]
    states = _states(table.states, start)
    rows = [
        {
            symbol: states[target] if action.name == "Shift" else ~places[target]
            for symbol, (action, target) in sorted(table.states[state].items())
        }
        for state in states
    ]
    words = {str(t.pattern.value): str(t.name) for t in lark.terminals if t.pattern is not None}
    return Tables(dict(sorted(words.items())), tuple(order), rows, states[start], states[end])


def _states(rows: Mapping[int, Mapping[str, Any]], start: int) -> dict[int, int]:
    """New numbers for the states, in the order in which they are reached; lark's differ from run to run."""
    found = {start: 0}
    waiting = [start]
    for state in waiting:
        for _, (action, target) in sorted(rows[state].items()):
            if action.name == "Shift" and target not in found:
                found[target] = len(found)
                waiting.append(target)
    return found


def _rule(rule: Any, wrappers: list[Any]) -> Rule:
    """wrappers: what lark would put around the method."""
    name, size = str(rule.alias or rule.origin.name), len(rule.expansion)
    single = ExpandSingleChild in wrappers
    parts = None
    absent = 0
    for wrapper in wrappers:
        if wrapper is not ExpandSingleChild:
            # Without optional parts in the rule there are neither places for None nor a number of them at the end.
            included, *last = wrapper.args
            parts = tuple((which, splice, sum(rest)) for which, splice, *rest in included)
            absent = sum(last)
    needless = name.startswith("__") or (single and size == 1)
    return Rule(str(rule.origin.name), size, None if needless else name, single, parts, absent)


def main() -> None:
    grammar = GRAMMAR.read_text(encoding="utf-8")
    INSTALLED.write_text(encoded(made_from(grammar), grammar), encoding="utf-8")


if __name__ == "__main__":
    main()
