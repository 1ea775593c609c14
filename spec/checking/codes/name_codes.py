"""Codes about names."""

from __future__ import annotations

from spec.checking.codes.example import example
from spec.diagnostic import Code

NAME_CODES: tuple[Code, ...] = (
    Code(
        "E201",
        "a name that does not exist",
        "Nothing of this name is known at this place. Variables of a store are written with the store, "
        "`db.workflow`, but for within `transaction db { }`. A local is known from its `let` to the end of its block.",
        example(body="workflow[w] := RUNNING"),
        example(),
    ),
    Code(
        "E202",
        "a type that does not exist",
        "Types are `bool`, `int`, ranges such as `0..3`, and what `enum`, `ids`, `type`, `record` and `process` "
        "declare.",
        example(members="durable attempts: Atempt", first="type Attempt = 0..3"),
        example(members="durable attempts: Attempt", first="type Attempt = 0..3"),
    ),
    Code(
        "E203",
        "a name that is declared twice",
        "Names are unique within a file and what it imports; those of members within their store, process, record or "
        "enum; those of locals within their block.",
        example(rest="enum Status { A, B }"),
        example(rest="enum Other { A, B }"),
    ),
    Code(
        "E204",
        "a name that hides another",
        "A local, parameter or bound variable must not have the name of something else that is known at its place: a "
        "reader could take the one for the other.",
        example(first="const N: int = 1", body="let N = 2\ndb.workflow[w] := if N == 2 then RUNNING else DONE"),
        example(first="const N: int = 1", body="let n = 2\ndb.workflow[w] := if n == 2 then RUNNING else DONE"),
    ),
    Code(
        "E205",
        "a store or variable of it that does not exist",
        "The store, or the process, has no member of this name.",
        example(body="db.workflows[w] := RUNNING"),
        example(),
    ),
    Code(
        "E206",
        "a field that the record does not have",
        "The fields of a record are those of its declaration.",
        example(
            first="record Task { superseded: bool }",
            members="durable task: Workflow -> Task",
            body="db.task[w].supersede := true",
        ),
        example(
            first="record Task { superseded: bool }",
            members="durable task: Workflow -> Task",
            body="db.task[w].superseded := true",
            cover="exists w: Workflow. db.task[w].superseded",
        ),
    ),
    Code(
        "E207",
        "a call to something that does not exist",
        "`call` and `send` name a process and one of its `on` handlers.",
        example(threads="loop go { call Server.strat() }\non help() { db.workflow[self_id()] := DONE }").replace(
            "\n  on help() { db.workflow[self_id()] := DONE }", ""
        ),
        example(threads="loop go { call Server.help() }\non help() { transaction db { await false } }"),
    ),
    Code(
        "E208",
        "a name with two meanings",
        "Several enums have a member of this name, and nothing at this place says which is meant; or a name within "
        "`transaction` is that of a variable of the store and of something else. Write the enum or store before it.",
        example(first="enum Phase { RUNNING, GONE }", body="let s = RUNNING\ndb.workflow[w] := s"),
        example(first="enum Phase { RUNNING, GONE }", body="let s = Status.RUNNING\ndb.workflow[w] := s"),
    ),
    Code(
        "E209",
        "a definition that does not exist",
        "`name(..)` is the use of a `def`.",
        example(cover="exists w: Workflow. gone(db.workflow[w])"),
        example(
            rest="def gone(s: Status?): bool = s is none",
            cover="exists w: Workflow. gone(db.workflow[w])",
        ),
    ),
    Code(
        "E210",
        "something that is defined by itself",
        "Constants, types and definitions cannot refer to themselves, directly or through others: they are put in "
        "place of their names until none is left.",
        example(rest="def gone(s: Status?): bool = not gone(s)"),
        example(rest="def gone(s: Status?): bool = s is none"),
    ),
    Code(
        "E211",
        "an expression that grows too large",
        "Each use of a `def` is a copy of its body. Definitions that use each other several times can make an "
        "expression of astronomic size.",
        example(
            rest="def d0(s: bool): bool = (s and s) or (s and s)\n"
            + "".join(f"def d{i}(s: bool): bool = d{i - 1}(d{i - 1}(s)) or d{i - 1}(s)\n" for i in range(1, 6)).rstrip()
        ),
        example(
            rest="def d0(s: bool): bool = (s and s) or (s and s)\n"
            + "".join(f"def d{i}(s: bool): bool = not d{i - 1}(s)\n" for i in range(1, 6)).rstrip()
        ),
    ),
)
