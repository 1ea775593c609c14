"""Which braces hold blocks, which brackets are never closed, and which line breaks count.

Works on the tokens of a whole file before the grammar sees them:

* a `{` opens a block, a set, or the fields of a record: whether an operand may stand there tells the set; a name before
  it and `field:` or `}` after it tell the record;
* a line break ends something only directly in a block or outside of all brackets, and neither after nor before an
  operator or another word that must go on; several breaks in a row are one, and a block has none at its ends;
* nesting has limits, so that no later phase, which may well be recursive, runs out of stack;
* where a block shows to have no end, a STRANGE token says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.diagnostic import Diagnostic, Note
from spec.source import Span
from spec.tokens import HARD_WORDS, Kind, Token, words

MAX_BRACKETS = 100
"""How many brackets and blocks may stand in one another."""

MAX_DEPTH = 150
"""How deep the tree of an expression, type or statement may become, with all that it holds."""

BLOCK_BRACE, SET_BRACE, RECORD_BRACE = "BLOCK_BRACE", "SET_BRACE", "RECORD_BRACE"
"""What a brace opens or closes (`Token.brace`); for a `{`, the last two are also terminals of the
grammar."""

DECLARATION_WORDS = words(
    "import const switch enum ids type record def store ghost process faults invariant recoverable cover live "
    "scenario variant expect"
)

_CLOSERS = {")": "(", "]": "[", "}": "{"}
_BINARY = words("=> <=> ~> == != < <= > >= + - * / % . -> and or in")
_GOES_ON_AFTER = _BINARY | words(", := = : | -- not is where then else when")
_GOES_ON_BEFORE = _BINARY | words(", := = : | -- { is where else when catch without")
_DEEPENS = _BINARY | words("( [ ' ? not is of if then else forall exists count all always eventually")
_ENDS_DEPTH = frozenset((",", ":=", "="))
_OPERAND_FOLLOWS = _BINARY | words("( [ { , := = : not where then else return if while await assert")
_NAMES_BLOCK = words("record enum store process variant scenario transaction")
_SYMBOLIC = (Kind.WORD, Kind.SYMBOL)


class TooDeep(Exception):
    """Raised with the diagnostic to report."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic("E120", message, span, fix="give parts of it names with `def` or `let`")


def lay_out(tokens: list[Token]) -> list[Token]:
    """The tokens that the grammar is to see, with `level` and `brace` settled.  Raises TooDeep."""
    brackets = _Brackets(tokens, trust_margin=False)
    if not brackets.pair:
        brackets = _Brackets(tokens, trust_margin=True)
    return _Breaks(tokens, brackets).result


# ------------------------------------------------------------------------------------------------- brackets


@dataclass(slots=True)
class _Open:
    """indent: how far the line of the bracket is indented."""

    index: int
    token: Token
    indent: int


class _Brackets:
    """Pairs the brackets of a file.

    unclosed  the indices of brackets without an end
    missing   for the index of a token, what to say of the block that should have ended before it
    pair      whether all braces pair
    With `trust_margin`, for files whose braces do not pair, the layout of the lines counts: a declaration at the left
    margin ends all blocks that are open; a `}` at the beginning of a line does not end a set or record that begins on a
    line further to the right; and a `}` within a line does not end a block that begins on another line.
    """

    def __init__(self, tokens: list[Token], trust_margin: bool) -> None:
        self.unclosed: set[int] = set()
        self.missing: dict[int, Diagnostic] = {}
        self.pair = True
        self._stack: list[_Open] = []
        self._suspect: Token | None = None
        self._last_closed = ""
        before, last = tokens[-1], tokens[-1]  # the two tokens before, breaks apart; at first: the end
        line_begins, indent = True, 0
        for index, token in enumerate(tokens):
            if token.kind is Kind.BREAK:
                line_begins = line_begins or token.text == "\n"
                continue
            if line_begins:
                indent = token.span.column - 1
                if trust_margin and indent == 0 and token.kind is Kind.WORD and token.text in DECLARATION_WORDS:
                    self._abandon(index, token, last)
            if token.kind is Kind.SYMBOL:
                if token.text in "([{":
                    token.brace = self._brace(tokens, index, before, last) if token.text == "{" else token.text
                    self._stack.append(_Open(index, token, indent))
                    if len(self._stack) > MAX_BRACKETS:
                        raise TooDeep(f"more than {MAX_BRACKETS} brackets and blocks stand in one another", token.span)
                elif token.text in _CLOSERS:
                    self._close(token, indent if line_begins else None, trust_margin)
            line_begins = False
            if token.kind is not Kind.END:
                before, last = last, token
        self._abandon(len(tokens) - 1, tokens[-1], last)

    def _close(self, token: Token, indent: int | None, trust_margin: bool) -> None:
        """Pairs a closing bracket with the nearest one of its kind; `)` and `]` do not reach out of a block."""
        stack = self._stack
        token.brace = ""
        at = len(stack) - 1
        while at >= 0 and stack[at].token.text != _CLOSERS[token.text]:
            if stack[at].token.brace == BLOCK_BRACE:
                return
            at -= 1
        while trust_margin and indent is not None and at > 0 and stack[at].indent > indent:
            if token.text != "}" or stack[at].token.brace == BLOCK_BRACE:
                break
            at -= 1
        astray = trust_margin and indent is None and token.text == "}" and at >= 0
        if at < 0 or (astray and stack[at].token.brace == BLOCK_BRACE and stack[at].token.span.line < token.span.line):
            self.pair = self.pair and token.text != "}"
            return
        self.unclosed.update(bracket.index for bracket in stack[at + 1 :])
        opening = stack[at]
        token.brace = self._last_closed = opening.token.brace
        if token.brace == BLOCK_BRACE and indent is not None and indent < opening.indent and self._suspect is None:
            self._suspect = opening.token
        del stack[at:]

    def _abandon(self, index: int, token: Token, last: Token) -> None:
        """Gives up all open brackets: they should have ended before `token`."""
        blocks = [bracket for bracket in self._stack if bracket.token.brace == BLOCK_BRACE]
        self.unclosed.update(bracket.index for bracket in self._stack)
        if blocks:
            opening = self._suspect or blocks[-1].token
            if token.kind is Kind.END:
                note = Note(
                    "the file ends here, and `}` is still missing",
                    Span(token.span.source, last.span.end, last.span.end),
                )
            else:
                note = Note("a new declaration begins here, and `}` is still missing", token.span)
            self.pair = False
            self.missing[index] = Diagnostic(
                "E106", "this block is never closed", opening.span, (note,), "add `}` where the block is to end"
            )
        self._stack.clear()
        self._suspect = None

    def _brace(self, tokens: list[Token], index: int, before: Token, last: Token) -> str:
        """What the `{` at `index` opens."""
        if last.kind not in _SYMBOLIC:
            return BLOCK_BRACE
        if last.text in ("or", "else") and before.text == "}":
            return BLOCK_BRACE if self._last_closed == BLOCK_BRACE else SET_BRACE
        if last.text in _OPERAND_FOLLOWS or last.text == "|" or self._follows_needs(before, last):
            return SET_BRACE
        if last.kind is Kind.WORD and before.text not in _NAMES_BLOCK:
            inside = [token for token in tokens[index + 1 : index + 5] if token.kind is not Kind.BREAK]
            if len(inside) >= 2 and inside[0].kind is Kind.WORD and inside[1].text == ":":
                return RECORD_BRACE
            adjacent = last.span.end == tokens[index].span.start
            if adjacent and inside and inside[0].text == "}" and last.text not in HARD_WORDS:
                return RECORD_BRACE
        return BLOCK_BRACE

    def _follows_needs(self, before: Token, last: Token) -> bool:
        """Whether the fault sets of an `expect` begin: `needs` behind a name, outside of all brackets."""
        named = before.kind is Kind.WORD and before.text not in _NAMES_BLOCK and before.text not in HARD_WORDS
        return last.text == "needs" and named and not self._stack


# ------------------------------------------------------------------------------------------------- line breaks


@dataclass(slots=True)
class _Frame:
    """What is open at a place, from the inside out.

    depth    how much the tree deepens by what stands here since the last comma, assignment or break
    inner    how deep the brackets are that were closed since then
    highest  the greatest sum of the two before
    ifs      how many `if` still wait for a `then`
    """

    block: bool
    depth: int = 0
    inner: int = 0
    highest: int = 0
    ifs: int = 0

    def restart(self) -> None:
        self.highest = max(self.highest, self.depth + self.inner)
        self.depth = self.inner = 0


class _Breaks:
    """result: the tokens without the line breaks that end nothing."""

    def __init__(self, tokens: list[Token], brackets: _Brackets) -> None:
        self.result: list[Token] = []
        frames = [_Frame(block=True)]
        level = 0
        for index, token in enumerate(tokens):
            if index in brackets.missing:
                problem = brackets.missing[index]
                self.result.append(Token(Kind.STRANGE, "", token.span, problem=problem))
                frames = [_Frame(block=True)]
                level = 0
            frame = frames[-1]
            token.level = level
            if token.kind is Kind.BREAK:
                following = tokens[index + 1]
                needs = following.text == "needs" and tokens[index + 2].brace == SET_BRACE and token.text == "\n"
                if frame.block and not needs and self._counts(token, following, frame.ifs):
                    frame.restart()
                    frame.ifs = 0
                    self.result.append(token)
                continue
            if token.kind is Kind.SYMBOL or token.kind is Kind.WORD:
                text = token.text
                if text in _DEEPENS:
                    frame.depth += 1
                    frame.ifs = max(0, frame.ifs + (text == "if") - (text == "then"))
                elif text in _ENDS_DEPTH:
                    frame.restart()
                if text in "([{" and index not in brackets.unclosed:
                    frames.append(_Frame(block=token.brace == BLOCK_BRACE))
                elif text == "{" and token.brace == BLOCK_BRACE:
                    frames.append(_Frame(block=True))
                elif text in _CLOSERS and token.brace:
                    frames.pop()
                    outer = frames[-1]
                    outer.inner = max(outer.inner, 1 + max(frame.highest, frame.depth + frame.inner))
                    frame = outer
                if token.brace == BLOCK_BRACE:
                    frame.ifs = 0
                    level += 1 if text == "{" else -1
                if frame.depth + frame.inner > MAX_DEPTH:
                    raise TooDeep(f"this goes more than {MAX_DEPTH} operators and brackets deep", token.span)
            if self._ends(token) and self.result and self.result[-1].kind is Kind.BREAK:
                self.result.pop()
            self.result.append(token)

    def _counts(self, token: Token, following: Token, ifs: int) -> bool:
        """Whether a break ends what stands before it."""
        if not self.result:
            return False
        last = self.result[-1]
        if last.kind is Kind.BREAK or (last.text == "{" and last.brace == BLOCK_BRACE):
            return False
        if token.text == ";":
            return True
        if last.kind in _SYMBOLIC and last.text in _GOES_ON_AFTER:
            return False
        if following.kind not in _SYMBOLIC:
            return True
        return following.text not in _GOES_ON_BEFORE and not (following.text == "then" and ifs > 0)

    @staticmethod
    def _ends(token: Token) -> bool:
        """Whether a break before the token says nothing."""
        return token.kind is Kind.END or (token.text == "}" and token.brace == BLOCK_BRACE)
