"""Random transition systems, small enough to be searched by a plain dictionary.

A system is made of k instances of one random component plus shared variables, so that exchanging two instances is
a symmetry by construction.  All formulas are grown as templates, a function from an instance to a formula, and
a template treats all *other* instances alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from checker.logic.formula import (
    FALSE,
    TRUE,
    Formula,
    Role,
    Variable,
    conjunction,
    disjunction,
    equals,
    evaluate,
    member,
    negate,
)
from checker.transition_system import (
    Action,
    Cases,
    Constant,
    Copy,
    FairnessConstraint,
    Form,
    Kind,
    LiveCase,
    Permutation,
    Property,
    Reachability,
    TransitionSystem,
    Update,
)
from spec.event import Event, EventKind, Slot
from tests.engines.reference import TooLargeError, explore

Template = Callable[[int], Formula]


@dataclass(frozen=True)
class _Field:
    """One variable per instance, or a single shared one.  A pointer's codes are 0 for none and i + 1 for instance i."""

    per_instance: bool
    pointer: bool
    variables: tuple[Variable, ...]

    def of(self, instance: int) -> Variable:
        return self.variables[instance if self.per_instance else 0]

    @property
    def size(self) -> int:
        return self.variables[0].size


def random_system(random: Random, frontiers: bool = False, wide: int = 0) -> TransitionSystem:
    """A system with properties of every form; sometimes it deadlocks, halts, or has symmetries.

    frontiers  let it have frontier states (else `frontier` is FALSE)
    wide       so many further shared variables of up to 30 codes, written now and then: for states of many bits
    """
    wanted = random.choice((1, 10, 30, 30, 100, 300))
    for _ in range(30):
        system = _Generator(random).system(frontiers, wide)
        try:
            if len(explore(system, (), wanted).depth_of) >= wanted:
                break
        except TooLargeError:
            break
    return system


def random_live_system(random: Random, fairness: str, states: int = 60) -> TransitionSystem:
    """A system without frontier states, of at most `states` states, with properties of infinite runs alone.

    fairness  which constraints there are: "none", "weak", "strong" or "mixed"
    """
    wanted = random.choice((1, states // 8, states // 3))
    while True:
        system = _Generator(random).system(frontiers=False, wide=0)
        try:
            if len(explore(system, (), states).depth_of) >= wanted:
                break
        except TooLargeError:
            continue
    constraints: list[FairnessConstraint] = []
    groups: dict[int, list[Action]] = {}
    for action in system.actions:
        if action.kind in (Kind.THREAD, Kind.RECOVERY) and random.random() < 0.9:
            groups.setdefault(random.choice((action.index, random.randrange(4))), []).append(action)
    for number, actions in groups.items() if fairness != "none" else ():
        strong = fairness == "strong" or (fairness == "mixed" and random.random() < 0.5)
        enabled = disjunction(action.guard for action in actions)
        indices = frozenset(action.index for action in actions)
        constraints.append(FairnessConstraint(f"group {number}", f"group {number}", strong, enabled, indices))
    properties = tuple(
        Property(f"live {number}", Form.LIVE, FALSE, cases=tuple(_case(random, system) for _ in range(cases)))
        for number, cases in enumerate((1, 2))
    )
    return replace(system, properties=properties, fairness=tuple(constraints))


def _case(random: Random, system: TransitionSystem) -> LiveCase:
    def literal() -> Formula:
        variable = random.choice(system.variables)
        return member(variable, random.randrange(1, 1 << variable.size))

    def formula() -> Formula:
        parts = [literal() for _ in range(random.randint(1, 3))]
        return conjunction(parts) if random.random() < 0.7 else disjunction(parts)

    shape = random.random()
    if shape < 0.5:
        return LiveCase(formula(), formula())
    if shape < 0.65:
        return LiveCase(TRUE, formula(), from_start=True)
    if shape < 0.85:
        return LiveCase(TRUE, formula())
    return LiveCase(TRUE, FALSE, formula())


class _Generator:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = random.choice((1, 1, 2, 2, 3))
        self.fields: list[_Field] = []

    def system(self, frontiers: bool, wide: int) -> TransitionSystem:
        random = self.random
        for number in range(random.randint(1, 2)):
            self.field(f"own{number}", random.randint(2, 4), per_instance=True)
        for number in range(random.randint(1, 2)):
            self.field(f"shared{number}", random.randint(2, 4), per_instance=False)
        if random.random() < 0.4:
            self.field("owner", 0, per_instance=False)
        if random.random() < 0.2:
            self.field("peer", 0, per_instance=True)
        if random.random() < 0.2:
            self.field("fixed", 1, per_instance=False)
        core = len(self.fields)
        for number in range(wide):
            self.field(f"wide{number}", random.randint(2, 30), per_instance=False)
        drafts = [self.action(core) for _ in range(random.randint(2, 7))]
        actions: list[Action] = []
        for site, (kind, guard, updates) in enumerate(drafts):
            for instance in range(self.count):
                event = Event(EventKind.STEP, slot=Slot("P", instance, "t"), site=site)
                action = Action(len(actions), event, kind, guard(instance), updates(instance))
                if action.guard is not FALSE:
                    actions.append(action)
        variables = [variable for group in self.fields for variable in group.variables]
        random.shuffle(variables)
        halted = self.some(self.formula(1)) if random.random() < 0.3 else FALSE
        frontier = self.some(self.formula(2, strict=True)) if frontiers and random.random() < 0.6 else FALSE
        return TransitionSystem(
            tuple(variables), tuple(actions), self.properties(), halted, frontier, tuple(self.swaps())
        )

    def field(self, name: str, size: int, per_instance: bool) -> None:
        pointer = size == 0
        values: tuple[object, ...] = (None, *range(self.count)) if pointer else tuple(f"v{c}" for c in range(size))
        initial = 0 if pointer else self.random.randrange(len(values))
        names = [f"{name}[{i}]" for i in range(self.count)] if per_instance else [name]
        role = Role.LOCAL if per_instance else Role.STORE
        self.fields.append(
            _Field(per_instance, pointer, tuple(Variable(each, values, initial, role) for each in names))
        )

    def some(self, template: Template) -> Formula:
        return disjunction(template(i) for i in range(self.count))

    def every(self, template: Template) -> Formula:
        return conjunction(template(i) for i in range(self.count))

    def literal(self, primed: bool) -> Template:
        random = self.random
        group = random.choice(self.fields)
        primes = primed and random.random() < 0.5
        if group.pointer:
            none, own, other = (random.random() < 0.5 for _ in range(3))

            def pointer(instance: int) -> Formula:
                mask = int(none) | own << instance + 1
                for each in range(self.count):
                    if other and each != instance:
                        mask |= 1 << each + 1
                return member(group.of(instance), mask, primes)

            return pointer
        mask = random.randrange(1, 1 << group.size) if group.size < 2 or random.random() < 0.6 else 0
        mask = mask or 1 << random.randrange(group.size)
        where = random.random()
        if group.per_instance and where < 0.2:
            return lambda i: disjunction(member(group.of(j), mask, primes) for j in range(self.count) if j != i)
        if group.per_instance and where < 0.4:
            return lambda i: conjunction(member(group.of(j), mask, primes) for j in range(self.count) if j != i)
        return lambda i: member(group.of(i), mask, primes)

    def formula(self, depth: int, primed: bool = False, strict: bool = False) -> Template:
        """`strict` makes it a conjunction at the top, which holds in fewer states."""
        random = self.random
        if depth == 0:
            return self.literal(primed)
        parts = [self.formula(depth - 1, primed) for _ in range(random.randint(1, 3))]
        if strict or random.random() < 0.6:
            return lambda i: conjunction(part(i) for part in parts)
        if random.random() < 0.2:
            return lambda i: negate(disjunction(part(i) for part in parts))
        return lambda i: disjunction(part(i) for part in parts)

    def action(self, core: int) -> tuple[Kind, Template, Callable[[int], dict[Variable, Update]]]:
        random = self.random
        kind = random.choice((Kind.THREAD, Kind.THREAD, Kind.ENVIRONMENT, Kind.RECOVERY, Kind.FAULT))
        guards: list[Template] = [self.formula(random.choice((0, 0, 1, 2)))]
        drafts: list[tuple[_Field, Callable[[int], Update]]] = []
        chosen = random.sample(self.fields[:core], random.randint(1, min(3, core)))
        control = self.fields[0]
        if random.random() < 0.7:
            before, new = random.sample(range(control.size), 2)
            guards.append(lambda i: equals(control.of(i), before))
            drafts.append((control, lambda i: Constant(new)))
            chosen = [group for group in chosen if group is not control]
        if len(self.fields) > core and random.random() < 0.7:
            chosen += random.sample(self.fields[core:], min(len(self.fields) - core, random.randint(1, 3)))
        for group in chosen:
            update, needed = self.update(group)
            drafts.append((group, update))
            if needed is not None:
                guards.append(needed)
        return (
            kind,
            lambda i: conjunction(guard(i) for guard in guards),
            lambda i: {group.of(i): update(i) for group, update in drafts},
        )

    def code(self, group: _Field) -> Callable[[int], int]:
        if group.pointer:
            return self.random.choice((lambda i: 0, lambda i: i + 1))
        code = self.random.randrange(group.size)
        return lambda i: code

    def update(self, group: _Field) -> tuple[Callable[[int], Update], Template | None]:
        """An update, and what the guard must ensure for it."""
        random = self.random
        which = random.random()
        if which < 0.45:
            code = self.code(group)
            return (lambda i: Constant(code(i))), None
        if which < 0.75:
            sources = [each for each in self.fields if each.pointer == group.pointer]
            source = random.choice(sources)
            if group.pointer:
                return (lambda i: Copy(source.of(i), tuple(range(self.count + 1)))), None
            table = tuple(-1 if random.random() < 0.15 else random.randrange(group.size) for _ in range(source.size))
            mask = sum(1 << code for code, new in enumerate(table) if new >= 0)
            return (lambda i: Copy(source.of(i), table)), (lambda i: member(source.of(i), mask))
        first, second = self.formula(random.randint(0, 1)), self.formula(0)
        codes = [self.code(group) for _ in range(3)]
        if random.random() < 0.5:
            return (
                lambda i: Cases(((first(i), codes[0](i)), (negate(first(i)), codes[1](i)))),
                None,
            )
        return (
            lambda i: Cases(
                (
                    (first(i), codes[0](i)),
                    (conjunction((negate(first(i)), second(i))), codes[1](i)),
                    (conjunction((negate(first(i)), negate(second(i)))), codes[2](i)),
                )
            ),
            None,
        )

    def properties(self) -> tuple[Property, ...]:
        random = self.random

        def bad(primed: bool = False) -> Formula:
            parts = [self.formula(random.randint(0, 2), primed, strict=True) for _ in range(random.randint(1, 2))]
            template: Template = lambda i: conjunction(part(i) for part in parts)  # noqa: E731
            found = self.every(template) if random.random() < 0.4 else self.some(template)
            if random.random() < 0.7 and evaluate(found, lambda v: v.initial, lambda v: v.initial):
                return bad(primed)
            return found

        def unless(kinds: frozenset[Kind]) -> Reachability:
            watched: tuple[Formula, ...] = ()
            if random.random() < 0.5:
                template = self.formula(random.randint(0, 1))
                watched = tuple(dict.fromkeys(template(i) for i in range(self.count)))
            return Reachability(kinds, bad() if random.random() < 0.7 else FALSE, watched)

        threads = frozenset({Kind.THREAD})
        calm = frozenset(set(Kind) - {Kind.FAULT})
        found = [
            Property("an invariant", Form.INVARIANT, bad()),
            Property("another invariant", Form.INVARIANT, bad()),
            Property("a step invariant", Form.STEP_INVARIANT, bad(primed=True)),
            Property("another step invariant", Form.STEP_INVARIANT, bad(primed=True)),
            Property("a cover", Form.COVER, bad()),
            Property("at rest", Form.AT_REST, bad(), unless(threads)),
            Property("at rest, everywhere", Form.AT_REST, TRUE, unless(threads)),
            Property("recoverable", Form.RECOVERABLE, bad(), unless(calm)),
            Property("recoverable from everywhere", Form.RECOVERABLE, TRUE, unless(calm)),
        ]
        return tuple(found)

    def swaps(self) -> list[Permutation]:
        random = self.random
        if self.count < 2 or random.random() < 0.25:
            return []
        pairs = [(i, j) for i in range(self.count) for j in range(i + 1, self.count)]
        if random.random() < 0.5:
            pairs = [(i, i + 1) for i in range(self.count - 1)]
        return [self.swap(first, second) for first, second in pairs]

    def swap(self, first: int, second: int) -> Permutation:
        exchanged = {first: second, second: first}
        moves: list[tuple[Variable, Variable, tuple[int, ...]]] = []
        for group in self.fields:
            if group.pointer:
                table = (0, *(exchanged.get(i, i) + 1 for i in range(self.count)))
            else:
                table = tuple(range(group.size))
            for place in range(len(group.variables)):
                target = exchanged.get(place, place) if group.per_instance else place
                if target != place or group.pointer:
                    moves.append((group.variables[place], group.variables[target], table))
        return Permutation(f"P[{first}] <-> P[{second}]", tuple(moves))


__all__ = ["random_live_system", "random_system"]
