"""What differs between two versions of models, on the terminal and as data (schema `counterpoint-diff/1`, in
`diff.schema.json`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checker.differences.change import Change, ChangeKind, Effect
from checker.differences.side import Side
from checker.exitcode import ExitCode
from checker.reports.evidence import plural
from checker.version import VERSION
from counterexamples.render.page import Page, Style, pad
from spec.diagnostic import Diagnostic
from spec.snippet import draw

SCHEMA = "counterpoint-diff/1"

_STYLES = {Effect.REGRESSION: Style.BAD, Effect.OPEN: Style.DOUBT, Effect.BETTER: Style.GOOD, Effect.NEUTRAL: Style.DIM}
_MARKS = {Effect.REGRESSION: "✗", Effect.OPEN: "?", Effect.BETTER: "✓", Effect.NEUTRAL: "·"}
_ASCII = {Effect.REGRESSION: "x", Effect.OPEN: "?", Effect.BETTER: "+", Effect.NEUTRAL: "-"}


@dataclass(frozen=True)
class ModelDifference:
    """A model on both sides.

    base, head  its name there; None where it is not
    unchanged   its text and that of its imports is the same, so it was not checked
    errors      of HEAD, by the type checker or before"""

    base: str | None
    head: str | None
    unchanged: bool
    changes: tuple[Change, ...]
    errors: tuple[Diagnostic, ...] = ()

    @property
    def name(self) -> str:
        return self.head or self.base or ""


def render(found: ModelDifference, head: Side, page: Page) -> str:
    """The lines of one model, ending in a newline."""
    renamed = f" (was {found.base})" if found.base and found.head and found.base != found.head else ""
    changes = [change for change in found.changes if change.kind is not ChangeKind.MODEL_RENAMED]  # told by the name
    state = "  unchanged" if found.unchanged else "" if changes else "  nothing that matters has changed"
    lines = [page.line([(page.clean(found.name + renamed), Style.BOLD), (state, Style.DIM)])]
    for diagnostic in found.errors:
        lines += head.shown(draw(diagnostic, page.colour)).rstrip("\n").split("\n")
    marks = _MARKS if page.unicode else _ASCII
    width = max((len(change.kind.value) for change in changes), default=0)
    for change in changes:
        subject = change.subject if change.variant in (None, change.subject) else f"{change.variant}: {change.subject}"
        mark = marks[change.effect]
        kind = pad(change.kind.value, width)
        pieces = [(f"  {mark} {kind}  ", _STYLES[change.effect]), (page.clean(subject), Style.BOLD)]
        lines.append(page.line(pieces))
        for word, told in (("was", change.before), ("now", change.after)):
            if told is not None:
                for part in page.wrap(page.clean(f"{word} {told}"), page.columns - width - 6):
                    lines.append(page.line([(" " * (width + 6), Style.PLAIN), (part, Style.PLAIN)]))
    return "\n".join(lines) + "\n"


def summary(found: Sequence[ModelDifference], seconds: float) -> str:
    """`3 models, 2 unchanged: 1 regression, 2 improvements in 0.4 s`."""
    effects = [change.effect for each in found for change in each.changes]
    counts = [
        (effects.count(Effect.REGRESSION), "regression"),
        (effects.count(Effect.BETTER), "improvement"),
        (effects.count(Effect.NEUTRAL), "note"),
    ]
    told = [plural(count, noun) for count, noun in counts if count]
    if undecided := effects.count(Effect.OPEN):
        told.insert(0, f"{undecided} no longer decided")
    models = plural(len(found), "model")
    same = f", {sum(each.unchanged for each in found)} unchanged"
    return f"{models}{same}: {', '.join(told) or 'no differences'} in {seconds:.1f} s"


def document(base: Side, head: Side, found: Sequence[ModelDifference], code: ExitCode, seconds: float) -> str:
    """The document's text, with a newline at its end."""
    content = {
        "schema": SCHEMA,
        "version": VERSION,
        "exit_code": int(code),
        "summary": summary(found, seconds),
        "seconds": round(seconds, 3),
        "base": {"name": base.title, "commit": base.commit},
        "head": {"name": head.title, "commit": head.commit},
        "models": [_model(each, head) for each in found],
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def _model(found: ModelDifference, head: Side) -> dict[str, Any]:
    return {
        "base": found.base,
        "head": found.head,
        "unchanged": found.unchanged,
        "errors": [_diagnostic(diagnostic, head) for diagnostic in found.errors],
        "changes": [
            {
                "kind": change.kind.name.lower(),
                "effect": change.effect.name.lower(),
                "variant": change.variant,
                "subject": change.subject,
                "before": change.before,
                "after": change.after,
            }
            for change in found.changes
        ],
    }


def _diagnostic(diagnostic: Diagnostic, head: Side) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "message": head.shown(diagnostic.message),
        "file": None if span is None else head.shown(span.source.name),
        "line": None if span is None else span.line,
        "column": None if span is None else span.column,
        "fix": diagnostic.fix,
    }
