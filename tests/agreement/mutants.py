"""Deliberate faults, one line each: in the interpreter, in the lowering, and in each engine.

Every one of them changes what a model means or what an engine answers.  `before` occurs exactly once in its file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    before: str
    after: str


MUTANTS = (
    # the interpreter
    Mutant(
        "interpreter: an effect that was lost is kept",
        "spec/thread_steps.py",
        "outcomes: list[tuple[bool, GlobalState]] = [(False, doing.state)]",
        "outcomes: list[tuple[bool, GlobalState]] = [(False, proper[0].state if isinstance(proper[0], Moved) else doing.state)]",
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
        "lowering: retry tries once more than it says",
        "checker/lowering/runner.py",
        "                if number > 0:\n",
        "                if number >= 0 and statement.times:\n" if False else "                if number > 1:\n",
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
        "                left = self.truth(expression.left)\n                with self._only(left):\n                    return Truth(conjunction(",
        "                left = self.truth(expression.left)\n                with self._only(TRUE):\n                    return Truth(conjunction(",
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
        "lowering: at rest means that nothing can happen",
        "checker/lowering/properties.py",
        "unless = Reachability(frozenset((Kind.THREAD, Kind.RECOVERY)), FALSE, watched(layout))",
        "unless = Reachability(frozenset((Kind.THREAD,)), FALSE, watched(layout))",
    ),
    Mutant(
        "lowering: recoverable may use faults",
        "checker/lowering/properties.py",
        "kinds = frozenset((Kind.THREAD, Kind.RECOVERY, Kind.ENVIRONMENT))",
        "kinds = frozenset((Kind.THREAD, Kind.RECOVERY))",
    ),
    Mutant(
        "compaction: a code that a copy makes is dropped",
        "checker/lowering/compaction.py",
        "            if new >= 0 and known[update.source] >> code & 1:\n                mask |= 1 << new\n        return mask",
        "            if new >= 0 and known[update.source] >> code & 1 and code:\n                mask |= 1 << new\n        return mask",
    ),
    Mutant(
        "lowering: swaps leave values as they are",
        "checker/lowering/symmetries.py",
        "code if isinstance(value, ErrorCode) else code_of(target, exchange(value))",
        "code",
    ),
)
