"""Operators: logic, comparison, arithmetic, sets, `in` and `is`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spec import syntax
from spec.checking.conversions import is_number, join, join_items, without_optional
from spec.checking.scope import Context
from spec.checking.type_resolution import is_key
from spec.checking.world import World
from spec.source import Span
from spec.typed import (
    Binary,
    Coerce,
    Expression,
    IsSome,
    Literal,
    Local,
    Negative,
    Not,
    Operator,
    Quantifier,
    Quantity,
    SetOf,
    Unwrap,
)
from spec.types import BOOL, INT, IdType, IntType, OptionalType, SetType, Type

if TYPE_CHECKING:
    from spec.checking.expressions import Expressions

_LOGICAL = (Operator.AND, Operator.OR, Operator.IMPLIES, Operator.IFF)
_OF_SETS = (Operator.PLUS, Operator.MINUS)
_ORDER = (Operator.LESS, Operator.AT_MOST, Operator.GREATER, Operator.AT_LEAST)


class Operators:
    """Types unary and binary operators."""

    def __init__(self, expressions: Expressions, world: World) -> None:
        self._expressions = expressions
        self._world = world
        self._problems = world.problems

    def infer(
        self, node: syntax.Not | syntax.Negative | syntax.Binary | syntax.Is, ctx: Context, hint: Type | None = None
    ) -> Expression | None:
        """The typed operation, or None after an error.  `hint`: the type that is hoped for."""
        match node:
            case syntax.Not(span=span, base=base):
                inner = self._expressions.check(base, ctx, BOOL)
                return None if inner is None else Not(BOOL, span, inner)
            case syntax.Negative(span=span, base=base):
                number = self._number(self._expressions.infer(base, ctx), "-")
                if isinstance(number, Literal) and isinstance(number.value, int):
                    return Literal(INT, span, -number.value)
                return None if number is None else Negative(INT, span, number)
            case syntax.Is():
                return self._is(node, ctx)
            case syntax.Binary(operator=operator):
                if operator in _LOGICAL:
                    left = self._expressions.check(node.left, ctx, BOOL)
                    right = self._expressions.check(node.right, ctx, BOOL)
                    if left is None or right is None:
                        return None
                    return Binary(BOOL, node.span, operator, left, right)
                if operator in (Operator.EQUAL, Operator.UNEQUAL):
                    return self._equality(node, ctx)
                if operator is Operator.IN:
                    return self._membership(node, ctx)
                return self._arithmetic(node, ctx, hint)

    def _is(self, node: syntax.Is, ctx: Context) -> Expression | None:
        inner = self._expressions.infer(node.base, ctx)
        if inner is None:
            return None
        if not isinstance(inner.type, OptionalType):
            always = "some" if node.some else "none"
            self._problems.error(
                "E235",
                node.span,
                f"`{inner.type}` is not optional, so `is {always}` is no question",
                fix="compare values",
            )
            return None
        question = IsSome(BOOL, node.span, inner)
        return question if node.some else Not(BOOL, node.span, question)

    def _number(self, node: Expression | None, operator: str) -> Expression | None:
        if node is None:
            return None
        kind = without_optional(node.type)
        if isinstance(kind, IdType):
            self._problems.error(
                "E223",
                node.span,
                f"`{operator}` needs numbers; ids of `{kind}` have no order and no arithmetic",
                fix="compare ids with `==` and `!=` only",
            )
            return None
        if not is_number(kind):
            self._problems.error("E224", node.span, f"`{operator}` needs numbers; this is `{node.type}`")
            return None
        return Unwrap(kind, node.span, node) if isinstance(node.type, OptionalType) else node

    def _arithmetic(self, node: syntax.Binary, ctx: Context, hoped: Type | None) -> Expression | None:
        sign = node.operator.value
        hint: Type | None = None if node.operator in _ORDER else INT
        if node.operator in _OF_SETS and hoped is not None and isinstance(without_optional(hoped), SetType):
            hint = without_optional(hoped)
        first, second = self._expressions.together((node.left, node.right), ctx, hint)
        sets = [isinstance(side.type, SetType) for side in (first, second) if side is not None]
        if node.operator in _OF_SETS and any(sets):
            return self._of_sets(node, first, second)
        left = self._number(first, sign)
        if left is None and first is not None:
            return None
        right = self._number(second, sign)
        if left is None or right is None:
            return None
        if node.operator not in _ORDER:
            return Binary(INT, node.span, node.operator, left, right)
        if left.type != right.type:
            left, right = _as_int(left), _as_int(right)
        return Binary(BOOL, node.span, node.operator, left, right)

    def _of_sets(self, node: syntax.Binary, left: Expression | None, right: Expression | None) -> Expression | None:
        """`s + t` and `s - t`, sets of the same items: what is in either, and what is in s and not in t."""
        if left is None or right is None:
            return None
        for side, other in ((left, right), (right, left)):
            if not isinstance(side.type, SetType):
                fix = f"write `{{{side.span.text}}}`" if join(side.type, _item(other.type)) is not None else None
                what = f"`{node.operator.value}` needs two sets here; this is `{side.type}`"
                self._problems.error("E224", side.span, what, fix=fix)
                return None
        wanted = right.type if isinstance(left, SetOf) else left.type
        around = join_items(_item(left.type), _item(right.type))
        if isinstance(left, SetOf) and isinstance(right, SetOf) and around is not None:
            wanted = SetType(around)
        first = self._expressions.conversions.coerce(left, wanted)
        second = self._expressions.conversions.coerce(right, wanted)
        if first is None or second is None:
            return None
        item, key = _item(wanted), self._world.bound_key("item")

        def among(members: Expression) -> Expression:
            return Binary(BOOL, node.span, Operator.IN, Local(item, node.span, key), members)

        added = node.operator is Operator.PLUS
        operator = Operator.OR if added else Operator.AND
        rest = among(second) if added else Not(BOOL, node.span, among(second))
        body = Binary(BOOL, node.span, operator, among(first), rest)
        return Quantifier(wanted, node.span, Quantity.ALL, key, "item", item, body)

    def _equality(self, node: syntax.Binary, ctx: Context) -> Expression | None:
        left, right = self._expressions.together((node.left, node.right), ctx, None)
        if left is None or right is None:
            return None
        for value, other in ((left, right), (right, left)):
            if isinstance(value, Literal) and value.value is None and not isinstance(other.type, OptionalType):
                self._problems.error("E220", node.span, f"`{other.type}` is never none; only optionals can be")
                return None
        equal = self._expressions.conversions.equal(left, right, node.span)
        if equal is None:
            self._incomparable(left.type, right.type, node.span)
            return None
        if node.operator is Operator.EQUAL:
            return equal
        if isinstance(equal, Binary) and equal.operator is Operator.EQUAL:
            return replace(equal, operator=Operator.UNEQUAL)
        return Not(BOOL, node.span, equal)

    def _incomparable(self, left: Type, right: Type, span: Span) -> None:
        first, second = without_optional(left), without_optional(right)
        if (isinstance(first, IdType) and is_number(second)) or (isinstance(second, IdType) and is_number(first)):
            self._problems.error("E223", span, f"`{left}` and `{right}` cannot be compared: ids are no numbers")
            return
        self._problems.error("E220", span, f"`{left}` and `{right}` cannot be compared")

    def _membership(self, node: syntax.Binary, ctx: Context) -> Expression | None:
        if isinstance(node.right, syntax.SetLiteral) and node.right.items:
            return self._in_literal(node, node.right, ctx)
        right = self._expressions.infer(node.right, ctx)
        hint = right.type.item if right is not None and isinstance(right.type, SetType) else None
        left = self._expressions.infer(node.left, ctx, hint)
        if left is None or right is None:
            return None
        if not isinstance(right.type, SetType):
            self._problems.error("E235", node.right.span, f"`in` needs a set; this is `{right.type}`")
            return None
        item = right.type.item
        if join(without_optional(left.type), item) is None:
            self._problems.error("E220", node.span, f"`{left.type}` cannot be in a `{right.type}`")
            return None
        wanted = OptionalType(item) if isinstance(left.type, OptionalType) else item
        converted = self._expressions.conversions.coerce(left, wanted)
        return None if converted is None else Binary(BOOL, node.span, Operator.IN, converted, right)

    def _in_literal(self, node: syntax.Binary, literal: syntax.SetLiteral, ctx: Context) -> Expression | None:
        """`e in {a, b}`.  Integers that are not all of e's type are compared one by one, since no set could hold them
        without leaving a range."""
        left, *items = self._expressions.together((node.left, *literal.items), ctx, None)
        known = [item for item in items if item is not None]
        if left is None or len(known) < len(items):
            return None
        kind = without_optional(left.type)
        if is_key(kind) and all(item.type == kind for item in known):
            members = SetOf(SetType(kind), literal.span, tuple(known))
            return Binary(BOOL, node.span, Operator.IN, left, members)
        result: Expression | None = None
        for item in known:
            if isinstance(item.type, OptionalType):
                self._problems.error("E220", item.span, f"an item of a set cannot be optional; this is `{item.type}`")
                return None
            equal = self._expressions.conversions.equal(left, item, node.span)
            if equal is None:
                self._incomparable(left.type, item.type, item.span)
                return None
            result = equal if result is None else Binary(BOOL, node.span, Operator.OR, result, equal)
        return result


def _item(kind: Type) -> Type:
    assert isinstance(kind, SetType)
    return kind.item


def _as_int(node: Expression) -> Expression:
    if isinstance(node.type, IntType):
        return node
    if isinstance(node, Literal):
        return replace(node, type=INT)
    return Coerce(INT, node.span, node)
