"""The search for fairness, against all choices of fairness tried one by one.

What a property takes is made up: a list of lassos, each with the assumptions that exclude it.  Under some choice of
assumptions the property is proved when these exclude every lasso.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from itertools import product

import pytest

from checker.confirm import Context
from checker.liveness.assumptions import Assumption, AssumptionKind, assumed, owing, with_fairness
from checker.liveness.fairness_needs import Assumptions, Needed, Relied
from checker.liveness.fairness_search import Broken, FairnessSearch
from checker.options import Options
from checker.planning.plan import Silence
from checker.time_limit import TimeLimit
from checker.transition_system import Form, Property
from checker.verdict import PropertyVerdict, Proved, Refuted, Undecided
from counterexamples.trace import Trace
from spec.event import Event, EventKind
from spec.typed import Fairness, FaultKind, Model
from tests.checker.samples import CERTIFICATE, EMPTY, fault, model, prop

NAMES = ("A", "B", "C", "D")
RANK = {Fairness.UNFAIR: 0, Fairness.WEAK: 1, Fairness.STRONG: 2}
TARGET = prop("l", Form.LIVE)


def restart(name: str) -> Assumption:
    return Assumption(AssumptionKind.RECOVERY, f"restart {name}")


def fair_model(fairness: dict[str, Fairness]) -> Model:
    """A model with a crash for each name, and the recovery from it so fair."""
    faults = (replace(fault(FaultKind.CRASH, name), fairness=fair) for name, fair in fairness.items())
    return model(*faults)


class MadeUp(FairnessSearch):
    """asked: all choices of assumptions that a verdict was wanted for."""

    def __init__(self, of: Model, lassos: list[Broken], unknown: bool = False) -> None:
        context = Context((), {})
        super().__init__(_Lowered(of), Options(), Silence(), context, TimeLimit(time.monotonic() + 100))  # type: ignore[arg-type]
        self.lassos = lassos
        self.unknown = unknown
        self.asked: list[dict[Assumption, Fairness]] = []

    def _ask(self, target: Property, assumptions: Assumptions) -> PropertyVerdict:
        self.asked.append(dict(assumptions))
        if self.unknown and len(self.asked) > 1:
            return Undecided("too hard")
        for number, lasso in enumerate(self.lassos):
            if not excludes(assumptions, lasso):
                return refuted(number)
        return Proved(CERTIFICATE)

    def _broken(self, trace: Trace, among: Assumptions) -> Broken:
        lasso = self.lassos[len(trace.events) - 1]
        return {a: least for a, least in lasso.items() if RANK[among.get(a, Fairness.UNFAIR)] >= RANK[least]}


class _Lowered:
    def __init__(self, of: Model) -> None:
        self.model = of


def refuted(number: int) -> Refuted:
    """Told from others by its length."""
    events = (Event(EventKind.STEP),) * (number + 1)
    return Refuted(Trace(model(), (EMPTY,) * (number + 2), events, 0), "search", None)


def excludes(assumptions: Assumptions, lasso: Broken) -> bool:
    return any(RANK[assumptions.get(a, Fairness.UNFAIR)] >= RANK[least] for a, least in lasso.items())


def minimal(declared: dict[Assumption, Fairness], lassos: list[Broken]) -> set[frozenset[tuple[Assumption, Fairness]]]:
    """By trying all choices."""
    good: list[dict[Assumption, Fairness]] = []
    levels = ([f for f in Fairness if RANK[f] <= RANK[most]] for most in declared.values())
    for fair in product(*levels):
        choice = dict(zip(declared, fair, strict=True))
        if all(excludes(choice, lasso) for lasso in lassos):
            good.append(choice)
    found: set[frozenset[tuple[Assumption, Fairness]]] = set()
    for choice in good:
        weaker = [c for c in good if c != choice and all(RANK[c[a]] <= RANK[choice[a]] for a in declared)]
        if not weaker:
            found.add(frozenset((a, f) for a, f in choice.items() if f is not Fairness.UNFAIR))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_all_minimal_sets_are_found(seed: int) -> None:
    drawn = random.Random(seed)
    fairness = {name: drawn.choice(list(Fairness)) for name in NAMES}
    of = fair_model(fairness)
    declared: dict[Assumption, Fairness] = {a: f for a, f in assumed(of).items() if f is not Fairness.UNFAIR}
    lassos: list[Broken] = []
    for _ in range(drawn.randint(0, 5)):
        broken = {
            a: drawn.choice([f for f in (Fairness.WEAK, Fairness.STRONG) if RANK[f] <= RANK[most]])
            for a, most in declared.items()
            if drawn.random() < 0.5
        }
        if broken:
            lassos.append(broken)
    search = MadeUp(of, lassos)
    relied = search.relied(TARGET)
    assert relied.complete
    assert not search.failures
    found = [frozenset((needed.assumption, needed.fairness) for needed in each.needed) for each in relied.sets]
    assert len(set(found)) == len(found)
    assert set(found) == minimal(declared, lassos)
    for each in relied.sets:
        for needed in each.needed:
            assert_needed(needed, relied, each.needed, lassos)


def assert_needed(needed: Needed, relied: Relied, among: tuple[Needed, ...], lassos: list[Broken]) -> None:
    """The lasso that is shown for it is one that nothing else of the set excludes, nor itself with less."""
    lasso = lassos[len(needed.without.trace.events) - 1]
    others = {each.assumption: each.fairness for each in among if each is not needed}
    if needed.fairness is Fairness.STRONG:
        others[needed.assumption] = Fairness.WEAK
    assert not excludes(others, lasso)
    assert excludes({**others, needed.assumption: needed.fairness}, lasso)


def test_what_is_not_decided_is_said() -> None:
    of = fair_model({"A": Fairness.WEAK})
    relied = MadeUp(of, [{restart("A"): Fairness.WEAK}], unknown=True).relied(TARGET)
    assert relied == Relied((), False, "too hard")


def test_a_lasso_that_the_proof_excludes_is_our_own_error() -> None:
    """Nothing that the model assumes excludes the lasso, and still the property was proved."""
    of = fair_model({"A": Fairness.WEAK})
    search = MadeUp(of, [{restart("A"): Fairness.STRONG}])
    assert not search.relied(TARGET).complete
    assert ["contradict" in failure.message for failure in search.failures] == [True]


def test_repairs_are_proved_one_by_one() -> None:
    """Making A strong or B weak excludes the only lasso; C does not matter.  With a second lasso only B helps."""
    of = fair_model({"A": Fairness.WEAK, "B": Fairness.UNFAIR, "C": Fairness.WEAK})
    first: Broken = {restart("A"): Fairness.STRONG, restart("B"): Fairness.WEAK}
    search = MadeUp(of, [first])
    repairs = search.repairs(TARGET, refuted(0))
    found = [(each.assumption, each.fairness) for each in repairs.found]
    assert found == [(restart("B"), Fairness.WEAK), (restart("A"), Fairness.STRONG)]
    assert repairs.tried == 2
    second: Broken = {restart("B"): Fairness.STRONG}
    repairs = MadeUp(of, [first, second]).repairs(TARGET, refuted(0))
    assert [(each.assumption, each.fairness) for each in repairs.found] == [(restart("B"), Fairness.STRONG)]


def test_one_repair_is_enough_when_nobody_asked() -> None:
    of = fair_model({"A": Fairness.WEAK, "B": Fairness.WEAK})
    lasso: Broken = {restart("A"): Fairness.STRONG, restart("B"): Fairness.STRONG}
    search = MadeUp(of, [lasso])
    assert search.run(TARGET, refuted(0), quickly=True) is not None
    assert len(search.asked) == 1
    unrepairable = MadeUp(of, [lasso, {}])
    assert unrepairable.run(TARGET, refuted(0), quickly=True) is None
    assert search.run(TARGET, Proved(CERTIFICATE), quickly=True) is None


def test_what_a_loop_owes() -> None:
    """A is able all the time, B now and then, and neither ever moves; C does."""
    from tests.checker.test_round_count import A, B, mover

    c = mover("c")
    loop = [(frozenset({A, B, c}), c), (frozenset({A, c}), c)]
    assert owing(loop) == {A: Fairness.WEAK, B: Fairness.STRONG}
    assert owing([(frozenset({A}), None)]) == {A: Fairness.WEAK}


def test_a_model_with_other_fairness() -> None:
    of = fair_model({"A": Fairness.WEAK, "B": Fairness.UNFAIR})
    changed = with_fairness(of, {restart("B"): Fairness.STRONG})
    assert assumed(changed) == {restart("A"): Fairness.WEAK, restart("B"): Fairness.STRONG}
    assert assumed(of) == {restart("A"): Fairness.WEAK, restart("B"): Fairness.UNFAIR}
