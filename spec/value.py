"""Values of the language, as the interpreter, traces and reports hold them.

bool -> bool; int and ranges -> int; none -> None; a value that is present in an optional -> the value itself;
enum -> Member; ids and process instances -> Id; record -> Row; tuple -> tuple; map -> Table; set -> frozenset.
All values are immutable and hashable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, Union

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

DIGITS = 100
"""The most digits of a number in any evaluation."""

_LARGEST = 10**DIGITS - 1


class NumberLimit(Exception):
    """A number has become too large to go on with; that is neither an error of the model's meaning nor a verdict."""

    def __init__(self) -> None:
        super().__init__(f"a number has more than {DIGITS} digits")


def bounded(number: int) -> int:
    """The number, if it is not too large.  Raises NumberLimit."""
    if -_LARGEST <= number <= _LARGEST:
        return number
    raise NumberLimit


@dataclass(frozen=True, order=True)
class Member:
    enum: str
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, order=True)
class Id:
    """The `index`-th identifier of `type`; printed `Workflow#0`, process instances `Server[0]`."""

    type: str
    index: int
    of_process: bool = False

    def __str__(self) -> str:
        return f"{self.type}[{self.index}]" if self.of_process else f"{self.type}#{self.index}"


@dataclass(frozen=True)
class Row:
    """A record: its fields in the order of their declaration."""

    type: str
    fields: tuple[tuple[str, Value], ...]

    def get(self, name: str) -> Value:
        for field, value in self.fields:
            if field == name:
                return value
        raise KeyError(name)

    def put(self, name: str, value: Value) -> Row:
        return Row(self.type, tuple((f, value if f == name else v) for f, v in self.fields))


@dataclass(frozen=True)
class Table:
    """A total map: (key, value) pairs in the order of `domain` of the key type."""

    entries: tuple[tuple[Value, Value], ...]

    def get(self, key: Value) -> Value:
        for k, v in self.entries:
            if k == key and type(k) is type(key):
                return v
        raise KeyError(key)

    def put(self, key: Value, value: Value) -> Table:
        return Table(tuple((k, value if k == key else v) for k, v in self.entries))


Value: TypeAlias = Union[bool, int, Member, Id, Row, Table, "tuple[Value, ...]", "frozenset[Value]", None]


def domain(kind: Type) -> Iterator[Value]:
    """All values of a scalar, optional or tuple type, in the canonical order (false, true; declaration order;
    ascending; none first; last item fastest).  Raises TypeError for the unbounded `int` and for collections."""
    match kind:
        case BoolType():
            yield False
            yield True
        case EnumType(name, members):
            for member in members:
                yield Member(name, member)
        case IdType(name, size, of_process):
            for index in range(size):
                yield Id(name, index, of_process)
        case RangeType(low, high):
            yield from range(low, high + 1)
        case OptionalType(value):
            yield None
            yield from domain(value)
        case TupleType(items):
            yield from product(*(tuple(domain(item)) for item in items))
        case RecordType(name, fields):
            for values in product(*(tuple(domain(field)) for _, field in fields)):
                yield Row(name, tuple((f, v) for (f, _), v in zip(fields, values, strict=True)))
        case _:
            raise TypeError(f"{kind} has no finite list of values")


def default(kind: Type) -> Value:
    """The value that a variable of this type has when its declaration gives none: false; the first enum member; 0, or
    the low end where the range excludes 0; none; the empty set; a record or map of defaults.  (For records whose fields
    declare their own defaults the type checker supplies an explicit initial expression.)  Raises TypeError for a bare
    id: ids are interchangeable, so none of them can be the default."""
    match kind:
        case BoolType():
            return False
        case EnumType(name, members):
            return Member(name, members[0])
        case RangeType(low, high):
            return 0 if low <= 0 <= high else low
        case IntType():
            return 0
        case OptionalType():
            return None
        case TupleType(items):
            return tuple(default(item) for item in items)
        case RecordType(name, fields):
            return Row(name, tuple((f, default(t)) for f, t in fields))
        case MapType(key, value):
            return Table(tuple((k, default(value)) for k in domain(key)))
        case SetType():
            return frozenset()
        case _:
            raise TypeError(f"{kind} has no default value")
