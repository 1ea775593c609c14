"""Steps in which several actions take part at once, where carrying them out one after the other comes to the same.

The exists-step semantics of Rintanen, Heljanko and Niemelä, "Planning as satisfiability: parallel plans and algorithms
for plan search", 2006: all guards hold in the state before, and in some order (here the same for all steps) no action
spoils what a later one reads.  Their chains keep that linear in the number of actions for each literal that is read.

What an action reads are the literals of its guard and of the condition under which states have successors, and the
variables that its updates look at.  It spoils a literal if it may write a code that does not satisfy it.  Nothing needs
to be said of two actions that write one variable, as the state after the step has what both write; nor of two whose
guards contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from checker.logic.encode import Clauses, Layout, Template
from checker.logic.formula import Formula, Op, Variable, conjunction, negate
from checker.transition_system import Action, Constant, Copy, TransitionSystem

Relation = NDArray[np.bool_]
"""A relation between actions, as a square matrix."""
Masks = dict[Variable, int]
"""For some variables, sets of codes."""


class ParallelSteps:
    """Which actions of a system can take part in a step together.

    order       the numbers of the actions, as those of a step are carried out one after the other
    compatible  whether the guards of two actions do not contradict each other, as far as that is seen at once
    conflicts   whether one action (row) comes before and may spoil what another (column) reads
    """

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        going_on = conjunction((negate(system.halted), negate(system.frontier)))
        self._reads = [reads(action, going_on) for action in system.actions]
        self._writes = [writes(action) for action in system.actions]
        self.compatible = _compatible([pinned(action.guard) for action in system.actions])
        spoiling = self._spoiling()
        self.order = fewest_violated(spoiling.T)
        self._place = np.empty(len(self.order), dtype=np.intp)
        self._place[self.order] = np.arange(len(self.order))
        self.conflicts: Relation = spoiling & (self._place[:, None] < self._place[None, :])

    def template(self, system: TransitionSystem, layout: Layout) -> Template:
        """The clauses of a step.  One output after the selections implies that a single action takes part."""
        clauses = Clauses(layout)
        selections = clauses.selections(system)
        clauses.require((), negate(system.halted))
        clauses.require((), negate(system.frontier))
        clauses.add(*selections)
        single = clauses.new()
        clauses.at_most_one(selections, unless=(-single,))
        self._keep_apart(clauses, selections)
        return clauses.template((*selections, single))

    def serial(self, actions: Iterable[Action]) -> list[Action]:
        """The actions of a step, one after the other."""
        return sorted(actions, key=lambda action: int(self._place[action.index]))

    def literals(self) -> Iterator[tuple[list[int], list[int]]]:
        """For each literal that is read: who may spoil it, and who reads it."""
        readers: dict[tuple[Variable, int], list[int]] = {}
        writers: dict[Variable, list[int]] = {}
        for number, masks in enumerate(self._reads):
            for variable, mask in masks.items():
                readers.setdefault((variable, mask), []).append(number)
        for number, masks in enumerate(self._writes):
            for variable in masks:
                writers.setdefault(variable, []).append(number)
        for (variable, mask), reading in readers.items():
            spoiling = [number for number in writers.get(variable, ()) if self._writes[number][variable] & ~mask]
            if spoiling:
                yield spoiling, reading

    def _spoiling(self) -> Relation:
        """Whether one action (row) may spoil what another (column) reads, if they can take part together."""
        count = len(self.system.actions)
        found = np.zeros((count, count), dtype=np.bool_)
        for spoilers, readers in self.literals():
            found[np.ix_(spoilers, readers)] = True
        np.fill_diagonal(found, False)
        return found & self.compatible

    def _keep_apart(self, clauses: Clauses, selections: Sequence[int]) -> None:
        """Clauses against each conflict: one for each pair, or a chain for each literal, whichever are fewer."""
        chains = [chain for literal in self.literals() if (chain := self.chain(*literal))]
        if int(self.conflicts.sum()) <= sum(map(len, chains)):
            for first, second in np.argwhere(self.conflicts).tolist():
                clauses.add(-selections[first], -selections[second])
        else:
            for chain in chains:
                hang(clauses, chain, selections)

    def chain(self, spoilers: Sequence[int], readers: Sequence[int]) -> list[tuple[int, bool]]:
        """The spoilers (True) and readers (False) that are in a conflict with one of the others, in their order; in a
        place where both meet the reader is first.  Readers that are not in a conflict with an earlier spoiler have
        guards that contradict its guard."""
        met = np.argwhere(self.conflicts[np.ix_(spoilers, readers)])
        found = [(spoilers[row], True) for row in np.unique(met[:, 0])]
        found += [(readers[column], False) for column in np.unique(met[:, 1])]
        return sorted(found, key=lambda each: (int(self._place[each[0]]), each[1]))


def hang(clauses: Clauses, chain: Iterable[tuple[int, bool]], selections: Sequence[int]) -> None:
    """No reader takes part when a spoiler before it does."""
    spoilt: list[int] = []
    for number, spoils in chain:
        if spoils:
            spoilt.append(selections[number])
            continue
        if len(spoilt) > 1:
            before = clauses.new()
            for literal in spoilt:
                clauses.add(-literal, before)
            spoilt = [before]
        clauses.add(-selections[number], *(-literal for literal in spoilt))


def reads(action: Action, going_on: Formula) -> Masks:
    """For each variable that the action looks at, the codes that it can have instead and nothing changes for the
    action, as far as it may have a step where `going_on` holds."""
    found: Masks = {}
    _gather(action.guard, found)
    _gather(going_on, found)
    for update in action.updates.values():
        if isinstance(update, Copy):
            found[update.source] = 0
        elif not isinstance(update, Constant):
            looked_at: Masks = {}
            for condition, _ in update.cases:
                _gather(condition, looked_at)
            found.update(dict.fromkeys(looked_at, 0))
    return found


def _gather(formula: Formula, found: Masks) -> None:
    """Literals occur without negation: while all of them stay true, or become so, the formula does not become false."""
    seen: set[Formula] = set()
    stack = [formula]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op is Op.IN:
            assert node.variable is not None
            found[node.variable] = found.get(node.variable, node.variable.full_mask) & node.mask
        stack.extend(node.args)


def writes(action: Action) -> Masks:
    """For each variable that the action writes, the codes that it may give it."""
    found: Masks = {}
    before = pinned(action.guard)
    for variable, update in action.updates.items():
        if isinstance(update, Constant):
            found[variable] = 1 << update.code
        elif isinstance(update, Copy):
            possible = before.get(update.source, update.source.full_mask)
            codes = {new for code, new in enumerate(update.table) if new >= 0 and possible >> code & 1}
            found[variable] = sum(1 << code for code in codes)
        else:
            found[variable] = sum(1 << code for code in {code for _, code in update.cases})
    return found


def pinned(formula: Formula) -> Masks:
    """The literals that a conjunction consists of, in part."""
    parts = formula.args if formula.op is Op.AND else (formula,)
    return {part.variable: part.mask for part in parts if part.op is Op.IN and part.variable is not None}


def _compatible(guards: Sequence[Mapping[Variable, int]]) -> Relation:
    """Whether no variable has disjoint sets in two of the guards."""
    found = np.ones((len(guards), len(guards)), dtype=np.bool_)
    by_variable: dict[Variable, dict[int, list[int]]] = {}
    for number, guard in enumerate(guards):
        for variable, mask in guard.items():
            by_variable.setdefault(variable, {}).setdefault(mask, []).append(number)
    for masks in by_variable.values():
        for one, ones in masks.items():
            others = [number for other, numbers in masks.items() if not one & other for number in numbers]
            if others:
                found[np.ix_(ones, others)] = False
    return found


def fewest_violated(wanted: Relation) -> NDArray[np.intp]:
    """An order of all numbers in which few wishes stay unfulfilled, that one (row) be before another (column); none if
    that is possible.  Eades, Lin and Smyth, "A fast and effective heuristic for the feedback arc set problem", 1993."""
    left = np.ones(len(wanted), dtype=np.bool_)
    leaving, entering = wanted.sum(axis=1), wanted.sum(axis=0)
    front: list[int] = []
    back: list[int] = []
    while left.any():
        numbers = np.flatnonzero(left)
        sinks, sources = numbers[leaving[numbers] == 0], numbers[entering[numbers] == 0]
        if len(sources):
            chosen, end = int(sources[0]), front
        elif len(sinks):
            chosen, end = int(sinks[-1]), back
        else:
            chosen, end = int(numbers[np.argmax((leaving - entering)[numbers])]), front
        end.append(chosen)
        left[chosen] = False
        entering = entering - wanted[chosen]
        leaving = leaving - wanted[:, chosen]
    return np.array([*front, *reversed(back)], dtype=np.intp)


__all__ = ["ParallelSteps"]
