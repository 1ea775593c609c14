"""A trace as a graph: a state below the other, and between them what happened."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.explain import Explanation, Step
from counterexamples.render import wording
from counterexamples.render.dot import Edge, Graph, Mark, Node
from spec.typed import PropertyForm

_MOST_CHANGES = 8


def trace_graph(explanation: Explanation) -> Graph:
    """Nodes show what the step before has changed, edges what was done."""
    nodes = [Node("s0", ("initial state",), frozenset({Mark.INITIAL}))]
    edges = []
    for step in explanation.steps:
        nodes.append(Node(f"s{step.number}", tuple(_changes(explanation, step)) or ("no change",)))
        edges.append(Edge(f"s{step.number - 1}", f"s{step.number}", _what(explanation, step), step.kind))
    if explanation.loop is not None:
        edges.append(Edge(nodes[-1].name, f"s{explanation.loop}", ("for ever",)))
    caption: tuple[str, ...] = ()
    if explanation.conclusion is not None:
        found = explanation.conclusion
        reached = found.declared is not None and found.declared.form is PropertyForm.COVER
        mark = Mark.REACHED if reached else Mark.VIOLATING
        last = nodes[-1]
        nodes[-1] = Node(last.name, last.lines, last.marks | {mark})
        caption = (f"{found.name} is {'reached' if reached else 'violated'}",)
        caption += tuple(wording.stuck(explanation))
        caption += () if found.blame is None else (found.blame.text,)
    return Graph(tuple(nodes), tuple(edges), caption)


def _what(explanation: Explanation, step: Step) -> tuple[str, ...]:
    lines = [f"{step.number}  {wording.actor(explanation.model, step)}", wording.action(step)]
    lines += [text for text in (wording.ending(step), wording.strike(step)) if text]
    return tuple(lines)


def _changes(explanation: Explanation, step: Step) -> Iterator[str]:
    told = wording.entries(step, explanation)
    yield from map(wording.entry, told[:_MOST_CHANGES])
    if len(told) > _MOST_CHANGES:
        yield f"and {len(told) - _MOST_CHANGES} more changes"
