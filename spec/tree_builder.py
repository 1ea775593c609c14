"""Makes the parsed tree: one method for each rule of `spec/grammar.lark`, named after it.

A method gets what the parts of its rule became, in order: tokens as they are, None for an optional part that is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar, get_args

from spec import syntax
from spec.diagnostic import Diagnostic
from spec.source import Span
from spec.syntax import Identifier
from spec.syntax_errors import later_word, shorten
from spec.tokens import LATER_WORDS, Token, unquote
from spec.typed import ExpectationVerb, Failure, Fairness, FaultKind, Operator, PropertyForm, Quantity, ThreadKind

Parts = list[Any]
Node = TypeVar("Node")


class Misplaced(Exception):
    """What was parsed is grammatical, but cannot stand there.  Carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def _cover(first: Any, last: Any) -> Span:
    """From the start of the first part to the end of the last, each a token or node."""
    return Span(first.span.source, first.span.start, last.span.end)


def _whole(parts: Parts) -> Span:
    """The span of all parts that are there."""
    last = parts[-1]
    if last is None:
        last = next(part for part in reversed(parts) if part is not None)
    return _cover(parts[0], last)


def _present(parts: Parts) -> Parts:
    """The parts from the first that is there on."""
    return parts if parts[0] is not None else parts[1:]


def _of(kind: type[Node], parts: Iterable[Any]) -> tuple[Node, ...]:
    return tuple(part for part in parts if isinstance(part, kind))


_EXPRESSIONS: tuple[type[syntax.Expression], ...] = get_args(syntax.Expression)
_TYPES: tuple[type[syntax.TypeExpression], ...] = get_args(syntax.TypeExpression)


def _expressions(parts: Parts) -> tuple[syntax.Expression, ...]:
    return tuple(part for part in parts if isinstance(part, _EXPRESSIONS))


class _Group:
    """What stands between brackets, and where these are."""

    def __init__(self, parts: Parts, items: tuple[Any, ...]) -> None:
        self.span = _whole(parts)
        self.items = items


class _Block(_Group):
    """The statements of a block."""


def _heads(parts: Parts) -> tuple[Span, Span]:
    """span and head of a statement or thread: the head ends before the first block."""
    at = next(i for i, part in enumerate(parts) if isinstance(part, _Block))
    return _whole(parts), _whole(parts[:at])


def _property(form: PropertyForm) -> Callable[[TreeBuilder, Parts], syntax.Property]:
    def build(self: TreeBuilder, parts: Parts) -> syntax.Property:
        return syntax.Property(_whole(parts), parts[0].doc, parts[-3], form, parts[-1])

    return build


class TreeBuilder:
    # ------------------------------------------------------------------------------------- words

    def name(self, parts: Parts) -> Identifier:
        return Identifier(parts[0].span, parts[0].text)

    def text(self, parts: Parts) -> syntax.Text:
        return syntax.Text(parts[0].span, unquote(parts[0].text))

    # ------------------------------------------------------------------------------------- declarations

    def file(self, parts: Parts) -> tuple[tuple[syntax.Import, ...], tuple[syntax.Item, ...]]:
        items = (syntax.Declaration, syntax.Faults, syntax.Expectation)
        return _of(syntax.Import, parts), tuple(part for part in parts if isinstance(part, items))

    def import_declaration(self, parts: Parts) -> syntax.Import:
        return syntax.Import(_whole(parts), parts[1])

    def constant(self, parts: Parts) -> syntax.Constant:
        word, name, _, kind, _, value, _, condition = parts
        return syntax.Constant(_whole(parts), word.doc, name, kind, value, condition)

    def switch(self, parts: Parts) -> syntax.Switch:
        word, name, _, kind, _, value = parts
        return syntax.Switch(_whole(parts), word.doc, name, kind, value)

    def enumeration(self, parts: Parts) -> syntax.Enumeration:
        return syntax.Enumeration(_whole(parts), parts[0].doc, parts[1], _of(Identifier, parts[2:]))

    def ids(self, parts: Parts) -> syntax.Ids:
        return syntax.Ids(_whole(parts), parts[0].doc, parts[1], parts[3])

    def alias(self, parts: Parts) -> syntax.TypeAlias:
        return syntax.TypeAlias(_whole(parts), parts[0].doc, parts[1], parts[3])

    def record(self, parts: Parts) -> syntax.Record:
        return syntax.Record(_whole(parts), parts[0].doc, parts[1], _of(syntax.Field, parts))

    def field(self, parts: Parts) -> syntax.Field:
        name, _, kind, _, default = parts
        return syntax.Field(_whole(parts), name, kind, default)

    def definition(self, parts: Parts) -> syntax.Definition:
        word, name, parameters, _, result, _, body = parts
        for parameter in parameters.items:
            if parameter.fresh:
                message = "only a parameter of an `on` thread can be `fresh`"
                raise Misplaced(Diagnostic("E113", message, parameter.span, fix="leave `fresh` out"))
        return syntax.Definition(_whole(parts), word.doc, name, parameters.items, result, body)

    def parameters(self, parts: Parts) -> _Group:
        return _Group(parts, _of(syntax.Parameter, parts))

    def parameter(self, parts: Parts) -> syntax.Parameter:
        name, _, fresh, kind = parts
        return syntax.Parameter(_whole(parts), name, kind, fresh is not None)

    def ghost(self, parts: Parts) -> syntax.Ghost:
        word, name, _, kind, _, initial = parts
        return syntax.Ghost(_whole(parts), word.doc, name, kind, initial)

    # ------------------------------------------------------------------------------------- stores

    def store(self, parts: Parts) -> syntax.Store:
        members = tuple(part for part in parts if isinstance(part, syntax.Variable | syntax.Queue | syntax.Lock))
        return syntax.Store(_whole(parts), parts[0].doc, parts[1], members)

    def variable(self, parts: Parts) -> syntax.Variable:
        lifetime, name, _, kind, _, initial = parts
        return syntax.Variable(_whole(parts), lifetime.doc, name, lifetime.text == "durable", kind, initial)

    def queue(self, parts: Parts) -> syntax.Queue:
        lifetime, _, name, _, item, discipline, redelivers = parts
        kept = None if isinstance(discipline, Token) else discipline
        durable = lifetime.text == "durable"
        return syntax.Queue(_whole(parts), lifetime.doc, name, durable, item, kept, redelivers is not None)

    def set_discipline(self, parts: Parts) -> Token:
        token: Token = parts[0]
        return token

    def bag_discipline(self, parts: Parts) -> syntax.Bag:
        return syntax.Bag(_whole(parts), parts[2])

    def fifo_discipline(self, parts: Parts) -> syntax.Fifo:
        return syntax.Fifo(_whole(parts), parts[2])

    def lock(self, parts: Parts) -> syntax.Lock:
        lifetime, _, name, _, key, lease, _, _, fencing, _ = parts
        durable = lifetime.text == "durable"
        return syntax.Lock(_whole(parts), lifetime.doc, name, durable, key, lease is not None, fencing)

    # ------------------------------------------------------------------------------------- processes

    def process(self, parts: Parts) -> syntax.Process:
        word, name, places, *_ = parts
        size = places.items[0] if places else None
        head = _whole(parts[:3])
        variables, threads = _of(syntax.Variable, parts), _of(syntax.Thread, parts)
        return syntax.Process(_whole(parts), word.doc, name, head, size, variables, threads)

    def request_thread(self, parts: Parts) -> syntax.Thread:
        fairness, word, name, parameters, _, result, places, _, condition, body = parts
        span, head = _heads(_present(parts))
        doc = fairness.doc if fairness else word.doc
        given = parameters.items if parameters else ()
        size = places.items[0] if places else None
        return syntax.Thread(span, doc, name, head, fairness, ThreadKind.ON, given, result, size, condition, body.items)

    def own_thread(self, parts: Parts) -> syntax.Thread:
        fairness, word, name, places, _, condition, body = parts
        span, head = _heads(_present(parts))
        doc = fairness.doc if fairness else word.doc
        size = places.items[0] if places else None
        kind = ThreadKind(word.text)
        return syntax.Thread(span, doc, name, head, fairness, kind, (), None, size, condition, body.items)

    def strongly_fair(self, parts: Parts) -> syntax.FairnessWord:
        return syntax.FairnessWord(_whole(parts), parts[0].doc, Fairness.STRONG)

    def unfair(self, parts: Parts) -> syntax.FairnessWord:
        return syntax.FairnessWord(_whole(parts), parts[0].doc, Fairness.UNFAIR)

    def places(self, parts: Parts) -> _Group:
        return _Group(parts, (parts[1],))

    # ------------------------------------------------------------------------------------- faults

    def faults(self, parts: Parts) -> syntax.Faults:
        classes = (fault for part in parts if isinstance(part, tuple) for fault in part)
        return syntax.Faults(_whole(parts), tuple(classes))

    def crashes(self, parts: Parts) -> tuple[syntax.Fault, ...]:
        *_, restart, fairness = parts
        return tuple(
            syntax.Fault(name.span, FaultKind.CRASH, name, restart is None, *_word(fairness))
            for name in _of(Identifier, parts)
        )

    def link_faults(self, parts: Parts) -> tuple[syntax.Fault, ...]:
        kind = FaultKind(parts[0].text)
        links = _of(syntax.Link, parts)
        return tuple(syntax.Fault(link.span, kind, link, True, *_word(parts[-1])) for link in links)

    def expiries(self, parts: Parts) -> tuple[syntax.Fault, ...]:
        members = _of(syntax.Member, parts)
        return tuple(syntax.Fault(member.span, FaultKind.EXPIRE, member, True) for member in members)

    def link(self, parts: Parts) -> syntax.Link:
        return syntax.Link(_whole(parts), parts[0], parts[2])

    def member(self, parts: Parts) -> syntax.Member:
        return syntax.Member(_whole(parts), parts[0], parts[2])

    # ------------------------------------------------------------------------------------- claims

    invariant = _property(PropertyForm.INVARIANT)
    step_invariant = _property(PropertyForm.STEP_INVARIANT)
    at_rest = _property(PropertyForm.AT_REST)
    recoverable = _property(PropertyForm.RECOVERABLE)
    cover = _property(PropertyForm.COVER)
    live = _property(PropertyForm.LIVE)

    def variant(self, parts: Parts) -> syntax.Variant:
        return syntax.Variant(_whole(parts), parts[0].doc, parts[1], _of(syntax.Setting, parts))

    def setting(self, parts: Parts) -> syntax.Setting:
        return syntax.Setting(_whole(parts), parts[0], parts[2])

    def expectation(self, parts: Parts) -> syntax.Expectation:
        _, variant, verb, *names, needs = parts
        return syntax.Expectation(_whole(parts), variant, ExpectationVerb(verb.text), _of(Identifier, names), needs)

    def needs(self, parts: Parts) -> syntax.Needs:
        return syntax.Needs(_whole(parts), _of(syntax.FaultSet, parts))

    def fault_set(self, parts: Parts) -> syntax.FaultSet:
        return syntax.FaultSet(_whole(parts), _of(syntax.Fault, parts))

    def needed_crash(self, parts: Parts) -> syntax.Fault:
        return syntax.Fault(_whole(parts), FaultKind.CRASH, parts[1], parts[-1] is None)

    def needed_link_fault(self, parts: Parts) -> syntax.Fault:
        return syntax.Fault(_whole(parts), FaultKind(parts[0].text), parts[1], True)

    def needed_expiry(self, parts: Parts) -> syntax.Fault:
        return syntax.Fault(_whole(parts), FaultKind.EXPIRE, parts[1], True)

    # ------------------------------------------------------------------------------------- scenarios

    def scenario(self, parts: Parts) -> syntax.Scenario:
        beats = (syntax.Gap, syntax.Story, syntax.Incident, syntax.Then)
        kept: tuple[syntax.Beat, ...] = tuple(part for part in parts if isinstance(part, beats))
        return syntax.Scenario(_whole(parts), parts[0].doc, parts[1], kept)

    def gap(self, parts: Parts) -> syntax.Gap:
        return syntax.Gap(_whole(parts))

    def then(self, parts: Parts) -> syntax.Then:
        return syntax.Then(_whole(parts), parts[1])

    def story(self, parts: Parts) -> syntax.Story:
        party, _, thread, told, ending, strike, outcome = parts
        text = told if isinstance(told, syntax.Text) else None
        word = told.text if isinstance(told, Token) else ""
        return syntax.Story(
            _whole(parts),
            party,
            thread,
            request=word == "request",
            reply=word == "reply",
            text=text,
            ending=ending.text if ending else None,
            strike=strike,
            kept=outcome.text == "kept" if outcome else None,
        )

    def crash_strike(self, parts: Parts) -> syntax.Strike:
        return syntax.Strike(_whole(parts), FaultKind.CRASH, parts[2])

    def link_strike(self, parts: Parts) -> syntax.Strike:
        return syntax.Strike(_whole(parts), FaultKind(parts[1].text), None)

    def party_incident(self, parts: Parts) -> syntax.Incident:
        return syntax.Incident(_whole(parts), parts[0].text, parts[1])

    def link_incident(self, parts: Parts) -> syntax.Incident:
        return syntax.Incident(_whole(parts), parts[0].text, (parts[1], parts[3]))

    def member_incident(self, parts: Parts) -> syntax.Incident:
        return syntax.Incident(_whole(parts), parts[0].text, parts[1])

    def party(self, parts: Parts) -> syntax.Party:
        name, _, instance, _ = parts
        return syntax.Party(_whole(parts), name, int(instance.text) if instance else None)

    # ------------------------------------------------------------------------------------- statements

    def block(self, parts: Parts) -> _Block:
        return _Block(parts, _of(syntax.Statement, parts))

    def blocks_ok(self, parts: Parts) -> syntax.Statement | Token:
        statement, first, last = parts
        if not isinstance(statement, syntax.Statement):
            broken: Token = statement
            return broken
        return replace(statement, blocks_ok=_cover(first, last))

    def let(self, parts: Parts) -> syntax.Let:
        _, names, _, annotation, _, value = parts
        span = _whole(parts)
        return syntax.Let(span, span, names, annotation, value)

    def one_name(self, parts: Parts) -> tuple[Identifier, ...]:
        return (parts[0],)

    def several_names(self, parts: Parts) -> tuple[Identifier, ...]:
        return _of(Identifier, parts)

    def assignment(self, parts: Parts) -> syntax.Assign:
        place, _, value = parts
        for part in place.items if isinstance(place, syntax.TupleLiteral) else (place,):
            _check_place(part)
        span = _whole(parts)
        return syntax.Assign(span, span, place, value)

    def performance(self, parts: Parts) -> syntax.Perform:
        operation = parts[0]
        if not isinstance(operation, syntax.MethodCall | syntax.Update | syntax.Request):
            raise Misplaced(_no_statement(operation))
        return syntax.Perform(operation.span, operation.span, operation)

    def wait(self, parts: Parts) -> syntax.Await:
        span = _whole(parts)
        return syntax.Await(span, span, parts[1])

    def choice(self, parts: Parts) -> syntax.If:
        branches = _of(syntax.Branch, parts)
        otherwise = parts[-1].items if parts[-1] else None
        return syntax.If(_whole(parts), branches[0].head, branches, otherwise)

    def first_branch(self, parts: Parts) -> syntax.Branch:
        word, condition, body = parts
        return syntax.Branch(_whole(parts), _cover(word, condition), condition, body.items)

    def else_branch(self, parts: Parts) -> syntax.Branch:
        return self.first_branch(parts[1:])

    def either(self, parts: Parts) -> syntax.Either:
        span, head = _heads(parts)
        return syntax.Either(span, head, tuple(block.items for block in _of(_Block, parts)))

    def while_loop(self, parts: Parts) -> syntax.While:
        span, head = _heads(parts)
        return syntax.While(span, head, parts[1], parts[2].items)

    def for_loop(self, parts: Parts) -> syntax.For:
        span, head = _heads(parts)
        return syntax.For(span, head, parts[1], parts[3], parts[4].items)

    def attempt(self, parts: Parts) -> syntax.Try:
        span, head = _heads(parts)
        return syntax.Try(span, head, parts[1].items, _of(syntax.Handler, parts))

    def catch(self, parts: Parts) -> syntax.Handler:
        span, head = _heads(parts)
        kinds = tuple(Failure(part.text) for part in parts[1:-1] if part is not None and part.text != ",")
        return syntax.Handler(span, head, kinds or None, parts[-1].items)

    def retry(self, parts: Parts) -> syntax.Retry:
        span, head = _heads(parts)
        return syntax.Retry(span, head, parts[1], parts[2].items)

    def return_statement(self, parts: Parts) -> syntax.Return:
        span = _whole(parts)
        return syntax.Return(span, span, parts[1])

    def fail_statement(self, parts: Parts) -> syntax.Fail:
        span = _whole(parts)
        return syntax.Fail(span, span, parts[1])

    def transaction(self, parts: Parts) -> syntax.Transaction:
        span, head = _heads(parts)
        return syntax.Transaction(span, head, parts[1], parts[2].items)

    def atomic(self, parts: Parts) -> syntax.Atomic:
        span, head = _heads(parts)
        return syntax.Atomic(span, head, None, parts[1].items)

    def step(self, parts: Parts) -> syntax.Atomic:
        span, head = _heads(parts)
        return syntax.Atomic(span, head, parts[1], parts[2].items)

    def assertion(self, parts: Parts) -> syntax.Assert:
        span = _whole(parts)
        return syntax.Assert(span, span, parts[1])

    # ------------------------------------------------------------------------------------- operations

    def any_value(self, parts: Parts) -> syntax.Choose:
        return syntax.Choose(_whole(parts), parts[1], parts[3])

    def fresh_value(self, parts: Parts) -> syntax.Fresh:
        return syntax.Fresh(_whole(parts), parts[1])

    def awaited(self, parts: Parts) -> syntax.AwaitValue:
        return syntax.AwaitValue(_whole(parts), parts[1])

    def update(self, parts: Parts) -> syntax.Update:
        _, place, _, condition, _, value = parts
        _check_place(place)
        return syntax.Update(_whole(parts), place, condition, value)

    def request(self, parts: Parts) -> syntax.Request:
        word, process, _, instance, _, _, thread, arguments = parts
        return syntax.Request(_whole(parts), word.text == "send", process, instance, thread, arguments.items)

    # ------------------------------------------------------------------------------------- expressions

    def binary(self, parts: Parts) -> syntax.Binary:
        left, operator, right = parts
        return syntax.Binary(_whole(parts), Operator(operator.text), operator.span, left, right)

    def not_(self, parts: Parts) -> syntax.Not:
        return syntax.Not(_whole(parts), parts[1])

    def negative(self, parts: Parts) -> syntax.Negative:
        return syntax.Negative(_whole(parts), parts[1])

    def is_(self, parts: Parts) -> syntax.Is:
        return syntax.Is(_whole(parts), parts[0], parts[2].text == "some")

    def conditional(self, parts: Parts) -> syntax.Conditional:
        _, condition, _, then, _, otherwise = parts
        return syntax.Conditional(_whole(parts), condition, then, otherwise)

    def quantifier(self, parts: Parts) -> syntax.Quantifier:
        binders = _of(syntax.Binder, parts)
        return syntax.Quantifier(_whole(parts), Quantity(parts[0].text), binders, parts[-1])

    def all_(self, parts: Parts) -> syntax.Quantifier:
        return syntax.Quantifier(_whole(parts), Quantity.ALL, (parts[1],), parts[3])

    def leads_to(self, parts: Parts) -> syntax.LeadsTo:
        left, operator, right = parts
        return syntax.LeadsTo(_whole(parts), operator.span, left, right)

    def temporal(self, parts: Parts) -> syntax.Temporal:
        word, base = parts
        return syntax.Temporal(_whole(parts), Identifier(word.span, word.text), base)

    def binder(self, parts: Parts) -> syntax.Binder:
        return syntax.Binder(_whole(parts), parts[0], parts[2])

    def access(self, parts: Parts) -> syntax.Access:
        return syntax.Access(_whole(parts), parts[0], parts[2])

    def method_call(self, parts: Parts) -> syntax.MethodCall:
        base, _, name, arguments = parts
        return syntax.MethodCall(_whole(parts), base, name, arguments.items)

    def index(self, parts: Parts) -> syntax.Index:
        return syntax.Index(_whole(parts), parts[0], _expressions(parts[1:]))

    def prime(self, parts: Parts) -> syntax.Prime:
        return syntax.Prime(_whole(parts), parts[0])

    def variable_name(self, parts: Parts) -> syntax.Name:
        return syntax.Name(parts[0].span, parts[0].text)

    def number(self, parts: Parts) -> syntax.Number:
        return syntax.Number(parts[0].span, int(parts[0].text))

    def true(self, parts: Parts) -> syntax.Boolean:
        return syntax.Boolean(parts[0].span, True)

    def false(self, parts: Parts) -> syntax.Boolean:
        return syntax.Boolean(parts[0].span, False)

    def none(self, parts: Parts) -> syntax.Nothing:
        return syntax.Nothing(parts[0].span)

    def self_(self, parts: Parts) -> syntax.Self:
        return syntax.Self(parts[0].span)

    def definition_call(self, parts: Parts) -> syntax.DefinitionCall:
        return syntax.DefinitionCall(_whole(parts), parts[0], parts[1].items)

    def record_literal(self, parts: Parts) -> syntax.RecordLiteral:
        return syntax.RecordLiteral(_whole(parts), parts[0], _of(syntax.FieldValue, parts))

    def field_value(self, parts: Parts) -> syntax.FieldValue:
        return syntax.FieldValue(_whole(parts), parts[0], parts[2])

    def set_literal(self, parts: Parts) -> syntax.SetLiteral:
        return syntax.SetLiteral(_whole(parts), _expressions(parts))

    def tuple_literal(self, parts: Parts) -> syntax.TupleLiteral:
        return syntax.TupleLiteral(_whole(parts), _expressions(parts))

    def grouped(self, parts: Parts) -> syntax.Expression:
        grouped: syntax.Expression = replace(parts[1], span=_whole(parts))
        return grouped

    def arguments(self, parts: Parts) -> _Group:
        return _Group(parts, _expressions(parts))

    # ------------------------------------------------------------------------------------- types

    def named_type(self, parts: Parts) -> syntax.NamedType:
        return syntax.NamedType(parts[0].span, parts[0].text)

    def range_type(self, parts: Parts) -> syntax.RangeType:
        return syntax.RangeType(_whole(parts), parts[0], parts[2])

    def optional_type(self, parts: Parts) -> syntax.OptionalType:
        return syntax.OptionalType(_whole(parts), parts[0])

    def map_type(self, parts: Parts) -> syntax.MapType:
        return syntax.MapType(_whole(parts), parts[0], parts[2])

    def set_type(self, parts: Parts) -> syntax.SetType:
        return syntax.SetType(_whole(parts), parts[2])

    def tuple_type(self, parts: Parts) -> syntax.TupleType:
        return syntax.TupleType(_whole(parts), tuple(part for part in parts if isinstance(part, _TYPES)))

    def grouped_type(self, parts: Parts) -> syntax.TypeExpression:
        grouped: syntax.TypeExpression = replace(parts[1], span=_whole(parts))
        return grouped


def _word(word: syntax.FairnessWord | None) -> tuple[Fairness | None, Span | None]:
    return (None, None) if word is None else (word.fairness, word.span)


def _check_place(place: syntax.Expression) -> None:
    """Raises Misplaced when nothing can be assigned to the expression."""
    inner = place
    while isinstance(inner, syntax.Access | syntax.Index):
        inner = inner.base
    if not isinstance(inner, syntax.Name):
        message = f"nothing can be assigned to `{shorten(place.span.text)}`"
        raise Misplaced(
            Diagnostic("E112", message, place.span, fix="a variable, a map entry or a field may stand before `:=`")
        )


def _no_statement(operation: syntax.Expression) -> Diagnostic:
    text = shorten(operation.span.text)
    if isinstance(operation, syntax.DefinitionCall):
        if operation.name.name in LATER_WORDS:
            return later_word(operation.name.span, operation.name.name)
        fix = f"to start a thread of a process P, write `call P.{operation.name.name}(..)`"
    else:
        fix = f"to assign to it, write `{text} := ..`"
    return Diagnostic("E111", f"`{text}` is a value, and does nothing as a statement", operation.span, fix=fix)
