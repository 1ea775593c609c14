"""From parsed to typed expressions: names, accesses, calls and collections.

Types flow both ways: a hint says what type is hoped for, so that `none`, `{}` and enum members that several enums have
find theirs.  An expression with an error is None, and whatever contains it stays silent.
"""

from __future__ import annotations

from dataclasses import replace

from spec import syntax
from spec.checking.conversions import Conversions, join, soften, without_optional
from spec.checking.operators import Operators
from spec.checking.quantifiers import Quantifiers
from spec.checking.scope import Binding, Context, Scope
from spec.checking.variables import StoreMember
from spec.checking.world import World
from spec.diagnostic import Note
from spec.names import did_you_mean, listed
from spec.source import Span
from spec.typed import (
    Conditional,
    Expression,
    FieldAccess,
    GhostVariable,
    Index,
    Literal,
    Lock,
    LockQuery,
    Next,
    ProcessVariable,
    Queue,
    QueueQuery,
    QueueQuestion,
    RecordOf,
    Self,
    SetOf,
    StoreValue,
    StoreVariable,
    TupleOf,
    Unwrap,
)
from spec.types import (
    BOOL,
    INT,
    EnumType,
    IdType,
    MapType,
    OptionalType,
    RecordType,
    SetType,
    TupleType,
    Type,
)
from spec.value import Id, Member

QUEUE_VERBS = ("push", "take", "pop", "ack", "nack", "remove")
LOCK_VERBS = ("acquire", "release")
MAP_VERBS = ("insert", "delete")
_QUESTIONS = {"contains": QueueQuestion.CONTAINS, "visible": QueueQuestion.VISIBLE, "size": QueueQuestion.SIZE}


class Expressions:
    """Makes typed expressions."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems
        self.conversions = Conversions(world.problems)
        self._operators = Operators(self, world)
        self._quantifiers = Quantifiers(self, world)

    # ------------------------------------------------------------------------------------------ the door

    def infer(self, node: syntax.Expression, ctx: Context, hint: Type | None = None) -> Expression | None:
        """The typed expression, of whatever type it has by itself."""
        made = self._infer(node, ctx, hint)
        return None if made is None else soften(made, hint)

    def check(self, node: syntax.Expression, ctx: Context, wanted: Type) -> Expression | None:
        """The typed expression, converted to the wanted type."""
        made = self.infer(node, ctx, wanted)
        return None if made is None else self.conversions.coerce(made, wanted)

    def bind(self, scope: Scope, binding: Binding) -> None:
        """Declares a local or bound variable; a name that means something already is reported."""
        name = binding.name
        if name != "_":
            earlier = scope.find(name)
            declared = self._world.tables.declared(name)
            if name in scope.bindings:
                first = scope.bindings[name].span
                self._problems.error(
                    "E203",
                    binding.span,
                    f"`{name}` is declared twice",
                    notes=(Note("the first declaration is here", first),),
                    fix=f"rename one, or assign with `{name} := ..`",
                )
                return
            if earlier is not None or declared is not None:
                hidden = earlier.span if earlier is not None else declared.span if declared is not None else None
                self._problems.error(
                    "E204",
                    binding.span,
                    f"`{name}` hides another `{name}`",
                    notes=(Note("it is declared here", hidden),),
                    fix="rename it",
                )
        scope.bindings[name] = binding

    # ------------------------------------------------------------------------------------------ kinds of expression

    def _infer(self, node: syntax.Expression, ctx: Context, hint: Type | None) -> Expression | None:
        match node:
            case syntax.Number(span=span, value=value):
                instances = None if hint is None else without_optional(hint)
                if ctx.what == "scenario" and isinstance(instances, IdType) and instances.of_process:
                    return self.instance(value, instances, span)
                return Literal(INT, span, value)
            case syntax.Boolean(span=span, value=value):
                return Literal(BOOL, span, value)
            case syntax.Nothing(span=span):
                if hint is None:
                    self._problems.error(
                        "E222", span, "the type of this `none` is not known here", fix="write `let x: T? = none`"
                    )
                    return None
                return Literal(hint if isinstance(hint, OptionalType) else OptionalType(hint), span, None)
            case syntax.Self(span=span):
                if ctx.process is None:
                    self._problems.error("E245", span, "`self` means something in a process only")
                    return None
                return Self(ctx.process, span)
            case syntax.Name():
                return self._name(node, ctx, hint)
            case syntax.Access():
                return self._access(node, ctx)
            case syntax.Index():
                return self._index(node, ctx)
            case syntax.MethodCall():
                return self._method(node, ctx)
            case syntax.DefinitionCall():
                return self._world.definitions.call(node, ctx)
            case syntax.RecordLiteral():
                return self._record(node, ctx)
            case syntax.SetLiteral():
                return self._set(node, ctx, hint)
            case syntax.TupleLiteral(span=span, items=items):
                wanted = None if hint is None else without_optional(hint)
                hints: list[Type | None] = [None] * len(items)
                if isinstance(wanted, TupleType) and len(wanted.items) == len(items):
                    hints = list(wanted.items)
                made = [self.infer(item, ctx, h) for item, h in zip(items, hints, strict=True)]
                parts = tuple(part for part in made if part is not None)
                if len(parts) < len(items):
                    return None
                return TupleOf(TupleType(tuple(part.type for part in parts)), span, parts)
            case syntax.Conditional():
                return self._conditional(node, ctx, hint)
            case syntax.Quantifier():
                return self._quantifiers.infer(node, ctx)
            case syntax.Prime(span=span, base=base):
                return self._prime(span, base, ctx)
            case syntax.Not() | syntax.Negative() | syntax.Binary() | syntax.Is():
                return self._operators.infer(node, ctx)

    def instance(self, number: int, kind: IdType, span: Span) -> Expression | None:
        """A numbered process instance of a scenario."""
        if not 0 <= number < kind.size:
            self._problems.error(
                "E286", span, f"there is no `{kind.name}[{number}]`: instances are numbered 0 to {kind.size - 1}"
            )
            return None
        return Literal(kind, span, Id(kind.name, number, True))

    def _name(self, node: syntax.Name, ctx: Context, hint: Type | None) -> Expression | None:
        name, span, tables = node.name, node.span, self._world.tables
        binding = ctx.scope.find(name)
        own = None if ctx.process is None else self._world.variables.processes[ctx.process.name]
        in_store = ctx.store is not None and name in self._world.variables.stores[ctx.store]
        if in_store and (binding is not None or (own is not None and name in own.values) or tables.declared(name)):
            self._problems.error(
                "E208",
                span,
                f"`{name}` is a variable of the store `{ctx.store}` and also something else here",
                fix=f"write `{ctx.store}.{name}`, or rename the other",
            )
            return None
        if binding is not None:
            return None if binding.meaning is None else replace(binding.meaning, span=span)
        if in_store and ctx.store is not None:
            return self._member_value(ctx.store, name, span, ctx)
        if own is not None and name in own.values:
            value = own.values[name]
            return None if value is None else ProcessVariable(value.type, span, own.node.name.name, name, None)
        if name in tables.ghosts:
            return self._ghost(name, span, ctx)
        if name in tables.constants or name in tables.switches:
            self._world.used.add(name)
            found = self._world.settings.get(name)
            return None if found is None else Literal(found[0], span, found[1])
        if name in tables.members:
            return self._member(name, span, hint)
        self._not_a_value(name, span, ctx)
        return None

    def _ghost(self, name: str, span: Span, ctx: Context) -> Expression | None:
        if not ctx.reads_state:
            self._problems.error("E232", span, f"this must be a constant, and `{name}` is a ghost")
            return None
        if not ctx.ghosts:
            self._problems.error(
                "E244",
                span,
                f"the protocol cannot read the ghost `{name}`",
                fix="ghosts are for properties; use a store or process variable",
            )
            return None
        ghost = self._world.variables.ghosts[name]
        return None if ghost is None else GhostVariable(ghost.type, span, name)

    def _member(self, name: str, span: Span, hint: Type | None) -> Expression | None:
        enums = self._world.tables.members[name]
        wanted = None if hint is None else without_optional(hint)
        if isinstance(wanted, EnumType) and wanted.name in enums:
            chosen = wanted.name
        elif len(enums) == 1:
            chosen = enums[0]
        else:
            self._problems.error(
                "E208",
                span,
                f"`{name}` is a member of {listed(enums)}, and nothing here says which is meant",
                fix=f"write `{enums[0]}.{name}`",
            )
            return None
        return self._enum_literal(chosen, name, span)

    def _enum_literal(self, enum: str, member: str, span: Span) -> Expression | None:
        kind = self._world.types.resolve(syntax.NamedType(span, enum))
        return None if kind is None else Literal(kind, span, Member(enum, member))

    def _not_a_value(self, name: str, span: Span, ctx: Context) -> None:
        tables = self._world.tables
        what = fix = None
        if name in tables.stores:
            what, fix = "a store", f"name one of its variables, as in `{name}.x`"
        elif name in tables.processes:
            what = "a process"
        elif name in tables.definitions:
            what, fix = "a definition", f"write `{name}(..)`"
        elif name in tables.type_names():
            what = "a type"
        elif name in tables.properties or name in tables.scenarios or name in tables.variants:
            what = "the name of a property, scenario or variant"
        if what is not None:
            self._problems.error("E236", span, f"`{name}` is {what}, not a value", fix=fix)
            return
        own: list[str] = []
        if ctx.process is not None:
            own = list(self._world.variables.processes[ctx.process.name].values)
        if ctx.store is not None:
            own.extend(self._world.variables.stores[ctx.store])
        candidates = [*ctx.scope.names(), *own, *tables.value_names()]
        self._problems.error("E201", span, f"there is nothing called `{name}` here", fix=did_you_mean(name, candidates))

    # ------------------------------------------------------------------------------------------ access

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

    def _member_value(self, store: str, name: str, span: Span, ctx: Context) -> Expression | None:
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

    def _access(self, node: syntax.Access, ctx: Context) -> Expression | None:
        tables, name = self._world.tables, node.name.name
        base = self.is_global(node.base, ctx)
        if base is not None and base in tables.stores:
            if not ctx.reads_state:
                self._problems.error("E232", node.span, f"this must be a constant, and `{node.span.text}` is state")
                return None
            if name in self._world.variables.stores[base]:
                return self._member_value(base, name, node.span, ctx)
            self.unknown_member(base, node.name)
            return None
        if base is not None and base in tables.enums:
            self._world.used.add(base)
            if name in self._world.tables.members and base in tables.members[name]:
                return self._enum_literal(base, name, node.span)
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
        inner = self.infer(node.base, ctx)
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
        key = None if table.instances is None else self.check(index.keys[0], ctx, table.instances)
        if key is None or value is None:
            return None
        return ProcessVariable(value.type, node.span, process, name, key)

    def _index(self, node: syntax.Index, ctx: Context) -> Expression | None:
        name = self.is_global(node.base, ctx)
        if name is not None and name in self._world.tables.processes:
            self._problems.error("E236", node.span, f"`{name}[..]` is an instance, not a value; name a variable of it")
            return None
        base = self.infer(node.base, ctx)
        if base is None:
            for key in node.keys:
                if not isinstance(key, syntax.Nothing):
                    self.infer(key, ctx)
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
            return self.check(keys[0], ctx, kind.key)
        if isinstance(kind.key, TupleType) and len(kind.key.items) == len(keys):
            made = [self.check(key, ctx, of) for key, of in zip(keys, kind.key.items, strict=True)]
            parts = tuple(part for part in made if part is not None)
            return TupleOf(kind.key, span, parts) if len(parts) == len(keys) else None
        fix = "write `m[k1][k2]`" if isinstance(kind.value, MapType) else None
        self._problems.error("E225", span, f"the map has keys of type `{kind.key}`, {len(keys)} are given", fix=fix)
        return None

    # ------------------------------------------------------------------------------------------ questions

    def _method(self, node: syntax.MethodCall, ctx: Context) -> Expression | None:
        verb = node.name.name
        member = self.store_member(node.base, ctx)
        if member is not None and not isinstance(member[1], StoreValue):
            return self._question(member[0], member[1], node.name, node.arguments, node.span, ctx)
        if verb in (*QUEUE_VERBS, *LOCK_VERBS, *MAP_VERBS):
            self._operation_in_expression(node.span, verb, ctx)
            return None
        base = self.infer(node.base, ctx)
        if base is not None:
            self._problems.error("E238", node.name.span, f"`{base.type}` has no `{verb}`")
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
            made = self.check(syntax.TupleLiteral(span, given), ctx, wanted)
            return made is not None, made
        if len(given) != 1:
            self._problems.error("E225", span, f"`{what}` takes one argument, of type `{wanted}`")
            return False, None
        made = self.check(given[0], ctx, wanted)
        return made is not None, made

    # ------------------------------------------------------------------------------------------ composites

    def _record(self, node: syntax.RecordLiteral, ctx: Context) -> Expression | None:
        name = node.name.name
        if name not in self._world.tables.records:
            fix = did_you_mean(name, self._world.tables.records)
            self._problems.error("E202", node.name.span, f"there is no record `{name}`", fix=fix)
            for part in node.fields:
                if not isinstance(part.value, syntax.Nothing):
                    self.infer(part.value, ctx)
            return None
        kind = self._world.types.resolve(syntax.NamedType(node.name.span, name))
        if not isinstance(kind, RecordType):
            return None
        given: dict[str, Expression | None] = {}
        for part in node.fields:
            label = part.name.name
            of = kind.field(label)
            if of is None:
                self.unknown_field(kind, part.name, [f for f, _ in kind.fields])
                return None
            if label in given:
                self._problems.error("E203", part.span, f"the field `{label}` is given twice")
            given[label] = self.check(part.value, ctx, of)
        fields: list[tuple[str, Expression]] = []
        missing: list[str] = []
        for label, of in kind.fields:
            if label in given:
                value = given[label]
                if value is not None:
                    fields.append((label, value))
                continue
            found, default = self._world.types.field_default(name, label, of)
            if found:
                fields.append((label, Literal(of, node.span, default)))
            else:
                missing.append(label)
        if missing:
            self._problems.error(
                "E237", node.span, f"`{name}` needs a value for {listed(missing)}", fix=f"write `{missing[0]}: ..`"
            )
        return RecordOf(kind, node.span, tuple(fields)) if len(fields) == len(kind.fields) else None

    def _set(self, node: syntax.SetLiteral, ctx: Context, hint: Type | None) -> Expression | None:
        wanted = None if hint is None else without_optional(hint)
        item_hint = wanted.item if isinstance(wanted, SetType) else None
        if not node.items:
            if item_hint is None:
                self._problems.error(
                    "E222", node.span, "the type of this `{}` is not known here", fix="write `let x: set of T = {}`"
                )
                return None
            return SetOf(SetType(item_hint), node.span, ())
        items = self.together(node.items, ctx, item_hint)
        parts = [item for item in items if item is not None]
        if len(parts) < len(node.items):
            return None
        common: Type | None = item_hint
        if common is None:
            common = parts[0].type
            for part in parts[1:]:
                joined = join(common, part.type)
                if joined is None:
                    self._problems.error("E220", part.span, f"the set has items of `{common}`; this is `{part.type}`")
                    return None
                common = joined
        made = [self.conversions.coerce(part, common) for part in parts]
        done = tuple(part for part in made if part is not None)
        return SetOf(SetType(common), node.span, done) if len(done) == len(parts) else None

    def _conditional(self, node: syntax.Conditional, ctx: Context, hint: Type | None) -> Expression | None:
        condition = self.check(node.condition, ctx, BOOL)
        then, otherwise = self.together((node.then, node.otherwise), ctx, hint)
        if condition is None or then is None or otherwise is None:
            return None
        kind = join(then.type, otherwise.type)
        if kind is None:
            self._problems.error(
                "E220", node.span, f"one branch is `{then.type}`, the other `{otherwise.type}`; they must agree"
            )
            return None
        first, second = self.conversions.coerce(then, kind), self.conversions.coerce(otherwise, kind)
        if first is None or second is None:
            return None
        return Conditional(kind, node.span, condition, first, second)

    def _prime(self, span: Span, base: syntax.Expression, ctx: Context) -> Expression | None:
        if ctx.primed or not ctx.primes:
            why = "it stands within another prime" if ctx.primed else "only a step invariant speaks of the state after"
            self._problems.error("E246", span, f"`'` has no meaning here: {why}", fix="remove the `'`")
            self.infer(base, replace(ctx, primes=True, primed=True)) if not ctx.primed else None
            return None
        inner = self.infer(base, replace(ctx, primed=True))
        return None if inner is None else Next(inner.type, span, inner)

    # ------------------------------------------------------------------------------------------ several at once

    def together(
        self, nodes: tuple[syntax.Expression, ...], ctx: Context, hint: Type | None
    ) -> list[Expression | None]:
        """Types expressions that are to agree: those that have a type of their own first, the others with its help."""
        made: dict[int, Expression | None] = {}
        waiting = [i for i, node in enumerate(nodes) if self._needs_hint(node, ctx)]
        failed = False
        for i, node in enumerate(nodes):
            if i not in waiting:
                made[i] = self.infer(node, ctx, hint)
                failed = failed or made[i] is None
                if hint is None and made[i] is not None:
                    found = made[i]
                    hint = found.type if found is not None else None
        for i in waiting:
            if hint is None and failed:
                made[i] = None
                continue
            made[i] = self.infer(nodes[i], ctx, hint)
            found = made[i]
            if hint is None and found is not None:
                hint = found.type
        return [made[i] for i in range(len(nodes))]

    def _needs_hint(self, node: syntax.Expression, ctx: Context) -> bool:
        match node:
            case syntax.Nothing() | syntax.Number():
                return True
            case syntax.Name(name=name):
                return len(self._world.tables.members.get(name, ())) > 1 and ctx.scope.find(name) is None
            case syntax.SetLiteral(items=items) | syntax.TupleLiteral(items=items):
                return not items or any(self._needs_hint(item, ctx) for item in items)
            case syntax.Conditional(then=then, otherwise=otherwise):
                return self._needs_hint(then, ctx) and self._needs_hint(otherwise, ctx)
            case _:
                return False
