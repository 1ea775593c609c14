"""Two whole models, from text to typed model."""

from __future__ import annotations

from itertools import islice

from spec.interpreter import Interpreter
from spec.typecheck import Choice
from spec.typed import ExpectationVerb, FaultKind, PropertyForm, ThreadKind
from tests.spec.typecheck_models import check, thread

QUEUE_AND_DATABASE = """\
/// Conductor 5.3.2: a row is written to Postgres, then the workflow is pushed on the decider queue in Redis.
/// The sweeper trusts the queue alone, so whatever falls between the two writes is never run.   (Jepsen, finding 5)

enum Status { RUNNING, COMPLETED }
ids Workflow[1]                                  // interchangeable identifiers

switch rescan: bool = false                      // a design alternative

store postgres {
  durable workflow: Workflow -> Status?          // `?`: the row may be absent, and is at first
}
store redis {
  durable queue decider: Workflow                // acknowledged pushes survive a crash
}

process Server[2] {
  on start(w: fresh Workflow) {                  // a client's request, each id at most once
    postgres.workflow[w] := RUNNING
    redis.decider.push(w)
  }
  loop sweep {
    let w = redis.decider.take()                 // waits while the queue is empty
    postgres.workflow[w] := COMPLETED
    redis.decider.ack(w)
  }
  loop requeue when rescan {
    let w = any Workflow where postgres.workflow[w] == RUNNING
    if not redis.decider.contains(w) { redis.decider.push(w) }
  }
}

faults {
  crash Server, postgres, redis
  partition Server -- postgres, Server -- redis
}

cover some_workflow_completes: exists w: Workflow. postgres.workflow[w] == COMPLETED
at rest none_abandoned: forall w: Workflow. postgres.workflow[w] != RUNNING

variant v5_3_2 { rescan = false }
variant v5_5_0 { rescan = true }

expect v5_3_2 refutes none_abandoned
expect v5_5_0 proves none_abandoned
"""

COMPLETED_NEVER_EXECUTED = """\
enum WorkflowStatus { RUNNING, COMPLETED }
enum TaskStatus { SCHEDULED, IN_PROGRESS, TIMED_OUT, COMPLETED }
ids Workflow[1]
type Attempt = 0..1
record Task { status: TaskStatus = SCHEDULED, superseded: bool = false }

switch insert_checked: bool = false              // 5.5.6: a failed insert of the retry record is no longer ignored

store postgres {
  durable workflow: Workflow -> WorkflowStatus?
  durable task: Workflow -> Attempt -> Task?
}
store redis {
  durable queue decider: Workflow
  durable queue tasks: (Workflow, Attempt)
}
ghost executed: Workflow -> bool                 // some worker really ran the task

process Server[2] {
  on start(w: fresh Workflow) {
    transaction postgres { workflow[w] := RUNNING; task[w][0] := Task{} }
    redis.decider.push(w)
    redis.tasks.push((w, 0))
  }

  /// The message is gone before the reply leaves: a lost reply stalls the task (finding 2).
  on poll(): (Workflow, Attempt) {
    let (w, a) = redis.tasks.take()
    postgres.task[w][a].status := IN_PROGRESS
    redis.tasks.ack((w, a))
    return (w, a)
  }

  on complete(w: Workflow, a: Attempt) {
    update postgres.task[w][a].status where postgres.task[w][a].status == IN_PROGRESS := COMPLETED
  }

  loop sweep {
    let w = redis.decider.take()
    let rows = postgres.task[w]                  // one read; may be stale by the time it is used
    if rows[0] is some and rows[0].status == IN_PROGRESS and rows[1] is none {
      either {                                   // the response timeout has run out
        try { postgres.task[w][1] := Task{} } catch { if insert_checked { fail } }
        postgres.task[w][0] := Task{status: TIMED_OUT, superseded: true}
        redis.tasks.push((w, 1))
      } or { }
    } else if forall a: Attempt. rows[a] is some => rows[a].status in {TIMED_OUT, COMPLETED} {
      postgres.workflow[w] := COMPLETED
    }
    if postgres.workflow[w] == RUNNING { redis.decider.nack(w) } else { redis.decider.ack(w) }
  }
}

process Worker[1] {
  loop work {
    let (w, a) = call Server.poll()
    executed[w] := true
    call Server.complete(w, a)
  }
}

faults { crash postgres; partition Worker -- Server }

invariant completed_implies_executed: forall w: Workflow. postgres.workflow[w] == COMPLETED => executed[w]

variant v5_5_0_rc2 { insert_checked = false }
variant v5_5_6 { insert_checked = true }
expect v5_5_0_rc2 refutes completed_implies_executed
expect v5_5_6 proves completed_implies_executed
"""


def test_queue_and_database() -> None:
    checked = check(QUEUE_AND_DATABASE, Choice("v5_3_2"))
    model = checked.model
    assert checked.warnings == ()
    assert [process.name for process in model.processes] == ["Server"]
    assert [(t.name, t.kind) for t in model.processes[0].threads] == [
        ("start", ThreadKind.ON),
        ("sweep", ThreadKind.LOOP),
    ]
    assert [s.text for s in thread(model, "Server", "sweep").body] == [
        "let w = redis.decider.take()",
        "postgres.workflow[w] := COMPLETED",
        "redis.decider.ack(w)",
    ]
    assert [(p.name, p.form) for p in model.properties] == [
        ("some_workflow_completes", PropertyForm.COVER),
        ("none_abandoned", PropertyForm.AT_REST),
    ]
    assert [fault.kind for fault in model.faults] == [FaultKind.CRASH] * 3 + [FaultKind.PARTITION] * 2
    assert [(e.verb, e.name) for e in checked.expectations] == [(ExpectationVerb.REFUTES, "none_abandoned")]


def test_queue_and_database_with_the_rescan() -> None:
    checked = check(QUEUE_AND_DATABASE, Choice("v5_5_0"))
    assert [t.name for t in checked.model.processes[0].threads] == ["start", "sweep", "requeue"]
    assert [(e.verb, e.name) for e in checked.expectations] == [(ExpectationVerb.PROVES, "none_abandoned")]


def test_completed_never_executed() -> None:
    for variant in ("v5_5_0_rc2", "v5_5_6"):
        checked = check(COMPLETED_NEVER_EXECUTED, Choice(variant))
        assert checked.warnings == ()
        assert checked.model.constants == {"insert_checked": variant == "v5_5_6"}
        assert thread(checked.model, "Server", "poll").called
        assert not thread(checked.model, "Server", "start").called
        assert [local.name for local in thread(checked.model, "Server", "sweep").locals] == ["w", "rows"]


def test_the_interpreter_runs_what_the_checker_makes() -> None:
    """Some hundred states of each model, breadth first: every typed node is one that the interpreter knows."""
    for text, variant in ((QUEUE_AND_DATABASE, "v5_5_0"), (COMPLETED_NEVER_EXECUTED, "v5_5_0_rc2")):
        interpreter = Interpreter(check(text, Choice(variant)).model)
        seen = {repr(interpreter.initial())}
        frontier = [interpreter.initial()]
        while frontier and len(seen) < 150:
            state = frontier.pop(0)
            for _, after in islice(interpreter.successors(state), 20):
                if repr(after) not in seen:
                    seen.add(repr(after))
                    frontier.append(after)
        assert len(seen) >= 150
