"""Properties as formulas over the variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from checker.logic.formula import (
    FALSE,
    TRUE,
    Formula,
    Variable,
    conjunction,
    disjunction,
    equals,
    member,
    negate,
    variables_of,
)
from checker.lowering.control import all_statements
from checker.lowering.evaluator import Evaluator, PropertyReader
from checker.lowering.layout import BEYOND, leaves
from checker.lowering.live_cases import live_cases
from checker.lowering.model_layout import BagQueue, ErrorCode, FifoQueue, ModelLayout, SetQueue
from checker.lowering.stuck import blocked_slots
from checker.lowering.symbolic import constant
from checker.transition_system import Action, Form, Kind, Property, Reachability
from spec import typed
from spec.event import Slot
from spec.typed import Expression, FaultKind, Operator, PropertyDeclaration, PropertyForm, Quantity
from spec.value import domain

FORMS: Mapping[PropertyForm, Form] = {
    PropertyForm.INVARIANT: Form.INVARIANT,
    PropertyForm.STEP_INVARIANT: Form.STEP_INVARIANT,
    PropertyForm.AT_REST: Form.AT_REST,
    PropertyForm.RECOVERABLE: Form.RECOVERABLE,
    PropertyForm.COVER: Form.COVER,
    PropertyForm.LIVE: Form.LIVE,
}

MODEL_ERRORS = "model_errors"
STUCK_THREADS = "stuck_threads"
BUILT_IN = (MODEL_ERRORS, STUCK_THREADS)
"""The properties that are always checked; the assertions besides."""


def truth(layout: ModelLayout, expression: Expression) -> tuple[Formula, Formula]:
    """Where the expression is true, and where it is undefined."""
    evaluator = Evaluator(layout, PropertyReader())
    formula = evaluator.truth(expression)
    return formula, evaluator.undefined


def frontier(layout: ModelLayout, primed: bool = False) -> Formula:
    """Where an unbounded integer has left the window."""
    return disjunction(equals(v, v.values.index(BEYOND), primed) for v in layout.variables if BEYOND in v.values)


def properties_of(layout: ModelLayout, actions: Iterable[Action]) -> tuple[Property, ...]:
    """All properties of a model: those that it declares, then those that are always checked.  `actions`: all of the
    model, over the variables of the layout."""
    inside = negate(frontier(layout))
    error = layout.error
    running = equals(error, 0)
    found = []
    for declaration in layout.model.properties:
        if declaration.live is not None:
            cases = live_cases(layout, declaration.live, conjunction((inside, running)))
            found.append(Property(declaration.name, Form.LIVE, FALSE, cases=cases))
            continue
        found.append(_declared(layout, declaration, inside, running))
    codes = list(enumerate(error.values))
    mask = sum(1 << c for c, v in codes if isinstance(v, ErrorCode) and not v.assertion)
    found.append(Property(MODEL_ERRORS, Form.INVARIANT, member(error, mask)))
    for name, sites in assertions(layout.model).items():
        mask = sum(1 << c for c, v in codes if isinstance(v, ErrorCode) and v.assertion and v.site in sites)
        found.append(Property(name, Form.INVARIANT, member(error, mask)))
    found.append(_stuck(layout, STUCK_THREADS, blocked_slots(layout, actions).values()))
    return tuple(found)


def stuck_apart(layout: ModelLayout, actions: Iterable[Action]) -> dict[Slot, Property]:
    """For each slot that may be blocked: a property that is refuted where its activation is stuck.  Symmetries do not
    map these to themselves."""
    return {
        slot: _stuck(layout, f"{STUCK_THREADS} {slot}", (blocked,))
        for slot, blocked in blocked_slots(layout, actions).items()
    }


def _stuck(layout: ModelLayout, name: str, blocked: Iterable[Formula]) -> Property:
    """Refuted where all has healed, one of these formulas holds, and steps without faults lead nowhere where none
    does.  An activation that is stuck keeps its formula true for ever, so a proof says that none is."""
    running, beyond = equals(layout.error, 0), frontier(layout)
    some = disjunction(blocked)
    bad = conjunction((some, running, negate(beyond), healed(layout)))
    free = disjunction((conjunction((running, negate(some))), beyond))
    kinds = frozenset((Kind.THREAD, Kind.RECOVERY, Kind.ENVIRONMENT))
    return Property(name, Form.RECOVERABLE, bad, Reachability(kinds, free))


def assertions(model: typed.Model) -> dict[str, frozenset[int]]:
    """The assert statements by the names of their properties."""
    found: dict[str, set[int]] = {}
    for process in model.processes:
        for thread in process.threads:
            for statement in all_statements(thread.body):
                if isinstance(statement, typed.Assert):
                    found.setdefault(f"assert_{statement.span.line}", set()).add(statement.id)
    return {name: frozenset(sites) for name, sites in found.items()}


def _declared(layout: ModelLayout, declaration: PropertyDeclaration, inside: Formula, running: Formula) -> Property:
    holds, undefined = truth(layout, declaration.condition)
    form = FORMS[declaration.form]
    good = conjunction((holds, negate(undefined)))
    match form:
        case Form.COVER:
            return Property(declaration.name, form, conjunction((good, inside, running)))
        case Form.STEP_INVARIANT:
            after = conjunction((negate(frontier(layout, primed=True)), equals(layout.error, 0, primed=True)))
            return Property(declaration.name, form, conjunction((negate(good), inside, running, after)))
        case Form.AT_REST:
            return _resting(layout, declaration.name, negate(good))
        case Form.RECOVERABLE:
            bad = conjunction((negate(good), inside, running))
            kinds = frozenset((Kind.THREAD, Kind.RECOVERY, Kind.ENVIRONMENT))
            reached = conjunction((good, running))
            return Property(declaration.name, form, bad, Reachability(kinds, disjunction((reached, negate(inside)))))
        case _:
            return Property(declaration.name, form, conjunction((negate(good), inside, running)))


def _resting(layout: ModelLayout, name: str, bad: Formula) -> Property:
    """Refuted by a state at rest in which `bad` holds."""
    running = equals(layout.error, 0)
    settled = conjunction((bad, negate(frontier(layout)), running, healed(layout)))
    unless = Reachability(frozenset((Kind.THREAD, Kind.RECOVERY)), FALSE, watched(layout))
    return Property(name, Form.AT_REST, settled, unless)


def rest_of(layout: ModelLayout) -> Property | None:
    """For models with an `at rest`: a property that every state at rest refutes."""
    if not any(declaration.form is PropertyForm.AT_REST for declaration in layout.model.properties):
        return None
    return replace(_resting(layout, "a state at rest", TRUE), shown=False)


def healed(layout: ModelLayout) -> Formula:
    """Every party is up, but those that never restart, and no link is cut."""
    gone = {
        party
        for fault in layout.faults
        if fault.kind is FaultKind.CRASH and not fault.restart
        for party in layout.crashed(fault)
    }
    up = [equals(v, 1) for party, v in layout.up.items() if party not in gone]
    return conjunction([*up, *(equals(v, 0) for v in layout.cut.values())])


def watched(layout: ModelLayout) -> tuple[Formula, ...]:
    """The formulas whose truth a step changes when it changes something."""
    plain: list[Variable] = []
    for node in (*layout.values.values(), *layout.process_values.values(), *layout.ghosts.values()):
        plain += leaves(node)
    plain += layout.fresh.values()
    found: list[Formula] = [equals(v, code) for v in plain for code in range(1, v.size)]
    evaluator = Evaluator(layout, PropertyReader())
    for queue in layout.queues.values():
        match queue:
            case SetQueue(items):
                found += [evaluator.contains(queue, item) for item in items]
            case BagQueue(counts, _):
                for parts in counts.values():
                    found += _totals(tuple(parts.values()))
            case FifoQueue(cells):
                for cell in cells:
                    contents = dict.fromkeys(v[0] for v in cell.values if isinstance(v, tuple))
                    found += [evaluator.cell(cell, item, None) for item in contents]
    found.append(equals(layout.error, 0))
    return tuple(dict.fromkeys(f for f in found if f is not TRUE and f is not FALSE))


def _totals(variables: tuple[Variable, ...]) -> list[Formula]:
    sums: dict[int, list[Formula]] = {0: [TRUE]}
    for variable in variables:
        raised: dict[int, list[Formula]] = {}
        for number, conditions in sums.items():
            before = disjunction(conditions)
            for code in range(variable.size):
                raised.setdefault(number + code, []).append(conjunction((before, equals(variable, code))))
        sums = raised
    return [disjunction(conditions) for number, conditions in sums.items() if number]


def antecedents_of(layout: ModelLayout) -> dict[str, tuple[Property, ...]]:
    """For each property, covers that must be reachable: the left sides of its implications, under its `forall`s.

    A left side that speaks of the state after a step is left out: it is no property of one state."""
    running = conjunction((equals(layout.error, 0), negate(frontier(layout))))
    found = {}
    for declaration in layout.model.properties:
        if declaration.form is PropertyForm.COVER:
            continue
        covers = []
        for number, left in enumerate(_left_sides(layout, declaration.condition)):
            if any(primed for _, primed in variables_of(left)):
                continue
            name = f"{declaration.name}:antecedent:{number}"
            covers.append(Property(name, Form.COVER, conjunction((left, running)), shown=False))
        if covers:
            found[declaration.name] = tuple(covers)
    return found


def _left_sides(layout: ModelLayout, expression: Expression) -> Iterator[Formula]:
    """Each implication's left side, true for some binding of the enclosing `forall`s."""
    evaluator = Evaluator(layout, PropertyReader())

    def visit(node: Expression) -> Formula | None:
        if isinstance(node, typed.Quantifier) and node.quantity is Quantity.FORALL:
            parts = []
            for value in domain(node.over):
                evaluator.bindings[node.key] = constant(value, node.over)
                part = visit(node.body)
                if part is None:
                    return None
                parts.append(part)
            return disjunction(parts)
        if isinstance(node, typed.Binary) and node.operator is Operator.IMPLIES:
            return evaluator.truth(node.left)
        return None

    conjuncts = [expression]
    while conjuncts:
        node = conjuncts.pop(0)
        if isinstance(node, typed.Binary) and node.operator is Operator.AND:
            conjuncts[:0] = [node.left, node.right]
            continue
        left = visit(node)
        if left is not None and left is not TRUE:
            yield left
