"""What a `live` property says of a run that repeats itself for ever (docs/language.md, "Properties")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from spec.evaluation import EvaluationError, Scope, evaluate
from spec.state import GlobalState
from spec.typed import Expression, Liveness, LiveShape
from spec.value import Value, domain


@dataclass(frozen=True)
class Failure:
    """A run violates a property for these values of its binders (by their keys).

    since  index of a state from which on the right side never holds; for `p ~> q` p holds there, and for `eventually
           always q` it is one of the states, visited again and again, in which q does not hold"""

    values: Mapping[str, Value]
    since: int


def bindings(live: Liveness) -> Iterator[dict[str, Value]]:
    """Every choice of values for the binders, by their keys, in canonical order; one empty choice without binders."""
    for values in product(*(tuple(domain(binder.over)) for binder in live.binders)):
        yield {binder.key: value for binder, value in zip(live.binders, values, strict=True)}


def is_pending(live: Liveness, values: Mapping[str, Value], state: GlobalState) -> bool:
    """Whether the left side of `p ~> q` holds, or is undefined; true for the other shapes."""
    return live.left is None or _holds(live.left, values, state, undefined=True)


def is_goal(live: Liveness, values: Mapping[str, Value], state: GlobalState) -> bool:
    """Whether the right side holds; undefined, it does not."""
    return _holds(live.right, values, state, undefined=False)


def _holds(expression: Expression, values: Mapping[str, Value], state: GlobalState, undefined: bool) -> bool:
    try:
        return bool(evaluate(expression, Scope(state, values)))
    except EvaluationError:
        return undefined


def failure(live: Liveness, states: Sequence[GlobalState], loop: int) -> Failure | None:
    """How a run violates the property: one through the states, and from the last one to number `loop` again, for ever
    (to the last one itself: it stays there).  None when it does not."""
    for values in bindings(live):
        since = _since(live, values, states, loop)
        if since is not None:
            return Failure(values, since)
    return None


def _since(live: Liveness, values: Mapping[str, Value], states: Sequence[GlobalState], loop: int) -> int | None:
    goals = [is_goal(live, values, state) for state in states]
    if live.shape is LiveShape.EVENTUALLY_ALWAYS:
        return next((index for index in range(loop, len(states)) if not goals[index]), None)
    if any(goals[loop:]):
        return None
    # From here on the right side never holds.
    free = next((index + 1 for index in reversed(range(loop)) if goals[index]), 0)
    match live.shape:
        case LiveShape.EVENTUALLY:
            return 0 if free == 0 else None
        case LiveShape.ALWAYS_EVENTUALLY:
            return free
        case LiveShape.LEADS_TO:
            pending = (index for index in range(free, len(states)) if is_pending(live, values, states[index]))
            return next(pending, None)
