"""A small model with parts to vary, for the examples of the codes."""

from __future__ import annotations


def example(
    *,
    first: str = "",
    size: str = "1",
    members: str = "",
    variables: str = "",
    body: str = "db.workflow[w] := RUNNING",
    threads: str = "",
    rest: str = "",
    cover: str = "exists w: Workflow. db.workflow[w] == RUNNING",
) -> str:
    """A complete model.

    first      declarations before the others
    size       how many ids there are
    members    further members of the store `db`
    variables  variables of the process `Server`
    body       the body of `Server.start`
    threads    further threads of `Server`
    rest       declarations after the process
    cover      the condition of the cover
    """
    parts = [
        _lines(first),
        "enum Status { RUNNING, DONE }\n",
        f"ids Workflow[{size}]\n",
        "store db {\n  durable workflow: Workflow -> Status?\n",
        _lines(members, 2),
        "}\n",
        "process Server {\n",
        _lines(variables, 2),
        "  on start(w: fresh Workflow) {\n",
        _lines(body, 4),
        "  }\n",
        _lines(threads, 2),
        "}\n",
        _lines(rest),
        f"cover started: {cover}\n",
    ]
    return "".join(parts)


def _lines(text: str, indent: int = 0) -> str:
    return "".join(" " * indent + line + "\n" for line in text.splitlines())
