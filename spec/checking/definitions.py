"""`def` macros: each body is checked once, calls put copies of it in place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spec import syntax
from spec.checking.scope import Binding, Context, Scope
from spec.checking.tables import unique
from spec.checking.trees import depth, rebuild, size, walk
from spec.checking.world import World
from spec.diagnostic import Note
from spec.names import did_you_mean
from spec.typed import Expression, GhostVariable, Local, Next, ProcessVariable, Quantifier
from spec.types import Type

_LARGEST = 20_000
_DEEPEST = 200


@dataclass(frozen=True)
class _Macro:
    parameters: tuple[tuple[str, Type | None], ...]
    """(key in the body, type)"""
    body: Expression | None


class Definitions:
    """Checked definitions by name."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems
        self._macros: dict[str, _Macro] = {}

    def settle(self, name: str) -> None:
        """Checks a definition; those that it uses are settled."""
        self._macros[name] = self._check(self._world.tables.definitions[name])

    def call(self, node: syntax.DefinitionCall, ctx: Context) -> Expression | None:
        """The body with the arguments in place of the parameters."""
        name = node.name.name
        definitions = self._world.tables.definitions
        if name not in definitions:
            fix = did_you_mean(name, definitions)
            if name in self._world.tables.records:
                fix = f"write `{name}{{..}}` for a record"
            self._problems.error("E209", node.name.span, f"there is no definition `{name}`", fix=fix)
            for argument in node.arguments:
                self._world.expressions.infer(argument, ctx)
            return None
        self._world.used.add(name)
        if not ctx.reads_state:
            self._problems.error("E232", node.span, f"this must be a constant, and `{name}` is a definition")
            return None
        if name in self._world.dependencies.cyclic:
            return None
        macro = self._macros[name]
        if len(node.arguments) != len(macro.parameters):
            self._problems.error(
                "E225",
                node.span,
                f"`{name}` takes {len(macro.parameters)} arguments, {len(node.arguments)} are given",
                notes=(Note("it is defined here", definitions[name].name.span),),
            )
            return None
        arguments: dict[str, Expression] = {}
        for argument, (key, kind) in zip(node.arguments, macro.parameters, strict=True):
            typed = (
                self._world.expressions.infer(argument, ctx)
                if kind is None
                else self._world.expressions.check(argument, ctx, kind)
            )
            if typed is not None:
                arguments[key] = typed
        if macro.body is None or len(arguments) != len(macro.parameters):
            return None
        if not self._allowed(macro.body, node, ctx):
            return None
        return self._substitute(macro.body, arguments) if self._small(macro.body, arguments, node) else None

    def _small(self, body: Expression, arguments: dict[str, Expression], node: syntax.DefinitionCall) -> bool:
        """Whether the body with the arguments in place is neither too large nor too deep."""
        measures = {key: (size(argument), depth(argument)) for key, argument in arguments.items()}
        grown, deep = size(body), depth(body)
        deepest = deep + max((measure[1] for measure in measures.values()), default=0)
        for part in walk(body):
            if isinstance(part, Local) and part.key in measures:
                grown += measures[part.key][0]
        if grown <= _LARGEST and deepest <= _DEEPEST:
            return True
        what = f"has more than {_LARGEST} parts" if grown > _LARGEST else f"is more than {_DEEPEST} levels deep"
        self._problems.error(
            "E211",
            node.span,
            f"with its definitions written out this expression {what}",
            fix="use fewer nested definitions",
        )
        return False

    def _allowed(self, body: Expression, node: syntax.DefinitionCall, ctx: Context) -> bool:
        allowed = True
        for part in walk(body):
            code = message = ""
            if isinstance(part, GhostVariable) and not ctx.ghosts:
                code, message = "E244", f"`{node.name.name}` reads the ghost `{part.name}`; the protocol cannot"
            elif isinstance(part, Next) and (not ctx.primes or ctx.primed):
                code, message = "E246", f"`{node.name.name}` uses a prime, which only a step invariant may"
            elif isinstance(part, ProcessVariable) and ctx.what == "protocol":
                code, message = "E245", f"`{node.name.name}` reads a variable of other process instances"
            if code:
                notes = (Note("it is read here", part.span),)
                self._problems.error(code, node.span, message, notes=notes)
                allowed = False
        return allowed

    def _check(self, node: syntax.Definition) -> _Macro:
        ctx = Context(Scope(), "definition", ghosts=True, primes=True)
        parameters: list[tuple[str, Type | None]] = []
        names = {id(n) for n in unique(tuple(p.name for p in node.parameters), self._problems, "a parameter")}
        for parameter in node.parameters:
            kind = self._world.types.resolve(parameter.type)
            key = self._world.bound_key(parameter.name.name)
            parameters.append((key, kind))
            if id(parameter.name) in names:
                meaning = None if kind is None else Local(kind, parameter.name.span, key)
                binding = Binding(parameter.name.name, parameter.name.span, meaning, False)
                self._world.expressions.bind(ctx.scope, binding)
        result = self._world.types.resolve(node.result)
        body = (
            self._world.expressions.infer(node.body, ctx)
            if result is None
            else self._world.expressions.check(node.body, ctx, result)
        )
        return _Macro(tuple(parameters), None if result is None else body)

    def _substitute(self, node: Expression, env: dict[str, Expression]) -> Expression:
        if isinstance(node, Local):
            found = env.get(node.key, node)
            return replace(found, span=node.span) if isinstance(found, Local) else found
        if isinstance(node, Quantifier):
            key = self._world.bound_key(node.name)
            renamed: dict[str, Expression] = {**env, node.key: Local(node.over, node.span, key)}
            return replace(node, key=key, body=self._substitute(node.body, renamed))
        return rebuild(node, lambda part: self._substitute(part, env))
