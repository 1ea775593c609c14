"""Breadth-first search over all reachable states, packed and a batch at a time."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from checker.engines.best_path import LIMIT, Arcs, Levels, Rank, Ranked, best_path
from checker.engines.closed_set import SearchedStates
from checker.engines.closure import Closure, Fate
from checker.engines.engine import (
    Bounded,
    Budget,
    Coverage,
    Outcome,
    Path,
    Progress,
    Reached,
    Reporter,
    Undecided,
    Unreachable,
    without_live,
)
from checker.engines.packing import Batch, Columns, Indices, Layout, Words
from checker.engines.state_table import MAXIMUM, Numbers, StateTable, mix
from checker.engines.step_relation import Firing, StepRelation, step_watch
from checker.engines.symmetry import Symmetry, image_formulas
from checker.logic.formula import FALSE, Formula, conjunction, negate
from checker.time_limit import OUT_OF_TIME
from checker.transition_system import Action, Form, Property, Reachability, State, TransitionSystem
from spec.alarm import TimeIsUp, within

CHUNK = 1 << 15
_TELL = 0.05
"""Seconds between two reports of progress."""
CLOSURE_SHARE = 0.3
"""Of the time, this is kept for the closures when there are candidates for them."""
IMAGES = 5_000
"""So many images of a guard are looked at to find out whether the action fires in an image of an explored state."""

BEST_SHARE = 0.3
"""Of the time that is left, this may be spent on a better path among the shortest ones."""
SHORTEST = "breadth-first search: all shorter paths were explored; "
SHORTEST_ONLY = "breadth-first search, not for fewest faults: all shorter paths were explored; "
WINDOW = "an unbounded integer left the explored window"
DEPTH = "the depth limit was reached"
STATES = "the limit on the number of states was reached"
MEMORY = "memory ran out"


class Search:
    """The explicit engine: decides all forms of properties but LIVE, finds shortest paths, closes finite state spaces.

    With symmetry it stores one state of each orbit; the coverage of an unfinished search then names only actions that
    fired in the stored states, and `Unreachable.depth` is an upper bound (see `checker.engines.symmetry`).

    symmetry     use the swaps of the system
    hash_states  the hash function of the state table (any function is correct)
    """

    name = "search"

    def __init__(self, symmetry: bool = True, hash_states: Callable[[Columns], Words] = mix) -> None:
        self.symmetry = symmetry
        self.hash_states = hash_states

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        targets = without_live(properties, self.name, reporter)
        if properties and not targets:
            reporter.covered(Coverage())
            return
        left = float("inf") if budget.deadline is None else budget.deadline - time.monotonic()
        reason = MEMORY
        run: _Run | None = None
        try:
            # Tables of symmetries and actions: no clock is looked at there.
            run = within(min(max(left, _LEAST), _LONGEST), lambda: _Run(self, system, targets, budget, reporter))
        except TimeIsUp:
            reason = OUT_OF_TIME
        except MemoryError:
            pass
        if run is None:
            for target in targets:
                reporter.decided(target, Undecided(reason))
            reporter.covered(Coverage())
            return
        run.explore()
        run.conclude()


_LEAST, _LONGEST = 0.5, 1e6
"""Seconds for the tables: even a search that is out of time looks at the initial state; and a timer has an end."""


class _StopError(Exception):
    """The search ends before the state space does."""


@dataclass(eq=False)
class _Query:
    """A property and what is known about it.

    `candidates` (states in which `bad` holds, by number) and `members` (the same in the closure) belong to `at rest`
    and `recoverable`; `fresh` are candidates that the closure has not been told.
    """

    target: Property
    closure: Closure | None = None
    decided: bool = False
    candidates: list[Numbers] = field(default_factory=list)
    members: list[Numbers] = field(default_factory=list)
    fresh: list[Numbers] = field(default_factory=list)


class _Run:
    def __init__(
        self,
        options: Search,
        system: TransitionSystem,
        properties: Sequence[Property],
        budget: Budget,
        reporter: Reporter,
    ) -> None:
        self.system = system
        self.budget = budget
        self.reporter = reporter
        self.layout = Layout(system)
        self.symmetry = Symmetry(self.layout, system.swaps if options.symmetry else ())
        self.table = StateTable(self.layout.words, options.hash_states)
        self.limit = min(budget.states, MAXIMUM)
        self.closures: dict[Reachability, Closure] = {}
        self.queries = [_Query(target, self._closure(target.unless)) for target in properties]
        self.steppers = [query for query in self.queries if query.target.form is Form.STEP_INVARIANT]
        watches = [step_watch(system.actions, query.target) for query in self.steppers]
        self.relation = StepRelation(self.layout, system.actions, watches)
        self.parents: list[Numbers] = []
        self.levels: list[int] = [0]
        """The number of the first state of each depth."""
        self.arcs: dict[int, Arcs] = {}
        self.window: int | None = None
        """The least depth of a frontier state."""
        self.coverage = Coverage()
        self.closed = False
        self.reason = ""
        self.started = self.told = time.monotonic()

    def _closure(self, unless: Reachability | None) -> Closure | None:
        if unless is None:
            return None
        if unless not in self.closures:
            self.closures[unless] = Closure(self.system, self.layout, self.symmetry, unless)
        return self.closures[unless]

    @property
    def depth(self) -> int:
        """The depth of the states that were found last."""
        return len(self.levels) - 1

    # -- exploring ----------------------------------------------------------------------------------------------------

    def explore(self) -> None:
        """Level by level, until the space is closed, all is decided, or the budget is spent (`reason`)."""
        try:
            start = self.symmetry.representatives(self.layout.columns(self.system.initial))
            self.table.insert(start)
            self.parents.append(np.array([-1], dtype=np.int32))
            self._examine(0, 1)
            worked = 1
            while not self._all_decided():
                first, last = self.levels[-1], self.table.count
                if self.depth == self.budget.depth:
                    raise _StopError(DEPTH)
                self.levels.append(last)
                for begin in range(first, last, CHUNK):
                    if self._out_of_time():
                        raise _StopError(OUT_OF_TIME)
                    self._expand(begin, min(begin + CHUNK, last))
                    self._tell()
                    if self._all_decided():
                        return
                if self.table.count == last:
                    self.levels.pop()
                    self.closed = True
                    return
                if self.table.count >= 2 * worked:
                    worked = self.table.count
                    for closure in self.closures.values():
                        self._settle(closure, worked)
        except _StopError as stop:
            self.reason = str(stop)
        except MemoryError:
            self.reason = MEMORY

    def _expand(self, first: int, last: int) -> None:
        columns = self.table.columns(first, last)
        alive = self._alive(columns)
        if not len(alive):
            return
        if len(alive) < last - first:
            columns = [column.take(alive) for column in columns]
        firings = []
        for firing in self.relation.fire(columns):
            # One batch of a model with many wide actions may take longer than all the time that there is.
            if self._out_of_time():
                raise _StopError(OUT_OF_TIME)
            firings.append(firing)
        for firing in firings:
            self.coverage.fired.add(firing.action.index)
            for number, places in firing.marks:
                query = self.steppers[number]
                if not query.decided:
                    place = int(places[0])
                    origin = first + int(alive[firing.origins[place]])
                    after = [column[place : place + 1] for column in firing.successors]
                    self._reached(query, self._path(origin, after), self.depth)
        if firings:
            origins = alive.take(np.concatenate([firing.origins for firing in firings])) + first
            joined = [np.concatenate(parts) for parts in zip(*[f.successors for f in firings], strict=True)]
            self._insert(self.symmetry.representatives(joined), origins.astype(np.int32))

    def _alive(self, columns: Columns) -> Indices:
        """The places of the states that steps may lead out of."""
        ends = [formula for formula in (self.system.halted, self.system.frontier) if formula is not FALSE]
        if not ends:
            return np.arange(len(columns[0]))
        batch = Batch(self.layout, columns)
        return np.flatnonzero(batch.holds(conjunction(negate(formula) for formula in ends)))

    def _insert(self, candidates: Columns, origins: Numbers) -> None:
        begin = 0
        while begin < len(origins):
            room = self.limit - self.table.count
            if room <= 0:
                raise _StopError(STATES)
            if self._out_of_time():
                raise _StopError(OUT_OF_TIME)
            end = min(begin + room, begin + 4 * CHUNK, len(origins))
            insertion = self.table.insert([column[begin:end] for column in candidates])
            self.parents.append(origins[begin:end].take(insertion.places))
            self._examine(insertion.first, self.table.count)
            begin = end

    def _examine(self, first: int, last: int) -> None:
        """Looks at new states, which are as deep as the deepest level."""
        if first == last:
            return
        batch = Batch(self.layout, self.table.columns(first, last))
        if self.window is None and self.system.frontier is not FALSE and batch.holds(self.system.frontier).any():
            self.window = self.depth
        for query in self.queries:
            if query.decided or query.target.form is Form.STEP_INVARIANT:
                continue
            bad = query.target.bad
            if query.closure is not None:
                bad = conjunction((bad, negate(query.closure.unless.state)))
            places = np.flatnonzero(batch.holds(bad))
            if not len(places):
                continue
            if query.closure is not None:
                query.fresh.append((places + first).astype(np.int32))
            else:
                self._reached(query, self._path(first + int(places[0])), self.depth)

    # -- budget and reporting -----------------------------------------------------------------------------------------

    def _all_decided(self) -> bool:
        return bool(self.queries) and all(query.decided for query in self.queries)

    def _out_of_time(self) -> bool:
        deadline = self.budget.deadline
        if deadline is None:
            return False
        if any(query.fresh or (query.closure is not None and not query.closure.finished) for query in self.queries):
            deadline -= CLOSURE_SHARE * max(deadline - self.started, 0.0)
        return time.monotonic() >= deadline

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self.told >= _TELL:
            self.told = now
            rate = self.table.count / (now - self.started)
            self.reporter.progress(Progress("search", self.depth, self.table.count, rate))

    def _decide(self, query: _Query, outcome: Outcome) -> None:
        query.decided = True
        self.reporter.decided(query.target, outcome)

    def _reached(self, query: _Query, path: Path, depth: int, gap: bool = False) -> None:
        """`gap`: not every state of a smaller depth was decided."""
        if gap or (self.window is not None and self.window < depth):
            self._decide(query, Reached(path, None))
            return
        ranked = Ranked(path, Rank.ANY)
        try:
            if query.target.shown:
                ranked = self._best_path(query, depth) or ranked
        except MemoryError:
            pass
        finally:
            why = SHORTEST_ONLY if ranked.rank is Rank.ANY else SHORTEST
            self._decide(query, Reached(ranked.path, why + ranked.rank.value))

    def _best_path(self, query: _Query, depth: int) -> Ranked | None:
        now = time.monotonic()
        deadline = self.budget.deadline
        share = None if deadline is None else now + BEST_SHARE * max(deadline - now, 0.0)
        levels = Levels(self.table, self.levels[: depth + 1], self.arcs)
        budget = Budget(share, states=LIMIT)
        watch = self.steppers.index(query) if query in self.steppers else 0
        return best_path(self.layout, self.symmetry, levels, query.target, query.closure, budget, self.relation, watch)

    # -- at rest and recoverable --------------------------------------------------------------------------------------

    def _settle(self, closure: Closure, limit: int) -> None:
        """Tells the closure about fresh candidates, lets it work, and reports the first doomed ones."""
        queries = [query for query in self.queries if query.closure is closure and not query.decided]
        if not queries or closure.failed:
            return
        for query in queries:
            for numbers in query.fresh:
                query.members.append(closure.add(self.table.take(numbers)))
                query.candidates.append(numbers)
            query.fresh.clear()
        if not closure.work(limit, self._closure_stop):
            return
        for query in queries:
            for numbers, members in zip(query.candidates, query.members, strict=True):
                fates = closure.fates(members)
                doomed = np.flatnonzero(fates == Fate.DOOMED)
                if len(doomed):
                    number = int(numbers[doomed[0]])
                    depth = self._depth_of(number)
                    unknown = self._first_unknown(query)
                    gap = unknown is not None and self._depth_of(unknown) < depth
                    self._reached(query, self._path(number), depth, gap)
                    break

    def _closure_stop(self) -> bool:
        self._tell()
        return self.budget.expired()

    def _first_unknown(self, query: _Query) -> int | None:
        """The first candidate that is not known to be saved."""
        assert query.closure is not None
        for numbers, members in zip(query.candidates, query.members, strict=True):
            fates = query.closure.fates(members)
            unknown = np.flatnonzero(fates != Fate.SAVED)
            if len(unknown):
                return int(numbers[unknown[0]])
        return int(query.fresh[0][0]) if query.fresh else None

    # -- the end ------------------------------------------------------------------------------------------------------

    def conclude(self) -> None:
        """Reports what is still open, and the coverage."""
        reasons = {closure: self._finish(closure) for closure in self.closures.values()}
        complete = self.closed and self.window is None
        bound, reason = self._bound()
        proved: list[_Query] = []
        for query in self.queries:
            if query.decided:
                continue
            depth, why = bound, reason
            unknown = None if query.closure is None else self._first_unknown(query)
            if unknown is not None:
                assert query.closure is not None
                reached = self._depth_of(unknown) - 1
                if complete or reached < bound:
                    depth, why = reached, reasons[query.closure] or WINDOW
            elif complete:
                proved.append(query)
                continue
            self._decide(query, Bounded(depth, why) if depth >= 0 else Undecided(why))
        if proved:
            states = SearchedStates(self.layout, self.table.seal(), self.symmetry, [query.target for query in proved])
            for query in proved:
                self._decide(query, Unreachable(states, self.depth))
        self.coverage.complete = complete
        if complete:
            self._cover_images()
        self.reporter.covered(self.coverage)

    def _cover_images(self) -> None:
        """Adds the actions that fire only in images of the states that were expanded.

        Mostly the image of a guard is the guard of another action, which has fired or not; else it is evaluated.
        """
        fired = {action.guard for action in self.system.actions if action.index in self.coverage.fired}
        guards = {action.guard for action in self.system.actions}
        for action in self.system.actions if self.symmetry else ():
            if action.index in self.coverage.fired or action.guard is FALSE:
                continue
            images = image_formulas(action.guard, self.symmetry.swaps, IMAGES)
            if not fired.isdisjoint(images) or self._enabled_anywhere([g for g in images if g not in guards]):
                self.coverage.fired.add(action.index)

    def _enabled_anywhere(self, guards: list[Formula]) -> bool:
        for first in range(0, self.table.count if guards else 0, CHUNK):
            columns = self.table.columns(first, min(first + CHUNK, self.table.count))
            alive = self._alive(columns)
            batch = Batch(self.layout, [column.take(alive) for column in columns])
            if any(batch.holds(guard).any() for guard in guards):
                return True
        return False

    def _finish(self, closure: Closure) -> str | None:
        """Lets the closure end its work; answers why it could not."""
        try:
            self._settle(closure, self.limit)
        except MemoryError:
            return MEMORY
        if closure.failed:
            return MEMORY
        if closure.finished:
            return None
        return OUT_OF_TIME if self.budget.expired() else STATES

    def _bound(self) -> tuple[int, str]:
        """The depth to which every state and step was looked at (if the space is not closed), and why no further."""
        complete = self.depth if self.closed or self.reason == DEPTH else self.depth - 1
        if self.window is not None and self.window - 1 <= complete:
            return self.window - 1, WINDOW
        return complete, self.reason

    # -- paths --------------------------------------------------------------------------------------------------------

    def _depth_of(self, number: int) -> int:
        return bisect_right(self.levels, number) - 1

    def _path(self, number: int, last_step: Columns | None = None) -> Path:
        """A path to the state with this number or to an image of it, and on by one step, if given.

        The search has stored representatives only.  The path walks on real states, together with the swaps that map
        the real state to the stored one.
        """
        parents = np.concatenate(self.parents)
        chain = [number]
        while parents[chain[-1]] >= 0:
            chain.append(int(parents[chain[-1]]))
        stored = [self.table.take(np.array([each])) for each in reversed(chain)]
        current = self.layout.columns(self.system.initial)
        swaps = self.symmetry.reduce(current)[1]
        states: list[State] = [self.system.initial]
        actions: list[Action] = []
        for goal, exact in [(columns, False) for columns in stored[1:]] + ([(last_step, True)] if last_step else []):
            firings = sorted(self.relation.fire(current), key=_action_index)
            joined = [np.concatenate(parts) for parts in zip(*[f.successors for f in firings], strict=True)]
            images = self.symmetry.apply(swaps, joined)
            reduced = images if exact else self.symmetry.representatives(images)
            equal = np.logical_and.reduce([column == wanted for column, wanted in zip(reduced, goal, strict=True)])
            place = int(np.flatnonzero(equal)[0])
            actions.append(firings[place].action)
            current = [column[place : place + 1] for column in joined]
            states.append(self.layout.unpack([int(column[0]) for column in current]))
            for swap in self.symmetry.reduce([column[place : place + 1] for column in images])[1]:
                if swaps and swaps[-1] == swap:
                    swaps.pop()
                else:
                    swaps.append(swap)
        return Path(tuple(states), tuple(actions))


def _action_index(firing: Firing) -> int:
    return firing.action.index
