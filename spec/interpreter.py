"""The reference interpreter: what a typed model means, step by step.

It follows section 2 of docs/language.md and nothing else.  It is written to be read, and to judge what faster parts of
the tool claim: every trace is replayed on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from spec.activations import Activations
from spec.disturbances import Disturbances, Successor
from spec.evaluation import EvaluationError, Scope, evaluate
from spec.event import Event, EventKind, Slot, Strike
from spec.state import GlobalState
from spec.thread_steps import ThreadSteps
from spec.topology import Topology, initial_state, link
from spec.typed import Expression, FaultClass, FaultKind, Model, Statement

__all__ = ["EvaluationError", "Interpreter", "StepKind"]

StepKind = Literal["thread", "environment", "recovery", "fault"]

_FAULT_OF_STRIKE = {
    Strike.CUT: FaultKind.PARTITION,
    Strike.LOSE: FaultKind.LOSE,
    Strike.DUPLICATE: FaultKind.DUPLICATE,
}


class Interpreter:
    """A model as a state graph.

    faults  the enabled fault classes; None for all that the model declares"""

    def __init__(self, model: Model, faults: Collection[FaultClass] | None = None) -> None:
        self.model = model
        self.topology = Topology(model, model.faults if faults is None else faults)
        self._activations = Activations(model)
        self._disturbances = Disturbances(self._activations, self.topology)
        self._threads = ThreadSteps(self._activations, self.topology, self._disturbances)
        self._undisturbed = ThreadSteps(self._activations, Topology(model, ()), self._disturbances)

    def initial(self) -> GlobalState:
        """The state in which every run starts."""
        state = initial_state(self.model)
        for process in self.model.processes:
            for instance in range(process.instances.size):
                state = self._activations.begin_instance(state, process.name, instance)
        return state

    def successors(self, state: GlobalState) -> list[Successor]:
        """Every step that is possible in `state`, with the state after it, in a fixed order: threads, requests,
        recoveries, faults.  Equal events with equal states are listed once.  A run that has come to a model error has
        no further steps."""
        if state.error is not None:
            return []
        found: dict[Event, list[GlobalState]] = {}
        for slot in sorted(state.activations):
            _add(found, self._threads.steps(state, slot))
        _add(found, self._disturbances.requests(state))
        _add(found, self._disturbances.recoveries(state))
        _add(found, self._disturbances.faults(state))
        return [(event, after) for event, states in found.items() for after in states]

    def undisturbed(self, state: GlobalState) -> list[Successor]:
        """The successors by threads, requests and recoveries: those that are no faults."""
        if state.error is not None:
            return []
        found: dict[Event, list[GlobalState]] = {}
        for slot in sorted(state.activations):
            _add(found, self._undisturbed.steps(state, slot))
        _add(found, self._disturbances.requests(state))
        _add(found, self._disturbances.recoveries(state))
        return [(event, after) for event, states in found.items() for after in states]

    def can_step(self, state: GlobalState, slot: Slot) -> bool:
        """Whether the activation in `slot` can take a step without a fault."""
        return state.error is None and next(iter(self._undisturbed.steps(state, slot)), None) is not None

    def holds(self, expression: Expression, state: GlobalState, after: GlobalState | None = None) -> bool:
        """The value of a property's condition; `after` is the state after the step, for step invariants.  Raises
        EvaluationError."""
        return bool(evaluate(expression, Scope(state, {}, None, after)))

    def satisfies(self, expression: Expression, state: GlobalState, after: GlobalState | None = None) -> bool:
        """As `holds`, but false where the expression comes to a model error: so a property counts."""
        try:
            return self.holds(expression, state, after)
        except EvaluationError:
            return False

    def statement(self, site: int) -> Statement:
        """The statement with this id.  Raises KeyError."""
        return self._activations.control.statements[site]

    def kind(self, event: Event) -> StepKind:
        """Whose step it is; only a "fault" costs one."""
        match event.kind:
            case EventKind.REQUEST:
                return "environment"
            case EventKind.STEP | EventKind.REPLY:
                return "thread" if event.strike is None else "fault"
            case EventKind.RESTART | EventKind.HEAL | EventKind.REDELIVER:
                return "recovery"
            case EventKind.CRASH | EventKind.CUT:
                return "fault"
            case EventKind.EXPIRE:
                return "recovery" if event.slot is None else "fault"

    def fault_class(self, event: Event) -> FaultClass | None:
        """The enabled fault class that allows the event; None for an event without fault."""
        if self.kind(event) != "fault":
            return None
        if event.kind is EventKind.EXPIRE:
            return self.topology.expire_class(event.store or "", event.variable or "")
        if event.party is None:
            return None
        if event.other is None:
            return self.topology.crash_class(event.party)
        kind = FaultKind.PARTITION if event.strike is None else _FAULT_OF_STRIKE[event.strike]
        return self.topology.link_class(kind, link(event.party, event.other))


def _add(found: dict[Event, list[GlobalState]], successors: Iterable[Successor]) -> None:
    for event, state in successors:
        states = found.setdefault(event, [])
        if state not in states:
            states.append(state)
