"""The transition system of a crash-point map: a lowered model with at most one fault, and a variable that says where.

One search of it answers for all crash points: what happens before the fault is the same for all, and what happens after
it is kept apart by the variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from checker.crashpoints.points import Cell, Moment, begins, followed, steps
from checker.crashpoints.semantics import PointState, with_history
from checker.engines.engine import Path
from checker.logic.formula import FALSE, TRUE, Formula, Role, Variable, conjunction, disjunction, equals, member
from checker.lower import Lowered, UnreachableCode
from checker.lowering.control import START
from checker.lowering.model_layout import IDLE, At, Replying, Waiting
from checker.transition_system import (
    Action,
    Cases,
    Constant,
    Form,
    Kind,
    Permutation,
    Property,
    State,
    TransitionSystem,
    Update,
)
from counterexamples.trace import Trace
from spec.event import Event, Slot
from spec.state import GlobalState

FORMS = frozenset({Form.INVARIANT, Form.STEP_INVARIANT, Form.AT_REST, Form.RECOVERABLE})
"""The forms of properties that a map speaks of."""
_OTHER = "other"


@dataclass(frozen=True, eq=False)
class Question:
    """Whether a property holds in the runs in which no fault strikes, or just the one of a cell (None: no fault at
    all)."""

    declared: Property
    cell: Cell | None
    target: Property


@dataclass(frozen=True, eq=False)
class PointSystem:
    """struck, last: the variables behind those of the lowered model, in this order."""

    lowered: Lowered
    system: TransitionSystem
    cells: tuple[Cell, ...]
    questions: tuple[Question, ...]
    struck: Variable
    last: Mapping[Slot, Variable]

    def decode(self, state: State) -> PointState:
        """The state that people see, with its history."""
        size = len(self.lowered.system.variables)
        struck = self.struck.values[state[size]]
        done = {
            slot: variable.values[code]
            for (slot, variable), code in zip(self.last.items(), state[size + 1 :], strict=True)
            if variable.values[code] != _OTHER
        }
        named = struck.name if isinstance(struck, Cell) else None
        return with_history(self.lowered.decode(state[:size]), named, done)  # type: ignore[arg-type]

    def trace(self, path: Path) -> Trace:
        """A path as a trace of the model, without the history."""
        size = len(self.lowered.system.variables)
        states = tuple(self.lowered.decode(state[:size]) for state in path.states)
        return Trace(self.lowered.model, states, tuple(action.event for action in path.actions))

    # -- what `checker.certificates.certificate` wants of a coding

    def affords(self, before: State, event: Event) -> bool:
        return True

    def successor_code(self, before: State, event: Event, after: GlobalState) -> State | None:
        assert isinstance(after, PointState)
        try:
            packed = self.lowered.encode(after)
        except UnreachableCode:
            return None
        if packed is None:
            return None
        names = [None if cell is None else cell.name for cell in (None, *self.cells)]
        done = [variable.values.index(after.last.get(slot, _OTHER)) for slot, variable in self.last.items()]
        return (*packed, names.index(after.struck), *done)


def point_system(lowered: Lowered, cells: Sequence[Cell], properties: Sequence[Property]) -> PointSystem:
    """The system in which each property of the lowered model is asked for each cell, and without a fault.  The lowered
    model has no fault budget."""
    builder = _Builder(lowered, tuple(cells))
    questions = tuple(_questions(properties, builder.struck, tuple(cells)))
    system = TransitionSystem(
        variables=(*lowered.system.variables, builder.struck, *builder.last.values()),
        actions=tuple(builder.actions()),
        properties=tuple(question.target for question in questions),
        halted=lowered.system.halted,
        frontier=lowered.system.frontier,
        swaps=tuple(builder.swaps()),
    )
    return PointSystem(lowered, system, tuple(cells), questions, builder.struck, builder.last)


def _questions(properties: Sequence[Property], struck: Variable, cells: Sequence[Cell]) -> Iterator[Question]:
    for declared in properties:
        for code, cell in enumerate((None, *cells)):
            # For a step invariant the step itself may be the fault.
            primed = declared.form is Form.STEP_INVARIANT
            there = member(struck, 1 | 1 << code, primed)
            name = declared.name if cell is None else f"{declared.name} @ {cell.name}"
            bad = conjunction((declared.bad, there))
            yield Question(declared, cell, replace(declared, name=name, bad=bad, shown=False))


class _Builder:
    def __init__(self, lowered: Lowered, cells: tuple[Cell, ...]) -> None:
        self.lowered = lowered
        self.cells = cells
        self.struck = Variable("struck", (None, *cells), 0, Role.CONTROL)
        watched = followed(cells, lowered.layout.slots)
        self.last = {
            slot: Variable(f"last step of {slot}", (_OTHER, *sorted(sites, key=_order)), 0, Role.CONTROL)
            for slot, sites in watched.items()
        }

    def actions(self) -> Iterator[Action]:
        number = 0
        intact = equals(self.struck, 0)
        for action in self.lowered.system.actions:
            if action.kind is not Kind.FAULT:
                yield Action(number, action.event, action.kind, action.guard, self.followed(action), None)
                number += 1
                continue
            for code, cell in enumerate(self.cells, 1):
                guard = conjunction((action.guard, intact, self.strikes(cell, action.event)))
                if guard is not FALSE:
                    forgotten: dict[Variable, Update] = {variable: Constant(0) for variable in self.last.values()}
                    updates = {**action.updates, self.struck: Constant(code), **forgotten}
                    yield Action(number, action.event, action.kind, guard, updates, action.fault)
                    number += 1

    def followed(self, action: Action) -> Mapping[Variable, Update]:
        """The updates of an action without a fault: what it does is remembered as long as no fault has struck."""
        acting, begun = steps(action.event), begins(action.event)
        updates = dict(action.updates)
        for slot, variable in self.last.items():
            if slot == acting and action.event.site in variable.values[1:]:
                code = variable.values.index(action.event.site)
                intact = equals(self.struck, 0)
                updates[variable] = Cases(((intact, code), (member(self.struck, ~1), 0)))
            elif slot in (acting, begun):
                updates[variable] = Constant(0)
        return updates

    def strikes(self, cell: Cell, event: Event) -> Formula:
        """Where a fault event is one of the cell."""
        struck_at: list[Formula] = []

        def stands(slot: Slot) -> bool:
            struck_at.append(self.stands(cell, slot))
            return True

        if not cell.meant(event, stands):
            return FALSE
        if not cell.is_crash:
            return conjunction(struck_at) if struck_at else TRUE
        assert event.party is not None
        crashed = (event.party.name, event.party.instance)
        here = [s for s in self.lowered.layout.slots if (s.process, s.instance) == crashed]
        parts = []
        for slot in filter(cell.point.owns, here):
            if cell.moment is Moment.BEFORE:
                there = self.stands(cell, slot)
            elif slot in self.last:
                there = equals(self.last[slot], self.last[slot].values.index(cell.point.site))
            else:
                continue
            others = [self.aside(other, slot) for other in self.lowered.layout.slots if other != slot]
            parts.append(conjunction((there, *(others if cell.alone else ()))))
        return disjunction(parts)

    def aside(self, other: Slot, struck: Slot) -> Formula:
        """Where the activation in a place, if there is one, has no part in what is struck, or waits for it."""
        node = self.lowered.layout.slots[other]
        mask = 0
        first = {IDLE, At(START), At(node.flow.entry), Waiting(node.flow.entry)}
        for code, control in enumerate(node.control.values):
            if control in first:
                mask |= 1 << code
        return disjunction((self.rewritten(node.control, mask), self.waits(other, struck, frozenset())))

    def waits(self, caller: Slot, callee: Slot, passed: frozenset[Slot]) -> Formula:
        """Where an activation waits for another, or for one that waits for it."""
        variable = self.lowered.layout.slots[callee].caller
        if variable is None or callee in passed:
            return FALSE
        parts = []
        for code, between in enumerate(variable.values):
            if isinstance(between, Slot):
                rest = TRUE if between == caller else self.waits(caller, between, passed | {callee})
                parts.append(conjunction((self.rewritten(variable, 1 << code), rest)))
        return disjunction(parts)

    def stands(self, cell: Cell, slot: Slot) -> Formula:
        """Where the activation in a place stands before the cell's step."""
        node = self.lowered.layout.slots[slot]
        mask = 0
        for code, control in enumerate(node.control.values):
            match control:
                case At():
                    at: int | None = node.flow.entry if control.position == START else control.position
                case Replying():
                    at = None
                case _:
                    continue
            if at in cell.point.locations:
                mask |= 1 << code
        return self.rewritten(node.control, mask)

    def rewritten(self, control: Variable, mask: int) -> Formula:
        """Where a variable of the layout has one of some codes, over the variables of the lowered model."""
        original = Property("stands", Form.COVER, member(control, mask))
        return self.lowered.compaction.property(original).bad

    def swaps(self) -> Iterator[Permutation]:
        """The symmetries of the model.  A swap of instances swaps what is remembered of their activations."""
        model = self.lowered.model
        named = {
            f"{process.name}#{i} <-> {process.name}#{j}": (process.name, {i: j, j: i})
            for process in model.processes
            for i, j in combinations(range(process.instances.size), 2)
        }
        processes = {process.name for process in model.processes}
        for swap in self.lowered.system.swaps:
            if swap.name not in named:
                if swap.name.partition("#")[0] not in processes:
                    yield swap
                continue
            name, index = named[swap.name]
            moves = []
            for slot, variable in self.last.items():
                if slot.process == name and slot.instance in index:
                    other = self.last[replace(slot, instance=index[slot.instance])]
                    moves.append((variable, other, tuple(range(variable.size))))
            yield Permutation(swap.name, (*swap.moves, *moves))


def _order(site: int | None) -> tuple[bool, int]:
    return site is None, site or 0
