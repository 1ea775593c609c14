"""The search for the fairness that a `live` property takes (see `checker.liveness.fairness_needs`).

A proof.  Of a run that violates the property it is known which assumptions it would break if they were made, and so
which exclude it: any set of assumptions that proves the property has one of these.  So a set that proves it hits all
lassos, and the search is for hitting sets (Reiter 1987; for smallest ones with a solver in the loop: Chandrasekaran,
Karp, Moreno-Centeno and Vempala, "Algorithms for implicit hitting set problems", 2011).  It begins without assumptions;
each lasso is one set more to hit, and the smallest sets that hit all are asked about next.  Where one is proved, each
of its members has a lasso that no other member excludes: that is why it is needed.

A refutation.  Its lasso tells what could repair it: what would exclude that lasso.  Each such change is tried alone.

Nothing rests on an engine's word here either: proofs are certified, lassos walked by the interpreter of the model with
just these assumptions, and what a lasso breaks is found out by the interpreter.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from checker.bundle import Failure, OwnError
from checker.confirm import Confirmation, Context
from checker.liveness.assumptions import (
    Assumption,
    AssumptionKind,
    Mover,
    Strength,
    able,
    assumed,
    mover,
    owing,
    requests,
    strength,
    with_fairness,
)
from checker.liveness.fairness_needs import Assumptions, Enough, FairnessNeeds, Needed, Relied, Repair, Repairs
from checker.logic.formula import disjunction
from checker.lower import Lowered
from checker.options import Options
from checker.planning.plan import HELPERS, Observer, decide
from checker.time_limit import TimeLimit
from checker.transition_system import FairnessConstraint, Property, TransitionSystem
from checker.verdict import PropertyVerdict, Proved, Refuted, Undecided
from counterexamples.trace import Trace
from spec.interpreter import Interpreter
from spec.topology import Topology
from spec.typed import Fairness

_SHARE = 0.5
"""The share of the time that is left which one question may use."""
_MOST_SETS = 8
"""So many minimal sets are looked for."""

Choice = tuple[Assumption, Fairness]
"""That an assumption is at least so fair."""
Broken = Mapping[Assumption, Fairness]
"""What a lasso breaks: for each assumption, the least fairness that excludes it."""


@dataclass(frozen=True)
class _Known:
    """A lasso, and what it breaks."""

    verdict: Refuted
    broken: Broken

    def is_hit(self, chosen: Iterable[Choice]) -> bool:
        return any(assumption in self.broken and covers(fair, self.broken[assumption]) for assumption, fair in chosen)


class FairnessSearch:
    """Finds the fairness that properties of one lowered model take."""

    def __init__(
        self,
        lowered: Lowered,
        options: Options,
        observer: Observer,
        context: Context,
        limit: TimeLimit,
        helpers: tuple[str, ...] = HELPERS,
    ) -> None:
        """limit: for the whole search.  helpers: as for `checker.planning.plan.decide`."""
        self._lowered = lowered
        self._options = options
        self._observer = observer
        self._context = context
        self._limit = limit
        self._helpers = helpers
        self.interrupted = False
        self.failures: list[Failure] = []

    def run(self, target: Property, verdict: PropertyVerdict, quickly: bool = False) -> FairnessNeeds | None:
        """What a proof of the LIVE property relies on, or what would repair its refutation; None for other verdicts.
        quickly: only one repair of a refutation is wanted, if it can be found at all."""
        match verdict:
            case Proved() if not quickly:
                return self.relied(target)
            case Refuted():
                found = self.repairs(target, verdict, 1 if quickly else None)
                return found if found.found or not quickly else None
            case _:
                return None

    # ------------------------------------------------------------------------------------------------------- proofs

    def relied(self, target: Property) -> Relied:
        """All minimal sets of assumptions with which the property, which is proved with all of them, is proved."""
        model = self._lowered.model
        declared = {each: fair for each, fair in assumed(model).items() if fair is not Fairness.UNFAIR}
        lassos: list[_Known] = []
        sets = [frozenset[Choice]()]
        proved: dict[frozenset[Choice], Proved] = {}
        while True:
            candidate = next((chosen for chosen in sets if chosen not in proved), None)
            if candidate is None or len(proved) >= _MOST_SETS:
                return _relied(proved, lassos, "" if candidate is None else f"there are more than {_MOST_SETS}")
            verdict = self._ask(target, dict(candidate))
            match verdict:
                case Proved():
                    proved[candidate] = verdict
                case Refuted(trace=trace):
                    broken = self._broken(trace, declared)
                    lasso = _Known(verdict, broken)
                    if not broken or lasso.is_hit(candidate) or not all(map(lasso.is_hit, proved)):
                        why = f"a lasso and a proof contradict each other about what {target.name} assumes"
                        self.failures.append(self._context.failure(why, target.name, trace.events))
                        return _relied({}, lassos, "our own error")
                    lassos.append(lasso)
                    sets = _extended(sets, lasso)
                case _:
                    return _relied(proved, lassos, verdict.reason if isinstance(verdict, Undecided) else "not decided")

    # ------------------------------------------------------------------------------------------------------ repairs

    def repairs(self, target: Property, refuted: Refuted, most: int | None = None) -> Repairs:
        """most: so many repairs are enough."""
        model = self._lowered.model
        declared = assumed(model)
        wanted = {
            **dict.fromkeys(declared, Fairness.STRONG),
            **dict.fromkeys(requests(model), Fairness.STRONG),
        }
        found: list[Repair] = []
        unknown: list[tuple[Assumption, Fairness, str]] = []
        tried = 0
        broken = self._broken(refuted.trace, wanted)
        for assumption, least in sorted(broken.items(), key=lambda item: _ease(*item)):
            if most is not None and len(found) >= most:
                break
            tried += 1
            for fair in [least] if least is Fairness.STRONG else [Fairness.WEAK, Fairness.STRONG]:
                verdict = self._ask(target, {**declared, assumption: fair})
                if isinstance(verdict, Proved):
                    found.append(Repair(assumption, fair, verdict))
                    break
                if not isinstance(verdict, Refuted):
                    reason = verdict.reason if isinstance(verdict, Undecided) else "not decided"
                    unknown.append((assumption, fair, reason))
                    break
                if fair is Fairness.STRONG or not self._is_broken(verdict.trace, assumption):
                    break
        return Repairs(tuple(found), tried, tuple(unknown))

    def _is_broken(self, trace: Trace, assumption: Assumption) -> bool:
        """Whether the lasso breaks the assumption when it is made as strong as can be."""
        return assumption in self._broken(trace, {assumption: Fairness.STRONG})

    # ----------------------------------------------------------------------------------------------------- questions

    def _ask(self, target: Property, assumptions: Assumptions) -> PropertyVerdict:
        """The verdict on the property with just these assumptions."""
        if self._limit.has_passed() or self.interrupted:
            return Undecided("interrupted" if self.interrupted else self._limit.reason)
        lowered = under(self._lowered, assumptions)
        fair = lowered.model
        limit = replace(self._limit, until=time.monotonic() + self._limit.left() * _SHARE)
        options = replace(self._options, engine="auto", depth=None)
        # Any lasso will do.
        target = replace(target, shown=False)
        decisions = decide(lowered.system, (target,), (), options, self._observer, limit, helpers=self._helpers)
        self.interrupted = self.interrupted or decisions.interrupted
        if decisions.failures:
            self.failures += decisions.failures
            return Undecided("our own error")
        confirmation = Confirmation(lowered, Interpreter(fair), self._context, assumptions)
        try:
            return confirmation.verdict(target, decisions.of(target), (target,))
        except OwnError as error:
            self.failures.append(error.failure)
            return Undecided(f"our own error: {error.failure.message}")

    def _broken(self, trace: Trace, among: Assumptions) -> Broken:
        """Which of the assumptions the lasso breaks, and the least fairness that excludes it; none that is beyond what
        they are said to be."""
        found: dict[Assumption, Fairness] = {}
        for each, least in broken_by(trace).items():
            if each in among and covers(among[each], least):
                found[each] = least
        return found


def under(lowered: Lowered, assumptions: Assumptions) -> Lowered:
    """The lowered model with just these assumptions."""
    model, system = lowered.model, lowered.system
    fair = with_fairness(model, {**dict.fromkeys(assumed(model), Fairness.UNFAIR), **assumptions})
    constraints = tuple(_constraints(system, Interpreter(fair).topology, strength(fair, assumptions)))
    return replace(lowered, model=fair, system=replace(system, fairness=constraints))


def broken_by(trace: Trace) -> Broken:
    """For each assumption that could exclude the lasso: the least fairness that does.  By the interpreter."""
    interpreter = Interpreter(trace.model)
    assert trace.loop is not None
    states = trace.states[trace.loop :]
    events = trace.events[trace.loop :]
    loop = []
    for place, state in enumerate(states[: max(1, len(events))]):
        can = able(interpreter, (event for event, _ in interpreter.undisturbed(state)))
        loop.append((can, mover(events[place], interpreter.topology) if events else None))
    found: dict[Assumption, Fairness] = {}
    for each, least in owing(loop).items():
        if each.assumption is not None and found.get(each.assumption) is not Fairness.WEAK:
            found[each.assumption] = least
    return found


def _extended(sets: list[frozenset[Choice]], lasso: _Known) -> list[frozenset[Choice]]:
    """The minimal choices that exclude one lasso more, the smallest first (Berge, "Hypergraphs", 1989, for choices in
    place of sets)."""
    found = [chosen for chosen in sets if lasso.is_hit(chosen)]
    for chosen in sets:
        if chosen not in found:
            raised = (frozenset({**dict(chosen), each: least}.items()) for each, least in lasso.broken.items())
            found += [each for each in raised if not any(_includes(each, smaller) for smaller in found)]
    minimal = [one for one in found if not any(other != one and _includes(one, other) for other in found)]
    return sorted(dict.fromkeys(minimal), key=lambda chosen: (len(chosen), sorted(_ease(*each) for each in chosen)))


def _includes(chosen: frozenset[Choice], smaller: frozenset[Choice]) -> bool:
    """Whether the first makes all assumptions of the second."""
    fair = dict(chosen)
    return all(assumption in fair and covers(fair[assumption], least) for assumption, least in smaller)


def _relied(proved: Mapping[frozenset[Choice], Proved], lassos: list[_Known], reason: str) -> Relied:
    """reason: why there may be other sets; empty when there are none."""
    sets = tuple(Enough(_why(chosen, lassos), verdict) for chosen, verdict in proved.items())
    return Relied(sets, not reason, reason)


def _why(chosen: frozenset[Choice], lassos: list[_Known]) -> tuple[Needed, ...]:
    """For each member a lasso that no other excludes, nor itself with less fairness: there is one, since the choice is
    a minimal one that excludes all."""
    found = []
    for assumption, fair in sorted(chosen, key=lambda choice: _ease(*choice)):
        others = chosen - {(assumption, fair)}
        if fair is Fairness.STRONG:
            others |= {(assumption, Fairness.WEAK)}
        private = [lasso.verdict for lasso in lassos if not lasso.is_hit(others)]
        without = min(private, key=lambda verdict: len(verdict.trace))
        found.append(Needed(assumption, fair, without))
    return tuple(found)


def _constraints(system: TransitionSystem, topology: Topology, fair: Strength) -> Iterable[FairnessConstraint]:
    """What is asked of the system's runs when everybody is so fair."""
    actions: dict[Mover, list[int]] = {}
    for action in system.actions:
        moving = mover(action.event, topology)
        if moving is not None and fair(moving) is not Fairness.UNFAIR:
            actions.setdefault(moving, []).append(action.index)
    for moving, indices in actions.items():
        enabled = disjunction(system.actions[index].guard for index in indices)
        strong = fair(moving) is Fairness.STRONG
        group = moving.kind.value if moving.assumption is None else moving.assumption.name
        yield FairnessConstraint(f"{group} ({moving.subject})", group, strong, enabled, frozenset(indices))


def covers(fair: Fairness, least: Fairness) -> bool:
    """Whether to be so fair is enough."""
    return _RANK[fair] >= _RANK[least]


def _ease(assumption: Assumption, fair: Fairness) -> tuple[int, int, str]:
    """What is easier to assume comes first."""
    return _RANK[fair], list(AssumptionKind).index(assumption.kind), assumption.name


_RANK = {Fairness.UNFAIR: 0, Fairness.WEAK: 1, Fairness.STRONG: 2}


__all__ = ["FairnessSearch", "broken_by", "covers", "under"]
