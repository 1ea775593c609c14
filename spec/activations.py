"""The life of an activation: how it begins, runs its local statements, parks, ends, and wakes
(docs/language.md, "Steps" and "Calls")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from spec.control import Control, Locals, Position, attempts_key, remaining_key
from spec.effects import Done, Effects, Erred, Failed
from spec.evaluation import EvaluationError, Scope, evaluate
from spec.event import Ending, Slot
from spec.holdings import orphan
from spec.places import deliver
from spec.state import Activation, ErrorKind, GlobalState, ModelError
from spec.typed import (
    Any,
    Atomic,
    Call,
    Either,
    Expression,
    Failure,
    For,
    Fresh,
    If,
    Model,
    Retry,
    Return,
    Statement,
    Thread,
    ThreadKind,
    Try,
    While,
)
from spec.types import Type
from spec.value import Id, Value, domain

LOCAL_STATEMENTS = 10_000
"""More local statements and choices than this within one step are a model error, of the first one too many."""


class StepError(Exception):
    """The local part of a step came to a model error."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(error.kind.value)
        self.error = error


@dataclass(frozen=True)
class Path:
    """A way that the first, local part of a step can go: to a shared statement, or to the end of the activation.

    used  the number of local statements and choices passed"""

    position: Position
    used: int


class Activations:
    """The activations of one model.  All methods return new states."""

    def __init__(self, model: Model) -> None:
        self.control = Control(model)
        self.effects = Effects(model)
        self.threads: dict[tuple[str, str], Thread] = {(p.name, t.name): t for p in model.processes for t in p.threads}

    # ------------------------------------------------------------------------------------------- beginning and ending

    def begin(self, state: GlobalState, slot: Slot, variables: Locals, caller: Slot | None = None) -> GlobalState:
        """A new activation in `slot`, before its first statement."""
        thread = self.threads[slot.process, slot.thread]
        if thread.body:
            started = Activation(thread.body[0].id, variables, caller=caller)
        elif caller is not None:
            started = Activation(None, {}, caller=caller, ending=Ending.OK.value)
        elif thread.kind is ThreadKind.LOOP:
            started = Activation(None, {})
        else:
            return state
        return replace(state, activations={**state.activations, slot: started})

    def begin_instance(self, state: GlobalState, process: str, instance: int) -> GlobalState:
        """All loops and tasks of a process instance begin."""
        for (owner, name), thread in self.threads.items():
            if owner == process and thread.kind is not ThreadKind.ON:
                for place in range(thread.places):
                    state = self.begin(state, Slot(process, instance, name, place), {})
        return state

    def free_slot(self, state: GlobalState, process: str, instance: int, thread: str) -> Slot | None:
        """The lowest free place of a handler."""
        places = range(self.threads[process, thread].places)
        slots = (Slot(process, instance, thread, place) for place in places)
        return next((slot for slot in slots if slot not in state.activations), None)

    def finish(self, state: GlobalState, slot: Slot) -> GlobalState:
        """The activation ends: what it holds is orphaned; a loop begins anew."""
        state = self.abandon(state, slot)
        if self.threads[slot.process, slot.thread].kind is ThreadKind.LOOP:
            return self.begin(state, slot, {})
        return state

    def abandon(self, state: GlobalState, slot: Slot) -> GlobalState:
        """The activation is gone; what it holds is orphaned."""
        remaining = {s: a for s, a in state.activations.items() if s != slot}
        return replace(orphan(state, self.effects.queues, slot), activations=remaining)

    def detach(self, state: GlobalState, callee: Slot) -> GlobalState:
        """Nobody waits for `callee` any more; if it stands at its return or end, it ends."""
        activation = state.activations[callee]
        if activation.at is None or isinstance(self.control.statements[activation.at], Return):
            return self.finish(state, callee)
        return replace(state, activations={**state.activations, callee: replace(activation, caller=None)})

    # ----------------------------------------------------------------------------------- the first part of a step

    def paths(self, state: GlobalState, slot: Slot) -> Iterator[Path | Erred]:
        """The ways through local statements and choices, to a shared statement or the end; waiting ones left out.

        Ways of equal length that meet (same statement, same locals) go on as one, so their number stays small."""
        activation = state.activations[slot]
        if activation.at is None:
            return
        frontier = [Position(self.control.statements[activation.at], activation.locals)]
        for used in range(LOCAL_STATEMENTS + 1):
            further: list[Position] = []
            for position in _distinct(frontier):
                statement = position.statement
                if statement is None or self._is_shared(state, slot, statement):
                    yield Path(position, used)
                    continue
                if used == LOCAL_STATEMENTS:
                    yield Erred(ModelError(ErrorKind.ENDLESS, statement.id))
                    continue
                try:
                    further += self._choices(state, slot, statement, position.locals)
                except StepError as error:
                    yield Erred(error.error)
            frontier = further
            if not frontier:
                return

    def _choices(self, state: GlobalState, slot: Slot, statement: Statement, variables: Locals) -> list[Position]:
        """Where a local statement or a choice point can lead; nothing when it waits."""
        match statement:
            case Either():
                return [self.control.enter(branch, statement, variables) for branch in statement.branches]
            case For():
                opened = self._open(state, slot, statement, variables)
                key = remaining_key(statement)
                remaining = cast("frozenset[Value]", opened[key])
                if not remaining:
                    return [self._close(statement, opened)]
                return [
                    self.control.enter(
                        statement.body, statement, {**opened, key: remaining - {item}, statement.key: item}
                    )
                    for item in _in_order(remaining, statement.item_type)
                ]
            case _:
                next_position = self._local(state, slot, statement, variables)
                return [] if next_position is None else [next_position]

    # ------------------------------------------------------------------------------------ the last part of a step

    def settle(self, state: GlobalState, slot: Slot, position: Position, used: int = 0) -> GlobalState:
        """The activation goes on from `position` with local statements, until it stands before a shared statement or a
        choice point, or has ended.  `used` local statements of the step have been executed before.  Raises
        StepError."""
        while position.statement is not None:
            statement = position.statement
            if isinstance(statement, Either) or self._is_shared(state, slot, statement):
                return self._park(state, slot, statement, position.locals)
            if used >= LOCAL_STATEMENTS:
                raise StepError(ModelError(ErrorKind.ENDLESS, statement.id))
            used += 1
            if isinstance(statement, For):
                opened = self._open(state, slot, statement, position.locals)
                if opened[remaining_key(statement)]:
                    return self._park(state, slot, statement, opened)
                position = self._close(statement, opened)
                continue
            next_position = self._local(state, slot, statement, position.locals)
            if next_position is None:
                return self._park(state, slot, statement, position.locals)
            position = next_position
        activation = state.activations[slot]
        if activation.caller is None:
            return self.finish(state, slot)
        ended = Activation(None, {}, caller=activation.caller, ending=position.ending.value)
        return replace(state, activations={**state.activations, slot: ended})

    def fail(
        self, state: GlobalState, slot: Slot, statement: Statement, failure: Failure, variables: Locals, used: int = 0
    ) -> GlobalState:
        """The activation goes on after `statement` has failed.  Raises StepError."""
        return self.settle(state, slot, self.control.on_failure(statement, failure, variables), used)

    def wake(self, state: GlobalState, caller: Slot, ending: Ending, value: Value, used: int = 0) -> GlobalState:
        """A waiting activation gets its reply and goes on.  Raises StepError."""
        activation = state.activations[caller]
        call = self.control.statements[cast(int, activation.at)]
        assert isinstance(call, Call)
        awake = replace(activation, waiting=False)
        state = replace(state, activations={**state.activations, caller: awake})
        if ending is not Ending.OK:
            return self.fail(state, caller, call, Failure(ending.value), activation.locals, used)
        try:
            scope = Scope(state, activation.locals, Id(caller.process, caller.instance, True))
            state, variables = deliver(call.target, value, scope)
        except EvaluationError as error:
            raise StepError(ModelError(error.kind, call.id)) from error
        return self.settle(state, caller, self.control.after(call, variables), used)

    def wait(self, state: GlobalState, slot: Slot, statement: Call, variables: Locals) -> GlobalState:
        """The activation has made its call and waits."""
        state = self._park(state, slot, statement, variables)
        waiting = replace(state.activations[slot], waiting=True)
        return replace(state, activations={**state.activations, slot: waiting})

    def _park(self, state: GlobalState, slot: Slot, statement: Statement, variables: Locals) -> GlobalState:
        parked = Activation(
            statement.id, self.control.in_scope(statement, variables), caller=state.activations[slot].caller
        )
        return replace(state, activations={**state.activations, slot: parked})

    # ------------------------------------------------------------------------------------------------ local statements

    def _is_shared(self, state: GlobalState, slot: Slot, statement: Statement) -> bool:
        if isinstance(statement, Return):
            return state.activations[slot].caller is not None
        return statement.shared or isinstance(statement, Atomic | Any | Fresh | Call)

    def _open(self, state: GlobalState, slot: Slot, statement: For, variables: Locals) -> Locals:
        """With the items that are left; upon arrival at the `for`, all of them."""
        key = remaining_key(statement)
        if key in variables:
            return variables
        return {**variables, key: self._value(state, slot, statement, statement.items, variables)}

    def _close(self, statement: For, variables: Locals) -> Position:
        key = remaining_key(statement)
        return self.control.after(statement, {k: v for k, v in variables.items() if k != key})

    def _local(self, state: GlobalState, slot: Slot, statement: Statement, variables: Locals) -> Position | None:
        """Where a local statement leads; None when it waits.  Raises StepError."""
        control = self.control
        match statement:
            case If():
                holds = self._value(state, slot, statement, statement.condition, variables)
                return control.enter(statement.then if holds else statement.otherwise, statement, variables)
            case While():
                if self._value(state, slot, statement, statement.condition, variables):
                    return control.enter(statement.body, statement, variables)
                return control.after(statement, variables)
            case Try():
                return control.enter(statement.body, statement, variables)
            case Retry():
                return control.enter(statement.body, statement, {**variables, attempts_key(statement): statement.times})
            case _:
                outcomes = self.effects.outcomes(statement, state, slot, variables)
        if not outcomes:
            return None
        match outcomes[0]:
            case Done(_, after, returned):
                return Position(None, after) if returned else control.after(statement, after)
            case Failed(failure):
                return control.on_failure(statement, failure, variables)
            case Erred(error):
                raise StepError(error)

    def _value(
        self, state: GlobalState, slot: Slot, statement: Statement, expression: Expression, variables: Locals
    ) -> Value:
        try:
            return evaluate(expression, Scope(state, variables, Id(slot.process, slot.instance, True)))
        except EvaluationError as error:
            raise StepError(ModelError(error.kind, statement.id)) from error


def _distinct(positions: list[Position]) -> list[Position]:
    if len(positions) < 2:
        return positions
    seen: dict[object, Position] = {}
    for position in positions:
        at = None if position.statement is None else position.statement.id
        seen.setdefault((at, frozenset(position.locals.items()), position.ending), position)
    return list(seen.values())


def _in_order(items: frozenset[Value], kind: Type) -> list[Value]:
    """In the order of the type; by `repr` where the type has infinitely many values."""
    try:
        return [value for value in domain(kind) if value in items]
    except TypeError:
        return sorted(items, key=repr)
