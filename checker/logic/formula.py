"""Boolean formulas over finite variables, hash-consed and in negation normal form.

A literal says that a variable's code lies in a set: `In(v, mask)`, where bit c of `mask` stands for code c.
Negating a literal complements its set, so negation never appears as a node and every engine needs only
literals, conjunction and disjunction.  A literal may speak of the value after a step (`primed`); only
step properties contain such literals.

Formulas are compared by identity: the constructors return the same object for the same formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from weakref import WeakValueDictionary


class Role(Enum):
    """What a variable of the transition system stands for."""

    STORE = "store"
    QUEUE = "queue"
    LOCK = "lock"
    PROCESS = "process variable"
    GHOST = "ghost"
    CONTROL = "control"
    LOCAL = "local"
    CALLER = "caller"
    UP = "up"
    CUT = "cut"
    FRESH = "fresh"
    BUDGET = "fault budget"
    ERROR = "error"


@dataclass(frozen=True, eq=False)
class Variable:
    """A state variable whose codes run from 0 to `len(values) - 1`.

    name    unique within its transition system, readable (`postgres.workflow[w0]`)
    values  what each code stands for; values are hashable and unique
    initial the code in the initial state
    """

    name: str
    values: tuple[object, ...]
    initial: int
    role: Role

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def full_mask(self) -> int:
        return (1 << len(self.values)) - 1

    @cached_property
    def codes(self) -> Mapping[tuple[type, object], int]:
        """The code of each value.  The type belongs to the key because Python takes True for 1."""
        return {(type(value), value): code for code, value in reversed(tuple(enumerate(self.values)))}

    def __repr__(self) -> str:
        return self.name


class Op(Enum):
    TRUE = "true"
    FALSE = "false"
    IN = "in"
    AND = "and"
    OR = "or"


@dataclass(eq=False, slots=True, weakref_slot=True)
class Formula:
    """One node.  `variable`, `mask`, `primed` belong to `Op.IN`; `args` to `Op.AND` and `Op.OR`.

    Never change a node: it may be shared.  `negation` is a cache that `negate` fills.
    """

    op: Op
    uid: int
    variable: Variable | None = None
    mask: int = 0
    primed: bool = False
    args: tuple[Formula, ...] = field(default=())
    negation: Formula | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Copies are made by the constructors, so that there too a formula is one object."""
        if self.op is Op.IN:
            return member, (self.variable, self.mask, self.primed)
        return (conjunction if self.op in (Op.AND, Op.TRUE) else disjunction), (self.args,)

    def __repr__(self) -> str:
        if self.op is Op.IN:
            assert self.variable is not None
            codes = [str(self.variable.values[c]) for c in range(self.variable.size) if self.mask >> c & 1]
            return f"{self.variable.name}{chr(39) if self.primed else ''} in {{{', '.join(codes)}}}"
        if self.args:
            return "(" + f" {self.op.value} ".join(map(repr, self.args)) + ")"
        return str(self.op.value)


_next_uid = 2
TRUE = Formula(Op.TRUE, 0)
FALSE = Formula(Op.FALSE, 1)
_table: WeakValueDictionary[object, Formula] = WeakValueDictionary()


def _intern(key: object, make: Callable[[int], Formula]) -> Formula:
    global _next_uid
    found = _table.get(key)
    if found is None:
        found = make(_next_uid)
        _next_uid += 1
        _table[key] = found
    return found


def member(variable: Variable, mask: int, primed: bool = False) -> Formula:
    """`variable` (after the step, if primed) has one of the codes whose bits are set in `mask`."""
    mask &= variable.full_mask
    if mask == 0:
        return FALSE
    if mask == variable.full_mask:
        return TRUE
    return _intern((id(variable), mask, primed), lambda uid: Formula(Op.IN, uid, variable, mask, primed))


def equals(variable: Variable, code: int, primed: bool = False) -> Formula:
    return member(variable, 1 << code, primed)


def conjunction(parts: Iterable[Formula]) -> Formula:
    return _connective(Op.AND, parts, FALSE, TRUE)


def disjunction(parts: Iterable[Formula]) -> Formula:
    return _connective(Op.OR, parts, TRUE, FALSE)


def _connective(op: Op, parts: Iterable[Formula], absorbing: Formula, neutral: Formula) -> Formula:
    literals: dict[tuple[int, bool], tuple[Variable, int]] = {}
    others: dict[int, Formula] = {}
    stack = list(parts)[::-1]
    while stack:
        part = stack.pop()
        if part is absorbing:
            return absorbing
        if part is neutral:
            continue
        if part.op is op:
            stack.extend(reversed(part.args))
        elif part.op is Op.IN:
            assert part.variable is not None
            key = (id(part.variable), part.primed)
            before = literals.get(key)
            if before is None:
                mask = part.mask
            elif op is Op.AND:
                mask = before[1] & part.mask
                if mask == 0:
                    return absorbing
            else:
                mask = before[1] | part.mask
                if mask == part.variable.full_mask:
                    return absorbing
            literals[key] = (part.variable, mask)
        else:
            others[part.uid] = part
    nodes = [member(v, mask, primed) for (_, primed), (v, mask) in literals.items()]
    nodes += others.values()
    for node in others.values():
        if node.negation is not None and node.negation.uid in others:
            return absorbing
    if not nodes:
        return neutral
    if len(nodes) == 1:
        return nodes[0]
    nodes.sort(key=lambda node: node.uid)
    args = tuple(nodes)
    return _intern((op, tuple(node.uid for node in args)), lambda uid: Formula(op, uid, args=args))


def negate(formula: Formula) -> Formula:
    known = formula.negation
    if known is None:
        if formula.op is Op.IN:
            assert formula.variable is not None
            known = member(formula.variable, formula.variable.full_mask & ~formula.mask, formula.primed)
        elif formula.op is Op.AND:
            known = disjunction([negate(part) for part in formula.args])
        elif formula.op is Op.OR:
            known = conjunction([negate(part) for part in formula.args])
        else:
            known = FALSE if formula.op is Op.TRUE else TRUE
        formula.negation = known
        known.negation = formula
    return known


def implies(left: Formula, right: Formula) -> Formula:
    return disjunction((negate(left), right))


def iff(left: Formula, right: Formula) -> Formula:
    return disjunction((conjunction((left, right)), conjunction((negate(left), negate(right)))))


def choose(condition: Formula, then: Formula, otherwise: Formula) -> Formula:
    if then is otherwise:
        return then
    return disjunction((conjunction((condition, then)), conjunction((negate(condition), otherwise))))


def variables_of(formula: Formula) -> frozenset[tuple[Variable, bool]]:
    """All (variable, primed) pairs that occur."""
    seen: set[int] = set()
    found: set[tuple[Variable, bool]] = set()
    stack = [formula]
    while stack:
        node = stack.pop()
        if node.uid in seen:
            continue
        seen.add(node.uid)
        if node.op is Op.IN:
            assert node.variable is not None
            found.add((node.variable, node.primed))
        stack.extend(node.args)
    return frozenset(found)


def evaluate(
    formula: Formula, code: Callable[[Variable], int], next_code: Callable[[Variable], int] | None = None
) -> bool:
    """The truth of `formula` when each variable has the code that `code` (primed: `next_code`) answers."""
    memo: dict[int, bool] = {}

    def visit(node: Formula) -> bool:
        if node is TRUE:
            return True
        if node is FALSE:
            return False
        known = memo.get(node.uid)
        if known is None:
            if node.op is Op.IN:
                assert node.variable is not None
                if node.primed:
                    assert next_code is not None
                    known = bool(node.mask >> next_code(node.variable) & 1)
                else:
                    known = bool(node.mask >> code(node.variable) & 1)
            elif node.op is Op.AND:
                known = all(visit(part) for part in node.args)
            else:
                known = any(visit(part) for part in node.args)
            memo[node.uid] = known
        return known

    return visit(formula)


def substitute(formula: Formula, literal: Callable[[Formula], Formula]) -> Formula:
    """`formula` with every literal replaced by what `literal` answers for it."""
    memo: dict[int, Formula] = {}

    def visit(node: Formula) -> Formula:
        if node.op is Op.IN:
            return literal(node)
        if not node.args:
            return node
        known = memo.get(node.uid)
        if known is None:
            parts = [visit(part) for part in node.args]
            known = conjunction(parts) if node.op is Op.AND else disjunction(parts)
            memo[node.uid] = known
        return known

    return visit(formula)


Codes = Mapping[Variable, int]
