from __future__ import annotations

import pytest

from checker.arguments import COMMANDS, assignments, parse
from checker.options import UsageError
from checker.suggestion import suggest


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["chek", "x"], "'check'"),
        (["model.cpt"], "counterpoint check model.cpt"),
        ([], "check"),
        (["check"], "--help"),
        (["check", "x", "--engine", "magic"], "--help"),
        (["check", "x", "--depth", "-1"], "--help"),
        (["check", "x", "--depth", "many"], "--help"),
        (["check", "x", "--timeout", "0"], "--help"),
        (["check", "x", "--timeout", "nan"], "--help"),
        (["check", "x", "--states", "0"], "--help"),
        (["check", "x", "--nonsense"], "--help"),
        (["completion", "tcsh"], "--help"),
    ],
)
def test_mistakes_are_usage_errors_with_a_hint(arguments: list[str], hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(arguments)
    assert hint in (caught.value.hint or "")


def test_options_repeat() -> None:
    found = parse(["check", "a", "b", "--variant", "v1", "--variant", "v2", "--property", "p", "-D", "N=3", "-DM=4"])
    assert found.models == ["a", "b"]
    assert found.variant == ["v1", "v2"]
    assert found.property == ["p"]
    assert found.constants == ["N=3", "M=4"]


def test_assignments() -> None:
    assert assignments(["a=1", " b = x y "], "-D", None) == {"a": "1", "b": "x y"}
    assert assignments(["rescan", "mode=FAST"], "--with", "true") == {"rescan": "true", "mode": "FAST"}
    assert assignments(["a=b=c"], "-D", None) == {"a": "b=c"}


@pytest.mark.parametrize("pairs", [["a"], ["=1"], ["a="], [""], ["a=1", "a=2"]])
def test_bad_assignments(pairs: list[str]) -> None:
    with pytest.raises(UsageError):
        assignments(pairs, "-D", None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kep", "did you mean 'kept'?"),
        ("KEPT", "did you mean 'kept'?"),
        ("abandoned", "did you mean 'none_abandoned'?"),
        ("zzz", "properties: kept, none_abandoned"),
    ],
)
def test_suggestions(name: str, expected: str) -> None:
    assert suggest(name, ["none_abandoned", "kept"], "properties") == expected
    assert suggest(name, [], "properties") is None


def test_every_command_is_known_to_the_parser() -> None:
    for command in COMMANDS:
        with pytest.raises(SystemExit) as caught:
            parse([command, "--help"])
        assert caught.value.code == 0
