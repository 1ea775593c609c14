"""Small programs, each about one thing that random programs rarely come to."""

REDELIVERED_WORK_IS_NOT_AT_REST = """
ids Work[1]
store db { durable queue todo: Work
  durable ended: Work -> bool }
process Server[1] {
  on start(w: fresh Work) { db.todo.push(w) }
  loop sweep {
    let w = db.todo.take()
    transaction db { ended[w] := true; todo.ack(w) }
  }
}
faults { lose Server -- db }
at rest all_end: forall w: Work. db.todo.contains(w) => db.ended[w]
at rest none_left: forall w: Work. not db.todo.contains(w)
"""

ONLY_A_REQUEST_RECOVERS = """
ids Work[2]
store db { durable full: bool }
process Server[1] {
  on start(w: fresh Work) { db.full := not db.full }
}
recoverable can_empty: not db.full
"""

MORE_THAN_ONE_WORD = """
type Place = 0..63
type Bit = 0..2
store db {
  durable left: Place -> bool
  durable right: Bit -> bool
}
process Server[1] {
  loop fill {
    transaction db {
      let i = any Place where not left[i] and (forall j: Place. j < i => left[j])
      left[i] := true
    }
  }
  loop switch_on {
    transaction db {
      let k = any Bit where not right[k]
      right[k] := true
    }
  }
}
invariant not_both: not (db.left[3] and db.right[2])
"""

SEVERAL_WAIT_FOR_ONE_INSTANCE = """
ids Work[1]
store db { durable count: 0..2 }
ghost told: 0..3
process Server[1] {
  on first(w: Work): bool { db.count := 1
    return true }
  on second(w: Work) { if db.count == 1 { fail }
    db.count := 2 }
}
process Client[2] {
  task work {
    let w = any Work where true
    try { let x = call Server.first(w)
      if x { call Server.second(w) } } catch unknown { told := 1 } catch failed { told := 2 } catch { told := 3 }
  }
}
faults { crash Server, Client
  partition Client -- Server
  lose Client -- Server }
invariant quiet: told != 2
invariant heard: told != 1
at rest settled: db.count == 2
"""

LOCK_RELEASED_BY_WHO_LOST_IT = """
ids Work[1]
store db { durable lock guard lease
  durable inside: 0..2 }
process Server[2] {
  loop work {
    await db.guard.acquire()
    db.inside := 1
    db.guard.release()
  }
}
faults { expire db.guard }
invariant free: not db.guard.held()
invariant never: db.inside == 0
"""

GIVEN_BACK_IN_ORDER = """
enum Status { A, B, C }
ids Work[2]
store db { durable queue todo: (Work, Status) fifo(2)
  durable row: Work -> Status? }
process Server[1] {
  on start(w: fresh Work) {
    db.todo.push((w, A))
  }
  loop sweep {
    let (w, s) = db.todo.take()
    let before = db.row[w]
    if before is none {
      db.row[w] := B
      db.todo.nack((w, s))
    } else {
      db.row[w] := C
      db.todo.ack((w, s))
    }
  }
}
faults { crash Server }
invariant first_b: (exists w: Work. db.row[w] == C) => (exists w: Work. db.row[w] == B)
recoverable done: forall w: Work. db.row[w] == C
"""

FAILURES_AND_THEIR_HANDLERS = """
enum Status { A, B }
ids Work[1]
record Task { status: Status, mark: bool }
store db { durable task: Work -> Task?
  volatile seen: bool }
ghost handled: 0..3
process Server[1] {
  on handle(w: Work): Status {
    db.task.insert(w, Task{})
    return B
  }
  loop watch {
    await exists w: Work. db.task[w] is some and db.task[w].mark
    db.seen := true
  }
}
process Client[1] {
  on go(w: Work) {
    try {
      retry 1 { let s = call Server.handle(w)
        handled := if s == B then 1 else 0 }
    } catch failed { handled := 2 } catch unknown { handled := 3 }
    try { db.task[w].mark := true } catch duplicate { db.seen := false }
  }
}
faults { crash db, Server
  lose Client -- Server }
invariant one: handled != 1
invariant two: handled != 2
invariant three: handled != 3
at rest seen_stays: db.seen or handled == 0
"""

FOCUSED = (
    REDELIVERED_WORK_IS_NOT_AT_REST,
    ONLY_A_REQUEST_RECOVERS,
    SEVERAL_WAIT_FOR_ONE_INSTANCE,
    LOCK_RELEASED_BY_WHO_LOST_IT,
    GIVEN_BACK_IN_ORDER,
    FAILURES_AND_THEIR_HANDLERS,
    MORE_THAN_ONE_WORD,
)
