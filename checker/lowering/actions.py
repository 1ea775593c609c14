"""All actions of a model: every step and incident, explored and joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from checker.logic.formula import FALSE, Formula, Op, Variable, conjunction, member
from checker.lowering.incidents import Incident, incidents
from checker.lowering.layout import code_of
from checker.lowering.model_layout import IDLE, At, ErrorCode, ModelLayout, Replying, SlotNode
from checker.lowering.runner import StepError
from checker.lowering.steps import Stepper
from checker.lowering.world import World, explore
from checker.transition_system import Action, Kind, Update
from spec.event import Ending, Event
from spec.typed import FaultClass

Run = Callable[[World], tuple[Event, FaultClass | None]]


@dataclass(frozen=True, eq=False)
class Draft:
    """An action before it has its number."""

    event: Event
    kind: Kind
    fault: str | None
    guard: Formula
    updates: Mapping[Variable, Update]


class LoweringLimit(Exception):
    """The model is too large to be lowered: a step has too many ways, or time ran out."""


WAYS = 100_000
"""A step that can go in more ways than this is given up."""


def actions_of(layout: ModelLayout) -> tuple[Action, ...]:
    """Threads first, in the order of declaration, then requests, faults and recoveries.

    Raises LoweringLimit when a step has more than `WAYS` ways.
    """
    drafts: list[Draft] = []
    for node in layout.slots.values():
        for control in node.control.values:
            if control != IDLE and isinstance(control, At | Replying):
                drafts += _drafts(_step(layout, node, control), Kind.THREAD)
    for incident in incidents(layout):
        drafts += _drafts(_incident(layout, incident), incident.kind)
    return tuple(Action(i, d.event, d.kind, d.guard, d.updates, d.fault) for i, d in enumerate(_joined(drafts)))


def _step(layout: ModelLayout, node: SlotNode, control: At | Replying) -> Run:
    def run(world: World) -> tuple[Event, FaultClass | None]:
        stepper = Stepper(world, layout)
        try:
            return stepper.step(node, control), stepper.fault
        except StepError as error:
            _stop(world, layout, error)
            return replace(stepper.event, site=error.site, ending=Ending.ERROR), stepper.fault

    return run


def _incident(layout: ModelLayout, incident: Incident) -> Run:
    def run(world: World) -> tuple[Event, FaultClass | None]:
        try:
            return incident.run(world)
        except StepError as error:
            _stop(world, layout, error)
            return replace(incident.event, site=error.site, ending=Ending.ERROR), incident.fault

    return run


def _stop(world: World, layout: ModelLayout, error: StepError) -> None:
    world.restore({})
    world.set(layout.error, code_of(layout.error, ErrorCode(error.site, error.assertion)))


def _drafts(run: Run, kind: Kind) -> Iterator[Draft]:
    found: list[tuple[Event, FaultClass | None]] = []
    ways = 0

    def performed(world: World) -> None:
        nonlocal ways
        ways += 1
        if ways > WAYS:
            raise LoweringLimit(f"a step can go in more than {WAYS:,} ways")
        found.append(run(world))

    for world in explore(performed):
        event, fault = found[-1]
        yield Draft(
            event,
            Kind.FAULT if fault is not None else kind,
            None if fault is None else str(fault),
            world.guard(),
            world.updates(),
        )


def _joined(drafts: list[Draft]) -> list[Draft]:
    """Drafts of equal event and effect become one, whose guard is the disjunction, with cubes that differ in one
    variable joined (Quine 1952)."""
    groups: dict[object, list[Draft]] = {}
    for draft in drafts:
        effect = frozenset((v, u) for v, u in draft.updates.items())
        groups.setdefault((draft.event, draft.kind, draft.fault, effect), []).append(draft)
    found: list[Draft] = []
    for group in groups.values():
        guards = _join_cubes([draft.guard for draft in group])
        found += [replace(group[0], guard=guard) for guard in guards]
    return [draft for draft in found if draft.guard is not FALSE]


def _cube(guard: Formula) -> tuple[dict[Variable, int], frozenset[Formula]]:
    parts = guard.args if guard.op is Op.AND else (guard,)
    literals = {p.variable: p.mask for p in parts if p.op is Op.IN and p.variable is not None}
    return literals, frozenset(p for p in parts if p.op is not Op.IN)


def _join_cubes(guards: list[Formula]) -> list[Formula]:
    cubes = [_cube(guard) for guard in dict.fromkeys(guards)]
    joined = True
    while joined and len(cubes) > 1:
        joined = False
        for i in range(len(cubes)):
            for j in range(i + 1, len(cubes)):
                both = _join(cubes[i], cubes[j])
                if both is not None:
                    cubes[i] = both
                    del cubes[j]
                    joined = True
                    break
            if joined:
                break
    return [conjunction([*(member(v, m) for v, m in literals.items()), *rest]) for literals, rest in cubes]


def _join(
    a: tuple[dict[Variable, int], frozenset[Formula]], b: tuple[dict[Variable, int], frozenset[Formula]]
) -> tuple[dict[Variable, int], frozenset[Formula]] | None:
    if a[1] != b[1] or a[0].keys() != b[0].keys():
        return None
    different = [v for v in a[0] if a[0][v] != b[0][v]]
    if len(different) > 1:
        return None
    literals = dict(a[0])
    for v in different:
        literals[v] |= b[0][v]
    return literals, a[1]
