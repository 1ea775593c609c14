"""The type checker's door: from the parsed tree to a typed model for one choice of constants and switches.

The parts are in `spec.checking`.  The order matters only where one part asks another for everything it found: names,
then constants and types (which need each other and settle on demand), state, definitions, threads, faults, properties,
scenarios, expectations.  Every part reports all it can find; an expression or declaration with an error is silent in
whatever uses it, so that one mistake gives one message.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath

from spec import syntax
from spec.alarm import TimeIsUp, within
from spec.checking.choice import Choice
from spec.checking.definitions import Definitions
from spec.checking.dependencies import Dependencies
from spec.checking.expressions import Expressions
from spec.checking.fault_sets import FaultSets
from spec.checking.faults import Faults
from spec.checking.flow import statements
from spec.checking.properties import Properties
from spec.checking.scenarios import Scenarios
from spec.checking.scope import Context, Scope
from spec.checking.settings import Settings
from spec.checking.threads import CheckedThreads, Threads
from spec.checking.trees import reads
from spec.checking.type_resolution import Types
from spec.checking.usage import Usage
from spec.checking.variables import Variables
from spec.checking.world import World
from spec.diagnostic import Diagnostic, visible
from spec.load import MORE_TIME
from spec.typed import Expectation, Expression, Fresh, Model, Then, Variant
from spec.types import IdType
from spec.value import Value

__all__ = ["Checked", "Choice", "typecheck", "typecheck_expressions"]


@dataclass(frozen=True)
class Checked:
    """A model without errors.

    expectations: those of the chosen variant; without one, those that name none.  variants: all declared ones."""

    model: Model
    expectations: tuple[Expectation, ...]
    variants: tuple[Variant, ...]
    warnings: tuple[Diagnostic, ...]


SECONDS = 60.0
"""The time for one check, where none is given."""


def typecheck(
    module: syntax.Module, choice: Choice | None = None, seconds: float = SECONDS
) -> Checked | tuple[Diagnostic, ...]:
    """The typed model of a parsed module for a choice (by default: no variant, nothing overridden), or every error
    that is found, in the order of the source.  It may take so many seconds.  Raises nothing."""
    with _deep_recursion():
        try:
            return within(seconds, lambda: _typecheck(World(module, choice or Choice())))
        except TimeIsUp:
            return (_too_long(module),)


def _too_long(module: syntax.Module) -> Diagnostic:
    message = f"checking the types of `{visible(module.source.name)}` took longer than --timeout allows"
    return Diagnostic("E016", message, None, fix=MORE_TIME)


def typecheck_expressions(
    module: syntax.Module, choice: Choice | None, nodes: Sequence[syntax.Expression]
) -> tuple[Expression, ...] | tuple[Diagnostic, ...]:
    """Typed expressions over the states of a module's model, which may speak of what scenarios may speak of; or every
    error that is found in the module or in them.  Raises nothing."""
    with _deep_recursion():
        try:
            return within(SECONDS, lambda: _typecheck_expressions(World(module, choice or Choice()), nodes))
        except TimeIsUp:
            return (_too_long(module),)


def _typecheck_expressions(
    world: World, nodes: Sequence[syntax.Expression]
) -> tuple[Expression, ...] | tuple[Diagnostic, ...]:
    checked = _typecheck(world)
    if isinstance(checked, tuple):
        return checked
    found = [world.expressions.infer(node, Context(Scope(), "scenario", ghosts=True)) for node in nodes]
    return world.problems.errors() or tuple(each for each in found if each is not None)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Room for expressions as deep as the parser lets through, however deep the caller is already."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 5_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _typecheck(world: World) -> Checked | tuple[Diagnostic, ...]:
    world.types = Types(world)
    world.expressions = Expressions(world)
    world.definitions = Definitions(world)
    world.settings = Settings(world)
    world.dependencies = Dependencies(world.tables, world.problems, world.settings.chosen)
    constants = _settle(world)
    threads = Threads(world).check_all()
    known = sum(len(table.threads) for table in world.variables.processes.values())
    fault_checker = Faults(world)
    faults = fault_checker.check_all()
    checker = Properties(world, threads, complete=len(threads.everything) == known)
    properties = checker.check_all()
    scenarios = Scenarios(world, threads, fault_checker).check_all()
    expectations = checker.expectations(FaultSets(world, faults))
    errors = world.problems.errors()
    if errors:
        return errors
    conditions = [declaration.condition for declaration in properties]
    conditions += [beat.condition for scenario in scenarios for beat in scenario.beats if isinstance(beat, Then)]
    Usage(world, threads, reads(*conditions)).warn()
    ids = {name: kind for name in world.tables.ids if isinstance(kind := world.types.named(name), IdType)}
    module = world.module
    model = Model(
        name=PurePath(module.source.name).stem,
        doc=module.doc,
        ids=ids,
        stores=world.variables.typed_stores(),
        processes=threads.processes,
        ghosts=tuple(ghost for ghost in world.variables.ghosts.values() if ghost is not None),
        faults=faults,
        properties=properties,
        scenarios=scenarios,
        fresh=_fresh(threads),
        symmetric=frozenset([*ids, *world.tables.processes]),
        constants=constants,
    )
    return Checked(
        model,
        tuple(expectation for expectation in expectations if expectation.variant == world.choice.variant),
        tuple(Variant(name, node.span, node.doc) for name, node in world.tables.variants.items()),
        world.problems.warnings(),
    )


def _settle(world: World) -> dict[str, Value]:
    """Settles constants and types, then state, then definitions, each after what it depends on; the constants."""
    tables, order = world.tables, [n for n in world.dependencies.order if n not in world.dependencies.cyclic]
    for name in order:
        if name in tables.constants or name in tables.switches:
            world.settings.settle(name)
        elif name not in tables.definitions:
            world.types.settle(name)
    constants = world.settings.finish()
    world.variables = Variables(world)
    for name in order:
        if name in tables.definitions:
            world.definitions.settle(name)
    return constants


def _fresh(threads: CheckedThreads) -> frozenset[str]:
    """The ids types from which some request or statement draws."""
    found: set[str] = set()
    for process in threads.processes:
        for thread in process.threads:
            found |= {p.type.name for p in thread.parameters if p.fresh and isinstance(p.type, IdType)}
            found |= {s.over.name for s in statements(thread.body) if isinstance(s, Fresh)}
    return frozenset(found)
