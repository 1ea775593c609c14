"""The check of one variant, from the typed model to its report.

No engine is believed: every path is replayed by the reference interpreter, every closed set is checked again
(`checker.confirm`).  What fails that is our own error and never a verdict.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from checker import stuck_search
from checker.bundle import Failure, OwnError
from checker.choosing import Chosen, looks_for_stuck_threads, scenarios_of
from checker.confirm import Confirmation, Context
from checker.coverage import Activity, activity
from checker.engines.engine import Bounded, Lasso, Reached, Unreachable
from checker.engines.engine import Undecided as NotDecided
from checker.faultsets import parse_faults
from checker.liveness.fairness_search import FairnessSearch
from checker.lower import Lowered, LoweringLimit, lower
from checker.lowering.properties import MODEL_ERRORS, STUCK_THREADS, assertions
from checker.needs.instances import split
from checker.needs.needs import Needs, judge_needs
from checker.needs.search import NeedsSearch
from checker.options import Options
from checker.planning.decisions import Decisions
from checker.planning.plan import HELPERS, Observer, Silence, decide
from checker.remark import Remark, RemarkKind
from checker.result import Judged, PropertyResult, ScenarioResult, VariantReport
from checker.story import tell
from checker.time_limit import FOR_EVIDENCE, TimeLimit
from checker.transition_system import Form, Property
from checker.vacuity import Change, changes_of, is_never_reached
from checker.verdict import Judgement, PropertyVerdict, Proved, Scope, Uncovered, Undecided, Verdict, judge
from spec import syntax
from spec.alarm import TimeIsUp, within
from spec.interpreter import Interpreter
from spec.source import Span
from spec.typecheck import Checked
from spec.typed import Model, PropertyForm, Scenario
from spec.value import NumberLimit

if TYPE_CHECKING:
    from checker.crashpoints.crash_map import CrashMap

INTERRUPTED = "interrupted"
_QUICKLY = 1.0
"""Seconds for repairs that nobody asked for."""
_GRACE = 1.0
"""Seconds for all scenarios when the variant's time is used up."""


def check_choice(
    module: syntax.Module, choice: Chosen, options: Options, observer: Observer, named: Set[str]
) -> VariantReport:
    """Checks one variant.  `named`: the names that expectations of any variant speak of; a scenario among them is run
    only where an expectation of this variant names it."""
    if choice.checked is None:
        return VariantReport(choice.variant, choice.doc, None, Scope((), options.max_faults), errors=choice.errors)
    return _check(module, choice, choice.checked, options, observer).run(scenarios_of(choice.checked, options, named))


def without_verdicts(
    module: syntax.Module,
    choice: Chosen,
    options: Options,
    named: Set[str],
    reason: str,
    *,
    interrupted: bool = False,
    failures: Sequence[Failure] = (),
) -> VariantReport:
    """The report on a variant whose check was cut short from outside before it had a report: all is undecided, and
    `reason` says why; with failures it is an error of our own.  The rest as for `check_choice`."""
    if choice.checked is None:
        return VariantReport(choice.variant, choice.doc, None, Scope((), options.max_faults), errors=choice.errors)
    check = _check(module, choice, choice.checked, options, Silence())
    return check.cut(scenarios_of(choice.checked, options, named), reason, interrupted, failures)


def _check(module: syntax.Module, choice: Chosen, checked: Checked, options: Options, observer: Observer) -> _Check:
    model = model_of(checked, options)
    context = Context(sources(module), _choice(choice, options))
    return _Check(model, checked, choice, options, observer, context)


def model_of(checked: Checked, options: Options) -> Model:
    """The model that is checked, with the fault classes that the options choose.  Raises UnknownNameError."""
    if options.faults is None:
        return checked.model
    return replace(checked.model, faults=parse_faults(options.faults, checked.model))


def is_wanted(name: str, checked: Checked, options: Options) -> bool:
    """Whether the check of a variant gives a verdict on the property, cover, error or assert of this name."""
    wanted = options.properties
    if name == STUCK_THREADS:
        return looks_for_stuck_threads(checked, options)
    return not wanted or name in wanted or name == MODEL_ERRORS or name.startswith("assert_")


def judged(
    checked: Checked, options: Options, name: str, verdict: Verdict, needs: Needs | None = None
) -> tuple[Judged, ...]:
    """How the verdict on a property or scenario compares with what the model expects of it."""
    stated = [e for e in checked.expectations if e.name == name]
    if options.changes_model:
        return tuple(Judged(expectation, Judgement.NOT_JUDGED) for expectation in stated)
    found = []
    for expectation in stated:
        judgement = judge(expectation, verdict)
        if judgement is Judgement.MET and expectation.needs is not None:
            judgement = judge_needs(expectation.needs, needs)
        found.append(Judged(expectation, judgement))
    return tuple(found)


def asks_needs(form: PropertyForm, stated: Sequence[Judged], options: Options) -> bool:
    """Whether it is asked or expected which faults it takes to break a property."""
    if form is PropertyForm.COVER:
        return False
    expected = any(each.expectation.needs is not None for each in stated)
    return options.needs or (expected and not options.changes_model)


class _Check:
    """One variant's check, from the typed model to the report."""

    def __init__(
        self,
        model: Model,
        checked: Checked,
        choice: Chosen,
        options: Options,
        observer: Observer,
        context: Context,
    ) -> None:
        self.model = model
        self.checked = checked
        self.choice = choice
        self.options = options
        self.observer = observer
        self.context = context
        self.failures: list[Failure] = []
        self.remarks: list[Remark] = []
        self.properties: list[PropertyResult] = []
        self.scenarios: list[ScenarioResult] = []
        self.activity: Activity | None = None
        self.interpreter = Interpreter(model)
        self.interrupted = False
        self.crash_map: CrashMap | None = None
        self.grace_ends: float | None = None
        self.evidence_until: dict[bool, float] = {}
        self.cut_short: str | None = None
        self.begun = True
        self.started = time.monotonic()
        self.limit = options.time_limit()

    def run(self, scenarios: Sequence[Scenario]) -> VariantReport:
        try:
            if self.options.total is not None and self.options.total.has_passed():
                self.begun = False
                self.cut_short = f"not begun: {self.options.total.reason}"
            else:
                self._check(scenarios)
        except KeyboardInterrupt:
            self.interrupted = True
        except OwnError as error:
            self._failed(error.failure)
        except (LoweringLimit, NumberLimit) as limit:
            self.cut_short = f"{limit} ({self.limit.name})" if self.limit.has_passed() else str(limit)
        except MemoryError:
            self.cut_short = "memory ran out"
        except Exception as error:
            message = f"the check stopped with {type(error).__name__}: {error}"
            self._failed(self.context.failure(message, None, None, traceback.format_exc()))
        self._complete(scenarios)
        return self._report()

    def cut(
        self, scenarios: Sequence[Scenario], reason: str, interrupted: bool, failures: Sequence[Failure]
    ) -> VariantReport:
        """The report when nothing was found out."""
        self.cut_short, self.interrupted = None if interrupted else reason, interrupted
        for failure in failures:
            self._failed(failure)
        self._complete(scenarios)
        return self._report()

    def _report(self) -> VariantReport:
        return VariantReport(
            self.choice.variant,
            self.choice.doc,
            self.model,
            Scope(tuple(map(str, self.model.faults)), self.options.max_faults),
            tuple(self.properties),
            tuple(self.scenarios),
            tuple(self.remarks),
            warnings=self.checked.warnings,
            activity=self.activity,
            failures=tuple(self.failures),
            seconds=time.monotonic() - self.started,
            interrupted=self.interrupted,
            crash_map=self.crash_map,
            cut_short=self.cut_short,
            begun=self.begun,
        )

    def _check(self, scenarios: Sequence[Scenario]) -> None:
        lowered = lower(self.model, max_faults=self.options.max_faults, deadline=self.limit.until)
        self._check_properties(lowered)
        self._find_needs()
        self._find_fairness(lowered)
        self._tell(scenarios, lowered)
        self._map_crash_points()

    def _check_properties(self, lowered: Lowered) -> None:
        targets = [target for target in lowered.system.properties if is_wanted(target.name, self.checked, self.options)]
        covers = [cover for target in targets for cover in lowered.antecedents.get(target.name, ())]
        changes = changes_of(lowered, targets)
        covers += [change.cover for change in changes.values() if change.cover is not None]
        if lowered.rest is not None and any(target.form is Form.AT_REST for target in targets):
            covers.append(lowered.rest)
        system = lowered.system if self.options.symmetry else replace(lowered.system, swaps=())
        decisions = decide(
            system, targets, covers, self.options, self.observer, self.limit, each=self.options.timeout_property
        )
        self.interrupted = decisions.interrupted
        for failure in decisions.failures:
            self._failed(failure)
        confirmation = Confirmation(lowered, self.interpreter, self.context)
        for target in targets:
            found = self._confirmed(target, decisions, confirmation, targets)
            if stuck_search.is_called_for(target, decisions.of(target), found) and not self.failures:
                found = self._look_again(lowered)
            self._add(target, found)
        if not self.failures:
            self._remark(lowered, decisions, targets, changes)
            if decisions.coverage is not None:
                self.activity = activity(self.model, lowered.system, decisions.coverage)

    def _confirmed(
        self, target: Property, decisions: Decisions, confirmation: Confirmation, targets: Sequence[Property]
    ) -> PropertyVerdict:
        decision = decisions.of(target)
        together: list[Property] = []
        if isinstance(decision.outcome, Unreachable):
            closed_set = decision.outcome.closed_set
            for other in targets:
                outcome = decisions.of(other).outcome
                if isinstance(outcome, Unreachable) and outcome.closed_set is closed_set:
                    together.append(other)
        if isinstance(decision.outcome, Bounded | NotDecided):
            return confirmation.verdict(target, decision, together)
        left = self._left_for_evidence(isinstance(decision.outcome, Reached | Lasso))
        try:
            return within(left, lambda: confirmation.verdict(target, decision, together, left))
        except TimeIsUp:
            return Undecided(f"{self.limit.reason}, before the evidence was checked")
        except KeyboardInterrupt:
            self.interrupted = True
            return Undecided("interrupted before the evidence was checked")
        except OwnError as error:
            self._failed(error.failure)
            return Undecided(f"our own error: {error.failure.message}")

    def _left_for_evidence(self, of_a_run: bool) -> float:
        """Seconds for the next check of evidence.  Runs, which are quick to walk, have a grace of their own when the
        time is used up: large proofs must not use up theirs."""
        if of_a_run not in self.evidence_until:
            self.evidence_until[of_a_run] = max(self.limit.until, time.monotonic()) + FOR_EVIDENCE
        return self.evidence_until[of_a_run] - time.monotonic()

    def _look_again(self, lowered: Lowered) -> PropertyVerdict:
        """The verdict on `stuck_threads` where threads are blocked in turns."""
        if self.interrupted:
            return Undecided(INTERRUPTED)
        found = stuck_search.look_again(
            lowered, self.interpreter, self.options, self.observer, self.context, self.limit
        )
        self.interrupted = found.interrupted
        for failure in found.failures:
            self._failed(failure)
        return found.verdict

    def _remark(
        self, lowered: Lowered, decisions: Decisions, targets: Sequence[Property], changes: Mapping[str, Change]
    ) -> None:
        for result in self.properties:
            unstated = all(judged.judgement is Judgement.NOT_JUDGED for judged in result.judged)
            if isinstance(result.verdict, Uncovered) and unstated:
                message = f"the cover {result.name} is never reached"
                self.remarks.append(Remark(RemarkKind.UNREACHABLE, result.name, message, result.span))
        proofs = {result.name for result in self.properties if isinstance(result.verdict, Proved)}
        spans = {result.name: result.span for result in self.properties}
        for target in targets:
            if target.name not in proofs:
                continue
            found = self._vacuous(lowered, decisions, target, changes.get(target.name))
            if found is not None:
                kind, why = found
                message = f"{target.name} is vacuous: {why}"
                self.remarks.append(Remark(kind, target.name, message, spans[target.name]))

    def _vacuous(
        self, lowered: Lowered, decisions: Decisions, target: Property, change: Change | None
    ) -> tuple[RemarkKind, str] | None:
        """Why the proof of a property says nothing; None as far as is known that it does."""
        for cover in lowered.antecedents.get(target.name, ()):
            if is_never_reached(lowered.system, cover, decisions.outcome(cover)):
                which = "its left side" if target.form is Form.LIVE else "the left side of an implication in it"
                return RemarkKind.VACUOUS, f"{which} is never true"
        rest = lowered.rest if target.form is Form.AT_REST else None
        if rest is not None and is_never_reached(lowered.system, rest, decisions.outcome(rest)):
            return RemarkKind.VACUOUS, "no reachable state is at rest"
        if change is None:
            return None
        never = change.cover is None or is_never_reached(lowered.system, change.cover, decisions.outcome(change.cover))
        return (RemarkKind.UNCHANGING, "nothing that it speaks of ever changes") if never else None

    def _find_needs(self) -> None:
        """Finds which faults it takes to break the properties for which that is asked or expected."""
        asked = [result for result in self.properties if asks_needs(result.form, result.judged, self.options)]
        if not asked or self.interrupted or self.failures:
            return
        model = split(self.model) if self.options.per_instance else self.model
        search = NeedsSearch(model, self.options, self.observer, self.context)
        found = search.run({result.name: result.verdict for result in asked})
        self.interrupted = search.interrupted
        for failure in search.failures:
            self._failed(failure)
        for place, result in enumerate(self.properties):
            needs = found.get(result.name)
            if needs is not None:
                judged = self._judge(result.name, result.verdict, needs)
                self.properties[place] = replace(result, needs=needs, judged=judged)

    def _find_fairness(self, lowered: Lowered) -> None:
        """Finds which fairness `live` properties take; unasked, only one repair of a refutation, if that is quick."""
        asked = [result for result in self.properties if result.form is PropertyForm.LIVE]
        wanted = self.options.fairness or self.options.repairs
        if not asked or not wanted or self.interrupted or self.failures:
            return
        limit = self.options.time_limit()
        if not self.options.fairness:
            limit = limit.or_sooner(TimeLimit(time.monotonic() + _QUICKLY))
        helpers = HELPERS if self.options.fairness else ()
        search = FairnessSearch(lowered, self.options, self.observer, self.context, limit, helpers)
        for place, result in enumerate(self.properties):
            if result in asked:
                target = next(each for each in lowered.system.properties if each.name == result.name)
                found = search.run(target, result.verdict, not self.options.fairness)
                self.properties[place] = replace(result, fairness=found)
        self.interrupted = search.interrupted
        for failure in search.failures:
            self._failed(failure)

    def _map_crash_points(self) -> None:
        """Finds out which step is dangerous, if that is asked."""
        if not self.options.crash_points or self.interrupted or self.failures:
            return
        from checker.crashpoints.crash_map import crash_map

        self.crash_map = crash_map(self.model, self.options, self.observer, self.context)
        self.interrupted = self.crash_map.interrupted
        for failure in self.crash_map.failures:
            self._failed(failure)

    def _tell(self, scenarios: Sequence[Scenario], lowered: Lowered) -> None:
        for scenario in scenarios:
            if self.interrupted:
                return
            try:
                verdict = tell(scenario, lowered, self.interpreter, self.options, self.observer, self._of_a_scenario())
            except OwnError as error:
                self._failed(error.failure)
                verdict = Undecided(f"our own error: {error.failure.message}")
            self.scenarios.append(
                ScenarioResult(scenario.name, scenario.span, scenario.doc, verdict, self._judge(scenario.name, verdict))
            )

    def _of_a_scenario(self) -> TimeLimit:
        """The limit of one that begins now: they have a moment together even when the variant's own time is used up."""
        limit = TimeLimit(self.started + self.options.timeout, f"timeout {self.options.timeout:g} s")
        if self.grace_ends is None:
            self.grace_ends = time.monotonic() + _GRACE
        limit = replace(limit, until=max(limit.until, self.grace_ends))
        if self.options.timeout_property is not None:
            limit = limit.or_sooner(TimeLimit.after(self.options.timeout_property, "timeout-property"))
        return limit.or_sooner(self.options.total)

    def _complete(self, scenarios: Sequence[Scenario]) -> None:
        """Gives a verdict to everything that has none because the check was cut short."""
        reason = INTERRUPTED if self.interrupted else self.cut_short or "our own error"
        known = {result.name for result in self.properties}
        for declared in self.model.properties:
            if declared.name not in known and is_wanted(declared.name, self.checked, self.options):
                self._leave_open(declared.name, declared.form, reason, declared.span, declared.doc)
        for name in (MODEL_ERRORS, *assertions(self.model)):
            if name not in known:
                self._leave_open(name, PropertyForm.INVARIANT, reason)
        if STUCK_THREADS not in known and looks_for_stuck_threads(self.checked, self.options):
            self._leave_open(STUCK_THREADS, PropertyForm.RECOVERABLE, reason)
        told = {result.name for result in self.scenarios}
        for scenario in scenarios:
            if scenario.name not in told:
                verdict = Undecided(reason)
                judged = self._judge(scenario.name, verdict)
                self.scenarios.append(ScenarioResult(scenario.name, scenario.span, scenario.doc, verdict, judged))

    def _leave_open(self, name: str, form: PropertyForm, reason: str, span: Span | None = None, doc: str = "") -> None:
        verdict = Undecided(reason)
        self.properties.append(PropertyResult(name, form, span, doc, verdict, self._judge(name, verdict)))

    def _add(self, target: Property, verdict: PropertyVerdict) -> None:
        declared = next((each for each in self.model.properties if each.name == target.name), None)
        self.properties.append(
            PropertyResult(
                target.name,
                PropertyForm(target.form.value),
                declared.span if declared else None,
                declared.doc if declared else "",
                verdict,
                self._judge(target.name, verdict),
            )
        )

    def _judge(self, name: str, verdict: Verdict, needs: Needs | None = None) -> tuple[Judged, ...]:
        return judged(self.checked, self.options, name, verdict, needs)

    def _failed(self, failure: Failure) -> None:
        if not failure.sources:
            failure = replace(failure, sources=self.context.sources, choice=self.context.choice)
        if failure not in self.failures:
            self.failures.append(failure)


def sources(module: syntax.Module) -> tuple[tuple[str, str], ...]:
    """The files of a model: name and text."""
    found = {module.source.name: module.source.text}
    for item in module.items:
        found.setdefault(item.span.source.name, item.span.source.text)
    return tuple(found.items())


def _choice(choice: Chosen, options: Options) -> Mapping[str, object]:
    return {
        "variant": choice.variant,
        "constants": dict(options.constants),
        "switches": dict(options.switches),
        "properties": list(options.properties),
        "faults": options.faults,
        "max_faults": options.max_faults,
        "depth": options.depth,
        "engine": options.engine,
        "symmetry": options.symmetry,
    }
