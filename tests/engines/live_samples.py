"""Systems with one property of infinite runs each, and whether runs violate it, by hand.

The state is one number; a system is a list of steps between numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.logic.formula import FALSE, TRUE, Formula, Role, Variable, disjunction, equals, member
from checker.transition_system import (
    Action,
    Constant,
    FairnessConstraint,
    Form,
    Kind,
    LiveCase,
    Property,
    TransitionSystem,
)
from spec.event import Event, EventKind, Slot

T, E, F = Kind.THREAD, Kind.ENVIRONMENT, Kind.FAULT
Step = tuple[int, int, Kind, str]
"""From where, to where, what kind of step, and whose: steps of one name are one fair action."""


def system(
    steps: Sequence[Step],
    goals: Sequence[int] = (),
    weak: str = "",
    strong: str = "",
    halted: Sequence[int] = (),
    case: LiveCase | None = None,
) -> TransitionSystem:
    """Again and again a goal, or else the case, over the variable that `number` makes; `weak` and `strong` hold the
    letters of the fair actions."""
    size = 1 + max(max(source, target) for source, target, _, _ in steps)
    at = number(size)
    actions = tuple(
        Action(index, Event(EventKind.STEP, Slot("P", 0, name)), kind, equals(at, source), {at: Constant(target)})
        for index, (source, target, kind, name) in enumerate(steps)
    )
    fairness = tuple(
        FairnessConstraint(
            name,
            name,
            name in strong,
            disjunction(a.guard for a, s in zip(actions, steps, strict=True) if s[3] == name and s[2] is T),
            frozenset(a.index for a, s in zip(actions, steps, strict=True) if s[3] == name and s[2] is T),
        )
        for name in weak + strong
    )
    goal = member(at, sum(1 << state for state in goals))
    cases = (LiveCase(TRUE, goal) if case is None else case,)
    target = Property("live", Form.LIVE, FALSE, cases=cases)
    return TransitionSystem((at,), actions, (target,), some(at, halted), fairness=fairness)


def number(size: int) -> Variable:
    known = _NUMBERS.get(size)
    if known is None:
        known = _NUMBERS[size] = Variable("at", tuple(range(size)), 0, Role.STORE)
    return known


_NUMBERS: dict[int, Variable] = {}


def some(at: Variable, states: Sequence[int]) -> Formula:
    return member(at, sum(1 << state for state in states))


CHAIN = [(0, 1, T, "a"), (1, 2, T, "a"), (2, 3, T, "a"), (3, 3, T, "a")]
WAIT = [(0, 1, T, "a"), (1, 0, T, "a"), (0, 2, T, "b"), (2, 2, T, "b")]
"""`a` makes `b` unable again and again; without fairness towards `b` it never gets its turn."""
ESCAPE = [(0, 2, T, "a"), (2, 0, T, "a"), (0, 1, T, "a"), (1, 0, T, "a"), (1, 3, T, "b"), (3, 3, T, "b")]
"""`b` can go on in 1 only, and the loop between 0 and 2 does not come there."""
FAULTS = [(0, 1, F, "f"), (1, 0, T, "a"), (0, 2, T, "a"), (2, 2, T, "a")]
"""A run that never comes to 2 has a fault again and again."""

SAMPLES: dict[str, tuple[TransitionSystem, int | None]] = {
    # name: the system, and the number of steps of a shortest lasso, None where no run violates the property
    "a chain that must be walked": (system(CHAIN, [3], weak="a"), None),
    "a chain that need not be walked": (system(CHAIN, [3]), 0),
    "a thread that is disabled again and again": (system(WAIT, [2], weak="ab"), 2),
    "the same with strong fairness": (system(WAIT, [2], weak="a", strong="b"), None),
    "strong fairness that a loop gets round": (system(ESCAPE, [3], weak="a", strong="b"), 2),
    "faults for ever": (system(FAULTS, [2], weak="a"), None),
    "a fault, then a loop": (system([*FAULTS, (1, 1, T, "a")], [2], weak="a"), 2),
    "a deadlock before the goal": (system([(0, 1, T, "a"), (1, 2, F, "f"), (2, 2, T, "a")], [2], weak="a"), 1),
    "a model error before the goal": (
        system([(0, 1, T, "a"), (1, 2, F, "f"), (2, 2, T, "a")], [2], weak="a", halted=[1]),
        None,
    ),
    "a loop that runs do not reach": (system([(0, 1, T, "a"), (1, 1, T, "a"), (2, 2, T, "a")], [1], weak="a"), None),
    "nothing is owed by the environment": (system([(0, 1, E, "e"), (1, 1, T, "a")], [1], weak="a"), 0),
    "a loop of the environment": (system([(0, 0, E, "e"), (0, 1, T, "a"), (1, 1, T, "a")], [1], weak="a"), None),
    "a deadlock at the goal": (system([(0, 1, T, "a")], [1], weak="a"), None),
    "a loop through the goal": (system([(0, 1, T, "a"), (1, 0, T, "a")], [1], weak="a"), None),
    "a fault on the way to the loop": (
        system([(0, 1, F, "f"), (1, 1, T, "a"), (0, 2, T, "a"), (2, 2, T, "a")], [2], weak="a"),
        2,
    ),
    "triggered after the goal": (
        system(
            [(0, 1, T, "a"), (1, 2, T, "a"), (2, 2, T, "a")],
            case=LiveCase(some(number(3), [1]), some(number(3), [2])),
            weak="a",
        ),
        None,
    ),
    "never again a goal": (
        system(
            [(0, 1, T, "a"), (1, 2, T, "a"), (2, 2, T, "a")],
            case=LiveCase(some(number(3), [0, 2]), some(number(3), [1])),
            weak="a",
        ),
        3,
    ),
    "a goal at some moment": (
        system(
            [(0, 1, T, "a"), (1, 2, T, "a"), (2, 2, T, "a")],
            case=LiveCase(TRUE, some(number(3), [1]), from_start=True),
            weak="a",
        ),
        None,
    ),
    "for ever from some moment on": (
        system(
            [(0, 1, T, "a"), (1, 0, T, "b"), (1, 1, T, "a")], case=LiveCase(TRUE, FALSE, some(number(2), [0])), weak="a"
        ),
        2,
    ),
    "the same when nobody goes back": (
        system([(0, 1, T, "a"), (1, 1, T, "a")], case=LiveCase(TRUE, FALSE, some(number(2), [0])), weak="a"),
        None,
    ),
}
