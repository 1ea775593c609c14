"""Cubes: sets of states that a conjunction of literals `variable in mask` describes.

A cube is kept twice: as its literals, and as one integer with a field of bits for each variable (all ones where the
cube says nothing).  Inclusion of cubes is then one operation on integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from checker.logic.formula import Formula, Variable, member
from checker.transition_system import Permutation, State

Literals = tuple[tuple[int, int], ...]
"""(place of the variable, mask), in the order of places; a mask is neither empty nor full."""


@dataclass(frozen=True, slots=True)
class Cube:
    """Made by `Space.cube`.  No mask is empty, so every cube holds in some state."""

    literals: Literals
    bits: int

    def within(self, bits: int) -> bool:
        """Whether every state of this cube is one of the cube with these bits."""
        return not self.bits & ~bits


class Space:
    """The variables of a transition system, and where each has its field."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = tuple(variables)
        self.place = {variable: place for place, variable in enumerate(self.variables)}
        self.full = [variable.full_mask for variable in self.variables]
        self.offset: list[int] = []
        width = 0
        for variable in self.variables:
            self.offset.append(width)
            width += variable.size
        self.everything = (1 << width) - 1
        self.initial = self.state_bits([variable.initial for variable in self.variables])

    def state_bits(self, state: State | Sequence[int]) -> int:
        return sum(1 << offset + code for offset, code in zip(self.offset, state, strict=True))

    def cube(self, masks: Mapping[int, int]) -> Cube:
        """The cube with these masks; full ones are left out."""
        literals = tuple(sorted((place, mask) for place, mask in masks.items() if mask != self.full[place]))
        bits = self.everything
        for place, mask in literals:
            assert mask
            bits ^= (self.full[place] ^ mask) << self.offset[place]
        return Cube(literals, bits)

    def only(self, place: int, mask: int) -> int:
        """The bits of the cube of one literal."""
        return self.everything ^ (self.full[place] ^ mask) << self.offset[place]

    def field(self, bits: int, place: int) -> int:
        """The mask of one variable in these bits."""
        return bits >> self.offset[place] & self.full[place]

    def weakened(self, cube: Cube, bits: int) -> Cube:
        """The cube with these bits, which holds wherever `cube` does."""
        if bits == cube.bits:
            return cube
        literals = []
        for place, _ in cube.literals:
            mask = self.field(bits, place)
            if mask != self.full[place]:
                literals.append((place, mask))
        return Cube(tuple(literals), bits)

    def widened(self, cube: Cube, place: int, mask: int) -> Cube:
        """The cube with more codes allowed for one variable."""
        return self.weakened(cube, cube.bits | mask << self.offset[place])

    def holds_initially(self, cube: Cube) -> bool:
        return not self.initial & ~cube.bits

    def formulas(self, cube: Cube) -> tuple[Formula, ...]:
        return tuple(member(self.variables[place], mask) for place, mask in cube.literals)


class Symmetry:
    """The group of symmetries that some permutations generate, at work on cubes.  A permutation that moves the initial
    state is no symmetry, and is left out."""

    def __init__(self, space: Space, swaps: Iterable[Permutation], largest_orbit: int) -> None:
        self._space = space
        self._largest = largest_orbit
        start = space.cube({place: 1 << variable.initial for place, variable in enumerate(space.variables)})
        generators = [
            {space.place[source]: (space.place[target], table) for source, target, table in swap.moves}
            for swap in swaps
        ]
        self._generators = [each for each in generators if self._image(start, each).bits == start.bits]

    def __bool__(self) -> bool:
        return bool(self._generators)

    def orbit(self, cube: Cube) -> list[Cube] | None:
        """The cube and its images, the cube first; None if there are too many."""
        found = {cube.bits: cube}
        queue = [cube]
        for current in queue:
            for generator in self._generators:
                image = self._image(current, generator)
                if image.bits not in found:
                    found[image.bits] = image
                    queue.append(image)
            if len(queue) > self._largest:
                return None
        return queue

    def _image(self, cube: Cube, generator: Mapping[int, tuple[int, Sequence[int]]]) -> Cube:
        masks: dict[int, int] = {}
        changed = False
        for place, mask in cube.literals:
            move = generator.get(place)
            if move is None:
                masks[place] = mask
                continue
            changed = True
            target, table = move
            image = 0
            for code, new in enumerate(table):
                if mask >> code & 1:
                    image |= 1 << new
            masks[target] = image
        return self._space.cube(masks) if changed else cube


__all__ = ["Cube", "Literals", "Space", "Symmetry"]
