"""All variables of a model's transition system, and the way between packed states and the states people see."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from checker.logic.formula import Role, Variable
from checker.lowering.control import START, ControlFlow, all_statements
from checker.lowering.layout import Key, Layout, Node, code_of, decode, encode, is_assigned
from checker.transition_system import State
from spec import typed
from spec.event import Party, Slot
from spec.state import Activation, ErrorKind, GlobalState, Holder, LockState, Loose, ModelError, QueueState
from spec.typed import Discipline, FaultClass, FaultKind, Model, QueueVerb, Thread, ThreadKind
from spec.types import RangeType, SetType
from spec.value import Id, Value, domain

Link = tuple[Party, Party]

IDLE: Final = "idle"


@dataclass(frozen=True)
class At:
    """Control: before the statement (START: before a body that begins with a `for`)."""

    position: int


@dataclass(frozen=True)
class Waiting:
    """Control: in the call at this statement."""

    position: int


@dataclass(frozen=True)
class Replying:
    """Control: a called handler at its end; how it will answer."""

    ending: str


@dataclass(frozen=True)
class ErrorCode:
    site: int
    assertion: bool


NO_ERROR: Final = "none"
EMPTY: Final = "empty"


@dataclass(frozen=True, eq=False)
class SetQueue:
    """items: per item, absent (None) or its holder."""

    items: Mapping[Value, Variable]


@dataclass(frozen=True, eq=False)
class BagQueue:
    """counts[item][holder]: how many."""

    counts: Mapping[Value, Mapping[Holder, Variable]]
    capacity: int


@dataclass(frozen=True, eq=False)
class FifoQueue:
    """cells: oldest first; EMPTY or (item, holder)."""

    cells: tuple[Variable, ...]


QueueNode = SetQueue | BagQueue | FifoQueue


@dataclass(frozen=True, eq=False)
class LockNode:
    """holders and last tokens by key (None for a single lock); tokens only with fencing."""

    holders: Mapping[Value, Variable]
    tokens: Mapping[Value, Variable]
    lock: typed.Lock


@dataclass(frozen=True, eq=False)
class SlotNode:
    """The variables of one activation's place."""

    slot: Slot
    process: typed.Process
    thread: Thread
    flow: ControlFlow
    control: Variable
    caller: Variable | None
    locals: Mapping[str, Node]


class ModelLayout:
    """faults: the enabled classes.  budget: how many fault events are allowed, None for any number."""

    def __init__(self, model: Model, faults: Collection[FaultClass], budget: int | None) -> None:
        self.model = model
        self.faults = tuple(f for f in model.faults if f in faults)
        self._layout = Layout()
        self.processes = {process.name: process for process in model.processes}
        self.stores = {store.name: store for store in model.stores}
        self.flows: dict[tuple[str, str], ControlFlow] = {
            (process.name, thread.name): ControlFlow(thread)
            for process in model.processes
            for thread in process.threads
        }
        self.slots_of: dict[tuple[str, str], tuple[Slot, ...]] = {
            (process.name, thread.name): tuple(
                Slot(process.name, i, thread.name, p)
                for i in range(process.instances.size)
                for p in range(thread.places)
            )
            for process in model.processes
            for thread in process.threads
        }
        self._make_links()
        self._make_stores()
        self._make_processes()
        layout = self._layout
        self.ghosts = {
            g.name: layout.node(g.name, g.type, g.initial, Role.GHOST, ("ghost", g.name)) for g in model.ghosts
        }
        self.fresh = {
            (name, index): layout.variable(
                f"used {name}#{index}", (False, True), False, Role.FRESH, ("fresh", Id(name, index))
            )
            for name in sorted(model.fresh)
            for index in range(model.ids[name].size)
        }
        codes: list[object] = [NO_ERROR]
        for process in model.processes:
            for thread in process.threads:
                for statement in all_statements(thread.body):
                    codes.append(ErrorCode(statement.id, False))
                    if isinstance(statement, typed.Assert):
                        codes.append(ErrorCode(statement.id, True))
        self.error = layout.variable("error", tuple(codes), NO_ERROR, Role.ERROR, ("error",))
        self.budget = (
            layout.variable("faults left", tuple(range(budget + 1)), budget, Role.BUDGET, ("budget",))
            if budget is not None
            else None
        )

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self._layout.variables)

    @property
    def keys(self) -> Mapping[Variable, Key]:
        return self._layout.keys

    @property
    def by_key(self) -> Mapping[Key, Variable]:
        return self._layout.by_key

    # ------------------------------------------------------------------------------------------- construction

    def instances(self, name: str) -> tuple[Party, ...]:
        """The parties that a process or store name stands for."""
        if name in self.stores:
            return (Party(name),)
        return tuple(Party(name, i) for i in range(self.processes[name].instances.size))

    @staticmethod
    def link(a: Party, b: Party) -> Link:
        """The link in its canonical direction: a process instance before a store, instances in order."""
        if a.instance is None:
            return (b, a)
        if b.instance is None:
            return (a, b)
        return (a, b) if a <= b else (b, a)

    def crashed(self, fault: FaultClass) -> tuple[Party, ...]:
        """The parties that a class of crashes strikes."""
        return self._chosen(fault.first, fault.first_instance)

    def _chosen(self, name: str, instance: int | None) -> tuple[Party, ...]:
        everything = self.instances(name)
        return everything if instance is None else (everything[instance],)

    def links(self, fault: FaultClass) -> tuple[Link, ...]:
        """The links that a class of partitions, losses or duplicates strikes."""
        assert fault.second is not None
        found = {
            self.link(a, b): None
            for a in self._chosen(fault.first, fault.first_instance)
            for b in self._chosen(fault.second, fault.second_instance)
            if a != b
        }
        return tuple(sorted(found, key=lambda link: (link[0], link[1].name, link[1].instance or 0)))

    def _make_links(self) -> None:
        self.up: dict[Party, Variable] = {}
        self.cut: dict[Link, Variable] = {}
        self.class_of: dict[tuple[FaultKind, Link], FaultClass] = {}
        """The class of each kind that strikes a link, the first one declared."""
        for fault in self.faults:
            if fault.kind is FaultKind.CRASH:
                for party in self.crashed(fault):
                    if party not in self.up:
                        self.up[party] = self._layout.variable(
                            f"{party_name(party)} is up", (False, True), True, Role.UP, ("up", party)
                        )
            elif fault.kind is not FaultKind.EXPIRE:
                for a, b in self.links(fault):
                    self.class_of.setdefault((fault.kind, (a, b)), fault)
                    if fault.kind is FaultKind.PARTITION and (a, b) not in self.cut:
                        self.cut[a, b] = self._layout.variable(
                            f"{party_name(a)} -- {party_name(b)} is cut",
                            (False, True),
                            False,
                            Role.CUT,
                            ("cut", frozenset((a, b))),
                        )

    def _make_stores(self) -> None:
        self.values: dict[tuple[str, str], Node] = {}
        self.queues: dict[tuple[str, str], QueueNode] = {}
        self.locks: dict[tuple[str, str], LockNode] = {}
        for store in self.model.stores:
            for value in store.values:
                place = (store.name, value.name)
                self.values[place] = self._layout.node(
                    f"{store.name}.{value.name}", value.type, value.initial, Role.STORE, ("store", *place)
                )
            for queue in store.queues:
                self.queues[store.name, queue.name] = self._queue(store.name, queue)
            for lock in store.locks:
                self.locks[store.name, lock.name] = self._lock(store.name, lock)

    def takers(self, store: str, name: str) -> tuple[Slot, ...]:
        """The slots whose threads may hold items of a queue, or a lock."""
        found: list[Slot] = []
        for (process, thread), flow in self.flows.items():
            for statement in all_statements(flow.thread.body):
                if (
                    isinstance(statement, typed.QueueOperation)
                    and statement.verb is QueueVerb.TAKE
                    and (statement.store, statement.queue) == (store, name)
                ) or (
                    isinstance(statement, typed.LockOperation)
                    and statement.verb is not typed.LockVerb.RELEASE
                    and (statement.store, statement.lock) == (store, name)
                ):
                    found += self.slots_of[process, thread]
                    break
        return tuple(found)

    def _queue(self, store: str, queue: typed.Queue) -> QueueNode:
        takers = self.takers(store, queue.name)
        held: tuple[Holder, ...] = (Loose.ORPHAN, *takers) if takers else ()
        holders: tuple[Holder, ...] = (Loose.VISIBLE, *held)
        name = f"{store}.{queue.name}"
        key = ("queue", store, queue.name)
        items = tuple(domain(queue.item))
        if queue.discipline is Discipline.SET:
            return SetQueue(
                {
                    item: self._layout.variable(f"{name}[{item}]", (None, *holders), None, Role.QUEUE, (*key, item))
                    for item in items
                }
            )
        assert queue.capacity is not None
        if queue.discipline is Discipline.BAG:
            counts = tuple(range(queue.capacity + 1))
            return BagQueue(
                {
                    item: {
                        holder: self._layout.variable(
                            f"{name}[{item}] {holder}", counts, 0, Role.QUEUE, (*key, item, holder)
                        )
                        for holder in holders
                    }
                    for item in items
                },
                queue.capacity,
            )
        contents: tuple[object, ...] = (EMPTY, *((item, holder) for item in items for holder in holders))
        return FifoQueue(
            tuple(
                self._layout.variable(f"{name}.{cell}", contents, EMPTY, Role.QUEUE, (*key, cell))
                for cell in range(queue.capacity)
            )
        )

    def _lock(self, store: str, lock: typed.Lock) -> LockNode:
        takers = self.takers(store, lock.name)
        held: tuple[Holder, ...] = (Loose.ORPHAN, *takers) if takers else ()
        holders: tuple[Holder, ...] = (Loose.FREE, *held)
        keys: tuple[Value, ...] = (None,) if lock.key is None else tuple(domain(lock.key))
        name = f"{store}.{lock.name}"
        return LockNode(
            {
                k: self._layout.variable(f"{name}[{k}]", holders, Loose.FREE, Role.LOCK, ("lock", store, lock.name, k))
                for k in keys
            },
            {
                k: self._layout.variable(
                    f"{name}[{k}] token",
                    tuple(range(lock.fencing + 1)),
                    0,
                    Role.LOCK,
                    ("token", store, lock.name, k),
                )
                for k in keys
            }
            if lock.fencing is not None
            else {},
            lock,
        )

    def _make_processes(self) -> None:
        self.process_values: dict[tuple[str, int, str], Node] = {}
        self.slots: dict[Slot, SlotNode] = {}
        callers = self._callers()
        for process in self.model.processes:
            for i in range(process.instances.size):
                party = Party(process.name, i)
                for value in process.values:
                    self.process_values[process.name, i, value.name] = self._layout.node(
                        f"{party_name(party)}.{value.name}",
                        value.type,
                        value.initial,
                        Role.PROCESS,
                        ("process", party, value.name),
                    )
                for thread in process.threads:
                    for slot in self.slots_of[process.name, thread.name]:
                        if slot.instance == i:
                            self.slots[slot] = self._slot(process, thread, slot, callers)

    def _callers(self) -> Mapping[tuple[str, str], tuple[Slot, ...]]:
        """The slots that may wait for an activation of a thread."""
        found: dict[tuple[str, str], dict[Slot, None]] = {}
        for place, flow in self.flows.items():
            for statement in flow.statements.values():
                if isinstance(statement, typed.Call) and not statement.send:
                    called = found.setdefault((statement.process, statement.thread), {})
                    called.update(dict.fromkeys(self.slots_of[place]))
        return {place: tuple(slots) for place, slots in found.items()}

    def _slot(
        self,
        process: typed.Process,
        thread: Thread,
        slot: Slot,
        callers: Mapping[tuple[str, str], tuple[Slot, ...]],
    ) -> SlotNode:
        flow = self.flows[process.name, thread.name]
        name = slot_name(slot)
        positions = flow.stops()
        if flow.start == START:
            positions.insert(0, START)
        codes: list[object] = [IDLE, *(At(position) for position in positions)]
        for position in sorted(flow.statements):
            statement = flow.statements[position]
            if isinstance(statement, typed.Call) and not statement.send:
                codes.append(Waiting(position))
        waiting = callers.get((process.name, thread.name), ())
        if waiting:
            codes += [Replying(ending) for ending in ("ok", "refused", "unknown", "failed")]
        begun = thread.kind is not ThreadKind.ON
        control = self._layout.variable(
            f"{name} control", tuple(codes), At(flow.start) if begun else IDLE, Role.CONTROL, ("control", slot)
        )
        caller = (
            self._layout.variable(f"{name} caller", (None, *waiting), None, Role.CALLER, ("caller", slot))
            if waiting
            else None
        )
        nodes: dict[str, Node] = {}
        for local in thread.locals:
            nodes[local.key] = self._layout.node(
                f"{name}.{local.key}", local.type, None, Role.LOCAL, ("local", slot, local.key), dead=True
            )
        for statement in flow.statements.values():
            if isinstance(statement, typed.Retry):
                hidden = f"retry:{statement.id}"
                nodes[hidden] = self._layout.node(
                    f"{name}.{hidden}",
                    RangeType(0, statement.times),
                    None,
                    Role.LOCAL,
                    ("local", slot, hidden),
                    dead=True,
                )
            elif isinstance(statement, typed.For):
                hidden = f"for:{statement.id}"
                nodes[hidden] = self._layout.node(
                    f"{name}.{hidden}",
                    SetType(statement.item_type),
                    None,
                    Role.LOCAL,
                    ("local", slot, hidden),
                    dead=True,
                )
        return SlotNode(slot, process, thread, flow, control, caller, nodes)

    # --------------------------------------------------------------------------------------- packed and back

    def decode(self, state: State) -> GlobalState:
        """The state that people see.  Locals that are dead or unassigned there are left out."""
        codes = dict(zip(self._layout.variables, state, strict=True))

        def value(variable: Variable) -> object:
            return variable.values[codes[variable]]

        activations: dict[Slot, Activation] = {}
        for slot, node in self.slots.items():
            control = value(node.control)
            if control == IDLE:
                continue
            caller = value(node.caller) if node.caller is not None else None
            assert caller is None or isinstance(caller, Slot)
            if isinstance(control, Replying):
                activations[slot] = Activation(None, {}, False, caller, control.ending)
                continue
            assert isinstance(control, At | Waiting)
            live = self.live_at(node, control)
            at = node.flow.entry if control.position == START else control.position
            activations[slot] = Activation(
                at,
                {k: decode(part, codes) for k, part in node.locals.items() if k in live and is_assigned(part, codes)},
                isinstance(control, Waiting),
                caller,
            )
        error = value(self.error)
        return GlobalState(
            values={place: decode(node, codes) for place, node in self.values.items()},
            queues={place: self._decode_queue(node, codes) for place, node in self.queues.items()},
            locks={
                place: LockState(
                    tuple(
                        (k, value(v), value(node.tokens[k]) if node.tokens else 0)  # type: ignore[misc]
                        for k, v in node.holders.items()
                    )
                )
                for place, node in self.locks.items()
            },
            process_values={place: decode(node, codes) for place, node in self.process_values.items()},
            ghosts={name: decode(node, codes) for name, node in self.ghosts.items()},
            used={
                name: frozenset(index for (of, index), v in self.fresh.items() if of == name and codes[v])
                for name in sorted(self.model.fresh)
            },
            activations=activations,
            down=frozenset(party for party, v in self.up.items() if not codes[v]),
            cut=frozenset(link for link, v in self.cut.items() if codes[v]),
            error=(
                ModelError(ErrorKind.ASSERTION if error.assertion else ErrorKind.RANGE, error.site)
                if isinstance(error, ErrorCode)
                else None
            ),
        )

    def live_at(self, node: SlotNode, control: At | Waiting) -> frozenset[str]:
        """The locals that are kept while the slot stands there."""
        if isinstance(control, Waiting):
            return node.flow.live_during(control.position)
        return node.flow.live[control.position]

    def _decode_queue(self, node: QueueNode, codes: Mapping[Variable, int]) -> QueueState:
        entries: list[tuple[Value, Holder]] = []
        match node:
            case SetQueue(items):
                for item, variable in items.items():
                    holder = variable.values[codes[variable]]
                    if holder is not None:
                        entries.append((item, holder))  # type: ignore[arg-type]
            case BagQueue(counts, _):
                for item, parts in counts.items():
                    for held, variable in parts.items():
                        entries += [(item, held)] * codes[variable]
            case FifoQueue(cells):
                for cell in cells:
                    content = cell.values[codes[cell]]
                    if content != EMPTY:
                        entries.append(content)  # type: ignore[arg-type]
                return QueueState(tuple(entries))
        return QueueState(tuple(sorted(entries, key=repr)))

    def encode(self, state: GlobalState, budget: int | None = None) -> State:
        """The packed state.  `budget`: the faults left, for a layout with a fault budget (all of them by default)."""
        codes = dict(self._initial)
        for place, node in self.values.items():
            encode(node, state.values[place], codes)
        for place, queue in self.queues.items():
            self._encode_queue(queue, state.queues[place], codes)
        for place, lock in self.locks.items():
            for k, holder, token in state.locks[place].entries:
                codes[lock.holders[k]] = code_of(lock.holders[k], holder)
                if lock.tokens:
                    codes[lock.tokens[k]] = token
        for owner, node in self.process_values.items():
            encode(node, state.process_values[owner], codes)
        for name, node in self.ghosts.items():
            encode(node, state.ghosts[name], codes)
        for (name, index), variable in self.fresh.items():
            codes[variable] = int(index in state.used.get(name, frozenset()))
        for party, variable in self.up.items():
            codes[variable] = int(party not in state.down)
        for link, variable in self.cut.items():
            codes[variable] = int(link in state.cut)
        for slot, slot_node in self.slots.items():
            self._encode_slot(slot_node, state.activations.get(slot), codes)
        if state.error is not None:
            codes[self.error] = code_of(
                self.error, ErrorCode(state.error.site, state.error.kind is ErrorKind.ASSERTION)
            )
        if self.budget is not None and budget is not None:
            codes[self.budget] = budget
        # No variable was added, so they stand in their order.
        return tuple(codes.values())

    @cached_property
    def _initial(self) -> Mapping[Variable, int]:
        return {v: v.initial for v in self._layout.variables}

    def _encode_slot(self, node: SlotNode, activation: Activation | None, codes: dict[Variable, int]) -> None:
        control: object = IDLE
        live: frozenset[str] = frozenset()
        if activation is not None:
            if activation.at is None:
                control = Replying(activation.ending or "ok")
            elif activation.waiting:
                control = Waiting(activation.at)
            elif activation.at == node.flow.entry and node.flow.start == START:
                begun = f"for:{activation.at}" in activation.locals
                control = At(activation.at if begun else START)
            else:
                control = At(activation.at)
            if isinstance(control, At | Waiting):
                live = self.live_at(node, control)
        codes[node.control] = code_of(node.control, control)
        if node.caller is not None:
            codes[node.caller] = code_of(node.caller, activation.caller if activation else None)
        for key, part in node.locals.items():
            # The others are dead, as all locals are at first.
            if activation is not None and key in live and key in activation.locals:
                encode(part, activation.locals[key], codes)

    def _encode_queue(self, node: QueueNode, state: QueueState, codes: dict[Variable, int]) -> None:
        match node:
            case SetQueue(items):
                for item, variable in items.items():
                    codes[variable] = code_of(variable, next((h for i, h in state.entries if i == item), None))
            case BagQueue(counts, _):
                for item, parts in counts.items():
                    for holder, variable in parts.items():
                        codes[variable] = sum(1 for entry in state.entries if entry == (item, holder))
            case FifoQueue(cells):
                for place, cell in enumerate(cells):
                    content: object = state.entries[place] if place < len(state.entries) else EMPTY
                    codes[cell] = code_of(cell, content)


def party_name(party: Party) -> str:
    return party.name if party.instance is None else f"{party.name}[{party.instance}]"


def slot_name(slot: Slot) -> str:
    return f"{slot.process}[{slot.instance}].{slot.thread}" + (f"#{slot.place}" if slot.place else "")
