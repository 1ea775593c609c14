"""The transition system: variables, guarded actions, properties.  It is all that an engine sees.

One step fires exactly one action.  An action is enabled where its guard holds; its updates take effect together
and are computed from the state before the step; variables it does not name keep their value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from checker.logic.formula import (
    FALSE,
    TRUE,
    Formula,
    Role,
    Variable,
    conjunction,
    disjunction,
    equals,
    member,
    substitute,
)
from spec.event import Event, EventKind


@dataclass(frozen=True)
class Constant:
    """The variable gets this code."""

    code: int


@dataclass(frozen=True)
class Copy:
    """The variable gets the code that `source` had before the step.

    `table[c]` is the new code when `source` has code c; the identity for variables of equal values.
    A code of -1 marks a value that the guard excludes.
    """

    source: Variable
    table: tuple[int, ...]


@dataclass(frozen=True)
class Cases:
    """The variable gets `code` where its condition holds; exactly one condition holds where the guard does."""

    cases: tuple[tuple[Formula, int], ...]


Update = Constant | Copy | Cases


class Kind(Enum):
    """Who is responsible for a step; `at rest`, `recoverable` and fairness depend on it."""

    THREAD = "thread"
    ENVIRONMENT = "environment"
    RECOVERY = "recovery"
    FAULT = "fault"


@dataclass(frozen=True, eq=False)
class Action:
    """index: its place in `TransitionSystem.actions`; fault: the fault class that it spends, if any.

    bookkeeping: no step of the model, but of a monitor that was put beside it; nobody acts.
    """

    index: int
    event: Event
    kind: Kind
    guard: Formula
    updates: Mapping[Variable, Update]
    fault: str | None = None
    bookkeeping: bool = False

    @cached_property
    def writes(self) -> frozenset[Variable]:
        return frozenset(self.updates)


class Form(Enum):
    INVARIANT = "invariant"
    STEP_INVARIANT = "step invariant"
    AT_REST = "at rest"
    RECOVERABLE = "recoverable"
    COVER = "cover"
    LIVE = "live"


@dataclass(frozen=True, eq=False)
class Reachability:
    """A state is *saved* from violation if some path from it, over actions of `kinds`, reaches the goal.

    The goal is reached in a state where `state` holds (the path may be empty), or by a step of the path after which
    the truth of any formula in `watched` differs from before it.
    """

    kinds: frozenset[Kind]
    state: Formula = FALSE
    watched: tuple[Formula, ...] = ()


@dataclass(frozen=True, eq=False)
class FairnessConstraint:
    """An assumption about infinite runs: the actions are taken again and again unless they are disabled, for a weak
    one again and again, for a strong one from some moment on.

    name     what is fair, for people: `Server[0].sweep`, `restart postgres`
    group    the same without instances, places and items: what the model's author can say of it: `Server.sweep`
    enabled  where one of the actions can be taken (`halted` and `frontier` aside)
    actions  indices in `TransitionSystem.actions`
    """

    name: str
    group: str
    strong: bool
    enabled: Formula
    actions: frozenset[int]


@dataclass(frozen=True, eq=False)
class LiveCase:
    """One way to violate a LIVE property: a state is *triggered*, and from there on for ever no state is a goal, and
    states in which `recurrent` holds come again and again.

    A state is triggered where `trigger` holds and `goal` does not; with `from_start` only the initial state is.
    binding  the values of the property's binders, for people: `w = Workflow#0`
    """

    trigger: Formula
    goal: Formula
    recurrent: Formula = TRUE
    from_start: bool = False
    binding: str = ""


@dataclass(frozen=True, eq=False)
class Property:
    """What an engine looks for.  `bad` marks the state that refutes (for COVER: the state that is looked for).

    INVARIANT, COVER  a reachable state in which `bad` holds
    STEP_INVARIANT    a reachable step for which `bad` holds; its primed literals speak of the state after the step
    AT_REST, RECOVERABLE  a reachable state in which `bad` holds and from which `unless` cannot be reached
    LIVE              a run for which one of `cases` is true, and which is fair, has finitely many faults and never
                      halts.  It is infinite, or stays for ever in a last state where no fairness constraint is enabled.
                      `bad` is FALSE

    `shown`: people will see the path, so it is to be a good one; else any will do.
    """

    name: str
    form: Form
    bad: Formula
    unless: Reachability | None = None
    shown: bool = True
    cases: tuple[LiveCase, ...] = ()


@dataclass(frozen=True, eq=False)
class Permutation:
    """A symmetry.  The permuted state has, for each (source, target, table): target = table[code of source].

    Variables that are not named stay as they are.  Every permutation listed in a transition system maps initial
    states, steps and all properties to themselves, but for LIVE ones: their cases and the fairness constraints it maps
    to others, and may map them to some that are not listed.
    """

    name: str
    moves: tuple[tuple[Variable, Variable, tuple[int, ...]], ...]


@dataclass(frozen=True, eq=False)
class TransitionSystem:
    """`halted` marks states that have no successors whatever the guards say (a model error has struck).

    `swaps` are transpositions that generate the symmetry group; using any subset of them is sound.
    `frontier` marks states in which an unbounded integer has left the window that was explored: no step leads out of
    them, and a search or unrolling that reaches one must not report a proof or a bound.
    `fairness` is what LIVE properties assume of infinite runs.
    """

    variables: tuple[Variable, ...]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    halted: Formula = FALSE
    frontier: Formula = FALSE
    swaps: tuple[Permutation, ...] = field(default=())
    fairness: tuple[FairnessConstraint, ...] = field(default=())

    @cached_property
    def position(self) -> Mapping[Variable, int]:
        """Where each variable stands in a state tuple."""
        return {variable: place for place, variable in enumerate(self.variables)}

    @property
    def initial(self) -> tuple[int, ...]:
        return tuple(variable.initial for variable in self.variables)


State = tuple[int, ...]
"""One code per variable, in the order of `TransitionSystem.variables`."""


def after(action: Action, formula: Formula, primed: bool) -> Formula:
    """`formula`'s truth after `action`, as a formula over the state before it.

    With `primed` its primed literals are replaced (and the others stay); without, its unprimed ones are.
    The answer is meaningful where the action's guard holds.
    """

    def literal(node: Formula) -> Formula:
        variable = node.variable
        assert variable is not None
        if node.primed is not primed:
            return node
        update = action.updates.get(variable)
        if update is None:
            return member(variable, node.mask)
        if isinstance(update, Constant):
            return member(variable, variable.full_mask if node.mask >> update.code & 1 else 0)
        if isinstance(update, Copy):
            mask = 0
            for code, new in enumerate(update.table):
                if new >= 0 and node.mask >> new & 1:
                    mask |= 1 << code
            return member(update.source, mask)
        return disjunction(condition for condition, code in update.cases if node.mask >> code & 1)

    return substitute(formula, literal)


def successor(system: TransitionSystem, state: State, action: Action) -> State:
    """The state after `action`; the caller has made sure that the guard holds."""
    from checker.logic.formula import evaluate

    place = system.position
    codes = list(state)
    for variable, update in action.updates.items():
        if isinstance(update, Constant):
            codes[place[variable]] = update.code
        elif isinstance(update, Copy):
            codes[place[variable]] = update.table[state[place[update.source]]]
        else:
            codes[place[variable]] = next(
                code for condition, code in update.cases if evaluate(condition, lambda v: state[place[v]])
            )
    return tuple(codes)


__all__ = [
    "Action",
    "Cases",
    "Constant",
    "Copy",
    "Event",
    "EventKind",
    "Form",
    "Kind",
    "Permutation",
    "Property",
    "Reachability",
    "Role",
    "State",
    "TransitionSystem",
    "Update",
    "Variable",
    "after",
    "conjunction",
    "equals",
    "successor",
]
