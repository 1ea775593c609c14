"""Codes about faults, properties, expectations, variants and scenarios."""

from __future__ import annotations

from spec.checking.codes.example import example
from spec.diagnostic import Code

_SWITCH = "switch rescan: bool = false"
_VARIANT = "variant v1 { rescan = true }"
_STORY = "scenario told { Server.start request; %s }"
_FAULTS = "faults { crash db, Server }"
_INVARIANT = "invariant kept: forall w: Workflow. db.workflow[w] != DONE"

MODEL_CODES: tuple[Code, ...] = (
    Code(
        "E270",
        "a fault of something that does not exist",
        "Fault classes name processes, stores, links between them, and locks.",
        example(rest="faults { crash Servr }"),
        example(rest="faults { crash Server }"),
    ),
    Code(
        "E271",
        "a link between two stores",
        "Links join process instances to stores and to each other. Stores do not talk to stores.",
        example(first="store redis { durable n: 0..3 }", rest="faults { partition db -- redis }"),
        example(first="store redis { durable n: 0..3 }", rest="faults { partition Server -- redis }"),
    ),
    Code(
        "E272",
        "an expiry of something that has no lease",
        "Only a lock that is declared with `lease` can expire while it is held.",
        example(members="durable lock mutex", rest="faults { expire db.mutex }"),
        example(members="durable lock mutex lease", rest="faults { expire db.mutex }"),
    ),
    Code(
        "E273",
        "a fault class that is declared twice",
        "Each fault class is declared once; a link is the same in both directions.",
        example(rest="faults { lose Server -- db; lose db -- Server }"),
        example(rest="faults { lose Server -- db }"),
    ),
    Code(
        "E274",
        "a property that can never change",
        "No thread writes anything that the property reads, so it says nothing about the protocol. Often the wrong "
        "variable is named.",
        example(members="durable tries: 0..3", rest="invariant few: db.tries < 3"),
        example(
            members="durable tries: 0..3",
            body="db.tries := 1",
            rest="invariant few: db.tries < 3",
            cover="db.tries == 1",
        ),
    ),
    Code(
        "E275",
        "a model with nothing to check",
        "A model says what is to hold (`invariant`, `step invariant`, `at rest`, `recoverable`, `assert`), what is "
        "to be possible (`cover`), or what is to be a run (`scenario`).",
        example().split("cover")[0],
        example(),
    ),
    Code(
        "E276",
        "a variant that does not exist",
        "An `expect`, or `--variant`, names a variant that the model does not declare.",
        example(first=_SWITCH, rest=f"{_VARIANT}\nexpect v2 reaches started"),
        example(first=_SWITCH, rest=f"{_VARIANT}\nexpect v1 reaches started"),
    ),
    Code(
        "E277",
        "an expectation of something that does not exist",
        "`expect` names properties, covers and scenarios of the model.",
        example(rest="expect reaches startd"),
        example(rest="expect reaches started"),
    ),
    Code(
        "E278",
        "an expectation of the wrong kind",
        "Properties are proved or refuted, covers reached or refuted (never reached), scenarios run or are forbidden.",
        example(rest="expect proves started"),
        example(rest="expect reaches started"),
    ),
    Code(
        "E279",
        "expectations that contradict each other",
        "One name is expected once in a variant, and not both ways.",
        example(rest=f"{_INVARIANT}\nexpect proves kept\nexpect refutes kept"),
        example(rest=f"{_INVARIANT}\nexpect proves kept"),
    ),
    Code(
        "E280",
        "a setting of something that does not exist",
        "A variant sets constants and switches of the model.",
        example(first=_SWITCH, rest="variant v1 { rescann = true }"),
        example(first=_SWITCH, rest="variant v1 { rescan = true }"),
    ),
    Code(
        "E281",
        "a setting that is there twice",
        "A variant sets each constant or switch once.",
        example(first=_SWITCH, rest="variant v1 { rescan = true, rescan = false }"),
        example(first=_SWITCH, rest="variant v1 { rescan = true }"),
    ),
    Code(
        "E282",
        "an expectation without a variant",
        "In a model with variants every `expect` says of which variant it speaks.",
        example(first=_SWITCH, rest=f"{_VARIANT}\nexpect reaches started"),
        example(first=_SWITCH, rest=f"{_VARIANT}\nexpect v1 reaches started"),
    ),
    Code(
        "E283",
        "a choice of a constant or switch that does not exist",
        "`-D name=value` sets a constant of the model, `--with name` a switch.",
        "counterpoint check model.cpt --with rescann",
        "counterpoint check model.cpt --with rescan",
        is_model=False,
    ),
    Code(
        "E284",
        "a choice of a value of the wrong type",
        "The value must be one of the constant's or switch's type: a number, `true` or `false`, or a member of the "
        "enum.",
        "counterpoint check model.cpt -D N=many",
        "counterpoint check model.cpt -D N=3",
        is_model=False,
    ),
    Code(
        "E285",
        "a statement that the thread does not have",
        "A scenario names a statement by its first line, as it is in the source, or a step by its name.",
        example(rest=_STORY % 'Server.start "insert the row"'),
        example(rest=_STORY % 'Server.start "db.workflow[w] := RUNNING"'),
    ),
    Code(
        "E286",
        "a beat that no run can contain",
        "A scenario names a thread, instance, queue or lock that does not exist, a request for a thread that the "
        "environment does not start, or a reply of a handler that nobody calls.",
        example(rest=_STORY % "Server[1].start"),
        example(rest=_STORY % "Server[0].start"),
    ),
    Code(
        "E287",
        "a property with a reserved name",
        "`model_errors`, `stuck_threads` and `assert_LINE` are the names of what is always checked.",
        example(rest="invariant model_errors: forall w: Workflow. db.workflow[w] != DONE"),
        example(rest="invariant errors: forall w: Workflow. db.workflow[w] != DONE"),
    ),
    Code(
        "E288",
        "`needs` where no fault can break anything",
        "`needs` says which faults it takes to refute a property. It stands behind `refutes`, and not behind covers.",
        example(rest=f"{_FAULTS}\n{_INVARIANT}\nexpect proves kept needs {{crash db}}"),
        example(rest=f"{_FAULTS}\n{_INVARIANT}\nexpect refutes kept needs {{crash db}}"),
    ),
    Code(
        "E289",
        "a fault class that the model does not declare",
        "The fault sets of `needs` hold classes of the model's `faults`, written as there.",
        example(rest=f"{_FAULTS}\n{_INVARIANT}\nexpect refutes kept needs {{lose Server -- db}}"),
        example(rest=f"{_FAULTS}\n{_INVARIANT}\nexpect refutes kept needs {{crash Server}}"),
    ),
    Code(
        "E290",
        "fault sets that are not minimal",
        "`needs` lists the minimal fault sets: none contains another or is there twice, and `{}` (no fault is needed) "
        "stands alone.",
        example(rest=f"{_FAULTS}\n{_INVARIANT}\nexpect refutes kept needs {{crash db}} | {{crash db, crash Server}}"),
        example(rest=f"{_FAULTS}\n{_INVARIANT}\nexpect refutes kept needs {{crash db}} | {{crash Server}}"),
    ),
    Code(
        "E291",
        "a temporal operator where none can stand",
        "`~>`, `eventually` and `always` stand in properties of the form `live` only, once in each and behind its "
        "`forall`s: `p ~> q`, `eventually p`, `always eventually p`, `eventually always p`, with p and q without "
        "them. What holds always is an `invariant`.",
        example(rest="invariant ends: eventually exists w: Workflow. db.workflow[w] == RUNNING"),
        example(rest="live ends: eventually exists w: Workflow. db.workflow[w] == RUNNING"),
    ),
    Code(
        "E292",
        "a live property of another form",
        "A live property is `p ~> q`, `eventually p`, `always eventually p` or `eventually always p`; `forall`s may "
        "stand in front, other quantifiers and operators may not.",
        example(rest="live ends: exists w: Workflow. eventually db.workflow[w] == RUNNING"),
        example(rest="live ends: eventually exists w: Workflow. db.workflow[w] == RUNNING"),
    ),
    Code(
        "E293",
        "the fairness of a fault without a recovery",
        "Faults are never owed to anybody, so `unfair` and `strongly fair` behind a fault class speak of the recovery: "
        "the restart after a `crash`, the heal after a `partition`. Other classes have none.",
        example(rest="faults { lose Server -- db unfair }"),
        example(rest="faults { partition Server -- db unfair }"),
    ),
    Code(
        "E294",
        "too many declarations of a kind",
        "A model has at most 2,000 properties, 1,000 scenarios, 1,000 variants, 5,000 expectations and 1,000 "
        "processes. Each property, scenario and variant takes time of its own.",
        "counterpoint check generated.cpt",
        "counterpoint check model.cpt",
        is_model=False,
    ),
)
