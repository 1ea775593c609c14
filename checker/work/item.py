"""A work item: one variant of one model, at one choice of constants, switches, faults and properties.

What is checked is cut into items, and each gives a report of its own whichever process performs it, and whatever else
is checked beside it.  One search decides all properties of a variant at once, so an item is not cut further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.bundle import Failure
from checker.choosing import Chosen, named_in
from checker.options import Options
from checker.planning.plan import Observer
from checker.reliance.why import with_reasons
from checker.result import VariantReport
from checker.variant import INTERRUPTED, check_choice, without_verdicts
from spec import syntax


@dataclass(frozen=True)
class Item:
    """All that a check of one variant depends on, as values: no file is read when it is performed.

    module   the model, with its text and that of what it imports (`checker.variant.sources` lists them)
    choice   the variant, type-checked with the constants and switches of the options; or the errors of that
    options  what else is asked: faults, properties, engine, limits.  Its `variants` do not matter here
    named    the names that expectations of any variant of the model speak of (`checker.choosing.named_in`)
    """

    module: syntax.Module
    choice: Chosen
    options: Options
    named: frozenset[str]


def items_of(module: syntax.Module, chosen: Sequence[Chosen], options: Options) -> list[Item]:
    """An item for each of the variants (`checker.choosing.choose`), in their order."""
    named = frozenset(named_in(chosen))
    return [Item(module, choice, options, named) for choice in chosen]


def perform(item: Item, observer: Observer) -> VariantReport:
    """Checks what the item says.  An interrupt (KeyboardInterrupt) is no exception here: the report then is
    `interrupted`, and holds what was decided."""
    report = check_choice(item.module, item.choice, item.options, observer, item.named)
    if item.options.why:
        report = with_reasons(item.module, item.choice, item.options, report, observer)
    return report


def unperformed(
    item: Item, reason: str = INTERRUPTED, *, interrupted: bool = False, failures: Sequence[Failure] = ()
) -> VariantReport:
    """The report on an item that nobody could perform to its end: all is undecided, and `reason` says why."""
    return without_verdicts(
        item.module, item.choice, item.options, item.named, reason, interrupted=interrupted, failures=failures
    )


__all__ = ["Item", "items_of", "perform", "unperformed"]
