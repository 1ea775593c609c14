from __future__ import annotations

import json
from pathlib import Path

from checker.bundle import Failure, document, plain, write
from checker.version import VERSION
from spec.event import Event, EventKind, Slot
from spec.value import Id, Member
from tests.checker.samples import SPAN, trace


def test_a_file_holds_all_that_is_needed_to_repeat_the_run(tmp_path: Path) -> None:
    event = Event(EventKind.STEP, Slot("Server", 0, "start"), 3, item=Id("Workflow", 0))
    failure = Failure(
        "the interpreter disagrees",
        (("a.cpt", "const N: int = 1\n"),),
        {"variant": "v1", "max_faults": None},
        "kept",
        trace(event),
        "Traceback",
    )
    path = write(failure, ["counterpoint", "check", "a.cpt"], tmp_path)
    content = json.loads(path.read_text())
    assert path.parent == tmp_path
    assert content["version"] == VERSION
    assert content["command"] == ["counterpoint", "check", "a.cpt"]
    assert content["files"] == [{"name": "a.cpt", "text": "const N: int = 1\n"}]
    assert content["choice"] == {"variant": "v1", "max_faults": None}
    assert content["subject"] == "kept"
    assert content["evidence"]["events"][0]["slot"] == {
        "process": "Server", "instance": 0, "thread": "start", "place": 0,
    }  # fmt: skip


def test_the_same_failure_gives_the_same_file(tmp_path: Path) -> None:
    first = write(Failure("x"), [], tmp_path)
    assert write(Failure("x"), [], tmp_path) == first
    assert write(Failure("y"), [], tmp_path) != first


def test_text_that_utf8_cannot_encode_does_not_stop_it(tmp_path: Path) -> None:
    path = write(Failure("odd \udc80"), [], tmp_path)
    assert path.is_file()


def test_values_become_json() -> None:
    assert plain({("a", 1): Member("E", "x")}) == [[["a", 1], {"enum": "E", "name": "x"}]]
    assert plain(frozenset({2, 1})) == [1, 2]
    assert plain(SPAN) == "sample.cpt:1:1"
    assert str(plain(object)).startswith("<class")
    assert json.loads(document(Failure("x", evidence={"n": float("1.5")}), []))["evidence"] == {"n": 1.5}
