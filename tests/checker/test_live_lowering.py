"""Live properties and fairness words, lowered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.logic.formula import FALSE, TRUE, disjunction, evaluate
from checker.lower import Lowered, lower
from checker.transition_system import Form, Kind, Property
from spec.event import EventKind, Party, fair_action
from spec.typecheck import Checked, typecheck
from spec.typed import Model
from tests.spec.typecheck_models import module

MODEL = """\
ids W[2]
store db {{
  durable done: W -> bool
  durable flag: bool
  durable queue q: W
}}
process S[2] {{
  strongly fair loop work {{
    let w = db.q.take()
    db.done[w] := true
    db.q.ack(w)
  }}
  unfair loop idle {{ db.flag := not db.flag }}
  on start(w: fresh W)[2] {{ db.q.push(w) }}
}}
faults {{
  crash S unfair
  crash db
  partition S -- db strongly fair
}}
{live}
cover ran: exists w: W. db.done[w]
"""


def model(live: str = "") -> Model:
    checked = typecheck(module(MODEL.format(live=live)))
    assert isinstance(checked, Checked), checked
    return checked.model


def lowered(live: str, symmetric: bool = True) -> tuple[Lowered, Property]:
    found = model(f"live n: {live}")
    low = lower(found if symmetric else replace(found, symmetric=frozenset()))
    return low, next(target for target in low.system.properties if target.form is Form.LIVE)


def test_what_is_fair() -> None:
    system = lower(model()).system
    strong = {constraint.name for constraint in system.fairness if constraint.strong}
    weak = {constraint.name for constraint in system.fairness if not constraint.strong}
    assert strong == {"S[0].work", "S[1].work", "heal S[0] -- db", "heal S[1] -- db"}
    starts = {f"S[{instance}].start#{place}" for instance in range(2) for place in range(2)}
    assert weak == {*starts, "restart db", "redeliver db.q[W#0]", "redeliver db.q[W#1]"}
    groups = {constraint.group for constraint in system.fairness}
    assert groups == {"S.work", "S.start", "heal S -- db", "restart db", "redeliver db.q"}


def test_which_actions_a_constraint_speaks_of() -> None:
    system = lower(model()).system
    for constraint in system.fairness:
        actions = [system.actions[index] for index in constraint.actions]
        assert len({fair_action(action.event) for action in actions}) == 1
        assert constraint.enabled is disjunction(action.guard for action in actions)
        assert {action.kind for action in actions} <= {Kind.THREAD, Kind.RECOVERY}
        assert all(action.event.strike is None for action in actions)
    spoken_of = {index for constraint in system.fairness for index in constraint.actions}
    for action in system.actions:
        owed = action.kind in (Kind.THREAD, Kind.RECOVERY)
        idle = action.event.slot is not None and action.event.slot.thread == "idle"
        unfair = idle or (action.event.kind is EventKind.RESTART and action.event.party != Party("db"))
        assert (action.index in spoken_of) == (owed and not unfair), action.event


@pytest.mark.parametrize(
    ("live", "bindings", "all_bindings"),
    [
        ("eventually db.flag", [""], [""]),
        ("forall w: W. db.flag ~> db.done[w]", ["w = W#0"], ["w = W#0", "w = W#1"]),
        (
            "forall a: W. forall b: W. db.done[a] ~> db.done[b]",
            ["a = W#0, b = W#0", "a = W#0, b = W#1"],
            ["a = W#0, b = W#0", "a = W#0, b = W#1", "a = W#1, b = W#0", "a = W#1, b = W#1"],
        ),
        (
            "forall w: W. forall f: bool. db.flag == f ~> db.done[w]",
            ["w = W#0, f = false", "w = W#0, f = true"],
            [f"w = W#{w}, f = {f}" for w in range(2) for f in ("false", "true")],
        ),
    ],
)
def test_one_case_for_each_orbit(live: str, bindings: list[str], all_bindings: list[str]) -> None:
    assert [case.binding for case in lowered(live)[1].cases] == bindings
    assert [case.binding for case in lowered(live, symmetric=False)[1].cases] == all_bindings


def test_the_shapes() -> None:
    low, target = lowered("db.flag ~> not db.flag")
    flag = next(variable for variable in low.system.variables if variable.name == "db.flag")
    [case] = target.cases
    assert target.bad is FALSE
    assert not case.from_start
    assert case.recurrent is TRUE
    assert str(case.goal) == "db.flag in {False}"
    for value in (0, 1):
        state = {variable: variable.initial for variable in low.system.variables} | {flag: value}
        assert evaluate(case.trigger, state.__getitem__) == bool(flag.values[value])
    [once] = lowered("eventually db.flag")[1].cases
    assert once.from_start
    assert once.trigger is TRUE
    assert str(once.goal) == "db.flag in {True}"
    [again] = lowered("always eventually db.flag")[1].cases
    assert not again.from_start
    assert again.trigger is TRUE
    assert str(again.goal) == "db.flag in {True}"
    [settled] = lowered("eventually always db.flag")[1].cases
    assert settled.goal is FALSE
    assert settled.trigger is TRUE
    assert str(settled.recurrent) == "db.flag in {False}"
