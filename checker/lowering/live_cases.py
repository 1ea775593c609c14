"""The cases of a property about infinite runs: one for each choice of values for its `forall`s, or for each orbit of
them under the symmetries of the model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from checker.logic.formula import FALSE, TRUE, Formula, conjunction, disjunction, negate
from checker.lowering.evaluator import Evaluator, PropertyReader
from checker.lowering.model_layout import ModelLayout
from checker.lowering.symbolic import constant
from checker.lowering.symmetries import exchanges_of
from checker.transition_system import LiveCase
from spec.typed import Expression, Liveness, LiveShape
from spec.value import Value, domain

Choice = tuple[Value, ...]


def live_cases(layout: ModelLayout, live: Liveness, counts: Formula) -> tuple[LiveCase, ...]:
    """counts: the states that can be a part of runs that count."""
    return tuple(_case(layout, live, choice, counts) for choice in choices(layout, live))


def choices(layout: ModelLayout, live: Liveness) -> Iterator[Choice]:
    """Values for the binders.  Of several that exchanges of interchangeable ids map to each other the first one: a run
    that violates one of them is mapped to a run that violates another."""
    exchanges = exchanges_of(layout)
    seen: set[Choice] = set()
    for choice in product(*(tuple(domain(binder.over)) for binder in live.binders)):
        if choice in seen:
            continue
        yield choice
        seen.add(choice)
        orbit = [choice]
        for member in orbit:
            for exchange in exchanges:
                image = exchange(member)
                assert isinstance(image, tuple)
                if image not in seen:
                    seen.add(image)
                    orbit.append(image)


def _case(layout: ModelLayout, live: Liveness, choice: Choice, counts: Formula) -> LiveCase:
    def states(expression: Expression, undefined: bool) -> Formula:
        """Where it is true; where it is undefined it counts as `undefined`."""
        values = {b.key: constant(v, b.over) for b, v in zip(live.binders, choice, strict=True)}
        evaluator = Evaluator(layout, PropertyReader(), values)
        truth = evaluator.truth(expression)
        if undefined:
            return disjunction((truth, evaluator.undefined))
        return conjunction((truth, negate(evaluator.undefined)))

    binding = ", ".join(f"{b.name} = {_text(v)}" for b, v in zip(live.binders, choice, strict=True))
    goal = states(live.right, undefined=False)
    match live.shape:
        case LiveShape.LEADS_TO:
            assert live.left is not None
            trigger = conjunction((states(live.left, undefined=True), counts))
            return LiveCase(trigger, goal, binding=binding)
        case LiveShape.EVENTUALLY:
            return LiveCase(TRUE, goal, from_start=True, binding=binding)
        case LiveShape.ALWAYS_EVENTUALLY:
            return LiveCase(TRUE, goal, binding=binding)
        case LiveShape.EVENTUALLY_ALWAYS:
            return LiveCase(TRUE, FALSE, negate(goal), binding=binding)


def _text(value: Value) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case tuple():
            return f"({', '.join(map(_text, value))})"
        case _:
            return str(value)


__all__ = ["choices", "live_cases"]
