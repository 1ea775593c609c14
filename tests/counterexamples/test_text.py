"""Traces on the terminal.  The golden texts were written from the events and states of the sample, with the columns
that the module describes; the other tests check what must hold of every text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterexamples.explain import explain
from counterexamples.render.page import Page, cells
from counterexamples.render.text import render, render_state, render_steps, summary
from counterexamples.trace import Trace
from spec.event import Ending, Event, EventKind, Party, Slot, Strike
from spec.source import Source, Span
from spec.state import Activation, ErrorKind, GlobalState, LockState, Loose, ModelError, QueueState
from spec.typed import Model, PropertyDeclaration, Statement
from spec.value import Member, Table
from tests.counterexamples.sample import (
    ABANDONED,
    COMPLETED,
    DECIDE_0,
    DECIDE_1,
    INITIAL,
    INSERTED,
    LOST,
    MODEL,
    REQUESTED,
    RESTARTED,
    RUNNING,
    START_0,
    W0,
    W1,
)


def waits(state: GlobalState, slot: Slot) -> bool:
    return False


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_a_refutation_at_rest() -> None:
    assert render(explain(ABANDONED, "none_abandoned", waits), Page(width=100)) == (
        "  none_abandoned  REFUTED   4 steps, 1 fault: crash Server\n"
        "\n"
        "  1   Server[0].start  request(w = Workflow#0)\n"
        "  2   Server[0].start  postgres.workflow[w] := RUNNING                            conductor/05.cpt:8\n"
        "                         postgres.workflow[Workflow#0]   none → RUNNING\n"
        "  3 ✗ Server[0]        crash\n"
        "                         Server[0].start   stopped before redis.decider.push(w)  (line 9)\n"
        "  4 ↻ Server[0]        restart\n"
        "\n"
        "  ┃ none_abandoned is false at rest, where nothing more will change              conductor/05.cpt:20\n"
        "  ┃ No started workflow is left RUNNING when nothing more will happen.\n"
        "  ┃\n"
        "  ┃ postgres.workflow[w] != RUNNING  is false for w = Workflow#0\n"
        "  ┃     postgres.workflow[Workflow#0]   = RUNNING\n"
        "  ┃\n"
        "  ┃ where the threads stand\n"
        "  ┃   Server[0].decide   waits at  let w = redis.decider.take()                            05.cpt:12\n"
        "  ┃   Server[1].decide   waits at  let w = redis.decider.take()                            05.cpt:12\n"
    )


def test_an_implication_is_told_as_a_table_of_its_parts() -> None:
    text = render(explain(LOST, "queued"), Page(width=100))
    assert text == (
        "  queued  REFUTED   2 steps, 1 fault: lose Server -- postgres\n"
        "\n"
        "  1   Server[0].start  request(w = Workflow#0)\n"
        "  2 ✗ Server[0].start  postgres.workflow[w] := RUNNING ⇒ unknown                  conductor/05.cpt:8\n"
        "                       the reply is lost: its effect is kept\n"
        "                         Server[0].start                 ends: unknown is not caught\n"
        "                         postgres.workflow[Workflow#0]   none → RUNNING\n"
        "\n"
        "  ┃ queued is false in this state                                                conductor/05.cpt:21\n"
        "  ┃\n"
        "  ┃ postgres.workflow[w] is some and not executed[w] => redis.decider.contains(w)\n"
        "  ┃   is false for w = Workflow#0\n"
        "  ┃\n"
        "  ┃     true    postgres.workflow[w] is some   postgres.workflow[Workflow#0]  = RUNNING\n"
        "  ┃     true    not executed[w]\n"
        "  ┃     false   redis.decider.contains(w)\n"
    )


def test_without_unicode_only_ascii_is_printed() -> None:
    text = render(explain(ABANDONED, "none_abandoned", waits), Page(unicode=False))
    assert text.isascii()
    assert "  3 X Server[0]        crash" in lines(text)
    assert "                         postgres.workflow[Workflow#0]   none -> RUNNING" in lines(text)
    assert "  | postgres.workflow[w] != RUNNING  is false for w = Workflow#0" in lines(text)


def test_colour_adds_escapes_and_changes_no_character() -> None:
    explained = explain(ABANDONED, "none_abandoned", waits)
    coloured = render(explained, Page(colour=True))
    assert "\x1b[1;31m✗\x1b[0m" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == render(explained, Page())
    for line in lines(coloured):
        assert line.count("\x1b[") % 2 == 0, "every style ends on its own line"


# --------------------------------------------------------------------------------------------------- single steps


def one(before: GlobalState, event: Event, after: GlobalState, width: int = 100) -> list[str]:
    return lines(render_steps(explain(Trace(MODEL, (before, after), (event,))), Page(width=width)))


def test_a_take_shows_the_local_and_the_queue() -> None:
    before = replace(INITIAL, queues={("redis", "decider"): QueueState(((W1, Loose.VISIBLE),))})
    after = replace(
        before,
        queues={("redis", "decider"): QueueState(((W1, DECIDE_0),))},
        activations={**INITIAL.activations, DECIDE_0: Activation(4, {"w": W1})},
    )
    assert one(before, Event(EventKind.STEP, DECIDE_0, 3), after) == [
        "  1   Server[0].decide  let w = redis.decider.take()                             conductor/05.cpt:12",
        "                          redis.decider   Workflow#1 is taken",
        "                          w               = Workflow#1",
    ]


def test_a_refused_statement_says_why() -> None:
    down = replace(REQUESTED, down=frozenset({Party("postgres")}))
    after = replace(INITIAL, down=down.down, used=REQUESTED.used)
    assert one(down, Event(EventKind.STEP, START_0, 1, Ending.REFUSED), after) == [
        "  1   Server[0].start  postgres.workflow[w] := RUNNING                            conductor/05.cpt:8",
        "                       ⇒ refused: postgres is down",
        "                         Server[0].start   ends: refused is not caught",
    ]


def test_a_step_that_changes_nothing_is_one_line() -> None:
    assert len(one(INITIAL, Event(EventKind.STEP, DECIDE_0, 4), INITIAL)) == 1


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Event(EventKind.CRASH, party=Party("postgres")), "  1 ✗ postgres  crash"),
        (Event(EventKind.RESTART, party=Party("postgres")), "  1 ↻ postgres  restart"),
        (
            Event(EventKind.CUT, party=Party("Server", 1), other=Party("postgres")),
            "  1 ✗ Server[1] -- postgres  cut",
        ),
        (
            Event(EventKind.HEAL, party=Party("Server", 1), other=Party("postgres")),
            "  1 ↻ Server[1] -- postgres  heal",
        ),
        (
            Event(EventKind.REDELIVER, store="redis", variable="decider", item=W0),
            "  1 ↻ redis.decider  redeliver Workflow#0",
        ),
        (Event(EventKind.EXPIRE, store="redis", variable="wf", item=W0), "  1 ↻ redis.wf  expire Workflow#0"),
        (
            Event(EventKind.REDELIVER, DECIDE_0, store="redis", variable="decider", item=W0),
            "  1 ↻ redis.decider  redeliver Workflow#0",
        ),
    ],
)
def test_faults_and_recoveries_have_marks_and_words(event: Event, expected: str) -> None:
    assert one(INITIAL, event, INITIAL)[0] == expected


def test_the_effect_of_a_fault_during_a_statement() -> None:
    def told(strike: Strike, kept: bool | None, ending: Ending = Ending.UNKNOWN) -> str:
        other = Party("postgres")
        party = other if strike is Strike.CRASH else Party("Server", 0)
        event = Event(
            EventKind.STEP, START_0, 1, ending, strike, kept, party, None if strike is Strike.CRASH else other
        )
        return one(REQUESTED, event, REQUESTED)[1].strip()

    assert told(Strike.CRASH, True) == "postgres crashes during it: its effect is kept"
    assert told(Strike.CRASH, False) == "postgres crashes during it: it has no effect"
    assert told(Strike.CUT, False) == "the link Server[0] -- postgres is cut during it: it has no effect"
    assert told(Strike.LOSE, True) == "the reply is lost: its effect is kept"
    assert told(Strike.LOSE, False) == "the request is lost: it has no effect"
    assert told(Strike.DUPLICATE, True, Ending.OK) == "takes effect twice"


def test_a_caller_that_goes_on_after_a_crash_of_its_callee_gets_unknown() -> None:
    before = replace(INITIAL, activations={DECIDE_1: Activation(4, {}, waiting=True)})
    after = replace(INITIAL, activations={DECIDE_1: Activation(3, {})}, down=frozenset({Party("Server", 0)}))
    assert one(before, Event(EventKind.CRASH, party=Party("Server", 0)), after) == [
        "  1 ✗ Server[0]  crash",
        "                   Server[1].decide   gets unknown: no reply can come",
    ]


def test_locks_show_who_held_them_and_the_token() -> None:
    before = replace(INITIAL, locks={("redis", "wf"): LockState(((W0, Loose.FREE, 1), (W1, DECIDE_1, 1)))})
    after = replace(INITIAL, locks={("redis", "wf"): LockState(((W0, DECIDE_0, 2), (W1, Loose.ORPHAN, 1)))})
    assert one(before, Event(EventKind.STEP, DECIDE_0, 3), after)[1:] == [
        "                          redis.wf[Workflow#0]   free → Server[0].decide  (token 2)",
        "                          redis.wf[Workflow#1]   Server[1].decide → orphaned",
    ]


def test_a_model_error_is_marked_and_named() -> None:
    failed = replace(REQUESTED, error=ModelError(ErrorKind.RANGE, 1))
    event = Event(EventKind.STEP, START_0, 1, Ending.ERROR)
    text = render(explain(Trace(MODEL, (REQUESTED, failed), (event,)), "model_errors"), Page(width=100))
    assert text == (
        "  model_errors  REFUTED   1 step, no fault\n"
        "\n"
        "  1 ✗ Server[0].start  postgres.workflow[w] := RUNNING ⇒ model error              conductor/05.cpt:8\n"
        "                         model error   value outside its range\n"
        "\n"
        "  ┃ model_errors: value outside its range\n"
        "  ┃   postgres.workflow[w] := RUNNING                                             conductor/05.cpt:8\n"
    )


def test_a_step_invariant_shows_both_values() -> None:
    gone = replace(INSERTED, values=INITIAL.values)
    event = Event(EventKind.STEP, START_0, 2)
    text = render(explain(Trace(MODEL, (INSERTED, gone), (event,)), "no_vanish"), Page(width=110))
    assert "  ┃ no_vanish is false for the last step" in text
    assert (
        "  ┃     true    postgres.workflow[w] is some    postgres.workflow[Workflow#0]  RUNNING → none\n"
        "  ┃     false   postgres.workflow[w]' is some   postgres.workflow[Workflow#0]  RUNNING → none\n"
    ) in text


def test_a_cover_is_reached_and_names_its_witness() -> None:
    done = replace(INITIAL, values={**INITIAL.values, ("postgres", "workflow"): Table(((W0, None), (W1, COMPLETED)))})
    text = render(explain(Trace(MODEL, (done,), ()), "completes"), Page())
    assert lines(text)[0] == "  completes  REACHED   0 steps, no fault"
    assert "      no step: the initial state" in lines(text)
    assert "  ┃ postgres.workflow[w] == COMPLETED  is true for w = Workflow#1" in lines(text)


def test_an_exists_without_witness_is_a_table_of_instances() -> None:
    text = render(explain(Trace(MODEL, (INSERTED,), ()), "completes"), Page())
    assert (
        "  ┃     w = Workflow#0   postgres.workflow[Workflow#0]  = RUNNING\n"
        "  ┃     w = Workflow#1   postgres.workflow[Workflow#1]  = none\n"
    ) in text


def test_an_infinite_run_says_where_it_repeats() -> None:
    loop = replace(ABANDONED, states=(*ABANDONED.states[:3], *ABANDONED.states[3:]), loop=2)
    told = lines(render_steps(explain(loop), Page()))
    assert told[3] == "      for ever:"
    assert told[4].startswith("  3 ✗")
    assert told[-1] == "      and again from step 3, for ever"


def test_the_summary_counts_faults_by_class() -> None:
    assert summary(explain(ABANDONED)) == "4 steps, 1 fault: crash Server"
    assert summary(explain(Trace(MODEL, (INITIAL,), ()))) == "0 steps, no fault"
    crash = ABANDONED.events[2]
    twice = Trace(MODEL, (INITIAL,) * 4, (crash, LOST.events[1], crash))
    assert summary(explain(twice)) == "3 steps, 3 faults: crash Server (2 times), lose Server -- postgres"


def test_a_state_shows_what_differs_from_another() -> None:
    assert lines(render_state(MODEL, RESTARTED, INITIAL, Page())) == [
        "  postgres.workflow[Workflow#0]   none → RUNNING",
        "  Workflow#0                      is used",
    ]
    assert lines(render_state(MODEL, INITIAL, INITIAL, Page())) == ["  as in the initial state"]


# ------------------------------------------------------------------------------------------- hostile and large traces

ESC, OVERRIDE, BELL = "\x1b[2J", "\u202e", "\x07"


def renamed(text: str, doc: str = "", path: str = "conductor/05.cpt") -> Model:
    """The sample with another text for the statement that writes the row, another doc comment and file name."""
    source = Source(path, MODEL.processes[0].span.source.text)

    def moved(span: Span) -> Span:
        return Span(source, span.start, span.end)

    def statement(s: Statement) -> Statement:
        return replace(s, text=text if s.id == 1 else s.text, span=moved(s.span))

    def declared(p: PropertyDeclaration) -> PropertyDeclaration:
        return replace(p, doc=doc or p.doc, span=moved(p.span))

    process = MODEL.processes[0]
    threads = tuple(replace(t, body=tuple(map(statement, t.body))) for t in process.threads)
    return replace(
        MODEL,
        processes=(replace(process, threads=threads),),
        properties=tuple(map(declared, MODEL.properties)),
    )


def test_control_characters_never_reach_the_terminal() -> None:
    hostile = Member("Status", f"RUN{ESC}{BELL}")
    states = tuple(
        replace(s, values={**s.values, ("postgres", "workflow"): Table(((W0, hostile), (W1, None)))})
        for s in ABANDONED.states
    )
    model = renamed(f"x := {ESC}{OVERRIDE}\t{BELL}", f"doc{ESC}\n\nsecond{OVERRIDE}", f"a{BELL}{ESC}.cpt")
    trace = Trace(model, (INITIAL, *states[1:]), ABANDONED.events)
    for page in (Page(), Page(unicode=False), Page(width=50)):
        text = render(explain(trace, "none_abandoned", waits), page)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
        assert "\\x1b[2J" in text.replace("\n", "")


LONG = "postgres.workflow[w] := " + " + ".join(f"someVeryLongName{i}" for i in range(40))


@pytest.mark.parametrize("width", [40, 50, 71, 72, 80, 100, 200])
@pytest.mark.parametrize("text", [LONG, "x" * 500, "日本語の文字列 " * 30, "short"])
def test_every_line_fits_the_width(width: int, text: str) -> None:
    model = renamed(text, doc=f"{text}\n\n{text}", path="a/very/long/path/" * 6 + "model.cpt")
    trace = replace(ABANDONED, model=model)
    for unicode in (True, False):
        for line in lines(render(explain(trace, "none_abandoned", waits), Page(unicode=unicode, width=width))):
            assert cells(line) <= width, line


@given(st.text(max_size=60), st.integers(1, 150), st.booleans())
def test_any_statement_text_fits_and_is_harmless(text: str, width: int, unicode: bool) -> None:
    trace = replace(ABANDONED, model=renamed(text, doc=text))
    page = Page(unicode=unicode, width=width)
    for line in lines(render(explain(trace, "none_abandoned", waits), page)):
        assert cells(line) <= page.columns
        assert line.isprintable()
        assert unicode or line.isascii()


def test_a_long_trace_keeps_its_columns() -> None:
    count = 120
    events = tuple(ABANDONED.events[i % 2] for i in range(count))
    states = (INITIAL, *((REQUESTED, INSERTED) * (count // 2)))
    told = [line for line in lines(render_steps(explain(Trace(MODEL, states, events)), Page())) if "start  " in line]
    assert len(told) == count
    assert {line.index("Server[0].start") for line in told} == {7}
    assert told[0].startswith("   1   Server[0].start  request(w = Workflow#0)")
    assert told[-1].startswith(" 120   Server[0].start  postgres.workflow[w] := RUNNING")


def test_a_narrow_page_puts_the_action_below_the_actor() -> None:
    told = lines(render_steps(explain(ABANDONED), Page(width=60)))
    assert told[:5] == [
        "  1   Server[0].start  request(w = Workflow#0)",
        "  2   Server[0].start                               05.cpt:8",
        "       postgres.workflow[w] := RUNNING",
        "         postgres.workflow[Workflow#0]",
        "           none → RUNNING",
    ]


def test_rendering_does_not_need_the_solver_or_the_engines() -> None:
    import subprocess
    import sys

    code = (
        "import sys, counterexamples.render.text, counterexamples.render.json\n"
        "assert not {'z3', 'rich', 'numpy', 'lark', 'checker'} & set(sys.modules), sorted(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_finished_workflow_is_not_called_abandoned() -> None:
    done = replace(
        INITIAL, values={**INITIAL.values, ("postgres", "workflow"): Table(((W0, COMPLETED), (W1, RUNNING)))}
    )
    text = render(explain(Trace(MODEL, (done,), ()), "none_abandoned", waits), Page())
    assert "is false for w = Workflow#1" in text
    assert "Workflow#0" not in text
