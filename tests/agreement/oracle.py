"""Verdicts straight from the reference interpreter: a plain breadth-first search over its states.

Knows nothing of the lowering or the engines.  Slow, and meant for small models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from spec.event import Event
from spec.interpreter import Interpreter
from spec.state import ErrorKind, GlobalState
from spec.typed import Discipline, Model, PropertyDeclaration, PropertyForm


@dataclass(frozen=True)
class Graph:
    """All reachable states with their depths, in breadth-first order, and their steps."""

    depth: dict[GlobalState, int]
    steps: dict[GlobalState, list[tuple[Event, GlobalState]]]


class TooLarge(Exception):
    pass


def explore(interpreter: Interpreter, limit: int) -> Graph:
    """Raises TooLarge when more than `limit` states are reachable."""
    start = interpreter.initial()
    depth = {start: 0}
    steps: dict[GlobalState, list[tuple[Event, GlobalState]]] = {}
    queue = [start]
    for state in queue:
        found = interpreter.successors(state)
        steps[state] = found
        for _, after in found:
            if after not in depth:
                depth[after] = depth[state] + 1
                queue.append(after)
                if len(depth) > limit:
                    raise TooLarge
    return Graph(depth, steps)


def shortest_violation(graph: Graph, interpreter: Interpreter, declaration: PropertyDeclaration) -> int | None:
    """The length of a shortest refutation (for a cover: of reaching it); None if there is none."""
    condition = declaration.condition
    running = {s: d for s, d in graph.depth.items() if s.error is None}
    match declaration.form:
        case PropertyForm.COVER:
            lengths = [d for s, d in running.items() if interpreter.satisfies(condition, s)]
        case PropertyForm.INVARIANT:
            lengths = [d for s, d in running.items() if not interpreter.satisfies(condition, s)]
        case PropertyForm.STEP_INVARIANT:
            lengths = [
                d + 1
                for s, d in running.items()
                for _, after in graph.steps[s]
                if after.error is None and not interpreter.satisfies(condition, s, after)
            ]
        case PropertyForm.AT_REST:
            restless = _can(
                graph,
                interpreter,
                {"thread", "recovery"},
                lambda s, t: _seen(interpreter.model, s) != _seen(interpreter.model, t),
                None,
            )
            lengths = [
                d
                for s, d in running.items()
                if _healed(interpreter, s) and s not in restless and not interpreter.satisfies(condition, s)
            ]
        case PropertyForm.RECOVERABLE:
            saved = _can(
                graph,
                interpreter,
                {"thread", "recovery", "environment"},
                None,
                lambda s: s.error is None and interpreter.satisfies(condition, s),
            )
            lengths = [d for s, d in running.items() if s not in saved]
    return min(lengths, default=None)


def shortest_error(graph: Graph, assertion: bool) -> int | None:
    return min(
        (
            d
            for s, d in graph.depth.items()
            if s.error is not None and (s.error.kind is ErrorKind.ASSERTION) is assertion
        ),
        default=None,
    )


def _healed(interpreter: Interpreter, state: GlobalState) -> bool:
    gone = {fault.first for fault in interpreter.model.faults if not fault.restart}
    return not state.cut and all(party.name in gone for party in state.down)


def _seen(model: Model, state: GlobalState) -> object:
    """What counts as a change: everything but control, locals, locks, and whether an item is in flight."""
    queues = {}
    for store in model.stores:
        for queue in store.queues:
            items = [item for item, _ in state.queues[store.name, queue.name].entries]
            queues[store.name, queue.name] = items if queue.discipline is Discipline.FIFO else Counter(items)
    return (state.values, queues, state.process_values, state.ghosts, state.used, state.error)


def _can(
    graph: Graph,
    interpreter: Interpreter,
    kinds: set[str],
    changes: Callable[[GlobalState, GlobalState], bool] | None,
    reached: Callable[[GlobalState], bool] | None,
) -> set[GlobalState]:
    """States from which some path over steps of the kinds ends in a change, or in a state that is `reached`."""
    back: dict[GlobalState, list[GlobalState]] = {}
    found = {s for s in graph.depth if reached is not None and reached(s)}
    for state, steps in graph.steps.items():
        for event, after in steps:
            if interpreter.kind(event) in kinds:
                back.setdefault(after, []).append(state)
                if changes is not None and changes(state, after):
                    found.add(state)
    queue = list(found)
    for state in queue:
        for before in back.get(state, ()):
            if before not in found:
                found.add(before)
                queue.append(before)
    return found
