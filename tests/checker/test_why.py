"""What proofs rely on, and proofs that say nothing.  Expected parts are worked out by hand beside each model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.check import check_file
from checker.options import Options
from checker.reliance.parts import ATOMICITY, DURABILITY, GUARD, SWITCH, parts_of
from checker.reliance.reliance import Why
from checker.remark import RemarkKind
from checker.result import FileReport
from checker.verdict import Refuted
from spec.syntax import Variant
from spec.typecheck import Choice, typecheck
from tests.checker.lease import checked, module_of, write
from tests.command import ROOT, counterpoint

TRANSFER = """\
/// Money moves from one account to the other, and is never lost or made.
switch checks: bool = true

store bank {
  durable left: 0..2 = 2
  durable right: 0..2
  durable note: bool
}

process Teller[2] {
  loop move {
    transaction bank {
      if bank.left > 0 {
        bank.left := bank.left - 1
        bank.right := bank.right + 1
      }
    }
    step "note" { bank.note := true }
  }
}

faults { crash bank }

invariant kept: bank.left + bank.right == 2
invariant small: bank.left <= 2
"""
"""kept: needs the transaction (between its two statements 1 + 0 = 1: one statement of one teller, so one step less than
both), and that both accounts are durable: a crash of the bank when one is moved makes `left` 2 again while `right` is 1
(or `right` 0 while `left` is 1); a crash while nothing was moved changes nothing.  The `if` is needed for no property
but model_errors (-1 is outside of the range, an error and not a violation).  small: holds by the range alone."""


def why(tmp_path: Path, text: str, name: str, options: Options) -> Why:
    report = checked(write(tmp_path, text), options)
    found = next(result.why for result in report.properties if result.name == name)
    assert found is not None
    return found


def test_parts_that_a_proof_relies_on(tmp_path: Path) -> None:
    found = why(tmp_path, TRANSFER, "kept", Options(why=True))
    assert {(part.kind, part.text) for part in found.needed} == {
        (ATOMICITY, "transaction bank"),
        (DURABILITY, "durable bank.left"),
        (DURABILITY, "durable bank.right"),
    }
    assert found.open == ()
    steps = {part.text: part.steps for part in found.needed}
    assert all(part.shortest for part in found.needed)
    # The bank crashes during the transaction, which is kept; but half of it is lost again.
    assert (steps["durable bank.left"], steps["durable bank.right"]) == (1, 1)


def test_a_property_that_relies_on_nothing(tmp_path: Path) -> None:
    found = why(tmp_path, TRANSFER, "small", Options(why=True))
    assert found.needed == ()
    assert found.tried >= 6


def test_a_switch_and_a_guard(tmp_path: Path) -> None:
    """With care a job is run before it is finished.  Without the switch, five steps lead to an unfounded finish: no,
    four: submit, push, take, finish (the step "run" is left out)."""
    from tests.checker.lease import MODEL

    found = why(tmp_path, MODEL, "finished_was_run", Options(why=True, variants=("with_care",)))
    assert {(part.kind, part.steps) for part in found.needed} == {(SWITCH, 4)}


def test_a_guard_that_a_proof_needs(tmp_path: Path) -> None:
    text = """\
store db { durable x: 0..3 }
process P { loop up { await db.x < 2
    db.x := if db.x < 3 then db.x + 1 else 3 } }
invariant small: db.x <= 2
"""
    found = why(tmp_path, text, "small", Options(why=True))
    assert [(part.kind, part.text, part.steps) for part in found.needed] == [(GUARD, "await db.x < 2", 3)]


def test_all_parts_are_found_and_each_changed_model_type_checks(tmp_path: Path) -> None:
    module = module_of(write(tmp_path, TRANSFER))
    model = typecheck(module, Choice())
    assert not isinstance(model, tuple)
    parts = list(parts_of(module, model.model))
    kinds = [part.kind for part in parts]
    assert {kind: kinds.count(kind) for kind in kinds} == {SWITCH: 1, DURABILITY: 3, ATOMICITY: 1, GUARD: 1}
    for part in parts:
        changed = typecheck(part.module, Choice(None, {}, dict(part.switches)))
        assert not isinstance(changed, tuple), (part.text, changed)
        assert part.module is not module


def test_parts_of_the_shipped_models_type_check() -> None:
    """All but few: a statement may need the names of the block that it stands in."""
    from spec.load import load

    tried = failed = 0
    for path in sorted((ROOT / "models" / "conductor").glob("*.cpt")):
        module = load(path, ROOT / "models")
        assert not isinstance(module, tuple)
        variant = next((item.name.name for item in module.items if isinstance(item, Variant)), None)
        checked_model = typecheck(module, Choice(variant))
        assert not isinstance(checked_model, tuple)
        for part in parts_of(module, checked_model.model):
            tried += 1
            failed += isinstance(typecheck(part.module, Choice(variant, {}, dict(part.switches))), tuple)
    assert tried > 60
    assert failed <= tried // 20


def test_the_command_shows_invariant_and_parts(tmp_path: Path) -> None:
    from tests.checker.lease import MODEL

    write(tmp_path, MODEL)
    arguments = ("check", "lease.cpt", "--variant", "with_care", "--engine", "ic3", "--why")
    done = counterpoint(*arguments, "--trace", "none", folder=tmp_path)
    assert done.returncode == 0
    assert "for all j: Job: never (db.finished[j] and not ran[j])" in done.stdout
    assert "switch: careful = true (and not false) (line 3); without it refuted in 4 steps" in done.stdout
    (report,) = json.loads(counterpoint(*arguments, "--json", folder=tmp_path).stdout)["models"]
    (result,) = [each for each in report["variants"][0]["properties"] if each["name"] == "finished_was_run"]
    assert result["evidence"]["invariant"][0] == "for all j: Job: never (db.finished[j] and not ran[j])"
    assert [part["kind"] for part in result["why"]["needed"]] == ["switch"]


# ---------------------------------------------------------------------------------------------------------- vacuity

IDLE = """\
store db { durable x: 0..3; durable y: 0..3 }

process P {
  loop up {
    await db.y == 1
    db.x := 1
  }
  loop other { db.y := if db.y == 0 then 2 else 0 }
}

invariant x_is_zero: db.x == 0
invariant y_is_even: db.y != 1
invariant imply: db.y == 3 => db.x == 1
"""
"""y goes 0, 2, 0, ...; it is never 1, so x is never written, and never 3."""


@pytest.mark.parametrize("engine", ["auto", "search", "ic3"])
def test_proofs_that_say_nothing_are_told(engine: str, tmp_path: Path) -> None:
    report = checked(write(tmp_path, IDLE), Options(engine=engine))
    told = {(remark.kind, remark.subject): remark.message for remark in report.remarks}
    assert told == {
        (RemarkKind.UNCHANGING, "x_is_zero"): "x_is_zero is vacuous: nothing that it speaks of ever changes",
        (RemarkKind.VACUOUS, "imply"): ("imply is vacuous: the left side of an implication in it is never true"),
    }


@pytest.mark.parametrize("engine", ["search", "ic3"])
def test_a_step_that_never_runs_changes_nothing(engine: str, tmp_path: Path) -> None:
    """m and n change together, so they never differ and x is never set.  Each takes both values, so only a search or a
    proof tells that the step that sets x never runs."""
    text = """\
store db { durable m: bool; durable n: bool; durable x: bool }

process P {
  loop flip { step "flip" { db.m := not db.m; db.n := not db.n } }
  loop set {
    await db.m != db.n
    db.x := true
  }
}

invariant x_is_false: not db.x
invariant they_agree: db.m == db.n
"""
    report = checked(write(tmp_path, text), Options(engine=engine))
    assert [remark.message for remark in report.remarks] == [
        "x_is_false is vacuous: nothing that it speaks of ever changes"
    ]


FLAG = """\
/// The flag of an alarm, which only the wrong branch raises.
switch careless: bool = false
store db { durable wrong: bool; durable done: bool }

process P {
  loop work {
    if careless { db.wrong := true } else { db.done := true }
  }
}

invariant no_alarm: not db.wrong
invariant alarm_is_late: db.wrong => db.done
variant first { careless = true }
variant second { careless = false }
"""


def _remarks(report: FileReport) -> list[tuple[str | None, RemarkKind, str]]:
    return [(each.variant, remark.kind, remark.subject) for each in report.variants for remark in each.remarks]


def test_what_another_variant_refutes_is_not_vacuous_as_written(tmp_path: Path) -> None:
    """In `second` nobody raises the flag, and `first` shows that the property can be broken.  The implication is told
    of all the same: its left side is never true there."""
    report = check_file(write(tmp_path, FLAG), Options(), library=tmp_path)
    assert isinstance(report.variants[0].properties[0].verdict, Refuted)
    assert _remarks(report) == [("second", RemarkKind.VACUOUS, "alarm_is_late")]


def test_its_twin_that_no_variant_refutes_is(tmp_path: Path) -> None:
    """The same two variants, but for the condition: neither raises the flag."""
    text = FLAG.replace("if careless", "if careless and db.wrong")
    report = check_file(write(tmp_path, text), Options(), library=tmp_path)
    assert [subject for _, kind, subject in _remarks(report) if kind is RemarkKind.UNCHANGING] == ["no_alarm"] * 2


def test_a_refutation_counts_only_where_it_was_found(tmp_path: Path) -> None:
    report = check_file(write(tmp_path, FLAG), Options(variants=("second",)), library=tmp_path)
    assert ("second", RemarkKind.UNCHANGING, "no_alarm") in _remarks(report)
