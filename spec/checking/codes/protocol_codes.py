"""Codes about threads and their statements."""

from __future__ import annotations

from spec.checking.codes.example import example
from spec.diagnostic import Code

_REDIS = "store redis { durable queue decider: Workflow }"
_QUEUED = "exists w: Workflow. redis.decider.contains(w)"
_PUSH = "db.workflow[w] := RUNNING\nredis.decider.push(w)"

PROTOCOL_CODES: tuple[Code, ...] = (
    Code(
        "E240",
        "a step that touches two stores",
        "One statement is one step, and no server can read or write two stores at once. Written as one step the "
        "model would hide exactly the races that it is to find. Split the statement, or write `atomic { }` where the "
        "idealization is meant.",
        example(
            first=_REDIS, body="if redis.decider.contains(w) and db.workflow[w] is none { db.workflow[w] := RUNNING }"
        ),
        example(
            first=_REDIS,
            body="let row = db.workflow[w]\nif row is none { redis.decider.push(w) }",
            rest="",
            cover=_QUEUED,
        ),
    ),
    Code(
        "E241",
        "a transaction that touches another store",
        "`transaction s { }` is a transaction of one store. `atomic { }` spans several, as an idealization.",
        example(first=_REDIS, body="transaction db { workflow[w] := RUNNING; redis.decider.push(w) }"),
        example(first=_REDIS, body="transaction db { workflow[w] := RUNNING }\nredis.decider.push(w)"),
    ),
    Code(
        "E242",
        "a statement that cannot be part of one step",
        "`atomic`, `transaction` and `step` blocks are one step. They hold no `try`, `retry`, `while`, `for`, `call` "
        "or `send`.",
        example(body="atomic { retry 2 { db.workflow[w] := RUNNING } }"),
        example(body="retry 2 { db.workflow[w] := RUNNING }"),
    ),
    Code(
        "E243",
        "a statement that is never reached",
        "Control cannot come here: the block has ended before, or the condition is written to be always true or false.",
        example(body="return\ndb.workflow[w] := RUNNING"),
        example(body="db.workflow[w] := RUNNING\nreturn"),
    ),
    Code(
        "E244",
        "a protocol that reads a ghost",
        "Ghosts exist for properties. If the protocol could read them, it could behave as no real program can. Only "
        "the value that a ghost itself is given, and an `assert`, may read ghosts.",
        example(first="ghost executed: bool", body="if executed { db.workflow[w] := RUNNING }\nexecuted := true"),
        example(first="ghost executed: bool", body="db.workflow[w] := RUNNING\nexecuted := true", cover="executed"),
    ),
    Code(
        "E245",
        "a variable of another instance",
        "A thread reads the variables of its own process instance, by their bare names. Those of other instances, "
        "`Server[s].busy`, only properties can read. `self` is the own instance and means nothing outside of a "
        "process.",
        example(
            variables="volatile busy: bool",
            body="busy := true",
            threads="loop watch { await exists s: Server. Server[s].busy }",
        ),
        example(
            variables="volatile busy: bool",
            body="busy := true",
            threads="loop watch { await busy }",
            cover="exists s: Server. Server[s].busy",
        ),
    ),
    Code(
        "E246",
        "a prime where there is no step",
        "`x'` is the value of x after a step. Only a `step invariant` speaks of steps.",
        example(rest="invariant kept: forall w: Workflow. db.workflow[w] is some => db.workflow[w]' is some"),
        example(rest="step invariant kept: forall w: Workflow. db.workflow[w] is some => db.workflow[w]' is some"),
    ),
    Code(
        "E247",
        "a call to a loop or task",
        "Loops and tasks start by themselves. Only `on` handlers are called.",
        example(threads="loop sweep { db.workflow[any_id()] := DONE }\nloop go { call Server.sweep() }").replace(
            "db.workflow[any_id()] := DONE", "let w = any Workflow where db.workflow[w] is some"
        ),
        example(
            threads="on sweep() { let w = any Workflow where db.workflow[w] is some }\nloop go { call Server.sweep() }"
        ),
    ),
    Code(
        "E248",
        "a call to a thread that is left out",
        "The `when` of the called handler is false for this choice of switches, so the handler does not exist, but "
        "its caller does.",
        example(
            first="switch help: bool = false",
            threads="on aid() when help { await false }\nloop go { call Server.aid() }",
        ),
        example(
            first="switch help: bool = false",
            threads="on aid() when help { await false }\nloop go when help { call Server.aid() }",
        ),
    ),
    Code(
        "E249",
        "`fresh` on a handler that is called",
        "The environment gives a `fresh` parameter an id that was never used. A handler that a `call` or `send` "
        "names is started by its callers only, and they choose its arguments.",
        example(threads="task boot { call Server.start(fresh_id()) }").replace(
            "call Server.start(fresh_id())", "let w = fresh Workflow\n    call Server.start(w)"
        ),
        example(
            threads="on begin(w: Workflow) { db.workflow[w] := DONE }\n"
            "task boot {\n  let w = fresh Workflow\n  call Server.begin(w)\n}"
        ),
    ),
    Code(
        "E250",
        "the answer of a handler that returns nothing",
        "A handler has an answer when it declares a result, `on poll(): Workflow { .. }`.",
        example(threads="on aid() { await false }\nloop go { let r = call Server.aid() }"),
        example(threads="on aid(): bool { return true }\nloop go { let _ = call Server.aid() }"),
    ),
    Code(
        "E251",
        "a handler that may return nothing",
        "A handler that declares a result returns a value on every path, or fails.",
        example(threads="on aid(): bool { await false }"),
        example(threads="on aid(): bool { return true }"),
    ),
    Code(
        "E252",
        "a value returned to nobody",
        "Only an `on` handler with a declared result returns a value.",
        example(threads="on aid() { return true }"),
        example(threads="on aid(): bool { return true }"),
    ),
    Code(
        "E253",
        "a `return` that reads shared state",
        "The reply is a step of its own, and reading state is another. Read it into a local first.",
        example(threads="on read(w: Workflow): Status? { return db.workflow[w] }"),
        example(threads="on read(w: Workflow): Status? {\n  let row = db.workflow[w]\n  return row\n}"),
    ),
    Code(
        "E254",
        "a call with arguments from a store",
        "Reading a store is a step, and making a call is another. Read the argument into a local first.",
        example(
            members="durable tries: 0..3",
            threads="on aid(n: 0..3) { await false }\nloop go { call Server.aid(db.tries) }",
        ),
        example(
            members="durable tries: 0..3",
            threads="on aid(n: 0..3) { await false }\nloop go {\n  let n = db.tries\n  call Server.aid(n)\n}",
        ),
    ),
    Code(
        "E255",
        "a `for` through shared state",
        "The list is made in one step, and each turn is another: list, then act. Put the set in a local first.",
        example(threads="loop sweep {\n  for w in all x: Workflow where db.workflow[x] is some { fail }\n}"),
        example(
            threads="loop sweep {\n  let due = all x: Workflow where db.workflow[x] is some\n"
            "  for w in due { db.workflow[w] := DONE }\n}"
        ),
    ),
    Code(
        "E256",
        "an empty body",
        "A thread, or a block that is one step, must do something.",
        example(threads="loop sweep { }"),
        example(),
    ),
    Code(
        "E257",
        "a loop that never takes a step",
        "`while true` without a statement that touches shared state computes for ever within one step.",
        example(body="db.workflow[w] := RUNNING\nlet n = 0\nwhile true { n := n + 1 }"),
        example(body="while true { db.workflow[w] := RUNNING }"),
    ),
    Code(
        "E258",
        "an assignment to something that is no variable",
        "Constants, switches, enum members and bound variables of quantifiers are fixed.",
        example(first="const N: int = 1", body="N := 2"),
        example(body="let n = 1\nn := 2\nif n == 2 { db.workflow[w] := RUNNING }"),
    ),
    Code(
        "E259",
        "an operation within an expression",
        "`push`, `take`, `acquire` and the like are statements: each is a step. Expressions only read.",
        example(members="durable lock mutex", body="if db.mutex.acquire() and true { db.workflow[w] := RUNNING }"),
        example(members="durable lock mutex", body="if db.mutex.acquire() { db.workflow[w] := RUNNING }"),
    ),
    Code(
        "E260",
        "an `any` that nothing satisfies",
        "The `where` contradicts itself, so the thread would wait for ever.",
        example(body="let n = any 0..3 where n > 3\ndb.workflow[w] := if n == 1 then DONE else RUNNING"),
        example(body="let n = any 0..3 where n > 2\ndb.workflow[w] := if n == 1 then DONE else RUNNING"),
    ),
    Code(
        "E261",
        "the answer of an operation that has none",
        "`take` and `pop` answer the item, `acquire` and `update` whether they succeeded, a `call` what the handler "
        "returns; the others answer nothing.",
        example(members="durable queue decider: Workflow", body="let x = db.decider.push(w)"),
        example(members="durable queue decider: Workflow", body="db.decider.push(w)", cover="db.decider.size == 1"),
    ),
    Code(
        "E262",
        "a reply within one step",
        "The `return` of a handler that is called is a step of its own, so it cannot be a part of another.",
        example(threads="on aid() { atomic { return } }\nloop go { call Server.aid() }"),
        example(threads="on aid() { return }\nloop go { call Server.aid() }"),
    ),
    Code(
        "E264",
        "names for a tuple of another size",
        "`let (a, b) = e` takes a pair apart; there must be as many names as items.",
        example(body="let (a, b) = (1, 2, 3)\ndb.workflow[w] := if a == b then DONE else RUNNING"),
        example(body="let (a, b) = (1, 2)\ndb.workflow[w] := if a == b then DONE else RUNNING"),
    ),
    Code(
        "E265",
        "an answer that does not go to a local",
        "The answer of an operation goes to a local; storing it is another step. Where both are meant to be one, "
        "write them in one `step` block.",
        example(
            members="durable queue decider: Workflow",
            variables="volatile mine: Workflow?",
            body="db.decider.push(w)\nmine := db.decider.take()",
        ),
        example(
            members="durable queue decider: Workflow",
            variables="volatile mine: Workflow?",
            body="db.decider.push(w)\nlet x = db.decider.take()\nmine := x",
            cover="exists s: Server. Server[s].mine is some",
        ),
    ),
    Code(
        "E266",
        "a statement without an effect",
        "A question whose answer is not used does nothing.",
        example(members="durable queue decider: Workflow", body="db.decider.contains(w)"),
        example(
            members="durable queue decider: Workflow",
            body="if db.decider.contains(w) { db.workflow[w] := RUNNING }",
        ),
    ),
    Code(
        "E267",
        "`blocks ok` where nothing waits",
        "`blocks ok` stands behind a statement that may wait for ever without that being a mistake: an `await`, "
        "`take`, `pop`, `any`, `fresh`, `call` or `send`, or a block that is one step and contains one of these.",
        example(body="db.workflow[w] := RUNNING blocks ok"),
        example(body="await db.workflow[w] is none blocks ok\ndb.workflow[w] := RUNNING"),
    ),
)
