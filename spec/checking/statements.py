"""From parsed to typed statements, one thread's body at a time."""

from __future__ import annotations

from dataclasses import replace

from spec import syntax
from spec.checking.assignments import Assignments
from spec.checking.bodies import Body
from spec.checking.conversions import without_optional
from spec.checking.flow import block_ends, ends, statements, uncaught, waits, written_literal
from spec.checking.operations import Answering, Operations, broken
from spec.checking.places import Places
from spec.checking.scope import Context
from spec.checking.trees import reads
from spec.names import listed
from spec.source import Span
from spec.typed import (
    Assert,
    Atomic,
    Await,
    Block,
    Either,
    Expression,
    Fail,
    Failure,
    For,
    Handler,
    If,
    IsSome,
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
from spec.types import BOOL, OptionalType, SetType, Type

_RETRIES = 1_000


class Statements:
    """Types the statements of one body."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._world = body.world
        self._problems = body.problems
        self._expressions = body.world.expressions
        places = Places(body.world)
        self._operations = Operations(body, places)
        self._assignments = Assignments(body, self._operations, places)
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
            if node.blocks_ok is not None and typed is not None:
                typed = self._may_block(node.blocks_ok, typed, ctx)
            if typed is None:
                self.failed = True
                continue
            made.extend(typed)
            if any(map(ends, typed)):
                ended = node
        return tuple(made)

    def _may_block(self, span: Span, typed: list[Statement], ctx: Context) -> list[Statement] | None:
        """The statements that a node became, with `blocks ok` at those that wait."""
        if ctx.atomic:
            self._problems.error(
                "E267",
                span,
                "in a block that is one step, it is the block that waits",
                fix="write `blocks ok` behind the `}` of the block",
            )
            return None
        if not any(map(waits, typed)):
            self._problems.error(
                "E267",
                span,
                "the statement before `blocks ok` never waits",
                fix="remove it, or write it behind an `await`, `take`, `pop`, `any`, `fresh`, `call` or `send`",
            )
            return None
        return [replace(statement, blocks_ok=True) if waits(statement) else statement for statement in typed]

    def _inner(self, nodes: syntax.Block, ctx: Context) -> Block:
        return self.block(nodes, ctx.inner())

    def _statement(self, node: syntax.Statement, ctx: Context) -> list[Statement] | None:
        if ctx.atomic and isinstance(node, syntax.Try | syntax.Retry | syntax.While | syntax.For):
            self._not_in_one_step(node, type(node).__name__.lower())
        match node:
            case syntax.Let():
                return self._assignments.let(node, ctx)
            case syntax.Assign():
                return self._assignments.assign(node, ctx)
            case syntax.Perform():
                return self._assignments.perform(node, ctx)
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
