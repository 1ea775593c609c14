"""Runs an engine on a lowered model and gathers its outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.engines.engine import Budget, Coverage, Engine, Outcome, Progress, Reached
from checker.lower import Lowered
from checker.transition_system import Property
from spec import syntax
from spec.parse import parse
from spec.source import Source
from spec.typecheck import Checked, Choice, typecheck


@dataclass
class Gathering:
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    coverage: Coverage | None = None

    def progress(self, progress: Progress) -> None:
        pass

    def decided(self, target: Property, outcome: Outcome) -> None:
        assert target.name not in self.outcomes, f"{target.name} was decided twice"
        self.outcomes[target.name] = outcome

    def covered(self, coverage: Coverage) -> None:
        self.coverage = coverage


def decide(engine: Engine, lowered: Lowered, budget: Budget | None = None) -> dict[str, Outcome]:
    gathering = Gathering()
    engine.run(lowered.system, lowered.system.properties, budget or Budget(), gathering)
    assert set(gathering.outcomes) == {p.name for p in lowered.system.properties}
    return gathering.outcomes


def length(outcome: object) -> int | None:
    return len(outcome.path.actions) if isinstance(outcome, Reached) else None


POINTLESS = {"E243", "E274"}
"""Codes of a condition that is constant, and of a property that can never change."""


class Pointless(Exception):
    """The program is rejected because something in it can never matter."""


def checked(text: str) -> Checked:
    file = parse(Source("program.cpt", text))
    assert isinstance(file, syntax.File), file
    answer = typecheck(syntax.Module(file.source, file.doc, file.items), Choice())
    if not isinstance(answer, Checked):
        assert {d.code for d in answer} <= POINTLESS, answer
        raise Pointless
    return answer
