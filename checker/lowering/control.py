"""The control flow of one thread: what follows what, where a failure goes, which locals are still needed.

Works on statement ids.  A position is the id of a statement, or END.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from spec import typed
from spec.typed import Block, Expression, Failure, Place, Statement, Target, Thread, ThreadKind

END: Final = -1
START: Final = -2
"""Before a body whose first statement is a `for` that has not been evaluated yet."""
Position = int


@dataclass(frozen=True)
class Frame:
    """An enclosing `try` (the statement stands in its body) or `retry`."""

    statement: typed.Try | typed.Retry


@dataclass
class ControlFlow:
    """after: where control goes when a statement has ended well; frames: the enclosing frames, innermost first."""

    thread: Thread
    statements: dict[int, Statement] = field(default_factory=dict)
    after: dict[int, Position] = field(default_factory=dict)
    frames: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    live: dict[Position, frozenset[str]] = field(default_factory=dict)
    counters: dict[int, frozenset[str]] = field(default_factory=dict)
    _inner: dict[int, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.entry = self._visit(self.thread.body, END, (), frozenset())
        self.start = START if isinstance(self.statements[self.entry], typed.For) else self.entry
        self._solve_liveness()

    def _visit(
        self, block: Block, following: Position, frames: tuple[Frame, ...], counters: frozenset[str]
    ) -> Position:
        """`counters` are the hidden locals of the enclosing `for` and `retry` statements."""
        position = following
        for statement in reversed(block):
            self.statements[statement.id] = statement
            self.after[statement.id] = position
            self.frames[statement.id] = frames
            self.counters[statement.id] = counters
            match statement:
                case typed.If():
                    self._visit(statement.then, position, frames, counters)
                    self._visit(statement.otherwise, position, frames, counters)
                case typed.While():
                    self._visit(statement.body, statement.id, frames, counters)
                case typed.For():
                    inside = counters | {remaining_key(statement)}
                    self.counters[statement.id] = inside
                    self._visit(statement.body, statement.id, frames, inside)
                case typed.Either():
                    for branch in statement.branches:
                        self._visit(branch, position, frames, counters)
                case typed.Try():
                    self._visit(statement.body, position, (Frame(statement), *frames), counters)
                    for handler in statement.handlers:
                        self._visit(handler.body, position, frames, counters)
                case typed.Retry():
                    inside = counters | {attempts_key(statement)}
                    self._visit(statement.body, position, (Frame(statement), *frames), inside)
                case _:
                    pass
            position = statement.id
        return position

    def first(self, block: Block, following: Position) -> Position:
        return block[0].id if block else following

    def handler(self, frame: typed.Try, failure: Failure) -> Position | None:
        """Where the first matching handler begins; None if none matches."""
        for handler in frame.handlers:
            if handler.failures is None or failure in handler.failures:
                return self.first(handler.body, self.after[frame.id])
        return None

    def is_called_reply(self, statement: Statement) -> bool:
        return isinstance(statement, typed.Return) and self.thread.called

    def stops(self) -> list[int]:
        """All statements before which an activation may stand between two steps, in source order."""
        found = [
            s.id
            for s in self.statements.values()
            if s.id == self.entry
            or isinstance(s, typed.Either | typed.For | typed.Await)
            or self.is_called_reply(s)
            or (s.shared and not isinstance(s, typed.Return))
        ]
        return sorted(found)

    def successors(self, statement: Statement) -> set[Position]:
        """Every position that may follow the statement, failures included."""
        following = self.after[statement.id]
        match statement:
            case typed.If():
                found = {self.first(statement.then, following), self.first(statement.otherwise, following)}
            case typed.While() | typed.For():
                found = {self.first(statement.body, statement.id), following}
            case typed.Either():
                found = {self.first(branch, following) for branch in statement.branches}
            case typed.Try() | typed.Retry():
                found = {self.first(statement.body, following)}
            case typed.Return():
                found = {END}
            case typed.Fail():
                found = set()
            case _:
                found = {following}
        if statement.shared or isinstance(statement, typed.Fail):
            for frame in self.frames[statement.id]:
                inner = frame.statement
                if isinstance(inner, typed.Retry):
                    found.add(self.first(inner.body, self.after[inner.id]))
                else:
                    for handler in inner.handlers:
                        found.add(self.first(handler.body, self.after[inner.id]))
        return found

    def _solve_liveness(self) -> None:
        """Backward data flow to the least fixed point (Kildall 1973)."""
        self._inner = self._declared_inside_blocks()
        uses = {s.id: frozenset(self._uses(s)) for s in self.statements.values()}
        kills = {s.id: frozenset(self._kills(s)) for s in self.statements.values()}
        live: dict[Position, frozenset[str]] = {END: frozenset()}
        live.update({number: uses[number] for number in self.statements})
        changed = True
        while changed:
            changed = False
            for number in sorted(self.statements, reverse=True):
                out: set[str] = set()
                for position in self.successors(self.statements[number]):
                    out |= live[position]
                new = uses[number] | (out - kills[number])
                if new != live[number]:
                    live[number] = new
                    changed = True
        known = {local.key for local in self.thread.locals}
        for number in self.statements:
            live[number] &= known | self.counters[number]
        live[START] = live[self.entry] & known
        self.live = live

    def live_during(self, position: int) -> frozenset[str]:
        """The locals that are needed while the call at `position` waits for its reply."""
        statement = self.statements[position]
        out: set[str] = set()
        for following in self.successors(statement):
            out |= self.live[following]
        for frame in self.frames[position]:
            if isinstance(frame.statement, typed.Retry):
                out.add(attempts_key(frame.statement))
        out -= set(targets_of(statement)) if not self.frames[position] else set()
        for expression in _place_expressions(_places(statement.target)) if isinstance(statement, typed.Call) else ():
            out |= locals_in(expression)
        return frozenset(out & ({local.key for local in self.thread.locals} | self.counters[position]))

    def _declared_inside_blocks(self) -> dict[int, frozenset[str]]:
        """For each one-step block the locals that no statement outside it names: they live within its step."""
        named: dict[str, set[int]] = {parameter.key: {END} for parameter in self.thread.parameters}
        for statement in self.statements.values():
            for key in _names_in(statement):
                named.setdefault(key, set()).add(statement.id)
        inner: dict[int, set[str]] = {}
        for key, sites in named.items():
            if len(sites) == 1:
                inner.setdefault(next(iter(sites)), set()).add(key)
        return {number: frozenset(keys) for number, keys in inner.items()}

    def _uses(self, statement: Statement) -> set[str]:
        names = set()
        for expression in expressions_of(statement):
            names |= locals_in(expression)
        if isinstance(statement, typed.Atomic):
            names -= self._inner.get(statement.id, frozenset())
        if isinstance(statement, typed.Any):
            names.discard(statement.key)
        if isinstance(statement, typed.For):
            names.add(remaining_key(statement))
        for frame in self.frames[statement.id]:
            if isinstance(frame.statement, typed.Retry) and (statement.shared or isinstance(statement, typed.Fail)):
                names.add(attempts_key(frame.statement))
        return names

    def _kills(self, statement: Statement) -> set[str]:
        """Locals that the statement surely overwrites when it ends well.  A shared statement that fails does not
        assign its target, so a target inside a `try` or `retry` is not taken as overwritten."""
        if isinstance(statement, typed.Retry):
            return {attempts_key(statement)}
        if isinstance(statement, typed.Atomic) or (statement.shared and self.frames[statement.id]):
            return set()
        return set(targets_of(statement))


def attempts_key(statement: typed.Retry) -> str:
    return f"retry:{statement.id}"


def remaining_key(statement: typed.For) -> str:
    return f"for:{statement.id}"


def _names_in(statement: Statement) -> set[str]:
    """Keys of the locals that the statement reads or assigns; for one-step blocks, all of its body."""
    names = set(targets_of(statement))
    for expression in expressions_of(statement):
        names |= locals_in(expression)
    if isinstance(statement, typed.Atomic):
        for inner in all_statements(statement.body):
            names.update(targets_of(inner))
    return names


def _places(target: Target) -> Iterator[Place]:
    if isinstance(target, Place):
        yield target
    elif target is not None:
        yield from target


def targets_of(statement: Statement) -> Iterator[str]:
    """Keys of the locals that the statement assigns as a whole."""
    match statement:
        case typed.Assign() | typed.Update() | typed.QueueOperation() | typed.LockOperation() | typed.Call():
            for place in _places(statement.target):
                if isinstance(place.root, typed.Local) and not place.path:
                    yield place.root.key
        case typed.Any() | typed.Fresh() | typed.For():
            yield statement.key
        case _:
            pass


def _place_expressions(places: Iterator[Place]) -> Iterator[Expression]:
    for place in places:
        for step in place.path:
            if not isinstance(step, str):
                yield step
        if isinstance(place.root, typed.Local) and place.path:
            yield place.root


def expressions_of(statement: Statement) -> Iterator[Expression]:
    """The expressions that the statement itself evaluates; for one-step blocks, those of its whole body."""
    match statement:
        case typed.Assign():
            yield statement.value
            yield from _place_expressions(_places(statement.target))
        case typed.Insert():
            yield statement.value
            yield from _place_expressions(iter((statement.place,)))
        case typed.Update():
            yield statement.condition
            yield statement.value
            yield from _place_expressions(iter((statement.place,)))
            yield from _place_expressions(_places(statement.target))
        case typed.QueueOperation():
            if statement.item is not None:
                yield statement.item
            yield from _place_expressions(_places(statement.target))
        case typed.LockOperation():
            if statement.key is not None:
                yield statement.key
            yield from _place_expressions(_places(statement.target))
        case typed.If() | typed.While() | typed.Await() | typed.Assert() | typed.Any():
            yield statement.condition
        case typed.For():
            yield statement.items
        case typed.Return():
            if statement.value is not None:
                yield statement.value
        case typed.Call():
            yield from statement.arguments
            if statement.instance is not None:
                yield statement.instance
            yield from _place_expressions(_places(statement.target))
        case typed.Atomic():
            for inner in all_statements(statement.body):
                yield from expressions_of(inner)
        case _:
            pass


def all_statements(block: Sequence[Statement]) -> Iterator[Statement]:
    """Every statement of a block, nested ones included."""
    for statement in block:
        yield statement
        match statement:
            case typed.If():
                yield from all_statements(statement.then)
                yield from all_statements(statement.otherwise)
            case typed.Either():
                for branch in statement.branches:
                    yield from all_statements(branch)
            case typed.Try():
                yield from all_statements(statement.body)
                for handler in statement.handlers:
                    yield from all_statements(handler.body)
            case typed.While() | typed.For() | typed.Retry() | typed.Atomic():
                yield from all_statements(statement.body)
            case _:
                pass


def locals_in(expression: Expression) -> set[str]:
    found: set[str] = set()
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, typed.Local):
            found.add(node.key)
        stack.extend(children(node))
    return found


def children(node: Expression) -> tuple[Expression, ...]:
    """The direct subexpressions."""
    match node:
        case typed.Index():
            return (node.base, node.key)
        case (
            typed.FieldAccess()
            | typed.Item()
            | typed.Unwrap()
            | typed.IsSome()
            | typed.Not()
            | typed.Negative()
            | typed.Coerce()
            | typed.Next()
        ):
            return (node.base,)
        case typed.Binary():
            return (node.left, node.right)
        case typed.Conditional():
            return (node.condition, node.then, node.otherwise)
        case typed.Quantifier():
            return (node.body,)
        case typed.SetOf() | typed.TupleOf():
            return node.items
        case typed.RecordOf():
            return tuple(value for _, value in node.fields)
        case typed.QueueQuery():
            return () if node.item is None else (node.item,)
        case typed.LockQuery():
            return () if node.key is None else (node.key,)
        case typed.ProcessVariable():
            return () if node.instance is None else (node.instance,)
        case _:
            return ()


__all__ = ["END", "ControlFlow", "Frame", "Position", "ThreadKind"]
