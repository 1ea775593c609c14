"""Operations that may answer something: queues, locks, compare-and-set, requests, choices of a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spec import syntax
from spec.checking.accesses import LOCK_VERBS, MAP_VERBS, QUEUE_VERBS, set_operation
from spec.checking.bodies import Body
from spec.checking.constants import Evaluation, NotConstant
from spec.checking.places import Places
from spec.checking.scope import Binding, Context
from spec.checking.trees import reads, walk
from spec.names import did_you_mean, listed
from spec.typed import (
    Any,
    Assign,
    Call,
    Expression,
    Fresh,
    Insert,
    Literal,
    Local,
    Lock,
    LockOperation,
    LockVerb,
    Place,
    Queue,
    QueueOperation,
    QueueVerb,
    Statement,
    StoreValue,
    Target,
    ThreadKind,
    Update,
)
from spec.types import BOOL, IdType, MapType, OptionalType, RangeType, SetType, Type
from spec.value import domain


@dataclass(frozen=True)
class Answering:
    """An operation with the type of its answer (None: it answers nothing) and the statement it becomes."""

    answer: Type | None
    build: Callable[[Target], Statement]


Found = Answering | None
"""None: it has an error, which is reported."""


class Operations:
    """Types operations of one thread's body."""

    def __init__(self, body: Body, places: Places) -> None:
        self._body = body
        self._places = places
        self._world = body.world
        self._problems = body.problems
        self._expressions = body.world.expressions

    def is_operation(self, node: syntax.Expression | syntax.Operation, ctx: Context) -> bool:
        """Whether what stands right of `:=` is an operation and no plain expression."""
        match node:
            case syntax.Choose() | syntax.Fresh() | syntax.AwaitValue() | syntax.Update() | syntax.Request():
                return True
            case syntax.MethodCall(name=name):
                return name.name in (*QUEUE_VERBS, *LOCK_VERBS, *MAP_VERBS)
            case _:
                return False

    def operation(self, node: syntax.Expression | syntax.Operation, statement: syntax.Statement, ctx: Context) -> Found:
        """An operation other than `any` and `fresh`."""
        match node:
            case syntax.AwaitValue(base=base):
                if isinstance(base, syntax.MethodCall) and base.name.name == "acquire":
                    return self.lock(base, statement, ctx, LockVerb.AWAIT)
                self._problems.error(
                    "E261",
                    node.span,
                    "only `await l.acquire(k)` has an answer",
                    fix="write the `await` before the `let`",
                )
                return None
            case syntax.Update():
                return self._update(node, statement, ctx)
            case syntax.Request():
                return self._request(node, statement, ctx)
            case syntax.MethodCall():
                return self.method(node, statement, ctx)
            case _:
                raise AssertionError(node)

    # ------------------------------------------------------------------------------------------ queues, locks, maps

    def method(self, node: syntax.MethodCall, statement: syntax.Statement, ctx: Context) -> Found:
        """`q.push(x)`, `l.acquire(k)`, `m.insert(k, v)` and the like."""
        verb = node.name.name
        member = self._expressions.accesses.store_member(node.base, ctx)
        if verb in MAP_VERBS and (member is None or member[1] is None or isinstance(member[1], StoreValue)):
            return self._map(node, statement, ctx)
        if member is None:
            if self._unknown_store_member(node.base, ctx):
                return None
            base = self._expressions.infer(node.base, ctx)
            if base is not None:
                fix = set_operation(node) if isinstance(base.type, SetType) else None
                what = f"`{base.type}` has no `{verb}`: it is no queue or lock"
                self._problems.error("E238", node.name.span, what, fix=fix)
            return None
        store, declared = member
        if declared is None:
            return None
        if isinstance(declared, Queue) and verb in QUEUE_VERBS:
            return self._queue(node, store, declared, statement, ctx)
        if isinstance(declared, Lock) and verb in LOCK_VERBS:
            how = LockVerb.ACQUIRE if verb == "acquire" else LockVerb.RELEASE
            return self.lock(node, statement, ctx, how)
        if isinstance(declared, StoreValue) and isinstance(declared.type, SetType):
            what = f"`{declared.type}` has no `{verb}`"
            self._problems.error("E238", node.name.span, what, fix=set_operation(node))
            return None
        known = QUEUE_VERBS if isinstance(declared, Queue) else LOCK_VERBS if isinstance(declared, Lock) else ()
        self._expressions.accesses.no_such_verb(store, declared, node.name, list(known))
        return None

    def _unknown_store_member(self, base: syntax.Expression, ctx: Context) -> bool:
        if isinstance(base, syntax.Access):
            store = self._expressions.accesses.is_global(base.base, ctx)
            if store is not None and store in self._world.tables.stores:
                self._expressions.accesses.unknown_member(store, base.name)
                return True
        return False

    def _queue(
        self, node: syntax.MethodCall, store: str, queue: Queue, statement: syntax.Statement, ctx: Context
    ) -> Found:
        verb = QueueVerb(node.name.name)
        takes = verb in (QueueVerb.TAKE, QueueVerb.POP)
        identity = self._body.ids.take()
        what = f"{store}.{queue.name}.{verb.value}"
        found, item = self._expressions.accesses.arguments(
            what, None if takes else queue.item, node.arguments, node.span, ctx
        )
        if not found:
            return Answering(queue.item, _never) if takes else None

        def build(target: Target) -> Statement:
            frame = self._body.frame(
                identity, statement, ctx, read=[item], written=_places(target), stores=[store], shared=True
            )
            return QueueOperation(*frame, store, queue.name, verb, item, target)

        return Answering(queue.item if takes else None, build)

    def lock(self, node: syntax.MethodCall, statement: syntax.Statement, ctx: Context, verb: LockVerb) -> Found:
        """`l.acquire(k)`, `await l.acquire(k)`, `l.release(k)`."""
        member = self._expressions.accesses.store_member(node.base, ctx)
        if member is None or not isinstance(member[1], Lock):
            return self.method(node, statement, ctx) if verb is not LockVerb.AWAIT else self._not_a_lock(node, ctx)
        store, declared = member
        assert isinstance(declared, Lock)
        identity = self._body.ids.take()
        word = "release" if verb is LockVerb.RELEASE else "acquire"
        what = f"{store}.{declared.name}.{word}"
        found, key = self._expressions.accesses.arguments(what, declared.key, node.arguments, node.span, ctx)
        answer: Type | None = None if verb in (LockVerb.RELEASE, LockVerb.AWAIT) else BOOL
        if declared.fencing is not None and verb is not LockVerb.RELEASE:
            token = RangeType(1, declared.fencing)
            answer = token if verb is LockVerb.AWAIT else OptionalType(token)
        if not found:
            return None

        def build(target: Target) -> Statement:
            frame = self._body.frame(
                identity, statement, ctx, read=[key], written=_places(target), stores=[store], shared=True
            )
            return LockOperation(*frame, store, declared.name, verb, key, target)

        return Answering(answer, build)

    def _not_a_lock(self, node: syntax.MethodCall, ctx: Context) -> Found:
        member = self._expressions.accesses.store_member(node.base, ctx)
        if member is None:
            if not self._unknown_store_member(node.base, ctx):
                base = self._expressions.infer(node.base, ctx)
                if base is not None:
                    self._problems.error("E238", node.name.span, f"`{base.type}` is no lock; it has no `acquire`")
        elif member[1] is not None:
            known = list(QUEUE_VERBS) if isinstance(member[1], Queue) else []
            self._expressions.accesses.no_such_verb(member[0], member[1], node.name, known)
        return None

    def _map(self, node: syntax.MethodCall, statement: syntax.Statement, ctx: Context) -> Found:
        verb = node.name.name
        identity = self._body.ids.take()
        place = self._places.place(node.base, ctx)
        if place is None:
            return None
        kind = place.type
        if not isinstance(kind, MapType) or not isinstance(kind.value, OptionalType):
            fix = f"write `{node.base.span.text}[k1].{verb}(..)`" if isinstance(kind, MapType) else None
            if isinstance(kind, SetType):
                fix = set_operation(node)
            self._problems.error(
                "E238", node.span, f"`{verb}` needs a map with optional values; this is `{kind}`", fix=fix
            )
            return None
        count = 2 if verb == "insert" else 1
        if len(node.arguments) != count:
            form = "insert(key, value)" if verb == "insert" else "delete(key)"
            self._problems.error("E225", node.span, f"`{form}` takes {count} arguments, not {len(node.arguments)}")
            return None
        key = self._expressions.check(node.arguments[0], ctx, kind.key)
        value: Expression | None = Literal(kind.value, node.span, None)
        if verb == "insert":
            given = self._expressions.check(node.arguments[1], ctx, kind.value.value)
            value = None if given is None else self._expressions.conversions.coerce(given, kind.value)
        if key is None or value is None:
            return None
        row = Place(place.root, (*place.path, key), kind.value)
        stored = value

        def build(target: Target) -> Statement:
            frame = self._body.frame(identity, statement, ctx, read=[stored], written=[row])
            if verb == "insert":
                return Insert(*frame, row, stored)
            return Assign(*frame, row, stored)

        return Answering(None, build)

    def _update(self, node: syntax.Update, statement: syntax.Statement, ctx: Context) -> Found:
        identity = self._body.ids.take()
        place = self._places.place(node.place, ctx)
        inner = self._places.value_context(place, ctx)
        condition = self._expressions.check(node.condition, inner, BOOL)
        value = (
            self._expressions.infer(node.value, inner)
            if place is None
            else self._expressions.check(node.value, inner, place.type)
        )
        if place is None or condition is None or value is None:
            return Answering(BOOL, _never)

        def build(target: Target) -> Statement:
            frame = self._body.frame(
                identity, statement, ctx, read=[condition, value], written=[place, *_places(target)]
            )
            return Update(*frame, place, condition, value, target)

        return Answering(BOOL, build)

    # ------------------------------------------------------------------------------------------ requests

    def _request(self, node: syntax.Request, statement: syntax.Statement, ctx: Context) -> Found:
        verb = "send" if node.send else "call"
        identity = self._body.ids.take()
        if ctx.atomic:
            self._problems.error(
                "E242", statement.head, f"`{verb}` cannot stand in a block that is one step", fix="move it out"
            )
        processes, name = self._world.variables.processes, node.process.name
        if name not in processes:
            what = "a store; use its variables directly" if name in self._world.tables.stores else "no process"
            self._problems.error("E207", node.process.span, f"`{name}` is {what}", fix=did_you_mean(name, processes))
            self._infer_all(node.arguments, ctx)
            return None
        table = processes[name]
        self._world.used.add(name)
        thread = node.thread.name
        if thread not in table.threads:
            handlers = [n for n, s in table.threads.items() if s.node.kind is ThreadKind.ON]
            have = f"; it has {listed(handlers)}" if handlers else "; it has none"
            self._problems.error(
                "E207",
                node.thread.span,
                f"`{name}` has no handler `{thread}`{have}",
                fix=did_you_mean(thread, handlers),
            )
            self._infer_all(node.arguments, ctx)
            return None
        signature = table.threads[thread]
        answer = Answering(signature.result, _never)
        if signature.node.kind is not ThreadKind.ON:
            self._problems.error(
                "E247",
                node.thread.span,
                f"`{name}.{thread}` is a {signature.node.kind.value}, which starts by itself",
                fix=f"only `on` handlers can be the target of a `{verb}`",
            )
            return None
        if (name, thread) in self._body.left_out:
            self._problems.error(
                "E248",
                node.thread.span,
                f"`{name}.{thread}` is left out by its `when` for this choice of switches",
                fix="give the calling thread the same `when`",
            )
        instance: Expression | None = None
        if node.instance is not None:
            if table.instances is not None:
                instance = self._expressions.check(node.instance, ctx, table.instances)
            if instance is None:
                return answer
            self._no_store(instance, "the instance", verb)
        if len(node.arguments) != len(signature.parameters):
            self._problems.error(
                "E225",
                node.span,
                f"`{name}.{thread}` takes {len(signature.parameters)} arguments, {len(node.arguments)} are given",
            )
            self._infer_all(node.arguments, ctx)
            return answer
        made: list[Expression] = []
        for argument, kind in zip(node.arguments, signature.parameters, strict=True):
            typed = (
                self._expressions.infer(argument, ctx) if kind is None else self._expressions.check(argument, ctx, kind)
            )
            if typed is not None:
                self._no_store(typed, "an argument", verb)
                made.append(typed)
        if len(made) < len(node.arguments) or not signature.result_known:
            return answer if signature.result is not None else None

        def build(target: Target) -> Statement:
            frame = self._body.frame(identity, statement, ctx, shared=True, written=_places(target))
            return Call(*frame, name, instance, thread, tuple(made), target, node.send)

        return Answering(None if node.send else signature.result, build)

    def _infer_all(self, nodes: tuple[syntax.Expression, ...], ctx: Context) -> None:
        for node in nodes:
            if not isinstance(node, syntax.Nothing | syntax.SetLiteral):
                self._expressions.infer(node, ctx)

    def _no_store(self, node: Expression, what: str, verb: str) -> None:
        stores = reads(node).stores
        if stores:
            self._problems.error(
                "E254",
                node.span,
                f"{what} of a `{verb}` cannot read the store {listed(sorted(stores))}: that would be another step",
                fix=f"write `let x = {node.span.text}` first",
            )

    # ------------------------------------------------------------------------------------------ choices of a value

    def choose(
        self,
        node: syntax.Choose,
        statement: syntax.Statement,
        ctx: Context,
        names: dict[str, Expression],
        target: Local,
    ) -> Statement | None:
        """`let x = any T where e`: `names` are what the condition may call the value, `target` gets it."""
        identity = self._body.ids.take()
        over = target.type
        condition: Expression | None = Literal(BOOL, node.span, True)
        if node.condition is not None:
            inner = ctx.inner()
            for name, meaning in names.items():
                inner.scope.bindings[name] = Binding(name, meaning.span, meaning, False)
            condition = self._expressions.check(node.condition, inner, BOOL)
        if condition is None:
            return None
        self._contradiction(condition, target)
        frame = self._body.frame(identity, statement, ctx, read=[condition], shared=True)
        return Any(*frame, target.key, over, condition)

    def domain(self, node: syntax.Choose) -> Type | None:
        """The type over which an `any` chooses."""
        return self._world.types.domain(node.over, "the values of `any`")

    def _contradiction(self, condition: Expression, target: Local) -> None:
        settings = {*self._world.tables.constants, *self._world.tables.switches}
        if any(isinstance(part, Literal) and part.span.text in settings for part in walk(condition)):
            return
        try:
            evaluation = Evaluation()
            possible = any(evaluation.value(condition, {target.key: value}) for value in domain(target.type))
        except NotConstant:
            return
        if not possible:
            self._problems.error(
                "E260", condition.span, "no value can satisfy this `where`, so the `any` waits for ever"
            )

    def fresh_type(self, node: syntax.Fresh) -> IdType | None:
        """The ids from which a `fresh` draws."""
        kind = self._world.types.resolve(node.over)
        if kind is None:
            return None
        if not isinstance(kind, IdType) or kind.of_process:
            self._problems.error("E220", node.over.span, f"`fresh` needs a type declared with `ids`; this is `{kind}`")
            return None
        return kind

    def fresh(self, statement: syntax.Statement, ctx: Context, target: Local, over: IdType) -> Statement:
        """`let w = fresh T`."""
        frame = self._body.frame(self._body.ids.take(), statement, ctx, shared=True)
        return Fresh(*frame, target.key, over)


def _places(target: Target) -> tuple[Place, ...]:
    if target is None:
        return ()
    return target if isinstance(target, tuple) else (target,)


def _never(target: Target) -> Statement:
    raise AssertionError("a statement with errors is never built")


def broken(answering: Answering) -> bool:
    """Whether the operation has an error and only its answer's type is known."""
    return answering.build is _never
