"""Models with threads that can never go on, and twins in which none is stuck; worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StuckModel:
    """stuck: who can never go on at the end of the shortest run that shows it (process and thread), and the text of the
    statement; empty where nobody is stuck.
    asked: whether a check asks for stuck threads without being told to.
    steps: the length of the shortest run."""

    text: str
    stuck: tuple[tuple[str, str], ...] = ()
    asked: bool = True
    steps: int = 0


def lock(declared: str = "", waiting: str = "") -> str:
    return f"""
store db {{ durable lock l {declared}; durable n: bool }}
process W[2] {{
  on work() {{
    await db.l.acquire(){waiting}
    db.n := not db.n
    db.l.release()
  }}
}}
faults {{ crash W }}
cover counted: db.n
"""


def looping(declared: str = "") -> str:
    return f"""
store db {{ durable lock l {declared}; durable n: bool }}
process W[2] {{
  loop work {{
    await db.l.acquire()
    db.n := not db.n
    db.l.release()
  }}
}}
faults {{ crash W }}
cover counted: db.n
"""


def answered(*threads: str, waiting: str = "") -> str:
    return f"""
store db {{ durable asked: bool; durable answered: bool; durable seen: bool }}
process P {{
  task ask {{
    db.asked := true
    await db.answered{waiting}
    db.seen := true
  }}
  {"; ".join(threads)}
}}
cover asked: db.asked
"""


def full(*threads: str) -> str:
    return f"""
enum Item {{ A, B }}
store db {{ durable queue q: Item fifo(1); durable got: bool }}
process P {{
  on put() {{
    step "put" {{ await db.q.size < 1; db.q.push(A) }}
  }}
  {"; ".join(threads)}
}}
cover put: db.q.size == 1
"""


def two_locks(first: str, second: str) -> str:
    return f"""
store db {{ durable lock a; durable lock b; durable done: bool }}
process P {{
  task one {{ await db.a.acquire(); await db.b.acquire(); db.done := true; db.b.release(); db.a.release() }}
  task two {{ await db.{first}.acquire(); await db.{second}.acquire(); db.{second}.release(); db.{first}.release() }}
}}
cover done: db.done
"""


IDLE = """
ids Job[1]
store db { durable queue q: Job; durable done: bool }
process P {
  on put(j: fresh Job) { db.q.push(j) }
  loop work {
    let j = db.q.take()
    db.done := true
    db.q.ack(j)
  }
}
cover done: db.done
"""


def polling(before: str = "", waiting: str = "") -> str:
    return f"""
ids Job[1]
store db {{ durable queue q: Job; durable polled: bool; durable done: bool }}
process Server {{
  on put(j: fresh Job) {{ db.q.push(j) }}
  on poll(): Job {{
    {before}
    let j = db.q.pop(){waiting}
    return j
  }}
}}
process Worker {{
  loop work {{
    let j = call Server.poll()
    db.done := true
  }}
}}
faults {{ crash Worker }}
cover done: db.done
"""


TURNS = """
store db { durable turn: 0..1; durable on: bool }
process P {
  task even { db.on := true; while true { await db.turn == 0; db.turn := 1 } }
  task odd { db.on := true; while true { await db.turn == 1; db.turn := 0 } }
}
cover odd: db.turn == 1
"""

LIKE_TURNS = """
store db { durable turn: P?; durable on: bool }
process P[2] {
  task t {
    db.on := true
    while true {
      step "hand over" {
        await db.turn is none or db.turn == self
        let next = any P where next != self
        db.turn := next
      }
    }
  }
}
cover begun: db.turn is some
"""

BESIDE_TURNS = TURNS.replace(
    "cover odd",
    """process Other {
  task third { db.on := true; db.on := false; await db.turn == 0 and db.turn == 1; db.on := true }
}
cover odd""",
)

NO_MORE_IDS = """
ids Job[1]
store db { durable job: bool; durable last: Job? }
process P {
  on put() {
    db.job := true
    let j = fresh Job
    db.last := j
  }
}
cover put: db.job
"""

LOCAL = """
store db { durable x: bool; durable y: bool }
process P {
  task t {
    let go = 0
    db.x := true
    await go == 1
    db.y := true
  }
}
cover begun: db.x
"""

FAILING = """
store db { durable on: bool; durable go: bool }
process P {
  task t {
    db.on := true
    try {
      either { fail } or { await db.go }
    } catch failed {
      await db.go and db.on blocks ok
    }
    db.on := false
  }
}
cover on: db.on
"""

CALLS = """
store db { durable begun: bool }
process P {
  on start() { db.begun := true; call P.here() }
  on here() { db.begun := true; call Q.there() }
}
process Q {
  on there() { db.begun := true; call P.here() }
}
cover begun: db.begun
"""

ACQUIRE = "await db.l.acquire()"

MODELS = {
    # The crash of the holder leaves the lock to nobody: request, acquire, request, crash, restart.
    "a lock whose holder crashed": StuckModel(lock(), (("W.work", ACQUIRE),), steps=5),
    "a lease whose holder crashed": StuckModel(lock("lease")),
    "a lock that may be waited for for ever": StuckModel(lock(waiting=" blocks ok"), asked=False),
    # Two loops begin at the lock: acquire, crash, restart; both wait then, the new loop and the other one.
    "loops at a lock whose holder crashed": StuckModel(looping(), (("W.work", ACQUIRE), ("W.work", ACQUIRE)), steps=3),
    "loops at a lease whose holder crashed": StuckModel(looping("lease")),
    "a condition that nobody makes true": StuckModel(answered(), (("P.ask", "await db.answered"),), steps=1),
    "a condition that a loop makes true": StuckModel(answered("loop answer { await db.asked; db.answered := true }")),
    # A request of the environment may come: the thread can go on.
    "a condition that a request makes true": StuckModel(answered("on answer() { db.answered := true }")),
    "a condition that may never be true": StuckModel(answered(waiting=" blocks ok"), asked=False),
    # put, put, and the second put waits at once: request, put, request.
    "a full queue that nobody drains": StuckModel(full(), (("P.put", 'step "put"'),), steps=3),
    "a full queue that a loop drains": StuckModel(full("loop drain { let i = db.q.pop(); db.got := i == A }")),
    "a deadlock of two locks": StuckModel(
        two_locks("b", "a"), (("P.one", "await db.b.acquire()"), ("P.two", "await db.a.acquire()")), steps=2
    ),
    "two locks in one order": StuckModel(two_locks("a", "b")),
    "a worker without work": StuckModel(IDLE, asked=False),
    "a handler whose client crashed": StuckModel(polling(), asked=False),
    # The handler has begun something, and no job is ever put again when the only one is gone: call, mark, request,
    # push, pop, reply, done, call, mark.  With crashes it takes as many: who takes the job has to end before another
    # call.
    "a handler in the middle of something": StuckModel(
        polling("db.polled := true"), (("Server.poll", "let j = db.q.pop()"),), steps=9
    ),
    "a handler in the middle that may wait": StuckModel(polling("db.polled := true", " blocks ok"), asked=False),
    "threads that are blocked in turns": StuckModel(TURNS),
    "instances that are blocked in turns": StuckModel(LIKE_TURNS),
    # on, off, and then nothing helps.
    "a thread that is stuck beside threads in turns": StuckModel(
        BESIDE_TURNS, (("Other.third", "await db.turn == 0 and db.turn == 1"),), steps=2
    ),
    "no more ids": StuckModel(NO_MORE_IDS, asked=False),
    "a local condition that is false": StuckModel(LOCAL, (("P.t", "await go == 1"),), steps=1),
    # One of the two ways on leads by a failure to where it may wait for ever.
    "a failure that leads to where it may wait": StuckModel(FAILING),
    # request, mark, call here, mark, call there, mark: the only place of `here` is taken by who waits.
    "calls in a circle": StuckModel(CALLS, (("Q.there", "call P.here()"),), steps=6),
}
