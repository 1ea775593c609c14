"""The typed tree: which nodes stand for what, and what statements know about themselves.

Expected trees are written by hand from the descriptions in `spec.typed` and `docs/language.md`.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from spec.checking.flow import statements
from spec.checking.trees import walk
from spec.typecheck import Choice
from spec.typed import (
    Any,
    Assign,
    Atomic,
    Binary,
    Call,
    Coerce,
    Conditional,
    Expression,
    FieldAccess,
    For,
    If,
    Incident,
    Index,
    Insert,
    IsSome,
    Item,
    Literal,
    Local,
    LockOperation,
    LockVerb,
    Not,
    Operator,
    Place,
    Quantifier,
    Quantity,
    RecordOf,
    Return,
    SetOf,
    Statement,
    StoreVariable,
    Story,
    TupleOf,
    Unwrap,
    Update,
    While,
)
from spec.types import BOOL, INT, EnumType, IdType, OptionalType, RangeType, SetType, TupleType, Type
from spec.value import Id, Member, Row, Table
from tests.spec.typecheck_models import EVERYTHING, body, check, handler, thread

ATTEMPT = RangeType(0, 1)
WORKFLOW = IdType("Workflow", 2)
STATUS = EnumType("Status", ("RUNNING", "COMPLETED"))
TASK_STATUS = EnumType("TaskStatus", ("SCHEDULED", "DOING", "COMPLETED"))


def shape(node: Expression) -> str:
    """An expression as text, conversions written out: `c(T, x)` Coerce, `u(x)` Unwrap."""
    match node:
        case Literal(value=value):
            return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        case Local(key=key):
            return key
        case StoreVariable(store=store, name=name):
            return f"{store}.{name}"
        case Index(base=base, key=key):
            return f"{shape(base)}[{shape(key)}]"
        case FieldAccess(base=base, name=name):
            return f"{shape(base)}.{name}"
        case Item(base=base, position=position):
            return f"{shape(base)}.{position}"
        case Unwrap(base=base):
            return f"u({shape(base)})"
        case IsSome(base=base):
            return f"some({shape(base)})"
        case Not(base=base):
            return f"not({shape(base)})"
        case Coerce(base=base, type=kind):
            return f"c({kind}, {shape(base)})"
        case Binary(operator=operator, left=left, right=right):
            return f"({shape(left)} {operator.value} {shape(right)})"
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"({shape(condition)} ? {shape(then)} : {shape(otherwise)})"
        case SetOf(items=items):
            return "{" + ", ".join(map(shape, items)) + "}"
        case TupleOf(items=items):
            return "<" + ", ".join(map(shape, items)) + ">"
        case RecordOf(fields=fields):
            return "[" + ", ".join(f"{name}: {shape(value)}" for name, value in fields) + "]"
        case Quantifier(quantity=quantity, name=name, body=inner):
            return f"{quantity.value} {name}. {shape(inner)}"
        case _:
            return type(node).__name__


def value(text: str, name: str = "total") -> str:
    """The shape of what `db.name := text` assigns."""
    statement = body(f"db.{name} := {text}", parameters="w: Workflow, a: Attempt, v: Workflow?")[0]
    assert isinstance(statement, Assign)
    return shape(statement.value)


def truth(text: str) -> str:
    """The shape of a condition."""
    statement = body(f"redis.cached := {text}", parameters="w: Workflow, a: Attempt, v: Workflow?, b: 1..5?")[0]
    assert isinstance(statement, Assign)
    return shape(statement.value)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("3", "count", "3"),
        ("a", "count", "c(0..9, a)"),
        ("a + 1", "count", "c(0..9, (a + 1))"),
        ("a", "total", "c(int, a)"),
        ("-3", "total", "-3"),
        ("if a == 0 then 1 else a", "count", "((a == 0) ? 1 : c(0..9, a))"),
        ("w", "owner", "c(Workflow?, w)"),
        ("v", "owner", "v"),
        ("none", "owner", "none"),
    ],
)
def test_assigned_values_are_coerced(text: str, name: str, expected: str) -> None:
    assert value(text, name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # An optional is compared with a value directly.
        ("v == w", "(v == w)"),
        ("w != v", "(w != v)"),
        ("v == none", "(v == none)"),
        ("v is some", "some(v)"),
        ("v is none", "not(some(v))"),
        # Integers of different ranges are compared as integers; a literal takes the other's type.
        ("a == 1", "(a == 1)"),
        ("a == 7", "(c(int, a) == 7)"),
        ("1 <= a", "(1 <= a)"),
        ("b == 3", "(b == 3)"),
        ("b == a", "(some(b) and (c(int, u(b)) == c(int, a)))"),
        ("b != a", "not((some(b) and (c(int, u(b)) == c(int, a))))"),
        ("b < a", "(c(int, u(b)) < c(int, a))"),
        ("b + 1 > 2", "((u(b) + 1) > 2)"),
        # Sets.
        ("v in {w}", "(v in {w})"),
        ("a in {0, 1}", "(a in {0, 1})"),
        ("a in {0, 9}", "((a == 0) or (c(int, a) == 9))"),
        ("a + 1 in {2}", "((a + 1) == 2)"),
        ("(w, a) == (w, 1)", "(<w, a> == <w, 1>)"),
        ("(w, a) == (w, 7)", "((w == w) and (c(int, a) == 7))"),
        ("w in all x: Workflow where x == w", "(w in all x. (x@1 == w))"),
        # Logic keeps its form.
        ("a == 0 => v is some or not true", "((a == 0) => (some(v) or not(true)))"),
        ("(a == 0) <=> (a == 1)", "((a == 0) <=> (a == 1))"),
        ("if v is some then v == w else false", "(some(v) ? (v == w) : false)"),
    ],
)
def test_comparisons(text: str, expected: str) -> None:
    assert truth(text) == expected


def test_field_of_an_optional_row_is_unwrapped() -> None:
    (statement,) = body("db.count := db.task[w][a].tries")
    assert isinstance(statement, Assign)
    assert shape(statement.value) == "c(0..9, u(db.task[w][a]).tries)"


def test_enum_members_of_two_enums_are_told_apart_by_their_place() -> None:
    (statement,) = body("redis.cached := COMPLETED == s", parameters="s: TaskStatus")
    assert isinstance(statement, Assign)
    assert isinstance(statement.value, Binary)
    assert isinstance(statement.value.left, Literal)
    assert statement.value.left.value == Member("TaskStatus", "COMPLETED")
    assert statement.value.left.type == TASK_STATUS


def test_places_have_one_path_step_per_level_and_no_unwrap() -> None:
    (statement,) = body("db.task[w][a].status := DOING")
    assert isinstance(statement, Assign)
    place = statement.target
    assert isinstance(place, Place)
    assert isinstance(place.root, StoreVariable)
    assert [step if isinstance(step, str) else shape(step) for step in place.path] == ["w", "a", "status"]
    assert place.type == TASK_STATUS


def test_tuple_keys() -> None:
    statement = body("db.pair[w, a] := db.pair[(w, a)]")[0]
    assert isinstance(statement, Assign)
    assert isinstance(statement.target, Place)
    assert [shape(step) for step in statement.target.path if not isinstance(step, str)] == ["<w, a>"]
    assert shape(statement.value) == "db.pair[<w, a>]"


def test_record_literals_have_all_fields_in_order() -> None:
    (statement,) = body("db.task[w][a] := Task{superseded: true}")
    assert isinstance(statement, Assign)
    assert shape(statement.value) == "c(Task?, [status: DOING, superseded: true, tries: 1])"


def test_insert_and_delete() -> None:
    insert, delete = body("db.workflow.insert(w, RUNNING)\ndb.workflow.delete(w)")
    assert isinstance(insert, Insert)
    assert insert.place.type == OptionalType(STATUS)
    assert shape(insert.value) == "c(Status?, RUNNING)"
    assert isinstance(delete, Assign)
    assert isinstance(delete.target, Place)
    assert shape(delete.value) == "none"
    assert [shape(step) for step in delete.target.path if not isinstance(step, str)] == ["w"]


def test_update() -> None:
    statement = body("let ok = update db.count where db.count < 3 := db.count + 1\nredis.cached := ok")[0]
    assert isinstance(statement, Update)
    assert shape(statement.condition) == "(db.count < 3)"
    assert shape(statement.value) == "c(0..9, (db.count + 1))"
    assert isinstance(statement.target, Place)
    assert statement.target.type == BOOL


def test_if_on_acquire_has_a_hidden_local() -> None:
    model = check(handler("if not redis.mutex.acquire() { fail } else if redis.token.acquire(w) { fail }")).model
    found = thread(model, "P", "h")
    acquire, branch = found.body
    assert isinstance(acquire, LockOperation)
    assert acquire.verb is LockVerb.ACQUIRE
    assert acquire.shared
    assert isinstance(acquire.target, Place)
    assert isinstance(acquire.target.root, Local)
    assert isinstance(branch, If)
    assert not branch.shared
    assert shape(branch.condition) == f"not({acquire.target.root.key})"
    second, inner = branch.otherwise
    assert isinstance(second, LockOperation)
    assert isinstance(inner, If)
    # With fencing the answer is a token or none.
    assert isinstance(second.target, Place)
    assert second.target.type == OptionalType(RangeType(1, 3))
    assert isinstance(inner.condition, IsSome)
    assert len(found.locals) == 4


def test_while_on_acquire_acquires_again_after_each_turn() -> None:
    first, loop = body("while not redis.mutex.acquire() { busy := true }")
    assert isinstance(first, LockOperation)
    assert isinstance(loop, While)
    again = loop.body[-1]
    assert isinstance(again, LockOperation)
    assert again.target == first.target
    assert again.id != first.id


def test_any_over_a_tuple_is_taken_apart() -> None:
    chosen, apart = body("let (x, y) = any (Workflow, Attempt) where x == w and y == a\ndb.pair[x, y] := true")[:2]
    assert isinstance(chosen, Any)
    assert chosen.over == TupleType((WORKFLOW, ATTEMPT))
    assert shape(chosen.condition) == f"(({chosen.key}.0 == w) and ({chosen.key}.1 == a))"
    assert isinstance(apart, Assign)
    assert shape(apart.value) == chosen.key
    assert isinstance(apart.target, tuple)


def test_quantifiers_nest_and_count_goes_over_tuples() -> None:
    (statement,) = body("db.total := count x: Workflow, y: Attempt. db.pair[x, y]")
    assert isinstance(statement, Assign)
    counting = statement.value
    assert isinstance(counting, Quantifier)
    assert counting.quantity is Quantity.COUNT
    assert counting.type == INT
    assert counting.over == TupleType((WORKFLOW, ATTEMPT))
    assert shape(counting.body) == f"db.pair[<{counting.key}.0, {counting.key}.1>]"
    (other,) = body("redis.cached := forall x: Workflow, y: Attempt. x == w or y == a")
    assert isinstance(other, Assign)
    outer = other.value
    assert isinstance(outer, Quantifier)
    assert isinstance(outer.body, Quantifier)
    assert (outer.over, outer.body.over) == (WORKFLOW, ATTEMPT)


def test_definitions_are_put_in_place_without_capture() -> None:
    text = handler("redis.cached := other(w)") + (
        "def other(x: Workflow): bool = exists y: Workflow. differ(x, y)\n"
        "def differ(y: Workflow, x: Workflow): bool = (exists z: Workflow. z == x) and x != y\n"
    )
    statement = thread(check(text).model, "P", "h").body[0]
    assert isinstance(statement, Assign)
    outer = statement.value
    assert isinstance(outer, Quantifier)
    assert isinstance(outer.body, Binary)
    assert shape(outer.body.right) == f"({outer.key} != w)"
    keys = [node.key for node in walk(outer) if isinstance(node, Quantifier)]
    assert len(set(keys)) == len(keys) == 2


def test_bound_keys_are_unique_in_the_model() -> None:
    model = check(EVERYTHING).model
    keys = [node.key for p in model.properties for node in walk(p.condition) if isinstance(node, Quantifier)]
    assert len(keys) == len(set(keys)) > 8


# ------------------------------------------------------------------------------------------ statements


def everything() -> list[Statement]:
    model = check(EVERYTHING, Choice("v2")).model
    return [s for process in model.processes for t in process.threads for s in statements(t.body)]


def test_ids_are_dense_and_in_source_order() -> None:
    found = everything()
    assert [statement.id for statement in found] == list(range(len(found)))
    starts = [statement.span.start for statement in found]
    # Only the second acquire of a `while l.acquire(k)` stands before what it follows.
    assert sum(a > b for a, b in pairwise(starts)) == 1


def test_checking_is_deterministic() -> None:
    assert repr(check(EVERYTHING)) == repr(check(EVERYTHING))


def facts(text: str, parameters: str = "w: Workflow, a: Attempt") -> list[tuple[str, frozenset[str], bool]]:
    return [(s.text, s.stores, s.shared) for s in statements(body(text, parameters=parameters))]


def test_stores_shared_and_text() -> None:
    db, redis, none = frozenset({"db"}), frozenset({"redis"}), frozenset[str]()
    text = """\
    let x = a + 1    // a comment
    let row = db.workflow[w]
    busy := x > 1
    executed[w] := true
    redis.decider.push(w)
    if row is none and x == 1 {
      await db.count > 0
    } else if redis.cached { fail "late" }
    either { assert busy } or { x := 2 }
    transaction db { count := 1; total := 2 }
    step "both" {
      db.count := 1
      redis.cached := true
    }
    call G.ghosts(w)
    let y = any Attempt where y > 0
    try { redis.mutex.release(); db.count := y + x } catch { return }
    for v in {w} { let u = v; busy := u == v }"""
    assert facts(text) == [
        ("let x = a + 1", none, False),
        ("let row = db.workflow[w]", db, True),
        ("busy := x > 1", none, True),
        ("executed[w] := true", none, True),
        ("redis.decider.push(w)", redis, True),
        ("if row is none and x == 1", none, False),
        ("await db.count > 0", db, True),
        ("if redis.cached", redis, True),
        ('fail "late"', none, False),
        ("either", none, False),
        ("assert busy", none, True),
        ("x := 2", none, False),
        ("transaction db { count := 1; total := 2 }", db, True),
        ("count := 1", db, True),
        ("total := 2", db, True),
        ('step "both"', db | redis, True),
        ("db.count := 1", db, True),
        ("redis.cached := true", redis, True),
        ("call G.ghosts(w)", none, True),
        ("let y = any Attempt where y > 0", none, True),
        ("try", none, False),
        ("redis.mutex.release()", redis, True),
        ("db.count := y + x", db, True),
        ("return", none, False),
        ("for v in {w}", none, False),
        ("let u = v", none, False),
        ("busy := u == v", none, True),
    ]


def pristine(text: str) -> dict[str, bool]:
    return {s.text: s.pristine for s in statements(body(text))}


def test_pristine_until_the_first_effect() -> None:
    assert pristine(
        "let r = db.count\nexecuted[w] := r > 0\nredis.decider.push(w)\nlet t = db.total\nbusy := t > 0"
    ) == {
        "let r = db.count": True,
        "executed[w] := r > 0": True,
        "redis.decider.push(w)": True,
        "let t = db.total": False,
        "busy := t > 0": False,
    }


def test_pristine_meets_over_branches() -> None:
    found = pristine(
        "if a == 0 { let r = db.count; await r > 0 } else { busy := true }\nlet t = db.total\nbusy := t > 1"
    )
    assert found["let r = db.count"]
    assert found["busy := true"]
    assert not found["let t = db.total"]


def test_pristine_branches_that_end_do_not_count() -> None:
    assert pristine("if a == 0 { busy := true; return }\nlet t = db.total\nbusy := t > 1")["let t = db.total"]


def test_pristine_in_loops_sees_the_turn_before() -> None:
    found = pristine("while redis.cached { let r = db.count; db.total := r }")
    assert found == {"while redis.cached": False, "let r = db.count": False, "db.total := r": False}
    assert pristine("while redis.cached { let r = db.count; await r > 0 }")["let r = db.count"]


def test_pristine_in_retry_sees_the_attempt_before() -> None:
    assert not pristine("retry 1 { let r = db.count; db.total := r }")["let r = db.count"]
    assert pristine("retry 1 { let r = db.count; await r > 0 }\ndb.total := 1")["let r = db.count"]


def test_pristine_in_handlers_sees_what_may_have_failed() -> None:
    assert not pristine("try { db.total := 1 } catch { let r = db.count; await r > 0 }")["let r = db.count"]
    assert pristine("try { await db.total > 1 } catch { let r = db.count; await r > 0 }")["let r = db.count"]


def test_pristine_after_a_call_or_a_lock() -> None:
    assert not pristine("call G.ghosts(w)\nlet r = db.count\nbusy := r > 0")["let r = db.count"]
    assert not pristine("redis.mutex.release()\nlet r = db.count\nbusy := r > 0")["let r = db.count"]
    assert not pristine("send G.ghosts(w)\nlet r = db.count\nbusy := r > 0")["let r = db.count"]


def test_locals_of_sibling_scopes_have_keys_of_their_own() -> None:
    found = thread(
        check(handler("if busy { let x = 1; db.total := x } else { let x = true; busy := x }")).model, "P", "h"
    )
    assert [(local.key, local.name, local.type) for local in found.locals] == [
        ("w", "w", WORKFLOW),
        ("a", "a", ATTEMPT),
        ("x", "x", INT),
        ("x#2", "x", BOOL),
    ]


def test_return_is_shared_when_the_handler_is_called() -> None:
    model = check(EVERYTHING).model
    poll = thread(model, "Server", "poll")
    assert poll.called
    assert isinstance(poll.body[-1], Return)
    assert poll.body[-1].shared
    assert not thread(model, "Server", "start").called


# ------------------------------------------------------------------------------------------ the model


def test_initial_values() -> None:
    model = check(EVERYTHING, Choice("v2")).model
    values = {v.name: v.initial for store in model.stores for v in store.values}
    one = Id("Workflow", 0)
    assert values["workflow"] == Table(((one, None),))
    assert values["task"] == Table(((one, Table(((0, None), (1, None)))),))
    assert values["pair"] == Table((((one, 0), True), ((one, 1), True)))
    assert values["cached"] == Table(((one, True),))
    assert values["total"] == 0


def test_record_defaults_are_initial_values() -> None:
    text = handler("db.count := 1") + "store more { durable row: Task; durable rows: Attempt -> Task }\n"
    values = {v.name: v.initial for store in check(text).model.stores for v in store.values}
    row = Row("Task", (("status", Member("TaskStatus", "DOING")), ("superseded", False), ("tries", 1)))
    assert values["row"] == row
    assert values["rows"] == Table(((0, row), (1, row)))


def test_constants_and_switches_are_literals_of_the_choice() -> None:
    assert check(EVERYTHING).model.constants == {
        "N": 2,
        "LIMIT": 3,
        "rescan": False,
        "mode": Member("Status", "RUNNING"),
    }
    assert check(EVERYTHING, Choice("v2", {"LIMIT": "9"}, {"rescan": "false"})).model.constants == {
        "N": 1,
        "LIMIT": 9,
        "rescan": False,
        "mode": Member("Status", "RUNNING"),
    }


def test_threads_are_left_out_by_when() -> None:
    def names(choice: Choice) -> list[str]:
        return [t.name for t in check(EVERYTHING, choice).model.processes[0].threads]

    assert names(Choice("v1")) == ["start", "poll", "complete", "sweep", "locked"]
    assert names(Choice("v2")) == ["start", "poll", "complete", "sweep", "locked", "boot"]


def test_fresh_and_symmetric() -> None:
    model = check(EVERYTHING).model
    assert model.fresh == {"Workflow"}
    assert model.symmetric == {"Workflow", "Server", "Worker"}
    assert check(handler("db.count := 1")).model.fresh == frozenset()


def test_expectations_are_those_of_the_variant() -> None:
    def names(choice: Choice) -> list[tuple[str, str]]:
        return [(e.verb.value, e.name) for e in check(EVERYTHING, choice).expectations]

    assert names(Choice()) == []
    assert names(Choice("v1")) == [("refutes", "none_left"), ("refutes", "model_errors"), ("runs", "told")]
    assert [variant.name for variant in check(EVERYTHING).variants] == ["v1", "v2"]


def test_faults_in_order_with_the_process_first() -> None:
    assert [str(fault) for fault in check(EVERYTHING).model.faults] == [
        "crash Server",
        "crash postgres",
        "crash redis",
        "crash Worker without restart",
        "partition Server -- postgres",
        "partition Server -- redis",
        "lose Worker -- Server",
        "duplicate Server -- redis",
        "expire redis.wf",
    ]
    turned = check(handler("db.count := 1") + "faults { lose db -- P }\n").model.faults
    assert [str(fault) for fault in turned] == ["lose P -- db"]


def test_scenario_beats_name_their_statements() -> None:
    model = check(EVERYTHING).model
    beats = model.scenarios[0].beats
    request, insert = beats[0], beats[1]
    assert isinstance(request, Story)
    assert (request.process, request.thread, request.request, request.sites) == ("Server", "start", True, None)
    assert isinstance(insert, Story)
    step = thread(model, "Server", "start").body[0]
    assert isinstance(step, Atomic)
    assert (insert.sites, insert.instance, insert.ending) == (frozenset({step.id}), 0, "ok")
    ack = beats[3]
    assert isinstance(ack, Story)
    assert ack.sites == frozenset({thread(model, "Server", "sweep").body[-1].id})
    assert (ack.ending, ack.strike, ack.kept) == ("unknown", "crash", True)
    assert [(b.kind, b.first, b.first_instance, b.second) for b in beats if isinstance(b, Incident)] == [
        ("restart", "redis", None, None),
        ("cut", "Server", 0, "redis"),
        ("heal", "Server", 0, "redis"),
        ("redeliver", "redis", None, "decider"),
        ("expire", "redis", None, "wf"),
    ]


def test_calls_have_coerced_arguments() -> None:
    calls = [s for s in everything() if isinstance(s, Call)]
    assert [(c.process, c.thread, c.send) for c in calls] == [
        ("Server", "poll", False),
        ("Server", "complete", False),
        ("Worker", "note", True),
    ]
    assert shape(calls[2].arguments[1]) == "((a == 0) ? none : c(0..1?, a))"


def test_for_has_the_type_of_its_items() -> None:
    loops = [s for s in everything() if isinstance(s, For)]
    assert [loop.item_type for loop in loops] == [IdType("Workflow", 1)]


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("{0, 1}", RangeType(0, 1)),
        ("{3}", RangeType(3, 3)),
        ("{a, 7}", RangeType(0, 7)),
        ("{(w, 0), (w, 2)}", TupleType((WORKFLOW, RangeType(0, 2)))),
        ("{w}", WORKFLOW),
    ],
)
def test_items_of_a_set_are_scalars(text: str, item: Type) -> None:
    (loop, _) = statements(body(f"for i in {text} {{ busy := true }}"))
    assert isinstance(loop, For)
    assert loop.item_type == item
    assert loop.items.type == SetType(item)


def test_every_expression_has_operands_of_the_promised_types() -> None:
    """EQUAL compares one type but for optionality, Index a map with its key's type, FieldAccess no optional."""
    model = check(EVERYTHING).model
    checked = 0
    for declaration in model.properties:
        for node in walk(declaration.condition):
            if isinstance(node, Binary) and node.operator in (Operator.EQUAL, Operator.UNEQUAL):
                left = node.left.type.value if isinstance(node.left.type, OptionalType) else node.left.type
                right = node.right.type.value if isinstance(node.right.type, OptionalType) else node.right.type
                assert left == right
                checked += 1
    assert checked >= 3
