"""Codes of warnings."""

from __future__ import annotations

from spec.checking.codes.example import example
from spec.diagnostic import Code

WARNING_CODES: tuple[Code, ...] = (
    Code(
        "W201",
        "a step invariant without a prime",
        "Without `x'` it speaks of the state before each step only: that is what an `invariant` says.",
        example(rest="step invariant kept: forall w: Workflow. db.workflow[w] != DONE"),
        example(rest="step invariant kept: forall w: Workflow. db.workflow[w]' != DONE"),
    ),
    Code(
        "W202",
        "a `catch` that never catches",
        "No statement of the `try` can fail so. Stores fail with `refused` and `unknown`, `insert` with `duplicate`, "
        "`fail` and a callee with `failed`.",
        example(body="try { db.workflow[w] := RUNNING } catch duplicate { fail }"),
        example(body="try { db.workflow.insert(w, RUNNING) } catch duplicate { fail }"),
    ),
    Code(
        "W203",
        "a variable that is never read",
        "Nothing reads it, neither a thread nor a property. It makes the state larger and decides nothing.",
        example(members="durable tries: 0..3", body="db.tries := 1\ndb.workflow[w] := RUNNING"),
        example(
            members="durable tries: 0..3",
            body="db.tries := 1\ndb.workflow[w] := RUNNING",
            rest="invariant few: db.tries < 3",
        ),
    ),
    Code(
        "W204",
        "a variable that is never written",
        "It keeps its initial value. Make it a `const` if that is meant.",
        example(members="durable limit: 0..3 = 3", body="if db.limit > 0 { db.workflow[w] := RUNNING }"),
        example(first="const limit: int = 3", body="if limit > 0 { db.workflow[w] := RUNNING }"),
    ),
    Code(
        "W205",
        "a declaration that is never used",
        "Nothing refers to it.",
        example(first="ids Task[1]"),
        example(),
    ),
    Code(
        "W206",
        "a local that is never used",
        "Its value is not needed. A `let` for the sake of its step can be named `_`.",
        example(body="let before = db.workflow[w]\ndb.workflow[w] := RUNNING"),
        example(body="let before = db.workflow[w]\nif before is none { db.workflow[w] := RUNNING }"),
    ),
    Code(
        "W207",
        "a thread that never starts",
        "Some `call` or `send` names it, so the environment does not start it; and no thread that runs contains that "
        "call.",
        example(threads="on aid() { call Server.aid() }"),
        example(threads="on aid() { await false }\nloop go { call Server.aid() }"),
    ),
    Code(
        "W208",
        "a loop without a step",
        "The loop touches no shared state, so all its turns are part of one step. More than 10,000 statements in a "
        "step are a model error.",
        example(body="let n = 0\nwhile n < 3 { n := n + 1 }\nif n == 3 { db.workflow[w] := RUNNING }"),
        example(body="let n = 3\nif n == 3 { db.workflow[w] := RUNNING }"),
    ),
    Code(
        "W209",
        "a thread that does nothing",
        "Nothing in its body touches shared state.",
        example(threads="loop idle { let n = 1; if n == 2 { fail } }"),
        example(
            threads="loop idle { let n = 1; if n == 2 { fail }; await exists w: Workflow. db.workflow[w] is some }"
        ),
    ),
)
