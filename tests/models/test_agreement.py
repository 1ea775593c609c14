"""On every shipped model, in every variant, the engines and the interpreter agree.

Both engines: the same shortest lengths.  The interpreter: it walks every counterexample; it walks from every state of a
closed set that is small enough, and of a small model it explores everything by itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.certificates.certificate import Certificate, Claim, certify
from checker.certificates.claim import Asserted, Declared, NoModelError, NoStuckThread
from checker.coding import BudgetedCoding
from checker.engines.bmc import Bmc
from checker.engines.engine import Budget, Reached, Unreachable
from checker.engines.search import Search
from checker.lower import Lowered, lower
from checker.lowering.layout import dead_code, leaves
from checker.lowering.properties import MODEL_ERRORS, STUCK_THREADS, assertions
from counterexamples.replay import Confirmed, confirm
from spec import syntax
from spec.interpreter import Interpreter
from spec.load import load
from spec.stuck import Stuck
from spec.typecheck import Checked, Choice, typecheck
from spec.typed import Model, PropertyForm
from tests.agreement.deciding import decide, length
from tests.agreement.oracle import TooLarge, explore, shortest_violation
from tests.agreement.stuck_oracle import StuckOracle

MODELS = Path(__file__).resolve().parents[2] / "models"
ALONE = 4_000
"""States that the interpreter explores by itself."""


def module_of(path: Path) -> syntax.Module:
    module = load(path, MODELS)
    assert isinstance(module, syntax.Module)
    return module


def variants() -> list[tuple[Path, str]]:
    found = []
    for path in sorted((MODELS / "conductor").glob("*.cpt")):
        answer = typecheck(module_of(path), Choice())
        assert isinstance(answer, Checked)
        found += [(path, variant.name) for variant in answer.variants]
    return found


@pytest.fixture(params=variants(), ids=lambda pair: f"{pair[0].stem}-{pair[1]}", scope="module")
def lowered(request: pytest.FixtureRequest) -> Lowered:
    path, variant = request.param
    answer = typecheck(module_of(path), Choice(variant=variant))
    assert isinstance(answer, Checked)
    return lower(answer.model)


@pytest.fixture(scope="module")
def searched(lowered: Lowered) -> dict[str, object]:
    return dict(decide(Search(), lowered))


def test_locals_begin_dead(lowered: Lowered) -> None:
    """`ModelLayout.encode` leaves the variables of dead locals as they are at first."""
    for slot in lowered.layout.slots.values():
        for part in slot.locals.values():
            assert all(variable.initial == dead_code(variable) for variable in leaves(part))


def test_symmetry_changes_nothing(lowered: Lowered, searched: dict[str, object]) -> None:
    plain = decide(Search(symmetry=False), lowered)
    assert {n: length(o) for n, o in plain.items()} == {n: length(o) for n, o in searched.items()}


def test_bounded_engine_finds_the_same_lengths(lowered: Lowered, searched: dict[str, object]) -> None:
    lengths = {name: length(outcome) for name, outcome in searched.items()}
    deepest = max((n for n in lengths.values() if n is not None), default=0)
    bounded = decide(Bmc(), lowered, Budget(depth=deepest))
    assert {name: length(outcome) for name, outcome in bounded.items()} == lengths


def test_interpreter_walks_every_counterexample(lowered: Lowered, searched: dict[str, object]) -> None:
    interpreter = Interpreter(lowered.model)
    for name, outcome in searched.items():
        if isinstance(outcome, Reached):
            assert isinstance(confirm(lowered.trace(outcome.path), name, interpreter), Confirmed), name


def test_interpreter_walks_from_states_of_every_closed_set(lowered: Lowered, searched: dict[str, object]) -> None:
    interpreter = Interpreter(lowered.model)
    proved = {name: outcome for name, outcome in searched.items() if isinstance(outcome, Unreachable)}
    for outcome in list(proved.values())[:1]:
        claims = [_claim(lowered.model, name, interpreter) for name in proved]
        found = certify(
            outcome.closed_set, "search", outcome.depth, claims, BudgetedCoding(lowered, interpreter), interpreter
        )
        assert isinstance(found, Certificate)
        assert found.walked > 100 or found.complete


def test_interpreter_alone_finds_the_same_lengths(lowered: Lowered, searched: dict[str, object]) -> None:
    interpreter = Interpreter(lowered.model)
    try:
        graph = explore(interpreter, ALONE)
    except TooLarge:
        pytest.skip("too many states for the interpreter alone")
    for declaration in lowered.model.properties:
        if declaration.form is PropertyForm.LIVE:
            # The search leaves these to engines of their own; tests/agreement/test_live_verdicts.py has their oracle.
            continue
        assert shortest_violation(graph, interpreter, declaration) == length(searched[declaration.name])


def test_the_graph_alone_says_who_is_stuck(lowered: Lowered, searched: dict[str, object]) -> None:
    interpreter = Interpreter(lowered.model)
    try:
        graph = explore(interpreter, ALONE)
    except TooLarge:
        pytest.skip("too many states for the interpreter alone")
    stuck = StuckOracle(graph, interpreter).stuck
    assert min((graph.depth[state] for state, those in stuck.items() if those), default=None) == length(
        searched[STUCK_THREADS]
    )


def _claim(model: Model, name: str, interpreter: Interpreter) -> Claim:
    declared = next((p for p in model.properties if p.name == name), None)
    if declared is not None:
        return Declared(declared, interpreter)
    if name == STUCK_THREADS:
        return NoStuckThread(Stuck(interpreter))
    return NoModelError() if name == MODEL_ERRORS else Asserted(name, assertions(model)[name])
