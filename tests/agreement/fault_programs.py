"""Random small programs whose properties turn on which faults strike.

A task writes to up to three stores and notes in ghosts which writes failed and how; the properties combine the notes.
So minimal fault sets of several classes, and several of them for one property, are common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

_CATCHES = ("", " refused", " unknown", " unknown", " refused, unknown")
_FORMS = ("invariant", "invariant", "at rest", "recoverable", "step invariant")


@dataclass
class FaultProgram:
    """pick: draws an index below its argument; everything random comes from it."""

    pick: Callable[[int], int]

    def one(self, options: Sequence[T]) -> T:
        return options[self.pick(len(options))]

    def text(self) -> str:
        self.stores = ("s0", "s1", "s2")[: 1 + self.pick(3)]
        lines: list[str] = []
        for store in self.stores:
            lines += [f"store {store} {{", f"  {self.one(('durable', 'durable', 'volatile'))} x: 0..2", "}"]
        lines += [f"ghost g{note}: bool" for note in range(3)]
        lines += ["process P {", f"  {self.one(('task', 'task', 'loop'))} go {{"]
        for note in range(3):
            lines += self.attempt(note)
        lines += ["  }", "}"]
        if self.pick(3) == 0:
            lines += ["process Q {", "  task other {", f"    {self.one(self.stores)}.x := 2", "  }", "}"]
        lines += ["faults {", *(f"  {fault}" for fault in self.faults()), "}"]
        lines += [self.property(number) for number in range(3)]
        return "\n".join(lines) + "\n"

    def attempt(self, note: int) -> list[str]:
        store = self.one(self.stores)
        write = self.one((f"{store}.x := 1", f"{store}.x := 2", f"{store}.x := (({store}.x + 1) % 3)"))
        mark = f"g{note} := {self.one(('true', 'true', 'true', 'not g0'))}"
        caught = self.one(_CATCHES)
        retry = self.pick(3) == 0
        body = [f"      retry 1 {{ {write} }}"] if retry else [f"      {write}"]
        return ["    try {", *body, f"    }} catch{caught} {{", f"      {mark}", "    }"]

    def faults(self) -> list[str]:
        classes = [f"crash {store}" for store in self.stores]
        classes += [f"{kind} P -- {store}" for kind in ("lose", "partition", "duplicate") for store in self.stores]
        classes.append(self.one(("crash P", "crash P without restart")))
        chosen: dict[str, None] = {}
        for _ in range(2 + self.pick(3)):
            chosen[self.one(classes)] = None
        return list(chosen)

    def property(self, number: int) -> str:
        form = self.one(_FORMS)
        condition = self.condition()
        if form == "step invariant":
            condition = f"{condition} or {self.prime()}"
        return f"{form} p{number}: {condition}"

    def condition(self) -> str:
        parts = [self.literal() for _ in range(1 + self.pick(3))]
        return "not (" + f" {self.one(('and', 'and', 'or'))} ".join(parts) + ")"

    def literal(self) -> str:
        return self.one(("g0", "g1", "g2", f"{self.one(self.stores)}.x == {self.pick(3)}"))

    def prime(self) -> str:
        return self.one(("g0'", "not g1'", "g2'", f"{self.one(self.stores)}.x' != 0"))
