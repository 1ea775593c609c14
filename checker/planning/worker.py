"""An engine in a process of its own, so that two can work at a time and either can be stopped, or die.

The process is forked, so it shares the transition system with its parent; what it decides comes back as plain data: a
path as states and numbers of actions, an invariant as masks of numbered variables, a way out as numbers of actions.  A
message counts when it is whole, so whatever ends the process, nothing that it had decided is lost and nothing else is
believed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from checker.certificates.invariant import Invariant
from checker.certificates.rescue import Rescue
from checker.engines.engine import (
    Bounded,
    Budget,
    Coverage,
    Engine,
    FewRounds,
    Inductive,
    Lasso,
    Outcome,
    Path,
    Progress,
    Reached,
    Undecided,
)
from checker.liveness.counting import counting_system
from checker.logic.formula import Op, member
from checker.planning.lifeline import die_with
from checker.planning.shortage import ENGINE_SIGNAL, RAN_OUT
from checker.transition_system import Property, TransitionSystem

_PATIENCE = 5.0
"""Seconds for a process that has closed its connection to end."""


def can_fork() -> bool:
    """Whether this system has processes of this kind."""
    return "fork" in multiprocessing.get_all_start_methods()


@dataclass(frozen=True)
class Decided:
    target: Property
    outcome: Outcome


@dataclass(frozen=True)
class Ended:
    """The last message.  reason: why the engine stopped early; None when it came to its end.  detail: the traceback of
    an exception that it must not raise."""

    reason: str | None
    detail: str | None = None


Message = Decided | Progress | Ended


class Worker:
    """A running engine.  `messages` gives what it has reported since the last call."""

    def __init__(
        self,
        name: str,
        make: Callable[[], Engine],
        system: TransitionSystem,
        targets: Sequence[Property],
        budget: Budget,
    ) -> None:
        self.name = name
        self.targets = tuple(targets)
        self._system = system
        context: Any = multiprocessing.get_context("fork")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_work, args=(make, system, self.targets, budget, theirs, os.getpid()), daemon=True
        )
        self._process.start()
        theirs.close()
        self.ended = False

    @property
    def pid(self) -> int:
        """The number of the process."""
        number = self._process.pid
        assert isinstance(number, int)
        return number

    def messages(self, seconds: float = 0.0) -> Iterator[Message]:
        """What has come in; waits for the first at most so long.  `Ended` is the last, however the process ended."""
        while not self.ended and self._connection.poll(seconds):
            seconds = 0.0
            try:
                kind, *content = self._connection.recv()
                message = self._read(kind, content)
            except (EOFError, OSError):
                yield self._died()
                return
            except Exception as error:
                self.ended = True
                yield Ended(f"what it sent cannot be read ({type(error).__name__}: {error})", traceback.format_exc())
                return
            if isinstance(message, Ended):
                self.ended = True
            yield message

    def stop(self) -> None:
        """Ends the process at once."""
        self.ended = True
        if self._process.is_alive():
            self._process.kill()
        self._process.join(_PATIENCE)
        self._connection.close()

    def _read(self, kind: str, content: list[Any]) -> Message:
        if kind == "decided":
            number, data = content
            target = self.targets[number]
            return Decided(target, unpack(self._system, data, target))
        if kind == "progress":
            return Progress(*content)
        return Ended(*content)

    def _died(self) -> Ended:
        self.ended = True
        self._process.join(_PATIENCE)
        if self._process.exitcode == -ENGINE_SIGNAL:
            return Ended(RAN_OUT)
        return Ended(f"its process {ending_of(self._process.exitcode)}")


def wait_for(workers: Sequence[Worker], seconds: float) -> None:
    """Until one of the workers has something to say, at most so long."""
    running = [worker._connection for worker in workers if not worker.ended]
    if running:
        wait(running, seconds)


def ending_of(code: int | None) -> str:
    """How a process ended, from what multiprocessing knows as its exit code."""
    if code is not None and code < 0:
        return f"was ended by signal {-code} ({_signal_name(-code)})"
    return f"ended early (exit code {code})"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


# ---------------------------------------------------------------------------------------------- in the new process


class _Sender:
    """A reporter that sends."""

    def __init__(self, system: TransitionSystem, targets: Sequence[Property], connection: Connection) -> None:
        self._system = system
        self._targets = targets
        self._connection = connection

    def progress(self, progress: Progress) -> None:
        self._send("progress", progress.engine, progress.depth, progress.states, progress.rate)

    def decided(self, target: Property, outcome: Outcome) -> None:
        number = next(number for number, each in enumerate(self._targets) if each is target)
        self._send("decided", number, pack(self._system, outcome))

    def covered(self, coverage: Coverage) -> None:
        return

    def _send(self, *message: object) -> None:
        self._connection.send(message)


def _work(
    make: Callable[[], Engine],
    system: TransitionSystem,
    targets: Sequence[Property],
    budget: Budget,
    connection: Connection,
    parent: int,
) -> None:
    # An interrupt from the terminal reaches both processes; what becomes of this one is for the parent to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(ENGINE_SIGNAL, signal.SIG_DFL)
    die_with(parent)
    last: tuple[object, ...]
    try:
        make().run(system, targets, budget, _Sender(system, targets, connection))
        last = ("ended", None)
    except MemoryError:
        last = ("ended", "out of memory")
    except BaseException as error:
        last = ("ended", f"it stopped with {type(error).__name__}: {error}", traceback.format_exc())
    with contextlib.suppress(OSError):
        connection.send(last)


# ------------------------------------------------------------------------------------------------------ plain data


def pack(system: TransitionSystem, outcome: Outcome) -> tuple[object, ...]:
    """The outcome as data that means the same in another process.  Raises TypeError for a closed set, which is too
    large to be sent."""
    match outcome:
        case Reached(path=path, shortest=shortest):
            return ("reached", path.states, tuple(action.index for action in path.actions), shortest)
        case Inductive(invariant=invariant, frames=frames, rescues=rescues):
            ways = tuple(tuple(action.index for action in rescue.actions) for rescue in rescues)
            return ("inductive", _cubes(invariant), frames, ways)
        case Lasso(path=path, loop=loop, case=case, shortest=shortest):
            return ("lasso", path.states, tuple(action.index for action in path.actions), loop, case, shortest)
        case FewRounds(rounds=rounds, invariants=invariants, frames=frames):
            return ("few rounds", rounds, tuple(map(_cubes, invariants)), frames)
        case Bounded(depth=depth, reason=reason):
            return ("bounded", depth, reason)
        case Undecided(reason=reason):
            return ("undecided", reason)
        case _:
            raise TypeError(f"{type(outcome).__name__} cannot be sent")


_Cubes = tuple[tuple[tuple[str, int], ...], ...]


def _cubes(invariant: Invariant) -> _Cubes:
    """Each literal as the name of its variable and its mask."""
    cubes = []
    for cube in invariant.cubes:
        literals = []
        for literal in cube:
            assert literal.op is Op.IN
            assert literal.variable is not None
            assert not literal.primed
            literals.append((literal.variable.name, literal.mask))
        cubes.append(tuple(literals))
    return tuple(cubes)


def _invariant(system: TransitionSystem, cubes: _Cubes) -> Invariant:
    named = {variable.name: variable for variable in system.variables}
    return Invariant(tuple(tuple(member(named[name], mask) for name, mask in cube) for cube in cubes))


def unpack(system: TransitionSystem, data: tuple[Any, ...], target: Property) -> Outcome:
    """The outcome for the property that `pack` made data of."""
    kind, *content = data
    if kind == "reached":
        states, numbers, shortest = content
        return Reached(Path(states, tuple(system.actions[number] for number in numbers)), shortest)
    if kind == "inductive":
        cubes, frames, ways = content
        rescues = tuple(Rescue(tuple(system.actions[number] for number in way)) for way in ways)
        return Inductive(_invariant(system, cubes), frames, rescues)
    if kind == "lasso":
        states, numbers, loop, case, shortest = content
        return Lasso(Path(states, tuple(system.actions[number] for number in numbers)), loop, case, shortest)
    if kind == "few rounds":
        rounds, invariants, frames = content
        parts = zip(target.cases, rounds, invariants, strict=True)
        found = (_invariant(counting_system(system, case, most).system, cubes) for case, most, cubes in parts)
        return FewRounds(rounds, tuple(found), frames)
    if kind == "bounded":
        return Bounded(*content)
    return Undecided(*content)


__all__ = ["Decided", "Ended", "Message", "Worker", "can_fork", "ending_of", "pack", "unpack", "wait_for"]
