"""Small models with `live` properties, and their verdicts, worked out by hand: each shape and kind of fairness with a
twin that differs in one place and has the other verdict.

A verdict is `proved`, or (steps, loop): the length of a shortest lasso and of its loop (0: the run stays).
"""

from __future__ import annotations

from dataclasses import dataclass

PROVED = "proved"


@dataclass(frozen=True)
class LiveModel:
    """verdicts: by property.  faults: how many strike in the shortest lassos."""

    name: str
    text: str
    verdicts: dict[str, str | tuple[int, int]]
    faults: int = 0


_COUNTER = """\
store db {{ durable x: 0..2 }}

process P {{
  {fair}loop up {{
    await db.x < 2
    db.x := db.x + 1
  }}
}}

live reaches: eventually db.x == 2
live stays: eventually always db.x == 2
live steps: db.x == 1 ~> db.x == 2
live again: always eventually db.x == 2
live never_less: always eventually db.x < 2
"""

# Four steps lead to x == 2, where nobody can move: the run stays there, so x < 2 only finitely often.
COUNTER = LiveModel(
    "counter",
    _COUNTER.format(fair=""),
    {"reaches": PROVED, "stays": PROVED, "steps": PROVED, "again": PROVED, "never_less": (4, 0)},
)

# Nobody owes a step, so every state may be the last: the initial one; for `steps` the one after `await` and `:=`.  To
# stay where x < 2 is allowed, but need not be: `never_less` is still refuted at the end.
LAZY = LiveModel(
    "lazy",
    _COUNTER.format(fair="unfair "),
    {"reaches": (0, 0), "stays": (0, 0), "steps": (2, 0), "again": (0, 0), "never_less": (4, 0)},
)

_DOOR = """\
store db {{
  durable open: bool
  durable inside: bool
}}

process Door {{
  loop swing {{ db.open := not db.open }}
}}

process Guest {{
  {fair}task enter {{
    await db.open
    db.inside := true
  }}
}}

live enters: eventually db.inside
live swings: always eventually db.open
live settles: eventually always db.open
live opened: not db.open ~> db.open
"""

# The door swings for ever, so it is open again and again, and never for good (a loop of two).  The guest can pass while
# it is open, and is unable to whenever it is closed: weak fairness does not let him in (a loop of two), strong does.
# Once he has passed the door he can always take his step.
DOOR = LiveModel(
    "door",
    _DOOR.format(fair=""),
    {"enters": (2, 2), "swings": PROVED, "settles": (2, 2), "opened": PROVED},
)
STRONG_DOOR = LiveModel(
    "strong_door",
    _DOOR.format(fair="strongly fair "),
    # The guest must have gone in before the loop: his two steps, with the door opened before and closed after them.
    {"enters": PROVED, "swings": PROVED, "settles": (5, 2), "opened": PROVED},
)

_JOBS = """\
enum Status {{ RUNNING, DONE }}
ids Job[2]
store db {{ durable job: Job -> Status? }}

process Client {{
  on submit(j: fresh Job) {{ db.job[j] := RUNNING }}
}}

process Worker {{
  loop work {{
    let j = any Job where db.job[j] == RUNNING{condition}
    db.job[j] := DONE
  }}
}}

faults {{ crash Worker{fair} }}

live done: forall j: Job. db.job[j] == RUNNING ~> db.job[j] == DONE
live submitted: forall j: Job. eventually db.job[j] == RUNNING
"""

# Every running job is chosen in the end: there are two at most, and a job that is done stays so.  A crash of the worker
# is followed by its restart, and there are finitely many.  No request is owed: the environment may ask for nothing.
JOBS = LiveModel("jobs", _JOBS.format(condition="", fair=""), {"done": PROVED, "submitted": (0, 0)})

# Nobody owes the restart: request, step, crash, and then none.
CRASHED = LiveModel("crashed", _JOBS.format(condition="", fair=" unfair"), {"done": (3, 0), "submitted": (0, 0)}, 1)

# The third step leaves the range: every run ends in a model error, so there is none that violates anything.  (That one
# ends so is reported of its own.)
OVERFLOW = LiveModel(
    "overflow",
    """\
store db { durable x: 0..2 }
process P { loop up { db.x := db.x + 1 } }
live reaches: eventually db.x == 2
live again: always eventually db.x == 1
""",
    {"reaches": PROVED, "again": PROVED},
)

MODELS = (COUNTER, LAZY, DOOR, STRONG_DOOR, JOBS, CRASHED, OVERFLOW)
