"""The value of an expression in a state (docs/language.md, "Evaluation")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from spec.state import ErrorKind, GlobalState, Loose
from spec.typed import (
    Binary,
    Coerce,
    Conditional,
    Expression,
    FieldAccess,
    GhostVariable,
    Index,
    IsSome,
    Item,
    Literal,
    Local,
    LockQuery,
    Negative,
    Next,
    Not,
    Operator,
    ProcessVariable,
    Quantifier,
    Quantity,
    QueueQuery,
    QueueQuestion,
    RecordOf,
    Self,
    SetOf,
    StoreVariable,
    TupleOf,
    Unwrap,
)
from spec.types import MapType, OptionalType, RangeType, RecordType, SetType, TupleType, Type
from spec.value import Id, Row, Table, Value, bounded, domain


class EvaluationError(Exception):
    """Evaluation came to a model error of this kind."""

    def __init__(self, kind: ErrorKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may read.  `instance` is the thread's own process instance (None in properties); `after` the
    state after the step, for step invariants."""

    state: GlobalState
    locals: Mapping[str, Value]
    instance: Id | None = None
    after: GlobalState | None = None


def evaluate(expression: Expression, scope: Scope) -> Value:
    """The value.  Raises EvaluationError where the language speaks of a model error."""
    match expression:
        case Literal():
            return expression.value
        case Local():
            return scope.locals[expression.key]
        case Index():
            table = cast(Table, evaluate(expression.base, scope))
            return table.get(evaluate(expression.key, scope))
        case StoreVariable():
            return scope.state.values[expression.store, expression.name]
        case Binary():
            return _binary(expression, scope)
        case FieldAccess():
            return cast(Row, evaluate(expression.base, scope)).get(expression.name)
        case Coerce():
            return fit(evaluate(expression.base, scope), expression.type)
        case Unwrap():
            value = evaluate(expression.base, scope)
            if value is None:
                raise EvaluationError(ErrorKind.NONE)
            return value
        case IsSome():
            return evaluate(expression.base, scope) is not None
        case Not():
            return not evaluate(expression.base, scope)
        case Quantifier():
            return _quantifier(expression, scope)
        case Conditional():
            chosen = expression.then if evaluate(expression.condition, scope) else expression.otherwise
            return evaluate(chosen, scope)
        case GhostVariable():
            return scope.state.ghosts[expression.name]
        case ProcessVariable():
            instance = _own(scope) if expression.instance is None else evaluate(expression.instance, scope)
            return scope.state.process_values[expression.process, cast(Id, instance).index, expression.name]
        case Self():
            return _own(scope)
        case Item():
            return cast("tuple[Value, ...]", evaluate(expression.base, scope))[expression.position]
        case Negative():
            return -cast(int, evaluate(expression.base, scope))
        case SetOf():
            return frozenset([evaluate(item, scope) for item in expression.items])
        case TupleOf():
            return tuple([evaluate(item, scope) for item in expression.items])
        case RecordOf():
            return Row(
                cast(RecordType, expression.type).name, tuple([(f, evaluate(e, scope)) for f, e in expression.fields])
            )
        case QueueQuery():
            return _ask_queue(expression, scope)
        case LockQuery():
            key = None if expression.key is None else evaluate(expression.key, scope)
            entries = scope.state.locks[expression.store, expression.lock].entries
            return any(k == key and holder is not Loose.FREE for k, holder, _ in entries)
        case Next():
            if scope.after is None:
                raise ValueError("a primed expression outside of a step invariant")
            return evaluate(expression.base, Scope(scope.after, scope.locals, scope.instance))


def fit(value: Value, kind: Type) -> Value:
    """`value` as a value of `kind`.  Raises EvaluationError(RANGE) when a range in it is left."""
    match kind:
        case RangeType(low, high):
            if not low <= cast(int, value) <= high:
                raise EvaluationError(ErrorKind.RANGE)
        case OptionalType(present):
            if value is not None:
                fit(value, present)
        case TupleType(items):
            for part, item in zip(cast("tuple[Value, ...]", value), items, strict=True):
                fit(part, item)
        case RecordType(_, fields):
            for (_, part), (_, field) in zip(cast(Row, value).fields, fields, strict=True):
                fit(part, field)
        case SetType(item):
            for part in cast("frozenset[Value]", value):
                fit(part, item)
        case MapType(_, entry):
            for _, part in cast(Table, value).entries:
                fit(part, entry)
        case _:
            pass
    return value


def _own(scope: Scope) -> Id:
    if scope.instance is None:
        raise ValueError("`self` outside of a process")
    return scope.instance


def _binary(expression: Binary, scope: Scope) -> Value:
    left = evaluate(expression.left, scope)
    operator = expression.operator
    match operator:
        case Operator.AND:
            return bool(left) and evaluate(expression.right, scope)
        case Operator.OR:
            return bool(left) or evaluate(expression.right, scope)
        case Operator.IMPLIES:
            return not left or evaluate(expression.right, scope)
        case _:
            pass
    right = evaluate(expression.right, scope)
    match operator:
        case Operator.EQUAL | Operator.IFF:
            return left == right
        case Operator.UNEQUAL:
            return left != right
        case Operator.IN:
            return left is not None and left in cast("frozenset[Value]", right)
        case _:
            return _arithmetic(operator, cast(int, left), cast(int, right))


def _arithmetic(operator: Operator, left: int, right: int) -> Value:
    match operator:
        case Operator.LESS:
            return left < right
        case Operator.AT_MOST:
            return left <= right
        case Operator.GREATER:
            return left > right
        case Operator.AT_LEAST:
            return left >= right
        case Operator.PLUS:
            return bounded(left + right)
        case Operator.MINUS:
            return bounded(left - right)
        case Operator.TIMES:
            return bounded(left * right)
        case Operator.DIVIDE | Operator.MODULO:
            if right == 0:
                raise EvaluationError(ErrorKind.DIVISION)
            return left // right if operator is Operator.DIVIDE else left % right
        case _:
            raise ValueError(f"{operator} is not arithmetic")


def _quantifier(expression: Quantifier, scope: Scope) -> Value:
    bound = dict(scope.locals)
    inner = Scope(scope.state, bound, scope.instance, scope.after)
    chosen: list[Value] = []
    count = 0
    for value in domain(expression.over):
        bound[expression.key] = value
        count += 1
        if evaluate(expression.body, inner):
            chosen.append(value)
    match expression.quantity:
        case Quantity.FORALL:
            return len(chosen) == count
        case Quantity.EXISTS:
            return bool(chosen)
        case Quantity.COUNT:
            return len(chosen)
        case Quantity.ALL:
            return frozenset(chosen)


def _ask_queue(expression: QueueQuery, scope: Scope) -> Value:
    entries = scope.state.queues[expression.store, expression.queue].entries
    if expression.item is None:
        return len(entries)
    item = evaluate(expression.item, scope)
    wanted = expression.question is QueueQuestion.VISIBLE
    return any(i == item and (h is Loose.VISIBLE or not wanted) for i, h in entries)
