"""Bounded model checking with several actions in one step: real paths, true bounds, and nothing missed."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from checker.engines import parallel_steps
from checker.engines.engine import Bounded, Budget, Coverage, Outcome, Path, Progress, Reached, Undecided
from checker.engines.parallel_bmc import ParallelBmc
from checker.engines.parallel_steps import Masks, ParallelSteps, fewest_violated, hang
from checker.engines.path_trimming import trimmed
from checker.logic.encode import Clauses, Layout
from checker.logic.formula import TRUE, Formula, Role, Variable, conjunction, disjunction, equals, member, variables_of
from checker.logic.solver import Sat, Solver, Unsat
from checker.transition_system import (
    Action,
    Cases,
    Constant,
    Copy,
    Form,
    Kind,
    Property,
    Reachability,
    TransitionSystem,
    successor,
)
from tests.engines.random_systems import random_system
from tests.engines.reference import TooLargeError, complaint, explore, steps
from tests.engines.test_bmc import Draft, Scripted, counting, invariant, system_of
from tests.stand_in import InPlaceOf

ALL = frozenset(Kind)


class Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[Property, Outcome] = {}

    def progress(self, progress: Progress) -> None:
        assert progress.engine == "parallel"

    def decided(self, target: Property, outcome: Outcome) -> None:
        assert target not in self.outcomes
        self.outcomes[target] = outcome

    def covered(self, coverage: Coverage) -> None:
        raise AssertionError("it has nothing to say about coverage")


def outcomes(
    system: TransitionSystem, engine: ParallelBmc | None = None, budget: Budget | None = None
) -> dict[Property, Outcome]:
    recorder = Recorder()
    (engine or ParallelBmc()).run(system, system.properties, budget or Budget(), recorder)
    assert set(recorder.outcomes) == set(system.properties)
    return {target: recorder.outcomes[target] for target in system.properties}


def only(system: TransitionSystem, engine: ParallelBmc | None = None, budget: Budget | None = None) -> Outcome:
    (found,) = outcomes(system, engine, budget).values()
    return found


LIMIT = 9


def disagreement(seed: int, limit: int = LIMIT) -> str | None:
    """What is wrong with the engine on a random system, by the plainest search."""
    system = random_system(Random(seed), frontiers=seed % 3 == 0, wide=2 * (seed % 5 == 0))
    try:
        known = explore(system, system.properties, 3000)
    except TooLargeError:
        return None
    for target, outcome in outcomes(system, ParallelBmc(default_depth=limit)).items():
        violated = known.violations.get(target)
        where = f"seed {seed}, {target.name}: {outcome}, but {violated}"
        if isinstance(outcome, Reached):
            wrong = complaint(system, target, outcome.path)
            if wrong is not None or violated is None or len(outcome.path.actions) < violated:
                return f"{where}; {wrong}"
            if outcome.shortest is not None:
                return where
        else:
            depth = outcome.depth if isinstance(outcome, Bounded) else -1
            if violated is not None and violated <= depth:
                return where
            if known.frontier is None and depth < min(limit, known.depth):
                return where
    return None


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_agrees_with_a_plain_search(first: int) -> None:
    """Reached when the search reaches within the limit, by a real path; bounds are bounds for steps of one action."""
    for seed in range(first, first + 10):
        assert disagreement(seed) is None


Reads = Callable[[Action, Formula], Masks]


def _with(change: Callable[[Action, Formula, Masks], None]) -> Reads:
    def broken(action: Action, going_on: Formula) -> Masks:
        found = READS(action, going_on)
        change(action, going_on, found)
        return found

    return broken


READS = parallel_steps.reads


def _forget(variables: Callable[[Action, Formula], set[Variable]]) -> Reads:
    def forget(action: Action, going_on: Formula, found: Masks) -> None:
        for variable in variables(action, going_on):
            found.pop(variable, None)

    return _with(forget)


def _in(formula: Formula) -> set[Variable]:
    return {variable for variable, _ in variables_of(formula)}


BROKEN: dict[str, Reads] = {
    "what a guard reads": _forget(lambda action, going_on: _in(action.guard)),
    "what is copied": _forget(lambda action, _: {u.source for u in action.updates.values() if isinstance(u, Copy)}),
    "what cases depend on": _forget(
        lambda action, _: {
            variable
            for update in action.updates.values()
            if isinstance(update, Cases)
            for condition, _ in update.cases
            for variable in _in(condition)
        }
    ),
    "where runs end": lambda action, going_on: READS(action, TRUE),
}


@pytest.mark.parametrize(("kind", "first"), list(zip(BROKEN, (0, 0, 10, 20), strict=True)))
def test_each_kind_of_conflict_is_needed(kind: str, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it some step cannot be carried out one after the other, which is noticed."""
    monkeypatch.setattr(parallel_steps, "reads", InPlaceOf[Reads](READS)(BROKEN[kind]))
    assert any(is_noticed(seed) for seed in range(first, first + 10))


def is_noticed(seed: int) -> bool:
    try:
        return disagreement(seed, 6) is not None
    except AssertionError as error:
        return any(words in str(error) for words in ("one after the other", "cannot be carried out"))


def test_chains_and_pairs_exclude_the_same() -> None:
    excluded = 0
    for seed in range(12):
        system = random_system(Random(seed))
        steps = ParallelSteps(system)
        clauses = Clauses(Layout(system.variables))
        selections = [clauses.new() for _ in system.actions]
        for literal in steps.literals():
            if chain := steps.chain(*literal):
                hang(clauses, chain, selections)
        solver = Solver()
        solver.add(clauses.template(()).clauses)
        for i, one in enumerate(selections):
            assert isinstance(solver.solve((one,)), Sat)
            for j, other in enumerate(selections[:i]):
                apart = bool(steps.conflicts[i, j] or steps.conflicts[j, i])
                if apart or steps.compatible[i, j]:
                    assert isinstance(solver.solve((one, other)), Unsat) == apart, (seed, i, j)
                    excluded += apart
    assert excluded > 100


def test_an_order_without_conflicts_is_found_if_there_is_one() -> None:
    draw = Random(0)
    for size in range(1, 12):
        hidden = draw.sample(range(size), size)
        wanted = np.zeros((size, size), dtype=np.bool_)
        for place, first in enumerate(hidden):
            for second in hidden[place + 1 :]:
                wanted[first, second] = draw.random() < 0.5
        place_of = np.argsort(fewest_violated(wanted))
        assert all(place_of[i] < place_of[j] for i, j in np.argwhere(wanted))


def counters(count: int, size: int) -> tuple[list[Variable], list[Draft]]:
    """So many counters that have nothing to do with each other."""
    variables = [Variable(f"x{i}", tuple(range(size)), 0, Role.STORE) for i in range(count)]
    return variables, [(member(x, x.full_mask >> 1), {x: Copy(x, (*range(1, size), -1))}) for x in variables]


def test_what_is_independent_happens_in_one_step() -> None:
    """Four counters to 5: 20 steps one after the other, 5 steps side by side, after which nothing is left to do."""
    variables, drafts = counters(4, 6)
    target = invariant(conjunction(equals(x, 5) for x in variables))
    system = system_of(variables, drafts, [target])
    found = only(system, ParallelBmc(default_depth=5))
    assert isinstance(found, Reached)
    assert len(found.path.actions) == 20
    assert complaint(system, target, found.path) is None
    assert isinstance(only(system, ParallelBmc(default_depth=4)), Bounded)


def test_the_reader_goes_before_the_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    """x := y and y := 0 in one step, if x gets the old y; x := y and y := x never (x and y would be exchanged)."""
    serial = ParallelSteps.serial
    x, y = Variable("x", (0, 1), 0, Role.STORE), Variable("y", (0, 1), 1, Role.STORE)
    read: Draft = (equals(x, 0), {x: Copy(y, (0, 1))})
    write: Draft = (equals(y, 1), {y: Constant(0)})
    both = invariant(conjunction((equals(x, 1), equals(y, 0))))
    assert isinstance(only(system_of([x, y], [write, read], [both]), ParallelBmc(default_depth=1)), Reached)
    with monkeypatch.context() as patched:
        patched.setattr(ParallelSteps, "serial", lambda self, actions: serial(self, actions)[::-1])
        with pytest.raises(AssertionError, match="one after the other"):
            only(system_of([x, y], [write, read], [both]))
    back: Draft = (equals(y, 1), {y: Copy(x, (0, 1))})
    system = system_of([x, y], [back, read], [both])
    assert only(system, ParallelBmc(default_depth=6)) == Bounded(6, "the depth limit of 6 steps")


def test_nothing_happens_after_the_end_of_a_run_in_the_same_step() -> None:
    """Both actions can be first. After `stop` there is no other; after `go` there is `stop`."""
    x, y = Variable("x", (0, 1), 0, Role.STORE), Variable("y", (0, 1), 0, Role.STORE)
    drafts: list[Draft] = [(equals(x, 0), {x: Constant(1)}), (equals(y, 0), {y: Constant(1)})]
    target = invariant(conjunction((equals(x, 1), equals(y, 1))))
    for ends in (equals(x, 1), equals(y, 1)):
        system = system_of([x, y], drafts, [target], halted=ends)
        found = only(system, ParallelBmc(default_depth=3))
        assert isinstance(found, Reached)
        assert complaint(system, target, found.path) is None
    both = system_of([x, y], drafts, [target], halted=disjunction((equals(x, 1), equals(y, 1))))
    assert only(both, ParallelBmc(default_depth=3)) == Bounded(
        1, "no run is longer than 1 steps: this is the whole state space's depth"
    )


def test_a_step_invariant_is_about_single_steps() -> None:
    """Two counters never move at once, though they share steps of the unrolling."""
    variables, drafts = counters(2, 3)
    moved = [disjunction(conjunction((equals(x, c), equals(x, c + 1, primed=True))) for c in (0, 1)) for x in variables]
    at_once = invariant(conjunction(moved), Form.STEP_INVARIANT)
    last = conjunction((equals(variables[0], 2), equals(variables[1], 2, primed=True), equals(variables[1], 1)))
    single = invariant(last, Form.STEP_INVARIANT)
    system = system_of(variables, drafts, [at_once, single])
    never, found = outcomes(system, ParallelBmc(default_depth=8)).values()
    assert isinstance(never, Bounded)
    assert isinstance(found, Reached)
    assert complaint(system, single, found.path) is None


def test_a_deadlock_is_found_and_what_no_run_reaches_is_not() -> None:
    x, step = counting(5)
    y = Variable("y", (0, 1), 0, Role.STORE)
    dead: Draft = (conjunction((equals(x, 2), equals(y, 1))), {y: Constant(1)})
    system = system_of([x, y], [step, dead], [invariant(equals(x, 4)), invariant(equals(y, 1), Form.COVER)])
    found, never = outcomes(system).values()
    assert isinstance(found, Reached)
    assert found.path.states == tuple((code, 0) for code in range(5))
    assert never == Bounded(4, "no run is longer than 4 steps: this is the whole state space's depth")


def test_a_path_beyond_the_depth_asked_for_is_not_shown() -> None:
    variables, drafts = counters(3, 3)
    system = system_of(variables, drafts, [invariant(conjunction(equals(x, 2) for x in variables))])
    found = only(system, budget=Budget(depth=5))
    assert found == Bounded(1, "a violation of 6 steps was found, beyond the depth limit")
    assert isinstance(only(system, budget=Budget(depth=6)), Reached)


@pytest.mark.parametrize("good", range(10))
def test_unknown_never_becomes_a_verdict(good: int) -> None:
    """Two questions for each depth; the path has depth 4."""
    x, step = counting(5)
    system = system_of([x], [step], [invariant(equals(x, 4))])
    found = only(system, ParallelBmc(make_solver=lambda: Scripted(good)))
    if good < 9:
        assert found == (Undecided("tired") if good < 2 else Bounded(good // 2 - 1, "tired"))
    else:
        assert isinstance(found, Reached)


def test_failing_memory_and_a_deadline_in_the_past_are_no_verdicts() -> None:
    def exhausted() -> Solver:
        raise MemoryError

    x, step = counting(5)
    system = system_of([x], [step], [invariant(equals(x, 0))])
    assert only(system, ParallelBmc(make_solver=exhausted)) == Undecided("out of memory")
    assert only(system, budget=Budget(deadline=time.monotonic() - 1)) == Undecided("out of time")


def test_a_violation_that_nothing_saves() -> None:
    """`crashed` for ever; `busy` is saved by the thread."""
    places = [Variable(f"p{i}", ("idle", "busy", "crashed"), 0, Role.CONTROL) for i in (0, 1)]
    drafts: list[Draft] = []
    for place in places:
        drafts.append((equals(place, 0), {place: Constant(1)}, Kind.ENVIRONMENT))
        drafts.append((equals(place, 1), {place: Constant(0)}, Kind.THREAD))
        drafts.append((equals(place, 1), {place: Constant(2)}, Kind.FAULT))
    idle = conjunction(equals(place, 0) for place in places)
    busy = Property("busy", Form.AT_REST, conjunction(equals(p, 1) for p in places), Reachability(ALL, idle))
    lost = Property("lost", Form.AT_REST, conjunction(equals(p, 2) for p in places), Reachability(ALL, idle))
    system = system_of(places, drafts, [busy, lost])
    never, found = outcomes(system, ParallelBmc(default_depth=6)).values()
    assert never == Bounded(6, "the depth limit of 6 steps")
    assert isinstance(found, Reached)
    assert complaint(system, lost, found.path) is None


# -------------------------------------------------------------------------------------------------------- trimming


def test_trimming_keeps_a_violation_and_leaves_out_detours() -> None:
    """Random walks up to a violation become paths that are no longer and that need each of their actions."""
    shorter = 0
    for seed in range(30):
        draw = Random(seed)
        system = random_system(draw)
        for target in system.properties:
            path = walk(system, target, draw) if target.unless is None or seed < 5 else None
            if path is None:
                continue
            found = trimmed(system, target, path)
            assert complaint(system, target, found) is None, seed
            assert len(found.actions) <= len(path.actions)
            assert len(set(found.states[:-1])) == len(found.actions)
            shorter += len(found.actions) < len(path.actions)
            if target.unless is not None:
                assert found.states[-1] == path.states[-1]
    assert shorter > 20


def walk(system: TransitionSystem, target: Property, draw: Random, most: int = 25) -> Path | None:
    states, actions = [system.initial], []
    for _ in range(most):
        after = steps(system, states[-1])
        if not after:
            break
        action, state = draw.choice(after)
        actions.append(action)
        states.append(state)
    for length in range(len(actions), 0, -1):
        path = Path(tuple(states[: length + 1]), tuple(actions[:length]))
        if complaint(system, target, path) is None:
            return path
    return None


def test_trimming_of_what_is_not_needed() -> None:
    """Of six counters one is looked at: the steps of the others go, the three of that one stay."""
    variables, drafts = counters(6, 4)
    target = invariant(equals(variables[2], 3))
    system = system_of(variables, drafts, [target])
    state, states, actions = system.initial, [system.initial], []
    for action in system.actions * 3:
        state = successor(system, state, action)
        states.append(state)
        actions.append(action)
    found = trimmed(system, target, Path(tuple(states), tuple(actions)))
    assert found.actions == (system.actions[2],) * 3
    assert trimmed(system, target, Path(tuple(states), tuple(actions)), time.monotonic() - 1).actions[-1] is actions[14]
