"""The evidence behind a proof, and how it is checked before anybody sees it.

A finished search hands over all the states it has seen.  Two checks, neither of which trusts the search:

1. the set is recomputed to be closed (`ClosedSet.recheck`): it holds the initial state, every action leads back into
   it, no state of it violates;
2. the reference interpreter, which knows nothing of the lowering, walks from states of the set: each of its successors
   must be in the set, and each property must hold there.  All states when they are few, else a drawn sample.

The second check is what ties the proof to the language rather than to the transition system.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from checker.engines.engine import ClosedSet
from checker.transition_system import State
from spec.event import Event
from spec.state import GlobalState
from spec.typed import PropertyForm

SEED = 1
SMALL = 500
"""A closed set of at most so many states is small enough to be written down."""
_STEPS = 2500
"""The interpreter takes no more steps than this for one set (and one more state): about a second."""
_PATIENCE = 20.0
"""Seconds after which a sample is cut short whatever its size, once it has `_FEWEST` states."""
_FEWEST = 20
RESCUES = 10
"""For each property `at rest` and `recoverable`, of so many states that violate it the interpreter finds out whether
they can still change; it visits at most `RESCUE` states for each."""
RESCUE = 500


@dataclass(frozen=True)
class Certificate:
    """A closed set of states that has passed both checks.

    engine     which engine found it
    states     how many states it has (with `symmetric`: one for each orbit)
    depth      the length of the longest shortest path
    walked     how many of them the interpreter has walked from; `steps`: how many steps that were
    """

    engine: str
    states: int
    symmetric: bool
    depth: int
    walked: int
    steps: int
    closed_set: ClosedSet | None = field(default=None, compare=False, repr=False)
    """The set itself, where it is small enough to be written down."""
    apart: bool = False
    """Whether `stuck_threads` was decided for each slot by itself."""

    @property
    def complete(self) -> bool:
        """Whether the interpreter has walked from every state."""
        return self.walked == self.states


@dataclass(frozen=True)
class Flaw:
    """Why a closed set proves nothing; `state` is where, when it is one state."""

    message: str
    state: GlobalState | None = None
    event: Event | None = None
    after: GlobalState | None = None
    detail: str | None = None


class Claim(Protocol):
    """A property as the interpreter judges it."""

    @property
    def name(self) -> str: ...
    @property
    def form(self) -> PropertyForm: ...
    def state_violates(self, state: GlobalState) -> bool:
        """For a cover: whether the state is covered."""
        ...

    def step_violates(self, state: GlobalState, after: GlobalState) -> bool: ...
    def is_rescued(self, state: GlobalState, limit: int) -> bool | None:
        """For `at rest` and `recoverable`, of a state that violates: whether it can still change or recover; None when
        `limit` states do not tell."""
        ...


class Semantics(Protocol):
    def successors(self, state: GlobalState) -> Sequence[tuple[Event, GlobalState]]: ...


class Coding(Protocol):
    def decode(self, state: State) -> GlobalState: ...
    def successor_code(self, before: State, event: Event, after: GlobalState) -> State | None:
        """The code of `after`, reached from `before` by `event`; None when it has none."""
        ...

    def affords(self, before: State, event: Event) -> bool:
        """Whether the fault budget that is left in `before` allows the event."""
        ...


def certify(
    closed_set: ClosedSet,
    engine: str,
    depth: int,
    claims: Sequence[Claim],
    coding: Coding,
    semantics: Semantics,
    clock: Callable[[], float] = time.monotonic,
) -> Certificate | Flaw:
    """Both checks; the certificate, or the first flaw found."""
    wrong = closed_set.recheck()
    if wrong is not None:
        return Flaw(f"the closed set fails its re-check: {wrong}")
    deadline = clock() + _PATIENCE
    rescues = dict.fromkeys((claim.name for claim in claims), RESCUES)
    walked = steps = 0
    for code in _drawn(closed_set):
        if steps > _STEPS or (walked >= _FEWEST and clock() > deadline):
            break
        walked += 1
        state = coding.decode(code)
        try:
            found = _walk(code, state, closed_set, claims, coding, semantics, rescues)
        except Exception as error:
            message = f"the interpreter stopped with {type(error).__name__}: {error}"
            return Flaw(message, state, detail=traceback.format_exc())
        if isinstance(found, Flaw):
            return found
        steps += found
    kept = closed_set if len(closed_set) <= SMALL else None
    return Certificate(engine, len(closed_set), closed_set.symmetric, depth, walked, steps, kept)


def _walk(
    code: State,
    state: GlobalState,
    closed_set: ClosedSet,
    claims: Sequence[Claim],
    coding: Coding,
    semantics: Semantics,
    rescues: dict[str, int],
) -> int | Flaw:
    """The number of steps that lead out of a state, all of them into the set; or a flaw."""
    flaw = _violation(claims, state, rescues)
    if flaw is not None:
        return flaw
    steps = 0
    for event, after in semantics.successors(state):
        if not coding.affords(code, event):
            continue
        steps += 1
        known = coding.successor_code(code, event, after)
        if known is None or known not in closed_set:
            return Flaw("the interpreter takes a step out of the closed set", state, event, after)
        for claim in claims:
            if claim.form is PropertyForm.STEP_INVARIANT and claim.step_violates(state, after):
                return Flaw(f"the interpreter finds {claim.name} violated by a step", state, event, after)
    return steps


def _drawn(closed_set: ClosedSet) -> Iterator[State]:
    return closed_set.sample(min(len(closed_set), _STEPS + 1), SEED)


def _violation(claims: Sequence[Claim], state: GlobalState, rescues: dict[str, int]) -> Flaw | None:
    """A claim that the state refutes.  `rescues`: how many states may still be followed up, for each claim."""
    for claim in claims:
        if claim.form is PropertyForm.STEP_INVARIANT or not claim.state_violates(state):
            continue
        if claim.form in (PropertyForm.AT_REST, PropertyForm.RECOVERABLE):
            rescues[claim.name] -= 1
            if rescues[claim.name] < 0 or claim.is_rescued(state, RESCUE) is not False:
                continue
        return Flaw(f"the interpreter finds {claim.name} violated in a state of the closed set", state)
    return None
