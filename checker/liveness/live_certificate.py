"""The evidence behind a proof about infinite runs, once it has passed its checks (`checker.liveness.live_proof`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from checker.certificates.certificate import Certificate
from checker.certificates.invariant import Invariant


@dataclass(frozen=True)
class CycleCertificate:
    """A closed set of states in which no cycle, and no state to stay in for ever, violates the property: found out a
    second time by another algorithm.

    closed  the set, which has passed its own checks; on the way the interpreter has agreed on what is fair where, and
            on what the property says of the states
    """

    closed: Certificate

    @property
    def engine(self) -> str:
        return self.closed.engine


@dataclass(frozen=True)
class RoundsCertificate:
    """While a violation is pending, fewer than so many fair rounds go by without a fault.

    rounds      for each case of the property, fewer than how many
    invariants  for each, an invariant of the system that counts them; a fresh solver has confirmed it
    walked      how many states the interpreter has come to with a violation pending; steps: by how many steps in all
    longest     the most fair rounds that it has seen go by
    """

    engine: str
    rounds: tuple[int, ...]
    invariants: tuple[Invariant, ...]
    frames: int
    walked: int
    steps: int
    longest: int
    told: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False, repr=False)
    """The invariants in the model's words, worked out when they are wanted."""

    @property
    def bound(self) -> int:
        """Of all cases the largest bound."""
        return max(self.rounds, default=0)

    @property
    def clauses(self) -> int:
        return sum(len(invariant.cubes) for invariant in self.invariants)


__all__ = ["CycleCertificate", "RoundsCertificate"]
