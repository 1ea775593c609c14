"""Fault classes of single instances: `crash Server[0]` and `crash Server[1]` in place of `crash Server`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from spec.typed import FaultClass, FaultKind, Model


def split(model: Model) -> Model:
    """The model with each fault class that names a process taken apart, one class for each instance or pair of
    instances.  Together they allow just the runs that the model has."""
    sizes = {process.name: process.instances.size for process in model.processes}
    return replace(model, faults=tuple(part for fault in model.faults for part in _parts(fault, sizes)))


def whole(faults: Iterable[FaultClass]) -> frozenset[FaultClass]:
    """The classes of all instances to which the given ones belong, as the model declares them."""
    return frozenset(replace(fault, first_instance=None, second_instance=None) for fault in faults)


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
