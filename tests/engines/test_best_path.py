"""The best of the shortest paths, against a plain enumeration, and by hand."""

from __future__ import annotations

import time
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checker.engines import best_path as module
from checker.engines import bmc as bmc_module
from checker.engines import search as search_module
from checker.engines.best_path import Levels, Rank, actor, best_path, best_path_of_length, cost
from checker.engines.bmc import Bmc
from checker.engines.engine import Budget, Coverage, Outcome, Path, Progress, Reached, Unreachable
from checker.engines.packing import Columns, Layout
from checker.engines.search import Search
from checker.engines.state_table import StateTable
from checker.engines.step_relation import StepRelation
from checker.engines.symmetry import Symmetry
from checker.logic.formula import FALSE, Formula, Role, Variable, conjunction, disjunction, equals
from checker.transition_system import (
    Action,
    Constant,
    Form,
    Kind,
    Permutation,
    Property,
    Reachability,
    State,
    TransitionSystem,
)
from spec.event import Event, EventKind, Party, Slot
from tests.engines.random_systems import random_system
from tests.engines.reference import complaint, explore, holds, saved, steps

Cost = tuple[int, int, tuple[int, ...]]


class Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[Property, Outcome] = {}

    def progress(self, progress: Progress) -> None:
        return

    def decided(self, target: Property, outcome: Outcome) -> None:
        assert target not in self.outcomes
        self.outcomes[target] = outcome

    def covered(self, coverage: Coverage) -> None:
        return


def decide(system: TransitionSystem, symmetry: bool = True, budget: Budget | None = None) -> dict[Property, Outcome]:
    recorder = Recorder()
    Search(symmetry).run(system, system.properties, budget or Budget(), recorder)
    return recorder.outcomes


def found(system: TransitionSystem, symmetry: bool = True) -> Reached:
    [outcome] = decide(system, symmetry).values()
    assert isinstance(outcome, Reached)
    assert complaint(system, system.properties[0], outcome.path) is None
    return outcome


def indices(path: Path) -> list[int]:
    return [action.index for action in path.actions]


# -- against the reference --------------------------------------------------------------------------------------------


def least(system: TransitionSystem, target: Property, length: int) -> Cost | None:
    """The least cost of a walk of so many steps that ends in a violation: of all walks to the same state whose last
    actor is the same, the best one is kept, one step after the other."""
    walks: dict[tuple[State, object], Cost] = {(system.initial, None): (0, 0, ())}
    for number in range(length):
        longer: dict[tuple[State, object], Cost] = {}
        for (state, last), (faults, switches, taken) in walks.items():
            for action, after in steps(system, state):
                if (
                    target.form is Form.STEP_INVARIANT
                    and number == length - 1
                    and not holds(system, target.bad, state, after)
                ):
                    continue
                acting = action.event.slot
                price = (
                    faults + (action.kind is Kind.FAULT),
                    switches + (last is not None and acting != last),
                    (*taken, action.index),
                )
                longer[after, acting] = min(longer.get((after, acting), price), price)
        walks = longer
    if target.form is Form.STEP_INVARIANT:
        ends = walks
    else:
        ends = {
            (state, last): price
            for (state, last), price in walks.items()
            if holds(system, target.bad, state)
            and (target.unless is None or saved(system, state, target.unless) is False)
        }
    return min(ends.values(), default=None)


def compare(seed: int, frontiers: bool = False) -> int:
    """Answers how many paths were compared."""
    system = random_system(Random(seed), frontiers)
    lengths = explore(system, system.properties).violations
    compared = 0
    for symmetry in (True, False):
        outcomes = decide(system, symmetry)
        for target in system.properties:
            outcome = outcomes[target]
            assert isinstance(outcome, Reached) == (target in lengths)
            if not isinstance(outcome, Reached):
                continue
            assert complaint(system, target, outcome.path) is None
            if outcome.shortest is None:
                continue
            assert Rank.BEST.value in outcome.shortest
            assert cost(outcome.path.actions) == least(system, target, lengths[target])
            compared += 1
    return compared


@settings(max_examples=30, deadline=None)
@given(st.integers(min_value=0))
def test_no_shortest_path_is_better(seed: int) -> None:
    compare(seed)


@settings(max_examples=15, deadline=None)
@given(st.integers(min_value=0))
def test_no_shortest_path_is_better_where_the_window_ends(seed: int) -> None:
    compare(seed, frontiers=True)


@settings(max_examples=20, deadline=None)
@given(st.integers(min_value=0))
def test_the_levels_need_not_be_known(seed: int) -> None:
    system = random_system(Random(seed))
    lengths = explore(system, system.properties).violations
    for target in system.properties:
        if target in lengths:
            ranked = best_path_of_length(Layout(system), target, lengths[target], Budget())
            assert ranked is not None
            assert ranked.rank is Rank.BEST
            assert complaint(system, target, ranked.path) is None
            assert cost(ranked.path.actions) == least(system, target, lengths[target])
        else:
            for length in (0, 1, 3):
                assert best_path_of_length(Layout(system), target, length, Budget()) is None or length == 0


@settings(max_examples=20, deadline=None)
@given(st.integers(min_value=0))
@example(100_034)
def test_several_representatives_of_an_orbit_do_no_harm(seed: int) -> None:
    """Some states are kept as they are.  In the example, paths would be missed if that went unnoticed."""
    system = random_system(Random(seed))
    lengths = explore(system, system.properties).violations
    whole = Symmetry.representatives

    def careless(self: Symmetry, columns: Columns) -> Columns:
        lazy = (columns[0] ^ columns[0] >> np.uint64(3)) & np.uint64(1) == 1
        return [np.where(lazy, old, new) for old, new in zip(columns, whole(self, columns), strict=True)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Symmetry, "representatives", careless)
        for target in system.properties:
            if target in lengths:
                ranked = best_path_of_length(Layout(system), target, lengths[target], Budget())
                assert ranked is not None
                assert cost(ranked.path.actions) == least(system, target, lengths[target])


def unroll(system: TransitionSystem) -> dict[Property, Outcome]:
    recorder = Recorder()
    Bmc(default_depth=8).run(system, system.properties, Budget(), recorder)
    return recorder.outcomes


@settings(max_examples=15, deadline=None)
@given(st.integers(min_value=0))
def test_both_engines_find_the_same_path(seed: int) -> None:
    system = random_system(Random(seed))
    searched, unrolled = decide(system), unroll(system)
    for target in system.properties:
        one, other = searched[target], unrolled[target]
        if isinstance(other, Reached):
            assert isinstance(one, Reached)
            assert one.path == other.path


@settings(max_examples=25, deadline=None)
@given(st.integers(min_value=0))
def test_the_solver_finds_the_fewest_faults_where_the_states_are_too_many(seed: int) -> None:
    system = random_system(Random(seed), frontiers=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bmc_module, "_EXPLORED", 0)
        outcomes = unroll(system)
    for target, outcome in outcomes.items():
        if isinstance(outcome, Reached) and outcome.shortest is not None and outcome.path.actions:
            assert complaint(system, target, outcome.path) is None
            assert outcome.shortest.endswith(": " + Rank.FEWEST_FAULTS.value)
            best = least(system, target, len(outcome.path.actions))
            assert best is not None
            assert cost(outcome.path.actions)[0] == best[0]


# -- by hand ----------------------------------------------------------------------------------------------------------


def flag(name: str) -> Variable:
    return Variable(name, (False, True), 0, Role.STORE)


def act(
    index: int, instance: int, guard: Formula, variable: Variable, kind: Kind = Kind.THREAD, code: int = 1
) -> Action:
    return Action(
        index, Event(EventKind.STEP, slot=Slot("P", instance, "t"), site=index), kind, guard, {variable: Constant(code)}
    )


def set_once(index: int, instance: int, variable: Variable, kind: Kind = Kind.THREAD, *needs: Formula) -> Action:
    return act(index, instance, conjunction((equals(variable, 0), *needs)), variable, kind)


def both_set(*variables: Variable) -> Formula:
    return conjunction(equals(variable, 1) for variable in variables)


def all_set(*actions: Action, form: Form = Form.INVARIANT) -> TransitionSystem:
    variables = tuple(dict.fromkeys(v for action in actions for v in action.updates))
    return TransitionSystem(variables, actions, (Property("all", form, both_set(*variables)),))


@pytest.mark.parametrize("form", [Form.INVARIANT, Form.COVER])
def test_fewest_faults_come_before_fewest_switches(form: Form) -> None:
    """P0 sets a, and P0's fault or P1 sets b: without the fault there is a switch, and that path is better."""
    a, b = flag("a"), flag("b")
    system = all_set(set_once(0, 0, a), set_once(1, 0, b, Kind.FAULT), set_once(2, 1, b), form=form)
    assert indices(found(system).path) == [0, 2]


def test_fewest_switches_come_before_the_order_of_actions() -> None:
    """Independent steps 0 and 2 of P0, 1 and 3 of P1: 0 2 1 3 and 1 3 0 2 switch once, 0 1 2 3 three times."""
    a, b, c, d = map(flag, "abcd")
    system = all_set(set_once(0, 0, a), set_once(1, 1, b), set_once(2, 0, c), set_once(3, 1, d))
    assert indices(found(system).path) == [0, 2, 1, 3]


def test_the_least_actions_come_first() -> None:
    """One actor, three steps in any order."""
    a, b, c = map(flag, "abc")
    system = all_set(set_once(0, 0, c), set_once(1, 0, a), set_once(2, 0, b))
    assert indices(found(system).path) == [0, 1, 2]


def test_the_last_step_of_a_step_invariant_counts() -> None:
    """a is set by P0; then b becomes 1 by a fault of P0 or by P1, and that step is the violation."""
    a, b = flag("a"), flag("b")
    actions = (
        set_once(0, 0, a),
        set_once(1, 0, b, Kind.FAULT, equals(a, 1)),
        set_once(2, 1, b, Kind.THREAD, equals(a, 1)),
    )
    bad = conjunction((equals(b, 0), equals(b, 1, primed=True)))
    system = TransitionSystem((a, b), actions, (Property("stays", Form.STEP_INVARIANT, bad),))
    assert indices(found(system).path) == [0, 2]


@pytest.mark.parametrize(
    ("form", "kinds"), [(Form.AT_REST, {Kind.THREAD}), (Form.RECOVERABLE, set(Kind) - {Kind.FAULT})]
)
def test_only_doomed_states_are_violations(form: Form, kinds: set[Kind]) -> None:
    """After request a, the fault sets b, or P1 sets c.  P0 gets on to d unless b or c: with c a thread P2 still does.
    So only the path with the fault is a violation, although the other has none."""
    a, b, c, d = map(flag, "abcd")
    actions = (
        set_once(0, 0, a, Kind.ENVIRONMENT),
        set_once(1, 1, c, Kind.THREAD, equals(a, 1), equals(b, 0)),
        set_once(2, 0, b, Kind.FAULT, equals(a, 1), equals(c, 0)),
        set_once(3, 0, d, Kind.THREAD, equals(a, 1), equals(b, 0), equals(c, 0)),
        set_once(4, 2, d, Kind.THREAD, equals(c, 1)),
    )
    target = Property("gets on", form, equals(a, 1), Reachability(frozenset(kinds), equals(d, 1)))
    system = TransitionSystem((a, b, c, d), actions, (target,))
    assert indices(found(system).path) == [0, 2]


def test_of_twins_the_first_acts_in_every_trace() -> None:
    """Each of two twins sets its flags x and y, in this order; looked for is a twin that has both, and one that has x.

    0 1 3, 0 2 1, 1 0 2 and 1 3 0 switch once, 0 1 2 and 1 0 3 twice.  The least is 0 1 3.
    """
    x, y = [flag("x0"), flag("x1")], [flag("y0"), flag("y1")]
    actions = (
        set_once(0, 0, x[0]),
        set_once(1, 1, x[1]),
        set_once(2, 0, y[0], Kind.THREAD, equals(x[0], 1)),
        set_once(3, 1, y[1], Kind.THREAD, equals(x[1], 1)),
    )
    same = (0, 1)
    moves = tuple((v[i], v[1 - i], same) for v in (x, y) for i in range(2))
    bad = conjunction((both_set(*x), disjunction(equals(v, 1) for v in y)))
    system = TransitionSystem(
        (*x, *y), actions, (Property("p", Form.INVARIANT, bad),), swaps=(Permutation("P0 <-> P1", moves),)
    )
    assert indices(found(system, symmetry=True).path) == indices(found(system, symmetry=False).path) == [0, 1, 3]


def test_no_step_is_needed_in_a_bad_initial_state() -> None:
    a = flag("a")
    system = TransitionSystem((a,), (set_once(0, 0, a),), (Property("p", Form.INVARIANT, equals(a, 0)),))
    outcome = found(system)
    assert outcome.path.actions == ()
    assert outcome.shortest is not None
    assert Rank.BEST.value in outcome.shortest


SERVER, WORKER = Party("Server", 0), Party("Worker", 0)
SWEEP = Slot("Server", 0, "sweep")


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (Event(EventKind.REQUEST, slot=SWEEP), Event(EventKind.STEP, slot=SWEEP, site=1), True),
        (
            Event(EventKind.STEP, slot=SWEEP, site=1),
            Event(EventKind.STEP, slot=Slot("Server", 1, "sweep"), site=1),
            False,
        ),
        (Event(EventKind.CRASH, party=SERVER), Event(EventKind.RESTART, party=SERVER), True),
        (Event(EventKind.CUT, party=SERVER, other=WORKER), Event(EventKind.HEAL, party=SERVER, other=WORKER), True),
        (Event(EventKind.CRASH, party=SERVER), Event(EventKind.STEP, slot=SWEEP, site=1), False),
        (
            Event(EventKind.REDELIVER, slot=SWEEP, store="s", variable="q"),
            Event(EventKind.STEP, slot=SWEEP, site=1),
            False,
        ),
        (
            Event(EventKind.EXPIRE, slot=SWEEP, store="s", variable="q", item=1),
            Event(EventKind.EXPIRE, store="s", variable="q", item=2),
            True,
        ),
    ],
)
def test_who_acts(first: Event, second: Event, same: bool) -> None:
    assert (actor(first) == actor(second)) is same


# -- limits -----------------------------------------------------------------------------------------------------------


def two_orders() -> TransitionSystem:
    """b is set by a fault (index 0) or by P1 (index 2): what is found first has the fault."""
    a, b = flag("a"), flag("b")
    return all_set(set_once(0, 0, b, Kind.FAULT), set_once(1, 0, a), set_once(2, 1, b))


def test_too_many_states_leave_the_path_that_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "LIMIT", 1)
    outcome = found(two_orders())
    assert len(outcome.path.actions) == 2
    assert outcome.shortest is not None
    assert outcome.shortest.startswith("breadth-first search, not for fewest faults: ")


def test_too_many_real_states_leave_the_fewest_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WALKED", 1)
    outcome = found(two_orders())
    assert sorted(indices(outcome.path)) == [1, 2]
    assert outcome.shortest is not None
    assert outcome.shortest.endswith(Rank.FEWEST_FAULTS.value)


def test_no_time_is_no_path() -> None:
    system = two_orders()
    over = Budget(deadline=time.monotonic() - 1)
    assert best_path_of_length(Layout(system), system.properties[0], 2, over) is None
    layout = Layout(system)
    symmetry = Symmetry(layout, ())
    table = StateTable(layout.words)
    table.insert(layout.columns(system.initial))
    relation = StepRelation(layout, system.actions)
    assert best_path(layout, symmetry, Levels(table, [0, 1]), system.properties[0], None, over, relation) is None


def test_the_solver_asks_until_no_fault_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of six flags is set by one of four faults or by a thread."""
    monkeypatch.setattr(bmc_module, "_EXPLORED", 0)
    flags = [flag(f"f{number}") for number in range(6)]
    actions = [
        set_once(5 * place + way, way, variable, Kind.THREAD if way == 4 else Kind.FAULT)
        for place, variable in enumerate(flags)
        for way in range(5)
    ]
    system = all_set(*actions)
    outcome = unroll(system)[system.properties[0]]
    assert isinstance(outcome, Reached)
    assert cost(outcome.path.actions)[0] == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_does_not_lose_what_was_found(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(search_module, "best_path", fail)
    system = two_orders()
    recorder = Recorder()
    try:
        Search().run(system, system.properties, Budget(), recorder)
    except KeyboardInterrupt:
        assert error is KeyboardInterrupt
    outcome = recorder.outcomes[system.properties[0]]
    assert isinstance(outcome, Reached)
    assert len(outcome.path.actions) == 2


def test_a_property_that_holds_has_no_path() -> None:
    a = flag("a")
    system = TransitionSystem((a,), (set_once(0, 0, a),), (Property("p", Form.INVARIANT, FALSE),))
    assert isinstance(decide(system)[system.properties[0]], Unreachable)
