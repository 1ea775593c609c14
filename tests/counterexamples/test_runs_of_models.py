"""From the text of a model to what people see of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import models
from counterexamples.explain import Explanation, explain
from counterexamples.render.json import from_json, to_json
from counterexamples.render.page import Page, cells
from counterexamples.render.text import render, render_steps
from counterexamples.trace import Trace
from spec.interpreter import Interpreter
from spec.load import load
from spec.scenario import Run, run_scenario
from spec.simulate import simulate
from spec.typecheck import Checked, Choice, typecheck

LIBRARY = Path(models.__file__).parent
SHIPPED = sorted((LIBRARY / "conductor").glob("*.cpt"))

TEXT = """\
enum State { IDLE, DONE }
ids Job[1]
store db {
  durable state: Job -> State?
  durable lock row: Job lease
}
process Client[1] {
  on submit(j: fresh Job) {
    try {
      let answer = call Server.run(j)
    } catch refused {
      fail "nobody there"
    }
  }
}
process Server[1] {
  on run(job: Job): State {
    if db.row.acquire(job) {
      transaction db {
        state[job] := DONE
      }
    }
    return DONE
  }
}
faults {
  crash Server
  lose Client -- Server
  expire db.row
}

scenario told {
  Client.submit request
  Client.submit "let answer = call Server.run(j)"
  Server.run "if db.row.acquire(job) {"
  expire db.row
  Server.run "transaction db {"
  Server.run reply
}
scenario gone {
  Client.submit request
  Client.submit "let answer = call Server.run(j)"
  crash Server
}
scenario nobody {
  Client.submit request
  crash Server
  Client.submit "let answer = call Server.run(j)" refused
}
"""


def checked(path: Path) -> Checked:
    module = load(path, LIBRARY)
    assert not isinstance(module, tuple), module
    found = typecheck(module, Choice())
    assert not isinstance(found, tuple), found
    return found


def told(tmp_path: Path, scenario: str) -> Explanation:
    (tmp_path / "m.cpt").write_text(TEXT)
    model = checked(tmp_path / "m.cpt").model
    run = run_scenario(Interpreter(model), next(s for s in model.scenarios if s.name == scenario), 10_000)
    assert isinstance(run, Run)
    trace = Trace(model, run.states, run.events)
    explained = explain(trace)
    assert from_json(to_json(explained, trace), model) == trace
    return explained


def without_places(text: str) -> list[str]:
    """The lines, without the column of places in the source: the path is that of a temporary folder."""
    return [line[: line.index("m.cpt:")].rstrip(" …") if "m.cpt:" in line else line for line in text.splitlines()]


def test_a_call_a_lock_and_a_fault(tmp_path: Path) -> None:
    assert without_places(render_steps(told(tmp_path, "told"), Page(width=100))) == [
        "  1   Client[0].submit  request(j = Job#0)",
        "  2   Client[0].submit  let answer = call Server.run(j)",
        "                          Server[0].run   begins with job = Job#0",
        "  3   Server[0].run     if db.row.acquire(job)",
        "                          db.row[Job#0]   free → Server[0].run",
        "  4 ✗ db.row            expire Job#0",
        "                          db.row[Job#0]   Server[0].run → free",
        "  5   Server[0].run     transaction db { state[job] := DONE }",
        "                          db.state[Job#0]   none → DONE",
        "  6   Server[0].run     return DONE",
        "                          Client[0].submit   ends",
    ]


def test_a_caller_whose_callee_crashes(tmp_path: Path) -> None:
    assert without_places(render_steps(told(tmp_path, "gone"), Page(width=120)))[3:] == [
        "  3 ✗ Server[0]         crash",
        "                          Client[0].submit   ends: unknown is not caught",
        "                          Server[0].run      stopped before if db.row.acquire(job)  (line 18)",
    ]


def test_a_call_that_nobody_can_take(tmp_path: Path) -> None:
    assert without_places(render_steps(told(tmp_path, "nobody"), Page(width=120))) == [
        "  1   Client[0].submit  request(j = Job#0)",
        "  2 ✗ Server[0]         crash",
        "  3   Client[0].submit  let answer = call Server.run(j) ⇒ refused: Server[0] is down   ends",
    ]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_random_runs_of_the_shipped_models(path: Path) -> None:
    model = checked(path).model
    run = simulate(Interpreter(model), seed=7, steps=15)
    trace = Trace(model, run.states, run.events)
    explained = explain(trace)
    assert from_json(to_json(explained, trace), model) == trace
    for width in (50, 100):
        text = render(explained, Page(width=width))
        assert all(cells(line) <= width for line in text.splitlines())
    numbered = [line for line in render(explained, Page()).splitlines() if line[:4].strip().isdigit()]
    assert len(numbered) == len(trace)
