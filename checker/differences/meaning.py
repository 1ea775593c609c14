"""What a typed expression says, whatever it is called and wherever it stands."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum

from spec.typed import PropertyDeclaration
from spec.types import Type

_BOUND = "key"


def meaning(node: object) -> str:
    """A text that is the same for two parts of typed models that say the same in the same order: without spans, sizes
    of ids, and names of bound variables.  Calls of `def` are already replaced by what they stand for."""
    return _write(node, {})


def statement_of(declared: PropertyDeclaration) -> str:
    """What a property says, with its form and without its name."""
    return f"{declared.form.value} {meaning(declared.live or declared.condition)}"


def _write(node: object, bound: dict[str, str]) -> str:
    if isinstance(node, Enum):
        return node.name
    if _is_type(node):
        return str(node)
    if isinstance(node, frozenset):
        return "{" + ", ".join(sorted(_write(part, bound) for part in node)) + "}"
    if isinstance(node, tuple):
        return "(" + ", ".join(_write(part, bound) for part in node) + ")"
    if is_dataclass(node):
        named = {each.name: getattr(node, each.name) for each in fields(node)}
        if isinstance(key := named.get(_BOUND), str):
            named = {**named, _BOUND: bound.setdefault(key, f"#{len(bound)}"), "name": ""}
        # Where it stands says nothing, and the type of an expression follows from its parts.
        told = {
            name: part for name, part in named.items() if name != "span" and not (name == "type" and _is_type(part))
        }
        parts = [f"{name}={_write(part, bound)}" for name, part in told.items()]
        return f"{type(node).__name__}({', '.join(parts)})"
    return repr(node)


def _is_type(node: object) -> bool:
    return isinstance(node, Type)
