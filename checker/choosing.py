"""Which variants of a module are checked, each type-checked for its choice of constants and switches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checker.lowering.properties import MODEL_ERRORS
from checker.options import Options, UnknownNameError
from checker.suggestion import suggest
from spec import syntax
from spec.diagnostic import Diagnostic
from spec.typecheck import Checked, Choice, typecheck


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
    for name in dict.fromkeys(names):
        result = typecheck(module, Choice(name, options.constants, options.switches))
        doc = variants.get(name, "") if name is not None else ""
        if isinstance(result, tuple):
            found.append(Chosen(name, doc, None, result))
        else:
            found.append(Chosen(name, doc, result))
    return found


def _require(wanted: Iterable[str], known: Iterable[str], what: str, plural: str, module: syntax.Module) -> None:
    for name in wanted:
        if name not in set(known):
            raise UnknownNameError(f"{module.source.name} has no {what} {name!r}", suggest(name, known, plural))


def require_properties(chosen: Sequence[Chosen], options: Options) -> None:
    """Raises UnknownNameError when the options name a property or scenario that no variant has."""
    known: set[str] = {MODEL_ERRORS}
    for choice in chosen:
        if choice.checked is not None:
            model = choice.checked.model
            known |= {declared.name for declared in model.properties}
            known |= {scenario.name for scenario in model.scenarios}
    for name in options.properties:
        if name not in known and not name.startswith("assert_"):
            raise UnknownNameError(f"no property or scenario {name!r}", suggest(name, known, "properties"))
