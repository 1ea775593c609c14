"""The state graph of a model: states as nodes, or all states with equal values of some expressions as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from counterexamples.change import (
    ErrorRaised,
    LinkChange,
    LockChange,
    PartyChange,
    QueueChange,
    Scope,
    ValueChange,
    changes,
)
from counterexamples.explain import Kind, kind
from counterexamples.graphs.exploration import Explored
from counterexamples.notation import places, write_party, write_slot, write_value
from counterexamples.render import wording
from counterexamples.render.dot import Edge, Graph, Mark, Node
from counterexamples.site import Site, sites
from spec.evaluation import EvaluationError, evaluate
from spec.evaluation import Scope as Values
from spec.event import Ending, Event, EventKind, Party, Strike
from spec.interpreter import Interpreter
from spec.rest import Answer, at_rest, recoverable
from spec.state import ErrorKind, GlobalState
from spec.stuck import STUCK_THREADS, Stuck, may_be_stuck
from spec.typed import Expression, Model, PropertyDeclaration, PropertyForm

_MOST_LINES = 10
_MOST_LABELS = 3
_MOST_BESIDE = 6
_FEW = 3
"""So many states beside a state of a run are drawn as one."""
_REST = 2000
"""So many states are visited to find out whether one is at rest, or can recover."""


@dataclass(frozen=True)
class Shown:
    """An expression whose value a node shows; text: as the user wrote it."""

    text: str
    expression: Expression


@dataclass
class _Class:
    """The states of one node, and for each property those that break it; for a cover those that reach it."""

    lines: tuple[str, ...]
    states: list[int] = field(default_factory=list)
    broken: dict[str, set[int]] = field(default_factory=dict)
    reached: dict[str, set[int]] = field(default_factory=dict)


class StateGraph:
    """The graph of what was explored.

    shown  the expressions to whose values the states are reduced; none: every state is a node
    names  the properties whose violations are marked (for a cover: its states); None for all
    path   a run that is drawn bold; then only steps from and to its states are drawn, and where many lead away from it,
           what they lead to is drawn as one
    """

    def __init__(
        self,
        interpreter: Interpreter,
        explored: Explored,
        shown: Sequence[Shown] = (),
        names: Sequence[str] | None = None,
        path: Sequence[GlobalState] = (),
    ) -> None:
        self.interpreter = interpreter
        self.model = interpreter.model
        self.explored = explored
        self.shown = tuple(shown)
        self.known = sites(self.model)
        self.unsure: dict[str, None] = {}
        """Properties that could not be judged in every state."""
        self._properties = [p for p in self.model.properties if names is None or p.name in names]
        wanted = may_be_stuck(self.model) if names is None else STUCK_THREADS in names
        self._stuck = Stuck(interpreter) if wanted else None
        numbers = {state: number for number, state in enumerate(explored.states)}
        way = [numbers[state] for state in path]
        self._bold = set(pairwise(way))
        self._on_path = frozenset(way)
        self._beside = {} if self.shown else self._groups(way)
        self._classes: dict[object, _Class] = {}
        self._class_of: list[int] = []
        self._classify()

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._classes)

    # ------------------------------------------------------------------------------------------------------- nodes

    def _groups(self, way: Sequence[int]) -> dict[int, tuple[int, Kind]]:
        """Which states beside a run are drawn as one: those to which a state of the run has steps of one kind, when
        there are several."""
        found: dict[int, tuple[int, Kind]] = {}
        for arc in self.explored.arcs:
            if arc.source in self._on_path and arc.target not in self._on_path:
                found.setdefault(arc.target, (arc.source, kind(arc.event, self.explored.states[arc.source])))
        sizes = Counter(found.values())
        return {state: group for state, group in found.items() if sizes[group] >= _FEW} if way else {}

    def _classify(self) -> None:
        order: dict[object, int] = {}
        for number, state in enumerate(self.explored.states):
            key: object = self._beside.get(number, number)
            lines: tuple[str, ...] = ()
            if self.shown:
                lines = tuple(f"{shown.text} = {self._value(shown.expression, state)}" for shown in self.shown)
                key = lines
            found = self._classes.get(key)
            if found is None:
                order[key] = len(order)
                if not lines and number not in self._beside:
                    lines = tuple(describe(self.model, self.explored.states[0], state, self.known))
                    lines = lines or ("as in the initial state",)
                found = self._classes[key] = _Class(lines)
            found.states.append(number)
            self._class_of.append(order[key])
            self._judge(number, state, found)
        by_number = list(self._classes.values())
        for declared in self._properties:
            if declared.form is PropertyForm.STEP_INVARIANT:
                for arc in self.explored.arcs:
                    before, after = self.explored.states[arc.source], self.explored.states[arc.target]
                    if after.error is None and not self.interpreter.satisfies(declared.condition, before, after):
                        broken = by_number[self._class_of[arc.target]].broken
                        broken.setdefault(declared.name, set()).add(arc.target)

    def _value(self, expression: Expression, state: GlobalState) -> str:
        try:
            return write_value(evaluate(expression, Values(state, {}, None, None)))
        except EvaluationError as error:
            return f"({error.kind.value})"

    def _judge(self, number: int, state: GlobalState, found: _Class) -> None:
        if state.error is not None:
            failed = state.error.kind is ErrorKind.ASSERTION
            line = self.known[state.error.site].statement.span.line
            found.broken.setdefault(f"assert_{line}" if failed else "model_errors", set()).add(number)
            return
        if self._stuck is not None and self._has_stuck_thread(self._stuck, state):
            found.broken.setdefault(STUCK_THREADS, set()).add(number)
        for declared in self._properties:
            if declared.form is PropertyForm.COVER:
                if self.interpreter.satisfies(declared.condition, state):
                    found.reached.setdefault(declared.name, set()).add(number)
            elif self._violates(declared, state):
                found.broken.setdefault(declared.name, set()).add(number)

    def _has_stuck_thread(self, stuck: Stuck, state: GlobalState) -> bool:
        if not stuck.is_suspicious(state):
            return False
        found = stuck.find(state, _REST).stuck
        if found is None:
            self.unsure[STUCK_THREADS] = None
        return bool(found)

    def _violates(self, declared: PropertyDeclaration, state: GlobalState) -> bool:
        if declared.form not in (PropertyForm.INVARIANT, PropertyForm.AT_REST, PropertyForm.RECOVERABLE):
            return False
        if self.interpreter.satisfies(declared.condition, state):
            return False
        match declared.form:
            case PropertyForm.AT_REST:
                answer, wanted = at_rest(self.interpreter, state, _REST), Answer.YES
            case PropertyForm.RECOVERABLE:
                answer, wanted = recoverable(self.interpreter, state, declared.condition, _REST), Answer.NO
            case _:
                return True
        if answer is Answer.OPEN:
            self.unsure[declared.name] = None
        return answer is wanted

    # ------------------------------------------------------------------------------------------------------- graph

    def graph(self, caption: Sequence[str] = ()) -> Graph:
        """As something to be drawn."""
        opened = {self._class_of[number] for number in self.explored.open}
        nodes = [self._node(number, found, number in opened) for number, found in enumerate(self._classes.values())]
        told = [*caption, *self._told()]
        return Graph(tuple(nodes), tuple(self._edges()), tuple(told))

    def _node(self, number: int, found: _Class, is_open: bool) -> Node:
        lines = list(found.lines)
        if len(found.states) > 1 or self.shown:
            lines.append(wording.count(len(found.states), "state" if self.shown else "other state"))
        for sign, marked in (("✗", found.broken), ("✓", found.reached)):
            for name, those in marked.items():
                part = f" in {len(those)} of them" if len(those) < len(found.states) else ""
                lines.append(f"{sign} {name}{part}")
        if is_open:
            lines.append("… more steps from here")
        marks = {Mark.INITIAL} if 0 in found.states else set()
        if found.broken:
            marks.add(Mark.VIOLATING)
        elif found.reached:
            marks.add(Mark.REACHED)
        return Node(f"n{number}", tuple(lines), frozenset(marks))

    def _edges(self) -> Iterator[Edge]:
        joined: dict[tuple[int, int, Kind], tuple[dict[tuple[str, ...], None], list[bool]]] = {}
        for arc in self.explored.arcs:
            source, target = self._class_of[arc.source], self._class_of[arc.target]
            if source == target and (self.shown or arc.source in self._beside):
                continue
            if self._on_path and not self._on_path & {arc.source, arc.target}:
                continue
            key = (source, target, kind(arc.event, self.explored.states[arc.source]))
            labels, bold = joined.setdefault(key, ({}, [False]))
            labels[_label(self.model, self.known, arc.event, bool(self.shown))] = None
            bold[0] = bold[0] or (arc.source, arc.target) in self._bold
        for (source, target, whose), (labels, bold) in joined.items():
            told = list(labels)
            most = _MOST_BESIDE if self._on_path else _MOST_LABELS
            if len(told) > most:
                told[most - 1 :] = [(f"and {len(told) - most + 1} more",)]
            lines = [line for label in told for line in label]
            yield Edge(f"n{source}", f"n{target}", tuple(lines), whose, bold[0])

    def _told(self) -> Iterator[str]:
        states = wording.count(len(self.explored.states), "state")
        yield f"{states}, {wording.count(len(self.explored.arcs), 'step')}" + (
            f", {wording.count(len(self), 'node')}" if self.shown else ""
        )
        if self.explored.open:
            yield f"not all: {wording.count(len(self.explored.open), 'state')} with steps that are not shown"
        if self.unsure:
            yield f"not judged in every state: {', '.join(self.unsure)}"


def _label(model: Model, known: Mapping[int, Site], event: Event, collapsed: bool) -> tuple[str, ...]:
    """What a step is, in a line or two; `collapsed`: without the instances."""
    if event.slot is not None:
        actor = write_slot(event.slot, places(model, event.slot))
        actor = f"{event.slot.process}.{event.slot.thread}" if collapsed else actor
    elif event.party is not None:
        ends = [event.party] if event.other is None else [event.party, event.other]
        actor = " -- ".join(end.name if collapsed else write_party(end) for end in ends)
    else:
        actor = f"{event.store}.{event.variable}"
    site = None if event.site is None else known.get(event.site)
    if event.kind in (EventKind.STEP, EventKind.REPLY):
        what = "reply" if site is None else wording.brief(site.statement)
    else:
        what = event.kind.value
    ending = "" if event.ending is Ending.OK else f" ⇒ {event.ending.value}"
    strike = _strike(event)
    return (f"{actor}: {what}{ending}", *((strike,) if strike else ()))


def _strike(event: Event) -> str:
    effect = {True: ", effect kept", False: ", no effect", None: ""}[event.kept]
    match event.strike:
        case None:
            return ""
        case Strike.CRASH:
            return f"{'' if event.party is None else event.party.name} crashes{effect}"
        case Strike.CUT:
            return f"link cut{effect}"
        case Strike.LOSE:
            return f"message lost{effect}"
        case Strike.DUPLICATE:
            return "twice"


def describe(model: Model, start: GlobalState, state: GlobalState, known: Mapping[int, Site]) -> list[str]:
    """A state in a few lines: what differs from the initial state `start`, and where activations are in the middle of
    their work."""
    lines = [line for change in changes(model, start, state) if (line := _changed(change))]
    for slot, activation in sorted(state.activations.items()):
        site = None if activation.at is None else known.get(activation.at)
        first = start.activations.get(slot)
        if first is not None and first.at == activation.at and not activation.waiting:
            continue
        where = "its answer" if site is None else wording.brief(site.statement)
        lines.append(f"{write_slot(slot, places(model, slot))} {'in' if activation.waiting else 'before'} {where}")
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES - 1 :] = [f"and {len(lines) - _MOST_LINES + 1} more"]
    return lines


def _changed(change: object) -> str:
    match change:
        case ValueChange(scope=scope, path=path, after=after) if scope is not Scope.LOCAL:
            return f"{path} = {write_value(after)}"
        case QueueChange(path=path, item=item, after=after) if after is not None:
            return f"{path}: {write_value(item)} {_holder(after)}"
        case LockChange(path=path, after=after):
            return f"{path}: {_holder(after)}"
        case PartyChange(party=Party() as party, up=False):
            return f"{write_party(party)} is down"
        case LinkChange(party=party, other=other, connected=False):
            return f"{write_party(party)} -- {write_party(other)} is cut"
        case ErrorRaised(error=error):
            return error.kind.value
        case _:
            return ""


def _holder(holder: object) -> str:
    value = getattr(holder, "value", None)
    return f"with {write_slot(holder)}" if value is None else str(value)  # type: ignore[arg-type]
