"""`counterpoint draw`: what is drawn, in which format, and what is said when nothing can be."""

from __future__ import annotations

import struct
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from checker import cli
from checker.exitcode import ExitCode

JOBS = (Path(__file__).parent.parent / "docs" / "examples" / "jobs.cpt").read_text(encoding="utf-8")
COUNTER = """\
store db { durable x: 0..3 }
process P { loop up { await db.x < 2; db.x := db.x + 1 } }
invariant never_one: db.x != 1
invariant never_two: db.x != 2
invariant small: db.x <= 2
cover at_two: db.x == 2
scenario first { P.up; .. }
"""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "jobs.cpt").write_text(JOBS)
    (tmp_path / "counter.cpt").write_text(COUNTER)
    (tmp_path / "wrong.cpt").write_text("store db { durable x: 0..3 }\ninvariant y: db.z == 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.execute(arguments)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def words(svg: str) -> list[str]:
    """What a reader sees: every label, tooltips left out."""
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    labels = root.iter(f"{SVG}text")
    return ["".join([label.text or "", *(child.tail or "" for child in label)]).strip() for label in labels]


def test_a_model_is_checked_and_its_counterexample_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "draw", "models/jobs.cpt", "-o", "jobs.svg") == (ExitCode.MET, "", "")
    drawn = Path("jobs.svg").read_text(encoding="utf-8")
    assert {"none_forgotten", "REFUTED", "jobs", "Server[0]", "db", "mq", "none → PENDING"} <= set(words(drawn))
    assert str(folder) not in drawn
    links = [link.get("href") for link in ET.fromstring(drawn).iter(f"{SVG}a")]
    assert links == ["models/jobs.cpt#L6"] * 2


def test_a_trace_file_gives_the_same_picture_as_its_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(capsys, "trace", "models/jobs.cpt", "--to", "json", "-o", "t.json")
    _, from_model, _ = ask(capsys, "draw", "models/jobs.cpt")
    code, from_trace, _ = ask(capsys, "draw", "t.json", "--model", "models/jobs.cpt", "--output", "-")
    assert (code, from_trace) == (ExitCode.MET, from_model)
    _, report, _ = ask(capsys, "check", "models/jobs.cpt", "--json")
    Path("report.json").write_text(report)
    code, from_report, _ = ask(capsys, "draw", "report.json", "--model", "models/jobs.cpt")
    assert (code, from_report) == (ExitCode.MET, from_model)


def test_covers_and_scenarios_are_drawn_when_they_are_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = ask(capsys, "draw", "counter.cpt", "--property", "at_two")
    assert (code, {"at_two", "REACHED"} <= set(words(out))) == (ExitCode.MET, True)
    code, out, _ = ask(capsys, "draw", "counter.cpt", "--property", "first")
    assert (code, words(out)[0]) == (ExitCode.MET, "first")
    assert "counter, a run that follows the scenario" in words(out)
    assert not {"REACHED", "REFUTED"} & set(words(out))


def test_png_and_pdf_are_made_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("vl_convert")
    ask(capsys, "draw", "models/jobs.cpt", "-o", "jobs.svg")
    for name in ("jobs.png", "JOBS.PDF"):
        assert ask(capsys, "draw", "models/jobs.cpt", "-o", name) == (ExitCode.MET, "", "")
    png = Path("jobs.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    root = ET.fromstring(Path("jobs.svg").read_text(encoding="utf-8"))
    sizes = struct.unpack(">II", png[16:24])
    assert sizes == pytest.approx([2 * float(root.get(side, 0)) for side in ("width", "height")], abs=2)
    assert Path("JOBS.PDF").read_bytes()[:5] == b"%PDF-"


def test_links_follow_a_template(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = "https://example.org/{file}?line={line}"
    _, out, _ = ask(capsys, "draw", "models/jobs.cpt", "--link", template)
    links = {link.get("href") for link in ET.fromstring(out).iter(f"{SVG}a")}
    assert links == {"https://example.org/models/jobs.cpt?line=6"}
    _, out, _ = ask(capsys, "draw", "models/jobs.cpt")
    assert not list(ET.fromstring(out).iter(f"{SVG}a"))
    code, out, err = ask(capsys, "draw", "models/jobs.cpt", "--link", "{folder}")
    assert (code, out) == (ExitCode.MODEL, "")
    assert "only {file} and {line}" in err


# ------------------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("counter.cpt",), ExitCode.MODEL, "E403: counter.cpt gives 2 traces"),
        (("counter.cpt", "--property", "small"), ExitCode.MODEL, "E404: counter.cpt gives no trace: small is PROVED"),
        (("counter.cpt", "--property", "smal"), ExitCode.MODEL, "did you mean 'small'"),
        (("counter.cpt", "-o", "x.gif"), ExitCode.MODEL, "E421: x.gif"),
        (("counter.cpt", "-o", "x"), ExitCode.MODEL, "end its name in .svg, .png or .pdf"),
        (("models/jobs.cpt", "-o", "nowhere/x.svg"), ExitCode.MODEL, "E409: nowhere/x.svg cannot be written"),
        (("none.json",), ExitCode.MODEL, "E401: the trace none.json does not exist"),
        (("none.cpt",), ExitCode.MODEL, "no file 'none.cpt'"),
        (("counter.cpt", "--model", "counter.cpt"), ExitCode.MODEL, "--model is for trace files"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: ExitCode, said: str
) -> None:
    found, out, err = ask(capsys, "draw", *arguments)
    assert (found, out) == (code, "")
    assert said in err
    assert not list(folder.glob("x*"))


def test_several_counterexamples_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = ask(capsys, "draw", "counter.cpt")
    assert "one of: --property never_one; --property never_two" in err


def test_errors_of_the_model_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, "draw", "wrong.cpt")
    assert code == ExitCode.MODEL
    assert "wrong.cpt:2:17" in out


def test_a_trace_that_is_no_run_any_more_is_not_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(capsys, "trace", "counter.cpt", "--property", "never_two", "--to", "json", "-o", "t.json")
    Path("counter.cpt").write_text(COUNTER.replace("db.x < 2", "db.x < 1"))
    code, out, err = ask(capsys, "draw", "t.json", "-o", "t.svg")
    assert (code, out) == (ExitCode.REFUTED, "")
    assert "E407" in err
    assert not Path("t.svg").exists()


@pytest.mark.parametrize("name", ["jobs.png", "jobs.pdf"])
def test_a_missing_package_is_named_before_anything_is_checked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    code, out, err = ask(capsys, "draw", "counter.cpt", "-o", name)
    assert (code, out) == (ExitCode.MODEL, "")
    assert f"E422: {name[-3:].upper()} needs the package vl-convert-python" in err
    assert "pip install vl-convert-python" in err
    assert ask(capsys, "draw", "models/jobs.cpt", "-o", "jobs.svg")[0] == ExitCode.MET
