"""The fault sets that an expectation says a refutation needs."""

from __future__ import annotations

from collections.abc import Collection

from spec import syntax
from spec.checking.world import World
from spec.diagnostic import Note
from spec.names import did_you_mean, listed
from spec.typed import ExpectationVerb, FaultClass


class FaultSets:
    """Checks `needs`.  `faults`: the declared fault classes that are free of errors."""

    def __init__(self, world: World, faults: tuple[FaultClass, ...]) -> None:
        self._problems = world.problems
        self._complete = len(faults) == len(world.tables.faults)
        self._declared = {_key(str(fault)): fault for fault in faults}

    def check(self, node: syntax.Expectation, covers: Collection[str]) -> tuple[frozenset[FaultClass], ...] | None:
        """The sets of an expectation with `needs`, in the order of the source; None after an error, or where the
        expectation is of something that faults cannot break."""
        assert node.needs is not None
        cover = next((name for name in node.names if name.name in covers), None)
        if node.verb is not ExpectationVerb.REFUTES or cover is not None:
            what = f"`{node.verb.value}`" if cover is None else f"the cover `{cover.name}`"
            message = f"`needs` says which faults break a property, so it does not go with {what}"
            self._problems.error("E288", node.needs.span, message, fix="remove `needs`, or expect `refutes`")
            return None
        made = [self._set(written) for written in node.needs.sets]
        found = tuple(each for each in made if each is not None)
        if len(found) < len(made) or not self._is_antichain(node.needs.sets, found):
            return None
        return found

    def _set(self, written: syntax.FaultSet) -> frozenset[FaultClass] | None:
        found: set[FaultClass] = set()
        for fault in written.faults:
            name = _text(fault)
            declared = self._declared.get(_key(name))
            if declared is None:
                if self._complete:
                    self._unknown(fault, name)
                return None
            if declared in found:
                self._problems.error("E290", fault.span, f"`{declared}` stands twice in this set", fix="remove one")
                return None
            found.add(declared)
        return frozenset(found)

    def _unknown(self, fault: syntax.Fault, name: str) -> None:
        names = [str(declared) for declared in self._declared.values()]
        have = f"; there are {listed(names)}" if names else "; it declares none"
        message = f"the model declares no fault class `{name}`{have}"
        bare = _bare(name)
        akin = next((f"did you mean `{declared}`?" for declared in names if _bare(declared) == bare), None)
        self._problems.error("E289", fault.span, message, fix=akin or did_you_mean(name, names))

    def _is_antichain(self, written: tuple[syntax.FaultSet, ...], found: tuple[frozenset[FaultClass], ...]) -> bool:
        """Whether no set contains another; if one does, that is reported."""
        for place, large in enumerate(found):
            for other, small in enumerate(found):
                if place != other and (small < large or (small == large and other < place)):
                    how = "is there twice" if small == large else "contains another one, so it is not minimal"
                    note = Note("the other is here", written[other].span)
                    message = f"this fault set {how}"
                    self._problems.error("E290", written[place].span, message, notes=(note,), fix="remove it")
                    return False
        return True


def _text(fault: syntax.Fault) -> str:
    match fault.target:
        case syntax.Identifier(name=name):
            return f"{fault.kind.value} {name}" + ("" if fault.restart else " without restart")
        case syntax.Link(first=first, second=second):
            return f"{fault.kind.value} {first.name} -- {second.name}"
        case syntax.Member(store=store, name=lock):
            return f"{fault.kind.value} {store.name}.{lock.name}"


def _bare(name: str) -> str:
    return _key(name.removesuffix(" without restart"))


def _key(name: str) -> str:
    """The same for both ways to write a link."""
    kind, _, ends = name.partition(" ")
    return f"{kind} {' -- '.join(sorted(ends.split(' -- ')))}"
