"""The engines that `--engine` names, and what each is for."""

from __future__ import annotations

from collections.abc import Callable

from checker.engines.engine import Engine
from checker.transition_system import Form


def _search() -> Engine:
    from checker.engines.search import Search

    return Search()


def _bmc() -> Engine:
    from checker.engines.bmc import Bmc

    return Bmc()


def _ic3() -> Engine:
    from checker.engines.ic3 import Ic3

    return Ic3()


def _parallel() -> Engine:
    from checker.engines.parallel_bmc import ParallelBmc

    return ParallelBmc()


def _fair_cycles() -> Engine:
    from checker.engines.live import Live, Method

    return Live(Method.FAIR_CYCLES)


def _counting() -> Engine:
    from checker.engines.live import Live, Method

    return Live(Method.COUNTING)


def _lassos() -> Engine:
    from checker.engines.live import Live, Method

    return Live(Method.LASSO)


ENGINES: dict[str, Callable[[], Engine]] = {"search": _search, "ic3": _ic3, "parallel": _parallel, "bmc": _bmc}
"""The engines by the names that `--engine` takes.  They are imported when they are first wanted."""

FORMS = {
    "ic3": frozenset({Form.INVARIANT, Form.STEP_INVARIANT, Form.COVER, Form.AT_REST, Form.RECOVERABLE}),
}
"""The forms that an engine decides, where these are not all."""

LIVE_ENGINES: dict[str, Callable[[], Engine]] = {"search": _fair_cycles, "ic3": _counting, "bmc": _lassos}
"""The same for properties of infinite runs: a search for fair cycles in the state graph, k-liveness by IC3, and bounded
model checking for lassos."""

NOT_SHORTEST = frozenset({"ic3", "parallel"})
"""The engines whose runs may be too long, or are just any of their length."""


def preload(live: bool) -> None:
    """Imports what engines take, those for infinite runs only if `live`, so that processes which are forked off later
    have it already."""
    for make in (*ENGINES.values(), *(LIVE_ENGINES.values() if live else ())):
        make()
    if live:
        import scipy.sparse.csgraph  # noqa: F401


__all__ = ["ENGINES", "FORMS", "LIVE_ENGINES", "NOT_SHORTEST", "preload"]
