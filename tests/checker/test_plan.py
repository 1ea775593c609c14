from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from checker import plan
from checker.engines.engine import (
    Bounded,
    Budget,
    Coverage,
    Outcome,
    Progress,
    Reached,
    Reporter,
    Undecided,
    Unreachable,
)
from checker.options import Options
from checker.plan import Decisions, Silence, decide
from checker.transition_system import Property, TransitionSystem
from tests.checker.samples import Closed, FakeEngine, Run, counter, path, prop

P, Q = prop("p"), prop("q")


def answer(outcomes: dict[str, Outcome]) -> Run:
    def run(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        for target in targets:
            if target.name in outcomes:
                reporter.decided(target, outcomes[target.name])

    return run


def install(
    monkeypatch: pytest.MonkeyPatch, search: Run, bmc: Run | None = None
) -> list[tuple[str, list[str], Budget]]:
    """Replaces both engines; answers the list of their runs: engine, properties, budget."""
    runs: list[tuple[str, list[str], Budget]] = []

    def wrap(name: str, behaviour: Run) -> FakeEngine:
        def run(system: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
            runs.append((name, [target.name for target in targets], budget))
            behaviour(system, targets, budget, reporter)

        return FakeEngine(name, run)

    monkeypatch.setitem(plan.ENGINES, "search", lambda: wrap("search", search))
    monkeypatch.setitem(plan.ENGINES, "bmc", lambda: wrap("bmc", bmc or answer({})))
    return runs


def go(options: Options | None = None, covers: Sequence[Property] = ()) -> Decisions:
    deadline = time.monotonic() + 100
    return decide(counter(P, Q), (P, Q), covers, options or Options(), Silence(), deadline)


def test_bmc_gets_only_what_the_search_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    found = Reached(path(counter(), 2), None)
    runs = install(monkeypatch, answer({"p": done, "q": Bounded(1, "time")}), answer({"q": found}))
    decisions = go()
    assert [(name, targets) for name, targets, _ in runs] == [("search", ["p", "q"]), ("bmc", ["q"])]
    assert decisions.of(P) == plan.Decision("search", done)
    assert decisions.of(Q) == plan.Decision("bmc", found)


def test_the_deeper_bound_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    install(monkeypatch, answer({"p": Bounded(9, "time"), "q": done}), answer({"p": Bounded(4, "time")}))
    assert go().of(P) == plan.Decision("search", Bounded(9, "time"))
    install(monkeypatch, answer({"p": Bounded(4, "time"), "q": done}), answer({"p": Bounded(9, "time")}))
    assert go().of(P) == plan.Decision("bmc", Bounded(9, "time"))
    install(monkeypatch, answer({"p": Bounded(0, "time"), "q": done}), answer({"p": Undecided("out of reach")}))
    assert go().of(P) == plan.Decision("search", Bounded(0, "time"))


def test_the_depth_asked_for_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = install(monkeypatch, answer({"p": Bounded(5, "depth"), "q": Bounded(5, "depth")}))
    go(Options(depth=5))
    assert [name for name, _, _ in runs] == ["search"]
    assert runs[0][2].depth == 5


@pytest.mark.parametrize("engine", ["search", "bmc"])
def test_one_engine_on_demand(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both = answer({"p": Undecided("no"), "q": Undecided("no")})
    runs = install(monkeypatch, both, both)
    go(Options(engine=engine, states=7))
    assert [name for name, _, _ in runs] == [engine]
    assert runs[0][2].states == 7


def test_the_search_leaves_time_for_bmc(monkeypatch: pytest.MonkeyPatch) -> None:
    both = answer({"p": Undecided("no"), "q": Undecided("no")})
    runs = install(monkeypatch, both, both)
    now = time.monotonic()
    decide(counter(P, Q), (P, Q), (), Options(), Silence(), now + 100)
    first, second = runs[0][2].deadline, runs[1][2].deadline
    assert first is not None
    assert second is not None
    assert 55 < first - now < 65
    assert 95 < second - now < 101


def test_covers_are_looked_for_once_and_never_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cover = prop("c")
    undecided = Undecided("no")
    runs = install(
        monkeypatch, answer({"p": undecided, "q": undecided, "c": undecided}), answer({"p": undecided, "q": undecided})
    )
    go(covers=[cover])
    assert [targets for _, targets, _ in runs] == [["p", "q", "c"], ["p", "q"]]


def test_an_interrupt_keeps_what_was_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.decided(P, Bounded(3, "x"))
        raise KeyboardInterrupt

    runs = install(monkeypatch, interrupted)
    decisions = go()
    assert decisions.interrupted
    assert decisions.of(P).outcome == Bounded(3, "x")
    assert decisions.of(Q).outcome == Undecided("interrupted")
    assert [name for name, _, _ in runs] == ["search"]


def test_an_engine_without_memory_leaves_the_rest_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)

    def full(s: TransitionSystem, targets: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        reporter.decided(P, done)
        raise MemoryError

    runs = install(monkeypatch, full, answer({"q": Undecided("too hard")}))
    decisions = go()
    assert [targets for _, targets, _ in runs] == [["p", "q"], ["q"]]
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
    found = Reached(path(counter(), 2), None)
    install(monkeypatch, answer({"p": Bounded(2, "x"), "q": done}), answer({"p": found}))
    decisions = go()
    assert ["contradict" in failure.message for failure in decisions.failures] == [True]
    assert isinstance(decisions.of(P).outcome, Undecided)


def test_a_longer_path_than_the_bound_is_no_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Unreachable(Closed(), 1)
    found = Reached(path(counter(), 2), None)
    install(monkeypatch, answer({"p": Bounded(1, "x"), "q": done}), answer({"p": found}))
    decisions = go()
    assert decisions.failures == []
    assert decisions.of(P).outcome == found


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
    decisions = decide(counter(P, Q), (P, Q), (), Options(), Watcher(), time.monotonic() + 10)
    assert seen == [("p", "q"), ("q",)]
    assert decisions.coverage == Coverage({1}, True)
