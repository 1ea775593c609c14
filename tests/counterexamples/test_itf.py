"""ITF, read by a library that knows nothing of us (itf-py), and held against the states by hand-written rules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import itf_py
import pytest

from counterexamples.explain import explain
from counterexamples.render.itf import document, encode, to_itf
from counterexamples.trace import Trace
from spec.event import Party
from spec.state import LockState, Loose, QueueState
from spec.value import Id, Member, Row, Table, Value
from tests.counterexamples.sample import ABANDONED, DECIDE_0, INITIAL, INSERTED, LOST, MODEL, RUNNING, W0, W1

FULL = replace(
    INSERTED,
    queues={("redis", "decider"): QueueState(((W0, DECIDE_0), (W1, Loose.ORPHAN)))},
    locks={("redis", "wf"): LockState(((W0, DECIDE_0, 2), (W1, Loose.FREE, 0)))},
    cut=frozenset({(Party("Server", 0), Party("redis"))}),
)


def read(trace: Trace, name: str | None = None) -> itf_py.Trace:
    return itf_py.trace_from_json(json.loads(to_itf(explain(trace, name), trace)))


def test_an_independent_reader_finds_the_values_of_the_states() -> None:
    """States of the sample by hand: Workflow#0 is inserted in step 2, Server[0] is down after step 3."""
    states = [state.values for state in read(ABANDONED, "none_abandoned").states]
    assert [state["postgres.workflow"]["Workflow#0"] for state in states] == [
        "none",
        "none",
        "RUNNING",
        "RUNNING",
        "RUNNING",
    ]
    assert all(state["postgres.workflow"]["Workflow#1"] == "none" for state in states)
    assert [state["run::down"] for state in states] == [
        frozenset(),
        frozenset(),
        frozenset(),
        frozenset({"Server[0]"}),
        frozenset(),
    ]
    assert states[0]["postgres.task"]["Workflow#1"]._asdict() == {"status": "RUNNING", "superseded": False}
    assert states[0]["Server.busy"] == {"Server[0]": False, "Server[1]": False}
    assert states[0]["executed"] == {"Workflow#0": False, "Workflow#1": False}
    assert states[2]["run::threads"]["Server[0].start"].at == "redis.decider.push(w)"
    assert states[2]["run::threads"]["Server[0].start"].locals == {"w": "Workflow#0"}
    assert states[1]["run::used"] == frozenset({"Workflow#0"})


def test_queues_locks_and_cuts() -> None:
    state = read(Trace(MODEL, (FULL,), ())).states[0].values
    assert [(entry.item, entry.holder) for entry in state["redis.decider"]] == [
        ("Workflow#0", "Server[0].decide"),
        ("Workflow#1", "orphan"),
    ]
    assert state["redis.wf"]["Workflow#0"]._asdict() == {"holder": "Server[0].decide", "token": 2}
    assert state["redis.wf"]["Workflow#1"]._asdict() == {"holder": "free", "token": 0}
    assert state["run::cut"] == frozenset({("Server[0]", "redis")})


@pytest.mark.parametrize("trace", [ABANDONED, LOST, Trace(MODEL, (INITIAL, INITIAL), ABANDONED.events[:1], loop=0)])
def test_the_reader_writes_the_same_document_back(trace: Trace) -> None:
    told = document(explain(trace), trace)
    back = itf_py.trace_to_json(itf_py.trace_from_json(told))
    assert normal({"params": [], "loop": None, **told}) == normal(back)


def normal(data: Any) -> Any:
    """Sets have no order."""
    if isinstance(data, dict):
        if "#set" in data:
            return {"#set": sorted(map(normal, data["#set"]), key=repr)}
        return {key: normal(item) for key, item in data.items()}
    return [normal(item) for item in data] if isinstance(data, list) else data


def test_every_state_has_every_variable() -> None:
    told = document(explain(LOST), LOST)
    assert all(set(state) == {"#meta", *told["vars"]} for state in told["states"])


def test_meta_says_what_led_to_a_state() -> None:
    found = read(LOST, "queued")
    assert found.meta["property"] == "queued"
    assert found.meta["faults"] == ["crash Server", "crash postgres", "lose Server -- postgres", "expire redis.wf"]
    assert found.states[0].meta == {"index": 0}
    assert found.states[2].meta == {
        "index": 2,
        "action": "postgres.workflow[w] := RUNNING",
        "actor": "Server[0].start",
        "kind": "fault",
        "ending": "unknown",
        "fault": "lose Server -- postgres",
        "strike": "lose",
        "effect_kept": True,
        "file": "05.cpt",
        "line": 8,
    }


def test_a_lasso_names_the_state_that_starts_its_loop() -> None:
    lasso = Trace(MODEL, (INITIAL, INSERTED, INITIAL), ABANDONED.events[:2], loop=0)
    assert read(lasso).loop == 0
    assert "loop" not in document(explain(LOST), LOST)


def test_values() -> None:
    big = 2**80
    assert encode(big) == {"#bigint": str(big)}
    assert encode(-3) == {"#bigint": "-3"}
    assert encode(True) is True
    assert encode(frozenset({(2, True), (1, False)})) == {
        "#set": [{"#tup": [{"#bigint": "1"}, False]}, {"#tup": [{"#bigint": "2"}, True]}]
    }
    assert encode(Table(((Id("Server", 0, True), Row("R", (("s", Member("S", "A")), ("t", None)))),))) == {
        "#map": [["Server[0]", {"s": "A", "t": "none"}]]
    }
    assert encode(RUNNING) == "RUNNING"
    members: frozenset[Value] = frozenset(Member("E", name) for name in "hgfedcba")
    assert encode(members) == {"#set": list("abcdefgh")}


def test_the_same_trace_gives_the_same_text() -> None:
    turned = tuple(
        replace(s, activations=dict(reversed(list(s.activations.items()))), used=dict(s.used)) for s in ABANDONED.states
    )
    other = replace(ABANDONED, states=turned)
    assert to_itf(explain(other), other) == to_itf(explain(ABANDONED), ABANDONED)
