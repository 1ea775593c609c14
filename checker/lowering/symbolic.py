"""Symbolic values: what an expression is worth in every state at once.

A symbolic value has the shape of its type, with formulas over the state variables at the leaves.  Where an expression
is undefined (`none` unwrapped, a zero divisor) its symbolic value covers fewer states; the evaluator keeps, apart,
the formula that says where it is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from checker.logic.formula import FALSE, TRUE, Formula, conjunction, disjunction, iff, negate
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
from spec.value import Row, Table, Value, bounded, domain


@dataclass(frozen=True, eq=False)
class Truth:
    """A bool."""

    formula: Formula


@dataclass(frozen=True, eq=False)
class Scalar:
    """An enum member, id or integer: it is `value` where the value's condition holds; conditions exclude each other."""

    cases: Mapping[Value, Formula]


@dataclass(frozen=True, eq=False)
class Maybe:
    """An optional.  `value` is None when it is absent in every state."""

    present: Formula
    value: Symbolic | None


@dataclass(frozen=True, eq=False)
class Record:
    type: str
    fields: Mapping[str, Symbolic]


@dataclass(frozen=True, eq=False)
class Map:
    entries: Mapping[Value, Symbolic]


@dataclass(frozen=True, eq=False)
class Items:
    """A tuple."""

    items: tuple[Symbolic, ...]


@dataclass(frozen=True, eq=False)
class Members:
    """A set: which values are in it."""

    members: Mapping[Value, Formula]


Symbolic = Truth | Scalar | Maybe | Record | Map | Items | Members


def constant(value: Value, kind: Type) -> Symbolic:
    """The symbolic value that is `value` everywhere."""
    match kind:
        case BoolType():
            return Truth(TRUE if value else FALSE)
        case OptionalType(inner):
            return Maybe(FALSE, None) if value is None else Maybe(TRUE, constant(value, inner))
        case RecordType(name, fields):
            assert isinstance(value, Row)
            return Record(name, {f: constant(value.get(f), t) for f, t in fields})
        case TupleType(items):
            assert isinstance(value, tuple)
            return Items(tuple(constant(v, t) for v, t in zip(value, items, strict=True)))
        case MapType(_, inner):
            assert isinstance(value, Table)
            return Map({k: constant(v, inner) for k, v in value.entries})
        case SetType(item):
            assert isinstance(value, frozenset)
            return Members({x: TRUE if x in value else FALSE for x in domain(item)})
        case _:
            return Scalar({value: TRUE})


def cases_of(symbolic: Symbolic) -> dict[Value, Formula]:
    """The possible values of a symbolic scalar, optional, tuple or record, each with its condition."""
    match symbolic:
        case Truth(formula):
            found: dict[Value, Formula] = {False: negate(formula), True: formula}
        case Scalar(cases):
            found = dict(cases)
        case Maybe(present, value):
            found = {None: negate(present)}
            if value is not None:
                for v, condition in cases_of(value).items():
                    found[v] = conjunction((present, condition))
        case Items(items):
            found = {(): TRUE}
            for item in items:
                options = cases_of(item)
                found = {
                    (*done, v): both  # type: ignore[misc]
                    for done, before in found.items()
                    for v, condition in options.items()
                    if (both := conjunction((before, condition))) is not FALSE
                }
        case Record(name, fields):
            rows: dict[tuple[tuple[str, Value], ...], Formula] = {(): TRUE}
            for field, value in fields.items():
                options = cases_of(value)
                rows = {
                    (*done, (field, v)): both
                    for done, before in rows.items()
                    for v, condition in options.items()
                    if (both := conjunction((before, condition))) is not FALSE
                }
            found = {Row(name, done): condition for done, condition in rows.items()}
        case _:
            raise TypeError("a map or set has no list of values")
    return {v: condition for v, condition in found.items() if condition is not FALSE}


def from_cases(kind: Type, cases: Sequence[tuple[Value, Formula]]) -> Symbolic:
    """The symbolic value of a scalar, optional, tuple or record type that is each value where its condition holds."""
    match kind:
        case BoolType():
            return Truth(disjunction(condition for value, condition in cases if value))
        case OptionalType(inner):
            there = [(value, condition) for value, condition in cases if value is not None]
            present = disjunction(condition for _, condition in there)
            return Maybe(present, from_cases(inner, there) if there else None)
        case TupleType(items):
            columns = []
            for position, item in enumerate(items):
                column = [(value[position], condition) for value, condition in cases if isinstance(value, tuple)]
                columns.append(from_cases(item, column))
            return Items(tuple(columns))
        case RecordType(name, fields):
            return Record(
                name,
                {
                    f: from_cases(
                        t, [(value.get(f), condition) for value, condition in cases if isinstance(value, Row)]
                    )
                    for f, t in fields
                },
            )
        case EnumType() | IdType() | RangeType() | IntType():
            merged: dict[Value, list[Formula]] = {}
            for value, condition in cases:
                merged.setdefault(value, []).append(condition)
            return Scalar({value: disjunction(conditions) for value, conditions in merged.items()})
        case _:
            raise TypeError(f"{kind} has no list of values")


def matches(symbolic: Symbolic, value: Value) -> Formula:
    """Where `symbolic` is exactly `value`."""
    match symbolic:
        case Truth(formula):
            return formula if value else negate(formula)
        case Scalar(cases):
            return cases.get(value, FALSE)
        case Maybe(present, inner):
            if value is None:
                return negate(present)
            return FALSE if inner is None else conjunction((present, matches(inner, value)))
        case Items(items):
            assert isinstance(value, tuple)
            return conjunction([matches(item, v) for item, v in zip(items, value, strict=True)])
        case Record(_, fields):
            assert isinstance(value, Row)
            return conjunction([matches(field, value.get(name)) for name, field in fields.items()])
        case Map(entries):
            assert isinstance(value, Table)
            return conjunction([matches(entries[k], v) for k, v in value.entries])
        case Members(members):
            assert isinstance(value, frozenset)
            return conjunction([f if x in value else negate(f) for x, f in members.items()])


def merge(options: Sequence[tuple[Formula, Symbolic]]) -> Symbolic:
    """The value that is each option where its condition holds (conditions exclude each other)."""
    options = [(condition, value) for condition, value in options if condition is not FALSE]
    if not options:
        raise ValueError("nothing to merge")
    if len(options) == 1:
        return options[0][1]
    first = options[0][1]
    match first:
        case Truth():
            return Truth(disjunction(conjunction((c, v.formula)) for c, v in options if isinstance(v, Truth)))
        case Scalar():
            return scalar(
                (value, conjunction((c, f)))
                for c, v in options
                if isinstance(v, Scalar)
                for value, f in v.cases.items()
            )
        case Maybe():
            present = disjunction(conjunction((c, v.present)) for c, v in options if isinstance(v, Maybe))
            there = [(c, v.value) for c, v in options if isinstance(v, Maybe) and v.value is not None]
            return Maybe(present, merge(there) if there else None)
        case Record(name, fields):
            return Record(
                name, {f: merge([(c, v.fields[f]) for c, v in options if isinstance(v, Record)]) for f in fields}
            )
        case Map(entries):
            return Map({k: merge([(c, v.entries[k]) for c, v in options if isinstance(v, Map)]) for k in entries})
        case Items(items):
            return Items(
                tuple(merge([(c, v.items[i]) for c, v in options if isinstance(v, Items)]) for i in range(len(items)))
            )
        case Members():
            keys = dict.fromkeys(x for _, v in options if isinstance(v, Members) for x in v.members)
            return Members(
                {
                    x: disjunction(
                        conjunction((c, v.members.get(x, FALSE))) for c, v in options if isinstance(v, Members)
                    )
                    for x in keys
                }
            )


def scalar(cases: Iterable[tuple[Value, Formula]]) -> Scalar:
    """Cases for one value are joined; values that nothing can make are dropped."""
    merged: dict[Value, list[Formula]] = {}
    for value, condition in cases:
        if condition is not FALSE:
            merged.setdefault(value, []).append(condition)
    return Scalar({value: disjunction(conditions) for value, conditions in merged.items()})


def equal(left: Symbolic, right: Symbolic) -> Formula:
    """Where the two are equal.  An optional may be compared with a value."""
    if isinstance(left, Maybe) or isinstance(right, Maybe):
        a = left if isinstance(left, Maybe) else Maybe(TRUE, left)
        b = right if isinstance(right, Maybe) else Maybe(TRUE, right)
        neither = conjunction((negate(a.present), negate(b.present)))
        if a.value is None or b.value is None:
            return neither
        return disjunction((neither, conjunction((a.present, b.present, equal(a.value, b.value)))))
    match left, right:
        case Truth(a_truth), Truth(b_truth):
            return iff(a_truth, b_truth)
        case Scalar(a_cases), Scalar(b_cases):
            return disjunction(conjunction((f, b_cases[v])) for v, f in a_cases.items() if v in b_cases)
        case Record(_, a_fields), Record(_, b_fields):
            return conjunction([equal(a_fields[f], b_fields[f]) for f in a_fields])
        case Items(a_items), Items(b_items):
            return conjunction([equal(x, y) for x, y in zip(a_items, b_items, strict=True)])
        case Map(a_entries), Map(b_entries):
            return conjunction([equal(a_entries[k], b_entries[k]) for k in a_entries])
        case Members(a_members), Members(b_members):
            keys = dict.fromkeys((*a_members, *b_members))
            return conjunction([iff(a_members.get(x, FALSE), b_members.get(x, FALSE)) for x in keys])
        case _:
            raise TypeError("values of different shapes")


def arithmetic(left: Scalar, right: Scalar, operate: Callable[[int, int], int]) -> Scalar:
    return scalar(
        (bounded(operate(as_integer(a), as_integer(b))), conjunction((f, g)))
        for a, f in left.cases.items()
        for b, g in right.cases.items()
    )


def compare(left: Scalar, right: Scalar, holds: Callable[[int, int], bool]) -> Formula:
    return disjunction(
        conjunction((f, g))
        for a, f in left.cases.items()
        for b, g in right.cases.items()
        if holds(as_integer(a), as_integer(b))
    )


def total(formulas: Iterable[Formula]) -> Scalar:
    """How many of the formulas hold."""
    counts: dict[int, Formula] = {0: TRUE}
    for formula in formulas:
        raised: dict[int, list[Formula]] = {}
        for number, condition in counts.items():
            raised.setdefault(number, []).append(conjunction((condition, negate(formula))))
            raised.setdefault(number + 1, []).append(conjunction((condition, formula)))
        counts = {n: f for n, parts in raised.items() if (f := disjunction(parts)) is not FALSE}
    return Scalar(dict(counts.items()))


def as_integer(value: Value) -> int:
    assert isinstance(value, int)
    return value
