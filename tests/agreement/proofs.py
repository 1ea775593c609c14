"""Proofs by IC3: the interpreter's verdicts, and a check of invariants that accepts what it must and no more.

What must be rejected is known without a solver: an invariant that excludes a state which a run reaches, and one that
has lost a clause, if some state that the clause excluded is bad or has a step out of the rest.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from checker.certificates.invariant import Invariant, check
from checker.engines.engine import Budget, Inductive, Outcome, Reached
from checker.engines.ic3 import Ic3
from checker.logic.formula import Formula, equals
from checker.lower import Lowered
from checker.lowering.properties import STUCK_THREADS
from checker.transition_system import Action, Cases, Copy, Form, Property, State, TransitionSystem, successor
from counterexamples.replay import Confirmed, Unconfirmed, confirm
from spec.interpreter import Interpreter
from tests.agreement.deciding import decide, length
from tests.engines.reference import holds

PATIENCE = 60.0
"""Seconds for IC3 on one program; it takes less than one of them unless it goes round for ever."""
SAMPLES = 40
"""States of a dropped cube that are looked at."""


def complaint(
    lowered: Lowered, interpreter: Interpreter, expected: dict[str, int | None], reached: Sequence[State]
) -> str | None:
    """What is wrong with IC3's answers, or with those of the check of its invariants; None if nothing.

    expected  for each property the length of a shortest violation, by the interpreter
    reached   the states that runs reach
    """
    for symmetry in (True, False):
        budget = Budget(deadline=time.monotonic() + PATIENCE)
        outcomes = decide(Ic3(symmetry=symmetry), lowered, budget)
        for target in lowered.system.properties:
            outcome = outcomes[target.name]
            wrong = _wrong(lowered, interpreter, target, outcome, expected[target.name], reached)
            if wrong is not None:
                return f"ic3{' with symmetry' if symmetry else ''}, {target.name}: {wrong}"
    return None


def _wrong(
    lowered: Lowered,
    interpreter: Interpreter,
    target: Property,
    outcome: Outcome,
    wanted: int | None,
    reached: Sequence[State],
) -> str | None:
    system = lowered.system
    if isinstance(outcome, Reached) and wanted is not None:
        verdict = confirm(lowered.trace(outcome.path), target.name, interpreter)
        in_turns = target.name == STUCK_THREADS and isinstance(verdict, Unconfirmed)
        if not isinstance(verdict, Confirmed) and not in_turns:
            return f"{verdict}"
        found = length(outcome)
        if found != wanted and (outcome.shortest is not None or found is None or found < wanted):
            return f"a path of {found} steps ({outcome.shortest}), but the interpreter says {wanted}"
        return None
    if not isinstance(outcome, Inductive) or wanted is not None:
        return f"{outcome}, but the interpreter says {wanted}"
    answer = check(system, target, outcome.invariant, rescues=outcome.rescues)
    if answer is not None:
        return f"its invariant is rejected: {answer}"
    draw = random.Random(target.name)
    for state in (system.initial, draw.choice(reached)):
        cube = tuple(equals(variable, code) for variable, code in zip(system.variables, state, strict=True))
        if check(system, target, Invariant((*outcome.invariant.cubes, cube)), rescues=outcome.rescues) is None:
            return f"an invariant that excludes the reachable state {state} is accepted"
    return _with_a_clause_less(system, target, outcome, reached, draw) or _with_a_way_less(system, target, outcome)


def _with_a_clause_less(
    system: TransitionSystem, target: Property, outcome: Inductive, reached: Sequence[State], draw: random.Random
) -> str | None:
    invariant = outcome.invariant
    if not invariant.cubes:
        return None
    dropped = draw.randrange(len(invariant.cubes))
    rest = Invariant((*invariant.cubes[:dropped], *invariant.cubes[dropped + 1 :]))
    if check(system, target, rest, rescues=outcome.rescues) is not None:
        return None
    for _ in range(SAMPLES):
        state = _within(system, invariant.cubes[dropped], draw.choice(reached), draw)
        if holds(system, rest.formula, state) and not _is_proved(system, target, rest.formula, state):
            return f"an invariant that {state} shows to be none is accepted: {rest.cubes}"
    return None


def _with_a_way_less(system: TransitionSystem, target: Property, outcome: Inductive) -> str | None:
    """IC3 has left out the ways that it does not need."""
    ways = outcome.rescues
    if ways and check(system, target, outcome.invariant, rescues=ways[1:]) is None:
        return f"a way out is not needed: {[action.event for action in ways[0].actions]}"
    return None


def _within(system: TransitionSystem, cube: Sequence[Formula], state: State, draw: random.Random) -> State:
    """The state, with other codes where the cube wants others."""
    codes = list(state)
    for literal in cube:
        assert literal.variable is not None
        place = system.position[literal.variable]
        if not literal.mask >> codes[place] & 1:
            codes[place] = draw.choice([c for c in range(literal.variable.size) if literal.mask >> c & 1])
    return tuple(codes)


def _is_proved(system: TransitionSystem, target: Property, invariant: Formula, state: State) -> bool:
    """Whether nothing is wrong with this state of the invariant, nor with any step from it."""
    if holds(system, system.frontier, state):
        return False
    if target.form is not Form.STEP_INVARIANT and holds(system, target.bad, state):
        # Of a state that looks like a violation but may be saved nothing is known here.
        return target.unless is not None
    if holds(system, system.halted, state):
        return True
    for action in system.actions:
        if not holds(system, action.guard, state) or not _is_defined(system, action, state):
            continue
        after = successor(system, state, action)
        if not holds(system, invariant, after):
            return False
        if target.form is Form.STEP_INVARIANT and holds(system, target.bad, state, after):
            return False
    return True


def _is_defined(system: TransitionSystem, action: Action, state: State) -> bool:
    """Whether the updates say what the step does; in states that no run reaches they need not."""
    for update in action.updates.values():
        if isinstance(update, Copy) and update.table[state[system.position[update.source]]] < 0:
            return False
        if isinstance(update, Cases) and not any(holds(system, condition, state) for condition, _ in update.cases):
            return False
    return True


__all__ = ["complaint"]
