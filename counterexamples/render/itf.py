"""A trace in the Informal Trace Format of Apalache (its ADR-015), for the viewers and libraries that read it.

Variables are named as in the model: `postgres.workflow`, a queue or lock likewise, a process variable `Server.busy` as
a map from instances, a ghost by its bare name.  What the language has besides variables stands in variables whose
names begin with `run::`.  A state's `#meta` says which step led to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath

from counterexamples.explain import Explanation, Kind, Step
from counterexamples.notation import places, rank, write_party, write_slot, write_value
from counterexamples.render import wording
from counterexamples.render.encoding import Json
from counterexamples.site import Site
from counterexamples.trace import Trace
from spec.event import Slot
from spec.state import Activation, GlobalState, Holder, LockState, QueueState
from spec.typed import Model
from spec.value import Id, Member, Row, Table, Value

FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"
NONE = "none"
"""How an optional without a value is written; no member of an enum can be called so."""
THREADS, DOWN, CUT, USED, ERROR = "run::threads", "run::down", "run::cut", "run::used", "run::error"


def to_itf(explanation: Explanation, trace: Trace) -> str:
    """The text of the document, indented, ASCII only, with a newline at its end.  explanation: of this trace."""
    return json.dumps(document(explanation, trace), indent=1, ensure_ascii=True) + "\n"


def document(explanation: Explanation, trace: Trace) -> dict[str, Json]:
    """The document as plain data.

    `loop` is the index of the state that starts the loop; the last state, which ends it, equals that one."""
    conclusion = explanation.conclusion
    meta: dict[str, Json] = {"format": "ITF", "format-description": FORMAT, "source": trace.model.name}
    if conclusion is not None:
        meta["property"] = conclusion.name
        if conclusion.declared is not None:
            meta["form"] = conclusion.declared.form.value
    meta["constants"] = {name: write_value(value) for name, value in sorted(trace.model.constants.items())}
    meta["faults"] = [str(fault) for fault in trace.model.faults]
    states = [{"#meta": {"index": 0}, **variables(trace.states[0], trace.model, explanation.sites)}]
    for step, state in zip(explanation.steps, trace.states[1:], strict=True):
        states.append({"#meta": _meta(explanation, step), **variables(state, trace.model, explanation.sites)})
    told: dict[str, Json] = {
        "#meta": meta,
        "vars": [name for name in states[0] if name != "#meta"],
        "states": states,
    }
    return told if trace.loop is None else {**told, "loop": trace.loop}


def _meta(explanation: Explanation, step: Step) -> Json:
    """What led to a state."""
    told: dict[str, Json] = {
        "index": step.number,
        "action": wording.action(step),
        "actor": wording.actor(explanation.model, step),
        "kind": step.kind.value,
        "ending": step.event.ending.value,
    }
    if step.kind is Kind.FAULT:
        told["fault"] = step.event.kind.value if step.fault is None else str(step.fault)
    if step.event.strike is not None:
        told["strike"] = step.event.strike.value
        told["effect_kept"] = step.event.kept
    if step.site is not None:
        span = step.site.statement.span
        told["file"] = PurePath(span.source.name).name
        told["line"] = span.line
    return told


def variables(state: GlobalState, model: Model, known: Mapping[int, Site]) -> dict[str, Json]:
    """Every variable of a state by its name, in the order of declaration.  known: the model's statements."""
    told: dict[str, Json] = {}
    for store in model.stores:
        for value in store.values:
            told[f"{store.name}.{value.name}"] = encode(state.values[store.name, value.name])
        for queue in store.queues:
            told[f"{store.name}.{queue.name}"] = _queue(state.queues[store.name, queue.name], model)
        for lock in store.locks:
            told[f"{store.name}.{lock.name}"] = _lock(state.locks[store.name, lock.name], model)
    for process in model.processes:
        for owned in process.values:
            told[f"{process.name}.{owned.name}"] = {
                "#map": [
                    [f"{process.name}[{i}]", encode(state.process_values[process.name, i, owned.name])]
                    for i in range(process.instances.size)
                ]
            }
    for ghost in model.ghosts:
        told[ghost.name] = encode(state.ghosts[ghost.name])
    told[THREADS] = {
        "#map": [[_slot(slot, model), _thread(a, model, known)] for slot, a in sorted(state.activations.items())]
    }
    told[DOWN] = {"#set": sorted(map(write_party, state.down))}
    told[CUT] = {"#set": [{"#tup": list(ends)} for ends in sorted(tuple(map(write_party, ends)) for ends in state.cut)]}
    told[USED] = {"#set": [str(Id(kind, i)) for kind in sorted(state.used) for i in sorted(state.used[kind])]}
    told[ERROR] = NONE if state.error is None else state.error.kind.value
    return told


def encode(value: Value) -> Json:
    """A value: members and ids as the strings that the language writes, numbers as big integers."""
    match value:
        case None:
            return NONE
        case bool():
            return value
        case int():
            return {"#bigint": str(value)}
        case Member() | Id():
            return str(value)
        case Row(fields=fields):
            return {name: encode(item) for name, item in fields}
        case Table(entries):
            return {"#map": [[encode(key), encode(item)] for key, item in entries]}
        case tuple():
            return {"#tup": [encode(item) for item in value]}
        case frozenset():
            return {"#set": [encode(item) for item in sorted(value, key=rank)]}


def _queue(queue: QueueState, model: Model) -> Json:
    """A list of items with their holders; the oldest first in a fifo."""
    return [{"item": encode(item), "holder": _holder(holder, model)} for item, holder in queue.entries]


def _lock(lock: LockState, model: Model) -> Json:
    """A map from keys; a lock without keys is the record alone."""
    told = [
        (key, {"holder": _holder(holder, model), "token": {"#bigint": str(token)}})
        for key, holder, token in lock.entries
    ]
    if [key for key, _ in told] == [None]:
        return told[0][1]
    return {"#map": [[encode(key), state] for key, state in told]}


def _thread(activation: Activation, model: Model, known: Mapping[int, Site]) -> Json:
    site = None if activation.at is None else known.get(activation.at)
    locals_ = {key: value for key, value in activation.locals.items() if ":" not in key}
    return {
        "at": "reply" if site is None else wording.brief(site.statement),
        "waiting": activation.waiting,
        "caller": NONE if activation.caller is None else _slot(activation.caller, model),
        "locals": {"#map": [[key, encode(value)] for key, value in sorted(locals_.items())]},
    }


def _slot(slot: Slot, model: Model) -> str:
    return write_slot(slot, places(model, slot))


def _holder(holder: Holder, model: Model) -> str:
    return _slot(holder, model) if isinstance(holder, Slot) else holder.value
