"""`s + t` and `s - t`: expected values are those of set theory, worked out beside each assignment."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.check import check_file
from checker.options import Options
from checker.verdict import Covered, Proved
from spec.interpreter import Interpreter
from spec.typecheck import typecheck
from spec.value import Member
from tests.spec.typecheck_models import check, module

MODEL = """
enum Letter { A, B, C }
store db { durable s: set of Letter; durable start: set of Letter = {A} + {B} - {A}; durable n: set of 0..3 }
process P {
  task t {
    db.s := db.s + {A}             // {A}
    db.s := db.s + {A, B}          // {A, B}
    db.s := db.s - {A, C}          // {B}
    db.s := db.s + db.s - {B}      // + and - associate to the left: {}
    db.s := {C} + db.s             // {C}
    let two: set of 0..3 = {0} + {1}
    db.n := db.n + two - {1}       // {0}
  }
}
"""
SETS = ("", "A", "AB", "B", "", "C")
"""The values that `db.s` takes, one after the other."""


def test_the_interpreter_agrees_with_set_theory() -> None:
    interpreter = Interpreter(check(MODEL + "cover end: 0 in db.n").model)
    state = interpreter.initial()
    assert state.values["db", "start"] == frozenset({Member("Letter", "B")})
    sets = [state.values["db", "s"]]
    while successors := interpreter.successors(state):
        ((_, state),) = successors
        if sets[-1] != state.values["db", "s"]:
            sets.append(state.values["db", "s"])
    assert sets == [frozenset(Member("Letter", name) for name in members) for members in SETS]
    assert state.values["db", "n"] == frozenset({0})


def test_engines_agree_with_set_theory(tmp_path: Path) -> None:
    def text(members: str) -> str:
        return f"db.s == {{{', '.join(members)}}}" if members else "forall l: Letter. not (l in db.s)"

    lines = [f"cover c{place}: {text(members)}" for place, members in enumerate(SETS)]
    lines += [f"invariant only: {' or '.join(f'({text(members)})' for members in SETS)}"]
    lines += [
        "cover zero: db.n == {0}",
        "step invariant shrinks: db.s' != db.s + {A, B, C} - {B}",
    ]
    file = tmp_path / "sets.cpt"
    file.write_text(MODEL + "\n".join(lines) + "\n", encoding="utf-8")
    report = check_file(file, Options())
    verdicts = {result.name: result.verdict for result in report.variants[0].properties}
    assert {"c0", "c4", "only", "zero", "shrinks"} < verdicts.keys()
    for name, verdict in verdicts.items():
        assert isinstance(verdict, Covered if name[0] in "cz" else Proved), name


@pytest.mark.parametrize(
    ("statement", "code", "fix"),
    [
        ("db.s := db.s + A", "E224", "write `{A}`"),
        ("db.s := db.s + 1", "E224", None),
        ("db.s := db.s * {A}", "E224", None),
        ("await db.s < {A}", "E224", None),
        ("db.s := {A} + {1}", "E220", None),
        ("db.s := db.s + db.n", "E220", None),
        ("db.s.insert(A)", "E238", "write `db.s := db.s + {A}`"),
        ("db.s.add(A)", "E238", "write `db.s := db.s + {A}`"),
        ("db.s.delete(A)", "E238", "write `db.s := db.s - {A}`"),
        ("db.s.remove(A)", "E238", "write `db.s := db.s - {A}`"),
    ],
)
def test_what_is_no_set_is_refused_with_what_to_write(statement: str, code: str, fix: str | None) -> None:
    text = MODEL.replace("    let two:", f"    {statement}\n    let two:") + "cover end: 0 in db.n"
    found = typecheck(module(text))
    assert isinstance(found, tuple)
    assert [(each.code, each.fix) for each in found] == [(code, fix)]
