"""Proofs about infinite runs: a system that counts how many fair rounds go by while a case is pending.

k-liveness: Claessen and Sörensson, "A liveness checking algorithm that counts", 2012.  At a moment of its choice the
system begins to count: from then on there is no goal and no fault.  A round is over when something recurrent was seen
and every constraint was kept since the last one: a weak one by a step or by being disabled; a strong one by a step, or
by the claim that it is never enabled again, which holds from then on.  A run that violates the case can begin where all
this is so for ever, and goes through round after round; so when no more than a bounded number is possible, there is no
such run.  A state in which a run may stay is bad at once.

Observing, claiming and ending a round are actions of their own, so that the model's actions stay as small as they are.
None of them is forced: who counts less proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from checker.certificates.invariant import Invariant, check
from checker.engines.engine import FewRounds, Lasso, Path
from checker.liveness.fairness import is_violating_loop, may_stay, pending_at_start
from checker.liveness.monitor import watching, watching_fairness
from checker.logic.formula import (
    TRUE,
    Formula,
    Variable,
    conjunction,
    disjunction,
    equals,
    member,
    negate,
    substitute,
)
from checker.logic.solver import SatSolver, Solver
from checker.transition_system import (
    Action,
    Constant,
    Copy,
    Form,
    Kind,
    LiveCase,
    Property,
    TransitionSystem,
    Update,
)
from spec.event import Event, EventKind

_FREE, _PENDING, _COUNTING = range(3)


@dataclass(frozen=True, eq=False)
class CountingSystem:
    """system  has one property, an invariant: fewer than `rounds` rounds go by, and no run can stay
    original  the system that it was made from, whose variables come first in each state
    phase, count  the variables that say whether it counts, and how far it got
    """

    original: TransitionSystem
    case: LiveCase
    rounds: int
    system: TransitionSystem
    phase: Variable
    count: Variable

    @property
    def target(self) -> Property:
        return self.system.properties[0]

    def lasso(self, path: Path, number: int) -> Lasso | None:
        """A lasso, for the case with this number, in a path to a bad state: the first loop that violates the case.
        None if there is none: then more rounds must be counted."""
        width, position = len(self.original.variables), self.system.position
        moves = [place for place, action in enumerate(path.actions) if not action.bookkeeping]
        states = [path.states[place][:width] for place in (0, *(place + 1 for place in moves))]
        actions = [self.original.actions[path.actions[place].index] for place in moves]
        begin = sum(path.states[place][position[self.phase]] != _COUNTING for place in moves)
        for end in range(begin + 1, len(states)):
            for start in range(end - 1, begin - 1, -1):
                if states[start] == states[end] and is_violating_loop(
                    self.original, self.case, states[start:end], actions[start:end]
                ):
                    return Lasso(Path(tuple(states[: end + 1]), tuple(actions[:end])), start, number, None)
        if path.states[-1][position[self.count]] < self.rounds:
            return Lasso(Path(tuple(states), tuple(actions)), len(actions), number, None)
        return None


def counting_system(system: TransitionSystem, case: LiveCase, rounds: int) -> CountingSystem:
    """The system that counts up to `rounds` (1 or more) for one case of a LIVE property.  Its variables have the same
    names each time."""
    return _Builder(system, case, rounds).build()


def complaint(
    system: TransitionSystem,
    target: Property,
    proof: FewRounds,
    deadline: float | None = None,
    make_solver: Callable[[], SatSolver] = Solver,
) -> str | None:
    """None if the invariants prove the LIVE property, by systems that are made anew, else what is wrong."""
    if target.form is not Form.LIVE:
        return "rounds are counted for properties of infinite runs only"
    if not len(target.cases) == len(proof.rounds) == len(proof.invariants):
        return "there is not one invariant for each case"
    for number, (case, rounds, invariant) in enumerate(zip(target.cases, proof.rounds, proof.invariants, strict=True)):
        counting = counting_system(system, case, rounds)
        try:
            own = translated(invariant, counting.system)
        except ValueError as error:
            return f"case {number}: {error}"
        wrong = check(counting.system, counting.target, own, deadline, make_solver)
        if wrong is not None:
            return f"case {number}: {wrong}"
    return None


def translated(invariant: Invariant, system: TransitionSystem) -> Invariant:
    """The invariant over the variables of a system, which it may speak of by other objects of the same names and sizes.
    Raises ValueError if there is no such variable."""
    by_name = {variable.name: variable for variable in system.variables}

    def literal(node: Formula) -> Formula:
        assert node.variable is not None
        own = by_name.get(node.variable.name)
        if own is None or own.size != node.variable.size or node.primed:
            raise ValueError(f"the invariant speaks of {node.variable.name}, which is no variable of the system")
        return member(own, node.mask)

    return Invariant(tuple(tuple(substitute(part, literal) for part in cube) for cube in invariant.cubes))


class _Builder:
    """kept   for each constraint: 0 owed, 1 kept in this round, 2 (of a strong one) never enabled again
    seen   whether something recurrent was seen in this round, if that is asked for
    moved  whether a step was taken in this round
    """

    def __init__(self, system: TransitionSystem, case: LiveCase, rounds: int) -> None:
        self.original = system
        self.case = case
        self.rounds = rounds
        started = case.from_start and pending_at_start(system, case)
        self.phase = watching("counting phase", 3, _PENDING if started else _FREE)
        self.count = watching("rounds", rounds + 1)
        self.moved = watching("moved", 2)
        self.seen = None if case.recurrent is TRUE else watching("recurrent seen", 2)
        self.kept = watching_fairness(system)
        self.own: list[Action] = []

    def build(self) -> CountingSystem:
        actions = [self._action(action) for action in self.original.actions]
        self._begin()
        self._observe()
        self._end_round()
        actions += self.own
        extra = [self.phase, self.count, self.moved, *self.kept.values()]
        if self.seen is not None:
            extra.append(self.seen)
        staying = (
            equals(self.phase, _COUNTING),
            negate(self.case.goal),
            may_stay(self.original),
            self.case.recurrent,
        )
        bad = disjunction((equals(self.count, self.rounds), conjunction(staying)))
        system = TransitionSystem(
            variables=(*self.original.variables, *extra),
            actions=tuple(actions),
            properties=(Property("rounds", Form.INVARIANT, bad),),
            halted=self.original.halted,
            frontier=self.original.frontier,
        )
        return CountingSystem(self.original, self.case, self.rounds, system, self.phase, self.count)

    def _action(self, action: Action) -> Action:
        free, counting = equals(self.phase, _FREE), equals(self.phase, _COUNTING)
        guard = [action.guard, disjunction((free, negate(self.case.goal)))]
        updates = dict(action.updates)
        if action.kind is Kind.FAULT:
            guard.append(negate(counting))
        else:
            updates[self.moved] = Copy(self.phase, (0, 0, 1))
            for constraint, kept in self.kept.items():
                if constraint.strong:
                    guard.append(disjunction((negate(equals(kept, 2)), negate(constraint.enabled))))
                if action.index in constraint.actions:
                    updates[kept] = Copy(self.phase, (0, 0, 1))
        return Action(action.index, action.event, action.kind, conjunction(guard), updates, action.fault)

    def _begin(self) -> None:
        trigger, goal = self.case.trigger, self.case.goal
        pending = equals(self.phase, _PENDING)
        if not self.case.from_start:
            if trigger is TRUE:
                pending = equals(self.phase, _FREE)
            else:
                self._own((equals(self.phase, _FREE), trigger, negate(goal)), {self.phase: Constant(_PENDING)})
        self._own((pending, negate(goal)), {self.phase: Constant(_COUNTING)})

    def _observe(self) -> None:
        counting = equals(self.phase, _COUNTING)
        for constraint, kept in self.kept.items():
            noted = Constant(2 if constraint.strong else 1)
            self._own((counting, equals(kept, 0), negate(constraint.enabled)), {kept: noted})
        if self.seen is not None:
            self._own((counting, equals(self.seen, 0), self.case.recurrent), {self.seen: Constant(1)})

    def _end_round(self) -> None:
        guard = [equals(self.phase, _COUNTING), equals(self.moved, 1), negate(equals(self.count, self.rounds))]
        updates: dict[Variable, Update] = {
            self.count: Copy(self.count, (*range(1, self.rounds + 1), -1)),
            self.moved: Constant(0),
        }
        for constraint, kept in self.kept.items():
            guard.append(negate(equals(kept, 0)))
            updates[kept] = Copy(kept, (0, 0, 2)) if constraint.strong else Constant(0)
        if self.seen is not None:
            guard.append(equals(self.seen, 1))
            updates[self.seen] = Constant(0)
        self._own(guard, updates)

    def _own(self, guard: Iterable[Formula], updates: dict[Variable, Update]) -> None:
        """Adds an action of the monitor."""
        index = len(self.original.actions) + len(self.own)
        condition = conjunction(guard)
        self.own.append(Action(index, Event(EventKind.STEP), Kind.ENVIRONMENT, condition, updates, bookkeeping=True))


__all__ = ["CountingSystem", "complaint", "counting_system", "translated"]
