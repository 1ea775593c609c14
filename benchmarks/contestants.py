"""The tools that the harness runs, and what they say: Counterpoint's engines, and its peers where they are installed.

Each peer has models of its own in `benchmarks/peers/`, action by action the same as `benchmarks/*.cpt`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.aiger import Circuit, system_of
from benchmarks.measure import Limits, Usage, run_all

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Benchmark:
    """A benchmark protocol.

    name        of its model files
    parameters  names of the constants that a size sets, in order
    switch      for peers: the constant that chooses the fixed design
    variants    of the model: the fixed one, the broken one
    properties  of the model; the one that the broken variant refutes comes first
    spin_start  transitions of SPIN's first process, besides one for each process that it starts
    """

    name: str
    parameters: tuple[str, ...]
    switch: str
    variants: tuple[str, str]
    properties: tuple[str, ...]
    spin_start: int


PROTOCOLS = {
    "m1": Benchmark(
        "m1_start",
        ("WORKFLOWS", "SERVERS", "WORKERS", "CRASHES"),
        "RESCAN",
        ("fixed", "lost"),
        ("none_abandoned", "acknowledged_is_kept"),
        0,
    ),
    "m2": Benchmark(
        "m2_retry",
        ("WORKFLOWS", "SWEEPERS", "WORKERS", "FAILURES"),
        "ABORT",
        ("fixed", "ignored"),
        ("completed_was_executed",),
        1,
    ),
}


@dataclass(frozen=True)
class Task:
    """One question: does the protocol of this size, fixed or broken, keep its properties?"""

    protocol: Benchmark
    size: tuple[int, ...]
    fixed: bool

    @property
    def constants(self) -> Mapping[str, int]:
        return dict(zip(self.protocol.parameters, self.size, strict=True))

    @property
    def right(self) -> str:
        return "proved" if self.fixed else "refuted"


@dataclass(frozen=True)
class Answer:
    """verdict  `proved`, `refuted` or something else that is no verdict
    steps    of the counterexample
    states   reachable states, where the tool counts them all: not up to symmetry, and without an extra one
    """

    verdict: str
    steps: int | None = None
    states: int | None = None


class Contestant(Protocol):
    @property
    def name(self) -> str: ...
    def missing(self) -> str | None:
        """The program that is not installed."""
        ...

    def prepare(self, task: Task, folder: Path) -> None:
        """Writes the files that the commands need; its time does not count."""
        ...

    def run(self, task: Task, folder: Path, limits: Limits) -> Usage: ...
    def answer(self, task: Task, usage: Usage) -> Answer: ...


@dataclass(frozen=True)
class Counterpoint:
    """`counterpoint check` as a whole process, with what it re-checks."""

    engine: str
    symmetry: bool = True

    @property
    def name(self) -> str:
        return f"counterpoint {self.engine}" + ("" if self.symmetry else ", no symmetry")

    def missing(self) -> str | None:
        return None

    def prepare(self, task: Task, folder: Path) -> None:
        pass

    def run(self, task: Task, folder: Path, limits: Limits) -> Usage:
        model = str(HERE / f"{task.protocol.name}.cpt")
        command = [sys.executable, "-m", "checker.cli", "check", model, "--json", "--engine", self.engine]
        command += ["--variant", task.protocol.variants[0 if task.fixed else 1]]
        command += ["--timeout", str(limits.seconds), "--states", "1000000000"]
        for name, value in task.constants.items():
            command += ["-D", f"{name}={value}"]
        if not task.fixed:
            command += ["--property", task.protocol.properties[0]]
        if not self.symmetry:
            command.append("--no-symmetry")
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        return run_all([command], folder, limits, environment)

    def answer(self, task: Task, usage: Usage) -> Answer:
        start, end = usage.output.find("{"), usage.output.rfind("}")
        try:
            report = json.loads(usage.output[start : end + 1])
            found = report["models"][0]["variants"][0]["properties"]
        except (ValueError, LookupError):
            return Answer(_last_line(usage.output))
        verdicts = {each["name"]: each for each in found}
        if task.fixed:
            wanted = [verdicts[name] for name in (*task.protocol.properties, "model_errors")]
            if any(each["verdict"] != "proved" for each in wanted):
                return Answer("; ".join(sorted({str(each["verdict"]) for each in wanted})))
            states = wanted[0]["evidence"].get("states")
            symmetric = wanted[0]["evidence"].get("symmetric", True)
            return Answer("proved", states=None if symmetric else states)
        refuted = verdicts[task.protocol.properties[0]]
        if refuted["verdict"] != "refuted":
            return Answer(str(refuted["verdict"]))
        return Answer("refuted", steps=len(refuted["evidence"]["trace"]["steps"]))


@dataclass(frozen=True)
class Spin:
    """SPIN: the verifier is generated and compiled, both of which count.  Proofs search depth first, and so does the
    first way to a counterexample; the second searches breadth first, and its counterexample is a shortest one."""

    breadth_first: bool = False

    @property
    def name(self) -> str:
        return "spin breadth-first" if self.breadth_first else "spin"

    def missing(self) -> str | None:
        return _missing("spin", "gcc")

    def prepare(self, task: Task, folder: Path) -> None:
        shutil.copy(HERE / "peers" / f"{task.protocol.name}.pml", folder / "model.pml")

    def run(self, task: Task, folder: Path, limits: Limits) -> Usage:
        defined = [f"-D{name}={value}" for name, value in task.constants.items()]
        if task.fixed:
            defined.append(f"-D{task.protocol.switch}")
        search = ["-DBFS"] if self.breadth_first else []
        compiler = ["gcc", "-O2", "-DSAFETY", f"-DMEMLIM={limits.memory >> 20}", *search, "-o", "pan", "pan.c"]
        commands = [["spin", "-a", "-o2", *defined, "model.pml"], compiler, ["./pan", "-m100000", "-w24", "-E"]]
        return run_all(commands, folder, limits)

    def answer(self, task: Task, usage: Usage) -> Answer:
        errors = re.search(r"errors: (\d+)", usage.output)
        if errors is None or "out of memory" in usage.output or "max search depth too small" in usage.output:
            return Answer(_last_line(usage.output))
        if int(errors[1]):
            depth = re.search(r"at depth (\d+)", usage.output)
            start = task.protocol.spin_start + task.size[1] + task.size[2]
            return Answer("refuted", steps=int(depth[1]) - start if depth else None)
        stored = re.search(r"(\d+) states, stored", usage.output)
        # one more state: that before the processes are started
        return Answer("proved", states=int(stored[1]) - 1 if stored else None)


@dataclass(frozen=True)
class Rumur:
    """Rumur (Murphi) with symmetry reduction and two threads: generated, compiled, run."""

    @property
    def name(self) -> str:
        return "rumur"

    def missing(self) -> str | None:
        return _missing("rumur", "gcc")

    def prepare(self, task: Task, folder: Path) -> None:
        text = (HERE / "peers" / f"{task.protocol.name}.m").read_text()
        for name, value in {**task.constants, task.protocol.switch: int(task.fixed)}.items():
            text = re.sub(rf"\b{name}: \d+;", f"{name}: {value};", text, count=1)
        (folder / "model.m").write_text(text)

    def run(self, task: Task, folder: Path, limits: Limits) -> Usage:
        generate = ["rumur", "--deadlock-detection", "off", "--threads", "2", "--output-format", "machine-readable"]
        compiler = ["gcc", "-O3", "-march=native", "-o", "checker", "model.c", "-lpthread", "-mcx16"]
        return run_all([[*generate, "-o", "model.c", "model.m"], compiler, ["./checker"]], folder, limits)

    def answer(self, task: Task, usage: Usage) -> Answer:
        summary = re.search(r'<summary .*?errors="(\d+)"', usage.output)
        if summary is None:
            return Answer(_last_line(usage.output))
        if int(summary[1]):
            # the first rule of a trace is the start state
            return Answer("refuted", steps=usage.output.count("<transition>") - 1)
        return Answer("proved")


@dataclass(frozen=True)
class Abc:
    """ABC on the circuits that `benchmarks.aiger` makes of our own transition systems: `pdr` for proofs, `bmc3` for
    counterexamples.  Its translation does not count; ours does, so this is the hardest peer."""

    @property
    def name(self) -> str:
        return "abc"

    def missing(self) -> str | None:
        return _missing("berkeley-abc")

    def prepare(self, task: Task, folder: Path) -> None:
        model = HERE / f"{task.protocol.name}.cpt"
        constants = {name: str(value) for name, value in task.constants.items()}
        system = system_of(model, task.protocol.variants[0 if task.fixed else 1], constants)
        for name in task.protocol.properties:
            target = next(each for each in system.properties if each.name == name)
            Circuit(system, target).write(folder / f"{name}.aig")

    def run(self, task: Task, folder: Path, limits: Limits) -> Usage:
        names = task.protocol.properties if task.fixed else task.protocol.properties[:1]
        how = "fold; pdr" if task.fixed else "bmc3"
        commands = [["berkeley-abc", "-c", f"read_aiger {name}.aig; {how}"] for name in reversed(names)]
        return run_all(commands, folder, limits)

    def answer(self, task: Task, usage: Usage) -> Answer:
        frame = re.search(r"was asserted in frame (\d+)", usage.output)
        if frame is not None:
            return Answer("refuted", steps=int(frame[1]))
        return Answer("proved" if "Property proved" in usage.output else _last_line(usage.output))


@dataclass(frozen=True)
class Tlc:
    """TLC with symmetry reduction and two workers: the jar that TLA2TOOLS names, or the program `tlc`."""

    @property
    def name(self) -> str:
        return "tlc"

    def missing(self) -> str | None:
        if "TLA2TOOLS" in os.environ:
            return _missing("java") or (None if Path(os.environ["TLA2TOOLS"]).is_file() else os.environ["TLA2TOOLS"])
        return _missing("tlc")

    def prepare(self, task: Task, folder: Path) -> None:
        name = task.protocol.name
        shutil.copy(HERE / "peers" / f"{name}.tla", folder)
        lines = [(HERE / "peers" / f"{name}.cfg").read_text(), "CONSTANTS", "None = None"]
        for parameter, value in task.constants.items():
            if parameter == task.protocol.parameters[-1]:
                lines.append(f"{parameter} = {value}")
            else:
                # Model values, which TLC may permute: no two sets may share one.
                members = ", ".join(f"{parameter.lower()}{number}" for number in range(value))
                lines.append(f"{parameter.capitalize()} = {{{members}}}")
        lines.append(f"{task.protocol.switch} = {str(task.fixed).upper()}")
        (folder / f"{name}.cfg").write_text("\n".join(lines) + "\n")

    def run(self, task: Task, folder: Path, limits: Limits) -> Usage:
        program = ["tlc"]
        if "TLA2TOOLS" in os.environ:
            # Java reserves more than its heap, and all of it counts.
            memory = [f"-Xmx{limits.memory * 3 // 4 >> 20}m", "-XX:CompressedClassSpaceSize=64m"]
            program = ["java", "-XX:+UseParallelGC", *memory, "-cp", os.environ["TLA2TOOLS"], "tlc2.TLC"]
        return run_all([[*program, "-deadlock", "-workers", "2", task.protocol.name]], folder, limits)

    def answer(self, task: Task, usage: Usage) -> Answer:
        if re.search(r"Invariant \w+ is violated", usage.output):
            # the first state of a trace is the initial one
            return Answer("refuted", steps=len(re.findall(r"^State \d+:", usage.output, re.MULTILINE)) - 1)
        if "No error has been found" in usage.output:
            return Answer("proved")
        return Answer(_last_line(usage.output))


@dataclass(frozen=True)
class NuSmv:
    """NuSMV, or nuXmv: reachable states as decision diagrams, with dynamic reordering of the variables."""

    @property
    def name(self) -> str:
        return "nusmv"

    @property
    def program(self) -> str:
        return next((name for name in ("NuSMV", "nuXmv", "nuxmv") if shutil.which(name)), "NuSMV")

    def missing(self) -> str | None:
        return _missing(self.program, "cpp")

    def prepare(self, task: Task, folder: Path) -> None:
        shutil.copy(HERE / "peers" / f"{task.protocol.name}.smv", folder / "source.smv")

    def run(self, task: Task, folder: Path, limits: Limits) -> Usage:
        constants = {**task.constants, task.protocol.switch: int(task.fixed)}
        defined = [f"-D{name}={value}" for name, value in constants.items()]
        count = ["-r"] if task.fixed else []
        commands = [["cpp", "-P", *defined, "source.smv", "model.smv"], [self.program, "-dynamic", *count, "model.smv"]]
        return run_all(commands, folder, limits)

    def answer(self, task: Task, usage: Usage) -> Answer:
        if re.search(r"^-- invariant .* is false$", usage.output, re.MULTILINE):
            # the first state of a trace is the initial one
            return Answer("refuted", steps=usage.output.count("-> State: ") - 1)
        if len(re.findall(r"^-- invariant .* is true$", usage.output, re.MULTILINE)) == len(task.protocol.properties):
            states = re.search(r"reachable states: (\d+) ", usage.output)
            return Answer("proved", states=int(states[1]) if states else None)
        return Answer(_last_line(usage.output))


CONTESTANTS: Mapping[str, Callable[[Task], Sequence[Contestant]]] = {
    "spin": lambda task: [Spin()] if task.fixed else [Spin(), Spin(breadth_first=True)],
    "rumur": lambda task: [Rumur()],
    "abc": lambda task: [Abc()],
    "tlc": lambda task: [Tlc()],
    "nusmv": lambda task: [NuSmv()],
}
"""The peers by the names that `--peers` takes."""


def _missing(*programs: str) -> str | None:
    return next((program for program in programs if shutil.which(program) is None), None)


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return f"no verdict: {lines[-1].strip()[:60]}" if lines else "no verdict"
