"""The drawn counterexamples of the documentation are those that the checker finds now, and drawn without flaws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.reports.explanation import explained
from counterexamples.spacetime.layout import lay_out
from tests.counterexamples.overlaps import flaws
from tests.documentation import ROOT, pages
from tests.gallery import commands, drawn, sweeps, swept, traced

COMMANDS = commands()
GALLERY = ROOT / "docs" / "gallery.md"


@pytest.mark.parametrize("file", COMMANDS, ids=lambda file: file.stem)
def test_a_picture_is_what_its_command_draws_and_has_no_flaws(file: Path) -> None:
    found = traced(COMMANDS[file])
    assert file.read_text(encoding="utf-8") == drawn(COMMANDS[file], found)
    assert flaws(lay_out(explained(found.trace, found.name), found.trace, "variant", name=found.title)) == []


def test_a_picture_of_a_sweep_is_what_its_command_draws() -> None:
    assert sweeps()
    for file, command in sweeps().items():
        assert file.read_text(encoding="utf-8") == swept(command)


def test_every_drawn_picture_is_shown_and_there_are_no_others() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in pages()
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+\.svg)\)", page.read_text(encoding="utf-8"))
    }
    assert shown == {*COMMANDS, *sweeps(), ROOT / "docs" / "pictures" / "run.svg"}
    assert shown == {*(ROOT / "docs" / "pictures").rglob("*.svg")}


def test_the_gallery_shows_every_finding_with_its_model() -> None:
    text = GALLERY.read_text(encoding="utf-8")
    models = sorted((ROOT / "models" / "conductor").glob("*.cpt"))
    assert len(models) == 9
    for model in models:
        assert f"(../models/conductor/{model.name})" in text
        assert ROOT / "docs" / "pictures" / "gallery" / f"{model.stem}.svg" in COMMANDS


def test_pictures_are_small_and_name_no_folder_of_this_machine() -> None:
    for file in COMMANDS:
        text = file.read_text(encoding="utf-8")
        assert len(text) < 50_000
        assert str(ROOT) not in text
