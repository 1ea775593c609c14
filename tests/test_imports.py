"""The rules about imports in ARCHITECTURE.md."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from setuptools import find_packages

ROOT = Path(__file__).parent.parent
FLOORS = ("spec", "counterexamples", "checker", "models")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
    for floor in FLOORS
    for path in sorted((ROOT / floor).rglob("*.py"))
}
SHARED = {"spec.typed", "spec.types", "spec.value", "spec.state", "spec.event"}
"""What the two implementations of the meaning have in common: data."""
CLOCK = {"spec.alarm"}
"""And what says to either, and to engines, that their time is up."""


def imports(tree: ast.Module) -> Iterator[str]:
    """The modules that a module imports, wherever in it.  `from a import b` gives `a.b` when that is a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def importers(wanted: str) -> set[str]:
    """The modules that import `wanted` or anything in it."""
    return {name for name, tree in MODULES.items() if any(within(found, wanted) for found in imports(tree))}


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def test_the_modules_are_found() -> None:
    assert {"spec.typed", "checker.lowering.steps", "counterexamples.render.text"} <= MODULES.keys()
    assert "checker.engines.engine" in set(imports(MODULES["checker.planning.plan"]))


@pytest.mark.parametrize(
    ("floor", "may"),
    [("spec", ("spec",)), ("counterexamples", ("counterexamples", "spec")), ("models", ())],
)
def test_imports_go_down(floor: str, may: tuple[str, ...]) -> None:
    others = [package for package in (*FLOORS, "tests", "benchmarks") if package not in may]
    wrong = {
        f"{name} imports {found}"
        for name, tree in MODULES.items()
        if within(name, floor)
        for found in imports(tree)
        if any(within(found, package) for package in others)
    }
    assert not wrong


def test_nothing_that_is_shipped_imports_tests_or_benchmarks() -> None:
    assert not importers("tests") | importers("benchmarks")


def test_lowering_and_interpreter_share_only_data() -> None:
    wrong = {
        f"{name} imports {found}"
        for name, tree in MODULES.items()
        if name == "checker.lower" or within(name, "checker.lowering")
        for found in imports(tree)
        if within(found, "spec") and found not in SHARED | CLOCK
    }
    assert not wrong


def test_what_lowering_and_interpreter_share_imports_neither() -> None:
    allowed = SHARED | {"spec.source"}
    assert {found for name in SHARED for found in imports(MODULES[name]) if within(found, "spec")} <= allowed


def test_engines_see_the_transition_system_alone() -> None:
    wrong = {
        f"{name} imports {found}"
        for name, tree in MODULES.items()
        if within(name, "checker.engines")
        for found in imports(tree)
        if (within(found, "spec") and found not in CLOCK)
        or within(found, "counterexamples")
        or within(found, "checker.lower")
        or within(found, "checker.lowering")
    }
    assert not wrong


@pytest.mark.parametrize(
    ("library", "doors"),
    [
        ("lark", {"spec.lalr_tables"}),
        ("z3", {"checker.logic.solver"}),
        ("pysat", {"checker.logic.sat"}),
        ("rich", {"counterexamples.render.page"}),
        ("graphviz", {"counterexamples.render.dot"}),
        ("psutil", {"checker.work.memory"}),
        ("distributed", {"checker.work.cluster"}),
    ],
)
def test_each_library_has_one_door(library: str, doors: set[str]) -> None:
    found = importers(library)
    assert found
    assert found <= doors


def test_numpy_is_for_the_checker() -> None:
    assert {name.split(".")[0] for name in importers("numpy")} == {"checker"}


def test_only_the_command_line_exits_and_nothing_prints() -> None:
    prints: set[str] = set()
    exits: set[str] = set()
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                prints |= {name} if node.func.id == "print" else set()
                exits |= {name} if node.func.id in ("exit", "quit") else set()
            if isinstance(node, ast.Name) and node.id == "SystemExit":
                exits.add(name)
            if isinstance(node, ast.Attribute) and node.attr in ("exit", "_exit", "abort"):
                exits.add(name)
    assert not prints
    assert exits == {"checker.cli"}


def test_only_the_command_line_touches_the_real_streams() -> None:
    users = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
        and node.attr in ("stdin", "stdout", "stderr")
    }
    assert users <= {"checker.cli", "checker.terminal"}  # the latter only asks whether a stream is standard error


def test_every_package_is_shipped() -> None:
    found = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"][
        "find"
    ]
    shipped = find_packages(str(ROOT), include=found["include"])
    assert sorted(shipped) == sorted({name.rpartition(".")[0] for name in MODULES})
