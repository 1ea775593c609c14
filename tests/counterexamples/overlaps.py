"""What must not happen in a picture: text over text, marks over text, anything beyond the frame."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from counterexamples.spacetime.shapes import Area, Cylinder, Group, Label, Line, Mark, Panel, Picture, Shape, Tip


def flaws(picture: Picture) -> list[str]:
    """What is wrong with a picture, in words; nothing where all is well."""
    return [*_clipped(picture), *_overlapping(picture), *_spilling(picture), *_same_names(picture)]


def _clipped(picture: Picture) -> Iterator[str]:
    for shape in picture.all_shapes():
        if not picture.frame.contains(area(shape)):
            yield f"clipped: {told(shape)}"


def _overlapping(picture: Picture) -> Iterator[str]:
    """Labels and marks keep clear of each other; notes of each other, and of marks and labels that are not theirs."""
    marked = [(s, area(s)) for s in picture.all_shapes() if isinstance(s, Label | Mark)]
    notes = [s for s in picture.all_shapes() if isinstance(s, Panel) and s.style.startswith(("note", "head"))]
    marked.sort(key=lambda pair: pair[1].top)
    for i, (one, first) in enumerate(marked):
        for other, second in marked[i + 1 :]:
            if second.top >= first.bottom:
                break
            if first.overlaps(second):
                yield f"{told(one)} over {told(other)}"
    for one_note, other_note in combinations(notes, 2):
        if one_note.area.overlaps(other_note.area):
            yield f"{told(one_note)} over {told(other_note)}"
    for note in notes:
        for shape, covered in marked:
            if note.area.overlaps(covered):
                if isinstance(shape, Mark):
                    yield f"{told(shape)} on {told(note)}"
                elif not note.area.contains(covered):
                    yield f"{told(shape)} sticks out of {told(note)}"


def _spilling(picture: Picture) -> Iterator[str]:
    """Messages of a step stay clear of its notes; what a step shows stays in its row."""
    for group in picture.groups:
        if group.kind != "step":
            continue
        shapes = list(group.all_shapes())
        row = next(s.area for s in shapes if isinstance(s, Panel) and s.style == "field")
        notes = [s for s in shapes if isinstance(s, Panel) and s.style.startswith("note")]
        for shape in shapes:
            if not row.contains(area(shape)):
                yield f"{group.name}: {told(shape)} leaves its row"
            if isinstance(shape, Line | Tip) and any(note.area.overlaps(area(shape).grown(0.5)) for note in notes):
                yield f"{group.name}: {told(shape)} runs through a note"


def _same_names(picture: Picture) -> Iterator[str]:
    names = [name for group in picture.groups for name in _names(group)]
    yield from (f"two are called {name}" for name in set(names) if names.count(name) > 1)


def _names(group: Group) -> Iterator[str]:
    if group.name:
        yield group.name
    for shape in group.shapes:
        if isinstance(shape, Group):
            yield from _names(shape)


def area(shape: Shape) -> Area:
    match shape:
        case Line(points, _):
            xs, ys = [x for x, _ in points], [y for _, y in points]
            return Area(min(xs), min(ys), max(xs), max(ys))
        case Label() | Panel() | Cylinder() | Tip() | Mark():
            return shape.area


def told(shape: Shape) -> str:
    match shape:
        case Label():
            return f"{shape.text!r} at {shape.x:.0f},{shape.y:.0f}"
        case Mark(sign, x, y):
            return f"{sign.value} at {x:.0f},{y:.0f}"
        case _:
            return f"{type(shape).__name__} {shape.style!r} at {area(shape)}"
