"""Typed models put together by hand, without parser and type checker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import count

from spec.event import Event, Party, Slot
from spec.interpreter import Interpreter
from spec.source import Source, Span
from spec.state import Activation, GlobalState
from spec.typed import (
    Any,
    Assert,
    Assign,
    Atomic,
    Await,
    Binary,
    Call,
    Coerce,
    Discipline,
    Either,
    Expression,
    Fail,
    Failure,
    FaultClass,
    FaultKind,
    For,
    Fresh,
    Ghost,
    GhostVariable,
    Handler,
    If,
    Index,
    Insert,
    Literal,
    Local,
    Lock,
    LockOperation,
    LockQuery,
    LockVerb,
    Model,
    Operator,
    Parameter,
    Place,
    Process,
    ProcessValue,
    ProcessVariable,
    PropertyDeclaration,
    Queue,
    QueueOperation,
    QueueQuery,
    QueueVerb,
    Retry,
    Return,
    Scenario,
    Statement,
    Store,
    StoreValue,
    StoreVariable,
    Target,
    Thread,
    ThreadKind,
    Try,
    Unwrap,
    Update,
    While,
)
from spec.types import BOOL, INT, IdType, MapType, OptionalType, RangeType, SetType, Type
from spec.value import Value, default

SMALL = RangeType(0, 3)
OPTIONAL = OptionalType(SMALL)
ROWS = MapType(RangeType(0, 1), OPTIONAL)
SOURCE = Source("by_hand.cpt", "\n" * 200)
SPAN = Span(SOURCE, 0, 0)

_numbers = count(1)

# ------------------------------------------------------------------------------------------------- expressions


def lit(value: Value, kind: Type = SMALL) -> Literal:
    return Literal(kind, SPAN, value)


TRUE = lit(True, BOOL)
FALSE = lit(False, BOOL)


def var(key: str, kind: Type = SMALL) -> Local:
    return Local(kind, SPAN, key)


def db(name: str, kind: Type = SMALL, store: str = "db") -> StoreVariable:
    return StoreVariable(kind, SPAN, store, name)


def own(name: str, kind: Type = SMALL, process: str = "P") -> ProcessVariable:
    return ProcessVariable(kind, SPAN, process, name, None)


def ghost(name: str, kind: Type = SMALL) -> GhostVariable:
    return GhostVariable(kind, SPAN, name)


def eq(left: Expression, right: Expression) -> Binary:
    return Binary(BOOL, SPAN, Operator.EQUAL, left, right)


def less(left: Expression, right: Expression) -> Binary:
    return Binary(BOOL, SPAN, Operator.LESS, left, right)


def plus(left: Expression, right: Expression) -> Coerce:
    """The sum, which must be in 0..3."""
    return Coerce(SMALL, SPAN, Binary(INT, SPAN, Operator.PLUS, left, right))


def both(left: Expression, right: Expression) -> Binary:
    return Binary(BOOL, SPAN, Operator.AND, left, right)


def at(base: Expression, key: Expression) -> Index:
    assert isinstance(base.type, MapType)
    return Index(base.type.value, SPAN, base, key)


def unwrap(base: Expression) -> Unwrap:
    assert isinstance(base.type, OptionalType)
    return Unwrap(base.type.value, SPAN, base)


def place(root: Expression, *path: Expression | str, kind: Type | None = None) -> Place:
    assert isinstance(root, Local | StoreVariable | ProcessVariable | GhostVariable)
    return Place(root, path, kind if kind is not None else root.type)


# -------------------------------------------------------------------------------------------------- statements


def _nodes(node: object) -> Iterator[object]:
    yield node
    if isinstance(node, tuple):
        for item in node:
            yield from _nodes(item)
    elif is_dataclass(node) and not isinstance(node, Span):
        for field in fields(node):
            yield from _nodes(getattr(node, field.name))


def _base(
    *parts: object, shared: bool = False, pristine: bool = False
) -> tuple[int, Span, str, frozenset[str], bool, bool]:
    nodes = list(_nodes(parts))
    stores = {n.store for n in nodes if isinstance(n, StoreVariable | QueueQuery | LockQuery)}
    stores |= {n.store for n in nodes if isinstance(n, QueueOperation | LockOperation)}
    touching = bool(stores) or any(isinstance(n, ProcessVariable | GhostVariable) for n in nodes)
    number = next(_numbers)
    return number, Span(SOURCE, number, number), f"statement {number}", frozenset(stores), shared or touching, pristine


def assign(target: Expression | Place, value: Expression, pristine: bool = False) -> Assign:
    where = target if isinstance(target, Place) else place(target)
    return Assign(*_base(where, value, pristine=pristine), where, value)


def insert(where: Place, value: Expression) -> Insert:
    return Insert(*_base(where, value), where, value)


def update(where: Place, condition: Expression, value: Expression, target: Target = None) -> Update:
    return Update(*_base(where, condition, value, target), where, condition, value, target)


def queue(
    verb: str, name: str, item: Expression | None = None, into: Expression | None = None, store: str = "db"
) -> QueueOperation:
    target = None if into is None else place(into)
    base = _base(item, target, db("", store=store))
    return QueueOperation(*base, store, name, QueueVerb(verb), item, target)


def lock(verb: str, name: str, key: Expression | None = None, into: Expression | None = None) -> LockOperation:
    target = None if into is None else place(into)
    return LockOperation(*_base(key, target, db("")), "db", name, LockVerb(verb), key, target)


def when(condition: Expression, then: Iterable[Statement], otherwise: Iterable[Statement] = ()) -> If:
    return If(*_base(condition), condition, tuple(then), tuple(otherwise))


def loop_while(condition: Expression, *body: Statement) -> While:
    return While(*_base(condition), condition, body)


def either(*branches: Iterable[Statement]) -> Either:
    return Either(*_base(), tuple(map(tuple, branches)))


def each(key: str, items: Expression, *body: Statement) -> For:
    assert isinstance(items.type, SetType)
    return For(*_base(), key, items.type.item, items, body)


def any_of(key: str, over: Type, condition: Expression) -> Any:
    return Any(*_base(condition, shared=True), key, over, condition)


def fresh(key: str, over: IdType) -> Fresh:
    return Fresh(*_base(shared=True), key, over)


def wait_for(condition: Expression) -> Await:
    return Await(*_base(condition), condition)


def check(condition: Expression) -> Assert:
    return Assert(*_base(condition), condition)


def attempt(body: Iterable[Statement], *handlers: tuple[str | None, Iterable[Statement]]) -> Try:
    """Handlers: the kinds, separated by blanks (None for all), and the body."""
    caught = tuple(
        Handler(None if kinds is None else frozenset(map(Failure, kinds.split())), tuple(block))
        for kinds, block in handlers
    )
    return Try(*_base(), tuple(body), caught)


def retry(times: int, *body: Statement) -> Retry:
    return Retry(*_base(), times, body)


def give_back(value: Expression | None = None, called: bool = True) -> Return:
    return Return(*_base(value, shared=called), value)


def fail() -> Fail:
    return Fail(*_base(), None)


def call(
    process: str,
    thread: str,
    *arguments: Expression,
    into: Expression | None = None,
    instance: Expression | None = None,
    send: bool = False,
    pristine: bool = False,
) -> Call:
    target = None if into is None else place(into)
    base = _base(arguments, target, instance, shared=True, pristine=pristine)
    return Call(*base, process, instance, thread, arguments, target, send)


def atomic(*body: Statement, name: str | None = None, transaction: bool = False) -> Atomic:
    return Atomic(*_base(body, shared=True), name, transaction, body)


# ------------------------------------------------------------------------------------------------ declarations


def value(name: str, kind: Type = SMALL, initial: Value | None = None, durable: bool = True) -> StoreValue:
    start = default(kind) if initial is None else initial
    return StoreValue(name, kind, start, durable, SPAN, "")


def process_value(name: str, kind: Type = SMALL, durable: bool = False) -> ProcessValue:
    return ProcessValue(name, kind, default(kind), durable, SPAN, "")


def a_queue(
    name: str, discipline: str = "set", capacity: int | None = None, redelivers: bool = False, durable: bool = True
) -> Queue:
    return Queue(name, SMALL, Discipline(discipline), capacity, redelivers, durable, SPAN, "")


def a_lock(
    name: str, key: Type | None = None, lease: bool = False, fencing: int | None = None, durable: bool = True
) -> Lock:
    return Lock(name, key, lease, fencing, durable, SPAN, "")


def store(*members: StoreValue | Queue | Lock, name: str = "db") -> Store:
    return Store(
        name,
        tuple(m for m in members if isinstance(m, StoreValue)),
        tuple(m for m in members if isinstance(m, Queue)),
        tuple(m for m in members if isinstance(m, Lock)),
        SPAN,
        "",
    )


def _thread(
    kind: ThreadKind,
    name: str,
    body: tuple[Statement, ...],
    parameters: tuple[Parameter, ...],
    places: int,
    called: bool,
) -> Thread:
    return Thread(name, kind, parameters, None, places, called, (), body, SPAN, "")


def task(name: str, *body: Statement) -> Thread:
    return _thread(ThreadKind.TASK, name, body, (), 1, False)


def loop(name: str, *body: Statement, places: int = 1) -> Thread:
    return _thread(ThreadKind.LOOP, name, body, (), places, False)


def on(name: str, *body: Statement, parameters: Iterable[Parameter] = (), places: int = 1) -> Thread:
    """A handler that the environment starts."""
    return _thread(ThreadKind.ON, name, body, tuple(parameters), places, False)


def handler(name: str, *body: Statement, parameters: Iterable[Parameter] = (), places: int = 1) -> Thread:
    """A handler that other threads call."""
    return _thread(ThreadKind.ON, name, body, tuple(parameters), places, True)


def parameter(key: str, kind: Type = SMALL, drawn: bool = False) -> Parameter:
    return Parameter(key, kind, drawn)


def process(name: str, instances: int, *members: Thread | ProcessValue) -> Process:
    return Process(
        name,
        IdType(name, instances, True),
        tuple(m for m in members if isinstance(m, ProcessValue)),
        tuple(m for m in members if isinstance(m, Thread)),
        SPAN,
        "",
    )


def fault(kind: str, first: str, second: str | None = None, restart: bool = True) -> FaultClass:
    return FaultClass(FaultKind(kind), first, second, restart, SPAN)


def model(
    *parts: Store | Process | FaultClass | PropertyDeclaration | Scenario,
    ghosts: Mapping[str, Type] | None = None,
    ids: Iterable[IdType] = (),
) -> Model:
    """`ids`: types of which fresh ids are drawn."""
    names = {i.name: i for i in ids}
    return Model(
        "by_hand",
        "",
        names,
        tuple(p for p in parts if isinstance(p, Store)),
        tuple(p for p in parts if isinstance(p, Process)),
        tuple(Ghost(n, t, default(t), SPAN, "") for n, t in (ghosts or {}).items()),
        tuple(p for p in parts if isinstance(p, FaultClass)),
        tuple(p for p in parts if isinstance(p, PropertyDeclaration)),
        tuple(p for p in parts if isinstance(p, Scenario)),
        frozenset(names),
        frozenset(),
        {},
    )


# ----------------------------------------------------------------------------------------------------- looking at runs


def slot(thread: str, instance: int = 0, place_: int = 0, process_: str = "P") -> Slot:
    return Slot(process_, instance, thread, place_)


def brief(event: Event) -> str:
    """An event in a few words: `P0.t step ok`, `P0.t step unknown crash kept db`, `crash P0`, `redeliver db.q 1`."""

    def party(p: Party) -> str:
        name, instance = p.name, p.instance
        return name if instance is None else f"{name}{instance}"

    words: list[str] = []
    if event.slot is not None:
        words.append(f"{event.slot.process}{event.slot.instance}.{event.slot.thread}")
        words[-1] += f"#{event.slot.place}" if event.slot.place else ""
    words.append(event.kind.value)
    if event.kind.value in ("step", "reply") or event.ending.value != "ok":
        words.append(event.ending.value)
    if event.strike is not None:
        words.append(event.strike.value)
    if event.kept is not None:
        words.append("kept" if event.kept else "lost")
    words += [party(p) for p in (event.party, event.other) if p is not None]
    if event.callee is not None:
        words.append(f"-> {event.callee.process}{event.callee.instance}.{event.callee.thread}#{event.callee.place}")
    if event.store is not None:
        words.append(f"{event.store}.{event.variable} {event.item}")
    return " ".join(words)


def steps(machine: Interpreter, state: GlobalState) -> list[tuple[str, GlobalState]]:
    return [(brief(event), after) for event, after in machine.successors(state)]


def names(machine: Interpreter, state: GlobalState) -> list[str]:
    return [brief(event) for event, _ in machine.successors(state)]


def follow(machine: Interpreter, *wanted: str, start: GlobalState | None = None) -> GlobalState:
    """The state after the steps with these brief names; each must be possible in just one way."""
    state = machine.initial() if start is None else start
    for name in wanted:
        found = [after for brief_, after in steps(machine, state) if brief_ == name]
        assert len(found) == 1, f"{name!r}: {len(found)} of {names(machine, state)}"
        (state,) = found
    return state


def locals_of(state: GlobalState, where: Slot) -> Mapping[str, Value]:
    return state.activations[where].locals


def stands(state: GlobalState, where: Slot) -> int | None:
    return state.activations[where].at


def same_but(state: GlobalState, **changes: object) -> GlobalState:
    return replace(state, **changes)  # type: ignore[arg-type]


def activation(state: GlobalState, where: Slot, **changes: object) -> dict[Slot, Activation]:
    return {**state.activations, where: replace(state.activations[where], **changes)}  # type: ignore[arg-type]
