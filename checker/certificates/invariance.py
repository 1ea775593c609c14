"""The evidence behind a proof by an inductive invariant, and how it is checked before anybody sees it.

Two checks, neither of which trusts the engine that found the invariant:

1. a SAT solver that the engine did not use confirms, from clauses that it did not make, that the invariant holds at
   first, that no step leads out of it and that it excludes every violation (`checker.certificates.invariant.check`);
2. the reference interpreter, which knows nothing of the lowering, walks at random from the initial state: every state
   that it comes to, and every neighbour of these, must be in the invariant and must not violate the property.  Of some
   states that look like a violation of `at rest` or `recoverable` it finds out whether there is a way out.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from checker.certificates.certificate import RESCUE, RESCUES, Claim, Flaw
from checker.certificates.invariant import Invariant, check
from checker.certificates.rescue import Rescue
from checker.certificates.walks import FEWEST, PATIENCE, Step, Stumble, Walks
from checker.logic.formula import evaluate
from checker.reports.wording import Sentence
from checker.transition_system import Property, State, TransitionSystem
from spec.state import GlobalState
from spec.typed import PropertyForm

SOLVER_SECONDS = 60.0
"""For the first check, whatever is left of the check's own time."""


@dataclass(frozen=True)
class InvariantCertificate:
    """An inductive invariant that has passed both checks.

    engine  which engine found it, in how many frames
    rescues  ways out, one of which is open wherever the invariant allows what looks like a violation
    walked  how many states the interpreter has come to; steps: by how many steps
    """

    engine: str
    invariant: Invariant
    frames: int
    walked: int
    steps: int
    rescues: tuple[Rescue, ...] = ()
    told: Callable[[], tuple[Sentence, ...]] = field(default=tuple, compare=False, repr=False)
    """The invariant in the model's words, worked out when it is wanted."""

    @property
    def ways(self) -> int:
        return len(self.rescues)

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
    walks: Walks,
    rescues: Sequence[Rescue] = (),
    seconds: float = SOLVER_SECONDS,
) -> InvariantCertificate | Flaw:
    """Both checks; the certificate, or the first flaw found.  seconds: for the solver.  Raises NoAnswer when that gives
    up."""
    wrong = check(system, target, invariant, time.monotonic() + min(seconds, SOLVER_SECONDS), rescues=rescues)
    if wrong is not None and wrong.startswith("the solver gave no answer"):
        raise NoAnswer(wrong)
    if wrong is not None:
        return Flaw(f"the invariant of {target.name} fails its re-check: {wrong}")
    look = _Look(system, invariant, claim)
    flaw = look.at_all(walks)
    if flaw is not None:
        return flaw
    return InvariantCertificate(engine, invariant, frames, look.states, look.steps, tuple(rescues))


class _Look:
    """One invariant and its claim, held against the states and steps of the walks."""

    def __init__(self, system: TransitionSystem, invariant: Invariant, claim: Claim) -> None:
        self._place = system.position
        self._clauses = invariant.clauses
        self._claim = claim
        self._known: set[State] = set()
        self._rescues = RESCUES
        self.steps = 0

    @property
    def states(self) -> int:
        return len(self._known)

    def at_all(self, walks: Walks) -> Flaw | None:
        deadline = walks.clock() + PATIENCE
        wrong = self._state(walks.initial, walks.code)
        if wrong is not None:
            return Flaw(wrong, walks.initial)
        try:
            for step in walks.steps():
                self.steps += 1
                wrong = self._step(step)
                if wrong is not None:
                    return Flaw(wrong, step.before, step.event, step.after)
                if self.states >= FEWEST and walks.clock() > deadline:
                    return None
        except Stumble as stumble:
            error = stumble.__cause__
            message = f"the interpreter stopped with {type(error).__name__}: {error}"
            return Flaw(message, stumble.state, detail="".join(traceback.format_exception(error)))
        return None

    def _step(self, step: Step) -> str | None:
        if step.code is None:
            return "the interpreter comes to a state that the invariant has no code for"
        if self._claim.form is PropertyForm.STEP_INVARIANT and self._claim.step_violates(step.before, step.after):
            return f"the interpreter finds {self._claim.name} violated by a step"
        return self._state(step.after, step.code)

    def _state(self, state: GlobalState, code: State) -> str | None:
        if code in self._known:
            return None
        self._known.add(code)
        for number, clause in enumerate(self._clauses):
            if not evaluate(clause, lambda variable: code[self._place[variable]]):
                return f"the interpreter comes to a state where clause {number} does not hold"
        if self._claim.form is not PropertyForm.STEP_INVARIANT and self._claim.state_violates(state):
            if self._claim.form in (PropertyForm.AT_REST, PropertyForm.RECOVERABLE):
                self._rescues -= 1
                if self._rescues < 0 or self._claim.is_rescued(state, RESCUE) is not False:
                    return None
            return f"the interpreter finds {self._claim.name} violated"
        return None


__all__ = ["InvariantCertificate", "NoAnswer", "certify_invariant"]
