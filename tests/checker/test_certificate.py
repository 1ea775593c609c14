"""The fakes stand for a counter that goes 0 -> 1 and stays there; a flaw is planted in each test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from checker.certificates.certificate import Certificate, Flaw, certify
from checker.transition_system import State
from spec.event import Event, EventKind
from spec.state import GlobalState
from spec.typed import PropertyForm
from tests.checker.samples import EMPTY, Closed

TICK = Event(EventKind.STEP)
CRASH = Event(EventKind.CRASH)


def at(value: int) -> GlobalState:
    return replace(EMPTY, ghosts={"x": value})


@dataclass
class Coding:
    afforded: bool = True

    def decode(self, state: State) -> GlobalState:
        return at(state[0])

    def affords(self, before: State, event: Event) -> bool:
        return event.kind is EventKind.STEP or self.afforded

    def successor_code(self, before: State, event: Event, after: GlobalState) -> State | None:
        value = after.ghosts["x"]
        assert isinstance(value, int)
        return None if value > 8 else (value,)


@dataclass
class Steps:
    table: Mapping[int, Sequence[tuple[Event, int]]] = field(default_factory=lambda: {0: [(TICK, 1)]})

    def successors(self, state: GlobalState) -> list[tuple[Event, GlobalState]]:
        value = state.ghosts["x"]
        assert isinstance(value, int)
        return [(event, at(after)) for event, after in self.table.get(value, ())]


@dataclass
class Bad:
    """Violated where x has this value (for a step: after it)."""

    value: int
    form: PropertyForm = PropertyForm.INVARIANT
    rescued: bool | None = False
    name: str = "p"

    def state_violates(self, state: GlobalState) -> bool:
        return state.ghosts["x"] == self.value

    def step_violates(self, state: GlobalState, after: GlobalState) -> bool:
        return after.ghosts["x"] == self.value

    def is_rescued(self, state: GlobalState, limit: int) -> bool | None:
        return self.rescued


def test_a_sound_set_is_certified() -> None:
    closed = Closed()
    found = certify(closed, "search", 1, [Bad(2)], Coding(), Steps())
    assert found == Certificate("search", 2, False, 1, 2, 1)
    assert found.complete
    assert closed.rechecks == [1]


def test_a_set_that_fails_its_own_recheck_proves_nothing() -> None:
    found = certify(Closed(flaw="a step leads out"), "search", 1, [], Coding(), Steps())
    assert isinstance(found, Flaw)
    assert "a step leads out" in found.message


def test_a_step_of_the_interpreter_out_of_the_set_is_a_flaw() -> None:
    found = certify(Closed(), "search", 1, [], Coding(), Steps({0: [(TICK, 1)], 1: [(TICK, 2)]}))
    assert found == Flaw("the interpreter takes a step out of the closed set", at(1), TICK, at(2))


def test_a_state_that_cannot_be_encoded_is_a_flaw() -> None:
    found = certify(Closed(), "search", 1, [], Coding(), Steps({0: [(TICK, 9)]}))
    assert isinstance(found, Flaw)


def test_a_violation_in_a_state_is_a_flaw() -> None:
    found = certify(Closed(), "search", 1, [Bad(1)], Coding(), Steps())
    assert isinstance(found, Flaw)
    assert found.state == at(1)


def test_a_violation_by_a_step_is_a_flaw() -> None:
    found = certify(Closed(), "search", 1, [Bad(1, PropertyForm.STEP_INVARIANT)], Coding(), Steps())
    assert isinstance(found, Flaw)
    assert found.event == TICK


@pytest.mark.parametrize(("rescued", "flawed"), [(False, True), (True, False), (None, False)])
@pytest.mark.parametrize("form", [PropertyForm.AT_REST, PropertyForm.RECOVERABLE])
def test_a_state_that_can_still_change_violates_nothing(form: PropertyForm, rescued: bool | None, flawed: bool) -> None:
    found = certify(Closed(), "search", 1, [Bad(1, form, rescued)], Coding(), Steps())
    assert isinstance(found, Flaw) is flawed


def test_faults_beyond_the_budget_are_not_taken() -> None:
    steps = Steps({0: [(TICK, 1)], 1: [(CRASH, 2)]})
    assert isinstance(certify(Closed(), "search", 1, [], Coding(afforded=False), steps), Certificate)
    assert isinstance(certify(Closed(), "search", 1, [], Coding(afforded=True), steps), Flaw)


def test_a_large_set_is_sampled_and_says_so() -> None:
    """A loop over 10,000 states: the interpreter stops after some 2,500 steps."""
    size = 10_000

    class Wide(Coding):
        def successor_code(self, before: State, event: Event, after: GlobalState) -> State | None:
            value = after.ghosts["x"]
            assert isinstance(value, int)
            return (value,)

    steps = Steps({value: [(TICK, (value + 1) % size)] for value in range(size)})
    found = certify(Closed(tuple((value,) for value in range(size))), "search", 1, [], Wide(), steps)
    assert isinstance(found, Certificate)
    assert 1_000 < found.walked < size
    assert not found.complete
