"""The search for the fault sets that break a property (see `checker.needs.needs`).

Each question is the check of some properties of the model with a subset of its fault classes.  As in MARCO (Liffiton,
Previti, Malik, Marques-Silva: Fast, flexible MUS enumeration, 2016) the largest set of which nothing is known comes
next: a proof makes it a maximal safe set; a refutation is shrunk to a minimal breaking set, beginning with the classes
that strike in its trace.  The properties share their questions.  Of sets that differ only in which of like instances
they name, one is asked about (`checker.needs.instances`).

What is reported rests on confirmed evidence alone: traces that the interpreter has walked with just these fault
classes, and certified proofs.  Answers that only guide the shrinking are not certified; that every subset of a minimal
set is safe follows from the certified ones in the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from checker import stuck_search
from checker.bundle import Failure, OwnError
from checker.confirm import Confirmation, Context
from checker.engines.engine import NoFairCycle, Unreachable
from checker.lower import LoweringLimit, lower
from checker.needs.instances import exchanges
from checker.needs.lattice import MOST_CLASSES
from checker.needs.needs import Needs, Unsettled
from checker.needs.state import Believed, NeedsState, Question
from checker.options import Options
from checker.planning.decisions import Decisions
from checker.planning.plan import Observer, decide
from checker.time_limit import FOR_EVIDENCE, TimeLimit
from checker.transition_system import Property
from checker.verdict import HoldsTo, PropertyVerdict, Proved, Refuted, Undecided
from counterexamples import replay
from counterexamples.explain import Kind, fault_class, kind
from spec.alarm import TimeIsUp, within
from spec.interpreter import Interpreter
from spec.typed import Model

_SHARE = 0.5
"""The share of the time that is left which one question may use."""
_KEPT = 300_000
"""How many states a proof may have whose certification is put off."""

Answer = PropertyVerdict | Believed


class NeedsSearch:
    """Finds the fault sets of the properties of one model, whose fault classes are the ones in question."""

    def __init__(
        self, model: Model, options: Options, observer: Observer, context: Context, limit: TimeLimit | None = None
    ) -> None:
        """limit: for the whole search; by default it may take as long from now as the options allow a variant."""
        self._model = model
        self._options = options
        self._observer = observer
        self._context = context
        self._limit = options.time_limit() if limit is None else limit
        self.failures: list[Failure] = []
        self.interrupted = False

    def run(self, known: Mapping[str, PropertyVerdict]) -> dict[str, Needs]:
        """The fault sets of each property.  `known`: the verdict on each with all fault classes enabled, of this model
        or of one that differs from it only in how its classes are taken apart.  What the time does not suffice for is
        undecided in the answer; what goes wrong is in `failures` afterwards."""
        classes = self._model.faults
        if len(classes) > MOST_CLASSES:
            reason = f"{len(classes)} fault classes have too many sets; choose at most {MOST_CLASSES} with --faults"
            if self._options.per_instance:
                reason += ", or ask without --per-instance"
            return {name: Needs(classes, (), (), (Unsettled(frozenset()),), reason) for name in known}
        alike = exchanges(self._model) if self._options.symmetry else ()
        states = [NeedsState(name, classes, alike) for name in known]
        reason = self._limit.reason
        try:
            for state in states:
                self._learn(state, state.lattice.full, self._own(known[state.name]))
            while not self._limit.has_passed() and not self.interrupted and self._step(states):
                pass
        except KeyboardInterrupt:
            self.interrupted = True
        except MemoryError:
            reason = "memory ran out"
        except LoweringLimit as limit:
            reason = self._limit.reason if self._limit.has_passed() else str(limit)
        if self.interrupted:
            reason = "interrupted"
        return {state.name: state.result(reason) for state in states}

    def _step(self, states: Sequence[NeedsState]) -> bool:
        """Asks the next question; whether there was one."""
        wanted = [(state, question) for state in states if (question := state.next()) is not None]
        if not wanted:
            return False
        for state, question in wanted:
            belief = state.belief(question.mask) if question.sure else None
            if belief is not None and belief.certify is not None:
                self._learn(state, question.mask, self._guarded(belief.certify))
                return True
        mask = min((question for _, question in wanted), key=_urgency).mask
        asking = {state.name: question.sure for state, question in wanted if question.mask == mask}
        if mask.bit_count() <= 1:
            asking |= {s.name: False for s, _ in wanted if s.name not in asking and s.knows_nothing_of(mask)}
        answers = self._ask(mask, asking)
        for state in states:
            if state.name in asking:
                self._learn(state, mask, answers[state.name])
        return True

    # ------------------------------------------------------------------------------------------------- asking

    def _ask(self, mask: int, names: Mapping[str, bool]) -> dict[str, Answer]:
        """The answer for each property with the fault classes of the mask; proofs are certified of those that are
        mapped to True."""
        model = self._with(mask)
        lowered = lower(model, max_faults=self._options.max_faults, deadline=self._limit.until)
        targets = [target for target in lowered.system.properties if target.name in names]
        system = lowered.system if self._options.symmetry else replace(lowered.system, swaps=())
        limit = replace(self._limit, until=time.monotonic() + self._limit.left() * _SHARE)
        decisions = decide(system, targets, (), self._options, self._observer, limit)
        self.interrupted = self.interrupted or decisions.interrupted
        for failure in decisions.failures:
            self._failed(failure)
        interpreter = Interpreter(model)
        confirmation = Confirmation(lowered, interpreter, self._context)
        answers: dict[str, Answer] = {}
        for target in targets:
            answer = self._answer(target, decisions, targets, confirmation, names[target.name])
            if not isinstance(answer, Believed) and stuck_search.is_called_for(target, decisions.of(target), answer):
                look = stuck_search.look_again(
                    lowered, interpreter, self._options, self._observer, self._context, limit
                )
                self.interrupted = self.interrupted or look.interrupted
                for failure in look.failures:
                    self._failed(failure)
                answer = look.verdict
            answers[target.name] = answer
        return answers

    def _answer(
        self,
        target: Property,
        decisions: Decisions,
        targets: Sequence[Property],
        confirmation: Confirmation,
        sure: bool,
    ) -> Answer:
        decision = decisions.of(target)

        def verdict() -> PropertyVerdict:
            return confirmation.verdict(target, decision, _together(target, decisions, targets))

        outcome = decision.outcome
        if isinstance(outcome, Unreachable | NoFairCycle) and not sure:
            return Believed(verdict if len(outcome.closed_set) <= _KEPT else None)
        return self._guarded(verdict)

    def _guarded(self, verdict: Callable[[], PropertyVerdict]) -> PropertyVerdict:
        try:
            return within(self._limit.left() + FOR_EVIDENCE, verdict)
        except TimeIsUp:
            return Undecided(f"{self._limit.reason}, before the evidence was checked")
        except OwnError as error:
            self._failed(error.failure)
            return Undecided(f"our own error: {error.failure.message}")

    def _failed(self, failure: Failure) -> None:
        if failure not in self.failures:
            self.failures.append(failure)

    def _with(self, mask: int) -> Model:
        """The model with the fault classes of the mask only."""
        return replace(self._model, faults=tuple(f for bit, f in enumerate(self._model.faults) if mask >> bit & 1))

    # ------------------------------------------------------------------------------------------------- learning

    def _learn(self, state: NeedsState, mask: int, answer: Answer) -> None:
        try:
            match answer:
                case Believed():
                    state.believe(mask, answer)
                case Refuted():
                    state.refuted(*self._narrowed(mask, state.name, answer))
                case Proved():
                    state.proved(mask, answer)
                case Undecided(reason=reason):
                    state.give_up(mask, reason)
                case HoldsTo(depth=depth, reason=reason):
                    state.give_up(mask, f"holds to {depth} steps, {reason}")
                case _:
                    state.give_up(mask, "a cover has no fault sets")
        except ValueError as error:
            message = f"the verdicts on {state.name} under different fault classes contradict each other: {error}"
            self._failed(self._context.failure(message, state.name, None))
            state.abandon(message)

    def _own(self, verdict: PropertyVerdict) -> PropertyVerdict:
        """A refutation as one of this model."""
        if not isinstance(verdict, Refuted):
            return verdict
        return replace(verdict, trace=replace(verdict.trace, model=self._model))

    def _narrowed(self, mask: int, name: str, refuted: Refuted) -> tuple[int, Refuted]:
        """The classes that strike in the trace, and the trace as one of the model with just these: the interpreter
        walks it once more with them.  The mask as it is, where that fails."""
        used = 0
        trace = refuted.trace
        for event, before in zip(trace.events, trace.states, strict=False):
            if kind(event, before) is Kind.FAULT:
                declared = fault_class(trace.model, event, before)
                if declared is None:
                    return mask, refuted
                used |= 1 << self._model.faults.index(declared)
        if used == mask:
            return mask, refuted
        model = self._with(used)
        narrowed = replace(trace, model=model)
        if isinstance(replay.confirm(narrowed, name, Interpreter(model)), replay.Confirmed):
            return used, replace(refuted, trace=narrowed)
        return mask, refuted


def _together(target: Property, decisions: Decisions, targets: Sequence[Property]) -> list[Property]:
    """The properties that the closed set of a proof proves."""
    outcome = decisions.of(target).outcome
    if not isinstance(outcome, Unreachable):
        return []
    others = ((other, decisions.of(other).outcome) for other in targets)
    return [o for o, found in others if isinstance(found, Unreachable) and found.closed_set is outcome.closed_set]


def _urgency(question: Question) -> tuple[bool, int, int]:
    """What shrinks a set comes first, then what is small, hence quick."""
    return question.sure, question.mask.bit_count(), question.mask
