"""The typed model: what a model file means once names, types, constants and switches are settled.

It exists only without errors: `spec.typecheck` makes it, for one choice of constants and switches at a time, so all
sizes are concrete and threads that a switch leaves out are gone.  Nothing here refers back to the parsed tree; spans
point into the source for messages and traces.

`docs/language.md`, section "Meaning", says how a typed model runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from spec.source import Span
from spec.types import IdType, Type
from spec.value import Value

# ------------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True)
class Literal:
    type: Type
    span: Span
    value: Value
    """For an optional or any other type: the constant value.  `none` is a Literal with value None."""


@dataclass(frozen=True)
class Local:
    """A local variable of the thread (its unique key within the thread), or a variable bound by a quantifier,
    `all`, `any` (keys of bound variables are unique within the model and never collide with locals)."""

    type: Type
    span: Span
    key: str


@dataclass(frozen=True)
class StoreVariable:
    type: Type
    span: Span
    store: str
    name: str


@dataclass(frozen=True)
class ProcessVariable:
    """A variable of a process instance.  `instance` is None for the thread's own instance; in properties it is an
    expression of the process's id type."""

    type: Type
    span: Span
    process: str
    name: str
    instance: Expression | None


@dataclass(frozen=True)
class GhostVariable:
    type: Type
    span: Span
    name: str


@dataclass(frozen=True)
class Self:
    """The thread's own process instance, a value of the process's id type."""

    type: Type
    span: Span


@dataclass(frozen=True)
class Index:
    """base[key], base a map.  The type checker has made curried and tuple keys uniform: one Index per map level."""

    type: Type
    span: Span
    base: Expression
    key: Expression


@dataclass(frozen=True)
class FieldAccess:
    """base.name, base a record (never optional: the checker has inserted Unwrap)."""

    type: Type
    span: Span
    base: Expression
    name: str


@dataclass(frozen=True)
class Item:
    """The `position`-th item of a tuple."""

    type: Type
    span: Span
    base: Expression
    position: int


@dataclass(frozen=True)
class Unwrap:
    """The value of an optional; evaluating it on none is a model error."""

    type: Type
    span: Span
    base: Expression


@dataclass(frozen=True)
class IsSome:
    type: Type
    span: Span
    base: Expression


class Operator(Enum):
    AND = "and"
    OR = "or"
    IMPLIES = "=>"
    IFF = "<=>"
    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    DIVIDE = "/"
    MODULO = "%"
    IN = "in"
    """left: scalar or tuple, or optional; right: a set.  None is in no set."""


@dataclass(frozen=True)
class Not:
    type: Type
    span: Span
    base: Expression


@dataclass(frozen=True)
class Negative:
    type: Type
    span: Span
    base: Expression


@dataclass(frozen=True)
class Binary:
    """AND, OR, IMPLIES evaluate the right side only when the left does not decide.  EQUAL and UNEQUAL compare values
    of one type, one or both possibly optional (an absent value equals only an absent value).  Arithmetic is exact:
    its type is int, whatever the operands; DIVIDE rounds towards minus infinity, MODULO has the sign of the divisor;
    a zero divisor is a model error."""

    type: Type
    span: Span
    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Conditional:
    """if condition then .. else .."""

    type: Type
    span: Span
    condition: Expression
    then: Expression
    otherwise: Expression


class Quantity(Enum):
    FORALL = "forall"
    EXISTS = "exists"
    COUNT = "count"
    ALL = "all"
    """`all x: T where e`: the set of those values."""


@dataclass(frozen=True)
class Quantifier:
    """Over all values of a finite scalar or tuple type.  Every instance of the body is evaluated (no
    short-circuit between instances), so a model error in any of them is an error."""

    type: Type
    span: Span
    quantity: Quantity
    key: str
    name: str
    over: Type
    body: Expression


@dataclass(frozen=True)
class SetOf:
    type: Type
    span: Span
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class TupleOf:
    type: Type
    span: Span
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class RecordOf:
    """All fields, in declaration order; defaults filled in."""

    type: Type
    span: Span
    fields: tuple[tuple[str, Expression], ...]


class QueueQuestion(Enum):
    CONTAINS = "contains"
    """Whether the item is in the queue, in flight included."""
    VISIBLE = "visible"
    """Whether a take could get the item now (for a fifo: whether the item stands visible anywhere in it)."""
    SIZE = "size"
    """How many items, in flight included."""


@dataclass(frozen=True)
class QueueQuery:
    type: Type
    span: Span
    store: str
    queue: str
    question: QueueQuestion
    item: Expression | None


@dataclass(frozen=True)
class LockQuery:
    """Whether anybody holds the lock for `key` (None for a lock without keys); a holder whose activation has ended
    still holds it."""

    type: Type
    span: Span
    store: str
    lock: str
    key: Expression | None


@dataclass(frozen=True)
class Coerce:
    """A value used where `type` is wanted: T as T?, a range as another range or int, int as a range.  Leaving a
    range's bounds is a model error.  (Only optional-to-value is written Unwrap.)"""

    type: Type
    span: Span
    base: Expression


@dataclass(frozen=True)
class Next:
    """In a step invariant: the value after the step of everything that `base` reads."""

    type: Type
    span: Span
    base: Expression


Expression = (
    Literal
    | Local
    | StoreVariable
    | ProcessVariable
    | GhostVariable
    | Self
    | Index
    | FieldAccess
    | Item
    | Unwrap
    | IsSome
    | Not
    | Negative
    | Binary
    | Conditional
    | Quantifier
    | SetOf
    | TupleOf
    | RecordOf
    | QueueQuery
    | LockQuery
    | Coerce
    | Next
)

# ------------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True)
class Place:
    """Where an assignment goes: a variable, then map keys and record fields from the outside in.

    A path step is an Expression (a map key) or a str (a record field).  Passing through an optional (`task[w].status`
    with `task: Workflow -> Task?`) where the value is none is a model error.  The value has been coerced to `type`.
    """

    root: Local | StoreVariable | ProcessVariable | GhostVariable
    path: tuple[Expression | str, ...]
    type: Type


@dataclass(frozen=True)
class Statement:
    """What all statements have.

    id       unique in the model; names the control point "about to execute this statement"
    span     the statement without its block, for messages; `text` its first source line, trimmed, for traces
    stores   the stores that executing it (not its blocks, except for atomic blocks) touches
    shared   whether it touches shared state: a store, a process variable, a ghost, a used-id set, another thread
    pristine nothing that this activation did before can have had an effect on a store, a process variable or another
             thread (ghosts do not count), whatever path led here
    blocks_ok  that it waits for ever is no sign of a mistake
    """

    id: int
    span: Span
    text: str
    stores: frozenset[str]
    shared: bool
    pristine: bool
    blocks_ok: bool = field(default=False, kw_only=True)


Block = tuple["Statement", ...]

Target = Place | tuple[Place, ...] | None
"""Where a result goes; a tuple takes a tuple apart."""


@dataclass(frozen=True)
class Assign(Statement):
    """`let x = e`, `x := e`, `postgres.workflow[w] := e`; also `delete` (value none)."""

    target: Place | tuple[Place, ...]
    value: Expression


@dataclass(frozen=True)
class Insert(Statement):
    """`m.insert(k, v)`: fails with `duplicate` where the row is there."""

    place: Place
    value: Expression


@dataclass(frozen=True)
class Update(Statement):
    """`update place where condition := value`; the result says whether the condition held.  Condition, then value
    and place, are evaluated in the state before."""

    place: Place
    condition: Expression
    value: Expression
    target: Target


class QueueVerb(Enum):
    PUSH = "push"
    TAKE = "take"
    POP = "pop"
    ACK = "ack"
    NACK = "nack"
    REMOVE = "remove"


@dataclass(frozen=True)
class QueueOperation(Statement):
    """`item` for PUSH, ACK, NACK, REMOVE; `target` for TAKE and POP."""

    store: str
    queue: str
    verb: QueueVerb
    item: Expression | None
    target: Target


class LockVerb(Enum):
    ACQUIRE = "acquire"
    """Answers whether the lock was free and is now held; with fencing, the token or none."""
    AWAIT = "await acquire"
    """Waits until the lock is free, then holds it; with fencing, answers the token."""
    RELEASE = "release"


@dataclass(frozen=True)
class LockOperation(Statement):
    store: str
    lock: str
    verb: LockVerb
    key: Expression | None
    target: Target


@dataclass(frozen=True)
class If(Statement):
    condition: Expression
    then: Block
    otherwise: Block


@dataclass(frozen=True)
class While(Statement):
    condition: Expression
    body: Block


@dataclass(frozen=True)
class Either(Statement):
    """A choice point: `shared` is false, but a step begins here (see "Meaning")."""

    branches: tuple[Block, ...]


@dataclass(frozen=True)
class For(Statement):
    """`for x in set { }`, in any order; a choice point at every turn.  The set is evaluated once, at the first."""

    key: str
    item_type: Type
    items: Expression
    body: Block


@dataclass(frozen=True)
class Any(Statement):
    """`let x = any T where e`: waits until a value satisfies e.  Always a step of its own."""

    key: str
    over: Type
    condition: Expression
    """Speaks of the value as Local(key)."""


@dataclass(frozen=True)
class Fresh(Statement):
    """`let w = fresh Workflow`: an id that was never used in this run; waits for ever when there is none."""

    key: str
    over: IdType


@dataclass(frozen=True)
class Await(Statement):
    condition: Expression


class Failure(Enum):
    REFUSED = "refused"
    UNKNOWN = "unknown"
    DUPLICATE = "duplicate"
    FAILED = "failed"


@dataclass(frozen=True)
class Handler:
    """`failures` is None for a bare `catch`."""

    failures: frozenset[Failure] | None
    body: Block


@dataclass(frozen=True)
class Try(Statement):
    body: Block
    handlers: tuple[Handler, ...]


@dataclass(frozen=True)
class Retry(Statement):
    """The body is tried, and tried again up to `times` more times while it fails, whatever the failure; the last
    failure goes on."""

    times: int
    body: Block


@dataclass(frozen=True)
class Return(Statement):
    """Shared when the thread is a handler that is called."""

    value: Expression | None


@dataclass(frozen=True)
class Fail(Statement):
    """Fails with `failed`; a local statement."""

    reason: str | None


@dataclass(frozen=True)
class Call(Statement):
    """`call P.name(..)`, or `send` (no reply is awaited).  `instance` is None when any instance will do."""

    process: str
    instance: Expression | None
    thread: str
    arguments: tuple[Expression, ...]
    target: Target
    send: bool


@dataclass(frozen=True)
class Atomic(Statement):
    """`atomic { }`, `step "name" { }`, `transaction store { }`: one step, wholly or not at all.

    Holds Assign, Insert, Update, QueueOperation, LockOperation, If, Either, Any, Fresh, Await, Fail, Assert, Return
    (the last only where no caller waits), and nested Atomic (which adds nothing)."""

    name: str | None
    transaction: bool
    body: Block


@dataclass(frozen=True)
class Assert(Statement):
    """Shared when its condition reads shared state."""

    condition: Expression


# ------------------------------------------------------------------------------------------------- declarations


@dataclass(frozen=True)
class StoreValue:
    name: str
    type: Type
    initial: Value
    durable: bool
    span: Span
    doc: str


class Discipline(Enum):
    SET = "set"
    BAG = "bag"
    FIFO = "fifo"


@dataclass(frozen=True)
class Queue:
    """capacity: for a bag the most copies of one item, for a fifo the most items; None for a set.  One more is a
    model error."""

    name: str
    item: Type
    discipline: Discipline
    capacity: int | None
    redelivers: bool
    durable: bool
    span: Span
    doc: str


@dataclass(frozen=True)
class Lock:
    """key: None for a single lock.  lease: its hold may end before its holder is done (fault class `expire`), and ends
    by itself once its holder has ended.  fencing: the greatest token; None without fencing."""

    name: str
    key: Type | None
    lease: bool
    fencing: int | None
    durable: bool
    span: Span
    doc: str


@dataclass(frozen=True)
class Store:
    name: str
    values: tuple[StoreValue, ...]
    queues: tuple[Queue, ...]
    locks: tuple[Lock, ...]
    span: Span
    doc: str


class ThreadKind(Enum):
    ON = "on"
    LOOP = "loop"
    TASK = "task"


@dataclass(frozen=True)
class Parameter:
    key: str
    type: Type
    fresh: bool


@dataclass(frozen=True)
class LocalVariable:
    key: str
    name: str
    type: Type


class Fairness(Enum):
    """What every run that counts for a `live` property owes to a thread or a recovery.

    UNFAIR  nothing
    WEAK    it takes a step again and again, or it is unable to again and again
    STRONG  it takes a step again and again, or it is unable to from some moment on
    """

    UNFAIR = "unfair"
    WEAK = "weakly fair"
    STRONG = "strongly fair"


@dataclass(frozen=True)
class Thread:
    """places: how many activations may run at a time.  called: some `call` or `send` of the model names it, so only
    those start it; an `on` thread that is not called is started by the environment."""

    name: str
    kind: ThreadKind
    parameters: tuple[Parameter, ...]
    result: Type | None
    places: int
    called: bool
    locals: tuple[LocalVariable, ...]
    """All locals, parameters included, hidden ones (of `if` on an operation) too."""
    body: Block
    span: Span
    doc: str
    fairness: Fairness = Fairness.WEAK


@dataclass(frozen=True)
class ProcessValue:
    """A variable of each instance.  Volatile ones are reset by a crash of the instance."""

    name: str
    type: Type
    initial: Value
    durable: bool
    span: Span
    doc: str


@dataclass(frozen=True)
class Process:
    name: str
    instances: IdType
    values: tuple[ProcessValue, ...]
    threads: tuple[Thread, ...]
    span: Span
    doc: str


@dataclass(frozen=True)
class Ghost:
    name: str
    type: Type
    initial: Value
    span: Span
    doc: str


class FaultKind(Enum):
    CRASH = "crash"
    PARTITION = "partition"
    LOSE = "lose"
    DUPLICATE = "duplicate"
    EXPIRE = "expire"


@dataclass(frozen=True)
class FaultClass:
    """first: a process or store (for EXPIRE: the store).  second: the other end of a link (for EXPIRE: the lock).

    A link joins a process to a store or to a process (itself included: distinct instances).

    first_instance, second_instance: the one instance of the process that is meant; None for all of them.  A model
    declares classes of all instances only."""

    kind: FaultKind
    first: str
    second: str | None
    restart: bool
    span: Span
    first_instance: int | None = None
    second_instance: int | None = None
    fairness: Fairness = field(default=Fairness.WEAK, compare=False)
    """Of the restart or heal that follows it."""

    def __str__(self) -> str:
        if self.kind is FaultKind.EXPIRE:
            return f"expire {self.first}.{self.second}"
        ends = self.first if self.first_instance is None else f"{self.first}[{self.first_instance}]"
        if self.second is not None:
            other = self.second if self.second_instance is None else f"{self.second}[{self.second_instance}]"
            ends = f"{ends} -- {other}"
        return f"{self.kind.value} {ends}" + ("" if self.restart else " without restart")


class PropertyForm(Enum):
    INVARIANT = "invariant"
    STEP_INVARIANT = "step invariant"
    AT_REST = "at rest"
    RECOVERABLE = "recoverable"
    COVER = "cover"
    LIVE = "live"


class LiveShape(Enum):
    """`p ~> q`, `eventually q`, `always eventually q`, `eventually always q`."""

    LEADS_TO = "~>"
    EVENTUALLY = "eventually"
    ALWAYS_EVENTUALLY = "always eventually"
    EVENTUALLY_ALWAYS = "eventually always"


@dataclass(frozen=True)
class Liveness:
    """For each choice of values for `binders` (the `forall`s in front; keys as in `Quantifier`): `left ~> right`, or
    one of the other shapes of `right`.  `left` is None but for LEADS_TO."""

    binders: tuple[Binder, ...]
    shape: LiveShape
    left: Expression | None
    right: Expression


@dataclass(frozen=True)
class Binder:
    key: str
    name: str
    over: Type


@dataclass(frozen=True)
class PropertyDeclaration:
    """live: what a property of form LIVE says.  Its `condition` is then `left => right`, or `right`, under the
    `forall`s: what it speaks of, for reports and for the search for vacuous properties."""

    name: str
    form: PropertyForm
    condition: Expression
    span: Span
    doc: str
    live: Liveness | None = None


# ------------------------------------------------------------------------------------------------- scenarios


@dataclass(frozen=True)
class Gap:
    """`..`: any steps, none included."""

    span: Span


@dataclass(frozen=True)
class Story:
    """One step.  The fields that are not None must agree with the event.

    sites     the statements meant (by name of the step or source text); None for any step of the thread
    request   the environment's request that starts the thread
    instance  the process instance, when the scenario numbers it
    ending    "ok", "refused", "unknown", "duplicate", "failed"; strike and kept as in spec.event; no strike is meant
              where `strike` is None
    crashed   with the strike "crash": the store that crashes, when the scenario names it
    """

    span: Span
    text: str
    process: str
    instance: int | None
    thread: str
    request: bool
    sites: frozenset[int] | None
    reply: bool
    """`sites` names a reply: the implicit end of a called handler, or a Return statement's."""
    ending: str | None
    strike: str | None
    kept: bool | None
    crashed: str | None = None


@dataclass(frozen=True)
class Incident:
    """A fault or recovery by itself: kind is an EventKind value (`crash`, `restart`, `cut`, `heal`, `redeliver`,
    `expire`); first/second name a process, store, link, queue or lock; instances when the scenario numbers them."""

    span: Span
    text: str
    kind: str
    first: str
    first_instance: int | None
    second: str | None
    second_instance: int | None


@dataclass(frozen=True)
class Then:
    """The condition holds at this point of the story."""

    span: Span
    text: str
    condition: Expression


@dataclass(frozen=True)
class Scenario:
    name: str
    beats: tuple[Gap | Story | Incident | Then, ...]
    span: Span
    doc: str


@dataclass(frozen=True)
class Model:
    """One model for one choice of constants and switches.

    `symmetric` names the ids types (process instances included) whose members nothing in the model tells apart, but for
    fault classes of single instances.
    `fresh` names the ids types from which some request or statement draws fresh ids."""

    name: str
    doc: str
    ids: Mapping[str, IdType]
    stores: tuple[Store, ...]
    processes: tuple[Process, ...]
    ghosts: tuple[Ghost, ...]
    faults: tuple[FaultClass, ...]
    properties: tuple[PropertyDeclaration, ...]
    scenarios: tuple[Scenario, ...]
    fresh: frozenset[str]
    symmetric: frozenset[str]
    constants: Mapping[str, Value]
    """Constants and switches, as chosen."""


class ExpectationVerb(Enum):
    REFUTES = "refutes"
    PROVES = "proves"
    REACHES = "reaches"
    RUNS = "runs"
    FORBIDS = "forbids"


@dataclass(frozen=True)
class Expectation:
    """variant None: for the model's defaults.  name: a property, cover or scenario.  needs: exactly the minimal sets of
    fault classes that can break the property (None: nothing is said of them)."""

    variant: str | None
    verb: ExpectationVerb
    name: str
    span: Span
    needs: tuple[frozenset[FaultClass], ...] | None = None


@dataclass(frozen=True)
class Variant:
    name: str
    span: Span
    doc: str
