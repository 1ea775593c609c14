from __future__ import annotations

import dataclasses
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from random import Random

import pytest

from benchmarks.protocol import Size, reference_protocol
from checker.certificates.invariant import Invariant, check
from checker.engines import frames
from checker.engines.cubes import Cube, Space
from checker.engines.engine import Bounded, Budget, Coverage, Inductive, Outcome, Progress, Reached, Undecided
from checker.engines.ic3 import Ic3, _Run, take_turns
from checker.engines.preimages import Blocked, Preimages
from checker.engines.state_clauses import StateClauses
from checker.logic.formula import FALSE, TRUE, Formula, Role, Variable, conjunction, equals, evaluate, member, negate
from checker.logic.sat import GaveUp, Incremental, sat_solver
from checker.logic.solver import Model
from checker.transition_system import (
    Cases,
    Constant,
    Copy,
    Form,
    Kind,
    Permutation,
    Property,
    Reachability,
    State,
    TransitionSystem,
)
from tests.engines.random_systems import random_system
from tests.engines.reference import TooLargeError, complaint, explore, steps
from tests.engines.test_bmc import Draft, counting, invariant, rest_system, system_of

FEW = 400
"""Of a system with more states only the properties of single states and steps are compared."""


class Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[Property, Outcome] = {}

    def progress(self, progress: Progress) -> None:
        assert progress.engine == "ic3"

    def decided(self, target: Property, outcome: Outcome) -> None:
        assert target not in self.outcomes
        self.outcomes[target] = outcome

    def covered(self, coverage: Coverage) -> None:
        raise AssertionError("ic3 has nothing to say about coverage")


def outcomes(system: TransitionSystem, engine: Ic3 | None = None, budget: Budget | None = None) -> list[Outcome]:
    recorder = Recorder()
    (engine or Ic3()).run(system, system.properties, budget or Budget(), recorder)
    return [recorder.outcomes[target] for target in system.properties]


def compare(system: TransitionSystem, engine: Ic3, name: object, checked: bool = True) -> None:
    """With the plainest search: same verdicts, real paths, proofs that the independent check accepts."""
    try:
        explore(system, (), FEW)
    except TooLargeError:
        # For each bad state the reference looks at all that follow it.
        near = tuple(target for target in system.properties if target.unless is None)
        system = dataclasses.replace(system, properties=near)
    known = explore(system, system.properties)
    for target, outcome in zip(system.properties, outcomes(system, engine), strict=True):
        where = (name, target.name, outcome)
        violated, unknown = known.violations.get(target), known.open.get(target)
        if isinstance(outcome, Reached):
            assert violated is not None, where
            assert complaint(system, target, outcome.path) is None, where
            if outcome.shortest is not None:
                assert len(outcome.path.actions) == violated, where
        elif isinstance(outcome, Inductive):
            assert violated is None, where
            assert known.frontier is None, where
            if checked:
                assert check(system, target, outcome.invariant, rescues=outcome.rescues) is None, where
        else:
            # Only the end of the explored window, or a state that may be saved beyond it, keeps IC3 from an answer.
            assert known.frontier is not None, where
            assert violated is None or (unknown is not None and target.unless is not None), where
            limit = min(known.frontier, known.frontier if unknown is None else unknown)
            assert isinstance(outcome, Undecided if limit == 0 else Bounded), where
            if isinstance(outcome, Bounded):
                assert outcome.depth < limit, where


@pytest.mark.parametrize("chunk", range(20))
def test_random_systems_against_the_reference(chunk: int) -> None:
    for seed in range(chunk * 27, chunk * 27 + 27):
        system = random_system(Random(seed), frontiers=seed % 3 == 0, wide=2 if seed % 5 == 4 else 0)
        compare(system, Ic3(symmetry=seed % 2 == 0), seed)


def test_without_python_sat_the_verdicts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat", None)
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    for seed in range(40):
        compare(random_system(Random(seed), frontiers=seed % 3 == 0), Ic3(), seed, checked=False)


def test_a_solver_made_anew_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_WASTE", -1_000_000)
    monkeypatch.setattr(frames.Frames, "_fresh", counted := _Counted(frames.Frames._fresh))
    for seed in range(60):
        compare(random_system(Random(seed)), Ic3(), seed, checked=False)
    assert counted.calls > 100


class _Counted:
    """A method that counts its calls."""

    def __init__(self, method: Callable[[frames.Frames], StateClauses]) -> None:
        self.method = method
        self.calls = 0

    def __get__(self, instance: frames.Frames, owner: type) -> Callable[[], StateClauses]:
        def call() -> StateClauses:
            self.calls += 1
            return self.method(instance)

        return call


def test_too_many_images_and_the_symmetries_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.engines.ic3.LARGEST_ORBIT", 1)
    for seed in range(60):
        compare(random_system(Random(seed)), Ic3(), seed, checked=False)


def test_short_turns_change_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.engines.ic3._FIRST_TURN", 1e-9)
    properties = calls = 0
    decide = _Run.decide

    def counted(run: _Run, target: Property, budget: Budget) -> Outcome:
        nonlocal calls
        calls += 1
        return decide(run, target, budget)

    monkeypatch.setattr(_Run, "decide", counted)
    for seed in range(60):
        system = random_system(Random(seed), frontiers=seed % 3 == 0)
        properties += len(system.properties)
        compare(system, Ic3(symmetry=seed % 2 == 0), seed)
    assert calls > 3 * properties


def test_a_hard_property_does_not_keep_the_others_waiting() -> None:
    """Seconds that each property takes: the second is decided before the first, and each round is longer."""
    now = 0.0
    needed = {"hard": 9.0, "easy": 1.0, "never": 1e9}
    asked: list[str] = []
    proof = Inductive(Invariant(()), 1)

    def decide(target: Property, budget: Budget) -> Outcome:
        nonlocal now
        asked.append(target.name)
        assert budget.deadline is not None
        seconds = needed[target.name]
        if now + seconds <= budget.deadline:
            now += seconds
            return proof
        now = max(now, budget.deadline)
        # In its second turn, of 8 s, it comes to depth 7, in the last one no further than to depth 2.
        return Bounded(7 if asked.count(target.name) == 2 else 2, "out of time")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("checker.engines.ic3.time.monotonic", lambda: now)
        patch.setattr("checker.engines.engine.time.monotonic", lambda: now)
        recorder = Recorder()
        left = [Property(name, Form.INVARIANT, FALSE) for name in needed]
        take_turns(decide, left, Budget(deadline=60.0), recorder)
    # Turns of 2 s: hard, easy, never; of 8 s: hard, never; of 32 s: hard, and then `never` has all the rest.
    assert asked == ["hard", "easy", "never", "hard", "never", "hard", "never"]
    assert [(target.name, outcome) for target, outcome in recorder.outcomes.items()] == [
        ("easy", proof),
        ("hard", proof),
        ("never", Bounded(7, "out of time")),
    ]
    assert not left


# -- steps backwards, against brute force ---------------------------------------------------------------------------


def states_of(system: TransitionSystem) -> list[State]:
    return list(itertools.product(*(range(variable.size) for variable in system.variables)))


def inside(space: Space, cube: Cube, state: State) -> bool:
    return not space.state_bits(state) & ~cube.bits


@pytest.mark.parametrize("chunk", range(5))
def test_preimages_of_random_cubes(chunk: int) -> None:
    kinds = set()
    for seed in range(chunk * 12, chunk * 12 + 12):
        random = Random(seed)
        system = random_system(random, frontiers=seed % 3 == 0)
        if math.prod(variable.size for variable in system.variables) > 2_000:
            continue
        space = Space(system.variables)
        preimages = Preimages(system, space)
        everywhere = [
            (state, [(action, after) for action, after in steps(system, state)]) for state in states_of(system)
        ]
        for _ in range(12):
            clauses = StateClauses(space, sat_solver())
            known = [random_cube(random, space) for _ in range(random.randint(0, 3))]
            for other in known:
                clauses.exclude(other)
            allowed = [each for each in everywhere if not any(inside(space, other, each[0]) for other in known)]
            cube = random_cube(random, space)
            if space.holds_initially(cube):
                continue
            answer = preimages.blocked(clauses, cube, ())
            kinds.add(type(answer))
            if isinstance(answer, Blocked):
                weaker = answer.cube
                assert cube.within(weaker.bits)
                assert not space.holds_initially(weaker)
                for state, following in allowed:
                    if not inside(space, weaker, state):
                        assert not any(inside(space, weaker, after) for _, after in following)
            else:
                origins = [each for each in everywhere if inside(space, answer.cube, each[0])]
                assert origins
                for _, following in origins:
                    assert any(action is answer.action and inside(space, cube, after) for action, after in following)
                assert any(
                    not inside(space, cube, state) and inside(space, cube, after)
                    for state, following in allowed
                    for _, after in following
                )
    assert len(kinds) == 2


def random_cube(random: Random, space: Space) -> Cube:
    places = [place for place, full in enumerate(space.full) if full > 1]
    chosen = random.sample(places, random.randint(1, min(3, len(places))))
    return space.cube({place: random.randrange(1, space.full[place]) for place in chosen})


# -- small systems whose answers are known by hand --------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 6, 7, 16, 17, 40])
def test_the_deadlock_state_is_found_and_nothing_beyond(size: int) -> None:
    x = Variable("x", tuple(range(size + 1)), 0, Role.STORE)
    count: Draft = (member(x, (1 << size - 1) - 1), {x: Copy(x, (*range(1, size + 1), -1))})
    system = system_of([x], [count], [invariant(equals(x, size - 1)), invariant(equals(x, size))])
    last, beyond = outcomes(system)
    assert isinstance(last, Reached)
    assert last.path.states == tuple((code,) for code in range(size))
    assert last.shortest is not None
    assert isinstance(beyond, Inductive)
    assert check(system, system.properties[1], beyond.invariant) is None


def test_a_violation_in_the_initial_state_and_in_the_first_step() -> None:
    x, step = counting(3)
    first = invariant(conjunction((equals(x, 0), equals(x, 1, primed=True))), Form.STEP_INVARIANT)
    state, move = outcomes(system_of([x], [step], [invariant(equals(x, 0)), first]))
    assert isinstance(state, Reached)
    assert state.path.states == ((0,),)
    assert isinstance(move, Reached)
    assert move.path.states == ((0,), (1,))
    (none,) = outcomes(system_of([x], [(FALSE, {})], [invariant(TRUE, Form.STEP_INVARIANT)]))
    assert isinstance(none, Inductive)


def test_an_action_that_is_never_enabled_and_its_twin() -> None:
    x, step = counting(4)
    y = Variable("y", (False, True), 0, Role.GHOST)
    target = invariant(equals(y, 1), Form.COVER)
    dead: Draft = (conjunction((equals(x, 2), equals(y, 1))), {y: Constant(1)})
    live: Draft = (conjunction((equals(x, 2), equals(y, 0))), {y: Constant(1)})
    (without,) = outcomes(system_of([x, y], [step, dead], [target]))
    (with_live,) = outcomes(system_of([x, y], [step, dead, live], [target]))
    assert isinstance(without, Inductive)
    assert isinstance(with_live, Reached)
    assert len(with_live.path.actions) == 3


def test_a_halted_state_has_no_successors_but_can_be_bad() -> None:
    x, step = counting(5)
    halted, beyond = outcomes(
        system_of([x], [step], [invariant(equals(x, 2)), invariant(equals(x, 3))], halted=equals(x, 2))
    )
    assert isinstance(halted, Reached)
    assert isinstance(beyond, Inductive)


def test_beyond_the_frontier_there_is_no_proof_and_no_shortest_path() -> None:
    x, step = counting(6)
    y = Variable("y", (0, 1, 2), 0, Role.STORE)
    aside: Draft = (conjunction((equals(x, 0), equals(y, 0))), {y: Constant(1)})
    system = system_of(
        [x, y],
        [step, aside],
        [invariant(equals(x, 1)), invariant(equals(x, 5)), invariant(equals(y, 2))],
        frontier=conjunction((equals(x, 1), equals(y, 1))),
    )
    before, beyond, never = outcomes(system)
    assert isinstance(before, Reached)
    assert isinstance(beyond, Reached)
    assert len(beyond.path.actions) == 5
    assert beyond.shortest is None
    # The frontier state is two steps away, by `aside` and `step`.
    assert never == Bounded(1, "an unbounded integer left the explored window")


def test_a_frontier_that_is_unreachable_is_part_of_the_proof() -> None:
    x, step = counting(4)
    y = Variable("y", (0, 1), 0, Role.STORE)
    target = invariant(conjunction((equals(x, 1), equals(y, 1))))
    system = system_of([x, y], [step], [target], frontier=conjunction((equals(x, 3), equals(y, 1))))
    (found,) = outcomes(system)
    assert isinstance(found, Inductive)
    assert check(system, target, found.invariant, rescues=found.rescues) is None
    without_frontier = system_of([x, y], [step], [target])
    assert check(without_frontier, target, found.invariant) is None


def test_recovery_saves_a_crashed_state_only_where_it_counts() -> None:
    """The expected answers are those of the same test of bounded model checking, with proofs in place of bounds."""
    system = rest_system(back=True)
    rest, recovers, moves = outcomes(system)
    assert isinstance(rest, Reached)
    assert rest.path.states == ((0,), (1,), (2,))
    assert isinstance(recovers, Inductive)
    ways = recovers.rescues
    assert {tuple(action.kind for action in rescue.actions) for rescue in ways} == {
        (Kind.THREAD,),
        (Kind.RECOVERY, Kind.THREAD),
    }
    target = system.properties[1]
    assert check(system, target, recovers.invariant, rescues=ways) is None
    for way in ways:
        assert check(system, target, recovers.invariant, rescues=[way]) is not None
    assert isinstance(moves, Reached)
    assert moves.path.states == ((0,), (1,))
    rest, recovers, moves = outcomes(rest_system(back=False))
    assert isinstance(rest, Reached)
    assert isinstance(recovers, Reached)
    assert recovers.path.states == ((0,), (1,), (2,))
    assert isinstance(moves, Reached)


def test_a_deadlock_is_a_violation_and_its_twin_is_saved() -> None:
    """Two locks taken in turn by two threads: in opposite order both may wait for ever."""

    def system(opposite: bool) -> TransitionSystem:
        one, two = (Variable(name, (0, 1, 2), 0, Role.CONTROL) for name in ("one", "two"))
        locks = [Variable(name, ("free", 1, 2), 0, Role.LOCK) for name in ("a", "b")]
        drafts: list[Draft] = []
        for number, thread in ((1, one), (2, two)):
            first, second = locks if number == 1 or not opposite else locks[::-1]
            for before, lock in enumerate((first, second)):
                free = conjunction((equals(thread, before), equals(lock, 0)))
                drafts.append((free, {thread: Constant(before + 1), lock: Constant(number)}))
            drafts.append((equals(thread, 2), {thread: Constant(0), first: Constant(0), second: Constant(0)}))
        done = equals(one, 2)
        unless = Reachability(frozenset({Kind.THREAD}), done)
        return system_of([one, two, *locks], drafts, [Property("goes on", Form.RECOVERABLE, negate(done), unless)])

    (stuck,) = outcomes(system(opposite=True))
    assert isinstance(stuck, Reached)
    assert stuck.path.states[-1] == (1, 1, 1, 2)
    ordered = system(opposite=False)
    (free,) = outcomes(ordered)
    assert isinstance(free, Inductive)
    assert check(ordered, ordered.properties[0], free.invariant, rescues=free.rescues) is None


def test_too_many_states_on_the_way_to_the_goal_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    x, step = counting(12)
    target = Property("end", Form.RECOVERABLE, equals(x, 1), Reachability(frozenset(Kind), FALSE))
    system = system_of([x], [step], [target])
    (found,) = outcomes(system)
    assert isinstance(found, Reached)
    monkeypatch.setattr("checker.engines.ic3.STATE_LIMIT", 5)
    (found,) = outcomes(system)
    assert found == Bounded(0, "more than 5 states can be reached from a candidate")


def test_no_properties_no_work() -> None:
    x, step = counting(3)
    assert outcomes(system_of([x], [step], [])) == []


def test_where_an_update_says_nothing_every_code_may_follow() -> None:
    """`x` is never 3, and never 2 with `y`; a proof that took the missing code for impossible would be rejected."""
    x, step = counting(3)
    y = Variable("y", (0, 1), 0, Role.STORE)
    z = Variable("z", (0, 1), 0, Role.STORE)
    copy: Draft = (equals(x, 2), {y: Copy(z, (0, -1))})
    cases: Draft = (equals(x, 2), {y: Cases(((equals(z, 0), 0),))})
    target = invariant(equals(y, 1))
    move = invariant(equals(y, 1, primed=True), Form.STEP_INVARIANT)
    for strange in (copy, cases):
        system = system_of([x, y, z], [step, strange], [target, move])
        for each, found in zip(system.properties, outcomes(system), strict=True):
            assert isinstance(found, Inductive)
            assert check(system, each, found.invariant) is None


# -- symmetry -----------------------------------------------------------------------------------------------------


def twins(extra: Sequence[Draft] = ()) -> TransitionSystem:
    """Two counters of which each stops at 2; `n` of both, and that one of them, is 3 is bad."""
    one, other = (Variable(name, (0, 1, 2, 3), 0, Role.STORE) for name in ("one", "other"))
    drafts: list[Draft] = [(member(v, 0b0011), {v: Copy(v, (1, 2, 3, -1))}) for v in (one, other)]
    swap = Permutation("one <-> other", ((one, other, (0, 1, 2, 3)), (other, one, (0, 1, 2, 3))))
    bad = negate(conjunction((member(one, 0b0111), member(other, 0b0111))))
    made = system_of([one, other], [*drafts, *extra], [invariant(bad), invariant(equals(other, 3))])
    return TransitionSystem(made.variables, made.actions, made.properties, swaps=(swap,))


def test_a_cube_is_excluded_together_with_its_images() -> None:
    for found in outcomes(twins()):
        assert isinstance(found, Inductive)


def test_a_symmetry_that_fails_in_unreachable_states_is_no_harm() -> None:
    plain = twins()
    one, other = plain.variables
    # Not enabled in any reachable state, and only `other` has it.
    leap: Draft = (conjunction((equals(one, 3), equals(other, 2))), {other: Constant(3)})
    rise: Draft = (conjunction((equals(one, 0), equals(other, 3))), {one: Constant(3)})
    made = system_of(plain.variables, [(a.guard, a.updates) for a in plain.actions] + [leap, rise], plain.properties)
    system = TransitionSystem(made.variables, made.actions, made.properties, swaps=plain.swaps)
    for target, found in zip(system.properties, outcomes(system), strict=True):
        assert isinstance(found, Inductive)
        assert check(system, target, found.invariant, rescues=found.rescues) is None


def test_a_symmetry_that_is_none_gives_no_wrong_verdict() -> None:
    plain = twins()
    _, other = plain.variables
    leap: Draft = (equals(other, 2), {other: Constant(3)})
    made = system_of(plain.variables, [(a.guard, a.updates) for a in plain.actions] + [leap], plain.properties)
    one_alone = invariant(equals(plain.variables[0], 3))
    system = TransitionSystem(made.variables, made.actions, (*made.properties, one_alone), swaps=plain.swaps)
    for target, found in zip(system.properties, outcomes(system), strict=True):
        if isinstance(found, Reached):
            assert target is not one_alone
            assert complaint(system, target, found.path) is None
        else:
            assert isinstance(found, Inductive)
            assert check(system, target, found.invariant, rescues=found.rescues) is None


def test_exchanges_that_are_no_symmetries_change_no_verdict() -> None:
    """Not even those that move the initial state: the outcomes are those without them."""
    drawn = 0
    for seed in range(60):
        random = Random(seed)
        system = random_system(random, frontiers=False)
        pairs = [(a, b) for a, b in itertools.combinations(system.variables, 2) if a.size == b.size]
        if not pairs:
            continue
        drawn += 1
        one, other = random.choice(pairs)
        same = tuple(range(one.size))
        swap = Permutation("one <-> other", ((one, other, same), (other, one, same)))
        system = dataclasses.replace(system, swaps=(swap,))
        for target, found, plain in zip(
            system.properties, outcomes(system), outcomes(system, Ic3(symmetry=False)), strict=True
        ):
            assert type(found) is type(plain)
            if isinstance(found, Inductive):
                assert check(system, target, found.invariant, rescues=found.rescues) is None
    assert drawn > 20


# -- budgets and failures -----------------------------------------------------------------------------------------


class Failing:
    """A solver that raises at its n-th question."""

    def __init__(self, good: int, failure: BaseException) -> None:
        self.inner = sat_solver()
        self.good = good
        self.failure = failure
        self.deadline: float | None = None

    def add_clause(self, literals: Iterable[int]) -> None:
        self.inner.add_clause(literals)

    def solve(self, assumptions: Sequence[int]) -> bool:
        if self.good == 0:
            raise self.failure
        self.good -= 1
        return self.inner.solve(assumptions)

    def model(self) -> Model:
        return self.inner.model()

    def core(self) -> Sequence[int]:
        return list(self.inner.core())

    def close(self) -> None:
        self.inner.close()


def failing(good: int, failure: BaseException) -> Callable[[], Incremental]:
    return lambda: Failing(good, failure)


@pytest.mark.parametrize("good", range(0, 120, 3))
def test_a_failure_never_becomes_a_verdict(good: int) -> None:
    x, step = counting(6)
    y = Variable("y", (0, 1), 0, Role.STORE)
    never = invariant(conjunction((equals(x, 4), equals(y, 1))))
    system = system_of([x, y], [step], [never, invariant(equals(x, 5)), invariant(equals(y, 1))])
    for failure in (GaveUp("tired"), MemoryError()):
        first, second, third = outcomes(system, Ic3(make_solver=failing(good, failure)))
        for found in (first, third):
            assert isinstance(found, Inductive | Bounded | Undecided)
            if isinstance(found, Inductive):
                target = system.properties[0] if found is first else system.properties[2]
                assert check(system, target, found.invariant, rescues=found.rescues) is None
        if isinstance(second, Reached):
            assert len(second.path.actions) == 5
        else:
            assert isinstance(second, Bounded | Undecided)
            assert second.reason in ("tired", "out of memory")
            if isinstance(second, Bounded):
                assert second.depth < 5
    if good == 0:
        assert first == Undecided("out of memory")


def test_an_interrupt_is_raised_and_what_was_decided_stays() -> None:
    x, step = counting(6)
    system = system_of([x], [step], [invariant(equals(x, 0)), invariant(equals(x, 5))])
    recorder = Recorder()
    with pytest.raises(KeyboardInterrupt):
        Ic3(make_solver=failing(2, KeyboardInterrupt())).run(system, system.properties, Budget(), recorder)
    assert list(recorder.outcomes) == [system.properties[0]]


def test_a_deadline_in_the_past_decides_nothing() -> None:
    x, step = counting(5)
    system = system_of([x], [step], [invariant(equals(x, 0)), invariant(equals(x, 4))])
    for found in outcomes(system, budget=Budget(deadline=time.monotonic() - 1)):
        assert found == Undecided("out of time")


def test_a_deadline_is_kept() -> None:
    """Parity of many bits needs a clause for every second assignment."""
    bits = [Variable(f"b{i}", (0, 1), 0, Role.STORE) for i in range(30)]
    drafts: list[Draft] = []
    for i, bit in enumerate(bits):
        other = bits[(i + 7) % 30]
        drafts.append((TRUE, {bit: Copy(bit, (1, 0)), other: Copy(other, (1, 0))}))
    odd = invariant(conjunction(equals(bit, int(i == 0)) for i, bit in enumerate(bits)))
    begin = time.monotonic()
    (found,) = outcomes(system_of(bits, drafts, [odd]), budget=Budget(deadline=begin + 1.5))
    assert time.monotonic() - begin < 10
    assert isinstance(found, Bounded)
    assert found.reason == "out of time"


def test_the_depth_limit() -> None:
    x, step = counting(6)
    y = Variable("y", (0, 1), 0, Role.STORE)
    leaves = invariant(conjunction((equals(x, 3), equals(x, 4, primed=True))), Form.STEP_INVARIANT)
    system = system_of([x, y], [step], [invariant(equals(x, 4)), leaves, invariant(equals(y, 1))])
    fourth, leave, never = outcomes(system, budget=Budget(depth=3))
    assert fourth == Bounded(3, "the depth limit of 3 steps")
    assert leave == Bounded(3, "the depth limit of 3 steps")
    assert isinstance(never, Inductive)
    fourth, leave, never = outcomes(system, budget=Budget(depth=4))
    assert isinstance(fourth, Reached)
    assert isinstance(leave, Reached)


def test_the_same_input_gives_the_same_path() -> None:
    def paths() -> list[object]:
        found: list[object] = []
        for seed in range(12):
            for outcome in outcomes(random_system(Random(seed))):
                if isinstance(outcome, Reached):
                    found.append((outcome.path.states, [action.index for action in outcome.path.actions]))
                elif isinstance(outcome, Inductive):
                    found.append([repr(cube) for cube in outcome.invariant.cubes])
        return found

    assert paths() == paths()


# -- the reference protocol ---------------------------------------------------------------------------------------


def test_the_reference_protocol_is_proved_and_its_bugs_are_found() -> None:
    system = reference_protocol(Size(2, 2, 2, 2, 2))
    for target, found in zip(system.properties, outcomes(system), strict=True):
        assert isinstance(found, Inductive)
        assert check(system, target, found.invariant, rescues=found.rescues) is None
    system = reference_protocol(Size(2, 2, 2, 2, 2), early_row=True, lost_retry=True)
    orphan, executed, _ = outcomes(system)
    for target, outcome, least in zip(system.properties, (orphan, executed), (2, 16), strict=False):
        assert isinstance(outcome, Reached)
        assert complaint(system, target, outcome.path) is None
        assert len(outcome.path.actions) >= least


def test_no_clause_of_a_small_proof_can_be_spared() -> None:
    """The trials leave no orbit that the rest does not need."""
    system = reference_protocol(Size(1, 1, 1, 1, 1), symmetry=False)
    target = system.properties[1]
    found = outcomes(system)[1]
    assert isinstance(found, Inductive)
    assert len(found.invariant.cubes) > 2
    for number in range(len(found.invariant.cubes)):
        cubes = found.invariant.cubes
        fewer = type(found.invariant)((*cubes[:number], *cubes[number + 1 :]))
        assert check(system, target, fewer) is not None


def test_cubes_are_conjunctions_of_literals_that_say_something() -> None:
    system = reference_protocol(Size(2, 1, 1, 1, 1))
    for found in outcomes(system):
        assert isinstance(found, Inductive)
        for cube in found.invariant.cubes:
            literals: list[Formula] = list(cube)
            assert literals
            assert len({literal.variable for literal in literals}) == len(literals)
            assert not evaluate(conjunction(literals), lambda variable: variable.initial)
            assert all(literal.variable is not None and not literal.primed for literal in literals)
