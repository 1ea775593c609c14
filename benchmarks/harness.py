"""Runs Counterpoint and its peers side by side on the benchmark protocols, and prints times, memory and ratios.

    python -m benchmarks.harness [--protocol m1] [--broken] [--sizes 3,2,2,2 ..] [--peers spin ..] [--engines auto ..]

Everybody runs as a whole process, start-up and compiling included, one after the other in turns, so that a noisy
machine is noisy for all; the figures are medians.  Who passes a limit does not run at later sizes.  Without `--sizes`
the sizes grow until no peer, or none of Counterpoint's engines, is left.  A peer that is not installed is left out.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchmarks.contestants import CONTESTANTS, PROTOCOLS, Answer, Benchmark, Contestant, Counterpoint, Task
from benchmarks.measure import Limits, Usage

SIZES = {
    ("m1", True): ("1,1,1,1", "2,2,2,1", "3,2,2,2", "3,3,2,2", "4,2,2,2", "4,3,2,2"),
    ("m2", True): ("1,1,1,1", "2,2,2,1", "3,2,1,1", "3,2,2,1", "3,2,2,2", "4,3,3,2"),
    ("m1", False): ("2,2,2,1", "3,2,2,2"),
    ("m2", False): ("2,2,2,1", "3,2,2,2"),
}
"""Where sizes start, for a protocol and whether it is fixed.  Then one parameter after the other grows, in turns."""
LARGEST = (5, 3, 3, 3)
"""The peers' models are written for no more than this."""


@dataclass(frozen=True)
class Row:
    """What one contestant did at one size.  `usage` holds medians."""

    name: str
    usage: Usage
    answer: Answer
    passed_limit: bool


def measured(contestants: Sequence[Contestant], task: Task, limits: Limits, runs: int) -> list[Row]:
    """Runs all of them in turns, `runs` times; once if a run takes longer than 10 s."""
    usages: dict[str, list[Usage]] = {each.name: [] for each in contestants}
    with tempfile.TemporaryDirectory() as name:
        folders = {each.name: Path(name) / str(place) for place, each in enumerate(contestants)}
        for each in contestants:
            folders[each.name].mkdir()
            each.prepare(task, folders[each.name])
        for turn in range(runs):
            first = turn % len(contestants)
            for each in (*contestants[first:], *contestants[:first]):
                known = usages[each.name]
                if not known or known[0].seconds <= 10:
                    known.append(each.run(task, folders[each.name], limits))
    return [_row(each, task, usages[each.name]) for each in contestants]


def _row(contestant: Contestant, task: Task, usages: Sequence[Usage]) -> Row:
    middle = Usage(
        statistics.median(usage.seconds for usage in usages),
        statistics.median(usage.processor for usage in usages),
        max(usage.memory for usage in usages),
        usages[-1].output,
        usages[-1].code,
        any(usage.late for usage in usages),
    )
    answer = contestant.answer(task, middle)
    return Row(contestant.name, middle, answer, middle.late or answer.verdict not in ("proved", "refuted"))


def report(task: Task, rows: Sequence[Row]) -> list[str]:
    """The lines of a table; ratios are to Counterpoint's first engine, above 1 where that is better."""
    ours = rows[0].usage
    lines = [f"{'':28} {'seconds':>8} {'cpu':>8} {'MiB':>7}   {'seconds':>8} {'cpu':>7} {'memory':>7}   answer"]
    for row in rows:
        used = row.usage
        over = ">" if used.late else " "
        figures = f"{over}{used.seconds:7.2f} {used.processor:8.2f} {used.memory / 2**20:7.0f}"
        ratios = (
            f"{used.seconds / ours.seconds:7.2f}x {used.processor / ours.processor:6.2f}x "
            f"{used.memory / ours.memory:6.2f}x"
        )
        lines.append(f"{row.name:28} {figures}   {ratios}   {_words(row)}")
    return lines + list(_disagreements(task, rows))


def _words(row: Row) -> str:
    answer = row.answer
    words = "stopped at the limit" if row.usage.late else answer.verdict
    if answer.steps is not None:
        words += f", {answer.steps} steps"
    if answer.states is not None:
        words += f", {answer.states:,} states"
    return words


def _disagreements(task: Task, rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.answer.verdict in ("proved", "refuted") and row.answer.verdict != task.right:
            yield f"WRONG: {row.name} says {row.answer.verdict}"
    states = {row.answer.states for row in rows if row.answer.states is not None}
    if len(states) > 1:
        yield f"WRONG: the numbers of states differ: {sorted(states)}"


def sizes_of(protocol: str, fixed: bool) -> Iterator[tuple[int, ...]]:
    """Growing sizes, up to the largest that the peers' models are written for."""
    size: tuple[int, ...] = LARGEST
    for text in SIZES[protocol, fixed]:
        size = _size(text)
        yield size
    for place in count():
        if size == LARGEST:
            return
        grown = list(size)
        grown[place % len(size)] = min(size[place % len(size)] + 1, LARGEST[place % len(size)])
        if tuple(grown) != size:
            size = tuple(grown)
            yield size


def _size(text: str) -> tuple[int, ...]:
    parts = tuple(map(int, text.split(",")))
    if len(parts) != 4 or min(parts) < 1 or any(part > most for part, most in zip(parts, LARGEST, strict=True)):
        raise argparse.ArgumentTypeError(f"{text!r} is no size from 1,1,1,1 to {','.join(map(str, LARGEST))}")
    return parts


def _contestants(options: argparse.Namespace, task: Task) -> list[Contestant]:
    found: list[Contestant] = [
        Counterpoint(engine.removesuffix("-nosym"), not engine.endswith("-nosym")) for engine in options.engines
    ]
    for peer in options.peers:
        found += CONTESTANTS[peer](task)
    return found


def run(options: argparse.Namespace, protocol: str, benchmark: Benchmark, fixed: bool) -> bool:
    """Runs one protocol at growing sizes.  Answers whether all agreed."""
    limits = Limits(options.seconds, int(options.gigabytes * 2**30))
    agreed = True
    out: set[str] = set()
    for size in options.sizes or sizes_of(protocol, fixed):
        task = Task(benchmark, size, fixed)
        all_of_them = _contestants(options, task)
        there = [each for each in all_of_them if each.missing() is None and each.name not in out]
        ours = [each for each in there if isinstance(each, Counterpoint)]
        if not ours or (len(there) == len(ours) and options.peers and not options.sizes):
            break
        rows = measured(there, task, limits, options.runs)
        print(f"\n{protocol} {'fixed' if fixed else 'broken'} {','.join(map(str, size))}")
        lines = report(task, rows)
        print("\n".join(lines), flush=True)
        agreed = agreed and not any(line.startswith("WRONG") for line in lines)
        out |= {row.name for row in rows if row.passed_limit}
    return agreed


def main() -> None:
    parser = argparse.ArgumentParser(description="Run Counterpoint and its peers on the benchmark protocols.")
    parser.add_argument("--protocol", choices=sorted(PROTOCOLS), action="append", help="one of them; both by default")
    parser.add_argument("--broken", action="store_true", help="look for the counterexample, in place of the proof")
    parser.add_argument("--sizes", type=_size, nargs="+", metavar="N,S,W,C", help="in place of growing sizes")
    parser.add_argument("--peers", nargs="*", choices=sorted(CONTESTANTS), default=["spin"])
    parser.add_argument(
        "--engines",
        nargs="+",
        choices=["auto", "search", "ic3", "bmc", "search-nosym"],
        default=["auto", "search", "ic3"],
        help="of Counterpoint; ratios are to the first",
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120.0, help="the limit of time")
    parser.add_argument("--gigabytes", type=float, default=8.0, help="the limit of memory")
    options = parser.parse_args()
    for peer in options.peers:
        example = CONTESTANTS[peer](Task(PROTOCOLS["m1"], (1, 1, 1, 1), True))[0]
        if example.missing() is not None:
            print(f"{peer} is left out: {example.missing()} is not installed", file=sys.stderr)
    agreed = [run(options, name, PROTOCOLS[name], not options.broken) for name in options.protocol or sorted(PROTOCOLS)]
    sys.exit(0 if all(agreed) else 1)


if __name__ == "__main__":
    main()
