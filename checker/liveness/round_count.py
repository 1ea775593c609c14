"""How many fair rounds go by while something is owed: counted on walks of the interpreter, from its own judgement of
who can move.

A round is over when everybody who is fair has moved, or could not: who is weakly fair in some state of the round, who
is strongly fair in no state of the whole stretch.  It counts no more rounds than a run has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checker.liveness.assumptions import Mover, Strength
from checker.liveness.live_claim import LiveClaim, Truth
from checker.liveness.live_walks import Visit, Walk
from spec.state import GlobalState
from spec.typed import Fairness
from spec.value import Value


@dataclass(frozen=True)
class Count:
    """rounds: the most that go by in one stretch.  pending: the places on the walk where something is owed.
    stays: a state in which a violation is pending and nobody who is fair can move, so that a run may stay there."""

    rounds: int
    pending: tuple[int, ...]
    stays: GlobalState | None


def count(walk: Walk, claim: LiveClaim, binding: Mapping[str, Value], strength: Strength) -> Count:
    """Of one walk and one choice of values for the binders."""
    most = 0
    pending: list[int] = []
    stretch: list[tuple[Visit, Truth]] | None = None
    for place, visit in enumerate(walk):
        if visit.state.error is not None:
            break
        truth = claim.truth(visit.state, binding)
        if truth.goal:
            stretch = None
            continue
        if stretch is None and truth.trigger and (place == 0 or not claim.from_start):
            stretch = []
        if stretch is None:
            continue
        pending.append(place)
        if truth.recurrent and not any(strength(each) is not Fairness.UNFAIR for each in visit.able):
            return Count(most, tuple(pending), visit.state)
        stretch.append((visit, truth))
        if visit.event is not None:
            most = max(most, _rounds(stretch, strength))
            if visit.moved is None:
                # A fault: rounds are counted anew, and the goal is still owed.
                stretch = []
    return Count(most, tuple(pending), None)


def _rounds(stretch: Sequence[tuple[Visit, Truth]], strength: Strength) -> int:
    """The rounds that are over at the end of the stretch, whose last step is not counted when it is a fault."""
    strong = {m for visit, _ in stretch for m in visit.able if strength(m) is Fairness.STRONG}
    rounds = 0
    owed: set[Mover] | None = None
    recurrent = False
    left = set(strong)
    for visit, truth in stretch:
        if visit.moved is None:
            break
        weak = {m for m in visit.able if strength(m) is Fairness.WEAK}
        owed = weak if owed is None else owed & weak
        owed.discard(visit.moved)
        left.discard(visit.moved)
        recurrent = recurrent or truth.recurrent
        if not owed and not left and recurrent:
            rounds += 1
            owed, recurrent, left = None, False, set(strong)
    return rounds


__all__ = ["Count", "count"]
