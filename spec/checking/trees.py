"""Walking and rebuilding typed expressions, and what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

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
    ProcessVariable,
    Quantifier,
    QueueQuery,
    RecordOf,
    Self,
    SetOf,
    StoreVariable,
    TupleOf,
    Unwrap,
)


def children(node: Expression) -> tuple[Expression, ...]:
    """The direct parts of an expression, in the order of evaluation."""
    match node:
        case Index(base=base, key=key):
            return (base, key)
        case (
            FieldAccess(base=base)
            | Item(base=base)
            | Unwrap(base=base)
            | IsSome(base=base)
            | Not(base=base)
            | Negative(base=base)
            | Coerce(base=base)
            | Next(base=base)
        ):
            return (base,)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case Quantifier(body=body):
            return (body,)
        case SetOf(items=items) | TupleOf(items=items):
            return items
        case RecordOf(fields=fields):
            return tuple(value for _, value in fields)
        case QueueQuery(item=part) | LockQuery(key=part) | ProcessVariable(instance=part):
            return () if part is None else (part,)
        case _:
            return ()


def walk(node: Expression) -> Iterator[Expression]:
    """The expression and all its parts, each as often as it occurs."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(children(top)))


def size(node: Expression) -> int:
    """How many nodes the expression has."""
    return sum(1 for _ in walk(node))


def depth(node: Expression) -> int:
    """How many nodes the longest way from the expression to one of its parts has."""
    deepest, stack = 0, [(node, 1)]
    while stack:
        top, level = stack.pop()
        deepest = max(deepest, level)
        stack.extend((part, level + 1) for part in children(top))
    return deepest


def rebuild(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to each direct part."""
    match node:
        case Index(base=base, key=key):
            return replace(node, base=change(base), key=change(key))
        case (
            FieldAccess(base=base)
            | Item(base=base)
            | Unwrap(base=base)
            | IsSome(base=base)
            | Not(base=base)
            | Negative(base=base)
            | Coerce(base=base)
            | Next(base=base)
        ):
            return replace(node, base=change(base))
        case Binary(left=left, right=right):
            return replace(node, left=change(left), right=change(right))
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return replace(node, condition=change(condition), then=change(then), otherwise=change(otherwise))
        case Quantifier(body=body):
            return replace(node, body=change(body))
        case SetOf(items=items) | TupleOf(items=items):
            return replace(node, items=tuple(change(item) for item in items))
        case RecordOf(fields=fields):
            return replace(node, fields=tuple((name, change(value)) for name, value in fields))
        case QueueQuery(item=part):
            return node if part is None else replace(node, item=change(part))
        case LockQuery(key=part):
            return node if part is None else replace(node, key=change(part))
        case ProcessVariable(instance=part):
            return node if part is None else replace(node, instance=change(part))
        case _:
            return node


@dataclass(frozen=True)
class Reads:
    """What an expression reads.

    variables: (owner, name) of store variables, queues, locks and process variables, ("", name) of ghosts.
    """

    stores: frozenset[str]
    ghosts: frozenset[str]
    processes: frozenset[str]
    variables: frozenset[tuple[str, str]]
    locals: frozenset[str]

    @property
    def shared(self) -> bool:
        """Whether it reads a store, a process variable or a ghost."""
        return bool(self.stores or self.ghosts or self.processes)

    def __or__(self, other: Reads) -> Reads:
        return Reads(
            self.stores | other.stores,
            self.ghosts | other.ghosts,
            self.processes | other.processes,
            self.variables | other.variables,
            self.locals | other.locals,
        )


NOTHING = Reads(frozenset(), frozenset(), frozenset(), frozenset(), frozenset())


def reads(*nodes: Expression | None) -> Reads:
    """What the expressions read together; None counts as nothing."""
    stores: set[str] = set()
    ghosts: set[str] = set()
    processes: set[str] = set()
    variables: set[tuple[str, str]] = set()
    names: set[str] = set()
    for node in nodes:
        if node is None:
            continue
        for part in walk(node):
            match part:
                case StoreVariable(store=store, name=name):
                    stores.add(store)
                    variables.add((store, name))
                case QueueQuery(store=store, queue=name) | LockQuery(store=store, lock=name):
                    stores.add(store)
                    variables.add((store, name))
                case ProcessVariable(process=process, name=name):
                    processes.add(process)
                    variables.add((process, name))
                case GhostVariable(name=name):
                    ghosts.add(name)
                    variables.add(("", name))
                case Local(key=key):
                    names.add(key)
    return Reads(frozenset(stores), frozenset(ghosts), frozenset(processes), frozenset(variables), frozenset(names))


def contains_next(node: Expression) -> bool:
    """Whether something in the expression is primed."""
    return any(isinstance(part, Next) for part in walk(node))


def contains_self(node: Expression) -> bool:
    """Whether the expression speaks of the thread's own instance."""
    return any(
        isinstance(part, Self) or (isinstance(part, ProcessVariable) and part.instance is None) for part in walk(node)
    )


def is_none(node: Expression) -> bool:
    """Whether the expression is the literal `none`."""
    return isinstance(node, Literal) and node.value is None
