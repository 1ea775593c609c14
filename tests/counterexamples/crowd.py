"""Models that are hard to draw: eight lanes with every fault there is, and names that were made to do harm."""

from __future__ import annotations

from counterexamples.trace import Trace
from spec.interpreter import Interpreter
from spec.parse import parse
from spec.simulate import simulate
from spec.source import Source
from spec.syntax import File, Module
from spec.typecheck import Checked, typecheck
from spec.typed import Model

CROWD = """\
enum Status { PENDING, CONFIRMED_BY_THE_SERVER }
ids Job[2]
store db {
  durable job: Job -> Status?
  volatile cache: Job -> bool
}
store mq {
  durable queue jobs: Job redelivers
  volatile lock one_at_a_time: Job lease
}
process Client {
  loop ask {
    let j = any Job where db.job[j] is none
    try { call Server.submit(j) } catch { }
  }
}
process Server[2] {
  volatile busy: bool
  on submit(j: Job) [2] {
    busy := true
    atomic { db.cache[j] := true; db.job[j] := PENDING; mq.jobs.push(j) }
    busy := false
  }
}
process Worker[2] {
  loop work {
    let j = mq.jobs.take()
    if mq.one_at_a_time.acquire(j) {
      done[j] := true
      try { db.job[j] := CONFIRMED_BY_THE_SERVER } catch { }
      mq.one_at_a_time.release(j)
      send Server.note(j)
    }
    mq.jobs.ack(j)
  }
}
process Watcher {
  on look(j: Job) { let s = db.job[j]; seen[j] := s }
}
ghost done: Job -> bool
ghost seen: Job -> Status?
faults {
  crash Server, Worker, db, mq
  partition Server -- db, Client -- Server, Worker -- mq
  lose Server -- mq, Client -- Server
  duplicate Server -- mq, Client -- Server
  expire mq.one_at_a_time
}
invariant honest: forall j: Job. db.job[j] == CONFIRMED_BY_THE_SERVER => done[j]
at rest all_seen: forall j: Job. done[j] => seen[j] is some
"""
CROWD = CROWD.replace(
    "    busy := false\n  }\n}", "    busy := false\n  }\n  on note(j: Job) { db.cache[j] := false }\n}"
)

LONG = "a_name_of_two_hundred_characters_" * 5 + "x" * 29
WIDE = "W" * 199
"""Names in models are ASCII; other scripts stand in the names of steps."""
HOSTILE = f"""\
enum Status {{ {LONG.upper()}, {WIDE}, DONE }}
ids Job[1]
store {LONG} {{ durable {LONG}_rows: Job -> Status? }}
store toString {{ durable __proto__: Job -> Status? }}
process constructor[2] {{
  volatile v{LONG}: bool
  on {LONG}_start(w{WIDE}: fresh Job) {{
    v{LONG} := true
    step "<script>alert(1)</script> & 'quoted' ]]> --> שלום متوقف → عودة 12" {{ toString.__proto__[w{WIDE}] := DONE }}
    step "{"long " * 60}" {{ {LONG}.{LONG}_rows[w{WIDE}] := {LONG.upper()} }}
    step "{"unbroken" * 30}名前名前" {{ toString.__proto__[w{WIDE}] := {WIDE} }}
  }}
}}
faults {{ crash {LONG}, toString, constructor; lose constructor -- toString }}
invariant {LONG}_holds: forall j: Job. toString.__proto__[j] == DONE => {LONG}.{LONG}_rows[j] is none
"""


def model(text: str) -> Model:
    """The typed model of a text without errors and variants."""
    parsed = parse(Source("model.cpt", text))
    assert isinstance(parsed, File), parsed
    checked = typecheck(Module(parsed.source, parsed.doc, parsed.items))
    assert isinstance(checked, Checked), checked
    return checked.model


def run(of: Model, seed: int, steps: int) -> Trace:
    """A random run."""
    found = simulate(Interpreter(of), seed, steps)
    return Trace(of, found.states, found.events)
