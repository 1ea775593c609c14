"""Random programs in which threads wait a lot: for values, locks, items, places and ids, first or in the middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

KINDS = ("task", "loop")


@dataclass
class WaitingProgram:
    """pick: draws an index below its argument; everything random comes from it."""

    pick: Callable[[int], int]
    names: int = 0
    may_call: bool = False

    def one(self, options: Sequence[T]) -> T:
        return options[self.pick(len(options))]

    def chance(self, percent: int) -> bool:
        return self.pick(100) >= 100 - percent

    def text(self) -> str:
        lease = " lease" if self.chance(40) else ""
        second = self.chance(60)
        lines = [
            "enum Item { A, B }",
            "ids Id[1]",
            "store db {",
            "  durable n: 0..1",
            f"  durable lock a{lease}",
            "  durable lock b",
            "  durable queue q: Item",
            "}",
            f"process P[{self.one([1, 1, 2])}] {{",
        ]
        self.may_call = False
        lines += ["  on h() {", *self.block(1 + self.pick(2), 1), "  }"]
        lines += ["  on request() {", *self.block(1 + self.pick(2), 1), "  }"] if self.chance(25) else []
        lines += [f"  {self.one(KINDS)} own {{", *self.block(1 + self.pick(3), 1), "  }"] if self.chance(60) else []
        lines += ["}", "process C {"]
        self.may_call = True
        lines += [f"  {self.one(KINDS)} first {{", *self.calling(), "  }"]
        lines += [f"  {self.one(KINDS)} second {{", *self.block(1 + self.pick(3), 1), "  }"] if second else []
        lines += ["}"]
        classes = [f for f in ("crash P", "crash C", "crash db", "partition C -- P") if self.chance(15)]
        lines += ["faults {", *classes, "}"] if classes else []
        lines += ["cover reached: db.n == 1 or db.q.size == 1 or db.a.held()"]
        return "\n".join(lines) + "\n"

    def calling(self) -> list[str]:
        """What a thread does that calls the handler, first or later."""
        before = self.block(self.pick(2), 1)
        return [*before, f"call P.h(){self.allowed()}", *self.block(self.pick(2), 1)]

    def allowed(self) -> str:
        return " blocks ok" if self.chance(12) else ""

    def block(self, size: int, depth: int) -> list[str]:
        return [line for _ in range(size) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        self.names += 1
        x, k, lock = f"x{self.names}", self.pick(2), self.one(["a", "b"])
        plain = [
            [f"db.n := {k}"],
            [f"await db.n == {k}{self.allowed()}"],
            [f"await db.{lock}.acquire(){self.allowed()}"],
            [f"await db.{lock}.acquire()", f"db.n := {k}", f"db.{lock}.release()"],
            [f"db.{lock}.release()"],
            [f"db.q.push({self.one(['A', 'B'])})"],
            [f"let {x} = db.q.pop(){self.allowed()}"],
            [f"let {x} = db.q.take(){self.allowed()}", f"db.q.ack({x})"],
            [f'step "{x}" {{ await db.n == {k}; db.n := {1 - k} }}{self.allowed()}'],
            [f'step "{x}" {{ await db.{lock}.acquire(); db.n := {k} }}{self.allowed()}'],
            [f"let {x} = any Item where db.q.contains({x}){self.allowed()}"],
            [f"let {x} = fresh Id", f"let y{x} = {x}"],
            [f"let {x} = {k}", f"await {x} == {self.pick(2)}"],
        ]
        if self.may_call:
            plain += [[f"call P.h(){self.allowed()}"], ["send P.h()"]]
        if depth == 0 or self.chance(65):
            return self.one(plain)

        def inner() -> list[str]:
            return self.block(1, depth - 1)

        nested = [
            lambda: ["either {", *inner(), "} or {", *inner(), "}"],
            lambda: ["while true {", *inner(), *inner(), "}"],
            lambda: ["retry 1 {", "either { fail } or {", *inner(), "}", "}"],
            lambda: ["try {", *inner(), "fail", "} catch failed {", *inner(), "} catch {", *inner(), "}"],
            lambda: [f"if db.n == {k} {{", *inner(), "}"],
            lambda: [f"let {x} = {{A, B}}", f"for y{x} in {x} {{", *inner(), "}"],
        ]
        return self.one(nested)()
