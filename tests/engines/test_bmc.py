from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from random import Random

import pytest

from checker.engines.bmc import Bmc
from checker.engines.engine import Bounded, Budget, Coverage, Outcome, Progress, Reached, Undecided
from checker.engines.saving import Doomed, Inconclusive, Saved, Saviour
from checker.logic.formula import FALSE, TRUE, Formula, Role, Variable, conjunction, equals, member
from checker.logic.solver import Answer, Sat, Solver, Unknown
from checker.transition_system import (
    Action,
    Cases,
    Constant,
    Copy,
    Form,
    Kind,
    Property,
    Reachability,
    State,
    TransitionSystem,
    Update,
)
from spec.event import Event, EventKind
from tests.engines.random_systems import random_system
from tests.engines.reference import TooLargeError, complaint, explore
from tests.stand_in import InPlaceOf


class Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[Property, Outcome] = {}
        self.order: list[str] = []

    def progress(self, progress: Progress) -> None:
        assert progress.engine == "bmc"
        assert progress.states is None

    def decided(self, target: Property, outcome: Outcome) -> None:
        assert target not in self.outcomes
        self.outcomes[target] = outcome
        self.order.append(target.name)

    def covered(self, coverage: Coverage) -> None:
        raise AssertionError("bounded model checking has nothing to say about coverage")


def run(system: TransitionSystem, engine: Bmc | None = None, budget: Budget | None = None) -> Recorder:
    recorder = Recorder()
    (engine or Bmc(default_depth=10)).run(system, system.properties, budget or Budget(), recorder)
    assert set(recorder.outcomes) == set(system.properties)
    return recorder


def outcomes(system: TransitionSystem, engine: Bmc | None = None, budget: Budget | None = None) -> list[Outcome]:
    recorder = run(system, engine, budget)
    return [recorder.outcomes[target] for target in system.properties]


def invariant(bad: Formula, form: Form = Form.INVARIANT) -> Property:
    return Property(f"{bad!r}", form, bad)


Draft = tuple[Formula, Mapping[Variable, Update]] | tuple[Formula, Mapping[Variable, Update], Kind]


def system_of(
    variables: Sequence[Variable],
    drafts: Sequence[Draft],
    properties: Sequence[Property],
    halted: Formula = FALSE,
    frontier: Formula = FALSE,
) -> TransitionSystem:
    actions = tuple(
        Action(index, Event(EventKind.STEP), draft[2] if len(draft) == 3 else Kind.THREAD, draft[0], draft[1])
        for index, draft in enumerate(drafts)
    )
    return TransitionSystem(tuple(variables), actions, tuple(properties), halted, frontier)


def counting(size: int) -> tuple[Variable, Draft]:
    """A counter and its only action, which deadlocks at the last code."""
    x = Variable("x", tuple(range(size)), 0, Role.STORE)
    return x, (member(x, x.full_mask >> 1), {x: Copy(x, (*range(1, size), -1))})


class Scripted(Solver):
    """A solver that answers Unknown from its n-th question on."""

    def __init__(self, good: int) -> None:
        super().__init__()
        self.good = good

    def solve(self, assumptions: Sequence[int] = (), seconds: float | None = None) -> Answer:
        if self.good == 0:
            return Unknown("tired")
        self.good -= 1
        return super().solve(assumptions, seconds)


@pytest.mark.parametrize("size", [2, 3, 16, 17, 40])
def test_the_deadlock_state_is_found_at_its_own_depth_and_nothing_beyond(size: int) -> None:
    x, step = counting(size)
    system = system_of([x], [step], [invariant(equals(x, size - 1)), invariant(equals(x, size))])
    found = run(system, Bmc(default_depth=size + 5)).outcomes[system.properties[0]]
    assert isinstance(found, Reached)
    assert found.path.states == tuple((code,) for code in range(size))
    assert found.path.actions == system.actions * (size - 1)
    assert found.shortest is not None
    assert found.shortest.startswith(f"no violation at any smaller depth (unsatisfiable at 0..{size - 2}): ")


def test_the_end_of_all_runs_is_a_bound_and_no_proof() -> None:
    x, step = counting(4)
    never = invariant(conjunction((equals(x, 1), equals(x, 2, primed=True))), Form.STEP_INVARIANT)
    always = invariant(conjunction((equals(x, 2), equals(x, 2, primed=True))), Form.STEP_INVARIANT)
    reached, bounded = outcomes(system_of([x], [step], [never, always]))
    assert isinstance(reached, Reached)
    assert len(reached.path.actions) == 2
    assert bounded == Bounded(3, "no run is longer than 3 steps: this is the whole state space's depth")


def test_violation_in_the_initial_state() -> None:
    x, step = counting(3)
    (found,) = outcomes(system_of([x], [step], [invariant(equals(x, 0))]))
    assert isinstance(found, Reached)
    assert found.path.states == ((0,),)
    assert found.path.actions == ()


def test_a_step_property_is_asked_about_the_first_step_but_not_about_the_initial_state() -> None:
    x, step = counting(3)
    leaves = invariant(conjunction((equals(x, 0), member(x, 0b110, primed=True))), Form.STEP_INVARIANT)
    trivial = invariant(TRUE, Form.STEP_INVARIANT)
    for found in outcomes(system_of([x], [step], [leaves, trivial])):
        assert isinstance(found, Reached)
        assert found.path.states == ((0,), (1,))
    (none,) = outcomes(system_of([x], [(FALSE, {})], [trivial]))
    assert isinstance(none, Bounded)


def test_an_action_that_is_never_enabled() -> None:
    """Its twin is enabled and leads to the same place."""
    x, step = counting(4)
    y = Variable("y", (False, True), 0, Role.GHOST)
    target = invariant(equals(y, 1), Form.COVER)
    dead: Draft = (conjunction((equals(x, 2), equals(y, 1))), {y: Constant(1)})
    live: Draft = (conjunction((equals(x, 2), equals(y, 0))), {y: Constant(1)})
    (without,) = outcomes(system_of([x, y], [step, dead], [target]))
    (with_live,) = outcomes(system_of([x, y], [step, live], [target]))
    assert isinstance(without, Bounded)
    assert isinstance(with_live, Reached)
    assert len(with_live.path.actions) == 3


def test_a_halted_state_has_no_successors_but_can_be_bad() -> None:
    x, step = counting(5)
    targets = [invariant(equals(x, 2)), invariant(equals(x, 3))]
    halted, beyond = outcomes(system_of([x], [step], targets, halted=equals(x, 2)))
    assert isinstance(halted, Reached)
    assert isinstance(beyond, Bounded)
    assert beyond.depth == 2


def test_beyond_the_frontier_there_is_no_bound_and_no_shortest_path() -> None:
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
    assert before.shortest is not None
    assert isinstance(beyond, Reached)
    assert len(beyond.path.actions) == 5
    assert beyond.shortest is None
    assert never == Bounded(1, "an unbounded integer left the explored window")


def rest_system(back: bool) -> TransitionSystem:
    """Work in progress: a request starts it, and a thread finishes it, unless (not `back`) it has crashed."""
    place = Variable("place", ("idle", "busy", "crashed"), 0, Role.CONTROL)
    drafts: list[Draft] = [
        (equals(place, 0), {place: Constant(1)}, Kind.ENVIRONMENT),
        (equals(place, 1), {place: Constant(0)}, Kind.THREAD),
        (equals(place, 1), {place: Constant(2)}, Kind.FAULT),
    ]
    if back:
        drafts.append((equals(place, 2), {place: Constant(1)}, Kind.RECOVERY))
    threads = frozenset({Kind.THREAD})
    calm = frozenset({Kind.THREAD, Kind.ENVIRONMENT, Kind.RECOVERY})
    unfinished = member(place, 0b110)
    return system_of(
        [place],
        drafts,
        [
            Property("rest", Form.AT_REST, unfinished, Reachability(threads, equals(place, 0))),
            Property("recovers", Form.RECOVERABLE, unfinished, Reachability(calm, equals(place, 0))),
            Property("moves", Form.RECOVERABLE, unfinished, Reachability(calm, watched=(equals(place, 2),))),
        ],
    )


def test_recovery_saves_a_crashed_state_only_where_it_counts() -> None:
    rest, recovers, moves = outcomes(rest_system(back=True))
    assert isinstance(rest, Reached)
    assert rest.path.states == ((0,), (1,), (2,))
    assert isinstance(recovers, Bounded)
    # Without faults a busy state never changes whether it has crashed.
    assert isinstance(moves, Reached)
    assert moves.path.states == ((0,), (1,))
    rest, recovers, moves = outcomes(rest_system(back=False))
    assert isinstance(rest, Reached)
    assert isinstance(recovers, Reached)
    assert recovers.path.states == ((0,), (1,), (2,))
    assert isinstance(moves, Reached)


def test_a_halted_state_is_not_saved_by_actions_that_it_cannot_take() -> None:
    x, step = counting(4)
    target = Property("end", Form.RECOVERABLE, equals(x, 1), Reachability(frozenset(Kind), equals(x, 3)))
    (saved,) = outcomes(system_of([x], [step], [target]))
    (stuck,) = outcomes(system_of([x], [step], [target], halted=equals(x, 2)))
    assert isinstance(saved, Bounded)
    assert isinstance(stuck, Reached)
    assert stuck.path.states == ((0,), (1,))


def test_a_halted_state_does_not_change_what_is_watched() -> None:
    """State 1 is saved by the very step that state 2 could take if it were not halted."""
    x, (guard, updates, *_) = counting(4)
    y = Variable("y", (0, 1), 0, Role.STORE)
    step: Draft = (guard, {**updates, y: Copy(y, (1, 0))})
    unless = Reachability(frozenset(Kind), watched=(equals(y, 1),))
    target = Property("moves", Form.RECOVERABLE, member(x, 0b110), unless)
    (free,) = outcomes(system_of([x, y], [step], [target]))
    (stuck,) = outcomes(system_of([x, y], [step], [target], halted=equals(x, 2)))
    assert isinstance(free, Bounded)
    assert isinstance(stuck, Reached)
    assert stuck.path.states == ((0, 0), (1, 1), (2, 0))


def test_what_was_learnt_about_saved_states_serves_all_depths(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Variable("x", tuple(range(10)), 0, Role.STORE)
    y = Variable("y", (0, 1), 0, Role.STORE)
    drafts: list[Draft] = [(TRUE, {x: Copy(x, (*range(1, 10), 0))}), (TRUE, {y: Constant(1)})]
    target = Property("end", Form.RECOVERABLE, equals(y, 0), Reachability(frozenset(Kind), equals(y, 1)))
    asked: list[State] = []
    look = Saviour.look

    def counted(
        self: Saviour, start: State, unless: Reachability, deadline: float | None = None, limit: int | None = None
    ) -> Saved | Doomed | Inconclusive:
        asked.append(start)
        return look(self, start, unless, deadline, limit)

    monkeypatch.setattr(Saviour, "look", InPlaceOf(look)(counted))
    (found,) = outcomes(system_of([x, y], drafts, [target]))
    assert isinstance(found, Bounded)
    assert asked == [(0, 0)]


def test_a_state_that_no_run_reaches_may_have_steps_that_say_nothing() -> None:
    """Such a step leads nowhere; the one that is left leads to a state where it says something."""
    y, z = (Variable(name, (0, 1), 0, Role.STORE) for name in "yz")
    copy: Draft = (TRUE, {y: Copy(z, (1, -1))})
    cases: Draft = (TRUE, {y: Cases(((equals(z, 0), 1),))})
    other: Draft = (equals(z, 1), {z: Constant(0)})
    unless = Reachability(frozenset(Kind), equals(y, 1))
    for strange in (copy, cases):
        found = Saviour(system_of([y, z], [strange], [])).look((0, 1), unless)
        assert found == Doomed(1)
        system = system_of([y, z], [strange, other], [])
        saved = Saviour(system).look((0, 1), unless)
        assert isinstance(saved, Saved)
        assert saved.actions == (system.actions[1], system.actions[0])


def test_too_many_states_on_the_way_to_the_goal_is_no_verdict() -> None:
    x, step = counting(12)
    target = Property("end", Form.RECOVERABLE, equals(x, 1), Reachability(frozenset(Kind), FALSE))
    (found,) = outcomes(system_of([x], [step], [target]), Bmc(default_depth=8, state_limit=5))
    assert isinstance(found, Bounded)
    assert found.depth == 0
    assert "5 states" in found.reason
    (found,) = outcomes(system_of([x], [step], [target]), Bmc(default_depth=8, state_limit=50))
    assert isinstance(found, Reached)


def test_a_goal_beyond_the_frontier_is_no_verdict() -> None:
    x, step = counting(6)
    target = Property("end", Form.RECOVERABLE, equals(x, 1), Reachability(frozenset(Kind), equals(x, 5)))
    (found,) = outcomes(system_of([x], [step], [target], frontier=equals(x, 3)))
    assert isinstance(found, Bounded)
    assert found.depth == 0


@pytest.mark.parametrize("good", range(14))
def test_unknown_never_becomes_a_verdict(good: int) -> None:
    """The counter reaches its end after 4 steps: with two questions for each depth, the ninth finds it."""
    x, step = counting(5)
    y = Variable("y", (0, 1), 0, Role.STORE)
    spin: Draft = (equals(x, 4), {})
    system = system_of([x, y], [step, spin], [invariant(equals(x, 4)), invariant(equals(y, 1))])
    first, second = outcomes(system, Bmc(make_solver=lambda: Scripted(good)))
    if good == 0:
        assert first == second == Undecided("tired")
        return
    assert isinstance(second, Undecided if good < 2 else Bounded)
    if isinstance(second, Bounded):
        assert second.reason == "tired"
        assert second.depth <= good // 2 - 1 + (good % 2)
    if isinstance(first, Reached):
        assert good >= 9
        assert len(first.path.actions) == 4
    else:
        assert good < 9
        assert first == second


def test_unknown_about_the_frontier_is_no_bound() -> None:
    x, step = counting(5)
    system = system_of([x], [step], [invariant(equals(x, 4))], frontier=equals(x, 2))
    for good in range(7):
        (found,) = outcomes(system, Bmc(make_solver=partial(Scripted, good)))
        if isinstance(found, Bounded):
            assert found.depth == min(good // 3 - 1, 1)
        else:
            assert isinstance(found, Undecided)
            assert good < 3


def test_a_deadline_in_the_past_decides_nothing() -> None:
    x, step = counting(5)
    system = system_of([x], [step], [invariant(equals(x, 0)), invariant(equals(x, 4))])
    for found in outcomes(system, budget=Budget(deadline=time.monotonic() - 1)):
        assert found == Undecided("out of time")


def test_a_deadline_is_kept() -> None:
    """Parity of many bits: hard for a solver."""
    bits = [Variable(f"b{i}", (0, 1), 0, Role.STORE) for i in range(30)]
    drafts: list[Draft] = []
    for i, bit in enumerate(bits):
        other = bits[(i + 7) % 30]
        drafts.append((TRUE, {bit: Copy(bit, (1, 0)), other: Copy(other, (1, 0))}))
    odd = invariant(conjunction(equals(bit, int(i == 0)) for i, bit in enumerate(bits)))
    begin = time.monotonic()
    (found,) = outcomes(system_of(bits, drafts, [odd]), Bmc(default_depth=1000), Budget(deadline=begin + 1.5))
    assert time.monotonic() - begin < 10
    assert isinstance(found, Bounded)
    assert found.reason


def test_failing_memory_is_no_verdict() -> None:
    class Exhausted(Scripted):
        def solve(self, assumptions: Sequence[int] = (), seconds: float | None = None) -> Answer:
            answer = super().solve(assumptions, seconds)
            if isinstance(answer, Unknown):
                raise MemoryError
            return answer

    x, step = counting(5)
    system = system_of([x], [step], [invariant(equals(x, 4))])
    assert outcomes(system, Bmc(make_solver=lambda: Exhausted(0))) == [Undecided("out of memory")]
    assert outcomes(system, Bmc(make_solver=lambda: Exhausted(5))) == [Bounded(1, "out of memory")]


def test_an_interrupt_is_raised_and_what_was_decided_stays() -> None:
    class Interrupted(Scripted):
        def solve(self, assumptions: Sequence[int] = (), seconds: float | None = None) -> Answer:
            answer = super().solve(assumptions, seconds)
            if isinstance(answer, Unknown):
                raise KeyboardInterrupt
            return answer

    x, step = counting(5)
    system = system_of([x], [step], [invariant(equals(x, 1)), invariant(equals(x, 4))])
    recorder = Recorder()
    with pytest.raises(KeyboardInterrupt):
        Bmc(make_solver=lambda: Interrupted(5)).run(system, system.properties, Budget(), recorder)
    assert recorder.order == [system.properties[0].name]


def test_depth_comes_from_the_budget_else_from_the_engine() -> None:
    x = Variable("x", (0, 1), 0, Role.STORE)
    system = system_of([x], [(TRUE, {})], [invariant(equals(x, 1))])
    assert outcomes(system, Bmc(default_depth=7)) == [Bounded(7, "the depth limit of 7 steps")]
    assert outcomes(system, Bmc(default_depth=7), Budget(depth=3)) == [Bounded(3, "the depth limit of 3 steps")]
    assert outcomes(system, Bmc(default_depth=7), Budget(depth=0)) == [Bounded(0, "the depth limit of 0 steps")]


def test_no_properties_no_work() -> None:
    x, step = counting(3)

    def refuse() -> Solver:
        solver = Scripted(0)
        solver.solve = None  # type: ignore[method-assign, assignment]
        return solver

    assert outcomes(system_of([x], [step], []), Bmc(make_solver=refuse)) == []


def test_the_same_input_gives_the_same_path() -> None:
    def paths() -> list[object]:
        found: list[object] = []
        for seed in range(8):
            system = random_system(Random(seed))
            for outcome in outcomes(system):
                if isinstance(outcome, Reached):
                    found.append((outcome.path.states, [action.index for action in outcome.path.actions]))
        return found

    assert paths() == paths()


@pytest.mark.parametrize("seed", range(80))
def test_agrees_with_a_plain_search(seed: int) -> None:
    system = random_system(Random(seed), frontiers=seed % 3 == 0, wide=2 * (seed % 5 == 0))
    try:
        known = explore(system, system.properties, 3000)
    except TooLargeError:
        pytest.skip("too large for the plain search")
    limit = 12
    found = run(system, budget=Budget(depth=limit)).outcomes
    for target, outcome in found.items():
        violated = known.violations.get(target)
        if isinstance(outcome, Reached):
            length = len(outcome.path.actions)
            assert complaint(system, target, outcome.path) is None
            if outcome.shortest is None:
                assert known.frontier is not None
                assert known.frontier < length
            else:
                assert violated == length
        elif isinstance(outcome, Bounded):
            assert violated is None or violated > outcome.depth
            if known.frontier is None or known.frontier > limit:
                assert violated is None or violated > limit
                if outcome.depth < limit:
                    assert "no run is longer" in outcome.reason
                    assert outcome.depth >= known.depth
        else:
            # A bound below the initial state: it is itself at the frontier, or only the frontier keeps its goal.
            assert isinstance(outcome, Undecided)
            assert known.frontier is not None


def test_the_random_systems_exercise_every_kind_of_outcome() -> None:
    seen: set[tuple[str, Form]] = set()
    for seed in range(40):
        system = random_system(Random(seed))
        seen |= {(type(o).__name__, t.form) for t, o in run(system, budget=Budget(depth=6)).outcomes.items()}
    assert {("Reached", form) for form in Form if form is not Form.LIVE} <= seen
    assert {("Bounded", form) for form in Form if form is not Form.LIVE} <= seen


def test_every_question_is_asked_within_the_deadline() -> None:
    limits: list[float | None] = []

    class Watching(Solver):
        def solve(self, assumptions: Sequence[int] = (), seconds: float | None = None) -> Answer:
            limits.append(seconds)
            answer = super().solve(assumptions, seconds)
            assert isinstance(answer, Sat) or assumptions
            return answer

    x = Variable("x", (0, 1), 0, Role.STORE)
    system = system_of([x], [(TRUE, {})], [invariant(equals(x, 1))])
    outcomes(system, Bmc(make_solver=Watching), Budget(depth=3, deadline=time.monotonic() + 100))
    assert len(limits) == 8
    assert all(limit is not None and 0 < limit <= 100 for limit in limits)
