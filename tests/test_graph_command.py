"""`counterpoint graph`: formats, expressions to show, limits, and what is said when something is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checker import cli
from checker.exitcode import ExitCode

JOBS = (Path(__file__).parent.parent / "docs" / "examples" / "jobs.cpt").read_text(encoding="utf-8")
needs_program = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "jobs.cpt").write_text(JOBS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.execute(("graph", *arguments))
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def test_text_without_any_program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    code, text, _ = ask(capsys, "jobs.cpt", "--faults", "none", "--show", "db.job", "--show", "mq.jobs.size")
    assert (code, text.startswith("digraph {")) == (ExitCode.MET, True)
    assert ask(capsys, "jobs.cpt", "--faults", "none", "--show", "db.job", "--show", "mq.jobs.size")[1] == text
    # Without faults a job is none, PENDING, pushed, DONE, acknowledged.
    assert text.count("state") - text.count("states,") == 5
    assert text.count("mq.jobs.size = 1") == 2
    for name in ("g.dot", "g.gv"):
        assert ask(capsys, "jobs.cpt", "--faults", "none", "--depth", "1", "-o", name)[0] == ExitCode.MET
        assert Path(name).read_text().startswith("digraph {")
    code, out, err = ask(capsys, "jobs.cpt", "--depth", "1", "-o", "g.svg")
    assert (code, out) == (ExitCode.MODEL, "")
    assert "E413" in err
    assert "-o g.dot" in err
    assert not Path("g.svg").exists()


@needs_program
@pytest.mark.parametrize(("name", "begin"), [("g.svg", b"<?xml"), ("g.png", b"\x89PNG"), ("G.PDF", b"%PDF")])
def test_pictures(name: str, begin: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "jobs.cpt", "--process", "Server", "-o", name)[0] == ExitCode.MET
    assert Path(name).read_bytes().startswith(begin)


def test_around_a_counterexample(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = ask(capsys, "jobs.cpt", "--around", "none_forgotten")
    assert code == ExitCode.MET
    assert "a run of 4 steps" in text
    assert text.count("penwidth=2.2") == 4
    assert text.count("✗ none_forgotten") == 1
    code, _, err = ask(capsys, "jobs.cpt", "--around", "none_forgoten")
    assert (code, "did you mean 'none_forgotten'" in err) == (ExitCode.MODEL, True)
    code, _, err = ask(capsys, "jobs.cpt", "--around", "none_forgotten", "--faults", "none")
    assert (code, "E404" in err) == (ExitCode.MODEL, True)
    code, _, err = ask(capsys, "jobs.cpt", "--around", "none_forgotten", "--depth", "2")
    assert code == ExitCode.MODEL


@pytest.mark.parametrize(
    ("expression", "code", "place"),
    [
        ("db.jbo", "E205", "--show:1:4"),
        ("db.job[", "E105", "--show:1:8"),
        ("1 + true", "E2", "--show:1:5"),
        ("db.job'", "E2", "--show:1:"),
    ],
)
def test_errors_in_expressions_are_located(
    expression: str, code: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exit_code, out, _ = ask(capsys, "jobs.cpt", "--show", "mq.jobs.size", "--show", expression)
    assert exit_code == ExitCode.MODEL
    assert f"error[{code}" in out
    assert place in out
    assert "cover shown" not in out


def test_one_expression_each(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "jobs.cpt", "--show", "true\ncover x: true")
    assert (code, "more than one expression" in err) == (ExitCode.MODEL, True)


def test_limits_are_told_with_a_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ask(capsys, "jobs.cpt", "--states", "10")
    assert (code, out) == (ExitCode.MODEL, "")
    assert "E410: jobs has more than 10 states" in err
    code, out, err = ask(capsys, "jobs.cpt", "--nodes", "10")
    assert (code, out) == (ExitCode.MODEL, "")
    assert "E411" in err
    assert "--show EXPR" in err
    code, out, _ = ask(capsys, "jobs.cpt", "--depth", "2")
    assert "within 2 steps" in out
    assert "not all: " in out


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, wanted in (
        (("jobs.cpt", "-o", "g.jpg"), "E412"),
        (("jobs.cpt", "-o", "graph"), "E412"),
        (("jobs.cpt", "--depth", "1", "-o", "no/g.dot"), "E409"),
        (("jobs.cpt", "--process", "Servr"), "did you mean 'Server'"),
        (("jobs.cpt", "--process", "Server", "--show", "true"), "--process draws"),
        (("conductor/05",), "--variant one of: v5_3_2, v5_5_0"),
        (("conductor",), "several models"),
    ):
        code, out, err = ask(capsys, *arguments)
        assert (code, out, wanted in err) == (ExitCode.MODEL, "", True), arguments


def test_a_model_with_errors_is_shown_as_by_a_check(capsys: pytest.CaptureFixture[str]) -> None:
    Path("jobs.cpt").write_text(JOBS.replace("PENDING, DONE", "PENDING"))
    code, out, _ = ask(capsys, "jobs.cpt")
    assert (code, "jobs.cpt:7" in out) == (ExitCode.MODEL, True)
