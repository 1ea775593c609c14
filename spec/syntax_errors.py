"""The wording of syntax errors: what was found, what was expected, in the words of the language, and the likely fix."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from difflib import get_close_matches

from spec.diagnostic import Diagnostic, Note, visible
from spec.layout import BLOCK_BRACE, DECLARATION_WORDS, RECORD_BRACE, SET_BRACE
from spec.source import Span
from spec.tokens import HARD_WORDS, LATER_WORDS, Kind, Token, words

END = "the end of the file"
BREAK = "the end of the line"

_STATEMENT_WORDS = words(
    "let update await if either while for try retry call send return fail transaction atomic step assert"
)
THREAD_WORDS = frozenset(("on", "loop", "task", "strongly", "unfair"))
"""The words with which a thread can begin."""

_LIFETIMES = frozenset(("durable", "volatile"))
_COMPARISONS = words("== != < <= > >= in")
_OPERATORS = words("=> <=> ~> + - * / % and or is . [ '") | _COMPARISONS
OPERAND_WORDS = words("not forall exists count all if true false none self")
"""The words with which an expression can begin."""

_EXPRESSION_STARTS = words("( - always eventually NAME NUMBER") | OPERAND_WORDS | {SET_BRACE}
_MISTAKEN = {
    "elif": "else if",
    "elsif": "else if",
    "elseif": "else if",
    "var": "let",
    "val": "let",
    "mut": "let",
    "fn": "def",
    "func": "def",
    "function": "def",
    "null": "none",
    "nil": "none",
    "None": "none",
    "True": "true",
    "False": "false",
    "foreach": "for",
    "except": "catch",
    "raise": "fail",
    "throw": "fail",
    "class": "process",
    "struct": "record",
    "include": "import",
    "use": "import",
}


@dataclass(frozen=True)
class Situation:
    """Where the parser is stuck.

    found     the token that does not fit; before and after, its neighbours (before the first of a file is itself)
    expected  what would fit: words and symbols as they are written, or NAME, NUMBER, TEXT, SET_BRACE, RECORD_BRACE, and
              BREAK and END above
    bracket   the innermost `(`, `[` or `{` (of a set or record) that is open
    first     the first token of the statement or declaration
    """

    found: Token
    before: Token
    after: Token
    expected: frozenset[str]
    bracket: Token | None
    first: Token


def later_word(span: Span, word: str) -> Diagnostic:
    """A word of a later version of the language, used as if it were there."""
    return Diagnostic("E115", f"`{word}` is not part of this version of the language", span)


def unexpected(situation: Situation) -> Diagnostic:
    """The diagnostic for a token that does not fit."""
    found, before = situation.found, situation.before
    for token in (found, situation.first):
        if token.kind is Kind.WORD and token.text in LATER_WORDS:
            return later_word(token.span, token.text)
    if before.text == "lease" and found.kind is Kind.NUMBER:
        return Diagnostic(
            "E115",
            "a lease with a duration is not part of this version of the language",
            found.span,
            fix="write `lease` alone; when it ends is left open",
        )
    if found.text == "}" and found.brace and found.span.line > before.span.line:
        found = Token(Kind.BREAK, "\n", found.span)
        situation = replace(situation, found=found)
    wanted = _expectation(situation.expected)
    message = f"found {_describe(found)}, expected {wanted}" if wanted else f"{_describe(found)} cannot stand here"
    for recognize in _CASES:
        diagnostic = recognize(situation, message)
        if diagnostic is not None:
            return diagnostic
    notes: tuple[Note, ...] = ()
    bracket = situation.bracket
    if bracket is not None and bracket.span.line < found.span.line:
        notes = (Note(f"this `{bracket.text}` is still open", bracket.span),)
    return Diagnostic("E105", message, place(found, before), notes, _fix(situation))


def place(found: Token, before: Token) -> Span:
    """Where to point: the token itself; for the end of a line or file, right behind the token before it."""
    if found.kind in (Kind.BREAK, Kind.END) and found.text != ";":
        end = before.span.end
        return Span(before.span.source, end, end)
    return found.span


# ------------------------------------------------------------------------------------------------- special cases


def _stray(situation: Situation, message: str) -> Diagnostic | None:
    found = situation.found
    if found.kind is not Kind.SYMBOL or found.text not in ")]}" or found.brace:
        return None
    opening = {")": "(", "]": "[", "}": "{"}[found.text]
    return Diagnostic("E108", f"`{found.text}` has no `{opening}` that it closes", found.span, fix="remove it")


def _unclosed(situation: Situation, message: str) -> Diagnostic | None:
    found, before, bracket = situation.found, situation.before, situation.bracket
    if bracket is None:
        return None
    if found.kind is Kind.WORD and found.text in DECLARATION_WORDS and found.span.line > before.span.line:
        found = Token(Kind.BREAK, "\n", found.span)
        message = f"found {BREAK}, expected {_expectation(situation.expected)}"
    if not (found.kind in (Kind.BREAK, Kind.END) or (found.text and found.text in ")]}")):
        return None
    closing = {"(": ")", "[": "]", "{": "}"}[bracket.text]
    if closing not in situation.expected or found.text == closing:
        return None
    note = Note(f"this `{bracket.text}` is still open", bracket.span)
    return Diagnostic("E107", message, place(found, before), (note,), f"add `{closing}`")


def _equals(situation: Situation, message: str) -> Diagnostic | None:
    found, before, expected = situation.found, situation.before, situation.expected
    fix: str | None = None
    if found.text in ("+", "-", "*", "/") and situation.after.text == "=":
        fix = f"write `x := x {found.text} ..`"
    elif found.text == "=" and before.text in ("+", "-", "*", "/"):
        fix = f"write `x := x {before.text} ..`"
    elif found.text == "=" and ":=" in expected:
        fix = "write `:=` to assign, `==` to compare"
    elif found.text == "=" and "==" in expected:
        fix = "write `==` to compare"
    elif found.text == ":=" and "=" in expected:
        fix = "write `=`: `:=` is only for assigning to what is there already"
    elif found.text == "==" and "=" in expected and "==" not in expected:
        fix = "write `=`"
    elif found.text == ":=" and "==" in expected:
        fix = "write `==` to compare; an assignment is a statement of its own"
    return None if fix is None else Diagnostic("E110", message, found.span, fix=fix)


def _misplaced(situation: Situation, message: str) -> Diagnostic | None:
    found, first, expected = situation.found, situation.first, situation.expected
    among_statements = ":=" in expected or ("let" in expected and "NAME" in expected)
    if among_statements:
        if first.kind is not Kind.WORD or first.text not in DECLARATION_WORDS | THREAD_WORDS | _LIFETIMES:
            return None
        word, fix = first, "is a `}` missing before it?"
        message = f"`{first.text}` begins a declaration, and stands here among statements"
    elif found.kind is not Kind.WORD or found is not first:
        return None
    elif "invariant" in expected and found.text in _STATEMENT_WORDS:
        word, fix = found, "statements stand inside of `on`, `loop` or `task`"
    elif "invariant" in expected and found.text in THREAD_WORDS:
        word, fix = found, "threads stand inside of a `process`"
    elif "invariant" in expected and found.text in _LIFETIMES:
        word, fix = found, "variables stand inside of a `store` or `process`"
    elif "durable" in expected and found.text in _STATEMENT_WORDS:
        word, fix = found, "statements stand inside of `on`, `loop` or `task`"
    elif "durable" in expected and found.text in DECLARATION_WORDS | {"step", "at"}:
        word, fix = found, "declarations stand outside of processes and stores; is a `}` missing before it?"
    else:
        return None
    return Diagnostic("E114", message, word.span, fix=fix)


def _reserved(situation: Situation, message: str) -> Diagnostic | None:
    found, expected = situation.found, situation.expected
    if found.kind is not Kind.WORD or found.text not in HARD_WORDS or "NAME" not in expected or "NUMBER" in expected:
        return None
    nameless = (
        situation.before.text in ("invariant", "rest", "recoverable", "cover", "live") and situation.after.text != ":"
    )
    if nameless and found.text in _EXPRESSION_STARTS:
        return Diagnostic("E105", message, found.span, fix=f"a name comes first: `{situation.before.text} name: ..`")
    message = f"`{found.text}` is a keyword and cannot be a name"
    return Diagnostic("E109", message, found.span, fix=f"choose another name, such as `{found.text}_`")


_CASES: tuple[Callable[[Situation, str], Diagnostic | None], ...] = (
    _stray,
    _unclosed,
    _equals,
    _misplaced,
    _reserved,
)


# ------------------------------------------------------------------------------------------------- fixes


def _fix(situation: Situation) -> str | None:
    """The likely fix of an unexpected token, if there is one."""
    found, before, expected = situation.found, situation.before, situation.expected
    first = situation.first
    for token in (found, before):
        if token.kind is Kind.WORD and token.text in _MISTAKEN:
            return f"write `{_MISTAKEN[token.text]}`"
    if found.text == "in" and ":" in expected:
        return "write `x: T`"
    if found.text in _COMPARISONS and found.text not in expected and before.kind in (Kind.WORD, Kind.NUMBER):
        return "comparisons do not chain: write `a < b and b < c`"
    if found.text == "not" and before.text == "is":
        return "write `is some` for `is not none`"
    if found.text == "not" and situation.after.text == "in":
        return "write `not x in s`"
    if found.text in (":", ",", "=>", "|") and "." in expected and "->" in expected:
        return "write `.` behind the variables of a quantifier"
    if found.text == "{" and found.brace == BLOCK_BRACE and "{" not in expected and before.text[:1].isupper():
        return "write the `{` of a record right behind its name: `Task{status: DONE}`"
    undeclared = "on" not in expected or situation.after.text == ":" or found.text in ("queue", "lock")
    if found.kind is Kind.WORD and "durable" in expected and found.text not in _STATEMENT_WORDS and undeclared:
        return f"begin it with `durable` or `volatile`: `durable {found.text} ..`"
    if found.text == "|":
        return "write `or`"
    if found.text == "'":
        return 'a text stands between two `"`'
    if (before.kind is Kind.NUMBER and found.text == ".") or (before.text == "." and found.kind is Kind.NUMBER):
        return "numbers are whole"
    if found.text == "-" and "--" in expected:
        return "write `--` between the two ends of a link"
    if found.text == "(" and expected == {".", "["}:
        return "a process is named first: `call P.thread(..)`"
    if expected == {SET_BRACE}:
        return "write fault sets: `needs {crash A} | {crash B, lose A -- B}`; `{}` where no fault is needed"
    if expected == {"("}:
        return "write `()` when there are no parameters"
    for token in (found, first):
        close = _resembles(token, expected if token is found else _STATEMENT_WORDS | DECLARATION_WORDS)
        if close:
            return f"did you mean `{close}`?"
    if found.text == "," and BREAK in expected:
        return "begin a new line, or write `;`, between two of them"
    if "," in expected and found.kind is Kind.WORD:
        return "write `,` between two of them"
    if BREAK in expected and found.kind is Kind.WORD:
        return "begin a new line, or write `;`, between two of them"
    return None


def _resembles(token: Token, words: Collection[str]) -> str | None:
    """A keyword that the token may be a slip of."""
    if token.kind is not Kind.WORD or len(token.text) < 4 or token.text in words:
        return None
    keywords = [word for word in words if word.islower() and word.isalpha()]
    close = get_close_matches(token.text.lower(), keywords, 1, 0.8)
    return close[0] if close else None


# ------------------------------------------------------------------------------------------------- words


def _describe(token: Token) -> str:
    if token.kind is Kind.END:
        return END
    if token.kind is Kind.BREAK and token.text == "\n":
        return BREAK
    if token.kind is Kind.TEXT:
        return f"the text {shorten(token.text)}"
    if token.kind is Kind.NUMBER:
        return f"the number `{token.text}`"
    if token.kind is Kind.WORD and token.text in HARD_WORDS:
        return f"the keyword `{token.text}`"
    return f"`{shorten(token.text)}`"


def shorten(text: str) -> str:
    """The first line of a text, without control characters, cut to what fits in a message."""
    line = text.split("\n", 1)[0]
    return visible(line if line == text and len(line) <= 40 else line[:40].rstrip() + " ..")


def _expectation(expected: frozenset[str]) -> str:
    """The expected things as a phrase, the closest together first; empty when there are too many to help."""
    rest = set(expected)
    phrases: list[str] = []

    def group(mark: Collection[str], members: Collection[str], phrase: str) -> None:
        if rest.issuperset(mark):
            rest.difference_update(members)
            phrases.append(phrase)

    group(("invariant", "process"), rest & (DECLARATION_WORDS | {"step", "at"}), "a declaration")
    group(("let", "NAME"), rest - {"}", BREAK, END, *_OPERATORS}, "a statement")
    group(("redeliver", "NAME"), rest - {"}", BREAK, END}, "a beat of the scenario")
    told = {"request", "reply", "TEXT", "ok", "refused", "unknown", "duplicate", "failed", "during", "kept", "lost"}
    group(("refused", "during"), told, "what the thread did and how it ended")
    group(("forall", "NUMBER"), rest & _EXPRESSION_STARTS, "an expression")
    if "any" in rest and "an expression" in phrases:
        rest.difference_update(("any", "fresh", "await", "update", "call", "send"))
    group(("NAME", "NUMBER", "set"), rest & {"NAME", "NUMBER", "set", "(", "-"}, "a type")
    group(
        ("durable", "on"),
        rest & {"durable", "volatile", *THREAD_WORDS},
        "a variable or a thread (`on`, `loop`, `task`)",
    )
    operators = rest >= {"+", "%"}
    if operators:
        rest -= _OPERATORS | {"("}
    if rest >= {".", "[", "'"}:
        rest -= {".", "[", "'", "("}
    rest -= {"blocks"}
    if rest >= {"->", "?"}:
        rest -= {"->", "?", "..", "+", "-", "*"}
    if BREAK in rest:
        rest -= {END}
    if BREAK in rest and "}" in rest and len(rest) > 2:
        rest -= {"}"}
    for name, phrase in (("NAME", "a name"), ("NUMBER", "a number"), ("TEXT", 'a text in quotes (`".."`)')):
        if name in rest:
            rest.remove(name)
            phrases.append(phrase)
    if SET_BRACE in rest or RECORD_BRACE in rest:
        rest -= {SET_BRACE, RECORD_BRACE}
    ends = [end for end in (BREAK, END) if end in rest]
    phrases += [f"`{word}`" for word in sorted(rest - {BREAK, END}, key=lambda word: (word.isalpha(), word))] + ends
    if operators and len(phrases) < 4:
        phrases.append("an operator")
    if not phrases or len(phrases) > 8:
        return ""
    return phrases[0] if len(phrases) == 1 else ", ".join(phrases[:-1]) + " or " + phrases[-1]
