"""Steps computed backwards, one action at a time: can a step lead from some states into a cube, and from which?

The states from which an action leads into a cube are a formula over one state (the weakest precondition: Dijkstra,
"Guarded commands, nondeterminacy and formal derivation of programs", 1975): the literals that the action does not
write stay, constants make a literal vanish or exclude the action, copies move it, and the guard is added.  So the
question needs no clauses for the transition relation and no second state.  Where an update says nothing (a copy of a
value that it has no code for, cases of which none holds; only in unreachable states) any code may be the result: that
can only make a proof harder.  Bit sets tell at once which actions can
lead into a cube at all; mostly few are left, and the solver is asked about each of them.

After a no, the solver's cores say for each action which part of the cube excludes it; together they are a weaker cube
that no step enters either.  After a yes, the action's precondition is a cube of which every state leads into the given
one: what Eén, Mishchenko and Brayton, "Efficient implementation of property directed reachability", 2011, get from a
ternary simulation is here read off the action.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from checker.engines.cubes import Cube, Space
from checker.engines.state_clauses import StateClauses
from checker.logic.formula import FALSE, TRUE, Formula, Op, conjunction, disjunction, negate
from checker.transition_system import Action, Constant, Copy, TransitionSystem


@dataclass(frozen=True, slots=True)
class Blocked:
    """No step enters `cube` from outside.  It contains the cube that was asked about, and not the initial state.

    cores    for each action that could lead into the cube if nothing were known: bits of a cube that contains `cube`
             and that the action does not enter
    prefix   assumptions, of those that came first, that were used
    """

    cube: Cube
    cores: Mapping[int, int]
    prefix: frozenset[int]


@dataclass(frozen=True, slots=True)
class Predecessor:
    """From every state of `cube` the action leads into the cube that was asked about."""

    action: Action
    cube: Cube
    number: int
    """Of the action among those that can be enabled; `Preimages.blocked` can be told to ask about it first."""


@dataclass(frozen=True, slots=True)
class _Step:
    """An action over places and fields of bits.

    guard      the part of the guard that is a cube; `rest` has the parts that are not
    writes     the variables that it writes; `written` has all ones in their fields
    copies     variable, source, table
    cases      variable, cases
    results    for each variable that is read or written: the codes that it may have afterwards
    """

    action: Action
    number: int
    guard: Cube
    rest: tuple[Formula, ...]
    writes: tuple[int, ...]
    written: int
    copies: tuple[tuple[int, int, Sequence[int]], ...]
    cases: tuple[tuple[int, Sequence[tuple[Formula, int]]], ...]
    results: Mapping[int, int]


class Preimages:
    """The steps of a transition system over a space; a halted or frontier state has none."""

    def __init__(self, system: TransitionSystem, space: Space) -> None:
        self._space = space
        self._steps: list[_Step] = []
        self.activity = [0.0] * len(space.variables)
        """How useful each variable was: the caller counts."""
        going_on = conjunction((negate(system.halted), negate(system.frontier)))
        for action in system.actions:
            guard = conjunction((action.guard, going_on))
            if guard is not FALSE:
                self._steps.append(_step(space, action, len(self._steps), guard))
        everyone = (1 << len(self._steps)) - 1
        self._writers = [0] * len(space.variables)
        self._can = [[everyone] * len(codes_of(full)) for full in space.full]
        self._compatible: list[dict[int, int]] = [{} for _ in space.variables]
        for number, step in enumerate(self._steps):
            for place in step.writes:
                self._writers[place] |= 1 << number
            for place, mask in step.results.items():
                can = self._can[place]
                for code in range(len(can)):
                    if not mask >> code & 1:
                        can[code] ^= 1 << number

    def blocked(
        self,
        clauses: StateClauses,
        cube: Cube,
        prefix: Sequence[int],
        known: Mapping[int, int] | None = None,
        first: int = -1,
    ) -> Blocked | Predecessor:
        """Whether no step leads into `cube` from a state outside it that satisfies the clauses and the prefix.

        cube   does not contain the initial state
        first  the number of the action to ask about first
        known  cores that an earlier answer gave for the same prefix, and clauses that are no weaker now
        Raises GaveUp.
        """
        relevant = self._relevant(cube)
        cores: dict[int, int] = {}
        used: set[int] = set()
        bits = self._space.everything
        masks = dict(cube.literals)
        members = [(place, clauses.member(place, mask)) for place, mask in cube.literals]
        ahead: list[int] = []
        for number in _members(relevant):
            core = known.get(number) if known else None
            if core is not None and cube.within(core):
                cores[number] = core
                bits &= core
            elif number == first:
                ahead.insert(0, number)
            else:
                ahead.append(number)
        for number in ahead:
            answer = self._ask(clauses, self._steps[number], cube, masks, members, prefix, used)
            if not isinstance(answer, int):
                return answer
            cores[number] = answer
            bits &= answer
        bits &= self._away(cube, bits)
        return Blocked(self._without_strays(cube, bits, relevant), cores, frozenset(used))

    def _away(self, cube: Cube, bits: int) -> int:
        """Bits that keep the initial state, which is not in the cube, out of the weaker cube."""
        space = self._space
        if space.initial & ~bits:
            return space.everything
        weaker = {place for place, _ in space.weakened(cube, bits).literals}
        best = max(
            (place for place, mask in cube.literals if not mask >> space.variables[place].initial & 1),
            key=lambda place: (place in weaker, self.activity[place]),
        )
        return space.only(best, space.full[best] ^ 1 << space.variables[best].initial)

    def _relevant(self, cube: Cube) -> int:
        """The actions that may lead into the cube from outside, as far as single literals can tell."""
        writers = 0
        fitting = -1
        for place, mask in cube.literals:
            writers |= self._writers[place]
            compatible = self._compatible[place].get(mask)
            if compatible is None:
                can = self._can[place]
                compatible = 0
                for code in codes_of(mask):
                    compatible |= can[code]
                self._compatible[place][mask] = compatible
            fitting &= compatible
        return writers & fitting

    def _without_strays(self, cube: Cube, bits: int, relevant: int) -> Cube:
        """Narrows the weaker cube with these bits until no action leads into it that does not lead into `cube`."""
        weaker = self._space.weakened(cube, bits)
        strays = self._relevant(weaker) & ~relevant
        while strays:
            number = strays.bit_length() - 1
            results = self._steps[number].results
            mentioned = {place for place, _ in weaker.literals}
            best = None
            for place, mask in cube.literals:
                result = results.get(place)
                if result is not None and not result & mask and (best is None or place in mentioned):
                    best = place
                    if place in mentioned:
                        break
            assert best is not None
            bits &= self._space.only(best, self._space.full[best] & ~results[best])
            weaker = self._space.weakened(cube, bits)
            strays = self._relevant(weaker) & ~relevant
        return weaker

    def _ask(
        self,
        clauses: StateClauses,
        step: _Step,
        cube: Cube,
        masks: Mapping[int, int],
        members: Sequence[tuple[int, Sequence[int]]],
        prefix: Sequence[int],
        used: set[int],
    ) -> int | Predecessor:
        """Whether the action leads into the cube from outside it; the bits of a core if not.

        masks, members  the cube's literals, as masks and as literals of the solver
        """
        space = self._space
        guards = [clauses.gate(formula) for formula in step.rest]
        asked = [*prefix, *guards]
        for place, mask in step.guard.literals:
            asked += clauses.member(place, mask)
        for place, literals in members:
            if not step.written >> space.offset[place] & 1:
                asked += literals
        before = step.guard.bits & (cube.bits | step.written)
        for place, source, table in step.copies:
            if place in masks:
                allowed = _sources(table, masks[place])
                before &= space.only(source, allowed)
                if not space.field(before, source):
                    return self._blame(step, cube, masks, space.only(source, 0) ^ space.everything)
                asked += clauses.member(source, allowed)
        conditions: dict[int, tuple[int, Formula]] = {}
        for place, cases in step.cases:
            if place in masks:
                formula = conjunction(negate(condition) for condition, code in cases if not masks[place] >> code & 1)
                conditions[clauses.gate(formula)] = place, formula
        asked += conditions
        bits = space.everything
        for outside in self._outsides(space, step, cube, masks, before):
            if isinstance(outside, int):
                bits &= self._blame(step, cube, masks, outside)
                continue
            if clauses.solver.solve([*asked, *(literal for part in outside for literal in clauses.member(*part))]):
                formulas = (*step.rest, *(formula for _, formula in conditions.values()))
                return Predecessor(step.action, self._origin(clauses, step, masks, before, formulas), step.number)
            excluded = 0
            for literal in clauses.solver.core():
                codes = clauses.excluded.get(literal)
                if codes is not None:
                    excluded |= codes
                elif literal in conditions:
                    place = conditions[literal][0]
                    bits &= space.only(place, masks[place])
                elif literal not in guards:
                    used.add(literal)
            bits &= self._blame(step, cube, masks, excluded & ~before)
        return bits

    def _outsides(
        self, space: Space, step: _Step, cube: Cube, masks: Mapping[int, int], before: int
    ) -> list[list[tuple[int, int]] | int]:
        """What to assume so that the state before the step is outside the cube: nothing if it is so anyway, else one
        written variable after the other.  For a variable that cannot be: the bits of the codes that it lacks."""
        found: list[list[tuple[int, int]] | int] = []
        for place in step.writes:
            if place in masks:
                field = space.field(before, place)
                if not field & masks[place]:
                    return [[]]
                outside = space.full[place] & ~masks[place]
                if field & outside:
                    found.append([(place, outside)])
                else:
                    found.append(outside << space.offset[place])
        return found

    def _origin(
        self,
        clauses: StateClauses,
        step: _Step,
        masks: Mapping[int, int],
        before: int,
        formulas: Sequence[Formula],
    ) -> Cube:
        """The cube of the states, among those with these bits and with the model, that satisfy the formulas."""
        places = {place for place, _ in step.guard.literals}
        places.update(place for place in masks if place not in step.writes)
        places.update(source for place, source, _ in step.copies if place in masks)
        found = {place: self._space.field(before, place) for place in places}
        if formulas:
            model = clauses.solver.model()
            for formula in formulas:
                clauses.justify(formula, model, found)
        return self._space.cube(found)

    def _blame(self, step: _Step, cube: Cube, masks: Mapping[int, int], excluded: int) -> int:
        """The bits of a cube with literals of the given one that keep these codes away before the step.

        excluded  bits of codes; those that the guard excludes need no literal
        """
        space = self._space
        excluded &= step.guard.bits
        own = excluded & ~step.written & ~cube.bits
        bits = space.everything ^ own
        excluded ^= own
        if excluded:
            for place, source, table in step.copies:
                if place in masks:
                    for code in codes_of(space.field(excluded, source)):
                        new = table[code]
                        if new >= 0 and not masks[place] >> new & 1:
                            bits &= ~(1 << space.offset[place] + new)
                            excluded ^= 1 << space.offset[source] + code
        assert not excluded, "nothing excludes a code"
        return bits


def _step(space: Space, action: Action, number: int, guard: Formula) -> _Step:
    masks: dict[int, int] = {}
    rest: list[Formula] = []
    for part in guard.args if guard.op is Op.AND else (guard,):
        if part.op is Op.IN:
            assert part.variable is not None
            masks[space.place[part.variable]] = part.mask
        elif part.op is not Op.TRUE:
            rest.append(part)
    copies: list[tuple[int, int, Sequence[int]]] = []
    cases: list[tuple[int, Sequence[tuple[Formula, int]]]] = []
    results = dict(masks)
    written = 0
    for variable, update in action.updates.items():
        place = space.place[variable]
        written |= space.full[place] << space.offset[place]
        if isinstance(update, Constant):
            results[place] = 1 << update.code
        elif isinstance(update, Copy):
            source = space.place[update.source]
            copies.append((place, source, update.table))
            results[place] = 0
            for code in codes_of(masks.get(source, space.full[source])):
                new = update.table[code]
                results[place] |= 1 << new if new >= 0 else space.full[place]
        else:
            cases.append((place, update.cases))
            results[place] = 0
            for _, code in update.cases:
                results[place] |= 1 << code
            if disjunction(condition for condition, _ in update.cases) is not TRUE:
                results[place] = space.full[place]
    return _Step(
        action,
        number,
        space.cube(masks),
        tuple(rest),
        tuple(space.place[variable] for variable in action.updates),
        written,
        tuple(copies),
        tuple(cases),
        results,
    )


def _sources(table: Sequence[int], mask: int) -> int:
    """The codes of which the copy may be in the mask."""
    return sum(1 << code for code, new in enumerate(table) if new < 0 or mask >> new & 1)


def codes_of(mask: int) -> list[int]:
    """The codes in a mask."""
    return [code for code in range(mask.bit_length()) if mask >> code & 1]


def _members(numbers: int) -> Iterator[int]:
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest


__all__ = ["Blocked", "Predecessor", "Preimages"]
