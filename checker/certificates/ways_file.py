"""Ways out as they stand in certificate files: the actions of each by number, with the event that it stands for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from checker.certificates.proof_terms import BadCertificate
from checker.certificates.rescue import Rescue
from checker.engines.saving import Saved, Saviour
from checker.logic.formula import Formula, evaluate
from checker.transition_system import Action, Property, State, TransitionSystem
from spec.event import Ending, Party, Slot


def write_way(rescue: Rescue) -> list[dict[str, object]]:
    """Each action by its number in the lowering, with the event that it stands for."""
    return [{"action": action.index, "event": _event(action)} for action in rescue.actions]


def _event(action: Action) -> str:
    told = []
    for each in fields(action.event):
        value = getattr(action.event, each.name)
        if value is not None and not (each.name == "ending" and value is Ending.OK):
            told.append(_end(value))
    return " ".join(told)


def _end(value: object) -> str:
    match value:
        case Enum():
            return str(value.value)
        case Slot(process=process, instance=instance, thread=thread, place=place):
            return f"{process}[{instance}].{thread}[{place}]"
        case Party(name=name, instance=instance):
            return name if instance is None else f"{name}[{instance}]"
        case _:
            return str(value)


def read_ways(system: TransitionSystem, target: Property, proof: Mapping[str, Any]) -> list[Rescue]:
    """The ways out that a proof states.  Raises BadCertificate where an action is not the one that is meant."""
    found = []
    for way in proof.get("ways", []) if target.unless is not None else []:
        actions = []
        for step in way:
            number = step["action"]
            if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(system.actions):
                raise BadCertificate(f"the model has no action {number!r}")
            if step["event"] != _event(system.actions[number]):
                raise BadCertificate(f"action {number} of the model is not {step['event']!r}")
            actions.append(system.actions[number])
        found.append(Rescue(tuple(actions)))
    return found


def ways_out(system: TransitionSystem, target: Property, states: Collection[State]) -> list[Rescue]:
    """For every bad state a way out."""
    unless = target.unless
    assert unless is not None
    saviour = Saviour(system)
    known: list[Formula] = []
    found = []
    for state in sorted(states):
        codes = dict(zip(system.variables, state, strict=True))
        if evaluate(target.bad, codes.__getitem__) and not any(evaluate(each, codes.__getitem__) for each in known):
            saved = saviour.look(state, unless)
            assert isinstance(saved, Saved), "a state of a closed set that was confirmed is not saved"
            known.append(saved.formula)
            found.append(Rescue(saved.actions))
    return found


__all__ = ["read_ways", "ways_out", "write_way"]
