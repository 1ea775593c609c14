"""Measures the explicit search on the reference protocol.

    python -m benchmarks.search_rate [--plain] [--recheck] [WORKFLOWS,SERVERS,SWEEPERS,WORKERS,FAULTS ...]

Known numbers of states without symmetry: 1,410 at 1,1,1,1,1; 148,317 at 2,1,1,1,1; 2,647,755 at 2,1,2,2,1.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.protocol import Size, reference_protocol
from checker.engines.engine import Bounded, Budget, Coverage, Outcome, Progress, Unreachable
from checker.engines.search import Search
from checker.transition_system import Property


class _Recorder:
    def __init__(self) -> None:
        self.outcomes: dict[str, Outcome] = {}

    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        self.outcomes[target.name] = outcome

    def covered(self, coverage: Coverage) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the explicit search on the reference protocol.")
    parser.add_argument("sizes", nargs="*", default=["1,1,1,1,1", "2,1,1,1,1", "2,1,2,2,1"])
    parser.add_argument("--plain", action="store_true", help="without symmetry")
    parser.add_argument("--recheck", action="store_true", help="also check the closed set")
    options = parser.parse_args()
    for text in options.sizes:
        system = reference_protocol(Size(*map(int, text.split(","))))
        recorder = _Recorder()
        begin = time.perf_counter()
        Search(symmetry=not options.plain).run(system, system.properties, Budget(), recorder)
        seconds = time.perf_counter() - begin
        for name, outcome in recorder.outcomes.items():
            if isinstance(outcome, Unreachable):
                count = len(outcome.closed_set)
                print(
                    f"{text}  {count:,} states  depth {outcome.depth}  {seconds:.2f} s  {count / seconds:,.0f} states/s"
                )
                if options.recheck:
                    begin = time.perf_counter()
                    complaint = outcome.closed_set.recheck()
                    print(f"{text}  recheck: {complaint or 'closed'}  {time.perf_counter() - begin:.2f} s")
                break
            if isinstance(outcome, Bounded):
                print(f"{text}  {name}: {outcome.reason} at depth {outcome.depth}")
            else:
                print(f"{text}  {name}: {type(outcome).__name__}")


if __name__ == "__main__":
    main()
