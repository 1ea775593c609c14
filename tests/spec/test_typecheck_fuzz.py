"""Whatever parses is checked without an exception: a model, or diagnostics with known codes, at places in the text."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec import syntax
from spec.diagnostic import Severity
from spec.parse import parse
from spec.source import Source
from spec.type_codes import TYPE_CODES
from spec.typecheck import Checked, Choice, typecheck
from tests.spec.typecheck_models import EVERYTHING

_TOKEN = re.compile(r'\s+|//[^\n]*|"[^"\n]*"|\w+|:=|==|!=|<=>|=>|->|--|\.\.|<=|>=|.', re.DOTALL)
_TOKENS = _TOKEN.findall(EVERYTHING)
_WORDS = sorted({token for token in _TOKENS if not token.isspace()})
_CODES = {code.code for code in TYPE_CODES}


_NAMES = sorted(
    set(
        re.findall(
            r"(?:const|switch|enum|ids|type|record|def|store|ghost|process|on|loop|task|queue|lock) (\w+)", EVERYTHING
        )
    )
    | set(re.findall(r"(\w+):", EVERYTHING))
    | {"RUNNING", "COMPLETED", "DOING", "SCHEDULED", "none", "true", "self", "0", "7", "bool", "int", "v1", "absent"}
)
_SIMILAR: tuple[tuple[str, ...], ...] = (
    tuple(_NAMES),
    ("==", "!=", "<", "<=", "+", "-", "*", "and", "or", "=>", "<=>", "in"),
    ("forall", "exists", "count", "all"),
    ("push", "take", "pop", "ack", "insert", "delete", "acquire", "release", "contains", "visible", "held", "size"),
    ("call", "send"),
    ("crash", "restart"),
    ("refutes", "proves", "reaches", "runs", "forbids"),
    ("partition", "lose", "duplicate"),
    ("atomic", "try", "either"),
    ("invariant", "cover", "recoverable"),
    ("durable", "volatile"),
)


def mutate(seed: int) -> str:
    """The model with a few tokens replaced (mostly by similar ones), removed or repeated, or lines exchanged."""
    rng = random.Random(seed)
    tokens = list(_TOKENS)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(tokens))
        while tokens[at].isspace():
            at = rng.randrange(len(tokens))
        kinds = [group for group in _SIMILAR if tokens[at] in group]
        if kinds and rng.random() < 0.95:
            tokens[at] = rng.choice(kinds[0])
        elif rng.random() < 0.1:
            tokens[at] = rng.choice(["", tokens[at] * 2, rng.choice(_WORDS)])
    lines = "".join(tokens).splitlines(keepends=True)
    if rng.random() < 0.2:
        first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
        if lines[first].count("{") == lines[first].count("}") and lines[second].count("{") == lines[second].count("}"):
            lines[first], lines[second] = lines[second], lines[first]
    return "".join(lines)


def assert_answers(text: str, choice: Choice) -> bool:
    """Checks the text; whether it was free of syntax errors."""
    file = parse(Source("fuzz.cpt", text))
    if not isinstance(file, syntax.File):
        return False
    result = typecheck(syntax.Module(file.source, file.doc, file.items), choice)
    diagnostics = result.warnings if isinstance(result, Checked) else result
    wanted = Severity.WARNING if isinstance(result, Checked) else Severity.ERROR
    assert isinstance(result, Checked) or result
    for diagnostic in diagnostics:
        assert diagnostic.code in _CODES
        assert diagnostic.severity is wanted
        assert diagnostic.span is None or 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
    return True


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.sampled_from([None, "v1", "v2", "absent"]))
def test_a_mutated_model_is_answered(seed: int, variant: str | None) -> None:
    assert_answers(mutate(seed), Choice(variant))


def test_mutations_often_parse() -> None:
    """The test above would be empty if every mutation were a syntax error."""
    assert sum(assert_answers(mutate(seed), Choice()) for seed in range(60)) >= 20


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["N", "LIMIT", "rescan", "mode", "x"]), st.text(max_size=6))
def test_any_text_for_a_constant_is_answered(name: str, text: str) -> None:
    assert_answers(EVERYTHING, Choice(None, {name: text}, {name: text}))


@pytest.mark.parametrize("depth", [10, 45])
def test_nested_expressions_are_answered(depth: int) -> None:
    nested = "(" * depth + "1" + " + 1)" * depth
    assert assert_answers(EVERYTHING.replace("N > 3", f"{nested} > 3"), Choice())


def test_a_long_chain_is_answered() -> None:
    chain = " and ".join(["N > 3"] * 2_000)
    assert_answers(EVERYTHING.replace("N > 3", chain), Choice())


def test_many_branches_are_answered() -> None:
    chain = " else ".join(["if busy { redis.decider.ack(w) }"] * 300)
    text = EVERYTHING.replace("    redis.decider.ack(w)\n  }\n  loop locked", f"    {chain}\n  }}\n  loop locked")
    assert chain in text
    assert_answers(text, Choice())
