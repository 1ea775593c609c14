"""Faults of single instances: which it takes, worked out by hand, and which of them are alike."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checker.exitcode import ExitCode
from checker.lower import Lowered, lower
from checker.needs import search as needs_search
from checker.needs.instances import exchanges, split
from checker.needs.needs import Breaking, Needs, Tolerated
from checker.options import Options
from checker.outputs.markdown import markdown
from checker.planning import plan
from checker.planning.decisions import Decisions
from checker.reports import needs_report
from checker.reports.report_json import document
from checker.transition_system import TransitionSystem
from checker.verdict import Judgement
from counterexamples.render.page import Page
from spec.typed import Fairness, FaultClass, Model
from tests.agreement.deciding import checked
from tests.checker.test_needs import check, needs_of, results
from tests.command import ROOT, counterpoint
from tests.stand_in import InPlaceOf

# Every server adds one to `failed` where its write to db failed, which takes a lost message on its own link.
TWO_SERVERS = """\
store db { durable x: bool }
ghost failed: 0..2

process Server[2] {
  task go {
    try { db.x := true } catch { failed := failed + 1 }
  }
}

faults {
  crash Server
  lose Server -- db
}

invariant never: failed == 0
invariant not_both: failed < 2
at rest written: db.x
"""

# A server that crashes for good before its write has not written, and the other one still may.
GONE_FOR_GOOD = """\
store db { durable x: bool }

process Server[2] {
  task go { db.x := true }
}

faults {
  crash Server without restart
  crash db
}

at rest written: db.x

expect refutes written needs {crash Server without restart} | {crash db}
"""

# One call, to any of the servers, and between the two servers one link.
CALLED = """\
ghost lost: bool

process Server[2] {
  on ask(): bool { return true }
}

process Client {
  task go {
    try { let yes = call Server.ask() } catch unknown { lost := true }
  }
}

faults {
  lose Client -- Server
  lose Server -- Server
}

invariant answered: not lost

expect refutes answered needs {lose Client -- Server}
"""

# The boss waits until each worker has one of two equal jobs, or a worker that has crashed had one, and removes a job.
# An orphaned one is removed first, and of two that are held that of the least holder (docs/language.md, "Stores,
# queues, locks"): that of Worker[0].  So the crash of Worker[0] leaves no job behind that anybody could get, before the
# removal or after it; that of Worker[1] after the removal does, which the redelivery shows.
FIRST_COMES_FIRST = """\
store mq { durable queue jobs: bool bag(2) }
ghost removed: bool

process Worker[2] {
  task hold {
    let _ = mq.jobs.take()
    await mq.jobs.contains(false) blocks ok
  }
}

process Boss {
  task go {
    mq.jobs.push(true)
    mq.jobs.push(true)
    atomic {
      await not mq.jobs.visible(true)
      mq.jobs.remove(true)
      removed := true
    } blocks ok
  }
}

faults { crash Worker without restart }

invariant kept: removed => not mq.jobs.visible(true)
"""

PER_INSTANCE = Options(needs=True, per_instance=True)
UNMERGED = Options(needs=True, per_instance=True, symmetry=False)


Names = frozenset[str]


def sets(needs: Needs, servers: int = 2) -> tuple[set[Names], set[Names]]:
    """Minimal breaking and maximal safe sets, by their names, those among them that one stands for."""
    assert needs.complete
    assert all(each.minimal for each in needs.breaking)
    return spread(needs.breaking, servers), spread(needs.tolerated, servers)


def spread(listed: Sequence[Breaking | Tolerated], servers: int) -> set[Names]:
    """What sets are listed or stood for, each once."""
    found: set[Names] = set()
    for each in listed:
        names = frozenset(map(str, each.faults))
        alike = renamed(names, servers) if each.orbit > 1 else {names}
        assert len(alike) == each.orbit
        assert not alike & found
        found |= alike
    return found


def renamed(names: Names, servers: int) -> set[Names]:
    """What the permutations of `Server[..]` make of a set."""

    def put(name: str, order: tuple[int, ...]) -> str:
        new = re.sub(r"Server\[(\d+)\]", lambda found: f"Server[{order[int(found[1])]}]", name)
        kind, _, ends = new.partition(" ")
        if ends.count("Server[") < 2:
            return new
        return f"{kind} {' -- '.join(sorted(ends.split(' -- ')))}"

    return {frozenset(put(name, order) for name in names) for order in permutations(range(servers))}


def test_one_instance_suffices_or_both_must_be_struck(tmp_path: Path) -> None:
    """One lost message makes `failed` 1.  Two it becomes by one on each link; or by one server that loses its write,
    crashes, and loses it again after its restart.  A server that has crashed writes after its restart, so that db.x
    stays false only if both lose their writes."""
    report = check(tmp_path, TWO_SERVERS, PER_INSTANCE)
    c0, c1, l0, l1 = "crash Server[0]", "crash Server[1]", "lose Server[0] -- db", "lose Server[1] -- db"
    assert sets(needs_of(report, "never")) == ({frozenset({l0}), frozenset({l1})}, {frozenset({c0, c1})})
    assert sets(needs_of(report, "not_both")) == (
        {frozenset({l0, l1}), frozenset({c0, l0}), frozenset({c1, l1})},
        {frozenset({c0, c1}), frozenset({c0, l1}), frozenset({c1, l0})},
    )
    assert sets(needs_of(report, "written")) == (
        {frozenset({l0, l1})},
        {frozenset({c0, c1, l0}), frozenset({c0, c1, l1})},
    )


def test_sets_that_name_other_ones_of_like_instances_are_listed_once(tmp_path: Path) -> None:
    """The sets of the test above, by orbits of the exchange of the servers: of `never` {l0} and {l1} are one, and {c0,
    c1} is alone; of `not_both` {c0, l0} and {c1, l1} are one, {c0, l1} and {c1, l0} another."""
    report = check(tmp_path, TWO_SERVERS, PER_INSTANCE)
    counts = {
        name: ([each.orbit for each in found.breaking], [each.orbit for each in found.tolerated])
        for name in ("never", "not_both", "written")
        for found in [needs_of(report, name)]
    }
    assert {name: (sorted(broken), sorted(safe)) for name, (broken, safe) in counts.items()} == {
        "never": ([2], [1]),
        "not_both": ([1, 2], [1, 2]),
        "written": ([1], [2]),
    }
    run = counterpoint("check", "model.cpt", "--needs", "--per-instance", "--trace", "none", folder=tmp_path)
    told = " ".join(run.stdout.split())
    assert "breaks with {lose Server[0] -- db}, and 1 more like it, " in told
    assert "{lose Server[1] -- db}" not in told


def test_the_webpage_the_summary_and_the_document_say_how_many_are_alike(tmp_path: Path) -> None:
    check(tmp_path, TWO_SERVERS, PER_INSTANCE)
    files = ("--html", "page.html", "--summary", "summary.md", "--json")
    run = counterpoint("check", "model.cpt", "--needs", "--per-instance", *files, folder=tmp_path)
    document = json.loads(run.stdout)
    jsonschema.validate(document, json.loads((ROOT / "checker" / "report.schema.json").read_text()))
    found = {each["name"]: each["needs"] for each in document["models"][0]["variants"][0]["properties"]}
    assert [(each["faults"], each["orbit"]) for each in found["never"]["breaking"]] == [(["lose Server[0] -- db"], 2)]
    assert [each["orbit"] for each in found["never"]["tolerated"]] == [1]
    assert [each["orbit"] for each in found["written"]["tolerated"]] == [2]
    assert "{lose Server[0] -- db}, and 1 more like it" in (tmp_path / "page.html").read_text()
    assert "lose Server\\[0\\] -- db\\}, and 1 more like it" in (tmp_path / "summary.md").read_text()


def test_undecided_sets_that_are_alike_are_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without faults `not_both` is proved, and no other question has an answer: so each class is undecided by itself,
    and those of the two servers are alike."""

    def decide(system: TransitionSystem, *rest: Any) -> Decisions:
        faults = any(action.fault is not None for action in system.actions)
        return Decisions() if faults else plan.decide(system, *rest)

    monkeypatch.setattr(needs_search, "decide", decide)
    report = check(tmp_path, TWO_SERVERS, PER_INSTANCE)
    needs = needs_of(report, "not_both")
    assert {(frozenset(map(str, each.faults)), each.orbit) for each in needs.undecided} == {
        (frozenset({"crash Server[0]"}), 2),
        (frozenset({"lose Server[0] -- db"}), 2),
    }
    told = "undecided for {crash Server[0]}, and 1 more like it, {lose Server[0] -- db}, and 1 more like it: "
    assert told in " ".join("".join(needs_report.block(report.variants[0], True, Page(width=1000))).split())
    content = json.loads(document([report], PER_INSTANCE, ExitCode.INCONCLUSIVE, 0.0))
    jsonschema.validate(content, json.loads((ROOT / "checker" / "report.schema.json").read_text()))
    found = {each["name"]: each["needs"] for each in content["models"][0]["variants"][0]["properties"]}["not_both"]
    assert sorted(zip(found["undecided"], found["undecided_orbits"], strict=True)) == [
        (["crash Server[0]"], 2),
        (["lose Server[0] -- db"], 2),
    ]
    assert "crash Server\\[0\\]\\}, and 1 more like it" in markdown([report], PER_INSTANCE, 0.0)
    single = needs_of(check(tmp_path, TWO_SERVERS, UNMERGED), "not_both").undecided
    assert [each.orbit for each in single] == [1, 1, 1, 1]


@pytest.mark.parametrize("text", [TWO_SERVERS, GONE_FOR_GOOD, CALLED])
def test_one_question_for_sets_that_are_alike(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With three servers: the same sets as without symmetry, by fewer questions, no two of which are alike."""
    asked: list[Names] = []

    def noted(
        model: Model,
        faults: Collection[FaultClass] | None = None,
        max_faults: int | None = None,
        deadline: float | None = None,
    ) -> Lowered:
        asked.append(frozenset(map(str, model.faults)))
        return lower(model, faults, max_faults, deadline)

    monkeypatch.setattr(needs_search, "lower", InPlaceOf(lower)(noted))
    text = text.replace("Server[2]", "Server[3]")
    merged = results(check(tmp_path, text, PER_INSTANCE))
    few = list(asked)
    asked.clear()
    unmerged = results(check(tmp_path, text, UNMERGED))
    for name, result in unmerged.items():
        needs, alone = merged[name].needs, result.needs
        assert needs is not None
        assert alone is not None
        listed: list[Breaking | Tolerated] = [*alone.breaking, *alone.tolerated]
        assert all(each.orbit == 1 for each in listed)
        assert sets(needs, 3) == sets(alone, 3)
        assert [judged.judgement for judged in merged[name].judged] == [judged.judgement for judged in result.judged]
    assert len(few) < len(asked)
    assert not any(one != other and one in renamed(other, 3) for one, other in combinations(few, 2))


def test_instances_that_a_statement_tells_apart_are_not_alike(tmp_path: Path) -> None:
    report = check(tmp_path, FIRST_COMES_FIRST, PER_INSTANCE)
    zero, one = "crash Worker[0] without restart", "crash Worker[1] without restart"
    needs = needs_of(report, "kept")
    assert needs.complete
    assert [(set(map(str, each.faults)), each.orbit) for each in needs.breaking] == [({one}, 1)]
    assert [(set(map(str, each.faults)), each.orbit) for each in needs.tolerated] == [({zero}, 1)]


def test_only_what_the_model_calls_symmetric_is_alike() -> None:
    """Classes, in order: crashes of two clients; of Client -- Server four (0-0, 0-1, 1-0, 1-1), of Server -- Server
    one; the crash of db.  The exchange of the clients exchanges the first two, the third with the fifth, and the fourth
    with the sixth."""
    text = (
        "store db { durable x: bool }\nprocess Client[2] { task go { db.x := true } }\n"
        "process Server[2] { task go { db.x := true } }\n"
        "faults { crash Client\npartition Client -- Server\nlose Server -- Server\ncrash db }\ninvariant no: db.x"
    )
    model = split(checked(text).model)
    clients, servers = (1, 0, 4, 5, 2, 3, 6, 7), (0, 1, 3, 2, 5, 4, 6, 7)
    assert exchanges(model) == (clients, servers)
    assert exchanges(replace(model, symmetric=frozenset({"Server"}))) == (servers,)
    assert exchanges(replace(model, symmetric=frozenset())) == ()
    assert exchanges(checked(text).model) == ()
    # Without `crash Client[0]` the clients differ; without any crash of theirs they do not.
    assert exchanges(replace(model, faults=model.faults[1:])) == ((0, 2, 1, 4, 3, 5, 6),)
    assert exchanges(replace(model, faults=model.faults[2:])) == ((2, 3, 0, 1, 4, 5), (1, 0, 3, 2, 4, 5))
    unfair = replace(model.faults[0], fairness=Fairness.UNFAIR)
    assert exchanges(replace(model, faults=(unfair, *model.faults[1:]))) == (servers,)


def test_each_trace_is_one_of_its_instances(tmp_path: Path) -> None:
    report = check(tmp_path, TWO_SERVERS, PER_INSTANCE)
    for each in needs_of(report, "never").breaking:
        (chosen,) = each.faults
        struck = [event.party for event in each.verdict.trace.events if event.strike is not None]
        assert [None if party is None else party.instance for party in struck] == [chosen.first_instance]
    wanted = [str(fault) for fault in needs_of(report, "never").classes]
    assert wanted == ["crash Server[0]", "crash Server[1]", "lose Server[0] -- db", "lose Server[1] -- db"]


def test_expected_classes_are_those_of_all_instances(tmp_path: Path) -> None:
    """`written` takes the crash of both servers, as one that is left writes; or of db, during both writes.  By classes
    of all instances that is the crash of servers, or that of db."""
    report = check(tmp_path, GONE_FOR_GOOD, PER_INSTANCE)
    zero, one = "crash Server[0] without restart", "crash Server[1] without restart"
    assert sets(needs_of(report, "written")) == (
        {frozenset({zero, one}), frozenset({"crash db"})},
        {frozenset({zero}), frozenset({one})},
    )
    (judged,) = results(report)["written"].judged
    assert judged.judgement is Judgement.MET
    missed = GONE_FOR_GOOD.replace("needs {crash Server without restart} | {crash db}", "needs {crash db}")
    report = check(tmp_path, missed, PER_INSTANCE)
    (judged,) = results(report)["written"].judged
    assert judged.judgement is Judgement.MISSED


def test_links_between_instances(tmp_path: Path) -> None:
    report = check(tmp_path, CALLED, PER_INSTANCE)
    zero, one, between = "lose Client[0] -- Server[0]", "lose Client[0] -- Server[1]", "lose Server[0] -- Server[1]"
    assert sets(needs_of(report, "answered")) == ({frozenset({zero}), frozenset({one})}, {frozenset({between})})
    assert results(report)["answered"].judged[0].judgement is Judgement.MET


def test_too_many_classes_of_single_instances_are_said_so(tmp_path: Path) -> None:
    """6 servers have 18 classes, two more than are searched."""
    (tmp_path / "many.cpt").write_text(
        "store db { durable x: bool }\nprocess Server[6] { task go { db.x := true } }\n"
        "faults { lose Server -- db\nduplicate Server -- db\npartition Server -- db }\n"
        "step invariant kept: db.x => db.x'\n"
    )
    words = ("check", "many.cpt", "--needs", "--per-instance", "--max-faults", "1", "--trace", "none")
    run = counterpoint(*words, folder=tmp_path)
    assert run.returncode == ExitCode.INCONCLUSIVE, run.stdout + run.stderr
    told = " ".join(run.stdout.split())
    assert "18 fault classes have too many sets" in told
    assert "without --per-instance" in told


def test_per_instance_is_for_needs(tmp_path: Path) -> None:
    (tmp_path / "model.cpt").write_text(CALLED)
    run = counterpoint("check", "model.cpt", "--per-instance", folder=tmp_path)
    assert run.returncode == ExitCode.MODEL
    assert "--needs" in run.stderr
    run = counterpoint("check", "model.cpt", "--needs", "--per-instance", folder=tmp_path)
    assert run.returncode == ExitCode.MET, run.stdout + run.stderr
    assert "{lose Client[0] -- Server[0]}, and 1 more like it" in run.stdout
