"""Names that are close to a name that does not exist, for "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_CLOSE_ENOUGH = 0.6


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`, or None when none is like it.

    Case does not count, and a candidate whose last dotted part is exactly `name` wins (`workflow` means
    `postgres.workflow`).  Ties go to the first candidate in alphabetical order, so the answer is deterministic.
    """
    best: tuple[float, str] | None = None
    for candidate in sorted(set(candidates)):
        if candidate == name:
            continue
        if "." in candidate and "." not in name and candidate.rsplit(".", 1)[1] == name:
            score = 2.0
        else:
            score = SequenceMatcher(None, name.lower(), candidate.lower(), autojunk=False).ratio()
        if score >= _CLOSE_ENOUGH and (best is None or score > best[0]):
            best = (score, candidate)
    return None if best is None else best[1]


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """The sentence "did you mean `x`?", or None."""
    found = nearest(name, candidates)
    return None if found is None else f"did you mean `{found}`?"


def listed(names: Iterable[str], last: str = "and") -> str:
    """`a`, `b` and `c`, in the order given."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"
