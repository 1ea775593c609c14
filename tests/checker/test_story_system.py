"""The search for a scenario's run against `spec.scenario`, which does the same on the reference interpreter alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from checker.lower import Lowered, lower
from checker.options import Options
from checker.planning.plan import Silence
from checker.story import tell
from checker.time_limit import TimeLimit
from checker.verdict import NotARun, Runs
from spec.interpreter import Interpreter
from spec.load import load
from spec.scenario import NotARun as NoRun
from spec.scenario import Run, run_scenario
from spec.syntax import Module
from spec.typecheck import Checked, typecheck
from spec.typed import Scenario

MODEL = """\
ids Job[2]
store db { durable state: Job -> bool? }
store mq { durable queue jobs: Job }
process Server[2] {
  on submit(j: fresh Job) {
    db.state.insert(j, false)
    mq.jobs.push(j)
  }
  loop work {
    let j = mq.jobs.take()
    step "run" { db.state[j] := true }
    mq.jobs.ack(j)
  }
}
faults { crash Server, mq }
cover done: exists j: Job. db.state[j] == true
"""

STORIES = {
    "straight": 'Server.submit request; Server.submit "db.state.insert(j, false)"; Server.submit "mq.jobs.push(j)"',
    "gaps": '..; Server.work "run"; ..; then forall j: Job. db.state[j] == true',
    "numbered": 'Server[1].submit request; ..; crash Server[1]; ..; Server[1].work "run"; ..',
    "two_requests": "Server.submit request; Server.submit request; Server.submit request",
    "wrong_order": 'Server.submit request; Server.submit "mq.jobs.push(j)"',
    "nothing_runs_twice": 'Server.submit request; ..; Server.work "run"; Server.work "run"',
    "never_three": "..; then (count j: Job. db.state[j] is some) == 3",
    "from_the_start": "then exists j: Job. db.state[j] is some; ..",
    "empty_gap": "..; then forall j: Job. db.state[j] is none",
    "refused": '..; crash mq; Server.submit "mq.jobs.push(j)" refused',
    "unknown_kept": '..; Server.submit "mq.jobs.push(j)" during crash mq kept; restart mq; then mq.jobs.size == 1',
    "unknown_lost": 'Server.submit request; Server.submit; Server.submit "mq.jobs.push(j)" during crash mq lost;'
    " restart mq; then mq.jobs.size == 1",
    "redelivered": "..; Server.work; crash Server; ..; redeliver mq.jobs; ..; then mq.jobs.size == 0",
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    scenarios = "\n".join(f"scenario {name} {{ {text} }}" for name, text in STORIES.items())
    path = tmp_path_factory.mktemp("stories") / "jobs.cpt"
    path.write_text(f"{MODEL}\n{scenarios}\n")
    module = load(path, Path())
    assert isinstance(module, Module), module
    found = typecheck(module)
    assert isinstance(found, Checked), found
    return found


@pytest.fixture(scope="module")
def lowered(checked: Checked) -> Lowered:
    return lower(checked.model)


def scenario(checked: Checked, name: str) -> Scenario:
    return next(each for each in checked.model.scenarios if each.name == name)


@pytest.mark.parametrize("name", STORIES)
def test_both_agree(name: str, checked: Checked, lowered: Lowered) -> None:
    interpreter = Interpreter(checked.model)
    expected = run_scenario(interpreter, scenario(checked, name), 200_000)
    found = tell(scenario(checked, name), lowered, interpreter, Options(), Silence(), TimeLimit(time.monotonic() + 60))
    match expected:
        case Run(events=events):
            assert isinstance(found, Runs)
            assert len(found.trace) == len(events)
        case NoRun(furthest=furthest):
            assert isinstance(found, NotARun)
            assert found.furthest == furthest
        case _:
            pytest.fail("the reference search reached its limit")


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("straight", True),
        ("gaps", True),
        ("numbered", True),
        ("two_requests", False),
        ("wrong_order", False),
        ("never_three", False),
        ("from_the_start", False),
        ("empty_gap", True),
        ("unknown_kept", True),
        ("unknown_lost", False),
        ("redelivered", True),
    ],
)
def test_what_the_stories_mean(name: str, runs: bool, checked: Checked, lowered: Lowered) -> None:
    """By hand: two ids allow two requests; the push comes after the insert; two jobs are never three; in the first
    state no row is there; a push that was lost leaves the queue empty."""
    found = tell(
        scenario(checked, name),
        lowered,
        Interpreter(checked.model),
        Options(),
        Silence(),
        TimeLimit(time.monotonic() + 60),
    )
    assert isinstance(found, Runs if runs else NotARun)
