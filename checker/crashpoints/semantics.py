"""The interpreter with at most one fault in a run, which strikes at a crash point.

A state says besides which crash point was struck, and which step each activation did last: what a crash after a step
means depends on that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from checker.crashpoints.points import Cell, Moment, begins, entries, steps
from spec.disturbances import Successor
from spec.event import Event, Slot
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import Model

NOTHING: Mapping[Slot, int | None] = MappingProxyType({})


@dataclass(frozen=True)
class PointState(GlobalState):
    """struck: the name of the cell at which the fault has struck; None before any has.
    last: the step that each activation (or the one before it in its place) did last, where it is one that is watched:
    the statement's id, None for its answer at the end.  Empty once a fault has struck."""

    struck: str | None = None
    last: Mapping[Slot, int | None] = field(default_factory=lambda: NOTHING)

    def __hash__(self) -> int:
        return hash((self._hash, self.struck, frozenset(self.last.items())))


def with_history(state: GlobalState, struck: str | None, last: Mapping[Slot, int | None]) -> PointState:
    plain = {each.name: getattr(state, each.name) for each in fields(GlobalState)}
    return PointState(**plain, struck=struck, last=last)


class PointInterpreter(Interpreter):
    """cells: where the fault may strike.  watched: as `checker.crashpoints.points.followed` gives it."""

    def __init__(self, model: Model, cells: Sequence[Cell], watched: Mapping[Slot, frozenset[int | None]]) -> None:
        super().__init__(model)
        self._cells = tuple(cells)
        self._watched = watched
        self._entries = entries(model)

    def initial(self) -> GlobalState:
        return with_history(super().initial(), None, NOTHING)

    def successors(self, state: GlobalState) -> list[Successor]:
        """As the interpreter's; a fault once for each cell that it is one of, and none once one has struck."""
        assert isinstance(state, PointState)
        return list(self._successors(state))

    def _successors(self, state: PointState) -> Iterator[Successor]:
        for event, after in super().successors(state):
            if self.kind(event) != "fault":
                yield event, with_history(after, state.struck, self._last(state, event))
            elif state.struck is None:
                for cell in self._cells:
                    if self._strikes(cell, event, state):
                        yield event, with_history(after, cell.name, NOTHING)

    def _last(self, state: PointState, event: Event) -> Mapping[Slot, int | None]:
        if state.struck is not None:
            return NOTHING
        acting = steps(event)
        last = {slot: site for slot, site in state.last.items() if slot not in (acting, begins(event))}
        if acting is not None and event.site in self._watched.get(acting, ()):
            last[acting] = event.site
        return last

    def _strikes(self, cell: Cell, event: Event, state: PointState) -> bool:
        point = cell.point

        def stands(slot: Slot) -> bool:
            activation = state.activations.get(slot)
            if activation is None or activation.waiting or not point.owns(slot):
                return False
            return activation.at in point.locations and (activation.at is not None or activation.ending is not None)

        if not cell.meant(event, stands):
            return False
        if not cell.is_crash:
            return True
        before = [slot for slot in state.activations if _in(slot, event) and stands(slot)]
        after = [slot for slot, site in state.last.items() if _in(slot, event) and site == point.site]
        struck = before if cell.moment is Moment.BEFORE else [slot for slot in after if point.owns(slot)]
        return any(not cell.alone or self._is_alone(slot, state) for slot in struck)

    def _is_alone(self, struck: Slot, state: PointState) -> bool:
        """Whether every other activation stands at its first statement, or waits for the struck one."""
        involved = {struck}
        here: Slot | None = struck
        while here is not None and here in state.activations:
            here = state.activations[here].caller
            if here is not None:
                involved.add(here)
        return all(
            activation.at == self._entries.get((slot.process, slot.thread))
            for slot, activation in state.activations.items()
            if slot not in involved
        )


def _in(slot: Slot, event: Event) -> bool:
    """Whether the place is one of the instance that crashes."""
    return event.party is not None and (slot.process, slot.instance) == (event.party.name, event.party.instance)
