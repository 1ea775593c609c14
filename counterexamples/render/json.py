"""A trace as JSON, and back.

The document follows `counterexamples/trace.schema.json`, version `counterpoint-trace/1`: the states before and after
every step in full, in an encoding that says of each value what it is, and beside them, for people and scripts, what
`counterexamples.explain` says of each step.  Reading uses the events and states alone.  Files are named without their
folders: the same trace gives the same text, byte for byte, wherever the model lies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import PurePath
from typing import Any

from counterexamples.blame import Blame, Reading
from counterexamples.change import (
    Answered,
    Change,
    Ended,
    ErrorRaised,
    IdUsed,
    LinkChange,
    LockChange,
    PartyChange,
    QueueChange,
    Started,
    Unset,
    ValueChange,
)
from counterexamples.explain import Conclusion, Explanation, Held, Standing, Step
from counterexamples.forever import Forever
from counterexamples.render import wording
from counterexamples.render.decoding import (
    Node,
    OtherModelError,
    TraceFormatError,
    decode_event,
    decode_state,
    decode_value,
)
from counterexamples.render.encoding import (
    Json,
    encode_error,
    encode_event,
    encode_holder,
    encode_party,
    encode_slot,
    encode_state,
    encode_value,
)
from counterexamples.site import Site, sites
from counterexamples.trace import Trace
from spec.event import Event
from spec.typed import Model

SCHEMA = "counterpoint-trace/1"

__all__ = [
    "SCHEMA",
    "OtherModelError",
    "TraceFormatError",
    "document",
    "from_document",
    "from_json",
    "schema",
    "to_json",
]


def to_json(explanation: Explanation, trace: Trace) -> str:
    """The text of the document, indented, ASCII only, with a newline at its end.  explanation: of this trace."""
    return json.dumps(document(explanation, trace), indent=2, ensure_ascii=True) + "\n"


def document(explanation: Explanation, trace: Trace) -> dict[str, Json]:
    """The document as plain data, for a report that holds it."""
    return {
        "schema": SCHEMA,
        "model": _model(trace.model),
        "conclusion": None if explanation.conclusion is None else _conclusion(explanation.conclusion),
        "loop": trace.loop,
        "initial": encode_state(trace.states[0]),
        "steps": [
            _step(explanation, step, after)
            for step, after in zip(explanation.steps, map(encode_state, trace.states[1:]), strict=True)
        ],
    }


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    text = resources.files("counterexamples").joinpath("trace.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


# ----------------------------------------------------------------------------------------------------------- writing


def _model(model: Model) -> Json:
    return {
        "name": model.name,
        "constants": [{"name": name, "value": encode_value(value)} for name, value in sorted(model.constants.items())],
        "faults": [str(fault) for fault in model.faults],
    }


def _step(explanation: Explanation, step: Step, after: Json) -> Json:
    return {
        "number": step.number,
        "kind": step.kind.value,
        "who": wording.actor(explanation.model, step),
        "what": wording.action(step),
        "ending": step.event.ending.value,
        "fault": None if step.fault is None else str(step.fault),
        "statement": _site(step.site),
        "obstacles": [
            {"party": encode_party(obstacle.party), "other": encode_party(obstacle.other)}
            for obstacle in step.obstacles
        ],
        "changes": [_change(change) for change in step.changes],
        "event": encode_event(step.event),
        "after": after,
    }


def _site(site: Site | None) -> Json:
    if site is None:
        return None
    span = site.statement.span
    return {
        "id": site.statement.id,
        "text": site.statement.text,
        "file": PurePath(span.source.name).name,
        "line": span.line,
        "column": span.column,
    }


def _change(change: Change) -> Json:
    match change:
        case ValueChange(scope, path, before, after, slot):
            told = {"change": "value", "scope": scope.value, "path": path, "slot": encode_slot(slot)}
            if not isinstance(before, Unset):
                told["before"] = encode_value(before)
            return {**told, "after": encode_value(after)}
        case QueueChange(path, item, before, after, move):
            return {
                "change": "queue",
                "path": path,
                "item": encode_value(item),
                "move": move.value,
                "before": encode_holder(before),
                "after": encode_holder(after),
            }
        case LockChange(path, before, after, token):
            holders = {"before": encode_holder(before), "after": encode_holder(after)}
            return {"change": "lock", "path": path, **holders, "token": token}
        case Started(slot, arguments, caller):
            return {
                "change": "started",
                "slot": encode_slot(slot),
                "arguments": _named(arguments),
                "caller": encode_slot(caller),
            }
        case Ended(slot, at, caller):
            return {"change": "ended", "slot": encode_slot(slot), "at": at, "caller": encode_slot(caller)}
        case Answered(slot):
            return {"change": "answered", "slot": encode_slot(slot)}
        case PartyChange(party, up):
            return {"change": "party", "party": encode_party(party), "up": up}
        case LinkChange(party, other, connected):
            ends = {"party": encode_party(party), "other": encode_party(other)}
            return {"change": "link", **ends, "connected": connected}
        case IdUsed(kind, index):
            return {"change": "id used", "ids": kind, "index": index}
        case ErrorRaised(error):
            return {"change": "error", "error": encode_error(error)}


def _named(values: tuple[tuple[str, Any], ...]) -> Json:
    return [{"name": name, "value": encode_value(value)} for name, value in values]


def _conclusion(conclusion: Conclusion) -> Json:
    declared = conclusion.declared
    return {
        "name": conclusion.name,
        "form": None if declared is None else declared.form.value,
        "doc": "" if declared is None else declared.doc,
        "file": None if declared is None else PurePath(declared.span.source.name).name,
        "line": None if declared is None else declared.span.line,
        "blame": None if conclusion.blame is None else _blame(conclusion.blame),
        "error": encode_error(conclusion.error),
        "statement": _site(conclusion.site),
        "stuck": [_standing(thread) for thread in conclusion.stuck],
        "threads": [_standing(thread) for thread in conclusion.threads],
        "queues": [_held(item) for item in conclusion.queues],
        "locks": [_held(lock) for lock in conclusion.locks],
        "down": [encode_party(party) for party in conclusion.down],
        "cut": [[encode_party(party), encode_party(other)] for party, other in conclusion.cut],
        "forever": None if conclusion.forever is None else _forever(conclusion.forever),
    }


def _forever(shown: Forever) -> Json:
    return {
        "bindings": _named(shown.bindings),
        "since": shown.since,
        "stays": shown.stays,
        "parts": [
            {
                "kind": part.action.kind.value,
                "slot": encode_slot(part.action.slot),
                "party": encode_party(part.action.party),
                "other": encode_party(part.action.other),
                "store": part.action.store,
                "variable": part.action.variable,
                "item": encode_value(part.action.item),  # type: ignore[arg-type]
                "fairness": part.fairness.value,
                "excuse": part.excuse.value,
                "step": part.step,
                "statement": _site(part.site),
                "idle": part.idle,
            }
            for part in shown.parts
        ],
    }


def _blame(blame: Blame) -> Json:
    return {
        "text": blame.text,
        "holds": blame.holds,
        "error": None if blame.error is None else blame.error.value,
        "bindings": _named(blame.bindings),
        "readings": [_reading(reading) for reading in blame.readings],
        "omitted": blame.omitted,
        "searched": blame.searched,
        "causes": [_blame(cause) for cause in blame.causes],
    }


def _reading(reading: Reading) -> Json:
    told = {"text": reading.text, "path": reading.path, "value": encode_value(reading.value)}
    return {**told, "after": encode_value(reading.after[0])} if reading.after else told


def _standing(thread: Standing) -> Json:
    return {
        "slot": encode_slot(thread.slot),
        "statement": _site(thread.site),
        "callee": encode_slot(thread.callee),
        "locals": _named(thread.locals),
        "moves": thread.moves,
    }


def _held(held: Held) -> Json:
    return {
        "path": held.path,
        "item": encode_value(held.item),
        "holder": encode_holder(held.holder),
    }


# ----------------------------------------------------------------------------------------------------------- reading


def from_json(text: str, model: Model) -> Trace:
    """The trace that `to_json` wrote.  Raises TraceFormatError when the text is not such a document, and its subclass
    OtherModelError when it is not one of this model: another name, other constants, statements or variables.  Whether
    the steps are the model's is for `counterexamples.replay` to say."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceFormatError("", f"is no JSON: {error}") from None
    return from_document(data, model)


def from_document(data: object, model: Model) -> Trace:
    """As `from_json`, from the document as plain data."""
    root = Node(data)
    found = root.field("schema").text()
    if found != SCHEMA:
        raise root.field("schema").error(f"is {found!r}, and only {SCHEMA!r} can be read")
    _same_model(root.field("model"), model)
    states = [decode_state(root.field("initial"), model)]
    events = []
    known = sites(model)
    for number, step in enumerate(root.field("steps").items(), 1):
        event = decode_event(step.field("event"))
        _same_statement(step, event, known, number)
        events.append(event)
        states.append(decode_state(step.field("after"), model))
    loop = root.field("loop").maybe(Node.number)
    if loop is not None and loop >= len(states):
        raise root.field("loop").error(f"must be less than {len(states)}")
    return Trace(model, tuple(states), tuple(events), loop)


def _same_model(node: Node, model: Model) -> None:
    name = node.field("name").text()
    if name != model.name:
        raise node.field("name").mismatch(f"is {name!r}, and the model is {model.name!r}")
    told = {c.field("name").text(): decode_value(c.field("value")) for c in node.field("constants").items()}
    if told != dict(model.constants):
        different = sorted(k for k in {*told, *model.constants} if told.get(k) != model.constants.get(k))
        raise node.field("constants").mismatch(f"differ from the model's in {', '.join(different) or 'their names'}")


def _same_statement(step: Node, event: Event, known: Mapping[int, Site], number: int) -> None:
    if event.site is None:
        return
    site = known.get(event.site)
    if site is None:
        raise step.field("event").field("site").mismatch(f"the model has no statement {event.site}", number)
    text = step.field("statement").field("text").text()
    if text != site.statement.text:
        problem = f"is {text!r}, and the model's is {site.statement.text!r}"
        raise step.field("statement").field("text").mismatch(problem, number)
