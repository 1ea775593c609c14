"""Properties as the reference interpreter judges them, for the second check of a certificate."""

from __future__ import annotations

from dataclasses import dataclass

from spec.event import Slot
from spec.interpreter import Interpreter
from spec.rest import Answer, at_rest, recoverable
from spec.state import ErrorKind, GlobalState
from spec.stuck import STUCK_THREADS, Stuck
from spec.typed import PropertyDeclaration, PropertyForm


@dataclass(frozen=True)
class NoModelError:
    """`model_errors`: no run ends in a model error."""

    name: str = "model_errors"
    form: PropertyForm = PropertyForm.INVARIANT

    def state_violates(self, state: GlobalState) -> bool:
        return state.error is not None and state.error.kind is not ErrorKind.ASSERTION

    def step_violates(self, state: GlobalState, after: GlobalState) -> bool:
        return False

    def is_rescued(self, state: GlobalState, limit: int) -> bool | None:
        return False


@dataclass(frozen=True)
class Asserted:
    """`assert_LINE`: no assertion with one of these statement ids fails."""

    name: str
    sites: frozenset[int]
    form: PropertyForm = PropertyForm.INVARIANT

    def state_violates(self, state: GlobalState) -> bool:
        error = state.error
        return error is not None and error.kind is ErrorKind.ASSERTION and error.site in self.sites

    def step_violates(self, state: GlobalState, after: GlobalState) -> bool:
        return False

    def is_rescued(self, state: GlobalState, limit: int) -> bool | None:
        return False


@dataclass(frozen=True)
class NoStuckThread:
    """`stuck_threads`: no thread is stuck.  What it looks at is whether any is blocked, or with `slot` that one: who is
    stuck stays blocked for ever."""

    stuck: Stuck
    slot: Slot | None = None
    form: PropertyForm = PropertyForm.RECOVERABLE

    @property
    def name(self) -> str:
        return STUCK_THREADS if self.slot is None else f"{STUCK_THREADS} {self.slot}"

    def state_violates(self, state: GlobalState) -> bool:
        return self.stuck.is_suspicious(state) if self.slot is None else self.stuck.is_suspected(state, self.slot)

    def step_violates(self, state: GlobalState, after: GlobalState) -> bool:
        return False

    def is_rescued(self, state: GlobalState, limit: int) -> bool | None:
        stuck, slot = self.stuck, self.slot
        answer = stuck.clears(state, limit) if slot is None else stuck.goes_on(state, slot, limit)
        return None if answer is Answer.OPEN else answer is Answer.YES


@dataclass(frozen=True)
class Declared:
    """A property that the model declares.  A run that ended in a model error has no further states for it; no state
    and no step violates a `live` one."""

    declaration: PropertyDeclaration
    interpreter: Interpreter

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def form(self) -> PropertyForm:
        return self.declaration.form

    def state_violates(self, state: GlobalState) -> bool:
        if state.error is not None or self.form is PropertyForm.LIVE:
            return False
        holds = self.interpreter.satisfies(self.declaration.condition, state)
        return holds if self.form is PropertyForm.COVER else not holds

    def step_violates(self, state: GlobalState, after: GlobalState) -> bool:
        if state.error is not None or after.error is not None:
            return False
        return not self.interpreter.satisfies(self.declaration.condition, state, after)

    def is_rescued(self, state: GlobalState, limit: int) -> bool | None:
        if self.form is PropertyForm.RECOVERABLE:
            answer, rescue = recoverable(self.interpreter, state, self.declaration.condition, limit), Answer.YES
        else:
            answer, rescue = at_rest(self.interpreter, state, limit), Answer.NO
        return None if answer is Answer.OPEN else answer is rescue
