"""Which variants of a module are checked, each type-checked for its choice of constants and switches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from checker.faultsets import parse_faults
from checker.lowering.properties import BUILT_IN, MODEL_ERRORS, STUCK_THREADS, assertions
from checker.options import Options, UnknownNameError
from checker.suggestion import suggest
from spec import syntax
from spec.diagnostic import Diagnostic
from spec.load import LEAST_SECONDS
from spec.stuck import may_be_stuck
from spec.typecheck import Checked, Choice, typecheck
from spec.typed import Scenario


@dataclass(frozen=True)
class Chosen:
    """One choice of constants and switches, type-checked; checked is None where `errors` say why not."""

    variant: str | None
    doc: str
    checked: Checked | None
    errors: tuple[Diagnostic, ...] = ()


def choose(module: syntax.Module, options: Options) -> list[Chosen]:
    """Type-checks the variants that the options ask for.  Raises UnknownNameError for variants, constants and switches
    that the module does not declare."""
    variants = {item.name.name: item.doc for item in module.items if isinstance(item, syntax.Variant)}
    constants = {item.name.name for item in module.items if isinstance(item, syntax.Constant)}
    switches = {item.name.name for item in module.items if isinstance(item, syntax.Switch)}
    _require(options.variants, variants, "variant", "variants", module)
    _require(options.constants, constants, "constant", "constants", module)
    _require(options.switches, switches, "switch", "switches", module)
    names: Sequence[str | None] = options.variants or tuple(variants) or (None,)
    found = []
    deadline = time.monotonic() + max(options.time_limit().left(), LEAST_SECONDS)
    for name in dict.fromkeys(names):
        left = deadline - time.monotonic()
        result = typecheck(module, Choice(name, options.constants, options.switches), left)
        doc = variants.get(name, "") if name is not None else ""
        if isinstance(result, tuple):
            found.append(Chosen(name, doc, None, result))
        else:
            found.append(Chosen(name, doc, result))
    return found


def named_in(chosen: Iterable[Chosen]) -> set[str]:
    """The names that expectations of any of these variants speak of."""
    return {expectation.name for each in chosen if each.checked for expectation in each.checked.expectations}


def scenarios_of(checked: Checked, options: Options, named: Set[str]) -> list[Scenario]:
    """The scenarios that the check of a variant runs: those that the options ask for, else all but those that only
    expectations of other variants name.  `named`: what `named_in` says of all variants."""
    here = {expectation.name for expectation in checked.expectations}
    return [
        scenario
        for scenario in checked.model.scenarios
        if (
            scenario.name in options.properties
            if options.properties
            else scenario.name in here or scenario.name not in named
        )
    ]


def results_of(checked: Checked, options: Options, named: Set[str]) -> list[str]:
    """The names of all that the check of a variant gives a verdict on, in the order of its report, for options that
    choose no properties; known without checking anything."""
    model = checked.model
    declared = [each.name for each in model.properties]
    told = [scenario.name for scenario in scenarios_of(checked, options, named)]
    stuck = [STUCK_THREADS] if looks_for_stuck_threads(checked, options) else []
    return [*declared, MODEL_ERRORS, *assertions(model), *stuck, *told]


def looks_for_stuck_threads(checked: Checked, options: Options) -> bool:
    """Whether the check of a variant gives a verdict on `stuck_threads`: where some thread could be stuck, or somebody
    asks."""
    asked = STUCK_THREADS in options.properties or any(e.name == STUCK_THREADS for e in checked.expectations)
    return asked or may_be_stuck(checked.model)


def _require(wanted: Iterable[str], known: Iterable[str], what: str, plural: str, module: syntax.Module) -> None:
    for name in wanted:
        if name not in set(known):
            raise UnknownNameError(f"{module.source.name} has no {what} {name!r}", suggest(name, known, plural))


def require_faults(chosen: Sequence[Chosen], options: Options) -> None:
    """Raises UnknownNameError when the options name fault classes that one of the variants cannot have."""
    if options.faults is not None:
        for choice in chosen:
            if choice.checked is not None:
                parse_faults(options.faults, choice.checked.model)


def require_properties(chosen: Sequence[Chosen], options: Options) -> None:
    """Raises UnknownNameError when the options name a property or scenario that no variant has."""
    known: set[str] = set(BUILT_IN)
    for choice in chosen:
        if choice.checked is not None:
            model = choice.checked.model
            known |= {declared.name for declared in model.properties}
            known |= {scenario.name for scenario in model.scenarios}
    for name in options.properties:
        if name not in known and not name.startswith("assert_"):
            raise UnknownNameError(f"no property or scenario {name!r}", suggest(name, known, "properties"))
