"""Small models, systems and fakes for the tests of the checker, built by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from checker.certificates.certificate import Certificate
from checker.engines.engine import Budget, Coverage, Path, Reached, Reporter, Unreachable
from checker.logic.formula import FALSE, Role, Variable, equals
from checker.transition_system import Action, Constant, Form, Kind, Property, State, TransitionSystem
from counterexamples.trace import Trace
from spec.event import Event, EventKind
from spec.source import Source, Span
from spec.state import GlobalState
from spec.typed import (
    Expectation,
    ExpectationVerb,
    FaultClass,
    FaultKind,
    Lock,
    Model,
    Process,
    PropertyForm,
    Store,
)
from spec.types import IdType

SOURCE = Source("sample.cpt", "one\ntwo\nthree\n")
SPAN = Span(SOURCE, 0, 3)

EMPTY = GlobalState({}, {}, {}, {}, {}, {}, {}, frozenset(), frozenset())


def fault(kind: FaultKind, first: str, second: str | None = None, restart: bool = True) -> FaultClass:
    return FaultClass(kind, first, second, restart, SPAN)


def model(*faults: FaultClass) -> Model:
    """Two servers, a store with a lease, a store without."""
    lease = Lock("wf", None, True, None, True, SPAN, "")
    plain = Lock("plain", None, False, None, True, SPAN, "")
    return Model(
        name="sample",
        doc="",
        ids={},
        stores=(Store("postgres", (), (), (), SPAN, ""), Store("redis", (), (), (lease, plain), SPAN, "")),
        processes=(Process("Server", IdType("Server", 2, True), (), (), SPAN, ""),),
        ghosts=(),
        faults=faults,
        properties=(),
        scenarios=(),
        fresh=frozenset(),
        symmetric=frozenset(),
        constants={},
    )


def trace(*events: Event, of: Model | None = None) -> Trace:
    return Trace(of or model(), (EMPTY,) * (len(events) + 1), events)


def expectation(verb: ExpectationVerb, name: str = "p") -> Expectation:
    return Expectation(None, verb, name, SPAN)


CERTIFICATE = Certificate("search", 10, False, 3, 10, 20)

X = Variable("x", (0, 1, 2), 0, Role.STORE)


def prop(name: str, form: Form = Form.INVARIANT, code: int = 2) -> Property:
    return Property(name, form, equals(X, code))


def counter(*properties: Property) -> TransitionSystem:
    """x goes 0 -> 1 -> 2 and stays."""
    steps = tuple(
        Action(code, Event(EventKind.STEP), Kind.THREAD, equals(X, code), {X: Constant(code + 1)}) for code in (0, 1)
    )
    return TransitionSystem((X,), steps, properties, FALSE)


def path(system: TransitionSystem, length: int) -> Path:
    return Path(tuple((code,) for code in range(length + 1)), system.actions[:length])


@dataclass
class Closed:
    """A closed set that says what it is told to."""

    states: tuple[State, ...] = ((0,), (1,))
    flaw: str | None = None
    symmetric: bool = False
    rechecks: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.states)

    def __contains__(self, state: State) -> bool:
        return state in self.states

    def sample(self, count: int, seed: int) -> Iterator[State]:
        return iter(self.states[:count])

    def recheck(self) -> str | None:
        self.rechecks.append(1)
        return self.flaw


Run = Callable[[TransitionSystem, Sequence[Property], Budget, Reporter], None]


@dataclass
class FakeEngine:
    name: str
    behaviour: Run

    def run(self, system: TransitionSystem, properties: Sequence[Property], budget: Budget, reporter: Reporter) -> None:
        self.behaviour(system, properties, budget, reporter)


__all__ = [
    "CERTIFICATE",
    "EMPTY",
    "SOURCE",
    "SPAN",
    "Closed",
    "Coverage",
    "FakeEngine",
    "PropertyForm",
    "Reached",
    "Unreachable",
    "counter",
    "expectation",
    "fault",
    "model",
    "path",
    "prop",
    "trace",
]
