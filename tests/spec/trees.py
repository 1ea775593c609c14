"""Helps tests to parse, and to state what belongs to what in a tree."""

from __future__ import annotations

from pathlib import Path

from spec import syntax
from spec.parse import parse
from spec.source import Source


def outline(body: str) -> str:
    """The outline of a file in the language reference, with `body` for each `{ .. }`."""
    reference = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
    text = reference.split("\n```cpt outline\n")[1].split("\n```\n")[0]
    assert "{ .. }" in text
    return text.replace("{ .. }", body)


def file_of(text: str) -> syntax.File:
    """The tree of a text that must be correct."""
    result = parse(Source("model.cpt", text))
    assert isinstance(result, syntax.File), result
    return result


def expression_of(text: str) -> syntax.Expression:
    """The tree of an expression."""
    item = file_of(f"invariant p: {text}").items[0]
    assert isinstance(item, syntax.Property)
    return item.condition


def statements_of(text: str) -> syntax.Block:
    """The trees of the statements of a thread."""
    process = file_of("process P {\n  loop t {\n" + text + "\n  }\n}").items[0]
    assert isinstance(process, syntax.Process)
    return process.threads[0].body


def shape(node: object) -> str:
    """The expression or type with every operator in brackets."""
    match node:
        case syntax.Name(name=name) | syntax.NamedType(name=name) | syntax.Identifier(name=name):
            return name
        case syntax.Number(value=value):
            return str(value)
        case syntax.Boolean(value=value):
            return "true" if value else "false"
        case syntax.Nothing():
            return "none"
        case syntax.Self():
            return "self"
        case syntax.Access(base=base, name=name):
            return f"{shape(base)}.{shape(name)}"
        case syntax.Index(base=base, keys=keys):
            return f"{shape(base)}[{_list(keys)}]"
        case syntax.MethodCall(base=base, name=name, arguments=arguments):
            return f"{shape(base)}.{shape(name)}({_list(arguments)})"
        case syntax.DefinitionCall(name=name, arguments=arguments):
            return f"{shape(name)}({_list(arguments)})"
        case syntax.RecordLiteral(name=name, fields=fields):
            return shape(name) + "{" + ", ".join(f"{f.name.name}: {shape(f.value)}" for f in fields) + "}"
        case syntax.SetLiteral(items=items):
            return "{" + _list(items) + "}"
        case syntax.TupleLiteral(items=items) | syntax.TupleType(items=items):
            return f"<{_list(items)}>"
        case syntax.Not(base=base):
            return f"(not {shape(base)})"
        case syntax.Negative(base=base):
            return f"(-{shape(base)})"
        case syntax.Binary(operator=operator, left=left, right=right):
            return f"({shape(left)} {operator.value} {shape(right)})"
        case syntax.Is(base=base, some=some):
            return f"({shape(base)} is {'some' if some else 'none'})"
        case syntax.Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"(if {shape(condition)} then {shape(then)} else {shape(otherwise)})"
        case syntax.Quantifier(quantity=quantity, binders=binders, body=body):
            bound = ", ".join(f"{b.name.name}: {shape(b.over)}" for b in binders)
            return f"({quantity.value} {bound}. {shape(body)})"
        case syntax.Prime(base=base):
            return f"({shape(base)})'"
        case syntax.RangeType(low=low, high=high):
            return f"({shape(low)}..{shape(high)})"
        case syntax.OptionalType(value=value):
            return f"({shape(value)}?)"
        case syntax.MapType(key=key, value=value):
            return f"({shape(key)} -> {shape(value)})"
        case syntax.SetType(item=item):
            return f"(set of {shape(item)})"
    raise AssertionError(node)


def _list(nodes: tuple[syntax.Expression, ...] | tuple[syntax.TypeExpression, ...]) -> str:
    return ", ".join(map(shape, nodes))
