"""Where assignments go."""

from __future__ import annotations

from dataclasses import replace

from spec import syntax
from spec.checking.conversions import without_optional
from spec.checking.scope import Context
from spec.checking.world import World
from spec.typed import (
    Expression,
    GhostVariable,
    Local,
    Place,
    ProcessVariable,
    StoreVariable,
)
from spec.types import MapType, RecordType


class Places:
    """Types places: a variable, then map keys and record fields."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems
        self._expressions = world.expressions

    def place(self, node: syntax.Expression, ctx: Context) -> Place | None:
        """The place that is written, or None after an error."""
        if self._starts(node, ctx):
            return self._root(node, ctx)
        match node:
            case syntax.Index(base=base, keys=keys):
                inner = self.place(base, ctx)
                if inner is None:
                    return None
                kind = without_optional(inner.type)
                if not isinstance(kind, MapType):
                    self._problems.error("E235", node.span, f"`{inner.type}` is no map; it has no entries")
                    return None
                key = self._expressions.accesses.key(keys, kind, node.span, self.value_context(inner, ctx))
                return None if key is None else Place(inner.root, (*inner.path, key), kind.value)
            case syntax.Access(base=base, name=name):
                inner = self.place(base, ctx)
                if inner is None:
                    return None
                record = without_optional(inner.type)
                if not isinstance(record, RecordType):
                    self._problems.error(
                        "E235", node.span, f"`{inner.type}` is no record; it has no field `{name.name}`"
                    )
                    return None
                field = record.field(name.name)
                if field is None:
                    self._expressions.accesses.unknown_field(record, name, [label for label, _ in record.fields])
                    return None
                return Place(inner.root, (*inner.path, name.name), field)
            case _:
                self._problems.error("E258", node.span, "nothing can be assigned to this: it is no variable")
                return None

    def value_context(self, place: Place | None, ctx: Context) -> Context:
        """The context of what is assigned to a place: what goes into a ghost may read ghosts."""
        if place is not None and isinstance(place.root, GhostVariable):
            return replace(ctx, ghosts=True)
        return ctx

    def _starts(self, node: syntax.Expression, ctx: Context) -> bool:
        """Whether the node as a whole names a variable."""
        if isinstance(node, syntax.Name):
            return True
        if not isinstance(node, syntax.Access):
            return False
        base = self._expressions.accesses.is_global(node.base, ctx)
        tables = self._world.tables
        if base is not None and (base in tables.stores or base in tables.enums or base in tables.processes):
            return True
        if isinstance(node.base, syntax.Index):
            return self._expressions.accesses.is_global(node.base.base, ctx) in tables.processes
        return False

    def _root(self, node: syntax.Expression, ctx: Context) -> Place | None:
        if isinstance(node, syntax.Name):
            binding = ctx.scope.find(node.name)
            if binding is not None and not binding.assignable:
                self._problems.error("E258", node.span, f"`{node.name}` is fixed; nothing can be assigned to it")
                return None
        root: Expression | None = self._expressions.infer(node, replace(ctx, ghosts=True))
        if root is None:
            return None
        if not isinstance(root, Local | StoreVariable | ProcessVariable | GhostVariable):
            self._problems.error("E258", node.span, f"`{node.span.text}` is no variable; nothing can be assigned to it")
            return None
        return Place(root, (), root.type)
