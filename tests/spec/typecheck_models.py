"""Models without errors, and ways to check a text, for the tests of the type checker."""

from __future__ import annotations

from spec import syntax
from spec.parse import parse
from spec.source import Source
from spec.typecheck import Checked, Choice, typecheck
from spec.typed import Model, Process, Statement, Thread


def module(text: str) -> syntax.Module:
    """The parsed text, which has no syntax error."""
    file = parse(Source("model.cpt", text))
    assert isinstance(file, syntax.File), [(d.code, d.message) for d in file]
    return syntax.Module(file.source, file.doc, file.items)


def check(text: str, choice: Choice | None = None) -> Checked:
    """The checked model, which has no error."""
    result = typecheck(module(text), choice)
    assert isinstance(result, Checked), [(d.code, d.span, d.message) for d in result]
    return result


def problems(text: str, choice: Choice | None = None) -> list[tuple[str, int | None]]:
    """Code and line of every error, or of every warning when there is no error."""
    result = typecheck(module(text), choice)
    found = result.warnings if isinstance(result, Checked) else result
    return [(d.code, None if d.span is None else d.span.line) for d in found]


def thread(model: Model, process: str, name: str) -> Thread:
    """A thread of the model."""
    owner: Process = next(p for p in model.processes if p.name == process)
    return next(t for t in owner.threads if t.name == name)


def body(statements: str, more: str = "", parameters: str = "w: Workflow, a: Attempt") -> tuple[Statement, ...]:
    """The typed body of a handler `P.h` of the model below."""
    return thread(check(handler(statements, more, parameters)).model, "P", "h").body


def handler(statements: str, more: str = "", parameters: str = "w: Workflow, a: Attempt") -> str:
    """A model whose handler `P.h` has the statements; its first statement is in line 27."""
    return f"""\
enum Status {{ RUNNING, COMPLETED }}
enum TaskStatus {{ SCHEDULED, DOING, COMPLETED }}
ids Workflow[2]
type Attempt = 0..1
record Task {{ status: TaskStatus = DOING, superseded: bool, tries: Attempt = 1 }}
store db {{
  durable workflow: Workflow -> Status?
  durable task: Workflow -> Attempt -> Task?
  durable pair: (Workflow, Attempt) -> bool
  durable count: 0..9
  durable total: int
  durable owner: Workflow?
}}
store redis {{
  durable queue decider: Workflow
  durable queue tasks: (Workflow, Attempt)
  durable lock wf: Workflow
  durable lock mutex
  durable lock token: Workflow lease fencing(3)
  volatile cached: bool
}}
ghost executed: Workflow -> bool
ghost steps: int
process P[2] {{
  volatile busy: bool
  on h({parameters}) {{
{statements}
  }}
{more}
}}
cover c: exists w: Workflow. executed[w]
process G {{
  on ghosts(w: Workflow) {{ executed[w] := true }}
}}
"""


EVERYTHING = """\
/// Everything that the language has.
const N: int = 2 where N >= 1
const LIMIT: 0..9 = 3
switch rescan: bool = false
switch mode: Status = RUNNING

enum Status { RUNNING, COMPLETED }
enum TaskStatus { SCHEDULED, DOING, COMPLETED }
ids Workflow[N]
type Attempt = 0..1
record Task { status: TaskStatus = SCHEDULED, superseded: bool, at: Workflow? }

def done(s: Status?): bool = s in {COMPLETED}
def finished(w: Workflow): bool = done(postgres.workflow[w]) and not (exists a: Attempt. postgres.task[w][a] is some)
def grew(w: Workflow): bool = postgres.workflow[w] is none and postgres.workflow[w]' is some

store postgres {
  durable workflow: Workflow -> Status?
  durable task: Workflow -> Attempt -> Task?
  durable pair: (Workflow, Attempt) -> bool = true
  durable total: int
  volatile cached: Workflow -> bool = true
}
store redis {
  durable queue decider: Workflow
  durable queue tasks: (Workflow, Attempt) bag(2) redelivers
  durable queue log: Workflow fifo(3)
  durable lock wf: Workflow lease fencing(3)
  volatile lock mutex
}

ghost executed: Workflow -> bool
ghost seen: set of Workflow

process Server[2] {
  volatile busy: bool
  durable last: Workflow?
  on start(w: fresh Workflow) {
    step "insert the row" {
      postgres.workflow[w] := RUNNING
      executed[w] := false
    }
    redis.decider.push(w)
    redis.log.push(w)
    redis.tasks.push((w, 0))
    transaction postgres { workflow[w] := RUNNING; task[w][0] := Task{status: DOING}; total := total + 1 }
  }
  on poll(): (Workflow, Attempt) {
    let (w, a) = redis.tasks.take()
    postgres.task[w][a].status := DOING
    redis.tasks.ack((w, a))
    last := w
    return (w, a)
  }
  on complete(w: Workflow, a: Attempt): bool {
    let ok = update postgres.task[w][a].status where postgres.task[w][a].status == DOING := COMPLETED
    if not ok { fail "too late" }
    return ok
  }
  loop sweep [2] {
    let w = redis.decider.take()
    let rows = postgres.task[w]
    if rows[0] is some and rows[0].status == DOING and rows[1] is none {
      either {
        try { postgres.task[w].insert(1, Task{}) } catch duplicate { fail } catch { redis.decider.nack(w) }
      } or {
        retry 2 { postgres.task[w].delete(0) }
      }
    } else if forall a: Attempt. rows[a] is some => rows[a].status in {COMPLETED, DOING} {
      postgres.workflow[w] := COMPLETED
    } else {
      while redis.decider.contains(w) and not busy { redis.decider.remove(w) }
    }
    redis.decider.ack(w)
  }
  loop locked {
    let w = any Workflow where postgres.workflow[w] == RUNNING
    let (x, a) = any (Workflow, Attempt) where x == w and a < 1
    if redis.wf.acquire(w) {
      let n = count y: Workflow, b: Attempt. postgres.pair[y, b]
      assert n <= 4 and self == self
      redis.wf.release(w)
    } else if not redis.mutex.acquire() { redis.log.pop() }
    let t = await redis.wf.acquire(x)
    atomic { postgres.total := t + a; redis.mutex.release() }
    await redis.mutex.acquire()
    while not redis.wf.acquire(w) { busy := not busy }
  }
  task boot when rescan {
    let due = all w: Workflow where postgres.workflow[w] == RUNNING
    for w in due {
      redis.decider.push(w)
      seen := all x: Workflow where x in seen or x == w
    }
    let w = fresh Workflow
    await postgres.workflow[w] is none or N > 3
  }
}
process Worker[N] {
  loop work {
    let (w, a) = call Server.poll()
    executed[w] := true
    let ok = call Server.complete(w, a)
    if ok { send Worker.note(w, if a == 0 then none else a) } else { return }
  }
  on note(w: Workflow, a: Attempt?) { postgres.cached[w] := a is some or LIMIT > 2 or mode == RUNNING }
}

faults {
  crash Server, postgres, redis
  crash Worker without restart
  partition Server -- postgres, Server -- redis
  lose Worker -- Server
  duplicate Server -- redis
  expire redis.wf
}

invariant kept: forall w: Workflow. executed[w] => postgres.workflow[w] is some
invariant idle: forall s: Server. Server[s].busy <=> Server[s].last is none
invariant cached: forall w: Workflow. postgres.cached[w] or w in seen or redis.mutex.held() or redis.wf.held(w)
step invariant no_vanish: forall w: Workflow. grew(w) or finished(w) => postgres.workflow[w]' is some
at rest none_left: forall w: Workflow. postgres.workflow[w] != RUNNING and redis.tasks.size - 1 <= -(-2) * 3 / 2 % 5
recoverable can_end: forall w: Workflow. postgres.workflow[w] != RUNNING and not redis.log.visible(w)
cover some_completes: exists w: Workflow, a: Attempt. postgres.workflow[w] == COMPLETED and postgres.pair[w, a]

scenario told {
  Server.start request
  Server[0].start "insert the row" ok
  ..
  Server.sweep "redis.decider.ack(w)" unknown during crash redis kept
  restart redis
  cut Server[0] -- redis
  heal Server[0] -- redis
  Server.poll reply
  redeliver redis.decider
  expire redis.wf
  then exists w: Workflow. executed[w] and Server[0].busy
}

variant v1 { rescan = false, mode = COMPLETED }
variant v2 { rescan = true, N = 1 }
expect v1 refutes none_left, model_errors
expect v2 proves none_left, kept
expect v1 runs told
expect v2 forbids told
expect v2 reaches some_completes
"""
