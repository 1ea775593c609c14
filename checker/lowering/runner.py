"""One activation's part in a step: from where it stands to where it stops (docs/language.md, "Steps")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from checker.logic.formula import FALSE, TRUE, Formula, conjunction, disjunction, negate
from checker.lowering.control import END, START, ControlFlow, Position, attempts_key, remaining_key
from checker.lowering.effects import Blocked, lock_effect, queue_effect, release_holdings
from checker.lowering.evaluator import Evaluator
from checker.lowering.layout import MapNode, Node, OptionalNode, RecordNode, SetNode, code_of
from checker.lowering.model_layout import IDLE, At, ModelLayout, Replying, SlotNode, Waiting
from checker.lowering.symbolic import (
    Items,
    Map,
    Maybe,
    Members,
    Record,
    Scalar,
    Symbolic,
    Truth,
    cases_of,
    constant,
)
from checker.lowering.world import Pruned, World
from spec import typed
from spec.event import Party
from spec.typed import Block, Expression, Failure, Place, Statement, Target, ThreadKind
from spec.types import IdType, MapType, OptionalType, RangeType, RecordType
from spec.value import Id, Value, domain

LOCAL_LIMIT: Final = 10_000
"""How many local statements one step may run through."""

Stop = Position | Replying


class StepError(Exception):
    """A model error or failed assertion: the step does nothing else."""

    def __init__(self, site: int, assertion: bool = False) -> None:
        super().__init__(site)
        self.site = site
        self.assertion = assertion


class StepFailure(Exception):
    """The statement failed; nothing of it has happened."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.value)
        self.failure = failure


@dataclass(frozen=True)
class Keyed:
    """A step through a map, with its key."""

    key: Value


def _key(step: str | Keyed) -> Value:
    assert isinstance(step, Keyed)
    return step.key


class _Ended(Exception):
    """A `return` inside a block of one step."""


class Runner:
    def __init__(self, world: World, layout: ModelLayout, node: SlotNode) -> None:
        self.world = world
        self.layout = layout
        self.node = node
        self.flow: ControlFlow = node.flow
        self.slot = node.slot
        self.party = Party(node.slot.process, node.slot.instance)
        self.own = Id(node.slot.process, node.slot.instance, True)
        self.locals: dict[str, Symbolic] = {}
        self.held: frozenset[str] = frozenset()
        """Locals whose variables may have a meaning now: those that were live where the activation stood."""
        self._loaded: dict[str, Symbolic] = {}
        self._fuel = LOCAL_LIMIT

    # ---------------------------------------------------------------------------------------------- loading

    def load(self, control: At | Waiting) -> None:
        """Assumes that the activation stands there, and reads its live locals."""
        self.world.assume(self.world.where(self.node.control, code_of(self.node.control, control)))
        reader = Evaluator(self.layout, self.world)
        self.held = self.layout.live_at(self.node, control)
        for key in sorted(self.held):
            self.locals[key] = self._loaded[key] = reader.read(self.node.locals[key])

    # ------------------------------------------------------------------------------------------ expressions

    def evaluate(self, expression: Expression, site: int) -> Symbolic:
        """The value; where the expression is undefined the step ends with an error at `site`."""
        return self.world.remember(lambda: self._evaluate(expression, site))

    def _evaluate(self, expression: Expression, site: int) -> Symbolic:
        evaluator = Evaluator(self.layout, self.world, self.locals, self.own)
        value = evaluator.value(expression)
        self.check(evaluator.undefined, site)
        return value

    def check(self, undefined: Formula, site: int) -> None:
        if self.world.decide(undefined):
            raise StepError(site)

    def condition(self, expression: Expression, site: int) -> bool:
        value = self.evaluate(expression, site)
        assert isinstance(value, Truth)
        return self.world.decide(value.formula)

    def single(self, expression: Expression, site: int) -> Value:
        """The expression's value, made concrete by splitting.

        Where none of its cases holds although it is defined, it rests on a local that was never assigned.  No run gets
        there, and a step from there, with whatever value, would tell interchangeable ids apart."""
        value, condition = next(iter(cases_of(self.world.concrete(self.evaluate(expression, site))).items()))
        if self.world.simplify(condition) is FALSE:
            raise Pruned
        return value

    # ----------------------------------------------------------------------------------------- local running

    def forward(self, position: Position) -> Statement | None:
        """Local statements and choices up to the first shared statement; None at the end of the activation."""
        fresh_start = position == START
        position = self.flow.entry if fresh_start else position
        while position != END:
            statement = self.flow.statements[position]
            if isinstance(statement, typed.Return):
                if not self.flow.thread.called or not self.has_caller():
                    return None
                return statement
            if isinstance(statement, typed.Either):
                branch = statement.branches[self.world.choose(len(statement.branches))]
                position = self.flow.first(branch, self.flow.after[statement.id])
            elif isinstance(statement, typed.For):
                position = self._turn(statement)
            elif statement.shared:
                return statement
            else:
                stop = self._local(statement)
                if isinstance(stop, Replying):
                    raise StepReply(stop)
                position = stop
        return None

    def trail(self, stop: Stop) -> Stop:
        """Local statements up to the next place to stop."""
        while not isinstance(stop, Replying) and stop != END:
            statement = self.flow.statements[stop]
            if isinstance(statement, typed.Return):
                if self.flow.thread.called and self.has_caller():
                    return stop
                return END
            if isinstance(statement, typed.Either) or statement.shared:
                return stop
            if isinstance(statement, typed.For):
                self._begin(statement)
                if self._has_items(statement):
                    return stop
                stop = self._leave(statement)
            elif isinstance(statement, typed.Await) and not self.condition(statement.condition, statement.id):
                return stop
            else:
                stop = self._local(statement)
        if stop == END and self.flow.thread.called and self.has_caller():
            return Replying("ok")
        return stop

    def has_caller(self) -> bool:
        caller = self.node.caller
        return caller is not None and self.world.decide(negate(self.world.where(caller, 0)))

    def _burn(self, statement: Statement) -> None:
        self._fuel -= 1
        if self._fuel < 0:
            raise StepError(statement.id)

    def _local(self, statement: Statement) -> Stop:
        """Executes a statement that touches only locals."""
        self._burn(statement)
        following = self.flow.after[statement.id]
        match statement:
            case typed.Assign():
                self.assign(statement.target, self.evaluate(statement.value, statement.id), statement.id)
            case typed.If():
                chosen = statement.then if self.condition(statement.condition, statement.id) else statement.otherwise
                return self.flow.first(chosen, following)
            case typed.While():
                if self.condition(statement.condition, statement.id):
                    return self.flow.first(statement.body, statement.id)
            case typed.Try():
                return self.flow.first(statement.body, following)
            case typed.Retry():
                attempts = RangeType(0, statement.times)
                self.locals[attempts_key(statement)] = constant(statement.times, attempts)
                return self.flow.first(statement.body, following)
            case typed.Fail():
                return self.fail(statement, Failure.FAILED)
            case typed.Assert():
                if not self.condition(statement.condition, statement.id):
                    raise StepError(statement.id, assertion=True)
            case typed.Await():
                if not self.condition(statement.condition, statement.id):
                    raise Pruned
            case typed.Update():
                self._update(statement)
            case typed.Insert():
                try:
                    self._insert(statement)
                except StepFailure as failure:
                    return self.fail(statement, failure.failure)
            case typed.Atomic():
                try:
                    if not self.block(statement):
                        return END
                except StepFailure as failure:
                    return self.fail(statement, failure.failure)
                except Blocked:
                    raise Pruned from None
            case _:
                raise TypeError(f"{type(statement).__name__} is not local")
        return following

    def fail(self, statement: Statement, failure: Failure) -> Stop:
        """Where control goes when the statement has failed."""
        for frame in self.flow.frames[statement.id]:
            inner = frame.statement
            if isinstance(inner, typed.Try):
                handler = self.flow.handler(inner, failure)
                if handler is not None:
                    self._forget(inner)
                    return handler
            else:
                key = attempts_key(inner)
                left = self.world.concrete(self.locals[key])
                assert isinstance(left, Scalar)
                number = next(iter(left.cases))
                assert isinstance(number, int)
                if number > 0:
                    self._forget(inner)
                    self.locals[key] = Scalar({number - 1: TRUE})
                    return self.flow.first(inner.body, self.flow.after[inner.id])
        if self.flow.thread.called and self.has_caller():
            return Replying(self._ending(statement, failure))
        return END

    def _forget(self, inner: Statement) -> None:
        """Hidden locals of the loops that the failure has left."""
        kept = self.flow.counters[inner.id]
        for key in [k for k in self.locals if k.startswith(("for:", "retry:")) and k not in kept]:
            del self.locals[key]

    @staticmethod
    def _ending(statement: Statement, failure: Failure) -> str:
        match failure:
            case Failure.REFUSED:
                return "refused" if statement.pristine else "unknown"
            case Failure.UNKNOWN:
                return "unknown"
            case _:
                return "failed"

    # --------------------------------------------------------------------------------------------- for loops

    def _begin(self, statement: typed.For) -> None:
        key = remaining_key(statement)
        if key not in self.locals:
            self._burn(statement)
            self.locals[key] = self.evaluate(statement.items, statement.id)

    def _has_items(self, statement: typed.For) -> bool:
        items = self.locals[remaining_key(statement)]
        assert isinstance(items, Members)
        return self.world.decide(disjunction(items.members.values()))

    def _leave(self, statement: typed.For) -> Position:
        del self.locals[remaining_key(statement)]
        return self.flow.after[statement.id]

    def _turn(self, statement: typed.For) -> Position:
        """Chooses the next item, or leaves the loop."""
        self._begin(statement)
        if not self._has_items(statement):
            return self._leave(statement)
        key = remaining_key(statement)
        items = self.locals[key]
        assert isinstance(items, Members)
        options = [(x, f) for x, f in items.members.items() if self.world.simplify(f) is not FALSE]
        item, inside = options[self.world.choose(len(options))]
        self.world.assume(inside)
        self.locals[key] = Members({x: FALSE if x == item else f for x, f in items.members.items()})
        self.locals[statement.key] = constant(item, statement.item_type)
        return self.flow.first(statement.body, statement.id)

    # ------------------------------------------------------------------------------------------- assignments

    def assign(self, target: Target, value: Symbolic, site: int) -> None:
        if target is None:
            return
        if isinstance(target, Place):
            self.assign_place(target, value, site)
            return
        assert isinstance(value, Items)
        for place, item in zip(target, value.items, strict=True):
            self.assign_place(place, item, site)

    def assign_place(self, place: Place, value: Symbolic, site: int) -> None:
        value = self._fit(value, place, site)
        path: list[str | Keyed] = [
            step if isinstance(step, str) else Keyed(self.single(step, site)) for step in place.path
        ]
        match place.root:
            case typed.Local(_, _, key):
                if path:
                    self.locals[key] = self._put(self.locals[key], path, value, site)
                else:
                    self.locals[key] = value
            case typed.StoreVariable():
                self._write(self.layout.values[place.root.store, place.root.name], path, value, site)
            case typed.GhostVariable():
                self._write(self.layout.ghosts[place.root.name], path, value, site)
            case typed.ProcessVariable():
                node = self.layout.process_values[self.slot.process, self.slot.instance, place.root.name]
                self._write(node, path, value, site)

    @staticmethod
    def _fit(value: Symbolic, place: Place, site: int) -> Symbolic:
        """An operation's answer as an optional, where the place wants one."""
        if isinstance(place.type, OptionalType) and not isinstance(value, Maybe):
            return Maybe(TRUE, value)
        return value

    def _write(self, node: Node, path: list[str | Keyed], value: Symbolic, site: int) -> None:
        if not path:
            self.world.write(node, value)
            return
        step = path[0]
        match node:
            case MapNode():
                self._write(node.entries[_key(step)], path[1:], value, site)
            case RecordNode():
                assert isinstance(step, str)
                self._write(node.fields[step], path[1:], value, site)
            case OptionalNode():
                self.check(self.world.where(node.present, 0), site)
                self._write(node.value, path, value, site)
            case SetNode():
                raise TypeError("a set has no parts")
            case _:
                whole = Evaluator(self.layout, self.world).read(node)
                self.world.write(node, self._put(whole, path, value, site))

    def _put(self, whole: Symbolic, path: list[str | Keyed], value: Symbolic, site: int) -> Symbolic:
        """`whole` with the part at `path` replaced."""
        if not path:
            return value
        match whole:
            case Maybe(present, inner):
                self.check(negate(present), site)
                if inner is None:
                    raise StepError(site)
                return Maybe(TRUE, self._put(inner, path, value, site))
            case Record(name, fields):
                step = path[0]
                assert isinstance(step, str)
                return Record(name, {**fields, step: self._put(fields[step], path[1:], value, site)})
            case Map(entries):
                key = _key(path[0])
                return Map({**entries, key: self._put(entries[key], path[1:], value, site)})
            case _:
                raise TypeError("no such part")

    # ---------------------------------------------------------------------------------- effects of statements

    def apply(self, statement: Statement) -> Position:
        """Performs a shared statement other than a call; where control goes next.

        Raises Blocked where it waits, StepFailure where it fails, StepError for a model error.
        """
        following = self.flow.after[statement.id]
        match statement:
            case typed.If():
                chosen = statement.then if self.condition(statement.condition, statement.id) else statement.otherwise
                return self.flow.first(chosen, following)
            case typed.While():
                if self.condition(statement.condition, statement.id):
                    return self.flow.first(statement.body, statement.id)
            case typed.Atomic():
                return following if self.block(statement) else END
            case _:
                self.effect(statement)
        return following

    def effect(self, statement: Statement) -> None:
        """Performs a statement without blocks."""
        match statement:
            case typed.Assign():
                self.assign(statement.target, self.evaluate(statement.value, statement.id), statement.id)
            case typed.Insert():
                self._insert(statement)
            case typed.Update():
                self._update(statement)
            case typed.QueueOperation():
                self._queue(statement)
            case typed.LockOperation():
                self._lock(statement)
            case typed.Any():
                self._any(statement)
            case typed.Fresh():
                self._fresh(statement)
            case typed.Await():
                if not self.condition(statement.condition, statement.id):
                    raise Blocked
            case typed.Assert():
                if not self.condition(statement.condition, statement.id):
                    raise StepError(statement.id, assertion=True)
            case _:
                raise TypeError(f"{type(statement).__name__} has no effect of its own")

    def _insert(self, statement: typed.Insert) -> None:
        value = self.evaluate(statement.value, statement.id)
        place = statement.place
        there = self.evaluate(_reading(place), statement.id)
        assert isinstance(there, Maybe)
        if self.world.decide(there.present):
            raise StepFailure(Failure.DUPLICATE)
        self.assign_place(place, value, statement.id)

    def _update(self, statement: typed.Update) -> None:
        holds = self.condition(statement.condition, statement.id)
        if holds:
            self.assign_place(statement.place, self.evaluate(statement.value, statement.id), statement.id)
        self.assign(statement.target, Truth(TRUE if holds else FALSE), statement.id)

    def _queue(self, statement: typed.QueueOperation) -> None:
        node = self.layout.queues[statement.store, statement.queue]
        queue = next(q for q in self.layout.stores[statement.store].queues if q.name == statement.queue)
        item = self.single(statement.item, statement.id) if statement.item is not None else None
        evaluator = Evaluator(self.layout, self.world, self.locals, self.own)
        answer = queue_effect(self.world, evaluator, node, queue, statement.verb, item, self.slot)
        self.check(evaluator.undefined, statement.id)
        if answer is not None:
            self.assign(statement.target, answer, statement.id)

    def _lock(self, statement: typed.LockOperation) -> None:
        node = self.layout.locks[statement.store, statement.lock]
        key = self.single(statement.key, statement.id) if statement.key is not None else None
        evaluator = Evaluator(self.layout, self.world, self.locals, self.own)
        answer = lock_effect(self.world, evaluator, node, statement.verb, key, self.slot)
        self.check(evaluator.undefined, statement.id)
        if answer is not None:
            self.assign(statement.target, answer, statement.id)

    def _any(self, statement: typed.Any) -> None:
        fits, undefined = self.world.remember(lambda: self._fits(statement))
        wrong = self.world.simplify(undefined)
        if wrong is not FALSE and self.world.choose(2) == 0:
            self.world.assume(wrong)
            raise StepError(statement.id)
        self.locals[statement.key] = constant(self.pick(fits), statement.over)

    def _fits(self, statement: typed.Any) -> tuple[list[tuple[Value, Formula]], Formula]:
        """Where each value satisfies the condition, and where the condition is undefined for some value."""
        fits: list[tuple[Value, Formula]] = []
        undefined: list[Formula] = []
        for value in domain(statement.over):
            bindings = {**self.locals, statement.key: constant(value, statement.over)}
            evaluator = Evaluator(self.layout, self.world, bindings, self.own)
            fit = evaluator.truth(statement.condition)
            fits.append((value, conjunction((fit, negate(evaluator.undefined)))))
            undefined.append(evaluator.undefined)
        return fits, disjunction(undefined)

    def _fresh(self, statement: typed.Fresh) -> None:
        self.locals[statement.key] = constant(self.take_fresh(statement.over), statement.over)

    def take_fresh(self, over: IdType) -> Value:
        """An unused id, now used."""
        options = [
            (value, self.world.where(self.layout.fresh[over.name, index], 0))
            for index, value in enumerate(domain(over))
        ]
        value = self.pick(options)
        assert isinstance(value, Id)
        self.world.set(self.layout.fresh[over.name, value.index], 1)
        return value

    def pick(self, options: list[tuple[Value, Formula]]) -> Value:
        """Any value whose condition holds.  Raises Blocked where there is none."""
        open_ = [(v, f) for v, condition in options if (f := self.world.simplify(condition)) is not FALSE]
        if not self.world.decide(disjunction(f for _, f in open_)):
            raise Blocked
        value, condition = open_[self.world.choose(len(open_))]
        self.world.assume(condition)
        return value

    # ------------------------------------------------------------------------------------- blocks of one step

    def block(self, statement: typed.Atomic) -> bool:
        """Performs a block wholly or not at all; whether the activation goes on after it."""
        before, locals_before = self.world.snapshot(), dict(self.locals)
        try:
            self._statements(statement.body)
        except _Ended:
            return False
        except StepFailure:
            self.world.restore(before)
            self.locals = locals_before
            raise
        return True

    def _statements(self, block: Block) -> None:
        for statement in block:
            match statement:
                case typed.If():
                    holds = self.condition(statement.condition, statement.id)
                    self._statements(statement.then if holds else statement.otherwise)
                case typed.Either():
                    self._statements(statement.branches[self.world.choose(len(statement.branches))])
                case typed.Atomic():
                    self._statements(statement.body)
                case typed.Fail():
                    raise StepFailure(Failure.FAILED)
                case typed.Return():
                    raise _Ended
                case _:
                    self.effect(statement)

    # --------------------------------------------------------------------------------------------- stopping

    def finish(self, stop: Stop) -> None:
        """Stores where the activation stands now, or ends it."""
        if stop == END:
            self.end()
            return
        if isinstance(stop, Replying):
            self.store(stop, frozenset())
            return
        assert isinstance(stop, int)
        control = At(stop)
        self.store(control, self.layout.live_at(self.node, control))

    def wait(self, position: Position) -> None:
        control = Waiting(position)
        self.store(control, self.layout.live_at(self.node, control))

    def store(self, control: At | Waiting | Replying, live: frozenset[str]) -> None:
        self.world.set(self.node.control, code_of(self.node.control, control))
        for key, node in self.node.locals.items():
            if key in live and key in self.locals:
                if self.locals[key] is not self._loaded.get(key):
                    self.world.write(node, self.locals[key])
            elif key in self.held:
                self.world.kill(node)

    def end(self) -> None:
        """Ends the activation; a loop begins anew."""
        release_holdings(self.world, self.layout, self.slot)
        self.clear(begin_anew=self.flow.thread.kind is ThreadKind.LOOP)

    def clear(self, begin_anew: bool) -> None:
        """The slot as it is between two activations."""
        control: object = At(self.flow.start) if begin_anew else IDLE
        self.world.set(self.node.control, code_of(self.node.control, control))
        if self.node.caller is not None:
            self.world.set(self.node.caller, 0)
        for key in self.held:
            self.world.kill(self.node.locals[key])


class StepReply(Exception):
    """A called handler came to an uncaught failure before any shared statement."""

    def __init__(self, stop: Replying) -> None:
        super().__init__(stop.ending)
        self.stop = stop


def _reading(place: Place) -> Expression:
    """The expression that reads what the place names."""
    expression: Expression = place.root
    for step in place.path:
        kind = expression.type
        if isinstance(kind, OptionalType):
            expression = typed.Unwrap(kind.value, expression.span, expression)
            kind = kind.value
        if isinstance(step, str):
            assert isinstance(kind, RecordType)
            field = kind.field(step)
            assert field is not None
            expression = typed.FieldAccess(field, expression.span, expression, step)
        else:
            assert isinstance(kind, MapType)
            expression = typed.Index(kind.value, expression.span, expression, step)
    return expression
