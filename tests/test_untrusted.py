"""Models from strangers, in real processes: what they cannot read, write, run, hold up or draw on a terminal.

`SECRET` stands in a file outside of the project; no output may show any of it.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import COUNTER, counterpoint, environment

SECRET = "hunter2 is the password"


def importing(path: str) -> str:
    return f'import "{path}"\n{COUNTER}'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a folder of models, and a secret beside it."""
    folder = tmp_path / "repository"
    (folder / "models").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "models" / "good.cpt").write_text(COUNTER)
    (tmp_path / "secret.cpt").write_text(f"{SECRET}\n")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "passwords.cpt").write_text(f"{SECRET}\n")
    return folder


def said(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def refused(done: subprocess.CompletedProcess[str], code: str = "E014") -> str:
    """What a command said that ended with an error of this code, and told nothing of the secret."""
    text = said(done)
    assert done.returncode == 2, text
    assert code in text
    assert "hunter2" not in text
    assert "internal error" not in text
    return text


# ---------------------------------------------------------------------------------------------------------- reading


LEADS_OUT = [
    "../../secret.cpt",
    "../../secret",
    "../../secret/password.cpt",
    "../../nothing.cpt",
    "../../../../../../../../../../../../../etc/passwd",
    "link.cpt",
    "folder/passwords.cpt",
    "folder/nothing.cpt",
    "nowhere.cpt",
    "models/../../../secret.cpt",
    "good.cpt/../../../secret.cpt",
]


@pytest.mark.parametrize("path", LEADS_OUT)
def test_an_import_that_leads_out_is_refused_and_nothing_is_told_of_what_is_there(path: str, project: Path) -> None:
    models = project / "models"
    (models / "link.cpt").symlink_to(project.parent / "secret.cpt")
    (models / "folder").symlink_to(project.parent / "secret")
    (models / "nowhere.cpt").symlink_to(project.parent / "nothing.cpt")
    (models / "bad.cpt").write_text(importing(path))
    text = refused(counterpoint("check", "models/bad.cpt", folder=project))
    assert "models/bad.cpt:1:8" in text
    assert f"the import `{path}` leads out of the project" in text
    # What is there and what is not get the same words.
    assert "does not exist" not in text
    assert "did you mean" not in text


def test_an_import_within_the_project_may_lead_upwards_and_along_links(project: Path) -> None:
    (project / "shared").mkdir()
    (project / "shared" / "names.cpt").write_text("const unused: int = 1\n")
    (project / "models" / "along").symlink_to(project / "shared")
    for path in ("../shared/names.cpt", "along/names.cpt", "lib/anomalies.cpt"):
        (project / "models" / "m.cpt").write_text(importing(path))
        done = counterpoint("check", "models/m.cpt", "--property", "small", folder=project)
        assert done.returncode == 0, said(done)


@pytest.mark.parametrize(
    ("mark", "content"),
    [
        (".git", "gitdir: elsewhere\n"),
        ("counterpoint.toml", ""),
        ("pyproject.toml", "[tool.counterpoint]\n"),
        ("pyproject.toml", "[tool]\ncounterpoint = {}\n"),
    ],
)
def test_the_project_is_the_nearest_marked_folder(mark: str, content: str, tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "above.cpt").write_text("const unused: int = 1\n")
    (inner / "m.cpt").write_text(importing("../above.cpt"))
    check = ("check", "m.cpt", "--property", "small")
    # Without a mark the project of a named file is its own folder.
    refused(counterpoint(*check, folder=inner))
    (inner.parent / mark).write_text(content)
    assert counterpoint(*check, folder=inner).returncode == 0
    (inner / mark).write_text(content)
    refused(counterpoint(*check, folder=inner))


@pytest.mark.parametrize("other", ["[tool.other]\ncounterpoint = 1\n", "tool.counterpoint = [", "[project]\n"])
def test_other_tables_mark_no_project(other: str, tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "pyproject.toml").write_text(other)
    (inner.parent / "above.cpt").write_text("const unused: int = 1\n")
    (inner / "m.cpt").write_text(importing("../above.cpt"))
    refused(counterpoint("check", "inner/m.cpt", "--no-config", folder=inner.parent))


def test_without_a_mark_the_named_folder_is_the_project(tmp_path: Path) -> None:
    (tmp_path / "models" / "inner").mkdir(parents=True)
    (tmp_path / "models" / "names.cpt").write_text("const unused: int = 1\n")
    (tmp_path / "above.cpt").write_text("const unused: int = 1\n")
    model = tmp_path / "models" / "inner" / "m.cpt"
    model.write_text(importing("../names.cpt"))
    check = ("check", "--property", "small")
    assert counterpoint(*check, "models", folder=tmp_path).returncode == 0
    refused(counterpoint(*check, "models/inner", folder=tmp_path))
    model.write_text(importing("../../above.cpt"))
    refused(counterpoint(*check, "models", folder=tmp_path))


def test_a_model_that_is_a_link_out_is_refused_where_it_is_found_and_read_where_it_is_named(project: Path) -> None:
    (project / "models" / "link.cpt").symlink_to(project.parent / "secret.cpt")
    text = refused(counterpoint("check", "models", folder=project))
    assert "`models/link.cpt` leads out of the project" in text
    # The others are checked all the same.
    assert "models/good.cpt" in text
    named = counterpoint("check", "models/link.cpt", folder=project)
    assert named.returncode == 2
    assert "E014" not in said(named)


def test_a_model_that_is_a_link_within_the_project_is_one(project: Path) -> None:
    (project / "other").mkdir()
    (project / "other" / "link.cpt").symlink_to(project / "models" / "good.cpt")
    assert "other/link.cpt" in counterpoint("check", "other", folder=project).stdout


def test_a_walk_follows_no_links_to_folders_and_does_not_go_round(project: Path) -> None:
    (project / "models" / "round").symlink_to(project / "models")
    (project / "models" / "out").symlink_to(project.parent / "secret")
    done = counterpoint("check", "models", "--property", "small", folder=project)
    assert done.returncode == 0, said(done)
    assert "1 model" in done.stdout


def test_every_command_keeps_to_the_project(project: Path) -> None:
    (project / "models" / "bad.cpt").write_text(importing("../../secret.cpt"))
    (project / "certificate.json").write_text("{}")
    run = counterpoint("trace", "models/good.cpt", "--property", "never_two", "--to", "json", folder=project)
    (project / "trace.json").write_text(run.stdout)
    for command in (
        ("check", "models/bad.cpt"),
        ("check", "models"),
        ("check", "models/bad.cpt", "--json"),
        ("check", "models/bad.cpt", "--json-lines"),
        ("check", "models/bad.cpt", "--certificate", "c.json"),
        ("run", "models/bad.cpt"),
        ("graph", "models/bad.cpt"),
        ("trace", "models/bad.cpt", "--to", "json"),
        ("draw", "models/bad.cpt"),
        ("crashpoints", "models/bad.cpt"),
        ("diff", "models/good.cpt", "models/bad.cpt"),
        ("replay", "trace.json", "models/bad.cpt"),
        ("draw", "trace.json", "--model", "models/bad.cpt"),
    ):
        refused(counterpoint(*command, folder=project))
    refused(counterpoint("verify", "certificate.json", "models/bad.cpt", folder=project), "")
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "checker.pytest_plugin", "models"],
        cwd=project,
        env=environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert tests.returncode == 1
    assert "E014" in tests.stdout
    assert "hunter2" not in tests.stdout


@pytest.mark.parametrize("name", ["../secret", "../secret.cpt", "/{}/secret.cpt", "models/link"])
def test_a_trace_does_not_choose_a_model_elsewhere(name: str, project: Path) -> None:
    (project / "models" / "link.cpt").symlink_to(project.parent / "secret.cpt")
    run = counterpoint("trace", "models/good.cpt", "--property", "never_two", "--to", "json", folder=project)
    document = json.loads(run.stdout)
    document["model"]["name"] = name.format(project.parent)
    (project / "trace.json").write_text(json.dumps(document))
    refused(counterpoint("draw", "trace.json", folder=project), "E405")
    document["model"]["name"] = "models/good"
    (project / "trace.json").write_text(json.dumps(document))
    assert counterpoint("draw", "trace.json", folder=project).returncode == 0


def test_a_configuration_that_is_a_link_out_is_not_read(project: Path) -> None:
    (project.parent / "credentials").write_text('hunter2_key = "value"\n')
    (project / "counterpoint.toml").symlink_to(project.parent / "credentials")
    refused(counterpoint("check", "models", folder=project), "E430")


def test_a_configuration_writes_only_below_its_folder_and_not_along_links(project: Path) -> None:
    precious = project.parent / "precious"
    precious.write_text("keep me")
    (project / "out.xml").symlink_to(precious)
    (project / "out").symlink_to(project.parent)
    for value in (
        "out.xml",
        "out/precious",
        "../precious",
        str(precious),
        ".git/config",
        ".GIT/config",
        "models/../.git/x",
    ):
        for key in ("junit", "html", "sarif", "summary", "certificate"):
            (project / "counterpoint.toml").write_text(f'{key} = "{value}"\n')
            refused(counterpoint("check", "models/good.cpt", folder=project), "E433")
    assert precious.read_text() == "keep me"


# ---------------------------------------------------------------------------------------------------- special files


def special(path: Path, kind: str) -> None:
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path.relative_to(Path.cwd())))
        case "device":
            path.symlink_to("/dev/zero")
        case "endless":
            path.symlink_to("/proc/kmsg")
        case "sparse":
            with path.open("wb") as file:
                file.truncate(1 << 40)
        case "round":
            path.symlink_to(path)
        case "folder":
            path.mkdir()


KINDS = ["pipe", "socket", "device", "sparse", "round", "folder"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_special_file_is_an_error_and_holds_up_nothing(
    kind: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    path = project / "models" / "odd.cpt"
    special(path, kind)
    (project / "models" / "importing.cpt").write_text(importing("odd.cpt"))
    for wanted in ("models/odd.cpt", "models/importing.cpt", "models"):
        done = counterpoint("check", wanted, folder=project)
        assert done.returncode == 2, (wanted, said(done))
        assert "E0" in said(done) or "no models" in said(done)
        assert "Traceback" not in said(done)
    for command in (("verify", "models/odd.cpt", "models/good.cpt"), ("replay", "models/odd.cpt", "models/good.cpt")):
        done = counterpoint(*command, folder=project)
        assert done.returncode == 2, said(done)


@pytest.mark.parametrize("kind", KINDS)
def test_a_special_configuration_is_an_error_too(kind: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    special(project / "counterpoint.toml", kind)
    assert "E430" in refused(counterpoint("check", "models", folder=project), "E430")
    (project / "counterpoint.toml").rmdir() if kind == "folder" else (project / "counterpoint.toml").unlink()
    special(project / "pyproject.toml", kind)
    assert counterpoint("check", "models", "--property", "small", folder=project).returncode == 0


# ------------------------------------------------------------------------------------------------------------- time

HEAD = "store db { durable x: 0..2 }\nprocess P { loop up { db.x := 1 } }\n"
SQUARES = "".join(f"const c{n + 1}: int = c{n} * c{n}\n" for n in range(60))
LETS = "".join(f"let v{n + 1} = v{n} * v{n}\n" for n in range(60))
DOUBLED = "".join(f"def d{n + 1}(b: bool): bool = d{n}(b) and d{n}(b)\n" for n in range(60))

LARGE = {
    "quantifiers": (f"ids T[3]\n{HEAD}invariant i: {''.join(f'forall a{n}: T. ' for n in range(20))} db.x < 2", ""),
    "wide quantifiers": (HEAD + "invariant i: forall a: 0..60000. forall b: 0..60000. a + b >= db.x - 9", ""),
    "definitions": (f"{HEAD}def d0(b: bool): bool = b and b\n{DOUBLED}invariant i: d60(true)", "E211"),
    "squares": (f"{HEAD}const c0: int = 999999999\n{SQUARES}invariant i: db.x < c60", "E232"),
    "squares in steps": (
        f"store db {{ durable x: 0..3 }}\nprocess P {{ on a(k: 0..3) {{\nlet v0: int = k\n{LETS}"
        "if v60 > 5 { db.x := 1 } } }\ncover c: db.x == 1",
        "a number has more than 100 digits",
    ),
    "a long number": (f"{HEAD}invariant i: db.x < {'9' * 100_000}", "E104"),
    "a long name": (f"{HEAD}invariant {'i' * 1_000_000}: db.x < 2", "E116"),
    "a wide range": ("store db { durable x: 0..999999999999999999 }\ncover c: db.x == 1", "E234"),
    "a wide set": ("store db { durable x: set of (0..60000, 0..60000) }\ncover c: (1, 1) in db.x", "E234"),
    "a wide map": (f"store db {{ durable x: ({', '.join(['0..60000'] * 2000)}) -> bool }}\ncover c: true", "E234"),
    "a wide choice": (
        "store db { durable x: 0..60000 -> 0..60000 }\nprocess P { loop a { db.x[1] := 1 } }\ncover c: db.x[1] == 1",
        "",
    ),
    "strange characters": ("@" * 3_000_000, ""),
    "blank lines": ("\n" * 4_900_000, ""),
    "one line": (f"{HEAD}{' ' * 4_000_000}$", "E101"),
    "words": ("a " * 400_000, ""),
    "brackets": (f"{HEAD}invariant i: {'(' * 100_000}", ""),
    "properties": (HEAD + "".join(f"invariant i{n}: db.x < 3\n" for n in range(3_000)), ""),
    "variants": (f"const N: int = 1\n{HEAD}" + "".join(f"variant v{n} {{ N = 2 }}\n" for n in range(5_000)), "E294"),
    "scenarios": (HEAD + "".join(f"scenario s{n} {{ P.up \"db.x := 1\"; then db.x == 1 }}\n" for n in range(900)), ""),
    "errors": (HEAD + "".join(f"invariant i{n}: nothing\n" for n in range(1_900)), "of 1,900 errors"),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_a_large_model_ends_with_the_time_and_a_code(name: str, tmp_path: Path) -> None:
    """Processor time is looked at, since the machine may be busy."""
    text, told = LARGE[name]
    (tmp_path / "m.cpt").write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = counterpoint("check", "m.cpt", "--timeout", "4", folder=tmp_path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Many scenarios are no error, and may be done in time.
    assert done.returncode in ((0, 4) if name == "scenarios" else (2, 4)), said(done)[:2000]
    assert told in said(done) or "E016" in said(done), said(done)[:2000]
    assert "Traceback" not in said(done)
    assert "PROVED" not in done.stdout or done.returncode in (0, 4)
    assert len(said(done)) < 500_000
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Helper processes work beside the command, two at a time.
    assert seconds < 3 * 4 + 6


def test_a_deep_tree_of_folders_is_walked(tmp_path: Path) -> None:
    """Deeper than Python's stack, and than a path may be long."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    (tmp_path / "m.cpt").write_text(COUNTER)
    done = counterpoint("check", ".", folder=tmp_path)
    assert done.returncode == 2
    assert "cannot be read: File name too long" in done.stderr
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_too_many_files_and_bytes_are_an_error(tmp_path: Path) -> None:
    for n in range(250):
        (tmp_path / f"part{n}.cpt").write_text(f"const part{n}: int = 1\n")
    (tmp_path / "m.cpt").write_text("".join(f'import "part{n}.cpt"\n' for n in range(250)) + COUNTER)
    text = said(counterpoint("check", "m.cpt", folder=tmp_path))
    assert text.count("error[E015]") == 1
    for n in range(3):
        (tmp_path / f"part{n}.cpt").write_text(f"const part{n}: int = 1 //{'x' * 4_900_000}\n")
    (tmp_path / "m.cpt").write_text("".join(f'import "part{n}.cpt"\n' for n in range(3)) + COUNTER)
    assert "error[E015]" in said(counterpoint("check", "m.cpt", folder=tmp_path))
