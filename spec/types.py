"""The types of the language, after names and sizes have been resolved.

Every type but `IntType` has finitely many values.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BoolType:
    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True)
class EnumType:
    name: str
    members: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class IdType:
    """Interchangeable identifiers: declared with `ids`, or the instances of a process (`of_process`)."""

    name: str
    size: int
    of_process: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class RangeType:
    """low..high, both included.  `name` is the declared name, if any; ranges are equal by their bounds."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True)
class IntType:
    """Unbounded integers."""

    def __str__(self) -> str:
        return "int"


@dataclass(frozen=True)
class RecordType:
    name: str
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return self.name

    def field(self, name: str) -> Type | None:
        return dict(self.fields).get(name)


@dataclass(frozen=True)
class OptionalType:
    """`T?`: a value of T, or none.  T is never itself optional."""

    value: Type

    def __str__(self) -> str:
        return f"{self.value}?"


@dataclass(frozen=True)
class TupleType:
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.items)) + ")"


@dataclass(frozen=True)
class MapType:
    """A total map.  `key` is scalar (bool, enum, ids, range) or a tuple of scalars."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"{self.key} -> {self.value}"


@dataclass(frozen=True)
class SetType:
    """A set of scalars or tuples of scalars; also the type of `all x: T where e`."""

    item: Type

    def __str__(self) -> str:
        return f"set of {self.item}"


Type = BoolType | EnumType | IdType | RangeType | IntType | RecordType | OptionalType | TupleType | MapType | SetType

BOOL = BoolType()
INT = IntType()
