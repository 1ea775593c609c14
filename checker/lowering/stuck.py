"""Which activations are blocked in the middle of something, as formulas (docs/language.md, "Stuck threads")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checker.logic.formula import FALSE, TRUE, Formula, conjunction, disjunction, equals, member, negate, substitute
from checker.lowering.control import END, START, ControlFlow, Position, all_statements
from checker.lowering.model_layout import At, ModelLayout, SlotNode, Waiting
from checker.transition_system import Action, Kind
from spec import typed
from spec.event import Slot
from spec.typed import Failure, LockVerb, QueueVerb, Statement, ThreadKind

_Name = tuple[str, str]
"""A thread: its process and its name."""


def blocked_slots(layout: ModelLayout, actions: Iterable[Action]) -> Mapping[Slot, Formula]:
    """For each slot where its activation is blocked; slots that never are left out.  `actions`: all of the model, over
    the variables of the layout."""
    guards: dict[Slot, list[Formula]] = {}
    for action in actions:
        if action.kind is Kind.THREAD and action.event.slot is not None:
            guards.setdefault(action.event.slot, []).append(action.guard)
    idleness = _Idleness(layout)
    found = {}
    for slot, node in layout.slots.items():
        cases = []
        for code, control in enumerate(node.control.values):
            if not isinstance(control, At):
                continue
            at = node.flow.entry if control.position == START else control.position
            waiting = _waiting(node.flow, at)
            if not waiting or any(map(_may_wait, waiting)):
                continue
            able = disjunction(_standing(guard, node, code) for guard in guards.get(slot, ()))
            idle = FALSE if all(map(_is_for_locks, waiting)) else idleness.of(node, at)
            cases.append(conjunction((equals(node.control, code), negate(able), negate(idle))))
        where = disjunction(cases)
        if where is not FALSE:
            found[slot] = where
    return found


def _standing(guard: Formula, node: SlotNode, code: int) -> Formula:
    """The guard where the activation stands at a code of its control."""

    def literal(node_: Formula) -> Formula:
        if node_.variable is not node.control:
            return node_
        return TRUE if node_.mask >> code & 1 else FALSE

    return substitute(guard, literal)


class _Idleness:
    """Where activations wait without having begun anything."""

    def __init__(self, layout: ModelLayout) -> None:
        self._layout = layout
        self._first = {name: _reach(flow, flow.entry) for name, flow in layout.flows.items()}
        self._polled = self._closure()

    def _closure(self) -> frozenset[_Name]:
        """Handlers that threads call, and wait for, before anything else: threads of their own accord, or such
        handlers."""
        found: set[_Name] = set()
        before = -1
        while len(found) != before:
            before = len(found)
            for name, flow in self._layout.flows.items():
                if flow.thread.kind is ThreadKind.ON and name not in found:
                    continue
                for place in self._first[name]:
                    statement = flow.statements[place]
                    if isinstance(statement, typed.Call) and not statement.send:
                        found.add((statement.process, statement.thread))
        return frozenset(found)

    def of(self, node: SlotNode, at: int, passed: frozenset[Slot] = frozenset()) -> Formula:
        """Where an activation that stands before (or in) the statement is idle."""
        name = (node.process.name, node.thread.name)
        if at not in self._first[name]:
            return FALSE
        if node.thread.kind is not ThreadKind.ON:
            return TRUE
        alone = TRUE if name in self._polled else FALSE
        if node.caller is None:
            return alone
        passed |= {node.slot}
        cases = []
        for code, caller in enumerate(node.caller.values):
            if caller is None:
                cases.append(conjunction((equals(node.caller, code), alone)))
            elif isinstance(caller, Slot) and caller not in passed:
                other = self._layout.slots[caller]
                cases.append(conjunction((equals(node.caller, code), self._calling(other, passed))))
        return disjunction(cases)

    def _calling(self, node: SlotNode, passed: frozenset[Slot]) -> Formula:
        """Where an activation is idle that waits for a reply."""
        calls = [(code, c.position) for code, c in enumerate(node.control.values) if isinstance(c, Waiting)]
        return disjunction(
            conjunction((member(node.control, 1 << code), self.of(node, position, passed))) for code, position in calls
        )


def _waiting(flow: ControlFlow, at: int) -> list[Statement]:
    """The statements that may wait among those that an activation comes to next."""
    return [flow.statements[i] for i in sorted(_reach(flow, at)) if _waits(flow.statements[i])]


def _reach(flow: ControlFlow, at: Position) -> frozenset[int]:
    """The statements that control may come to, none of them behind a shared one."""
    reached: set[int] = set()
    waiting = [at]
    while waiting:
        here = waiting.pop()
        if here == END or here in reached:
            continue
        reached.add(here)
        statement = flow.statements[here]
        if isinstance(statement, typed.Fail):
            waiting += _after_failing(flow, statement)
        elif not statement.shared:
            waiting += flow.successors(statement)
    return frozenset(reached)


def _after_failing(flow: ControlFlow, statement: Statement) -> Iterable[Position]:
    """Where a local `fail` may lead: a `retry` may or may not have attempts left."""
    for frame in flow.frames[statement.id]:
        inner = frame.statement
        if isinstance(inner, typed.Retry):
            yield flow.first(inner.body, flow.after[inner.id])
            continue
        handler = flow.handler(inner, Failure.FAILED)
        if handler is not None:
            yield handler
            return


def _waits(statement: Statement) -> bool:
    match statement:
        case typed.QueueOperation(verb=verb):
            return verb in (QueueVerb.TAKE, QueueVerb.POP)
        case typed.LockOperation(verb=verb):
            return verb is LockVerb.AWAIT
        case typed.Atomic():
            return bool(_parts(statement))
        case _:
            return isinstance(statement, typed.Any | typed.Fresh | typed.Await | typed.Call)


def _parts(statement: Statement) -> list[Statement]:
    """What waits: the statement itself, or the statements in a block of one step."""
    if not isinstance(statement, typed.Atomic):
        return [statement]
    return [part for part in all_statements(statement.body) if not isinstance(part, typed.Atomic) and _waits(part)]


def _may_wait(statement: Statement) -> bool:
    """Whether waiting for ever is no mistake there: by the model's word, or because only ids may be lacking."""
    return statement.blocks_ok or all(isinstance(part, typed.Fresh) for part in _parts(statement))


def _is_for_locks(statement: Statement) -> bool:
    return all(isinstance(part, typed.LockOperation) for part in _parts(statement))
