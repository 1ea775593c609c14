"""One step under construction: the states it starts from, and what it has made of them so far.

The lowering runs a step's code directly, as if on one state; wherever the course depends on the state, or a choice is
free, the world *splits*: `explore` runs the code again for every way to go.  Each run ends in one action: the guard
is what was assumed on the way, the updates are what was written (symbolic execution, King 1976).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from checker.logic.formula import (
    FALSE,
    TRUE,
    Formula,
    Op,
    Variable,
    conjunction,
    disjunction,
    member,
    negate,
    substitute,
)
from checker.lowering.layout import (
    BEYOND,
    Leaf,
    MapNode,
    Node,
    OptionalNode,
    RecordNode,
    SetNode,
    TupleNode,
    code_of,
    dead_code,
    leaves,
)
from checker.lowering.symbolic import Items, Map, Maybe, Members, Record, Scalar, Symbolic, Truth, cases_of
from checker.transition_system import Cases, Constant, Copy, Update
from spec.types import IntType
from spec.value import Row, Value

Codes = dict[int, Formula]


class Pruned(Exception):
    """This way is impossible, or the step is not enabled on it."""


Memo = dict[tuple[tuple[int, ...], int], object]
"""Results by the choices made before, and how many results were asked for before."""

T = TypeVar("T")


class World:
    """script: the choices to make first; beyond it every choice is the first.  memo: shared by all runs of one
    exploration."""

    def __init__(self, script: tuple[int, ...] = (), memo: Memo | None = None) -> None:
        self._script = script
        self._memo: Memo = {} if memo is None else memo
        self._asked = 0
        self.choices: list[int] = []
        self.widths: list[int] = []
        self.known: dict[Variable, int] = {}
        self.residual: list[Formula] = []
        self.written: dict[Variable, Codes] = {}

    def copy(self, script: tuple[int, ...]) -> World:
        """A world that goes on from here by itself."""
        world = World(script)
        world.known = dict(self.known)
        world.residual = list(self.residual)
        world.written = dict(self.written)
        return world

    def remember(self, compute: Callable[[], T]) -> T:
        """What `compute` answers; an earlier run that made the same choices so far has had the same answer, unless
        choices were made on the way to it."""
        key = (tuple(self.choices), self._asked)
        self._asked += 1
        if key in self._memo:
            return self._memo[key]  # type: ignore[return-value]
        value = compute()
        if len(self.choices) == len(key[0]):
            self._memo[key] = value
        return value

    # --------------------------------------------------------------------------------------------- splitting

    def choose(self, width: int) -> int:
        """One of 0..width-1; every one is tried in some run."""
        if width <= 0:
            raise Pruned
        place = len(self.choices)
        choice = self._script[place] if place < len(self._script) else 0
        if width == 1:
            return 0
        self.choices.append(choice)
        self.widths.append(width)
        return choice

    def decide(self, formula: Formula) -> bool:
        """Whether the formula holds; splits where both is possible."""
        formula = self.simplify(formula)
        if formula is TRUE:
            return True
        if formula is FALSE:
            return False
        holds = self.choose(2) == 0
        self.assume(formula if holds else negate(formula))
        return holds

    def assume(self, formula: Formula) -> None:
        """Restricts the states that the step starts from."""
        formula = self.simplify(formula)
        if formula is FALSE:
            raise Pruned
        if formula.op is Op.IN:
            assert formula.variable is not None
            self.known[formula.variable] = self._mask(formula.variable) & formula.mask
        elif formula.op is Op.AND:
            for part in formula.args:
                self.assume(part)
        elif formula is not TRUE:
            self.residual.append(formula)

    def concrete(self, symbolic: Symbolic) -> Symbolic:
        """The value, narrowed to one case by splitting."""
        options = [(v, g) for v, f in cases_of(symbolic).items() if (g := self.simplify(f)) is not FALSE]
        rest = self.simplify(negate(disjunction(f for _, f in options)))
        if rest is FALSE and len(options) == 1:
            return pin(symbolic, options[0][0])
        choice = self.choose(len(options) + (rest is not FALSE))
        if choice < len(options):
            value, condition = options[choice]
            self.assume(condition)
            return pin(symbolic, value)
        self.assume(rest)
        return symbolic

    def simplify(self, formula: Formula) -> Formula:
        """The formula, given what is known."""
        if formula.op is Op.IN:
            return self._literal(formula)
        return substitute(formula, self._literal)

    def _literal(self, literal: Formula) -> Formula:
        assert literal.variable is not None
        known = self.known.get(literal.variable)
        if known is None:
            return literal
        left = known & literal.mask
        if left == 0:
            return FALSE
        if left == known:
            return TRUE
        return member(literal.variable, left)

    def _mask(self, variable: Variable) -> int:
        return self.known.get(variable, variable.full_mask)

    # ------------------------------------------------------------------------------------ reading and writing

    def codes(self, variable: Variable, primed: bool = False) -> Mapping[int, Formula]:
        """Each code that the variable may have by now, with its condition on the state before the step."""
        written = self.written.get(variable)
        if written is not None:
            return {c: g for c, f in written.items() if (g := self.simplify(f)) is not FALSE}
        mask = self._mask(variable)
        if mask & (mask - 1) == 0:
            return {mask.bit_length() - 1: TRUE}
        return {c: member(variable, 1 << c) for c in range(variable.size) if mask >> c & 1}

    def where(self, variable: Variable, code: int) -> Formula:
        return self.codes(variable).get(code, FALSE)

    def put(self, variable: Variable, codes: Mapping[int, Formula]) -> None:
        self.written[variable] = dict(codes)

    def set(self, variable: Variable, code: int) -> None:
        self.written[variable] = {code: TRUE}

    def map(self, variable: Variable, new: Callable[[int], int]) -> None:
        """Every code c becomes new(c)."""
        merged: dict[int, list[Formula]] = {}
        changes = False
        for code, condition in self.codes(variable).items():
            target = new(code)
            changes = changes or target != code
            merged.setdefault(target, []).append(condition)
        if changes:
            self.put(variable, {code: disjunction(parts) for code, parts in merged.items()})

    def write(self, node: Node, value: Symbolic, where: Formula = TRUE) -> None:
        """Sets a part of the state.  Where `where` does not hold the part becomes meaningless (dead)."""
        match node:
            case Leaf(kind, variable):
                codes: dict[int, list[Formula]] = {}
                for v, condition in cases_of(value).items():
                    code = code_of(variable, v)
                    codes.setdefault(code, []).append(conjunction((condition, where)))
                if where is not TRUE:
                    codes.setdefault(dead_code(variable), []).append(negate(where))
                if isinstance(kind, IntType):
                    codes.setdefault(variable.values.index(BEYOND), [])
                self.put(variable, {c: f for c, parts in codes.items() if (f := disjunction(parts)) is not FALSE})
            case MapNode():
                assert isinstance(value, Map)
                for k, child in node.entries.items():
                    self.write(child, value.entries[k], where)
            case RecordNode():
                assert isinstance(value, Record)
                for name, child in node.fields.items():
                    self.write(child, value.fields[name], where)
            case TupleNode():
                assert isinstance(value, Items)
                for child, item in zip(node.items, value.items, strict=True):
                    self.write(child, item, where)
            case OptionalNode():
                assert isinstance(value, Maybe)
                present = conjunction((value.present, where))
                self.put(node.present, {1: present, 0: negate(present)})
                if value.value is None or present is FALSE:
                    self.kill(node.value)
                else:
                    self.write(node.value, value.value, present)
            case SetNode():
                assert isinstance(value, Members)
                for x, variable in node.members.items():
                    inside = conjunction((value.members[x], where))
                    self.put(variable, {1: inside, 0: negate(inside)})

    def kill(self, node: Node) -> None:
        for variable in leaves(node):
            self.set(variable, dead_code(variable))

    # ----------------------------------------------------------------------------------------------- results

    def guard(self) -> Formula:
        return conjunction(
            [*(member(v, mask) for v, mask in self.known.items()), *(self.simplify(f) for f in self.residual)]
        )

    def updates(self) -> dict[Variable, Update]:
        found: dict[Variable, Update] = {}
        for variable in self.written:
            update = self._update(variable, dict(self.codes(variable)))
            if update is not None:
                found[variable] = update
        return found

    def _update(self, variable: Variable, codes: Codes) -> Update | None:
        """None when the variable keeps its value."""
        if len(codes) == 1:
            code = next(iter(codes))
            return None if self._mask(variable) == 1 << code else Constant(code)
        sources = {f.variable for f in codes.values() if f.op is Op.IN}
        if len(sources) == 1 and all(f.op is Op.IN for f in codes.values()):
            source = next(iter(sources))
            assert source is not None
            known = self._mask(source)
            table = [-1] * source.size
            for code, condition in codes.items():
                for c in range(source.size):
                    if known & condition.mask & 1 << c:
                        table[c] = code
            if source is variable and all(table[c] in (c, -1) for c in range(source.size)):
                return None
            return Copy(source, tuple(table))
        return Cases(tuple((condition, code) for code, condition in codes.items()))

    def snapshot(self) -> dict[Variable, Codes]:
        return dict(self.written)

    def restore(self, snapshot: dict[Variable, Codes]) -> None:
        self.written = dict(snapshot)


def explore(run: Callable[[World], None]) -> Iterator[World]:
    """Every way through `run`, in lexicographic order of the choices.  Ways that raise Pruned are left out."""
    memo: Memo = {}
    yield from _explore(lambda script: World(script, memo), run)


def possible(start: World, run: Callable[[World], None]) -> Formula:
    """Where some way through `run`, going on from `start`, is not pruned.  `start` stays as it is."""
    return disjunction(world.guard() for world in _explore(start.copy, run))


def _explore(begin: Callable[[tuple[int, ...]], World], run: Callable[[World], None]) -> Iterator[World]:
    script: tuple[int, ...] | None = ()
    while script is not None:
        world = begin(script)
        try:
            run(world)
            done = True
        except Pruned:
            done = False
        if done and world.guard() is not FALSE:
            yield world
        choices, widths = world.choices, world.widths
        while choices and choices[-1] + 1 >= widths[-1]:
            choices.pop()
            widths.pop()
        script = (*choices[:-1], choices[-1] + 1) if choices else None


def pin(symbolic: Symbolic, value: Value) -> Symbolic:
    """The symbolic value of the same shape that is `value` everywhere."""
    match symbolic:
        case Truth():
            return Truth(TRUE if value else FALSE)
        case Scalar():
            return Scalar({value: TRUE})
        case Maybe(_, inner):
            if value is None:
                return Maybe(FALSE, None)
            assert inner is not None
            return Maybe(TRUE, pin(inner, value))
        case Items(items):
            assert isinstance(value, tuple)
            return Items(tuple(pin(item, v) for item, v in zip(items, value, strict=True)))
        case Record(name, fields):
            assert isinstance(value, Row)
            return Record(name, {f: pin(item, value.get(f)) for f, item in fields.items()})
        case _:
            raise TypeError("a map or set cannot be pinned to one value")
