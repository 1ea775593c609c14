"""A report from the cache is the report of a check: in every view of it, for every shipped model, whatever became of
the layout of the file meanwhile."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path

import pytest

from checker.cache import decoding, encoding, evidence
from checker.cache.subject import Subject
from checker.certificates.certificate import Certificate
from checker.certificates.invariance import InvariantCertificate
from checker.commands.draw import picture
from checker.commands.trace import converted
from checker.coverage import Activity
from checker.crashpoints.crash_map import CellResult, CrashMap
from checker.liveness.fairness_needs import Enough, Relied, Repair, Repairs
from checker.liveness.fairness_needs import Needed as NeededFairness
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from checker.needs.needs import Breaking, Needs, Tolerated
from checker.options import Options
from checker.outputs.annotations import annotated
from checker.outputs.complaint import complaints
from checker.outputs.junit import junit
from checker.outputs.markdown import markdown
from checker.outputs.sarif import sarif
from checker.reliance.reliance import Needed, Open, Why
from checker.remark import Remark
from checker.reports.report import View, render
from checker.reports.report_json import file_content
from checker.reports.webpage import page
from checker.result import FileReport, PropertyResult, ScenarioResult, VariantReport
from checker.terminal import page_for
from checker.traces.trace_source import NamedTrace
from checker.verdict import (
    Covered,
    HoldsTo,
    NotARun,
    Proved,
    Refuted,
    Runs,
    Uncovered,
    UncoveredTo,
    Undecided,
)
from counterexamples.render.decoding import Node
from counterexamples.trace import Trace
from spec.event import Event
from spec.load import load
from spec.state import Activation, GlobalState
from tests.cache.models import (
    EVERYTHING,
    ROOT,
    cache_in,
    checked,
    entries,
    items,
    laid_out_otherwise,
    plain,
    source_of,
)
from tests.checker.stuck_models import IDLE, LIKE_TURNS, lock

CONDUCTOR = sorted((ROOT / "models" / "conductor").glob("*.cpt"))
SMALL = sorted((*(ROOT / "models" / "classics").glob("*.cpt"), *(ROOT / "docs" / "examples").glob("*.cpt")))
TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.cpt"))


def views(report: VariantReport, options: Options) -> Mapping[str, str]:
    """Everything that is ever shown of a report."""
    files = [FileReport("model.cpt", "", (plain(report),))]
    terminal = page_for(sys.stdout, "never")
    told = {f"text, {trace}": render(files[0], options, View(trace, True, False, True), terminal) for trace in _TRACES}
    told["quiet"] = render(files[0], options, View("auto", False, True, False), terminal)
    told["json"] = json.dumps(file_content(files[0], options), indent=1)
    told["sarif"] = sarif(complaints(files, options))
    told["junit"] = junit(files, options)
    told["markdown"] = markdown(files, options, 0.0)
    told["annotations"] = "\n".join(annotated(complaints(files, options)))
    told["html"] = page(files, options)
    for found in _traces(report):
        told |= {f"{form} of {found.title}": converted(found, form) for form in ("json", "itf", "mermaid", "dot")}
        told[f"picture of {found.title}"] = picture(found, lambda span: f"{span.source.name}:{span.line}")
    return told


_TRACES = ("full", "short", "none")


def _traces(report: VariantReport) -> Iterator[NamedTrace]:
    for result in report.results:
        if isinstance(result.verdict, Refuted | Covered | Runs):
            name = result.name if isinstance(result, PropertyResult) else None
            yield NamedTrace(result.verdict.trace, name, result.name, report.variant)


def same_from_the_cache(path: Path, options: Options, folder: Path) -> None:
    """Checks a model, and holds the reports that are kept against those that were found."""
    cache = cache_in(folder)
    for item in items(path, options):
        assert cache.look_up(item) is None
        found = checked(item)
        cache.keep(item, found)
        assert cache.notes == []
        kept = cache.look_up(item)
        assert kept is not None, "the report was not kept"
        assert kept.decided is not None
        assert found.decided is None
        assert views(kept, options) == views(found, options)


@pytest.mark.parametrize("path", CONDUCTOR, ids=lambda path: path.stem)
def test_models_of_conductor(path: Path, tmp_path: Path) -> None:
    same_from_the_cache(path, Options(repairs=True), tmp_path)


@pytest.mark.parametrize("path", [*SMALL, *TUTORIAL], ids=lambda path: path.stem)
def test_small_models(path: Path, tmp_path: Path) -> None:
    same_from_the_cache(path, Options(repairs=True), tmp_path)


@pytest.mark.parametrize("text", [LIKE_TURNS, lock(), f"{IDLE}expect proves stuck_threads\n"])
def test_models_with_and_without_stuck_threads(text: str, tmp_path: Path) -> None:
    same_from_the_cache(source_of(text, tmp_path), Options(), tmp_path / "cache")


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "options",
    [
        Options(needs=True, per_instance=True, fairness=True, why=True, crash_points=True),
        Options(needs=True, engine="ic3"),
        Options(engine="bmc", depth=6),
        Options(max_faults=1, symmetry=False),
        Options(faults="none"),
    ],
    ids=["all questions", "ic3", "bounded", "one fault", "no faults"],
)
def test_small_models_with_options(path: Path, options: Options, tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    kept = 0
    for item in items(path, options):
        found = checked(item)
        cache.keep(item, found)
        again = cache.look_up(item)
        if again is not None:
            kept += 1
            assert views(again, options) == views(found, options)
    # Fault sets of what holds up to a depth only are never all known, and so not kept.
    assert kept or (options.depth is not None and path.stem in ("jobs", "retry", "lease"))


@pytest.mark.parametrize("path", [*SMALL, TUTORIAL[-1]], ids=lambda path: path.stem)
def test_places_are_those_of_the_file_as_it_is(path: Path, tmp_path: Path) -> None:
    """What was kept of one layout, shown for another, is what a check of the other says."""
    options = Options(repairs=True)
    here = source_of(path.read_text(), tmp_path, path.name)
    cache = cache_in(tmp_path)
    for item in items(here, options):
        cache.keep(item, checked(item))
    module = load(here, ROOT / "models")
    assert not isinstance(module, tuple)
    source_of(laid_out_otherwise(module.source, 1), tmp_path, path.name)
    for item in items(here, options):
        kept = cache.look_up(item)
        assert kept is not None
        assert views(kept, options) == views(checked(item), options)


def test_names_of_asserts_are_the_lines_that_they_stand_on_now(tmp_path: Path) -> None:
    path = source_of(EVERYTHING, tmp_path)
    options = Options(needs=True, why=True, crash_points=True)
    cache = cache_in(tmp_path)
    for item in items(path, options):
        found = checked(item)
        cache.keep(item, found)
        names = [result.name for result in found.results]
        kept = cache.look_up(item)
        assert kept is not None
        assert views(kept, options) == views(found, options)
    path.write_text("// one\n\n// two\n" + EVERYTHING)
    for item in items(path, options):
        kept = cache.look_up(item)
        assert kept is not None
        lines = [name for name in names if name.startswith("assert_")]
        moved = [f"assert_{int(name.removeprefix('assert_')) + 3}" for name in lines]
        assert [result.name for result in kept.results if result.name.startswith("assert_")] == moved
        assert views(kept, options) == views(checked(item), options)


def test_what_is_not_finished_is_not_kept(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    (_, item) = items(source_of(EVERYTHING, tmp_path), Options())
    found = checked(item)
    first = found.properties[0]
    refuted = next(each for each in found.properties if isinstance(each.verdict, Refuted))
    assert isinstance(refuted.verdict, Refuted)
    unfinished = [
        replace(found, interrupted=True),
        replace(found, cut_short="memory ran out"),
        replace(found, begun=False),
        replace(found, model=None),
        replace(found, properties=(replace(first, verdict=Undecided("out of time")),)),
        replace(found, properties=(replace(first, verdict=HoldsTo(3, "out of time", "search")),)),
        replace(
            found,
            properties=(replace(first, verdict=HoldsTo(3, "the depth limit was reached; ic3: out of time", "search")),),
        ),
        replace(found, scenarios=(replace(found.scenarios[0], verdict=Undecided("memory ran out")),)),
    ]
    for report in unfinished:
        cache.keep(item, report)
        assert entries(tmp_path) == []
    cache.keep(item, found)
    assert len(entries(tmp_path)) == 1


def test_a_run_that_time_may_shorten_is_for_checks_with_no_more_time(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    (_, item) = items(source_of(EVERYTHING, tmp_path), Options(timeout=10.0))
    found = checked(item)
    for shortest in (None, "breadth-first search, not for fewest faults: all shorter paths were explored; "):
        results = tuple(
            replace(each, verdict=replace(each.verdict, shortest=shortest))
            if isinstance(each.verdict, Refuted)
            else each
            for each in found.properties
        )
        cache.keep(item, replace(found, properties=results))
        assert cache.look_up(replace(item, options=replace(item.options, timeout=9.0))) is not None
        assert cache.look_up(item) is not None
        assert cache.look_up(replace(item, options=replace(item.options, timeout=11.0))) is None
    cache.keep(item, found)
    assert cache.look_up(replace(item, options=replace(item.options, timeout=11.0))) is not None


KNOWN: dict[type, set[str]] = {
    VariantReport: {
        "variant", "doc", "model", "scope", "properties", "scenarios", "remarks", "warnings", "activity", "errors",
        "failures", "seconds", "interrupted", "crash_map", "cut_short", "begun", "decided",
    },
    PropertyResult: {"name", "form", "span", "doc", "verdict", "judged", "needs", "why", "fairness"},
    ScenarioResult: {"name", "span", "doc", "verdict", "judged"},
    Remark: {"kind", "subject", "message", "span"},
    Activity: {"idle", "busy"},
    Proved: {"certificate"},
    Refuted: {"trace", "engine", "shortest"},
    HoldsTo: {"depth", "reason", "engine"},
    Undecided: {"reason"},
    Covered: {"trace", "engine", "shortest"},
    Uncovered: {"certificate"},
    UncoveredTo: {"depth", "reason", "engine"},
    Runs: {"trace"},
    NotARun: {"furthest", "beat"},
    Certificate: {"engine", "states", "symmetric", "depth", "walked", "steps", "closed_set", "apart"},
    InvariantCertificate: {"engine", "invariant", "frames", "walked", "steps", "rescues", "told"},
    CycleCertificate: {"closed"},
    RoundsCertificate: {"engine", "rounds", "invariants", "frames", "walked", "steps", "longest", "told"},
    Trace: {"model", "states", "events", "loop"},
    Event: {
        "kind", "slot", "site", "ending", "strike", "kept", "party", "other", "callee", "store", "variable", "item",
    },
    GlobalState: {
        "values", "queues", "locks", "process_values", "ghosts", "used", "activations", "down", "cut", "error",
    },
    Activation: {"at", "locals", "waiting", "caller", "ending"},
    Needs: {"classes", "breaking", "tolerated", "undecided", "reason"},
    Breaking: {"faults", "verdict", "minimal", "orbit"},
    Tolerated: {"faults", "verdict", "orbit"},
    Why: {"needed", "open", "tried"},
    Needed: {"kind", "text", "span", "steps", "shortest"},
    Open: {"kind", "text", "span", "reason"},
    Relied: {"sets", "complete", "reason"},
    Enough: {"needed", "verdict"},
    NeededFairness: {"assumption", "fairness", "without"},
    Repairs: {"found", "tried", "open"},
    Repair: {"assumption", "fairness", "verdict"},
    CrashMap: {"model", "properties", "skipped", "base", "points", "cells", "failures", "interrupted"},
    CellResult: {"cell", "absence", "verdicts", "alone", "struck"},
}  # fmt: skip
"""What the encoding knows of each class."""


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.__name__)
def test_the_encoding_knows_all_parts_of_a_report(kind: type) -> None:
    """A part that is new is lost in the cache, until somebody has written it into `checker.cache.encoding` and
    `checker.cache.decoding`, or found that it follows from the model."""
    assert {field.name for field in fields(kind)} == KNOWN[kind]


def test_what_is_read_says_what_was_written(tmp_path: Path) -> None:
    """Once more encoded, a report that was read is the same data: nothing is lost on the way."""
    options = Options(needs=True, fairness=True, why=True, crash_points=True)
    for item in items(source_of(EVERYTHING, tmp_path), options):
        told = json.loads(json.dumps(encoding.encode_report(checked(item), Subject(item))))
        subject = Subject(item)
        report = decoding.decode_report(Node(told), subject, "")
        assert evidence.complaint_about(report, subject) is None
        assert json.loads(json.dumps(encoding.encode_report(report, subject))) == told
