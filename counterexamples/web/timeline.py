"""A trace as a table over time: one row for each place of the state, one column for each state, all as text.

The page looks up here what stands where after any step, and which properties hold there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from counterexamples.notation import places, write_key, write_party, write_slot, write_value
from counterexamples.render import wording
from counterexamples.site import Site, sites, thread_of
from counterexamples.trace import Trace
from spec.event import Party
from spec.interpreter import EvaluationError, Interpreter
from spec.state import Activation, GlobalState, Holder, Loose
from spec.typed import Model, PropertyDeclaration, PropertyForm
from spec.value import Row, Table, Value

ABSENT = ""
"""What stands at a place that a state does not have."""
GHOSTS = "observed"
"""The lane of the ghosts."""
LINKS = "links"
"""The lane of the links."""


@dataclass(frozen=True)
class Place:
    """One place of the state.  lane: the store or process instance that has it, `observed` or `links`.

    values: what stands there in each state of the trace, ABSENT where it is not there."""

    lane: str
    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Truth:
    """Whether a property's condition holds in each state (for a step invariant: in the step that leads there): `true`,
    `false`, `undefined` where it comes to a model error, or ABSENT where the question makes no sense."""

    name: str
    form: PropertyForm
    values: tuple[str, ...]


@dataclass(frozen=True)
class Timeline:
    places: tuple[Place, ...]
    truths: tuple[Truth, ...]


def timeline(trace: Trace, interpreter: Interpreter) -> Timeline:
    """The rows of a trace: stores, processes, ghosts and links in the order of the model, then the properties."""
    known = sites(trace.model)
    columns = [dict(_places(trace.model, state, known)) for state in trace.states]
    keys = sorted({key for column in columns for key in column}, key=_Rank(trace.model, columns))
    found = tuple(
        Place(lane, name, tuple(column.get((lane, name), ABSENT) for column in columns)) for lane, name in keys
    )
    truths = tuple(_truth(declared, trace, interpreter) for declared in trace.model.properties)
    return Timeline(found, truths)


class _Rank:
    """Lanes in the order of the model; places of a lane in the order in which the states have them."""

    def __init__(self, model: Model, columns: list[dict[tuple[str, str], str]]) -> None:
        names = [store.name for store in model.stores]
        names += [write_party(Party(p.name, i)) for p in model.processes for i in range(p.instances.size)]
        self._lanes = {name: number for number, name in enumerate([*names, GHOSTS, LINKS])}
        self._places: dict[tuple[str, str], int] = {}
        for column in columns:
            for key in column:
                self._places.setdefault(key, len(self._places))

    def __call__(self, key: tuple[str, str]) -> tuple[int, int]:
        return self._lanes.get(key[0], len(self._lanes)), self._places[key]


def _places(model: Model, state: GlobalState, known: Mapping[int, Site]) -> Iterator[tuple[tuple[str, str], str]]:
    for store in model.stores:
        yield from _party(model, Party(store.name), state)
        for value in store.values:
            yield from _leaves(store.name, value.name, state.values[store.name, value.name])
        for queue in store.queues:
            entries = state.queues[store.name, queue.name].entries
            told = ", ".join(_held(model, write_value(item), holder) for item, holder in entries)
            yield (store.name, queue.name), f"[{told}]"
        for lock in store.locks:
            for key, holder, token in state.locks[store.name, lock.name].entries:
                name = lock.name if key is None else f"{lock.name}[{write_key(key)}]"
                yield (store.name, name), wording.holder(model, holder) + (f", token {token}" if token else "")
    yield from _processes(model, state, known)
    for ghost in model.ghosts:
        yield from _leaves(GHOSTS, ghost.name, state.ghosts[ghost.name])
    for party, other in sorted(state.cut, key=lambda ends: tuple(map(write_party, ends))):
        yield (LINKS, wording.link(party, other)), "cut"


def _processes(model: Model, state: GlobalState, known: Mapping[int, Site]) -> Iterator[tuple[tuple[str, str], str]]:
    for process in model.processes:
        for instance in range(process.instances.size):
            party = Party(process.name, instance)
            lane = write_party(party)
            yield from _party(model, party, state)
            for variable in process.values:
                yield from _leaves(lane, variable.name, state.process_values[process.name, instance, variable.name])
            for slot, activation in sorted(state.activations.items()):
                if (slot.process, slot.instance) == (process.name, instance):
                    name = write_slot(slot, places(model, slot)).partition(".")[2]
                    yield (lane, name), _standing(activation, known)
                    thread = thread_of(model, slot)
                    for local in () if thread is None else thread.locals:
                        if local.key in activation.locals and local.name.isidentifier():
                            yield (lane, f"{name}: {local.name}"), write_value(activation.locals[local.key])


def _standing(activation: Activation, known: Mapping[int, Site]) -> str:
    site = None if activation.at is None else known.get(activation.at)
    if site is None:
        return "about to reply"
    does = "waits for the reply to" if activation.waiting else "at"
    return f"{does} {wording.brief(site.statement)}  (line {site.statement.span.line})"


def _party(model: Model, party: Party, state: GlobalState) -> Iterator[tuple[tuple[str, str], str]]:
    if any(fault.first == party.name for fault in model.faults):
        yield (write_party(party), "is"), "down" if party in state.down else "up"


def _leaves(lane: str, name: str, value: Value) -> Iterator[tuple[tuple[str, str], str]]:
    """The smallest places below `name`: entries of maps, fields of rows."""
    if isinstance(value, Table):
        for key, item in value.entries:
            yield from _leaves(lane, f"{name}[{write_key(key)}]", item)
    elif isinstance(value, Row):
        for field, item in value.fields:
            yield from _leaves(lane, f"{name}.{field}", item)
    else:
        yield (lane, name), write_value(value)


def _held(model: Model, item: str, holder: Holder) -> str:
    if holder is Loose.VISIBLE:
        return item
    return f"{item} ({'orphaned' if holder is Loose.ORPHAN else f'taken by {wording.holder(model, holder)}'})"


def _truth(declared: PropertyDeclaration, trace: Trace, interpreter: Interpreter) -> Truth:
    values = []
    for number, state in enumerate(trace.states):
        if declared.form is PropertyForm.STEP_INVARIANT:
            before = trace.states[number - 1] if number else None
            values.append(ABSENT if before is None else _judged(declared, interpreter, before, state))
        else:
            values.append(_judged(declared, interpreter, state, None))
    return Truth(declared.name, declared.form, tuple(values))


def _judged(
    declared: PropertyDeclaration, interpreter: Interpreter, state: GlobalState, after: GlobalState | None
) -> str:
    if state.error is not None or (after is not None and after.error is not None):
        return ABSENT
    try:
        return "true" if interpreter.holds(declared.condition, state, after) else "false"
    except EvaluationError:
        return "undefined"
