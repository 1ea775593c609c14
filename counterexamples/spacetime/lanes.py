"""Who takes part in a run, from left to right: the environment, processes that call before those that are called,
stores."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum

from counterexamples.notation import places, write_party
from spec.control import statements_in
from spec.event import Party, Slot
from spec.typed import Call, Model


class Outside(Enum):
    """What is no part of the model."""

    ENVIRONMENT = "environment"


Owner = Party | Outside
"""Whose lane it is."""

Spot = Slot | Party | Outside
"""Where a message begins or ends: an activation's track, or a lane."""


@dataclass(frozen=True)
class Lane:
    """tracks: the activations of the process instance that take part, in the order of its threads."""

    owner: Owner
    tracks: tuple[Slot, ...] = ()

    @property
    def title(self) -> str:
        return self.owner.value if isinstance(self.owner, Outside) else write_party(self.owner)

    @property
    def name(self) -> str:
        """An id for the lane: `lane-Server-0`, `lane-postgres`; `outside` for the environment."""
        if isinstance(self.owner, Outside):
            return "outside"
        instance = "" if self.owner.instance is None else f"-{self.owner.instance}"
        return f"lane-{self.owner.name}{instance}"

    @property
    def is_store(self) -> bool:
        return isinstance(self.owner, Party) and self.owner.instance is None


def owner(spot: Spot) -> Owner:
    """In whose lane a spot is."""
    return Party(spot.process, spot.instance) if isinstance(spot, Slot) else spot


def track_name(model: Model, slot: Slot) -> str:
    """`sweep`; where the thread has several places, `sweep[1]`."""
    return slot.thread + (f"[{slot.place}]" if places(model, slot) > 1 else "")


def lanes(model: Model, spots: Collection[Spot]) -> tuple[Lane, ...]:
    """The lanes of all spots in which something happens."""
    owners = {owner(spot) for spot in spots}
    order: Iterable[Owner] = (Outside.ENVIRONMENT, *_instances(model), *(Party(store.name) for store in model.stores))
    return tuple(Lane(each, _tracks(model, each, spots)) for each in order if each in owners)


def _instances(model: Model) -> list[Party]:
    depths = _depths(model)
    ordered = sorted(model.processes, key=lambda process: depths[process.name])
    return [Party(process.name, i) for process in ordered for i in range(process.instances.size)]


def _depths(model: Model) -> dict[str, int]:
    """How many calls lead to a process, at most, from one that nobody calls; processes that call each other in a
    circle come last."""
    callers: dict[str, set[str]] = {process.name: set() for process in model.processes}
    for process in model.processes:
        for thread in process.threads:
            for statement in statements_in(thread.body):
                if isinstance(statement, Call) and statement.process != process.name:
                    callers[statement.process].add(process.name)
    depths = dict.fromkeys(callers, 0)
    for _ in callers:
        depths = {name: max((depths[caller] + 1 for caller in calling), default=0) for name, calling in callers.items()}
    return depths


def _tracks(model: Model, of: Owner, spots: Iterable[Spot]) -> tuple[Slot, ...]:
    order = {
        (process.name, thread.name): number
        for process in model.processes
        for number, thread in enumerate(process.threads)
    }
    found = {spot for spot in spots if isinstance(spot, Slot) and owner(spot) == of}
    return tuple(sorted(found, key=lambda slot: (order.get((slot.process, slot.thread), 0), slot)))
