"""Of the runs that a symmetry maps to each other, an unrolling need look at one only.

A permutation maps a run, state by state, to a run.  Of all images of a run take the one whose states, one after the
other and read as bits, come first: no transposition maps it to one that comes before it.  That is what is asserted for
each transposition that a system lists (lex-leader constraints: Crawford, Ginsberg, Luks and Roy, "Symmetry-breaking
predicates for search problems", 1996).  The symmetries keep the properties, so that all images of a run violate one or
none does.
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.engines.symmetry import is_involution, permuted
from checker.logic.encode import Clauses, Layout, Template, is_one_hot
from checker.logic.formula import Variable
from checker.logic.solver import SatSolver
from checker.logic.unroll import Unrolling
from checker.transition_system import Permutation, TransitionSystem


class SymmetryBreaking:
    """Clauses for one unrolling.  `extended` is to be called after each new step."""

    def __init__(self, unrolling: Unrolling) -> None:
        self._unrolling = unrolling
        pairs = compared(unrolling.system, unrolling.layout)
        self._template = _template(pairs, unrolling.layout)
        self._equal: Sequence[int] = ()
        self._count = len(pairs)

    def extended(self) -> None:
        """The runs so far do not come after their images."""
        if not self._count:
            return
        placed = self._unrolling.place_all(self._template, self._unrolling.depth)
        before, after = placed[: self._count], placed[self._count :]
        solver: SatSolver = self._unrolling.solver
        for number, literal in enumerate(before):
            if self._equal:
                solver.add_clause(-self._equal[number], literal)
            else:
                solver.add_clause(literal)
        self._equal = after


def compared(system: TransitionSystem, layout: Layout) -> list[list[tuple[int, int]]]:
    """For each transposition, the state literals that differ from their images, in the order of their numbers, each
    with its image.  A pair that only repeats an earlier one is left out."""
    initial = system.initial
    swaps = [swap for swap in system.swaps if is_involution(swap) and permuted(system, initial, swap) == initial]
    # The comparison has to be the same for all; bits whose image is no bit are no part of it.
    silent = {
        target
        for swap in swaps
        for source, target, table in swap.moves
        if source.size > 2 and not is_one_hot(source) and table != tuple(range(source.size))
    }
    found = []
    for swap in swaps:
        images = _images(swap, layout, silent)
        pairs = [(literal, image) for literal, image in sorted(images.items()) if image != literal]
        seen: set[tuple[int, int]] = set()
        kept = []
        for literal, image in pairs:
            if (image, literal) not in seen:
                seen.add((literal, image))
                kept.append((literal, image))
        if kept:
            found.append(kept)
    return found


def _images(swap: Permutation, layout: Layout, silent: set[Variable]) -> dict[int, int]:
    """For each literal of the variables that the transposition moves, the literal that is as true in this state as the
    first one is in the image of the state."""
    found: dict[int, int] = {}
    for source, target, table in swap.moves:
        if target in silent:
            continue
        here, there = layout.literals(source), layout.literals(target)
        if is_one_hot(source):
            for code, new in enumerate(table):
                found[there[new]] = here[code]
        elif source.size == 2 and table == (1, 0):
            found[there[0]] = -here[0]
        else:
            found.update(zip(there, here, strict=True))
    return found


def _template(pairs: Sequence[Sequence[tuple[int, int]]], layout: Layout) -> Template:
    """For each transposition a literal that all states before are equal to their images, under which the state does not
    come after its image; then for each a literal that is true if it equals it too."""
    clauses = Clauses(layout)
    first = tuple(clauses.new() for _ in pairs)
    last = []
    for equal, each in zip(first, pairs, strict=True):
        for literal, image in each:
            still = clauses.new()
            clauses.add(-equal, -literal, image)
            clauses.add(-equal, -literal, still)
            clauses.add(-equal, image, still)
            equal = still
        last.append(equal)
    return clauses.template((*first, *last))


__all__ = ["SymmetryBreaking", "compared"]
