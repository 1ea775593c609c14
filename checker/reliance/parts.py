"""The parts of a model that a proof may rely on, each with the model as it is without that part.

    guard       the condition of an `if`, an `await`, an `any .. where` or an `update .. where`: always true instead
    atomicity   of a `step`, `atomic` or `transaction` of several statements: its statements one by one instead
    durability  of a variable, queue or lock: lost in a crash instead
    switch      what a switch is set to: its other values instead

What is changed is the parsed tree, so the type checker sees each changed model as if somebody had written it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from spec import syntax
from spec.source import Span
from spec.typed import Model
from spec.value import Member

GUARD, ATOMICITY, DURABILITY, SWITCH = "guard", "atomicity", "durability", "switch"

_QUESTIONS = frozenset({"contains", "visible", "held"})
"""Calls that only ask; a guard with any other has an effect, and cannot be dropped without that."""
_LONGEST = 60


@dataclass(frozen=True)
class Part:
    """kind and text say what is dropped, `span` where it stands (None for a switch).  module and switches: the model
    without it."""

    kind: str
    text: str
    span: Span | None
    module: syntax.Module
    switches: tuple[tuple[str, str], ...] = ()


def parts_of(module: syntax.Module, model: Model) -> Iterator[Part]:
    """All parts of one choice of a module; `model` is what it was type-checked to.  Scenarios and expectations, which
    may speak of what is dropped, are left out."""
    items = tuple(item for item in module.items if not isinstance(item, syntax.Scenario | syntax.Expectation))
    bare = replace(module, items=items)
    yield from _switches(bare, model)
    for place, item in enumerate(items):
        if isinstance(item, syntax.Store | syntax.Process):
            for kind, text, span, change in _changes(item, model):
                changed: Any = change(item)
                yield Part(kind, text, span, replace(bare, items=(*items[:place], changed, *items[place + 1 :])))


def _switches(bare: syntax.Module, model: Model) -> Iterator[Part]:
    for item in bare.items:
        if not isinstance(item, syntax.Switch) or item.name.name not in model.constants:
            continue
        name, value = item.name.name, model.constants[item.name.name]
        others: list[str] = []
        if isinstance(value, bool):
            others = ["false" if value else "true"]
        elif isinstance(value, Member):
            others = [other for other in _members(bare, value.enum) if other != value.name]
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        for other in others:
            yield Part(SWITCH, f"{name} = {shown} (and not {other})", item.span, bare, ((name, other),))


def _members(bare: syntax.Module, enum: str) -> list[str]:
    for item in bare.items:
        if isinstance(item, syntax.Enumeration) and item.name.name == enum:
            return [member.name for member in item.members]
    return []


_Change = tuple[str, str, Span, Callable[[Any], Any]]


def _changes(item: syntax.Store | syntax.Process, model: Model) -> Iterator[_Change]:
    owner = item.name.name
    kept = {thread.name for process in model.processes if process.name == owner for thread in process.threads}
    for node in _nodes(item, lambda part: isinstance(part, syntax.Thread) and part.name.name not in kept):
        match node:
            case syntax.Variable(durable=True) | syntax.Queue(durable=True) | syntax.Lock(durable=True):
                volatile = replace(node, durable=False)
                yield DURABILITY, f"durable {owner}.{node.name.name}", node.span, _put(node, volatile)
            case syntax.Transaction(body=body) | syntax.Atomic(body=body) if _is_compound(body):
                yield ATOMICITY, _short(node.head), node.span, _put(node, _Splice(body))
            case syntax.If(branches=branches) if _only_asks(branches[0].condition):
                always = syntax.Boolean(branches[0].condition.span, True)
                change = _put(branches[0], replace(branches[0], condition=always))
                yield GUARD, _short(branches[0].head), branches[0].head, change
            case syntax.Await(condition=condition) if _only_asks(condition):
                yield GUARD, _short(node.head), node.span, _put(node, _Splice(()))
            case syntax.Update(condition=condition) | syntax.Choose(condition=condition) if condition is not None:
                always = syntax.Boolean(condition.span, True)
                yield GUARD, _short(node.span), node.span, _put(node, replace(node, condition=always))


def _short(span: Span) -> str:
    text = " ".join(span.text.split()).removesuffix("{").strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _is_compound(body: syntax.Block) -> bool:
    """Whether there are two statements or more, blocks' included."""
    return sum(isinstance(node, syntax.Statement) for node in _nodes(body)) > 1


def _only_asks(condition: Any) -> bool:
    return not any(
        isinstance(node, syntax.MethodCall) and node.name.name not in _QUESTIONS for node in _nodes(condition)
    )


def _nodes(node: Any, skip: Callable[[Any], bool] = lambda _: False) -> Iterator[Any]:
    """All nodes of a tree, from the outside in; none below those that `skip` wants left out."""
    if isinstance(node, tuple):
        for part in node:
            yield from _nodes(part, skip)
    elif is_dataclass(node) and not isinstance(node, Span | type) and not skip(node):
        yield node
        for each in fields(node):
            yield from _nodes(getattr(node, each.name), skip)


@dataclass(frozen=True)
class _Splice:
    """Stands in a block for several statements, or none."""

    statements: tuple[Any, ...]


def _put(wanted: Any, instead: Any) -> Callable[[Any], Any]:
    """A function that answers a tree with `instead` in the place of the node `wanted`."""

    def change(node: Any) -> Any:
        if node is wanted:
            return instead
        if isinstance(node, tuple):
            changed: list[Any] = []
            for part in node:
                new = change(part)
                changed += new.statements if isinstance(new, _Splice) else (new,)
            same = len(changed) == len(node) and all(a is b for a, b in zip(changed, node, strict=True))
            return node if same else tuple(changed)
        if is_dataclass(node) and not isinstance(node, Span | type):
            new_fields = {}
            for each in fields(node):
                old = getattr(node, each.name)
                new = change(old)
                if new is not old:
                    new_fields[each.name] = new
            return replace(node, **new_fields) if new_fields else node
        return node

    return change


__all__ = ["ATOMICITY", "DURABILITY", "GUARD", "SWITCH", "Part", "parts_of"]
