"""Fairness of actions, and which runs violate a live property, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spec.event import EventKind, FairAction, Party
from spec.fairness import fairness, owed
from spec.interpreter import Interpreter
from spec.liveness import failure
from spec.state import GlobalState
from tests.spec.typecheck_models import check

MODEL = """
store db { durable p: bool; durable q: bool }
process P { loop t { db.p := not db.p; db.q := not db.q }; on h() { return } }
process A { loop u { call P.h() } }
faults { %s }
live leads: db.p ~> db.q
live comes: eventually db.q
live again: always eventually db.q
live stays: eventually always db.q
"""


def states(model_text: str, values: str) -> tuple[Interpreter, list[GlobalState]]:
    """A state for each two letters: p and q, or dots."""
    interpreter = Interpreter(check(model_text).model)
    first = interpreter.initial()
    return interpreter, [
        replace(first, values={("db", "p"): word[0] == "p", ("db", "q"): word[1] == "q"}) for word in values.split()
    ]


@pytest.mark.parametrize(
    ("run", "loop", "since"),
    [
        # run: a state for each two letters; after the last one comes number `loop` again
        (".. p. ..", 2, {"leads": 1, "comes": 0, "again": 0, "stays": 2}),
        (".. pq ..", 2, {"leads": None, "comes": None, "again": 2, "stays": 2}),
        ("p. .q ..", 2, {"leads": None, "comes": None, "again": 2, "stays": 2}),
        ("p. .q p. ..", 3, {"leads": 2, "comes": None, "again": 2, "stays": 3}),
        ("p. .. .q", 2, {"leads": None, "comes": None, "again": None, "stays": None}),
        ("p. .. .q", 1, {"leads": None, "comes": None, "again": None, "stays": 1}),
        (".. .. ..", 0, {"leads": None, "comes": 0, "again": 0, "stays": 0}),
        (".. .. p.", 0, {"leads": 2, "comes": 0, "again": 0, "stays": 0}),
        ("pq .q .q", 1, {"leads": None, "comes": None, "again": None, "stays": None}),
    ],
)
def test_failures(run: str, loop: int, since: dict[str, int | None]) -> None:
    interpreter, visited = states(MODEL % "", run)
    found = {}
    for declared in interpreter.model.properties:
        assert declared.live is not None
        wrong = failure(declared.live, visited, loop)
        found[declared.name] = None if wrong is None else wrong.since
    assert found == since


@pytest.mark.parametrize("link", ["A -- P", "P -- A"])
def test_the_fairness_of_a_heal_is_that_of_its_link_however_it_is_written(link: str) -> None:
    model = check(MODEL % f"partition {link} unfair; crash A strongly fair; partition P -- db").model
    ends = [Party("A", 0), Party("P", 0)]
    for one, other in (ends, ends[::-1]):
        assert fairness(model, FairAction(EventKind.HEAL, party=one, other=other)).value == "unfair"
    assert fairness(model, FairAction(EventKind.RESTART, party=ends[0])).value == "strongly fair"
    assert fairness(model, FairAction(EventKind.HEAL, party=ends[1], other=Party("db"))).value == "weakly fair"
    assert fairness(model, FairAction(EventKind.REDELIVER, store="db", variable="q")).value == "weakly fair"


def test_a_circle_has_as_many_states_as_steps() -> None:
    interpreter, visited = states(MODEL % "", ".. p.")
    with pytest.raises(ValueError, match="make no circle"):
        owed(interpreter, visited, [])
