"""Mermaid diagrams: who speaks to whom, what strikes, and names that mean harm."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from counterexamples.explain import explain
from counterexamples.render.mermaid import escaped, to_mermaid
from counterexamples.trace import Trace
from spec.event import Event, EventKind, Party
from spec.typed import Store
from tests.counterexamples.sample import ABANDONED, INITIAL, LOST, MODEL, REQUESTED, RESTARTED

LINE = re.compile(
    r"sequenceDiagram|end|actor env as environment|participant p\d+ as \S.*|rect rgb\(\d+, \d+, \d+\)|loop for ever"
    r"|(env|p\d+)(->>|-x|--x|-->>)p\d+: \S.*|note over p\d+(,p\d+)?: \S.*"
)
"""All that a diagram of ours has of Mermaid's language."""


def test_a_crash_between_two_writes() -> None:
    """By hand from the sample: the request, the insert at postgres, then the server dies and comes back."""
    assert to_mermaid(explain(ABANDONED, "none_abandoned")) == (
        """\
sequenceDiagram
  actor env as environment
  participant p0 as Server[0]
  participant p1 as postgres
  env->>p0: 1 start: request(w = Workflow#35;0)
  p0->>p1: 2 start: postgres.workflow[w] := RUNNING
  note over p0,p1: postgres.workflow[Workflow#35;0] none → RUNNING
  rect rgb(252, 228, 214)
    note over p0: 3 ✗ Server[0]: crash<br/>Server[0].start stopped before redis.decider.push(w)  (line 9)
  end
  rect rgb(226, 240, 217)
    note over p0: 4 ↻ Server[0]: restart
  end
  rect rgb(255, 242, 204)
    note over p0,p1: none_abandoned is violated<br/>postgres.workflow[w] != RUNNING  for w = Workflow#35;0
  end
"""
    )


def test_a_lost_reply_arrives_at_the_store_and_its_answer_does_not() -> None:
    text = to_mermaid(explain(LOST, "queued"))
    assert "p0->>p1: 2 start: postgres.workflow[w] := RUNNING" in text
    assert "p1--xp0: unknown" in text
    assert "✗ the reply is lost: its effect is kept" in text


def test_a_lost_request_does_not_arrive() -> None:
    lost = replace(LOST, events=(LOST.events[0], replace(LOST.events[1], kept=False)))
    assert "p0-xp1: 2 start: postgres.workflow[w] := RUNNING" in to_mermaid(explain(lost))


@pytest.mark.parametrize(
    ("loop", "before"), [(1, "  loop for ever\n    p0->>p1: 2 "), (0, "  loop for ever\n    env->>")]
)
def test_the_loop_of_a_lasso(loop: int, before: str) -> None:
    lasso = Trace(MODEL, (*ABANDONED.states[:4], (INITIAL, REQUESTED)[loop]), ABANDONED.events, loop=loop)
    text = to_mermaid(explain(lasso))
    assert before in text
    assert text.endswith("\n    end\n  end\n")


def test_a_run_that_stays_where_it_is_for_ever() -> None:
    lasso = replace(ABANDONED, loop=4)
    assert to_mermaid(explain(lasso)).endswith("  loop for ever\n    note over p0,p1: nothing more happens\n  end\n")


def test_the_initial_state_alone() -> None:
    text = to_mermaid(explain(Trace(MODEL, (INITIAL,), ())))
    assert text == "sequenceDiagram\n  participant p0 as Server[0]\n  note over p0: no step, the initial state\n"


HOSTILE = [
    "end",
    "End ",
    "a;b",
    "#35;",
    "%% gone",
    "wrap: x",
    "<b>x</b>",
    '"',
    "`",
    "\u202eabc",
    "x\ny",
    "p0->>p1: y",
    "é" * 500,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    text = escaped(name)
    codes = re.sub(r"#\d+;", "", text)
    assert not set(codes) & set(';#%<>"`\n\u202e')
    assert text.strip().lower() != "end"
    assert not text.startswith("wrap:")
    shown = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), text)
    assert shown.replace("\\u202e", "\u202e").replace("\\n", "\n")[:50] == name[:50]


@pytest.mark.parametrize("name", HOSTILE)
def test_every_line_is_of_the_language_whatever_a_model_is_called(name: str) -> None:
    model = replace(MODEL, stores=(*MODEL.stores, Store(name, (), (), (), MODEL.stores[0].span, "")))
    down = replace(INITIAL, down=frozenset({Party(name)}))
    strange = Trace(model, (INITIAL, down), (Event(EventKind.CRASH, party=Party(name)),))
    for trace in (strange, ABANDONED, LOST):
        lines = to_mermaid(explain(trace)).rstrip("\n").split("\n")
        assert [line for line in lines if not LINE.fullmatch(line.strip())] == []
        depth = [line.split(" ")[0] for line in map(str.strip, lines)]
        assert depth.count("end") == depth.count("rect") + depth.count("loop")


def test_restarted_is_the_end_of_the_sample() -> None:
    assert ABANDONED.states[-1] == RESTARTED
