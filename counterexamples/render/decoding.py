"""Values, states and events from the JSON data that `counterexamples.render.encoding` makes.

Nothing is taken on trust: a wrong shape, name or type is a TraceFormatError that says where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from counterexamples.site import thread_of
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.state import (
    Activation,
    ErrorKind,
    GlobalState,
    Holder,
    LockState,
    Loose,
    ModelError,
    QueueState,
)
from spec.typed import Model
from spec.types import (
    BoolType,
    EnumType,
    IdType,
    IntType,
    MapType,
    OptionalType,
    RangeType,
    RecordType,
    SetType,
    TupleType,
    Type,
)
from spec.value import Id, Member, Row, Table, Value, domain

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
DEPTH = 50
"""The deepest nesting of a value; types of the language nest far less."""


class TraceFormatError(ValueError):
    """The text is no trace of the model.  `where`: the place in the JSON document, such as `steps[3].event.slot`."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}" if where else problem)
        self.where = where
        self.problem = problem


class OtherModelError(TraceFormatError):
    """The document is a trace, but the model has no such variable, value, instance or statement.  `step`: from 1 on,
    for a statement that a step executes."""

    def __init__(self, where: str, problem: str, step: int | None = None) -> None:
        super().__init__(where, problem)
        self.step = step


class Node:
    """A JSON value and where it stands in its document."""

    def __init__(self, data: Any, where: str = "") -> None:
        self.data = data
        self.where = where

    def error(self, problem: str) -> TraceFormatError:
        return TraceFormatError(self.where, problem)

    def mismatch(self, problem: str, step: int | None = None) -> OtherModelError:
        return OtherModelError(self.where, problem, step)

    def field(self, name: str) -> Node:
        if not isinstance(self.data, dict):
            raise self.error("must be an object")
        if name not in self.data:
            raise self.error(f"lacks `{name}`")
        return Node(self.data[name], f"{self.where}.{name}" if self.where else name)

    def items(self, size: int | None = None) -> list[Node]:
        if not isinstance(self.data, list):
            raise self.error("must be a list")
        if size is not None and len(self.data) != size:
            raise self.error(f"must have {size} items, not {len(self.data)}")
        return [Node(item, f"{self.where}[{i}]") for i, item in enumerate(self.data)]

    def text(self) -> str:
        if not isinstance(self.data, str):
            raise self.error("must be a string")
        return self.data

    def number(self, least: int | None = 0) -> int:
        if not isinstance(self.data, int) or isinstance(self.data, bool):
            raise self.error("must be a whole number")
        if least is not None and self.data < least:
            raise self.error(f"must be at least {least}")
        return self.data

    def truth(self) -> bool:
        if not isinstance(self.data, bool):
            raise self.error("must be true or false")
        return self.data

    def maybe(self, read: Callable[[Node], T]) -> T | None:
        return None if self.data is None else read(self)

    def one_of(self, kind: type[E]) -> E:
        try:
            return kind(self.text())
        except ValueError:
            raise self.error(f"must be one of {', '.join(str(member.value) for member in kind)}") from None


def decode_value(node: Node, depth: int = 0) -> Value:
    """Inverse of `encode_value`."""
    data = node.data
    if data is None or isinstance(data, bool | int):
        return data
    if not isinstance(data, dict):
        raise node.error("must be a value: null, true, false, a whole number or an object")
    if depth > DEPTH:
        raise node.error("is nested too deeply")
    if "enum" in data:
        return Member(node.field("enum").text(), node.field("member").text())
    if "ids" in data or "instance_of" in data:
        of_process = "instance_of" in data
        kind = node.field("instance_of" if of_process else "ids").text()
        return Id(kind, node.field("index").number(), of_process)
    if "record" in data:
        pairs = [pair.items(2) for pair in node.field("fields").items()]
        return Row(
            node.field("record").text(), tuple((name.text(), decode_value(item, depth + 1)) for name, item in pairs)
        )
    if "map" in data:
        pairs = [pair.items(2) for pair in node.field("map").items()]
        return Table(tuple((decode_value(key, depth + 1), decode_value(item, depth + 1)) for key, item in pairs))
    if "tuple" in data:
        return tuple(decode_value(item, depth + 1) for item in node.field("tuple").items())
    if "set" in data:
        return frozenset(decode_value(item, depth + 1) for item in node.field("set").items())
    raise node.error("must have one of the keys enum, ids, instance_of, record, map, tuple, set")


def decode_typed(node: Node, kind: Type) -> Value:
    """A value of a type; raises TraceFormatError for any other."""
    value = decode_value(node)
    if not belongs(value, kind):
        raise node.mismatch(f"must be a value of type {kind}")
    return value


def belongs(value: Value, kind: Type) -> bool:
    """Whether the value is one of the type's; maps must have all keys in the canonical order."""
    match kind:
        case BoolType():
            return isinstance(value, bool)
        case IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case RangeType(low, high):
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case EnumType(name, members):
            return isinstance(value, Member) and value.enum == name and value.name in members
        case IdType(name, size, of_process):
            return isinstance(value, Id) and (value.type, value.of_process) == (name, of_process) and value.index < size
        case OptionalType(inner):
            return value is None or belongs(value, inner)
        case TupleType(items):
            return isinstance(value, tuple) and len(value) == len(items) and all(map(belongs, value, items))
        case RecordType(name, fields):
            return (
                isinstance(value, Row)
                and value.type == name
                and [f for f, _ in value.fields] == [f for f, _ in fields]
                and all(belongs(v, t) for (_, v), (_, t) in zip(value.fields, fields, strict=True))
            )
        case MapType(key, inner):
            if not isinstance(value, Table) or any(not belongs(v, inner) for _, v in value.entries):
                return False
            return [(type(k), k) for k, _ in value.entries] == [(type(k), k) for k in domain(key)]
        case SetType(item):
            return isinstance(value, frozenset) and all(belongs(v, item) for v in value)


def decode_slot(node: Node) -> Slot:
    return Slot(
        node.field("process").text(),
        node.field("instance").number(),
        node.field("thread").text(),
        node.field("place").number(),
    )


def decode_party(node: Node) -> Party:
    return Party(node.field("name").text(), node.field("instance").maybe(Node.number))


def decode_holder(node: Node) -> Holder:
    return node.one_of(Loose) if isinstance(node.data, str) else decode_slot(node)


def decode_error(node: Node) -> ModelError:
    return ModelError(node.field("kind").one_of(ErrorKind), node.field("site").number())


def decode_event(node: Node) -> Event:
    return Event(
        node.field("kind").one_of(EventKind),
        node.field("slot").maybe(decode_slot),
        node.field("site").maybe(Node.number),
        node.field("ending").one_of(Ending),
        node.field("strike").maybe(lambda n: n.one_of(Strike)),
        node.field("kept").maybe(Node.truth),
        node.field("party").maybe(decode_party),
        node.field("other").maybe(decode_party),
        node.field("callee").maybe(decode_slot),
        node.field("store").maybe(Node.text),
        node.field("variable").maybe(Node.text),
        decode_value(node.field("item")),
    )


def decode_state(node: Node, model: Model) -> GlobalState:
    """Inverse of `encode_state`.  Every variable, queue and lock must be one of the model's, of its type, and none may
    be missing; slots and parties must exist.  Raises TraceFormatError."""
    stored = {(s.name, v.name): v.type for s in model.stores for v in s.values}
    queues = {(s.name, q.name): q for s in model.stores for q in s.queues}
    locks = {(s.name, k.name): k for s in model.stores for k in s.locks}
    owned = {(p.name, i, v.name): v.type for p in model.processes for i in range(p.instances.size) for v in p.values}
    ghosts = {g.name: g.type for g in model.ghosts}

    def in_store(entry: Node) -> tuple[str, str]:
        return entry.field("store").text(), entry.field("name").text()

    def in_process(entry: Node) -> tuple[str, int, str]:
        return entry.field("process").text(), entry.field("instance").number(), entry.field("name").text()

    def queue_state(entry: Node, key: tuple[str, str]) -> QueueState:
        kind = queues[key].item
        return QueueState(
            tuple(
                (decode_typed(e.field("item"), kind), _holder(e.field("holder"), model))
                for e in entry.field("entries").items()
            )
        )

    def lock_state(entry: Node, key: tuple[str, str]) -> LockState:
        kind = locks[key].key
        keys: list[Value] = [None] if kind is None else list(domain(kind))
        nodes = entry.field("entries").items(len(keys))
        found = []
        for expected, e in zip(keys, nodes, strict=True):
            if decode_value(e.field("key")) != expected:
                raise e.field("key").mismatch("is not the key that stands here")
            found.append((expected, _holder(e.field("holder"), model), e.field("token").number()))
        return LockState(tuple(found))

    return GlobalState(
        values=_complete(
            node.field("values"), in_store, stored, lambda e, k: decode_typed(e.field("value"), stored[k])
        ),
        queues=_complete(node.field("queues"), in_store, queues, queue_state),
        locks=_complete(node.field("locks"), in_store, locks, lock_state),
        process_values=_complete(
            node.field("process_values"), in_process, owned, lambda e, k: decode_typed(e.field("value"), owned[k])
        ),
        ghosts=_complete(
            node.field("ghosts"),
            lambda e: e.field("name").text(),
            ghosts,
            lambda e, k: decode_typed(e.field("value"), ghosts[k]),
        ),
        used=_complete(
            node.field("used"),
            lambda e: e.field("ids").text(),
            dict.fromkeys(model.fresh),
            lambda e, k: frozenset(i.number() for i in e.field("indices").items()),
        ),
        activations={
            _known_slot(e.field("slot"), model): _activation(e, model) for e in node.field("activations").items()
        },
        down=frozenset(_known_party(e, model) for e in node.field("down").items()),
        cut=frozenset(
            (_known_party(pair[0], model), _known_party(pair[1], model))
            for pair in (e.items(2) for e in node.field("cut").items())
        ),
        error=node.field("error").maybe(decode_error),
    )


K = TypeVar("K")


def _complete(
    node: Node, key_of: Callable[[Node], K], known: Mapping[K, object], read: Callable[[Node, K], T]
) -> dict[K, T]:
    """Exactly one entry for each name of the model."""
    found: dict[K, T] = {}
    for entry in node.items():
        key = key_of(entry)
        if key not in known:
            raise entry.mismatch(f"the model has no {_name(key)}")
        if key in found:
            raise entry.error(f"{_name(key)} stands here twice")
        found[key] = read(entry, key)
    missing = known.keys() - found.keys()
    if missing:
        raise node.mismatch(f"lacks the model's {', '.join(sorted(map(_name, missing)))}")
    return found


def _name(key: object) -> str:
    return ".".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _activation(node: Node, model: Model) -> Activation:
    return Activation(
        node.field("at").maybe(Node.number),
        {e.field("key").text(): decode_value(e.field("value")) for e in node.field("locals").items()},
        node.field("waiting").truth(),
        node.field("caller").maybe(lambda n: _known_slot(n, model)),
        node.field("ending").maybe(Node.text),
    )


def _holder(node: Node, model: Model) -> Holder:
    return node.one_of(Loose) if isinstance(node.data, str) else _known_slot(node, model)


def _known_slot(node: Node, model: Model) -> Slot:
    slot = decode_slot(node)
    thread = thread_of(model, slot)
    sizes = {process.name: process.instances.size for process in model.processes}
    if thread is None or slot.instance >= sizes[slot.process] or slot.place >= thread.places:
        raise node.mismatch(f"the model has no {slot.process}[{slot.instance}].{slot.thread}, place {slot.place}")
    return slot


def _known_party(node: Node, model: Model) -> Party:
    party = decode_party(node)
    sizes = {process.name: process.instances.size for process in model.processes}
    if party.instance is None:
        known = party.name in {store.name for store in model.stores}
    else:
        known = party.instance < sizes.get(party.name, 0)
    if not known:
        raise node.mismatch(
            f"the model has no {party.name}" + ("" if party.instance is None else f"[{party.instance}]")
        )
    return party
