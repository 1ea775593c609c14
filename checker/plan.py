"""Which engines run, in which order, and what they have decided.

`auto` searches explicitly first, which proves and finds shortest traces, and then unrolls (bounded model checking)
for what the search could not decide in its share of the time.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from checker.bundle import Failure
from checker.engines.engine import Bounded, Budget, Coverage, Engine, Outcome, Progress, Reached, Undecided, Unreachable
from checker.options import Options
from checker.transition_system import Property, TransitionSystem


def _search() -> Engine:
    from checker.engines.search import Search

    return Search()


def _bmc() -> Engine:
    from checker.engines.bmc import Bmc

    return Bmc()


ENGINES: dict[str, Callable[[], Engine]] = {"search": _search, "bmc": _bmc}
"""The engines by the names that `--engine` takes.  They are imported when they are first wanted."""

PLANS: Mapping[str, tuple[tuple[str, float], ...]] = {
    "auto": (("search", 0.6), ("bmc", 1.0)),
    "search": (("search", 1.0),),
    "bmc": (("bmc", 1.0),),
}
"""For each `--engine`: the engines in turn, each with the share of the time that is left which it may use."""


class Observer(Protocol):
    """Whoever watches a check: the live line on a terminal."""

    def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
        """The engine is at work; these properties are still open."""
        ...


class Silence:
    """An observer that ignores everything."""

    def progress(self, progress: Progress, undecided: Sequence[str]) -> None:
        return


@dataclass(frozen=True)
class Decision:
    """An outcome and the engine it came from."""

    engine: str
    outcome: Outcome


@dataclass
class Decisions:
    """What is known so far.  interrupted: the user stopped the run.  failures: what engines did that they must not."""

    by_name: dict[str, Decision] = field(default_factory=dict)
    coverage: Coverage | None = None
    interrupted: bool = False
    failures: list[Failure] = field(default_factory=list)

    def of(self, target: Property) -> Decision:
        """What was decided of a property; undecided when no engine came to it."""
        reason = "interrupted" if self.interrupted else "no engine came to it"
        return self.by_name.get(target.name, Decision("none", Undecided(reason)))

    def _put(self, target: Property, decision: Decision) -> None:
        before = self.by_name.get(target.name)
        if before is not None and _contradict(before.outcome, decision.outcome):
            message = f"{before.engine} and {decision.engine} contradict each other about {target.name}"
            self.failures.append(Failure(message, subject=target.name))
            self.by_name[target.name] = Decision("none", Undecided(message))
        elif before is None or _weight(decision.outcome) > _weight(before.outcome):
            self.by_name[target.name] = decision


def _weight(outcome: Outcome) -> tuple[int, int]:
    """How much an outcome says; the later of two equals says no more."""
    match outcome:
        case Reached() | Unreachable():
            return (2, 0)
        case Bounded(depth=depth):
            return (1, depth)
        case Undecided():
            return (0, 0)


def _contradict(bound: Outcome, found: Outcome) -> bool:
    """Whether one engine's path is no longer than the depth to which another has excluded it."""
    return isinstance(bound, Bounded) and isinstance(found, Reached) and len(found.path.actions) <= bound.depth


class _Recorder:
    def __init__(self, decisions: Decisions, engine: str, targets: Sequence[Property], observer: Observer) -> None:
        self._decisions = decisions
        self._engine = engine
        self._targets = targets
        self._open = {target.name: None for target in targets}
        self._observer = observer
        self.answered: set[str] = set()

    def progress(self, progress: Progress) -> None:
        self._observer.progress(progress, tuple(self._open))

    def decided(self, target: Property, outcome: Outcome) -> None:
        self._open.pop(target.name, None)
        self.answered.add(target.name)
        self._decisions._put(target, Decision(self._engine, outcome))

    def give_up(self, reason: str) -> None:
        """Leaves undecided what has no answer."""
        for target in self._targets:
            if target.name not in self.answered:
                self.decided(target, Undecided(reason))

    def covered(self, coverage: Coverage) -> None:
        self._decisions.coverage = coverage


def decide(
    system: TransitionSystem,
    targets: Sequence[Property],
    covers: Sequence[Property],
    options: Options,
    observer: Observer,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> Decisions:
    """Runs the engines of the plan.  `covers` are looked for as well, but no engine is started for them alone.

    An interrupt (KeyboardInterrupt) ends the run and keeps what was decided.  An engine that runs out of memory leaves
    its properties undecided.  So does one that raises anything else or leaves a property out; that is a failure of our
    own besides."""
    decisions = Decisions()
    for place, (name, share) in enumerate(PLANS[options.engine]):
        left = [target for target in targets if _is_open(decisions.of(target).outcome, options)]
        if not left:
            break
        wanted = [*left, *(covers if place == 0 else ())]
        now = clock()
        budget = Budget(deadline=now + max(0.0, deadline - now) * share, depth=options.depth)
        if options.states is not None:
            budget = replace(budget, states=options.states)
        recorder = _Recorder(decisions, name, wanted, observer)
        try:
            ENGINES[name]().run(system, wanted, budget, recorder)
        except KeyboardInterrupt:
            decisions.interrupted = True
            break
        except MemoryError:
            recorder.give_up(f"{name} ran out of memory")
        except Exception as error:
            message = f"the engine {name} stopped with {type(error).__name__}: {error}"
            decisions.failures.append(Failure(message, detail=traceback.format_exc()))
            recorder.give_up(message)
        missing = [target.name for target in wanted if target.name not in recorder.answered]
        if missing:
            message = f"the engine {name} gave no answer for {', '.join(missing)}"
            decisions.failures.append(Failure(message))
            recorder.give_up(message)
    return decisions


def _is_open(outcome: Outcome, options: Options) -> bool:
    match outcome:
        case Undecided():
            return True
        case Bounded(depth=depth):
            return options.depth is None or depth < options.depth
        case _:
            return False
