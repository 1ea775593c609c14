"""Explanations of traces for reports, with the interpreter asked who can still move."""

from __future__ import annotations

from counterexamples.explain import Explanation, explain
from counterexamples.trace import Trace
from spec.event import Slot
from spec.fairness import enabled
from spec.interpreter import Interpreter
from spec.state import GlobalState


def explained(trace: Trace, name: str | None) -> Explanation:
    """The explanation of a confirmed trace; `name` is the property that its end breaks or reaches, None for a run that
    shows none."""
    interpreter = Interpreter(trace.model)

    def can_move(state: GlobalState, slot: Slot) -> bool:
        return any(
            event.slot == slot and interpreter.kind(event) == "thread" for event, _ in interpreter.successors(state)
        )

    return explain(trace, name, can_move, lambda state: enabled(interpreter, state))
