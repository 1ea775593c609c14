"""The key of a result: everything that it depends on, and nothing else.

Of the model that is its tokens, those of its imports included: comments, blank lines and layout mean nothing, and names
of files do not either.  Of the options it is those that can change a result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache

from checker.cache.identity import Identity
from checker.cache.names import Names
from checker.choosing import scenarios_of
from checker.options import Options
from checker.variant import model_of, sources
from checker.work.item import Item
from counterexamples.render.encoding import encode_value
from spec.layout import lay_out
from spec.source import Source
from spec.tokens import tokenize
from spec.typed import Model

IMMATERIAL: Mapping[str, str] = {
    "variants": "which other variants are checked besides changes none; the item names its own",
    "timeout": "only what was decided is kept, and what more time could improve is kept for no more time than it had",
    "timeout_property": "as for timeout",
    "total": "as for timeout",
    "strict": "says what warnings count as, not which there are",
}
"""Options that are not in the key, each with the reason."""


def key_of(item: Item, identity: Identity) -> str:
    """The key of an item whose choice has type-checked, as 64 hexadecimal digits.  Raises UnknownNameError where its
    options name fault classes that the model does not have."""
    text = json.dumps(content(item, identity), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def content(item: Item, identity: Identity) -> dict[str, object]:
    """What the key is a digest of, as plain data."""
    checked = item.choice.checked
    assert checked is not None
    model = model_of(checked, item.options)
    names = Names(model)
    return {
        "tool": identity.digest,
        "model": [meaning(Source(name, text)) for name, text in sources(item.module)],
        "asserts": names.asserts,
        "variant": item.choice.variant,
        "settled": {name: encode_value(value) for name, value in model.constants.items()},
        "scenarios": [scenario.name for scenario in scenarios_of(checked, item.options, item.named)],
        "needs": _needs_expected(item, names),
        "options": material(item.options, model, names),
    }


def _needs_expected(item: Item, names: Names) -> list[str]:
    """For which properties a check finds out which faults it takes although the options do not ask for that: those of
    which the item's choice, which may be one without expectations, says what they need."""
    checked = item.choice.checked
    assert checked is not None
    if item.options.changes_model:
        return []
    return sorted({names.kept(each.name) for each in checked.expectations if each.needs is not None})


def material(options: Options, model: Model, names: Names) -> dict[str, object]:
    """The options that can change a result of the model, by the names of their fields."""
    live = any(declared.live is not None for declared in model.properties)
    return {
        "constants": sorted(options.constants.items()),
        "switches": sorted(options.switches.items()),
        "properties": sorted({names.kept(name) for name in options.properties}),
        "faults": None if options.faults is None else [str(fault) for fault in model.faults],
        "max_faults": options.max_faults,
        "depth": options.depth,
        "engine": options.engine,
        "states": options.states,
        "symmetry": options.symmetry,
        "needs": options.needs,
        "per_instance": options.per_instance and options.needs,
        "why": options.why,
        "fairness": options.fairness and live,
        "repairs": options.repairs and live and not options.fairness,
        "crash_points": options.crash_points,
    }


@lru_cache(maxsize=64)
def meaning(source: Source) -> tuple[str, ...]:
    """The tokens of a file that the grammar sees, without comments and without line breaks that end nothing; of a brace
    also what it opens or closes."""
    return tuple(f"{token.text}{token.brace}" for token in lay_out(tokenize(source)[0]))


__all__ = ["IMMATERIAL", "content", "key_of", "material", "meaning"]
