"""What happens to a state from outside its threads: requests, faults that strike by themselves, recoveries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from spec.activations import Activations, StepError
from spec.event import Ending, Event, EventKind, Party, Slot
from spec.holdings import contents
from spec.state import GlobalState, LockState, Loose
from spec.topology import Link, Topology
from spec.typed import Parameter, ThreadKind
from spec.types import IdType
from spec.value import Id, Value, domain

Successor = tuple[Event, GlobalState]


def settled(event: Event, before: GlobalState, rest: Callable[[], GlobalState]) -> Successor:
    """The step `event` with the state that `rest` comes to; or, when a local statement comes to a model error, the
    step in which nothing happens but the error."""
    try:
        return event, rest()
    except StepError as stopped:
        return stopping(event, before, stopped)


def stopping(event: Event, before: GlobalState, stopped: StepError) -> Successor:
    """The step in which nothing happens but a model error."""
    return replace(event, ending=Ending.ERROR, site=stopped.error.site), replace(before, error=stopped.error)


class Disturbances:
    """Requests, faults and recoveries of one model."""

    def __init__(self, activations: Activations, topology: Topology) -> None:
        self.activations = activations
        self.topology = topology
        self._redelivers = {name for name, queue in activations.effects.queues.items() if queue.redelivers}

    # ------------------------------------------------------------------------------------------------------ requests

    def requests(self, state: GlobalState) -> Iterator[Successor]:
        """The requests that the environment may make now."""
        for (process, name), thread in self.activations.threads.items():
            if thread.kind is not ThreadKind.ON or thread.called:
                continue
            for party in self.topology.parties(process):
                slot = self.activations.free_slot(state, process, party.instance or 0, name)
                if slot is not None and self.topology.up(state, party):
                    for ready, variables in self._arguments(state, thread.parameters):
                        yield Event(EventKind.REQUEST, slot), self.activations.begin(ready, slot, variables)

    def _arguments(
        self, state: GlobalState, parameters: tuple[Parameter, ...]
    ) -> Iterator[tuple[GlobalState, dict[str, Value]]]:
        if not parameters:
            yield state, {}
            return
        *before, last = parameters
        for earlier, variables in self._arguments(state, tuple(before)):
            for value in domain(last.type):
                if last.fresh and isinstance(value, Id) and isinstance(last.type, IdType):
                    used = earlier.used[last.type.name]
                    if value.index not in used:
                        drawn = {**earlier.used, last.type.name: used | {value.index}}
                        yield replace(earlier, used=drawn), {**variables, last.key: value}
                else:
                    yield earlier, {**variables, last.key: value}

    # ---------------------------------------------------------------------------------------------------- recoveries

    def recoveries(self, state: GlobalState) -> Iterator[Successor]:
        """Restarts, healed links, redeliveries, and leases that end after their holders."""
        for party in sorted(state.down, key=_by_name):
            crash = self.topology.crash_class(party)
            if crash is not None and crash.restart:
                up = replace(state, down=state.down - {party})
                if party.instance is not None:
                    up = self.activations.begin_instance(up, party.name, party.instance)
                yield Event(EventKind.RESTART, party=party), up
        for ends in sorted(state.cut, key=lambda link: (_by_name(link[0]), _by_name(link[1]))):
            healed = replace(state, cut=state.cut - {ends})
            yield Event(EventKind.HEAL, party=ends[0], other=ends[1]), healed
        yield from self._redeliveries(state)
        yield from self._expiries(state, orphaned=True)

    def _redeliveries(self, state: GlobalState) -> Iterator[Successor]:
        for name, held in state.queues.items():
            if Party(name[0]) in state.down:
                continue
            for position, (item, holder) in enumerate(held.entries):
                slot = holder if isinstance(holder, Slot) else None
                if holder is Loose.ORPHAN or (slot is not None and name in self._redelivers):
                    entries = list(held.entries)
                    entries[position] = (item, Loose.VISIBLE)
                    after = contents(self.activations.effects.queues[name], entries)
                    event = Event(EventKind.REDELIVER, slot, store=name[0], variable=name[1], item=item)
                    yield event, replace(state, queues={**state.queues, name: after})

    def _expiries(self, state: GlobalState, orphaned: bool) -> Iterator[Successor]:
        for name, held in state.locks.items():
            if not self.activations.effects.locks[name].lease or Party(name[0]) in state.down:
                continue
            if not orphaned and self.topology.expire_class(*name) is None:
                continue
            for position, (key, holder, token) in enumerate(held.entries):
                slot = holder if isinstance(holder, Slot) else None
                if holder is Loose.ORPHAN if orphaned else slot is not None:
                    entries = list(held.entries)
                    entries[position] = (key, Loose.FREE, token)
                    event = Event(EventKind.EXPIRE, slot, store=name[0], variable=name[1], item=key)
                    yield event, replace(state, locks={**state.locks, name: LockState(tuple(entries))})

    # -------------------------------------------------------------------------------------------------------- faults

    def faults(self, state: GlobalState) -> Iterator[Successor]:
        """Faults that strike by themselves, outside of any statement."""
        for party in self.topology.crashing():
            if self.topology.up(state, party):
                yield self._crash(state, party)
        for ends in self.topology.links():
            if ends not in state.cut:
                event = Event(EventKind.CUT, party=ends[0], other=ends[1])
                yield self._cut_by_itself(event, state, ends)
        yield from self._expiries(state, orphaned=False)

    def _crash(self, state: GlobalState, party: Party) -> Successor:
        event = Event(EventKind.CRASH, party=party)
        if party.instance is None:
            return event, self.crash_store(state, party.name)
        return settled(event, state, lambda: self._crash_instance(state, party))

    def _cut_by_itself(self, event: Event, state: GlobalState, ends: Link) -> Successor:
        return settled(event, state, lambda: self.cut(state, ends))

    def crash_store(self, state: GlobalState, name: str) -> GlobalState:
        """The store is down, its volatile contents reset."""
        return replace(self.topology.reset_store(state, name), down=state.down | {Party(name)})

    def _crash_instance(self, state: GlobalState, party: Party) -> GlobalState:
        """The instance is down, its activations are gone; callers of them get `unknown`.  Raises StepError."""
        gone = [slot for slot in sorted(state.activations) if Party(slot.process, slot.instance) == party]
        waiting = [a.caller for slot in gone if (a := state.activations[slot]).caller is not None]
        left = [slot for slot, a in sorted(state.activations.items()) if a.caller in gone and slot not in gone]
        for slot in gone:
            state = self.activations.abandon(state, slot)
        state = replace(self.topology.reset_instance(state, party), down=state.down | {party})
        for slot in left:
            state = self.activations.detach(state, slot)
        for caller in sorted(c for c in waiting if c is not None and c not in gone):
            state = self.activations.wake(state, caller, Ending.UNKNOWN, None)
        return state

    def cut(self, state: GlobalState, ends: Link) -> GlobalState:
        """The link is cut; whoever waits for a reply across it gets `unknown`.  Raises StepError."""
        state = replace(state, cut=state.cut | {ends})
        separated: list[tuple[Slot, Slot]] = []
        for callee, activation in state.activations.items():
            caller = activation.caller
            if caller is not None and {_party(callee), _party(caller)} == set(ends):
                separated.append((caller, callee))
        for _, callee in separated:
            state = self.activations.detach(state, callee)
        for caller, _ in sorted(separated):
            state = self.activations.wake(state, caller, Ending.UNKNOWN, None)
        return state


def _party(slot: Slot) -> Party:
    return Party(slot.process, slot.instance)


def _by_name(party: Party) -> tuple[str, int]:
    return party.name, -1 if party.instance is None else party.instance
