"""Between the interpreter's states and the packed states of a lowered model, fault budget included."""

from __future__ import annotations

from checker.lower import Lowered, UnreachableCode
from checker.transition_system import State
from spec.event import Event
from spec.interpreter import Interpreter
from spec.state import GlobalState


class BudgetedCoding:
    """The interpreter knows no fault budget; a packed state says how many faults are left."""

    def __init__(self, lowered: Lowered, interpreter: Interpreter) -> None:
        self._lowered = lowered
        self._interpreter = interpreter

    def decode(self, state: State) -> GlobalState:
        return self._lowered.decode(state)

    def affords(self, before: State, event: Event) -> bool:
        return not self._is_fault(event) or self._lowered.faults_left(before) != 0

    def successor_code(self, before: State, event: Event, after: GlobalState) -> State | None:
        left = self._lowered.faults_left(before)
        try:
            return self._lowered.encode(after, None if left is None else left - self._is_fault(event))
        except UnreachableCode:
            return None

    def _is_fault(self, event: Event) -> bool:
        return self._interpreter.kind(event) == "fault"
