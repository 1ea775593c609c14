"""What a check may find besides verdicts: signs that a model does not say what its author meant."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from spec.source import Span


class RemarkKind(Enum):
    VACUOUS = "the left side of an implication is never true, or no state is at rest"
    UNCHANGING = "nothing that a property speaks of ever changes"
    UNREACHABLE = "a cover is never reached"
    THREAD_NEVER_RUNS = "a thread never runs"
    STATEMENT_NEVER_RUNS = "a statement never runs"
    FAULT_NEVER_STRIKES = "a fault class never strikes"


@dataclass(frozen=True)
class Remark:
    """subject: the name of the property, thread or fault class that it is about."""

    kind: RemarkKind
    subject: str
    message: str
    span: Span | None
