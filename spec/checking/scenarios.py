"""Scenarios: beats resolved to threads, statements and parties."""

from __future__ import annotations

from spec import syntax
from spec.checking.faults import Faults
from spec.checking.flow import statements
from spec.checking.scope import Context, Scope
from spec.checking.threads import CheckedThreads
from spec.checking.world import World
from spec.names import did_you_mean, listed
from spec.typed import (
    Atomic,
    FaultKind,
    Gap,
    Incident,
    Lock,
    Queue,
    Return,
    Scenario,
    Statement,
    Story,
    Then,
    Thread,
    ThreadKind,
)
from spec.types import BOOL

Beat = Gap | Story | Incident | Then

_STRIKES = {
    FaultKind.CRASH: "crash",
    FaultKind.PARTITION: "cut",
    FaultKind.LOSE: "lose",
    FaultKind.DUPLICATE: "duplicate",
}


class Scenarios:
    """Types the scenarios of a model."""

    def __init__(self, world: World, threads: CheckedThreads, faults: Faults) -> None:
        self._world = world
        self._problems = world.problems
        self._threads = threads
        self._faults = faults

    def check_all(self) -> tuple[Scenario, ...]:
        """The scenarios; beats with errors are missing."""
        made: list[Scenario] = []
        for node in self._world.tables.scenarios.values():
            beats = [self._beat(beat) for beat in node.beats]
            known = tuple(beat for beat in beats if beat is not None)
            made.append(Scenario(node.name.name, known, node.span, node.doc))
        return tuple(made)

    def _beat(self, node: syntax.Beat) -> Beat | None:
        match node:
            case syntax.Gap(span=span):
                return Gap(span)
            case syntax.Then(span=span, condition=condition):
                ctx = Context(Scope(), "scenario", ghosts=True)
                typed = self._world.expressions.check(condition, ctx, BOOL)
                return None if typed is None else Then(span, _text(span.text), typed)
            case syntax.Story():
                return self._story(node)
            case syntax.Incident():
                return self._incident(node)

    def _story(self, node: syntax.Story) -> Story | None:
        processes, process, label = self._world.variables.processes, node.party.name.name, node.thread.name
        if process not in processes:
            self._problems.error(
                "E286", node.party.name.span, f"there is no process `{process}`", fix=did_you_mean(process, processes)
            )
            return None
        if node.strike is not None and node.strike.party is not None:
            self._party(node.strike.party)
        if not self._instance(node.party):
            return None
        table = processes[process]
        if label not in table.threads:
            have = f"; it has {listed(table.threads)}" if table.threads else ""
            self._problems.error(
                "E286",
                node.thread.span,
                f"`{process}` has no thread `{label}`{have}",
                fix=did_you_mean(label, table.threads),
            )
            return None
        thread = self._threads.everything.get((process, label))
        called = (process, label) in self._world.tables.called
        handler = table.threads[label].node.kind is ThreadKind.ON
        if node.request and (called or not handler):
            why = "other threads call it" if handler else f"a {table.threads[label].node.kind.value} starts by itself"
            self._problems.error("E286", node.span, f"the environment never requests `{process}.{label}`: {why}")
            return None
        if node.reply and not called:
            self._problems.error("E286", node.span, f"`{process}.{label}` never replies: nothing calls it")
            return None
        left_out = (process, label) in self._threads.left_out
        if thread is None and not left_out:
            return None
        sites: frozenset[int] | None = None
        reply = node.reply
        if node.text is not None and thread is not None:
            found = _named(thread, node.text.text)
            if not found:
                self._no_such_statement(thread, f"{process}.{label}", node.text)
                return None
            sites = frozenset(statement.id for statement in found)
            reply = reply or (called and all(isinstance(statement, Return) for statement in found))
        if left_out:
            sites = frozenset()
        strike = None if node.strike is None else _STRIKES[node.strike.kind]
        return Story(
            node.span,
            _text(node.span.text),
            process,
            node.party.instance,
            label,
            node.request,
            sites,
            reply,
            node.ending,
            strike,
            node.kept,
            None if node.strike is None or node.strike.party is None else node.strike.party.name.name,
        )

    def _no_such_statement(self, thread: Thread, owner: str, text: syntax.Text) -> None:
        available = list(dict.fromkeys(name for statement in statements(thread.body) for name in _names(statement)))
        fix = did_you_mean(text.text, available)
        shown = listed(available[:12], "or") + (" .." if len(available) > 12 else "")
        self._problems.error(
            "E285",
            text.span,
            f"`{owner}` has no statement or step `{text.text}`; it has {shown}",
            fix=fix,
        )

    def _instance(self, party: syntax.Party) -> bool:
        if party.instance is None:
            return True
        name = party.name.name
        if name in self._world.tables.stores:
            self._problems.error("E286", party.span, f"`{name}` is a store; it has no instances")
            return False
        instances = self._world.variables.processes[name].instances
        if instances is None:
            return False
        return self._world.expressions.instance(party.instance, instances, party.span) is not None

    def _party(self, party: syntax.Party) -> bool:
        return self._faults.party(party.name) and self._instance(party)

    def _incident(self, node: syntax.Incident) -> Incident | None:
        text = _text(node.span.text)
        match node.target:
            case syntax.Party() as party:
                if not self._party(party):
                    return None
                return Incident(node.span, text, node.kind, party.name.name, party.instance, None, None)
            case syntax.Member() as member:
                return self._member(node, member, text)
            case (first, second):
                known = [self._party(first), self._party(second)]
                if not all(known) or self._faults.link(first.name, second.name, node.span) is None:
                    return None
                if first.name.name in self._world.tables.stores:
                    first, second = second, first
                return Incident(
                    node.span, text, node.kind, first.name.name, first.instance, second.name.name, second.instance
                )

    def _member(self, node: syntax.Incident, member: syntax.Member, text: str) -> Incident | None:
        stores, store, name = self._world.variables.stores, member.store.name, member.name.name
        wanted: type[Queue] | type[Lock] = Queue if node.kind == "redeliver" else Lock
        fitting = [f"{s}.{n}" for s, members in stores.items() for n, m in members.items() if isinstance(m, wanted)]
        declared = stores.get(store, {}).get(name)
        if store in stores and name in stores[store] and declared is None:
            return None
        if not isinstance(declared, wanted):
            what = "queue" if wanted is Queue else "lock"
            self._problems.error(
                "E286", member.span, f"`{store}.{name}` is no {what}", fix=did_you_mean(f"{store}.{name}", fitting)
            )
            return None
        return Incident(node.span, text, node.kind, store, None, name, None)


def _text(text: str) -> str:
    return " ".join(text.split())


def _key(text: str) -> str:
    return _text(text).removesuffix("{").rstrip()


def _names(statement: Statement) -> tuple[str, ...]:
    """What a scenario may call a statement."""
    if isinstance(statement, Atomic) and statement.name is not None:
        return (statement.name,)
    return (statement.text,)


def _named(thread: Thread, text: str) -> list[Statement]:
    """The statements of the thread that the text names: by the name of the step, else by the first source line."""
    everything = list(statements(thread.body))
    steps = [s for s in everything if isinstance(s, Atomic) and s.name is not None and _text(s.name) == _text(text)]
    if steps:
        return list(steps)
    wanted = _key(text)
    return [
        statement
        for statement in everything
        if wanted in (_key(statement.text), _key(statement.span.text.split("\n", 1)[0]), _source_line(statement))
    ]


def _source_line(statement: Statement) -> str:
    source = statement.span.source
    return _key(source.line(statement.span.line).split("//", 1)[0])
