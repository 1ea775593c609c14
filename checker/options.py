"""What a user may ask of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checker.time_limit import TimeLimit

DEFAULT_TIMEOUT = 120.0
LEAST_MEMORY = 64 << 20
"""No bound on the memory of a check may be less bytes than this."""
DEFAULT_POINTS = 200
"""The most points of a sweep."""


@dataclass(frozen=True)
class Options:
    """variants    only these (empty: all; the defaults, in a model without variants)
    constants   `-D name=value`, as text; switches: `--with name=value`
    properties  only these properties and scenarios (empty: all); model errors and asserts are checked all the same
    faults      `--faults`: the fault classes that may strike, in place of the declared ones
    max_faults  at most so many faults in one run
    depth       no longer runs are looked at
    engine      "auto", "search", "bmc", "ic3" or "parallel"
    timeout     seconds for each variant
    timeout_property  most seconds for each property of a variant
    total       until when all must be done that is asked of all variants
    states      most states that the search stores (None: its own limit)
    symmetry    whether engines may use symmetry
    needs       whether to find, for every property, which faults it takes to break it
    per_instance  with `needs`: whether fault classes are those of single instances
    why         whether to find out what each proof relies on
    fairness    whether to find out which fairness `live` properties take
    repairs     whether a refutation of a `live` property may take a second more, to name what would repair it
    crash_points  whether to find out which step is dangerous, and when
    strict      whether warnings count as failures
    """

    variants: tuple[str, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    switches: Mapping[str, str] = field(default_factory=dict)
    properties: tuple[str, ...] = ()
    faults: str | None = None
    max_faults: int | None = None
    depth: int | None = None
    engine: str = "auto"
    timeout: float = DEFAULT_TIMEOUT
    timeout_property: float | None = None
    total: TimeLimit | None = None
    states: int | None = None
    symmetry: bool = True
    needs: bool = False
    per_instance: bool = False
    why: bool = False
    fairness: bool = False
    repairs: bool = False
    crash_points: bool = False
    strict: bool = False

    def time_limit(self) -> TimeLimit:
        """That of what begins now and may take as long as a variant."""
        return TimeLimit.after(self.timeout, "timeout").or_sooner(self.total)

    @property
    def changes_model(self) -> bool:
        """Whether the model that is checked is another one than its expectations speak of."""
        return bool(self.constants or self.switches or self.faults is not None or self.max_faults is not None)

    @property
    def asks_for_bound(self) -> bool:
        """Whether a verdict up to a depth is what the user asked for."""
        return self.depth is not None or self.engine in ("bmc", "parallel")

    def is_as_asked(self, depth: int, reason: str) -> bool:
        """Whether a verdict up to this depth is: it goes as deep as was asked for, or as far as an engine goes that
        gives nothing else.  Where time, memory or another `reason` has cut it short it is not."""
        if self.depth is not None:
            return depth >= self.depth
        return self.asks_for_bound and reason.startswith(DEPTH_LIMIT)


DEPTH_LIMIT = "the depth limit"
"""What a reason begins with where an engine went as far as it was to go."""


class UsageError(Exception):
    """The command line asks for something that does not exist or makes no sense; `hint` says what might be meant.
    code: a key of `checker.codes.CODES`, where there is one."""

    def __init__(self, message: str, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class UnknownNameError(UsageError):
    """The options name a variant, constant, switch, property or fault class that a model does not have."""
