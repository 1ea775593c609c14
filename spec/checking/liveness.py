"""`live` properties: `forall`s in front, then one temporal operator."""

from __future__ import annotations

from dataclasses import dataclass

from spec import syntax
from spec.checking.scope import Binding, Context
from spec.checking.world import World
from spec.source import Span
from spec.typed import Binary, Binder, Expression, Liveness, LiveShape, Local, Operator, Quantifier, Quantity
from spec.types import BOOL

_FORMS = "`p ~> q`, `eventually p`, `always eventually p` or `eventually always p`"


@dataclass(frozen=True)
class _Formula:
    """The one temporal formula of a property.  left: of `~>` only."""

    shape: LiveShape
    left: syntax.Expression | None
    right: syntax.Expression


class LiveProperties:
    """Types what `live` properties say."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems

    def check(self, node: syntax.Property, ctx: Context) -> tuple[Liveness, Expression] | None:
        """The meaning of the property, and the state condition that it speaks of; None after an error."""
        binders: list[tuple[Binder, Span]] = []
        inner, whole, condition = ctx, True, node.condition
        while isinstance(condition, syntax.Quantifier) and condition.quantity is Quantity.FORALL:
            inner = inner.inner()
            for binder in condition.binders:
                domain = self._world.types.domain(binder.over, "`forall`")
                key = self._world.bound_key(binder.name.name)
                meaning = None if domain is None else Local(domain, binder.name.span, key)
                self._world.expressions.bind(inner.scope, Binding(binder.name.name, binder.name.span, meaning, False))
                if domain is None:
                    whole = False
                else:
                    binders.append((Binder(key, binder.name.name, domain), condition.span))
            assert condition.body is not None
            condition = condition.body
        formula = self._formula(condition, node)
        if formula is None:
            return None
        left = None if formula.left is None else self._world.expressions.check(formula.left, inner, BOOL)
        right = self._world.expressions.check(formula.right, inner, BOOL)
        if not whole or right is None or (formula.left is not None and left is None):
            return None
        made: Expression = right if left is None else Binary(BOOL, condition.span, Operator.IMPLIES, left, right)
        for bound, span in reversed(binders):
            made = Quantifier(BOOL, span, Quantity.FORALL, bound.key, bound.name, bound.over, made)
        return Liveness(tuple(bound for bound, _ in binders), formula.shape, left, right), made

    def _formula(self, node: syntax.Expression, declared: syntax.Property) -> _Formula | None:
        match node:
            case syntax.LeadsTo(left=left, right=right):
                return _Formula(LiveShape.LEADS_TO, left, right)
            case syntax.Temporal(word=outer, base=syntax.Temporal(word=word, base=base)) if outer.name != word.name:
                always_first = outer.name == "always"
                return _Formula(
                    LiveShape.ALWAYS_EVENTUALLY if always_first else LiveShape.EVENTUALLY_ALWAYS, None, base
                )
            case syntax.Temporal(word=word, base=base) if word.name == "eventually":
                return _Formula(LiveShape.EVENTUALLY, None, base)
        name = declared.name.name
        fix: str | None = (
            f"write `live {name}: p ~> {_brief(node)}`, or `live {name}: always eventually {_brief(node)}`"
        )
        message = f"the live property `{name}` must be {_FORMS}, behind any `forall`s"
        if isinstance(node, syntax.Temporal):
            fix = f"what holds always is an invariant: `invariant {name}: {_brief(node.base)}`"
        elif isinstance(node, syntax.Quantifier) and node.body is not None and _temporal(node.body):
            fix = "put the temporal operator in front of the quantifier, or write `forall`"
            message = f"of quantifiers, only `forall` can stand before a temporal operator, not `{node.quantity.value}`"
        elif isinstance(node, syntax.Binary) and (_temporal(node.left) or _temporal(node.right)):
            fix = "make it a property for each"
            message = f"temporal operators cannot be joined with `{node.operator.value}`"
            if node.operator is Operator.IMPLIES and isinstance(node.right, syntax.Temporal):
                fix = f"write `{_brief(node.left)} ~> ..`"
        elif isinstance(node, syntax.Not) and _temporal(node.base):
            fix = None
            message = "a temporal operator cannot stand under `not`"
        self._problems.error("E292", node.span, message, fix=fix)
        return None


def _temporal(node: syntax.Expression) -> bool:
    return isinstance(node, syntax.LeadsTo | syntax.Temporal)


def _brief(node: syntax.Expression) -> str:
    text = node.span.text
    return text if len(text) <= 30 and "\n" not in text else ".."
