"""What `check` writes for other tools: JUnit, SARIF, Markdown, annotations, events; by the command as a real process.

The models are small enough to know every answer by hand.  `broken.cpt` sets x in one step; the invariant that x is
false is refuted by that step, as expected in variant `known`, and unexpected in variant `other`.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
import xmlschema

from checker.outputs.annotations import annotated
from checker.outputs.complaint import Complaint, Level
from checker.outputs.sarif import MOST_BYTES, MOST_LOCATIONS, sarif
from checker.version import VERSION
from tests.command import counterpoint
from tests.published import validate_junit, validate_sarif

BROKEN = """\
/// A flag that is set.
switch dummy: bool = false
store db { durable x: bool }
process P { task set { step "set it" { db.x := true } } }
invariant unset: not db.x or dummy
variant known { dummy = false }
variant other { dummy = false }
expect known refutes unset
"""
WRONG = "store db { durable x: Foo }\nprocess P { task t { db.x := 1 } }\ninvariant fine: db.x == 0\n"
MISSED = BROKEN.replace("refutes unset", "proves unset")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything was written for four models."""
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "models").mkdir()
    for name, text in {"broken": BROKEN, "wrong": WRONG, "missed": MISSED}.items():
        (folder / "models" / f"{name}.cpt").write_text(text)
    done = counterpoint(
        "check", "models", "--junit", "j.xml", "--sarif", "s.sarif", "--summary", "s.md", "--github", folder=folder
    )
    (folder / "out.txt").write_text(done.stdout)
    assert done.returncode == 2, done.stderr
    return folder


def test_no_file_mutes_the_terminal(results: Path) -> None:
    text = (results / "out.txt").read_text()
    assert re.search(r"✗ unset +invariant +REFUTED +1 step, no fault", text)
    assert "3 models, 4 variants" in text


def test_the_whole_of_what_is_wrong_is_annotated(results: Path) -> None:
    lines = [line for line in (results / "out.txt").read_text().splitlines() if line.startswith("::")]
    told = "unset is REFUTED: 1 step, no fault"
    assert [re.sub(r",end.*?,", ",", line).partition(" file=")[2] for line in lines] == [
        f"models/broken.cpt,line=5,col=1,title=counterpoint%3A refuted::variant other, {told}",
        "models/missed.cpt,line=5,col=1,title=counterpoint%3A expectation::variant known, "
        f"{told}; the model says that the variant proves it",
        f"models/missed.cpt,line=5,col=1,title=counterpoint%3A refuted::variant other, {told}",
        "models/wrong.cpt,line=1,col=23,title=counterpoint%3A E202::there is no type `Foo`",
    ]


# ------------------------------------------------------------------------------------------------------------ JUnit


def test_junit_follows_the_common_schema(results: Path) -> None:
    validate_junit(results / "j.xml")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("<testcase name=", "<testcase nam="), (' errors="', ' erors="'), ("<system-out>", '<system-out type="x">')],
)
def test_the_schema_refuses_what_is_no_junit(right: str, wrong: str, results: Path, tmp_path: Path) -> None:
    text = (results / "j.xml").read_text()
    assert right in text
    (tmp_path / "j.xml").write_text(text.replace(right, wrong))
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        validate_junit(tmp_path / "j.xml")


def test_junit_has_a_case_for_each_verdict(results: Path) -> None:
    root = ET.parse(results / "j.xml").getroot()
    found = {(case.get("classname"), case.get("name")): [child.tag for child in case] for case in root.iter("testcase")}
    assert found == {
        ("models.broken.known", "unset"): ["system-out"],
        ("models.broken.known", "model_errors"): ["system-out"],
        ("models.broken.other", "unset"): ["failure"],
        ("models.broken.other", "model_errors"): ["system-out"],
        ("models.missed.known", "unset"): ["failure"],
        ("models.missed.known", "model_errors"): ["system-out"],
        ("models.missed.other", "unset"): ["failure"],
        ("models.missed.other", "model_errors"): ["system-out"],
        ("models.wrong", "model"): ["error"],
    }
    assert {key: root.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "9",
        "failures": "3",
        "errors": "1",
    }
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert 'step "set it"' in (failure.text or "")
    assert "models/broken.cpt:5" in (failure.text or "")


def test_junit_is_xml_whatever_names_there_are(tmp_path: Path) -> None:
    (tmp_path / "b.cpt").write_text(BROKEN.replace("set it", "a \x1b[31m < & ]]> \ufffe"))
    done = counterpoint("check", "b.cpt", "--junit", "j.xml", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "\x1b" not in done.stdout
    text = next(ET.parse(tmp_path / "j.xml").getroot().iter("failure")).text
    assert text is not None
    assert "< & ]]>" in text


# ------------------------------------------------------------------------------------------------------------ SARIF


def test_the_schema_refuses_what_is_no_sarif(results: Path) -> None:
    text = (results / "s.sarif").read_text()
    with pytest.raises(jsonschema.ValidationError):
        validate_sarif(text.replace('"level":"error"', '"level":"fatal"'))


def test_sarif_has_a_result_for_each_refuted_property(results: Path) -> None:
    run = validate_sarif((results / "s.sarif").read_text())["runs"][0]
    found = []
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        where = (place["artifactLocation"]["uri"], place["region"]["startLine"])
        found.append((result["ruleId"], result["level"], *where, bool(result.get("suppressions"))))
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert found == [
        ("refuted", "note", "models/broken.cpt", 5, True),
        ("refuted", "error", "models/broken.cpt", 5, False),
        ("expectation", "error", "models/missed.cpt", 5, False),
        ("refuted", "error", "models/missed.cpt", 5, False),
        ("E202", "error", "models/wrong.cpt", 1, False),
    ]
    assert run["tool"]["driver"]["version"] == VERSION
    assert all(rule["help"]["text"] for rule in run["tool"]["driver"]["rules"])


def test_the_run_is_the_code_flow(results: Path) -> None:
    run = validate_sarif((results / "s.sarif").read_text())["runs"][0]
    flow = run["results"][1]["codeFlows"][0]["threadFlows"]
    assert [thread["id"] for thread in flow] == ["P[0]"]
    (step,) = flow[0]["locations"]
    assert step["executionOrder"] == 1
    assert step["location"]["physicalLocation"]["region"]["startLine"] == 4
    assert 'step "set it"' in step["location"]["message"]["text"]
    assert step["state"]["db.x"]["text"] == "true"


def test_fingerprints_outlive_moved_lines(tmp_path: Path) -> None:
    def prints(text: str) -> list[str]:
        (tmp_path / "b.cpt").write_text(text)
        counterpoint("check", "b.cpt", "--sarif", "s.sarif", folder=tmp_path)
        run = validate_sarif((tmp_path / "s.sarif").read_text())["runs"][0]
        return [result["partialFingerprints"]["counterpoint/v1"] for result in run["results"]]

    before = prints(BROKEN)
    assert len(set(before)) == 2
    assert prints("// moved\n\n\n" + BROKEN) == before
    assert set(prints(BROKEN.replace("unset", "unset2"))).isdisjoint(before)


def long_run(steps: int) -> str:
    return f"""\
store db {{ durable n: 0..{steps} }}
process P {{ loop count {{ if db.n < {steps} {{ db.n := db.n + 1 }} }} }}
invariant short: db.n < {steps}
"""


def test_a_long_run_is_cut_to_what_hosts_keep(tmp_path: Path) -> None:
    (tmp_path / "long.cpt").write_text(long_run(1200))
    done = counterpoint("check", "long.cpt", "--sarif", "s.sarif", "--engine", "search", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    run = validate_sarif((tmp_path / "s.sarif").read_text())["runs"][0]
    (flow,) = run["results"][0]["codeFlows"][0]["threadFlows"]
    assert len(flow["locations"]) == MOST_LOCATIONS
    orders = [location["executionOrder"] for location in flow["locations"]]
    assert orders == sorted(orders)
    assert orders[0] == 1
    assert "1000 of " in flow["message"]["text"]


def test_a_file_too_large_for_hosts_says_what_it_leaves_out() -> None:
    many = [Complaint("refuted", Level.ERROR, "x" * 100_000, None, "m.cpt", None, str(n)) for n in range(200)]
    text = sarif(many)
    assert len(text) < 10_000_000
    results = validate_sarif(text)["runs"][0]["results"]
    assert len(results) - 1 == MOST_BYTES // len(json.dumps(results[0], separators=(",", ":")))
    left = 200 - (len(results) - 1)
    assert results[-1]["message"]["text"].startswith(f"{left} more results are left out")


# ---------------------------------------------------------------------------------------------- Markdown, annotations


def test_the_summary_shows_verdicts_and_unexpected_runs(results: Path) -> None:
    text = (results / "s.md").read_text()
    assert "| ❌ | other | unset | REFUTED | 1 step, no fault |" in text
    assert "| ✅ | known | unset | REFUTED | 1 step, no fault |" in text
    assert "REFUTED \\(expected: proves\\)" in text
    assert text.count("<details open>") == 3
    assert text.count("<details>") == 1
    assert text.count("```mermaid") == 4


def test_names_cannot_break_out_of_the_summary(tmp_path: Path) -> None:
    name = "a|b`<img src=x>@team [x](y).cpt"
    (tmp_path / name).write_text(BROKEN.replace("unset", "x_" + "y" * 30))
    done = counterpoint("check", name, "--summary", "s.md", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    heading = next(line for line in (tmp_path / "s.md").read_text().splitlines() if line.startswith("### "))
    assert heading == "### a\\|b\\`&lt;img src=x&gt;@\u200bteam \\[x\\]\\(y\\).cpt"


TOLERANT = """\
store db { volatile x: bool }
process P { task set { db.x := true } }
process Q { task read { if db.x { db.x := true } } }
faults { crash db; crash P }
step invariant kept: db.x => db.x'
"""
"""Only a crash of the store resets x."""


def test_tolerance_is_in_the_summary(tmp_path: Path) -> None:
    (tmp_path / "m.cpt").write_text(TOLERANT)
    counterpoint("check", "m.cpt", "--needs", "--summary", "s.md", folder=tmp_path)
    text = (tmp_path / "s.md").read_text()
    assert "|  | kept | \\{crash db\\} | \\{crash P\\} |" in text


def test_annotations_are_escaped_and_counted() -> None:
    def complaint(message: str) -> Complaint:
        return Complaint("rule", Level.ERROR, message, None, "m.cpt", None, "")

    assert list(annotated([complaint("a\nb%c\r")])) == ["::error title=counterpoint%3A rule::a%0Ab%25c%0D"]
    assert len(list(annotated(complaint(str(n)) for n in range(10)))) == 10
    many = list(annotated(complaint(str(n)) for n in range(25)))
    assert len(many) == 10
    assert many[-1] == "::error title=counterpoint::and 16 more; the log has them all"


# ------------------------------------------------------------------------------------------------------------ events


def test_events_come_one_a_line(tmp_path: Path) -> None:
    (tmp_path / "broken.cpt").write_text(BROKEN)
    done = counterpoint("check", "broken.cpt", "--json-lines", "--junit", "j.xml", "--github", folder=tmp_path)
    assert done.returncode == 1
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events if event["event"] != "progress"] == ["start", "file", "report", "end"]
    assert events[0]["schema"] == "counterpoint-events/1"
    assert events[-1]["exit_code"] == 1
    report = next(event for event in events if event["event"] == "report")
    verdicts = [(v["name"], p["name"], p["verdict"]) for v in report["variants"] for p in v["properties"]]
    assert ("other", "unset", "refuted") in verdicts
    assert "::error" in done.stderr
    assert (tmp_path / "j.xml").exists()


@pytest.mark.parametrize("option", ["--junit", "--sarif", "--summary"])
def test_a_file_that_cannot_be_written_is_an_error(option: str, tmp_path: Path) -> None:
    (tmp_path / "broken.cpt").write_text(BROKEN)
    done = counterpoint("check", "broken.cpt", option, "no/such/file", folder=tmp_path)
    assert done.returncode == 2
    assert "no/such/file cannot be written" in done.stderr


def test_all_is_well(tmp_path: Path) -> None:
    """The good twin: nothing fails, nothing is annotated, no SARIF result."""
    (tmp_path / "fine.cpt").write_text(
        "store db { durable x: bool }\nprocess P { task t { db.x := true } }\ncover set: db.x\n"
    )
    done = counterpoint(
        "check", "fine.cpt", "--junit", "j.xml", "--sarif", "s.sarif", "--summary", "s.md", "--github", folder=tmp_path
    )
    assert done.returncode == 0, done.stdout
    assert "::" not in done.stdout
    root = ET.parse(tmp_path / "j.xml").getroot()
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    assert validate_sarif((tmp_path / "s.sarif").read_text())["runs"][0]["results"] == []
    assert "❌" not in (tmp_path / "s.md").read_text()
