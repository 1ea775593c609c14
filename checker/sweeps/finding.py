"""What one wants to know of a sweep: where each property is refuted, where first, and which points took long."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.options import DEFAULT_TIMEOUT, Options
from checker.reports.evidence import plural
from checker.sweeps.cell import GOOD, OPEN, Answer, Cell
from checker.sweeps.grid import Point
from checker.sweeps.region import Account, accounts, idle, where, words
from checker.sweeps.sweep import Outcome, Subject, Sweep

LONG = 2.0
"""Seconds for a point from which on it is told that it took long."""
_SLOWEST = 3
_NAMED = 4
"""So many points are named, where there are more of a kind."""


@dataclass(frozen=True)
class Smallest:
    """The refutation to look at first.  command: shows its run."""

    point: Point
    cell: Cell
    command: str


@dataclass(frozen=True)
class Finding:
    """What a sweep says of a property.

    accounts   where which answer is found; empty when points are left that were not checked
    sentences  the same in words
    smallest   None where nothing is refuted
    reasons    why there is no verdict, each with the points for which it goes
    """

    subject: Subject
    accounts: tuple[Account, ...]
    sentences: tuple[str, ...]
    smallest: Smallest | None
    reasons: dict[str, list[Point]]


def finding(sweep: Sweep, subject: Subject, model: str, asked: Options) -> Finding:
    """What the sweep says of a property.  model: as the user named it; asked: what is the same at every point."""
    cells = {point: sweep.cell(subject, point) for point in sweep.grid.points()}
    reasons: dict[str, list[Point]] = {}
    for point, cell in cells.items():
        if cell.answer in OPEN:
            reasons.setdefault(cell.detail, []).append(point)
    found, sentences = _where(sweep, cells)
    return Finding(subject, found, sentences, _smallest(sweep, subject, cells, model, asked), reasons)


def _where(sweep: Sweep, cells: dict[Point, Cell]) -> tuple[tuple[Account, ...], tuple[str, ...]]:
    answers: dict[Point, Answer] = {p: cell.answer for p, cell in cells.items() if cell.answer is not Answer.REJECTED}
    counts = Counter(answers.values())
    if len(counts) == 1 or Answer.NOT_CHECKED in counts:
        return (), (counted(counts, len(cells) - len(answers)),)
    axes = sweep.grid.axes
    found = accounts(axes, answers)
    sentences = words(found, axes)
    unmoved = [axes[axis].name for axis in idle(axes, answers)]
    if unmoved:
        sentences.append(f"{_listed(unmoved)} {'makes' if len(unmoved) == 1 else 'make'} no difference")
    return found, tuple(sentences)


def counted(counts: Counter[Answer], rejected: int) -> str:
    """`proved at all 12 points`; `3 proved, 1 refuted, 8 not checked`."""
    if not counts:
        return "rejected by the model at every point"
    if len(counts) == 1:
        (answer,) = counts
        total = counts[answer]
        if total == 1 and not rejected:
            return answer.value
        left = " that are left" if rejected else ""
        which = {1: "the point", 2: "both points"}.get(total, f"all {total:,} points")
        return f"{answer.value} at {which}{left.replace('are', 'is') if total == 1 else left}"
    return ", ".join(f"{counts[answer]} {answer.value}" for answer in Answer if counts[answer])


def _smallest(sweep: Sweep, subject: Subject, cells: dict[Point, Cell], model: str, asked: Options) -> Smallest | None:
    """The refutation with the lowest numbers: by the sum of their places on the axes, then by the length of the run,
    then in the order of the grid."""
    refuted = [point for point, cell in cells.items() if cell.answer is Answer.REFUTED]
    if not refuted:
        return None
    ordered = [axis for axis, each in enumerate(sweep.grid.axes) if each.ordered]
    point = min(refuted, key=lambda point: (sum(point[axis] for axis in ordered), cells[point].amount or 0, point))
    return Smallest(point, cells[point], command(sweep, subject, point, model, asked))


def command(sweep: Sweep, subject: Subject, point: Point, model: str, asked: Options) -> str:
    """The command that checks a property at a point, and shows its run."""
    parts = ["counterpoint check", shlex.quote(model), *sweep.grid.words(point), "--property", subject.name]
    if asked.depth is not None:
        parts += ["--depth", str(asked.depth)]
    if asked.engine != "auto":
        parts += ["--engine", asked.engine]
    if asked.timeout != DEFAULT_TIMEOUT:
        parts += ["--timeout", f"{asked.timeout:g}"]
    if asked.states is not None:
        parts += ["--states", str(asked.states)]
    if not asked.symmetry:
        parts.append("--no-symmetry")
    return " ".join(parts)


def slowest(sweep: Sweep) -> list[Outcome]:
    """The points that took longest, if they took long."""
    long = [outcome for outcome in sweep.outcomes.values() if outcome.seconds >= LONG]
    return sorted(long, key=lambda outcome: (-outcome.seconds, outcome.point))[:_SLOWEST]


def largest(sweep: Sweep) -> tuple[Point, int] | None:
    """The first of the points with the largest proof in states; None where no proof is one of states, or all are of one
    size."""
    sizes: dict[Point, int] = {}
    for point in sweep.grid.points():
        cells = sweep.outcomes[point].cells.values() if point in sweep.outcomes else ()
        states = [cell.amount for cell in cells if cell.unit == "state" and cell.amount is not None]
        if states:
            sizes[point] = max(states)
    if len(set(sizes.values())) < 2:
        return None
    point = max(sizes, key=lambda each: sizes[each])
    return point, sizes[point]


def placed(sweep: Sweep, points: Sequence[Point]) -> str:
    """` where N >= 3`, or the points one by one behind a colon; empty for all points of a grid."""
    grid = sweep.grid
    if len(points) == len(grid):
        return ""
    condition = where(set(points), grid.points(), grid.axes)
    if condition is not None:
        return f" where {condition}"
    named = [grid.name(point) for point in points[:_NAMED]]
    if len(points) > _NAMED:
        named.append(f"and {len(points) - _NAMED} more")
    return f": {'; '.join(named)}"


def summary(sweep: Sweep, seconds: float) -> str:
    """`12 points (4 from the cache), 2 properties: 6 refuted, 18 proved in 0.8 s`."""
    cells = [sweep.cell(subject, point) for subject in sweep.subjects for point in sweep.grid.points()]
    counts: Counter[Answer] = Counter(
        cell.answer for cell in cells if cell.answer not in (Answer.REJECTED, Answer.ABSENT)
    )
    order = [Answer.REFUTED, *OPEN, *GOOD]
    order += [answer for answer in Answer if answer not in order]
    told = [f"{counts[answer]:,} {answer.value}" for answer in order if counts[answer]]
    rejected = len(sweep.rejected)
    if rejected:
        told.append(f"{plural(rejected, 'point')} rejected by the model")
    if sum(1 for _ in sweep.failures()):
        told.append(f"{plural(sum(1 for _ in sweep.failures()), 'error')} of our own")
    if sweep.interrupted:
        told.append("interrupted")
    kept = sum(outcome.kept for outcome in sweep.outcomes.values())
    cached = f" ({kept:,} from the cache)" if kept else ""
    counted = [plural(len(sweep.grid), "point") + cached]
    properties = sum(subject.form != "scenario" for subject in sweep.subjects)
    if properties:
        counted.append(plural(properties, "property"))
    if len(sweep.subjects) > properties:
        counted.append(plural(len(sweep.subjects) - properties, "scenario"))
    return f"{', '.join(counted)}: {', '.join(told) or 'nothing to check'} in {seconds:.1f} s"


def asked_for(sweep: Sweep) -> Iterator[str]:
    """`12 points: ATTEMPTS = 1..3, max-faults = 0..3`, and what is the same at all of them."""
    grid = sweep.grid
    over = "; ".join(f"{grid.axes[axis].name} = {grid.axes[axis].span()}" for axis in grid.varying)
    yield f"{plural(len(grid), 'point')}{': ' if over else ''}{over}"
    if grid.fixed:
        yield f"with {', '.join(f'{axis.name} = {axis.label(0)}' for axis in grid.fixed)}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
