"""An LALR(1) parsing machine (Aho, Lam, Sethi, Ullman: Compilers, 2006, section 4.5.3), and the tables that it runs on.

The tables are made from `spec/grammar.lark` by lark (`spec.lalr_tables`), which takes longer than to check a small
model.  So an installation has them in `spec/grammar.tables.json` (`setup.py` makes it).  Where there is no such file,
or it does not belong to the grammar, because this was edited, the tables are made anew at each start.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from spec.tokens import Token

FORMAT = 1
"""Of the file.  Grows when an old file would be misread."""

Rows = Sequence[Mapping[str, int]]
"""For each state and each symbol (terminal, or nonterminal after a reduction) what to do: a number n >= 0 means to go
to state n, a number n < 0 to reduce by rule ~n.  A symbol that is missing cannot come next."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the grammar, and what becomes of its parts.

    origin   the nonterminal that it makes
    size     how many symbols its right side has
    method   of the tree builder, which gets the parts; None where there is none: for a helper of `*` and `+`, whose
             parts stay a list, and where a single part is all there is
    single   a single part stands for the whole
    parts    (which, splice, absent): `absent` times None, and then part number `which`, or with `splice` the elements
             of this list; None for all parts as they are
    absent   so many times None at the end
    """

    origin: str
    size: int
    method: str | None
    single: bool
    parts: tuple[tuple[int, bool, int], ...] | None
    absent: int

    def arranged(self, found: list[Any]) -> list[Any]:
        """What the method gets, of what the symbols of the right side became."""
        if self.parts is None:
            return found
        arranged: list[Any] = []
        for which, splice, absent in self.parts:
            arranged += [None] * absent
            if not splice:
                arranged.append(found[which])
            elif arranged:
                arranged += found[which]
            else:
                # Nobody else has the list, and a long list must not be copied for each of its elements.
                arranged = found[which]
        arranged += [None] * self.absent
        return arranged


@dataclass(frozen=True)
class Tables:
    """words  the terminal for each word and symbol that the grammar spells out
    rows   see `Rows`; start, end: the states before and after a whole file"""

    words: Mapping[str, str]
    rules: tuple[Rule, ...]
    rows: Rows
    start: int
    end: int


GRAMMAR = Path(__file__).with_name("grammar.lark")
INSTALLED = Path(__file__).with_name("grammar.tables.json")


@cache
def tables() -> Tables:
    """The tables of the grammar: the installed ones where they belong to it, else new ones."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    try:
        found = decoded(INSTALLED.read_text(encoding="utf-8"), grammar)
    except (OSError, ValueError):
        found = None
    if found is None:
        from spec.lalr_tables import made_from

        found = made_from(grammar)
    return found


def encoded(made: Tables, grammar: str) -> str:
    """The text of the file for tables that were made from the grammar's text."""
    rules = [
        [rule.origin, rule.size, rule.method, int(rule.single), rule.parts and [*map(_part, rule.parts)], rule.absent]
        for rule in made.rules
    ]
    content = {
        "format": FORMAT,
        "grammar": _digest(grammar),
        "start": made.start,
        "end": made.end,
        "words": made.words,
    }
    head = json.dumps(content, indent=1)[:-2]
    lines = (",\n".join(json.dumps(each, separators=(",", ":")) for each in group) for group in (rules, made.rows))
    return head + ',\n "rules": [\n{}\n],\n "rows": [\n{}\n]\n}}\n'.format(*lines)


def _part(part: tuple[int, bool, int]) -> list[int]:
    return [*map(int, part)]


def decoded(text: str, grammar: str) -> Tables | None:
    """The tables of a file; None where they were made from another grammar."""
    content = json.loads(text)
    if not isinstance(content, dict) or (content["format"], content["grammar"]) != (FORMAT, _digest(grammar)):
        return None
    rules = tuple(
        Rule(origin, size, method, bool(single), _parts(parts), absent)
        for origin, size, method, single, parts, absent in content["rules"]
    )
    return Tables(content["words"], rules, content["rows"], content["start"], content["end"])


def _parts(parts: list[list[int]] | None) -> tuple[tuple[int, bool, int], ...] | None:
    return None if parts is None else tuple((which, bool(splice), absent) for which, splice, absent in parts)


def _digest(grammar: str) -> str:
    return hashlib.sha256(grammar.encode()).hexdigest()


class Machine:
    """A parser in the midst of a file.

    states  the stack of states; values: what stands between them, tokens and what the builder's methods made
    """

    def __init__(self, made: Tables, builder: object) -> None:
        self.tables = made
        self.states = [made.start]
        self.values: list[Any] = []
        self._methods: list[Callable[[list[Any]], Any] | None] = [
            None if rule.method is None else getattr(builder, rule.method) for rule in made.rules
        ]

    def feed(self, token: Token) -> bool:
        """Takes the next token, whose type is settled; False, and nothing taken, where it cannot come next.  What the
        builder raises is passed on, and the parts of what it was to build are gone then."""
        states, values, rows, end = self.states, self.values, self.tables.rows, self.tables.end
        while True:
            action = rows[states[-1]].get(token.type)
            if action is None:
                return False
            if action >= 0:
                states.append(action)
                values.append(token)
                return True
            value, origin = self._reduced(~action)
            states.append(rows[states[-1]][origin])
            values.append(value)
            if token.type == "$END" and states[-1] == end:
                return True

    def _reduced(self, number: int) -> tuple[Any, str]:
        """Takes the right side of a rule off the stacks; what it becomes, and the nonterminal that this is."""
        rule = self.tables.rules[number]
        found: list[Any] = []
        if rule.size:
            found = self.values[-rule.size :]
            del self.states[-rule.size :]
            del self.values[-rule.size :]
        found = rule.arranged(found)
        if rule.single and len(found) == 1:
            return found[0], rule.origin
        method = self._methods[number]
        return found if method is None else method(found), rule.origin

    def accepts(self, name: str) -> bool:
        """Whether a token of this type can come next."""
        rows, states = self.tables.rows, list(self.states)
        while True:
            action = rows[states[-1]].get(name)
            if action is None:
                return False
            if action >= 0:
                return True
            rule = self.tables.rules[~action]
            if rule.size:
                del states[-rule.size :]
            following = rows[states[-1]][rule.origin]
            if name == "$END" and following == self.tables.end:
                return True
            states.append(following)


__all__ = ["GRAMMAR", "INSTALLED", "Machine", "Rows", "Rule", "Tables", "decoded", "encoded", "tables"]
