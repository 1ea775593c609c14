"""The changes between two reports of what is one model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from checker.differences.change import Change, ChangeKind, Effect
from checker.differences.declarations import claims, compare_claims, compare_faults, compare_sizes, match
from checker.differences.verdicts import compare_results, judge_added
from checker.lowering.properties import BUILT_IN
from checker.options import Options
from checker.result import FileReport, VariantReport
from checker.verdict import title

_OF_ALL = {
    ChangeKind.SIZE_SHRANK,
    ChangeKind.SIZE_GREW,
    ChangeKind.PROPERTY_REMOVED,
    ChangeKind.PROPERTY_RENAMED,
    ChangeKind.CONDITION_CHANGED,
    ChangeKind.MODEL_ERRORS,
}
"""What is told once where it is the same in all variants."""


def compare(base: FileReport | None, head: FileReport, options: Options) -> tuple[Change, ...]:
    """base None: the model is new, or BASE could not be read.  Both were checked with these options."""
    if head.errors:
        return (Change(ChangeKind.MODEL_ERRORS, Effect.REGRESSION, None, head.name),)
    old = {variant.variant: variant for variant in base.variants} if base else {}
    new = {variant.variant: variant for variant in head.variants}
    found = [*_faults(old, new)] if base else []
    for name, variant in new.items():
        if base and base.variants and name not in old:
            found.append(Change(ChangeKind.VARIANT_ADDED, Effect.NEUTRAL, name, name or "the defaults"))
        found += _variants(old.get(name), variant, options)
    for name in old:
        if name not in new:
            found.append(Change(ChangeKind.VARIANT_REMOVED, Effect.REGRESSION, name, name or "the defaults"))
    return tuple(_once(found, len(new)))


def _faults(old: dict[str | None, VariantReport], new: dict[str | None, VariantReport]) -> Iterator[Change]:
    """Fault classes are those of the file, whatever the variant."""
    models = [next((v.model for v in side.values() if v.model is not None), None) for side in (old, new)]
    if models[0] is not None and models[1] is not None:
        yield from sorted(compare_faults(models[0], models[1]), key=lambda change: (change.kind.value, change.subject))


def _variants(base: VariantReport | None, head: VariantReport, options: Options) -> Iterator[Change]:
    name = head.variant
    if head.model is None:
        yield Change(ChangeKind.MODEL_ERRORS, Effect.REGRESSION, name, name or "the defaults")
        return
    after = {result.name: result for result in head.results}
    if base is None or base.model is None:
        if base is not None:
            yield Change(ChangeKind.MODEL_REPAIRED, Effect.BETTER, name, name or "the defaults")
        # That each of them is new goes without saying.
        for result in after.values():
            yield from (c for c in judge_added(name, result, options) if c.effect is not Effect.NEUTRAL)
        return
    before = {result.name: result for result in base.results}
    yield from compare_sizes(name, base.model, head.model)
    for old, new in match(claims(base.model), claims(head.model)):
        yield from compare_claims(name, old, new)
        had = before.get(old.name) if old is not None else None
        has = after.get(new.name) if new is not None else None
        if had is not None and has is not None:
            yield from compare_results(name, had, has, options)
        elif has is not None:
            yield from judge_added(name, has, options)
        elif had is not None and new is not None and new.name in BUILT_IN:
            # No thread of the model could be stuck any more: nothing that waits is left, or all of it may.
            told = f"no longer asked, was {title(had.verdict)}"
            yield Change(ChangeKind.PROPERTY_REMOVED, Effect.NEUTRAL, name, new.name, told, None)
        elif had is not None and new is not None:
            # A scenario that the variant says nothing about any more is not walked there.
            told = ", ".join(judged.expectation.verb.value for judged in had.judged) or "walked"
            yield Change(ChangeKind.EXPECTATION_WEAKENED, Effect.REGRESSION, name, new.name, told, "no expectation")


def _once(changes: Sequence[Change], variants: int) -> list[Change]:
    """What is the same in all variants, told once for the model."""
    found: dict[Change, None] = {}
    for change in changes:
        general = replace(change, variant=None)
        everywhere = sum(replace(other, variant=None) == general for other in changes) == variants
        found[general if everywhere and change.kind in _OF_ALL else change] = None
    return list(found)
