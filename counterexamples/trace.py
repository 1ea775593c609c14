"""A trace: what happened, step by step, with the states in between."""

from __future__ import annotations

from dataclasses import dataclass

from spec.event import Event
from spec.state import GlobalState
from spec.typed import Model


@dataclass(frozen=True)
class Trace:
    """`states[i]` is the state before `events[i]`; there is one state more than there are events.

    `loop` is the index of the state to which the last step leads back, for traces of infinite runs; else None.
    """

    model: Model
    states: tuple[GlobalState, ...]
    events: tuple[Event, ...]
    loop: int | None = None

    def __post_init__(self) -> None:
        if len(self.states) != len(self.events) + 1:
            raise ValueError(f"{len(self.events)} events need {len(self.events) + 1} states, not {len(self.states)}")

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.events)
