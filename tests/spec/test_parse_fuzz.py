"""Whatever the text, parsing ends soon in a tree or in diagnostics with places in it."""

from __future__ import annotations

import time
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spec import syntax
from spec.codes import CODES
from spec.lalr import tables
from spec.load import load
from spec.parse import MAX_ERRORS, parse
from spec.snippet import draw
from spec.source import Source
from tests.spec.trees import outline

MODEL = outline(
    """{
    let (a, b) = redis.tasks.take()
    try { transaction postgres { task[w][a].status := DONE } } catch refused, unknown { fail "why" }
    if not redis.wf.acquire(w) { return (w, a) } else if x in {A, B} { either { q.push(x) } or { } } else { }
    let t = any T where x is some and (y + 1) * 2 <= 3
    step "name" { s := Task{status: DONE}; update p where a == b := if c then d else e }
    retry 3 { for x in all y: T where y' { call Server[s].poll(1, {2}) } }
  }"""
)
TOKENS = sorted(word for word in tables().words if word.strip())
TOKENS += [
    "name",
    "Name",
    "3",
    '"text"',
    "\n",
    ";",
    "// comment\n",
    "/// doc\n",
    "::",
    "&&",
    "\t",
    "\u00e9",
    "\x00",
    '"',
]
LIMIT = 20.0
"""Seconds; far more than any of these texts takes, far less than what blows up."""


def check(text: str) -> None:
    begin = time.perf_counter()
    source = Source("model.cpt", text)
    result = parse(source)
    assert time.perf_counter() - begin < LIMIT
    if isinstance(result, syntax.File):
        assert result.items or result.imports
        return
    assert 0 < len(result) <= MAX_ERRORS
    for diagnostic in result:
        assert diagnostic.code in CODES
        for span in [diagnostic.span, *(note.span for note in diagnostic.notes if note.span)]:
            assert span is not None
            assert span.source is source
            assert 0 <= span.start <= span.end <= len(text)
        assert all(c == "\n" or c.isprintable() for c in draw(diagnostic))


def test_the_model_to_mutate_is_correct() -> None:
    assert isinstance(parse(Source("model.cpt", MODEL)), syntax.File)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=60), st.sampled_from([" ", "", "\n"]))
def test_random_tokens(tokens: list[str], separator: str) -> None:
    check(separator.join(tokens))


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=40))
def test_random_tokens_in_a_thread(tokens: list[str]) -> None:
    check("process P {\n  loop t {\n    " + " ".join(tokens) + "\n  }\n}\ncover c: true\n")


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_mutations_of_a_model(data: st.DataObject) -> None:
    """Deletes, doubles, moves and inserts stretches of a correct model."""
    text = MODEL
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 30)))
        match data.draw(st.sampled_from(["delete", "double", "insert", "move", "cut"])):
            case "delete":
                text = text[:start] + text[end:]
            case "double":
                text = text[:end] + text[start:]
            case "insert":
                text = text[:start] + data.draw(st.sampled_from(TOKENS)) + text[start:]
            case "move":
                at = data.draw(st.integers(0, len(text)))
                text = text[:at] + text[start:end] + text[at:]
            case "cut":
                text = text[:start]
    check(text)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(TOKENS))
def test_one_word_too_many_or_too_few(position: int, word: str) -> None:
    """At a place between two words, a word is inserted or the next one is left out."""
    words = MODEL.split(" ")
    at = position % len(words)
    check(" ".join([*words[:at], word, *words[at:]]))
    check(" ".join([*words[:at], *words[at + 1 :]]))


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=200))
@example("\ud800")
@example("\x00")
@example("\ufeff\ufeff")
@example('"\\')
@example("{" * 101)
@example("\r")
@example("x" * 100_000)
@example("9" * 100_000)
def test_random_text(text: str) -> None:
    check(text)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=200),
        st.tuples(st.integers(0, len(MODEL)), st.binary(min_size=1, max_size=4)).map(
            lambda cut: MODEL.encode()[: cut[0]] + cut[1] + MODEL.encode()[cut[0] :]
        ),
    )
)
def test_random_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.cpt"
    path.write_bytes(data)
    result = load(path, tmp_path)
    if isinstance(result, tuple):
        assert result
        assert all(diagnostic.code in CODES and draw(diagnostic) for diagnostic in result)
    else:
        assert result.source.text
