"""What every run owes: the fairness constraints of a model (docs/language.md, "Fairness")."""

from __future__ import annotations

from collections.abc import Iterable

from checker.logic.formula import disjunction
from checker.lowering.model_layout import ModelLayout
from checker.transition_system import Action, FairnessConstraint, Kind
from spec.event import EventKind, FairAction, Party, fair_action
from spec.typed import Fairness, FaultKind

_STRENGTH = (Fairness.UNFAIR, Fairness.WEAK, Fairness.STRONG)


def fairness_of(layout: ModelLayout, actions: Iterable[Action]) -> tuple[FairnessConstraint, ...]:
    """One constraint for each slot and each recovery that the model wants to be fair, over actions of its lowering, in
    the order of the first of them."""
    groups: dict[FairAction, list[Action]] = {}
    for action in actions:
        if action.kind in (Kind.THREAD, Kind.RECOVERY):
            fair = fair_action(action.event)
            if fair is not None:
                groups.setdefault(fair, []).append(action)
    found = []
    for fair, members in groups.items():
        fairness = _fairness(layout, fair)
        if fairness is not Fairness.UNFAIR:
            name, group = _names(layout, fair)
            enabled = disjunction(action.guard for action in members)
            indices = frozenset(action.index for action in members)
            found.append(FairnessConstraint(name, group, fairness is Fairness.STRONG, enabled, indices))
    return tuple(found)


def _fairness(layout: ModelLayout, fair: FairAction) -> Fairness:
    """Of several fault classes with the same recovery the one that asks for most decides."""
    match fair.kind:
        case EventKind.STEP:
            assert fair.slot is not None
            process = layout.processes[fair.slot.process]
            return next(thread.fairness for thread in process.threads if thread.name == fair.slot.thread)
        case EventKind.RESTART:
            crashes = [f for f in layout.faults if f.kind is FaultKind.CRASH and f.restart]
            asked = [f.fairness for f in crashes if fair.party in layout.crashed(f)]
        case EventKind.HEAL:
            assert fair.party is not None
            assert fair.other is not None
            cuts = [f for f in layout.faults if f.kind is FaultKind.PARTITION]
            asked = [f.fairness for f in cuts if (fair.party, fair.other) in layout.links(f)]
        case _:
            return Fairness.WEAK
    return max(asked, key=_STRENGTH.index)


def _names(layout: ModelLayout, fair: FairAction) -> tuple[str, str]:
    """The name of a constraint, and what it is one of."""
    match fair.kind:
        case EventKind.STEP:
            slot = fair.slot
            assert slot is not None
            process = layout.processes[slot.process]
            places = next(thread.places for thread in process.threads if thread.name == slot.thread)
            place = f"#{slot.place}" if places > 1 else ""
            return f"{slot.process}[{slot.instance}].{slot.thread}{place}", f"{slot.process}.{slot.thread}"
        case EventKind.RESTART:
            assert fair.party is not None
            return f"restart {_party(fair.party)}", f"restart {fair.party.name}"
        case EventKind.HEAL:
            assert fair.party is not None
            assert fair.other is not None
            name = f"heal {_party(fair.party)} -- {_party(fair.other)}"
            return name, f"heal {fair.party.name} -- {fair.other.name}"
        case kind:
            where = f"{fair.store}.{fair.variable}"
            return f"{kind.value} {where}[{fair.item}]", f"{kind.value} {where}"


def _party(party: Party) -> str:
    return party.name if party.instance is None else f"{party.name}[{party.instance}]"


__all__ = ["fairness_of"]
