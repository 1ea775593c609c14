"""Random small programs in the language itself.

Every program is well typed, has a small state space, and mixes what the language has: rows, queues, locks, calls,
one-step blocks, choices, failures and their handlers, faults.  Choices are drawn from simple to rich, so that a failing
program shrinks to a readable one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

STATUS = "Status"
WORK = "Work"
NUMBER = "Number"
BOOL = "bool"


@dataclass
class Program:
    """pick: draws an index below its argument; everything random comes from it.  live: the properties are `live` ones,
    and threads and fault classes say how fair they are."""

    pick: Callable[[int], int]
    live: bool = False
    names: int = 0
    locals: list[tuple[str, str]] = field(default_factory=list)
    in_server: bool = False

    # ------------------------------------------------------------------------------------------------- draws

    def one(self, options: Sequence[T]) -> T:
        return options[self.pick(len(options))]

    def chance(self, percent: int) -> bool:
        """True with this probability; shrinks to False."""
        return self.pick(100) >= 100 - percent

    def durable(self) -> str:
        return self.one(["durable", "durable", "volatile"])

    def name(self) -> str:
        self.names += 1
        return f"x{self.names}"

    # ------------------------------------------------------------------------------------------------- model

    def text(self) -> str:
        self.work = self.one([1, 1, 1, 2])
        self.servers = self.one([1, 1, 2])
        self.queue_kind = self.one(["", "", " bag(2)", " fifo(2)"])
        self.redelivers = " redelivers" if self.chance(15) else ""
        self.lease = " lease" if self.chance(50) else ""
        self.fencing = " fencing(2)" if self.chance(25) else ""
        self.has_handler = self.chance(50)
        self.second_store = self.chance(40)
        lines = [
            "enum Status { A, B, C }",
            f"ids Work[{self.work}]",
            "type Number = 0..1",
            "record Task { status: Status, mark: bool }",
            "store db {",
            f"  {self.durable()} row: Work -> Status?",
            f"  {self.durable()} task: Work -> Task?",
            f"  {self.durable()} count: Number",
            f"  {self.durable()} queue todo: Work{self.queue_kind}{self.redelivers}",
            f"  {self.durable()} lock guard{self.one(['', ': Work'])}{self.lease}{self.fencing}",
            "}",
        ]
        self.keyed_lock = "guard: Work" in lines[-2]
        self.rich = self.chance(35)
        if self.rich:
            lines += [
                "record Big { a: Number, b: Number, c: 0..3, who: Work?, s: Status }",
                "store ex {",
                f"  {self.durable()} holder: Server?",
                f"  {self.durable()} group: set of Work",
                f"  {self.durable()} big: Work -> Big?",
                f"  {self.durable()} pair: (Work, Number) -> bool",
                f"  {self.durable()} jobs_left: Number = 1",
                f"  {self.durable()} queue jobs: (Work, Number){self.one(['', ' bag(1)', ' fifo(2)'])}",
                "}",
            ]
        if self.second_store:
            lines += [
                "store kv {",
                f"  {self.durable()} flag: Work -> bool",
                f"  {self.durable()} queue out: Work",
                "}",
            ]
        lines += ["ghost seen: Work -> bool"]
        lines += [f"process Server[{self.servers}] {{", "  volatile local: Number"]
        self.in_server = True
        if self.has_handler:
            places = " [2]" if self.chance(20) else ""
            lines += [f"  {self.fair()} on handle(w: Work): Status{places} {{"]
            self.locals = [("w", WORK)]
            lines += self.block(1 + self.pick(2), 2, called=True)
            lines += [f"    return {self.expression(STATUS, 1, pure=True)}", "  }"]
        lines += [f"  {self.fair()} on start(w: {'fresh ' if self.chance(60) else ''}Work) {{"]
        self.locals = [("w", WORK)]
        lines += ["db.row[w] := A"] if self.chance(60) else []
        lines += ["db.todo.push(w)"] if self.chance(60) else []
        lines += [*self.block(1 + self.pick(3), 2), "  }"]
        if self.chance(70):
            lines += [f"  {self.fair()} loop sweep {{"]
            self.locals = []
            lines += [*self.block(1 + self.pick(3), 2, begin=True), "  }"]
        lines += ["}"]
        self.in_server = False
        self.client = self.has_handler or self.chance(30)
        if self.client:
            kind = self.one(["task", "loop"])
            lines += ["process Client[1] {", f"  {self.fair()} {kind} work {{"]
            self.locals = []
            if self.has_handler:
                lines += self.calling()
            lines += self.block(self.pick(2) + (0 if self.has_handler else 1), 2)
            lines += ["  }", "}"]
        self.body = "\n".join(lines)
        lines += self.faults()
        lines += self.properties()
        return "\n".join(lines) + "\n"

    def fair(self) -> str:
        """What a thread or recovery may say of its fairness."""
        return self.one(["", "", "strongly fair", "unfair"]) if self.live else ""

    def faults(self) -> list[str]:
        classes = ["crash Server", "crash db", "partition Server -- db", "lose Server -- db", "duplicate Server -- db"]
        if self.lease:
            classes.append("expire db.guard")
        if self.rich:
            classes += ["crash ex", "duplicate Server -- ex", "lose Server -- ex"]
        if self.second_store:
            classes += ["crash kv", "partition Server -- kv"]
        if self.has_handler:
            classes += ["partition Client -- Server", "lose Client -- Server", "duplicate Client -- Server"]
        if self.client:
            classes += ["crash Client"]
        chosen = []
        for _ in range(self.one([0, 1, 1, 2, 2, 3])):
            fault = self.one(classes)
            if fault not in chosen:
                chosen.append(fault)
        if not chosen:
            return []
        if self.chance(10):
            chosen = [f + " without restart" if f.startswith("crash") else f for f in chosen]
        recovers = ("crash", "partition")
        chosen = [f if "without" in f or not f.startswith(recovers) else f"{f} {self.fair()}".rstrip() for f in chosen]
        return ["faults {", *(f"  {fault}" for fault in chosen), "}"]

    def properties(self) -> list[str]:
        if self.live:
            return [f"live p{number}: {self.live_claim()}" for number in range(1 + self.pick(3))]
        lines = []
        forms = ["invariant", "step invariant", "at rest", "recoverable", "cover"]
        for number in range(1 + self.pick(3)):
            form = forms[self.pick(len(forms))]
            lines.append(f"{form} p{number}: {self.claim(form)}")
        return lines

    def live_claim(self) -> str:
        condition = self.claim("live").removeprefix("forall w: Work. ").removeprefix("exists w: Work. ")
        shape = self.one(["~>", "~>", "eventually", "always eventually", "eventually always"])
        if shape == "~>":
            left = self.claim("live").removeprefix("forall w: Work. ").removeprefix("exists w: Work. ")
            return f"forall w: Work. ({left}) ~> ({condition})"
        if self.chance(50):
            return f"{shape} forall w: Work. {condition}"
        return f"forall w: Work. {shape} ({condition})"

    def writes(self, name: str) -> bool:
        """Whether some statement writes the variable, as far as its text tells."""
        verbs = {
            "row": r"row\[\w+\] :=|row\.(insert|delete)|update db\.row",
            "task": r"task\[\w+\](\.mark)? :=",
            "count": r"count :=",
            "todo": r"todo\.(push|pop|take|remove|ack)",
            "guard": r"guard\.acquire",
            "flag": r"flag\[\w+\] :=",
            "out": r"out\.(push|remove|ack)",
            "seen": r"seen\[\w+\] :=",
            "holder": r"holder :=",
            "group": r"group :=",
            "big": r"big\[\w+\](\.\w)? :=",
            "pair": r"pair\[\w+, \w+\] :=",
            "jobs": r"jobs\.(push|take|pop)",
        }
        return re.search(verbs[name], self.body) is not None

    def claim(self, form: str) -> str:
        w = "db.row[w]"
        atoms = [
            f"{w} != B",
            "seen[w]",
            "not seen[w]",
            f"{w} == A",
            f"{w} is none",
            "db.count == 0",
            "db.todo.contains(w)",
            "not db.todo.visible(w)",
            "db.todo.size <= 1",
            "db.task[w] is none or db.task[w].mark",
            "db.task[w] is some",
            "db.task[w].status == A",
            "(count v: Work. db.row[v] == C) == 0",
            f"not db.guard.held({'w' if self.keyed_lock else ''})",
        ]
        if self.second_store:
            atoms += ["kv.flag[w]", "kv.out.contains(w)"]
        if self.rich:
            atoms += [
                "ex.holder is none",
                "w in ex.group",
                "ex.big[w] is none or ex.big[w].c < 3",
                "ex.big[w] is none or ex.big[w].who != w",
                "ex.pair[w, 1] => ex.pair[w, 0]",
                "not ex.jobs.contains((w, 1))",
                "(forall s: Server. ex.holder == s)",
                "(exists s: Server. ex.holder == s and s == s)",
            ]
        if form == "step invariant":
            atoms = [f"{w} is some => {w}' is some", "seen[w] => seen[w]'", "db.count == db.count'", f"{w}' != C"]
        names = re.compile(r"\b(row|task|count|todo|guard|flag|out|seen|holder|group|big|pair|jobs)\b")
        atoms = [a for a in atoms if all(self.writes(n) for n in names.findall(a))] or ["true or w == w"]
        body = self.one(atoms)
        if self.chance(50):
            body = f"{self.one(atoms)} {self.one(['or', 'and', '=>'])} ({body})"
        return f"{self.one(['forall', 'forall', 'exists'])} w: Work. {body}"

    # ------------------------------------------------------------------------------------------- expressions

    def of(self, kind: str) -> list[str]:
        return [name for name, t in self.locals if t == kind]

    def expression(self, kind: str, depth: int, pure: bool = False, store: str = "") -> str:
        """pure: reads only locals; otherwise may read `store` (db or kv)."""
        options: list[Callable[[], str]] = []
        known = self.of(kind)
        if known:
            options += [lambda: self.one(known)] * 2
        if kind == STATUS:
            options += [lambda: self.one(["A", "B", "C"])] * 2
        elif kind == NUMBER:
            options += [lambda: self.one(["0", "1"])]
            if not pure and store == "db":
                options += [lambda: "db.count", lambda: "1 - db.count"]
                if self.chance(10):
                    options += [lambda: "db.count + 1"]
        elif kind == BOOL:
            options += [lambda: self.one(["true", "false"])]
            if depth:
                options += [
                    lambda: (
                        f"not {self.expression(BOOL, depth - 1, pure, store)}"
                        if known or not pure
                        else self.one(["true", "false"])
                    ),
                    lambda: f"{self.expression(STATUS, 0, pure, store)} == {self.expression(STATUS, 0, pure, store)}",
                    lambda: (
                        f"({self.expression(BOOL, depth - 1, pure, store)} {self.one(['and', 'or', '=>'])} "
                        f"{self.expression(BOOL, depth - 1, pure, store)})"
                    ),
                ]
            if not pure:
                options += [lambda: self.read_bool(store)] * 3
        return self.one(options)()

    def read_bool(self, store: str) -> str:
        w = self.work_value()
        if store == "kv":
            return self.one([f"kv.flag[{w}]", f"kv.out.contains({w})"])
        return self.one(
            [
                f"db.row[{w}] == {self.one(['A', 'B', 'C'])}",
                f"db.row[{w}] is some",
                "db.count == 1",
                f"db.todo.contains({w})",
                f"db.task[{w}] is some",
                f"(db.task[{w}] is some and db.task[{w}].mark)",
                f"(exists v: Work. db.row[v] == {self.one(['A', 'B'])})",
                f"db.row[{w}] in {{A, C}}",
            ]
        )

    def work_value(self) -> str:
        known = self.of(WORK)
        assert known
        return self.one(known)

    def task_value(self) -> str:
        return f"Task{{status: {self.one(['A', 'B', 'C'])}{self.one(['', ', mark: true'])}}}"

    # -------------------------------------------------------------------------------------------- statements

    def calling(self) -> list[str]:
        v = self.name()
        lines = [f"let {v} = any Work where true"]
        self.locals.append((v, WORK))
        if self.chance(30):
            return [*lines, f"send Server.handle({v})"]
        r = self.name()
        inner = [f"let {r} = call Server.handle({v})"]
        if self.chance(25):
            s = self.name()
            lines.append(f"let {s} = any Server where true")
            inner = [f"let {r} = call Server[{s}].handle({v})"]
        if self.chance(50):
            inner.append(f"seen[{v}] := {r} == A")
        if self.chance(40):
            return [
                *lines,
                "try {",
                *inner,
                f"}} catch {self.one(['', 'unknown ', 'refused ', 'failed '])}{{",
                f"seen[{v}] := true",
                "}",
            ]
        if self.chance(30):
            return [*lines, "retry 1 {", *inner, "}"]
        self.locals.append((r, STATUS))
        return lines + inner

    def block(self, length: int, depth: int, begin: bool = False, called: bool = False) -> list[str]:
        """Statements; with `begin` the first ones give a Work local to go on with."""
        lines: list[str] = []
        if begin or not self.of(WORK):
            v = self.name()
            how = self.one(
                [
                    f"let {v} = db.todo.take()",
                    f"let {v} = any Work where db.row[{v}] == A",
                    f"let {v} = any Work where true",
                    f"let {v} = db.todo.pop()",
                ]
            )
            lines.append(how)
            self.locals.append((v, WORK))
        taken = self.locals[-1][0] if lines and ".take()" in lines[0] else None
        for _ in range(length):
            lines += self.statement(depth, called)
        if taken is not None and self.chance(70):
            lines.append(f"db.todo.{self.one(['ack', 'nack'])}({taken})")
        return lines

    def scoped(self, length: int, depth: int) -> list[str]:
        before = list(self.locals)
        lines = self.block(length, depth)
        self.locals = before
        return lines

    def statement(self, depth: int, called: bool = False) -> list[str]:
        store = "kv" if self.second_store and self.chance(25) else "db"
        simple = [self.write, self.write, self.queue, self.ghost, self.read]
        rich = [
            self.branch,
            self.choice,
            self.block_of_one_step,
            self.handler,
            self.locking,
            self.update,
            self.waiting,
            self.process_variable,
            self.listing,
            self.riches,
            self.riches,
            self.looping,
            self.failing,
        ]
        if depth and self.chance(45):
            return self.one(rich)(store, depth - 1)
        return self.one(simple)(store, depth)

    def write(self, store: str, depth: int) -> list[str]:
        w = self.work_value()
        if store == "kv":
            return [f"kv.flag[{w}] := {self.expression(BOOL, 0, pure=True)}"]
        return [
            self.one(
                [
                    f"db.row[{w}] := {self.expression(STATUS, 0, pure=True)}",
                    f"db.count := {self.expression(NUMBER, 0, store='db')}",
                    f"db.task[{w}] := {self.task_value()}",
                    f"db.row.insert({w}, {self.expression(STATUS, 0, pure=True)})",
                    f"db.row.delete({w})",
                    f"db.task[{w}].mark := true",
                ]
            )
        ]

    def queue(self, store: str, depth: int) -> list[str]:
        w = self.work_value()
        queue = "kv.out" if store == "kv" else "db.todo"
        return [self.one([f"{queue}.push({w})", f"{queue}.ack({w})", f"{queue}.nack({w})", f"{queue}.remove({w})"])]

    def ghost(self, store: str, depth: int) -> list[str]:
        w = self.work_value()
        value = "true" if self.chance(60) else self.expression(BOOL, 1, store=store)
        return [f"seen[{w}] := {value}"]

    def read(self, store: str, depth: int) -> list[str]:
        x = self.name()
        if store == "kv" or self.chance(50):
            line = f"let {x} = {self.expression(BOOL, 1, store=store)}"
            self.locals.append((x, BOOL))
        else:
            line = f"let {x} = db.count"
            self.locals.append((x, NUMBER))
        return [line]

    def branch(self, store: str, depth: int) -> list[str]:
        pure = self.chance(30) and bool(self.of(BOOL))
        lines = [f"if {self.expression(BOOL, 1, pure=pure, store=store)} {{", *self.scoped(1, depth), "}"]
        if self.chance(40):
            lines[-1] = "} else {"
            lines += [*self.scoped(1, depth), "}"]
        return lines

    def choice(self, store: str, depth: int) -> list[str]:
        lines = ["either {", *self.scoped(1, depth), "} or {"]
        return [*lines, *(self.scoped(1, depth) if self.chance(60) else []), "}"]

    def block_of_one_step(self, store: str, depth: int) -> list[str]:
        before = list(self.locals)
        inner = []
        for _ in range(1 + self.pick(2)):
            kind = self.pick(4)
            if kind == 0 or store == "kv":
                inner += self.write("db", 0)
            elif kind == 1:
                inner += self.queue("db", 0)
            elif kind == 2:
                inner += [f"if {self.read_bool('db')} {{", *self.write("db", 0), "} else {", *self.queue("db", 0), "}"]
            else:
                other = self.one(["fail", "await db.count == 1", "db.count := 0"])
                inner += [f"either {{ db.count := 1 }} or {{ {other} }}"]
        self.locals = before
        if store == "kv":
            return ["atomic {", *inner, *self.write("kv", 0), "}"]
        if self.chance(40):
            return ["transaction db {", *(line.replace("db.", "") for line in inner), "}"]
        return ["atomic {" if self.chance(50) else 'step "both" {', *inner, "}"]

    def handler(self, store: str, depth: int) -> list[str]:
        kind = self.one(["catch", "catch refused", "catch unknown", "catch duplicate", "catch failed, duplicate"])
        if self.chance(35):
            return [f"retry {1 + self.pick(2)} {{", *self.scoped(1, depth), "}"]
        return [
            "try {",
            *self.scoped(1 + self.pick(2), depth),
            f"}} {kind} {{",
            *(self.scoped(1, 0) if self.chance(60) else []),
            "}",
        ]

    def locking(self, store: str, depth: int) -> list[str]:
        key = self.work_value() if self.keyed_lock else ""
        release = [f"db.guard.release({key})"] if self.chance(70) else []
        if self.fencing or self.chance(50):
            return [f"await db.guard.acquire({key})", *self.scoped(1, 0), *release]
        maybe_not = "not " if self.chance(30) else ""
        return [f"if {maybe_not}db.guard.acquire({key}) {{", *self.scoped(1, 0), *release, "}"]

    def update(self, store: str, depth: int) -> list[str]:
        w = self.work_value()
        line = f"update db.row[{w}] where {self.read_bool('db')} := {self.one(['A', 'B', 'C'])}"
        if self.chance(50):
            x = self.name()
            line = f"let {x} = {line}"
            self.locals.append((x, BOOL))
        return [line]

    def waiting(self, store: str, depth: int) -> list[str]:
        x = self.name()
        form = self.one([f"await {self.read_bool(store)}", f"let {x} = any Work where db.row[{x}] is some"])
        if form.startswith("let"):
            self.locals.append((x, WORK))
        return [form]

    def process_variable(self, store: str, depth: int) -> list[str]:
        if not self.in_server:
            return self.write("db", depth)
        return [self.one(["local := 1", "local := 1 - local", "await local == 0"])]

    def listing(self, store: str, depth: int) -> list[str]:
        s, x = self.name(), self.name()
        lines = [f"let {s} = all v: Work where db.row[v] is some", f"for {x} in {s} {{"]
        before = list(self.locals)
        self.locals = [*before, (x, WORK)]
        lines += [*self.statement(0), "}"]
        self.locals = before
        return lines

    def riches(self, store: str, depth: int) -> list[str]:
        if not self.rich:
            return self.write("db", depth)
        w = self.work_value()
        n = self.one(["0", "1", *self.of(NUMBER)])
        lines = [
            [f"ex.group := {self.one(['', '', 'ex.group + ', 'ex.group - '])}{{{w}}}"],
            [f"ex.big[{w}] := Big{{c: {self.one(['0', '2', '3'])}, who: {self.one(['none', w])}}}"],
            [f"ex.big[{w}].c := {self.one(['1', '3'])}"],
            [f"ex.big[{w}].who := {self.one(['none', w])}"],
            [f"ex.pair[{w}, {n}] := {self.one(['true', 'false'])}"],
            [f"ex.jobs.push(({w}, {n}))"],
            [f"if {w} in ex.group {{", *self.scoped(1, 0), "}"],
            [f"if ex.big[{w}] is some and ex.big[{w}].c >= {n} {{", *self.scoped(1, 0), "}"],
            [f"update ex.pair[{w}, 0] where not ex.pair[{w}, 1] := true"],
        ]
        if self.in_server:
            lines += [
                ["ex.holder := self"],
                ["ex.holder := none"],
                ["if ex.holder == self {", *self.scoped(1, 0), "}"],
                ["await ex.holder != self"],
                ["update ex.holder where ex.holder is none := self"],
            ]
        chosen = self.one(lines)
        if self.chance(25):
            a, m = self.name(), self.name()
            chosen = [f"let ({a}, {m}) = ex.jobs.{self.one(['take', 'pop'])}()"]
            self.locals += [(a, WORK), (m, NUMBER)]
            if self.chance(50):
                chosen.append(f"ex.jobs.{self.one(['ack', 'nack', 'remove'])}(({a}, {m}))")
        elif self.chance(20):
            b = self.name()
            chosen = [f"let {b} = ex.big[{w}]", f"if {b} is some and {b}.b == 0 {{", *self.scoped(1, 0), "}"]
        return chosen

    def looping(self, store: str, depth: int) -> list[str]:
        w = self.work_value()
        condition = self.one([f"db.row[{w}] is none", "db.count == 0", f"not db.todo.contains({w})"])
        repair = {"db.r": f"db.row[{w}] := B", "db.c": "db.count := 1", "not ": f"db.todo.push({w})"}[condition[:4]]
        return [f"while {condition} {{", repair, *(self.scoped(1, 0) if self.chance(40) else []), "}"]

    def failing(self, store: str, depth: int) -> list[str]:
        return [self.one(["assert db.count == 0", f"assert {self.read_bool('db')}", "if db.count == 1 { fail }"])]
