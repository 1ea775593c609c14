"""The exit codes of the command."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """MET           every expectation is met; where none is stated, nothing is violated
    REFUTED       a property is refuted that nobody expected to be, or an expectation is missed
    MODEL         the model or the command line is wrong
    OWN_ERROR     the tool contradicted itself; no verdict of that run counts
    INCONCLUSIVE  a proof or a verdict was wanted, and there is only a bound or none"""

    MET = 0
    REFUTED = 1
    MODEL = 2
    OWN_ERROR = 3
    INCONCLUSIVE = 4


_GRAVEST_FIRST = (ExitCode.OWN_ERROR, ExitCode.MODEL, ExitCode.REFUTED, ExitCode.INCONCLUSIVE, ExitCode.MET)


def gravest(codes: Iterable[ExitCode]) -> ExitCode:
    """The one code that a run with all these answers: own error, model, refuted, inconclusive, met, in this order.
    MET when there are none."""
    present = set(codes)
    return next((code for code in _GRAVEST_FIRST if code in present), ExitCode.MET)
