"""What the engines have decided so far, and what becomes of two outcomes for one property."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from checker.bundle import Failure
from checker.engines.engine import (
    Bounded,
    Coverage,
    FewRounds,
    Inductive,
    Lasso,
    NoFairCycle,
    Outcome,
    Reached,
    Undecided,
    Unreachable,
)
from checker.time_limit import OUT_OF_TIME, TimeLimit
from checker.transition_system import Property

TOLD = ("search", "ic3", "parallel", "bmc")
"""The engines in the order in which a reason names them."""


@dataclass(frozen=True)
class Decision:
    """An outcome and the engine it came from."""

    engine: str
    outcome: Outcome


@dataclass
class Decisions:
    """What is known so far.

    tried        for each property, the engines that were asked, with what each said
    limits       until when engines worked on each property
    interrupted  the user stopped the run
    failures     what engines did that they must not
    """

    by_name: dict[str, Decision] = field(default_factory=dict)
    tried: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    limits: dict[str, TimeLimit] = field(default_factory=dict)
    coverage: Coverage | None = None
    interrupted: bool = False
    failures: list[Failure] = field(default_factory=list)

    def of(self, target: Property) -> Decision:
        """What was decided of a property; undecided when no engine came to it.  Where nothing or only a bound is known
        the reason says what each engine had to say; what went on until the time was over, it says once."""
        known = self.by_name.get(target.name)
        if known is None:
            return Decision("none", Undecided("interrupted" if self.interrupted else "no engine came to it"))
        if known.engine == "none" or not isinstance(known.outcome, Undecided | Bounded):
            return known
        tried = self.tried.get(target.name, {})
        others = {name: tried[name] for name in TOLD if name in tried and name != known.engine}
        limit = self.limits.get(target.name, TimeLimit(0.0))
        late = [name for name, each in others.items() if _is_late(each)]
        told = []
        if _is_late(known.outcome):
            told.append(limit.reason)
            late.insert(0, known.engine)
        else:
            told.append(known.outcome.reason)
            told += [f"{', '.join(late)}: {limit.reason}"] if late else []
        told += [f"{name}: {_told(each)}" for name, each in others.items() if not _is_late(each)]
        if isinstance(known.outcome, Undecided) and len(told) > 1:
            told[0] = f"{', '.join(late) if _is_late(known.outcome) else known.engine}: {told[0]}"
        return replace(known, outcome=replace(known.outcome, reason="; ".join(told)))

    def outcome(self, target: Property) -> Outcome | None:
        """The bare outcome; None when there is none yet."""
        known = self.by_name.get(target.name)
        return None if known is None else known.outcome

    def put(self, target: Property, decision: Decision) -> None:
        """Adds what an engine says.  The more telling of two outcomes stays; two that cannot both be true are a failure
        of our own, and leave the property undecided."""
        match decision.outcome:
            case Lasso(path=path, shortest=None) as lasso if not path.actions:
                decision = replace(decision, outcome=replace(lasso, shortest="it has no step"))
        self.tried.setdefault(target.name, {})[decision.engine] = decision.outcome
        before = self.by_name.get(target.name)
        if before is None:
            self.by_name[target.name] = decision
            return
        if before.engine == "none":
            return
        if _contradict(before.outcome, decision.outcome) or _contradict(decision.outcome, before.outcome):
            message = f"{before.engine} and {decision.engine} contradict each other about {target.name}"
            self.failures.append(Failure(message, subject=target.name))
            self.by_name[target.name] = Decision("none", Undecided(message))
            return
        if _weight(decision.outcome) > _weight(before.outcome):
            before, decision = decision, before
        self.by_name[target.name] = _combined(before, decision)

    def shorten(self, target: Property, outcome: Outcome) -> None:
        """Puts a shorter run, or the proof that none is shorter, beside the name of the engine that found the run."""
        before = self.by_name.get(target.name)
        if before is None or not isinstance(outcome, Reached):
            return
        if outcome.shortest is not None:
            outcome = replace(outcome, shortest=f"found by {before.engine}, {outcome.shortest}")
        self.put(target, Decision(before.engine, outcome))


def _is_late(outcome: Outcome) -> bool:
    """Whether the engine would have gone on if it had had time."""
    return isinstance(outcome, Undecided | Bounded) and outcome.reason == OUT_OF_TIME


def _told(outcome: Outcome) -> str:
    match outcome:
        case Reached(path=path):
            return f"a run of {len(path.actions)} steps"
        case Lasso(path=path):
            return f"a lasso of {len(path.actions)} steps"
        case Unreachable() | Inductive() | NoFairCycle() | FewRounds():
            return "a proof"
        case Bounded(depth=depth, reason=reason):
            return f"{reason} at depth {depth}"
        case Undecided(reason=reason):
            return reason


def _weight(outcome: Outcome) -> tuple[int, int]:
    """How much an outcome says; the later of two equals says no more."""
    match outcome:
        case Reached(path=path, shortest=shortest) | Lasso(path=path, shortest=shortest):
            return (3 if shortest is not None else 2, -len(path.actions))
        case Unreachable() | Inductive() | NoFairCycle() | FewRounds():
            return (3, 0)
        case Bounded(depth=depth):
            return (1, depth)
        case Undecided():
            return (0, 0)


def _combined(known: Decision, other: Decision) -> Decision:
    """A run is a shortest one when another engine has excluded all that have fewer steps."""
    match known.outcome, other.outcome:
        case Reached(path=path, shortest=None), Bounded(depth=depth) if depth == len(path.actions) - 1:
            why = f"{other.engine}: no violation within {depth} {'step' if depth == 1 else 'steps'}"
            return replace(known, outcome=Reached(path, why))
        case Lasso(path=path, shortest=None) as lasso, Bounded(depth=depth) if depth == len(path.actions) - 1:
            why = f"{other.engine}: no lasso within {depth} {'step' if depth == 1 else 'steps'}"
            return replace(known, outcome=replace(lasso, shortest=why))
        case _:
            return known


def _contradict(one: Outcome, other: Outcome) -> bool:
    """Whether the one excludes the run of the other, or the one's run is proved shortest and the other's is shorter."""
    if not isinstance(other, Reached | Lasso):
        return False
    length = len(other.path.actions)
    match one:
        case Bounded(depth=depth):
            return length <= depth
        case Unreachable() | Inductive() | NoFairCycle() | FewRounds():
            return True
        case Reached(path=path, shortest=shortest) | Lasso(path=path, shortest=shortest):
            return shortest is not None and length < len(path.actions)
        case _:
            return False


__all__ = ["TOLD", "Decision", "Decisions"]
