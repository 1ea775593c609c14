"""`forall`, `exists`, `count` and `all`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec import syntax
from spec.checking.scope import Binding, Context
from spec.checking.world import World
from spec.typed import Expression, Item, Literal, Local, Quantifier, Quantity
from spec.types import BOOL, INT, SetType, TupleType, Type

if TYPE_CHECKING:
    from spec.checking.expressions import Expressions

_LOGICAL = (Quantity.FORALL, Quantity.EXISTS)


class Quantifiers:
    """Types quantifiers.  Several variables of `forall` and `exists` become nested quantifiers; of `count` and `all`,
    one variable over their tuples."""

    def __init__(self, expressions: Expressions, world: World) -> None:
        self._expressions = expressions
        self._world = world

    def infer(self, node: syntax.Quantifier, ctx: Context) -> Expression | None:
        """The typed quantifier, or None after an error."""
        what = f"`{node.quantity.value}`"
        domains = [self._world.types.domain(binder.over, what) for binder in node.binders]
        inner = ctx.inner()
        keys = [self._world.bound_key(binder.name.name) for binder in node.binders]
        known = tuple(domain for domain in domains if domain is not None)
        whole = len(known) == len(domains)
        nested = node.quantity in _LOGICAL or len(domains) == 1
        if not nested and whole and any(isinstance(domain, TupleType) for domain in known):
            self._world.problems.error(
                "E226", node.span, f"{what} over several variables needs scalars", fix="use one variable"
            )
            whole = False
        pair = TupleType(known)
        for position, (binder, key, domain) in enumerate(zip(node.binders, keys, domains, strict=True)):
            meaning: Expression | None = None
            if domain is not None and nested:
                meaning = Local(domain, binder.name.span, key)
            elif domain is not None and whole:
                meaning = Item(domain, binder.name.span, Local(pair, binder.name.span, keys[0]), position)
            self._expressions.bind(inner.scope, Binding(binder.name.name, binder.name.span, meaning, False))
        body: Expression | None = Literal(BOOL, node.span, True)
        if node.body is not None:
            body = self._expressions.check(node.body, inner, BOOL)
        if body is None or not whole:
            return None
        if nested:
            for binder, key, domain in reversed(list(zip(node.binders, keys, known, strict=True))):
                body = self._make(node, key, binder.name.name, domain, body)
            return body
        return self._make(node, keys[0], ", ".join(binder.name.name for binder in node.binders), pair, body)

    def _make(self, node: syntax.Quantifier, key: str, name: str, over: Type, body: Expression) -> Expression:
        kind: Type = BOOL
        if node.quantity is Quantity.COUNT:
            kind = INT
        elif node.quantity is Quantity.ALL:
            kind = SetType(over)
        return Quantifier(kind, node.span, node.quantity, key, name, over, body)
