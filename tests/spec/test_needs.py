"""`expect .. needs`: how it is written, what it comes to, and the mistakes in it."""

from __future__ import annotations

import pytest

from spec import syntax
from spec.parse import parse
from spec.source import Source
from spec.typecheck import Checked, typecheck
from spec.typed import FaultKind
from tests.spec.typecheck_models import module

MODEL = """\
store db {
  durable x: 0..2
  durable lock l lease
}
process P {
  loop go { db.x := 1; if db.l.acquire() { db.x := 2 } }
}
faults {
  crash db
  crash P without restart
  lose P -- db
  expire db.l
}
invariant p: db.x == 0
invariant q: db.x != 1
cover c: db.x == 2
"""


def parsed(text: str) -> syntax.Expectation:
    file = parse(Source("model.cpt", text))
    assert isinstance(file, syntax.File), file
    (item,) = file.items
    assert isinstance(item, syntax.Expectation)
    return item


def shape(expectation: syntax.Expectation) -> list[list[tuple[FaultKind, bool]]] | None:
    needs = expectation.needs
    return None if needs is None else [[(f.kind, f.restart) for f in each.faults] for each in needs.sets]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("expect refutes p", None),
        ("expect refutes p needs {}", [[]]),
        ("expect refutes p needs{}", [[]]),
        ("expect v refutes p, q needs {crash A}", [[(FaultKind.CRASH, True)]]),
        (
            "expect v refutes p\n  needs {crash A without restart, expire s.l}\n    | {\n  lose A -- s,\n} |\n{}\n",
            [[(FaultKind.CRASH, False), (FaultKind.EXPIRE, True)], [(FaultKind.LOSE, True)], []],
        ),
        (
            "expect refutes p needs {partition A -- B, duplicate s -- A}",
            [[(FaultKind.PARTITION, True), (FaultKind.DUPLICATE, True)]],
        ),
        # `needs` is a name elsewhere
        ("expect needs refutes needs", None),
        ("expect refutes needs needs {}", [[]]),
    ],
)
def test_how_it_is_written(text: str, found: list[list[tuple[FaultKind, bool]]] | None) -> None:
    assert shape(parsed(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "process needs { volatile x: bool }",
        "store needs { durable needs: bool }",
        "variant needs { needs = true }",
        "enum needs { A, B }",
        "process P { loop needs { needs.x := 1 } }",
        "process P { loop l { if needs { x := 1 }\nneeds := 2 } }",
        "invariant needs: needs.x == needs",
    ],
)
def test_it_is_no_keyword_elsewhere(text: str) -> None:
    assert isinstance(parse(Source("model.cpt", text)), syntax.File)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("expect refutes p needs", "write fault sets"),
        ("expect refutes p needs {crash}", None),
        ("expect refutes p needs {crash A} {crash B}", None),
        ("expect refutes p; needs {crash A}", None),
        ("invariant p: a | b", "write `or`"),
        ("invariant p: a || b", "write `or`"),
    ],
)
def test_syntax_errors(text: str, fix: str | None) -> None:
    errors = parse(Source("model.cpt", text))
    assert isinstance(errors, tuple)
    assert len(errors) == 1
    assert fix is None or fix in (errors[0].fix or "")


def test_the_sets_are_the_declared_classes() -> None:
    text = MODEL + "expect refutes p, q needs {lose db -- P, crash P without restart} | {expire db.l}\n"
    checked = typecheck(module(text))
    assert isinstance(checked, Checked), checked
    _, crash, lose, expire = checked.model.faults
    for expectation, name in zip(checked.expectations, "pq", strict=True):
        assert (expectation.name, expectation.needs) == (name, (frozenset({lose, crash}), frozenset({expire})))


def test_nothing_said_and_no_fault_differ() -> None:
    checked = typecheck(module(MODEL + "expect refutes p\nexpect refutes q needs {}\n"))
    assert isinstance(checked, Checked), checked
    assert [e.needs for e in checked.expectations] == [None, (frozenset(),)]


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("expect proves p needs {crash db}", "E288", "`proves`"),
        ("expect reaches c needs {crash db}", "E288", "the cover `c`"),
        ("expect refutes c needs {crash db}", "E288", "the cover `c`"),
        ("expect refutes p needs {crash P}", "E289", "did you mean `crash P without restart`?"),
        ("expect refutes p needs {crash dbb}", "E289", "did you mean `crash db`?"),
        ("expect refutes p needs {partition P -- db}", "E289", "declares no fault class `partition P -- db`"),
        ("expect refutes p needs {crash db, crash db}", "E290", "twice in this set"),
        ("expect refutes p needs {lose P -- db} | {lose db -- P}", "E290", "is there twice"),
        ("expect refutes p needs {lose P -- db, crash db} | {crash db}", "E290", "contains another one"),
        ("expect refutes p needs {} | {crash db}", "E290", "contains another one"),
    ],
)
def test_mistakes(text: str, code: str, words: str) -> None:
    errors = typecheck(module(f"{MODEL}{text}\n"))
    assert isinstance(errors, tuple)
    assert [error.code for error in errors] == [code]
    assert words in f"{errors[0].message} {errors[0].fix}"


def test_a_mistake_in_the_faults_is_not_reported_again() -> None:
    text = MODEL.replace("crash db\n", "crash dbb\n") + "expect refutes p needs {crash dbb}\n"
    errors = typecheck(module(text))
    assert isinstance(errors, tuple)
    assert [error.code for error in errors] == ["E270"]
