"""Expressions to symbolic values.

An evaluator reads variables through a `Reader` and collects, apart, the formula of the states in which the
expression is undefined (a model error), respecting the short circuits of `and`, `or`, `=>` and `if`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import Final, Protocol

from checker.logic.formula import (
    FALSE,
    TRUE,
    Formula,
    Variable,
    choose,
    conjunction,
    disjunction,
    iff,
    implies,
    member,
    negate,
)
from checker.lowering.layout import Beyond, Leaf, MapNode, Node, OptionalNode, RecordNode, SetNode, TupleNode
from checker.lowering.model_layout import EMPTY, BagQueue, FifoQueue, ModelLayout, QueueNode, SetQueue
from checker.lowering.symbolic import (
    Items,
    Map,
    Maybe,
    Members,
    Record,
    Scalar,
    Symbolic,
    Truth,
    arithmetic,
    as_integer,
    compare,
    constant,
    equal,
    from_cases,
    matches,
    merge,
    scalar,
    total,
)
from spec import typed
from spec.state import Loose
from spec.typed import Expression, Operator, Quantity, QueueQuestion
from spec.types import (
    BoolType,
    MapType,
    OptionalType,
    RangeType,
    RecordType,
    SetType,
    TupleType,
    Type,
)
from spec.value import Id, Value, domain


class Reader(Protocol):
    """Where values come from: the state before a step, or what a step has made of it so far."""

    def codes(self, variable: Variable, primed: bool) -> Mapping[int, Formula]:
        """Each code that the variable may have, with the condition for it; conditions exclude each other."""
        ...

    def concrete(self, symbolic: Symbolic) -> Symbolic:
        """The same value, possibly narrowed to one case by splitting the states."""
        ...


class PropertyReader:
    """Reads any state; for the expressions of properties."""

    def codes(self, variable: Variable, primed: bool) -> Mapping[int, Formula]:
        return {code: member(variable, 1 << code, primed) for code in range(variable.size)}

    def concrete(self, symbolic: Symbolic) -> Symbolic:
        return symbolic


ARITHMETIC: Final[Mapping[Operator, Callable[[int, int], int]]] = {
    Operator.PLUS: operator.add,
    Operator.MINUS: operator.sub,
    Operator.TIMES: operator.mul,
    Operator.DIVIDE: operator.floordiv,
    Operator.MODULO: operator.mod,
}

ORDER: Final[Mapping[Operator, Callable[[int, int], bool]]] = {
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.GREATER: operator.gt,
    Operator.AT_LEAST: operator.ge,
}


def bottom(kind: Type) -> Symbolic:
    """A value that covers no state."""
    match kind:
        case BoolType():
            return Truth(FALSE)
        case OptionalType():
            return Maybe(FALSE, None)
        case RecordType(name, fields):
            return Record(name, {f: bottom(t) for f, t in fields})
        case TupleType(items):
            return Items(tuple(map(bottom, items)))
        case MapType(key, value):
            return Map({k: bottom(value) for k in domain(key)})
        case SetType(item):
            return Members(dict.fromkeys(domain(item), FALSE))
        case _:
            return Scalar({})


class Evaluator:
    """bindings: values of locals and bound variables by key; own: the thread's process instance, if any."""

    def __init__(
        self, layout: ModelLayout, reader: Reader, bindings: Mapping[str, Symbolic] | None = None, own: Id | None = None
    ) -> None:
        self.layout = layout
        self.reader = reader
        self.bindings: dict[str, Symbolic] = dict(bindings or {})
        self.own = own
        self.undefined: Formula = FALSE
        self._reached: Formula = TRUE
        self._primed = False

    # ----------------------------------------------------------------------------------------------- reading

    def read(self, node: Node) -> Symbolic:
        match node:
            case Leaf():
                known = self.reader.codes(node.variable, self._primed)
                values = node.variable.values
                return from_cases(
                    node.type,
                    [(values[c], f) for c, f in known.items() if not isinstance(values[c], Beyond)],  # type: ignore[misc]
                )
            case MapNode():
                return Map({k: self.read(child) for k, child in node.entries.items()})
            case RecordNode():
                return Record(node.type.name, {f: self.read(child) for f, child in node.fields.items()})
            case TupleNode():
                return Items(tuple(self.read(child) for child in node.items))
            case OptionalNode():
                present = self.truth_of(node.present)
                return Maybe(present, None if present is FALSE else self.read(node.value))
            case SetNode():
                return Members({x: self.truth_of(v) for x, v in node.members.items()})

    def truth_of(self, variable: Variable, code: int = 1) -> Formula:
        return self.reader.codes(variable, self._primed).get(code, FALSE)

    def fail(self, where: Formula) -> None:
        """The expression is undefined in these states."""
        self.undefined = disjunction((self.undefined, conjunction((self._reached, where))))

    @contextmanager
    def _only(self, where: Formula):  # type: ignore[no-untyped-def]
        before = self._reached
        self._reached = conjunction((before, where))
        yield
        self._reached = before

    # -------------------------------------------------------------------------------------------- evaluation

    def truth(self, expression: Expression) -> Formula:
        value = self.value(expression)
        assert isinstance(value, Truth)
        return value.formula

    def value(self, expression: Expression) -> Symbolic:
        found = self._resolve(expression)
        return self.read(found) if isinstance(found, _NODES) else found

    def _resolve(self, expression: Expression) -> Node | Symbolic:
        """The variables that an access path names where that is known, else the value."""
        match expression:
            case typed.StoreVariable():
                return self.layout.values[expression.store, expression.name]
            case typed.GhostVariable():
                return self.layout.ghosts[expression.name]
            case typed.ProcessVariable():
                return self._process_variable(expression)
            case typed.Index():
                return self._index(expression)
            case typed.FieldAccess():
                base = self._resolve(expression.base)
                if isinstance(base, RecordNode):
                    return base.fields[expression.name]
                value = self._read(base)
                assert isinstance(value, Record)
                return value.fields[expression.name]
            case _:
                return self._value(expression)

    def _read(self, found: Node | Symbolic) -> Symbolic:
        return self.read(found) if isinstance(found, _NODES) else found

    def _process_variable(self, expression: typed.ProcessVariable) -> Node | Symbolic:
        if expression.instance is None:
            assert self.own is not None
            return self.layout.process_values[expression.process, self.own.index, expression.name]
        instance = self.reader.concrete(self.value(expression.instance))
        assert isinstance(instance, Scalar)
        nodes = [
            (condition, self.layout.process_values[expression.process, value.index, expression.name])
            for value, condition in instance.cases.items()
            if isinstance(value, Id)
        ]
        if len(nodes) == 1:
            return nodes[0][1]
        if not nodes:
            return bottom(expression.type)
        return merge([(condition, self.read(node)) for condition, node in nodes])

    def _index(self, expression: typed.Index) -> Node | Symbolic:
        base = self._resolve(expression.base)
        key = self.reader.concrete(self.value(expression.key))
        of = expression.base.type
        assert isinstance(of, MapType)
        options = [(value, f) for value in domain(of.key) if (f := matches(key, value)) is not FALSE]
        if not options:
            return bottom(expression.type)
        if isinstance(base, MapNode):
            if len(options) == 1:
                return base.entries[options[0][0]]
            return merge([(f, self.read(base.entries[value])) for value, f in options])
        value = self._read(base)
        assert isinstance(value, Map)
        if len(options) == 1:
            return value.entries[options[0][0]]
        return merge([(f, value.entries[k]) for k, f in options])

    def _value(self, expression: Expression) -> Symbolic:
        match expression:
            case typed.Literal():
                return constant(expression.value, expression.type)
            case typed.Local():
                return self.bindings[expression.key]
            case typed.Self():
                assert self.own is not None
                return Scalar({self.own: TRUE})
            case typed.Item():
                base = self.value(expression.base)
                assert isinstance(base, Items)
                return base.items[expression.position]
            case typed.Unwrap():
                base = self.value(expression.base)
                assert isinstance(base, Maybe)
                self.fail(negate(base.present))
                return bottom(expression.type) if base.value is None else base.value
            case typed.IsSome():
                base = self.value(expression.base)
                assert isinstance(base, Maybe)
                return Truth(base.present)
            case typed.Not():
                return Truth(negate(self.truth(expression.base)))
            case typed.Negative():
                number = self._number(expression.base)
                return scalar((-as_integer(v), f) for v, f in number.cases.items())
            case typed.Binary():
                return self._binary(expression)
            case typed.Conditional():
                condition = self.truth(expression.condition)
                with self._only(condition):
                    then = self.value(expression.then)
                with self._only(negate(condition)):
                    otherwise = self.value(expression.otherwise)
                return merge_choice(condition, then, otherwise)
            case typed.Quantifier():
                return self._quantifier(expression)
            case typed.SetOf():
                assert isinstance(expression.type, SetType)
                items = [self.value(item) for item in expression.items]
                return Members(
                    {x: disjunction(matches(item, x) for item in items) for x in domain(expression.type.item)}
                )
            case typed.TupleOf():
                return Items(tuple(self.value(item) for item in expression.items))
            case typed.RecordOf():
                assert isinstance(expression.type, RecordType)
                return Record(expression.type.name, {f: self.value(e) for f, e in expression.fields})
            case typed.QueueQuery():
                return self._queue_query(expression)
            case typed.LockQuery():
                return self._lock_query(expression)
            case typed.Coerce():
                return self._coerce(self.value(expression.base), expression.type)
            case typed.Next():
                assert not self._primed
                self._primed = True
                value = self.value(expression.base)
                self._primed = False
                return value
            case _:
                raise TypeError(f"{type(expression).__name__} is a place, not a value")

    def _number(self, expression: Expression) -> Scalar:
        value = self.value(expression)
        assert isinstance(value, Scalar)
        return value

    def _binary(self, expression: typed.Binary) -> Symbolic:
        match expression.operator:
            case Operator.AND:
                left = self.truth(expression.left)
                with self._only(left):
                    return Truth(conjunction((left, self.truth(expression.right))))
            case Operator.OR:
                left = self.truth(expression.left)
                with self._only(negate(left)):
                    return Truth(disjunction((left, self.truth(expression.right))))
            case Operator.IMPLIES:
                left = self.truth(expression.left)
                with self._only(left):
                    return Truth(implies(left, self.truth(expression.right)))
            case Operator.IFF:
                return Truth(iff(self.truth(expression.left), self.truth(expression.right)))
            case Operator.EQUAL:
                return Truth(equal(self.value(expression.left), self.value(expression.right)))
            case Operator.UNEQUAL:
                return Truth(negate(equal(self.value(expression.left), self.value(expression.right))))
            case Operator.IN:
                return Truth(self._membership(expression))
            case kind if kind in ORDER:
                return Truth(compare(self._number(expression.left), self._number(expression.right), ORDER[kind]))
            case kind:
                left_number, right_number = self._number(expression.left), self._number(expression.right)
                if kind in (Operator.DIVIDE, Operator.MODULO):
                    zero = right_number.cases.get(0, FALSE)
                    self.fail(zero)
                    right_number = Scalar({v: f for v, f in right_number.cases.items() if v != 0})
                return arithmetic(left_number, right_number, ARITHMETIC[kind])

    def _membership(self, expression: typed.Binary) -> Formula:
        left = self.value(expression.left)
        if isinstance(expression.right, typed.SetOf):
            found = [equal(left, self.value(item)) for item in expression.right.items]
            if isinstance(left, Maybe):
                found = [conjunction((left.present, f)) for f in found]
            return disjunction(found)
        right = self.value(expression.right)
        assert isinstance(right, Members)
        return disjunction(conjunction((f, matches(left, x))) for x, f in right.members.items() if f is not FALSE)

    def _quantifier(self, expression: typed.Quantifier) -> Symbolic:
        found: dict[Value, Formula] = {}
        for value in domain(expression.over):
            self.bindings[expression.key] = constant(value, expression.over)
            found[value] = self.truth(expression.body)
        del self.bindings[expression.key]
        match expression.quantity:
            case Quantity.FORALL:
                return Truth(conjunction(found.values()))
            case Quantity.EXISTS:
                return Truth(disjunction(found.values()))
            case Quantity.COUNT:
                return total(found.values())
            case Quantity.ALL:
                return Members(found)

    def _coerce(self, value: Symbolic, kind: Type) -> Symbolic:
        match kind:
            case OptionalType(inner):
                if isinstance(value, Maybe):
                    if value.value is None:
                        return value
                    with self._only(value.present):
                        return Maybe(value.present, self._coerce(value.value, inner))
                return Maybe(TRUE, self._coerce(value, inner))
            case RangeType(low, high) if isinstance(value, Scalar):
                outside = [f for v, f in value.cases.items() if not low <= as_integer(v) <= high]
                if not outside:
                    return value
                self.fail(disjunction(outside))
                return Scalar({v: f for v, f in value.cases.items() if low <= as_integer(v) <= high})
            case TupleType(items) if isinstance(value, Items):
                return Items(tuple(self._coerce(v, t) for v, t in zip(value.items, items, strict=True)))
            case SetType(item) if isinstance(value, Members):
                wanted = tuple(domain(item))
                for x, f in value.members.items():
                    if x not in wanted:
                        self.fail(f)
                return Members({x: value.members.get(x, FALSE) for x in wanted})
            case _:
                return value

    # -------------------------------------------------------------------------------------- queues and locks

    def _queue_query(self, expression: typed.QueueQuery) -> Symbolic:
        node = self.layout.queues[expression.store, expression.queue]
        if expression.question is QueueQuestion.SIZE:
            return self._size(node)
        assert expression.item is not None
        item = self.reader.concrete(self.value(expression.item))
        ask = self.contains if expression.question is QueueQuestion.CONTAINS else self.visible
        items = self._items(node)
        return Truth(disjunction(conjunction((f, ask(node, x))) for x in items if (f := matches(item, x)) is not FALSE))

    @staticmethod
    def _items(node: QueueNode) -> tuple[Value, ...]:
        match node:
            case SetQueue(items):
                return tuple(items)
            case BagQueue(counts, _):
                return tuple(counts)
            case FifoQueue(cells):
                return tuple(dict.fromkeys(v[0] for v in cells[0].values if isinstance(v, tuple)))

    def contains(self, node: QueueNode, item: Value) -> Formula:
        match node:
            case SetQueue(items):
                return negate(self.truth_of(items[item], 0))
            case BagQueue(counts, _):
                return disjunction(negate(self.truth_of(v, 0)) for v in counts[item].values())
            case FifoQueue(cells):
                return disjunction(self.cell(cell, item, None) for cell in cells)

    def visible(self, node: QueueNode, item: Value) -> Formula:
        match node:
            case SetQueue(items):
                return self.truth_of(items[item], items[item].values.index(Loose.VISIBLE))
            case BagQueue(counts, _):
                return negate(self.truth_of(counts[item][Loose.VISIBLE], 0))
            case FifoQueue(cells):
                return disjunction(self.cell(cell, item, Loose.VISIBLE) for cell in cells)

    def cell(self, cell: Variable, item: Value, holder: object) -> Formula:
        """Where a cell of a fifo has the item, held by `holder` (None: by anyone)."""
        known = self.reader.codes(cell, self._primed)
        return disjunction(
            f
            for code, f in known.items()
            if isinstance(content := cell.values[code], tuple)
            and content[0] == item
            and (holder is None or content[1] == holder)
        )

    def _size(self, node: QueueNode) -> Symbolic:
        match node:
            case SetQueue(items):
                return total(negate(self.truth_of(v, 0)) for v in items.values())
            case BagQueue(counts, _):
                size = Scalar({0: TRUE})
                for parts in counts.values():
                    for variable in parts.values():
                        number = scalar((c, f) for c, f in self.reader.codes(variable, self._primed).items())
                        size = arithmetic(size, number, operator.add)
                return size
            case FifoQueue(cells):
                return total(negate(self.truth_of(cell, cell.values.index(EMPTY))) for cell in cells)

    def _lock_query(self, expression: typed.LockQuery) -> Symbolic:
        node = self.layout.locks[expression.store, expression.lock]
        if expression.key is None:
            return Truth(negate(self.truth_of(node.holders[None], 0)))
        key = self.reader.concrete(self.value(expression.key))
        return Truth(
            disjunction(
                conjunction((f, negate(self.truth_of(v, 0))))
                for k, v in node.holders.items()
                if (f := matches(key, k)) is not FALSE
            )
        )


_NODES = (Leaf, MapNode, RecordNode, TupleNode, OptionalNode, SetNode)


def merge_choice(condition: Formula, then: Symbolic, otherwise: Symbolic) -> Symbolic:
    if isinstance(then, Truth) and isinstance(otherwise, Truth):
        return Truth(choose(condition, then.formula, otherwise.formula))
    return (
        merge([(condition, then), (negate(condition), otherwise)])
        if condition not in (TRUE, FALSE)
        else (then if condition is TRUE else otherwise)
    )
