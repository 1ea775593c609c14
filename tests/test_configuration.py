"""Options in a file: where it is found, what counts, and what is told about mistakes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from checker.arguments import parse
from checker.configuration import Configured, configure, find, keys
from checker.options import DEFAULT_TIMEOUT, UsageError
from tests.command import ROOT, counterpoint, write_models


def configured(folder: Path, *words: str) -> Configured:
    configuration = find(folder)
    assert configuration is not None
    return configure(words, parse(words), configuration)


def complaint(folder: Path, *words: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        configured(folder, *(words or ("check", "a.cpt")))
    return caught.value


# ----------------------------------------------------------------------------------------------------- where it is


def test_the_first_folder_upwards_counts_and_the_repository_is_the_end(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "models" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "counterpoint.toml").write_text("timeout = 1\n")
    assert configured(inner, "check", "a.cpt").arguments.timeout == 1
    (tmp_path / "repository" / "pyproject.toml").write_text("[tool.counterpoint]\ntimeout = 2\n")
    assert configured(inner, "check", "a.cpt").arguments.timeout == 2
    (inner / "counterpoint.toml").write_text("timeout = 3\n")
    found = configured(inner, "check", "a.cpt")
    assert (found.arguments.timeout, found.name) == (3, "counterpoint.toml")
    assert configured(inner.parent, "check", "a.cpt").name == os.path.join("..", "pyproject.toml")
    (tmp_path / "repository" / "pyproject.toml").unlink()
    (tmp_path / "repository" / ".git").mkdir()
    assert find(inner.parent) is None


def test_other_peoples_tables_are_no_configuration(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "counterpoint-models"\n[tool.other]\ntimeout = "x"\n')
    assert find(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text("this is no TOML at all")
    assert find(tmp_path) is None


def test_both_files_in_one_folder_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "counterpoint.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.counterpoint]\n")
    with pytest.raises(UsageError) as caught:
        find(tmp_path)
    assert caught.value.code == "E431"
    assert "counterpoint.toml" in caught.value.message
    assert "pyproject.toml" in caught.value.message


@pytest.mark.parametrize(
    "content", [b"timeout = \n", b"\xff\xfe", b"a = 1\na = 2\n", b"D = " + b"[" * 100_000, b"#" * 1_000_001]
)
def test_what_cannot_be_read_is_a_coded_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "counterpoint.toml").write_bytes(content)
    with pytest.raises(UsageError) as caught:
        find(tmp_path)
    assert caught.value.code == "E430"


def test_a_pipe_in_its_place_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "counterpoint.toml")
    with pytest.raises(UsageError) as caught:
        find(tmp_path)
    assert caught.value.code == "E430"


# ------------------------------------------------------------------------------------------------------ what counts


def test_the_command_line_goes_before_the_file_and_the_file_before_the_default(tmp_path: Path) -> None:
    (tmp_path / "counterpoint.toml").write_text(
        'timeout = 7\nproperty = ["a", "b"]\nengine = "bmc"\nstrict = true\nneeds = false\nmax-faults = 0\n'
    )
    file = configured(tmp_path, "check", "a.cpt")
    read = file.arguments
    assert (read.timeout, read.property, read.engine, read.strict, read.needs) == (7.0, ["a", "b"], "bmc", True, False)
    assert read.max_faults == 0
    assert (read.depth, read.variant, read.trace) == (None, [], None)
    assert file.keys == ("timeout", "property", "engine", "strict", "max-faults")
    # The command line, even where it says what the default is.
    words = ("check", "a.cpt", "--property", "c", "--engine", "auto", "--timeout", str(DEFAULT_TIMEOUT))
    line = configured(tmp_path, *words)
    assert (line.arguments.timeout, line.arguments.property, line.arguments.engine) == (DEFAULT_TIMEOUT, ["c"], "auto")
    assert line.keys == ("strict", "max-faults")


def test_what_the_file_adds_said_as_words_gives_the_same(tmp_path: Path) -> None:
    (tmp_path / "counterpoint.toml").write_text(
        'timeout = 7.5\nvariant = "v"\nstrict = true\ndepth = 3\nhtml = "out/a.html"\nD = { N = 3, B = true }\n'
    )
    words = ("check", "a.cpt", "--no-symmetry")
    found = configured(tmp_path, *words)
    assert vars(parse((*words, *found.words))) == vars(found.arguments)
    assert found.arguments.constants == ["N=3", "B=true"]


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ('D = "N=3"', ["N=3"]),
        ('D = ["N=3", "M=4"]', ["N=3", "M=4"]),
        ('[D]\nN = 3\nm = "RED"', ["N=3", "m=RED"]),
    ],
)
def test_constants(text: str, constants: list[str], tmp_path: Path) -> None:
    (tmp_path / "counterpoint.toml").write_text(text)
    assert configured(tmp_path, "check", "a.cpt").arguments.constants == constants
    assert configured(tmp_path, "check", "a.cpt", "-D", "K=1").arguments.constants == ["K=1"]


def test_every_option_of_check_is_a_key() -> None:
    flags = set(keys())
    assert {"D", "with", "max-faults", "no-symmetry", "quiet", "html", "timeout", "color"} <= flags
    assert not {"help", "no-config", "models", "q"} & flags


def test_other_commands_take_what_means_the_same_there(tmp_path: Path) -> None:
    (tmp_path / "counterpoint.toml").write_text(
        'timeout = 7\ndepth = 2\nstates = 5\nfaults = "none"\ntrace = "short"\nproperty = ["a", "b"]\nD = ["N=3"]\n'
    )
    graph = configured(tmp_path, "graph", "a.cpt").arguments
    assert (graph.timeout, graph.faults, graph.constants) == (7.0, "none", ["N=3"])
    assert (graph.depth, graph.states) == (None, 20_000)
    points = configured(tmp_path, "crashpoints", "a.cpt").arguments
    assert (points.states, points.property, points.trace) == (5, ["a", "b"], "none")
    change = configured(tmp_path, "diff", "a", "b").arguments
    assert (change.timeout, change.variant) == (7.0, [])
    trace = configured(tmp_path, "trace", "a.cpt", "--to", "itf").arguments
    assert (trace.constants, trace.property) == (["N=3"], None)
    # A trace has its own model.
    file = configured(tmp_path, "trace", "a.json", "--to", "itf").arguments
    assert (file.constants, file.faults, file.timeout) == ([], None, 7.0)


# --------------------------------------------------------------------------------------------------------- mistakes


def test_an_unknown_key_is_told_with_its_line_and_a_suggestion(tmp_path: Path) -> None:
    (tmp_path / "counterpoint.toml").write_text('# tmeout\nhtml = """\ntmeout = 1\n"""\n\ntmeout = 60\nstrict = true\n')
    error = complaint(tmp_path)
    assert (error.code, error.hint) == ("E432", "did you mean 'timeout' or 'timeout-total'?")
    assert error.message.startswith("counterpoint.toml:6: ")
    (tmp_path / "counterpoint.toml").write_text("--max_faults = 3\n")
    assert complaint(tmp_path).hint == "did you mean 'max-faults'?"


@pytest.mark.parametrize("header", ["[tool.counterpoint]\n", "[tool]\n[tool.counterpoint]\n"])
def test_the_line_in_a_shared_file_is_that_of_the_right_table(header: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.other]\nstrikt = 1\n" + header + "strikt = 1\n[tool.more]\nstrikt = 1\n"
    )
    assert complaint(tmp_path).message.startswith(f"pyproject.toml:{3 + header.count(chr(10))}: ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("strict = 1", "true or false"),
        ('strict = "true"', "true or false"),
        ('timeout = "60"', "a number"),
        ("timeout = true", "a number"),
        ("timeout = -1", "a number that the option allows"),
        ("timeout = nan", "a number that the option allows"),
        ("states = 2.5", "a whole number"),
        ("memory = 2", 'a size such as "2G"'),
        ('memory = "2"', 'a size such as "2G"'),
        ("states = 0", "a number that the option allows"),
        ('engine = "serach"', "one of auto, search"),
        ("engine = 3", "one of auto, search"),
        ("property = [1]", "a list of texts"),
        ("variant = 3", "a list of texts"),
        ("D = 3", "a table"),
        ("D = { N = 1.5 }", "a table of numbers"),
        ("faults = 3", "a text"),
        ('html = "../a.html"', "below the folder"),
        ('html = "/tmp/a.html"', "below the folder"),
        ('summary = ".git/hooks/pre-commit"', "below the folder"),
        ('sarif = "out/a.sarif"', "below the folder"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(text: str, told: str, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    (folder / "counterpoint.toml").write_text(f"quiet = false\n{text}\n")
    error = complaint(folder)
    assert error.code == "E433"
    assert error.message.startswith("counterpoint.toml:2: ")
    assert told in error.message
    if "serach" in text:
        assert error.hint == "did you mean 'search'?"


# --------------------------------------------------------------------------------------------------- real processes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_models(tmp_path)


def test_the_report_says_in_a_line_which_file_was_used(folder: Path) -> None:
    (folder / "counterpoint.toml").write_text('property = "never_two"\ntrace = "none"\nsummary = "out.md"\n')
    (folder / "sub").mkdir()
    done = counterpoint("check", "../counter.cpt", folder=folder / "sub")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "options of ../counterpoint.toml: property, trace, summary"
    assert "small" not in done.stdout
    assert (folder / "out.md").exists()
    assert not (folder / "sub" / "out.md").exists()
    ignored = counterpoint("check", "counter.cpt", "--no-config", folder=folder)
    assert "counterpoint.toml" not in ignored.stdout
    assert "small" in ignored.stdout
    as_data = counterpoint("check", "counter.cpt", "--json", folder=folder)
    assert json.loads(as_data.stdout)["schema"].startswith("counterpoint-report/")


def test_mistakes_in_it_have_exit_code_2_and_no_terminal_escapes(folder: Path) -> None:
    (folder / "counterpoint.toml").write_text('"stri\\u001b[31mct" = true\n')
    done = counterpoint("check", "expected.cpt", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "counterpoint: E432: counterpoint.toml" in done.stderr
    assert "\x1b" not in done.stderr
    assert counterpoint("check", "expected.cpt", "--no-config", folder=folder).returncode == 0
    # What explains the mistake does not stumble over it.
    assert counterpoint("explain", "E432", folder=folder).returncode == 0
    (folder / "counterpoint.toml").write_text('property = "no_such"\n')
    done = counterpoint("check", "expected.cpt", folder=folder)
    assert done.returncode == 2
    assert "options of counterpoint.toml: property" in done.stderr


def test_a_run_without_a_file_does_not_load_the_reader(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    script = (
        "import sys; from pathlib import Path; from checker import cli, configuration\n"
        "assert 'tomllib' not in sys.modules\n"
        "configuration.find(Path.cwd()); assert 'tomllib' not in sys.modules\n"
        "assert 'lark' not in sys.modules and 'numpy' not in sys.modules\n"
    )
    subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True
    )
