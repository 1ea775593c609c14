"""Threads that can never go on although all has healed: `stuck_threads` (docs/language.md, "Stuck threads")."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from spec.checking.flow import blocks, statements, waits
from spec.control import Control
from spec.event import Slot
from spec.interpreter import Interpreter
from spec.prospects import without_sharing
from spec.rest import STATES, UNDISTURBED, Answer, search
from spec.state import Activation, GlobalState
from spec.typed import (
    Atomic,
    Await,
    Block,
    Call,
    Either,
    For,
    Fresh,
    LockOperation,
    Model,
    Statement,
    Thread,
    ThreadKind,
)

STUCK_THREADS = "stuck_threads"
"""The name of the property."""

_Handler = tuple[str, str]
"""A thread: its process and its name."""


class WaitingPlaces:
    """What the text of a model says of waiting: at which statements an activation that waits counts, and where it is
    merely idle."""

    def __init__(self, model: Model) -> None:
        self._control = Control(model)
        self._threads: dict[_Handler, Thread] = {(p.name, t.name): t for p in model.processes for t in p.threads}
        self._first = {
            name: without_sharing(self._control, thread, thread.body[0].id if thread.body else None)
            for name, thread in self._threads.items()
        }
        self._counted: dict[int, bool] = {}
        self._idle: dict[int, bool] = {}
        for name, thread in self._threads.items():
            for statement in _standing(thread.body):
                met = without_sharing(self._control, thread, statement.id)
                waiting = [s for i in sorted(met) if waits(s := self._control.statements[i])]
                self._counted[statement.id] = bool(waiting) and not any(map(_may_wait, waiting))
                locked = bool(waiting) and all(map(_is_for_locks, waiting))
                self._idle[statement.id] = statement.id in self._first[name] and not locked
        self.polled = self._polled()
        """Handlers that idle threads call, to wait there for work."""

    def counts(self, at: int) -> bool:
        """Whether an activation that stands before the statement may wait there, and the model does not say that it
        may wait for ever."""
        return self._counted[at]

    def is_first(self, at: int) -> bool:
        """Whether a thread that waits before the statement may not have begun anything: no shared statement comes
        before it, and it is no lock that it waits for."""
        return self._idle[at]

    def is_own(self, slot: Slot) -> bool:
        """Whether the thread is a loop or a task, which nobody has asked for anything."""
        return self._threads[slot.process, slot.thread].kind is not ThreadKind.ON

    def any_counts(self) -> bool:
        """Whether any thread could be stuck.  Where none could, `stuck_threads` says nothing."""
        quiet = self._only_polled()
        for name, thread in self._threads.items():
            idles = thread.kind is not ThreadKind.ON or name in quiet
            if any(self._counted[place] and not (idles and self._idle[place]) for place in self._stops(name, thread)):
                return True
        return False

    def _stops(self, name: _Handler, thread: Thread) -> Iterator[int]:
        """Where an activation may stand, or more."""
        for statement in _standing(thread.body):
            if statement.shared or isinstance(statement, Either | For | Await) or statement.id in self._first[name]:
                yield statement.id

    def _calls(self, name: _Handler, thread: Thread) -> Iterator[tuple[_Handler, bool]]:
        """Whom a thread calls and waits for, and whether it does before anything else."""
        for statement in _standing(thread.body):
            if isinstance(statement, Call) and not statement.send:
                yield (statement.process, statement.thread), statement.id in self._first[name]

    def _polled(self) -> frozenset[_Handler]:
        found: set[_Handler] = set()
        waiting = [name for name, thread in self._threads.items() if thread.kind is not ThreadKind.ON]
        while waiting:
            name = waiting.pop()
            for called, first in self._calls(name, self._threads[name]):
                if first and called not in found:
                    found.add(called)
                    waiting.append(called)
        return frozenset(found)

    def _only_polled(self) -> frozenset[_Handler]:
        """Polled handlers that nobody calls in the middle of anything."""
        found = set(self.polled)
        while True:
            busy = {
                called
                for name, thread in self._threads.items()
                for called, first in self._calls(name, thread)
                if not first or (thread.kind is ThreadKind.ON and name not in found)
            }
            if found.isdisjoint(busy):
                return frozenset(found)
            found -= busy


def _standing(block: Block) -> Iterator[Statement]:
    """All statements of a block but those inside a block of one step, before which no activation stands."""
    for statement in block:
        yield statement
        if not isinstance(statement, Atomic):
            for inner in blocks(statement):
                yield from _standing(inner)


def may_be_stuck(model: Model) -> bool:
    """Whether any thread of the model could be stuck: a statement that waits stands in the middle of something, and
    does not say `blocks ok`."""
    return WaitingPlaces(model).any_counts()


def _may_wait(statement: Statement) -> bool:
    """Whether waiting there for ever is no sign of a mistake: the model says so, or there are just no more ids."""
    return statement.blocks_ok or all(isinstance(part, Fresh) for part in _waiting_parts(statement))


def _is_for_locks(statement: Statement) -> bool:
    return all(isinstance(part, LockOperation) for part in _waiting_parts(statement))


def _waiting_parts(statement: Statement) -> list[Statement]:
    """The statement, or of a block of one step those that wait in it."""
    if not isinstance(statement, Atomic):
        return [statement]
    return [part for part in statements(statement.body) if waits(part) and not isinstance(part, Atomic)]


@dataclass(frozen=True)
class Finding:
    """What became of the activations that are blocked in a state.

    stuck    the slots of those that can never go on; None where that is not known
    clears   whether a state can be reached in which no activation is blocked; None where that is not known
    """

    stuck: tuple[Slot, ...] | None
    clears: bool | None


class Stuck:
    """The question which threads are stuck, for one model.

    An activation is *blocked* when it waits, in the middle of something, and no step of its own is possible; it is
    *stuck* when all has healed and no sequence of steps without faults leads to a state in which it is not blocked."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._places = WaitingPlaces(interpreter.model)

    def blocked(self, state: GlobalState, slot: Slot) -> bool:
        """Whether the activation in `slot` is blocked; not if there is none."""
        activation = state.activations.get(slot)
        if activation is None or activation.waiting or activation.at is None or not self._places.counts(activation.at):
            return False
        return not self._is_idle(state, slot, activation) and not self._interpreter.can_step(state, slot)

    def all_blocked(self, state: GlobalState) -> tuple[Slot, ...]:
        """The slots whose activations are blocked."""
        return tuple(slot for slot in sorted(state.activations) if self.blocked(state, slot))

    def is_suspicious(self, state: GlobalState) -> bool:
        """Whether all has healed and some activation is blocked."""
        return self._is_calm(state) and any(self.blocked(state, slot) for slot in sorted(state.activations))

    def is_suspected(self, state: GlobalState, slot: Slot) -> bool:
        """Whether all has healed and this activation is blocked."""
        return self._is_calm(state) and self.blocked(state, slot)

    def clears(self, state: GlobalState, limit: int = STATES) -> Answer:
        """Whether steps without faults lead to a state in which no activation is blocked."""

        def clear(reached: GlobalState) -> bool:
            return reached.error is None and not any(self.blocked(reached, slot) for slot in reached.activations)

        return search(self._interpreter, state, UNDISTURBED, clear, limit)

    def goes_on(self, state: GlobalState, slot: Slot, limit: int = STATES) -> Answer:
        """Whether steps without faults lead to a state in which the activation is not blocked."""

        def free(reached: GlobalState) -> bool:
            return reached.error is None and not self.blocked(reached, slot)

        return search(self._interpreter, state, UNDISTURBED, free, limit)

    def find(self, state: GlobalState, limit: int = STATES) -> Finding:
        """Which of the activations that are blocked in a state can never go on, by one visit of what can follow."""
        left = set(self.all_blocked(state)) if self._is_calm(state) else set()
        seen = {state}
        waiting = deque([state])
        while waiting:
            here = waiting.popleft()
            if here.error is None:
                left = {slot for slot in left if self.blocked(here, slot)}
                if not left and not any(self.blocked(here, slot) for slot in here.activations):
                    return Finding((), True)
            for _, after in self._interpreter.undisturbed(here):
                if after not in seen:
                    if len(seen) >= limit:
                        return Finding(None if left else (), None)
                    seen.add(after)
                    waiting.append(after)
        return Finding(tuple(sorted(left)), False)

    def _is_calm(self, state: GlobalState) -> bool:
        return state.error is None and self._interpreter.topology.healed(state)

    def _is_idle(self, state: GlobalState, slot: Slot, activation: Activation) -> bool:
        """Whether it waits without having begun anything: for work, as far as anybody can tell."""
        if activation.at is None or not self._places.is_first(activation.at):
            return False
        if self._places.is_own(slot):
            return True
        if activation.caller is None:
            return (slot.process, slot.thread) in self._places.polled
        return self._is_idle(state, activation.caller, state.activations[activation.caller])
