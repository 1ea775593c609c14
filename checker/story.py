"""Scenarios: is there a run that follows the story?

The engines search the model together with its place in the story (`checker.story_system`).  A run that they find is
walked by the interpreter.  That there is none is a closed set, which is re-checked as that of a proof is.
"""

from __future__ import annotations

from dataclasses import replace

from checker.bundle import Failure, OwnError
from checker.coding import BudgetedCoding
from checker.engines.engine import ClosedSet, FewRounds, Inductive, Lasso, NoFairCycle, Path, Reached, Unreachable
from checker.lower import Lowered
from checker.options import Options
from checker.planning.plan import Observer, decide
from checker.story_system import follows, passed, story_system, told_by
from checker.time_limit import TimeLimit
from checker.verdict import NotARun, Runs, ScenarioVerdict, Undecided
from counterexamples.replay import replay
from counterexamples.trace import Trace
from spec.interpreter import Interpreter
from spec.typed import Scenario

_SEED = 1
_STEPS = 1000
"""The interpreter takes about so many steps from the states of a closed set."""


def tell(
    scenario: Scenario,
    lowered: Lowered,
    interpreter: Interpreter,
    options: Options,
    observer: Observer,
    limit: TimeLimit,
) -> ScenarioVerdict:
    """A run that follows the scenario, or that there is none; undecided at the limit.  Depth and engine of the
    options do not apply.  Raises OwnError when the evidence does not stand, and KeyboardInterrupt."""
    story = story_system(lowered, scenario)
    system = story.system if options.symmetry else replace(story.system, swaps=())
    anything = replace(options, depth=None, engine="auto")
    decisions = decide(system, story.places[-1:], story.places[:-1], anything, observer, limit, helpers=("bmc",))
    if decisions.failures:
        raise OwnError(decisions.failures[0])
    outcome = decisions.of(story.places[-1]).outcome
    match outcome:
        case Reached(path=path):
            return Runs(_confirmed(scenario, lowered, interpreter, path))
        case Unreachable(closed_set=closed_set):
            _recheck(scenario, lowered, interpreter, closed_set)
            furthest = sum(isinstance(decisions.of(place).outcome, Reached) for place in story.places)
            return NotARun(furthest, " ".join(scenario.beats[furthest].span.text.split()))
        case Inductive():
            return Undecided("an invariant alone does not say how far the story gets")
        case _ if decisions.interrupted:
            raise KeyboardInterrupt
        case Lasso() | NoFairCycle() | FewRounds():
            raise AssertionError("a scenario is no statement about infinite runs")
        case _:
            return Undecided(outcome.reason)


def _confirmed(scenario: Scenario, lowered: Lowered, interpreter: Interpreter, path: Path) -> Trace:
    trace = lowered.trace(Path(tuple(state[:-1] for state in path.states), path.actions))
    evidence = {"events": trace.events, "states": trace.states}
    mismatch = replay(trace, interpreter)
    if mismatch is not None:
        message = f"the interpreter disagrees with the run of {scenario.name} at step {mismatch.step}: {mismatch.why}"
        raise OwnError(Failure(message, subject=scenario.name, evidence=evidence))
    if not follows(scenario, trace, interpreter):
        message = f"the run that was found for {scenario.name} does not follow it"
        raise OwnError(Failure(message, subject=scenario.name, evidence=evidence))
    return trace


def _recheck(scenario: Scenario, lowered: Lowered, interpreter: Interpreter, closed_set: ClosedSet) -> None:
    wrong = closed_set.recheck()
    if wrong is not None:
        raise OwnError(Failure(f"the closed set of {scenario.name} fails its re-check: {wrong}", subject=scenario.name))
    coding = BudgetedCoding(lowered, interpreter)
    steps = 0
    for code in closed_set.sample(min(len(closed_set), _STEPS), _SEED):
        if steps > _STEPS:
            return
        plain, told = code[:-1], code[-1]
        state = coding.decode(plain)
        places = passed(scenario, {told}, state, interpreter) if state.error is None else {told}
        if len(scenario.beats) in places:
            raise OwnError(
                Failure(f"the interpreter finds {scenario.name} told", subject=scenario.name, evidence=state)
            )
        for event, after in interpreter.successors(state):
            if not coding.affords(plain, event):
                continue
            steps += 1
            reached = told_by(scenario, places, event)
            known = coding.successor_code(plain, event, after)
            if known is None or any((*known, place) not in closed_set for place in reached):
                message = f"the interpreter takes a step of {scenario.name} out of the closed set"
                evidence = {"state": state, "told": told, "event": event, "after": after}
                raise OwnError(Failure(message, subject=scenario.name, evidence=evidence))
