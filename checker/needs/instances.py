"""Fault classes of single instances: `crash Server[0]` and `crash Server[1]` in place of `crash Server`, and which of
them are alike.

A permutation of the instances of a process maps runs to runs, and violations of a property to violations (scalarsets:
Ip and Dill 1993).  So the sets of classes that it maps to each other break the same properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from checker.lowering.symmetries import orders_instances
from spec.typed import FaultClass, FaultKind, Model


def split(model: Model) -> Model:
    """The model with each fault class that names a process taken apart, one class for each instance or pair of
    instances.  Together they allow just the runs that the model has."""
    sizes = {process.name: process.instances.size for process in model.processes}
    return replace(model, faults=tuple(part for fault in model.faults for part in _parts(fault, sizes)))


def whole(faults: Iterable[FaultClass]) -> frozenset[FaultClass]:
    """The classes of all instances to which the given ones belong, as the model declares them."""
    return frozenset(replace(fault, first_instance=None, second_instance=None) for fault in faults)


def exchanges(model: Model) -> tuple[tuple[int, ...], ...]:
    """The transpositions of like instances that stand side by side, as permutations of the places in `model.faults`;
    they generate all permutations of these instances.  Left out are those that move no class, and those that do not
    map the classes to each other.  None where a statement tells instances apart by their order."""
    if orders_instances(model):
        return ()
    places = {fault: place for place, fault in enumerate(model.faults)}
    found = []
    for process in model.processes:
        if process.name not in model.symmetric:
            continue
        for one, other in pairwise(range(process.instances.size)):
            images = [places.get(_exchanged(fault, process.name, one, other)) for fault in model.faults]
            permutation = tuple(image for image in images if image is not None)
            alike = len(set(permutation)) == len(images) and all(
                model.faults[image].fairness is fault.fairness
                for image, fault in zip(permutation, model.faults, strict=True)
            )
            if alike and permutation != tuple(range(len(images))):
                found.append(permutation)
    return tuple(found)


def _exchanged(fault: FaultClass, name: str, one: int, other: int) -> FaultClass:
    """The class in which two instances of the process have changed places."""
    index: dict[int | None, int | None] = {one: other, other: one}
    first, second = fault.first_instance, fault.second_instance
    if fault.first == name:
        first = index.get(first, first)
    if fault.second == name:
        second = index.get(second, second)
    if fault.first == fault.second and first is not None and second is not None:
        first, second = sorted((first, second))
    return replace(fault, first_instance=first, second_instance=second)


def _parts(fault: FaultClass, sizes: dict[str, int]) -> Iterator[FaultClass]:
    if fault.kind is FaultKind.EXPIRE:
        yield fault
        return
    firsts = _instances(fault.first, sizes)
    seconds = _instances(fault.second, sizes)
    for one in firsts:
        for other in seconds:
            # A link between instances of one process stands for both of its directions.
            if fault.first != fault.second or (one is not None and other is not None and one < other):
                yield replace(fault, first_instance=one, second_instance=other)


def _instances(name: str | None, sizes: dict[str, int]) -> list[int | None]:
    return [*range(sizes[name])] if name in sizes else [None]
