"""Traces, walked through the reference interpreter.

A trace comes from an engine, which works on a lowered model; the interpreter shares no code with that.  What both agree
on is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from counterexamples.trace import Trace
from spec.event import Event
from spec.interpreter import Interpreter
from spec.rest import STATES, Answer, at_rest, recoverable
from spec.state import Activation, ErrorKind, GlobalState, ModelError
from spec.typed import PropertyDeclaration, PropertyForm

_Key = TypeVar("_Key")


@dataclass(frozen=True)
class Mismatch:
    """Trace and interpreter disagree.

    step  index of the event that is no step of the interpreter, or leads elsewhere; -1 for the initial state; the
          number of events when the run is right but does not show what it is said to show
    why   in words"""

    step: int
    why: str


@dataclass(frozen=True)
class Confirmed:
    """The interpreter runs the trace and judges the property as claimed."""


@dataclass(frozen=True)
class Unconfirmed:
    """The trace is a run, but whether it breaks the property could not be decided within the limit."""

    why: str


def replay(trace: Trace, interpreter: Interpreter) -> Mismatch | None:
    """None when the trace is a run of the interpreter, else the first step that is not.

    Locals that only one side has are not compared: the lowering leaves out those that no longer matter."""
    last = _walk(trace, interpreter)
    return last if isinstance(last, Mismatch) else None


def confirm(
    trace: Trace, name: str, interpreter: Interpreter, limit: int = STATES
) -> Confirmed | Mismatch | Unconfirmed:
    """Whether the trace is a run that breaks the property `name` (that reaches it, for a cover) in its last state or
    step.  `name` is a declared property, `model_errors`, or `assert_LINE`.  `limit` bounds the states that are visited
    for properties that look beyond the trace.  Raises KeyError when there is no such property."""
    last = _walk(trace, interpreter)
    if isinstance(last, Mismatch):
        return last
    declared = next((p for p in interpreter.model.properties if p.name == name), None)
    broken = _error_claim(name, last.error, interpreter) if declared is None else None
    if declared is None:
        if broken is None:
            raise KeyError(name)
        return Confirmed() if broken is True else Mismatch(len(trace), f"{name}: {broken}")
    if last.error is not None:
        return Mismatch(len(trace), f"the run ends in a model error ({last.error.kind.value}), not for `{name}`")
    return _judge(declared, trace, last, interpreter, limit)


def _judge(
    declared: PropertyDeclaration, trace: Trace, last: GlobalState, interpreter: Interpreter, limit: int
) -> Confirmed | Mismatch | Unconfirmed:
    end = len(trace)
    condition = declared.condition
    match declared.form:
        case PropertyForm.COVER:
            if interpreter.satisfies(condition, last):
                return Confirmed()
            return Mismatch(end, f"cover `{declared.name}` does not hold in the last state")
        case PropertyForm.STEP_INVARIANT:
            if end == 0:
                return Mismatch(end, "a step invariant needs a step")
            if not interpreter.satisfies(condition, trace.states[-2], last):
                return Confirmed()
            return Mismatch(end, f"step invariant `{declared.name}` holds for the last step")
        case PropertyForm.INVARIANT:
            if not interpreter.satisfies(condition, last):
                return Confirmed()
            return Mismatch(end, f"invariant `{declared.name}` holds in the last state")
        case PropertyForm.AT_REST:
            if interpreter.satisfies(condition, last):
                return Mismatch(end, f"the condition of `{declared.name}` holds in the last state")
            return _answered(at_rest(interpreter, last, limit), Answer.YES, end, "the last state is not at rest")
        case PropertyForm.RECOVERABLE:
            answer = recoverable(interpreter, last, condition, limit)
            return _answered(answer, Answer.NO, end, f"`{declared.name}` can still be reached from the last state")
        case PropertyForm.LIVE:
            return Unconfirmed("lassos are not judged yet")


def _answered(answer: Answer, claimed: Answer, end: int, otherwise: str) -> Confirmed | Mismatch | Unconfirmed:
    if answer is Answer.OPEN:
        return Unconfirmed("the limit of visited states was reached")
    return Confirmed() if answer is claimed else Mismatch(end, otherwise)


def _error_claim(name: str, error: ModelError | None, interpreter: Interpreter) -> bool | str | None:
    """True when the error is the one that `name` speaks of, else why not; None when `name` speaks of no error."""
    prefix, _, line = name.rpartition("_")
    if name != "model_errors" and not (prefix == "assert" and line.isdigit()):
        return None
    if error is None:
        return "the run does not end in a model error"
    if name == "model_errors":
        return error.kind is not ErrorKind.ASSERTION or "the run ends in a failed assertion, which is a matter apart"
    if error.kind is not ErrorKind.ASSERTION:
        return f"the run ends in another error: {error.kind.value}"
    failed = interpreter.statement(error.site).span.line
    return failed == int(line) or f"the assertion that fails is that of line {failed}"


# ------------------------------------------------------------------------------------------------------------ walking


def _walk(trace: Trace, interpreter: Interpreter) -> GlobalState | Mismatch:
    """The last state, as the interpreter has it."""
    first = interpreter.initial()
    wrong = differences(trace.states[0], first)
    if wrong:
        return Mismatch(-1, f"the initial state differs: {wrong[0]}")
    # Several states of the interpreter may differ only in locals that the trace leaves out.
    possible = [first]
    for step, (event, claimed) in enumerate(zip(trace.events, trace.states[1:], strict=True)):
        successors = [successor for state in possible for successor in interpreter.successors(state)]
        reached = [after for happened, after in successors if happened == event]
        if not reached:
            return Mismatch(step, _no_such_event(event, [happened for happened, _ in successors]))
        compared = [(differences(claimed, after), after) for after in reached]
        possible = list(dict.fromkeys(after for wrong, after in compared if not wrong))
        if not possible:
            nearest = min((wrong for wrong, _ in compared), key=len)
            return Mismatch(step, f"the step leads elsewhere: {'; '.join(nearest[:3])}")
    if trace.loop is not None:
        wrong = differences(trace.states[trace.loop], possible[0])
        if wrong:
            return Mismatch(len(trace), f"the run does not lead back to state {trace.loop}: {wrong[0]}")
    return possible[0]


def _no_such_event(event: Event, possible: list[Event]) -> str:
    if not possible:
        return "no step is possible here"

    def distance(other: Event) -> int:
        return sum(getattr(event, field) != getattr(other, field) for field in Event.__dataclass_fields__)

    nearest = min(possible, key=distance)
    fields = [field for field in Event.__dataclass_fields__ if getattr(event, field) != getattr(nearest, field)]
    how = ", ".join(f"{field} {_show(getattr(nearest, field))}, not {_show(getattr(event, field))}" for field in fields)
    return f"no such step is possible; the nearest has {how}"


# ---------------------------------------------------------------------------------------------------------- comparing


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
            yield f"{field}: the trace has {_show(theirs)}, the interpreter {_show(ours)}"
    for slot in sorted({*claimed.activations, *actual.activations}):
        ours, theirs = actual.activations.get(slot), claimed.activations.get(slot)
        if ours is None or theirs is None:
            owner = "the trace" if ours is None else "the interpreter"
            yield f"only {owner} has an activation of {_show(slot)}"
        else:
            yield from (f"{_show(slot)}: {wrong}" for wrong in _activation_differences(theirs, ours))
    if _error_identity(claimed.error) != _error_identity(actual.error):
        yield f"error: the trace has {_show(claimed.error)}, the interpreter {_show(actual.error)}"


def _activation_differences(claimed: Activation, actual: Activation) -> Iterator[str]:
    for field in ("at", "waiting", "caller", "ending"):
        ours, theirs = getattr(actual, field), getattr(claimed, field)
        if ours != theirs:
            yield f"{field}: the trace has {_show(theirs)}, the interpreter {_show(ours)}"
    for key, value in claimed.locals.items():
        if key in actual.locals and actual.locals[key] != value:
            yield f"local {key}: the trace has {_show(value)}, the interpreter {_show(actual.locals[key])}"


def _unequal(what: str, claimed: Mapping[_Key, object], actual: Mapping[_Key, object]) -> Iterator[str]:
    for key in dict.fromkeys((*claimed, *actual)):
        if key not in claimed or key not in actual:
            yield f"only {'the trace' if key in claimed else 'the interpreter'} has {what} {_show(key)}"
        elif claimed[key] != actual[key]:
            yield f"{what} {_show(key)}: the trace has {_show(claimed[key])}, the interpreter {_show(actual[key])}"


def _error_identity(error: ModelError | None) -> tuple[int, bool] | None:
    return None if error is None else (error.site, error.kind is ErrorKind.ASSERTION)


def _show(thing: object) -> str:
    if isinstance(thing, tuple) and all(isinstance(part, str | int) for part in thing):
        return ".".join(map(str, thing))
    return str(thing)
