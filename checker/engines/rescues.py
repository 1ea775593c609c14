"""What is bad in an `at rest` or `recoverable` property, for IC3: fewer states with each way out that is found.

A state that looks bad is followed forwards (`checker.engines.saving`).  If the goal can be reached from it, the states
from which the same actions reach it are bad no longer, nor are their images under the symmetries.  What the frames of
IC3 exclude speaks of runs and not of what is bad, so they stay as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from checker.certificates.rescue import Rescue
from checker.engines.cubes import Space
from checker.engines.frames import Orbit
from checker.engines.saving import Doomed, Inconclusive, Saved, Saviour
from checker.engines.state_clauses import StateClauses
from checker.logic.formula import Formula, negate
from checker.logic.sat import GaveUp, Incremental
from checker.transition_system import Action, Permutation, Reachability, State, TransitionSystem

_IMAGES = 60
"""At most so many images are taken of one path."""
_SECONDS = 1.0
"""For leaving out ways that a proof does not need."""

Move = Sequence[tuple[int, int, Sequence[int]]]


class Rescues:
    """The ways out that are known for one property.

    swaps  symmetries of the system; each image of a path is looked for and not taken on trust
    """

    def __init__(
        self, system: TransitionSystem, saviour: Saviour, unless: Reachability, swaps: Sequence[Permutation]
    ) -> None:
        place = system.position
        self._saviour = saviour
        self._unless = unless
        self._swaps: list[Move] = [
            [(place[source], place[target], table) for source, target, table in swap.moves] for swap in swaps
        ]
        self._ways: list[Rescue] = []
        self._known: set[Formula] = set()
        self.unsaved: list[Formula] = []
        """A bad state is one in which all of these hold, too: no known way out is open."""

    def look(self, state: State, deadline: float | None, limit: int | None = None) -> Doomed | Inconclusive | None:
        """None when the state is saved, which is then known of all states that the way out is open for."""
        found = self._saviour.look(state, self._unless, deadline, limit)
        if not isinstance(found, Saved):
            return found
        for _, actions in self._images(found.states, found.actions):
            unsaved = negate(self._saviour.precondition(actions, self._unless))
            if unsaved not in self._known:
                self._known.add(unsaved)
                self.unsaved.append(unsaved)
                self._ways.append(Rescue(actions))
        return None

    def _images(
        self, states: tuple[State, ...], actions: tuple[Action, ...]
    ) -> list[tuple[tuple[State, ...], tuple[Action, ...]]]:
        """The path and its images, each found step by step."""
        found = [(states, actions)]
        seen = {states}
        for path, steps in found:
            for swap in self._swaps:
                image = tuple(_moved(state, swap) for state in path)
                if image in seen or len(seen) > _IMAGES:
                    continue
                seen.add(image)
                taken = []
                for action, before, after in zip(steps, image[:-1], image[1:], strict=True):
                    step = self._like(action, before, after)
                    if step is None:
                        break
                    taken.append(step)
                if len(taken) == len(steps):
                    found.append((image, tuple(taken)))
        return found

    def _like(self, action: Action, before: State, after: State) -> Action | None:
        """A step from the one state to the other."""
        for other, target in self._saviour.steps_from(before, self._unless):
            if target == after and len(other.writes) == len(action.writes):
                return other
        return None

    def needed(
        self,
        space: Space,
        orbits: Sequence[Orbit],
        bad: Formula,
        make_solver: Callable[[], Incremental],
        deadline: float | None,
    ) -> tuple[Rescue, ...]:
        """Those that a proof needs besides the invariant: the cubes are what never holds.  Raises GaveUp."""
        solver = make_solver()
        try:
            solver.deadline = deadline
            clauses = StateClauses(space, solver)
            for orbit in orbits:
                for image in orbit.images:
                    clauses.exclude(image)
            solver.add_clause((clauses.gate(bad),))
            gates = [clauses.gate(formula) for formula in self.unsaved]
            kept = list(range(len(gates)))
            stop = time.monotonic() + _SECONDS
            assert not solver.solve([gates[number] for number in kept]), "a bad state is not excluded"
            core = set(solver.core())
            kept = [number for number in kept if gates[number] in core]
            solver.deadline = stop if deadline is None else min(stop, deadline)
            for number in list(kept):
                without = [other for other in kept if other != number]
                if len(without) < len(kept):
                    try:
                        if solver.solve([gates[other] for other in without]):
                            continue
                    except GaveUp:
                        break
                    core = set(solver.core())
                    kept = [other for other in without if gates[other] in core]
            return tuple(self._ways[number] for number in kept)
        finally:
            solver.close()


def _moved(state: State, swap: Move) -> State:
    image = list(state)
    for source, target, table in swap:
        image[target] = table[state[source]]
    return tuple(image)


__all__ = ["Rescues"]
