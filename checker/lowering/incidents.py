"""What happens without an activation acting: requests, crashes, restarts, cuts, heals, redeliveries, expiries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from checker.logic.formula import Variable, disjunction, negate
from checker.lowering.effects import Blocked, release_holdings
from checker.lowering.layout import code_of
from checker.lowering.model_layout import BagQueue, FifoQueue, Link, LockNode, ModelLayout, QueueNode, SetQueue
from checker.lowering.runner import Runner
from checker.lowering.steps import Stepper
from checker.lowering.symbolic import Symbolic, constant
from checker.lowering.world import Pruned, World
from checker.transition_system import Kind
from spec.event import Event, EventKind, Party, Slot
from spec.state import Holder, Loose
from spec.typed import FaultClass, FaultKind, Thread, ThreadKind
from spec.types import IdType
from spec.value import Value, domain


@dataclass(frozen=True)
class Incident:
    """kind: who is responsible; run: performs it in a world and answers the event; event: what it is called when a
    caller that it wakes meets a model error."""

    kind: Kind
    run: Callable[[World], tuple[Event, FaultClass | None]]
    event: Event = field(default_factory=lambda: Event(EventKind.REQUEST))
    fault: FaultClass | None = None


def incidents(layout: ModelLayout) -> Iterator[Incident]:
    yield from _requests(layout)
    for fault in layout.faults:
        if fault.kind is FaultKind.CRASH:
            for party in layout.crashed(fault):
                yield Incident(Kind.FAULT, _crash(layout, fault, party), Event(EventKind.CRASH, party=party), fault)
                if fault.restart:
                    yield Incident(Kind.RECOVERY, _restart(layout, party))
        elif fault.kind is FaultKind.PARTITION:
            for link in layout.links(fault):
                event = Event(EventKind.CUT, party=link[0], other=link[1])
                yield Incident(Kind.FAULT, _cut(layout, fault, link), event, fault)
                yield Incident(Kind.RECOVERY, _heal(layout, link))
    yield from _redeliveries(layout)
    yield from _expiries(layout)


def _requests(layout: ModelLayout) -> Iterator[Incident]:
    for process in layout.model.processes:
        for thread in process.threads:
            if thread.kind is ThreadKind.ON and not thread.called:
                for i in range(process.instances.size):
                    yield Incident(Kind.ENVIRONMENT, _request(layout, process.name, i, thread))


def _request(
    layout: ModelLayout, process: str, instance: int, thread: Thread
) -> Callable[[World], tuple[Event, FaultClass | None]]:
    def run(world: World) -> tuple[Event, FaultClass | None]:
        stepper = Stepper(world, layout)
        party = Party(process, instance)
        if party in layout.up:
            world.assume(world.where(layout.up[party], 1))
        place = stepper.free_place(process, instance, thread.name)
        if place is None:
            raise Pruned
        arguments: list[Symbolic] = []
        for parameter in thread.parameters:
            if parameter.fresh:
                assert isinstance(parameter.type, IdType)
                try:
                    value = Runner(world, layout, place).take_fresh(parameter.type)
                except Blocked:
                    raise Pruned from None
            else:
                values = tuple(domain(parameter.type))
                value = values[world.choose(len(values))]
            arguments.append(constant(value, parameter.type))
        stepper.begin(place, arguments, None)
        return Event(EventKind.REQUEST, place.slot), None

    return run


def _crash(layout: ModelLayout, fault: FaultClass, party: Party) -> Callable[[World], tuple[Event, FaultClass | None]]:
    def run(world: World) -> tuple[Event, FaultClass | None]:
        stepper = Stepper(world, layout)
        world.assume(world.where(layout.up[party], 1))
        stepper.spend(fault)
        if party.instance is None:
            stepper.crash_store(party)
        else:
            _crash_process(world, layout, stepper, party)
        return Event(EventKind.CRASH, party=party), fault

    return run


def _crash_process(world: World, layout: ModelLayout, stepper: Stepper, party: Party) -> None:
    own = [node for slot, node in layout.slots.items() if (slot.process, slot.instance) == (party.name, party.instance)]
    mine = {node.slot for node in own}
    abandoned = [
        (node, caller)
        for node in own
        if node.caller is not None
        for caller in node.caller.values
        if isinstance(caller, Slot) and caller not in mine
    ]
    world.set(layout.up[party], 0)
    left: set[Slot] = set()
    for node in layout.slots.values():
        if node.caller is None or node.slot in mine:
            continue
        for caller in node.caller.values:
            if isinstance(caller, Slot) and caller in mine:
                waits = world.where(node.caller, code_of(node.caller, caller))
                if caller in left:
                    world.assume(negate(waits))  # nobody waits for two
                elif world.decide(waits):
                    stepper.forget(node)
                    left.add(caller)
    stepper.abandon(abandoned, gone=True)
    for node in own:
        runner = Runner(world, layout, node)
        runner.held = frozenset(node.locals)
        release_holdings(world, layout, node.slot)
        runner.clear(begin_anew=False)
    process = layout.processes[party.name]
    for value in process.values:
        if not value.durable:
            stepper.reset(("process", party, value.name))


def _restart(layout: ModelLayout, party: Party) -> Callable[[World], tuple[Event, FaultClass | None]]:
    def run(world: World) -> tuple[Event, FaultClass | None]:
        world.assume(world.where(layout.up[party], 0))
        world.set(layout.up[party], 1)
        if party.instance is not None:
            for slot, node in layout.slots.items():
                if (slot.process, slot.instance) == (party.name, party.instance) and (
                    node.thread.kind is not ThreadKind.ON
                ):
                    Runner(world, layout, node).clear(begin_anew=True)
        return Event(EventKind.RESTART, party=party), None

    return run


def _cut(layout: ModelLayout, fault: FaultClass, link: Link) -> Callable[[World], tuple[Event, FaultClass | None]]:
    def run(world: World) -> tuple[Event, FaultClass | None]:
        stepper = Stepper(world, layout)
        world.assume(world.where(layout.cut[link], 0))
        stepper.spend(fault)
        stepper.cut(*link)
        return Event(EventKind.CUT, party=link[0], other=link[1]), fault

    return run


def _heal(layout: ModelLayout, link: Link) -> Callable[[World], tuple[Event, FaultClass | None]]:
    def run(world: World) -> tuple[Event, FaultClass | None]:
        world.assume(world.where(layout.cut[link], 1))
        world.set(layout.cut[link], 0)
        return Event(EventKind.HEAL, party=link[0], other=link[1]), None

    return run


# ------------------------------------------------------------------------------------------- queues and locks


def _redeliveries(layout: ModelLayout) -> Iterator[Incident]:
    for (store, name), node in layout.queues.items():
        queue = next(q for q in layout.stores[store].queues if q.name == name)
        takers = layout.takers(store, name)
        holders: tuple[Holder, ...] = (Loose.ORPHAN, *(takers if queue.redelivers else ())) if takers else ()
        for holder in holders:
            for item in domain(queue.item):
                yield Incident(Kind.RECOVERY, _redeliver(layout, store, name, node, item, holder))


def _redeliver(
    layout: ModelLayout, store: str, name: str, node: QueueNode, item: Value, holder: Holder
) -> Callable[[World], tuple[Event, FaultClass | None]]:
    slot = holder if isinstance(holder, Slot) else None

    def run(world: World) -> tuple[Event, FaultClass | None]:
        _up(world, layout, store)
        match node:
            case SetQueue(items):
                _replace(world, items[item], holder, Loose.VISIBLE)
            case BagQueue(counts, _):
                parts = counts[item]
                if world.decide(world.where(parts[holder], 0)):
                    raise Pruned
                world.map(parts[holder], lambda c: max(c - 1, 0))
                world.map(parts[Loose.VISIBLE], lambda c: min(c + 1, parts[Loose.VISIBLE].size - 1))
            case FifoQueue(cells):
                there = [world.where(cell, code_of(cell, (item, holder))) for cell in cells]
                if not world.decide(disjunction(there)):
                    raise Pruned
                place = world.choose(len(cells))
                _replace(world, cells[place], (item, holder), (item, Loose.VISIBLE))
        return Event(EventKind.REDELIVER, slot=slot, store=store, variable=name, item=item), None

    return run


def _replace(world: World, variable: Variable, old: object, new: object) -> None:
    """Requires the old value and sets the new one."""
    world.assume(world.where(variable, code_of(variable, old)))
    world.set(variable, code_of(variable, new))


def _up(world: World, layout: ModelLayout, store: str) -> None:
    party = Party(store)
    if party in layout.up:
        world.assume(world.where(layout.up[party], 1))


def _expiries(layout: ModelLayout) -> Iterator[Incident]:
    for (store, name), node in layout.locks.items():
        if not node.lock.lease:
            continue
        fault = next(
            (f for f in layout.faults if f.kind is FaultKind.EXPIRE and (f.first, f.second) == (store, name)),
            None,
        )
        takers = layout.takers(store, name)
        for key in node.holders:
            if takers:
                yield Incident(Kind.RECOVERY, _expire(layout, store, name, node, key, Loose.ORPHAN, None))
            if fault is not None:
                for slot in takers:
                    yield Incident(Kind.FAULT, _expire(layout, store, name, node, key, slot, fault))


def _expire(
    layout: ModelLayout,
    store: str,
    name: str,
    node: LockNode,
    key: Value,
    holder: Holder,
    fault: FaultClass | None,
) -> Callable[[World], tuple[Event, FaultClass | None]]:
    slot = holder if isinstance(holder, Slot) else None

    def run(world: World) -> tuple[Event, FaultClass | None]:
        _up(world, layout, store)
        if fault is not None:
            Stepper(world, layout).spend(fault)
        _replace(world, node.holders[key], holder, Loose.FREE)
        return Event(EventKind.EXPIRE, slot=slot, store=store, variable=name, item=key), fault

    return run
