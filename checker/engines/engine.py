"""The engine protocol: a transition system and properties go in, an outcome for each property comes out.

An engine tells a reporter what it has decided the moment it is decided, so that an interrupt loses nothing.
It never confirms its own answers: `checker.check` replays every path and re-checks every closed set.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from checker.certificates.invariant import Invariant
from checker.certificates.rescue import Rescue
from checker.transition_system import Action, Form, Property, State, TransitionSystem


@dataclass(frozen=True)
class Path:
    """k actions and k+1 states, beginning in the initial state."""

    states: tuple[State, ...]
    actions: tuple[Action, ...]


class ClosedSet(Protocol):
    """All states that a finished search has seen (one per orbit when symmetry was used)."""

    @property
    def symmetric(self) -> bool: ...
    def __len__(self) -> int: ...
    def __contains__(self, state: State) -> bool:
        """Whether the state, or one that a listed symmetry maps it to, is in the set."""
        ...

    def sample(self, count: int, seed: int) -> Iterator[State]:
        """`count` states drawn without replacement (all of them, when there are no more)."""
        ...

    def recheck(self) -> str | None:
        """Recomputes, independently of the search's bookkeeping, that the set holds the initial state, is closed under
        every action and has no violation; None if so, else what is wrong."""
        ...


@dataclass(frozen=True)
class Reached:
    """The property is violated (for a cover: reached) at the end of `path`.

    `shortest` says why no shorter path exists, or is None when that is not known.
    """

    path: Path
    shortest: str | None


@dataclass(frozen=True)
class Unreachable:
    """No reachable state or step violates the property: the whole state space was searched."""

    closed_set: ClosedSet
    depth: int


@dataclass(frozen=True)
class Inductive:
    """No reachable state or step violates the property: every run stays within `invariant`, which excludes that.

    frames   the number of frames that the proof took
    rescues  for `at rest` and `recoverable`: ways out, one of which is open in every state of the invariant that looks
             like a violation
    `checker.certificates.invariant.check` re-checks the invariant and the ways out.
    """

    invariant: Invariant
    frames: int
    rescues: tuple[Rescue, ...] = ()


@dataclass(frozen=True)
class Lasso:
    """The LIVE property is violated by the run that follows `path` and then repeats its part behind state number `loop`
    for ever; with `loop` the number of actions, it stays in the last state.

    case      which of the property's cases the run shows
    shortest  why no lasso has fewer actions (path and loop together), or None when that is not known
    """

    path: Path
    loop: int
    case: int
    shortest: str | None


@dataclass(frozen=True)
class NoFairCycle:
    """No run violates the LIVE property: in the whole state space (searched without symmetry) no cycle does.

    `recheck` finds out anew, independently of the search's bookkeeping, that the set is closed and has no such cycle;
    it answers None if so, else what is wrong.  That the set is closed it need not find out twice, when `closed_set` has
    been asked before.
    """

    closed_set: ClosedSet
    depth: int
    recheck: Callable[[], str | None]


@dataclass(frozen=True)
class FewRounds:
    """No run violates the LIVE property: while one of its cases is pending, without a fault, no more than `rounds` fair
    rounds go by (k-liveness: Claessen and Sörensson 2012).

    invariants  for each case, an invariant of the system that counts them (`checker.liveness.counting.counting_system`)
    """

    rounds: tuple[int, ...]
    invariants: tuple[Invariant, ...]
    frames: int


@dataclass(frozen=True)
class Bounded:
    """No violation within `depth` steps; nothing is said beyond.  `reason` says why the engine stopped there."""

    depth: int
    reason: str


@dataclass(frozen=True)
class Undecided:
    """Not even depth 0 was decided, or the property is out of this engine's reach."""

    reason: str


Outcome = Reached | Unreachable | Inductive | Lasso | NoFairCycle | FewRounds | Bounded | Undecided


@dataclass
class Budget:
    """When to stop.  `deadline` is on the clock of `time.monotonic`; None means no limit.

    depth   paths longer than this are not looked at
    states  an explicit search stores no more states than this
    """

    deadline: float | None = None
    depth: int | None = None
    states: int = 60_000_000

    def expired(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


@dataclass(frozen=True)
class Progress:
    engine: str
    depth: int
    states: int | None
    rate: float | None
    """States per second."""


@dataclass
class Coverage:
    """Which actions fired in any explored step; `complete` when the whole state space was explored."""

    fired: set[int] = field(default_factory=set)
    complete: bool = False


class Reporter(Protocol):
    def progress(self, progress: Progress) -> None: ...
    def decided(self, target: Property, outcome: Outcome) -> None: ...
    def covered(self, coverage: Coverage) -> None: ...


def without_live(properties: Sequence[Property], name: str, reporter: Reporter) -> list[Property]:
    """The properties about states and steps.  The others, about infinite runs, are reported as undecided: an engine
    (`name`) that looks for bad states would never find any, and call each of them safe."""
    kept = []
    for target in properties:
        if target.form is Form.LIVE:
            reporter.decided(target, Undecided(f"{name} looks at states and steps, not at infinite runs"))
        else:
            kept.append(target)
    return kept


class Engine(Protocol):
    name: str

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        """Reports exactly one outcome for each property.  Raises nothing but KeyboardInterrupt and our own bugs."""
        ...
