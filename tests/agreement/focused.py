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

WIDE = """
enum Status { A, B, C, D, E, F, G }
ids Work[2]
record Row { a: 0..6, b: 0..6, s: Status }
store db {
  durable one: Work -> Row?
  durable two: Work -> Row?
  durable three: Work -> Row?
  durable four: Work -> Status
  durable five: Work -> 0..6
}
process Server[1] {
  on start(w: Work) {
    either { db.one[w] := Row{a: 6, s: G} } or { db.two[w] := Row{b: 5, s: F} } or { db.three[w] := Row{a: 3, b: 4} }
    either { db.four[w] := G } or { db.five[w] := 6 } or { }
  }
}
invariant apart: forall w: Work. not (db.one[w] is some and db.two[w] is some and db.three[w] is some and db.four[w] == G)
invariant five_first: forall w: Work. db.five[w] == 6 => db.four[w] == A
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

FOCUSED = (
    REDELIVERED_WORK_IS_NOT_AT_REST,
    ONLY_A_REQUEST_RECOVERS,
    WIDE,
    SEVERAL_WAIT_FOR_ONE_INSTANCE,
)
