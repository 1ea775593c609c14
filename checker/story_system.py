"""A model together with a place in a story: the transition system in which the engines look for a scenario's run.

The system has one variable more, which counts the beats that have been told.  Its semantics is that of `spec.scenario`:
a step tells the beat that it matches, or passes in a gap; a condition must hold where it is told, without a step.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

from checker.logic.formula import FALSE, TRUE, Formula, Role, Variable, conjunction, disjunction, equals, negate
from checker.lower import Lowered
from checker.lowering.properties import truth
from checker.transition_system import Action, Constant, Form, Property, TransitionSystem
from counterexamples.trace import Trace
from spec.event import Ending, Event
from spec.interpreter import Interpreter
from spec.scenario import matches
from spec.source import Span
from spec.state import GlobalState
from spec.typed import Gap, Incident, Literal, Scenario, Story, Then
from spec.value import Id


@dataclass(frozen=True, eq=False)
class StorySystem:
    """told: the variable, last in each state.  places: for each number of beats from 1 on, the cover that so many can
    be told; the last one is the whole story."""

    system: TransitionSystem
    told: Variable
    places: tuple[Property, ...]


def story_system(lowered: Lowered, scenario: Scenario) -> StorySystem:
    """The system for one scenario of a lowered model."""
    beats = scenario.beats
    told = Variable("told", tuple(range(len(beats) + 1)), 0, Role.CONTROL)
    free = [_free(lowered, beat) for beat in beats]
    actions: list[Action] = []
    for action in lowered.system.actions:
        if action.event.ending is Ending.ERROR:
            continue
        for place, beat in enumerate(beats):
            if isinstance(beat, Then) or (not isinstance(beat, Gap) and not matches(beat, action.event)):
                continue
            guard = conjunction((action.guard, _standing(told, free, place)))
            if guard is not FALSE:
                after = Constant(place if isinstance(beat, Gap) else place + 1)
                updates = {**action.updates, told: after}
                actions.append(Action(len(actions), action.event, action.kind, guard, updates, action.fault))
    running = negate(lowered.system.halted)
    places = tuple(
        Property(f"{scenario.name}:{place}", Form.COVER, conjunction((running, _standing(told, free, place))))
        for place in range(1, len(beats) + 1)
    )
    system = TransitionSystem(
        variables=(*lowered.system.variables, told),
        actions=tuple(actions),
        properties=places,
        halted=lowered.system.halted,
        frontier=lowered.system.frontier,
        swaps=() if _tells_apart(scenario) else lowered.system.swaps,
    )
    return StorySystem(system, told, places)


def follows(scenario: Scenario, trace: Trace, interpreter: Interpreter) -> bool:
    """Whether a run follows the story to its end.  That it is a run is for `counterexamples.replay` to say."""
    places = passed(scenario, {0}, trace.states[0], interpreter)
    for event, after in zip(trace.events, trace.states[1:], strict=True):
        places = passed(scenario, told_by(scenario, places, event), after, interpreter)
    return len(scenario.beats) in places


def told_by(scenario: Scenario, places: set[int], event: Event) -> set[int]:
    """The places to which a step leads from these: it passes in a gap, or tells the beat that it matches."""
    reached: set[int] = set()
    if event.ending is Ending.ERROR:
        return reached
    for place in places - {len(scenario.beats)}:
        beat = scenario.beats[place]
        if isinstance(beat, Gap):
            reached.add(place)
        elif isinstance(beat, Story | Incident) and matches(beat, event):
            reached.add(place + 1)
    return reached


def passed(scenario: Scenario, places: set[int], state: GlobalState, interpreter: Interpreter) -> set[int]:
    """The places, with those that are reached from them without a step."""
    found = set(places)
    for place, beat in enumerate(scenario.beats):
        if place in found and (
            isinstance(beat, Gap) or (isinstance(beat, Then) and interpreter.satisfies(beat.condition, state))
        ):
            found.add(place + 1)
    return found


def _free(lowered: Lowered, beat: Gap | Story | Incident | Then) -> Formula:
    """Where the beat is told without a step."""
    match beat:
        case Gap():
            return TRUE
        case Then(condition=condition):
            holds, undefined = truth(lowered.layout, condition)
            original = Property("then", Form.COVER, conjunction((holds, negate(undefined))))
            return lowered.compaction.property(original).bad
        case _:
            return FALSE


def _standing(told: Variable, free: list[Formula], place: int) -> Formula:
    """Where the story stands at `place`, or gets there without a step."""
    parts = []
    way: Formula = TRUE
    for start in range(place, -1, -1):
        parts.append(conjunction((equals(told, start), way)))
        if start == 0 or free[start - 1] is FALSE:
            break
        way = conjunction((way, free[start - 1]))
    return disjunction(parts)


def _tells_apart(node: object) -> bool:
    """Whether a part of a scenario names a single id or instance, so that symmetric runs may tell different stories."""
    match node:
        case Literal(value=Id()):
            return True
        case Story(instance=int()) | Incident(first_instance=int()) | Incident(second_instance=int()):
            return True
        case Span():
            return False
        case tuple():
            return any(map(_tells_apart, node))
        case _ if is_dataclass(node):
            return any(_tells_apart(getattr(node, field.name)) for field in fields(node))
        case _:
            return False
