"""Which statement of which thread a statement id means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.control import blocks_of as blocks
from spec.control import statements_in
from spec.event import Slot
from spec.typed import (
    Block,
    Failure,
    Model,
    Process,
    Statement,
    Thread,
    Try,
)

__all__ = ["Site", "blocks", "catches", "sites", "thread_of"]


@dataclass(frozen=True)
class Site:
    """A statement and the thread that it belongs to."""

    statement: Statement
    process: Process
    thread: Thread


def sites(model: Model) -> Mapping[int, Site]:
    """Every statement of the model by its id, those inside of blocks too."""
    return {
        statement.id: Site(statement, process, thread)
        for process in model.processes
        for thread in process.threads
        for statement in statements_in(thread.body)
    }


def thread_of(model: Model, slot: Slot) -> Thread | None:
    """The thread that runs in a slot; None where the model has no such thread."""
    for process in model.processes:
        if process.name == slot.process:
            for thread in process.threads:
                if thread.name == slot.thread:
                    return thread
    return None


def catches(site: Site, failure: Failure) -> bool:
    """Whether some `try` around the statement has a handler for the failure."""
    return _caught(site.thread.body, site.statement, failure) is True


def _caught(block: Block, wanted: Statement, failure: Failure) -> bool | None:
    """None: the statement is not in the block."""
    for statement in block:
        if statement.id == wanted.id:
            return False
        for number, inner in enumerate(blocks(statement)):
            caught = _caught(inner, wanted, failure)
            if caught is not None:
                handlers = statement.handlers if isinstance(statement, Try) and number == 0 else ()
                return caught or any(h.failures is None or failure in h.failures for h in handlers)
    return None
