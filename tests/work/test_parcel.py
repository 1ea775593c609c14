from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from checker.certificates.certificate import Certificate
from checker.certificates.proof_file import document, verify
from checker.options import Options
from checker.planning.plan import Silence
from checker.verdict import Proved, Refuted
from checker.work.item import perform
from checker.work.parcel import Unpackable, pack, unpack_item, unpack_report
from tests.command import ROOT, environment
from tests.work import jobs

REMOTE = """
import sys
from checker.planning.plan import Silence
from checker.work.item import perform
from checker.work.parcel import pack, unpack_item
report = perform(unpack_item(sys.stdin.buffer.read()), Silence())
for result in report.properties:
    for state in getattr(getattr(result.verdict, "trace", None), "states", ()):
        hash(state)
sys.stdout.buffer.write(pack(report))
"""


@pytest.mark.parametrize("engine", ["auto", "search", "ic3", "bmc"])
@pytest.mark.parametrize("name", ["classics/lease", "classics/retry", "conductor/03_null_id"])
def test_an_item_and_its_report_go_through_bytes(name: str, engine: str) -> None:
    for item in jobs.shipped(name, Options(engine=engine, timeout=20, depth=8 if engine == "bmc" else None)):
        assert unpack_item(pack(item)) == item
        report = perform(item, Silence())
        assert jobs.told(unpack_report(pack(report))) == jobs.told(report)


@pytest.mark.parametrize("engine", ["search", "ic3"])
def test_a_certificate_can_be_written_of_a_report_that_came_as_bytes(engine: str) -> None:
    options = Options(engine=engine, timeout=20)
    item = jobs.shipped("classics/lease", options)[0]
    report = perform(item, Silence())
    text = document(item.module, report, options)
    assert '"kind"' in text
    assert document(item.module, unpack_report(pack(report)), options) == text
    assert all(judged.accepted for judged in verify(text, item.module))


def test_what_is_left_of_a_closed_set_proves_nothing_again(tmp_path: Path) -> None:
    report = unpack_report(pack(perform(jobs.items(tmp_path)[0], Silence())))
    (small,) = [result.verdict for result in report.properties if result.name == "small"]
    assert isinstance(small, Proved)
    assert isinstance(small.certificate, Certificate)
    listed = small.certificate.closed_set
    assert listed is not None
    assert len(listed) == len(list(listed.sample(99, 0))) == small.certificate.states
    assert len(list(listed.sample(2, 0))) == 2
    assert all(state in listed for state in listed.sample(99, 0))
    assert listed.recheck() is not None


def test_a_report_is_worth_the_same_where_texts_have_other_hashes(tmp_path: Path) -> None:
    """The hash of a state may not come along: here it is another one."""
    (item, *_) = jobs.items(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", REMOTE],
        input=pack(item),
        capture_output=True,
        env=environment(PYTHONHASHSEED="4711"),
        cwd=ROOT,
        check=True,
        timeout=60,
    )
    here, there = perform(item, Silence()), unpack_report(done.stdout)
    assert jobs.told(here) == jobs.told(there)
    traces = [
        next(r.verdict.trace for r in report.properties if isinstance(r.verdict, Refuted)) for report in (here, there)
    ]
    # Equal states must be found in a set, whichever process they come from.
    assert set(traces[0].states) == set(traces[1].states)


def test_formulas_are_one_object_wherever_they_come_from() -> None:
    from checker.logic.formula import FALSE, TRUE, Role, Variable, conjunction, disjunction, equals, member

    x = Variable("x", (0, 1, 2, 3), 0, Role.STORE)
    y = Variable("y", (0, 1, 2, 3), 0, Role.STORE)
    low = member(x, 0b0011)
    formula = disjunction((conjunction((low, equals(y, 1))), conjunction((equals(x, 3), equals(y, 2, primed=True)))))
    copy, again, there = pickle.loads(pickle.dumps((formula, formula, x)))
    assert copy is again
    variables = {each.variable.name: each.variable for part in copy.args for each in part.args}
    assert variables["x"] is there
    assert copy is not formula
    assert repr(copy) == repr(formula)
    for part in copy.args:
        assert conjunction(part.args) is part
    assert pickle.loads(pickle.dumps((TRUE, FALSE))) == (TRUE, FALSE)


@pytest.mark.parametrize("data", [b"", b"no pickle", pickle.dumps("a text")])
def test_other_bytes_are_no_item_and_no_report(data: bytes) -> None:
    with pytest.raises(Unpackable):
        unpack_item(data)
    with pytest.raises(Unpackable):
        unpack_report(data)


def test_deep_nesting_can_be_packed(tmp_path: Path) -> None:
    """About as deep as the parser allows."""
    condition = "db.x <= 2"
    for _ in range(24):
        condition = f"not ({condition} and db.x >= 0)"
    (item,) = jobs.items(
        tmp_path,
        f"store db {{ durable x: 0..2 }}\nprocess P {{ task t {{ db.x := 1 }} }}\ninvariant deep: {condition}\n",
    )
    assert item.choice.checked is not None
    assert unpack_item(pack(item)) == item
