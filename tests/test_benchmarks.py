"""The benchmark models have the transition systems that they should have, and their circuits the same runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.aiger import Circuit, system_of
from benchmarks.contestants import PROTOCOLS, Answer, NuSmv, Task, Tlc
from benchmarks.measure import Limits, Usage
from checker.engines.engine import Budget, Coverage, Outcome, Progress, Unreachable
from checker.engines.search import Search
from checker.engines.symmetry import permuted
from checker.logic.formula import Variable, evaluate
from checker.transition_system import Property, State, TransitionSystem, successor
from spec.checking.choice import Choice
from spec.interpreter import Interpreter
from spec.load import load
from spec.typecheck import Checked, typecheck

FOLDER = Path(__file__).parent.parent / "benchmarks"


class _Recorder:
    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []

    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def covered(self, coverage: Coverage) -> None:
        pass


def _system(name: str, size: str) -> TransitionSystem:
    protocol = PROTOCOLS[name]
    constants = dict(zip(protocol.parameters, size.split(","), strict=True))
    return system_of(FOLDER / f"{protocol.name}.cpt", protocol.variants[0], constants)


@pytest.mark.parametrize(
    ("name", "size", "states"),
    # what SPIN, less its one state before the start, and rumur without symmetry reduction count
    [
        ("m1", "1,1,1,1", 90),
        ("m1", "2,1,1,1", 1_889),
        ("m1", "2,2,2,1", 11_627),
        ("m2", "1,1,1,1", 72),
        ("m2", "2,1,1,1", 1_737),
    ],
)
def test_the_models_have_as_many_states_as_their_peers_count(name: str, size: str, states: int) -> None:
    system = replace(_system(name, size), swaps=())
    recorder = _Recorder()
    Search().run(system, system.properties, Budget(), recorder)
    assert recorder.outcomes
    for outcome in recorder.outcomes:
        assert isinstance(outcome, Unreachable)
        assert len(outcome.closed_set) == states


@pytest.mark.parametrize("name", ["m1", "m2"])
def test_states_are_interchangeable_whether_they_are_reached_or_not(name: str) -> None:
    """IC3 speaks of states that no run reaches, too, so the symmetries have to hold there."""
    system = _system(name, "2,2,1,1")
    drawn = random.Random(1)

    def after(state: State) -> set[State]:
        place = system.position
        enabled = [a for a in system.actions if evaluate(a.guard, lambda v: state[place[v]])]
        return {successor(system, state, action) for action in enabled}

    assert system.swaps
    for _ in range(300):
        state = tuple(drawn.randrange(variable.size) for variable in system.variables)
        for swap in system.swaps:
            image = permuted(system, state, swap)
            assert {permuted(system, each, swap) for each in after(state)} == after(image)


def test_what_a_block_declares_is_no_part_of_the_state(tmp_path: Path) -> None:
    """The initial state, as lowered, is that of the interpreter: `taken` lives within the step only."""
    from checker.lower import lower

    file = tmp_path / "model.cpt"
    file.write_text(
        """
        ids Workflow[2]
        store db { durable busy: Workflow -> bool }
        process Server {
          loop serve {
            step "take" {
              let taken = any Workflow where not db.busy[taken]
              db.busy[taken] := true
            }
          }
        }
        cover all_busy: forall w: Workflow. db.busy[w]
        """
    )
    module = load(file, tmp_path)
    assert not isinstance(module, tuple)
    checked = typecheck(module, Choice())
    assert isinstance(checked, Checked)
    lowered = lower(checked.model)
    assert lowered.decode(lowered.system.initial) == Interpreter(checked.model).initial()
    assert not [variable for variable in lowered.system.variables if "taken" in variable.name]


def _codes(system: TransitionSystem, state: State) -> Callable[[Variable], int]:
    return lambda variable: state[system.position[variable]]


def test_a_circuit_takes_the_steps_of_its_system(tmp_path: Path) -> None:
    """Random runs of the circuit, read back from its file, stay within the states of the system and agree on `bad`."""
    system = _system("m2", "1,1,1,1")
    target = system.properties[0]
    file = tmp_path / "circuit.aig"
    Circuit(system, target).write(file)
    circuit = _Aiger(file.read_bytes())
    bits = [(v, bit) for v in system.variables for bit in range((v.size - 1).bit_length())]
    place = system.position
    drawn = random.Random(2)
    latches, state = [False] * len(bits), system.initial
    for _ in range(2_000):
        inputs = [drawn.random() < 0.2 for _ in system.actions]
        chosen = next((action for action, taken in zip(system.actions, inputs, strict=True) if taken), None)
        latches, bad = circuit.step(inputs, latches)
        assert bad == evaluate(target.bad, _codes(system, state))
        if chosen is not None and evaluate(chosen.guard, _codes(system, state)):
            state = successor(system, state, chosen)
        codes = [state[place[v]] ^ v.initial for v, _ in bits]
        assert latches == [bool(code >> bit & 1) for code, (_, bit) in zip(codes, bits, strict=True)]
        if not any(evaluate(a.guard, _codes(system, state)) for a in system.actions):
            latches, state = [False] * len(bits), system.initial


class _Aiger:
    """Evaluates a binary AIGER file."""

    def __init__(self, data: bytes) -> None:
        header, _, rest = data.partition(b"\n")
        _, self.inputs, self.latches, outputs, gates = map(int, header.split()[1:])
        lines = []
        for _ in range(self.latches + outputs):
            line, _, rest = rest.partition(b"\n")
            lines.append(int(line))
        self.following, self.output = lines[: self.latches], lines[-1]
        self.gates = []
        position = 0

        def delta() -> int:
            nonlocal position
            value = shift = 0
            while True:
                byte = rest[position]
                position += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        for number in range(gates):
            left = 2 * (1 + self.inputs + self.latches + number) - delta()
            self.gates.append((left, left - delta()))

    def step(self, inputs: list[bool], latches: list[bool]) -> tuple[list[bool], bool]:
        """The latches after a step, and the output before it."""
        signals = [False, *inputs, *latches]

        def value(literal: int) -> bool:
            return signals[literal >> 1] ^ bool(literal & 1)

        for left, right in self.gates:
            signals.append(value(left) and value(right))
        return [value(literal) for literal in self.following], value(self.output)


@pytest.mark.parametrize(("workflows", "states"), [(1, 1_410), (2, 148_317)])
def test_the_reference_model_is_the_reference_protocol(workflows: int, states: int) -> None:
    """The counts of the same protocol built directly, and by programs of other languages."""
    system = replace(system_of(FOLDER / "reference.cpt", "fixed", {"N": str(workflows)}), swaps=())
    recorder = _Recorder()
    Search().run(system, system.properties, Budget(), recorder)
    for outcome in recorder.outcomes:
        assert isinstance(outcome, Unreachable)
        assert len(outcome.closed_set) == states


# ------------------------------------------------------------------------------------------------------------- peers


def _usage(output: str) -> Usage:
    return Usage(1.0, 1.0, 1, output, 0, False)


M1_FIXED = Task(PROTOCOLS["m1"], (2, 1, 3, 4), True)
M1_BROKEN = Task(PROTOCOLS["m1"], (2, 1, 3, 4), False)


def test_what_tlc_says() -> None:
    """The lines are those of TLC's own messages (its class MP)."""
    proved = "Model checking completed. No error has been found.\n  Estimates of the probability ..\n"
    assert Tlc().answer(M1_FIXED, _usage(proved)) == Answer("proved")
    refuted = (
        "Error: Invariant NoneAbandoned is violated.\nError: The behavior up to this point is:\n"
        "State 1: <Initial predicate>\n/\\ row = <<>>\n\nState 2: <Take line 34>\n/\\ row = <<>>\n"
        "1024 states generated, 512 distinct states found\n"
    )
    assert Tlc().answer(M1_BROKEN, _usage(refuted)) == Answer("refuted", steps=1)
    cut = Tlc().answer(M1_FIXED, _usage("java.lang.OutOfMemoryError: Java heap space\n"))
    assert cut.verdict.startswith("no verdict")


def test_tlc_is_told_the_size(tmp_path: Path) -> None:
    Tlc().prepare(M1_FIXED, tmp_path)
    lines = (tmp_path / "m1_start.cfg").read_text().splitlines()
    assert lines[lines.index("CONSTANTS") + 1 :] == [
        "None = None",
        "Workflows = {workflows0, workflows1}",
        "Servers = {servers0}",
        "Workers = {workers0, workers1, workers2}",
        "CRASHES = 4",
        "RESCAN = TRUE",
    ]
    assert (tmp_path / "m1_start.tla").is_file()


def test_what_nusmv_says() -> None:
    """As NuSMV 2.5.4 prints it."""
    proved = (
        "-- invariant !(acknowledged_1 & row_1 = none)  is true\n-- invariant !(!(server_0 = down) & x)  is true\n"
        "system diameter: 16\nreachable states: 1889 (2^10.8834) out of 1.2e+07 (2^23.5)\n"
    )
    assert NuSmv().answer(M1_FIXED, _usage(proved)) == Answer("proved", states=1889)
    half = proved.replace("-- invariant !(!(server_0 = down) & x)  is true\n", "")
    assert NuSmv().answer(M1_FIXED, _usage(half)).verdict.startswith("no verdict")
    many = proved.replace("1889 ", "1.5605e+06 ")
    assert NuSmv().answer(M1_FIXED, _usage(many)) == Answer("proved")
    refuted = (
        "-- invariant !(acknowledged_1 & row_1 = none)  is true\n-- invariant !(!(server_0 = down) & x)  is false\n"
        "-> State: 1.1 <-\n  row_1 = none\n-> Input: 1.2 <-\n-> State: 1.2 <-\n-> State: 1.3 <-\n"
    )
    assert NuSmv().answer(M1_BROKEN, _usage(refuted)) == Answer("refuted", steps=2)


@pytest.mark.skipif(NuSmv().missing() is not None, reason="NuSMV is not installed")
@pytest.mark.parametrize(("name", "states", "steps"), [("m1", 1_889, 4), ("m2", 1_737, 6)])
def test_nusmv_counts_the_same_states(name: str, states: int, steps: int, tmp_path: Path) -> None:
    for fixed, answer in ((True, Answer("proved", states=states)), (False, Answer("refuted", steps=steps))):
        task = Task(PROTOCOLS[name], (2, 1, 1, 1), fixed)
        NuSmv().prepare(task, tmp_path)
        assert NuSmv().answer(task, NuSmv().run(task, tmp_path, Limits(60.0, 1 << 32))) == answer
