from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from checker.logic.encode import Layout, Template, formula_template, is_one_hot, step_template
from checker.logic.formula import (
    FALSE,
    TRUE,
    Formula,
    Role,
    Variable,
    conjunction,
    disjunction,
    equals,
    evaluate,
    iff,
    member,
    negate,
)
from checker.logic.solver import Sat, Solver, Unsat, flatten
from checker.transition_system import Action, Cases, Constant, Copy, Kind, State, TransitionSystem, Update, successor
from spec.event import Event, EventKind
from tests.engines.random_systems import random_system
from tests.engines.reference import steps

SIZES = (1, 2, 3, 4, 7, 16, 17, 31, 32, 33, 40)


def variable(name: str, size: int, initial: int = 0) -> Variable:
    return Variable(name, tuple(range(size)), initial, Role.STORE)


def action(index: int, guard: Formula, updates: dict[Variable, Update]) -> Action:
    return Action(index, Event(EventKind.STEP), Kind.THREAD, guard, updates)


def system_of(variables: list[Variable], *drafts: tuple[Formula, dict[Variable, Update]]) -> TransitionSystem:
    actions = tuple(action(index, guard, updates) for index, (guard, updates) in enumerate(drafts))
    return TransitionSystem(tuple(variables), actions, ())


def random_formula(random: Random, variables: list[Variable], depth: int, primes: bool = True) -> Formula:
    if depth == 0:
        chosen = random.choice(variables)
        mask = random.choice(
            (
                random.getrandbits(chosen.size),
                1 << random.randrange(chosen.size),
                chosen.full_mask ^ 1 << random.randrange(chosen.size),
                (1 << random.randrange(chosen.size)) - 1,
            )
        )
        return member(chosen, mask, primes and random.random() < 0.3)
    parts = [random_formula(random, variables, random.randrange(depth), primes) for _ in range(random.randint(2, 4))]
    which = random.random()
    if which < 0.4:
        return conjunction(parts)
    if which < 0.8:
        return disjunction(parts)
    return negate(iff(parts[0], parts[1]))


def shifted(literals: tuple[int, ...], shift: int) -> list[int]:
    return [literal + shift if literal > 0 else literal - shift for literal in literals]


def assumed(layout: Layout, codes: dict[Variable, int], primed: bool) -> list[int]:
    shift = layout.width if primed else 0
    return [literal for v, code in codes.items() for literal in shifted(layout.full_cube(v, code), shift)]


def loaded(template: Template) -> Solver:
    solver = Solver()
    solver.add(template.clauses)
    return solver


@pytest.mark.parametrize(
    ("size", "count"), [(1, 0), (2, 1), (3, 3), (4, 4), (16, 16), (17, 5), (32, 5), (33, 6), (40, 6)]
)
def test_literals_of_a_variable(size: int, count: int) -> None:
    layout = Layout([variable("before", 3), variable("x", size), variable("after", 3)])
    x = layout.variables[1]
    assert list(layout.literals(x)) == list(range(4, 4 + count))
    assert list(layout.literals(x, primed=True)) == [literal + layout.width for literal in layout.literals(x)]
    assert layout.width == count + 6


@pytest.mark.parametrize("size", SIZES)
def test_every_code_survives_encoding(size: int) -> None:
    x = variable("x", size)
    layout = Layout([variable("before", 2), x])
    cubes = {layout.full_cube(x, code) for code in range(size)}
    assert len(cubes) == size
    for code in range(size):
        true = set(layout.full_cube(x, code))
        assert set(layout.cube(x, code)) <= true
        assert layout.code(x, true.__contains__) == code


def test_decoding_refuses_what_is_no_code() -> None:
    for size, true in ((3, set[int]()), (3, {1, 2}), (17, {1, 2, 3, 4, 5})):
        layout = Layout([variable("x", size)])
        with pytest.raises(AssertionError):
            layout.code(layout.variables[0], true.__contains__)


def test_placing_moves_each_block_by_its_own_shift() -> None:
    template = Template(flatten([[1, -2], [-3, 4], [5, -6]]), 2, 2, (5,))
    placed = template.placed(10, 20, 30)
    assert placed.tolist() == [11, -12, 0, -21, 22, 0, 31, -32, 0]
    assert template.placed(0, 2, 4).tolist() == template.clauses.tolist()
    assert placed.dtype == np.int64


@pytest.mark.parametrize("size", SIZES)
def test_membership_in_any_set(size: int) -> None:
    """As a literal of its own, within a conjunction and within a disjunction, for the present and the next state."""
    random = Random(size)
    x, y = variable("x", size), variable("y", 2)
    layout = Layout([y, x])
    for primed in (False, True):
        for _ in range(6):
            inside = member(x, random.getrandbits(size), primed)
            for formula in (inside, conjunction((inside, equals(y, 1))), disjunction((inside, equals(y, 1)))):
                template = formula_template(formula, layout)
                solver = loaded(template)
                for code, other in itertools.product(range(size), range(2)):
                    answer = solver.solve(
                        [template.outputs[0], *assumed(layout, {x: code}, primed), *assumed(layout, {y: other}, False)]
                    )
                    expected = evaluate(formula, {x: code, y: other}.__getitem__, {x: code}.__getitem__)
                    assert isinstance(answer, Sat if expected else Unsat)


@pytest.mark.parametrize("seed", range(60))
def test_a_formula_holds_where_its_literal_can(seed: int) -> None:
    """Every assignment of a few variables, compared with direct evaluation; without the literal nothing is forced."""
    random = Random(seed)
    variables = [variable(f"x{i}", random.choice((2, 2, 3, 4, 17, 20))) for i in range(2)]
    formula = random_formula(random, variables, 4)
    layout = Layout(variables)
    template = formula_template(formula, layout)
    solver = loaded(template)
    for codes in itertools.product(*(range(v.size) for v in variables)):
        now = dict(zip(variables, codes, strict=True))
        for _ in range(2):
            then = {v: random.randrange(v.size) for v in variables}
            given = assumed(layout, now, False) + assumed(layout, then, True)
            expected = evaluate(formula, now.__getitem__, then.__getitem__)
            answer = solver.solve([template.outputs[0], *given])
            assert isinstance(answer, Sat if expected else Unsat)
            assert isinstance(solver.solve(given), Sat)


def test_constant_formulas() -> None:
    layout = Layout([variable("x", 3)])
    for formula, kind in ((TRUE, Sat), (FALSE, Unsat)):
        template = formula_template(formula, layout)
        assert isinstance(loaded(template).solve([template.outputs[0]]), kind)


def test_shared_parts_are_encoded_once() -> None:
    """Towers of exclusive or over shared parts: without sharing their size doubles with every level."""
    variables = [variable(f"x{i}", 2) for i in range(40)]
    formula = equals(variables[0], 1)
    for each in variables[1:]:
        formula = negate(iff(formula, equals(each, 1)))
    template = formula_template(formula, Layout(variables))
    assert (template.clauses == 0).sum() < 1000


def solved_successors(system: TransitionSystem, state: State) -> Iterator[tuple[Action, State]]:
    """All models of the step template with this current state."""
    layout = Layout(system.variables)
    template = step_template(system, layout)
    solver = loaded(template)
    solver.add(
        flatten([literal] for literal in assumed(layout, dict(zip(system.variables, state, strict=True)), False))
    )
    while isinstance(answer := solver.solve(), Sat):
        model = answer.model
        fired = [number for number, output in enumerate(template.outputs) if model(output)]
        assert len(fired) == 1
        following = {v: {n for n in layout.literals(v) if model(n + layout.width)} for v in system.variables}
        target = tuple(layout.code(v, true.__contains__) for v, true in following.items())
        yield system.actions[fired[0]], target
        block = [-template.outputs[fired[0]]]
        for v, code in zip(system.variables, target, strict=True):
            block += [-literal for literal in shifted(layout.full_cube(v, code), layout.width)]
        solver.add_clause(*block)


def check_successors(system: TransitionSystem, state: State) -> None:
    found = list(solved_successors(system, state))
    expected = steps(system, state)
    assert sorted((a.index, s) for a, s in found) == sorted((a.index, s) for a, s in expected)


@pytest.mark.parametrize("seed", range(60))
def test_a_step_has_exactly_the_successors(seed: int) -> None:
    random = Random(seed)
    system = random_system(random, frontiers=seed % 2 == 0, wide=seed % 3)
    states = {system.initial}
    for _ in range(6):
        states |= {target for state in list(states)[:5] for _, target in steps(system, state)}
    for state in sorted(states)[:8]:
        check_successors(system, state)


@pytest.mark.parametrize(("source", "target"), list(itertools.product((2, 3, 16, 17, 40), repeat=2)))
def test_copies_between_all_kinds_of_domains(source: int, target: int) -> None:
    random = Random(source * 100 + target)
    x, y = variable("x", source), variable("y", target)
    table = tuple(-1 if random.random() < 0.2 else random.randrange(target) for _ in range(source))
    allowed = sum(1 << code for code, new in enumerate(table) if new >= 0)
    system = system_of([x, y], (member(x, allowed), {y: Copy(x, table)}), (equals(y, 1), {x: Constant(source - 1)}))
    for code in range(source):
        check_successors(system, (code, random.randrange(target)))


@pytest.mark.parametrize("size", [2, 3, 16, 17, 40])
def test_identity_copies_swaps_and_cases(size: int) -> None:
    x, y = variable("x", size), variable("y", size)
    same = tuple(range(size))
    low = member(x, (1 << size // 2) - 1)
    system = system_of(
        [x, y],
        (TRUE, {x: Copy(y, same), y: Copy(x, same)}),
        (negate(equals(y, 0)), {y: Cases(((low, size - 1), (negate(low), 0)))}),
        (member(x, (1 << size - 1) - 1), {x: Copy(x, (*range(1, size), -1))}),
    )
    for code in range(size):
        check_successors(system, (code, (code * 7 + 1) % size))
    assert successor(system, (0, 1), system.actions[0]) == (1, 0)


@pytest.mark.parametrize("size", [n for n in SIZES if n > 1])
def test_a_step_leads_to_codes_only(size: int) -> None:
    """A variable that is written without a constraint gets exactly the codes that it has."""
    x = variable("x", size)
    system = system_of([x], (TRUE, {x: Copy(x, (-1,) * size)}))
    targets = [target[0] for _, target in solved_successors(system, (0,))]
    assert sorted(targets) == list(range(size))


def test_no_action_no_step() -> None:
    assert not list(solved_successors(system_of([variable("x", 3)]), (0,)))


def test_one_hot_ends_at_sixteen_codes() -> None:
    assert [size for size in range(1, 20) if is_one_hot(variable("x", size))] == list(range(3, 17))
