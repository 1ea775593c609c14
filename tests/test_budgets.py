"""Budgets of time, with a real process: what they leave undecided names them, is listed, and is no success."""

from __future__ import annotations

import json
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from checker.check import check_file
from checker.exitcode import ExitCode
from checker.lower import LoweringLimit
from checker.options import Options
from checker.planning.plan import Silence
from checker.result import VariantReport
from checker.time_limit import TimeLimit
from checker.verdict import Proved, Scope, Undecided
from tests.command import AS_EXPECTED, COUNTER, ROOT, counterpoint

TILES = 12


def _hard() -> str:
    """Turning three tiles in a row is an even permutation, so two tiles alone never change places.  The proof is in
    12!/2 = 239,500,800 states, or in an invariant that tells all odd permutations from the even ones."""
    tiles = "".join(f"  durable t{i}: 0..{TILES - 1} = {i}\n" for i in range(TILES))
    turns = "".join(
        f'  loop turn{i} {{ step "turn" {{ let a = db.t{i}; db.t{i} := db.t{i + 1}; db.t{i + 1} := db.t{i + 2}; '
        f"db.t{i + 2} := a }} }}\n"
        for i in range(TILES - 2)
    )
    others = "".join(f" and db.t{i} == {i}" for i in range(2, TILES))
    return f"""\
store db {{
{tiles}}}

process P {{
{turns}}}

invariant hard: not (db.t0 == 1 and db.t1 == 0{others})
"""


HARD = _hard()
VARIANTS = "switch s: bool = true\nvariant one { s = true }\nvariant two { s = false }\nexpect one proves hard\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a_quick.cpt").write_text(COUNTER)
    (tmp_path / "b_hard.cpt").write_text(HARD)
    (tmp_path / "c_waiting.cpt").write_text(HARD + VARIANTS)
    return tmp_path


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_time_for_everything(workers: str, folder: Path) -> None:
    """Two workers come to variant `one` as well, in which the time ends; then `two` is what has not begun."""
    files = ("--junit", "r.xml", "--sarif", "r.sarif", "--summary", "r.md", "--html", "r.html")
    asked = ("--timeout-total", "6", "--workers", workers, "--no-cache")
    began = time.monotonic()
    done = counterpoint("check", ".", *asked, *files, "--trace", "none", folder=folder)
    assert time.monotonic() - began < 40
    assert done.returncode == 1, done.stdout + done.stderr  # never_two of the quick one is refuted
    quick, hard, waiting = done.stdout.split("\n\n")[:3]
    assert "REFUTED" in quick
    assert "PROVED" in quick
    assert "out of time" not in quick
    assert "HOLDS TO" in hard
    assert "out of time (timeout-total 6 s)" in " ".join(hard.split())
    late = "  ? not begun: out of time (timeout-total 6 s)"
    assert waiting.splitlines()[-2:] == ["  two", late]
    if workers == "1":
        assert waiting.splitlines()[1:] == ["  one", late, "  two", late]
        assert "2 variants not begun (timeout-total 6 s)" in done.stdout.splitlines()[-1]
    else:
        assert "out of time (timeout-total 6 s)" in " ".join(waiting.split("  two")[0].split())
        assert "1 variant not begun (timeout-total 6 s)" in done.stdout.splitlines()[-1]
    errors = ET.parse(folder / "r.xml").findall(".//testcase[@classname='c_waiting.two']/error")
    assert [error.get("type") for error in errors] == ["UNDECIDED", "UNDECIDED"]  # `hard` and model errors
    for name in ("r.sarif", "r.md", "r.html"):
        assert "not begun: out of time" in (folder / name).read_text(encoding="utf-8"), name


def test_what_has_not_begun_is_undecided_in_every_detail(folder: Path) -> None:
    done = counterpoint("check", "c_waiting.cpt", "--timeout-total", "0.000001", "--json", folder=folder)
    assert done.returncode == 4
    content = json.loads(done.stdout)
    jsonschema.validate(content, json.loads((ROOT / "checker" / "report.schema.json").read_text()))
    [model] = content["models"]
    assert [variant["begun"] for variant in model["variants"]] == [False, False]
    for variant in model["variants"]:
        assert variant["exit_code"] == 4
        assert variant["cut_short"] == "not begun: out of time (timeout-total 1e-06 s)"
        found = [(each["name"], each["verdict"], each["exit_code"]) for each in variant["properties"]]
        assert found == [("hard", "undecided", 4), ("model_errors", "undecided", 4)]


def test_what_has_not_begun_and_has_no_declared_property_is_no_success(tmp_path: Path) -> None:
    asserting = "store db { durable x: 0..1 }\nprocess P { loop l { assert db.x == 0 } }\n"
    (tmp_path / "m.cpt").write_text(asserting)
    assert counterpoint("check", "m.cpt", folder=tmp_path).returncode == 0
    done = counterpoint(
        "check", "m.cpt", "--no-cache", "--timeout-total", "0.000001", "--junit", "r.xml", folder=tmp_path
    )
    assert done.returncode == 4, done.stdout
    assert "not begun" in done.stdout
    errors = ET.parse(tmp_path / "r.xml").findall(".//error/..")
    assert [case.get("name") for case in errors] == ["model_errors", "assert_2"]


def test_errors_of_models_are_found_though_time_is_over(tmp_path: Path) -> None:
    (tmp_path / "m.cpt").write_text("invariant x: 1 +\n")
    done = counterpoint("check", "m.cpt", "--timeout-total", "0.000001", folder=tmp_path)
    assert done.returncode == 2


def test_the_time_for_each_property(tmp_path: Path) -> None:
    """`simple` needs an invariant of one clause, which IC3 finds at once when `hard` does not keep it busy."""
    (tmp_path / "m.cpt").write_text(HARD + "invariant simple: db.t0 >= 0\n")
    began = time.monotonic()
    done = counterpoint("check", "m.cpt", "--timeout-property", "4", "--json", folder=tmp_path)
    assert time.monotonic() - began < 60
    assert done.returncode == 4
    [variant] = json.loads(done.stdout)["models"][0]["variants"]
    results = {result["name"]: result for result in variant["properties"]}
    assert list(results)[:2] == ["hard", "simple"]
    assert results["simple"]["verdict"] == results["model_errors"]["verdict"] == "proved"
    assert results["hard"]["verdict"] in ("holds_to", "undecided")
    assert "out of time (timeout-property 4 s)" in json.dumps(results["hard"])


@pytest.mark.parametrize("option", ["--timeout-property", "--timeout-total"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "soon"])
def test_a_budget_is_a_number_of_seconds(option: str, value: str, folder: Path) -> None:
    done = counterpoint("check", "a_quick.cpt", option, value, folder=folder)
    assert done.returncode == 2
    assert option in done.stderr
    assert "Traceback" not in done.stderr


def test_the_sooner_budget_is_named(folder: Path) -> None:
    for options, named in (
        (("--timeout", "1", "--timeout-property", "50", "--timeout-total", "50"), "timeout 1 s"),
        (("--timeout", "50", "--timeout-property", "1", "--timeout-total", "50"), "timeout-property 1 s"),
        (("--timeout", "50", "--timeout-property", "50", "--timeout-total", "2"), "timeout-total 2 s"),
    ):
        done = counterpoint("check", "b_hard.cpt", *options, "--property", "hard", folder=folder)
        assert done.returncode == 4
        assert f"out of time ({named})" in " ".join(done.stdout.split()), done.stdout


# ----------------------------------------------------------------------------------------- checks that are cut short


def test_a_check_that_was_cut_short_is_inconclusive() -> None:
    done = VariantReport(None, "", None, Scope((), None))
    assert done.code(Options()) is ExitCode.MET
    assert replace(done, cut_short="why").code(Options()) is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        (Options(crash_points=True), "checker.crashpoints.crash_map.lower"),
        (Options(needs=True), "checker.needs.search.lower"),
    ],
)
@pytest.mark.parametrize("error", [LoweringLimit("too many ways"), MemoryError()])
def test_verdicts_stay_and_what_is_missing_is_told(
    wanted: Options, place: str, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All properties are decided; what was asked besides is not, and that is no success.  A crash for good keeps the
    counter from being full, and whether it takes one is a question of its own."""

    def fail(*_: object, **__: object) -> None:
        raise error

    path = tmp_path / "m.cpt"
    expected = AS_EXPECTED.replace("small, full", "small").replace("never_two", "never_two, full")
    path.write_text("faults { crash P without restart }\n" + COUNTER + expected)
    assert check_file(path, Options(), Silence()).code(Options()) is ExitCode.MET
    monkeypatch.setattr(place, fail)
    report = check_file(path, wanted, Silence())
    [variant] = report.variants
    assert isinstance({result.name: result.verdict for result in variant.properties}["small"], Proved)
    assert report.code(wanted) is ExitCode.INCONCLUSIVE


def test_engines_that_were_stopped_by_the_total_keep_what_they_decided(tmp_path: Path) -> None:
    """`moves` is refuted by one step at once; the other stays open until the total is over."""
    path = tmp_path / "m.cpt"
    path.write_text(HARD + "invariant moves: db.t0 == 0\n")
    report = check_file(path, Options(total=TimeLimit.after(3, "timeout-total")), Silence())
    verdicts = {result.name: result.verdict for result in report.variants[0].properties}
    assert type(verdicts["moves"]).__name__ == "Refuted"
    assert "timeout-total 3 s" in getattr(verdicts["hard"], "reason", "")
    assert not isinstance(verdicts["hard"], Undecided | Proved)
