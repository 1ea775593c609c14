"""Which part of a property broke, for which values of its quantified variables, and what stood in the state there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from counterexamples.notation import strip, write_expression, write_key, write_value
from spec.checking.trees import children
from spec.evaluation import EvaluationError, Scope, evaluate
from spec.state import ErrorKind, GlobalState
from spec.typed import (
    Binary,
    Coerce,
    Conditional,
    Expression,
    FieldAccess,
    GhostVariable,
    Index,
    Item,
    LockQuery,
    Next,
    Not,
    Operator,
    ProcessVariable,
    Quantifier,
    Quantity,
    QueueQuery,
    StoreVariable,
)
from spec.value import Value, domain

READINGS = 12
"""The most readings of one part; what is more is counted in `Blame.omitted`."""

INSTANCES = 6
"""The most instances of an `exists` without witness that are explained one by one."""


@dataclass(frozen=True)
class Reading:
    """A place that a part of the property looks at.

    text: as the property writes it (`postgres.workflow[w]`); path: with the values of its keys
    (`postgres.workflow[Workflow#0]`); value: what stood there; after: what stood there after the step, for a part
    that speaks of two states, in a tuple of one; else the empty tuple.
    """

    text: str
    path: str
    value: Value
    after: tuple[Value] | tuple[()] = ()


@dataclass(frozen=True)
class Blame:
    """Why an expression is as it is.

    text      the smallest part that alone decides
    holds     its value; None when evaluating it is an error (`error`)
    bindings  names and values of the quantified variables on the way to it: the instance of a `forall` that fails, the
              witness of an `exists`
    readings  what the part looks at, when it has no smaller causes
    omitted   how many further readings there are
    causes    the parts that together decide: the two sides of an implication, all sides of a false `or`, for an
              `exists` without witness every instance
    searched  the causes are the instances of an `exists` without witness
    """

    text: str
    holds: bool | None
    bindings: tuple[tuple[str, Value], ...] = ()
    readings: tuple[Reading, ...] = ()
    omitted: int = 0
    causes: tuple[Blame, ...] = ()
    searched: bool = False
    error: ErrorKind | None = None


def blame(
    condition: Expression,
    state: GlobalState,
    after: GlobalState | None = None,
    bound: Mapping[str, tuple[str, Value]] | None = None,
) -> Blame:
    """Explains the value of a condition in a state, or of a condition about the step from `state` to `after`, in which
    case readings tell both values.

    bound: name and value of the variables, by key, that are bound outside of the condition.

    Of several failing instances or conjuncts the first in evaluation order is blamed; an instance whose evaluation is
    an error comes before one that is false, as it does in the language."""
    outer = bound or {}
    values, names = {key: value for key, (_, value) in outer.items()}, {key: name for key, (name, _) in outer.items()}
    return _Walk(state, after).explain(condition, values, names)


@dataclass(frozen=True)
class _Walk:
    state: GlobalState
    after: GlobalState | None

    def explain(self, e: Expression, bound: Mapping[str, Value], names: Mapping[str, str]) -> Blame:
        value = self._value(e, bound)
        if isinstance(value, ErrorKind):
            return self._error(e, value, bound, names)
        holds = value is True
        match e:
            case Coerce(base=base):
                return self.explain(base, bound, names)
            case Not(base=base) if not _is_leaf(base):
                return self.explain(base, bound, names)
            case Binary(operator=Operator.AND | Operator.OR | Operator.IMPLIES, left=left, right=right):
                parts = _operands(e, holds)
                if len(parts) > 1:
                    return self._together(e, holds, parts, bound, names)
                left_holds = self._value(left, bound) is True
                left_decides = left_holds if e.operator is Operator.OR else not left_holds
                return self.explain(left if left_decides else right, bound, names)
            case Binary(operator=Operator.IFF, left=left, right=right):
                return self._together(e, holds, (left, right), bound, names)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                branch = then if self._value(condition, bound) is True else otherwise
                return self._together(e, holds, (condition, branch), bound, names)
            case Quantifier(quantity=Quantity.FORALL | Quantity.EXISTS):
                return self._quantifier(e, holds, bound, names)
        return self._leaf(e, holds, bound, names)

    def _value(self, e: Expression, bound: Mapping[str, Value]) -> Value | ErrorKind:
        try:
            return evaluate(e, Scope(self.state, bound, None, self.after))
        except EvaluationError as error:
            return error.kind

    def _together(
        self,
        e: Expression,
        holds: bool,
        parts: tuple[Expression, ...],
        bound: Mapping[str, Value],
        names: Mapping[str, str],
    ) -> Blame:
        causes = tuple(self.explain(part, bound, names) for part in parts)
        return Blame(write_expression(e, names), holds, causes=causes)

    def _quantifier(self, e: Quantifier, holds: bool, bound: Mapping[str, Value], names: Mapping[str, str]) -> Blame:
        inner = {**names, e.key: e.name}
        decisive = e.quantity is Quantity.EXISTS
        instances = tuple(domain(e.over))
        if holds is decisive:
            for value in instances:
                if self._value(e.body, {**bound, e.key: value}) is decisive:
                    return self._instance(e, value, bound, inner)
        if not holds and 0 < len(instances) <= INSTANCES:
            causes = tuple(self._instance(e, value, bound, inner) for value in instances)
            return Blame(write_expression(e, names), holds, causes=causes, searched=True)
        return self._leaf(e, holds, bound, names)

    def _instance(self, e: Quantifier, value: Value, bound: Mapping[str, Value], names: Mapping[str, str]) -> Blame:
        found = self.explain(e.body, {**bound, e.key: value}, names)
        return replace(found, bindings=((e.name, value), *found.bindings))

    def _error(self, e: Expression, kind: ErrorKind, bound: Mapping[str, Value], names: Mapping[str, str]) -> Blame:
        """Goes down to the first part whose evaluation is the error."""
        if isinstance(e, Quantifier):
            for value in domain(e.over):
                if isinstance(self._value(e.body, {**bound, e.key: value}), ErrorKind):
                    found = self.explain(e.body, {**bound, e.key: value}, {**names, e.key: e.name})
                    return replace(found, bindings=((e.name, value), *found.bindings))
        if not isinstance(e, Next):
            for part in _parts(e):
                found_kind = self._value(part, bound)
                if isinstance(found_kind, ErrorKind):
                    if isinstance(e, Binary | Not | Conditional | Coerce):
                        return self.explain(part, bound, names)
                    break
        readings, omitted = self._readings(e, bound, names)
        return Blame(write_expression(e, names), None, readings=readings, omitted=omitted, error=kind)

    def _leaf(self, e: Expression, holds: bool, bound: Mapping[str, Value], names: Mapping[str, str]) -> Blame:
        readings, omitted = self._readings(e, bound, names)
        return Blame(write_expression(e, names), holds, readings=readings, omitted=omitted)

    # -------------------------------------------------------------------------------------------------- readings

    def _readings(
        self, e: Expression, bound: Mapping[str, Value], names: Mapping[str, str]
    ) -> tuple[tuple[Reading, ...], int]:
        found = tuple(dict.fromkeys(self._looks(e, bound, names)))
        return found[:READINGS], max(0, len(found) - READINGS)

    def _looks(self, e: Expression, bound: Mapping[str, Value], names: Mapping[str, str]) -> Iterator[Reading]:
        """The places that evaluating `e` looks at, each with its value; those without one are left out."""
        if isinstance(e, Quantifier):
            if e.quantity in (Quantity.COUNT, Quantity.ALL):
                yield from self._reading(e, bound, names)
            for value in domain(e.over):
                yield from self._looks(e.body, {**bound, e.key: value}, {**names, e.key: e.name})
            return
        access = _unprimed(e)
        if _is_access(access):
            yield from self._reading(access, bound, names)
            for key in _keys(access):
                yield from self._looks(key, bound, names)
            return
        for part in _parts(e):
            yield from self._looks(part, bound, names)

    def _reading(self, e: Expression, bound: Mapping[str, Value], names: Mapping[str, str]) -> Iterator[Reading]:
        value = self._value(e, bound)
        if isinstance(value, ErrorKind):
            inner = _base(e)
            if inner is not None and _is_access(inner):
                yield from self._reading(strip(inner), bound, names)
            return
        after: tuple[Value] | tuple[()] = ()
        if self.after is not None:
            later = self._value(Next(e.type, e.span, e), bound)
            after = () if isinstance(later, ErrorKind) else (later,)
        yield Reading(write_expression(e, names), self._path(e, bound, names), value, after)

    def _path(self, e: Expression, bound: Mapping[str, Value], names: Mapping[str, str]) -> str:
        match strip(e):
            case Index(base=base, key=key):
                return f"{self._path(base, bound, names)}[{self._written(key, bound, names, write_key)}]"
            case FieldAccess(base=base, name=name):
                return f"{self._path(base, bound, names)}.{name}"
            case Item(base=base, position=position):
                return f"{self._path(base, bound, names)}.{position}"
            case ProcessVariable(name=name, instance=instance) if instance is not None:
                return f"{self._written(instance, bound, names, write_value)}.{name}"
            case QueueQuery(store=store, queue=queue, question=question, item=item) if item is not None:
                return f"{store}.{queue}.{question.value}({self._written(item, bound, names, write_value)})"
            case LockQuery(store=store, lock=lock, key=key) if key is not None:
                return f"{store}.{lock}.held({self._written(key, bound, names, write_value)})"
            case other:
                return write_expression(other, names)

    def _written(
        self, e: Expression, bound: Mapping[str, Value], names: Mapping[str, str], write: Callable[[Value], str]
    ) -> str:
        value = self._value(e, bound)
        return write_expression(e, names) if isinstance(value, ErrorKind) else write(value)


def _is_leaf(e: Expression) -> bool:
    """Whether nothing smaller than `e` can be blamed."""
    match strip(e):
        case Not(base=base):
            return _is_leaf(base)
        case Binary(operator=Operator.AND | Operator.OR | Operator.IMPLIES | Operator.IFF):
            return False
        case Quantifier(quantity=Quantity.FORALL | Quantity.EXISTS) | Conditional():
            return False
        case _:
            return True


def _operands(e: Expression, holds: bool) -> tuple[Expression, ...]:
    """The parts that only together give a condition its value, taken apart as far as that goes: all of a true
    conjunction, all of a false disjunction, both sides of a false implication; else the condition itself."""
    match e:
        case Binary(operator=Operator.AND, left=left, right=right) if holds:
            return (*_operands(left, True), *_operands(right, True))
        case Binary(operator=Operator.OR, left=left, right=right) if not holds:
            return (*_operands(left, False), *_operands(right, False))
        case Binary(operator=Operator.IMPLIES, left=left, right=right) if not holds:
            return (*_operands(left, True), *_operands(right, False))
        case Not(base=base) if not _is_leaf(base):
            return _operands(base, not holds)
        case Coerce(base=base):
            return _operands(base, holds)
    return (e,)


def _unprimed(e: Expression) -> Expression:
    e = strip(e)
    while isinstance(e, Next):
        e = strip(e.base)
    return e


def _is_access(e: Expression) -> bool:
    """Whether `e` names a place of the state, or asks a queue or lock."""
    match strip(e):
        case StoreVariable() | ProcessVariable() | GhostVariable() | QueueQuery() | LockQuery():
            return True
        case Index(base=base) | FieldAccess(base=base) | Item(base=base):
            return _is_access(base)
        case _:
            return False


def _base(e: Expression) -> Expression | None:
    match e:
        case Index(base=base) | FieldAccess(base=base) | Item(base=base):
            return base
        case _:
            return None


def _keys(e: Expression) -> Iterator[Expression]:
    """The expressions between an access's brackets."""
    match strip(e):
        case Index(base=base, key=key):
            yield from _keys(base)
            yield key
        case FieldAccess(base=base) | Item(base=base):
            yield from _keys(base)
        case ProcessVariable(instance=instance) if instance is not None:
            yield instance
        case QueueQuery(item=item) if item is not None:
            yield item
        case LockQuery(key=key) if key is not None:
            yield key


def _parts(e: Expression) -> tuple[Expression, ...]:
    """The direct subexpressions, in evaluation order; none below a quantifier, whose variable needs a value first."""
    return () if isinstance(e, Quantifier) else children(e)
