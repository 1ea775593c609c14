"""`counterpoint diff` on folders and in real git repositories.

Most tests compare two versions of a small model in both directions: what is a loss one way is none the other way.  The
verdicts are derived by hand where they are used.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from checker import cli
from checker.arguments import parse
from checker.commands import diff as diff_command
from checker.console import Console
from checker.differences.change import ChangeKind, Effect
from checker.differences.verdicts import compare_results, compare_tolerance
from checker.exitcode import ExitCode
from checker.needs.needs import Needs, Tolerated, Unsettled
from checker.options import Options, UsageError
from checker.result import Judged, ScenarioResult
from checker.verdict import Judgement, NotARun, Proved
from spec.source import Source, Span
from spec.typed import Expectation, ExpectationVerb, FaultClass, FaultKind
from tests.command import counterpoint

ROOT = Path(__file__).parent.parent
SCHEMA = Draft202012Validator(json.loads((ROOT / "checker" / "diff.schema.json").read_text()))

IN_ORDER = "db.row[j] := true\n    db.done[j] := true"
SWAPPED = "db.done[j] := true\n    db.row[j] := true"
"""`done` is set before `row`, so `ordered` is violated after one step."""
ORDERED = "invariant ordered: forall j: Job. db.done[j] => db.row[j]"
FINISHED = "at rest finished: forall j: Job. db.row[j] => db.done[j]"
"""Needs that the handler does not stop between its two writes."""
WORKS = "cover works: exists j: Job. db.done[j]"
STORY = (
    'scenario story { Server.submit request; Server.submit "db.row[j] := true"; ..; then exists j: Job. db.done[j] }'
)


def model(*declarations: str, body: str = IN_ORDER, faults: str = "", jobs: int = 2, properties: str = ORDERED) -> str:
    """A server that writes two rows for a job, one after the other."""
    block = f"faults {{ {faults} }}\n" if faults else ""
    return (
        f"ids Job[{jobs}]\nstore db {{\n  durable row: Job -> bool\n  durable done: Job -> bool\n}}\n"
        f"process Server {{\n  on submit(j: Job) {{\n    {body}\n  }}\n}}\n{block}{properties}\n"
        + "\n".join(declarations)
    )


def compare(base: str, head: str, folder: Path, *options: str) -> tuple[int, list[tuple[str, str, str]]]:
    """Exit code, and (kind, effect, subject) of each change between two texts."""
    (folder / "base.cpt").write_text(base)
    (folder / "head.cpt").write_text(head)
    code, document = diff(folder, "base.cpt", "head.cpt", *options)
    (only,) = document["models"]
    # The files have two names, which is no change of the models.
    return code, [key(change) for change in only["changes"] if change["kind"] != "model_renamed"]


def key(change: dict[str, Any]) -> tuple[str, str, str]:
    return change["kind"], change["effect"], change["subject"]


def diff(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document, by the command line in this process, which is quicker."""
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.chdir(folder), contextlib.redirect_stdout(written):
        code = cli.execute(["diff", *arguments, "--json"])
    written.seek(0)
    document = json.loads(written.read())
    SCHEMA.validate(document)
    assert document["exit_code"] == code
    return code, document


Changes = list[tuple[str, str, str]]
CASES: dict[str, tuple[str, str, Changes, Changes]] = {
    "verdict": (
        model(),
        model(body=SWAPPED),
        [("newly_refuted", "regression", "ordered")],
        [("newly_proved", "better", "ordered")],
    ),
    "verdict as both expect it to be after": (
        model("expect refutes ordered"),
        model("expect refutes ordered", body=SWAPPED),
        [("newly_refuted", "neutral", "ordered")],
        [("newly_proved", "better", "ordered"), ("expectation_missed", "regression", "ordered")],
    ),
    "verdict and expectation": (
        model("expect proves ordered"),
        model("expect refutes ordered", body=SWAPPED),
        [("newly_refuted", "regression", "ordered"), ("expectation_weakened", "regression", "ordered")],
        [("newly_proved", "better", "ordered"), ("expectation_strengthened", "better", "ordered")],
    ),
    "expectation": (
        model("expect proves ordered"),
        model(),
        [("expectation_weakened", "regression", "ordered")],
        [("expectation_strengthened", "better", "ordered")],
    ),
    "expected refutation": (
        model(body=SWAPPED),
        model("expect refutes ordered", body=SWAPPED),
        [("expectation_weakened", "regression", "ordered")],
        # The verdict is the same, but a check fails now: nobody expects it any more.
        [
            ("expectation_strengthened", "better", "ordered"),
            ("expectation_missed", "regression", "ordered"),
        ],
    ),
    "needs": (
        model("expect refutes finished needs {crash Server}", faults="crash Server", properties=FINISHED),
        model("expect refutes finished needs {}", faults="crash Server", properties=FINISHED),
        [("expectation_weakened", "regression", "finished")],
        [("expectation_strengthened", "better", "finished")],
    ),
    "needs at another place": (
        model("expect refutes finished needs {crash Server}", faults="crash Server", properties=FINISHED),
        "// a line more\n"
        + model("expect refutes finished needs {crash Server}", faults="crash Server", properties=FINISHED),
        [],
        [],
    ),
    "needs or not": (
        model("expect refutes finished needs {crash Server}", faults="crash Server", properties=FINISHED),
        model("expect refutes finished", faults="crash Server", properties=FINISHED),
        [("expectation_weakened", "regression", "finished")],
        [("expectation_strengthened", "better", "finished")],
    ),
    "faults": (
        model(faults="crash Server, db"),
        model(faults="crash db"),
        [("faults_weakened", "regression", "crash Server")],
        [("faults_strengthened", "better", "crash Server")],
    ),
    "fairness of recoveries": (
        model(faults="crash Server unfair"),
        model(faults="crash Server"),
        [("faults_weakened", "regression", "crash Server")],
        [("faults_strengthened", "better", "crash Server")],
    ),
    "size": (
        model(),
        model(jobs=1),
        [("size_shrank", "regression", "Job")],
        [("size_grew", "better", "Job")],
    ),
    "property": (
        model(WORKS),
        model(),
        [("property_removed", "regression", "works")],
        [("property_added", "neutral", "works")],
    ),
    "property that does not hold": (
        model(WORKS, body=SWAPPED, properties=""),
        model(WORKS, body=SWAPPED),
        [("newly_refuted", "regression", "ordered")],
        [("property_removed", "regression", "ordered")],
    ),
    "name of a property": (
        model("expect proves ordered"),
        model("expect proves kept", properties="invariant kept: forall k: Job. (db.done[k] => db.row[k])"),
        [("property_renamed", "neutral", "kept")],
        [("property_renamed", "neutral", "ordered")],
    ),
    "names exchanged": (
        model(WORKS),
        model("cover ordered: exists j: Job. db.done[j]", properties=ORDERED.replace("ordered", "works")),
        [("property_renamed", "neutral", "works"), ("property_renamed", "neutral", "ordered")],
        [("property_renamed", "neutral", "ordered"), ("property_renamed", "neutral", "works")],
    ),
    "condition": (
        model(),
        model(properties=ORDERED.replace("=> db.row[j]", "=> db.row[j] or db.done[j]")),
        [("condition_changed", "regression", "ordered")],
        [("condition_changed", "regression", "ordered")],
    ),
    "form": (
        model(),
        model(properties=ORDERED.replace("invariant", "at rest")),
        [("condition_changed", "regression", "ordered")],
        [("condition_changed", "regression", "ordered")],
    ),
    "definition": (
        model(
            "def fine(j: Job): bool = db.row[j]", properties="invariant ordered: forall j: Job. db.done[j] => fine(j)"
        ),
        model(
            "def fine(j: Job): bool = db.row[j] or db.done[j]",
            properties="invariant ordered: forall j: Job. db.done[j] => fine(j)",
        ),
        [("condition_changed", "regression", "ordered")],
        [("condition_changed", "regression", "ordered")],
    ),
    "definition for what stood there": (
        model(),
        model(
            "def fine(j: Job): bool = db.row[j]", properties="invariant ordered: forall j: Job. db.done[j] => fine(j)"
        ),
        [],
        [],
    ),
    "nothing but text": (
        model(body=f"{IN_ORDER}\n    assert db.row[j]", properties=f"{ORDERED}\n{WORKS}"),
        "// a line more\n"
        + model(
            body=f"{IN_ORDER}  // done\n    assert db.row[j]",
            properties=f"{WORKS}\ninvariant ordered:\n  forall k: Job. ((db.done[k]) => db.row[k])",
        ),
        [],
        [],
    ),
    "assert": (
        model(body=f"{IN_ORDER}\n    assert db.row[j]"),
        model(),
        [("property_removed", "regression", "assert_10")],
        [("property_added", "neutral", "assert_10")],
    ),
    "scenario": (
        # With the writes the other way round, `done` is there before the story's statement, and so at its end.
        model(STORY),
        model(STORY.replace("..; then", "then")),
        [("condition_changed", "regression", "story"), ("verdict_changed", "regression", "story")],
        [("condition_changed", "regression", "story"), ("verdict_changed", "regression", "story")],
    ),
    "variant": (
        model("variant one { }\nvariant two { }"),
        model("variant one { }"),
        [("variant_removed", "regression", "two")],
        [("variant_added", "neutral", "two")],
    ),
    "expectation of one variant": (
        model("variant one { }\nvariant two { }\nexpect one proves ordered\nexpect two proves ordered"),
        model("variant one { }\nvariant two { }\nexpect one proves ordered"),
        [("expectation_weakened", "regression", "ordered")],
        [("expectation_strengthened", "better", "ordered")],
    ),
    "what holds in all variants is told once": (
        model(WORKS, "variant one { }\nvariant two { }"),
        model("variant one { }\nvariant two { }", jobs=1),
        [("size_shrank", "regression", "Job"), ("property_removed", "regression", "works")],
        [
            ("size_grew", "better", "Job"),
            ("property_added", "neutral", "works"),
            ("property_added", "neutral", "works"),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_and_its_reverse(name: str, tmp_path: Path) -> None:
    base, head, forward, back = CASES[name]
    for before, after, expected in ((base, head, forward), (head, base, back)):
        code, found = compare(before, after, tmp_path)
        assert found == expected
        assert code == int(any(effect == "regression" for _, effect, _ in expected))


def counting(guard: str, start: int = 0) -> str:
    """Counts without an end, unless `guard` stops it: the checker looks at unbounded integers in a window only."""
    return (
        f"store db {{ durable n: int = {start} }}\nprocess P {{ loop up {{ {guard}\n  db.n := db.n + 1 }} }}\n"
        "at rest never: db.n >= 0\n"
    )


def test_what_is_decided_no_longer(tmp_path: Path) -> None:
    # From 0 it takes more steps to leave the window than from 3.
    finite, endless, shorter = counting("await db.n < 2"), counting(""), counting("", 3)
    lost, won = ("no_longer_decided", "open", "never"), ("newly_proved", "better", "never")
    code, found = compare(finite, endless, tmp_path)
    assert code == 4
    assert lost in found
    assert {effect for _, effect, _ in found} == {"open"}
    code, found = compare(endless, finite, tmp_path)
    assert code == 0
    assert won in found
    code, found = compare(endless, shorter, tmp_path)
    assert code == 4
    assert ("bound_shrank", "open", "never") in found
    code, found = compare(shorter, endless, tmp_path)
    assert code == 0
    assert ("bound_grew", "better", "never") in found


TWO = """\
store db { durable a: bool; durable b: bool; durable c: bool; durable d: bool }
process Left { task t { db.a := true
  db.b := true } }
process Right { task t { RIGHT } }
faults { crash Left, Right without restart }
at rest whole: (db.a => db.b) and (db.c => db.d)
expect refutes whole
"""
APART = TWO.replace("RIGHT", "db.c := true\n  db.d := true")
AT_ONCE = TWO.replace("RIGHT", 'step "both" { db.c := true; db.d := true }')


def test_tolerance_is_compared_where_it_is_asked_for(tmp_path: Path) -> None:
    # A crash between two writes breaks it; one step has no between.
    assert compare(AT_ONCE, APART, tmp_path) == (0, [])
    assert compare(AT_ONCE, APART, tmp_path, "--needs") == (1, [("tolerance_shrank", "regression", "whole")])
    assert compare(APART, AT_ONCE, tmp_path, "--needs") == (0, [("tolerance_grew", "better", "whole")])
    changes = diff(tmp_path, "head.cpt", "base.cpt", "--needs")[1]["models"][0]["changes"]
    (change,) = [each for each in changes if each["kind"] == "tolerance_shrank"]
    assert change["before"] == "broken by {crash Left without restart}"
    assert change["after"] == "broken by {crash Left without restart} | {crash Right without restart}"


def test_a_new_fault_class_takes_nothing_away(tmp_path: Path) -> None:
    fewer = APART.replace("crash Left, Right without", "crash Left without")
    assert compare(fewer, APART, tmp_path, "--needs") == (
        0,
        [("faults_strengthened", "better", "crash Right without restart")],
    )


# ---------------------------------------------------------------------------------------------------------- folders


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.cpt").write_text(text)
    return folder


def test_files_are_paired_by_name_and_then_by_content(tmp_path: Path) -> None:
    other = TWO.replace("RIGHT", "db.c := true")
    write(tmp_path / "old", same=APART, moved=model(), gone=counting("await db.n < 1"))
    write(tmp_path / "new", same=APART, elsewhere=model(body=SWAPPED), fresh=other.replace("whole", "new"))
    code, document = diff(tmp_path, "old", "new")
    assert code == 1
    told = {(m["base"], m["head"], m["unchanged"]): [key(c) for c in m["changes"]] for m in document["models"]}
    assert told == {
        ("moved.cpt", "elsewhere.cpt", False): [
            ("model_renamed", "neutral", "elsewhere.cpt"),
            ("newly_refuted", "regression", "ordered"),
        ],
        ("same.cpt", "same.cpt", True): [],
        (None, "fresh.cpt", False): [("model_added", "neutral", "fresh.cpt")],
        ("gone.cpt", None, False): [("model_removed", "regression", "gone.cpt")],
    }


def test_a_changed_import_is_a_change_and_a_file_that_only_others_import_is_no_model(tmp_path: Path) -> None:
    using = 'import "part.cpt"\n' + model(properties="invariant ordered: forall j: Job. db.done[j] => good")
    for name, value in (("one", "true"), ("two", "false"), ("three", "true")):
        write(tmp_path / name, model=using, part=f"const good: bool = {value}\n")
    code, document = diff(tmp_path, "one", "two")
    assert code == 1
    (only,) = document["models"]
    assert not only["unchanged"]
    assert {change["kind"] for change in only["changes"]} == {"newly_refuted", "condition_changed"}
    code, document = diff(tmp_path, "one", "three")
    assert code == 0
    assert [each["unchanged"] for each in document["models"]] == [True]


def test_errors(tmp_path: Path) -> None:
    good, wrong = model(), model(properties="invariant ordered: db.nothing")
    assert compare(good, wrong, tmp_path) == (2, [("model_errors", "regression", "head.cpt")])
    code, found = compare(wrong, good, tmp_path)
    assert code == 0
    assert found[0] == ("model_repaired", "better", "head.cpt")
    write(tmp_path, base=wrong, head=wrong)
    code, document = diff(tmp_path, "base.cpt", "head.cpt")
    assert code == 2
    assert document["models"][0]["unchanged"]
    assert [error["line"] for error in document["models"][0]["errors"]] == [12]


def test_the_report_says_what_was_not_checked(tmp_path: Path) -> None:
    write(tmp_path / "old", a=model(), b=APART)
    write(tmp_path / "new", a=model(body=SWAPPED), b=APART)
    done = counterpoint("diff", "old", "new", folder=tmp_path)
    assert done.returncode == 1
    lines = [line.split(" in ")[0] for line in done.stdout.splitlines()]
    assert lines[:2] == ["a.cpt", "  ✗ newly refuted  ordered"]
    assert lines[2].lstrip().startswith("was PROVED (")
    assert lines[3].lstrip().startswith("now REFUTED (")
    assert lines[3].endswith(" no fault)")
    assert lines[4:] == ["b.cpt  unchanged", "2 models, 1 unchanged: 1 regression"]


def test_variants_are_chosen(tmp_path: Path) -> None:
    both = "switch fast: bool = false\nvariant slow { fast = false }\nvariant quick { fast = true }\n"
    bodies = [f"if fast {{ {first} }} else {{ {IN_ORDER} }}" for first in (IN_ORDER, SWAPPED)]
    old, new = (model(both, body=body.replace("\n", "; ")) for body in bodies)
    assert compare(old, new, tmp_path) == (1, [("newly_refuted", "regression", "ordered")])
    assert compare(old, new, tmp_path, "--variant", "slow") == (0, [])
    assert compare(old, new, tmp_path, "--variant", "quick")[0] == 1
    done = counterpoint("diff", "base.cpt", "head.cpt", "--variant", "quik", folder=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'quick'?" in done.stderr


# -------------------------------------------------------------------------------------------------------------- git


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", *settings, *words],
        cwd=folder,
        env={**environment, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a change")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: a model in `models/`, which imports from outside that folder; then it is renamed, and broken."""
    folder = tmp_path / "repository"
    using = 'import "../shared/names.cpt"\n'
    write(folder / "shared", names="const unused: int = 1\n")
    write(folder / "models", first=using + model(), other=APART)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    (folder / "models" / "first.cpt").unlink()
    write(folder / "models", second=using + model(body=SWAPPED))
    commit(folder)
    return folder


def subjects(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change["kind"], change["subject"]) for each in document["models"] for change in each["changes"]]


def test_two_revisions(repository: Path) -> None:
    expected = [("model_renamed", "second.cpt"), ("newly_refuted", "ordered")]
    code, document = diff(repository / "models", "HEAD~1", "HEAD")
    assert code == 1
    assert subjects(document) == expected
    assert document["head"] == {"name": "HEAD", "commit": git(repository, "rev-parse", "HEAD")}
    assert [each["head"] for each in document["models"]] == ["other.cpt", "second.cpt"]
    code, document = diff(repository, "HEAD~1:models", "main:models")
    assert (code, subjects(document)) == (1, expected)
    for arguments, expected_code in ((("HEAD~1", "HEAD"), 1), (("HEAD", "HEAD~1"), 0)):
        assert counterpoint("diff", *arguments, folder=repository).returncode == expected_code
    code, document = diff(repository, "HEAD", "HEAD~1")
    assert code == 0
    assert subjects(document) == [("model_renamed", "models/first.cpt"), ("newly_proved", "ordered")]


def test_a_revision_beside_a_path_is_that_path_in_the_revision(repository: Path) -> None:
    code, document = diff(repository, "HEAD", "models")
    assert (code, subjects(document)) == (0, [])
    assert document["head"]["commit"] is None
    broken = repository / "models" / "other.cpt"
    broken.write_text(AT_ONCE)
    code, document = diff(repository, "HEAD", "models/other.cpt")
    assert [(each["base"], each["head"], each["unchanged"]) for each in document["models"]] == [
        ("other.cpt", "other.cpt", False)
    ]
    code, document = diff(repository, "HEAD~1:models/first.cpt", "models/second.cpt")
    assert (code, ("newly_refuted", "ordered") in subjects(document)) == (1, True)


def test_errors_of_a_revision_are_told_with_its_name(repository: Path) -> None:
    write(repository / "models", second=model(properties="invariant ordered: db.nothing"))
    commit(repository)
    done = counterpoint("diff", "HEAD~1", "HEAD", folder=repository)
    assert done.returncode == 2
    assert "HEAD:models/second.cpt:12:" in done.stdout
    assert "counterpoint-" not in done.stdout


def test_nothing_is_checked_out_and_nothing_of_the_repository_runs(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        hook = repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    git(repository, "config", "filter.evil.smudge", f"touch {mark}; cat")
    git(repository, "config", "diff.evil.textconv", f"touch {mark}; cat")
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "attributes").write_text("*.cpt filter=evil diff=evil\n")
    (repository / "models" / "second.cpt").write_text("not committed")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = counterpoint("diff", "HEAD~1", "HEAD", folder=repository, TMPDIR=str(scratch))
    assert done.returncode == 1
    assert not mark.exists()
    assert (repository / "models" / "second.cpt").read_text() == "not committed"
    assert list(scratch.iterdir()) == []


def test_links_of_a_revision_are_refused(repository: Path, tmp_path: Path) -> None:
    write(tmp_path, secret=model())
    (repository / "models" / "link.cpt").symlink_to(tmp_path / "secret.cpt")
    commit(repository)
    done = counterpoint("diff", "HEAD~1", "HEAD", folder=repository)
    assert done.returncode == 2
    assert "E453" in done.stderr
    assert "'models/link.cpt' of HEAD is a symbolic link" in done.stderr
    # Beside the models that are compared, a link is nobody's business.
    assert counterpoint("diff", "HEAD~1:models/other.cpt", "HEAD:models/other.cpt", folder=repository).returncode == 0


def test_a_path_that_leads_out_is_refused(repository: Path) -> None:
    blob = git(repository, "rev-parse", "HEAD:models/other.cpt")
    # A tree with the name `..` in it, as only a hostile repository has one.
    raw = b"100644 a.cpt\0" + bytes.fromhex(blob)
    inner = _object(repository, raw)
    outer = _object(repository, b"40000 ..\0" + bytes.fromhex(inner))
    evil = git(repository, "commit-tree", outer, "-m", "evil")
    done = counterpoint("diff", "HEAD", evil, folder=repository)
    assert done.returncode == 2
    assert "E453" in done.stderr
    assert not (repository.parent / "a.cpt").exists()


def _object(folder: Path, raw: bytes) -> str:
    done = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
        input=raw,
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def test_what_is_neither_path_nor_revision(repository: Path, tmp_path: Path) -> None:
    for arguments, code, hint in (
        (("mian", "models"), "E452", "did you mean 'main'?"),
        (("HEAD:nowhere", "models"), "E452", "git ls-tree -r HEAD"),
        (("HEAD:../..", "models"), "E452", ""),
        (("--", "--output=x", "models"), "E452", ""),
    ):
        done = counterpoint("diff", *arguments, folder=repository)
        assert done.returncode == 2
        assert code in done.stderr
        assert hint in done.stderr
    (tmp_path / "bare").mkdir()
    outside = {"GIT_CEILING_DIRECTORIES": str(tmp_path)}
    done = counterpoint("diff", "main", "HEAD", folder=tmp_path / "bare", **outside)
    assert (done.returncode, "E451" in done.stderr) == (2, True)
    done = counterpoint("diff", "main", "HEAD", folder=repository, PATH="/nonexistent")
    assert (done.returncode, "E451" in done.stderr) == (2, True)
    done = counterpoint("diff", "shared", "HEAD:shared", folder=repository)
    assert done.returncode == 0


def test_what_was_tolerated_and_is_not_decided_now() -> None:
    crash = FaultClass(FaultKind.CRASH, "P", None, True, Span(Source("m", ""), 0, 0))
    proof = cast(Proved, None)
    safe = Needs((crash,), (), (Tolerated(frozenset([crash]), proof),))
    doubt = Needs((crash,), (), (Tolerated(frozenset(), proof),), (Unsettled(frozenset([crash])),), "no time")
    assert [(c.kind, c.effect) for c in compare_tolerance(None, "p", safe, doubt)] == [
        (ChangeKind.TOLERANCE_OPEN, Effect.OPEN)
    ]
    assert list(compare_tolerance(None, "p", doubt, safe)) == []
    assert list(compare_tolerance(None, "p", safe, safe)) == []


def test_an_expectation_that_was_met_and_is_not_decided_now() -> None:
    span = Span(Source("m", ""), 0, 0)
    expected = Expectation(None, ExpectationVerb.FORBIDS, "s", span)

    def found(judgement: Judgement) -> ScenarioResult:
        return ScenarioResult("s", span, "", NotARun(0, "x"), (Judged(expected, judgement),))

    met, doubt = found(Judgement.MET), found(Judgement.INCONCLUSIVE)
    (change,) = compare_results(None, met, doubt, Options())
    assert (change.kind, change.code) == (ChangeKind.EXPECTATION_OPEN, ExitCode.INCONCLUSIVE)
    assert list(compare_results(None, doubt, met, Options())) == []
    assert list(compare_results(None, met, met, Options())) == []


def test_every_kind_of_change_is_tested() -> None:
    text = Path(__file__).read_text()
    assert {
        k.name for k in ChangeKind if f'"{k.name.lower()}"' not in text and f"(ChangeKind.{k.name}," not in text
    } == set()


def test_where_nothing_can_be_written_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container with a read-only file system and no folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="a temporary folder cannot be made") as caught:
        diff_command.run(parse(["diff", "a", "b", "--json"]), cast(Console, None))
    assert caught.value.code == "E409"
    assert "TMPDIR" in (caught.value.hint or "")
