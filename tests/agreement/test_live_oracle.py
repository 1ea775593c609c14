"""The oracle for `live` properties, on programs whose truth is worked out by hand."""

from __future__ import annotations

import pytest

from spec.interpreter import Interpreter
from tests.agreement.live_oracle import holds_live
from tests.agreement.live_programs import PROGRAMS
from tests.agreement.oracle import explore
from tests.spec.typecheck_models import check


@pytest.mark.parametrize(("text", "truth"), PROGRAMS)
def test_truth(text: str, truth: dict[str, bool]) -> None:
    interpreter = Interpreter(check(text).model)
    graph = explore(interpreter, 5_000)
    found = {p.name: holds_live(graph, interpreter, p) for p in interpreter.model.properties}
    assert found == truth
