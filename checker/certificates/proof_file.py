"""Certificates as files: a proof that somebody else can check, with any SMT solver or with `counterpoint verify`.

A file holds the identity of the model (a hash of its text, the choice that was checked), and for each property the
inductive invariant over named variables, in words, and its three obligations as SMT-LIB 2 texts.  For a `live` property
there is an invariant for each of its cases, of a system that counts fair rounds.  A proof of `at rest`
or `recoverable` has ways out besides: sequences of actions.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from checker.certificates import rounds_file
from checker.certificates.certificate import SMALL, Certificate
from checker.certificates.invariance import InvariantCertificate
from checker.certificates.proof_terms import BadCertificate, find_variable, read_cubes, write_cubes
from checker.certificates.rescue import in_words
from checker.certificates.ways_file import read_ways, ways_out, write_way
from checker.choosing import choose
from checker.engines.engine import ClosedSet
from checker.faultsets import parse_faults
from checker.liveness.live_certificate import CycleCertificate, RoundsCertificate
from checker.logic.formula import Formula, conjunction, disjunction, equals
from checker.logic.smtlib import labels, obligations
from checker.logic.solver import Sat, Unknown, answer_text
from checker.lower import Lowered, lower
from checker.options import Options
from checker.reports.wording import sentences
from checker.result import VariantReport
from checker.transition_system import Form, Property, State, TransitionSystem
from checker.verdict import Proved, Uncovered
from checker.version import VERSION
from spec import syntax

SCHEMA = "counterpoint-certificate/1"
_INVARIANT = "inductive invariant"
_CLOSED_SET = "closed set"
_GET_ONE = "--engine ic3 gives a proof that can be written down"


# --------------------------------------------------------------------------------------------------------- writing


def document(module: syntax.Module, report: VariantReport, options: Options) -> str:
    """The text of the certificate of what was proved.  The model is lowered anew for it."""
    assert report.model is not None
    lowered = lower(report.model, max_faults=options.max_faults, deadline=time.monotonic() + options.timeout)
    proofs: list[dict[str, object]] = []
    without: list[dict[str, object]] = []
    for result in report.properties:
        verdict = result.verdict
        if not isinstance(verdict, Proved | Uncovered):
            continue
        target = _target(lowered.system, result.name)
        certificate = verdict.certificate
        if isinstance(certificate, Certificate) and certificate.apart:
            why = "threads are blocked in turns; each was looked at by itself, which cannot be written down"
            without.append({"property": result.name, "why": why})
            continue
        found: dict[str, object] | None
        if isinstance(certificate, CycleCertificate):
            why = f"{certificate.engine} found no fair cycle among all states, which cannot be written down; {_GET_ONE}"
            without.append({"property": result.name, "why": why})
            continue
        if isinstance(certificate, RoundsCertificate):
            found = rounds_file.written(lowered, target, certificate)
        elif isinstance(certificate, InvariantCertificate):
            found = {"kind": _INVARIANT, "never": write_cubes(certificate.invariant)}
            if target.unless is not None:
                found["ways"] = [write_way(rescue) for rescue in certificate.rescues]
        else:
            found = _closed_set(lowered.system, target, certificate.closed_set)
        if found is None:
            states = f"{certificate.engine} closed a set of too many states; {_GET_ONE}"
            without.append({"property": result.name, "why": states})
            continue
        told, words = _read(lowered, target, found)
        proofs.append(
            {
                "property": result.name,
                "form": target.form.value,
                "engine": certificate.engine,
                **found,
                "words": words,
                "obligations": dict(told),
            }
        )
    content = {
        "schema": SCHEMA,
        "version": VERSION,
        "model": {"name": module.source.name, "sha256": digest(module)},
        "choice": {
            "variant": report.variant,
            "constants": dict(options.constants),
            "switches": dict(options.switches),
            "faults": options.faults,
            "max_faults": options.max_faults,
        },
        "proofs": proofs,
        "without": without,
    }
    return json.dumps(content, indent=1) + "\n"


def digest(module: syntax.Module) -> str:
    """A hash of the text of the model and of all that it imports; not of their names."""
    texts = {module.source.name: module.source.text}
    for item in module.items:
        texts.setdefault(item.span.source.name, item.span.source.text)
    whole = hashlib.sha256()
    for text in texts.values():
        whole.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return whole.hexdigest()


def _closed_set(system: TransitionSystem, target: Property, closed_set: ClosedSet | None) -> dict[str, object] | None:
    """The states, symmetric images included, and the ways out of those that look bad; None where they are too many."""
    if closed_set is None:
        return None
    tables = [{source: (target, table) for source, target, table in swap.moves} for swap in system.swaps]
    place = system.position
    seen: set[State] = set(closed_set.sample(len(closed_set), 0))
    waiting = deque(seen) if closed_set.symmetric else deque()
    while waiting:
        state = waiting.popleft()
        for moves in tables:
            image = list(state)
            for source, (destination, table) in moves.items():
                image[place[destination]] = table[state[place[source]]]
            moved = tuple(image)
            if moved not in seen:
                seen.add(moved)
                waiting.append(moved)
        if len(seen) > SMALL:
            return None
    names = [labels(variable) for variable in system.variables]
    states = [[told[code] for told, code in zip(names, state, strict=True)] for state in sorted(seen)]
    found: dict[str, object] = {
        "kind": _CLOSED_SET,
        "variables": [variable.name for variable in system.variables],
        "states": states,
    }
    if target.unless is not None:
        found["ways"] = [write_way(rescue) for rescue in ways_out(system, target, seen)]
    return found


def _target(system: TransitionSystem, name: str) -> Property:
    return next(target for target in system.properties if target.name == name)


# --------------------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Judged:
    """What became of the proof of one property.

    wrong    the obligation that does not hold, None when all do
    unknown  why the solver gave no answer for one, None when it did
    words    what was checked never to hold, in words
    """

    name: str
    form: Form
    wrong: str | None
    unknown: str | None
    words: tuple[str, ...]
    obligations: Mapping[str, str]

    @property
    def accepted(self) -> bool:
        return self.wrong is None and self.unknown is None


def verify(text: str, module: syntax.Module, seconds: float | None = None) -> tuple[Judged, ...]:
    """Checks each proof of a certificate anew: the model is lowered afresh, the obligations are made from the invariant
    that the file states, and a fresh solver answers them.

    seconds: for each obligation, and for lowering the model.  Raises LoweringLimit, BadCertificate when the file is
    damaged or speaks of another model, and
    UnknownNameError when its choice does not exist in the model."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadCertificate(f"the certificate is no JSON document: {error}") from None
    try:
        return _verify(content, module, seconds)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError, RecursionError) as error:
        raise BadCertificate(f"the certificate is damaged ({type(error).__name__}: {error})") from None


def _verify(content: Any, module: syntax.Module, seconds: float | None) -> tuple[Judged, ...]:
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise BadCertificate(f"the file is no certificate of the form {SCHEMA}")
    if content["model"]["sha256"] != digest(module):
        name = content["model"]["name"]
        raise BadCertificate(f"the certificate is for another model, or another version of it ({name})")
    lowered = _lowered(module, content["choice"], seconds)
    judged = []
    for proof in content["proofs"]:
        target = next((each for each in lowered.system.properties if each.name == proof["property"]), None)
        if target is None or target.form.value != proof["form"]:
            raise BadCertificate(f"the model has no {proof['form']} {proof['property']!r}")
        judged.append(_judge(lowered, target, proof, seconds))
    return tuple(judged)


def _judge(lowered: Lowered, target: Property, proof: Mapping[str, Any], seconds: float | None) -> Judged:
    told, words = _read(lowered, target, proof)
    wrong = unknown = None
    for name, text in told.items():
        answer = answer_text(text, seconds)
        if isinstance(answer, Sat):
            wrong = name
            break
        if isinstance(answer, Unknown):
            unknown = f"{name}: {answer.reason}"
            break
    if wrong is None and told != proof["obligations"]:
        raise BadCertificate(f"the obligations in the file are not those of its invariant for {target.name}")
    return Judged(target.name, target.form, wrong, unknown, tuple(words), told)


def _lowered(module: syntax.Module, choice: Mapping[str, Any], seconds: float | None) -> Lowered:
    variant, max_faults, faults = choice["variant"], choice["max_faults"], choice["faults"]
    if max_faults is not None and (not isinstance(max_faults, int) or max_faults < 0):
        raise BadCertificate(f"the certificate is damaged (max_faults {max_faults!r})")
    options = Options(
        variants=() if variant is None else (variant,), constants=choice["constants"], switches=choice["switches"]
    )
    chosen = [each for each in choose(module, options) if each.variant == variant]
    if not chosen or chosen[0].checked is None:
        raise BadCertificate("the model does not allow the choice that the certificate is for")
    model = chosen[0].checked.model
    if faults is not None:
        model = replace(model, faults=parse_faults(faults, model))
    return lower(model, max_faults=max_faults, deadline=None if seconds is None else time.monotonic() + seconds)


def _read(lowered: Lowered, target: Property, proof: Mapping[str, Any]) -> tuple[Mapping[str, str], list[str]]:
    """The obligations by name, and the proof in words."""
    if target.form is Form.LIVE:
        if proof["kind"] != rounds_file.KIND:
            raise BadCertificate(f"a proof of the kind {proof['kind']!r} does not prove {target.name}")
        return rounds_file.read(lowered, target, proof)
    formula, words = _read_proof(lowered, proof)
    ways = read_ways(lowered.system, target, proof)
    told = in_words(ways, target.form)
    try:
        return dict(obligations(lowered.system, target, formula, ways).items()), [*words, told] if told else words
    except ValueError as error:
        raise BadCertificate(str(error)) from None


def _read_proof(lowered: Lowered, proof: Mapping[str, Any]) -> tuple[Formula, list[str]]:
    """The invariant as a formula over the variables of a lowering, and in words."""
    variables = {variable.name: variable for variable in lowered.system.variables}
    if proof["kind"] == _INVARIANT:
        invariant = read_cubes(proof["never"], lowered.system.variables)
        return invariant.formula, [str(sentence) for sentence in sentences(invariant, lowered)]
    if proof["kind"] != _CLOSED_SET:
        raise BadCertificate(f"the certificate has a proof of an unknown kind: {proof['kind']!r}")
    named = [find_variable(variables, name) for name in proof["variables"]]
    if len(set(named)) != len(named):
        raise BadCertificate("the certificate names a variable twice")
    places = [{label: code for code, label in enumerate(labels(variable))} for variable in named]
    states = []
    for state in proof["states"]:
        if len(state) != len(named):
            raise BadCertificate("the certificate has a state with a value too few or too many")
        codes = [place[label] for place, label in zip(places, state, strict=True)]
        states.append(conjunction(equals(variable, code) for variable, code in zip(named, codes, strict=True)))
    return disjunction(states), [f"one of {len(states):,} states that the file lists"]


__all__ = ["SCHEMA", "BadCertificate", "Judged", "digest", "document", "verify"]
