"""The parts of a sweep: axes, regions in words, tables and pictures.  The command: `tests/test_sweep_command.py`."""

from __future__ import annotations

import csv
import io
import json
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.bundle import Failure
from checker.check import check_module
from checker.exitcode import ExitCode
from checker.options import Options, UsageError
from checker.result import VariantReport
from checker.sweeps.arrangement import shown, tables
from checker.sweeps.axis import Axis, Role, values_of
from checker.sweeps.cell import Answer, Cell, cell_of
from checker.sweeps.finding import finding, placed
from checker.sweeps.grid import Grid, Point, grid_of
from checker.sweeps.heat_map import heat_map, layout
from checker.sweeps.page import page as html_page
from checker.sweeps.region import accounts, answer_at, idle, where, words
from checker.sweeps.report import render
from checker.sweeps.spreadsheet import spreadsheet
from checker.sweeps.sweep import Outcome, Plan, Subject, Sweep
from checker.sweeps.table import size
from checker.verdict import Covered, HoldsTo, NotARun, Refuted, Scope, UncoveredTo, Undecided
from counterexamples.render.page import Page, cells
from counterexamples.spacetime.shapes import Label
from spec.diagnostic import Diagnostic
from spec.parse import parse
from spec.source import Source
from spec.syntax import File, Module

P, X, U, R = Answer.PROVED, Answer.REFUTED, Answer.UNDECIDED, Answer.REJECTED


def constant(name: str, low: int, high: int) -> Axis:
    return Axis(Role.CONSTANT, name, tuple(map(str, range(low, high + 1))))


SWITCH = Axis(Role.SWITCH, "on", ("true", "false"))
FAULTS = Axis(Role.FAULTS, "faults", ("none", "crash P", "crash P, crash db"))

# ------------------------------------------------------------------------------------------------------------- axes

NUMBERS = st.integers(-60, 60)
PART = NUMBERS.map(lambda n: (str(n), {n})) | st.tuples(NUMBERS, st.integers(0, 20)).map(
    lambda pair: (f"{pair[0]}..{pair[0] + pair[1]}", set(range(pair[0], pair[0] + pair[1] + 1)))
)
BLANKS = st.sampled_from(["", " ", "  "])


@given(st.lists(st.tuples(PART, BLANKS, BLANKS), min_size=1, max_size=4))
def test_ranges_and_lists_of_numbers_are_read_in_rising_order(
    parts: list[tuple[tuple[str, set[int]], str, str]],
) -> None:
    text = ",".join(f"{before}{part}{after}" for (part, _), before, after in parts)
    meant = set().union(*(numbers for (_, numbers), _, _ in parts))
    values = values_of(text, "-D", 1000)
    assert [int(value) for value in values] == sorted(meant)
    assert Axis(Role.CONSTANT, "N", values).ordered


def test_names_keep_their_order_and_are_not_ordered() -> None:
    assert values_of("LIFO, FIFO,LIFO", "-D", 9) == ("LIFO", "FIFO")
    assert not Axis(Role.CONSTANT, "order", ("LIFO", "FIFO")).ordered
    # Numbers as names: faults, variants and switches of words are compared with nothing.
    assert not FAULTS.ordered
    assert not SWITCH.ordered


def grid(
    *constants: str,
    most: int = 200,
    switches: Sequence[str] = (),
    faults: Sequence[str] = (),
    max_faults: str | None = None,
    variants: Sequence[str] = (),
) -> Grid:
    return grid_of(constants, switches, faults, max_faults, variants, most)


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("N", "E470", "N=1..4"),
        ("N=", "E470", "N=1..4"),
        ("=1", "E470", "N=1..4"),
        ("1N=1", "E470", "N=1..4"),
        ("N=1,,3", "E470", "write 1,3"),
        ("N=,", "E470", "at least one value"),
        ("N=1..", "E470", "as 1..4"),
        ("N=a..b", "E470", "as 1..4"),
        ("N=1..2..3", "E470", "as 1..4"),
        ("N=4..1", "E471", "write 1..4"),
        ("N=0..-3", "E471", "write -3..0"),
        ("N=1..201", "E472", "--points 201"),
        ("N=1..100000000000000000", "E472", "take fewer values"),
    ],
)
def test_axes_that_cannot_be_read(text: str, code: str, hint: str) -> None:
    began = time.process_time()
    with pytest.raises(UsageError) as raised:
        grid(text)
    assert raised.value.code == code
    assert f"-D {text!r}" in raised.value.message
    assert hint in (raised.value.hint or "")
    assert time.process_time() - began < 1  # no range is written out before it is known to be small


def test_a_name_given_twice_and_a_grid_that_is_too_large() -> None:
    with pytest.raises(UsageError) as raised:
        grid("N=1,2", "N=3")
    assert (raised.value.code, raised.value.hint) == ("E470", "write -D N=1,2,3")
    with pytest.raises(UsageError) as raised:
        grid("N=1..10", "S=1..7", "T=1..3", "K=5")
    assert raised.value.code == "E472"
    assert "10 x 7 x 3" in raised.value.message
    assert raised.value.hint == "take fewer values, or --points 210"
    assert len(grid("N=1..10", "S=1..7", "T=1..3", "K=5", most=210)) == 210
    for text in ("-1", "many", "1..many"):
        with pytest.raises(UsageError) as raised:
            grid(max_faults=text)
        assert raised.value.code == "E470"


def test_the_options_of_a_point_and_the_words_that_ask_for_it() -> None:
    found = grid(
        "N=1..3", "K=7", switches=["on"], faults=["none", " crash  P, crash db "], max_faults="0..1", variants=["b"]
    )
    assert len(found) == 3 * 2 * 2
    last = list(found.points())[-1]
    asked = Options(depth=9)
    assert found.options(last, asked) == Options(
        depth=9,
        constants={"N": "3", "K": "7"},
        switches={"on": "true"},
        faults="crash P, crash db",
        max_faults=1,
        variants=("b",),
    )
    assert " ".join(found.words(last)) == (
        "--variant b -D N=3 -D K=7 --with on=true --faults 'crash P, crash db' --max-faults 1"
    )
    assert found.name(last) == "N = 3, max-faults = 1, faults = {crash P, crash db}"


# ---------------------------------------------------------------------------------------------------------- regions


@st.composite
def _answered(draw: st.DrawFn) -> tuple[list[Axis], dict[Point, Answer]]:
    axes = []
    for place in range(draw(st.integers(1, 3))):
        count = draw(st.integers(2, 4))
        named = draw(st.booleans())
        values = tuple("abcd"[:count]) if named else tuple(str(3 * n - 4) for n in range(count))
        axes.append(Axis(Role.SWITCH if named else Role.CONSTANT, "XYZ"[place], values))
    some = draw(st.sampled_from([[P, X], [P, X, U, R], [U, X, R]]))
    points = list(product(*(range(len(axis.values)) for axis in axes)))
    # Corners, comparisons and boxes are rare in noise.
    kind = draw(st.sampled_from(["noise", "corner", "sum"]))
    limit = draw(st.integers(0, 5))
    answers = {}
    for point in points:
        if kind == "noise":
            answers[point] = draw(st.sampled_from(some))
        elif kind == "corner":
            answers[point] = X if all(place >= limit // 2 for place in point) else P
        else:
            answers[point] = X if sum(point) > limit else U if sum(point) == limit else P
    return axes, {point: answer for point, answer in answers.items() if answer is not R}


@settings(max_examples=400, deadline=None)
@given(_answered())
def test_regions_say_of_each_point_what_was_found_there(found: tuple[list[Axis], dict[Point, Answer]]) -> None:
    axes, answers = found
    told = accounts(axes, answers)
    for point, answer in answers.items():
        assert answer_at(told, axes, point) is answer
    for place in idle(axes, answers):
        for point, answer in answers.items():
            for value in range(len(axes[place].values)):
                assert answers[(*point[:place], value, *point[place + 1 :])] is answer


def said(axes: list[Axis], answer: Callable[..., Answer]) -> list[str]:
    answers = {}
    for point in product(*(range(len(axis.values)) for axis in axes)):
        values = [
            int(axis.values[place]) if axis.ordered else axis.values[place]
            for axis, place in zip(axes, point, strict=True)
        ]
        answers[point] = answer(*values)
    return words(accounts(axes, {point: each for point, each in answers.items() if each is not R}), axes)


N, S = constant("N", 1, 4), constant("S", 1, 3)

REGIONS: list[tuple[list[Axis], Callable[..., Answer], list[str]]] = [
    # An up-set along one axis; the other makes no difference.
    ([N, S], lambda n, s: X if n >= 3 else P, ["refuted where N >= 3; proved where N <= 2"]),
    # A down-set.
    ([N], lambda n: P if n >= 2 else X, ["refuted where N = 1; proved where N >= 2"]),
    # Up along one axis and down along the other: one corner, then two of them.
    ([N, S], lambda n, s: X if n >= 3 and s <= 2 else P, ["refuted where N >= 3 and S <= 2; proved elsewhere"]),
    ([N, S], lambda n, s: X if n >= 3 or s == 1 else P, ["refuted where S = 1, or N >= 3; proved elsewhere"]),
    # What depends on which is greater.
    ([N, S], lambda n, s: X if n > s else P, ["refuted where N > S; proved elsewhere"]),
    # No up-set: where it changes.
    (
        [N],
        lambda n: X if n in (2, 3) else P,
        ["refuted where N = (2 or 3); proved where N = 1, or N = 4"],
    ),
    # Nothing is claimed beyond what was decided: 4 is no longer known.
    ([N], lambda n: [P, X, X, U][n - 1], ["refuted where N = (2 or 3); undecided where N = 4; proved where N = 1"]),
    # Only under some fault sets: all combinations of some values.
    (
        [N, FAULTS],
        lambda n, f: X if n >= 2 and f != "none" else P,
        ["refuted where N >= 2 and faults is not none; proved elsewhere"],
    ),
    (
        [FAULTS],
        lambda f: P if f == "crash P" else X,
        ["refuted where faults is not crash P; proved elsewhere"],
    ),
    # Different along the switch: each value by itself.
    (
        [N, S, SWITCH],
        lambda n, s, on: P if on == "false" else X if n > s else P,
        ["with on = true, refuted where N > S; proved elsewhere", "with on = false, proved"],
    ),
    # What the model rejects is in no region, and stops none.
    ([N, S], lambda n, s: R if n == 4 and s > 1 else X if n >= 3 else P, ["refuted where N >= 3; proved where N <= 2"]),
]


@pytest.mark.parametrize(("axes", "answer", "expected"), REGIONS)
def test_regions_in_words(axes: list[Axis], answer: Callable[..., Answer], expected: list[str]) -> None:
    assert said(axes, answer) == expected


def test_points_as_a_condition_where_that_takes_few_words() -> None:
    points = list(product(range(4), range(3)))
    assert where({p for p in points if p[0] == 3}, points, [N, S]) == "N = 4"
    scattered = {(0, 0), (1, 2), (3, 1)}
    assert where(scattered, points, [N, S]) is None
    swept = made([N, S], lambda n, s: P)
    assert placed(swept, sorted(scattered)) == ": N = 1, S = 1; N = 2, S = 3; N = 4, S = 2"
    assert placed(swept, points) == ""


# ---------------------------------------------------------------------------------------------- tables and pictures

LOW, ERRORS = Subject("low", "invariant"), Subject("model_errors", "invariant")
WRONG = Diagnostic("E233", "the chosen values contradict `where`", None)


def made(axes: list[Axis], answer: Callable[..., Answer], amount: int = 1234, unknown: int = 0) -> Sweep:
    """A sweep with these answers; the last `unknown` points were not checked."""
    found = Grid(tuple(axes))
    outcomes = {}
    points = list(found.points())
    for point in points[: len(points) - unknown]:
        values = [
            int(axis.values[place]) if axis.ordered else axis.values[place]
            for axis, place in zip(axes, point, strict=True)
        ]
        given = answer(*values)
        if given is R:
            outcomes[point] = Outcome(point, errors=(WRONG,))
            continue
        cell = {
            P: Cell(P, amount * (1 + sum(point)), "state"),
            X: Cell(X, 5, "step", at_most=sum(point) == 1, faults=("crash P",)),
            U: Cell(U, detail="time ran out"),
        }[given]
        outcomes[point] = Outcome(point, {"low": cell, "model_errors": Cell(P, 7, "state")}, seconds=0.5)
    return Sweep("m.cpt", "A model.  With more.", found, (LOW, ERRORS), outcomes, unknown > 0)


def mixed(n: int, s: int = 1, on: str = "true") -> Answer:
    return R if n == 4 and s == 3 else U if n == 4 else X if n > s and on == "true" else P


SWEEPS = {
    "two axes": made([N, S], mixed),
    "facets": made([N, S, SWITCH], mixed),
    "one axis": made([N], lambda n: mixed(n)),
    "names down": made([constant("N", 1, 3), FAULTS], lambda n, f: X if f != "none" else P),
    "only names": made([FAULTS], lambda f: X if f != "none" else P),
    "one point": made([Axis(Role.CONSTANT, "N", ("1",))], lambda n: X),
    "wide": made([S, constant("N", 100, 160)], lambda s, n: X if n > 130 else P, amount=123_456),
    "interrupted": made([N, S], mixed, unknown=5),
    "long names": made(
        [Axis(Role.CONSTANT, "N" * 70, ("1", "2")), Axis(Role.VARIANT, "variant", ("v" * 80, "w" * 80))],
        lambda n, v: P,
    ),
}


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("width", [40, 60, 100, 300])
@pytest.mark.parametrize("unicode", [True, False])
def test_reports_fit_the_terminal_and_lose_no_cell(name: str, width: int, unicode: bool) -> None:
    swept = SWEEPS[name]
    page = Page(False, unicode, width)
    text = render(swept, "m.cpt", Options(), page)
    assert text.endswith("\n")
    # Commands are there to be copied, and errors of a model are drawn as everywhere.
    lines = [line for line in text.split("\n") if "counterpoint check" not in line and not line.startswith("error")]
    assert max(map(cells, lines)) <= page.columns
    assert unicode or text.isascii()
    signs = "✗" if unicode else "x"
    shown = sum(line.split(f"{signs} refuted")[0].count(f"{signs} ") for line in lines)
    refuted = sum(swept.cell(LOW, point).answer is X for point in swept.grid.points())
    assert shown == refuted


def test_a_table_by_hand() -> None:
    # N > S is refuted, by a run of at most 5 steps where the places of N and S add up to 1.
    text = render(SWEEPS["two axes"], "m.cpt", Options(timeout=9), Page(False, True, 100))
    assert text.split("\n")[:9] == [
        "m.cpt  A model.",
        "  12 points: N = 1..4; S = 1..3",
        "",
        "  low  invariant",
        "       S",
        "    N  1               2               3",
        "    1  ✓ 1,234 states  ✓ 2,468 states  ✓ 3,702 states",
        "    2  ✗ ≤5 steps      ✓ 3,702 states  ✓ 4,936 states",
        "    3  ✗ 5 steps       ✗ 5 steps       ✓ 6,170 states",
    ]
    assert "    4  ? undecided     ? undecided     – rejected" in text
    assert "smallest refutation: N = 2, S = 1: at most 5 steps, 1 fault: crash P\n" in text
    assert "      counterpoint check m.cpt -D N=2 -D S=1 --property low --timeout 9\n" in text
    # By S there are three cases, and by N there would be four.
    assert (
        "    low:\n"
        "      with S = 1, refuted where N = (2 or 3); undecided where N = 4; proved where N = 1\n"
        "      with S = 2, refuted where N = 3; undecided where N = 4; proved where N <= 2\n"
        "      with S = 3, proved\n"
    ) in text
    assert "      ? time ran out\n" in text
    assert "model_errors: proved at all 11 points that are left\n" in text
    assert "1 point rejected by the model where N = 4 and S = 3" in text


def test_numbers_stand_alone_where_whole_cells_do_not_fit() -> None:
    def row(width: int) -> str:
        lines = render(SWEEPS["two axes"], "m.cpt", Options(), Page(False, True, width)).split("\n")
        return next(line for line in lines if line.startswith("    1  "))

    # Four blanks, the name, and three times two blanks and a cell: 53 columns whole, and 29 with numbers alone.
    assert row(53) == "    1  ✓ 1,234 states  ✓ 2,468 states  ✓ 3,702 states"
    assert row(52) == "    1  ✓ 1,234  ✓ 2,468  ✓ 3,702"


def test_the_smallest_refutation_is_that_of_the_smallest_numbers() -> None:
    # N = 1, S = 3 comes first in the grid, but N = 2, S = 1 is nearer to its corner.
    swept = made([N, S], lambda n, s: X if (n, s) in ((1, 3), (2, 1), (4, 1)) else P)
    found = finding(swept, LOW, "m.cpt", Options()).smallest
    assert found is not None
    assert found.point == (1, 0)
    assert found.command == "counterpoint check m.cpt -D N=2 -D S=1 --property low"
    # Of two that are as near, the one with the shorter run.
    outcomes = dict(swept.outcomes)
    for steps, nearest in ((6, (1, 0)), (4, (0, 1))):
        outcomes[(0, 1)] = replace(outcomes[(0, 1)], cells={"low": Cell(X, steps, "step")})
        found = finding(replace(swept, outcomes=outcomes), LOW, "m.cpt", Options()).smallest
        assert found is not None
        assert found.point == nearest


def counter() -> Module:
    text = "store db { durable x: 0..1 }\nprocess P { task t { db.x := 1 } }\ninvariant low: db.x == 0\n"
    file = parse(Source("m.cpt", text))
    assert isinstance(file, File)
    return Module(file.source, file.doc, file.items)


def test_cells_of_verdicts() -> None:
    report = check_module(counter(), Options())
    low = report.variants[0].properties[0].verdict
    assert isinstance(low, Refuted)
    assert cell_of(low, False) == Cell(X, 1, "step", False)
    assert cell_of(replace(low, shortest=None), True) == Cell(X, 1, "step", True)
    assert cell_of(Covered(low.trace, "bmc", None), False) == Cell(Answer.REACHED, 1, "step", True)
    assert cell_of(HoldsTo(7, "time ran out", "bmc"), False) == Cell(Answer.HOLDS_TO, 7, "step", detail="time ran out")
    assert cell_of(UncoveredTo(7, "time ran out", "bmc"), True).answer is Answer.HOLDS_TO
    assert cell_of(Undecided("why"), False) == Cell(U, detail="why")
    assert cell_of(Undecided("interrupted"), True) == Cell(Answer.NOT_CHECKED)
    assert cell_of(NotARun(1, "crash P"), False).answer is Answer.NOT_A_RUN


def test_what_a_report_does_not_speak_of_is_never_taken_for_proved() -> None:
    plan = Plan(counter(), Grid(()), Options())
    stopped = Cell(U, detail="the check of the point was cut short")
    whole = VariantReport(None, "", None, Scope((), None))
    for report, expected in (
        (whole, Cell(Answer.ABSENT)),
        (replace(whole, interrupted=True), Cell(Answer.NOT_CHECKED)),
        (replace(whole, cut_short="the model is too large"), Cell(U, detail="the model is too large")),
        (replace(whole, failures=(Failure("a contradiction"),)), stopped),
        (replace(whole, begun=False), stopped),
    ):
        (outcome,) = plan.outcomes_of((), report, Options())
        swept = Sweep("m.cpt", "", Grid(()), (LOW,), {(): outcome})
        assert swept.cell(LOW, ()) == expected


def test_reasons_are_placed_where_there_are_several() -> None:
    swept = made([N], lambda n: U if n > 1 else P)
    outcomes = dict(swept.outcomes)
    outcomes[(3,)] = replace(outcomes[(3,)], cells={"low": Cell(U, detail="memory ran out")})
    text = render(replace(swept, outcomes=outcomes), "m.cpt", Options(), Page(False, True, 100))
    assert "low: undecided where N >= 2; proved where N = 1\n" in text
    assert "      ? time ran out where N = (2 or 3)\n      ? memory ran out where N = 4\n" in text


def test_what_the_tool_checks_by_itself_gets_a_table_only_where_something_is_wrong() -> None:
    swept = made([N], lambda n: P)
    named = {subject.name for subject in shown(swept)[0]}
    assert named == {"low"}
    for cell in (Cell(X, 3, "step"), Cell(U), Cell(Answer.HOLDS_TO, 5, "step")):
        outcomes = dict(swept.outcomes)
        outcomes[(2,)] = replace(outcomes[(2,)], cells={"low": Cell(P, 1, "state"), "model_errors": cell})
        assert ERRORS in shown(replace(swept, outcomes=outcomes))[0]


def test_an_interrupted_sweep_claims_no_region() -> None:
    text = render(SWEEPS["interrupted"], "m.cpt", Options(), Page(False, True, 100))
    assert "… not checked" in text
    assert "low: 5 proved, 2 refuted, 5 not checked\n" in text
    assert " where " not in text
    found = finding(SWEEPS["interrupted"], LOW, "m.cpt", Options())
    assert found.accounts == ()
    assert SWEEPS["interrupted"].code() is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10k"),
        (12_345, "12.3k"),
        (99_949, "99.9k"),
        (99_960, "100k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_234_567, "1.2M"),
        (8_000_000_000, "8G"),
    ],
)
def test_sizes(amount: int, told: str) -> None:
    assert size(amount) == told


@pytest.mark.parametrize("name", SWEEPS)
def test_pictures_have_no_text_over_text_and_nothing_beyond_the_frame(name: str) -> None:
    picture = layout(SWEEPS[name], "m.cpt", Options())
    labels = [shape for shape in picture.all_shapes() if isinstance(shape, Label)]
    for label in labels:
        assert picture.frame.contains(label.area), label.text
    for one, other in combinations(labels, 2):
        assert not one.area.overlaps(other.area), (one.text, other.text)
    ET.fromstring(heat_map(SWEEPS[name], "m.cpt", Options()))


def rectangles(svg: str) -> Iterator[str]:
    for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect"):
        yield element.get("class") or ""


def test_colours_and_signs_say_the_same_and_the_darker_the_more() -> None:
    swept = made([N], lambda n: P if n < 4 else X, amount=10)
    drawn = heat_map(swept, "m.cpt", Options())
    found = [each for each in rectangles(drawn) if each.startswith("cell")]
    # 10, 20 and 30 states: of four shades in the logarithm of 11, 21 and 31 the first, the third and the last.  One
    # refutation alone is neither long nor short.
    assert found[:4] == ["cell proved s0", "cell proved s2", "cell proved s3", "cell refuted s1"]
    lines = re.findall(r'<path class="(check|cross)"', drawn)
    # A tick is one line and a cross two; one more of each in the legend.
    assert (lines.count("check"), lines.count("cross")) == (3 + 1, 2 + 2)


def test_the_picture_does_not_depend_on_times() -> None:
    swept = SWEEPS["facets"]
    slower = {point: replace(outcome, seconds=99.0) for point, outcome in swept.outcomes.items()}
    assert heat_map(replace(swept, outcomes=slower), "m.cpt", Options()) == heat_map(swept, "m.cpt", Options())


def test_rows_for_spreadsheets_are_no_formulas() -> None:
    axes = [Axis(Role.CONSTANT, "form", ("-2", "3")), Axis(Role.VARIANT, "variant", ("=cmd()", "b"))]
    rows = list(csv.DictReader(io.StringIO(spreadsheet(made(axes, lambda n, v: X if n == 3 else P)))))
    assert len(rows) == 4 * 2
    assert [row["form_"] for row in rows[:5]] == ["-2", "-2", "-2", "-2", "3"]
    assert rows[0]["variant"] == "'=cmd()"
    assert {(row["verdict"], row["amount"], row["unit"]) for row in rows if row["property"] == "low"} == {
        ("proved", "1234", "state"),
        ("proved", "2468", "state"),
        ("refuted", "5", "step"),
    }


def test_the_page_escapes_what_comes_from_outside() -> None:
    swept = replace(SWEEPS["two axes"], model="<script>alert(1)</script>.cpt")
    text = html_page(swept, "<b>.cpt", Options(), 1.0)
    assert "<script" not in text
    assert "<b>.cpt" not in text
    assert "Content-Security-Policy" in text
    assert text.count("<tr>") == 1 + 12 * 2
    assert not re.search(r"(?:src|href)=|url\(|@import", text)


def test_tables_show_every_point_once() -> None:
    for swept in SWEEPS.values():
        shown = [point for table in tables(swept) for row in table.points for point in row]
        assert sorted(set(shown)) == sorted(swept.grid.points())
        assert json.dumps(sorted(shown))
