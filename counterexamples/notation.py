"""How values, places and expressions are written in the language.

What people read in a trace is what they could have written in the model: `Workflow#0`, `postgres.task[Workflow#0][1]`,
`forall w: Workflow. executed[w]`.  Nothing is escaped or shortened here; that is the terminal's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spec.event import Party, Slot
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
    Model,
    Negative,
    Next,
    Not,
    Operator,
    ProcessVariable,
    Quantifier,
    QueueQuery,
    QueueQuestion,
    RecordOf,
    Self,
    SetOf,
    StoreVariable,
    TupleOf,
    Unwrap,
)
from spec.value import Id, Member, Row, Table, Value

# ------------------------------------------------------------------------------------------------------------ values


def write_value(value: Value) -> str:
    """A value as a model would write it; a map, which has no literal, as `{key: value, ..}`."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case int() | Member() | Id():
            return str(value)
        case Row(kind, fields):
            return f"{kind}{{{', '.join(f'{name}: {write_value(item)}' for name, item in fields)}}}"
        case Table(entries):
            return "{" + ", ".join(f"{write_value(key)}: {write_value(item)}" for key, item in entries) + "}"
        case tuple():
            return "(" + ", ".join(map(write_value, value)) + ")"
        case frozenset():
            return "{" + ", ".join(map(write_value, sorted(value, key=rank))) + "}"


def rank(value: Value) -> tuple[object, ...]:
    """A sort key under which any two values compare: none, bools, numbers, members, ids, then what is built of them.

    Members sort by their names; values of one type otherwise sort as `spec.value.domain` lists them."""
    match value:
        case None:
            return (0,)
        case bool():
            return (1, value)
        case int():
            return (2, value)
        case Member(enum, name):
            return (3, enum, name)
        case Id(kind, index):
            return (4, kind, index)
        case tuple():
            return (5, len(value), tuple(map(rank, value)))
        case frozenset():
            return (6, len(value), tuple(sorted(map(rank, value))))
        case Row(kind, fields):
            return (7, kind, tuple((name, rank(item)) for name, item in fields))
        case Table(entries):
            return (8, tuple((rank(key), rank(item)) for key, item in entries))


def write_key(key: Value) -> str:
    """What stands between the brackets: the items of a tuple without parentheses."""
    return ", ".join(map(write_value, key)) if isinstance(key, tuple) else write_value(key)


def write_party(party: Party) -> str:
    return party.name if party.instance is None else f"{party.name}[{party.instance}]"


def write_slot(slot: Slot, places: int = 1) -> str:
    """`Server[0].sweep`; where the thread has several places, `Server[0].sweep[1]`."""
    return f"{slot.process}[{slot.instance}].{slot.thread}" + (f"[{slot.place}]" if places > 1 else "")


def places(model: Model, slot: Slot) -> int:
    """How many places the slot's thread has; 1 where the model has no such thread."""
    for process in model.processes:
        if process.name == slot.process:
            for thread in process.threads:
                if thread.name == slot.thread:
                    return thread.places
    return 1


# ------------------------------------------------------------------------------------------------------- expressions

_LEVEL = {
    Operator.IFF: 0,
    Operator.IMPLIES: 1,
    Operator.OR: 2,
    Operator.AND: 3,
    Operator.EQUAL: 5,
    Operator.UNEQUAL: 5,
    Operator.LESS: 5,
    Operator.AT_MOST: 5,
    Operator.GREATER: 5,
    Operator.AT_LEAST: 5,
    Operator.IN: 5,
    Operator.PLUS: 7,
    Operator.MINUS: 7,
    Operator.TIMES: 8,
    Operator.DIVIDE: 8,
    Operator.MODULO: 8,
}
_NOT, _IS, _UNARY, _ACCESS = 4, 6, 9, 10
_OPPOSITE = {Operator.EQUAL: Operator.UNEQUAL, Operator.UNEQUAL: Operator.EQUAL}
_ASSOCIATIVE = {Operator.AND, Operator.OR, Operator.PLUS, Operator.TIMES}


def write_expression(expression: Expression, names: Mapping[str, str] | None = None) -> str:
    """An expression in the language's own syntax, with as few parentheses as its precedence allows.

    names: what to write for a local or bound variable, by key; a key without a name is written itself.  The checker's
    conversions (Coerce, Unwrap) are not written, since they are not in the model's text either; a negated `==` is
    written `!=`, and the other way round."""
    return _write(expression, names or {}, -1)


def strip(expression: Expression) -> Expression:
    """The expression below the conversions that the type checker put around it."""
    while isinstance(expression, Coerce | Unwrap):
        expression = expression.base
    return expression


def _write(expression: Expression, names: Mapping[str, str], level: int) -> str:
    text, own = _pieces(expression, names)
    return text if own >= level else f"({text})"


def _pieces(expression: Expression, names: Mapping[str, str]) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""

    def sub(inner: Expression, level: int = 0) -> str:
        return _write(inner, names, level)

    match expression:
        case Coerce(base=base) | Unwrap(base=base):
            return _pieces(base, names)
        case Literal(value=value):
            negative = isinstance(value, int) and not isinstance(value, bool) and value < 0
            return write_value(value), _UNARY if negative else _ACCESS
        case Local(key=key):
            return names.get(key, key), _ACCESS
        case StoreVariable(store=store, name=name):
            return f"{store}.{name}", _ACCESS
        case ProcessVariable(name=name, instance=instance):
            return (name if instance is None else f"{sub(instance, _ACCESS)}.{name}"), _ACCESS
        case GhostVariable(name=name):
            return name, _ACCESS
        case Self():
            return "self", _ACCESS
        case Index(base=base, key=key):
            return f"{sub(base, _ACCESS)}[{_key(key, names)}]", _ACCESS
        case FieldAccess(base=base, name=name):
            return f"{sub(base, _ACCESS)}.{name}", _ACCESS
        case Item(base=base, position=position):
            return f"{sub(base, _ACCESS)}.{position}", _ACCESS
        case Next(base=base):
            return f"{sub(base, _ACCESS)}'", _ACCESS
        case IsSome(base=base):
            return f"{sub(base, _IS + 1)} is some", _IS
        case Not(base=base):
            inner = strip(base)
            if isinstance(inner, IsSome):
                return f"{sub(inner.base, _IS + 1)} is none", _IS
            if isinstance(inner, Binary) and inner.operator in _OPPOSITE:
                return _pieces(replace(inner, operator=_OPPOSITE[inner.operator]), names)
            return f"not {sub(base, _NOT)}", _NOT
        case Negative(base=base):
            return f"-{sub(base, _UNARY)}", _UNARY
        case Binary(operator=operator, left=left, right=right):
            own = _LEVEL[operator]
            chains = operator in _ASSOCIATIVE or own >= _LEVEL[Operator.PLUS]
            tail = own if operator in _ASSOCIATIVE or operator is Operator.IMPLIES else own + 1
            return f"{sub(left, own if chains else own + 1)} {operator.value} {sub(right, tail)}", own
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"if {sub(condition)} then {sub(then)} else {sub(otherwise)}", -1
        case Quantifier(quantity=quantity, key=key, name=name, over=over, body=body):
            inner_names = {**names, key: name}
            joint = " where " if quantity.value == "all" else ". "
            return f"{quantity.value} {name}: {over}{joint}{_write(body, inner_names, -1)}", -1
        case SetOf(items=items):
            return "{" + ", ".join(map(sub, items)) + "}", _ACCESS
        case TupleOf(items=items):
            return "(" + ", ".join(map(sub, items)) + ")", _ACCESS
        case RecordOf(type=kind, fields=fields):
            return f"{kind}{{{', '.join(f'{name}: {sub(item)}' for name, item in fields)}}}", _ACCESS
        case QueueQuery(store=store, queue=queue, question=QueueQuestion.SIZE):
            return f"{store}.{queue}.size", _ACCESS
        case QueueQuery(store=store, queue=queue, question=question, item=item):
            return f"{store}.{queue}.{question.value}({'' if item is None else sub(item, -1)})", _ACCESS
        case LockQuery(store=store, lock=lock, key=key):
            return f"{store}.{lock}.held({'' if key is None else sub(key, -1)})", _ACCESS


def _key(key: Expression, names: Mapping[str, str]) -> str:
    inner = strip(key)
    if isinstance(inner, TupleOf):
        return ", ".join(_write(item, names, -1) for item in inner.items)
    return _write(inner, names, -1)
