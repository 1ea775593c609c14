"""A state of a model, with the values that people see.

The interpreter runs on these; the lowering decodes its packed states into them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from spec.event import Party, Slot
from spec.value import Value


class Loose(Enum):
    """Where a queue item or lock stands when no running activation has it."""

    VISIBLE = "visible"
    """A take may get the item."""
    ORPHAN = "orphan"
    """The activation that took the item, or acquired the lock, has ended without giving it back."""
    FREE = "free"
    """Nobody holds the lock."""


Holder = Slot | Loose


@dataclass(frozen=True)
class QueueState:
    """entries: (item, holder).  A fifo keeps its order, oldest first.  A set or bag is sorted by `repr` of the pair,
    so that equal contents are equal states."""

    entries: tuple[tuple[Value, Holder], ...]


@dataclass(frozen=True)
class LockState:
    """entries: (key, holder, last token given) for every key in `domain` order; key None for a single lock, token 0
    where none was given or the lock has no fencing."""

    entries: tuple[tuple[Value, Holder, int], ...]


@dataclass(frozen=True)
class Activation:
    """A running activation, between two steps.

    at       id of the statement that it is about to execute (the first shared statement or choice point), or, for a
             called handler that has run to its end, None
    ending   with `at` None: how it will answer its caller (a value of spec.event.Ending)
    waiting  it has made the call at `at` and waits for the reply
    caller   the activation that waits for this one, if any
    locals   values by key, of the locals in scope (the lowering leaves out dead ones); hidden counters of `retry`
             (key `retry:<statement id>`, attempts left) and remaining items of `for` (key `for:<statement id>`, a
             frozenset) included
    """

    at: int | None
    locals: Mapping[str, Value]
    waiting: bool = False
    caller: Slot | None = None
    ending: str | None = None

    @cached_property
    def _hash(self) -> int:
        return hash((self.at, frozenset(self.locals.items()), self.waiting, self.caller, self.ending))

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        return _without_hash(self.__dict__)


@dataclass(frozen=True)
class GlobalState:
    """values: store variables by (store, name); queues and locks likewise; process variables by (process, instance,
    name); ghosts by name; used ids by type name (only types in Model.fresh); running activations by slot; the parties
    that are down; the links that are cut (process instance first; both processes: the ends in sorted order); error:
    what went wrong in the step that led here (see spec.fault.ModelError), or None."""

    values: Mapping[tuple[str, str], Value]
    queues: Mapping[tuple[str, str], QueueState]
    locks: Mapping[tuple[str, str], LockState]
    process_values: Mapping[tuple[str, int, str], Value]
    ghosts: Mapping[str, Value]
    used: Mapping[str, frozenset[int]]
    activations: Mapping[Slot, Activation]
    down: frozenset[Party]
    cut: frozenset[tuple[Party, Party]]
    error: ModelError | None = None

    @cached_property
    def _hash(self) -> int:
        mappings = (
            self.values,
            self.queues,
            self.locks,
            self.process_values,
            self.ghosts,
            self.used,
            self.activations,
        )
        return hash((*(frozenset(m.items()) for m in mappings), self.down, self.cut, self.error))

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        return _without_hash(self.__dict__)


def _without_hash(content: Mapping[str, object]) -> dict[str, object]:
    """What a copy for another process is made of: the hash of a text is another one there."""
    return {name: value for name, value in content.items() if name != "_hash"}


class ErrorKind(Enum):
    ASSERTION = "assertion failed"
    RANGE = "value outside its range"
    NONE = "value of none"
    CAPACITY = "queue is full"
    TOKEN = "fencing tokens are used up"
    DIVISION = "division by zero"
    ENDLESS = "local computation without end"


@dataclass(frozen=True)
class ModelError:
    """site: id of the statement whose evaluation failed.  Which expression of it failed is not part of the state."""

    kind: ErrorKind
    site: int
