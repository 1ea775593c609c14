"""Measures bounded model checking on the reference protocol with a lost retry: seconds per depth.

    python -m benchmarks.bmc_depth [--fixed] [--property NAME] [--depth N] [--engine parallel] [SIZE ...]

A size is WORKFLOWS,SERVERS,SWEEPERS,WORKERS,FAULTS.  The shortest violation of `executed` at 2,2,2,2,2 has 16 steps.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from benchmarks.protocol import Size, reference_protocol
from checker.engines.bmc import Bmc
from checker.engines.engine import Budget, Coverage, Outcome, Progress, Reached
from checker.engines.parallel_bmc import ParallelBmc
from checker.logic.solver import Answer, Literals, Sat, Solver, Unknown
from checker.transition_system import Property


class _Clocked(Solver):
    """A solver that prints what each question cost."""

    def __init__(self) -> None:
        super().__init__()
        self.begin = time.perf_counter()
        self.solving = 0.0
        self.clauses = 0

    def add(self, clauses: Literals) -> None:
        super().add(clauses)
        self.clauses += int((clauses == 0).sum())

    def solve(self, assumptions: Sequence[int] = (), seconds: float | None = None) -> Answer:
        begin = time.perf_counter()
        answer = super().solve(assumptions, seconds)
        now = time.perf_counter()
        self.solving += now - begin
        what = "sat" if isinstance(answer, Sat) else "unknown" if isinstance(answer, Unknown) else "unsat"
        if assumptions:
            print(
                f"  {what:7} {now - begin:7.3f} s   so far {now - self.begin:7.3f} s, of it in the solver "
                f"{self.solving:7.3f} s, {self.clauses:,} clauses"
            )
        return answer


class _Recorder:
    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        if isinstance(outcome, Reached):
            print(f"{target.name}: reached in {len(outcome.path.actions)} steps; {outcome.shortest}")
        else:
            print(f"{target.name}: {outcome}")

    def covered(self, coverage: Coverage) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure bounded model checking on the reference protocol.")
    parser.add_argument("sizes", nargs="*", default=["2,2,2,2,2"])
    parser.add_argument("--fixed", action="store_true", help="the protocol without the bug")
    parser.add_argument("--property", default="executed", help="the property to ask about, or `all`")
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--engine", choices=("bmc", "parallel"), default="bmc")
    options = parser.parse_args()
    for text in options.sizes:
        begin = time.perf_counter()
        system = reference_protocol(Size(*map(int, text.split(","))), lost_retry=not options.fixed)
        targets = [p for p in system.properties if options.property in (p.name, "all")]
        print(
            f"{text}: {len(system.variables)} variables, {len(system.actions)} actions, built in "
            f"{time.perf_counter() - begin:.3f} s"
        )
        begin = time.perf_counter()
        engine = Bmc(make_solver=_Clocked) if options.engine == "bmc" else ParallelBmc(make_solver=_Clocked)
        engine.run(system, targets, Budget(depth=options.depth), _Recorder())
        print(f"{text}: {time.perf_counter() - begin:.3f} s")


if __name__ == "__main__":
    main()
