"""What the key of a result depends on: all that the result does, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.cache import key as keys
from checker.cache.identity import Identity
from checker.cache.key import IMMATERIAL, content, key_of, material, meaning
from checker.cache.names import Names
from checker.options import Options
from checker.time_limit import TimeLimit
from checker.work.item import Item
from spec.load import load
from spec.source import Source
from spec.tokens import Kind, tokenize
from spec.typed import Model
from tests.cache.models import EVERYTHING, ROOT, TOOL, items, laid_out_otherwise, source_of
from tests.stand_in import InPlaceOf

SHIPPED = sorted(path for path in (ROOT / "models").rglob("*.cpt"))
OTHERS: dict[str, Options] = {
    "constants": Options(constants={"LAST": "1"}),
    "switches": Options(switches={"twice": "false"}),
    "properties": Options(properties=("small",)),
    "faults": Options(faults="crash db"),
    "max_faults": Options(max_faults=1),
    "depth": Options(depth=3),
    "engine": Options(engine="ic3"),
    "states": Options(states=10),
    "symmetry": Options(symmetry=False),
    "needs": Options(needs=True),
    "per_instance": Options(needs=True, per_instance=True),
    "why": Options(why=True),
    "fairness": Options(fairness=True),
    "repairs": Options(repairs=True),
    "crash_points": Options(crash_points=True),
}
"""For each option that is in the key, options that differ from those of `_base` in it alone."""
SAME: dict[str, Options] = {
    "variants": Options(variants=("both",)),
    "timeout": Options(timeout=1.0),
    "timeout_property": Options(timeout_property=1.0),
    "total": Options(total=TimeLimit.after(1000.0, "timeout-total")),
    "strict": Options(strict=True),
}


def _base(field: str) -> Options:
    return Options(needs=True) if field == "per_instance" else Options()


def _item(folder: Path, options: Options, text: str = EVERYTHING, variant: str = "both") -> Item:
    found = items(source_of(text, folder), replace(options, variants=()))
    return replace(next(each for each in found if each.choice.variant == variant), options=options)


def test_every_option_is_in_the_key_or_said_not_to_matter(tmp_path: Path) -> None:
    item = _item(tmp_path, Options())
    assert item.choice.checked is not None
    model = item.choice.checked.model
    in_key = material(item.options, model, Names(model)).keys()
    assert not in_key & IMMATERIAL.keys()
    assert in_key | IMMATERIAL.keys() == {field.name for field in fields(Options)}
    assert OTHERS.keys() == in_key
    assert SAME.keys() == IMMATERIAL.keys()
    assert all(IMMATERIAL.values())


def test_every_part_of_an_item_is_in_the_key(tmp_path: Path) -> None:
    assert {field.name for field in fields(Item)} == {"module", "choice", "options", "named"}
    told = content(_item(tmp_path, Options()), TOOL)
    assert told.keys() == {"tool", "model", "asserts", "variant", "settled", "scenarios", "needs", "options"}


@pytest.mark.parametrize("field", OTHERS)
def test_another_option_is_another_key(field: str, tmp_path: Path) -> None:
    before, after = _item(tmp_path, _base(field)), _item(tmp_path, OTHERS[field])
    assert key_of(before, TOOL) != key_of(after, TOOL)


@pytest.mark.parametrize("field", OTHERS)
def test_without_an_option_in_it_the_key_would_be_the_same(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the option that makes the keys of the test before differ, so that test notices when one is left out."""

    def lacking(options: Options, model: Model, names: Names) -> dict[str, object]:
        return {name: value for name, value in material(options, model, names).items() if name != field}

    before, after = _item(tmp_path, _base(field)), _item(tmp_path, OTHERS[field])
    monkeypatch.setattr(keys, "material", InPlaceOf(material)(lacking))
    assert content(before, TOOL)["options"] == content(after, TOOL)["options"]


@pytest.mark.parametrize("field", SAME)
def test_an_option_that_does_not_matter_is_not_in_the_key(field: str, tmp_path: Path) -> None:
    assert key_of(_item(tmp_path, Options()), TOOL) == key_of(_item(tmp_path, SAME[field]), TOOL)


def test_what_speaks_of_infinite_runs_is_no_matter_where_no_property_does(tmp_path: Path) -> None:
    text = EVERYTHING.replace("live settles: eventually db.x == 2\n", "")
    plain = key_of(_item(tmp_path, Options(), text), TOOL)
    assert plain == key_of(_item(tmp_path, Options(fairness=True, repairs=True), text), TOOL)
    assert plain == key_of(_item(tmp_path, Options(per_instance=True), text), TOOL)


def test_variants_tool_and_semantics(tmp_path: Path) -> None:
    both = _item(tmp_path, Options())
    assert key_of(both, TOOL) != key_of(_item(tmp_path, Options(), variant="once"), TOOL)
    assert key_of(both, TOOL) != key_of(both, Identity("another tool", ()))


def test_constants_are_in_the_key_whatever_the_options_say_of_them(tmp_path: Path) -> None:
    """Who makes items of models that were type-checked for other constants gets other keys."""
    item = _item(tmp_path, Options())
    other = _item(tmp_path, Options(constants={"LAST": "1"}))
    assert key_of(replace(other, options=item.options), TOOL) != key_of(item, TOOL)


def test_which_scenarios_run_is_in_the_key(tmp_path: Path) -> None:
    """`stuck` runs in every variant when none of them has an expectation that names it; else only in that one."""
    once = _item(tmp_path, Options(), variant="once")
    assert key_of(once, TOOL) != key_of(replace(once, named=frozenset()), TOOL)


def _swapped(old: str, new: str) -> Callable[[str], str]:
    def swap(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return swap


@pytest.mark.parametrize(
    "change",
    [
        _swapped("db.x <= 2", "db.x <= 1"),
        _swapped("by_steps", "by_step"),
        _swapped("durable x", "volatile x"),
        _swapped("db.x := 0", "db.x := 2"),
        _swapped("  crash db\n", ""),
        _swapped("const LAST: int = 2", "const LAST: int = 1"),
        _swapped("loop read", "unfair loop read"),
        _swapped("assert db.x == 1", "assert db.x != 1"),
        _swapped("0..2", "0..3"),
        _swapped("needs {}", "needs {crash db}"),
        _swapped("expect both proves small", "expect both refutes small"),
        _swapped("    db.x := 1\n    if twice", "    db.x := 1; db.x := 1\n    if twice"),
    ],
)
def test_another_model_is_another_key(change: Callable[[str], str], tmp_path: Path) -> None:
    before = key_of(_item(tmp_path, Options()), TOOL)
    assert before != key_of(_item(tmp_path, Options(), change(EVERYTHING)), TOOL)


def test_another_import_is_another_key(tmp_path: Path) -> None:
    library = source_of("def low(x: int): bool = x < 2\n", tmp_path, "low.cpt")
    text = 'import "low.cpt"\n' + EVERYTHING.replace("db.x <= 2", "low(db.x) or db.x == 2")
    before = key_of(_item(tmp_path, Options(), text), TOOL)
    library.write_text("// another remark\ndef low(x: int): bool = x < 2\n")
    assert before == key_of(_item(tmp_path, Options(), text), TOOL)
    library.write_text("def low(x: int): bool = x < 1\n")
    assert before != key_of(_item(tmp_path, Options(), text), TOOL)


def test_names_of_files_are_not_in_the_key(tmp_path: Path) -> None:
    here = _item(tmp_path, Options())
    (elsewhere,) = [
        each
        for each in items(source_of(EVERYTHING, tmp_path / "other", "renamed.cpt"), Options())
        if each.choice.variant == "both"
    ]
    assert key_of(here, TOOL) == key_of(elsewhere, TOOL)


def test_asserts_that_come_to_share_a_line_are_another_key(tmp_path: Path) -> None:
    """`assert_LINE` is a property of its own for each line."""
    together = EVERYTHING.replace("assert db.x == LAST\n    assert", "assert db.x == LAST; assert")
    apart = EVERYTHING.replace("assert db.x == LAST\n    assert", "assert db.x == LAST;\n    assert")
    keys_ = {key_of(_item(tmp_path, Options(), text), TOOL) for text in (together, apart)}
    assert len(keys_) == 2


def test_an_assert_is_chosen_by_its_number(tmp_path: Path) -> None:
    line = EVERYTHING.split("\n").index("    assert db.x == 1") + 1
    here = key_of(_item(tmp_path, Options(properties=(f"assert_{line}",))), TOOL)
    moved = _item(tmp_path, Options(properties=(f"assert_{line + 1}",)), "// one line more\n" + EVERYTHING)
    assert here == key_of(moved, TOOL)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_layout_is_not_in_the_key_of_shipped_models(path: Path, tmp_path: Path) -> None:
    module = load(path, ROOT / "models")
    assert not isinstance(module, tuple)
    for seed in range(3):
        other = Source("other", laid_out_otherwise(module.source, seed))
        assert other.text != module.source.text
        assert meaning(other) == meaning(module.source)


@given(st.integers(min_value=0))
@settings(max_examples=100, deadline=None)
def test_no_layout_is_in_the_key(seed: int) -> None:
    source = Source("one", EVERYTHING)
    assert meaning(Source("other", laid_out_otherwise(source, seed))) == meaning(source)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_every_token_is_in_the_key(data: st.DataObject) -> None:
    source = Source("one", EVERYTHING)
    tokens = [token for token in tokenize(source)[0] if token.kind not in (Kind.BREAK, Kind.END)]
    token = data.draw(st.sampled_from(tokens))
    new = data.draw(st.sampled_from(["other", "7", '"a text"', ""]).filter(lambda text: text != token.text))
    text = f"{EVERYTHING[: token.span.start]} {new} {EVERYTHING[token.span.end :]}"
    assert meaning(Source("other", text)) != meaning(source)


def test_every_statement_break_is_in_the_key() -> None:
    """A line break that ends a statement is one of its tokens; one that a bracket holds is none."""
    assert meaning(Source("a", "process P { loop l { x := 1\n y := 2 } }")) != meaning(
        Source("a", "process P { loop l { x := 1 y := 2 } }")
    )
    assert meaning(Source("a", "def f(a: int,\n b: int): int = a")) == meaning(
        Source("a", "def f(a: int, b: int): int = a")
    )
