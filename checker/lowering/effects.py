"""What operations on queues and locks do to the variables of a world."""

from __future__ import annotations

from checker.logic.formula import FALSE, TRUE, Formula, Variable, conjunction, disjunction, negate
from checker.lowering.evaluator import Evaluator
from checker.lowering.layout import code_of
from checker.lowering.model_layout import EMPTY, BagQueue, FifoQueue, LockNode, ModelLayout, QueueNode, SetQueue
from checker.lowering.symbolic import Maybe, Scalar, Symbolic, Truth, constant, scalar
from checker.lowering.world import World
from spec.event import Slot
from spec.state import Holder, Loose
from spec.typed import LockVerb, Queue, QueueVerb
from spec.value import Value


class Blocked(Exception):
    """The statement waits."""


def queue_effect(
    world: World,
    evaluator: Evaluator,
    node: QueueNode,
    queue: Queue,
    verb: QueueVerb,
    item: Value,
    slot: Slot,
) -> Symbolic | None:
    """Performs the operation; the item taken, for TAKE and POP.  A push onto a full queue is left to the evaluator as
    an undefined state.  Raises Blocked where nothing is visible."""
    match node:
        case SetQueue():
            return _set_effect(world, node, queue, verb, item, slot)
        case BagQueue():
            return _bag_effect(world, evaluator, node, queue, verb, item, slot)
        case FifoQueue():
            return _fifo_effect(world, evaluator, node, queue, verb, item, slot)


def _set_effect(
    world: World, node: SetQueue, queue: Queue, verb: QueueVerb, item: Value, slot: Slot
) -> Symbolic | None:
    if verb in (QueueVerb.TAKE, QueueVerb.POP):
        item = _pick(world, {x: world.where(v, code_of(v, Loose.VISIBLE)) for x, v in node.items.items()})
        variable = node.items[item]
        world.set(variable, code_of(variable, slot if verb is QueueVerb.TAKE else None))
        return constant(item, queue.item)
    variable = node.items[item]
    absent, visible = code_of(variable, None), code_of(variable, Loose.VISIBLE)
    mine = code_of(variable, slot) if slot in variable.values else None
    match verb:
        case QueueVerb.PUSH:
            world.map(variable, lambda c: visible if c == absent else c)
        case QueueVerb.ACK:
            world.map(variable, lambda c: absent if c == mine else c)
        case QueueVerb.NACK:
            world.map(variable, lambda c: visible if c == mine else c)
        case _:
            world.set(variable, absent)
    return None


def _pick(world: World, visible: dict[Value, Formula]) -> Value:
    """Any visible item."""
    options = [(item, f) for item, condition in visible.items() if (f := world.simplify(condition)) is not FALSE]
    if not world.decide(disjunction(f for _, f in options)):
        raise Blocked
    item, condition = options[world.choose(len(options))]
    world.assume(condition)
    return item


def _raise(world: World, variable: Variable, by: int) -> None:
    top = variable.size - 1
    world.map(variable, lambda c: min(max(c + by, 0), top))


def _bag_effect(
    world: World, evaluator: Evaluator, node: BagQueue, queue: Queue, verb: QueueVerb, item: Value, slot: Slot
) -> Symbolic | None:
    if verb in (QueueVerb.TAKE, QueueVerb.POP):
        item = _pick(world, {x: negate(world.where(parts[Loose.VISIBLE], 0)) for x, parts in node.counts.items()})
        _raise(world, node.counts[item][Loose.VISIBLE], -1)
        if verb is QueueVerb.TAKE:
            _raise(world, node.counts[item][slot], 1)
        return constant(item, queue.item)
    parts = node.counts[item]
    match verb:
        case QueueVerb.PUSH:
            size = Scalar({0: TRUE})
            for variable in parts.values():
                size = scalar(
                    (n + c, conjunction((f, g)))  # type: ignore[operator]
                    for n, f in size.cases.items()
                    for c, g in world.codes(variable).items()
                )
            evaluator.fail(disjunction(f for n, f in size.cases.items() if n >= node.capacity))  # type: ignore[operator]
            _raise(world, parts[Loose.VISIBLE], 1)
        case QueueVerb.ACK | QueueVerb.NACK:
            if slot in parts and world.decide(negate(world.where(parts[slot], 0))):
                _raise(world, parts[slot], -1)
                if verb is QueueVerb.NACK:
                    _raise(world, parts[Loose.VISIBLE], 1)
        case _:
            others = sorted(h for h in parts if isinstance(h, Slot) and h != slot)
            preferred: tuple[Holder, ...] = (slot, Loose.VISIBLE, Loose.ORPHAN, *others)
            for holder in preferred:
                if holder in parts and world.decide(negate(world.where(parts[holder], 0))):
                    _raise(world, parts[holder], -1)
                    break
    return None


def _fifo_effect(
    world: World, evaluator: Evaluator, node: FifoQueue, queue: Queue, verb: QueueVerb, item: Value, slot: Slot
) -> Symbolic | None:
    cells = node.cells

    def first(wanted: object) -> int | None:
        """The oldest cell whose content `wanted` accepts."""
        for place, cell in enumerate(cells):
            here = disjunction(f for c, f in world.codes(cell).items() if wanted(cell.values[c]))  # type: ignore[operator]
            if world.decide(here):
                return place
        return None

    def remove(place: int) -> None:
        moved = [dict(world.codes(cell)) for cell in cells]
        for j in range(place, len(cells)):
            if j + 1 < len(cells):
                world.put(cells[j], moved[j + 1])
            else:
                world.set(cells[j], code_of(cells[j], EMPTY))

    if verb in (QueueVerb.TAKE, QueueVerb.POP):
        place = first(lambda v: v != EMPTY and v[1] is Loose.VISIBLE)
        if place is None:
            raise Blocked
        cell = cells[place]
        options = [
            (cell.values[c][0], f)  # type: ignore[index]
            for c, f in world.codes(cell).items()
            if cell.values[c] != EMPTY and cell.values[c][1] is Loose.VISIBLE  # type: ignore[index]
        ]
        item, condition = options[world.choose(len(options))]
        world.assume(condition)
        if verb is QueueVerb.TAKE:
            world.set(cell, code_of(cell, (item, slot)))
        else:
            remove(place)
        return constant(item, queue.item)
    match verb:
        case QueueVerb.PUSH:
            place = first(lambda v: v == EMPTY)
            if place is None:
                evaluator.fail(TRUE)
            else:
                world.set(cells[place], code_of(cells[place], (item, Loose.VISIBLE)))
        case QueueVerb.ACK | QueueVerb.NACK:
            place = first(lambda v: v == (item, slot))
            if place is not None:
                if verb is QueueVerb.ACK:
                    remove(place)
                else:
                    world.set(cells[place], code_of(cells[place], (item, Loose.VISIBLE)))
        case _:
            place = first(lambda v: v != EMPTY and v[0] == item)
            if place is not None:
                remove(place)
    return None


def lock_effect(
    world: World, evaluator: Evaluator, node: LockNode, verb: LockVerb, key: Value, slot: Slot
) -> Symbolic | None:
    """Performs the operation; the answer of ACQUIRE and AWAIT.  Raises Blocked where AWAIT finds the lock held."""
    holder = node.holders[key]
    free, mine = code_of(holder, Loose.FREE), code_of(holder, slot) if slot in holder.values else None
    if verb is LockVerb.RELEASE:
        world.map(holder, lambda c: free if c == mine else c)
        return None
    assert mine is not None
    acquired = world.where(holder, free)
    if verb is LockVerb.AWAIT:
        if not world.decide(acquired):
            raise Blocked
        acquired = TRUE
    world.map(holder, lambda c: mine if c == free else c)
    if not node.tokens:
        return Truth(acquired)
    token = node.tokens[key]
    last = dict(world.codes(token))
    top = token.size - 1
    evaluator.fail(conjunction((acquired, last.get(top, FALSE))))
    given = scalar((c + 1, conjunction((acquired, f))) for c, f in last.items() if c < top)
    codes: dict[int, list[Formula]] = {}
    for c, f in last.items():
        codes.setdefault(min(c + 1, top), []).append(conjunction((acquired, f)))
        codes.setdefault(c, []).append(conjunction((negate(acquired), f)))
    world.put(token, {c: f for c, parts in codes.items() if (f := disjunction(parts)) is not FALSE})
    return given if verb is LockVerb.AWAIT else Maybe(acquired, given)


def release_holdings(world: World, layout: ModelLayout, slot: Slot) -> None:
    """Items and locks that the ended activation holds become orphans."""
    for node in layout.queues.values():
        match node:
            case SetQueue(items):
                for variable in items.values():
                    _orphan(world, variable, slot)
            case BagQueue(counts, _):
                for parts in counts.values():
                    if slot in parts:
                        _move(world, parts[slot], parts[Loose.ORPHAN])
            case FifoQueue(cells):
                for cell in cells:
                    _orphan_cell(world, cell, slot)
    for lock in layout.locks.values():
        for variable in lock.holders.values():
            _orphan(world, variable, slot)


def _orphan(world: World, variable: Variable, slot: Slot) -> None:
    if slot in variable.values:
        mine, orphan = code_of(variable, slot), code_of(variable, Loose.ORPHAN)
        world.map(variable, lambda c: orphan if c == mine else c)


def _orphan_cell(world: World, cell: Variable, slot: Slot) -> None:
    def moved(code: int) -> int:
        content = cell.values[code]
        if isinstance(content, tuple) and content[1] == slot:
            return code_of(cell, (content[0], Loose.ORPHAN))
        return code

    world.map(cell, moved)


def _move(world: World, source: Variable, target: Variable) -> None:
    """All of a bag's copies go from one holder to another."""
    if set(world.codes(source)) == {0}:
        return
    sums: dict[int, list[Formula]] = {}
    for n, f in world.codes(source).items():
        for m, g in world.codes(target).items():
            sums.setdefault(min(n + m, target.size - 1), []).append(conjunction((f, g)))
    world.put(target, {c: f for c, parts in sums.items() if (f := disjunction(parts)) is not FALSE})
    world.set(source, 0)
