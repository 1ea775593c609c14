"""What is in the cache is not believed: damaged, forged and misplaced entries show nothing false."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.cache import entry as file
from checker.cache.entry import Entry
from checker.cache.key import key_of
from checker.options import Options
from checker.result import VariantReport
from checker.verdict import Refuted
from checker.work.item import Item
from tests.cache.models import EVERYTHING, ROOT, TOOL, cache_in, checked, entries, items, source_of

Json = Any


class Kept:
    """A model whose report is kept, and the data of its entry."""

    def __init__(self, folder: Path, text: str = EVERYTHING, options: Options | None = None, place: int = -1) -> None:
        self.folder = folder
        self.item: Item = items(source_of(text, folder), options or Options())[place]
        self.found: VariantReport = checked(self.item)
        cache_in(folder).keep(self.item, self.found)
        (self.path,) = entries(folder)
        self.entry: Entry = file.read(self.path.read_bytes(), self.key)
        assert self.look_up() is not None

    @property
    def key(self) -> str:
        return key_of(self.item, TOOL)

    def look_up(self) -> VariantReport | None:
        return cache_in(self.folder).look_up(self.item)

    def forge(self, report: Json) -> VariantReport | None:
        """What is shown when this stands in the entry, with all its checksums right."""
        self.path.write_bytes(file.write(replace(self.entry, report=report), self.key))
        return self.look_up()

    def refuses(self, change: Callable[[Json], object]) -> bool:
        """Whether a forged entry is refused, and gone."""
        told = copy.deepcopy(self.entry.report)
        change(told)
        assert told != self.entry.report
        return self.forge(told) is None and not self.path.exists()

    def property(self, report: Json, name: str) -> Json:
        return next(each for each in report["properties"] if each["name"] == name)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("everything"), options=Options(max_faults=2))


# ------------------------------------------------------------------------------------------------------------- damage


def test_a_truncated_entry_is_none(kept: Kept) -> None:
    whole = file.write(kept.entry, kept.key)
    for size in (0, 1, 20, whole.index(b"\n"), whole.index(b"\n") + 1, len(whole) // 2, len(whole) - 1):
        kept.path.write_bytes(whole[:size])
        assert kept.look_up() is None
        assert not kept.path.exists()


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_entry_with_another_byte_is_none(kept: Kept, data: st.DataObject) -> None:
    whole = bytearray(file.write(kept.entry, kept.key))
    place = data.draw(st.integers(0, len(whole) - 1))
    new = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[place]))
    whole[place] = new
    kept.path.write_bytes(bytes(whole))
    assert kept.look_up() is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"null\nnull",
        b"[1]\n[2]",
        b"\x80\x04K\x01.",  # a pickled 1
        b"{" * 100_000,
        b'{"schema":' * 50_000,
        b"\xff\xfe\n\x00",
    ],
)
def test_what_is_no_entry_is_none(kept: Kept, text: bytes) -> None:
    kept.path.write_bytes(text)
    assert kept.look_up() is None
    assert not kept.path.exists()


def test_an_entry_of_another_key_schema_or_shape_is_none(kept: Kept) -> None:
    report = kept.entry.report
    kept.path.write_bytes(file.write(kept.entry, "0" * 64))
    assert kept.look_up() is None
    for body in (b"[]", b"{}", b'{"decided":1,"seconds":null,"report":{}}', b"[" * 100_000, b"NaN"):
        head = {"schema": file.SCHEMA, "key": kept.key, "sha256": hashlib.sha256(body).hexdigest()}
        kept.path.write_bytes(json.dumps(head).encode() + b"\n" + body)
        assert kept.look_up() is None
    for decided in ("", "yesterday", "2026-11-30", "<script>"):
        kept.path.write_bytes(file.write(Entry(decided, None, report), kept.key))
        assert kept.look_up() is None
    whole = file.write(kept.entry, kept.key)
    kept.path.write_bytes(whole.replace(file.SCHEMA.encode(), b"counterpoint-result/0", 1))
    assert kept.look_up() is None


# ------------------------------------------------------------------------------------------------------------ forgery


def _refuted(name: str, change: Callable[[Json], object]) -> Callable[[Json], object]:
    def forge(report: Json) -> None:
        verdict = next(each for each in report["properties"] if each["name"] == name)["verdict"]
        assert verdict["verdict"] in ("refuted", "covered")
        change(verdict["trace"])

    return forge


def _shorter(trace: Json) -> None:
    trace["states"].pop()
    trace["events"].pop()


def _other_value(trace: Json) -> None:
    trace["states"][-1]["values"][0]["value"] = 0


def _other_event(trace: Json) -> None:
    trace["events"][0]["slot"]["thread"] = "read"


def _false_start(trace: Json) -> None:
    trace["states"] = trace["states"][-1:]
    trace["events"] = []


@pytest.mark.parametrize("change", [_shorter, _other_value, _other_event, _false_start])
@pytest.mark.parametrize("name", ["never_two", "by_steps", "two", "assert 1"])
def test_a_forged_run_is_not_shown(kept: Kept, name: str, change: Callable[[Json], object]) -> None:
    assert kept.refuses(_refuted(name, change))


def test_a_run_that_shows_another_thing_is_not_shown(kept: Kept) -> None:
    def swap(report: Json) -> None:
        kept.property(report, "by_steps")["verdict"] = kept.property(report, "never_two")["verdict"]

    assert kept.refuses(swap)


def test_a_property_that_is_proved_cannot_be_refuted_by_a_run_of_another(kept: Kept) -> None:
    def swap(report: Json) -> None:
        kept.property(report, "small")["verdict"] = kept.property(report, "never_two")["verdict"]

    assert kept.refuses(swap)


def test_a_lasso_must_come_back_and_be_fair(kept: Kept) -> None:
    def end(loop: int | None) -> Callable[[Json], object]:
        return _refuted("settles", lambda trace: trace.update(loop=loop))

    trace = kept.property(kept.entry.report, "settles")["verdict"]["trace"]
    assert trace["loop"] is not None
    assert kept.refuses(end(None))
    assert kept.refuses(end(0))
    assert kept.refuses(end(99))


def test_a_lasso_of_a_model_with_less_fairness_is_not_shown(kept: Kept) -> None:
    """A run that stays at the start violates `settles` where nobody owes a step, and only there."""

    def forge(report: Json) -> None:
        trace = kept.property(report, "settles")["verdict"]["trace"]
        trace["fairness"] = [["thread", "Server.up", "unfair"], ["thread", "Reader.read", "unfair"]]
        trace["states"], trace["events"], trace["loop"] = trace["states"][:1], [], 0

    assert kept.refuses(forge)


REPAIRS = {"kind": "repairs", "found": [], "tried": 0, "open": []}
BOUND = {"verdict": "holds to", "depth": 3, "reason": "out of time", "engine": "search"}


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report["properties"].pop(),
        lambda report: report["properties"].append(report["properties"][0]),
        lambda report: report["properties"].reverse(),
        lambda report: report["scenarios"].pop(),
        lambda report: report["scenarios"].reverse(),
        lambda report: report.pop("remarks"),
        lambda report: report["activity"].pop(),
        lambda report: report.update(activity=[1]),
        lambda report: report.update(crash_map={"base": [], "cells": []}),
        lambda report: report["properties"][0].update(form="at rest"),
        lambda report: report["properties"][0].update(name="another"),
        lambda report: report["properties"][-1].update(name="assert 7"),
        lambda report: report["properties"][0].update(why={"needed": [], "open": [], "tried": 0}),
        lambda report: report["properties"][0].update(needs={"breaking": [], "tolerated": [], "reason": ""}),
        lambda report: report["properties"][1].update(needs=None),
        lambda report: report["properties"][0].update(fairness=REPAIRS),
        lambda report: report["properties"][0]["verdict"].update(verdict="uncovered"),
        lambda report: report["properties"][0].update(verdict=BOUND),
        lambda report: report["properties"][0]["verdict"]["certificate"].update(engine="wishes"),
        lambda report: report["properties"][0]["verdict"]["certificate"].update(states=True),
        lambda report: report["properties"][0]["verdict"]["certificate"].update(depth=-1),
        lambda report: report["scenarios"][0].update(verdict={"verdict": "not a run", "furthest": 99}),
    ],
)  # fmt: skip
def test_a_report_of_another_shape_is_none(tmp_path: Path, change: Callable[[Json], object]) -> None:
    assert Kept(tmp_path).refuses(change)


def test_a_proof_of_the_wrong_kind_is_none(kept: Kept) -> None:
    closed = kept.property(kept.entry.report, "small")["verdict"]["certificate"]

    def live_by_states(report: Json) -> None:
        kept.property(report, "settles")["verdict"] = {"verdict": "proved", "certificate": closed}

    def states_by_cycles(report: Json) -> None:
        kept.property(report, "small")["verdict"]["certificate"] = {"kind": "no fair cycle", "closed": closed}

    assert kept.refuses(live_by_states)
    assert kept.refuses(states_by_cycles)


def test_a_scenario_is_told_by_a_run_that_follows_it(tmp_path: Path) -> None:
    """`stuck` wants to be told what never happens twice; the run of `straight` does not tell it."""
    one = Kept(tmp_path)

    def forge(report: Json) -> None:
        straight, stuck = report["scenarios"]
        assert (straight["verdict"]["verdict"], stuck["verdict"]["verdict"]) == ("runs", "not a run")
        stuck["verdict"] = straight["verdict"]

    assert one.refuses(forge)


def test_a_run_with_more_faults_than_there_may_be_is_not_shown(tmp_path: Path) -> None:
    """The run that violates `none_forgotten` has a crash; with no fault at all there is none."""
    text = (ROOT / "docs" / "examples" / "jobs.cpt").read_text()
    free = Kept(tmp_path / "free", text)
    bound = Kept(tmp_path / "bound", text, Options(max_faults=0))
    forged = copy.deepcopy(bound.entry.report)
    bound.property(forged, "none_forgotten")["verdict"] = free.property(free.entry.report, "none_forgotten")["verdict"]
    assert bound.forge(forged) is None


def test_a_run_with_faults_that_were_not_chosen_is_not_shown(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "examples" / "jobs.cpt").read_text()
    free = Kept(tmp_path / "free", text)
    without = Kept(tmp_path / "without", text, Options(faults="none"))
    forged = copy.deepcopy(without.entry.report)
    verdict = copy.deepcopy(free.property(free.entry.report, "none_forgotten")["verdict"])
    without.property(forged, "none_forgotten")["verdict"] = verdict
    assert without.forge(forged) is None
    verdict["trace"]["faults"] = []
    assert without.forge(forged) is None


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Proofs by IC3, of an invariant and of a `live` property."""
    path = ROOT / "models" / "classics" / "peterson.cpt"
    found = Kept(tmp_path_factory.mktemp("peterson"), path.read_text(), Options(engine="ic3"), place=0)
    kinds = {each["name"]: each["verdict"]["certificate"]["kind"] for each in found.entry.report["properties"]}
    assert kinds.items() >= {"exclusive": "invariant", "enters": "fair rounds"}.items()
    assert len(found.property(found.entry.report, "exclusive")["verdict"]["certificate"]["never"]) > 1
    return found


def test_an_invariant_without_one_of_its_clauses_is_none(proved: Kept) -> None:
    """IC3 hands over what a proof needs, so none of the clauses can be spared."""
    never = proved.property(proved.entry.report, "exclusive")["verdict"]["certificate"]["never"]
    for place in range(len(never)):

        def drop(report: Json, place: int = place) -> None:
            del proved.property(report, "exclusive")["verdict"]["certificate"]["never"][place]

        assert proved.refuses(drop)


def test_an_invariant_that_says_too_much_is_none(proved: Kept) -> None:
    def exclude_the_start(report: Json) -> None:
        never = proved.property(report, "exclusive")["verdict"]["certificate"]["never"]
        never[0] = dict(list(never[0].items())[:1])

    def everything_is_excluded(report: Json) -> None:
        proved.property(report, "exclusive")["verdict"]["certificate"]["never"] = [{}]

    def of_no_variable(report: Json) -> None:
        proved.property(report, "exclusive")["verdict"]["certificate"]["never"] = [{"nobody": ["x"]}]

    for change in (exclude_the_start, everything_is_excluded, of_no_variable):
        assert proved.refuses(change)


def test_a_bound_for_rounds_that_is_not_proved_is_none(proved: Kept) -> None:
    def cases(report: Json) -> list[Json]:
        found = proved.property(report, "enters")["verdict"]["certificate"]["cases"]
        assert isinstance(found, list)
        return found

    def fewer_rounds(report: Json) -> None:
        for case in cases(report):
            case["rounds"] = 1

    def no_invariant(report: Json) -> None:
        for case in cases(report):
            case["never"] = []

    def no_case(report: Json) -> None:
        cases(report).pop()

    for change in (fewer_rounds, no_invariant, no_case):
        assert proved.refuses(change)


def test_a_way_out_that_leads_nowhere_is_none(tmp_path: Path) -> None:
    text = EVERYTHING.replace("at rest done: db.x != 1", "recoverable done: db.x == 0").split("variant once")[0]
    text = text.replace("loop read {\n    await db.x == 1", "loop read {\n    await db.x != 0")
    text = text.replace("    assert db.x == LAST\n    assert db.x == 1\n", "")
    one = Kept(tmp_path, text, Options(engine="ic3", properties=("done",)))
    ways = one.property(one.entry.report, "done")["verdict"]["certificate"]["ways"]
    assert ways

    def change(report: Json, ways: list[Json]) -> None:
        one.property(report, "done")["verdict"]["certificate"]["ways"] = ways

    assert one.refuses(lambda report: change(report, []))
    assert one.refuses(lambda report: change(report, [[{**ways[0][0], "action": 10_000}]]))
    assert one.refuses(lambda report: change(report, [[{**ways[0][0], "event": "step nobody"}]]))


def test_a_fault_set_is_broken_by_a_run_with_its_faults(tmp_path: Path) -> None:
    """`none_forgotten` breaks with {crash Server} or {crash mq}, and not without faults."""
    one = Kept(tmp_path, (ROOT / "docs" / "examples" / "jobs.cpt").read_text(), Options(needs=True))

    def breaking(report: Json) -> list[Json]:
        found = one.property(report, "none_forgotten")["needs"]["breaking"]
        assert [each["faults"] for each in found] == [["crash Server"], ["crash mq"]]
        return list(found)

    def without_faults(report: Json) -> None:
        breaking(report)[0]["faults"] = []

    def of_the_other(report: Json) -> None:
        found = breaking(report)
        found[0]["verdict"] = found[1]["verdict"]

    def renamed(report: Json) -> None:
        breaking(report)[0]["verdict"]["trace"]["faults"] = ["crash mq"]

    for change in (without_faults, of_the_other, renamed):
        assert one.refuses(change)


def test_what_an_assumption_is_for_is_shown_by_a_run_that_the_others_allow(tmp_path: Path) -> None:
    """`enters` needs the door to swing (weakly fair) and the guest to be strongly fair.  The lasso for the one breaks
    what is assumed of the other."""
    one = Kept(tmp_path, (ROOT / "docs" / "examples" / "door.cpt").read_text(), Options(fairness=True))

    def swap(report: Json) -> None:
        (enough,) = one.property(report, "enters")["fairness"]["sets"]
        first, second = enough["needed"]
        first["without"], second["without"] = second["without"], first["without"]

    assert one.refuses(swap)


def test_a_crash_point_is_dangerous_by_a_run_that_crashes_there(tmp_path: Path) -> None:
    one = Kept(tmp_path, (ROOT / "docs" / "examples" / "jobs.cpt").read_text(), Options(crash_points=True))

    def swap(report: Json) -> None:
        """Puts the run of one cell into another one where the property holds."""
        cells = report["crash_map"]["cells"]
        run = next(each["verdicts"][0] for each in cells if each["verdicts"][0]["verdict"] == "refuted")
        safe = next(each for each in cells if each["verdicts"][0]["verdict"] == "proved")
        safe["verdicts"][0] = run

    assert one.refuses(swap)
    assert one.refuses(lambda report: report["crash_map"]["cells"].pop())


def _places(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for key, item in enumerate(value):
            yield from _places(item, (*path, key))


_ANYTHING: list[Json] = [
    None,
    True,
    False,
    0,
    1,
    2,
    -1,
    10**30,
    "",
    "small",
    "crash db",
    [],
    {},
    [[]],
    {"verdict": "proved"},
]


@given(st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_forgery_raises_or_refutes_what_is_not_refuted(kept: Kept, data: st.DataObject) -> None:
    """Whatever stands anywhere in an entry: a run is shown for what it does violate, or not at all."""
    told = copy.deepcopy(kept.entry.report)
    places = [path for path in _places(told) if path]
    place = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from(places))
    value: Json = told
    for key in other:
        value = value[key]
    new = data.draw(st.sampled_from([*_ANYTHING, copy.deepcopy(value)]))
    holder: Json = told
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = new
    shown = kept.forge(told)
    if shown is not None:
        false = {name for name in _refuted_in(shown) if name not in _refuted_in(kept.found)}
        assert not false


def _refuted_in(report: VariantReport) -> set[str]:
    return {result.name for result in report.properties if isinstance(result.verdict, Refuted)}
