"""The reference protocol: a workflow orchestrator with servers, sweepers and workers, for measuring engines.

A server pushes a workflow to the decider queue, then inserts its row.  A sweeper pops a workflow, reads its records,
and schedules its task, retries it, or completes the workflow.  A worker pops a task, starts it, executes it and
reports.  Each process can crash while a shared budget lasts; a queue delivers an item again when nobody holds it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checker.logic.formula import Formula, Role, Variable, conjunction, disjunction, equals, member, negate
from checker.transition_system import (
    Action,
    Constant,
    Copy,
    Form,
    Kind,
    Permutation,
    Property,
    TransitionSystem,
    Update,
)
from spec.event import Event, EventKind, Slot

ROW = ("none", "running", "completed")
ITEM = ("absent", "waiting", "held")
RECORD = ("none", "scheduled", "in progress", "completed", "superseded")
SERVER = ("idle", "insert", "acknowledge")
SWEEPER = (
    "idle",
    "read",
    "schedule",
    "push task",
    "insert retry",
    "supersede",
    "push retry",
    "complete",
    "acknowledge",
)
WORKER = ("idle", "start", "execute", "report", "acknowledge")


@dataclass(frozen=True)
class Size:
    """How many of each there are; `faults` is the budget shared by all crashes and failed writes."""

    workflows: int
    servers: int
    sweepers: int
    workers: int
    faults: int


def reference_protocol(
    size: Size, early_row: bool = False, lost_retry: bool = False, symmetry: bool = True
) -> TransitionSystem:
    """The protocol with three invariants: `no orphan`, `executed` and `some executed`.

    early_row   the row is inserted before the push, so that a crash between them leaves an orphan (2 steps)
    lost_retry  a failed insert of the retry is ignored, so that a workflow completes that was never executed (16 steps)
    symmetry    list the transpositions of workflows, servers, sweepers and workers
    """
    return _Builder(size, early_row, lost_retry).system(symmetry)


class _Builder:
    def __init__(self, size: Size, early_row: bool, lost_retry: bool) -> None:
        self.size = size
        self.early_row = early_row
        self.lost_retry = lost_retry
        self.variables: list[Variable] = []
        self.actions: list[Action] = []
        self.sites: dict[str, int] = {}
        flows = range(size.workflows)
        self.row = [self.variable(f"row[{w}]", ROW) for w in flows]
        self.decider = [self.variable(f"decider[{w}]", ITEM) for w in flows]
        self.told = [self.variable(f"told[{w}]", (False, True)) for w in flows]
        self.executed = [self.variable(f"executed[{w}]", (False, True)) for w in flows]
        self.record = [[self.variable(f"record[{w},{i}]", RECORD) for i in (0, 1)] for w in flows]
        self.task = [[self.variable(f"task[{w},{i}]", ITEM) for i in (0, 1)] for w in flows]
        self.server = self.processes("server", size.servers, SERVER)
        self.sweeper = self.processes("sweeper", size.sweepers, SWEEPER)
        self.worker = self.processes("worker", size.workers, WORKER)
        self.attempt = [self.variable(f"worker[{v}].attempt", (0, 1), Role.LOCAL) for v in range(size.workers)]
        self.faults = self.variable("faults", tuple(range(size.faults + 1)), Role.BUDGET, size.faults)

    def variable(self, name: str, values: Iterable[object], role: Role = Role.STORE, initial: int = 0) -> Variable:
        made = Variable(name, tuple(values), initial, role)
        self.variables.append(made)
        return made

    def processes(self, name: str, count: int, places: tuple[str, ...]) -> list[tuple[Variable, Variable]]:
        """For each instance, where it is and which workflow it has in hand: 0 for none, w + 1 for workflow w."""
        return [
            (
                self.variable(f"{name}[{i}]", places, Role.CONTROL),
                self.variable(f"{name}[{i}].workflow", (None, *range(self.size.workflows)), Role.LOCAL),
            )
            for i in range(count)
        ]

    def act(
        self,
        name: str,
        process: str,
        instance: int,
        guard: Iterable[Formula],
        updates: dict[Variable, int],
        kind: Kind = Kind.THREAD,
    ) -> None:
        site = self.sites.setdefault(name, len(self.sites))
        event = Event(EventKind.STEP, slot=Slot(process, instance, name), site=site)
        changes: dict[Variable, Update] = {variable: Constant(code) for variable, code in updates.items()}
        fault = None
        if kind is Kind.FAULT:
            changes[self.faults] = Copy(self.faults, tuple(range(-1, self.size.faults)))
            guard = (*guard, negate(equals(self.faults, 0)))
            fault = "crash"
        self.actions.append(Action(len(self.actions), event, kind, conjunction(guard), changes, fault))

    def at(self, process: tuple[Variable, Variable], workflow: int, place: int) -> Formula:
        return conjunction((equals(process[0], place), equals(process[1], workflow + 1)))

    def servers(self) -> None:
        for s, process in enumerate(self.server):
            place, holds = process
            for w, (row, decider) in enumerate(zip(self.row, self.decider, strict=True)):
                free = [equals(place, 0), equals(row, 0)]
                if self.early_row:
                    self.act("insert", "server", s, free, {row: 1, place: 1, holds: w + 1})
                    self.act("push", "server", s, [self.at(process, w, 1)], {decider: 1, place: 2})
                else:
                    free.append(equals(decider, 0))
                    self.act("push", "server", s, free, {decider: 1, place: 1, holds: w + 1})
                    self.act("insert", "server", s, [self.at(process, w, 1)], {row: 1, place: 2})
                done = {self.told[w]: 1, place: 0, holds: 0}
                self.act("acknowledge", "server", s, [self.at(process, w, 2)], done)
            self.act("crash", "server", s, [negate(equals(place, 0))], {place: 0, holds: 0}, Kind.FAULT)

    def sweepers(self) -> None:
        for k, process in enumerate(self.sweeper):
            place, holds = process
            for w in range(self.size.workflows):
                row, decider, (first, second) = self.row[w], self.decider[w], self.record[w]

                def act(
                    name: str,
                    at: int,
                    guard: list[Formula],
                    updates: dict[Variable, int],
                    kind: Kind = Kind.THREAD,
                    w: int = w,
                    k: int = k,
                    process: tuple[Variable, Variable] = process,
                ) -> None:
                    self.act(name, "sweeper", k, [self.at(process, w, at), *guard], updates, kind)

                active = 0b00110
                running = equals(row, 1)
                pop = [equals(place, 0), equals(decider, 1)]
                self.act("pop", "sweeper", k, pop, {decider: 2, place: 1, holds: w + 1})
                act("schedules", 1, [running, equals(first, 0)], {place: 2})
                act("completes", 1, [running, member(first, 0b11000), member(second, 0b01001)], {place: 7})
                act("times out", 1, [running, member(first, active), equals(second, 0)], {place: 4})
                idle = disjunction((negate(running), member(first, active), member(second, active)))
                act("leaves", 1, [idle], {place: 8})
                act("schedule", 2, [], {first: 1, place: 3})
                act("push task", 3, [], {self.task[w][0]: 1, place: 8})
                act("insert retry", 4, [], {second: 1, place: 5})
                act("insert retry fails", 4, [], {place: 5 if self.lost_retry else 8}, Kind.FAULT)
                act("supersede", 5, [], {first: 4, place: 6})
                act("push retry", 6, [], {self.task[w][1]: 1, place: 8})
                act("complete", 7, [], {row: 2, place: 8})
                act("return", 8, [negate(equals(row, 2))], {decider: 1, place: 0, holds: 0})
                act("remove", 8, [equals(row, 2)], {decider: 0, place: 0, holds: 0})
            self.act("crash", "sweeper", k, [negate(equals(place, 0))], {place: 0, holds: 0}, Kind.FAULT)

    def workers(self) -> None:
        for v, process in enumerate(self.worker):
            (place, holds), attempt = process, self.attempt[v]
            for w in range(self.size.workflows):
                for i in (0, 1):
                    record, task = self.record[w][i], self.task[w][i]
                    mine = [self.at(process, w, at) for at in range(5)]
                    this = equals(attempt, i)
                    live = member(record, 0b00110)
                    pop = [equals(place, 0), equals(task, 1)]
                    self.act("pop", "worker", v, pop, {task: 2, place: 1, holds: w + 1, attempt: i})
                    self.act("start", "worker", v, [mine[1], this, live], {record: 2, place: 2})
                    self.act("drop", "worker", v, [mine[1], this, negate(live)], {place: 4})
                    self.act("done", "worker", v, [mine[3], this, equals(record, 2)], {record: 3, place: 4})
                    self.act("late", "worker", v, [mine[3], this, negate(equals(record, 2))], {place: 4})
                    self.act("remove", "worker", v, [mine[4], this], {task: 0, place: 0, holds: 0, attempt: 0})
                self.act("execute", "worker", v, [self.at(process, w, 2)], {self.executed[w]: 1, place: 3})
            lost = {place: 0, holds: 0, attempt: 0}
            self.act("crash", "worker", v, [negate(equals(place, 0))], lost, Kind.FAULT)

    def queues(self) -> None:
        for w in range(self.size.workflows):
            free = [disjunction((equals(p, 0), negate(equals(h, w + 1)))) for p, h in self.sweeper]
            decider = self.decider[w]
            self.act("redeliver", "decider", w, [equals(decider, 2), *free], {decider: 1}, Kind.RECOVERY)
            for i, task in enumerate(self.task[w]):
                free = [
                    disjunction((equals(p, 0), negate(equals(h, w + 1)), negate(equals(a, i))))
                    for (p, h), a in zip(self.worker, self.attempt, strict=True)
                ]
                self.act("redeliver", "tasks", 2 * w + i, [equals(task, 2), *free], {task: 1}, Kind.RECOVERY)

    def properties(self) -> tuple[Property, ...]:
        flows = range(self.size.workflows)
        orphan = [
            conjunction(
                (
                    equals(self.row[w], 1),
                    equals(self.decider[w], 0),
                    equals(self.record[w][0], 0),
                    *(disjunction((equals(p, 0), negate(equals(h, w + 1)))) for p, h in self.server),
                )
            )
            for w in flows
        ]
        skipped = [conjunction((equals(self.row[w], 2), equals(self.executed[w], 0))) for w in flows]
        return (
            Property("no orphan", Form.INVARIANT, disjunction(orphan)),
            Property("executed", Form.INVARIANT, disjunction(skipped)),
            Property("some executed", Form.INVARIANT, conjunction(skipped)),
        )

    def exchange(self, pairs: Iterable[tuple[Variable, Variable]]) -> list[tuple[Variable, Variable, tuple[int, ...]]]:
        moves = []
        for first, second in pairs:
            same = tuple(range(first.size))
            moves += [(first, second, same), (second, first, same)]
        return moves

    def swaps(self) -> list[Permutation]:
        found = []
        for w in range(self.size.workflows - 1):
            groups = (self.row, self.decider, self.told, self.executed)
            pairs = [(group[w], group[w + 1]) for group in groups]
            pairs += [(group[w][i], group[w + 1][i]) for group in (self.record, self.task) for i in (0, 1)]
            table = list(range(self.size.workflows + 1))
            table[w + 1 : w + 3] = w + 2, w + 1
            holders = [h for _, h in (*self.server, *self.sweeper, *self.worker)]
            moves = self.exchange(pairs) + [(h, h, tuple(table)) for h in holders]
            found.append(Permutation(f"workflow {w} <-> {w + 1}", tuple(moves)))
        for name, processes in (("server", self.server), ("sweeper", self.sweeper), ("worker", self.worker)):
            for i in range(len(processes) - 1):
                pairs = list(zip(processes[i], processes[i + 1], strict=True))
                if name == "worker":
                    pairs.append((self.attempt[i], self.attempt[i + 1]))
                found.append(Permutation(f"{name} {i} <-> {i + 1}", tuple(self.exchange(pairs))))
        return found

    def system(self, symmetry: bool) -> TransitionSystem:
        self.servers()
        self.sweepers()
        self.workers()
        self.queues()
        swaps = tuple(self.swaps()) if symmetry else ()
        return TransitionSystem(tuple(self.variables), tuple(self.actions), self.properties(), swaps=swaps)
