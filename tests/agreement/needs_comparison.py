"""The fault sets of one program, by the interpreter alone over every subset of its fault classes, and by the checker.

Run as a module it compares programs drawn from seeds: `first count states`, with a fourth word programs with several
instances of their processes, and the fault classes of single instances.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, permutations, product

from checker.check import check_module
from checker.needs.instances import split
from checker.needs.needs import Breaking, Tolerated
from checker.options import Options
from spec import syntax
from spec.interpreter import Interpreter
from spec.parse import parse
from spec.source import Source
from spec.typed import FaultClass, Model, PropertyForm
from tests.agreement.comparison import Disagreement
from tests.agreement.deciding import Pointless, checked
from tests.agreement.fault_programs import FaultProgram
from tests.agreement.instance_comparison import program as several_instances
from tests.agreement.oracle import TooLarge, explore, shortest_error, shortest_violation
from tests.agreement.programs import Program

FaultSet = frozenset[FaultClass]


_MOST_CLASSES = 6
"""More have too many subsets to try them all."""


def compare(text: str, states: int, per_instance: bool = False) -> bool:
    """Whether the program has faults and was small enough to be compared.  Raises Disagreement."""
    try:
        model = checked(text).model
    except Pointless:
        return False
    if per_instance:
        model = split(model)
    if not model.faults or (per_instance and len(model.faults) > _MOST_CLASSES):
        return False
    try:
        broken = {faults: broken_by(model, faults, states) for faults in subsets(model.faults)}
    except TooLarge:
        return False
    file = parse(Source("program.cpt", text))
    assert isinstance(file, syntax.File)
    options = Options(needs=True, per_instance=per_instance, engine="search")
    (report,) = check_module(syntax.Module(file.source, file.doc, file.items), options).variants
    if report.failures:
        raise Disagreement(f"{[failure.message for failure in report.failures]}\n{text}")
    for result in report.properties:
        if result.form is PropertyForm.COVER or result.name.startswith("assert_"):
            continue
        lengths = {faults: found[result.name] for faults, found in broken.items()}
        breaking = {faults for faults, length in lengths.items() if length is not None}
        minimal = {s for s in breaking if not any(other < s for other in breaking)}
        safe = set(lengths) - breaking
        maximal = {s for s in safe if not any(s < other for other in safe)}
        needs = result.needs
        assert needs is not None
        found = [(s, len(each.verdict.trace)) for each in needs.breaking for s in stood_for(each, model, text)]
        wanted = {faults: lengths[faults] for faults in minimal}
        exact = dict(found) == wanted and len(found) == len(wanted)
        if not needs.complete or not all(each.minimal for each in needs.breaking) or not exact:
            raise Disagreement(f"{result.name} breaks with {needs}, not {wanted}\n{text}")
        listed = [faults for each in needs.tolerated for faults in stood_for(each, model, text)]
        if set(listed) != maximal or len(listed) != len(maximal):
            raise Disagreement(f"{result.name} is safe under {needs}, not {maximal}\n{text}")
    return True


def stood_for(each: Breaking | Tolerated, model: Model, text: str) -> Iterator[FaultSet]:
    """The sets for which one is listed.  Raises Disagreement when these are not as many as it says."""
    found = images(each.faults, model) if each.orbit > 1 else {each.faults}
    if len(found) != each.orbit:
        raise Disagreement(f"{each.faults} stands for {each.orbit} sets, not {found}\n{text}")
    yield from found


def images(faults: FaultSet, model: Model) -> set[FaultSet]:
    """What all permutations of instances, of each process its own, make of a set."""
    orders = [list(permutations(range(process.instances.size))) for process in model.processes]
    names = [process.name for process in model.processes]
    return {
        frozenset(_renamed(f, dict(zip(names, chosen, strict=True))) for f in faults) for chosen in product(*orders)
    }


def _renamed(fault: FaultClass, order: dict[str, tuple[int, ...]]) -> FaultClass:
    first, second = fault.first_instance, fault.second_instance
    if first is not None:
        first = order[fault.first][first]
    if second is not None and fault.second is not None:
        second = order[fault.second][second]
    if fault.first == fault.second and first is not None and second is not None and first > second:
        first, second = second, first
    return replace(fault, first_instance=first, second_instance=second)


def subsets(classes: Iterable[FaultClass]) -> list[FaultSet]:
    """All of them, by size."""
    kept = tuple(classes)
    return [frozenset(chosen) for size in range(len(kept) + 1) for chosen in combinations(kept, size)]


def broken_by(model: Model, faults: FaultSet, states: int) -> dict[str, int | None]:
    """For each property the length of a shortest refutation with these fault classes; None where there is none.
    Raises TooLarge."""
    chosen = replace(model, faults=tuple(fault for fault in model.faults if fault in faults))
    interpreter = Interpreter(chosen)
    graph = explore(interpreter, states)
    found = {p.name: shortest_violation(graph, interpreter, p) for p in model.properties}
    return {**found, "model_errors": shortest_error(graph, assertion=False)}


def main(arguments: list[str]) -> int:
    first, count, states = map(int, arguments[:3])
    per_instance = len(arguments) > 3
    compared = 0
    for seed in range(first, first + count):
        try:
            draw = random.Random(seed)
            kind = FaultProgram if seed % 4 else Program
            text = several_instances(draw) if per_instance else kind(draw.randrange).text()
            compared += compare(text, states, per_instance)
        except Disagreement as disagreement:
            print(f"seed {seed}: {disagreement}")
            return 1
    print(f"{compared} of {count} programs compared, no disagreement")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
