"""What a kept report is about, worked out anew: the model as it is now, and the systems that proofs speak of.

A report is kept without all that follows from the model.  So places, names and texts in it are always those of the
files as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from checker.cache.names import Names
from checker.choosing import Chosen, scenarios_of
from checker.liveness.assumptions import Assumption, assumed, with_fairness
from checker.liveness.fairness_needs import Assumptions
from checker.lower import Lowered, lower
from checker.needs.instances import split
from checker.options import Options
from checker.transition_system import Property
from checker.variant import model_of
from checker.work.item import Item
from spec import syntax
from spec.typecheck import Checked
from spec.typed import Fairness, FaultClass, Model, Scenario


@dataclass(frozen=True, eq=False)
class Basis:
    """What a proof speaks of: a model, lowered when it is wanted."""

    subject: Subject
    faults: tuple[FaultClass, ...] | None = None
    """The fault classes in place of those of the model."""
    assumptions: Assumptions | None = None
    """The fairness in place of the model's."""

    @cached_property
    def lowered(self) -> Lowered:
        """Raises LoweringLimit."""
        if self.faults is not None:
            model = replace(self.subject.model, faults=self.faults)
            return lower(model, max_faults=self.subject.options.max_faults)
        if self.assumptions is not None:
            from checker.liveness.fairness_search import under

            return under(self.subject.basis.lowered, self.assumptions)
        return lower(self.subject.model, max_faults=self.subject.options.max_faults)

    def target(self, name: str) -> Property:
        """The property of this name.  Raises ValueError when there is none."""
        # Fairness is in the system, and not in the property.
        lowered = self.lowered if self.assumptions is None else self.subject.basis.lowered
        for each in lowered.system.properties:
            if each.name == name:
                return each
        raise ValueError(f"the model has no property {name!r}")


class Subject:
    """The model of a work item whose choice has type-checked."""

    def __init__(self, item: Item) -> None:
        """Raises UnknownNameError where the options name fault classes that the model does not have."""
        checked = item.choice.checked
        assert checked is not None
        self.checked: Checked = checked
        self.choice: Chosen = item.choice
        self.module: syntax.Module = item.module
        self.options: Options = item.options
        self.model: Model = model_of(checked, item.options)
        self.names = Names(self.model)
        self.scenarios: list[Scenario] = scenarios_of(checked, item.options, set(item.named))
        # One for each, since the invariants of a proof are over the variables of one lowering.
        self.basis = Basis(self)
        self._under_faults: dict[frozenset[FaultClass], Basis] = {}
        self._under_assumptions: dict[frozenset[tuple[Assumption, Fairness]], Basis] = {}

    @cached_property
    def needs_classes(self) -> tuple[FaultClass, ...]:
        """The fault classes whose sets `--needs` is about."""
        return split(self.model).faults if self.options.per_instance else self.model.faults

    @cached_property
    def classes(self) -> Mapping[str, FaultClass]:
        """All fault classes that a run in the report may speak of, by their names."""
        return {str(fault): fault for fault in (*split(self.model).faults, *self.model.faults)}

    def under_faults(self, faults: Iterable[FaultClass]) -> Basis:
        """What a proof with just these of `needs_classes` speaks of."""
        kept = frozenset(faults)
        # The verdict with all of them is that on the model itself.
        if kept == frozenset(self.needs_classes):
            return self.basis
        if kept not in self._under_faults:
            faults = tuple(fault for fault in self.needs_classes if fault in kept)
            self._under_faults[kept] = Basis(self, faults=faults)
        return self._under_faults[kept]

    def under_assumptions(self, assumptions: Mapping[Assumption, Fairness]) -> Basis:
        kept = frozenset(assumptions.items())
        return self._under_assumptions.setdefault(kept, Basis(self, assumptions=assumptions))

    def changed(self, faults: Iterable[str], fairness: Mapping[Assumption, Fairness]) -> Model:
        """The model with other fault classes, and other fairness of those threads and recoveries that are mentioned.
        Raises KeyError for a fault class that there is not."""
        model = replace(self.model, faults=tuple(self.classes[name] for name in faults))
        return with_fairness(model, fairness) if fairness else model

    def change(self, model: Model) -> tuple[list[str], dict[Assumption, Fairness]]:
        """How a model differs from this one, for `changed`.  Raises ValueError where it differs in anything else."""
        faults = [str(fault) for fault in model.faults]
        if any(name not in self.classes for name in faults):
            raise ValueError("a run has a fault class that is none of the model's")
        wanted = assumed(model)
        plain = assumed(self.changed(faults, {}))
        fairness = {each: fair for each, fair in wanted.items() if plain.get(each) is not fair}
        again = self.changed(faults, fairness)
        if again != model or assumed(again) != wanted:
            raise ValueError("a run is one of another model")
        return faults, fairness


__all__ = ["Basis", "Subject"]
