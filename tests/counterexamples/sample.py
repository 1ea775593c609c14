"""A small model built by hand, and a run of it: a server writes a row, then crashes before it queues the item.

The typed nodes and states are spelled out, so that the tests of what people see depend on nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from counterexamples.trace import Trace
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.source import Source, Span
from spec.state import Activation, GlobalState, LockState, Loose, QueueState
from spec.typed import (
    Assign,
    Binary,
    Discipline,
    Expression,
    FaultClass,
    FaultKind,
    Ghost,
    GhostVariable,
    Index,
    IsSome,
    Literal,
    Local,
    LocalVariable,
    Lock,
    Model,
    Next,
    Not,
    Operator,
    Parameter,
    Place,
    Process,
    ProcessValue,
    PropertyDeclaration,
    PropertyForm,
    Quantifier,
    Quantity,
    Queue,
    QueueOperation,
    QueueQuery,
    QueueQuestion,
    QueueVerb,
    Store,
    StoreValue,
    StoreVariable,
    Thread,
    ThreadKind,
)
from spec.types import BOOL, EnumType, IdType, MapType, OptionalType, RecordType
from spec.value import Id, Member, Row, Table

TEXT = """\
store postgres { durable workflow: Workflow -> Status?; durable task: Workflow -> Task }
store redis { durable queue decider: Workflow; durable lock wf: Workflow }
ghost executed: Workflow -> bool

process Server[2] {
  volatile busy: bool
  on start(w: fresh Workflow) {
    postgres.workflow[w] := RUNNING
    redis.decider.push(w)
  }
  loop decide {
    let w = redis.decider.take()
    postgres.workflow[w] := COMPLETED
  }
}

faults { crash Server, postgres; lose Server -- postgres; expire redis.wf }

/// No started workflow is left RUNNING when nothing more will happen.
at rest none_abandoned: forall w: Workflow. postgres.workflow[w] != RUNNING
invariant queued: forall w: Workflow. postgres.workflow[w] is some and not executed[w] => redis.decider.contains(w)
step invariant no_vanish: forall w: Workflow. postgres.workflow[w] is some => postgres.workflow[w]' is some
cover completes: exists w: Workflow. postgres.workflow[w] == COMPLETED
"""

SOURCE = Source("conductor/05.cpt", TEXT)
STATUS = EnumType("Status", ("RUNNING", "COMPLETED"))
WORKFLOW = IdType("Workflow", 2)
SERVER = IdType("Server", 2, of_process=True)
TASK = RecordType("Task", (("status", STATUS), ("superseded", BOOL)))
MAYBE = OptionalType(STATUS)
RUNNING, COMPLETED = Member("Status", "RUNNING"), Member("Status", "COMPLETED")
W0, W1 = Id("Workflow", 0), Id("Workflow", 1)


def span(text: str) -> Span:
    start = TEXT.index(text)
    return Span(SOURCE, start, start + len(text))


NOWHERE = span("store postgres")


def local(key: str) -> Local:
    return Local(WORKFLOW, NOWHERE, key)


def status_of(key: str) -> Expression:
    return Index(MAYBE, NOWHERE, StoreVariable(MapType(WORKFLOW, MAYBE), NOWHERE, "postgres", "workflow"), local(key))


def executed(key: str) -> Expression:
    return Index(BOOL, NOWHERE, GhostVariable(MapType(WORKFLOW, BOOL), NOWHERE, "executed"), local(key))


def literal(value: Member) -> Literal:
    return Literal(MAYBE, NOWHERE, value)


def binary(left: Expression, operator: Operator, right: Expression) -> Binary:
    return Binary(BOOL, NOWHERE, operator, left, right)


def some(base: Expression) -> IsSome:
    return IsSome(BOOL, NOWHERE, base)


def quantifier(quantity: Quantity, key: str, body: Expression) -> Quantifier:
    return Quantifier(BOOL, NOWHERE, quantity, key, key.split("~")[0], WORKFLOW, body)


def prime(base: Expression) -> Next:
    return Next(MAYBE, NOWHERE, base)


def negation(base: Expression) -> Not:
    return Not(BOOL, NOWHERE, base)


def contains(key: str) -> QueueQuery:
    return QueueQuery(BOOL, NOWHERE, "redis", "decider", QueueQuestion.CONTAINS, local(key))


NONE_ABANDONED = quantifier(Quantity.FORALL, "w~1", binary(status_of("w~1"), Operator.UNEQUAL, literal(RUNNING)))
QUEUED = quantifier(
    Quantity.FORALL,
    "w~2",
    binary(binary(some(status_of("w~2")), Operator.AND, negation(executed("w~2"))), Operator.IMPLIES, contains("w~2")),
)
NO_VANISH = quantifier(
    Quantity.FORALL, "w~3", binary(some(status_of("w~3")), Operator.IMPLIES, some(prime(status_of("w~3"))))
)
COMPLETES = quantifier(Quantity.EXISTS, "w~4", binary(status_of("w~4"), Operator.EQUAL, literal(COMPLETED)))


def assign(number: int, text: str, stores: frozenset[str], place: Place, value: Member) -> Assign:
    return Assign(number, span(text), text, stores, True, False, place, literal(value))


def workflow_place(key: str) -> Place:
    return Place(StoreVariable(MapType(WORKFLOW, MAYBE), NOWHERE, "postgres", "workflow"), (local(key),), MAYBE)


POSTGRES, REDIS = frozenset({"postgres"}), frozenset({"redis"})
INSERT = assign(1, "postgres.workflow[w] := RUNNING", POSTGRES, workflow_place("w"), RUNNING)
PUSH = QueueOperation(
    2, span("redis.decider.push(w)"), "redis.decider.push(w)", REDIS, True, False,
    "redis", "decider", QueueVerb.PUSH, local("w"), None,
)  # fmt: skip
TAKE = QueueOperation(
    3, span("let w = redis.decider.take()"), "let w = redis.decider.take()", REDIS, True, True,
    "redis", "decider", QueueVerb.TAKE, None, Place(local("w"), (), WORKFLOW),
)  # fmt: skip
FINISH = assign(4, "postgres.workflow[w] := COMPLETED", POSTGRES, workflow_place("w"), COMPLETED)

START = Thread(
    "start", ThreadKind.ON, (Parameter("w", WORKFLOW, True),), None, 1, False,
    (LocalVariable("w", "w", WORKFLOW),), (INSERT, PUSH), NOWHERE, "",
)  # fmt: skip
DECIDE = Thread(
    "decide", ThreadKind.LOOP, (), None, 1, False, (LocalVariable("w", "w", WORKFLOW),), (TAKE, FINISH), NOWHERE, ""
)


def declared(name: str, form: PropertyForm, condition: Expression, doc: str = "") -> PropertyDeclaration:
    return PropertyDeclaration(name, form, condition, span(f"{form.value} {name}"), doc)


CRASH_SERVER = FaultClass(FaultKind.CRASH, "Server", None, True, NOWHERE)
CRASH_POSTGRES = FaultClass(FaultKind.CRASH, "postgres", None, True, NOWHERE)
LOSE = FaultClass(FaultKind.LOSE, "Server", "postgres", True, NOWHERE)
EXPIRE = FaultClass(FaultKind.EXPIRE, "redis", "wf", True, NOWHERE)

MODEL = Model(
    "conductor/05",
    "",
    {"Workflow": WORKFLOW, "Server": SERVER},
    (
        Store(
            "postgres",
            (
                StoreValue("workflow", MapType(WORKFLOW, MAYBE), Table(((W0, None), (W1, None))), True, NOWHERE, ""),
                StoreValue(
                    "task",
                    MapType(WORKFLOW, TASK),
                    Table(tuple((w, Row("Task", (("status", RUNNING), ("superseded", False)))) for w in (W0, W1))),
                    True,
                    NOWHERE,
                    "",
                ),
            ),
            (),
            (),
            NOWHERE,
            "",
        ),
        Store(
            "redis",
            (),
            (Queue("decider", WORKFLOW, Discipline.SET, None, False, True, NOWHERE, ""),),
            (Lock("wf", WORKFLOW, True, 3, True, NOWHERE, ""),),
            NOWHERE,
            "",
        ),
    ),
    (
        Process(
            "Server", SERVER, (ProcessValue("busy", BOOL, False, False, NOWHERE, ""),), (START, DECIDE), NOWHERE, ""
        ),
    ),
    (Ghost("executed", MapType(WORKFLOW, BOOL), Table(((W0, False), (W1, False))), NOWHERE, ""),),
    (CRASH_SERVER, CRASH_POSTGRES, LOSE, EXPIRE),
    (
        declared(
            "none_abandoned",
            PropertyForm.AT_REST,
            NONE_ABANDONED,
            "No started workflow is left RUNNING when nothing more will happen.",
        ),
        declared("queued", PropertyForm.INVARIANT, QUEUED),
        declared("no_vanish", PropertyForm.STEP_INVARIANT, NO_VANISH),
        declared("completes", PropertyForm.COVER, COMPLETES),
    ),
    (),
    frozenset({"Workflow"}),
    frozenset({"Workflow", "Server"}),
    {},
)

START_0 = Slot("Server", 0, "start")
DECIDE_0, DECIDE_1 = Slot("Server", 0, "decide"), Slot("Server", 1, "decide")

INITIAL = GlobalState(
    values={(s.name, v.name): v.initial for s in MODEL.stores for v in s.values},
    queues={("redis", "decider"): QueueState(())},
    locks={("redis", "wf"): LockState(((W0, Loose.FREE, 0), (W1, Loose.FREE, 0)))},
    process_values={("Server", 0, "busy"): False, ("Server", 1, "busy"): False},
    ghosts={"executed": MODEL.ghosts[0].initial},
    used={"Workflow": frozenset()},
    activations={DECIDE_0: Activation(3, {}), DECIDE_1: Activation(3, {})},
    down=frozenset(),
    cut=frozenset(),
)

REQUESTED = replace(
    INITIAL,
    used={"Workflow": frozenset({0})},
    activations={**INITIAL.activations, START_0: Activation(1, {"w": W0})},
)
INSERTED = replace(
    REQUESTED,
    values={**INITIAL.values, ("postgres", "workflow"): Table(((W0, RUNNING), (W1, None)))},
    activations={**INITIAL.activations, START_0: Activation(2, {"w": W0})},
)
CRASHED = replace(INSERTED, activations={DECIDE_1: Activation(3, {})}, down=frozenset({Party("Server", 0)}))
RESTARTED = replace(CRASHED, activations=INITIAL.activations, down=frozenset())

ABANDONED = Trace(
    MODEL,
    (INITIAL, REQUESTED, INSERTED, CRASHED, RESTARTED),
    (
        Event(EventKind.REQUEST, START_0),
        Event(EventKind.STEP, START_0, 1),
        Event(EventKind.CRASH, party=Party("Server", 0)),
        Event(EventKind.RESTART, party=Party("Server", 0)),
    ),
)

LOST = Trace(
    MODEL,
    (INITIAL, REQUESTED, replace(INSERTED, activations=INITIAL.activations)),
    (
        Event(EventKind.REQUEST, START_0),
        Event(EventKind.STEP, START_0, 1, Ending.UNKNOWN, Strike.LOSE, True, Party("Server", 0), Party("postgres")),
    ),
)
"""The reply of the insert is lost; nothing catches it, so the activation ends."""
