"""The fault classes that a command line names: `--faults "crash Server, partition Server -- postgres"`."""

from __future__ import annotations

import re
from collections.abc import Collection

from checker.options import UnknownNameError
from checker.suggestion import suggest
from spec.source import Source, Span
from spec.typed import FaultClass, FaultKind, Model

_SHAPE = re.compile(
    r"(?P<kind>crash|partition|lose|duplicate|expire)\s+(?P<first>\w+)"
    r"(?:\s*(?P<joint>--|\.)\s*(?P<second>\w+))?(?P<once>\s+without\s+restart)?"
)


def parse_faults(text: str, model: Model) -> tuple[FaultClass, ...]:
    """The classes that `text` lists, separated by commas, in the notation of a model's `faults` block; `none` lists
    none.  They need not be declared, but what they name must exist.  A declared class is answered as declared.
    Raises UnknownNameError."""
    if text.strip() in ("", "none"):
        return ()
    declared = {str(fault): fault for fault in model.faults}
    found: dict[str, FaultClass] = {}
    for part in text.split(","):
        fault = _parse(" ".join(part.split()), model, declared)
        found[str(fault)] = fault
    return tuple(found.values())


def _parse(text: str, model: Model, declared: dict[str, FaultClass]) -> FaultClass:
    if text in declared:
        return declared[text]
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise UnknownNameError(f"no fault class {text!r}", suggest(text, declared, "declared fault classes"))
    kind = FaultKind(match["kind"])
    first, second = match["first"], match["second"]
    joint = {FaultKind.CRASH: None, FaultKind.EXPIRE: "."}.get(kind, "--")
    if match["joint"] != joint or (match["once"] and kind is not FaultKind.CRASH):
        raise UnknownNameError(f"no fault class {text!r}", suggest(text, declared, "declared fault classes"))
    processes = {process.name for process in model.processes}
    stores = {store.name: store for store in model.stores}
    if kind is FaultKind.EXPIRE:
        _require(first, stores, "store", "stores", text)
        leases = [lock.name for lock in stores[first].locks if lock.lease]
        _require(second, leases, "lock with a lease", "locks with a lease", text)
    else:
        if second is not None and first in stores and second in processes:
            first, second = second, first
        _require(first, processes if second else {*processes, *stores}, "process", "processes", text)
        if second is not None:
            _require(second, {*processes, *stores}, "process or store", "processes and stores", text)
    fault = FaultClass(kind, first, second, match["once"] is None, Span(Source("--faults", text), 0, len(text)))
    return declared.get(str(fault), fault)


def _require(name: str, known: Collection[str], what: str, plural: str, text: str) -> None:
    if name not in known:
        raise UnknownNameError(f"no {what} {name!r} in {text!r}", suggest(name, known, plural))
