"""The declarations of a module by name, and the rule that names are unique."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spec import syntax
from spec.checking.problems import Problems
from spec.diagnostic import Note
from spec.typed import ThreadKind

_RESERVED = re.compile(r"model_errors|stuck_threads|assert_\d+")


class Tables:
    """Declarations by kind and name; of two with one name the first counts."""

    def __init__(self, module: syntax.Module, problems: Problems) -> None:
        self.module = module
        self.constants: dict[str, syntax.Constant] = {}
        self.switches: dict[str, syntax.Switch] = {}
        self.enums: dict[str, syntax.Enumeration] = {}
        self.ids: dict[str, syntax.Ids] = {}
        self.aliases: dict[str, syntax.TypeAlias] = {}
        self.records: dict[str, syntax.Record] = {}
        self.definitions: dict[str, syntax.Definition] = {}
        self.stores: dict[str, syntax.Store] = {}
        self.processes: dict[str, syntax.Process] = {}
        self.ghosts: dict[str, syntax.Ghost] = {}
        self.properties: dict[str, syntax.Property] = {}
        self.scenarios: dict[str, syntax.Scenario] = {}
        self.variants: dict[str, syntax.Variant] = {}
        self.faults: list[syntax.Fault] = []
        self.expectations: list[syntax.Expectation] = []
        self.members: dict[str, list[str]] = {}
        """Enum member -> the enums that have it."""
        self._problems = problems
        self._names: dict[str, syntax.Identifier] = {}
        for item in module.items:
            self._add(item)
        self._add_members()
        self.called = frozenset(
            (request.process.name, request.thread.name)
            for process in self.processes.values()
            for thread in process.threads
            for request in _requests(thread.body)
        )
        """(process, thread) that some `call` or `send` names, in any variant."""

    def _add(self, item: syntax.Item) -> None:
        match item:
            case syntax.Faults(faults=faults):
                self.faults.extend(faults)
                return
            case syntax.Expectation():
                self.expectations.append(item)
                return
        if isinstance(item, syntax.Property) and _RESERVED.fullmatch(item.name.name):
            self._problems.error(
                "E287",
                item.name.span,
                f"`{item.name.name}` is the name of a property that every model has",
                fix="choose another name",
            )
        if not self._claim(item.name):
            return
        name = item.name.name
        match item:
            case syntax.Constant():
                self.constants[name] = item
            case syntax.Switch():
                self.switches[name] = item
            case syntax.Enumeration():
                self.enums[name] = item
            case syntax.Ids():
                self.ids[name] = item
            case syntax.TypeAlias():
                self.aliases[name] = item
            case syntax.Record():
                self.records[name] = item
            case syntax.Definition():
                self.definitions[name] = item
            case syntax.Store():
                self.stores[name] = item
            case syntax.Process():
                self.processes[name] = item
            case syntax.Ghost():
                self.ghosts[name] = item
            case syntax.Property():
                self.properties[name] = item
            case syntax.Scenario():
                self.scenarios[name] = item
            case syntax.Variant():
                self.variants[name] = item

    def _claim(self, name: syntax.Identifier) -> bool:
        first = self._names.get(name.name)
        if name.name in ("bool", "int"):
            self._problems.error("E203", name.span, f"`{name.name}` is the name of a type of the language")
            return False
        if first is None:
            self._names[name.name] = name
            return True
        self._problems.error(
            "E203",
            name.span,
            f"`{name.name}` is declared twice",
            notes=(Note("the first declaration is here", first.span),),
            fix="rename one of the two",
        )
        return False

    def _add_members(self) -> None:
        for enum in self.enums.values():
            for member in unique(enum.members, self._problems, "a member"):
                first = self._names.get(member.name)
                if first is not None:
                    self._problems.error(
                        "E203",
                        member.span,
                        f"`{member.name}` is both a member of `{enum.name.name}` and declared by itself",
                        notes=(Note("the other declaration is here", first.span),),
                        fix="rename one of the two",
                    )
                self.members.setdefault(member.name, []).append(enum.name.name)

    def type_names(self) -> list[str]:
        """Everything that may stand where a type is expected."""
        return ["bool", "int", *self.enums, *self.ids, *self.aliases, *self.records, *self.processes]

    def value_names(self) -> list[str]:
        """Everything global that may stand in an expression."""
        members = [
            f"{store.name.name}.{member.name.name}" for store in self.stores.values() for member in store.members
        ]
        return [
            *self.constants,
            *self.switches,
            *self.members,
            *self.ghosts,
            *self.definitions,
            *self.stores,
            *self.processes,
            *members,
        ]

    def declared(self, name: str) -> syntax.Identifier | None:
        """Where a name that expressions can use is declared, or None."""
        if name in self.properties or name in self.scenarios or name in self.variants:
            return None
        if name in self._names:
            return self._names[name]
        if name in self.members:
            enum = self.enums[self.members[name][0]]
            return next(member for member in enum.members if member.name == name)
        return None


def unique(names: tuple[syntax.Identifier, ...], problems: Problems, what: str) -> Iterator[syntax.Identifier]:
    """The names without repetitions; each repetition is reported."""
    seen: dict[str, syntax.Identifier] = {}
    for name in names:
        if name.name in seen:
            problems.error(
                "E203",
                name.span,
                f"`{name.name}` is declared twice: it is {what} already",
                notes=(Note("the first is here", seen[name.name].span),),
                fix="rename or remove one of the two",
            )
            continue
        seen[name.name] = name
        yield name


def _requests(block: syntax.Block) -> Iterator[syntax.Request]:
    for statement in block:
        match statement:
            case (
                syntax.Let(value=syntax.Request() as request)
                | syntax.Assign(value=syntax.Request() as request)
                | syntax.Perform(operation=syntax.Request() as request)
            ):
                yield request
        for inner in inner_blocks(statement):
            yield from _requests(inner)


def inner_blocks(statement: syntax.Statement) -> tuple[syntax.Block, ...]:
    """The blocks inside a parsed statement."""
    match statement:
        case syntax.If(branches=branches, otherwise=otherwise):
            return (*(branch.body for branch in branches), otherwise or ())
        case syntax.Either(branches=alternatives):
            return alternatives
        case syntax.Try(body=body, handlers=handlers):
            return (body, *(handler.body for handler in handlers))
        case (
            syntax.While(body=body)
            | syntax.For(body=body)
            | syntax.Retry(body=body)
            | syntax.Transaction(body=body)
            | syntax.Atomic(body=body)
        ):
            return (body,)
        case _:
            return ()


def is_handler(thread: syntax.Thread) -> bool:
    """Whether requests start the thread."""
    return thread.kind is ThreadKind.ON
