"""Is a scenario a run of the model?

A breadth-first search over pairs of a state and a place in the story, so a run that is found is a shortest one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from spec.event import Ending, Event, EventKind, Party
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import Gap, Incident, Scenario, Story, Then


@dataclass(frozen=True)
class Run:
    """The story is told by this run: `states[i]` is the state before `events[i]`."""

    events: tuple[Event, ...]
    states: tuple[GlobalState, ...]


@dataclass(frozen=True)
class NotARun:
    """No run tells the story.

    furthest  how many beats can be told at most, from the beginning; so the index of the first beat that never fits
    explored  the number of pairs of state and beat that were looked at"""

    furthest: int
    explored: int


@dataclass(frozen=True)
class LimitReached:
    """The search was given up.  Fields as in `NotARun`, for what has been explored."""

    furthest: int
    explored: int


_Node = tuple[GlobalState, int]


def run_scenario(interpreter: Interpreter, scenario: Scenario, limit: int) -> Run | NotARun | LimitReached:
    """A shortest run that tells the story, or that there is none; `limit` bounds the pairs of state and beat that are
    looked at."""
    start: _Node = (interpreter.initial(), 0)
    origin: dict[_Node, tuple[_Node, Event] | None] = {start: None}
    waiting = deque([start])
    furthest = 0
    while waiting:
        node = waiting.popleft()
        state = node[0]
        places = _told_without_step(interpreter, scenario, *node)
        furthest = max(furthest, places[-1])
        if len(scenario.beats) in places:
            return _run_to(node, origin)
        beats = [(place, scenario.beats[place]) for place in places]
        for event, after in interpreter.successors(state):
            if event.ending is Ending.ERROR:
                continue
            for index, beat in beats:
                if isinstance(beat, Then) or (not isinstance(beat, Gap) and not matches(beat, event)):
                    continue
                reached: _Node = (after, index if isinstance(beat, Gap) else index + 1)
                if reached not in origin:
                    if len(origin) >= limit:
                        return LimitReached(furthest, len(origin))
                    origin[reached] = (node, event)
                    waiting.append(reached)
    return NotARun(furthest, len(origin))


def matches(beat: Story | Incident, event: Event) -> bool:
    """Whether the step is one that the beat tells of."""
    return _is_incident(beat, event) if isinstance(beat, Incident) else _is_story(beat, event)


def _told_without_step(interpreter: Interpreter, scenario: Scenario, state: GlobalState, told: int) -> tuple[int, ...]:
    """The places in the story that are reached in `state` without a step: a gap may be empty, a condition may hold."""
    places = [told]
    while told < len(scenario.beats):
        beat = scenario.beats[told]
        if isinstance(beat, Then) and not interpreter.satisfies(beat.condition, state):
            break
        if not isinstance(beat, Then | Gap):
            break
        told += 1
        places.append(told)
    return tuple(places)


def _run_to(node: _Node, origin: dict[_Node, tuple[_Node, Event] | None]) -> Run:
    events: list[Event] = []
    states = [node[0]]
    step = origin[node]
    while step is not None:
        node, event = step
        events.append(event)
        states.append(node[0])
        step = origin[node]
    return Run(tuple(reversed(events)), tuple(reversed(states)))


def _is_story(beat: Story, event: Event) -> bool:
    slot = event.slot
    if slot is None or (slot.process, slot.thread) != (beat.process, beat.thread):
        return False
    if beat.instance is not None and slot.instance != beat.instance:
        return False
    if beat.request:
        return event.kind is EventKind.REQUEST
    if beat.sites is not None and event.site not in beat.sites:
        return False
    # The reply at a `return` is a step of the statement too; that at the end of a handler is of none.
    statement = event.kind is EventKind.STEP or (event.kind is EventKind.REPLY and event.site is not None)
    if not (event.kind is EventKind.REPLY if beat.reply and beat.sites is None else statement):
        return False
    strike = None if event.strike is None else event.strike.value
    if strike != beat.strike or event.ending is Ending.ERROR:
        return False
    if beat.crashed is not None and (event.party is None or event.party.name != beat.crashed):
        return False
    if beat.kept is not None and event.kept is not beat.kept:
        return False
    return beat.ending is None or event.ending.value == beat.ending


def _is_incident(beat: Incident, event: Event) -> bool:
    if event.kind.value != beat.kind:
        return False
    if event.kind in (EventKind.REDELIVER, EventKind.EXPIRE):
        return (event.store, event.variable) == (beat.first, beat.second)
    if event.kind in (EventKind.CRASH, EventKind.RESTART):
        return _is_party(event.party, beat.first, beat.first_instance)
    if event.kind not in (EventKind.CUT, EventKind.HEAL) or beat.second is None:
        return False
    return any(
        _is_party(one, beat.first, beat.first_instance) and _is_party(other, beat.second, beat.second_instance)
        for one, other in ((event.party, event.other), (event.other, event.party))
    )


def _is_party(party: Party | None, name: str, instance: int | None) -> bool:
    return party is not None and party.name == name and instance in (None, party.instance)
