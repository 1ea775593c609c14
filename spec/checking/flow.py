"""Where control goes in a thread's body: what ends it, what may fail, and before what nothing has had an effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from spec.checking.trees import reads
from spec.typed import (
    Any,
    Assign,
    Atomic,
    Await,
    Block,
    Call,
    Either,
    Expression,
    Fail,
    Failure,
    For,
    Fresh,
    Handler,
    If,
    Insert,
    Literal,
    LockOperation,
    LockVerb,
    Place,
    ProcessVariable,
    QueueOperation,
    QueueVerb,
    Retry,
    Return,
    Statement,
    StoreVariable,
    Try,
    Update,
    While,
)


def blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside a statement, in source order."""
    match statement:
        case If(then=then, otherwise=otherwise):
            return (then, otherwise)
        case While(body=body) | For(body=body) | Retry(body=body) | Atomic(body=body):
            return (body,)
        case Either(branches=branches):
            return branches
        case Try(body=body, handlers=handlers):
            return (body, *(handler.body for handler in handlers))
        case _:
            return ()


def statements(block: Block) -> Iterator[Statement]:
    """All statements of a block, nested ones after the one that holds them."""
    for statement in block:
        yield statement
        for inner in blocks(statement):
            yield from statements(inner)


def written_literal(condition: Expression, value: bool) -> bool:
    """Whether the condition is the word `true` (or `false`) in the source, not a constant or switch that has it."""
    return (
        isinstance(condition, Literal)
        and condition.value is value
        and condition.span.text.strip(" ()") == str(value).lower()
    )


def ends(statement: Statement) -> bool:
    """Whether control never goes on behind the statement, whatever happens in it (failures aside)."""
    match statement:
        case Return() | Fail():
            return True
        case If(condition=condition, then=then, otherwise=otherwise):
            if written_literal(condition, True):
                return block_ends(then)
            if written_literal(condition, False):
                return block_ends(otherwise)
            return block_ends(then) and block_ends(otherwise)
        case While(condition=condition):
            return written_literal(condition, True)
        case Either(branches=branches):
            return all(map(block_ends, branches))
        case Try(body=body, handlers=handlers):
            return block_ends(body) and all(block_ends(handler.body) for handler in handlers)
        case Retry(body=body) | Atomic(body=body):
            return block_ends(body)
        case _:
            return False


def waits(statement: Statement) -> bool:
    """Whether the statement may have to wait; of blocks only those that are one step."""
    match statement:
        case QueueOperation(verb=verb):
            return verb in (QueueVerb.TAKE, QueueVerb.POP)
        case LockOperation(verb=how):
            return how is LockVerb.AWAIT
        case Any() | Fresh() | Await() | Call():
            return True
        case Atomic(body=body):
            return any(map(waits, statements(body)))
        case _:
            return False


def block_ends(block: Block) -> bool:
    """Whether control never comes to the end of the block."""
    return any(map(ends, block))


def _written(target: Place | tuple[Place, ...] | None) -> tuple[Place, ...]:
    if target is None:
        return ()
    return target if isinstance(target, tuple) else (target,)


def written_places(statement: Statement) -> tuple[Place, ...]:
    """The places that executing the statement itself (not its blocks) writes."""
    match statement:
        case Assign(target=target):
            return _written(target)
        case Insert(place=place):
            return (place,)
        case Update(place=place, target=target):
            return (place, *_written(target))
        case QueueOperation(target=target) | LockOperation(target=target) | Call(target=target):
            return _written(target)
        case _:
            return ()


def has_effect(statement: Statement) -> bool:
    """Whether executing the statement (with the blocks of an atomic one) may have an effect on a store, a process
    variable or another thread: it writes, takes, locks or calls.  Ghosts do not count."""
    match statement:
        case QueueOperation() | LockOperation() | Call():
            return True
        case Atomic(body=body):
            return any(map(has_effect, statements(body)))
        case _:
            return any(isinstance(place.root, StoreVariable | ProcessVariable) for place in written_places(statement))


def failures(statement: Statement) -> frozenset[Failure]:
    """The ways in which executing the statement itself (with the blocks of an atomic one) can fail, if every fault
    class were declared."""
    found: set[Failure] = set()
    if statement.stores:
        found |= {Failure.REFUSED, Failure.UNKNOWN}
    match statement:
        case Insert():
            found.add(Failure.DUPLICATE)
        case Fail():
            found.add(Failure.FAILED)
        case Call(send=send):
            found |= {Failure.REFUSED} if send else {Failure.REFUSED, Failure.UNKNOWN, Failure.FAILED}
        case Atomic(body=body):
            for inner in statements(body):
                found |= failures(inner)
    return frozenset(found)


def uncaught(block: Block) -> frozenset[Failure]:
    """The failures that can leave the block."""
    found: set[Failure] = set()
    for statement in block:
        found |= failures(statement)
        if isinstance(statement, Try):
            left = uncaught(statement.body)
            for handler in statement.handlers:
                left = frozenset() if handler.failures is None else left - handler.failures
                found |= uncaught(handler.body)
            found |= left
        elif not isinstance(statement, Atomic):
            for inner in blocks(statement):
                found |= uncaught(inner)
    return frozenset(found)


class _Pristine:
    """Rewrites a body so that `Statement.pristine` is right.

    An abstract interpretation over one bit: whether nothing before can have had an effect, on every path.  `_failing`
    collects that bit for the failures that the innermost `try` or `retry` would see.
    """

    def __init__(self) -> None:
        self._failing = True

    def block(self, block: Block, entry: bool) -> tuple[Block, bool]:
        done: list[Statement] = []
        for statement in block:
            rewritten, entry = self._statement(statement, entry)
            done.append(rewritten)
        return tuple(done), entry

    def _statement(self, statement: Statement, entry: bool) -> tuple[Statement, bool]:
        marked = replace(statement, pristine=entry)
        after = entry and not has_effect(statement)
        if failures(statement):
            self._failing = self._failing and after
        match marked:
            case Return() | Fail():
                return marked, True
            case Atomic(body=body):
                return replace(marked, body=_mark_all(body, entry)), after or block_ends(body)
            case If(then=then, otherwise=otherwise):
                then, first = self.block(then, after)
                otherwise, second = self.block(otherwise, after)
                return replace(marked, then=then, otherwise=otherwise), first and second
            case Either(branches=branches):
                outcomes = [self.block(branch, after) for branch in branches]
                return replace(marked, branches=tuple(b for b, _ in outcomes)), all(bit for _, bit in outcomes)
            case While(body=body) | For(body=body):
                loop, bit = self._loop(body, after)
                return replace(marked, body=loop, pristine=entry and bit), bit
            case Retry(body=body):
                outer, self._failing = self._failing, True
                _, _ = self.block(body, after)
                again = after and self._failing
                self._failing = outer
                body, bit = self.block(body, again)
                return replace(marked, body=body), bit
            case Try(body=body, handlers=handlers):
                outer, self._failing = self._failing, True
                body, bit = self.block(body, after)
                caught = after and self._failing
                escaping = uncaught(body)
                for handler in handlers:
                    escaping = frozenset() if handler.failures is None else escaping - handler.failures
                self._failing = outer and (caught or not escaping)
                rewritten: list[Handler] = []
                for handler in handlers:
                    inner, inner_bit = self.block(handler.body, caught)
                    rewritten.append(replace(handler, body=inner))
                    bit = bit and inner_bit
                return replace(marked, body=body, handlers=tuple(rewritten)), bit
            case _:
                return marked, after

    def _loop(self, body: Block, entry: bool) -> tuple[Block, bool]:
        before = self._failing
        rewritten, bit = self.block(body, entry)
        if bit or not entry:
            return rewritten, entry and bit
        self._failing = before
        rewritten, _ = self.block(body, False)
        return rewritten, False


def _mark_all(block: Block, bit: bool) -> Block:
    marked: list[Statement] = []
    for statement in block:
        match replace(statement, pristine=bit):
            case If(then=then, otherwise=otherwise) as inner:
                marked.append(replace(inner, then=_mark_all(then, bit), otherwise=_mark_all(otherwise, bit)))
            case Either(branches=branches) as inner:
                marked.append(replace(inner, branches=tuple(_mark_all(branch, bit) for branch in branches)))
            case Atomic(body=body) as inner:
                marked.append(replace(inner, body=_mark_all(body, bit)))
            case other:
                marked.append(other)
    return tuple(marked)


def mark_pristine(body: Block) -> Block:
    """The body of a thread with `pristine` set on every statement."""
    return _Pristine().block(body, True)[0]


def reads_shared(*nodes: Expression | None) -> bool:
    """Whether one of the expressions reads a store, a process variable or a ghost."""
    return reads(*nodes).shared
