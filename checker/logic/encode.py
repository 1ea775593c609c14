"""One step of a transition system as propositional clauses, made once and shifted to every depth.

A template speaks of three blocks of variables: the current state 1..n, the next state n+1..2n, and auxiliary
variables after them.  `Template.placed` moves each block to where it belongs in an unrolling.

Encoding:
  variables   a code is one literal of several (one-hot) up to 16 codes, binary beyond; two codes share one literal
  selection   one literal per action: it implies the guard, fixes what the action writes, and exactly one is true
              (the "at most one" in binary); a variable may only change if an action that writes it is selected
              (explanatory frame axioms: Haas, "The case for domain-specific frame axioms", 1987; Kautz and Selman,
              "Pushing the envelope", 1996)
  formulas    shared gates, defined only in the direction in which they are used (Plaisted and Greenbaum, "A
              structure-preserving clause form translation", 1986), which is enough because every use is positive
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from checker.logic.formula import Formula, Op, Variable, member, negate
from checker.logic.solver import Literals, flatten
from checker.transition_system import Action, Cases, Constant, TransitionSystem

LARGEST_ONE_HOT = 16


class Layout:
    """Which literals stand for which variable, in the current (`primed`: next) state block."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self.width = 0
        self.variables = tuple(variables)
        self._first: dict[Variable, int] = {}
        for variable in self.variables:
            self._first[variable] = self.width + 1
            self.width += _literal_count(variable)

    def literals(self, variable: Variable, primed: bool = False) -> range:
        """The state literals of a variable: none for one code, one for two (true for code 1), one per code if one-hot,
        else the bits, lowest first."""
        first = self._first[variable] + (self.width if primed else 0)
        return range(first, first + _literal_count(variable))

    def cube(self, variable: Variable, code: int, primed: bool = False) -> tuple[int, ...]:
        """Literals that together say that the variable has the code; a one-hot group's other literals follow."""
        literals = self.literals(variable, primed)
        if is_one_hot(variable):
            return (literals[code],)
        return tuple(literal if code >> bit & 1 else -literal for bit, literal in enumerate(literals))

    def full_cube(self, variable: Variable, code: int) -> tuple[int, ...]:
        """The values of all state literals of the variable when it has the code."""
        literals = self.literals(variable)
        if is_one_hot(variable):
            return tuple(literal if place == code else -literal for place, literal in enumerate(literals))
        return self.cube(variable, code)

    def code(self, variable: Variable, value: Callable[[int], bool]) -> int:
        """The code that the values of the current-state literals stand for."""
        bits = [value(literal) for literal in self.literals(variable)]
        if is_one_hot(variable):
            assert sum(bits) == 1, f"{variable} has {sum(bits)} codes"
            return bits.index(True)
        code = sum(1 << place for place, bit in enumerate(bits) if bit)
        assert code < variable.size, f"{variable} has the code {code}"
        return code


def is_one_hot(variable: Variable) -> bool:
    return 2 < variable.size <= LARGEST_ONE_HOT


def _literal_count(variable: Variable) -> int:
    return variable.size if is_one_hot(variable) else (variable.size - 1).bit_length()


@dataclass(frozen=True)
class Template:
    """Clauses over the blocks of a layout of the given width, each clause ended by a 0.

    outputs  auxiliary literals with a meaning of their own: of a step, the selection of each action, then what else
             the kind of step has; of a formula, one literal that implies the formula
    """

    clauses: Literals
    width: int
    auxiliaries: int
    outputs: tuple[int, ...]

    def placed(self, current: int, following: int, auxiliary: int) -> Literals:
        """The clauses with variable i of each block moved to `current + i`, `following + i`, `auxiliary + i`."""
        shifts = np.zeros(2 * self.width + self.auxiliaries + 1, dtype=np.int64)
        shifts[1 : self.width + 1] = current
        shifts[self.width + 1 : 2 * self.width + 1] = following - self.width
        shifts[2 * self.width + 1 :] = auxiliary - 2 * self.width
        moves = shifts[np.abs(self.clauses)]
        return np.where(self.clauses < 0, self.clauses - moves, self.clauses + moves)


def step_template(system: TransitionSystem, layout: Layout) -> Template:
    """The clauses that relate a state to its successors; a halted or frontier state has none."""
    clauses = Clauses(layout)
    selections = clauses.selections(system)
    clauses.require((), negate(system.halted))
    clauses.require((), negate(system.frontier))
    clauses.add(*selections)
    clauses.at_most_one(selections)
    return clauses.template(selections)


def idling_template(system: TransitionSystem, layout: Layout) -> Template:
    """The same, or nothing happens: an output after those of the actions says that the state stays as it is."""
    clauses = Clauses(layout)
    selections = clauses.selections(system)
    idle = clauses.new()
    clauses.require((idle,), negate(system.halted))
    clauses.require((idle,), negate(system.frontier))
    clauses.add(idle, *selections)
    clauses.at_most_one((*selections, idle))
    return clauses.template((*selections, idle))


def formula_template(formula: Formula, layout: Layout) -> Template:
    """A literal (`outputs[0]`) and clauses by which it implies the formula."""
    clauses = Clauses(layout)
    root = clauses.new()
    clauses.require((-root,), formula)
    return clauses.template((root,))


def _updates(clauses: Clauses, selection: int, action: Action) -> None:
    layout = clauses.layout
    for variable, update in action.updates.items():
        if isinstance(update, Constant):
            for literal in layout.cube(variable, update.code, primed=True):
                clauses.add(-selection, literal)
        elif isinstance(update, Cases):
            for condition, code in update.cases:
                for literal in layout.cube(variable, code, primed=True):
                    clauses.require((-selection, literal), negate(condition))
        else:
            sources: dict[int, int] = {}
            for code, new in enumerate(update.table):
                if new >= 0:
                    for literal in layout.cube(variable, new, primed=True):
                        sources[literal] = sources.get(literal, 0) | 1 << code
            for literal, mask in sources.items():
                elsewhere = update.source.full_mask & ~mask
                clauses.require((-selection, literal), member(update.source, elsewhere))


@dataclass(frozen=True, eq=False)
class _Gate:
    """A conjunction, or a disjunction, of literals and gates."""

    conjunctive: bool
    parts: tuple[_Node, ...]


_Node = int | _Gate
_TRUE = _Gate(True, ())
_FALSE = _Gate(False, ())


class Clauses:
    """Clauses of a template under construction."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._clauses: list[tuple[int, ...]] = []
        self._last = 2 * layout.width
        self._nodes: dict[int, _Node] = {}
        self._decisions: dict[tuple[Variable, bool, int, int, int], _Node | None] = {}
        self._gates: dict[_Gate, int] = {}
        self._formulas: list[Formula] = []

    def new(self) -> int:
        self._last += 1
        return self._last

    def add(self, *literals: int) -> None:
        self._clauses.append(literals)

    def template(self, outputs: tuple[int, ...]) -> Template:
        width = self.layout.width
        return Template(flatten(self._clauses), width, self._last - 2 * width, outputs)

    def selections(self, system: TransitionSystem) -> tuple[int, ...]:
        """A literal for each action, which says that the action takes part in the step.  Its guard holds before and
        what it writes holds after; what no selected action writes stays, and every variable has one code."""
        selections = tuple(self.new() for _ in system.actions)
        for variable in self.layout.variables:
            self.one_code(variable)
        for selection, action in zip(selections, system.actions, strict=True):
            self.require((-selection,), action.guard)
            _updates(self, selection, action)
        for variable in self.layout.variables:
            writers = [
                selection for selection, a in zip(selections, system.actions, strict=True) if variable in a.updates
            ]
            if len(writers) > 3:
                writers = [self.gate(_Gate(False, tuple(writers)))]
            before = self.layout.literals(variable)
            for old, new in zip(before, self.layout.literals(variable, primed=True), strict=True):
                self.add(*writers, -old, new)
                self.add(*writers, old, -new)
        return selections

    def at_most_one(self, literals: Sequence[int], unless: tuple[int, ...] = ()) -> None:
        """At most one of the literals is true, unless one of the others is: each true one spells its number."""
        places = [self.new() for _ in range((len(literals) - 1).bit_length())]
        for number, literal in enumerate(literals):
            for bit, place in enumerate(places):
                self.add(*unless, -literal, place if number >> bit & 1 else -place)

    def one_code(self, variable: Variable) -> None:
        """After the step the variable has exactly one code."""
        literals = self.layout.literals(variable, primed=True)
        if is_one_hot(variable):
            self.add(*literals)
            for place, literal in enumerate(literals):
                for other in literals[:place]:
                    self.add(-literal, -other)
        elif variable.size & variable.size - 1:
            # A comparison with the largest code: some bit that it lacks must be false unless a higher one already is.
            largest = variable.size - 1
            for bit, literal in enumerate(literals):
                if not largest >> bit & 1:
                    self.add(-literal, *(-literals[b] for b in range(bit + 1, len(literals)) if largest >> b & 1))

    def require(self, unless: tuple[int, ...], formula: Formula) -> None:
        """The formula holds, unless one of the literals is true."""
        self._require(unless, self._node(formula))

    def _require(self, unless: tuple[int, ...], node: _Node) -> None:
        if isinstance(node, int):
            self.add(*unless, node)
        elif node.conjunctive:
            for part in node.parts:
                self._require(unless, part)
        else:
            literals = list(unless)
            conjunctions: list[_Gate] = []
            pending = list(node.parts)[::-1]
            while pending:
                part = pending.pop()
                if isinstance(part, int):
                    literals.append(part)
                elif part.conjunctive:
                    conjunctions.append(part)
                else:
                    pending.extend(reversed(part.parts))
            if len(conjunctions) == 1 and _is_flat(conjunctions[0]):
                for part in conjunctions[0].parts:
                    self._require(tuple(literals), part)
            else:
                self.add(*literals, *(self.gate(each) for each in conjunctions))

    def gate(self, gate: _Gate) -> int:
        """A literal that implies the gate."""
        found = self._gates.get(gate)
        if found is None:
            found = self.new()
            self._gates[gate] = found
            self._require((-found,), gate)
        return found

    def _node(self, formula: Formula) -> _Node:
        known = self._nodes.get(formula.uid)
        if known is None:
            if formula.op is Op.IN:
                known = self._member(formula, in_clause=False)
            elif formula.args:
                conjunctive = formula.op is Op.AND
                parts = [
                    self._member(part, not conjunctive) if part.op is Op.IN else self._node(part)
                    for part in formula.args
                ]
                known = _Gate(conjunctive, tuple(parts))
            else:
                known = _TRUE if formula.op is Op.TRUE else _FALSE
            self._nodes[formula.uid] = known
            # Keeps the formula alive, so that its uid stays its own.
            self._formulas.append(formula)
        return known

    def _member(self, formula: Formula, in_clause: bool) -> _Node:
        """The literals of a one-hot variable, whichever is shorter: one of these codes, or none of the others."""
        variable, mask = formula.variable, formula.mask
        assert variable is not None
        literals = self.layout.literals(variable, formula.primed)
        if variable.size == 2:
            return literals[0] if mask == 2 else -literals[0]
        if not is_one_hot(variable):
            found = self._decide(variable, formula.primed, mask, len(literals), 0)
            assert found is not None
            return found
        inside = [literal for code, literal in enumerate(literals) if mask >> code & 1]
        outside = [-literal for code, literal in enumerate(literals) if not mask >> code & 1]
        if len(outside) == 1:
            return outside[0]
        if len(inside) == 1:
            return inside[0]
        if in_clause or len(inside) <= len(outside):
            return _Gate(False, tuple(inside))
        return _Gate(True, tuple(outside))

    def _decide(self, variable: Variable, primed: bool, mask: int, bits: int, start: int) -> _Node | None:
        """A decision tree over the bits of a binary variable, from the top: whether its code lies in `mask`, given that
        it lies in start .. start + 2^bits - 1.  None where there is no such code."""
        if start >= variable.size:
            return None
        block = (mask >> start) & ((1 << (1 << bits)) - 1)
        length = min(1 << bits, variable.size - start)
        if block == 0:
            return _FALSE
        if block == (1 << length) - 1:
            return _TRUE
        key = (variable, primed, block, bits, length)
        if key in self._decisions:
            return self._decisions[key]
        literal = self.layout.literals(variable, primed)[bits - 1]
        low = self._decide(variable, primed, mask, bits - 1, start)
        high = self._decide(variable, primed, mask, bits - 1, start + (1 << bits - 1))
        # The lowest code of a block that is not empty is in its lower half.
        assert low is not None
        node: _Node
        if low == high or high is None:
            node = low
        elif low is _FALSE:
            node = literal if high is _TRUE else _Gate(True, (literal, high))
        elif high is _FALSE:
            node = -literal if low is _TRUE else _Gate(True, (-literal, low))
        elif low is _TRUE:
            node = _Gate(False, (-literal, high))
        elif high is _TRUE:
            node = _Gate(False, (literal, low))
        else:
            node = _Gate(True, (_Gate(False, (literal, low)), _Gate(False, (-literal, high))))
        self._decisions[key] = node
        return node


def _is_flat(gate: _Gate) -> bool:
    """Whether no part of a conjunction has a conjunction in it."""
    for part in gate.parts:
        if isinstance(part, _Gate) and (part.conjunctive or not all(isinstance(each, int) for each in part.parts)):
            return False
    return True


__all__ = [
    "LARGEST_ONE_HOT",
    "Clauses",
    "Layout",
    "Template",
    "formula_template",
    "idling_template",
    "is_one_hot",
    "step_template",
]
