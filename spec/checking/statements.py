"""From parsed to typed statements, one thread's body at a time."""

from __future__ import annotations

from dataclasses import replace

from spec import syntax
from spec.checking.bodies import Body, is_state, place_parts
from spec.checking.conversions import without_optional
from spec.checking.flow import block_ends, ends, statements, uncaught, written_literal
from spec.checking.operations import Answering, Operations, broken
from spec.checking.places import Places
from spec.checking.scope import Context
from spec.checking.trees import reads
from spec.names import listed
from spec.source import Span
from spec.typed import (
    Assert,
    Assign,
    Atomic,
    Await,
    Block,
    Either,
    Expression,
    Fail,
    Failure,
    For,
    GhostVariable,
    Handler,
    If,
    IsSome,
    Item,
    Local,
    LockVerb,
    Not,
    Place,
    Retry,
    Return,
    Statement,
    ThreadKind,
    Try,
    While,
)
from spec.types import BOOL, OptionalType, SetType, TupleType, Type

_RETRIES = 1_000


class Statements:
    """Types the statements of one body."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._world = body.world
        self._problems = body.problems
        self._expressions = body.world.expressions
        self._places = Places(body.world)
        self._operations = Operations(body, self._places)
        self.failed = False
        """Whether some statement had an error, so that what follows from the whole body is not known."""

    def block(self, nodes: syntax.Block, ctx: Context) -> Block:
        """The typed block; statements with errors are missing from it."""
        made: list[Statement] = []
        ended: syntax.Statement | None = None
        reported = False
        for node in nodes:
            if ended is not None and not reported:
                reported = True
                self._problems.error(
                    "E243",
                    node.head,
                    "this statement is never reached",
                    fix="remove it, or what ends the block before it",
                )
            typed = self._statement(node, ctx)
            if typed is None:
                self.failed = True
                continue
            made.extend(typed)
            if any(map(ends, typed)):
                ended = node
        return tuple(made)

    def _inner(self, nodes: syntax.Block, ctx: Context) -> Block:
        return self.block(nodes, ctx.inner())

    def _statement(self, node: syntax.Statement, ctx: Context) -> list[Statement] | None:
        if ctx.atomic and isinstance(node, syntax.Try | syntax.Retry | syntax.While | syntax.For):
            self._not_in_one_step(node, type(node).__name__.lower())
        match node:
            case syntax.Let():
                return self._let(node, ctx)
            case syntax.Assign():
                return self._assign(node, ctx)
            case syntax.Perform():
                return self._perform(node, ctx)
            case syntax.Await():
                return self._await(node, ctx)
            case syntax.If():
                return self._if(node, 0, ctx)
            case syntax.While():
                return self._while(node, ctx)
            case syntax.Either():
                frame = self._body.frame(self._body.ids.take(), node, ctx)
                return [Either(*frame, tuple(self._inner(branch, ctx) for branch in node.branches))]
            case syntax.For():
                return self._for(node, ctx)
            case syntax.Try():
                return self._try(node, ctx)
            case syntax.Retry():
                return self._retry(node, ctx)
            case syntax.Return():
                return self._return(node, ctx)
            case syntax.Fail():
                frame = self._body.frame(self._body.ids.take(), node, ctx)
                return [Fail(*frame, None if node.reason is None else node.reason.text)]
            case syntax.Transaction() | syntax.Atomic():
                return self._one_step(node, ctx)
            case syntax.Assert():
                identity = self._body.ids.take()
                condition = self._expressions.check(node.condition, replace(ctx, ghosts=True), BOOL)
                if condition is None:
                    return None
                return [Assert(*self._body.frame(identity, node, ctx, read=[condition]), condition)]
            case _:
                raise AssertionError(node)

    def _not_in_one_step(self, node: syntax.Statement, word: str) -> None:
        self._problems.error(
            "E242", node.head, f"`{word}` cannot stand in a block that is one step", fix="move it out of the block"
        )

    # ------------------------------------------------------------------------------------------ values and targets

    def _let(self, node: syntax.Let, ctx: Context) -> list[Statement] | None:
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

    def _assign(self, node: syntax.Assign, ctx: Context) -> list[Statement] | None:
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

    def _perform(self, node: syntax.Perform, ctx: Context) -> list[Statement] | None:
        operation = node.operation
        if isinstance(operation, syntax.MethodCall) and not self._operations.is_operation(operation, ctx):
            typed = self._expressions.infer(operation, ctx)
            if typed is not None:
                self._problems.error("E266", node.head, "this has no effect: its answer is not used")
            return None
        made = self._operations.operation(operation, node, ctx)
        return None if made is None or broken(made) else [made.build(None)]

    # ------------------------------------------------------------------------------------------ conditions

    def _await(self, node: syntax.Await, ctx: Context) -> list[Statement] | None:
        condition = node.condition
        if isinstance(condition, syntax.MethodCall) and condition.name.name == "acquire":
            made = self._operations.lock(condition, node, ctx, LockVerb.AWAIT)
            return None if made is None or broken(made) else [made.build(None)]
        identity = self._body.ids.take()
        typed = self._expressions.check(condition, ctx, BOOL)
        return None if typed is None else [Await(*self._body.frame(identity, node, ctx, read=[typed]), typed)]

    def _acquire(
        self, condition: syntax.Expression, node: syntax.Statement, ctx: Context
    ) -> tuple[Answering | None, bool] | None:
        """The operation, and whether it is negated, when the condition is `l.acquire(k)` or `not l.acquire(k)`."""
        negated = isinstance(condition, syntax.Not)
        inner = condition.base if isinstance(condition, syntax.Not) else condition
        if not isinstance(inner, syntax.MethodCall) or inner.name.name != "acquire":
            return None
        return self._operations.lock(inner, node, ctx, LockVerb.ACQUIRE), negated

    def _answered(self, operation: Answering, negated: bool, span: Span) -> tuple[Local, Expression] | None:
        """A hidden local for the answer of an acquire, and the condition on it."""
        if operation.answer is None or broken(operation):
            return None
        answer = self._body.hidden(operation.answer, span)
        condition: Expression = answer
        if isinstance(operation.answer, OptionalType):
            condition = IsSome(BOOL, span, answer)
        return answer, Not(BOOL, span, condition) if negated else condition

    def _if(self, node: syntax.If, position: int, ctx: Context) -> list[Statement] | None:
        branch = node.branches[position]
        as_statement = syntax.Statement(branch.span, branch.head)
        made: list[Statement] = []
        condition: Expression | None
        acquire = self._acquire(branch.condition, as_statement, ctx)
        if acquire is not None:
            operation, negated = acquire
            condition = None
            answered = None if operation is None else self._answered(operation, negated, branch.condition.span)
            if operation is not None and answered is not None:
                answer, condition = answered
                made.append(operation.build(Place(answer, (), answer.type)))
            identity = self._body.ids.take()
        else:
            identity = self._body.ids.take()
            condition = self._expressions.check(branch.condition, ctx, BOOL)
        then = self._inner(branch.body, ctx)
        otherwise: Block = ()
        alternative: syntax.Statement | None = None
        if position + 1 < len(node.branches):
            rest = self._if(node, position + 1, ctx)
            alternative = syntax.Statement(node.branches[position + 1].span, node.branches[position + 1].head)
            if rest is None:
                self.failed = True
            otherwise = tuple(rest or ())
        elif node.otherwise is not None:
            otherwise = self._inner(node.otherwise, ctx)
            alternative = node.otherwise[0] if node.otherwise else None
        if condition is None:
            return None
        dead: syntax.Statement | None = None
        if written_literal(condition, True):
            dead = alternative
        elif written_literal(condition, False):
            dead = branch.body[0] if branch.body else None
        if dead is not None:
            self._problems.error(
                "E243", dead.head, f"this is never reached: the condition is always {branch.condition.span.text}"
            )
        frame = self._body.frame(identity, as_statement, ctx, read=[condition])
        return [*made, If(*frame, condition, then, otherwise)]

    def _while(self, node: syntax.While, ctx: Context) -> list[Statement] | None:
        acquire = self._acquire(node.condition, node, ctx)
        if acquire is not None:
            operation, negated = acquire
            answered = None if operation is None else self._answered(operation, negated, node.condition.span)
            identity = self._body.ids.take()
            body = self._inner(node.body, ctx)
            if operation is None or answered is None:
                return None
            answer, condition = answered
            first = operation.build(Place(answer, (), answer.type))
            again: Block = ()
            if not block_ends(body):
                again = (replace(first, id=self._body.ids.take()),)
            frame = self._body.frame(identity, node, ctx, read=[condition])
            return [first, While(*frame, condition, (*body, *again))]
        identity = self._body.ids.take()
        typed = self._expressions.check(node.condition, ctx, BOOL)
        before = self.failed
        self.failed = False
        body = self._inner(node.body, ctx)
        whole = not self.failed
        self.failed = self.failed or before
        if typed is None:
            return None
        if whole and not reads(typed).shared and not any(inner.shared for inner in statements(body)):
            if written_literal(typed, True) and not any(isinstance(s, Return | Fail) for s in statements(body)):
                self._problems.error(
                    "E257", node.head, "this loop never ends and never takes a step", fix="let it read or write state"
                )
            else:
                self._problems.warning(
                    "W208", node.head, "this loop touches no shared state, so it runs as a part of one step"
                )
        if written_literal(typed, False) and node.body:
            self._problems.error("E243", node.body[0].head, "this is never reached: the condition is always false")
        return [While(*self._body.frame(identity, node, ctx, read=[typed]), typed, body)]

    # ------------------------------------------------------------------------------------------ control

    def _for(self, node: syntax.For, ctx: Context) -> list[Statement] | None:
        identity = self._body.ids.take()
        items = self._expressions.infer(node.items, ctx)
        item: Type | None = None
        if items is not None:
            kind = items.type
            if isinstance(kind, SetType):
                item = kind.item
            else:
                fix = "unwrap it first" if isinstance(without_optional(kind), SetType) else None
                self._problems.error("E235", node.items.span, f"`for` goes through a set; this is `{kind}`", fix=fix)
            if reads(items).shared:
                self._problems.error(
                    "E255",
                    node.items.span,
                    "the set of a `for` must be a local value, so that reading it is a step of its own",
                    fix=f"write `let items = {node.items.span.text}`, then `for {node.name.name} in items`",
                )
        inner = ctx.inner()
        local = self._body.declare(node.name, item, inner)
        body = self._inner(node.body, inner)
        if items is None or item is None or local is None:
            return None
        frame = self._body.frame(identity, node, ctx, read=[items])
        frame = (*frame[:4], False, False)
        return [For(*frame, local.key, item, items, body)]

    def _try(self, node: syntax.Try, ctx: Context) -> list[Statement] | None:
        frame = self._body.frame(self._body.ids.take(), node, ctx)
        before, self.failed = self.failed, False
        body = self._inner(node.body, ctx)
        possible: frozenset[Failure] | None = None if self.failed else uncaught(body)
        self.failed = self.failed or before
        handlers: list[Handler] = []
        for handler in node.handlers:
            wanted = None if handler.failures is None else frozenset(handler.failures)
            if possible is not None:
                self._never_caught(handler, wanted, possible)
                possible = frozenset() if wanted is None else possible - wanted
            handlers.append(Handler(wanted, self._inner(handler.body, ctx)))
        return [Try(*frame, body, tuple(handlers))]

    def _never_caught(
        self, node: syntax.Handler, wanted: frozenset[Failure] | None, possible: frozenset[Failure]
    ) -> None:
        if wanted is None:
            if not possible:
                self._problems.warning("W202", node.head, "nothing is left that this `catch` could catch")
            return
        never = [failure.value for failure in node.failures or () if failure not in possible]
        if never:
            self._problems.warning(
                "W202", node.head, f"this `catch` never catches {listed(never, 'or')}: no statement before it fails so"
            )

    def _retry(self, node: syntax.Retry, ctx: Context) -> list[Statement] | None:
        frame = self._body.frame(self._body.ids.take(), node, ctx)
        times = self._world.types.integer(node.times)
        body = self._inner(node.body, ctx)
        if times is None:
            return None
        if not 1 <= times <= _RETRIES:
            self._problems.error(
                "E229",
                node.times.span,
                f"the number of retries is {times}; it must be at least 1 and at most {_RETRIES}",
            )
            return None
        return [Retry(*frame, times, body)]

    def _return(self, node: syntax.Return, ctx: Context) -> list[Statement] | None:
        identity = self._body.ids.take()
        thread, signature = self._body.signature.node, self._body.signature
        if ctx.atomic and self._body.called:
            self._problems.error(
                "E262",
                node.head,
                f"`{thread.name.name}` is called, and its reply is a step of its own",
                fix="put the value in a local and return behind the block",
            )
        value: Expression | None = None
        if node.value is None:
            if thread.result is not None:
                self._problems.error(
                    "E251", node.head, f"`{thread.name.name}` must return a value", fix="write `return e`"
                )
                return None
        elif thread.result is None:
            what = "no result" if thread.kind is ThreadKind.ON else "no caller, being a " + thread.kind.value
            self._problems.error(
                "E252",
                node.value.span,
                f"`{thread.name.name}` has {what}, so it cannot return a value",
                fix=f"declare a result: `on {thread.name.name}(..): T`"
                if thread.kind is ThreadKind.ON
                else "`return` alone",
            )
            return None
        else:
            if signature.result is None:
                if not isinstance(node.value, syntax.Nothing | syntax.SetLiteral):
                    self._expressions.infer(node.value, ctx)
                return None
            value = self._expressions.check(node.value, ctx, signature.result)
            if value is None:
                return None
            if reads(value).shared:
                self._problems.error(
                    "E253",
                    node.value.span,
                    "a `return` cannot read shared state: the reading would be another step",
                    fix=f"write `let x = {node.value.span.text}` first, then `return x`",
                )
        frame = self._body.frame(identity, node, ctx, shared=self._body.called)
        return [Return(*frame, value)]

    def _one_step(self, node: syntax.Transaction | syntax.Atomic, ctx: Context) -> list[Statement] | None:
        identity = self._body.ids.take()
        inner = replace(ctx.inner(), atomic=True)
        stores: list[str] = []
        known = True
        if isinstance(node, syntax.Transaction):
            store = node.store.name
            known = store in self._world.variables.stores
            if not known:
                have = list(self._world.variables.stores)
                self._problems.error(
                    "E205",
                    node.store.span,
                    f"there is no store `{store}`" + (f"; there are {listed(have)}" if have else ""),
                )
            elif ctx.store is not None and ctx.store != store:
                self._problems.error(
                    "E241", node.head, f"a transaction on `{ctx.store}` cannot contain one on `{store}`"
                )
                inner = replace(inner, store=store)
                known = False
            else:
                inner = replace(inner, store=store)
                stores = [store]
        if not node.body:
            self._problems.error("E256", node.head, "this block is empty", fix="remove it")
        body = self.block(node.body, inner)
        if not known:
            return None
        for statement in statements(body):
            stores.extend(statement.stores)
        frame = self._body.frame(identity, node, replace(ctx, atomic=True), stores=stores, shared=True)
        transaction = isinstance(node, syntax.Transaction)
        name = None if isinstance(node, syntax.Transaction) or node.name is None else node.name.text
        return [Atomic(*frame, name, transaction, body)]


def _type_of(targets: Place | tuple[Place, ...]) -> Type:
    return TupleType(tuple(place.type for place in targets)) if isinstance(targets, tuple) else targets.type
