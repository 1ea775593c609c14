"""Regions of a grid: where in it each answer is found, in as few conditions as there need be.

An answer that is found at a point and at all that are above it in some directions (an up-set of the product order) is
told by the corners of that set.  Where it is no such set, the grid is taken apart along an axis.  Points that the model
rejects belong to no region, and no region says anything of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from checker.sweeps.axis import Axis
from checker.sweeps.cell import GOOD, OPEN, Answer

Place = tuple[int, ...]
Table = Mapping[Place, Answer]

_MOST_CORNERS = 4


@dataclass(frozen=True)
class Condition:
    """The value of an axis is one of those at these places."""

    axis: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class Comparison:
    """The value of an axis of numbers compares with that of another; sign: a key of `SIGNS`."""

    axis: int
    sign: str
    other: int


SIGNS: Mapping[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}
_FEWEST_VALUES = 3
"""Of two axes with fewer values nearly everything is a comparison, and none says much."""

Conjunction = tuple[Condition | Comparison, ...]
Region = tuple[Conjunction, ...]
_RegionOf = Callable[[tuple[int, ...], Table, set[Place]], Region | None]
"""Alternatives: the empty conjunction holds everywhere."""


@dataclass(frozen=True)
class Part:
    """The answer in a region; region None: wherever no other part of the account is."""

    answer: Answer
    region: Region | None


@dataclass(frozen=True)
class Account:
    """What is found where the conditions of `case` hold."""

    case: tuple[Condition, ...]
    parts: tuple[Part, ...]


def accounts(axes: Sequence[Axis], answers: Mapping[Place, Answer]) -> tuple[Account, ...]:
    """Where each answer is found.  Every point of `answers` is in one account and there in one part; points of the grid
    that are not in `answers` are rejected ones."""
    return _Search(axes).run(tuple(range(len(axes))), answers)


def answer_at(found: Sequence[Account], axes: Sequence[Axis], point: Place) -> Answer | None:
    """The answer that the accounts give for a point; None when they speak of no such point."""
    for account in found:
        if _holds(account.case, axes, point):
            rest = None
            for part in account.parts:
                if part.region is None:
                    rest = part.answer
                elif any(_holds(conjunction, axes, point) for conjunction in part.region):
                    return part.answer
            return rest
    return None


def words(found: Sequence[Account], axes: Sequence[Axis]) -> list[str]:
    """A sentence for each account: `refuted where N >= 3 and S = 1, or N >= 4; proved elsewhere`; one for all where
    each account has one answer."""
    if all(len(account.parts) == 1 and account.parts[0].region == ((),) for account in found):
        regions: dict[Answer, Region] = {}
        for account in found:
            answer = account.parts[0].answer
            regions[answer] = (*regions.get(answer, ()), account.case)
        parts = [Part(answer, regions[answer]) for answer in sorted(regions, key=_urgency)]
        return ["; ".join(_part(part, axes) for part in parts)]
    lines = []
    for account in found:
        case = " and ".join(_condition(each, axes) for each in account.case)
        told = "; ".join(_part(part, axes) for part in account.parts)
        lines.append(f"with {case}, {told}" if case else told)
    return lines


def where(points: Collection[Place], among: Iterable[Place], axes: Sequence[Axis]) -> str | None:
    """These points, among all that there are, as a condition: `N >= 3 and S = 1`; None where it takes more than a
    few words."""
    marked = {point: Answer.REFUTED if point in points else Answer.PROVED for point in among}
    found = accounts(axes, marked)
    regions = [part.region for account in found for part in account.parts if part.answer is Answer.REFUTED]
    if len(found) > 1 or not regions or regions[0] in (None, ((),)):
        return None
    return _alternatives(regions[0] or (), axes)


def idle(axes: Sequence[Axis], answers: Mapping[Place, Answer]) -> list[int]:
    """The axes along which nothing ever changes, rejections included."""
    found = []
    for axis, each in enumerate(axes):
        lines: dict[Place, list[Answer]] = {}
        for point, answer in answers.items():
            lines.setdefault((*point[:axis], *point[axis + 1 :]), []).append(answer)
        if len(each.values) > 1 and all(
            len(line) == len(each.values) and len(set(line)) == 1 for line in lines.values()
        ):
            found.append(axis)
    return found


def _holds(conjunction: Sequence[Condition | Comparison], axes: Sequence[Axis], point: Place) -> bool:
    for condition in conjunction:
        if isinstance(condition, Condition):
            holds = point[condition.axis] in condition.places
        else:
            one, other = (int(axes[axis].values[point[axis]]) for axis in (condition.axis, condition.other))
            holds = SIGNS[condition.sign](one, other)
        if not holds:
            return False
    return True


class _Search:
    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = axes

    def run(self, free: tuple[int, ...], table: Table) -> tuple[Account, ...]:
        """free: the axes that are not settled by a case."""
        if not table:
            return ()
        free, table = _relevant(free, table)
        present = set(table.values())
        if len(present) == 1:
            return (Account((), (Part(present.pop(), ((),)),)),)
        unordered = [axis for axis in free if not self.axes[axis].ordered]
        if not unordered:
            parts = self._on_line(free[0], table) if len(free) == 1 else self._parts(free, table, self._cornered)
        else:
            parts = self._parts(free, table, self._box)
        if parts is not None:
            return (Account((), parts),)
        ways = [self._split(axis, free, table) for axis in unordered or free]
        return min(ways, key=len)

    def _split(self, axis: int, free: tuple[int, ...], table: Table) -> tuple[Account, ...]:
        """The accounts for each value of an axis, values with the same ones together."""
        rest = tuple(each for each in free if each != axis)
        groups: list[tuple[list[int], tuple[Account, ...]]] = []
        for place in range(len(self.axes[axis].values)):
            found = self.run(rest, {point: answer for point, answer in table.items() if point[axis] == place})
            if self.axes[axis].ordered:
                # A value that the model rejects goes with its neighbour.
                alike = groups[-1:] if groups and (not found or groups[-1][1] == found) else []
            else:
                alike = [group for group in groups if group[1] == found]
            if alike:
                alike[0][0].append(place)
            elif found:
                groups.append(([place], found))
        return tuple(
            Account((Condition(axis, tuple(places)), *account.case), account.parts)
            for places, found in groups
            for account in found
        )

    def _on_line(self, axis: int, table: Table) -> tuple[Part, ...]:
        """The parts where only one ordered axis matters: runs of equal answers."""
        by_place = {point[axis]: answer for point, answer in table.items()}
        runs: list[tuple[Answer, list[int]]] = []
        for place in range(len(self.axes[axis].values)):
            answer = by_place.get(place)
            if runs and answer in (None, runs[-1][0]):
                runs[-1][1].append(place)
            elif answer is not None:
                runs.append((answer, [place]))
        regions: dict[Answer, Region] = {}
        for answer, places in runs:
            conjunction: Conjunction = (Condition(axis, tuple(places)),)
            regions[answer] = (*regions.get(answer, ()), conjunction)
        return tuple(Part(answer, regions[answer]) for answer in sorted(regions, key=_urgency))

    def _parts(self, free: tuple[int, ...], table: Table, region_of: _RegionOf) -> tuple[Part, ...] | None:
        """The parts where each answer but one fills a region of a kind; None where it does not."""
        by_urgency = sorted(set(table.values()), key=_urgency)
        # Refutations are never told as what is left.
        for rest in reversed([answer for answer in by_urgency if answer is not Answer.REFUTED]):
            parts: list[Part] = []
            for answer in by_urgency:
                region = None if answer is rest else region_of(free, table, _filled(table, answer))
                if region is not None:
                    parts.append(Part(answer, region))
            if len(parts) == len(by_urgency) - 1:
                return (*parts, Part(rest, None))
        return None

    def _box(self, free: tuple[int, ...], table: Table, filled: set[Place]) -> Region | None:
        """The region as all combinations of some values of each axis, where it is that."""
        conjunction: list[Condition | Comparison] = []
        for axis in free:
            places = tuple(sorted({point[axis] for point in filled}))
            if len(places) < len(self.axes[axis].values):
                conjunction.append(Condition(axis, places))
        covered = {point for point in table if _holds(conjunction, self.axes, point)}
        return (tuple(conjunction),) if covered == filled else None

    def _cornered(self, free: tuple[int, ...], table: Table, filled: set[Place]) -> Region | None:
        best = self._compared(free, table, filled)
        for ways in product((1, -1), repeat=len(free)):
            corners = self._least(free, ways, filled)
            if len(corners) > _MOST_CORNERS:
                continue
            region = tuple(self._beyond(free, ways, corner) for corner in corners)
            covered = {point for point in table if any(_holds(each, self.axes, point) for each in region)}
            if covered == filled and (best is None or _size(region) < _size(best)):
                best = region
        return best

    def _compared(self, free: tuple[int, ...], table: Table, filled: set[Place]) -> Region | None:
        """The region as a comparison of two axes, where it is one."""
        if len(free) != 2 or any(len(self.axes[axis].values) < _FEWEST_VALUES for axis in free):
            return None
        for sign in SIGNS:
            region: Region = ((Comparison(free[0], sign, free[1]),),)
            if {point for point in table if _holds(region[0], self.axes, point)} == filled:
                return region
        return None

    def _least(self, free: tuple[int, ...], ways: tuple[int, ...], filled: set[Place]) -> list[Place]:
        """The points that no other one is below, when `ways` says in which direction each axis rises."""

        def below(one: Place, other: Place) -> bool:
            return all(way * one[axis] <= way * other[axis] for axis, way in zip(free, ways, strict=True))

        projected = {tuple(point[axis] for axis in free): point for point in sorted(filled)}
        points = list(projected.values())
        return [p for p in points if not any(below(q, p) and not below(p, q) for q in points)]

    def _beyond(self, free: tuple[int, ...], ways: tuple[int, ...], corner: Place) -> Conjunction:
        found: list[Condition | Comparison] = []
        for axis, way in zip(free, ways, strict=True):
            count = len(self.axes[axis].values)
            places = tuple(range(corner[axis], count)) if way == 1 else tuple(range(corner[axis] + 1))
            if len(places) < count:
                found.append(Condition(axis, places))
        return tuple(found)


def _filled(table: Table, answer: Answer) -> set[Place]:
    return {point for point, each in table.items() if each is answer}


def _relevant(free: tuple[int, ...], table: Table) -> tuple[tuple[int, ...], Table]:
    """Without the axes whose value makes no difference anywhere; of the points that then say the same, one is kept."""
    for axis in free:
        rest = tuple(each for each in free if each != axis)
        seen: dict[Place, tuple[Place, Answer]] = {}
        for point, answer in table.items():
            key = tuple(point[each] for each in rest)
            if seen.setdefault(key, (point, answer))[1] is not answer:
                break
        else:
            return _relevant(rest, dict(seen.values()))
    return free, table


def _urgency(answer: Answer) -> tuple[int, int]:
    """What is told first; what comes last is `elsewhere`."""
    group = 0 if answer is Answer.REFUTED else 1 if answer in OPEN else 3 if answer in GOOD else 2
    return group, list(Answer).index(answer)


def _size(region: Region) -> tuple[int, int]:
    return len(region), sum(map(len, region))


def _part(part: Part, axes: Sequence[Axis]) -> str:
    if part.region is None:
        return f"{part.answer.value} elsewhere"
    if part.region == ((),):
        return part.answer.value
    return f"{part.answer.value} where {_alternatives(part.region, axes)}"


def _alternatives(region: Region, axes: Sequence[Axis]) -> str:
    return ", or ".join(" and ".join(_condition(each, axes) for each in conjunction) for conjunction in region)


def _condition(condition: Condition | Comparison, axes: Sequence[Axis]) -> str:
    if isinstance(condition, Comparison):
        return f"{axes[condition.axis].name} {condition.sign} {axes[condition.other].name}"
    axis = axes[condition.axis]
    values = [axis.label(place) for place in condition.places]
    others = [axis.label(place) for place in range(len(axis.values)) if place not in condition.places]
    if len(values) > 1 and len(others) == 1 and not axis.ordered:
        return f"{axis.name} is not {others[0]}"
    if len(values) == 1:
        return f"{axis.name} = {values[0]}"
    several = f"{axis.name} = ({' or '.join(values)})"
    if not axis.ordered:
        return several
    consecutive = list(condition.places) == list(range(condition.places[0], condition.places[-1] + 1))
    if consecutive and condition.places[-1] == len(axis.values) - 1:
        return f"{axis.name} >= {values[0]}"
    if consecutive and condition.places[0] == 0:
        return f"{axis.name} <= {values[-1]}"
    return several
