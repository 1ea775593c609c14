"""Which threads are stuck, straight from the interpreter's state graph and the tree of the model.

Knows nothing of `spec.stuck`, `spec.prospects`, the lowering or the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from spec.event import Slot
from spec.interpreter import Interpreter
from spec.state import GlobalState
from spec.typed import (
    Any,
    Atomic,
    Await,
    Block,
    Call,
    Either,
    Fail,
    Failure,
    For,
    Fresh,
    If,
    LockOperation,
    LockVerb,
    QueueOperation,
    QueueVerb,
    Retry,
    Return,
    Statement,
    ThreadKind,
    Try,
    While,
)
from tests.agreement.oracle import Graph

Ids = frozenset[int]
Onward = Callable[[], Ids]

NOTHING: Ids = frozenset()


class StuckOracle:
    """blocked: by state, the slots that wait in the middle of something.  stuck: by state, those that do so for ever,
    where all has healed."""

    def __init__(self, graph: Graph, interpreter: Interpreter) -> None:
        self.graph = graph
        self.interpreter = interpreter
        self.threads = {(p.name, t.name): t for p in interpreter.model.processes for t in p.threads}
        self.statements: dict[int, Statement] = {}
        self.met: dict[int, Ids] = {}
        for thread in self.threads.values():
            self._visit(thread.body, lambda: NOTHING, lambda: NOTHING)
        self.first = {name: self.met[t.body[0].id] if t.body else NOTHING for name, t in self.threads.items()}
        self.polled: set[tuple[str, str]] = set()
        for _ in self.threads:
            for name, thread in self.threads.items():
                if thread.kind is not ThreadKind.ON or name in self.polled:
                    calls = [s for i in self.first[name] if isinstance(s := self.statements[i], Call) and not s.send]
                    self.polled |= {(call.process, call.thread) for call in calls}
        self.blocked = {state: self._blocked(state) for state in graph.depth}
        self.stuck = self._stuck()

    # ------------------------------------------------------------------------------------------------- the tree

    def _visit(self, block: Block, onward: Onward, failing: Onward) -> None:
        """Finds out for each statement of a block where control may go from before it until something is shared."""
        for place, statement in enumerate(block):
            self.statements[statement.id] = statement
            behind = partial(self._from, block[place + 1 :], onward, failing)
            self.met[statement.id] = self._from(block[place:], onward, failing)
            for inner, then, failed in self._inside(statement, behind, failing):
                self._visit(inner, then, failed)

    def _inside(self, s: Statement, behind: Onward, failing: Onward) -> Iterator[tuple[Block, Onward, Onward]]:
        """The blocks of a statement, with where control goes behind them and when they fail."""

        def again() -> Ids:
            return self._through(s, behind, failing, loops=False)

        match s:
            case If():
                yield s.then, behind, failing
                yield s.otherwise, behind, failing
            case Either():
                for branch in s.branches:
                    yield branch, behind, failing
            case While() | For():
                yield s.body, again, failing
            case Try():
                fitting = [h for h in s.handlers if h.failures is None or Failure.FAILED in h.failures]
                caught: Onward = (lambda: self._from(fitting[0].body, behind, failing)) if fitting else failing
                yield s.body, behind, caught
                for handler in s.handlers:
                    yield handler.body, behind, failing
            case Retry():
                # A further attempt comes to what the body has come to, and to what it would begin with.
                yield s.body, behind, lambda: self._from(s.body, behind, failing) | failing()

    def _from(self, block: Block, onward: Onward, failing: Onward) -> Ids:
        if not block:
            return onward()
        return self._through(block[0], lambda: self._from(block[1:], onward, failing), failing)

    def _through(self, s: Statement, behind: Onward, failing: Onward, loops: bool = True) -> Ids:
        """What may be met from before a statement on.  loops: whether its body may be entered."""
        met = frozenset({s.id})
        if s.shared:
            return met
        match s:
            case Fail():
                return met | failing()
            case Return():
                return met
            case While() | For():
                met |= behind()
                return met | self._from(s.body, lambda: NOTHING, failing) if loops else met
            case Retry():
                return met | self._from(s.body, behind, failing)
            case If() | Either() | Try():
                inside = list(self._inside(s, behind, failing))
                inside = inside[:1] if isinstance(s, Try) else inside
                return met.union(*(self._from(block, then, failed) for block, then, failed in inside))
            case _:
                return met | behind()

    # --------------------------------------------------------------------------------------------------- states

    def _blocked(self, state: GlobalState) -> frozenset[Slot]:
        if state.error is not None:
            return frozenset()
        moving = {
            event.slot for event, _ in self.interpreter.undisturbed(state) if self.interpreter.kind(event) == "thread"
        }
        return frozenset(slot for slot in state.activations if slot not in moving and self._counts(state, slot))

    def _counts(self, state: GlobalState, slot: Slot) -> bool:
        activation = state.activations[slot]
        if activation.waiting or activation.at is None:
            return False
        waiting = [kinds for i in self.met[activation.at] if (kinds := _waits(self.statements[i]))]
        allowed = [s for i in self.met[activation.at] if (s := self.statements[i]).blocks_ok and _waits(s)]
        if not waiting or allowed or {"fresh"} in waiting:
            return False
        return all(kinds == {"lock"} for kinds in waiting) or not self._is_idle(state, slot)

    def _is_idle(self, state: GlobalState, slot: Slot | None) -> bool:
        """Whether everybody from here up the chain of callers has done nothing yet."""
        while slot is not None:
            name, activation = (slot.process, slot.thread), state.activations[slot]
            if activation.at not in self.first[name]:
                return False
            if self.threads[name].kind is not ThreadKind.ON:
                return True
            if activation.caller is None:
                return name in self.polled
            slot = activation.caller
        return False

    def _stuck(self) -> dict[GlobalState, frozenset[Slot]]:
        """Backwards from the states in which a slot is not blocked."""
        back: dict[GlobalState, list[GlobalState]] = {}
        for state, steps in self.graph.steps.items():
            for event, after in steps:
                if self.interpreter.kind(event) != "fault":
                    back.setdefault(after, []).append(state)
        slots = frozenset[Slot]().union(*self.blocked.values())
        found = {state: set[Slot]() for state in self.graph.depth}
        for slot in slots:
            free = {s for s in self.graph.depth if s.error is None and slot not in self.blocked[s]}
            queue = list(free)
            for state in queue:
                for before in back.get(state, ()):
                    if before not in free:
                        free.add(before)
                        queue.append(before)
            for state in self.graph.depth:
                if state not in free and state.error is None and self._is_healed(state):
                    found[state].add(slot)
        return {state: frozenset(those) for state, those in found.items()}

    def _is_healed(self, state: GlobalState) -> bool:
        gone = {fault.first for fault in self.interpreter.model.faults if not fault.restart}
        return not state.cut and all(party.name in gone for party in state.down)


def _waits(s: Statement) -> set[str]:
    """What the statement may wait for."""
    match s:
        case QueueOperation():
            return {"item"} if s.verb in (QueueVerb.TAKE, QueueVerb.POP) else set()
        case LockOperation():
            return {"lock"} if s.verb is LockVerb.AWAIT else set()
        case Fresh():
            return {"fresh"}
        case Any() | Await() | Call():
            return {"condition"}
        case Atomic():
            return set[str]().union(*(_waits(inner) for inner in _parts(s.body)))
        case _:
            return set()


def _parts(block: Block) -> Iterator[Statement]:
    for statement in block:
        yield statement
        match statement:
            case If():
                yield from _parts((*statement.then, *statement.otherwise))
            case Either():
                for branch in statement.branches:
                    yield from _parts(branch)
            case _:
                pass
