"""What became of a model's declarations: fault classes, sizes, properties, covers, scenarios, asserts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from checker.differences.change import Change, ChangeKind, Effect
from checker.differences.meaning import meaning, statement_of
from checker.lowering.properties import BUILT_IN
from spec.checking.flow import statements
from spec.typed import Assert, Fairness, Gap, Model

_STRENGTH = {Fairness.UNFAIR: 0, Fairness.WEAK: 1, Fairness.STRONG: 2}


@dataclass(frozen=True)
class Claim:
    """A property, cover, scenario or assert.  says: its meaning, equal for those that say the same; text: as written;
    nameless: an assert, whose name is only its line."""

    name: str
    says: str
    text: str
    nameless: bool = False


def compare_faults(base: Model, head: Model) -> Iterator[Change]:
    """Fault classes that are gone or new, and those whose recoveries the model assumes to be fairer, or less fair."""
    before = {str(fault): fault for fault in base.faults}
    after = {str(fault): fault for fault in head.faults}
    for name in before.keys() - after.keys() | after.keys() - before.keys():
        gone = name in before
        kind = ChangeKind.FAULTS_WEAKENED if gone else ChangeKind.FAULTS_STRENGTHENED
        told = ("may strike", "may not") if gone else ("may not", "may strike")
        yield Change(kind, Effect.REGRESSION if gone else Effect.BETTER, None, name, *told)
    for name in before.keys() & after.keys():
        old, new = before[name].fairness, after[name].fairness
        if old is not new:
            weaker = _STRENGTH[new] > _STRENGTH[old]
            kind = ChangeKind.FAULTS_WEAKENED if weaker else ChangeKind.FAULTS_STRENGTHENED
            told = f"recovery {old.value}", f"recovery {new.value}"
            yield Change(kind, Effect.REGRESSION if weaker else Effect.BETTER, None, name, *told)


def compare_sizes(variant: str | None, base: Model, head: Model) -> Iterator[Change]:
    """Ids and process instances of which there are fewer or more.  Those that only one side has are not compared."""
    before, after = _sizes(base), _sizes(head)
    for name, old in before.items():
        new = after.get(name, old)
        if new != old:
            fewer = new < old
            kind = ChangeKind.SIZE_SHRANK if fewer else ChangeKind.SIZE_GREW
            yield Change(kind, Effect.REGRESSION if fewer else Effect.BETTER, variant, name, str(old), str(new))


def _sizes(model: Model) -> dict[str, int]:
    sizes = {name: kind.size for name, kind in model.ids.items()}
    return sizes | {process.name: process.instances.size for process in model.processes}


def claims(model: Model) -> list[Claim]:
    """Everything that can be asked of a model, in its order; behind it the asserts and the model errors."""
    found = [Claim(each.name, statement_of(each), each.condition.span.text) for each in model.properties]
    for scenario in model.scenarios:
        beats = [".." if isinstance(beat, Gap) else beat.text for beat in scenario.beats]
        found.append(Claim(scenario.name, f"scenario {beats}", "; ".join(beats)))
    seen: Counter[str] = Counter()
    for process in model.processes:
        for thread in process.threads:
            for statement in statements(thread.body):
                if isinstance(statement, Assert):
                    says = f"assert {process.name}.{thread.name} {meaning(statement.condition)}"
                    seen[says] += 1
                    name = f"assert_{statement.span.line}"
                    found.append(Claim(name, f"{says} {seen[says]}", statement.condition.span.text, nameless=True))
    return [*found, *(Claim(name, name, name) for name in BUILT_IN)]


def match(base: list[Claim], head: list[Claim]) -> list[tuple[Claim | None, Claim | None]]:
    """Which claim is which: the same under the same name, then the same under another name, then another under the same
    name.  In the order of HEAD; behind it those that only BASE has."""
    old = list(base)
    found: dict[int, Claim] = {}
    for rule in (_is_the_same, _says_the_same, _has_the_same_name):
        for place, each in enumerate(head):
            if place not in found:
                fitting = next((candidate for candidate in old if rule(candidate, each)), None)
                if fitting is not None:
                    found[place] = fitting
                    old.remove(fitting)
    matched: list[tuple[Claim | None, Claim | None]] = [(found.get(place), each) for place, each in enumerate(head)]
    return matched + [(each, None) for each in old]


def _is_the_same(old: Claim, new: Claim) -> bool:
    return old.says == new.says and (old.name == new.name or old.nameless)


def _says_the_same(old: Claim, new: Claim) -> bool:
    return old.says == new.says


def _has_the_same_name(old: Claim, new: Claim) -> bool:
    return old.name == new.name and not old.nameless and not new.nameless


def compare_claims(variant: str | None, base: Claim | None, head: Claim | None) -> Iterator[Change]:
    """What became of one claim, its verdict aside.  A new one is judged by its verdict elsewhere."""
    if head is None:
        assert base is not None
        yield Change(ChangeKind.PROPERTY_REMOVED, Effect.REGRESSION, variant, base.name, base.text, None)
    elif base is not None and base.says != head.says:
        same = "the same text, but a definition or constant in it has changed"
        after = head.text if head.text != base.text else same
        yield Change(ChangeKind.CONDITION_CHANGED, Effect.REGRESSION, variant, head.name, base.text, after)
    elif base is not None and base.name != head.name and not head.nameless:
        yield Change(ChangeKind.PROPERTY_RENAMED, Effect.NEUTRAL, variant, head.name, base.name, head.name)
