"""Stores, ghosts and the variables of processes, with their types and initial values."""

from __future__ import annotations

from dataclasses import dataclass

from spec import syntax
from spec.checking.tables import unique
from spec.checking.world import World
from spec.typed import Discipline, Ghost, Lock, ProcessValue, Queue, Store, StoreValue
from spec.types import IdType, Type

StoreMember = StoreValue | Queue | Lock


@dataclass(frozen=True)
class Signature:
    """What a caller knows of a thread.  parameters: None where a type has an error.  result: None for no result;
    result_known: false when the result's type has an error."""

    node: syntax.Thread
    parameters: tuple[Type | None, ...]
    result: Type | None
    result_known: bool


@dataclass(frozen=True)
class ProcessTable:
    """A process and what belongs to it, by name; None for a variable whose type has an error."""

    node: syntax.Process
    instances: IdType | None
    values: dict[str, ProcessValue | None]
    threads: dict[str, Signature]


class Variables:
    """All declared state, resolved once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.stores: dict[str, dict[str, StoreMember | None]] = {
            name: self._store(node) for name, node in world.tables.stores.items()
        }
        self.ghosts: dict[str, Ghost | None] = {name: self._ghost(node) for name, node in world.tables.ghosts.items()}
        self.processes: dict[str, ProcessTable] = {
            name: self._process(node) for name, node in world.tables.processes.items()
        }

    def typed_stores(self) -> tuple[Store, ...]:
        """The stores, for the model."""
        result: list[Store] = []
        for name, members in self.stores.items():
            node = self._world.tables.stores[name]
            known = [member for member in members.values() if member is not None]
            result.append(
                Store(
                    name,
                    tuple(member for member in known if isinstance(member, StoreValue)),
                    tuple(member for member in known if isinstance(member, Queue)),
                    tuple(member for member in known if isinstance(member, Lock)),
                    node.span,
                    node.doc,
                )
            )
        return tuple(result)

    def _store(self, node: syntax.Store) -> dict[str, StoreMember | None]:
        members: dict[str, StoreMember | None] = {}
        names = {id(name) for name in unique(tuple(m.name for m in node.members), self._world.problems, "a member")}
        for member in node.members:
            if id(member.name) in names:
                members[member.name.name] = self._member(member)
        return members

    def _member(self, node: syntax.Variable | syntax.Queue | syntax.Lock) -> StoreMember | None:
        types, name = self._world.types, node.name.name
        match node:
            case syntax.Variable():
                kind = types.resolve(node.type)
                if kind is None:
                    return None
                initial = types.initial(kind, node.initial, node.name)
                return StoreValue(name, kind, initial, node.durable, node.span, node.doc)
            case syntax.Queue():
                item = types.key(node.item, "an item of a queue")
                discipline, capacity = Discipline.SET, None
                if node.discipline is not None:
                    discipline = Discipline.BAG if isinstance(node.discipline, syntax.Bag) else Discipline.FIFO
                    capacity = types.count(node.discipline.capacity, f"the capacity of `{name}`")
                if item is None:
                    return None
                return Queue(name, item, discipline, capacity, node.redelivers, node.durable, node.span, node.doc)
            case syntax.Lock():
                key = None if node.key is None else types.key(node.key, "the key of a lock")
                fencing = None if node.fencing is None else types.count(node.fencing, f"the greatest token of `{name}`")
                broken = (node.key is not None and key is None) or (node.fencing is not None and fencing is None)
                if broken:
                    return None
                return Lock(name, key, node.lease, fencing, node.durable, node.span, node.doc)

    def _ghost(self, node: syntax.Ghost) -> Ghost | None:
        kind = self._world.types.resolve(node.type)
        if kind is None:
            return None
        initial = self._world.types.initial(kind, node.initial, node.name)
        return Ghost(node.name.name, kind, initial, node.span, node.doc)

    def _process(self, node: syntax.Process) -> ProcessTable:
        types, problems = self._world.types, self._world.problems
        kind = types.resolve(syntax.NamedType(node.name.span, node.name.name))
        everything = (*(v.name for v in node.variables), *(t.name for t in node.threads))
        names = {id(name) for name in unique(everything, problems, f"a variable or thread of `{node.name.name}`")}
        values: dict[str, ProcessValue | None] = {}
        for variable in node.variables:
            if id(variable.name) not in names:
                continue
            name = variable.name.name
            declared = self._world.tables.declared(name)
            if declared is not None:
                problems.error("E204", variable.name.span, f"`{name}` hides another declaration", fix="rename it")
            of = types.resolve(variable.type)
            if of is None:
                values[name] = None
                continue
            initial = types.initial(of, variable.initial, variable.name)
            values[name] = ProcessValue(name, of, initial, variable.durable, variable.span, variable.doc)
        threads = {t.name.name: self._signature(t) for t in node.threads if id(t.name) in names}
        return ProcessTable(node, kind if isinstance(kind, IdType) else None, values, threads)

    def _signature(self, node: syntax.Thread) -> Signature:
        parameters = tuple(self._world.types.resolve(parameter.type) for parameter in node.parameters)
        result = None if node.result is None else self._world.types.resolve(node.result)
        return Signature(node, parameters, result, node.result is None or result is not None)
