"""Codes about types, sizes and values."""

from __future__ import annotations

from spec.checking.codes.example import example
from spec.diagnostic import Code

VALUE_CODES: tuple[Code, ...] = (
    Code(
        "E220",
        "a value of the wrong type",
        "Another type is expected at this place. Optionals and integers convert where a value is needed: `T` to "
        "`T?`, `T?` to `T` (a model error when it is none), an integer to a range (a model error when it is "
        "outside). Nothing else does.",
        example(body="db.workflow[w] := true"),
        example(body="db.workflow[w] := DONE", cover="exists w: Workflow. db.workflow[w] == DONE"),
    ),
    Code(
        "E221",
        "a number outside its range",
        "The number can never be a value of the range that is expected here.",
        example(members="durable tries: 0..3", body="db.tries := 4"),
        example(members="durable tries: 0..3", body="db.tries := 3", cover="db.tries == 3"),
    ),
    Code(
        "E222",
        "a value whose type is not known",
        "`none` and `{}` are values of many types. Where nothing says of which, a `let` needs its type.",
        example(body="let before = none\ndb.workflow[w] := before"),
        example(body="let before: Status? = none\ndb.workflow[w] := before"),
    ),
    Code(
        "E223",
        "ids used as numbers",
        "Ids are interchangeable: they have no order, no arithmetic and no written values. `==`, `!=`, `in` and "
        "quantifiers are all there is. This lets the checker treat all of them alike.",
        example(body="await w > w\ndb.workflow[w] := RUNNING"),
        example(body="await w == w\ndb.workflow[w] := RUNNING"),
    ),
    Code(
        "E224",
        "arithmetic on something that is no number",
        "`+ - * / %` and `< <= > >=` take integers; `+` and `-` also take two sets of the same items.",
        example(cover="exists w: Workflow. db.workflow[w] > RUNNING"),
        example(cover="exists w: Workflow. db.workflow[w] != RUNNING"),
    ),
    Code(
        "E225",
        "the wrong number of arguments or keys",
        "A definition, handler or operation takes as many arguments as it declares; `m[a][b]` reads a map of maps, "
        "`m[a, b]` a map whose keys are pairs.",
        example(members="durable queue decider: Workflow", body="db.decider.push()"),
        example(
            members="durable queue decider: Workflow",
            body="db.decider.push(w)",
            cover="exists w: Workflow. db.decider.contains(w)",
        ),
    ),
    Code(
        "E226",
        "a type that cannot be a key",
        "Keys of maps, items of sets and queues, keys of locks and what quantifiers range over are scalars (`bool`, "
        "an enum, ids, a range) or tuples of scalars.",
        example(members="durable tries: int -> bool"),
        example(members="durable tries: 0..3 -> bool"),
    ),
    Code(
        "E227",
        "an optional of an optional",
        "`T??` does not exist: there is one `none`.",
        example(first="type Maybe = bool?", members="durable seen: Maybe?"),
        example(first="type Maybe = bool?", members="durable seen: Maybe"),
    ),
    Code(
        "E228",
        "a variable without a value to start with",
        "No id can be told from another, so a variable of an ids type has nothing to start as. Make it optional; "
        "then it starts as `none`.",
        example(members="durable last: Workflow"),
        example(members="durable last: Workflow?"),
    ),
    Code(
        "E229",
        "a size that is not possible",
        "Numbers of ids, instances, places, copies, tokens and retries are at least 1, and not so large that no "
        "check could ever end.",
        example(size="0"),
        example(size="2"),
    ),
    Code(
        "E230",
        "an empty range",
        "In `low..high` low is not greater than high. Both belong to the range.",
        example(members="durable tries: 3..0"),
        example(members="durable tries: 0..3"),
    ),
    Code(
        "E232",
        "something that is not constant",
        "Sizes, initial values, constants, `where`, `when` and the settings of a variant are fixed before checking; "
        "they cannot read variables.",
        example(members="durable tries: 0..3\ndurable more: 0..3 = db.tries"),
        example(members="durable tries: 0..3\ndurable more: 0..3 = 1 + 2"),
    ),
    Code(
        "E233",
        "constants that contradict their `where`",
        "The `where` of a constant must be true for the values of this check: the defaults, what the variant sets, "
        "and what `-D` and `--with` override.",
        example(first="const N: int = 0 where N >= 1"),
        example(first="const N: int = 1 where N >= 1"),
    ),
    Code(
        "E234",
        "a variable or domain that is too large",
        "A map holds a value for every key, and a quantifier looks at every value. Models are small: one that breaks "
        "with thousands of keys nearly always breaks with two.",
        example(members="durable seen: 0..99999 -> bool"),
        example(members="durable seen: 0..9 -> bool"),
    ),
    Code(
        "E235",
        "a value that cannot be used so",
        "`m[k]` needs a map, `r.field` a record, `x is some` an optional, `x in s` and `for` a set.",
        example(body="if w is some { db.workflow[w] := RUNNING }"),
        example(body="if db.workflow[w] is none { db.workflow[w] := RUNNING }"),
    ),
    Code(
        "E236",
        "a name that is no value",
        "Stores, processes, queues, locks and types are no values; name a variable of the store, or ask the queue or "
        "lock.",
        example(members="durable queue decider: Workflow", cover="db.decider"),
        example(
            members="durable queue decider: Workflow",
            body="db.decider.push(w)",
            cover="db.decider.size > 0",
        ),
    ),
    Code(
        "E237",
        "a record without a value for a field",
        "Fields that are left out take their defaults. An id has no default, so such a field must be given.",
        example(
            first="record Row { of: Workflow }",
            members="durable row: Row?",
            body="db.row := Row{}",
            cover="db.row is some",
        ),
        example(
            first="record Row { of: Workflow }",
            members="durable row: Row?",
            body="db.row := Row{of: w}",
            cover="db.row is some",
        ),
    ),
    Code(
        "E238",
        "an operation that the variable does not have",
        "Queues have push, take, pop, ack, nack, remove, contains, visible and size; locks have acquire, release and "
        "held; maps with optional values have insert and delete.",
        example(members="durable lock mutex", body="db.mutex.push(w)"),
        example(
            members="durable lock mutex", body="if db.mutex.acquire() { db.mutex.release() }", cover="db.mutex.held()"
        ),
    ),
    Code(
        "E239",
        "a parameter that the environment cannot choose",
        "A handler that no `call` or `send` names is started by the environment with any values of its parameters' "
        "types, so these must be finite lists of single values.",
        example(members="durable tries: int", threads="on set(n: int) { db.tries := n }"),
        example(members="durable tries: int", threads="on set(n: 0..3) { db.tries := n }"),
    ),
)
