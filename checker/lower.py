"""From a typed model to its transition system.

Follows docs/language.md, section "Meaning", by symbolic execution of every step; it shares nothing with the reference
interpreter, which checks every trace and samples every proof.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from checker.engines.engine import Path
from checker.logic.formula import equals, evaluate, negate
from checker.lowering.actions import LoweringLimit, actions_of
from checker.lowering.compaction import Compaction, compact
from checker.lowering.fairness import fairness_of
from checker.lowering.model_layout import ModelLayout
from checker.lowering.properties import antecedents_of, frontier, properties_of, rest_of, stuck_apart
from checker.lowering.symmetries import swaps_of
from checker.transition_system import Property, State, TransitionSystem
from counterexamples.trace import Trace
from spec.alarm import TimeIsUp, within
from spec.event import Slot
from spec.state import GlobalState
from spec.typed import FaultClass, Model
from spec.value import NumberLimit


class UnreachableCode(Exception):
    """A state has a value that the lowering has found to be unreachable."""


@dataclass(frozen=True, eq=False)
class Lowered:
    """system: what engines see.  antecedents: for a property, covers without which it holds only vacuously.  rest: what
    any state at rest refutes, without which an `at rest` holds only vacuously; None in models without one."""

    model: Model
    system: TransitionSystem
    antecedents: Mapping[str, tuple[Property, ...]]
    rest: Property | None
    layout: ModelLayout
    compaction: Compaction

    def decode(self, state: State) -> GlobalState:
        return self.layout.decode(self.compaction.expand(state))

    def encode(self, state: GlobalState, faults_left: int | None = None) -> State | None:
        """The packed state; None when an unbounded integer has left the window.

        faults_left: how many fault events are still allowed there, when the system has a limit.
        Raises UnreachableCode for a state that no run can reach if the lowering is right.
        """
        full = self.layout.encode(state, faults_left)
        place = self.compaction.original.position
        if evaluate(self.compaction.original.frontier, lambda v: full[place[v]]):
            return None
        packed = self.compaction.contract(full)
        if packed is None:
            raise UnreachableCode(state)
        return packed

    def stuck_apart(self) -> Mapping[Slot, Property]:
        """For each slot that may be blocked in the middle of something: a property that is refuted where its activation
        can never go on.  Symmetries do not map these to themselves."""
        apart = stuck_apart(self.layout, self.compaction.original.actions)
        return {slot: self.compaction.property(target) for slot, target in apart.items()}

    def faults_left(self, state: State) -> int | None:
        """How many fault events the state still allows; None for any number."""
        budget = self.layout.budget
        if budget is None:
            return None
        return self.compaction.expand(state)[self.compaction.original.position[budget]]

    def trace(self, path: Path) -> Trace:
        return Trace(
            self.model,
            tuple(self.decode(state) for state in path.states),
            tuple(action.event for action in path.actions),
        )


def lower(
    model: Model,
    faults: Collection[FaultClass] | None = None,
    max_faults: int | None = None,
    deadline: float | None = None,
) -> Lowered:
    """faults: the enabled fault classes (all declared ones by default).  max_faults: at most so many fault events.

    Raises LoweringLimit for a model that is too large, or when `deadline` (on the clock of `time.monotonic`) is passed.
    """
    try:
        if deadline is None:
            return _lower(model, faults, max_faults)
        return within(deadline - time.monotonic(), lambda: _lower(model, faults, max_faults))
    except TimeIsUp:
        raise LoweringLimit("time ran out while the model was made into a transition system") from None
    except NumberLimit as limit:
        raise LoweringLimit(str(limit)) from None


def _lower(model: Model, faults: Collection[FaultClass] | None, max_faults: int | None) -> Lowered:
    enabled = model.faults if faults is None else tuple(f for f in model.faults if f in faults)
    layout = ModelLayout(model, enabled, max_faults)
    actions = actions_of(layout)
    system = TransitionSystem(
        variables=layout.variables,
        actions=actions,
        properties=properties_of(layout, actions),
        halted=negate(equals(layout.error, 0)),
        frontier=frontier(layout),
        swaps=swaps_of(layout),
    )
    compaction = compact(system)
    fair = replace(compaction.system, fairness=fairness_of(layout, compaction.system.actions))
    compaction = replace(compaction, system=fair)
    antecedents = {
        name: tuple(compaction.property(cover) for cover in covers) for name, covers in antecedents_of(layout).items()
    }
    rest = rest_of(layout)
    resting = None if rest is None else compaction.property(rest)
    return Lowered(model, compaction.system, antecedents, resting, layout, compaction)


__all__ = ["Lowered", "LoweringLimit", "UnreachableCode", "lower"]
