"""Axes of a sweep: what varies, and over which values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from checker.options import UsageError

_RANGE = re.compile(r"(?P<low>-?\d{1,18})\s*\.\.\s*(?P<high>-?\d{1,18})")
_MOST_PROPOSED = 10_000
"""A larger limit is not proposed."""
_NUMBER = re.compile(r"-?\d{1,18}")
_NAME = re.compile(r"[A-Za-z_]\w*")

Texts = Callable[[], list[str]]


class Role(Enum):
    """What an axis sets; the value is the option that gives its values."""

    CONSTANT = "-D"
    MAX_FAULTS = "--max-faults"
    SWITCH = "--with"
    FAULTS = "--faults"
    VARIANT = "--variant"


@dataclass(frozen=True)
class Axis:
    """name: of the constant or switch, else what the axis is about; values: as texts, each once, at least one."""

    role: Role
    name: str
    values: tuple[str, ...]

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers, which `values_of` has put in rising order: only then is one value above
        another."""
        if self.role not in (Role.CONSTANT, Role.SWITCH, Role.MAX_FAULTS):
            return False
        return all(_NUMBER.fullmatch(value) for value in self.values)

    def label(self, place: int) -> str:
        """A value as people read it: a set of several fault classes in braces, as behind `needs`."""
        value = self.values[place]
        return f"{{{value}}}" if self.role is Role.FAULTS and "," in value else value

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(map(self.label, range(len(self.values))))

    def span(self) -> str:
        """`1..4`, `1, 2, 4`, `true, false`."""
        if self.ordered and len(self.values) > 2:
            numbers = [int(value) for value in self.values]
            if numbers == list(range(numbers[0], numbers[-1] + 1)):
                return f"{numbers[0]}..{numbers[-1]}"
        return ", ".join(self.labels)


def setting_axes(role: Role, given: Sequence[str], room: int) -> list[Axis]:
    """The axes that `-D` or `--with` ask for: `N=1..4`, `N=1,2,4`, `order=FIFO,LIFO`; a bare switch is true.  `room`:
    no axis may have more values than this.  Raises UsageError (E470, E471, E472)."""
    option, axes = role.value, dict[str, Axis]()
    for text in given:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals and role is Role.SWITCH:
            values = "true"
        if not _NAME.fullmatch(name) or not values:
            raise UsageError(
                f"{option} {text!r}: values are missing, or a name",
                f"such as {option} {'N=1..4' if role is Role.CONSTANT else 'SWITCH=true,false'}",
                "E470",
            )
        if name in axes:
            both = ",".join((*axes[name].values, values))
            raise UsageError(f"{option} {text!r}: {name} is given twice", f"write {option} {name}={both}", "E470")
        axes[name] = Axis(role, name, values_of(values, f"{option} {text!r}", room))
    return list(axes.values())


def count_axis(text: str | None, room: int) -> list[Axis]:
    """The axis that `--max-faults 0..3` asks for; none when `text` is None.  Raises UsageError (E470, E471, E472)."""
    if text is None:
        return []
    where = f"{Role.MAX_FAULTS.value} {text!r}"
    values = values_of(text, where, room)
    for value in values:
        if not _NUMBER.fullmatch(value) or int(value) < 0:
            raise UsageError(f"{where}: {value!r} is no number of faults", "such as --max-faults 0..3", "E470")
    return [Axis(Role.MAX_FAULTS, "max-faults", values)]


def values_of(text: str, where: str, room: int) -> tuple[str, ...]:
    """The values that `1..4`, `1,2,4`, `1..3,8` or `FIFO,LIFO` list, each once, numbers in rising order; `where`: how
    to call the text.  Raises UsageError (E470, E471, E472)."""
    found: dict[str, None] = {}
    for part in (each.strip() for each in text.split(",")):
        if not part:
            raise UsageError(f"{where}: a value is missing at a comma", f"write {_mended(text)}", "E470")
        for value in _range(part, where, room) if ".." in part else [part]:
            found[value] = None
        if len(found) > room:
            raise too_many(where, len(found), room)
    values = list(found)
    if all(_NUMBER.fullmatch(value) for value in values):
        # `-0` and `007` are the numbers that they say.
        values = [str(number) for number in sorted({int(value) for value in values})]
    return tuple(values)


def _mended(text: str) -> str:
    return ",".join(part for part in (each.strip() for each in text.split(",")) if part) or "at least one value"


def _range(text: str, where: str, room: int) -> list[str]:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise UsageError(f"{where}: {text!r} is no range of whole numbers", "write a range as 1..4", "E470")
    low, high = int(match["low"]), int(match["high"])
    if low > high:
        raise UsageError(f"{where}: the range {text} runs backwards, so it is empty", f"write {high}..{low}", "E471")
    if high - low + 1 > room:
        raise too_many(where, high - low + 1, room)
    return [str(number) for number in range(low, high + 1)]


def too_many(where: str, count: int, room: int) -> UsageError:
    """The error of a sweep that is too large; `where`: what has so many points."""
    return UsageError(
        f"{where}: {count:,} points, and more than {room:,} are not checked",
        "take fewer values" + (f", or --points {count}" if count <= _MOST_PROPOSED else ""),
        "E472",
    )
