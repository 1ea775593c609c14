"""The documentation is true: what it quotes is what there is, and what there is can be found in it.

`python -m tests.documentation --refresh` repairs quotations; whether the text around them is still right, a person must
read.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.arguments import COMMANDS, build
from checker.catalogue import find
from checker.certificates.certificate import _STEPS
from checker.codes import CODES
from checker.crashpoints.report_json import SCHEMA as CRASH_POINTS
from checker.differences.report import SCHEMA as DIFFERENCES
from checker.engines.engine import Budget
from checker.engines.saving import STATE_LIMIT
from checker.exitcode import ExitCode
from checker.lowering.layout import INT_WINDOW
from checker.options import DEFAULT_POINTS, DEFAULT_TIMEOUT
from checker.planning.plan import ALONE_BESIDE, HEAD_START, HEAD_STATES, HELPERS, SEARCH_SHARE
from checker.reports.report_json import SCHEMA
from checker.sweeps.report_json import SCHEMA as SWEEPS
from checker.version import VERSION
from spec.load import load
from spec.parse import parse
from spec.project import OWN_FILE
from spec.source import Source
from spec.syntax import File
from spec.tokens import DIGITS, HARD_WORDS
from spec.typecheck import Checked, typecheck
from tests import picture
from tests.documentation import (
    ROOT,
    Fence,
    Shell,
    agrees,
    fences,
    grammar_parts,
    is_excerpt,
    module_lists,
    modules,
    pages,
    prose,
    session,
    true_session,
)

PAGES = pages()
FENCES = [fence for page in PAGES for fence in fences(page)]
FOLDERS = {ROOT, ROOT / "models", ROOT / "checker", ROOT / "counterexamples", ROOT / "spec"}
NO_PATHS = (SCHEMA, CRASH_POINTS, DIFFERENCES, SWEEPS, OWN_FILE)
"""Names that look like paths, and a file that is the user's."""
CHECK = "python3 -m venv .venv && .venv/bin/pip install -q -e . && .venv/bin/counterpoint check conductor"
TEST = "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def of_kind(kind: str) -> list[Fence]:
    return [fence for fence in FENCES if fence.info.split(" ")[0] == kind]


def place(value: object) -> str:
    return value.place if isinstance(value, Fence) else str(value)


def name(value: object) -> str:
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)


# -------------------------------------------------------------------------------------------------------- quotations


@pytest.mark.parametrize("fence", of_kind("console"), ids=place)
def test_sessions_print_what_the_page_says(fence: Fence) -> None:
    shell = Shell()
    for command in session(fence.text):
        printed = shell.answer(command.line)
        assert agrees(command.quoted, printed), "\n".join([f"{fence.place}: $ {command.line}", *printed])


@pytest.mark.parametrize("fence", of_kind("cpt"), ids=place)
def test_models_are_what_the_page_says(fence: Fence, tmp_path: Path) -> None:
    what = fence.info.removeprefix("cpt").strip()
    if what == "outline":
        assert isinstance(parse(Source("outline.cpt", fence.text.replace("{ .. }", "{ fail }"))), File)
    elif what == "complete":
        (tmp_path / "complete.cpt").write_text(fence.text, encoding="utf-8")
        type_checks(tmp_path / "complete.cpt")
    else:
        assert is_excerpt(fence.text, text(what))


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.cpt")), ids=name)
def test_models_of_the_documentation_type_check_and_are_shown(path: Path) -> None:
    type_checks(path)
    assert any(str(path.relative_to(ROOT)) in text(str(page.relative_to(ROOT))) for page in PAGES)


def type_checks(path: Path) -> None:
    module = load(path, ROOT / "models")
    assert not isinstance(module, tuple), module
    assert isinstance(typecheck(module), Checked)


def test_every_rule_of_the_grammar_is_quoted_word_for_word() -> None:
    quoted = {fence.info.removeprefix("lark").strip(): fence.text for fence in of_kind("lark")}
    assert quoted == grammar_parts()
    rules = re.findall(r"^\??(\w+):", text("spec/grammar.lark"), flags=re.MULTILINE)
    assert len(rules) > 80
    assert sorted(rules) == sorted(re.findall(r"^\??(\w+):", "\n".join(quoted.values()), flags=re.MULTILINE))


def test_every_module_is_in_the_architecture() -> None:
    lists = module_lists(ROOT / "ARCHITECTURE.md")
    assert {folder: modules(folder) for folder in lists} == lists
    listed = {line.split("`")[1] for lines in lists.values() for line in lines}
    folders = ("spec", "counterexamples", "checker", "models", "benchmarks")
    there = {path for folder in folders for path in (ROOT / folder).rglob("*.py") if path.stat().st_size > 0}
    assert listed == {str(path.relative_to(ROOT)) for path in there if path.name != "__init__.py"} | {
        path for path in listed if path.endswith("__init__.py")
    }


def test_the_picture_is_of_a_real_run() -> None:
    assert picture.pieces(picture.PICTURE.read_text(encoding="utf-8")) == picture.pieces(picture.draw())
    assert "(docs/pictures/run.svg)" in text("README.md")


# -------------------------------------------------------------------------------------------------------- references


def links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            if not target.startswith(("http://", "https://")):
                yield page, target


def test_links_lead_somewhere() -> None:
    found = list(links())
    assert len(found) > 20
    for page, target in found:
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name}: {target}"


def anchors(page: Path) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def inline_code(page: Path) -> list[str]:
    return re.findall(r"`([^`\n]+)`", prose(page))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_are_mentioned_exist(page: Path) -> None:
    for code in inline_code(page):
        if (
            re.fullmatch(r"\.?[\w./-]*\w\.(py|md|cpt|lark|toml|json|svg)|[\w-]+/[\w./-]*", code)
            and code not in NO_PATHS
        ):
            exists = any((folder / code).exists() for folder in FOLDERS | {page.parent})
            assert exists or find(code, ROOT / "models"), f"{page.name} mentions {code}"


def test_records_of_decisions_are_in_their_index() -> None:
    index = text("docs/decisions/README.md")
    records = sorted(path for path in (ROOT / "docs" / "decisions").glob("0*.md"))
    assert len(records) >= 5
    numbers = [int(record.name[:4]) for record in records]
    assert numbers == sorted(set(numbers))
    for record in records:
        title = re.match(r"# (\d+)\. (.*)\n", record.read_text(encoding="utf-8"))
        assert title is not None
        assert int(title[1]) == int(record.name[:4])
        assert f"| [{record.name[:4]}]({record.name}) | {title[2]} |" in index


def test_codes_that_are_mentioned_exist() -> None:
    mentioned = {code for page in PAGES for code in re.findall(r"\b[EW]\d{3}\b", text(str(page.relative_to(ROOT))))}
    assert len(mentioned) > 10
    assert mentioned <= CODES.keys()


# -------------------------------------------------------------------------------------------------------- the command


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parsers of the subcommands, and "" for the command itself."""
    parser = build()
    action = next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return {"": parser, **action.choices}


def options() -> set[str]:
    return {option for parser in parsers().values() for action in parser._actions for option in action.option_strings}


def test_commands_that_are_mentioned_parse() -> None:
    told = [code for page in PAGES for code in inline_code(page)]
    told += [line.removeprefix("$ ") for fence in of_kind("console") for line in fence.text.split("\n")]
    told += [line for fence in of_kind("sh") for line in fence.text.split("\n")]
    lines = [line for line in told if re.match(r"counterpoint \w", line)]
    assert len(lines) > 20
    for line in lines:
        words = line.split()
        assert words[1] in COMMANDS, line
        known = {option for action in parsers()[words[1]]._actions for option in action.option_strings}
        quoted = re.sub(r'"[^"]*"', "", line)
        assert {word for word in quoted.split() if re.match(r"-\w|--\w", word)} <= known, line


def test_options_that_are_mentioned_exist_and_all_are_described() -> None:
    spoken = [code for page in PAGES for code in inline_code(page) if code.startswith(("-", "counterpoint "))]
    assert {match for code in spoken for match in re.findall(r"(?<!\S)--?[a-zA-Z][\w-]*", code)} <= options()
    described = {
        match
        for code in inline_code(ROOT / "docs" / "command.md")
        for match in re.findall(r"(?<!\S)--?[a-zA-Z][\w-]*", code)
    }
    assert options() <= described


def test_every_command_has_a_section() -> None:
    headings = re.findall(r"^## counterpoint (\w+)$", text("docs/command.md"), flags=re.MULTILINE)
    assert sorted(headings) == sorted(COMMANDS)


def test_the_two_commands_stand_in_the_readme_and_in_ci() -> None:
    commands = [fence.text for fence in of_kind("sh") if fence.page.name == "README.md"]
    assert commands == [CHECK, TEST]
    assert TEST in text(".ci/run").split("\n")


@pytest.mark.parametrize("page", ["README.md", "docs/verdicts.md"])
def test_exit_codes_are_listed(page: str) -> None:
    listed = re.findall(r"^\| (\d) \| ", text(page), flags=re.MULTILINE)
    assert [int(code) for code in listed] == sorted(ExitCode)


# -------------------------------------------------------------------------------------------------------- numbers


def test_numbers_of_the_page_on_verdicts() -> None:
    page = " ".join(text("docs/verdicts.md").split())
    assert f"when it gets by with {_STEPS:,} steps" in page
    assert f"at most {Budget().states:,} states" in page
    assert f"in up to {STATE_LIMIT:,} states" in page
    assert f"from {INT_WINDOW[0]} to {INT_WINDOW[-1]}" in page
    assert (SEARCH_SHARE, HELPERS) == (0.6, ("ic3", "parallel", "bmc"))
    assert f"When that has had {ALONE_BESIDE:.0f} seconds" in page
    assert "runs `search` for at most three fifths of the time" in page
    assert f"after {HEAD_START} seconds of work or {HEAD_STATES:,} states" in page
    assert f"there may be at most {DEFAULT_POINTS} points" in " ".join(text("docs/sweep.md").split())
    assert f"the time for each variant, {DEFAULT_TIMEOUT:.0f} s by default" in text("docs/command.md")


def test_numbers_of_states_in_the_readme_are_those_of_the_page_on_verdicts() -> None:
    told = re.search(
        r"has ([\d,]+) states with one workflow, ([\d,]+) with two and ([\d,]+) with three",
        " ".join(text("README.md").split()),
    )
    assert told is not None
    limits = text("docs/verdicts.md").partition("## Limits")[2]
    assert list(told.groups()) == re.findall(r"none_abandoned +at rest +PROVED +([\d,]+) states", limits)


def test_words_and_sizes_of_the_language_reference() -> None:
    page = text("docs/language.md")
    words = re.search(r"These are never names: (.*?)\.\n", page, flags=re.DOTALL)
    assert words is not None
    assert set(re.findall(r"`(\w+)`", words[1])) == HARD_WORDS
    assert f"at most {DIGITS}\ndigits" in page or f"at most {DIGITS} digits" in page


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    newest = re.search(r"^## \[(\d\S*)\]", text("CHANGELOG.md"), flags=re.MULTILINE)
    assert newest is not None
    assert project["version"] == VERSION == newest[1]


# ------------------------------------------------------------------------------------------- the checks themselves


def test_a_changed_line_is_noticed_and_a_time_is_not() -> None:
    printed = ("a", "1 model in 0.1 s", "c")
    assert agrees(("a", "1 model in 9.9 s", "c"), printed)
    assert not agrees(("a", "2 models in 0.1 s", "c"), printed)
    assert not agrees(("a", "c"), printed)
    assert not agrees(("a", "1 model in 0.1 s", "c", "d"), printed)


def test_left_out_lines_are_left_out_and_no_others() -> None:
    printed = ("a", "b", "c", "d")
    assert agrees(("a", "…", "d"), printed)
    assert agrees(("a", "…"), printed)
    assert not agrees(("b", "…", "d"), printed)
    assert not agrees(("a", "…", "c"), printed)
    assert not agrees(("a", "b", "…", "c", "d"), printed)


def test_excerpts_follow_the_order_of_the_file() -> None:
    file = "a\nb\nc\nd\n"
    assert is_excerpt("a\nb\nc\nd", file)
    assert is_excerpt("…\nb\n…\nd", file)
    assert not is_excerpt("b\nc\nd", file)
    assert not is_excerpt("a\nb\nc", file)
    assert not is_excerpt("…\nd\n…\nb\n…", file)
    assert not is_excerpt("…\nx\n…", file)


def test_refreshing_repairs_a_session() -> None:
    said = "$ counterpoint --version\ncounterpoint 0.0.0\n$ echo $?\n7"
    assert true_session(said) == f"$ counterpoint --version\ncounterpoint {VERSION}\n$ echo $?\n0"
