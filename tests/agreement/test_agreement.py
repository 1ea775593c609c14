"""Every engine agrees with the reference interpreter, on random programs in the language itself."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.engines.bmc import Bmc
from checker.engines.engine import Bounded, Budget, Reached, Unreachable
from checker.engines.search import Search
from checker.lower import lower
from counterexamples.replay import Confirmed, confirm
from spec.interpreter import Interpreter
from tests.agreement.deciding import checked, decide, length
from tests.agreement.oracle import TooLarge, explore, shortest_error, shortest_violation
from tests.agreement.programs import Program

EXAMPLES = int(os.environ.get("COUNTERPOINT_PROGRAMS", "150"))
"""How many programs each test looks at; the nightly and CI runs set more."""

STATES = 1500
DEPTH = 7

programs = st.builds(lambda data: Program(lambda width: data.draw(st.integers(0, width - 1))).text(), st.data())

careful = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def expected_lengths(text: str) -> dict[str, int | None] | None:
    """For every property, the length of its shortest violation by the interpreter alone; None for a model with more
    states than the interpreter can look at in a test."""
    model = checked(text).model
    interpreter = Interpreter(model)
    try:
        graph = explore(interpreter, STATES)
    except TooLarge:
        return None
    expected = {p.name: shortest_violation(graph, interpreter, p) for p in model.properties}
    expected["model_errors"] = shortest_error(graph, assertion=False)
    return expected


@careful
@given(st.data())
def test_engines_and_interpreter_agree(data: st.DataObject) -> None:
    text = Program(lambda width: data.draw(st.integers(0, width - 1))).text()
    expected = expected_lengths(text)
    if expected is None:
        return
    model = checked(text).model
    interpreter = Interpreter(model)
    lowered = lower(model)
    searches = [decide(Search(symmetry=symmetry), lowered) for symmetry in (False, True)]
    bounded = decide(Bmc(), lowered, Budget(depth=DEPTH))
    for name, wanted in expected.items():
        for outcomes in searches:
            assert length(outcomes[name]) == wanted, (name, text)
            assert isinstance(outcomes[name], Reached if wanted is not None else Unreachable), (name, text)
        found = bounded[name]
        if wanted is not None and wanted <= DEPTH:
            assert length(found) == wanted, (name, text)
        else:
            assert isinstance(found, Bounded), (name, text)
            assert found.depth >= DEPTH or "no run" in found.reason, (name, found, text)
        for outcome in (*(outcomes[name] for outcomes in searches), found):
            if isinstance(outcome, Reached):
                assert outcome.shortest is not None
                trace = lowered.trace(outcome.path)
                assert isinstance(confirm(trace, name, interpreter), Confirmed), (name, text)
