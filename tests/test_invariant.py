"""The check of certificates against brute force over all states, reachable or not."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest

from checker.certificates.invariant import Invariant, check
from checker.certificates.rescue import Rescue
from checker.engines.engine import Budget, Coverage, Inductive, Outcome, Progress
from checker.engines.ic3 import Ic3
from checker.logic.formula import FALSE, TRUE, Formula, Role, Variable, conjunction, equals, member, negate
from checker.logic.smtlib import obligations
from checker.logic.solver import Solver, Unknown, Unsat, answer_text
from checker.transition_system import Constant, Copy, Form, Kind, Property, Reachability, State, TransitionSystem
from tests.engines.random_systems import random_system
from tests.engines.reference import holds, steps
from tests.engines.test_bmc import Scripted, counting, invariant, system_of


class Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[Property, Outcome] = {}

    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        self.outcomes[target] = outcome

    def covered(self, coverage: Coverage) -> None:
        pass


def leads_out(system: TransitionSystem, unless: Reachability, state: State, rescue: Rescue) -> bool:
    """By taking the actions one after the other."""
    before = now = state
    for action in rescue.actions:
        following = [after for other, after in steps(system, now) if other is action and action.kind in unless.kinds]
        if not following:
            return False
        before, now = now, following[0]
    return holds(system, unless.state, now) or any(
        holds(system, formula, before) != holds(system, formula, now) for formula in unless.watched
    )


def proves(system: TransitionSystem, target: Property, candidate: Invariant, rescues: Sequence[Rescue] = ()) -> bool:
    """By looking at every state and every step."""
    unless = target.unless
    if unless is not None and any(action.kind not in unless.kinds for rescue in rescues for action in rescue.actions):
        return False
    formula = candidate.formula
    if not holds(system, formula, system.initial):
        return False
    for state in itertools.product(*(range(variable.size) for variable in system.variables)):
        if not holds(system, formula, state):
            continue
        if holds(system, system.frontier, state):
            return False
        bad = target.form is not Form.STEP_INVARIANT and holds(system, target.bad, state)
        if bad and not (unless and any(leads_out(system, unless, state, rescue) for rescue in rescues)):
            return False
        for _, after in steps(system, state):
            if not holds(system, formula, after):
                return False
            if target.form is Form.STEP_INVARIANT and holds(system, target.bad, state, after):
                return False
    return True


def mutants(random: Random, candidate: Invariant) -> list[Invariant]:
    """The invariant with a clause dropped, weakened (the cube holds less often), or strengthened."""
    found = []
    cubes = candidate.cubes
    for number in random.sample(range(len(cubes)), min(2, len(cubes))):
        cube, before, after = cubes[number], cubes[:number], cubes[number + 1 :]
        found.append(Invariant((*before, *after)))
        place = random.randrange(len(cube))
        variable, mask = cube[place].variable, cube[place].mask
        assert variable is not None
        codes = [code for code in range(variable.size) if mask >> code & 1]
        if len(codes) > 1:
            less = member(variable, mask & ~(1 << random.choice(codes)))
            found.append(Invariant((*before, (*cube[:place], less, *cube[place + 1 :]), *after)))
        others = [code for code in range(variable.size) if not mask >> code & 1]
        more = member(variable, mask | 1 << random.choice(others))
        wider = tuple(part for part in (*cube[:place], more, *cube[place + 1 :]) if part is not TRUE)
        if wider:
            found.append(Invariant((*before, wider, *after)))
    return found


@pytest.mark.parametrize("chunk", range(6))
def test_the_check_agrees_with_brute_force_on_certificates_and_their_mutants(chunk: int) -> None:
    answers: Counter[bool] = Counter()
    changed: Counter[bool] = Counter()
    for seed in range(chunk * 20, chunk * 20 + 20):
        random = Random(seed)
        system = random_system(random, frontiers=seed % 3 == 0)
        if math.prod(variable.size for variable in system.variables) > 3_000:
            continue
        recorder = Recorder()
        Ic3().run(system, system.properties, Budget(), recorder)
        for target, outcome in recorder.outcomes.items():
            if not isinstance(outcome, Inductive):
                continue
            ways = outcome.rescues
            assert proves(system, target, outcome.invariant, ways)
            assert check(system, target, outcome.invariant, rescues=ways) is None
            assert obligations_hold(system, target, outcome.invariant, ways)
            for mutant in mutants(random, outcome.invariant):
                right = proves(system, target, mutant, ways)
                answers[right] += 1
                assert (check(system, target, mutant, rescues=ways) is None) is right, (seed, target.name, mutant.cubes)
            for less in other_ways(random, system, ways):
                right = proves(system, target, outcome.invariant, less)
                changed[right] += 1
                found = check(system, target, outcome.invariant, rescues=less)
                assert (found is None) is right, (seed, target.name, less)
                assert obligations_hold(system, target, outcome.invariant, less) is right, (seed, target.name, less)
    assert answers[False] > 5
    assert changed[False] > 5


def obligations_hold(system: TransitionSystem, target: Property, candidate: Invariant, ways: Sequence[Rescue]) -> bool:
    """Whether the safety text, for another solver's eyes, says so; false where there is none."""
    if target.unless is None:
        return True
    try:
        text = obligations(system, target, candidate.formula, ways).safety
    except ValueError:
        return False
    return isinstance(answer_text(text), Unsat)


def other_ways(random: Random, system: TransitionSystem, ways: Sequence[Rescue]) -> list[list[Rescue]]:
    """The ways out with one dropped, and with one that has an action less, one more, or another one."""
    if not ways:
        return []
    number = random.randrange(len(ways))
    rest = [*ways[:number], *ways[number + 1 :]]
    actions = ways[number].actions
    place = random.randrange(len(actions) + 1)
    other = random.choice(system.actions)
    return [
        rest,
        [*rest, Rescue(actions[:-1])],
        [*rest, Rescue((*actions[:place], other, *actions[place:]))],
        [*rest, Rescue((*actions[:place], other, *actions[place + 1 :]))],
    ]


def test_a_way_out_is_for_those_who_count() -> None:
    """`x` is 1 or 2 for a while; a thread goes on from 1 to 2, and the environment alone from 2."""
    x = Variable("x", (0, 1, 2), 0, Role.STORE)
    begin = (equals(x, 0), {x: Constant(1)}, Kind.ENVIRONMENT)
    go_on = (equals(x, 1), {x: Constant(2)}, Kind.THREAD)
    end = (equals(x, 2), {x: Constant(0)}, Kind.ENVIRONMENT)
    unless = Reachability(frozenset({Kind.THREAD}), equals(x, 2))
    at_rest = Property("p", Form.AT_REST, equals(x, 1), unless)
    system = system_of([x], [begin, go_on, end], [])
    _, move, back = system.actions
    assert check(system, at_rest, Invariant(())) == "it does not exclude every bad state"
    assert check(system, at_rest, Invariant(()), rescues=[Rescue((move,))]) is None
    beyond = check(system, at_rest, Invariant(()), rescues=[Rescue((move,)), Rescue((move, back))])
    assert beyond == "a way out has a step that is not one of those that count"
    twice = check(system, at_rest, Invariant(()), rescues=[Rescue((move, move))])
    assert twice == "it does not exclude every bad state"
    assert check(system, invariant(equals(x, 2)), Invariant(()), rescues=[Rescue((move,))]) is not None


@pytest.mark.parametrize("size", [2, 3, 16, 17, 40])
def test_each_obligation_is_looked_at(size: int) -> None:
    """A counter up to `size - 1` that stops one earlier: `x` is never the last code."""
    x = Variable("x", tuple(range(size)), 0, Role.STORE)
    system = system_of([x], [(member(x, x.full_mask >> 2), {x: Copy(x, (*range(1, size), -1))})], [])
    last = equals(x, size - 1)
    target = invariant(last)
    assert check(system, target, Invariant(((last,),))) is None
    assert check(system, target, Invariant(())) == "it does not exclude every bad state"
    if size > 2:
        early = Invariant(((member(x, x.full_mask & ~1),),))
        assert check(system, target, early) == "a step leads to where clause 0 does not hold"
    wrong = Invariant(((equals(x, 0),), (last,)))
    assert check(system, target, wrong) == "clause 0 does not hold in the initial state"
    assert check(system, invariant(equals(x, 0)), Invariant(())) == "the initial state is bad"


def test_the_steps_of_a_step_invariant_are_looked_at() -> None:
    x, step = counting(4)
    y = Variable("y", (0, 1), 0, Role.STORE)
    jump = (conjunction((equals(x, 3), equals(y, 1))), {x: Constant(0)})
    system = system_of([x, y], [step, jump], [])
    back = invariant(conjunction((equals(x, 3), equals(x, 0, primed=True))), Form.STEP_INVARIANT)
    assert check(system, back, Invariant(((equals(y, 1),),))) is None
    assert check(system, back, Invariant(())) == "it does not exclude every bad step"
    forth = invariant(conjunction((equals(x, 1), equals(x, 2, primed=True))), Form.STEP_INVARIANT)
    assert check(system, forth, Invariant(((equals(y, 1),),))) == "it does not exclude every bad step"


def test_the_end_of_the_window_must_be_excluded() -> None:
    x, step = counting(4)
    system = system_of([x], [step], [], frontier=equals(x, 3))
    assert check(system, invariant(FALSE), Invariant(())) == "it does not exclude the end of the explored window"


def test_a_halted_state_has_no_step_to_exclude() -> None:
    x, step = counting(4)
    beyond = Invariant(((equals(x, 3),),))
    assert check(system_of([x], [step], [], halted=equals(x, 2)), invariant(equals(x, 3)), beyond) is None
    running = check(system_of([x], [step], []), invariant(equals(x, 3)), beyond)
    assert running == "a step leads to where clause 0 does not hold"


@pytest.mark.parametrize("good", range(4))
def test_unknown_is_never_a_proof(good: int) -> None:
    """Two solvers, one question each: whether a bad state is possible, and whether a step leads out."""
    x, step = counting(3)
    y = Variable("y", (0, 1), 0, Role.STORE)
    target = invariant(equals(y, 1))
    made: list[Solver] = []

    def solver() -> Solver:
        made.append(Scripted(good))
        return made[-1]

    found = check(system_of([x, y], [step], []), target, Invariant(((equals(y, 1),),)), make_solver=solver)
    assert found == (None if good >= 1 else "the solver gave no answer: tired")
    assert isinstance(Scripted(0).solve(), Unknown)


def test_a_deadline_in_the_past_is_no_proof() -> None:
    x, step = counting(3)
    found = check(system_of([x], [step], []), invariant(FALSE), Invariant(((equals(x, 2),),)), time.monotonic() - 1)
    assert found == "the solver gave no answer: out of time"


def test_a_contradiction_is_no_invariant() -> None:
    x, step = counting(3)
    everything: tuple[Formula, ...] = (TRUE,)
    found = check(system_of([x], [step], []), invariant(equals(x, 1)), Invariant((everything,)))
    assert found == "clause 0 does not hold in the initial state"
    both = Invariant(((equals(x, 1),), (negate(equals(x, 1)),)))
    assert check(system_of([x], [step], []), invariant(equals(x, 1)), both) is not None


def test_formula_is_all_clauses() -> None:
    x, _ = counting(3)
    y = Variable("y", (0, 1), 0, Role.STORE)
    made = Invariant(((equals(x, 1), equals(y, 1)), (equals(x, 2),)))
    state: State
    for state in itertools.product(range(3), range(2)):
        system = system_of([x, y], [], [])
        assert holds(system, made.formula, state) == (state not in ((1, 1), (2, 0), (2, 1)))
