"""What the parts of the type checker share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec import syntax
from spec.checking.problems import Problems
from spec.checking.tables import Tables

if TYPE_CHECKING:
    from spec.checking.choice import Choice
    from spec.checking.definitions import Definitions
    from spec.checking.dependencies import Dependencies
    from spec.checking.expressions import Expressions
    from spec.checking.settings import Settings
    from spec.checking.type_resolution import Types
    from spec.checking.variables import Variables


class World:
    """One check of one module for one choice.

    The attributes are made in the order of the fields; each uses only those before it when it is made, and any of
    them later (an expression needs types, a type needs constants, a constant is an expression)."""

    dependencies: Dependencies
    types: Types
    settings: Settings
    variables: Variables
    definitions: Definitions
    expressions: Expressions

    def __init__(self, module: syntax.Module, choice: Choice) -> None:
        self.module = module
        self.choice = choice
        self.problems = Problems()
        self.tables = Tables(module, self.problems)
        self.used: set[str] = set()
        """Global names that something refers to."""
        self._bound = 0

    def bound_key(self, name: str) -> str:
        """A key for a bound variable, unique in the model."""
        self._bound += 1
        return f"{name}@{self._bound}"
