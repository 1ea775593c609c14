"""`let`, `:=` and operations: values, and where they go."""

from __future__ import annotations

from dataclasses import replace

from spec import syntax
from spec.checking.bodies import Body, is_state, place_parts
from spec.checking.operations import Answering, Operations, broken
from spec.checking.places import Places
from spec.checking.scope import Context
from spec.checking.trees import reads
from spec.source import Span
from spec.typed import Assign, Expression, GhostVariable, Item, Local, Place, Statement
from spec.types import TupleType, Type


class Assignments:
    """Types the statements that give something a value."""

    def __init__(self, body: Body, operations: Operations, places: Places) -> None:
        self._body = body
        self._world = body.world
        self._problems = body.problems
        self._expressions = body.world.expressions
        self._places = places
        self._operations = operations

    def let(self, node: syntax.Let, ctx: Context) -> list[Statement] | None:
        """`let x = ..`; None after an error."""
        annotated = None if node.annotation is None else self._world.types.resolve(node.annotation)
        value = node.value
        if isinstance(value, syntax.Choose):
            return self._let_any(node, value, annotated, ctx)
        if isinstance(value, syntax.Fresh):
            return self._let_fresh(node, value, annotated, ctx)
        if self._operations.is_operation(value, ctx):
            operation = self._operations.operation(value, node, ctx)
            kind = self._answer(operation, value.span, annotated)
            targets = self._declare(node, kind, ctx)
            if operation is None or kind is None or targets is None or broken(operation):
                return None
            return [operation.build(targets)]
        assert not isinstance(value, syntax.AwaitValue | syntax.Update | syntax.Request)
        identity = self._body.ids.take()
        if node.annotation is None:
            typed = self._expressions.infer(value, ctx)
        elif annotated is None:
            typed = None
        else:
            typed = self._expressions.check(value, ctx, annotated)
        kind = annotated if node.annotation is not None else None if typed is None else typed.type
        targets = self._declare(node, kind, ctx)
        if typed is None or targets is None:
            return None
        frame = self._body.frame(identity, node, ctx, read=[typed])
        return [Assign(*frame, targets, typed)]

    def _answer(self, operation: Answering | None, span: Span, annotated: Type | None) -> Type | None:
        """The type of an operation's answer; that there is none, or another than is wanted, is reported."""
        if operation is None:
            return annotated
        if operation.answer is None:
            self._no_answer(span)
            return None
        if annotated is not None and annotated != operation.answer:
            self._problems.error(
                "E220",
                span,
                f"`{annotated}` is expected here, but the answer is `{operation.answer}`",
                fix="take the answer into a local of its own type with `let` first",
            )
            return None
        return operation.answer

    def _no_answer(self, span: Span) -> None:
        what = span.text.split("\n", 1)[0]
        if what.startswith("call"):
            self._problems.error(
                "E250",
                span,
                "this handler returns nothing",
                fix="declare its result, `on name(..): T`, or drop the `let`",
            )
        else:
            self._problems.error("E261", span, f"`{what}` answers nothing", fix="drop what is left of it")

    def _declare(self, node: syntax.Let, kind: Type | None, ctx: Context) -> Place | tuple[Place, ...] | None:
        """Declares the locals of a `let`; None when a type is not known."""
        kinds = self._parts(kind, len(node.names), node.head)
        made = [self._body.declare(name, of, ctx) for name, of in zip(node.names, kinds, strict=True)]
        places = tuple(Place(local, (), local.type) for local in made if local is not None)
        if len(places) < len(made):
            return None
        return places[0] if len(node.names) == 1 else places

    def _parts(self, kind: Type | None, count: int, span: Span) -> list[Type | None]:
        if count == 1:
            return [kind]
        if kind is None:
            return [None] * count
        if not isinstance(kind, TupleType) or len(kind.items) != count:
            self._problems.error("E264", span, f"`{kind}` is no tuple of {count} items")
            return [None] * count
        return list(kind.items)

    def _let_any(
        self, node: syntax.Let, value: syntax.Choose, annotated: Type | None, ctx: Context
    ) -> list[Statement] | None:
        over = self._operations.domain(value)
        if annotated is not None and over is not None and annotated != over:
            self._problems.error("E220", value.span, f"`{annotated}` is expected here, but this is `{over}`")
            over = None
        if len(node.names) == 1:
            local = self._body.declare(node.names[0], over, ctx)
            if local is None:
                return None
            made = self._operations.choose(value, node, ctx, {node.names[0].name: local}, local)
            return None if made is None else [made]
        kinds = self._parts(over, len(node.names), node.head)
        names: dict[str, Expression] = {}
        whole = None if over is None else self._body.hidden(over, node.head)
        known = all(kind is not None for kind in kinds)
        if whole is not None and known:
            for position, (name, of) in enumerate(zip(node.names, kinds, strict=True)):
                if of is not None:
                    names[name.name] = Item(of, name.span, whole, position)
        chosen = None
        if whole is not None and known:
            chosen = self._operations.choose(value, node, ctx, names, whole)
        targets = self._declare(node, over if known else None, ctx)
        if chosen is None or targets is None or whole is None:
            return None
        frame = self._body.frame(self._body.ids.take(), node, ctx)
        return [chosen, Assign(*frame, targets, whole)]

    def _let_fresh(
        self, node: syntax.Let, value: syntax.Fresh, annotated: Type | None, ctx: Context
    ) -> list[Statement] | None:
        over = self._operations.fresh_type(value)
        if len(node.names) != 1:
            self._parts(over, len(node.names), node.head)
            over = None
        if annotated is not None and over is not None and annotated != over:
            self._problems.error("E220", value.span, f"`{annotated}` is expected here, but this is `{over}`")
            over = None
        declared = [self._body.declare(name, over, ctx) for name in node.names]
        local = declared[0]
        return None if local is None or over is None else [self._operations.fresh(node, ctx, local, over)]

    def assign(self, node: syntax.Assign, ctx: Context) -> list[Statement] | None:
        """`place := ..`; None after an error."""
        value = node.value
        if isinstance(value, syntax.Choose | syntax.Fresh):
            return self._assign_choice(node, value, ctx)
        if self._operations.is_operation(value, ctx):
            operation = self._operations.operation(value, node, ctx)
            targets = self._targets(node.place, ctx)
            if targets is None:
                return None
            for place in targets if isinstance(targets, tuple) else (targets,):
                if not self._local_target(place, node.place.span):
                    return None
            kind = self._answer(operation, value.span, _type_of(targets))
            if operation is None or kind is None or broken(operation):
                return None
            return [operation.build(targets)]
        assert not isinstance(value, syntax.AwaitValue | syntax.Update | syntax.Request)
        identity = self._body.ids.take()
        targets = self._targets(node.place, ctx)
        inner = ctx
        if targets is not None:
            everything = targets if isinstance(targets, tuple) else (targets,)
            if all(isinstance(place.root, GhostVariable) for place in everything):
                inner = replace(ctx, ghosts=True)
        if targets is None:
            if not isinstance(value, syntax.Nothing | syntax.SetLiteral):
                self._expressions.infer(value, inner)
            return None
        typed = self._expressions.check(value, inner, _type_of(targets))
        if typed is None:
            return None
        everything = targets if isinstance(targets, tuple) else (targets,)
        frame = self._body.frame(identity, node, ctx, read=[typed], written=everything)
        return [Assign(*frame, targets, typed)]

    def _targets(self, node: syntax.Expression, ctx: Context) -> Place | tuple[Place, ...] | None:
        if not isinstance(node, syntax.TupleLiteral):
            return self._places.place(node, ctx)
        made = [self._places.place(item, ctx) for item in node.items]
        places = tuple(place for place in made if place is not None)
        return places if len(places) == len(made) else None

    def _local_target(self, place: Place, span: Span) -> bool:
        shared = is_state(place.root) or reads(*place_parts(place)).shared
        if shared:
            self._problems.error(
                "E265",
                span,
                "the answer of an operation goes to a local",
                fix="write `let x = ..` first; then assign x, in one `step` if both belong together",
            )
        return not shared

    def _assign_choice(
        self, node: syntax.Assign, value: syntax.Choose | syntax.Fresh, ctx: Context
    ) -> list[Statement] | None:
        place = self._targets(node.place, ctx)
        over: Type | None
        if isinstance(value, syntax.Choose):
            over = self._operations.domain(value)
        else:
            over = self._operations.fresh_type(value)
        if place is None or over is None:
            return None
        if isinstance(place, tuple) or not isinstance(place.root, Local) or place.path:
            self._problems.error("E265", node.place.span, "the value goes to a local", fix="write `let x = ..` first")
            return None
        if place.type != over:
            self._problems.error("E220", value.span, f"`{place.type}` is expected here, but this is `{over}`")
            return None
        assert isinstance(node.place, syntax.Name)
        if isinstance(value, syntax.Choose):
            made = self._operations.choose(value, node, ctx, {node.place.name: place.root}, place.root)
            return None if made is None else [made]
        fresh = self._operations.fresh_type(value)
        return None if fresh is None else [self._operations.fresh(node, ctx, place.root, fresh)]

    def perform(self, node: syntax.Perform, ctx: Context) -> list[Statement] | None:
        """An operation whose answer is not used; None after an error."""
        operation = node.operation
        if isinstance(operation, syntax.MethodCall) and not self._operations.is_operation(operation, ctx):
            typed = self._expressions.infer(operation, ctx)
            if typed is not None:
                self._problems.error("E266", node.head, "this has no effect: its answer is not used")
            return None
        made = self._operations.operation(operation, node, ctx)
        return None if made is None or broken(made) else [made.build(None)]


def _type_of(targets: Place | tuple[Place, ...]) -> Type:
    return TupleType(tuple(place.type for place in targets)) if isinstance(targets, tuple) else targets.type
