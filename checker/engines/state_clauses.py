"""Clauses over one state: literals, gates for formulas, and the reasons why a formula holds in a model.

A variable of two codes is one literal, any other has one literal for each code (one-hot), of which exactly one is
true.  There is no second state and no transition relation here: steps are computed backwards, action by action (see
`checker.engines.preimages`).
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.engines.cubes import Cube, Space
from checker.logic.formula import Formula, Op, Variable
from checker.logic.sat import Incremental
from checker.logic.solver import Model
from checker.transition_system import State

_LARGEST_PAIRWISE = 6


class StateClauses:
    """A solver that knows what a state is."""

    def __init__(self, space: Space, solver: Incremental) -> None:
        self.space = space
        self.solver = solver
        self._last = 0
        self._first: list[int] = []
        self._members: list[dict[int, tuple[int, ...]]] = [{} for _ in space.variables]
        self._gates: dict[int, tuple[int, Formula]] = {}
        self.excluded: dict[int, int] = {}
        """For each state literal: the bits of the codes that it excludes."""
        for place, variable in enumerate(space.variables):
            self._first.append(self._last + 1)
            self._last += 0 if variable.size == 1 else 1 if variable.size == 2 else variable.size
            self._declare(place, variable)

    def _declare(self, place: int, variable: Variable) -> None:
        first, size, offset = self._first[place], variable.size, self.space.offset[place]
        if size == 2:
            self.excluded[first] = 1 << offset
            self.excluded[-first] = 2 << offset
        if size <= 2:
            return
        literals = range(first, first + size)
        for code, literal in enumerate(literals):
            self.excluded[literal] = (variable.full_mask & ~(1 << code)) << offset
            self.excluded[-literal] = 1 << code + offset
        self.solver.add_clause(literals)
        if size <= _LARGEST_PAIRWISE:
            for code, literal in enumerate(literals):
                for other in literals[:code]:
                    self.solver.add_clause((-literal, -other))
            return
        bits = [self.new() for _ in range((size - 1).bit_length())]
        for code, literal in enumerate(literals):
            for place_of_bit, bit in enumerate(bits):
                self.solver.add_clause((-literal, bit if code >> place_of_bit & 1 else -bit))

    def new(self) -> int:
        """A fresh variable of the solver."""
        self._last += 1
        return self._last

    def member(self, place: int, mask: int) -> tuple[int, ...]:
        """Literals that together say that the variable's code is in the mask."""
        known = self._members[place].get(mask)
        if known is None:
            first, full = self._first[place], self.space.full[place]
            size = full.bit_length()
            if mask == full:
                known = ()
            elif size == 2:
                known = (first if mask == 2 else -first,)
            else:
                known = tuple(-(first + code) for code in range(size) if not mask >> code & 1)
            self._members[place][mask] = known
        return known

    def some(self, place: int, mask: int) -> list[int]:
        """Literals of which one is true exactly if the variable's code is in the mask."""
        first, full = self._first[place], self.space.full[place]
        size = full.bit_length()
        if size == 2:
            return [first if mask == 2 else -first]
        outside = full & ~mask
        if not outside & outside - 1:
            return [-(first + outside.bit_length() - 1)]
        return [first + code for code in range(size) if mask >> code & 1]

    def exclude(self, cube: Cube, *unless: int) -> None:
        """No state of the cube, unless one of the literals is true."""
        clause = list(unless)
        for place, mask in cube.literals:
            clause += self.some(place, self.space.full[place] & ~mask)
        self.solver.add_clause(clause)

    def gate(self, formula: Formula) -> int:
        """A literal that implies the formula (Plaisted and Greenbaum, "A structure-preserving clause form
        translation", 1986)."""
        known = self._gates.get(formula.uid)
        if known is not None:
            return known[0]
        gate = self.new()
        self._gates[formula.uid] = gate, formula
        if formula.op is Op.AND:
            for part in formula.args:
                self.solver.add_clause((-gate, *self._clause(part)))
        elif formula.op is Op.OR:
            self.solver.add_clause((-gate, *(literal for part in formula.args for literal in self._clause(part))))
        elif formula.op is not Op.TRUE:
            self.solver.add_clause((-gate, *self._clause(formula)))
        return gate

    def _clause(self, formula: Formula) -> Sequence[int]:
        if formula.op is Op.IN:
            assert formula.variable is not None
            assert not formula.primed
            return self.some(self.space.place[formula.variable], formula.mask)
        return () if formula.op is Op.FALSE else (self.gate(formula),)

    def state(self, model: Model) -> State:
        """The state that a model describes."""
        codes = []
        for place, first in enumerate(self._first):
            size = self.space.full[place].bit_length()
            if size <= 2:
                codes.append(int(size == 2 and model(first)))
            else:
                codes.append(next(code for code in range(size) if model(first + code)))
        return tuple(codes)

    def justify(self, formula: Formula, model: Model, masks: dict[int, int]) -> None:
        """Narrows `masks` (place to mask) so that the formula holds in every state that they allow.

        The model satisfies the formula and lies within the masks, and so it does afterwards.
        """
        stack = [formula]
        while stack:
            node = stack.pop()
            if node.op is Op.IN:
                assert node.variable is not None
                place = self.space.place[node.variable]
                masks[place] = masks.get(place, self.space.full[place]) & node.mask
            elif node.op is Op.AND:
                stack.extend(part for part in node.args if part.op is not Op.IN)
                stack.extend(part for part in node.args if part.op is Op.IN)
            elif node.op is Op.OR:
                stack.append(self._reason(node, model, masks))

    def _reason(self, node: Formula, model: Model, masks: dict[int, int]) -> Formula:
        """A part of a disjunction that holds, preferably one that says nothing new."""
        best: Formula | None = None
        cost = 0
        for part in node.args:
            if part.op is Op.IN:
                assert part.variable is not None
                place = self.space.place[part.variable]
                mask = masks.get(place, self.space.full[place])
                if not mask & ~part.mask:
                    return part
                price = 1 if place in masks else 2
            else:
                price = 2 + len(part.args)
            if (best is None or price < cost) and self._holds(part, model):
                best, cost = part, price
        assert best is not None, "the model does not satisfy the formula"
        return best

    def _holds(self, formula: Formula, model: Model) -> bool:
        if formula.op is Op.IN:
            assert formula.variable is not None
            return any(map(model, self.some(self.space.place[formula.variable], formula.mask)))
        if formula.op is Op.AND:
            return all(self._holds(part, model) for part in formula.args)
        if formula.op is Op.OR:
            return any(self._holds(part, model) for part in formula.args)
        return formula.op is Op.TRUE


__all__ = ["StateClauses"]
