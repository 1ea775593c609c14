"""The step relation on packed states: all successors of a batch, action by action.

The actions are sorted into a decision tree.  A node stands for a conjunct that several guards share, mostly
`control = statement`, so that an action looks only at the states that have a chance to enable it (the idea of the
discrimination networks of rule systems: Forgy, Rete, 1982).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from checker.engines.packing import (
    Batch,
    Columns,
    Flags,
    Indices,
    Layout,
    Test,
    Transfer,
    Words,
    given,
    shift_transfer,
    table_transfer,
)
from checker.logic.formula import FALSE, TRUE, Formula, Op, Variable, conjunction, disjunction, negate, variables_of
from checker.transition_system import Action, Cases, Constant, Copy, Property, Reachability, after


@dataclass(frozen=True)
class Firing:
    """One action fires in some states of a batch.

    origins    the places of these states in the batch, ascending
    successors the states after the step, in the same order
    marks      for each watch of the relation that finds steps of interest: their places in `origins`
    """

    action: Action
    origins: Indices
    successors: Columns
    marks: tuple[tuple[int, Indices], ...]


@dataclass
class _Leaf:
    action: Action
    test: Test
    effect: _Effect
    watches: tuple[tuple[int, Formula], ...]


@dataclass
class _Node:
    condition: Formula
    leaves: list[_Leaf] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)


class StepRelation:
    """The steps of the actions given, compiled.

    watches: for each watch, the formula over the state before the step that says whether the step is of interest;
    an action that is not named is of no interest to that watch.  See `step_watch` and `goal_watch`.
    """

    def __init__(
        self, layout: Layout, actions: Iterable[Action], watches: Sequence[Mapping[Action, Formula]] = ()
    ) -> None:
        self.layout = layout
        pending: list[tuple[_Leaf, list[Formula]]] = []
        for action in actions:
            if action.guard is FALSE:
                continue
            parts = list(action.guard.args) if action.guard.op is Op.AND else [action.guard]
            watched = tuple((number, watch[action]) for number, watch in enumerate(watches) if action in watch)
            leaf = _Leaf(action, Test((), ()), _Effect(layout, action), watched)
            pending.append((leaf, [part for part in parts if part is not TRUE]))
        self._root = _Node(TRUE)
        self._grow(self._root, pending)

    def _grow(self, node: _Node, pending: list[tuple[_Leaf, list[Formula]]]) -> None:
        """Hangs the actions below `node`, the conjunct with the greatest saving first."""
        while True:
            counts: dict[Formula, int] = {}
            for _, parts in pending:
                for part in parts:
                    counts[part] = counts.get(part, 0) + 1
            shared = [part for part, count in counts.items() if count > 1]
            if not shared:
                break
            best = max(shared, key=lambda part: counts[part] * _selectivity(part))
            child = _Node(best)
            below = [(leaf, [p for p in parts if p is not best]) for leaf, parts in pending if best in parts]
            pending = [(leaf, parts) for leaf, parts in pending if best not in parts]
            self._grow(child, below)
            node.children.append(child)
        for leaf, parts in pending:
            leaf.test = self.layout.test(conjunction(parts))
            node.leaves.append(leaf)

    def fire(self, columns: Columns) -> Iterator[Firing]:
        """Every action in every state that enables it; in an order that depends on the system only."""
        return self._visit(self._root, Batch(self.layout, columns), None)

    def _visit(self, node: _Node, batch: Batch, origins: Indices | None) -> Iterator[Firing]:
        for leaf in node.leaves:
            enabled, chosen = _select(batch, batch.passes(leaf.test), origins)
            if enabled is not None:
                marks = []
                for number, formula in leaf.watches:
                    places = np.flatnonzero(enabled.holds(formula))
                    if len(places):
                        marks.append((number, places))
                yield Firing(leaf.action, chosen, leaf.effect.apply(enabled), tuple(marks))
        for child in node.children:
            below, chosen = _select(batch, batch.holds(child.condition), origins)
            if below is not None:
                yield from self._visit(child, below, chosen)


def _select(batch: Batch, flags: Flags, origins: Indices | None) -> tuple[Batch | None, Indices]:
    places = np.flatnonzero(flags)
    if not len(places):
        return None, places
    if len(places) == batch.size:
        return batch, places if origins is None else origins
    chosen = places if origins is None else origins.take(places)
    return Batch(batch.layout, [column.take(places) for column in batch.columns]), chosen


def _selectivity(formula: Formula) -> float:
    """A guess at the share of the states that `formula` excludes."""
    if formula.op is Op.IN:
        assert formula.variable is not None
        return 1 - formula.mask.bit_count() / formula.variable.size
    return 0.3


class _Effect:
    """The updates of one action: in each word, keep some bits, set some, and add what depends on the state before."""

    def __init__(self, layout: Layout, action: Action) -> None:
        cleared = [0] * layout.words
        constant = [0] * layout.words
        self._copies: list[tuple[int, Transfer]] = []
        self._choices: list[tuple[int, Callable[[Batch], Words]]] = []
        moved: dict[tuple[int, int, int], int] = {}
        for variable, update in action.updates.items():
            place = layout.fields[variable]
            cleared[place.word] |= place.mask
            simple = update if isinstance(update, Copy) else _simplify(update, action.guard)
            if isinstance(simple, Constant):
                constant[place.word] |= simple.code << place.shift
            elif isinstance(simple, Cases):
                self._choices.append((place.word, _choose(simple, place.shift)))
            else:
                source = layout.fields[simple.source]
                same = all(new in (-1, code) for code, new in enumerate(simple.table))
                if same and source.bits <= place.bits:
                    key = (source.word, place.word, place.shift - source.shift)
                    moved[key] = moved.get(key, 0) | source.mask
                else:
                    self._copies.append((place.word, table_transfer(source, simple.table, place)))
        for (word, target, delta), mask in moved.items():
            self._copies.append((target, shift_transfer(word, mask, delta)))
        self._words = [
            (word, np.uint64((1 << 64) - 1 & ~cleared[word]), np.uint64(constant[word]))
            for word in range(layout.words)
            if cleared[word]
        ]

    def apply(self, batch: Batch) -> Columns:
        """The states after the action, which is enabled in all states of the batch."""
        columns = list(batch.columns)
        for word, keep, constant in self._words:
            columns[word] = columns[word] & keep
            if constant:
                columns[word] |= constant
        for word, transfer in self._copies:
            columns[word] |= transfer(batch.columns)
        for word, choice in self._choices:
            columns[word] |= choice(batch)
        return columns


def _simplify(update: Constant | Cases, guard: Formula) -> Constant | Copy | Cases:
    """The same update wherever `guard` holds; cases that look at one variable only become a table."""
    if isinstance(update, Constant):
        return update
    cases = [(simple, code) for c, code in update.cases if (simple := given(c, guard)) is not FALSE]
    if len(cases) < 2:
        return Constant(cases[0][1] if cases else 0)
    first = cases[0][0].variable
    if first is not None and all(condition.variable is first for condition, _ in cases):
        codes = [next((code for c, code in cases if c.mask >> value & 1), -1) for value in range(first.size)]
        return Copy(first, tuple(codes))
    return Cases(tuple(cases))


def _choose(update: Cases, shift: int) -> Callable[[Batch], Words]:
    """The last condition is not looked at: where the guard holds exactly one condition does."""
    *first, (_, last) = update.cases

    def choice(batch: Batch) -> Words:
        found = np.full(batch.size, last << shift, dtype=np.uint64)
        for condition, code in first:
            found[batch.holds(condition)] = np.uint64(code << shift)
        return found

    return choice


def step_watch(actions: Iterable[Action], target: Property) -> dict[Action, Formula]:
    """For each action that can take a step for which `target.bad` holds: the states before such a step."""
    primed = frozenset(variable for variable, prime in variables_of(target.bad) if prime)
    found: dict[Action, Formula] = {}
    idle: Formula | None = None
    for action in actions:
        if not primed & action.writes:
            if idle is None:
                idle = after(_idle(action), target.bad, primed=True)
            formula = idle
        else:
            formula = after(action, target.bad, primed=True)
        if (simple := given(formula, action.guard)) is not FALSE:
            found[action] = simple
    return found


def goal_watch(actions: Iterable[Action], unless: Reachability) -> dict[Action, Formula]:
    """For each action of the kinds wanted whose steps can change a watched formula: the states before such a step."""
    mentioned = [(formula, frozenset(v for v, _ in variables_of(formula))) for formula in unless.watched]
    found: dict[Action, Formula] = {}
    for action in actions:
        if action.kind not in unless.kinds:
            continue
        changes: list[Formula] = []
        for formula, variables in mentioned:
            if variables & action.writes:
                later = after(action, formula, primed=False)
                changes.append(conjunction((formula, negate(later))))
                changes.append(conjunction((negate(formula), later)))
        if (simple := given(disjunction(changes), action.guard)) is not FALSE:
            found[action] = simple
    return found


def _idle(action: Action) -> Action:
    none: Mapping[Variable, Constant] = {}
    return Action(action.index, action.event, action.kind, action.guard, none)
