"""Parties, links, and the fault classes that concern them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from spec.event import Party
from spec.holdings import unlocked
from spec.state import GlobalState, QueueState
from spec.typed import FaultClass, FaultKind, Model, Process, Store

Link = tuple[Party, Party]


def link(one: Party, other: Party) -> Link:
    """The link between two parties: a process instance before a store, two instances in sorted order."""
    if one.instance is None:
        return other, one
    if other.instance is None:
        return one, other
    return (one, other) if one < other else (other, one)


def is_first(fault: FaultClass, party: Party) -> bool:
    """Whether the class's first end, or all that it has, stands for the party."""
    return fault.first == party.name and fault.first_instance in (None, party.instance)


def is_second(fault: FaultClass, party: Party) -> bool:
    return fault.second == party.name and fault.second_instance in (None, party.instance)


class Topology:
    """The parties of a model, and the fault classes that may strike them.

    faults  the classes that are enabled"""

    def __init__(self, model: Model, faults: Collection[FaultClass]) -> None:
        self.stores: dict[str, Store] = {store.name: store for store in model.stores}
        self.processes: dict[str, Process] = {process.name: process for process in model.processes}
        self.faults = tuple(faults)

    # ------------------------------------------------------------------------------------------------ fault classes

    def crash_class(self, party: Party) -> FaultClass | None:
        return next((f for f in self.faults if f.kind is FaultKind.CRASH and is_first(f, party)), None)

    def link_class(self, kind: FaultKind, ends: Link) -> FaultClass | None:
        """The enabled class of this kind (partition, lose, duplicate) for a link between distinct parties."""
        one, other = ends
        if one == other:
            return None

        def joins(fault: FaultClass) -> bool:
            there = is_first(fault, one) and is_second(fault, other)
            return there or (is_first(fault, other) and is_second(fault, one))

        return next((f for f in self.faults if f.kind is kind and joins(f)), None)

    def expire_class(self, store: str, lock: str) -> FaultClass | None:
        return next(
            (f for f in self.faults if f.kind is FaultKind.EXPIRE and (f.first, f.second) == (store, lock)), None
        )

    # ---------------------------------------------------------------------------------------------- parties and links

    def parties(self, name: str) -> list[Party]:
        """The store of this name, or the instances of the process."""
        if name in self.stores:
            return [Party(name)]
        return [Party(name, index) for index in range(self.processes[name].instances.size)]

    def crashing(self) -> Iterator[Party]:
        """The parties that an enabled class can crash, each once."""
        seen: set[Party] = set()
        for fault in self.faults:
            if fault.kind is FaultKind.CRASH:
                for party in self.parties(fault.first):
                    if is_first(fault, party) and party not in seen:
                        seen.add(party)
                        yield party

    def links(self) -> Iterator[Link]:
        """The links that an enabled class can cut, each once."""
        seen: set[Link] = set()
        for fault in self.faults:
            if fault.kind is FaultKind.PARTITION and fault.second is not None:
                for one in self.parties(fault.first):
                    for other in self.parties(fault.second):
                        ends = link(one, other)
                        meant = is_first(fault, one) and is_second(fault, other)
                        if meant and one != other and ends not in seen:
                            seen.add(ends)
                            yield ends

    def up(self, state: GlobalState, party: Party) -> bool:
        return party not in state.down

    def reachable(self, state: GlobalState, one: Party, other: Party) -> bool:
        """Whether `other` is up and connected to `one`; a party is always connected with itself."""
        return other not in state.down and (one == other or link(one, other) not in state.cut)

    # ------------------------------------------------------------------------------------------------------- resets

    def reset_store(self, state: GlobalState, name: str) -> GlobalState:
        """The store's volatile variables, queues and locks as at the beginning of a run."""
        store = self.stores[name]
        values = {(name, v.name): v.initial for v in store.values if not v.durable}
        queues = {(name, q.name): QueueState(()) for q in store.queues if not q.durable}
        locks = {(name, k.name): unlocked(k) for k in store.locks if not k.durable}
        return replace(
            state,
            values={**state.values, **values},
            queues={**state.queues, **queues},
            locks={**state.locks, **locks},
        )

    def reset_instance(self, state: GlobalState, party: Party) -> GlobalState:
        """The instance's volatile variables as at the beginning of a run."""
        process = self.processes[party.name]
        instance = party.instance or 0
        values = {(process.name, instance, v.name): v.initial for v in process.values if not v.durable}
        return replace(state, process_values={**state.process_values, **values})

    def healed(self, state: GlobalState) -> bool:
        """Whether nothing is cut and every party is up but those crashed `without restart`."""

        def gone(party: Party) -> bool:
            crash = self.crash_class(party)
            return crash is not None and not crash.restart

        return not state.cut and all(gone(party) for party in state.down)


def initial_state(model: Model) -> GlobalState:
    """Every variable at its initial value; no activation has begun."""
    return GlobalState(
        values={(s.name, v.name): v.initial for s in model.stores for v in s.values},
        queues={(s.name, q.name): QueueState(()) for s in model.stores for q in s.queues},
        locks={(s.name, k.name): unlocked(k) for s in model.stores for k in s.locks},
        process_values={
            (p.name, instance, v.name): v.initial
            for p in model.processes
            for instance in range(p.instances.size)
            for v in p.values
        },
        ghosts={g.name: g.initial for g in model.ghosts},
        used={name: frozenset() for name in sorted(model.fresh)},
        activations={},
        down=frozenset(),
        cut=frozenset(),
    )
