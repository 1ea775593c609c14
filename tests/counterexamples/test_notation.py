"""Values and expressions are written as the language reads them; expectations are the texts of docs/language.md."""

from __future__ import annotations

import pytest

from counterexamples.notation import rank, write_expression, write_key, write_slot, write_value
from spec.event import Slot
from spec.typed import (
    Coerce,
    Conditional,
    Expression,
    FieldAccess,
    Index,
    LockQuery,
    Negative,
    Operator,
    ProcessVariable,
    Quantity,
    QueueQuery,
    QueueQuestion,
    SetOf,
    StoreVariable,
    TupleOf,
    Unwrap,
)
from spec.types import BOOL, INT, MapType
from spec.value import Member, Row, Table, Value
from tests.counterexamples.sample import (
    COMPLETES,
    NO_VANISH,
    NONE_ABANDONED,
    NOWHERE,
    QUEUED,
    RUNNING,
    SERVER,
    TASK,
    W0,
    W1,
    WORKFLOW,
    binary,
    contains,
    executed,
    literal,
    local,
    negation,
    quantifier,
    some,
    status_of,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (True, "true"),
        (-3, "-3"),
        (RUNNING, "RUNNING"),
        (W1, "Workflow#1"),
        ((W0, 1), "(Workflow#0, 1)"),
        (frozenset({W1, W0}), "{Workflow#0, Workflow#1}"),
        (Row("Task", (("status", RUNNING), ("superseded", False))), "Task{status: RUNNING, superseded: false}"),
        (Table(((W0, None), (W1, 2))), "{Workflow#0: none, Workflow#1: 2}"),
        (frozenset(), "{}"),
    ],
)
def test_values_are_written_as_in_a_model(value: Value, text: str) -> None:
    assert write_value(value) == text


def test_a_tuple_key_is_written_without_parentheses() -> None:
    assert write_key((W0, 1)) == "Workflow#0, 1"


def test_a_slot_shows_its_place_only_where_there_are_several() -> None:
    assert write_slot(Slot("Server", 1, "sweep", 0)) == "Server[1].sweep"
    assert write_slot(Slot("Server", 1, "sweep", 0), places=2) == "Server[1].sweep[0]"


def test_any_two_values_can_be_sorted() -> None:
    values: list[Value] = [frozenset({1}), (1, 2), W1, W0, RUNNING, Member("A", "x"), 3, True, None]
    assert sorted(values, key=rank) == [None, True, 3, Member("A", "x"), RUNNING, W0, W1, (1, 2), frozenset({1})]


a, b, c = executed("a"), executed("b"), contains("c")
OR, AND, IMPLIES, IFF = Operator.OR, Operator.AND, Operator.IMPLIES, Operator.IFF
PLUS, MINUS, TIMES = Operator.PLUS, Operator.MINUS, Operator.TIMES


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (NONE_ABANDONED, "forall w: Workflow. postgres.workflow[w] != RUNNING"),
        (
            QUEUED,
            "forall w: Workflow. postgres.workflow[w] is some and not executed[w] => redis.decider.contains(w)",
        ),
        (NO_VANISH, "forall w: Workflow. postgres.workflow[w] is some => postgres.workflow[w]' is some"),
        (COMPLETES, "exists w: Workflow. postgres.workflow[w] == COMPLETED"),
        (negation(some(status_of("x"))), "postgres.workflow[x] is none"),
        (negation(binary(a, AND, b)), "not (executed[a] and executed[b])"),
        (binary(binary(a, OR, b), AND, c), "(executed[a] or executed[b]) and redis.decider.contains(c)"),
        (binary(a, OR, binary(b, AND, c)), "executed[a] or executed[b] and redis.decider.contains(c)"),
        (binary(binary(a, IMPLIES, b), IMPLIES, c), "(executed[a] => executed[b]) => redis.decider.contains(c)"),
        (binary(a, IMPLIES, binary(b, IMPLIES, c)), "executed[a] => executed[b] => redis.decider.contains(c)"),
        (binary(binary(a, IFF, b), IFF, c), "(executed[a] <=> executed[b]) <=> redis.decider.contains(c)"),
        (binary(local("x"), MINUS, binary(local("y"), MINUS, local("z"))), "x - (y - z)"),
        (binary(binary(local("x"), MINUS, local("y")), MINUS, local("z")), "x - y - z"),
        (binary(binary(local("x"), PLUS, local("y")), TIMES, local("z")), "(x + y) * z"),
        (
            binary(a, IMPLIES, quantifier(Quantity.EXISTS, "w~9", executed("w~9"))),
            "executed[a] => (exists w: Workflow. executed[w])",
        ),
        (quantifier(Quantity.ALL, "w~9", executed("w~9")), "all w: Workflow where executed[w]"),
        (Conditional(BOOL, NOWHERE, a, b, c), "if executed[a] then executed[b] else redis.decider.contains(c)"),
        (Negative(INT, NOWHERE, local("x")), "-x"),
        (
            binary(status_of("x"), Operator.IN, SetOf(BOOL, NOWHERE, (literal(RUNNING),))),
            "postgres.workflow[x] in {RUNNING}",
        ),
        (
            FieldAccess(
                BOOL,
                NOWHERE,
                Unwrap(
                    TASK,
                    NOWHERE,
                    Index(
                        TASK,
                        NOWHERE,
                        StoreVariable(MapType(WORKFLOW, TASK), NOWHERE, "postgres", "task"),
                        TupleOf(BOOL, NOWHERE, (local("x"), local("y"))),
                    ),
                ),
                "superseded",
            ),
            "postgres.task[x, y].superseded",
        ),
        (Coerce(INT, NOWHERE, local("x")), "x"),
        (ProcessVariable(BOOL, NOWHERE, "Server", "busy", local("s")), "s.busy"),
        (ProcessVariable(BOOL, NOWHERE, "Server", "busy", None), "busy"),
        (QueueQuery(INT, NOWHERE, "redis", "decider", QueueQuestion.SIZE, None), "redis.decider.size"),
        (LockQuery(BOOL, NOWHERE, "redis", "wf", local("w")), "redis.wf.held(w)"),
    ],
)
def test_expressions_are_written_with_the_fewest_parentheses(expression: Expression, text: str) -> None:
    assert write_expression(expression) == text


def test_a_local_is_written_by_its_name() -> None:
    assert SERVER.of_process
    assert write_expression(executed("w:17"), {"w:17": "w"}) == "executed[w]"
