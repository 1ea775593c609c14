from __future__ import annotations

import pytest

from checker.faultsets import parse_faults
from checker.options import UnknownNameError
from spec.typed import FaultKind
from tests.checker.samples import fault, model

DECLARED = (fault(FaultKind.CRASH, "Server"), fault(FaultKind.PARTITION, "Server", "postgres"))
MODEL = model(*DECLARED)


@pytest.mark.parametrize("text", ["none", "", "  none "])
def test_none(text: str) -> None:
    assert parse_faults(text, MODEL) == ()


def test_declared_classes_are_answered_as_declared() -> None:
    assert parse_faults("crash  Server , partition Server--postgres", MODEL) == DECLARED


def test_a_class_counts_once() -> None:
    assert parse_faults("crash Server, crash Server", MODEL) == DECLARED[:1]


@pytest.mark.parametrize(
    ("text", "kind", "first", "second", "restart"),
    [
        ("crash redis", FaultKind.CRASH, "redis", None, True),
        ("crash Server without restart", FaultKind.CRASH, "Server", None, False),
        ("lose Server -- redis", FaultKind.LOSE, "Server", "redis", True),
        ("duplicate redis -- Server", FaultKind.DUPLICATE, "Server", "redis", True),
        ("partition Server -- Server", FaultKind.PARTITION, "Server", "Server", True),
        ("expire redis.wf", FaultKind.EXPIRE, "redis", "wf", True),
    ],
)
def test_classes_that_are_not_declared(
    text: str, kind: FaultKind, first: str, second: str | None, restart: bool
) -> None:
    (found,) = parse_faults(text, MODEL)
    assert (found.kind, found.first, found.second, found.restart) == (kind, first, second, restart)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("crash Servr", "'Server'"),
        ("crsh Server", "'crash Server'"),
        ("partition Server -- postgre", "'postgres'"),
        ("expire redis.wff", "'wf'"),
    ],
)
def test_mistakes_are_told_with_a_suggestion(text: str, hint: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse_faults(text, MODEL)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "crash Server -- postgres",
        "lose Server",
        "expire redis",
        "expire redis.plain",
        "expire postgres.wf",
        "partition postgres -- redis",
        "lose Server -- postgres without restart",
        "crash Server postgres",
        "crash Server,",
    ],
)
def test_nonsense_is_rejected(text: str) -> None:
    with pytest.raises(UnknownNameError):
        parse_faults(text, MODEL)
