"""State graphs and control graphs, against small models whose states and statements one can count by hand."""

from __future__ import annotations

import pytest

from counterexamples.explain import Kind
from counterexamples.graphs.control_graph import control_graph
from counterexamples.graphs.exploration import TooManyStatesError, around, explore
from counterexamples.graphs.state_graph import Shown, StateGraph
from counterexamples.render.dot import Graph, Mark, to_dot
from spec import syntax
from spec.diagnostic import Diagnostic
from spec.interpreter import Interpreter
from spec.parse import parse
from spec.source import Source
from spec.typecheck import Checked, Choice, typecheck, typecheck_expressions
from spec.typed import Model

COUNTER = """\
store db { durable x: 0..2 }
process P {
  loop up {
    await db.x < 2
    db.x := db.x + 1
  }
}
invariant never_two: db.x != 2
at rest full: db.x == 2
step invariant slow: db.x' <= db.x or db.x < 1
cover one: db.x == 1
"""
"""The loop waits and then adds: x = 0 and x = 1 each before the `await` and before the addition, and x = 2 before the
`await`: five states in a row."""


def module_of(text: str) -> syntax.Module:
    file = parse(Source("m.cpt", text))
    assert isinstance(file, syntax.File), file
    return syntax.Module(file.source, file.doc, file.items)


def model_of(text: str) -> Model:
    found = typecheck(module_of(text))
    assert isinstance(found, Checked), found
    return found.model


def shown(text: str, *expressions: str) -> list[Shown]:
    nodes = []
    for each in expressions:
        file = parse(Source("--show", f"cover shown: {each}"))
        assert isinstance(file, syntax.File)
        item = file.items[0]
        assert isinstance(item, syntax.Property)
        nodes.append(item.condition)
    typed = typecheck_expressions(module_of(text), Choice(), nodes)
    found = []
    for name, expression in zip(expressions, typed, strict=True):
        assert not isinstance(expression, Diagnostic), expression
        found.append(Shown(name, expression))
    return found


def graph_of(text: str, *expressions: str, names: list[str] | None = None) -> Graph:
    interpreter = Interpreter(model_of(text))
    return StateGraph(interpreter, explore(interpreter, 1000), shown(text, *expressions), names).graph()


def links(graph: Graph) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in graph.edges]


def test_every_state_and_every_step() -> None:
    graph = graph_of(COUNTER)
    assert [node.lines for node in graph.nodes] == [
        ("as in the initial state",),
        ("P[0].up before db.x := db.x + 1",),
        ("db.x = 1", "✓ one"),
        ("db.x = 1", "P[0].up before db.x := db.x + 1", "✓ one"),
        ("db.x = 2", "✗ never_two", "✗ slow"),
    ]
    assert links(graph) == [("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("n3", "n4")]
    assert [edge.lines for edge in graph.edges[:2]] == [("P[0].up: await db.x < 2",), ("P[0].up: db.x := db.x + 1",)]
    assert [node.marks for node in graph.nodes] == [
        {Mark.INITIAL},
        set(),
        {Mark.REACHED},
        {Mark.REACHED},
        {Mark.VIOLATING},
    ]
    assert graph.caption == ("5 states, 4 steps",)


def test_states_with_equal_values_are_one_node_with_a_count() -> None:
    graph = graph_of(COUNTER, "db.x", "db.x > 0")
    assert [node.lines[:3] for node in graph.nodes] == [
        ("db.x = 0", "db.x > 0 = false", "2 states"),
        ("db.x = 1", "db.x > 0 = true", "2 states"),
        ("db.x = 2", "db.x > 0 = true", "1 state"),
    ]
    assert links(graph) == [("n0", "n1"), ("n1", "n2")]
    assert graph.edges[0].lines == ("P.up: db.x := db.x + 1",)
    assert graph.caption == ("5 states, 4 steps, 3 nodes",)


def test_how_many_of_a_nodes_states_violate() -> None:
    graph = graph_of(COUNTER.replace("db.x != 2", "db.x < 1"), "true", names=["never_two", "full"])
    assert graph.nodes[0].lines == ("true = true", "5 states", "✗ never_two in 3 of them")


def test_what_is_at_rest_and_wrong() -> None:
    """It rests at x = 2 and nowhere else."""
    graph = graph_of(COUNTER.replace("at rest full: db.x == 2", "at rest full: db.x == 1"), names=["full"])
    assert [node.marks == {Mark.VIOLATING} for node in graph.nodes] == [False, False, False, False, True]


def test_model_errors_and_values_of_none() -> None:
    text = COUNTER.replace("await db.x < 2", "assert db.x < 2").replace("db.x' <= db.x or db.x < 1", "db.x' >= db.x")
    graph = graph_of(text, names=[])
    assert "✗ assert_4" in graph.nodes[-1].lines
    maybe = "store db { durable t: (0..1)? }\nprocess P { task go { db.t := 1 } }\ncover set: db.t is some\n"
    graph = graph_of(maybe, "db.t + 1")
    assert [node.lines[0] for node in graph.nodes] == ["db.t + 1 = (value of none)", "db.t + 1 = 2"]


def test_faults_and_recoveries_are_edges_of_their_kinds() -> None:
    graph = graph_of(
        "store db { durable x: bool }\nprocess P { task go { db.x := true } }\nfaults { crash P }\ncover c: db.x"
    )
    kinds = {edge.lines: edge.kind for edge in graph.edges}
    assert kinds["P[0]: crash",] is Kind.FAULT
    assert kinds["P[0]: restart",] is Kind.RECOVERY
    assert kinds["P[0].go: db.x := true",] is Kind.THREAD
    text = to_dot(graph)
    assert text.count("style=dashed") == sum(edge.kind is Kind.FAULT for edge in graph.edges)
    assert text.count("style=dotted") == sum(edge.kind is Kind.RECOVERY for edge in graph.edges)


def test_a_cut_is_never_silent() -> None:
    interpreter = Interpreter(model_of(COUNTER))
    with pytest.raises(TooManyStatesError):
        explore(interpreter, 4)
    assert len(explore(interpreter, 5).states) == 5
    cut = explore(interpreter, 100, depth=2)
    assert (len(cut.states), cut.open) == (3, frozenset({2}))
    graph = StateGraph(interpreter, cut).graph()
    assert graph.nodes[2].lines[-1] == "… more steps from here"
    assert "not all: 1 state with steps that are not shown" in graph.caption
    assert explore(interpreter, 100, depth=4).open == frozenset()


BUSY = """\
store db { durable x: 0..3 }
process P[3] { on go() { db.x := 1 } }
invariant zero: db.x == 0
"""
"""Any of three instances may be asked; the run below asks the first, which writes."""


def test_around_a_run_what_leads_away_from_it_is_drawn_as_one() -> None:
    interpreter = Interpreter(model_of(BUSY))
    start = interpreter.initial()
    asked = next(after for event, after in interpreter.successors(start) if event.slot and event.slot.instance == 0)
    wrote = next(after for event, after in interpreter.successors(asked) if event.kind.value == "step")
    run = (start, asked, wrote)
    graph = StateGraph(interpreter, around(interpreter, run, 100), names=["zero"], path=run).graph()
    # Beside the start: two more that may be asked; beside the second state two; beside the last three.
    names = {node.name: node for node in graph.nodes}
    assert sum("3 other states" in node.lines for node in graph.nodes) == 1
    assert len(graph.nodes) == 3 + 2 + 2 + 1
    bold = [(names[e.source].lines[0], names[e.target].lines[0]) for e in graph.edges if e.bold]
    assert bold == [
        ("as in the initial state", "P[0].go before db.x := 1"),
        ("P[0].go before db.x := 1", "db.x = 1"),
    ]
    on_run = {"n0", "n1", "n2"}
    assert all({edge.source, edge.target} & on_run for edge in graph.edges)


# ------------------------------------------------------------------------------------------------- control graphs

CONTROL = """\
store db { durable x: 0..9; durable row: bool? }
process P {
  on go(n: 0..1): bool {
    if n == 0 { db.x := 1 } else { db.x := 2 }
    either { db.x := 3 } or { db.x := 4 }
    for k in {1, 2} { db.x := 5 }
    try { db.row := true } catch unknown { fail "lost" }
    while db.x > 5 { db.x := 6 }
    return true
  }
  task call_it { retry 1 { let ok = call Q.go(1) } }
}
process Q { on go(n: 0..1): bool { return true } }
faults { crash db; crash Q }
invariant small: db.x < 9
"""


def control(text: str, process: str = "P") -> tuple[dict[str, str], set[tuple[str, str, str]]]:
    """The nodes by name, and the edges as text: from, to, label."""
    model = model_of(text)
    graph = control_graph(model, next(each for each in model.processes if each.name == process))
    lines = {node.name: node.lines[0].split("  ")[-1] for node in graph.nodes}
    return lines, {(lines[e.source], lines[e.target], " ".join(e.lines)) for e in graph.edges}


def test_what_follows_what() -> None:
    nodes, edges = control(CONTROL)
    flow = {edge for edge in edges if "refused" not in edge[2] and "unknown" not in edge[2]}
    assert flow == {
        ("request", "if n == 0", ""),
        ("if n == 0", "db.x := 1", "yes"),
        ("if n == 0", "db.x := 2", "no"),
        ("db.x := 1", "either", ""),
        ("db.x := 2", "either", ""),
        ("either", "db.x := 3", "either"),
        ("either", "db.x := 4", "or"),
        ("db.x := 3", "for k in {1, 2}", ""),
        ("db.x := 4", "for k in {1, 2}", ""),
        ("for k in {1, 2}", "db.x := 5", "each"),
        ("for k in {1, 2}", "db.row := true", "done"),
        ("db.x := 5", "for k in {1, 2}", ""),
        ("db.row := true", "while db.x > 5", ""),
        ('fail "lost"', "ends", "failed"),
        ("while db.x > 5", "db.x := 6", "yes"),
        ("while db.x > 5", "return true", "no"),
        ("db.x := 6", "while db.x > 5", ""),
        ("return true", "ends", ""),
        ("begins with its instance", "let ok = call Q.go(1)", ""),
        ("let ok = call Q.go(1)", "ends", ""),
    }
    assert "try" not in " ".join(nodes.values())


def test_where_control_goes_upon_failures() -> None:
    """`db` may be down, or crash during a statement; `Q` may be down or crash while it is called.  A `retry` is gone
    through again, or given up."""
    _, edges = control(CONTROL)
    failures = {edge for edge in edges if "refused" in edge[2] or "unknown" in edge[2]}
    assert ("db.row := true", 'fail "lost"', "unknown") in failures
    assert ("db.row := true", "ends", "refused") in failures
    assert ("db.x := 1", "ends", "refused, unknown") in failures
    assert ("let ok = call Q.go(1)", "let ok = call Q.go(1)", "refused, unknown, failed") in failures
    assert ("let ok = call Q.go(1)", "ends", "refused, unknown, failed") in failures


@pytest.mark.parametrize(
    ("fault", "label"),
    [
        ("lose P -- db", "unknown"),
        ("partition P -- db", "refused, unknown"),
        ("duplicate P -- db", None),
        ("crash P", None),
    ],
)
def test_which_fault_classes_make_a_statement_fail(fault: str, label: str | None) -> None:
    """A cut link refuses what comes later, a lost message only leaves one in doubt; the crash of the own instance
    leaves nobody who could go on."""
    _, edges = control(CONTROL.replace("crash db; crash Q", fault))
    assert {told for source, target, told in edges if (source, target) == ("db.x := 1", "ends")} == {label} - {None}


def test_without_fault_classes_only_what_the_model_itself_makes_fail() -> None:
    _, edges = control(CONTROL.replace("faults { crash db; crash Q }\n", ""))
    assert {edge for edge in edges if "refused" in edge[2] or "unknown" in edge[2]} == set()


def test_threads_stand_in_boxes_and_failures_are_dashed() -> None:
    model = model_of(CONTROL)
    graph = control_graph(model, model.processes[0])
    assert [title for title, _ in graph.groups] == ["on go", "task call_it"]
    assert {name for _, names in graph.groups for name in names} == {node.name for node in graph.nodes}
    text = to_dot(graph)
    assert text.count("style=dashed") == sum(edge.kind is Kind.FAULT for edge in graph.edges) > 0
