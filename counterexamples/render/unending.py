"""What a run that never ends shows: since when something is owed, and why nothing that is fair helps."""

from __future__ import annotations

from collections.abc import Sequence

from counterexamples.forever import Excuse, FairPart, Forever
from counterexamples.lasso import write_fair_action
from counterexamples.notation import write_expression, write_value
from counterexamples.render import wording
from spec.typed import Liveness, LiveShape, Model


def opening(live: Liveness) -> str:
    """What goes behind the property's name."""
    match live.shape:
        case LiveShape.LEADS_TO:
            return "waits for ever for what never comes"
        case LiveShape.EVENTUALLY:
            return "waits for what never comes"
        case LiveShape.ALWAYS_EVENTUALLY:
            return "does not come again"
        case LiveShape.EVENTUALLY_ALWAYS:
            return "is broken again and again"


def claim(live: Liveness, shown: Forever) -> list[tuple[str, str]]:
    """(when, what): since when which side of the property holds or does not, for which values."""
    names = {binder.key: binder.name for binder in live.binders}
    values = ", ".join(f"{name} = {write_value(value)}" for name, value in shown.bindings)
    rows = [("for", values)] if values else []
    when = "at first" if shown.since == 0 else f"after step {shown.since}"
    right = write_expression(live.right, names)
    match live.shape:
        case LiveShape.LEADS_TO if live.left is not None:
            return [*rows, (when, write_expression(live.left, names)), ("from then on never", right)]
        case LiveShape.ALWAYS_EVENTUALLY:
            return [*rows, ("never" if shown.since == 0 else f"never {when}", right)]
        case LiveShape.EVENTUALLY_ALWAYS:
            return [*rows, (f"not {when}, again and again", right)]
        case _:
            return [*rows, ("never", right)]


def excuses(model: Model, parts: Sequence[FairPart]) -> list[tuple[str, str, str]]:
    """(who, why, where in the source): for each fair action why it does not help; those that have nothing to do in one
    line."""
    rows = []
    for part in parts:
        if not part.idle:
            place = "" if part.site is None else wording.location(part.site.statement).rsplit("/", 1)[-1]
            rows.append((write_fair_action(model, part.action), _excuse(part), place))
    idle = sum(part.idle for part in parts)
    if idle:
        rows.append((wording.count(idle, "other"), "never enabled: nothing runs there", ""))
    return rows


def _excuse(part: FairPart) -> str:
    waits = "" if part.site is None else f" at  {wording.brief(part.site.statement)}"
    match part.excuse:
        case Excuse.TAKEN:
            return f"taken: step {part.step}"
        case Excuse.NEVER:
            return f"never enabled: waits{waits}" if waits else "never enabled"
        case Excuse.UNFAIR:
            return f"is owed nothing: unfair{', stands' + waits if waits else ''}"
        case Excuse.AT_TIMES:
            when = "at the beginning" if part.step == 0 else f"after step {part.step}"
            return f"weakly fair, and not enabled {when}{': waits' + waits if waits else ''}"
