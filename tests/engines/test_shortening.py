"""Paths become shortest ones, by the plainest search; and where that is not known, nobody says so."""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random

import pytest

from checker.engines import shortening
from checker.engines.engine import Budget, Coverage, Outcome, Path, Progress, Reached, Undecided
from checker.engines.shortening import Shortening, shortened
from checker.engines.symmetry_breaking import SymmetryBreaking, compared
from checker.logic.formula import Role, Variable, conjunction, equals, member
from checker.logic.solver import Answer, Sat, Solver
from checker.logic.unroll import Unrolling
from checker.transition_system import Constant, Copy, Form, Permutation, Property, State, TransitionSystem
from tests.engines.random_systems import random_system
from tests.engines.reference import Exploration, TooLargeError, complaint, explore, steps
from tests.engines.test_bmc import Draft, Scripted, counting, invariant, system_of
from tests.engines.test_parallel_bmc import counters, walk


def explored(system: TransitionSystem) -> Exploration | None:
    try:
        return explore(system, system.properties, 600)
    except TooLargeError:
        return None


@pytest.mark.parametrize("first", range(0, 45, 15))
def test_as_short_as_the_plainest_search_says(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From random walks, whose detours nobody has left out."""
    monkeypatch.setattr(shortening, "trimmed", lambda system, target, path, deadline=None: path)
    proved = shorter = symmetric = 0
    for seed in range(first, first + 15):
        draw = Random(seed)
        system = random_system(draw, frontiers=seed % 3 == 0)
        known = explored(system)
        if known is None:
            continue
        for target in system.properties:
            path = walk(system, target, draw, 9) if target.unless is None or seed % 10 == 0 else None
            if path is None:
                continue
            found = shortened(system, target, path)
            assert complaint(system, target, found.path) is None, (seed, target.name)
            length, wanted = len(found.path.actions), known.violations[target]
            if found.shortest is not None:
                assert length == wanted, (seed, target.name)
                proved += 1
            else:
                assert known.frontier is not None, (seed, target.name)
                assert known.frontier < length
                assert length >= wanted
            shorter += length < len(path.actions)
            symmetric += bool(system.swaps) and length > 1
    assert proved > 10
    assert shorter > 2
    assert symmetric > 2


def test_beyond_the_frontier_nothing_is_a_shortest_path() -> None:
    x, step = counting(6)
    y = Variable("y", (0, 1), 0, Role.STORE)
    aside: Draft = (conjunction((equals(x, 0), equals(y, 0))), {y: Constant(1)})
    targets = [invariant(equals(x, 2)), invariant(equals(x, 5))]
    system = system_of([x, y], [step, aside], targets, frontier=conjunction((equals(x, 2), equals(y, 1))))
    near, far = (shortened(system, t, straight(system, count)) for t, count in zip(targets, (2, 5), strict=True))
    # The frontier has depth 3.
    assert near.shortest == "no violation within 1 step (unsatisfiable)"
    assert far.shortest is None
    assert len(far.path.actions) == 5


def straight(system: TransitionSystem, count: int) -> Path:
    """So many steps of the first action."""
    states: list[State] = [system.initial]
    for _ in range(count):
        states.append(dict(steps(system, states[-1]))[system.actions[0]])
    return Path(tuple(states), (system.actions[0],) * count)


def test_nothing_is_shorter_than_the_initial_state_or_the_first_step() -> None:
    x, step = counting(4)
    first = invariant(conjunction((equals(x, 0), equals(x, 1, primed=True))), Form.STEP_INVARIANT)
    at_once, once = invariant(equals(x, 0)), invariant(equals(x, 1))
    system = system_of([x], [step], [at_once, first, once])
    assert shortened(system, at_once, straight(system, 0)).shortest == "it is the initial state"
    assert shortened(system, first, straight(system, 1)).shortest == "it is the first step"
    assert shortened(system, once, straight(system, 1)).shortest == "no violation within 0 steps (unsatisfiable)"


def test_a_halted_state_is_asked_about_at_its_own_depth() -> None:
    """The short way ends in a state without successors."""
    x = Variable("x", tuple(range(6)), 0, Role.STORE)
    drafts: list[Draft] = [
        (member(x, 0b01111), {x: Copy(x, (1, 2, 3, 4, -1, -1))}),
        (equals(x, 1), {x: Constant(5)}),
    ]
    target = invariant(member(x, 0b110000))
    system = system_of([x], drafts, [target], halted=member(x, 0b110000))
    found = shortened(system, target, straight(system, 4))
    assert [state for (state,) in found.path.states] == [0, 1, 5]
    assert found.shortest == "no violation within 1 step (unsatisfiable)"


@pytest.mark.parametrize("good", range(4))
def test_without_the_last_answer_there_is_no_proof(good: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers: a path of two counters that is shorter, and then that there is none."""
    monkeypatch.setattr(shortening, "trimmed", lambda system, target, path, deadline=None: path)
    variables, drafts = counters(2, 4)
    target = invariant(equals(variables[0], 3))
    system = system_of(variables, drafts, [target])
    states: list[State] = [system.initial]
    actions = [system.actions[number] for number in (1, 0, 1, 0, 1, 0)]
    for action in actions:
        states.append(dict(steps(system, states[-1]))[action])
    path = Path(tuple(states), tuple(actions))
    full = shortened(system, target, path)
    assert (len(full.path.actions), full.shortest) == (3, "no violation within 2 steps (unsatisfiable)")
    asked: list[int] = []

    class Counting(Scripted):
        def solve(self, assumptions: Sequence[int] = (), seconds: float | None = None) -> Answer:
            asked.append(1)
            return super().solve(assumptions, seconds)

    found = shortened(system, target, path, make_solver=lambda: Counting(good))
    assert complaint(system, target, found.path) is None
    assert found.shortest is None or len(asked) <= good
    if good == 0:
        assert found == Reached(path, None)
    late = shortened(system, target, path, deadline=time.monotonic() - 1)
    assert late == Reached(path, None)


def test_failing_memory_keeps_the_path() -> None:
    def exhausted() -> Solver:
        raise MemoryError

    x, step = counting(5)
    target = invariant(equals(x, 3))
    system = system_of([x], [step], [target])
    assert shortened(system, target, straight(system, 3), make_solver=exhausted) == Reached(straight(system, 3), None)


def test_as_an_engine_it_answers_for_each_property() -> None:
    outcomes: dict[Property, Outcome] = {}

    class Recorder:
        def progress(self, progress: Progress) -> None:
            assert progress.engine == "shortening"

        def decided(self, target: Property, outcome: Outcome) -> None:
            outcomes[target] = outcome

        def covered(self, coverage: Coverage) -> None:
            raise AssertionError

    x, step = counting(5)
    system = system_of([x], [step], [invariant(equals(x, 4)), invariant(equals(x, 2)), invariant(equals(x, 3))])
    deep, shallow, unknown = system.properties
    known = {deep: straight(system, 4), shallow: straight(system, 2)}
    Shortening(known).run(system, system.properties, Budget(), Recorder())
    assert isinstance(outcomes[unknown], Undecided)
    for target, path in known.items():
        outcome = outcomes[target]
        assert isinstance(outcome, Reached)
        assert outcome.path == path
        assert outcome.shortest is not None


# ------------------------------------------------------------------------------------------------ symmetry breaking


def test_of_each_orbit_of_runs_one_is_left() -> None:
    """All runs of a few steps: the solver accepts one image of each at least, and not all where they differ."""
    pruned = 0
    for seed in range(30):
        system = random_system(Random(seed))
        if not system.swaps or len(system.variables) > 6:
            continue
        for depth in (1, 2):
            solver = Solver()
            unrolling = Unrolling(system, solver)
            breaking = SymmetryBreaking(unrolling)
            for _ in range(depth):
                unrolling.extend()
                breaking.extended()
            runs = some_runs(system, depth, 12, Random(seed))
            for run in runs:
                images = orbit(system, run)
                accepted = [image for image in images if accepts(solver, unrolling, image)]
                assert accepted, (seed, run)
                pruned += len(images) - len(accepted)
    assert pruned > 10


def some_runs(system: TransitionSystem, depth: int, count: int, draw: Random) -> set[tuple[State, ...]]:
    found = set()
    for _ in range(count):
        states = [system.initial]
        while len(states) <= depth and (after := steps(system, states[-1])):
            states.append(draw.choice(after)[1])
        if len(states) > depth:
            found.add(tuple(states))
    return found


def orbit(system: TransitionSystem, run: tuple[State, ...]) -> list[tuple[State, ...]]:
    """All images of a run under the listed transpositions, one after the other."""
    found = [run]
    for each in found:
        for swap in system.swaps:
            image = tuple(image_of(system, state, swap) for state in each)
            if image not in found:
                found.append(image)
    return found


def image_of(system: TransitionSystem, state: State, swap: Permutation) -> State:
    codes = dict(zip(system.variables, state, strict=True))
    image = codes | {target: table[codes[source]] for source, target, table in swap.moves}
    return tuple(image[variable] for variable in system.variables)


def accepts(solver: Solver, unrolling: Unrolling, run: tuple[State, ...]) -> bool:
    assumptions = []
    for moment, state in enumerate(run):
        for variable, code in zip(unrolling.system.variables, state, strict=True):
            literals = unrolling.literals(variable, moment)
            shift = literals[0] - unrolling.layout.literals(variable)[0] if literals else 0
            for literal in unrolling.layout.full_cube(variable, code):
                assumptions.append(literal + shift if literal > 0 else literal - shift)
    return isinstance(solver.solve(assumptions), Sat)


def test_without_symmetries_nothing_is_said() -> None:
    x, step = counting(3)
    system = system_of([x], [step], [])
    unrolling = Unrolling(system, Solver())
    assert compared(system, unrolling.layout) == []
    SymmetryBreaking(unrolling).extended()
