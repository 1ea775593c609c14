"""Which variables of the transition system hold which part of a model's state.

A part whose type has few values is one variable, however rich its type (`Task?` with two small fields is one
variable); larger parts are split: a map into its entries, a record into its fields, an optional into presence
and value, a set into memberships.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from checker.logic.formula import Role, Variable
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
from spec.value import Id, Row, Table, Value, default, domain

FLAT_LIMIT: Final = 40
"""A record, tuple or optional with at most this many values is one variable."""

INT_WINDOW: Final = range(-16, 48)
"""The values of an unbounded integer that are represented; a step that leaves them ends in the frontier."""


class Beyond:
    """The code for an integer outside the window, and for a local that is dead or was never assigned."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


BEYOND: Final = Beyond("beyond")
DEAD: Final = Beyond("dead")


def cardinality(kind: Type) -> int | None:
    """How many values; None for collections and the unbounded integers."""
    match kind:
        case BoolType():
            return 2
        case EnumType(_, members):
            return len(members)
        case IdType(_, size, _):
            return size
        case RangeType(low, high):
            return high - low + 1
        case OptionalType(inner):
            count = cardinality(inner)
            return None if count is None else count + 1
        case TupleType(items):
            parts = [cardinality(item) for item in items]
        case RecordType(_, fields):
            parts = [cardinality(item) for _, item in fields]
        case _:
            return None
    product = 1
    for part in parts:
        if part is None:
            return None
        product *= part
    return product


@dataclass(frozen=True, eq=False)
class Leaf:
    """One variable.  `values` are those of `type`; further codes of the variable (DEAD, BEYOND) are none of them."""

    type: Type
    variable: Variable


@dataclass(frozen=True, eq=False)
class MapNode:
    type: MapType
    entries: Mapping[Value, Node]


@dataclass(frozen=True, eq=False)
class RecordNode:
    type: RecordType
    fields: Mapping[str, Node]


@dataclass(frozen=True, eq=False)
class TupleNode:
    type: TupleType
    items: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class OptionalNode:
    """Where the value is absent, its parts are at their defaults."""

    type: OptionalType
    present: Variable
    value: Node


@dataclass(frozen=True, eq=False)
class SetNode:
    type: SetType
    members: Mapping[Value, Variable]


Node = Leaf | MapNode | RecordNode | TupleNode | OptionalNode | SetNode

Key = tuple[object, ...]
"""What a variable stands for, with the ids, slots and parties in it as themselves, so that permuting them finds the
variable that plays the same part for others."""


def mentions_ids(kind: Type) -> bool:
    match kind:
        case IdType():
            return True
        case OptionalType(inner):
            return mentions_ids(inner)
        case TupleType(items):
            return any(map(mentions_ids, items))
        case RecordType(_, fields):
            return any(mentions_ids(item) for _, item in fields)
        case MapType(key, value):
            return mentions_ids(key) or mentions_ids(value)
        case SetType(item):
            return mentions_ids(item)
        case _:
            return False


class Layout:
    """Makes variables and remembers what each stands for."""

    def __init__(self) -> None:
        self.variables: list[Variable] = []
        self.keys: dict[Variable, Key] = {}
        self.by_key: dict[Key, Variable] = {}

    def variable(self, name: str, values: tuple[object, ...], initial: object, role: Role, key: Key) -> Variable:
        code = next(i for i, v in enumerate(values) if v == initial and type(v) is type(initial))
        variable = Variable(name, values, code, role)
        self.variables.append(variable)
        self.keys[variable] = key
        self.by_key[key] = variable
        return variable

    def node(
        self,
        name: str,
        kind: Type,
        initial: Value,
        role: Role,
        key: Key,
        *,
        dead: bool = False,
        mortal: bool = False,
    ) -> Node:
        """The variables for one part of the state.

        A `mortal` part is at times meaningless (a dead local, the inside of an absent optional), and then every
        variable of it has its `dead_code`.  With `dead` it begins so.
        """
        mortal = mortal or dead
        count = cardinality(kind)
        if isinstance(kind, IntType):
            values: tuple[object, ...] = (*INT_WINDOW, BEYOND)
            start: object = 0 if dead else initial if isinstance(initial, int) and initial in INT_WINDOW else BEYOND
            return Leaf(kind, self.variable(name, values, start, role, key))
        if count is not None and (count <= FLAT_LIMIT or isinstance(kind, BoolType | EnumType | IdType | RangeType)):
            values = tuple(domain(kind))
            if mortal and mentions_ids(kind) and not isinstance(kind, OptionalType):
                values = (DEAD, *values)
            return Leaf(kind, self.variable(name, values, values[0] if dead else initial, role, key))
        match kind:
            case MapType(of, inner):
                table = initial if isinstance(initial, Table) else None
                entries = {
                    k: self.node(
                        f"{name}[{k}]",
                        inner,
                        table.get(k) if table else None,
                        role,
                        (*key, k),
                        dead=dead,
                        mortal=mortal,
                    )
                    for k in domain(of)
                }
                return MapNode(kind, entries)
            case RecordType(_, fields):
                row = initial if isinstance(initial, Row) else None
                parts = {
                    f: self.node(
                        f"{name}.{f}", t, row.get(f) if row else None, role, (*key, f), dead=dead, mortal=mortal
                    )
                    for f, t in fields
                }
                return RecordNode(kind, parts)
            case TupleType(items):
                whole = initial if isinstance(initial, tuple) else (None,) * len(items)
                children = tuple(
                    self.node(f"{name}.{i}", t, whole[i], role, (*key, i), dead=dead, mortal=mortal)
                    for i, t in enumerate(items)
                )
                return TupleNode(kind, children)
            case OptionalType(inner):
                there = initial is not None and not dead
                present = self.variable(f"{name} is some", (False, True), there, role, (*key, "?"))
                value = self.node(name, inner, initial, role, (*key, "!"), dead=not there, mortal=True)
                return OptionalNode(kind, present, value)
            case SetType(item):
                inside = initial if isinstance(initial, frozenset) else frozenset()
                members = {
                    x: self.variable(f"{x} in {name}", (False, True), x in inside, role, (*key, x))
                    for x in domain(item)
                }
                return SetNode(kind, members)
            case _:
                raise TypeError(f"no variables for {kind}")


def leaves(node: Node) -> Iterator[Variable]:
    """All variables of a part, in a fixed order."""
    match node:
        case Leaf():
            yield node.variable
        case MapNode():
            for child in node.entries.values():
                yield from leaves(child)
        case RecordNode():
            for child in node.fields.values():
                yield from leaves(child)
        case TupleNode():
            for child in node.items:
                yield from leaves(child)
        case OptionalNode():
            yield node.present
            yield from leaves(node.value)
        case SetNode():
            yield from node.members.values()


def decode(node: Node, codes: Mapping[Variable, int]) -> Value:
    """The value that a part has; the type's default for a dead local (callers know which locals are live)."""
    match node:
        case Leaf():
            value = node.variable.values[codes[node.variable]]
            if isinstance(value, Beyond):
                return default(node.type) if not isinstance(node.type, IdType) else Id(node.type.name, 0)
            return value  # type: ignore[return-value]
        case MapNode():
            return Table(tuple((k, decode(child, codes)) for k, child in node.entries.items()))
        case RecordNode():
            return Row(node.type.name, tuple((f, decode(child, codes)) for f, child in node.fields.items()))
        case TupleNode():
            return tuple(decode(child, codes) for child in node.items)
        case OptionalNode():
            return decode(node.value, codes) if codes[node.present] else None
        case SetNode():
            return frozenset(x for x, variable in node.members.items() if codes[variable])


def is_assigned(node: Node, codes: Mapping[Variable, int]) -> bool:
    """False where a local of an ids type, or a local with such a part, was never assigned: no id stands for that."""
    match node:
        case Leaf():
            return node.variable.values[codes[node.variable]] is not DEAD
        case RecordNode():
            return all(is_assigned(child, codes) for child in node.fields.values())
        case TupleNode():
            return all(is_assigned(child, codes) for child in node.items)
        case OptionalNode():
            return not codes[node.present] or is_assigned(node.value, codes)
        case MapNode() | SetNode():
            return True


def encode(node: Node, value: Value, codes: dict[Variable, int]) -> None:
    """Sets the codes of a part's variables.  An integer outside the window becomes BEYOND."""
    match node:
        case Leaf():
            codes[node.variable] = code_of(node.variable, value)
        case MapNode():
            assert isinstance(value, Table)
            for k, child in node.entries.items():
                encode(child, value.get(k), codes)
        case RecordNode():
            assert isinstance(value, Row)
            for f, child in node.fields.items():
                encode(child, value.get(f), codes)
        case TupleNode():
            assert isinstance(value, tuple)
            for child, item in zip(node.items, value, strict=True):
                encode(child, item, codes)
        case OptionalNode():
            codes[node.present] = int(value is not None)
            if value is None:
                for variable in leaves(node.value):
                    codes[variable] = dead_code(variable)
            else:
                encode(node.value, value, codes)
        case SetNode():
            assert isinstance(value, frozenset)
            for x, variable in node.members.items():
                codes[variable] = int(x in value)


def dead_code(variable: Variable) -> int:
    """The code of a local's variable while the local is dead, and of an absent optional's parts."""
    return variable.codes[int, 0] if _HAS_BEYOND in variable.codes else 0


def code_of(variable: Variable, value: object) -> int:
    code = variable.codes.get((type(value), value))
    if code is None:
        code = variable.codes.get(_HAS_BEYOND)
    if code is None:
        raise ValueError(f"{variable.name} has no value {value!r}")
    return code


_HAS_BEYOND: Final = (Beyond, BEYOND)
