"""Constants and switches: what a variant and the command line make of them."""

from __future__ import annotations

import re

from spec import syntax
from spec.checking.constants import NotConstant, evaluate
from spec.checking.scope import constant_context
from spec.checking.trees import walk
from spec.checking.type_resolution import is_scalar
from spec.checking.world import World
from spec.diagnostic import Note
from spec.names import did_you_mean, listed
from spec.typed import Literal
from spec.types import BOOL, BoolType, EnumType, IntType, RangeType, Type
from spec.value import Member, Value

_INTEGER = re.compile(r"-?\d{1,18}")


class Settings:
    """The values of constants and switches for one choice."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._problems = world.problems
        self._values: dict[str, tuple[Type, Value] | None] = {}
        self.chosen = self._variant_settings()
        """The settings of the chosen variant, by name."""
        self._check_choice()

    def get(self, name: str) -> tuple[Type, Value] | None:
        """Type and value of a declared constant or switch; None when it has an error (reported)."""
        return self._values.get(name)

    def settle(self, name: str) -> None:
        """Evaluates a constant or switch; what it uses is settled."""
        self._values[name] = self._evaluate(name)

    def finish(self) -> dict[str, Value]:
        """Checks each `where` and every variant's settings, once all is settled; the values by name."""
        tables = self._world.tables
        values: dict[str, Value] = {}
        for name in [*tables.constants, *tables.switches]:
            found = self._values.get(name)
            if found is not None:
                values[name] = found[1]
        for constant in tables.constants.values():
            if constant.condition is not None:
                self._check_where(constant.condition, constant, values)
        for variant in tables.variants.values():
            self._check_variant(variant)
        return values

    def _declaration(self, name: str) -> syntax.Constant | syntax.Switch | None:
        tables = self._world.tables
        return tables.constants.get(name) or tables.switches.get(name)

    def _evaluate(self, name: str) -> tuple[Type, Value] | None:
        node = self._declaration(name)
        assert node is not None
        kind = self._world.types.resolve(node.type)
        if kind is None:
            return None
        if not (is_scalar(kind) or isinstance(kind, IntType)):
            self._problems.error("E226", node.type.span, f"`{kind}` cannot be the type of a constant: use a scalar")
            return None
        found, value = self._world.types.value(node.value, kind)
        setting = self.chosen.get(name)
        if setting is not None:
            found, value = self._world.types.value(setting.value, kind)
        choice = self._world.choice
        text = (choice.constants if name in self._world.tables.constants else choice.switches).get(name)
        if text is not None:
            found, value = self._parse(name, text.strip(), kind)
        return (kind, value) if found else None

    def _parse(self, name: str, text: str, kind: Type) -> tuple[bool, Value]:
        if isinstance(kind, BoolType) and text in ("true", "false", ""):
            return True, text != "false"
        if isinstance(kind, EnumType) and text in kind.members:
            return True, Member(kind.name, text)
        if isinstance(kind, IntType | RangeType) and _INTEGER.fullmatch(text):
            number = int(text)
            if not isinstance(kind, RangeType) or kind.low <= number <= kind.high:
                return True, number
        expected = {BoolType: "true or false", EnumType: "one of its members"}.get(type(kind), f"a value of `{kind}`")
        if isinstance(kind, EnumType):
            expected = f"one of {listed(kind.members, 'or')}"
        self._problems.error("E284", None, f"`{text}` is no value for `{name}`: {expected} is expected")
        return False, None

    def _variant_settings(self) -> dict[str, syntax.Setting]:
        name = self._world.choice.variant
        if name is None:
            return {}
        variants = self._world.tables.variants
        if name not in variants:
            known = f"the variants are {listed(variants)}" if variants else "the model has no variants"
            self._problems.error(
                "E276", None, f"there is no variant `{name}`; {known}", fix=did_you_mean(name, variants)
            )
            return {}
        settings: dict[str, syntax.Setting] = {}
        for setting in variants[name].settings:
            settings.setdefault(setting.name.name, setting)
        return settings

    def _check_choice(self) -> None:
        tables, choice = self._world.tables, self._world.choice
        for given, known, others, what, option in (
            (choice.constants, tables.constants, tables.switches, "constant", "--with"),
            (choice.switches, tables.switches, tables.constants, "switch", "-D"),
        ):
            for name in given:
                if name in known:
                    continue
                fix = did_you_mean(name, known)
                if name in others:
                    fix = f"`{name}` is set by {option} {name}={given[name] or 'VALUE'}"
                have = f"; there are {listed(known)}" if known else f"; the model has no {what}"
                self._problems.error("E283", None, f"there is no {what} `{name}`{have}", fix=fix)

    def _check_where(self, condition: syntax.Expression, node: syntax.Constant, values: dict[str, Value]) -> None:
        errors = len(self._problems.errors())
        typed = self._world.expressions.check(condition, constant_context(), BOOL)
        if typed is None or len(self._problems.errors()) > errors:
            return
        try:
            holds = evaluate(typed)
        except NotConstant as reason:
            self._problems.error("E232", condition.span, f"this must be a constant: {reason}")
            return
        if holds or node.name.name not in values:
            return
        mentioned = [part.span.text for part in walk(typed) if isinstance(part, Literal) and part.span.text in values]
        chosen = ", ".join(f"{name} = {_show(values[name])}" for name in dict.fromkeys([*mentioned]))
        setting = self.chosen.get(node.name.name)
        notes = () if setting is None else (Note("the variant sets it here", setting.span),)
        self._problems.error(
            "E233",
            condition.span,
            f"the chosen values contradict `where {condition.span.text}`" + (f": {chosen}" if chosen else ""),
            notes=notes,
        )

    def _check_variant(self, variant: syntax.Variant) -> None:
        seen: dict[str, syntax.Setting] = {}
        tables = self._world.tables
        for setting in variant.settings:
            name = setting.name.name
            node = self._declaration(name)
            if node is None:
                self._problems.error(
                    "E280",
                    setting.name.span,
                    f"there is no constant or switch `{name}`",
                    fix=did_you_mean(name, [*tables.constants, *tables.switches]),
                )
                continue
            if name in seen:
                self._problems.error(
                    "E281",
                    setting.span,
                    f"`{variant.name.name}` sets `{name}` twice",
                    notes=(Note("the first time is here", seen[name].span),),
                    fix="remove one of the two",
                )
                continue
            seen[name] = setting
            kind = self._world.types.resolve(node.type)
            if kind is not None and self.chosen.get(name) is not setting:
                self._world.types.value(setting.value, kind)


def _show(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
