"""The crash points of one program: by the interpreter alone, which follows every run with its own notes of what
happened, and by the checker.

Run as a module it compares programs drawn from seeds: `first count states`.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Iterator

from checker.confirm import Context
from checker.crashpoints.crash_map import CrashMap, Verdict, crash_map
from checker.crashpoints.points import Cell, Moment, Point
from checker.options import Options
from checker.planning.plan import Silence
from checker.verdict import Proved, Refuted, Undecided
from spec.control import Control
from spec.event import Ending, Event, EventKind, Slot, Strike
from spec.interpreter import Interpreter
from spec.prospects import next_shared
from spec.rest import Answer, at_rest, recoverable
from spec.state import ErrorKind, GlobalState
from spec.typed import Model, PropertyForm
from tests.agreement.comparison import Disagreement
from tests.agreement.deciding import Pointless, checked
from tests.agreement.fault_programs import FaultProgram
from tests.agreement.oracle import TooLarge
from tests.agreement.programs import Program

Done = frozenset[tuple[Slot, int | None]]


class Runs:
    """All runs of a model with no fault, or with one of a cell."""

    def __init__(self, model: Model, limit: int) -> None:
        self.model = model
        self.limit = limit
        self.interpreter = Interpreter(model)
        self.control = Control(model)
        self.first = {(p.name, t.name): t.body[0].id for p in model.processes for t in p.threads if t.body}
        self.steps: dict[GlobalState, list[tuple[Event, GlobalState]]] = {}
        self.rests: dict[tuple[str, GlobalState], bool] = {}

    def broken(self, cell: Cell | None) -> dict[str, int]:
        """The properties that some run breaks, and in how many steps the shortest such run does."""
        found: dict[str, int] = {}
        start: tuple[GlobalState, Done, bool] = (self.interpreter.initial(), frozenset(), False)
        depths = {start: 0}
        waiting = deque([start])
        self._judge(start[0], 0, found)
        while waiting:
            node = waiting.popleft()
            for after in self._successors(node, cell):
                for declared in self.model.properties:
                    if declared.form is PropertyForm.STEP_INVARIANT and after[0].error is None:
                        holds = self.interpreter.satisfies(declared.condition, node[0], after[0])
                        if not holds:
                            found.setdefault(declared.name, depths[node] + 1)
                if after not in depths:
                    if len(depths) > self.limit:
                        raise TooLarge
                    depths[after] = depths[node] + 1
                    self._judge(after[0], depths[after], found)
                    waiting.append(after)
        return found

    def _successors(
        self, node: tuple[GlobalState, Done, bool], cell: Cell | None
    ) -> Iterator[tuple[GlobalState, Done, bool]]:
        state, done, struck = node
        if state not in self.steps:
            self.steps[state] = self.interpreter.successors(state)
        for event, after in self.steps[state]:
            if self.interpreter.kind(event) == "fault":
                if not struck and cell is not None and self._is_of(cell, event, state, done):
                    yield after, frozenset(), True
                continue
            if struck:
                yield after, frozenset(), True
                continue
            begun = event.slot if event.kind is EventKind.REQUEST else event.callee
            notes = {slot: site for slot, site in done if slot != begun}
            if event.slot is not None and event.kind in (EventKind.STEP, EventKind.REPLY):
                notes[event.slot] = event.site
            yield after, frozenset(notes.items()), False

    def _is_of(self, cell: Cell, event: Event, state: GlobalState, done: Done) -> bool:
        point = cell.point
        if cell.moment in (Moment.BEFORE, Moment.AFTER):
            if event.kind is not EventKind.CRASH or event.party is None or event.party.name != point.process:
                return False
            if cell.moment is Moment.BEFORE:
                slots = [slot for slot in state.activations if self._before(slot, state, point)]
            else:
                slots = [slot for slot, site in done if self._owns(point, slot) and site == point.site]
            slots = [slot for slot in slots if slot.instance == event.party.instance]
            return any(not cell.alone or self._quiet(slot, state) for slot in slots)
        if event.strike is None or event.slot is None or not self._owns(point, event.slot):
            return False
        if cell.moment is Moment.TWICE:
            if event.strike is not Strike.DUPLICATE:
                return False
        elif event.strike is Strike.DUPLICATE or event.kept is not (cell.moment is Moment.REPLY_LOST):
            return False
        if event.ending is Ending.ERROR:
            return self._before(event.slot, state, point)
        return event.site == point.site

    def _owns(self, point: Point, slot: Slot) -> bool:
        return slot.process == point.process and slot.thread == point.thread

    def _before(self, slot: Slot, state: GlobalState, point: Point) -> bool:
        activation = state.activations.get(slot)
        if activation is None or activation.waiting or not self._owns(point, slot):
            return False
        if activation.at is None:
            return point.site is None and activation.ending is not None
        thread = next(
            t for p in self.model.processes for t in p.threads if (p.name, t.name) == (slot.process, slot.thread)
        )
        return point.site in next_shared(self.control, thread, activation.at)

    def _quiet(self, struck: Slot, state: GlobalState) -> bool:
        callers: list[Slot] = []
        waiting = [struck]
        for slot in waiting:
            activation = state.activations.get(slot)
            if activation is not None and activation.caller is not None:
                callers.append(activation.caller)
                waiting.append(activation.caller)
        others = [slot for slot in state.activations if slot != struck and slot not in callers]
        return all(state.activations[slot].at == self.first[slot.process, slot.thread] for slot in others)

    def _judge(self, state: GlobalState, depth: int, found: dict[str, int]) -> None:
        if state.error is not None:
            if state.error.kind is not ErrorKind.ASSERTION:
                found.setdefault("model_errors", depth)
            return
        for declared in self.model.properties:
            if declared.form is PropertyForm.INVARIANT and not self.interpreter.satisfies(declared.condition, state):
                found.setdefault(declared.name, depth)
            if declared.form in (PropertyForm.AT_REST, PropertyForm.RECOVERABLE) and declared.name not in found:
                key = (declared.name, state)
                if key not in self.rests:
                    self.rests[key] = self._rests(declared.name, state)
                if self.rests[key]:
                    found[declared.name] = depth

    def _rests(self, name: str, state: GlobalState) -> bool:
        declared = next(each for each in self.model.properties if each.name == name)
        if declared.form is PropertyForm.RECOVERABLE:
            answer, wanted = recoverable(self.interpreter, state, declared.condition, 5000), Answer.NO
        elif self.interpreter.satisfies(declared.condition, state):
            return False
        else:
            answer, wanted = at_rest(self.interpreter, state, 5000), Answer.YES
        if answer is Answer.OPEN:
            raise TooLarge
        return answer is wanted


def compare(text: str, states: int) -> bool:
    """Whether the program has faults and was small enough to be compared.  Raises Disagreement."""
    try:
        model = checked(text).model
    except Pointless:
        return False
    if not model.faults:
        return False
    try:
        compare_model(model, states, text)
    except TooLarge:
        return False
    return True


def compare_model(model: Model, states: int, text: str = "") -> CrashMap:
    """The map.  Raises Disagreement, and TooLarge for a model with more states than that."""
    runs = Runs(model, states)
    base = runs.broken(None)
    found = crash_map(model, Options(), Silence(), Context((), {}))
    if found.failures:
        raise Disagreement(f"{[failure.message for failure in found.failures]}\n{text}")
    for name in found.properties:
        if not name.startswith("assert_"):
            _agree(found.base[name], base.get(name), f"{name} without a fault", text)
    for result in found.cells:
        broken = runs.broken(result.cell)
        if result.absence is not None:
            if broken != base:
                raise Disagreement(f"{result.cell} is said to be impossible, and breaks {broken}\n{text}")
            continue
        apart = None
        if result.cell.is_crash:
            apart = runs.broken(Cell(result.cell.point, result.cell.moment, alone=True))
        for name in found.properties:
            if name.startswith("assert_"):
                continue
            _agree(result.verdicts[name], broken.get(name), f"{name} at {result.cell.name}", text)
            if apart is not None:
                _agree(result.alone[name], apart.get(name), f"{name} at {result.cell.name} alone", text)
    return found


def _agree(verdict: Verdict, wanted: int | None, what: str, text: str) -> None:
    match verdict:
        case Proved() if wanted is None:
            return
        case Refuted(trace=trace) if len(trace) == wanted:
            return
        case Undecided(reason=reason) if "which of several steps" in reason:
            return
    raise Disagreement(f"{what} is {verdict}, and the shortest run that breaks it has {wanted} steps\n{text}")


def main(first: int, count: int, states: int) -> None:
    compared = 0
    for seed in range(first, first + count):
        drawn = random.Random(seed)
        kind = Program if seed % 4 == 0 else FaultProgram
        compared += compare(kind(drawn.randrange).text(), states)
    sys.stdout.write(f"{compared} of {count} programs compared\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
