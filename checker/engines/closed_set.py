"""The set of states of a finished search, and the check that it really is closed.

The check works on unpacked codes, looks states up in sorted arrays, and evaluates formulas as they are written.  What
it shares with the search is the layout of the packed states, and the code that finds representatives; of the latter
it checks on a sample that they lie in the orbit, and that the symmetries are symmetries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from random import Random

import numpy as np
from numpy.typing import NDArray

from checker.engines.packing import Columns, Flags, Indices, Layout
from checker.engines.symmetry import Symmetry, permuted
from checker.logic.formula import FALSE, TRUE, Formula, Op, Variable, disjunction
from checker.transition_system import Action, Cases, Constant, Copy, Form, Permutation, Property, Reachability, State

Values = NDArray[np.uint32]
See = Callable[[Action, Indices, Indices], None]

CHUNK = 1 << 16
_MANY = 1 << 10
"""So many keys are sorted before they are looked up."""
SAMPLE = 200
"""On so many states it is checked that the symmetries are symmetries, ..."""
ORBITS = 20
"""... and on so many successors of them that a representative lies in the orbit."""
ORBIT_LIMIT = 50_000
"""A state with a larger orbit may be missed: `in` then answers no, and the check complains."""


class SearchedStates:
    """A closed set (see `checker.engines.engine.ClosedSet`) of packed states.

    columns     the states, each once
    symmetry    that the search used: the set stands for all images of its states under the swaps
    properties  those which no state or step of the set violates
    """

    def __init__(self, layout: Layout, columns: Columns, symmetry: Symmetry, properties: Sequence[Property]) -> None:
        self.system = layout.system
        self.symmetric = bool(symmetry)
        self.properties = tuple(properties)
        self._layout = layout
        self._columns = columns
        self._count = len(columns[0])
        self._symmetry = symmetry
        self._swaps = symmetry.swaps

    def __len__(self) -> int:
        return self._count

    def __contains__(self, state: State) -> bool:
        return self._find_in_orbit(state) >= 0

    def sample(self, count: int, seed: int) -> Iterator[State]:
        places = range(len(self._index))
        for number in places if count >= len(places) else Random(seed).sample(places, count):
            yield self._state(self._columns, number)

    def recheck(self, see: See | None = None) -> str | None:
        """See `ClosedSet.recheck`.  Also checks that each update gives exactly one answer wherever it is used.

        `see` is shown all steps on the way: an action, the numbers of states before it, and of those after it (or of
        images of them), in the order of `flags`.
        """
        if any(target.form is Form.LIVE for target in self.properties):
            return "a set of states says nothing about infinite runs"
        if self.system.initial not in self:
            return "the initial state is not in the set"
        if len(self._index) != self._count:
            return "a state is in the set twice"
        try:
            for swap in self._swaps:
                self._check_symmetry(swap)
            for first in range(0, len(self), CHUNK):
                self._check_states(first, min(first + CHUNK, len(self)), see)
            for unless in dict.fromkeys(target.unless for target in self.properties):
                if unless is not None:
                    self._check_saved(unless, [target for target in self.properties if target.unless is unless])
        except _ComplaintError as complaint:
            return str(complaint)
        return None

    def flags(self, formula: Formula) -> Flags:
        """In which states an unprimed formula holds."""
        spans = [(first, min(first + CHUNK, len(self))) for first in range(0, len(self._index), CHUNK)]
        parts = [_Codes(self._layout, [column[first:last] for column in self._columns]) for first, last in spans]
        return np.concatenate([_holds(formula, part) for part in parts])

    def flags_of(self, state: State) -> Flags:
        """Only this state, which is in the set, or an image of it."""
        found = np.zeros(len(self), dtype=np.bool_)
        found[self._find_in_orbit(state)] = True
        return found

    def _check_states(self, first: int, last: int, see: See | None) -> None:
        """Raises a complaint about a state numbered first..last-1, or a step from one."""
        part = [column[first:last] for column in self._columns]
        codes = _Codes(self._layout, part)
        for variable in self.system.variables:
            if (codes[variable] >= variable.size).any():
                raise _ComplaintError(f"a state of the set has no value for {variable.name}")
        if _holds(self.system.frontier, codes).any():
            raise _ComplaintError("the set holds a frontier state")
        for target in self.properties:
            if target.form in (Form.INVARIANT, Form.COVER) and _holds(target.bad, codes).any():
                raise _ComplaintError(f"a state of the set violates {target.name}")
        steps = [target for target in self.properties if target.form is Form.STEP_INVARIANT]
        for action in self.system.actions:
            before, after, packed = self._steps(part, codes, action)
            if not before.size:
                continue
            found = self._find(packed)
            if (found < 0).any():
                raise _ComplaintError(f"action {action.index} leads out of the set")
            if see is not None:
                see(action, before.places + first, found)
            for target in steps:
                if _holds(target.bad, before, after).any():
                    raise _ComplaintError(f"a step of action {action.index} violates {target.name}")

    def _check_symmetry(self, swap: Permutation) -> None:
        """Raises a complaint if `swap` does not map the steps and bad states of a sample to each other."""
        if permuted(self.system, self.system.initial, swap) != self.system.initial:
            raise _ComplaintError(f"{swap.name} moves the initial state")
        chosen = np.linspace(0, len(self) - 1, min(len(self), SAMPLE)).astype(np.intp)
        part = [column.take(chosen) for column in self._columns]
        image = self._image(part, swap)
        codes, mapped = _Codes(self._layout, part), _Codes(self._layout, image)
        formulas = [target.bad for target in self.properties if target.form is not Form.STEP_INVARIANT]
        formulas += [target.unless.state for target in self.properties if target.unless is not None]
        for formula in (*formulas, self.system.halted):
            if (_holds(formula, codes) != _holds(formula, mapped)).any():
                raise _ComplaintError(f"{swap.name} does not respect {formula}")
        here = self._all_steps(part, codes)
        there = self._all_steps(image, mapped)
        some = list(there[1:, :: max(1, there.shape[1] // ORBITS)])
        reduced = self._symmetry.representatives(some)
        for place in range(len(some[0])):
            if self._state(reduced, place) not in self._orbit(self._state(some, place)):
                raise _ComplaintError("a representative is not in the orbit of its state")
        images = np.vstack((here[:1], *self._image(list(here[1:]), swap)))
        if not np.array_equal(np.unique(images, axis=1), np.unique(there, axis=1)):
            raise _ComplaintError(f"{swap.name} does not map steps to steps")

    def _all_steps(self, columns: Columns, codes: _Codes) -> NDArray[np.uint64]:
        """One column for each step: the place of the state before it, and the state after it."""
        found = [np.empty((1 + len(columns), 0), dtype=np.uint64)]
        for action in self.system.actions:
            before, _, packed = self._steps(columns, codes, action)
            found.append(np.vstack((before.places.astype(np.uint64), *packed)))
        return np.concatenate(found, axis=1)

    def _check_saved(self, unless: Reachability, targets: Sequence[Property]) -> None:
        """Raises a complaint if a bad state of a property does not reach the goal that they have in common.  Value
        iteration, backwards through the set."""
        bad_for_any = disjunction(target.bad for target in targets)
        saved = np.zeros(len(self), dtype=np.bool_)
        bad = np.zeros(len(self), dtype=np.bool_)
        spans = [(first, min(first + CHUNK, len(self))) for first in range(0, len(self), CHUNK)]
        for first, last in spans:
            codes = _Codes(self._layout, [column[first:last] for column in self._columns])
            saved[first:last] = _holds(unless.state, codes)
            bad[first:last] = _holds(bad_for_any, codes)
        actions = [action for action in self.system.actions if action.kind in unless.kinds]
        while (bad & ~saved).any():
            known = np.count_nonzero(saved)
            for first, last in reversed(spans):
                places = np.flatnonzero(~saved[first:last]) + first
                part = [column.take(places) for column in self._columns]
                codes = _Codes(self._layout, part)
                for action in actions if len(places) else ():
                    before, after, packed = self._steps(part, codes, action)
                    if before.size:
                        good = saved.take(self._find(packed))
                        for formula in unless.watched:
                            good |= _holds(formula, before) != _holds(formula, after)
                        saved[places.take(before.places)] |= good
            if np.count_nonzero(saved) == known:
                raise _ComplaintError(f"a state of the set violates {' or '.join(each.name for each in targets)}")

    def _steps(self, columns: Columns, codes: _Codes, action: Action) -> tuple[_Codes, _Codes, Columns]:
        """The states that enable `action` (with their places), the states after it, and these packed."""
        enabled = _holds(action.guard, codes) & ~_holds(self.system.halted, codes)
        before = _Codes(self._layout, columns, np.flatnonzero(enabled), codes)
        after = _Codes(self._layout, columns, before.places, codes)
        if before.size:
            for variable, update in action.updates.items():
                if isinstance(update, Constant):
                    after[variable] = np.full(before.size, update.code, dtype=np.uint32)
                elif isinstance(update, Copy):
                    after[variable] = _look_up(update.table, before[update.source])
                else:
                    after[variable] = _choose(update, before)
        packed = [column.take(before.places) for column in columns]
        for variable in action.updates if before.size else ():
            field = self._layout.fields[variable]
            if field.bits:
                packed[field.word] &= np.uint64(~field.mask & (1 << 64) - 1)
                packed[field.word] |= after[variable].astype(np.uint64) << np.uint64(field.shift)
        return before, after, packed

    @cached_property
    def _index(self) -> _SortedIndex:
        """Made when first needed; from then on the states stand in the order of their ranks."""
        index = _SortedIndex(self._columns)
        self._columns = [column.take(index.order) for column in self._columns]
        return index

    def _find(self, columns: Columns) -> Indices:
        """The number of each state or of an image of it; some are -1 if there are states without one."""
        found = self._index.find(columns)
        missing = np.flatnonzero(found < 0)
        if not len(missing) or not self._swaps:
            return found
        found[missing] = self._index.find(self._symmetry.representatives([c.take(missing) for c in columns]))
        for place in np.flatnonzero(found < 0):
            found[place] = self._find_in_orbit(self._state(columns, int(place)))
            if found[place] < 0:
                break
        return found

    def _state(self, columns: Columns, place: int) -> State:
        return self._layout.unpack([int(column[place]) for column in columns])

    def _image(self, columns: Columns, swap: Permutation) -> Columns:
        codes = _Codes(self._layout, columns)
        image = [column.copy() for column in columns]
        for source, target, table in swap.moves:
            field = self._layout.fields[target]
            if field.bits:
                image[field.word] &= np.uint64(~field.mask & (1 << 64) - 1)
                image[field.word] |= _look_up(table, codes[source]).astype(np.uint64) << np.uint64(field.shift)
        return image

    def _find_in_orbit(self, state: State) -> int:
        for image in self._orbit(state):
            number = self._index.find_one(self._layout.pack(image))
            if number >= 0:
                return number
        return -1

    def _orbit(self, state: State) -> Iterator[State]:
        seen = {state}
        queue = [state]
        for current in queue:
            yield current
            for swap in self._swaps:
                image = permuted(self.system, current, swap)
                if image not in seen and len(seen) < ORBIT_LIMIT:
                    seen.add(image)
                    queue.append(image)


class _ComplaintError(Exception):
    """What is wrong with the set."""


class _Codes(dict[Variable, Values]):
    """The codes of the states of `columns` (at `places`, all by default), unpacked when asked for.

    known  formulas evaluated on these codes
    """

    def __init__(
        self, layout: Layout, columns: Columns, places: Indices | None = None, whole: _Codes | None = None
    ) -> None:
        self.layout = layout
        self.columns = columns
        self.places = np.arange(len(columns[0])) if places is None else places
        self.whole = whole
        self.size = len(self.places)
        self.known: dict[Formula, Flags] = {}

    def __missing__(self, variable: Variable) -> Values:
        if self.whole is not None:
            values = self.whole[variable].take(self.places)
        else:
            field = self.layout.fields[variable]
            if field.bits:
                shifted = self.columns[field.word] >> np.uint64(field.shift)
                values = (shifted & np.uint64((1 << field.bits) - 1)).astype(np.uint32)
            else:
                values = np.zeros(self.size, dtype=np.uint32)
        self[variable] = values
        return values


def _holds(formula: Formula, codes: _Codes, later: _Codes | None = None) -> Flags:
    """Where the formula holds; its primed literals speak of `later`."""
    known = codes.known if later is None else {}

    def visit(node: Formula) -> Flags:
        found = known.get(node)
        if found is None:
            if node is TRUE or node is FALSE:
                found = np.full(codes.size, node is TRUE)
            elif node.op is Op.IN:
                variable = node.variable
                assert variable is not None
                side: Mapping[Variable, Values] | None = later if node.primed else codes
                assert side is not None
                table = np.array([node.mask >> code & 1 for code in range(variable.size)], dtype=np.bool_)
                found = table.take(side[variable])
            else:
                parts = [visit(part) for part in node.args]
                found = np.logical_and.reduce(parts) if node.op is Op.AND else np.logical_or.reduce(parts)
            known[node] = found
        return found

    return visit(formula)


def _look_up(table: Sequence[int], codes: Values) -> Values:
    found = np.array(table, dtype=np.int64).take(codes)
    if (found < 0).any():
        raise _ComplaintError("a value that a guard should exclude is copied")
    return found.astype(np.uint32)


def _choose(update: Cases, before: _Codes) -> Values:
    found = np.zeros(before.size, dtype=np.uint32)
    answers = np.zeros(before.size, dtype=np.uint32)
    for condition, code in update.cases:
        flags = _holds(condition, before)
        found[flags] = code
        answers += flags
    if (answers != 1).any():
        raise _ComplaintError("the cases of an update are not exactly one")
    return found


class _SortedIndex:
    """Finds a state by its rank: words are ranked one by one, and the pair of two ranks is ranked again."""

    def __init__(self, columns: Columns) -> None:
        self._levels: list[NDArray[np.uint64]] = []
        ranks = self._rank_new(columns[0])
        for column in columns[1:]:
            ranks = self._rank_new(ranks << np.uint64(32) | self._rank_new(column))
        self.order: Indices = np.empty(len(self), dtype=np.intp)
        """Where each state stands in `columns`."""
        self.order[ranks] = np.arange(len(ranks))

    def __len__(self) -> int:
        return len(self._levels[-1])

    def _rank_new(self, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
        order = np.argsort(keys)
        ascending = keys.take(order)
        first = np.ones(len(keys), dtype=np.bool_)
        np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
        self._levels.append(ascending[first])
        ranks = np.empty(len(keys), dtype=np.uint64)
        ranks[order] = np.cumsum(first) - 1
        return ranks

    def _rank(self, keys: NDArray[np.uint64], level: int) -> tuple[NDArray[np.uint64], Flags]:
        known = self._levels[level]
        if len(keys) < _MANY:
            ranks = np.searchsorted(known, keys)
        else:
            # in order, the search stays within the cache
            order = np.argsort(keys)
            ranks = np.empty(len(keys), dtype=np.intp)
            ranks[order] = np.searchsorted(known, keys.take(order))
        ranks[ranks == len(known)] = 0
        return ranks.astype(np.uint64), known.take(ranks) == keys

    def find_one(self, words: Sequence[int]) -> int:
        """The rank of one state, or -1: the same as `find`, without making arrays."""
        rank = -1
        for number, word in enumerate(words):
            found = self._rank_one(word, max(0, 2 * number - 1))
            if number and found >= 0:
                found = self._rank_one(rank << 32 | found, 2 * number)
            if found < 0:
                return -1
            rank = found
        return rank

    def _rank_one(self, key: int, level: int) -> int:
        known = self._levels[level]
        rank = int(known.searchsorted(np.uint64(key)))
        return rank if rank < len(known) and known[rank] == key else -1

    def find(self, columns: Columns) -> Indices:
        """The rank of each state, or -1."""
        ranks, present = self._rank(columns[0], 0)
        for number, column in enumerate(columns[1:]):
            second, there = self._rank(column, 2 * number + 1)
            ranks, together = self._rank(ranks << np.uint64(32) | second, 2 * number + 2)
            present &= there & together
        found = ranks.astype(np.intp)
        found[~present] = -1
        return found
