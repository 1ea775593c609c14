"""Variables that watch runs: what a system for infinite runs adds to those of the model."""

from __future__ import annotations

from checker.logic.formula import Role, Variable
from checker.transition_system import FairnessConstraint, TransitionSystem


def watching(name: str, size: int, initial: int = 0) -> Variable:
    """A variable with the values 0 to size-1."""
    return Variable(name, tuple(range(size)), initial, Role.GHOST)


def watching_fairness(system: TransitionSystem) -> dict[FairnessConstraint, Variable]:
    """For each fairness constraint, in their order, what has been seen of it: two values for a weak one, of which 0 is
    that a step is owed, and three for a strong one."""
    return {
        constraint: watching(f"kept {number}: {constraint.name}", 3 if constraint.strong else 2)
        for number, constraint in enumerate(system.fairness)
    }


__all__ = ["watching", "watching_fairness"]
