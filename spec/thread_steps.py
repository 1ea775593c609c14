"""The steps of an activation: its next shared statement, with all the ways it can end, faults during it included."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spec.activations import Activations, Path, StepError
from spec.control import Position
from spec.disturbances import Disturbances, Successor, settled, stopping
from spec.effects import Done, Erred, Failed, written_stores
from spec.evaluation import EvaluationError, Scope, evaluate, fit
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.state import GlobalState, ModelError
from spec.topology import Topology, link
from spec.typed import Call, Expression, Failure, FaultKind, If, Return, Statement, While
from spec.value import Id, Value


@dataclass(frozen=True)
class Moved:
    """The statement has taken effect; the thread goes on from `position`."""

    state: GlobalState
    position: Position


Result = Moved | Failed | Erred


@dataclass(frozen=True)
class _Doing:
    """An activation about to execute a shared statement: the state, who, and how it came there."""

    state: GlobalState
    slot: Slot
    path: Path
    statement: Statement

    @property
    def party(self) -> Party:
        return Party(self.slot.process, self.slot.instance)

    @property
    def event(self) -> Event:
        return Event(EventKind.STEP, self.slot, self.statement.id)

    def value(self, expression: Expression) -> Value:
        """Raises StepError."""
        instance = Id(self.slot.process, self.slot.instance, True)
        try:
            return evaluate(expression, Scope(self.state, self.path.position.locals, instance))
        except EvaluationError as error:
            raise StepError(ModelError(error.kind, self.statement.id)) from error


class ThreadSteps:
    """The steps of the activations of one model."""

    def __init__(self, activations: Activations, topology: Topology, disturbances: Disturbances) -> None:
        self.activations = activations
        self.topology = topology
        self.disturbances = disturbances
        self._written = {i: written_stores(s) for i, s in activations.control.statements.items()}

    def steps(self, state: GlobalState, slot: Slot) -> Iterator[Successor]:
        """All steps that the activation in `slot` can make now."""
        activation = state.activations[slot]
        if activation.waiting:
            return
        if activation.at is None:
            if activation.ending is not None:
                yield from self._reply(state, slot, None, Ending(activation.ending), None, 0)
            return
        for path in self.activations.paths(state, slot):
            if isinstance(path, Erred):
                yield stopping(Event(EventKind.STEP, slot), state, StepError(path.error))
            elif path.position.statement is not None:
                yield from self._execute(_Doing(state, slot, path, path.position.statement))
            elif activation.caller is not None:
                yield from self._reply(state, slot, None, path.position.ending, None, path.used)
            else:
                yield Event(EventKind.STEP, slot, activation.at), self.activations.finish(state, slot)

    # ------------------------------------------------------------------------------------------------- statements

    def _execute(self, doing: _Doing) -> Iterator[Successor]:
        statement = doing.statement
        stores = [Party(name) for name in sorted(statement.stores)]
        if not all(self.topology.reachable(doing.state, doing.party, store) for store in stores):
            yield self._failing(replace(doing.event, ending=Ending.REFUSED), doing, doing.state, Failure.REFUSED)
            return
        if isinstance(statement, Call):
            yield from self._call(doing, statement)
        elif isinstance(statement, Return) and doing.state.activations[doing.slot].caller is not None:
            yield from self._return(doing, statement)
        else:
            results = self._perform(doing, doing.state)
            yield from (self._ending(doing.event, doing, result) for result in results)
            yield from self._strikes(doing, results)

    def _perform(self, doing: _Doing, state: GlobalState) -> list[Result]:
        """What the statement does in `state`; nothing when it waits."""
        activations, statement, variables = self.activations, doing.statement, doing.path.position.locals
        if isinstance(statement, If | While):
            try:
                holds = replace(doing, state=state).value(statement.condition)
            except StepError as stopped:
                return [Erred(stopped.error)]
            if isinstance(statement, If):
                block = statement.then if holds else statement.otherwise
                return [Moved(state, activations.control.enter(block, statement, variables))]
            if holds:
                return [Moved(state, activations.control.enter(statement.body, statement, variables))]
            return [Moved(state, activations.control.after(statement, variables))]
        results: list[Result] = []
        for outcome in activations.effects.outcomes(statement, state, doing.slot, variables):
            match outcome:
                case Done(after, changed, returned):
                    position = Position(None, {}) if returned else activations.control.after(statement, changed)
                    results.append(Moved(after, position))
                case _:
                    results.append(outcome)
        return results

    def _ending(self, event: Event, doing: _Doing, result: Result, state: GlobalState | None = None) -> Successor:
        """The step with this result; `state` is where it leads, if it is not simply the result's."""
        match result:
            case Moved(after, position):
                reached = after if state is None else state
                return settled(
                    event,
                    doing.state,
                    lambda: self.activations.settle(reached, doing.slot, position, doing.path.used),
                )
            case Failed(failure):
                reached = doing.state if state is None else state
                return self._failing(replace(event, ending=Ending(failure.value)), doing, reached, failure)
            case Erred(error):
                return stopping(event, doing.state, StepError(error))

    def _failing(self, event: Event, doing: _Doing, state: GlobalState, failure: Failure) -> Successor:
        variables, used = doing.path.position.locals, doing.path.used
        return settled(
            event,
            doing.state,
            lambda: self.activations.fail(state, doing.slot, doing.statement, failure, variables, used),
        )

    # ------------------------------------------------------------------------------- faults during store statements

    def _strikes(self, doing: _Doing, results: list[Result]) -> Iterator[Successor]:
        """The faults that may strike while the statement touches a store; none when it waits."""
        proper = [result for result in results if not isinstance(result, Erred)]
        if not proper:
            return
        outcomes: list[tuple[bool, GlobalState]] = [(False, doing.state)]
        if self._written[doing.statement.id]:
            outcomes += [(True, r.state if isinstance(r, Moved) else doing.state) for r in proper]
        for name in sorted(doing.statement.stores):
            store = Party(name)
            ends = link(doing.party, store)
            unknown = replace(doing.event, ending=Ending.UNKNOWN, party=ends[0], other=ends[1])
            for kept, state in outcomes:
                if self.topology.crash_class(store) is not None:
                    event = replace(unknown, strike=Strike.CRASH, kept=kept, party=store, other=None)
                    crashed = self.disturbances.crash_store(state, name)
                    yield self._failing(event, doing, crashed, Failure.UNKNOWN)
                if self.topology.link_class(FaultKind.PARTITION, ends) is not None:
                    event = replace(unknown, strike=Strike.CUT, kept=kept)
                    yield self._failing(event, doing, replace(state, cut=state.cut | {ends}), Failure.UNKNOWN)
                if self.topology.link_class(FaultKind.LOSE, ends) is not None:
                    event = replace(unknown, strike=Strike.LOSE, kept=kept)
                    yield self._failing(event, doing, state, Failure.UNKNOWN)
            if name in self._written[doing.statement.id] and self.topology.link_class(FaultKind.DUPLICATE, ends):
                event = replace(doing.event, strike=Strike.DUPLICATE, party=ends[0], other=ends[1])
                for first in proper:
                    yield from self._twice(event, doing, first)

    def _twice(self, event: Event, doing: _Doing, first: Moved | Failed) -> Iterator[Successor]:
        """The statement takes effect a second time, right after the first; the answer is the first one's."""
        once = first.state if isinstance(first, Moved) else doing.state
        again = self._perform(doing, once)
        if not again:
            yield self._ending(event, doing, first, once)
        for second in again:
            match second:
                case Erred():
                    yield self._ending(event, doing, second)
                case Moved(state, _):
                    yield self._ending(event, doing, first, state)
                case Failed():
                    yield self._ending(event, doing, first, once)

    # ----------------------------------------------------------------------------------------------------- calls

    def _call(self, doing: _Doing, call: Call) -> Iterator[Successor]:
        state, process = doing.state, self.topology.processes[call.process]
        parameters = self.activations.threads[call.process, call.thread].parameters
        try:
            called = None if call.instance is None else doing.value(call.instance)
            arguments = [doing.value(argument) for argument in call.arguments]
            variables = {p.key: fit(v, p.type) for p, v in zip(parameters, arguments, strict=True)}
        except StepError as stopped:
            yield stopping(doing.event, state, stopped)
            return
        except EvaluationError as error:
            yield stopping(doing.event, state, StepError(ModelError(error.kind, call.id)))
            return
        instances = range(process.instances.size) if not isinstance(called, Id) else (called.index,)
        reachable = [i for i in instances if self.topology.reachable(state, doing.party, Party(process.name, i))]
        if not reachable:
            yield self._failing(replace(doing.event, ending=Ending.REFUSED), doing, state, Failure.REFUSED)
            return
        free = [self.activations.free_slot(state, process.name, i, call.thread) for i in reachable]
        callees = [slot for slot in free if slot is not None]
        for callee in callees:
            begun = self._begin(doing, call, callee, variables)
            yield self._sent(replace(doing.event, callee=callee), doing, call, begun)
        for callee in callees:
            yield from self._request_strikes(doing, call, callee, variables)
        if callees:
            yield from self._strikes(doing, [Moved(state, doing.path.position)])

    def _begin(self, doing: _Doing, call: Call, callee: Slot, variables: dict[str, Value]) -> GlobalState:
        return self.activations.begin(doing.state, callee, variables, None if call.send else doing.slot)

    def _sent(self, event: Event, doing: _Doing, call: Call, state: GlobalState) -> Successor:
        """The request has been made: a `send` goes on, a `call` waits."""
        variables = doing.path.position.locals
        if not call.send:
            return event, self.activations.wait(state, doing.slot, call, variables)
        after = self.activations.control.after(call, variables)
        return settled(event, doing.state, lambda: self.activations.settle(state, doing.slot, after, doing.path.used))

    def _request_strikes(
        self, doing: _Doing, call: Call, callee: Slot, variables: dict[str, Value]
    ) -> Iterator[Successor]:
        """The faults that may strike a request on its way to the instance of `callee`."""
        there = Party(callee.process, callee.instance)
        ends = link(doing.party, there)
        struck = replace(doing.event, party=doing.party, other=there)

        def lost(state: GlobalState) -> GlobalState:
            slot, at = doing.slot, doing.path.position.locals
            if call.send:
                return self.activations.settle(state, slot, self.activations.control.after(call, at), doing.path.used)
            return self.activations.fail(state, slot, call, Failure.UNKNOWN, at, doing.path.used)

        gone = replace(struck, ending=Ending.OK if call.send else Ending.UNKNOWN, kept=False)
        if self.topology.link_class(FaultKind.PARTITION, ends) is not None:
            event = replace(gone, strike=Strike.CUT)
            yield settled(event, doing.state, lambda: self.disturbances.cut(lost(doing.state), ends))
        if self.topology.link_class(FaultKind.LOSE, ends) is not None:
            yield settled(replace(gone, strike=Strike.LOSE), doing.state, lambda: lost(doing.state))
        if self.topology.link_class(FaultKind.DUPLICATE, ends) is not None:
            begun = self._begin(doing, call, callee, variables)
            second = self.activations.free_slot(begun, callee.process, callee.instance, callee.thread)
            if second is not None:
                twice = self.activations.begin(begun, second, variables)
                yield self._sent(replace(struck, strike=Strike.DUPLICATE, callee=callee), doing, call, twice)

    # ------------------------------------------------------------------------------------------------------- replies

    def _return(self, doing: _Doing, statement: Return) -> Iterator[Successor]:
        try:
            value = None if statement.value is None else doing.value(statement.value)
        except StepError as stopped:
            yield stopping(Event(EventKind.REPLY, doing.slot), doing.state, stopped)
            return
        yield from self._reply(doing.state, doing.slot, statement.id, Ending.OK, value, doing.path.used)
        yield from self._strikes(doing, [Moved(doing.state, doing.path.position)])

    def _reply(
        self, state: GlobalState, callee: Slot, site: int | None, ending: Ending, value: Value, used: int
    ) -> Iterator[Successor]:
        """The handler ends and its caller goes on."""
        caller = state.activations[callee].caller
        assert caller is not None
        event = Event(EventKind.REPLY, callee, site, ending)

        def answered(how: Ending) -> GlobalState:
            return self.activations.wake(self.activations.finish(state, callee), caller, how, value, used)

        yield settled(event, state, lambda: answered(ending))
        here, there = Party(caller.process, caller.instance), Party(callee.process, callee.instance)
        if self.topology.link_class(FaultKind.LOSE, link(here, there)) is not None:
            lost = replace(event, ending=Ending.UNKNOWN, strike=Strike.LOSE, kept=True, party=here, other=there)
            yield settled(lost, state, lambda: answered(Ending.UNKNOWN))
