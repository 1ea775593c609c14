"""From written types to types with sizes, and their default values."""

from __future__ import annotations

from spec import syntax
from spec.checking.constants import NotConstant, evaluate
from spec.checking.scope import constant_context
from spec.checking.tables import unique
from spec.checking.world import World
from spec.diagnostic import Note
from spec.names import did_you_mean
from spec.source import Span
from spec.types import (
    BOOL,
    INT,
    BoolType,
    EnumType,
    IdType,
    IntType,
    MapType,
    OptionalType,
    RangeType,
    RecordType,
    SetType,
    TupleType,
    Type,
)
from spec.value import Row, Table, Value, default, domain

ENTRIES = 65_536
"""The most entries that a map, or values that a quantifier, may have."""

DEPTH = 40
"""The most types that may stand within one another."""

COPIES = 4_096
"""The largest size, capacity or count."""


def is_scalar(kind: Type) -> bool:
    """Whether values of the type are single and finitely many."""
    return isinstance(kind, BoolType | EnumType | IdType | RangeType)


def is_key(kind: Type) -> bool:
    """Whether the type may be a map's key, a set's item or a quantifier's domain."""
    return is_scalar(kind) or (isinstance(kind, TupleType) and all(map(is_scalar, kind.items)))


def is_finite(kind: Type) -> bool:
    """Whether the environment can choose a value of the type: no `int`, no collections."""
    match kind:
        case OptionalType(value):
            return is_finite(value)
        case TupleType(items):
            return all(map(is_finite, items))
        case RecordType(fields=fields):
            return all(is_finite(kind) for _, kind in fields)
        case _:
            return is_scalar(kind)


def cardinality(kind: Type) -> int:
    """How many values a finite type has."""
    match kind:
        case BoolType():
            return 2
        case EnumType(members=members):
            return len(members)
        case IdType(size=size):
            return size
        case RangeType(low, high):
            return high - low + 1
        case OptionalType(value):
            return 1 + cardinality(value)
        case TupleType(items):
            result = 1
            for item in items:
                result *= cardinality(item)
            return result
        case RecordType(fields=fields):
            return cardinality(TupleType(tuple(kind for _, kind in fields)))
        case _:
            return 0


def entries(kind: Type) -> int:
    """How many single values a variable of the type holds."""
    match kind:
        case MapType(key, value):
            return cardinality(key) * entries(value)
        case OptionalType(value):
            return entries(value)
        case TupleType(items):
            return sum(map(entries, items))
        case RecordType(fields=fields):
            return sum(entries(kind) for _, kind in fields)
        case SetType(item):
            return cardinality(item)
        case _:
            return 1


def depth(kind: Type) -> int:
    """How deep types are nested in the type."""
    match kind:
        case MapType(key, value):
            return 1 + max(depth(key), depth(value))
        case OptionalType(value) | SetType(value):
            return 1 + depth(value)
        case TupleType(items):
            return 1 + max(map(depth, items))
        case RecordType(fields=fields):
            return 1 + max((depth(kind) for _, kind in fields), default=0)
        case _:
            return 1


def shown(number: int) -> str:
    """A number of values for a message; it may have more digits than can be written."""
    return str(number) if number < 10**9 else "more than a thousand million"


class Types:
    """Resolves written types.  Errors are reported once, where they stand; a type that is wrong is None."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems
        self._named: dict[str, Type | None] = {}
        self._defaults: dict[str, dict[str, Value]] = {}

    def resolve(self, node: syntax.TypeExpression) -> Type | None:
        """The type that is written."""
        match node:
            case syntax.NamedType(span=span, name=name):
                return self._name(name, span)
            case syntax.RangeType(span=span, low=low, high=high):
                first, last = self.integer(low), self.integer(high)
                if first is None or last is None:
                    return None
                if first > last:
                    self._problems.error(
                        "E230", span, f"the range {first}..{last} is empty", fix=f"write {last}..{first}"
                    )
                    return None
                made_range = RangeType(first, last)
                return made_range if self._few(made_range, "a range", span) else None
            case syntax.OptionalType(span=span, value=value):
                inner = self.resolve(value)
                if isinstance(inner, OptionalType):
                    self._problems.error("E227", span, f"`{inner}` is optional already", fix="remove one `?`")
                    return inner
                return None if inner is None else OptionalType(inner)
            case syntax.TupleType(items=items):
                parts = [self.resolve(item) for item in items]
                known = tuple(part for part in parts if part is not None)
                return TupleType(known) if len(known) == len(parts) else None
            case syntax.MapType(span=span, key=key, value=value):
                index, result = self.resolve(key), self.resolve(value)
                if index is None or result is None or not self.may_be_key(index, key.span, "a map's key"):
                    return None
                made = MapType(index, result)
                return made if self._small(made, span) else None
            case syntax.SetType(item=item):
                member = self.resolve(item)
                if member is None or not self.may_be_key(member, item.span, "an item of a set"):
                    return None
                return SetType(member) if self._few(member, "a set's item", item.span) else None

    def key(self, node: syntax.TypeExpression, what: str) -> Type | None:
        """A written type that must be a scalar or a tuple of scalars; `what` says of what, for the message."""
        kind = self.resolve(node)
        return kind if kind is not None and self.may_be_key(kind, node.span, what) else None

    def domain(self, node: syntax.TypeExpression, what: str) -> Type | None:
        """A written type over whose values something ranges."""
        kind = self.key(node, what)
        return kind if kind is not None and self._few(kind, what, node.span) else None

    def _few(self, kind: Type, what: str, span: Span) -> bool:
        """Whether a finite type has few enough values for something that takes one or any of them; if not, that is
        reported."""
        if cardinality(kind) <= ENTRIES:
            return True
        fix = "use smaller sizes, or `int`" if isinstance(kind, RangeType) else "use smaller sizes"
        self._problems.error(
            "E234",
            span,
            f"`{kind}` has {shown(cardinality(kind))} values; {what} may range over {ENTRIES} at most",
            fix=fix,
        )
        return False

    def may_be_key(self, kind: Type, span: Span, what: str) -> bool:
        """Whether the type is a scalar or a tuple of scalars; if not, that is reported."""
        if is_key(kind):
            return True
        fix = None
        if isinstance(kind, IntType):
            fix = "use a range such as 0..3"
        elif isinstance(kind, OptionalType):
            fix = "remove the `?`"
        self._problems.error(
            "E226", span, f"`{kind}` cannot be {what}: that must be a scalar or a tuple of scalars", fix=fix
        )
        return False

    def _small(self, kind: MapType, span: Span) -> bool:
        if entries(kind) <= ENTRIES:
            return True
        self._problems.error(
            "E234",
            span,
            f"a map `{kind}` has {shown(entries(kind))} entries; {ENTRIES} are the most",
            fix="use smaller sizes",
        )
        return False

    def _name(self, name: str, span: Span) -> Type | None:
        if name == "bool":
            return BOOL
        if name == "int":
            return INT
        self._world.used.add(name)
        if name in self._named:
            return self._named[name]
        tables = self._world.tables
        if name not in tables.type_names():
            self._problems.error(
                "E202", span, f"there is no type `{name}`", fix=did_you_mean(name, tables.type_names())
            )
        return None

    def settle(self, name: str) -> None:
        """Resolves a declared type; those that it uses are settled."""
        made = self._declared(name)
        self._named[name] = made if made is None or self._bounded(made, name) else None

    def named(self, name: str) -> Type | None:
        """The type of a declared name; None when it has an error."""
        return self._named.get(name)

    def _bounded(self, kind: Type, name: str) -> bool:
        if depth(kind) > DEPTH:
            what = f"nests more than {DEPTH} types"
        elif entries(kind) > ENTRIES:
            what = f"has {shown(entries(kind))} parts; {ENTRIES} are the most"
        else:
            return True
        declared = self._world.tables.declared(name)
        self._problems.error("E234", None if declared is None else declared.span, f"the type `{name}` {what}")
        return False

    def _declared(self, name: str) -> Type | None:
        tables = self._world.tables
        if name in tables.enums:
            members = tuple(dict.fromkeys(member.name for member in tables.enums[name].members))
            return EnumType(name, members)
        if name in tables.ids:
            size = self.count(tables.ids[name].size, f"the number of ids `{name}`")
            return None if size is None else IdType(name, size)
        if name in tables.processes:
            count = tables.processes[name].count
            number = 1 if count is None else self.count(count, f"the number of instances of `{name}`")
            return None if number is None else IdType(name, number, of_process=True)
        if name in tables.aliases:
            return self.resolve(tables.aliases[name].type)
        return self._record(tables.records[name])

    def _record(self, node: syntax.Record) -> Type | None:
        names = {id(name) for name in unique(tuple(f.name for f in node.fields), self._problems, "a field")}
        fields: list[tuple[str, Type]] = []
        known = True
        for field in node.fields:
            if id(field.name) not in names:
                continue
            kind = self.resolve(field.type)
            if kind is None:
                known = False
            else:
                fields.append((field.name.name, kind))
        if not known:
            return None
        defaults: dict[str, Value] = {}
        self._defaults[node.name.name] = defaults
        for field in node.fields:
            kind = dict(fields)[field.name.name]
            if field.default is not None and id(field.name) in names:
                found, value = self._initial(field.default, kind)
                if found:
                    defaults[field.name.name] = value
        return RecordType(node.name.name, tuple(fields))

    # ------------------------------------------------------------------------------------------ values

    def initial(self, kind: Type, written: syntax.Expression | None, name: syntax.Identifier) -> Value:
        """The initial value of a variable; where it has none that is reported, and some value is the answer."""
        if written is not None:
            return self._initial(written, kind)[1]
        if self.has_default(kind):
            return self.default(kind)
        bare = self._bare_id(kind)
        self._problems.error(
            "E228",
            name.span,
            f"`{name.name}` has no initial value: no `{bare}` can be told from another",
            fix=f"write `{bare}?`; it starts as none",
        )
        return None

    def _initial(self, written: syntax.Expression, kind: Type) -> tuple[bool, Value]:
        """Whether the written value is one, and the value; for a map, that of every entry."""
        inner = kind
        while isinstance(inner, MapType):
            inner = inner.value
        found, value = self.value(written, inner)
        return found, self._everywhere(kind, value) if found else None

    def _everywhere(self, kind: Type, value: Value) -> Value:
        if isinstance(kind, MapType):
            inner = self._everywhere(kind.value, value)
            return Table(tuple((key, inner) for key in domain(kind.key)))
        return value

    def value(self, written: syntax.Expression, kind: Type) -> tuple[bool, Value]:
        """Whether the expression is a constant of the type, and its value; errors are reported."""
        typed = self._world.expressions.check(written, constant_context(), kind)
        if typed is None:
            return False, None
        try:
            return True, evaluate(typed)
        except NotConstant as reason:
            self._problems.error("E232", written.span, f"this must be a constant: {reason}")
            return False, None

    def integer(self, node: syntax.Expression) -> int | None:
        """The value of a constant integer expression."""
        found, value = self.value(node, INT)
        return value if found and isinstance(value, int) else None

    def count(self, node: syntax.Expression, what: str) -> int | None:
        """The value of a size: at least 1, and not absurd."""
        number = self.integer(node)
        if number is None:
            return None
        if 1 <= number <= COPIES:
            return number
        needed = "at least 1" if number < 1 else f"at most {COPIES}"
        told = str(number) if abs(number) < 10**9 else "too large a number"
        notes: tuple[Note, ...] = ()
        self._problems.error("E229", node.span, f"{what} is {told}; it must be {needed}", notes=notes)
        return None

    def has_default(self, kind: Type) -> bool:
        """Whether a variable of the type has a value to start with."""
        return self._bare_id(kind) is None

    def _bare_id(self, kind: Type) -> Type | None:
        match kind:
            case IdType():
                return kind
            case MapType(value=value):
                return self._bare_id(value)
            case TupleType(items):
                found = (self._bare_id(item) for item in items)
                return next((bare for bare in found if bare is not None), None)
            case RecordType(name=name, fields=fields):
                given = self._defaults.get(name, {})
                found = (self._bare_id(field) for label, field in fields if label not in given)
                return next((bare for bare in found if bare is not None), None)
            case _:
                return None

    def default(self, kind: Type) -> Value:
        """The value that a variable of this type starts with; the type has one (`has_default`)."""
        match kind:
            case TupleType(items):
                return tuple(self.default(item) for item in items)
            case RecordType(name, fields):
                given = self._defaults.get(name, {})
                return Row(name, tuple((f, given[f] if f in given else self.default(t)) for f, t in fields))
            case MapType(key, value):
                inner = self.default(value)
                return Table(tuple((k, inner) for k in domain(key)))
            case _:
                return default(kind)

    def field_default(self, record: str, field: str, kind: Type) -> tuple[bool, Value]:
        """Whether a record's field may be left out, and what it is then."""
        given = self._defaults.get(record, {})
        if field in given:
            return True, given[field]
        return (True, self.default(kind)) if self.has_default(kind) else (False, None)
