"""`counterpoint init`, and the CI recipes: their steps are run by a plain shell, in a copy of `examples/ci/`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from checker.starter import FILES
from tests.command import ROOT, counterpoint, environment
from tests.documentation import fences
from tests.published import validate, validate_junit, validate_sarif

SAMPLE = ROOT / "examples" / "ci"
MODEL = "protocols/jobs.cpt"
WORKFLOW = ".github/workflows/protocols.yml"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of the sample repository, beside a folder with the commands that its steps use."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, line in {"counterpoint": f'exec "{sys.executable}" -m checker.cli "$@"', "pip": "exit 0"}.items():
        (commands / name).write_text(f"#!/bin/sh\n{line}\n")
        (commands / name).chmod(0o755)
    return Path(shutil.copytree(SAMPLE, tmp_path / "repository"))


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As a runner does it: bash ends at the first command that fails."""
    path = f"{folder.parent / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=environment(PATH=path, **variables),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def load(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def script(folder: Path) -> str:
    """The commands of the sample's workflow, without the steps that are actions of others."""
    steps = load(folder / WORKFLOW)["jobs"]["check"]["steps"]
    return "\n".join(step["run"] for step in steps if "run" in step)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


CHANGES: Mapping[str, tuple[int, str, str, str]] = {
    "clean": (0, MODEL, "done", "done"),
    "regression": (1, MODEL, "variant repaired { rescan = true }", "variant repaired { rescan = false }"),
    "syntax error": (2, MODEL, "let j = mq.jobs.take()", "let j = = mq.jobs.take()"),
    "time-out": (4, WORKFLOW, "--timeout 300", "--timeout 0.0001"),
}
"""For each path: the exit code, and the edit of which file leads to it."""


@pytest.mark.parametrize("path", CHANGES)
def test_the_steps_of_the_workflow(path: str, sample: Path) -> None:
    code, file, old, new = CHANGES[path]
    edit(sample / file, old, new)
    summary = sample.parent / "summary.md"
    done = shell(script(sample), sample, COUNTERPOINT="here", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == code, done.stdout + done.stderr
    validate_junit(sample / "protocols.xml")
    suites = ET.parse(sample / "protocols.xml").getroot()
    failures, errors = int(suites.get("failures", "")), int(suites.get("errors", ""))
    assert (failures > 0, errors > 0) == (code == 1, code in (2, 4))
    found = validate_sarif((sample / "protocols.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert any(result["level"] == "error" for result in found) == (code != 0)
    assert bool(re.search(r"^::error file=protocols/jobs.cpt,line=\d+", done.stdout, re.MULTILINE)) == (code != 0)
    assert ("forgotten" if code != 2 else "E10") in summary.read_text(encoding="utf-8")


def test_the_workflow_does_not_install_what_nobody_named(sample: Path) -> None:
    done = shell(script(sample), sample, COUNTERPOINT="", GITHUB_STEP_SUMMARY="summary.md")
    assert done.returncode == 1
    assert "set the variable COUNTERPOINT" in done.stderr
    assert not (sample / "protocols.xml").exists()


def recipes() -> dict[str, str]:
    """The commands of the recipes in docs/ci.md, by the language that the recipe is in."""
    found = {}
    for fence in fences(ROOT / "docs" / "ci.md"):
        match fence.info:
            case "bash recipe":
                found["shell"] = fence.text
            case "yaml recipe":
                job = yaml.safe_load(fence.text)["protocols"]
                found["gitlab" if isinstance(job["image"], str) else "container"] = "\n".join(job["script"])
            case "groovy recipe":
                found["jenkins"] = "\n".join(re.findall(r"\bsh '(.*)'", fence.text))
    return found


@pytest.mark.parametrize("system", ["shell", "gitlab", "container", "jenkins"])
def test_recipes_of_other_systems_fail_for_a_regression_alone(system: str, sample: Path) -> None:
    commands = recipes()[system]
    assert shell(commands, sample, COUNTERPOINT="here").returncode == 0
    assert (sample / "protocols.xml").exists()
    _, file, old, new = CHANGES["regression"]
    edit(sample / file, old, new)
    assert shell(commands, sample, COUNTERPOINT="here").returncode == 1


def test_the_action_passes_its_inputs_as_words_and_never_as_commands(sample: Path) -> None:
    action = load(ROOT / "action.yml")
    step = action["runs"]["steps"][-1]
    assert "${{" not in "".join(step.get("run", "") for step in action["runs"]["steps"])
    defaults = {name: given["default"] for name, given in action["inputs"].items()}

    def run(**inputs: str) -> subprocess.CompletedProcess[str]:
        given = {**defaults, **inputs}
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], value)
            for name, value in step["env"].items()
        }
        return shell(step["run"], sample, RUNNER_TEMP="none", GITHUB_STEP_SUMMARY="summary.md", **variables)

    assert run(options="--variant repaired").returncode == 0
    assert (sample / "counterpoint.sarif").exists()
    assert run(models="protocols; touch harm").returncode == 2
    assert run(models="$(touch harm)").returncode == 2
    assert not (sample / "harm").exists()


@pytest.mark.parametrize("file", [".pre-commit-hooks.yaml", "examples/ci/.pre-commit-config.yaml"])
def test_hooks_fail_for_a_regression_alone(file: str, sample: Path) -> None:
    content = load(ROOT / file)
    [hook] = content if isinstance(content, list) else content["repos"][0]["hooks"]
    assert re.search(hook["files"], MODEL)
    assert not hook["pass_filenames"]
    command = " ".join([hook["entry"], *hook.get("args", [])])
    assert shell(command, sample).returncode == 0
    _, model, old, new = CHANGES["regression"]
    edit(sample / model, old, new)
    assert shell(command, sample).returncode == 1


def test_pre_commit_itself_runs_the_hook_and_refuses_a_regression(sample: Path) -> None:
    """In a repository as `counterpoint init` leaves it, with the command installed."""
    pre_commit = f"'{sys.executable}' -m pre_commit"
    home = {"PRE_COMMIT_HOME": str(sample.parent / "pre-commit"), "GIT_CONFIG_GLOBAL": os.devnull}
    assert shell("git init -q . && git add -A", sample, **home).returncode == 0
    done = shell(f"{pre_commit} run --all-files", sample, **home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^counterpoint check\.+Passed$", done.stdout, re.MULTILINE)
    _, model, old, new = CHANGES["regression"]
    edit(sample / model, old, new)
    done = shell(f"git add -A && {pre_commit} run", sample, **home)
    assert done.returncode == 1
    assert "none_forgotten" in done.stdout
    assert shell(f"{pre_commit} validate-manifest '{ROOT / '.pre-commit-hooks.yaml'}'", sample, **home).returncode == 0


def test_every_step_of_the_action_runs(tmp_path: Path, sample: Path) -> None:
    """Those that are commands, one after the other: it installs itself from its own folder, here without what it
    depends on, and checks the sample with what it has installed."""
    folder = tmp_path / "action"
    kept = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "spec", "counterexamples", "checker", "models")
    for name in kept:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        folder.mkdir(exist_ok=True)
        copy(ROOT / name, folder / name)
    (sample.parent / "bin" / "counterpoint").unlink()
    (sample.parent / "bin" / "python").symlink_to(sys.executable)
    action = load(ROOT / "action.yml")
    defaults = {name: given["default"] for name, given in action["inputs"].items()}
    steps = [step for step in action["runs"]["steps"] if "run" in step]
    assert [step["uses"] for step in action["runs"]["steps"] if "uses" in step] == ["actions/setup-python@v5"]
    for step in steps:
        given = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: defaults[match[1]], value)
            for name, value in step.get("env", {}).items()
        }
        done = shell(
            step["run"],
            sample,
            RUNNER_TEMP=str(tmp_path / "runner"),
            GITHUB_ACTION_PATH=str(folder),
            GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
            PIP_NO_DEPS="1",
            PYTHONPATH=sysconfig.get_path("purelib"),
            **given,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "all 4 expectations met" in done.stdout
    assert "none" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    validate_junit(sample / defaults["junit"])
    validate_sarif((sample / defaults["sarif"]).read_text(encoding="utf-8"))


def test_workflows_ask_for_no_more_than_reading_and_let_nobody_write_commands() -> None:
    """What a stranger may set (titles, branches, inputs) reaches a shell as a variable, never as text of a command."""
    workflow = load(SAMPLE / ".github" / "workflows" / "protocols.yml")
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow[True]
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all("permissions" not in job for job in workflow["jobs"].values())
    assert not any("${{" in step.get("run", "") for step in [*steps, *load(ROOT / "action.yml")["runs"]["steps"]])


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("action.yml", "github-action"),
        (f"examples/ci/{WORKFLOW}", "github-workflow"),
        ("examples/ci/.pre-commit-config.yaml", "pre-commit-config"),
    ],
)
def test_files_are_of_the_schemas_of_their_readers(file: str, schema: str) -> None:
    content = load(ROOT / file)
    if True in content:
        content["on"] = content.pop(True)  # YAML 1.1 takes `on` for a truth value
    validate(content, schema)


# ------------------------------------------------------------------------------------------------------------- init


def written(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()
    }


def test_init_writes_the_sample_repository(tmp_path: Path) -> None:
    done = counterpoint("init", "new", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert written(tmp_path / "new") == written(SAMPLE) == dict(FILES)
    assert [line for line in done.stdout.splitlines() if line.startswith("new/")] == [f"new/{name}" for name in FILES]


@pytest.mark.parametrize("name", FILES)
def test_init_overwrites_nothing_and_then_writes_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    done = counterpoint("init", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"counterpoint: E441: {name} is there already\n")
    assert written(tmp_path) == {name: "mine"}


def test_init_does_not_write_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".pre-commit-config.yaml").symlink_to(tmp_path / "elsewhere")
    done = counterpoint("init", "new", folder=tmp_path)
    assert (done.returncode, written(tmp_path)) == (2, {})


def test_init_does_not_write_through_a_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".github").symlink_to(tmp_path / "elsewhere")
    done = counterpoint("init", "new", folder=tmp_path)
    assert done.returncode == 2
    assert "leads out" in done.stderr
    assert not list((tmp_path / "elsewhere").iterdir())
    assert [each.name for each in (tmp_path / "new").iterdir()] == [".github"]


def test_init_says_where_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = counterpoint("init", "file", folder=tmp_path)
    assert done.returncode == 2
    assert "E409: file/protocols/jobs.cpt cannot be written" in done.stderr
