"""Mistakes that could be made about infinite runs: the comparison with the reference finds each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, product
from types import ModuleType

import pytest

from checker.engines import fair_cycles, fair_hull
from checker.liveness import counting, lasso_system
from tests.engines.live_agreement import Subject, by_counting, by_fair_cycles, by_hull, by_search, mutated, subject
from tests.engines.live_samples import SAMPLES

SEEDS = 40
SAVES = "guard = conjunction((equals(self.phase, _FREE), self._pending(*self.cases[place])))"
OBSERVES = "self._own((counting, equals(kept, 0), negate(constraint.enabled)), {kept: noted})"
STRONG = (
    "guard.append(disjunction((negate(equals(kept, 2)), negate(constraint.enabled))))",
    "updates[kept] = Copy(kept, (0, 0, 2)) if constraint.strong else Constant(0)",
)

MUTANTS: list[tuple[str, ModuleType, str, str]] = [
    ("no run stays", lasso_system, "return disjunction((conjunction(closed), staying))", "return conjunction(closed)"),
    ("runs stay where something is owed", lasso_system, "may_stay(self.original), recurrent", "recurrent"),
    (
        "the saved state is not looked at",
        lasso_system,
        "self.inside = negate(equals(self.phase, _FREE))",
        "self.inside = equals(self.phase, _LOOPING)",
    ),
    (
        "the first step is not looked at",
        lasso_system,
        "Copy(self.phase, (0, taken, taken))",
        "Copy(self.phase, (0, 0, taken))",
    ),
    ("strong constraints ask for nothing", lasso_system, "0b101 if constraint.strong", "0b111 if constraint.strong"),
    ("faults in the loop", lasso_system, "guard = conjunction((action.guard, outside))", "guard = action.guard"),
    ("goals in the loop", lasso_system, "disjunction((outside, avoiding))", "TRUE"),
    ("saved before it is pending", lasso_system, SAVES, "guard = equals(self.phase, _FREE)"),
    ("pending beyond the goal", lasso_system, "return conjunction((negate(case.goal), started))", "return started"),
    (
        "a variable is not compared",
        lasso_system,
        "in self.saved.items():\n            same",
        "in [*self.saved.items()][1:]:\n            same",
    ),
    ("nothing need recur", lasso_system, "closed.append(equals(self.seen, 1))", "pass"),
    (
        "no run stays",
        counting,
        "disjunction((equals(self.count, self.rounds), conjunction(staying)))",
        "equals(self.count, self.rounds)",
    ),
    ("faults while counting", counting, "guard.append(negate(counting))", "pass"),
    ("goals while counting", counting, "disjunction((free, negate(self.case.goal)))]", "TRUE]"),
    ("rounds without a step", counting, "equals(self.moved, 1), ", ""),
    ("claims that bind nobody", counting, STRONG[0], "pass"),
    ("nothing is disabled", counting, OBSERVES, "pass"),
    ("no claims", counting, OBSERVES, f"constraint.strong or {OBSERVES}"),
    ("rounds that owe nothing anew", counting, STRONG[1], "pass"),
    (
        "counting before it is pending",
        counting,
        "self._own((pending, negate(goal))",
        "self._own((negate(equals(self.phase, _COUNTING)), negate(goal))",
    ),
    ("no run stays", fair_cycles, "if len(stays):", "if False:"),
    (
        "strong constraints ask for nothing",
        fair_cycles,
        "            if constraint.strong:\n",
        "            if False:\n",
    ),
    ("faults in the loop", fair_cycles, "self.search.is_calm(edges) & ", ""),
    (
        "a component that owes a strong step is dropped",
        fair_cycles,
        "alive &= ~(enabled & owing.take(label))",
        "alive &= ~owing.take(label)",
    ),
    (
        "steps that leave the component",
        fair_cycles,
        "part.having(self._taking(part.inside, constraint).sources)\n            fair",
        "part.having(self._taking(part.edges, constraint).sources)\n            fair",
    ),
    ("goals on the way", fair_cycles, "self.avoid = ~search.flags(case.goal)", "self.avoid = search.flags(TRUE)"),
    (
        "nothing need recur",
        fair_cycles,
        "part.having(part.inside.sources) & part.having(np.flatnonzero(recurrent))",
        "part.having(part.inside.sources)",
    ),
    ("every state is a start", fair_cycles, "triggered = triggered[triggered == 0]", "pass"),
    ("no run stays", fair_hull, "kept | stays", "kept"),
    (
        "faults in the loop",
        fair_hull,
        "action.kind is not Kind.FAULT for action",
        "True for action",
    ),
    ("weak for strong", fair_hull, "            if strong:\n", "            if False:\n"),
    ("strong for weak", fair_hull, "            if strong:\n", "            if True:\n"),
    ("states without steps are kept", fair_hull, "kept = kept & graph.before(kept, calm)", "pass"),
    ("no way to what was kept", fair_hull, "graph.leading_to(kept | stays, avoid, calm=False)", "(kept | stays)"),
    ("one look", fair_hull, "if np.count_nonzero(kept) == before:", "if True:"),
]
CHECKS: dict[ModuleType, Callable[[Subject, ModuleType], None]] = {
    lasso_system: by_search,
    counting: by_counting,
    fair_cycles: by_fair_cycles,
    fair_hull: by_hull,
}


@pytest.mark.parametrize(
    ("module", "right", "wrong"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[f"{mutant[1].__name__.rpartition('.')[2]}: {mutant[0]}" for mutant in MUTANTS],
)
def test_a_mistake_is_found(module: ModuleType, right: str, wrong: str) -> None:
    mutant = mutated(module, right, wrong)
    subjects = (subject(seed, kind) for seed, kind in product(range(SEEDS), ("mixed", "weak")))
    samples = (Subject(system) for system, _ in SAMPLES.values())
    for one in chain(samples, subjects):
        try:
            CHECKS[module](one, mutant)
        except AssertionError:
            return
    pytest.fail("nobody noticed")


@pytest.mark.parametrize("check", CHECKS.values())
def test_strong_is_not_weak(check: Callable[[Subject], None]) -> None:
    """A system with weak constraints in place of strong ones has another answer."""
    one = Subject(SAMPLES["the same with strong fairness"][0])
    check(one)
    weak = tuple(replace(constraint, strong=False) for constraint in one.system.fairness)
    one.system = replace(one.system, fairness=weak)
    with pytest.raises(AssertionError):
        check(one)
