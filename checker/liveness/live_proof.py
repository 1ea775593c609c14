"""The checks of proofs about infinite runs, before anybody sees them.  They trust neither the engine nor the lowering.

A search for fair cycles hands over all states.  They are certified to be closed, as for other proofs
(`checker.certificates.certificate`); an algorithm that the search has not used finds no fair cycle either; and in a
sample of the states the interpreter agrees on who is fair and can move, and on what the property says.

k-liveness hands over a bound for the fair rounds that go by while a violation is pending, and invariants that prove it.
A solver that the engine has not used confirms these, for a system that is made anew; and fair walks of the interpreter
must stay within the invariants, and within the bound by a count of their own (`checker.liveness.round_count`).
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from checker.certificates.certificate import SEED, Certificate, Flaw
from checker.certificates.invariance import SOLVER_SECONDS, NoAnswer
from checker.certificates.invariant import Invariant
from checker.coding import BudgetedCoding
from checker.engines.engine import FewRounds, NoFairCycle
from checker.liveness.assumptions import Assumption, Strength, able, strength
from checker.liveness.counter_walk import CounterWalk
from checker.liveness.counting import complaint, counting_system, translated
from checker.liveness.fairness_agreement import FairnessAgreement
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from checker.liveness.live_claim import LiveClaim
from checker.liveness.live_walks import FEWEST, PATIENCE, LiveWalks, Walk
from checker.liveness.round_count import count
from checker.lower import Lowered
from checker.reports.wording import single_sentences
from checker.transition_system import Property, State
from spec.interpreter import Interpreter
from spec.typed import Fairness, PropertyDeclaration

_SAMPLE = 250
"""Of so many states it is asked whether interpreter and transition system mean the same."""
_PATIENCE = 10.0
"""Seconds after which that is cut short, once it was asked of `_FEWEST` states."""
_FEWEST = 20


class _Look:
    """One proof by rounds, held against the walks."""

    def __init__(
        self,
        lowered: Lowered,
        interpreter: Interpreter,
        strength: Strength,
        target: Property,
        outcome: FewRounds,
        agreement: FairnessAgreement,
    ) -> None:
        self._strength = strength
        self._target = target
        self._bound = max(outcome.rounds, default=0)
        self._claim = LiveClaim(next(each for each in lowered.model.properties if each.name == target.name))
        self._agreement = agreement
        self._counters = [
            CounterWalk(counting_system(lowered.system, case, rounds), invariant)
            for case, rounds, invariant in zip(target.cases, outcome.rounds, outcome.invariants, strict=True)
        ]
        self.pending: set[State | None] = set()
        self.steps = self.longest = 0

    def at_all(self, walks: LiveWalks) -> Flaw | None:
        deadline = walks.clock() + PATIENCE
        try:
            for walk in walks.walks():
                flaw = self._at(walk)
                if flaw is not None or (self.steps >= FEWEST and walks.clock() > deadline):
                    return flaw
        except Exception as error:
            return Flaw(f"the interpreter stopped with {type(error).__name__}: {error}", detail=traceback.format_exc())
        return None

    def _at(self, walk: Walk) -> Flaw | None:
        for counter in self._counters:
            counter.begin()
        for place, visit in enumerate(walk):
            if visit.code is None:
                return Flaw("the interpreter comes to a state that has no code", visit.state)
            wrong = self._agreement.complaint(visit.state, visit.code, visit.able)
            if wrong is not None:
                return Flaw(wrong, visit.state)
            if visit.event is None:
                break
            self.steps += 1
            after = walk[place + 1]
            if after.code is None:
                return Flaw("the interpreter comes to a state that has no code", visit.state, visit.event, after.state)
            for number, counter in enumerate(self._counters):
                wrong = counter.step(visit.code, visit.event, after.code)
                if wrong is not None:
                    message = f"case {number} of {self._target.name}: {wrong}"
                    return Flaw(message, visit.state, visit.event, after.state)
        for binding in self._claim.bindings():
            counted = count(walk, self._claim, binding, self._strength)
            self.pending.update(walk[place].code for place in counted.pending)
            self.longest = max(self.longest, counted.rounds)
            if counted.stays is not None:
                return Flaw(f"a run that violates {self._target.name} may stay in a state", counted.stays)
            if counted.rounds >= self._bound:
                message = f"the interpreter sees {counted.rounds} fair rounds go by, not fewer than {self._bound}"
                return Flaw(message, walk[-1].state)
        return None


class LiveProofs:
    """The checks for one lowered model.  The walks are taken once."""

    def __init__(
        self,
        lowered: Lowered,
        interpreter: Interpreter,
        more: Mapping[Assumption, Fairness] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """more: how fair requests are, where they are."""
        self._lowered = lowered
        self._interpreter = interpreter
        self._strength: Strength = strength(lowered.model, more)
        self._clock = clock
        coding = BudgetedCoding(lowered, interpreter)
        self._walks = LiveWalks(coding, interpreter, lowered.system.initial, clock)

    def cycles(self, target: Property, outcome: NoFairCycle, closed: Certificate) -> CycleCertificate | Flaw:
        """closed: the certificate of the outcome's closed set."""
        wrong = outcome.recheck()
        if wrong is not None:
            return Flaw(f"the proof of {target.name} fails its re-check: {wrong}")
        agreement = self._agreement(target)
        deadline = self._clock() + _PATIENCE
        sample = outcome.closed_set.sample(min(len(outcome.closed_set), _SAMPLE), SEED)
        for number, code in enumerate(sample):
            if number >= _FEWEST and self._clock() > deadline:
                break
            state = self._lowered.decode(code)
            try:
                can = able(self._interpreter, (event for event, _ in self._interpreter.undisturbed(state)))
                wrong = agreement.complaint(state, code, can)
            except Exception as error:
                message = f"the interpreter stopped with {type(error).__name__}: {error}"
                return Flaw(message, state, detail=traceback.format_exc())
            if wrong is not None:
                return Flaw(wrong, state)
        return CycleCertificate(closed)

    def rounds(
        self, target: Property, outcome: FewRounds, engine: str, seconds: float = SOLVER_SECONDS
    ) -> RoundsCertificate | Flaw:
        """seconds: for the solver.  Raises NoAnswer when that gives up."""
        system = self._lowered.system
        wrong = complaint(system, target, outcome, time.monotonic() + min(seconds, SOLVER_SECONDS))
        if wrong is not None and "the solver gave no answer" in wrong:
            raise NoAnswer(wrong)
        if wrong is not None:
            return Flaw(f"the proof of {target.name} fails its re-check: {wrong}")
        look = _Look(self._lowered, self._interpreter, self._strength, target, outcome, self._agreement(target))
        flaw = look.at_all(self._walks)
        if flaw is not None:
            return flaw
        told = partial(in_words, self._lowered, target, outcome.rounds, outcome.invariants)
        return RoundsCertificate(
            engine,
            outcome.rounds,
            outcome.invariants,
            outcome.frames,
            len(look.pending),
            look.steps,
            look.longest,
            told,
        )

    def _agreement(self, target: Property) -> FairnessAgreement:
        claim = LiveClaim(self._declared(target))
        return FairnessAgreement(self._lowered.system, target, claim, self._interpreter, self._strength)

    def _declared(self, target: Property) -> PropertyDeclaration:
        return next(each for each in self._lowered.model.properties if each.name == target.name)


def in_words(
    lowered: Lowered, target: Property, bounds: Sequence[int], invariants: Sequence[Invariant]
) -> tuple[str, ...]:
    """The invariants of a proof by rounds in words, case by case; bounds: for each case."""
    found: list[str] = []
    for case, rounds, invariant in zip(target.cases, bounds, invariants, strict=True):
        counting = counting_system(lowered.system, case, rounds)
        where = f"[{case.binding}] " if case.binding else ""
        found += [
            f"{where}{sentence}" for sentence in single_sentences(translated(invariant, counting.system), lowered)
        ]
    return tuple(found)


__all__ = ["LiveProofs", "in_words"]
