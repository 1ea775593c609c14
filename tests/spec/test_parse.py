"""What texts become, by hand from docs/language.md, section 1."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from spec import syntax
from spec.lalr import GRAMMAR
from spec.lalr_tables import read
from spec.source import Source, Span
from spec.tree_builder import TreeBuilder
from spec.typed import ExpectationVerb, Failure, FaultKind, PropertyForm, ThreadKind
from tests.spec.trees import expression_of, file_of, outline, shape, statements_of

# ------------------------------------------------------------------------------------------------- the whole


def test_the_example_of_the_reference_parses() -> None:
    file = file_of(outline("{ }"))
    names = """N rescan Status Workflow Attempt Task done postgres redis executed Server kept no_vanish none_left
        can_end some_completes ends sweeps told v1 v2"""
    assert [item.name.name for item in file.items if isinstance(item, syntax.Declaration)] == names.split()
    assert [i.path.text for i in file.imports] == ["lib/anomalies.cpt"]
    assert file.doc == "Documentation of the next declaration; shown in reports.        // an ordinary comment"


def test_every_rule_has_a_method() -> None:
    """But for those with a single part, and the helpers of `*` and `+`."""
    for rule in read(GRAMMAR.read_text(encoding="utf-8")).rules:
        name = rule.alias or rule.origin.name
        if name.startswith("__"):
            continue  # helpers of `*` and `+`, which lark dissolves
        if rule.options.expand1 and not rule.alias:
            assert len(rule.expansion) == 1, f"{rule} may have several parts and no method"
        else:
            assert callable(getattr(TreeBuilder, name, None)), f"no method for {rule}"


def test_every_method_has_a_rule() -> None:
    names = {rule.alias or rule.origin.name for rule in read(GRAMMAR.read_text(encoding="utf-8")).rules}
    assert {name for name in vars(TreeBuilder) if not name.startswith("__")} <= names


# ------------------------------------------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <=> b => c", "(a <=> (b => c))"),
        ("a => b => c", "(a => (b => c))"),
        ("a => b or c", "(a => (b or c))"),
        ("a or b and c or d", "((a or (b and c)) or d)"),
        ("not a and b", "((not a) and b)"),
        ("not a == b", "(not (a == b))"),
        ("not not a", "(not (not a))"),
        ("a == b and c != d", "((a == b) and (c != d))"),
        ("a in {b, c} and d", "((a in {b, c}) and d)"),
        ("a + 1 <= b * 2 - c", "((a + 1) <= ((b * 2) - c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b % c * d", "(((a / b) % c) * d)"),
        ("-a * b", "((-a) * b)"),
        ("- - a", "(-(-a))"),
        ("a + b is some == c", "(((a + b) is some) == c)"),
        ("not m[k] is none", "(not (m[k] is none))"),
        ("(a or b) and c", "((a or b) and c)"),
        ("s.m[k1][k2].f'", "(s.m[k1][k2].f)'"),
        ("s.m[k]' is some", "((s.m[k])' is some)"),
        ("m[a, b]", "m[a, b]"),
        ("m[(a, b)]", "m[<a, b>]"),
        ("q.contains((a, b)) or q.size > 3", "(q.contains(<a, b>) or (q.size > 3))"),
        ("done(s.m[k]) => l.held(k)", "(done(s.m[k]) => l.held(k))"),
        ("s == Task{status: DONE, superseded: true}", "(s == Task{status: DONE, superseded: true})"),
        ("s == Task{}", "(s == Task{})"),
        ("s == Task {status: DONE}", "(s == Task{status: DONE})"),
        ("x == {} or y in {a,}", "((x == {}) or (y in {a}))"),
        ("if a then b else c or d", "(if a then b else (c or d))"),
        ("a and if b then c else d and e", "(a and (if b then c else (d and e)))"),
        ("if a then {b} else {c} == d", "(if a then {b} else ({c} == d))"),
        ("s == {a} or {b} == s", "((s == {a}) or ({b} == s))"),
        ("forall x: T. a => b", "(forall x: T. (a => b))"),
        ("a and forall x: T. b or c", "(a and (forall x: T. (b or c)))"),
        ("(forall x: T. a) or b", "((forall x: T. a) or b)"),
        ("not exists x: T. a and b", "(not (exists x: T. (a and b)))"),
        ("count x: T. a == 3", "(count x: T. (a == 3))"),
        ("1 == count x: T. a", "(1 == (count x: T. a))"),
        ("forall w: Workflow, a: 0..N - 1. e", "(forall w: Workflow, a: (0..(N - 1)). e)"),
        ("forall x: (A, B). exists y: -1..2. e", "(forall x: <A, B>. (exists y: ((-1)..2). e))"),
        ("a in all x: T where b and c", "(a in (all x: T. (b and c)))"),
        ("self == x or none == y", "((self == x) or (none == y))"),
    ],
)
def test_precedence(text: str, expected: str) -> None:
    assert shape(expression_of(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bool", "bool"),
        ("A -> B -> C?", "(A -> (B -> (C?)))"),
        ("(A, B) -> C", "(<A, B> -> C)"),
        ("(A -> B) -> C", "((A -> B) -> C)"),
        ("set of (A, B)", "(set of <A, B>)"),
        ("A -> set of B", "(A -> (set of B))"),
        ("0..3?", "((0..3)?)"),
        ("-N..2 * N + 1", "((-N)..((2 * N) + 1))"),
        ("A -> 0..1 -> bool", "(A -> ((0..1) -> bool))"),
    ],
)
def test_types(text: str, expected: str) -> None:
    ghost = file_of(f"ghost g: {text}").items[0]
    assert isinstance(ghost, syntax.Ghost)
    assert shape(ghost.type) == expected


# ------------------------------------------------------------------------------------------------- line breaks


@pytest.mark.parametrize(
    "text",
    [
        "x := (a\n +\n b)",
        "x := a +\n b",
        "x := a\n + b",
        "x := a\n   and b\n   or c",
        "x :=\n  a",
        "x\n := a",
        "x := {a,\n b\n}",
        "x := f(\n a,\n b\n )",
        "x := m[\n a\n ]",
        "x := Task{\n a: b,\n c: d\n }",
        "x := if a\n then b\n else c",
        "let x = any T\n where a",
        "x := forall y: T.\n a",
        "x := s\n  .m[k]\n  .f",
        "update x\n where a\n := b",
        "if a\n{\n b := c\n}\nelse\n{\n b := d\n}",
        "if a { b := c } else { b := d }",
        "if a { b := c }\n\n  // why\n  else if d { b := d }\n else { }",
        "either { } or { }",
        "either {\n } or\n { }\n or { }",
        "try { } catch refused { } catch { }",
        "try {\n }\n catch refused,\n unknown {\n }\n catch { }",
    ],
)
def test_breaks_that_end_nothing(text: str) -> None:
    assert len(statements_of(text)) == 1
    assert len(statements_of(text + ";" + text)) == 2
    assert len(statements_of("\n;;\n" + text + "\n\n;\n" + text + ";;\n")) == 2


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a := b\nc := d", 2),
        ("return\na := b", 2),
        ("fail; a := b", 2),
        ("q.push(a)\n\n(b, c) := d", 2),
        ("", 0),
        (";;\n;", 0),
    ],
)
def test_breaks_that_separate(text: str, count: int) -> None:
    assert len(statements_of(text)) == count


def test_then_begins_a_beat_and_goes_on_an_if() -> None:
    scenario = file_of("scenario s {\n P.t\n then if a\n then b\n else c\n then d\n}").items[0]
    assert isinstance(scenario, syntax.Scenario)
    assert [type(beat).__name__ for beat in scenario.beats] == ["Story", "Then", "Then"]


def test_line_ends_tabs_and_mark_of_other_systems() -> None:
    text = "\ufeffprocess P {\r\n\tloop t {\r\n\t\ta := b\r\n\t}\r\n}\r\n"
    assert len(file_of(text).items) == 1


# ------------------------------------------------------------------------------------------------- statements


def test_statements() -> None:
    let, pair, take, choose, fresh, wait, update, answer, call, ok = statements_of(
        """
        let x: 0..3 = e
        let (w, a) = redis.tasks.take()
        x := q.pop()
        let w = any Workflow where postgres.workflow[w] == RUNNING
        let v = fresh Workflow
        let t = await l.acquire(k)
        update postgres.task[w][a].status where ok := DONE
        (a, b) := call Server.poll()
        call Server[e].poll(1, 2)
        let ok = update x where c := d
        """
    )
    assert isinstance(let, syntax.Let)
    assert (shape(let.annotation), shape(let.value)) == ("(0..3)", "e")
    assert isinstance(pair, syntax.Let)
    assert [name.name for name in pair.names] == ["w", "a"]
    assert isinstance(take, syntax.Assign)
    assert shape(take.value) == "q.pop()"
    assert isinstance(choose, syntax.Let)
    assert isinstance(choose.value, syntax.Choose)
    assert (shape(choose.value.over), shape(choose.value.condition)) == (
        "Workflow",
        "(postgres.workflow[w] == RUNNING)",
    )
    assert isinstance(fresh, syntax.Let)
    assert isinstance(fresh.value, syntax.Fresh)
    assert isinstance(wait, syntax.Let)
    assert isinstance(wait.value, syntax.AwaitValue)
    assert shape(wait.value.base) == "l.acquire(k)"
    assert isinstance(update, syntax.Perform)
    assert isinstance(update.operation, syntax.Update)
    assert shape(update.operation.place) == "postgres.task[w][a].status"
    assert (shape(update.operation.condition), shape(update.operation.value)) == ("ok", "DONE")
    assert isinstance(answer, syntax.Assign)
    assert shape(answer.place) == "<a, b>"
    assert isinstance(answer.value, syntax.Request)
    assert answer.value.instance is None
    assert not answer.value.send
    assert isinstance(call, syntax.Perform)
    assert isinstance(call.operation, syntax.Request)
    assert (shape(call.operation.instance), len(call.operation.arguments)) == ("e", 2)
    assert isinstance(ok, syntax.Let)
    assert isinstance(ok.value, syntax.Update)


def test_statements_with_blocks() -> None:
    text = """
        if l.acquire(k) { a := b } else if not l.acquire(k) { } else { c := d; e := f }
        while x { }
        either { a := b } or { } or { }
        for x in s { }
        try { } catch refused { } catch unknown, failed { } catch { a := b }
        retry N { }
        transaction postgres { a := b }
        atomic { }
        step "insert the \\"row\\"" { }
        """
    choice, loop, either, each, attempt, retry, transaction, atomic, step = statements_of(text)
    assert isinstance(choice, syntax.If)
    assert [shape(branch.condition) for branch in choice.branches] == ["l.acquire(k)", "(not l.acquire(k))"]
    assert choice.otherwise is not None
    assert len(choice.otherwise) == 2
    assert isinstance(loop, syntax.While)
    assert isinstance(either, syntax.Either)
    assert [len(branch) for branch in either.branches] == [1, 0, 0]
    assert isinstance(each, syntax.For)
    assert isinstance(attempt, syntax.Try)
    assert [handler.failures for handler in attempt.handlers] == [
        (Failure.REFUSED,),
        (Failure.UNKNOWN, Failure.FAILED),
        None,
    ]
    assert isinstance(retry, syntax.Retry)
    assert shape(retry.times) == "N"
    assert isinstance(transaction, syntax.Transaction)
    assert transaction.store.name == "postgres"
    assert isinstance(atomic, syntax.Atomic)
    assert atomic.name is None
    assert isinstance(step, syntax.Atomic)
    assert step.name is not None
    assert step.name.text == 'insert the "row"'
    heads = [statement.head.text for statement in statements_of(text)]
    assert heads == [
        "if l.acquire(k)",
        "while x",
        "either",
        "for x in s",
        "try",
        "retry N",
        "transaction postgres",
        "atomic",
        'step "insert the \\"row\\""',
    ]
    assert choice.branches[1].head.text == "if not l.acquire(k)"
    assert choice.span.text == text.strip().split("\n")[0]


def test_short_statements() -> None:
    texts = [
        "return",
        "return (a, b)",
        "fail",
        'fail "why"',
        "assert a => b",
        "await e",
        "await l.acquire(k)",
        "send P.t(x)",
    ]
    kinds = ["Return", "Return", "Fail", "Fail", "Assert", "Await", "Await", "Perform"]
    statements = statements_of("\n".join(texts))
    assert [type(statement).__name__ for statement in statements] == kinds
    assert [statement.span.text for statement in statements] == texts
    assert [statement.head for statement in statements] == [statement.span for statement in statements]


# ------------------------------------------------------------------------------------------------- declarations


def test_store_members() -> None:
    store = file_of(
        """store s {
          durable m: A -> B? = none; volatile x: bool
          durable queue q: A
          volatile queue r: (A, B) bag(2) redelivers
          durable queue t: A set redelivers
          durable queue u: A fifo(N)
          durable lock l
          durable lock k: A lease fencing(3)
        }"""
    ).items[0]
    assert isinstance(store, syntax.Store)
    m, x, q, r, t, u, lock, k = store.members
    assert isinstance(m, syntax.Variable)
    assert isinstance(x, syntax.Variable)
    assert (m.durable, shape(m.initial), x.durable, x.initial) == (True, "none", False, None)
    assert isinstance(q, syntax.Queue)
    assert (q.discipline, q.redelivers) == (None, False)
    assert isinstance(r, syntax.Queue)
    assert isinstance(r.discipline, syntax.Bag)
    assert (shape(r.item), shape(r.discipline.capacity), r.redelivers, r.durable) == ("<A, B>", "2", True, False)
    assert isinstance(t, syntax.Queue)
    assert (t.discipline, t.redelivers) == (None, True)
    assert isinstance(u, syntax.Queue)
    assert isinstance(u.discipline, syntax.Fifo)
    assert isinstance(lock, syntax.Lock)
    assert (lock.key, lock.lease, lock.fencing) == (None, False, None)
    assert isinstance(k, syntax.Lock)
    assert (shape(k.key), k.lease, shape(k.fencing)) == ("A", True, "3")


def test_threads() -> None:
    process = file_of(
        """process P[N] {
          volatile busy: bool
          on start(w: fresh W, a: A): (W, A) [2] when c and d { }
          on tick { }
          loop sweep [3] { }
          task boot when c { }
        }"""
    ).items[0]
    assert isinstance(process, syntax.Process)
    assert (shape(process.count), process.head.text, len(process.variables)) == ("N", "process P[N]", 1)
    start, tick, sweep, boot = process.threads
    assert [p.fresh for p in start.parameters] == [True, False]
    assert (shape(start.result), shape(start.places), shape(start.condition)) == ("<W, A>", "2", "(c and d)")
    assert start.head.text == "on start(w: fresh W, a: A): (W, A) [2] when c and d"
    assert (tick.parameters, tick.result, tick.places, tick.condition) == ((), None, None, None)
    assert (sweep.kind, shape(sweep.places)) == (ThreadKind.LOOP, "3")
    assert (boot.kind, boot.head.text) == (ThreadKind.TASK, "task boot when c")


def test_faults() -> None:
    block = file_of(
        """faults { crash A, b; crash W without restart
          partition A -- b, A -- A; lose A -- b
          duplicate A -- b; expire r.l }"""
    ).items[0]
    assert isinstance(block, syntax.Faults)
    assert [(f.kind, f.span.text, f.restart) for f in block.faults] == [
        (FaultKind.CRASH, "A", True),
        (FaultKind.CRASH, "b", True),
        (FaultKind.CRASH, "W", False),
        (FaultKind.PARTITION, "A -- b", True),
        (FaultKind.PARTITION, "A -- A", True),
        (FaultKind.LOSE, "A -- b", True),
        (FaultKind.DUPLICATE, "A -- b", True),
        (FaultKind.EXPIRE, "r.l", True),
    ]


def test_properties_variants_and_expectations() -> None:
    file = file_of(
        """invariant a: e; step invariant b: e'; at rest c: e; recoverable d: e; cover f: e
        variant v { x = true, N = 2 }
        variant w {
          x = false
          N = 3
        }
        variant u { }
        expect v refutes a, b
        expect proves c
        expect w reaches f; expect v runs s; expect v forbids s"""
    )
    properties = [item for item in file.items if isinstance(item, syntax.Property)]
    assert [(p.name.name, p.form) for p in properties] == [
        ("a", PropertyForm.INVARIANT),
        ("b", PropertyForm.STEP_INVARIANT),
        ("c", PropertyForm.AT_REST),
        ("d", PropertyForm.RECOVERABLE),
        ("f", PropertyForm.COVER),
    ]
    variants = [item for item in file.items if isinstance(item, syntax.Variant)]
    assert [[(s.name.name, shape(s.value)) for s in v.settings] for v in variants] == [
        [("x", "true"), ("N", "2")],
        [("x", "false"), ("N", "3")],
        [],
    ]
    expectations = [item for item in file.items if isinstance(item, syntax.Expectation)]
    assert [(e.variant and e.variant.name, e.verb, [n.name for n in e.names]) for e in expectations] == [
        ("v", ExpectationVerb.REFUTES, ["a", "b"]),
        (None, ExpectationVerb.PROVES, ["c"]),
        ("w", ExpectationVerb.REACHES, ["f"]),
        ("v", ExpectationVerb.RUNS, ["s"]),
        ("v", ExpectationVerb.FORBIDS, ["s"]),
    ]


def test_other_declarations() -> None:
    const, switch, enum, ids, alias, record, definition, ghost = file_of(
        """const N: int = 2 where N >= 1
        switch x: bool = false
        enum E {
          A, B,
          C
        }
        ids W[N]
        type T = 0..N
        record R { a: E = A, b: bool }
        def f(s: E, n: T): bool = s in {A}
        ghost g: W -> bool = true"""
    ).items
    assert isinstance(const, syntax.Constant)
    assert (shape(const.value), shape(const.condition)) == ("2", "(N >= 1)")
    assert isinstance(switch, syntax.Switch)
    assert isinstance(enum, syntax.Enumeration)
    assert [member.name for member in enum.members] == ["A", "B", "C"]
    assert isinstance(ids, syntax.Ids)
    assert shape(ids.size) == "N"
    assert isinstance(alias, syntax.TypeAlias)
    assert isinstance(record, syntax.Record)
    assert [(f.name.name, shape(f.type), f.default and shape(f.default)) for f in record.fields] == [
        ("a", "E", "A"),
        ("b", "bool", None),
    ]
    assert isinstance(definition, syntax.Definition)
    assert [p.name.name for p in definition.parameters] == ["s", "n"]
    assert isinstance(ghost, syntax.Ghost)
    assert shape(ghost.initial) == "true"


def test_scenario() -> None:
    scenario = file_of(
        """scenario s {
          Server.start request; Server[1].start "insert"; Server.start
          Server.poll reply during lose lost
          Server.start "x" refused
          Server.start unknown during crash postgres kept
          Server.start "x" during partition lost; P.t ok during duplicate
          crash Server; restart X; crash Server[0]
          cut A -- B[1]; heal A -- B
          redeliver redis.decider; expire redis.wf
          ..
          then a and b
        }"""
    ).items[0]
    assert isinstance(scenario, syntax.Scenario)
    stories = [beat for beat in scenario.beats if isinstance(beat, syntax.Story)]
    assert [
        (
            s.party.instance,
            s.request,
            s.reply,
            s.text and s.text.text,
            s.ending,
            s.strike and (s.strike.kind, s.strike.party and s.strike.party.name.name),
            s.kept,
        )
        for s in stories
    ] == [
        (None, True, False, None, None, None, None),
        (1, False, False, "insert", None, None, None),
        (None, False, False, None, None, None, None),
        (None, False, True, None, None, (FaultKind.LOSE, None), False),
        (None, False, False, "x", "refused", None, None),
        (None, False, False, None, "unknown", (FaultKind.CRASH, "postgres"), True),
        (None, False, False, "x", None, (FaultKind.PARTITION, None), False),
        (None, False, False, None, "ok", (FaultKind.DUPLICATE, None), None),
    ]
    incidents = [beat for beat in scenario.beats if isinstance(beat, syntax.Incident)]
    assert [beat.span.text for beat in incidents] == [
        "crash Server",
        "restart X",
        "crash Server[0]",
        "cut A -- B[1]",
        "heal A -- B",
        "redeliver redis.decider",
        "expire redis.wf",
    ]
    assert [beat.kind for beat in incidents] == ["crash", "restart", "crash", "cut", "heal", "redeliver", "expire"]
    assert [type(beat).__name__ for beat in scenario.beats[-2:]] == ["Gap", "Then"]


# ------------------------------------------------------------------------------------------------- words and docs


def test_words_of_the_grammar_as_names() -> None:
    words = "store step on at rest task loop process queue lock cover scenario variant expect count set ids type wait"
    for word in words.split():
        file_of(
            f"store {word} {{ durable {word}: {word} -> bool; durable queue {word}: {word} }}\n"
            f"process P {{ on {word}({word}: A) {{ let {word} = {word}.{word}[{word}]; {word} := {word} }} }}\n"
            f"process Q {{ loop {word} {{ {word}[{word}] := 1; {word}.{word} := {word}; {word}.push({word}) }} }}\n"
            f"invariant {word}: forall {word}: A. {word} == {word}.{word} and ({word} is none)\n"
        )


def test_documentation() -> None:
    file = file_of(
        """/// The file,
/// in two lines.

/// Of N.
const N: int = 1
// an ordinary comment
//// another one
/// Of P.
process P {
  /// Of x.
  volatile x: bool
  ///Of t.

  loop t { }
}
ghost g: bool   /// too late for g
/// Of a.
step invariant a: g
/// Of v.
variant v { }
"""
    )
    assert file.doc == "The file,\nin two lines."
    constant, process, ghost, a, v = file.items
    assert isinstance(process, syntax.Process)
    assert [
        i.doc
        for i in (constant, process, process.variables[0], process.threads[0])
        if isinstance(i, syntax.Declaration)
    ] == [
        "Of N.",
        "Of P.",
        "Of x.",
        "Of t.",
    ]
    assert isinstance(ghost, syntax.Ghost)
    assert isinstance(a, syntax.Property)
    assert isinstance(v, syntax.Variant)
    assert (ghost.doc, a.doc, v.doc) == ("", "too late for g\nOf a.", "Of v.")


@pytest.mark.parametrize(
    ("text", "file_doc", "item_doc"),
    [
        ("/// d\nghost g: bool", "", "d"),
        ("/// d\n\nghost g: bool", "d", ""),
        ("/// d\nconst N: int = 1", "d", ""),
        ("/// d\n// c\nconst N: int = 1", "d", ""),
        ("// c\n\n/// d\n\n/// e\nconst N: int = 1", "d", "e"),
        ("const N: int = 1\n/// d\n", "", ""),
    ],
)
def test_documentation_of_the_file(text: str, file_doc: str, item_doc: str) -> None:
    file = file_of(text)
    item = file.items[0]
    assert isinstance(item, syntax.Declaration)
    assert (file.doc, item.doc) == (file_doc, item_doc)


def test_texts_and_comments_may_hold_any_character() -> None:
    file_of('// ünïcödé 漢字 🎼\nprocess P { loop t { step "schläft 🎼 // not a comment" { } } } // end')


# ------------------------------------------------------------------------------------------------- spans


def nodes(node: object) -> list[object]:
    found: list[object] = []
    if is_dataclass(node) and not isinstance(node, Span | Source):
        found.append(node)
        for part in fields(node):
            found += nodes(getattr(node, part.name))
    elif isinstance(node, tuple):
        for part in node:
            found += nodes(part)
    return found


def test_spans_lie_within_each_other_and_have_no_space_at_their_ends() -> None:
    file = file_of(outline("{ if (a) + b == c { x := (y) } else { } }"))

    def check(node: object) -> None:
        span = getattr(node, "span", None)
        if span is not None:
            assert span.text.strip() == span.text != ""
            assert span.source is file.source
        for child in nodes(node)[1:]:
            inner = getattr(child, "span", None)
            if span is not None and inner is not None:
                assert span.start <= inner.start <= inner.end <= span.end

    for node in nodes(file):
        check(node)


def test_a_bracketed_operand_keeps_its_brackets() -> None:
    both = expression_of("(a + b) * (c)")
    assert isinstance(both, syntax.Binary)
    assert (both.span.text, both.left.span.text, both.right.span.text) == ("(a + b) * (c)", "(a + b)", "(c)")
    assert both.operator_span.text == "*"
