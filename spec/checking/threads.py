"""Processes and their threads."""

from __future__ import annotations

from dataclasses import dataclass

from spec import syntax
from spec.checking.bodies import Body, StatementIds
from spec.checking.flow import block_ends, mark_pristine, statements
from spec.checking.scope import Context, Scope
from spec.checking.statements import Statements
from spec.checking.tables import inner_blocks
from spec.checking.type_resolution import ENTRIES, cardinality, is_finite, shown
from spec.checking.variables import ProcessTable, Signature
from spec.checking.world import World
from spec.diagnostic import Note
from spec.typed import Fairness, Parameter, Process, Thread, ThreadKind
from spec.types import BOOL, IdType


@dataclass(frozen=True)
class CheckedThreads:
    """processes: without the threads that are left out.  everything: (process, thread) -> thread, those left out too;
    their statement ids are not those of the model.  Threads with errors are in neither."""

    processes: tuple[Process, ...]
    everything: dict[tuple[str, str], Thread]
    left_out: frozenset[tuple[str, str]]


class Threads:
    """Types all threads of a model."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems
        self._ids = StatementIds()

    def check_all(self) -> CheckedThreads:
        """Every process with every thread."""
        left_out = frozenset(
            (name, thread)
            for name, table in self._world.variables.processes.items()
            for thread, signature in table.threads.items()
            if not self._kept(signature)
        )
        processes: list[Process] = []
        everything: dict[tuple[str, str], Thread] = {}
        for name, table in self._world.variables.processes.items():
            kept: list[Thread] = []
            for thread, signature in table.threads.items():
                made = self._thread(table, signature, (name, thread) in left_out, left_out)
                if made is not None:
                    everything[name, thread] = made
                    if (name, thread) not in left_out:
                        kept.append(made)
            if table.instances is not None:
                values = tuple(value for value in table.values.values() if value is not None)
                node = table.node
                processes.append(Process(name, table.instances, values, tuple(kept), node.head, node.doc))
        return CheckedThreads(tuple(processes), everything, left_out)

    def _kept(self, signature: Signature) -> bool:
        condition = signature.node.condition
        if condition is None:
            return True
        found, value = self._world.types.value(condition, BOOL)
        return not found or value is True

    def _thread(
        self, table: ProcessTable, signature: Signature, dropped: bool, left_out: frozenset[tuple[str, str]]
    ) -> Thread | None:
        if not dropped:
            return self._checked(table, signature, self._ids, left_out)
        # What a switch leaves out is checked all the same, but for what may not fit the sizes of this choice.
        with self._problems.muted("E221", "E248"):
            return self._checked(table, signature, StatementIds(), frozenset())

    def _checked(
        self, table: ProcessTable, signature: Signature, ids: StatementIds, left_out: frozenset[tuple[str, str]]
    ) -> Thread | None:
        node = signature.node
        body = Body(self._world, table, signature, ids, left_out)
        # A size with an error is reported already; any number lets the body be checked.
        instances = table.instances or IdType(table.node.name.name, 1, True)
        ctx = Context(Scope(), "protocol", instances)
        parameters = self._parameters(body, signature, ctx)
        self._own_names(table, node)
        places = 1
        if node.places is not None:
            found = self._world.types.count(node.places, f"the number of places of `{node.name.name}`")
            places = found or 1
        checker = Statements(body)
        typed = checker.block(node.body, ctx.inner())
        if not node.body:
            self._problems.error("E256", node.head, f"`{node.name.name}` does nothing: its body is empty")
            return None
        if checker.failed or parameters is None:
            return None
        if node.result is not None and not block_ends(typed):
            self._problems.error(
                "E251",
                node.head,
                f"`{node.name.name}` can come to its end without returning a value",
                fix="add a `return` on every path",
            )
            return None
        if node.kind is ThreadKind.LOOP and not any(statement.shared for statement in statements(typed)):
            self._problems.warning(
                "W209", node.head, f"the loop `{node.name.name}` never touches shared state, so it does nothing"
            )
        return Thread(
            node.name.name,
            node.kind,
            parameters,
            signature.result,
            places,
            body.called,
            tuple(body.locals),
            mark_pristine(typed),
            node.head,
            node.doc,
            Fairness.WEAK if node.fairness is None else node.fairness.fairness,
        )

    def _own_names(self, table: ProcessTable, node: syntax.Thread) -> None:
        """Locals that hide a variable of their own process."""
        for statement in _all(node.body):
            names = statement.names if isinstance(statement, syntax.Let) else ()
            names = (statement.name,) if isinstance(statement, syntax.For) else names
            for name in names:
                self._hides(table, name)
        for parameter in node.parameters:
            self._hides(table, parameter.name)

    def _hides(self, table: ProcessTable, name: syntax.Identifier) -> None:
        if name.name in table.values:
            variables = {variable.name.name: variable.name.span for variable in table.node.variables}
            self._problems.error(
                "E204",
                name.span,
                f"`{name.name}` hides the variable `{name.name}` of `{table.node.name.name}`",
                notes=(Note("it is declared here", variables.get(name.name)),),
                fix="rename it",
            )

    def _parameters(self, body: Body, signature: Signature, ctx: Context) -> tuple[Parameter, ...] | None:
        made: list[Parameter] = []
        for node, kind in zip(signature.node.parameters, signature.parameters, strict=True):
            local = body.declare(node.name, kind, ctx)
            if local is None or kind is None:
                continue
            if node.fresh and not (isinstance(kind, IdType) and not kind.of_process):
                self._problems.error(
                    "E220", node.type.span, f"`fresh` needs a type declared with `ids`; this is `{kind}`"
                )
            if node.fresh and body.called:
                self._problems.error(
                    "E249",
                    node.span,
                    f"`{signature.node.name.name}` is called, so its callers choose `{node.name.name}`",
                    fix="remove `fresh` here; a caller can write `let x = fresh T`",
                )
            if not body.called and not is_finite(kind):
                self._problems.error(
                    "E239",
                    node.type.span,
                    f"the environment chooses `{node.name.name}`, and `{kind}` is no finite list of single values",
                    fix="use a range such as 0..3",
                )
            elif not body.called and cardinality(kind) > ENTRIES:
                self._problems.error(
                    "E234",
                    node.type.span,
                    f"`{kind}` has {shown(cardinality(kind))} values; {ENTRIES} are the most here",
                )
            made.append(Parameter(local.key, kind, node.fresh))
        return tuple(made) if len(made) == len(signature.parameters) else None


def _all(block: syntax.Block) -> list[syntax.Statement]:
    found: list[syntax.Statement] = []
    for statement in block:
        found.append(statement)
        for inner in inner_blocks(statement):
            found.extend(_all(inner))
    return found
