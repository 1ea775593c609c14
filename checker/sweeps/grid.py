"""The grid of a sweep: all combinations of the values of its axes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

from checker.options import Options
from checker.sweeps.axis import Axis, Role, count_axis, setting_axes, too_many

Point = tuple[int, ...]
"""For each axis of a grid the place of a value."""


@dataclass(frozen=True)
class Grid:
    """axes: in the order in which points are counted, the first one slowest.  An axis of one value does not vary."""

    axes: tuple[Axis, ...]

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """The places of the axes that have more than one value."""
        return tuple(place for place, axis in enumerate(self.axes) if len(axis.values) > 1)

    @property
    def fixed(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if len(axis.values) == 1)

    def __len__(self) -> int:
        return prod(len(axis.values) for axis in self.axes)

    def points(self) -> Iterator[Point]:
        yield from product(*(range(len(axis.values)) for axis in self.axes))

    def value(self, point: Point, axis: int) -> str:
        """As people read it."""
        return self.axes[axis].label(point[axis])

    def name(self, point: Point) -> str:
        """`N = 3, rescan = true`: the values of the axes that vary."""
        return ", ".join(f"{self.axes[axis].name} = {self.value(point, axis)}" for axis in self.varying)

    def options(self, point: Point, asked: Options) -> Options:
        """What a check of this point is asked for; `asked`: all that is the same at every point."""
        chosen: dict[Role, dict[str, str]] = {role: {} for role in Role}
        for axis, place in zip(self.axes, point, strict=True):
            chosen[axis.role][axis.name] = axis.values[place]
        counts = list(chosen[Role.MAX_FAULTS].values())
        return replace(
            asked,
            constants=chosen[Role.CONSTANT],
            switches=chosen[Role.SWITCH],
            faults=next(iter(chosen[Role.FAULTS].values()), None),
            max_faults=int(counts[0]) if counts else None,
            variants=tuple(chosen[Role.VARIANT].values()),
        )

    def words(self, point: Point) -> list[str]:
        """The options of `counterpoint check` for this point, quoted for a shell."""
        found = []
        for role in (Role.VARIANT, Role.CONSTANT, Role.SWITCH, Role.FAULTS, Role.MAX_FAULTS):
            for axis, place in zip(self.axes, point, strict=True):
                if axis.role is role:
                    value = axis.values[place]
                    named = f"{axis.name}={value}" if role in (Role.CONSTANT, Role.SWITCH) else value
                    found += [role.value, shlex.quote(named)]
        return found


def grid_of(
    constants: Sequence[str],
    switches: Sequence[str],
    faults: Sequence[str],
    max_faults: str | None,
    variants: Sequence[str],
    most: int,
) -> Grid:
    """The grid that the options of a command line ask for.  Raises UsageError (E470, E471, E472: more than `most`
    points)."""
    axes = setting_axes(Role.CONSTANT, constants, most)
    axes += count_axis(max_faults, most)
    axes += setting_axes(Role.SWITCH, switches, most)
    if faults:
        axes.append(
            Axis(Role.FAULTS, "faults", tuple(dict.fromkeys(" ".join(text.split()) or "none" for text in faults)))
        )
    if variants:
        axes.append(Axis(Role.VARIANT, "variant", tuple(dict.fromkeys(variants))))
    grid = Grid(tuple(axes))
    require_room(grid, most)
    return grid


def require_room(grid: Grid, most: int) -> None:
    """Raises UsageError (E472) where the grid has more points than this."""
    if len(grid) > most:
        counts = " x ".join(str(len(axis.values)) for axis in grid.axes if len(axis.values) > 1)
        raise too_many(f"a grid of {counts}", len(grid), most)
