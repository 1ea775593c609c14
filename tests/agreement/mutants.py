"""Deliberate faults, one line each: in the interpreter, in the lowering, in each engine, and in the check of proofs.

Every one of them changes what a model means or what an engine answers.  `before` occurs exactly once in its file.
"""

from __future__ import annotations

from dataclasses import dataclass

COMPARISON = "tests.agreement.comparison"
STUCK = "tests.agreement.stuck_comparison"


@dataclass(frozen=True)
class Mutant:
    """by: the comparison that must find it."""

    name: str
    file: str
    before: str
    after: str
    by: str = COMPARISON


MUTANTS = (
    # the interpreter
    Mutant(
        "interpreter: an effect that was lost is kept",
        "spec/thread_steps.py",
        "outcomes: list[tuple[bool, GlobalState]] = [(False, doing.state)]",
        "outcomes: list[tuple[bool, GlobalState]] = [(False, getattr(proper[0], 'state', doing.state))]",
    ),
    Mutant(
        "interpreter: a store's crash keeps volatile contents",
        "spec/disturbances.py",
        "return replace(self.topology.reset_store(state, name), down=state.down | {Party(name)})",
        "return replace(state, down=state.down | {Party(name)})",
    ),
    Mutant(
        "interpreter: a cut does not wake who waits across it",
        "spec/disturbances.py",
        "            if caller is not None and {_party(callee), _party(caller)} == set(ends):",
        "            if caller is not None and False:",
    ),
    Mutant(
        "interpreter: insert overwrites",
        "spec/effects.py",
        "if read(statement.place, scope) is not None:",
        "if False:",
    ),
    Mutant(
        "interpreter: nack acknowledges",
        "spec/effects.py",
        "with_queue(hand(queue, held, mine, Loose.VISIBLE))",
        "with_queue(drop(queue, held, mine))",
    ),
    Mutant(
        "interpreter: update ignores its condition",
        "spec/effects.py",
        "holds = bool(evaluate(statement.condition, scope))",
        "holds = True",
    ),
    Mutant(
        "interpreter: anyone releases a lock",
        "spec/effects.py",
        "            if holder == slot:\n",
        "            if holder is not Loose.FREE:\n",
    ),
    Mutant(
        "interpreter: a requested id may be used again",
        "spec/disturbances.py",
        "                    if value.index not in used:\n",
        "                    if True:\n",
    ),
    Mutant(
        "interpreter: requests reach an instance that is down",
        "spec/disturbances.py",
        "if slot is not None and self.topology.up(state, party):",
        "if slot is not None:",
    ),
    Mutant(
        "interpreter: a lost reply is an answer",
        "spec/thread_steps.py",
        "yield settled(lost, state, lambda: answered(Ending.UNKNOWN))",
        "yield settled(lost, state, lambda: answered(ending))",
    ),
    # the lowering
    Mutant(
        "lowering: a refused statement goes on",
        "checker/lowering/steps.py",
        "return self._failed(runner, statement, event, Failure.REFUSED)",
        "return self._well(runner, statement, event)",
    ),
    Mutant(
        "lowering: a crash keeps the effect whether kept or not",
        "checker/lowering/steps.py",
        "        if not struck.kept:\n            self.world.restore(before)\n",
        "",
    ),
    Mutant(
        "lowering: an ended activation keeps what it took",
        "checker/lowering/runner.py",
        "        release_holdings(self.world, self.layout, self.slot)\n        self.clear(",
        "        self.clear(",
    ),
    Mutant(
        "lowering: a failed block of one step keeps what it did",
        "checker/lowering/runner.py",
        "            self.world.restore(before)\n            self.locals = locals_before\n            raise",
        "            self.locals = locals_before\n            raise",
    ),
    Mutant(
        "lowering: retry gives up one attempt early",
        "checker/lowering/runner.py",
        "                if number > 0:\n",
        "                if number > 1:\n",
    ),
    Mutant(
        "lowering: a handler catches every failure",
        "checker/lowering/control.py",
        "if handler.failures is None or failure in handler.failures:",
        "if True:",
    ),
    Mutant(
        "lowering: and evaluates its right side always",
        "checker/lowering/evaluator.py",
        "                with self._only(left):\n                    return Truth(conjunction(",
        "                with self._only(TRUE):\n                    return Truth(conjunction(",
    ),
    Mutant(
        "lowering: a fifo hands out any item",
        "checker/lowering/effects.py",
        "            if world.decide(here):\n                return place\n",
        "            if world.decide(here) and world.choose(2) == 0:\n                return place\n",
    ),
    Mutant(
        "lowering: a local that is still needed is forgotten",
        "checker/lowering/control.py",
        "new = uses[number] | (out - kills[number])",
        "new = uses[number] | (out & uses[number])",
    ),
    Mutant(
        "lowering: at rest does not wait for recoveries",
        "checker/lowering/properties.py",
        "unless = Reachability(frozenset((Kind.THREAD, Kind.RECOVERY)), FALSE, watched(layout))",
        "unless = Reachability(frozenset((Kind.THREAD,)), FALSE, watched(layout))",
    ),
    Mutant(
        "lowering: recovering may not use requests",
        "checker/lowering/properties.py",
        "            kinds = frozenset((Kind.THREAD, Kind.RECOVERY, Kind.ENVIRONMENT))",
        "            kinds = frozenset((Kind.THREAD, Kind.RECOVERY))",
    ),
    Mutant(
        "compaction: a code that a copy makes is dropped",
        "checker/lowering/compaction.py",
        "            if new >= 0 and known[update.source] >> code & 1:\n                mask |= 1 << new\n",
        "            if new >= 0 and known[update.source] >> code & 1 and code:\n                mask |= 1 << new\n",
    ),
    Mutant(
        "lowering: swaps leave values as they are",
        "checker/lowering/symmetries.py",
        "code if isinstance(value, ErrorCode) else code_of(target, exchange(value))",
        "code",
    ),
    # the search
    Mutant(
        "search: states of equal slot are taken for equal",
        "checker/engines/state_table.py",
        "            differs = self._columns[0].take(found) != pending[0]\n",
        "            differs = np.zeros(len(found), dtype=np.bool_)\n",
    ),
    Mutant(
        "search: only the first word of a state is compared",
        "checker/engines/state_table.py",
        "                differs |= stored.take(found) != column\n",
        "                pass\n",
    ),
    Mutant(
        "search: states with an error go on",
        "checker/engines/search.py",
        "ends = [formula for formula in (self.system.halted, self.system.frontier) if formula is not FALSE]",
        "ends = [formula for formula in (self.system.frontier,) if formula is not FALSE]",
    ),
    Mutant(
        "search: the last level is not expanded",
        "checker/engines/search.py",
        "                if self.table.count == last:\n",
        "                if self.table.count - last < 2:\n",
    ),
    Mutant(
        "search: a change does not save from rest",
        "checker/engines/closure.py",
        "                saved[places.take(firing.origins.take(marked))] = True\n",
        "                pass\n",
    ),
    Mutant(
        "search: being saved is not passed on",
        "checker/engines/closure.py",
        "        while len(reached):\n            begin",
        "        while False:\n            begin",
    ),
    # the unrolling and the bounded engine
    Mutant(
        "bmc: variables that no action writes may change",
        "checker/logic/encode.py",
        "                self.add(*writers, -old, new)\n",
        "",
    ),
    Mutant(
        "bmc: several actions at once",
        "checker/logic/encode.py",
        "                self.add(*unless, -literal, place if number >> bit & 1 else -place)\n",
        "                pass\n",
    ),
    Mutant(
        "bmc: a copied code is free",
        "checker/logic/encode.py",
        "                clauses.require((-selection, literal), member(update.source, elsewhere))\n",
        "                pass\n",
    ),
    Mutant(
        "bmc: what is learnt of saved states is wrong",
        "checker/engines/saving.py",
        "            formula = conjunction((self._going_on, action.guard, reached))\n",
        "            formula = conjunction((self._going_on, reached))\n",
    ),
    Mutant(
        "bmc: the deepest depth is not asked",
        "checker/engines/depth_search.py",
        "            self.complete = depth\n            if depth >= self.limit:\n",
        "            self.complete = depth + 1\n            if depth + 1 >= self.limit:\n",
    ),
    Mutant(
        "parallel: what a guard reads may be spoilt",
        "checker/engines/parallel_steps.py",
        "    _gather(action.guard, found)\n",
        "",
    ),
    # proofs
    Mutant(
        "ic3: a cube is excluded one level too high",
        "checker/engines/ic3.py",
        "            answer = self._ask(obligation.cube, level - 1)\n",
        "            answer = self._ask(obligation.cube, max(0, level - 2))\n",
    ),
    Mutant(
        "ic3: what a step leaves as it is does not matter before it",
        "checker/engines/preimages.py",
        "        places.update(place for place in masks if place not in step.writes)\n",
        "",
    ),
    Mutant(
        "ic3: a proof lacks the cubes that its cubes rest on",
        "checker/engines/inductive_core.py",
        "                        needed.add(other)\n",
        "",
    ),
    Mutant(
        "invariant: initiation is not checked",
        "checker/certificates/invariant.py",
        "        if not evaluate(clause, lambda variable: variable.initial):\n",
        "        if False:\n",
    ),
    Mutant(
        "invariant: consecution is not checked",
        "checker/certificates/invariant.py",
        "        if questions.possible(literal):\n",
        "        if False:\n",
    ),
    Mutant(
        "invariant: bad states are not checked",
        "checker/certificates/invariant.py",
        "    if target.form is not Form.STEP_INVARIANT and questions.possible(questions.place(bad)):\n",
        "    if False:\n",
    ),
    # stuck threads
    Mutant(
        "stuck, interpreter: a handler is never idle",
        "spec/stuck.py",
        "        if self._places.is_own(slot):\n            return True\n",
        "        if True:\n            return self._places.is_own(slot)\n",
        STUCK,
    ),
    Mutant(
        "stuck, interpreter: who waits for a lock may be idle",
        "spec/stuck.py",
        "statement.id in self._first[name] and not locked",
        "statement.id in self._first[name]",
        STUCK,
    ),
    Mutant(
        "stuck, interpreter: one way on that may wait is not enough",
        "spec/stuck.py",
        "bool(waiting) and not any(map(_may_wait, waiting))",
        "bool(waiting) and not all(map(_may_wait, waiting))",
        STUCK,
    ),
    Mutant(
        "stuck, interpreter: whoever is blocked once is stuck",
        "spec/stuck.py",
        "left = {slot for slot in left if self.blocked(here, slot)}",
        "left = set(left)",
        STUCK,
    ),
    Mutant(
        "stuck, lowering: only one way on is looked at",
        "checker/lowering/stuck.py",
        "for guard in guards.get(slot, ()))",
        "for guard in guards.get(slot, ())[:1])",
        STUCK,
    ),
    Mutant(
        "stuck, lowering: handlers that nobody waits for are idle",
        "checker/lowering/stuck.py",
        "        alone = TRUE if name in self._polled else FALSE\n",
        "        alone = TRUE\n",
        STUCK,
    ),
    Mutant(
        "stuck, lowering: a local failure leads nowhere",
        "checker/lowering/stuck.py",
        "            waiting += _after_failing(flow, statement)\n",
        "            pass\n",
        STUCK,
    ),
    Mutant(
        "stuck, lowering: blocks ok is overlooked",
        "checker/lowering/stuck.py",
        "return statement.blocks_ok or all(isinstance(part, typed.Fresh)",
        "return all(isinstance(part, typed.Fresh)",
        STUCK,
    ),
    Mutant(
        "stuck, lowering: it need not have healed",
        "checker/lowering/properties.py",
        "    bad = conjunction((some, running, negate(beyond), healed(layout)))\n",
        "    bad = conjunction((some, running, negate(beyond)))\n",
        STUCK,
    ),
    Mutant(
        "stuck, second look: some slots are left out",
        "checker/lowering/properties.py",
        "        for slot, blocked in blocked_slots(layout, actions).items()\n",
        "        for slot, blocked in list(blocked_slots(layout, actions).items())[:1]\n",
        STUCK,
    ),
)
