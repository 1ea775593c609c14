"""`live` properties, fairness words and `blocks ok`: parsed and typed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spec import syntax
from spec.checking.trees import walk
from spec.typecheck import Checked, typecheck
from spec.typed import (
    Binary,
    Fairness,
    Liveness,
    LiveShape,
    Local,
    Model,
    Operator,
    PropertyForm,
    Quantifier,
    Thread,
)
from tests.spec.trees import expression_of
from tests.spec.typecheck_models import module

MODEL = """\
ids W[2]
store db {{
  durable done: W -> bool
  durable flag: bool
  durable eventually: bool
  durable queue q: W
}}
process S[2] {{
  /// Works.
  {thread} loop work {{
    let w = db.q.take()
    db.done[w] := true
    db.flag := not db.flag
    db.eventually := true
  }}
  on start(w: fresh W) {{ db.q.push(w) }}
}}
faults {{
  crash S {crash}
  crash db without restart
  partition S -- db {cut}
}}
{live}
cover ran: exists w: W. db.done[w]
"""


def model(live: str = "", thread: str = "", crash: str = "", cut: str = "") -> Model:
    checked = typecheck(module(MODEL.format(live=live, thread=thread, crash=crash, cut=cut)))
    assert isinstance(checked, Checked), checked
    return checked.model


def codes(live: str = "", thread: str = "", crash: str = "", cut: str = "") -> list[tuple[str, str]]:
    found = typecheck(module(MODEL.format(live=live, thread=thread, crash=crash, cut=cut)))
    assert not isinstance(found, Checked)
    return [(problem.code, "" if problem.span is None else problem.span.text) for problem in found]


def live(text: str) -> Liveness:
    declared = model(f"live n: {text}").properties[0]
    assert declared.form is PropertyForm.LIVE
    assert declared.live is not None
    return declared.live


@pytest.mark.parametrize(
    ("text", "shape", "right"),
    [
        ("db.flag ~> db.done == db.done", LiveShape.LEADS_TO, "db.done == db.done"),
        ("eventually db.flag", LiveShape.EVENTUALLY, "db.flag"),
        ("always eventually (db.flag)", LiveShape.ALWAYS_EVENTUALLY, "(db.flag)"),
        ("eventually (always (db.flag))", LiveShape.EVENTUALLY_ALWAYS, "(db.flag)"),
        ("eventually always not db.flag", LiveShape.EVENTUALLY_ALWAYS, "not db.flag"),
        ("eventually forall w: W. db.done[w]", LiveShape.EVENTUALLY, "forall w: W. db.done[w]"),
        ("eventually if db.flag then db.flag else false", LiveShape.EVENTUALLY, "if db.flag then db.flag else false"),
        ("db.flag or db.flag => db.flag ~> db.flag <=> db.flag", LiveShape.LEADS_TO, "db.flag <=> db.flag"),
    ],
)
def test_shapes(text: str, shape: LiveShape, right: str) -> None:
    said = live(text)
    assert said.shape is shape
    assert said.right.span.text == right
    assert (said.left is None) is (shape is not LiveShape.LEADS_TO)
    assert said.binders == ()


def test_binders_are_those_of_the_condition() -> None:
    said = live("forall w: W, s: S. forall b: 0..1. db.done[w] and b == 0 ~>\n db.flag")
    assert [(binder.name, str(binder.over)) for binder in said.binders] == [("w", "W"), ("s", "S"), ("b", "0..1")]
    assert said.left is not None
    used = {node.key for node in walk(said.left) if isinstance(node, Local)}
    assert used == {said.binders[0].key, said.binders[2].key}
    condition = (
        model("live n: forall w: W, s: S. forall b: 0..1. db.done[w] and b == 0 ~> db.flag").properties[0].condition
    )
    keys = []
    while isinstance(condition, Quantifier):
        keys.append(condition.key)
        condition = condition.body
    assert len(keys) == 3
    assert isinstance(condition, Binary)
    assert condition.operator is Operator.IMPLIES
    assert (condition.left.span.text, condition.right.span.text) == ("db.done[w] and b == 0", "db.flag")


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("live n: db.flag", "E292", "db.flag"),
        ("live n: always db.flag", "E292", "always db.flag"),
        ("live n: always always db.flag", "E292", "always always db.flag"),
        ("live n: eventually eventually db.flag", "E291", "eventually"),
        ("live n: eventually always eventually db.flag", "E291", "eventually"),
        ("live n: exists w: W. eventually db.done[w]", "E292", "exists w: W. eventually db.done[w]"),
        ("live n: exists w: W. db.flag ~> db.done[w]", "E292", "exists w: W. db.flag ~> db.done[w]"),
        ("live n: db.flag => eventually db.flag", "E292", "db.flag => eventually db.flag"),
        ("live n: not eventually db.flag", "E292", "not eventually db.flag"),
        ("live n: db.flag ~> eventually db.flag", "E291", "eventually"),
        ("live n: db.flag ~> db.flag ~> db.flag", "E291", "~>"),
        ("live n: (forall w: W. eventually db.done[w]) ~> db.flag", "E291", "eventually"),
        ("live n: eventually db.flag'", "E246", "db.flag'"),
        ("invariant n: db.flag ~> db.flag", "E291", "~>"),
        ("at rest n: eventually db.flag", "E291", "eventually"),
        ("def f(b: bool): bool = eventually b\nlive n: f(db.flag) ~> db.flag", "E291", "eventually"),
        ("live n: eventually true", "E274", "n"),
        ("live n: 3 ~> db.flag", "E220", "3"),
    ],
)
def test_errors(text: str, code: str, at: str) -> None:
    assert codes(text) == [(code, at)]


def test_temporal_words_are_names_elsewhere() -> None:
    """`eventually` is a store variable in the model; here also a bound variable, and `always` a definition."""
    said = live("eventually db.eventually")
    assert said.right.span.text == "db.eventually"
    declared = model(
        "def always(b: bool): bool = not b\ninvariant n: forall eventually: 0..1. always(eventually == 1) or db.flag"
    )
    assert declared.properties[0].name == "n"
    assert isinstance(expression_of("always(a)"), syntax.DefinitionCall)
    assert isinstance(expression_of("always + eventually == fair"), syntax.Binary)


@pytest.mark.parametrize(
    ("word", "fairness"), [("", Fairness.WEAK), ("strongly fair", Fairness.STRONG), ("unfair", Fairness.UNFAIR)]
)
def test_fairness(word: str, fairness: Fairness) -> None:
    made = model(thread=word, crash=word)
    work, start = made.processes[0].threads
    assert (work.fairness, start.fairness, work.doc) == (fairness, Fairness.WEAK, "Works.")
    assert [fault.fairness for fault in made.faults] == [fairness, Fairness.WEAK, Fairness.WEAK]
    other = model(cut=word).faults
    assert [fault.fairness for fault in other] == [Fairness.WEAK, Fairness.WEAK, fairness]
    assert made.faults[0] == replace(made.faults[0], fairness=Fairness.STRONG), "for sets of fault classes"


def test_fairness_of_a_fault_without_recovery() -> None:
    text = MODEL.replace("without restart", "without restart unfair")
    found = typecheck(module(text.format(live="", thread="", crash="", cut="")))
    assert not isinstance(found, Checked)
    assert [problem.code for problem in found] == ["E293"]


def _thread(body: str) -> Thread:
    text = MODEL.format(live="", thread="", crash="", cut="").replace("let w = db.q.take()", body)
    checked = typecheck(module(text))
    assert isinstance(checked, Checked), checked
    return checked.model.processes[0].threads[0]


@pytest.mark.parametrize(
    "body",
    [
        "let w = db.q.take() blocks ok",
        "let w = any W where db.done[w] blocks ok",
        "let w = any W; await db.flag blocks ok",
        'let w = any W; step "x" { await db.flag } blocks ok',
        "let w = db.q.pop() blocks ok; let blocks = true; if blocks { return }",
    ],
)
def test_blocks_ok(body: str) -> None:
    statements = _thread(body).body
    marked = [statement for statement in statements if statement.blocks_ok]
    assert len(marked) == 1
    assert "blocks" not in marked[0].text


@pytest.mark.parametrize(
    "body",
    ["let w = any W; db.flag := true blocks ok", "let w = any W; atomic { await db.flag blocks ok }"],
)
def test_blocks_ok_where_nothing_waits(body: str) -> None:
    text = MODEL.format(live="", thread="", crash="", cut="").replace("let w = db.q.take()", body)
    found = typecheck(module(text))
    assert not isinstance(found, Checked)
    assert [(problem.code, problem.span and problem.span.text) for problem in found] == [("E267", "blocks ok")]
