"""Properties, and what is expected of them."""

from __future__ import annotations

import re

from spec import syntax
from spec.checking.fault_sets import FaultSets
from spec.checking.flow import statements
from spec.checking.liveness import LiveProperties
from spec.checking.scope import Context, Scope
from spec.checking.threads import CheckedThreads
from spec.checking.trees import contains_next, reads
from spec.checking.usage import written
from spec.checking.world import World
from spec.diagnostic import Note
from spec.names import did_you_mean, listed
from spec.typed import Assert, Expectation, ExpectationVerb, Expression, Liveness, PropertyDeclaration, PropertyForm
from spec.types import BOOL

_ASSERTION = re.compile(r"assert_(\d+)")
_CONFLICTS = {
    ExpectationVerb.REFUTES: (ExpectationVerb.PROVES, ExpectationVerb.REACHES),
    ExpectationVerb.PROVES: (ExpectationVerb.REFUTES,),
    ExpectationVerb.REACHES: (ExpectationVerb.REFUTES,),
    ExpectationVerb.RUNS: (ExpectationVerb.FORBIDS,),
    ExpectationVerb.FORBIDS: (ExpectationVerb.RUNS,),
}
_OF_COVERS = (ExpectationVerb.REACHES, ExpectationVerb.REFUTES)
_OF_PROPERTIES = (ExpectationVerb.REFUTES, ExpectationVerb.PROVES)
_OF_SCENARIOS = (ExpectationVerb.RUNS, ExpectationVerb.FORBIDS)


class Properties:
    """Types properties and checks expectations."""

    def __init__(self, world: World, threads: CheckedThreads, complete: bool) -> None:
        """complete: every thread is free of errors, so that what none of them writes is never written."""
        self._world = world
        self._problems = world.problems
        self._threads = threads
        self._live = LiveProperties(world)
        self._written = written(threads.everything.values()) if complete else None
        self._asserts = {
            statement.span.line
            for thread in threads.everything.values()
            for statement in statements(thread.body)
            if isinstance(statement, Assert)
        }

    def check_all(self) -> tuple[PropertyDeclaration, ...]:
        """The properties without errors, in the order of the source."""
        made: list[PropertyDeclaration] = []
        for node in self._world.tables.properties.values():
            typed = self._property(node)
            if typed is not None:
                made.append(typed)
        tables = self._world.tables
        if not tables.properties and not tables.scenarios and self._written is not None and not self._asserts:
            self._problems.error(
                "E275",
                None,
                f"{self._world.module.source.name} has no property, scenario or assertion: there is nothing to check",
                fix="add an `invariant`, an `at rest`, a `cover` ..",
            )
        return tuple(made)

    def _property(self, node: syntax.Property) -> PropertyDeclaration | None:
        primes = node.form is PropertyForm.STEP_INVARIANT
        ctx = Context(Scope(), "property", ghosts=True, primes=primes, live=node.form is PropertyForm.LIVE)
        live: Liveness | None = None
        typed: Expression | None = None
        if node.form is PropertyForm.LIVE:
            meaning = self._live.check(node, ctx)
            if meaning is not None:
                live, typed = meaning
        else:
            typed = self._world.expressions.check(node.condition, ctx, BOOL)
        if typed is None:
            return None
        name = node.name.name
        if primes and not contains_next(typed):
            self._problems.warning(
                "W201",
                node.name.span,
                f"the step invariant `{name}` has no `'`, so it says what an invariant says",
                fix=f"write `invariant {name}: ..`",
            )
        read = reads(typed).variables
        if self._written is not None and not read & self._written:
            what = listed(f"{owner}.{name}" if owner else name for owner, name in sorted(read))
            why = f"no thread ever writes {what}" if read else "it reads no state"
            self._problems.error("E274", node.name.span, f"`{name}` can never change: {why}")
        return PropertyDeclaration(name, node.form, typed, node.span, node.doc, live)

    # ------------------------------------------------------------------------------------------ expectations

    def expectations(self, fault_sets: FaultSets) -> tuple[Expectation, ...]:
        """All expectations without errors."""
        tables = self._world.tables
        made: list[Expectation] = []
        seen: dict[tuple[str | None, ExpectationVerb, str], syntax.Identifier] = {}
        for node in tables.expectations:
            variant = None if node.variant is None else node.variant.name
            if node.variant is None and tables.variants:
                self._problems.error(
                    "E282",
                    node.span,
                    "this `expect` names no variant, but the model has variants",
                    fix=f"write `expect {next(iter(tables.variants))} {node.verb.value} ..`",
                )
            if node.variant is not None and variant not in tables.variants:
                self._problems.error(
                    "E276",
                    node.variant.span,
                    f"there is no variant `{variant}`",
                    fix=did_you_mean(node.variant.name, tables.variants),
                )
            needs = None if node.needs is None else fault_sets.check(node, self._covers())
            for name in node.names:
                if self._fits(node.verb, name) and self._consistent(variant, node.verb, name, seen):
                    made.append(Expectation(variant, node.verb, name.name, node.span, needs))
        return tuple(made)

    def _fits(self, verb: ExpectationVerb, name: syntax.Identifier) -> bool:
        tables = self._world.tables
        label = name.name
        fitting: tuple[ExpectationVerb, ...]
        covers = self._covers()
        others = [n for n in tables.properties if n not in covers]
        if label in covers:
            found, fitting = "a cover", _OF_COVERS
        elif label in others or self._built_in(label):
            found, fitting = "a property", _OF_PROPERTIES
        elif label in tables.scenarios:
            found, fitting = "a scenario", _OF_SCENARIOS
        else:
            known = covers if verb is ExpectationVerb.REACHES else others
            known = list(tables.scenarios) if verb in _OF_SCENARIOS else known
            what = "scenario" if verb in _OF_SCENARIOS else "cover" if verb is ExpectationVerb.REACHES else "property"
            have = f"; there are {listed(known)}" if known else ""
            fix = did_you_mean(label, [*tables.properties, *tables.scenarios])
            self._problems.error("E277", name.span, f"there is no {what} `{label}`{have}", fix=fix)
            return False
        if verb in fitting:
            return True
        words = listed([v.value for v in fitting], "or")
        self._problems.error("E278", name.span, f"`{label}` is {found}; what can be expected of it is {words}")
        return False

    def _covers(self) -> list[str]:
        return [n for n, p in self._world.tables.properties.items() if p.form is PropertyForm.COVER]

    def _built_in(self, name: str) -> bool:
        found = _ASSERTION.fullmatch(name)
        if found is None:
            return name in ("model_errors", "stuck_threads")
        return len(found[1]) < 10 and (self._written is None or int(found[1]) in self._asserts)

    def _consistent(
        self,
        variant: str | None,
        verb: ExpectationVerb,
        name: syntax.Identifier,
        seen: dict[tuple[str | None, ExpectationVerb, str], syntax.Identifier],
    ) -> bool:
        of = "" if variant is None else f" for `{variant}`"
        earlier = seen.get((variant, verb, name.name))
        message = f"`{name.name}` is expected twice{of}"
        for other in _CONFLICTS[verb]:
            if earlier is None:
                earlier = seen.get((variant, other, name.name))
                message = f"`{other.value}` and `{verb.value}` are both expected of `{name.name}`{of}"
        if earlier is None:
            seen[variant, verb, name.name] = name
            return True
        notes = (Note("the other is here", earlier.span),)
        self._problems.error("E279", name.span, message, notes=notes, fix="remove one of the two")
        return False
