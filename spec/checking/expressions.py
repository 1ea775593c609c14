"""From parsed to typed expressions: names, literals and collections; other modules do the rest.

Types flow both ways: a hint says what type is hoped for, so that `none`, `{}` and enum members that several enums have
find theirs.  An expression with an error is None, and whatever contains it stays silent.
"""

from __future__ import annotations

from dataclasses import replace

from spec import syntax
from spec.checking.accesses import Accesses
from spec.checking.conversions import Conversions, join, join_items, narrow, soften, without_optional
from spec.checking.operators import Operators
from spec.checking.quantifiers import Quantifiers
from spec.checking.scope import Binding, Context, Scope
from spec.checking.world import World
from spec.diagnostic import Note
from spec.names import did_you_mean, listed
from spec.source import Span
from spec.typed import (
    Conditional,
    Expression,
    GhostVariable,
    Literal,
    Next,
    ProcessVariable,
    RecordOf,
    Self,
    SetOf,
    TupleOf,
)
from spec.types import (
    BOOL,
    INT,
    EnumType,
    IdType,
    OptionalType,
    RecordType,
    SetType,
    TupleType,
    Type,
)
from spec.value import Id, Member


class Expressions:
    """Makes typed expressions."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems
        self.conversions = Conversions(world.problems)
        self.accesses = Accesses(self, world)
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
            if declared is not None and not self._sees(binding.span, declared.span):
                declared = None
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

    def _sees(self, place: Span, declaration: Span) -> bool:
        """Whether a reader of the file at `place` knows the declaration: an imported file does not know the names of
        the files that import it, so it may use them for its own."""
        return declaration.source is place.source or place.source is self._world.module.source

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
                return self.accesses.access(node, ctx)
            case syntax.Index():
                return self.accesses.index(node, ctx)
            case syntax.MethodCall():
                return self.accesses.method(node, ctx)
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
            case syntax.LeadsTo() | syntax.Temporal():
                self._misplaced(node, ctx)
                return None
            case syntax.Not() | syntax.Negative() | syntax.Binary() | syntax.Is():
                return self._operators.infer(node, ctx, hint)

    def _misplaced(self, node: syntax.LeadsTo | syntax.Temporal, ctx: Context) -> None:
        """A temporal operator that is not the one of a `live` property."""
        if isinstance(node, syntax.Temporal):
            word, span = node.word.name, node.word.span
        else:
            word, span = "~>", node.operator_span
        fix = f"a live property has one temporal operator: make `{word}` a property of its own"
        if not ctx.live:
            fix = "write `live name: p ~> q`"
        elif isinstance(node, syntax.Temporal) and node.word.name == "eventually":
            fix = "leave it out: `~>` and `eventually` say `eventually` already"
        self._problems.error("E291", span, f"the temporal operator `{word}` cannot stand here", fix=fix)

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
            return self.accesses.member_value(ctx.store, name, span, ctx)
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
        return self.enum_literal(chosen, name, span)

    def enum_literal(self, enum: str, member: str, span: Span) -> Expression | None:
        """A member of an enum."""
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
                self.accesses.unknown_field(kind, part.name, [f for f, _ in kind.fields])
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
            parts = [narrow(part) for part in parts]
            common = parts[0].type
            for part in parts[1:]:
                joined = join_items(common, part.type)
                if joined is None:
                    self._problems.error("E220", part.span, f"the set has items of `{common}`; this is `{part.type}`")
                    return None
                common = joined
            if not self._world.types.may_be_key(common, node.span, "an item of a set"):
                return None
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
