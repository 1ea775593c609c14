"""What became of the verdict on a property or scenario, of what was expected of it, and of what it tolerates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checker.differences.change import Change, ChangeKind, Effect
from checker.exitcode import ExitCode
from checker.needs.needs import Needs
from checker.options import Options
from checker.reports.evidence import describe
from checker.result import PropertyResult, Result
from checker.verdict import (
    Covered,
    HoldsTo,
    Judgement,
    Proved,
    Refuted,
    Uncovered,
    UncoveredTo,
    Undecided,
    Verdict,
    title,
)
from spec.typed import Expectation, ExpectationVerb, FaultClass

_OPEN = (HoldsTo, UncoveredTo, Undecided)
_GOOD = (Proved, Covered)
_BAD = (Refuted, Uncovered)
_DEMANDS = (ExpectationVerb.PROVES, ExpectationVerb.REACHES)


def compare_results(variant: str | None, base: Result, head: Result, options: Options) -> Iterator[Change]:
    """The changes between two results of what is one property or scenario."""
    found = [*_verdicts(variant, base, head), *_expectations(variant, base, head)]
    yield from found
    if not any(change.effect is Effect.REGRESSION for change in found):
        yield from _fulfilment(variant, base, head, options)
    if isinstance(base, PropertyResult) and isinstance(head, PropertyResult) and base.needs and head.needs:
        yield from compare_tolerance(variant, head.name, base.needs, head.needs)


def judge_added(variant: str | None, head: Result, options: Options) -> Iterator[Change]:
    """What a result adds for which there is none at BASE: a regression when it would fail a check."""
    failed = head.code(options) is ExitCode.REFUTED
    effect = Effect.REGRESSION if failed else Effect.NEUTRAL
    kind = ChangeKind.NEWLY_REFUTED if failed else ChangeKind.PROPERTY_ADDED
    yield Change(kind, effect, variant, head.name, None, told(head.verdict))


def told(verdict: Verdict) -> str:
    """`PROVED (12 states, depth 3)`."""
    evidence = describe(verdict)
    return f"{title(verdict)} ({evidence})" if evidence else title(verdict)


def _verdicts(variant: str | None, base: Result, head: Result) -> Iterator[Change]:
    old, new = base.verdict, head.verdict
    before, after = told(old), told(new)
    if isinstance(new, _OPEN):
        if not isinstance(old, _OPEN):
            yield Change(ChangeKind.NO_LONGER_DECIDED, Effect.OPEN, variant, head.name, before, after)
        elif _depth(new) < _depth(old):
            yield Change(ChangeKind.BOUND_SHRANK, Effect.OPEN, variant, head.name, before, after)
        elif _depth(new) > _depth(old):
            yield Change(ChangeKind.BOUND_GREW, Effect.BETTER, variant, head.name, before, after)
        return
    if isinstance(new, _BAD) and not isinstance(old, _BAD):
        effect = Effect.NEUTRAL if _foreseen(base, head) else Effect.REGRESSION
        yield Change(ChangeKind.NEWLY_REFUTED, effect, variant, head.name, before, after)
    elif isinstance(new, _GOOD) and not isinstance(old, _GOOD):
        yield Change(ChangeKind.NEWLY_PROVED, Effect.BETTER, variant, head.name, before, after)
    elif not isinstance(new, (*_GOOD, *_BAD)) and type(old) is not type(new):
        decided = not isinstance(old, Undecided)
        effect = Effect.REGRESSION if decided and not _foreseen(base, head) else Effect.NEUTRAL
        yield Change(ChangeKind.VERDICT_CHANGED, effect, variant, head.name, before, after)


def _depth(verdict: Verdict) -> int:
    """How far it is known to hold; -1 for not at all."""
    return verdict.depth if isinstance(verdict, HoldsTo | UncoveredTo) else -1


def _foreseen(base: Result, head: Result) -> bool:
    """Whether both sides expect what HEAD now finds: then it was BASE that was not as it should be."""
    verbs = {item.expectation.verb for item in base.judged}
    now = [item for item in head.judged if item.judgement is not Judgement.NOT_JUDGED]
    return bool(now) and all(item.expectation.verb in verbs and item.judgement is Judgement.MET for item in now)


def _expectations(variant: str | None, base: Result, head: Result) -> Iterator[Change]:
    old, new = _stated(base), _stated(head)
    before, after = _words(old), _words(new)
    weaker, stronger = _compare_verbs(old, new)
    if not weaker and not stronger:
        weaker, stronger = _compare_needs(old, new)
    if weaker:
        yield Change(ChangeKind.EXPECTATION_WEAKENED, Effect.REGRESSION, variant, head.name, before, after)
    elif stronger:
        yield Change(ChangeKind.EXPECTATION_STRENGTHENED, Effect.BETTER, variant, head.name, before, after)


def _fulfilment(variant: str | None, base: Result, head: Result, options: Options) -> Iterator[Change]:
    """Where a check would fail now and would not have failed before, though the verdict alone does not say so."""
    before, after = _words(_stated(base)), _words(_stated(head))
    was = base.code(options)
    if head.code(options) is ExitCode.REFUTED and was is not ExitCode.REFUTED:
        found = f"{after}; found {told(head.verdict)}"
        yield Change(ChangeKind.EXPECTATION_MISSED, Effect.REGRESSION, variant, head.name, before, found)
    elif head.code(options) is ExitCode.INCONCLUSIVE and was is ExitCode.MET and not isinstance(head.verdict, _OPEN):
        yield Change(ChangeKind.EXPECTATION_OPEN, Effect.OPEN, variant, head.name, before, f"{after}; not decided")


def _stated(result: Result) -> list[Expectation]:
    return [item.expectation for item in result.judged]


def _words(stated: Sequence[Expectation]) -> str:
    return "; ".join(_word(each) for each in stated) or "no expectation"


def _word(stated: Expectation) -> str:
    if stated.needs is None:
        return stated.verb.value
    return f"{stated.verb.value} needs {_sets([*map(_names, stated.needs)])}"


Names = frozenset[str]
"""A set of fault classes by their names: the classes themselves know where they stand in their file."""


def _names(faults: Iterable[FaultClass]) -> Names:
    return frozenset(map(str, faults))


def _sets(sets: Sequence[Names]) -> str:
    return " | ".join("{" + ", ".join(sorted(each)) + "}" for each in sets) or "nothing"


def _compare_verbs(old: Sequence[Expectation], new: Sequence[Expectation]) -> tuple[bool, bool]:
    """Whether the demand is weaker, and whether it is stronger.  Without an expectation a property must not be refuted,
    but nothing has to be proved, reached, run or forbidden; so `refutes` demands least of all."""
    gone = {each.verb for each in old} - {each.verb for each in new}
    come = {each.verb for each in new} - {each.verb for each in old}
    refutes = ExpectationVerb.REFUTES
    weaker = bool(gone - {refutes}) or (refutes in come and not old)
    return weaker, not weaker and bool(come - {refutes} or refutes in gone)


def _compare_needs(old: Sequence[Expectation], new: Sequence[Expectation]) -> tuple[bool, bool]:
    """The same, where the verbs are the same: by the fault sets.  More sets break it, or smaller ones: weaker."""
    before = [[*map(_names, each.needs)] for each in old if each.needs is not None]
    after = [[*map(_names, each.needs)] for each in new if each.needs is not None]
    if not before or not after:
        return bool(before), bool(after)
    weaker = any(not any(small <= each for small in before[0]) for each in after[0])
    stronger = any(not any(small <= each for small in after[0]) for each in before[0])
    return weaker, stronger


def compare_tolerance(variant: str | None, name: str, base: Needs, head: Needs) -> Iterator[Change]:
    """What was proved to be tolerated and breaks it now; what broke it and is proved to be tolerated now.  Fault
    classes that only one side has were not asked about on the other, and nothing is said of them."""
    old_safe = [_names(each.faults) for each in base.tolerated]
    new_safe = [_names(each.faults) for each in head.tolerated]
    old_broken = [_names(each.faults) for each in base.breaking]
    new_broken = [_names(each.faults) for each in head.breaking]
    lost = [each for each in new_broken if any(each <= safe for safe in old_safe)]
    gained = [each for each in old_broken if any(each <= safe for safe in new_safe)]
    before, after = f"broken by {_sets(old_broken)}", f"broken by {_sets(new_broken)}"
    if lost:
        yield Change(ChangeKind.TOLERANCE_SHRANK, Effect.REGRESSION, variant, name, before, after)
    if gained:
        yield Change(ChangeKind.TOLERANCE_GREW, Effect.BETTER, variant, name, before, after)
    still = [each & _names(head.classes) for each in old_safe]
    unknown = [
        each
        for each in still
        if not any(each <= s for s in new_safe) and not any(broken <= each for broken in new_broken)
    ]
    if unknown:
        now = f"{after}; not decided for {_sets(unknown)}"
        yield Change(ChangeKind.TOLERANCE_OPEN, Effect.OPEN, variant, name, f"safe under {_sets(old_safe)}", now)
