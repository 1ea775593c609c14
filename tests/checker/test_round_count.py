"""Fair rounds on walks that are written by hand: A and B are movers, and the goal is `x == 2`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.liveness.assumptions import Assumption, AssumptionKind, Mover, Strength
from checker.liveness.live_claim import LiveClaim
from checker.liveness.live_walks import Visit
from checker.liveness.round_count import count
from spec.event import Event, EventKind, Party, Slot
from spec.state import ErrorKind, GlobalState, ModelError
from spec.typed import (
    Binary,
    Expression,
    Fairness,
    Literal,
    Liveness,
    LiveShape,
    Operator,
    PropertyDeclaration,
    PropertyForm,
    StoreVariable,
)
from spec.types import BOOL, RangeType
from tests.checker.samples import EMPTY, SPAN

RANGE = RangeType(0, 9)


def x_is(number: int) -> Expression:
    return Binary(BOOL, SPAN, Operator.EQUAL, StoreVariable(RANGE, SPAN, "db", "x"), Literal(RANGE, SPAN, number))


def claim(shape: LiveShape, left: Expression | None = None) -> LiveClaim:
    live = Liveness((), shape, left, x_is(2))
    return LiveClaim(PropertyDeclaration("l", PropertyForm.LIVE, x_is(2), SPAN, "", live))


def at(x: int) -> GlobalState:
    return replace(EMPTY, values={("db", "x"): x})


def mover(name: str) -> Mover:
    return Mover(Assumption(AssumptionKind.THREAD, name), EventKind.STEP, Slot("P", 0, name))


A, B = mover("a"), mover("b")
STEP = Event(EventKind.STEP)
CRASH = Event(EventKind.CRASH, party=Party("db"))


def visit(able: str, moved: str | None, x: int = 1) -> Visit:
    """able: who can move, `ab` for both.  moved: who does; `-` for a fault, None at the end of the walk."""
    can = frozenset({"a": A, "b": B}[name] for name in able)
    taker = {"a": A, "b": B}.get(moved or "")
    return Visit(at(x), (x,), can, None if moved is None else CRASH if moved == "-" else STEP, taker)


def weak(each: Mover) -> Fairness:
    return Fairness.WEAK


def b_strong(each: Mover) -> Fairness:
    return Fairness.STRONG if each == B else Fairness.WEAK


def b_unfair(each: Mover) -> Fairness:
    return Fairness.UNFAIR if each == B else Fairness.WEAK


EVENTUALLY = claim(LiveShape.EVENTUALLY)


@pytest.mark.parametrize(
    ("walk", "fair", "rounds"),
    [
        # Both move in turn: a round each two steps.
        ([("ab", "a"), ("ab", "b"), ("ab", "a"), ("ab", "b"), ("ab", None)], weak, 2),
        # B could move all the time and never does: no round is over.
        ([("ab", "a"), ("ab", "a"), ("ab", "a"), ("ab", None)], weak, 0),
        # .. which an unfair B may do for ever: each step of A is a round.
        ([("ab", "a"), ("ab", "a"), ("ab", "a"), ("ab", None)], b_unfair, 3),
        # B is unable now and then: weakly that is enough for a round, strongly not.
        ([("ab", "a"), ("a", "a"), ("ab", "a"), ("a", "a"), ("ab", None)], weak, 2),
        ([("ab", "a"), ("a", "a"), ("ab", "a"), ("a", "a"), ("ab", None)], b_strong, 0),
        # B is never able: then it owes nothing, strongly fair or not.
        ([("a", "a"), ("a", "a"), ("a", None)], b_strong, 2),
        # Only until B becomes able: two rounds before, and none that B has not moved in.
        ([("a", "a"), ("a", "a"), ("ab", "a"), ("ab", "a"), ("ab", None)], b_strong, 2),
        # A fault: what went by before does not count on.
        ([("ab", "a"), ("ab", "-"), ("ab", "b"), ("ab", "a"), ("ab", None)], weak, 1),
        ([("ab", "a"), ("ab", "-"), ("ab", "b"), ("ab", None)], weak, 0),
    ],
)
def test_rounds(walk: list[tuple[str, str | None]], fair: Strength, rounds: int) -> None:
    found = count(tuple(visit(able, moved) for able, moved in walk), EVENTUALLY, {}, fair)
    assert (found.rounds, found.stays) == (rounds, None)
    assert found.pending == tuple(range(len(walk)))


def test_the_goal_ends_it() -> None:
    walk = (visit("a", "a"), visit("a", "a"), visit("a", "a", 2), visit("a", "a"), visit("a", "a"), visit("a", None))
    assert count(walk, EVENTUALLY, {}, weak).rounds == 2, "owed from the start only"
    assert count(walk, claim(LiveShape.ALWAYS_EVENTUALLY), {}, weak).rounds == 2
    again = (*walk[:-1], visit("a", "a"), visit("a", None))
    assert count(again, claim(LiveShape.ALWAYS_EVENTUALLY), {}, weak).rounds == 3, "owed again after it"


def test_it_is_owed_from_the_trigger_on() -> None:
    after_zero = claim(LiveShape.LEADS_TO, x_is(0))
    walk = (visit("a", "a"), visit("a", "a", 0), visit("a", "a"), visit("a", None))
    found = count(walk, after_zero, {}, weak)
    assert (found.rounds, found.pending) == (2, (1, 2, 3))
    assert count(walk[:1], after_zero, {}, weak).pending == ()


def test_what_must_hold_at_last_is_missed_again_and_again() -> None:
    """For `eventually always` a round must come to a state where it does not hold."""
    settled = claim(LiveShape.EVENTUALLY_ALWAYS)
    walk = (visit("a", "a", 2), visit("a", "a", 2), visit("a", "a", 1), visit("a", "a", 2), visit("a", None, 2))
    assert count(walk, settled, {}, weak).rounds == 1


def test_who_may_stay_violates() -> None:
    walk = (visit("ab", "a"), visit("b", "b"), visit("b", None))
    assert count(walk, EVENTUALLY, {}, weak).stays is None
    assert count(walk, EVENTUALLY, {}, b_unfair).stays == at(1)
    assert count((visit("b", None, 2),), EVENTUALLY, {}, b_unfair).stays is None, "the goal is reached"
    settled = claim(LiveShape.EVENTUALLY_ALWAYS)
    assert count((visit("b", None, 2),), settled, {}, b_unfair).stays is None, "it holds where the run stays"
    assert count((visit("b", None, 1),), settled, {}, b_unfair).stays == at(1)


def test_a_model_error_ends_a_run() -> None:
    ended = replace(at(1), error=ModelError(ErrorKind.ASSERTION, 1))
    walk = (visit("a", "a"), Visit(ended, (1,), frozenset(), None, None))
    assert count(walk, EVENTUALLY, {}, weak).stays is None
