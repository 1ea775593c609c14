"""Which engines run, in which order, and what they have decided.

`auto` searches explicitly, which proves and finds shortest traces.  What takes longer than a moment is given to IC3 as
well, in a process of its own beside the search; when IC3 has had a while, or has ended, to bounded model checking with
parallel steps; and when there is a core for it, to that with single steps.  The first verdict on a property counts;
when all are decided the rest is stopped.  A run that may be too long is made shorter, which is less urgent than a
verdict.

Properties of infinite runs (`live`) come after all others, with engines of their own under the same names.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from checker.bundle import Failure
from checker.engines.engine import (
    Bounded,
    Budget,
    Coverage,
    Engine,
    Lasso,
    Outcome,
    Path,
    Progress,
    Reached,
    Undecided,
)
from checker.options import Options
from checker.planning.decisions import Decision, Decisions
from checker.planning.engine_table import ENGINES, FORMS, LIVE_ENGINES, NOT_SHORTEST
from checker.planning.refinement import refined, shortened
from checker.planning.shortage import SHORTAGE, Shortage
from checker.planning.worker import Decided, Ended, Worker, can_fork, wait_for
from checker.time_limit import OUT_OF_TIME, TimeLimit
from checker.transition_system import Form, Property, TransitionSystem

HEAD_START = 0.15
"""Seconds of processor time for which the search is alone."""
HEAD_STATES = 200_000
"""And it stays alone for no more states than this."""
ALONE_BESIDE = 10.0
"""Seconds for which IC3 is alone beside the search; then the engine with parallel steps joins the two."""
_ROOM = 2
"""So many engines run at a time, but for the time when parallel steps have joined the search and IC3."""
_BEFORE_SHORTENING = 0.8
"""The part of the time for such an engine when it is alone and gives no proofs."""
_SHORTENING_SHARE = 0.7
"""Of the time that is left, this may be spent on shorter runs when all engines have ended."""
_PATIENCE = 0.1
"""Seconds between two looks at the clock while only other processes work."""
_OVERTIME = 2.0
"""Seconds after the deadline when an engine that has not stopped by itself is stopped."""
_COVERS = 1.0
"""Seconds, or half of what the properties took if that is more, for covers when all properties are decided."""


SEARCH_SHARE = 0.6
"""The part of the time that the search may use in `auto`."""
HELPERS = ("ic3", "parallel", "bmc")
"""The engines beside the search in `auto`, in the order in which they start."""
LIVE_HELPERS = ("bmc", "ic3")
"""The same for properties of infinite runs."""
_BEFORE_LIVE = 0.5
"""The part of the time that is for all else where there are properties of infinite runs."""
_TOGETHER = 0.5
"""The part of the time for each property that all have together."""
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


class _Recorder:
    """Keeps what one engine reports.  `tend` is called when the engine shows that it is alive.  shortage: which ends an
    engine in this process."""

    def __init__(
        self,
        decisions: Decisions,
        engine: str,
        targets: Sequence[Property],
        observer: Observer,
        tend: Callable[[Progress], None] | None = None,
        shortage: Shortage | None = None,
    ) -> None:
        self._decisions = decisions
        self._shortage = shortage
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
        if self._shortage is not None:
            self._shortage.heed()

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


class _ShorterRecorder(_Recorder):
    """Keeps shorter runs in the place of those that were found.  Where there are none, nothing changes."""

    def decided(self, target: Property, outcome: Outcome) -> None:
        self._open.pop(target.name, None)
        self.answered.add(target.name)
        self._decisions.shorten(target, outcome)


def decide(
    system: TransitionSystem,
    targets: Sequence[Property],
    covers: Sequence[Property],
    options: Options,
    observer: Observer,
    limit: TimeLimit,
    clock: Callable[[], float] = time.monotonic,
    helpers: Sequence[str] = HELPERS,
    each: float | None = None,
) -> Decisions:
    """Runs the engines that the options ask for.  `covers` are looked for as well, but no engine is started for them
    alone.  `helpers`: the engines beside the search in `auto`; without any there are none for infinite runs either.
    `limit` is the time for all, and `each` are the most seconds for one property; the options' times do not matter.
    The time in which properties are worked on together counts for each of them; what has no verdict after a part of it
    has the rest for itself, one property after the other.

    An interrupt (KeyboardInterrupt) ends the run and keeps what was decided.  An engine that runs out of memory, or
    whose process is killed, leaves its properties undecided.  So does one that raises anything else or leaves a
    property out; that is a failure of our own besides."""
    decisions = Decisions()

    def contest(
        engines: Mapping[str, Callable[[], Engine]],
        wanted: Sequence[Property],
        more: Sequence[Property],
        limit: TimeLimit,
        beside: Sequence[str],
    ) -> None:
        for group, until in _turns(wanted, decisions, limit, each, clock):
            decisions.limits |= {target.name: until for target in group}
            _Contest(engines, system, group, more, options, observer, until.until, clock, beside, decisions).run()
            more = ()

    live = [target for target in targets if target.form is Form.LIVE]
    others = [target for target in targets if target.form is not Form.LIVE]
    if others or not live:
        now = clock()
        before = replace(limit, until=now + (limit.until - now) * _BEFORE_LIVE) if live else limit
        contest(ENGINES, others, covers, before, helpers)
    if options.engine != "auto" and options.engine not in LIVE_ENGINES:
        for target in live:
            reason = f"{options.engine} looks at states and steps, not at infinite runs"
            decisions.put(target, Decision(options.engine, Undecided(reason)))
    elif live and not decisions.interrupted and not decisions.failures:
        contest(LIVE_ENGINES, live, (), limit, LIVE_HELPERS if helpers else ())
    return decisions


def _turns(
    targets: Sequence[Property],
    decisions: Decisions,
    limit: TimeLimit,
    each: float | None,
    clock: Callable[[], float],
) -> Iterator[tuple[Sequence[Property], TimeLimit]]:
    """Which properties are worked on at a time, and until when: all, then one by one those that have no verdict."""
    if each is None:
        yield targets, limit
        return

    def share(part: float) -> TimeLimit:
        return limit.or_sooner(TimeLimit(clock() + part * each, f"timeout-property {each:g} s"))

    if len(targets) < 2:
        yield targets, share(1.0)
        return
    yield targets, share(_TOGETHER)
    for target in targets:
        if decisions.interrupted or decisions.failures:
            return
        if isinstance(decisions.outcome(target), Undecided | Bounded | None):
            if clock() >= limit.until:
                decisions.limits[target.name] = limit
            else:
                yield [target], share(1.0 - _TOGETHER)


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
        self.searching = False
        self.joined: float | None = None
        """When the last engine beside the search began."""
        self.shortened: set[str] = set()
        """The properties whose runs are, or were, made shorter by a worker."""

    def run(self) -> None:
        auto = self.options.engine == "auto"
        first = "search" if auto else self.options.engine
        try:
            if self._open(first):
                share = SEARCH_SHARE if auto else _BEFORE_SHORTENING if first == "parallel" else 1.0
                self._run_here(first, share, [*self._open(first), *self.covers], beside=auto)
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
        """Puts the best of the shortest paths in the place of those that may be too long, or are just any of their
        length."""
        if self.decisions.failures:
            return
        for target in self.targets:
            found = self.decisions.by_name.get(target.name)
            if found is None or found.engine not in NOT_SHORTEST or not target.shown:
                continue
            if isinstance(found.outcome, Reached) and found.outcome.shortest is None:
                if target.name not in self.shortened and self.clock() < self.deadline:
                    deadline = self._budget(_SHORTENING_SHARE).deadline
                    self.decisions.shorten(target, shortened(self.system, target, found.outcome.path, deadline))
                found = self.decisions.by_name[target.name]
            if isinstance(found.outcome, Reached) and found.outcome.shortest is not None:
                best = refined(self.system, target, found.outcome, self.deadline)
                self.decisions.by_name[target.name] = replace(found, outcome=best)

    def _open(self, engine: str) -> list[Property]:
        """The properties for which the engine may be of use."""
        found = []
        for target in self.targets:
            outcome = self.decisions.outcome(target)
            if not self._is_undecided(target):
                continue
            if self.options.engine == "auto":
                if target.form is not Form.LIVE and target.form not in FORMS.get(engine, frozenset(Form)):
                    continue
                if isinstance(outcome, Lasso) and engine == "ic3":
                    continue
                if isinstance(outcome, Reached) and engine != "search":
                    continue
                if engine == "parallel" and self.options.depth is not None:
                    # The others answer exactly for a depth; its paths can be longer than that.
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
            if late:
                self._fill()
            self._hear()
            if self._is_settled():
                # The engine looks at its deadline, and then reports how far it came.
                budget.deadline = 0.0

        tending = tend if beside and can_fork() else None
        recorder = _Recorder(self.decisions, name, wanted, self.observer, tending, SHORTAGE)
        self.searching = beside
        try:
            self.engines[name]().run(self.system, wanted, budget, recorder)
        except MemoryError:
            recorder.give_up(f"{name} ran out of memory")
        except Exception as error:
            message = f"the engine {name} stopped with {type(error).__name__}: {error}"
            self.decisions.failures.append(Failure(message, detail=traceback.format_exc()))
            recorder.give_up(message)
        self.searching = False
        self._require_answers(name, recorder)

    def _require_answers(self, name: str, recorder: _Recorder) -> None:
        missing = recorder.missing()
        if missing:
            message = f"the engine {name} gave no answer for {', '.join(missing)}"
            self.decisions.failures.append(Failure(message))
            recorder.give_up(message)

    # -- engines beside it --------------------------------------------------------------------------------------------

    def _running(self) -> list[Worker]:
        return [worker for worker, _ in self.workers if not worker.ended]

    def _fill(self) -> None:
        """Starts what there is room for."""
        while len(self._running()) + self.searching < _ROOM or self._may_join():
            if not self._start_next():
                return

    def _may_join(self) -> bool:
        """Whether parallel steps join the search and IC3."""
        if not self.searching or self.waiting[:1] != ["parallel"] or len(self._running()) > 1:
            return False
        return self.joined is not None and self.clock() - self.joined > ALONE_BESIDE

    def _start_next(self) -> bool:
        """Starts the next engine that has something to do.  Shorter runs come after verdicts, but where there is room
        for two engines one is enough for those."""
        loose = self._loose()
        undecided = [target for target in self.targets if self._is_undecided(target)]
        sought = any(not isinstance(self.decisions.outcome(target), Reached | Lasso) for target in undecided)
        if loose and (not sought or (self._running() and not self.searching)):
            return self._start_shortening(loose)
        if self._start_engine():
            return True
        return bool(loose) and self._start_shortening(loose)

    def _loose(self) -> dict[Property, Path]:
        """The runs that may be too long, and that nobody has begun to make shorter."""
        found = {}
        for target in self.targets:
            outcome = self.decisions.outcome(target)
            match outcome:
                case Reached(path=path, shortest=None) if target.shown and target.name not in self.shortened:
                    found[target] = path
        return found

    def _start_shortening(self, loose: Mapping[Property, Path]) -> bool:
        def make() -> Engine:
            from checker.engines.shortening import Shortening

            return Shortening(loose)

        self.shortened |= {target.name for target in loose}
        worker = Worker("shortening", make, self.system, tuple(loose), self._budget(1.0))
        self.workers.append((worker, _ShorterRecorder(self.decisions, "shortening", tuple(loose), self.observer)))
        return True

    def _start_engine(self) -> bool:
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
            self.joined = self.clock()
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
                self._fill()

    def _await_helpers(self) -> None:
        while not self._is_settled():
            if self.clock() > self.deadline + _OVERTIME:
                for worker, recorder in self.workers:
                    if not worker.ended:
                        worker.stop()
                        recorder.give_up(OUT_OF_TIME)
                return
            self._fill()
            running = self._running()
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


__all__ = [
    "ALONE_BESIDE",
    "ENGINES",
    "HEAD_START",
    "HEAD_STATES",
    "HELPERS",
    "LIVE_ENGINES",
    "LIVE_HELPERS",
    "SEARCH_SHARE",
    "Observer",
    "Silence",
    "decide",
]
