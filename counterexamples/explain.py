"""What happened in a trace and why its end is wrong, as data: the renderers give it words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

from counterexamples.blame import Blame, blame
from counterexamples.change import Change, changes
from counterexamples.forever import Able, Forever, forever, violation
from counterexamples.notation import write_key, write_party
from counterexamples.site import Site, sites, thread_of
from counterexamples.trace import Trace
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.interpreter import Interpreter
from spec.state import GlobalState, Holder, Loose, ModelError
from spec.stuck import STUCK_THREADS, Stuck
from spec.topology import Link, link
from spec.typed import Call, FaultClass, FaultKind, Liveness, LiveShape, Model, PropertyDeclaration, PropertyForm
from spec.value import Value


class Kind(Enum):
    """Where a step comes from."""

    THREAD = "thread"
    ENVIRONMENT = "environment"
    RECOVERY = "recovery"
    FAULT = "fault"
    """A fault by itself, or a statement during which one strikes."""


@dataclass(frozen=True)
class Obstacle:
    """Why a statement was refused: `party` is down (`other` None), or the link between the two is cut."""

    party: Party
    other: Party | None = None


@dataclass(frozen=True)
class Step:
    """One step of a trace.

    number     from 1
    site       the statement executed, if any; for a model error in local statements the one whose evaluation failed
    fault      the declared class of the fault that strikes, if one does
    changes    everything that is different afterwards
    obstacles  for a refused statement, what is down or cut
    """

    number: int
    event: Event
    kind: Kind
    site: Site | None
    fault: FaultClass | None
    changes: tuple[Change, ...]
    obstacles: tuple[Obstacle, ...]


@dataclass(frozen=True)
class Standing:
    """Where an activation stands.  site: the statement that it is about to execute, None when it is about to answer
    its caller.  callee: whom it waits for.  moves: whether it can take a step; None when that was not asked."""

    slot: Slot
    site: Site | None
    callee: Slot | None
    locals: tuple[tuple[str, Value], ...]
    moves: bool | None


@dataclass(frozen=True)
class Held:
    """An item in a queue (path: the queue, item), or a lock that is not free (path: the lock with its key)."""

    path: str
    item: Value | None
    holder: Holder


@dataclass(frozen=True)
class Conclusion:
    """What the end of a trace shows.

    name      of the property, `model_errors`, `stuck_threads` or `assert_LINE`
    declared  the property's declaration, if it has one
    blame     why its condition is false (for a cover: why it is true); None for a model error
    error     for a model error or failed assertion: which, and at which statement
    stuck     for `stuck_threads`: the activations that can never go on
    threads, queues, locks, down, cut
              for `at rest`, `recoverable` and `stuck_threads`: where each activation stands, what is in the queues,
              which locks are not free, who is down, which links are cut; for a live property also, of the last state
    forever   for a live property: how the run violates it, and why nothing helps; `blame` is then of its right side
    """

    name: str
    declared: PropertyDeclaration | None
    blame: Blame | None
    error: ModelError | None = None
    site: Site | None = None
    stuck: tuple[Standing, ...] = ()
    threads: tuple[Standing, ...] = ()
    queues: tuple[Held, ...] = ()
    locks: tuple[Held, ...] = ()
    down: tuple[Party, ...] = ()
    cut: tuple[Link, ...] = ()
    forever: Forever | None = None

    @property
    def is_about_stuck_threads(self) -> bool:
        return self.name == STUCK_THREADS


@dataclass(frozen=True)
class Explanation:
    """loop: the number of steps after which the state stands to which the last step leads back, for an infinite run."""

    model: Model
    steps: tuple[Step, ...]
    loop: int | None
    conclusion: Conclusion | None
    sites: Mapping[int, Site]


CanMove = Callable[[GlobalState, Slot], bool]
"""Whether an activation can take a step in a state without a fault."""


def explain(
    trace: Trace, name: str | None = None, can_move: CanMove | None = None, able: Able | None = None
) -> Explanation:
    """Explains every step of a trace, and what its end shows of the property `name`.

    name: a property of the model, or `model_errors`, `stuck_threads` or `assert_LINE`; None for a run that shows none.
    can_move: tells threads that wait from those that go round and change nothing, where that matters.
    able: tells which fair actions are enabled, for a live property.  Raises
    ValueError for a name that is no property when the trace does not end in a model error, and for a step invariant
    when there is no step."""
    known = sites(trace.model)
    steps = tuple(
        step(trace.model, number, event, before, after, known)
        for number, (event, before, after) in enumerate(
            zip(trace.events, trace.states[:-1], trace.states[1:], strict=True), start=1
        )
    )
    conclusion = None if name is None else conclude(trace, name, can_move, able)
    return Explanation(trace.model, steps, trace.loop, conclusion, known)


def step(
    model: Model, number: int, event: Event, before: GlobalState, after: GlobalState, known: Mapping[int, Site]
) -> Step:
    """Explains one step.  known: the model's statements, as `counterexamples.site.sites` gives them."""
    number_of_site = event.site if event.site is not None or after.error is None else after.error.site
    site = None if number_of_site is None else known.get(number_of_site)
    acts = event.kind in (EventKind.STEP, EventKind.REPLY)
    return Step(
        number,
        event,
        kind(event, before),
        site,
        fault_class(model, event, before),
        changes(model, before, after, event.slot if acts else None),
        obstacles(model, event, before, site),
    )


def kind(event: Event, before: GlobalState) -> Kind:
    """Where an event comes from, in the state in which it happens (an orphaned lease expires by itself, a held one
    only by a fault)."""
    if event.strike is not None:
        return Kind.FAULT
    match event.kind:
        case EventKind.STEP | EventKind.REPLY:
            return Kind.THREAD
        case EventKind.REQUEST:
            return Kind.ENVIRONMENT
        case EventKind.CRASH | EventKind.CUT:
            return Kind.FAULT
        case EventKind.RESTART | EventKind.HEAL | EventKind.REDELIVER:
            return Kind.RECOVERY
        case EventKind.EXPIRE:
            return Kind.FAULT if isinstance(_lock_holder(event, before), Slot) else Kind.RECOVERY


def _lock_holder(event: Event, state: GlobalState) -> Holder | None:
    lock = state.locks.get((event.store or "", event.variable or ""))
    return None if lock is None else next((holder for key, holder, _ in lock.entries if key == event.item), None)


_STRIKES = {
    Strike.CRASH: FaultKind.CRASH,
    Strike.CUT: FaultKind.PARTITION,
    Strike.LOSE: FaultKind.LOSE,
    Strike.DUPLICATE: FaultKind.DUPLICATE,
}
_EVENTS = {
    EventKind.CRASH: FaultKind.CRASH,
    EventKind.CUT: FaultKind.PARTITION,
    EventKind.EXPIRE: FaultKind.EXPIRE,
}


def fault_class(model: Model, event: Event, before: GlobalState) -> FaultClass | None:
    """The declared class of the fault that an event is or that strikes during it; None for a step without a fault."""
    if kind(event, before) is not Kind.FAULT:
        return None
    wanted = _EVENTS.get(event.kind) if event.strike is None else _STRIKES[event.strike]
    for declared in model.faults:
        if declared.kind is wanted and _is_of(event, declared):
            return declared
    return None


def _is_of(event: Event, declared: FaultClass) -> bool:
    """Whether a class of the event's kind speaks of what the event struck."""
    if declared.kind is FaultKind.EXPIRE:
        return (declared.first, declared.second) == (event.store, event.variable)
    first = (declared.first, declared.first_instance)
    if declared.kind is FaultKind.CRASH:
        return _means(first, event.party)
    second = (declared.second, declared.second_instance)
    one, other = event.party, event.other
    return (_means(first, one) and _means(second, other)) or (_means(first, other) and _means(second, one))


def _means(end: tuple[str | None, int | None], party: Party | None) -> bool:
    name, instance = end
    return party is not None and name == party.name and instance in (None, party.instance)


def obstacles(model: Model, event: Event, before: GlobalState, site: Site | None) -> tuple[Obstacle, ...]:
    """What is down or cut, among all that a refused statement needs; nothing for statements that ended otherwise."""
    if event.ending is not Ending.REFUSED or site is None or event.slot is None or event.kind is not EventKind.STEP:
        return ()
    own = Party(event.slot.process, event.slot.instance)
    needed = [Party(store) for store in sorted(site.statement.stores)]
    if isinstance(site.statement, Call):
        called = next((p for p in model.processes if p.name == site.statement.process), None)
        needed += [Party(called.name, i) for i in range(called.instances.size)] if called is not None else []
    found = []
    for party in needed:
        if party in before.down:
            found.append(Obstacle(party))
        elif link(own, party) in before.cut:
            found.append(Obstacle(own, party))
    return tuple(found)


def conclude(trace: Trace, name: str, can_move: CanMove | None = None, able: Able | None = None) -> Conclusion:
    """What the end of the trace shows of a property; see `explain`."""
    last = trace.states[-1]
    declared = next((p for p in trace.model.properties if p.name == name), None)
    if name == STUCK_THREADS:
        return _about_stuck_threads(trace.model, last, can_move)
    if declared is None:
        if last.error is None:
            raise ValueError(f"the model has no property {name}")
        return Conclusion(name, None, None, last.error, sites(trace.model).get(last.error.site))
    about_step = declared.form is PropertyForm.STEP_INVARIANT
    if about_step and not trace.events:
        raise ValueError(f"{name} speaks of a step, and the trace has none")
    seen = (trace.states[-2], last) if about_step else (last, None)
    shown: Forever | None = None
    reason: Blame | None
    if declared.live is not None:
        reason, shown = _unending(trace, declared, declared.live, able)
    else:
        reason = blame(declared.condition, *seen)
    if declared.form not in (PropertyForm.AT_REST, PropertyForm.RECOVERABLE, PropertyForm.LIVE):
        return Conclusion(name, declared, reason)
    return _with_remains(Conclusion(name, declared, reason, forever=shown), trace.model, last, can_move)


@dataclass(frozen=True, eq=False)
class _Question:
    """Who is stuck in a state of one and the same model: a report asks it for each form in which it is written."""

    model: Model
    state: GlobalState

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Question) and self.model is other.model and self.state == other.state

    def __hash__(self) -> int:
        return hash(self.state)


@lru_cache(maxsize=16)
def _stuck_slots(asked: _Question) -> tuple[Slot, ...]:
    return Stuck(Interpreter(asked.model)).find(asked.state).stuck or ()


def _about_stuck_threads(model: Model, state: GlobalState, can_move: CanMove | None) -> Conclusion:
    found = _stuck_slots(_Question(model, state))
    whole = _with_remains(Conclusion(STUCK_THREADS, None, None), model, state, can_move)
    return replace(whole, stuck=tuple(thread for thread in whole.threads if thread.slot in found))


def _with_remains(conclusion: Conclusion, model: Model, state: GlobalState, can_move: CanMove | None) -> Conclusion:
    """With where everything stands in a state."""
    return replace(
        conclusion,
        threads=standing(model, state, can_move),
        queues=queued(state),
        locks=held(state),
        down=tuple(sorted(state.down, key=write_party)),
        cut=tuple(sorted(state.cut, key=lambda ends: tuple(map(write_party, ends)))),
    )


def _unending(
    trace: Trace, declared: PropertyDeclaration, live: Liveness, able: Able | None
) -> tuple[Blame | None, Forever | None]:
    """Why the right side of a live property does not hold, and what else a run that never ends shows."""
    found = violation(trace, declared)
    if found is None:
        return None, None
    bound = {binder.key: (binder.name, found.values[binder.key]) for binder in live.binders}
    state = trace.states[found.since] if live.shape is LiveShape.EVENTUALLY_ALWAYS else trace.states[-1]
    return blame(live.right, state, None, bound), forever(trace, declared, found, able)


def standing(model: Model, state: GlobalState, can_move: CanMove | None = None) -> tuple[Standing, ...]:
    """Where each running activation stands, in the order of their slots."""
    known = sites(model)
    callees = {callee.caller: slot for slot, callee in state.activations.items() if callee.caller is not None}
    found = []
    for slot, activation in sorted(state.activations.items()):
        thread = thread_of(model, slot)
        names = () if thread is None else thread.locals
        found.append(
            Standing(
                slot,
                None if activation.at is None else known.get(activation.at),
                callees.get(slot) if activation.waiting else None,
                tuple(
                    (local.name, activation.locals[local.key])
                    for local in names
                    if local.key in activation.locals and local.name.isidentifier()
                ),
                None if can_move is None else can_move(state, slot),
            )
        )
    return tuple(found)


def queued(state: GlobalState) -> tuple[Held, ...]:
    """Every item in a queue and where it stands."""
    return tuple(
        Held(f"{store}.{name}", item, holder)
        for (store, name), queue in state.queues.items()
        for item, holder in queue.entries
    )


def held(state: GlobalState) -> tuple[Held, ...]:
    """Every lock that is not free and who holds it."""
    return tuple(
        Held(f"{store}.{name}" if key is None else f"{store}.{name}[{write_key(key)}]", None, holder)
        for (store, name), lock in state.locks.items()
        for key, holder, _ in lock.entries
        if holder is not Loose.FREE
    )
