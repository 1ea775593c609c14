"""The order in which constants, types and definitions can be settled, and those that depend on themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from spec import syntax
from spec.checking.problems import Problems
from spec.checking.tables import Tables
from spec.source import Span


def mentioned(node: object) -> Iterator[str]:
    """The names that a parsed expression, type or declaration mentions, in no particular order."""
    stack = [node]
    while stack:
        match stack.pop():
            case Span() | str() | int() | None:
                continue
            case tuple() as parts:
                stack.extend(parts)
            case syntax.Name(name=name) | syntax.NamedType(name=name):
                yield name
            case syntax.DefinitionCall() | syntax.RecordLiteral() as node:
                yield node.name.name
                stack.append(node.arguments if isinstance(node, syntax.DefinitionCall) else node.fields)
            case part if is_dataclass(part):
                stack.extend(getattr(part, field.name) for field in fields(part))


class Dependencies:
    """order: every constant, switch, type and definition, after what it depends on.  cyclic: those that depend on
    themselves, directly or through others; each circle is reported."""

    def __init__(self, tables: Tables, problems: Problems, settings: Mapping[str, syntax.Setting]) -> None:
        """settings: of the chosen variant, by name."""
        self._tables = tables
        self._problems = problems
        self._settings = settings
        self._declared: dict[str, syntax.Declaration] = {
            **tables.enums,
            **tables.constants,
            **tables.switches,
            **tables.ids,
            **tables.processes,
            **tables.aliases,
            **tables.records,
            **tables.definitions,
        }
        self.order: list[str] = []
        self.cyclic: set[str] = set()
        self._sort()

    def _needs(self, name: str) -> list[str]:
        node = self._declared[name]
        parts: tuple[object, ...]
        match node:
            case syntax.Constant() | syntax.Switch():
                parts = (node.type, node.value, self._settings.get(name))
            case syntax.Process():
                parts = (node.count,)
            case syntax.Ids():
                parts = (node.size,)
            case syntax.TypeAlias():
                parts = (node.type,)
            case syntax.Record():
                parts = (node.fields,)
            case syntax.Definition():
                parts = (node.parameters, node.result, node.body)
            case _:
                parts = ()
        found: set[str] = set()
        for mention in mentioned(parts):
            found.add(mention)
            found.update(self._tables.members.get(mention, ()))
        return sorted(found & self._declared.keys())

    def _sort(self) -> None:
        """Depth first, without recursion; an edge to a name that is still open closes a circle."""
        done: set[str] = set()
        for root in self._declared:
            if root in done:
                continue
            path = [root]
            stack = [iter(self._needs(root))]
            while stack:
                following = next(stack[-1], None)
                if following is None:
                    stack.pop()
                    name = path.pop()
                    done.add(name)
                    self.order.append(name)
                elif following in path:
                    self._circle([*path[path.index(following) :], following])
                elif following not in done:
                    path.append(following)
                    stack.append(iter(self._needs(following)))

    def _circle(self, names: list[str]) -> None:
        if self.cyclic.isdisjoint(names):
            node = self._declared[names[0]]
            through = "" if len(names) == 2 else ": " + " -> ".join(names)
            self._problems.error(
                "E210",
                node.name.span,
                f"`{names[0]}` is defined by itself{through}",
                fix="break the circle: constants, types and definitions cannot be recursive",
            )
        self.cyclic.update(names)
