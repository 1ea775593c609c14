"""States packed into 64-bit words, many at a time, and formulas evaluated on them.

A batch of n states is a list of W arrays (`Columns`), one for each word; a field never straddles two words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from checker.logic.formula import FALSE, TRUE, Formula, Op, Variable, member, substitute
from checker.transition_system import State, TransitionSystem

Words = NDArray[np.uint64]
Columns = list[Words]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

Transfer = Callable[[Columns], Words]
"""What the states before a step or permutation contribute to one word of the states after it."""

WORD = 64

_Number = TypeVar("_Number", bound=np.integer[Any])


@dataclass(frozen=True)
class Field:
    """Where a variable's code stands: `bits` bits of word `word`, from bit `shift` on."""

    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        return ((1 << self.bits) - 1) << self.shift


@dataclass(frozen=True)
class Test:
    """A conjunction: in word w the bits of `mask` equal `value` for each (w, mask, value), and all of `others` hold."""

    compares: tuple[tuple[int, np.uint64, np.uint64], ...]
    others: tuple[Formula, ...]


def distinct(numbers: NDArray[_Number]) -> NDArray[_Number]:
    """Each number once, in ascending order.  (numpy's `unique` hashes since 2.3, and takes a hundred times as long.)"""
    ascending = np.sort(numbers)
    first = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first]


class Layout:
    """Assigns a field to each variable of a system.

    When it costs no word, the variables of symmetric instances lie side by side in the same order, so that
    exchanging two instances is a shift.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        plain = _first_fit(sorted(system.variables, key=lambda v: -_bits(v)))
        aligned = _next_fit(_by_instance(system))
        self.fields, self.words = min(plain, aligned, key=lambda found: found[1] - (found is aligned) / 2)
        self._places = [(self.fields[variable].word, self.fields[variable].shift) for variable in system.variables]
        self._tests: dict[Formula, Test] = {}

    def pack(self, state: State) -> tuple[int, ...]:
        words = [0] * self.words
        for (word, shift), code in zip(self._places, state, strict=True):
            words[word] |= code << shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> State:
        return tuple(
            words[field.word] >> field.shift & (1 << field.bits) - 1
            for field in (self.fields[variable] for variable in self.system.variables)
        )

    def columns(self, state: State) -> Columns:
        """The batch that consists of this one state."""
        return [np.array([word], dtype=np.uint64) for word in self.pack(state)]

    def test(self, formula: Formula) -> Test:
        """`formula` as a conjunction in which literals of a single code are gathered by word."""
        known = self._tests.get(formula)
        if known is None:
            gathered: dict[int, tuple[int, int]] = {}
            others: list[Formula] = []
            for part in formula.args if formula.op is Op.AND else (formula,):
                if part.op is Op.IN and part.mask.bit_count() == 1:
                    assert part.variable is not None
                    field = self.fields[part.variable]
                    mask, value = gathered.get(field.word, (0, 0))
                    code = part.mask.bit_length() - 1
                    gathered[field.word] = (mask | field.mask, value | code << field.shift)
                elif part is not TRUE:
                    others.append(part)
            known = Test(
                tuple((word, np.uint64(mask), np.uint64(value)) for word, (mask, value) in gathered.items()),
                tuple(others),
            )
            self._tests[formula] = known
        return known


def _bits(variable: Variable) -> int:
    return (variable.size - 1).bit_length()


def _first_fit(variables: Iterable[Variable]) -> tuple[dict[Variable, Field], int]:
    used = [0]
    fields: dict[Variable, Field] = {}
    for variable in variables:
        bits = _bits(variable)
        word = next((w for w, filled in enumerate(used) if filled + bits <= WORD), len(used))
        if word == len(used):
            used.append(0)
        fields[variable] = Field(word, used[word], bits)
        used[word] += bits
    return fields, len(used)


def _next_fit(blocks: Sequence[Sequence[Variable]]) -> tuple[dict[Variable, Field], int]:
    """Fills word after word; a block that fits into one word is not spread over two."""
    word = filled = 0
    fields: dict[Variable, Field] = {}
    for block in blocks:
        total = sum(map(_bits, block))
        if filled + total > WORD >= total:
            word, filled = word + 1, 0
        for variable in block:
            bits = _bits(variable)
            if filled + bits > WORD:
                word, filled = word + 1, 0
            fields[variable] = Field(word, filled, bits)
            filled += bits
    return fields, word + 1


def _by_instance(system: TransitionSystem) -> list[list[Variable]]:
    """Variables that the same swaps move, in the order of their orbits: one block for each instance.

    The blocks that a swap exchanges are neighbours if the swaps form a chain: then states are sorted by the swaps.
    """
    leader = {variable: variable for variable in system.variables}

    def find(variable: Variable) -> Variable:
        while leader[variable] is not variable:
            variable = leader[variable]
        return variable

    movers: dict[Variable, list[int]] = {variable: [] for variable in system.variables}
    for number, swap in enumerate(system.swaps):
        for source, target, _ in swap.moves:
            if source is not target:
                movers[source].append(number)
                first, second = sorted((find(source), find(target)), key=system.position.__getitem__)
                leader[second] = first
    blocks: dict[tuple[int, ...], list[Variable]] = {}
    for variable in system.variables:
        blocks.setdefault(tuple(movers[variable]), []).append(variable)
    for block in blocks.values():
        block.sort(key=lambda variable: system.position[find(variable)])
    return [blocks[movers_of] for movers_of in sorted(blocks)]


class Batch:
    """Evaluates formulas on n states, each shared part once.

    Raises AssertionError for a primed literal: the callers replace these by `checker.transition_system.after`.
    """

    def __init__(self, layout: Layout, columns: Columns) -> None:
        self.layout = layout
        self.columns = columns
        self.size = len(columns[0])
        self._codes: dict[Variable, NDArray[np.unsignedinteger]] = {}
        self._known: dict[Formula, Flags] = {}

    def codes(self, variable: Variable) -> NDArray[np.unsignedinteger]:
        known = self._codes.get(variable)
        if known is None:
            field = self.layout.fields[variable]
            kind = np.uint8 if field.bits <= 8 else np.uint32
            known = self._codes[variable] = code_of(self.columns, field).astype(kind)
        return known

    def holds(self, formula: Formula) -> Flags:
        """Where `formula` holds; the caller must not write into the answer."""
        known = self._known.get(formula)
        if known is None:
            if formula is TRUE or formula is FALSE:
                known = np.full(self.size, formula is TRUE)
            elif formula.op is Op.AND:
                known = self.passes(self.layout.test(formula))
            elif formula.op is Op.OR:
                known = self.holds(formula.args[0])
                for part in formula.args[1:]:
                    known = known | self.holds(part)
            else:
                known = self._member(formula)
            self._known[formula] = known
        return known

    def passes(self, test: Test) -> Flags:
        found: Flags | None = None
        for word, mask, value in test.compares:
            equal = (self.columns[word] & mask) == value
            found = equal if found is None else found & equal
        for part in test.others:
            flags = self.holds(part)
            found = flags if found is None else found & flags
        return np.ones(self.size, dtype=np.bool_) if found is None else found

    def _member(self, literal: Formula) -> Flags:
        variable, mask = literal.variable, literal.mask
        assert variable is not None
        assert not literal.primed
        codes = self.codes(variable)
        holes = variable.full_mask & ~mask
        if holes.bit_count() < mask.bit_count():
            return ~_in_runs(codes, holes)
        return _in_runs(codes, mask)


def code_of(columns: Columns, field: Field) -> Words:
    column = columns[field.word]
    if field.shift:
        column = column >> np.uint64(field.shift)
    return column & np.uint64((1 << field.bits) - 1)


def shift_transfer(word: int, mask: int, distance: int) -> Transfer:
    """The fields that `mask` selects in a word, moved towards the high end by `distance` (may be negative) bits."""
    chosen, amount = np.uint64(mask), np.uint64(abs(distance))
    if distance >= 0:
        return lambda columns: (columns[word] & chosen) << amount
    return lambda columns: (columns[word] & chosen) >> amount


def table_transfer(source: Field, table: Sequence[int], target: Field) -> Transfer:
    """`table[code of source]` in the place of `target`; where that is -1, or beyond the table, no bits."""
    codes = [max(code, 0) << target.shift for code in table] + [0] * ((1 << source.bits) - len(table))
    placed = np.array(codes, dtype=np.uint64)
    return lambda columns: placed.take(code_of(columns, source).astype(np.intp))


def _in_runs(codes: NDArray[np.unsignedinteger], mask: int) -> Flags:
    """Where the bit of `mask` at the code is set: few comparisons for sets that are made of few intervals."""
    found: Flags | None = None
    start = 0
    while mask:
        skip = (mask & -mask).bit_length() - 1
        start, mask = start + skip, mask >> skip
        length = (~mask & mask + 1).bit_length() - 1
        low, high = codes.dtype.type(start), codes.dtype.type(start + length - 1)
        inside: Flags = codes == low if length == 1 else (codes >= low) & (codes <= high)
        found = inside if found is None else found | inside
        start, mask = start + length, mask >> length
    assert found is not None
    return found


def given(formula: Formula, guard: Formula) -> Formula:
    """A simpler formula that agrees with `formula` (which has no primed literals) wherever `guard` holds."""
    allowed = {
        part.variable: part.mask
        for part in (guard.args if guard.op is Op.AND else (guard,))
        if part.op is Op.IN and not part.primed
    }

    def literal(node: Formula) -> Formula:
        assert node.variable is not None
        mask = allowed.get(node.variable)
        if mask is None:
            return node
        if not mask & ~node.mask:
            return TRUE
        return member(node.variable, mask & node.mask)

    return substitute(formula, literal) if allowed else formula
