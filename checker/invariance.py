"""The evidence behind a proof by an inductive invariant, and how it is checked before anybody sees it.

Two checks, neither of which trusts the engine that found the invariant:

1. a SAT solver that the engine did not use confirms, from clauses that it did not make, that the invariant holds at
   first, that no step leads out of it and that it excludes every violation (`checker.invariant.check`);
2. the reference interpreter, which knows nothing of the lowering, walks at random from the initial state: every state
   that it comes to, and every neighbour of these, must be in the invariant and must not violate the property.
"""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from checker.certificate import SEED, Claim, Coding, Flaw, Semantics
from checker.formula import Formula, evaluate
from checker.invariant import Invariant, check
from checker.transition_system import Property, State, TransitionSystem
from checker.wording import Sentence
from spec.state import GlobalState
from spec.typed import PropertyForm

_STEPS = 2500
"""The interpreter takes about so many steps for one invariant."""
_LONGEST = 60
"""A walk starts anew after so many steps."""
_PATIENCE = 10.0
"""Seconds after which the walks are cut short, once `_FEWEST` states have been looked at."""
_FEWEST = 100
SOLVER_SECONDS = 60.0
"""For the first check, whatever is left of the check's own time."""


@dataclass(frozen=True)
class InvariantCertificate:
    """An inductive invariant that has passed both checks.

    engine  which engine found it, in how many frames
    walked  how many states the interpreter has come to; steps: by how many steps
    """

    engine: str
    invariant: Invariant
    frames: int
    walked: int
    steps: int
    told: Callable[[], tuple[Sentence, ...]] = field(default=tuple, compare=False, repr=False)
    """The invariant in the model's words, worked out when it is wanted."""

    @property
    def clauses(self) -> int:
        return len(self.invariant.cubes)


class NoAnswer(Exception):
    """The solver could not finish the first check."""


def certify_invariant(
    system: TransitionSystem,
    target: Property,
    invariant: Invariant,
    engine: str,
    frames: int,
    claim: Claim,
    coding: Coding,
    semantics: Semantics,
    initial: GlobalState,
    clock: Callable[[], float] = time.monotonic,
) -> InvariantCertificate | Flaw:
    """Both checks; the certificate, or the first flaw found.  Raises NoAnswer when the solver gives up."""
    wrong = check(system, target, invariant, time.monotonic() + SOLVER_SECONDS)
    if wrong is not None and wrong.startswith("the solver gave no answer"):
        raise NoAnswer(wrong)
    if wrong is not None:
        return Flaw(f"the invariant of {target.name} fails its re-check: {wrong}")
    walk = _Walk(system, invariant, claim, coding, semantics)
    flaw = walk.go(initial, clock() + _PATIENCE, clock)
    if flaw is not None:
        return flaw
    return InvariantCertificate(engine, invariant, frames, walk.states, walk.steps)


class _Walk:
    def __init__(
        self, system: TransitionSystem, invariant: Invariant, claim: Claim, coding: Coding, semantics: Semantics
    ) -> None:
        self._place = system.position
        self._initial = system.initial
        self._clauses = invariant.clauses
        self._claim = claim
        self._coding = coding
        self._semantics = semantics
        self._known: set[State] = set()
        self.steps = 0

    @property
    def states(self) -> int:
        return len(self._known)

    def go(self, initial: GlobalState, deadline: float, clock: Callable[[], float]) -> Flaw | None:
        drawn = random.Random(SEED)
        while True:
            state, code = initial, self._initial
            flaw = self._look(state, code)
            for _ in range(_LONGEST):
                if flaw is not None:
                    return flaw
                if self.steps > _STEPS or (self.states >= _FEWEST and clock() > deadline):
                    return None
                try:
                    following, flaw = self._neighbours(state, code)
                except Exception as error:
                    message = f"the interpreter stopped with {type(error).__name__}: {error}"
                    return Flaw(message, state, detail=traceback.format_exc())
                if not following:
                    break
                state, code = drawn.choice(following)
            if flaw is not None:
                return flaw
            # A model that is stuck at once has nothing to walk through.
            self.steps += 1

    def _neighbours(self, state: GlobalState, code: State) -> tuple[list[tuple[GlobalState, State]], Flaw | None]:
        found: list[tuple[GlobalState, State]] = []
        for event, after in self._semantics.successors(state):
            if not self._coding.affords(code, event):
                continue
            self.steps += 1
            known = self._coding.successor_code(code, event, after)
            if known is None:
                return [], Flaw(
                    "the interpreter comes to a state that the invariant has no code for", state, event, after
                )
            flaw = self._look(after, known)
            if flaw is not None:
                return [], Flaw(flaw.message, state, event, after)
            if self._claim.form is PropertyForm.STEP_INVARIANT and self._claim.step_violates(state, after):
                return [], Flaw(f"the interpreter finds {self._claim.name} violated by a step", state, event, after)
            found.append((after, known))
        return found, None

    def _look(self, state: GlobalState, code: State) -> Flaw | None:
        if code in self._known:
            return None
        self._known.add(code)
        for number, clause in enumerate(self._clauses):
            if not self._holds(clause, code):
                return Flaw(f"the interpreter comes to a state where clause {number} does not hold", state)
        if self._claim.form is not PropertyForm.STEP_INVARIANT and self._claim.state_violates(state):
            return Flaw(f"the interpreter finds {self._claim.name} violated", state)
        return None

    def _holds(self, clause: Formula, code: State) -> bool:
        return evaluate(clause, lambda variable: code[self._place[variable]])


__all__ = ["InvariantCertificate", "NoAnswer", "certify_invariant"]
