"""Verdicts on `live` properties straight from the interpreter's state graph, by strongly connected components.

A property is violated when a fair infinite run avoids its goal: when, among the states without the goal that a trigger
leads to, there is a strongly connected part that a fair run can stay in.  Weak fairness looks at a component as a
whole; strong fairness takes states out of it and looks again (Streett conditions: Emerson and Lei 1985).  Knows nothing
of `spec.fairness`, `spec.liveness` or the engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import networkx as nx

from spec.evaluation import EvaluationError, Scope, evaluate
from spec.event import Event, EventKind, Party, Slot
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import Expression, Fairness, FaultKind, LiveShape, Model, PropertyDeclaration
from spec.value import Value, domain
from tests.agreement.oracle import Graph

Recovery = tuple[EventKind, Party | None, Party | None, str | None, str | None, object]
"""Its kind, and what recovers: a party, the ends of a link, or an item of a queue or lock."""
Action = Slot | Recovery


def holds_live(graph: Graph, interpreter: Interpreter, declaration: PropertyDeclaration) -> bool:
    """Whether the property is true of every fair run."""
    live = declaration.live
    assert live is not None
    fair = _FairParts(graph, interpreter)
    running = [state for state in graph.depth if state.error is None]
    for chosen in product(*(tuple(domain(binder.over)) for binder in live.binders)):
        values = {binder.key: value for binder, value in zip(live.binders, chosen, strict=True)}
        goal = {s for s in running if _value(live.right, values, s, undefined=False)}
        avoiding = [s for s in running if s not in goal]
        triggered: list[GlobalState]
        match live.shape:
            case LiveShape.LEADS_TO:
                assert live.left is not None
                triggered = [s for s in avoiding if _value(live.left, values, s, undefined=True)]
            case LiveShape.EVENTUALLY:
                triggered = [s for s in avoiding if graph.depth[s] == 0]
            case LiveShape.ALWAYS_EVENTUALLY:
                triggered = avoiding
            case LiveShape.EVENTUALLY_ALWAYS:
                if fair.exists(set(running), set(avoiding)):
                    return False
                continue
        if fair.exists(fair.from_within(triggered, set(avoiding)), set(avoiding)):
            return False
    return True


def _value(expression: Expression, values: Mapping[str, Value], state: GlobalState, undefined: bool) -> bool:
    try:
        return evaluate(expression, Scope(state, values)) is True
    except EvaluationError:
        return undefined


class _FairParts:
    """Where fair runs can stay."""

    def __init__(self, graph: Graph, interpreter: Interpreter) -> None:
        self._graph = graph
        self._kind = interpreter.kind
        self._model = interpreter.model
        self._steps: dict[GlobalState, list[tuple[Action | None, GlobalState]]] = {}
        for state, steps in graph.steps.items():
            self._steps[state] = [
                (_action(event), after) for event, after in steps if interpreter.kind(event) != "fault"
            ]
        actions = {action for steps in self._steps.values() for action, _ in steps if action is not None}
        self._fairness = {action: _fairness(self._model, action) for action in actions}

    def from_within(self, starts: list[GlobalState], allowed: set[GlobalState]) -> set[GlobalState]:
        """The states that are reached from the starts, through allowed states only, by any steps, faults too."""
        whole = nx.DiGraph()
        whole.add_nodes_from(allowed)
        for state in allowed:
            whole.add_edges_from((state, after) for _, after in self._graph.steps[state] if after in allowed)
        whole.add_edges_from(("start", start) for start in starts)
        return set(nx.descendants(whole, "start")) if starts else set()

    def exists(self, states: set[GlobalState], wanted: set[GlobalState]) -> bool:
        """Whether a fair run without faults stays within the states and comes to wanted ones again and again."""
        return any(not wanted.isdisjoint(part) for part in self._parts(states))

    def _parts(self, states: set[GlobalState]) -> Iterator[set[GlobalState]]:
        """Sets of states all of which one fair run visits again and again; every fair run stays in a subset of one."""
        inner = nx.DiGraph()
        inner.add_nodes_from(states)
        for state in states:
            inner.add_edges_from((state, after) for _, after in self._steps[state] if after in states)
        for state in states:
            if not any(self._owed(action) for action, _ in self._steps[state]):
                yield {state}
        for part in nx.strongly_connected_components(inner):
            if len(part) == 1 and not inner.has_edge(*part, *part):
                continue
            taken = {action for s in part for action, after in self._steps[s] if after in part}
            enabled = {s: {action for action, _ in self._steps[s]} for s in part}
            if any(
                self._owed(action) and action not in taken and all(action in enabled[s] for s in part)
                for action in set().union(*enabled.values())
            ):
                continue
            wronged = {
                action
                for s in part
                for action in enabled[s] - taken
                if action is not None and self._fairness[action] is Fairness.STRONG
            }
            if not wronged:
                yield part
            else:
                yield from self._parts({s for s in part if not enabled[s] & wronged})

    def _owed(self, action: Action | None) -> bool:
        return action is not None and self._fairness[action] is not Fairness.UNFAIR


def _action(event: Event) -> Action | None:
    """A slot, or a recovery with what it recovers."""
    if event.kind in (EventKind.STEP, EventKind.REPLY):
        assert event.slot is not None
        return event.slot
    if event.kind is EventKind.REQUEST:
        return None
    return (event.kind, event.party, event.other, event.store, event.variable, event.item)


def _fairness(model: Model, action: Action) -> Fairness:
    if isinstance(action, Slot):
        threads = {(p.name, t.name): t for p in model.processes for t in p.threads}
        return threads[action.process, action.thread].fairness
    recovery, party, other, *_ = action
    parties = {each.name for each in (party, other) if each is not None}
    kind = {EventKind.RESTART: FaultKind.CRASH, EventKind.HEAL: FaultKind.PARTITION}.get(recovery)
    for fault in model.faults:
        if fault.kind is kind and {fault.first, fault.second} - {None} == parties:
            return fault.fairness
    return Fairness.WEAK
