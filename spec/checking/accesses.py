"""Accesses: variables of stores and processes, map entries, record fields, questions to queues and locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec import syntax
from spec.checking.conversions import without_optional
from spec.checking.scope import Context
from spec.checking.variables import StoreMember
from spec.checking.world import World
from spec.names import did_you_mean, listed
from spec.source import Span
from spec.typed import (
    Expression,
    FieldAccess,
    Index,
    Lock,
    LockQuery,
    ProcessVariable,
    Queue,
    QueueQuery,
    QueueQuestion,
    StoreValue,
    StoreVariable,
    TupleOf,
    Unwrap,
)
from spec.types import BOOL, INT, MapType, OptionalType, RecordType, SetType, TupleType, Type

if TYPE_CHECKING:
    from spec.checking.expressions import Expressions

QUEUE_VERBS = ("push", "take", "pop", "ack", "nack", "remove")
LOCK_VERBS = ("acquire", "release")
MAP_VERBS = ("insert", "delete")
_QUESTIONS = {"contains": QueueQuestion.CONTAINS, "visible": QueueQuestion.VISIBLE, "size": QueueQuestion.SIZE}


class Accesses:
    """Types accesses."""

    def __init__(self, expressions: Expressions, world: World) -> None:
        self._expressions = expressions
        self._world = world
        self._problems = world.problems

    def is_global(self, node: syntax.Expression, ctx: Context) -> str | None:
        """The name, when the expression is a bare name that no local has."""
        if isinstance(node, syntax.Name) and ctx.scope.find(node.name) is None:
            return node.name
        return None

    def store_member(self, node: syntax.Expression, ctx: Context) -> tuple[str, StoreMember | None] | None:
        """The store and member that `postgres.x`, or `x` within a transaction, names; None when it names none."""
        if not ctx.reads_state:
            return None
        stores = self._world.variables.stores
        if isinstance(node, syntax.Access):
            store = self.is_global(node.base, ctx)
            if store in stores and store is not None and node.name.name in stores[store]:
                return store, stores[store][node.name.name]
            return None
        name = self.is_global(node, ctx)
        if ctx.store is not None and name is not None and name in stores[ctx.store]:
            return ctx.store, stores[ctx.store][name]
        return None

    def member_value(self, store: str, name: str, span: Span, ctx: Context) -> Expression | None:
        """The value of a store's variable."""
        if not ctx.reads_state:
            self._problems.error("E232", span, f"this must be a constant, and `{store}.{name}` is a variable")
            return None
        member = self._world.variables.stores[store][name]
        match member:
            case StoreValue():
                return StoreVariable(member.type, span, store, name)
            case Queue():
                self._problems.error(
                    "E236", span, f"`{store}.{name}` is a queue, not a value", fix="ask `.contains(x)` or `.size`"
                )
            case Lock():
                self._problems.error("E236", span, f"`{store}.{name}` is a lock, not a value", fix="ask `.held(k)`")
        return None

    def access(self, node: syntax.Access, ctx: Context) -> Expression | None:
        """`base.name`: a variable of a store or instance, an enum member, a record's field, or a question."""
        tables, name = self._world.tables, node.name.name
        base = self.is_global(node.base, ctx)
        if base is not None and base in tables.stores:
            if not ctx.reads_state:
                self._problems.error("E232", node.span, f"this must be a constant, and `{node.span.text}` is state")
                return None
            if name in self._world.variables.stores[base]:
                return self.member_value(base, name, node.span, ctx)
            self.unknown_member(base, node.name)
            return None
        if base is not None and base in tables.enums:
            self._world.used.add(base)
            if name in self._world.tables.members and base in tables.members[name]:
                return self._expressions.enum_literal(base, name, node.span)
            members = [member.name for member in tables.enums[base].members]
            self._problems.error(
                "E201", node.name.span, f"`{base}` has no member `{name}`", fix=did_you_mean(name, members)
            )
            return None
        if base is not None and base in tables.processes:
            self._problems.error(
                "E245", node.span, f"`{base}` has several instances", fix=f"write `{base}[s].{name}` in a property"
            )
            return None
        if isinstance(node.base, syntax.Index):
            process = self.is_global(node.base.base, ctx)
            if process is not None and process in tables.processes:
                return self._instance_variable(process, node.base, node, ctx)
        member = self.store_member(node.base, ctx)
        if member is not None and not isinstance(member[1], StoreValue):
            return self._question(member[0], member[1], node.name, (), node.span, ctx)
        inner = self._expressions.infer(node.base, ctx)
        return None if inner is None else self.field(inner, node.name, node.span)

    def field(self, base: Expression, name: syntax.Identifier, span: Span) -> Expression | None:
        """`base.name` for a record, optional or not."""
        kind = without_optional(base.type)
        if not isinstance(kind, RecordType):
            self._problems.error("E235", span, f"`{base.type}` is no record; it has no field `{name.name}`")
            return None
        of = kind.field(name.name)
        if of is None:
            labels = [label for label, _ in kind.fields]
            self.unknown_field(kind, name, labels)
            return None
        if isinstance(base.type, OptionalType):
            base = Unwrap(kind, base.span, base)
        return FieldAccess(of, span, base, name.name)

    def unknown_field(self, kind: RecordType, name: syntax.Identifier, labels: list[str]) -> None:
        """Reports a field that the record does not have."""
        have = f"; it has {listed(labels)}" if labels else ""
        self._problems.error(
            "E206",
            name.span,
            f"`{kind}` has no field `{name.name}`{have}",
            fix=did_you_mean(name.name, labels),
        )

    def unknown_member(self, store: str, name: syntax.Identifier) -> None:
        """Reports a variable that the store does not have."""
        everywhere = [
            f"{owner}.{member}" for owner, members in self._world.variables.stores.items() for member in members
        ]
        here = [f"{store}.{member}" for member in self._world.variables.stores[store]]
        same = [full for full in everywhere if full.split(".", 1)[1] == name.name]
        fix = did_you_mean(f"{store}.{name.name}", [*here, *same])
        self._problems.error("E205", name.span, f"the store `{store}` has no `{name.name}`", fix=fix)

    def _instance_variable(
        self, process: str, index: syntax.Index, node: syntax.Access, ctx: Context
    ) -> Expression | None:
        if not ctx.reads_state:
            self._problems.error("E232", node.span, f"this must be a constant, and `{node.span.text}` is state")
            return None
        table = self._world.variables.processes[process]
        name = node.name.name
        if name not in table.values:
            self._problems.error(
                "E205",
                node.name.span,
                f"the process `{process}` has no variable `{name}`",
                fix=did_you_mean(name, table.values),
            )
            return None
        own = len(index.keys) == 1 and isinstance(index.keys[0], syntax.Self)
        value = table.values[name]
        if ctx.process is not None and own and ctx.process.name == process:
            return None if value is None else ProcessVariable(value.type, node.span, process, name, None)
        if ctx.what == "protocol":
            self._problems.error(
                "E245",
                node.span,
                f"a step cannot read variables of another instance of `{process}`",
                fix="ask it with a `call`, or keep the value in a store",
            )
            return None
        if len(index.keys) != 1:
            self._problems.error("E225", index.span, f"one instance is expected: `{process}[s].{name}`")
            return None
        key = None if table.instances is None else self._expressions.check(index.keys[0], ctx, table.instances)
        if key is None or value is None:
            return None
        return ProcessVariable(value.type, node.span, process, name, key)

    def index(self, node: syntax.Index, ctx: Context) -> Expression | None:
        """`base[key]` of a map."""
        name = self.is_global(node.base, ctx)
        if name is not None and name in self._world.tables.processes:
            self._problems.error("E236", node.span, f"`{name}[..]` is an instance, not a value; name a variable of it")
            return None
        base = self._expressions.infer(node.base, ctx)
        if base is None:
            for key in node.keys:
                if not isinstance(key, syntax.Nothing):
                    self._expressions.infer(key, ctx)
            return None
        kind = without_optional(base.type)
        if not isinstance(kind, MapType):
            self._problems.error("E235", node.span, f"`{base.type}` is no map; it has no entries")
            return None
        index = self.key(node.keys, kind, node.span, ctx)
        if index is None:
            return None
        if isinstance(base.type, OptionalType):
            base = Unwrap(kind, base.span, base)
        return Index(kind.value, node.span, base, index)

    def key(self, keys: tuple[syntax.Expression, ...], kind: MapType, span: Span, ctx: Context) -> Expression | None:
        """The key of one map level."""
        if len(keys) == 1:
            return self._expressions.check(keys[0], ctx, kind.key)
        if isinstance(kind.key, TupleType) and len(kind.key.items) == len(keys):
            made = [self._expressions.check(key, ctx, of) for key, of in zip(keys, kind.key.items, strict=True)]
            parts = tuple(part for part in made if part is not None)
            return TupleOf(kind.key, span, parts) if len(parts) == len(keys) else None
        fix = "write `m[k1][k2]`" if isinstance(kind.value, MapType) else None
        self._problems.error("E225", span, f"the map has keys of type `{kind.key}`, {len(keys)} are given", fix=fix)
        return None

    def method(self, node: syntax.MethodCall, ctx: Context) -> Expression | None:
        """`base.name(..)`: a question; operations, which are statements, are reported."""
        verb = node.name.name
        member = self.store_member(node.base, ctx)
        if member is not None and not isinstance(member[1], StoreValue):
            return self._question(member[0], member[1], node.name, node.arguments, node.span, ctx)
        if verb in (*QUEUE_VERBS, *LOCK_VERBS, *MAP_VERBS):
            self._operation_in_expression(node.span, verb, ctx)
            return None
        base = self._expressions.infer(node.base, ctx)
        if base is not None:
            fix = set_operation(node) if isinstance(base.type, SetType) else None
            self._problems.error("E238", node.name.span, f"`{base.type}` has no `{verb}`", fix=fix)
        return None

    def _operation_in_expression(self, span: Span, verb: str, ctx: Context) -> None:
        fix = f"write `let x = ..{verb}(..)` first" if ctx.what == "protocol" else "properties only read"
        self._problems.error("E259", span, f"`{verb}` is a statement; it cannot stand within an expression", fix=fix)

    def _question(
        self,
        store: str,
        member: StoreMember | None,
        verb: syntax.Identifier,
        arguments: tuple[syntax.Expression, ...],
        span: Span,
        ctx: Context,
    ) -> Expression | None:
        if member is None:
            return None
        if not ctx.reads_state:
            self._problems.error("E232", span, f"this must be a constant, and `{store}.{member.name}` is state")
            return None
        name = verb.name
        if isinstance(member, Queue):
            known = name in _QUESTIONS
            wanted: Type | None = None if name == "size" else member.item
            verbs, others = list(QUEUE_VERBS), list(_QUESTIONS)
        else:
            known = name == "held"
            wanted = member.key if isinstance(member, Lock) else None
            verbs, others = list(LOCK_VERBS), ["held"]
        if not known:
            if name in verbs:
                self._operation_in_expression(span, name, ctx)
            else:
                self.no_such_verb(store, member, verb, [*others, *verbs])
            return None
        found, argument = self.arguments(f"{store}.{member.name}.{name}", wanted, arguments, span, ctx)
        if not found:
            return None
        if isinstance(member, Queue):
            result = INT if name == "size" else BOOL
            return QueueQuery(result, span, store, member.name, _QUESTIONS[name], argument)
        return LockQuery(BOOL, span, store, member.name, argument)

    def no_such_verb(self, store: str, member: StoreMember, verb: syntax.Identifier, known: list[str]) -> None:
        """Reports an operation that a queue or lock does not have."""
        what = "queue" if isinstance(member, Queue) else "lock" if isinstance(member, Lock) else "variable"
        self._problems.error(
            "E238",
            verb.span,
            f"`{store}.{member.name}` is a {what}; it has no `{verb.name}`",
            fix=did_you_mean(verb.name, known),
        )

    def arguments(
        self, what: str, wanted: Type | None, given: tuple[syntax.Expression, ...], span: Span, ctx: Context
    ) -> tuple[bool, Expression | None]:
        """Whether the arguments of an operation with one argument (or none: `wanted` is None) are right, and the
        argument.  Several arguments for a tuple count as that tuple."""
        if wanted is None:
            if given:
                self._problems.error("E225", span, f"`{what}` takes no argument")
            return not given, None
        if isinstance(wanted, TupleType) and len(given) == len(wanted.items):
            made = self._expressions.check(syntax.TupleLiteral(span, given), ctx, wanted)
            return made is not None, made
        if len(given) != 1:
            self._problems.error("E225", span, f"`{what}` takes one argument, of type `{wanted}`")
            return False, None
        made = self._expressions.check(given[0], ctx, wanted)
        return made is not None, made


_REMOVING = ("delete", "remove", "discard", "pop", "erase", "take")


def set_operation(node: syntax.MethodCall) -> str:
    """How to write what seems to be meant by a method of a set."""
    base, sign = node.base.span.text, "-" if node.name.name in _REMOVING else "+"
    item = node.arguments[0].span.text if len(node.arguments) == 1 else ".."
    return f"write `{base} := {base} {sign} {{{item}}}`"
