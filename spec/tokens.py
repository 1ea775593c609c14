"""Splits source text into words, numbers, texts and symbols.

Nothing is an error here: what belongs to no word of the language becomes a `STRANGE` token that says what is wrong with
it, and the parser reports it where it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from spec.diagnostic import Diagnostic
from spec.source import Source, Span


class Kind(Enum):
    WORD = auto()
    NUMBER = auto()
    TEXT = auto()
    """`"..."`, quotes included."""
    SYMBOL = auto()
    BREAK = auto()
    """A line break (one for several in a row) or `;`."""
    STRANGE = auto()
    """Not of the language; `problem` says why."""
    END = auto()
    """Behind the last token of the file."""


@dataclass(slots=True)
class Token:
    """doc: the `///` lines that stand before it.  type: the grammar's name of the token, settled only when the parser
    comes to it.  `spec.layout` settles level, how many blocks are open around the token, and brace, for a brace what it
    opens or closes."""

    kind: Kind
    text: str
    span: Span
    doc: str = ""
    type: str = ""
    level: int = 0
    brace: str = ""
    problem: Diagnostic | None = None


def words(text: str) -> frozenset[str]:
    """The words of a text, which are separated by spaces."""
    return frozenset(text.split())


HARD_WORDS = words(
    "all and any assert await call catch def either else enum exists fail false for forall fresh if "
    "import in is let none not or retry return self send some then transaction true try update when where "
    "while without"
)
"""Words that are never names.  All other words of the grammar are names wherever the grammar has no use for them."""

LATER_WORDS = words("delay isolation lossy param pause priority repair replica timer wait")
"""Words that a later version of the language will use.  They are names today."""

DIGITS = 18
"""The longest number that may be written."""

LETTERS = 200
"""The longest name."""

MAX_TOKENS = 300_000
"""How many tokens a file may have; the rest is not looked at."""

_PATTERN = re.compile(
    r"""
    (?P<space> [ \t\r\f\v]+ | \A\ufeff )
  | (?P<BREAK> \n | ; )
  | (?P<doc> ///(?!/)[^\n]* )
  | (?P<comment> //[^\n]* )
  | (?P<WORD> [A-Za-z_]\w* )
  | (?P<NUMBER> [0-9]\w* )
  | (?P<TEXT> "(?:[^"\\\n]|\\[^\n])*" )
  | (?P<SYMBOL> <=> | => | ~> | == | != | <= | >= | := | -> | -- | \.\. | \|(?!\|) | [][(){}:,.=<>+*/%?'-] )
  | (?P<strange> "[^\n]* | && | \|\| | /\* | \w+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)


_KINDS = {kind.name: kind for kind in Kind}


def tokenize(source: Source) -> tuple[list[Token], str]:
    """The tokens of a source, an END token last, and the doc comment of the file.

    A doc comment at the very top is the file's when a blank line, an `import` or a `const` follows it, or nothing.
    Every other doc comment belongs to the token after it; among several with blank lines between, the last one counts.
    Of a source with more than MAX_TOKENS the first are given, one more than that.
    """
    text = source.text
    tokens: list[Token] = []
    file_doc = ""
    doc: list[str] = []
    top = True  # nothing but comments so far
    line_empty = True
    doc_ended = False  # a blank line has come after the doc lines
    for match in _PATTERN.finditer(text):
        group = match.lastgroup
        if group == "space" or group == "comment":
            line_empty = line_empty and group == "space"
            continue
        if len(tokens) > MAX_TOKENS:
            break
        start, end = match.span()
        if group == "doc":
            if doc_ended:
                if top and not file_doc:
                    file_doc = "\n".join(doc)
                doc.clear()
                doc_ended = False
            line = text[start + 3 : end].rstrip()
            doc.append(line[1:] if line.startswith(" ") else line)
            line_empty = False
            continue
        word = match.group()
        span = Span(source, start, end)
        if group == "BREAK":
            if word == "\n":
                doc_ended = doc_ended or (line_empty and bool(doc))
                line_empty = True
            if word == ";" or (tokens and tokens[-1].kind is not Kind.BREAK):
                tokens.append(Token(Kind.BREAK, word, span))
            continue
        line_empty = False
        token = _strange(word, span) if group == "strange" else Token(_KINDS[group or ""], word, span)
        if group in ("WORD", "NUMBER", "TEXT"):
            token = _checked(token)
        if doc:
            if top and not file_doc and (doc_ended or word in ("import", "const")):
                file_doc = "\n".join(doc)
            else:
                token.doc = "\n".join(doc)
            doc.clear()
            doc_ended = False
        top = False
        tokens.append(token)
    if doc and top and not file_doc:
        file_doc = "\n".join(doc)
    tokens.append(Token(Kind.END, "", Span(source, len(text), len(text))))
    return tokens, file_doc


def unquote(literal: str) -> str:
    """The text that a TEXT token stands for: without its quotes, `\\"` and `\\\\` resolved."""
    return re.sub(r"\\(.)", r"\1", literal[1:-1])


def _checked(token: Token) -> Token:
    text = token.text
    problem: Diagnostic | None = None
    match token.kind:
        case Kind.WORD if not text.isascii():
            problem = _problem("E102", token.span, f"the name `{shortened(text)}` has a letter that is not ASCII")
        case Kind.WORD if len(text) > LETTERS:
            problem = _problem("E116", token.span, f"a name has {len(text):,} letters, and {LETTERS} is the most")
        case Kind.NUMBER if not (text.isascii() and text.isdigit()):
            problem = _problem("E102", token.span, f"`{shortened(text)}` is neither a number nor a name")
        case Kind.NUMBER if len(text) > DIGITS:
            problem = _problem("E104", token.span, f"a number has {len(text)} digits, and {DIGITS} is the most")
        case Kind.TEXT:
            bad = re.search(r'\\(?!["\\])', re.sub(r'\\["\\]', "  ", text))
            if bad:
                at = token.span.start + bad.start()
                span = Span(token.span.source, at, at + 2)
                problem = _problem("E103", span, 'in a text, only `\\"` and `\\\\` may follow a backslash')
    return token if problem is None else Token(Kind.STRANGE, text, token.span, problem=problem)


_REPLACEMENTS = {"&&": "and", "||": "or", "!": "not", "&": "and", "/*": "//", "#": "//"}


def shortened(text: str) -> str:
    """A word for a message."""
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}.."


def _strange(text: str, span: Span) -> Token:
    fix: str | None = None
    if text.startswith('"'):
        code, message = "E103", 'a text is not closed: its second `"` is missing on this line'
    elif text.isprintable() and text[0].isalnum():
        code, message = "E102", f"the name `{shortened(text)}` has a letter that is not ASCII"
    else:
        shown = f"`{text}`" if text.isprintable() and not text.isspace() else "the character"
        number = "" if text.isascii() and text.isprintable() else f" (U+{ord(text):04X})"
        code, message = "E101", f"{shown}{number} means nothing in this language"
        if text in _REPLACEMENTS:
            fix = f"write `{_REPLACEMENTS[text]}`"
        elif text in "“”‘’":
            fix = 'write the plain quote `"`'
        elif text.isspace():
            fix = "write an ordinary space"
    return Token(Kind.STRANGE, text, span, problem=Diagnostic(code, message, span, fix=fix))


def _problem(code: str, span: Span, message: str) -> Diagnostic:
    return Diagnostic(code, message, span)
