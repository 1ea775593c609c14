"""Values, states and events as plain JSON data: dicts, lists, strings, numbers, booleans and None.

Every value says what it is, so that a reader needs no model; `counterexamples.render.decoding` reads it back.  What is
unordered is sorted, so that equal things have equal encodings.
"""

from __future__ import annotations

from typing import Any

from counterexamples.notation import rank
from spec.event import Event, Party, Slot
from spec.state import Activation, GlobalState, Holder, Loose, ModelError
from spec.value import Id, Member, Row, Table, Value

Json = Any


def encode_value(value: Value) -> Json:
    """none, bools and numbers as themselves; else an object with one telling key first: `enum`, `ids`, `instance_of`,
    `record`, `map`, `tuple` or `set`."""
    match value:
        case None | bool() | int():
            return value
        case Member(enum, name):
            return {"enum": enum, "member": name}
        case Id(kind, index, of_process):
            return {"instance_of" if of_process else "ids": kind, "index": index}
        case Row(kind, fields):
            return {"record": kind, "fields": [[name, encode_value(item)] for name, item in fields]}
        case Table(entries):
            return {"map": [[encode_value(key), encode_value(item)] for key, item in entries]}
        case tuple():
            return {"tuple": [encode_value(item) for item in value]}
        case frozenset():
            return {"set": [encode_value(item) for item in sorted(value, key=rank)]}


def encode_slot(slot: Slot | None) -> Json:
    if slot is None:
        return None
    return {"process": slot.process, "instance": slot.instance, "thread": slot.thread, "place": slot.place}


def encode_party(party: Party | None) -> Json:
    return None if party is None else {"name": party.name, "instance": party.instance}


def encode_holder(holder: Holder | None) -> Json:
    """A slot, or `visible`, `orphan`, `free`."""
    return holder.value if isinstance(holder, Loose) else encode_slot(holder)


def encode_error(error: ModelError | None) -> Json:
    return None if error is None else {"kind": error.kind.value, "site": error.site}


def encode_event(event: Event) -> Json:
    return {
        "kind": event.kind.value,
        "slot": encode_slot(event.slot),
        "site": event.site,
        "ending": event.ending.value,
        "strike": None if event.strike is None else event.strike.value,
        "kept": event.kept,
        "party": encode_party(event.party),
        "other": encode_party(event.other),
        "callee": encode_slot(event.callee),
        "store": event.store,
        "variable": event.variable,
        "item": encode_value(event.item),  # type: ignore[arg-type]
    }


def encode_state(state: GlobalState) -> Json:
    return {
        "values": [
            {"store": store, "name": name, "value": encode_value(value)}
            for (store, name), value in sorted(state.values.items(), key=_key)
        ],
        "queues": [
            {
                "store": store,
                "name": name,
                "entries": [
                    {"item": encode_value(item), "holder": encode_holder(holder)} for item, holder in queue.entries
                ],
            }
            for (store, name), queue in sorted(state.queues.items(), key=_key)
        ],
        "locks": [
            {
                "store": store,
                "name": name,
                "entries": [
                    {"key": encode_value(key), "holder": encode_holder(holder), "token": token}
                    for key, holder, token in lock.entries
                ],
            }
            for (store, name), lock in sorted(state.locks.items(), key=_key)
        ],
        "process_values": [
            {"process": process, "instance": instance, "name": name, "value": encode_value(value)}
            for (process, instance, name), value in sorted(state.process_values.items(), key=_key)
        ],
        "ghosts": [
            {"name": name, "value": encode_value(value)} for name, value in sorted(state.ghosts.items(), key=_key)
        ],
        "used": [{"ids": kind, "indices": sorted(indices)} for kind, indices in sorted(state.used.items(), key=_key)],
        "activations": [
            _activation(slot, activation) for slot, activation in sorted(state.activations.items(), key=_key)
        ],
        "down": [encode_party(party) for party in sorted(state.down, key=_party_key)],
        "cut": [
            [encode_party(party), encode_party(other)]
            for party, other in sorted(state.cut, key=lambda link: (_party_key(link[0]), _party_key(link[1])))
        ],
        "error": encode_error(state.error),
    }


def _activation(slot: Slot, activation: Activation) -> Json:
    return {
        "slot": encode_slot(slot),
        "at": activation.at,
        "locals": [
            {"key": key, "value": encode_value(value)} for key, value in sorted(activation.locals.items(), key=_key)
        ],
        "waiting": activation.waiting,
        "caller": encode_slot(activation.caller),
        "ending": activation.ending,
    }


def _key(item: tuple[Any, Any]) -> Any:
    return item[0]


def _party_key(party: Party) -> tuple[str, int]:
    return party.name, -1 if party.instance is None else party.instance
