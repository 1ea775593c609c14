"""What a `live` property says of single states, as the reference interpreter evaluates it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from spec.evaluation import EvaluationError, Scope, evaluate
from spec.state import GlobalState
from spec.typed import Expression, LiveShape, PropertyDeclaration
from spec.value import Value, domain


@dataclass(frozen=True)
class Truth:
    """Of one state and one choice of values for the binders.

    trigger    from here on the goal is owed (where it is owed from the start: true, and only the start counts)
    goal       it is reached
    recurrent  what a violating run comes to again and again
    """

    trigger: bool
    goal: bool
    recurrent: bool


@dataclass(frozen=True)
class LiveClaim:
    """A declared property of form LIVE."""

    declaration: PropertyDeclaration

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def from_start(self) -> bool:
        """Whether the goal is owed from the initial state alone."""
        return self._shape in (LiveShape.EVENTUALLY, LiveShape.EVENTUALLY_ALWAYS)

    @property
    def _shape(self) -> LiveShape:
        assert self.declaration.live is not None
        return self.declaration.live.shape

    def bindings(self) -> Iterator[Mapping[str, Value]]:
        """The choices of values for the binders."""
        assert self.declaration.live is not None
        binders = self.declaration.live.binders
        for values in product(*(domain(binder.over) for binder in binders)):
            yield {binder.key: value for binder, value in zip(binders, values, strict=True)}

    def truth(self, state: GlobalState, binding: Mapping[str, Value]) -> Truth:
        """What comes to a model error hides no violation: on the left it counts as true, on the right as false."""
        live = self.declaration.live
        assert live is not None
        right = _value(live.right, state, binding, False)
        if live.shape is LiveShape.EVENTUALLY_ALWAYS:
            return Truth(True, False, not right)
        return Truth(live.left is None or _value(live.left, state, binding, True), right, True)


def _value(expression: Expression, state: GlobalState, binding: Mapping[str, Value], undefined: bool) -> bool:
    try:
        return bool(evaluate(expression, Scope(state, binding)))
    except EvaluationError:
        return undefined


__all__ = ["LiveClaim", "Truth"]
