"""Steps of one thread: expected successors are derived by hand from section 2 of docs/language.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from spec.evaluation import Scope, evaluate
from spec.interpreter import Interpreter
from spec.state import ErrorKind, ModelError
from spec.typed import Binary, Coerce, Expression, Operator, ProcessValue, Quantifier, Quantity, Statement, Thread
from spec.types import BOOL, INT, IdType, OptionalType, RangeType, RecordType, SetType, Type
from spec.value import Id, Row, Table
from tests.spec.by_hand import (
    FALSE,
    OPTIONAL,
    ROWS,
    SMALL,
    SPAN,
    TRUE,
    any_of,
    assign,
    at,
    atomic,
    attempt,
    both,
    check,
    db,
    each,
    either,
    eq,
    fail,
    follow,
    fresh,
    ghost,
    give_back,
    insert,
    less,
    lit,
    locals_of,
    loop,
    loop_while,
    model,
    names,
    on,
    own,
    parameter,
    place,
    plus,
    process,
    process_value,
    retry,
    slot,
    stands,
    steps,
    store,
    task,
    unwrap,
    update,
    value,
    var,
    wait_for,
    when,
)

T = slot("t")
OK = "P0.t step ok"


def machine(
    *body: Statement,
    members: tuple[Thread | ProcessValue, ...] = (),
    ghosts: Mapping[str, Type] | None = None,
    ids: Iterable[IdType] = (),
) -> Interpreter:
    """One instance of P with a task `t`, and a store with x, y (0..3) and rows (two optional entries)."""
    return Interpreter(
        model(
            store(value("x"), value("y"), value("rows", ROWS)),
            process("P", 1, task("t", *body), *members),
            ghosts=ghosts,
            ids=ids,
        )
    )


def x_after(interpreter: Interpreter, *events: str) -> object:
    return follow(interpreter, *events).values["db", "x"]


def test_a_run_starts_before_the_first_statement_with_initial_values() -> None:
    first = assign(var("a"), lit(1))
    m = machine(first, assign(db("x"), var("a")))
    state = m.initial()
    assert state.values == {("db", "x"): 0, ("db", "y"): 0, ("db", "rows"): Table(((0, None), (1, None)))}
    assert stands(state, T) == first.id
    assert locals_of(state, T) == {}


def test_local_prefix_shared_statement_and_local_rest_are_one_step() -> None:
    last = assign(db("y"), var("b"))
    m = machine(assign(var("a"), lit(1)), assign(db("x"), var("a")), assign(var("b"), plus(var("a"), lit(1))), last)
    state = follow(m, OK)
    assert state.values["db", "x"] == 1
    assert stands(state, T) == last.id
    assert locals_of(state, T) == {"a": 1, "b": 2}
    state = follow(m, OK, start=state)
    assert state.values["db", "y"] == 2
    assert state.activations == {}
    assert m.successors(state) == []


def test_a_step_without_shared_statement_names_where_it_stood() -> None:
    first = assign(var("a"), lit(1))
    m = machine(first, assign(var("b"), lit(2)))
    [(event, after)] = m.successors(m.initial())
    assert event.site == first.id
    assert after.activations == {}


def test_assignment_to_map_entry_process_variable_and_ghost() -> None:
    m = machine(
        assign(place(db("rows", ROWS), lit(1), kind=OPTIONAL), lit(2)),
        assign(own("p"), lit(1)),
        assign(ghost("g"), lit(3)),
        members=(process_value("p"),),
        ghosts={"g": SMALL},
    )
    state = follow(m, OK, OK, OK)
    assert state.values["db", "rows"] == Table(((0, None), (1, 2)))
    assert state.process_values == {("P", 0, "p"): 1}
    assert state.ghosts == {"g": 3}


def test_assignment_to_a_field_through_a_present_row() -> None:
    record = RecordType("Task", (("n", SMALL), ("done", BOOL)))
    present = OptionalType(record)
    row = Row("Task", (("n", 0), ("done", False)))
    m = Interpreter(
        model(
            store(value("task", present, row)),
            process("P", 1, task("t", assign(place(db("task", present), "n", kind=SMALL), lit(2)))),
        )
    )
    assert follow(m, OK).values["db", "task"] == Row("Task", (("n", 2), ("done", False)))


def test_a_result_is_taken_apart() -> None:
    pair = lit((1, 2), SMALL)
    target = (place(var("a")), place(var("b")))
    statement = assign(db("x"), lit(0))
    apart = type(statement)(**{**assign(var("a"), pair).__dict__, "target": target})
    m = machine(assign(db("x"), lit(1)), apart, assign(db("y"), var("b")))
    assert locals_of(follow(m, OK), T) == {"a": 1, "b": 2}


def test_insert_then_duplicate() -> None:
    entry = place(db("rows", ROWS), lit(0), kind=OPTIONAL)
    m = machine(insert(entry, lit(1)), attempt([insert(entry, lit(2))], ("duplicate", [assign(db("x"), lit(3))])))
    state = follow(m, OK, "P0.t step duplicate")
    assert state.values["db", "rows"] == Table(((0, 1), (1, None)))
    assert follow(m, OK, start=state).values["db", "x"] == 3


def test_update_answers_whether_the_condition_held() -> None:
    m = machine(
        update(place(db("x")), eq(db("x"), lit(0)), lit(2), place(var("first", BOOL))),
        update(place(db("x")), eq(db("x"), lit(0)), lit(3), place(var("second", BOOL))),
        assign(db("y"), lit(1)),
        assign(ghost("a", BOOL), var("first", BOOL)),
        assign(ghost("b", BOOL), var("second", BOOL)),
        ghosts={"a": BOOL, "b": BOOL},
    )
    state = follow(m, *[OK] * 5)
    assert state.values["db", "x"] == 2
    assert state.ghosts == {"a": True, "b": False}


def test_the_branch_is_taken_on_the_value_read() -> None:
    inner = assign(db("y"), lit(1))
    m = machine(when(eq(db("x"), lit(0)), [inner], [assign(db("y"), lit(2))]))
    state = follow(m, OK)
    assert stands(state, T) == inner.id


def test_while_with_a_shared_condition_reads_anew_each_turn() -> None:
    condition = less(db("x"), lit(2))
    m = machine(loop_while(condition, assign(db("x"), plus(db("x"), lit(1)))))
    state = follow(m, *[OK] * 4)
    assert state.values["db", "x"] == 2
    assert state.activations[T].at is not None
    assert follow(m, OK, start=state).activations == {}


def test_local_while_runs_within_the_step() -> None:
    m = machine(
        assign(var("i"), lit(0)),
        loop_while(less(var("i"), lit(3)), assign(var("i"), plus(var("i"), lit(1)))),
        assign(db("x"), var("i")),
    )
    assert x_after(m, OK) == 3


def test_await_waits_until_it_holds() -> None:
    m = machine(wait_for(eq(db("x"), lit(1))), assign(db("y"), lit(1)), members=(task("u", assign(db("x"), lit(1))),))
    assert names(m, m.initial()) == ["P0.u step ok"]
    assert names(m, follow(m, "P0.u step ok")) == [OK]


def test_a_local_await_that_cannot_hold_waits_for_ever() -> None:
    stuck = wait_for(eq(var("a"), lit(1)))
    m = machine(assign(db("x"), lit(1)), assign(var("a"), lit(0)), stuck, assign(db("x"), lit(2)))
    state = follow(m, OK)
    assert stands(state, T) == stuck.id
    assert m.successors(state) == []


def test_either_chooses_by_the_first_shared_statement() -> None:
    m = machine(either([assign(db("x"), lit(1))], [assign(var("a"), lit(2)), assign(db("x"), var("a"))], []))
    found = steps(m, m.initial())
    assert sorted((name, str(after.values["db", "x"])) for name, after in found) == [(OK, "0"), (OK, "1"), (OK, "2")]
    assert all(after.activations == {} for _, after in found)


def test_a_step_stops_before_either() -> None:
    choice = either([assign(db("x"), lit(2))], [assign(db("x"), lit(3))])
    m = machine(assign(db("x"), lit(1)), choice)
    state = follow(m, OK)
    assert stands(state, T) == choice.id
    assert sorted(str(after.values["db", "x"]) for _, after in steps(m, state)) == ["2", "3"]


def test_a_branch_that_waits_is_not_taken_while_it_waits() -> None:
    m = machine(either([wait_for(eq(db("x"), lit(1)))], [assign(db("y"), lit(1))]))
    [(name, after)] = steps(m, m.initial())
    assert name == OK
    assert after.values["db", "y"] == 1


def test_for_goes_through_the_set_in_any_order() -> None:
    items = lit(frozenset({1, 2}), SetType(SMALL))
    write = assign(db("x"), var("i"))
    turn = each("i", items, write)
    m = machine(turn)
    first = steps(m, m.initial())
    assert [after.values["db", "x"] for _, after in first] == [1, 2]
    for (_, state), other in zip(first, (2, 1), strict=True):
        assert stands(state, T) == turn.id
        assert locals_of(state, T)[f"for:{turn.id}"] == frozenset({other})
        [(_, last)] = steps(m, state)
        assert last.values["db", "x"] == other
        assert last.activations == {}


def test_for_evaluates_its_set_once_on_arrival_and_passes_an_empty_one() -> None:
    items = var("s", SetType(SMALL))
    turn = each("i", items, assign(db("x"), lit(1)))
    full = assign(var("s", SetType(SMALL)), lit(frozenset({3}), SetType(SMALL)))
    m = machine(assign(db("y"), lit(1)), full, turn)
    state = follow(m, OK)
    assert locals_of(state, T) == {"s": frozenset({3}), f"for:{turn.id}": frozenset({3})}
    empty = assign(var("s", SetType(SMALL)), lit(frozenset(), SetType(SMALL)))
    m = machine(assign(db("y"), lit(1)), empty, each("i", items, assign(db("x"), lit(1))))
    assert follow(m, OK).activations == {}


def test_for_inside_a_loop_starts_afresh_after_a_failure() -> None:
    items = lit(frozenset({1, 2}), SetType(SMALL))
    turn = each("i", items, assign(db("x"), var("i")), fail())
    m = machine(attempt([turn], (None, [])), attempt([each("j", items, assign(db("y"), var("j")))], (None, [])))
    # Either item is written, then the body fails, the rest of the set is forgotten, and the second `for` has both.
    second = {after.values["db", "x"]: locals_of(after, T) for _, after in steps(m, m.initial())}
    assert set(second) == {1, 2}
    for variables in second.values():
        assert list(variables.values()) == [frozenset({1, 2})]


def test_locals_leave_their_scope() -> None:
    m = machine(
        when(TRUE, [assign(var("inner"), lit(1)), assign(db("x"), var("inner")), assign(db("y"), var("inner"))]),
        assign(db("x"), lit(0)),
    )
    state = follow(m, OK)
    assert locals_of(state, T) == {"inner": 1}
    assert locals_of(follow(m, OK, start=state), T) == {}


def test_retry_counts_its_attempts_and_passes_the_last_failure_on() -> None:
    entry = place(db("rows", ROWS), lit(0), kind=OPTIONAL)
    body = insert(entry, lit(1))
    again = retry(1, assign(var("n"), lit(0)), body)
    m = machine(insert(entry, lit(3)), attempt([again], ("duplicate", [assign(db("x"), lit(2))])))
    state = follow(m, OK)
    assert locals_of(state, T) == {"n": 0, f"retry:{again.id}": 1}
    state = follow(m, "P0.t step duplicate", start=state)
    assert stands(state, T) == body.id
    assert locals_of(state, T) == {"n": 0, f"retry:{again.id}": 0}
    state = follow(m, "P0.t step duplicate", start=state)
    assert locals_of(state, T) == {}
    assert follow(m, OK, start=state).values["db", "x"] == 2


def test_retry_that_succeeds_goes_on() -> None:
    m = machine(retry(2, assign(db("x"), lit(1))), assign(db("y"), lit(1)))
    state = follow(m, OK)
    assert locals_of(state, T) == {}
    assert follow(m, OK, start=state).values["db", "y"] == 1


@pytest.mark.parametrize(
    ("handlers", "taken"),
    [
        ([("refused unknown", 1), ("failed", 2), (None, 3)], 2),
        ([("refused unknown", 1), (None, 3), ("failed", 2)], 3),
        ([("duplicate", 1)], None),
    ],
)
def test_the_first_matching_catch_is_taken(handlers: list[tuple[str | None, int]], taken: int | None) -> None:
    blocks = [(kinds, [assign(db("x"), lit(number))]) for kinds, number in handlers]
    m = machine(attempt([assign(db("y"), lit(1)), fail()], *blocks))
    state = follow(m, OK)
    if taken is None:
        assert state.activations == {}
    else:
        assert follow(m, OK, start=state).values["db", "x"] == taken


def test_a_failure_in_a_handler_goes_outwards() -> None:
    m = machine(
        attempt(
            [attempt([fail()], ("failed", [assign(db("x"), lit(1)), fail()]))],
            ("failed", [assign(db("y"), lit(1))]),
        )
    )
    state = follow(m, OK, OK)
    assert (state.values["db", "x"], state.values["db", "y"]) == (1, 1)


def test_return_ends_the_activation() -> None:
    m = machine(assign(db("x"), lit(1)), give_back(called=False), assign(db("x"), lit(2)))
    assert follow(m, OK).activations == {}


def test_any_waits_and_picks() -> None:
    m = machine(
        any_of("v", SMALL, less(var("v"), db("x"))),
        assign(db("y"), var("v")),
        members=(task("u", assign(db("x"), lit(2))),),
    )
    assert names(m, m.initial()) == ["P0.u step ok"]
    state = follow(m, "P0.u step ok")
    assert [locals_of(after, T) for _, after in steps(m, state)] == [{"v": 0}, {"v": 1}]


def test_fresh_ids_are_never_used_twice() -> None:
    kind = IdType("W", 2)
    m = Interpreter(
        model(
            store(value("x")),
            process("P", 1, loop("t", fresh("w", kind))),
            ids=[kind],
        )
    )
    first = steps(m, m.initial())
    assert [after.used for _, after in first] == [{"W": frozenset({0})}, {"W": frozenset({1})}]
    [(_, both)] = steps(m, first[0][1])
    assert both.used == {"W": frozenset({0, 1})}
    assert m.successors(both) == []


def test_a_loop_begins_anew_and_a_task_does_not() -> None:
    first = assign(db("x"), lit(1))
    m = Interpreter(model(store(value("x")), process("P", 1, loop("l", first), task("t", assign(db("x"), lit(2))))))
    state = follow(m, "P0.l step ok")
    assert stands(state, slot("l")) == first.id
    state = follow(m, OK, start=state)
    assert set(state.activations) == {slot("l")}


def test_a_loop_has_as_many_activations_as_places() -> None:
    m = Interpreter(model(store(value("x")), process("P", 2, loop("l", assign(db("x"), lit(1)), places=2))))
    assert list(m.initial().activations) == [slot("l", instance, place_) for instance in (0, 1) for place_ in (0, 1)]


def test_requests_take_any_argument_and_the_lowest_free_place() -> None:
    kind = IdType("W", 2)
    start = on(
        "start", assign(db("x"), lit(1)), parameters=[parameter("w", kind, drawn=True), parameter("b", BOOL)], places=2
    )
    m = Interpreter(model(store(value("x")), process("P", 1, start), ids=[kind]))
    found = steps(m, m.initial())
    assert [(name, locals_of(s, slot("start"))) for name, s in found] == [
        ("P0.start request", {"w": Id("W", i), "b": b}) for i in (0, 1) for b in (False, True)
    ]
    state = found[0][1]
    assert state.used == {"W": frozenset({0})}
    second = [s for name, s in steps(m, state) if name == "P0.start#1 request"]
    assert [locals_of(s, slot("start", 0, 1))["w"] for s in second] == [Id("W", 1)] * 2
    assert "P0.start#2 request" not in {name for s in second for name in names(m, s)}


def test_a_return_for_which_nobody_waits_is_not_evaluated() -> None:
    m = machine(assign(db("x"), lit(1)), give_back(plus(lit(3), lit(1)), called=False))
    assert follow(m, OK).activations == {}


# ---------------------------------------------------------------------------------------------------- one-step blocks


def test_a_block_is_one_step() -> None:
    m = machine(atomic(assign(db("x"), lit(1)), when(eq(db("x"), lit(1)), [assign(db("y"), lit(2))])))
    state = follow(m, OK)
    assert (state.values["db", "x"], state.values["db", "y"]) == (1, 2)


def test_a_block_that_fails_has_no_effect() -> None:
    entry = place(db("rows", ROWS), lit(0), kind=OPTIONAL)
    block = atomic(assign(db("x"), lit(1)), assign(var("a"), lit(3)), insert(entry, lit(1)), insert(entry, lit(2)))
    m = machine(assign(var("a"), lit(0)), attempt([block], ("duplicate", [assign(db("y"), var("a"))])))
    state = follow(m, "P0.t step duplicate")
    assert state.values == m.initial().values
    assert locals_of(state, T) == {"a": 0}


def test_a_block_explores_its_choices_and_drops_those_that_wait() -> None:
    m = machine(
        atomic(
            either(
                [assign(db("x"), lit(1)), wait_for(eq(db("x"), lit(2)))],
                [assign(db("x"), lit(2))],
                [fail()],
            )
        )
    )
    assert [(name, s.values["db", "x"]) for name, s in steps(m, m.initial())] == [(OK, 2), ("P0.t step failed", 0)]


def test_a_block_waits_when_all_choices_wait() -> None:
    m = machine(atomic(assign(db("x"), lit(1)), wait_for(FALSE)))
    assert m.successors(m.initial()) == []


def test_return_in_a_block_ends_the_activation_with_the_step() -> None:
    m = machine(
        atomic(assign(db("x"), lit(1)), give_back(called=False), assign(db("x"), lit(2))), assign(db("y"), lit(1))
    )
    state = follow(m, OK)
    assert state.values["db", "x"] == 1
    assert state.activations == {}


# ------------------------------------------------------------------------------------------------------- model errors


def failing(m: Interpreter, kind: ErrorKind, site: int) -> None:
    """The only step is the error, at this statement, and nothing else happens."""
    state = m.initial()
    [(event, after)] = m.successors(state)
    assert (event.ending.value, event.site, event.slot) == ("error", site, T)
    assert after.error == ModelError(kind, site)
    assert after.values == state.values
    assert after.activations == state.activations
    assert m.successors(after) == []


def test_leaving_a_range() -> None:
    statement = assign(db("x"), plus(lit(3), lit(1)))
    failing(machine(statement), ErrorKind.RANGE, statement.id)


def test_value_of_none() -> None:
    statement = assign(db("x"), unwrap(at(db("rows", ROWS), lit(0))))
    failing(machine(statement), ErrorKind.NONE, statement.id)


def test_assigning_through_an_absent_row() -> None:
    record = OptionalType(RecordType("Task", (("n", SMALL),)))
    statement = assign(place(db("task", record), "n", kind=SMALL), lit(1))
    m = Interpreter(model(store(value("task", record)), process("P", 1, task("t", statement))))
    failing(m, ErrorKind.NONE, statement.id)


def test_division_by_zero() -> None:
    quotient = Coerce(SMALL, SPAN, Binary(INT, SPAN, Operator.DIVIDE, lit(1), db("x")))
    statement = assign(db("y"), quotient)
    failing(machine(statement), ErrorKind.DIVISION, statement.id)


def test_a_failed_assertion() -> None:
    statement = check(eq(db("x"), lit(1)))
    failing(machine(statement), ErrorKind.ASSERTION, statement.id)


def test_an_error_before_the_shared_statement() -> None:
    statement = check(FALSE)
    failing(machine(statement, assign(db("x"), lit(1))), ErrorKind.ASSERTION, statement.id)


def test_an_error_after_the_shared_statement_undoes_it() -> None:
    statement = assign(var("a"), plus(lit(3), lit(3)))
    failing(machine(assign(db("x"), lit(1)), statement, assign(db("y"), var("a"))), ErrorKind.RANGE, statement.id)


def test_an_error_within_a_block_is_that_of_its_statement() -> None:
    inner = check(eq(db("x"), lit(0)))
    failing(machine(atomic(assign(db("x"), lit(1)), inner)), ErrorKind.ASSERTION, inner.id)


@pytest.mark.parametrize("prefix", [(), (assign(db("x"), lit(1)),)])
def test_local_computation_without_end(prefix: tuple[Statement, ...]) -> None:
    again = assign(var("a"), lit(1))
    endless = loop_while(TRUE, again)
    # The test of the `while` is the 1st, 3rd, .. local statement, and so the 10,001st.
    failing(machine(*prefix, endless, assign(db("x"), var("a"))), ErrorKind.ENDLESS, endless.id)
    again = assign(var("a"), lit(1))
    endless = loop_while(TRUE, again)
    first = assign(var("a"), lit(0))
    failing(machine(*prefix, first, endless, assign(db("x"), var("a"))), ErrorKind.ENDLESS, again.id)


def test_choices_without_end_are_found_too() -> None:
    choice = either([assign(var("a"), lit(1))], [assign(var("a"), lit(2))])
    endless = loop_while(TRUE, choice)
    # Each turn is the test, the choice and an assignment; 10,001 = 3 * 3333 + 2.
    failing(machine(endless, assign(db("x"), lit(1))), ErrorKind.ENDLESS, choice.id)


def test_ten_thousand_local_statements_are_allowed() -> None:
    def counting(turns: int) -> Interpreter:
        i = var("i", INT)
        more = Binary(BOOL, SPAN, Operator.LESS, i, lit(turns, INT))
        step = assign(i, Binary(INT, SPAN, Operator.PLUS, i, lit(1, INT)))
        return machine(assign(i, lit(0, INT)), loop_while(more, step), assign(db("x"), lit(1)))

    # 1 for the first assignment, 2 for each turn, 1 for the last test: 2 * turns + 2.
    assert x_after(counting(4999), OK) == 1
    too_many = counting(5000)
    assert names(too_many, too_many.initial()) == ["P0.t step error"]


def test_only_one_choice_errs() -> None:
    wrong = check(FALSE)
    m = machine(either([wrong], [assign(db("x"), lit(1))]))
    found = m.successors(m.initial())
    assert sorted((e.ending.value, s.values["db", "x"]) for e, s in found) == [("error", 0), ("ok", 1)]


# ------------------------------------------------------------------------------------------------------- expressions


def quantified(quantity: Quantity, body: Expression) -> Quantifier:
    kinds: dict[Quantity, Type] = {Quantity.COUNT: SMALL, Quantity.ALL: SetType(SMALL)}
    kind = kinds.get(quantity, BOOL)
    return Quantifier(kind, SPAN, quantity, "q", "q", RangeType(0, 3), body)


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        (Quantity.FORALL, False),
        (Quantity.EXISTS, True),
        (Quantity.COUNT, 2),
        (Quantity.ALL, frozenset({0, 1})),
    ],
)
def test_quantifiers(quantity: Quantity, expected: object) -> None:
    state = machine().initial()
    assert evaluate(quantified(quantity, less(var("q"), lit(2))), Scope(state, {})) == expected


def test_every_instance_of_a_quantifier_is_evaluated() -> None:
    # true at 0 already, but 3 + 1 leaves the range
    body = Binary(BOOL, SPAN, Operator.EQUAL, plus(var("q"), lit(1)), lit(1))
    statement = check(quantified(Quantity.EXISTS, body))
    failing(machine(statement), ErrorKind.RANGE, statement.id)


def test_and_evaluates_only_what_it_needs() -> None:
    m = machine(check(eq(both(FALSE, eq(plus(lit(3), lit(1)), lit(0))), FALSE)), assign(db("x"), lit(1)))
    assert x_after(m, OK) == 1
