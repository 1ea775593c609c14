"""The three obligations of an inductive invariant as SMT-LIB 2 texts, for any solver of QF_UF.

Each text is unsatisfiable exactly when its obligation holds (Floyd 1967):

    initiation   the initial state is outside of the invariant
    consecution  a state in the invariant has a step that leads out of it
    safety       a state in the invariant (for a step invariant: a step from there) violates the property

All is Boolean: one constant for each code of each variable, exactly one of which holds.  The texts depend on nothing
but the system, the property and the invariant, so two lowerings of one model give the same texts.  The encoding shares
no code with the engines or with `checker.logic.encode`.

For `at rest` and `recoverable` a state violates the property when it looks so and no way out of those that are stated
is open: the actions of each way are executed in the text, from the state on.

Barrett, Fontaine and Tinelli, "The SMT-LIB standard: version 2.6", 2017.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checker.certificates.rescue import Rescue
from checker.logic.formula import Formula, Op, Variable, conjunction, negate, variables_of
from checker.transition_system import Action, Cases, Constant, Copy, Form, Property, Reachability, TransitionSystem


@dataclass(frozen=True)
class Obligations:
    initiation: str
    consecution: str
    safety: str

    def items(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each."""
        return (("initiation", self.initiation), ("consecution", self.consecution), ("safety", self.safety))


def obligations(
    system: TransitionSystem, target: Property, invariant: Formula, rescues: Sequence[Rescue] = ()
) -> Obligations:
    """The texts.  `invariant` speaks of the state alone.  Raises ValueError for a form of property that an invariant
    does not prove, and for ways out that do not count."""
    if target.form is Form.LIVE:
        raise ValueError(f"an invariant does not prove that `{target.form.value}` holds")
    unless = target.unless
    if rescues and (unless is None or not all(rescue.is_of(unless) for rescue in rescues)):
        raise ValueError(f"a way out has a step that does not count for {target.form.value} {target.name}")
    initial = _Text(system, f"{target.name}: the initial state is in the invariant")
    initial.state(primed=False)
    for variable in system.variables:
        initial.require(initial.literal(variable, 1 << variable.initial, False))
    initial.require(f"(not {initial.formula(invariant)})")

    step = _Text(system, f"{target.name}: no step leads out of the invariant")
    step.state(primed=False)
    step.state(primed=True)
    step.require(step.formula(invariant))
    step.steps()
    step.require(f"(not {step.formula(invariant, primed=True)})")

    safe = _Text(system, f"{target.name}: nothing in the invariant violates the property")
    safe.state(primed=False)
    safe.require(safe.formula(invariant))
    if target.form is Form.STEP_INVARIANT:
        safe.state(primed=True)
        # The end of the explored window is as bad as a violation: what lies beyond is not known.
        beyond = safe.formula(system.frontier)
        safe.steps(unless=beyond)
        safe.require(f"(or {beyond} {safe.formula(target.bad)})")
    else:
        bad = [safe.formula(target.bad)]
        if unless is not None:
            bad += [f"(not {safe.way_out(rescue, unless)})" for rescue in rescues]
        violated = bad[0] if len(bad) == 1 else f"(and {' '.join(bad)})"
        safe.require(f"(or {violated} {safe.formula(system.frontier)})")
    return Obligations(initial.text(), step.text(), safe.text())


class _Text:
    """One text under construction."""

    def __init__(self, system: TransitionSystem, title: str) -> None:
        self._system = system
        self._place = system.position
        self._lines = [f"; {' '.join(title.split())}", "(set-logic QF_UF)"]
        self._names: dict[tuple[int, bool], str] = {}
        self._kept: list[Formula] = []
        self._ranks: dict[int, str] = {}
        self._labels: dict[Variable, Sequence[str]] = {}
        self._bodies: dict[str, str] = {}
        self._defined = 0

    def text(self) -> str:
        return "\n".join((*self._lines, "(check-sat)", ""))

    def require(self, expression: str) -> None:
        self._lines.append(f"(assert {expression})")

    def state(self, primed: bool) -> None:
        """Declares the variables; each has exactly one code."""
        for variable in self._system.variables:
            names = [self._constant(variable, code, primed) for code in range(variable.size)]
            self._lines += [f"(declare-const {name} Bool)" for name in names]
            self.require(f"(or {' '.join(names)})")
            for place, name in enumerate(names):
                for other in names[:place]:
                    self.require(f"(or (not {name}) (not {other}))")

    def literal(self, variable: Variable, mask: int, primed: bool) -> str:
        """The variable has one of the codes."""
        inside = [code for code in range(variable.size) if mask >> code & 1]
        outside = [code for code in range(variable.size) if not mask >> code & 1]
        if not inside:
            return "false"
        if not outside:
            return "true"
        if len(inside) <= len(outside):
            parts = [self._constant(variable, code, primed) for code in inside]
            return parts[0] if len(parts) == 1 else f"(or {' '.join(parts)})"
        parts = [f"(not {self._constant(variable, code, primed)})" for code in outside]
        return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"

    def formula(self, formula: Formula, primed: bool = False) -> str:
        """A name or a literal for the formula; with `primed` all of it speaks of the state after the step."""
        if formula.op is Op.IN:
            assert formula.variable is not None
            return self.literal(formula.variable, formula.mask, primed or formula.primed)
        if not formula.args:
            return str(formula.op.value)
        known = self._names.get((formula.uid, primed))
        if known is None:
            parts = sorted(formula.args, key=self._rank)
            body = f"({formula.op.value} {' '.join(self.formula(part, primed) for part in parts)})"
            self._defined += 1
            known = f"f{self._defined}"
            self._lines.append(f"(define-fun {known} () Bool {body})")
            self._names[formula.uid, primed] = known
            # A uid is one formula's as long as that lives.
            self._kept.append(formula)
        return known

    def steps(self, unless: str | None = None) -> None:
        """The second state follows upon the first by exactly one action.  unless: or this holds."""
        system = self._system
        fired = [f"|step {action.index}|" for action in system.actions]
        self._lines += [f"(declare-const {name} Bool)" for name in fired]
        some = f"(or {' '.join(fired)})" if len(fired) > 1 else (fired[0] if fired else "false")
        self.require(some if unless is None else f"(or {unless} {some})")
        # The number of the action in binary, so that no two are fired at once.
        bits = [f"|number {bit}|" for bit in range((len(fired) - 1).bit_length() if fired else 0)]
        self._lines += [f"(declare-const {name} Bool)" for name in bits]
        going_on = self.formula(conjunction((negate(system.halted), negate(system.frontier))))
        writers: dict[Variable, list[str]] = {variable: [] for variable in system.variables}
        for number, (name, action) in enumerate(zip(fired, system.actions, strict=True)):
            parts = [bit if number >> place & 1 else f"(not {bit})" for place, bit in enumerate(bits)]
            parts += [going_on, self.formula(action.guard)]
            for variable in sorted(action.updates, key=self._place.__getitem__):
                parts += self._update(variable, action.updates[variable])
                writers[variable].append(name)
            self.require(f"(=> {name} (and {' '.join(parts)}))")
        for variable, names in writers.items():
            same = " ".join(
                f"(= {self._constant(variable, code, False)} {self._constant(variable, code, True)})"
                for code in range(variable.size)
            )
            self.require(f"(or {' '.join(names)} (and {same}))" if names else f"(and {same})")

    def way_out(self, rescue: Rescue, unless: Reachability) -> str:
        """A name for: the actions can be taken in turn from the state, and reach the goal."""
        system = self._system
        going_on = conjunction((negate(system.halted), negate(system.frontier)))
        before: _Moment = {}
        now: _Moment = {}
        parts = []
        for action in rescue.actions:
            parts += [self._at(going_on, now), self._at(action.guard, now)]
            before, now = now, self._after(action, now)
        goals = [self._at(unless.state, now)]
        for formula in unless.watched if rescue.actions else ():
            if any(variable in rescue.actions[-1].writes for variable, _ in variables_of(formula)):
                other = negate(formula)
                goals.append(f"(and {self._at(formula, before)} {self._at(other, now)})")
                goals.append(f"(and {self._at(other, before)} {self._at(formula, now)})")
        return self._define(f"(and true {' '.join(parts)} (or false {' '.join(goals)}))")

    def _after(self, action: Action, now: _Moment) -> _Moment:
        """The state after the action.  A value that an update leaves open is no value: no literal about it holds."""
        after = dict(now)
        for variable in sorted(action.updates, key=self._place.__getitem__):
            update = action.updates[variable]
            ways: list[list[str]] = [[] for _ in range(variable.size)]
            if isinstance(update, Constant):
                ways[update.code].append("true")
            elif isinstance(update, Copy):
                for code, new in enumerate(update.table):
                    if new >= 0:
                        ways[new].append(self._valued(update.source, code, now))
            else:
                for condition, code in update.cases:
                    ways[code].append(self._at(condition, now))
            after[variable] = [
                "false" if not each else each[0] if each in (["true"], ["false"]) else self._define(_or(each))
                for each in ways
            ]
        return after

    def _at(self, formula: Formula, now: _Moment) -> str:
        """The formula in the state after some actions."""
        if formula.op is Op.IN:
            assert formula.variable is not None
            variable, mask = formula.variable, formula.mask
            if variable not in now:
                return self.literal(variable, mask, False)
            return _or([name for code, name in enumerate(now[variable]) if mask >> code & 1])
        if not any(variable in now for variable, _ in variables_of(formula)):
            return self.formula(formula)
        parts = [self._at(part, now) for part in sorted(formula.args, key=self._rank)]
        return self._define(f"({formula.op.value} {' '.join(parts)})")

    def _valued(self, variable: Variable, code: int, now: _Moment) -> str:
        return now[variable][code] if variable in now else self._constant(variable, code, False)

    def _define(self, body: str) -> str:
        known = self._bodies.get(body)
        if known is None:
            self._defined += 1
            known = self._bodies[body] = f"f{self._defined}"
            self._lines.append(f"(define-fun {known} () Bool {body})")
        return known

    def _update(self, variable: Variable, update: Constant | Copy | Cases) -> list[str]:
        if isinstance(update, Constant):
            return [self._constant(variable, update.code, True)]
        if isinstance(update, Copy):
            return [
                f"(=> {self._constant(update.source, code, False)} {self._constant(variable, new, True)})"
                for code, new in enumerate(update.table)
                if new >= 0
            ]
        return [
            f"(=> {self.formula(condition)} {self._constant(variable, code, True)})" for condition, code in update.cases
        ]

    def _constant(self, variable: Variable, code: int, primed: bool) -> str:
        known = self._labels.get(variable)
        if known is None:
            known = self._labels[variable] = labels(variable)
        name = f"{variable.name}{chr(39) if primed else ''} = {known[code]}"
        return f"|{name.translate(_UNQUOTABLE)}|"

    def _rank(self, formula: Formula) -> str:
        """A key that orders formulas by what they say, whenever they were made."""
        known = self._ranks.get(formula.uid)
        if known is None:
            if formula.op is Op.IN:
                assert formula.variable is not None
                known = f"{self._place[formula.variable]:06} {formula.primed} {formula.mask:x}"
            else:
                parts = sorted(map(self._rank, formula.args))
                known = hashlib.sha256("\n".join((formula.op.value, *parts)).encode()).hexdigest()
            self._ranks[formula.uid] = known
            self._kept.append(formula)
        return known


_Moment = dict[Variable, list[str]]
"""For each variable that was written: what says that it has the code, for one code after the other."""


def _or(parts: Sequence[str]) -> str:
    return "false" if not parts else parts[0] if len(parts) == 1 else f"(or {' '.join(parts)})"


_UNQUOTABLE: Mapping[int, str] = {ord("|"): "/", ord("\\"): "/"}


def labels(variable: Variable) -> Sequence[str]:
    """What stands for each code in texts: the value, made unique by its code where two values look alike."""
    told = [str(value) for value in variable.values]
    return [each if told.count(each) == 1 else f"{each} ({code})" for code, each in enumerate(told)]


__all__ = ["Obligations", "labels", "obligations"]
