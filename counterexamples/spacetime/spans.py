"""How long things last: activations, waiting for an answer, being down, links being cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from counterexamples.trace import Trace
from spec.event import Party, Slot
from spec.topology import Link


@dataclass(frozen=True)
class Stretch:
    """From the step that began it (0: so from the start) to the step that ended it (one more than there are steps: so
    to the end)."""

    first: int
    last: int


@dataclass(frozen=True)
class Bar:
    """An activation.  waiting: for answers to its calls; crashed: ended by a crash of its process instance."""

    slot: Slot
    stretch: Stretch
    waiting: tuple[Stretch, ...]
    crashed: bool


T = TypeVar("T")


def _stretches(items: Sequence[T], holds: Callable[[T], bool]) -> Iterator[Stretch]:
    """For how long something holds; items: what is there before the first step, after it, after the second, ..."""
    begun: int | None = None
    for number, item in enumerate(items):
        if holds(item) and begun is None:
            begun = number
        elif not holds(item) and begun is not None:
            yield Stretch(begun, number)
            begun = None
    if begun is not None:
        yield Stretch(begun, len(items))


def bars(trace: Trace, slot: Slot) -> Iterator[Bar]:
    """The activations that ran in a slot, one after the other."""
    states = trace.states
    for stretch in _stretches(states, lambda state: slot in state.activations):
        part = states[stretch.first : stretch.last]
        waiting = tuple(
            Stretch(stretch.first + each.first, stretch.first + each.last)
            for each in _stretches(part, lambda state: state.activations[slot].waiting)
        )
        ended = states[stretch.last] if stretch.last < len(states) else None
        crashed = ended is not None and Party(slot.process, slot.instance) in ended.down
        yield Bar(slot, stretch, waiting, crashed)


def downtimes(trace: Trace, party: Party) -> Iterator[Stretch]:
    """When a store or process instance was down."""
    yield from _stretches(trace.states, lambda state: party in state.down)


def cuts(trace: Trace) -> Iterator[tuple[Link, Stretch]]:
    """Which links were cut, and when; in the order of their ends."""
    for link in sorted({link for state in trace.states for link in state.cut}, key=repr):
        for stretch in _stretches(trace.states, lambda state, link=link: link in state.cut):  # type: ignore[misc]
            yield link, stretch
