"""Every code has examples that do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spec import syntax
from spec.codes import CODES, table
from spec.diagnostic import Code, Diagnostic, Severity
from spec.load import load
from spec.typecheck import Checked, typecheck

SPEC = Path(__file__).parents[2] / "spec"
MODELS = [code for code in CODES.values() if code.is_model]


def check(text: str, folder: Path) -> tuple[tuple[Diagnostic, ...], Checked | None]:
    """All diagnostics of a model, and the typed model when there is one."""
    path = folder / "model.cpt"
    path.write_text(text)
    module = load(path, folder)
    if not isinstance(module, syntax.Module):
        return module, None
    checked = typecheck(module)
    return (checked.warnings, checked) if isinstance(checked, Checked) else (checked, None)


@pytest.mark.parametrize("code", MODELS, ids=lambda code: code.code)
def test_the_wrong_example_yields_the_code(code: Code, tmp_path: Path) -> None:
    found, _ = check(code.wrong, tmp_path)
    assert code.code in {diagnostic.code for diagnostic in found}
    assert {diagnostic.code for diagnostic in found if diagnostic.severity is Severity.ERROR} <= {code.code}


@pytest.mark.parametrize("code", MODELS, ids=lambda code: code.code)
def test_the_right_example_has_no_errors(code: Code, tmp_path: Path) -> None:
    warnings, checked = check(code.right, tmp_path)
    assert checked is not None, warnings
    assert code.code not in {warning.code for warning in warnings}


@pytest.mark.parametrize("code", CODES.values(), ids=lambda code: code.code)
def test_form(code: Code) -> None:
    assert re.fullmatch(r"[EW][0-9]{3}", code.code)
    assert code.title[0] in "`'" or code.title[0].islower()
    assert not code.title.endswith(".")
    assert code.explanation.rstrip().endswith((".", ")", ":"))
    assert code.wrong != code.right


def test_every_code_in_use_is_explained_and_every_explained_code_is_in_use() -> None:
    tables = {"file_codes.py", "syntax_codes.py", "type_codes.py"}
    used = set()
    for path in SPEC.rglob("*.py"):
        if path.name not in tables and "type_codes" not in path.parts:
            used |= set(re.findall(r'"([EW][0-9]{3})"', path.read_text()))
    assert used == set(CODES)


def test_a_code_cannot_be_there_twice() -> None:
    code = Code("E999", "title", "explanation.", "wrong", "right")
    assert list(table([code])) == ["E999"]
    with pytest.raises(ValueError, match="E999"):
        table([code], [code])
