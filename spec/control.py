"""What follows what in a thread's tree: where control goes after a statement, into a block, and upon a failure; and
which locals are in scope where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import zip_longest

from spec.event import Ending
from spec.source import Span
from spec.typed import (
    Any,
    Atomic,
    Block,
    Either,
    Failure,
    For,
    Fresh,
    Handler,
    If,
    Local,
    Model,
    Process,
    Retry,
    Statement,
    Thread,
    Try,
    While,
)
from spec.value import Value

Locals = Mapping[str, Value]


@dataclass(frozen=True)
class Position:
    """Before `statement`; or, where that is None, at the end of the activation, which ends so (for a caller)."""

    statement: Statement | None
    locals: Locals
    ending: Ending = Ending.OK


def attempts_key(statement: Retry) -> str:
    """The hidden local that counts the further attempts of a `retry`."""
    return f"retry:{statement.id}"


def remaining_key(statement: For) -> str:
    """The hidden local that holds the remaining items of a `for`."""
    return f"for:{statement.id}"


@dataclass(frozen=True)
class _Surroundings:
    """Where a statement stands: the statement that follows it in its block; the statement whose block that is, and
    which of its blocks.  Path: (owner, which block) from the outside in."""

    following: Statement | None
    owner: Statement | None
    block: int
    path: tuple[tuple[int, int], ...]


class Control:
    """The control structure of all threads of a model.

    statements  by id, those inside one-step blocks included
    threads     the process and thread of each statement, by its id
    """

    def __init__(self, model: Model) -> None:
        self.statements: dict[int, Statement] = {}
        self.threads: dict[int, tuple[Process, Thread]] = {}
        self._around: dict[int, _Surroundings] = {}
        self._visible: dict[int, frozenset[str]] = {}
        for process in model.processes:
            for thread in process.threads:
                self._add_thread(process, thread)

    def enter(self, block: Block, owner: Statement, variables: Locals) -> Position:
        """The beginning of a block of `owner`; its end, if it is empty."""
        if block:
            return Position(block[0], variables)
        return self._leave_block(owner, variables)

    def after(self, statement: Statement, variables: Locals) -> Position:
        """Where control stands when `statement` has been done."""
        around = self._around[statement.id]
        if around.following is not None:
            return Position(around.following, variables)
        if around.owner is None:
            return Position(None, variables)
        return self._leave_block(around.owner, variables)

    def on_failure(self, statement: Statement, failure: Failure, variables: Locals) -> Position:
        """Where control goes when `statement` has failed so: the nearest `catch` or `retry` that takes it, or the end
        of the activation, with the ending that a caller sees."""
        variables = dict(variables)
        around = self._around[statement.id]
        while around.owner is not None:
            owner = around.owner
            match owner:
                case Try() if around.block == 0:
                    for handler in owner.handlers:
                        if handler.failures is None or failure in handler.failures:
                            return self.enter(handler.body, owner, variables)
                case Retry():
                    attempts = variables.pop(attempts_key(owner))
                    if isinstance(attempts, int) and attempts > 0:
                        return self.enter(owner.body, owner, {**variables, attempts_key(owner): attempts - 1})
                case For():
                    del variables[remaining_key(owner)]
                case _:
                    pass
            around = self._around[owner.id]
        return Position(None, variables, _ending_for_caller(statement, failure))

    def in_scope(self, statement: Statement, variables: Locals) -> Locals:
        """The locals that are in scope before `statement`."""
        visible = self._visible[statement.id]
        return {key: value for key, value in variables.items() if key in visible}

    def _leave_block(self, owner: Statement, variables: Locals) -> Position:
        match owner:
            case While() | For():
                return Position(owner, variables)
            case Retry():
                key = attempts_key(owner)
                variables = {k: v for k, v in variables.items() if k != key}
            case _:
                pass
        return self.after(owner, variables)

    def _add_thread(self, process: Process, thread: Thread) -> None:
        mentioned: dict[str, tuple[tuple[int, int], ...]] = {p.key: () for p in thread.parameters}

        def mention(key: str, path: tuple[tuple[int, int], ...]) -> None:
            common = 0
            known = mentioned.setdefault(key, path)
            while common < min(len(known), len(path)) and known[common] == path[common]:
                common += 1
            mentioned[key] = path[:common]

        def add(block: Block, owner: Statement | None, number: int, path: tuple[tuple[int, int], ...]) -> None:
            for statement, following in zip_longest(block, block[1:]):
                self.statements[statement.id] = statement
                self.threads[statement.id] = (process, thread)
                self._around[statement.id] = _Surroundings(following, owner, number, path)
                for key in _mentions(statement):
                    mention(key, path)
                for inner, nested in enumerate(blocks_of(statement)):
                    inner_path = (*path, (statement.id, inner))
                    if isinstance(statement, Retry):
                        mention(attempts_key(statement), inner_path)
                    add(nested, statement, inner, inner_path)

        add(thread.body, None, 0, ())
        self._add_scopes(thread, mentioned)

    def _add_scopes(self, thread: Thread, scopes: Mapping[str, tuple[tuple[int, int], ...]]) -> None:
        for statement in statements_in(thread.body):
            path = self._around[statement.id].path
            visible = {key for key, scope in scopes.items() if path[: len(scope)] == scope}
            visible |= {remaining_key(s) for s in self._fors_around(statement)}
            self._visible[statement.id] = frozenset(visible)

    def _fors_around(self, statement: Statement) -> Iterator[For]:
        candidate: Statement | None = statement
        while candidate is not None:
            if isinstance(candidate, For):
                yield candidate
            candidate = self._around[candidate.id].owner


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks of a statement, in source order (of a `try`: the body, then the handlers)."""
    match statement:
        case If():
            return statement.then, statement.otherwise
        case While() | For() | Retry() | Atomic():
            return (statement.body,)
        case Either():
            return statement.branches
        case Try():
            return (statement.body, *(handler.body for handler in statement.handlers))
        case _:
            return ()


def statements_in(block: Block) -> Iterator[Statement]:
    """All statements of a block, nested ones included."""
    for statement in block:
        yield statement
        for nested in blocks_of(statement):
            yield from statements_in(nested)


def _ending_for_caller(statement: Statement, failure: Failure) -> Ending:
    match failure:
        case Failure.FAILED | Failure.DUPLICATE:
            return Ending.FAILED
        case Failure.UNKNOWN:
            return Ending.UNKNOWN
        case Failure.REFUSED:
            return Ending.REFUSED if statement.pristine else Ending.UNKNOWN


def _mentions(node: object) -> Iterator[str]:
    """The keys of the locals that a statement names, without those of the statements in its blocks."""
    match node:
        case Local():
            yield node.key
        case tuple():
            for item in node:
                if not isinstance(item, Statement | Handler):
                    yield from _mentions(item)
        case For() | Any() | Fresh():
            yield node.key
    if hasattr(node, "__dataclass_fields__") and not isinstance(node, Span | Handler):
        for field in fields(node):  # type: ignore[arg-type]
            if field.name not in ("type", "span", "over", "item_type"):
                yield from _mentions(getattr(node, field.name))
