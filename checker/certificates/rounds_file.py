"""Proofs about infinite runs as they stand in certificate files: for each case of a `live` property the bound for its
fair rounds, the invariant of the system that counts them, and the invariant's three obligations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from checker.certificates.invariant import Invariant
from checker.certificates.proof_terms import BadCertificate, read_cubes, write_cubes
from checker.liveness.counting import CountingSystem, counting_system, translated
from checker.liveness.live_certificate import RoundsCertificate
from checker.logic.smtlib import obligations
from checker.lower import Lowered
from checker.reports.wording import single_sentences
from checker.transition_system import Property

KIND = "fair rounds"


@dataclass(frozen=True)
class _Case:
    """binding: of the case; told: the obligations by name."""

    counting: CountingSystem
    invariant: Invariant
    binding: str
    told: Mapping[str, str]


def written(lowered: Lowered, target: Property, certificate: RoundsCertificate) -> dict[str, object]:
    """The part of the file that holds the proof."""
    cases = []
    for case, rounds, invariant in zip(target.cases, certificate.rounds, certificate.invariants, strict=True):
        counting = counting_system(lowered.system, case, rounds)
        cases.append(
            {"of": case.binding, "rounds": rounds, "never": write_cubes(translated(invariant, counting.system))}
        )
    return {"kind": KIND, "cases": cases}


def read(lowered: Lowered, target: Property, proof: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The obligations of a proof that `written` has made, by name, and the proof in words.  The systems that count are
    made anew.  Raises BadCertificate where it is none for the property."""
    told: dict[str, str] = {}
    words: list[str] = []
    for number, case in enumerate(_cases(lowered, target, proof)):
        told |= {f"case {number} {name}": text for name, text in case.told.items()}
        where = f"[{case.binding}] " if case.binding else ""
        words.append(f"{where}fewer than {case.counting.rounds} fair rounds go by")
        words += [f"{where}{sentence}" for sentence in single_sentences(case.invariant, lowered)]
    return told, words


def _cases(lowered: Lowered, target: Property, proof: Mapping[str, Any]) -> Iterator[_Case]:
    if len(proof["cases"]) != len(target.cases):
        raise BadCertificate(f"the certificate has {len(proof['cases'])} cases of {target.name}, not all of them")
    for case, stated in zip(target.cases, proof["cases"], strict=True):
        rounds = stated["rounds"]
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
            raise BadCertificate(f"the certificate is damaged (rounds {rounds!r})")
        if stated["of"] != case.binding:
            raise BadCertificate(f"the certificate has a case {stated['of']!r} where {case.binding!r} belongs")
        counting = counting_system(lowered.system, case, rounds)
        invariant = read_cubes(stated["never"], counting.system.variables)
        texts = obligations(counting.system, counting.target, invariant.formula)
        yield _Case(counting, invariant, case.binding, dict(texts.items()))


__all__ = ["KIND", "read", "written"]
