"""Why a proof holds: the parts of the model without which it does not.

Each part (`checker.reliance.parts`) is dropped by itself, and the changed model is checked as any other.  A part is
needed for a property when that is refuted without it, by a trace that the interpreter has walked.  So what is listed is
minimal in this sense: none of it can be dropped alone.  Parts that can stand in for each other are each not needed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from checker.choosing import Chosen
from checker.lowering.properties import BUILT_IN
from checker.options import Options
from checker.planning.plan import Observer
from checker.reliance.parts import Part, parts_of
from checker.reliance.reliance import Needed, Open, Why
from checker.result import PropertyResult, VariantReport
from checker.time_limit import TimeLimit
from checker.variant import check_choice
from checker.verdict import Proved, Refuted
from spec import syntax
from spec.typecheck import Choice, typecheck

_PATIENCE = 8.0
"""Seconds for one part at most."""


def with_reasons(
    module: syntax.Module, choice: Chosen, options: Options, report: VariantReport, observer: Observer
) -> VariantReport:
    """The report with what its proofs rely on.  Takes as long again as the options' time limit at most."""
    proved = [result.name for result in report.properties if is_explained(result)]
    if not proved or choice.checked is None or report.interrupted or report.failures:
        return report
    collected = {name: _Collected([], [], 0) for name in proved}
    limit = options.time_limit()
    interrupted = False
    for part in parts_of(module, choice.checked.model):
        try:
            verdicts = _without(part, choice, options, tuple(proved), limit, observer)
        except KeyboardInterrupt:
            interrupted = True
            verdicts = "interrupted"
        for name in proved:
            collected[name].add(part, verdicts if isinstance(verdicts, str) else verdicts.get(name, "no answer"))
        if interrupted:
            break
    whys = {name: Why(tuple(found.needed), tuple(found.open), found.tried) for name, found in collected.items()}
    results = tuple(
        replace(result, why=whys[result.name]) if result.name in whys else result for result in report.properties
    )
    return replace(report, properties=results, interrupted=report.interrupted or interrupted)


def is_explained(result: PropertyResult) -> bool:
    """Whether it is a proof of which it can be asked what it relies on."""
    return isinstance(result.verdict, Proved) and result.name not in BUILT_IN and not result.name.startswith("assert_")


@dataclass
class _Collected:
    needed: list[Needed]
    open: list[Open]
    tried: int

    def add(self, part: Part, answer: Needed | str | None) -> None:
        self.tried += 1
        if isinstance(answer, Needed):
            self.needed.append(answer)
        elif answer is not None:
            self.open.append(Open(part.kind, part.text, part.span, answer))


def _without(
    part: Part, choice: Chosen, options: Options, proved: tuple[str, ...], limit: TimeLimit, observer: Observer
) -> Mapping[str, Needed | str | None] | str:
    """For each property: needed, not (None), or why that is not known; a text when it is not known for any."""
    if limit.has_passed():
        return limit.reason
    checked = typecheck(
        part.module, Choice(choice.variant, options.constants, {**options.switches, **dict(part.switches)})
    )
    if isinstance(checked, tuple):
        return f"the model has an error without it: {checked[0].message}"
    asked = replace(
        options,
        properties=proved,
        total=limit.or_sooner(TimeLimit(time.monotonic() + _PATIENCE, f"{_PATIENCE:g} s for a part")),
        timeout_property=None,
        needs=False,
        why=False,
        fairness=False,
        repairs=False,
        engine="auto",
        depth=None,
    )
    changed = Chosen(choice.variant, choice.doc, checked)
    report = check_choice(part.module, changed, asked, observer, set())
    if report.interrupted:
        raise KeyboardInterrupt
    found: dict[str, Needed | str | None] = {}
    for result in report.properties:
        match result.verdict:
            case Refuted(trace=trace, shortest=shortest):
                found[result.name] = Needed(part.kind, part.text, part.span, len(trace), shortest is not None)
            case Proved():
                found[result.name] = None
            case _:
                found[result.name] = "not decided in its time"
    return found
