"""Parses one file: an LALR(1) parser of `spec/grammar.lark`, with recovery from errors.

Errors are recovered from in panic mode (Aho, Lam, Sethi, Ullman: Compilers, 2006, section 4.8.3): the parser goes back
to the innermost list of items that it is in, puts BROKEN in the place of the item, and goes on at the end of the item.
Where the braces of a file do not pair, that would make many errors out of one; so a missing brace whose place shows is
put in, and the file is parsed anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from spec import syntax
from spec.diagnostic import Diagnostic, Note
from spec.lalr import Machine, tables
from spec.layout import BLOCK_BRACE, RECORD_BRACE, SET_BRACE, TooDeep, lay_out
from spec.source import Source, Span
from spec.syntax_errors import BREAK, END, OPERAND_WORDS, THREAD_WORDS, Situation, unexpected
from spec.tokens import HARD_WORDS, MAX_TOKENS, Kind, Token, tokenize
from spec.tree_builder import Misplaced, TreeBuilder

MAX_ERRORS = 20
"""How many errors of a file are reported."""

MAX_REPAIRS = 5
"""How many missing braces are put in before a file is left as it is."""


def parse(source: Source) -> syntax.File | tuple[Diagnostic, ...]:
    """The tree of a file, or everything that is wrong with its syntax, at most MAX_ERRORS.  Never raises."""
    tokens, doc = tokenize(source)
    if all(token.kind in (Kind.BREAK, Kind.END) for token in tokens):
        what = "the file is empty" if not source.text.strip() else "the file has comments only"
        return (Diagnostic("E007", f"{what}: it declares nothing", Span(source, 0, 0)),)
    if len(tokens) > MAX_TOKENS:
        message = f"the file has more than {MAX_TOKENS:,} words, numbers and symbols"
        return (Diagnostic("E008", message, tokens[MAX_TOKENS].span, fix="is this the right file?"),)
    repaired: list[Diagnostic] = []
    while True:
        try:
            parser = _Parser(lay_out(tokens), may_repair=len(repaired) < MAX_REPAIRS)
        except TooDeep as problem:
            return _in_order([*repaired, problem.diagnostic])
        result = parser.run()
        if isinstance(result, _Repair):
            repaired.append(result.diagnostic)
            tokens = result.apply(tokens)
        elif isinstance(result, _Tree) and not repaired:
            return syntax.File(source, doc, *result.parts)
        else:
            return _in_order([*repaired, *(result if isinstance(result, list) else [])])


def _in_order(errors: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The errors by place; no more than MAX_ERRORS."""
    errors = sorted(errors, key=lambda error: error.span.start if error.span else -1)
    if len(errors) < MAX_ERRORS:
        return tuple(errors)
    *others, last = errors[:MAX_ERRORS]
    note = Note(f"these are the first {MAX_ERRORS} errors; there may be more")
    return (*others, replace(last, notes=(*last.notes, note)))


class _Tree:
    """What the builder made of a file."""

    def __init__(self, parts: tuple[tuple[syntax.Import, ...], tuple[syntax.Item, ...]]) -> None:
        self.parts = parts


@dataclass(frozen=True)
class _Repair:
    """A missing brace: what to say of it, and which brace, how often, before which token would mend it."""

    diagnostic: Diagnostic
    before: Token
    brace: str
    count: int = 1

    def apply(self, tokens: list[Token]) -> list[Token]:
        """The tokens of the file with the braces put in."""
        at = next(i for i, token in enumerate(tokens) if token is self.before)
        start = self.before.span.start
        span = Span(self.before.span.source, start, start)
        return [*tokens[:at], *(Token(Kind.SYMBOL, self.brace, span) for _ in range(self.count)), *tokens[at:]]


def _opens(value: object) -> int:
    """How many blocks a value on the parser's stack opens (1) or closes (-1)."""
    if not isinstance(value, Token) or value.brace != BLOCK_BRACE:
        return 0
    return 1 if value.text == "{" else -1


_NAME_BEFORE = frozenset((".", ":=", "[", ":", "'"))


class _Parser:
    def __init__(self, tokens: list[Token], may_repair: bool) -> None:
        self._tokens = tokens
        self._surplus = may_repair and any(t.text == "}" and t.kind is Kind.SYMBOL and not t.brace for t in tokens)
        self._missing = [t.problem for t in tokens if t.kind is Kind.STRANGE and not t.text] if may_repair else []
        self._grammar = tables()
        self._machine = Machine(self._grammar, TreeBuilder())
        self._states = self._machine.states
        self._values = self._machine.values
        self._errors: list[Diagnostic] = []

    def run(self) -> _Tree | list[Diagnostic] | _Repair:
        tokens, feed, names = self._tokens, self._machine.feed, self._grammar.words
        index, stuck_at = 0, -1
        while True:
            token = tokens[index]
            match token.kind:
                case Kind.WORD:
                    token.type = self._word(token, index)
                case Kind.SYMBOL:
                    if token.brace in (SET_BRACE, RECORD_BRACE):
                        token.type = token.brace if token.text == "{" else "END_BRACE"
                    else:
                        token.type = names[token.text]
                case Kind.END:
                    token.type = "$END"
                case Kind.STRANGE:
                    token.type = ""
                case kind:
                    token.type = kind.name
            try:
                if feed(token):
                    if token.type == "$END":
                        return self._errors or _Tree(self._values[-1])
                    index += 1
                    continue
            except Misplaced as problem:
                self._errors.append(problem.diagnostic)
            else:
                if index != stuck_at:
                    situation = self._situation(index)
                    error = token.problem or unexpected(situation)
                    repair = self._repair(situation, error)
                    if repair is not None:
                        return repair
                    self._errors.append(error)
            if len(self._errors) >= MAX_ERRORS:
                return self._errors
            resumed = self._recover(index + (index == stuck_at))
            if resumed is None:
                return self._errors
            index = stuck_at = resumed

    def _word(self, token: Token, index: int) -> str:
        """The terminal of a word: a keyword where the grammar has a use for it here, else a name."""
        keyword = self._grammar.words.get(token.text)
        if keyword is None:
            return "NAME"
        if token.text in HARD_WORDS:
            return keyword
        row = self._grammar.rows[self._states[-1]]
        if keyword not in row:
            return "NAME"
        if "NAME" in row:
            following = self._tokens[index + 1]
            match token.text:
                case "count":
                    used = following.kind is Kind.WORD and following.text not in HARD_WORDS
                case "step":
                    used = following.kind in (Kind.TEXT, Kind.WORD)
                case "set":
                    used = following.text == "of"
                case "blocks":
                    used = following.text == "ok"
                case "always" | "eventually":
                    used = self._begins_operand(following, index)
                case _:
                    used = following.text not in _NAME_BEFORE
            return keyword if used else "NAME"
        return keyword

    def _begins_operand(self, token: Token, index: int) -> bool:
        """Whether the token behind `always` or `eventually` (the token at `index`) is what that word speaks of."""
        if token.kind is Kind.WORD:
            return token.text not in HARD_WORDS or token.text in OPERAND_WORDS
        # `eventually(x)` may call a `def`, but in a property of the form `live` it does not.
        return token.kind is Kind.NUMBER or (token.text == "(" and self._tokens[self._first(index)].text == "live")

    # ------------------------------------------------------------------------------------- errors

    def _first(self, index: int) -> int:
        """Where the statement or declaration that the token at `index` belongs to begins."""
        while index and not self._begins(index):
            index -= 1
        return index

    def _situation(self, index: int) -> Situation:
        tokens = self._tokens
        found = tokens[index]
        before = tokens[index - 1] if index else found
        if before.kind is Kind.BREAK and index > 1 and found.kind is Kind.END:
            before = tokens[index - 2]
        spelling = {name: word for word, name in self._grammar.words.items()}
        spelling |= {"BREAK": BREAK, "$END": END, "END_BRACE": "}"}
        return Situation(
            found,
            before,
            tokens[min(index + 1, len(tokens) - 1)],
            frozenset(spelling.get(name, name) for name in self._accepts()),
            self._open_bracket(),
            tokens[self._first(index)],
        )

    def _repair(self, situation: Situation, error: Diagnostic) -> _Repair | None:
        """The brace whose absence is the reason of an error, in a file whose braces do not pair."""
        found, first = situation.found, situation.first
        if found.kind is Kind.STRANGE:
            return None
        if self._surplus and "{" in situation.expected:
            return _Repair(error, found, "{")
        if not self._missing or self._missing[0] is None:
            return None
        if found.text in ("catch", "else", "or") and found.kind is Kind.WORD and "}" in situation.expected:
            return _Repair(error, found, "}")
        if error.code == "E114" and first.kind is Kind.WORD and first.text in THREAD_WORDS and first.level > 1:
            note = Note("a new thread begins here, and `}` is still missing", first.span)
            return _Repair(replace(self._missing[0], notes=(note,)), self._before(first), "}", first.level - 1)
        return None

    def _before(self, token: Token) -> Token:
        """The break before a token that begins an item."""
        at = next(i for i, other in enumerate(self._tokens) if other is token)
        return self._tokens[at - 1] if self._tokens[at - 1].kind is Kind.BREAK else token

    def _begins(self, index: int) -> bool:
        """Whether a statement or declaration begins at the token."""
        before = self._tokens[index - 1]
        return before.kind is Kind.BREAK or before.brace == BLOCK_BRACE

    def _accepts(self) -> list[str]:
        """The terminals that can come next."""
        row = self._grammar.rows[self._states[-1]]
        terminals = [name for name in row if name.isupper() or name.startswith(("__ANON", "$"))]
        return [name for name in terminals if name != "BROKEN" and self._machine.accepts(name)]

    def _open_bracket(self) -> Token | None:
        """The innermost open bracket that is not of a block, unless a block is open within it."""
        depth = 0
        for value in reversed(self._values):
            if isinstance(value, Token) and value.kind is Kind.SYMBOL:
                if value.text in ")]}":
                    depth += 1
                elif value.text in "([{":
                    if depth == 0:
                        return None if value.brace == BLOCK_BRACE else value
                    depth -= 1
        return None

    # ------------------------------------------------------------------------------------- recovery

    def _level(self) -> int:
        """How many blocks the parser is in."""
        return sum(map(_opens, self._values))

    def _back(self, level: int) -> bool:
        """Goes back to where an item can stand, in at most `level` blocks."""
        inside = self._level()
        while "BROKEN" not in self._grammar.rows[self._states[-1]] or inside > level:
            if not self._values:
                return False
            self._states.pop()
            inside -= _opens(self._values.pop())
        return True

    def _recover(self, index: int) -> int | None:
        """Replaces the broken item, in which token `index` is; the index to go on at, or None when that is in vain."""
        tokens = self._tokens
        index = min(index, len(tokens) - 1)
        missing_end = tokens[index].kind is Kind.STRANGE and not tokens[index].text
        if missing_end:
            index += 1
            level = 0
            if not self._back(0):
                return None
        else:
            if not self._back(tokens[index].level):
                return None
            level = self._level()
            while not self._ends_item(tokens[index], level):
                index += 1
        token = tokens[index]
        if token.level < level and not self._back(token.level):
            return None
        span = token.span
        taken = self._machine.feed(Token(Kind.STRANGE, "", span, type="BROKEN"))
        if taken and token.kind not in (Kind.BREAK, Kind.END) and token.text != "}":
            taken = self._machine.feed(Token(Kind.BREAK, "\n", span, type="BREAK"))
        assert taken
        return index

    @staticmethod
    def _ends_item(token: Token, level: int) -> bool:
        """Whether an item in `level` blocks is over at the token."""
        if token.kind is Kind.END or token.level < level:
            return True
        ends = token.kind is Kind.BREAK or (token.text == "}" and token.brace == BLOCK_BRACE)
        return ends and token.level == level
