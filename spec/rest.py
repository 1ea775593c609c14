"""The two properties that look beyond one state: at rest, and recoverable (docs/language.md, "Properties").

Both are decided by visiting, breadth first, the states that some kinds of steps lead to.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection
from enum import Enum

from spec.interpreter import Interpreter, StepKind
from spec.state import GlobalState
from spec.typed import Discipline, Expression

STATES = 200_000
"""How many states are visited, unless the caller wants otherwise, before the question stays open."""

UNDISTURBED: tuple[StepKind, ...] = ("thread", "environment", "recovery")
"""All steps that are no faults."""


class Answer(Enum):
    YES = "yes"
    NO = "no"
    OPEN = "open"
    """The limit on visited states was reached first."""


def at_rest(interpreter: Interpreter, state: GlobalState, limit: int = STATES) -> Answer:
    """Whether all is healed, and no sequence of thread steps and recoveries changes anything that counts, or leads to
    a model error."""
    if state.error is not None or not interpreter.topology.healed(state):
        return Answer.NO
    before = _observed(interpreter, state)

    def moves(reached: GlobalState) -> bool:
        return reached.error is not None or _observed(interpreter, reached) != before

    match search(interpreter, state, ("thread", "recovery"), moves, limit):
        case Answer.YES:
            return Answer.NO
        case Answer.NO:
            return Answer.YES
        case Answer.OPEN:
            return Answer.OPEN


def recoverable(interpreter: Interpreter, state: GlobalState, condition: Expression, limit: int = STATES) -> Answer:
    """Whether some sequence of steps without faults leads to a state in which the condition holds.  (A run that has
    ended in a model error has no states that count.)"""

    def reached(candidate: GlobalState) -> bool:
        return candidate.error is None and interpreter.satisfies(condition, candidate)

    return search(interpreter, state, UNDISTURBED, reached, limit)


def search(
    interpreter: Interpreter,
    start: GlobalState,
    kinds: Collection[StepKind],
    wanted: Callable[[GlobalState], bool],
    limit: int = STATES,
) -> Answer:
    """Whether steps of these kinds lead from a state to one that is wanted; the state itself may be it."""
    seen = {start}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        if wanted(state):
            return Answer.YES
        for event, after in interpreter.undisturbed(state):
            if interpreter.kind(event) in kinds and after not in seen:
                if len(seen) >= limit:
                    return Answer.OPEN
                seen.add(after)
                waiting.append(after)
    return Answer.NO


def _observed(interpreter: Interpreter, state: GlobalState) -> object:
    """What a state at rest keeps: variables, queue contents (whoever has the items), ghosts, used ids."""
    queues: dict[tuple[str, str], object] = {}
    for store in interpreter.model.stores:
        for queue in store.queues:
            items = [item for item, _ in state.queues[store.name, queue.name].entries]
            queues[store.name, queue.name] = items if queue.discipline is Discipline.FIFO else Counter(items)
    return state.values, queues, state.process_values, state.ghosts, state.used
