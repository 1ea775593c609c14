"""Invariants as they stand in certificate files: cubes over named variables, with the values in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checker.certificates.invariant import Invariant
from checker.logic.formula import Formula, Op, Variable, member
from checker.logic.smtlib import labels
from checker.options import UsageError


class BadCertificate(UsageError):
    """The file is no certificate, or one for another model."""


Cube = Mapping[str, Sequence[str]]


def write_cubes(invariant: Invariant) -> list[Cube]:
    """Each cube as the values that its variables have."""
    found: list[Cube] = []
    for cube in invariant.cubes:
        told: dict[str, list[str]] = {}
        for literal in cube:
            assert literal.op is Op.IN
            assert literal.variable is not None
            assert literal.variable.name not in told
            names = labels(literal.variable)
            told[literal.variable.name] = [name for code, name in enumerate(names) if literal.mask >> code & 1]
        found.append(told)
    return found


def read_cubes(cubes: Sequence[Cube], variables: Sequence[Variable]) -> Invariant:
    """The invariant over these variables.  Raises BadCertificate where it speaks of others, or says nothing."""
    named = {variable.name: variable for variable in variables}
    return Invariant(tuple(tuple(_literal(named, name, told) for name, told in cube.items()) for cube in cubes))


def find_variable(named: Mapping[str, Variable], name: str) -> Variable:
    """Raises BadCertificate when there is none of this name."""
    if name not in named:
        raise BadCertificate(f"the model has no variable {name!r}")
    return named[name]


def _literal(named: Mapping[str, Variable], name: str, told: Sequence[str]) -> Formula:
    variable = find_variable(named, name)
    known = {label: code for code, label in enumerate(labels(variable))}
    if isinstance(told, str) or not told or len(set(told)) != len(told):
        raise BadCertificate(f"the certificate has no list of values for {name!r}")
    literal = member(variable, sum(1 << known[label] for label in told))
    if literal.op is not Op.IN:
        raise BadCertificate(f"the certificate says nothing of {name!r}: all values are listed")
    return literal


__all__ = ["BadCertificate", "Cube", "find_variable", "read_cubes", "write_cubes"]
