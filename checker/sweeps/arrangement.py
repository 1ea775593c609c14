"""How a sweep is laid out in tables: which axis goes down, which across, and which make a table each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from checker.sweeps.cell import GOOD, Answer, Cell
from checker.sweeps.grid import Point
from checker.sweeps.sweep import Subject, Sweep


@dataclass(frozen=True)
class Table:
    """subject    what all cells are about; None where each row or column is about one of its own
    heading    the values of further axes for which the table is
    down       what the names of the rows are values of; across: the same of the columns
    cells      row by row
    points     the point of each cell
    """

    subject: Subject | None
    heading: str
    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    points: tuple[tuple[Point, ...], ...]

    def name_at(self, row: int, column: int) -> str:
        """The name of the subject that a cell is about."""
        if self.subject is not None:
            return self.subject.name
        return self.columns[column] if self.down else self.rows[row]


def shown(sweep: Sweep) -> tuple[list[Subject], list[Subject]]:
    """The subjects that get a table, and those of which a sentence says it all: what the tool checks by itself, and
    what is proved wherever it could be checked."""
    tabled: list[Subject] = []
    told: list[Subject] = []
    for subject in sweep.subjects:
        answers = {sweep.cell(subject, point).answer for point in sweep.grid.points()}
        answers -= {Answer.REJECTED}
        plain = not subject.asked_by_name and (answers <= {*GOOD, Answer.ABSENT} or answers == {Answer.HOLDS_TO})
        (told if plain else tabled).append(subject)
    return (tabled, told) if tabled else (told, [])


def tables(sweep: Sweep) -> Iterator[Table]:
    """The first two axes that vary make a table for each subject, names rather than numbers downwards; each combination
    of the values of further axes has a table of its own.  With one axis or none there is one table of all subjects.
    None where nothing was checked."""
    grid, (subjects, _) = sweep.grid, shown(sweep)
    if not subjects:
        return
    if len(grid.varying) < 2:
        yield _of_all(sweep, subjects)
        return
    first, second, *further = grid.varying
    across_first = grid.axes[first].ordered and not grid.axes[second].ordered
    down, across = (second, first) if across_first else (first, second)
    for subject in subjects:
        for places in product(*(range(len(grid.axes[axis].values)) for axis in further)):
            base = [0] * len(grid.axes)
            for axis, place in zip(further, places, strict=True):
                base[axis] = place
            points = tuple(
                tuple(_at(base, {down: row, across: column}) for column in range(len(grid.axes[across].values)))
                for row in range(len(grid.axes[down].values))
            )
            yield Table(
                subject,
                ", ".join(f"{grid.axes[axis].name} = {grid.value(tuple(base), axis)}" for axis in further),
                grid.axes[down].name,
                grid.axes[across].name,
                grid.axes[down].labels,
                grid.axes[across].labels,
                tuple(tuple(sweep.cell(subject, point) for point in row) for row in points),
                points,
            )


def _at(base: list[int], places: dict[int, int]) -> Point:
    return tuple(places.get(axis, place) for axis, place in enumerate(base))


def _of_all(sweep: Sweep, subjects: list[Subject]) -> Table:
    grid = sweep.grid
    names = tuple(subject.name for subject in subjects)
    points = list(grid.points())
    if grid.varying and not grid.axes[grid.varying[0]].ordered:
        axis = grid.axes[grid.varying[0]]
        cells = tuple(tuple(sweep.cell(subject, point) for subject in subjects) for point in points)
        placed = tuple(tuple(point for _ in subjects) for point in points)
        return Table(None, "", axis.name, "", axis.labels, names, cells, placed)
    columns = grid.axes[grid.varying[0]].labels if grid.varying else ("",)
    across = grid.axes[grid.varying[0]].name if grid.varying else ""
    cells = tuple(tuple(sweep.cell(subject, point) for point in points) for subject in subjects)
    return Table(None, "", "", across, names, columns, cells, tuple(tuple(points) for _ in subjects))
