"""What one statement does at once: its effect on the state and on the thread's locals.

Control (what comes next) is elsewhere: `spec.control`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from spec.control import statements_in
from spec.evaluation import EvaluationError, Scope, evaluate
from spec.event import Slot
from spec.holdings import drop, give, hand, holder_of, own, push, removable, takeable
from spec.places import assign, deliver, read
from spec.state import ErrorKind, GlobalState, Loose, ModelError, QueueState
from spec.typed import (
    Any,
    Assert,
    Assign,
    Atomic,
    Await,
    Block,
    Either,
    Fail,
    Failure,
    Fresh,
    If,
    Insert,
    Lock,
    LockOperation,
    LockVerb,
    Model,
    Place,
    Queue,
    QueueOperation,
    QueueVerb,
    Return,
    Statement,
    StoreVariable,
    Target,
    Update,
)
from spec.value import Id, Value, domain


@dataclass(frozen=True)
class Done:
    """The statement took effect.  returned: it was, or contained, a `return`."""

    state: GlobalState
    locals: Mapping[str, Value]
    returned: bool = False


@dataclass(frozen=True)
class Failed:
    """The statement failed; nothing of it has happened."""

    failure: Failure


@dataclass(frozen=True)
class Erred:
    """The statement came to a model error."""

    error: ModelError


Outcome = Done | Failed | Erred


class Effects:
    """The effects of the statements of one model."""

    def __init__(self, model: Model) -> None:
        self.queues: dict[tuple[str, str], Queue] = {(s.name, q.name): q for s in model.stores for q in s.queues}
        self.locks: dict[tuple[str, str], Lock] = {(s.name, k.name): k for s in model.stores for k in s.locks}

    def outcomes(
        self, statement: Statement, state: GlobalState, slot: Slot, variables: Mapping[str, Value]
    ) -> list[Outcome]:
        """Everything that executing `statement` can lead to; nothing when it has to wait."""
        scope = Scope(state, variables, Id(slot.process, slot.instance, True))
        try:
            return self._outcomes(statement, scope, slot)
        except EvaluationError as error:
            return [Erred(ModelError(error.kind, statement.id))]

    def block(self, statements: Block, state: GlobalState, slot: Slot, variables: Mapping[str, Value]) -> list[Outcome]:
        """Everything that executing a whole block in one step can lead to; nothing when all choices wait."""
        pending = [Done(state, variables)]
        over: list[Outcome] = []
        for statement in statements:
            further: list[Done] = []
            for done in pending:
                for outcome in self.outcomes(statement, done.state, slot, done.locals):
                    if isinstance(outcome, Done) and not outcome.returned:
                        further.append(outcome)
                    else:
                        over.append(outcome)
            pending = further
        return [*pending, *over]

    def _outcomes(self, statement: Statement, scope: Scope, slot: Slot) -> list[Outcome]:
        state, variables = scope.state, scope.locals
        match statement:
            case Assign():
                return [Done(*deliver(statement.target, evaluate(statement.value, scope), scope))]
            case Insert():
                value = evaluate(statement.value, scope)
                if read(statement.place, scope) is not None:
                    return [Failed(Failure.DUPLICATE)]
                return [Done(*assign(statement.place, value, scope))]
            case Update():
                holds = bool(evaluate(statement.condition, scope))
                if holds:
                    state, variables = assign(statement.place, evaluate(statement.value, scope), scope)
                return [Done(*deliver(statement.target, holds, Scope(state, variables, scope.instance)))]
            case QueueOperation():
                return self._queue_operation(statement, scope, slot)
            case LockOperation():
                return self._lock_operation(statement, scope, slot)
            case Any():
                return self._any(statement, scope)
            case Fresh():
                used = state.used[statement.over.name]
                return [
                    Done(
                        replace(state, used={**state.used, statement.over.name: used | {index}}),
                        {**variables, statement.key: Id(statement.over.name, index, statement.over.of_process)},
                    )
                    for index in range(statement.over.size)
                    if index not in used
                ]
            case Await():
                return [Done(state, variables)] if evaluate(statement.condition, scope) else []
            case Assert():
                if not evaluate(statement.condition, scope):
                    raise EvaluationError(ErrorKind.ASSERTION)
                return [Done(state, variables)]
            case Fail():
                return [Failed(Failure.FAILED)]
            case Return():
                # Nobody waits for the value, so it is not evaluated; a reply is made elsewhere.
                return [Done(state, variables, returned=True)]
            case If():
                branch = statement.then if evaluate(statement.condition, scope) else statement.otherwise
                return self.block(branch, state, slot, variables)
            case Either():
                return [o for branch in statement.branches for o in self.block(branch, state, slot, variables)]
            case Atomic():
                return self.block(statement.body, state, slot, variables)
            case _:
                raise TypeError(f"{type(statement).__name__} is not done at once")

    def _any(self, statement: Any, scope: Scope) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for value in domain(statement.over):
            chosen = {**scope.locals, statement.key: value}
            try:
                if evaluate(statement.condition, Scope(scope.state, chosen, scope.instance)):
                    outcomes.append(Done(scope.state, chosen))
            except EvaluationError as error:
                outcomes.append(Erred(ModelError(error.kind, statement.id)))
        return outcomes

    def _queue_operation(self, statement: QueueOperation, scope: Scope, slot: Slot) -> list[Outcome]:
        state = scope.state
        name = (statement.store, statement.queue)
        queue, held = self.queues[name], state.queues[name]
        item = None if statement.item is None else evaluate(statement.item, scope)

        def with_queue(after: QueueState) -> GlobalState:
            return state if after == held else replace(state, queues={**state.queues, name: after})

        match statement.verb:
            case QueueVerb.TAKE | QueueVerb.POP:
                outcomes: list[Outcome] = []
                for position in takeable(queue, held):
                    taken = held.entries[position][0]
                    if statement.verb is QueueVerb.TAKE:
                        after = with_queue(hand(queue, held, position, slot))
                    else:
                        after = with_queue(drop(queue, held, position))
                    outcomes.append(_answer(statement, statement.target, taken, after, scope))
                return outcomes
            case QueueVerb.PUSH:
                after = with_queue(push(queue, held, item))
            case QueueVerb.ACK:
                mine = own(held, item, slot)
                after = state if mine is None else with_queue(drop(queue, held, mine))
            case QueueVerb.NACK:
                mine = own(held, item, slot)
                after = state if mine is None else with_queue(hand(queue, held, mine, Loose.VISIBLE))
            case QueueVerb.REMOVE:
                found = removable(queue, held, item, slot)
                after = state if found is None else with_queue(drop(queue, held, found))
        return [Done(after, scope.locals)]

    def _lock_operation(self, statement: LockOperation, scope: Scope, slot: Slot) -> list[Outcome]:
        state = scope.state
        name = (statement.store, statement.lock)
        lock, held = self.locks[name], state.locks[name]
        key = None if statement.key is None else evaluate(statement.key, scope)
        holder = holder_of(held, key)
        if statement.verb is LockVerb.RELEASE:
            if holder == slot:
                state = replace(state, locks={**state.locks, name: give(lock, held, key, Loose.FREE)[0]})
            return [Done(state, scope.locals)]
        if holder is Loose.FREE:
            after, token = give(lock, held, key, slot)
            state = replace(state, locks={**state.locks, name: after})
            answer: Value = True if lock.fencing is None else token
        elif statement.verb is LockVerb.AWAIT:
            return []
        else:
            answer = False if lock.fencing is None else None
        return [_answer(statement, statement.target, answer, state, scope)]


def _answer(statement: Statement, target: Target, value: Value, state: GlobalState, scope: Scope) -> Outcome:
    try:
        return Done(*deliver(target, value, Scope(state, scope.locals, scope.instance)))
    except EvaluationError as error:
        return Erred(ModelError(error.kind, statement.id))


def written_stores(statement: Statement) -> frozenset[str]:
    """The stores to which executing the statement may write: by assignment, insert or update, or by any operation on a
    queue or lock.  A one-step block may do what any statement in it may."""
    if isinstance(statement, Atomic):
        return frozenset().union(*map(_written_directly, statements_in(statement.body)))
    return _written_directly(statement)


def _written_directly(statement: Statement) -> frozenset[str]:
    match statement:
        case Assign():
            return _stores_of(statement.target)
        case Insert():
            return _stores_of(statement.place)
        case Update():
            return _stores_of(statement.place) | _stores_of(statement.target)
        case QueueOperation() | LockOperation():
            return _stores_of(statement.target) | {statement.store}
        case _:
            return frozenset()


def _stores_of(target: Target) -> frozenset[str]:
    places = (target,) if isinstance(target, Place) else target or ()
    return frozenset(place.root.store for place in places if isinstance(place.root, StoreVariable))
