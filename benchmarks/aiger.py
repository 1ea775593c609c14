"""Writes a transition system and one of its invariants as an AIGER circuit, for hardware model checkers such as ABC.

    python -m benchmarks.aiger MODEL PROPERTY FILE [--variant NAME] [-D CONST=VALUE]

The format: Biere, The AIGER And-Inverter Graph Format, 2007; the output is the bad-state signal.  Codes are binary.
One input for each action says that it is taken if its guard holds and no action before it is taken; when none is,
the state stays, which makes no other state reachable.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from checker.catalogue import library
from checker.logic.formula import TRUE, Formula, Op, Variable, member
from checker.lower import lower
from checker.transition_system import Constant, Copy, Form, Property, TransitionSystem, Update
from spec.checking.choice import Choice
from spec.load import load
from spec.typecheck import typecheck

_FALSE, _TRUE = 0, 1


class Circuit:
    """The circuit of one invariant.  Literals are AIGER's: twice the number of a signal, plus one when negated."""

    def __init__(self, system: TransitionSystem, target: Property) -> None:
        """Raises ValueError when the property is no invariant."""
        if target.form not in (Form.INVARIANT, Form.COVER):
            raise ValueError(f"{target.name} is no invariant")
        self._system = system
        self._target = target
        self._inputs = [2 * (1 + number) for number in range(len(system.actions))]
        self._bits: dict[Variable, list[int]] = {}
        self._latches: list[int] = []
        for variable in system.variables:
            self._bits[variable] = self._latch_bits(variable)
        self._gates: list[tuple[int, int, int]] = []
        self._known: dict[tuple[int, int], int] = {}
        self._formulas: dict[Formula, int] = {}
        self._next = 2 * (1 + len(self._inputs) + len(self._latches))

    def write(self, file: Path) -> None:
        """Writes the circuit in AIGER's binary format."""
        following = self._following()
        bad = self._formula(self._target.bad)
        inputs, latches = len(self._inputs), len(self._latches)
        header = f"aig {self._next // 2 - 1} {inputs} {latches} 1 {len(self._gates)}\n"
        lines = [f"{literal}\n" for literal in (*following, bad)]
        body = bytearray()
        for output, left, right in self._gates:
            high, low = max(left, right), min(left, right)
            for delta in (output - high, high - low):
                while delta >= 128:
                    body.append(delta & 127 | 128)
                    delta >>= 7
                body.append(delta)
        file.write_bytes((header + "".join(lines)).encode() + bytes(body))

    def _latch_bits(self, variable: Variable) -> list[int]:
        """The bits of the code, lowest first.  A latch starts at 0, so a bit that starts at 1 is a negated latch."""
        bits = []
        for bit in range((variable.size - 1).bit_length()):
            latch = 2 * (1 + len(self._inputs) + len(self._latches))
            self._latches.append(latch)
            bits.append(latch ^ (variable.initial >> bit & 1))
        return bits

    def _following(self) -> list[int]:
        """What each latch is next."""
        running = 1 ^ self._formula(self._system.halted)
        free = _TRUE
        changes: dict[Variable, list[tuple[int, Update]]] = {variable: [] for variable in self._system.variables}
        for action, chosen in zip(self._system.actions, self._inputs, strict=True):
            wanted = self._and(chosen, free)
            free = self._and(free, 1 ^ chosen)
            taken = self._and(wanted, self._and(running, self._formula(action.guard)))
            for variable, update in action.updates.items():
                changes[variable].append((taken, update))
        following = []
        for variable in self._system.variables:
            bits = list(self._bits[variable])
            for taken, update in changes[variable]:
                for bit, now in enumerate(bits):
                    bits[bit] = self._choose(taken, self._update_bit(update, bit), now)
            # a negated latch holds the complement of its bit
            following += [new ^ (old & 1) for old, new in zip(self._bits[variable], bits, strict=True)]
        return following

    def _update_bit(self, update: Update, bit: int) -> int:
        if isinstance(update, Constant):
            return update.code >> bit & 1
        if isinstance(update, Copy):
            mask = sum(1 << code for code, new in enumerate(update.table) if new >= 0 and new >> bit & 1)
            return self._formula(member(update.source, mask))
        return self._any([self._formula(condition) for condition, code in update.cases if code >> bit & 1])

    def _formula(self, formula: Formula) -> int:
        found = self._formulas.get(formula)
        if found is None:
            match formula.op:
                case Op.TRUE | Op.FALSE:
                    found = _TRUE if formula is TRUE else _FALSE
                case Op.IN:
                    found = self._literal(formula)
                case Op.AND:
                    found = 1 ^ self._any([1 ^ self._formula(part) for part in formula.args])
                case Op.OR:
                    found = self._any([self._formula(part) for part in formula.args])
            self._formulas[formula] = found
        return found

    def _literal(self, formula: Formula) -> int:
        variable = formula.variable
        assert variable is not None
        codes = [code for code in range(variable.size) if formula.mask >> code & 1]
        return self._any([self._code(variable, code) for code in codes])

    def _code(self, variable: Variable, code: int) -> int:
        found = _TRUE
        for bit, literal in enumerate(self._bits[variable]):
            found = self._and(found, literal if code >> bit & 1 else 1 ^ literal)
        return found

    def _choose(self, condition: int, then: int, otherwise: int) -> int:
        return 1 ^ self._and(1 ^ self._and(condition, then), 1 ^ self._and(1 ^ condition, otherwise))

    def _any(self, literals: list[int]) -> int:
        none = _TRUE
        for literal in literals:
            none = self._and(none, 1 ^ literal)
        return 1 ^ none

    def _and(self, left: int, right: int) -> int:
        if left > right:
            left, right = right, left
        if left == _FALSE or left ^ right == 1:
            return _FALSE
        if left in (_TRUE, right):
            return right
        found = self._known.get((left, right))
        if found is None:
            found = self._known[left, right] = self._next
            self._gates.append((found, left, right))
            self._next += 2
        return found


def system_of(path: Path, variant: str | None, constants: dict[str, str]) -> TransitionSystem:
    """The transition system of a model file.  Raises ValueError when the model has errors."""
    module = load(path, library())
    if isinstance(module, tuple):
        raise ValueError(module[0].message)
    checked = typecheck(module, Choice(variant, constants))
    if isinstance(checked, tuple):
        raise ValueError(checked[0].message)
    return lower(checked.model).system


def main() -> None:
    parser = argparse.ArgumentParser(description="Write an invariant of a model as an AIGER circuit.")
    parser.add_argument("model", type=Path)
    parser.add_argument("property")
    parser.add_argument("file", type=Path)
    parser.add_argument("--variant")
    parser.add_argument("-D", action="append", default=[], dest="constants", metavar="CONST=VALUE")
    options = parser.parse_args()
    constants = dict(text.split("=", 1) for text in options.constants)
    system = system_of(options.model, options.variant, constants)
    target = next(each for each in system.properties if each.name == options.property)
    Circuit(system, target).write(options.file)


if __name__ == "__main__":
    main()
