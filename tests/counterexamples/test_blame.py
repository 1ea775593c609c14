"""Which part of a condition is blamed; expectations are the truth tables of the connectives, by hand."""

from __future__ import annotations

from dataclasses import replace

from counterexamples.blame import READINGS, Blame, Reading, blame
from spec.state import ErrorKind, GlobalState, Loose, QueueState
from spec.typed import Binary, Expression, Literal, Operator, Quantifier, Quantity
from spec.types import BOOL, INT, RangeType
from spec.value import Member, Table
from tests.counterexamples.sample import (
    COMPLETED,
    COMPLETES,
    INITIAL,
    INSERTED,
    NO_VANISH,
    NONE_ABANDONED,
    NOWHERE,
    QUEUED,
    RUNNING,
    W0,
    W1,
    binary,
    contains,
    executed,
    local,
    negation,
    quantifier,
    some,
    status_of,
)


def rows(first: Member | None, second: Member | None, *done: bool) -> GlobalState:
    flags = done or (False, False)
    return replace(
        INITIAL,
        values={**INITIAL.values, ("postgres", "workflow"): Table(((W0, first), (W1, second)))},
        ghosts={"executed": Table(((W0, flags[0]), (W1, flags[1])))},
    )


def forall(body: Expression) -> Quantifier:
    return quantifier(Quantity.FORALL, "w", body)


def path(index: int) -> str:
    return f"postgres.workflow[Workflow#{index}]"


STATUS = "postgres.workflow[w]"


def test_a_forall_names_the_failing_instance_and_what_stands_there() -> None:
    assert blame(NONE_ABANDONED, rows(COMPLETED, RUNNING)) == Blame(
        f"{STATUS} != RUNNING", False, (("w", W1),), (Reading(STATUS, path(1), RUNNING),)
    )


def test_a_false_implication_has_a_true_left_and_a_false_right_side() -> None:
    found = blame(QUEUED, INSERTED)
    assert (found.holds, found.bindings, found.readings) == (False, (("w", W0),), ())
    assert found.text == f"{STATUS} is some and not executed[w] => redis.decider.contains(w)"
    assert [(cause.text, cause.holds) for cause in found.causes] == [
        (f"{STATUS} is some", True),
        ("not executed[w]", True),
        ("redis.decider.contains(w)", False),
    ]
    assert found.causes[2].readings == (
        Reading("redis.decider.contains(w)", "redis.decider.contains(Workflow#0)", False),
    )


def test_of_a_conjunction_only_the_false_side_is_blamed() -> None:
    both = forall(binary(negation(executed("w")), Operator.AND, some(status_of("w"))))
    assert blame(both, rows(RUNNING, None)).text == f"{STATUS} is some"
    assert blame(both, rows(RUNNING, None)).bindings == (("w", W1),)
    assert blame(both, rows(RUNNING, RUNNING, True, False)).text == "not executed[w]"


def test_of_a_false_disjunction_all_sides_are_told() -> None:
    either = forall(binary(binary(executed("w"), Operator.OR, some(status_of("w"))), Operator.OR, contains("w")))
    found = blame(either, rows(RUNNING, None))
    assert [(cause.text, cause.holds) for cause in found.causes] == [
        ("executed[w]", False),
        (f"{STATUS} is some", False),
        ("redis.decider.contains(w)", False),
    ]


def test_an_exists_without_witness_tells_every_instance() -> None:
    found = blame(COMPLETES, rows(RUNNING, None))
    assert (found.text, found.holds, found.searched) == (f"exists w: Workflow. {STATUS} == COMPLETED", False, True)
    assert [(cause.bindings, cause.readings[0].value) for cause in found.causes] == [
        ((("w", W0),), RUNNING),
        ((("w", W1),), None),
    ]


def test_an_exists_that_holds_names_its_witness() -> None:
    found = blame(COMPLETES, rows(RUNNING, COMPLETED))
    assert (found.text, found.holds, found.bindings) == (f"{STATUS} == COMPLETED", True, (("w", W1),))


def test_a_negated_exists_names_the_instance_that_should_not_be() -> None:
    found = blame(negation(COMPLETES), rows(RUNNING, COMPLETED))
    assert (found.text, found.holds, found.bindings) == (f"{STATUS} == COMPLETED", True, (("w", W1),))


def test_a_step_invariant_tells_the_values_before_and_after() -> None:
    found = blame(NO_VANISH, rows(RUNNING, None), rows(None, None))
    assert (found.holds, found.bindings) == (False, (("w", W0),))
    assert [(cause.text, cause.holds) for cause in found.causes] == [
        (f"{STATUS} is some", True),
        (f"{STATUS}' is some", False),
    ]
    assert found.causes[1].readings == (Reading(STATUS, path(0), RUNNING, (None,)),)


def test_an_equivalence_tells_both_sides() -> None:
    found = blame(forall(binary(executed("w"), Operator.IFF, some(status_of("w")))), rows(RUNNING, None))
    assert [(cause.text, cause.holds) for cause in found.causes] == [
        ("executed[w]", False),
        (f"{STATUS} is some", True),
    ]


def test_an_error_is_blamed_before_a_false_instance() -> None:
    def number(value: int) -> Literal:
        return Literal(INT, NOWHERE, value)

    quotient = Binary(INT, NOWHERE, Operator.DIVIDE, number(1), local("n"))
    condition = Quantifier(
        BOOL, NOWHERE, Quantity.FORALL, "n", "n", RangeType(-1, 1), binary(quotient, Operator.GREATER, number(0))
    )
    # 1 / -1 = -1 is not greater than 0, but 1 / 0 is an error, and every instance is evaluated.
    found = blame(condition, INITIAL)
    assert (found.text, found.holds, found.error, found.bindings) == ("1 / n", None, ErrorKind.DIVISION, (("n", 0),))


def test_a_count_is_a_reading_of_its_own() -> None:
    at_most_one = binary(
        Quantifier(INT, NOWHERE, Quantity.COUNT, "w", "w", NONE_ABANDONED.over, some(status_of("w"))),
        Operator.AT_MOST,
        Literal(INT, NOWHERE, 1),
    )
    found = blame(at_most_one, rows(RUNNING, COMPLETED))
    assert [(reading.path, reading.value) for reading in found.readings] == [
        (f"count w: Workflow. {STATUS} is some", 2),
        (path(0), RUNNING),
        (path(1), COMPLETED),
    ]


def test_readings_are_limited_and_the_rest_is_counted() -> None:
    wide = Quantifier(BOOL, NOWHERE, Quantity.FORALL, "n", "n", RangeType(1, 9), contains("w"))
    body: Expression = binary(wide, Operator.EQUAL, executed("w"))
    many = body
    for key in ("a", "b", "c", "d", "e", "f", "g"):
        many = binary(many, Operator.EQUAL, binary(contains(key), Operator.EQUAL, executed(key)))
    condition: Expression = many
    for key in ("w", "a", "b", "c", "d", "e", "f", "g"):
        condition = quantifier(Quantity.EXISTS, key, condition)
    state = replace(INITIAL, queues={("redis", "decider"): QueueState(((W0, Loose.VISIBLE),))})
    found = blame(condition, state)
    # Eight keys, each with one `contains` and one `executed`: sixteen places.
    assert found.holds is True
    assert len(found.readings) == READINGS == 12
    assert found.omitted == 4
