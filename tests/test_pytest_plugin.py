"""The pytest plugin, in pytest runs of their own, as an installation loads it.

The models are those of `tests.command`, whose verdicts are known by hand, and others as small.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from checker.catalogue import library, shipped
from checker.check import check_module
from checker.choosing import choose, named_in, results_of
from checker.options import Options
from spec.load import load
from tests.command import AS_EXPECTED, COUNTER, ROOT, environment

VARIANTS = """\
switch lazy: bool = false
store db { durable x: bool }
process P { task set { if not lazy { assert not db.x; db.x := true } } }
invariant unset: not db.x
cover set: db.x
scenario sets { P.set }
variant eager { lazy = false }
variant idle { lazy = true }
expect eager refutes unset
expect eager reaches set
expect eager runs sets
expect idle proves unset
"""
"""P[0] sets x in one step or, when lazy, does nothing; the scenario is run only where its name is expected."""
TESTS_OF_VARIANTS = [
    *(f"eager::{name}" for name in ("unset", "set", "model_errors", "assert_3", "sets")),
    *(f"idle::{name}" for name in ("unset", "set", "model_errors", "assert_3")),
]
WRONG = "store db { durable x: Foo }\nprocess P { task t { db.x := 1 } }\ninvariant fine: db.x == 0\n"
ONE_WRONG = """\
const N: int = 1
store db { durable x: 0..N }
process P { task t { db.x := 1 } }
invariant small: db.x < 2
variant well { N = 1 }
variant ill { N = -1 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose pytest loads the plugin through the entry point of `pyproject.toml`."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    installed = tmp_path / "installed" / "counterpoint_here-1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: counterpoint-here\nVersion: 1\n")
    lines = [f"{name} = {module}\n" for name, module in points["pytest11"].items()]
    (installed / "entry_points.txt").write_text(f"[pytest11]\n{''.join(lines)}")
    work = tmp_path / "work"
    work.mkdir()
    (work / "pytest.ini").write_text("[pytest]\n")
    return work


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = f"{folder.parent / 'installed'}:{ROOT}"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment(PYTHONPATH=path, PYTEST_ADDOPTS=""),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What `-rA` says of each test, or `-v` with xdist."""
    told = re.findall(r"^(?:\[gw\d\] \[ *\d+%\] )?(PASSED|FAILED|ERROR) (\S+)", done.stdout, flags=re.MULTILINE)
    return {test: outcome for outcome, test in told}


def test_each_verdict_of_a_model_without_variants_is_a_test(folder: Path) -> None:
    (folder / "expected.cpt").write_text(COUNTER + AS_EXPECTED)
    done = run(folder, "-rA")
    names = ("small", "never_two", "full", "two", "model_errors")
    assert outcomes(done) == {f"expected.cpt::{name}": "PASSED" for name in names}, done.stdout
    assert done.returncode == 0


def test_what_is_refuted_fails_with_the_trace_that_check_shows(folder: Path) -> None:
    (folder / "counter.cpt").write_text(COUNTER)
    done = run(folder, "-rA")
    assert outcomes(done) == {
        f"counter.cpt::{name}": "FAILED" if name == "never_two" else "PASSED"
        for name in ("small", "never_two", "full", "two", "model_errors")
    }
    assert done.returncode == 1
    shown = subprocess.run(
        [sys.executable, "-m", "checker.cli", "check", "counter.cpt", "--property", "never_two", "--trace", "full"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    ).stdout
    trace = shown[shown.index("\n\n", shown.index("REFUTED")) :].partition("\n\n1 model")[0].strip("\n")
    assert len(re.findall(r"^ +\d ", trace, flags=re.MULTILINE)) == 4
    assert trace in done.stdout
    assert "FAILED counter.cpt::never_two - REFUTED, 4 steps, no fault" in done.stdout
    assert "counter.cpt:13: REFUTED" not in done.stdout
    assert "Traceback" not in done.stdout


def test_each_variant_has_its_tests_and_a_missed_expectation_fails(folder: Path) -> None:
    (folder / "v.cpt").write_text(VARIANTS)
    (folder / "missed.cpt").write_text(VARIANTS.replace("idle proves unset", "idle refutes unset"))
    done = run(folder, "-rA", "v.cpt", "missed.cpt")
    expected = {f"{file}::{test}": "PASSED" for file in ("v.cpt", "missed.cpt") for test in TESTS_OF_VARIANTS}
    expected["missed.cpt::idle::unset"] = "FAILED"
    assert outcomes(done) == expected
    assert "expected: REFUTED (missed)" in done.stdout
    assert "the cover set is never reached" in done.stdout
    assert done.returncode == 1


def test_a_model_with_errors_is_one_failing_test_with_the_diagnostics(folder: Path) -> None:
    (folder / "wrong.cpt").write_text(WRONG)
    (folder / "one.cpt").write_text(ONE_WRONG)
    done = run(folder, "-rA")
    assert outcomes(done) == {
        "wrong.cpt::model": "FAILED",
        "one.cpt::well::small": "PASSED",
        "one.cpt::well::model_errors": "PASSED",
        "one.cpt::ill::model": "FAILED",
    }
    assert "error[E202]: there is no type `Foo`" in done.stdout
    assert "1 | store db { durable x: Foo }" in done.stdout
    assert "2 | store db { durable x: 0..N }" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("by", ["option", "ini"])
def test_what_is_undecided_fails_with_the_reason(folder: Path, by: str) -> None:
    (folder / "v.cpt").write_text(VARIANTS)
    if by == "ini":
        (folder / "pytest.ini").write_text("[pytest]\ncounterpoint_timeout = 0.0001\n")
    done = run(folder, "-rA", *(["--counterpoint-timeout=0.0001"] if by == "option" else []))
    assert outcomes(done) == {f"v.cpt::{test}": "FAILED" for test in TESTS_OF_VARIANTS}
    assert re.search(r"FAILED v.cpt::eager::unset - UNDECIDED, .*time", done.stdout), done.stdout
    assert re.search(r"FAILED v.cpt::eager::assert_3 - ", done.stdout), done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize("arguments", [["--counterpoint-timeout=soon"], ["--counterpoint-timeout=-1"], []])
def test_a_time_that_is_none_is_an_error_of_usage(folder: Path, arguments: list[str]) -> None:
    (folder / "v.cpt").write_text(VARIANTS)
    if not arguments:
        (folder / "pytest.ini").write_text("[pytest]\ncounterpoint_timeout = soon\n")
    done = run(folder, *arguments)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "soon" in done.stderr or "-1" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_one_test_can_be_chosen_and_the_first_failure_ends_it(folder: Path) -> None:
    (folder / "v.cpt").write_text(VARIANTS.replace("proves", "refutes"))
    assert list(outcomes(run(folder, "-rA", "-k", "idle and unset"))) == ["v.cpt::idle::unset"]
    assert list(outcomes(run(folder, "-rA", "v.cpt::eager::set"))) == ["v.cpt::eager::set"]
    (folder / "z.cpt").write_text(COUNTER)
    stopped = run(folder, "-rA", "-x")
    assert list(outcomes(stopped))[-1] == "v.cpt::idle::unset"
    assert len(outcomes(stopped)) == len(TESTS_OF_VARIANTS) - 3


def test_it_works_in_several_processes_and_for_junit(folder: Path) -> None:
    (folder / "v.cpt").write_text(VARIANTS.replace("idle proves", "idle refutes"))
    (folder / "expected.cpt").write_text(COUNTER + AS_EXPECTED)
    done = run(folder, "-n", "2", "--dist", "loadgroup", "--strict-markers", "--junitxml", "j.xml", "-rf")
    assert done.returncode == 1, done.stdout
    assert "1 failed, 13 passed" in done.stdout
    cases = list(ET.parse(folder / "j.xml").iter("testcase"))
    assert len(cases) == 14
    [(failed, failure)] = [(case, found) for case in cases if (found := case.find("failure")) is not None]
    assert (failed.get("classname"), failed.get("name")) == ("v.cpt.idle", "unset")
    assert "expected: REFUTED (missed)" in (failure.text or "")


def test_a_variant_is_checked_once(folder: Path) -> None:
    (folder / "v.cpt").write_text(VARIANTS)
    (folder / "conftest.py").write_text(
        "import checker.variant as v\n"
        "check = v.check_choice\n"
        "def counting(module, choice, *more):\n"
        "    open('checks.txt', 'a').write(f'{choice.variant}\\n')\n"
        "    return check(module, choice, *more)\n"
        "v.check_choice = counting\n"
    )
    assert run(folder, "--collect-only").returncode == 0
    assert not (folder / "checks.txt").exists()
    assert run(folder).returncode == 0
    assert (folder / "checks.txt").read_text() == "eager\nidle\n"
    assert run(folder, "-k", "idle").returncode == 0
    assert (folder / "checks.txt").read_text() == "eager\nidle\nidle\n"


def test_an_error_of_our_own_fails_every_test_of_the_variant(folder: Path) -> None:
    (folder / "v.cpt").write_text(VARIANTS)
    (folder / "conftest.py").write_text(
        "from dataclasses import replace\n"
        "import checker.variant as v\n"
        "from checker.bundle import Failure\n"
        "check = v.check_choice\n"
        "def failing(module, choice, *more):\n"
        "    report = check(module, choice, *more)\n"
        "    return replace(report, failures=(Failure('lost'),)) if choice.variant == 'idle' else report\n"
        "v.check_choice = failing\n"
    )
    assert outcomes(run(folder, "-rA")) == {
        f"v.cpt::{test}": "FAILED" if test.startswith("idle") else "PASSED" for test in TESTS_OF_VARIANTS
    }


def test_without_models_nothing_of_the_checker_is_loaded(folder: Path) -> None:
    (folder / "test_plain.py").write_text(
        "import sys\n"
        "def test_loaded(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.hasplugin('counterpoint')\n"
        "    assert {m for m in sys.modules if m.split('.')[0] in ('checker', 'spec', 'counterexamples')} == {\n"
        "        'checker', 'checker.pytest_plugin'}\n"
    )
    done = run(folder, "-W", "error")
    assert done.returncode == 0, done.stdout


def test_definitions_for_import_are_no_tests(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "kinds.cpt").write_text("enum Kind { GOOD, BAD }\n")
    (folder / "lib" / "alone.cpt").write_text("enum Sort { A, B }\n")
    (folder / "m.cpt").write_text(
        'import "lib/kinds.cpt"\nstore db { durable k: Kind? }\nprocess P { task t { db.k := BAD } }\n'
        "invariant not_good: db.k != GOOD\n"
    )
    assert outcomes(run(folder, "-rA")) == {
        "m.cpt::not_good": "PASSED",
        "m.cpt::model_errors": "PASSED",
        "lib/alone.cpt::model": "FAILED",
    }


@pytest.mark.parametrize("name", ["classics/peterson", "variants"])
def test_tests_are_what_check_reports_on(name: str, tmp_path: Path) -> None:
    (tmp_path / "v.cpt").write_text(VARIANTS)
    module = load(shipped(library()).get(name, tmp_path / "v.cpt"), library())
    assert not isinstance(module, tuple)
    chosen = choose(module, Options())
    named = named_in(chosen)
    assert [[result.name for result in variant.results] for variant in check_module(module, Options()).variants] == [
        results_of(choice.checked, Options(), named) for choice in chosen if choice.checked is not None
    ]


def test_the_options_of_the_projects_file_count(folder: Path) -> None:
    """Two is reached in four steps, so nothing is refuted with a depth of three."""
    (folder / "counter.cpt").write_text(COUNTER)
    assert outcomes(run(folder, "-rA"))["counter.cpt::never_two"] == "FAILED"
    (folder / "counterpoint.toml").write_text('depth = 3\njunit = "x.xml"\nproperty = "small"\n')
    done = run(folder, "-rA")
    assert outcomes(done)["counter.cpt::never_two"] == "PASSED", done.stdout
    # What is for the command alone has no say here.
    assert len(outcomes(done)) == 5
    assert not (folder / "x.xml").exists()
    assert outcomes(run(folder, "-rA", "--counterpoint-no-config"))["counter.cpt::never_two"] == "FAILED"


def test_mistakes_in_the_projects_file_are_told(folder: Path) -> None:
    (folder / "counter.cpt").write_text(COUNTER)
    (folder / "counterpoint.toml").write_text("tmeout = 3\n")
    done = run(folder, "-rA")
    assert done.returncode != 0
    assert "E432: counterpoint.toml:1: there is no option 'tmeout'" in done.stdout + done.stderr
    (folder / "counterpoint.toml").write_text("[D]\nN = 3\n")
    done = run(folder, "-rA")
    assert outcomes(done) == {"counter.cpt::model": "FAILED"}
    assert "has no constant 'N'" in done.stdout
