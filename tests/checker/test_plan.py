from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pytest

from checker.certificates.invariant import Invariant
from checker.engines import shortening
from checker.engines.best_path import Rank
from checker.engines.engine import (
    Bounded,
    Budget,
    Coverage,
    FewRounds,
    Inductive,
    Lasso,
    NoFairCycle,
    Outcome,
    Path,
    Progress,
    Reached,
    Reporter,
    Undecided,
    Unreachable,
)
from checker.options import Options
from checker.planning import plan
from checker.planning.decisions import Decision, Decisions
from checker.planning.plan import Silence, decide
from checker.time_limit import TimeLimit
from checker.transition_system import Form, Property, TransitionSystem
from tests.checker.samples import Closed, FakeEngine, Run, counter, path, prop

P, Q = prop("p"), prop("q")
PROVED_SHORTEST = "no violation within 1 step (unsatisfiable)"
SYSTEM = counter(P, Q)


def answer(outcomes: dict[str, Outcome]) -> Run:
    def run(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        for target in targets:
            if target.name in outcomes:
                reporter.decided(target, outcomes[target.name])

    return run


class Runs:
    """The runs of engines, also of those in other processes: engine, properties, budget."""

    def __init__(self) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115

    def note(self, name: str, targets: Sequence[Property], budget: Budget) -> None:
        content = [name, [t.name for t in targets], budget.deadline, budget.depth, budget.states]
        os.write(self.log.fileno(), json.dumps(content).encode() + b"\n")

    def __iter__(self) -> Iterator[tuple[str, list[str], Budget]]:
        for line in os.pread(self.log.fileno(), 100_000, 0).splitlines():
            name, targets, deadline, depth, states = json.loads(line)
            yield name, targets, Budget(deadline, depth, states)

    def names(self) -> list[str]:
        return [name for name, _, _ in self]


def install(
    monkeypatch: pytest.MonkeyPatch,
    search: Run,
    bmc: Run | None = None,
    ic3: Run | None = None,
    parallel: Run | None = None,
) -> Runs:
    """Replaces all engines; those that are left out know nothing."""
    runs = Runs()

    def nothing(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        for target in targets:
            reporter.decided(target, Undecided("not this one"))

    def wrap(name: str, behaviour: Run) -> FakeEngine:
        def run(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
            runs.note(name, targets, budget)
            behaviour(system, targets, budget, reporter)

        return FakeEngine(name, run)

    monkeypatch.setitem(plan.ENGINES, "search", lambda: wrap("search", search))
    monkeypatch.setitem(plan.ENGINES, "bmc", lambda: wrap("bmc", bmc or nothing))
    monkeypatch.setitem(plan.ENGINES, "ic3", lambda: wrap("ic3", ic3 or nothing))
    monkeypatch.setitem(plan.ENGINES, "parallel", lambda: wrap("parallel", parallel or nothing))
    return runs


def go(options: Options | None = None, covers: Sequence[Property] = ()) -> Decisions:
    deadline = time.monotonic() + 100
    return decide(SYSTEM, (P, Q), covers, options or Options(), Silence(), TimeLimit(deadline))


def test_the_others_get_only_what_the_search_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    found = Reached(path(SYSTEM, 2), None)
    runs = install(monkeypatch, answer({"p": done, "q": Bounded(0, "time")}), answer({"q": found}))
    decisions = go()
    told = [(name, targets) for name, targets, _ in runs]
    assert told[0] == ("search", ["p", "q"])
    assert sorted(told[1:]) == [("bmc", ["q"]), ("ic3", ["q"]), ("parallel", ["q"])]
    assert decisions.of(P) == Decision("search", done)
    assert decisions.of(Q) == Decision("bmc", replace(found, shortest=f"found by bmc, {PROVED_SHORTEST}"))


def test_the_deeper_bound_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    install(monkeypatch, answer({"p": Bounded(9, "time"), "q": done}), answer({"p": Bounded(4, "time")}))
    told = "time; ic3: not this one; parallel: not this one; bmc: time at depth 4"
    assert go().of(P) == Decision("search", Bounded(9, told))
    install(monkeypatch, answer({"p": Bounded(4, "time"), "q": done}), answer({"p": Bounded(9, "time")}))
    told = "time; search: time at depth 4; ic3: not this one; parallel: not this one"
    assert go().of(P) == Decision("bmc", Bounded(9, told))
    install(monkeypatch, answer({"p": Bounded(0, "time"), "q": done}), answer({"p": Undecided("out of reach")}))
    told = "time; ic3: not this one; parallel: not this one; bmc: out of reach"
    assert go().of(P) == Decision("search", Bounded(0, told))


def test_the_depth_asked_for_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = install(monkeypatch, answer({"p": Bounded(5, "depth"), "q": Bounded(5, "depth")}))
    go(Options(depth=5))
    assert runs.names() == ["search"]
    assert next(iter(runs))[2].depth == 5


@pytest.mark.parametrize("engine", ["search", "bmc", "ic3", "parallel"])
def test_one_engine_on_demand(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both = answer({"p": Undecided("no"), "q": Undecided("no")})
    runs = install(monkeypatch, both, both, both, both)
    go(Options(engine=engine, states=7))
    assert runs.names() == [engine]
    assert next(iter(runs))[2].states == 7


def test_the_search_leaves_time_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    both = answer({"p": Undecided("no"), "q": Undecided("no")})
    runs = install(monkeypatch, both, both, both)
    now = time.monotonic()
    decide(SYSTEM, (P, Q), (), Options(), Silence(), TimeLimit(now + 100))
    deadlines = [budget.deadline or 0.0 for _, _, budget in runs]
    assert 55 < deadlines[0] - now < 65
    assert [95 < deadline - now < 101 for deadline in deadlines[1:]] == [True, True, True]


def test_covers_are_looked_for_by_search_and_ic3_and_never_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cover = prop("c")
    undecided = Undecided("no")
    runs = install(
        monkeypatch,
        answer({"p": undecided, "q": undecided, "c": undecided}),
        answer({"p": undecided, "q": undecided}),
        answer({"p": undecided, "q": undecided, "c": undecided}),
    )
    go(covers=[cover])
    assert {name: targets for name, targets, _ in runs} == {
        "search": ["p", "q", "c"],
        "ic3": ["p", "q", "c"],
        "parallel": ["p", "q"],
        "bmc": ["p", "q"],
    }


def test_an_interrupt_keeps_what_was_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.decided(P, Bounded(3, "x"))
        raise KeyboardInterrupt

    runs = install(monkeypatch, interrupted)
    decisions = go()
    assert decisions.interrupted
    assert decisions.of(P).outcome == Bounded(3, "x")
    assert decisions.of(Q).outcome == Undecided("interrupted")
    assert runs.names() == ["search"]


def test_an_engine_without_memory_leaves_the_rest_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)

    def full(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.decided(P, done)
        raise MemoryError

    runs = install(monkeypatch, full, answer({"q": Undecided("too hard")}))
    decisions = go()
    assert [targets for _, targets, _ in runs] == [["p", "q"], ["q"], ["q"], ["q"]]
    assert decisions.of(P).outcome == done
    outcome = decisions.of(Q).outcome
    assert isinstance(outcome, Undecided)
    assert "memory" in outcome.reason


def test_an_engine_that_raises_is_our_own_error_and_keeps_what_was_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)

    def broken(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.decided(P, done)
        raise ZeroDivisionError("oops")

    install(monkeypatch, broken, answer({"q": Undecided("too hard")}))
    decisions = go()
    (failure,) = decisions.failures
    assert "search" in failure.message
    assert "oops" in failure.message
    assert "ZeroDivisionError" in (failure.detail or "")
    assert decisions.of(P).outcome == done
    assert isinstance(decisions.of(Q).outcome, Undecided)


def test_an_engine_that_forgets_a_property_is_our_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, answer({"p": Bounded(1, "x")}))
    decisions = go(Options(engine="search"))
    assert ["no answer for q" in failure.message for failure in decisions.failures] == [True]
    assert isinstance(decisions.of(Q).outcome, Undecided)


def test_engines_that_contradict_each_other_are_our_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search excluded every run of 2 steps, and then a run of 2 steps is found."""
    done = Unreachable(Closed(), 1)
    found = Reached(path(SYSTEM, 2), None)
    install(monkeypatch, answer({"p": Bounded(2, "x"), "q": done}), answer({"p": found}))
    decisions = go()
    assert ["contradict" in failure.message for failure in decisions.failures] == [True]
    assert isinstance(decisions.of(P).outcome, Undecided)


def test_a_longer_path_than_the_bound_is_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    found = Reached(path(SYSTEM, 2), None)
    install(monkeypatch, answer({"p": Bounded(1, "x"), "q": done}), answer({"p": found}))
    decisions = go()
    assert decisions.failures == []
    assert decisions.of(P).outcome == Reached(path(SYSTEM, 2), "search: no violation within 1 step")


def test_progress_names_what_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, ...]] = []

    class Watcher:
        def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
            seen.append(tuple(undecided))

    def slow(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.progress(Progress("search", 1, 10, 5.0))
        reporter.decided(P, Unreachable(Closed(), 1))
        reporter.progress(Progress("search", 2, 20, 5.0))
        reporter.decided(Q, Unreachable(Closed(), 1))
        reporter.covered(Coverage({1}, True))

    install(monkeypatch, slow)
    decisions = decide(SYSTEM, (P, Q), (), Options(), Watcher(), TimeLimit(time.monotonic() + 10))
    assert seen == [("p", "q"), ("q",)]
    assert decisions.coverage == Coverage({1}, True)


# ------------------------------------------------------------------------------------------------------ side by side

PROOF = Inductive(Invariant(()), 2)


def slow(seconds: float, outcomes: dict[str, Outcome] | None = None) -> Run:
    """A search that is at work for so long, unless it is told to stop; then it has nothing but a bound."""

    def run(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not budget.expired():
            reporter.progress(Progress("search", 1, 10, 5.0))
            time.sleep(0.01)
        for target in targets:
            reporter.decided(target, (outcomes or {}).get(target.name, Bounded(3, "out of time")))

    return run


NOTHING: dict[str, Outcome] = {"p": Undecided("no"), "q": Undecided("no")}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "HEAD_START", 0.0)


def test_a_quick_search_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    runs = install(monkeypatch, slow(0.3, {"p": done, "q": done}))
    go()
    assert runs.names() == ["search"]


def test_many_states_end_the_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def many(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.progress(Progress("search", 1, plan.HEAD_STATES + 1, 5.0))
        slow(20)(s, targets, budget, reporter)

    runs = install(monkeypatch, many, ic3=answer({"p": PROOF, "q": PROOF}))
    started = time.monotonic()
    assert go().of(P) == Decision("ic3", PROOF)
    assert time.monotonic() - started < 5
    assert runs.names() == ["search", "ic3"]


@pytest.mark.usefixtures("at_once")
def test_a_proof_stops_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, slow(60), ic3=answer({"p": PROOF, "q": PROOF}))
    started = time.monotonic()
    decisions = go()
    assert time.monotonic() - started < 10
    assert [decisions.of(target).engine for target in (P, Q)] == ["ic3", "ic3"]
    assert decisions.failures == []


@pytest.mark.usefixtures("at_once")
def test_the_end_of_the_search_stops_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    install(monkeypatch, slow(0.5, {"p": done, "q": done}), ic3=slow(600), bmc=slow(600))
    started = time.monotonic()
    assert go().of(P).outcome is done
    assert time.monotonic() - started < 10


@pytest.mark.usefixtures("at_once")
def test_a_killed_engine_loses_nothing_and_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.decided(P, PROOF)
        os.kill(os.getpid(), signal.SIGKILL)

    install(monkeypatch, slow(1), ic3=killed)
    decisions = go()
    assert decisions.of(P) == Decision("ic3", PROOF)
    outcome = decisions.of(Q).outcome
    assert isinstance(outcome, Bounded)
    assert outcome.depth == 3
    assert "ic3: its process was ended by signal 9 (SIGKILL)" in outcome.reason
    assert decisions.failures == []


@pytest.mark.usefixtures("at_once")
def test_memory_and_unknown_are_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    def hungry(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        raise MemoryError

    unknown = Undecided("the solver gave up: canceled")
    install(monkeypatch, hungry, ic3=hungry, bmc=answer({"p": unknown, "q": unknown}))
    outcome = go().of(P).outcome
    told = "search: search ran out of memory; ic3: out of memory; parallel: not this one"
    assert outcome == Undecided(f"{told}; bmc: the solver gave up: canceled")


@pytest.mark.usefixtures("at_once")
def test_a_run_that_may_be_too_long_is_replaced_by_a_shortest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter's shortest run to 2 has 2 steps; the first one that is found is said to have an idle step more."""
    longer = Reached(Path(((0,), (1,), (2,), (2,)), (*SYSTEM.actions, SYSTEM.actions[1])), None)
    install(monkeypatch, slow(60, NOTHING), ic3=answer({"p": longer, "q": longer}))
    started = time.monotonic()
    shortest = Reached(path(SYSTEM, 2), f"found by ic3, {PROVED_SHORTEST}: {Rank.BEST.value}")
    assert go().of(P) == Decision("ic3", shortest)
    assert time.monotonic() - started < 20
    short = Reached(path(SYSTEM, 2), "breadth-first search")
    monkeypatch.setattr(shortening, "shortened", lambda system, target, path, *_: time.sleep(60))
    install(monkeypatch, slow(1, {"p": short, "q": short}), ic3=answer({"p": longer, "q": longer}))
    assert go().of(P) == Decision("search", short)


@pytest.mark.usefixtures("at_once")
def test_a_killed_shortening_and_one_without_time_leave_the_run_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = Reached(Path(((0,), (1,), (2,), (2,)), (*SYSTEM.actions, SYSTEM.actions[1])), None)

    def killed(*_: object) -> Reached:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    monkeypatch.setattr(shortening, "shortened", killed)
    install(monkeypatch, slow(1, NOTHING), ic3=answer({"p": longer, "q": longer}))
    decisions = go()
    assert decisions.failures == []
    assert [decisions.of(target) for target in (P, Q)] == [Decision("ic3", longer)] * 2
    monkeypatch.setattr(shortening, "shortened", lambda system, target, path, *_: Reached(path, None))
    assert [go().of(target) for target in (P, Q)] == [Decision("ic3", longer)] * 2


@pytest.mark.usefixtures("at_once")
def test_a_shorter_run_that_is_not_proved_to_be_a_shortest_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = Reached(Path(((0,), (1,), (2,), (2,)), (*SYSTEM.actions, SYSTEM.actions[1])), None)
    short = Reached(path(SYSTEM, 2), None)
    monkeypatch.setattr(shortening, "shortened", lambda *_: short)
    install(monkeypatch, slow(1, NOTHING), parallel=answer({"p": longer, "q": longer}))
    assert go().of(P) == Decision("parallel", short)


@pytest.mark.usefixtures("at_once")
def test_parallel_steps_join_when_ic3_has_had_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """But bounded model checking with single steps waits until the search or IC3 has ended as well."""
    found = Reached(path(SYSTEM, 2), "by parallel")
    monkeypatch.setattr(plan, "ALONE_BESIDE", 0.3)
    some: dict[str, Outcome] = {"p": found, "q": Undecided("not this one")}
    runs = install(monkeypatch, slow(2, NOTHING), ic3=slow(60), parallel=answer(some), bmc=answer({"q": found}))
    started = time.monotonic()
    decisions = go()
    assert time.monotonic() - started > 2
    assert runs.names() == ["search", "ic3", "parallel", "bmc"]
    assert [decisions.of(target).engine for target in (P, Q)] == ["parallel", "bmc"]
    monkeypatch.setattr(plan, "ALONE_BESIDE", 10.0)
    runs = install(monkeypatch, slow(1, {"p": found, "q": found}), ic3=slow(60), parallel=slow(60))
    go()
    assert runs.names() == ["search", "ic3"]


def test_parallel_steps_are_left_out_where_a_depth_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = answer({"p": Bounded(1, "x"), "q": Bounded(1, "x")})
    runs = install(monkeypatch, nothing)
    go(Options(depth=5))
    assert "parallel" not in runs.names()
    assert "bmc" in runs.names()


def test_one_engine_alone_has_its_runs_made_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = Reached(Path(((0,), (1,), (2,), (2,)), (*SYSTEM.actions, SYSTEM.actions[1])), None)
    for engine in ("ic3", "parallel"):
        both = answer({"p": longer, "q": longer})
        install(monkeypatch, both, ic3=both, parallel=both)
        why = f"found by {engine}, {PROVED_SHORTEST}: {Rank.BEST.value}"
        assert go(Options(engine=engine)).of(P) == Decision(engine, Reached(path(SYSTEM, 2), why))


@pytest.mark.usefixtures("at_once")
def test_a_bound_of_one_less_makes_a_run_a_shortest(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Reached(path(SYSTEM, 2), None)
    monkeypatch.setattr(shortening, "shortened", lambda *_: found)
    install(monkeypatch, slow(1, {"p": Bounded(1, "x"), "q": Bounded(0, "x")}), ic3=answer({"p": found, "q": found}))
    decisions = go()
    shortest = Reached(path(SYSTEM, 2), f"search: no violation within 1 step: {Rank.BEST.value}")
    assert decisions.of(P) == Decision("ic3", shortest)
    assert decisions.of(Q) == Decision("ic3", found)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("first", [True, False])
def test_a_proof_and_a_run_contradict_each_other(first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Reached(path(SYSTEM, 2), None)
    one, other = (PROOF, found) if first else (found, PROOF)
    install(monkeypatch, slow(1, {"p": one, "q": PROOF}), ic3=answer({"p": other, "q": PROOF}))
    decisions = go()
    assert ["contradict" in failure.message for failure in decisions.failures] == [True]
    assert isinstance(decisions.of(P).outcome, Undecided)


def test_an_engine_beside_that_raises_is_our_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        raise ZeroDivisionError("oops")

    install(monkeypatch, answer({"p": Bounded(1, "x"), "q": Bounded(1, "x")}), ic3=broken)
    decisions = go()
    assert ["ic3" in failure.message for failure in decisions.failures] == [True]
    assert "ZeroDivisionError" in (decisions.failures[0].detail or "")


def test_an_engine_that_overstays_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def stubborn(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        time.sleep(600)

    monkeypatch.setattr(plan, "_OVERTIME", 0.3)
    install(monkeypatch, answer({"p": Bounded(1, "x"), "q": Bounded(1, "x")}), ic3=stubborn, bmc=stubborn)
    started = time.monotonic()
    decisions = decide(SYSTEM, (P, Q), (), Options(), Silence(), TimeLimit(started + 0.5))
    assert time.monotonic() - started < 8
    outcome = decisions.of(P).outcome
    assert isinstance(outcome, Bounded)
    assert outcome.reason == "x; ic3, bmc: out of time; parallel: not this one"


# ------------------------------------------------------------------------------------------------------ infinite runs

L = prop("l", Form.LIVE)
NO_CYCLE = NoFairCycle(Closed(), 1, lambda: None)
ROUNDS = FewRounds((1,), (Invariant(()),), 2)


def lasso(length: int, shortest: str | None = None) -> Lasso:
    return Lasso(path(SYSTEM, length), 1, 0, shortest)


def install_live(
    monkeypatch: pytest.MonkeyPatch, search: Run, bmc: Run | None = None, ic3: Run | None = None
) -> tuple[Runs, Runs]:
    """All engines replaced: those for states and steps know that `p` and `q` hold.  The runs of both kinds."""
    done = Unreachable(Closed(), 1)
    runs = install(monkeypatch, answer({"p": done, "q": done}))
    live = Runs()
    for name, behaviour in (("search", search), ("bmc", bmc), ("ic3", ic3)):

        def run(
            system: TransitionSystem,
            targets: Sequence[Property],
            budget: Budget,
            reporter: Reporter,
            name: str = name,
            behaviour: Run | None = behaviour,
        ) -> None:
            live.note(name, targets, budget)
            (behaviour or answer({"l": Undecided("not this one")}))(system, targets, budget, reporter)

        monkeypatch.setitem(plan.LIVE_ENGINES, name, partial(FakeEngine, name, run))
    return runs, live


def go_live(options: Options | None = None, helpers: Sequence[str] = plan.HELPERS) -> Decisions:
    deadline = time.monotonic() + 100
    return decide(SYSTEM, (P, L, Q), (), options or Options(), Silence(), TimeLimit(deadline), helpers=helpers)


def test_infinite_runs_have_engines_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, live = install_live(monkeypatch, answer({"l": NO_CYCLE}))
    decisions = go_live()
    assert [(name, targets) for name, targets, _ in runs] == [("search", ["p", "q"])]
    assert [(name, targets) for name, targets, _ in live] == [("search", ["l"])]
    assert decisions.of(L) == Decision("search", NO_CYCLE)
    assert isinstance(decisions.of(P).outcome, Unreachable)


@pytest.mark.parametrize("engine", ["search", "bmc", "ic3"])
def test_one_engine_on_demand_for_infinite_runs(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both = answer({"p": Undecided("no"), "q": Undecided("no")})
    undecided = answer({"l": Undecided("no")})
    _, live = install_live(monkeypatch, undecided, undecided, undecided)
    install(monkeypatch, both, both, both)
    decisions = go_live(Options(engine=engine, states=7, depth=9))
    assert [(name, budget.states, budget.depth) for name, _, budget in live] == [(engine, 7, 9)]
    assert decisions.of(L) == Decision(engine, Undecided("no"))


def test_what_the_search_leaves_open_goes_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    _, live = install_live(monkeypatch, answer({"l": Undecided("too many states")}))
    outcome = go_live().of(L).outcome
    assert sorted(live.names()) == ["bmc", "ic3", "search"]
    assert outcome == Undecided("search: too many states; ic3: not this one; bmc: not this one")


def test_without_helpers_the_search_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    _, live = install_live(monkeypatch, answer({"l": Undecided("too many states")}))
    assert go_live(helpers=()).of(L).outcome == Undecided("too many states")
    assert live.names() == ["search"]


def test_infinite_runs_have_half_of_the_time_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    undecided = answer({"p": Undecided("no"), "q": Undecided("no")})
    _, live = install_live(monkeypatch, answer({"l": Undecided("no")}))
    runs = install(monkeypatch, undecided, undecided, undecided)
    now = time.monotonic()
    go_live()
    assert [budget.deadline or 0.0 for _, _, budget in runs][1:] == pytest.approx([now + 50] * 3, abs=3)
    assert [budget.deadline or 0.0 for _, _, budget in live][1:] == pytest.approx([now + 100] * 2, abs=3)


def test_a_lasso_becomes_a_shortest_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search's lasso may be too long; the other engine's has as few steps, and is known to be shortest."""
    install_live(monkeypatch, answer({"l": lasso(2)}), answer({"l": lasso(1, "no lasso of 0 steps")}))
    assert go_live().of(L) == Decision("bmc", lasso(1, "no lasso of 0 steps"))
    _, live = install_live(monkeypatch, answer({"l": lasso(2)}), answer({"l": Bounded(1, "out of time")}))
    assert go_live().of(L) == Decision("search", lasso(2, "bmc: no lasso within 1 step"))
    assert "ic3" not in live.names(), "no proof is looked for where there is a lasso"


def test_no_lasso_is_shorter_than_one_without_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    none = Lasso(path(SYSTEM, 0), 0, 0, None)
    _, live = install_live(monkeypatch, answer({"l": none}))
    assert go_live().of(L) == Decision("search", replace(none, shortest="it has no step"))
    assert live.names() == ["search"]


def test_shortening_a_lasso_does_not_take_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_SHORTENING", 0.3)
    install_live(monkeypatch, answer({"l": lasso(2)}), slow(600))
    started = time.monotonic()
    assert go_live().of(L) == Decision("search", lasso(2))
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("proof", [NO_CYCLE, ROUNDS])
def test_a_lasso_and_a_proof_contradict_each_other(proof: Outcome) -> None:
    for one, other in ((proof, lasso(2)), (lasso(2), proof)):
        decisions = Decisions()
        decisions.put(L, Decision("search", one))
        decisions.put(L, Decision("bmc", other))
        assert ["contradict" in failure.message for failure in decisions.failures] == [True]
        assert isinstance(decisions.of(L).outcome, Undecided)


@pytest.mark.parametrize(
    ("known", "found"), [(Bounded(2, "x"), lasso(2)), (lasso(2, "because"), lasso(1)), (lasso(2, "because"), lasso(2))]
)
def test_a_lasso_shorter_than_any_can_be_contradicts(known: Outcome, found: Lasso) -> None:
    decisions = Decisions()
    decisions.put(L, Decision("bmc", known))
    decisions.put(L, Decision("search", found))
    expected = [] if known == lasso(2, "because") and found == lasso(2) else [True]
    assert ["contradict" in failure.message for failure in decisions.failures] == expected


def test_a_killed_engine_leaves_infinite_runs_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    install_live(monkeypatch, answer({"l": Undecided("too many states")}), killed, killed)
    outcome = go_live().of(L).outcome
    assert isinstance(outcome, Undecided)
    assert "bmc: its process was ended by signal 9 (SIGKILL)" in outcome.reason
    assert "ic3: its process was ended by signal 9 (SIGKILL)" in outcome.reason


def test_an_interrupt_before_infinite_runs_keeps_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.decided(L, lasso(2))
        raise KeyboardInterrupt

    install_live(monkeypatch, interrupted)
    decisions = go_live()
    assert decisions.interrupted
    assert isinstance(decisions.of(P).outcome, Unreachable)
    assert decisions.of(L).outcome == lasso(2)


# ------------------------------------------------------------------------------------------------- each property's time


def late(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
    """Works until its time is over."""
    assert budget.deadline is not None
    time.sleep(max(0.0, budget.deadline - time.monotonic()))
    for target in targets:
        reporter.decided(target, Undecided("out of time"))


def go_each(each: float, seconds: float, properties: tuple[Property, ...] = (P, Q)) -> Decisions:
    limit = TimeLimit(time.monotonic() + seconds, "timeout 1000 s")
    return decide(counter(*properties), properties, (), Options(engine="search"), Silence(), limit, each=each)


def test_half_of_each_time_is_spent_together_and_half_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.4 s each: 0.2 s for both, and 0.2 s for each."""
    runs = install(monkeypatch, late)
    began = time.monotonic()
    decisions = go_each(0.4, 1000)
    told = [(targets, round((budget.deadline or 0.0) - began, 1)) for _, targets, budget in runs]
    assert [targets for targets, _ in told] == [["p", "q"], ["p"], ["q"]]
    spans = [later - earlier for (_, earlier), (_, later) in zip([([], 0.0), *told], told, strict=False)]
    assert all(0.15 <= span < 0.4 for span in spans), told
    assert time.monotonic() - began < 2
    for target in (P, Q):
        assert decisions.of(target).outcome == Undecided("out of time (timeout-property 0.4 s)")


def test_what_has_a_verdict_has_no_time_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    runs = install(monkeypatch, answer({"p": done, "q": Undecided("out of time")}))
    decisions = go_each(50, 1000)
    assert [targets for _, targets, _ in runs] == [["p", "q"], ["q"]]
    assert decisions.of(P) == Decision("search", done)
    assert decisions.of(Q).outcome == Undecided("out of time (timeout-property 50 s)")


def test_a_single_property_has_its_time_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = install(monkeypatch, answer({"p": Undecided("no")}))
    began = time.monotonic()
    go_each(50, 1000, (P,))
    [(_, targets, budget)] = list(runs)
    assert targets == ["p"]
    assert 49 < (budget.deadline or 0.0) - began < 55


def test_the_variants_time_ends_the_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.2 s of 0.3 s are spent together, p has the rest, and q none: it was the variant's time that q lacked."""
    runs = install(monkeypatch, late)
    decisions = go_each(0.4, 0.3)
    assert [targets for _, targets, _ in runs] == [["p", "q"], ["p"]]
    assert decisions.of(P).outcome == Undecided("out of time (timeout 1000 s)")
    assert decisions.of(Q).outcome == Undecided("out of time (timeout 1000 s)")


def test_live_properties_take_turns_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    other = prop("m", Form.LIVE)
    undecided = answer({"l": Undecided("out of time"), "m": NO_CYCLE})
    _, live = install_live(monkeypatch, undecided)
    limit = TimeLimit(time.monotonic() + 100)
    options = Options(engine="search")
    decisions = decide(SYSTEM, (P, L, other, Q), (), options, Silence(), limit, each=10)
    assert [targets for _, targets, _ in live] == [["l", "m"], ["l"]]
    assert isinstance(decisions.of(P).outcome, Unreachable)
    assert decisions.of(other).outcome is NO_CYCLE or isinstance(decisions.of(other).outcome, NoFairCycle)


def test_a_failure_or_an_interrupt_ends_the_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        raise ZeroDivisionError("oops")

    runs = install(monkeypatch, broken)
    assert len(go_each(50, 1000).failures) == 1
    assert len(list(runs)) == 1

    def stopped(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        raise KeyboardInterrupt

    runs = install(monkeypatch, stopped)
    assert go_each(50, 1000).interrupted
    assert len(list(runs)) == 1


def test_a_run_that_may_be_too_long_has_no_time_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a verdict; a shorter run is less urgent than the verdicts of others."""
    runs = install(monkeypatch, answer({"p": Reached(path(SYSTEM, 2), None), "q": Undecided("out of time")}))
    go_each(50, 1000)
    assert [targets for _, targets, _ in runs] == [["p", "q"], ["q"]]
