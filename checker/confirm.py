"""From an engine's outcome to a verdict: paths are replayed, closed sets certified, before anybody sees them."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from checker import verdict
from checker.bundle import Failure, OwnError
from checker.certificates.certificate import Certificate, Claim, Flaw, certify
from checker.certificates.claim import Asserted, Declared, NoModelError, NoStuckThread
from checker.certificates.invariance import SOLVER_SECONDS, InvariantCertificate, NoAnswer, certify_invariant
from checker.certificates.walks import Walks
from checker.coding import BudgetedCoding
from checker.engines.engine import (
    Bounded,
    ClosedSet,
    FewRounds,
    Inductive,
    Lasso,
    NoFairCycle,
    Path,
    Reached,
    Undecided,
    Unreachable,
)
from checker.liveness.assumptions import Assumption
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from checker.liveness.live_proof import LiveProofs
from checker.lower import Lowered
from checker.lowering.properties import MODEL_ERRORS, STUCK_THREADS, assertions
from checker.planning.decisions import Decision
from checker.reports.wording import sentences
from checker.transition_system import Form, Property
from checker.verdict import (
    Covered,
    HoldsTo,
    PropertyVerdict,
    Proved,
    Refuted,
    Uncovered,
    UncoveredTo,
)
from counterexamples import replay
from counterexamples.trace import Trace
from spec.event import Slot
from spec.interpreter import Interpreter
from spec.stuck import Stuck
from spec.typed import Fairness

_Evidence = TypeVar("_Evidence", InvariantCertificate, CycleCertificate, RoundsCertificate)


@dataclass(frozen=True)
class Context:
    """Where a failure happened, for its reproduction file."""

    sources: tuple[tuple[str, str], ...]
    choice: Mapping[str, object]

    def failure(self, message: str, subject: str | None, evidence: object, detail: str | None = None) -> Failure:
        return Failure(message, self.sources, self.choice, subject, evidence, detail)


class Confirmation:
    """Confirms the outcomes of one lowered model.  Certificates are made once for each closed set."""

    def __init__(
        self,
        lowered: Lowered,
        interpreter: Interpreter,
        context: Context,
        requests: Mapping[Assumption, Fairness] | None = None,
    ) -> None:
        """requests: how fair those of the environment are, where `live` properties are to assume that they are."""
        self._lowered = lowered
        self._interpreter = interpreter
        self._context = context
        self._certificates: dict[int, Certificate | Failure] = {}
        coding = BudgetedCoding(lowered, interpreter)
        self._walks = Walks(coding, interpreter, interpreter.initial(), lowered.system.initial)
        self._live = LiveProofs(lowered, interpreter, requests)

    def verdict(
        self, target: Property, decision: Decision, together: Sequence[Property], seconds: float = SOLVER_SECONDS
    ) -> PropertyVerdict:
        """The verdict on a property.  `together`: the properties that the same closed set is said to prove, this one
        among them.  seconds: for a solver, where the check takes one.  Raises OwnError when the evidence does not
        stand."""
        cover = target.form is Form.COVER
        match decision.outcome:
            case Reached(path=path, shortest=shortest):
                trace = self.trace(target, path)
                if isinstance(trace, replay.Unconfirmed):
                    return unconfirmed(path, trace)
                return (Covered if cover else Refuted)(trace, decision.engine, shortest)
            case Unreachable(closed_set=closed_set, depth=depth):
                certificate = self._certificate(target, closed_set, decision.engine, depth, together)
                return (Uncovered if cover else Proved)(certificate)
            case Inductive() as outcome:
                try:
                    proof = self._invariant_certificate(target, outcome, decision.engine, seconds)
                except NoAnswer as failure:
                    return verdict.Undecided(f"{decision.engine} found a proof that could not be checked: {failure}")
                return (Uncovered if cover else Proved)(proof)
            case Lasso(path=path, loop=loop, shortest=shortest):
                trace = self.trace(target, path, loop)
                if isinstance(trace, replay.Unconfirmed):
                    why = f"a lasso of {len(path.actions)} steps was found, but not confirmed: {trace.why}"
                    return verdict.Undecided(why)
                return Refuted(trace, decision.engine, shortest)
            case NoFairCycle() as outcome:
                closed = self._certificate(target, outcome.closed_set, decision.engine, outcome.depth, (target,))
                return Proved(self._stands(target, self._live.cycles(target, outcome, closed)))
            case FewRounds() as outcome:
                try:
                    return Proved(self._stands(target, self._live.rounds(target, outcome, decision.engine, seconds)))
                except NoAnswer as failure:
                    return verdict.Undecided(f"{decision.engine} found a proof that could not be checked: {failure}")
            case Bounded(depth=depth, reason=reason):
                return (UncoveredTo if cover else HoldsTo)(depth, reason, decision.engine)
            case Undecided(reason=reason):
                return verdict.Undecided(reason)

    def trace(
        self, target: Property, path: Path, loop: int | None = None, stuck: Slot | None = None
    ) -> Trace | replay.Unconfirmed:
        """The path as a trace that the interpreter has walked; Unconfirmed when it could not find out whether its end
        violates the property.  `loop`: where it goes on for ever.  `stuck`: whose activation can never go on at its
        end, where the target is about that alone.  Raises OwnError where it disagrees."""
        trace = replace(self._lowered.trace(path), loop=loop)
        try:
            if stuck is None:
                answer = replay.confirm(trace, target.name, self._interpreter)
            else:
                answer = replay.confirm_stuck(trace, stuck, self._interpreter)
        except Exception as error:
            message = f"replaying the trace of {target.name} stopped with {type(error).__name__}: {error}"
            detail = traceback.format_exc()
            raise OwnError(self._context.failure(message, target.name, _shown(trace), detail)) from error
        if isinstance(answer, replay.Unconfirmed):
            return answer
        if isinstance(answer, replay.Mismatch):
            message = f"the interpreter disagrees with the trace of {target.name} at step {answer.step}: {answer.why}"
            raise OwnError(self._context.failure(message, target.name, _shown(trace)))
        return trace

    def _certificate(
        self, target: Property, closed_set: ClosedSet, engine: str, depth: int, together: Sequence[Property]
    ) -> Certificate:
        known = self._certificates.get(id(closed_set))
        if known is None:
            claims = [self._claim(each) for each in together]
            coding = BudgetedCoding(self._lowered, self._interpreter)
            found = certify(closed_set, engine, depth, claims, coding, self._interpreter)
            if isinstance(found, Flaw):
                evidence = {"state": found.state, "event": found.event, "after": found.after}
                found_failure = self._context.failure(found.message, target.name, evidence, found.detail)
                self._certificates[id(closed_set)] = found_failure
                raise OwnError(found_failure)
            self._certificates[id(closed_set)] = known = found
        if isinstance(known, Failure):
            raise OwnError(known)
        return known

    def _stands(self, target: Property, found: _Evidence | Flaw) -> _Evidence:
        if isinstance(found, Flaw):
            evidence = {"state": found.state, "event": found.event, "after": found.after}
            raise OwnError(self._context.failure(found.message, target.name, evidence, found.detail))
        return found

    def _invariant_certificate(
        self, target: Property, outcome: Inductive, engine: str, seconds: float
    ) -> InvariantCertificate:
        found = certify_invariant(
            self._lowered.system,
            target,
            outcome.invariant,
            engine,
            outcome.frames,
            self._claim(target),
            self._walks,
            outcome.rescues,
            seconds,
        )
        found = self._stands(target, found)
        return replace(found, told=partial(sentences, outcome.invariant, self._lowered))

    def _claim(self, target: Property) -> Claim:
        model = self._lowered.model
        declared = next((d for d in model.properties if d.name == target.name), None)
        if declared is not None:
            return Declared(declared, self._interpreter)
        if target.name == MODEL_ERRORS:
            return NoModelError()
        if target.name == STUCK_THREADS:
            return NoStuckThread(Stuck(self._interpreter))
        return Asserted(target.name, assertions(model).get(target.name, frozenset()))


def unconfirmed(path: Path, answer: replay.Unconfirmed) -> verdict.Undecided:
    """The verdict where the interpreter could not find out whether the end of a run violates the property."""
    return verdict.Undecided(f"a run of {len(path.actions)} steps was found, but not confirmed: {answer.why}")


def _shown(trace: Trace) -> object:
    return {"events": trace.events, "states": trace.states, "loop": trace.loop}
