"""The frames of IC3: for each level a set of cubes that no run enters within so many steps.

Frame i stands for the states outside all cubes of level i and above.  It contains every state that can be reached
within i steps; frame 0 is the initial state alone.  A cube is kept together with its images under the symmetries of the
system (its orbit), so that what is learnt about one workflow is known about all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checker.engines.cubes import Cube, Space, Symmetry
from checker.engines.state_clauses import StateClauses
from checker.logic.formula import Formula
from checker.logic.sat import Incremental

FOREVER = 1 << 30
"""The level of cubes that no run ever enters."""
REPLACED = -1

_WASTE = 4_000
"""So many clauses may be out of use before the solver is made anew."""


class TooManyImages(Exception):
    """A cube has more images than are worth keeping."""


@dataclass(eq=False, slots=True)
class Orbit:
    """A cube, and it and its images.

    level     the highest frame that they are excluded from; REPLACED when a weaker cube has taken their place
    obstacle  the number of an action that kept it from the next level
    """

    cube: Cube
    images: Sequence[Cube]
    level: int
    obstacle: int = -1


class Frames:
    """Levels 0 to `top`, and FOREVER, in one incremental solver.

    make_solver  makes the solver; it is called again when too much of what the solver knows is out of use
    """

    def __init__(self, space: Space, symmetry: Symmetry, make_solver: Callable[[], Incremental]) -> None:
        self.space = space
        self._symmetry = symmetry
        self._make = make_solver
        self._levels: list[list[Orbit]] = []
        self._forever: list[Orbit] = []
        self._activations: list[int] = []
        self._bad: list[Formula] = []
        self._waste = 0
        self.changes = 0
        """Counts the cubes that were added."""
        self.clauses = self._fresh()
        self.open_level()

    @property
    def top(self) -> int:
        return len(self._levels) - 1

    def close(self) -> None:
        self.clauses.solver.close()

    def _fresh(self) -> StateClauses:
        clauses = StateClauses(self.space, self._make())
        activations = [clauses.new() for _ in self._levels]
        for level, activation in enumerate(activations[:-1]):
            clauses.solver.add_clause((-activation, activations[level + 1]))
        self._activations = activations
        if activations:
            self._begin(clauses, activations[0])
        for orbit in self._forever:
            for image in orbit.images:
                clauses.exclude(image)
        for level, orbits in enumerate(self._levels):
            for orbit in orbits:
                for image in orbit.images:
                    clauses.exclude(image, -activations[level])
        return clauses

    def _begin(self, clauses: StateClauses, activation: int) -> None:
        for place, variable in enumerate(self.space.variables):
            for literal in clauses.member(place, 1 << variable.initial):
                clauses.solver.add_clause((-activation, literal))

    def open_level(self) -> None:
        """One more level, which excludes nothing yet."""
        activation = self.clauses.new()
        if self._activations:
            self.clauses.solver.add_clause((-self._activations[-1], activation))
        else:
            self._begin(self.clauses, activation)
        self._activations.append(activation)
        self._levels.append([])

    def prefix(self, level: int) -> tuple[int, ...]:
        """The assumptions that describe the frame."""
        if level == FOREVER:
            return ()
        return (self._activations[level],)

    def cubes(self, level: int) -> list[Orbit]:
        """The orbits of exactly this level."""
        return self._levels[level]

    def beyond(self, level: int) -> list[Orbit]:
        """The orbits of all higher levels."""
        return [orbit for orbits in self._levels[level + 1 :] for orbit in orbits] + self._forever

    def excludes(self, level: int, cube: Cube) -> bool:
        """Whether the frame is known, without a question to the solver, to have no state of the cube."""
        outside = ~cube.bits
        for orbits in (self._forever, *self._levels[level:]):
            for orbit in orbits:
                for image in orbit.images:
                    if image.bits | outside == -1:
                        return True
        return False

    def add(self, cube: Cube, level: int) -> None:
        """Excludes a cube, and its images, from all frames up to the level.

        Raises TooManyImages; then nothing has changed.
        """
        images = self._symmetry.orbit(cube) if self._symmetry else [cube]
        if images is None:
            raise TooManyImages
        self.changes += 1
        for lower in range(1, level + 1):
            kept = []
            for orbit in self._levels[lower]:
                if any(orbit.cube.within(image.bits) for image in images):
                    orbit.level = REPLACED
                    self._waste += len(orbit.images)
                else:
                    kept.append(orbit)
            self._levels[lower] = kept
        self._levels[level].append(Orbit(cube, images, level))
        for image in images:
            self.clauses.exclude(image, -self._activations[level])
        if self._waste > _WASTE + sum(len(o.images) for orbits in self._levels for o in orbits):
            self._waste = 0
            deadline = self.clauses.solver.deadline
            self.clauses.solver.close()
            self.clauses = self._fresh()
            self.clauses.solver.deadline = deadline

    def keep_forever(self, orbits: Sequence[Orbit]) -> None:
        """These orbits are inductive: no run enters them."""
        for orbit in orbits:
            if orbit.level != FOREVER:
                self._levels[orbit.level].remove(orbit)
                orbit.level = FOREVER
                self._forever.append(orbit)
                for image in orbit.images:
                    self.clauses.exclude(image)


__all__ = ["FOREVER", "Frames", "Orbit", "TooManyImages"]
