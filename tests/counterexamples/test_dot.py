"""Graphs as DOT text: quoted whatever it says, and marked by more than colour."""

from __future__ import annotations

import shutil

import pytest

from counterexamples.explain import Kind, explain
from counterexamples.render.dot import Edge, Graph, Mark, Node, NoProgramError, picture, to_dot
from counterexamples.render.trace_graph import trace_graph
from tests.counterexamples.sample import ABANDONED, LOST

needs_program = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


def test_a_trace_is_a_chain_from_the_initial_state_to_the_violation() -> None:
    graph = trace_graph(explain(ABANDONED, "none_abandoned"))
    assert [(edge.source, edge.target) for edge in graph.edges] == [
        ("s0", "s1"),
        ("s1", "s2"),
        ("s2", "s3"),
        ("s3", "s4"),
    ]
    assert [edge.kind for edge in graph.edges] == [Kind.ENVIRONMENT, Kind.THREAD, Kind.FAULT, Kind.RECOVERY]
    assert graph.nodes[0].marks == {Mark.INITIAL}
    assert graph.nodes[4].marks == {Mark.VIOLATING}
    assert graph.nodes[2].lines == ("postgres.workflow[Workflow#0] none → RUNNING",)
    assert graph.edges[2].lines == ("3  Server[0]", "crash")
    assert graph.caption[0] == "none_abandoned is violated"


def test_faults_are_dashed_recoveries_dotted_and_violations_have_two_borders() -> None:
    text = to_dot(trace_graph(explain(ABANDONED, "none_abandoned")))
    fault = next(line for line in text.split("\n") if "s2 -> s3" in line)
    recovery = next(line for line in text.split("\n") if "s3 -> s4" in line)
    plain = next(line for line in text.split("\n") if "s1 -> s2" in line)
    assert "style=dashed" in fault
    assert "style=dotted" in recovery
    assert "style" not in plain
    assert "peripheries=2" in next(line for line in text.split("\n") if line.startswith("\ts4 ["))


def test_a_cover_is_reached_and_not_violated() -> None:
    graph = trace_graph(explain(LOST, "completes"))
    assert graph.nodes[-1].marks == {Mark.REACHED}


@needs_program
@pytest.mark.parametrize("name", ['"', "\\", "\\N", "<b>", "<", "]; x [", "}", "\u202ex", "x" * 300, "", "node", "a:b"])
def test_graphviz_shows_hostile_labels_as_they_are(name: str) -> None:
    graph = Graph((Node("a", (name, "second")), Node("b", ("end",))), (Edge("a", "b", (name,)),), caption=(name,))
    svg = picture(to_dot(graph), "svg").decode()
    assert svg.count('class="node"') == 2
    assert svg.count('class="edge"') == 1
    assert "\u202e" not in svg


@needs_program
def test_pictures() -> None:
    text = to_dot(trace_graph(explain(ABANDONED, "none_abandoned")))
    assert picture(text, "png").startswith(b"\x89PNG")
    assert picture(text, "pdf").startswith(b"%PDF")


def test_without_the_program_the_text_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    text = to_dot(trace_graph(explain(ABANDONED)))
    assert text.startswith("digraph {")
    with pytest.raises(NoProgramError):
        picture(text, "svg")
