"""A report from the JSON data that `checker.cache.encoding` makes, with all that follows from the model as it is now.

Nothing is taken on trust: a wrong shape, name, type or verdict is an error, and so is a report that does not speak of
all that it should.  What it says is looked at in `checker.cache.evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import TypeVar

from checker.cache.names import properties_of
from checker.cache.subject import Basis, Subject
from checker.certificates.certificate import Certificate
from checker.certificates.invariance import InvariantCertificate
from checker.certificates.proof_terms import read_cubes
from checker.certificates.ways_file import read_ways
from checker.coverage import Activity, retold
from checker.crashpoints.crash_map import CellResult, CrashMap, absence, outline_of
from checker.liveness.assumptions import Assumption, AssumptionKind, assumed
from checker.liveness.counting import counting_system
from checker.liveness.fairness_needs import Enough, FairnessNeeds, Relied, Repair, Repairs
from checker.liveness.fairness_needs import Needed as NeededFairness
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from checker.liveness.live_proof import in_words
from checker.lower import lower
from checker.lowering.properties import STUCK_THREADS
from checker.needs.needs import Breaking, FaultSet, Needs, Tolerated
from checker.reliance.parts import Part, parts_of
from checker.reliance.reliance import Needed, Open, Why
from checker.reliance.why import is_explained
from checker.remark import Remark, RemarkKind
from checker.reports.wording import sentences
from checker.result import PropertyResult, ScenarioResult, VariantReport
from checker.variant import asks_needs, judged
from checker.verdict import (
    Covered,
    HoldsTo,
    NotARun,
    PropertyVerdict,
    Proved,
    Refuted,
    Runs,
    ScenarioVerdict,
    Scope,
    Uncovered,
    UncoveredTo,
)
from counterexamples.render.decoding import Node, decode_event, decode_state
from counterexamples.trace import Trace
from spec.typed import Fairness, PropertyForm, Scenario

T = TypeVar("T")
ENGINES = frozenset({"search", "bmc", "ic3", "parallel"})


class Of(Enum):
    """Of which model a run is: the one that is checked, the same with fewer fault classes or with those of single
    instances, or the same with other fairness."""

    MODEL = "model"
    FEWER_FAULTS = "fewer faults"
    OTHER_FAIRNESS = "other fairness"


def decode_report(node: Node, subject: Subject, decided: str) -> VariantReport:
    """The report.  decided: when its verdicts were found.  Raises an exception of some kind, TraceFormatError,
    BadCertificate, ValueError or another, for data that is no report on the subject."""
    return _Decoder(subject).report(node, decided)


class _Decoder:
    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.model = subject.model
        self.declared = {each.name: each for each in subject.model.properties}

    def report(self, node: Node, decided: str) -> VariantReport:
        subject = self.subject
        properties = tuple(map(self.property, node.field("properties").items()))
        wanted = properties_of(subject.checked, subject.options)
        if [each.name for each in properties] != wanted:
            raise node.error("does not speak of just the properties that are asked for")
        told = node.field("scenarios").items(len(subject.scenarios))
        return VariantReport(
            subject.choice.variant,
            subject.choice.doc,
            self.model,
            Scope(tuple(map(str, self.model.faults)), subject.options.max_faults),
            properties,
            tuple(self.scenario(each, scenario) for each, scenario in zip(told, subject.scenarios, strict=True)),
            tuple(map(self.remark, node.field("remarks").items())),
            warnings=subject.checked.warnings,
            activity=node.field("activity").maybe(self.activity),
            crash_map=self.maybe(node.field("crash_map"), subject.options.crash_points, self.crash_map),
            decided=decided,
        )

    def property(self, node: Node) -> PropertyResult:
        options = self.subject.options
        name = self.subject.names.shown(node.field("name").text())
        form = node.field("form").one_of(PropertyForm)
        declared = self.declared.get(name)
        built_in = PropertyForm.RECOVERABLE if name == STUCK_THREADS else PropertyForm.INVARIANT
        if form is not (built_in if declared is None else declared.form):
            raise node.error(f"is about {name} as another form of property")
        verdict = self.verdict(node.field("verdict"), name, form, self.subject.basis)
        stated = judged(self.subject.checked, options, name, verdict)
        asked = asks_needs(form, stated, options)
        needs = self.maybe(node.field("needs"), asked, partial(self.needs, name, form))
        result = PropertyResult(
            name,
            form,
            None if declared is None else declared.span,
            "" if declared is None else declared.doc,
            verdict,
            judged(self.subject.checked, options, name, verdict, needs),
            needs,
            fairness=node.field("fairness").maybe(partial(self.fairness, name)),
        )
        if not self.answers_fairness(result):
            raise node.error("does not say of fairness what is asked")
        why = self.maybe(node.field("why"), options.why and is_explained(result), self.why)
        return replace(result, why=why)

    def answers_fairness(self, result: PropertyResult) -> bool:
        options, found = self.subject.options, result.fairness
        live = result.form is PropertyForm.LIVE
        if live and isinstance(result.verdict, Proved) and options.fairness:
            return isinstance(found, Relied)
        if live and isinstance(result.verdict, Refuted) and options.fairness:
            return isinstance(found, Repairs)
        if live and isinstance(result.verdict, Refuted) and options.repairs:
            return found is None or isinstance(found, Repairs)
        return found is None

    def scenario(self, node: Node, scenario: Scenario) -> ScenarioResult:
        if node.field("name").text() != scenario.name:
            raise node.error(f"is not about {scenario.name}")
        verdict = self.story(node.field("verdict"), scenario)
        stated = judged(self.subject.checked, self.subject.options, scenario.name, verdict)
        return ScenarioResult(scenario.name, scenario.span, scenario.doc, verdict, stated)

    def remark(self, node: Node) -> Remark:
        kind = _named(node.field("kind"), RemarkKind)
        name = self.subject.names.shown(node.field("subject").text())
        declared = self.declared.get(name)
        message = f"{node.field('before').text()}{name}{node.field('after').text()}"
        return Remark(kind, name, message, None if declared is None else declared.span)

    def activity(self, node: Node) -> Activity:
        return retold(self.model, [each.truth() for each in node.items()])

    def maybe(self, node: Node, wanted: bool, read: Callable[[Node], T]) -> T | None:
        """What is there just when it is wanted."""
        if wanted is (node.data is None):
            raise node.error("is there, or is not, against what is asked")
        return node.maybe(read)

    # -------------------------------------------------------------------------------------------------------- verdicts

    def verdict(self, node: Node, name: str, form: PropertyForm, basis: Basis) -> PropertyVerdict:
        cover = form is PropertyForm.COVER
        word = node.field("verdict").text()
        match word:
            case "proved" if not cover:
                return self.proved(node, name, form, basis)
            case "uncovered" if cover:
                certificate = self.certificate(node.field("certificate"), name, form, basis)
                if not isinstance(certificate, Certificate | InvariantCertificate):
                    raise node.error("has a proof of another form of property")
                return Uncovered(certificate)
            case "refuted" if not cover:
                return self.refuted(node, form)
            case "covered" if cover:
                return Covered(self.trace(node.field("trace"), form), *self.found_by(node))
            case "holds to" if not cover:
                return HoldsTo(*self.bound(node))
            case "uncovered to" if cover:
                return UncoveredTo(*self.bound(node))
        raise node.error(f"is no verdict on a {form.value}: {word}")

    def story(self, node: Node, scenario: Scenario) -> ScenarioVerdict:
        match node.field("verdict").text():
            case "runs":
                return Runs(self.trace(node.field("trace"), None))
            case "not a run":
                furthest = node.field("furthest").number()
                return NotARun(furthest, " ".join(scenario.beats[furthest].span.text.split()))
            case word:
                raise node.error(f"is no verdict on a scenario: {word}")

    def refuted(self, node: Node, form: PropertyForm, of: Of = Of.MODEL) -> Refuted:
        if node.field("verdict").text() != "refuted":
            raise node.error("is no refutation")
        return Refuted(self.trace(node.field("trace"), form, of), *self.found_by(node))

    def proved(self, node: Node, name: str, form: PropertyForm, basis: Basis) -> Proved:
        if node.field("verdict").text() != "proved":
            raise node.error("is no proof")
        return Proved(self.certificate(node.field("certificate"), name, form, basis))

    def found_by(self, node: Node) -> tuple[str, str | None]:
        return self.engine(node), node.field("shortest").maybe(Node.text)

    def bound(self, node: Node) -> tuple[int, str, str]:
        return node.field("depth").number(), node.field("reason").text(), self.engine(node)

    def engine(self, node: Node) -> str:
        name = node.field("engine").text()
        if name not in ENGINES:
            raise node.error(f"is by no engine that there is: {name}")
        return name

    def trace(self, node: Node, form: PropertyForm | None, of: Of = Of.MODEL) -> Trace:
        """form: of the property that it is about; None for a scenario."""
        fairness = dict(self.fair_assumption(each) for each in node.field("fairness").items())
        faults = [each.text() for each in node.field("faults").items()]
        if (fairness and of is not Of.OTHER_FAIRNESS) or (
            of is not Of.FEWER_FAULTS and faults != [str(fault) for fault in self.model.faults]
        ):
            raise node.error("is a run of another model")
        model = self.subject.changed(faults, fairness)
        loop = node.field("loop").maybe(Node.number)
        if (loop is None) is (form is PropertyForm.LIVE):
            raise node.error("is a run of the wrong kind for its property")
        states = tuple(decode_state(each, model) for each in node.field("states").items())
        if loop is not None and loop >= len(states):
            raise node.error("leads back to a state that it does not have")
        return Trace(model, states, tuple(map(decode_event, node.field("events").items())), loop)

    def certificate(
        self, node: Node, name: str, form: PropertyForm, basis: Basis
    ) -> Certificate | InvariantCertificate | CycleCertificate | RoundsCertificate:
        live = form is PropertyForm.LIVE
        kind = node.field("kind").text()
        match kind:
            case "closed set" if not live:
                return self.closed(node)
            case "invariant" if not live:
                return self.invariant(node, name, basis)
            case "no fair cycle" if live:
                return CycleCertificate(self.closed(node.field("closed")))
            case "fair rounds" if live:
                return self.rounds(node, name, basis)
        raise node.error(f"is no proof of a {form.value}: {kind}")

    def closed(self, node: Node) -> Certificate:
        return Certificate(
            self.engine(node),
            node.field("states").number(1),
            node.field("symmetric").truth(),
            node.field("depth").number(),
            node.field("walked").number(1),
            node.field("steps").number(),
            apart=node.field("apart").truth(),
        )

    def invariant(self, node: Node, name: str, basis: Basis) -> InvariantCertificate:
        lowered = basis.lowered
        invariant = read_cubes(node.field("never").data, lowered.system.variables)
        return InvariantCertificate(
            self.engine(node),
            invariant,
            node.field("frames").number(),
            node.field("walked").number(),
            node.field("steps").number(),
            tuple(read_ways(lowered.system, basis.target(name), {"ways": node.field("ways").data})),
            partial(sentences, invariant, lowered),
        )

    def rounds(self, node: Node, name: str, basis: Basis) -> RoundsCertificate:
        lowered, target = basis.lowered, basis.target(name)
        cases = node.field("cases").items(len(target.cases))
        bounds = tuple(each.field("rounds").number(1) for each in cases)
        invariants = tuple(
            read_cubes(each.field("never").data, counting_system(lowered.system, case, bound).system.variables)
            for each, case, bound in zip(cases, target.cases, bounds, strict=True)
        )
        return RoundsCertificate(
            self.engine(node),
            bounds,
            invariants,
            node.field("frames").number(),
            node.field("walked").number(),
            node.field("steps").number(),
            node.field("longest").number(),
            partial(in_words, lowered, target, bounds, invariants),
        )

    # --------------------------------------------------------------------------------------- what goes beyond verdicts

    def needs(self, name: str, form: PropertyForm, node: Node) -> Needs:
        return Needs(
            self.subject.needs_classes,
            tuple(self.breaking(form, each) for each in node.field("breaking").items()),
            tuple(self.tolerated(name, form, each) for each in node.field("tolerated").items()),
            (),
            node.field("reason").text(),
        )

    def breaking(self, form: PropertyForm, node: Node) -> Breaking:
        faults = self.fault_set(node)
        verdict = self.refuted(node.field("verdict"), form, Of.FEWER_FAULTS)
        if not faults >= set(verdict.trace.model.faults):
            raise node.error("is broken by other faults")
        return Breaking(faults, verdict, node.field("minimal").truth(), node.field("orbit").number(1))

    def tolerated(self, name: str, form: PropertyForm, node: Node) -> Tolerated:
        faults = self.fault_set(node)
        verdict = self.proved(node.field("verdict"), name, form, self.subject.under_faults(faults))
        return Tolerated(faults, verdict, node.field("orbit").number(1))

    def fault_set(self, node: Node) -> FaultSet:
        known = {str(fault): fault for fault in self.subject.needs_classes}
        return frozenset(known[each.text()] for each in node.field("faults").items())

    def why(self, node: Node) -> Why:
        parts = list(parts_of(self.subject.module, self.subject.checked.model))

        def part(each: Node) -> Part:
            return parts[each.field("part").number()]

        def needed(each: Node) -> Needed:
            found = part(each)
            steps, shortest = each.field("steps").number(), each.field("shortest").truth()
            return Needed(found.kind, found.text, found.span, steps, shortest)

        def unknown(each: Node) -> Open:
            found = part(each)
            return Open(found.kind, found.text, found.span, each.field("reason").text())

        return Why(
            tuple(map(needed, node.field("needed").items())),
            tuple(map(unknown, node.field("open").items())),
            node.field("tried").number(),
        )

    def fairness(self, name: str, node: Node) -> FairnessNeeds:
        match node.field("kind").text():
            case "relied":
                return Relied(
                    tuple(self.enough(name, each) for each in node.field("sets").items()),
                    node.field("complete").truth(),
                    node.field("reason").text(),
                )
            case "repairs":
                return Repairs(
                    tuple(self.repair(name, each) for each in node.field("found").items()),
                    node.field("tried").number(),
                    tuple(self.open_repair(each) for each in node.field("open").items()),
                )
            case kind:
                raise node.error(f"is no answer about fairness: {kind}")

    def enough(self, name: str, node: Node) -> Enough:
        needed = tuple(map(self.needed_fairness, node.field("needed").items()))
        assumptions = {each.assumption: each.fairness for each in needed}
        basis = self.subject.under_assumptions(assumptions)
        return Enough(needed, self.proved(node.field("verdict"), name, PropertyForm.LIVE, basis))

    def needed_fairness(self, node: Node) -> NeededFairness:
        return NeededFairness(
            self.assumption(*node.field("assumption").items(2)),
            node.field("fairness").one_of(Fairness),
            self.refuted(node.field("without"), PropertyForm.LIVE, Of.OTHER_FAIRNESS),
        )

    def repair(self, name: str, node: Node) -> Repair:
        assumption = self.assumption(*node.field("assumption").items(2))
        fair = node.field("fairness").one_of(Fairness)
        basis = self.subject.under_assumptions({**assumed(self.model), assumption: fair})
        return Repair(assumption, fair, self.proved(node.field("verdict"), name, PropertyForm.LIVE, basis))

    def open_repair(self, node: Node) -> tuple[Assumption, Fairness, str]:
        kind, name, fair, reason = node.items(4)
        return self.assumption(kind, name), fair.one_of(Fairness), reason.text()

    def fair_assumption(self, node: Node) -> tuple[Assumption, Fairness]:
        kind, name, fair = node.items(3)
        return self.assumption(kind, name), fair.one_of(Fairness)

    def assumption(self, kind: Node, name: Node) -> Assumption:
        return Assumption(kind.one_of(AssumptionKind), name.text())

    def crash_map(self, node: Node) -> CrashMap:
        outline = outline_of(lower(self.model), self.subject.options)
        names = [target.name for target in outline.properties]
        forms = [PropertyForm(target.form.value) for target in outline.properties]

        def told(each: Node, size: int) -> Mapping[str, Proved | Refuted]:
            found: dict[str, Proved | Refuted] = {}
            for name, form, verdict in zip(names, forms, each.items(size), strict=False):
                known = self.verdict(verdict, name, form, self.subject.basis)
                if not isinstance(known, Refuted) and not (
                    isinstance(known, Proved) and isinstance(known.certificate, Certificate)
                ):
                    raise verdict.error("is no verdict of a map")
                found[name] = known
            return found

        answers = dict(zip(outline.possible, node.field("cells").items(len(outline.possible)), strict=True))
        cells = []
        for cell in outline.cells:
            answer = answers.get(cell)
            if answer is None:
                cells.append(CellResult(cell, absence(cell, self.model), {}, {}, None))
                continue
            apart = len(names) if cell.is_crash else 0
            cells.append(
                CellResult(
                    cell,
                    None,
                    told(answer.field("verdicts"), len(names)),
                    told(answer.field("alone"), apart),
                    answer.field("struck").maybe(Node.truth),
                )
            )
        base = told(node.field("base"), len(names))
        return CrashMap(self.model, tuple(names), outline.skipped, base, outline.points, tuple(cells))


def _named(node: Node, kind: type[RemarkKind]) -> RemarkKind:
    return kind[node.text()]


__all__ = ["ENGINES", "decode_report"]
