"""Traces out of the command and back into it: formats, `replay`, and what is said when a trace no longer fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import itf_py
import pytest

from checker import cli
from checker.exitcode import ExitCode
from counterexamples.render.json import schema

JOBS = (Path(__file__).parent.parent / "docs" / "examples" / "jobs.cpt").read_text(encoding="utf-8")
COUNTER = """\
const STEP: int = 1
switch twice: bool = false
store db { durable x: 0..4 }
process P {
  loop up {
    await db.x < 2
    if twice { db.x := db.x + STEP } else { db.x := db.x + STEP }
  }
}
faults { crash P }
invariant never_two: db.x != 2
invariant small: db.x <= 3
cover at_two: db.x == 2
scenario first { P.up; .. }
variant one { twice = false }
variant two { twice = true, STEP = 2 }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "jobs.cpt").write_text(JOBS)
    (tmp_path / "counter.cpt").write_text(COUNTER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.execute(arguments)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


# ----------------------------------------------------------------------------------------------------------- formats


def test_a_trace_goes_out_as_json_and_is_replayed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "trace", "jobs.cpt", "--to", "json", "-o", "t.json") == (ExitCode.MET, "", "")
    code, out, _ = ask(capsys, "replay", "t.json")
    assert code == ExitCode.MET
    _, checked, _ = ask(capsys, "check", "jobs.cpt", "--property", "none_forgotten")
    shown = out[: out.index("\n✓ still a run of jobs")]
    assert shown.strip("\n") in checked
    _, again, _ = ask(capsys, "trace", "t.json", "--to", "json")
    assert again == Path("t.json").read_text()


def test_a_report_is_replayed_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, report, _ = ask(capsys, "check", "counter.cpt", "--json")
    Path("report.json").write_text(report)
    code, _, err = ask(capsys, "replay", "report.json")
    assert code == ExitCode.MODEL
    assert "E403" in err
    assert "--property never_two --variant one" in err
    for variant, steps in (("one", 4), ("two", 2)):
        code, out, _ = ask(capsys, "replay", "report.json", "--property", "never_two", "--variant", variant)
        assert (code, f"{steps} steps" in out) == (ExitCode.MET, True)
    code, out, _ = ask(capsys, "replay", "report.json", "--property", "at_two", "--variant", "two")
    assert (code, "REACHED" in out) == (ExitCode.MET, True)
    code, _, err = ask(capsys, "replay", "report.json", "--property", "small")
    assert (code, "E404" in err) == (ExitCode.MODEL, True)


def test_constants_switches_and_faults_come_with_the_trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("counter.cpt", "--variant", "one", "--property", "never_two", "-D", "STEP=2", "--faults", "crash db")
    assert ask(capsys, "trace", *arguments, "--to", "json", "-o", "t.json")[0] == ExitCode.MET
    told = json.loads(Path("t.json").read_text())["model"]
    assert told["faults"] == ["crash db"]
    assert {each["name"]: each["value"] for each in told["constants"]} == {"STEP": 2, "twice": False}
    code, out, _ = ask(capsys, "replay", "t.json")
    assert (code, "2 steps" in out) == (ExitCode.MET, True)


@pytest.mark.parametrize("source", [("jobs.cpt",), ("t.json",), ("t.json", "--model", "jobs.cpt")])
def test_other_formats(source: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(capsys, "trace", "jobs.cpt", "--to", "json", "-o", "t.json")
    _, itf, _ = ask(capsys, "trace", *source, "--to", "itf")
    found = itf_py.trace_from_json(json.loads(itf))
    assert found.states[-1].values["db.job"] == {"Job#0": "PENDING"}
    assert [state.meta.get("fault") for state in found.states].count("crash mq") == 1
    assert ask(capsys, "trace", *source, "--to", "mermaid")[1].startswith("sequenceDiagram\n")
    assert ask(capsys, "trace", *source, "--to", "dot")[1].startswith("digraph {\n")


@pytest.mark.parametrize("form", ["json", "itf", "mermaid", "dot"])
def test_output_is_the_same_wherever_the_model_lies(
    form: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "jobs.cpt").write_text(JOBS)
    texts = [
        ask(capsys, "trace", path, "--to", form)[1]
        for path in ("jobs.cpt", "elsewhere/jobs.cpt", str(folder / "jobs.cpt"))
    ]
    assert texts[0] == texts[1] == texts[2]
    assert str(folder) not in texts[2]
    assert "elsewhere" not in texts[1]


def test_the_scenario_of_a_model_is_a_trace_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, "trace", "counter.cpt", "--variant", "one", "--property", "first", "--to", "json")
    assert code == ExitCode.MET
    assert json.loads(out)["conclusion"] is None
    Path("t.json").write_text(out)
    assert ask(capsys, "replay", "t.json")[0] == ExitCode.MET


def test_which_trace_is_meant(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "trace", "counter.cpt", "--to", "dot")
    assert (code, "E403" in err, "--variant two" in err) == (ExitCode.MODEL, True, True)
    code, _, err = ask(capsys, "trace", "counter.cpt", "--property", "small", "--variant", "one", "--to", "dot")
    assert (code, "E404" in err, "small is PROVED in one" in err) == (ExitCode.MODEL, True, True)


SWINGING = """\
store db { durable x: bool; durable y: bool }
process P { loop go { db.x := not db.x } }
process Q { loop once { await db.x and db.y; db.y := false } }
live some_y: eventually db.y
"""
"""Nobody ever sets y: the run goes round, x on and x off, for ever."""


def test_a_run_without_end_goes_out_and_comes_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("swing.cpt").write_text(SWINGING)
    assert ask(capsys, "trace", "swing.cpt", "--to", "json", "-o", "t.json")[0] == ExitCode.MET
    code, out, _ = ask(capsys, "replay", "t.json")
    assert (code, "still a run of swing" in out) == (ExitCode.MET, True)
    itf = json.loads(ask(capsys, "trace", "t.json", "--to", "itf")[1])
    assert itf["loop"] == 0
    first, last = itf["states"][0], itf["states"][-1]
    assert {**first, "#meta": None} == {**last, "#meta": None}
    assert "  loop for ever\n" in ask(capsys, "trace", "t.json", "--to", "mermaid")[1]
    edited(Path("t.json"), lambda d: put(d, 1, "loop"))
    code, out, _ = ask(capsys, "replay", "t.json")
    assert (code, "E407" in out or "E408" in out) == (ExitCode.REFUTED, True)


# ---------------------------------------------------------------------------------- traces that do not fit any more


@pytest.fixture
def trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    ask(capsys, "trace", "jobs.cpt", "--to", "json", "-o", "t.json")
    return folder / "t.json"


def edited(path: Path, change: Any) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def put(data: Any, value: object, *path: Any) -> None:
    for step in path[:-1]:
        data = data[step]
    data[path[-1]] = value


def drop(data: Any, place: int) -> None:
    del data["steps"][place]


@pytest.mark.parametrize(
    ("change", "step"),
    [
        (lambda d: drop(d, 1), 2),  # the write to the database is left out: the push comes too early
        (lambda d: drop(d, 0), 1),  # nobody asked for anything
        (
            lambda d: put(
                d, {"enum": "State", "member": "DONE"}, "steps", 1, "after", "values", 0, "value", "map", 0, 1
            ),
            2,
        ),
        (lambda d: put(d, "refused", "steps", 2, "event", "ending"), 3),
    ],
)
def test_1_a_trace_that_is_no_run_says_at_which_step(
    change: Any, step: int, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(trace, change)
    code, out, _ = ask(capsys, "replay", "t.json")
    assert code == ExitCode.REFUTED
    assert f"E407: no longer a run of the model at step {step}\n" in out
    code, out, err = ask(capsys, "trace", "t.json", "--to", "mermaid")
    assert (code, out) == (ExitCode.REFUTED, "")
    assert f"E407: t.json is no longer a trace of the model at step {step}\n" in err


def test_1_a_repaired_model(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message is sent before the row is written: step 2 of the trace executes another statement now."""
    Path("jobs.cpt").write_text(
        JOBS.replace("db.job[j] := PENDING; mq.jobs.push(j)", "mq.jobs.push(j); db.job[j] := PENDING")
    )
    code, out, _ = ask(capsys, "replay", "t.json", "jobs.cpt")
    assert (code, "E407: no longer a run of the model at step 2" in out) == (ExitCode.REFUTED, True)


def test_1_another_initial_state(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("jobs.cpt").write_text(JOBS.replace("job: Job -> State?", "job: Job -> State? = DONE"))
    code, out, _ = ask(capsys, "replay", "t.json")
    assert (code, "E407: no longer a run of the model: the initial state" in out) == (ExitCode.REFUTED, True)


def test_1_a_property_that_the_end_does_not_break_any_more(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("jobs.cpt").write_text(JOBS.replace("db.job[j] != PENDING", "db.job[j] != DONE"))
    code, out, _ = ask(capsys, "replay", "t.json")
    assert (code, "E408" in out) == (ExitCode.REFUTED, True)


def test_a_copy_of_the_model_under_another_name_is_the_same_model(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("copy.cpt").write_text(JOBS)
    assert ask(capsys, "replay", "t.json", "copy.cpt")[0] == ExitCode.MET


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: put(d, [{"name": "N", "value": 1}], "model", "constants"), "E406"),
        (lambda d: put(d, ["crash nobody"], "model", "faults"), "E406"),
        (lambda d: put(d, "nowhere", "initial", "values", 0, "store"), "E406"),
        (lambda d: put(d, "no_such_property", "conclusion", "name"), "E406"),
        (lambda d: put(d, "nobody", "model", "name"), "E405"),
        (lambda d: put(d, "counterpoint-trace/0", "schema"), "E402"),
        (lambda d: put(d, {}, "steps"), "E402"),
        (lambda d: d.pop("model"), "E402"),
        (lambda d: put(d, "x", "model", "constants"), "E402"),
    ],
)
def test_2_a_file_that_is_no_trace_of_the_model(
    change: Any, code: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(trace, change)
    exit_code, out, err = ask(capsys, "replay", "t.json")
    assert (exit_code, out) == (ExitCode.MODEL, "")
    assert f"counterpoint: {code}: " in err


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "E402"),
        (b"[1]", "E402"),
        (b"\xff\xfe", "E401"),
        (b"[" * 100_000, "E402"),
        (b'{"vars": [], "states": []}', "E402"),
    ],
)
def test_2_a_file_that_is_no_trace(text: bytes, code: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.json").write_bytes(text)
    exit_code, _, err = ask(capsys, "replay", "t.json", "jobs.cpt")
    assert (exit_code, f"counterpoint: {code}: " in err) == (ExitCode.MODEL, True)


def test_2_no_file_and_nowhere_to_write(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "replay", "gone.json", "jobs.cpt")
    assert (code, "E401" in err) == (ExitCode.MODEL, True)
    code, _, err = ask(capsys, "trace", "t.json", "--to", "itf", "-o", "no/where.json")
    assert (code, "E409" in err) == (ExitCode.MODEL, True)


def test_2_a_model_with_errors(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("jobs.cpt").write_text(JOBS.replace("PENDING, DONE", "PENDING"))
    code, out, _ = ask(capsys, "replay", "t.json")
    assert (code, "jobs.cpt:7" in out) == (ExitCode.MODEL, True)


def test_the_schema_names_everything_that_a_trace_has(trace: Path) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator(schema()).validate(json.loads(trace.read_text()))
