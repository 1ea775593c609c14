"""Random runs: a first look at a model, and a source of runs for tests."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from spec.event import Event
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import PropertyDeclaration, PropertyForm


class Stop(Enum):
    """Why a random run ended."""

    STEPS = "as many steps as wanted"
    VIOLATION = "an invariant is violated"
    ERROR = "a model error"
    DEADLOCK = "no step is possible"


@dataclass(frozen=True)
class RandomRun:
    """`states[i]` is the state before `events[i]`.  violated: the property, when the run stopped at a violation."""

    events: tuple[Event, ...]
    states: tuple[GlobalState, ...]
    stop: Stop
    violated: PropertyDeclaration | None = None


def simulate(
    interpreter: Interpreter, seed: int, steps: int, properties: Iterable[PropertyDeclaration] = ()
) -> RandomRun:
    """A random run of at most `steps` steps; the same for the same seed.

    At each step first the kind is drawn (thread, environment, recovery, fault), then the event, then the state that it
    leads to, each evenly, so that many possible faults do not make faults likely.  The run stops where one of the
    invariants or step invariants among `properties` is violated; other forms are ignored."""
    watched = tuple(properties)
    draw = random.Random(seed)
    states = [interpreter.initial()]
    events: list[Event] = []
    stop, violated = Stop.STEPS, _violated(interpreter, watched, None, states[0])
    while violated is None and len(events) < steps:
        by_kind: dict[str, dict[Event, list[GlobalState]]] = {}
        for event, after in interpreter.successors(states[-1]):
            by_kind.setdefault(interpreter.kind(event), {}).setdefault(event, []).append(after)
        if not by_kind:
            stop = Stop.DEADLOCK
            break
        by_event = by_kind[draw.choice(list(by_kind))]
        event = draw.choice(list(by_event))
        events.append(event)
        states.append(draw.choice(by_event[event]))
        if states[-1].error is not None:
            stop = Stop.ERROR
            break
        violated = _violated(interpreter, watched, states[-2], states[-1])
    if violated is not None:
        stop = Stop.VIOLATION
    return RandomRun(tuple(events), tuple(states), stop, violated)


def _violated(
    interpreter: Interpreter,
    properties: tuple[PropertyDeclaration, ...],
    before: GlobalState | None,
    state: GlobalState,
) -> PropertyDeclaration | None:
    for candidate in properties:
        if candidate.form is PropertyForm.INVARIANT:
            kept = interpreter.satisfies(candidate.condition, state)
        elif candidate.form is PropertyForm.STEP_INVARIANT and before is not None:
            kept = interpreter.satisfies(candidate.condition, before, state)
        else:
            kept = True
        if not kept:
            return candidate
    return None
