"""Ways out: why states that might violate `at rest` or `recoverable` do not.

A way out is a sequence of actions.  Actions are deterministic, so the states from which the sequence can be taken, and
then reaches the goal, are a formula over the state: the actions are executed forwards on symbolic values (King,
"Symbolic execution and program testing", 1976).  The engines compute the same states backwards, and share no code with
this (`checker.engines.saving`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checker.logic.formula import (
    FALSE,
    TRUE,
    Formula,
    Variable,
    conjunction,
    disjunction,
    equals,
    member,
    negate,
    substitute,
    variables_of,
)
from checker.transition_system import Action, Constant, Copy, Form, Reachability, TransitionSystem
from spec.event import Event, EventKind


@dataclass(frozen=True)
class Rescue:
    """The actions, to be taken in turn.  With none, the goal holds in the state itself."""

    actions: tuple[Action, ...]

    def is_of(self, unless: Reachability) -> bool:
        """Whether the goal's paths may have these actions."""
        return all(action.kind in unless.kinds for action in self.actions)


def rescued(system: TransitionSystem, unless: Reachability, rescue: Rescue) -> Formula:
    """The states from which the actions can be taken in turn so that they reach the goal: its state holds after them,
    or the last of them changes the truth of a watched formula."""
    before = now = _Execution()
    possible = []
    for action in rescue.actions:
        going_on = conjunction((negate(system.halted), negate(system.frontier), action.guard))
        possible.append(now.truth(going_on))
        before, now = now, now.after(action)
    goals = [now.truth(unless.state)]
    if rescue.actions:
        last = rescue.actions[-1].writes
        for formula in unless.watched:
            if any(variable in last for variable, _ in variables_of(formula)):
                other = negate(formula)
                goals.append(conjunction((before.truth(formula), now.truth(other))))
                goals.append(conjunction((before.truth(other), now.truth(formula))))
    return conjunction((*possible, disjunction(goals)))


def in_words(rescues: Sequence[Rescue], form: Form) -> str:
    """What the ways out say, in one sentence; empty if there are none."""
    if not rescues:
        return ""
    goal = "leads to where it does" if form is Form.RECOVERABLE else "still moves something"
    longest = max(len(rescue.actions) for rescue in rescues)
    first = dict.fromkeys(_beginning(rescue.actions[0].event) for rescue in rescues if rescue.actions)
    count = "one way" if len(rescues) == 1 else f"one of {len(rescues)} ways"
    steps = "1 step" if longest == 1 else f"{longest} steps"
    begins = f"; they begin with {', '.join(sorted(first))}" if first else ""
    return f"wherever it does not hold, {count} {goal}, in at most {steps}{begins}"


def _beginning(event: Event) -> str:
    if event.slot is not None and event.kind in (EventKind.STEP, EventKind.REPLY, EventKind.REQUEST):
        thread = f"{event.slot.process}.{event.slot.thread}"
        return thread if event.kind is EventKind.STEP else f"{thread} {event.kind.value}"
    if event.store is not None:
        return f"{event.kind.value} {event.store}.{event.variable}"
    return f"{event.kind.value} {' -- '.join(party.name for party in (event.party, event.other) if party is not None)}"


class _Execution:
    """What the variables are after some actions, in terms of the state before the first.

    A value that an update leaves open is no value: then no literal about it is true."""

    def __init__(self, values: Mapping[Variable, tuple[Formula, ...]] | None = None) -> None:
        self._values = values or {}

    def truth(self, formula: Formula) -> Formula:
        return substitute(formula, self._literal)

    def after(self, action: Action) -> _Execution:
        values = dict(self._values)
        for variable, update in action.updates.items():
            codes = [FALSE] * variable.size
            if isinstance(update, Constant):
                codes[update.code] = TRUE
            elif isinstance(update, Copy):
                source = self._codes(update.source)
                for code, new in enumerate(update.table):
                    if new >= 0:
                        codes[new] = disjunction((codes[new], source[code]))
            else:
                for condition, code in update.cases:
                    codes[code] = disjunction((codes[code], self.truth(condition)))
            values[variable] = tuple(codes)
        return _Execution(values)

    def _literal(self, node: Formula) -> Formula:
        variable = node.variable
        assert variable is not None
        assert not node.primed
        if variable not in self._values:
            return member(variable, node.mask)
        return disjunction(value for code, value in enumerate(self._values[variable]) if node.mask >> code & 1)

    def _codes(self, variable: Variable) -> tuple[Formula, ...]:
        known = self._values.get(variable)
        return tuple(equals(variable, code) for code in range(variable.size)) if known is None else known


__all__ = ["Rescue", "in_words", "rescued"]
