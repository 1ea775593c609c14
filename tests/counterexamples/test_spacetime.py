"""The diagram: nothing overlaps or is cut off, everything is told, the SVG is what scripts and readers expect."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from counterexamples.explain import Explanation, explain
from counterexamples.render import wording
from counterexamples.spacetime import columns, layout, rows
from counterexamples.spacetime.layout import lay_out
from counterexamples.spacetime.metrics import Font, shorten, text_width, wrap
from counterexamples.spacetime.shapes import Cylinder, Group, Head, Label, Line, Mark, Panel, Picture, Sign, Tip
from counterexamples.spacetime.style import style_sheet
from counterexamples.spacetime.svg import draw, left_to_right, to_svg
from counterexamples.trace import Trace
from spec.event import Ending, Event, EventKind, Party, Strike
from tests.command import ROOT
from tests.counterexamples.crowd import CROWD, HOSTILE, LONG, model, run
from tests.counterexamples.overlaps import flaws
from tests.counterexamples.sample import ABANDONED, LOST, START_0

SVG = "{http://www.w3.org/2000/svg}"
CROWDED, UNANSWERED = run(model(CROWD), 3, 40), run(model(CROWD), 10, 40)
HARMFUL = run(model(HOSTILE), 3, 16)


def picture(trace: Trace, name: str | None = None) -> Picture:
    return lay_out(explain(trace, name), trace, "conductor/05, variant v1")


def step(of: Picture, number: int) -> Group:
    return next(group for group in of.groups if group.name == f"step-{number}")


def styles(group: Group) -> list[str]:
    return [shape.style for shape in group.all_shapes() if isinstance(shape, Panel | Line | Tip)]


def signs(group: Group) -> list[Sign]:
    return [shape.sign for shape in group.all_shapes() if isinstance(shape, Mark)]


# ------------------------------------------------------------------------------------------------------------- layout


def test_eight_lanes_and_forty_steps_fit_a_screen_and_nothing_overlaps() -> None:
    drawn = picture(CROWDED)
    assert len(CROWDED) == 40
    assert sum(group.kind == "lane" for group in drawn.groups) == 9
    assert flaws(drawn) == []
    assert drawn.width <= 1440


@pytest.mark.parametrize("seed", range(10))
def test_nothing_overlaps_in_random_runs(seed: int) -> None:
    assert flaws(picture(run(model(CROWD), seed, 30))) == []
    assert flaws(picture(run(model(HOSTILE), seed, 20))) == []


@pytest.mark.parametrize("name", ["honest", "all_seen"])
def test_nothing_overlaps_in_what_a_crowded_run_ends_with(name: str) -> None:
    """Whether the property is violated does not matter to the layout: its parts are explained all the same."""
    assert flaws(picture(CROWDED, name)) == []


def test_nothing_overlaps_under_a_property_with_a_long_name() -> None:
    assert flaws(picture(HARMFUL, f"{LONG}_holds")) == []


@pytest.mark.parametrize("loop", [0, 5, 38, 39, 40])
def test_nothing_overlaps_in_a_lasso(loop: int) -> None:
    drawn = picture(replace(CROWDED, loop=loop))
    assert flaws(drawn) == []
    bracket = next(group for group in drawn.groups if group.name == "loop")
    words = [shape.text for shape in bracket.all_shapes() if isinstance(shape, Label)]
    assert words == (["stays so", "for ever"] if loop == 40 else ["for ever"])
    line = max((s for s in bracket.all_shapes() if isinstance(s, Line)), key=lambda s: len(s.points))
    ys = [y for _, y in line.points]
    rows_of_steps = [s.area for i in range(loop, 40) for s in [next(_fields(step(drawn, i + 1)))]]
    if rows_of_steps:
        assert rows_of_steps[0].top < min(ys) < rows_of_steps[0].bottom
        assert rows_of_steps[-1].top < max(ys) < rows_of_steps[-1].bottom


def _fields(group: Group) -> Iterator[Panel]:
    return (shape for shape in group.all_shapes() if isinstance(shape, Panel) and shape.style == "field")


def test_runs_without_steps_and_of_one_step_are_drawn() -> None:
    for length in (0, 1):
        short = Trace(CROWDED.model, CROWDED.states[: length + 1], CROWDED.events[:length])
        assert flaws(picture(short)) == []


MUTANTS: list[tuple[object, str, object]] = [
    (rows, "_NOTE_GAP", -8.0),
    (rows, "_NOTE_LEADING", 7.0),
    (rows, "_LEADING", 9.0),
    (rows, "_PAD", -4.0),
    (rows, "BEAT", 4.0),
    (rows, "_BESIDE_AXIS", 2.0),
    (rows, "TEXT_LEFT", 20.0),
    (rows, "_crossed", lambda moment, columns: -1),
    (columns, "shorten", lambda text, *_: text),
    (rows, "wrap", lambda text, room, *_, **__: [text]),
    (layout, "_MARGIN", -9.0),
]


@pytest.mark.parametrize(("module", "name", "value"), MUTANTS, ids=[name for _, name, _ in MUTANTS])
def test_a_layout_that_is_wrong_is_noticed(
    module: object, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, value)
    assert any(flaws(picture(trace)) for trace in (CROWDED, HARMFUL, UNANSWERED))


# ------------------------------------------------------------------------------------------------------------ content


def test_a_crash_marks_the_lane_and_shades_it_until_the_restart() -> None:
    drawn = picture(ABANDONED, "none_abandoned")
    crash, restart = step(drawn, 3), step(drawn, 4)
    assert (signs(crash), signs(restart)) == ([Sign.CROSS], [Sign.CIRCLE])
    (down,) = (s for s in drawn.all_shapes() if isinstance(s, Panel) and s.style == "down" and s.area.height > 20)
    (struck,) = (s for s in drawn.all_shapes() if isinstance(s, Panel) and s.style == "struck")
    lane = next(group for group in drawn.groups if group.name == "lane-Server-0")
    head = next(s for s in lane.all_shapes() if isinstance(s, Panel))
    assert (down.area.left, down.area.right) == (head.area.left, head.area.right)
    field = next(_fields(crash))
    assert (struck.area.top, struck.area.bottom) == (field.area.top, field.area.bottom)
    assert field.area.top < down.area.top < field.area.bottom <= down.area.bottom < next(_fields(restart)).area.bottom
    assert styles(next(g for g in drawn.groups if g.name == "backdrop")).count("fading") == 1


def test_a_lost_answer_has_a_line_that_does_not_arrive() -> None:
    lost = step(picture(LOST), 2)
    assert {"request", "answer lost", "missed"} <= set(styles(lost))
    assert signs(lost) == [Sign.CROSS, Sign.DOT]
    heads = [shape.head.value for shape in lost.all_shapes() if isinstance(shape, Tip)]
    assert heads == ["filled"]


def test_a_request_that_arrives_twice_has_two_lines_and_a_lost_one_has_no_head() -> None:
    requested, inserted = ABANDONED.states[1:3]
    link = (Party("Server", 0), Party("postgres"))
    for strike, ending, heads in ((Strike.DUPLICATE, Ending.OK, 2), (Strike.LOSE, Ending.UNKNOWN, 0)):
        event = Event(EventKind.STEP, START_0, 1, ending, strike, False, *link)
        group = step(picture(Trace(ABANDONED.model, (requested, inserted), (event,))), 1)
        tips = [shape for shape in group.all_shapes() if isinstance(shape, Tip) and shape.head is Head.FILLED]
        assert len(tips) == heads == len({tip.y for tip in tips})
        assert len([style for style in styles(group) if style == "request"]) == 2 * heads
    assert "missed" not in styles(group)
    (cross,) = (shape for shape in group.all_shapes() if isinstance(shape, Mark) and shape.sign is Sign.CROSS)
    (dot,) = (shape for shape in group.all_shapes() if isinstance(shape, Mark) and shape.sign is Sign.DOT)
    assert [shape.points for shape in group.all_shapes() if isinstance(shape, Line)] == [
        ((dot.x + 5, dot.y), (cross.x - 4, dot.y))
    ]


@pytest.mark.parametrize("kept", [True, False])
def test_a_store_is_down_from_its_crash_mark_on_to_the_end(kept: bool) -> None:
    """The mark stands below the request that took effect, or beside the one that did not."""
    before, after = ABANDONED.states[1], replace(ABANDONED.states[2], down=frozenset({Party("postgres")}))
    event = Event(EventKind.STEP, START_0, 1, Ending.UNKNOWN, Strike.CRASH, kept, Party("postgres"))
    drawn = picture(Trace(ABANDONED.model, (before, after), (event,)))
    (cross,) = (s for s in step(drawn, 1).all_shapes() if isinstance(s, Mark) and s.sign is Sign.CROSS)
    (dot,) = (s for s in step(drawn, 1).all_shapes() if isinstance(s, Mark) and s.sign is Sign.DOT)
    down = next(s for s in drawn.all_shapes() if isinstance(s, Panel) and s.style == "down")
    band = [s for s in drawn.all_shapes() if isinstance(s, Panel) and s.style == "band"][-2]
    assert (cross.y > dot.y) == kept
    assert (down.area.top, down.area.bottom) == (cross.y, band.area.bottom)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("set", ['step "set" { db.x := 1 }']),
        ("set what nobody has ever set before", ['step "set what nobody has ever set', 'before"']),
    ],
)
def test_a_named_step_is_shown_whole_on_one_line_or_by_its_name(name: str, lines: list[str]) -> None:
    rest = "cover y: db.x == 1"
    text = f'store db {{ durable x: 0..1 }}\nprocess P {{ loop up {{ step "{name}" {{ db.x := 1 }} }} }}\n{rest}'
    drawn = picture(run(model(text), 0, 1))
    labels = [s for s in step(drawn, 1).all_shapes() if isinstance(s, Label) and s.style == "what"]
    assert [label.text for label in labels] == lines


def test_a_model_error_has_a_sign_in_place_of_the_dot() -> None:
    wrong = run(
        model("store db { durable x: 0..1 }\nprocess P { loop up { db.x := db.x + 1 } }\ncover y: db.x == 1"), 0, 5
    )
    drawn = picture(wrong, "model_errors")
    assert (signs(step(drawn, 1)), signs(step(drawn, 2))) == ([Sign.DOT], [Sign.ALARM])
    assert flaws(drawn) == []


def test_a_cut_shades_the_gaps_between_its_ends_until_it_heals() -> None:
    link = (Party("Server", 0), Party("redis"))
    cut, whole = ABANDONED.states[2], ABANDONED.states[1]
    cut = replace(cut, cut=frozenset({link}))
    events = [Event(EventKind.STEP, START_0, 1)]
    events += [Event(kind, party=link[0], other=link[1]) for kind in (EventKind.CUT, EventKind.HEAL)]
    inserted = ABANDONED.states[2]
    drawn = picture(Trace(ABANDONED.model, (whole, inserted, cut, inserted), tuple(events)))
    shades = [s.area for s in drawn.all_shapes() if isinstance(s, Panel) and s.style == "cut-off"]
    heads = {group.name: next(iter(group.all_shapes())) for group in drawn.groups if group.kind == "lane"}
    order = []
    for name in ("Server-0", "postgres", "redis"):
        head = heads[f"lane-{name}"]
        assert isinstance(head, Panel | Cylinder), head
        order.append(head.area)
    between = [(left.right, right.left) for left, right in pairwise(order)]
    assert [(area.left, area.right) for area in shades[:2]] == between
    rows_of = [next(_fields(step(drawn, number))).area for number in (2, 3)]
    for area in shades[:2]:
        assert rows_of[0].top < area.top < rows_of[0].bottom <= rows_of[1].top < area.bottom < rows_of[1].bottom


def test_the_end_shows_what_is_wrong_where_it_stands_and_says_so_in_a_box() -> None:
    drawn = picture(ABANDONED, "none_abandoned")
    groups = {group.name: group for group in drawn.groups}
    assert "note wrong" in styles(groups["end"])
    words = [shape.text for shape in groups["end"].all_shapes() if isinstance(shape, Label)]
    assert words == ["at the end", "workflow[Workflow#0]", "= RUNNING"]
    box = [shape.text for shape in groups["conclusion"].all_shapes() if isinstance(shape, Label)]
    assert box[0] == "none_abandoned is false at rest, where nothing more will change"
    assert "is false for w = Workflow#0" in box
    title = [shape.text for shape in groups["heading"].all_shapes() if isinstance(shape, Label)]
    assert title == ["none_abandoned", "REFUTED", "4 steps, 1 fault: crash Server", "conductor/05, variant v1"]


@pytest.mark.parametrize(
    ("loop", "words"), [(None, "at the end"), (4, "at the end"), (0, "as at the start"), (3, "as after step 3")]
)
def test_the_last_state_of_a_lasso_is_called_what_it_is(loop: int | None, words: str) -> None:
    drawn = picture(replace(ABANDONED, loop=loop), "none_abandoned")
    end = next(group for group in drawn.groups if group.name == "end")
    assert words in [shape.text for shape in end.all_shapes() if isinstance(shape, Label)]


def test_a_cover_is_not_called_wrong() -> None:
    done = run(model("store db { durable x: 0..2 }\nprocess P { loop up { db.x := 1 } }\ncover one: db.x == 1"), 0, 1)
    groups = {group.name: group for group in picture(done, "one").groups}
    assert "note good" in styles(groups["end"])
    assert "note wrong" not in styles(groups["end"])
    assert "REACHED" in [shape.text for shape in groups["heading"].all_shapes() if isinstance(shape, Label)]


@pytest.mark.parametrize("trace", [CROWDED, HARMFUL, ABANDONED, LOST], ids=["crowded", "harmful", "abandoned", "lost"])
def test_everything_that_a_terminal_shows_of_a_step_is_told_where_it_is_pointed_at(trace: Trace) -> None:
    explanation: Explanation = explain(trace)
    drawn = picture(trace)
    for told in explanation.steps:
        tip = " ".join(step(drawn, told.number).tip.split())
        wanted = [wording.actor(trace.model, told), wording.action(told), wording.reason(told), wording.strike(told)]
        for change in told.changes:
            if wording.tells(trace.model, told, change):
                entry = wording.change(change, told, explanation)
                wanted += [entry.after, entry.before]
        for text in wanted:
            assert " ".join(text.split()) in tip


def test_signs_are_explained_where_they_are_used_and_not_elsewhere() -> None:
    def explained(trace: Trace) -> set[str]:
        legend = next(group for group in picture(trace).groups if group.name == "legend")
        return {shape.text for shape in legend.all_shapes() if isinstance(shape, Label)}

    assert explained(LOST) == {"asks", "no answer comes", "a fault", "runs", "changes"}
    assert explained(ABANDONED) == {"asks", "answers", "a fault", "recovers", "down", "runs", "changes"}


# ---------------------------------------------------------------------------------------------------------------- svg


def test_the_text_is_the_same_in_every_process() -> None:
    code = (
        "from tests.counterexamples.test_spacetime import *; import hashlib;"
        "print(hashlib.sha256(draw(explain(CROWDED), CROWDED).encode()).hexdigest())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


def test_names_do_no_harm() -> None:
    text = draw(explain(HARMFUL), HARMFUL, 'x & <y> "z"', name="<script>alert(2)</script>")
    root = ET.fromstring(text)
    known = {"svg", "title", "desc", "style", "defs", "pattern", "linearGradient", "stop"}
    known |= {"g", "rect", "circle", "path", "text"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == known
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    assert "<script" not in text
    assert "<script>alert(1)</script> & 'quoted' ]]> -->" in " ".join("".join(root.itertext()).split())


def test_every_style_has_a_rule_and_stays_inside_the_diagram() -> None:
    root = ET.fromstring(draw(explain(CROWDED, "honest"), CROWDED))
    style = root.find(f"{SVG}style")
    assert style is not None
    rules = "".join(style.itertext())
    selectors = [part.strip() for line in rules.split("\n") if line for part in line.split("{")[0].split(",")]
    assert all(selector.startswith(".spacetime ") for selector in selectors)
    ruled = {name for selector in selectors for name in re.findall(r"\.([\w-]+)", selector)}
    shapes = (f"{SVG}{tag}" for tag in ("rect", "circle", "path"))
    used = [element.get("class", "").split() for tag in shapes for element in root.iter(tag) if element.get("class")]
    assert used
    assert all(ruled & set(names) for names in used)
    assert not re.search(r"url\((?!#)|@import|https?:", style_sheet())


def test_steps_and_lanes_can_be_found_by_scripts() -> None:
    root = ET.fromstring(draw(explain(ABANDONED, "none_abandoned"), ABANDONED, prefix="first-"))
    by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
    insert = by_id["first-step-2"]
    assert insert.get("data-line") == "8"
    assert insert.get("data-file") == "05.cpt"
    assert insert.get("data-kind") == "thread"
    assert insert.get("data-lanes") == "lane-Server-0 lane-postgres"
    assert by_id["first-lane-postgres"].get("data-lane") == "postgres"
    assert insert.findtext(f"{SVG}title") == (
        "2  Server[0].start  (05.cpt:8)\npostgres.workflow[w] := RUNNING\npostgres: workflow[Workflow#0] none → RUNNING"
    )
    urls = re.findall(r"url\(#([\w-]+)\)", ET.tostring(root, encoding="unicode"))
    assert urls
    assert {*urls} <= by_id.keys()
    assert all(name is not None and name.startswith("first-") for name in by_id)


def test_a_label_says_its_font_its_style_and_what_it_leaves_out() -> None:
    label = Label(5, 20, "post…", 11, Font.STRONG, "what", struck=True, tip="postgres & more")
    root = ET.fromstring(to_svg(Picture(100, 50, "t", "s", (Group("g", (label,)),))))
    (text,) = root.iter(f"{SVG}text")
    assert set(text.get("class", "").split()) == {"m", "b", "what", "x"}
    assert (text.get("x"), text.get("y"), text.get("font-size")) == ("5", "20", "11")
    (title,) = text
    assert (title.text, (title.tail or "").strip()) == ("postgres & more", "post…")


def test_what_is_shortened_is_whole_where_it_is_pointed_at() -> None:
    labels = [shape for shape in picture(HARMFUL).all_shapes() if isinstance(shape, Label)]
    cut = [label for label in labels if label.text.endswith("…") and label.style != "reminder"]
    assert len(cut) > 5
    for label in cut:
        assert label.tip is not None
        assert label.text[:-1] in label.tip


def test_the_names_of_lanes_are_repeated_in_long_pictures_alone() -> None:
    for trace, wanted in ((ABANDONED, 0), (CROWDED, 2)):
        reminders = [s for s in picture(trace).all_shapes() if isinstance(s, Label) and s.style == "reminder"]
        assert len({label.y for label in reminders}) == wanted


def test_lines_of_the_model_are_links() -> None:
    text = draw(explain(ABANDONED), ABANDONED, links=lambda span: f"model.cpt#L{span.line}")
    links = ET.fromstring(text).iter(f"{SVG}a")
    assert [(link.get("href"), "".join(link.itertext()).strip()) for link in links] == [("model.cpt#L8", "line 8")]


def test_words_from_right_to_left_leave_the_rest_in_place() -> None:
    assert left_to_right("none → RUNNING") == "none → RUNNING"
    assert left_to_right("שלום → عودة 12") == "שלום\u200e → عودة\u200e 12"


def test_a_picture_is_small() -> None:
    assert len(to_svg(picture(ABANDONED, "none_abandoned"))) < 20_000
    assert len(to_svg(picture(CROWDED))) < 80_000


# -------------------------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("font", list(Font))
@pytest.mark.parametrize("text", ["", "a", 'step "push" { redis.tasks.push(t) }', "W" * 300, "名前 " * 40, "é" * 9])
def test_wrapped_and_shortened_text_fits_and_loses_nothing_but_blanks(text: str, font: Font) -> None:
    lines = wrap(text, 120, 11, font)
    assert all(text_width(line, 11, font) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert text_width(shorten(text, 120, 11, font), 11, font) <= 120
    two = wrap(text, 120, 11, font, most=2)
    assert two == lines if len(lines) <= 2 else (len(two), two[-1][-1]) == (2, "…")


def test_what_fits_is_not_shortened() -> None:
    for text in ("Server[0]", "i", "postgres.workflow[Workflow#0]"):
        assert shorten(text, text_width(text, 12), 12) == text
