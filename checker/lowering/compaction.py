"""Leaves out codes that no run can reach, and variables and actions with them.

An abstract run keeps, per variable, the set of codes it may have (a Cartesian abstraction: Cousot and Cousot 1977).
What that over-approximation does not reach is not reachable at all, so dropping it changes no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from checker.logic.formula import FALSE, TRUE, Formula, Op, Variable, member, substitute
from checker.transition_system import (
    Action,
    Cases,
    Constant,
    Copy,
    Permutation,
    Property,
    State,
    TransitionSystem,
    Update,
)


@dataclass(frozen=True, eq=False)
class Compaction:
    """The smaller system, and the way between its states and those of the system it was made from."""

    original: TransitionSystem
    system: TransitionSystem
    kept: Mapping[Variable, Variable]
    """Original variable to new one; variables with one reachable code are missing."""
    codes: Mapping[Variable, tuple[int, ...]]
    """For every original variable: its reachable codes in ascending order (their places are the new codes)."""

    def expand(self, state: State) -> State:
        place = self.system.position
        full = []
        for variable in self.original.variables:
            codes = self.codes[variable]
            new = self.kept.get(variable)
            full.append(codes[state[place[new]]] if new is not None else codes[0])
        return tuple(full)

    def contract(self, state: State) -> State | None:
        """None when the state has a code that no run reaches."""
        small = []
        for (kept, places), code in zip(self._places, state, strict=True):
            place = places.get(code)
            if place is None:
                return None
            if kept:
                small.append(place)
        return tuple(small)

    @cached_property
    def _places(self) -> tuple[tuple[bool, Mapping[int, int]], ...]:
        """For every original variable: whether it is kept, and the new code of each reachable one."""
        return tuple(
            (variable in self.kept, {code: place for place, code in enumerate(self.codes[variable])})
            for variable in self.original.variables
        )

    def property(self, target: Property) -> Property:
        """A property of the original system, for the new one."""
        return _Rewriter(self.kept, self.codes).property(target)


def compact(system: TransitionSystem) -> Compaction:
    """The system without fairness constraints, which are to be made anew of the actions that are left."""
    reach = _reachable_codes(system)
    codes = {v: tuple(c for c in range(v.size) if reach[v] >> c & 1) for v in system.variables}
    kept = {
        v: Variable(v.name, tuple(v.values[c] for c in codes[v]), codes[v].index(v.initial), v.role)
        for v in system.variables
        if len(codes[v]) > 1
    }
    rewriter = _Rewriter(kept, codes)
    actions: list[Action] = []
    for action in system.actions:
        rewritten = rewriter.action(action, reach)
        if rewritten is not None:
            actions.append(replace(rewritten, index=len(actions)))
    new = TransitionSystem(
        variables=tuple(kept[v] for v in system.variables if v in kept),
        actions=tuple(actions),
        properties=tuple(rewriter.property(p) for p in system.properties),
        halted=rewriter.formula(system.halted),
        frontier=rewriter.formula(system.frontier),
        swaps=tuple(s for swap in system.swaps if (s := rewriter.permutation(swap)) is not None),
    )
    return Compaction(system, new, kept, codes)


def _reachable_codes(system: TransitionSystem) -> dict[Variable, int]:
    reach = {v: 1 << v.initial for v in system.variables}
    changed = True
    while changed:
        changed = False
        for action in system.actions:
            known = _narrowed(action.guard, reach)
            if known is None:
                continue
            for variable, update in action.updates.items():
                new = reach[variable] | _outcome(update, known)
                if new != reach[variable]:
                    reach[variable] = new
                    changed = True
    return reach


def _narrowed(guard: Formula, reach: Mapping[Variable, int]) -> Mapping[Variable, int] | None:
    """The reachable codes within the guard's cube; None when the guard cannot hold."""
    if not _possible(guard, reach):
        return None
    parts = guard.args if guard.op is Op.AND else (guard,)
    known = dict(reach)
    for part in parts:
        if part.op is Op.IN and part.variable is not None:
            known[part.variable] &= part.mask
    return known


def _possible(formula: Formula, known: Mapping[Variable, int]) -> bool:
    memo: dict[int, bool] = {}

    def visit(node: Formula) -> bool:
        if node.op is Op.IN:
            assert node.variable is not None
            return bool(known[node.variable] & node.mask)
        if not node.args:
            return node is TRUE
        answer = memo.get(node.uid)
        if answer is None:
            answer = all(map(visit, node.args)) if node.op is Op.AND else any(map(visit, node.args))
            memo[node.uid] = answer
        return answer

    return visit(formula)


def _outcome(update: Update, known: Mapping[Variable, int]) -> int:
    if isinstance(update, Constant):
        return 1 << update.code
    mask = 0
    if isinstance(update, Copy):
        for code, new in enumerate(update.table):
            if new >= 0 and known[update.source] >> code & 1:
                mask |= 1 << new
        return mask
    for condition, code in update.cases:
        if _possible(condition, known):
            mask |= 1 << code
    return mask


class _Rewriter:
    def __init__(self, kept: Mapping[Variable, Variable], codes: Mapping[Variable, tuple[int, ...]]) -> None:
        self.kept = kept
        self.codes = codes
        self.place = {v: {c: i for i, c in enumerate(found)} for v, found in codes.items()}

    def literal(self, node: Formula) -> Formula:
        variable = node.variable
        assert variable is not None
        codes = self.codes[variable]
        new = self.kept.get(variable)
        if new is None:
            return TRUE if node.mask >> codes[0] & 1 else FALSE
        mask = 0
        for i, code in enumerate(codes):
            if node.mask >> code & 1:
                mask |= 1 << i
        return member(new, mask, node.primed)

    def formula(self, formula: Formula) -> Formula:
        return substitute(formula, self.literal)

    def action(self, action: Action, reach: Mapping[Variable, int]) -> Action | None:
        known = _narrowed(action.guard, reach)
        if known is None:
            return None
        guard = self.formula(action.guard)
        if guard is FALSE:
            return None
        updates: dict[Variable, Update] = {}
        for variable, update in action.updates.items():
            new = self.kept.get(variable)
            if new is None:
                continue
            rewritten = self.update(variable, update, known)
            if rewritten is not None:
                updates[new] = rewritten
        return Action(action.index, action.event, action.kind, guard, updates, action.fault)

    def update(self, variable: Variable, update: Update, known: Mapping[Variable, int]) -> Update | None:
        place = self.place[variable]
        if isinstance(update, Constant):
            if known[variable] == 1 << update.code:
                return None
            return Constant(place[update.code])
        if isinstance(update, Copy):
            source = update.source
            table = [
                place[update.table[c]] if update.table[c] >= 0 and known[source] >> c & 1 else -1
                for c in self.codes[source]
            ]
            targets = {code for code in table if code >= 0}
            if len(targets) == 1:
                code = targets.pop()
                return None if known[variable] == 1 << self.codes[variable][code] else Constant(code)
            if source is variable and all(code in (i, -1) for i, code in enumerate(table)):
                return None
            return Copy(self.kept[source], tuple(table))
        cases = tuple(
            (rewritten, place[code])
            for condition, code in update.cases
            if _possible(condition, known) and (rewritten := self.formula(condition)) is not FALSE
        )
        if len(cases) == 1:
            return Constant(cases[0][1])
        return Cases(cases)

    def property(self, target: Property) -> Property:
        unless = target.unless
        if unless is not None:
            watched = dict.fromkeys(self.formula(f) for f in unless.watched)
            unless = replace(
                unless,
                state=self.formula(unless.state),
                watched=tuple(f for f in watched if f not in (TRUE, FALSE)),
            )
        cases = tuple(
            replace(
                case,
                trigger=self.formula(case.trigger),
                goal=self.formula(case.goal),
                recurrent=self.formula(case.recurrent),
            )
            for case in target.cases
        )
        return replace(target, bad=self.formula(target.bad), unless=unless, cases=cases)

    def permutation(self, swap: Permutation) -> Permutation | None:
        """None when the abstraction, which need not be symmetric, has lost the symmetry."""
        moves = []
        for source, target, table in swap.moves:
            images = [self.place[target].get(table[c]) for c in self.codes[source]]
            if any(image is None for image in images) or len(images) != len(self.codes[target]):
                return None
            if source not in self.kept:
                continue
            new = tuple(image for image in images if image is not None)
            if source is not target or new != tuple(range(len(new))):
                moves.append((self.kept[source], self.kept[target], new))
        return Permutation(swap.name, tuple(moves)) if moves else None
