"""Names across files: a file may use, for its own parameters, names of the files that import it."""

from __future__ import annotations

from pathlib import Path

from spec import syntax
from spec.load import load
from spec.typecheck import Checked, Choice, typecheck

MODEL = """import "library.cpt"
store db { durable executed: bool }
ghost seen: bool
process P[1] { on go() {
  db.executed := true
  seen := true
} }
invariant i: implied(db.executed, db.executed) or seen
"""


def check(folder: Path, library: str) -> Checked | list[tuple[str, int]]:
    (folder / "library.cpt").write_text(library, encoding="utf-8")
    (folder / "model.cpt").write_text(MODEL, encoding="utf-8")
    module = load(folder / "model.cpt", folder)
    assert isinstance(module, syntax.Module)
    answer = typecheck(module, Choice())
    if isinstance(answer, Checked):
        return answer
    return [(problem.code, problem.span.line if problem.span else 0) for problem in answer]


def test_a_parameter_of_a_library_may_have_the_name_of_a_variable_of_the_model(tmp_path: Path) -> None:
    found = check(tmp_path, "def implied(seen: bool, db: bool): bool = seen => db\n")
    assert isinstance(found, Checked)


def test_a_parameter_must_not_hide_a_name_of_its_own_file(tmp_path: Path) -> None:
    found = check(tmp_path, "const limit: int = 2\ndef implied(limit: bool, b: bool): bool = limit => b\n")
    assert found == [("E204", 2)]
