"""Cubes in words.  The model has one variable of each kind; the sentences are written from docs/language.md."""

from __future__ import annotations

import pytest

from checker.certificates.invariant import Invariant
from checker.logic.formula import Formula, Variable, member
from checker.lower import Lowered, lower
from checker.reports.wording import sentences
from spec.load import load
from spec.typecheck import Choice, typecheck
from spec.types import IdType

MODEL = """\
enum Status { NEW, DONE, FAILED }
ids Job[3]

store db {
  durable status: Job -> Status?
  durable count: 0..5
  durable queue jobs: Job
  durable lock leader
}

ghost ran: Job -> bool

process Server[2] {
  volatile ready: bool
  on submit(j: fresh Job) {
    step "insert" { db.status[j] := NEW }
    step "push" { db.jobs.push(j) }
  }
  loop work {
    let j = db.jobs.take()
    await db.leader.acquire()
    step "run" { ran[j] := true; db.status[j] := DONE; ready := true }
    step "count" { db.count := if db.count < 5 then db.count + 1 else 0 }
    db.leader.release()
    either { db.jobs.ack(j) } or { db.status[j] := FAILED }
  }
}

faults {
  crash Server
  partition Server -- db
}

cover counted: db.count == 5
"""


@pytest.fixture(scope="module")
def lowered(tmp_path_factory: pytest.TempPathFactory) -> Lowered:
    path = tmp_path_factory.mktemp("model") / "kinds.cpt"
    path.write_text(MODEL)
    module = load(path, path.parent)
    assert not isinstance(module, tuple), module
    checked = typecheck(module, Choice())
    assert not isinstance(checked, tuple), checked
    assert isinstance(checked.model.ids["Job"], IdType)
    return lower(checked.model)


def literal(lowered: Lowered, name: str, *values: str, exclude: bool = False) -> Formula:
    variable = next(variable for variable in lowered.system.variables if variable.name == name)
    mask = sum(1 << code for code, value in enumerate(variable.values) if str(value) in values)
    assert mask.bit_count() == len(values), [str(value) for value in variable.values]
    return member(variable, variable.full_mask & ~mask if exclude else mask)


def told(lowered: Lowered, *literals: Formula) -> str:
    (sentence,) = sentences(Invariant((literals,)), lowered)
    return str(sentence)


@pytest.mark.parametrize(
    ("name", "values", "exclude", "words"),
    [
        ("db.status[Job#0]", ["DONE"], False, "for all j: Job: never (db.status[j] == DONE)"),
        ("db.status[Job#2]", ["None"], False, "for all j: Job: never (db.status[j] == none)"),
        ("db.status[Job#1]", ["None"], True, "for all j: Job: never (db.status[j] != none)"),
        ("db.status[Job#0]", ["NEW", "FAILED"], False, "for all j: Job: never (db.status[j] in {NEW, FAILED})"),
        ("db.count", ["4", "5"], False, "never (db.count in {4, 5})"),
        ("db.count", ["4", "5"], True, "never (not db.count in {4, 5})"),
        ("ran[Job#0]", ["True"], False, "for all j: Job: never (ran[j])"),
        ("ran[Job#0]", ["False"], False, "for all j: Job: never (not ran[j])"),
        ("Server[1].ready", ["False"], False, "for all s: Server: never (not Server[s].ready)"),
        ("db.jobs[Job#0]", ["None"], False, "for all j: Job: never (not db.jobs.contains(j))"),
        ("db.jobs[Job#0]", ["None"], True, "for all j: Job: never (db.jobs.contains(j))"),
        ("db.jobs[Job#0]", ["Loose.VISIBLE"], False, "for all j: Job: never (db.jobs.visible(j))"),
        ("used Job#1", ["False"], False, "for all j: Job: never (j is not used yet)"),
        ("Server[0] is up", ["False"], False, "for all s: Server: never (Server[s] is down)"),
        ("Server[0] -- db is cut", ["True"], False, "for all s: Server: never (Server[s] -- db is cut)"),
        ("Server[0].submit control", ["idle"], True, "for all s: Server: never (Server[s].submit is not idle)"),
    ],
)
def test_literals_in_the_language_of_models(
    name: str, values: list[str], exclude: bool, words: str, lowered: Lowered
) -> None:
    assert told(lowered, literal(lowered, name, *values, exclude=exclude)) == words


def _at(lowered: Lowered, control: str, text: str) -> Formula:
    """The thread stands before the statement with this text."""
    variable = next(variable for variable in lowered.system.variables if variable.name == control)
    line = MODEL.split("\n").index(text) + 1
    sites = {site: each for site, each in _sites(lowered).items() if each == line}
    codes = [c for c, value in enumerate(variable.values) if getattr(value, "position", None) in sites]
    assert len(codes) == 1
    return member(variable, 1 << codes[0])


def _sites(lowered: Lowered) -> dict[int, int]:
    from counterexamples.site import sites

    return {number: site.statement.span.line for number, site in sites(lowered.model).items()}


def test_control_and_locals(lowered: Lowered) -> None:
    """A local that is in scope where the thread stands has a value: that it might have none need not be said."""
    at = _at(lowered, "Server[1].submit control", '    step "push" { db.jobs.push(j) }')
    variable = next(v for v in lowered.system.variables if v.name == "Server[1].submit.j")
    assert "dead" in map(str, variable.values)
    j = literal(lowered, "Server[1].submit.j", "dead", "Job#1")
    line = MODEL.split("\n").index('    step "push" { db.jobs.push(j) }') + 1
    assert told(lowered, at, j) == (
        f'for all j: Job, s: Server: never (Server[s].submit is before line {line}: step "push" {{ db.jobs.push(j) }}'
        " and Server[s].submit's j == j)"
    )


def test_one_sentence_for_all_images(lowered: Lowered) -> None:
    """Six cubes: for each of two jobs that differ."""
    cubes = []
    for first in range(3):
        for second in range(3):
            if first != second:
                one = literal(lowered, f"db.status[Job#{first}]", "DONE")
                other = literal(lowered, f"ran[Job#{second}]", "False")
                cubes.append((one, other))
    (sentence,) = sentences(Invariant(tuple(cubes)), lowered)
    assert str(sentence) == "for all distinct j1: Job, j2: Job: never (db.status[j1] == DONE and not ran[j2])"
    assert sentence.cubes == 6


def test_different_cubes_are_different_sentences(lowered: Lowered) -> None:
    invariant = Invariant(
        ((literal(lowered, "ran[Job#0]", "True"),), (literal(lowered, "ran[Job#0]", "False"),)),
    )
    assert {str(each) for each in sentences(invariant, lowered)} == {
        "for all j: Job: never (ran[j])",
        "for all j: Job: never (not ran[j])",
    }


def test_without_symmetries_ids_keep_their_names(lowered: Lowered) -> None:
    from dataclasses import replace

    plain = replace(lowered, system=replace(lowered.system, swaps=()))
    assert told(plain, literal(lowered, "ran[Job#1]", "True")) == "never (ran[Job#1])"


def test_every_literal_has_words(lowered: Lowered) -> None:
    """No variable, with whatever mask, is left in the notation of the lowering."""
    for variable in lowered.system.variables:
        for code in range(variable.size):
            for mask in (1 << code, variable.full_mask & ~(1 << code)):
                if 0 < mask < variable.full_mask:
                    _assert_readable(told(lowered, member(variable, mask)), variable)


def _assert_readable(words: str, variable: Variable) -> None:
    for raw in ("At(", "Waiting(", "Replying(", "Slot(", "ErrorCode(", "Member(", " control", "True", "False"):
        assert raw not in words, (variable.name, words)
