"""Random walks of the reference interpreter from the initial state, for the second check of invariants.

All invariants of a lowered model are held against the same walks, so these are taken once and remembered.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checker.certificates.certificate import SEED, Coding, Semantics
from checker.transition_system import State
from spec.event import Event
from spec.state import GlobalState

STEPS = 2500
"""The interpreter takes about so many steps."""
FEWEST = 100
"""So many states are looked at, however long that takes."""
PATIENCE = 10.0
"""Seconds after which the walks are cut short, once they have come to `FEWEST` states."""
_LONGEST = 60
"""A walk starts anew after so many steps."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the interpreter.  `code`: of the state after it; None when it has none."""

    before: GlobalState
    event: Event
    after: GlobalState
    code: State | None


class Stumble(Exception):
    """The interpreter raised something, which is the cause, when it looked for the steps from `state`."""

    def __init__(self, state: GlobalState) -> None:
        super().__init__()
        self.state = state


class Walks:
    """initial, code  the initial state, for the interpreter and packed"""

    def __init__(
        self,
        coding: Coding,
        semantics: Semantics,
        initial: GlobalState,
        code: State,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.initial = initial
        self.code = code
        self.clock = clock
        self._coding = coding
        self._semantics = semantics
        self._drawn = random.Random(SEED)
        self._steps: list[Step] = []
        self._codes = {code}
        self._here: tuple[GlobalState, State] = initial, code
        self._length = 0
        self._dead_ends = 0
        self._seconds = 0.0

    def steps(self) -> Iterator[Step]:
        """All steps from every state that a walk comes to, in the same order each time.  Raises Stumble."""
        place = 0
        while place < len(self._steps) or self._walk_on():
            yield self._steps[place]
            place += 1

    def _walk_on(self) -> bool:
        """Adds the steps from one state or more, and goes one of them; False at the end of the walks."""
        begin, size = self.clock(), len(self._steps)
        try:
            while len(self._steps) == size:
                late = self._seconds > PATIENCE and len(self._codes) >= FEWEST
                # A model that is stuck at once has nothing to walk through.
                if late or size + self._dead_ends > STEPS:
                    return False
                self._take()
            return True
        finally:
            self._seconds += self.clock() - begin

    def _take(self) -> None:
        before, code = self._here
        try:
            found = [
                Step(before, event, after, self._coding.successor_code(code, event, after))
                for event, after in self._semantics.successors(before)
                if self._coding.affords(code, event)
            ]
        except Exception as error:
            raise Stumble(before) from error
        self._steps += found
        self._codes.update(step.code for step in found if step.code is not None)
        self._length += 1
        coded = [(step.after, step.code) for step in found if step.code is not None]
        self._dead_ends += not coded
        if coded and self._length < _LONGEST:
            self._here = self._drawn.choice(coded)
        else:
            self._here = self.initial, self.code
            self._length = 0


__all__ = ["FEWEST", "PATIENCE", "STEPS", "Step", "Stumble", "Walks"]
