"""Names that a line gives, `assert_LINE`, by the number of their property instead: lines move."""

from __future__ import annotations

from checker.lowering.properties import MODEL_ERRORS, STUCK_THREADS, assertions
from checker.options import Options
from checker.variant import is_wanted
from spec.typecheck import Checked
from spec.typed import Model

_MARK = "assert "
"""No name of a model has a space in it."""


class Names:
    """The names of a model's properties, as they are and as they are kept.

    asserts: the statements behind each property of asserts, in the order of these"""

    def __init__(self, model: Model) -> None:
        found = assertions(model)
        self.asserts = [sorted(sites) for sites in found.values()]
        self._kept = {name: f"{_MARK}{number}" for number, name in enumerate(found)}
        self._shown = {kept: name for name, kept in self._kept.items()}

    def kept(self, name: str) -> str:
        return self._kept.get(name, name)

    def shown(self, kept: str) -> str:
        """Raises ValueError where the model has no such assert."""
        if kept.startswith(_MARK) and kept not in self._shown:
            raise ValueError(f"the model has no {kept}")
        return self._shown.get(kept, kept)


def properties_of(checked: Checked, options: Options) -> list[str]:
    """The names of all properties that the check of a variant gives a verdict on, in the order of its report."""
    model = checked.model
    told = [*(declared.name for declared in model.properties), MODEL_ERRORS, *assertions(model), STUCK_THREADS]
    return [name for name in told if is_wanted(name, checked, options)]


__all__ = ["Names", "properties_of"]
