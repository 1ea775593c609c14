"""Codes of errors in the syntax."""

from __future__ import annotations

from spec.diagnostic import Code


def _model(
    *, constant: str = "1", statement: str = "postgres.rows[k] := true", condition: str = "postgres.rows[0]"
) -> str:
    """A small model with one part to vary."""
    return f"""\
const N: int = {constant}
store postgres {{
  durable rows: 0..N -> bool
}}
process Server {{
  on start(k: 0..N) {{
    {statement}
  }}
}}
cover written: {condition}
"""


_CORRECT = _model()
_DEEP = 101

SYNTAX_CODES: tuple[Code, ...] = (
    Code(
        "E101",
        "a character that means nothing",
        "The language has no use for this character outside of texts and comments. Logical operators are "
        "written as words: "
        "`and`, `or`, `not`; comments begin with `//`.",
        _model(condition="postgres.rows[0] && postgres.rows[1]"),
        _model(condition="postgres.rows[0] and postgres.rows[1]"),
    ),
    Code(
        "E102",
        "not a name, not a number",
        "Names consist of ASCII letters, digits and `_`, and do not begin with a digit. Numbers are written in "
        "decimal digits.",
        _CORRECT.replace("written", "1st_written"),
        _CORRECT.replace("written", "first_written"),
    ),
    Code(
        "E103",
        "a malformed text",
        'A text stands between two `"` on one line. Within it, `\\"` is a quote and `\\\\` a backslash; no '
        "other character "
        "follows a backslash.",
        _model(statement='step "write { postgres.rows[k] := true }'),
        _model(statement='step "write" { postgres.rows[k] := true }'),
    ),
    Code(
        "E104",
        "a number with too many digits",
        "Numbers have at most 18 digits. Models explore every value, so numbers in them are small.",
        _model(constant="1000000000000000000000"),
        _CORRECT,
    ),
    Code(
        "E105",
        "something else is expected here",
        "The text does not fit the grammar at this place. The message says what was found and what could stand "
        "here; the "
        "error is there or shortly before.",
        _model(statement="postgres.rows[k := true"),
        _CORRECT,
    ),
    Code(
        "E106",
        "a block is never closed",
        "A block that begins with `{` ends with `}`. The message points at the block that most likely lacks its "
        "end, going by "
        "the indentation, and at the place where that shows.",
        _CORRECT.replace("  }\n}", "  }\n"),
        _CORRECT,
    ),
    Code(
        "E107",
        "a bracket is never closed",
        "A `(` or `[`, or the `{` of a set or record, is still open where a line, a block or another bracket ends.",
        _model(statement="postgres.rows[k] := (k == 0"),
        _model(statement="postgres.rows[k] := (k == 0)"),
    ),
    Code(
        "E108",
        "a closing bracket without an opening one",
        "There is nothing open that this bracket could close. Either it is one too many, or the opening one is "
        "missing.",
        _CORRECT + "}\n",
        _CORRECT,
    ),
    Code(
        "E109",
        "a keyword in place of a name",
        "Some words of the language are never names, such as `all`, `any`, `if`, `let`, `update`. Choose another name.",
        _CORRECT.replace("written", "all"),
        _CORRECT,
    ),
    Code(
        "E110",
        "`=`, `:=` and `==` mixed up",
        "`=` gives a declaration or a `let` its value, `:=` assigns to something that is there already, `==` compares.",
        _model(statement="postgres.rows[k] = true"),
        _CORRECT,
    ),
    Code(
        "E111",
        "a value in place of a statement",
        "A statement does something. An expression alone has a value that nobody uses; assign it, or leave it out.",
        _model(statement="postgres.rows[k]"),
        _CORRECT,
    ),
    Code(
        "E112",
        "nothing can be assigned here",
        "Before `:=`, and after `update`, stands a variable, an entry of a map, or a field of a record.",
        _model(statement="postgres.rows.get(k) := true"),
        _CORRECT,
    ),
    Code(
        "E113",
        "`fresh` in the wrong place",
        "Only a thread that is started by a request from outside can ask for fresh ids. A `def` is an "
        "expression, and picks "
        "nothing.",
        "ids Workflow[2]\nghost seen: Workflow -> bool\ndef known(w: fresh Workflow): bool = seen[w]\n"
        "process Server { on start(w: Workflow) { seen[w] := true } }\ncover one: exists w: Workflow. known(w)\n",
        "ids Workflow[2]\nghost seen: Workflow -> bool\ndef known(w: Workflow): bool = seen[w]\n"
        "process Server { on start(w: Workflow) { seen[w] := true } }\ncover one: exists w: Workflow. known(w)\n",
    ),
    Code(
        "E114",
        "a declaration or statement in the wrong place",
        "Statements stand inside of the threads of a process, threads and variables inside of a process or store, and "
        "everything else outside of these. When the place seems right, a `}` before it is missing or one too many.",
        _CORRECT + "let x = 1\n",
        _CORRECT,
    ),
    Code(
        "E115",
        "a word of a later version",
        "`param`, `wait`, `timer`, `delay`, `pause`, `replica`, `lossy`, `isolation`, `repair`, `priority` and leases "
        "with a duration belong to later versions of the language. What a `wait` for a time-out would say can often be "
        "said with a choice: `either { .. } or { .. }`.",
        _CORRECT + "param patience: 0..3 = 1\n",
        _CORRECT + "switch patience: 0..3 = 1\n",
    ),
    Code(
        "E116",
        "a name that is too long",
        "Names have at most 200 letters.",
        _CORRECT.replace("written", "w" * 201),
        _CORRECT,
    ),
    Code(
        "E120",
        "nested too deeply",
        "Brackets and blocks stand in one another at most 100 deep, and one expression or statement at most 150 "
        "operators and "
        "brackets deep. Give parts of it names with `def` or `let`.",
        _model(condition="(" * _DEEP + "postgres.rows[0]" + ")" * _DEEP),
        _model(condition="((postgres.rows[0]))"),
    ),
)
