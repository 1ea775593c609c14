"""The transpositions of interchangeable ids and process instances, as permutations of variables and codes
(scalarsets: Ip and Dill 1993)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from checker.logic.formula import Variable
from checker.lowering.control import all_statements
from checker.lowering.layout import code_of
from checker.lowering.model_layout import ErrorCode, ModelLayout
from checker.transition_system import Permutation
from spec import typed
from spec.event import Party, Slot
from spec.typed import Discipline, FaultKind, QueueVerb
from spec.value import Id, Row, Table

Exchange = Callable[[object], object]


def swaps_of(layout: ModelLayout) -> tuple[Permutation, ...]:
    """All transpositions of two members of a symmetric type."""
    found = [_swap(layout, name, i, j) for name, i, j in _transpositions(layout)]
    return tuple(permutation for permutation in found if permutation.moves)


def exchanges_of(layout: ModelLayout) -> tuple[Exchange, ...]:
    """What these transpositions do to values."""
    return tuple(_exchange(name, i, j) for name, i, j in _transpositions(layout))


def _transpositions(layout: ModelLayout) -> Iterator[tuple[str, int, int]]:
    model = layout.model
    for name in sorted(model.symmetric):
        processes = [p for p in model.processes if p.name == name]
        kind = processes[0].instances if processes else model.ids[name]
        if processes and (orders_instances(model) or _singled_out(layout, name)):
            continue
        for i, j in combinations(range(kind.size), 2):
            yield name, i, j


def orders_instances(model: typed.Model) -> bool:
    """Whether some statement tells process instances apart by their order: `remove` from a bag does."""
    bags = {(s.name, q.name) for s in model.stores for q in s.queues if q.discipline is Discipline.BAG}
    return any(
        isinstance(statement, typed.QueueOperation)
        and statement.verb is QueueVerb.REMOVE
        and (statement.store, statement.queue) in bags
        for process in model.processes
        for thread in process.threads
        for statement in all_statements(thread.body)
    )


def _singled_out(layout: ModelLayout, name: str) -> bool:
    """Whether the enabled fault classes strike some instances of the process otherwise than others."""

    def struck(exchange: Exchange) -> set[tuple[object, ...]]:
        """What can happen, with the instances exchanged."""
        found: set[tuple[object, ...]] = set()
        for fault in layout.faults:
            if fault.kind is FaultKind.CRASH:
                found |= {(fault.kind, fault.restart, fault.fairness, exchange(p)) for p in layout.crashed(fault)}
            elif fault.kind is not FaultKind.EXPIRE:
                found |= {(fault.kind, fault.fairness, frozenset(map(exchange, a))) for a in layout.links(fault)}
        return found

    size = layout.processes[name].instances.size
    pairs = combinations(range(size), 2)
    return any(struck(_exchange(name, i, j)) != struck(lambda party: party) for i, j in pairs)


def _exchange(name: str, i: int, j: int) -> Exchange:
    index = {i: j, j: i}

    def exchange(thing: object) -> object:
        match thing:
            case Id(kind, number, of_process) if kind == name:
                return Id(kind, index.get(number, number), of_process)
            case Slot(process, instance, thread, place) if process == name:
                return Slot(process, index.get(instance, instance), thread, place)
            case Party(party, instance) if party == name and instance is not None:
                return Party(party, index.get(instance, instance))
            case Row(kind, fields):
                return Row(kind, tuple((f, exchange(v)) for f, v in fields))  # type: ignore[misc]
            case Table(entries):
                pairs = [(exchange(k), exchange(v)) for k, v in entries]
                return Table(tuple(sorted(pairs, key=repr)))  # type: ignore[arg-type]
            case tuple():
                return tuple(map(exchange, thing))
            case frozenset():
                return frozenset(map(exchange, thing))
            case _:
                return thing

    return exchange


def _swap(layout: ModelLayout, name: str, i: int, j: int) -> Permutation:
    exchange = _exchange(name, i, j)
    moves: list[tuple[Variable, Variable, tuple[int, ...]]] = []
    for variable in layout.variables:
        key = exchange(layout.keys[variable])
        assert isinstance(key, tuple)
        target = layout.by_key[key]
        table = tuple(
            code if isinstance(value, ErrorCode) else code_of(target, exchange(value))
            for code, value in enumerate(variable.values)
        )
        if target is not variable or table != tuple(range(variable.size)):
            moves.append((variable, target, table))
    return Permutation(f"{name}#{i} <-> {name}#{j}", tuple(moves))
