"""Assignment: a state and locals in which a place has a new value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from spec.evaluation import EvaluationError, Scope, evaluate, fit
from spec.state import ErrorKind, GlobalState
from spec.typed import GhostVariable, Local, Place, ProcessVariable, StoreVariable, Target
from spec.value import Id, Row, Table, Value

Assigned = tuple[GlobalState, Mapping[str, Value]]


def read(place: Place, scope: Scope) -> Value:
    """The present value of a place.  Raises EvaluationError, as for a way through an absent row."""
    value = evaluate(place.root, scope)
    for step in place.path:
        value = _inside(value, step if isinstance(step, str) else (evaluate(step, scope),))
    return value


def assign(place: Place, value: Value, scope: Scope) -> Assigned:
    """State and locals after `place := value`.  Raises EvaluationError: a range left, a way through an absent row, an
    error in a map key."""
    value = fit(value, place.type)
    steps = [step if isinstance(step, str) else (evaluate(step, scope),) for step in place.path]
    root = place.root
    if steps:
        value = _put(evaluate(root, scope), steps, value)
    state = scope.state
    match root:
        case Local():
            return state, {**scope.locals, root.key: value}
        case StoreVariable():
            return replace(state, values={**state.values, (root.store, root.name): value}), scope.locals
        case GhostVariable():
            return replace(state, ghosts={**state.ghosts, root.name: value}), scope.locals
        case ProcessVariable():
            instance = scope.instance if root.instance is None else evaluate(root.instance, scope)
            key = (root.process, cast(Id, instance).index, root.name)
            return replace(state, process_values={**state.process_values, key: value}), scope.locals


def deliver(target: Target, value: Value, scope: Scope) -> Assigned:
    """State and locals after the result of a statement has gone to its target, if it has one.  Raises
    EvaluationError."""
    if target is None:
        return scope.state, scope.locals
    if isinstance(target, Place):
        return assign(target, value, scope)
    state, variables = scope.state, scope.locals
    for place, part in zip(target, cast("tuple[Value, ...]", value), strict=True):
        state, variables = assign(place, part, Scope(state, variables, scope.instance))
    return state, variables


# One step of a path: a field's name, or a map key (in a tuple of its own, so that no key is taken for a field).
_Step = str | tuple[Value]


def _inside(value: Value, step: _Step) -> Value:
    if value is None:
        raise EvaluationError(ErrorKind.NONE)
    if isinstance(step, str):
        return cast(Row, value).get(step)
    return cast(Table, value).get(step[0])


def _put(whole: Value, steps: list[_Step], value: Value) -> Value:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    part = _put(_inside(whole, step), rest, value)
    if isinstance(step, str):
        return cast(Row, whole).put(step, part)
    return cast(Table, whole).put(step[0], part)
