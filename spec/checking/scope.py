"""What names mean at a place in the source: local bindings, and what the place may speak of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from spec.source import Span
from spec.typed import Expression
from spec.types import IdType


@dataclass(frozen=True)
class Binding:
    """A local or bound variable.  meaning: None when its type could not be settled (already reported), so that uses
    of it are silent.  assignable: false for bound variables."""

    name: str
    span: Span
    meaning: Expression | None
    assignable: bool


@dataclass
class Scope:
    """The bindings of one block, within those of the blocks around it."""

    outer: Scope | None = None
    bindings: dict[str, Binding] = field(default_factory=dict)

    def find(self, name: str) -> Binding | None:
        """The innermost binding of a name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bindings:
                return scope.bindings[name]
            scope = scope.outer
        return None

    def names(self) -> Iterator[str]:
        """All names bound here."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.bindings
            scope = scope.outer


@dataclass(frozen=True)
class Context:
    """What an expression may speak of.

    scope      local bindings
    what       "constant", "protocol", "property", "scenario" or "definition"
    process    the instances of the own process, in a thread
    store      the store of the surrounding `transaction`
    atomic     within a block that is one step
    ghosts     ghosts may be read
    primes     `e'` may be written
    primed     within an e'
    live       within a `live` property
    """

    scope: Scope
    what: str
    process: IdType | None = None
    store: str | None = None
    atomic: bool = False
    ghosts: bool = False
    primes: bool = False
    primed: bool = False
    live: bool = False

    def inner(self) -> Context:
        """The same place with a new scope within the present one."""
        return replace(self, scope=Scope(self.scope))

    @property
    def reads_state(self) -> bool:
        return self.what != "constant"


def constant_context() -> Context:
    """The context of constants, sizes and initial values: no state, no locals."""
    return Context(Scope(), "constant")
