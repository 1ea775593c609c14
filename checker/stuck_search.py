"""The second look for stuck threads: at each slot by itself.

The first look asks whether, from every state, one can be reached in which no thread is blocked.  Where that is so no
thread is stuck.  Where it is not, mostly some thread is; but threads may also be blocked in turns, so that somebody
always is, and nobody for good.  Then each slot is asked about alone, in a search without symmetry, since interchanging
instances maps the question about one slot to that about another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from checker.bundle import Failure, OwnError
from checker.certificates.certificate import Flaw, certify
from checker.certificates.claim import NoStuckThread
from checker.coding import BudgetedCoding
from checker.confirm import Confirmation, Context, unconfirmed
from checker.engines.engine import Bounded, Reached, Unreachable
from checker.lower import Lowered
from checker.lowering.properties import STUCK_THREADS
from checker.options import Options
from checker.planning.decisions import Decision, Decisions
from checker.planning.plan import Observer, decide
from checker.time_limit import FOR_EVIDENCE, TimeLimit
from checker.transition_system import Property
from checker.verdict import HoldsTo, PropertyVerdict, Proved, Refuted, Undecided
from counterexamples.replay import Unconfirmed
from spec.alarm import TimeIsUp, within
from spec.event import Slot
from spec.interpreter import Interpreter
from spec.stuck import Stuck


@dataclass(frozen=True)
class SecondLook:
    """What it found, and what went wrong."""

    verdict: PropertyVerdict
    failures: tuple[Failure, ...] = ()
    interrupted: bool = False


def is_called_for(target: Property, decision: Decision, first: PropertyVerdict) -> bool:
    """Whether the first look found a run at whose end some thread is always blocked, but none that is stuck."""
    return target.name == STUCK_THREADS and isinstance(decision.outcome, Reached) and isinstance(first, Undecided)


def look_again(
    lowered: Lowered,
    interpreter: Interpreter,
    options: Options,
    observer: Observer,
    context: Context,
    limit: TimeLimit,
) -> SecondLook:
    """The verdict on `stuck_threads` by a look at each slot."""
    targets = lowered.stuck_apart()
    system = replace(lowered.system, swaps=())
    searching = replace(options, engine="search")
    decisions = decide(system, tuple(targets.values()), (), searching, observer, limit)
    if decisions.failures:
        return SecondLook(Undecided("our own error"), tuple(decisions.failures), decisions.interrupted)
    try:
        found = within(limit.left() + FOR_EVIDENCE, lambda: _verdict(lowered, interpreter, context, targets, decisions))
    except TimeIsUp:
        found = Undecided(f"{limit.reason}, before the evidence was checked")
    except OwnError as error:
        message = f"our own error: {error.failure.message}"
        return SecondLook(Undecided(message), (error.failure,), decisions.interrupted)
    except KeyboardInterrupt:
        return SecondLook(Undecided("interrupted before the evidence was checked"), interrupted=True)
    return SecondLook(found, interrupted=decisions.interrupted)


def _verdict(
    lowered: Lowered,
    interpreter: Interpreter,
    context: Context,
    targets: Mapping[Slot, Property],
    decisions: Decisions,
) -> PropertyVerdict:
    """Refuted by the shortest run after which a slot is stuck; proved where none is.  Raises OwnError."""
    confirmation = Confirmation(lowered, interpreter, context)
    decided = {slot: decisions.of(target) for slot, target in targets.items()}
    open_: list[PropertyVerdict] = []
    refuted: list[Refuted] = []
    for slot, decision in decided.items():
        match decision.outcome:
            case Reached(path=path, shortest=shortest):
                trace = confirmation.trace(targets[slot], path, stuck=slot)
                if isinstance(trace, Unconfirmed):
                    open_.append(unconfirmed(path, trace))
                else:
                    refuted.append(Refuted(trace, decision.engine, shortest))
            case Unreachable():
                pass
            case Bounded(depth=depth, reason=reason):
                open_.append(HoldsTo(depth, reason, decision.engine))
            case other:
                open_.append(Undecided(getattr(other, "reason", "a slot was left undecided")))
    if refuted:
        return min(refuted, key=lambda each: len(each.trace))
    if open_:
        bounds = [each for each in open_ if isinstance(each, HoldsTo)]
        return min(bounds, key=lambda each: each.depth) if len(bounds) == len(open_) else _first_undecided(open_)
    return _proved(lowered, interpreter, context, decided)


def _first_undecided(found: list[PropertyVerdict]) -> PropertyVerdict:
    return next(each for each in found if isinstance(each, Undecided))


def _proved(
    lowered: Lowered, interpreter: Interpreter, context: Context, decided: Mapping[Slot, Decision]
) -> PropertyVerdict:
    """All slots by one certificate.  Raises OwnError when the closed set does not stand."""
    outcomes = [decision.outcome for decision in decided.values() if isinstance(decision.outcome, Unreachable)]
    first = outcomes[0]
    if any(outcome.closed_set is not first.closed_set for outcome in outcomes):
        return Undecided("the slots were decided by different searches")
    stuck = Stuck(interpreter)
    claims = [NoStuckThread(stuck, slot) for slot in decided]
    coding = BudgetedCoding(lowered, interpreter)
    found = certify(first.closed_set, "search", first.depth, claims, coding, interpreter)
    if isinstance(found, Flaw):
        evidence = {"state": found.state, "event": found.event, "after": found.after}
        raise OwnError(context.failure(found.message, STUCK_THREADS, evidence, found.detail))
    return Proved(replace(found, apart=True))
