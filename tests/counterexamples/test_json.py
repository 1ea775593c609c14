"""Traces as JSON: the documented shape, the same bytes for the same trace, and back again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from counterexamples.explain import explain
from counterexamples.render.decoding import Node, decode_value
from counterexamples.render.encoding import encode_value
from counterexamples.render.json import TraceFormatError, document, from_document, from_json, schema, to_json
from counterexamples.trace import Trace
from spec.event import Ending, Event, EventKind, Party, Slot
from spec.state import Activation, ErrorKind, LockState, Loose, ModelError, QueueState
from spec.value import Id, Member, Row, Table, Value
from tests.counterexamples.sample import (
    ABANDONED,
    DECIDE_0,
    DECIDE_1,
    INITIAL,
    INSERTED,
    LOST,
    MODEL,
    START_0,
    W0,
    W1,
)

FULL = Trace(
    MODEL,
    (
        INITIAL,
        replace(
            INSERTED,
            queues={("redis", "decider"): QueueState(((W0, DECIDE_0), (W1, Loose.ORPHAN)))},
            locks={("redis", "wf"): LockState(((W0, DECIDE_1, 2), (W1, Loose.ORPHAN, 3)))},
            activations={
                DECIDE_0: Activation(None, {"w": W0, "for:3": frozenset({W1, W0})}, caller=DECIDE_1, ending="failed"),
                DECIDE_1: Activation(3, {}, waiting=True),
            },
            down=frozenset({Party("redis"), Party("Server", 1)}),
            cut=frozenset({(Party("Server", 0), Party("postgres")), (Party("Server", 1), Party("redis"))}),
        ),
        replace(INITIAL, error=ModelError(ErrorKind.RANGE, 4)),
        INITIAL,
    ),
    (
        Event(EventKind.STEP, START_0, 1, Ending.UNKNOWN, callee=DECIDE_0),
        Event(EventKind.STEP, DECIDE_0, 4, Ending.ERROR),
        Event(EventKind.EXPIRE, store="redis", variable="wf", item=W1),
    ),
    loop=0,
)
"""Every part of a state that the sample's own runs leave empty; no run of the model."""

CASES = [
    (ABANDONED, "none_abandoned"),
    (ABANDONED, None),
    (LOST, "queued"),
    (LOST, "no_vanish"),
    (LOST, "completes"),
    (FULL, None),
]


@pytest.mark.parametrize(("trace", "name"), CASES)
def test_a_trace_comes_back_as_it_was(trace: Trace, name: str | None) -> None:
    assert from_json(to_json(explain(trace, name), trace), MODEL) == trace


@pytest.mark.parametrize(("trace", "name"), CASES)
def test_the_document_follows_its_schema(trace: Trace, name: str | None) -> None:
    Draft202012Validator.check_schema(schema())
    Draft202012Validator(schema()).validate(json.loads(to_json(explain(trace, name, lambda *_: False), trace)))


def test_the_schema_rejects_what_it_does_not_describe() -> None:
    good = document(explain(ABANDONED), ABANDONED)
    validator = Draft202012Validator(schema())
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "extra": 1})
    assert not validator.is_valid({k: v for k, v in good.items() if k != "initial"})
    good["steps"][0]["event"]["kind"] = "sleep"
    assert not validator.is_valid(good)


def test_the_text_does_not_depend_on_the_order_in_which_a_state_was_built() -> None:
    def turned(trace: Trace) -> Trace:
        def reverse(mapping: Any) -> Any:
            return dict(reversed(list(mapping.items())))

        states = tuple(
            replace(s, values=reverse(s.values), activations=reverse(s.activations), ghosts=reverse(s.ghosts))
            for s in trace.states
        )
        return replace(trace, states=states)

    other = turned(ABANDONED)
    assert to_json(explain(other, "queued"), other) == to_json(explain(ABANDONED, "queued"), ABANDONED)


def test_the_beginning_of_a_document() -> None:
    told = document(explain(ABANDONED, "none_abandoned"), ABANDONED)
    assert told["schema"] == "counterpoint-trace/1"
    assert told["model"] == {
        "name": "conductor/05",
        "constants": [],
        "faults": ["crash Server", "crash postgres", "lose Server -- postgres", "expire redis.wf"],
    }
    step = told["steps"][1]
    assert (step["who"], step["what"], step["kind"]) == (
        "Server[0].start",
        "postgres.workflow[w] := RUNNING",
        "thread",
    )
    assert step["statement"] == {
        "id": 1,
        "text": "postgres.workflow[w] := RUNNING",
        "file": "05.cpt",
        "line": 8,
        "column": 5,
    }
    assert step["changes"] == [
        {
            "change": "value",
            "scope": "store",
            "path": "postgres.workflow[Workflow#0]",
            "slot": None,
            "before": None,
            "after": {"enum": "Status", "member": "RUNNING"},
        }
    ]
    blame = told["conclusion"]["blame"]
    assert blame["bindings"] == [{"name": "w", "value": {"ids": "Workflow", "index": 0}}]


scalars: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.builds(Member, st.text(max_size=3), st.text(max_size=3)),
    st.builds(Id, st.text(max_size=3), st.integers(0, 9), st.booleans()),
)
values: st.SearchStrategy[Value] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(inner, max_size=3),
        st.lists(st.tuples(st.text(max_size=3), inner), max_size=3).map(lambda f: Row("R", tuple(f))),
        st.lists(st.tuples(inner, inner), max_size=3).map(lambda e: Table(tuple(e))),
    ),
    max_leaves=8,
)


@given(values)
def test_every_value_comes_back(value: Value) -> None:
    text = json.dumps(encode_value(value))
    read = decode_value(Node(json.loads(text)))
    assert read == value
    assert repr(read) == repr(value) or isinstance(value, frozenset | tuple | Row | Table)


def broken(change: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(to_json(explain(ABANDONED), ABANDONED))
    change(data)
    return data


def put(data: Any, value: object, *path: Any) -> None:
    for step in path[:-1]:
        data = data[step]
    data[path[-1]] = value


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: put(d, "counterpoint-trace/2", "schema"), "schema"),
        (lambda d: put(d, "other", "model", "name"), "model.name"),
        (lambda d: put(d, [{"name": "N", "value": 2}], "model", "constants"), "model.constants"),
        (lambda d: d.pop("initial"), ""),
        (lambda d: put(d, 9, "loop"), "loop"),
        (lambda d: put(d, True, "loop"), "loop"),
        (lambda d: put(d, "sleep", "steps", 0, "event", "kind"), "steps[0].event.kind"),
        (lambda d: put(d, 77, "steps", 1, "event", "site"), "steps[1].event.site"),
        (lambda d: put(d, "x := 1", "steps", 1, "statement", "text"), "steps[1].statement.text"),
        (lambda d: put(d, 3, "initial", "values", 0, "value"), "initial.values[0].value"),
        (lambda d: put(d, "nowhere", "initial", "values", 0, "store"), "initial.values[0]"),
        (lambda d: d["initial"]["values"].pop(), "initial.values"),
        (lambda d: d["initial"]["ghosts"].append(d["initial"]["ghosts"][0]), "initial.ghosts[1]"),
        (lambda d: put(d, 2, "initial", "activations", 0, "slot", "instance"), "initial.activations[0].slot"),
        (lambda d: put(d, [{"name": "mars", "instance": None}], "initial", "down"), "initial.down[0]"),
        (lambda d: put(d, {}, "steps"), "steps"),
    ],
)
def test_a_document_of_another_kind_or_model_says_where_it_is_wrong(change: Any, where: str) -> None:
    with pytest.raises(TraceFormatError) as caught:
        from_document(broken(change), MODEL)
    assert caught.value.where == where


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '"counterpoint-trace/1"'])
def test_text_that_is_no_document_is_rejected(text: str) -> None:
    with pytest.raises(TraceFormatError):
        from_json(text, MODEL)


def test_deep_values_are_rejected_without_exhausting_the_stack() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = {"tuple": [deep]}
    with pytest.raises(TraceFormatError, match="too deeply"):
        decode_value(Node(deep))


def test_a_slot_of_the_model_is_required() -> None:
    stranger = Slot("Server", 0, "nobody")
    state = replace(INITIAL, activations={stranger: Activation(3, {})})
    trace = Trace(MODEL, (state,), ())
    with pytest.raises(TraceFormatError, match="no Server"):
        from_json(to_json(explain(trace), trace), MODEL)
