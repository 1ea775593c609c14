"""Which reports are worth keeping: those in which all that was asked is decided, so that time changes no verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checker.liveness.fairness_needs import FairnessNeeds, Relied
from checker.options import Options
from checker.reliance.reliance import Why
from checker.result import PropertyResult, VariantReport
from checker.verdict import Covered, HoldsTo, Refuted, UncoveredTo, Undecided, Verdict

_SETTLED = (
    "the depth limit was reached",
    r"the depth limit of \d+ steps",
    r"no run is longer than -?\d+ steps: this is the whole state space's depth",
    r"a violation of \d+ steps was found, beyond the depth limit",
    "the limit on the number of states was reached",
    "the limit on the number of steps was reached",
    "an unbounded integer left the explored window",
)
"""Why an engine stops at a bound whatever time it has."""
_BOUND = re.compile(rf"(?:\w+: )?(?:{'|'.join(_SETTLED)})(?: at depth \d+)?")
_CANNOT_BE_DROPPED = "the model has an error without it"
_MORE_SETS = "there are more than"


def is_finished(report: VariantReport, options: Options) -> bool:
    """Whether the report may be kept: nothing in it is undecided, interrupted, cut short by time or memory, or an error
    of our own."""
    if report.model is None or report.errors or report.failures or report.interrupted:
        return False
    if report.cut_short is not None or not report.begun:
        return False
    if report.crash_map is not None and (report.crash_map.failures or not report.crash_map.complete):
        return False
    return all(map(_is_settled, verdicts(report))) and all(_is_complete(each, options) for each in report.properties)


def may_improve(report: VariantReport) -> bool:
    """Whether a run in it may be replaced by a better one in a check that has more time: a shorter one, or one with
    fewer faults."""
    return any(
        each.shortest is None or "not for fewest faults" in each.shortest or "was not looked for" in each.shortest
        for each in verdicts(report)
        if isinstance(each, Refuted | Covered)
    )


def verdicts(report: VariantReport) -> Iterator[Verdict]:
    """All verdicts in a report, those on fault sets, fairness and crash points included."""
    for result in report.results:
        yield result.verdict
        if isinstance(result, PropertyResult):
            yield from _further(result)
    if report.crash_map is not None:
        yield from report.crash_map.base.values()
        for cell in report.crash_map.cells:
            yield from (*cell.verdicts.values(), *cell.alone.values())


def _further(result: PropertyResult) -> Iterator[Verdict]:
    if result.needs is not None:
        yield from (each.verdict for each in result.needs.breaking)
        yield from (each.verdict for each in result.needs.tolerated)
    if isinstance(result.fairness, Relied):
        for enough in result.fairness.sets:
            yield enough.verdict
            yield from (each.without for each in enough.needed)
    elif result.fairness is not None:
        yield from (each.verdict for each in result.fairness.found)


def _is_settled(verdict: Verdict) -> bool:
    match verdict:
        case Undecided():
            return False
        case HoldsTo(reason=reason) | UncoveredTo(reason=reason):
            return all(_BOUND.fullmatch(part) for part in reason.split("; "))
        case _:
            return True


def _is_complete(result: PropertyResult, options: Options) -> bool:
    return (
        (result.needs is None or result.needs.complete)
        and (result.why is None or _knows_all_parts(result.why))
        and (result.fairness is None or _knows_all_sets(result.fairness, options))
    )


def _knows_all_parts(why: Why) -> bool:
    return all(part.reason.startswith(_CANNOT_BE_DROPPED) and "line " not in part.reason for part in why.open)


def _knows_all_sets(found: FairnessNeeds, options: Options) -> bool:
    if isinstance(found, Relied):
        return found.complete or found.reason.startswith(_MORE_SETS)
    # A repair that nobody asked for is looked for during a second, whatever the time limit is.
    return not found.open or not options.fairness


__all__ = ["is_finished", "may_improve", "verdicts"]
