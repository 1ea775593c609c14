"""The state of checking one thread's body: its locals, statement ids, and what a statement touches."""

from __future__ import annotations

from collections.abc import Iterable

from spec import syntax
from spec.checking.scope import Binding, Context
from spec.checking.trees import NOTHING, Reads, reads
from spec.checking.variables import ProcessTable, Signature
from spec.checking.world import World
from spec.names import listed
from spec.source import Span
from spec.typed import Expression, GhostVariable, Local, LocalVariable, Place, ProcessVariable, StoreVariable
from spec.types import Type

Frame = tuple[int, Span, str, frozenset[str], bool, bool]
"""The fields that all typed statements begin with."""


class StatementIds:
    """Hands out statement ids, dense and in source order."""

    def __init__(self) -> None:
        self.next = 0

    def take(self) -> int:
        """The next id."""
        self.next += 1
        return self.next - 1


class Body:
    """What the statements of one thread share while they are checked."""

    def __init__(
        self,
        world: World,
        process: ProcessTable,
        signature: Signature,
        ids: StatementIds,
        left_out: frozenset[tuple[str, str]],
    ) -> None:
        self.world = world
        self.problems = world.problems
        self.process = process
        self.signature = signature
        self.ids = ids
        self.left_out = left_out
        self.called = (process.node.name.name, signature.node.name.name) in world.tables.called
        self.locals: list[LocalVariable] = []
        self._keys: set[str] = set()
        self._hidden = 0

    def declare(self, name: syntax.Identifier, kind: Type | None, ctx: Context) -> Local | None:
        """A new local in the scope of `ctx`; None when its type is not known (it is bound all the same, so that uses
        are silent)."""
        local: Local | None = None
        if kind is not None:
            local = self._local(name.name, name.name, kind, name.span)
        self.world.expressions.bind(ctx.scope, Binding(name.name, name.span, local, True))
        return local

    def hidden(self, kind: Type, span: Span) -> Local:
        """A local without a name in the source."""
        self._hidden += 1
        return self._local(f"answer:{self._hidden}", "", kind, span)

    def _local(self, key: str, name: str, kind: Type, span: Span) -> Local:
        unique, count = key, 1
        while unique in self._keys:
            count += 1
            unique = f"{key}#{count}"
        self._keys.add(unique)
        self.locals.append(LocalVariable(unique, name or unique, kind))
        return Local(kind, span, unique)

    def frame(
        self,
        identity: int,
        node: syntax.Statement,
        ctx: Context,
        *,
        read: Iterable[Expression | None] = (),
        written: Iterable[Place] = (),
        stores: Iterable[str] = (),
        shared: bool = False,
        ghosts_only: bool = False,
    ) -> Frame:
        """The common fields of a statement that reads the expressions, writes the places and touches the stores;
        checks that it touches one store, and in a transaction no other."""
        places = tuple(written)
        touched: Reads = NOTHING
        for part in (reads(*read), *(reads(*place_parts(place)) for place in places)):
            touched = touched | part
        everything = frozenset(stores) | touched.stores
        self._one_store(everything, node.head, ctx)
        return (identity, node.head, first_line(node), everything, shared or touched.shared, False)

    def _one_store(self, stores: frozenset[str], span: Span, ctx: Context) -> None:
        if ctx.store is not None:
            others = sorted(stores - {ctx.store})
            if others:
                self.problems.error(
                    "E241",
                    span,
                    f"a transaction on `{ctx.store}` cannot touch {listed(others)}",
                    fix="move the statement out, or use `atomic` if the idealization is meant",
                )
        elif not ctx.atomic and len(stores) > 1:
            self.problems.error(
                "E240",
                span,
                f"one step touches {len(stores)} stores: {listed(sorted(stores))}",
                fix="split it into a statement per store, or say `atomic` if the idealization is meant",
            )


def place_parts(place: Place) -> tuple[Expression, ...]:
    """The root and the keys of a place, as expressions."""
    return (place.root, *(step for step in place.path if not isinstance(step, str)))


def first_line(node: syntax.Statement) -> str:
    """The first source line of a statement, trimmed; without the brace of a block that goes on in further lines."""
    whole = isinstance(node, syntax.Atomic | syntax.Transaction) and "\n" not in node.span.text
    text = (node.span if whole else node.head).text.split("\n", 1)[0]
    text = text.split("//", 1)[0] if '"' not in text else text
    return text.strip().removesuffix("{").rstrip()


def is_state(root: Expression) -> bool:
    """Whether a place with this root is a store, process or ghost variable."""
    return isinstance(root, StoreVariable | ProcessVariable | GhostVariable)
