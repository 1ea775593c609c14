"""The control graph of a process: the statements of its threads, and what follows what, failures included."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from counterexamples.explain import Kind
from counterexamples.render import wording
from counterexamples.render.dot import Edge, Graph, Mark, Node
from spec.control import Control, Position, attempts_key, remaining_key, statements_in
from spec.typed import (
    Assert,
    Atomic,
    Call,
    Either,
    Fail,
    Failure,
    FaultClass,
    FaultKind,
    For,
    If,
    Insert,
    Model,
    Process,
    Retry,
    Return,
    Statement,
    Thread,
    ThreadKind,
    Try,
    While,
)
from spec.value import Value


def control_graph(model: Model, process: Process) -> Graph:
    """A box for each thread; statements from top to bottom, choices as diamonds.  Dashed lines: where control goes when
    a statement fails, for the failures that the model's fault classes and its own statements can cause."""
    control = Control(model)
    nodes: list[Node] = []
    edges: list[Edge] = []
    groups = []
    for thread in process.threads:
        part = _Thread(model, control, process, thread)
        mine = list(part.nodes())
        nodes += mine
        edges += part.edges()
        groups.append((_title(thread), tuple(node.name for node in mine)))
    return Graph(tuple(nodes), tuple(edges), (f"{process.name}: control",), tuple(groups))


def _title(thread: Thread) -> str:
    places = f" [{thread.places}]" if thread.places > 1 else ""
    return f"{thread.kind.value} {thread.name}{places}"


def _joins(fault: FaultClass, own: str, touched: Collection[str]) -> bool:
    """Whether a class of faults of links concerns the link to one of those that a statement touches."""
    return any({fault.first, fault.second} == {own, other} for other in touched)


@dataclass(frozen=True)
class _Thread:
    model: Model
    control: Control
    process: Process
    thread: Thread

    def statements(self) -> list[Statement]:
        """Those that are executed by themselves: not the ones in a block that is one step, and no `try` or `retry`."""
        inner = {
            each.id
            for statement in statements_in(self.thread.body)
            if isinstance(statement, Atomic)
            for each in statements_in(statement.body)
        }
        return [
            statement
            for statement in statements_in(self.thread.body)
            if statement.id not in inner and not isinstance(statement, Try | Retry)
        ]

    # ------------------------------------------------------------------------------------------------------- nodes

    def nodes(self) -> Iterator[Node]:
        yield Node(self.start, (self._beginning(),), frozenset({Mark.END}))
        for statement in self.statements():
            marks = frozenset({Mark.CHOICE}) if isinstance(statement, Either) else frozenset()
            yield Node(f"s{statement.id}", self._lines(statement), marks, f"line {statement.span.line}")
        yield Node(self.end, (self._ending(),), frozenset({Mark.END}))

    @property
    def start(self) -> str:
        return f"begin_{self.process.name}_{self.thread.name}"

    @property
    def end(self) -> str:
        return f"end_{self.process.name}_{self.thread.name}"

    def _beginning(self) -> str:
        match self.thread.kind:
            case ThreadKind.ON:
                return "called" if self.thread.called else "request"
            case ThreadKind.LOOP:
                return "begins, again and again"
            case ThreadKind.TASK:
                return "begins with its instance"

    def _ending(self) -> str:
        return "answers" if self.thread.called else "ends"

    def _lines(self, statement: Statement) -> tuple[str, ...]:
        if isinstance(statement, Either):
            return ("either",)
        told = wording.brief(statement)
        return (f"{statement.span.line}  {told}",)

    # ------------------------------------------------------------------------------------------------------- edges

    def edges(self) -> list[Edge]:
        found: dict[tuple[str, str, bool], dict[str, None]] = {}

        def add(source: str, position: Position | None, label: str, failed: bool = False) -> None:
            labels = found.setdefault((source, self._target(position), failed), {})
            if label:
                labels[label] = None

        first = Position(self.thread.body[0] if self.thread.body else None, {})
        add(self.start, first, "")
        for statement in self.statements():
            for variables in self._counters():
                for label, position in self._following(statement, variables):
                    add(f"s{statement.id}", position, label)
                for failure in self._failures(statement):
                    add(f"s{statement.id}", self.control.on_failure(statement, failure, variables), failure.value, True)
        return [
            Edge(source, target, (", ".join(labels),) if labels else (), Kind.FAULT if failed else None)
            for (source, target, failed), labels in found.items()
        ]

    def _following(self, statement: Statement, variables: Mapping[str, Value]) -> Iterator[tuple[str, Position | None]]:
        control = self.control
        match statement:
            case If(then=then, otherwise=otherwise):
                yield "yes", control.enter(then, statement, variables)
                yield "no", control.enter(otherwise, statement, variables)
            case While(body=body):
                yield "yes", control.enter(body, statement, variables)
                yield "no", control.after(statement, variables)
            case For(body=body):
                yield "each", control.enter(body, statement, variables)
                yield "done", control.after(statement, variables)
            case Either(branches=branches):
                for number, branch in enumerate(branches):
                    yield "either" if number == 0 else "or", control.enter(branch, statement, variables)
            case Return():
                yield "", None
            case Fail():
                return
            case _:
                yield "", control.after(statement, variables)

    def _target(self, position: Position | None) -> str:
        """The node at which control stands; `try` and `retry` are passed through."""
        statement = None if position is None else position.statement
        while isinstance(statement, Try | Retry):
            inner = self.control.enter(statement.body, statement, {})
            statement = inner.statement
        return self.end if statement is None else f"s{statement.id}"

    def _failures(self, statement: Statement) -> Iterator[Failure]:
        """How a statement can fail in this model."""
        if isinstance(statement, Assert):
            return
        touched = set(statement.stores)
        if isinstance(statement, Call):
            touched.add(statement.process)
        if self._can_be_away(touched):
            yield Failure.REFUSED
        lost = self._can_be_lost(statement, touched)
        if lost and not (isinstance(statement, Call) and statement.send):
            yield Failure.UNKNOWN
        inner = list(statements_in(statement.body)) if isinstance(statement, Atomic) else [statement]
        if any(isinstance(each, Insert) for each in inner):
            yield Failure.DUPLICATE
        if any(isinstance(each, Fail) for each in inner) or (isinstance(statement, Call) and not statement.send):
            yield Failure.FAILED

    def _can_be_away(self, touched: set[str]) -> bool:
        own = self.process.name
        return any(
            (fault.kind is FaultKind.CRASH and fault.first in touched - {own})
            or (fault.kind is FaultKind.PARTITION and _joins(fault, own, touched))
            for fault in self.model.faults
        )

    def _can_be_lost(self, statement: Statement, touched: set[str]) -> bool:
        """Whether a fault may strike during the statement, or the handler that is called may end without an answer."""
        own = self.process.name
        if isinstance(statement, Call) and self.model.faults:
            return True
        links = (FaultKind.PARTITION, FaultKind.LOSE)
        return any(
            (fault.kind is FaultKind.CRASH and fault.first in touched)
            or (fault.kind in links and _joins(fault, own, touched))
            for fault in self.model.faults
        )

    def _counters(self) -> Iterator[Mapping[str, Value]]:
        """The hidden locals of the thread's loops, with each `retry` at its last attempt and before it."""
        retries = [attempts_key(each) for each in statements_in(self.thread.body) if isinstance(each, Retry)]
        remaining: dict[str, Value] = {
            remaining_key(each): frozenset() for each in statements_in(self.thread.body) if isinstance(each, For)
        }
        for left in product((0, 1), repeat=len(retries)):
            yield {**remaining, **dict(zip(retries, left, strict=True))}
