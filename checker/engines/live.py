"""Properties of infinite runs: the ways to decide them, one after the other or in turns.

First the graph of all states, where it is small.  Where it is not, fair rounds are counted by IC3 for a proof, and
lassos are looked for by bounded model checking, in turns of growing length.  In the end a lasso that was found is
replaced by a shortest one if there is time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from checker.engines.best_path import Rank
from checker.engines.bmc import Bmc
from checker.engines.engine import (
    Bounded,
    Budget,
    Coverage,
    Engine,
    FewRounds,
    Inductive,
    Lasso,
    Outcome,
    Progress,
    Reached,
    Reporter,
    Undecided,
)
from checker.engines.fair_cycles import FairCycles
from checker.engines.ic3 import Ic3
from checker.engines.search import Search
from checker.liveness.counting import counting_system
from checker.liveness.lasso_system import LassoSystem, lasso_system
from checker.time_limit import OUT_OF_TIME
from checker.transition_system import Form, Property, TransitionSystem

GRAPH_SHARE = 0.4
"""Of the time, this may be spent on the graph of all states, if there are other ways."""
SHORTENING_SHARE = 0.5
"""Of the time that is left, this may be spent on a shorter lasso than one that is known."""
FIRST_TURN = 0.5
"""Seconds that counting, and looking for lassos, have in their first turns; twice as many in the next ones."""
SMALL = 300_000
"""So many states of a system for lassos are searched before bounded model checking is asked for a shortest one."""
DEEPEST = 100_000
"""Bounded model checking goes so deep if time does not stop it."""
SHORTEST = "no lasso of fewer steps violates it"
NOT_LIVE = "live looks at infinite runs only"


class Method(Enum):
    """One way to decide properties of infinite runs."""

    FAIR_CYCLES = "fair-cycles"
    LASSO = "lasso"
    COUNTING = "counting"


class Live:
    """The engine.  method: the only way to try; all of them by default."""

    name = "live"

    def __init__(self, method: Method | None = None) -> None:
        self.method = method

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        """Reports for each property Lasso, NoFairCycle, FewRounds, Bounded or Undecided."""
        wanted = []
        for target in properties:
            if target.form is Form.LIVE:
                wanted.append(target)
            else:
                reporter.decided(target, Undecided(NOT_LIVE))
        if wanted:
            _Run(system, budget, reporter, self.method).decide(wanted)


class _Run:
    def __init__(self, system: TransitionSystem, budget: Budget, reporter: Reporter, method: Method | None) -> None:
        self.system = system
        self.budget = budget
        self.reporter = reporter
        self.method = method

    def decide(self, targets: list[Property]) -> None:
        known: dict[Property, Outcome] = {}
        if self.method in (None, Method.FAIR_CYCLES):
            deadline = self._until(GRAPH_SHARE if self.method is None else 1.0)
            budget = replace(self.budget, deadline=deadline)
            known = self._outcomes(FairCycles(), self.system, targets, budget)
        for number, target in enumerate(targets):
            outcome = known.get(target, Undecided(OUT_OF_TIME))
            if self.method is not Method.FAIR_CYCLES:
                share = 1 / (len(targets) - number)
                if isinstance(outcome, Bounded | Undecided):
                    outcome = _deeper(outcome, self._in_turns(target, self._until(share)))
                if isinstance(outcome, Lasso) and outcome.shortest is None:
                    outcome = self._shortest(target, outcome, self._until(share * SHORTENING_SHARE))
            elif isinstance(outcome, Lasso) and target.shown and outcome.path.actions:
                share = SHORTENING_SHARE / (len(targets) - number)
                outcome = self._shortest(target, outcome, self._until(share), searching_only=True)
            self.reporter.decided(target, outcome)

    # -- other engines ------------------------------------------------------------------------------------------------

    def _until(self, share: float) -> float | None:
        """The end of a share of the time that is left."""
        if self.budget.deadline is None:
            return None
        now = time.monotonic()
        return now + share * max(self.budget.deadline - now, 0.0)

    def _outcomes(
        self, engine: Engine, system: TransitionSystem, targets: Sequence[Property], budget: Budget
    ) -> dict[Property, Outcome]:
        listener = _Listener(self.reporter, self.budget, budget)
        engine.run(system, targets, budget, listener)
        return listener.outcomes

    def outcome(
        self,
        engine: Engine,
        system: TransitionSystem,
        deadline: float | None,
        depth: int | None = None,
        states: int | None = None,
    ) -> Outcome:
        """What an engine says of the only property of a system."""
        limit = self.budget.states if states is None else min(states, self.budget.states)
        [outcome] = self._outcomes(engine, system, system.properties, Budget(deadline, depth, limit)).values()
        return outcome

    # -- ways ---------------------------------------------------------------------------------------------------------

    def _in_turns(self, target: Property, deadline: float | None) -> Outcome:
        lassos = None if self.method is Method.COUNTING else _Lassos(self, target)
        ways: list[_Lassos | _Counting] = [] if lassos is None else [lassos]
        if self.method is not Method.LASSO:
            ways.append(_Counting(self, target))
        reason = OUT_OF_TIME
        turn = FIRST_TURN
        while ways and not self._is_over(deadline):
            for way in list(ways):
                end = deadline
                if len(ways) > 1:
                    end = min(time.monotonic() + turn, end or float("inf"))
                outcome = way.take_turn(end)
                if outcome is not None:
                    return outcome
                if way.failure is not None:
                    reason = way.failure
                    ways.remove(way)
            turn *= 2
        if lassos is not None and lassos.depth >= 0:
            return Bounded(lassos.depth, reason)
        return Undecided(reason)

    def _is_over(self, deadline: float | None) -> bool:
        return self.budget.expired() or (deadline is not None and time.monotonic() >= deadline)

    def _shortest(self, target: Property, known: Lasso, deadline: float | None, searching_only: bool = False) -> Lasso:
        """A shortest lasso, and the best of them, in place of one that is known; the same if that takes too long."""
        system = lasso_system(self.system, target)
        steps = len(known.path.actions)
        for engine, states in ((Search(), SMALL), (Bmc(), None)):
            if self._is_over(deadline) or (searching_only and not isinstance(engine, Search)):
                break
            outcome = self.outcome(engine, system.system, deadline, steps + 1, states)
            if isinstance(outcome, Reached):
                found = _lasso(system, outcome, engine.name)
                if found.shortest is not None or len(found.path.actions) < steps:
                    return found
            elif isinstance(outcome, Bounded):
                assert outcome.depth <= steps, f"{engine.name} finds no lasso of {steps} steps, but there is one"
        return known


class _Lassos:
    """Bounded model checking for lassos.

    depth    no lasso has so few steps; -1 if nothing is known
    failure  why it makes no sense to go on
    """

    def __init__(self, run: _Run, target: Property) -> None:
        self._run = run
        self._lassos = lasso_system(run.system, target)
        self.depth = -1
        self.failure: str | None = None

    def take_turn(self, deadline: float | None) -> Outcome | None:
        limit = self._run.budget.depth
        depth = None if limit is None else limit + 1
        engine = Bmc() if deadline is None else Bmc(default_depth=DEEPEST)
        outcome = self._run.outcome(engine, self._lassos.system, deadline, depth)
        if isinstance(outcome, Reached):
            return _lasso(self._lassos, outcome, engine.name)
        assert isinstance(outcome, Bounded | Undecided)
        if isinstance(outcome, Bounded):
            self.depth = max(self.depth, outcome.depth - 1)
        if deadline is None or time.monotonic() < deadline:
            self.failure = outcome.reason
        return None


class _Counting:
    """IC3 for a proof that few fair rounds go by, case after case.  failure: why it makes no sense to go on."""

    def __init__(self, run: _Run, target: Property) -> None:
        self._run = run
        self._cases = target.cases
        self._rounds = 1
        self._proofs: list[tuple[int, Inductive]] = []
        self.failure: str | None = None

    def take_turn(self, deadline: float | None) -> Outcome | None:
        while len(self._proofs) < len(self._cases):
            number = len(self._proofs)
            counting = counting_system(self._run.system, self._cases[number], self._rounds)
            outcome = self._run.outcome(Ic3(), counting.system, deadline)
            match outcome:
                case Inductive():
                    self._proofs.append((self._rounds, outcome))
                    self._rounds = 1
                case Reached(path=path):
                    lasso = counting.lasso(path, number)
                    if lasso is not None:
                        return lasso
                    self._rounds *= 2
                case Bounded(reason=reason) | Undecided(reason=reason):
                    if deadline is None or time.monotonic() < deadline:
                        self.failure = reason
                    return None
                case _:
                    raise AssertionError(f"ic3 answers {outcome}")
        return FewRounds(
            tuple(rounds for rounds, _ in self._proofs),
            tuple(proof.invariant for _, proof in self._proofs),
            max((proof.frames for _, proof in self._proofs), default=0),
        )


class _Listener:
    """Passes on signs of life, and keeps what an engine that works for this one has decided.  When the budget of this
    one is withdrawn, so is the other's."""

    def __init__(self, reporter: Reporter, outer: Budget, inner: Budget) -> None:
        self._reporter = reporter
        self._outer = outer
        self._inner = inner
        self.outcomes: dict[Property, Outcome] = {}

    def progress(self, progress: Progress) -> None:
        self._reporter.progress(replace(progress, engine=Live.name))
        if self._outer.expired():
            self._inner.deadline = 0.0

    def decided(self, target: Property, outcome: Outcome) -> None:
        self.outcomes[target] = outcome

    def covered(self, coverage: Coverage) -> None:
        pass


def _lasso(system: LassoSystem, reached: Reached, engine: str) -> Lasso:
    """The lasso that an engine has found, with the reason why none is shorter, if that is known."""
    if reached.shortest is None:
        return system.lasso(reached.path)
    rank = next((rank for rank in Rank if reached.shortest.endswith(rank.value)), Rank.ANY)
    why = f"{SHORTEST} ({engine})" + (", not for fewest faults" if rank is Rank.ANY else "")
    return system.lasso(reached.path, f"{why}: {rank.value}")


def _deeper(first: Outcome, second: Outcome) -> Outcome:
    """The one that says more, of two; the second is an answer if it is not open."""
    if isinstance(second, Undecided) and isinstance(first, Bounded):
        return first
    if isinstance(second, Bounded) and isinstance(first, Bounded) and first.depth > second.depth:
        return first
    return second


__all__ = ["Live", "Method"]
