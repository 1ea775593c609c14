"""IC3, or property directed reachability: proofs for runs of any length.

Bradley, "SAT-based model checking without unrolling", 2011; Eén, Mishchenko and Brayton, "Efficient implementation of
property directed reachability", 2011.  Frame i over-approximates what can be reached within i steps.  A state of the
last frame that is bad is followed backwards: either the initial state is met, or at some level the cube around it is
found to be unreachable, generalised, and excluded.  When two neighbouring frames agree they are an inductive invariant.

What is special here: steps are computed backwards action by action, without a transition relation (see
`checker.engines.preimages`), cubes are kept with their images under the symmetries, and the frames, which speak of the
system and not of a property, are kept from one property to the next.  So the properties can take turns, and a hard one
does not keep the others waiting.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from checker.certificates.invariant import Invariant
from checker.certificates.rescue import Rescue
from checker.engines.cubes import Cube, Space, Symmetry
from checker.engines.engine import Bounded, Budget, Inductive, Outcome, Path, Progress, Reached, Reporter, Undecided
from checker.engines.frames import FOREVER, Frames, TooManyImages
from checker.engines.inductive_core import inductive_core
from checker.engines.preimages import Blocked, Predecessor, Preimages
from checker.engines.rescues import Rescues
from checker.engines.saving import STATE_LIMIT, Inconclusive, Saviour
from checker.logic.formula import Formula, conjunction, disjunction, evaluate, member, negate, variables_of
from checker.logic.sat import GaveUp, Incremental, sat_solver
from checker.time_limit import OUT_OF_TIME
from checker.transition_system import Action, Cases, Copy, Form, Property, State, TransitionSystem, after, successor

LARGEST_ORBIT = 5_000
WINDOW = "an unbounded integer left the explored window"
_FOLLOWED = 300
"""So many states are looked at to find out whether a candidate is saved that no run is known to reach."""
_PROGRESS_INTERVAL = 0.5
_FIRST_TURN = 2.0
"""Seconds for each property, before any gets more."""
_LONGER = 4
"""Each round of turns is so many times as long as the one before."""


class Ic3:
    """The engine.  It decides all forms of properties but LIVE, and proves them with an inductive invariant, `at rest`
    and `recoverable` with ways out besides.

    symmetry     use the swaps of the system
    make_solver  the SAT solver to use
    """

    name = "ic3"

    def __init__(self, symmetry: bool = True, make_solver: Callable[[], Incremental] = sat_solver) -> None:
        self._symmetry = symmetry
        self._make_solver = make_solver

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        """Reports for each property Reached, Inductive, Bounded or Undecided.  Raises KeyboardInterrupt only."""
        # What looks beyond a state takes longest.
        left = sorted(properties, key=lambda target: (target.unless is not None, target.form is Form.RECOVERABLE))
        symmetries = [True, False] if self._symmetry and system.swaps else [False]
        for symmetric in symmetries:
            try:
                run = _Run(system, symmetric, self._make_solver, budget, reporter)
                try:
                    take_turns(run.decide, left, budget, reporter)
                finally:
                    run.frames.close()
            except (TooManyImages, _NotSymmetric):
                assert symmetric
                continue
            except MemoryError:
                for target in left:
                    reporter.decided(target, Undecided("out of memory"))
            return


def take_turns(
    decide: Callable[[Property, Budget], Outcome], left: list[Property], budget: Budget, reporter: Reporter
) -> None:
    """Reports an outcome for each property that is left, and takes it from the list.  `decide` is asked about them in
    turn, with more time in each round, until it has an answer or the time is up.  The last one has all the time."""
    depths: dict[Property, Bounded] = {}
    seconds = _FIRST_TURN
    while left:
        for target in list(left):
            end = None if len(left) == 1 else time.monotonic() + seconds
            until = min((each for each in (end, budget.deadline) if each is not None), default=None)
            turn = replace(budget, deadline=until)
            outcome = decide(target, turn)
            known = depths.get(target)
            if isinstance(outcome, Bounded | Undecided):
                if isinstance(outcome, Bounded) and (known is None or known.depth < outcome.depth):
                    known = depths[target] = outcome
                if turn.expired() and not budget.expired():
                    continue
                outcome = known or outcome
            left.remove(target)
            reporter.decided(target, outcome)
        seconds *= _LONGER


@dataclass(frozen=True, eq=False, slots=True)
class _Obligation:
    """Every state of `cube` leads, by `action`, into the cube of `then`; the last one is bad."""

    cube: Cube
    action: Action | None
    then: _Obligation | None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Every state of `cube` satisfies the goal, among them `state`."""

    cube: Cube
    state: State


class _NotKnown(Exception):
    """Whether a state that a run reaches is saved could not be found out."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _NotSymmetric(Exception):
    """A symmetry of the system is none: it leads from states that runs reach to states that they do not."""


class _Run:
    """One system, one solver; `decide` is called for one property after the other, also more than once for one."""

    def __init__(
        self,
        system: TransitionSystem,
        symmetric: bool,
        make_solver: Callable[[], Incremental],
        budget: Budget,
        reporter: Reporter,
    ) -> None:
        self.system = system
        self.budget = budget
        self.reporter = reporter
        self.make_solver = make_solver
        self.space = Space(system.variables)
        self.preimages = Preimages(system, self.space)
        symmetry = Symmetry(self.space, system.swaps if symmetric else (), LARGEST_ORBIT)
        self.frames = Frames(self.space, symmetry, make_solver)
        self.going_on = conjunction((negate(system.halted), negate(system.frontier)))
        self.counter = 0
        self.reported = time.monotonic()
        self.saviour = Saviour(system, STATE_LIMIT)
        self.swaps = system.swaps if symmetric else ()
        self.rescues: Rescues | None = None
        self.known_rescues: dict[Property, Rescues] = {}
        self.window: int | None = None
        """No frontier state is nearer than this, and one is reachable."""
        self.level = 0

    # -- one property -------------------------------------------------------------------------------------------------

    def decide(self, target: Property, budget: Budget) -> Outcome:
        if target.form is Form.LIVE:
            return Undecided(f"whether `{target.form.value}` holds is not decided by ic3")
        self.budget = budget
        self.frames.clauses.solver.deadline = budget.deadline
        self.level = 0
        self.rescues = self.known_rescues.get(target)
        if target.unless is not None and self.rescues is None:
            self.rescues = Rescues(self.system, self.saviour, target.unless, self.swaps)
            self.known_rescues[target] = self.rescues
        try:
            if self.budget.expired():
                return Undecided(OUT_OF_TIME)
            return self._decide(target)
        except (GaveUp, _NotKnown) as failure:
            return self._bounded(target, failure.reason)
        except RecursionError:
            return self._bounded(target, "a formula is nested too deeply")

    def _decide(self, target: Property) -> Outcome:
        step = target.form is Form.STEP_INVARIANT
        bad = self._with_bad_step(target.bad) if step else target.bad
        start = (self.system.initial,)
        found = self._violation(target, Path(start, ()))
        if found is not None:
            return Reached(found, "it is the first step" if step else "it is the initial state")
        if self._holds(self.system.frontier, self.system.initial):
            self.window = 0
        if self._candidate(self._goal(bad), FOREVER) is None:
            known = self._proved(target, bad, FOREVER)
            assert not isinstance(known, Predecessor), "what was proved is not inductive"
            return known
        while True:
            self.level += 1
            limit = self.budget.depth
            if limit is not None and self.level + int(step) > limit:
                return self._bounded(target, f"the depth limit of {limit} steps")
            fresh = self.frames.top < self.level
            if fresh:
                self.frames.open_level()
            before = self.frames.changes
            while (candidate := self._candidate(self._goal(bad), self.level)) is not None:
                if self._is_saved(target, candidate):
                    continue
                hit = self._block(_Obligation(candidate.cube, None, None))
                if hit is not None:
                    path = self._path(hit)
                    found = self._violation(target, path)
                    if found is not None:
                        return self._reached(target, found, len(path.actions))
                    if self.window is None and self._holds(self.system.frontier, path.states[-1]):
                        self.window = self.level
            level = self._converged(push=fresh or self.frames.changes != before)
            while level is not None:
                outcome = self._proved(target, bad, level)
                if not isinstance(outcome, Predecessor):
                    return outcome
                # The system is symmetric where runs lead, but need not be elsewhere: exclude where it is not.
                if (
                    self.space.holds_initially(outcome.cube)
                    or self._block(_Obligation(outcome.cube, None, None)) is not None
                ):
                    raise _NotSymmetric
                level = self._converged(push=True)
            # Neighbours may differ by cubes that this proof does not need, such as an earlier property's.
            outcome = self._proved(target, bad, self.level - 1)
            if not isinstance(outcome, Predecessor):
                return outcome

    def _with_bad_step(self, bad: Formula) -> Formula:
        """The states from which some step is bad, or may be because an update says nothing there."""
        read = {variable for variable, primed in variables_of(bad) if primed}
        steps = []
        for action in self.system.actions:
            wrong = [after(action, bad, primed=True)]
            for variable in read & action.writes:
                update = action.updates[variable]
                if isinstance(update, Copy):
                    unknown = sum(1 << code for code, new in enumerate(update.table) if new < 0)
                    wrong.append(member(update.source, unknown))
                elif isinstance(update, Cases):
                    wrong.append(negate(disjunction(condition for condition, _ in update.cases)))
            steps.append(conjunction((disjunction(wrong), action.guard, self.going_on)))
        return disjunction(steps)

    def _goal(self, bad: Formula) -> tuple[Formula, ...]:
        """What must not be reached, as a conjunction: while the end of the explored window is not known to be, that
        neither."""
        parts = (bad,) if self.rescues is None else (bad, *self.rescues.unsaved)
        return parts if self.window is not None else tuple(disjunction((p, self.system.frontier)) for p in parts)

    def _violation(self, target: Property, path: Path) -> Path | None:
        """The path, if it ends in a violation, or if it does after one step more."""
        state = path.states[-1]
        if target.form is not Form.STEP_INVARIANT:
            if not self._holds(target.bad, state):
                return None
            if self.rescues is None:
                return path
            fate = self.rescues.look(state, self.budget.deadline)
            if isinstance(fate, Inconclusive):
                raise _NotKnown(fate.reason)
            return None if fate is None else path
        if self._holds(self.going_on, state):
            for action in self.system.actions:
                if self._holds(action.guard, state):
                    following = successor(self.system, state, action)
                    if self._holds(target.bad, state, following):
                        return Path((*path.states, following), (*path.actions, action))
        return None

    def _holds(self, formula: Formula, state: State, following: State | None = None) -> bool:
        place = self.system.position
        if following is None:
            return evaluate(formula, lambda v: state[place[v]])
        return evaluate(formula, lambda v: state[place[v]], lambda v: following[place[v]])

    def _reached(self, target: Property, path: Path, distance: int) -> Outcome:
        length = len(path.actions)
        limit = self.budget.depth
        if limit is not None and length > limit:
            return self._bounded(target, f"a violation of {length} steps was found, beyond the depth limit")
        if distance > self.level or (self.window is not None and self.window < length):
            return Reached(path, None)
        return Reached(path, f"no violation within {length - 1} steps (frame {self.level - 1} excludes it)")

    def _is_saved(self, target: Property, candidate: _Candidate) -> bool:
        """Whether the candidate looks like a violation but is none: then it is a candidate no longer.  Few candidates
        lie where no step leads, and these need not be looked at."""
        if self.rescues is None or not self._holds(target.bad, candidate.state):
            return False
        if isinstance(self._ask(candidate.cube, self.level - 1), Blocked):
            return False
        return self.rescues.look(candidate.state, self.budget.deadline, _FOLLOWED) is None

    def _proved(self, target: Property, bad: Formula, level: int) -> Outcome | Predecessor:
        """The outcome if what is known beyond a level is inductive; else a step that shows that it is not."""
        goal, deadline = conjunction(self._goal(bad)), self.budget.deadline
        orbits = inductive_core(self.space, self.preimages, self.frames.beyond(level), goal, self.make_solver, deadline)
        if isinstance(orbits, Predecessor):
            return orbits
        self.frames.keep_forever(orbits)
        if self.window is not None:
            return Bounded(self.window - 1, WINDOW) if self.window else Undecided(WINDOW)
        cubes = tuple(self.space.formulas(image) for orbit in orbits for image in orbit.images)
        rescues: tuple[Rescue, ...] = ()
        if self.rescues is not None:
            rescues = self.rescues.needed(self.space, orbits, bad, self.make_solver, deadline)
        return Inductive(Invariant(cubes), self.level, rescues)

    def _bounded(self, target: Property, reason: str) -> Outcome:
        """All frames below the last have no bad state, or no state from which a step is bad."""
        depth = self.level - 1 + int(target.form is Form.STEP_INVARIANT and self.level > 0)
        if self.window is not None and self.window <= depth:
            depth, reason = self.window - 1, WINDOW
        return Bounded(depth, reason) if depth >= 0 else Undecided(reason)

    # -- blocking -----------------------------------------------------------------------------------------------------

    def _candidate(self, goal: Sequence[Formula], level: int) -> _Candidate | None:
        """Goal states, of which one is in the frame; None if the frame has none."""
        self._tick()
        clauses = self.frames.clauses
        if not clauses.solver.solve([*self.frames.prefix(level), *map(clauses.gate, goal)]):
            return None
        model = clauses.solver.model()
        masks: dict[int, int] = {}
        clauses.justify(conjunction(goal), model, masks)
        return _Candidate(self.space.cube(masks), clauses.state(model))

    def _block(self, root: _Obligation) -> _Obligation | None:
        """Excludes the root from the last frame (None), or finds an obligation that the initial state satisfies."""
        queue: list[tuple[int, int, _Obligation]] = []
        self._put(queue, self.level, root)
        while queue:
            self._tick()
            level, _, obligation = heapq.heappop(queue)
            if self.frames.excludes(level, obligation.cube):
                continue
            answer = self._ask(obligation.cube, level - 1)
            if isinstance(answer, Predecessor):
                found = _Obligation(answer.cube, answer.action, obligation)
                if self.space.holds_initially(found.cube):
                    return found
                self._put(queue, level - 1, found)
                self._put(queue, level, obligation)
            else:
                cube, reached = self._generalised(answer, level)
                self.frames.add(cube, reached)
                if reached < self.level:
                    self._put(queue, reached + 1, obligation)
        return None

    def _put(self, queue: list[tuple[int, int, _Obligation]], level: int, obligation: _Obligation) -> None:
        self.counter += 1
        heapq.heappush(queue, (level, self.counter, obligation))

    def _ask(
        self, cube: Cube, level: int, known: Mapping[int, int] | None = None, first: int = -1
    ) -> Blocked | Predecessor:
        return self.preimages.blocked(self.frames.clauses, cube, self.frames.prefix(level), known, first)

    def _generalised(self, answer: Blocked, level: int) -> tuple[Cube, int]:
        """A weaker cube that can be excluded, and the highest level for that."""
        activity = self.preimages.activity
        first = -1
        cores = answer.cores
        cube = answer.cube
        for place in sorted((place for place, _ in cube.literals), key=activity.__getitem__):
            candidate = self.space.widened(cube, place, self.space.full[place])
            if candidate.bits == cube.bits or self.space.holds_initially(candidate):
                continue
            again = self._ask(candidate, level - 1, cores, first)
            if isinstance(again, Blocked):
                cores = again.cores
                cube = again.cube
            else:
                first = again.number
        while level < self.level:
            again = self._ask(cube, level)
            if isinstance(again, Predecessor):
                break
            cube = again.cube
            level += 1
        for place, _ in cube.literals:
            activity[place] += 1.0
        return cube, level

    def _converged(self, push: bool) -> int | None:
        """Moves every cube as high as it goes, if `push`; a level that equals the next, or None."""
        for level in range(1, self.level):
            for orbit in list(self.frames.cubes(level)) if push else ():
                if orbit.level != level:
                    continue
                self._tick()
                answer = self._ask(orbit.cube, level, first=orbit.obstacle)
                if isinstance(answer, Predecessor):
                    orbit.obstacle = answer.number
                else:
                    self.frames.add(answer.cube, level + 1)
            if not self.frames.cubes(level):
                return level
        return None

    # -- paths and reports --------------------------------------------------------------------------------------------

    def _path(self, obligation: _Obligation) -> Path:
        """Follows the obligations from the initial state."""
        states: list[State] = [self.system.initial]
        actions: list[Action] = []
        while obligation.action is not None and obligation.then is not None:
            assert self._holds(conjunction((self.going_on, obligation.action.guard)), states[-1])
            states.append(successor(self.system, states[-1], obligation.action))
            actions.append(obligation.action)
            obligation = obligation.then
        return Path(tuple(states), tuple(actions))

    def _tick(self) -> None:
        now = time.monotonic()
        if self.budget.deadline is not None and now >= self.budget.deadline:
            raise GaveUp(OUT_OF_TIME)
        if now - self.reported >= _PROGRESS_INTERVAL:
            self.reported = now
            self.reporter.progress(Progress(Ic3.name, self.level, None, None))


__all__ = ["Ic3", "take_turns"]
