"""Where the state of a trace and a state of the interpreter disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from spec.state import Activation, ErrorKind, GlobalState, ModelError

_Key = TypeVar("_Key")


def differences(claimed: GlobalState, actual: GlobalState) -> list[str]:
    """Where the state of a trace and a state of the interpreter disagree, in words; locals that only one side has
    aside.  Of an error the statement counts, and whether it is a failed assertion."""
    return list(_differences(claimed, actual))


def _differences(claimed: GlobalState, actual: GlobalState) -> Iterator[str]:
    yield from _unequal("store variable", claimed.values, actual.values)
    yield from _unequal("queue", claimed.queues, actual.queues)
    yield from _unequal("lock", claimed.locks, actual.locks)
    yield from _unequal("process variable", claimed.process_values, actual.process_values)
    yield from _unequal("ghost", claimed.ghosts, actual.ghosts)
    yield from _unequal("used ids of", claimed.used, actual.used)
    for field in ("down", "cut"):
        ours, theirs = getattr(actual, field), getattr(claimed, field)
        if ours != theirs:
            yield f"{field}: the trace has {show(theirs)}, the interpreter {show(ours)}"
    for slot in sorted({*claimed.activations, *actual.activations}):
        ours, theirs = actual.activations.get(slot), claimed.activations.get(slot)
        if ours is None or theirs is None:
            owner = "the trace" if ours is None else "the interpreter"
            yield f"only {owner} has an activation of {show(slot)}"
        else:
            yield from (f"{show(slot)}: {wrong}" for wrong in _activation_differences(theirs, ours))
    if _error_identity(claimed.error) != _error_identity(actual.error):
        yield f"error: the trace has {show(claimed.error)}, the interpreter {show(actual.error)}"


def _activation_differences(claimed: Activation, actual: Activation) -> Iterator[str]:
    for field in ("at", "waiting", "caller", "ending"):
        ours, theirs = getattr(actual, field), getattr(claimed, field)
        if ours != theirs:
            yield f"{field}: the trace has {show(theirs)}, the interpreter {show(ours)}"
    for key, value in claimed.locals.items():
        if key in actual.locals and actual.locals[key] != value:
            yield f"local {key}: the trace has {show(value)}, the interpreter {show(actual.locals[key])}"


def _unequal(what: str, claimed: Mapping[_Key, object], actual: Mapping[_Key, object]) -> Iterator[str]:
    for key in dict.fromkeys((*claimed, *actual)):
        if key not in claimed or key not in actual:
            yield f"only {'the trace' if key in claimed else 'the interpreter'} has {what} {show(key)}"
        elif claimed[key] != actual[key]:
            yield f"{what} {show(key)}: the trace has {show(claimed[key])}, the interpreter {show(actual[key])}"


def _error_identity(error: ModelError | None) -> tuple[int, bool] | None:
    return None if error is None else (error.site, error.kind is ErrorKind.ASSERTION)


def show(thing: object) -> str:
    """A part of a state or event, for messages."""
    if isinstance(thing, tuple) and all(isinstance(part, str | int) for part in thing):
        return ".".join(map(str, thing))
    return str(thing)
