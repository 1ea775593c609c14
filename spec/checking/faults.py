"""Fault classes."""

from __future__ import annotations

from spec import syntax
from spec.checking.world import World
from spec.diagnostic import Note
from spec.names import did_you_mean, listed
from spec.source import Span
from spec.typed import Fairness, FaultClass, FaultKind, Lock

_WORDS = {Fairness.STRONG: "strongly fair", Fairness.UNFAIR: "unfair"}


class Faults:
    """Checks the fault classes of a model."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems

    def check_all(self) -> tuple[FaultClass, ...]:
        """The fault classes without errors, in the order of the source."""
        made: list[FaultClass] = []
        seen: dict[tuple[FaultKind, frozenset[str] | tuple[str, str | None]], Span] = {}
        for node in self._world.tables.faults:
            fault = self._fault(node)
            if fault is None:
                continue
            ends = (fault.first, fault.second)
            key = (fault.kind, frozenset(str(end) for end in ends) if isinstance(node.target, syntax.Link) else ends)
            if key in seen:
                self._problems.error(
                    "E273",
                    fault.span,
                    f"the fault class `{fault}` is declared twice",
                    notes=(Note("the first is here", seen[key]),),
                    fix="remove one of the two",
                )
                continue
            seen[key] = fault.span
            made.append(fault)
        return tuple(made)

    def _fault(self, node: syntax.Fault) -> FaultClass | None:
        fairness = self._fairness(node)
        match node.target:
            case syntax.Identifier():
                if not self.party(node.target):
                    return None
                return FaultClass(node.kind, node.target.name, None, node.restart, node.span, fairness=fairness)
            case syntax.Link(first=first, second=second):
                ends = self.link(first, second, node.span)
                return None if ends is None else FaultClass(node.kind, *ends, True, node.span, fairness=fairness)
            case syntax.Member():
                return self._expire(node, node.target)

    def _fairness(self, node: syntax.Fault) -> Fairness:
        """How fair the recovery is; of a fault that nothing recovers from, that cannot be said."""
        if node.fairness is None or node.fairness_span is None:
            return Fairness.WEAK
        recovers = node.kind is FaultKind.PARTITION or (node.kind is FaultKind.CRASH and node.restart)
        if not recovers:
            what = "a crash `without restart`" if node.kind is FaultKind.CRASH else f"`{node.kind.value}`"
            self._problems.error(
                "E293",
                node.fairness_span,
                f"{what} has no recovery that could be {_WORDS[node.fairness]}",
                fix="remove it; of faults, `crash` and `partition` have recoveries",
            )
        return node.fairness

    def party(self, name: syntax.Identifier) -> bool:
        """Whether a name is that of a process or store; if not, that is reported."""
        parties = [*self._world.tables.processes, *self._world.tables.stores]
        self._world.used.add(name.name)
        if name.name in parties:
            return True
        have = f"; there are {listed(parties)}" if parties else ""
        self._problems.error(
            "E270",
            name.span,
            f"`{name.name}` is no process and no store{have}",
            fix=did_you_mean(name.name, parties),
        )
        return False

    def link(self, first: syntax.Identifier, second: syntax.Identifier, span: Span) -> tuple[str, str] | None:
        """The ends of a link, a process first; None after an error."""
        known = [self.party(first), self.party(second)]
        if not all(known):
            return None
        stores = self._world.tables.stores
        if first.name in stores and second.name in stores:
            self._problems.error(
                "E271",
                span,
                f"`{first.name}` and `{second.name}` are both stores: there is no link between stores",
                fix="name the process whose link to the store fails",
            )
            return None
        if first.name in stores:
            return second.name, first.name
        return first.name, second.name

    def _expire(self, node: syntax.Fault, target: syntax.Member) -> FaultClass | None:
        stores, store, name = self._world.variables.stores, target.store.name, target.name.name
        leases = [
            f"{owner}.{label}"
            for owner, members in stores.items()
            for label, member in members.items()
            if isinstance(member, Lock) and member.lease
        ]
        fix = did_you_mean(f"{store}.{name}", leases)
        if store not in stores:
            self._problems.error("E270", target.store.span, f"`{store}` is no store", fix=fix)
            return None
        if name not in stores[store]:
            self._problems.error("E270", target.name.span, f"the store `{store}` has no lock `{name}`", fix=fix)
            return None
        member = stores[store][name]
        if member is None:
            return None
        if not isinstance(member, Lock) or not member.lease:
            what = "a lock without a lease" if isinstance(member, Lock) else "no lock"
            self._problems.error(
                "E272",
                node.span,
                f"`{store}.{name}` is {what}; only a lease can expire",
                fix="declare the lock with `lease`" if isinstance(member, Lock) else fix,
            )
            return None
        return FaultClass(FaultKind.EXPIRE, store, name, True, node.span)
