"""Why a run that never ends violates a live property, and why nothing that is fair helps, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from counterexamples.site import Site, sites
from counterexamples.trace import Trace
from spec.event import EventKind, FairAction, Slot, fair_action
from spec.fairness import fairness
from spec.liveness import Failure, failure
from spec.state import GlobalState
from spec.typed import Fairness, Model, PropertyDeclaration
from spec.value import Value

Able = Callable[[GlobalState], frozenset[FairAction]]
"""The fair actions that are enabled in a state."""


class Excuse(Enum):
    """Why a fair action does not help in the part of a run that repeats itself."""

    TAKEN = "taken"
    NEVER = "never enabled"
    AT_TIMES = "not always enabled"
    """And weakly fair: it is owed nothing, since it is disabled again and again."""
    UNFAIR = "unfair"
    """It could go on, but is owed nothing."""


@dataclass(frozen=True)
class FairPart:
    """A fair action in the part that repeats itself.

    step  the number of the first step there that it takes (TAKEN), or of the step after which it is not enabled
          (AT_TIMES), 0 where that is the state in which the part begins; else None
    site  for a slot with an activation that takes no step: the statement before which it stands, then
    idle  for a slot: it has no activation in all of the part"""

    action: FairAction
    fairness: Fairness
    excuse: Excuse
    step: int | None
    site: Site | None
    idle: bool


@dataclass(frozen=True)
class Forever:
    """How a run violates a live property.

    bindings  names and values of the property's `forall`s
    since     the number of steps after which the left side of `~>` holds and from which on the right side never does;
              for other shapes see `spec.liveness.Failure`
    stays     the run stays in its last state
    parts     every thread's slot, and every recovery that can happen in the part that repeats itself; empty where
              nobody was asked what is enabled"""

    bindings: tuple[tuple[str, Value], ...]
    since: int
    stays: bool
    parts: tuple[FairPart, ...]


def violation(trace: Trace, declared: PropertyDeclaration) -> Failure | None:
    """How the run of the trace violates the live property."""
    assert declared.live is not None
    loop = len(trace) if trace.loop is None else trace.loop
    states = trace.states if loop == len(trace) else trace.states[:-1]
    return failure(declared.live, states, loop)


def forever(trace: Trace, declared: PropertyDeclaration, found: Failure, able: Able | None) -> Forever:
    """What the trace shows of the live property, which it violates as `found` says."""
    assert declared.live is not None
    loop = len(trace) if trace.loop is None else trace.loop
    bindings = tuple((binder.name, found.values[binder.key]) for binder in declared.live.binders)
    stays = loop == len(trace)
    return Forever(bindings, found.since, stays, () if able is None else _parts(trace, loop, able))


def _parts(trace: Trace, loop: int, able: Able) -> tuple[FairPart, ...]:
    states = trace.states[loop:] if loop == len(trace) else trace.states[loop:-1]
    taken: dict[FairAction | None, int] = {}
    for number, event in enumerate(trace.events[loop:], start=loop + 1):
        taken.setdefault(fair_action(event), number)
    enabled = [able(state) for state in states]
    known = sites(trace.model)
    recoveries = {a for actions in (*enabled, taken) for a in actions if a is not None and a.kind is not EventKind.STEP}
    actions = [FairAction(EventKind.STEP, slot=slot) for slot in _slots(trace.model)]
    parts = []
    for action in (*actions, *sorted(recoveries, key=str)):
        owed = fairness(trace.model, action)
        running = [action.slot in state.activations for state in states] if action.slot is not None else [True]
        disabled = next((number for number, found in enumerate(enabled) if action not in found), None)
        if action in taken:
            parts.append(FairPart(action, owed, Excuse.TAKEN, taken[action], None, False))
            continue
        if all(action not in found for found in enabled):
            excuse = Excuse.NEVER
        else:
            excuse = Excuse.UNFAIR if owed is Fairness.UNFAIR else Excuse.AT_TIMES
        stands = None
        if action.slot is not None and disabled is not None and action.slot in states[disabled].activations:
            at = states[disabled].activations[action.slot].at
            stands = None if at is None else known.get(at)
        step = loop + (disabled or 0) if excuse is Excuse.AT_TIMES else None
        parts.append(FairPart(action, owed, excuse, step, stands, not any(running)))
    return tuple(parts)


def _slots(model: Model) -> list[Slot]:
    return [
        Slot(process.name, instance, thread.name, place)
        for process in model.processes
        for instance in range(process.instances.size)
        for thread in process.threads
        for place in range(thread.places)
    ]
