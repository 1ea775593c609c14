"""Evaluation of closed typed expressions: constants, initial values, conditions without state."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spec.typed import (
    Binary,
    Coerce,
    Conditional,
    Expression,
    FieldAccess,
    Index,
    IsSome,
    Item,
    Literal,
    Local,
    Negative,
    Not,
    Operator,
    Quantifier,
    Quantity,
    RecordOf,
    SetOf,
    TupleOf,
    Unwrap,
)
from spec.types import RangeType
from spec.value import NumberLimit, Row, Table, Value, bounded, domain

_STEPS = 200_000


class NotConstant(Exception):
    """The expression reads state or a local, or has no value; `args[0]` says which."""


class Evaluation:
    """One evaluation, with a budget of steps so that nested quantifiers cannot hang the checker."""

    def __init__(self, budget: int = _STEPS) -> None:
        self._left = budget

    def value(self, node: Expression, env: Mapping[str, Value]) -> Value:
        """The value of `node` where locals have the values in `env`.  Raises NotConstant."""
        self._left -= 1
        if self._left < 0:
            raise NotConstant("it takes too long to evaluate")
        match node:
            case Literal(value=constant):
                return constant
            case Local(key=key):
                if key not in env:
                    raise NotConstant("it depends on a variable")
                return env[key]
            case Index(base=base, key=index):
                table = self.value(base, env)
                assert isinstance(table, Table)
                return table.get(self.value(index, env))
            case FieldAccess(base=base, name=name):
                row = self.value(base, env)
                assert isinstance(row, Row)
                return row.get(name)
            case Item(base=base, position=position):
                items = self.value(base, env)
                assert isinstance(items, tuple)
                return items[position]
            case Unwrap(base=base):
                inner = self.value(base, env)
                if inner is None:
                    raise NotConstant("it takes the value of none")
                return inner
            case IsSome(base=base):
                return self.value(base, env) is not None
            case Not(base=base):
                return not self.value(base, env)
            case Negative(base=base):
                return -_number(self.value(base, env))
            case Coerce(base=base, type=kind):
                inner = self.value(base, env)
                if isinstance(kind, RangeType) and not kind.low <= _number(inner) <= kind.high:
                    raise NotConstant(f"{inner} is outside {kind}")
                return inner
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                return self.value(then if self.value(condition, env) else otherwise, env)
            case SetOf(items=parts):
                return frozenset(self.value(part, env) for part in parts)
            case TupleOf(items=parts):
                return tuple(self.value(part, env) for part in parts)
            case RecordOf(fields=fields, type=kind):
                return Row(str(kind), tuple((name, self.value(value, env)) for name, value in fields))
            case Binary():
                return self._binary(node, env)
            case Quantifier():
                return self._quantifier(node, env)
            case _:
                raise NotConstant("it reads state")

    def _binary(self, node: Binary, env: Mapping[str, Value]) -> Value:
        left = self.value(node.left, env)
        match node.operator:
            case Operator.AND:
                return bool(left) and bool(self.value(node.right, env))
            case Operator.OR:
                return bool(left) or bool(self.value(node.right, env))
            case Operator.IMPLIES:
                return not left or bool(self.value(node.right, env))
        right = self.value(node.right, env)
        match node.operator:
            case Operator.IFF | Operator.EQUAL:
                return left == right
            case Operator.UNEQUAL:
                return left != right
            case Operator.IN:
                assert isinstance(right, frozenset)
                return left is not None and left in right
        if right == 0 and node.operator in (Operator.DIVIDE, Operator.MODULO):
            raise NotConstant("it divides by zero")
        try:
            return _ARITHMETIC[node.operator](_number(left), _number(right))
        except NumberLimit as limit:
            raise NotConstant(str(limit)) from None

    def _quantifier(self, node: Quantifier, env: Mapping[str, Value]) -> Value:
        values = tuple(domain(node.over))
        found = [value for value in values if self.value(node.body, {**env, node.key: value})]
        match node.quantity:
            case Quantity.FORALL:
                return len(found) == len(values)
            case Quantity.EXISTS:
                return bool(found)
            case Quantity.COUNT:
                return len(found)
            case Quantity.ALL:
                return frozenset(found)


_ARITHMETIC: Mapping[Operator, Callable[[int, int], Value]] = {
    Operator.LESS: lambda a, b: a < b,
    Operator.AT_MOST: lambda a, b: a <= b,
    Operator.GREATER: lambda a, b: a > b,
    Operator.AT_LEAST: lambda a, b: a >= b,
    Operator.PLUS: lambda a, b: bounded(a + b),
    Operator.MINUS: lambda a, b: bounded(a - b),
    Operator.TIMES: lambda a, b: bounded(a * b),
    Operator.DIVIDE: lambda a, b: a // b,
    Operator.MODULO: lambda a, b: a % b,
}


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value


def evaluate(node: Expression, env: Mapping[str, Value] | None = None) -> Value:
    """The value of a closed expression.  Raises NotConstant when it has none."""
    return Evaluation().value(node, env or {})
