"""Traces, walked through the reference interpreter.

A trace comes from an engine, which works on a lowered model; the interpreter shares no code with that.  What both agree
on is believed.
"""

from __future__ import annotations

from dataclasses import dataclass

from counterexamples.comparison import differences, show
from counterexamples.lasso import NotComing, circle, unfairness
from counterexamples.trace import Trace
from spec.event import Event, Slot
from spec.interpreter import Interpreter
from spec.liveness import failure
from spec.rest import STATES, Answer, at_rest, recoverable
from spec.state import ErrorKind, GlobalState, ModelError
from spec.stuck import STUCK_THREADS, Stuck
from spec.typed import PropertyDeclaration, PropertyForm


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
    run = _walk(trace, interpreter)
    return run if isinstance(run, Mismatch) else None


def confirm(
    trace: Trace, name: str, interpreter: Interpreter, limit: int = STATES
) -> Confirmed | Mismatch | Unconfirmed:
    """Whether the trace is a run that breaks the property `name` (that reaches it, for a cover) in its last state or
    step, or, for a live property, by going on for ever.  `name` is a declared property, `model_errors`, `stuck_threads`
    or `assert_LINE`.  `limit` bounds the states that are visited for properties that look beyond the trace.  Raises
    KeyError when there is no such property."""
    run = _walk(trace, interpreter)
    if isinstance(run, Mismatch):
        return run
    last = run[-1][0]
    if name == STUCK_THREADS:
        return _judge_stuck(len(trace), last, interpreter, limit)
    declared = next((p for p in interpreter.model.properties if p.name == name), None)
    broken = _error_claim(name, last.error, interpreter) if declared is None else None
    if declared is None:
        if broken is None:
            raise KeyError(name)
        return Confirmed() if broken is True else Mismatch(len(trace), f"{name}: {broken}")
    if last.error is not None:
        return Mismatch(len(trace), f"the run ends in a model error ({last.error.kind.value}), not for `{name}`")
    return _judge(declared, trace, run, interpreter, limit)


def confirm_stuck(
    trace: Trace, slot: Slot, interpreter: Interpreter, limit: int = STATES
) -> Confirmed | Mismatch | Unconfirmed:
    """Whether the trace is a run after which the activation in `slot` can never go on."""
    run = _walk(trace, interpreter)
    if isinstance(run, Mismatch):
        return run
    end, last, stuck = len(trace), run[-1][0], Stuck(interpreter)
    if not stuck.is_suspected(last, slot):
        return Mismatch(end, f"{slot} is not blocked in the last state, or not all has healed")
    return _answered(stuck.goes_on(last, slot, limit), Answer.NO, end, f"{slot} can still go on")


def own_states(trace: Trace, interpreter: Interpreter) -> tuple[GlobalState, ...]:
    """The interpreter's states along a trace: with the locals that the trace leaves out.  Raises ValueError when it is
    no run of the interpreter."""
    layers: list[dict[GlobalState, GlobalState | None]] = [{interpreter.initial(): None}]
    for event, claimed in zip(trace.events, trace.states[1:], strict=True):
        layers.append(
            {
                after: before
                for before in layers[-1]
                for happened, after in interpreter.successors(before)
                if happened == event and not differences(claimed, after)
            }
        )
    if not layers[-1]:
        raise ValueError("the trace is no run of the interpreter")
    here: GlobalState | None = next(iter(layers[-1]))
    found: list[GlobalState] = []
    for layer in reversed(layers):
        assert here is not None
        found.append(here)
        here = layer[here]
    return tuple(reversed(found))


def _judge_stuck(
    end: int, last: GlobalState, interpreter: Interpreter, limit: int
) -> Confirmed | Mismatch | Unconfirmed:
    """Whether some thread can never go on from the last state."""
    stuck = Stuck(interpreter)
    if not stuck.is_suspicious(last):
        return Mismatch(end, "no thread is blocked in the last state, or not all has healed")
    found = stuck.find(last, limit)
    if found.stuck:
        return Confirmed()
    if found.clears:
        return Mismatch(end, "a state in which no thread is blocked can be reached from the last state")
    if found.stuck is None:
        return Unconfirmed("the limit of visited states was reached")
    return Unconfirmed("threads are blocked in turns: some thread always is, but each of these can go on")


def _judge(
    declared: PropertyDeclaration, trace: Trace, run: _Run, interpreter: Interpreter, limit: int
) -> Confirmed | Mismatch | Unconfirmed:
    end, last = len(trace), run[-1][0]
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
            return _judge_lasso(declared, trace, run, interpreter)


def _judge_lasso(
    declared: PropertyDeclaration, trace: Trace, run: _Run, interpreter: Interpreter
) -> Confirmed | Mismatch | Unconfirmed:
    """Whether the run goes on for ever, without faults, fair, and violates the property."""
    end, loop = len(trace), trace.loop
    assert declared.live is not None
    if loop is None:
        return Mismatch(end, f"the trace ends, and `{declared.name}` speaks of runs that never end")
    for step, event in enumerate(trace.events[loop:], start=loop):
        if interpreter.kind(event) == "fault":
            return Mismatch(step, "a fault happens again and again; a run has finitely many")
    # The last state is the one at the beginning of the loop, unless the run stays in it.
    states = [possible[0] for possible in (run if loop == end else run[:-1])]
    if failure(declared.live, states, loop) is None:
        return Mismatch(end, f"the run does not violate `{declared.name}`")
    try:
        around = circle(trace, interpreter, run[loop])
    except NotComing as problem:
        return Unconfirmed(str(problem))
    wrong = unfairness(around, trace.events[loop:], interpreter)
    return Confirmed() if wrong is None else Mismatch(end, wrong)


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

_Run = list[list[GlobalState]]
"""For each state of a trace, the states that the interpreter may be in: they differ in locals that the trace leaves
out."""


def _walk(trace: Trace, interpreter: Interpreter) -> _Run | Mismatch:
    """The run, as the interpreter has it."""
    first = interpreter.initial()
    wrong = differences(trace.states[0], first)
    if wrong:
        return Mismatch(-1, f"the initial state differs: {wrong[0]}")
    possible = [first]
    run = [possible]
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
        run.append(possible)
    if trace.loop is not None:
        wrong = differences(trace.states[trace.loop], possible[0])
        if wrong:
            return Mismatch(len(trace), f"the run does not lead back to state {trace.loop}: {wrong[0]}")
    return run


def _no_such_event(event: Event, possible: list[Event]) -> str:
    if not possible:
        return "no step is possible here"

    def distance(other: Event) -> int:
        return sum(getattr(event, field) != getattr(other, field) for field in Event.__dataclass_fields__)

    nearest = min(possible, key=distance)
    fields = [field for field in Event.__dataclass_fields__ if getattr(event, field) != getattr(nearest, field)]
    how = ", ".join(f"{field} {show(getattr(nearest, field))}, not {show(getattr(event, field))}" for field in fields)
    return f"no such step is possible; the nearest has {how}"
