"""The part of an inductive invariant that a proof needs.

First the cubes that the unsatisfiable core of the safety question names, then those that the cores of their consecution
questions name, and so on; after that, one orbit after the other is left out for a trial (compare Ivrii, Gurfinkel and
Belov, "Small inductive safe invariants", 2014).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from checker.engines.cubes import Space
from checker.engines.frames import Orbit
from checker.engines.preimages import Predecessor, Preimages
from checker.engines.state_clauses import StateClauses
from checker.logic.formula import Formula
from checker.logic.sat import GaveUp, Incremental
from checker.time_limit import OUT_OF_TIME

_SECONDS = 1.0
"""For the trials."""


def inductive_core(
    space: Space,
    preimages: Preimages,
    orbits: Sequence[Orbit],
    bad: Formula,
    make_solver: Callable[[], Incremental],
    deadline: float | None,
) -> list[Orbit] | Predecessor:
    """Those of the orbits, which together exclude `bad`, that are inductive and exclude it, too.

    Every image of every cube is looked at: no symmetry is taken on trust.  If the cubes are not inductive the answer is
    a step that leads into one of them.  Raises GaveUp when the deadline has passed and none of this is known.
    """
    solver = make_solver()
    try:
        solver.deadline = deadline
        core = _Core(space, preimages, orbits, bad, solver)
        found = core.closure(set(range(len(orbits))))
        assert found is not None, "the cubes do not exclude what is bad"
        if isinstance(found, Predecessor):
            return found
        stop = time.monotonic() + _SECONDS
        solver.deadline = stop if deadline is None else min(stop, deadline)
        kept = core.reduced(found)
        return [orbit for number, orbit in enumerate(orbits) if number in kept]
    finally:
        solver.close()


class _Core:
    def __init__(
        self, space: Space, preimages: Preimages, orbits: Sequence[Orbit], bad: Formula, solver: Incremental
    ) -> None:
        self.orbits = orbits
        self.preimages = preimages
        self.clauses = StateClauses(space, solver)
        self.literals = [self.clauses.new() for _ in orbits]
        self.number = {literal: number for number, literal in enumerate(self.literals)}
        self.bad = self.clauses.gate(bad)
        for literal, orbit in zip(self.literals, orbits, strict=True):
            for image in orbit.images:
                self.clauses.exclude(image, -literal)

    def closure(self, kept: set[int]) -> set[int] | Predecessor | None:
        """Those of the kept orbits that the proof leads to; None if a bad state is outside all cubes; a step into one
        of them if there is one."""
        prefix = [self.literals[number] for number in sorted(kept)]
        solver = self.clauses.solver
        if solver.solve([*prefix, self.bad]):
            return None
        needed = {self.number[literal] for literal in solver.core() if literal in self.number}
        queue = sorted(needed)
        for number in queue:
            for image in self.orbits[number].images:
                if solver.deadline is not None and time.monotonic() >= solver.deadline:
                    raise GaveUp(OUT_OF_TIME)
                answer = self.preimages.blocked(self.clauses, image, prefix)
                if isinstance(answer, Predecessor):
                    return answer
                for literal in sorted(answer.prefix):
                    other = self.number[literal]
                    if other not in needed:
                        needed.add(other)
                        queue.append(other)
        return needed

    def reduced(self, kept: set[int]) -> set[int]:
        """Leaves out one orbit after the other while the rest is still a proof, until time is up."""
        # Cubes of many literals say least.
        for number in sorted(kept, key=lambda n: (-len(self.orbits[n].cube.literals), n)):
            if number in kept:
                try:
                    found = self.closure(kept - {number})
                except GaveUp:
                    break
                if isinstance(found, set):
                    kept = found
        return kept


__all__ = ["inductive_core"]
