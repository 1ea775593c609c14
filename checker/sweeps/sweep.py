"""A sweep: the check of every point of a grid, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from checker.bundle import Failure
from checker.choosing import Chosen, choose, require_properties
from checker.exitcode import ExitCode, gravest
from checker.faultsets import parse_faults
from checker.lowering.properties import BUILT_IN
from checker.options import Options, UnknownNameError
from checker.remark import Remark, RemarkKind
from checker.result import PropertyResult, VariantReport
from checker.suggestion import suggest
from checker.sweeps.axis import Axis, Role
from checker.sweeps.cell import Answer, Cell, cell_of
from checker.sweeps.grid import Grid, Point
from checker.work.item import Item
from spec import syntax
from spec.diagnostic import Diagnostic
from spec.typed import Model

CONTRADICTED = "E233"
"""The code of an error that says: the model itself excludes these values."""

NOT_CHECKED = Cell(Answer.NOT_CHECKED)
_EMPTY = (RemarkKind.VACUOUS, RemarkKind.UNCHANGING)


@dataclass(frozen=True)
class Subject:
    """What is checked at each point.  form: as reports call it, `scenario` for one of those."""

    name: str
    form: str

    @property
    def asked_by_name(self) -> bool:
        """Whether the model declares it by a name, and not the tool."""
        return self.name not in BUILT_IN and not self.name.startswith("assert_")


@dataclass(frozen=True)
class Outcome:
    """What came of one point.

    cells     by the names of their subjects
    rest      what is known of subjects that have no cell
    kept      whether the verdicts were found earlier, and come from the cache
    seconds   how long its own check took; 0 when it took none
    same_as   the earlier point whose model is the same, so that its verdicts are this one's too
    errors    why the model rejects the values
    remarks   signs that a proof at this point says nothing
    code      the exit code of the point alone
    """

    point: Point
    cells: Mapping[str, Cell] = field(default_factory=dict)
    rest: Cell = NOT_CHECKED
    seconds: float = 0.0
    same_as: Point | None = None
    errors: tuple[Diagnostic, ...] = ()
    failures: tuple[Failure, ...] = ()
    remarks: tuple[Remark, ...] = ()
    code: ExitCode = ExitCode.MET
    kept: bool = False

    @property
    def rejected(self) -> bool:
        return bool(self.errors)


@dataclass(frozen=True)
class Sweep:
    """model: its name as the user knows it; outcomes: of the points that were checked or rejected, in no order."""

    model: str
    doc: str
    grid: Grid
    subjects: tuple[Subject, ...]
    outcomes: Mapping[Point, Outcome]
    interrupted: bool = False

    def cell(self, subject: Subject, point: Point) -> Cell:
        outcome = self.outcomes.get(point)
        if outcome is None:
            return NOT_CHECKED
        if outcome.rejected:
            return Cell(Answer.REJECTED, detail=outcome.errors[0].message)
        return outcome.cells.get(subject.name, outcome.rest)

    @property
    def rejected(self) -> list[Outcome]:
        """The points that the model rejects, in the order of the grid."""
        return [each for point in self.grid.points() if (each := self.outcomes.get(point)) and each.rejected]

    def code(self) -> ExitCode:
        """The gravest of the points'; a sweep that was interrupted is inconclusive, and so is one in which no point is
        left because the model rejects all of them wrong."""
        codes = [outcome.code for outcome in self.outcomes.values()]
        if len(self.rejected) == len(self.grid):
            codes.append(ExitCode.MODEL)
        if self.interrupted:
            codes.append(ExitCode.INCONCLUSIVE)
        return gravest(codes)

    def remarks(self) -> dict[str, list[Point]]:
        """Signs that proofs say nothing, each with its points.  That nothing ever changes is none where another point
        refutes the property: so it says something, and that nothing of it happens here is what the point is about."""
        refuted = {
            name
            for outcome in self.outcomes.values()
            for name, cell in outcome.cells.items()
            if cell.answer is Answer.REFUTED
        }
        found: dict[str, list[Point]] = {}
        for point in self.grid.points():
            for remark in self.outcomes[point].remarks if point in self.outcomes else ():
                if remark.kind is not RemarkKind.UNCHANGING or remark.subject not in refuted:
                    found.setdefault(remark.message, []).append(point)
        return found

    def failures(self) -> Iterator[Failure]:
        for outcome in self.outcomes.values():
            yield from outcome.failures


class Plan:
    """What there is to check for a grid: one work item for each model, and which points each stands for."""

    def __init__(self, module: syntax.Module, grid: Grid, asked: Options) -> None:
        """Type-checks the model at every point.  Raises UnknownNameError for names that the model does not have, and
        KeyboardInterrupt."""
        self.grid = grid
        self.items: list[tuple[Point, Item]] = []
        self.outcomes: dict[Point, Outcome] = {}
        """Of the points that the model rejects."""
        self.same: dict[Point, list[Point]] = {}
        """Further points, by the point whose item stands for them."""
        self._first: dict[tuple[object, object], Point] = {}
        _require_names(module, grid)
        seen: list[Chosen] = []
        for point in grid.points():
            options = grid.options(point, asked)
            (choice,) = choose(module, options)
            seen.append(choice)
            if choice.checked is None:
                self.outcomes[point] = _rejection(point, choice.errors)
                continue
            self._add(point, module, choice, options)
        if any(choice.checked is not None for choice in seen):
            require_properties(seen, asked)

    def _add(self, point: Point, module: syntax.Module, choice: Chosen, options: Options) -> None:
        assert choice.checked is not None
        model = choice.checked.model
        faults = model.faults
        if options.faults is not None:
            try:
                faults = parse_faults(options.faults, model)
            except UnknownNameError as error:
                raise UnknownNameError(f"--faults {options.faults!r}: {error.message}", error.hint) from None
        struck_by = (faults, tuple(fault.fairness for fault in faults), options.max_faults)
        first = self._first.setdefault((_content(model), struck_by), point)
        if first != point:
            self.same[first].append(point)
            return
        self.same[point] = []
        # A sweep compares with no expectations: they speak of a variant as it is declared.
        choice = replace(choice, checked=replace(choice.checked, expectations=()))
        self.items.append((point, Item(module, choice, options, frozenset())))

    def outcomes_of(self, point: Point, report: VariantReport, options: Options) -> Iterator[Outcome]:
        """What the report on a point's item says of the point, and of those with the same model."""
        cells = {result.name: cell_of(result.verdict, report.interrupted) for result in report.results}
        remarks = tuple(remark for remark in report.remarks if remark.kind in _EMPTY)
        code = report.code(options)
        kept = report.decided is not None
        rest = _rest(report)
        yield Outcome(
            point, cells, rest, report.seconds, failures=report.failures, remarks=remarks, code=code, kept=kept
        )
        for other in self.same[point]:
            yield Outcome(other, cells, rest, same_as=point, remarks=remarks, code=code)


def _rest(report: VariantReport) -> Cell:
    """What is known of a property that a report says nothing of, and that other points have."""
    if report.interrupted:
        return NOT_CHECKED
    if report.cut_short is not None or report.failures or not report.begun:
        return Cell(Answer.UNDECIDED, detail=report.cut_short or "the check of the point was cut short")
    return Cell(Answer.ABSENT)


def _content(model: Model) -> tuple[object, ...]:
    """All of a model but the values of its constants, which are in it wherever they matter.  Fault classes are equal
    whatever their fairness."""
    kept = [getattr(model, each.name) for each in fields(model) if each.name not in ("constants", "ids")]
    return (*kept, *model.ids.items())


def subjects_of(report: VariantReport) -> dict[str, Subject]:
    """What a report gives a verdict on, by name."""
    return {
        result.name: Subject(result.name, result.form.value if isinstance(result, PropertyResult) else "scenario")
        for result in report.results
    }


def in_order(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """What the model declares, then what the tool adds."""
    return tuple(sorted(subjects, key=lambda subject: not subject.asked_by_name))


def with_variants(grid: Grid, module: syntax.Module) -> Grid:
    """The grid, with an axis of all variants where the model has some and the grid names none."""
    declared = tuple(item.name.name for item in module.items if isinstance(item, syntax.Variant))
    if not declared or any(axis.role is Role.VARIANT for axis in grid.axes):
        return grid
    return Grid((*grid.axes, Axis(Role.VARIANT, "variant", declared)))


def _rejection(point: Point, errors: tuple[Diagnostic, ...]) -> Outcome:
    excluded = all(error.code == CONTRADICTED for error in errors)
    return Outcome(point, errors=errors, code=ExitCode.MET if excluded else ExitCode.MODEL)


def _require_names(module: syntax.Module, grid: Grid) -> None:
    """Raises UnknownNameError, with the option in the message, for a constant, switch or variant that is not there."""
    declared: dict[Role, list[str]] = {role: [] for role in _WHAT}
    for item in module.items:
        for role, (kind, *_) in _WHAT.items():
            if isinstance(item, kind):
                declared[role].append(item.name.name)
    for axis in grid.axes:
        if axis.role not in _WHAT:
            continue
        _, what, code = _WHAT[axis.role]
        for name in axis.values if axis.role is Role.VARIANT else (axis.name,):
            if name in declared[axis.role]:
                continue
            hint = suggest(name, declared[axis.role], "switches" if axis.role is Role.SWITCH else f"{what}s")
            if axis.role is Role.CONSTANT and name in declared[Role.SWITCH]:
                hint = f"it is a switch: --with {name}={','.join(axis.values)}"
            if axis.role is Role.SWITCH and name in declared[Role.CONSTANT]:
                hint = f"it is a constant: -D {name}={','.join(axis.values)}"
            raise UnknownNameError(f"{axis.role.value}: {module.source.name} has no {what} {name!r}", hint, code)


_WHAT: dict[Role, tuple[type[syntax.Constant | syntax.Switch | syntax.Variant], str, str]] = {
    Role.CONSTANT: (syntax.Constant, "constant", "E283"),
    Role.SWITCH: (syntax.Switch, "switch", "E283"),
    Role.VARIANT: (syntax.Variant, "variant", "E276"),
}
"""What an axis names, what it is called, and the code of the error where there is none."""
