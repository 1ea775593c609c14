"""What an activation may execute next from where it stands, whatever the values are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from spec.control import Control, Position, attempts_key, remaining_key
from spec.typed import Either, Fail, Failure, For, If, Retry, Return, Statement, Thread, Try, While
from spec.value import Value


def next_shared(control: Control, thread: Thread, at: int | None) -> frozenset[int | None]:
    """The ids of the shared statements that may be the next one of an activation that stands before the statement `at`
    (None: at its end); None among them when it may come to its end first.

    Branches are not told apart by their conditions, so it may be more than what some run does."""
    met = _met(control, thread, at)
    return frozenset(place for place in met if place is None or control.statements[place].shared)


def without_sharing(control: Control, thread: Thread, at: int | None) -> frozenset[int]:
    """The ids of all statements that an activation which stands before the statement `at` may come to before it has
    executed a shared one: local ones, and those that `next_shared` gives."""
    return frozenset(place for place in _met(control, thread, at) if place is not None)


def _met(control: Control, thread: Thread, at: int | None) -> set[int | None]:
    """All places that control may come to from `at` on, up to the first shared statement."""
    seen: set[int | None] = set()
    waiting = [at]
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        if here is not None and not control.statements[here].shared:
            waiting += _following(control, thread, control.statements[here])
    return seen


def _following(control: Control, thread: Thread, statement: Statement) -> Iterator[int | None]:
    """Where control may stand after a local statement or choice point."""
    for variables in _counters(control, thread):
        match statement:
            case If(then=then, otherwise=otherwise):
                yield _at(control.enter(then, statement, variables))
                yield _at(control.enter(otherwise, statement, variables))
            case While(body=body) | For(body=body):
                yield _at(control.enter(body, statement, variables))
                yield _at(control.after(statement, variables))
            case Either(branches=branches):
                for branch in branches:
                    yield _at(control.enter(branch, statement, variables))
            case Try(body=body) | Retry(body=body):
                yield _at(control.enter(body, statement, variables))
            case Fail():
                yield _at(control.on_failure(statement, Failure.FAILED, variables))
            case Return():
                yield None
            case _:
                yield _at(control.after(statement, variables))


def _counters(control: Control, thread: Thread) -> Iterator[Mapping[str, Value]]:
    """The hidden locals of a thread's loops, with each `retry` at its last attempt and before it."""
    own = [s for i, s in control.statements.items() if control.threads[i][1].name == thread.name]
    retries = [attempts_key(statement) for statement in own if isinstance(statement, Retry)]
    remaining: dict[str, Value] = {remaining_key(s): frozenset() for s in own if isinstance(s, For)}
    for left in product((0, 1), repeat=len(retries)):
        yield {**remaining, **dict(zip(retries, left, strict=True))}


def _at(position: Position) -> int | None:
    return None if position.statement is None else position.statement.id
