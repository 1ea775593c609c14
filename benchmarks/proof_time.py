"""Measures proofs by IC3 on the reference protocol without bugs: seconds for each property, and for its check.

    python -m benchmarks.proof_time [--property NAME] [--no-symmetry] [--solver NAME] [SIZE ...]

A size is WORKFLOWS,SERVERS,SWEEPERS,WORKERS,FAULTS.  `--buggy` looks for the violation of `executed` instead.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.protocol import Size, reference_protocol
from checker.certificates.invariant import check
from checker.engines.engine import Budget, Coverage, Inductive, Outcome, Progress, Reached
from checker.engines.ic3 import Ic3
from checker.logic.sat import PYSAT_SOLVER, Z3, Incremental, PySat
from checker.transition_system import Property, TransitionSystem


class _Recorder:
    def __init__(self, system: TransitionSystem, check_too: bool) -> None:
        self.system = system
        self.check_too = check_too
        self.begin = time.perf_counter()

    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        seconds = time.perf_counter() - self.begin
        if isinstance(outcome, Inductive):
            what = f"proved, {outcome.frames} frames, {len(outcome.invariant.cubes)} clauses"
        elif isinstance(outcome, Reached):
            what = f"reached in {len(outcome.path.actions)} steps; {outcome.shortest}"
        else:
            what = str(outcome)
        print(f"  {target.name:14} {seconds:8.3f} s  {what}", flush=True)
        if isinstance(outcome, Inductive) and self.check_too:
            begin = time.perf_counter()
            wrong = check(self.system, target, outcome.invariant)
            print(f"  {'':14} {time.perf_counter() - begin:8.3f} s  checked: {wrong or 'it is a proof'}", flush=True)
        self.begin = time.perf_counter()

    def covered(self, coverage: Coverage) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure proofs by IC3 on the reference protocol.")
    parser.add_argument("sizes", nargs="*", default=["2,2,2,2,2", "5,3,3,3,3"])
    parser.add_argument("--property", default="all", help="the property to ask about")
    parser.add_argument("--buggy", action="store_true", help="the protocol with a lost retry")
    parser.add_argument("--no-symmetry", action="store_true")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--solver", default=PYSAT_SOLVER, help="a solver of python-sat, or z3")
    parser.add_argument("--seconds", type=float, default=None)
    options = parser.parse_args()

    def make_solver() -> Incremental:
        return Z3() if options.solver == "z3" else PySat(options.solver)

    for text in options.sizes:
        system = reference_protocol(Size(*map(int, text.split(","))), lost_retry=options.buggy)
        targets = [p for p in system.properties if options.property in (p.name, "all")]
        print(f"{text}: {len(system.variables)} variables, {len(system.actions)} actions")
        deadline = None if options.seconds is None else time.monotonic() + options.seconds
        engine = Ic3(symmetry=not options.no_symmetry, make_solver=make_solver)
        begin = time.perf_counter()
        engine.run(system, targets, Budget(deadline), _Recorder(system, not options.no_check))
        print(f"{text}: {time.perf_counter() - begin:.3f} s", flush=True)


if __name__ == "__main__":
    main()
