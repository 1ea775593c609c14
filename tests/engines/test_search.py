"""The explicit search against a plain reference, and by hand on systems whose answers are known."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.protocol import Size, reference_protocol
from checker.engines import search as search_module
from checker.engines.closed_set import SearchedStates
from checker.engines.engine import Bounded, Budget, Coverage, Outcome, Progress, Reached, Undecided, Unreachable
from checker.engines.packing import Columns, Layout, Words
from checker.engines.search import Search
from checker.engines.state_table import Insertion, StateTable, mix
from checker.engines.symmetry import Symmetry, permuted
from checker.logic.formula import FALSE, TRUE, Formula, Role, Variable, conjunction, disjunction, equals, member, negate
from checker.transition_system import (
    Action,
    Cases,
    Constant,
    Copy,
    Form,
    Kind,
    Permutation,
    Property,
    Reachability,
    TransitionSystem,
    Update,
)
from spec.event import Event, EventKind
from tests.engines.random_systems import random_system
from tests.engines.reference import Exploration, TooLargeError, complaint, explore
from tests.stand_in import InPlaceOf


class Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[Property, Outcome] = {}
        self.coverage: Coverage | None = None
        self.reports = 0

    def progress(self, progress: Progress) -> None:
        self.reports += 1

    def decided(self, target: Property, outcome: Outcome) -> None:
        assert target not in self.outcomes
        self.outcomes[target] = outcome

    def covered(self, coverage: Coverage) -> None:
        assert self.coverage is None
        self.coverage = coverage


def decide(system: TransitionSystem, engine: Search | None = None, budget: Budget | None = None) -> Recorder:
    recorder = Recorder()
    (engine or Search()).run(system, system.properties, budget or Budget(), recorder)
    assert set(recorder.outcomes) == set(system.properties)
    assert recorder.coverage is not None
    return recorder


def outcome(system: TransitionSystem, engine: Search | None = None, budget: Budget | None = None) -> Outcome:
    [only] = decide(system, engine, budget).outcomes.values()
    return only


def step(index: int, guard: Formula, updates: dict[Variable, Update], kind: Kind = Kind.THREAD) -> Action:
    return Action(index, Event(EventKind.STEP, site=index), kind, guard, updates)


def counter(size: int, name: str = "n") -> Variable:
    return Variable(name, tuple(range(size)), 0, Role.STORE)


def up(variable: Variable, index: int = 0, kind: Kind = Kind.THREAD) -> Action:
    """Counts up to the last code and stops there."""
    table = (*range(1, variable.size), -1)
    return step(index, negate(equals(variable, variable.size - 1)), {variable: Copy(variable, table)}, kind)


def collide(columns: Columns) -> Words:
    return np.zeros(len(columns[0]), dtype=np.uint64)


def almost_collide(columns: Columns) -> Words:
    return mix(columns) >> np.uint64(61) << np.uint64(61)


# -- against the reference --------------------------------------------------------------------------------------------


def compare(system: TransitionSystem, expected: Exploration, engine: Search) -> None:
    recorder = decide(system, engine)
    sets = []
    for target in system.properties:
        found = recorder.outcomes[target]
        length = expected.violations.get(target)
        if length is not None:
            assert isinstance(found, Reached)
            assert len(found.path.actions) == length
            assert complaint(system, target, found.path) is None
            surely = expected.frontier is None or expected.frontier >= length
            assert (found.shortest is not None) == (surely and expected.open.get(target, length) >= length)
        elif expected.frontier is None:
            assert isinstance(found, Unreachable)
            assert found.depth == expected.depth
            sets.append(found.closed_set)
        else:
            bound = min(expected.frontier, expected.open.get(target, expected.frontier)) - 1
            assert found == Bounded(bound, search_module.WINDOW) if bound >= 0 else isinstance(found, Undecided)
    for closed_set in sets:
        assert closed_set is sets[0]
    if sets:
        assert sets[0].recheck() is None
        assert all(state in sets[0] for state in expected.depth_of)
        assert all(state in expected.depth_of for state in sets[0].sample(10_000, 1))
        assert sets[0].symmetric == (engine.symmetry and bool(system.swaps))
        if not sets[0].symmetric:
            assert len(sets[0]) == len(expected.depth_of)
        assert recorder.coverage == Coverage(expected.fired, complete=True)


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize(("frontiers", "wide"), [(False, 0), (True, 0), (False, 25)])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_random_systems(symmetry: bool, frontiers: bool, wide: int, seed: int) -> None:
    system = random_system(Random(seed), frontiers, wide)
    try:
        expected = explore(system, system.properties, 1_000)
    except TooLargeError:
        return
    compare(system, expected, Search(symmetry))


@pytest.mark.parametrize("hash_states", [collide, almost_collide])
@pytest.mark.parametrize("seed", range(12))
def test_collisions_change_nothing(hash_states: Callable[[Columns], Words], seed: int) -> None:
    system = random_system(Random(seed), wide=25)
    expected = explore(system, system.properties)
    compare(system, expected, Search(hash_states=hash_states))


@pytest.mark.parametrize("seed", range(20))
def test_small_chunks_change_no_verdict(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "CHUNK", 3)
    monkeypatch.setattr("checker.engines.closure.CHUNK", 2)
    monkeypatch.setattr("checker.engines.closed_set.CHUNK", 5)
    system = random_system(Random(seed))
    try:
        expected = explore(system, system.properties, 1_000)
    except TooLargeError:
        return
    compare(system, expected, Search())


@pytest.mark.parametrize("seed", range(30))
def test_the_depth_limit(seed: int) -> None:
    system = random_system(Random(seed), frontiers=True)
    try:
        expected = explore(system, system.properties, 1_000)
    except TooLargeError:
        return
    for depth in range(6):
        found = decide(system, budget=Budget(depth=depth)).outcomes
        for target, result in found.items():
            length = expected.violations.get(target)
            assert isinstance(result, Reached) == (length is not None and length <= depth)
            if isinstance(result, Reached):
                assert len(result.path.actions) == length
            elif isinstance(result, Bounded):
                assert result.depth <= depth
            assert not isinstance(result, Unreachable) or expected.depth < depth
            if expected.frontier is None and expected.depth >= depth and not isinstance(result, Reached):
                assert result == Bounded(depth, search_module.DEPTH)


@pytest.mark.parametrize("seed", range(30))
def test_a_limit_on_states_never_gives_a_wrong_answer(seed: int) -> None:
    system = random_system(Random(seed))
    try:
        expected = explore(system, system.properties, 1_000)
    except TooLargeError:
        return
    for states in (1, 2, 5, 10, 50):
        for target, result in decide(system, Search(symmetry=False), Budget(states=states)).outcomes.items():
            length = expected.violations.get(target)
            if isinstance(result, Reached):
                assert len(result.path.actions) == length
                assert complaint(system, target, result.path) is None
            elif isinstance(result, Bounded):
                assert length is None or length > result.depth
            elif isinstance(result, Unreachable):
                assert length is None
                assert len(expected.depth_of) <= states


def test_paths_are_the_same_every_time() -> None:
    for seed in range(20):
        first = decide(random_system(Random(seed)), budget=Budget(depth=8)).outcomes.values()
        again = decide(random_system(Random(seed)), budget=Budget(depth=8)).outcomes.values()
        for one, other in zip(first, again, strict=True):
            if isinstance(one, Reached):
                assert isinstance(other, Reached)
                assert one.path.states == other.path.states
                assert [a.index for a in one.path.actions] == [a.index for a in other.path.actions]


# -- the reference protocol -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "states", "depth"),
    [(Size(1, 1, 1, 1, 1), 1_410, 28), (Size(2, 1, 1, 1, 1), 148_317, 54)],
)
def test_known_state_counts(size: Size, states: int, depth: int) -> None:
    system = reference_protocol(size)
    for found in decide(system, Search(symmetry=False)).outcomes.values():
        assert isinstance(found, Unreachable)
        assert (len(found.closed_set), found.depth) == (states, depth)


def test_symmetry_keeps_one_state_of_each_orbit() -> None:
    system = reference_protocol(Size(2, 1, 2, 1, 0))
    plain = next(iter(decide(system, Search(symmetry=False)).outcomes.values()))
    reduced = next(iter(decide(system).outcomes.values()))
    assert isinstance(plain, Unreachable)
    assert isinstance(reduced, Unreachable)
    assert reduced.depth == plain.depth
    states = set(plain.closed_set.sample(1 << 30, 0))
    orbits = 0
    while states:
        queue = [states.pop()]
        orbits += 1
        for state in queue:
            for swap in system.swaps:
                image = permuted(system, state, swap)
                if image in states:
                    states.remove(image)
                    queue.append(image)
    assert len(reduced.closed_set) == orbits


@pytest.mark.parametrize("symmetry", [True, False])
def test_known_shortest_violations(symmetry: bool) -> None:
    early = reference_protocol(Size(2, 2, 2, 2, 2), early_row=True)
    late = reference_protocol(Size(2, 1, 1, 1, 1), lost_retry=True)
    for system, name, length in ((early, "no orphan", 2), (late, "executed", 16)):
        [target] = [each for each in system.properties if each.name == name]
        recorder = Recorder()
        Search(symmetry).run(system, [target], Budget(), recorder)
        found = recorder.outcomes[target]
        assert isinstance(found, Reached)
        assert found.shortest
        assert len(found.path.actions) == length
        assert complaint(system, target, found.path) is None


# -- small systems ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guarded", [True, False])
def test_two_processes_in_a_critical_section(guarded: bool) -> None:
    place = [Variable(f"place[{i}]", ("idle", "waiting", "critical"), 0, Role.CONTROL) for i in (0, 1)]
    lock = Variable("lock", (None, 0, 1), 0, Role.LOCK)
    actions: list[Action] = []
    for i in (0, 1):
        free = equals(lock, 0) if guarded else TRUE
        actions.append(step(len(actions), equals(place[i], 0), {place[i]: Constant(1)}))
        enter = conjunction((equals(place[i], 1), free))
        actions.append(step(len(actions), enter, {place[i]: Constant(2), lock: Constant(i + 1)}))
        actions.append(step(len(actions), equals(place[i], 2), {place[i]: Constant(0), lock: Constant(0)}))
    both = Property("exclusion", Form.INVARIANT, conjunction((equals(place[0], 2), equals(place[1], 2))))
    same = (0, 1, 2)
    swap = Permutation("0 <-> 1", ((place[0], place[1], same), (place[1], place[0], same), (lock, lock, (0, 2, 1))))
    system = TransitionSystem((*place, lock), tuple(actions), (both,), swaps=(swap,))
    found = outcome(system)
    if guarded:
        assert isinstance(found, Unreachable)
        assert found.closed_set.recheck() is None
        assert (2, 1, 1) in found.closed_set
        assert (1, 2, 2) in found.closed_set
        assert (2, 2, 1) not in found.closed_set
    else:
        assert isinstance(found, Reached)
        assert len(found.path.actions) == 4


@pytest.mark.parametrize(
    ("kinds", "violated"), [({Kind.THREAD, Kind.RECOVERY}, False), ({Kind.THREAD}, True), (set(), True)]
)
@pytest.mark.parametrize("watch", [True, False])
def test_who_may_save_a_state(kinds: set[Kind], violated: bool, watch: bool) -> None:
    n = counter(3)
    actions = (
        step(0, equals(n, 0), {n: Constant(1)}, Kind.FAULT),
        step(1, equals(n, 1), {n: Constant(2)}, Kind.RECOVERY),
    )
    done = equals(n, 2)
    unless = Reachability(frozenset(kinds), FALSE if watch else done, (done,) if watch else ())
    for form in (Form.AT_REST, Form.RECOVERABLE):
        system = TransitionSystem((n,), actions, (Property("saved", form, equals(n, 1), unless),))
        found = outcome(system)
        assert isinstance(found, Reached if violated else Unreachable)
        if isinstance(found, Unreachable):
            assert found.closed_set.recheck() is None


def test_a_change_and_back_is_a_change() -> None:
    """A watched formula that flickers on a cycle saves; one that is constant on the cycle does not."""
    a, b = counter(2, "a"), counter(2, "b")
    spin = step(0, TRUE, {a: Copy(a, (1, 0))})
    for watched, kind in ((a, Unreachable), (b, Reached)):
        unless = Reachability(frozenset({Kind.THREAD}), FALSE, (equals(watched, 1),))
        found = outcome(TransitionSystem((a, b), (spin,), (Property("busy", Form.AT_REST, TRUE, unless),)))
        assert isinstance(found, kind)


def test_a_halted_state_has_no_successors() -> None:
    n = counter(5)
    targets = (
        Property("three", Form.INVARIANT, equals(n, 3)),
        Property("two", Form.INVARIANT, equals(n, 2)),
        Property("moves", Form.AT_REST, TRUE, Reachability(frozenset(Kind), equals(n, 4))),
    )
    found = decide(TransitionSystem((n,), (up(n),), targets, halted=equals(n, 2))).outcomes
    assert isinstance(found[targets[0]], Unreachable)
    assert isinstance(found[targets[1]], Reached)
    stuck = found[targets[2]]
    assert isinstance(stuck, Reached)
    assert stuck.path.actions == ()


def test_a_frontier_state_is_neither_a_proof_nor_a_trap() -> None:
    n = counter(10)
    targets = (
        Property("nine", Form.INVARIANT, equals(n, 9)),
        Property("five", Form.COVER, equals(n, 5)),
        Property("moves", Form.AT_REST, TRUE, Reachability(frozenset(Kind), equals(n, 9))),
        Property("moves late", Form.AT_REST, equals(n, 4), Reachability(frozenset(Kind), equals(n, 9))),
    )
    recorder = decide(TransitionSystem((n,), (up(n),), targets, frontier=equals(n, 5)))
    found = recorder.outcomes
    assert found[targets[0]] == Bounded(4, search_module.WINDOW)
    cover = found[targets[1]]
    assert isinstance(cover, Reached)
    assert cover.shortest
    assert found[targets[2]] == Undecided(search_module.WINDOW)
    assert found[targets[3]] == Bounded(3, search_module.WINDOW)
    assert recorder.coverage == Coverage({0}, complete=False)


def test_a_step_invariant_sees_both_ends_of_the_step() -> None:
    n = counter(6)
    jump = step(1, equals(n, 3), {n: Constant(0)})
    falls = disjunction(
        conjunction((equals(n, code), member(n, (1 << code) - 1, primed=True))) for code in range(1, n.size)
    )
    for actions, kind in (((up(n),), Unreachable), ((up(n), jump), Reached)):
        found = outcome(TransitionSystem((n,), actions, (Property("grows", Form.STEP_INVARIANT, falls),)))
        assert isinstance(found, kind)
        if isinstance(found, Reached):
            assert found.path.states == ((0,), (1,), (2,), (3,), (0,))
            assert found.path.actions[-1] is jump


def test_the_initial_state_is_looked_at() -> None:
    n = counter(2)
    found = outcome(TransitionSystem((n,), (), (Property("never", Form.INVARIANT, equals(n, 0)),)))
    assert isinstance(found, Reached)
    assert found.path.states == ((0,),)


def test_an_action_that_never_fires() -> None:
    n = counter(4)
    dead = step(1, conjunction((equals(n, 2), equals(counter(2, "m"), 1))), {n: Constant(0)})
    m = next(v for part in dead.guard.args if (v := part.variable) is not None and v.name == "m")
    recorder = decide(TransitionSystem((n, m), (up(n), dead), ()))
    assert recorder.coverage == Coverage({0}, complete=True)
    assert recorder.outcomes == {}


def test_no_variables_at_all() -> None:
    found = outcome(TransitionSystem((), (step(0, TRUE, {}),), (Property("never", Form.INVARIANT, FALSE),)))
    assert isinstance(found, Unreachable)
    assert len(found.closed_set) == 1


@pytest.mark.parametrize("width", [3, 20, 40])
def test_wide_states(width: int) -> None:
    """A shift register of `width` places of 5 bits: 15, 100 and 200 bits; a token goes round and is counted."""
    places = [Variable(f"place[{i}]", tuple(range(17 + i % 16)), int(i == 0), Role.STORE) for i in range(width)]
    shift: dict[Variable, Update] = {}
    for i, variable in enumerate(places):
        before = places[i - 1]
        table = tuple(c if c < variable.size else -1 for c in range(before.size))
        if i == 0:
            table = tuple(c + 1 if 0 < c < 7 else c if c == 0 else -1 for c in range(before.size))
        shift[variable] = Copy(before, table)
    small = conjunction(member(variable, 0b1111111) for variable in places)
    action = step(0, conjunction((small, negate(equals(places[-1], 6)))), shift)
    lost = Property("lost", Form.INVARIANT, conjunction(equals(variable, 0) for variable in places))
    last = Property("last", Form.COVER, equals(places[-1], 6))
    system = TransitionSystem(tuple(places), (action,), (lost, last))
    assert Layout(system).words == -(-width * 5 // 60)
    found = decide(system).outcomes
    none, reached = found[lost], found[last]
    assert isinstance(none, Unreachable)
    assert len(none.closed_set) == 6 * width
    assert none.closed_set.recheck() is None
    assert isinstance(reached, Reached)
    assert len(reached.path.actions) == 6 * width - 1
    assert complaint(system, last, reached.path) is None


def test_codes_of_more_than_a_byte() -> None:
    n = counter(70_000)
    third = member(n, sum(1 << code for code in range(0, n.size, 30_000)) & ~1)
    system = TransitionSystem(
        (n,),
        (step(0, TRUE, {n: Copy(n, tuple((c * 2 + 1) % n.size for c in range(n.size)))}),),
        (Property("third", Form.INVARIANT, third), Property("late", Form.COVER, equals(n, 65_535))),
    )
    expected = explore(system, system.properties)
    compare(system, expected, Search())


# -- budgets ----------------------------------------------------------------------------------------------------------


def test_running_out_of_time() -> None:
    system = reference_protocol(Size(3, 2, 2, 2, 2))
    begin = time.monotonic()
    recorder = decide(system, budget=Budget(deadline=begin + 1.2))
    assert time.monotonic() - begin < 6
    assert recorder.reports >= 1
    assert recorder.coverage is not None
    assert not recorder.coverage.complete
    for found in recorder.outcomes.values():
        assert isinstance(found, Bounded)
        assert found.reason == "out of time"


def test_running_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    insert = StateTable.insert

    def limited(self: StateTable, candidates: Columns, numbered: bool = False) -> Insertion:
        if self.count > 200:
            raise MemoryError
        return insert(self, candidates, numbered)

    monkeypatch.setattr(StateTable, "insert", InPlaceOf(insert)(limited))
    system = reference_protocol(Size(1, 1, 1, 1, 1))
    for found in decide(system).outcomes.values():
        assert isinstance(found, Bounded)
        assert found.reason == search_module.MEMORY


def test_no_memory_for_the_path_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(search_module._Run, "_path", fail)
    for size in (4, 6):
        n = counter(size)
        stuck = Property("stuck", Form.AT_REST, equals(n, size - 1), Reachability(frozenset(Kind)))
        last = Property("last", Form.INVARIANT, equals(n, size - 1))
        for target in (stuck, last):
            found = outcome(TransitionSystem((n,), (up(n),), (target,)))
            assert found == Bounded(size - 2, search_module.MEMORY)


def test_a_closure_that_runs_out_of_states_gives_no_verdict() -> None:
    """The candidate is near; what saves it, or does not, is further away than the budget lets us look."""
    n, m = counter(3), counter(1_000, "m")
    actions = (
        step(0, equals(n, 0), {n: Constant(1)}, Kind.FAULT),
        step(1, negate(equals(m, 999)), {m: Copy(m, (*range(1, 1_000), -1))}),
    )
    unless = Reachability(frozenset({Kind.THREAD}), equals(m, 999))
    system = TransitionSystem((n, m), actions, (Property("saved", Form.RECOVERABLE, equals(n, 1), unless),))
    assert outcome(system, budget=Budget(states=300)) == Bounded(0, search_module.STATES)
    assert isinstance(outcome(system), Unreachable)


def test_candidates_are_decided_when_the_search_is_cut_short() -> None:
    n, m = counter(3), counter(1_000, "m")
    actions = (step(0, equals(n, 0), {n: Constant(1)}, Kind.FAULT), up(m, 1, Kind.ENVIRONMENT))
    unless = Reachability(frozenset({Kind.THREAD}), equals(n, 2))
    system = TransitionSystem((n, m), actions, (Property("saved", Form.RECOVERABLE, equals(n, 1), unless),))
    found = outcome(system, budget=Budget(depth=5))
    assert isinstance(found, Reached)
    assert len(found.path.actions) == 1
    assert found.shortest


# -- the closed set ---------------------------------------------------------------------------------------------------


def closed(system: TransitionSystem, keep: Callable[[tuple[int, ...]], bool]) -> SearchedStates:
    """The reachable states that are to be kept, as the closed set of a search that lost the others."""
    layout = Layout(system)
    kept = [layout.pack(state) for state in explore(system, ()).depth_of if keep(state)]
    columns = [np.array([words[w] for words in kept], dtype=np.uint64) for w in range(layout.words)]
    return SearchedStates(layout, columns, Symmetry(layout, ()), system.properties)


def test_recheck_finds_what_is_wrong() -> None:
    n = counter(6)
    good = Property("never", Form.INVARIANT, FALSE)

    def complain(
        *targets: Property, keep: Callable[[tuple[int, ...]], bool] = lambda s: True, frontier: Formula = FALSE
    ) -> str:
        system = TransitionSystem((n,), (up(n),), targets, frontier=frontier)
        return closed(system, keep).recheck() or ""

    assert complain(good) == ""
    assert "initial" in complain(good, keep=lambda s: s != (0,))
    assert "out of the set" in complain(good, keep=lambda s: s != (3,))
    assert "frontier" in complain(good, frontier=equals(n, 5))
    assert "violates four" in complain(Property("four", Form.INVARIANT, equals(n, 4)))
    jump = conjunction((equals(n, 3), equals(n, 4, primed=True)))
    assert "violates jump" in complain(Property("jump", Form.STEP_INVARIANT, jump))
    for goal, wrong in ((5, ""), (2, "saved")):
        unless = Reachability(frozenset(Kind), equals(n, goal))
        assert wrong in complain(Property("saved", Form.RECOVERABLE, TRUE, unless))
        easy = Property("easy", Form.RECOVERABLE, equals(n, 1), unless)
        assert complain(easy) == ""
        assert wrong in complain(easy, Property("saved", Form.RECOVERABLE, TRUE, unless))


def test_recheck_finds_updates_that_are_not_functions() -> None:
    n = counter(3)
    never = Property("never", Form.INVARIANT, FALSE)
    twice: Update = Cases(((equals(n, 0), 1), (member(n, 0b11), 1)))
    table: Update = Copy(n, (-1, 1, 1))
    for update in (twice, table):
        system = TransitionSystem((n,), (step(0, equals(n, 0), {n: update}),), (never,))
        layout = Layout(system)
        states = [np.array([0, 1, 2], dtype=np.uint64)]
        assert SearchedStates(layout, states, Symmetry(layout, ()), (never,)).recheck() is not None


def test_recheck_finds_false_symmetries() -> None:
    a, b = counter(3, "a"), counter(3, "b")
    swap = Permutation("a <-> b", ((a, b, (0, 1, 2)), (b, a, (0, 1, 2))))
    never = Property("never", Form.INVARIANT, FALSE)
    for actions, honest in (((up(a), up(b, 1)), True), ((up(a), step(1, equals(b, 0), {b: Constant(1)})), False)):
        found = outcome(TransitionSystem((a, b), actions, (never,), swaps=(swap,)))
        assert isinstance(found, Unreachable)
        assert (found.closed_set.recheck() is None) == honest


def test_swaps_that_move_the_initial_state_are_not_used() -> None:
    a = counter(3, "a")
    b = Variable("b", (0, 1, 2), 1, Role.STORE)
    swap = Permutation("a <-> b", ((a, b, (0, 1, 2)), (b, a, (0, 1, 2))))
    never = Property("never", Form.INVARIANT, FALSE)
    found = outcome(TransitionSystem((a, b), (up(a), up(b, 1)), (never,), swaps=(swap,)))
    assert isinstance(found, Unreachable)
    assert len(found.closed_set) == 6


# -- symmetry ---------------------------------------------------------------------------------------------------------


def orbit(system: TransitionSystem, state: tuple[int, ...]) -> set[tuple[int, ...]]:
    found = {state}
    queue = [state]
    for current in queue:
        for swap in system.swaps:
            image = permuted(system, current, swap)
            if image not in found:
                found.add(image)
                queue.append(image)
    return found


def stacked(layout: Layout, states: list[tuple[int, ...]]) -> Columns:
    words = [layout.pack(state) for state in states]
    return [np.array([each[w] for each in words], dtype=np.uint64) for w in range(layout.words)]


@pytest.mark.parametrize("seed", range(80))
def test_representatives_lie_in_the_orbit(seed: int) -> None:
    """All states of an orbit have one representative, and the swaps reported lead to it."""
    random = Random(seed)
    system = random_system(random, wide=seed % 2 * 25) if seed >= 4 else reference_protocol(Size(3, 2, 2, 1, 1))
    layout = Layout(system)
    symmetry = Symmetry(layout, system.swaps)
    states = [tuple(random.randrange(min(v.size, 4)) for v in system.variables) for _ in range(40)]
    batch = symmetry.representatives(stacked(layout, states))
    for place, state in enumerate(states):
        representative = [column[place : place + 1] for column in batch]
        alone, swaps = symmetry.reduce(layout.columns(state))
        assert alone == representative
        assert symmetry.apply(swaps, layout.columns(state)) == representative
        images = sorted(orbit(system, state))
        assert layout.unpack([int(column[0]) for column in representative]) in images
        for column, value in zip(symmetry.representatives(stacked(layout, images)), representative, strict=True):
            assert (column == value).all()


# -- the state table --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hash_states", [mix, collide, almost_collide])
@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("numbered", [True, False])
def test_table_numbers_states_in_order(hash_states: Callable[[Columns], Words], words: int, numbered: bool) -> None:
    random = Random(words)
    table = StateTable(words, hash_states)
    numbers: dict[tuple[int, ...], int] = {}
    for _ in range(60):
        batch = [
            tuple(random.choice((0, 1, 2, 1 << 63, (1 << 64) - 1, random.randrange(50))) for _ in range(words))
            for _ in range(random.randint(0, 40))
        ]
        columns = [np.array([state[w] for state in batch], dtype=np.uint64) for w in range(words)]
        places = []
        for place, state in enumerate(batch):
            if state not in numbers:
                numbers[state] = len(numbers)
                places.append(place)
        insertion = table.insert(columns, numbered)
        assert insertion.places.tolist() == places
        assert insertion.first + len(places) == table.count == len(numbers)
        if numbered:
            assert insertion.numbers is not None
            assert insertion.numbers.tolist() == [numbers[state] for state in batch]
    stored = zip(*(column.tolist() for column in table.columns(0, table.count)), strict=True)
    assert list(stored) == list(numbers)
