"""An inductive invariant in the words of its model: `never (postgres.workflow[w] == COMPLETED and not executed[w])`.

Each cube becomes one sentence.  Cubes that the symmetries map to each other become one, with letters for the ids: the
symmetries map reachable states to reachable states, so what is never true of one id is never true of any.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from checker.certificates.invariant import Invariant
from checker.logic.formula import Formula, Variable
from checker.lower import Lowered
from checker.lowering.control import START
from checker.lowering.layout import DEAD, Key
from checker.lowering.model_layout import IDLE, NO_ERROR, At, ErrorCode, Replying, Waiting, slot_name
from checker.transition_system import Permutation
from counterexamples.notation import places, write_party, write_slot, write_value
from counterexamples.site import sites
from spec.event import Party, Slot
from spec.state import Loose
from spec.typed import Model
from spec.value import Id

_ADDED: Key = ("added",)
"""In place of the key of a variable that the lowered system does not have."""
_LARGEST_ORBIT = 5_000
_LONGEST_STATEMENT = 48

_Word = Callable[[object], str]
Literals = frozenset[tuple[Variable, int]]


@dataclass(frozen=True)
class Sentence:
    """`never` with `of`: the letters that stand for ids, as `w: Workflow`; ids with different letters differ.

    cubes   how many cubes of the invariant it stands for
    """

    of: tuple[str, ...]
    literals: tuple[str, ...]
    cubes: int

    def __str__(self) -> str:
        never = f"never ({' and '.join(self.literals)})"
        if not self.of:
            return never
        kinds = [letter.partition(": ")[2] for letter in self.of]
        distinct = "distinct " if len(kinds) > len(set(kinds)) else ""
        return f"for all {distinct}{', '.join(self.of)}: {never}"


def sentences(invariant: Invariant, lowered: Lowered) -> tuple[Sentence, ...]:
    """The invariant as sentences, the shortest first."""
    words = _Words(lowered)
    swaps = lowered.system.swaps
    cubes = [_literals(cube) for cube in invariant.cubes]
    left = dict.fromkeys(cubes)
    found = []
    for cube in cubes:
        if cube not in left:
            continue
        orbit = _orbit(cube, swaps)
        if orbit is None:
            del left[cube]
            found.append(words.sentence(cube, 1, general=False))
            continue
        members = [image for image in orbit if image in left]
        for image in members:
            del left[image]
        found.append(words.sentence(cube, len(members), general=True))
    return tuple(sorted(found, key=lambda s: (len(s.literals), len(str(s)), str(s))))


def single_sentences(invariant: Invariant, lowered: Lowered) -> tuple[Sentence, ...]:
    """Each cube as a sentence of its own: for an invariant of a system that has more variables than the lowered one, to
    which the symmetries do not extend."""
    words = _Words(lowered)
    found = (words.sentence(_literals(cube), 1, general=False) for cube in invariant.cubes)
    return tuple(sorted(found, key=lambda s: (len(s.literals), len(str(s)), str(s))))


def _literals(cube: Sequence[Formula]) -> Literals:
    found = set()
    for literal in cube:
        assert literal.variable is not None
        found.add((literal.variable, literal.mask))
    return frozenset(found)


def _orbit(cube: Literals, swaps: Sequence[Permutation]) -> set[Literals] | None:
    """All images of a cube under the symmetries; None when they are too many."""
    tables = [{source: (target, table) for source, target, table in swap.moves} for swap in swaps]
    seen = {cube}
    waiting = deque([cube])
    while waiting:
        current = waiting.popleft()
        for moves in tables:
            image = frozenset(_moved(variable, mask, moves) for variable, mask in current)
            if image not in seen:
                if len(seen) >= _LARGEST_ORBIT:
                    return None
                seen.add(image)
                waiting.append(image)
    return seen


def _moved(
    variable: Variable, mask: int, moves: dict[Variable, tuple[Variable, tuple[int, ...]]]
) -> tuple[Variable, int]:
    if variable not in moves:
        return variable, mask
    target, table = moves[variable]
    return target, sum(1 << table[code] for code in range(variable.size) if mask >> code & 1)


class _Words:
    def __init__(self, lowered: Lowered) -> None:
        self.model: Model = lowered.model
        self.layout = lowered.layout
        keys = lowered.layout.keys
        self.keys: dict[Variable, Key] = {new: keys[old] for old, new in lowered.compaction.kept.items()}
        self.order = lowered.system.position
        self.sites = sites(self.model)
        sizes = {name: kind.size for name, kind in self.model.ids.items()}
        sizes |= {process.name: process.instances.size for process in self.model.processes}
        swaps = Counter(swap.name.partition("#")[0] for swap in lowered.system.swaps)
        self.symmetric = sorted(
            name for name in self.model.symmetric if swaps[name] == sizes[name] * (sizes[name] - 1) // 2
        )

    def sentence(self, cube: Literals, count: int, general: bool) -> Sentence:
        ordered = sorted(cube, key=lambda literal: (self.order.get(literal[0], len(self.order)), literal[0].name))
        told = tuple(self.literal(variable, mask, self._is_live(variable, cube)) for variable, mask in ordered)
        return self._generalised(told, count) if general else Sentence((), told, count)

    def _generalised(self, told: tuple[str, ...], count: int) -> Sentence:
        """Letters for the ids of the types that the symmetries permute."""
        text = "\n".join(told)
        found: dict[str, list[str]] = {}
        for name in self.symmetric:
            pattern = rf"\b{re.escape(name)}(?:#(\d+)|\[(\d+)\])"
            numbers = [match[1] or match[2] for match in re.finditer(pattern, text)]
            if numbers:
                found[name] = list(dict.fromkeys(numbers))
        letters: dict[tuple[str, str], str] = {}
        taken: set[str] = set()
        of = []
        for name, numbers in found.items():
            base = name[0].lower()
            if base in taken:
                base = name[0].lower() + name[1:]
            taken.add(base)
            for place, number in enumerate(numbers, 1):
                letter = base if len(numbers) == 1 else f"{base}{place}"
                letters[name, number] = letter
                of.append(f"{letter}: {name}")

        def replaced(match: re.Match[str]) -> str:
            name, plain, indexed = match[1], match[2], match[3]
            letter = letters[name, plain or indexed]
            return letter if plain is not None else f"{name}[{letter}]"

        if not letters:
            return Sentence((), told, count)
        names = "|".join(re.escape(name) for name in found)
        pattern = rf"\b({names})(?:#(\d+)|\[(\d+)\])"
        return Sentence(tuple(of), tuple(re.sub(pattern, replaced, part) for part in told), count)

    # -- one literal --------------------------------------------------------------------------------------------------

    def _is_live(self, variable: Variable, cube: Literals) -> bool:
        """Whether the cube says that a local's thread stands where the local has a value."""
        key = self.keys.get(variable, _ADDED)
        if key[0] != "local":
            return False
        node = next(node for slot, node in self.layout.slots.items() if slot == key[1])
        for other, mask in cube:
            if self.keys.get(other, _ADDED) == ("control", key[1]):
                controls = [value for code, value in enumerate(other.values) if mask >> code & 1]
                return all(
                    isinstance(control, At | Waiting) and key[2] in self.layout.live_at(node, control)
                    for control in controls
                )
        return False

    def literal(self, variable: Variable, mask: int, live: bool = False) -> str:
        """`variable` has one of the codes of `mask`, in words.  live: the code for no value at all is not possible."""
        key = self.keys.get(variable, _ADDED)
        possible = [(code, value) for code, value in enumerate(variable.values) if not (live and value is DEAD)]
        inside = [value for code, value in possible if mask >> code & 1]
        outside = [value for code, value in possible if not mask >> code & 1]
        match key:
            case ("control", Slot() as slot):
                return self._among(
                    write_slot(slot, places(self.model, slot)), inside, outside, self._stand, "is ", "is not "
                )
            case ("local", Slot() as slot, *rest):
                return self._value(
                    f"{write_slot(slot, places(self.model, slot))}'s {self._local(slot, variable, rest)}",
                    variable,
                    inside,
                    outside,
                )
            case ("caller", Slot() as slot):
                subject = f"the caller of {write_slot(slot, places(self.model, slot))}"
                return self._among(subject, inside, outside, self._holder, "is ", "is not ")
            case ("queue", str(store), str(queue), item) if None in variable.values:
                return self._queued(f"{store}.{queue}", write_value(item), inside, outside)  # type: ignore[arg-type]
            case ("queue", str(store), str(queue), item, holder):
                subject = f"the copies of {write_value(item)} in {store}.{queue} {self._holding(holder)}"  # type: ignore[arg-type]
                return self._value(subject, variable, inside, outside)
            case ("queue", str(store), str(queue), int(cell)):
                return self._among(f"{store}.{queue}, place {cell},", inside, outside, self._cell, "has ", "has not ")
            case ("lock", str(store), str(lock), k):
                subject = f"{store}.{lock}" + ("" if k is None else f"[{write_value(k)}]")  # type: ignore[arg-type]
                return self._among(subject, inside, outside, self._holding, "is ", "is not ")
            case ("token", str(store), str(lock), k):
                subject = f"the last token of {store}.{lock}" + ("" if k is None else f"[{write_value(k)}]")  # type: ignore[arg-type]
                return self._value(subject, variable, inside, outside)
            case ("fresh", Id() as id_):
                return f"{id_} is used" if inside == [True] else f"{id_} is not used yet"
            case ("up", Party() as party):
                return f"{write_party(party)} is {'up' if inside == [True] else 'down'}"
            case ("cut", frozenset() as ends):
                link = " -- ".join(sorted(write_party(end) for end in ends if isinstance(end, Party)))
                return f"{link} is {'cut' if inside == [True] else 'not cut'}"
            case ("error",):
                if outside == [NO_ERROR]:
                    return "the run has ended in an error"
                return self._among("the run", inside, outside, self._error, "", "not: ")
            case _:
                return self._value(variable.name, variable, inside, outside)

    def _value(self, subject: str, variable: Variable, inside: list[object], outside: list[object]) -> str:
        """A literal about a variable that holds a value of the language."""
        if variable.name.endswith(" is some"):
            base = subject.removesuffix(" is some")
            return f"{base} is some" if inside == [True] else f"{base} is none"
        boolean = {str(value) for value in variable.values} == {"False", "True"}
        member, word, place = variable.name.partition(" in ")
        if word and boolean:
            where = place if subject == variable.name else subject
            return f"{member} {'in' if inside == [True] else 'not in'} {where}"
        if boolean:
            return subject if inside == [True] else f"not {subject}"
        if not outside or inside == [DEAD]:
            return f"{subject} has {'a' if not outside else 'no'} value"
        if outside == [DEAD]:
            return f"{subject} has a value"
        if len(inside) == 1:
            return f"{subject} == {_value(inside[0])}"
        if len(outside) == 1:
            return f"{subject} != {_value(outside[0])}"
        if len(inside) <= len(outside) + 1:
            return f"{subject} in {{{', '.join(map(_value, inside))}}}"
        return f"not {subject} in {{{', '.join(map(_value, outside))}}}"

    def _among(
        self, subject: str, inside: list[object], outside: list[object], word: _Word, verb: str, negated: str
    ) -> str:
        if len(inside) == 1 or 1 < len(outside) >= len(inside) - 1:
            return f"{subject} {verb}{_either(map(word, inside))}"
        return f"{subject} {negated}{_either(map(word, outside))}"

    def _queued(self, queue: str, item: str, inside: list[object], outside: list[object]) -> str:
        if inside == [None]:
            return f"not {queue}.contains({item})"
        if outside == [None]:
            return f"{queue}.contains({item})"
        if inside == [Loose.VISIBLE]:
            return f"{queue}.visible({item})"
        if outside == [Loose.VISIBLE]:
            return f"not {queue}.visible({item})"
        return self._among(f"{item} in {queue}", inside, outside, self._holding, "is ", "is not ")

    def _stand(self, control: object) -> str:
        match control:
            case At(position=position) if position == START:
                return "before its first statement"
            case At(position=position):
                return f"before {self._statement(position)}"
            case Waiting(position=position):
                return f"in the call of {self._statement(position)}"
            case Replying(ending=ending):
                return f"at its end, to answer {ending}"
            case _:
                assert control == IDLE
                return "idle"

    def _statement(self, number: int) -> str:
        site = self.sites.get(number)
        if site is None:
            return f"statement {number}"
        text = " ".join(site.statement.text.split())
        if len(text) > _LONGEST_STATEMENT:
            text = text[: _LONGEST_STATEMENT - 1] + "…"
        return f"line {site.statement.span.line}: {text}"

    def _local(self, slot: Slot, variable: Variable, rest: Sequence[object]) -> str:
        key = str(rest[0])
        name = key
        for process in self.model.processes:
            for thread in process.threads if process.name == slot.process else ():
                if thread.name == slot.thread:
                    name = next((local.name for local in thread.locals if local.key == key), key)
        if key.startswith("retry:"):
            name = f"count of retries in {self._statement(int(key.partition(':')[2]))}"
        elif key.startswith("for:"):
            name = f"rest of {self._statement(int(key.partition(':')[2]))}"
        return name + variable.name.partition(f"{slot_name(slot)}.{key}")[2].removesuffix(" is some")

    def _holder(self, holder: object) -> str:
        if holder is None:
            return "nobody"
        assert isinstance(holder, Slot)
        return write_slot(holder, places(self.model, holder))

    def _holding(self, holder: object) -> str:
        match holder:
            case None:
                return "absent"
            case Loose.VISIBLE:
                return "visible"
            case Loose.FREE:
                return "free"
            case Loose.ORPHAN:
                return "held by an activation that has ended"
            case _:
                return f"held by {self._holder(holder)}"

    def _cell(self, content: object) -> str:
        if isinstance(content, tuple):
            item, holder = content
            return f"{_value(item)} {self._holding(holder)}"
        return "nothing"

    def _error(self, code: object) -> str:
        if isinstance(code, ErrorCode):
            what = "failed the assertion" if code.assertion else "ended in an error"
            return f"{what} at {self._statement(code.site)}"
        return "has met no error"


def _either(words: Iterable[str]) -> str:
    told = list(words)
    return told[0] if len(told) == 1 else f"({' or '.join(told)})"


def _value(value: object) -> str:
    try:
        return write_value(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return str(value)


__all__ = ["Sentence", "sentences"]
