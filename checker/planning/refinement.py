"""A shortest path, and the best of the shortest ones, in place of one that an engine has found.

So the same trace comes whichever engine was the first to find one.
"""

from __future__ import annotations

import time

from checker.engines.engine import Budget, Path, Reached
from checker.transition_system import Property, TransitionSystem

_EXPLORED = 200_000
"""So many states are explored at most."""
_SHARE = 0.3
"""Of the time that is left, this may be spent."""


def shortened(system: TransitionSystem, target: Property, path: Path, deadline: float | None) -> Reached:
    """See `checker.engines.shortening.shortened`, which is imported when it is first wanted."""
    from checker.engines import shortening

    return shortening.shortened(system, target, path, deadline)


def refined(system: TransitionSystem, target: Property, known: Reached, deadline: float) -> Reached:
    """The best path of that length, for a path that is known to be a shortest one; the same path if it would take too
    long to find that.  `deadline` is on the clock of `time.monotonic`."""
    from checker.engines.best_path import Rank, best_path_of_length
    from checker.engines.packing import Layout

    now = time.monotonic()
    budget = Budget(now + _SHARE * max(deadline - now, 0.0), states=_EXPLORED)
    try:
        ranked = best_path_of_length(Layout(system), target, len(known.path.actions), budget)
    except MemoryError:
        ranked = None
    if ranked is None or ranked.rank is Rank.ANY:
        path = known.path if ranked is None else ranked.path
        return Reached(path, f"{known.shortest}, not for fewest faults: {Rank.ANY.value}")
    return Reached(ranked.path, f"{known.shortest}: {ranked.rank.value}")


__all__ = ["refined", "shortened"]
