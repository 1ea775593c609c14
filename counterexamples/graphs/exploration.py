"""The states of a model and the steps between them, as the interpreter finds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spec.event import Event
from spec.interpreter import Interpreter
from spec.state import GlobalState


@dataclass(frozen=True)
class Arc:
    """A step from one state to another, by their numbers."""

    source: int
    target: int
    event: Event


@dataclass(frozen=True)
class Explored:
    """states: by number, 0 is the initial one.  open: the states whose steps were not looked at."""

    states: tuple[GlobalState, ...]
    arcs: tuple[Arc, ...]
    open: frozenset[int]


class TooManyStatesError(Exception):
    """There are more states than were asked for."""


def explore(interpreter: Interpreter, limit: int, depth: int | None = None) -> Explored:
    """All states, breadth first; with `depth` those within so many steps.  Raises TooManyStatesError for more than
    `limit`."""
    return _explored(interpreter, [interpreter.initial()], limit, depth)


def around(interpreter: Interpreter, path: Iterable[GlobalState], limit: int) -> Explored:
    """The states of a run, the first of which is the initial one, and those to which a step leads from them.  Raises
    TooManyStatesError."""
    return _explored(interpreter, list(dict.fromkeys(path)), limit, 1)


def _explored(
    interpreter: Interpreter,
    starts: list[GlobalState],
    limit: int,
    depth: int | None,
) -> Explored:
    numbers = {state: number for number, state in enumerate(starts)}
    level = list(starts)
    arcs: list[Arc] = []
    away = 0
    while level and (depth is None or away < depth):
        found: list[GlobalState] = []
        for state in level:
            for event, after in interpreter.successors(state):
                if after not in numbers:
                    if len(numbers) >= limit:
                        raise TooManyStatesError
                    numbers[after] = len(numbers)
                    found.append(after)
                arcs.append(Arc(numbers[state], numbers[after], event))
        level = found
        away += 1
    outside: set[int] = set()
    # What lies at the edge may have steps into the part that is shown, too.
    for state in level:
        for event, after in interpreter.successors(state):
            if after in numbers:
                arcs.append(Arc(numbers[state], numbers[after], event))
            else:
                outside.add(numbers[state])
    return Explored(tuple(numbers), tuple(arcs), frozenset(outside))
