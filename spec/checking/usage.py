"""Who reads and writes what, and warnings about what nobody uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spec.checking.flow import statements, written_places
from spec.checking.threads import CheckedThreads
from spec.checking.trees import Reads, reads
from spec.checking.world import World
from spec.source import Span
from spec.typed import (
    Any,
    Assert,
    Assign,
    Await,
    Call,
    Expression,
    For,
    GhostVariable,
    If,
    Insert,
    LockOperation,
    LockVerb,
    Place,
    ProcessVariable,
    QueueOperation,
    QueueVerb,
    Return,
    Statement,
    StoreVariable,
    Thread,
    ThreadKind,
    Update,
    While,
)

Variable = tuple[str, str]
"""(store or process, name), or ("", ghost)."""


def expressions(statement: Statement) -> Iterator[Expression]:
    """The expressions that executing the statement itself (not its blocks) evaluates, keys of places included."""
    match statement:
        case Assign(value=value) | Insert(value=value):
            yield value
        case Update(condition=condition, value=value):
            yield from (condition, value)
        case QueueOperation(item=part) | LockOperation(key=part) | Return(value=part):
            if part is not None:
                yield part
        case If(condition=condition) | While(condition=condition) | Await(condition=condition):
            yield condition
        case Assert(condition=condition) | Any(condition=condition):
            yield condition
        case For(items=items):
            yield items
        case Call(instance=instance, arguments=arguments):
            if instance is not None:
                yield instance
            yield from arguments
    for place in written_places(statement):
        yield from (step for step in place.path if not isinstance(step, str))


def _variable(place: Place) -> Variable | None:
    match place.root:
        case StoreVariable(store=owner, name=name) | ProcessVariable(process=owner, name=name):
            return owner, name
        case GhostVariable(name=name):
            return "", name
        case _:
            return None


def written(threads: Iterable[Thread]) -> set[Variable]:
    """The variables, queues and locks that the threads change."""
    found: set[Variable] = set()
    for thread in threads:
        for statement in statements(thread.body):
            found |= {variable for place in written_places(statement) if (variable := _variable(place)) is not None}
            match statement:
                case QueueOperation(store=store, queue=name) | LockOperation(store=store, lock=name):
                    found.add((store, name))
    return found


def _read_by(threads: Iterable[Thread]) -> set[Variable]:
    found: set[Variable] = set()
    for thread in threads:
        for statement in statements(thread.body):
            found |= reads(*expressions(statement)).variables
            match statement:
                case Insert(place=place):
                    variable = _variable(place)
                    if variable is not None:
                        found.add(variable)
                case QueueOperation(store=store, queue=name, verb=QueueVerb.TAKE | QueueVerb.POP):
                    found.add((store, name))
                case LockOperation(store=store, lock=name, verb=LockVerb.ACQUIRE | LockVerb.AWAIT):
                    found.add((store, name))
    return found


class Usage:
    """Warnings about a model without errors."""

    def __init__(self, world: World, threads: CheckedThreads, properties: Reads) -> None:
        self._world = world
        self._problems = world.problems
        self._threads = threads
        self._properties = properties

    def warn(self) -> None:
        """Records the warnings."""
        self._variables()
        self._declarations()
        self._locals()
        self._startable()

    def _variables(self) -> None:
        tables, everything = self._world.tables, self._threads.everything.values()
        read = _read_by(everything) | self._properties.variables
        changed = written(everything)
        declared = [
            *((s, m.name) for s, node in tables.stores.items() for m in node.members),
            *((p, v.name) for p, process in tables.processes.items() for v in process.variables),
            *(("", ghost.name) for ghost in tables.ghosts.values()),
        ]
        for owner, name in declared:
            variable = (owner, name.name)
            full = f"{owner}.{name.name}" if owner else name.name
            if variable not in read and variable not in changed:
                self._problems.warning("W203", name.span, f"`{full}` is never used")
            elif variable not in read:
                self._problems.warning("W203", name.span, f"`{full}` is never read")
            elif variable not in changed:
                self._problems.warning("W204", name.span, f"`{full}` is never written: it keeps its initial value")

    def _declarations(self) -> None:
        tables, used = self._world.tables, self._world.used
        for kind, declared in (
            ("ids type", tables.ids),
            ("type", tables.aliases),
            ("record", tables.records),
            ("definition", tables.definitions),
            ("constant", tables.constants),
            ("switch", tables.switches),
        ):
            for name, node in declared.items():
                if name not in used and self._in_main(node.name.span.source.name):
                    self._problems.warning("W205", node.name.span, f"the {kind} `{name}` is never used")
        for name, enum in tables.enums.items():
            if name not in used and self._in_main(enum.name.span.source.name):
                self._problems.warning("W205", enum.name.span, f"the enum `{name}` is never used")

    def _in_main(self, source: str) -> bool:
        """Libraries declare more than each model uses."""
        return source == self._world.module.source.name

    def _locals(self) -> None:
        for (process, name), thread in self._threads.everything.items():
            read: set[str] = set()
            for statement in statements(thread.body):
                read |= reads(*expressions(statement)).locals
            loops = {statement.key for statement in statements(thread.body) if isinstance(statement, For)}
            exempt = {parameter.key for parameter in thread.parameters} | read | loops
            for local in thread.locals:
                if local.key not in exempt and not local.name.startswith(("_", "answer:")):
                    self._problems.warning(
                        "W206",
                        self._where(thread, local.key),
                        f"the local `{local.name}` of `{process}.{name}` is never used",
                        fix="name it `_`, or drop the `let`",
                    )

    def _where(self, thread: Thread, key: str) -> Span:
        for statement in statements(thread.body):
            if isinstance(statement, Any) and statement.key == key:
                return statement.span
            for place in written_places(statement):
                if getattr(place.root, "key", None) == key:
                    return place.root.span
        return thread.span

    def _startable(self) -> None:
        left_out = self._threads.left_out
        kept = {name: thread for name, thread in self._threads.everything.items() if name not in left_out}
        starts = [name for name, thread in kept.items() if thread.kind is not ThreadKind.ON or not thread.called]
        runs = set(starts)
        while starts:
            for statement in statements(kept[starts.pop()].body):
                if isinstance(statement, Call):
                    target = (statement.process, statement.thread)
                    if target in kept and target not in runs:
                        runs.add(target)
                        starts.append(target)
        for name, thread in kept.items():
            if name not in runs:
                self._problems.warning(
                    "W207", thread.span, f"`{name[0]}.{name[1]}` never starts: nothing that runs calls it"
                )
        for process, node in self._world.tables.processes.items():
            if not node.threads:
                self._problems.warning("W207", node.head, f"the process `{process}` has no threads")
