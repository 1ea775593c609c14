"""Which engines run, in which order, and what they have decided.

`auto` searches explicitly, which proves and finds shortest traces.  What takes longer than a moment is given to IC3 as
well, and then to bounded model checking, each in a process of its own beside the search.  The first verdict on a
property counts; when all are decided the rest is stopped.

Properties of infinite runs (`live`) come after all others, with engines of their own under the same names.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from checker.bundle import Failure
from checker.engines.engine import (
    Bounded,
    Budget,
    Coverage,
    Engine,
    FewRounds,
    Inductive,
    Lasso,
    NoFairCycle,
    Outcome,
    Progress,
    Reached,
    Undecided,
    Unreachable,
)
from checker.options import Options
from checker.refinement import refined
from checker.transition_system import Form, Property, TransitionSystem
from checker.worker import Decided, Ended, Worker, can_fork, wait_for

HEAD_START = 0.15
"""Seconds of processor time for which the search is alone."""
HEAD_STATES = 200_000
"""And it stays alone for no more states than this."""
_PATIENCE = 0.1
"""Seconds between two looks at the clock while only other processes work."""
_OVERTIME = 2.0
"""Seconds after the deadline when an engine that has not stopped by itself is stopped."""
_COVERS = 1.0
"""Seconds, or half of what the properties took if that is more, for covers when all properties are decided."""


def _search() -> Engine:
    from checker.engines.search import Search

    return Search()


def _bmc() -> Engine:
    from checker.engines.bmc import Bmc

    return Bmc()


def _ic3() -> Engine:
    from checker.engines.ic3 import Ic3

    return Ic3()


def _parallel() -> Engine:
    from checker.engines.parallel_bmc import ParallelBmc

    return ParallelBmc()


def _fair_cycles() -> Engine:
    from checker.engines.live import Live, Method

    return Live(Method.FAIR_CYCLES)


def _counting() -> Engine:
    from checker.engines.live import Live, Method

    return Live(Method.COUNTING)


def _lassos() -> Engine:
    from checker.engines.live import Live, Method

    return Live(Method.LASSO)


ENGINES: dict[str, Callable[[], Engine]] = {"search": _search, "ic3": _ic3, "parallel": _parallel, "bmc": _bmc}
"""The engines by the names that `--engine` takes.  They are imported when they are first wanted."""

LIVE_ENGINES: dict[str, Callable[[], Engine]] = {"search": _fair_cycles, "ic3": _counting, "bmc": _lassos}
"""The same for properties of infinite runs: a search for fair cycles in the state graph, k-liveness by IC3, and bounded
model checking for lassos."""

_FORMS = {
    "ic3": frozenset({Form.INVARIANT, Form.STEP_INVARIANT, Form.COVER, Form.AT_REST, Form.RECOVERABLE}),
}
"""The forms that an engine decides, where these are not all."""
SEARCH_SHARE = 0.6
"""The part of the time that the search may use in `auto`."""
HELPERS = ("ic3", "bmc")
"""The engines beside the search in `auto`, in the order in which they start."""
LIVE_HELPERS = ("bmc", "ic3")
"""The same for properties of infinite runs."""
_BEFORE_LIVE = 0.5
"""The part of the time that is for all else where there are properties of infinite runs."""
_SHORTENING = 3.0
"""Seconds, or as long as all lassos took if that is more, in which a shorter lasso is looked for."""


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
    """What is known so far.

    tried        for each property, the engines that were asked, with what each said in a few words
    interrupted  the user stopped the run
    failures     what engines did that they must not
    """

    by_name: dict[str, Decision] = field(default_factory=dict)
    tried: dict[str, dict[str, str]] = field(default_factory=dict)
    coverage: Coverage | None = None
    interrupted: bool = False
    failures: list[Failure] = field(default_factory=list)

    def of(self, target: Property) -> Decision:
        """What was decided of a property; undecided when no engine came to it.  Where nothing or only a bound is known
        the reason says what each engine had to say."""
        known = self.by_name.get(target.name)
        if known is None:
            return Decision("none", Undecided("interrupted" if self.interrupted else "no engine came to it"))
        tried = self.tried.get(target.name, {})
        others = {name: tried[name] for name in ENGINES if name in tried and name != known.engine}
        match known.outcome:
            case Undecided(reason=reason) if others:
                told = [f"{name}: {why}" for name, why in {known.engine: reason, **others}.items() if name != "none"]
                return replace(known, outcome=Undecided("; ".join(told)))
            case Bounded(depth=depth, reason=reason) if others:
                told = [reason, *(f"{name}: {why}" for name, why in others.items())]
                return replace(known, outcome=Bounded(depth, "; ".join(told)))
            case _:
                return known

    def outcome(self, target: Property) -> Outcome | None:
        """The bare outcome; None when there is none yet."""
        known = self.by_name.get(target.name)
        return None if known is None else known.outcome

    def put(self, target: Property, decision: Decision) -> None:
        """Adds what an engine says.  The more telling of two outcomes stays; two that cannot both be true are a failure
        of our own, and leave the property undecided."""
        self.tried.setdefault(target.name, {})[decision.engine] = _told(decision.outcome)
        before = self.by_name.get(target.name)
        if before is None:
            self.by_name[target.name] = decision
            return
        if before.engine == "none":
            return
        if _contradict(before.outcome, decision.outcome) or _contradict(decision.outcome, before.outcome):
            message = f"{before.engine} and {decision.engine} contradict each other about {target.name}"
            self.failures.append(Failure(message, subject=target.name))
            self.by_name[target.name] = Decision("none", Undecided(message))
            return
        if _weight(decision.outcome) > _weight(before.outcome):
            before, decision = decision, before
        self.by_name[target.name] = _combined(before, decision)


def _told(outcome: Outcome) -> str:
    match outcome:
        case Reached(path=path):
            return f"a run of {len(path.actions)} steps"
        case Lasso(path=path):
            return f"a lasso of {len(path.actions)} steps"
        case Unreachable() | Inductive() | NoFairCycle() | FewRounds():
            return "a proof"
        case Bounded(depth=depth, reason=reason):
            return f"{reason} at depth {depth}"
        case Undecided(reason=reason):
            return reason


def _weight(outcome: Outcome) -> tuple[int, int]:
    """How much an outcome says; the later of two equals says no more."""
    match outcome:
        case Reached(path=path, shortest=shortest) | Lasso(path=path, shortest=shortest):
            return (3 if shortest is not None else 2, -len(path.actions))
        case Unreachable() | Inductive() | NoFairCycle() | FewRounds():
            return (3, 0)
        case Bounded(depth=depth):
            return (1, depth)
        case Undecided():
            return (0, 0)


def _combined(known: Decision, other: Decision) -> Decision:
    """A run is a shortest one when another engine has excluded all that have fewer steps."""
    match known.outcome, other.outcome:
        case Reached(path=path, shortest=None), Bounded(depth=depth) if depth == len(path.actions) - 1:
            why = f"{other.engine}: no violation within {depth} {'step' if depth == 1 else 'steps'}"
            return replace(known, outcome=Reached(path, why))
        case Lasso(path=path, shortest=None) as lasso, Bounded(depth=depth) if depth == len(path.actions) - 1:
            why = f"{other.engine}: no lasso within {depth} {'step' if depth == 1 else 'steps'}"
            return replace(known, outcome=replace(lasso, shortest=why))
        case _:
            return known


def _contradict(one: Outcome, other: Outcome) -> bool:
    """Whether the one excludes the run of the other, or the one's run is proved shortest and the other's is shorter."""
    if not isinstance(other, Reached | Lasso):
        return False
    length = len(other.path.actions)
    match one:
        case Bounded(depth=depth):
            return length <= depth
        case Unreachable() | Inductive() | NoFairCycle() | FewRounds():
            return True
        case Reached(path=path, shortest=shortest) | Lasso(path=path, shortest=shortest):
            return shortest is not None and length < len(path.actions)
        case _:
            return False


class _Recorder:
    """Keeps what one engine reports.  `tend` is called when the engine shows that it is alive."""

    def __init__(
        self,
        decisions: Decisions,
        engine: str,
        targets: Sequence[Property],
        observer: Observer,
        tend: Callable[[Progress], None] | None = None,
    ) -> None:
        self._decisions = decisions
        self._engine = engine
        self._targets = targets
        self._open = {target.name: None for target in targets}
        self._observer = observer
        self._tend = tend
        self.answered: set[str] = set()

    def progress(self, progress: Progress) -> None:
        self._observer.progress(progress, tuple(self._open))
        if self._tend is not None:
            self._tend(progress)

    def decided(self, target: Property, outcome: Outcome) -> None:
        self._open.pop(target.name, None)
        self.answered.add(target.name)
        self._decisions.put(target, Decision(self._engine, outcome))

    def give_up(self, reason: str) -> None:
        """Leaves undecided what has no answer."""
        for target in self._targets:
            if target.name not in self.answered:
                self.decided(target, Undecided(reason))

    def missing(self) -> list[str]:
        return [target.name for target in self._targets if target.name not in self.answered]

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
    helpers: Sequence[str] = HELPERS,
) -> Decisions:
    """Runs the engines that the options ask for.  `covers` are looked for as well, but no engine is started for them
    alone.  `helpers`: the engines beside the search in `auto`; without any there are none for infinite runs either.

    An interrupt (KeyboardInterrupt) ends the run and keeps what was decided.  An engine that runs out of memory, or
    whose process is killed, leaves its properties undecided.  So does one that raises anything else or leaves a
    property out; that is a failure of our own besides."""
    decisions = Decisions()
    live = [target for target in targets if target.form is Form.LIVE]
    others = [target for target in targets if target.form is not Form.LIVE]
    if others or not live:
        now = clock()
        until = now + (deadline - now) * _BEFORE_LIVE if live else deadline
        _Contest(ENGINES, system, others, covers, options, observer, until, clock, helpers, decisions).run()
    if options.engine != "auto" and options.engine not in LIVE_ENGINES:
        for target in live:
            reason = f"{options.engine} looks at states and steps, not at infinite runs"
            decisions.put(target, Decision(options.engine, Undecided(reason)))
    elif live and not decisions.interrupted and not decisions.failures:
        beside = LIVE_HELPERS if helpers else ()
        _Contest(LIVE_ENGINES, system, live, (), options, observer, deadline, clock, beside, decisions).run()
    return decisions


class _Contest:
    """The engines of one table, and the properties that they decide."""

    def __init__(
        self,
        engines: Mapping[str, Callable[[], Engine]],
        system: TransitionSystem,
        targets: Sequence[Property],
        covers: Sequence[Property],
        options: Options,
        observer: Observer,
        deadline: float,
        clock: Callable[[], float],
        helpers: Sequence[str],
        decisions: Decisions,
    ) -> None:
        self.engines = engines
        self.system = system
        self.targets = targets
        self.covers = covers
        self.options = options
        self.observer = observer
        self.deadline = deadline
        self.clock = clock
        self.decisions = decisions
        self.started = clock()
        self.settled: float | None = None
        """When all properties were decided."""
        self.found: float | None = None
        """When all properties were decided but for lassos of which shorter ones may exist."""
        self.waiting = list(helpers)
        self.workers: list[tuple[Worker, _Recorder]] = []

    def run(self) -> None:
        auto = self.options.engine == "auto"
        first = "search" if auto else self.options.engine
        try:
            if self._open(first):
                self._run_here(first, SEARCH_SHARE if auto else 1.0, [*self._open(first), *self.covers], beside=auto)
            if self.decisions.failures:
                # No verdict of this run counts, so no more are looked for.
                pass
            elif auto and can_fork():
                self._await_helpers()
            elif auto:
                for name in self.waiting:
                    if left := self._open(name):
                        self._run_here(name, 0.5 if name != self.waiting[-1] else 1.0, left)
            self._stop_workers()
            self._refine()
        except KeyboardInterrupt:
            self.decisions.interrupted = True
        finally:
            self._stop_workers()

    def _stop_workers(self) -> None:
        for worker, _ in self.workers:
            worker.stop()

    def _refine(self) -> None:
        """Puts the best of the shortest paths in the place of those that IC3 has found."""
        for target in self.targets:
            decision = self.decisions.by_name.get(target.name)
            match decision:
                case Decision(engine="ic3", outcome=Reached(shortest=str()) as known):
                    refined_outcome = refined(self.system, target, known, self.deadline)
                    self.decisions.by_name[target.name] = replace(decision, outcome=refined_outcome)

    def _open(self, engine: str) -> list[Property]:
        """The properties for which the engine may be of use."""
        found = []
        for target in self.targets:
            outcome = self.decisions.outcome(target)
            if not self._is_undecided(target):
                continue
            if self.options.engine == "auto":
                if target.form is not Form.LIVE and target.form not in _FORMS.get(engine, frozenset(Form)):
                    continue
                if isinstance(outcome, Reached | Lasso) and engine == "ic3":
                    continue
            found.append(target)
        return found

    def _budget(self, share: float) -> Budget:
        now = self.clock()
        budget = Budget(deadline=now + max(0.0, self.deadline - now) * share, depth=self.options.depth)
        return budget if self.options.states is None else replace(budget, states=self.options.states)

    # -- the engine in this process -----------------------------------------------------------------------------------

    def _run_here(self, name: str, share: float, wanted: Sequence[Property], beside: bool = False) -> None:
        budget = self._budget(share)
        begun = time.process_time()

        def tend(progress: Progress) -> None:
            late = time.process_time() - begun >= HEAD_START or (progress.states or 0) > HEAD_STATES
            if late and not self.workers:
                self._start_next()
            self._hear()
            if self._is_settled():
                # The engine looks at its deadline, and then reports how far it came.
                budget.deadline = 0.0

        recorder = _Recorder(self.decisions, name, wanted, self.observer, tend if beside and can_fork() else None)
        try:
            self.engines[name]().run(self.system, wanted, budget, recorder)
        except MemoryError:
            recorder.give_up(f"{name} ran out of memory")
        except Exception as error:
            message = f"the engine {name} stopped with {type(error).__name__}: {error}"
            self.decisions.failures.append(Failure(message, detail=traceback.format_exc()))
            recorder.give_up(message)
        self._require_answers(name, recorder)

    def _require_answers(self, name: str, recorder: _Recorder) -> None:
        missing = recorder.missing()
        if missing:
            message = f"the engine {name} gave no answer for {', '.join(missing)}"
            self.decisions.failures.append(Failure(message))
            recorder.give_up(message)

    # -- engines beside it --------------------------------------------------------------------------------------------

    def _start_next(self) -> bool:
        """Starts the next engine that has something to do."""
        while self.waiting:
            name = self.waiting.pop(0)
            left = self._open(name)
            if not left:
                continue
            if name == "ic3":
                left += [cover for cover in self.covers if self._is_undecided(cover)]
            budget = self._budget(1.0)
            worker = Worker(name, self.engines[name], self.system, left, budget)
            self.workers.append((worker, _Recorder(self.decisions, name, left, self.observer)))
            return True
        return False

    def _hear(self) -> None:
        """Takes in what the workers have to say; when one has ended the next begins."""
        for worker, recorder in list(self.workers):
            if worker.ended:
                continue
            for message in worker.messages():
                match message:
                    case Decided(target=target, outcome=outcome):
                        recorder.decided(target, outcome)
                    case Ended(reason=None):
                        self._require_answers(worker.name, recorder)
                    case Ended(reason=reason, detail=detail):
                        assert reason is not None
                        if detail is not None:
                            message_ = f"the engine {worker.name} failed: {reason}"
                            self.decisions.failures.append(Failure(message_, detail=detail))
                        recorder.give_up(reason)
                    case progress:
                        recorder.progress(progress)
            if worker.ended:
                worker.stop()
                self._start_next()

    def _await_helpers(self) -> None:
        while not self._is_settled():
            if self.clock() > self.deadline + _OVERTIME:
                for worker, recorder in self.workers:
                    if not worker.ended:
                        worker.stop()
                        recorder.give_up("out of time")
                return
            while len([worker for worker, _ in self.workers if not worker.ended]) < 2 and self._start_next():
                pass
            running = [worker for worker, _ in self.workers if not worker.ended]
            if not running:
                return
            wait_for(running, _PATIENCE)
            self._hear()

    def _is_settled(self) -> bool:
        """Whether no engine can add anything: all is decided, the covers too or they have had their time."""
        if self.settled is None:
            left = [target for target in self.targets if self._is_undecided(target)]
            if not all(isinstance(self.decisions.outcome(target), Lasso) for target in left):
                return False
            if left and not self._has_shortened():
                return False
            self.settled = self.clock()
        if not any(self._is_undecided(cover) for cover in self.covers):
            return True
        patience = max(_COVERS, 0.5 * (self.settled - self.started))
        return self.clock() > min(self.settled + patience, self.deadline)

    def _is_undecided(self, target: Property) -> bool:
        """Whether another engine could say more."""
        outcome = self.decisions.outcome(target)
        if isinstance(outcome, Lasso) and not target.shown:
            return False
        return _is_open(outcome, self.options)

    def _has_shortened(self) -> bool:
        """Whether the lassos that may be too long have had their time to become shorter: nothing else is open."""
        now = self.clock()
        if self.found is None:
            self.found = now
        return now > self.found + max(_SHORTENING, self.found - self.started)


def _is_open(outcome: Outcome | None, options: Options) -> bool:
    match outcome:
        case None | Undecided():
            return True
        case Bounded(depth=depth):
            return options.depth is None or depth < options.depth
        case Reached(shortest=shortest) | Lasso(shortest=shortest):
            return shortest is None
        case _:
            return False
