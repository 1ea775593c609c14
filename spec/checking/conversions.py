"""When a value of one type may stand where another type is wanted, and with which nodes."""

from __future__ import annotations

from dataclasses import replace

from spec.checking.problems import Problems
from spec.checking.trees import is_none
from spec.source import Span
from spec.typed import (
    Binary,
    Coerce,
    Conditional,
    Expression,
    IsSome,
    Item,
    Literal,
    Not,
    Operator,
    SetOf,
    TupleOf,
    Unwrap,
)
from spec.types import BOOL, INT, IdType, IntType, OptionalType, RangeType, SetType, TupleType, Type


def is_number(kind: Type) -> bool:
    """Whether values of the type are integers."""
    return isinstance(kind, IntType | RangeType)


def without_optional(kind: Type) -> Type:
    """T for `T?` and for T."""
    return kind.value if isinstance(kind, OptionalType) else kind


def join(first: Type, second: Type) -> Type | None:
    """The type that holds the values of both, or None."""
    if first == second:
        return first
    if is_number(first) and is_number(second):
        return INT
    if isinstance(first, OptionalType) or isinstance(second, OptionalType):
        inner = join(without_optional(first), without_optional(second))
        return None if inner is None else OptionalType(inner)
    if isinstance(first, TupleType) and isinstance(second, TupleType) and len(first.items) == len(second.items):
        items = [join(a, b) for a, b in zip(first.items, second.items, strict=True)]
        known = tuple(item for item in items if item is not None)
        return TupleType(known) if len(known) == len(items) else None
    return None


def narrow(expression: Expression) -> Expression:
    """A number literal as the range of that number alone, also within a tuple; anything else as it is."""
    if isinstance(expression, Literal) and isinstance(expression.type, IntType) and isinstance(expression.value, int):
        return replace(expression, type=RangeType(expression.value, expression.value))
    if isinstance(expression, TupleOf):
        items = tuple(map(narrow, expression.items))
        return replace(expression, type=TupleType(tuple(item.type for item in items)), items=items)
    return expression


def join_items(first: Type, second: Type) -> Type | None:
    """The type of a set's items that holds the values of both: as `join`, but two ranges give the range around them."""
    if isinstance(first, RangeType) and isinstance(second, RangeType):
        return RangeType(min(first.low, second.low), max(first.high, second.high))
    if isinstance(first, TupleType) and isinstance(second, TupleType) and len(first.items) == len(second.items):
        items = [join_items(a, b) for a, b in zip(first.items, second.items, strict=True)]
        known = tuple(item for item in items if item is not None)
        return TupleType(known) if len(known) == len(items) else None
    return join(first, second)


def soften(expression: Expression, hint: Type | None) -> Expression:
    """A number literal as the range that is hoped for, when it lies in it; anything else as it is."""
    if isinstance(expression, Literal) and isinstance(expression.type, IntType) and hint is not None:
        wanted = without_optional(hint)
        number = expression.value
        if isinstance(wanted, RangeType) and isinstance(number, int) and wanted.low <= number <= wanted.high:
            return replace(expression, type=wanted)
    return expression


class Conversions:
    """Inserts Coerce and Unwrap; reports what cannot be converted."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems

    def coerce(self, expression: Expression, wanted: Type) -> Expression | None:
        """The expression as a value of the wanted type; None, and an error, when it is none."""
        return self._coerce(expression, wanted, expression.span, expression.type, wanted)

    def _coerce(self, node: Expression, wanted: Type, span: Span, found: Type, whole: Type) -> Expression | None:
        have = node.type
        if have == wanted:
            return node
        if isinstance(node, Conditional):
            then = self._coerce(node.then, wanted, node.then.span, node.then.type, whole)
            otherwise = self._coerce(node.otherwise, wanted, node.otherwise.span, node.otherwise.type, whole)
            if then is None or otherwise is None:
                return None
            return Conditional(wanted, node.span, node.condition, then, otherwise)
        if isinstance(wanted, OptionalType):
            if is_none(node):
                return Literal(wanted, node.span, None)
            if isinstance(have, OptionalType):
                return self._optional(node, wanted, span, found, whole)
            inner = self._coerce(node, wanted.value, span, found, whole)
            return None if inner is None else Coerce(wanted, node.span, inner)
        if isinstance(have, OptionalType):
            if is_none(node):
                self._problems.error("E220", span, f"`none` is no value of `{wanted}`")
                return None
            return self._coerce(Unwrap(have.value, node.span, node), wanted, span, found, whole)
        if is_number(have) and is_number(wanted):
            return self._number(node, wanted)
        if isinstance(have, TupleType) and isinstance(wanted, TupleType) and len(have.items) == len(wanted.items):
            return self._tuple(node, have, wanted, span, found, whole)
        if isinstance(node, SetOf) and isinstance(wanted, SetType):
            items = [self._coerce(item, wanted.item, item.span, item.type, wanted.item) for item in node.items]
            known = tuple(item for item in items if item is not None)
            return SetOf(wanted, node.span, known) if len(known) == len(items) else None
        if (isinstance(have, IdType) and is_number(wanted)) or (isinstance(wanted, IdType) and is_number(have)):
            identifier = have if isinstance(have, IdType) else wanted
            self._problems.error("E223", span, f"a `{identifier}` is no number: ids can only be compared with ids")
            return None
        self._problems.error("E220", span, f"`{whole}` is expected here, but this is `{found}`")
        return None

    def _optional(
        self, node: Expression, wanted: OptionalType, span: Span, found: Type, whole: Type
    ) -> Expression | None:
        assert isinstance(node.type, OptionalType)
        inner = self._coerce(Unwrap(node.type.value, node.span, node), wanted.value, span, found, whole)
        if inner is None:
            return None
        return Conditional(
            wanted,
            node.span,
            IsSome(BOOL, node.span, node),
            Coerce(wanted, node.span, inner),
            Literal(wanted, node.span, None),
        )

    def _number(self, node: Expression, wanted: Type) -> Expression | None:
        if isinstance(node, Literal) and isinstance(node.value, int):
            if isinstance(wanted, RangeType) and not wanted.low <= node.value <= wanted.high:
                self._problems.error("E221", node.span, f"{node.value} is outside {wanted}")
                return None
            return replace(node, type=wanted)
        if isinstance(node, Coerce) and isinstance(node.type, IntType) and is_number(node.base.type):
            return node.base if node.base.type == wanted else Coerce(wanted, node.span, node.base)
        return Coerce(wanted, node.span, node)

    def _tuple(
        self, node: Expression, have: TupleType, wanted: TupleType, span: Span, found: Type, whole: Type
    ) -> Expression | None:
        parts: list[Expression] = []
        for position, kind in enumerate(wanted.items):
            if isinstance(node, TupleOf):
                item = node.items[position]
                part = self._coerce(item, kind, item.span, item.type, kind)
            else:
                taken = Item(have.items[position], node.span, node, position)
                part = self._coerce(taken, kind, span, found, whole)
            if part is None:
                return None
            parts.append(part)
        return TupleOf(wanted, node.span, tuple(parts))

    def equal(self, left: Expression, right: Expression, span: Span) -> Expression | None:
        """`left == right`; None when the two can never be compared.

        Operands of one type, one of them possibly optional, give one Binary; integers of different ranges are first
        made `int`, also within tuples and optionals."""
        first, second = without_optional(left.type), without_optional(right.type)
        if first == second:
            return Binary(BOOL, span, Operator.EQUAL, left, right)
        if join(first, second) is None:
            return None
        some = [IsSome(BOOL, node.span, node) for node in (left, right) if isinstance(node.type, OptionalType)]
        if some:
            values = self.equal(_value(left), _value(right), span)
            if values is None:
                return None
            both: Expression = values
            for question in reversed(some):
                both = Binary(BOOL, span, Operator.AND, question, both)
            if len(some) == 1:
                return both
            neither = Binary(BOOL, span, Operator.AND, Not(BOOL, left.span, some[0]), Not(BOOL, right.span, some[1]))
            return Binary(BOOL, span, Operator.OR, neither, both)
        if isinstance(first, TupleType) and isinstance(second, TupleType):
            whole: Expression | None = None
            for position in range(len(first.items)):
                part = self.equal(_item(left, first, position), _item(right, second, position), span)
                if part is None:
                    return None
                whole = part if whole is None else Binary(BOOL, span, Operator.AND, whole, part)
            return whole
        a, b = self._number(left, INT), self._number(right, INT)
        return None if a is None or b is None else Binary(BOOL, span, Operator.EQUAL, a, b)


def _value(node: Expression) -> Expression:
    return Unwrap(node.type.value, node.span, node) if isinstance(node.type, OptionalType) else node


def _item(node: Expression, kind: TupleType, position: int) -> Expression:
    if isinstance(node, TupleOf):
        return node.items[position]
    return Item(kind.items[position], node.span, node, position)
