"""Small programs with `live` properties whose truth is worked out by hand."""

from __future__ import annotations

# Two threads flip one variable; each waits for its turn.  Every fair run goes round and round.
TURNS = """
store db { durable turn: bool }
process P {
  loop a { await not db.turn; db.turn := true }
  loop b { await db.turn; db.turn := false }
}
live again: always eventually db.turn
live back: always eventually not db.turn
live settles: eventually always db.turn
live starts: db.turn ~> not db.turn
live once: eventually db.turn
"""
TURNS_TRUTH = {"again": True, "back": True, "settles": False, "starts": True, "once": True}

# `a` goes round by itself for ever.  `once` waits for the value that only every second state has: weak fairness owes it
# nothing, since it is disabled again and again; strong fairness does.
FLICKER = """
store db { durable up: bool; durable done: bool }
process P {
  loop a { db.up := not db.up }
  %s task once { await db.up; db.done := true }
}
live ends: eventually db.done
live ends_up: db.up ~> db.done
"""
FLICKER_TRUTH = {
    "": {"ends": False, "ends_up": False},
    "strongly fair": {"ends": True, "ends_up": True},
    "unfair": {"ends": False, "ends_up": False},
}

# A counter that stops at 2: without fairness it may stay at 0.
COUNT = """
store db { durable n: 0..2 }
process P { %s loop up { await db.n < 2; db.n := db.n + 1 } }
live top: eventually always db.n == 2
live leaves: db.n == 1 ~> db.n == 2
live odd: eventually db.n == 1
live first: db.n == 0 ~> db.n == 1
"""
COUNT_TRUTH = {
    "": {"top": True, "leaves": True, "odd": True, "first": True},
    "strongly fair": {"top": True, "leaves": True, "odd": True, "first": True},
    "unfair": {"top": False, "leaves": False, "odd": False, "first": False},
}

# A request that arrives is served, but none need arrive; each id by itself.
REQUESTS = """
ids W[2]
store db { durable asked: W -> bool; durable done: W -> bool; durable queue q: W }
process P {
  on ask(w: fresh W) { step "ask" { db.asked[w] := true; db.q.push(w) } }
  loop work { let w = db.q.take(); db.done[w] := true; db.q.ack(w) }
}
live served: forall w: W. db.asked[w] ~> db.done[w]
live arrives: forall w: W. eventually db.asked[w]
live never_both: eventually always not (forall w: W. db.asked[w])
"""
REQUESTS_TRUTH = {"served": True, "arrives": False, "never_both": False}

# A crash takes the item's holder away; the item comes back after a redelivery and the restart, which are fair, unless
# the restart is said to be unfair.  Without restart it is lost.
CRASH = """
ids W[1]
store db { durable asked: W -> bool; durable done: W -> bool; durable queue q: W }
process C { on ask(w: fresh W) { step "ask" { db.asked[w] := true; db.q.push(w) } } }
process P { loop work { let w = db.q.take(); db.done[w] := true; db.q.ack(w) } }
faults { crash P %s }
live served: forall w: W. db.asked[w] ~> db.done[w]
"""
CRASH_TRUTH = {
    "": {"served": True},
    "strongly fair": {"served": True},
    "unfair": {"served": False},
    "without restart": {"served": False},
}

# The link may be cut again and again, but only finitely often; while it is cut, the thread fails and begins again.
CUT = """
store db { durable done: bool }
process P { loop work { db.done := true } }
faults { partition P -- db %s }
live served: eventually db.done
"""
CUT_TRUTH = {"": {"served": True}, "unfair": {"served": False}, "strongly fair": {"served": True}}

# Nothing says which item a `take` gets: with a set, one item may be passed over for ever; a fifo has an order.
STARVED = """
ids W[2]
store db { durable done: W -> bool; durable queue q: W %s }
process P {
  task both { step "both" { let a = any W; let b = any W where b != a; db.q.push(a); db.q.push(b) } }
  loop work { let w = db.q.take(); db.done[w] := true; step "back" { db.q.ack(w); db.q.push(w) } }
}
live served: forall w: W. db.q.contains(w) ~> db.done[w]
"""
STARVED_TRUTH = {"": {"served": False}, "fifo(2)": {"served": True}}

# `undefined` compares with a row that is absent: p counts as true, q as false there.
UNDEFINED = """
store db { durable row: 0..1?; durable go: bool }
process P { task t { db.go := true; db.row := 1; db.row := 0 } }
live left: db.row > 5 ~> db.row == 7
live right: db.go ~> db.row > 0
live comes: db.go and db.row is none ~> db.row > 0
live never: eventually db.row > 1
"""
UNDEFINED_TRUTH = {"left": False, "right": False, "comes": True, "never": False}

# A lease whose holder has gone expires, a lock without one stays.
LEASE = """
ids W[1]
store db { durable lock guard %s; durable done: bool; durable gone: bool }
process P { task first { await db.guard.acquire(); db.gone := true } }
process Q { task second { await db.gone; await db.guard.acquire(); db.done := true } }
live served: db.gone ~> db.done
"""
LEASE_TRUTH = {"": {"served": False}, "lease": {"served": True}}

# A run that ends in a model error does not count; the other branch may be taken for ever.
ERRORS = """
store db { durable n: 0..1; durable done: bool }
process P { loop t { either { db.done := false } or { db.n := db.n + 1 } } }
live ends: eventually db.n == 1
live fails: db.n == 1 ~> db.done
"""
ERRORS_TRUTH = {"ends": False, "fails": False}

PROGRAMS: list[tuple[str, dict[str, bool]]] = [
    (TURNS, TURNS_TRUTH),
    (REQUESTS, REQUESTS_TRUTH),
    (UNDEFINED, UNDEFINED_TRUTH),
    (ERRORS, ERRORS_TRUTH),
    *(
        (text % word, truth)
        for text, truths in (
            (FLICKER, FLICKER_TRUTH),
            (COUNT, COUNT_TRUTH),
            (CRASH, CRASH_TRUTH),
            (CUT, CUT_TRUTH),
            (STARVED, STARVED_TRUTH),
            (LEASE, LEASE_TRUTH),
        )
        for word, truth in truths.items()
    ),
]
