"""Graphs as DOT text and as pictures: what is drawn is data here, how it looks is Graphviz's business."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import graphviz

from counterexamples.explain import Kind
from spec.diagnostic import visible

FORMATS = ("svg", "png", "pdf")
"""The pictures that `picture` makes."""
_WIDEST = 60
"""Longer lines of a label are cut."""


class Mark(Enum):
    """What a node is, besides a state or statement."""

    PLAIN = "plain"
    INITIAL = "initial"
    VIOLATING = "violating"
    REACHED = "reached"
    END = "end"
    CHOICE = "choice"


@dataclass(frozen=True)
class Node:
    """lines: of its label; tip: what is shown when one points at it."""

    name: str
    lines: tuple[str, ...]
    marks: frozenset[Mark] = frozenset()
    tip: str = ""


@dataclass(frozen=True)
class Edge:
    """kind: whose step it is; None for a line of control.  bold: one of those that matter most."""

    source: str
    target: str
    lines: tuple[str, ...] = ()
    kind: Kind | None = None
    bold: bool = False


@dataclass(frozen=True)
class Graph:
    """caption: lines below the graph.  groups: nodes that stand in a box of their own, by the title of the box.
    sideways: from left to right, not downwards."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    caption: tuple[str, ...] = ()
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sideways: bool = False


class NoProgramError(Exception):
    """The program `dot` of Graphviz is not installed."""


class DrawingError(Exception):
    """The program `dot` is there and fails."""


def to_dot(graph: Graph) -> str:
    """The graph in the DOT language; the same graph gives the same text."""
    drawn = graphviz.Digraph(
        graph_attr={
            "rankdir": "LR" if graph.sideways else "TB",
            "fontname": "Helvetica,Arial,sans-serif",
            "fontsize": "11",
            "nodesep": "0.3",
            "ranksep": "0.4",
            "tooltip": " ",
        },
        node_attr={
            "shape": "box",
            "style": "rounded,filled",
            "fillcolor": "white",
            "color": "#555555",
            "fontname": "Helvetica,Arial,sans-serif",
            "fontsize": "10",
            "margin": "0.12,0.06",
        },
        edge_attr={
            "color": "#555555",
            "fontname": "Helvetica,Arial,sans-serif",
            "fontsize": "9",
            "arrowsize": "0.7",
            "tooltip": " ",
        },
    )
    if graph.caption:
        drawn.attr(label=_label(graph.caption, left=True, widest=120), labelloc="b", labeljust="l")
    grouped = {name for _, names in graph.groups for name in names}
    for number, (title, names) in enumerate(graph.groups):
        with drawn.subgraph(name=f"cluster_{number}") as box:
            box.attr(label=_label((title,)), labeljust="l", labelloc="t", color="#aaaaaa", style="rounded")
            for node in graph.nodes:
                if node.name in names:
                    _add(box, node)
    for node in graph.nodes:
        if node.name not in grouped:
            _add(drawn, node)
        if Mark.INITIAL in node.marks:
            drawn.node(f"start_{node.name}", "", shape="circle", width="0.12", fillcolor="black", tooltip="start")
            drawn.edge(f"start_{node.name}", node.name)
    for edge in graph.edges:
        attributes = dict(_EDGES.get(edge.kind, {}))
        if edge.bold:
            attributes["penwidth"] = "2.2"
        drawn.edge(
            edge.source,
            edge.target,
            label=_label([f" {line} " for line in edge.lines]) if edge.lines else None,
            **attributes,
        )
    text: str = drawn.source
    return text


def picture(text: str, form: str) -> bytes:
    """The picture (`svg`, `png` or `pdf`) of a graph in the DOT language.  Raises NoProgramError, DrawingError."""
    try:
        drawn: bytes = graphviz.Source(text).pipe(format=form)
    except graphviz.ExecutableNotFound as error:
        raise NoProgramError(str(error)) from None
    except graphviz.CalledProcessError as error:
        raise DrawingError(str(error)) from None
    return drawn


_EDGES: dict[Kind | None, dict[str, str]] = {
    Kind.FAULT: {"style": "dashed", "color": "#B3400E", "fontcolor": "#B3400E"},
    Kind.RECOVERY: {"style": "dotted", "color": "#00664B", "fontcolor": "#00664B"},
    Kind.ENVIRONMENT: {"arrowhead": "empty"},
}


def _add(drawn: graphviz.Digraph, node: Node) -> None:
    attributes: dict[str, str] = {}
    if Mark.CHOICE in node.marks:
        attributes.update(shape="diamond", style="filled", margin="0.02,0.02")
    if Mark.END in node.marks:
        attributes.update(shape="plaintext", style="")
    if Mark.REACHED in node.marks:
        attributes.update(peripheries="2", color="#00664B", fillcolor="#E2F0D9")
    if Mark.VIOLATING in node.marks:
        attributes.update(peripheries="2", color="#B3400E", fillcolor="#FCE4D6", penwidth="2")
    drawn.node(node.name, _label(node.lines), tooltip=_label((node.tip,)) if node.tip else " ", **attributes)


def _label(lines: Sequence[str], left: bool = False, widest: int = _WIDEST) -> str:
    """The lines of a label, of which Graphviz interprets nothing; below each other, centred or at the left."""
    shown = [visible(line if len(line) <= widest else line[: widest - 1] + "…") for line in lines]
    escaped: str = "\\n".join(graphviz.escape(line) for line in shown)
    if left:
        escaped = "".join(f"{graphviz.escape(line)}\\l" for line in shown)
    return graphviz.nohtml(escaped) if escaped.startswith("<") else escaped
