"""The parsed tree: what a file says, before names, types and sizes are known.

Every node has the span of exactly its own text.  `spec.parse` makes these, `spec.typecheck` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spec.source import Source, Span
from spec.typed import ExpectationVerb, Failure, Fairness, FaultKind, Operator, PropertyForm, Quantity, ThreadKind


@dataclass(frozen=True)
class Identifier:
    """A name as it is written where it is declared or meant."""

    span: Span
    name: str


@dataclass(frozen=True)
class Text:
    """A string literal, its escapes resolved."""

    span: Span
    text: str


# ------------------------------------------------------------------------------------------------- types


@dataclass(frozen=True)
class NamedType:
    """`bool`, `int`, an enum, ids, a process, a declared range or a record."""

    span: Span
    name: str


@dataclass(frozen=True)
class RangeType:
    """`low..high`; the bounds are constant expressions."""

    span: Span
    low: Expression
    high: Expression


@dataclass(frozen=True)
class OptionalType:
    span: Span
    value: TypeExpression


@dataclass(frozen=True)
class TupleType:
    """`(A, B)`: two items or more."""

    span: Span
    items: tuple[TypeExpression, ...]


@dataclass(frozen=True)
class MapType:
    """`key -> value`; `A -> B -> C` has the value `B -> C`."""

    span: Span
    key: TypeExpression
    value: TypeExpression


@dataclass(frozen=True)
class SetType:
    span: Span
    item: TypeExpression


TypeExpression = NamedType | RangeType | OptionalType | TupleType | MapType | SetType

# ------------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True)
class Name:
    """A variable, constant, switch, enum member, store, process or local: `spec.typecheck` finds out."""

    span: Span
    name: str


@dataclass(frozen=True)
class Number:
    span: Span
    value: int


@dataclass(frozen=True)
class Boolean:
    span: Span
    value: bool


@dataclass(frozen=True)
class Nothing:
    """`none`."""

    span: Span


@dataclass(frozen=True)
class Self:
    span: Span


@dataclass(frozen=True)
class Access:
    """`base.name`: a variable of a store, a field of a record, or a question without arguments (`q.size`)."""

    span: Span
    base: Expression
    name: Identifier


@dataclass(frozen=True)
class Index:
    """`base[key]`, `base[key, key]`."""

    span: Span
    base: Expression
    keys: tuple[Expression, ...]


@dataclass(frozen=True)
class MethodCall:
    """`base.name(arguments)`: an operation or question of a queue, lock or map."""

    span: Span
    base: Expression
    name: Identifier
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class DefinitionCall:
    """`name(arguments)`: a `def`."""

    span: Span
    name: Identifier
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class FieldValue:
    span: Span
    name: Identifier
    value: Expression


@dataclass(frozen=True)
class RecordLiteral:
    """`Task{status: DONE}`."""

    span: Span
    name: Identifier
    fields: tuple[FieldValue, ...]


@dataclass(frozen=True)
class SetLiteral:
    span: Span
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class TupleLiteral:
    """Two items or more."""

    span: Span
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Not:
    span: Span
    base: Expression


@dataclass(frozen=True)
class Negative:
    span: Span
    base: Expression


@dataclass(frozen=True)
class Binary:
    """`operator_span` is the place of the operator itself."""

    span: Span
    operator: Operator
    operator_span: Span
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Is:
    """`base is some`; `base is none` when `some` is False."""

    span: Span
    base: Expression
    some: bool


@dataclass(frozen=True)
class Conditional:
    span: Span
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True)
class Binder:
    """`x: T` of a quantifier."""

    span: Span
    name: Identifier
    over: TypeExpression


@dataclass(frozen=True)
class Quantifier:
    """`forall a: A, b: B. body` and so on; `all x: T where body`, whose body is None without a `where`."""

    span: Span
    quantity: Quantity
    binders: tuple[Binder, ...]
    body: Expression | None


@dataclass(frozen=True)
class Prime:
    """`base'`: base after the step."""

    span: Span
    base: Expression


@dataclass(frozen=True)
class LeadsTo:
    """`left ~> right`, in a `live` property."""

    span: Span
    operator_span: Span
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Temporal:
    """`eventually base`, `always base`; `always eventually base` is two of these."""

    span: Span
    word: Identifier
    base: Expression


Expression = (
    Name
    | Number
    | Boolean
    | Nothing
    | Self
    | Access
    | Index
    | MethodCall
    | DefinitionCall
    | RecordLiteral
    | SetLiteral
    | TupleLiteral
    | Not
    | Negative
    | Binary
    | Is
    | Conditional
    | Quantifier
    | Prime
    | LeadsTo
    | Temporal
)

# ------------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True)
class Choose:
    """`any T where e`.  `e` speaks of the value by the name that the `let` gives it.  condition None: no `where`."""

    span: Span
    over: TypeExpression
    condition: Expression | None


@dataclass(frozen=True)
class Fresh:
    """`fresh T`."""

    span: Span
    over: TypeExpression


@dataclass(frozen=True)
class AwaitValue:
    """`await l.acquire(k)` whose answer is used."""

    span: Span
    base: Expression


@dataclass(frozen=True)
class Update:
    """`update place where condition := value`."""

    span: Span
    place: Expression
    condition: Expression
    value: Expression


@dataclass(frozen=True)
class Request:
    """`call P.name(arguments)`, `call P[instance].name(arguments)`; the same with `send`."""

    span: Span
    send: bool
    process: Identifier
    instance: Expression | None
    thread: Identifier
    arguments: tuple[Expression, ...]


Operation = Choose | Fresh | AwaitValue | Update | Request
"""What may stand on the right of `let x =` and `:=` and is not an expression."""


@dataclass(frozen=True)
class Statement:
    """What all statements have.

    span   the whole statement, its blocks included
    head   the statement without its blocks: for traces and messages; the same as `span` for a statement without blocks
    blocks_ok  where `blocks ok` stands behind it, which neither `span` nor `head` covers; None without
    """

    span: Span
    head: Span
    blocks_ok: Span | None = field(default=None, kw_only=True)


Block = tuple["Statement", ...]


@dataclass(frozen=True)
class Let(Statement):
    """`let x: T = value`; with several names `let (a, b) = value`."""

    names: tuple[Identifier, ...]
    annotation: TypeExpression | None
    value: Expression | Operation


@dataclass(frozen=True)
class Assign(Statement):
    """`place := value`.  The place is a Name, Access or Index (of one of these ...), or a TupleLiteral of such."""

    place: Expression
    value: Expression | Operation


@dataclass(frozen=True)
class Perform(Statement):
    """An operation whose answer, if any, is not used: `q.push(x)`, `m.insert(k, v)`, `update`, `call`, `send`."""

    operation: MethodCall | Update | Request


@dataclass(frozen=True)
class Await(Statement):
    """`await e`; also `await l.acquire(k)`, whose condition is that MethodCall."""

    condition: Expression


@dataclass(frozen=True)
class Branch:
    """`if condition { body }`: one of an `if .. else if ..` chain.  head: without the block."""

    span: Span
    head: Span
    condition: Expression
    body: Block


@dataclass(frozen=True)
class If(Statement):
    """branches: the `if` and each `else if`, at least one.  otherwise: None without an `else`."""

    branches: tuple[Branch, ...]
    otherwise: Block | None


@dataclass(frozen=True)
class While(Statement):
    condition: Expression
    body: Block


@dataclass(frozen=True)
class Either(Statement):
    branches: tuple[Block, ...]


@dataclass(frozen=True)
class For(Statement):
    name: Identifier
    items: Expression
    body: Block


@dataclass(frozen=True)
class Handler:
    """`catch refused, unknown { body }`; failures is None for a bare `catch`."""

    span: Span
    head: Span
    failures: tuple[Failure, ...] | None
    body: Block


@dataclass(frozen=True)
class Try(Statement):
    body: Block
    handlers: tuple[Handler, ...]


@dataclass(frozen=True)
class Retry(Statement):
    """times: a constant expression."""

    times: Expression
    body: Block


@dataclass(frozen=True)
class Return(Statement):
    value: Expression | None


@dataclass(frozen=True)
class Fail(Statement):
    reason: Text | None


@dataclass(frozen=True)
class Transaction(Statement):
    store: Identifier
    body: Block


@dataclass(frozen=True)
class Atomic(Statement):
    """`atomic { }`, or `step "name" { }`."""

    name: Text | None
    body: Block


@dataclass(frozen=True)
class Assert(Statement):
    condition: Expression


# ------------------------------------------------------------------------------------------------- declarations


@dataclass(frozen=True)
class Declaration:
    """What all declarations have.  `span` is the whole, `name` the declared name, `doc` the `///` lines before it."""

    span: Span
    doc: str
    name: Identifier


@dataclass(frozen=True)
class Constant(Declaration):
    """condition: the `where`, None without."""

    type: TypeExpression
    value: Expression
    condition: Expression | None


@dataclass(frozen=True)
class Switch(Declaration):
    type: TypeExpression
    value: Expression


@dataclass(frozen=True)
class Enumeration(Declaration):
    members: tuple[Identifier, ...]


@dataclass(frozen=True)
class Ids(Declaration):
    """size: a constant expression."""

    size: Expression


@dataclass(frozen=True)
class TypeAlias(Declaration):
    type: TypeExpression


@dataclass(frozen=True)
class Field:
    span: Span
    name: Identifier
    type: TypeExpression
    default: Expression | None


@dataclass(frozen=True)
class Record(Declaration):
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Parameter:
    """`w: T`, or `w: fresh T`."""

    span: Span
    name: Identifier
    type: TypeExpression
    fresh: bool


@dataclass(frozen=True)
class Definition(Declaration):
    """`def name(parameters): result = body`; no parameter is `fresh`."""

    parameters: tuple[Parameter, ...]
    result: TypeExpression
    body: Expression


@dataclass(frozen=True)
class Variable(Declaration):
    """A variable of a store or a process."""

    durable: bool
    type: TypeExpression
    initial: Expression | None


@dataclass(frozen=True)
class Bag:
    """`bag(capacity)`."""

    span: Span
    capacity: Expression


@dataclass(frozen=True)
class Fifo:
    """`fifo(capacity)`."""

    span: Span
    capacity: Expression


@dataclass(frozen=True)
class Queue(Declaration):
    """discipline: None for `set`, written or not."""

    durable: bool
    item: TypeExpression
    discipline: Bag | Fifo | None
    redelivers: bool


@dataclass(frozen=True)
class Lock(Declaration):
    """key: None for a single lock.  fencing: the greatest token, a constant expression; None without `fencing`."""

    durable: bool
    key: TypeExpression | None
    lease: bool
    fencing: Expression | None


@dataclass(frozen=True)
class Store(Declaration):
    members: tuple[Variable | Queue | Lock, ...]


@dataclass(frozen=True)
class Thread(Declaration):
    """places: `[k]`, a constant expression.  condition: of `when`.  parameters, result: for `on` only.
    head: the thread without its block.  fairness: None when it is not written."""

    head: Span
    fairness: FairnessWord | None
    kind: ThreadKind
    parameters: tuple[Parameter, ...]
    result: TypeExpression | None
    places: Expression | None
    condition: Expression | None
    body: Block


@dataclass(frozen=True)
class Process(Declaration):
    """count: `[n]`, a constant expression; None when it is not written.  head: without the block."""

    head: Span
    count: Expression | None
    variables: tuple[Variable, ...]
    threads: tuple[Thread, ...]


@dataclass(frozen=True)
class Ghost(Declaration):
    type: TypeExpression
    initial: Expression | None


@dataclass(frozen=True)
class Link:
    """`first -- second`."""

    span: Span
    first: Identifier
    second: Identifier


@dataclass(frozen=True)
class Member:
    """`store.name`: a lock or queue."""

    span: Span
    store: Identifier
    name: Identifier


@dataclass(frozen=True)
class FairnessWord:
    """`strongly fair` or `unfair`."""

    span: Span
    doc: str
    fairness: Fairness


@dataclass(frozen=True)
class Fault:
    """One class of a line in `faults { }`: `crash A, B` makes two of these.

    target: an Identifier for CRASH, a Member for EXPIRE, otherwise a Link.  span: of the target.
    restart: False for `crash A without restart` (which speaks of every target of its line).
    fairness, fairness_span: of the recovery, also for every target of its line; None when it is not written."""

    span: Span
    kind: FaultKind
    target: Identifier | Link | Member
    restart: bool
    fairness: Fairness | None = None
    fairness_span: Span | None = None


@dataclass(frozen=True)
class Faults:
    """A `faults { }` block; a model may have several."""

    span: Span
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class Property(Declaration):
    form: PropertyForm
    condition: Expression


@dataclass(frozen=True)
class Setting:
    """`name = value` in a variant; the value is a constant expression."""

    span: Span
    name: Identifier
    value: Expression


@dataclass(frozen=True)
class Variant(Declaration):
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class FaultSet:
    """`{crash A, lose A -- B}` in the `needs` of an expectation."""

    span: Span
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class Needs:
    """`needs {..} | {..}`."""

    span: Span
    sets: tuple[FaultSet, ...]


@dataclass(frozen=True)
class Expectation:
    """`expect variant verb names`; variant None: the model's defaults."""

    span: Span
    variant: Identifier | None
    verb: ExpectationVerb
    names: tuple[Identifier, ...]
    needs: Needs | None = None


# ------------------------------------------------------------------------------------------------- scenarios


@dataclass(frozen=True)
class Party:
    """A process, a store, or with a number one instance of a process: `Server[0]`."""

    span: Span
    name: Identifier
    instance: int | None


@dataclass(frozen=True)
class Gap:
    """`..`."""

    span: Span


@dataclass(frozen=True)
class Strike:
    """`during crash postgres`, `during lose`: kind is CRASH, PARTITION, LOSE or DUPLICATE; party only for CRASH, and
    None there when it is not written."""

    span: Span
    kind: FaultKind
    party: Party | None


@dataclass(frozen=True)
class Story:
    """A beat of a thread: `Server[0].start "text" refused during crash postgres kept`.

    request   the word `request`; reply: the word `reply`
    text      the statement meant; None for any
    ending    "ok", "refused", "unknown", "duplicate", "failed", or None when no such word is there
    kept      True for `kept`, False for `lost`, None for neither
    """

    span: Span
    party: Party
    thread: Identifier
    request: bool
    reply: bool
    text: Text | None
    ending: str | None
    strike: Strike | None
    kept: bool | None


@dataclass(frozen=True)
class Incident:
    """A fault or recovery by itself.  kind: `crash`, `restart` (target: a Party), `cut`, `heal` (target: two Parties),
    `redeliver`, `expire` (target: a Member)."""

    span: Span
    kind: str
    target: Party | tuple[Party, Party] | Member


@dataclass(frozen=True)
class Then:
    span: Span
    condition: Expression


Beat = Gap | Story | Incident | Then


@dataclass(frozen=True)
class Scenario(Declaration):
    beats: tuple[Beat, ...]


# ------------------------------------------------------------------------------------------------- files


@dataclass(frozen=True)
class Import:
    span: Span
    path: Text


Item = Declaration | Faults | Expectation
"""What a file consists of, imports apart."""


@dataclass(frozen=True)
class File:
    """One parsed file.  doc: its doc comment."""

    source: Source
    doc: str
    imports: tuple[Import, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Module:
    """A file with everything it imports: the items of imported files first, each file once.  source and doc are the
    main file's."""

    source: Source
    doc: str
    items: tuple[Item, ...]
