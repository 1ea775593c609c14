"""Random small programs in which much depends on fairness: loops that wait for each other's values, for a lock or for
an item, and whose recoveries matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass
class LiveProgram:
    """pick: draws an index below its argument; everything random comes from it."""

    pick: Callable[[int], int]
    names: int = 0

    def one(self, options: Sequence[T]) -> T:
        return options[self.pick(len(options))]

    def chance(self, percent: int) -> bool:
        """True with this probability; shrinks to False."""
        return self.pick(100) >= 100 - percent

    def text(self) -> str:
        self.lease = self.one(["", " lease"])
        queue = self.one(["", "", " fifo(2)", " bag(2)"]) + (" redelivers" if self.chance(20) else "")
        self.instances = self.one([1, 1, 2])
        lines = [
            "ids W[2]",
            "store db {",
            "  durable n: 0..2",
            "  durable up: bool",
            f"  {self.one(['durable', 'volatile'])} done: W -> bool",
            f"  durable queue q: W{queue}",
            f"  durable lock guard{self.lease}",
            "}",
            f"process P[{self.instances}] {{",
        ]
        for name in ("a", "b", "c")[: 2 + self.pick(2) if self.instances == 1 else 1]:
            lines += [f"  {self.fair()} {self.one(['loop', 'loop', 'task'])} {name} {{", *self.body(name), "  }"]
        if self.chance(40):
            lines += [f"  {self.fair()} on ask(w: fresh W) {{ db.q.push(w) }}"]
        else:
            lines += ["  task fill { let w = any W; db.q.push(w) }"]
        self.body_text = "\n".join(lines)
        lines += ["}", *self.faults()]
        return "\n".join([*lines, *(f"live p{number}: {self.claim()}" for number in range(1 + self.pick(3)))]) + "\n"

    def fair(self) -> str:
        return self.one(["", "", "strongly fair", "unfair"])

    def body(self, name: str) -> list[str]:
        return [line for _ in range(1 + self.pick(2)) for line in self.one(self.statements)(self, name)]

    def flip(self, name: str) -> list[str]:
        return ["db.up := not db.up"]

    def wait(self, name: str) -> list[str]:
        return [f"await {self.one(['db.up', 'not db.up', 'db.n > 0', 'db.n == 1', 'db.n < 2'])}"]

    def count(self, name: str) -> list[str]:
        return [
            self.one(["db.n := 0", "db.n := 1", "db.n := (db.n + 1) % 3", "update db.n where db.n < 2 := db.n + 1"])
        ]

    def take(self, name: str) -> list[str]:
        verb = self.one(["ack", "nack", "push"])
        self.names += 1
        w = f"w{self.names}"
        return [f"let {w} = db.q.take()", f"db.done[{w}] := true", f"db.q.{verb}({w})"]

    def choose(self, name: str) -> list[str]:
        return ["either {", *self.count(name), "} or {", *self.flip(name), "}"]

    def lock(self, name: str) -> list[str]:
        inner = self.one([self.flip, self.count])(name)
        if self.chance(30):
            return ["if db.guard.acquire() {", *inner, "db.guard.release()", "}"]
        return ["await db.guard.acquire()", *inner, *(["db.guard.release()"] if self.chance(70) else [])]

    def step(self, name: str) -> list[str]:
        return [f'step "{name}" {{', *self.wait(name), *self.count(name), "}"]

    statements = (flip, wait, count, take, choose, lock, step)

    def faults(self) -> list[str]:
        classes = [
            self.one([f"crash P {self.fair()}", "crash P without restart"]),
            f"crash db {self.fair()}",
            f"partition P -- db {self.fair()}",
            "lose P -- db",
            *(["expire db.guard"] if self.lease else []),
        ]
        chosen = {self.one(classes) for _ in range(self.one([0, 0, 1, 1, 2]))}
        return ["faults {", *sorted(chosen), "}"] if chosen else []

    def written(self, atom: str) -> bool:
        """Whether some statement writes what the atom reads, as far as its text tells."""
        written = {"db.up": "db.up :=", "db.n": "db.n :=", "db.done": "db.done[", "db.q": "db.q."}
        return any(verb in self.body_text for variable, verb in written.items() if variable in atom)

    def claim(self) -> str:
        states = ["db.up", "not db.up", "db.n == 0", "db.n == 1", "db.n == 2", "db.q.size == 0"]
        keyed = [*states, "db.done[w]", "db.q.contains(w)", "not db.q.visible(w)", "db.done[w] and db.n == 1"]
        states, keyed = ([atom for atom in atoms if self.written(atom)] for atoms in (states, keyed))
        shape = self.one(["~>", "~>", "eventually", "always eventually", "eventually always"])
        if shape == "~>":
            return f"forall w: W. {self.one(keyed)} ~> {self.one(keyed)}"
        if self.chance(50):
            return f"forall w: W. {shape} {self.one(keyed)}"
        return f"{shape} {self.one(states)}"
