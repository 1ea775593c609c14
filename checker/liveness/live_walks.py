"""Random walks of the reference interpreter that are fair, for the second check of proofs about infinite runs.

A walk seldom takes a fault, and gives everybody who can move the same chance, so that fair rounds go by.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checker.certificates.certificate import SEED, Coding
from checker.liveness.assumptions import Mover, able, mover
from checker.transition_system import State
from spec.event import Event
from spec.interpreter import Interpreter
from spec.state import GlobalState

STATES = 600
"""About so many states are visited."""
FEWEST = 100
"""So many states are visited, however long that takes."""
PATIENCE = 10.0
"""Seconds after which the walks are cut short, once they have come to `FEWEST` states."""
_LONGEST = 80
"""A walk starts anew after so many steps."""
_FAULTS = 0.05
"""The part of the steps that are faults, where there is a choice."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A state of a walk, and the step that the walk takes from there.

    code      of the state; None when it has none
    able      who can move here
    event     None at the end of the walk
    moved     who takes the step; None for a fault, and at the end
    """

    state: GlobalState
    code: State | None
    able: frozenset[Mover]
    event: Event | None
    moved: Mover | None


Walk = tuple[Visit, ...]


class LiveWalks:
    """initial, code  the initial state, for the interpreter and packed"""

    def __init__(
        self,
        coding: Coding,
        interpreter: Interpreter,
        code: State,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.clock = clock
        self._coding = coding
        self._interpreter = interpreter
        self._code = code
        self._drawn = random.Random(SEED)
        self._walks: list[Walk] = []
        self._visited = 0
        self._seconds = 0.0

    def walks(self) -> Iterator[Walk]:
        """The walks, in the same order each time."""
        place = 0
        while place < len(self._walks) or self._walk_on():
            yield self._walks[place]
            place += 1

    def _walk_on(self) -> bool:
        """Adds a walk; False when there are enough."""
        late = self._seconds > PATIENCE and self._visited >= FEWEST
        if late or self._visited >= STATES:
            return False
        begin = self.clock()
        walk = tuple(self._walk())
        self._walks.append(walk)
        self._visited += len(walk)
        self._seconds += self.clock() - begin
        return True

    def _walk(self) -> Iterator[Visit]:
        state: GlobalState = self._interpreter.initial()
        code: State | None = self._code
        for _ in range(_LONGEST):
            steps = self._interpreter.successors(state)
            if code is not None:
                known = code
                steps = [step for step in steps if self._coding.affords(known, step[0])]
            calm = [step for step in steps if self._interpreter.kind(step[0]) != "fault"]
            can = able(self._interpreter, (event for event, _ in calm))
            chosen = self._choose(calm, [step for step in steps if step not in calm])
            if chosen is None or code is None:
                yield Visit(state, code, can, None, None)
                return
            event, after = chosen
            yield Visit(state, code, can, event, mover(event, self._interpreter.topology))
            code = self._coding.successor_code(code, event, after)
            state = after
        can = able(self._interpreter, (event for event, _ in self._interpreter.undisturbed(state)))
        yield Visit(state, code, can, None, None)

    def _choose(self, calm: list[_Step], faults: list[_Step]) -> _Step | None:
        if faults and (not calm or self._drawn.random() < _FAULTS):
            return self._drawn.choice(faults)
        if not calm:
            return None
        by_mover: dict[Mover | None, list[_Step]] = {}
        for step in calm:
            by_mover.setdefault(mover(step[0], self._interpreter.topology), []).append(step)
        return self._drawn.choice(self._drawn.choice(list(by_mover.values())))


_Step = tuple[Event, GlobalState]


__all__ = ["FEWEST", "PATIENCE", "STATES", "LiveWalks", "Visit", "Walk"]
