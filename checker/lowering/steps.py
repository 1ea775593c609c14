"""The steps of activations: statements, calls, replies, and the faults that strike during them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from checker.logic.formula import Formula, conjunction, disjunction, negate
from checker.lowering.control import all_statements
from checker.lowering.effects import Blocked
from checker.lowering.layout import code_of
from checker.lowering.model_layout import IDLE, At, ModelLayout, Replying, SlotNode, Waiting
from checker.lowering.runner import Runner, StepError, StepFailure, StepReply, Stop
from checker.lowering.symbolic import Symbolic
from checker.lowering.world import Pruned, World, possible
from spec import typed
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.typed import Failure, FaultClass, FaultKind, Statement
from spec.value import Id


@dataclass(frozen=True)
class Struck:
    """A fault that strikes during a statement: its class, who is hit, and whether the effect is kept."""

    strike: Strike
    fault: FaultClass
    party: Party
    other: Party | None
    kept: bool | None


class Stepper:
    """Runs the step of one world; `event` and `fault` say afterwards what it was."""

    def __init__(self, world: World, layout: ModelLayout) -> None:
        self.world = world
        self.layout = layout
        self.fault: FaultClass | None = None
        self.event = Event(EventKind.STEP)
        """What happens, as far as it is known by now; an error ends it."""

    # --------------------------------------------------------------------------------------- reachability

    def connected(self, own: Party, other: Party) -> Formula:
        """Where `other` is up and the link to it is whole."""
        parts = []
        if other in self.layout.up:
            parts.append(self.world.where(self.layout.up[other], 1))
        link = self.layout.link(own, other)
        if own != other and link in self.layout.cut:
            parts.append(self.world.where(self.layout.cut[link], 0))
        return conjunction(parts)

    def classes(self, kind: FaultKind, own: Party, other: Party) -> FaultClass | None:
        """The enabled class of this kind for the link between the two."""
        return self.layout.class_of.get((kind, self.layout.link(own, other)))

    def spend(self, fault: FaultClass) -> None:
        self.fault = fault
        budget = self.layout.budget
        if budget is not None:
            if self.world.decide(self.world.where(budget, 0)):
                raise Pruned
            self.world.map(budget, lambda left: left - 1)

    # ----------------------------------------------------------------------------------------- activations

    def step(self, node: SlotNode, control: At | Replying) -> Event:
        """One step of the activation that stands there."""
        self.event = Event(EventKind.STEP, node.slot)
        if isinstance(control, Replying):
            self.world.assume(self.world.where(node.control, code_of(node.control, control)))
            return self._reply(Runner(self.world, self.layout, node), None, control.ending)
        runner = Runner(self.world, self.layout, node)
        runner.load(control)
        statement = node.flow.statements.get(control.position)
        if isinstance(statement, typed.Return) and node.thread.called:
            return self._reply(runner, statement, "ok")
        standing = node.flow.entry if statement is None else statement.id
        try:
            shared = runner.forward(control.position)
        except StepReply as reply:
            return self._reply(runner, None, reply.stop.ending)
        if shared is None:
            if node.thread.called and runner.has_caller():
                return self._reply(runner, None, "ok")
            runner.end()
            return Event(EventKind.STEP, node.slot, standing)
        if isinstance(shared, typed.Return):
            return self._reply(runner, shared, "ok")
        try:
            if isinstance(shared, typed.Call):
                return self._call(runner, shared)
            return self._execute(runner, shared)
        except Blocked:
            raise Pruned from None

    def _execute(self, runner: Runner, statement: Statement) -> Event:
        stores = [Party(name) for name in sorted(statement.stores)]
        event = self.event = Event(EventKind.STEP, runner.slot, statement.id)
        if not self.world.decide(conjunction(self.connected(runner.party, store) for store in stores)):
            return self._failed(runner, statement, event, Failure.REFUSED)
        strikes = list(self._strikes(runner.party, stores, written_stores(statement)))
        choice = self.world.choose(1 + len(strikes))
        if choice == 0:
            return self._well(runner, statement, event)
        struck = strikes[choice - 1]
        self.spend(struck.fault)
        if struck.strike is Strike.DUPLICATE:
            return self._twice(runner, statement, event, struck)
        before, locals_before = self.world.snapshot(), dict(runner.locals)
        try:
            runner.apply(statement)
        except StepError:
            raise Pruned from None
        except StepFailure:
            pass
        runner.locals = locals_before
        if not struck.kept:
            self.world.restore(before)
        self._hit(struck)
        event = self.event = replace(
            event, strike=struck.strike, kept=struck.kept, party=struck.party, other=struck.other
        )
        return self._failed(runner, statement, event, Failure.UNKNOWN)

    def _well(self, runner: Runner, statement: Statement, event: Event) -> Event:
        try:
            following: Stop = runner.apply(statement)
        except StepFailure as failure:
            return self._failed(runner, statement, event, failure.failure)
        runner.finish(runner.trail(following))
        return event

    def _twice(self, runner: Runner, statement: Statement, event: Event, struck: Struck) -> Event:
        event = self.event = replace(event, strike=Strike.DUPLICATE, party=struck.party, other=struck.other)
        failure: Failure | None = None
        following: Stop = -1
        locals_before = dict(runner.locals)
        try:
            following = runner.apply(statement)
        except StepError:
            raise Pruned from None
        except StepFailure as failed:
            failure = failed.failure
        once, locals_once = self.world.snapshot(), runner.locals

        def again(world: World) -> None:
            second = Runner(world, self.layout, runner.node)
            second.locals = dict(locals_before)
            try:
                second.apply(statement)
            except (StepError, StepFailure):
                pass
            except Blocked:
                raise Pruned from None

        if self.world.decide(possible(self.world, again)):
            runner.locals = dict(locals_before)
            try:
                runner.apply(statement)
            except StepFailure:
                self.world.restore(once)
            except Blocked:
                raise Pruned from None
        runner.locals = locals_once
        if failure is not None:
            return self._failed(runner, statement, event, failure)
        runner.finish(runner.trail(following))
        return event

    def _failed(self, runner: Runner, statement: Statement, event: Event, failure: Failure) -> Event:
        runner.finish(runner.trail(runner.fail(statement, failure)))
        return replace(event, ending=Ending(failure.value))

    def _strikes(self, own: Party, stores: list[Party], written: frozenset[str]) -> Iterator[Struck]:
        outcomes = (False, True) if written else (False,)
        for store in stores:
            for fault in self.layout.faults:
                if fault.kind is FaultKind.CRASH and fault.first == store.name:
                    for kept in outcomes:
                        yield Struck(Strike.CRASH, fault, store, None, kept)
                    break
            cut = self.classes(FaultKind.PARTITION, own, store)
            if cut is not None:
                for kept in outcomes:
                    yield Struck(Strike.CUT, cut, own, store, kept)
            lose = self.classes(FaultKind.LOSE, own, store)
            if lose is not None:
                for kept in outcomes:
                    yield Struck(Strike.LOSE, lose, own, store, kept)
            again = self.classes(FaultKind.DUPLICATE, own, store)
            if again is not None and store.name in written:
                yield Struck(Strike.DUPLICATE, again, own, store, None)

    def _hit(self, struck: Struck) -> None:
        if struck.strike is Strike.CRASH:
            self.crash_store(struck.party)
        elif struck.strike is Strike.CUT:
            assert struck.other is not None
            self.cut(struck.party, struck.other)

    # ---------------------------------------------------------------------------------------------- crashes

    def crash_store(self, party: Party) -> None:
        """The store is down; its volatile parts are as at the start."""
        self.world.set(self.layout.up[party], 0)
        store = self.layout.stores[party.name]
        for value in store.values:
            if not value.durable:
                self.reset(("store", store.name, value.name))
        for queue in store.queues:
            if not queue.durable:
                self.reset(("queue", store.name, queue.name))
        for lock in store.locks:
            if not lock.durable:
                self.reset(("lock", store.name, lock.name))
                self.reset(("token", store.name, lock.name))

    def reset(self, prefix: tuple[object, ...]) -> None:
        for variable, key in self.layout.keys.items():
            if key[: len(prefix)] == prefix:
                self.world.set(variable, variable.initial)

    def cut(self, a: Party, b: Party) -> None:
        """The link is cut; whoever waits across it gets `unknown`."""
        self.world.set(self.layout.cut[self.layout.link(a, b)], 1)
        if b.instance is not None:
            self.abandon(
                [
                    (callee, caller)
                    for callee in self.layout.slots.values()
                    if callee.caller is not None
                    for caller in callee.caller.values
                    if isinstance(caller, Slot)
                    and {Party(callee.slot.process, callee.slot.instance), Party(caller.process, caller.instance)}
                    == {a, b}
                ]
            )

    def abandon(self, pairs: list[tuple[SlotNode, Slot]], gone: bool = False) -> None:
        """Every caller of the pairs that waits for its callee gets `unknown`, in slot order; callees forget them,
        unless they are `gone` themselves."""
        waiting: dict[Slot, SlotNode] = {}
        for callee, caller in pairs:
            assert callee.caller is not None
            waits = self.world.where(callee.caller, code_of(callee.caller, caller))
            if caller in waiting:
                self.world.assume(negate(waits))  # nobody waits for two
            elif self.world.decide(waits):
                if not gone:
                    self.forget(callee)
                waiting[caller] = callee
        for caller in sorted(waiting):
            runner, call = self._waiting(self.layout.slots[caller], waiting[caller])
            runner.finish(runner.trail(runner.fail(call, Failure.UNKNOWN)))

    def forget(self, callee: SlotNode) -> None:
        """Nobody waits for the activation any more; if it was about to reply, it ends."""
        assert callee.caller is not None
        self.world.set(callee.caller, 0)
        replies = [code for code, control in enumerate(callee.control.values) if is_reply(callee, control)]
        if self.world.decide(disjunction(self.world.where(callee.control, code) for code in replies)):
            runner = Runner(self.world, self.layout, callee)
            runner.held = frozenset(callee.locals)
            runner.end()

    def _waiting(self, node: SlotNode, callee: SlotNode) -> tuple[Runner, typed.Call]:
        """The activation in the call in which it waits for the callee."""
        options = []
        for code, control in enumerate(node.control.values):
            if isinstance(control, Waiting):
                call = node.flow.statements[control.position]
                assert isinstance(call, typed.Call)
                if (call.process, call.thread) == (callee.process.name, callee.thread.name):
                    options.append((control, call, self.world.where(node.control, code)))
        control, call, condition = options[self.world.choose(len(options))]
        self.world.assume(condition)
        runner = Runner(self.world, self.layout, node)
        runner.load(control)
        return runner, call

    # ------------------------------------------------------------------------------------- calls and replies

    def _call(self, runner: Runner, call: typed.Call) -> Event:
        event = self.event = Event(EventKind.STEP, runner.slot, call.id)
        process = self.layout.processes[call.process]
        instances = range(process.instances.size)
        if call.instance is not None:
            named = runner.single(call.instance, call.id)
            assert isinstance(named, Id)
            instances = range(named.index, named.index + 1)
        reachable = [(i, self.connected(runner.party, Party(call.process, i))) for i in instances]
        if not self.world.decide(disjunction(condition for _, condition in reachable)):
            return self._failed(runner, call, event, Failure.REFUSED)
        arguments = [runner.evaluate(argument, call.id) for argument in call.arguments]
        instance, condition = reachable[self.world.choose(len(reachable))]
        self.world.assume(condition)
        other = Party(call.process, instance)
        place = self.free_place(call.process, instance, call.thread)
        if place is None:
            raise Blocked
        struck = self._call_strike(runner.party, other)
        if struck is not None:
            self.spend(struck.fault)
            event = self.event = replace(
                event, strike=struck.strike, kept=struck.kept, party=struck.party, other=struck.other
            )
        if struck is not None and struck.strike in (Strike.LOSE, Strike.CUT):
            self._hit(struck)
            if call.send:
                runner.finish(runner.trail(runner.flow.after[call.id]))
                return event
            return self._failed(runner, call, event, Failure.UNKNOWN)
        self.begin(place, arguments, None if call.send else runner.slot)
        if struck is not None:
            second = self.free_place(call.process, instance, call.thread)
            if second is None:
                raise Pruned
            self.begin(second, arguments, None)
        if call.send:
            runner.finish(runner.trail(runner.flow.after[call.id]))
        else:
            runner.wait(call.id)
        return replace(event, callee=place.slot)

    def _call_strike(self, own: Party, other: Party) -> Struck | None:
        options: list[Struck | None] = [None]
        for kind, strike, kept in (
            (FaultKind.LOSE, Strike.LOSE, False),
            (FaultKind.PARTITION, Strike.CUT, False),
            (FaultKind.DUPLICATE, Strike.DUPLICATE, None),
        ):
            fault = self.classes(kind, own, other)
            if fault is not None:
                options.append(Struck(strike, fault, own, other, kept))
        return options[self.world.choose(len(options))]

    def free_place(self, process: str, instance: int, thread: str) -> SlotNode | None:
        """The lowest place in which an activation can begin."""
        for slot in self.layout.slots_of[process, thread]:
            if slot.instance == instance:
                node = self.layout.slots[slot]
                if self.world.decide(self.world.where(node.control, code_of(node.control, IDLE))):
                    return node
        return None

    def begin(self, node: SlotNode, arguments: list[Symbolic], caller: Slot | None) -> None:
        runner = Runner(self.world, self.layout, node)
        for parameter, value in zip(node.thread.parameters, arguments, strict=True):
            runner.locals[parameter.key] = value
        runner.finish(node.flow.start)
        if node.caller is not None:
            self.world.set(node.caller, 0 if caller is None else code_of(node.caller, caller))

    def _reply(self, runner: Runner, statement: typed.Return | None, ending: str) -> Event:
        node = runner.node
        site = None if statement is None else statement.id
        self.event = Event(EventKind.REPLY, node.slot)
        if not runner.has_caller():
            runner.end()
            return Event(EventKind.STEP, node.slot, node.flow.entry if site is None else site)
        assert node.caller is not None
        callers = [
            (caller, self.world.where(node.caller, code))
            for code, caller in enumerate(node.caller.values)
            if isinstance(caller, Slot)
        ]
        caller, condition = callers[self.world.choose(len(callers))]
        self.world.assume(condition)
        answer: Symbolic | None = None
        if statement is not None and statement.value is not None:
            answer = runner.evaluate(statement.value, statement.id)
        own, other = Party(node.slot.process, node.slot.instance), Party(caller.process, caller.instance)
        event = self.event = Event(EventKind.REPLY, node.slot, site, Ending(ending))
        lose = self.classes(FaultKind.LOSE, other, own)
        lost = lose is not None and self.world.choose(2) == 1
        if lost:
            assert lose is not None
            self.spend(lose)
            event = self.event = replace(
                event, ending=Ending.UNKNOWN, strike=Strike.LOSE, kept=True, party=other, other=own
            )
        runner.end()
        waiting, call = self._waiting(self.layout.slots[caller], node)
        following: Stop
        if lost or ending != "ok":
            following = waiting.fail(call, Failure.UNKNOWN if lost else Failure(ending))
        else:
            if answer is not None:
                waiting.assign(call.target, answer, call.id)
            elif call.target is not None:
                raise Pruned  # a handler with a result never comes to its end without a `return`
            following = waiting.flow.after[call.id]
        waiting.finish(waiting.trail(following))
        return event


def is_reply(node: SlotNode, control: object) -> bool:
    """Whether an activation that stands there answers its caller with its next step."""
    return isinstance(control, Replying) or (
        isinstance(control, At)
        and control.position in node.flow.statements
        and node.flow.is_called_reply(node.flow.statements[control.position])
    )


def written_stores(statement: Statement) -> frozenset[str]:
    """The stores that the statement may write to."""
    if isinstance(statement, typed.Atomic):
        return frozenset().union(*(written_stores(inner) for inner in all_statements(statement.body)))
    found: set[str] = set()
    targets: list[typed.Target] = []
    match statement:
        case typed.Assign():
            targets = [statement.target]
        case typed.Insert():
            targets = [statement.place]
        case typed.Update():
            targets = [statement.place, statement.target]
        case typed.QueueOperation() | typed.LockOperation():
            found.add(statement.store)
            targets = [statement.target]
        case _:
            pass
    for target in targets:
        places = (target,) if isinstance(target, typed.Place) else target or ()
        found |= {place.root.store for place in places if isinstance(place.root, typed.StoreVariable)}
    return frozenset(found)
