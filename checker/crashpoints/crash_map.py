"""The crash-point map of a model: what a single fault at each moment of each step does to each property."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from checker.bundle import Failure, OwnError
from checker.certificates.certificate import Certificate, Claim, Flaw, certify
from checker.certificates.claim import Asserted, Declared, NoModelError, NoStuckThread
from checker.confirm import Context
from checker.crashpoints.points import MOMENTS, Cell, Moment, Point, conceivable, declared, followed, points_of
from checker.crashpoints.semantics import PointInterpreter, PointState
from checker.crashpoints.system import FORMS, PointSystem, Question, point_system
from checker.engines import engine
from checker.engines.engine import Bounded, ClosedSet, Path, Reached, Unreachable
from checker.lower import Lowered, lower
from checker.lowering.properties import MODEL_ERRORS, STUCK_THREADS, assertions
from checker.options import Options
from checker.planning.decisions import Decisions
from checker.planning.plan import Observer, decide
from checker.time_limit import TimeLimit
from checker.transition_system import Form, Property
from checker.verdict import HoldsTo, Proved, Refuted, Undecided
from counterexamples import replay
from counterexamples.trace import Trace
from spec.event import Ending
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.stuck import Stuck, may_be_stuck
from spec.typed import Model, PropertyForm

Verdict = Proved | Refuted | HoldsTo | Undecided


class Absence(Enum):
    """Why a cell has no verdicts."""

    NOT_DECLARED = "not declared"
    """The model has no fault class that could strike there."""
    IMPOSSIBLE = "cannot strike"
    """Nothing can be lost there: it touches no store and calls nobody, or has no effect that could be kept."""


class Effect(Enum):
    """What a fault does to a property.

    NONE      the property is proved for all runs with at most this fault
    BREAKS    it is refuted; for a crash, by one that comes when nothing else is going on
    TOGETHER  it is refuted, but only by crashes that come when another activation is in its course as well
    BREAKS_SOMEHOW  it is refuted by a crash; which of the two is not known
    """

    NONE = "proved"
    BREAKS = "refuted"
    TOGETHER = "refuted together"
    BREAKS_SOMEHOW = "refuted somehow"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class CellResult:
    """verdicts: by the property's name; empty where `absence` says why.
    alone: for a crash, the same for the crashes that come when nothing else is going on (see `Cell.alone`)
    struck: whether some run has the fault there; None where not all runs were looked at
    """

    cell: Cell
    absence: Absence | None
    verdicts: Mapping[str, Verdict]
    alone: Mapping[str, Verdict]
    struck: bool | None

    def effect(self, name: str) -> Effect:
        """What the fault does to a property."""
        found = self.verdicts[name]
        if isinstance(found, Proved):
            return Effect.NONE
        if not isinstance(found, Refuted):
            return Effect.UNDECIDED
        if not self.cell.is_crash:
            return Effect.BREAKS
        match self.alone[name]:
            case Refuted():
                return Effect.BREAKS
            case Proved():
                return Effect.TOGETHER
            case _:
                return Effect.BREAKS_SOMEHOW

    def trace(self, name: str) -> Refuted | None:
        """A run that breaks the property, if possible one in which nothing else is going on."""
        for each in (self.alone.get(name), self.verdicts.get(name)):
            if isinstance(each, Refuted):
                return each
        return None


@dataclass(frozen=True)
class CrashMap:
    """base: the verdicts without any fault.  skipped: properties that a map does not speak of."""

    model: Model
    properties: tuple[str, ...]
    skipped: tuple[str, ...]
    base: Mapping[str, Verdict]
    points: tuple[Point, ...]
    cells: tuple[CellResult, ...]
    failures: tuple[Failure, ...] = ()
    interrupted: bool = False

    def result(self, point: Point, moment: Moment) -> CellResult:
        return next(each for each in self.cells if each.cell == Cell(point, moment))

    @property
    def complete(self) -> bool:
        """Whether everything was proved or refuted."""
        every = [*self.base.values(), *(v for cell in self.cells for v in cell.verdicts.values())]
        return all(isinstance(each, Proved | Refuted) for each in every)


@dataclass(frozen=True)
class _PointClaim:
    """A claim about the runs without a fault, and those with just that of one of some cells.

    struck: the names of the cells, and None"""

    claim: Claim
    struck: frozenset[str | None]

    @property
    def name(self) -> str:
        return self.claim.name

    @property
    def form(self) -> PropertyForm:
        return self.claim.form

    def _concerns(self, state: GlobalState) -> bool:
        assert isinstance(state, PointState)
        return state.struck in self.struck

    def state_violates(self, state: GlobalState) -> bool:
        return self._concerns(state) and self.claim.state_violates(state)

    def step_violates(self, state: GlobalState, after: GlobalState) -> bool:
        return self._concerns(after) and self.claim.step_violates(state, after)

    def is_rescued(self, state: GlobalState, limit: int) -> bool | None:
        return self.claim.is_rescued(state, limit)


def crash_map(model: Model, options: Options, observer: Observer, context: Context) -> CrashMap:
    """The map of a model with its fault classes.  Raises LoweringLimit for a model that is too large."""
    limit = options.time_limit()
    lowered = lower(model, deadline=limit.until)
    outline = outline_of(lowered, options)
    alone = [replace(cell, alone=True) for cell in outline.possible if cell.is_crash]
    system = point_system(lowered, [*outline.possible, *alone], outline.properties)
    return _Mapping(system, outline, context).run(options, observer, limit)


@dataclass(frozen=True)
class Outline:
    """A map before anything is asked: its points, its cells, those of them at which some fault of the model may strike,
    the properties that it speaks of, and the names of those that were asked for and that it does not speak of."""

    points: tuple[Point, ...]
    cells: tuple[Cell, ...]
    possible: tuple[Cell, ...]
    properties: tuple[Property, ...]
    skipped: tuple[str, ...]


def outline_of(lowered: Lowered, options: Options) -> Outline:
    """The outline of the map of a model, lowered without a fault budget."""
    points = points_of(lowered.model, (action.event for action in lowered.system.actions))
    cells = tuple(Cell(point, moment) for point in points for moment in MOMENTS)
    events = [action.event for action in lowered.system.actions if action.fault is not None]
    possible = tuple(cell for cell in cells if any(cell.meant(event, lambda _: True) for event in events))
    wanted = [
        target
        for target in lowered.system.properties
        if target.form is not Form.COVER and _is_asked(target.name, lowered.model, options)
    ]
    asked = tuple(target for target in wanted if target.form in FORMS)
    skipped = tuple(target.name for target in wanted if target.form not in FORMS)
    return Outline(points, cells, possible, asked, skipped)


def _is_asked(name: str, model: Model, options: Options) -> bool:
    if options.properties:
        return name in options.properties
    return name != STUCK_THREADS or may_be_stuck(model)


def absence(cell: Cell, model: Model) -> Absence:
    """Why no fault of the model can strike at a cell that is not among the possible ones."""
    return Absence.NOT_DECLARED if conceivable(cell, model) and not declared(cell, model) else Absence.IMPOSSIBLE


def stands(found: CrashMap, lowered: Lowered) -> bool:
    """Whether the interpreter walks all runs of a map, each with the fault at its cell alone, and finds each property
    violated that is said to be.  lowered: the model of the map."""
    cells = [result.cell for result in found.cells if result.absence is None]
    watched = followed(cells, lowered.layout.slots)

    def walks(name: str, verdict: Verdict, cell: Cell | None) -> bool:
        if not isinstance(verdict, Refuted):
            return True
        if cell is not None and _is_ambiguous(found.points, cell, verdict.trace):
            return False
        interpreter = PointInterpreter(found.model, () if cell is None else (cell,), watched)
        return isinstance(replay.confirm(verdict.trace, name, interpreter), replay.Confirmed)

    return (
        all(walks(name, verdict, None) for name, verdict in found.base.items())
        and all(walks(name, verdict, each.cell) for each in found.cells for name, verdict in each.verdicts.items())
        and all(
            walks(name, verdict, replace(each.cell, alone=True))
            for each in found.cells
            for name, verdict in each.alone.items()
        )
    )


def _is_ambiguous(points: Sequence[Point], cell: Cell, trace: Trace) -> bool:
    """Whether the last step is a fault during a step and ends in a model error, which hides what was struck, at a
    choice between several steps."""
    event = trace.events[-1] if trace.events else None
    if cell.is_crash or event is None or event.strike is None or event.ending is not Ending.ERROR:
        return False
    activation = trace.states[-2].activations.get(event.slot) if event.slot else None
    at = None if activation is None else activation.at
    return sum(point.owns(event.slot) and at in point.locations for point in points if event.slot) > 1


class _Mapping:
    """The search for one map, and the check of what it says."""

    def __init__(
        self,
        system: PointSystem,
        outline: Outline,
        context: Context,
    ) -> None:
        self.system = system
        self.outline = outline
        self.context = context
        self.model = system.lowered.model
        self.watched = followed(system.cells, system.lowered.layout.slots)
        self.interpreter = PointInterpreter(self.model, system.cells, self.watched)
        self.failures: list[Failure] = []
        self.certificates: dict[int, Certificate | None] = {}

    def run(self, options: Options, observer: Observer, limit: TimeLimit) -> CrashMap:
        system = self.system.system if options.symmetry else replace(self.system.system, swaps=())
        targets = [question.target for question in self.system.questions]
        decisions = decide(system, targets, (), replace(options, engine="search"), observer, limit)
        self.failures += decisions.failures
        found: dict[tuple[str, Cell | None], Verdict] = {}
        interrupted = decisions.interrupted
        for question in self.system.questions:
            try:
                found[question.declared.name, question.cell] = self.verdict(question, decisions)
            except KeyboardInterrupt:
                interrupted = True
                found[question.declared.name, question.cell] = Undecided("interrupted")
            except OwnError as error:
                if error.failure not in self.failures:
                    self.failures.append(error.failure)
                found[question.declared.name, question.cell] = Undecided("our own error")
        names = tuple(dict.fromkeys(question.declared.name for question in self.system.questions))
        return CrashMap(
            self.model,
            names,
            self.outline.skipped,
            {name: found[name, None] for name in names},
            self.outline.points,
            tuple(self.result(cell, found, names, decisions) for cell in self.outline.cells),
            tuple(self.failures),
            interrupted,
        )

    def result(
        self,
        cell: Cell,
        found: Mapping[tuple[str, Cell | None], Verdict],
        names: Sequence[str],
        decisions: Decisions,
    ) -> CellResult:
        if cell not in self.system.cells:
            return CellResult(cell, absence(cell, self.model), {}, {}, None)
        verdicts = {name: found[name, cell] for name in names}
        alone = replace(cell, alone=True)
        apart = {name: found[name, alone] for name in names} if cell.is_crash else {}
        return CellResult(cell, None, verdicts, apart, self.struck(cell, decisions))

    def struck(self, cell: Cell, decisions: Decisions) -> bool | None:
        """Whether an action of the cell has fired."""
        code = self.system.struck.values.index(cell)
        coverage = decisions.coverage
        if coverage is None:
            return None
        for number in coverage.fired:
            update = self.system.system.actions[number].updates.get(self.system.struck)
            if getattr(update, "code", None) == code:
                return True
        return False if coverage.complete else None

    # ------------------------------------------------------------------------------------------------ verdicts

    def verdict(self, question: Question, decisions: Decisions) -> Verdict:
        """The verdict on a question, its evidence checked.  Raises OwnError when that does not stand."""
        decision = decisions.of(question.target)
        match decision.outcome:
            case Reached(path=path, shortest=shortest):
                trace = self.trace(question, path)
                return trace if isinstance(trace, Undecided) else Refuted(trace, decision.engine, shortest)
            case Unreachable(closed_set=closed_set, depth=depth):
                return Proved(self.certificate(closed_set, decision.engine, depth, decisions))
            case Bounded(depth=depth, reason=reason):
                return HoldsTo(depth, reason, decision.engine)
            case engine.Undecided(reason=reason):
                return Undecided(reason)
            case other:
                return Undecided(f"the evidence ({type(other).__name__}) is of no use here")

    def trace(self, question: Question, path: Path) -> Trace | Undecided:
        """The path, walked by the interpreter with the one fault that the question allows."""
        cells = () if question.cell is None else (question.cell,)
        trace = self.system.trace(path)
        if question.cell is not None and _is_ambiguous(self.outline.points, question.cell, trace):
            return Undecided("a run ends in a model error, and does not say which of several steps was struck")
        name = question.declared.name
        try:
            answer = replay.confirm(trace, name, PointInterpreter(self.model, cells, self.watched))
        except Exception as error:
            message = f"replaying a trace of {question.target.name} stopped with {type(error).__name__}: {error}"
            raise OwnError(self.context.failure(message, name, _shown(trace), traceback.format_exc())) from error
        if isinstance(answer, replay.Unconfirmed):
            return Undecided(f"a run of {len(trace)} steps was found, but not confirmed: {answer.why}")
        if isinstance(answer, replay.Mismatch):
            message = f"the interpreter disagrees with a trace of {question.target.name} at step {answer.step}"
            raise OwnError(self.context.failure(f"{message}: {answer.why}", name, _shown(trace)))
        return trace

    def certificate(self, closed_set: ClosedSet, found_by: str, depth: int, decisions: Decisions) -> Certificate:
        """The certificate of all that the closed set is said to prove.  Raises OwnError."""
        known = self.certificates.get(id(closed_set))
        if known is not None:
            return known
        if id(closed_set) in self.certificates:
            raise OwnError(self.failures[-1])
        proved: dict[Property, set[str | None]] = {}
        for question in self.system.questions:
            outcome = decisions.of(question.target).outcome
            if isinstance(outcome, Unreachable) and outcome.closed_set is closed_set:
                struck = proved.setdefault(question.declared, {None})
                struck.add(None if question.cell is None else question.cell.name)
        claims = [_PointClaim(self.claim(declared), frozenset(struck)) for declared, struck in proved.items()]
        found = certify(closed_set, found_by, depth, claims, self.system, self.interpreter)
        if isinstance(found, Flaw):
            self.certificates[id(closed_set)] = None
            evidence = {"state": found.state, "event": found.event, "after": found.after}
            failure = self.context.failure(found.message, None, evidence, found.detail)
            self.failures.append(failure)
            raise OwnError(failure)
        self.certificates[id(closed_set)] = found
        return found

    def claim(self, target: Property) -> Claim:
        stated = next((each for each in self.model.properties if each.name == target.name), None)
        if stated is not None:
            return Declared(stated, Interpreter(self.model))
        if target.name == MODEL_ERRORS:
            return NoModelError()
        if target.name == STUCK_THREADS:
            return NoStuckThread(Stuck(Interpreter(self.model)))
        return Asserted(target.name, assertions(self.model).get(target.name, frozenset()))


def _shown(trace: Trace) -> object:
    return {"events": trace.events, "states": trace.states, "loop": trace.loop}
